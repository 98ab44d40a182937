/* chan.h: the inside of a channel, for chan.c and select.c.
 *
 * A ring of `room` items and two lists of waiters, all under one lock: whoever takes it has the whole
 * state in one cache line. Nobody is woken unless he is listed, so two tasks that run at the same time, or
 * take turns on one worker, exchange a ring full of items without a switch.
 *
 * | field      | writer      | reader                | invariant                                    |
 * | count      | lock holder | anyone (length)       | at most `room`                               |
 * | head, ring | lock holder | lock holder           |                                              |
 * | waiting    | lock holder | lock holder           | receivers wait: nothing in the ring;         |
 * |            |             |                       | senders wait: no room in the ring            |
 * | closed     | lock holder | lock holder           | once 1, always 1; then nobody waits          |
 * | waiter     | its flow until listed; then who took it out and claimed its wait; the flow again        |
 * |            | when it goes on                                                                   |
 * | the rest   | fixed at creation; `name`: anyone                                                 |
 *
 * An item goes from a sender to a waiting receiver directly, into its buffer, and from a waiting sender
 * into the ring or to the receiver, with the lock held: after wait_node_claim has succeeded the
 * other's item is ours, before it nothing has happened. So a wait that timed out has not sent, and
 * not received. The one who was served is made runnable after the lock was released; neither that nor
 * anything after it looks at the channel, which may be gone.
 *
 * [C1] what the claimer wrote into the waiter, and the item, are seen by the flow that goes on:
 *      wait.h [V2]; what the flow wrote before it was listed is seen by the claimer: the lock.
 */
#ifndef FILCH_FIBER_CHAN_H
#define FILCH_FIBER_CHAN_H

#include "core/lock.h"
#include "core/wait.h"

#include <filch/chan.h>

struct chan_waiter {
    struct wait_node node;  /* first */
    void *item;
    int result;
    enum wait_claim was;
};

struct filch_chan {
    uint32_t lock __attribute__((aligned(64)));
    uint32_t closed;
    size_t count;
    size_t head;                 /* the oldest */
    struct wait_list waiting[2]; /* by enum filch_op */
    char *ring;

    size_t room;                 /* lock holder: of an unbounded channel it grows, and is small again ... */
    size_t keep;                 /* ... when nothing is left in one that is larger than this */
    char *first;                 /* what an unbounded channel began with, and goes back to */
    size_t item_size, capacity;
    const char *name;
    uint32_t magic;
};

#define CHAN_NOT_NOW 1

/* Aborts if it is not a channel, or the item is missing. */
void chan_check(const filch_chan *c, const void *item, const char *call);

/* Lock held. One operation, if it can be done now: 0 or an error, or CHAN_NOT_NOW. Who is in *served is to
 * go on: chan_resume without the lock, from the caller's worker or null. Sending to an unbounded channel may
 * let go of the lock meanwhile. */
int chan_step(filch_chan *c, enum filch_op op, void *item, struct chan_waiter **served);

static inline void chan_resume(struct worker *me, struct chan_waiter *served)
{
    if (served)
        wait_complete_from(me, served->node.wait, served->was, served->node.index);
}

/* A wait ended otherwise: its waiter leaves the list, or is not touched any more. */
void chan_leave(filch_chan *c, enum filch_op op, struct chan_waiter *w);

#endif
