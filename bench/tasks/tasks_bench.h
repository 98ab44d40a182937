/* tasks_bench.h: what the files of filch-bench-tasks share. The cases are defined in cases.h. */
#ifndef TASKS_BENCH_H
#define TASKS_BENCH_H

#include <filch/ord.h>
#include <filch/task.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct tasks_request {
    filch_pool *pool;
    int size;
    bool stackless; /* of those that can be either: poll functions instead of tasks */
};

struct tasks_report {
    double ns_per_op;
    char more[160]; /* further figures, as " key=value" */
};

/* Runs the case once and fills the report; null, or what is wrong. */
typedef const char *tasks_run(const struct tasks_request *ask, struct tasks_report *out);

struct tasks_case {
    const char *name;
    int size;
    tasks_run *run;
    int repeat;  /* at most */
    bool either; /* tasks, or (mode `async`) poll functions */
};

tasks_run spawn_many, spawn_join, spawn_skynet, yield_two;
tasks_run chan_pingpong, chan_one, chan_four, mutex_eight;
tasks_run wake_all, timer_p50, timer_p99, timer_cpu, latency_in, latency_out;
tasks_run http_cpu_64, http_cpu_1000;

/* Runs fn(arg) as a task of the pool and waits for its end, which blocks the calling thread. Returns
 * 0, or -1 if it could not be started. */
int tasks_main(filch_pool *pool, void (*fn)(void *arg), void *arg);

static inline double tasks_per_op(int64_t ns, int64_t n)
{
    return (double)ns / (double)n;
}

int64_t tasks_cpu_ns(void); /* of this process so far */
int64_t tasks_percentile(int64_t *samples, int n, double fraction); /* sorts them */

/* Waits until `n` tasks are done. */
#if __has_include(<filch/sync.h>)
#include <filch/sync.h>

struct tasks_all {
    filch_group group;
};

static inline void tasks_all_expect(struct tasks_all *all, int n)
{
    all->group = (filch_group){0};
    filch_group_add(&all->group, (unsigned)n);
}

static inline void tasks_all_done(struct tasks_all *all)
{
    filch_group_done(&all->group);
}

static inline void tasks_all_wait(struct tasks_all *all)
{
    filch_group_wait(&all->group, FILCH_FOREVER);
}

#else

/* | shared field | writer                 | reader    | invariant                   |
 * |--------------|------------------------|-----------|-----------------------------|
 * | left         | expect, then each task | each task | tasks that are not done yet |
 *
 * [A1] acq_rel subtraction in tasks_all_done: what the tasks wrote is seen after tasks_all_wait. */
struct tasks_all {
    int64_t left;
    filch_event done;
};

static inline void tasks_all_expect(struct tasks_all *all, int n)
{
    all->done = (filch_event){0};
    filch_store_relaxed(&all->left, n); /* order: relaxed, the spawns that follow publish it */
}

static inline void tasks_all_done(struct tasks_all *all)
{
    if (filch_sub_acq_rel(&all->left, 1) == 1) /* order: [A1] */
        filch_event_set(&all->done);
}

static inline void tasks_all_wait(struct tasks_all *all)
{
    filch_event_wait(&all->done);
}

#endif

#endif
