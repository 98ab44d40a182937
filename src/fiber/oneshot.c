/* oneshot.c: one value from one sender to one receiver.
 *
 * state:  EMPTY ----> a waiter's node ----> SENT ----> TAKEN
 *             \______________________\____> CLOSED
 *
 * | field | writer                           | reader   | invariant                                 |
 * | state | CAS: sender, closer, receiver    | the same | the sender's CAS to SENT is its last      |
 * |       |                                  |          | access to the oneshot                     |
 * | value | the sender before SENT           | receiver |                                           |
 *
 * [O1] SENT is stored with release: who reads it (acquire), or is woken (wait.h [V2]), sees the value.
 * [O2] the receiver's node is released by the CAS that puts it there, acquired by who takes it.
 */
#include "core/report.h"
#include "core/wait.h"

#include <errno.h>
#include <filch/chan.h>

enum { EMPTY, SENT, CLOSED, TAKEN, LAST_STATE = TAKEN };

static struct wait_node *waiting(uintptr_t state)
{
    return state > LAST_STATE ? (struct wait_node *)state : 0;
}

static void check_oneshot(const filch_oneshot *o, const char *call)
{
    if (!o)
        report_misuse(call, "null oneshot");
}

int filch_oneshot_send(filch_oneshot *o, void *value)
{
    check_oneshot(o, "filch_oneshot_send");
    uintptr_t was = filch_load_acquire(&o->state); /* order: [O2] */
    if (was == EMPTY || waiting(was))
        o->value = value;
    do {
        if (was == CLOSED)
            return -EPIPE;
        if (was == SENT || was == TAKEN)
            report_misuse("filch_oneshot_send", "a value was sent already; use a channel for several");
    } while (!filch_cas_acq_rel(&o->state, &was, (uintptr_t)SENT)); /* order: [O1] [O2] */
    if (waiting(was))
        (void)wait_node_fire(waiting(was));
    return 0;
}

void filch_oneshot_close(filch_oneshot *o)
{
    check_oneshot(o, "filch_oneshot_close");
    uintptr_t was = filch_load_acquire(&o->state); /* order: [O2] */
    do {
        if (was != EMPTY && !waiting(was))
            return;
    } while (!filch_cas_acq_rel(&o->state, &was, (uintptr_t)CLOSED)); /* order: [O2] */
    if (waiting(was))
        (void)wait_node_fire(waiting(was));
}

/* It is SENT, CLOSED or TAKEN. */
static int take(filch_oneshot *o, void **value)
{
    if (filch_load_relaxed(&o->state) != SENT) /* order: [O1] was acquired by who found that, or woken */
        return -EPIPE;
    *value = o->value;
    filch_store_relaxed(&o->state, (uintptr_t)TAKEN); /* order: nobody else writes after SENT */
    return 0;
}

/* Puts the node there. False if there is something to take. */
static bool enlist(filch_oneshot *o, struct wait_node *n)
{
    uintptr_t was = EMPTY;
    if (filch_cas_acq_rel(&o->state, &was, (uintptr_t)n)) /* order: [O2] */
        return true;
    if (waiting(was))
        report_misuse("filch_oneshot_recv", "two at a time receive from the same oneshot");
    return false;
}

static const struct wait_subject about = {.call = "filch_oneshot_recv", .noun = "oneshot"};

int filch_oneshot_recv(filch_oneshot *o, void **value, int64_t deadline)
{
    check_oneshot(o, "filch_oneshot_recv");
    if (!value)
        report_misuse("filch_oneshot_recv", "null value pointer");
    if (filch_load_acquire(&o->state) == EMPTY && deadline <= FILCH_NOW) /* order: [O1] */
        return wait_error(WAIT_TIMEOUT);
    struct wait w;
    struct wait_node n = {.wait = &w};
    uintptr_t mine = (uintptr_t)&n;
    wait_begin(&w);
    wait_about(&w, &about, o);
    int why = enlist(o, &n) ? wait_park(&w, deadline) : WAIT_WOKEN;
    if (why == WAIT_WOKEN)
        return take(o, value);
    if (filch_cas_acq_rel(&o->state, &mine, (uintptr_t)EMPTY)) /* order: [O2] */
        return wait_error(why);
    wait_node_settle(&n); /* it was being sent just now */
    return take(o, value);
}
