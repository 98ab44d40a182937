/* opaque.c: in a file of its own, so that compilers do not shorten the chain or take a comparison apart. */
#include "par_bench.h"

#define STEPS 16 /* of a unit */

uint64_t par_spin(uint64_t seed, uint32_t units)
{
    uint64_t x = seed;
    for (uint32_t u = 0; u < units; u++)
        for (int i = 0; i < STEPS; i++)
            x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    return x;
}

int par_compare_int32(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}
