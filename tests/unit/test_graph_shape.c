/* test_graph_shape.c: cycles by name, graphs as text, times of nodes, and the set of what is ready. */
#include "pool_kit.h"

#include "base/rng.h"
#include "par/graph.h"
#include "par/ready.h"

#include <filch/graph.h>

static filch_graph *graph;
static uint32_t ran;

static int counts(void *arg)
{
    (void)arg;
    kit_count(&ran);
    return 0;
}

static void begin(void)
{
    CHECK_EQ(filch_graph_create(&graph), 0);
    ran = 0;
}

static int add(const char *name)
{
    return filch_graph_node(graph, name, counts, NULL);
}

static void edge(int before, int after)
{
    CHECK_EQ(filch_graph_edge(graph, before, after), 0);
}

/* ---- cycles --------------------------------------------------------------------------------- */

static void check_cycle(const char *expect)
{
    char text[256];
    CHECK_EQ(filch_graph_run(graph), -ELOOP);
    CHECK_EQ(ran, 0u);
    CHECK_EQ(filch_graph_cycle(graph, text, sizeof text), strlen(expect));
    CHECK_STR(text, expect);
    CHECK_EQ(filch_graph_check(graph), -ELOOP); /* and again */
    CHECK_EQ(filch_graph_cycle(graph, NULL, 0), strlen(expect));
}

static void a_cycle_is_named_before_anything_runs(void)
{
    begin();
    int fetch = add("fetch"), compile = add("compile"), link = add("link"), test = add("test");
    edge(fetch, compile);
    edge(link, compile);
    edge(compile, link);
    edge(link, test);
    check_cycle("compile -> link -> compile");
    CHECK_EQ(filch_graph_edge_remove(graph, link, compile), 0);
    CHECK_EQ(filch_graph_cycle(graph, NULL, 0), 0); /* it was changed */
    CHECK_EQ(filch_graph_run(graph), 0);
    CHECK_EQ(ran, 4u);
    CHECK_EQ(filch_graph_cycle(graph, NULL, 0), 0);
    filch_graph_destroy(graph);
}

static void a_node_before_itself_is_a_cycle(void)
{
    begin();
    int a = add("a");
    edge(a, add("b"));
    edge(a, a);
    edge(a, a);
    check_cycle("a -> a");
    filch_graph_destroy(graph);
}

static void nodes_without_a_name_are_numbers(void)
{
    begin();
    int nodes[4];
    for (int i = 0; i < 4; i++)
        nodes[i] = add(i == 2 ? "x" : NULL);
    edge(nodes[3], nodes[1]);
    edge(nodes[1], nodes[2]);
    edge(nodes[2], nodes[3]);
    edge(nodes[0], nodes[2]);
    check_cycle("1 -> x -> 3 -> 1");
    char small[8];
    CHECK_EQ(filch_graph_cycle(graph, small, sizeof small), 16);
    CHECK_STR(small, "1 -> x ");
    CHECK_EQ(filch_graph_cycle(graph, small, 1), 16);
    CHECK_STR(small, "");
    CHECK_EQ(filch_graph_node_remove(graph, nodes[2]), 0); /* and its edges */
    CHECK_EQ(filch_graph_run(graph), 0);
    CHECK_EQ(ran, 3u);
    filch_graph_destroy(graph);
}

static void of_two_cycles_one_is_named_and_then_the_other(void)
{
    begin();
    for (int i = 0; i < 6; i++)
        add(NULL);
    for (int i = 0; i < 6; i++)
        edge(i, i / 3 * 3 + (i + 1) % 3); /* 0 1 2 and 3 4 5 */
    edge(2, 3);
    char text[64];
    CHECK_EQ(filch_graph_check(graph), -ELOOP);
    filch_graph_cycle(graph, text, sizeof text);
    int which = strcmp(text, "3 -> 4 -> 5 -> 3") == 0;
    if (!which)
        CHECK_STR(text, "0 -> 1 -> 2 -> 0");
    CHECK_EQ(filch_graph_edge_remove(graph, which ? 5 : 2, which ? 3 : 0), 0);
    check_cycle(which ? "0 -> 1 -> 2 -> 0" : "3 -> 4 -> 5 -> 3");
    CHECK_EQ(filch_graph_edge_remove(graph, which ? 2 : 5, which ? 0 : 3), 0);
    CHECK_EQ(filch_graph_run(graph), 0);
    CHECK_EQ(ran, 6u);
    filch_graph_destroy(graph);
}

/* ---- text ----------------------------------------------------------------------------------- */

struct text {
    char bytes[8192];
    size_t length;
};

static int keep(const char *bytes, size_t n, void *arg)
{
    struct text *t = arg;
    CHECK(t->length + n < sizeof t->bytes);
    memcpy(t->bytes + t->length, bytes, n);
    t->length += n;
    t->bytes[t->length] = '\0';
    return 0;
}

static struct text dot(unsigned how)
{
    struct text t = {.length = 0};
    CHECK_EQ(filch_graph_dot_to(graph, keep, &t, how), 0);
    return t;
}

/* Reads a quoted string as Graphviz does: a backslash takes what follows, n is a newline. Returns what is
 * behind the closing quote. */
static const char *read_label(const char *at, char *out)
{
    for (; *at != '"'; at++) {
        CHECK(*at != '\0' && *at != '\n');
        if (*at == '\\') {
            at++;
            CHECK(*at == 'n' || *at == '"' || *at == '\\');
            *out++ = *at == 'n' ? '\n' : *at;
        } else {
            *out++ = *at;
        }
    }
    *out = '\0';
    return at + 1;
}

struct parsed {
    int nodes, edges, red_nodes, red_edges;
    char label[16][128];
    int from[32], to[32], red[32];
};

static struct parsed parse(const struct text *t)
{
    struct parsed p = {.nodes = 0};
    const char *at = strstr(t->bytes, "node [shape=box];\n");
    CHECK(strncmp(t->bytes, "digraph filch {\n", 16) == 0 && at);
    at = strchr(at, '\n') + 1;
    while (*at != '}') {
        int a, b, used = 0;
        if (sscanf(at, " n%d [label=\"%n", &a, &used) == 1 && used > 0) {
            at = read_label(at + used, p.label[a]);
            p.nodes++;
            p.red_nodes += strncmp(at, ", color=red];\n", 14) == 0;
        } else {
            CHECK_EQ(sscanf(at, " n%d -> n%d%n", &a, &b, &used), 2);
            p.from[p.edges] = a;
            p.to[p.edges] = b;
            p.red[p.edges] = strncmp(at + used, " [color=red];\n", 14) == 0;
            p.red_edges += p.red[p.edges++];
        }
        at = strchr(at, '\n') + 1;
    }
    CHECK_STR(at, "}\n");
    return p;
}

static int has_edge(const struct parsed *p, int from, int to, int red)
{
    int n = 0;
    for (int i = 0; i < p->edges; i++)
        n += p->from[i] == from && p->to[i] == to && p->red[i] == red;
    return n;
}

static void text_says_what_the_graph_is(void)
{
    static const char *const names[] = {"plain", "a \"quoted\" one", "back\\slash\\", "two\nlines", NULL,
                                        "\"];\n evil -> node; //", "\xc3\xa4\x01<b>&amp;", ""};
    begin();
    for (int i = 0; i < 8; i++)
        add(names[i]);
    edge(0, 1);
    edge(0, 1);
    edge(5, 2);
    edge(1, 7);
    struct text t = dot(FILCH_DOT_PLAIN);
    struct parsed p = parse(&t);
    CHECK_EQ(p.nodes, 8);
    CHECK_EQ(p.edges, 3);
    for (int i = 0; i < 8; i++)
        if (i != 4 && i != 6)
            CHECK_STR(p.label[i], names[i]);
    CHECK_STR(p.label[4], "4");
    CHECK_STR(p.label[6], "\xc3\xa4 <b>&amp;");
    CHECK(has_edge(&p, 0, 1, 0) == 1 && has_edge(&p, 5, 2, 0) == 1 && has_edge(&p, 1, 7, 0) == 1);
    CHECK_EQ(p.red_nodes + p.red_edges, 0);
    filch_graph_destroy(graph);
}

static void text_shows_the_longest_path_and_the_cycle(void)
{
    begin();
    for (int i = 0; i < 6; i++)
        add(NULL);
    edge(0, 1);
    edge(1, 2);
    edge(0, 3);
    edge(3, 2);
    edge(4, 5);
    CHECK_EQ(filch_graph_cost(graph, 3, 5), 0);
    struct text t = dot(FILCH_DOT_CRITICAL);
    struct parsed p = parse(&t);
    CHECK_EQ(p.red_nodes, 3);
    CHECK_EQ(p.red_edges, 2);
    CHECK(has_edge(&p, 0, 3, 1) && has_edge(&p, 3, 2, 1));
    edge(5, 4);
    t = dot(FILCH_DOT_PLAIN);
    p = parse(&t);
    CHECK_EQ(p.red_nodes, 2);
    CHECK(has_edge(&p, 4, 5, 1) && has_edge(&p, 5, 4, 1));
    CHECK_EQ(p.red_edges, 2);
    filch_graph_destroy(graph);
}

/* As if the node had taken so long in the last run. */
static void took(int node, uint64_t ticks)
{
    graph->node[node].end = graph->node[node].start + ticks;
}

static void with_times_the_red_path_is_theirs(void)
{
    begin();
    for (int i = 0; i < 6; i++)
        add(NULL);
    edge(0, 1);
    edge(1, 2);
    edge(0, 3);
    edge(3, 2);
    edge(4, 5); /* by itself */
    CHECK_EQ(filch_graph_cost(graph, 1, 1000) | filch_graph_cost(graph, 5, 2000), 0);
    struct text t = dot(FILCH_DOT_TIMES | FILCH_DOT_CRITICAL);
    struct parsed p = parse(&t);
    CHECK(has_edge(&p, 4, 5, 1)); /* it has not run: costs are all there is */
    CHECK_EQ(filch_graph_cost(graph, 5, 1), 0);
    CHECK_EQ(filch_graph_run(graph), 0);
    for (int i = 0; i < 6; i++)
        took(i, i == 3 ? 50000 : 10);
    t = dot(FILCH_DOT_TIMES | FILCH_DOT_CRITICAL);
    p = parse(&t);
    CHECK_EQ(p.red_nodes, 3);
    CHECK_EQ(p.red_edges, 2);
    CHECK(has_edge(&p, 0, 3, 1) && has_edge(&p, 3, 2, 1));
    took(5, 90000);
    t = dot(FILCH_DOT_TIMES | FILCH_DOT_CRITICAL);
    p = parse(&t);
    CHECK_EQ(p.red_nodes, 2);
    CHECK(has_edge(&p, 4, 5, 1));
    t = dot(FILCH_DOT_CRITICAL); /* without times, still that of the costs */
    p = parse(&t);
    CHECK(has_edge(&p, 0, 1, 1) && has_edge(&p, 1, 2, 1));
    CHECK_EQ(p.red_nodes, 3);
    CHECK_EQ(filch_graph_node_remove(graph, 5), 0);
    t = dot(FILCH_DOT_TIMES | FILCH_DOT_CRITICAL);
    p = parse(&t);
    CHECK(has_edge(&p, 0, 3, 1) && has_edge(&p, 3, 2, 1));
    ran = 0;
    CHECK_EQ(filch_graph_run(graph), 0);
    CHECK_EQ(ran, 5u);
    filch_graph_destroy(graph);
}

static void text_has_the_times_if_asked(void)
{
    begin();
    int a_node = add("a"), b_node = add("b");
    edge(a_node, b_node);
    struct text t = dot(FILCH_DOT_TIMES);
    struct parsed p = parse(&t);
    CHECK_STR(p.label[0], "a"); /* it has not run */
    CHECK_EQ(filch_graph_run(graph), 0);
    t = dot(FILCH_DOT_TIMES);
    p = parse(&t);
    long us;
    int ns, used = 0;
    CHECK_EQ(sscanf(p.label[0], "a\n%ld.%3d us%n", &us, &ns, &used), 2);
    CHECK(used > 0 && p.label[0][used] == '\0');
    filch_graph_destroy(graph);
}

static int refuses(const char *bytes, size_t n, void *times)
{
    CHECK(bytes && n > 0);
    ++*(int *)times;
    return -ENOSPC;
}

static void text_goes_to_a_file_or_ends_where_it_is_refused(void)
{
    int times = 0;
    begin();
    for (int i = 0; i < 200; i++) /* more than is written at once */
        add("a name that is quite long");
    CHECK_EQ(filch_graph_dot_to(graph, refuses, &times, FILCH_DOT_PLAIN), -ENOSPC);
    CHECK_EQ(times, 1);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        CHECK_EQ(filch_graph_dot(graph, full, FILCH_DOT_PLAIN), -EIO);
        fclose(full);
    }
    char *bytes = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&bytes, &length);
    CHECK(memory);
    CHECK_EQ(filch_graph_dot(graph, memory, FILCH_DOT_PLAIN), 0);
    fclose(memory);
    CHECK(length > 200 * 25 && strcmp(bytes + length - 2, "}\n") == 0);
    free(bytes);
    filch_graph_destroy(graph);
    begin();
    struct text t = dot(FILCH_DOT_CRITICAL); /* an empty one */
    CHECK_EQ(parse(&t).nodes, 0);
    filch_graph_destroy(graph);
}

/* ---- times ---------------------------------------------------------------------------------- */

static void the_times_of_the_last_run_can_be_asked_for(void)
{
    filch_graph_span a, b;
    begin();
    int a_node = add("a"), b_node = add("b");
    edge(a_node, b_node);
    CHECK_EQ(filch_graph_span_of(graph, 0, &a), -ENODATA);
    int64_t before = filch_clock_ns();
    CHECK_EQ(filch_graph_run(graph), 0);
    int64_t after = filch_clock_ns();
    CHECK_EQ(filch_graph_span_of(graph, 0, &a), 0);
    CHECK_EQ(filch_graph_span_of(graph, 1, &b), 0);
    CHECK(before <= a.start_ns && a.start_ns <= a.end_ns && b.start_ns <= b.end_ns && b.end_ns <= after);
    CHECK(a.worker >= 0 && b.worker >= 0);
    CHECK_STR(filch_graph_name(graph, 1), "b");
    CHECK_EQ(filch_graph_count(graph), 2);
    filch_graph_destroy(graph);
}

/* ---- the set -------------------------------------------------------------------------------- */

static void set_of(uint32_t n, struct rng *r)
{
    struct ready set;
    uint64_t *words = calloc(ready_words(n), sizeof *words);
    unsigned char *in = calloc(n, 1);
    uint32_t lowest = n;
    CHECK(words && in);
    ready_init(&set, n, words);
    for (int step = 0; step < 3000; step++) {
        uint32_t number = rng_below(r, n);
        if (rng_below(r, 5) < 2 || step > 2000) { /* put fewer than taken, in the end */
            for (lowest = 0; lowest < n && !in[lowest]; lowest++)
                continue;
            CHECK_EQ(ready_empty(&set), lowest == n);
            CHECK_EQ(ready_take(&set), lowest == n ? READY_NONE : lowest);
            if (lowest < n)
                in[lowest] = 0;
        } else {
            ready_put(&set, number);
            in[number] = 1;
        }
    }
    ready_put(&set, n - 1);
    ready_put(&set, 0);
    ready_clear(&set);
    CHECK(ready_empty(&set));
    free(words);
    free(in);
    kit_beat();
}

static void a_ready_set_gives_its_lowest(void)
{
    static const uint32_t sizes[] = {1, 2, 63, 64, 65, 127, 128, 4095, 4096, 4097, 20000, 262145};
    struct rng r;
    rng_seed(&r, 5);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] - KIT_SLOW; i++)
        set_of(sizes[i], &r);
}

int main(void)
{
    kit_watchdog();
    RUN(a_cycle_is_named_before_anything_runs);
    RUN(a_node_before_itself_is_a_cycle);
    RUN(nodes_without_a_name_are_numbers);
    RUN(of_two_cycles_one_is_named_and_then_the_other);
    RUN(text_says_what_the_graph_is);
    RUN(text_shows_the_longest_path_and_the_cycle);
    RUN(with_times_the_red_path_is_theirs);
    RUN(text_has_the_times_if_asked);
    RUN(text_goes_to_a_file_or_ends_where_it_is_refused);
    RUN(the_times_of_the_last_run_can_be_asked_for);
    RUN(a_ready_set_gives_its_lowest);
    return check_report();
}
