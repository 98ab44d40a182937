/* chan_kit.h: what tests of channels share. */
#ifndef FILCH_TESTS_CHAN_KIT_H
#define FILCH_TESTS_CHAN_KIT_H

#include "pool_kit.h"

#include <filch/chan.h>
#include <filch/task.h>

KIT_UNUSED static filch_task *spawn(filch_pool *pool, int (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t = NULL;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

KIT_UNUSED static int join(filch_task *t)
{
    int result = -1;
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    kit_beat();
    return result;
}

KIT_UNUSED static int run_on(int workers, int (*fn)(void *), void *arg)
{
    filch_pool *pool = kit_pool(workers);
    int result = join(spawn(pool, fn, arg));
    kit_destroy(pool);
    return result;
}

KIT_UNUSED static filch_chan *chan(size_t item_size, size_t capacity)
{
    filch_chan *c = NULL;
    CHECK_EQ(filch_chan_create(&c, item_size, capacity), 0);
    return c;
}

KIT_UNUSED static int64_t soon(int64_t us)
{
    return filch_clock_ns() + us * 1000;
}

#endif
