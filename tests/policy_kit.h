/* policy_kit.h: what tests of policies share: pools made from a policy's words, and pools without threads in
 * whose queues the test puts jobs that it never runs: then nothing depends on when threads run. */
#ifndef FILCH_TESTS_POLICY_KIT_H
#define FILCH_TESTS_POLICY_KIT_H

#include "core/find.h"
#include "core/idle_set.h"
#include "core/queue.h"
#include "pool_kit.h"

enum { POLICY_JOBS = 256, POLICY_WORKERS = 16 };

static filch_job policy_jobs[POLICY_JOBS]; /* the number of one is its index */

KIT_UNUSED static filch_config policy_config(int workers, const char *words)
{
    filch_config c = kit_config(workers);
    char message[256] = "";
    CHECK_MSG(filch_config_parse(&c, words, message, sizeof message) == 0, "%s", message);
    return c;
}

KIT_UNUSED static filch_pool *policy_pool(int workers, const char *words)
{
    filch_config c = policy_config(workers, words);
    return kit_make(&c);
}

/* ---- without threads: the test sits in seat 0 ---------------------------------------------------------- */

KIT_UNUSED static filch_pool *still_pool(int workers, const char *words)
{
    filch_pool *pool = policy_pool(workers, words);
    pool->idle->scout = workers - 1; /* as if one came by itself: none is woken */
    CHECK(idle_seat_enter(pool));
    CHECK_EQ(idle_figures(pool).threads, 0);
    return pool;
}

static inline struct worker *worker_of(filch_pool *pool, int id)
{
    return &pool->workers[id];
}

/* As its owner does. */
KIT_UNUSED static void load(filch_pool *pool, int worker, int first, int n)
{
    for (int i = 0; i < n; i++)
        queue_push(worker_of(pool, worker), item_job(&policy_jobs[first + i]));
}

KIT_UNUSED static int number_of(work_item it)
{
    return it ? (int)((filch_job *)it - policy_jobs) : -1;
}

/* What its owner takes next, or -1. */
KIT_UNUSED static int owner_takes(filch_pool *pool, int worker)
{
    return number_of(queue_take(worker_of(pool, worker)));
}

/* What a search of this worker finds first, or -1. */
KIT_UNUSED static int thief_takes(filch_pool *pool, int worker)
{
    struct found found = find_steal(worker_of(pool, worker));
    CHECK(found.what != FOUND_LOOT);
    return found.what == FOUND_ITEM ? number_of(found.it) : -1;
}

KIT_UNUSED static uint64_t counted(filch_pool *pool, int worker, enum event event)
{
    return counters_get(&worker_of(pool, worker)->counters, event);
}

KIT_UNUSED static void empty(filch_pool *pool)
{
    work_item it;
    for (int i = 0; i < pool->count; i++)
        while (owner_takes(pool, i) >= 0)
            ;
    while (inject_take(&pool->injector, &it, 1) > 0)
        ;
}

KIT_UNUSED static void still_end(filch_pool *pool)
{
    empty(pool);
    pool->idle->scout = -1;
    idle_seat_leave(worker_of(pool, 0));
    CHECK_EQ(idle_figures(pool).threads, 0);
    kit_destroy(pool);
}

#endif
