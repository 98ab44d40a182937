/* paths.c: one worker runs a case while all other threads sleep. */
#include "paths.h"

#include "core/worker.h"

#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else /* the cases can be run, not counted */
#define CALLGRIND_DUMP_STATS (void)0
#endif

enum { WORKERS_MOST = 8, TICKS_PER_US = 1000, TICKS_PER_LOOK = 20 };

/* ---- in place of the machine: linked with --wrap ------------------------------------------------ */

uint64_t __wrap_os_ticks(void);
uint64_t __wrap_os_ticks_per_us(void);
uint64_t __wrap_os_random_seed(void);

static uint64_t ticks;

/* Time passes with each look, and as a case says. */
uint64_t __wrap_os_ticks(void)
{
    return filch_add_relaxed(&ticks, (uint64_t)TICKS_PER_LOOK); /* order: a clock of its own */
}

void paths_pass(uint64_t ns)
{
    filch_add_relaxed(&ticks, ns * TICKS_PER_US / 1000); /* order: a clock of its own */
}

uint64_t __wrap_os_ticks_per_us(void)
{
    return TICKS_PER_US;
}

uint64_t __wrap_os_random_seed(void)
{
    return 1;
}

/* ---- a case ------------------------------------------------------------------------------------- */

static sem_t kept, let_go, finished;

struct order {
    const struct paths_case *what;
    int wrong;
};

static void await(sem_t *s)
{
    while (sem_wait(s))
        continue;
}

static void keep(void *arg)
{
    (void)arg;
    sem_post(&kept);
    await(&let_go);
}

static void run_rounds(struct order *o, long n)
{
    for (long i = 0; i < n && !o->wrong; i++)
        o->wrong = o->what->round();
}

/* How often the worker looked for work before, and which other it takes for busy, goes by the real clock.
 * What it does at every 61st pick then always falls on the same operations. */
static void set_phase(struct worker *w)
{
    filch_store_relaxed(&w->tick, 0u); /* order: a hint to others, which sleep */
#ifndef WORKER_FAIR /* older trees, with --against, divide tick by it */
    w->global_at = w->pool->config.global_every;
    w->timers_of = 0;
#endif
    memset(&w->suspect, 0, sizeof w->suspect);
}

/* The nap lets the other threads reach what they sleep in. The first rounds, which are not counted, fetch
 * memory and stacks from the machine. */
static void obey(void *arg)
{
    struct order *o = arg;
    struct timespec nap = {0, 50000000};
    nanosleep(&nap, NULL);
    run_rounds(o, o->what->rounds);
    set_phase(worker_self());
    CALLGRIND_DUMP_STATS;
    run_rounds(o, o->what->rounds);
    CALLGRIND_DUMP_STATS;
    run_rounds(o, 2 * o->what->rounds);
    CALLGRIND_DUMP_STATS;
    sem_post(&finished);
}

static filch_pool *pool_of(int workers)
{
    filch_config config = FILCH_CONFIG_INIT;
    filch_pool *pool;
    config.workers = workers;
    config.no_environment = 1;
    return filch_pool_create(&pool, &config) ? NULL : pool;
}

/* Each takes another worker, as none of them ends. */
static int keep_workers(filch_pool *pool, filch_job *jobs, int n)
{
    for (int i = 0; i < n; i++) {
        filch_job_init(&jobs[i], keep, NULL);
        if (filch_submit_on(pool, &jobs[i], FILCH_ANYWHERE))
            return -1;
        await(&kept);
    }
    return 0;
}

/* The caller sleeps meanwhile: it does not become a guest. */
static int run_order(struct order *o)
{
    static filch_job kept_by[WORKERS_MOST], job;
    int others = o->what->workers - 1;
    filch_pool *pool = pool_of(o->what->workers);
    filch_job_init(&job, obey, o);
    if (!pool || others > WORKERS_MOST || keep_workers(pool, kept_by, others) ||
        filch_submit_on(pool, &job, FILCH_ANYWHERE))
        return 1;
    await(&finished);
    for (int i = 0; i < others; i++)
        sem_post(&let_go);
    filch_pool_destroy(pool);
    return o->wrong;
}

static int list(const struct paths_case *cases, int n)
{
    for (int i = 0; i < n; i++)
        puts(cases[i].name);
    return 0;
}

static const struct paths_case *find_case(const char *name, const struct paths_case *cases, int n)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(name, cases[i].name))
            return &cases[i];
    return NULL;
}

static int run_case(const struct paths_case *what)
{
    struct order o = {.what = what};
    sem_init(&kept, 0, 0);
    sem_init(&let_go, 0, 0);
    sem_init(&finished, 0, 0);
    if (run_order(&o)) {
        fprintf(stderr, "%s: the result is wrong\n", what->name);
        return 1;
    }
    printf("%ld\n", what->rounds * what->per_round);
    return 0;
}

static int run_all(const struct paths_case *cases, int n)
{
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong |= run_case(&cases[i]);
    return wrong;
}

int paths_main(int argc, char **argv, const struct paths_case *cases, int n)
{
    if (argc == 1)
        return list(cases, n);
    if (argc == 2 && !strcmp(argv[1], "all"))
        return run_all(cases, n);
    const struct paths_case *what = argc == 2 ? find_case(argv[1], cases, n) : NULL;
    if (what)
        return run_case(what);
    fprintf(stderr, "usage: %s [CASE | all]\n", argv[0]);
    return 2;
}
