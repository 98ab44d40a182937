/* test_sim_engine.c: the order of events, costs, locks, groups and queues: small runs whose times follow by
 * hand from the model of docs/simulator.md. */
#include "sim_kit.h"

#include <errno.h>

#define MS ((sim_time)1000000)

/* Two workers, worker 0 has both tasks: it takes the newer one, B, and worker 1 steals A. */
#define STOLEN "A 0 0 1\nB 0 0 1\n"
/* Worker 1 finds A at its first look after 3 ms. */
#define LATE "B 0 0 1\nA 0.003 0 1\n"
#define FORK "A 0 0 1\nC - - 0.5 A\n"

/* ---- costs -------------------------------------------------------------------------------- */

static void every_cost_is_paid_exactly_where_it_belongs(void)
{
    static const struct {
        const char *list, *pairs;
        int ms; /* makespan */
    } cases[] = {
        {"A 0 0 1\nB 0 0 2\n", "workers=1", 3000},
        {"A 0 0 1\nB 0 0 2\n", "workers=1 exec=10ms", 3020},
        {"A 0 0 1\nB 0 0 2\n", "workers=1 pop=5ms", 3010},
        {"A 0 0 1\nB 0 0 2\n", "workers=1 speeds=2", 1500},
        {"A 0 0 1\nB 0 0 2\n", "workers=1 speeds=0.5 exec=10ms pop=5ms", 6030},
        {"A 0 0 1\nB 0 0 2\n", "workers=1 lock=4ms", 3000},
        {"A 0 0 1\nB 0 0 2\n", "workers=1 lock=4ms queue=locked", 3008},
        {"A 0 0 1\nB 0 0 2\n", "workers=1 steal_near=1 steal_far=1 probe=1 migrate=1", 3000},
        {FORK, "workers=1", 1500},
        {FORK, "workers=1 spawn_cost=7ms", 1507},
        {FORK, "workers=1 spawn_cost=7ms exec=1ms", 1509},
        {FORK, "workers=1 lock=4ms queue=locked", 1500 + 4 * 3}, /* two pops and a fork */
        {STOLEN, "workers=2", 1000},
        {STOLEN, "workers=2 steal_near=11ms", 1011},
        {STOLEN, "workers=2 steal_far=19ms", 1000},
        {STOLEN, "workers=2 steal_near=11ms steal_far=19ms group=1", 1019},
        {STOLEN, "workers=2 steal_near=11ms steal_far=19ms group=2", 1011},
        {STOLEN, "workers=2 migrate=31ms", 1031},
        {STOLEN, "workers=2 migrate=31ms speeds=1,2", 1000}, /* on the faster worker it takes 531 ms */
        {STOLEN, "workers=2 speeds=1,0.25", 4000},
        {STOLEN, "workers=2 probe=5ms", 1005},
        {STOLEN, "workers=2 probe=5ms failed=400ms", 1005},
        {LATE, "workers=2 idle=yield failed=7ms", 1007},
        {LATE, "workers=2 idle=yield failed=2ms", 1004},
        {LATE, "workers=2 idle=yield failed=2ms probe=3ms", 1000 + 3 + 2 + 3},
        {LATE, "workers=2", 1100},
        {LATE, "workers=2 wait=20ms", 1020},
        {"A 0.5 1 1\n", "workers=2 idle=park wake=target", 1500},
        {"A 0.5 1 1\n", "workers=2 idle=park wake=target wake_cost=23ms", 1523},
        {"A 0.5 1 1\n", "workers=2 idle=park wake=one steal_near=2ms wake_cost=23ms", 1525},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kit k;
        kit_run_list(&k, cases[i].list, cases[i].pairs);
        CHECK_EQ(k.r.how, SIM_DONE);
        CHECK_MSG(k.r.makespan == cases[i].ms * MS, "%s: %jd ns, not %d ms", cases[i].pairs,
                  (intmax_t)k.r.makespan, cases[i].ms);
        kit_end(&k);
    }
}

static sim_time tree_makespan(const char *pairs)
{
    struct kit k;
    kit_run(&k, "load=tree tree=balanced:2:1 before=0.5 leaf=1 after=0.25", pairs);
    CHECK_EQ(k.r.how, SIM_DONE);
    sim_time t = k.r.makespan;
    kit_end(&k);
    return t;
}

static void a_fork_pays_for_each_child_in_a_queue_and_for_the_join(void)
{
    CHECK_EQ(tree_makespan("workers=1"), 2750 * MS);
    CHECK_EQ(tree_makespan("workers=1 join_cost=4ms"), 2754 * MS);
    CHECK_EQ(tree_makespan("workers=1 spawn_cost=3ms"), 2753 * MS); /* the first child is not queued */
    CHECK_EQ(tree_makespan("workers=1 pop=2ms"), 2754 * MS);
    CHECK_EQ(tree_makespan("workers=1 exec=1ms"), 2753 * MS);
    CHECK_EQ(tree_makespan("workers=2"), 1750 * MS);
    CHECK_EQ(tree_makespan("workers=2 join=block spawn_cost=3ms wait=1ms"), 2756 * MS);
}

/* ---- the order of events ------------------------------------------------------------------ */

/* Worker 1 looks at 0 and at 0.5; A forks at 0.5. */
static void what_ends_is_seen_by_a_look_in_its_instant(void)
{
    struct kit k;
    kit_run_list(&k, "A 0 0 1\nC - - 1 A\n", "workers=2 wait=0.5");
    CHECK_EQ(kit_began(&k, "C"), 500 * MS);
    CHECK_EQ(kit_worker(&k, "C"), 1);
    kit_end(&k);
}

/* Both look at 0.5, the next time at 1. */
static void what_arrives_is_not_seen_by_a_look_in_its_instant(void)
{
    struct kit k;
    kit_run_list(&k, "A 0.5 0 1\n", "workers=2 wait=0.5");
    CHECK_EQ(kit_began(&k, "A"), 1000 * MS);
    CHECK_EQ(kit_worker(&k, "A"), 0);
    kit_end(&k);
}

static void in_one_instant_workers_are_in_the_order_of_their_numbers(void)
{
    struct kit k;
    kit_run_list(&k, "A 0 3 1\nB 0 3 1\nC 0 3 1\n", "workers=4 victim=order");
    CHECK_EQ(kit_worker(&k, "A"), 0); /* the oldest; workers 0, 1, 2 look before worker 3 does */
    CHECK_EQ(kit_worker(&k, "B"), 1);
    CHECK_EQ(kit_worker(&k, "C"), 2);
    CHECK_EQ(k.r.makespan, 1000 * MS);
    kit_end(&k);
}

/* A and B end in one instant: worker 0 takes the only task that is left. */
static void ends_of_one_instant_are_in_the_order_of_their_workers(void)
{
    struct kit k;
    kit_run_list(&k, "A 0 0 1\nB 0 1 1\nC 0.5 1 1\n", "workers=2 wait=2");
    CHECK_EQ(kit_worker(&k, "C"), 1); /* its own queue, at once; worker 0 looks after all ends */
    kit_end(&k);
    kit_run_list(&k, "A 0 0 1\nB 0 1 1\nC 0.5 2 1\n", "workers=3 wait=2");
    CHECK_EQ(kit_worker(&k, "C"), 0);
    CHECK_EQ(kit_began(&k, "C"), 1000 * MS);
    kit_end(&k);
}

static void records_are_in_the_order_of_time(void)
{
    struct kit k;
    kit_run(&k, "load=spawning tasks=60 arrive=gaps gap=exp:0.1 duration=exp:1",
            "steal=half pop=3ms steal_near=40ms wake_cost=7ms idle=park wake=all");
    CHECK(k.r.records > 300);
    for (size_t i = 1; i < k.r.records; i++)
        CHECK(k.r.record[i - 1].at <= k.r.record[i].at);
    kit_end(&k);
}

/* ---- ends --------------------------------------------------------------------------------- */

static void each_end_is_the_one_that_ends_says(void)
{
    static const struct {
        const char *pairs;
        const char *own, *stolen; /* the first that worker 0 takes, and that worker 1 steals */
    } cases[] = {
        {"ends=lifo", "C", "A"},       {"ends=fifo", "A", "B"},           {"ends=reverse", "A", "C"},
        {"ends=- queue=deque", "A", "B"}, {"ends=- queue=locked", "A", "C"},
        {"ends=- queue=trylock", "A", "C"}, {"ends=lifo queue=locked", "C", "A"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kit k;
        kit_run_list(&k, "A 0 0 1\nB 0 0 1\nC 0 0 1\n", cases[i].pairs);
        CHECK_EQ(kit_worker(&k, cases[i].own), 0);
        CHECK_EQ(kit_began(&k, cases[i].own), 0);
        CHECK_MSG(kit_worker(&k, cases[i].stolen) == 1, "%s", cases[i].pairs);
        kit_end(&k);
    }
}

static void a_thief_takes_what_steal_says(void)
{
    static const struct {
        const char *pairs;
        uint64_t stolen; /* of 9 that are left when the thief looks */
    } cases[] = {
        {"steal=one", 1},  {"steal=half", 5},  {"steal=quarter", 3}, {"steal=three", 7}, {"steal=all", 9},
        {"steal=floor", 4}, {"steal=0.3", 3}, {"steal=0.001", 1},   {"steal=1.0", 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kit k;
        kit_run(&k, "arrive=start tasks=10 place=0 workers=2 until=0.5", cases[i].pairs);
        CHECK_MSG(k.r.sum.stolen == cases[i].stolen, "%s: %ju", cases[i].pairs, (uintmax_t)k.r.sum.stolen);
        CHECK_EQ(k.r.sum.steals, 1);
        CHECK_EQ(k.r.worker[0].queue, 9 - cases[i].stolen);
        CHECK_EQ(k.r.worker[1].queue, cases[i].stolen - 1);
        kit_end(&k);
    }
}

static void half_leaves_a_single_task_to_nobody_and_floor_leaves_it_to_its_owner(void)
{
    struct kit k;
    kit_run_list(&k, STOLEN, "workers=2 steal=floor");
    CHECK_EQ(k.r.makespan, 2000 * MS);
    CHECK_EQ(k.r.sum.stolen, 0);
    CHECK(k.r.sum.failed > 10);
    kit_end(&k);
}

/* ---- locks -------------------------------------------------------------------------------- */

#define THREE "A 0 0 1\nB 0 0 1\nC 0 0 1\n"

static void check_begins(const char *list, const char *pairs, const int ms[3])
{
    struct kit k;
    static const char *const name[] = {"A", "B", "C"};
    kit_run_list(&k, list, pairs);
    sim_time sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += kit_began(&k, name[i]);
        const struct sim_record *e = NULL;
        for (size_t n = 0; n < k.r.records; n++)
            if (k.r.record[n].kind == SIM_EXECUTING && k.r.record[n].worker == i)
                e = e ? e : &k.r.record[n];
        CHECK_MSG(e && e->at == ms[i] * MS, "%s: worker %d began at %jd ns, not at %d ms", pairs, i,
                  e ? (intmax_t)e->at : -1, ms[i]);
    }
    CHECK_EQ(sum, (ms[0] + ms[1] + ms[2]) * MS);
    kit_end(&k);
}

static void a_lock_is_given_first_come_first_served(void)
{
    check_begins(THREE, "workers=3 queue=locked lock=10ms", (const int[]){10, 20, 30});
    check_begins(THREE, "workers=3 queue=shared lock=10ms", (const int[]){10, 20, 30});
    check_begins(THREE, "workers=3 queue=locked lock=10ms own_end=on ends=lifo", (const int[]){10, 10, 20});
}

static void a_thief_skips_a_lock_that_is_held(void)
{
    check_begins(THREE, "workers=3 queue=trylock lock=10ms", (const int[]){10, 110, 210});
    struct kit k;
    kit_run_list(&k, THREE, "workers=3 queue=trylock lock=10ms until=0.05");
    CHECK_EQ(k.r.sum.contended, 2);
    CHECK_EQ(k.r.sum.failed, 4); /* each of two thieves also looked at the other's queue */
    CHECK_EQ(k.r.sum.steals, 0);
    kit_end(&k);
    kit_run_list(&k, THREE, "workers=3 queue=locked lock=10ms until=0.05");
    CHECK_EQ(k.r.sum.contended, 2); /* they waited */
    CHECK_EQ(k.r.sum.steals, 2);
    kit_end(&k);
}

/* Worker 0 holds its lock from 0.61 to 0.62 s; worker 2 looks at 0.615 s, at worker 0 first. */
static void a_thief_that_skipped_goes_on_to_the_next_victim(void)
{
    struct kit k;
    kit_run_list(&k, "P 0 0 0.6\nX 0 1 2\nA 0.5 0 1\nB 0.5 0 1\nC 0.5 1 1\n",
                 "workers=3 victim=order queue=trylock lock=10ms wait=0.615 until=0.7");
    CHECK_EQ(kit_worker(&k, "C"), 2);
    CHECK_EQ(kit_began(&k, "C"), 625 * MS);
    CHECK_EQ(kit_began(&k, "B"), 620 * MS);
    CHECK_EQ(k.r.sum.contended, 2 + 1);
    kit_end(&k);
}

static void a_lock_bounds_the_throughput_of_one_queue(void)
{
    struct kit k;
    kit_run(&k, "load=closed tasks=64 duration=0.01 place=global",
            "workers=64 queue=shared lock=1ms until=10");
    CHECK_EQ(k.r.how, SIM_TIME_UP);
    CHECK(k.r.completed > 4950 && k.r.completed < 5050); /* two operations a task, after the first 64 */
    kit_end(&k);
}

/* ---- groups, queues ----------------------------------------------------------------------- */

static void near_keeps_searches_in_the_own_group(void)
{
    struct kit k;
    const char *load = "arrive=start tasks=8 place=0 workers=4 group=2 victim=random";
    kit_run(&k, load, "near=1");
    CHECK_EQ(k.r.makespan, 4000 * MS);
    CHECK_EQ(k.r.worker[2].executed + k.r.worker[3].executed, 0);
    kit_end(&k);
    kit_run(&k, load, "near=0");
    CHECK_EQ(k.r.makespan, 2000 * MS);
    kit_end(&k);
    uint64_t far = 0, all = 0;
    for (int seed = 1; seed <= 40; seed++) {
        char pairs[80];
        snprintf(pairs, sizeof pairs, "near=0.75 seed=%d until=4", seed);
        kit_run(&k, load, pairs);
        for (size_t i = 0; i < k.r.records; i++)
            if (k.r.record[i].kind == SIM_STOLE) {
                far += k.r.record[i].worker / 2 != k.r.record[i].other / 2;
                all++;
            }
        kit_end(&k);
    }
    CHECK(far > 0 && far < all);
}

static void a_full_ring_moves_its_older_half_to_the_pool(void)
{
    struct kit k;
    kit_run_list(&k, "A 0 0 1\nB 0 0 1\nC 0 0 1\nD 0 0 1\nE 0 0 1\n", "workers=1 ring=4");
    CHECK_EQ(k.r.overflowed, 2);
    CHECK_EQ(k.r.initial[0], 3);
    CHECK_EQ(k.r.initial[1], 2);
    CHECK_EQ(kit_began(&k, "E"), 0);
    CHECK_EQ(kit_began(&k, "D"), 1000 * MS);
    CHECK_EQ(kit_began(&k, "C"), 2000 * MS);
    CHECK_EQ(kit_began(&k, "A"), 3000 * MS); /* of the pool's queue the oldest comes first */
    CHECK_EQ(kit_began(&k, "B"), 4000 * MS);
    CHECK_EQ(k.r.worker[0].longest, 4);
    kit_end(&k);
}

static void the_pools_queue_comes_first_every_so_many_picks(void)
{
    static const struct {
        const char *pairs;
        uint64_t at; /* seconds at which the pool's first task begins; tasks take 1 s */
    } cases[] = {{"global_every=0", 6}, {"global_every=3", 2}, {"global_every=1", 0}, {"global_every=6", 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kit k;
        kit_run(&k, "arrive=bursts burst=0:0:6,0:global:2 duration=1 workers=1", cases[i].pairs);
        CHECK_MSG(kit_began(&k, "T7") == (sim_time)cases[i].at * SIM_SECOND, "%s: %jd", cases[i].pairs,
                  (intmax_t)kit_began(&k, "T7"));
        kit_end(&k);
    }
}

static void run_next_runs_the_newest_child_first(void)
{
    struct kit k;
    const char *list = "A 0 0 2\nC - - 1 A\nD - - 1 A\nX 0.5 0 1\n";
    kit_run_list(&k, list, "workers=1 ends=fifo");
    CHECK_EQ(kit_began(&k, "X"), 2000 * MS);
    CHECK_EQ(kit_began(&k, "D"), 4000 * MS);
    kit_end(&k);
    kit_run_list(&k, list, "workers=1 ends=fifo run_next=on");
    CHECK_EQ(kit_began(&k, "D"), 2000 * MS);
    CHECK_EQ(kit_began(&k, "X"), 3000 * MS);
    CHECK_EQ(kit_began(&k, "C"), 4000 * MS);
    kit_end(&k);
}

/* A forks C at 1 s. Worker 1 looks 999 ns later, or 1,000. */
static void thieves_leave_what_runs_next_alone_for_a_while(void)
{
    struct kit k;
    const char *list = "A 0 0 2\nC - - 1 A\n";
    kit_run_list(&k, list, "workers=2 run_next=on wait=1000000999ns");
    CHECK_EQ(kit_worker(&k, "C"), 0);
    kit_end(&k);
    kit_run_list(&k, list, "workers=2 run_next=on wait=1000001000ns");
    CHECK_EQ(kit_worker(&k, "C"), 1);
    CHECK_EQ(kit_began(&k, "C"), 1000001000);
    kit_end(&k);
}

static void a_task_migrates_that_begins_away_from_its_queue(void)
{
    struct kit k;
    kit_run_list(&k, STOLEN, "workers=2");
    CHECK_EQ(k.r.migrated, 1);
    kit_end(&k);
    kit_run(&k, "arrive=start tasks=8 place=global workers=4 migrate=1", "");
    CHECK_EQ(k.r.migrated, 0); /* the pool's queue is nobody's */
    CHECK_EQ(k.r.makespan, 2000 * MS);
    kit_end(&k);
}

/* ---- loads -------------------------------------------------------------------------------- */

static void lines_of_a_file_begin_at_their_times_and_after_others(void)
{
    struct kit k;
    kit_run_list(&k, "D - 1 2 after=A,B\nB 1 0 1\nA 0 0 0.5\n", "workers=2 idle=park wake=target");
    CHECK_EQ(kit_began(&k, "A"), 0);
    CHECK_EQ(kit_began(&k, "B"), 1000 * MS);
    CHECK_EQ(kit_began(&k, "D"), 2000 * MS);
    CHECK_EQ(kit_record(&k, SIM_SUBMITTED, "D", 0)->worker, 1);
    kit_end(&k);
}

static void check_submissions(const char *pairs, const int *ms)
{
    struct kit k;
    kit_run(&k, "duration=0.1 idle=park", pairs);
    for (int n = 0; ms[n] >= 0; n++) {
        char name[16];
        snprintf(name, sizeof name, "T%d", n + 1);
        const struct sim_record *e = kit_record(&k, SIM_SUBMITTED, name, 0);
        CHECK_MSG(e && e->at == ms[n] * MS, "%s: %s at %jd ns", pairs, name, e ? (intmax_t)e->at : -1);
    }
    kit_end(&k);
}

static void tasks_arrive_when_arrive_says(void)
{
    check_submissions("arrive=start tasks=3", (const int[]){0, 0, 0, -1});
    check_submissions("arrive=gaps gap=0.4 tasks=4", (const int[]){0, 400, 800, 1200, -1});
    check_submissions("arrive=gaps gap=0.4 tasks=3 first=later", (const int[]){400, 800, 1200, -1});
    check_submissions("arrive=onoff gap=0.4 on=1 off=1 tasks=6",
                      (const int[]){0, 400, 800, 2000, 2400, 2800, -1});
    check_submissions("arrive=bursts burst=0:0:1,0.5:1:2,0.5:global:1", (const int[]){0, 500, 500, 500, -1});
}

static void tasks_arrive_where_place_says(void)
{
    static const struct {
        const char *place;
        uint64_t queue[4]; /* the last is the pool's */
    } cases[] = {{"2", {0, 0, 6, 0}}, {"roundrobin", {2, 2, 2, 0}}, {"global", {0, 0, 0, 6}}};
    for (int i = 0; i < 3; i++) {
        struct kit k;
        char pairs[80];
        snprintf(pairs, sizeof pairs, "arrive=start tasks=6 workers=3 place=%s", cases[i].place);
        kit_run(&k, pairs, "");
        for (int w = 0; w < 4; w++)
            CHECK_EQ(k.r.initial[w], cases[i].queue[w]);
        kit_end(&k);
    }
}

/* What a worker is to begin later is recorded at once, what arrives then is recorded then: in its place,
 * after it. */
static void records_of_one_instant_keep_their_order(void)
{
    struct kit k;
    size_t begun = 0, arrived = 0;
    kit_run_list(&k, "A 0 0 1\nB 0.001 0 1\n", "workers=2 pop=1ms queue=private");
    for (size_t i = 0; i < k.r.records; i++) {
        const struct sim_record *e = &k.r.record[i];
        if (e->kind == SIM_EXECUTING && e->at == MS && !begun)
            begun = i;
        if (e->kind == SIM_SUBMITTED && e->at == MS)
            arrived = i;
    }
    CHECK(begun > 0 && arrived > begun);
    kit_end(&k);
}

int main(void)
{
    RUN(every_cost_is_paid_exactly_where_it_belongs);
    RUN(a_fork_pays_for_each_child_in_a_queue_and_for_the_join);
    RUN(what_ends_is_seen_by_a_look_in_its_instant);
    RUN(what_arrives_is_not_seen_by_a_look_in_its_instant);
    RUN(in_one_instant_workers_are_in_the_order_of_their_numbers);
    RUN(ends_of_one_instant_are_in_the_order_of_their_workers);
    RUN(records_are_in_the_order_of_time);
    RUN(each_end_is_the_one_that_ends_says);
    RUN(a_thief_takes_what_steal_says);
    RUN(half_leaves_a_single_task_to_nobody_and_floor_leaves_it_to_its_owner);
    RUN(a_lock_is_given_first_come_first_served);
    RUN(a_thief_skips_a_lock_that_is_held);
    RUN(a_thief_that_skipped_goes_on_to_the_next_victim);
    RUN(a_lock_bounds_the_throughput_of_one_queue);
    RUN(near_keeps_searches_in_the_own_group);
    RUN(a_full_ring_moves_its_older_half_to_the_pool);
    RUN(the_pools_queue_comes_first_every_so_many_picks);
    RUN(run_next_runs_the_newest_child_first);
    RUN(thieves_leave_what_runs_next_alone_for_a_while);
    RUN(a_task_migrates_that_begins_away_from_its_queue);
    RUN(lines_of_a_file_begin_at_their_times_and_after_others);
    RUN(tasks_arrive_when_arrive_says);
    RUN(tasks_arrive_where_place_says);
    RUN(records_of_one_instant_keep_their_order);
    return check_report();
}
