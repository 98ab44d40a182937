/* lock.h: a lock in one 32-bit word, for sections of a few instructions.
 *
 * The word: 0 free, 1 held. Zeroed memory is a free lock. Blocks the thread: never held across a switch.
 * To give it back is a plain store: nobody has to be woken, for who waits looks by itself. It looks more
 * rarely each time, because a look takes the cache line from the holder; then it lets other threads run,
 * the holder among them, and sleeps now and then, so that even one of lower priority gets to run.
 *
 *   [K1] release store in lock_release -> acquire CAS of the next holder: it would not see what the last
 *        one wrote.
 */
#ifndef FILCH_CORE_LOCK_H
#define FILCH_CORE_LOCK_H

#include "core/child.h"
#include "os/os.h"

#include <filch/ord.h>
#include <stdbool.h>

enum {
    LOCK_FREE,
    LOCK_HELD,
    LOCK_SPINS = 6,        /* looks with pauses between them, twice as long each time */
    LOCK_YIELDS = 16,      /* then others run between two of them, and after so many ... */
    LOCK_SLEEP_NS = 50000, /* ... it sleeps */
};

static inline bool lock_try(uint32_t *word)
{
    uint32_t found = LOCK_FREE;
    return filch_cas_acquire(word, &found, (uint32_t)LOCK_HELD); /* order: [K1] */
}

__attribute__((noinline, unused)) static void lock_wait(uint32_t *word)
{
    unsigned round = 0;
    child_check("fork"); /* its holder is not there */
    do {
        if (round < LOCK_SPINS)
            os_pause_for(4u << round);
        else if (round % LOCK_YIELDS != 0)
            os_thread_yield();
        else
            os_sleep_ns(LOCK_SLEEP_NS);
        round++;
        /* order: relaxed, lock_try decides */
    } while (filch_load_relaxed(word) != LOCK_FREE || !lock_try(word));
}

static inline void lock_acquire(uint32_t *word)
{
    if (!lock_try(word))
        lock_wait(word);
}

static inline void lock_release(uint32_t *word)
{
    filch_store_release(word, (uint32_t)LOCK_FREE); /* order: [K1] */
}

#endif
