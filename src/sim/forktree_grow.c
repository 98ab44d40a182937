#include "sim/forktree_grow.h"

#include "base/rng.h"
#include "sim/dist.h"
#include "sim/math.h"
#include "sim/refuse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

/* A tree that grows in the order of its levels. A node that has not been expanded yet keeps in before and
 * after what its expansion needs: the size, hash or range of its subtree. */
struct growth {
    struct forktree *tree;
    const struct forktree_spec *spec;
    size_t room; /* nodes that fit into tree->node */
    uint64_t most;
    struct rng rng;
    char *message;
    size_t message_size;
};

/* Expands node i: sets its work, appends its children. Errors as forktree_make(). */
typedef int expansion(struct growth *g, size_t i);

static int no_memory(struct growth *g, size_t nodes)
{
    (void)sim_refuse(g->message, g->message_size, "no memory for a tree of %zu nodes", nodes);
    return -ENOMEM;
}

static int reserve(struct growth *g, size_t nodes)
{
    if (nodes > g->most)
        return sim_refuse(g->message, g->message_size, "the tree has more than %" PRIu64 " nodes", g->most);
    if (nodes <= g->room)
        return 0;
    size_t room = nodes > 2 * g->room ? nodes : 2 * g->room;
    room = room > g->most ? (size_t)g->most : room;
    struct forktree_node *node = realloc(g->tree->node, room * sizeof *node);
    if (!node)
        return no_memory(g, room);
    g->tree->node = node;
    g->room = room;
    return 0;
}

/* Appends k nodes, to be children of node i. The caller writes their before and after. */
static int append(struct growth *g, size_t i, uint32_t k)
{
    struct forktree *t = g->tree;
    int rc = reserve(g, t->nodes + k);
    if (rc < 0)
        return rc;
    t->node[i].first_child = k ? (uint32_t)t->nodes : 0;
    t->node[i].children = k;
    for (uint32_t j = 0; j < k; j++)
        t->node[t->nodes++] = (struct forktree_node){0};
    return 0;
}

static sim_time draw(struct growth *g)
{
    return dist_draw(g->spec->lengths, rng_next(&g->rng));
}

/* Work of node i, which has been expanded. */
static void set_work(struct growth *g, size_t i)
{
    const struct forktree_spec *spec = g->spec;
    struct forktree_node *node = &g->tree->node[i];
    bool leaf = node->children == 0;
    if (spec->lengths) {
        node->before = draw(g);
        node->after = leaf ? 0 : draw(g);
    } else {
        node->before = leaf ? spec->leaf : spec->before;
        node->after = leaf ? 0 : spec->after;
    }
}

/* ---- random: before is the number of nodes of the subtree --------------------------------- */

static int expand_random(struct growth *g, size_t i)
{
    struct forktree *t = g->tree;
    uint32_t below = (uint32_t)t->node[i].before - 1;
    int rc = append(g, i, below < 2 ? below : 2);
    if (rc < 0)
        return rc;
    struct forktree_node *child = t->node + t->node[i].first_child;
    if (below == 1)
        child[0].before = 1;
    if (below >= 2) {
        child[0].before = 1 + rng_below(&g->rng, below - 1);
        child[1].before = below - child[0].before;
    }
    set_work(g, i);
    return 0;
}

/* ---- UTS: before is the hash of the node, after its level --------------------------------- */

/* A number in [0, 1) that the node's hash decides. */
static double uts_fraction(uint64_t hash)
{
    return (double)(hash >> 11) * 0x1p-53;
}

/* Geometric distribution with the given mean, by inversion. */
static uint32_t uts_geometric(double mean, double u)
{
    if (!(mean > 0))
        return 0;
    double k = sim_log1p(-u) / sim_log1p(-1 / (1 + mean));
    return k < FORKTREE_UTS_CHILDREN_MOST ? (uint32_t)k : FORKTREE_UTS_CHILDREN_MOST;
}

static uint32_t uts_children(const struct forktree_spec *spec, uint64_t hash, uint64_t level)
{
    double u = uts_fraction(hash);
    if (spec->uts == FORKTREE_UTS_BINOMIAL) {
        if (level == 0)
            return (uint32_t)spec->branching;
        return u < spec->chance ? spec->arity : 0;
    }
    if (level >= spec->depth)
        return 0;
    if (spec->uts == FORKTREE_UTS_FIXED)
        return uts_geometric(spec->branching, u);
    return uts_geometric(spec->branching * (double)(spec->depth - level) / (double)spec->depth, u);
}

static int expand_uts(struct growth *g, size_t i)
{
    struct forktree *t = g->tree;
    uint64_t hash = (uint64_t)t->node[i].before;
    sim_time level = t->node[i].after;
    uint32_t k = uts_children(g->spec, hash, (uint64_t)level);
    int rc = append(g, i, k);
    if (rc < 0)
        return rc;
    struct forktree_node *child = t->node + t->node[i].first_child;
    for (uint32_t j = 0; j < k; j++) {
        child[j].before = (sim_time)rng_mix(hash + j + 1);
        child[j].after = level + 1;
    }
    set_work(g, i);
    return 0;
}

/* ---- loops: before is the first iteration, after the end of the range --------------------- */

/* Work of the iterations 0 .. i - 1 of a linear profile, rounded down: ranges add up exactly. Below 2^119. */
static __int128 linear_sum(const struct forktree_spec *spec, uint64_t i)
{
    unsigned __int128 pairs = (unsigned __int128)i * (i + 1), parts = spec->size + 1;
    unsigned __int128 work = (unsigned __int128)spec->leaf;
    return (__int128)(pairs / parts * work + pairs % parts * work / parts);
}

static __int128 uneven_sum(struct growth *g, uint64_t first, uint64_t end)
{
    __int128 sum = 0;
    for (uint64_t i = first; i < end; i++)
        sum += draw(g);
    return sum;
}

static __int128 range_work(struct growth *g, uint64_t first, uint64_t end)
{
    const struct forktree_spec *spec = g->spec;
    __int128 even = (__int128)(end - first) * spec->leaf;
    switch (spec->profile) {
    case FORKTREE_LINEAR:
        return linear_sum(spec, end) - linear_sum(spec, first);
    case FORKTREE_UNEVEN:
        return uneven_sum(g, first, end);
    case FORKTREE_HEAVY:
        return spec->heavy >= first && spec->heavy < end ? even - spec->leaf + spec->heavy_work : even;
    case FORKTREE_CONSTANT:
        break;
    }
    return even;
}

static int expand_leaf(struct growth *g, size_t i, uint64_t first, uint64_t end)
{
    __int128 work = range_work(g, first, end);
    if (work > SIM_TIME_MAX)
        return sim_refuse(g->message, g->message_size,
                          "iterations %" PRIu64 " to %" PRIu64 " take more than 2^59 ns", first, end - 1);
    g->tree->node[i] = (struct forktree_node){.before = (sim_time)work};
    return 0;
}

static int expand_loop(struct growth *g, size_t i)
{
    struct forktree *t = g->tree;
    sim_time first = t->node[i].before, end = t->node[i].after, middle = first + (end - first) / 2;
    if ((uint64_t)(end - first) <= g->spec->grain)
        return expand_leaf(g, i, (uint64_t)first, (uint64_t)end);
    int rc = append(g, i, 2);
    if (rc < 0)
        return rc;
    struct forktree_node *node = t->node + i, *child = t->node + node->first_child;
    child[0].before = first;
    child[0].after = child[1].before = middle;
    child[1].after = end;
    node->before = g->spec->before;
    node->after = g->spec->after;
    return 0;
}

/* ---- checks and the whole ----------------------------------------------------------------- */

static int check_number(struct growth *g, const char *what, uint64_t n, uint64_t least, uint64_t most)
{
    if (n >= least && n <= most)
        return 0;
    return sim_refuse(g->message, g->message_size, "%s: %" PRIu64 " to %" PRIu64 ", not %" PRIu64, what,
                      least, most, n);
}

/* NaN is in no range. */
static int check_real(struct growth *g, const char *what, double x, double most)
{
    if (x >= 0 && x <= most)
        return 0;
    return sim_refuse(g->message, g->message_size, "%s: 0 to %g, not %g", what, most, x);
}

static int check_uts(struct growth *g)
{
    const struct forktree_spec *spec = g->spec;
    if (spec->uts == FORKTREE_UTS_BINOMIAL) {
        int rc = check_real(g, "children of the root of a binomial tree", spec->branching, 1e6);
        if (rc == 0)
            rc = check_real(g, "chance of children in a binomial tree", spec->chance, 1);
        return rc < 0 ? rc : check_number(g, "arity of a binomial tree", spec->arity, 1, FORKTREE_ARITY_MOST);
    }
    if (spec->uts != FORKTREE_UTS_FIXED && spec->uts != FORKTREE_UTS_LINEAR)
        return sim_refuse(g->message, g->message_size, "law of a UTS tree: 0 to 2, not %d", (int)spec->uts);
    int rc = check_real(g, "mean number of children", spec->branching, FORKTREE_UTS_CHILDREN_MOST);
    return rc < 0 ? rc : check_number(g, "depth of a geometric tree", spec->depth, 0, FORKTREE_NODES_MOST);
}

static int check_profile(struct growth *g)
{
    const struct forktree_spec *spec = g->spec;
    switch (spec->profile) {
    case FORKTREE_CONSTANT:
    case FORKTREE_LINEAR:
        return 0;
    case FORKTREE_UNEVEN:
        if (!spec->lengths)
            return sim_refuse(g->message, g->message_size, "an uneven loop needs a distribution of lengths");
        return check_number(g, "iterations of an uneven loop", spec->size, 1, FORKTREE_UNEVEN_MOST);
    case FORKTREE_HEAVY:
        if (spec->heavy_work < 0 || spec->heavy_work > SIM_TIME_MAX)
            return sim_refuse(g->message, g->message_size,
                              "work of the heavy iteration: a time is 0 to 2^59 ns, not %" PRId64,
                              spec->heavy_work);
        return check_number(g, "the heavy iteration", spec->heavy, 0, spec->size - 1);
    }
    return sim_refuse(g->message, g->message_size, "profile of a loop: 0 to %d, not %d", FORKTREE_HEAVY,
                      (int)spec->profile);
}

static int check_loop(struct growth *g)
{
    int rc = check_number(g, "iterations of a loop", g->spec->size, 1, FORKTREE_ITERATIONS_MOST);
    if (rc == 0)
        rc = check_number(g, "grain of a loop", g->spec->grain, 1, UINT64_MAX);
    return rc < 0 ? rc : check_profile(g);
}

static int grow(struct growth *g, expansion *expand, sim_time before, sim_time after)
{
    int rc = reserve(g, 1);
    if (rc < 0)
        return rc;
    g->tree->node[0] = (struct forktree_node){.before = before, .after = after};
    g->tree->nodes = 1;
    for (size_t i = 0; i < g->tree->nodes && rc == 0; i++)
        rc = expand(g, i);
    return rc;
}

int forktree_grow(struct forktree *t, const struct forktree_spec *spec, char *message, size_t size)
{
    struct growth g = {.tree = t, .spec = spec, .message = message, .message_size = size};
    g.most = spec->most ? spec->most : FORKTREE_NODES_MOST;
    rng_seed(&g.rng, spec->seed);
    int rc = check_number(&g, "nodes of a tree", g.most, 1, FORKTREE_NODES_MOST);
    if (rc < 0)
        return rc;
    if (spec->kind == FORKTREE_RANDOM) {
        rc = check_number(&g, "nodes of a tree", spec->size, 1, g.most);
        return rc < 0 ? rc : grow(&g, expand_random, (sim_time)spec->size, 0);
    }
    if (spec->kind == FORKTREE_UTS) {
        rc = check_uts(&g);
        return rc < 0 ? rc : grow(&g, expand_uts, (sim_time)rng_mix(spec->seed), 0);
    }
    rc = check_loop(&g);
    return rc < 0 ? rc : grow(&g, expand_loop, 0, (sim_time)spec->size);
}
