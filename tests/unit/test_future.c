/* test_future.c: a task with a pointer as its result. */
#include "pool_kit.h"

#include <filch/future.h>

static void *next_of(void *arg)
{
    return (char *)arg + 1;
}

static void *adds_up(void *arg)
{
    filch_future *f[50];
    char *base = arg;
    size_t sum = 0;
    for (int i = 0; i < 50; i++)
        CHECK_EQ(filch_future_start(&f[i], next_of, base + i), 0);
    for (int i = 0; i < 50; i++) {
        void *result = NULL;
        CHECK_EQ(filch_future_await(f[i], &result, FILCH_FOREVER), 0);
        sum += (size_t)((char *)result - base);
    }
    return base + sum;
}

static void a_future_gives_what_its_function_returned(void)
{
    static char base[2000];
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        filch_task_attr attr = FILCH_TASK_ATTR_INIT;
        filch_future *f;
        void *result = NULL;
        attr.pool = pool;
        CHECK_EQ(filch_future_start_with(&f, &attr, adds_up, base), 0);
        CHECK_EQ(filch_future_await(f, &result, FILCH_FOREVER), 0);
        CHECK_EQ((char *)result - base, 1275);
        for (int i = 0; i < 100; i++) {
            CHECK_EQ(filch_future_start_with(&f, &attr, next_of, base), 0);
            filch_future_drop(f);
        }
        kit_destroy(pool);
    }
}

static void *waits_for_flag(void *arg)
{
    KIT_AWAIT(kit_raised(arg));
    return arg;
}

static void an_await_with_a_deadline_can_be_repeated(void)
{
    filch_pool *pool = kit_pool(2);
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    filch_future *f;
    uint32_t flag = 0;
    void *result = NULL;
    attr.pool = pool;
    CHECK_EQ(filch_future_start_with(&f, &attr, waits_for_flag, &flag), 0);
    CHECK_EQ(filch_future_await(f, &result, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_future_await(f, &result, filch_clock_ns() + 1000000), -ETIMEDOUT);
    CHECK_EQ(filch_future_done(f), 0);
    kit_raise(&flag);
    KIT_AWAIT(filch_future_done(f));
    CHECK_EQ(filch_future_await(f, &result, FILCH_NOW), 0);
    CHECK(result == &flag);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(a_future_gives_what_its_function_returned);
    RUN(an_await_with_a_deadline_can_be_repeated);
    return check_report();
}
