/* test_scan.c: prefix sums: every block is scanned once with the sum of all before it, whoever has it,
 * whatever waits, wherever it is called from; a cancelled scan ends. */
#include "../par_places.h"

/* Maps as in test_reduce.c: composing them is associative and not commutative. */
struct map {
    uint64_t a_less_1, b;
    unsigned char tail[];
};

struct scan {
    size_t state_size;
    const uint64_t *from;
    uint64_t *to;
    unsigned char *scanned, *folded; /* each element, how often */
    bool before;                     /* exclusive */
    int waits;                       /* every so many calls wait; 0: none */
    uint64_t calls;
    filch_scope *scope;              /* is cancelled by the call with number `cancels` */
    uint64_t cancels;
};

static uint64_t seed = 1;

static struct map element(uint64_t x)
{
    return (struct map){2 * rng_mix(x), rng_mix(x + 77)};
}

static void then(struct map *left, const struct map *right)
{
    uint64_t c = right->a_less_1 + 1;
    left->b = c * left->b + right->b;
    left->a_less_1 = (left->a_less_1 + 1) * c - 1;
}

static uint64_t digest(const struct map *m)
{
    return m->a_less_1 ^ rng_mix(m->b);
}

static void seal(struct map *m, size_t size)
{
    memset(m->tail, (int)(m->b & 255), size - sizeof *m);
}

static void check_seal(const struct map *m, size_t size)
{
    for (size_t i = 0; i < size - sizeof *m; i += KIT_SLOW ? 61 : 1)
        CHECK_EQ(m->tail[i], m->b & 255);
}

static void called(struct scan *s)
{
    uint64_t turn = filch_add_relaxed(&s->calls, (uint64_t)1); /* order: a count */
    if (s->scope && turn == s->cancels)
        filch_scope_cancel(s->scope);
    if (!s->waits || turn % (uint64_t)s->waits)
        return;
    if (turn / (uint64_t)s->waits % 2)
        filch_yield();
    else
        (void)filch_sleep_ns(20000);
}

static void identity(void *state, void *arg)
{
    struct scan *s = arg;
    memset(state, 0, s->state_size);
}

static void fold(void *state, size_t lo, size_t hi, void *arg)
{
    struct scan *s = arg;
    check_seal(state, s->state_size);
    CHECK(lo < hi);
    for (size_t i = lo; i < hi; i++) {
        struct map e = element(s->from[i]);
        then(state, &e);
        s->folded[i]++;
        CHECK_EQ(s->scanned[i], 0);
    }
    called(s);
    seal(state, s->state_size);
}

static void scan(void *state, size_t lo, size_t hi, void *arg)
{
    struct scan *s = arg;
    check_seal(state, s->state_size);
    CHECK(lo < hi);
    called(s);
    for (size_t i = lo; i < hi; i++) {
        struct map e = element(s->from[i]);
        uint64_t before = digest(state);
        then(state, &e);
        s->to[i] = s->before ? before : digest(state);
        s->scanned[i]++;
    }
    seal(state, s->state_size);
}

static void combine(void *state, const void *right, void *arg)
{
    struct scan *s = arg;
    check_seal(state, s->state_size);
    check_seal(right, s->state_size);
    then(state, right);
    if (s->waits)
        called(s);
    seal(state, s->state_size);
}

/* ---- one scan, and the same by one thread ------------------------------------------------------ */

enum { MOST = KIT_SLOW ? 100001 : 1000001 };

struct arrays {
    uint64_t *from, *to, *want;
    unsigned char *scanned, *folded;
};

static struct arrays arrays_of(size_t n)
{
    struct arrays a = {malloc(8 * n + 8), malloc(8 * n + 8), malloc(8 * n + 8), calloc(1, n + 1),
                       calloc(1, n + 1)};
    CHECK(a.from && a.to && a.want && a.scanned && a.folded);
    for (size_t i = 0; i < n; i++)
        a.from[i] = rng_mix(i ^ seed);
    return a;
}

static void arrays_free(struct arrays *a)
{
    free(a->from);
    free(a->to);
    free(a->want);
    free(a->scanned);
    free(a->folded);
}

static struct map serial(const struct arrays *a, size_t lo, size_t hi, bool before)
{
    struct map sum = {0, 0};
    for (size_t i = lo; i < hi; i++) {
        struct map e = element(a->from[i]);
        uint64_t was = digest(&sum);
        then(&sum, &e);
        a->want[i] = before ? was : digest(&sum);
    }
    return sum;
}

static void check_scan(const struct arrays *a, const uint64_t *to, size_t lo, size_t hi)
{
    for (size_t i = lo; i < hi; i++) {
        CHECK_MSG(to[i] == a->want[i], "element %zu of [%zu, %zu) is wrong", i, lo, hi);
        CHECK_EQ(a->scanned[i], 1);
        CHECK(a->folded[i] <= 1);
    }
}

struct form {
    size_t state_size;
    bool before, in_place, no_total, no_identity;
    int waits;
};

static struct form any_form(void)
{
    static const size_t sizes[] = {16, 17, 64, 200, 1000};
    uint64_t r = place_random(&seed);
    return (struct form){sizes[r % 5], r >> 8 & 1, r >> 9 & 1, (r >> 10 & 7) == 0, r >> 13 & 1, 0};
}

static void scan_once(const filch_how *how, struct form f, size_t lo, size_t hi)
{
    struct arrays a = arrays_of(hi);
    struct map want = serial(&a, lo, hi, f.before), *total = malloc(f.state_size);
    struct scan s = {f.state_size, a.from, f.in_place ? a.from : a.to, a.scanned, a.folded, f.before, f.waits,
                     0, 0, 0};
    filch_scanner scanner = {f.state_size, f.no_identity ? 0 : identity, fold, scan, combine};
    CHECK(total);
    CHECK_EQ(filch_scan_with(how, &scanner, f.no_total ? 0 : total, lo, hi, &s), 0);
    check_scan(&a, s.to, lo, hi);
    if (!f.no_total) {
        CHECK(total->a_less_1 == want.a_less_1 && total->b == want.b);
        check_seal(total, f.state_size);
    }
    free(total);
    arrays_free(&a);
}

/* ---- lengths ------------------------------------------------------------------------------------ */

static const size_t lengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 255,
                                 257, 1023, 1024, 1025, 4097, 20000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void lengths_here(void)
{
    filch_how how = how_here();
    for (int i = 0; i < LENGTHS; i++) {
        size_t lo = place_random(&seed) % 100;
        scan_once(&how, any_form(), lo, lo + lengths[i]);
    }
    for (int i = 0; i < 10; i++) {
        how.grain = 1 + place_random(&seed) % 100;
        how.workers = (int)(place_random(&seed) % 5);
        how.split = place_random(&seed) % 2 ? FILCH_SPLIT_STATIC : FILCH_SPLIT_AUTO;
        scan_once(&how, any_form(), 0, place_random(&seed) % 3000);
    }
}

static void every_element_has_the_sum_of_those_before_it(void) { everywhere(lengths_here); }

static void millions_here(void)
{
    filch_how how = how_here();
    scan_once(&how, (struct form){.state_size = 16, .before = true}, 0, MOST);
    scan_once(0, (struct form){.state_size = 64, .in_place = true}, 5, MOST - 3);
}

static void so_it_is_with_a_million(void) { on_pools(millions_here); }

/* ---- waits --------------------------------------------------------------------------------------- */

static void waits_here(void)
{
    filch_how how = how_here();
    for (int i = 1; i <= 3; i++) {
        struct form f = any_form();
        f.waits = i;
        how.grain = (size_t)i;
        how.workers = i == 3 ? 2 : 0;
        scan_once(&how, f, 0, 60);
    }
}

static void folds_and_scans_may_wait(void) { everywhere(waits_here); }

/* Several at a time, on fewer workers than there are strands. */
static int scans_in_a_task(void *arg)
{
    filch_how how = FILCH_HOW_INIT;
    how.grain = 1 + (size_t)(uintptr_t)arg;
    for (int i = 0; i < 3; i++)
        scan_once(&how, (struct form){.state_size = 200, .waits = 1 + i, .in_place = i == 1}, 0, 50);
    return 0;
}

static void many_here(void)
{
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    filch_task *t[6];
    attr.pool = place_pool;
    for (uintptr_t i = 0; i < 6; i++)
        CHECK_EQ(filch_spawn_with(&t[i], &attr, scans_in_a_task, (void *)i), 0);
    for (int i = 0; i < 6; i++)
        CHECK_EQ(filch_task_join(t[i], NULL, FILCH_FOREVER), 0);
}

static void scans_do_not_wait_for_each_other(void) { everywhere(many_here); }

static int scans_inside(size_t lo, size_t hi, void *arg)
{
    (void)arg;
    for (size_t i = lo; i < hi; i++) {
        filch_how how = FILCH_HOW_INIT;
        how.grain = i % 3;
        scan_once(&how, (struct form){.state_size = 64, .waits = i % 2 ? 2 : 0}, 0, 20 + i);
    }
    return 0;
}

static void nested_here(void)
{
    filch_how how = how_here();
    how.grain = 1;
    CHECK_EQ(filch_for_with(&how, 0, 30, scans_inside, 0), 0);
}

static void scans_may_be_made_in_a_loop(void) { everywhere(nested_here); }

/* Nothing but the chain itself: the blocks are as short as they can be, so strands wait a lot. */
static void tight_here(void)
{
    filch_how how = how_here();
    how.grain = 1;
    for (int i = 0; i < 4; i++)
        scan_once(&how, (struct form){.state_size = 16}, 0, kit_scaled(8000, 4));
}

static void blocks_of_one_element_are_chained(void)
{
    for (int i = 0; i < (KIT_SLOW ? 1 : 3); i++)
        on_pools(tight_here);
}

/* ---- cancelled ------------------------------------------------------------------------------------ */

static void canceled_before_here(void)
{
    struct arrays a = arrays_of(1000);
    struct scan s = {.state_size = 16, .from = a.from, .to = a.to, .scanned = a.scanned, .folded = a.folded};
    filch_scanner scanner = {16, 0, fold, scan, combine};
    filch_how how = how_here();
    filch_scope scope;
    uint64_t total[2] = {5, 6};
    CHECK_EQ(filch_scope_open_on(&scope, place_pool), 0);
    how.scope = &scope;
    filch_scope_cancel(&scope);
    CHECK_EQ(filch_scan_with(&how, &scanner, total, 0, 1000, &s), -ECANCELED);
    CHECK_EQ(filch_scan_with(&how, &scanner, 0, 3, 3, &s), -ECANCELED);
    CHECK_EQ(s.calls, 0);
    CHECK(total[0] == 5 && total[1] == 6); /* rather than what is in no prefix */
    CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
    arrays_free(&a);
}

static void a_canceled_scope_keeps_it_from_beginning(void) { everywhere(canceled_before_here); }

/* Cancelled by its n-th call of a function. What was scanned is right. */
static void cancel_at(filch_how how, uint64_t turn, int waits)
{
    enum { N = 300 };
    struct arrays a = arrays_of(N);
    filch_scope scope;
    struct scan s = {.state_size = 100, .from = a.from, .to = a.to, .scanned = a.scanned, .folded = a.folded,
                     .waits = waits, .scope = &scope, .cancels = turn};
    filch_scanner scanner = {100, 0, fold, scan, combine};
    (void)serial(&a, 0, N, false);
    CHECK_EQ(filch_scope_open_on(&scope, place_pool), 0);
    how.scope = &scope;
    CHECK_EQ(filch_scan_with(&how, &scanner, 0, 0, N, &s), -ECANCELED);
    CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
    for (size_t i = 0; i < N; i++)
        CHECK(a.scanned[i] == 0 || (a.scanned[i] == 1 && a.to[i] == a.want[i]));
    arrays_free(&a);
}

static void canceled_during_here(void)
{
    filch_how how = how_here();
    how.grain = 3;
    for (uint64_t turn = 0; turn < 8; turn++)
        cancel_at(how, turn, 0);
    for (uint64_t turn = 0; turn < 90; turn += 1 + place_random(&seed) % 20)
        cancel_at(how, turn, 1 + (int)(turn % 3));
}

static void a_scan_that_is_canceled_ends(void) { everywhere(canceled_during_here); }

/* The caller's scope, by its deadline; the waits in the functions end as well. */
static void sleepy(void *state, size_t lo, size_t hi, void *arg)
{
    (void)state, (void)lo, (void)hi, (void)arg;
    CHECK_EQ(filch_sleep_until(FILCH_FOREVER), -ECANCELED);
}

static void no_combine(void *state, const void *right, void *arg)
{
    (void)state, (void)right, (void)arg;
}

static int sleeps_in_a_scope(void *arg)
{
    static const filch_scanner sleepers = {8, 0, sleepy, sleepy, no_combine};
    CHECK_EQ(filch_scan(&sleepers, 0, 0, 1000, arg), -ECANCELED);
    return 0;
}

static void deadline_here(void)
{
    filch_scope scope;
    CHECK_EQ(filch_scope_open_on(&scope, place_pool), 0);
    filch_scope_deadline(&scope, filch_clock_ns() + 1000000);
    CHECK_EQ(filch_scope_go(&scope, sleeps_in_a_scope, 0), 0);
    CHECK_EQ(filch_scope_close(&scope), -ETIMEDOUT);
}

static void a_deadline_ends_it(void) { on_pools(deadline_here); }

int main(void)
{
    kit_watchdog();
    RUN(every_element_has_the_sum_of_those_before_it);
    RUN(so_it_is_with_a_million);
    RUN(folds_and_scans_may_wait);
    RUN(scans_do_not_wait_for_each_other);
    RUN(scans_may_be_made_in_a_loop);
    RUN(blocks_of_one_element_are_chained);
    RUN(a_canceled_scope_keeps_it_from_beginning);
    RUN(a_scan_that_is_canceled_ends);
    RUN(a_deadline_ends_it);
    return check_report();
}
