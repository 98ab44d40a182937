/* filch/deque.h: a work-stealing deque of pointers (Chase and Lev), for use on its own.
 *
 *     filch_deque *d;
 *     if (filch_deque_create(&d, FILCH_DEQUE_LIFO, 0) == 0) ...
 *     filch_deque_push(d, work);                      its owner
 *     if (filch_deque_pop(d, &work) == 1) ...         its owner
 *     if (filch_deque_steal(d, &work) == 1) ...       anyone
 *
 * Who may call what. A deque has one owner at a time: the thread that pushes, pops and reserves.
 * Any number of other threads may steal and ask for the size meanwhile; the owner may as well.
 * Ownership may move to another thread if the hand-over synchronises (a lock, a join). Create and
 * destroy are for one thread alone.
 *
 * Promises.
 *   - Every item pushed is returned exactly once, by one pop or one steal.
 *   - What the owner wrote before the push is visible to whoever gets the item.
 *   - Pop and steal never wait. A steal that lost against another taker says so (-EAGAIN) instead
 *     of trying again: in that moment somebody else got an item.
 *   - Only push, reserve and a batch (into the thief's deque) allocate. On failure nothing changes.
 *   - Items are any pointers, null included: whether there is one is the return value.
 *
 * Two kinds. The owner of a LIFO deque pops its newest item, thieves take the oldest: right for
 * fork-join. In a FIFO deque both take the oldest: right for fairness. The kind also decides the
 * price: a LIFO pop has a full fence and, for the last item only, a compare-and-swap; a FIFO pop
 * has a compare-and-swap and no fence. Push has neither.
 *
 * Shared fields
 *   field     written by             read by    invariant
 *   top       CAS, owner + thieves   all        never falls; items below it are taken
 *   bottom    owner                  all        next free index; FIFO: never falls
 *   buffer    owner                  all        holds [top, bottom); older ones stay until destroy
 *   slots     owner                  all        index i is at i mod capacity
 *   seen      owner                  owner      a value top once had; up to seen + capacity is free
 *
 * Pairs, and what breaks without each
 *   [D1] release store of bottom -> acquire load of bottom in steal: a thief would get an item
 *        whose contents are not there yet. All stores of bottom are release, those of pop as well:
 *        a thief that reads one of those must see the older pushes too.
 *   [D2] LIFO: pop stores bottom, fence, loads top; steal loads top, fence, loads bottom. Without
 *        either fence both may see the old value of the other: one item is taken twice.
 *   [D3] CAS on top of each taker: an index is claimed once. seq_cst in a LIFO deque, because C11
 *        orders the CAS before the fences of [D2] only then (C++20: acq_rel would do; the price is
 *        the same on x86-64 and aarch64).
 *   [D4] release in the CAS of a steal -> acquire load of top in reserve: the owner would overwrite
 *        a slot that the thief is still to read.
 *   [D5] release store of buffer -> acquire load of buffer in steal: a thief would read slots, or
 *        a capacity, that are not there yet.
 *
 * Why it is right (sketch). top only grows, by CAS, so the CAS that moves it from t decides about
 * index t once and for all. FIFO: every taker uses that CAS, and bottom only grows; a thief that
 * read t < bottom has by [D1] the item of index t or, if it was overwritten, a newer one; but the
 * owner overwrites index t only after it saw top > t [D4], and then the thief's CAS from t fails.
 * The same holds for t .. t+n-1 and one CAS from t to t+n, as no taker goes around top: so a batch
 * from a FIFO deque is one CAS. LIFO: pop takes index b without CAS if it saw top < b after having
 * stored bottom = b. Suppose a thief takes index b too: it read top = b, later bottom > b. If pop's
 * fence came first, the thief must see bottom <= b; if the thief's came first, pop must see
 * top >= b [D2][D3]: contradiction. Only for the last item, top = b, they race, and both use the
 * CAS. This is also why a batch from a LIFO deque needs one CAS for each item: one from t to t+n
 * says nothing about owners' pops of t+1 .. t+n-1, which do not touch top. Growth: the new buffer
 * holds the same items at the same indexes, the old one is not written any more, so whichever a
 * thief has read gives the item of index t if its CAS succeeds.
 * Indexes are 64-bit, compared by their signed difference: wrapping is harmless, and coming round
 * to the same value during one steal would take 2^64 pushes.
 */
#ifndef FILCH_DEQUE_H
#define FILCH_DEQUE_H

#if defined(__GNUC__)
#pragma GCC system_header /* functions both inlined and exported: GNU C on purpose */
#endif

#include <errno.h>
#include <filch/ord.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef FILCH_API
#define FILCH_API __attribute__((visibility("default")))
#endif

enum filch_deque_order {
    FILCH_DEQUE_LIFO, /* the owner pops the newest, thieves the oldest */
    FILCH_DEQUE_FIFO, /* all take the oldest                           */
};

typedef struct filch_deque filch_deque;

/* Makes an empty deque with room for `capacity` items (rounded up to a power of two; 0: 64); it
 * grows when needed. Returns 0, -EINVAL (unknown order) or -ENOMEM. Any thread. */
FILCH_API int filch_deque_create(filch_deque **out, enum filch_deque_order order, size_t capacity);

/* Frees the deque; items still in it are forgotten. Null is ignored. Nobody else may use it. A call
 * with a deque that was destroyed is reported as long as its memory is not used for something else. */
FILCH_API void filch_deque_destroy(filch_deque *d);

/* Appends an item. Returns 0, or -ENOMEM if the deque is full and cannot grow. Owner only. */
FILCH_API int filch_deque_push(filch_deque *d, void *item);

/* Takes the newest (LIFO) or oldest (FIFO) item: returns 1, or 0 if there is none. Owner only. */
FILCH_API int filch_deque_pop(filch_deque *d, void **item);

/* Takes the oldest item: returns 1, 0 if there is none, -EAGAIN if another taker was faster. */
FILCH_API int filch_deque_steal(filch_deque *d, void **item);

/* Takes ceil(n/2) of the n items there, at most `max`, oldest first, and appends them to `thief`
 * in that order. Returns how many; 0 if there is none; -EAGAIN if another taker was faster;
 * -ENOMEM if `thief` is full and cannot grow (nothing is taken). From a LIFO deque, items are taken
 * one by one, and the batch ends early when another taker interferes. The caller owns `thief`. */
FILCH_API int filch_deque_steal_batch(filch_deque *victim, filch_deque *thief, size_t max);

/* The same with floor(n/2): leaves a single item to its owner. */
FILCH_API int filch_deque_steal_floor(filch_deque *victim, filch_deque *thief, size_t max);

/* Makes room so that the next `n` pushes cannot fail. Returns 0 or -ENOMEM. Owner only. */
FILCH_API int filch_deque_reserve(filch_deque *d, size_t n);

/* Number of items: exact for the owner while nobody steals, otherwise a guess. Any thread. */
FILCH_API size_t filch_deque_size(const filch_deque *d);

/* Moves the indexes of an empty deque that nobody else uses, to test what happens at a wrap. */
FILCH_API void filch_deque_start_at(filch_deque *d, uint64_t index);

/* ---- what follows is for the compiler: inlined into the caller, so the layout is ABI -------- */

/* Reports a null argument or a deque that was destroyed. What it costs to find out is hidden: null is
 * known to the compiler or outside the loop, and `order` is read by whoever asks for it anyway. */
FILCH_API void filch_misuse_deque(const char *call) __attribute__((cold, noinline, noreturn));
#define FILCH_DEQUE_CHECK(cond, call) (__builtin_expect(!(cond), 0) ? filch_misuse_deque(call) : (void)0)

struct filch_deque_buffer { /* followed by mask + 1 slots */
    uint64_t mask;
    struct filch_deque_buffer *older;
};

struct filch_deque {
    uint64_t top;
    char apart[120]; /* thieves hammer top: keep it off the owner's cache line and its neighbour */
    uint64_t bottom;
    struct filch_deque_buffer *buffer;
    uint64_t seen;
    enum filch_deque_order order; /* constant */
    char end[64];
};

/* deque.c defines this as FILCH_API to emit the functions for callers that do not inline. */
#ifndef FILCH_DEQUE_INLINE
#define FILCH_DEQUE_INLINE extern inline __attribute__((gnu_inline))
#endif

static inline void **filch_deque_slot(struct filch_deque_buffer *buffer, uint64_t index)
{
    return (void **)(void *)(buffer + 1) + (index & buffer->mask);
}

FILCH_DEQUE_INLINE size_t filch_deque_size(const filch_deque *d)
{
    FILCH_DEQUE_CHECK(d && (unsigned)d->order <= FILCH_DEQUE_FIFO, "filch_deque_size");
    /* order: relaxed, a guess; the two may be from different moments */
    uint64_t b = filch_load_relaxed(&d->bottom);
    uint64_t t = filch_load_relaxed(&d->top);
    return (int64_t)(b - t) > 0 ? (size_t)(b - t) : 0;
}

FILCH_DEQUE_INLINE int filch_deque_push(filch_deque *d, void *item)
{
    FILCH_DEQUE_CHECK(d, "filch_deque_push");
    uint64_t b = filch_load_relaxed(&d->bottom); /* order: relaxed, own word */
    if (__builtin_expect(b - d->seen > filch_load_relaxed(&d->buffer)->mask, 0)) {
        FILCH_DEQUE_CHECK((unsigned)d->order <= FILCH_DEQUE_FIFO, "filch_deque_push"); /* full: dead? */
        int error = filch_deque_reserve(d, 1);
        if (error)
            return error;
    }
    /* order: relaxed slot and buffer, own words; a thief that reads this slot now will lose */
    filch_store_relaxed(filch_deque_slot(filch_load_relaxed(&d->buffer), b), item);
    filch_store_release(&d->bottom, b + 1); /* order: [D1] */
    return 0;
}

static inline int filch_deque_pop_newest(filch_deque *d, void **item)
{
    uint64_t b = filch_load_relaxed(&d->bottom) - 1; /* order: relaxed, own word */
    filch_store_release(&d->bottom, b);              /* order: [D1] */
    filch_fence_seq_cst();                 /* order: [D2] bottom is stored before top is loaded */
    uint64_t t = filch_load_relaxed(&d->top); /* order: [D2] by the fence */
    int64_t others = (int64_t)(b - t);
    if (others < 0) {
        filch_store_release(&d->bottom, b + 1); /* order: [D1] */
        return 0;
    }
    /* order: relaxed, own words */
    *item = filch_load_relaxed(filch_deque_slot(filch_load_relaxed(&d->buffer), b));
    if (others > 0)
        return 1;
    int won = filch_cas_seq_cst(&d->top, &t, t + 1); /* order: [D3] the last item */
    filch_store_release(&d->bottom, b + 1);          /* order: [D1] */
    return won;
}

static inline int filch_deque_pop_oldest(filch_deque *d, void **item)
{
    uint64_t b = filch_load_relaxed(&d->bottom); /* order: relaxed, own word */
    uint64_t t = filch_load_relaxed(&d->top);    /* order: relaxed, the CAS decides */
    while (t != b) {
        /* order: relaxed, own words */
        *item = filch_load_relaxed(filch_deque_slot(filch_load_relaxed(&d->buffer), t));
        if (filch_cas_relaxed(&d->top, &t, t + 1)) /* order: relaxed, we reuse the slot ourselves */
            return 1;
    }
    return 0;
}

FILCH_DEQUE_INLINE int filch_deque_pop(filch_deque *d, void **item)
{
    FILCH_DEQUE_CHECK(d && item, "filch_deque_pop");
    if (d->order == FILCH_DEQUE_LIFO)
        return filch_deque_pop_newest(d, item);
    FILCH_DEQUE_CHECK(d->order == FILCH_DEQUE_FIFO, "filch_deque_pop");
    return filch_deque_pop_oldest(d, item);
}

FILCH_DEQUE_INLINE int filch_deque_steal(filch_deque *d, void **item)
{
    FILCH_DEQUE_CHECK(d && item, "filch_deque_steal");
    uint64_t t = filch_load_acquire(&d->top); /* order: [D2] after other takers' CAS */
    if (d->order == FILCH_DEQUE_LIFO)
        filch_fence_seq_cst();                   /* order: [D2] top is loaded before bottom */
    else
        FILCH_DEQUE_CHECK(d->order == FILCH_DEQUE_FIFO, "filch_deque_steal");
    uint64_t b = filch_load_acquire(&d->bottom); /* order: [D1] */
    if ((int64_t)(b - t) <= 0)
        return 0;
    /* order: [D5]; after bottom, so that it is not older than the buffer that has index t */
    struct filch_deque_buffer *buffer = filch_load_acquire(&d->buffer);
    /* order: relaxed, worthless unless the CAS succeeds */
    void *found = filch_load_relaxed(filch_deque_slot(buffer, t));
    if (!filch_cas_seq_cst(&d->top, &t, t + 1)) /* order: [D3][D4] */
        return -EAGAIN;
    *item = found;
    return 1;
}

#ifdef __cplusplus
}
#endif
#endif /* FILCH_DEQUE_H */
