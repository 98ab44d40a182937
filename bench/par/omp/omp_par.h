/* omp_par.h: the cases on OpenMP, by g++ with libgomp and by clang++ with libomp. */
#ifndef OMP_PAR_H
#define OMP_PAR_H

#include "../loops.h"

void omp_scan(int32_t *to, const int32_t *from, size_t n);
void omp_sort(int32_t *v, size_t n);
void omp_sort_by(int32_t *v, size_t n, par_compare *compare);

#endif
