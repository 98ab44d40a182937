/* pool_bench.h: measurements of pools and queues that exist on filch only. */
#ifndef POOL_BENCH_H
#define POOL_BENCH_H

#include <filch.h>
#include <stddef.h>

struct pool_request {
    int workers;
    int size; /* 0: the case's own */
    const char *mode;
};

struct pool_report {
    double ns_per_op;
    int size;
    char more[160]; /* further figures, as " key=value" */
};

/* Fills the report; null, or what is wrong. */
typedef const char *pool_case(const struct pool_request *ask, struct pool_report *out);

pool_case steal_slots, steal_ring, steal_deque_one, steal_deque_batch;
pool_case idle_cpu, idle_wakeup;
pool_case baselines_balanced, baselines_one_worker;
pool_case scope_cancel, scope_close;

/* A pool as asked, not changed by the environment; null if there is none. */
filch_pool *pool_make(const struct pool_request *ask, enum filch_queue queue, enum filch_steal steal);
void pool_sleep_ns(int64_t ns);
int64_t pool_percentile(int64_t *samples, size_t n, double fraction); /* sorts them */

#endif
