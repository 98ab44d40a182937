#include "tbb_bench.h"

static int64_t frame(int depth)
{
    if (depth == 0)
        return 0;
    int64_t later;
    tbb::task_group group;
    group.run([&later, depth] { later = spine_sibling(depth); });
    int64_t below = frame(depth - 1);
    group.wait();
    return below + later;
}

bench_answer tbb_spine(const bench_input *in)
{
    return {{tbb_bench_arena->execute([in] { return frame(in->size); }), 0, 0}};
}
