/* test_sim_granularity.c: 50 s of work on 4 workers in tasks of 0.1, 0.5 and 2 s, as in document 003: what an
 * observer sees that looks once a second, what is true, and the steals. */
#include "pairs_kit.h"

#include <stdlib.h>

#ifdef SIM_SHORT
enum { SEEDS = 10, PLACEMENTS = 200 };
#else
enum { SEEDS = 100, PLACEMENTS = 2000 };
#endif

static const struct {
    const char *pairs;
    int seen;          /* seconds */
    sim_time makespan;
    int stolen;        /* as document 003 printed it */
} grain[] = {
    {"tasks=500 duration=0.1", 13, 12500000000, 14},
    {"tasks=100 duration=0.5", 13, 12500000000, 13},
    {"tasks=25 duration=2", 15, 14000000000, 1},
};

enum { GRAINS = sizeof grain / sizeof *grain };

static void looks_and_makespans_are_those_of_the_document_with_every_seed(void)
{
    for (int i = 0; i < GRAINS * SEEDS; i++) {
        static struct setup_run run;
        make_pairs(&run, "workers=4 look=1 %s seed=%d", grain[i % GRAINS].pairs, i / GRAINS + 1);
        struct sim_result r = run_made(&run);
        CHECK_EQ(r.how, SIM_DONE);
        CHECK_EQ(r.makespan, grain[i % GRAINS].makespan);
        CHECK_EQ(r.looked, grain[i % GRAINS].seen * SIM_SECOND);
        sim_result_free(&r);
        setup_free(&run);
    }
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void the_documents_steals_lie_between_the_1st_and_the_99th_percentile(void)
{
    static uint64_t stolen[PLACEMENTS];
    for (int g = 0; g < GRAINS; g++) {
        static struct setup_run run;
        make_pairs(&run, "workers=4 %s", grain[g].pairs);
        for (uint64_t i = 0; i < PLACEMENTS; i++) {
            setup_replication(&run, i + 1, &run.config, &run.load);
            struct sim_result r = run_made(&run);
            stolen[i] = r.sum.stolen;
            sim_result_free(&r);
        }
        setup_free(&run);
        qsort(stolen, PLACEMENTS, sizeof *stolen, ascending);
        uint64_t low = stolen[PLACEMENTS / 100], high = stolen[PLACEMENTS - 1 - PLACEMENTS / 100];
        CHECK_MSG((int)low <= grain[g].stolen && grain[g].stolen <= (int)high, "%s: %d is not in %ju to %ju",
                  grain[g].pairs, grain[g].stolen, (uintmax_t)low, (uintmax_t)high);
        CHECK_MSG(low < high, "%s: the placement makes no difference", grain[g].pairs);
    }
}

/* Without a cost smaller is never worse; with one, tasks of a middle size are the best. */
static void a_cost_per_task_makes_small_tasks_slow(void)
{
    static const char *const sizes[] = {"tasks=10000 duration=5ms", "tasks=100 duration=0.5",
                                        "tasks=5 duration=10"};
    sim_time makespan[2][3];
    for (int costs = 0; costs < 2; costs++) {
        for (int i = 0; i < 3; i++) {
            static struct setup_run run;
            make_pairs(&run, "workers=4 %s exec=%s", sizes[i], costs ? "10ms" : "0ns");
            struct sim_result r = run_made(&run);
            makespan[costs][i] = r.makespan;
            CHECK_EQ(r.sum.busy, 50 * SIM_SECOND + (costs ? (sim_time)r.sum.executed * 10000000 : 0));
            sim_result_free(&r);
            setup_free(&run);
        }
    }
    CHECK(makespan[0][0] <= makespan[0][1] && makespan[0][1] < makespan[0][2]);
    CHECK(makespan[1][1] < makespan[1][0] && makespan[1][1] < makespan[1][2]);
}

int main(void)
{
    RUN(looks_and_makespans_are_those_of_the_document_with_every_seed);
    RUN(the_documents_steals_lie_between_the_1st_and_the_99th_percentile);
    RUN(a_cost_per_task_makes_small_tasks_slow);
    return check_report();
}
