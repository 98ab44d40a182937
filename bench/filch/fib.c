#include "filch_bench.h"

TASK(int64_t, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_FORK(b, fib, n - 2);
    int64_t a = FILCH_CALL(fib, n - 1);
    return a + FILCH_JOIN(fib, b);
}

struct bench_answer WORK(fib)(const struct bench_input *in)
{
    return (struct bench_answer){{FILCH_RUN_ON(bench_pool, fib, in->size), 0, 0}};
}
