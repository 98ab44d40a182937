/* test_local.c: storage that belongs to a task. */
#include "pool_kit.h"

#include "core/run.h"

#include <filch/async.h>
#include <filch/task.h>

static filch_local one, two, many[40];
static uint32_t destroyed;

static void destroys(void *value)
{
    CHECK(value);
    kit_count(&destroyed);
}

static void *number(uintptr_t n)
{
    return (void *)n;
}

static filch_task *spawn_on(filch_pool *pool, int (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t = NULL;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

static int join(filch_task *t)
{
    int result = -1;
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    return result;
}

/* ---- tasks ---------------------------------------------------------------------------------- */

static int keeps_its_own(void *arg)
{
    uintptr_t mine = (uintptr_t)arg;
    CHECK(!filch_local_get(one) && !filch_local_get(two));
    CHECK_EQ(filch_local_set(one, number(mine)), 0);
    for (int i = 0; i < 20; i++) {
        filch_yield();
        CHECK(filch_local_get(one) == number(mine + (unsigned)i));
        CHECK(!filch_local_get(two));
        CHECK_EQ(filch_local_set(one, number(mine + (unsigned)i + 1)), 0);
    }
    return 0;
}

static int children_keep_their_own(void *arg)
{
    filch_task *t[50];
    (void)arg;
    CHECK_EQ(filch_local_set(two, number(9)), 0);
    for (uintptr_t i = 0; i < 50; i++)
        CHECK_EQ(filch_spawn(&t[i], keeps_its_own, number(100 * (i + 1))), 0);
    for (int i = 0; i < 50; i++) {
        uint32_t before = kit_raised(&destroyed);
        CHECK_EQ(join(t[i]), 0); /* run here, or elsewhere: its values are destroyed by now */
        CHECK(kit_raised(&destroyed) > before || before >= (unsigned)i + 1);
        CHECK(filch_local_get(two) == number(9) && !filch_local_get(one));
    }
    return 0;
}

static void every_task_has_its_own_values(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        destroyed = 0;
        CHECK_EQ(join(spawn_on(pool, children_keep_their_own, NULL)), 0);
        CHECK_EQ(destroyed, 51);
        kit_destroy(pool);
    }
}

static int sets_many(void *arg)
{
    (void)arg;
    for (uintptr_t i = 0; i < 40; i += 3)
        CHECK_EQ(filch_local_set(many[i], number(i + 1)), 0);
    CHECK_EQ(filch_local_set(many[1], NULL), 0);
    for (uintptr_t i = 0; i < 40; i++)
        CHECK(filch_local_get(many[i]) == (i % 3 == 0 ? number(i + 1) : NULL));
    CHECK_EQ(filch_local_set(many[0], NULL), 0); /* not destroyed: it is the caller's again */
    return 0;
}

static void many_keys_do_not_mix(void)
{
    filch_pool *pool = kit_pool(2);
    for (int i = 0; i < 3; i++) {
        destroyed = 0;
        CHECK_EQ(join(spawn_on(pool, sets_many, NULL)), 0);
        CHECK_EQ(destroyed, 13);
    }
    kit_destroy(pool);
}

static int sets_nothing(void *arg)
{
    (void)arg;
    CHECK_EQ(filch_local_set(one, NULL), 0);
    CHECK_EQ(filch_local_set(many[39], NULL), 0);
    CHECK(!run_fiber()->root->locals);
    CHECK(!filch_local_get(one) && !filch_local_get(many[39]));
    return 0;
}

static void null_for_a_key_that_was_never_set_takes_no_memory(void)
{
    filch_pool *pool = kit_pool(1);
    destroyed = 0;
    CHECK_EQ(join(spawn_on(pool, sets_nothing, NULL)), 0);
    CHECK_EQ(destroyed, 0);
    kit_destroy(pool);
}

/* A destructor that sets the value again is called again, but not for ever. */
static filch_local stubborn;
static uint32_t rounds;

static void sets_again(void *value)
{
    kit_count(&rounds);
    CHECK_EQ(filch_local_set(stubborn, value), 0);
}

static int sets_stubborn(void *arg)
{
    return filch_local_set(stubborn, arg);
}

static void a_stubborn_destructor_comes_to_an_end(void)
{
    filch_pool *pool = kit_pool(1);
    CHECK_EQ(join(spawn_on(pool, sets_stubborn, &rounds)), 0);
    CHECK_EQ(rounds, 4);
    kit_destroy(pool);
}

/* ---- what else runs ------------------------------------------------------------------------- */

static void job_sets(void *arg)
{
    CHECK(!filch_local_get(one));
    CHECK_EQ(filch_local_set(one, arg), 0);
    CHECK(filch_local_get(one) == arg);
}

static enum filch_poll poll_sets(filch_async *self, void *arg)
{
    (void)self;
    job_sets(arg);
    return FILCH_READY;
}

static void jobs_roots_and_polls_have_values_of_their_own(void)
{
    filch_pool *pool = kit_pool(2);
    uint32_t mark = 0;
    filch_job job;
    destroyed = 0;
    for (int i = 0; i < 5; i++) {
        filch_job_init(&job, job_sets, &mark);
        CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), 0);
        CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
        filch_run_on(pool, job_sets, &mark);
        CHECK_EQ(filch_async_spawn_on(pool, NULL, poll_sets, &mark), 0);
    }
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(destroyed, 15);
    kit_destroy(pool);
}

FILCH_TASK(int, tree, int, depth)
{
    CHECK(filch_local_get(one) == number(7));
    if (depth == 5)
        CHECK_EQ(filch_local_set(many[39], number(3)), 0); /* any of them may set it */
    if (depth == 0)
        return 1;
    FILCH_FORK(b, tree, depth - 1);
    int a = FILCH_CALL(tree, depth - 1);
    return a + FILCH_JOIN(tree, b);
}

static void root_of_tree(void *arg)
{
    (void)arg;
    CHECK_EQ(filch_local_set(one, number(7)), 0);
    CHECK_EQ(FILCH_RUN(tree, 8), 256);
    CHECK(filch_local_get(many[39]) == number(3));
}

static void forked_jobs_share_the_values_of_their_root(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        for (int i = 0; i < 20; i++) {
            destroyed = 0;
            filch_run_on(pool, root_of_tree, NULL);
            CHECK_EQ(destroyed, 2);
        }
        kit_destroy(pool);
    }
}

static void a_thread_outside_has_none(void)
{
    CHECK(!filch_local_get(one));
    CHECK_EQ(filch_local_set(one, &destroyed), -EPERM);
}

static void keys_run_out(void)
{
    filch_local k;
    int rc, n = 0;
    while ((rc = filch_local_create(&k, NULL)) == 0)
        n++;
    CHECK_EQ(rc, -EAGAIN);
    CHECK_EQ(k.number, 0);
    CHECK_EQ(n, FILCH_LOCAL_MAX - 43);
}

int main(void)
{
    kit_watchdog();
    CHECK_EQ(filch_local_create(&one, destroys), 0);
    CHECK_EQ(filch_local_create(&two, destroys), 0);
    CHECK_EQ(filch_local_create(&stubborn, sets_again), 0);
    for (int i = 0; i < 40; i++)
        CHECK_EQ(filch_local_create(&many[i], destroys), 0);
    RUN(every_task_has_its_own_values);
    RUN(many_keys_do_not_mix);
    RUN(null_for_a_key_that_was_never_set_takes_no_memory);
    RUN(a_stubborn_destructor_comes_to_an_end);
    RUN(jobs_roots_and_polls_have_values_of_their_own);
    RUN(forked_jobs_share_the_values_of_their_root);
    RUN(a_thread_outside_has_none);
    RUN(keys_run_out);
    return check_report();
}
