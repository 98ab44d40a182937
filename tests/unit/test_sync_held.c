/* test_sync_held.c: a mutex that is held while its holder joins, sleeps, waits for an event, by hundreds
 * of tasks that all need it. Where a wait runs other tasks on top of the waiter, or blocks its worker,
 * this does not end. */
#include "sync_kit.h"

enum { TASKS = SCALED(300, 300, 100) };

struct held {
    filch_mutex mutex;
    filch_rwlock rwlock;
    filch_sem sem;
    filch_group group;
    int64_t count, below;
    int (*inside)(struct held *h, int i);
};

struct one {
    struct held *h;
    int number;
};

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_FORK(b, fib, n - 2);
    long a = FILCH_CALL(fib, n - 1);
    return a + FILCH_JOIN(fib, b);
}

/* A child that needs nothing of it, but waits itself. */
static int child(void *arg)
{
    int n = *(int *)arg;
    if (n % 3 == 0)
        filch_yield();
    if (n % 17 == 0)
        filch_sleep_ns(1000);
    return n;
}

static int joins_a_task(struct held *h, int i)
{
    filch_task *t;
    int result = -1;
    (void)h;
    CHECK_EQ(filch_spawn(&t, child, &i), 0);
    if (i % 2)
        filch_yield(); /* so that it has begun, and the join waits */
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    return result;
}

static int joins_forks(struct held *h, int i)
{
    (void)h;
    CHECK_EQ(FILCH_RUN(fib, 12), 144);
    return i;
}

static int sleeps(struct held *h, int i)
{
    (void)h;
    filch_sleep_ns(i % 5 * 1000);
    return i;
}

static void sets(void *event)
{
    filch_event_set(event);
}

static int waits_for_an_event(struct held *h, int i)
{
    filch_event e = {0};
    (void)h;
    CHECK_EQ(filch_go(sets, &e), 0);
    filch_event_wait(&e);
    return i;
}

static int all_in_turn(struct held *h, int i)
{
    static int (*const what[])(struct held *, int) = {joins_a_task, joins_forks, sleeps,
                                                      waits_for_an_event};
    return what[i % 4](h, i);
}

static void with_mutex(void *arg)
{
    struct one *o = arg;
    struct held *h = o->h;
    CHECK_EQ(filch_mutex_lock(&h->mutex, FILCH_FOREVER), 0);
    int64_t before = h->count;
    h->below += h->inside(h, o->number);
    CHECK_EQ(h->count, before); /* nobody else came in */
    h->count = before + 1;
    filch_mutex_unlock(&h->mutex);
    kit_beat();
    filch_group_done(&h->group);
}

static void with_rwlock(void *arg)
{
    struct one *o = arg;
    struct held *h = o->h;
    bool writes = o->number % 3 == 0;
    CHECK_EQ(writes ? filch_rwlock_write_lock(&h->rwlock, FILCH_FOREVER)
                    : filch_rwlock_read_lock(&h->rwlock, FILCH_FOREVER), 0);
    int64_t before = h->count;
    int n = h->inside(h, o->number);
    CHECK_EQ(h->count, before);
    if (writes) {
        h->count = before + 1;
        filch_rwlock_write_unlock(&h->rwlock);
    } else {
        filch_rwlock_read_unlock(&h->rwlock);
    }
    filch_add_relaxed(&h->below, (int64_t)n);
    kit_beat();
    filch_group_done(&h->group);
}

static void with_sem(void *arg)
{
    struct one *o = arg;
    struct held *h = o->h;
    CHECK_EQ(filch_sem_acquire(&h->sem, FILCH_FOREVER), 0);
    CHECK(filch_add_acq_rel(&h->count, (int64_t)1) < 3);
    filch_add_relaxed(&h->below, (int64_t)h->inside(h, o->number));
    filch_sub_acq_rel(&h->count, (int64_t)1);
    filch_sem_release(&h->sem, 1);
    kit_beat();
    filch_group_done(&h->group);
}

static void run_held(int workers, void (*task)(void *), int (*inside)(struct held *, int), int64_t count)
{
    static struct one one[TASKS];
    struct held h = {.inside = inside};
    filch_pool *pool = kit_pool(workers);
    filch_sem_init(&h.sem, 3);
    filch_group_add(&h.group, TASKS + 1);
    pthread_t t = thread_of(task, &(struct one){&h, 0});
    for (int i = 0; i < TASKS; i++) {
        one[i] = (struct one){&h, i};
        go_on(pool, task, &one[i]);
    }
    CHECK_EQ(filch_group_wait(&h.group, FILCH_FOREVER), 0);
    CHECK_EQ(h.below, TASKS * (TASKS - 1) / 2);
    CHECK_EQ(h.count, count);
    ended(&t, 1);
    kit_destroy(pool);
}

static void run_on_1_2_and_4(void (*task)(void *), int (*inside)(struct held *, int), int64_t count)
{
    for (int workers = 1; workers <= 4; workers *= 2)
        run_held(workers, task, inside, count);
}

static void a_mutex_may_be_held_across_a_join(void)
{
    run_on_1_2_and_4(with_mutex, joins_a_task, TASKS + 1);
}

static void a_mutex_may_be_held_across_forks(void)
{
    run_on_1_2_and_4(with_mutex, joins_forks, TASKS + 1);
}

static void a_mutex_may_be_held_across_a_sleep(void)
{
    run_on_1_2_and_4(with_mutex, sleeps, TASKS + 1);
}

static void a_mutex_may_be_held_across_an_event(void)
{
    run_on_1_2_and_4(with_mutex, waits_for_an_event, TASKS + 1);
}

static void so_may_an_rwlock(void)
{
    int writers = (TASKS + 2) / 3 + 1; /* every third from 0 on, and the thread */
    run_on_1_2_and_4(with_rwlock, all_in_turn, writers);
}

static void so_may_a_permit(void)
{
    run_on_1_2_and_4(with_sem, all_in_turn, 0);
}

/* ---- fork-join that takes the same mutex ------------------------------------------------------ */

static struct held *shared;

FILCH_TASK(long, locked_fib, int, n)
{
    if (n < 2) {
        CHECK_EQ(filch_mutex_lock(&shared->mutex, FILCH_FOREVER), 0);
        shared->count++;
        filch_mutex_unlock(&shared->mutex);
        return n;
    }
    FILCH_FORK(b, locked_fib, n - 2);
    long a = FILCH_CALL(locked_fib, n - 1);
    return a + FILCH_JOIN(locked_fib, b);
}

static void forks_that_lock(void *arg)
{
    CHECK_EQ(FILCH_RUN(locked_fib, 12), 144);
    kit_beat();
    filch_group_done(arg);
}

static void forked_tasks_wait_for_a_mutex(void)
{
    for (int workers = 1; workers <= 4; workers *= 2) {
        filch_pool *pool = kit_pool(workers);
        struct held h = {0};
        shared = &h;
        filch_group_add(&h.group, 30);
        for (int i = 0; i < 30; i++)
            go_on(pool, forks_that_lock, &h.group);
        CHECK_EQ(filch_group_wait(&h.group, FILCH_FOREVER), 0);
        CHECK_EQ(h.count, 30 * 233); /* leaves */
        kit_destroy(pool);
    }
}

/* A root from outside is pinned. While it waits for a mutex it does not run what it forked, which wants
 * the same mutex: that would wait on top of the root, to which the mutex is given. */
static filch_mutex wanted;
static uint32_t is_held, got;

static bool mutex_is_wanted(void)
{
    lock_acquire(&wanted.lock);
    bool any = wanted.waiters.head != NULL;
    lock_release(&wanted.lock);
    return any;
}

/* On the other worker, which it keeps. */
static void holds_until_wanted(void *unused)
{
    (void)unused;
    CHECK_EQ(filch_mutex_lock(&wanted, FILCH_FOREVER), 0);
    kit_raise(&is_held);
    KIT_AWAIT(mutex_is_wanted());
    kit_nap_us(2000);
    filch_mutex_unlock(&wanted);
}

FILCH_TASK(int, takes_it, int, n)
{
    CHECK_EQ(filch_mutex_lock(&wanted, FILCH_FOREVER), 0);
    (void)kit_count(&got);
    filch_mutex_unlock(&wanted);
    return n;
}

FILCH_TASK(int, forks_and_takes_it, int, n)
{
    KIT_AWAIT(kit_raised(&is_held));
    FILCH_FORK(b, takes_it, n);
    int a = FILCH_CALL(takes_it, n);
    return a + FILCH_JOIN(takes_it, b);
}

static void a_pinned_wait_for_a_lock_does_not_run_forks(void)
{
    for (int round = 0; round < 20; round++) {
        filch_pool *pool = kit_pool(2);
        is_held = got = 0;
        CHECK_EQ(filch_submit_detached_on(pool, holds_until_wanted, NULL, NULL, 1), 0);
        CHECK_EQ(FILCH_RUN_ON(pool, forks_and_takes_it, 4), 8);
        CHECK_EQ(got, 2);
        kit_destroy(pool);
    }
}

int main(void)
{
    kit_watchdog();
    RUN(a_mutex_may_be_held_across_a_join);
    RUN(a_mutex_may_be_held_across_forks);
    RUN(a_mutex_may_be_held_across_a_sleep);
    RUN(a_mutex_may_be_held_across_an_event);
    RUN(so_may_an_rwlock);
    RUN(so_may_a_permit);
    RUN(forked_tasks_wait_for_a_mutex);
    RUN(a_pinned_wait_for_a_lock_does_not_run_forks);
    return check_report();
}
