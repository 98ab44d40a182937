#include "filch_bench.h"

TASK(int64_t, sibling, int, depth)
{
    return spine_sibling(depth);
}

TASK(int64_t, frame, int, depth)
{
    if (depth == 0)
        return 0;
    FILCH_FORK(later, sibling, depth);
    int64_t below = FILCH_CALL(frame, depth - 1);
    return below + FILCH_JOIN(sibling, later);
}

struct bench_answer WORK(spine)(const struct bench_input *in)
{
    return (struct bench_answer){{FILCH_RUN_ON(bench_pool, frame, in->size), 0, 0}};
}
