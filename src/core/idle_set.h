/* idle_set.h: the set of those who sleep, shared by idle.c (the protocol, and what each field means) and
 * seat.c (who may sit where). */
#ifndef FILCH_IDLE_SET_H
#define FILCH_IDLE_SET_H

#include "core/idle.h"

#define SLEEPER ((uint64_t)1 << 32)

/* worker.gate: what the waker made of the sleeper. */
enum { GATE_SHUT, GATE_SEARCHER, GATE_ACTIVE };

/* worker.has_thread */
enum { SEAT_BARE, SEAT_STARTING, SEAT_THREAD };

/* idle_set.lent: seat 0 while its thread waits, pinned; see seat.c. */
enum { SEAT_KEPT, SEAT_OFFERED, SEAT_LENT };

struct idle_set {
    uint64_t word;
    uint32_t lock;
    int scout;
    int keeper;
    int poller;
    struct rng rng;           /* lock held: which sleeper wake=random wakes */
    int64_t keeps_ns;
    int64_t scout_ns;         /* the scout's alarm */
    uint32_t risen;           /* so often somebody got up */
    struct seat_queue {       /* for seat 0: seat.c */
        uint32_t count, epoch;
    } guests, owner;
    uint32_t lent;
    uint32_t seats;           /* in use: the pool's size, and stand-ins */
    uint32_t size;            /* as configured, or as resized */
    uint32_t spares;          /* of those in use, from pool.base on: seat.c */
    uint32_t spares_wanted;
    uint32_t stand_ins;       /* granted */
    uint32_t threads;
    uint32_t refused;         /* the last thread was not to be had: waiters look after the seats */
    uint32_t most_searching;  /* ever, for tests */
    uint64_t asleep[FILCH_MAX_WORKERS / 64];
    uint64_t benched[FILCH_MAX_WORKERS / 64]; /* stand-ins that nobody needs */
};

static inline unsigned sleepers(uint64_t word)
{
    return (unsigned)(word >> 32);
}

/* ---- lock held ---------------------------------------------------------------------------- */

static inline bool set_has(struct idle_set *s, int id)
{
    return s->asleep[id / 64] >> (id % 64) & 1;
}

static inline bool set_benched(struct idle_set *s, int id)
{
    return s->benched[id / 64] >> (id % 64) & 1;
}

static inline void set_add(struct idle_set *s, int id, uint64_t change)
{
    s->asleep[id / 64] |= (uint64_t)1 << (id % 64);
    filch_add_seq_cst(&s->word, change + SLEEPER); /* order: [I1] before the sleeper's last look */
}

enum rise { RISE_AS_SEARCHER, RISE_AS_ACTIVE, RISE_AS_EITHER };
uint32_t set_remove(filch_pool *pool, int id, enum rise how);

/* ---- not held ----------------------------------------------------------------------------- */

/* order: hints, asked again with the lock held */
static inline bool seat_too_many(struct idle_set *s)
{
    return filch_load_relaxed(&s->spares) > filch_load_relaxed(&s->spares_wanted);
}

/* Does a guest wait for this seat? */
static inline bool seat_sought(struct worker *w)
{
    return w->id == 0 && filch_load_relaxed(&w->pool->idle->guests.count) > 0; /* order: a hint */
}

/* Who sits here, a guest: does the thread that lent the seat want it back? */
static inline bool seat_missed(struct worker *w)
{
    return filch_load_relaxed(&w->pool->idle->owner.count) > 0; /* order: a hint, asked again soon */
}

/* Should the thread leave this seat: seat 0 to a guest that waits, a spare one that nobody needs? Then it
 * calls idle_seat_yield. */
static inline bool seat_wanted(struct worker *w)
{
    if (w->id == 0)
        return !w->guest && seat_sought(w);
    return w->id >= w->pool->base && seat_too_many(w->pool->idle);
}

/* Wakes sleeper `id`, or with -1 one of its choice if nobody searches (or even if somebody does). */
bool idle_wake_one(filch_pool *pool, struct worker *w, int id, bool even_if_searching);
/* [I4] If somebody is active, nobody searches and nobody has an alarm, forks would be seen by no
 * one: a sleeper has to get up. */
void idle_keep_watch(filch_pool *pool, struct worker *w);
/* Puts the worker into the set. Returns its alarm: a deadline, or none. From the release of the
 * lock on, the seat is not ours: seat 0 may have a guest in it. */
int64_t idle_lie_down(struct worker *w, bool alarm_allowed);
void idle_sleep_at_gate(struct worker *w, int64_t deadline);
/* Seat 0 is free: tell a guest that waits for it, whoever left and why. */
void seat_left(struct idle_set *s);

#endif
