/* blocking.c: threads that make blocking calls for tasks.
 *
 * One set of threads for the process. A call stands in a queue, on the stack of the task that waits for
 * it. There is an idle thread for each queued call, or as many threads as there may be: calls may depend
 * on each other, so one that could have a thread never waits for another call to end.
 *
 * Threads are started with the lock held: that takes microseconds and happens seldom, and so a start that
 * fails needs no second look at the queue. A thread that ends is joined by the next one that ends.
 *
 * | field      | writer                     | reader                | invariant                      |
 * | bell       | lock holder                | sleepers (futex)      | changes with every new call    |
 * | gone       | lock holder                | blocking_stop (futex) | changes when a thread ends     |
 * | idle       | lock holder                | lock holder           | threads without a call,        |
 * |            |                            |                       | starting ones included         |
 * | call       | the task; from the queue on who serves it; event.h [E1] hands it back              |
 * | the rest   | lock holder                | lock holder           | no threads: no queued calls    |
 *
 * [B1] bell is changed under the lock before the wake-up; a sleeper reads it under the lock when it has
 *      seen an empty queue, and the kernel compares again: no call is slept through.
 */
#include "fiber/blocking.h"
#include "core/config.h"
#include "core/event.h"
#include "core/report.h"
#include "core/run.h"
#include "core/wait.h"

#include <filch/blocking.h>

enum { BLOCKING_MAX = 1024, BLOCKING_USUAL = 512 };
#define PATIENCE_NS INT64_C(5000000000)

struct call {
    int (*fn)(void *arg);
    void *arg;
    int result, error; /* error: errno, there and back */
    struct os_fp fp;   /* the caller's */
    uintptr_t done;    /* event */
    struct call *next;
};

struct offloader {
    os_thread thread;
    struct offloader *next; /* in the list of free ones */
};

static struct {
    uint32_t lock, bell, gone;
    uint32_t limit;             /* 0: not set up */
    uint32_t threads, idle, queued, most, stopping;
    struct call *head, *tail;
    struct offloader *free, *dead; /* dead: ended, to be joined */
    uint32_t carved;
    struct offloader table[BLOCKING_MAX];
} set;

static int64_t patience_ns = PATIENCE_NS; /* lock */

/* ---- set up, fork() and exit -------------------------------------------------------------- */

/* The child has none of the threads, and none of the tasks that wait for them. */
static void child_after_fork(void)
{
    set.lock = 0;
    set.threads = set.idle = set.queued = set.most = set.stopping = set.carved = 0;
    set.head = set.tail = 0;
    set.free = set.dead = 0;
}

static uint32_t limit_wanted(void)
{
    const char *text = os_getenv("FILCH_BLOCKING");
    long n = BLOCKING_USUAL;
    if (text && !config_number(text, 1, BLOCKING_MAX, &n))
        report_warning("filch: FILCH_BLOCKING is not a number from 1 to %d; using the default", BLOCKING_MAX);
    return (uint32_t)n;
}

/* Once per process; lock held. */
static void prepare(void)
{
    if (set.limit)
        return;
    set.limit = limit_wanted();
    os_at_fork(0, 0, child_after_fork);
}

/* Lock held. */
static struct offloader *slot_take(void)
{
    struct offloader *o = set.free;
    if (o)
        set.free = o->next;
    else if (set.carved < BLOCKING_MAX)
        o = &set.table[set.carved++];
    return o;
}

static void slot_give(struct offloader *o)
{
    o->next = set.free;
    set.free = o;
}

/* Its thread has ended, or is about to. */
static void bury(struct offloader *o)
{
    os_thread_join(o->thread);
    lock_acquire(&set.lock);
    slot_give(o);
    lock_release(&set.lock);
}

/* Leaves no thread that ended and was not joined. Interrupted with the lock held, it lets it be. */
static void __attribute__((destructor)) at_exit(void)
{
    if (!lock_try(&set.lock))
        return;
    struct offloader *last = set.dead;
    set.dead = 0;
    lock_release(&set.lock);
    if (last)
        os_thread_join(last->thread);
}

/* ---- the threads -------------------------------------------------------------------------- */

static void serve(struct call *c)
{
    os_errno_set(c->error);
    os_fp_set(&c->fp);
    c->result = c->fn(c->arg);
    c->error = os_errno_get();
    event_set(&c->done); /* it may be gone now */
}

/* Lock held, nothing queued: sleeps without it. False if there was nothing for long. */
static bool sleep_a_while(int64_t until)
{
    uint32_t seen = filch_load_relaxed(&set.bell); /* order: [B1] the lock */
    lock_release(&set.lock);
    (void)os_futex_wait(&set.bell, seen, until);
    lock_acquire(&set.lock);
    return set.head || os_clock_ns() < until;
}

/* Lock held. The next call, or null: it is time to go. */
static struct call *next_call(void)
{
    int64_t until = os_clock_ns() + patience_ns;
    while (!set.head)
        if (set.stopping || !sleep_a_while(until))
            return 0;
    struct call *c = set.head;
    set.head = c->next;
    set.queued--;
    set.idle--;
    return c;
}

/* Lock held; released. */
static void retire(struct offloader *me)
{
    struct offloader *before = set.dead;
    set.dead = me;
    set.idle--;
    set.threads--;
    filch_store_relaxed(&set.gone, set.gone + 1); /* order: the lock */
    lock_release(&set.lock);
    os_futex_wake(&set.gone, INT32_MAX);
    if (before)
        bury(before);
}

static void offloader_main(void *arg)
{
    struct call *c;
    lock_acquire(&set.lock); /* whoever started us has let go of it */
    while ((c = next_call())) {
        lock_release(&set.lock);
        serve(c);
        lock_acquire(&set.lock);
        set.idle++;
    }
    retire(arg);
}

/* Lock held. If there is none to be had, those that are there must do. */
static void one_more(void)
{
    struct offloader *o = slot_take();
    if (!o)
        return;
    if (os_thread_start(&o->thread, offloader_main, o, "filch-blocking") != 0) {
        slot_give(o);
        return;
    }
    set.idle++;
    set.threads++;
    if (set.threads > set.most)
        set.most = set.threads;
}

/* ---- calls -------------------------------------------------------------------------------- */

static void append(struct call *c)
{
    if (set.queued++ == 0)
        set.head = c;
    else
        set.tail->next = c;
    set.tail = c;
    filch_store_relaxed(&set.bell, set.bell + 1); /* order: [B1] the lock */
}

/* False if there is no thread at all. */
static bool submit(struct call *c)
{
    lock_acquire(&set.lock);
    prepare();
    if (set.queued >= set.idle && set.threads < set.limit)
        one_more();
    bool taken = set.threads > 0;
    if (taken)
        append(c);
    lock_release(&set.lock);
    if (taken)
        os_futex_wake(&set.bell, 1);
    return taken;
}

static const struct wait_subject about_call = {.call = "filch_blocking", .noun = "call"};

int filch_blocking(int (*fn)(void *arg), void *arg)
{
    if (!fn)
        report_misuse("filch_blocking", "null function");
    struct worker *w = worker_self();
    struct fiber *f = w ? w->fiber : 0;
    child_check("filch_blocking");
    if (!f || f->pins > 0 || w->pool->config.join == FILCH_JOIN_HELP)
        return fn(arg);
    struct call c = {.fn = fn, .arg = arg, .error = os_errno_get()};
    os_fp_get(&c.fp);
    if (!submit(&c))
        return fn(arg);
    while (event_wait_about(&c.done, FILCH_FOREVER, &about_call, &c) != 0)
        ; /* whatever ends the wait, the call is on our stack until it is done */
    os_errno_set(c.error);
    return c.result;
}

/* ---- for tests ---------------------------------------------------------------------------- */

void blocking_stop(void)
{
    lock_acquire(&set.lock);
    set.stopping++;
    while (set.threads > 0) {
        uint32_t seen = filch_load_relaxed(&set.gone); /* order: the lock */
        filch_store_relaxed(&set.bell, set.bell + 1);   /* order: [B1] the lock */
        lock_release(&set.lock);
        os_futex_wake(&set.bell, INT32_MAX);
        (void)os_futex_wait(&set.gone, seen, INT64_MAX);
        lock_acquire(&set.lock);
    }
    set.stopping--;
    struct offloader *last = set.dead;
    set.dead = 0;
    lock_release(&set.lock);
    if (last)
        bury(last);
}

struct blocking_figures blocking_figures(void)
{
    lock_acquire(&set.lock);
    struct blocking_figures f = {set.threads, set.idle, set.queued, set.most};
    lock_release(&set.lock);
    return f;
}

int64_t blocking_patience(int64_t ns)
{
    lock_acquire(&set.lock);
    int64_t was = patience_ns;
    patience_ns = ns;
    lock_release(&set.lock);
    return was;
}
