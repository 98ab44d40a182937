#include "omp_bench.h"

static int64_t sum(const struct bench_tree *t)
{
    int64_t left, right;
    if (!t->left)
        return t->value;
#pragma omp task shared(right) firstprivate(t)
    right = sum(t->right);
    left = sum(t->left);
#pragma omp taskwait
    return t->value + left + right;
}

struct bench_answer omp_tree(const struct bench_input *in)
{
    int64_t value = 0;
#pragma omp parallel num_threads(omp_bench_workers)
#pragma omp single
    value = sum(in->tree);
    return (struct bench_answer){{value, 0, 0}};
}
