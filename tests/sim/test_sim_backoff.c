/* test_sim_backoff.c: what a wait that doubles, and is short again after a success, changes against a fixed
 * one: `filch sim backoff`. */
#include "load_cases.h"

#define BASIC "workers=3 tasks=10 duration=uniform:0.5..2 until=20 wait=0.1 "
#define ARRIVALS "workers=4 tasks=5 arrive=gaps gap=0.5 first=now duration=uniform:1..3 until=30 wait=0.1 "
#define DOUBLING "idle=backoff backoff=0.05..0.5 "

#ifdef SIM_SHORT
enum { RUNS = 60 };
#else
enum { RUNS = 400 };
#endif

/* A task arrives at 1 s and at 2 s. Looks in vain at 0, 0.05, 0.15, 0.35, 0.75; at 1.25 the first is taken.
 * It ends at 1.45; looks in vain then, at 1.5, 1.6, 1.8; at 2.2 the second is taken. A look precedes what
 * arrives in its instant. */
static void check_takes(const char *pairs, int32_t worker, int64_t first_ms, int64_t second_ms)
{
    struct sim_result r = load_case_run(pairs, 0);
    sim_time taken[2] = {0};
    int n = 0;
    for (size_t i = 0; i < r.records; i++)
        if (r.record[i].kind == SIM_EXECUTING && r.record[i].worker == worker && n < 2)
            taken[n++] = r.record[i].at;
    CHECK_EQ(n, 2);
    CHECK_EQ(taken[0], first_ms * 1000000);
    CHECK_EQ(taken[1], second_ms * 1000000);
    sim_result_free(&r);
}

static void the_wait_is_short_again_after_a_task_of_its_own(void)
{
    check_takes(DOUBLING "workers=1 tasks=2 arrive=gaps gap=1 first=later duration=0.2", 0, 1250, 2200);
}

/* Worker 0 is so slow that its first task lasts for 20 s. */
#define SLOW_VICTIM "workers=2 speeds=0.01,1 duration=0.2 arrive=bursts burst=0:0:1,1:0:1,2:0:1 "

static void the_wait_is_short_again_after_a_steal(void)
{
    check_takes(DOUBLING SLOW_VICTIM, 1, 1250, 2200);
}

static void a_fixed_wait_stays_as_it_is(void)
{
    check_takes("wait=0.4 " SLOW_VICTIM, 1, 1200, 2200);
    check_takes("wait=0.3 " SLOW_VICTIM, 1, 1200, 2300);
}

static void it_saves_searches_and_finds_late_tasks_later(void)
{
    struct replications out[2];
    load_case_pair(ARRIVALS, ARRIVALS DOUBLING, RUNS, out);
    CHECK_EQ(load_case_judge(out, METRIC_VAIN).verdict, ESTIMATE_BETTER);
    CHECK_EQ(load_case_judge(out, METRIC_FAILED).verdict, ESTIMATE_BETTER);
    CHECK_EQ(load_case_judge(out, METRIC_IDLE).verdict, ESTIMATE_WORSE);
    CHECK_EQ(load_case_judge(out, METRIC_MAKESPAN).verdict, ESTIMATE_WORSE);
    CHECK(load_case_judge(out, METRIC_VAIN).relative < -0.4);
    load_case_free(out);
}

/* Where all tasks are there from the start, a search in vain means that no queue will have one again. */
static void without_late_tasks_it_saves_searches_and_costs_nothing(void)
{
    struct replications out[2];
    load_case_pair(BASIC, BASIC DOUBLING, RUNS, out);
    CHECK_EQ(load_case_judge(out, METRIC_VAIN).verdict, ESTIMATE_BETTER);
    for (uint64_t i = 0; i < RUNS; i++) {
        CHECK(out[0].value[i][METRIC_MAKESPAN] == out[1].value[i][METRIC_MAKESPAN]);
        CHECK(out[0].value[i][METRIC_IDLE] == out[1].value[i][METRIC_IDLE]);
        CHECK(out[0].value[i][METRIC_DONE] == 1);
    }
    load_case_free(out);
}

/* Idle is what is left of all workers' time until the last task ends. */
static void idle_time_ends_with_the_last_task(void)
{
    struct sim_result r = load_case_run(BASIC DOUBLING, 3);
    double all = 3 * sim_time_seconds(r.makespan), idle = metric_of(&r, METRIC_IDLE);
    double spent = sim_time_seconds(r.sum.waiting + r.sum.seeking);
    CHECK_EQ(r.end, r.makespan);
    CHECK(idle > 0 && idle - (all - sim_time_seconds(r.sum.busy)) < 1e-9);
    CHECK_MSG(idle - spent < 1e-9 && spent - idle < 1e-9, "idle %g s, waiting and seeking %g s", idle, spent);
    sim_result_free(&r);
}

int main(void)
{
    RUN(the_wait_is_short_again_after_a_task_of_its_own);
    RUN(the_wait_is_short_again_after_a_steal);
    RUN(a_fixed_wait_stays_as_it_is);
    RUN(it_saves_searches_and_finds_late_tasks_later);
    RUN(without_late_tasks_it_saves_searches_and_costs_nothing);
    RUN(idle_time_ends_with_the_last_task);
    return check_report();
}
