/* par_kit.h: what tests of parallel algorithms share: every claim on several pools, from every kind of
 * caller. */
#ifndef FILCH_TESTS_PAR_KIT_H
#define FILCH_TESTS_PAR_KIT_H

#include "base/rng.h"
#include "pool_kit.h"

#include <filch/par.h>

static filch_pool *pool;      /* that the claim is tried on */
static bool pool_helps;       /* its joins keep their worker */
static struct rng par_rng;

static inline filch_how how_here(void)
{
    filch_how how = FILCH_HOW_INIT;
    how.pool = pool;
    return how;
}

static inline size_t par_random(size_t below)
{
    return rng_below(&par_rng, (uint32_t)below);
}

KIT_UNUSED static void par_as_job(void *claim)
{
    (*(void (**)(void))claim)();
}

KIT_UNUSED static int par_as_task(void *claim)
{
    (*(void (**)(void))claim)();
    return 0;
}

KIT_UNUSED static void in_job(void (*claim)(void))
{
    filch_job job;
    filch_job_init(&job, par_as_job, &claim);
    CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
}

/* On a small stack. */
KIT_UNUSED static void in_task(void (*claim)(void))
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, par_as_task, &claim), 0);
    while (!filch_task_done(t))
        kit_nap_us(50); /* a join might run it here, on this thread's large stack */
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
}

KIT_UNUSED static void on_pool(int workers, enum filch_join_policy join, void (*claim)(void))
{
    filch_config c = kit_config(workers);
    c.join = join;
    pool = kit_make(&c);
    pool_helps = join == FILCH_JOIN_HELP;
    claim();
    kit_destroy(pool);
    pool = 0;
}

static void (*par_claim)(void);

KIT_UNUSED static void from_everyone(void)
{
    par_claim();
    kit_beat();
    in_job(par_claim);
    kit_beat();
    in_task(par_claim);
    kit_beat();
}

/* From a thread outside, a job and a task, on pools of several sizes. */
KIT_UNUSED static void everywhere(void (*claim)(void))
{
    static const int sizes[] = {1, 2, 4, 16};
    par_claim = claim;
    for (size_t i = KIT_SLOW; i < 4 - KIT_SLOW; i++) /* sanitizers do without the smallest and the largest */
        on_pool(sizes[i], FILCH_JOIN_SUSPEND, from_everyone);
    on_pool(3, FILCH_JOIN_HELP, from_everyone);
}

/* A count between threads. */
static inline uint64_t par_add(uint64_t *count, uint64_t n)
{
    return filch_add_acq_rel(count, n) + n;
}
static inline uint64_t par_get(const uint64_t *count)
{
    return filch_load_acquire(count);
}
static inline void par_set(uint64_t *count, uint64_t value)
{
    filch_store_release(count, value);
}
KIT_UNUSED static void par_most(uint64_t *most, uint64_t value)
{
    uint64_t was = filch_load_relaxed(most);
    while (was < value && !filch_cas_relaxed(most, &was, value))
        ;
}

#endif
