/* test_hog.c: a task that keeps its worker is named once; others are not; nobody polls meanwhile. */
#define _GNU_SOURCE
#include "core/watch.h"
#include "said_kit.h"

#include <filch/task.h>
#include <sys/resource.h>

static filch_pool *watched(int workers, int64_t ms)
{
    filch_config c = kit_config(workers);
    c.hog_ns = ms * 1000000;
    return kit_make(&c);
}

static uint32_t started, let_go, ran;

static void reset(void)
{
    filch_store_relaxed(&started, 0u);
    filch_store_relaxed(&let_go, 0u);
    filch_store_relaxed(&ran, 0u);
}

static int hogs(void *arg)
{
    (void)arg;
    kit_raise(&started);
    while (!kit_raised(&let_go))
        ;
    return 0;
}

static int counts(void *arg)
{
    (void)arg;
    kit_count(&ran);
    return 0;
}

static filch_task *spawn(filch_pool *pool, const char *name, int (*fn)(void *))
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    a.name = name;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, 0), 0);
    return t;
}

static void join(filch_task *t)
{
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
}

static void a_hog_is_named_once_per_episode(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = watched(workers, 5);
        capture();
        for (int episode = 1; episode <= 2; episode++) {
            reset();
            filch_task *h = spawn(pool, "greedy", hogs);
            KIT_AWAIT(times("task \"greedy\" has run on worker ") == episode);
            kit_nap_us(30000);
            kit_raise(&let_go);
            join(h);
        }
        release();
        CHECK_EQ(times("has run"), 2);
        CHECK_EQ(filch_stats_total(pool, "hogs"), 2);
        CHECK(strstr(said, "without waiting; 0 tasks wait behind it\n"));
        kit_destroy(pool);
    }
}

static int spawns_and_hogs(void *arg)
{
    filch_task **t = arg;
    for (int i = 0; i < 3; i++)
        CHECK_EQ(filch_spawn(&t[i], counts, 0), 0);
    return hogs(0);
}

static void what_waits_behind_a_hog_is_counted(void)
{
    filch_pool *pool = watched(1, 5);
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *h, *t[3];
    a.pool = pool;
    a.name = "greedy";
    reset();
    capture();
    CHECK_EQ(filch_spawn_with(&h, &a, spawns_and_hogs, t), 0);
    KIT_AWAIT(times("; 3 tasks wait behind it"));
    kit_raise(&let_go);
    join(h);
    for (int i = 0; i < 3; i++)
        join(t[i]);
    release();
    CHECK_EQ(ran, 3);
    kit_destroy(pool);
}

/* E5 of the mission: the tasks behind a hog run on the other worker. */
static void tasks_behind_a_hog_are_run_by_others(void)
{
    filch_pool *pool = watched(2, 1000000);
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *h, *t[3];
    a.pool = pool;
    reset();
    CHECK_EQ(filch_spawn_with(&h, &a, spawns_and_hogs, t), 0);
    KIT_AWAIT(kit_raised(&ran) == 3);
    kit_raise(&let_go);
    join(h);
    for (int i = 0; i < 3; i++)
        join(t[i]);
    kit_destroy(pool);
}

static void keeps_its_thread(void *arg)
{
    (void)arg;
    kit_nap_us(30000);
}

static void what_a_guest_came_with_is_its_own_business(void)
{
    filch_pool *pool = watched(2, 5);
    capture();
    filch_run_on(pool, keeps_its_thread, NULL);
    release();
    CHECK_EQ(times("has run"), 0);
    kit_destroy(pool);
}

/* The worker's thread sleeps and is not woken: who joins runs it, most of the time. */
static int ends_by_itself(void *arg)
{
    (void)arg;
    KIT_AWAIT(times("task \"greedy\" has run on worker 0 for ") == 1);
    return 0;
}

static void what_a_guest_runs_for_the_pool_is_named(void)
{
    filch_config c = kit_config(1);
    c.hog_ns = 5000000;
    c.wake = FILCH_WAKE_NONE;
    filch_pool *pool = kit_make(&c);
    for (int round = 0; round < 10; round++) {
        join(spawn(pool, "brief", counts));
        KIT_AWAIT(idle_quiet(pool));
        capture();
        join(spawn(pool, "greedy", ends_by_itself));
        release();
    }
    kit_destroy(pool);
}

static void job_hogs(void *arg)
{
    (void)hogs(arg);
}

static void a_job_that_hogs_is_named_too(void)
{
    static const char *const names[] = {"greedy", NULL};
    filch_pool *pool = watched(1, 5);
    for (int i = 0; i < 2; i++) {
        filch_job job;
        filch_job_init(&job, job_hogs, NULL);
        job.name = names[i];
        reset();
        capture();
        CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), 0);
        KIT_AWAIT(times(i == 0 ? "filch: job \"greedy\" has run on worker 0 for "
                               : "filch: job \"unnamed\" has run on worker 0 for "));
        kit_raise(&let_go);
        CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
        release();
        CHECK_EQ(times("has run"), 1);
    }
    kit_destroy(pool);
}

static int waits_pinned(void *arg)
{
    (void)arg;
    filch_pin();
    filch_sleep_ns(40000000);
    filch_unpin();
    return filch_sleep_ns(40000000);
}

static int yields(void *arg)
{
    (void)arg;
    int64_t end = filch_clock_ns() + 40000000;
    while (filch_clock_ns() < end)
        filch_yield();
    return 0;
}

static void who_waits_or_yields_is_no_hog(void)
{
    filch_pool *pool = watched(2, 10000); /* longer than anybody is kept from running here */
    filch_task *a = spawn(pool, "pinned", waits_pinned), *b = spawn(pool, "polite", yields);
    capture();
    join(a);
    join(b);
    release();
    CHECK_EQ(times("has run"), 0);
    kit_destroy(pool);

    pool = watched(1, 1);
    capture();
    a = spawn(pool, "pinned", waits_pinned);
    KIT_AWAIT(filch_task_done(a));
    join(a);
    release();
    CHECK_MSG(!strstr(said, "pinned"), "%s", said);
    kit_destroy(pool);
}

static int64_t cpu_us(void)
{
    struct rusage u;
    CHECK_EQ(getrusage(RUSAGE_SELF, &u), 0);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * INT64_C(1000000) + u.ru_utime.tv_usec +
           u.ru_stime.tv_usec;
}

static int64_t switches(void)
{
    struct rusage u;
    CHECK_EQ(getrusage(RUSAGE_SELF, &u), 0);
    return u.ru_nvcsw;
}

/* At 1 ms the watch would wake four thousand times a second if it polled. */
static void a_pool_that_sleeps_is_not_watched(void)
{
    filch_pool *pool = watched(2, 1);
    for (int round = 0; round < 3; round++) {
        join(spawn(pool, "short", counts));
        kit_await_parked(pool);
        kit_nap_us(50000);
        int64_t before = switches(), cpu = cpu_us();
        kit_nap_us(300000);
        CHECK_MSG(switches() - before < 100, "%lld switches", (long long)(switches() - before));
        CHECK(cpu_us() - cpu < 200000);
    }
    kit_destroy(pool);
}

/* Of a pool that has no watch: this thread is it. */
static void a_watch_that_is_to_stop_does_not_sleep(void)
{
    filch_pool *pool = kit_pool(1);
    join(spawn(pool, "short", counts));
    kit_await_parked(pool);
    filch_store_relaxed(&pool->watch.word, (uint32_t)WATCH_STOP); /* order: one thread */
    watch_sleep(pool);
    CHECK_EQ(filch_load_relaxed(&pool->watch.word), WATCH_STOP); /* order: one thread */
    watch_reset(pool);
    kit_destroy(pool);
}

static void bad_settings_are_refused(void)
{
    filch_config c = kit_config(1);
    filch_pool *pool;
    c.hog_ns = -1;
    CHECK_EQ(filch_pool_create(&pool, &c), -EINVAL);
}

static void the_environment_turns_it_on(void)
{
    filch_config c = FILCH_CONFIG_INIT;
    c.workers = 1;
    CHECK_EQ(setenv("FILCH_HOG_MS", "5", 1), 0);
    filch_pool *pool = kit_make(&c);
    reset();
    capture();
    filch_task *h = spawn(pool, "greedy", hogs);
    KIT_AWAIT(times("task \"greedy\" has run on worker "));
    kit_raise(&let_go);
    join(h);
    kit_destroy(pool);
    CHECK_EQ(setenv("FILCH_HOG_MS", "often", 1), 0);
    kit_destroy(kit_make(&c));
    release();
    CHECK(strstr(said, "FILCH_HOG_MS is not a number"));
    unsetenv("FILCH_HOG_MS");
}

int main(void)
{
    kit_watchdog();
    RUN(a_hog_is_named_once_per_episode);
    RUN(what_waits_behind_a_hog_is_counted);
    RUN(tasks_behind_a_hog_are_run_by_others);
    RUN(what_a_guest_came_with_is_its_own_business);
    RUN(what_a_guest_runs_for_the_pool_is_named);
    RUN(a_job_that_hogs_is_named_too);
    RUN(who_waits_or_yields_is_no_hog);
    RUN(a_pool_that_sleeps_is_not_watched);
    RUN(a_watch_that_is_to_stop_does_not_sleep);
    RUN(bad_settings_are_refused);
    RUN(the_environment_turns_it_on);
    return check_report();
}
