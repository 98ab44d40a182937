/* Forks where there is no room, and roots where there is no pool any more: named, then abort. */
#define _GNU_SOURCE
#include "../forking.h"
#include "core/run.h"

#include <sched.h>

static void says(void (*body)(void), const char *text)
{
    struct ending e = in_child(body);
    CHECK_MSG(strstr(e.text, text), "it said: %s", e.text);
    CHECK(aborted(&e));
}

/* ---- filch_fork checks its room, FILCH_FORK leaves that to a guard page -------------------------- */

enum { MANY = 1 << 20 };
static filch_job jobs[MANY]; /* touched as far as they are forked */

static void nothing(void *arg) { (void)arg; }

static void forks_on(void *arg)
{
    (void)arg;
    for (int i = 0; i < MANY; i++)
        filch_fork(&jobs[i], nothing, NULL);
}

static void endless_body(void)
{
    filch_config c = config_of(1, FILCH_JOIN_SUSPEND);
    filch_pool *pool;
    c.stack_size = 64 << 10;
    CHECK_EQ(filch_pool_create(&pool, &c), 0);
    filch_run_on(pool, forks_on, NULL);
}

static void more_plain_forks_than_there_is_room_for_are_refused(void)
{
    says(endless_body, "filch: filch_fork: too many forks pending");
}

/* ---- a thief at the end of the slots: behind them is a guard page --------------------------------- */

static uint32_t ran;

static void count(void *arg)
{
    (void)arg;
    filch_add_relaxed(&ran, 1u);
}

static void forks_all(void *arg)
{
    struct slots *s = &worker_self()->fiber->slots;
    int room = (int)(s->end - slots_head(s));
    (void)arg;
    CHECK(room > 0 && room <= MANY);
    for (int i = 0; i < room; i++)
        filch_fork(&jobs[i], count, NULL);
    while (filch_load_acquire(&ran) < (uint32_t)room) /* a thief takes them all */
        sched_yield();
    for (int i = room; i-- > 0;)
        filch_join(&jobs[i]);
    CHECK_EQ(ran, (uint32_t)room);
}

static void thieves_take_forks_up_to_the_last_slot(void)
{
    filch_config c = config_of(2, FILCH_JOIN_SUSPEND);
    filch_pool *pool;
    c.stack_size = 64 << 10;
    CHECK_EQ(filch_pool_create(&pool, &c), 0);
    filch_run_on(pool, forks_all, NULL);
    filch_pool_destroy(pool);
}

/* ---- a pool that is shut down -------------------------------------------------------------------- */

static filch_pool *closed;

FILCH_TASK(int, one, int, n) { return n; }

static void runs_there(void *arg)
{
    (void)arg;
    CHECK_EQ(FILCH_RUN_ON(closed, one, 1), 1);
}

static void closed_body(void)
{
    closed = pool_of(1, FILCH_JOIN_SUSPEND);
    CHECK_EQ(filch_pool_shutdown(closed, FILCH_FOREVER), 0);
    run_as_job(pool_of(1, FILCH_JOIN_SUSPEND), runs_there, NULL);
}

static void a_root_from_a_worker_to_a_pool_that_is_shut_down_is_named(void)
{
    says(closed_body, "the pool is shut down (task \"one\")");
}

int main(void)
{
    RUN(more_plain_forks_than_there_is_room_for_are_refused);
    RUN(thieves_take_forks_up_to_the_last_slot);
    RUN(a_root_from_a_worker_to_a_pool_that_is_shut_down_is_named);
    return check_report();
}
