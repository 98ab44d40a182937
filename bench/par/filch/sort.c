#include "filch_par.h"

void filch_par_sort(int32_t *v, size_t n)
{
    filch_sort_i32(v, n);
}

void filch_par_sort_by(int32_t *v, size_t n, par_compare *compare)
{
    filch_sort(v, n, sizeof *v, compare);
}
