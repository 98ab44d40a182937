#include "uts.h"
#include "../../tools/sha1.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

#define MAX_CHILDREN 100
#define PI 3.141592653589793

static const struct uts_tree trees[] = {
    {"T1", UTS_GEOMETRIC, UTS_FIXED, 4, 10, 0, 0, 19, 4130071, 3305118, 10},
    {"T2", UTS_GEOMETRIC, UTS_CYCLIC, 6, 16, 0, 0, 502, 4117769, 2342762, 81},
    {"T3", UTS_BINOMIAL, UTS_FIXED, 2000, 0, 0.124875, 8, 42, 4112897, 3599034, 1572},
    {"T4", UTS_HYBRID, UTS_LINEAR, 6, 16, 0.234375, 4, 1, 4132453, 3108986, 134},
    {"T5", UTS_GEOMETRIC, UTS_LINEAR, 4, 20, 0, 0, 34, 4147582, 2181318, 20},
    {"T1L", UTS_GEOMETRIC, UTS_FIXED, 4, 13, 0, 0, 29, 102181082, 81746377, 13},
    {"T3L", UTS_BINOMIAL, UTS_FIXED, 2000, 0, 0.200014, 5, 7, 111345631, 89076904, 17844},
};

const struct uts_tree *uts_find(const char *name)
{
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
        if (!strcmp(trees[i].name, name))
            return &trees[i];
    return NULL;
}

void uts_root(const struct uts_tree *tree, struct uts_node *root)
{
    const uint32_t message[5] = {0, 0, 0, 0, tree->seed};
    sha1_words(root->digest, message, 5);
    root->depth = 0;
}

void uts_child(const struct uts_node *parent, int number, struct uts_node *child)
{
    const uint32_t *p = parent->digest;
    const uint32_t message[6] = {p[0], p[1], p[2], p[3], p[4], (uint32_t)number};
    sha1_words(child->digest, message, 6);
    child->depth = parent->depth + 1;
}

/* Uniform in [0, 1). */
static double chance(const struct uts_node *node)
{
    return (double)(node->digest[4] & 0x7fffffff) / 2147483648.0;
}

static int binomial(const struct uts_tree *tree, const struct uts_node *node)
{
    if (node->depth == 0)
        return (int)floor(tree->b0);
    return chance(node) < tree->q ? tree->m : 0;
}

static double branching(const struct uts_tree *tree, int depth)
{
    if (depth == 0)
        return tree->b0;
    switch (tree->shape) {
    case UTS_LINEAR:
        return tree->b0 * (1.0 - (double)depth / (double)tree->gen);
    case UTS_CYCLIC:
        return depth > 5 * tree->gen ? 0.0
                                     : pow(tree->b0, sin(2.0 * PI * (double)depth / (double)tree->gen));
    default:
        return depth < tree->gen ? tree->b0 : 0.0;
    }
}

static int geometric(const struct uts_tree *tree, const struct uts_node *node)
{
    double p = 1.0 / (1.0 + branching(tree, node->depth));
    int k = (int)floor(log(1.0 - chance(node)) / log(1.0 - p));
    return k < MAX_CHILDREN ? k : MAX_CHILDREN;
}

int uts_children(const struct uts_tree *tree, const struct uts_node *node)
{
    if (tree->kind == UTS_BINOMIAL)
        return binomial(tree, node);
    if (tree->kind == UTS_HYBRID && node->depth >= 0.5 * tree->gen)
        return binomial(tree, node);
    return geometric(tree, node);
}
