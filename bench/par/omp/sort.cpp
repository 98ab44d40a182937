/* sort.cpp: OpenMP has no sort; the parallel mode of libstdc++ is one on OpenMP. */
#include "omp_par.h"
#include <parallel/algorithm>

void omp_sort(int32_t *v, size_t n)
{
    __gnu_parallel::sort(v, v + n);
}

void omp_sort_by(int32_t *v, size_t n, par_compare *compare)
{
    auto less = [compare](const int32_t &a, const int32_t &b) { return compare(&a, &b) < 0; };
    __gnu_parallel::sort(v, v + n, less);
}
