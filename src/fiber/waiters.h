/* waiters.h: the list of those who wait, in an object of the caller's, and how they are taken out.
 *
 * An object has a lock (core/lock.h) for its list. A waker takes nodes out and claims their waits with
 * the lock held, gives the lock back, and only then completes what it claimed: until then the waiter
 * stays, and the object with it. So a node that its flow does not find in the list has been let go
 * of for good (wait.h [V3]), and the waker's last access to the object is before the completion.
 *
 * | field      | writer, reader                                                                  |
 * | head, tail | lock holder                                                                     |
 * | node.next, node.gone | who claimed it, until completed: the next one claimed, what wait_claim said |
 */
#ifndef FILCH_WAITERS_H
#define FILCH_WAITERS_H

#include "core/wait.h"

#include <filch/sync.h>

/* ---- the list: lock held ------------------------------------------------------------------ */

static inline bool waiters_none(const filch_waiters *q)
{
    return !q->head;
}

static inline void waiters_add(filch_waiters *q, struct wait_node *n)
{
    struct wait_list l = {q->head, q->tail};
    wait_list_add(&l, n);
    *q = (filch_waiters){l.head, l.tail};
}

/* Before all others. */
static inline void waiters_add_first(filch_waiters *q, struct wait_node *n)
{
    struct wait_node *first = q->head;
    n->next = first;
    n->prev = 0;
    if (first)
        first->prev = n;
    else
        q->tail = n;
    q->head = n;
}

static inline void waiters_unlink(filch_waiters *q, struct wait_node *n)
{
    struct wait_list l = {q->head, q->tail};
    wait_list_unlink(&l, n);
    *q = (filch_waiters){l.head, l.tail};
}

/* ---- waking ------------------------------------------------------------------------------- */

/* Those who were claimed, in order. */
struct claimed {
    struct wait_node *first, *last;
};

/* Lock held: takes out the first one. False if its wait had ended by itself. */
static inline bool waiters_claim_first(filch_waiters *q, struct claimed *c)
{
    struct wait_node *n = q->head;
    waiters_unlink(q, n);
    enum wait_claim was = wait_node_claim(n);
    if (was == WAIT_LOST)
        return false;
    n->gone = (uint32_t)was;
    n->next = 0;
    if (c->last)
        c->last->next = n;
    else
        c->first = n;
    c->last = n;
    return true;
}

/* Lock held: takes out the first one whose wait has not ended. False if there is none. */
static inline bool waiters_claim(filch_waiters *q, struct claimed *c)
{
    while (q->head)
        if (waiters_claim_first(q, c))
            return true;
    return false;
}

/* Without the lock: they go on. */
static inline void waiters_complete(const struct claimed *c, int why)
{
    struct wait_node *n = c->first;
    while (n) {
        struct wait_node *next = n->next; /* the node is gone with its wait */
        wait_complete(n->wait, (enum wait_claim)n->gone, why);
        n = next;
    }
}

#endif
