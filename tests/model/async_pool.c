/* async_pool.c: models of stackless tasks (fiber/async.c) in whole pools: real workers, queues, sleep. */
#include "kit.h"

#include <errno.h>
#include <filch/async.h>

static uint32_t mail;
static filch_async task;

static enum filch_poll takes(filch_async *self, void *arg)
{
    (void)self, (void)arg;
    if (!filch_load_relaxed(&mail)) /* only the wake hands it over */
        return FILCH_PENDING;
    mc_ran(0);
    return FILCH_READY;
}

static void sends(void *unused)
{
    (void)unused;
    filch_store_relaxed(&mail, 1u);
    filch_wake(&task);
}

static void start(void)
{
    kit_make(1);
    mc_born(0);
    filch_async_init(&task, takes, 0);
    mc_check(filch_async_start(&task, pool) == 0);
}

/* The task may end, and the pool be destroyed, while the waker is still in filch_wake. */
static void async_pool_woken_from_outside(void)
{
    start();
    mc_thread(sends, 0);
    filch_pool_destroy(pool);
    mc_join_all();
}
MC_MODEL(async_pool_woken_from_outside,
         .claim = "a pool waits for its stackless tasks, and is not freed while an outsider wakes the last",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

static void async_pool_waited_for(void)
{
    start();
    int sender = mc_thread(sends, 0);
    mc_check(filch_async_wait(&task, FILCH_FOREVER) == 0);
    mc_join(sender); /* it may have been polled before the wake that it was polled for */
    task.run = 0;    /* it is ours again: nobody looks at it */
    filch_pool_destroy(pool);
}
MC_MODEL(async_pool_waited_for, .claim = "who waits for it outside is woken by its end",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);
