/* graph.h: a task graph: what was said about it (nodes, edges), and the plan by which it runs.
 *
 * The plan has the nodes in the order of their rank: the longest way to the end of the graph first, then the
 * lower number. Costs are at least 1, so a predecessor has a longer way than its successors, and a lower
 * rank. Which ready node is to begin is then the lowest number of a set (ready.h), and successors are ranks
 * as well.
 *
 * Who runs nodes is a runner: a task that takes the most critical ready node, runs it, counts down its
 * successors, and goes on with the most critical again. Whenever there are ready nodes that no runner has
 * taken, one more runner is queued, or as many nodes are under way as may be. One is enough: what begins to
 * run queues the next before it runs its node. So nodes may wait for each other, whoever is left finds a
 * runner in the queue, and a graph of small nodes costs a lock for each and hardly ever a task.
 *
 * | field     | writer                              | reader           | invariant               |
 * | busy      | who changes, looks at, or runs it   | the same         | one at a time           |
 * | ready, queued, active, done, failed | lock holder | lock holder    |                         |
 * | left[]    | who ends a predecessor              | the same         | 0: ready, put in once   |
 * | node[].start, end, run, worker | its runner     | the caller, after all runners have ended   |
 * | living    | the caller, life's holder           | life's holder    | `whole` can be cancelled |
 * | the rest  | who has it busy, before there are runners                                        |
 *
 * [G1] The countdown of left[] is acquire and release: what all predecessors wrote is there for whoever
 *      counts to 0, and by the lock for the runner that takes the node.
 * [G2] busy is acquired by the CAS and released at the end: runs and changes see what the last ones did.
 * par.stop (par.h) is set with the lock held, so that it is known which node was the first.
 */
#ifndef FILCH_GRAPH_INTERNAL_H
#define FILCH_GRAPH_INTERNAL_H

#include "par/par.h"
#include "par/ready.h"

#include <filch/graph.h>

#define GRAPH_MAGIC 0x67a9b001u
#define GRAPH_NONE READY_NONE

/* What was said of a node, and what was seen of it. A cache line. */
struct graph_node {
    int (*fn)(void *arg);
    void *arg;
    const char *name;
    uint64_t cost;
    uint64_t start, end;           /* ticks                                             */
    uint32_t run;                  /* in which run that was; 0: none                    */
    int32_t worker;
    uint32_t removed;
};

struct graph_edge {
    uint32_t before, after;
};

/* A node of the plan; the next one's `first` is the end of its successors. */
struct graph_vertex {
    size_t first;
    uint32_t number;
    uint32_t before;               /* how many predecessors                             */
};

/* Arrays by number unless it says otherwise; all of one block. */
struct graph_plan {
    void *block;
    size_t nodes, edges;           /* room for so many                                  */
    size_t *first;                 /* of a node's predecessors in before[]              */
    uint32_t *before;
    uint32_t *order;               /* each after its successors; or the cycle           */
    uint64_t *way;                 /* the longest way from its beginning to the end     */
    uint32_t *rank;
    uint32_t *scratch, *more;
    uint32_t *by_rank;
    struct graph_vertex *vertex;   /* by rank                                           */
    uint32_t *after;               /* ranks, from vertex.first on                       */
    uint32_t *left;                /* by rank                                           */
};

struct filch_graph {
    uint32_t magic;
    uint32_t busy;
    struct graph_node *node;
    size_t count, room;
    struct graph_edge *edge;
    size_t edges, edge_room;
    size_t living_nodes;           /* not removed                                       */
    size_t cycle;                  /* how long, its nodes are in plan.order; 0: none    */
    bool shaped, ranked;           /* the plan is that of the edges, that of the costs  */
    bool measured;
    struct graph_plan plan;
    /* The last run, or this. */
    uint32_t run;
    uint64_t begun_ticks, ended_ticks;
    int64_t begun_ns, ended_ns;
    struct par par;
    filch_scope whole, inner;      /* what cancel cancels; inside it, that of the runners */
    uint32_t life;                 /* lock of `living`                                  */
    uint32_t living;
    uint32_t most;                 /* nodes under way at most                           */
    uint64_t turn;                 /* ticks that a runner goes on for                   */
    uint32_t lock __attribute__((aligned(64)));
    uint32_t queued, active;
    uint32_t failed;               /* number, or GRAPH_NONE                             */
    size_t done;
    struct ready ready;
};

/* The graph is one, and is nobody else's from here on. False: it is busy. */
bool graph_claim(filch_graph *g, const char *call);
void graph_release(filch_graph *g);
void graph_check_node(const filch_graph *g, int node, const char *call);

/* Claimed: makes the plan if what it was made of has changed. 0, -ELOOP or -ENOMEM. */
int graph_plan(filch_graph *g);
void graph_plan_free(filch_graph *g);
/* The predecessors of a node. */
static inline const uint32_t *graph_before(const filch_graph *g, size_t number, size_t *count)
{
    *count = g->plan.first[number + 1] - g->plan.first[number];
    return g->plan.before + g->plan.first[number];
}
/* The node's successor on the longest path, or GRAPH_NONE. */
uint32_t graph_next_critical(const filch_graph *g, uint32_t number);
/* The longest path by the times of the last run, with a plan: where it begins, a node's successor on it. */
uint32_t graph_longest_begin(filch_graph *g);
uint32_t graph_longest_next(const filch_graph *g, uint32_t number);

/* Clock time of a moment of the last run. */
int64_t graph_clock(const filch_graph *g, uint64_t ticks);

#endif
