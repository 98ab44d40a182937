/* test_task.c: tasks: begin, end, join, yield, sleep, and the order in which a worker takes them. */
#include "pool_kit.h"

#include <filch/task.h>
#include <unistd.h>

static filch_task_attr on(filch_pool *pool)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.pool = pool;
    return a;
}

static filch_task *spawn(filch_pool *pool, int (*fn)(void *), void *arg)
{
    filch_task_attr a = on(pool);
    filch_task *t = NULL;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

static int join(filch_task *t)
{
    int result = -1;
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    return result;
}

/* Runs fn as a task of a pool with so many workers. */
static int run_on(int workers, int (*fn)(void *), void *arg)
{
    filch_pool *pool = kit_pool(workers);
    int result = join(spawn(pool, fn, arg));
    kit_destroy(pool);
    return result;
}

/* ---- begin and end -------------------------------------------------------------------------- */

static int twice(void *arg)
{
    return *(int *)arg * 2;
}

static void a_join_gives_what_the_task_returned(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        int n = 21;
        CHECK_EQ(run_on(workers, twice, &n), 42);
    }
}

static void count_up(void *arg)
{
    filch_add_relaxed((uint64_t *)arg, 1u);
}

static int goes_many(void *arg)
{
    for (int i = 0; i < 20000; i++)
        CHECK_EQ(filch_go(count_up, arg), 0);
    return 0;
}

static void a_pool_waits_for_every_task(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        uint64_t ran = 0;
        filch_pool *pool = kit_pool(workers);
        filch_task_attr a = on(pool);
        CHECK_EQ(join(spawn(pool, goes_many, &ran)), 0);
        for (int i = 0; i < 1000; i++)
            CHECK_EQ(filch_go_with(&a, count_up, &ran), 0);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        CHECK_EQ(filch_load_acquire(&ran), 21000u);
        kit_destroy(pool);
    }
}

static int waits_for(void *event)
{
    filch_event_wait(event);
    return 7;
}

static void a_join_with_a_deadline_gives_up_and_can_be_repeated(void)
{
    filch_event event = {0};
    int result = 0;
    filch_pool *pool = kit_pool(2);
    filch_task *t = spawn(pool, waits_for, &event);
    CHECK_EQ(filch_task_join(t, &result, FILCH_NOW), -ETIMEDOUT);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(filch_task_join(t, &result, filch_clock_ns() + 1000000), -ETIMEDOUT);
    filch_event_set(&event);
    CHECK_EQ(filch_task_join(t, &result, filch_clock_ns() + 1000000000000), 0);
    CHECK_EQ(result, 7);
    kit_destroy(pool);
}

static int joins_with_deadlines(void *arg)
{
    filch_event event = {0};
    filch_task *t[8];
    (void)arg;
    for (int i = 0; i < 8; i++)
        CHECK_EQ(filch_spawn(&t[i], waits_for, &event), 0);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(filch_task_join(t[i], NULL, filch_clock_ns() + 300000), -ETIMEDOUT);
    filch_event_set(&event);
    for (int i = 0; i < 8; i++) {
        int result = 0;
        while (filch_task_join(t[i], &result, filch_clock_ns() + 300000) == -ETIMEDOUT)
            continue;
        CHECK_EQ(result, 7);
    }
    return 0;
}

static void a_task_joins_with_deadlines(void)
{
    for (int workers = 1; workers <= 3; workers++)
        CHECK_EQ(run_on(workers, joins_with_deadlines, NULL), 0);
}

static void a_detached_task_runs_all_the_same(void)
{
    filch_pool *pool = kit_pool(2);
    uint64_t ran = 0;
    for (int i = 0; i < 1000; i++)
        filch_task_detach(spawn(pool, goes_many, &ran));
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(filch_load_acquire(&ran), 20000000u);
    kit_destroy(pool);
}

/* ---- trees: joins that run the task themselves, and those that wait -------------------------- */

struct sky {
    int64_t number, size, sum;
};

static int sky(void *arg)
{
    struct sky *s = arg, below[10];
    filch_task *t[10];
    int64_t part = s->size / 10;
    if (s->size == 1) {
        s->sum = s->number;
        return 0;
    }
    for (int i = 0; i < 10; i++) {
        below[i] = (struct sky){s->number + i * part, part, 0};
        CHECK_EQ(filch_spawn(&t[i], sky, &below[i]), 0);
    }
    s->sum = 0;
    for (int i = 0; i < 10; i++) {
        CHECK_EQ(join(t[i]), 0);
        s->sum += below[i].sum;
    }
    return 0;
}

static void a_tree_of_tasks_adds_up(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        struct sky s = {0, KIT_SLOW ? 1000 : 100000, 0};
        CHECK_EQ(run_on(workers, sky, &s), 0);
        CHECK_EQ(s.sum, s.size * (s.size - 1) / 2);
    }
}

struct chain {
    int depth;
};

static int chain(void *arg)
{
    struct chain *c = arg, below = {c->depth - 1};
    char frame[512];
    filch_task *t;
    frame[511] = (char)c->depth;
    __asm__ __volatile__("" : : "r"(frame) : "memory"); /* it is used */
    if (c->depth == 0)
        return 0;
    CHECK_EQ(filch_spawn(&t, chain, &below), 0);
    int n = join(t);
    CHECK_EQ(frame[511], (char)c->depth);
    return n + 1;
}

static void a_chain_of_joins_does_not_run_out_of_stack(void)
{
    for (int workers = 1; workers <= 2; workers++) {
        struct chain c = {2000};
        CHECK_EQ(run_on(workers, chain, &c), 2000);
    }
}

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_FORK(b, fib, n - 2);
    long a = FILCH_CALL(fib, n - 1);
    return a + FILCH_JOIN(fib, b);
}

static int forks(void *arg)
{
    (void)arg;
    return (int)FILCH_RUN(fib, 20);
}

static int forks_in_many(void *arg)
{
    filch_task *t[16];
    int sum = 0;
    (void)arg;
    for (int i = 0; i < 16; i++)
        CHECK_EQ(filch_spawn(&t[i], forks, NULL), 0);
    for (int i = 0; i < 16; i++)
        sum += join(t[i]);
    return sum;
}

static void tasks_fork_and_join(void)
{
    for (int workers = 1; workers <= 4; workers++)
        CHECK_EQ(run_on(workers, forks_in_many, NULL), 16 * 6765);
}

FILCH_TASK(long, deep, int, n)
{
    char frame[256];
    frame[0] = (char)n;
    __asm__ __volatile__("" : : "r"(frame) : "memory"); /* it is used */
    if (n == 0)
        return 0;
    FILCH_FORK(b, deep, 0);
    long a = FILCH_CALL(deep, n - 1);
    return a + FILCH_JOIN(deep, b) + 1 + frame[0] - (char)n;
}

static int forks_deeply(void *arg)
{
    (void)arg;
    return (int)FILCH_RUN(deep, 2000); /* half a megabyte of frames: more than a task's own stack */
}

static void forks_of_a_task_have_a_large_stack(void)
{
    for (int workers = 1; workers <= 2; workers++)
        CHECK_EQ(run_on(workers, forks_deeply, NULL), 2000);
}

/* As deep as the stack allows, less what a call of the library may take. */
static __attribute__((noinline)) size_t goes_down(size_t least)
{
    char bytes[2048] = {0};
    size_t left = filch_stack_left();
    CHECK(left > 0 && left < filch_stack_size());
    size_t below = left < least ? left : goes_down(least);
    __asm__ __volatile__("" : : "r"(bytes) : "memory"); /* it is used */
    return below;
}

static int measures_its_stack(void *large)
{
    size_t size = filch_stack_size(), left = filch_stack_left();
    size_t asked = large ? 8u << 20 : 96u << 10;
    CHECK(size >= asked && size < asked + (size_t)sysconf(_SC_PAGESIZE));
    CHECK(left < size && left > size - (16u << 10));
    CHECK(goes_down(KIT_SLOW ? size / 2 : 16u << 10) > 0);
    CHECK_EQ(filch_stack_left(), left);
    return 0;
}

static void a_task_knows_how_much_of_its_stack_is_left(void)
{
    filch_config c = kit_config(1);
    c.task_stack_size = 96u << 10;
    filch_pool *pool = kit_make(&c);
    CHECK_EQ(filch_stack_size(), 0); /* the thread's own */
    CHECK_EQ(filch_stack_left(), 0);
    for (unsigned large = 0; large <= 1; large++) {
        filch_task_attr a = FILCH_TASK_ATTR_INIT;
        filch_task *t;
        a.pool = pool;
        a.large_stack = large;
        CHECK_EQ(filch_spawn_with(&t, &a, measures_its_stack, large ? &c : NULL), 0);
        while (!filch_task_done(t)) /* by a worker: whoever joins may run it on its own stack */
            kit_nap_us(100);
        CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
    }
    kit_destroy(pool);
}

/* ---- order ---------------------------------------------------------------------------------- */

static int order[16], ordered;

static void note(void *arg)
{
    order[ordered++] = *(int *)arg;
}

static int spawns_one_two_three_and_99(void *arg)
{
    static int number[] = {1, 2, 3, 99};
    (void)arg;
    for (int i = 0; i < 4; i++)
        CHECK_EQ(filch_go(note, &number[i]), 0);
    return 0;
}

static void the_newest_task_runs_next(void)
{
    static const int expected[] = {99, 1, 2, 3};
    filch_pool *pool = kit_pool(1);
    ordered = 0;
    filch_task_detach(spawn(pool, spawns_one_two_three_and_99, NULL));
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(ordered, 4);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(order[i], expected[i]);
    kit_destroy(pool);
}

struct respawn {
    uint32_t stop;
    uint64_t turns;
};

static void goes_on(void *arg)
{
    struct respawn *r = arg;
    r->turns++;
    if (!filch_load_acquire(&r->stop))
        CHECK_EQ(filch_go(goes_on, r), 0);
}

static void stops_it(void *arg)
{
    filch_store_release(&((struct respawn *)arg)->stop, 1u);
}

static void a_task_from_outside_runs_although_a_worker_is_never_without(void)
{
    struct respawn r = {0, 0};
    filch_pool *pool = kit_pool(1);
    filch_task_attr a = on(pool);
    CHECK_EQ(filch_go_with(&a, goes_on, &r), 0);
    CHECK_EQ(filch_go_with(&a, stops_it, &r), 0);
    KIT_AWAIT(filch_load_acquire(&r.stop));
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    kit_destroy(pool);
}

static void a_task_in_the_queue_runs_although_next_is_never_empty(void)
{
    struct respawn r = {0, 0};
    filch_pool *pool = kit_pool(1);
    filch_task_attr a = on(pool);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(filch_go_with(&a, goes_on, &r), 0);
    CHECK_EQ(filch_go_with(&a, stops_it, &r), 0);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    kit_destroy(pool);
}

/* ---- hogs ----------------------------------------------------------------------------------- */

struct hog {
    uint32_t done;
};

static void frees_the_hog(void *arg)
{
    filch_store_release(&((struct hog *)arg)->done, 1u);
}

static int hogs(void *arg)
{
    struct hog *h = arg;
    CHECK_EQ(filch_go(frees_the_hog, h), 0);
    KIT_AWAIT(filch_load_acquire(&h->done)); /* never gives up its worker */
    return 0;
}

static void a_thief_takes_the_next_task_of_a_hog(void)
{
    struct hog h = {0};
    CHECK_EQ(run_on(2, hogs, &h), 0);
}

/* ---- yield and sleep ------------------------------------------------------------------------ */

struct turns {
    int turn, rounds, mine;
    struct turns *shared;
};

static int takes_turns(void *arg)
{
    struct turns *t = arg;
    for (int i = 0; i < t->shared->rounds; i++) {
        CHECK_EQ(t->shared->turn, t->mine);
        t->shared->turn = 1 - t->mine;
        filch_yield();
    }
    return 0;
}

static int alternate(void *arg)
{
    struct turns shared = {.rounds = 1000}, a = {.mine = 0, .shared = &shared},
                 b = {.mine = 1, .shared = &shared};
    filch_task *ta, *tb;
    (void)arg;
    CHECK_EQ(filch_spawn(&tb, takes_turns, &b), 0);
    CHECK_EQ(filch_spawn(&ta, takes_turns, &a), 0); /* the newest first */
    filch_yield();
    (void)join(ta);
    return join(tb);
}

static void two_that_yield_take_turns_on_one_worker(void)
{
    CHECK_EQ(run_on(1, alternate, NULL), 0);
}

static int sleeps_at_least(void *arg)
{
    int64_t ns = *(int64_t *)arg, before = filch_clock_ns();
    filch_sleep_ns(ns);
    CHECK(filch_clock_ns() - before >= ns);
    return 0;
}

static int many_sleep(void *arg)
{
    enum { MANY = 500 };
    static int64_t ns[MANY];
    static filch_task *t[MANY];
    (void)arg;
    for (int i = 0; i < MANY; i++) {
        ns[i] = i * 10007;
        CHECK_EQ(filch_spawn(&t[i], sleeps_at_least, &ns[i]), 0);
    }
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(join(t[i]), 0);
    return 0;
}

static void nobody_wakes_too_early_and_everybody_wakes(void)
{
    for (int workers = 1; workers <= 4; workers++)
        CHECK_EQ(run_on(workers, many_sleep, NULL), 0);
}

static int keeps_errno(void *arg)
{
    *filch_errno() = *(int *)arg;
    for (int i = 0; i < 50; i++) {
        filch_yield();
        CHECK_EQ(*filch_errno(), *(int *)arg);
    }
    return 0;
}

static int many_keep_errno(void *arg)
{
    static int number[20];
    filch_task *t[20];
    (void)arg;
    for (int i = 0; i < 20; i++) {
        number[i] = i + 1;
        CHECK_EQ(filch_spawn(&t[i], keeps_errno, &number[i]), 0);
    }
    for (int i = 0; i < 20; i++)
        CHECK_EQ(join(t[i]), 0);
    return 0;
}

static void every_task_has_its_own_errno(void)
{
    for (int workers = 1; workers <= 3; workers++)
        CHECK_EQ(run_on(workers, many_keep_errno, NULL), 0);
}

/* ---- stacks --------------------------------------------------------------------------------- */

struct crowd {
    filch_event go;
    uint32_t waiting;
};

static void stands_in_a_crowd(void *arg)
{
    struct crowd *c = arg;
    char frame[9000]; /* more than a page, so that there is something to be given back */
    memset(frame, 7, sizeof frame);
    __asm__ __volatile__("" : : "r"(frame) : "memory");
    filch_add_acq_rel(&c->waiting, 1u);
    filch_event_wait(&c->go);
    CHECK_EQ(frame[4000], 7);
}

static void stacks_of_a_crowd_are_given_back_and_used_again(void)
{
    enum { CROWD = 900 };
    filch_pool *pool = kit_pool(2);
    pool->trim_ns = 200000000; /* not ten seconds */
    filch_task_attr a = on(pool);
    for (int round = 0; round < 2; round++) {
        struct crowd c = {{0}, 0};
        for (int i = 0; i < CROWD; i++)
            CHECK_EQ(filch_go_with(&a, stands_in_a_crowd, &c), 0);
        KIT_AWAIT(filch_load_acquire(&c.waiting) == CROWD);
        filch_event_set(&c.go);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        KIT_AWAIT(!fiber_surplus(&pool->fibers[FIBER_SMALL]));
        kit_await_parked(pool);
        /* The second crowd stood on the same, but for those that a worker kept at hand. */
        CHECK(pool->fibers[FIBER_SMALL].live <= CROWD + 2 * WORKER_CACHE);
    }
    kit_destroy(pool);
}

static void a_closed_pool_takes_no_tasks(void)
{
    filch_pool *pool = kit_pool(1);
    filch_task_attr a = on(pool);
    filch_task *t;
    uint64_t ran = 0;
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    CHECK_EQ(filch_go_with(&a, count_up, &ran), -EPIPE);
    CHECK_EQ(filch_spawn_with(&t, &a, twice, &ran), -EPIPE);
    CHECK(!t);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(a_join_gives_what_the_task_returned);
    RUN(a_pool_waits_for_every_task);
    RUN(a_join_with_a_deadline_gives_up_and_can_be_repeated);
    RUN(a_task_joins_with_deadlines);
    RUN(a_tree_of_tasks_adds_up);
    RUN(a_chain_of_joins_does_not_run_out_of_stack);
    RUN(tasks_fork_and_join);
    RUN(forks_of_a_task_have_a_large_stack);
    RUN(a_task_knows_how_much_of_its_stack_is_left);
    RUN(the_newest_task_runs_next);
    RUN(a_task_from_outside_runs_although_a_worker_is_never_without);
    RUN(a_task_in_the_queue_runs_although_next_is_never_empty);
    RUN(a_thief_takes_the_next_task_of_a_hog);
    RUN(two_that_yield_take_turns_on_one_worker);
    RUN(nobody_wakes_too_early_and_everybody_wakes);
    RUN(every_task_has_its_own_errno);
    RUN(stacks_of_a_crowd_are_given_back_and_used_again);
    RUN(a_closed_pool_takes_no_tasks);
    if (!KIT_SLOW)
        RUN(a_detached_task_runs_all_the_same);
    return check_report();
}
