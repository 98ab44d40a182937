/* lock.h: a lock in one 32-bit word that sleeps in the kernel only when it must wait.
 *
 * The word: 0 free, 1 held, 2 held and somebody may sleep. Zeroed memory is a free lock. Blocks
 * the thread: hold it for a few instructions, never across a switch.
 *
 *   [K1] release exchange in lock_release -> acquire CAS or exchange of the next holder: the
 *        holder would not see what the last one wrote.
 *   A sleeper puts 2 before it sleeps and the kernel compares again, so a release that found 1
 *   cannot have missed a sleeper, and one that found 2 wakes one. Whoever slept takes the lock with
 *   2, as others may still sleep: at worst one wake-up too many, never one too few.
 */
#ifndef FILCH_CORE_LOCK_H
#define FILCH_CORE_LOCK_H

#include "os/os.h"

#include <filch/ord.h>
#include <stdbool.h>

enum { LOCK_FREE, LOCK_HELD, LOCK_CONTENDED, LOCK_SPINS = 128 };

static inline bool lock_try(uint32_t *word)
{
    uint32_t found = LOCK_FREE;
    return filch_cas_acquire(word, &found, (uint32_t)LOCK_HELD); /* order: [K1] */
}

__attribute__((noinline, unused)) static void lock_wait(uint32_t *word)
{
    /* Each look takes the cache line from the holder: twice as long between two of them each time. */
    for (unsigned pauses = 4; pauses <= LOCK_SPINS; pauses *= 2) {
        os_pause_for(pauses);
        /* order: relaxed, lock_try decides */
        if (filch_load_relaxed(word) == LOCK_FREE && lock_try(word))
            return;
    }
    while (filch_xchg_acquire(word, (uint32_t)LOCK_CONTENDED) != LOCK_FREE) /* order: [K1] */
        (void)os_futex_wait(word, LOCK_CONTENDED, INT64_MAX);
}

static inline void lock_acquire(uint32_t *word)
{
    if (!lock_try(word))
        lock_wait(word);
}

static inline void lock_release(uint32_t *word)
{
    if (filch_xchg_acq_rel(word, (uint32_t)LOCK_FREE) == LOCK_CONTENDED) /* order: [K1] release */
        os_futex_wake(word, 1);
}

#endif
