#include "serial.h"

static struct uts_count visit(const struct uts_tree *tree, const struct uts_node *node)
{
    int children = uts_children(tree, node);
    struct uts_count count = uts_count_node(node, children);
    for (int i = 0; i < children; i++) {
        struct uts_node child;
        uts_child(node, i, &child);
        uts_count_add(&count, visit(tree, &child));
    }
    return count;
}

struct bench_answer serial_uts(const struct bench_input *in)
{
    struct uts_node root;
    uts_root(in->uts, &root);
    struct uts_count c = visit(in->uts, &root);
    return (struct bench_answer){{c.nodes, c.leaves, c.depth}};
}
