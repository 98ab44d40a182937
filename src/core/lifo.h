/* lifo.h: the bounded queue of a worker when the owner shall take its newest item and thieves the
 * oldest: a deque of fixed size. The growing one is filch/deque.h.
 *
 * Who may call what: the owner lifo_push, lifo_push_many, lifo_pop, lifo_push_batch_out, lifo_room,
 * and lifo_steal with its queue as `thief`; anybody lifo_size and lifo_steal from another's.
 *
 * Shared fields
 *   field   written by             read by    invariant
 *   top     CAS, owner + thieves   all        never falls; items below it are taken
 *   bottom  owner                  all        next free index; bottom <= top + capacity
 *   slots   owner                  all        index i is at i mod capacity
 *   seen    owner                  owner      a value top once had; bottom - seen <= capacity
 *
 * Pairs, and what breaks without each
 *   [L1] release store of bottom -> acquire load of bottom in steal: a thief would get a job whose
 *        contents are not there yet. All stores of bottom are release, those of pop as well.
 *   [L2] pop stores bottom, fence, loads top; steal loads top, fence, loads bottom: without either
 *        fence one item is taken twice.
 *   [L3] CAS on top: an index is claimed once. seq_cst, so that C11 orders it with the fences of
 *        [L2].
 *   [L4] release in the CAS of a steal -> acquire load of top in lifo_free: the owner would
 *        overwrite a slot that the thief is still to read.
 *
 * Why it is right: as for a LIFO deque, argued at the head of filch/deque.h. In short: the owner
 * takes index b without CAS only if it saw top < b after storing bottom = b, and then by [L2] no
 * thief that could claim b sees bottom > b. Hence a thief claims one index per CAS: a CAS over
 * several would not notice the owner taking from the other end. The OWNER may move top by several
 * with one CAS (lifo_push_batch_out): it is not popping meanwhile, and all others claim by CAS.
 */
#ifndef FILCH_CORE_LIFO_H
#define FILCH_CORE_LIFO_H

#include "policy/choice.h"

#include <filch/ord.h>
#include <stdbool.h>

enum { LIFO_LOST = -1 }; /* another taker was faster */

struct lifo {
    uint64_t top;
    char apart[120]; /* thieves hammer top: keep it off the owner's cache line and its neighbour */
    uint64_t bottom;
    uint64_t seen;
    uint64_t mask;   /* constant */
    uintptr_t *slot; /* constant */
    char end[32];
};

/* As ring_init. */
static inline void lifo_init(struct lifo *q, uintptr_t *slot, uint32_t capacity, uint64_t start)
{
    /* order: relaxed, nobody else knows the queue yet */
    filch_store_relaxed(&q->top, start);
    filch_store_relaxed(&q->bottom, start);
    q->seen = start;
    q->mask = capacity - 1;
    q->slot = slot;
}

/* Number of items; to others than the owner, and while thieves are about, a guess. */
static inline uint32_t lifo_size(const struct lifo *q)
{
    /* order: relaxed, a guess; the two may be from different moments */
    uint64_t t = filch_load_relaxed(&q->top);
    uint64_t n = filch_load_relaxed(&q->bottom) - t;
    if ((int64_t)n < 0)
        return 0;
    return n > q->mask ? (uint32_t)q->mask + 1 : (uint32_t)n;
}

/* Free slots from index b, the bottom, on. Looks at top only if fewer than `want` are known. */
static inline uint64_t lifo_free(struct lifo *q, uint64_t b, uint64_t want)
{
    if (q->mask + 1 - (b - q->seen) < want)
        q->seen = filch_load_acquire(&q->top); /* order: [L4] */
    return q->mask + 1 - (b - q->seen);
}

/* At least so many pushes will succeed. */
static inline uint32_t lifo_room(struct lifo *q)
{
    uint64_t b = filch_load_relaxed(&q->bottom); /* order: relaxed, own word */
    return (uint32_t)lifo_free(q, b, q->mask + 1);
}

/* As many as there is room for, in order; returns how many. */
static inline uint32_t lifo_push_many(struct lifo *q, const uintptr_t *items, uint32_t n)
{
    uint64_t b = filch_load_relaxed(&q->bottom); /* order: relaxed, own word */
    uint64_t room = lifo_free(q, b, n);
    if (n > room)
        n = (uint32_t)room;
    for (uint32_t i = 0; i < n; i++)
        filch_store_relaxed(&q->slot[(b + i) & q->mask], items[i]); /* order: published by [L1] */
    filch_store_release(&q->bottom, b + n);                         /* order: [L1] */
    return n;
}

/* False when full. */
static inline bool lifo_push(struct lifo *q, uintptr_t item)
{
    uint64_t b = filch_load_relaxed(&q->bottom); /* order: relaxed, own word */
    if (lifo_free(q, b, 1) == 0)
        return false;
    filch_store_relaxed(&q->slot[b & q->mask], item); /* order: published by [L1] */
    filch_store_release(&q->bottom, b + 1);           /* order: [L1] */
    return true;
}

/* The newest item; false when empty. */
static inline bool lifo_pop(struct lifo *q, uintptr_t *item)
{
    uint64_t b = filch_load_relaxed(&q->bottom) - 1; /* order: relaxed, own word */
    filch_store_release(&q->bottom, b);              /* order: [L1] */
    filch_fence_seq_cst();                 /* order: [L2] bottom is stored before top is loaded */
    uint64_t t = filch_load_relaxed(&q->top); /* order: [L2] by the fence */
    int64_t others = (int64_t)(b - t);
    bool won = others >= 0;
    if (won)
        *item = filch_load_relaxed(&q->slot[b & q->mask]); /* order: relaxed, own word */
    if (others > 0)
        return true;
    if (won)
        won = filch_cas_seq_cst(&q->top, &t, t + 1); /* order: [L3] the last item */
    filch_store_release(&q->bottom, b + 1);          /* order: [L1] */
    return won;
}

/* For a full queue: the owner takes the older half out, at most `max`, to hand it on elsewhere.
 * Returns how many: 0 if there are fewer than two items or thieves were faster. */
static inline uint32_t lifo_push_batch_out(struct lifo *q, uintptr_t *out, uint32_t max)
{
    uint64_t b = filch_load_relaxed(&q->bottom); /* order: relaxed, own word */
    uint64_t t = filch_load_relaxed(&q->top);    /* order: relaxed, the CAS decides */
    uint64_t n = (b - t) / 2;
    if (n > max)
        n = max;
    for (uint64_t i = 0; i < n; i++)
        out[i] = filch_load_relaxed(&q->slot[(t + i) & q->mask]); /* order: relaxed, own word */
    return n > 0 && filch_cas_seq_cst(&q->top, &t, t + n) ? (uint32_t)n : 0; /* order: [L3] */
}

/* The oldest item: 1, 0 if there is none, or LIFO_LOST. */
static inline int lifo_steal_one(struct lifo *victim, uintptr_t *item)
{
    uint64_t t = filch_load_acquire(&victim->top);    /* order: [L2] after other takers' CAS */
    filch_fence_seq_cst();                            /* order: [L2] top is loaded before bottom */
    uint64_t b = filch_load_acquire(&victim->bottom); /* order: [L1] */
    if ((int64_t)(b - t) <= 0)
        return 0;
    /* order: relaxed, worthless unless the CAS succeeds */
    uintptr_t oldest = filch_load_relaxed(&victim->slot[t & victim->mask]);
    if (!filch_cas_seq_cst(&victim->top, &t, t + 1)) /* order: [L3][L4] */
        return LIFO_LOST;
    *item = oldest;
    return 1;
}

/* Takes the share `how` of the victim's items one by one: the oldest into `first`, the others into
 * `thief`, which the caller owns; never more than fit, and fewer if somebody interferes. Null
 * thief: one item. Returns how many, `first` included; 0 if there is nothing; LIFO_LOST if
 * another taker was faster. */
static inline int lifo_steal(struct lifo *victim, struct lifo *thief, enum filch_steal how,
                             uintptr_t *first)
{
    uint64_t n = choice_amount(how, lifo_size(victim));
    uint64_t room = thief && n > 1 ? lifo_room(thief) : 0;
    if (n > room + 1)
        n = room + 1;
    int found = n > 0 ? lifo_steal_one(victim, first) : 0;
    if (found != 1)
        return found;
    uintptr_t item;
    while (found < (int)n && lifo_steal_one(victim, &item) == 1) {
        (void)lifo_push(thief, item); /* there is room */
        found++;
    }
    return found;
}

#endif
