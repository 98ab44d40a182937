/* offload.h: stackless tasks, futures, task-local values and blocking calls, for scenarios.c. */
#ifndef FILCH_TESTS_OFFLOAD_H
#define FILCH_TESTS_OFFLOAD_H

#include "fiber/blocking.h"
#include "work.h"

#include <filch/async.h>
#include <filch/blocking.h>
#include <filch/future.h>
#include <filch/io.h>

static enum filch_poll two_polls(filch_async *self, void *word)
{
    bool again = filch_add_acq_rel((uint32_t *)word, 1u) % 2 == 0;
    if (again)
        filch_wake_at(self, filch_clock_ns() + 1000);
    return again ? FILCH_PENDING : FILCH_READY;
}

static void stackless_tasks(filch_pool *pool)
{
    for (int i = 0; i < 3; i++) {
        filch_async *a;
        uint32_t polls = 0;
        int rc = filch_async_spawn_on(pool, i ? &a : NULL, two_polls, &polls);
        CHECK(rc == 0 || rc == -ENOMEM);
        if (rc == 0 && i) {
            CHECK_EQ(filch_async_wait(a, FILCH_FOREVER), 0);
            filch_async_drop(a);
        }
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        CHECK_EQ(polls, rc == 0 ? 2u : 0u);
    }
}

static void *counted(void *word)
{
    count(word);
    return word;
}

static void futures(filch_pool *pool)
{
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = pool;
    for (int i = 0; i < 3; i++) {
        filch_future *f;
        uint32_t ran = 0;
        void *result = NULL;
        int rc = filch_future_start_with(&f, &attr, counted, &ran);
        CHECK(rc == 0 ? f != NULL : rc == -ENOMEM && !f);
        if (rc == 0 && i == 1)
            filch_future_drop(f);
        else if (rc == 0)
            CHECK(filch_future_await(f, &result, FILCH_FOREVER) == 0 && result == &ran);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        CHECK_EQ(value_of(&ran), rc == 0 ? 1u : 0u);
    }
}

struct offloaded {
    filch_local key;
    uint32_t called, set, destroyed, done;
};
static struct offloaded offloaded; /* destructors have no other way to it */

static void value_destroyed(void *value) { count(value); }

static int makes_call(void *unused)
{
    (void)unused;
    count(&offloaded.called);
    return 5;
}

static void calls_and_sets(void *unused)
{
    (void)unused;
    int rc = filch_local_set(offloaded.key, &offloaded.destroyed);
    CHECK(rc == 0 || rc == -ENOMEM);
    if (rc == 0)
        count(&offloaded.set);
    CHECK_EQ(filch_blocking(makes_call, NULL), 5);
    struct sockaddr_storage at; /* numeric, but not to inet_pton: the resolver is asked, and asks nobody */
    rc = filch_resolve("127.1", 80, &at, 1, FILCH_FOREVER);
    CHECK_MSG(rc == 1 || rc == -ENOMEM, "%d", rc);
    rc = filch_local_get(offloaded.key) ? 0 : -ENOMEM;
    CHECK(filch_local_get(offloaded.key) == (rc == 0 ? &offloaded.destroyed : NULL));
    count(&offloaded.done);
}

static void blocking_calls(filch_pool *pool)
{
    filch_local key = offloaded.key;
    uint32_t begun = 0;
    offloaded = (struct offloaded){.key = key};
    if (!key.number)
        CHECK_EQ(filch_local_create(&offloaded.key, value_destroyed), 0);
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = pool;
    for (int i = 0; i < 4; i++)
        begun += filch_go_with(&attr, calls_and_sets, NULL) == 0;
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(offloaded.called, begun);
    CHECK_EQ(offloaded.done, begun);
    CHECK_EQ(offloaded.destroyed, offloaded.set);
    blocking_stop();
}

#endif
