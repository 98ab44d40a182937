/* inject.h: a list that any thread may push to and take from.
 *
 * The pool's injector (jobs from outside, overflow) and each worker's inbox. A locked intrusive
 * list: it cannot fail for lack of memory, and is taken in batches. `count` lets everyone else
 * see without the lock that there is nothing.
 *
 * What comes in bulk comes in crates: an array that stands in the list as one item. Whoever takes from
 * it need not look at the items themselves, which have left the cache by then. Without memory for a crate
 * they are linked one by one.
 *
 * | field       | writer      | reader          | invariant                                    |
 * | head, tail  | lock holder | lock holder     | a list linked through the items and crates   |
 * | count       | lock holder | anyone (a hint) | items in it when the lock is free            |
 * | crate.from  | lock holder | lock holder     | items before it are taken; some are left     |
 *
 * [J1] The lock's acquire/release hands over what the submitter wrote into the job.
 * [J2] push: count is stored before the pusher's fence and look at the sleepers (idle.c [I1]).
 */
#ifndef FILCH_INJECT_H
#define FILCH_INJECT_H

#include "core/item.h"

#include <string.h>

struct inject {
    uint32_t lock;
    uint32_t pad;
    size_t count;
    work_item head, tail;
};

enum { CRATE = 128 };

struct crate {
    uintptr_t link;
    uint32_t from, to;
    work_item item[CRATE];
};

#define ITEM_CRATE ((uintptr_t)4)

static inline struct crate *inject_crate(work_item it)
{
    return (it & ITEM_TAG) == ITEM_CRATE ? (struct crate *)(it & ~ITEM_TAG) : 0;
}

static inline uintptr_t *inject_link(work_item it)
{
    return inject_crate(it) ? &inject_crate(it)->link : item_link(it);
}

static inline size_t inject_count(struct inject *q)
{
    return filch_load_relaxed(&q->count); /* order: a hint; sleepers look after their fence [I1] */
}

/* Appends a chain with n items in it. */
static inline void inject_push_chain(struct inject *q, work_item first, work_item last, size_t n)
{
    *inject_link(last) = 0;
    lock_acquire(&q->lock);
    if (q->tail)
        *inject_link(q->tail) = first;
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

/* Appends up to CRATE items at once. */
static inline void inject_push_many(struct inject *q, const work_item *items, size_t n)
{
    struct crate *c = n > 1 ? os_alloc(sizeof *c) : 0;
    work_item first = items[0], last = items[n - 1];
    if (c) {
        c->to = (uint32_t)n;
        memcpy(c->item, items, n * sizeof *items);
        first = last = (uintptr_t)c | ITEM_CRATE;
    }
    for (size_t i = 0; !c && i + 1 < n; i++)
        *item_link(items[i]) = items[i + 1];
    inject_push_chain(q, first, last, n);
}

/* Lock held: some of a crate's items. */
static inline size_t crate_take(struct crate *c, work_item *out, size_t max)
{
    size_t n = c->to - c->from < max ? c->to - c->from : max;
    memcpy(out, c->item + c->from, n * sizeof *out);
    c->from += (uint32_t)n;
    return n;
}

/* Takes up to max items, oldest first; returns how many. */
static inline size_t inject_take(struct inject *q, work_item *out, size_t max)
{
    struct crate *empty = 0;
    if (inject_count(q) == 0)
        return 0;
    lock_acquire(&q->lock);
    size_t n = 0;
    while (n < max && q->head) {
        work_item it = q->head;
        struct crate *c = inject_crate(it);
        if (c)
            n += crate_take(c, out + n, max - n);
        else
            out[n++] = it;
        if (c && c->from < c->to)
            break;
        q->head = *inject_link(it);
        if (c) {
            c->link = (uintptr_t)empty;
            empty = c;
        }
    }
    if (!q->head)
        q->tail = 0;
    filch_store_relaxed(&q->count, q->count - n); /* order: a hint */
    lock_release(&q->lock);
    while (empty) {
        struct crate *next = (struct crate *)empty->link;
        os_free(empty);
        empty = next;
    }
    return n;
}

#endif
