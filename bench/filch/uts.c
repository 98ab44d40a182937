#include "filch_bench.h"

typedef const struct uts_tree *tree_ref;
typedef const struct uts_node *node_ref;

/* A child is made by the job that visits it; the parent's node stays until all are joined. */
TASK(struct uts_count, visit, tree_ref, tree, node_ref, parent, int, number)
{
    struct uts_node node;
    if (parent)
        uts_child(parent, number, &node);
    else
        uts_root(tree, &node);

    int children = uts_children(tree, &node);
    struct uts_count count = uts_count_node(&node, children);
    if (children == 0)
        return count;
    FILCH_FORKS(later, visit);
    for (int i = children - 1; i > 0; i--)
        FILCH_FORK_ADD(visit, tree, &node, i);
    uts_count_add(&count, FILCH_CALL(visit, tree, &node, 0));
    while (FILCH_FORKS_LEFT(later))
        uts_count_add(&count, FILCH_JOIN_LAST(visit, later));
    return count;
}

struct bench_answer WORK(uts)(const struct bench_input *in)
{
    struct uts_count c = FILCH_RUN_ON(bench_pool, visit, in->uts, NULL, 0);
    return (struct bench_answer){{c.nodes, c.leaves, c.depth}};
}
