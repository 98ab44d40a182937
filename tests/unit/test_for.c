/* test_for.c: loops over ranges: every index once, in pieces as asked for, by as many
 * as asked for; errors and cancellation. */
#define _GNU_SOURCE
#include "forking.h"
#include "par_kit.h"

#include <filch/chan.h>
#include <filch/sync.h>

/* Nobody sees its end: a loop over it ends only if it is stopped. Its bodies have to work a little, or their
 * pieces grow and grow. */
#define HUGE_RANGE (SIZE_MAX / 2)

static void work(void)
{
    for (int64_t end = filch_clock_ns() + 30000; filch_clock_ns() < end;)
        ;
}

/* ---- every index once ----------------------------------------------------------------------- */

/* Plain memory: a body that runs twice is a race, or a count of two. */
struct marks {
    size_t lo, n;
    unsigned char *count;
};

static void mark(size_t lo, size_t hi, void *arg)
{
    struct marks *m = arg;
    CHECK(lo < hi && lo >= m->lo && hi - m->lo <= m->n);
    for (size_t i = lo; i < hi; i++)
        m->count[i - m->lo]++;
}

static int try_mark(size_t lo, size_t hi, void *arg)
{
    mark(lo, hi, arg);
    return 0;
}

static struct marks marks_of(size_t lo, size_t n)
{
    struct marks m = {lo, n, calloc(n + 1, 1)};
    CHECK(m.count);
    return m;
}

static void marks_check(struct marks *m)
{
    for (size_t i = 0; i < m->n; i++)
        CHECK_MSG(m->count[i] == 1, "index %zu of %zu was visited %d times", i, m->n, m->count[i]);
    free(m->count);
    kit_beat();
}

static void visit(const filch_how *how, size_t lo, size_t n)
{
    struct marks m = marks_of(lo, n);
    CHECK_EQ(filch_for_with(how, lo, lo + n, try_mark, &m), 0);
    marks_check(&m);
}

static filch_how random_how(size_t n)
{
    filch_how how = how_here();
    how.split = par_random(4) ? FILCH_SPLIT_AUTO : FILCH_SPLIT_STATIC;
    how.grain = par_random(2) ? 0 : par_random(n < 1000 ? n + 2 : 1000);
    how.workers = par_random(2) ? 0 : (int)par_random(20);
    return how;
}

static void visit_ranges(void)
{
    static const size_t few[] = {0, 1, 2, 3};
    for (size_t i = 0; i < 4; i++) {
        filch_how how = random_how(few[i]);
        visit(&how, par_random(100), few[i]);
    }
    for (size_t n = 4; n <= kit_scaled(1 << 14, 4); n *= 2)
        for (size_t d = 0; d < 3; d++) {
            filch_how how = random_how(n);
            visit(&how, par_random(1 << 20), n - 1 + d);
        }
    for (int i = 0; i < 20; i++) {
        size_t n = par_random(3000);
        filch_how how = random_how(n);
        visit(&how, par_random(1 << 30), n);
    }
    filch_how how = how_here();
    visit(&how, 1, kit_scaled(1000000, 10));
}

static void every_index_is_visited_once(void)
{
    everywhere(visit_ranges);
}

static void ten_million_are_visited_once(void)
{
    struct marks m = marks_of(0, kit_scaled(10000000, 10));
    CHECK_EQ(filch_for(0, m.n, mark, &m), 0); /* the default pool */
    marks_check(&m);
}

static void visit_the_end(void)
{
    for (size_t n = 0; n < 100; n += 1 + n / 8)
        for (size_t grain = 0; grain < 9; grain += 4) {
            filch_how how = how_here();
            how.grain = grain;
            how.split = par_random(2) ? FILCH_SPLIT_AUTO : FILCH_SPLIT_STATIC;
            visit(&how, SIZE_MAX - n, n);
            struct marks m = marks_of(SIZE_MAX - n, n);
            CHECK_EQ(filch_for(SIZE_MAX - n, SIZE_MAX, mark, &m), 0);
            marks_check(&m);
        }
    filch_how how = how_here();
    how.grain = SIZE_MAX / 4;
    visit(&how, SIZE_MAX - 100, 100);
}

static void bounds_may_be_the_largest_there_are(void)
{
    everywhere(visit_the_end);
}

static void an_empty_range_calls_nobody(void)
{
    CHECK_EQ(filch_for(7, 7, mark, NULL), 0);
    CHECK_EQ(filch_for(SIZE_MAX, SIZE_MAX, mark, NULL), 0);
    CHECK_EQ(filch_for_with(NULL, 0, 0, try_mark, NULL), 0);
}

/* ---- nested and side by side ---------------------------------------------------------------- */

enum { DEEP_A = 9, DEEP_B = 11, DEEP_C = 70 };
static unsigned char deep[DEEP_A][DEEP_B][DEEP_C];

static int deep_c(size_t lo, size_t hi, void *row)
{
    for (size_t i = lo; i < hi; i++)
        ((unsigned char *)row)[i]++;
    return 0;
}

static int deep_b(size_t lo, size_t hi, void *plane)
{
    filch_how how = how_here();
    for (size_t i = lo; i < hi; i++)
        CHECK_EQ(filch_for_with(&how, 0, DEEP_C, deep_c, ((unsigned char(*)[DEEP_C])plane)[i]), 0);
    return 0;
}

static int deep_a(size_t lo, size_t hi, void *unused)
{
    filch_how how = how_here();
    (void)unused;
    how.split = FILCH_SPLIT_STATIC;
    for (size_t i = lo; i < hi; i++)
        CHECK_EQ(filch_for_with(&how, 0, DEEP_B, deep_b, deep[i]), 0);
    return 0;
}

static void nest(void)
{
    filch_how how = how_here();
    memset(deep, 0, sizeof deep);
    CHECK_EQ(filch_for_with(&how, 0, DEEP_A, deep_a, NULL), 0);
    for (size_t i = 0; i < sizeof deep; i++)
        CHECK_EQ((&deep[0][0][0])[i], 1);
}

static void loops_nest(void)
{
    everywhere(nest);
}

static void *visit_outside(void *unused)
{
    (void)unused;
    filch_how how = how_here();
    for (size_t n = 1; n < 2000; n = 2 * n + 1)
        visit(&how, n, n);
    return NULL;
}

static void visit_inside(void)
{
    (void)visit_outside(NULL);
}

static void visit_at_once(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&t[i], NULL, visit_outside, NULL), 0);
    for (int i = 0; i < 4; i++) {
        in_job(visit_inside);
        in_task(visit_inside);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
}

static void loops_of_several_callers_do_not_meet(void)
{
    for (int workers = 1; workers <= 4; workers++)
        on_pool(workers, FILCH_JOIN_SUSPEND, visit_at_once);
    on_pool(2, FILCH_JOIN_HELP, visit_at_once);
}

static void visit_in_tasks(void)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    void (*claim)(void) = visit_inside;
    filch_task *t[8];
    a.pool = pool;
    for (int i = 0; i < 8; i++)
        CHECK_EQ(filch_spawn_with(&t[i], &a, par_as_task, &claim), 0);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(filch_task_join(t[i], NULL, FILCH_FOREVER), 0);
}

static void tasks_have_loops_where_a_wait_keeps_its_worker(void)
{
    for (int workers = 1; workers <= 3; workers++)
        on_pool(workers, FILCH_JOIN_HELP, visit_in_tasks);
}

static filch_pool *other;

static void visit_elsewhere(void)
{
    filch_how how = how_here();
    how.pool = other;
    visit(&how, 3, 1000);
}

static void visit_both(void)
{
    other = pool;
    on_pool(2, FILCH_JOIN_SUSPEND, visit_elsewhere);
    pool = kit_pool(1);
    in_job(visit_elsewhere);
    in_task(visit_elsewhere);
    kit_destroy(pool);
    kit_look_at(pool = other);
}

static void a_loop_may_run_on_another_pool(void)
{
    on_pool(2, FILCH_JOIN_SUSPEND, visit_both);
}

/* ---- pieces --------------------------------------------------------------------------------- */

struct pieces {
    uint64_t count, least, most;
};

static int measure(size_t lo, size_t hi, void *arg)
{
    struct pieces *p = arg;
    uint64_t was = filch_load_relaxed(&p->least);
    par_add(&p->count, 1);
    par_most(&p->most, hi - lo);
    while (was > hi - lo && !filch_cas_relaxed(&p->least, &was, (uint64_t)(hi - lo)))
        ;
    return 0;
}

static struct pieces pieces_of(const filch_how *how, size_t n)
{
    struct pieces p = {0, UINT64_MAX, 0};
    CHECK_EQ(filch_for_with(how, 5, 5 + n, measure, &p), 0);
    kit_beat();
    return p;
}

static void split_statically(void)
{
    for (size_t n = 1; n < 5000; n = n * 3 / 2 + 1)
        for (int workers = 0; workers < 7; workers++) {
            filch_how how = how_here();
            uint64_t all = (uint64_t)filch_pool_workers(pool);
            uint64_t want = workers && (uint64_t)workers < all ? (uint64_t)workers : all;
            how.split = FILCH_SPLIT_STATIC;
            how.workers = workers;
            struct pieces p = pieces_of(&how, n);
            CHECK_EQ(p.count, want < n ? want : n);
            CHECK(p.most - p.least <= 1);
        }
}

static void a_static_split_has_a_piece_for_each_worker(void)
{
    everywhere(split_statically);
}

static void split_coarsely(void)
{
    for (size_t n = 1; n < 5000; n = n * 3 / 2 + 1)
        for (size_t grain = 1; grain < 3000; grain = grain * 2 + par_random(9)) {
            filch_how how = how_here();
            how.grain = grain;
            how.split = par_random(3) ? FILCH_SPLIT_AUTO : FILCH_SPLIT_STATIC;
            struct pieces p = pieces_of(&how, n);
            CHECK_MSG(p.least >= (n < grain ? n : grain), "%zu by %zu: a piece of %zu", n, grain,
                      (size_t)p.least);
        }
}

static void no_piece_is_smaller_than_the_grain(void)
{
    everywhere(split_coarsely);
}

/* ---- a limit on the workers ----------------------------------------------------------------- */

static uint64_t inside, most_inside;

static int enter_and_sleep(size_t lo, size_t hi, void *sleeps)
{
    (void)lo, (void)hi;
    par_most(&most_inside, par_add(&inside, 1));
    if (sleeps)
        CHECK_EQ(filch_sleep_ns(20000), 0);
    else
        filch_yield();
    par_add(&inside, (uint64_t)-1);
    return 0;
}

static void limit(void)
{
    for (int workers = 1; workers <= 6; workers++)
        for (int sleeps = 0; sleeps < 2; sleeps++) {
            filch_how how = how_here();
            how.workers = workers;
            how.grain = 1;
            par_set(&inside, 0), par_set(&most_inside, 0);
            CHECK_EQ(filch_for_with(&how, 0, 40, enter_and_sleep, sleeps ? &how : NULL), 0);
            CHECK_EQ(par_get(&inside), 0);
            CHECK_MSG(par_get(&most_inside) <= (uint64_t)workers, "%d allowed, %d at once", workers,
                      (int)par_get(&most_inside));
            kit_beat();
        }
}

static void no_more_run_at_once_than_allowed(void)
{
    everywhere(limit);
}

/* The left half costs little (enough not to be one piece), so whoever has it has to wait for the other. Each
 * element of the right half has some patience, until two have met. */
enum { UNEVEN = 100 };

static int meet(size_t lo, size_t hi, void *arg)
{
    uint64_t *met = arg;
    (void)hi;
    if (lo < UNEVEN / 2)
        return work(), 0;
    if (par_add(&inside, 1) > 1)
        par_set(met, 1);
    for (int i = 0; i < 50 && !par_get(met); i++)
        CHECK_EQ(filch_sleep_ns(1000000), 0);
    par_add(&inside, (uint64_t)-1);
    kit_beat();
    return 0;
}

static void limit_uneven(void)
{
    for (int round = 0; round < 20; round++) {
        filch_how how = how_here();
        uint64_t met = 0;
        how.workers = 2;
        how.grain = 1;
        par_set(&inside, 0);
        CHECK_EQ(filch_for_with(&how, 0, UNEVEN, meet, &met), 0);
        CHECK(par_get(&met));
    }
}

static void who_waits_for_a_stolen_half_does_not_count_as_one_of_two(void)
{
    on_pool(4, FILCH_JOIN_SUSPEND, limit_uneven);
}

/* ---- errors --------------------------------------------------------------------------------- */

static uint64_t begun;

static int stop_at_first(size_t lo, size_t hi, void *code)
{
    (void)lo, (void)hi;
    par_add(&begun, 1);
    return *(int *)code;
}

static void stop_early(void)
{
    static int codes[] = {1, 42, -EIO, -ECANCELED};
    for (size_t i = 0; i < 4; i++) {
        filch_how how = how_here();
        par_set(&begun, 0);
        how.workers = i % 2 ? 0 : 3;
        CHECK_EQ(filch_for_with(&how, 0, HUGE_RANGE, stop_at_first, &codes[i]), codes[i]);
        CHECK(par_get(&begun) <= (uint64_t)filch_pool_workers(pool) + 1); /* one of each */
        kit_beat();
    }
}

static void what_is_not_zero_stops_the_loop(void)
{
    everywhere(stop_early);
}

static int stop_alone(size_t lo, size_t hi, void *unused)
{
    (void)unused, (void)hi;
    par_add(&begun, 1);
    return lo >= 100 ? -EBADF : 0;
}

static void stop_at_100(void)
{
    filch_how how = how_here();
    how.workers = 1;
    par_set(&begun, 0);
    CHECK_EQ(filch_for_with(&how, 0, 1000000, stop_alone, NULL), -EBADF);
    CHECK(par_get(&begun) <= 101);
}

static void a_single_worker_goes_from_left_to_right_and_no_further(void)
{
    everywhere(stop_at_100);
}

static int fail_in_turn(size_t lo, size_t hi, void *arg)
{
    uint64_t *failed = arg;
    (void)lo, (void)hi;
    return par_add(failed, 1) == 1 ? -EIO : 0;
}

static void fail_once(void)
{
    filch_how how = how_here();
    uint64_t failed = 0;
    how.grain = 1;
    CHECK_EQ(filch_for_with(&how, 0, HUGE_RANGE, fail_in_turn, &failed), -EIO);
}

static void one_error_among_pieces_without_is_returned(void)
{
    everywhere(fail_once);
}

/* Loops without end inside a loop: all of them end with one error. */
static int endless_inner(size_t lo, size_t hi, void *unused)
{
    (void)lo, (void)hi, (void)unused;
    work();
    return par_add(&begun, 1) == 100 ? -EIO : 0;
}

static int endless_middle(size_t lo, size_t hi, void *results)
{
    filch_how how = how_here();
    (void)hi;
    int rc = filch_for_with(&how, lo, lo + HUGE_RANGE, endless_inner, NULL);
    CHECK(rc == -EIO || rc == -ECANCELED);
    if (rc == -EIO)
        par_add(results, 1);
    return rc;
}

static int endless_outer(size_t lo, size_t hi, void *results)
{
    filch_how how = how_here();
    (void)lo, (void)hi;
    how.grain = 1;
    return filch_for_with(&how, 0, 8, endless_middle, results);
}

static void fail_deep(void)
{
    filch_how how = how_here();
    uint64_t results = 0;
    how.grain = 1;
    par_set(&begun, 0);
    CHECK_EQ(filch_for_with(&how, 0, 8, endless_outer, &results), -EIO);
    CHECK_EQ(par_get(&results), 1);
}

static void an_error_deep_inside_ends_every_loop_around_it(void)
{
    everywhere(fail_deep);
}

static int fail_element(void *element, void *arg)
{
    par_add(arg, 1);
    return *(int *)element;
}

static void fail_each(void)
{
    static int v[1000];
    filch_how how = how_here();
    uint64_t calls = 0;
    how.workers = 1;
    v[700] = 7, v[800] = 8;
    CHECK_EQ(filch_for_each_with(&how, v, 1000, sizeof *v, fail_element, &calls), 7);
    CHECK_EQ(par_get(&calls), 701);
    how.workers = 0;
    int rc = filch_for_each_with(&how, v, 1000, sizeof *v, fail_element, &calls);
    CHECK(rc == 7 || rc == 8);
    CHECK_EQ(filch_for_each_with(&how, v, 700, sizeof *v, fail_element, &calls), 0);
}

static void an_element_may_fail(void)
{
    everywhere(fail_each);
}

/* ---- cancellation --------------------------------------------------------------------------- */

/* Once the scope is cancelled a worker may begin what it has just looked at, and no more. */
struct canceling {
    filch_scope *scope;
    uint64_t begun, over, late;
};

static int cancel_at_100(size_t lo, size_t hi, void *arg)
{
    struct canceling *c = arg;
    (void)lo, (void)hi;
    if (par_get(&c->over))
        par_add(&c->late, 1);
    work();
    if (par_add(&c->begun, 1) == 100) {
        filch_scope_cancel(c->scope);
        par_set(&c->over, 1);
    }
    return 0;
}

static void cancel_check(const filch_how *how, struct canceling *c)
{
    CHECK_EQ(filch_for_with(how, 0, HUGE_RANGE, cancel_at_100, c), -ECANCELED);
    CHECK(par_get(&c->over));
    CHECK(par_get(&c->late) <= (uint64_t)filch_pool_workers(pool));
}

static int cancel_own(void *arg)
{
    filch_how how = how_here();
    cancel_check(&how, arg);
    CHECK_EQ(filch_for_with(&how, 0, 10, cancel_at_100, arg), -ECANCELED); /* another, from the start */
    return 0;
}

static void cancel_in_scope(void)
{
    filch_scope s;
    struct canceling c = {.scope = &s};
    CHECK_EQ(filch_scope_open_on(&s, pool), 0);
    CHECK_EQ(filch_scope_go(&s, cancel_own, &c), 0);
    CHECK_EQ(filch_scope_close(&s), -ECANCELED);
    CHECK(par_get(&c.over));
}

static void a_loop_ends_with_the_scope_of_its_caller(void)
{
    everywhere(cancel_in_scope);
}

static void cancel_given(void)
{
    filch_scope s;
    filch_how how = how_here();
    struct canceling c = {.scope = &s};
    CHECK_EQ(filch_scope_open_on(&s, pool), 0);
    how.scope = &s;
    cancel_check(&how, &c);
    CHECK_EQ(filch_for_with(&how, 0, 10, cancel_at_100, &c), -ECANCELED);
    how.scope = NULL;
    CHECK_EQ(filch_for_with(&how, 0, 10, cancel_at_100, &c), 0); /* the caller is not in it */
    CHECK_EQ(filch_scope_close(&s), -ECANCELED);
}

static void a_loop_ends_with_a_scope_that_it_was_given(void)
{
    everywhere(cancel_given);
}

static int cancel_inside(size_t lo, size_t hi, void *arg)
{
    filch_how how = how_here();
    (void)lo, (void)hi;
    return filch_for_with(&how, 0, HUGE_RANGE, cancel_at_100, arg); /* knows nothing of the scope */
}

static void cancel_outer(void)
{
    filch_scope s;
    filch_how how = how_here();
    struct canceling c = {.scope = &s};
    CHECK_EQ(filch_scope_open_on(&s, pool), 0);
    how.scope = &s;
    how.grain = 1;
    CHECK_EQ(filch_for_with(&how, 0, 4, cancel_inside, &c), -ECANCELED);
    CHECK_EQ(filch_scope_close(&s), -ECANCELED);
}

static void loops_inside_end_with_a_scope_that_the_outer_one_was_given(void)
{
    everywhere(cancel_outer);
}

static int nothing(size_t lo, size_t hi, void *arg)
{
    (void)lo, (void)hi, (void)arg;
    work();
    return 0;
}

static int without_end(void *unused)
{
    filch_how how = how_here();
    (void)unused;
    CHECK_EQ(filch_for_with(&how, 0, HUGE_RANGE, nothing, NULL), -ECANCELED);
    return 0;
}

static void be_late(void)
{
    filch_scope s;
    filch_how how = how_here();
    CHECK_EQ(filch_scope_open_on(&s, pool), 0);
    filch_scope_deadline(&s, filch_clock_ns() + 2000000);
    CHECK_EQ(filch_scope_go(&s, without_end, NULL), 0);
    how.scope = &s;
    CHECK_EQ(filch_for_with(&how, 0, HUGE_RANGE, nothing, NULL), -ECANCELED);
    CHECK_EQ(filch_scope_close(&s), -ETIMEDOUT);
}

static void a_deadline_ends_a_loop(void)
{
    everywhere(be_late);
}

static void cancel_pool(void)
{
    filch_how how = how_here();
    CHECK_EQ(filch_pool_cancel(pool), 0);
    CHECK_EQ(filch_for_with(&how, 0, HUGE_RANGE, nothing, NULL), -ECANCELED);
    CHECK_EQ(filch_for_with(&how, 0, 0, nothing, NULL), -ECANCELED);
}

static void a_pool_that_is_cancelled_begins_no_piece(void)
{
    on_pool(2, FILCH_JOIN_SUSPEND, cancel_pool);
}

/* Bodies that wait, each for something else, wherever they were stolen to. */
enum { WAITERS = 9 };

static struct {
    filch_chan *chan;
    filch_event event;
    uint64_t waiting, canceled;
} waits;

static int wait_for_ever(size_t lo, size_t hi, void *unused)
{
    int item, rc = 0;
    (void)hi, (void)unused;
    par_add(&waits.waiting, 1);
    if (lo % 3 == 0)
        rc = filch_sleep_until(FILCH_FOREVER);
    else if (lo % 3 == 1)
        rc = filch_chan_recv(waits.chan, &item, FILCH_FOREVER);
    else
        rc = filch_event_wait_until(&waits.event, FILCH_FOREVER);
    CHECK_EQ(rc, -ECANCELED);
    CHECK(filch_canceled());
    par_add(&waits.canceled, 1);
    return 0;
}

static int loop_of_waits(void *unused)
{
    filch_how how = how_here();
    (void)unused;
    how.grain = 1;
    CHECK_EQ(filch_for_with(&how, 0, WAITERS, wait_for_ever, NULL), -ECANCELED);
    return -ECANCELED;
}

static void cancel_waits(void)
{
    for (int round = 0; round < 5; round++) {
        filch_scope s;
        memset(&waits, 0, sizeof waits);
        CHECK_EQ(filch_chan_create(&waits.chan, sizeof(int), 0), 0);
        CHECK_EQ(filch_scope_open_on(&s, pool), 0);
        CHECK_EQ(filch_scope_go(&s, loop_of_waits, NULL), 0);
        KIT_AWAIT(par_get(&waits.waiting) >= (pool_helps ? 1 : WAITERS)); /* all: a wait keeps no worker */
        filch_scope_cancel(&s);
        CHECK_EQ(filch_scope_close(&s), -ECANCELED);
        CHECK_EQ(par_get(&waits.canceled), par_get(&waits.waiting));
        filch_chan_destroy(waits.chan);
    }
}

static void waits_in_pieces_end_with_the_scope_of_the_caller(void)
{
    for (int workers = 1; workers <= 4; workers++)
        on_pool(workers, FILCH_JOIN_SUSPEND, cancel_waits);
    on_pool(1, FILCH_JOIN_HELP, cancel_waits);
}

/* ---- what a loop leaves behind -------------------------------------------------------------- */

static int loop_of_ten(void *unused)
{
    filch_how how = how_here();
    (void)unused;
    return filch_for_with(&how, 0, 10, nothing, NULL);
}

static int join_in_piece(size_t lo, size_t hi, void *scope)
{
    filch_task *t;
    int rc = -1;
    (void)lo, (void)hi;
    CHECK_EQ(filch_spawn(&t, loop_of_ten, NULL), 0);
    filch_scope_cancel(scope);
    CHECK_EQ(filch_task_join(t, &rc, FILCH_FOREVER), 0); /* runs it on this stack, or waits for it */
    CHECK_EQ(rc, 0);
    return 0;
}

static void join_task(void)
{
    filch_scope s;
    filch_how how = how_here();
    CHECK_EQ(filch_scope_open_on(&s, pool), 0);
    how.scope = &s;
    CHECK_EQ(filch_for_with(&how, 0, 1, join_in_piece, &s), -ECANCELED);
    CHECK_EQ(filch_scope_close(&s), -ECANCELED);
}

static void join_tasks(void)
{
    in_job(join_task);
}

static void a_task_that_a_piece_joins_is_no_part_of_the_loop(void)
{
    on_pool(1, FILCH_JOIN_SUSPEND, join_tasks);
    on_pool(2, FILCH_JOIN_SUSPEND, join_tasks);
}

/* ---- after fork() --------------------------------------------------------------------------- */

/* The parent's loops were stopped, and pieces of them wait, when it forks: none of that is the child's. */
static filch_event never, of_child;

static int wait_or_fail(size_t lo, size_t hi, void *started)
{
    (void)hi;
    if (lo == 1)
        return -EIO;
    par_add(started, 1);
    filch_event_wait(&never);
    return 0;
}

static void stopped_loop(void *started)
{
    filch_how how = how_here();
    how.grain = 1;
    CHECK_EQ(filch_for_with(&how, 0, 2, wait_or_fail, started), -EIO);
}

static void ten_are_visited(void *unused)
{
    CHECK_EQ(loop_of_ten(unused), 0);
    filch_event_wait(&of_child); /* so that the next has another stack */
}

static void in_the_child(void)
{
    static filch_job jobs[30];
    for (int i = 0; i < 30; i++) {
        filch_job_init(&jobs[i], ten_are_visited, NULL);
        CHECK_EQ(filch_submit_on(pool, &jobs[i], FILCH_ANYWHERE), 0);
    }
    kit_await_parked(pool);
    filch_event_set(&of_child);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
}

static void fork_amid_loops(void)
{
    static filch_job jobs[16];
    uint64_t started = 0;
    for (int i = 0; i < 16; i++) {
        filch_job_init(&jobs[i], stopped_loop, &started);
        CHECK_EQ(filch_submit_on(pool, &jobs[i], FILCH_ANYWHERE), 0);
    }
    KIT_AWAIT(par_get(&started) == 16);
    kit_await_parked(pool); /* the other halves have failed */
    struct ending e = in_child(in_the_child);
    CHECK_MSG(e.status == 0, "status %d: %s", e.status, e.text);
    filch_event_set(&never);
    for (int i = 0; i < 16; i++)
        CHECK_EQ(filch_job_wait(&jobs[i], FILCH_FOREVER), 0);
}

static void the_child_of_a_fork_is_not_stopped_by_loops_of_its_parent(void)
{
    on_pool(2, FILCH_JOIN_SUSPEND, fork_amid_loops);
}

int main(void)
{
    kit_watchdog();
    rng_seed(&par_rng, 1);
    RUN(every_index_is_visited_once);
    RUN(ten_million_are_visited_once);
    RUN(bounds_may_be_the_largest_there_are);
    RUN(an_empty_range_calls_nobody);
    RUN(loops_nest);
    RUN(loops_of_several_callers_do_not_meet);
    RUN(tasks_have_loops_where_a_wait_keeps_its_worker);
    RUN(a_loop_may_run_on_another_pool);
    RUN(a_static_split_has_a_piece_for_each_worker);
    RUN(no_piece_is_smaller_than_the_grain);
    RUN(no_more_run_at_once_than_allowed);
    RUN(who_waits_for_a_stolen_half_does_not_count_as_one_of_two);
    RUN(what_is_not_zero_stops_the_loop);
    RUN(a_single_worker_goes_from_left_to_right_and_no_further);
    RUN(one_error_among_pieces_without_is_returned);
    RUN(an_error_deep_inside_ends_every_loop_around_it);
    RUN(an_element_may_fail);
    RUN(a_loop_ends_with_the_scope_of_its_caller);
    RUN(a_loop_ends_with_a_scope_that_it_was_given);
    RUN(loops_inside_end_with_a_scope_that_the_outer_one_was_given);
    RUN(a_deadline_ends_a_loop);
    RUN(a_pool_that_is_cancelled_begins_no_piece);
    RUN(waits_in_pieces_end_with_the_scope_of_the_caller);
    RUN(a_task_that_a_piece_joins_is_no_part_of_the_loop);
    if (!WITH_TSAN) /* which has no fork() with threads */
        RUN(the_child_of_a_fork_is_not_stopped_by_loops_of_its_parent);
    return check_report();
}
