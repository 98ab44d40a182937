/* inject.h: a list that any thread may push to and take from.
 *
 * The pool's injector (jobs from outside, overflow) and each worker's inbox. A locked intrusive
 * list: it cannot fail for lack of memory, and is taken in batches. `count` lets everyone else
 * see without the lock that there is nothing.
 *
 * | field       | writer      | reader          | invariant                                    |
 * | head, tail  | lock holder | lock holder     | a list linked through the items              |
 * | count       | lock holder | anyone (a hint) | length of the list when the lock is free     |
 *
 * [J1] The lock's acquire/release hands over what the submitter wrote into the job.
 * [J2] push: count is stored before the pusher's fence and look at the sleepers (idle.c [I1]).
 */
#ifndef FILCH_INJECT_H
#define FILCH_INJECT_H

#include "core/item.h"

struct inject {
    uint32_t lock;
    uint32_t pad;
    size_t count;
    work_item head, tail;
};

static inline size_t inject_count(struct inject *q)
{
    return filch_load_relaxed(&q->count); /* order: a hint; sleepers look after their fence [I1] */
}

/* Appends a chain of n linked items. */
static inline void inject_push_chain(struct inject *q, work_item first, work_item last, size_t n)
{
    *item_link(last) = 0;
    lock_acquire(&q->lock);
    if (q->tail)
        *item_link(q->tail) = first;
    else
        q->head = first;
    q->tail = last;
    filch_store_relaxed(&q->count, q->count + n); /* order: [J2] */
    lock_release(&q->lock);
}

static inline void inject_push(struct inject *q, work_item it)
{
    inject_push_chain(q, it, it, 1);
}

/* Takes up to max items, oldest first; returns how many. */
static inline size_t inject_take(struct inject *q, work_item *out, size_t max)
{
    if (inject_count(q) == 0)
        return 0;
    lock_acquire(&q->lock);
    size_t n = 0;
    while (n < max && q->head) {
        work_item it = q->head;
        q->head = *item_link(it);
        out[n++] = it;
    }
    if (!q->head)
        q->tail = 0;
    filch_store_relaxed(&q->count, q->count - n); /* order: a hint */
    lock_release(&q->lock);
    return n;
}

#endif
