/* baselines.c: the same mix of jobs on every kind of queue, spread evenly and all on one worker. */
#include "pool_bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS 20000

struct piece {
    filch_job job;
    uint64_t seed, result;
    int steps;
    int ran; /* by whoever runs the job; read when it is done */
};

static const struct {
    const char *name;
    enum filch_queue queue;
} queues[] = {
    {"ring", FILCH_QUEUE_RING},       {"shared", FILCH_QUEUE_SHARED},
    {"private", FILCH_QUEUE_PRIVATE}, {"locked", FILCH_QUEUE_LOCKED},
    {"trylock", FILCH_QUEUE_TRYLOCK},
};

static uint64_t churn(uint64_t x, int steps)
{
    while (steps-- > 0)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}

static void piece_run(void *arg)
{
    struct piece *p = arg;
    p->result = churn(p->seed, p->steps);
    p->ran++;
}

/* Mostly jobs of 0.1 us, one in sixteen of 3 us. */
static void pieces_fill(struct piece *pieces, int n)
{
    for (int i = 0; i < n; i++) {
        struct piece *p = &pieces[i];
        p->seed = (uint64_t)i;
        p->steps = i % 16 ? 80 : 2400;
        p->ran = 0;
        filch_job_init(&p->job, piece_run, p);
    }
}

static int pieces_right(const struct piece *pieces, int n)
{
    for (int i = 0; i < n; i++)
        if (pieces[i].ran != 1 || pieces[i].result != churn(pieces[i].seed, pieces[i].steps))
            return 0;
    return 1;
}

static const char *load_run(filch_pool *pool, struct piece *pieces, int n, int where, int64_t *ns)
{
    int64_t start = filch_clock_ns();
    for (int i = 0; i < n; i++)
        if (filch_submit_on(pool, &pieces[i].job, where))
            return "a submit was refused";
    if (filch_pool_wait(pool, FILCH_FOREVER))
        return "the wait for the pool failed";
    *ns = filch_clock_ns() - start;
    return pieces_right(pieces, n) ? NULL : "a job did not run exactly once, or its result is wrong";
}

/* Best of a few; `pieces` is not freed on failure, because jobs may still use it. */
static const char *load_measure(filch_pool *pool, int n, int where, struct pool_report *out)
{
    struct piece *pieces = calloc((size_t)n, sizeof *pieces);
    const char *wrong = pieces ? NULL : "no memory for the jobs";
    int64_t best = INT64_MAX, ns = 0;
    for (int i = 0; i < 5 && !wrong; i++) {
        pieces_fill(pieces, n);
        wrong = load_run(pool, pieces, n, where, &ns);
        best = ns < best ? ns : best;
    }
    if (wrong)
        return wrong;
    out->size = n;
    out->ns_per_op = (double)best / n;
    snprintf(out->more, sizeof out->more, " jobs_per_second=%.0f", 1e9 * n / (double)best);
    free(pieces);
    return NULL;
}

static const char *load_on(const struct pool_request *ask, int where, struct pool_report *out)
{
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        if (strcmp(queues[i].name, ask->mode))
            continue;
        filch_pool *pool = pool_make(ask, queues[i].queue, FILCH_STEAL_HALF);
        if (!pool)
            return "the pool cannot be made";
        const char *wrong = load_measure(pool, ask->size ? ask->size : JOBS, where, out);
        filch_pool_destroy(pool);
        return wrong;
    }
    return "the mode must be ring, shared, private, locked or trylock";
}

const char *baselines_balanced(const struct pool_request *ask, struct pool_report *out)
{
    return load_on(ask, FILCH_ROUND_ROBIN, out);
}

const char *baselines_one_worker(const struct pool_request *ask, struct pool_report *out)
{
    return load_on(ask, 0, out);
}
