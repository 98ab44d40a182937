/* ring.h: the bounded queue of a worker: the owner pushes and pops at its own pace, a thief takes
 * half of it with one CAS.
 *
 * Who may call what: the owner ring_push, ring_push_many, ring_pop, ring_push_batch_out, ring_room,
 * and ring_steal with its ring as `thief`; anybody ring_size and ring_steal from another's.
 *
 * Shared fields
 *   field   written by             read by    invariant
 *   head    CAS, owner + thieves   all        never falls; items below it are taken
 *   tail    owner                  all        never falls; head <= tail <= head + capacity
 *   slots   owner                  all        index i is at i mod capacity
 *   seen    owner                  owner      a value head once had; tail - seen <= capacity
 *
 * Pairs, and what breaks without each
 *   [R1] release store of tail -> acquire load of tail in steal: a thief would copy slots, or run
 *        jobs, whose contents are not there yet.
 *   [R2] release in the CAS of a steal -> acquire load of head in ring_free: the owner would
 *        overwrite a slot before the thief has copied it.
 *
 * Why it is right. Every taker moves head by CAS, and head only grows: a CAS from h to h + n claims
 * these n indexes once and for all, and it succeeds only if head was h ever since it was read. A
 * thief copies BEFORE its CAS. A copied word can be wrong in one way only: the owner has put index
 * i + capacity there. For that it must have seen head > i >= h, a value that only a CAS after ours
 * in the order of head can have written, and [R2] then orders our copy before its store: so if our
 * CAS succeeds the copy is good, and if it fails the copy is thrown away (it stands above the
 * thief's own tail, where nobody looks). The words are relaxed atomics, so that reading a wrong one
 * is not undefined. Nobody takes around head, so no store-load fence is needed.
 *
 * The counters are 64-bit. With 32 bits a thief that sleeps between its copy and its CAS while
 * exactly 2^32 items pass (half a minute) would succeed with a stale copy; 2^64 is out of reach.
 * Differences are taken modulo 2^64, so where the counters start does not matter.
 * Rejected: claim first and copy afterwards, with two packed heads. It needs two CASes, makes one
 * thief wait for another, and a thief that sleeps in the middle keeps the slots from the owner.
 */
#ifndef FILCH_CORE_RING_H
#define FILCH_CORE_RING_H

#include "policy/choice.h"

#include <filch/ord.h>
#include <stdbool.h>

enum {
    RING_CAPACITY = 256, /* unless configured */
    RING_CAPACITY_MIN = 2,
    RING_CAPACITY_MAX = 65536,
    RING_LOST = -1, /* another taker was faster */
};

struct ring {
    uint64_t head;
    char apart[120]; /* thieves hammer head: keep it off the owner's cache line and its neighbour */
    uint64_t tail;
    uint64_t seen;
    uint64_t mask;   /* constant */
    uintptr_t *slot; /* constant */
    char end[32];
};

/* `slot` has room for `capacity` items, a power of two, and stays the caller's. The counters
 * start at `start`: 0, or near a wrap in tests. */
static inline void ring_init(struct ring *r, uintptr_t *slot, uint32_t capacity, uint64_t start)
{
    /* order: relaxed, nobody else knows the ring yet */
    filch_store_relaxed(&r->head, start);
    filch_store_relaxed(&r->tail, start);
    r->seen = start;
    r->mask = capacity - 1;
    r->slot = slot;
}

/* Number of items; to others than the owner, and while thieves are about, a guess. */
static inline uint32_t ring_size(const struct ring *r)
{
    /* order: relaxed, a guess; the two may be from different moments */
    uint64_t h = filch_load_relaxed(&r->head);
    uint64_t n = filch_load_relaxed(&r->tail) - h;
    if ((int64_t)n < 0)
        return 0;
    return n > r->mask ? (uint32_t)r->mask + 1 : (uint32_t)n;
}

/* Free slots from index t, the tail, on. Looks at head only if fewer than `want` are known. */
static inline uint64_t ring_free(struct ring *r, uint64_t t, uint64_t want)
{
    if (r->mask + 1 - (t - r->seen) < want)
        r->seen = filch_load_acquire(&r->head); /* order: [R2] */
    return r->mask + 1 - (t - r->seen);
}

/* At least so many pushes will succeed. */
static inline uint32_t ring_room(struct ring *r)
{
    uint64_t t = filch_load_relaxed(&r->tail); /* order: relaxed, own word */
    return (uint32_t)ring_free(r, t, r->mask + 1);
}

/* As many as there is room for, oldest first; returns how many. */
static inline uint32_t ring_push_many(struct ring *r, const uintptr_t *items, uint32_t n)
{
    uint64_t t = filch_load_relaxed(&r->tail); /* order: relaxed, own word */
    uint64_t room = ring_free(r, t, n);
    if (n > room)
        n = (uint32_t)room;
    for (uint32_t i = 0; i < n; i++)
        filch_store_relaxed(&r->slot[(t + i) & r->mask], items[i]); /* order: published by [R1] */
    filch_store_release(&r->tail, t + n);                           /* order: [R1] */
    return n;
}

/* False when full. */
static inline bool ring_push(struct ring *r, uintptr_t item)
{
    uint64_t t = filch_load_relaxed(&r->tail); /* order: relaxed, own word */
    if (ring_free(r, t, 1) == 0)
        return false;
    filch_store_relaxed(&r->slot[t & r->mask], item); /* order: published by [R1] */
    filch_store_release(&r->tail, t + 1);             /* order: [R1] */
    return true;
}

/* The oldest item; false when empty. */
static inline bool ring_pop(struct ring *r, uintptr_t *item)
{
    uint64_t t = filch_load_relaxed(&r->tail); /* order: relaxed, own word */
    uint64_t h = filch_load_relaxed(&r->head); /* order: relaxed, the CAS decides */
    while (h != t) {
        *item = filch_load_relaxed(&r->slot[h & r->mask]); /* order: relaxed, own word */
        /* order: relaxed, we reuse the slot ourselves */
        if (filch_cas_relaxed(&r->head, &h, h + 1))
            return true;
    }
    return false;
}

/* The same for an owner whom nobody steals from. */
static inline bool ring_pop_alone(struct ring *r, uintptr_t *item)
{
    uint64_t h = filch_load_relaxed(&r->head); /* order: relaxed, own word */
    if (h == filch_load_relaxed(&r->tail)) /* order: relaxed, own word */
        return false;
    *item = filch_load_relaxed(&r->slot[h & r->mask]); /* order: relaxed, own word */
    filch_store_relaxed(&r->head, h + 1); /* order: relaxed, others read a guess */
    return true;
}

/* For a full ring: the owner takes the older half out, at most `max`, to hand it on elsewhere.
 * Returns how many: 0 if the ring has fewer than two items or thieves were faster; then there is
 * room again. */
static inline uint32_t ring_push_batch_out(struct ring *r, uintptr_t *out, uint32_t max)
{
    uint64_t t = filch_load_relaxed(&r->tail); /* order: relaxed, own word */
    uint64_t h = filch_load_relaxed(&r->head); /* order: relaxed, the CAS decides */
    uint64_t n = (t - h) / 2;
    if (n > max)
        n = max;
    for (uint64_t i = 0; i < n; i++)
        out[i] = filch_load_relaxed(&r->slot[(h + i) & r->mask]); /* order: relaxed, own word */
    /* order: relaxed, we reuse the slots ourselves */
    return n > 0 && filch_cas_relaxed(&r->head, &h, h + n) ? (uint32_t)n : 0;
}

/* Copies n items from index h of `victim` to just above the tail of `thief`. */
static inline void ring_copy(const struct ring *victim, uint64_t h, struct ring *thief, uint64_t t,
                             uint64_t n)
{
    /* Locals, because the stores to slots might change the fields for all the compiler knows. */
    const uintptr_t *from = victim->slot;
    uintptr_t *to = thief->slot;
    uint64_t from_mask = victim->mask, to_mask = thief->mask;
    for (uint64_t i = 0; i < n; i++) {
        /* order: relaxed, worthless unless the CAS succeeds; published by [R1] */
        uintptr_t item = filch_load_relaxed(&from[(h + i) & from_mask]);
        filch_store_relaxed(&to[(t + i) & to_mask], item);
    }
}

/* Takes the share `how` of the victim's items: the oldest into `first`, the others into `thief`,
 * which the caller owns, in order; never more than fit. Null thief: one item. Returns how many,
 * `first` included; 0 if there is nothing to take; RING_LOST if another taker was faster. */
static inline int ring_steal(struct ring *victim, struct ring *thief, enum filch_steal how,
                             uintptr_t *first)
{
    uint64_t h = filch_load_relaxed(&victim->head); /* order: relaxed, the CAS decides */
    uint64_t n = filch_load_acquire(&victim->tail) - h; /* order: [R1] */
    if ((int64_t)n <= 0)
        return 0;
    if (n > victim->mask + 1)
        return RING_LOST; /* h is old: the CAS would fail */
    n = choice_amount(how, n);
    if (n == 0)
        return 0;
    uint64_t t = thief ? filch_load_relaxed(&thief->tail) : 0; /* order: relaxed, own word */
    uint64_t room = thief ? ring_free(thief, t, n - 1) : 0;
    if (n > room + 1)
        n = room + 1;
    /* order: relaxed, worthless unless the CAS succeeds */
    uintptr_t oldest = filch_load_relaxed(&victim->slot[h & victim->mask]);
    if (n > 1)
        ring_copy(victim, h + 1, thief, t, n - 1);
    if (!filch_cas_release(&victim->head, &h, h + n)) /* order: [R2] */
        return RING_LOST;
    if (n > 1)
        filch_store_release(&thief->tail, t + n - 1); /* order: [R1] */
    *first = oldest;
    return (int)n;
}

#endif
