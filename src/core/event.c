#include "core/event.h"
#include "core/join.h"
#include "core/report.h"

#include <errno.h>

#define LOCKS 64
#define POLL_NS 20000
#define RETRY_NS 1000000

enum { EVENT_UNSET = 0, EVENT_SET = 1 };

struct waiter {
    struct waiter *next;
    struct fiber *fiber; /* null: a thread, at the gate */
    uint32_t gate;
};

static uint32_t locks[LOCKS];

static uint32_t *lock_of(const uintptr_t *state)
{
    return &locks[rng_mix((uintptr_t)state) % LOCKS];
}

void event_reset_locks(void)
{
    for (int i = 0; i < LOCKS; i++)
        locks[i] = 0;
}

bool event_is_set(const uintptr_t *state)
{
    return filch_load_acquire(state) == EVENT_SET; /* order: [E1] */
}

static void waiter_wake(struct waiter *w)
{
    struct fiber *f = w->fiber;
    if (f) {
        run_ready(f);
        return;
    }
    filch_store_release(&w->gate, 1); /* order: [E2]; the waiter may be gone after this ... */
    os_futex_wake(&w->gate, 1);       /* ... and a wake-up at a dead address does no harm */
}

void event_set(uintptr_t *state)
{
    uint32_t *lock = lock_of(state);
    lock_acquire(lock);
    uintptr_t was = filch_load_relaxed(state); /* order: the lock */
    filch_store_release(state, (uintptr_t)EVENT_SET); /* order: [E1] */
    lock_release(lock);
    struct waiter *w = was > EVENT_SET ? (struct waiter *)was : 0;
    while (w) {
        struct waiter *next = w->next; /* read before the waiter goes on and is gone */
        waiter_wake(w);
        w = next;
    }
}

/* False if it is set already. */
static bool enlist(uintptr_t *state, struct waiter *w)
{
    uint32_t *lock = lock_of(state);
    lock_acquire(lock);
    uintptr_t was = filch_load_acquire(state); /* order: [E1] */
    if (was != EVENT_SET) {
        w->next = (struct waiter *)was;
        filch_store_relaxed(state, (uintptr_t)w); /* order: the lock */
    }
    lock_release(lock);
    return was != EVENT_SET;
}

/* True if the waiter was still in the list, and is out of it now. */
static bool delist(uintptr_t *state, struct waiter *w)
{
    uint32_t *lock = lock_of(state);
    bool found = false;
    lock_acquire(lock);
    uintptr_t was = filch_load_relaxed(state); /* order: the lock */
    if (was == (uintptr_t)w) {
        filch_store_relaxed(state, (uintptr_t)w->next); /* order: the lock */
        found = true;
    } else if (was > EVENT_SET) {
        for (struct waiter *p = (struct waiter *)was; p->next && !found; p = p->next) {
            found = p->next == w;
            if (found)
                p->next = w->next;
            if (!p->next)
                break;
        }
    }
    lock_release(lock);
    return found;
}

/* ---- threads ------------------------------------------------------------------------------ */

static int wait_thread(uintptr_t *state, int64_t deadline)
{
    struct waiter w = {0};
    if (!enlist(state, &w))
        return 0;
    while (!filch_load_acquire(&w.gate)) { /* order: [E2] */
        int rc = os_futex_wait(&w.gate, 0, deadline);
        if (rc != 0 && delist(state, &w))
            return -ETIMEDOUT;
    }
    return 0;
}

/* When to ask again for what the machine refused. */
static int64_t retry_time(void)
{
    return os_clock_ns() + RETRY_NS;
}

int64_t event_deadline(filch_pool *pool, int64_t deadline)
{
    if (!idle_crippled(pool))
        return deadline;
    idle_remind(pool);
    int64_t soon = retry_time();
    return soon < deadline ? soon : deadline;
}

static bool until_set(void *state)
{
    return event_is_set(state);
}

/* The same on a thread that its pool may have to do with: then it works there meanwhile. */
static int wait_thread_of(filch_pool *pool, struct fiber *f, uintptr_t *state, int64_t deadline)
{
    int rc;
    do {
        if (idle_crippled(pool))
            run_guest(pool, f, until_set, state);
        rc = wait_thread(state, event_deadline(pool, deadline));
    } while (rc != 0 && (deadline == FILCH_FOREVER || os_clock_ns() < deadline));
    return rc;
}

/* A pinned fiber: first what it forked itself, then sleep; a guest gives up its seat meanwhile. */
static int wait_pinned(struct worker *w, struct fiber *f, uintptr_t *state, int64_t deadline)
{
    while (!event_is_set(state) && slots_peek(&f->slots)) {
        if (!join_run_own(w, f))
            os_pause(); /* a thief is at it: it takes this one, the next may be ours */
    }
    if (event_is_set(state) || !w->guest)
        return wait_thread_of(w->pool, f, state, deadline);
    struct body *body = w->body;
    filch_pool *pool = w->pool;
    run_enter(w, 0);
    idle_seat_leave(w);
    int rc = wait_thread_of(pool, f, state, deadline);
    w = idle_seat_enter_wait(pool);
    w->body = body;
    run_enter(w, f);
    return rc;
}

/* ---- fibers ------------------------------------------------------------------------------- */

struct fiber_wait {
    uintptr_t *state;
    struct waiter waiter;
};

static bool publish_wait(struct fiber *from, void *arg)
{
    struct fiber_wait *fw = arg;
    fw->waiter.fiber = from;
    return enlist(fw->state, &fw->waiter);
}

static bool publish_yield(struct fiber *from, void *arg)
{
    (void)arg;
    inject_push(&from->pool->injector, item_fiber(from));
    return true;
}

/* With a deadline: looks again and again, others run in between. */
static int wait_polling(struct worker *w, uintptr_t *state, int64_t deadline)
{
    while (!event_is_set(state)) {
        if (os_clock_ns() >= deadline)
            return -ETIMEDOUT;
        if (run_suspend(w, publish_yield, 0))
            w = worker_self();
        if (!event_is_set(state))
            os_sleep_ns(POLL_NS);
    }
    return 0;
}

static int wait_suspended(struct worker *w, struct fiber *f, uintptr_t *state, int64_t deadline)
{
    int rc = 0;
    struct fiber_wait fw = {.state = state};
    bool leaves_jobs = slots_peek(&f->slots);
    EV(w, WAIT);
    if (leaves_jobs) {
        find_expose(f);
        idle_notify(w->pool, w);
    }
    if (deadline != FILCH_FOREVER)
        rc = wait_polling(w, state, deadline);
    else
        while (!run_suspend(w, publish_wait, &fw) && wait_thread(state, retry_time()) != 0)
            ; /* no memory for a stack to go on with: the thread waits, and asks again */
    if (leaves_jobs)
        find_hide(f);
    return rc;
}

int event_wait(uintptr_t *state, int64_t deadline)
{
    if (event_is_set(state))
        return 0;
    if (deadline <= FILCH_NOW)
        return -ETIMEDOUT;
    struct worker *w = worker_self();
    struct fiber *f = w ? w->fiber : 0;
    if (!f)
        return wait_thread(state, deadline);
    if (f->pins > 0 || w->pool->config.join == FILCH_JOIN_HELP)
        return wait_pinned(w, f, state, deadline);
    return wait_suspended(w, f, state, deadline);
}

/* ---- the public face ---------------------------------------------------------------------- */

static uintptr_t *state_of(const filch_event *event, const char *call)
{
    if (!event)
        report_misuse(call, "null event");
    return (uintptr_t *)&event->state;
}

void filch_event_set(filch_event *event)
{
    event_set(state_of(event, "filch_event_set"));
}

int filch_event_is_set(const filch_event *event)
{
    return event_is_set(state_of(event, "filch_event_is_set"));
}

void filch_event_wait(filch_event *event)
{
    (void)event_wait(state_of(event, "filch_event_wait"), FILCH_FOREVER);
}
