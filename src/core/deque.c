/* deque.c: the cold half of filch/deque.h: create, grow, destroy, batches.
 * The shared fields, the pairs [D1]..[D5] and the argument are at the head of that file. */
#define FILCH_DEQUE_INLINE FILCH_API
#include <filch/deque.h>

#include "core/report.h"
#include "os/os.h"

#include <limits.h>

enum { DEQUE_CAPACITY = 64, DEQUE_DEAD = 0xdead };

void filch_misuse_deque(const char *call)
{
    report_misuse(call, "null argument, or a deque that was destroyed");
}

static void deque_check(const filch_deque *d, const char *call)
{
    FILCH_DEQUE_CHECK(d && (unsigned)d->order <= FILCH_DEQUE_FIFO, call);
}

static struct filch_deque_buffer *deque_buffer_new(uint64_t capacity)
{
    struct filch_deque_buffer *buffer = os_alloc(sizeof *buffer + capacity * sizeof(void *));
    if (buffer)
        buffer->mask = capacity - 1;
    return buffer;
}

/* The smallest power of two from `least` on that holds `n`; 0 if memory cannot be that large. */
static uint64_t deque_capacity_for(uint64_t least, uint64_t n)
{
    uint64_t limit = SIZE_MAX / 4 / sizeof(void *);
    uint64_t capacity = least;
    while (capacity < n && capacity < limit)
        capacity *= 2;
    return capacity < limit ? capacity : 0;
}

int filch_deque_create(filch_deque **out, enum filch_deque_order order, size_t capacity)
{
    FILCH_DEQUE_CHECK(out, "filch_deque_create");
    if (order != FILCH_DEQUE_LIFO && order != FILCH_DEQUE_FIFO)
        return -EINVAL;
    uint64_t slots = deque_capacity_for(1, capacity ? capacity : DEQUE_CAPACITY);
    filch_deque *d = slots ? os_alloc(sizeof *d) : NULL;
    if (!d)
        return -ENOMEM;
    struct filch_deque_buffer *buffer = deque_buffer_new(slots);
    if (!buffer) {
        os_free(d);
        return -ENOMEM;
    }
    d->order = order;
    filch_store_relaxed(&d->buffer, buffer); /* order: relaxed, nobody else knows the deque yet */
    *out = d;
    return 0;
}

/* Whoever still has a pointer finds no order, and as an owner no room. */
static void deque_mark_dead(filch_deque *d)
{
    static struct filch_deque_buffer none; /* no room: mask 0, and bottom one past what was seen */
    d->order = (enum filch_deque_order)DEQUE_DEAD;
    filch_store_relaxed(&d->buffer, &none);       /* order: we are alone */
    d->seen = filch_load_relaxed(&d->bottom) - 1; /* order: we are alone */
}

void filch_deque_destroy(filch_deque *d)
{
    if (!d)
        return;
    deque_check(d, "filch_deque_destroy");
    struct filch_deque_buffer *buffer = filch_load_relaxed(&d->buffer); /* order: we are alone */
    while (buffer) {
        struct filch_deque_buffer *older = buffer->older;
        os_free(buffer);
        buffer = older;
    }
    deque_mark_dead(d);
    os_free(d);
}

void filch_deque_start_at(filch_deque *d, uint64_t index)
{
    deque_check(d, "filch_deque_start_at");
    if (filch_deque_size(d) > 0)
        report_misuse("filch_deque_start_at", "the deque is not empty");
    /* order: relaxed, nobody else uses the deque */
    filch_store_relaxed(&d->top, index);
    filch_store_relaxed(&d->bottom, index);
    d->seen = index;
}

/* Old buffers are kept: a thief may be about to read one. Together they are smaller than the
 * newest, so this costs at most as much again. */
static int deque_grow(filch_deque *d, uint64_t t, uint64_t b, uint64_t need)
{
    struct filch_deque_buffer *old = filch_load_relaxed(&d->buffer); /* order: own word */
    uint64_t capacity = deque_capacity_for(old->mask + 1, need);
    struct filch_deque_buffer *new = capacity ? deque_buffer_new(capacity) : NULL;
    if (!new)
        return -ENOMEM;
    for (uint64_t i = t; i != b; i++) {
        /* order: relaxed, the old slots are ours, the new ones are published by [D5] */
        void *item = filch_load_relaxed(filch_deque_slot(old, i));
        filch_store_relaxed(filch_deque_slot(new, i), item);
    }
    new->older = old;
    filch_store_release(&d->buffer, new); /* order: [D5] */
    return 0;
}

int filch_deque_reserve(filch_deque *d, size_t n)
{
    deque_check(d, "filch_deque_reserve");
    uint64_t b = filch_load_relaxed(&d->bottom); /* order: relaxed, own word */
    uint64_t t = filch_load_acquire(&d->top);    /* order: [D4] */
    uint64_t capacity = filch_load_relaxed(&d->buffer)->mask + 1; /* order: relaxed, own word */
    uint64_t used = b - t;
    d->seen = t;
    if (n <= capacity - used)
        return 0;
    if (n > SIZE_MAX - used)
        return -ENOMEM;
    return deque_grow(d, t, b, used + n);
}

/* ---- batches ------------------------------------------------------------------------------ */

/* How many of `n` can be appended to `thief`; grows it if possible. */
static size_t deque_room_for(filch_deque *thief, size_t n)
{
    if (filch_deque_reserve(thief, n) == 0)
        return n;
    uint64_t used = filch_load_relaxed(&thief->bottom) - thief->seen; /* order: own word */
    return (size_t)(filch_load_relaxed(&thief->buffer)->mask + 1 - used);
}

/* The owner of a FIFO deque takes by CAS on top as well, so one CAS can claim many. */
static int deque_batch_fifo(filch_deque *victim, filch_deque *thief, size_t max, uint64_t round)
{
    uint64_t t = filch_load_relaxed(&victim->top);    /* order: relaxed, the CAS decides */
    uint64_t b = filch_load_acquire(&victim->bottom); /* order: [D1] */
    if ((int64_t)(b - t) <= 0)
        return 0;
    struct filch_deque_buffer *from = filch_load_acquire(&victim->buffer); /* order: [D5] */
    if (b - t > from->mask + 1)
        return -EAGAIN; /* t is old: the CAS would fail */
    uint64_t half = (b - t + round) / 2;
    size_t n = half < max ? (size_t)half : max;
    if (n == 0)
        return 0;
    n = deque_room_for(thief, n);
    if (n == 0)
        return -ENOMEM;
    uint64_t at = filch_load_relaxed(&thief->bottom);                   /* order: own word */
    struct filch_deque_buffer *to = filch_load_relaxed(&thief->buffer); /* order: own word */
    for (size_t i = 0; i < n; i++) {
        /* order: relaxed, worthless unless the CAS succeeds; published by [D1] */
        void *item = filch_load_relaxed(filch_deque_slot(from, t + i));
        filch_store_relaxed(filch_deque_slot(to, at + i), item);
    }
    if (!filch_cas_release(&victim->top, &t, t + n)) /* order: [D4] */
        return -EAGAIN;
    filch_store_release(&thief->bottom, at + n); /* order: [D1] */
    return (int)n;
}

/* The owner of a LIFO deque takes without touching top: each item has to be claimed alone. */
static int deque_batch_lifo(filch_deque *victim, filch_deque *thief, size_t max, size_t round)
{
    size_t half = (filch_deque_size(victim) + round) / 2;
    size_t n = half < max ? half : max;
    if (n == 0)
        return 0;
    n = deque_room_for(thief, n);
    if (n == 0)
        return -ENOMEM;
    size_t taken = 0;
    int found = 1;
    for (; taken < n; taken++) {
        void *item;
        found = filch_deque_steal(victim, &item);
        if (found != 1)
            break;
        (void)filch_deque_push(thief, item); /* there is room */
    }
    return taken ? (int)taken : found;
}

static int deque_batch(filch_deque *victim, filch_deque *thief, size_t max, size_t round,
                       const char *call)
{
    deque_check(victim, call);
    deque_check(thief, call);
    if (victim == thief)
        report_misuse(call, "a deque cannot steal from itself; use pop");
    if (max > INT_MAX)
        max = INT_MAX;
    return victim->order == FILCH_DEQUE_LIFO ? deque_batch_lifo(victim, thief, max, round)
                                             : deque_batch_fifo(victim, thief, max, round);
}

int filch_deque_steal_batch(filch_deque *victim, filch_deque *thief, size_t max)
{
    return deque_batch(victim, thief, max, 1, "filch_deque_steal_batch");
}

int filch_deque_steal_floor(filch_deque *victim, filch_deque *thief, size_t max)
{
    return deque_batch(victim, thief, max, 0, "filch_deque_steal_floor");
}
