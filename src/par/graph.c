/* graph.c: nodes and edges, and what can be asked of a graph. How it runs: graph_run.c; the fields: graph.h.
 * */
#include "par/graph.h"

#include "core/report.h"
#include "os/os.h"

#include <limits.h>

static void check_graph(const filch_graph *g, const char *call)
{
    if (!g || g->magic != GRAPH_MAGIC)
        report_misuse(call, "not a graph, or one that was destroyed");
}

bool graph_claim(filch_graph *g, const char *call)
{
    uint32_t free = 0;
    check_graph(g, call);
    return filch_cas_acquire(&g->busy, &free, 1u); /* order: [G2] */
}

void graph_release(filch_graph *g)
{
    filch_store_release(&g->busy, 0u); /* order: [G2] */
}

static bool is_busy(const filch_graph *g)
{
    return filch_load_acquire(&g->busy) != 0; /* order: [G2] */
}

void graph_check_node(const filch_graph *g, int node, const char *call)
{
    check_graph(g, call);
    if (node < 0 || (size_t)node >= g->count || g->node[node].removed)
        report_misuse(call, "not a node of this graph");
}

int filch_graph_create(filch_graph **out)
{
    if (!out)
        report_misuse("filch_graph_create", "null result pointer");
    filch_graph *g = *out = os_alloc_aligned(sizeof *g, 64);
    if (!g)
        return -ENOMEM;
    *g = (filch_graph){.magic = GRAPH_MAGIC, .failed = GRAPH_NONE};
    return 0;
}

void filch_graph_destroy(filch_graph *g)
{
    if (!g)
        return;
    if (!graph_claim(g, "filch_graph_destroy"))
        report_misuse("filch_graph_destroy", "the graph is running");
    g->magic = 0;
    graph_plan_free(g);
    os_free(g->node);
    os_free(g->edge);
    os_free(g);
}

/* ---- nodes and edges ------------------------------------------------------------------------ */

/* Twice the room, if it is used up. */
static bool grow(void **array, size_t *room, size_t count, size_t size)
{
    size_t more = *room ? 2 * *room : 16;
    if (count < *room)
        return true;
    void *now = par_bytes(more, size) == SIZE_MAX ? 0 : os_alloc_aligned(more * size, 64);
    if (!now)
        return false;
    if (count > 0)
        memcpy(now, *array, count * size);
    os_free(*array);
    *array = now;
    *room = more;
    return true;
}

static void changed(filch_graph *g)
{
    g->shaped = g->ranked = false;
    g->cycle = 0;
}

static int add_node(filch_graph *g, const struct graph_node *node)
{
    void *array = g->node;
    if (g->count >= INT_MAX || !grow(&array, &g->room, g->count, sizeof *node))
        return -ENOMEM;
    g->node = array;
    g->node[g->count] = *node;
    g->living_nodes++;
    changed(g);
    return (int)g->count++;
}

int filch_graph_node(filch_graph *g, const char *name, int (*fn)(void *arg), void *arg)
{
    if (!graph_claim(g, "filch_graph_node"))
        return -EBUSY;
    int rc = add_node(g, &(struct graph_node){.fn = fn, .arg = arg, .name = name, .cost = 1});
    graph_release(g);
    return rc;
}

static int add_edge(filch_graph *g, uint32_t before, uint32_t after)
{
    void *array = g->edge;
    if (!grow(&array, &g->edge_room, g->edges, sizeof *g->edge))
        return -ENOMEM;
    g->edge = array;
    g->edge[g->edges++] = (struct graph_edge){before, after};
    changed(g);
    return 0;
}

int filch_graph_edge(filch_graph *g, int before, int after)
{
    if (!graph_claim(g, "filch_graph_edge"))
        return -EBUSY;
    graph_check_node(g, before, "filch_graph_edge");
    graph_check_node(g, after, "filch_graph_edge");
    int rc = add_edge(g, (uint32_t)before, (uint32_t)after);
    graph_release(g);
    return rc;
}

int filch_graph_cost(filch_graph *g, int node, uint64_t cost)
{
    if (!graph_claim(g, "filch_graph_cost"))
        return -EBUSY;
    graph_check_node(g, node, "filch_graph_cost");
    if (g->node[node].cost != cost)
        g->ranked = false;
    g->node[node].cost = cost;
    graph_release(g);
    return 0;
}

int filch_graph_measured(filch_graph *g, int on)
{
    if (!graph_claim(g, "filch_graph_measured"))
        return -EBUSY;
    g->measured = on != 0;
    g->ranked = false;
    graph_release(g);
    return 0;
}

int filch_graph_node_change(filch_graph *g, int node, int (*fn)(void *arg), void *arg)
{
    if (!graph_claim(g, "filch_graph_node_change"))
        return -EBUSY;
    graph_check_node(g, node, "filch_graph_node_change");
    g->node[node].fn = fn;
    g->node[node].arg = arg;
    graph_release(g);
    return 0;
}

int filch_graph_node_remove(filch_graph *g, int node)
{
    if (!graph_claim(g, "filch_graph_node_remove"))
        return -EBUSY;
    graph_check_node(g, node, "filch_graph_node_remove");
    g->node[node].removed = 1; /* the next plan leaves its edges out */
    g->living_nodes--;
    if (g->failed == (uint32_t)node)
        g->failed = GRAPH_NONE;
    changed(g);
    graph_release(g);
    return 0;
}

/* It may be there more than once. */
static int remove_edge(filch_graph *g, uint32_t before, uint32_t after)
{
    size_t kept = 0, all = g->edges;
    for (size_t i = 0; i < all; i++)
        if (g->edge[i].before != before || g->edge[i].after != after)
            g->edge[kept++] = g->edge[i];
    g->edges = kept;
    if (kept == all)
        return -ENOENT;
    changed(g);
    return 0;
}

int filch_graph_edge_remove(filch_graph *g, int before, int after)
{
    if (!graph_claim(g, "filch_graph_edge_remove"))
        return -EBUSY;
    graph_check_node(g, before, "filch_graph_edge_remove");
    graph_check_node(g, after, "filch_graph_edge_remove");
    int rc = remove_edge(g, (uint32_t)before, (uint32_t)after);
    graph_release(g);
    return rc;
}

/* ---- questions ------------------------------------------------------------------------------ */

int filch_graph_count(const filch_graph *g)
{
    check_graph(g, "filch_graph_count");
    return (int)g->count;
}

const char *filch_graph_name(const filch_graph *g, int node)
{
    graph_check_node(g, node, "filch_graph_name");
    return g->node[node].name;
}

int filch_graph_check(filch_graph *g)
{
    if (!graph_claim(g, "filch_graph_check"))
        return -EBUSY;
    int rc = graph_plan(g);
    graph_release(g);
    return rc;
}

const char *filch_graph_failed(const filch_graph *g, int *node)
{
    check_graph(g, "filch_graph_failed");
    uint32_t failed = is_busy(g) ? GRAPH_NONE : g->failed;
    if (node)
        *node = failed == GRAPH_NONE ? -1 : (int)failed;
    return failed == GRAPH_NONE ? 0 : g->node[failed].name;
}

struct text {
    char *to;
    size_t size, length;
};

static void text_add(struct text *t, const char *s)
{
    for (; *s != '\0'; s++, t->length++)
        if (t->length + 1 < t->size)
            t->to[t->length] = *s;
}

static void text_add_node(struct text *t, const filch_graph *g, uint32_t number)
{
    char digits[16];
    const char *name = g->node[number].name;
    if (!name)
        (void)snprintf(digits, sizeof digits, "%u", (unsigned)number);
    text_add(t, name ? name : digits);
}

size_t filch_graph_cycle(const filch_graph *g, char *to, size_t size)
{
    struct text t = {to, size, 0};
    check_graph(g, "filch_graph_cycle");
    if (!to && size > 0)
        report_misuse("filch_graph_cycle", "null text");
    size_t cycle = is_busy(g) ? 0 : g->cycle;
    for (size_t i = 0; i < cycle; i++) {
        text_add_node(&t, g, g->plan.order[i]);
        text_add(&t, " -> ");
    }
    if (cycle > 0)
        text_add_node(&t, g, g->plan.order[0]);
    if (size > 0)
        to[t.length < size ? t.length : size - 1] = '\0';
    return t.length;
}

int64_t graph_clock(const filch_graph *g, uint64_t ticks)
{
    uint64_t all = g->ended_ticks - g->begun_ticks, part = ticks - g->begun_ticks;
    double share = all > 0 ? (double)part / (double)all : 0;
    if ((int64_t)part < 0) /* processors whose ticks differ a little */
        return g->begun_ns;
    return part >= all ? g->ended_ns : g->begun_ns + (int64_t)(share * (double)(g->ended_ns - g->begun_ns));
}

int filch_graph_span_of(const filch_graph *g, int node, filch_graph_span *out)
{
    check_graph(g, "filch_graph_span_of");
    if (is_busy(g))
        return -EBUSY;
    graph_check_node(g, node, "filch_graph_span_of");
    const struct graph_node *n = &g->node[node];
    if (n->run == 0 || n->run != g->run)
        return -ENODATA;
    *out = (filch_graph_span){graph_clock(g, n->start), graph_clock(g, n->end), n->worker};
    return 0;
}
