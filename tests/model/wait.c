/* wait.c: models of one wait (core/wait.c): woken, timed out, handed something, by thread and by fiber.
 * The switch of fibers is played: a suspended flow sleeps until it is resumed. What a wait is made of is
 * freed as soon as it is over: who touches it later is found. */
#include "mc.h"

#include "core/event.h"
#include "core/join.h"
#include "core/wait.h"
#include "core/yield.h"

#include <errno.h>

static filch_pool pool;
static struct worker worker;
static struct fiber fiber;
static struct timers wheel;
static uint32_t resumed;
static uint32_t left;       /* the flow has left its stack: plain, handed over with it */
static bool no_stack;       /* there is none to go on with */
static unsigned refusals;   /* the next so many times      */
static bool at_hand;        /* there is a fiber to go on with */

/* ---- played: the rest of the core ------------------------------------------------------------ */

bool run_suspend(struct worker *w, bool (*publish)(struct fiber *from, void *arg), void *arg)
{
    if (no_stack || (refusals && refusals--))
        return false;
    left = 1;
    if (publish(w->fiber, arg)) {
        while (!filch_load_acquire(&resumed))
            (void)os_futex_wait(&resumed, 0, INT64_MAX);
        filch_store_relaxed(&resumed, 0u);
    }
    left = 0;
    return true;
}

bool run_suspend_for(struct worker *w, work_item it, bool (*publish)(struct fiber *from, void *arg),
                     void *arg)
{
    (void)it;
    return run_suspend(w, publish, arg);
}

work_item find_at_hand(struct worker *w)
{
    return at_hand ? item_fiber(w->fiber) : 0;
}

void run_ready_from(struct worker *me, struct fiber *f)
{
    (void)me;
    mc_check(f == &fiber && left); /* nobody enters a stack that is in use */
    mc_check(!filch_load_relaxed(&resumed));
    filch_store_release(&resumed, 1u);
    os_futex_wake(&resumed, 1);
}

void run_guest(filch_pool *p, struct fiber *below, bool (*until)(void *), void *arg)
{
    (void)p, (void)below, (void)until, (void)arg;
}

void find_expose(struct fiber *f) { (void)f; }
void find_hide(struct fiber *f) { (void)f; }
void idle_notify(filch_pool *p, struct worker *w) { (void)p, (void)w; }
bool idle_crippled(filch_pool *p) { (void)p; return false; }
struct away idle_seat_step_out(struct worker *w) { return (struct away){w->body, w->fiber, w->guest}; }
void idle_seat_step_in(struct worker *w, struct away away) { (void)w, (void)away; }
void filch_yield(void) {}
void yield_somehow(void) {}
bool join_run_own(struct worker *w, struct fiber *f) { (void)w, (void)f; return false; }
int64_t event_deadline(filch_pool *p, int64_t deadline) { (void)p; return deadline; }

/* ---- an object to wait for: a list, and a number to be handed over ------------------------------- */

static uint32_t lock;
static struct wait_list list;
static unsigned given;      /* plain: written by who wakes   */
static unsigned kept;       /* by who found nobody to wake   */

struct waiter {
    struct wait wait;
    struct wait_node node;
    unsigned box;
};

static struct wait_node *pop(void)
{
    lock_acquire(&lock);
    struct wait_node *n = wait_list_pop(&list);
    lock_release(&lock);
    return n;
}

static void wakes(void *unused)
{
    (void)unused;
    given = 7;
    struct wait_node *n = pop();
    if (!n || !wait_node_fire(n))
        kept = 1;
}

static void hands_over(void *unused)
{
    (void)unused;
    struct wait_node *n = pop();
    enum wait_claim was = n ? wait_node_claim(n) : WAIT_LOST;
    if (was == WAIT_LOST) {
        kept = 1;
        return;
    }
    struct waiter *me = (struct waiter *)((char *)n - offsetof(struct waiter, node));
    me->box = 9; /* it is ours until it is completed */
    wait_complete(n->wait, was, n->index);
}

static struct waiter *begin_holding(void)
{
    struct waiter *me = os_alloc(sizeof *me);
    me->node = (struct wait_node){.wait = &me->wait};
    wait_begin(&me->wait);
    lock_acquire(&lock);
    wait_list_add(&list, &me->node);
    return me;
}

static struct waiter *begin(void)
{
    struct waiter *me = begin_holding();
    lock_release(&lock);
    return me;
}

static int settle(struct waiter *me, int why);

/* As every call that waits does it. */
static int end(struct waiter *me, int64_t deadline)
{
    return settle(me, wait_park(&me->wait, deadline));
}

static int settle(struct waiter *me, int why)
{
    if (why >= 0)
        return why;
    lock_acquire(&lock);
    bool there = wait_list_has(&me->node);
    if (there)
        wait_list_unlink(&list, &me->node);
    lock_release(&lock);
    if (!there)
        wait_node_settle(&me->node);
    return why;
}

static void as_fiber(void)
{
    worker.pool = &pool;
    worker.fiber = &fiber;
    fiber.pool = &pool;
    worker.timers = &wheel;
    timers_init(&wheel, 0);
    os_self_set(&worker);
}

static int64_t soon(void)
{
    return os_clock_ns() + 10000;
}

static void cancels(void *me)
{
    (void)wait_fire(&((struct waiter *)me)->wait, WAIT_CANCELED);
}

/* The node is in the list before the other one comes, and perhaps one who cancels. */
static void listed(void (*other)(void *), int64_t deadline, bool cancel)
{
    struct waiter *me = begin();
    mc_thread(other, 0);
    int canceler = cancel ? mc_thread(cancels, me) : 0;
    int why = end(me, deadline);
    if (why >= 0)
        mc_check(other == wakes ? given == 7 : me->box == 9);
    else
        mc_check(me->box != 9 && wait_error(why) == (cancel ? -ECANCELED : -ETIMEDOUT));
    if (cancel)
        mc_join(canceler); /* it is not in a list: nobody else would wait for it */
    os_free(me);
    mc_join_all();
    mc_check(why < 0 ? kept : !kept); /* exactly one of the two has it */
    mc_check(!list.head && !list.tail);
}

/* ---- threads ------------------------------------------------------------------------------------- */

static void wait_thread_is_woken(void)
{
    listed(wakes, FILCH_FOREVER, false);
}
MC_MODEL(wait_thread_is_woken, .claim = "[V2] a thread that waits is woken once and sees what was written",
         .preemptions = MC_UNBOUNDED);

static void wait_thread_times_out(void)
{
    listed(wakes, soon(), false);
}
MC_MODEL(wait_thread_times_out, .claim = "[V3] woken or timed out, and nobody touches the wait afterwards",
         .preemptions = 3, .stale = 2, .alarms = true, .hasty = 1);

static void wait_thread_is_canceled(void)
{
    listed(wakes, FILCH_FOREVER, true);
}
MC_MODEL(wait_thread_is_canceled, .claim = "[V3] woken or canceled, and who comes too late is waited for",
         .preemptions = 2, .stale = 2);

static void wait_thread_is_handed(void)
{
    listed(hands_over, FILCH_FOREVER, true);
}
MC_MODEL(wait_thread_is_handed, .claim = "what is handed over arrives or is kept, never both",
         .preemptions = 2, .stale = 2);

/* ---- fibers -------------------------------------------------------------------------------------- */

static void wait_fiber_is_woken(void)
{
    as_fiber();
    listed(wakes, FILCH_FOREVER, false);
}
MC_MODEL(wait_fiber_is_woken, .claim = "[V1] a fiber is resumed once, after it left its stack",
         .preemptions = MC_UNBOUNDED);

/* ---- called: taken out by one, ended by another --------------------------------------------------- */

static struct wait_node *called; /* a queue of one */

static void calls(void *unused)
{
    (void)unused;
    given = 7;
    struct wait_node *n = pop();
    filch_store_release(&called, n);
}

static void answers(void *unused)
{
    (void)unused;
    struct wait_node *n;
    while (!(n = filch_load_acquire(&called)))
        os_pause();
    struct fiber *f = wait_answer(n);
    if (f)
        run_ready(f);
}

static void wait_fiber_is_called(void)
{
    as_fiber();
    struct waiter *me = begin();
    wait_begin_firm(&me->wait);
    mc_check(wait_is_sole(&me->wait, FILCH_FOREVER) && !wait_is_sole(&me->wait, soon()));
    mc_thread(calls, 0);
    mc_thread(answers, 0);
    mc_check(end(me, FILCH_FOREVER) == WAIT_WOKEN && given == 7);
    os_free(me);
    mc_join_all();
}
MC_MODEL(wait_fiber_is_called, .claim = "[V1] [V2] whoever takes a call out of a queue ends the wait, once",
         .preemptions = 3, .stale = 2);

/* ---- parked with the lock of the list held --------------------------------------------------------- */

static void cancels_the_pool(void *unused)
{
    (void)unused;
    mc_check(wait_cancel_pool(&pool) == 0);
}

/* As pool.c's fiber_each: there is one. */
void fiber_each(struct fiber_store *s, void (*fn)(const struct fiber *f, void *arg), void *arg)
{
    if (s == &pool.fibers[FIBER_SMALL])
        fn(&fiber, arg);
}

static void park_holding(void (*other)(void *), bool cancel)
{
    as_fiber();
    struct waiter *me = begin_holding();
    if (other)
        mc_thread(other, 0);
    if (cancel)
        mc_thread(cancels_the_pool, 0);
    int why = settle(me, wait_park_holding(worker_self(), &me->wait, &lock, FILCH_FOREVER));
    mc_check((other && why == WAIT_WOKEN) || (cancel && why == WAIT_CANCELED));
    if (why >= 0)
        mc_check(other == wakes ? given == 7 : me->box == 9);
    os_free(me);
    mc_join_all();
    mc_check(!other || (why < 0 ? kept : !kept));
    mc_check(!list.head && !fiber.waiting && !lock);
}

static void wait_holding(void)
{
    at_hand = true;
    park_holding(wakes, false);
}
MC_MODEL(wait_holding, .claim = "a fiber that parks with the lock held is found after it left its stack",
         .preemptions = MC_UNBOUNDED);

static void wait_holding_is_handed(void)
{
    at_hand = true;
    park_holding(hands_over, false);
}
MC_MODEL(wait_holding_is_handed, .claim = "and what is handed over to it arrives",
         .preemptions = MC_UNBOUNDED);

static void wait_holding_is_canceled(void)
{
    at_hand = true;
    park_holding(wakes, true);
}
MC_MODEL(wait_holding_is_canceled, .claim = "[V4] by its list or by its pool, one ends its wait",
         .preemptions = 2, .stale = 2, .spins = MC_ZERO, .spurious = MC_ZERO);

static void wait_holding_is_canceled_alone(void)
{
    at_hand = true;
    park_holding(0, true);
}
MC_MODEL(wait_holding_is_canceled_alone, .claim = "[V4] a pool that is cancelled finds it", .preemptions = 3);

static void wait_holding_without_a_stack(void)
{
    at_hand = true;
    refusals = 1;
    park_holding(wakes, false);
}
MC_MODEL(wait_holding_without_a_stack, .claim = "what was at hand needs a stack that is not there: it waits "
         "as usual", .preemptions = 3);

static void wait_holding_nothing_at_hand(void)
{
    park_holding(wakes, false);
}
MC_MODEL(wait_holding_nothing_at_hand, .claim = "without a fiber at hand the lock is given back first",
         .preemptions = 3);

static void clock_of_another(void *unused)
{
    (void)unused;
    (void)timers_run(&wheel, (int64_t)1 << 40);
}

static void fiber_with_deadline(void (*other)(void *))
{
    as_fiber();
    struct waiter *me = begin();
    mc_thread(other, 0);
    mc_thread(clock_of_another, 0);
    int why = end(me, soon());
    if (why >= 0)
        mc_check(other == wakes ? given == 7 : me->box == 9);
    else
        mc_check(why == WAIT_TIMEOUT && me->box != 9);
    os_free(me);
    mc_join_all();
    mc_check(wheel.count == 0 && timers_next(&wheel) == INT64_MAX);
    mc_check(why < 0 ? kept : !kept);
}

static void wait_fiber_times_out(void)
{
    fiber_with_deadline(wakes);
}
MC_MODEL(wait_fiber_times_out,
         .claim = "[V3] a fiber whose timer goes off while it is woken goes on once, and its timer is out",
         .preemptions = 2, .stale = 2, .spins = MC_ZERO, .spurious = MC_ZERO);

static void wait_fiber_is_handed(void)
{
    fiber_with_deadline(hands_over);
}
MC_MODEL(wait_fiber_is_handed, .claim = "the same when something is handed over", .preemptions = 2,
         .stale = 2, .spins = MC_ZERO, .spurious = MC_ZERO);

static void sleeper(void *unused)
{
    (void)unused;
    struct waiter *me = os_alloc(sizeof *me);
    wait_begin(&me->wait);
    mc_check(wait_park(&me->wait, soon()) == WAIT_TIMEOUT);
    os_free(me);
}

static void fires_until_woken(void *unused)
{
    (void)unused;
    while (timers_next(&wheel) == INT64_MAX)
        os_pause();
    mc_check(timers_run(&wheel, (int64_t)1 << 40) == 1);
}

static void wait_fiber_sleeps(void)
{
    as_fiber();
    mc_thread(fires_until_woken, 0);
    sleeper(0);
    mc_join_all();
    mc_check(wheel.count == 0);
}
MC_MODEL(wait_fiber_sleeps, .claim = "a fiber that only sleeps is resumed by its timer, once",
         .preemptions = 3);

/* Its own worker alone would fire the timer, and that is the one that waits for memory. */
static void wait_without_a_stack(void)
{
    as_fiber();
    no_stack = true;
    sleeper(0);
    mc_check(wheel.count == 0);
}
MC_MODEL(wait_without_a_stack, .claim = "a deadline holds although there is no stack to go on with",
         .preemptions = 2, .steps = 2000);

/* ---- several nodes ------------------------------------------------------------------------------- */

static struct waiter *both;

static void fires_first(void *unused)
{
    (void)unused;
    given = 7;
    (void)wait_node_fire(&both[0].node);
}

static void fires_second(void *unused)
{
    (void)unused;
    kept = 8;
    (void)wait_node_fire(&both[1].node);
}

/* Both are taken out of their lists already: who loses says so in its node. */
static void one_of_two(void)
{
    both = os_alloc(2 * sizeof *both);
    wait_begin(&both->wait);
    both[0].node = (struct wait_node){.wait = &both->wait, .index = 1};
    both[1].node = (struct wait_node){.wait = &both->wait, .index = 2};
    mc_thread(fires_first, 0);
    mc_thread(fires_second, 0);
    int why = wait_park(&both->wait, FILCH_FOREVER);
    mc_check(why == 1 ? given == 7 : why == 2 && kept == 8);
    wait_node_settle(&both[why == 1].node);
    os_free(both);
    mc_join_all();
}

static void wait_for_two_thread(void)
{
    one_of_two();
}
MC_MODEL(wait_for_two_thread, .claim = "of two that fire one is first, and the other is waited for",
         .preemptions = 2);

static void wait_for_two_fiber(void)
{
    as_fiber();
    one_of_two();
}
MC_MODEL(wait_for_two_fiber, .claim = "the same for a fiber", .preemptions = 2);
