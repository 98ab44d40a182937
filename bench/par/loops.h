/* loops.h: the inner loops, over [lo, hi), the same for every runtime that is written in C or C++, but for
 * filch's prefix sums and its search for a number, which have functions of their own. */
#ifndef LOOPS_H
#define LOOPS_H

#include "par_bench.h"

static inline void light_range(float *v, size_t lo, size_t hi, float k, float c)
{
    for (size_t i = lo; i < hi; i++)
        v[i] = v[i] * k + c;
}

static inline double sum_range(double sum, const double *v, size_t lo, size_t hi)
{
    for (size_t i = lo; i < hi; i++)
        sum += v[i];
    return sum;
}

static inline int32_t fold_range(int32_t sum, const int32_t *v, size_t lo, size_t hi)
{
    for (size_t i = lo; i < hi; i++)
        sum += v[i];
    return sum;
}

static inline int32_t scan_range(int32_t sum, int32_t *__restrict to, const int32_t *__restrict from,
                                 size_t lo, size_t hi)
{
    for (size_t i = lo; i < hi; i++)
        to[i] = sum += from[i];
    return sum;
}

static inline size_t find_range(const int32_t *v, size_t lo, size_t hi, int32_t wanted)
{
    for (size_t i = lo; i < hi; i++)
        if (v[i] == wanted)
            return i;
    return hi;
}

static inline void spin_range(uint64_t *to, const uint32_t *units, size_t lo, size_t hi)
{
    for (size_t i = lo; i < hi; i++)
        to[i] = par_spin(i, units[i]);
}

#endif
