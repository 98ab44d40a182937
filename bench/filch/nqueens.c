#include "filch_bench.h"

TASK(int64_t, place, unsigned, all, unsigned, columns, unsigned, left, unsigned, right)
{
    if (columns == all)
        return 1;
    unsigned open = all & ~(columns | left | right);
    if (!open)
        return 0;
    unsigned first = open & -open;
    int64_t solutions = 0;
    FILCH_FORKS(later, place);
    for (open ^= first; open; open &= open - 1) {
        unsigned queen = open & -open;
        FILCH_FORK_INTO(solutions +=, place, all, columns | queen, (left | queen) << 1,
                        (right | queen) >> 1);
    }
    solutions += FILCH_CALL(place, all, columns | first, (left | first) << 1, (right | first) >> 1);
    while (FILCH_FORKS_LEFT(later))
        solutions += FILCH_JOIN_LAST(place, later);
    return solutions;
}

struct bench_answer WORK(nqueens)(const struct bench_input *in)
{
    unsigned all = (1u << in->size) - 1;
    return (struct bench_answer){{FILCH_RUN_ON(bench_pool, place, all, 0, 0, 0), 0, 0}};
}
