#include "omp_bench.h"

static int64_t fib(int n)
{
    int64_t a, b;
    if (n < 2)
        return n;
#pragma omp task shared(b) firstprivate(n)
    b = fib(n - 2);
    a = fib(n - 1);
#pragma omp taskwait
    return a + b;
}

struct bench_answer omp_fib(const struct bench_input *in)
{
    int64_t value = 0;
#pragma omp parallel num_threads(omp_bench_workers)
#pragma omp single
    value = fib(in->size);
    return (struct bench_answer){{value, 0, 0}};
}
