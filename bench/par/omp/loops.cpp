#include "omp_par.h"
#include <omp.h>

/* The first parallel region makes the threads, so that none is made in a timed one. */
static const char *start(int workers)
{
    int threads = 0;
    omp_set_dynamic(0);
    omp_set_num_threads(workers);
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    return threads == workers ? nullptr : "OpenMP gives fewer threads than asked";
}

static void stop()
{
}

static const char *version()
{
    return __VERSION__;
}

static void run(void (*fn)(void *), void *arg)
{
    fn(arg);
}

static void light(float *v, size_t n, float k, float c)
{
#pragma omp parallel for
    for (size_t i = 0; i < n; i++)
        v[i] = v[i] * k + c;
}

static double sum(const double *v, size_t n)
{
    double all = 0;
#pragma omp parallel for reduction(+ : all)
    for (size_t i = 0; i < n; i++)
        all += v[i];
    return all;
}

#define FIND_CHUNK ((size_t)32768)

/* Chunks from the front, until one has it. */
static size_t find(const int32_t *v, size_t n, int32_t wanted)
{
    size_t found = n;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t lo = 0; lo < n; lo += FIND_CHUNK) {
        size_t known, hi = n - lo < FIND_CHUNK ? n : lo + FIND_CHUNK;
#pragma omp atomic read
        known = found;
        if (known < n)
            continue;
        size_t at = find_range(v, lo, hi, wanted);
        if (at < hi) {
#pragma omp atomic write
            found = at;
        }
    }
    return found;
}

static void spin_dynamic(uint64_t *to, const uint32_t *units, size_t n)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t i = 0; i < n; i++)
        to[i] = par_spin(i, units[i]);
}

static void spin_dynamic_16(uint64_t *to, const uint32_t *units, size_t n)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (size_t i = 0; i < n; i++)
        to[i] = par_spin(i, units[i]);
}

static void spin_guided(uint64_t *to, const uint32_t *units, size_t n)
{
#pragma omp parallel for schedule(guided)
    for (size_t i = 0; i < n; i++)
        to[i] = par_spin(i, units[i]);
}

const struct par_runtime par_runtime = {
    start, stop, version, run, light, sum, omp_scan, omp_sort, omp_sort_by,
    {find}, {spin_dynamic, spin_dynamic_16, spin_guided}};
