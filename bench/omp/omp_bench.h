/* omp_bench.h: the workloads as OpenMP tasks, for libgomp (gcc) and libomp (clang). */
#ifndef OMP_BENCH_H
#define OMP_BENCH_H

#include "../common/bench.h"

extern int omp_bench_workers;

bench_work omp_fib, omp_tree, omp_nqueens, omp_uts, omp_spine;

#endif
