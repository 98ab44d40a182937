#include "omp_bench.h"
#include <omp.h>
#include <string.h>

int omp_bench_workers;

static bench_work *const works[BENCH_FAMILIES] = {omp_fib, omp_tree, omp_nqueens, omp_uts,
                                                  omp_spine};

/* The first parallel region makes the threads, so that none is made in a timed one. */
const char *bench_start(int workers, const char *mode)
{
    int threads = 0;
    (void)mode;
    omp_set_dynamic(0);
    omp_bench_workers = workers;
#pragma omp parallel num_threads(workers)
#pragma omp single
    threads = omp_get_num_threads();
    return threads == workers ? 0 : "OpenMP gives fewer threads than asked";
}

void bench_stop(void)
{
}

const char *bench_version(void)
{
    return __VERSION__;
}

bench_work *bench_find(enum bench_family family, const char *mode)
{
    return strcmp(mode, "default") ? 0 : works[family];
}
