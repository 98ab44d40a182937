#include "filch_bench.h"

/* The later child is forked and the first runs inline: the order of the serial code, and of the
 * memory. */
TASK(int64_t, sum, const struct bench_tree *, t)
{
    if (!t->left)
        return t->value;
    FILCH_FORK(right, sum, t->right);
    int64_t left = FILCH_CALL(sum, t->left);
    return t->value + left + FILCH_JOIN(sum, right);
}

struct bench_answer WORK(tree)(const struct bench_input *in)
{
    return (struct bench_answer){{FILCH_RUN_ON(bench_pool, sum, in->tree), 0, 0}};
}
