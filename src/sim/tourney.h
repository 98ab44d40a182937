/* tourney.h: a tournament tree: the least of one key per worker.
 *
 * A leaf is a worker's next event, its key is tourney_key(time, kind): events of one instant are ordered by
 * kind, those of one kind by the worker's index. Inner nodes hold the winner below them, key and leaf, so a
 * new key costs one comparison per level and the winner is read without a descent. There is no heap of
 * tasks: the size is the number of workers. */
#ifndef FILCH_SIM_TOURNEY_H
#define FILCH_SIM_TOURNEY_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#define TOURNEY_NONE ((uint64_t)1 << 63) /* above every key: no event */

enum { TOURNEY_KIND_BITS = 3, TOURNEY_LEAVES_MAX = 1 << 26 };

struct tourney {
    uint64_t *key;   /* 2 * leaves: of node 1 (the root) to leaves - 1, then of each leaf */
    uint32_t *node;  /* 2 * leaves: the leaf that won the node */
    uint32_t leaves; /* a power of two */
};

/* time is 0 .. SIM_TIME_MAX, kind is 0 .. 7. */
static inline uint64_t tourney_key(int64_t time, unsigned kind)
{
    return (uint64_t)time << TOURNEY_KIND_BITS | kind;
}

static inline int64_t tourney_time(uint64_t key)
{
    return (int64_t)(key >> TOURNEY_KIND_BITS);
}

static inline unsigned tourney_kind(uint64_t key)
{
    return (unsigned)(key & ((1u << TOURNEY_KIND_BITS) - 1));
}

/* Gives every leaf the key TOURNEY_NONE. */
static inline void tourney_clear(struct tourney *t)
{
    for (uint32_t i = 0; i < t->leaves; i++) {
        t->key[t->leaves + i] = TOURNEY_NONE;
        t->node[t->leaves + i] = i;
    }
    for (uint32_t i = t->leaves - 1; i > 0; i--) {
        t->key[i] = TOURNEY_NONE;
        t->node[i] = t->node[2 * i];
    }
}

static inline void tourney_free(struct tourney *t)
{
    free(t->key);
    free(t->node);
    *t = (struct tourney){0};
}

/* Leaves 0 .. count - 1, without an event. 0, -EINVAL (count is 0 or above TOURNEY_LEAVES_MAX) or -ENOMEM. */
static inline int tourney_init(struct tourney *t, uint32_t count)
{
    *t = (struct tourney){.leaves = 1};
    if (count == 0 || count > TOURNEY_LEAVES_MAX)
        return -EINVAL;
    while (t->leaves < count)
        t->leaves *= 2;
    t->key = malloc(2 * (size_t)t->leaves * sizeof *t->key);
    t->node = malloc(2 * (size_t)t->leaves * sizeof *t->node);
    if (!t->key || !t->node) {
        tourney_free(t);
        return -ENOMEM;
    }
    tourney_clear(t);
    return 0;
}

/* No branch depends on the keys: which event is next is what a processor cannot predict. The right one of
 * two siblings has the odd number; it yields to an equal left one, hence the + 1. */
static inline void tourney_set(struct tourney *t, uint32_t leaf, uint64_t key)
{
    uint64_t *keys = t->key;
    uint32_t *node = t->node, winner = leaf;
    uint32_t i = leaf + t->leaves;
    keys[i] = key;
    for (; i > 1; i /= 2) {
        uint64_t other = keys[i ^ 1];
        uint32_t other_winner = node[i ^ 1];
        int yields = other < key + (i & 1);
        key = yields ? other : key;
        winner = yields ? other_winner : winner;
        keys[i / 2] = key;
        node[i / 2] = winner;
    }
}

/* The leaf with the least key, of equal ones the first. If no leaf has an event, its key is TOURNEY_NONE. */
static inline uint32_t tourney_first(const struct tourney *t)
{
    return t->node[1];
}

static inline uint64_t tourney_first_key(const struct tourney *t)
{
    return t->key[1];
}

static inline uint64_t tourney_leaf_key(const struct tourney *t, uint32_t leaf)
{
    return t->key[t->leaves + leaf];
}

#endif
