/* test_event_call.c: an event whose single waiter is a task of the setter's pool is set without a look at
 * the waiter: a call goes through the queues in its place (core/item.h). Everyone goes on exactly once. */
#include "pool_kit.h"

#include <filch/task.h>

enum { CROWD = 3000 };

struct sleeper {
    filch_event event;
    struct crowd *crowd;
    int given, seen;
};

struct crowd {
    struct sleeper sleepers[CROWD];
    int size, waiting, ended;
    filch_pool *pool;
};

static struct crowd crowd;

static void sleeper_run(void *arg)
{
    struct sleeper *s = arg;
    filch_add_relaxed(&s->crowd->waiting, 1); /* order: relaxed, only counts */
    filch_event_wait(&s->event);
    s->seen = s->given;
    filch_add_acq_rel(&s->crowd->ended, 1); /* order: with the checks: `seen` */
}

static void gather(filch_pool *pool)
{
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = pool;
    crowd = (struct crowd){.size = (int)kit_scaled(CROWD, 20), .pool = pool};
    for (int i = 0; i < crowd.size; i++) {
        crowd.sleepers[i].crowd = &crowd;
        CHECK_EQ(filch_go_with(&attr, sleeper_run, &crowd.sleepers[i]), 0);
    }
}

/* Some wait already, some are about to, some have not begun. */
static void set_all(void *unused)
{
    (void)unused;
    for (int i = 0; i < crowd.size; i++) {
        crowd.sleepers[i].given = i + 1;
        filch_event_set(&crowd.sleepers[i].event);
    }
}

static void set_all_late(void *unused)
{
    while (filch_load_relaxed(&crowd.waiting) < crowd.size) /* order: relaxed, only counts */
        filch_sleep_ns(100000);
    set_all(unused);
}

static void all_woken(void)
{
    CHECK_EQ(filch_pool_wait(crowd.pool, FILCH_FOREVER), 0);
    CHECK_EQ(filch_load_acquire(&crowd.ended), crowd.size); /* order: `seen` */
    for (int i = 0; i < crowd.size; i++)
        CHECK_EQ(crowd.sleepers[i].seen, i + 1);
    kit_beat();
}

static filch_pool *pool_of(int workers, const char *policy)
{
    filch_config config = FILCH_CONFIG_INIT;
    filch_pool *pool;
    char message[128] = "";
    CHECK_EQ(filch_config_parse(&config, policy, message, sizeof message), 0);
    config.workers = workers;
    config.no_environment = 1;
    config.ring_capacity = 4; /* most calls overflow, and are stolen */
    CHECK_EQ(filch_pool_create(&pool, &config), 0);
    return pool;
}

static void go_on(filch_pool *pool, void (*fn)(void *))
{
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = pool;
    CHECK_EQ(filch_go_with(&attr, fn, 0), 0);
}

static void a_crowd_that_is_called_goes_on_once_each(void)
{
    static const char *const policies[] = {"steal=half", "ends=lifo", "queue=shared",
                                           "queue=trylock,ends=reverse"};
    static const int workers[] = {1, 2, 4, 16};
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++)
        for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
            filch_pool *pool = pool_of(workers[w], policies[p]);
            gather(pool);
            go_on(pool, w % 2 ? set_all_late : set_all);
            all_woken();
            filch_pool_destroy(pool);
        }
}

static void who_sets_from_another_pool_or_from_outside_wakes_them_too(void)
{
    filch_pool *pool = pool_of(2, "steal=half"), *other = pool_of(2, "steal=half");
    gather(pool);
    go_on(other, set_all_late);
    CHECK_EQ(filch_pool_wait(other, FILCH_FOREVER), 0);
    all_woken();
    gather(pool);
    set_all_late(0);
    all_woken();
    filch_pool_destroy(other);
    filch_pool_destroy(pool);
}

/* ---- several waiters ------------------------------------------------------------------------------ */

static filch_event together;
static int arrived, passed;

static void waits_with_others(void *unused)
{
    (void)unused;
    filch_add_relaxed(&arrived, 1); /* order: relaxed, only counts */
    filch_event_wait(&together);
    filch_add_relaxed(&passed, 1); /* order: relaxed, only counts */
}

static void sets_together(void *unused)
{
    (void)unused;
    while (filch_load_relaxed(&arrived) < 3) /* order: relaxed, only counts */
        filch_sleep_ns(100000);
    filch_sleep_ns(1000000);
    filch_event_set(&together);
}

static void several_at_one_event_are_all_woken(void)
{
    filch_pool *pool = pool_of(1, "steal=half");
    go_on(pool, waits_with_others);
    go_on(pool, waits_with_others);
    go_on(pool, waits_with_others);
    go_on(pool, sets_together);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(passed, 3);
    filch_pool_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(a_crowd_that_is_called_goes_on_once_each);
    RUN(who_sets_from_another_pool_or_from_outside_wakes_them_too);
    RUN(several_at_one_event_are_all_woken);
    return check_report();
}
