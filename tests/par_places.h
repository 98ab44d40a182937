/* par_places.h: where a parallel algorithm may be called from: a thread outside the pool, a job, a pinned
 * job, a task; in pools of 1 to 16 workers whose joins suspend or help. A claim is called at each. */
#ifndef FILCH_TESTS_PAR_PLACES_H
#define FILCH_TESTS_PAR_PLACES_H

#include "pool_kit.h"

#include <filch/par.h>

enum place { ON_A_THREAD, IN_A_JOB, IN_A_PINNED_JOB, IN_A_TASK, PLACES };

static filch_pool *place_pool;
static enum place place_now;

KIT_UNUSED static filch_how how_here(void)
{
    filch_how how = FILCH_HOW_INIT;
    how.pool = place_pool;
    return how;
}

KIT_UNUSED static uint64_t place_random(uint64_t *state)
{
    return rng_mix(*state += 0x9e3779b97f4a7c15u);
}

static void place_job(void *claim)
{
    bool pinned = place_now == IN_A_PINNED_JOB;
    if (pinned)
        filch_pin();
    (*(void (**)(void))claim)();
    if (pinned)
        filch_unpin();
}

static int place_task(void *claim)
{
    place_job(claim);
    return 0;
}

/* Calls it at one place of place_pool. */
KIT_UNUSED static void place_call(enum place place, void (*claim)(void))
{
    filch_job job;
    filch_task *task;
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    place_now = place;
    attr.pool = place_pool;
    kit_beat();
    if (place == ON_A_THREAD) {
        claim();
    } else if (place == IN_A_TASK) {
        CHECK_EQ(filch_spawn_with(&task, &attr, place_task, &claim), 0);
        CHECK_EQ(filch_task_join(task, NULL, FILCH_FOREVER), 0);
    } else {
        filch_job_init(&job, place_job, &claim);
        CHECK_EQ(filch_submit_on(place_pool, &job, FILCH_ANYWHERE), 0);
        CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
    }
}

KIT_UNUSED static void place_open(int workers, enum filch_join_policy join)
{
    filch_config c = kit_config(workers);
    c.join = join;
    c.task_stack_size = (size_t)4 << 20; /* where joins help, what waits inside lies on top of what waits */
    place_pool = kit_make(&c);
}

KIT_UNUSED static void place_close(void)
{
    kit_destroy(place_pool);
    place_pool = 0;
}

/* Numbers of workers, few where everything is slow. */
static const int place_workers[] = {1, 2, 3, 4, 8, 16};
enum { PLACE_WORKERS = KIT_SLOW ? 4 : 6 };

KIT_UNUSED static void everywhere(void (*claim)(void))
{
    for (int i = 0; i < PLACE_WORKERS; i++) {
        for (int join = FILCH_JOIN_SUSPEND; join <= FILCH_JOIN_HELP; join++) {
            place_open(place_workers[i], (enum filch_join_policy)join);
            for (int p = 0; p < PLACES; p++)
                place_call((enum place)p, claim);
            place_close();
        }
    }
}

/* A task on each pool, without the rest: for claims that take long. */
KIT_UNUSED static void on_pools(void (*claim)(void))
{
    for (int i = 0; i < PLACE_WORKERS; i++) {
        place_open(place_workers[i], FILCH_JOIN_SUSPEND);
        place_call(IN_A_TASK, claim);
        place_close();
    }
}

#endif
