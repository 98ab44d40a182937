/* spawn.c: what it costs to make tasks, and to let others run. */
#include "cases.h"

#define SKYNET_CHILDREN 10

/* ---- spawn --------------------------------------------------------------------------------- */

struct many {
    struct tasks_all all;
    int size, spawned;
    int64_t ns;
};

static void nothing(void *arg)
{
    tasks_all_done(arg);
}

static void many_main(void *arg)
{
    struct many *m = arg;
    int64_t start = filch_clock_ns();
    int size = m->size, spawned = 0; /* not in `m`: the tasks write to that line */
    tasks_all_expect(&m->all, size);
    while (spawned < size && filch_go(nothing, &m->all) == 0)
        spawned++;
    m->spawned = spawned;
    if (spawned == size)
        tasks_all_wait(&m->all);
    m->ns = filch_clock_ns() - start;
}

const char *spawn_many(const struct tasks_request *ask, struct tasks_report *out)
{
    struct many m = {.size = ask->size};
    if (tasks_main(ask->pool, many_main, &m) || m.spawned < m.size)
        return "a task cannot be made";
    out->ns_per_op = tasks_per_op(m.ns, m.size);
    return NULL;
}

/* ---- spawn_join ---------------------------------------------------------------------------- */

struct join {
    int size, failed;
    int64_t sum, ns;
};

static int give_back(void *arg)
{
    return *(int *)arg;
}

static void join_main(void *arg)
{
    struct join *j = arg;
    int64_t start = filch_clock_ns();
    for (int i = 0; i < j->size && !j->failed; i++) {
        filch_task *t;
        int result = 0;
        j->failed = filch_spawn(&t, give_back, &i) || filch_task_join(t, &result, FILCH_FOREVER);
        j->sum += result;
    }
    j->ns = filch_clock_ns() - start;
}

const char *spawn_join(const struct tasks_request *ask, struct tasks_report *out)
{
    struct join j = {.size = ask->size};
    if (tasks_main(ask->pool, join_main, &j) || j.failed)
        return "a task cannot be made";
    if (j.sum != (int64_t)j.size * (j.size - 1) / 2)
        return "wrong sum";
    out->ns_per_op = tasks_per_op(j.ns, j.size);
    return NULL;
}

/* ---- skynet -------------------------------------------------------------------------------- */

struct node {
    int64_t number, leaves; /* the leaves from `number` on */
    int64_t sum;
};

static int node_run(void *arg);

static int64_t node_children(const struct node *n)
{
    struct node child[SKYNET_CHILDREN];
    filch_task *task[SKYNET_CHILDREN];
    int64_t leaves = n->leaves / SKYNET_CHILDREN, sum = 0;
    int spawned = 0;
    for (; spawned < SKYNET_CHILDREN; spawned++) {
        child[spawned] = (struct node){n->number + spawned * leaves, leaves, 0};
        if (filch_spawn(&task[spawned], node_run, &child[spawned]))
            break;
    }
    while (spawned > 0) {
        filch_task_join(task[--spawned], NULL, FILCH_FOREVER);
        sum += child[spawned].sum;
    }
    return sum;
}

static int node_run(void *arg)
{
    struct node *n = arg;
    n->sum = n->leaves == 1 ? n->number : node_children(n);
    return 0;
}

struct skynet {
    struct node root;
    int64_t ns;
};

static void skynet_main(void *arg)
{
    struct skynet *s = arg;
    int64_t start = filch_clock_ns();
    node_run(&s->root);
    s->ns = filch_clock_ns() - start;
}

static int power_of_ten(int n)
{
    while (n > 1 && n % 10 == 0)
        n /= 10;
    return n == 1;
}

const char *spawn_skynet(const struct tasks_request *ask, struct tasks_report *out)
{
    struct skynet s = {{0, ask->size, 0}, 0};
    if (!power_of_ten(ask->size))
        return "the size of skynet is a power of 10";
    if (tasks_main(ask->pool, skynet_main, &s))
        return "a task cannot be made";
    if (s.root.sum != (int64_t)ask->size * (ask->size - 1) / 2)
        return "wrong sum";
    out->ns_per_op = tasks_per_op(s.ns, ask->size);
    return NULL;
}

/* ---- yield --------------------------------------------------------------------------------- */

static int yielder(void *arg)
{
    for (int i = *(int *)arg; i > 0; i--)
        filch_yield();
    return 0;
}

struct yields {
    int size, failed;
    int64_t ns;
};

/* Both are tasks beside this one, which waits: the second begins when the first yields. */
static void yields_main(void *arg)
{
    struct yields *y = arg;
    filch_task *a, *b;
    int64_t start = filch_clock_ns();
    if ((y->failed = filch_spawn(&a, yielder, &y->size)))
        return;
    y->failed = filch_spawn(&b, yielder, &y->size);
    filch_task_join(a, NULL, FILCH_FOREVER);
    if (!y->failed)
        filch_task_join(b, NULL, FILCH_FOREVER);
    y->ns = filch_clock_ns() - start;
}

const char *yield_two(const struct tasks_request *ask, struct tasks_report *out)
{
    struct yields y = {.size = ask->size};
    if (tasks_main(ask->pool, yields_main, &y) || y.failed)
        return "a task cannot be made";
    out->ns_per_op = tasks_per_op(y.ns, 2 * (int64_t)y.size);
    return NULL;
}
