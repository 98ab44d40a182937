/* test_sim_ends.c: the ends of a deque from which owner and thief take: how often they meet at its locks, and
 * how often thieves have to come. */
#include "pairs_kit.h"

#ifdef SIM_SHORT
enum { TASKS = 2000 };
#else
enum { TASKS = 20000 };
#endif

#define COSTS "queue=locked lock=50ns victim=one idle=yield probe=50ns failed=50ns steal_near=100ns"

static struct sim_worker_result run_ends(const char *load, const char *ends, const char *own_end)
{
    struct setup_run run;
    make_pairs(&run, "%s " COSTS " ends=%s own_end=%s", load, ends, own_end);
    struct sim_result r = run_made(&run);
    struct sim_worker_result sum = r.sum;
    CHECK_EQ(r.how, SIM_DONE);
    sim_result_free(&r);
    setup_free(&run);
    return sum;
}

/* The tasks lie in the queue of one of two workers: each wait for a lock is for the other worker. */
static uint64_t waits(const char *ends, const char *own_end)
{
    char load[120];
    snprintf(load, sizeof load, "place=0 workers=2 tasks=%d duration=exp:200ns", TASKS);
    struct sim_worker_result sum = run_ends(load, ends, own_end);
    CHECK_EQ(sum.executed, TASKS);
    CHECK(sum.stolen > TASKS / 4 && sum.stolen < TASKS / 2);
    return sum.contended;
}

static void at_opposite_ends_owner_and_thief_meet_only_at_the_last_task(void)
{
    CHECK(waits("lifo", "on") <= 2);
    CHECK(waits("reverse", "on") <= 2);
}

static void at_the_same_end_they_wait_for_each_other(void)
{
    CHECK(waits("fifo", "on") > TASKS / 10);
}

static void with_one_lock_for_both_ends_the_ends_make_no_difference(void)
{
    double same = (double)waits("fifo", "off");
    CHECK(same > TASKS / 10);
    double lifo = (double)waits("lifo", "off"), reverse = (double)waits("reverse", "off");
    CHECK(lifo > 0.8 * same && lifo < 1.2 * same);
    CHECK(reverse > 0.8 * same && reverse < 1.2 * same);
}

static struct sim_worker_result run_tree(const char *ends)
{
    return run_ends("load=tree workers=16 leaf=exp:1us tree=fib:18", ends, "on");
}

static void thieves_that_take_the_oldest_of_a_tree_come_rarely(void)
{
    struct sim_worker_result lifo = run_tree("lifo"), fifo = run_tree("fifo"), reverse = run_tree("reverse");
    CHECK_MSG(lifo.steals * 5 < fifo.steals && fifo.steals < reverse.steals,
              "steals: lifo %ju, fifo %ju, reverse %ju", (uintmax_t)lifo.steals, (uintmax_t)fifo.steals,
              (uintmax_t)reverse.steals);
    CHECK_MSG(lifo.contended * 5 < fifo.contended && lifo.contended * 5 < reverse.contended,
              "waits: lifo %ju, fifo %ju, reverse %ju", (uintmax_t)lifo.contended, (uintmax_t)fifo.contended,
              (uintmax_t)reverse.contended);
}

/* The newest first is depth first: a queue holds one task per level of the tree at most. */
static void an_owner_that_takes_the_newest_keeps_its_queue_short(void)
{
    CHECK(run_tree("lifo").longest <= 18);
    CHECK(run_tree("fifo").longest > 36);
    CHECK(run_tree("reverse").longest > 36);
}

int main(void)
{
    RUN(at_opposite_ends_owner_and_thief_meet_only_at_the_last_task);
    RUN(at_the_same_end_they_wait_for_each_other);
    RUN(with_one_lock_for_both_ends_the_ends_make_no_difference);
    RUN(thieves_that_take_the_oldest_of_a_tree_come_rarely);
    RUN(an_owner_that_takes_the_newest_keeps_its_queue_short);
    return check_report();
}
