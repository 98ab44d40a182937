/* filch_bench.h: the workloads on filch. Each file is compiled twice, for both kinds of tasks:
 * BENCH_BOUNDED chooses bounded ones. */
#ifndef FILCH_BENCH_H
#define FILCH_BENCH_H

#include "../common/bench.h"
#include <filch.h>

#ifdef BENCH_BOUNDED
#define TASK FILCH_TASK_BOUNDED
#define WORK(name) bounded_##name
#else
#define TASK FILCH_TASK
#define WORK(name) default_##name
#endif

extern filch_pool *bench_pool;

bench_work default_fib, default_tree, default_nqueens, default_uts, default_spine;
bench_work bounded_fib, bounded_tree, bounded_nqueens, bounded_uts, bounded_spine;

#endif
