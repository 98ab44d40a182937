/* test_sim_livelock.c: the ways of `filch sim livelock`: in step nothing moves, and that is detected; a
 * random wait or victim ends it. Attempts per try and per victim, and their cap. */
#include "load_cases.h"

#define LOAD "workers=4 tasks=5 place=0 duration=1 collisions=on wait=0.1 backoff=0.05..0.5 "
#define FIXED LOAD "victim=order"
#define DOUBLING LOAD "victim=order idle=backoff cycle_attempts=2"
#define JITTER DOUBLING " backoff_jitter=50"
#define ONE_PROBE LOAD "victim=one probe=1ms"

enum { RUNS = 20 };

static void check_stuck(const char *pairs)
{
    for (uint64_t i = 0; i < RUNS; i++) {
        struct sim_result r = load_case_run(pairs, i);
        CHECK_EQ(r.how, SIM_LIVELOCK);
        CHECK_EQ(r.completed, 0);
        CHECK_EQ(r.sum.steals, 0);
        CHECK_EQ(r.stuck_count, 5);
        CHECK(r.stuck[0].queued && r.stuck[0].worker == 0);
        CHECK(r.worker[0].contended > 100); /* its owner fails like the others */
        sim_result_free(&r);
    }
}

static void in_step_with_a_fixed_wait_nothing_moves(void)
{
    check_stuck(FIXED);
}

static void in_step_with_a_capped_search_and_a_doubling_wait_nothing_moves(void)
{
    check_stuck(DOUBLING);
}

/* Returns steals per run. */
static double check_ends(const char *pairs)
{
    uint64_t steals = 0;
    for (uint64_t i = 0; i < RUNS; i++) {
        struct sim_result r = load_case_run(pairs, i);
        CHECK_EQ(r.how, SIM_DONE);
        CHECK_EQ(r.completed, 5);
        CHECK_MSG(r.makespan < 5 * SIM_SECOND, "no better than one worker: %jd ns", (intmax_t)r.makespan);
        steals += r.sum.steals;
        sim_result_free(&r);
    }
    return (double)steals / RUNS;
}

static void a_wait_that_is_in_part_random_ends_it(void)
{
    CHECK(check_ends(JITTER) >= 3);
}

static void one_random_victim_and_a_slow_probe_end_it(void)
{
    CHECK(check_ends(ONE_PROBE) >= 2);
}

static void a_slow_probe_alone_lets_only_the_owner_through(void)
{
    struct sim_result r = load_case_run(LOAD "victim=order probe=1ms", 0);
    CHECK_EQ(r.how, SIM_DONE);
    CHECK_EQ(r.sum.steals, 0);
    CHECK_EQ(r.makespan, 5 * SIM_SECOND);
    sim_result_free(&r);
}

static void without_collisions_nothing_gets_stuck(void)
{
    struct sim_result r = load_case_run(FIXED " collisions=off", 0);
    CHECK_EQ(r.how, SIM_DONE);
    CHECK_EQ(r.sum.contended, 0);
    CHECK_EQ(r.makespan, 2 * SIM_SECOND);
    sim_result_free(&r);
}

/* Where worker 0 was locked out: 0, then after waits that double from 0.05 s up to 0.5 s. */
static void the_wait_doubles_up_to_its_bound(void)
{
    static const int64_t waits_ms[] = {0, 50, 100, 200, 400, 500, 500, 500};
    struct sim_result r = load_case_run(DOUBLING, 0);
    sim_time due = 0;
    size_t seen = 0;
    for (size_t i = 0; i < r.records && seen < sizeof waits_ms / sizeof *waits_ms; i++) {
        if (r.record[i].kind != SIM_LOCKED_OUT || r.record[i].worker != 0 || r.record[i].other != -1)
            continue;
        due += waits_ms[seen++] * 1000000;
        CHECK_EQ(r.record[i].at, due);
    }
    CHECK_EQ(seen, sizeof waits_ms / sizeof *waits_ms);
    sim_result_free(&r);
}

/* One task keeps worker 0 busy. Three workers look at 0, 0.1 and 0.2 s. */
#define IDLE "workers=4 tasks=1 place=0 duration=10 until=0.25 wait=0.1 victim=order "

static void check_attempts(const char *pairs, uint64_t tries, uint64_t victims)
{
    struct sim_result r = load_case_run(pairs, 0);
    CHECK_EQ(r.sum.searches, tries);
    CHECK_EQ(r.sum.vain, tries);
    CHECK_EQ(r.sum.attempts, victims);
    CHECK_EQ(r.sum.failed, victims);
    sim_result_free(&r);
}

static void attempts_count_per_try_and_per_victim(void)
{
    check_attempts(IDLE, 9, 27);
    check_attempts(IDLE "spin=4", 36, 108);
}

static void attempts_are_capped_per_try_and_per_idle_cycle(void)
{
    check_attempts(IDLE "spin=4 attempts=2", 36, 72);
    check_attempts(IDLE "spin=4 cycle_attempts=5", 18, 45); /* a try of 3 victims, and one of 2 */
    check_attempts(IDLE "spin=4 cycle_attempts=3", 9, 27);
}

int main(void)
{
    RUN(in_step_with_a_fixed_wait_nothing_moves);
    RUN(in_step_with_a_capped_search_and_a_doubling_wait_nothing_moves);
    RUN(a_wait_that_is_in_part_random_ends_it);
    RUN(one_random_victim_and_a_slow_probe_end_it);
    RUN(a_slow_probe_alone_lets_only_the_owner_through);
    RUN(without_collisions_nothing_gets_stuck);
    RUN(the_wait_doubles_up_to_its_bound);
    RUN(attempts_count_per_try_and_per_victim);
    RUN(attempts_are_capped_per_try_and_per_idle_cycle);
    return check_report();
}
