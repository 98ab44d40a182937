/* turn.h: whose turn it is at a serial stage.
 *
 * Who comes has a number: given by the source if the stage keeps the order, or by the stage itself. If it
 * is its turn it goes in; else it is left here, and the one whose turn comes before it finds it when it
 * goes out. So nobody waits, and exactly one has each of them.
 *
 * | field | writer      | reader      | invariant                                                        |
 * | now   | lock holder | lock holder | the number that is inside, or is to come next                    |
 * | come  | lock holder | lock holder | the next number to give, if the stage gives them                 |
 * | early | lock holder | lock holder | number % size: who came before its turn; never that of `now`     |
 *
 * Numbers that exist and have not passed are fewer than `size` from `now` on: each is that of a token in
 * flight, and those who filter out their item keep their token until they have passed.
 */
#ifndef FILCH_TURN_H
#define FILCH_TURN_H

#include "core/lock.h"

#include <stddef.h>

struct turn {
    uint32_t lock;
    bool gives;              /* the numbers */
    size_t now, come;
    size_t mask;             /* size - 1, a power of two */
    void **early;            /* null: not a serial stage */
} __attribute__((aligned(64)));

/* Is it its turn? If not, it has been left here: hands off. */
static inline bool turn_enter(struct turn *t, size_t number, void *who)
{
    lock_acquire(&t->lock);
    if (t->gives)
        number = t->come++;
    bool now = number == t->now;
    if (!now)
        t->early[number & t->mask] = who;
    lock_release(&t->lock);
    return now;
}

/* The one inside goes out. Returns who is next and is here already: it is inside now, and the caller's to
 * look after. Else null. */
static inline void *turn_leave(struct turn *t)
{
    lock_acquire(&t->lock);
    void **next = &t->early[++t->now & t->mask];
    void *who = *next;
    *next = 0;
    lock_release(&t->lock);
    return who;
}

#endif
