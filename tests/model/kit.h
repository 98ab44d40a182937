/* kit.h: pools for models: as small as they can be made. */
#ifndef MODEL_KIT_H
#define MODEL_KIT_H

#include "mc.h"

#include "os/os.h"

#include <filch.h>
#include <filch/ord.h>

static filch_pool *pool;

static inline filch_config kit_config(int workers)
{
    filch_config c = FILCH_CONFIG_INIT;
    c.workers = workers;
    c.stack_size = 16384;
    c.ring_capacity = 2;
    c.spin_rounds = 1;
    return c;
}

static inline void kit_make(int workers)
{
    filch_config c = kit_config(workers);
    mc_check(filch_pool_create(&pool, &c) == 0);
}

/* A job that says that it ran, at a gate where its submitter can wait without being a guest. */
struct kit_job {
    filch_job job;
    unsigned task;
    uint32_t gate;
};

static inline void kit_ran(void *arg)
{
    struct kit_job *j = arg;
    mc_ran(j->task);
    filch_store_release(&j->gate, 1u);
    os_futex_wake(&j->gate, 1);
}

static inline void kit_submit(struct kit_job *j, unsigned task, int where)
{
    j->task = task;
    j->gate = 0;
    mc_born(task);
    filch_job_init(&j->job, kit_ran, j);
    mc_check(filch_submit_on(pool, &j->job, where) == 0);
}

/* Only a worker can open the gate: a wake-up that was lost is a deadlock. */
static inline void kit_wait(struct kit_job *j)
{
    while (!filch_load_acquire(&j->gate))
        (void)os_futex_wait(&j->gate, 0, INT64_MAX);
}

#endif
