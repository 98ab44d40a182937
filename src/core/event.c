#include "core/event.h"
#include "core/report.h"
#include "core/run.h"
#include "core/wait.h"

#include <errno.h>

#define LOCKS 64
#define RETRY_NS 1000000

#define CALL_SHIFT 48

enum { EVENT_UNSET = 0, EVENT_SET = 1, EVENT_CALL = 2 };

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

/* The first of those who wait. */
static struct wait_node *node_of(uintptr_t was)
{
    if (was & EVENT_CALL)
        was = (was & (((uintptr_t)1 << CALL_SHIFT) - 1)) - EVENT_CALL;
    return was != EVENT_SET ? (struct wait_node *)was : 0;
}

/* Somebody who waits alone. If he may be called, the number of his pool stands above his address. */
static uintptr_t word_of(struct wait_node *n, int64_t deadline)
{
    uintptr_t word = (uintptr_t)n;
    if (word >> CALL_SHIFT || !wait_is_sole(n->wait, deadline))
        return word;
    return word | EVENT_CALL | (uintptr_t)n->wait->fiber->pool->number << CALL_SHIFT;
}

bool event_is_set(const uintptr_t *state)
{
    return filch_load_acquire(state) == EVENT_SET; /* order: [E1] */
}

void event_set(uintptr_t *state)
{
    uint32_t *lock = lock_of(state);
    lock_acquire(lock);
    uintptr_t was = filch_load_relaxed(state); /* order: the lock */
    filch_store_release(state, (uintptr_t)EVENT_SET); /* order: [E1] */
    lock_release(lock);
    struct wait_node *n = node_of(was);
    if (was & EVENT_CALL && run_call(n, (uint32_t)(was >> CALL_SHIFT)))
        return;
    while (n) {
        struct wait_node *next = n->next; /* read before the waiter goes on and is gone */
        (void)wait_node_fire(n);
        n = next;
    }
}

void event_reset(uintptr_t *state)
{
    uint32_t *lock = lock_of(state);
    uintptr_t set = EVENT_SET;
    lock_acquire(lock);
    (void)filch_cas_relaxed(state, &set, (uintptr_t)EVENT_UNSET); /* order: the lock */
    lock_release(lock);
}

/* False if it is set already. */
static bool enlist(uintptr_t *state, struct wait_node *n, int64_t deadline)
{
    uint32_t *lock = lock_of(state);
    lock_acquire(lock);
    uintptr_t was = filch_load_acquire(state); /* order: [E1] */
    if (was != EVENT_SET) {
        n->next = node_of(was);
        filch_store_relaxed(state, n->next ? (uintptr_t)n : word_of(n, deadline)); /* order: the lock */
    }
    lock_release(lock);
    return was != EVENT_SET;
}

/* True if the node was still in the list, and is out of it now. */
static bool delist(uintptr_t *state, struct wait_node *n)
{
    uint32_t *lock = lock_of(state);
    lock_acquire(lock);
    uintptr_t was = filch_load_relaxed(state); /* order: the lock */
    bool found = node_of(was) == n;
    if (found) {
        filch_store_relaxed(state, (uintptr_t)n->next); /* order: the lock */
    } else {
        for (struct wait_node *p = node_of(was); p && !found; p = p->next) {
            found = p->next == n;
            if (found)
                p->next = n->next;
        }
    }
    lock_release(lock);
    return found;
}

/* When to ask again for what the machine refused. */
int64_t event_deadline(filch_pool *pool, int64_t deadline)
{
    if (!idle_crippled(pool))
        return deadline;
    idle_remind(pool);
    int64_t soon = os_clock_ns() + RETRY_NS;
    return soon < deadline ? soon : deadline;
}

static const struct wait_subject about_event = {.call = "filch_event_wait", .noun = "event"};

/* A wait for one event. */
struct turn {
    struct wait_node node;
    struct wait wait;
};

/* Something else ended it. Asked by way of `wait`, so that who waits need not keep both at hand. */
static __attribute__((noinline)) int give_up(uintptr_t *state, struct wait *w, int why)
{
    struct wait_node *n = &((struct turn *)((char *)w - offsetof(struct turn, wait)))->node;
    if (delist(state, n))
        return wait_error(why);
    wait_node_settle(n); /* it was being set just now */
    return 0;
}

static int wait_for(uintptr_t *state, int64_t deadline, void (*begin)(struct wait *w),
                    const struct wait_subject *about, const void *object)
{
    if (event_is_set(state))
        return 0;
    if (deadline <= FILCH_NOW)
        return wait_error(WAIT_TIMEOUT);
    struct turn me;
    me.node = (struct wait_node){.wait = &me.wait};
    begin(&me.wait);
    wait_about(&me.wait, about, object);
    int why = enlist(state, &me.node, deadline) ? wait_park(&me.wait, deadline) : WAIT_WOKEN;
    return why == WAIT_WOKEN ? 0 : give_up(state, &me.wait, why);
}

int event_wait(uintptr_t *state, int64_t deadline)
{
    return wait_for(state, deadline, wait_begin_firm, &about_event, state);
}

int event_wait_canceled(uintptr_t *state, int64_t deadline)
{
    return wait_for(state, deadline, wait_begin, &about_event, state);
}

int event_wait_about(uintptr_t *state, int64_t deadline, const struct wait_subject *about,
                     const void *object)
{
    return wait_for(state, deadline, wait_begin_firm, about, object);
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
