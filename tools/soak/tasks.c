/* tasks.c: tasks that spawn tasks, and join, detach, leave, outwait, outsleep and outyield them. */
#include "soak.h"

#include <errno.h>
#include <filch/task.h>

enum { TASKS = SOAK_SLOW ? 200 : 3000, BRANCHES = 6 };

/* The task over marks [low, end): its own is the first, the others are its children's. */
struct node {
    struct driver *d;
    uint32_t low, end, hash;
};

/* The last task of a grove to end raises `all`: nobody joins some of them. */
struct grove {
    filch_pool *pool;
    uint32_t left;
    filch_event all;
    struct node node[TASKS];
};

static struct grove groves[SOAK_DRIVERS];

static struct grove *grove_of(struct driver *d)
{
    return &groves[d->index];
}

static int answer(const struct node *n)
{
    return (int)(n->hash & 0xffff);
}

/* ---- what a task does with a child --------------------------------------------------------------- */

static int task(void *arg);

static void leaves(void *arg)
{
    (void)task(arg);
}

static filch_task_attr attr_of(const struct node *n)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    bool here = filch_pool_current() == grove_of(n->d)->pool;
    a.pool = here && n->hash & 1 ? NULL : grove_of(n->d)->pool;
    a.name = "soak";
    a.large_stack = n->hash % 32 == 0;
    return a;
}

/* Null: it goes by itself. */
static filch_task *begin(struct node *n)
{
    filch_task_attr a = attr_of(n);
    filch_task *t = NULL;
    bool go = n->hash >> 1 & 1;
    int rc = go ? filch_go_with(&a, leaves, n) : filch_spawn_with(&t, &a, task, n);
    if (rc != 0)
        tally_wrong(n->d, "%s returns %d", go ? "filch_go_with" : "filch_spawn_with", rc);
    return t;
}

static void check_joined(const struct node *n, int rc, int result)
{
    if (rc != 0 || result != answer(n))
        tally_wrong(n->d, "filch_task_join returns %d, the task %d instead of %d", rc, result, answer(n));
}

static void finish(struct node *n, filch_task *t, uint32_t dice)
{
    int result = -1, rc = -ETIMEDOUT;
    if (!t)
        return;
    if (dice % 4 == 0) {
        filch_task_detach(t);
        return;
    }
    if (dice % 4 == 1)
        rc = filch_task_join(t, &result, FILCH_NOW);
    for (unsigned i = 0; rc == -ETIMEDOUT && dice % 4 == 2 && i < 20; i++)
        rc = filch_task_join(t, &result, filch_clock_ns() + dice % 100 * 1000);
    if (rc == -ETIMEDOUT)
        rc = filch_task_join(t, &result, FILCH_FOREVER);
    check_joined(n, rc, result);
}

/* ---- what it does by itself ---------------------------------------------------------------------- */

static void pass_time(struct node *n, uint32_t dice)
{
    int64_t ns = dice % 8 == 0 ? dice % 300000 : 0, before = filch_clock_ns();
    if (dice % 4 == 1)
        filch_yield();
    if (dice % 64 == 2)
        filch_pin();
    filch_sleep_ns(ns);
    if (dice % 64 == 2)
        filch_unpin();
    if (filch_clock_ns() - before < ns)
        tally_wrong(n->d, "a sleep of %lld ns was too short", (long long)ns);
}

static int task(void *arg)
{
    struct node *n = arg;
    struct grove *g = grove_of(n->d);
    struct node *child[BRANCHES];
    filch_task *t[BRANCHES];
    uint32_t parts = 0, at = n->low + 1;
    tally_mark(n->d, n->low);
    while (at < n->end) {
        uint32_t left = n->end - at, dice = (uint32_t)rng_mix(n->hash + at);
        uint32_t size = parts + 1 == BRANCHES ? left : 1 + dice % left;
        child[parts] = &g->node[at];
        *child[parts] = (struct node){n->d, at, at + size, dice};
        t[parts] = begin(child[parts]);
        parts++;
        at += size;
    }
    pass_time(n, n->hash >> 4);
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t k = n->hash >> 8 & 1 ? i : parts - 1 - i;
        finish(child[k], t[k], (uint32_t)rng_mix(n->hash + k));
    }
    int result = answer(n);
    if (filch_sub_acq_rel(&g->left, 1u) == 1) /* order: all that the tasks wrote, before the event */
        filch_event_set(&g->all);
    return result; /* the nodes may be in use for the next round */
}

/* ---- from outside -------------------------------------------------------------------------------- */

static void grove_wait(struct driver *d, struct drawn p)
{
    struct grove *g = grove_of(d);
    if (p.own && driver_chance(d, 2)) {
        while (filch_pool_wait(p.pool, filch_clock_ns() + driver_below(d, 2000) * 1000) == -ETIMEDOUT)
            continue;
        if (!filch_event_is_set(&g->all))
            tally_wrong(d, "filch_pool_wait returned before all tasks were over");
    }
    filch_event_wait(&g->all);
    driver_step(d);
}

static void grove_run(struct driver *d, struct drawn p, uint32_t n)
{
    struct grove *g = grove_of(d);
    filch_task *t[BRANCHES];
    struct node *root[BRANCHES];
    uint32_t roots = 0;
    g->pool = p.pool;
    g->all = (filch_event){0};
    filch_store_relaxed(&g->left, n); /* order: before the first task */
    d->born += n;
    for (uint32_t at = 0, size; at < n; at += size) {
        size = roots + 1 == BRANCHES ? n - at : 1 + driver_below(d, n - at);
        root[roots] = &g->node[at];
        *root[roots] = (struct node){d, at, at + size, (uint32_t)rng_next(&d->rng)};
        t[roots] = begin(root[roots]);
        roots++;
    }
    driver_step(d);
    for (uint32_t i = 0; i < roots; i++)
        finish(root[i], t[i], (uint32_t)rng_next(&d->rng));
    grove_wait(d, p);
    tally_marks(d, n);
}

void phase_tasks(struct driver *d)
{
    struct drawn p = draw_pool(d, DRAW_SUSPEND);
    uint32_t rounds = driver_range(d, 1, 12);
    for (uint32_t i = 0; i < rounds && !soak_ending(); i++)
        grove_run(d, p, 1 + driver_below(d, TASKS - 1));
    draw_done(d, p);
}
