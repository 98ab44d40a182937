/* flows.c: models of tasks in whole pools: real workers, fibers, timers and sleep. The states of a task by
 * themselves are in task.c. */
#include "kit.h"

#include <filch/task.h>

static unsigned data; /* plain */

static filch_task *spawn(int (*fn)(void *))
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    mc_born(0);
    mc_check(filch_spawn_with(&t, &a, fn, 0) == 0);
    return t;
}

static int sleeps(void *unused)
{
    (void)unused;
    filch_sleep_ns(100000);
    data = 7;
    mc_ran(0);
    return 3;
}

static void join(filch_task *t)
{
    int result = 0;
    mc_check(filch_task_join(t, &result, FILCH_FOREVER) == 0);
    mc_check(result == 3 && data == 7);
}

static void flow_sleeps(void)
{
    kit_make(1);
    join(spawn(sleeps));
    filch_pool_destroy(pool);
}
MC_MODEL(flow_sleeps, .claim = "a task that sleeps is resumed, wherever it began, and joined",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

static void flow_sleeps_without_threads(void)
{
    kit_make(1);
    mc_fails(MC_THREAD);
    join(spawn(sleeps));
    filch_pool_destroy(pool);
}
MC_MODEL(flow_sleeps_without_threads, .claim = "it is resumed by who waits for it while there is no thread",
         .failing = 2, .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO,
         .alarms = true);

/* ---- destroyed as soon as the last has ended ---------------------------------------------------------- */

static void detached_sleeper(void *unused)
{
    (void)sleeps(unused);
}

static void flow_is_waited_for_by_destroy(void)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    kit_make(1);
    a.pool = pool;
    mc_born(0);
    mc_check(filch_go_with(&a, detached_sleeper, 0) == 0);
    filch_pool_destroy(pool);
    mc_check(data == 7);
}
MC_MODEL(flow_is_waited_for_by_destroy, .claim = "a pool is destroyed when its last task has woken and ended",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* ---- a task that joins its own child ------------------------------------------------------------------ */

static int child(void *unused)
{
    (void)unused;
    mc_ran(1);
    data = 6;
    return 2;
}

static int parent(void *unused)
{
    filch_task *t;
    int result = 0;
    (void)unused;
    mc_born(1);
    mc_check(filch_spawn(&t, child, 0) == 0);
    filch_yield();
    mc_check(filch_task_join(t, &result, FILCH_FOREVER) == 0 && result == 2 && data == 6);
    data = 7;
    mc_ran(0);
    return 3;
}

static void flow_joins_its_child(void)
{
    kit_make(1);
    join(spawn(parent));
    filch_pool_destroy(pool);
}
MC_MODEL(flow_joins_its_child,
         .claim = "spawn, yield and join on one worker, with a guest that may take it over",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);
