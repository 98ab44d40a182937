/* demo_tree.c: an unbalanced tree (UTS, tree T3): each node is the SHA-1 of its parent and its
 * number, and one in eight has eight children. Nobody can tell where the big subtrees are. */
#include "demo.h"
#include "sha1.h"
#include <stdio.h>

#define ROOT_CHILDREN 2000
#define CHILDREN 8
#define SEED 42

struct node {
    uint32_t digest[5];
    int depth;
};

struct count {
    int64_t nodes, leaves, depth;
};

typedef const struct node *node_ref;

static int root_children;
static struct count serial_count, parallel_count;

static void node_root(struct node *n)
{
    const uint32_t message[5] = {0, 0, 0, 0, SEED};
    sha1_words(n->digest, message, 5);
    n->depth = 0;
}

static void node_child(const struct node *parent, int number, struct node *n)
{
    const uint32_t *p = parent->digest;
    const uint32_t message[6] = {p[0], p[1], p[2], p[3], p[4], (uint32_t)number};
    sha1_words(n->digest, message, 6);
    n->depth = parent->depth + 1;
}

static int node_children(const struct node *n)
{
    if (n->depth == 0)
        return root_children;
    return (n->digest[4] & 0x7fffffff) / 2147483648.0 < 0.124875 ? CHILDREN : 0;
}

static void count_add(struct count *sum, struct count c)
{
    sum->nodes += c.nodes;
    sum->leaves += c.leaves;
    sum->depth = c.depth > sum->depth ? c.depth : sum->depth;
}

static struct count visit_serial(const struct node *n)
{
    int children = node_children(n);
    struct count sum = {1, children == 0, n->depth};
    for (int i = 0; i < children; i++) {
        struct node child;
        node_child(n, i, &child);
        count_add(&sum, visit_serial(&child));
    }
    return sum;
}

FILCH_TASK(struct count, visit, node_ref, parent, int, number)
{
    struct node n;
    if (parent)
        node_child(parent, number, &n);
    else
        node_root(&n);

    int children = node_children(&n);
    struct count sum = {1, children == 0, n.depth};
    FILCH_FORKS(later, visit);
    for (int i = children - 1; i > 0; i--)
        FILCH_FORK_ADD(visit, &n, i);
    if (children > 0)
        count_add(&sum, FILCH_CALL(visit, &n, 0));
    while (FILCH_FORKS_LEFT(later))
        count_add(&sum, FILCH_JOIN_LAST(visit, later));
    return sum;
}

static int prepare(int quick)
{
    root_children = quick ? 20 : ROOT_CHILDREN;
    return 0;
}

static void serial(void)
{
    struct node root;
    node_root(&root);
    serial_count = visit_serial(&root);
}

static void parallel(filch_pool *pool)
{
    parallel_count = FILCH_RUN_ON(pool, visit, NULL, 0);
}

static int right(void)
{
    const struct count *s = &serial_count, *p = &parallel_count;
    if (root_children == ROOT_CHILDREN &&
        (s->nodes != 4112897 || s->leaves != 3599034 || s->depth != 1572))
        return 0;
    return s->nodes == p->nodes && s->leaves == p->leaves && s->depth == p->depth;
}

static void describe(char *out, size_t size)
{
    snprintf(out, size, "%lld nodes, %lld deep", (long long)parallel_count.nodes,
             (long long)parallel_count.depth);
}

const struct demo_work demo_tree = {"UTS tree", prepare, serial, parallel, right, describe};
