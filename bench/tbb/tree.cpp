#include "tbb_bench.h"

static int64_t sum(const bench_tree *t)
{
    if (!t->left)
        return t->value;
    int64_t right;
    tbb::task_group group;
    group.run([&right, t] { right = sum(t->right); });
    int64_t left = sum(t->left);
    group.wait();
    return t->value + left + right;
}

bench_answer tbb_tree(const bench_input *in)
{
    return {{tbb_bench_arena->execute([in] { return sum(in->tree); }), 0, 0}};
}
