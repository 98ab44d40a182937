/* new_policy.c: a victim policy in both machines, for new_policy.sh.
 * usage: both WORD THIEF "ORDER"   does the thief, one of five workers, try its victims in this order? */
#include "policy_kit.h"

#include "sim/setup.h"

#include <stdlib.h>

enum { WORKERS = 5 };

/* ---- the runtime ------------------------------------------------------------------------------------- */

/* At first all but the thief have a job, then one less each time. Found is the first that has one. */
static void runtime_tries(const char *words, int thief, const int *order)
{
    filch_pool *pool = still_pool(WORKERS, words);
    for (int from = 0; from < WORKERS - 1; from++) {
        for (int i = from; i < WORKERS - 1; i++)
            load(pool, order[i], order[i], 1);
        CHECK_EQ(thief_takes(pool, thief), order[from]);
        empty(pool);
    }
    still_end(pool);
}

static void runtime_runs_jobs(const char *words)
{
    enum { JOBS = 1000 };
    static struct cell c[JOBS];
    filch_pool *pool = policy_pool(WORKERS, words);
    cells_submit(pool, c, JOBS, FILCH_ROUND_ROBIN);
    kit_drain_and_destroy(pool);
    cells_check(c, JOBS);
}

/* ---- the simulator ----------------------------------------------------------------------------------- */

static struct sim_result simulated(struct setup_run *run, const char *pairs)
{
    struct setup s;
    struct sim_result result;
    char message[300] = "";
    setup_init(&s);
    CHECK_MSG(setup_parse(&s, pairs, true, message, sizeof message) == 0, "%s", message);
    CHECK_MSG(setup_make(run, &s, message, sizeof message) == 0, "%s", message);
    run->config.record = true;
    CHECK_MSG(sim_run(&run->config, &run->load, &result, message, sizeof message) == 0, "%s", message);
    CHECK_EQ(result.how, SIM_DONE);
    return result;
}

/* From which victim the thief takes its first task. */
static int first_victim(const struct sim_result *r, int thief)
{
    for (size_t i = 0; i < r->records; i++)
        if (r->record[i].kind == SIM_STOLE && r->record[i].worker == thief)
            return r->record[i].other;
    return -1;
}

/* The same as in the runtime, with nine tasks each at time 0. */
static void simulator_tries(const char *words, int thief, const int *order)
{
    for (int from = 0; from < WORKERS - 1; from++) {
        char pairs[300];
        struct setup_run run;
        int n = snprintf(pairs, sizeof pairs, "workers=%d duration=1 steal=one %s arrive=bursts burst=",
                         WORKERS, words);
        for (int i = from; i < WORKERS - 1; i++)
            n += snprintf(pairs + n, sizeof pairs - (size_t)n, "%s0:%d:9", i > from ? "," : "", order[i]);
        struct sim_result r = simulated(&run, pairs);
        CHECK_EQ(first_victim(&r, thief), order[from]);
        CHECK_EQ(r.completed, 9 * (WORKERS - 1 - from));
        sim_result_free(&r);
        setup_free(&run);
    }
}

int main(int argc, char **argv)
{
    int order[WORKERS - 1];
    char words[64];
    kit_watchdog();
    CHECK_EQ(argc, 4);
    char *at = argv[3];
    for (int i = 0; i < WORKERS - 1; i++)
        order[i] = (int)strtol(at, &at, 10);
    snprintf(words, sizeof words, "victim=%s", argv[1]);
    int thief = atoi(argv[2]);
    runtime_tries(words, thief, order);
    runtime_runs_jobs(words);
    simulator_tries(words, thief, order);
    return 0;
}
