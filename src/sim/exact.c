/* exact.c: one event per worker, however many tasks it executes in between.
 *
 * From one steal to the next a worker executes a subtree in serial order: the end is known when the subtree
 * begins, and what the worker does at any time before follows from the sums of the subtrees. So a worker has
 * a scope: children at .. last of one node `of`, then a tail of joins. A probe moves the victim's scope to
 * the present. It only moves forward and down, so all probes together pay at most once for a node. The oldest
 * of the deque is then child `last`, because `of` is the outermost node with children in the deque.
 *
 * A node that loses a child becomes a frame, which counts the scopes that hold children of the node. The
 * scope that ends last executes the frame's tail: the join of the node, and those of its ancestors within the
 * scope that was split. Each of these had only its last child left, so no deque holds a child of them. */
#include "sim/exact.h"
#include "base/rng.h"
#include "policy/choice.h"
#include "sim/refuse.h"
#include "sim/tourney.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#define NO_FRAME UINT32_MAX

enum { ENDS = 1, PROBES = 2 }; /* kinds of events */

struct frame {
    uint32_t parent; /* the frame that ends with this one's tail; in the free list: the next */
    uint32_t scopes; /* that hold children of this node and have not ended */
    sim_time tail;
};

struct scope {
    uint64_t of, node;  /* node is child `at` of `of`; alone (at == last) it may have no `of` */
    uint32_t at, last;
    uint32_t frame;     /* the next frame above; that of `of` unless inside */
    bool inside;        /* no child of `of` was stolen: its join is part of the tail */
    bool empty;         /* the deque is empty until the end: the tail has begun, or the worker probes */
    sim_time start;     /* when node begins */
    sim_time tail, end; /* the tail's length; the end of all */
    struct rng rng;     /* of the worker */
};

struct machine {
    const struct forktree *tree;
    const struct forktree_sums *sums;
    struct tourney next;
    struct scope *scope; /* of each worker */
    struct frame *frame;
    uint32_t frames, room, free; /* used at some time, allocated, list of free ones */
    uint32_t workers;
    struct exact_result result;
};

/* ---- frames ------------------------------------------------------------------------------- */

/* Returns false if there is no memory for one more frame. */
static bool frame_reserve(struct machine *m)
{
    if (m->free != NO_FRAME || m->frames < m->room)
        return true;
    if (m->room >= NO_FRAME / 2)
        return false;
    uint32_t room = m->room ? 2 * m->room : 256;
    struct frame *frame = realloc(m->frame, room * sizeof *frame);
    if (!frame)
        return false;
    m->frame = frame;
    m->room = room;
    return true;
}

/* After frame_reserve(). */
static uint32_t frame_take(struct machine *m, struct frame value)
{
    uint32_t f = m->free;
    if (f != NO_FRAME)
        m->free = m->frame[f].parent;
    else
        f = m->frames++;
    m->frame[f] = value;
    return f;
}

static void frame_give(struct machine *m, uint32_t f)
{
    m->frame[f].parent = m->free;
    m->free = f;
}

/* ---- scopes ------------------------------------------------------------------------------- */

/* The last node of the scope has forked: its children become the scope. */
static void scope_enter(const struct machine *m, struct scope *s, sim_time forked)
{
    const struct forktree *t = m->tree;
    s->tail += m->sums->costs.join + forktree_after(t, s->node);
    s->of = s->node;
    s->at = 0;
    s->last = forktree_children(t, s->of) - 1;
    s->node = forktree_child(t, s->of, 0);
    s->start = forked;
    s->inside = true;
}

static void scope_pass(const struct machine *m, struct scope *s, sim_time node_end)
{
    s->at++;
    s->node = forktree_child(m->tree, s->of, s->at);
    s->start = node_end + m->sums->costs.pop;
}

/* Moves the scope to the time t. Returns true if children at + 1 .. last of it are in the deque. Times here
 * are not above s->end, so no sum overflows. */
static bool scope_pending(const struct machine *m, struct scope *s, sim_time t)
{
    while (!s->empty) {
        sim_time node_end = s->start + forktree_sum(m->sums, s->node);
        if (s->at < s->last) {
            if (t < node_end)
                return true;
            scope_pass(m, s, node_end);
        } else if (t >= node_end) {
            s->empty = true;
        } else {
            sim_time forked = s->start + forktree_until_fork(m->tree, &m->sums->costs, s->node);
            if (t < forked || forktree_children(m->tree, s->node) == 0)
                return false;
            scope_enter(m, s, forked);
        }
    }
    return false;
}

/* ---- events ------------------------------------------------------------------------------- */

/* Returns false if the time is above SIM_TIME_MAX. */
static bool schedule(struct machine *m, uint32_t worker, sim_time t, unsigned kind)
{
    if (t > SIM_TIME_MAX)
        return false;
    tourney_set(&m->next, worker, tourney_key(t, kind));
    return true;
}

static bool begin_node(struct machine *m, uint32_t worker, uint32_t frame, uint64_t node, sim_time start)
{
    struct scope *s = &m->scope[worker];
    s->frame = frame;
    s->node = node;
    s->at = s->last = 0;
    s->start = start;
    s->tail = 0;
    s->end = start + forktree_sum(m->sums, node);
    s->inside = s->empty = false;
    return schedule(m, worker, s->end, ENDS);
}

/* The victim loses the oldest child. scope_pending() has returned true, and a frame is reserved. */
static bool steal(struct machine *m, uint32_t thief, uint32_t victim, sim_time t)
{
    struct scope *s = &m->scope[victim];
    if (s->inside) {
        s->frame = frame_take(m, (struct frame){.parent = s->frame, .scopes = 1, .tail = s->tail});
        s->end -= s->tail;
        s->tail = 0;
        s->inside = false;
    }
    uint64_t node = forktree_child(m->tree, s->of, s->last--);
    s->end -= m->sums->costs.pop + forktree_sum(m->sums, node);
    m->frame[s->frame].scopes++;
    m->result.steals++;
    return schedule(m, victim, s->end, ENDS) &&
           begin_node(m, thief, s->frame, node, t + m->sums->costs.steal);
}

static int too_late(char *message, size_t size)
{
    return sim_refuse(message, size, "the run takes more than 2^59 ns");
}

static int probe(struct machine *m, uint32_t worker, sim_time t, char *message, size_t size)
{
    uint32_t victim = choice_other(worker, m->workers, &m->scope[worker].rng);
    if (!scope_pending(m, &m->scope[victim], t)) {
        m->result.failures++;
        return schedule(m, worker, t + m->sums->costs.failed, PROBES) ? 0 : too_late(message, size);
    }
    if (!frame_reserve(m)) {
        (void)sim_refuse(message, size, "no memory for %" PRIu32 " frames", m->frames + 1);
        return -ENOMEM;
    }
    return steal(m, worker, victim, t) ? 0 : too_late(message, size);
}

/* The worker's scope has ended, below a frame. */
static int end_scope(struct machine *m, uint32_t worker, sim_time t, char *message, size_t size)
{
    struct scope *s = &m->scope[worker];
    struct frame *f = &m->frame[s->frame];
    s->empty = true;
    if (--f->scopes > 0)
        return schedule(m, worker, t, PROBES) ? 0 : too_late(message, size);
    uint32_t ended = s->frame;
    s->end = t + f->tail;
    s->frame = f->parent;
    frame_give(m, ended);
    return schedule(m, worker, s->end, ENDS) ? 0 : too_late(message, size);
}

/* ---- a run -------------------------------------------------------------------------------- */

static int machine_init(struct machine *m, uint64_t seed, char *message, size_t size)
{
    m->free = NO_FRAME;
    m->scope = malloc(m->workers * sizeof *m->scope);
    if (!m->scope || tourney_init(&m->next, m->workers) < 0) {
        (void)sim_refuse(message, size, "no memory for %" PRIu32 " workers", m->workers);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < m->workers; i++) {
        m->scope[i] = (struct scope){.empty = true, .frame = NO_FRAME};
        rng_seed(&m->scope[i].rng, rng_mix(seed) + i);
        if (i > 0)
            tourney_set(&m->next, i, tourney_key(0, PROBES));
    }
    if (!begin_node(m, 0, NO_FRAME, m->tree->root, m->sums->costs.pop))
        return too_late(message, size);
    return 0;
}

static void machine_free(struct machine *m)
{
    free(m->scope);
    free(m->frame);
    tourney_free(&m->next);
}

/* Until the root ends. */
static int machine_run(struct machine *m, char *message, size_t size)
{
    for (;;) {
        uint32_t worker = tourney_first(&m->next);
        uint64_t key = tourney_first_key(&m->next);
        sim_time t = tourney_time(key);
        int rc;
        m->result.events++;
        if (tourney_kind(key) == PROBES) {
            rc = probe(m, worker, t, message, size);
        } else if (m->scope[worker].frame == NO_FRAME) {
            m->result.makespan = t;
            return 0;
        } else {
            rc = end_scope(m, worker, t, message, size);
        }
        if (rc < 0)
            return rc;
    }
}

int exact_run_sums(const struct forktree *t, const struct forktree_sums *sums, uint32_t workers,
                   uint64_t seed, struct exact_result *result, char *message, size_t size)
{
    if (workers == 0 || workers > EXACT_WORKERS_MOST)
        return sim_refuse(message, size, "workers: 1 to %d, not %" PRIu32, EXACT_WORKERS_MOST, workers);
    if (sums->costs.failed < 1)
        return sim_refuse(message, size, "cost of a failed probe: at least 1 ns, or time stands still");
    struct machine m = {.tree = t, .sums = sums, .workers = workers};
    int rc = machine_init(&m, seed, message, size);
    if (rc == 0)
        rc = machine_run(&m, message, size);
    machine_free(&m);
    if (rc < 0)
        return rc;
    m.result.tasks = forktree_count(t);
    *result = m.result;
    return 0;
}

int exact_run(const struct forktree *t, const struct forktree_costs *costs, uint32_t workers, uint64_t seed,
              struct exact_result *result, char *message, size_t size)
{
    struct forktree_sums sums;
    int rc = forktree_sums_make(&sums, t, costs, message, size);
    if (rc == 0) {
        rc = exact_run_sums(t, &sums, workers, seed, result, message, size);
        forktree_sums_free(&sums);
    }
    return rc;
}
