/* test_ticker.c: ticks come at their rate, none is lost, and cancelling ends the wait. */
#include "pool_kit.h"

#include <filch/scope.h>
#include <filch/task.h>

#define PERIOD_NS 200000

static int ticks_twenty_times(void *arg)
{
    filch_ticker t;
    int64_t begin = filch_clock_ns(), sum = 0;
    (void)arg;
    filch_ticker_start(&t, PERIOD_NS);
    while (sum < 20) {
        int64_t n = filch_ticker_wait(&t);
        CHECK(n > 0);
        sum += n;
        CHECK(filch_clock_ns() >= begin + sum * PERIOD_NS); /* never early, and counted from the first */
        CHECK(t.next_ns >= begin + (sum + 1) * PERIOD_NS);
    }
    return 0;
}

static filch_task *spawn(filch_pool *pool, int (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

static void ticks_never_come_early_and_none_is_lost(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        filch_task *t[10];
        for (int i = 0; i < 10; i++)
            t[i] = spawn(pool, ticks_twenty_times, NULL);
        for (int i = 0; i < 10; i++)
            CHECK_EQ(filch_task_join(t[i], NULL, FILCH_FOREVER), 0);
        kit_destroy(pool);
    }
    (void)ticks_twenty_times(NULL); /* on a thread outside as well */
}

static void who_is_late_is_told_how_many_ticks_have_come(void)
{
    filch_ticker t;
    filch_ticker_start(&t, 1000000);
    kit_nap_us(5500);
    CHECK(filch_ticker_wait(&t) >= 5);
    CHECK(t.next_ns > filch_clock_ns() - 1000000000);
}

static int ticks_for_ever(void *arg)
{
    filch_ticker t;
    int64_t n;
    filch_ticker_start(&t, PERIOD_NS);
    while ((n = filch_ticker_wait(&t)) > 0)
        kit_raise(arg);
    CHECK_EQ(n, -ECANCELED);
    return 0;
}

static void cancelling_ends_the_wait(void)
{
    uint32_t ticked = 0;
    filch_scope s;
    filch_pool *pool = kit_pool(2);
    CHECK_EQ(filch_scope_open_on(&s, pool), 0);
    CHECK_EQ(filch_scope_go(&s, ticks_for_ever, &ticked), 0);
    KIT_AWAIT(kit_raised(&ticked));
    filch_scope_cancel(&s);
    (void)filch_scope_close(&s);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(ticks_never_come_early_and_none_is_lost);
    RUN(who_is_late_is_told_how_many_ticks_have_come);
    RUN(cancelling_ends_the_wait);
    return check_report();
}
