/* test_async.c: stackless tasks: polled after every wake, never by two, ended once. */
#include "pool_kit.h"

#include <filch/async.h>
#include <filch/task.h>
#include <unistd.h>

static uint32_t value_of(uint32_t *word)
{
    return filch_load_acquire(word);
}

static filch_async *spawn(filch_pool *pool, filch_poll_fn *poll, void *arg)
{
    filch_async *a = NULL;
    CHECK_EQ(filch_async_spawn_on(pool, &a, poll, arg), 0);
    return a;
}

/* ---- polls ---------------------------------------------------------------------------------- */

static enum filch_poll counts(filch_async *self, void *arg)
{
    (void)self;
    filch_add_acq_rel((uint32_t *)arg, 1u);
    return FILCH_READY;
}

static void a_task_that_is_ready_is_polled_once(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        filch_async tasks[100];
        uint32_t polls = 0;
        for (int i = 0; i < 100; i++) {
            filch_async_init(&tasks[i], counts, &polls);
            CHECK_EQ(filch_async_start(&tasks[i], pool), 0);
        }
        for (int i = 0; i < 100; i++) {
            CHECK_EQ(filch_async_wait(&tasks[i], FILCH_FOREVER), 0);
            CHECK_EQ(filch_async_done(&tasks[i]), 1);
        }
        CHECK_EQ(polls, 100);
        kit_destroy(pool);
    }
}

struct steps {
    uint32_t polls, last;
};

static enum filch_poll steps(filch_async *self, void *arg)
{
    struct steps *s = arg;
    (void)self;
    return filch_add_acq_rel(&s->polls, 1u) + 1 == s->last ? FILCH_READY : FILCH_PENDING;
}

static void a_pending_task_is_polled_once_for_each_wake(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct steps s = {0, 100};
        filch_async *a = spawn(pool, steps, &s);
        for (uint32_t i = 1; i < 100; i++) {
            KIT_AWAIT(value_of(&s.polls) == i);
            CHECK_EQ(filch_async_done(a), 0);
            filch_wake(a);
        }
        CHECK_EQ(filch_async_wait(a, FILCH_FOREVER), 0);
        filch_wake(a); /* too late */
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        CHECK_EQ(s.polls, 100);
        filch_async_drop(a);
        kit_destroy(pool);
    }
}

struct meeting {
    uint32_t inside, woken, polls;
};

static enum filch_poll meets(filch_async *self, void *arg)
{
    struct meeting *m = arg;
    (void)self;
    if (filch_add_acq_rel(&m->polls, 1u) > 0)
        return FILCH_READY;
    kit_raise(&m->inside);
    KIT_AWAIT(kit_raised(&m->woken));
    return FILCH_PENDING;
}

static void a_task_woken_while_it_runs_is_polled_again(void)
{
    filch_pool *pool = kit_pool(2);
    struct meeting m = {0, 0, 0};
    filch_async *a = spawn(pool, meets, &m);
    KIT_AWAIT(kit_raised(&m.inside));
    filch_wake(a);
    filch_wake(a);
    kit_raise(&m.woken);
    CHECK_EQ(filch_async_wait(a, FILCH_FOREVER), 0);
    CHECK_EQ(m.polls, 2);
    filch_async_drop(a);
    kit_destroy(pool);
}

static enum filch_poll wakes_itself(filch_async *self, void *arg)
{
    uint32_t *left = arg;
    if (*left == 0)
        return FILCH_READY;
    --*left;
    filch_wake(self);
    return FILCH_PENDING;
}

static void a_task_that_wakes_itself_lets_others_run(void)
{
    filch_pool *pool = kit_pool(1);
    uint32_t left[3] = {1000, 1000, 1000}, polls = 0;
    for (int i = 0; i < 3; i++)
        CHECK_EQ(filch_async_spawn_on(pool, NULL, wakes_itself, &left[i]), 0);
    CHECK_EQ(filch_async_spawn_on(pool, NULL, counts, &polls), 0);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(left[0] + left[1] + left[2], 0);
    CHECK_EQ(polls, 1);
    kit_destroy(pool);
}

/* ---- wakers --------------------------------------------------------------------------------- */

enum { WAKERS = 3 };

struct mailbox {
    uint32_t posted, total, taken, inside, wakers_done;
    filch_async *task;
};

/* Takes what is there; plain fields are written by one poll at a time. */
static enum filch_poll takes_mail(filch_async *self, void *arg)
{
    struct mailbox *b = arg;
    (void)self;
    CHECK_EQ(filch_add_acq_rel(&b->inside, 1u), 0u); /* two at once? */
    b->taken += filch_xchg_acq_rel(&b->posted, 0u);
    CHECK(b->taken <= b->total);
    enum filch_poll result = b->taken == b->total ? FILCH_READY : FILCH_PENDING;
    (void)filch_sub_acq_rel(&b->inside, 1u);
    return result;
}

static void post(struct mailbox *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        filch_add_relaxed(&b->posted, 1u); /* order: filch_wake hands it over */
        filch_wake(b->task);
        if (i % 1024 == 0)
            kit_beat();
    }
}

static void *posts(void *arg)
{
    struct mailbox *b = arg;
    post(b, b->total / (2 * WAKERS));
    filch_async_drop(b->task);
    return NULL;
}

static void posts_as_task(void *arg)
{
    struct mailbox *b = arg;
    post(b, b->total / (2 * WAKERS));
    filch_async_drop(b->task);
}

static void no_wake_is_lost_and_no_two_poll_at_once(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        struct mailbox b = {.total = (uint32_t)kit_scaled(60000, 10)};
        filch_pool *pool = kit_pool(workers);
        filch_task_attr attr = FILCH_TASK_ATTR_INIT;
        attr.pool = pool;
        pthread_t t[WAKERS];
        b.task = spawn(pool, takes_mail, &b);
        for (int i = 0; i < 2 * WAKERS; i++)
            (void)filch_async_hold(b.task);
        for (int i = 0; i < WAKERS; i++) {
            CHECK_EQ(pthread_create(&t[i], NULL, posts, &b), 0);
            CHECK_EQ(filch_go_with(&attr, posts_as_task, &b), 0);
        }
        CHECK_EQ(filch_async_wait(b.task, FILCH_FOREVER), 0);
        CHECK_EQ(b.taken, b.total);
        filch_async_drop(b.task);
        for (int i = 0; i < WAKERS; i++)
            CHECK_EQ(pthread_join(t[i], NULL), 0);
        kit_destroy(pool);
    }
}

struct player {
    filch_async task;
    struct player *other;
    uint32_t has_ball, rounds;
};

static enum filch_poll plays(filch_async *self, void *arg)
{
    struct player *p = arg;
    (void)self;
    if (!filch_xchg_acq_rel(&p->has_ball, 0u))
        return FILCH_PENDING;
    bool over = p->rounds == 0;
    if (!over)
        p->rounds--;
    filch_store_release(&p->other->has_ball, 1u);
    filch_wake(&p->other->task);
    return over ? FILCH_READY : FILCH_PENDING;
}

static void two_tasks_play_ball(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        uint32_t rounds = (uint32_t)kit_scaled(100000, 10);
        filch_pool *pool = kit_pool(workers);
        struct player a = {.rounds = rounds}, b = {.rounds = rounds};
        a.other = &b;
        b.other = &a;
        a.has_ball = 1;
        filch_async_init(&a.task, plays, &a);
        filch_async_init(&b.task, plays, &b);
        CHECK_EQ(filch_async_start(&b.task, pool), 0);
        CHECK_EQ(filch_async_start(&a.task, pool), 0);
        CHECK_EQ(filch_async_wait(&a.task, FILCH_FOREVER), 0);
        CHECK_EQ(filch_async_wait(&b.task, FILCH_FOREVER), 0);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        CHECK_EQ(a.rounds + b.rounds, 0);
        kit_destroy(pool);
    }
}

/* ---- abort ---------------------------------------------------------------------------------- */

static enum filch_poll pending(filch_async *self, void *arg)
{
    (void)self;
    filch_add_acq_rel((uint32_t *)arg, 1u);
    return FILCH_PENDING;
}

static void an_idle_task_is_aborted_without_a_poll(void)
{
    for (int workers = 1; workers <= 2; workers++) {
        filch_pool *pool = kit_pool(workers);
        uint32_t polls = 0;
        filch_async *a = spawn(pool, pending, &polls);
        KIT_AWAIT(value_of(&polls) == 1);
        CHECK_EQ(filch_async_wait(a, FILCH_NOW), -ETIMEDOUT);
        CHECK_EQ(filch_async_wait(a, filch_clock_ns() + 1000000), -ETIMEDOUT);
        filch_async_abort(a);
        filch_async_abort(a);
        filch_wake(a);
        CHECK_EQ(filch_async_wait(a, FILCH_FOREVER), -ECANCELED);
        filch_wake(a);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        CHECK_EQ(polls, 1);
        filch_async_drop(a);
        kit_destroy(pool);
    }
}

static void a_running_task_is_aborted_after_its_poll(void)
{
    filch_pool *pool = kit_pool(2);
    struct meeting m = {0, 0, 0};
    filch_async *a = spawn(pool, meets, &m);
    KIT_AWAIT(kit_raised(&m.inside));
    filch_async_abort(a);
    filch_wake(a);
    CHECK_EQ(filch_async_done(a), 0);
    kit_raise(&m.woken);
    CHECK_EQ(filch_async_wait(a, FILCH_FOREVER), -ECANCELED);
    CHECK_EQ(m.polls, 1);
    filch_async_drop(a);
    kit_destroy(pool);
}

static void aborts_as_task(void *arg)
{
    filch_async_abort(arg);
    filch_async_drop(arg);
}

static void wakes_as_task(void *arg)
{
    filch_wake(arg);
    filch_async_drop(arg);
}

static enum filch_poll ready_at_the_second(filch_async *self, void *arg)
{
    (void)self;
    return filch_add_acq_rel((uint32_t *)arg, 1u) == 0 ? FILCH_PENDING : FILCH_READY;
}

static void a_task_ends_once_whoever_is_first(void)
{
    enum { MANY = 200 };
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        filch_task_attr attr = FILCH_TASK_ATTR_INIT;
        filch_async *a[MANY];
        uint32_t polls[MANY] = {0};
        attr.pool = pool;
        for (int i = 0; i < MANY; i++) {
            a[i] = spawn(pool, ready_at_the_second, &polls[i]);
            CHECK_EQ(filch_go_with(&attr, wakes_as_task, filch_async_hold(a[i])), 0);
            CHECK_EQ(filch_go_with(&attr, aborts_as_task, filch_async_hold(a[i])), 0);
        }
        for (int i = 0; i < MANY; i++) {
            int rc = filch_async_wait(a[i], FILCH_FOREVER);
            CHECK(rc == 0 || rc == -ECANCELED);
            CHECK(rc == 0 ? polls[i] == 2 : polls[i] <= 1);
            filch_async_drop(a[i]);
        }
        kit_destroy(pool);
    }
}

/* ---- alarms --------------------------------------------------------------------------------- */

struct alarm {
    int64_t wait_ns, set_at, due;
    uint32_t polls;
};

static enum filch_poll waits_for_alarm(filch_async *self, void *arg)
{
    struct alarm *a = arg;
    int64_t now = filch_clock_ns();
    if (a->polls++ == 0) {
        filch_wake_at(self, FILCH_FOREVER);
        filch_wake_at(self, now + 3600000000000); /* moved: */
        a->due = now + a->wait_ns;
        filch_wake_at(self, a->due);
        return FILCH_PENDING;
    }
    CHECK(now >= a->due);
    return FILCH_READY;
}

static void alarms_come_and_never_too_early(void)
{
    enum { MANY = 300 };
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        static filch_async tasks[MANY];
        static struct alarm alarms[MANY];
        for (int i = 0; i < MANY; i++) {
            alarms[i] = (struct alarm){.wait_ns = i * 20011};
            filch_async_init(&tasks[i], waits_for_alarm, &alarms[i]);
            CHECK_EQ(filch_async_start(&tasks[i], pool), 0);
        }
        for (int i = 0; i < MANY; i++) {
            CHECK_EQ(filch_async_wait(&tasks[i], FILCH_FOREVER), 0);
            CHECK_EQ(alarms[i].polls, 2);
        }
        kit_destroy(pool);
    }
}

static enum filch_poll sets_alarm_and_goes(filch_async *self, void *arg)
{
    struct alarm *a = arg;
    filch_wake_at(self, filch_clock_ns() + a->wait_ns);
    return a->polls++ == 0 && a->set_at ? FILCH_PENDING : FILCH_READY;
}

/* The alarm is moved, then taken back, in one poll: it must not come. */
static enum filch_poll takes_its_alarm_back(filch_async *self, void *arg)
{
    if (filch_add_acq_rel((uint32_t *)arg, 1u) > 0)
        return FILCH_READY;
    filch_wake_at(self, filch_clock_ns() + 500000);
    filch_wake_at(self, filch_clock_ns() + 1000000);
    filch_wake_at(self, FILCH_FOREVER);
    return FILCH_PENDING;
}

static void an_alarm_that_is_set_anew_comes_once_or_not_at_all(void)
{
    filch_pool *pool = kit_pool(2);
    uint32_t polls = 0;
    filch_async *a = spawn(pool, takes_its_alarm_back, &polls);
    CHECK_EQ(filch_async_wait(a, filch_clock_ns() + 20000000), -ETIMEDOUT);
    CHECK_EQ(value_of(&polls), 1);
    filch_wake(a);
    CHECK_EQ(filch_async_wait(a, FILCH_FOREVER), 0);
    CHECK_EQ(value_of(&polls), 2);
    filch_async_drop(a);
    kit_destroy(pool);
}

static void an_alarm_ends_with_its_task(void)
{
    filch_pool *pool = kit_pool(2);
    struct alarm soon = {.wait_ns = 200000}, late = {.wait_ns = 3600000000000, .set_at = 1};
    for (int i = 0; i < 50; i++) {
        filch_async gone; /* on the stack: an alarm that came late would be seen */
        soon.polls = 0;
        filch_async_init(&gone, sets_alarm_and_goes, &soon);
        CHECK_EQ(filch_async_start(&gone, pool), 0);
        CHECK_EQ(filch_async_wait(&gone, FILCH_FOREVER), 0);
        memset(&gone, 0x5a, sizeof gone);
    }
    filch_async *a = spawn(pool, sets_alarm_and_goes, &late);
    filch_async_abort(a);
    CHECK_EQ(filch_async_wait(a, FILCH_FOREVER), -ECANCELED);
    filch_async_drop(a);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pool->workers[i].timers->count, 0);
    kit_destroy(pool);
}

/* ---- waiters, forks, policies --------------------------------------------------------------- */

static int waits_for(void *arg)
{
    return filch_async_wait(arg, FILCH_FOREVER);
}

static void any_number_of_tasks_and_threads_wait(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        filch_task_attr attr = FILCH_TASK_ATTR_INIT;
        struct steps s = {0, 2};
        filch_task *t[20];
        attr.pool = pool;
        filch_async *a = spawn(pool, steps, &s);
        for (int i = 0; i < 20; i++)
            CHECK_EQ(filch_spawn_with(&t[i], &attr, waits_for, a), 0);
        KIT_AWAIT(value_of(&s.polls) == 1);
        filch_wake(a);
        for (int i = 0; i < 20; i++) {
            int rc = -1;
            CHECK_EQ(filch_task_join(t[i], &rc, FILCH_FOREVER), 0);
            CHECK_EQ(rc, 0);
        }
        CHECK_EQ(filch_async_wait(a, FILCH_NOW), 0);
        filch_async_drop(a);
        kit_destroy(pool);
    }
}

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_FORK(b, fib, n - 2);
    long x = FILCH_CALL(fib, n - 1);
    return x + FILCH_JOIN(fib, b);
}

static enum filch_poll forks_and_sleeps(filch_async *self, void *arg)
{
    (void)self;
    *(long *)arg = FILCH_RUN(fib, 15);
    filch_sleep_ns(100000);
    return FILCH_READY;
}

static void a_poll_may_fork_and_wait(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        long result[20] = {0};
        for (int i = 0; i < 20; i++)
            CHECK_EQ(filch_async_spawn_on(pool, NULL, forks_and_sleeps, &result[i]), 0);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        for (int i = 0; i < 20; i++)
            CHECK_EQ(result[i], 610);
        kit_destroy(pool);
    }
}

static void every_queue_takes_them(void)
{
    static const enum filch_queue queues[] = {FILCH_QUEUE_RING, FILCH_QUEUE_SHARED, FILCH_QUEUE_PRIVATE,
                                              FILCH_QUEUE_LOCKED, FILCH_QUEUE_TRYLOCK};
    for (size_t i = 0; i < 5; i++) {
        filch_config c = kit_config(2);
        c.queue = queues[i];
        c.ring_capacity = 4;
        filch_pool *pool = kit_make(&c);
        uint32_t left[50];
        for (int j = 0; j < 50; j++) {
            left[j] = 20;
            CHECK_EQ(filch_async_spawn_on(pool, NULL, wakes_itself, &left[j]), 0);
        }
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        for (int j = 0; j < 50; j++)
            CHECK_EQ(left[j], 0);
        kit_destroy(pool);
    }
}

static void a_closed_pool_takes_none(void)
{
    filch_pool *pool = kit_pool(1);
    filch_async *a = (filch_async *)1, own;
    uint32_t polls = 0;
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    CHECK_EQ(filch_async_spawn_on(pool, &a, counts, &polls), -EPIPE);
    CHECK(!a);
    filch_async_init(&own, counts, &polls);
    CHECK_EQ(filch_async_start(&own, pool), -EPIPE);
    CHECK_EQ(polls, 0);
    kit_destroy(pool);
}

/* ---- many ----------------------------------------------------------------------------------- */

static size_t resident(void)
{
    unsigned long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%lu %lu", &size, &pages) == 2);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}


static void a_million_that_wait_are_cheap(void)
{
    size_t many = kit_scaled(1000000, 100);
    filch_pool *pool = kit_pool(2);
    filch_async **a = malloc(many * sizeof *a);
    memset(a, 0, many * sizeof *a);
    struct steps s = {0, UINT32_MAX};
    size_t before = resident();
    for (size_t i = 0; i < many; i++)
        a[i] = spawn(pool, steps, &s);
    KIT_AWAIT(value_of(&s.polls) == many);
    size_t each = (resident() - before) / many;
    CHECK_MSG(KIT_SLOW || each <= 200, "%zu bytes each", each);
    for (size_t i = 0; i < many; i++)
        filch_wake(a[i]);
    KIT_AWAIT(value_of(&s.polls) == 2 * many);
    for (size_t i = 0; i < many; i++)
        filch_async_abort(a[i]);
    for (size_t i = 0; i < many; i++) {
        CHECK_EQ(filch_async_wait(a[i], FILCH_FOREVER), -ECANCELED);
        filch_async_drop(a[i]);
    }
    free(a);
    kit_destroy(pool);
}

int main(void)
{
    CHECK(sizeof(filch_async) <= 128);
    kit_watchdog();
    RUN(a_task_that_is_ready_is_polled_once);
    RUN(a_pending_task_is_polled_once_for_each_wake);
    RUN(a_task_woken_while_it_runs_is_polled_again);
    RUN(a_task_that_wakes_itself_lets_others_run);
    RUN(no_wake_is_lost_and_no_two_poll_at_once);
    RUN(two_tasks_play_ball);
    RUN(an_idle_task_is_aborted_without_a_poll);
    RUN(a_running_task_is_aborted_after_its_poll);
    RUN(a_task_ends_once_whoever_is_first);
    RUN(alarms_come_and_never_too_early);
    RUN(an_alarm_that_is_set_anew_comes_once_or_not_at_all);
    RUN(an_alarm_ends_with_its_task);
    RUN(any_number_of_tasks_and_threads_wait);
    RUN(a_poll_may_fork_and_wait);
    RUN(every_queue_takes_them);
    RUN(a_closed_pool_takes_none);
    RUN(a_million_that_wait_are_cheap);
    return check_report();
}
