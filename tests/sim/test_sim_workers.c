/* test_sim_workers.c: 20 tasks on more and more workers: `filch sim workers`. */
#include "load_cases.h"

#define LOAD "tasks=20 duration=uniform:0.5..2 "

#ifdef SIM_SHORT
enum { RUNS = 60 };
#else
enum { RUNS = 400 };
#endif

static double mean(const char *pairs, enum metric m)
{
    struct replications out[2];
    load_case_pair(pairs, pairs, RUNS, out);
    double x = replications_summary(&out[0], m).mean;
    load_case_free(out);
    return x;
}

static void the_steal_rate_rises_with_the_workers(void)
{
    struct replications out[2];
    load_case_pair(LOAD "workers=2", LOAD "workers=4", RUNS, out);
    CHECK_EQ(load_case_judge(out, METRIC_STEAL_RATE).verdict, ESTIMATE_WORSE); /* more of them */
    load_case_free(out);
    load_case_pair(LOAD "workers=4", LOAD "workers=8", RUNS, out);
    CHECK_EQ(load_case_judge(out, METRIC_STEAL_RATE).verdict, ESTIMATE_WORSE);
    load_case_free(out);
}

/* The figures of 1,000 runs: 1.95 with 2 workers, 6.46 with 8, 12.94 with 24. */
static void a_worker_more_adds_less_and_less(void)
{
    double two = mean(LOAD "workers=2", METRIC_SPEEDUP), three = mean(LOAD "workers=3", METRIC_SPEEDUP);
    double eight = mean(LOAD "workers=8", METRIC_SPEEDUP), nine = mean(LOAD "workers=9", METRIC_SPEEDUP);
    double twenty = mean(LOAD "workers=20", METRIC_SPEEDUP), more = mean(LOAD "workers=24", METRIC_SPEEDUP);
    CHECK_MSG(two > 1.9 && two <= 2, "%g with 2 workers", two);
    CHECK_MSG(three - two > 0.8, "the third adds %g", three - two);
    CHECK_MSG(eight > 6.2 && eight < 6.7, "%g with 8 workers", eight);
    CHECK_MSG(nine - eight < 0.75, "the ninth adds %g", nine - eight);
    CHECK_MSG(twenty > 12 && more - twenty < 0.2, "%g with 20 workers, %g with 24", twenty, more);
}

static void without_stealing_the_worst_queue_decides(void)
{
    struct replications out[2];
    load_case_pair(LOAD "workers=8 queue=private", LOAD "workers=8", RUNS, out);
    CHECK_EQ(load_case_judge(out, METRIC_MAKESPAN).verdict, ESTIMATE_BETTER);
    CHECK(replications_summary(&out[0], METRIC_STOLEN).max == 0);
    CHECK(replications_summary(&out[0], METRIC_SPEEDUP).mean < 4.5);
    load_case_free(out);
}

static void one_worker_steals_nothing_and_is_never_idle(void)
{
    struct sim_result r = load_case_run(LOAD "workers=1", 0);
    CHECK_EQ(r.sum.stolen, 0);
    CHECK_EQ(r.sum.executed, 20);
    CHECK_EQ(r.makespan, r.sum.busy);
    sim_result_free(&r);
}

static void every_stolen_task_is_counted(void)
{
    struct sim_result r = load_case_run(LOAD "workers=8", 0);
    uint64_t stolen[8] = {0}, all = 0;
    for (size_t i = 0; i < r.records; i++)
        if (r.record[i].kind == SIM_STOLE)
            stolen[r.record[i].worker]++;
    for (int w = 0; w < 8; w++) {
        CHECK_EQ(r.worker[w].stolen, stolen[w]);
        all += stolen[w];
    }
    CHECK_EQ(r.sum.stolen, all);
    CHECK_EQ(r.sum.executed, 20);
    CHECK(metric_of(&r, METRIC_STEAL_RATE) == 5.0 * (double)all);
    CHECK(all > 0);
    sim_result_free(&r);
}

/* 400 tasks at 8 workers: 50 at each on average. */
static void tasks_are_placed_at_random_workers(void)
{
    uint64_t placed[8] = {0};
    for (uint64_t i = 0; i < 20; i++) {
        struct sim_result r = load_case_run(LOAD "workers=8", i);
        for (int w = 0; w < 8; w++)
            placed[w] += r.initial[w];
        sim_result_free(&r);
    }
    for (int w = 0; w < 8; w++)
        CHECK_MSG(placed[w] > 20 && placed[w] < 90, "%ju of 400 at worker %d", (uintmax_t)placed[w], w);
}

/* As many as it takes to find every queue empty. */
static void a_random_search_in_vain_looks_at_all_others(void)
{
    struct sim_result r = load_case_run("workers=5 tasks=1 place=0 duration=10 until=0.95 wait=0.1", 0);
    CHECK_EQ(r.sum.searches, 40); /* 4 workers, 10 instants */
    CHECK_EQ(r.sum.attempts, 160);
    sim_result_free(&r);
}

int main(void)
{
    RUN(the_steal_rate_rises_with_the_workers);
    RUN(a_worker_more_adds_less_and_less);
    RUN(without_stealing_the_worst_queue_decides);
    RUN(one_worker_steals_nothing_and_is_never_idle);
    RUN(every_stolen_task_is_counted);
    RUN(tasks_are_placed_at_random_workers);
    RUN(a_random_search_in_vain_looks_at_all_others);
    return check_report();
}
