#include "serial.h"

static int64_t place(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    int64_t solutions = 0;
    if (columns == all)
        return 1;
    for (unsigned open = all & ~(columns | left | right); open; open &= open - 1) {
        unsigned queen = open & -open;
        solutions += place(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return solutions;
}

struct bench_answer serial_nqueens(const struct bench_input *in)
{
    return (struct bench_answer){{place((1u << in->size) - 1, 0, 0, 0), 0, 0}};
}
