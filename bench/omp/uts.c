#include "omp_bench.h"

static struct uts_count visit(const struct uts_tree *tree, const struct uts_node *parent, int number);

static struct uts_count children_visit(const struct uts_tree *tree, const struct uts_node *node,
                                       int children)
{
    struct uts_count later[children], count = uts_count_node(node, children);
    for (int i = children - 1; i > 0; i--) {
        struct uts_count *out = &later[i];
#pragma omp task firstprivate(tree, node, i, out)
        *out = visit(tree, node, i);
    }
    uts_count_add(&count, visit(tree, node, 0));
#pragma omp taskwait
    for (int i = 1; i < children; i++)
        uts_count_add(&count, later[i]);
    return count;
}

static struct uts_count visit(const struct uts_tree *tree, const struct uts_node *parent, int number)
{
    struct uts_node node;
    if (parent)
        uts_child(parent, number, &node);
    else
        uts_root(tree, &node);
    int children = uts_children(tree, &node);
    return children ? children_visit(tree, &node, children) : uts_count_node(&node, 0);
}

struct bench_answer omp_uts(const struct bench_input *in)
{
    struct uts_count c = {0, 0, 0};
#pragma omp parallel num_threads(omp_bench_workers)
#pragma omp single
    c = visit(in->uts, 0, 0);
    return (struct bench_answer){{c.nodes, c.leaves, c.depth}};
}
