#include "tbb_bench.h"

static const int columns_max = 32;

static int64_t place(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    if (columns == all)
        return 1;
    unsigned open = all & ~(columns | left | right);
    if (!open)
        return 0;
    int64_t later[columns_max];
    int forked = 0;
    tbb::task_group group;
    unsigned first = open & -open;
    for (open ^= first; open; open &= open - 1) {
        unsigned queen = open & -open;
        int64_t *out = &later[forked++];
        group.run([=] {
            *out = place(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
        });
    }
    int64_t solutions = place(all, columns | first, (left | first) << 1, (right | first) >> 1);
    group.wait();
    while (forked > 0)
        solutions += later[--forked];
    return solutions;
}

bench_answer tbb_nqueens(const bench_input *in)
{
    unsigned all = (1u << in->size) - 1;
    return {{tbb_bench_arena->execute([all] { return place(all, 0, 0, 0); }), 0, 0}};
}
