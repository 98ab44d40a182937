/* Forks where there is no room, and roots where there is no pool any more: named, then abort. */
#define _GNU_SOURCE
#include "../forking.h"

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
    RUN(a_root_from_a_worker_to_a_pool_that_is_shut_down_is_named);
    return check_report();
}
