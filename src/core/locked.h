/* locked.h: the queue that the others are compared with: a growing deque under a lock.
 *
 * Used as one shared queue, as private queues, and as deques to steal from with or without waiting
 * for the lock. Any thread may call anything but init and destroy.
 *
 * Shared fields: all but `lock` and `count` are touched under the lock only. `count` is written
 * under the lock and read by anyone as a guess, so that nobody takes the lock of an empty queue.
 * The lock's pair is [K1] in lock.h.
 */
#ifndef FILCH_CORE_LOCKED_H
#define FILCH_CORE_LOCKED_H

#include "policy/choice.h"
#include "core/lock.h"

#include <stddef.h>

struct locked {
    uint32_t lock;
    size_t count;
    size_t oldest; /* index of the oldest item */
    size_t mask;   /* capacity - 1 */
    uintptr_t *slot;
};

enum locked_end { LOCKED_OLDEST, LOCKED_NEWEST };
enum locked_wait { LOCKED_BLOCK, LOCKED_TRY };

/* Room for `capacity` items at first (rounded up to a power of two). Returns 0 or -ENOMEM. */
int locked_init(struct locked *q, size_t capacity);
void locked_destroy(struct locked *q);

/* Append one, or n in order (all or none). Return 0, or -ENOMEM with nothing changed. */
int locked_push(struct locked *q, uintptr_t item);
int locked_push_many(struct locked *q, const uintptr_t *items, size_t n);

/* Takes the item at one end, waiting for the lock: 1, or 0 if there is none. */
int locked_pop(struct locked *q, enum locked_end end, uintptr_t *item);

/* The same for a thief: with LOCKED_TRY a held lock is not waited for: -EBUSY. */
int locked_steal(struct locked *q, enum locked_end end, enum locked_wait wait, uintptr_t *item);

/* Takes the share `how`, at most `max`, from one end on into `out`. Returns how many or -EBUSY. */
int locked_steal_many(struct locked *q, enum locked_end end, enum locked_wait wait,
                      enum filch_steal how, uintptr_t *out, size_t max);

/* Number of items: a guess while others are at it. */
static inline size_t locked_size(const struct locked *q)
{
    return filch_load_relaxed(&q->count); /* order: relaxed, a guess */
}

#endif
