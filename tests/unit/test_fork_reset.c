/* test_fork_reset.c: whatever the other threads of the parent were about to do, the child of fork() can
 * use its pools. Every lock, count, list and note that the child resets is set to what they could have
 * left behind, in a process that has no other thread; then that one forks, and its child works. */
#define _GNU_SOURCE
#include "../forking.h"

#include "core/idle_set.h"
#include "core/queue.h"
#include "core/run.h"
#include "core/watch.h"

#include <filch/chan.h>
#include <filch/dump.h>
#include <filch/io.h>
#include <filch/par.h>
#include <filch/scope.h>
#include <filch/sync.h>
#include <filch/task.h>

enum { WORKERS = 2 };

static filch_pool *pool;

/* ---- what others could have left
 * ------------------------------------------------------------------------ */

static filch_job nowhere; /* never runs */

static void scribble_list(struct inject *q)
{
    q->lock = 1;
    q->count = 3;
    q->head = q->tail = item_job(&nowhere);
}

static void scribble_worker(struct worker *w)
{
    w->searching = w->guest = w->has_thread = w->gate = 1;
    w->spawned = 7;
    w->ended = 3;
    w->hushed = w->lent = w->scouts = w->little = true;
    w->impatience = w->calm = w->wary = 5;
    w->streak = WORKER_STREAK;
    w->little_since_ns = 1;
    w->todo.what = FOUND_ITEM;
    w->todo.it = item_job(&nowhere);
    w->cached[FIBER_LARGE] = 1;
    w->cache[FIBER_LARGE][0] = (struct fiber *)&nowhere;
    w->next = item_job(&nowhere);
    w->locked.lock = 1;
    w->locked.count = 2;
    w->timers->lock = 1;
    w->timers->next_ns = 1;
    w->eyed.item = item_job(&nowhere);
    w->suspect.id = 1;
    w->looked.reported = true;
    scribble_list(&w->inbox);
}

static void scribble_idle(struct idle_set *s)
{
    s->lock = 1;
    s->word = 1;
    s->scout = s->keeper = s->poller = 1;
    s->guests.count = s->owner.count = 1;
    s->lent = SEAT_LENT;
    s->threads = WORKERS;
    s->stand_ins = 1;
    memset(s->asleep, 0, sizeof s->asleep);
}

static void scribble_stores(void)
{
    for (int kind = 0; kind < FIBER_KINDS; kind++) {
        pool->fibers[kind].lock = 1;
        pool->fibers[kind].free = 0;
        pool->fibers[kind].free_count = 99;
    }
    pool->tasks.lock = 1;
    pool->tasks.loose = 0;
}

static void scribble(void)
{
    for (int i = 0; i < WORKERS; i++)
        scribble_worker(&pool->workers[i]);
    scribble_list(&pool->injector);
    scribble_idle(pool->idle);
    scribble_stores();
    pool->shared.lock = 1;
    pool->shared.count = 4;
    pool->exposed_lock = pool->cancel_lock = pool->look_lock = 1;
    pool->exposed_count = 1;
    pool->pending = 5;
    pool->spawned = 2;
    pool->draining = pool->visitors = 1;
    pool->trim_set = pool->trim_due = 1;
    pool->heed |= HEED_CANCELED | HEED_CANCELING;
    pool->watch.has_thread = true;
}

/* ---- what the child does
 * ---------------------------------------------------------------------------------- */

FILCH_TASK(int, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_FORK(b, fib, n - 2);
    int a = FILCH_CALL(fib, n - 1);
    return a + FILCH_JOIN(fib, b);
}

static filch_chan *numbers;
static filch_mutex mutex;
static int sum;

static int sends(void *number)
{
    return filch_chan_send(numbers, number, FILCH_FOREVER);
}

static int receives(void *unused)
{
    int number;
    (void)unused;
    CHECK_EQ(filch_sleep_ns(1000000), 0);
    CHECK_EQ(filch_chan_recv(numbers, &number, FILCH_FOREVER), 0);
    CHECK_EQ(filch_mutex_lock(&mutex, FILCH_FOREVER), 0);
    sum += number;
    filch_mutex_unlock(&mutex);
    return 0;
}

static int reads(void *ends)
{
    char byte = 0;
    CHECK_EQ(filch_read(((int *)ends)[0], &byte, 1, FILCH_FOREVER), 1);
    return byte;
}

static int doubles(size_t lo, size_t hi, void *v)
{
    for (size_t i = lo; i < hi; i++)
        ((int *)v)[i] *= 2;
    return 0;
}

/* Suspends while a fork of its own is pending, which sets what it waits for. */
static filch_event event;

FILCH_TASK(int, sets, int, n)
{
    filch_event_set(&event);
    return n;
}

FILCH_TASK(int, waits_for_its_fork, int, n)
{
    FILCH_FORK(b, sets, n);
    filch_event_wait(&event);
    return FILCH_JOIN(sets, b);
}

static int waits(void *unused)
{
    (void)unused;
    return FILCH_RUN(waits_for_its_fork, 3);
}

static void a_task_with_forks(void)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    int three = 0;
    a.pool = pool;
    a.large_stack = 1;
    CHECK_EQ(filch_spawn_with(&t, &a, waits, NULL), 0);
    CHECK_EQ(filch_task_join(t, &three, FILCH_FOREVER), 0);
    CHECK_EQ(three, 3);
}

static void dump_and_cancel(void)
{
    int null = open("/dev/null", O_WRONLY);
    CHECK_EQ(filch_pool_dump(pool, null), 0);
    close(null);
    CHECK_EQ(filch_pool_cancel(pool), 0);
}

static void works(void)
{
    enum { TASKS = 50 };
    static int v[1000];
    filch_scope s;
    filch_how how = FILCH_HOW_INIT;
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *reader;
    int numbers_sent[TASKS], ends[2], byte = 0;
    how.pool = a.pool = pool;
    alarm(20); /* what is not reset hangs */
    CHECK_EQ(FILCH_RUN_ON(pool, fib, 15), 610);
    CHECK_EQ(filch_chan_create(&numbers, sizeof(int), 0), 0);
    CHECK_EQ(filch_scope_open_on(&s, pool), 0);
    for (int i = 0; i < TASKS; i++) {
        numbers_sent[i] = i;
        CHECK_EQ(filch_scope_go(&s, receives, NULL), 0);
        CHECK_EQ(filch_scope_go(&s, sends, &numbers_sent[i]), 0);
    }
    CHECK_EQ(filch_scope_close(&s), 0);
    CHECK_EQ(sum, TASKS * (TASKS - 1) / 2);
    CHECK_EQ(filch_pipe(ends), 0);
    CHECK_EQ(filch_spawn_with(&reader, &a, reads, ends), 0);
    CHECK_EQ(write(ends[1], "x", 1), 1);
    CHECK_EQ(filch_task_join(reader, &byte, FILCH_FOREVER), 0);
    CHECK_EQ(byte, 'x');
    v[7] = 7;
    CHECK_EQ(filch_for_with(&how, 0, 1000, doubles, v), 0);
    CHECK_EQ(v[7], 14);
    a_task_with_forks();
    dump_and_cancel();
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    filch_chan_destroy(numbers);
    filch_pool_destroy(pool);
}

/* The parent's other threads are there while the first child is made, and not in it. */
static void forks_again(void)
{
    scribble();
    struct ending e = in_child(works);
    if (e.status != 0) {
        fputs(e.text, stderr);
        _exit(1);
    }
    _exit(0);
}

static void with(enum filch_queue queue)
{
    filch_config c = config_of(WORKERS, FILCH_JOIN_SUSPEND);
    c.queue = queue;
    c.hog_ns = 1000000000; /* it has a watch */
    CHECK_EQ(filch_pool_create(&pool, &c), 0);
    CHECK_EQ(FILCH_RUN_ON(pool, fib, 10), 55);
    struct ending e = in_child(forks_again);
    CHECK_MSG(e.status == 0, "status %d: %s", e.status, e.text);
    filch_pool_destroy(pool);
}

static void the_child_resets_what_others_held(void) { with(FILCH_QUEUE_RING); }
static void with_locked_queues_too(void) { with(FILCH_QUEUE_LOCKED); }
static void with_a_shared_queue_too(void) { with(FILCH_QUEUE_SHARED); }

int main(void)
{
    if (WITH_TSAN || WITH_ASAN) {
        puts("skipped: TSan starts no thread in such a child, ASan may have left its allocator locked");
        return 77;
    }
    RUN(the_child_resets_what_others_held);
    RUN(with_locked_queues_too);
    RUN(with_a_shared_queue_too);
    return check_report();
}
