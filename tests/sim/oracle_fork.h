/* oracle_fork.h: the model of sim/exact.h in the plainest way: every task is a record, every step an event,
 * the next event is found by a search through all workers. For small trees. */
#ifndef FILCH_TESTS_ORACLE_FORK_H
#define FILCH_TESTS_ORACLE_FORK_H

#include "base/rng.h"
#include "check.h"
#include "policy/choice.h"
#include "sim/forktree.h"

#include <stdbool.h>

struct oracle_task {
    uint64_t node;
    struct oracle_task *parent;
    uint32_t left; /* children that have not ended */
};

enum oracle_step { ORACLE_WORKS, ORACLE_JOINS, ORACLE_LOOKS };

struct oracle_worker {
    sim_time at; /* time of its next event */
    enum oracle_step step;
    struct oracle_task *task;
    struct oracle_task **deque; /* [first .. end), the oldest first */
    uint32_t first, end;
    struct rng rng;
};

struct oracle {
    const struct forktree *tree;
    struct forktree_costs costs;
    struct oracle_task *tasks;
    uint32_t count, workers;
    struct oracle_worker *worker;
    uint64_t steals, failures, executed;
};

static struct oracle_task *oracle_task(struct oracle *o, uint64_t node, struct oracle_task *parent)
{
    struct oracle_task *task = &o->tasks[o->count++];
    *task = (struct oracle_task){node, parent, forktree_children(o->tree, node)};
    return task;
}

static void oracle_begin(struct oracle *o, struct oracle_worker *w, struct oracle_task *task, sim_time start)
{
    uint32_t k = forktree_children(o->tree, task->node);
    w->task = task;
    w->step = ORACLE_WORKS;
    w->at = start + o->costs.exec + forktree_before(o->tree, task->node);
    if (k > 0)
        w->at += (k - 1) * o->costs.spawn;
    o->executed++;
}

/* Returns true if it was the root. */
static bool oracle_ends(struct oracle *o, struct oracle_worker *w)
{
    struct oracle_task *parent = w->task->parent;
    if (!parent)
        return true;
    if (--parent->left == 0) {
        w->task = parent;
        w->step = ORACLE_JOINS;
        w->at += o->costs.join + forktree_after(o->tree, parent->node);
    } else if (w->first < w->end) {
        oracle_begin(o, w, w->deque[--w->end], w->at + o->costs.pop);
    } else {
        w->step = ORACLE_LOOKS;
    }
    return false;
}

static void oracle_forks(struct oracle *o, struct oracle_worker *w)
{
    struct oracle_task *task = w->task;
    for (uint32_t i = task->left - 1; i > 0; i--)
        w->deque[w->end++] = oracle_task(o, forktree_child(o->tree, task->node, i), task);
    oracle_begin(o, w, oracle_task(o, forktree_child(o->tree, task->node, 0), task), w->at);
}

static void oracle_looks(struct oracle *o, uint32_t self)
{
    struct oracle_worker *w = &o->worker[self];
    if (w->first < w->end) { /* at time 0 */
        oracle_begin(o, w, w->deque[--w->end], w->at + o->costs.pop);
        return;
    }
    struct oracle_worker *victim = &o->worker[choice_other(self, o->workers, &w->rng)];
    if (victim->first < victim->end) {
        o->steals++;
        oracle_begin(o, w, victim->deque[victim->first++], w->at + o->costs.steal);
    } else {
        o->failures++;
        w->at += o->costs.failed;
    }
}

static uint32_t oracle_next(const struct oracle *o)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < o->workers; i++) {
        const struct oracle_worker *a = &o->worker[i], *b = &o->worker[best];
        if (a->at < b->at || (a->at == b->at && a->step != ORACLE_LOOKS && b->step == ORACLE_LOOKS))
            best = i;
    }
    return best;
}

/* Returns true if the root has ended. */
static bool oracle_event(struct oracle *o, uint32_t self)
{
    struct oracle_worker *w = &o->worker[self];
    if (w->step == ORACLE_LOOKS)
        oracle_looks(o, self);
    else if (w->step == ORACLE_WORKS && w->task->left > 0)
        oracle_forks(o, w);
    else
        return oracle_ends(o, w);
    return false;
}

/* The makespan; steals, failures and executed are in *o. */
static sim_time oracle_run(struct oracle *o, const struct forktree *tree, const struct forktree_costs *costs,
                           uint32_t workers, uint64_t seed)
{
    uint64_t nodes = forktree_count(tree);
    *o = (struct oracle){.tree = tree, .costs = *costs, .workers = workers};
    o->tasks = calloc(nodes, sizeof *o->tasks);
    o->worker = calloc(workers, sizeof *o->worker);
    for (uint32_t i = 0; i < workers; i++) {
        o->worker[i].step = ORACLE_LOOKS;
        o->worker[i].deque = calloc(nodes, sizeof(struct oracle_task *));
        rng_seed(&o->worker[i].rng, rng_mix(seed) + i);
    }
    o->worker[0].deque[o->worker[0].end++] = oracle_task(o, tree->root, NULL);
    uint32_t next = oracle_next(o);
    while (!oracle_event(o, next))
        next = oracle_next(o);
    sim_time makespan = o->worker[next].at;
    for (uint32_t i = 0; i < workers; i++)
        free(o->worker[i].deque);
    free(o->worker);
    free(o->tasks);
    return makespan;
}

#endif
