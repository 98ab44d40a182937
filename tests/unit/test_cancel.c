/* test_cancel.c: filch_pool_cancel ends what tasks wait for, whenever they begin to. */
#include "pool_kit.h"

#include <filch/scope.h>

static uint64_t canceled_waits;
static filch_pool *pool;

static int sleeps(void *arg)
{
    (void)arg;
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

/* Some wait, some begin to, some have not begun when it comes. */
static void every_wait_of_the_pool_ends(void)
{
    enum { TASKS = 60 };
    for (int workers = 1; workers <= 4; workers++) {
        for (int round = 0; round < (KIT_SLOW ? 4 : 20); round++) {
            filch_task *t[TASKS];
            pool = kit_pool(workers);
            filch_store_relaxed(&canceled_waits, (uint64_t)0);
            for (int i = 0; i < TASKS; i += 3) {
                t[i] = spawn(sleeps, 0);
                t[i + 1] = spawn(joins_a_sleeper, spawn(sleeps, 0));
                t[i + 2] = spawn(opens_a_scope, 0);
                if (i == 3 * round)
                    CHECK_EQ(filch_pool_cancel(pool), 0);
            }
            CHECK_EQ(filch_pool_cancel(pool), 0);
            for (int i = 0; i < TASKS; i++)
                CHECK_EQ(filch_task_join(t[i], NULL, FILCH_FOREVER), 0);
            CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
            CHECK_EQ(canceled_waits, TASKS / 3 * 2);
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
        filch_store_relaxed(&canceled_waits, (uint64_t)0);
        filch_task *t[TASKS];
        for (int i = 0; i < TASKS; i++)
            t[i] = spawn(naps, &stop);
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
    CHECK_EQ(filch_spawn_with(&far, &a, waits_at_gate, 0), 0);
    filch_task *t = spawn(joins_elsewhere, far);
    CHECK_EQ(filch_pool_cancel(pool), 0);
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    CHECK_EQ(result, -ECANCELED);
    filch_event_set(&gate);
    CHECK_EQ(filch_task_join(far, NULL, FILCH_FOREVER), 0);
    kit_destroy(pool);
    kit_destroy(other);
}

int main(void)
{
    kit_watchdog();
    RUN(every_wait_of_the_pool_ends);
    RUN(a_pinned_wait_ends);
    RUN(a_task_may_cancel_its_own_pool);
    RUN(waits_that_end_just_then_are_left_alone);
    RUN(a_join_of_another_pools_task_is_cancelled_too);
    return check_report();
}
