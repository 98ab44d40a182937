/* A small build: rules say what is made from what, a graph runs them. Whatever has all it is made from is
 * made at once, the longest way to the end first. Run twice: the second time everything is up to date but
 * for what depends on one file that has changed. A broken rule stops the build, a cycle does not begin. */
#include <errno.h>
#include <filch/graph.h>
#include <filch/task.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16 };

struct rule {
    const char *makes, *from[4];
    unsigned long cost; /* how long it takes, about */
    int source;         /* it is not made: it is there */
    int broken;
    long version;       /* of what was made; 0: nothing yet */
    int made;           /* in this build */
    struct rule *inputs[4];
};

static struct rule rules[MOST] = {
    {.makes = "main.c", .source = 1, .version = 1},
    {.makes = "parse.c", .source = 1, .version = 1},
    {.makes = "parse.y", .source = 1, .version = 1},
    {.makes = "main.o", .from = {"main.c", "tokens.h"}, .cost = 3},
    {.makes = "parse.o", .from = {"parse.c", "tokens.h"}, .cost = 5},
    {.makes = "tokens.h", .from = {"parse.y"}, .cost = 1},
    {.makes = "manual", .from = {"parse.y"}, .cost = 2},
    {.makes = "program", .from = {"main.o", "parse.o"}, .cost = 2},
    {.makes = "package", .from = {"program", "manual"}, .cost = 1},
};

static int find(const char *name)
{
    for (int i = 0; i < MOST && rules[i].makes; i++)
        if (strcmp(rules[i].makes, name) == 0)
            return i;
    return -1;
}

/* What it is made from is there: the graph sees to that. */
static int make(void *arg)
{
    struct rule *r = arg;
    long newest = 0;
    for (int i = 0; i < 4 && r->inputs[i]; i++)
        if (r->inputs[i]->version > newest)
            newest = r->inputs[i]->version;
    if (r->source || newest <= r->version)
        return 0;
    if (r->broken)
        return -ENOEXEC;
    int rc = filch_sleep_ns((int64_t)r->cost * 100000); /* what stands for a compiler */
    if (rc != 0)
        return rc; /* another rule is broken: the build was cancelled */
    r->version = newest;
    r->made = 1;
    return 0;
}

static filch_graph *plan(void)
{
    filch_graph *g;
    if (filch_graph_create(&g) != 0)
        return NULL;
    for (int i = 0; i < MOST && rules[i].makes; i++) /* node i is rule i */
        if (filch_graph_node(g, rules[i].makes, make, &rules[i]) != i ||
            filch_graph_cost(g, i, rules[i].cost) != 0)
            return NULL;
    for (int i = 0; i < MOST && rules[i].makes; i++)
        for (int k = 0; k < 4 && rules[i].from[k]; k++) {
            int from = find(rules[i].from[k]);
            rules[i].inputs[k] = &rules[from];
            if (filch_graph_edge(g, from, i) != 0)
                return NULL;
        }
    return g;
}

/* Returns how many were made, or an error. */
static int build(filch_graph *g)
{
    char cycle[256];
    int made = 0;
    for (int i = 0; i < MOST; i++)
        rules[i].made = 0;
    int rc = filch_graph_run(g);
    for (int i = 0; i < MOST; i++)
        made += rules[i].made;
    if (rc == -ELOOP && filch_graph_cycle(g, cycle, sizeof cycle) > 0)
        printf("made from itself: %s\n", cycle);
    else if (rc != 0)
        printf("%s: error %d\n", filch_graph_failed(g, NULL), -rc);
    else
        printf("%d made\n", made);
    return rc != 0 ? rc : made;
}

int main(void)
{
    filch_graph *g = plan();
    if (!g)
        return 1;
    int all = build(g), none = build(g);
    rules[find("main.c")].version = 2;
    int some = build(g); /* main.o, program, package */
    rules[find("parse.y")].version = 3;
    rules[find("parse.o")].broken = 1;
    int broken = build(g);
    rules[find("parse.o")].broken = 0;
    int rest = build(g); /* at least what was broken, and what is made from it */
    filch_graph_dot(g, stdout, FILCH_DOT_CRITICAL);
    int cycle = filch_graph_edge(g, find("program"), find("tokens.h")) == 0 ? build(g) : 0;
    filch_graph_destroy(g);
    return all == 6 && none == 0 && some == 3 && broken == -ENOEXEC && rest >= 3 && cycle == -ELOOP ? 0 : 1;
}
