/* migration.c: tasks that move between workers keep their errno and their own values, whatever the compiler
 * makes of it. Built and run by migration.sh in several ways. */
#include "check.h"

#include <errno.h>
#include <filch/ord.h>
#include <filch/task.h>

enum { TASKS = 16, ROUNDS = 20000 };

static filch_local key;
static uint32_t moved;

/* As code does that knows nothing of tasks. */
static __attribute__((noinline)) void fails_with(int value)
{
    errno = value;
}

static __attribute__((noinline)) int what_failed(void)
{
    return errno;
}

static void wait_somehow(int i)
{
    if (i % 64 == 0)
        filch_sleep_ns(1000);
    else
        filch_yield();
}

static int wanders(void *arg)
{
    int me = (int)(intptr_t)arg, at = filch_worker_id();
    CHECK_EQ(filch_local_set(key, arg), 0);
    for (int i = 0; i < ROUNDS; i++) {
        fails_with(me);
        wait_somehow(i);
        CHECK_EQ(what_failed(), me);
        CHECK_EQ(*filch_errno(), me);
        *filch_errno() = -me;
        wait_somehow(i + 1);
        CHECK_EQ(*filch_errno(), -me);
        CHECK_EQ(what_failed(), -me);
        CHECK(filch_local_get(key) == arg);
        if (filch_worker_id() != at)
            filch_add_relaxed(&moved, 1u);
        at = filch_worker_id();
    }
    return me;
}

static void a_task_that_moves_sees_its_own_errno_and_value(void)
{
    filch_config config = FILCH_CONFIG_INIT;
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    filch_task *t[TASKS];
    config.workers = 4;
    CHECK_EQ(filch_local_create(&key, NULL), 0);
    CHECK_EQ(filch_pool_create(&attr.pool, &config), 0);
    for (intptr_t i = 0; i < TASKS; i++)
        CHECK_EQ(filch_spawn_with(&t[i], &attr, wanders, (void *)(i + 1)), 0);
    for (int i = 0; i < TASKS; i++) {
        int result;
        CHECK_EQ(filch_task_join(t[i], &result, FILCH_FOREVER), 0);
        CHECK_EQ(result, i + 1);
    }
    filch_pool_destroy(attr.pool);
    CHECK(filch_load_relaxed(&moved) > TASKS); /* or it would show nothing */
    printf("moved %u times\n", moved);
}

int main(void)
{
    RUN(a_task_that_moves_sees_its_own_errno_and_value);
    return check_report();
}
