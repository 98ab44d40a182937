/* test_schedtrace.c: a line now and then shows the queues grow and drain; none while nothing runs. */
#define _GNU_SOURCE
#include "said_kit.h"

#include <filch/stats.h>
#include <filch/task.h>

enum { TASKS = 1000 };

static uint32_t hog_runs, spawned, let_spawner_go, let_hog_go, ran;

static int hogs(void *arg)
{
    (void)arg;
    kit_raise(&hog_runs);
    while (!kit_raised(&let_hog_go))
        ;
    return 0;
}

static int naps(void *arg)
{
    (void)arg;
    CHECK_EQ(filch_sleep_ns(1000), 0);
    kit_count(&ran);
    return 0;
}

/* Keeps its worker until the queue behind it has been seen. */
static int spawns(void *arg)
{
    filch_task **t = arg;
    for (int i = 0; i < TASKS; i++)
        CHECK_EQ(filch_spawn(&t[i], naps, 0), 0);
    kit_raise(&spawned);
    while (!kit_raised(&let_spawner_go))
        ;
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

/* The last complete line that was traced: what it says of the injector, and of all queues together. */
static bool last_line(unsigned long *injector, unsigned long *queued)
{
    const char *line = 0;
    for (const char *at = so_far(); (at = strstr(at, "filch sched ")) && strchr(at, '\n'); at++)
        line = at;
    if (!line)
        return false;
    const char *in = strstr(line, "; injector "), *queues = strstr(line, "; queues");
    CHECK_MSG(in && queues && strstr(line, " ms: pool \"pool\", 2 workers, "), "%s", line);
    char *end = (char *)(uintptr_t)(queues + strlen("; queues"));
    *injector = strtoul(in + strlen("; injector "), 0, 10);
    *queued = 0;
    while (*end == ' ')
        *queued += strtoul(end, &end, 10);
    CHECK_EQ(*end, '\n');
    return true;
}

static void an_overflow_into_the_injector_is_seen_to_grow_and_drain(void)
{
    static filch_task *t[TASKS];
    unsigned long injector = 0, queued = 0;
    filch_config c = kit_config(2);
    c.schedtrace_ns = 2000000;
    filch_pool *pool = kit_make(&c);
    capture();
    filch_task *h = spawn(pool, hogs, 0);
    KIT_AWAIT(kit_raised(&hog_runs));
    filch_task *s = spawn(pool, spawns, t);
    KIT_AWAIT(kit_raised(&spawned));
    KIT_AWAIT(last_line(&injector, &queued) && injector + queued == TASKS);
    CHECK_MSG(injector >= TASKS / 2, "%lu of them in the injector", injector);
    CHECK(filch_stats_total(pool, "overflow") >= TASKS / 2);
    kit_raise(&let_spawner_go); /* the other worker draws it all */
    CHECK_EQ(filch_task_join(s, NULL, FILCH_FOREVER), 0);
    for (int i = 0; i < TASKS; i++)
        CHECK_EQ(filch_task_join(t[i], NULL, FILCH_FOREVER), 0);
    CHECK_EQ(kit_raised(&ran), TASKS);
    KIT_AWAIT(last_line(&injector, &queued) && injector + queued == 0);
    kit_raise(&let_hog_go);
    CHECK_EQ(filch_task_join(h, NULL, FILCH_FOREVER), 0);
    kit_destroy(pool);
    release();
}

static void a_pool_that_sleeps_says_nothing(void)
{
    filch_config c = kit_config(2);
    c.schedtrace_ns = 1000000;
    capture();
    filch_pool *pool = kit_make(&c);
    CHECK_EQ(filch_task_join(spawn(pool, naps, 0), NULL, FILCH_FOREVER), 0);
    kit_await_parked(pool);
    int before, now = times("filch sched ");
    do { /* what was under way; then many times as long as between two lines */
        before = now;
        kit_nap_us(30000);
        now = times("filch sched ");
    } while (now != before && (kit_beat(), true));
    kit_destroy(pool);
    release();
}

static void the_environment_turns_it_on(void)
{
    filch_config c = FILCH_CONFIG_INIT;
    c.workers = 2;
    CHECK_EQ(setenv("FILCH_SCHEDTRACE", "3", 1), 0);
    filch_store_relaxed(&hog_runs, 0u);
    filch_store_relaxed(&let_hog_go, 0u);
    capture();
    filch_pool *pool = kit_make(&c);
    filch_task *h = spawn(pool, hogs, 0);
    KIT_AWAIT(times("filch sched ") >= 3);
    CHECK_EQ(times("has run on worker"), 0); /* that is another setting */
    kit_raise(&let_hog_go);
    CHECK_EQ(filch_task_join(h, NULL, FILCH_FOREVER), 0);
    kit_destroy(pool);
    CHECK_EQ(setenv("FILCH_SCHEDTRACE", "-3", 1), 0);
    kit_destroy(kit_make(&c));
    release();
    CHECK(strstr(said, "FILCH_SCHEDTRACE is not a number"));
    unsetenv("FILCH_SCHEDTRACE");
    c.schedtrace_ns = -1;
    CHECK_EQ(filch_pool_create(&pool, &c), -EINVAL);
}

int main(void)
{
    kit_watchdog();
    RUN(an_overflow_into_the_injector_is_seen_to_grow_and_drain);
    RUN(a_pool_that_sleeps_says_nothing);
    RUN(the_environment_turns_it_on);
    return check_report();
}
