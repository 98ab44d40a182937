/* rng.h: small random numbers for choosing victims. Seedable, repeatable, not for secrets. */
#ifndef FILCH_BASE_RNG_H
#define FILCH_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state; /* never 0 */
};

/* One step of splitmix64: neighbouring inputs give unrelated outputs. Also useful as a hash. */
static inline uint64_t rng_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline void rng_seed(struct rng *r, uint64_t seed)
{
    r->state = rng_mix(seed);
    if (r->state == 0)
        r->state = 1; /* xorshift stays at 0 for ever */
}

/* xorshift64*. */
static inline uint64_t rng_next(struct rng *r)
{
    uint64_t x = r->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    r->state = x;
    return x * 0x2545f4914f6cdd1du;
}

/* 0 .. n-1, n > 0. A multiplication in place of a division; the bias is below n / 2^32. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
    return (uint32_t)(((rng_next(r) >> 32) * n) >> 32);
}

#endif
