/* idle.c: what an idle pool costs, and how soon it is at work. */
#include "pool_bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CPU_MS 5000
#define WAKEUPS 200
#define SETTLE_NS 20000000 /* longer than any back-off: by then all workers sleep for good */

static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void start_note(void *arg)
{
    *(int64_t *)arg = filch_clock_ns();
}

/* The thread that submits must not run the job itself, so it looks now and then. */
static int64_t wakeup_once(filch_pool *pool)
{
    int64_t started = 0, submitted;
    filch_job job;
    filch_job_init(&job, start_note, &started);
    submitted = filch_clock_ns();
    if (filch_submit_on(pool, &job, FILCH_ANYWHERE))
        return -1;
    while (!filch_job_done(&job))
        pool_sleep_ns(200000);
    return started - submitted;
}

/* Processor time of a pool that has worked and has nothing to do; an operation is a second. */
const char *idle_cpu(const struct pool_request *ask, struct pool_report *out)
{
    filch_pool *pool = pool_make(ask, FILCH_QUEUE_RING, FILCH_STEAL_HALF);
    if (!pool)
        return "the pool cannot be made";
    out->size = ask->size ? ask->size : CPU_MS;
    for (int i = 0; i < 10; i++)
        wakeup_once(pool);
    pool_sleep_ns(10 * SETTLE_NS);

    int64_t wall = filch_clock_ns(), cpu = cpu_ns();
    pool_sleep_ns((int64_t)out->size * 1000000);
    cpu = cpu_ns() - cpu;
    wall = filch_clock_ns() - wall;
    filch_pool_destroy(pool);

    out->ns_per_op = (double)cpu / ((double)wall / 1e9);
    snprintf(out->more, sizeof out->more, " cpu_percent=%.5f", 100.0 * (double)cpu / (double)wall);
    return NULL;
}

/* From a submit outside to the start of the job, all workers asleep; the median. */
const char *idle_wakeup(const struct pool_request *ask, struct pool_report *out)
{
    size_t n = (size_t)(ask->size ? ask->size : WAKEUPS);
    int64_t *samples = calloc(n, sizeof *samples);
    filch_pool *pool = pool_make(ask, FILCH_QUEUE_RING, FILCH_STEAL_HALF);
    if (!samples || !pool)
        return "the pool cannot be made";
    out->size = (int)n;
    for (size_t i = 0; i < n; i++) {
        pool_sleep_ns(SETTLE_NS);
        samples[i] = wakeup_once(pool);
    }
    filch_pool_destroy(pool);

    out->ns_per_op = (double)pool_percentile(samples, n, 0.5);
    snprintf(out->more, sizeof out->more, " p99_ns=%lld best_ns=%lld",
             (long long)pool_percentile(samples, n, 0.99), (long long)samples[0]);
    int refused = samples[0] < 0;
    free(samples);
    return refused ? "a submit was refused" : NULL;
}
