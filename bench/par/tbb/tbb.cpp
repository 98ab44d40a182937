/* tbb.cpp: the cases on oneTBB. */
#include "../loops.h"
#include <atomic>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/version.h>

using range = tbb::blocked_range<size_t>;

static tbb::global_control *limit;
static tbb::task_arena *arena;

static const char *start(int workers)
{
    limit = new tbb::global_control(tbb::global_control::max_allowed_parallelism,
                                    static_cast<size_t>(workers));
    arena = new tbb::task_arena(workers);
    arena->initialize();
    return nullptr;
}

static void stop()
{
    delete arena;
    delete limit;
}

static const char *version()
{
    return TBB_runtime_version();
}

static void run(void (*fn)(void *), void *arg)
{
    arena->execute([=] { fn(arg); });
}

static void light(float *v, size_t n, float k, float c)
{
    tbb::parallel_for(range(0, n), [=](const range &r) { light_range(v, r.begin(), r.end(), k, c); },
                      tbb::auto_partitioner());
}

static double sum(const double *v, size_t n)
{
    return tbb::parallel_reduce(
        range(0, n), 0.0,
        [v](const range &r, double before) { return sum_range(before, v, r.begin(), r.end()); },
        [](double a, double b) { return a + b; }, tbb::auto_partitioner());
}

static void scan(int32_t *to, const int32_t *from, size_t n)
{
    tbb::parallel_scan(
        range(0, n), 0,
        [=](const range &r, int32_t before, bool last) {
            return last ? scan_range(before, to, from, r.begin(), r.end())
                        : fold_range(before, from, r.begin(), r.end());
        },
        [](int32_t a, int32_t b) { return a + b; }, tbb::auto_partitioner());
}

#define FIND_PIECE 32768

template <typename Partitioner>
static size_t find_in(range all, const int32_t *v, int32_t wanted, const Partitioner &partitioner)
{
    std::atomic<size_t> found(all.end());
    tbb::task_group_context context;
    tbb::parallel_for(
        all,
        [&, v, wanted](const range &r) {
            size_t at = find_range(v, r.begin(), r.end(), wanted);
            if (at < r.end()) {
                found = at;
                context.cancel_group_execution();
            }
        },
        partitioner, context);
    return found;
}

static size_t find(const int32_t *v, size_t n, int32_t wanted)
{
    return find_in(range(0, n), v, wanted, tbb::auto_partitioner());
}

static size_t find_pieces(const int32_t *v, size_t n, int32_t wanted)
{
    return find_in(range(0, n, FIND_PIECE), v, wanted, tbb::simple_partitioner());
}

static void sort(int32_t *v, size_t n)
{
    tbb::parallel_sort(v, v + n);
}

static void sort_by(int32_t *v, size_t n, par_compare *compare)
{
    tbb::parallel_sort(v, v + n,
                       [compare](const int32_t &a, const int32_t &b) { return compare(&a, &b) < 0; });
}

static void spin(uint64_t *to, const uint32_t *units, size_t n)
{
    tbb::parallel_for(range(0, n), [=](const range &r) { spin_range(to, units, r.begin(), r.end()); });
}

const struct par_runtime par_runtime = {start, stop, version, run, light, sum, scan, sort, sort_by,
                                        {find, find_pieces}, {spin}};
