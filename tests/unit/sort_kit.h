/* sort_kit.h: arrays to sort, pools to sort them on, and what a sorted array looks like. */
#ifndef FILCH_TESTS_SORT_KIT_H
#define FILCH_TESTS_SORT_KIT_H

#include "base/rng.h"
#include "pool_kit.h"

#include <filch/par.h>

enum pattern { RANDOM, SORTED, REVERSED, EQUAL, FEW_DISTINCT, ORGAN_PIPE, SAWTOOTH, NEARLY, PATTERNS };

static struct rng kit_rng;

KIT_UNUSED static uint64_t pattern_value(enum pattern p, size_t i, size_t n)
{
    switch (p) {
    case SORTED: return i;
    case REVERSED: return n - i;
    case EQUAL: return 7;
    case FEW_DISTINCT: return rng_next(&kit_rng) % 5;
    case ORGAN_PIPE: return i < n / 2 ? i : n - i;
    case SAWTOOTH: return i % 137;
    case NEARLY: return i % 97 == 0 ? rng_next(&kit_rng) % (n + 1) : i;
    default: return rng_next(&kit_rng);
    }
}

/* Sizes at which something changes. */
static const size_t kit_sizes[] = {
    0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63,
    64, 65, 100, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2047,
    2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 8200, 16383, 16385, 20000, 32767, 32768, 32769, 33000
};
enum { KIT_SIZES = sizeof kit_sizes / sizeof kit_sizes[0] };

/* A claim with `how` on 1 (not under sanitizers), 2 and 4 workers, and on 4 of which 2 may be used. */
KIT_UNUSED static void kit_everywhere(void (*claim)(filch_how *how))
{
    static const int workers[][2] = {{1, 0}, {2, 0}, {4, 0}, {4, 2}};
    for (size_t i = KIT_SLOW; i < sizeof workers / sizeof workers[0]; i++) {
        filch_how how = FILCH_HOW_INIT;
        how.pool = kit_pool(workers[i][0]);
        how.workers = workers[i][1];
        rng_seed(&kit_rng, 1234 + i);
        claim(&how);
        kit_destroy(how.pool);
    }
}

/* For those without `_with`: as a job of the pool, whose functions then use it. */
struct kit_call {
    void (*claim)(void);
};

KIT_UNUSED static int kit_call_claim(void *arg)
{
    ((struct kit_call *)arg)->claim();
    return 0;
}

KIT_UNUSED static void kit_within(void (*claim)(void))
{
    for (int workers = 1; workers <= 4; workers *= 2) {
        struct kit_call call = {claim};
        filch_task_attr a = FILCH_TASK_ATTR_INIT;
        filch_task *t;
        filch_pool *pool = kit_pool(workers);
        a.pool = pool;
        rng_seed(&kit_rng, 99 + (uint64_t)workers);
        CHECK_EQ(filch_spawn_with(&t, &a, kit_call_claim, &call), 0);
        CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
        kit_destroy(pool);
    }
}

KIT_UNUSED static void *kit_memory(size_t size)
{
    void *p = malloc(size ? size : 1);
    CHECK(p);
    return p;
}

#endif
