/* test_waits_at_once.c: a task whose waits end at once, because it is cancelled, its deadline has passed or
 * is FILCH_NOW, lets others run, whatever it waits for. Every case has one worker, and ends when another
 * task there has run: without that it would loop for ever. */
#include "pool_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <filch/chan.h>
#include <filch/future.h>
#include <filch/io.h>
#include <filch/par.h>
#include <filch/scope.h>
#include <filch/sync.h>

enum { TURNS_MOST = 5000000 };

static filch_pool *pool;
static uint32_t done, canceled, begun;

/* ---- what there is to wait for: nothing of it ever comes -------------------------------------------- */

static filch_mutex mutex;        /* held by nobody  */
static filch_mutex held;         /* by `holds_all`  */
static filch_rwlock rw;
static filch_cond cond;
static filch_sem sem;
static filch_group group;
static filch_barrier barrier;
static filch_oneshot oneshot;
static filch_chan *chan;
static filch_task *never;        /* a task that does not end */
static filch_event event;
static int pipe_ends[2];

static int wait_sleep(int64_t deadline)
{
    int64_t late = filch_clock_ns() + INT64_C(3600000000000);
    return filch_sleep_until(deadline == FILCH_FOREVER ? late : deadline);
}
static int wait_cond(int64_t deadline)
{
    filch_mutex_lock(&mutex, FILCH_FOREVER);
    int rc = filch_cond_wait(&cond, &mutex, deadline);
    filch_mutex_unlock(&mutex);
    return rc;
}
static int wait_recv(int64_t deadline)
{
    int item;
    return filch_chan_recv(chan, &item, deadline);
}
static int wait_select(int64_t deadline)
{
    int item;
    struct filch_case c = {.chan = chan, .op = FILCH_RECV, .item = &item};
    int rc = filch_select(&c, 1, deadline);
    return rc < 0 ? rc : 0;
}
static int wait_oneshot(int64_t deadline)
{
    void *value;
    return filch_oneshot_recv(&oneshot, &value, deadline);
}
static int wait_read(int64_t deadline)
{
    char byte;
    return (int)filch_read(pipe_ends[0], &byte, 1, deadline);
}
static int wait_sem(int64_t deadline) { return filch_sem_acquire(&sem, deadline); }
static int wait_group(int64_t deadline) { return filch_group_wait(&group, deadline); }
static int wait_barrier(int64_t deadline) { return filch_barrier_wait(&barrier, deadline); }
static int wait_join(int64_t deadline) { return filch_task_join(never, NULL, deadline); }
static int wait_lock(int64_t deadline) { return filch_mutex_lock(&held, deadline); }
static int wait_read_lock(int64_t deadline) { return filch_rwlock_read_lock(&rw, deadline); }
static int try_lock(int64_t deadline)
{
    (void)deadline;
    return filch_mutex_trylock(&held) == -EBUSY ? -ETIMEDOUT : 0;
}

static const struct waiting {
    const char *what;
    int (*wait)(int64_t deadline);
    int cancels;                 /* a cancelled scope ends it */
    int past;                    /* what it returns when its deadline has passed */
} waitings[] = {
    {"sleep", wait_sleep, 1, 0},
    {"condition", wait_cond, 1, -ETIMEDOUT},
    {"channel", wait_recv, 1, -ETIMEDOUT},
    {"select", wait_select, 1, -ETIMEDOUT},
    {"oneshot", wait_oneshot, 1, -ETIMEDOUT},
    {"pipe", wait_read, 1, -ETIMEDOUT},
    {"semaphore", wait_sem, 1, -ETIMEDOUT},
    {"group", wait_group, 1, -ETIMEDOUT},
    {"barrier", wait_barrier, 1, -ETIMEDOUT},
    {"join", wait_join, 1, -ETIMEDOUT},
    {"mutex", wait_lock, 0, -ETIMEDOUT},
    {"rwlock", wait_read_lock, 0, -ETIMEDOUT},
    {"trylock", try_lock, 0, -ETIMEDOUT},
};
enum { WAITINGS = sizeof waitings / sizeof *waitings };

static uint32_t over; /* all cases are: the task that holds the locks may end */

static int holds_all(void *unused)
{
    (void)unused;
    CHECK_EQ(filch_mutex_lock(&held, FILCH_FOREVER), 0);
    CHECK_EQ(filch_rwlock_write_lock(&rw, FILCH_FOREVER), 0);
    while (!filch_load_acquire(&over))
        filch_event_wait(&event);
    filch_rwlock_write_unlock(&rw);
    filch_mutex_unlock(&held);
    return 0;
}

/* ---- the task that loops, and the one that ends it --------------------------------------------------- */

struct loop {
    const struct waiting *of;
    int64_t deadline;
    int expected, pinned;
};

static int loops(void *arg)
{
    const struct loop *l = arg;
    int rc = 0, turns = 0;
    if (l->pinned)
        filch_pin();
    while (!filch_load_acquire(&done) && ++turns < TURNS_MOST) {
        rc = l->of->wait(l->deadline);
        if (rc == -ECANCELED)
            filch_store_release(&canceled, 1u);
        else if (rc != l->of->past || l->expected == -ECANCELED)
            break;
    }
    if (l->pinned)
        filch_unpin();
    CHECK_MSG(filch_load_acquire(&done), "%s: %d after %d turns, and no other task has run", l->of->what, rc,
              turns);
    return 0;
}

static int ends_it(void *unused)
{
    (void)unused;
    filch_store_release(&done, 1u);
    return 0;
}

/* It has begun before the other loops, and goes to the end of the queue again and again. */
static int ends_it_when_canceled(void *unused)
{
    (void)unused;
    while (!filch_load_acquire(&canceled))
        filch_yield();
    filch_store_release(&done, 1u);
    return 0;
}

static filch_task *spawn(int (*fn)(void *), void *arg)
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

static void begin(void)
{
    filch_store_release(&done, 0u);
    filch_store_release(&canceled, 0u);
    kit_beat();
}

/* The one that ends it is made by the one that loops: so they are in the queue of one worker. */
static struct loop running;

static int makes_its_end_and_loops(void *unused)
{
    (void)unused;
    filch_task *end = spawn(ends_it, NULL);
    int rc = loops(&running);
    join(end);
    return rc;
}

static void until_another_ran(int64_t deadline)
{
    for (int i = 0; i < WAITINGS; i++) {
        begin();
        running = (struct loop){&waitings[i], deadline, waitings[i].past, 0};
        join(spawn(makes_its_end_and_loops, NULL));
    }
}

/* ---- claims -------------------------------------------------------------------------------------------- */

static void with_filch_now_others_run(void)
{
    until_another_ran(FILCH_NOW);
}

static void with_a_past_deadline_others_run(void)
{
    until_another_ran(1);
}

static filch_scope scope;

static int loops_in_scope(void *arg)
{
    filch_scope_cancel(&scope);
    CHECK(filch_canceled());
    return loops(arg);
}

static void in_a_cancelled_scope_others_run(void)
{
    for (int i = 0; i < WAITINGS; i++) {
        if (!waitings[i].cancels)
            continue;
        begin();
        running = (struct loop){&waitings[i], FILCH_FOREVER, -ECANCELED, 0};
        CHECK_EQ(filch_scope_open_on(&scope, pool), 0);
        filch_task *end = spawn(ends_it_when_canceled, NULL);
        CHECK_EQ(filch_scope_go(&scope, loops_in_scope, &running), 0);
        CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
        join(end);
    }
}

/* ---- on stacks that stay ---------------------------------------------------------------------------- */

FILCH_TASK(int, sets_done, int, n)
{
    filch_store_release(&done, 1u);
    return n;
}

FILCH_TASK(int, forks_and_loops, struct loop *, l)
{
    FILCH_FORK(child, sets_done, 7);
    (void)loops(l);
    return FILCH_JOIN(sets_done, child);
}

/* Pinned, and the only worker: what it forked is run by itself. */
static int forks_and_loops_pinned(void *arg)
{
    filch_pin();
    CHECK_EQ(FILCH_RUN(forks_and_loops, arg), 7);
    filch_unpin();
    return 0;
}

static void a_pinned_task_runs_its_own_forks(void)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.pool = pool;
    a.large_stack = 1;
    for (int i = 0; i < WAITINGS; i++) {
        filch_task *t;
        begin();
        running = (struct loop){&waitings[i], FILCH_NOW, waitings[i].past, 0};
        CHECK_EQ(filch_spawn_with(&t, &a, forks_and_loops_pinned, &running), 0);
        join(t);
    }
}

/* A guest's root is pinned, in seat 0 of a pool whose only thread has that seat, too. */
FILCH_TASK(int, guest_loops, struct loop *, l)
{
    filch_task *end = spawn(ends_it, NULL);
    (void)loops(l);
    join(end);
    return 0;
}

static void a_guest_gives_the_worker_up(void)
{
    for (int i = 0; i < WAITINGS; i++) {
        begin();
        running = (struct loop){&waitings[i], FILCH_NOW, waitings[i].past, 0};
        CHECK_EQ(FILCH_RUN_ON(pool, guest_loops, &running), 0);
    }
}

/* In a cancelled pool: what has begun goes on, and its waits end. */
static int loops_when_canceled(void *arg)
{
    kit_raise(&begun);
    CHECK_EQ(filch_sleep_until(FILCH_FOREVER), -ECANCELED);
    return loops(arg);
}

static void in_a_cancelled_pool_others_run(void)
{
    filch_pool *outer = pool;
    for (int i = 0; i < WAITINGS; i++) {
        if (!waitings[i].cancels || waitings[i].wait == wait_join) /* its task is of the other pool */
            continue;
        begin();
        begun = 0;
        pool = kit_pool(1);
        running = (struct loop){&waitings[i], FILCH_FOREVER, -ECANCELED, 0};
        filch_task *end = spawn(ends_it_when_canceled, NULL), *t = spawn(loops_when_canceled, &running);
        KIT_AWAIT(kit_raised(&begun));
        CHECK_EQ(filch_pool_cancel(pool), 0);
        join(t);
        join(end);
        kit_destroy(pool);
    }
    pool = outer;
    kit_look_at(pool);
}

/* ---- saying goodbye ----------------------------------------------------------------------------------- */

static int naps(void *arg)
{
    CHECK(!filch_canceled());
    int64_t until = filch_clock_ns() + 2000000;
    CHECK_EQ(filch_sleep_until(until), 0);
    CHECK(filch_clock_ns() >= until);
    return *(int *)arg;
}

static int sleeps_for_ever(void *unused)
{
    filch_scope inner;
    (void)unused;
    CHECK_EQ(filch_sleep_until(FILCH_FOREVER), -ECANCELED); /* the shield's deadline */
    CHECK(filch_canceled());
    CHECK_EQ(filch_scope_open(&inner), 0);
    CHECK(filch_scope_canceled(&inner));
    CHECK_EQ(filch_scope_close(&inner), -ECANCELED);
    return -ECANCELED;
}

static void elements(size_t lo, size_t hi, void *count)
{
    filch_add_relaxed((uint32_t *)count, (uint32_t)(hi - lo));
}

static int loops_over_elements(void *unused)
{
    uint32_t count = 0;
    (void)unused;
    CHECK_EQ(filch_for(0, 1000, elements, &count), 0);
    CHECK_EQ(count, 1000);
    return 0;
}

static void says_goodbye(void)
{
    int seven = 7;
    CHECK(filch_canceled());
    CHECK_EQ(filch_sleep_ns(1000000), -ECANCELED);
    CHECK_EQ(filch_scope_shield(naps, &seven, FILCH_FOREVER), 7);
    CHECK(filch_canceled());
    CHECK_EQ(filch_sleep_ns(1000000), -ECANCELED);
    CHECK_EQ(filch_scope_shield(sleeps_for_ever, NULL, filch_clock_ns() + 1000000), -ECANCELED);
    CHECK_EQ(filch_scope_shield(loops_over_elements, NULL, FILCH_FOREVER), 0);
    CHECK_EQ(filch_sleep_ns(1000000), -ECANCELED);
}

static int says_goodbye_in_scope(void *unused)
{
    (void)unused;
    filch_scope_cancel(&scope);
    says_goodbye();
    return 0;
}

static void in_a_cancelled_scope_a_shield_waits(void)
{
    kit_beat();
    CHECK_EQ(filch_scope_open_on(&scope, pool), 0);
    CHECK_EQ(filch_scope_go(&scope, says_goodbye_in_scope, NULL), 0);
    CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
}

static int goodbye_after_cancel(void *unused)
{
    (void)unused;
    kit_raise(&begun);
    CHECK_EQ(filch_sleep_until(FILCH_FOREVER), -ECANCELED);
    says_goodbye();
    return 0;
}

static void in_a_cancelled_pool_a_shield_waits(void)
{
    filch_pool *outer = pool;
    pool = kit_pool(1);
    begun = 0;
    filch_task *t = spawn(goodbye_after_cancel, NULL);
    KIT_AWAIT(kit_raised(&begun));
    CHECK_EQ(filch_pool_cancel(pool), 0);
    join(t);
    kit_destroy(pool);
    pool = outer;
    kit_look_at(pool);
}

static void outside_of_tasks_a_shield_is_a_call(void)
{
    int seven = 7;
    CHECK_EQ(filch_scope_shield(naps, &seven, FILCH_NOW), 7);
}

/* ---- the program --------------------------------------------------------------------------------------- */

static void set_up(void)
{
    pool = kit_pool(1);
    filch_barrier_init(&barrier, 2);
    filch_sem_init(&sem, 0);
    filch_group_add(&group, 1);
    CHECK_EQ(filch_chan_create(&chan, sizeof(int), 1), 0);
    CHECK_EQ(filch_pipe(pipe_ends), 0);
    never = spawn(holds_all, NULL);
    while (filch_mutex_trylock(&held) == 0) { /* it has them, once it has begun */
        filch_mutex_unlock(&held);
        kit_nap_us(100);
    }
    while (filch_rwlock_read_lock(&rw, FILCH_NOW) == 0) {
        filch_rwlock_read_unlock(&rw);
        kit_nap_us(100);
    }
}

static void tear_down(void)
{
    filch_store_release(&over, 1u);
    filch_event_set(&event);
    join(never);
    filch_group_done(&group);
    filch_close(pipe_ends[0]);
    filch_close(pipe_ends[1]);
    filch_chan_destroy(chan);
    kit_drain_and_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    set_up();
    RUN(with_filch_now_others_run);
    RUN(with_a_past_deadline_others_run);
    RUN(in_a_cancelled_scope_others_run);
    RUN(in_a_cancelled_pool_others_run);
    RUN(a_pinned_task_runs_its_own_forks);
    RUN(a_guest_gives_the_worker_up);
    RUN(in_a_cancelled_scope_a_shield_waits);
    RUN(in_a_cancelled_pool_a_shield_waits);
    RUN(outside_of_tasks_a_shield_is_a_call);
    tear_down();
    return check_report();
}
