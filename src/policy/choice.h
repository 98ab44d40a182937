/* choice.h: what the policies decide, as pure functions on numbers.
 *
 * The runtime (src/core) and the simulator (src/sim) compile the same functions. They know no worker, no
 * clock and no atomic word: the caller passes numbers in and acts on the number that comes back. A new policy
 * is a case here and a row in names.c; docs/simulator.md shows one.
 *
 *   choice_begin, choice_next  which queues a search looks at, and in which order
 *   choice_ends                at which ends of a queue owner and thief take
 *   choice_amount              how much a thief takes of a queue
 *   choice_search_limit        how many workers may search at once
 *   choice_wake_rank           which of the parked workers is woken
 *   choice_backoff, choice_jitter  how long a worker waits after a search in vain
 */
#ifndef FILCH_POLICY_CHOICE_H
#define FILCH_POLICY_CHOICE_H

#include "base/rng.h"

#include <filch.h>
#include <stdbool.h>

#define CHOICE_NONE UINT32_MAX

/* ---- which victim ------------------------------------------------------------------------- */

/* One search of one worker, from choice_begin until choice_next returns CHOICE_NONE. */
struct choice {
    uint32_t self, count; /* the searching worker, and the number of workers                     */
    uint32_t left;        /* victims that may still be named                                     */
    uint32_t at;          /* random, order, last: where the sweep goes on; shuffle: position     */
    uint32_t pair[2];     /* two: the candidates; the caller stores their lengths in pair_length */
    uint32_t pair_length[2];
};

/* What a worker keeps from one search to the next, for the policies that need it. */
struct choice_memory {
    uint32_t last;     /* last: the victim of the last success, or CHOICE_NONE                   */
    uint32_t *order;   /* shuffle: a permutation of 0 .. count-1, in any order at first          */
    uint32_t *lengths; /* largest: the queues' lengths, stored by the caller after choice_begin;
                          choice_next sets the entry that it names to 0                          */
};

static inline bool choice_needs_order(enum filch_victim policy) { return policy == FILCH_VICTIM_SHUFFLE; }
static inline bool choice_needs_lengths(enum filch_victim policy) { return policy == FILCH_VICTIM_LARGEST; }
static inline bool choice_needs_pair(enum filch_victim policy) { return policy == FILCH_VICTIM_TWO; }

static inline bool choice_needs_memory(enum filch_victim policy)
{
    return choice_needs_order(policy) || choice_needs_lengths(policy) || policy == FILCH_VICTIM_LAST;
}

/* A random worker other than `self`; at least two workers. */
static inline uint32_t choice_other(uint32_t self, uint32_t count, struct rng *rng)
{
    uint32_t v = rng_below(rng, count - 1);
    return v + (v >= self);
}

static inline void choice_begin_pair(struct choice *c, struct rng *rng)
{
    c->left = 1;
    c->pair[0] = c->pair[1] = choice_other(c->self, c->count, rng);
    while (c->count > 2 && c->pair[1] == c->pair[0])
        c->pair[1] = choice_other(c->self, c->count, rng);
    c->pair_length[0] = c->pair_length[1] = 0;
}

/* At most `attempts` victims. Without another worker there is none. */
static inline struct choice choice_begin(enum filch_victim policy, uint32_t self, uint32_t count,
                                         uint32_t attempts, struct rng *rng)
{
    struct choice c = {.self = self, .count = count};
    if (count < 2)
        return c;
    c.left = attempts < count - 1 ? attempts : count - 1;
    switch (policy) {
    case FILCH_VICTIM_RANDOM:
    case FILCH_VICTIM_LAST:
        c.at = rng_below(rng, count);
        break;
    case FILCH_VICTIM_ONE:
        c.at = choice_other(self, count, rng);
        c.left = 1;
        break;
    case FILCH_VICTIM_TWO:
        choice_begin_pair(&c, rng);
        break;
    case FILCH_VICTIM_ORDER:
    case FILCH_VICTIM_LARGEST:
    case FILCH_VICTIM_SHUFFLE:
        break;
    }
    return c;
}

/* The next worker of a sweep over all others but `skip`. There is one: `left` counts them. */
static inline uint32_t choice_sweep(struct choice *c, uint32_t skip)
{
    uint32_t v;
    do {
        v = c->at;
        c->at = v + 1 < c->count ? v + 1 : 0;
    } while (v == c->self || v == skip);
    return v;
}

/* The victim of the last success first, then as `random`. */
static inline uint32_t choice_last(struct choice *c, const struct choice_memory *m)
{
    bool known = m->last < c->count && m->last != c->self;
    if (known && c->pair_length[0] == 0) {
        c->pair_length[0] = 1; /* it was named */
        return m->last;
    }
    return choice_sweep(c, known ? m->last : CHOICE_NONE);
}

/* One step of Fisher and Yates: from any permutation to a uniformly random one. */
static inline uint32_t choice_shuffled(struct choice *c, const struct choice_memory *m, struct rng *rng)
{
    while (c->at < c->count) {
        uint32_t i = c->at++, j = i + rng_below(rng, c->count - i), v = m->order[j];
        m->order[j] = m->order[i];
        m->order[i] = v;
        if (v != c->self)
            return v;
    }
    return CHOICE_NONE;
}

/* The longest queue; of equals the one with the lowest number. Empty ones are not named. */
static inline uint32_t choice_longest(const struct choice *c, const struct choice_memory *m)
{
    uint32_t best = CHOICE_NONE, most = 0;
    for (uint32_t v = 0; v < c->count; v++) {
        if (v != c->self && m->lengths[v] > most) {
            most = m->lengths[v];
            best = v;
        }
    }
    if (best != CHOICE_NONE)
        m->lengths[best] = 0;
    return best;
}

/* The next victim, or CHOICE_NONE: the search is over. `m` may be null if the policy needs no memory. */
static inline uint32_t choice_next(struct choice *c, enum filch_victim policy, const struct choice_memory *m,
                                   struct rng *rng)
{
    if (c->left == 0)
        return CHOICE_NONE;
    c->left--;
    switch (policy) {
    case FILCH_VICTIM_ONE:
        return c->at;
    case FILCH_VICTIM_TWO:
        return c->pair[c->pair_length[1] > c->pair_length[0]];
    case FILCH_VICTIM_LARGEST:
        return choice_longest(c, m);
    case FILCH_VICTIM_SHUFFLE:
        return choice_shuffled(c, m, rng);
    case FILCH_VICTIM_LAST:
        return choice_last(c, m);
    case FILCH_VICTIM_RANDOM:
    case FILCH_VICTIM_ORDER:
        break;
    }
    return choice_sweep(c, CHOICE_NONE);
}

/* ---- which end, and how much -------------------------------------------------------------- */

/* ends= as it is meant: not given, it is fifo, and for deques under a lock reverse. */
static inline enum filch_ends choice_ends(enum filch_ends given, int queue)
{
    if (given != FILCH_ENDS_DEFAULT)
        return given;
    return queue == FILCH_QUEUE_LOCKED || queue == FILCH_QUEUE_TRYLOCK ? FILCH_ENDS_REVERSE : FILCH_ENDS_FIFO;
}

static inline uint64_t choice_amount(enum filch_steal how, uint64_t n)
{
    switch (how) {
    case FILCH_STEAL_ONE:
        return n > 0;
    case FILCH_STEAL_QUARTER:
        return n / 4 + (n % 4 > 0);
    case FILCH_STEAL_THREE:
        return n - n / 4;
    case FILCH_STEAL_ALL:
        return n;
    case FILCH_STEAL_FLOOR:
        return n / 2;
    case FILCH_STEAL_HALF:
        break;
    }
    return n - n / 2;
}

/* ---- searching and waking ----------------------------------------------------------------- */

/* At most half of the active workers, rounded up, search at once; one always may. */
static inline uint32_t choice_search_limit(uint32_t active)
{
    return active < 2 ? 1 : (active + 1) / 2;
}

/* Which of `parked` workers (at least one) is woken: its rank among them. wake=one: the first. */
static inline uint32_t choice_wake_rank(enum filch_wake policy, uint32_t parked, struct rng *rng)
{
    return policy == FILCH_WAKE_RANDOM ? rng_below(rng, parked) : 0;
}

/* ---- waiting ------------------------------------------------------------------------------ */

/* The wait that follows on `wait`: `factor` (at least 1) times as long, at most `most`. Not negative. */
static inline int64_t choice_backoff(int64_t wait, int64_t most, uint32_t factor)
{
    return wait > most / factor ? most : wait * factor;
}

/* A wait of which `percent` are random: uniform from wait * (100 - percent) / 100 up to `wait`. */
static inline int64_t choice_jitter(int64_t wait, uint32_t percent, struct rng *rng)
{
    int64_t part = percent == 0 ? 0 : wait / 100 * (percent < 100 ? percent : 100);
    return part == 0 ? wait : wait - (int64_t)(((unsigned __int128)rng_next(rng) * (uint64_t)part) >> 64);
}

#endif
