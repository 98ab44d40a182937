/* filch_par.h: the cases on filch. */
#ifndef FILCH_PAR_BENCH_H
#define FILCH_PAR_BENCH_H

#include "../loops.h"
#include <filch.h>
#include <filch/par.h>

double filch_par_sum(const double *v, size_t n);
void filch_par_scan(int32_t *to, const int32_t *from, size_t n);
par_find filch_par_find, filch_par_index;
void filch_par_sort(int32_t *v, size_t n);
void filch_par_sort_by(int32_t *v, size_t n, par_compare *compare);

#endif
