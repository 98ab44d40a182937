/* scenarios.c: see scenarios.h. */
#define _GNU_SOURCE
#include "scenarios.h"

#include "core/idle.h"
#include "fault.h"
#include "offload.h"
#include "parallel.h"
#include "work.h"

#include <fcntl.h>
#include <filch/chan.h>
#include <filch/deque.h>
#include <filch/dump.h>
#include <filch/graph.h>
#include <filch/io.h>
#include <filch/scope.h>
#include <filch/task.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define HUGE_STACK ((size_t)192 << 20) /* with its slots, more than half of what is mapped at once */

/* ---- pools by policy ------------------------------------------------------------------------ */

static void ring(void)
{
    filch_config c = config_of(3);
    everything_on(&c);
}

static void one_worker(void)
{
    filch_config c = config_of(1);
    everything_on(&c);
}

static void lifo(void)
{
    filch_config c = config_of(2);
    c.ends = FILCH_ENDS_LIFO;
    everything_on(&c);
}

static void shared(void)
{
    filch_config c = config_of(2);
    c.queue = FILCH_QUEUE_SHARED;
    everything_on(&c);
}

static void private(void)
{
    filch_config c = config_of(2);
    c.queue = FILCH_QUEUE_PRIVATE;
    everything_on(&c);
}

/* Policies that keep something from one search to the next. */
static void shuffled(void)
{
    filch_config c = config_of(2);
    c.victim = FILCH_VICTIM_SHUFFLE;
    everything_on(&c);
}

static void largest(void)
{
    filch_config c = config_of(2);
    c.victim = FILCH_VICTIM_LARGEST;
    everything_on(&c);
}

static void locked(void)
{
    filch_config c = config_of(2);
    c.queue = FILCH_QUEUE_LOCKED;
    everything_on(&c);
}

static void trylock_reverse(void)
{
    filch_config c = config_of(2);
    c.ends = FILCH_ENDS_REVERSE;
    everything_on(&c);
}

static void wake_all(void)
{
    filch_config c = config_of(3);
    c.wake = FILCH_WAKE_ALL;
    everything_on(&c);
}

static void wake_none(void)
{
    filch_config c = config_of(2);
    c.wake = FILCH_WAKE_NONE;
    everything_on(&c);
}

static void yielding(void)
{
    filch_config c = config_of(2);
    c.idle = FILCH_IDLE_YIELD;
    everything_on(&c);
}

static void backing_off(void)
{
    filch_config c = config_of(2);
    c.idle = FILCH_IDLE_BACKOFF;
    everything_on(&c);
}

static void helping(void)
{
    filch_config c = config_of(2);
    c.join = FILCH_JOIN_HELP;
    everything_on(&c);
}

/* Without membarrier every owner fences for itself. */
static void fenced(void)
{
    filch_config c = config_of(2);
    CHECK_EQ(setenv("FILCH_NO_MEMBARRIER", "1", 1), 0);
    everything_on(&c);
    CHECK_EQ(unsetenv("FILCH_NO_MEMBARRIER"), 0);
}

/* Every stack is a mapping of its own, so each of them can be the one that is not to be had. */
static void huge_stacks(void)
{
    filch_config c = config_of(2);
    c.stack_size = HUGE_STACK;
    everything_on(&c);
}

static void huge_stack_alone(void)
{
    filch_config c = config_of(1);
    c.stack_size = HUGE_STACK;
    everything_on(&c);
}

/* Without jobs that wait, one stack is enough. */
static void one_stack_for_all(void)
{
    filch_config c = config_of(2);
    c.stack_size = HUGE_STACK;
    filch_pool *pool = make(&c);
    if (!pool)
        return;
    a_tree_of_forks(pool);
    jobs_one_by_one(pool);
    jobs_in_an_array(pool);
    jobs_detached(pool);
    jobs_of_a_job(pool);
    forks_that_are_stolen(pool);
    end(pool);
}

/* ---- several pools, guests ------------------------------------------------------------------ */

struct bridge {
    filch_pool *other;
    int leaves;
};

static void bridge_cross(void *arg)
{
    struct bridge *b = arg;
    b->leaves = FILCH_RUN_ON(b->other, tree, 5);
}

static void pools_that_call_each_other(void)
{
    filch_config c = config_of(2);
    filch_pool *a = make(&c), *b = make(&c);
    if (a && b) {
        struct bridge over = {b, 0};
        filch_job job;
        filch_job_init(&job, bridge_cross, &over);
        CHECK_EQ(filch_submit_on(a, &job, FILCH_ANYWHERE), 0);
        CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
        CHECK_EQ(over.leaves, 32);
        over.leaves = 0;
        filch_run_on(a, bridge_cross, &over);
        CHECK_EQ(over.leaves, 32);
    }
    filch_pool_destroy(a);
    filch_pool_destroy(b);
}

/* A guest leaves its seat while it waits, another takes it, and the first wants it back. */
struct guests {
    filch_pool *pool;
    filch_event event;
    uint32_t waiting, back;
};

static void guest_waits(void *arg)
{
    struct guests *g = arg;
    count(&g->waiting);
    filch_event_wait(&g->event);
    count(&g->back);
}

static void guest_sits(void *arg)
{
    struct guests *g = arg;
    uint64_t before = fault_calls_in("seat_wait");
    filch_event_set(&g->event);
    FOR_SOME_NS(20000000, fault_calls_in("seat_wait") > before);
}

static void *first_guest(void *arg)
{
    struct guests *g = arg;
    filch_run_on(g->pool, guest_waits, g);
    return NULL;
}

static void guests_in_turn(void)
{
    filch_config c = config_of(2);
    struct guests g = {.pool = make(&c)};
    if (!g.pool)
        return;
    pthread_t first;
    CHECK_EQ(pthread_create(&first, NULL, first_guest, &g), 0);
    while (!value_of(&g.waiting))
        sched_yield();
    filch_run_on(g.pool, guest_sits, &g);
    CHECK_EQ(pthread_join(first, NULL), 0);
    CHECK_EQ(g.back, 1);
    end(g.pool);
}

/* ---- locks, stacks, deques, the default pool ------------------------------------------------- */

/* More suspended jobs than stacks are kept warm. The last of them lets all go. */
static void many_stacks(void)
{
    enum { MANY = 300 };
    static filch_job jobs[MANY];
    filch_config c = config_of(1);
    c.stack_size = (size_t)16 << 10;
    c.ring_capacity = 512;
    filch_pool *pool = make(&c);
    if (!pool)
        return;
    struct pair p = {{0}, 0};
    for (int i = 0; i < MANY; i++)
        filch_job_init(&jobs[i], i < MANY - 1 ? pair_wait : pair_set, &p);
    CHECK_EQ(filch_submit_array_on(pool, jobs, MANY, FILCH_ANYWHERE), MANY);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(p.seen, MANY - 1);
    end(pool);
}

static int push_up_to(filch_deque *d, uintptr_t from, uintptr_t to)
{
    for (uintptr_t i = from; i <= to; i++) {
        int rc = filch_deque_push(d, (void *)i);
        if (rc != 0) {
            CHECK_EQ(rc, -ENOMEM);
            return (int)(i - from);
        }
    }
    return (int)(to - from + 1);
}

/* What was pushed comes out once, wherever it went. */
static void deques_with(enum filch_deque_order order)
{
    filch_deque *d = NULL, *thief = NULL;
    int rc = filch_deque_create(&d, order, 2), rc2 = filch_deque_create(&thief, order, 1);
    CHECK(rc == 0 || rc == -ENOMEM);
    CHECK(rc2 == 0 || rc2 == -ENOMEM);
    CHECK((rc == 0) == (d != NULL) && (rc2 == 0) == (thief != NULL));
    if (d && thief) {
        uintptr_t sum = 0;
        void *item;
        int pushed = push_up_to(d, 1, 40), out = 0;
        int moved = filch_deque_steal_batch(d, thief, SIZE_MAX);
        CHECK(moved > 0 || moved == -ENOMEM || pushed == 0);
        rc = filch_deque_reserve(thief, 100);
        CHECK(rc == 0 || rc == -ENOMEM);
        CHECK_EQ(filch_deque_size(d) + filch_deque_size(thief), pushed);
        for (; filch_deque_pop(d, &item) == 1; out++)
            sum += (uintptr_t)item;
        for (; filch_deque_steal(thief, &item) == 1; out++)
            sum += (uintptr_t)item;
        CHECK_EQ(out, pushed);
        CHECK_EQ(sum, (uintptr_t)(pushed * (pushed + 1) / 2));
    }
    filch_deque_destroy(d);
    filch_deque_destroy(thief);
}

static void deques(void)
{
    deques_with(FILCH_DEQUE_LIFO);
    deques_with(FILCH_DEQUE_FIFO);
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Tasks that spawn, join, yield and sleep; a descriptor that was not to be had is said. */
struct brood {
    uint32_t ran, asked, refused;
    int depth;
};

static int brood_task(void *arg);

static void brood_children(struct brood *n)
{
    for (int i = 0; i < 3; i++) {
        filch_task *t;
        struct brood below = {.depth = n->depth - 1};
        int rc = filch_spawn(&t, brood_task, &below);
        CHECK(rc == 0 || rc == -ENOMEM);
        if (rc == 0)
            CHECK_EQ(filch_task_join(t, NULL, i == 1 ? filch_clock_ns() + 50000000000 : FILCH_FOREVER), 0);
        n->asked += below.asked + 1;
        n->ran += below.ran;
        n->refused += below.refused + (rc != 0);
    }
}

static int brood_task(void *arg)
{
    struct brood *n = arg;
    n->ran++;
    if (n->depth == 2)
        filch_sleep_ns(1000);
    filch_yield();
    if (n->depth > 0)
        brood_children(n);
    return 0;
}

static void tasks(void)
{
    filch_config c = config_of(2);
    filch_pool *pool = make(&c);
    if (!pool)
        return;
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = pool;
    for (int i = 0; i < 3; i++) {
        struct brood root = {.depth = 3};
        uint32_t ran = 0;
        filch_task *t;
        int rc = filch_spawn_with(&t, &attr, brood_task, &root);
        int detached = filch_go_with(&attr, count, &ran);
        CHECK(rc == 0 || rc == -ENOMEM);
        if (rc == 0) {
            CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
            CHECK_EQ(root.ran + root.refused, root.asked + 1);
        }
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        CHECK_EQ(value_of(&ran), detached == 0 ? 1u : 0u);
    }
    filch_pool_destroy(pool);
}

/* What an unbounded channel did not refuse, it keeps. */
static void channels(void)
{
    uint32_t sent = 0, taken = 0, got;
    filch_chan *c = (filch_chan *)1;
    int rc = filch_chan_create(&c, sizeof got, FILCH_UNBOUNDED);
    if (rc != 0) {
        CHECK_EQ(rc, -ENOMEM);
        CHECK(!c);
        return;
    }
    for (int i = 0; i < 100; i++) {
        struct filch_case k = {c, FILCH_SEND, &sent, 0};
        if (i % 2)
            CHECK_EQ(filch_select(&k, 1, FILCH_FOREVER), 0);
        rc = i % 2 ? k.result : filch_chan_send(c, &sent, FILCH_FOREVER);
        CHECK(rc == 0 || rc == -ENOMEM);
        sent += rc == 0;
    }
    while (filch_chan_recv(c, &got, FILCH_NOW) == 0)
        CHECK_EQ(got, taken++);
    CHECK_EQ(taken, sent);
    filch_chan_destroy(c);
}

static void offload(void)
{
    filch_config c = config_of(2);
    filch_pool *pool = make(&c);
    if (!pool)
        return;
    stackless_tasks(pool);
    futures(pool);
    blocking_calls(pool);
    filch_pool_destroy(pool);
}

/* A byte goes through a pipe whose reader waits for it, or is told that there is no memory to wait. */
static int reads_byte(void *arg)
{
    char byte;
    return (int)filch_read(*(int *)arg, &byte, 1, FILCH_FOREVER);
}

static void descriptors(void)
{
    filch_config c = config_of(2);
    filch_pool *pool = make(&c);
    if (!pool)
        return;
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = pool;
    for (int i = 0; i < 3; i++) {
        int ends[2], result = 0;
        filch_task *t;
        CHECK_EQ(filch_pipe(ends), 0);
        int rc = filch_spawn_with(&t, &attr, reads_byte, &ends[0]);
        CHECK(rc == 0 || rc == -ENOMEM);
        if (i > 0)
            FOR_SOME_NS(2000000, rc != 0 || filch_task_done(t));
        CHECK_EQ(filch_write(ends[1], "b", 1, FILCH_FOREVER), 1);
        if (rc == 0)
            CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
        CHECK(rc != 0 || result == 1 || result == -ENOMEM);
        CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
    }
    filch_pool_destroy(pool);
}

/* A scope whose tasks have clean-ups: each runs once, whether its task could be begun or not. */
static int scoped_task(void *word)
{
    count(word);
    return 0;
}

static void scopes(void)
{
    filch_config c = config_of(2);
    filch_pool *pool = make(&c);
    if (!pool)
        return;
    for (int round = 0; round < 3; round++) {
        filch_scope s;
        uint32_t ran[8] = {0}, refused = 0;
        CHECK_EQ(filch_scope_open_on(&s, pool), 0);
        for (int i = 0; i < 8; i++) {
            int rc = filch_scope_go_named(&s, "one of eight", scoped_task, &ran[i], count);
            CHECK(rc == 0 || rc == -ENOMEM);
            refused += rc != 0;
        }
        CHECK_EQ(filch_scope_close(&s), refused ? -ENOMEM : 0);
        for (int i = 0; i < 8; i++) /* the clean-up at least */
            CHECK(value_of(&ran[i]) == 2 || (refused && value_of(&ran[i]) == 1));
    }
    filch_pool_destroy(pool);
}

/* More tasks at once than stacks are kept for; those are given back, and made anew. */
struct assembly {
    filch_event go;
    uint32_t came, ran;
};

static void assembled(void *arg)
{
    struct assembly *a = arg;
    count(&a->came);
    filch_event_wait(&a->go);
    count(&a->ran);
}

static int counts_one(void *ran) { return count(ran), 0; }

/* More than the queue holds, each run by its join: what stood for them goes with the pool. */
static int spawns_and_joins(void *unused)
{
    enum { TASKS = 600 };
    static filch_task *t[TASKS];
    uint32_t ran = 0, begun = 0;
    (void)unused;
    for (int i = 0; i < TASKS; i++)
        begun += filch_spawn(&t[begun], counts_one, &ran) == 0;
    for (uint32_t i = begun; i-- > 0;)
        CHECK_EQ(filch_task_join(t[i], NULL, FILCH_FOREVER), 0);
    CHECK_EQ(value_of(&ran), begun);
    return 0;
}

static void joined_in_place(void)
{
    filch_config c = config_of(1);
    filch_pool *pool = make(&c);
    filch_task *t;
    if (!pool)
        return;
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = pool;
    int rc = filch_spawn_with(&t, &attr, spawns_and_joins, NULL);
    CHECK(rc == 0 || rc == -ENOMEM);
    if (rc == 0)
        CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
    filch_pool_destroy(pool);
}

/* More than are kept warm in the pool, and at hand in the worker. */
static void many_tasks(void)
{
    enum { TASKS = 300 + WORKER_CACHE };
    filch_config c = config_of(1);
    filch_pool *pool = make(&c);
    if (!pool)
        return;
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = pool;
    for (int round = 0; round < 2; round++) {
        struct assembly a = {{0}, 0, 0};
        uint32_t begun = 0;
        for (int i = 0; i < TASKS; i++)
            begun += filch_go_with(&attr, assembled, &a) == 0;
        for (uint32_t before = begun; value_of(&a.came) != begun && value_of(&a.came) != before;) {
            before = value_of(&a.came); /* as long as more come: those without a stack do not */
            FOR_SOME_NS(30000000, value_of(&a.came) == begun);
        }
        filch_event_set(&a.go);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        CHECK_EQ(value_of(&a.ran), begun);
        (void)fiber_trim(&pool->fibers[FIBER_SMALL], SIZE_MAX);
    }
    filch_pool_destroy(pool);
}

/* A dump shows less, or nothing, where there is no memory for it. In a task, so that there is one. */
static void dumps(void *arg)
{
    uint32_t *ran = arg;
    int null = open("/dev/null", O_WRONLY);
    int rc = filch_pool_dump(filch_pool_current(), null);
    CHECK(rc == 0 || rc == -ENOMEM);
    rc = filch_dump(null);
    CHECK(rc == 0 || rc == -ENOMEM);
    rc = filch_pool_cancel(filch_pool_current());
    CHECK(rc == 0 || rc == -EAGAIN);
    close(null);
    filch_add_acq_rel(ran, 1u);
}

static void dumped(void)
{
    filch_config c = config_of(2);
    c.hog_ns = 1000000000;
    filch_pool *pool = make(&c);
    if (!pool)
        return;
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    uint32_t ran = 0, begun = 0;
    attr.pool = pool;
    int rc = filch_dump_on_signal(SIGUSR2);
    CHECK(rc == 0 || rc == -EAGAIN || rc == -EINVAL || rc == -ENOMEM);
    FOR_SOME_NS(500000, rc != 0); /* its thread sleeps by now, in most runs */
    for (int i = 0; i < 3; i++)
        begun += filch_go_with(&attr, dumps, &ran) == 0;
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK(value_of(&ran) <= begun && (value_of(&ran) > 0) == (begun > 0)); /* the first cancels the pool */
    CHECK_EQ(filch_dump_on_signal(0), 0);
    filch_pool_destroy(pool);
}

/* Nodes and edges that could be added are there, and a run does all or says why not; the same graph runs
 * again when there is memory. */
enum { GRAPH_NODES = 20 }; /* more than there is room for at first */

static int graph_node(void *ran)
{
    count(ran);
    return 0;
}

static void run_graph(filch_pool *pool, filch_graph *g, uint32_t *ran)
{
    filch_how how = FILCH_HOW_INIT;
    how.pool = pool;
    memset(ran, 0, GRAPH_NODES * sizeof *ran);
    int rc = filch_graph_run_with(&how, g), nodes = filch_graph_count(g);
    CHECK(rc == 0 || rc == -ENOMEM);
    for (int i = 0; i < nodes; i++)
        CHECK(rc == 0 ? value_of(&ran[i]) == 1 : value_of(&ran[i]) <= 1);
}

static void graphs(void)
{
    filch_config c = config_of(2);
    filch_pool *pool = make(&c);
    if (!pool)
        return;
    uint32_t ran[GRAPH_NODES] = {0};
    filch_graph *g;
    int rc = filch_graph_create(&g);
    for (int i = 0, n = 0; i < GRAPH_NODES && rc == 0; i++) {
        int number = filch_graph_node(g, NULL, graph_node, &ran[n]);
        CHECK(number == n || number == -ENOMEM);
        n += number >= 0;
        int linked = number > 0 ? filch_graph_edge(g, number / 2, number) : 0;
        CHECK(linked == 0 || linked == -ENOMEM);
    }
    for (int again = 0; again < 2 && rc == 0; again++)
        run_graph(pool, g, ran);
    CHECK(rc == 0 || (rc == -ENOMEM && !g));
    filch_graph_destroy(g);
    filch_pool_destroy(pool);
}

#define SCENARIO(name, frugal) {#name, name, frugal}
const struct scenario scenarios[] = {
    SCENARIO(ring, 0),
    SCENARIO(one_worker, 0),
    SCENARIO(lifo, 0),
    SCENARIO(shared, 0),
    SCENARIO(private, 0),
    SCENARIO(shuffled, 0),
    SCENARIO(largest, 0),
    SCENARIO(locked, 0),
    SCENARIO(wake_all, 0),
    SCENARIO(trylock_reverse, 0),
    SCENARIO(wake_none, 0),
    SCENARIO(yielding, 0),
    SCENARIO(backing_off, 0),
    SCENARIO(helping, 0),
    SCENARIO(fenced, 0),
    SCENARIO(huge_stacks, 0),
    SCENARIO(huge_stack_alone, 0),
    SCENARIO(guests_in_turn, 0),
    SCENARIO(pools_that_call_each_other, 0),
    SCENARIO(many_stacks, 0),
    SCENARIO(tasks, 0),
    SCENARIO(scopes, 0),
    SCENARIO(graphs, 0),
    SCENARIO(dumped, 0),
    SCENARIO(many_tasks, 0),
    SCENARIO(joined_in_place, 0),
    SCENARIO(offload, 0),
    SCENARIO(descriptors, 0),
    SCENARIO(reduced, 0),
    SCENARIO(scanned, 0),
    SCENARIO(sorted, 0),
    SCENARIO(sorted_many, 0),
    SCENARIO(one_stack_for_all, 1),
    SCENARIO(deques, 1),
    SCENARIO(channels, 1),
};
const int scenario_count = COUNT(scenarios);
