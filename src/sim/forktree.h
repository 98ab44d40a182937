/* forktree.h: fork-join programs as trees.
 *
 * A node is a task. It works for before(). With k > 0 children it then forks them: children k - 1, ..., 1
 * enter the worker's deque in this order, and the worker continues with child 0. The node waits. The worker
 * that ends the last of the children continues with the node, which works for after() and ends. A leaf works
 * for before() only.
 *
 * A node is a number, and the kind of tree says what it means: for fib it is the argument, for a balanced
 * tree and a spine the height, for an explicit tree an index. Equal numbers are equal subtrees.
 *
 * A tree is read only once it is made: any number of threads may run it at a time. */
#ifndef FILCH_SIM_FORKTREE_H
#define FILCH_SIM_FORKTREE_H

#include "sim/clock.h"

#include <stddef.h>
#include <stdint.h>

struct dist;

enum forktree_kind {
    FORKTREE_FIB,      /* fib(n) forks fib(n - 1) and fib(n - 2); fib(1) and fib(0) are leaves             */
    FORKTREE_BALANCED, /* every leaf is `depth` steps below the root; inner nodes have `arity` children    */
    FORKTREE_SPINE,    /* a chain of `depth` inner nodes: child number `inner` of each is the next one (of
                          the last one a leaf), the other arity - 1 children are leaves                    */
    FORKTREE_RANDOM,   /* binary, `size` nodes, divided between two children at random; explicit           */
    FORKTREE_UTS,      /* as UTS, with rng_mix() in place of SHA-1: other trees, same laws; explicit       */
    FORKTREE_LOOP      /* `size` iterations, split in half down to at most `grain`; explicit               */
};

enum forktree_uts {
    FORKTREE_UTS_FIXED,   /* geometric: mean `branching` children down to `depth`, there leaves            */
    FORKTREE_UTS_LINEAR,  /* geometric: the mean falls linearly, from `branching` to 0 at `depth`          */
    FORKTREE_UTS_BINOMIAL /* the root has `branching` children, rounded down; other nodes have `arity` with
                             probability `chance`, otherwise none                                          */
};

enum forktree_profile {
    FORKTREE_CONSTANT, /* each iteration takes `leaf`                                                      */
    FORKTREE_LINEAR,   /* iteration i takes 2 * (i + 1) / (size + 1) times `leaf`: mean `leaf`             */
    FORKTREE_UNEVEN,   /* each iteration takes a draw of `lengths`                                         */
    FORKTREE_HEAVY     /* iteration `heavy` takes heavy_work, each other one `leaf`                        */
};

enum {
    FORKTREE_FIB_MOST = 90,
    FORKTREE_ARITY_MOST = 1 << 16,
    FORKTREE_BALANCED_MOST = 1 << 20,       /* depth */
    FORKTREE_SPINE_MOST = 1 << 30,          /* depth */
    FORKTREE_NODES_MOST = 1 << 26,          /* of an explicit tree; 24 bytes each */
    FORKTREE_UTS_CHILDREN_MOST = 100,       /* of a node of a geometric tree, as in UTS */
    FORKTREE_UNEVEN_MOST = 1 << 28          /* iterations with a draw each */
};
#define FORKTREE_ITERATIONS_MOST ((uint64_t)1 << 40)

/* What forktree_make() builds. Each kind reads the fields that its comment above names. */
struct forktree_spec {
    enum forktree_kind kind;
    uint64_t seed;              /* random, UTS, uneven loops                                               */
    sim_time leaf;              /* work of a leaf; of an iteration                                         */
    sim_time before, after;     /* work of an inner node                                                   */
    const struct dist *lengths; /* random, UTS: if not NULL, every leaf, before and after is a draw of it  */
    uint64_t n;                 /* fib: its argument                                                       */
    uint32_t arity, inner;
    uint64_t depth;
    uint64_t size, grain;
    uint64_t most;              /* explicit: more nodes are an error; 0: FORKTREE_NODES_MOST               */
    enum forktree_uts uts;
    double branching, chance;
    enum forktree_profile profile;
    uint64_t heavy;             /* the first iteration is 0 */
    sim_time heavy_work;
};

struct forktree_node {
    uint32_t first_child, children; /* children are neighbours */
    sim_time before, after;
};

struct forktree {
    enum forktree_kind kind;
    uint64_t root;
    uint32_t arity, inner;      /* balanced, spine                                                  */
    sim_time leaf;              /* computed kinds: work of a leaf                                   */
    sim_time before, after;     /* computed kinds: work of an inner node                            */
    struct forktree_node *node; /* explicit: a parent stands before its children; otherwise NULL    */
    size_t nodes;               /* explicit: length of `node`                                       */
};

/* What the scheduler adds to the work of the nodes. */
struct forktree_costs {
    sim_time exec;   /* before each node                                                     */
    sim_time spawn;  /* per child that enters the deque: all but child 0                     */
    sim_time pop;    /* from taking a node of the own deque until it begins                  */
    sim_time join;   /* from the end of the last child until the node works for after()      */
    sim_time failed; /* from a probe that finds nothing until the next                       */
    sim_time steal;  /* from a probe that finds a node until the node begins                 */
};

/* 0, -EINVAL or -ENOMEM with a message; then *t has nothing to free. */
int forktree_make(struct forktree *t, const struct forktree_spec *spec, char *message, size_t size);
void forktree_free(struct forktree *t);

/* Number of nodes. */
uint64_t forktree_count(const struct forktree *t);

/* Time of the whole tree on one worker: the root is popped, nothing is stolen. 0, or -EINVAL (a cost out of
 * range, a time above SIM_TIME_MAX) or -ENOMEM with a message. */
int forktree_work(const struct forktree *t, const struct forktree_costs *costs, sim_time *work,
                  char *message, size_t size);

/* No number of workers is faster: the longest path, on which each child but child 0 is popped or stolen,
 * whichever is cheaper. Errors as above. */
int forktree_span(const struct forktree *t, const struct forktree_costs *costs, sim_time *span,
                  char *message, size_t size);

/* Time from the beginning of a node to its end if nothing of it is stolen, for every node of the tree. */
struct forktree_sums {
    struct forktree_costs costs;
    sim_time *table;      /* by node; NULL: base + node * step */
    sim_time base, step;
};

/* Errors as above. Takes time and memory in proportion to the nodes of an explicit tree; computed ones are
 * cheap. */
int forktree_sums_make(struct forktree_sums *sums, const struct forktree *t,
                       const struct forktree_costs *costs, char *message, size_t size);
void forktree_sums_free(struct forktree_sums *sums);

static inline sim_time forktree_sum(const struct forktree_sums *sums, uint64_t node)
{
    return sums->table ? sums->table[node] : sums->base + (sim_time)node * sums->step;
}

static inline uint32_t forktree_children(const struct forktree *t, uint64_t node)
{
    if (t->node)
        return t->node[node].children;
    if (t->kind == FORKTREE_FIB)
        return node < 2 ? 0 : 2;
    return node == 0 ? 0 : t->arity;
}

/* i is 0 .. forktree_children() - 1. */
static inline uint64_t forktree_child(const struct forktree *t, uint64_t node, uint32_t i)
{
    if (t->node)
        return t->node[node].first_child + (uint64_t)i;
    if (t->kind == FORKTREE_FIB)
        return node - 1 - i;
    return t->kind == FORKTREE_BALANCED || i == t->inner ? node - 1 : 0;
}

static inline sim_time forktree_before(const struct forktree *t, uint64_t node)
{
    if (t->node)
        return t->node[node].before;
    return forktree_children(t, node) ? t->before : t->leaf;
}

/* Of a node with children. */
static inline sim_time forktree_after(const struct forktree *t, uint64_t node)
{
    return t->node ? t->node[node].after : t->after;
}

/* From the beginning of a node until its children are in the deque; of a leaf, until its end. */
static inline sim_time forktree_until_fork(const struct forktree *t, const struct forktree_costs *costs,
                                           uint64_t node)
{
    uint32_t k = forktree_children(t, node);
    return costs->exec + forktree_before(t, node) + (k > 1 ? (sim_time)(k - 1) * costs->spawn : 0);
}

#endif
