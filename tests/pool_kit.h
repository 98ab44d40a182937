/* pool_kit.h: what tests of pools share: pools that ignore the environment, cells that count how
 * often they ran, and a watchdog, so that a job that is lost is a report and not a hang. */
#ifndef FILCH_TESTS_POOL_KIT_H
#define FILCH_TESTS_POOL_KIT_H

#include "check.h"
#include "core/idle.h"
#include "scale.h"

#include <errno.h>
#include <filch.h>
#include <filch/stats.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define KIT_UNUSED __attribute__((unused))

/* Sanitizers are about ten times slower, as are counters of coverage: so much less is done. */
#ifdef FILCH_COVERAGE
enum { KIT_SLOW = 1 };
#else
enum { KIT_SLOW = WITH_ASAN || WITH_TSAN };
#endif

#ifndef KIT_PATIENCE_S /* seeded breaks are expected to hang */
enum { KIT_PATIENCE_S = KIT_SLOW ? 50 : 20 };
#endif

static uint64_t kit_beats;     /* grows while the test gets on */
static filch_pool *kit_looked_at; /* whose figures the watchdog prints */

KIT_UNUSED static size_t kit_scaled(size_t n, size_t divisor)
{
    return KIT_SLOW ? n / divisor : n;
}

KIT_UNUSED static void kit_beat(void)
{
    filch_add_relaxed(&kit_beats, 1); /* order: a sign of life */
}

KIT_UNUSED static void kit_nap_us(int64_t us)
{
    struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};
    (void)nanosleep(&t, NULL);
}

KIT_UNUSED static void kit_dump(void)
{
    filch_pool *pool = filch_load_acquire(&kit_looked_at); /* order: pairs with kit_look_at */
    fprintf(stderr, "watchdog: no progress for %d s in %s\n", KIT_PATIENCE_S, check_running);
    if (!pool)
        return;
    struct idle_figures f = idle_figures(pool);
    fprintf(stderr, "searching %u, sleeping %u, threads %u, pending %llu, injector %zu\n",
            f.searching, f.sleeping, f.threads,
            (unsigned long long)filch_load_relaxed(&pool->pending), /* order: a figure */
            inject_count(&pool->injector));
    filch_stats_print(pool);
}

KIT_UNUSED static void *kit_watch(void *unused)
{
    (void)unused;
    uint64_t seen = 0;
    for (int quiet = 0; quiet < KIT_PATIENCE_S; quiet++) {
        uint64_t now = filch_load_relaxed(&kit_beats); /* order: a sign of life */
        if (now != seen)
            quiet = 0;
        seen = now;
        kit_nap_us(1000000);
    }
    kit_dump();
    abort();
}

/* From here on the test must call kit_beat every now and then. */
KIT_UNUSED static void kit_watchdog(void)
{
    pthread_t t;
    CHECK_EQ(pthread_create(&t, NULL, kit_watch, NULL), 0);
    pthread_detach(t);
}

/* Null before the pool is destroyed. */
KIT_UNUSED static void kit_look_at(filch_pool *pool)
{
    filch_store_release(&kit_looked_at, pool); /* order: the pool is complete */
    kit_beat();
}

KIT_UNUSED static filch_config kit_config(int workers)
{
    filch_config c = FILCH_CONFIG_INIT;
    c.no_environment = 1;
    c.workers = workers;
    return c;
}

KIT_UNUSED static filch_pool *kit_make(const filch_config *c)
{
    filch_pool *pool;
    CHECK_EQ(filch_pool_create(&pool, c), 0);
    kit_look_at(pool);
    return pool;
}

KIT_UNUSED static filch_pool *kit_pool(int workers)
{
    filch_config c = kit_config(workers);
    return kit_make(&c);
}

KIT_UNUSED static void kit_destroy(filch_pool *pool)
{
    kit_beat();
    kit_look_at(0);
    filch_pool_destroy(pool);
    kit_beat();
}

KIT_UNUSED static void kit_drain_and_destroy(filch_pool *pool)
{
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    kit_destroy(pool);
}

/* Waits on this thread, without helping and without suspending. */
#define KIT_AWAIT(cond)                                                                           \
    do {                                                                                          \
        for (unsigned kit_round_ = 0; !(cond); kit_round_++) {                                    \
            if (kit_round_ < 100)                                                                 \
                sched_yield();                                                                    \
            else                                                                                  \
                kit_nap_us(20);                                                                   \
        }                                                                                         \
        kit_beat();                                                                               \
    } while (0)

/* A flag between threads. */
static inline void kit_raise(uint32_t *flag)
{
    filch_store_release(flag, 1u); /* order: pairs with kit_raised */
}
static inline uint32_t kit_raised(uint32_t *flag)
{
    return filch_load_acquire(flag); /* order: pairs with kit_raise and kit_count */
}
static inline uint32_t kit_count(uint32_t *counter)
{
    return filch_add_acq_rel(counter, 1u) + 1; /* order: pairs with kit_raised */
}

KIT_UNUSED static void kit_await_parked(filch_pool *pool)
{
    KIT_AWAIT(idle_figures(pool).sleeping == (unsigned)filch_pool_workers(pool));
}

/* A job that counts itself and remembers where it ran. */
struct cell {
    filch_job job;
    uint32_t runs;
    int worker;
};

KIT_UNUSED static void cell_run(void *arg)
{
    struct cell *c = arg;
    c->worker = filch_worker_id(); /* plain: handed over by the end of the job */
    filch_add_relaxed(&c->runs, 1u); /* order: a count, read after the job is done */
    kit_beat();
}

KIT_UNUSED static void cell_init(struct cell *c)
{
    *c = (struct cell){.worker = -1};
    filch_job_init(&c->job, cell_run, c);
}

KIT_UNUSED static void cells_submit(filch_pool *pool, struct cell *c, size_t n, int where)
{
    for (size_t i = 0; i < n; i++) {
        cell_init(&c[i]);
        CHECK_EQ(filch_submit_on(pool, &c[i].job, where), 0);
    }
}

/* Checks that each ran exactly once. */
KIT_UNUSED static void cells_check(struct cell *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t runs = filch_load_relaxed(&c[i].runs); /* order: after the wait */
        CHECK_MSG(runs == 1, "job %zu of %zu ran %u times", i, n, runs);
    }
}

/* A job that stays on its thread until it is let go: as a blocking system call would. */
struct block {
    filch_job job;
    uint32_t started, release, done;
};

KIT_UNUSED static void block_run(void *arg)
{
    struct block *b = arg;
    kit_raise(&b->started);
    while (!kit_raised(&b->release))
        kit_nap_us(500);
    kit_raise(&b->done);
}

/* Submits it and waits until a worker is in it. */
KIT_UNUSED static void block_start(struct block *b, filch_pool *pool, int where)
{
    *b = (struct block){0};
    filch_job_init(&b->job, block_run, b);
    CHECK_EQ(filch_submit_on(pool, &b->job, where), 0);
    KIT_AWAIT(kit_raised(&b->started));
}

KIT_UNUSED static void block_end(struct block *b)
{
    kit_raise(&b->release);
    CHECK_EQ(filch_job_wait(&b->job, FILCH_FOREVER), 0);
}

#endif
