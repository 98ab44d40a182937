/* test_sim_engine_idle.c: what workers do that have no task: searches, waits, parking and wake-ups; and runs
 * that get stuck. */
#include "sim_kit.h"

#include <errno.h>

#define MS ((sim_time)1000000)
#define FOUR_LATE "A 0.5 3 1\nB 0.5 3 1\nC 0.5 3 1\nD 0.5 3 1\n"

/* ---- idle cycles -------------------------------------------------------------------------- */

/* One task, far in the future; five workers end their first idle cycle at 0 and park. */
static void check_cycle(const char *pairs, uint64_t searches, uint64_t attempts)
{
    struct kit k;
    kit_run_list(&k, "A 1 0 1\n", "workers=5 idle=park wake=target");
    kit_end(&k);
    char all[200];
    snprintf(all, sizeof all, "workers=5 idle=park wake=target until=0.9 %s", pairs);
    kit_run_list(&k, "A 1 0 1\n", all);
    for (int i = 0; i < 5; i++) {
        CHECK_MSG(k.r.worker[i].searches == searches && k.r.worker[i].vain == searches &&
                      k.r.worker[i].attempts == attempts,
                  "%s: %ju searches, %ju attempts", pairs, (uintmax_t)k.r.worker[i].searches,
                  (uintmax_t)k.r.worker[i].attempts);
        CHECK_EQ(k.r.worker[i].failed, attempts);
        CHECK_EQ(k.r.worker[i].parks, 1);
    }
    kit_end(&k);
}

static void a_cycle_has_so_many_searches_and_attempts(void)
{
    check_cycle("", 1, 4);
    check_cycle("victim=one", 1, 1);
    check_cycle("victim=two", 1, 1);
    check_cycle("victim=order", 1, 4);
    check_cycle("victim=random", 1, 4);
    check_cycle("victim=last", 1, 4);
    check_cycle("victim=largest", 1, 0); /* all queues are empty, and it names no empty one */
    check_cycle("spin=3", 3, 12);
    check_cycle("spin=3 victim=largest", 3, 0);
    check_cycle("attempts=2", 1, 2);
    check_cycle("attempts=2 spin=3", 3, 6);
    check_cycle("attempts=9", 1, 4);
    check_cycle("cycle_attempts=3", 1, 3);
    check_cycle("cycle_attempts=3 attempts=2 spin=10", 2, 3);
    check_cycle("cycle_attempts=7 spin=10", 2, 7);
    check_cycle("cycle_attempts=8 spin=10", 2, 8);
    check_cycle("cycle_attempts=7 spin=10 probe=1ms failed=1ms", 2, 7);
    check_cycle("queue=private", 1, 0);
    check_cycle("queue=shared spin=2", 2, 0);
}

/* The capped worker begins afresh after its wait. */
static void the_cap_of_a_cycle_sends_the_worker_to_its_wait(void)
{
    struct kit k;
    kit_run_list(&k, "A 1 0 1\n", "workers=5 spin=10 cycle_attempts=3 wait=0.1 until=0.35");
    for (int i = 0; i < 5; i++)
        CHECK_EQ(k.r.worker[i].attempts, 4 * 3); /* at 0, 0.1, 0.2, 0.3 */
    CHECK_EQ(k.r.sum.parks, 0);
    kit_end(&k);
}

/* Checks the times of worker 1's searches in vain; ends with a negative one. */
static void check_searches(const char *list, const char *pairs, const int *ms)
{
    struct kit k;
    int n = 0;
    kit_run_list(&k, list, pairs);
    for (size_t i = 0; i < k.r.records && ms[n] >= 0; i++) {
        const struct sim_record *e = &k.r.record[i];
        if (e->kind != SIM_FAILED || e->worker != 1)
            continue;
        CHECK_MSG(e->at == ms[n] * MS, "%s: search %d at %jd ns", pairs, n, (intmax_t)e->at);
        n++;
    }
    CHECK(ms[n] < 0);
    kit_end(&k);
}

static void waits_grow_and_are_short_again_after_a_task(void)
{
    const char *late = "A 3 0 1\n", *busy = "A 1 1 0.1\nZ 3 0 1\n";
    check_searches(late, "workers=2 wait=0.3", (const int[]){0, 300, 600, 900, -1});
    check_searches(late, "workers=2 idle=backoff backoff=0.1..0.5",
                   (const int[]){0, 100, 300, 700, 1200, 1700, -1});
    check_searches(late, "workers=2 idle=backoff backoff=0.1..2 backoff_factor=3",
                   (const int[]){0, 100, 400, 1300, 3300, -1});
    check_searches(late, "workers=2 idle=backoff backoff=0.1..0.5 backoff_factor=1",
                   (const int[]){0, 100, 200, 300, -1});
    check_searches(late, "workers=2 idle=park wake=none backoff=0.1..0.5",
                   (const int[]){0, 100, 300, 700, -1});
    check_searches(late, "workers=2 idle=yield failed=150ms victim=one", (const int[]){150, 300, 450, -1});
    check_searches(late, "workers=2 idle=yield failed=150ms victim=largest", (const int[]){0, 150, 300, -1});
    /* A at 1 s is found at 1.2 s and ends at 1.3 s */
    check_searches(busy, "workers=2 queue=private idle=backoff backoff=0.1..0.5",
                   (const int[]){0, 100, 300, 700, 1300, 1400, 1600, -1});
}

static void a_part_of_each_wait_is_random_and_no_wait_is_longer(void)
{
    struct kit k;
    sim_time least = SIM_NEVER, most = 0, before = -1;
    kit_run_list(&k, "A 60 0 1\n", "workers=2 idle=backoff backoff=0.1..0.1 backoff_jitter=40");
    for (size_t i = 0; i < k.r.records; i++) {
        const struct sim_record *e = &k.r.record[i];
        if (e->kind != SIM_FAILED || e->worker != 1)
            continue;
        sim_time gap = e->at - before;
        if (before >= 0 && gap < least)
            least = gap;
        if (before >= 0 && gap > most)
            most = gap;
        before = e->at;
    }
    CHECK(least >= 60 * MS && least < 62 * MS);
    CHECK(most <= 100 * MS && most > 98 * MS);
    kit_end(&k);
}

static void every_seed_has_other_waits_and_every_worker_too(void)
{
    struct kit k;
    /* victim=order: nothing but the waits is drawn */
    const char *list = "A 1 0 1\n";
    const char *pairs = "workers=3 victim=order idle=backoff backoff=0.1..0.1 backoff_jitter=40";
    char other[140];
    snprintf(other, sizeof other, "%s seed=2", pairs);
    kit_run_list(&k, list, pairs);
    sim_time second[2] = {0, 0};
    for (size_t i = 0; i < k.r.records; i++) {
        const struct sim_record *e = &k.r.record[i];
        if (e->kind == SIM_FAILED && e->at > 0 && e->worker < 2 && !second[e->worker])
            second[e->worker] = e->at;
    }
    CHECK(second[0] != second[1]);
    kit_end(&k);
    kit_run_list(&k, list, other);
    for (size_t i = 0; i < k.r.records; i++)
        CHECK(k.r.record[i].kind != SIM_FAILED || k.r.record[i].at != second[0]);
    kit_end(&k);
}

/* ---- wake-ups ----------------------------------------------------------------------------- */

static void check_woken(const char *pairs, uint64_t wakes, const int begins[4])
{
    struct kit k;
    static const char *const name[] = {"A", "B", "C", "D"};
    kit_run_list(&k, FOUR_LATE, pairs);
    CHECK_EQ(k.r.how, SIM_DONE);
    uint64_t began[4] = {0};
    for (int i = 0; i < 4; i++)
        began[kit_worker(&k, name[i])]++;
    for (int i = 0; i < 4; i++)
        CHECK_MSG(began[i] == (uint64_t)begins[i], "%s: worker %d ran %ju", pairs, i, (uintmax_t)began[i]);
    sim_time first = kit_began(&k, "A") < kit_began(&k, "D") ? kit_began(&k, "A") : kit_began(&k, "D");
    uint64_t woken = 0;
    for (size_t i = 0; i < k.r.records; i++)
        woken += k.r.record[i].kind == SIM_WOKEN && k.r.record[i].at <= first + 1;
    CHECK_MSG(woken == wakes, "%s: %ju were woken", pairs, (uintmax_t)woken);
    kit_end(&k);
}

/* Four tasks reach worker 3's queue at 0.5. */
static void wake_says_which_worker_gets_up(void)
{
    /* the first parked one; each that has found something wakes the next */
    check_woken("workers=4 idle=park wake=one", 4, (const int[]){1, 1, 1, 1});
    check_woken("workers=8 idle=park wake=one", 4, (const int[]){1, 1, 1, 1});
    check_woken("workers=8 idle=park wake=all", 8, (const int[]){1, 1, 1, 1});
    check_woken("workers=4 idle=park wake=target", 1, (const int[]){0, 0, 0, 4});
    check_woken("workers=4 idle=park wake=none backoff=0.5..0.5", 0, (const int[]){1, 1, 1, 1});
    check_woken("workers=4 idle=park wake=one steal=all", 4, (const int[]){1, 1, 1, 1});
}

static void a_wake_up_of_one_is_enough_while_it_searches(void)
{
    struct kit k;
    kit_run_list(&k, FOUR_LATE, "workers=4 idle=park wake=one wake_cost=10ms until=0.505");
    CHECK_EQ(k.r.sum.wakes, 1);
    CHECK_EQ(k.r.worker[0].wakes, 1);
    kit_end(&k);
    kit_run_list(&k, FOUR_LATE, "workers=4 idle=park wake=all wake_cost=10ms until=0.505");
    CHECK_EQ(k.r.sum.wakes, 4);
    kit_end(&k);
}

static void a_random_wake_up_reaches_every_worker(void)
{
    unsigned woken = 0;
    for (int seed = 1; seed <= 40; seed++) {
        struct kit k;
        char pairs[120];
        snprintf(pairs, sizeof pairs, "workers=4 idle=park wake=random wake_cost=1ms until=0.5 seed=%d",
                 seed);
        kit_run_list(&k, "A 0.5 3 1\n", pairs);
        CHECK_EQ(k.r.sum.wakes, 1);
        for (unsigned i = 0; i < 4; i++)
            woken |= k.r.worker[i].wakes ? 1u << i : 0;
        kit_end(&k);
    }
    CHECK_EQ(woken, 15);
}

static void a_task_for_the_pool_wakes_the_first_also_with_target(void)
{
    struct kit k;
    kit_run(&k, "arrive=bursts burst=1:global:1 duration=1 workers=4 idle=park wake=target", "");
    CHECK_EQ(k.r.how, SIM_DONE);
    CHECK_EQ(k.r.worker[0].executed, 1);
    CHECK_EQ(k.r.sum.wakes, 1);
    kit_end(&k);
}

static void a_fork_wakes_as_an_arrival_does(void)
{
    struct kit k;
    kit_run_list(&k, "A 0 0 2\nC - - 1 A\n", "workers=3 idle=park wake=one wake_cost=5ms");
    CHECK_EQ(kit_worker(&k, "C"), 1);
    CHECK_EQ(kit_began(&k, "C"), 1005 * MS);
    kit_end(&k);
}

/* Worker 0 searches from 0 to 40 ms; A comes into its queue meanwhile, and nobody has to wake it. */
static void what_comes_during_a_search_is_seen_before_the_worker_parks(void)
{
    static const char *const wakes[] = {"one", "target", "random"};
    for (int i = 0; i < 3; i++) {
        struct kit k;
        char pairs[120];
        snprintf(pairs, sizeof pairs, "workers=2 idle=park wake=%s probe=40ms queue=deque", wakes[i]);
        kit_run_list(&k, "A 0.03 0 1\nB 0.06 0 1\n", pairs);
        CHECK_EQ(k.r.how, SIM_DONE);
        CHECK_EQ(kit_worker(&k, "A"), 0);
        CHECK_EQ(kit_began(&k, "A"), 40 * MS);
        kit_end(&k);
    }
}

/* A parked worker that helps a join is woken by the end of its child, and resumes when it is awake. */
static void a_helper_pays_for_its_wake_up(void)
{
    struct kit k;
    kit_run(&k, "load=tree tree=balanced:2:1 before=0.5 leaf=1 after=0.25 join=help idle=park workers=2",
            "wake_cost=30ms speeds=1,0.5 spawn_cost=0.1");
    CHECK_EQ(k.r.how, SIM_DONE);
    const struct sim_record *e = kit_record(&k, SIM_RESUMED, "T1", 0);
    /* worker 1 is woken at 0.6 by the fork, begins at 0.63, ends at 2.63 */
    CHECK_EQ(e->worker, 0);
    CHECK_EQ(e->at, 2660 * MS);
    CHECK_EQ(k.r.makespan, 2910 * MS);
    kit_end(&k);
}

/* ---- work conservation -------------------------------------------------------------------- */

/* No instant ends with a task in a queue and a worker without one. */
static void check_conserving(const struct kit *k, const char *pairs)
{
    int64_t queued = 0, running = 0;
    for (size_t i = 0; i < k->r.records; i++) {
        const struct sim_record *e = &k->r.record[i];
        queued += e->kind == SIM_SUBMITTED || e->kind == SIM_SPAWNED;
        queued -= e->kind == SIM_EXECUTING;
        running += e->kind == SIM_EXECUTING || e->kind == SIM_RESUMED;
        running -= e->kind == SIM_COMPLETED || e->kind == SIM_WAITS;
        bool last = i + 1 == k->r.records || k->r.record[i + 1].at > e->at;
        CHECK(queued >= 0 && running >= 0 && running <= k->r.workers);
        CHECK_MSG(!last || queued == 0 || running == k->r.workers, "%s: at %jd ns %jd wait, %jd run", pairs,
                  (intmax_t)e->at, (intmax_t)queued, (intmax_t)running);
    }
    CHECK_EQ(queued, 0);
    CHECK_EQ(running, 0);
}

static void no_worker_is_idle_while_a_task_waits(void)
{
    static const char *const loads[] = {
        "tasks=200 arrive=gaps gap=exp:0.2 duration=exp:1",
        "tasks=100 arrive=gaps gap=exp:0.3 duration=pareto:0.2,1.3 place=global",
        "arrive=bursts burst=0:0:30,3:random:20,3:2:9 duration=uniform:0.1..2",
        "load=spawning tasks=100 arrive=gaps gap=exp:0.3 duration=exp:1 spawn=0.4",
        "load=joining tasks=100 arrive=gaps gap=exp:0.3 duration=exp:1 spawn=0.4",
    };
    static const char *const policies[] = {
        "victim=random", "victim=order", "victim=shuffle", "victim=last", "victim=largest", "steal=half",
        "steal=all ends=fifo", "ring=2", "wake=all", "wake=random", "join=help", "queue=shared",
        "queue=locked ends=-",
    };
    for (size_t i = 0; i < 5; i++) {
        for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
            struct kit k;
            char pairs[160];
            snprintf(pairs, sizeof pairs, "workers=6 idle=park %s", policies[p]);
            kit_run(&k, loads[i], pairs);
            CHECK_EQ(k.r.how, SIM_DONE);
            check_conserving(&k, pairs);
            kit_end(&k);
        }
    }
}

/* ---- joins -------------------------------------------------------------------------------- */

#define TREE "load=tree tree=balanced:2:1 before=0.5 leaf=1 after=0.25"

static void check_resumed(const char *pairs, int worker, int ms)
{
    struct kit k;
    kit_run(&k, TREE, pairs);
    CHECK_EQ(k.r.how, SIM_DONE);
    const struct sim_record *e = kit_record(&k, SIM_RESUMED, "T1", 0);
    CHECK_MSG(e && e->worker == worker && e->at == ms * MS, "%s: worker %d at %jd ns", pairs, e->worker,
              (intmax_t)e->at);
    CHECK_EQ(k.r.makespan, (ms + 250) * MS);
    kit_end(&k);
}

static void a_join_resumes_where_join_says(void)
{
    check_resumed("workers=1 join=suspend", 0, 2500);
    check_resumed("workers=2 join=suspend", 1, 1500); /* the worker that ends the last child */
    check_resumed("workers=1 join=help", 0, 2500);
    check_resumed("workers=2 join=help", 0, 1500); /* the parent's worker */
    check_resumed("workers=2 join=block", 0, 2500); /* worker 1 runs both children */
    check_resumed("workers=3 join=block", 0, 1500);
}

static void a_helper_runs_others_on_top_of_its_parent(void)
{
    struct kit k;
    kit_run(&k, "load=tree tree=fib:9 leaf=0.1", "workers=1 join=help");
    CHECK_EQ(k.r.how, SIM_DONE);
    CHECK_EQ(k.r.makespan, 55 * 100 * MS);
    kit_end(&k);
}

static void a_blocked_worker_deadlocks_and_the_tasks_are_named(void)
{
    struct kit k;
    char parent[32], child[32];
    kit_run(&k, TREE, "workers=1 join=block");
    CHECK_EQ(k.r.how, SIM_DEADLOCK);
    CHECK_EQ(k.r.end, 500 * MS);
    CHECK_EQ(k.r.stuck_count, 3); /* the parent, and two children in the queue */
    CHECK(!k.r.stuck[0].queued && k.r.stuck[0].worker == 0 && k.r.stuck[1].queued);
    sim_task_name(&k.r, k.r.stuck[0].task, parent, sizeof parent);
    sim_task_name(&k.r, k.r.stuck[0].child, child, sizeof child);
    CHECK_STR(parent, "T1");
    CHECK_STR(child, "T1.0");
    kit_end(&k);
}

/* Every worker blocks: each waits for a child in a queue, in run_next or in the pool's queue. */
static void a_deadlock_names_children_wherever_they_are(void)
{
    static const char *const settings[] = {"", "run_next=on", "ring=2"};
    for (int i = 0; i < 3; i++) {
        struct kit k;
        char pairs[120], name[32];
        snprintf(pairs, sizeof pairs, "workers=2 join=block %s", settings[i]);
        kit_run(&k, "load=tree tree=balanced:3:9 before=0.5 leaf=1", pairs);
        CHECK_EQ(k.r.how, SIM_DEADLOCK);
        CHECK_EQ(k.r.sum.blocked > 0, true);
        uint64_t queued = 0;
        for (size_t n = 0; n < k.r.stuck_shown; n++) {
            CHECK(k.r.stuck[n].queued == (k.r.stuck[n].child == SIM_NO_TASK));
            if (!k.r.stuck[n].queued)
                CHECK(sim_task_name(&k.r, k.r.stuck[n].child, name, sizeof name) > 2);
            queued += k.r.stuck[n].queued;
        }
        CHECK_EQ(queued, k.r.stuck_count - 2);
        CHECK_EQ(k.r.stuck_count, k.r.submitted + 3 * 2 - k.r.completed);
        kit_end(&k);
    }
}

/* ---- stuck -------------------------------------------------------------------------------- */

static void workers_in_step_at_one_queue_are_a_livelock(void)
{
    struct kit k;
    kit_run_list(&k, "A 0 0 1\nB 0 0 1\n", "workers=2 collisions=on");
    CHECK_EQ(k.r.how, SIM_LIVELOCK);
    CHECK_EQ(k.r.completed, 0);
    CHECK_EQ(k.r.stuck_count, 2);
    kit_end(&k);
    kit_run_list(&k, "A 0 0 1\nB 0 0 1\n", "workers=2 collisions=on idle=backoff backoff_jitter=50");
    CHECK_EQ(k.r.how, SIM_DONE);
    CHECK(k.r.sum.contended >= 2);
    kit_end(&k);
}

static void a_task_that_no_worker_looks_for_is_stranded(void)
{
    struct kit k;
    char name[32];
    const char *late = "A 0.5 1 1\n";
    kit_run_list(&k, late, "workers=2 queue=private idle=park wake=one");
    CHECK_EQ(k.r.how, SIM_STRANDED);
    CHECK_EQ(k.r.stuck_count, 1);
    CHECK(k.r.stuck[0].queued);
    CHECK_EQ(k.r.stuck[0].worker, 1);
    sim_task_name(&k.r, k.r.stuck[0].task, name, sizeof name);
    CHECK_STR(name, "A");
    kit_end(&k);
    kit_run_list(&k, late, "workers=2 queue=private idle=park wake=target");
    CHECK_EQ(k.r.how, SIM_DONE);
    kit_end(&k);
    kit_run_list(&k, "A 0 0 1\nB 0 0 2\n", "workers=2 queue=private");
    CHECK_EQ(k.r.how, SIM_DONE);
    CHECK_EQ(k.r.makespan, 3000 * MS);
    kit_end(&k);
}

/* Others search in vain ten thousand times and more meanwhile. */
static void a_lock_that_is_held_and_a_wake_up_are_not_the_end(void)
{
    struct kit k;
    kit_run_list(&k, "A 0 0 1\n", "workers=3 queue=trylock lock=1ms idle=yield failed=20ns");
    CHECK_EQ(k.r.how, SIM_DONE);
    CHECK_EQ(k.r.makespan, 1001 * MS);
    kit_end(&k);
    kit_run_list(&k, "A 0.5 0 1\n",
                 "workers=2 queue=private idle=park wake=target spin=100000 wake_cost=1 until=10");
    CHECK_EQ(k.r.how, SIM_DONE);
    CHECK_EQ(k.r.makespan, 2500 * MS);
    kit_end(&k);
}

int main(void)
{
    RUN(a_cycle_has_so_many_searches_and_attempts);
    RUN(the_cap_of_a_cycle_sends_the_worker_to_its_wait);
    RUN(waits_grow_and_are_short_again_after_a_task);
    RUN(a_part_of_each_wait_is_random_and_no_wait_is_longer);
    RUN(every_seed_has_other_waits_and_every_worker_too);
    RUN(wake_says_which_worker_gets_up);
    RUN(a_wake_up_of_one_is_enough_while_it_searches);
    RUN(a_random_wake_up_reaches_every_worker);
    RUN(a_task_for_the_pool_wakes_the_first_also_with_target);
    RUN(a_fork_wakes_as_an_arrival_does);
    RUN(what_comes_during_a_search_is_seen_before_the_worker_parks);
    RUN(a_helper_pays_for_its_wake_up);
    RUN(no_worker_is_idle_while_a_task_waits);
    RUN(a_join_resumes_where_join_says);
    RUN(a_helper_runs_others_on_top_of_its_parent);
    RUN(a_blocked_worker_deadlocks_and_the_tasks_are_named);
    RUN(a_deadlock_names_children_wherever_they_are);
    RUN(workers_in_step_at_one_queue_are_a_livelock);
    RUN(a_task_that_no_worker_looks_for_is_stranded);
    RUN(a_lock_that_is_held_and_a_wake_up_are_not_the_end);
    return check_report();
}
