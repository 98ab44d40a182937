/* test_sim_central.c: one locked queue against the machine-repair formula, and deques beside it.
 *
 * A closed system: each task that ends puts its successor into a queue under its lock, and the worker takes
 * the next one under a lock, too. Times are exponential. */
#include "pairs_kit.h"
#include "sim/theory.h"

#ifdef SIM_SHORT
enum { TASKS = 40000, RATIOS = 1 };
#else
enum { TASKS = 100000, RATIOS = 3 };
#endif

#define EXECUTION_NS 20000.0

/* What is completed between the end of the warm-up and `end_ns`, per time of a task. */
static double steady_rate(uint32_t workers, const char *queue, int lock_ns, double warm_ns, double end_ns)
{
    double completed[2], at[2] = {warm_ns, end_ns};
    for (int i = 0; i < 2; i++) {
        struct setup_run run;
        make_pairs(&run, "load=closed workers=%u tasks=%u duration=exp:20us queue=%s lock=exp:%dns "
                   "probe=%dns victim=random idle=yield until=%.0fns", workers, 2 * workers, queue, lock_ns,
                   lock_ns, at[i]);
        struct sim_result r = run_made(&run);
        CHECK_EQ(r.how, SIM_TIME_UP);
        completed[i] = (double)r.completed;
        sim_result_free(&r);
        setup_free(&run);
    }
    return (completed[1] - completed[0]) / (end_ns - warm_ns) * EXECUTION_NS;
}

static void throughput_is_that_of_machine_repair_at_half_once_and_twice_the_knee(void)
{
    static const int lock_ns[] = {100, 400, 25};
    for (int i = 0; i < RATIOS; i++) {
        double knee = theory_knee(EXECUTION_NS, 2 * lock_ns[i]);
        for (double part = 0.5; part <= 2; part *= 2) {
            uint32_t workers = (uint32_t)(part * knee + 0.5);
            double rate = theory_closed(workers, EXECUTION_NS, 2 * lock_ns[i]).throughput; /* per ns */
            double warm = 10 * workers / rate, formula = rate * EXECUTION_NS;
            double seen = steady_rate(workers, "shared", lock_ns[i], warm, warm + TASKS / rate);
            CHECK_MSG(seen > 0.98 * formula && seen < 1.02 * formula,
                      "lock %d ns, %u workers: %.3f tasks per task time, formula %.3f", lock_ns[i], workers,
                      seen, formula);
        }
    }
}

/* Beyond the knee more workers bring nothing. */
static void one_queue_passes_no_more_than_its_lock(void)
{
    double seen = steady_rate(1024, "shared", 100, 2.5e6, 2.5e6 + TASKS * 200.0);
    CHECK_MSG(seen > 99 && seen < 101, "%.2f tasks per task time", seen);
}

static void deques_keep_95_percent_of_1024_workers_busy(void)
{
    double seen = steady_rate(1024, "locked", 100, 30 * EXECUTION_NS, 30 * EXECUTION_NS + TASKS * 20.0);
    CHECK_MSG(seen >= 0.95 * 1024 && seen <= 1024, "%.1f tasks per task time", seen);
}

int main(void)
{
    RUN(throughput_is_that_of_machine_repair_at_half_once_and_twice_the_knee);
    RUN(one_queue_passes_no_more_than_its_lock);
    RUN(deques_keep_95_percent_of_1024_workers_busy);
    return check_report();
}
