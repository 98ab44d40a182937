/* test_cancel.c: filch_pool_cancel ends what tasks wait for, whenever they begin to. */
#include "pool_kit.h"

#include <filch/forkjoin.h>
#include <filch/future.h>
#include <filch/pipe.h>
#include <filch/scope.h>
#include <malloc.h>

static uint64_t canceled_waits, begun;
static filch_pool *pool;

static int sleeps(void *arg)
{
    (void)arg;
    filch_add_acq_rel(&begun, (uint64_t)1);
    int rc = filch_sleep_until(FILCH_FOREVER);
    CHECK_EQ(rc, -ECANCELED);
    CHECK(filch_canceled());
    CHECK_EQ(filch_sleep_ns(INT64_C(3600000000000)), -ECANCELED); /* the next one as well */
    filch_add_acq_rel(&canceled_waits, (uint64_t)1);
    return rc;
}

static int joins_a_sleeper(void *arg)
{
    filch_task *t = arg;
    int rc = filch_task_join(t, NULL, filch_clock_ns() + INT64_C(3600000000000));
    CHECK(rc == 0 || rc == -ECANCELED);
    if (rc != 0)
        filch_task_detach(t);
    return 0;
}

static int sleeps_pinned(void *arg)
{
    filch_pin();
    int rc = sleeps(arg);
    filch_unpin();
    return rc;
}

/* The first that ends so cancels its scope, and those that have not begun do not. */
static int sleeps_in_scope(void *arg)
{
    (void)arg;
    return filch_sleep_until(FILCH_FOREVER);
}

static int opens_a_scope(void *arg)
{
    filch_scope s;
    (void)arg;
    CHECK_EQ(filch_scope_open(&s), 0);
    for (int i = 0; i < 4; i++)
        (void)filch_scope_go(&s, sleeps_in_scope, 0);
    CHECK_EQ(filch_scope_close(&s), -ECANCELED);
    return 0;
}

static filch_task *spawn(int (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

/* Some wait, some begin to, some have not begun when it comes: those are left out. */
static void every_wait_of_the_pool_ends(void)
{
    enum { TASKS = 60 };
    for (int workers = 1; workers <= 4; workers++) {
        for (int round = 0; round < (KIT_SLOW ? 4 : 20); round++) {
            filch_task *t[TASKS];
            pool = kit_pool(workers);
            canceled_waits = begun = 0;
            for (int i = 0; i < TASKS; i += 3) {
                t[i] = spawn(sleeps, 0);
                t[i + 1] = spawn(joins_a_sleeper, spawn(sleeps, 0));
                t[i + 2] = spawn(opens_a_scope, 0);
                if (i == 3 * round)
                    CHECK_EQ(filch_pool_cancel(pool), 0);
            }
            CHECK_EQ(filch_pool_cancel(pool), 0);
            for (int i = 0; i < TASKS; i++) {
                int result;
                CHECK_EQ(filch_task_join(t[i], &result, FILCH_FOREVER), 0);
                CHECK(result == -ECANCELED || (i % 3 > 0 && result == 0));
            }
            CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
            CHECK_EQ(canceled_waits, begun);
            kit_destroy(pool);
        }
    }
}

static void a_pinned_wait_ends(void)
{
    pool = kit_pool(2);
    filch_task *t = spawn(sleeps_pinned, 0);
    int result;
    kit_nap_us(1000);
    CHECK_EQ(filch_pool_cancel(pool), 0);
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    CHECK_EQ(result, -ECANCELED);
    kit_destroy(pool);
}

static int cancels_itself(void *arg)
{
    (void)arg;
    CHECK_EQ(filch_pool_cancel(pool), 0);
    return filch_sleep_until(FILCH_FOREVER);
}

static void a_task_may_cancel_its_own_pool(void)
{
    int result;
    pool = kit_pool(1);
    CHECK_EQ(filch_task_join(spawn(cancels_itself, 0), &result, FILCH_FOREVER), 0);
    CHECK_EQ(result, -ECANCELED);
    kit_destroy(pool);
}

/* Waits that end by themselves while others are cancelled: each is over exactly once. */
static int naps(void *arg)
{
    uint32_t *stop = arg;
    int rc = 0;
    filch_add_acq_rel(&begun, (uint64_t)1);
    while (rc == 0 && !kit_raised(stop))
        rc = filch_sleep_ns(20000);
    CHECK(rc == 0 || rc == -ECANCELED);
    filch_add_acq_rel(&canceled_waits, (uint64_t)1);
    return 0;
}

static void waits_that_end_just_then_are_left_alone(void)
{
    enum { TASKS = 40 };
    for (int round = 0; round < (KIT_SLOW ? 10 : 60); round++) {
        uint32_t stop = 0;
        pool = kit_pool(1 + round % 4);
        canceled_waits = begun = 0;
        filch_task *t[TASKS];
        for (int i = 0; i < TASKS; i++)
            t[i] = spawn(naps, &stop);
        KIT_AWAIT(filch_load_acquire(&begun) == TASKS);
        kit_nap_us(100 * (round % 10));
        CHECK_EQ(filch_pool_cancel(pool), 0);
        for (int i = 0; i < TASKS; i++)
            CHECK_EQ(filch_task_join(t[i], NULL, FILCH_FOREVER), 0);
        CHECK_EQ(canceled_waits, TASKS);
        kit_destroy(pool);
    }
}

/* A task of a cancelled scope that joins a task of another pool does not wait for it. */
static filch_pool *other;
static filch_event gate;

static int waits_at_gate(void *arg)
{
    (void)arg;
    filch_event_wait(&gate);
    return 0;
}

static int joins_elsewhere(void *t)
{
    filch_add_acq_rel(&begun, (uint64_t)1);
    return filch_task_join(t, NULL, FILCH_FOREVER);
}

static void a_join_of_another_pools_task_is_cancelled_too(void)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *far;
    int result;
    other = kit_pool(1);
    pool = kit_pool(1);
    a.pool = other;
    gate = (filch_event){0};
    begun = 0;
    CHECK_EQ(filch_spawn_with(&far, &a, waits_at_gate, 0), 0);
    filch_task *t = spawn(joins_elsewhere, far);
    KIT_AWAIT(filch_load_acquire(&begun) == 1);
    CHECK_EQ(filch_pool_cancel(pool), 0);
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    CHECK_EQ(result, -ECANCELED);
    filch_event_set(&gate);
    CHECK_EQ(filch_task_join(far, NULL, FILCH_FOREVER), 0);
    kit_destroy(pool);
    kit_destroy(other);
}

/* ---- what has not begun -------------------------------------------------------------------------------- */

static uint32_t held, let_go, ran;

/* Keeps the only worker until all is queued and the pool is cancelled. */
static void holds(void *unused)
{
    (void)unused;
    kit_raise(&held);
    KIT_AWAIT(kit_raised(&let_go));
}

static void hold_the_worker(void)
{
    held = let_go = ran = 0;
    pool = kit_pool(1);
    CHECK_EQ(filch_submit_detached_on(pool, holds, NULL, NULL, FILCH_ANYWHERE), 0);
    KIT_AWAIT(kit_raised(&held));
}

static void cancel_and_let_go(void)
{
    CHECK_EQ(filch_pool_cancel(pool), 0);
    kit_raise(&let_go);
}

static void counts(void *counter) { (void)kit_count(counter); }
static int counts_too(void *counter) { return (int)kit_count(counter); }
static int gives_seven(void *unused)
{
    (void)unused;
    return 7;
}

static void jobs_and_tasks_that_have_not_begun_are_left_out(void)
{
    enum { EACH = 100 };
    static filch_job jobs[EACH];
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t[EACH];
    hold_the_worker();
    a.pool = pool;
    for (int i = 0; i < EACH; i++) {
        int where = i % 2 ? 0 : FILCH_ANYWHERE;
        filch_job_init(&jobs[i], counts, &ran);
        CHECK_EQ(filch_submit_on(pool, &jobs[i], where), 0);
        CHECK_EQ(filch_submit_detached_on(pool, counts, &ran, NULL, where), 0);
        CHECK_EQ(filch_go_with(&a, counts, &ran), 0);
        t[i] = spawn(counts_too, &ran);
        if (i == EACH / 2)
            CHECK_EQ(filch_pool_cancel(pool), 0); /* the others come later */
    }
    cancel_and_let_go();
    for (int i = 0; i < EACH; i++) {
        int result = 0;
        CHECK_EQ(filch_job_wait(&jobs[i], FILCH_FOREVER), -ECANCELED);
        CHECK_EQ(filch_job_wait(&jobs[i], FILCH_NOW), -ECANCELED);
        CHECK(filch_job_done(&jobs[i]));
        CHECK_EQ(filch_task_join(t[i], &result, FILCH_FOREVER), 0);
        CHECK_EQ(result, -ECANCELED);
    }
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    CHECK_EQ(ran, 0);
    kit_destroy(pool);
}

/* They get the argument of what they clean up after: here a count of both. */
struct pair {
    uint32_t ran, cleaned;
};

static void runs(void *pair) { (void)kit_count(&((struct pair *)pair)->ran); }
static int runs_too(void *pair)
{
    runs(pair);
    return 0;
}
static void cleans(void *pair) { (void)kit_count(&((struct pair *)pair)->cleaned); }

static void their_cleanups_run_once(void)
{
    enum { EACH = 10 };
    struct pair detached[EACH] = {{0}}, waited[EACH] = {{0}}, scoped[EACH] = {{0}};
    filch_job jobs[EACH];
    filch_scope s;
    hold_the_worker();
    CHECK_EQ(filch_scope_open_on(&s, pool), 0);
    for (int i = 0; i < EACH; i++) {
        CHECK_EQ(filch_submit_detached_on(pool, runs, &detached[i], cleans, FILCH_ANYWHERE), 0);
        filch_job_init(&jobs[i], runs, &waited[i]);
        jobs[i].cleanup = cleans;
        CHECK_EQ(filch_submit_on(pool, &jobs[i], FILCH_ANYWHERE), 0);
        CHECK_EQ(filch_scope_go_named(&s, "runs", runs_too, &scoped[i], cleans), 0);
    }
    cancel_and_let_go();
    CHECK_EQ(filch_scope_close(&s), -ECANCELED);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    for (int i = 0; i < EACH; i++) {
        CHECK_EQ(detached[i].ran + waited[i].ran + scoped[i].ran, 0);
        CHECK_EQ(detached[i].cleaned, 1);
        CHECK_EQ(waited[i].cleaned, 1);
        CHECK_EQ(scoped[i].cleaned, 1);
    }
    kit_destroy(pool);
}

static void *counts_and_points(void *counter)
{
    counts(counter);
    return counter;
}

static void a_future_that_has_not_begun_says_so(void)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_future *f, *dropped;
    void *result = &ran;
    hold_the_worker();
    a.pool = pool;
    CHECK_EQ(filch_future_start_with(&f, &a, counts_and_points, &ran), 0);
    CHECK_EQ(filch_future_start_with(&dropped, &a, counts_and_points, &ran), 0);
    filch_future_drop(dropped);
    cancel_and_let_go();
    CHECK_EQ(filch_future_await(f, &result, FILCH_FOREVER), -ECANCELED);
    CHECK(!result);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    CHECK_EQ(ran, 0);
    kit_destroy(pool);
}

/* Sanitizers have an allocator of their own, and find leaks by themselves. */
static size_t in_use(void)
{
    return KIT_SLOW ? 0 : mallinfo2().uordblks;
}

static void what_is_left_out_is_freed(void)
{
    enum { EACH = 3000 };
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    size_t before = in_use();
    hold_the_worker();
    a.pool = pool;
    for (int i = 0; i < EACH; i++) {
        filch_future *f;
        CHECK_EQ(filch_submit_detached_on(pool, counts, &ran, NULL, FILCH_ANYWHERE), 0);
        CHECK_EQ(filch_future_start_with(&f, &a, counts_and_points, &ran), 0);
        filch_future_drop(f);
    }
    cancel_and_let_go();
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    kit_destroy(pool);
    CHECK(in_use() < before + EACH * 16);
}

/* What its caller counts on. */
FILCH_TASK(int, square, int, n)
{
    return n * n;
}

static void sets_job(void *arg) { kit_raise(arg); }

static int passes(void **item, void *left)
{
    *item = (*(int *)left)-- > 0 ? left : NULL;
    return 0;
}

static void roots_and_forks_run_and_pipelines_end(void)
{
    pool = kit_pool(2);
    CHECK_EQ(filch_pool_cancel(pool), 0);
    CHECK_EQ(FILCH_RUN_ON(pool, square, 12), 144);
    uint32_t raised = 0;
    filch_run_on(pool, sets_job, &raised);
    CHECK(kit_raised(&raised));
    int left = 100;
    filch_stage stage = {.run = passes, .arg = &left};
    filch_how how = FILCH_HOW_INIT;
    how.pool = pool;
    CHECK_EQ(filch_pipe_run_with(&how, &stage, 1, 4, NULL, NULL, NULL), -ECANCELED);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    kit_destroy(pool);
}

/* While the worker is kept a root from outside is a job there. */
static void *runs_a_root(void *unused)
{
    (void)unused;
    CHECK_EQ(FILCH_RUN_ON(pool, square, 9), 81);
    return NULL;
}

static void a_root_that_is_queued_runs(void)
{
    pthread_t thread;
    hold_the_worker();
    CHECK_EQ(pthread_create(&thread, NULL, runs_a_root, NULL), 0);
    KIT_AWAIT(filch_load_relaxed(&pool->pending) > 1);
    cancel_and_let_go();
    pthread_join(thread, NULL);
    kit_destroy(pool);
}

/* A task that has not begun is joined by one that has: it would be run by its joiner. */
static int joins_what_has_not_begun(void *unused)
{
    int result = 0;
    (void)unused;
    filch_task *t = spawn(gives_seven, NULL);
    CHECK_EQ(filch_pool_cancel(pool), 0);
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    return result;
}

static void a_joiner_does_not_run_it_either(void)
{
    int result = 0;
    pool = kit_pool(1);
    CHECK_EQ(filch_task_join(spawn(joins_what_has_not_begun, NULL), &result, FILCH_FOREVER), 0);
    CHECK_EQ(result, -ECANCELED);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(every_wait_of_the_pool_ends);
    RUN(a_pinned_wait_ends);
    RUN(a_task_may_cancel_its_own_pool);
    RUN(waits_that_end_just_then_are_left_alone);
    RUN(a_join_of_another_pools_task_is_cancelled_too);
    RUN(jobs_and_tasks_that_have_not_begun_are_left_out);
    RUN(their_cleanups_run_once);
    RUN(a_future_that_has_not_begun_says_so);
    RUN(what_is_left_out_is_freed);
    RUN(roots_and_forks_run_and_pipelines_end);
    RUN(a_root_that_is_queued_runs);
    RUN(a_joiner_does_not_run_it_either);
    return check_report();
}
