/* arrays.c: a sum and a search in the general form, with loops of our own; prefix sums of a plain type. */
#include "filch_par.h"

/* ---- reduce --------------------------------------------------------------------------------- */

static void sum_fold(void *state, size_t lo, size_t hi, void *arg)
{
    double *sum = state;
    *sum = sum_range(*sum, arg, lo, hi);
}

static void sum_combine(void *state, const void *right, void *arg)
{
    (void)arg;
    *(double *)state += *(const double *)right;
}

double filch_par_sum(const double *v, size_t n)
{
    static const filch_reducer add = {.state_size = sizeof(double), .fold = sum_fold, .combine = sum_combine};
    double sum = 0;
    filch_reduce(&add, &sum, 0, n, (void *)v);
    return sum;
}

/* ---- scan ----------------------------------------------------------------------------------- */

void filch_par_scan(int32_t *to, const int32_t *from, size_t n)
{
    filch_scan_sum_i32(to, from, n);
}

/* ---- find_any ------------------------------------------------------------------------------- */

struct find {
    const int32_t *v;
    int32_t wanted;
};

static size_t find_piece(size_t lo, size_t hi, void *arg)
{
    const struct find *f = arg;
    return find_range(f->v, lo, hi, f->wanted);
}

size_t filch_par_find(const int32_t *v, size_t n, int32_t wanted)
{
    struct find f = {v, wanted};
    size_t where;
    return filch_find_any(0, n, find_piece, &f, &where) == 1 ? where : n;
}

size_t filch_par_index(const int32_t *v, size_t n, int32_t wanted)
{
    return filch_index_any(v, n, wanted);
}
