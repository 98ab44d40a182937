#include "core/wait.h"
#include "core/budget.h"
#include "core/event.h"
#include "core/join.h"
#include "core/report.h"

#include <errno.h>

#define RETRY_NS 200000 /* no memory for a stack to go on with: ask again so often */

enum { OPEN, PARKED, TAKEN, FIRED };
enum { SOFT, FIRM, HELD, CONTESTED };
enum { POOL_CANCELED = -3 }; /* in `why`: by the pool, while it may be in its token's list */

bool wait_suspends(void)
{
    struct worker *me = worker_self();
    return me && me->fiber && !yield_stays(me, me->fiber);
}

static inline void begin(struct worker *me, struct wait *w, bool firm)
{
    struct fiber *f = me ? me->fiber : 0;
    w->state = OPEN;
    w->why = WAIT_WOKEN;
    w->fiber = f && !yield_stays(me, f) ? f : 0;
    w->token = f && !firm ? f->token : 0;
    w->hold = firm ? FIRM : SOFT;
    w->taken = 0;
    w->about = 0;
}

void wait_begin_firm(struct wait *w)
{
    begin(worker_self(), w, true);
}

void wait_begin(struct wait *w)
{
    begin(worker_self(), w, false);
}

void wait_begin_at(struct worker *me, struct wait *w)
{
    begin(me, w, false);
}

/* ---- the others --------------------------------------------------------------------------- */

enum wait_claim wait_claim(struct wait *w)
{
    uint32_t was = filch_load_relaxed(&w->state); /* order: the CAS decides */
    do {
        if (was >= TAKEN)
            return WAIT_LOST;
    } while (!filch_cas_acq_rel(&w->state, &was, (uint32_t)TAKEN)); /* order: [V1] */
    return was == PARKED ? WAIT_WAS_PARKED : WAIT_WAS_OPEN;
}

void wait_complete_from(struct worker *me, struct wait *w, enum wait_claim was, int why)
{
    struct fiber *f = w->fiber;
    w->why = why;
    filch_store_release(&w->state, (uint32_t)FIRED); /* order: [V2]; the wait may be gone after this */
    if (was != WAIT_WAS_PARKED)
        return;
    if (f)
        run_ready_from(me, f);
    else
        os_futex_wake(&w->state, 1); /* a wake-up at a dead address does no harm */
}

void wait_complete(struct wait *w, enum wait_claim was, int why)
{
    wait_complete_from(worker_self(), w, was, why);
}

bool wait_fire(struct wait *w, int why)
{
    enum wait_claim was = wait_claim(w);
    if (was != WAIT_LOST)
        wait_complete(w, was, why);
    return was != WAIT_LOST;
}

/* [V5] Both sides of it. */
static bool contest(struct wait *w)
{
    uint32_t held = HELD;
    return filch_cas_acq_rel(&w->hold, &held, (uint32_t)CONTESTED); /* order: [V5] one wins */
}

static inline enum wait_claim claim_held(struct wait *w)
{
    filch_store_relaxed(&w->taken, 1u); /* order: [V5] */
    filch_fence_compiler(); /* order: [V5] the canceller's membarrier */
    if (__builtin_expect(filch_load_relaxed(&w->fiber->pool->heed) == 0, 1)) /* order: [V5] */
        return WAIT_WAS_PARKED;
    return contest(w) ? WAIT_WAS_PARKED : WAIT_LOST;
}

enum wait_claim wait_node_claim(struct wait_node *n)
{
    bool held = filch_load_relaxed(&n->wait->hold) >= HELD; /* order: the lock of its list */
    enum wait_claim was = held ? claim_held(n->wait) : wait_claim(n->wait);
    if (was == WAIT_LOST)
        filch_store_release(&n->gone, 1u); /* order: [V3] */
    return was;
}

bool wait_node_fire(struct wait_node *n)
{
    struct wait *w = n->wait;
    int why = n->index;
    enum wait_claim was = wait_node_claim(n);
    if (was != WAIT_LOST)
        wait_complete(w, was, why);
    return was != WAIT_LOST;
}

bool wait_is_sole(const struct wait *w, int64_t deadline)
{
    return w->fiber && w->hold == FIRM && deadline == FILCH_FOREVER;
}

struct fiber *wait_answer(struct wait_node *n)
{
    struct wait *w = n->wait;
    struct fiber *f = w->fiber;
    if (filch_load_acquire(&w->state) == OPEN && /* order: [V1] */
        wait_claim(w) == WAIT_WAS_OPEN) {
        filch_store_release(&w->state, (uint32_t)FIRED); /* order: [V2]; it may be gone after this */
        return 0;
    }
    filch_store_relaxed(&w->state, (uint32_t)FIRED); /* order: nobody else's; the fiber goes on here */
    return f;
}

/* ---- the flow ----------------------------------------------------------------------------- */

static bool is_fired(struct wait *w)
{
    return filch_load_acquire(&w->state) == FIRED; /* order: [V2] */
}

static bool until_fired(void *w)
{
    return is_fired(w);
}

/* Somebody is between two instructions; if he was interrupted there, let him go on. */
static void spin_a_little(unsigned *round)
{
    if (++*round % 64 == 0)
        os_thread_yield();
    else
        os_pause();
}

bool wait_ended(const struct wait *copy)
{
    return copy->state >= TAKEN;
}

int wait_error(int why)
{
    budget_spend_wait();
    return why == WAIT_CANCELED ? -ECANCELED : -ETIMEDOUT;
}

/* Its time was up. */
static inline void timed_out(const struct wait *w, int64_t deadline)
{
    if (__builtin_expect(deadline < os_began_ns, 0))
        report_duration(w->about ? w->about->call : "a wait", deadline);
}

void wait_node_settle(struct wait_node *n)
{
    unsigned round = 0;
    while (!filch_load_acquire(&n->gone)) /* order: [V3] */
        spin_a_little(&round);
}

static __attribute__((noinline)) int result_soon(struct wait *w)
{
    unsigned round = 0;
    while (!is_fired(w))
        spin_a_little(&round);
    return w->why;
}

static inline int result(struct wait *w)
{
    return __builtin_expect(is_fired(w), 1) ? w->why : result_soon(w);
}

/* It was over before the fiber left its stack: that costs, see budget.h. */
static int result_unparked(struct fiber *f, struct wait *w)
{
    f->budget++;
    return result(w);
}

static bool park(struct wait *w)
{
    uint32_t was = OPEN;
    return filch_cas_acq_rel(&w->state, &was, (uint32_t)PARKED); /* order: [V1] */
}

/* Sleeps until it has fired or the time is up: then the wait is still open. */
static void sleep_at(struct wait *w, int64_t deadline)
{
    while (filch_load_relaxed(&w->state) == PARKED) /* order: looked at again by result() */
        if (os_futex_wait(&w->state, PARKED, deadline) != 0)
            return;
}

static int park_thread(struct wait *w, int64_t deadline)
{
    if (park(w)) {
        sleep_at(w, deadline);
        if (filch_load_relaxed(&w->state) == PARKED && /* order: the claim decides */
            wait_fire(w, WAIT_TIMEOUT))
            timed_out(w, deadline);
    }
    return result(w);
}

/* The same on a thread that its pool may have to do with: then it works there meanwhile. */
static int park_thread_of(filch_pool *pool, struct fiber *f, struct wait *w, int64_t deadline)
{
    if (!park(w))
        return result(w);
    for (;;) {
        if (idle_crippled(pool))
            run_guest(pool, f, until_fired, w);
        sleep_at(w, event_deadline(pool, deadline));
        if (filch_load_relaxed(&w->state) != PARKED) /* order: looked at again by result() */
            return result(w);
        if (deadline != FILCH_FOREVER && os_clock_ns() >= deadline && wait_fire(w, WAIT_TIMEOUT))
            timed_out(w, deadline);
    }
}

/* Its thread sleeps, out of the seat. What it forked can be taken by others meanwhile. */
static int sleep_pinned(struct worker *me, struct fiber *f, struct wait *w, int64_t deadline)
{
    bool leaves_jobs = slots_peek(&f->slots);
    if (leaves_jobs) {
        find_expose(f);
        idle_notify(me->pool, me);
    }
    struct away away = idle_seat_step_out(me);
    int why = park_thread_of(me->pool, f, w, deadline);
    idle_seat_step_in(me, away);
    if (leaves_jobs)
        find_hide(f);
    f->budget = 0;
    return why;
}

/* A pinned fiber: first what it forked itself, which may be what it waits for, and others may not be there to
 * run it. Not if it waits for a lock: a fork that wants the same lock would wait for it on top of the one
 * that is to have it. */
static int park_pinned(struct worker *me, struct fiber *f, struct wait *w, int64_t deadline)
{
    bool for_lock = w->about && w->about->kind == WAIT_FOR_LOCK;
    while (!for_lock && !is_fired(w) && slots_peek(&f->slots)) {
        if (!join_run_own(me, f))
            os_pause(); /* a thief is at it: it takes this one, the next may be ours */
    }
    if (is_fired(w))
        return result_unparked(f, w);
    return sleep_pinned(me, f, w, deadline);
}

void wait_blocking(void (*block)(void *arg), void *arg)
{
    struct worker *me = worker_self();
    struct fiber *f = me ? me->fiber : 0;
    while (f && slots_peek(&f->slots)) {
        if (!join_run_own(me, f))
            os_pause();
    }
    if (!f) {
        child_check("fork");
        block(arg);
        return;
    }
    struct away away = idle_seat_step_out(me);
    block(arg);
    idle_seat_step_in(me, away);
}

/* Ends a wait when its time is up. Only those who have a deadline have one on their stack. */
struct alarm {
    struct timer timer; /* first */
    struct wait *wait;
};

static void on_timer(struct timer *t)
{
    (void)wait_fire(((struct alarm *)t)->wait, WAIT_TIMEOUT);
}

static bool publish_park(struct fiber *from, void *w)
{
    from->budget = 0;
    return park(w);
}

/* There is no other stack to go on with: asks again, and keeps the time itself: it may be the only one that
 * could. True if it was that. */
static __attribute__((noinline)) bool suspend_later(struct wait *w, int64_t deadline)
{
    bool late = false;
    do {
        os_sleep_ns(RETRY_NS);
        if (deadline != FILCH_FOREVER && os_clock_ns() >= deadline)
            late = wait_fire(w, WAIT_TIMEOUT);
    } while (filch_load_relaxed(&w->state) == OPEN && /* order: looked at again by result() */
             !run_suspend(worker_self(), publish_park, w));
    return late;
}

/* Leaves the stack. True if it could not, and the time was up meanwhile. */
static inline bool suspend(struct worker *me, struct wait *w, int64_t deadline)
{
    if (__builtin_expect(filch_load_relaxed(&w->state) != OPEN, 0)) { /* order: looked at again by result() */
        me->fiber->budget++;
        return false;
    }
    return __builtin_expect(run_suspend(me, publish_park, w), 1) ? false : suspend_later(w, deadline);
}

/* The same with a deadline, and without. Returns why it ended. */
static inline int suspend_until(struct worker *me, struct wait *w, int64_t deadline)
{
    struct alarm a = {.timer.fire = on_timer, .wait = w};
    timers_add(me->timers, &a.timer, deadline);
    bool late = suspend(me, w, deadline);
    int why = result(w);
    if (why != WAIT_TIMEOUT || late) /* else the timer itself ended it */
        (void)timers_cancel(&a.timer);
    if (why == WAIT_TIMEOUT)
        timed_out(w, deadline);
    return why;
}

static inline int suspend_for_good(struct worker *me, struct wait *w)
{
    (void)suspend(me, w, FILCH_FOREVER);
    return result(w);
}

static int park_fiber(struct worker *me, struct fiber *f, struct wait *w, int64_t deadline)
{
    bool leaves_jobs = slots_peek(&f->slots);
    EV(me, WAIT);
    if (leaves_jobs) {
        find_expose(f);
        idle_notify(me->pool, me);
    }
    int why = deadline != FILCH_FOREVER ? suspend_until(me, w, deadline) : suspend_for_good(me, w);
    if (leaves_jobs)
        find_hide(f);
    return why;
}

/* ---- cancellation ------------------------------------------------------------------------- */

bool wait_canceled(const struct wait_token *token)
{
    return filch_load_acquire(&token->canceled); /* order: what the canceller wrote before is seen */
}

bool wait_cancel_all(struct wait_token *token)
{
    lock_acquire(&token->lock);
    bool first = !token->canceled;
    struct wait_node *n = token->waits.head;
    token->waits = (struct wait_list){0};
    for (struct wait_node *p = n; p; p = p->next)
        p->prev = p; /* taken: see leave */
    filch_store_release(&token->canceled, 1u); /* order: pairs with wait_canceled */
    lock_release(&token->lock);
    while (n) {
        struct wait_node *next = n->next; /* read before the waiter goes on and is gone */
        (void)wait_node_fire(n);
        n = next;
    }
    return first;
}

/* Into the token's list; if it is cancelled, that ends the wait. */
static void enter(struct wait *w, struct wait_node *n)
{
    struct wait_token *token = w->token;
    *n = (struct wait_node){.wait = w, .index = WAIT_CANCELED};
    lock_acquire(&token->lock);
    bool canceled = token->canceled;
    if (!canceled)
        wait_list_add(&token->waits, n);
    lock_release(&token->lock);
    if (canceled) {
        w->token = 0; /* not in the list */
        (void)wait_fire(w, WAIT_CANCELED);
    }
}

static void leave(struct wait *w, struct wait_node *n, int why)
{
    struct wait_token *token = w->token;
    if (!token || why == WAIT_CANCELED)
        return;
    lock_acquire(&token->lock);
    bool taken = n->prev == n;
    if (!taken)
        wait_list_unlink(&token->waits, n);
    lock_release(&token->lock);
    if (taken)
        wait_node_settle(n);
}

/* ---- a pool cancelled --------------------------------------------------------------------- */

static void cancel_if_soft(struct wait *w)
{
    uint32_t hold = w ? filch_load_relaxed(&w->hold) : FIRM; /* order: [V4] set before it was shown */
    if (hold == SOFT && w->token && w->token->shield)
        return;
    if (hold == SOFT)
        (void)wait_fire(w, POOL_CANCELED);
    else if (hold == HELD && !filch_load_relaxed(&w->taken) && contest(w)) /* order: [V5] */
        wait_complete(w, WAIT_WAS_PARKED, POOL_CANCELED);
}

/* After a store of `waiting` [V4]; `heed` was not 0. */
static uint32_t look_closer(struct fiber *f)
{
    filch_fence_seq_cst(); /* order: [V4] the canceller's membarrier, where there is one */
    return filch_load_acquire(&f->pool->heed); /* order: [V4]; what the canceller wrote is seen */
}

static __attribute__((noinline)) void heed_begin(struct fiber *f, struct wait *w)
{
    uint32_t heed = look_closer(f);
    if (heed & HEED_CLOCK)
        w->since_ns = os_clock_ns();
    if (heed & HEED_CANCEL)
        cancel_if_soft(w);
}

static __attribute__((noinline)) int heed_end(struct fiber *f, struct wait *outer, int why)
{
    uint32_t heed = look_closer(f);
    if (heed & HEED_CANCELING) {
        lock_acquire(&f->pool->cancel_lock); /* held while anybody may have seen our wait */
        lock_release(&f->pool->cancel_lock);
    }
    if (heed & HEED_CANCEL)
        cancel_if_soft(outer); /* it could not be seen behind the inner one */
    return why;
}

/* The wait can be seen from now on, until another (or null) stands there. */
static bool show(struct fiber *f, struct wait *w)
{
    filch_store_release(&f->waiting, w); /* order: [V4]; filled in before */
    filch_fence_compiler(); /* order: [V4] the canceller's membarrier */
    return __builtin_expect(filch_load_relaxed(&f->pool->heed) != 0, 0); /* order: [V4] */
}

static void cancel_fiber(const struct fiber *f, void *arg)
{
    (void)arg;
    cancel_if_soft(filch_load_acquire(&f->waiting)); /* order: [V4] */
}

int wait_cancel_pool(struct filch_pool *pool)
{
    lock_acquire(&pool->cancel_lock);
    uint32_t heed = pool->heed | HEED_CANCELING;
    filch_store_seq_cst(&pool->heed, heed); /* order: [V4] */
    bool seen = slots_barrier(pool->fibers[FIBER_LARGE].fenced);
    for (int kind = 0; seen && kind < FIBER_KINDS; kind++)
        fiber_each(&pool->fibers[kind], cancel_fiber, 0);
    heed = (heed & ~(uint32_t)HEED_CANCELING) | HEED_CANCELED;
    filch_store_release(&pool->heed, heed); /* order: done with the waits of others */
    lock_release(&pool->cancel_lock);
    return seen ? 0 : -EAGAIN;
}

void wait_keep_time(struct filch_pool *pool)
{
    lock_acquire(&pool->cancel_lock);
    filch_store_release(&pool->heed, pool->heed | HEED_CLOCK); /* order: the lock; a flag */
    lock_release(&pool->cancel_lock);
}

/* ---- the entry ---------------------------------------------------------------------------- */

/* In sight of the dump meanwhile. A pinned flow may wait again inside. */
static int park_seen(struct worker *me, struct fiber *f, struct wait *w, int64_t deadline)
{
    struct wait *outer = f->waiting;
    w->since_ns = 0;
    w->deadline = deadline;
    if (show(f, w))
        heed_begin(f, w);
    int why = w->fiber ? park_fiber(me, f, w, deadline) : park_pinned(me, f, w, deadline);
    return show(f, outer) ? heed_end(f, outer, why) : why;
}

static int park_somehow(struct wait *w, int64_t deadline)
{
    struct worker *me = worker_self();
    struct fiber *f = me ? me->fiber : 0;
    if (filch_load_relaxed(&w->state) != OPEN) /* order: looked at again by result() */
        return f ? result_unparked(f, w) : result(w);
    if (!f) {
        child_check(w->about ? w->about->call : "fork");
        return park_thread(w, deadline);
    }
    return park_seen(me, f, w, deadline);
}

/* Most waits: of a task that leaves nothing behind, outside of scopes. */
static inline bool is_simple(const struct wait *w)
{
    return w->fiber && !w->token && !slots_peek(&w->fiber->slots);
}

static inline void simple_begin(struct worker *me, struct wait *w, int64_t deadline)
{
    w->since_ns = 0;
    w->deadline = deadline;
    if (show(w->fiber, w))
        heed_begin(w->fiber, w);
    EV(me, WAIT);
}

static inline int simple_end(struct wait *w, int why)
{
    struct fiber *f = w->fiber;
    if (why == POOL_CANCELED)
        why = WAIT_CANCELED;
    if (show(f, 0))
        why = heed_end(f, 0, why);
    budget_check(f);
    return why;
}

/* By themselves, so that their frames are small: those who wait in a crowd have them read from memory. */
static __attribute__((noinline)) int park_simply(struct wait *w)
{
    struct worker *me = worker_self();
    simple_begin(me, w, FILCH_FOREVER);
    return simple_end(w, suspend_for_good(me, w));
}

static __attribute__((noinline)) int park_until(struct wait *w, int64_t deadline)
{
    struct worker *me = worker_self();
    simple_begin(me, w, deadline);
    return simple_end(w, suspend_until(me, w, deadline));
}

struct holding {
    struct wait *wait;
    uint32_t *lock;
    struct worker *worker; /* that it leaves */
};

/* Only now can it be found: by way of the fiber, then in its list. */
static bool publish_holding(struct fiber *from, void *arg)
{
    struct holding h = *(const struct holding *)arg;
    EV(h.worker, WAIT);
    from->budget = 0;
    filch_store_relaxed(&h.wait->hold, (uint32_t)HELD); /* order: nobody has seen it */
    if (show(from, h.wait))
        heed_begin(from, h.wait);
    lock_release(h.lock); /* whoever ended the wait meanwhile waits for it, to leave the list */
    return true;
}

/* False if there was no fiber to go on with after all: nothing happened. */
static inline bool suspend_holding(struct wait *w, uint32_t *lock, struct worker *me, work_item it)
{
    struct holding h = {w, lock, me};
    w->since_ns = 0;
    w->deadline = FILCH_FOREVER;
    return run_suspend_for(me, it, publish_holding, &h);
}

int wait_park_holding(struct worker *me, struct wait *w, uint32_t *lock, int64_t deadline)
{
    work_item it = w->hold == SOFT && deadline == FILCH_FOREVER && is_simple(w) ? find_at_hand(me) : 0;
    if (!it || !suspend_holding(w, lock, me, it)) {
        lock_release(lock);
        return wait_park(w, deadline);
    }
    return simple_end(w, result(w));
}

static int park_in_token(struct wait *w, int64_t deadline)
{
    struct wait_node canceled;
    enter(w, &canceled);
    int why = park_somehow(w, deadline);
    leave(w, &canceled, why);
    return why;
}

static __attribute__((noinline)) int park_fully(struct wait *w, int64_t deadline)
{
    int why = w->token ? park_in_token(w, deadline) : park_somehow(w, deadline);
    struct fiber *f = run_fiber();
    if (f)
        budget_check(f);
    return why == POOL_CANCELED ? WAIT_CANCELED : why;
}

int wait_park(struct wait *w, int64_t deadline)
{
    if (__builtin_expect(!is_simple(w), 0))
        return park_fully(w, deadline);
    return deadline == FILCH_FOREVER ? park_simply(w) : park_until(w, deadline);
}
