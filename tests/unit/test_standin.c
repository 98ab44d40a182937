/* test_standin.c: somebody keeps a worker without working, and another one takes over. */
#include "core/idle_set.h"
#include "pool_kit.h"

#include <filch/blocking.h>
#include <filch/chan.h>
#include <filch/scope.h>
#include <filch/task.h>
#include <sys/wait.h>

static uint32_t ran, let_go, in_section, released;

static void reset(void)
{
    filch_store_relaxed(&ran, 0u);
    filch_store_relaxed(&let_go, 0u);
    filch_store_relaxed(&in_section, 0u);
    filch_store_relaxed(&released, 0u);
}

static filch_pool *pool_with(int workers, size_t stand_ins)
{
    filch_config c = kit_config(workers);
    c.stand_ins = stand_ins;
    return kit_make(&c);
}

static filch_task *spawn(filch_pool *pool, int (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

static void join(filch_task *t)
{
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
}

static unsigned in_use(filch_pool *pool)
{
    lock_acquire(&pool->idle->lock);
    unsigned n = pool->idle->spares;
    lock_release(&pool->idle->lock);
    return n;
}

/* A thread that sleeps in the system, as far as filch can tell. */
static void block_until(uint32_t *flag)
{
    while (!kit_raised(flag))
        kit_nap_us(50);
}

static int blocks(void *arg)
{
    (void)arg;
    filch_blocking_enter();
    int id = filch_worker_id();
    kit_count(&in_section);
    block_until(&let_go);
    CHECK_EQ(filch_worker_id(), id);
    filch_blocking_leave();
    kit_count(&released);
    return 0;
}

static int counts(void *arg)
{
    (void)arg;
    kit_count(&ran);
    return 0;
}

static int lets_go(void *arg)
{
    (void)arg;
    kit_raise(&let_go);
    return 0;
}

/* The only worker blocks; the one that ends this is behind it. */
static void what_lies_behind_a_blocked_worker_goes_on(void)
{
    for (int round = 0; round < 50; round++) {
        filch_pool *pool = pool_with(1, 1);
        reset();
        filch_task *a = spawn(pool, blocks, NULL), *t[20];
        for (int i = 0; i < 20; i++)
            t[i] = spawn(pool, counts, NULL);
        filch_task *b = spawn(pool, lets_go, NULL);
        join(a);
        for (int i = 0; i < 20; i++)
            join(t[i]);
        join(b);
        CHECK_EQ(filch_load_acquire(&ran), 20);
        kit_destroy(pool);
    }
}

static int spawns_then_blocks(void *arg)
{
    filch_task **t = arg;
    for (int i = 0; i < 300; i++) /* more than the ring holds */
        CHECK_EQ(filch_spawn(&t[i], i < 299 ? counts : lets_go, NULL), 0);
    return blocks(NULL);
}

static void what_it_had_queued_itself_goes_on_under_every_policy(void)
{
    for (int queue = FILCH_QUEUE_RING; queue <= FILCH_QUEUE_TRYLOCK; queue++)
        for (int wake = FILCH_WAKE_ONE; wake <= FILCH_WAKE_NONE; wake++)
            for (int idle = FILCH_IDLE_PARK; idle <= FILCH_IDLE_SLEEP; idle++) {
                filch_config c = kit_config(1 + wake % 2);
                filch_task *t[300];
                c.stand_ins = 1;
                c.queue = (enum filch_queue)queue;
                c.wake = (enum filch_wake)wake;
                c.idle = (enum filch_idle)idle;
                c.steal = idle % 2 ? FILCH_STEAL_FLOOR : FILCH_STEAL_HALF; /* floor: never the last one */
                filch_pool *pool = kit_make(&c);
                reset();
                join(spawn(pool, spawns_then_blocks, t));
                for (int i = 0; i < 300; i++)
                    join(t[i]);
                CHECK_EQ(filch_load_acquire(&ran), 299);
                kit_destroy(pool);
            }
}

static int forks_then_blocks(void *arg)
{
    filch_job job;
    (void)arg;
    filch_fork(&job, (void (*)(void *))(uintptr_t)lets_go, NULL);
    int rc = blocks(NULL);
    filch_join(&job);
    return rc;
}

static void a_fork_of_the_blocked_one_is_stolen(void)
{
    filch_pool *pool = pool_with(1, 1);
    reset();
    join(spawn(pool, forks_then_blocks, NULL));
    kit_destroy(pool);
}

/* As many as there are take over, then no more; and they go back to the bench. */
static void there_are_as_many_as_configured(void)
{
    filch_pool *pool = pool_with(2, 3);
    filch_task *t[5];
    CHECK_EQ(filch_pool_workers(pool), 5);
    for (int round = 0; round < 10; round++) {
        reset();
        for (int i = 0; i < 5; i++)
            t[i] = spawn(pool, blocks, NULL);
        KIT_AWAIT(filch_load_acquire(&in_section) == 5); /* two workers and three stand-ins */
        CHECK_EQ(in_use(pool), 3);
        kit_raise(&let_go);
        for (int i = 0; i < 5; i++)
            join(t[i]);
        /* Who leaves sees that it is too many when it gets up; those asleep need not get up for it. */
        KIT_AWAIT(idle_figures(pool).searching == 0 && idle_quiet(pool));
        CHECK(in_use(pool) <= 3);
        CHECK_EQ(filch_load_relaxed(&pool->idle->spares_wanted), 0);
    }
    kit_destroy(pool);
}

static int nests(void *arg)
{
    (void)arg;
    filch_blocking_enter();
    filch_blocking_enter();
    filch_blocking_leave();
    CHECK_EQ(filch_pool_current()->idle->spares_wanted, 1);
    filch_blocking_leave();
    return 0;
}

static void sections_nest(void)
{
    filch_pool *pool = pool_with(1, 1);
    for (int i = 0; i < 20; i++)
        join(spawn(pool, nests, NULL));
    kit_destroy(pool);
}

/* The task may wait in the section and come back elsewhere: the stand-in is the pool's. */
static int waits_inside(void *arg)
{
    filch_chan *chan = arg;
    int got;
    filch_blocking_enter();
    CHECK_EQ(filch_chan_recv(chan, &got, FILCH_FOREVER), 0);
    filch_sleep_ns(20000);
    filch_blocking_leave();
    return 0;
}

static int sends(void *arg)
{
    int n = 7;
    return filch_chan_send(arg, &n, FILCH_FOREVER);
}

static void a_section_may_contain_waits(void)
{
    filch_pool *pool = pool_with(2, 1);
    filch_chan *chan;
    CHECK_EQ(filch_chan_create(&chan, sizeof(int), 4), 0);
    for (int round = 0; round < 50; round++) {
        filch_task *t[8];
        for (int i = 0; i < 8; i++)
            t[i] = spawn(pool, i % 2 ? sends : waits_inside, chan);
        for (int i = 0; i < 8; i++)
            join(t[i]);
    }
    kit_destroy(pool);
    filch_chan_destroy(chan);
}

static int without_one(void *arg)
{
    (void)arg;
    filch_blocking_enter();
    filch_blocking_leave();
    return 0;
}

static void without_stand_ins_and_outside_nothing_happens(void)
{
    filch_pool *pool = kit_pool(2);
    CHECK_EQ(filch_pool_workers(pool), 2);
    join(spawn(pool, without_one, NULL));
    (void)without_one(NULL);
    kit_destroy(pool);
}

/* A hog on the only worker; what ends it is behind it. */
static int hogs(void *arg)
{
    (void)arg;
    while (!kit_raised(&let_go))
        ;
    return 0;
}

static void a_hog_on_the_only_worker_does_not_stop_the_tasks_behind_it(void)
{
    filch_config c = kit_config(1);
    c.stand_ins = 1;
    c.hog_ns = 2000000;
    filch_pool *pool = kit_make(&c);
    for (int round = 0; round < 3; round++) {
        reset();
        filch_task *hog = spawn(pool, hogs, NULL), *other = spawn(pool, lets_go, NULL);
        join(hog);
        join(other);
    }
    kit_destroy(pool);
}

/* The worker's thread sleeps and is not woken, so the joiner runs the hog itself, as a guest, and has taken
 * what is behind it along; unless the thread's alarm rings just then, hence several rounds. */
static void a_joiner_that_runs_a_hog_does_not_stop_the_tasks_behind_it(void)
{
    filch_config c = kit_config(1);
    c.stand_ins = 1;
    c.hog_ns = 2000000;
    c.wake = FILCH_WAKE_NONE;
    filch_pool *pool = kit_make(&c);
    for (int round = 0; round < 10; round++) {
        join(spawn(pool, counts, NULL));
        KIT_AWAIT(idle_quiet(pool));
        reset();
        filch_task *hog = spawn(pool, hogs, NULL), *other = spawn(pool, lets_go, NULL);
        join(hog);
        join(other);
    }
    kit_destroy(pool);
}

static unsigned wanted(filch_pool *pool)
{
    return filch_load_relaxed(&pool->idle->spares_wanted); /* order: a figure */
}

/* The watch sees it when it looks, which it does while somebody is active. Nobody joins before: a joiner
 * helps, and would look at nothing while it runs the hog. */
static void a_hog_that_ends_gives_its_stand_in_back(void)
{
    filch_config c = kit_config(1);
    c.stand_ins = 1;
    c.hog_ns = 2000000;
    filch_pool *pool = kit_make(&c);
    for (int round = 0; round < 3; round++) {
        reset();
        filch_task *hog = spawn(pool, hogs, NULL);
        KIT_AWAIT(wanted(pool) == 1);
        CHECK_EQ(in_use(pool), 1);
        filch_task *other = spawn(pool, lets_go, NULL);
        KIT_AWAIT(filch_task_done(hog));
        join(hog);
        join(other);
        while (wanted(pool) > 0) {
            join(spawn(pool, counts, NULL));
            kit_nap_us(200);
        }
    }
    kit_destroy(pool);
}

/* Every seat is used by somebody, the sections come and go, and all is counted. */
static int mixes(void *arg)
{
    uintptr_t seed = (uintptr_t)arg;
    if (seed % 3 == 0) {
        filch_blocking_enter();
        kit_nap_us((unsigned)(seed % 40));
        filch_blocking_leave();
    } else if (seed % 3 == 1) {
        filch_sleep_ns((int64_t)(seed % 50) * 1000);
    }
    kit_count(&ran);
    return 0;
}

static void sections_come_and_go_and_nothing_is_lost(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = pool_with(workers, 2);
        uint32_t n = (uint32_t)kit_scaled(3000, 5);
        filch_scope s;
        reset();
        CHECK_EQ(filch_scope_open_on(&s, pool), 0);
        for (uintptr_t i = 0; i < n; i++)
            CHECK_EQ(filch_scope_go(&s, mixes, (void *)i), 0);
        CHECK_EQ(filch_scope_close(&s), 0);
        CHECK_EQ(filch_load_acquire(&ran), n);
        KIT_AWAIT(idle_quiet(pool));
        kit_destroy(pool);
    }
}

/* The child has none of the parent's tasks, so nobody in it blocks. */
static void a_child_of_fork_begins_without_sections(void)
{
    if (KIT_SLOW)
        return; /* fork() is not judged under sanitizers */
    filch_pool *pool = pool_with(1, 1);
    reset();
    filch_task *t = spawn(pool, blocks, NULL);
    KIT_AWAIT(filch_load_acquire(&in_section) == 1);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(20); /* the watchdog stayed behind */
        reset();
        for (int i = 0; i < 20; i++)
            join(spawn(pool, counts, NULL));
        join(spawn(pool, nests, NULL));
        _exit(filch_load_acquire(&ran) == 20 ? 0 : 1);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    kit_raise(&let_go);
    join(t);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(what_lies_behind_a_blocked_worker_goes_on);
    RUN(what_it_had_queued_itself_goes_on_under_every_policy);
    RUN(a_fork_of_the_blocked_one_is_stolen);
    RUN(there_are_as_many_as_configured);
    RUN(sections_nest);
    RUN(a_section_may_contain_waits);
    RUN(without_stand_ins_and_outside_nothing_happens);
    RUN(a_hog_on_the_only_worker_does_not_stop_the_tasks_behind_it);
    RUN(a_joiner_that_runs_a_hog_does_not_stop_the_tasks_behind_it);
    RUN(a_hog_that_ends_gives_its_stand_in_back);
    RUN(sections_come_and_go_and_nothing_is_lost);
    RUN(a_child_of_fork_begins_without_sections);
    return check_report();
}
