/* No memory, no pages, no guards: for every n the n-th request fails, and then many in a row. */
#define _GNU_SOURCE
#include "driver.h"

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

int main(void)
{
    unsigned mine = 1u << FAULT_MALLOC | 1u << FAULT_MMAP | 1u << FAULT_GUARD | 1u << FAULT_DISCARD;
    if (!WITH_ASAN && !WITH_TSAN) /* sanitizers give every thread a signal stack: ours are not made */
        mine |= 1u << FAULT_SIGNAL;
    RUN(a_run_without_memory_for_the_default_pool_says_so);
    RUN(the_default_pool_is_made_once_there_is_memory);
    driver_start();
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
