/* No threads, no sleep, no barriers: for every n the n-th request fails, and then all from there on.
 * A wake-up cannot fail: the kernel looks at no memory for it, and the word is aligned. */
#define _GNU_SOURCE
#include "driver.h"

static void any_thread_may_be_refused(void)
{
    driver_all(FAULT_THREAD, 1, 16, 2);
    driver_all(FAULT_THREAD, 2, 16, 2);
}
static void all_threads_may_be_refused(void) { driver_all(FAULT_THREAD, FAULT_FOREVER, 8, 1); }
static void any_sleep_may_end_at_once(void) { driver_all(FAULT_FUTEX, 1, 16, 4); }
static void all_sleeps_may_end_at_once(void) { driver_all(FAULT_FUTEX, FAULT_FOREVER, 8, 1); }
static void any_barrier_may_fail(void) { driver_all(FAULT_MEMBARRIER, 1, 16, 3); }
static void all_barriers_may_fail(void) { driver_all(FAULT_MEMBARRIER, FAULT_FOREVER, 12, 1); }

int main(void)
{
    driver_start();
    RUN(driver_warm_up);
    RUN(any_thread_may_be_refused);
    RUN(all_threads_may_be_refused);
    RUN(any_sleep_may_end_at_once);
    RUN(all_sleeps_may_end_at_once);
    RUN(any_barrier_may_fail);
    RUN(all_barriers_may_fail);
    CHECK_EQ(fault_report(1u << FAULT_THREAD | 1u << FAULT_FUTEX | 1u << FAULT_MEMBARRIER), 0);
    return check_report();
}
