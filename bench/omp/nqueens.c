#include "omp_bench.h"

#define COLUMNS_MAX 32

static int64_t place(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    int64_t later[COLUMNS_MAX], solutions;
    int forked = 0;

    if (columns == all)
        return 1;
    unsigned open = all & ~(columns | left | right);
    if (!open)
        return 0;
    unsigned first = open & -open;
    for (open ^= first; open; open &= open - 1) {
        unsigned queen = open & -open;
        int64_t *out = &later[forked++];
#pragma omp task firstprivate(out, all, columns, left, right, queen)
        *out = place(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    solutions = place(all, columns | first, (left | first) << 1, (right | first) >> 1);
#pragma omp taskwait
    while (forked > 0)
        solutions += later[--forked];
    return solutions;
}

struct bench_answer omp_nqueens(const struct bench_input *in)
{
    int64_t value = 0;
#pragma omp parallel num_threads(omp_bench_workers)
#pragma omp single
    value = place((1u << in->size) - 1, 0, 0, 0);
    return (struct bench_answer){{value, 0, 0}};
}
