/* test_sim_fit.c: the exact engine is chosen where it gives what the event engine gives, and nowhere else. */
#include "check.h"
#include "sim/exact_fit.h"
#include "sim/setup.h"

static const char base[] = "load=tree tree=fib:12 leaf=7ns before=3ns after=2ns workers=5 victim=one "
                           "idle=yield exec=1ns spawn_cost=2ns pop=3ns join_cost=1ns failed=9ns "
                           "steal_near=11ns steal_far=11ns";

static void make(struct setup_run *run, const char *more)
{
    struct setup s;
    char message[200] = "";
    setup_init(&s);
    CHECK_EQ(setup_parse(&s, base, true, message, sizeof message), 0);
    CHECK_MSG(setup_parse(&s, more, true, message, sizeof message) == 0, "%s", message);
    CHECK_MSG(setup_make(run, &s, message, sizeof message) == 0, "%s: %s", more, message);
}

static bool fits(const char *more)
{
    struct setup_run run;
    make(&run, more);
    bool yes = exact_fits(&run.config, &run.load);
    setup_free(&run);
    return yes;
}

static void check_agree(const char *more, uint64_t i)
{
    struct setup_run run;
    struct sim_config config;
    struct sim_load load;
    struct sim_result r;
    struct exact_result e;
    char message[200] = "";
    make(&run, more);
    setup_replication(&run, i, &config, &load);
    struct forktree_costs costs = exact_costs(&config);
    CHECK_EQ(sim_run(&config, &load, &r, message, sizeof message), 0);
    CHECK_EQ(exact_run(&run.tree, &costs, config.workers, config.seed, &e, message, sizeof message), 0);
    CHECK_MSG(r.makespan == e.makespan && r.sum.steals == e.steals && r.sum.failed == e.failures,
              "%s, replication %ju", more, (uintmax_t)i);
    sim_result_free(&r);
    setup_free(&run);
}

static void where_it_fits_both_engines_agree(void)
{
    static const char *const fitting[] = {
        "", "workers=1", "workers=64", "tree=uts:3:5", "tree=random:500 lengths=exp:20ns", "tree=spine:3:40",
        "tree=loop:1000:8:heavy", "spin=3", "attempts=1", "wake=all", "wake_cost=5ns", "group=2", "events=0",
        "wait=0.5", "place=3", "skip=7", "own_end=on", "backoff_jitter=50",
    };
    for (size_t k = 0; k < sizeof fitting / sizeof *fitting; k++) {
        CHECK_MSG(fits(fitting[k]), "%s", fitting[k]);
        for (uint64_t i = 0; i < 5; i++)
            check_agree(fitting[k], i);
    }
}

static void elsewhere_the_event_engine_runs(void)
{
    static const char *const others[] = {
        "victim=random", "victim=two", "victim=order", "steal=half", "steal=0.5", "ends=fifo", "ends=-",
        "idle=sleep", "idle=park", "join=help", "join=block", "queue=locked", "queue=private", "run_next=on",
        "near=0.5 group=2", "global_every=61", "ring=8", "probe=1ns", "migrate=1ns", "speeds=1,0.5",
        "collisions=on", "until=1", "group=2 steal_far=20ns", "failed=0ns probe=1ns", "leaf=exp:7ns",
        "load=plain", "load=joining", "cycle_attempts=4",
    };
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        CHECK_MSG(!fits(others[k]), "%s", others[k]);
}

int main(void)
{
    RUN(where_it_fits_both_engines_agree);
    RUN(elsewhere_the_event_engine_runs);
    return check_report();
}
