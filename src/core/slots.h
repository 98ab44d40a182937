/* slots.h: job slots, the queue of fork-join.
 *
 * Each fiber owns an array of slots. Its code forks by filling the slot at its head and joins by
 * clearing it (filch/forkjoin.h, inlined into user code). Thieves take the oldest job, slot `top`.
 *
 *      first         top            open           head (in a register of the owner)
 *        | stolen ... | public ...... | private ..... | free ................ guard page
 *
 * | field      | writer                    | reader            | invariant                      |
 * |------------|---------------------------|-------------------|--------------------------------|
 * | slot.fn    | owner                     | owner, thieves    | not null in [slots, head),     |
 * |            |                           |                   | null from head on              |
 * | slot.claim | lock holder               | owner, lock holder| CLAIMED below `open`, and      |
 * |            |                           |                   | while a thief is opening more  |
 * | slot.state | lock holder, thief, waiter| the same          | see join.c                     |
 * | slot.want  | lock holder               | owner             | 1 below `reach`, 0 from it on  |
 * | top        | lock holder               | anyone (a hint)   | slots below are stolen         |
 * | open       | lock holder               | lock holder       | [top, open) CLAIMED; ready, or |
 * |            |                           |                   | the owner waits for the lock   |
 * | reach      | lock holder               | lock holder       | top + SLOTS_REACH              |
 * | payload    | owner until published or taken back; the thief from its claim to DONE          |
 *
 * Pairs
 * [S1] publish: the owner's release store of fn / the thief's acquire load of fn after its claim.
 *      Without it the thief may read old arguments.
 * [S2] claim: owner `fn = null; load claim` against thief `claim = CLAIMED; load fn`. Each writes
 *      one word and then reads the other's, so both need a full barrier between. The owner has
 *      none: the thief's membarrier puts one into the owner's instruction stream at some point M.
 *      If the owner's load of claim comes before M, so does its store of fn, and the thief sees
 *      the job gone. If it comes after M, it sees the claim and goes the slow way, to the lock.
 *      A job forked into the same slot after the load is a new job: it is either seen ready by
 *      the thief, and then its join comes after M, or not seen at all.
 *      That holds for any number of slots claimed before one barrier, so a thief opens up to half
 *      of what is pending at once: what is open needs only the lock, of thieves and owner alike.
 *      Where membarrier is missing, all slots of the pool carry FENCED in `claim`: every join
 *      goes the slow way and makes the barrier itself. Where membarrier begins to fail later on
 *      (for want of memory, or a filter on system calls), nothing is taken from owners that run;
 *      what waits in suspended fibers needs no barrier (slots_steal_at_rest).
 * [S3] the lock: acquire/release. `top`, `open`, `reach`, `claim`, `state` of a claimed slot. It also
 *      keeps the lineage in place while a thief reads it: an open job ends through the lock.
 *
 * Oldest first. Only slot `top` is ever taken, and `top` moves under the lock, so a stolen job
 * has only stolen jobs below it. Hence a fiber that waits in a join leaves nothing behind that
 * anyone could run (what it forked before is stolen, what it forked later is joined).
 *
 * A thief never waits: the lock is tried once. The owner may wait for a thief's membarrier, on
 * the slow way only.
 */
#ifndef FILCH_SLOTS_H
#define FILCH_SLOTS_H

#include "core/lock.h"
#include "os/os.h"

#include <filch/forkjoin.h>
#include <stdbool.h>

#define SLOTS_REACH 6 /* bounded tasks fork this deep below the oldest pending job */
#define SLOTS_OPEN 128 /* most jobs opened by one barrier */

enum { CLAIM_FENCED = 1, CLAIMED = 2 };

/* What a fiber's job is part of: the stolen job it came from, and so on upwards. Lives on the
 * stack of the fiber that runs the job, so it is there as long as anything below it runs. */
struct lineage {
    filch_slot *slot;           /* null for a root or a submitted job */
    const struct lineage *up;
};

struct slots {
    uint32_t lock;
    uint32_t fenced;            /* CLAIM_FENCED or 0, fixed while the array is in use */
    filch_slot *top;
    filch_slot *open;
    filch_slot *reach;
    filch_slot *first;          /* fixed */
    filch_slot *end;            /* fixed: the guard page */
    filch_slot *hint;           /* owner only: the head as last seen by slots_head */
};

typedef void (*slot_fn)(filch_slot *, filch_slot *);

/* ---- states of a stolen job (slot.state): a pointer and a tag ------------------------------ */

enum {
    STATE_NONE = 0,
    STATE_STOLEN = 1,      /* | lineage of the fork: taken by a thief, not done               */
    STATE_DONE = 2,
    STATE_WAIT_FIBER = 3,  /* | fiber that is suspended until it is done                      */
    STATE_WAIT_THREAD = 4, /* | fiber whose thread sleeps until it is done                    */
    STATE_TAG = 7
};

/* In a slot's `fn` while its join waits: in use, nothing to steal. */
#define SLOT_HELD ((slot_fn)1)

static inline bool slots_stealable(slot_fn fn)
{
    return (uintptr_t)fn > (uintptr_t)SLOT_HELD;
}

/* Is there something to take? A hint: nothing is claimed. */
static inline bool slots_peek(struct slots *s)
{
    filch_slot *t = filch_load_relaxed(&s->top); /* order: a hint, checked again under the lock */
    if (!t || t >= s->end) /* null: a fiber whose memory was given back */
        return false;
    return slots_stealable(filch_load_relaxed(&t->fn)); /* order: a hint, as above */
}

/* Lock held. Makes [.., top + SLOTS_REACH) wanted and nothing else. */
static inline void slots_set_reach(struct slots *s, filch_slot *top)
{
    filch_slot *goal = s->end - top > SLOTS_REACH ? top + SLOTS_REACH : s->end;
    while (s->reach < goal) {
        filch_store_relaxed(&s->reach->want, 1); /* order: a hint to the owner */
        s->reach++;
    }
    while (s->reach > goal) {
        s->reach--;
        filch_store_relaxed(&s->reach->want, 0); /* order: a hint to the owner */
    }
}

enum slots_result { SLOTS_EMPTY, SLOTS_CONTENDED, SLOTS_LOST, SLOTS_TAKEN };

/* The expensive half of a pair whose other half is a compiler barrier, or with `fenced` a fence. */
static inline bool slots_barrier(bool fenced)
{
    if (fenced) {
        filch_fence_seq_cst(); /* order: [S2] the owner makes its own barrier */
        return true;
    }
    return os_membarrier() == 0;
}

static inline bool slots_thief_barrier(struct slots *s)
{
    return slots_barrier(s->fenced);
}

static inline bool slots_ready(filch_slot *p)
{
    return slots_stealable(filch_load_acquire(&p->fn)); /* order: [S1]; [S2] after the barrier */
}

/* Lock held. How many jobs to open: half of those pending. */
static inline size_t slots_to_open(struct slots *s)
{
    size_t n = 0;
    while (n < 2 * SLOTS_OPEN && s->open + n < s->end && slots_ready(s->open + n))
        n++;
    return (n + 1) / 2;
}

/* Lock held, nothing open: claims the oldest jobs, then finds out which are still there. */
static inline bool slots_open(struct slots *s, bool at_rest)
{
    size_t n = slots_to_open(s), there = 0;
    for (size_t i = 0; i < n; i++)
        filch_store_relaxed(&s->open[i].claim, s->fenced | CLAIMED); /* order: [S2] then barrier */
    if (n > 0 && (at_rest || slots_thief_barrier(s))) {
        while (there < n && slots_ready(s->open + there))
            there++;
    }
    for (size_t i = there; i < n; i++)
        filch_store_relaxed(&s->open[i].claim, s->fenced); /* order: [S3] */
    s->open += there;
    return there > 0;
}

/* A job that was taken: whoever has it must run it and finish it (join_finish). */
struct loot {
    filch_slot *slot;
    slot_fn fn;
    const struct lineage *up;
};

static inline bool slots_within(const struct lineage *l, const filch_slot *under)
{
    while (l && l->slot != under)
        l = l->up;
    return l != 0;
}

static inline enum slots_result slots_take(struct slots *s, const struct lineage *const *of,
                                           const filch_slot *under, bool at_rest, struct loot *out)
{
    if (!slots_peek(s))
        return SLOTS_EMPTY;
    if (!lock_try(&s->lock))
        return SLOTS_CONTENDED;
    enum slots_result result = SLOTS_LOST;
    filch_slot *t = s->top;
    if (t < s->open || slots_open(s, at_rest)) {
        /* The job cannot end without the lock, so neither can what it is part of. No function: its
         * owner is about to join it, and waits for the lock. */
        slot_fn fn = filch_load_acquire(&t->fn);           /* order: [S1] */
        const struct lineage *up = filch_load_relaxed(of); /* order: [S1] set before the fork */
        if (slots_stealable(fn) && (!under || slots_within(up, under))) {
            filch_store_relaxed(&t->state, (uintptr_t)up | STATE_STOLEN); /* order: [S3] */
            filch_store_relaxed(&s->top, t + 1);                          /* order: [S3] */
            slots_set_reach(s, t + 1);
            *out = (struct loot){t, fn, up};
            result = SLOTS_TAKEN;
        }
    }
    lock_release(&s->lock);
    return result;
}

/* Takes the oldest job if there is one. Any thread. With `under`, only if its lineage (that of
 * the victim's running job, `*of`) contains that slot. */
static inline enum slots_result slots_steal(struct slots *s, const struct lineage *const *of,
                                            const filch_slot *under, struct loot *out)
{
    return slots_take(s, of, under, false, out);
}

/* The same without a barrier, and so even where there is none to be had: by the owner itself, or
 * while a lock that the owner takes before it joins again keeps it from doing so ([S2]: the lock
 * orders its stores of fn before our loads, and our claims before its loads). */
static inline enum slots_result slots_steal_at_rest(struct slots *s, const struct lineage *const *of,
                                                    struct loot *out)
{
    return slots_take(s, of, 0, true, out);
}

/* Owner, slow way of a join, first question: is a thief at it, or was? Without membarrier every
 * join comes here. */
static inline bool slots_claimed(filch_slot *slot)
{
    filch_fence_seq_cst(); /* order: [S2] the barrier that membarrier would have made */
    return filch_load_relaxed(&slot->claim) & CLAIMED; /* order: [S2] after the fence */
}

/* Second question: was the job stolen? If not, it is private again. */
static inline bool slots_was_stolen(struct slots *s, filch_slot *slot)
{
    lock_acquire(&s->lock);
    bool stolen = s->top > slot;
    if (!stolen) {
        filch_store_relaxed(&slot->claim, s->fenced); /* order: [S3] */
        if (s->open > slot)
            s->open = slot;
    }
    lock_release(&s->lock);
    return stolen;
}

/* Owner: the stolen job is done and joined; the slot is free again. */
static inline void slots_give_back(struct slots *s, filch_slot *slot)
{
    lock_acquire(&s->lock);
    filch_store_relaxed(&slot->state, STATE_NONE);  /* order: [S3] */
    filch_store_relaxed(&slot->claim, s->fenced);   /* order: [S3] */
    filch_store_relaxed(&s->top, slot);             /* order: [S3] */
    s->open = slot;
    slots_set_reach(s, slot);
    lock_release(&s->lock);
}

/* Owner: the head, for code that does not have it in a register. The slots below it have a
 * function, those above have none, so it can be found by search; usually it is where it was. */
static inline bool slots_used(struct slots *s, filch_slot *p)
{
    return p < s->end && filch_load_relaxed(&p->fn) != 0; /* order: own writes */
}

static inline filch_slot *slots_head(struct slots *s)
{
    filch_slot *low = s->first, *high = s->hint; /* used below low, not used from high on */
    if (slots_used(s, high)) {
        ptrdiff_t step = 1;
        do {
            low = high + 1;
            high = s->end - low > step ? low + step : s->end;
            step *= 2;
        } while (slots_used(s, high));
    } else if (high > low && slots_used(s, high - 1)) {
        return high;
    }
    while (low < high) {
        filch_slot *mid = low + (high - low) / 2;
        if (slots_used(s, mid))
            low = mid + 1;
        else
            high = mid;
    }
    s->hint = low;
    return low;
}

static inline void slots_init(struct slots *s, filch_slot *first, filch_slot *end, bool fenced)
{
    s->lock = 0;
    s->fenced = fenced ? CLAIM_FENCED : 0;
    s->first = s->top = s->open = s->reach = s->hint = first;
    s->end = end;
    slots_set_reach(s, first);
}

#endif
