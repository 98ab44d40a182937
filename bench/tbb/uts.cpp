#include "tbb_bench.h"
#include <memory>

static const int inline_children = 16;

static uts_count visit(const uts_tree *tree, const uts_node *parent, int number);

static uts_count children_visit(const uts_tree *tree, const uts_node *node, int children,
                                uts_count *later)
{
    uts_count count = uts_count_node(node, children);
    tbb::task_group group;
    for (int i = children - 1; i > 0; i--)
        group.run([=] { later[i] = visit(tree, node, i); });
    uts_count_add(&count, visit(tree, node, 0));
    group.wait();
    for (int i = 1; i < children; i++)
        uts_count_add(&count, later[i]);
    return count;
}

static uts_count visit(const uts_tree *tree, const uts_node *parent, int number)
{
    uts_node node;
    if (parent)
        uts_child(parent, number, &node);
    else
        uts_root(tree, &node);
    int children = uts_children(tree, &node);
    if (children == 0)
        return uts_count_node(&node, 0);
    if (children <= inline_children) {
        uts_count later[inline_children];
        return children_visit(tree, &node, children, later);
    }
    std::unique_ptr<uts_count[]> later(new uts_count[static_cast<std::size_t>(children)]);
    return children_visit(tree, &node, children, later.get());
}

bench_answer tbb_uts(const bench_input *in)
{
    uts_count c = tbb_bench_arena->execute([in] { return visit(in->uts, nullptr, 0); });
    return {{c.nodes, c.leaves, c.depth}};
}
