/* test_graph.c: graphs run: once each and in order, whatever fails, is cancelled, waits or nests. */
#include "pool_kit.h"

#include "base/rng.h"
#include "par/graph.h"

#include <filch/par.h>
#include <filch/scope.h>
#include <filch/sync.h>
#include <filch/task.h>

static filch_pool *pool;
static filch_graph *graph;
static uint32_t ran, log_length, under_way, most_under_way;
static int log_of[4096];

static filch_how how_on(int workers)
{
    filch_how h = FILCH_HOW_INIT;
    h.pool = pool;
    h.workers = workers;
    return h;
}

static int run_graph(filch_graph *g)
{
    filch_how h = how_on(0);
    return filch_graph_run_with(&h, g);
}

static void begin(int workers)
{
    pool = kit_pool(workers);
    CHECK_EQ(filch_graph_create(&graph), 0);
    ran = log_length = under_way = most_under_way = 0;
}

static void end(void)
{
    filch_graph_destroy(graph);
    kit_destroy(pool);
}

static int counts(void *arg)
{
    (void)arg;
    kit_count(&ran);
    return 0;
}

/* One at a time: for graphs on one worker. */
static int logs(void *arg)
{
    log_of[log_length++] = (int)(intptr_t)arg;
    return 0;
}

static int add(const char *name, int (*fn)(void *), void *arg)
{
    int number = filch_graph_node(graph, name, fn, arg);
    CHECK(number >= 0);
    return number;
}

static int add_logging(int cost)
{
    int number = add(NULL, logs, (void *)(intptr_t)filch_graph_count(graph));
    CHECK_EQ(filch_graph_cost(graph, number, (uint64_t)cost), 0);
    return number;
}

static void edge(int before, int after)
{
    CHECK_EQ(filch_graph_edge(graph, before, after), 0);
}

/* Every claim on some numbers of workers, from a thread outside and from a task. */
static int run_claim(void *claim)
{
    ((void (*)(void))(uintptr_t)claim)();
    return 0;
}

static void in_a_task(void (*claim)(void))
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, run_claim, (void *)(uintptr_t)claim), 0);
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
}

static void everywhere(void (*claim)(void))
{
    static const int workers[] = {1, 2, 4, 16};
    for (int i = 0; i < 4; i++) {
        begin(workers[i]);
        claim();
        end();
        begin(workers[i]);
        in_a_task(claim);
        end();
    }
}

/* ---- random graphs -------------------------------------------------------------------------- */

enum { MANY = 600 };

struct item {
    uint32_t runs, done, before_count;
    int before[64];
};

static struct item items[MANY];

static int item_runs(void *arg)
{
    struct item *it = arg;
    for (uint32_t i = 0; i < it->before_count; i++)
        CHECK_MSG(kit_raised(&items[it->before[i]].done), "before its predecessor %d", it->before[i]);
    kit_count(&it->runs);
    if (it->before_count % 7 == 3)
        filch_yield();
    kit_raise(&it->done);
    return 0;
}

/* Edges follow a random order of the nodes; some are said twice. */
static void build_random(struct rng *r, int n, int edges)
{
    int order[MANY];
    memset(items, 0, sizeof items);
    for (int i = 0; i < n; i++) {
        add(NULL, item_runs, &items[i]);
        CHECK_EQ(filch_graph_cost(graph, i, rng_below(r, 20)), 0);
        order[i] = i;
    }
    for (int i = n - 1; i > 0; i--) {
        int k = (int)rng_below(r, (uint32_t)i + 1), was = order[i];
        order[i] = order[k];
        order[k] = was;
    }
    for (int e = 0; e < edges; e++) {
        uint32_t b = rng_below(r, (uint32_t)n - 1);
        uint32_t a = b + 1 + rng_below(r, (uint32_t)n - b - 1);
        struct item *it = &items[order[a]];
        if (it->before_count == 64)
            continue;
        it->before[it->before_count++] = order[b];
        for (uint32_t twice = 0; twice <= rng_below(r, 2); twice++)
            edge(order[b], order[a]);
    }
}

static void random_graph(void)
{
    static uint64_t seed = 1;
    struct rng r;
    rng_seed(&r, seed++);
    int n = 2 + (int)rng_below(&r, MANY - 2);
    build_random(&r, n, (int)rng_below(&r, 3 * (uint32_t)n));
    for (int again = 0; again < 3; again++) {
        CHECK_EQ(run_graph(graph), 0);
        for (int i = 0; i < n; i++) {
            CHECK_MSG(items[i].runs == 1, "node %d of %d ran %u times", i, n, items[i].runs);
            items[i].runs = items[i].done = 0;
        }
        kit_beat();
    }
}

static void every_node_runs_once_and_after_its_predecessors(void)
{
    for (size_t i = 0; i < kit_scaled(20, 5); i++)
        everywhere(random_graph);
}

static void an_empty_graph_runs(void)
{
    begin(1);
    CHECK_EQ(run_graph(graph), 0);
    int only = add("only", NULL, NULL); /* a milestone */
    CHECK_EQ(run_graph(graph), 0);
    CHECK_EQ(filch_graph_node_remove(graph, only), 0);
    CHECK_EQ(run_graph(graph), 0);
    end();
    CHECK_EQ(filch_graph_create(&graph), 0);
    add("on the default pool", counts, NULL);
    CHECK_EQ(filch_graph_run(graph), 0);
    CHECK_EQ(ran, 1u);
    filch_graph_destroy(graph);
    filch_graph_destroy(NULL);
}

/* ---- the critical path ---------------------------------------------------------------------- */

static void check_log(const int *expect, uint32_t n)
{
    CHECK_EQ(log_length, n);
    for (uint32_t i = 0; i < n; i++)
        CHECK_MSG(log_of[i] == expect[i], "place %u: node %d, not %d", i, log_of[i], expect[i]);
}

static void the_longest_way_begins_first(void)
{
    begin(1);
    for (int i = 0; i < 8; i++)
        add_logging(1);
    /* 0 is alone; 1 -> 2 -> 3; 4 -> 5 with 5 costly; 6 -> 7 as 4 -> 5, later by number */
    edge(2, 3);
    edge(1, 2);
    edge(4, 5);
    edge(6, 7);
    CHECK_EQ(filch_graph_cost(graph, 5, 10), 0);
    CHECK_EQ(filch_graph_cost(graph, 7, 10), 0);
    CHECK_EQ(run_graph(graph), 0);
    check_log((const int[]){4, 6, 5, 7, 1, 2, 0, 3}, 8);
    log_length = 0;
    CHECK_EQ(filch_graph_cost(graph, 0, 100), 0); /* costs change between runs */
    CHECK_EQ(run_graph(graph), 0);
    check_log((const int[]){0, 4, 6, 5, 7, 1, 2, 3}, 8);
    end();
}

/* As slowly and as plainly as can be. */
static void expected_order(int n, const uint64_t *cost, int *out)
{
    uint64_t way[MANY];
    uint32_t left[MANY], gone[MANY] = {0};
    memset(way, 0, sizeof way);
    for (int again = 0; again < n; again++)
        for (int v = 0; v < n; v++) {
            way[v] = way[v] < cost[v] ? cost[v] : way[v];
            for (uint32_t k = 0; k < items[v].before_count; k++) {
                int b = items[v].before[k];
                way[b] = way[b] < cost[b] + way[v] ? cost[b] + way[v] : way[b];
            }
        }
    for (int i = 0; i < n; i++) {
        int best = -1;
        for (int v = 0; v < n; v++) {
            left[v] = gone[v];
            for (uint32_t k = 0; k < items[v].before_count; k++)
                left[v] += !gone[items[v].before[k]];
            if (left[v] == 0 && (best < 0 || way[v] > way[best]))
                best = v;
        }
        out[i] = best;
        gone[best] = 1;
    }
}

static void one_worker_takes_the_most_critical_of_all_that_are_ready(void)
{
    struct rng r;
    rng_seed(&r, 99);
    for (int round = 0; round < 10; round++) {
        uint64_t cost[MANY];
        int order[MANY], n = 20 + (int)rng_below(&r, 60);
        begin(1);
        build_random(&r, n, 2 * n);
        for (int i = 0; i < n; i++) {
            cost[i] = 1 + rng_below(&r, 1000);
            CHECK_EQ(filch_graph_cost(graph, i, cost[i]), 0);
            CHECK_EQ(filch_graph_node_change(graph, i, logs, (void *)(intptr_t)i), 0);
        }
        expected_order(n, cost, order);
        CHECK_EQ(run_graph(graph), 0);
        check_log(order, (uint32_t)n);
        end();
    }
}

static void measured_times_decide(void)
{
    begin(1);
    for (int i = 0; i < 3; i++)
        add_logging(1);
    CHECK_EQ(run_graph(graph), 0);
    check_log((const int[]){0, 1, 2}, 3);
    for (int i = 0; i < 3; i++) { /* as if they had taken so long: the clock is not to be relied upon */
        graph->node[i].start = 0;
        graph->node[i].end = (const uint64_t[]){1000, 500, 2000}[i];
    }
    CHECK_EQ(filch_graph_measured(graph, 1), 0);
    log_length = 0;
    CHECK_EQ(run_graph(graph), 0);
    check_log((const int[]){2, 0, 1}, 3);
    CHECK_EQ(filch_graph_measured(graph, 0), 0);
    log_length = 0;
    CHECK_EQ(run_graph(graph), 0);
    check_log((const int[]){0, 1, 2}, 3);
    CHECK_EQ(filch_graph_measured(graph, 1), 0);
    for (int again = 0; again < 20; again++) {
        log_length = 0;
        CHECK_EQ(run_graph(graph), 0);
        CHECK_EQ(log_length, 3);
    }
    end();
}

static void costs_may_be_as_large_as_they_like(void)
{
    begin(1);
    for (int i = 0; i < 5; i++)
        add_logging(1);
    for (int i = 1; i < 4; i++)
        edge(i, i + 1);
    for (int i = 2; i < 5; i++)
        CHECK_EQ(filch_graph_cost(graph, i, UINT64_MAX), 0);
    CHECK_EQ(filch_graph_cost(graph, 0, 0), 0); /* as 1 */
    CHECK_EQ(run_graph(graph), 0);
    check_log((const int[]){1, 2, 3, 4, 0}, 5);
    end();
}

/* ---- errors --------------------------------------------------------------------------------- */

static int fails(void *arg)
{
    kit_count(&ran);
    return (int)(intptr_t)arg;
}

static void an_error_stops_the_rest(void)
{
    begin(1);
    int a = add("a", counts, NULL), b = add("b", fails, (void *)(intptr_t)-EBADF);
    int c = add("c", counts, NULL), number;
    add("alone", counts, NULL);
    edge(a, b);
    edge(b, c);
    CHECK(!filch_graph_failed(graph, &number));
    CHECK_EQ(number, -1);
    CHECK_EQ(run_graph(graph), -EBADF);
    CHECK_EQ(ran, 2u); /* a and b: c is after b, and what is alone is less critical */
    CHECK_STR(filch_graph_failed(graph, &number), "b");
    CHECK_EQ(number, b);
    filch_graph_span s;
    CHECK_EQ(filch_graph_span_of(graph, b, &s), 0);
    CHECK_EQ(filch_graph_span_of(graph, c, &s), -ENODATA);
    CHECK_EQ(filch_graph_node_change(graph, b, counts, NULL), 0);
    CHECK_EQ(run_graph(graph), 0);
    CHECK(!filch_graph_failed(graph, NULL));
    CHECK_EQ(ran, 6u);
    end();
}

static int tells_its_number(void *arg)
{
    filch_yield();
    return (int)(intptr_t)arg;
}

static void first_of_many(void)
{
    for (int i = 0; i < 100; i++) {
        int bad = add(NULL, tells_its_number, (void *)(intptr_t)(i + 1));
        edge(bad, add(NULL, counts, NULL));
    }
    for (int again = 0; again < 10; again++) {
        int number, rc = run_graph(graph);
        CHECK(!filch_graph_failed(graph, &number)); /* it has no name */
        CHECK_EQ(rc, number / 2 + 1);
        CHECK_EQ(ran, 0u);
    }
}

static void the_first_of_many_errors_is_the_one_returned(void)
{
    everywhere(first_of_many);
}

static int waits_in_vain(void *event)
{
    CHECK_EQ(filch_event_wait_until(event, FILCH_FOREVER), -ECANCELED);
    CHECK(filch_canceled());
    kit_count(&ran);
    return -ECANCELED;
}

static void error_ends_waits(void)
{
    static filch_event never;
    for (int i = 0; i < 5; i++)
        CHECK_EQ(filch_graph_cost(graph, add("waits", waits_in_vain, &never), 5), 0);
    add("fails", fails, (void *)(intptr_t)-EIO);
    CHECK_EQ(run_graph(graph), -EIO);
    CHECK_STR(filch_graph_failed(graph, NULL), "fails");
}

static void an_error_ends_the_waits_of_others(void)
{
    everywhere(error_ends_waits);
}

static void a_pool_that_is_shut_down_runs_nothing(void)
{
    begin(2);
    add(NULL, counts, NULL);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    CHECK_EQ(run_graph(graph), -EPIPE);
    CHECK_EQ(ran, 0u);
    end();
}

/* ---- cancelling ----------------------------------------------------------------------------- */

static uint32_t waits_now;

static int sleeps(void *arg)
{
    (void)arg;
    kit_raise(&waits_now);
    CHECK_EQ(filch_sleep_until(FILCH_FOREVER), -ECANCELED);
    return -ECANCELED;
}

static void *cancels_graph(void *arg)
{
    (void)arg;
    KIT_AWAIT(kit_raised(&waits_now));
    filch_graph_cancel(graph);
    return NULL;
}

static void *cancels_scope(void *scope)
{
    KIT_AWAIT(kit_raised(&waits_now));
    filch_scope_cancel(scope);
    return NULL;
}

static void sleeping_graph(void)
{
    filch_graph_cancel(graph); /* it does not run: no effect */
    int first = add("sleeps", sleeps, NULL);
    edge(first, add("after", counts, NULL));
    waits_now = 0;
}

static void cancel_from_a_thread(void)
{
    pthread_t t;
    sleeping_graph();
    CHECK_EQ(pthread_create(&t, NULL, cancels_graph, NULL), 0);
    CHECK_EQ(run_graph(graph), -ECANCELED);
    CHECK_EQ(pthread_join(t, NULL), 0);
    CHECK_EQ(ran, 0u);
    CHECK(!filch_graph_failed(graph, NULL));
    filch_graph_cancel(graph);
    CHECK_EQ(filch_graph_node_change(graph, 0, counts, NULL), 0);
    CHECK_EQ(run_graph(graph), 0);
    CHECK_EQ(ran, 2u);
}

static void any_thread_may_cancel(void)
{
    everywhere(cancel_from_a_thread);
}

static void cancel_by_scope(void)
{
    pthread_t t;
    filch_scope scope;
    filch_how h = how_on(0);
    sleeping_graph();
    CHECK_EQ(filch_scope_open_on(&scope, pool), 0);
    h.scope = &scope;
    CHECK_EQ(pthread_create(&t, NULL, cancels_scope, &scope), 0);
    CHECK_EQ(filch_graph_run_with(&h, graph), -ECANCELED);
    CHECK(!filch_graph_failed(graph, NULL)); /* it was told, and did not fail by itself */
    CHECK_EQ(pthread_join(t, NULL), 0);
    CHECK_EQ(filch_graph_run_with(&h, graph), -ECANCELED); /* still */
    CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
    CHECK_EQ(ran, 0u);
}

static void a_scope_cancels_a_graph(void)
{
    everywhere(cancel_by_scope);
}

static int runs_the_graph(void *arg)
{
    (void)arg;
    return run_graph(graph);
}

static void cancel_by_own_scope(void)
{
    pthread_t t;
    filch_scope scope;
    sleeping_graph();
    CHECK_EQ(filch_scope_open_on(&scope, pool), 0);
    CHECK_EQ(filch_scope_go(&scope, runs_the_graph, NULL), 0);
    CHECK_EQ(pthread_create(&t, NULL, cancels_scope, &scope), 0);
    CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
    CHECK_EQ(pthread_join(t, NULL), 0);
    CHECK_EQ(ran, 0u);
}

static void the_callers_scope_cancels_a_graph(void)
{
    everywhere(cancel_by_own_scope);
}

static int cancels_itself(void *arg)
{
    (void)arg;
    filch_graph_cancel(graph);
    CHECK(filch_canceled());
    return 0;
}

static void a_node_may_cancel_its_graph(void)
{
    begin(2);
    edge(add(NULL, cancels_itself, NULL), add(NULL, counts, NULL));
    CHECK_EQ(run_graph(graph), -ECANCELED);
    CHECK_EQ(ran, 0u);
    end();
}

static void *cancels_for_ever(void *stop)
{
    while (!kit_raised(stop))
        filch_graph_cancel(graph);
    return NULL;
}

static void a_cancel_at_any_moment_is_heeded_or_too_late(void)
{
    uint32_t stop = 0;
    pthread_t t;
    begin(2);
    for (int i = 0; i < 20; i++)
        add(NULL, counts, NULL);
    CHECK_EQ(pthread_create(&t, NULL, cancels_for_ever, &stop), 0);
    for (size_t i = 0; i < kit_scaled(3000, 10); i++) {
        ran = 0;
        int rc = run_graph(graph);
        CHECK(rc == 0 ? ran == 20 : rc == -ECANCELED && ran < 20);
        kit_beat();
    }
    kit_raise(&stop);
    CHECK_EQ(pthread_join(t, NULL), 0);
    end();
}

/* ---- again and again ------------------------------------------------------------------------ */

static void run_again(void)
{
    for (int i = 0; i < 30; i++) {
        add(NULL, counts, NULL);
        if (i >= 3)
            edge(i / 3, i);
    }
    CHECK_EQ(filch_graph_check(graph), 0);
    const void *block = graph->plan.block, *node = graph->node;
    size_t times = kit_scaled(1000, 5);
    for (size_t i = 0; i < times; i++)
        CHECK_EQ(run_graph(graph), 0);
    CHECK_EQ(ran, 30 * times);
    CHECK(block == graph->plan.block && node == graph->node); /* nothing was allocated anew */
}

static void a_graph_runs_any_number_of_times(void)
{
    everywhere(run_again);
}

static void a_graph_changes_between_runs(void)
{
    begin(1);
    for (int i = 0; i < 3; i++)
        add_logging(1);
    edge(2, 1);
    edge(1, 0);
    edge(2, 1);
    CHECK_EQ(run_graph(graph), 0);
    check_log((const int[]){2, 1, 0}, 3);
    log_length = 0;
    CHECK_EQ(filch_graph_edge_remove(graph, 2, 1), 0); /* both of them */
    CHECK_EQ(filch_graph_edge_remove(graph, 2, 1), -ENOENT);
    CHECK_EQ(run_graph(graph), 0);
    check_log((const int[]){1, 0, 2}, 3);
    log_length = 0;
    edge(0, add_logging(7)); /* 3 */
    CHECK_EQ(filch_graph_node_remove(graph, 1), 0);
    CHECK_EQ(run_graph(graph), 0);
    check_log((const int[]){0, 3, 2}, 3);
    log_length = 0;
    for (int i = 4; i < 100; i++)
        edge(i - 1, add_logging(1));
    CHECK_EQ(filch_graph_count(graph), 100);
    CHECK_EQ(run_graph(graph), 0);
    CHECK_EQ(log_length, 99);
    CHECK_EQ(log_of[97], 2); /* alone, and so as critical as the last of the chain, which came later */
    end();
}

static int tries_to_change(void *arg)
{
    filch_graph_span s;
    (void)arg;
    CHECK_EQ(filch_graph_node(graph, NULL, counts, NULL), -EBUSY);
    CHECK_EQ(filch_graph_edge(graph, 0, 1), -EBUSY);
    CHECK_EQ(filch_graph_edge_remove(graph, 0, 1), -EBUSY);
    CHECK_EQ(filch_graph_cost(graph, 0, 1), -EBUSY);
    CHECK_EQ(filch_graph_measured(graph, 1), -EBUSY);
    CHECK_EQ(filch_graph_node_change(graph, 0, counts, NULL), -EBUSY);
    CHECK_EQ(filch_graph_node_remove(graph, 0), -EBUSY);
    CHECK_EQ(filch_graph_check(graph), -EBUSY);
    CHECK_EQ(filch_graph_span_of(graph, 0, &s), -EBUSY);
    CHECK_EQ(filch_graph_dot(graph, stderr, FILCH_DOT_PLAIN), -EBUSY);
    CHECK_EQ(run_graph(graph), -EBUSY);
    kit_count(&ran);
    return 0;
}

static void try_to_change(void)
{
    add(NULL, tries_to_change, NULL);
    add(NULL, tries_to_change, NULL);
    CHECK_EQ(run_graph(graph), 0);
    CHECK_EQ(ran, 2u);
}

static void a_graph_that_runs_is_busy(void)
{
    everywhere(try_to_change);
}

/* ---- how many at once ----------------------------------------------------------------------- */

static int overlaps(void *arg)
{
    (void)arg;
    uint32_t now = kit_count(&under_way), most = kit_raised(&most_under_way);
    while (now > most && !filch_cas_acq_rel(&most_under_way, &most, now))
        continue;
    for (int i = 0; i < 3; i++)
        filch_yield();
    filch_sub_acq_rel(&under_way, 1u);
    kit_count(&ran);
    return 0;
}

static void no_more_run_at_once_than_how_says(void)
{
    for (int limit = 1; limit <= 6; limit++) {
        begin(limit == 2 ? 1 : 4);
        for (int i = 0; i < 300; i++) {
            add(NULL, overlaps, NULL);
            if (i % 3 == 0 && i > 0)
                edge(i / 3, i);
        }
        filch_how h = how_on(limit);
        for (int again = 0; again < 5; again++) {
            ran = 0;
            CHECK_EQ(filch_graph_run_with(&h, graph), 0);
            CHECK_EQ(ran, 300);
            CHECK_MSG(most_under_way <= (uint32_t)limit, "%u at once, not %d", most_under_way, limit);
        }
        end();
    }
}

/* ---- waiting -------------------------------------------------------------------------------- */

struct link {
    filch_event *waits, *sets;
};

static int waits_and_sets(void *arg)
{
    struct link *l = arg;
    if (l->waits)
        filch_event_wait(l->waits);
    filch_event_set(l->sets);
    kit_count(&ran);
    return 0;
}

/* Each waits for the next, and the most critical one is that which waits longest. */
static void wait_for_each_other(void)
{
    filch_event events[51] = {{0}};
    struct link links[50];
    for (int i = 0; i < 50; i++) {
        links[i] = (struct link){i < 49 ? &events[i + 1] : NULL, &events[i]};
        add(NULL, waits_and_sets, &links[i]);
    }
    CHECK_EQ(run_graph(graph), 0);
    CHECK_EQ(ran, 50u);
}

static void nodes_may_wait_for_each_other_on_any_number_of_workers(void)
{
    everywhere(wait_for_each_other);
}

static int meets(void *barrier)
{
    CHECK(filch_barrier_wait(barrier, FILCH_FOREVER) >= 0);
    kit_count(&ran);
    return 0;
}

static void meet(void)
{
    filch_barrier b;
    filch_barrier_init(&b, 20);
    int start = add("start", NULL, NULL);
    for (int i = 0; i < 20; i++)
        edge(start, add("meets", meets, &b));
    CHECK_EQ(run_graph(graph), 0);
    CHECK_EQ(ran, 20u);
    filch_barrier_destroy(&b);
}

static void all_that_is_ready_can_be_under_way_at_once(void)
{
    everywhere(meet);
}

/* ---- nesting -------------------------------------------------------------------------------- */

static void add_up(size_t lo, size_t hi, void *sum)
{
    filch_add_relaxed((uint64_t *)sum, (uint64_t)(hi - lo)); /* order: a count */
}

static int loops(void *arg)
{
    uint64_t sum = 0;
    (void)arg;
    CHECK_EQ(filch_for(0, 1000, add_up, &sum), 0);
    CHECK_EQ(sum, 1000u);
    return counts(NULL);
}

static int nests(void *arg)
{
    int depth = (int)(intptr_t)arg - 1, first;
    filch_graph *g;
    CHECK_EQ(filch_graph_create(&g), 0);
    for (int i = 0; i < 4; i++) {
        first = filch_graph_node(g, "inner", depth > 0 ? nests : loops, (void *)(intptr_t)depth);
        CHECK_EQ(first, i);
    }
    CHECK_EQ(filch_graph_edge(g, 3, 1), 0);
    CHECK_EQ(filch_graph_run(g), 0);
    filch_graph_destroy(g);
    return 0;
}

static void nest(void)
{
    for (int i = 0; i < 4; i++)
        add("outer", nests, (void *)(intptr_t)(3 - KIT_SLOW));
    CHECK_EQ(run_graph(graph), 0);
    CHECK_EQ(ran, KIT_SLOW ? 64u : 256u);
}

static void graphs_nest_and_run_loops(void)
{
    everywhere(nest);
}

static int runs_a_sleeper(void *arg)
{
    filch_graph *g;
    (void)arg;
    CHECK_EQ(filch_graph_create(&g), 0);
    CHECK_EQ(filch_graph_node(g, "sleeps", sleeps, NULL), 0);
    CHECK_EQ(filch_graph_run(g), -ECANCELED);
    filch_graph_destroy(g);
    kit_count(&ran);
    return -ECANCELED;
}

static int fails_when_told(void *arg)
{
    while (!kit_raised(&waits_now))
        filch_yield();
    return fails(arg);
}

static void error_outside(void)
{
    waits_now = 0;
    add("graph", runs_a_sleeper, NULL);
    add("fails", fails_when_told, (void *)(intptr_t)7);
    CHECK_EQ(run_graph(graph), 7);
    CHECK_EQ(ran, 2u);
}

static void an_error_ends_the_graphs_inside(void)
{
    everywhere(error_outside);
}

static void loop_body(size_t lo, size_t hi, void *arg)
{
    for (size_t i = lo; i < hi; i++)
        CHECK_EQ(nests((void *)(intptr_t)1), 0);
    (void)arg;
}

static void loop_over_graphs(void)
{
    CHECK_EQ(filch_for(0, 20, loop_body, NULL), 0);
    CHECK_EQ(ran, 80u);
}

static void loops_run_graphs(void)
{
    everywhere(loop_over_graphs);
}

/* ---- size and fairness ---------------------------------------------------------------------- */

static int is_next(void *arg)
{
    CHECK_EQ(ran, (uintptr_t)arg);
    ran++;
    return 0;
}

static void a_chain_may_be_a_million_long(void)
{
    int n = (int)kit_scaled(1000000, 20);
    begin(2);
    for (int i = 0; i < n; i++) {
        add(NULL, is_next, (void *)(uintptr_t)i);
        if (i > 0)
            edge(i - 1, i);
    }
    CHECK_EQ(run_graph(graph), 0);
    CHECK_EQ(ran, (uint32_t)n);
    kit_beat();
    edge(n - 1, 0);
    CHECK_EQ(run_graph(graph), -ELOOP);
    CHECK_EQ(ran, (uint32_t)n);
    char text[20];
    CHECK(filch_graph_cycle(graph, text, sizeof text) > (size_t)n);
    CHECK_STR(text, "0 -> 1 -> 2 -> 3 ->");
    end();
}

static void a_node_may_have_many_successors(void)
{
    int n = (int)kit_scaled(200000, 20);
    begin(4);
    int first = add("first", counts, NULL), last = add("last", counts, NULL);
    for (int i = 0; i < n; i++) {
        int middle = add(NULL, counts, NULL);
        edge(first, middle);
        edge(middle, last);
    }
    CHECK_EQ(run_graph(graph), 0);
    CHECK_EQ(ran, (uint32_t)n + 2);
    end();
}

static uint32_t other_ran;

static void other(void *arg)
{
    (void)arg;
    kit_raise(&other_ran);
}

static int starts_another(void *arg)
{
    (void)arg;
    return filch_go(other, NULL);
}

static int takes_a_while(void *arg)
{
    (void)arg;
    if (!kit_raised(&other_ran))
        kit_nap_us(100);
    kit_beat();
    return 0;
}

static int comes_after_it(void *arg)
{
    CHECK(kit_raised(&other_ran));
    return counts(arg);
}

static void a_long_graph_lets_others_have_their_turn(void)
{
    begin(1);
    other_ran = 0;
    add(NULL, starts_another, NULL);
    for (int i = 1; i < 2000; i++) {
        add(NULL, takes_a_while, NULL);
        edge(i - 1, i);
    }
    edge(1999, add(NULL, comes_after_it, NULL));
    CHECK_EQ(run_graph(graph), 0);
    CHECK_EQ(ran, 1u);
    end();
}

int main(void)
{
    kit_watchdog();
    RUN(every_node_runs_once_and_after_its_predecessors);
    RUN(an_empty_graph_runs);
    RUN(the_longest_way_begins_first);
    RUN(one_worker_takes_the_most_critical_of_all_that_are_ready);
    RUN(measured_times_decide);
    RUN(costs_may_be_as_large_as_they_like);
    RUN(an_error_stops_the_rest);
    RUN(the_first_of_many_errors_is_the_one_returned);
    RUN(an_error_ends_the_waits_of_others);
    RUN(a_pool_that_is_shut_down_runs_nothing);
    RUN(any_thread_may_cancel);
    RUN(a_scope_cancels_a_graph);
    RUN(the_callers_scope_cancels_a_graph);
    RUN(a_node_may_cancel_its_graph);
    RUN(a_cancel_at_any_moment_is_heeded_or_too_late);
    RUN(a_graph_runs_any_number_of_times);
    RUN(a_graph_changes_between_runs);
    RUN(a_graph_that_runs_is_busy);
    RUN(no_more_run_at_once_than_how_says);
    RUN(nodes_may_wait_for_each_other_on_any_number_of_workers);
    RUN(all_that_is_ready_can_be_under_way_at_once);
    RUN(graphs_nest_and_run_loops);
    RUN(an_error_ends_the_graphs_inside);
    RUN(loops_run_graphs);
    RUN(a_chain_may_be_a_million_long);
    RUN(a_node_may_have_many_successors);
    RUN(a_long_graph_lets_others_have_their_turn);
    return check_report();
}
