/* test_find.c: searches: a hit if there is one, the lowest if it is asked for, and little work after it. */
#include "../par_places.h"

#include "par/par.h"

static uint64_t seed = 1;

/* ---- hits in a range ----------------------------------------------------------------------------- */

enum { MOST = 30000 };
static unsigned char hits[MOST + 1];

struct search {
    int waits;
    uint64_t calls;
};

static size_t find(size_t lo, size_t hi, void *arg)
{
    struct search *s = arg;
    uint64_t turn = filch_add_relaxed(&s->calls, (uint64_t)1); /* order: a count */
    CHECK(lo < hi);
    if (s->waits && turn % (uint64_t)s->waits == 0)
        CHECK_EQ(filch_sleep_ns(10000), 0);
    for (size_t i = lo; i < hi; i++)
        if (hits[i])
            return i;
    return turn % 2 ? hi : SIZE_MAX; /* both say that there is none */
}

static size_t lowest(size_t lo, size_t hi)
{
    while (lo < hi && !hits[lo])
        lo++;
    return lo;
}

static void search_both(const filch_how *how, size_t lo, size_t hi, int waits)
{
    struct search s = {.waits = waits};
    size_t want = lowest(lo, hi), where = SIZE_MAX;
    int found = want < hi;
    CHECK_EQ(filch_find_any_with(how, lo, hi, find, &s, &where), found);
    CHECK(found ? where >= lo && where < hi && hits[where] : where == SIZE_MAX);
    where = SIZE_MAX;
    CHECK_EQ(filch_find_first_with(how, lo, hi, find, &s, &where), found);
    CHECK_EQ(where, found ? want : SIZE_MAX);
    CHECK_EQ(filch_find_any_with(how, lo, hi, find, &s, 0), found);
    CHECK_EQ(filch_find_first_with(how, lo, hi, find, &s, 0), found);
}

/* 0: none; 1: the first; 2: the last; 3: one anywhere; 4: a few; 5: many; 6: all but the first. */
enum { PATTERNS = 7 };

static void make_hits(int pattern, size_t lo, size_t hi)
{
    memset(hits, 0, sizeof hits);
    if (lo == hi)
        return;
    size_t n = hi - lo;
    hits[lo] = pattern == 1;
    hits[hi - 1] |= pattern == 2;
    for (int i = 0; i < (pattern == 3 ? 1 : pattern == 4 ? 10 : pattern == 5 ? 1000 : 0); i++)
        hits[lo + place_random(&seed) % n] = 1;
    if (pattern == 6)
        memset(hits + lo + 1, 1, n - 1);
}

static const size_t lengths[] = {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 63, 64, 65, 129, 1023, 1025, 5000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void lengths_here(void)
{
    filch_how how = how_here();
    for (int i = 0; i < LENGTHS; i++) {
        size_t lo = place_random(&seed) % 50;
        int pattern = (int)(place_random(&seed) % PATTERNS);
        make_hits(pattern, lo, lo + lengths[i]);
        search_both(&how, lo, lo + lengths[i], 0);
    }
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        how.grain = place_random(&seed) % 50;
        how.workers = (int)(place_random(&seed) % 4);
        how.split = place_random(&seed) % 4 ? FILCH_SPLIT_AUTO : FILCH_SPLIT_STATIC;
        make_hits(pattern, 0, 400);
        search_both(&how, 0, 400, pattern % 2);
    }
}

static void a_hit_is_found_if_there_is_one(void) { everywhere(lengths_here); }

static void long_here(void)
{
    for (int round = 0; round < 3 * PATTERNS; round++) {
        make_hits(round % PATTERNS, 0, MOST);
        search_both(0, 0, MOST, 0);
    }
}

static void so_it_is_in_a_long_range(void) { on_pools(long_here); }

/* ---- how much is done after a hit ------------------------------------------------------------------ */

/* Who comes first waits for the others for a while and then has a hit. The others have begun by then, or come
 * before they could know: they go on when they see that everything stops. Nobody may come after that, so each
 * worker has at most one piece. */
struct crowd {
    uint32_t came, workers;
    uint64_t tested_after, late;
    size_t grain;
};

static bool stopped(void)
{
    return filch_load_relaxed(&run_fiber()->par->stop); /* order: [P1] */
}

static size_t find_in_a_crowd(size_t lo, size_t hi, void *arg)
{
    struct crowd *c = arg;
    filch_add_relaxed(&c->late, (uint64_t)stopped()); /* order: a count */
    CHECK_MSG(hi - lo <= c->grain, "a piece of %zu elements, at most %zu", hi - lo, c->grain);
    if (kit_count(&c->came) == 1) {
        for (int i = 0; i < 2000 && kit_raised(&c->came) < c->workers; i++)
            kit_nap_us(20);
        return lo;
    }
    while (!stopped())
        kit_nap_us(20);
    filch_add_relaxed(&c->tested_after, (uint64_t)(hi - lo)); /* order: a count */
    return hi;
}

static uint32_t largest_crowd;

/* Pieces do not grow: each takes longer than a short one is. */
static void crowd_here(void)
{
    static const size_t grains[] = {1, 10, 1000};
    for (int g = 0; g < 3; g++) {
        filch_how how = how_here();
        struct crowd c = {.workers = (uint32_t)filch_pool_workers(place_pool), .grain = grains[g]};
        size_t where = 0;
        how.grain = grains[g];
        CHECK_EQ(filch_find_any_with(&how, 0, 8 * c.workers * grains[g], find_in_a_crowd, &c, &where), 1);
        CHECK_EQ(c.late, 0);
        CHECK_MSG(c.came <= c.workers, "%u pieces on %u workers", c.came, c.workers);
        CHECK(c.tested_after <= (c.workers - 1) * grains[g]);
        largest_crowd = c.came > largest_crowd ? c.came : largest_crowd;
    }
}

static void after_a_hit_each_worker_ends_its_piece_at_most(void)
{
    largest_crowd = 0;
    on_pools(crowd_here);
    CHECK(largest_crowd > 1); /* or it says nothing */
}

/* One worker goes from left to right: nothing behind the hit. */
static void one_worker_here(void)
{
    filch_how how = how_here();
    for (int first = 0; first < 2; first++) {
        for (size_t at = 0; at < 1000; at += 99) {
            struct search s = {0};
            make_hits(0, 0, 1000);
            memset(hits + at, 1, 1000 - at);
            how.grain = 1000 / 8;
            size_t where = 0;
            int rc = (first ? filch_find_first_with : filch_find_any_with)(&how, 0, 1000, find, &s, &where);
            CHECK_EQ(rc, 1);
            CHECK_EQ(where, at);
            CHECK(s.calls <= at / 31 + 1); /* pieces have at least a quarter of the grain */
        }
    }
}

static void one_worker_looks_at_nothing_behind_a_hit(void)
{
    place_open(1, FILCH_JOIN_SUSPEND);
    for (int p = 0; p < PLACES; p++)
        place_call((enum place)p, one_worker_here);
    place_close();
}

/* ---- arrays ------------------------------------------------------------------------------------------ */

struct looked {
    const char *base;
    size_t n, size, wanted; /* index; n or more: none */
    uint64_t tests;
};

static size_t index_of(const struct looked *l, const void *element)
{
    size_t offset = (size_t)((const char *)element - l->base);
    CHECK_EQ(offset % l->size, 0);
    CHECK(offset / l->size < l->n);
    return offset / l->size;
}

static int at_or_every_third_behind(const void *element, void *arg)
{
    struct looked *l = arg;
    size_t i = index_of(l, element);
    filch_add_relaxed(&l->tests, (uint64_t)1); /* order: a count */
    return i >= l->wanted && (i - l->wanted) % 3 == 0 ? -7 : 0; /* any value but 0 */
}

static int not_so(const void *element, void *arg)
{
    return !at_or_every_third_behind(element, arg);
}

static char array[200 * 1100];

static void array_of(size_t n, size_t size, size_t wanted)
{
    struct looked l = {array, n, size, wanted, 0};
    size_t count = 99, some = wanted < n;
    void *where = &l;
    CHECK_EQ(filch_any(array, n, size, at_or_every_third_behind, &l), some);
    CHECK_EQ(filch_all(array, n, size, not_so, &l), !some);
    CHECK_EQ(filch_first(array, n, size, at_or_every_third_behind, &l, &where), some);
    CHECK_EQ(where, some ? array + wanted * size : 0);
    CHECK_EQ(filch_first(array, n, size, at_or_every_third_behind, &l, 0), some);
    l.tests = 0;
    CHECK_EQ(filch_count(array, n, size, at_or_every_third_behind, &l, &count), 0);
    CHECK_EQ(count, some ? (n - wanted + 2) / 3 : 0);
    CHECK_EQ(l.tests, n); /* each once */
}

static void arrays_here(void)
{
    for (size_t size = 1; size <= 200; size += size < 20 ? 1 : 37) {
        for (int i = 0; i < 4; i++) {
            size_t n = place_random(&seed) % (i == 0 ? 5 : 1100);
            size_t wanted[] = {0, n, n ? n - 1 : 0, n ? place_random(&seed) % n : 0};
            array_of(n, size, wanted[i]);
        }
    }
    CHECK_EQ(filch_any(0, 0, 0, not_so, 0), 0);
    CHECK_EQ(filch_all(0, 0, 0, not_so, 0), 1);
}

static void arrays_of_any_element_are_searched(void)
{
    place_call(ON_A_THREAD, arrays_here); /* in the default pool */
    on_pools(arrays_here);
}

/* ---- cancelled ----------------------------------------------------------------------------------------- */

struct canceled {
    filch_scope scope;
    uint64_t calls;
    bool cancels, hits;
};

static size_t find_canceled(size_t lo, size_t hi, void *arg)
{
    struct canceled *c = arg;
    filch_add_relaxed(&c->calls, (uint64_t)1); /* order: a count */
    if (c->cancels)
        filch_scope_cancel(&c->scope);
    return c->hits ? lo : hi;
}

static void canceled_here(void)
{
    for (int i = 0; i < 8; i++) {
        bool first = i & 1, before = i & 2, hit = i & 4;
        struct canceled c = {.cancels = !before, .hits = hit};
        filch_how how = how_here();
        size_t where = 0;
        CHECK_EQ(filch_scope_open_on(&c.scope, place_pool), 0);
        if (before)
            filch_scope_cancel(&c.scope);
        how.scope = &c.scope;
        how.name = "searched";
        int rc = first ? filch_find_first_with(&how, 0, 10000, find_canceled, &c, &where)
                       : filch_find_any_with(&how, 0, 10000, find_canceled, &c, &where);
        CHECK_EQ(rc, before || first || !hit ? -ECANCELED : 1); /* what was found is found */
        CHECK_EQ(c.calls == 0, before);
        CHECK_EQ(filch_scope_close(&c.scope), -ECANCELED);
    }
}

static void a_canceled_search_says_so(void) { everywhere(canceled_here); }

static int true_for_all(const void *element, void *arg)
{
    (void)element, (void)arg;
    return 1;
}

static int searches_in_a_canceled_scope(void *arg)
{
    size_t count;
    void *where = arg;
    filch_scope_cancel(arg);
    CHECK_EQ(filch_any(array, 100, 1, true_for_all, 0), -ECANCELED);
    CHECK_EQ(filch_all(array, 100, 1, true_for_all, 0), -ECANCELED);
    CHECK_EQ(filch_count(array, 100, 1, true_for_all, 0, &count), -ECANCELED);
    CHECK_EQ(filch_first(array, 100, 1, true_for_all, 0, &where), -ECANCELED);
    CHECK(!where);
    return 0;
}

static void own_scope_here(void)
{
    filch_scope scope;
    CHECK_EQ(filch_scope_open_on(&scope, place_pool), 0);
    CHECK_EQ(filch_scope_go(&scope, searches_in_a_canceled_scope, &scope), 0);
    CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
}

static void so_do_those_over_arrays(void) { on_pools(own_scope_here); }

int main(void)
{
    kit_watchdog();
    RUN(a_hit_is_found_if_there_is_one);
    RUN(so_it_is_in_a_long_range);
    RUN(after_a_hit_each_worker_ends_its_piece_at_most);
    RUN(one_worker_looks_at_nothing_behind_a_hit);
    RUN(arrays_of_any_element_are_searched);
    RUN(a_canceled_search_says_so);
    RUN(so_do_those_over_arrays);
    return check_report();
}
