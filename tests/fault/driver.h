/* driver.h: every scenario, with the n-th call of a kind failing, for every n. */
#ifndef FILCH_TESTS_DRIVER_H
#define FILCH_TESTS_DRIVER_H

#include "check.h"
#include "fault.h"
#include "forking.h"
#include "scenarios.h"

#include <filch/ord.h>
#include <pthread.h>
#include <time.h>

enum { DRIVER_PATIENCE_S = SCALED(20, 60, 60) };

static uint64_t driver_runs;
static char driver_doing[160];

/* Says which run did not end; stderr shows it after all that the run itself said. */
CHECK_UNUSED_ static void *driver_watch(void *unused)
{
    (void)unused;
    uint64_t seen = 0;
    for (int quiet = 0; quiet < DRIVER_PATIENCE_S; quiet++) {
        uint64_t now = filch_load_acquire(&driver_runs);
        if (now != seen)
            quiet = 0;
        seen = now;
        struct timespec second = {1, 0};
        nanosleep(&second, NULL);
    }
    fprintf(stderr, "hangs: %s\n", driver_doing);
    abort();
}

CHECK_UNUSED_ static void driver_start(void)
{
    pthread_t t;
    CHECK_EQ(pthread_create(&t, NULL, driver_watch, NULL), 0);
    pthread_detach(t);
}

/* Runs it once under the plan. Returns how many calls failed. */
static uint64_t driver_run(const struct scenario *s, struct fault_plan plan)
{
    struct fault_held before = fault_held();
    snprintf(driver_doing, sizeof driver_doing, "%s, %s fails from call %llu on, %lld times, variant %d",
             s->name, fault_kind_name(plan.kind), (unsigned long long)plan.first,
             (long long)plan.count, plan.variant);
    check_running = driver_doing;
    filch_add_acq_rel(&driver_runs, 1);
    fault_arm(plan);
    s->run();
    uint64_t failed = fault_disarm();
    struct fault_held after = fault_held();
    CHECK_EQ(after.threads, before.threads);
    CHECK_EQ(after.blocks, before.blocks);
    CHECK_EQ(after.bytes_mapped, before.bytes_mapped);
    return failed;
}

/* Every n; under the thread sanitizer, which is many times slower, fewer the larger they are. */
static uint64_t driver_next(uint64_t n)
{
    return n + (WITH_TSAN ? 1 + n : 1);
}

/* For each n until there is no n-th call, or `most`. */
CHECK_UNUSED_ static void driver_each(const struct scenario *s, struct fault_plan plan, uint64_t most)
{
    for (plan.first = 1; plan.first <= most; plan.first = driver_next(plan.first))
        if (driver_run(s, plan) == 0)
            break;
}

/* A long sort sleeps as a short one does, and has its stacks from the same place. */
CHECK_UNUSED_ static int driver_tells(const struct scenario *s, enum fault_kind kind)
{
    int scratch = kind == FAULT_MALLOC || kind == FAULT_MMAP;
    return scratch || strcmp(s->name, "sorted_many") != 0;
}

/* Every scenario, with `count` failures in a row from every n on: then what was refused is to be had
 * again. Once for each of the kind's errors. */
CHECK_UNUSED_ static void driver_all(enum fault_kind kind, uint64_t count, uint64_t most, int variants)
{
    for (int v = 0; v < (WITH_TSAN ? 1 : variants); v++)
        for (int i = 0; i < scenario_count; i++)
            if (driver_tells(&scenarios[i], kind))
                driver_each(&scenarios[i], (struct fault_plan){kind, 0, count, v}, most);
}

/* Everything once without a failure: what stays for good (the main thread's signal stack) is made,
 * and each site knows its kind. */
CHECK_UNUSED_ static void driver_warm_up(void)
{
    struct fault_plan none = {FAULT_MALLOC, FAULT_FOREVER, 1, 0};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < scenario_count; i++) {
            if (round)
                (void)driver_run(&scenarios[i], none);
            else
                scenarios[i].run();
        }
    }
}

#endif
