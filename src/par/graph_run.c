/* graph_run.c: a run of a graph. The fields, and how runners find nodes: graph.h. */
#include "par/graph.h"

#include "core/lock.h"
#include "core/report.h"
#include "os/os.h"

#define TURN_US 200 /* then a runner lets others of its worker have their turn */
#define BATCH 32    /* nodes put in with one lock */

/* ---- runners -------------------------------------------------------------------------------- */

static int runner(void *graph);

/* Lock held. One more runner is to be queued; the caller does it, without the lock. */
static bool wants_runner(filch_graph *g)
{
    if (g->queued || ready_empty(&g->ready) || g->active >= g->most || g->par.stop)
        return false;
    g->queued = 1;
    return true;
}

/* If it cannot be, the scope is cancelled, which stops the run, and returns why. */
static void queue_runner(filch_graph *g)
{
    (void)filch_scope_go_named(&g->inner, g->par.name, runner, g, 0);
}

/* Lock held. READY_NONE: there is none, or no more is to begin. */
static uint32_t take(filch_graph *g, bool stopped)
{
    return stopped || g->par.stop ? READY_NONE : ready_take(&g->ready);
}

static uint32_t first_node(filch_graph *g)
{
    uint32_t r = READY_NONE;
    bool stopped = par_stopped(&g->par);
    lock_acquire(&g->lock);
    g->queued = 0;
    if (g->active < g->most)
        r = take(g, stopped);
    g->active += r != READY_NONE;
    bool more = !stopped && wants_runner(g);
    lock_release(&g->lock);
    if (more)
        queue_runner(g);
    return r;
}

static void put(filch_graph *g, const uint32_t *batch, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        ready_put(&g->ready, batch[i]);
}

static void put_early(filch_graph *g, const uint32_t *batch, unsigned n)
{
    lock_acquire(&g->lock);
    put(g, batch, n);
    bool more = wants_runner(g);
    lock_release(&g->lock);
    if (more)
        queue_runner(g);
}

/* Counts its successors down, and takes the node to go on with. `leave`: none, others shall. */
static uint32_t next_node(filch_graph *g, uint32_t r, bool leave)
{
    const struct graph_vertex *v = &g->plan.vertex[r];
    uint32_t batch[BATCH], next = READY_NONE;
    unsigned n = 0;
    for (size_t i = v[0].first; i < v[1].first; i++) {
        uint32_t s = g->plan.after[i];
        if (filch_sub_acq_rel(&g->plan.left[s], 1u) != 1) /* order: [G1] */
            continue;
        if (n == BATCH) {
            put_early(g, batch, n);
            n = 0;
        }
        batch[n++] = s;
    }
    bool stopped = par_stopped(&g->par);
    lock_acquire(&g->lock);
    put(g, batch, n);
    g->done++;
    if (!leave)
        next = take(g, stopped);
    g->active -= next == READY_NONE;
    bool more = !stopped && wants_runner(g);
    lock_release(&g->lock);
    if (more)
        queue_runner(g);
    return next;
}

/* The first error stops the rest, unless it says that the run was stopped already. */
static void node_failed(filch_graph *g, uint32_t number, int error)
{
    bool told = error == -ECANCELED && par_stopped(&g->par);
    lock_acquire(&g->lock);
    g->active--;
    bool first = !told && !g->par.stop;
    if (first) {
        par_stop(&g->par, error);
        g->failed = number;
    }
    lock_release(&g->lock);
    if (first)
        filch_scope_cancel(&g->inner);
}

static int run_node(filch_graph *g, struct graph_node *node)
{
    filch_task_rename(node->name ? node->name : g->par.name);
    node->run = g->run;
    node->worker = filch_worker_id();
    node->start = os_ticks();
    int rc = node->fn ? node->fn(node->arg) : 0;
    node->end = os_ticks();
    return rc;
}

static int runner(void *graph)
{
    filch_graph *g = graph;
    struct par_place place = par_enter(&g->par);
    uint32_t r = first_node(g);
    uint64_t begun = os_ticks();
    while (r != READY_NONE) {
        uint32_t number = g->plan.vertex[r].number;
        struct graph_node *node = &g->node[number];
        int rc = run_node(g, node);
        if (rc != 0) {
            node_failed(g, number, rc);
            break;
        }
        r = next_node(g, r, node->end - begun > g->turn);
    }
    filch_task_rename(g->par.name);
    par_leave(&place);
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void reset(filch_graph *g)
{
    struct graph_plan *p = &g->plan;
    ready_clear(&g->ready);
    for (size_t r = 0; r < g->living_nodes; r++) {
        p->left[r] = p->vertex[r].before;
        if (p->left[r] == 0)
            ready_put(&g->ready, (uint32_t)r);
    }
    g->most = g->par.how.workers > 0 ? (uint32_t)g->par.how.workers : UINT32_MAX;
    g->turn = TURN_US * os_ticks_per_us();
    g->queued = 1; /* the first */
    g->active = 0;
    g->done = 0;
    g->run = g->run == UINT32_MAX ? 1 : g->run + 1;
}

/* A cancel comes while `living` is 1, and then finds both scopes open: so there are two, for closing the
 * inner one is what waits for the runners. */
static void set_living(filch_graph *g, uint32_t living)
{
    lock_acquire(&g->life);
    g->living = living;
    lock_release(&g->life);
}

static void open_scopes(filch_graph *g)
{
    filch_pool *pool = g->par.pool; /* with one, nothing can fail */
    filch_scope *given = g->par.how.scope;
    (void)(given ? filch_scope_open_in(&g->whole, given, pool) : filch_scope_open_on(&g->whole, pool));
    (void)filch_scope_open_in(&g->inner, &g->whole, pool);
    g->par.also = g->par.token;
    g->par.token = (struct wait_token *)&g->inner;
}

static int result(const filch_graph *g, int closed)
{
    if (g->done == g->living_nodes)
        return 0;
    if (g->par.stop)
        return g->par.error;
    return closed != 0 ? closed : -ECANCELED; /* a runner could not be started, or cancelled from outside */
}

static int run(filch_graph *g)
{
    reset(g);
    open_scopes(g);
    g->begun_ticks = os_ticks();
    g->begun_ns = os_clock_ns();
    set_living(g, 1);
    queue_runner(g);
    int closed = filch_scope_close(&g->inner);
    set_living(g, 0);
    (void)filch_scope_close(&g->whole);
    g->ended_ticks = os_ticks();
    g->ended_ns = os_clock_ns();
    g->ranked = g->ranked && !g->measured;
    return result(g, closed);
}

int filch_graph_run_with(const filch_how *how, filch_graph *g)
{
    if (!graph_claim(g, "filch_graph_run"))
        return -EBUSY;
    par_begin(&g->par, how, "filch_graph_run");
    g->failed = GRAPH_NONE;
    int rc = graph_plan(g);
    if (rc == 0 && g->living_nodes > 0)
        rc = run(g);
    graph_release(g);
    return rc;
}

int filch_graph_run(filch_graph *g)
{
    return filch_graph_run_with(0, g);
}

void filch_graph_cancel(filch_graph *g)
{
    if (!g || g->magic != GRAPH_MAGIC)
        report_misuse("filch_graph_cancel", "not a graph, or one that was destroyed");
    lock_acquire(&g->life);
    if (g->living) {
        lock_acquire(&g->lock);
        par_stop(&g->par, -ECANCELED);
        lock_release(&g->lock);
        filch_scope_cancel(&g->whole);
    }
    lock_release(&g->life);
}
