/* timer.h: a worker's timers, in a wheel of seven levels.
 *
 * A tick is 2^14 ns (16 us). Level 0 has a slot for each of the next 64 ticks, level 1 for each of
 * the next 64 x 64, and so on (2^56 ns: two years; what lies farther away waits at the far end and is
 * put in again). Adding and cancelling are O(1); a timer moves down at most once per level. A slot is several
 * lists, its lanes: thousands that move down at once have left the cache, and who goes along eight lists in
 * turn fetches eight of them at a time.
 *
 * | field     | writer              | reader              | invariant                             |
 * | wheel     | lock holder         | lock holder         |                                       |
 * | next_ns   | lock holder         | anyone (a hint)     | not later than the first one's time,  |
 * |           |                     |                     | INT64_MAX when empty                  |
 * | wake_ns   | lock holder         | anyone (a hint)     | >= next_ns, by TIMER_SLACK at most    |
 * | timer     | lock holder, while it is in the wheel; else its owner                            |
 *
 * [M1] Both are stored before the adder sleeps; a sleeper that looks after its fence sees them
 *      (idle.c [I1]).
 *
 * Getting up costs more than firing: who sleeps until the first one is due sleeps on (wake_ns) if others
 * follow within TIMER_SLACK, until the last of these. One that comes alone is not kept waiting.
 *
 * Owner and others may add, cancel and fire: whoever finds that a timer is due fires it.
 */
#ifndef FILCH_TIMER_H
#define FILCH_TIMER_H

#include "core/lock.h"

enum {
    TIMER_LEVELS = 7,
    TIMER_SLOTS = 64,
    TIMER_LANES = 8,
    TIMER_SHIFT = 14,
    TIMER_SLACK = 6, /* ticks: 0.1 ms */
};

struct timer {
    struct timer *next, *prev;   /* null: in no wheel */
    struct timers *home;         /* the wheel it was put into */
    int64_t tick;                /* when it is due */
    void (*fire)(struct timer *t); /* with the wheel's lock held; the timer is out of the wheel */
};

struct timers {
    uint32_t lock;
    uint32_t lane;               /* that the next one goes into */
    int64_t next_ns;
    int64_t wake_ns;
    int64_t now;                 /* tick up to which everything has been fired */
    size_t count;
    uint64_t used[TIMER_LEVELS]; /* a bit per slot */
    struct timer *slot[TIMER_LEVELS][TIMER_SLOTS][TIMER_LANES];
};

void timers_init(struct timers *s, int64_t now_ns); /* in zeroed memory */
void timers_reset(struct timers *s, int64_t now_ns); /* in the child of fork(): empty */
/* Due at `deadline` or up to a tick later, never earlier. */
void timers_add(struct timers *s, struct timer *t, int64_t deadline);
/* After this it will not fire, and is not being fired. False if it has fired. */
bool timers_cancel(struct timer *t);
/* Fires what is due; returns how many. */
size_t timers_run(struct timers *s, int64_t now_ns);

/* Earliest time at which something may be due. */
static inline int64_t timers_next(struct timers *s)
{
    return filch_load_relaxed(&s->next_ns); /* order: a hint; [M1] */
}

/* Until then one may sleep. */
static inline int64_t timers_wake(struct timers *s)
{
    return filch_load_relaxed(&s->wake_ns); /* order: a hint; [M1] */
}

#endif
