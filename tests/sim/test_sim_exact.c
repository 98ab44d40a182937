/* test_sim_exact.c: the exact engine against an engine with an event per step, and against theory. */
#include "fork_cases.h"
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

static uint64_t steals_compared;

static struct exact_result run(const struct forktree *t, const struct forktree_costs *c, uint32_t workers,
                               uint64_t seed)
{
    struct exact_result r;
    char message[160] = "";
    int rc = exact_run(t, c, workers, seed, &r, message, sizeof message);
    CHECK_MSG(rc == 0, "%s", message);
    return r;
}

static sim_time span_of(const struct forktree *t, const struct forktree_costs *c)
{
    sim_time span = -1;
    CHECK_EQ(forktree_span(t, c, &span, NULL, 0), 0);
    return span;
}

/* ---- random cases ------------------------------------------------------------------------- */

/* All time of all workers is work, a steal or a failed probe; when the run ends, each worker but one may be
 * in the middle of a failed one. */
static void check_time_adds_up(const struct forktree *t, const struct forktree_costs *c, uint32_t workers,
                               struct exact_result r)
{
    sim_time steals = (sim_time)r.steals, failures = (sim_time)r.failures;
    sim_time spent = case_work(t, c) + steals * (c->steal - c->pop) + failures * c->failed;
    sim_time all = r.makespan * workers;
    CHECK(spent >= all);
    CHECK(spent <= all + (workers - 1) * c->failed);
    CHECK(r.makespan >= span_of(t, c));
    if (workers == 1) {
        CHECK_EQ(r.makespan, case_work(t, c));
        CHECK_EQ(r.steals + r.failures, 0);
    }
}

static void check_case(const struct forktree *t, int number)
{
    uint32_t workers = case_workers();
    struct forktree_costs c = case_costs(t, workers);
    uint64_t seed = rng_next(&case_rng);
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

static void check_shape(int shape)
{
    for (int i = 0; i < CASES; i++) {
        struct forktree t = case_tree(shape);
        check_case(&t, i);
        forktree_free(&t);
    }
}

static void fib_is_exact(void)
{
    check_shape(0);
}

static void a_balanced_tree_is_exact(void)
{
    check_shape(1);
}

static void a_spine_is_exact(void)
{
    check_shape(2);
}

static void a_loop_is_exact(void)
{
    check_shape(3);
}

static void an_irregular_tree_is_exact(void)
{
    check_shape(4);
}

static void a_random_binary_tree_is_exact(void)
{
    check_shape(5);
}

static void the_cases_above_had_steals(void)
{
    CHECK(steals_compared > 10 * CASE_SHAPES * CASES);
}

/* ---- by hand ------------------------------------------------------------------------------ */

/* Two leaves of 10, two workers. Worker 0 forks at 1 + 5 + 2 = 8; worker 1 probes at 0, 3, 6, 9, steals at 9,
 * begins at 16, ends at 16 + 5 + 10 = 31; the join takes 4. Worker 0 ends at 23 and probes at 23, 26, 29. */
static void two_workers_by_hand(void)
{
    struct forktree t = case_make((struct forktree_spec){.kind = FORKTREE_FIB, .n = 2, .leaf = 10});
    struct forktree_costs c = {.exec = 5, .spawn = 2, .pop = 1, .join = 4, .failed = 3, .steal = 7};
    struct exact_result r = run(&t, &c, 2, 1);
    CHECK_EQ(r.makespan, 35);
    CHECK_EQ(r.steals, 1);
    CHECK_EQ(r.failures, 3 + 4); /* worker 0 looks at 32 as well */
    CHECK_EQ(r.tasks, 3);
}

static void a_tree_without_any_time_ends_before_the_first_probe(void)
{
    struct forktree t = case_make((struct forktree_spec){.kind = FORKTREE_FIB, .n = 20});
    struct forktree_costs c = {.failed = 1};
    struct exact_result r = run(&t, &c, 9, 1);
    CHECK_EQ(r.makespan, 0);
    CHECK_EQ(r.steals + r.failures, 0);
}

/* ---- theory ------------------------------------------------------------------------------- */

static const struct forktree_costs usual = {.spawn = 6, .pop = 2, .join = 4, .failed = 200, .steal = 200};

static void one_worker_takes_the_work(void)
{
    struct forktree t = case_make((struct forktree_spec){.kind = FORKTREE_FIB, .n = 75, .leaf = 10});
    struct exact_result r = run(&t, &usual, 1, 1);
    CHECK_EQ(r.makespan, case_work(&t, &usual));
    CHECK_EQ(r.events, 1);
}

/* T1 / P + c Tinf: the second term is 2 to 4 steals for each level of the tree, 8 are allowed. */
static void the_makespan_is_near_the_greedy_bound(void)
{
    struct forktree t = case_make((struct forktree_spec){.kind = FORKTREE_FIB, .n = 32, .leaf = 10});
    for (uint32_t workers = 2; workers <= 256; workers *= 2) {
        struct exact_result r = run(&t, &usual, workers, workers);
        check_time_adds_up(&t, &usual, workers, r);
        sim_time levels = 32 * (usual.steal + usual.join + usual.spawn + 10);
        CHECK(r.makespan <= case_work(&t, &usual) / workers + 8 * levels);
    }
}

/* With the inner child last a probe finds its victim far below the node where the scope began. */
static void a_deep_spine_is_no_recursion(void)
{
    for (uint32_t inner = 0; inner < 3; inner++) {
        struct forktree t = case_make((struct forktree_spec){
            .kind = FORKTREE_SPINE, .arity = 3, .inner = inner, .depth = DEPTH, .leaf = 100});
        struct exact_result r = run(&t, &usual, 64, 3);
        CHECK(r.steals > 0);
        CHECK_EQ(r.tasks, 3 * DEPTH + 1);
        check_time_adds_up(&t, &usual, 64, r);
    }
}

static void a_large_fib_on_1024_workers_takes_little_time(void)
{
    struct forktree t = case_make((struct forktree_spec){.kind = FORKTREE_FIB, .n = LARGE_FIB, .leaf = 10});
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
    struct forktree t = case_make((struct forktree_spec){.kind = FORKTREE_FIB, .n = 30, .leaf = 10});
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
    struct forktree t = case_make((struct forktree_spec){.kind = FORKTREE_FIB, .n = 5, .leaf = 10});
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
    struct forktree t = case_make(
        (struct forktree_spec){.kind = FORKTREE_FIB, .n = 2, .leaf = SIM_TIME_MAX / 2});
    struct forktree_costs c = {.failed = 1};
    refused(&t, (struct forktree_costs){.failed = 1, .join = 1}, 2,
            "the tree takes more than 2^59 ns on one worker");
    CHECK_EQ(run(&t, &c, 1, 1).makespan, SIM_TIME_MAX);
    CHECK_EQ(run(&t, &c, 2, 1).makespan, SIM_TIME_MAX / 2);
    c.steal = SIM_TIME_MAX;
    refused(&t, c, 2, "the run takes more than 2^59 ns");
    c = (struct forktree_costs){.failed = SIM_TIME_MAX, .exec = 1};
    struct forktree small = case_make((struct forktree_spec){
        .kind = FORKTREE_SPINE, .arity = 1, .depth = 2, .leaf = 1});
    CHECK_EQ(run(&small, &c, 3, 1).makespan, 4);
}

int main(void)
{
    rng_seed(&case_rng, 20);
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
