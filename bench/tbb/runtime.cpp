#include "tbb_bench.h"
#include <cstring>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/version.h>

tbb::task_arena *tbb_bench_arena;

static tbb::global_control *limit;
static bench_work *const works[BENCH_FAMILIES] = {tbb_fib, tbb_tree, tbb_nqueens, tbb_uts,
                                                  tbb_spine};

const char *bench_start(int workers, const char *)
{
    limit = new tbb::global_control(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(workers));
    tbb_bench_arena = new tbb::task_arena(workers);
    tbb_bench_arena->initialize();
    return nullptr;
}

void bench_stop()
{
    delete tbb_bench_arena;
    delete limit;
}

const char *bench_version()
{
    return TBB_runtime_version();
}

bench_work *bench_find(bench_family family, const char *mode)
{
    return std::strcmp(mode, "default") ? nullptr : works[family];
}
