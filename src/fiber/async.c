/* async.c: stackless tasks: states, wakes, end.
 *
 *              wake              pop              READY
 *       IDLE --------> SCHEDULED -----> RUNNING ---------> DONE
 *        |  \              |      ^      |  |  \
 *        |   \ abort       | abort \     |  |   wake
 *        |    \            v        \    |   \    \
 *        |     ---------> DOOMED      ---|----NOTIFIED      polled again
 *        |                 | pop         |       |
 *         <----------------|-- PENDING --        | abort (and from RUNNING)
 *                          v                     v
 *                       ABORTED <-- PENDING -- LAST --- READY ---> DONE
 *
 * In SCHEDULED and DOOMED it is in a queue, once; in RUNNING, NOTIFIED and LAST one worker has it; in
 * IDLE nobody has, and whoever leads it out of there puts it into a queue. So it is never polled by two.
 *
 * | field    | writer                                | reader          | invariant                 |
 * | state    | CAS: wakers, aborters, who runs it    | the same        | see above                 |
 * | link     | who has it in a list                  | the same        |                           |
 * | ended    | event.h: who ran it last              | waiters         | set after DONE or ABORTED |
 * | holders  | add, sub                              | all             | 0: caller's storage       |
 * | timer    | who runs it (timer.h)                 | wheel           | in no wheel when ended    |
 * | the rest | the starter, before the first push    | all             |                           |
 *
 * [Y1] wake: a read-modify-write of the state even if it stays the same, releasing what the waker wrote;
 *      the pop (CAS to RUNNING) acquires it. A wake that only looked could see SCHEDULED while the poll
 *      that it counts on has begun: a lost wake-up.
 * [Y2] leaving RUNNING releases what the poll wrote; the next pop acquires it.
 * [Y3] holders: the last drop acquires what the others did.
 */
#include "core/event.h"
#include "core/job.h"
#include "core/report.h"
#include "core/run.h"

#include <errno.h>
#include <filch/async.h>

enum { IDLE, SCHEDULED, DOOMED, RUNNING, NOTIFIED, LAST, DONE, ABORTED };

_Static_assert(sizeof(struct timer) <= sizeof(((filch_async *)0)->timer), "the room for it in async.h");

static void async_run(filch_async *a);

static struct timer *timer_of(filch_async *a)
{
    return (struct timer *)(void *)a->timer;
}

static struct worker *self_in(filch_pool *pool)
{
    struct worker *w = worker_self();
    return w && w->pool == pool ? w : 0;
}

static void check_made(const filch_async *a, const char *call)
{
    if (!a || a->run != async_run)
        report_misuse(call, "not a stackless task; use filch_async_init");
}

static void check_started(const filch_async *a, const char *call)
{
    check_made(a, call);
    if (!a->pool)
        report_misuse_named(call, "not started; use filch_async_start", a->name);
}

/* ---- queues ------------------------------------------------------------------------------- */

/* It is SCHEDULED or DOOMED by the caller, who may not touch it from the push on. */
static void enqueue(filch_async *a)
{
    filch_pool *pool = a->pool;
    struct worker *w = self_in(pool);
    if (w) {
        if (queue_push_next(w, item_poll(a)))
            idle_notify(pool, w);
        return;
    }
    child_check("filch_wake");
    /* From the push on it may end, and with the last one the pool: not before we left. */
    filch_add_relaxed(&pool->visitors, 1u); /* order: handed over with the item */
    inject_push(&pool->injector, item_poll(a));
    idle_notify(pool, 0);
    filch_sub_acq_rel(&pool->visitors, 1u); /* order: pairs with filch_pool_destroy; last access */
}

/* Behind all that waits already: it had its turn. */
static void enqueue_again(filch_async *a)
{
    struct worker *w = worker_self();
    queue_push(w, item_poll(a));
    idle_notify(w->pool, w);
}

/* ---- wake and abort ----------------------------------------------------------------------- */

/* Leads it from one state to the next as the row says; returns the state it was in. */
static uint32_t lead(filch_async *a, const uint8_t next[ABORTED + 1])
{
    uint32_t was = filch_load_relaxed(&a->state); /* order: the CAS decides; ended is for good */
    while (was < DONE && !filch_cas_acq_rel(&a->state, &was, (uint32_t)next[was])) /* order: [Y1] */
        ;
    return was;
}

static void wake(filch_async *a)
{
    static const uint8_t next[] = {
        [IDLE] = SCHEDULED, [SCHEDULED] = SCHEDULED, [DOOMED] = DOOMED,
        [RUNNING] = NOTIFIED, [NOTIFIED] = NOTIFIED, [LAST] = LAST, [DONE] = DONE, [ABORTED] = ABORTED,
    };
    if (lead(a, next) == IDLE)
        enqueue(a);
}

void filch_wake(filch_async *a)
{
    check_started(a, "filch_wake");
    wake(a);
}

void filch_async_abort(filch_async *a)
{
    static const uint8_t next[] = {
        [IDLE] = DOOMED, [SCHEDULED] = DOOMED, [DOOMED] = DOOMED,
        [RUNNING] = LAST, [NOTIFIED] = LAST, [LAST] = LAST, [DONE] = DONE, [ABORTED] = ABORTED,
    };
    check_started(a, "filch_async_abort");
    if (lead(a, next) == IDLE)
        enqueue(a);
}

static void on_timer(struct timer *t)
{
    wake((filch_async *)(void *)((char *)t - offsetof(filch_async, timer)));
}

/* Its worker runs it now. */
static bool in_own_poll(filch_async *a)
{
    uint32_t state = filch_load_relaxed(&a->state); /* order: own, or a mistake */
    return self_in(a->pool) && state >= RUNNING && state <= LAST;
}

void filch_wake_at(filch_async *self, int64_t deadline)
{
    check_started(self, "filch_wake_at");
    if (!in_own_poll(self))
        report_misuse_named("filch_wake_at", "only in the task's own poll function", self->name);
    struct timer *t = timer_of(self);
    if (t->home)
        (void)timers_cancel(t);
    if (deadline == FILCH_FOREVER)
        return;
    report_duration("filch_wake_at", deadline);
    t->fire = on_timer;
    timers_add(worker_self()->timers, t, deadline);
}

/* ---- run ---------------------------------------------------------------------------------- */

/* The caller has it, and it will not be polled again. */
static void finish(filch_async *a, uint32_t how)
{
    if (timer_of(a)->home)
        (void)timers_cancel(timer_of(a));
    bool held = filch_load_relaxed(&a->holders) > 0; /* order: never changes between 0 and more */
    filch_store_release(&a->state, how);              /* order: [Y2]; a wake in between is void */
    event_set(&a->ended); /* storage of the caller may be gone after this */
    if (held)
        filch_async_drop(a);
    job_end_task(worker_self());
}

/* Polled, and pending. */
static void rest(filch_async *a)
{
    uint32_t was = RUNNING;
    if (filch_cas_acq_rel(&a->state, &was, (uint32_t)IDLE)) /* order: [Y2] it may be gone now */
        return;
    if (was == NOTIFIED && filch_cas_acq_rel(&a->state, &was, (uint32_t)SCHEDULED)) /* order: [Y2] */
        enqueue_again(a);
    else
        finish(a, ABORTED);
}

/* Popped from a queue. */
static void async_run(filch_async *a)
{
    uint32_t was = SCHEDULED;
    if (!filch_cas_acq_rel(&a->state, &was, (uint32_t)RUNNING)) { /* order: [Y1] [Y2] */
        finish(a, ABORTED); /* doomed */
        return;
    }
    enum filch_poll result = a->poll(a, a->arg);
    run_over();
    if (result == FILCH_READY)
        finish(a, DONE);
    else
        rest(a);
}

/* ---- begin -------------------------------------------------------------------------------- */

void filch_async_init(filch_async *a, filch_poll_fn *poll, void *arg)
{
    if (!a || !poll)
        report_misuse("filch_async_init", "null task or null function");
    a->run = async_run;
    a->link = 0;
    a->name = 0;
    a->poll = poll;
    a->arg = arg;
    a->pool = 0;
    a->ended = 0;
    a->state = IDLE;
    a->holders = 0;
    *timer_of(a) = (struct timer){0};
}

static int start(filch_pool *pool, filch_async *a)
{
    int rc = job_begin_task(pool, self_in(pool));
    if (rc != 0)
        return rc;
    a->pool = pool;
    filch_store_relaxed(&a->state, (uint32_t)SCHEDULED); /* order: handed over by the queue */
    enqueue(a);
    return 0;
}

static filch_pool *pool_for(filch_pool *pool, const char *call)
{
    if (pool)
        job_check_pool(pool, call);
    return job_pool(pool);
}

int filch_async_start(filch_async *a, filch_pool *pool)
{
    check_made(a, "filch_async_start");
    if (a->pool)
        report_misuse_named("filch_async_start", "started twice; use filch_async_init before each start",
                            a->name);
    pool = pool_for(pool, "filch_async_start");
    return pool ? start(pool, a) : -ENOMEM;
}

static int spawn(filch_pool *pool, filch_async **out, filch_poll_fn *poll, void *arg)
{
    filch_async *a = os_alloc(sizeof *a);
    if (!a)
        return -ENOMEM;
    filch_async_init(a, poll, arg);
    a->holders = out ? 2 : 1;
    if (out)
        *out = a;
    int rc = start(pool, a);
    if (rc != 0) {
        if (out)
            *out = 0;
        os_free(a);
    }
    return rc;
}

int filch_async_spawn_on(filch_pool *pool, filch_async **out, filch_poll_fn *poll, void *arg)
{
    static const char call[] = "filch_async_spawn";
    if (!poll)
        report_misuse(call, "null function");
    if (out)
        *out = 0;
    pool = pool_for(pool, call);
    return pool ? spawn(pool, out, poll, arg) : -ENOMEM;
}

int filch_async_spawn(filch_async **out, filch_poll_fn *poll, void *arg)
{
    return filch_async_spawn_on(0, out, poll, arg);
}

/* ---- holders ------------------------------------------------------------------------------ */

filch_async *filch_async_hold(filch_async *a)
{
    check_made(a, "filch_async_hold");
    if (filch_load_relaxed(&a->holders) > 0) /* order: never changes between 0 and more */
        filch_add_relaxed(&a->holders, 1u);  /* order: the caller holds it, or runs it */
    return a;
}

void filch_async_drop(filch_async *a)
{
    check_made(a, "filch_async_drop");
    /* order: never changes between 0 and more; [Y3] */
    if (filch_load_relaxed(&a->holders) > 0 && filch_sub_acq_rel(&a->holders, 1u) == 1) {
        a->run = 0; /* used again it is reported, for a while */
        os_free(a);
    }
}

/* ---- end ---------------------------------------------------------------------------------- */

static bool until_ended(void *a)
{
    return event_is_set(&((filch_async *)a)->ended);
}

/* A thread outside, or of another pool: works as a guest as long as there is work. */
static int wait_outside(filch_async *a, int64_t deadline)
{
    filch_pool *pool = a->pool;
    int rc;
    do {
        job_help(pool, until_ended, a, deadline);
        if (event_is_set(&a->ended))
            return 0;
        rc = event_wait(&a->ended, event_deadline(pool, deadline));
    } while (rc != 0 && (deadline == FILCH_FOREVER || os_clock_ns() < deadline));
    return rc;
}

int filch_async_wait(filch_async *a, int64_t deadline)
{
    check_started(a, "filch_async_wait");
    int rc = 0;
    if (!event_is_set(&a->ended)) /* else its pool may be gone */
        rc = self_in(a->pool) ? event_wait(&a->ended, deadline) : wait_outside(a, deadline);
    if (rc != 0)
        return rc;
    return filch_load_relaxed(&a->state) == ABORTED ? -ECANCELED : 0; /* order: the event's */
}

int filch_async_done(const filch_async *a)
{
    check_started(a, "filch_async_done");
    return event_is_set(&a->ended);
}
