/* graph_dot.c: a graph as text for Graphviz. Names are quoted so that whatever they contain stays inside the
 * quotes; nodes are called n0, n1 ... whatever their names. */
#include "par/graph.h"

#include "core/report.h"

typedef int write_fn(const char *text, size_t length, void *arg);

struct dot {
    const filch_graph *graph;
    write_fn *write;
    void *arg;
    unsigned how;
    const uint32_t *red;     /* by number: the next one on the red path, plus 1; 0: not on it */
    int rc;                  /* of the first write that failed */
    size_t length;
    char text[1024];
};

static void flush(struct dot *d)
{
    if (d->length > 0 && d->rc == 0)
        d->rc = d->write(d->text, d->length, d->arg);
    d->length = 0;
}

static void put(struct dot *d, const char *s)
{
    for (; *s != '\0'; s++) {
        if (d->length == sizeof d->text)
            flush(d);
        d->text[d->length++] = *s;
    }
}

static void put_number(struct dot *d, uint32_t number)
{
    char digits[16];
    (void)snprintf(digits, sizeof digits, "n%u", (unsigned)number);
    put(d, digits);
}

/* Inside quotes: a quote, a backslash or a newline must not act. Other control characters become spaces. */
static void put_quoted(struct dot *d, const char *s)
{
    for (; *s != '\0'; s++) {
        char one[3] = {*s, '\0', '\0'};
        if (*s == '"' || *s == '\\') {
            one[0] = '\\';
            one[1] = *s;
        } else if (*s == '\n') {
            one[0] = '\\';
            one[1] = 'n';
        } else if ((unsigned char)*s < ' ' || *s == 127) {
            one[0] = ' ';
        }
        put(d, one);
    }
}

static void put_time(struct dot *d, const struct graph_node *node)
{
    char text[64];
    if (!(d->how & FILCH_DOT_TIMES) || node->run == 0 || node->run != d->graph->run)
        return;
    int64_t ns = graph_clock(d->graph, node->end) - graph_clock(d->graph, node->start);
    (void)snprintf(text, sizeof text, "\\n%lld.%03d us", (long long)(ns / 1000), (int)(ns % 1000));
    put(d, text);
}

static void put_node(struct dot *d, uint32_t number)
{
    const struct graph_node *node = &d->graph->node[number];
    char digits[16];
    (void)snprintf(digits, sizeof digits, "%u", (unsigned)number);
    put(d, "    ");
    put_number(d, number);
    put(d, " [label=\"");
    put_quoted(d, node->name ? node->name : digits);
    put_time(d, node);
    put(d, d->red[number] ? "\", color=red];\n" : "\"];\n");
}

static void put_edge(struct dot *d, const struct graph_edge *e)
{
    put(d, "    ");
    put_number(d, e->before);
    put(d, " -> ");
    put_number(d, e->after);
    put(d, d->red[e->before] == e->after + 1 ? " [color=red];\n" : ";\n");
}

static void paint_cycle(const filch_graph *g, uint32_t *red)
{
    const uint32_t *cycle = g->plan.order;
    for (size_t i = 0; i < g->cycle; i++)
        red[cycle[i]] = cycle[(i + 1) % g->cycle] + 1;
}

/* With times shown, the path is that of the times. */
static void paint_critical(filch_graph *g, uint32_t *red, bool by_times)
{
    uint32_t v = by_times ? graph_longest_begin(g) : g->plan.vertex[0].number;
    for (uint32_t next; v != GRAPH_NONE; v = next) {
        next = by_times ? graph_longest_next(g, v) : graph_next_critical(g, v);
        red[v] = next == GRAPH_NONE ? UINT32_MAX : next + 1;
    }
}

static int write_all(struct dot *d)
{
    const filch_graph *g = d->graph;
    put(d, "digraph filch {\n    rankdir=LR;\n    node [shape=box];\n");
    for (uint32_t v = 0; v < g->count && d->rc == 0; v++)
        if (!g->node[v].removed)
            put_node(d, v);
    for (size_t i = 0; i < g->edges && d->rc == 0; i++)
        put_edge(d, &g->edge[i]);
    put(d, "}\n");
    flush(d);
    return d->rc;
}

/* Claimed, and there is a plan or a cycle; the red path is in memory of the plan that is free between runs.
 * */
static int export(filch_graph *g, write_fn *write, void *arg, unsigned how)
{
    struct dot d = {.graph = g, .write = write, .arg = arg, .how = how};
    uint32_t *red = g->plan.scratch;
    if (g->count > 0)
        memset(red, 0, g->count * sizeof *red);
    if (g->cycle)
        paint_cycle(g, red);
    else if (how & FILCH_DOT_CRITICAL && g->living_nodes > 0)
        paint_critical(g, red, (how & FILCH_DOT_TIMES) && g->run > 0);
    d.red = red;
    return write_all(&d);
}

int filch_graph_dot_to(filch_graph *g, write_fn *write, void *arg, unsigned how)
{
    if (!write)
        report_misuse("filch_graph_dot_to", "null function");
    if (!graph_claim(g, "filch_graph_dot"))
        return -EBUSY;
    int rc = graph_plan(g);
    if (rc == 0 || rc == -ELOOP)
        rc = export(g, write, arg, how);
    graph_release(g);
    return rc;
}

static int to_file(const char *text, size_t length, void *file)
{
    return fwrite(text, 1, length, file) == length ? 0 : -EIO;
}

int filch_graph_dot(filch_graph *g, FILE *file, unsigned how)
{
    if (!file)
        report_misuse("filch_graph_dot", "null file");
    int rc = filch_graph_dot_to(g, to_file, file, how);
    return rc == 0 && fflush(file) != 0 ? -EIO : rc;
}
