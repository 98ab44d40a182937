/* graph_plan.c: from edges and costs to the plan by which a graph runs. See graph.h.
 *
 * Everything here goes over arrays: a chain of a million nodes is no deeper than one of ten. */
#include "par/graph.h"

#include "os/os.h"

/* ---- memory: one block ---------------------------------------------------------------------- */

#define LINE 64

static void *cut(char *block, size_t *at, size_t n, size_t size)
{
    void *here = block ? block + *at : 0;
    *at += (n * size + LINE - 1) / LINE * LINE;
    return here;
}

/* With null: counts only. Returns how much it takes. */
static size_t lay_out(struct graph_plan *p, struct ready *r, char *block, size_t n, size_t m)
{
    size_t at = 0;
    p->first = cut(block, &at, n + 1, sizeof *p->first);
    p->before = cut(block, &at, m, sizeof *p->before);
    p->order = cut(block, &at, n, sizeof *p->order);
    p->way = cut(block, &at, n, sizeof *p->way);
    p->rank = cut(block, &at, n, sizeof *p->rank);
    p->scratch = cut(block, &at, n, sizeof *p->scratch);
    p->more = cut(block, &at, n, sizeof *p->more);
    p->by_rank = cut(block, &at, n, sizeof *p->by_rank);
    p->vertex = cut(block, &at, n + 1, sizeof *p->vertex);
    p->after = cut(block, &at, m, sizeof *p->after);
    p->left = cut(block, &at, n, sizeof *p->left);
    uint64_t *words = cut(block, &at, ready_words(n), sizeof *words);
    if (block)
        ready_init(r, n, words);
    return at;
}

/* As large as the lists of nodes and edges, which grow by doubling. */
static int reserve(filch_graph *g)
{
    struct graph_plan *p = &g->plan;
    if (p->block && p->nodes >= g->count && p->edges >= g->edges)
        return 0;
    graph_plan_free(g);
    size_t n = g->room, m = g->edge_room;
    char *block = os_alloc_aligned(lay_out(p, &g->ready, 0, n, m), LINE);
    if (!block)
        return -ENOMEM;
    p->block = block;
    p->nodes = n;
    p->edges = m;
    (void)lay_out(p, &g->ready, block, n, m);
    return 0;
}

void graph_plan_free(filch_graph *g)
{
    os_free(g->plan.block);
    g->plan = (struct graph_plan){0};
    g->shaped = g->ranked = false;
    g->cycle = 0;
}

/* ---- predecessors --------------------------------------------------------------------------- */

static bool counts(const filch_graph *g, const struct graph_edge *e)
{
    return !g->node[e->before].removed && !g->node[e->after].removed;
}

/* first[] becomes where each node's part of before[] begins; the parts may have the same twice. */
static void gather(filch_graph *g)
{
    struct graph_plan *p = &g->plan;
    memset(p->first, 0, (g->count + 1) * sizeof *p->first);
    for (size_t i = 0; i < g->edges; i++)
        if (counts(g, &g->edge[i]))
            p->first[g->edge[i].after]++;
    size_t sum = 0;
    for (size_t v = 0; v <= g->count; v++) {
        sum += v < g->count ? p->first[v] : 0;
        p->first[v] = sum; /* the end of its part: filled from there */
    }
    for (size_t i = g->edges; i-- > 0;)
        if (counts(g, &g->edge[i]))
            p->before[--p->first[g->edge[i].after]] = g->edge[i].before;
}

/* Leaves out what is there twice, and those edges as well. */
static void drop_doubles(filch_graph *g)
{
    struct graph_plan *p = &g->plan;
    uint32_t *seen = p->scratch; /* by whom, plus 1 */
    size_t kept = 0;
    memset(seen, 0, g->count * sizeof *seen);
    for (size_t v = 0; v < g->count; v++) {
        size_t from = p->first[v], to = p->first[v + 1];
        p->first[v] = kept;
        for (size_t i = from; i < to; i++) {
            uint32_t b = p->before[i];
            if (seen[b] == v + 1)
                continue;
            seen[b] = (uint32_t)v + 1;
            g->edge[kept] = (struct graph_edge){b, (uint32_t)v};
            p->before[kept++] = b;
        }
    }
    p->first[g->count] = g->edges = kept;
}

/* ---- cycles --------------------------------------------------------------------------------- */

/* Nodes after all their successors, into order[]; returns how many. Those on a cycle, or before one, are
 * left out: they have open[] > 0. */
static size_t sort_backwards(filch_graph *g, uint32_t *open)
{
    struct graph_plan *p = &g->plan;
    size_t n = 0, count;
    memset(open, 0, g->count * sizeof *open);
    for (size_t i = 0; i < g->edges; i++)
        open[p->before[i]]++;
    for (size_t v = g->count; v-- > 0;)
        if (open[v] == 0 && !g->node[v].removed)
            p->order[n++] = (uint32_t)v;
    for (size_t i = 0; i < n; i++) {
        const uint32_t *before = graph_before(g, p->order[i], &count);
        for (size_t k = 0; k < count; k++)
            if (--open[before[k]] == 0)
                p->order[n++] = before[k];
    }
    return n;
}

/* A node with open[] has a successor with open[]: whoever follows these comes to a cycle. */
static void find_cycle(filch_graph *g, const uint32_t *open)
{
    struct graph_plan *p = &g->plan;
    uint32_t *next = p->rank, *seen = p->more, at = GRAPH_NONE;
    size_t count;
    for (size_t v = g->count; v-- > 0;) {
        const uint32_t *before = graph_before(g, v, &count);
        for (size_t k = 0; k < count && open[v]; k++)
            next[before[k]] = (uint32_t)v; /* of several the lowest */
        seen[v] = 0;
        if (open[v])
            at = (uint32_t)v;
    }
    for (; !seen[at]; at = next[at])
        seen[at] = 1;
    uint32_t lowest = at;
    for (uint32_t v = next[at]; v != at; v = next[v])
        lowest = v < lowest ? v : lowest;
    g->cycle = 0;
    at = lowest;
    do {
        p->order[g->cycle++] = at;
        at = next[at];
    } while (at != lowest);
}

static int shape(filch_graph *g)
{
    uint32_t *open = g->plan.scratch;
    gather(g);
    drop_doubles(g);
    if (sort_backwards(g, open) == g->living_nodes)
        return 0;
    find_cycle(g, open);
    return -ELOOP;
}

/* ---- the longest way ------------------------------------------------------------------------ */

/* In ticks, as what is measured. */
static uint64_t ticks_of(uint64_t ns)
{
    uint64_t per_us = os_ticks_per_us();
    return ns > UINT64_MAX / 1024 / (per_us + 1) ? UINT64_MAX : ns * per_us / 1000;
}

/* What a node costs: as the next run sees it, or as the last one did. */
typedef uint64_t cost_fn(const filch_graph *g, const struct graph_node *node);

static uint64_t planned(const filch_graph *g, const struct graph_node *node)
{
    if (!g->measured)
        return node->cost;
    return node->run ? node->end - node->start : ticks_of(node->cost);
}

static uint64_t taken(const filch_graph *g, const struct graph_node *node)
{
    return node->run == g->run ? node->end - node->start : 0;
}

/* Each at least 1, and so little that no path overflows. */
static void measure_ways(filch_graph *g, cost_fn *cost_of)
{
    uint64_t most = UINT64_MAX / (g->count + 1);
    struct graph_plan *p = &g->plan;
    size_t count;
    memset(p->way, 0, g->count * sizeof *p->way);
    for (size_t i = 0; i < g->living_nodes; i++) {
        uint32_t v = p->order[i];
        uint64_t cost = cost_of(g, &g->node[v]);
        cost = cost == 0 ? 1 : cost < most ? cost : most;
        uint64_t way = p->way[v] += cost; /* it was that of its successors */
        const uint32_t *before = graph_before(g, v, &count);
        for (size_t k = 0; k < count; k++)
            if (p->way[before[k]] < way)
                p->way[before[k]] = way;
    }
}

uint32_t graph_next_critical(const filch_graph *g, uint32_t number)
{
    const struct graph_plan *p = &g->plan;
    const struct graph_vertex *v = &p->vertex[p->rank[number]];
    return v->first < v[1].first ? p->vertex[p->after[v->first]].number : GRAPH_NONE;
}

uint32_t graph_longest_begin(filch_graph *g)
{
    struct graph_plan *p = &g->plan;
    uint32_t begin = GRAPH_NONE;
    measure_ways(g, taken); /* ranks are made, and keep what they need */
    for (uint32_t v = 0; v < g->count; v++)
        if (!g->node[v].removed && (begin == GRAPH_NONE || p->way[v] > p->way[begin]))
            begin = v;
    return begin;
}

uint32_t graph_longest_next(const filch_graph *g, uint32_t number)
{
    const struct graph_plan *p = &g->plan;
    const struct graph_vertex *v = &p->vertex[p->rank[number]];
    uint32_t next = GRAPH_NONE;
    for (size_t i = v->first; i < v[1].first; i++) {
        uint32_t after = p->vertex[p->after[i]].number;
        if (next == GRAPH_NONE || p->way[after] > p->way[next])
            next = after;
    }
    return next;
}

/* ---- ranks ---------------------------------------------------------------------------------- */

/* One digit of a radix sort, the longest first; those that are alike keep their order. */
static void sort_digit(const filch_graph *g, const uint32_t *from, uint32_t *to, unsigned shift)
{
    const uint64_t *way = g->plan.way;
    size_t at[257] = {0};
    for (size_t i = 0; i < g->living_nodes; i++)
        at[(~way[from[i]] >> shift & 255) + 1]++;
    for (size_t d = 1; d < 256; d++)
        at[d] += at[d - 1];
    for (size_t i = 0; i < g->living_nodes; i++)
        to[at[~way[from[i]] >> shift & 255]++] = from[i];
}

static void sort_by_way(filch_graph *g)
{
    struct graph_plan *p = &g->plan;
    uint64_t all = UINT64_MAX, any = 0;
    size_t n = 0;
    for (size_t v = 0; v < g->count; v++) {
        if (g->node[v].removed)
            continue;
        p->by_rank[n++] = (uint32_t)v;
        all &= p->way[v];
        any |= p->way[v];
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (((all ^ any) >> shift & 255) == 0)
            continue; /* the same for all */
        sort_digit(g, p->by_rank, p->more, shift);
        uint32_t *sorted = p->more;
        p->more = p->by_rank;
        p->by_rank = sorted;
    }
}

/* Where each vertex' successors are: vertex.first becomes the beginning of the part. */
static void make_room(filch_graph *g)
{
    struct graph_plan *p = &g->plan;
    size_t n = g->living_nodes, sum = 0;
    for (size_t r = 0; r < n; r++) {
        uint32_t v = p->by_rank[r];
        p->rank[v] = (uint32_t)r;
        p->vertex[r] = (struct graph_vertex){0, v, (uint32_t)(p->first[v + 1] - p->first[v])};
    }
    for (size_t i = 0; i < g->edges; i++)
        p->vertex[p->rank[p->before[i]]].first++;
    for (size_t r = 0; r < n; r++) {
        size_t count = p->vertex[r].first;
        p->vertex[r].first = sum;
        sum += count;
    }
    p->vertex[n].first = sum;
}

/* By rank of the successor, so that each has its most critical one first. */
static void link_ranks(filch_graph *g)
{
    struct graph_plan *p = &g->plan;
    size_t n = g->living_nodes, count;
    make_room(g);
    for (size_t r = 0; r < n; r++) {
        const uint32_t *before = graph_before(g, p->vertex[r].number, &count);
        for (size_t k = 0; k < count; k++)
            p->after[p->vertex[p->rank[before[k]]].first++] = (uint32_t)r;
    }
    for (size_t r = n; r-- > 1;)
        p->vertex[r].first = p->vertex[r - 1].first; /* each is at its end now: where the next began */
    p->vertex[0].first = 0;
}

int graph_plan(filch_graph *g)
{
    int rc = g->cycle ? -ELOOP : g->shaped ? 0 : reserve(g);
    if (rc == 0 && !g->shaped)
        rc = shape(g);
    if (rc != 0)
        return rc;
    g->shaped = true;
    if (!g->ranked && g->living_nodes > 0) {
        measure_ways(g, planned);
        sort_by_way(g);
        link_ranks(g);
    }
    g->ranked = true;
    return 0;
}
