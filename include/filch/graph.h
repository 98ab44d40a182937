/* filch/graph.h: task graphs: what has to be done, and what before what.
 *
 *     filch_graph *g;
 *     filch_graph_create(&g);
 *     int compile = filch_graph_node(g, "compile", run_cc, &cc);
 *     int link = filch_graph_node(g, "link", run_ld, &ld);
 *     filch_graph_edge(g, compile, link);          // compile before link
 *     int rc = filch_graph_run(g);                 // 0, or the first error of a node
 *     filch_graph_destroy(g);
 *
 * Nodes whose predecessors have all ended run in parallel; of those that could begin, the one with the
 * longest way to go (by cost, through its successors to an end of the graph) begins first. Each is a part of
 * a task: it may wait, and may run algorithms or other graphs. A graph may be run any number of times; only
 * the first run after a change allocates.
 *
 * A graph is changed, looked at and run by one flow at a time; only filch_graph_cancel is for any. Functions
 * that find it running return -EBUSY. A number that is no node of the graph is reported.
 */
#ifndef FILCH_GRAPH_H
#define FILCH_GRAPH_H

#include <filch/how.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct filch_graph filch_graph;

/* Makes an empty one. Returns 0 or -ENOMEM. Any thread. */
FILCH_API int filch_graph_create(filch_graph **out);
/* Frees it; not while it runs. Null is allowed. */
FILCH_API void filch_graph_destroy(filch_graph *graph);

/* ---- what it is made of --------------------------------------------------------------------- */

/* Adds a node and returns its number: 0, 1, 2 ... in the order of adding. The function returns 0 or an error
 * (anything else); null is a milestone, which does nothing. The name (may be null) is borrowed. Returns the
 * number, -ENOMEM or -EBUSY. */
FILCH_API int filch_graph_node(filch_graph *graph, const char *name, int (*fn)(void *arg), void *arg);

/* `before` ends before `after` begins. In any order, at any time before the run; twice is as good as once.
 * Returns 0, -ENOMEM or -EBUSY. A cycle is found by filch_graph_check and filch_graph_run. */
FILCH_API int filch_graph_edge(filch_graph *graph, int before, int after);

/* What the node costs, in any unit, the same for all: 1 if nothing is said, and at least 1. Returns 0 or
 * -EBUSY. */
FILCH_API int filch_graph_cost(filch_graph *graph, int node, uint64_t cost);

/* From the next run on, costs are the times that nodes took when they last ran (those that have not run yet
 * cost what was said, in nanoseconds); with 0 they are again what was said. Returns 0 or -EBUSY. */
FILCH_API int filch_graph_measured(filch_graph *graph, int on);

/* Between runs. A node that is removed leaves its number unused, and its edges are removed with it; an edge
 * is looked for among all. Returns 0, -EBUSY, or -ENOENT (there is no such edge). */
FILCH_API int filch_graph_node_change(filch_graph *graph, int node, int (*fn)(void *arg), void *arg);
FILCH_API int filch_graph_node_remove(filch_graph *graph, int node);
FILCH_API int filch_graph_edge_remove(filch_graph *graph, int before, int after);

/* How many numbers were given out; the name of a node, as given. */
FILCH_API int filch_graph_count(const filch_graph *graph);
FILCH_API const char *filch_graph_name(const filch_graph *graph, int node);

/* ---- running -------------------------------------------------------------------------------- */

/* Runs all nodes, each once, and returns when those that began have ended:
 *   0           all have run, without an error
 *   an error    the first that a node returned; nodes that had not begun do not begin, and what the others
 *               wait for is cancelled, as in a scope (filch/scope.h)
 *   -ECANCELED  filch_graph_cancel, or the caller's scope or that of filch_how was cancelled
 *   -ELOOP      there is a cycle, see filch_graph_cycle: nothing has run
 *   -EBUSY      it is running
 *   -ENOMEM, -EPIPE (the pool is shut down)
 * Of filch_how, `workers` is how many nodes are under way at most, those that wait among them; without it as
 * many as are ready may wait for each other. `grain`, `split` and the scratch have no meaning. Nodes have
 * the stack of a task (filch_config.task_stack_size). If both the caller and filch_how have a scope, and
 * neither is inside the other, waits of nodes are cancelled with that of filch_how only. Any thread; may
 * wait; may resume on another thread. */
FILCH_API int filch_graph_run(filch_graph *graph);
FILCH_API int filch_graph_run_with(const filch_how *how, filch_graph *graph);

/* No more nodes begin, and what nodes wait for is cancelled. No effect if it does not run. Any thread. */
FILCH_API void filch_graph_cancel(filch_graph *graph);

/* What the next run would begin with: 0, -ELOOP, -ENOMEM or -EBUSY. Once it has returned 0, and until the
 * next change, a run does not allocate. */
FILCH_API int filch_graph_check(filch_graph *graph);

/* The cycle found by the last run or check, if the graph was not changed since: "compile -> link -> compile"
 * (from its lowest number on), with numbers for nodes without a name. As snprintf: returns the length of the
 * whole text, and writes at most size - 1 bytes of it and a zero. 0: no cycle was found. */
FILCH_API size_t filch_graph_cycle(const filch_graph *graph, char *text, size_t size);

/* After a run: the name of the node that failed first, and its number in *node (may be null); null and -1 if
 * none did. */
FILCH_API const char *filch_graph_failed(const filch_graph *graph, int *node);

/* ---- looking at it -------------------------------------------------------------------------- */

typedef struct filch_graph_span {
    int64_t start_ns, end_ns; /* as filch_clock_ns; waits included */
    int worker;               /* where it began                    */
} filch_graph_span;

/* When the node ran, in the last run. Returns 0, -ENODATA (it did not) or -EBUSY. */
FILCH_API int filch_graph_span_of(const filch_graph *graph, int node, filch_graph_span *out);

/* For Graphviz. A cycle is shown in red. */
enum filch_dot {
    FILCH_DOT_PLAIN = 0,
    FILCH_DOT_TIMES = 1,    /* with the times of the last run                                */
    FILCH_DOT_CRITICAL = 2, /* the longest path in red: by the costs that the next run uses; with
                             * FILCH_DOT_TIMES, once it ran, by the times of the last run     */
};

/* Writes it to a file, or in pieces through a function (what it returns ends it, if not 0). Returns 0, -EIO
 * or what the function returned, -ENOMEM or -EBUSY. */
FILCH_API int filch_graph_dot(filch_graph *graph, FILE *file, unsigned how);
FILCH_API int filch_graph_dot_to(filch_graph *graph, int (*write)(const char *text, size_t length, void *arg),
                                 void *arg, unsigned how);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_GRAPH_H */
