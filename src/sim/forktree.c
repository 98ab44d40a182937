#include "sim/forktree.h"
#include "sim/forktree_grow.h"
#include "sim/refuse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

/* Sums are formed in 128 bits and compared with SIM_TIME_MAX once: 2^32 children of 2^59 each fit. */
typedef __int128 wide;

struct place {
    char *message;
    size_t size;
};

/* ---- making ------------------------------------------------------------------------------- */

static int check_time(const char *what, sim_time t, struct place p)
{
    if (t >= 0 && t <= SIM_TIME_MAX)
        return 0;
    return sim_refuse(p.message, p.size, "%s: a time is 0 to 2^59 ns, not %" PRId64, what, t);
}

static int check_number(const char *what, uint64_t n, uint64_t least, uint64_t most, struct place p)
{
    if (n >= least && n <= most)
        return 0;
    return sim_refuse(p.message, p.size, "%s: %" PRIu64 " to %" PRIu64 ", not %" PRIu64, what, least, most,
                      n);
}

static int check_times(const struct forktree_spec *spec, struct place p)
{
    int rc = check_time("work of a leaf", spec->leaf, p);
    if (rc == 0)
        rc = check_time("work before the fork", spec->before, p);
    if (rc == 0)
        rc = check_time("work after the join", spec->after, p);
    return rc;
}

static bool balanced_fits(uint32_t arity, uint64_t depth)
{
    wide nodes = 1;
    for (uint64_t i = 0; i < depth && nodes <= UINT64_MAX; i++)
        nodes = nodes * arity + 1;
    return nodes <= UINT64_MAX;
}

static int make_balanced(struct forktree *t, const struct forktree_spec *spec, struct place p)
{
    int rc = check_number("arity", spec->arity, 1, FORKTREE_ARITY_MOST, p);
    if (rc == 0)
        rc = check_number("depth of a balanced tree", spec->depth, 0, FORKTREE_BALANCED_MOST, p);
    if (rc == 0 && !balanced_fits(spec->arity, spec->depth))
        rc = sim_refuse(p.message, p.size, "arity %" PRIu32 ", depth %" PRIu64 ": more than 2^64 nodes",
                        spec->arity, spec->depth);
    t->root = spec->depth;
    return rc;
}

static int make_spine(struct forktree *t, const struct forktree_spec *spec, struct place p)
{
    int rc = check_number("arity", spec->arity, 1, FORKTREE_ARITY_MOST, p);
    if (rc == 0)
        rc = check_number("inner child of a spine", spec->inner, 0, spec->arity - 1, p);
    if (rc == 0)
        rc = check_number("depth of a spine", spec->depth, 0, FORKTREE_SPINE_MOST, p);
    t->root = spec->depth;
    return rc;
}

static int make_kind(struct forktree *t, const struct forktree_spec *spec, struct place p)
{
    switch (spec->kind) {
    case FORKTREE_FIB:
        t->root = spec->n;
        return check_number("fib", spec->n, 0, FORKTREE_FIB_MOST, p);
    case FORKTREE_BALANCED:
        return make_balanced(t, spec, p);
    case FORKTREE_SPINE:
        return make_spine(t, spec, p);
    case FORKTREE_RANDOM:
    case FORKTREE_UTS:
    case FORKTREE_LOOP:
        return forktree_grow(t, spec, p.message, p.size);
    }
    return sim_refuse(p.message, p.size, "kind of tree: 0 to %d, not %d", FORKTREE_LOOP, (int)spec->kind);
}

int forktree_make(struct forktree *t, const struct forktree_spec *spec, char *message, size_t size)
{
    struct place p = {message, size};
    *t = (struct forktree){.kind = spec->kind, .arity = spec->arity, .inner = spec->inner,
                           .leaf = spec->leaf, .before = spec->before, .after = spec->after};
    int rc = check_times(spec, p);
    if (rc == 0)
        rc = make_kind(t, spec, p);
    if (rc < 0)
        forktree_free(t);
    return rc;
}

void forktree_free(struct forktree *t)
{
    free(t->node);
    *t = (struct forktree){0};
}

/* ---- counting ----------------------------------------------------------------------------- */

static uint64_t count_fib(uint64_t n)
{
    uint64_t less = 1, nodes = 1; /* of fib(i - 1), fib(i) */
    for (uint64_t i = 2; i <= n; i++) {
        uint64_t next = nodes + less + 1;
        less = nodes;
        nodes = next;
    }
    return nodes;
}

static uint64_t count_balanced(uint32_t arity, uint64_t depth)
{
    uint64_t nodes = 1;
    for (uint64_t i = 0; i < depth; i++)
        nodes = nodes * arity + 1;
    return nodes;
}

uint64_t forktree_count(const struct forktree *t)
{
    if (t->node)
        return t->nodes;
    if (t->kind == FORKTREE_FIB)
        return count_fib(t->root);
    if (t->kind == FORKTREE_BALANCED)
        return count_balanced(t->arity, t->root);
    return t->root * t->arity + 1;
}

/* ---- work and span ------------------------------------------------------------------------ */

typedef wide measure(const struct forktree *t, const struct forktree_costs *c, const sim_time *below,
                     uint64_t node);

static wide node_work(const struct forktree *t, const struct forktree_costs *c, const sim_time *below,
                      uint64_t node)
{
    uint32_t k = forktree_children(t, node);
    wide sum = (wide)c->exec + (wide)forktree_before(t, node);
    if (k == 0)
        return sum;
    sum += (wide)(k - 1) * ((wide)c->spawn + (wide)c->pop);
    for (uint32_t i = 0; i < k; i++)
        sum += (wide)below[forktree_child(t, node, i)];
    return sum + (wide)c->join + (wide)forktree_after(t, node);
}

static wide node_span(const struct forktree *t, const struct forktree_costs *c, const sim_time *below,
                      uint64_t node)
{
    uint32_t k = forktree_children(t, node);
    wide sum = (wide)c->exec + (wide)forktree_before(t, node), longest = 0;
    if (k == 0)
        return sum;
    sim_time taken = c->pop < c->steal ? c->pop : c->steal;
    for (uint32_t i = 0; i < k; i++) {
        wide path = (wide)below[forktree_child(t, node, i)] + (wide)(i > 0 ? taken : 0);
        longest = path > longest ? path : longest;
    }
    return sum + (wide)(k - 1) * (wide)c->spawn + longest + (wide)c->join + (wide)forktree_after(t, node);
}

static int too_long(struct place p)
{
    return sim_refuse(p.message, p.size, "the tree takes more than 2^59 ns on one worker");
}

static bool measure_node(measure *m, const struct forktree *t, const struct forktree_costs *c,
                         sim_time *table, uint64_t node)
{
    wide sum = m(t, c, table, node);
    if (sum > (wide)SIM_TIME_MAX)
        return false;
    table[node] = (sim_time)sum;
    return true;
}

/* Numbers of children are above their parent's in an explicit tree, below it in a computed one. */
static bool measure_all(measure *m, const struct forktree *t, const struct forktree_costs *c,
                        sim_time *table, uint64_t nodes)
{
    for (uint64_t i = 0; i < nodes; i++) {
        if (!measure_node(m, t, c, table, t->node ? nodes - 1 - i : i))
            return false;
    }
    return true;
}

/* Measures of all nodes, to be freed by the caller. A spine has only the first three (leaf, height 1, 2). */
static int measure_table(measure *m, const struct forktree *t, const struct forktree_costs *c,
                         sim_time **table, struct place p)
{
    uint64_t nodes = t->node ? t->nodes : t->root + 1;
    if (t->kind == FORKTREE_SPINE && nodes > 3)
        nodes = 3;
    *table = malloc(nodes * sizeof **table);
    if (!*table) {
        sim_refuse(p.message, p.size, "no memory for the times of %" PRIu64 " nodes", nodes);
        return -ENOMEM;
    }
    if (measure_all(m, t, c, *table, nodes))
        return 0;
    free(*table);
    *table = NULL;
    return too_long(p);
}

static int check_costs(const struct forktree_costs *c, struct place p)
{
    int rc = check_time("cost of execution", c->exec, p);
    if (rc == 0)
        rc = check_time("cost of a spawn", c->spawn, p);
    if (rc == 0)
        rc = check_time("cost of a pop", c->pop, p);
    if (rc == 0)
        rc = check_time("cost of a join", c->join, p);
    if (rc == 0)
        rc = check_time("cost of a failed probe", c->failed, p);
    if (rc == 0)
        rc = check_time("cost of a steal", c->steal, p);
    return rc;
}

/* The root's measure. Above height 1 each step of a spine adds the same time, to the span as well: the path
 * through the next inner node is then at least as long as the one through a leaf. */
static wide root_measure(const struct forktree *t, const sim_time *table)
{
    if (t->kind != FORKTREE_SPINE || t->root < 3)
        return (wide)table[t->root];
    return (wide)table[1] + (wide)(t->root - 1) * (wide)(table[2] - table[1]);
}

/* The measure of the whole tree, with the pop of the root. */
static int measure_tree(measure *m, const struct forktree *t, const struct forktree_costs *c, sim_time *out,
                        struct place p)
{
    sim_time *table;
    int rc = check_costs(c, p);
    if (rc == 0)
        rc = measure_table(m, t, c, &table, p);
    if (rc < 0)
        return rc;
    wide sum = root_measure(t, table) + (wide)c->pop;
    free(table);
    if (sum > (wide)SIM_TIME_MAX)
        return too_long(p);
    *out = (sim_time)sum;
    return 0;
}

int forktree_work(const struct forktree *t, const struct forktree_costs *costs, sim_time *work,
                  char *message, size_t size)
{
    return measure_tree(node_work, t, costs, work, (struct place){message, size});
}

int forktree_span(const struct forktree *t, const struct forktree_costs *costs, sim_time *span,
                  char *message, size_t size)
{
    return measure_tree(node_span, t, costs, span, (struct place){message, size});
}

/* Replaces the table of a spine by two numbers. */
static int sums_of_spine(struct forktree_sums *sums, const struct forktree *t, struct place p)
{
    sim_time *table = sums->table;
    wide root = root_measure(t, table);
    sums->base = table[0];
    sums->step = t->root > 0 ? table[1] - table[0] : 0;
    free(table);
    sums->table = NULL;
    return root > (wide)SIM_TIME_MAX ? too_long(p) : 0;
}

int forktree_sums_make(struct forktree_sums *sums, const struct forktree *t,
                       const struct forktree_costs *costs, char *message, size_t size)
{
    struct place p = {message, size};
    *sums = (struct forktree_sums){.costs = *costs};
    int rc = check_costs(costs, p);
    if (rc == 0)
        rc = measure_table(node_work, t, costs, &sums->table, p);
    if (rc == 0 && t->kind == FORKTREE_SPINE)
        rc = sums_of_spine(sums, t, p);
    return rc;
}

void forktree_sums_free(struct forktree_sums *sums)
{
    free(sums->table);
    *sums = (struct forktree_sums){0};
}
