/* serial.cpp: what the loops cost without any runtime. */
#include "../loops.h"
#include <algorithm>
#include <cstdlib>

static const char *start(int)
{
    return nullptr;
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
    light_range(v, 0, n, k, c);
}

static double sum(const double *v, size_t n)
{
    return sum_range(0, v, 0, n);
}

static void scan(int32_t *to, const int32_t *from, size_t n)
{
    scan_range(0, to, from, 0, n);
}

static size_t find(const int32_t *v, size_t n, int32_t wanted)
{
    return find_range(v, 0, n, wanted);
}

static void sort(int32_t *v, size_t n)
{
    std::sort(v, v + n);
}

static void sort_by(int32_t *v, size_t n, par_compare *compare)
{
    std::qsort(v, n, sizeof *v, compare);
}

static void spin(uint64_t *to, const uint32_t *units, size_t n)
{
    spin_range(to, units, 0, n);
}

const struct par_runtime par_runtime = {start, stop, version, run,     light,  sum,
                                        scan,  sort, sort_by, {find}, {spin}};
