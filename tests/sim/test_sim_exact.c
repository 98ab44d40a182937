/* test_sim_exact.c: the exact engine against an engine with an event per step, and against theory. */
#include "oracle_fork.h"
#include "sim/exact.h"
#include "base/rng.h"
#include "check.h"

#include <errno.h>
#include <time.h>

/* Cases of each of the six shapes; sizes of large trees. */
#ifdef SIM_SHORT
enum { CASES = 60, LARGE_FIB = 35, DEPTH = 100000 };
#else
enum { CASES = 700, LARGE_FIB = 45, DEPTH = 1000000 };
#endif

enum { ORACLE_PROBES = 5000 }; /* in one case, about */

static struct rng rng;
static uint64_t steals_compared;

static uint32_t below(uint32_t n)
{
    return rng_below(&rng, n);
}

static struct exact_result run(const struct forktree *t, const struct forktree_costs *c, uint32_t workers,
                               uint64_t seed)
{
    struct exact_result r;
    char message[160] = "";
    int rc = exact_run(t, c, workers, seed, &r, message, sizeof message);
    CHECK_MSG(rc == 0, "%s", message);
    return r;
}

static struct forktree made(struct forktree_spec spec)
{
    struct forktree t;
    char message[160] = "";
    CHECK_MSG(forktree_make(&t, &spec, message, sizeof message) == 0, "%s", message);
    return t;
}

static sim_time work_of(const struct forktree *t, const struct forktree_costs *c)
{
    sim_time work = -1;
    CHECK_EQ(forktree_work(t, c, &work, NULL, 0), 0);
    return work;
}

static sim_time span_of(const struct forktree *t, const struct forktree_costs *c)
{
    sim_time span = -1;
    CHECK_EQ(forktree_span(t, c, &span, NULL, 0), 0);
    return span;
}

/* ---- random cases ------------------------------------------------------------------------- */

/* Small numbers give many events in one instant, large ones few. */
static sim_time any_cost(void)
{
    static const uint32_t bound[] = {1, 2, 3, 6, 40, 2000};
    return below(bound[below(6)]);
}

static struct forktree_costs any_costs(void)
{
    struct forktree_costs c = {any_cost(), any_cost(), any_cost(), any_cost(), 1 + any_cost(), any_cost()};
    return c;
}

static uint32_t any_workers(void)
{
    switch (below(8)) {
    case 0:
        return 1;
    case 1:
        return 2;
    case 2:
        return 1 + below(200);
    default:
        return 2 + below(15);
    }
}

/* All time of all workers is work, a steal or a failed probe; when the run ends, each worker but one may be
 * in the middle of a failed one. */
static void check_time_adds_up(const struct forktree *t, const struct forktree_costs *c, uint32_t workers,
                               struct exact_result r)
{
    sim_time steals = (sim_time)r.steals, failures = (sim_time)r.failures;
    sim_time spent = work_of(t, c) + steals * (c->steal - c->pop) + failures * c->failed;
    sim_time all = r.makespan * workers;
    CHECK(spent >= all);
    CHECK(spent <= all + (workers - 1) * c->failed);
    CHECK(r.makespan >= span_of(t, c));
    if (workers == 1) {
        CHECK_EQ(r.makespan, work_of(t, c));
        CHECK_EQ(r.steals + r.failures, 0);
    }
}

static void check_case(const struct forktree *t, int number)
{
    struct forktree_costs c = any_costs();
    uint32_t workers = any_workers();
    uint64_t seed = rng_next(&rng);
    sim_time least = work_of(t, &c) * workers / ORACLE_PROBES; /* the oracle pays for each probe */
    c.failed = c.failed < least ? least : c.failed;
    struct oracle o;
    sim_time makespan = oracle_run(&o, t, &c, workers, seed);
    struct exact_result r = run(t, &c, workers, seed);
    CHECK_MSG(r.makespan == makespan && r.steals == o.steals && r.failures == o.failures,
              "case %d, %u workers, %ju nodes: makespan %jd, not %jd; steals %ju, not %ju; failures %ju, "
              "not %ju",
              number, workers, (uintmax_t)r.tasks, (intmax_t)r.makespan, (intmax_t)makespan,
              (uintmax_t)r.steals, (uintmax_t)o.steals, (uintmax_t)r.failures, (uintmax_t)o.failures);
    CHECK_EQ(r.tasks, o.executed);
    steals_compared += r.steals;
    check_time_adds_up(t, &c, workers, r);
}

static void check_cases(struct forktree_spec (*any)(void))
{
    for (int i = 0; i < CASES; i++) {
        struct forktree_spec spec = any();
        spec.leaf = any_cost();
        spec.before = any_cost();
        spec.after = any_cost();
        struct forktree t = made(spec);
        check_case(&t, i);
        forktree_free(&t);
    }
}

static struct forktree_spec any_fib(void)
{
    return (struct forktree_spec){.kind = FORKTREE_FIB, .n = below(8) == 0 ? below(20) : below(15)};
}

static struct forktree_spec any_balanced(void)
{
    static const uint32_t depth[] = {12, 9, 6, 5, 4};
    uint32_t arity = 1 + below(5);
    return (struct forktree_spec){
        .kind = FORKTREE_BALANCED, .arity = arity, .depth = below(depth[arity - 1])};
}

static struct forktree_spec any_spine(void)
{
    uint32_t arity = 1 + below(5);
    return (struct forktree_spec){
        .kind = FORKTREE_SPINE, .arity = arity, .inner = below(arity), .depth = below(150)};
}

static struct forktree_spec any_loop(void)
{
    uint64_t size = 1 + below(500);
    return (struct forktree_spec){.kind = FORKTREE_LOOP,
                                  .size = size,
                                  .grain = 1 + below(5),
                                  .profile = below(2) ? FORKTREE_LINEAR : FORKTREE_HEAVY,
                                  .heavy = size / 3,
                                  .heavy_work = any_cost()};
}

static void fib_is_exact(void)
{
    check_cases(any_fib);
}

static void a_balanced_tree_is_exact(void)
{
    check_cases(any_balanced);
}

static void a_spine_is_exact(void)
{
    check_cases(any_spine);
}

static void a_loop_is_exact(void)
{
    check_cases(any_loop);
}

/* 0 to 5 children, every length a draw of its own, some 0. */
static struct forktree irregular(uint32_t most)
{
    struct forktree t = {.kind = FORKTREE_RANDOM, .node = calloc(most, sizeof *t.node), .nodes = 1};
    uint32_t range = 1 + below(5);
    for (size_t i = 0; i < t.nodes; i++) {
        uint32_t k = below(4) == 0 && i > 0 ? 0 : below(range + 1);
        struct forktree_node *node = &t.node[i];
        if (t.nodes + k > most)
            k = 0;
        *node = (struct forktree_node){(uint32_t)t.nodes, k, any_cost(), k ? any_cost() : 0};
        t.nodes += k;
    }
    return t;
}

static void an_irregular_tree_is_exact(void)
{
    for (int i = 0; i < CASES; i++) {
        struct forktree t = irregular(1 + below(1500));
        check_case(&t, i);
        forktree_free(&t);
    }
}

static void a_random_binary_tree_is_exact(void)
{
    for (int i = 0; i < CASES; i++) {
        struct forktree t = made((struct forktree_spec){
            .kind = FORKTREE_RANDOM, .size = 1 + below(800), .seed = rng_next(&rng)});
        for (size_t n = 0; n < t.nodes; n++) {
            t.node[n].before = any_cost();
            t.node[n].after = any_cost();
        }
        check_case(&t, i);
        forktree_free(&t);
    }
}

static void the_cases_above_had_steals(void)
{
    CHECK(steals_compared > 10 * 6 * CASES);
}

/* ---- by hand ------------------------------------------------------------------------------ */

/* Two leaves of 10, two workers. Worker 0 forks at 1 + 5 + 2 = 8; worker 1 probes at 0, 3, 6, 9, steals at 9,
 * begins at 16, ends at 16 + 5 + 10 = 31; the join takes 4. Worker 0 ends at 23 and probes at 23, 26, 29. */
static void two_workers_by_hand(void)
{
    struct forktree t = made((struct forktree_spec){.kind = FORKTREE_FIB, .n = 2, .leaf = 10});
    struct forktree_costs c = {.exec = 5, .spawn = 2, .pop = 1, .join = 4, .failed = 3, .steal = 7};
    struct exact_result r = run(&t, &c, 2, 1);
    CHECK_EQ(r.makespan, 35);
    CHECK_EQ(r.steals, 1);
    CHECK_EQ(r.failures, 3 + 4); /* worker 0 looks at 32 as well */
    CHECK_EQ(r.tasks, 3);
}

static void a_tree_without_any_time_ends_before_the_first_probe(void)
{
    struct forktree t = made((struct forktree_spec){.kind = FORKTREE_FIB, .n = 20});
    struct forktree_costs c = {.failed = 1};
    struct exact_result r = run(&t, &c, 9, 1);
    CHECK_EQ(r.makespan, 0);
    CHECK_EQ(r.steals + r.failures, 0);
}

/* ---- theory ------------------------------------------------------------------------------- */

static const struct forktree_costs usual = {.spawn = 6, .pop = 2, .join = 4, .failed = 200, .steal = 200};

static void one_worker_takes_the_work(void)
{
    struct forktree t = made((struct forktree_spec){.kind = FORKTREE_FIB, .n = 75, .leaf = 10});
    struct exact_result r = run(&t, &usual, 1, 1);
    CHECK_EQ(r.makespan, work_of(&t, &usual));
    CHECK_EQ(r.events, 1);
}

/* T1 / P + c Tinf: the second term is 2 to 4 steals for each level of the tree, 8 are allowed. */
static void the_makespan_is_near_the_greedy_bound(void)
{
    struct forktree t = made((struct forktree_spec){.kind = FORKTREE_FIB, .n = 32, .leaf = 10});
    for (uint32_t workers = 2; workers <= 256; workers *= 2) {
        struct exact_result r = run(&t, &usual, workers, workers);
        check_time_adds_up(&t, &usual, workers, r);
        sim_time levels = 32 * (usual.steal + usual.join + usual.spawn + 10);
        CHECK(r.makespan <= work_of(&t, &usual) / workers + 8 * levels);
    }
}

/* With the inner child last a probe finds its victim far below the node where the scope began. */
static void a_deep_spine_is_no_recursion(void)
{
    for (uint32_t inner = 0; inner < 3; inner++) {
        struct forktree t = made((struct forktree_spec){
            .kind = FORKTREE_SPINE, .arity = 3, .inner = inner, .depth = DEPTH, .leaf = 100});
        struct exact_result r = run(&t, &usual, 64, 3);
        CHECK(r.steals > 0);
        CHECK_EQ(r.tasks, 3 * DEPTH + 1);
        check_time_adds_up(&t, &usual, 64, r);
    }
}

static void a_large_fib_on_1024_workers_takes_little_time(void)
{
    struct forktree t = made((struct forktree_spec){.kind = FORKTREE_FIB, .n = LARGE_FIB, .leaf = 10});
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    struct exact_result r = run(&t, &usual, 1024, 1);
    clock_gettime(CLOCK_MONOTONIC, &b);
    double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6;
    printf("fib(%d), %ju tasks, 1024 workers: makespan %jd ns, %ju steals, %ju failures, %.2f ms\n",
           LARGE_FIB, (uintmax_t)r.tasks, (intmax_t)r.makespan, (uintmax_t)r.steals, (uintmax_t)r.failures,
           ms);
    check_time_adds_up(&t, &usual, 1024, r);
    CHECK(r.events < r.tasks / 20);
}

static void the_same_seed_gives_the_same_run(void)
{
    struct forktree t = made((struct forktree_spec){.kind = FORKTREE_FIB, .n = 30, .leaf = 10});
    struct exact_result a = run(&t, &usual, 32, 7), b = run(&t, &usual, 32, 7), c = run(&t, &usual, 32, 8);
    CHECK_EQ(a.makespan, b.makespan);
    CHECK_EQ(a.failures, b.failures);
    CHECK(a.makespan != c.makespan || a.failures != c.failures);
    CHECK_EQ(a.makespan, 932862); /* with every compiler */
    CHECK_EQ(a.steals, 594);
    CHECK_EQ(a.failures, 592);
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void refused(const struct forktree *t, struct forktree_costs c, uint32_t workers, const char *why)
{
    struct exact_result r = {.makespan = -7};
    char message[160] = "";
    CHECK_EQ(exact_run(t, &c, workers, 1, &r, message, sizeof message), -EINVAL);
    CHECK_STR(message, why);
    CHECK_EQ(r.makespan, -7);
}

static void what_is_out_of_range_is_refused(void)
{
    struct forktree t = made((struct forktree_spec){.kind = FORKTREE_FIB, .n = 5, .leaf = 10});
    struct forktree_costs c = usual;
    refused(&t, c, 0, "workers: 1 to 1048576, not 0");
    refused(&t, c, EXACT_WORKERS_MOST + 1, "workers: 1 to 1048576, not 1048577");
    c.failed = 0;
    refused(&t, c, 2, "cost of a failed probe: at least 1 ns, or time stands still");
    c = usual;
    c.join = -1;
    refused(&t, c, 2, "cost of a join: a time is 0 to 2^59 ns, not -1");
}

static void a_time_that_overflows_is_refused(void)
{
    struct forktree t = made((struct forktree_spec){.kind = FORKTREE_FIB, .n = 2, .leaf = SIM_TIME_MAX / 2});
    struct forktree_costs c = {.failed = 1};
    refused(&t, (struct forktree_costs){.failed = 1, .join = 1}, 2,
            "the tree takes more than 2^59 ns on one worker");
    CHECK_EQ(run(&t, &c, 1, 1).makespan, SIM_TIME_MAX);
    CHECK_EQ(run(&t, &c, 2, 1).makespan, SIM_TIME_MAX / 2);
    c.steal = SIM_TIME_MAX;
    refused(&t, c, 2, "the run takes more than 2^59 ns");
    c = (struct forktree_costs){.failed = SIM_TIME_MAX, .exec = 1};
    struct forktree small = made((struct forktree_spec){
        .kind = FORKTREE_SPINE, .arity = 1, .depth = 2, .leaf = 1});
    CHECK_EQ(run(&small, &c, 3, 1).makespan, 4);
}

int main(void)
{
    rng_seed(&rng, 20);
    RUN(two_workers_by_hand);
    RUN(a_tree_without_any_time_ends_before_the_first_probe);
    RUN(fib_is_exact);
    RUN(a_balanced_tree_is_exact);
    RUN(a_spine_is_exact);
    RUN(a_loop_is_exact);
    RUN(an_irregular_tree_is_exact);
    RUN(a_random_binary_tree_is_exact);
    RUN(the_cases_above_had_steals);
    RUN(one_worker_takes_the_work);
    RUN(the_makespan_is_near_the_greedy_bound);
    RUN(a_deep_spine_is_no_recursion);
    RUN(a_large_fib_on_1024_workers_takes_little_time);
    RUN(the_same_seed_gives_the_same_run);
    RUN(what_is_out_of_range_is_refused);
    RUN(a_time_that_overflows_is_refused);
    return check_report();
}
