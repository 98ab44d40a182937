/* uts.h: the trees of the Unbalanced Tree Search benchmark.
 *
 * A node is a SHA-1 digest and a depth; the digest decides how many children it has and, hashed
 * with a child's number, is the child. The size of a subtree cannot be told from outside, which is
 * what makes the tree hard to balance.
 */
#ifndef UTS_H
#define UTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum uts_kind { UTS_GEOMETRIC, UTS_BINOMIAL, UTS_HYBRID };
enum uts_shape { UTS_LINEAR, UTS_CYCLIC, UTS_FIXED };

struct uts_tree {
    const char *name;
    enum uts_kind kind;
    enum uts_shape shape; /* how the branching factor of geometric nodes depends on the depth */
    double b0;            /* branching factor at the root                                     */
    int gen;              /* depth at which geometric trees end                               */
    double q;             /* binomial: chance of having children ...                          */
    int m;                /* ... and their number                                             */
    uint32_t seed;
    int64_t nodes, leaves, depth; /* as published                                             */
};

struct uts_node {
    uint32_t digest[5];
    int depth;
};

struct uts_count {
    int64_t nodes, leaves, depth;
};

const struct uts_tree *uts_find(const char *name); /* "T1" .. "T5", "T1L", "T3L"; null: no such */
void uts_root(const struct uts_tree *tree, struct uts_node *root);
void uts_child(const struct uts_node *parent, int number, struct uts_node *child);
int uts_children(const struct uts_tree *tree, const struct uts_node *node);

/* Of a node by itself, and of a node with one more subtree. */
static inline struct uts_count uts_count_node(const struct uts_node *node, int children)
{
    struct uts_count c = {1, children == 0, node->depth};
    return c;
}

static inline void uts_count_add(struct uts_count *sum, struct uts_count c)
{
    sum->nodes += c.nodes;
    sum->leaves += c.leaves;
    if (sum->depth < c.depth)
        sum->depth = c.depth;
}

#ifdef __cplusplus
}
#endif
#endif
