/* No memory, no pages, no guards: for every n the n-th request fails, and then many in a row. */
#define _GNU_SOURCE
#include "driver.h"

#include <filch/task.h>

static void any_allocation_may_fail(void) { driver_all(FAULT_MALLOC, 1, 64, 1); }
static void any_mapping_may_fail(void) { driver_all(FAULT_MMAP, 1, 64, 1); }
static void any_guard_may_fail(void)
{
    driver_all(FAULT_GUARD, 1, 16, 2);
    driver_all(FAULT_GUARD, 2, 16, 2);
}
static void any_discard_may_fail(void) { driver_all(FAULT_DISCARD, 1, 16, 1); }
static void any_signal_stack_may_fail(void) { driver_all(FAULT_SIGNAL, 1, 16, 2); }

static void allocations_may_fail_for_a_while(void)
{
    driver_all(FAULT_MALLOC, 2, 24, 1);
    driver_all(FAULT_MALLOC, 30, 24, 1);
}
static void mappings_may_fail_for_a_while(void)
{
    driver_all(FAULT_MMAP, 2, 24, 1);
    driver_all(FAULT_MMAP, 30, 24, 1);
}
static void memory_may_be_gone_for_ever(void)
{
    for (int i = 0; i < scenario_count; i++) {
        if (!scenarios[i].frugal)
            continue;
        driver_each(&scenarios[i], (struct fault_plan){FAULT_MALLOC, 0, FAULT_FOREVER, 0}, 64);
        driver_each(&scenarios[i], (struct fault_plan){FAULT_MMAP, 0, FAULT_FOREVER, 0}, 64);
    }
}
static void guards_may_fail_for_ever(void) { driver_all(FAULT_GUARD, FAULT_FOREVER, 6, 1); }
static void discards_may_fail_for_ever(void) { driver_all(FAULT_DISCARD, FAULT_FOREVER, 6, 1); }
static void signal_stacks_may_fail_for_ever(void) { driver_all(FAULT_SIGNAL, FAULT_FOREVER, 6, 1); }

/* ---- the default pool: made once, so not a scenario ------------------------------------------- */

static void runs(void *ran) { ++*(int *)ran; }
FILCH_TASK(int, one) { return 1; }

static void without_memory_body(void)
{
    fault_arm((struct fault_plan){FAULT_MALLOC, 1, FAULT_FOREVER, 0});
    (void)FILCH_RUN(one);
}

static void a_run_without_memory_for_the_default_pool_says_so(void)
{
    struct ending e = in_child(without_memory_body);
    CHECK_MSG(aborted(&e), "status %d: %s", e.status, e.text);
    CHECK_STR(e.text, "filch: FILCH_RUN: there is no memory for the default pool (task \"one\")\n");
}

static void refused_once(void)
{
    int ran = 0;
    filch_job job;
    filch_job_init(&job, runs, &ran);
    CHECK_EQ(filch_submit(&job, FILCH_ANYWHERE), -ENOMEM);
    filch_fork(&job, runs, &ran); /* serial: a fork cannot fail */
    filch_join(&job);
    CHECK_EQ(ran, 1);
}

static void default_pool_refused(struct fault_plan plan)
{
    struct fault_held before = fault_held();
    fault_arm(plan);
    CHECK(!filch_pool_default());
    fault_arm(plan);
    refused_once();
    CHECK(fault_disarm() > 0);
    CHECK_EQ(fault_held().blocks, before.blocks);
    CHECK_EQ(fault_held().bytes_mapped, before.bytes_mapped);
}

static void the_default_pool_is_made_once_there_is_memory(void)
{
    for (uint64_t n = 1; n <= 7; n++) /* pool, seats, queues, timers, overflow, idle set, slab */
        default_pool_refused((struct fault_plan){FAULT_MALLOC, n, FAULT_FOREVER, 0});
    default_pool_refused((struct fault_plan){FAULT_MMAP, 1, FAULT_FOREVER, 0});
    CHECK_EQ(setenv("FILCH_WORKERS", "1", 1), 0); /* no thread of it gets in the way of what follows */
    CHECK(filch_pool_default());
    CHECK_EQ(FILCH_RUN(one), 1);
}

/* ---- inside a task ------------------------------------------------------------------------------ */

/* On the worker's thread, or, where that cannot be started, on this one. */
static int in_task(int (*fn)(void *), size_t stack, int as_guest)
{
    filch_config c = config_of(1, FILCH_JOIN_SUSPEND);
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    int result = -1;
    c.task_stack_size = stack;
    CHECK_EQ(filch_pool_create(&a.pool, &c), 0);
    if (as_guest)
        fault_arm((struct fault_plan){FAULT_THREAD, 1, FAULT_FOREVER, 0});
    CHECK_EQ(filch_spawn_with(&t, &a, fn, NULL), 0);
    while (!as_guest && !filch_task_done(t))
        sched_yield();
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    filch_pool_destroy(a.pool);
    return result;
}

static int returns(void *arg) { return (void)arg, 1; }

static int spawns_all_there_are(void *unused)
{
    enum { MANY = 4096 };
    static filch_task *t[MANY];
    int n = 0, rc = 0, sum = 0;
    (void)unused;
    fault_arm((struct fault_plan){FAULT_MALLOC, 1, FAULT_FOREVER, 0});
    while (n < MANY && (rc = filch_spawn(&t[n], returns, NULL)) == 0)
        n++;
    CHECK_EQ(rc, -ENOMEM);
    CHECK_EQ(filch_spawn(&t[n], returns, NULL), -ENOMEM);
    CHECK(!t[n]);
    CHECK(fault_disarm() > 0);
    for (int i = 0; i < n; i++) {
        int one = 0;
        CHECK_EQ(filch_task_join(t[i], &one, FILCH_FOREVER), 0);
        sum += one;
    }
    CHECK_EQ(sum, n);
    return n;
}

static void a_worker_without_memory_hands_out_the_tasks_that_are_left(void)
{
    CHECK(in_task(spawns_all_there_are, 0, 0) > 0);
}

/* There is nowhere else to go on, so the sleeper keeps its worker: and the time, itself. */
static int sleeps_without_stacks(void *unused)
{
    int64_t deadline = filch_clock_ns() + 3000000;
    (void)unused;
    fault_arm((struct fault_plan){FAULT_MMAP, 1, FAULT_FOREVER, 0});
    int rc = filch_sleep_until(deadline);
    CHECK(filch_clock_ns() >= deadline);
    CHECK(fault_disarm() > 0);
    CHECK_EQ(filch_sleep_ns(1000), 0); /* the timer of the first is not there any more */
    return rc;
}

static void a_sleep_without_another_stack_ends_in_time(void)
{
    size_t one_each = (size_t)600 << 20; /* stacks so large that they are not mapped many at a time */
    CHECK_EQ(in_task(sleeps_without_stacks, one_each, 0), 0);
    CHECK_EQ(in_task(sleeps_without_stacks, one_each, 1), 0);
}

int main(void)
{
    unsigned mine = 1u << FAULT_MALLOC | 1u << FAULT_MMAP | 1u << FAULT_GUARD | 1u << FAULT_DISCARD;
    if (!WITH_ASAN && !WITH_TSAN) /* sanitizers give every thread a signal stack: ours are not made */
        mine |= 1u << FAULT_SIGNAL;
    RUN(a_run_without_memory_for_the_default_pool_says_so);
    RUN(the_default_pool_is_made_once_there_is_memory);
    driver_start();
    RUN(a_worker_without_memory_hands_out_the_tasks_that_are_left);
    RUN(a_sleep_without_another_stack_ends_in_time);
    RUN(driver_warm_up);
    RUN(any_allocation_may_fail);
    RUN(any_mapping_may_fail);
    RUN(any_guard_may_fail);
    RUN(any_discard_may_fail);
    RUN(any_signal_stack_may_fail);
    RUN(allocations_may_fail_for_a_while);
    RUN(mappings_may_fail_for_a_while);
    RUN(memory_may_be_gone_for_ever);
    RUN(guards_may_fail_for_ever);
    RUN(discards_may_fail_for_ever);
    RUN(signal_stacks_may_fail_for_ever);
    int missed = fault_report(mine);
    if (!WITH_TSAN) /* there only the calls 1, 3, 7, 15 ... fail: which places these are is chance */
        CHECK_EQ(missed, 0);
    return check_report();
}
