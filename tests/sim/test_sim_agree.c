/* test_sim_agree.c: the exact engine and the event engine agree, where both can run a load. */
#include "fork_cases.h"
#include "sim/exact.h"
#include "sim/simulate.h"

#ifdef SIM_SHORT
enum { CASES = 60 };
#else
enum { CASES = 700 }; /* of each shape */
#endif

static uint64_t steals_compared;

static struct sim_result by_events(const struct forktree *t, const struct forktree_costs *c, uint32_t workers,
                                   uint64_t seed)
{
    struct sim_config config = sim_config_003(workers);
    config.seed = seed;
    config.policy.victim = FILCH_VICTIM_ONE;
    config.policy.idle = FILCH_IDLE_YIELD;
    config.costs = (struct sim_costs){.exec = c->exec, .spawn = c->spawn, .pop = c->pop, .join = c->join,
                                      .failed = c->failed, .steal_near = c->steal, .steal_far = c->steal};
    struct sim_load load = {.behavior = SIM_TREE, .arrivals = {.kind = SIM_ARRIVE_ROOT}, .tree = t};
    struct sim_result r;
    char message[160] = "";
    int rc = sim_run(&config, &load, &r, message, sizeof message);
    CHECK_MSG(rc == 0, "%s", message);
    return r;
}

static void check_case(const struct forktree *t, int number)
{
    uint32_t workers = case_workers();
    struct forktree_costs c = case_costs(t, workers);
    uint64_t seed = rng_next(&case_rng);
    struct exact_result e;
    char message[160] = "";
    CHECK_MSG(exact_run(t, &c, workers, seed, &e, message, sizeof message) == 0, "%s", message);
    struct sim_result r = by_events(t, &c, workers, seed);
    CHECK_EQ(r.how, SIM_DONE);
    CHECK_MSG(r.makespan == e.makespan && r.sum.steals == e.steals && r.sum.failed == e.failures,
              "case %d, %u workers, %ju nodes, exact and by events: makespan %jd, %jd; steals %ju, %ju; "
              "failures %ju, %ju",
              number, workers, (uintmax_t)e.tasks, (intmax_t)e.makespan, (intmax_t)r.makespan,
              (uintmax_t)e.steals, (uintmax_t)r.sum.steals, (uintmax_t)e.failures, (uintmax_t)r.sum.failed);
    CHECK_EQ(r.completed, e.tasks);
    steals_compared += e.steals;
    sim_result_free(&r);
}

static void makespan_steals_and_failures_are_equal(void)
{
    for (int i = 0; i < CASES * CASE_SHAPES; i++) {
        struct forktree t = case_tree(i % CASE_SHAPES);
        check_case(&t, i);
        forktree_free(&t);
    }
    CHECK(steals_compared > 10 * CASES * CASE_SHAPES);
}

int main(void)
{
    rng_seed(&case_rng, 21);
    RUN(makespan_steals_and_failures_are_equal);
    return check_report();
}
