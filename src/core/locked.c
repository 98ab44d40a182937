/* locked.c: a growing deque under a lock; see locked.h. */
#include "core/locked.h"

#include <errno.h>
#include <limits.h>

/* The smallest power of two from `least` on that holds `n`; 0 if memory cannot be that large. */
static size_t locked_capacity_for(size_t least, size_t n)
{
    size_t limit = SIZE_MAX / 4 / sizeof(uintptr_t);
    size_t capacity = least;
    while (capacity < n && capacity < limit)
        capacity *= 2;
    return capacity < limit ? capacity : 0;
}

static uintptr_t *locked_slots_new(size_t capacity)
{
    return capacity ? os_alloc(capacity * sizeof(uintptr_t)) : NULL;
}

int locked_init(struct locked *q, size_t capacity)
{
    size_t slots = locked_capacity_for(1, capacity);
    *q = (struct locked){.slot = locked_slots_new(slots), .mask = slots - 1};
    return q->slot ? 0 : -ENOMEM;
}

void locked_destroy(struct locked *q)
{
    os_free(q->slot);
    q->slot = NULL;
}

/* The functions from here to locked_take are called with the lock held. */

static int locked_reserve(struct locked *q, size_t n)
{
    size_t count = locked_size(q);
    if (n <= q->mask + 1 - count)
        return 0;
    size_t capacity = n > SIZE_MAX - count ? 0 : locked_capacity_for(q->mask + 1, count + n);
    uintptr_t *slot = locked_slots_new(capacity);
    if (!slot)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        slot[i] = q->slot[(q->oldest + i) & q->mask];
    os_free(q->slot);
    q->slot = slot;
    q->mask = capacity - 1;
    q->oldest = 0;
    return 0;
}

static void locked_append(struct locked *q, const uintptr_t *items, size_t n)
{
    size_t count = locked_size(q);
    for (size_t i = 0; i < n; i++)
        q->slot[(q->oldest + count + i) & q->mask] = items[i];
    filch_store_relaxed(&q->count, count + n); /* order: relaxed, the lock orders it */
}

static uintptr_t locked_take_one(struct locked *q, enum locked_end end)
{
    size_t count = locked_size(q);
    size_t index = end == LOCKED_OLDEST ? q->oldest++ : q->oldest + count - 1;
    filch_store_relaxed(&q->count, count - 1); /* order: relaxed, the lock orders it */
    return q->slot[index & q->mask];
}

static int locked_take(struct locked *q, enum locked_end end, size_t n, uintptr_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = locked_take_one(q, end);
    return (int)n;
}

int locked_push_many(struct locked *q, const uintptr_t *items, size_t n)
{
    lock_acquire(&q->lock);
    int error = locked_reserve(q, n);
    if (!error)
        locked_append(q, items, n);
    lock_release(&q->lock);
    return error;
}

int locked_push(struct locked *q, uintptr_t item)
{
    return locked_push_many(q, &item, 1);
}

int locked_steal_many(struct locked *q, enum locked_end end, enum locked_wait wait,
                      enum filch_steal how, uintptr_t *out, size_t max)
{
    if (locked_size(q) == 0)
        return 0;
    if (wait == LOCKED_BLOCK)
        lock_acquire(&q->lock);
    else if (!lock_try(&q->lock))
        return -EBUSY;
    size_t n = (size_t)choice_amount(how, locked_size(q));
    if (n > max)
        n = max;
    if (n > INT_MAX)
        n = INT_MAX;
    int taken = locked_take(q, end, n, out);
    lock_release(&q->lock);
    return taken;
}

int locked_steal(struct locked *q, enum locked_end end, enum locked_wait wait, uintptr_t *item)
{
    return locked_steal_many(q, end, wait, FILCH_STEAL_ONE, item, 1);
}

int locked_pop(struct locked *q, enum locked_end end, uintptr_t *item)
{
    return locked_steal(q, end, LOCKED_BLOCK, item);
}
