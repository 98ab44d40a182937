#include "tbb_bench.h"

static int64_t fib(int n)
{
    if (n < 2)
        return n;
    int64_t b;
    tbb::task_group group;
    group.run([&b, n] { b = fib(n - 2); });
    int64_t a = fib(n - 1);
    group.wait();
    return a + b;
}

bench_answer tbb_fib(const bench_input *in)
{
    return {{tbb_bench_arena->execute([in] { return fib(in->size); }), 0, 0}};
}
