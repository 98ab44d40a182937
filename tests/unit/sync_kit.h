/* sync_kit.h: what the tests of filch/sync.h share: tasks of a pool, and threads outside. */
#ifndef FILCH_TESTS_SYNC_KIT_H
#define FILCH_TESTS_SYNC_KIT_H

#include "pool_kit.h"

#include <filch/sync.h>
#include <filch/task.h>

KIT_UNUSED static void go_on(filch_pool *pool, void (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.pool = pool;
    CHECK_EQ(filch_go_with(&a, fn, arg), 0);
}

struct outside {
    void (*fn)(void *);
    void *arg;
};

KIT_UNUSED static void *thread_main(void *arg)
{
    struct outside o = *(struct outside *)arg;
    free(arg);
    o.fn(o.arg);
    return NULL;
}

/* fn(arg) on a thread of its own, outside every pool. */
KIT_UNUSED static pthread_t thread_of(void (*fn)(void *), void *arg)
{
    pthread_t t;
    struct outside *o = malloc(sizeof *o);
    CHECK(o != NULL);
    *o = (struct outside){fn, arg};
    CHECK_EQ(pthread_create(&t, NULL, thread_main, o), 0);
    return t;
}

KIT_UNUSED static void ended(const pthread_t *t, int n)
{
    for (int i = 0; i < n; i++)
        CHECK_EQ(pthread_join(t[i], NULL), 0);
    kit_beat();
}

#endif
