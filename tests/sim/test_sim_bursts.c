/* test_sim_bursts.c: bursts, and the longest queue first against random ones: `filch sim bursts`. */
#include "load_cases.h"

#define LOAD "workers=4 arrive=bursts duration=uniform:1..3 "
#define OVERLAP LOAD "burst=0:0:24,5:1:12 "
#define APART LOAD "burst=0:0:12,15:1:12 "

#ifdef SIM_SHORT
enum { RUNS = 60 };
#else
enum { RUNS = 400 };
#endif

static void tasks_arrive_in_their_burst(void)
{
    struct sim_result r = load_case_run(LOAD "burst=0:0:12,5:1:12", 0);
    uint32_t seen = 0;
    for (size_t i = 0; i < r.records; i++) {
        const struct sim_record *e = &r.record[i];
        if (e->kind != SIM_SUBMITTED)
            continue;
        CHECK_EQ(e->at, seen < 12 ? 0 : 5 * SIM_SECOND);
        CHECK_EQ(e->worker, seen < 12 ? 0 : 1);
        seen++;
    }
    CHECK_EQ(seen, 24);
    CHECK_EQ(r.initial[0], 12);
    CHECK_EQ(r.how, SIM_DONE);
    sim_result_free(&r);
}

static void a_thief_takes_the_oldest_and_the_owner_the_newest(void)
{
    struct sim_result r = load_case_run(LOAD "victim=largest burst=0:0:12", 0);
    uint32_t oldest = 1, newest = 12;
    for (size_t i = 0; i < r.records; i++) {
        const struct sim_record *e = &r.record[i];
        if (e->kind == SIM_STOLE)
            CHECK_EQ(r.name[e->task].number, oldest++);
        else if (e->kind == SIM_EXECUTING && e->worker == 0 && r.name[e->task].number == newest)
            newest--;
    }
    CHECK_EQ(oldest - 1 + (12 - newest), 12); /* all of them, from both ends */
    CHECK(newest < 11 && oldest > 6);
    sim_result_free(&r);
}

/* Worker 0 has one task more than it runs, worker 1 has 8 more, worker 2 none. Of `runs`, in how many is the
 * first steal from worker 1? */
static int first_from_longest(const char *pairs, int runs)
{
    int from_longest = 0;
    for (int k = 0; k < runs; k++) {
        struct sim_result r = load_case_run(pairs, (uint64_t)k);
        size_t i = 0;
        while (i < r.records && r.record[i].kind != SIM_STOLE)
            i++;
        CHECK(i < r.records);
        from_longest += r.record[i].other == 1;
        sim_result_free(&r);
    }
    return from_longest;
}

#define TWO_QUEUES "workers=3 arrive=bursts burst=0:0:2,0:1:9 duration=1 "

static void the_longest_queue_is_stolen_from_first(void)
{
    enum { SOME = 40 };
    CHECK_EQ(first_from_longest(TWO_QUEUES "victim=largest", SOME), SOME);
    int random = first_from_longest(TWO_QUEUES "victim=shuffle", SOME);
    CHECK_MSG(random > SOME / 8 && random < SOME - SOME / 8, "%d of %d", random, SOME);
}

static void where_bursts_overlap_it_steals_less_and_never_in_vain(void)
{
    struct replications out[2];
    load_case_pair(OVERLAP "victim=shuffle", OVERLAP "victim=largest", RUNS, out);
    CHECK_EQ(load_case_judge(out, METRIC_STEALS).verdict, ESTIMATE_BETTER);
    CHECK(replications_summary(&out[0], METRIC_FAILED).mean > 50);
    CHECK(replications_summary(&out[1], METRIC_FAILED).max == 0);
    CHECK(replications_summary(&out[1], METRIC_VAIN).mean > 10); /* tries that named no victim */
    load_case_free(out);
}

static void where_they_do_not_it_changes_no_run(void)
{
    struct replications out[2];
    load_case_pair(APART "victim=shuffle", APART "victim=largest", RUNS, out);
    for (uint64_t i = 0; i < RUNS; i++) {
        CHECK(out[0].value[i][METRIC_MAKESPAN] == out[1].value[i][METRIC_MAKESPAN]);
        CHECK(out[0].value[i][METRIC_STEALS] == out[1].value[i][METRIC_STEALS]);
    }
    load_case_free(out);
}

int main(void)
{
    RUN(tasks_arrive_in_their_burst);
    RUN(a_thief_takes_the_oldest_and_the_owner_the_newest);
    RUN(the_longest_queue_is_stolen_from_first);
    RUN(where_bursts_overlap_it_steals_less_and_never_in_vain);
    RUN(where_they_do_not_it_changes_no_run);
    return check_report();
}
