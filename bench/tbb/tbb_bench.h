/* tbb_bench.h: the workloads on oneTBB's task_group. */
#ifndef TBB_BENCH_H
#define TBB_BENCH_H

#include "../common/bench.h"
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

extern tbb::task_arena *tbb_bench_arena;

extern "C" {
bench_work tbb_fib, tbb_tree, tbb_nqueens, tbb_uts, tbb_spine;
}

#endif
