#include "omp_bench.h"

static int64_t frame(int depth)
{
    int64_t below, later;
    if (depth == 0)
        return 0;
#pragma omp task shared(later) firstprivate(depth)
    later = spine_sibling(depth);
    below = frame(depth - 1);
#pragma omp taskwait
    return below + later;
}

struct bench_answer omp_spine(const struct bench_input *in)
{
    int64_t value = 0;
#pragma omp parallel num_threads(omp_bench_workers)
#pragma omp single
    value = frame(in->size);
    return (struct bench_answer){{value, 0, 0}};
}
