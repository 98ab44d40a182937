/* test_sim_parking.c: workers that park, and tasks that arrive at random ones.
 * usage: test_sim_parking [WORKERS TASKS]: that run alone, which must take less than 10 s of a processor and
 * less than 2 GiB. */
#include "pairs_kit.h"

#include <sys/resource.h>
#include <time.h>

#ifdef SIM_SHORT
enum { WORKERS = 200, TASKS = 20000, SLEEPERS = 2000, SECONDS_MOST = 1000 };
#else
enum { WORKERS = 1000, TASKS = 200000, SLEEPERS = 5000, SECONDS_MOST = 10 };
#endif

#define TASK_NS 1000000

/* One random victim per search, two searches, 80 % of what the workers can do. */
static struct sim_result run_parking(uint32_t workers, uint32_t tasks, const char *wake, bool record)
{
    struct setup_run run;
    make_pairs(&run, "workers=%u tasks=%u arrive=gaps gap=exp:%.0fns duration=exp:%dns victim=one spin=2 "
               "idle=park wake=%s", workers, tasks, TASK_NS / 0.8 / workers, TASK_NS, wake);
    run.config.record = record;
    struct sim_result r = run_made(&run);
    setup_free(&run);
    CHECK_EQ(r.submitted, tasks);
    CHECK_EQ(r.sum.executed, r.completed); /* no task was running when the run ended */
    CHECK_EQ(r.submitted - r.completed, r.sum.queue);
    return r;
}

static void check_all_accounted(const struct sim_result *r, uint32_t tasks)
{
    CHECK_EQ(r->how, SIM_DONE);
    CHECK_EQ(r->completed, tasks);
    CHECK_EQ(r->stuck_count, 0);
    CHECK_EQ(r->sojourn.n, tasks);
    double work = sim_time_seconds(r->sum.busy), right = tasks * (TASK_NS / 1e9);
    CHECK_MSG(work > 0.98 * right && work < 1.02 * right, "%.3f s of work, expected %.3f s", work, right);
    CHECK(r->sum.parks >= r->sum.wakes && r->sum.parks - r->sum.wakes <= r->workers);
    double all = sim_time_seconds(r->end) * r->workers;
    double spent = sim_time_seconds(r->sum.busy) + sim_time_seconds(r->sum.parked);
    CHECK_MSG(spent > 0.9999 * all && spent < 1.0001 * all, "%.6f s of %.6f s", spent, all);
}

static void every_task_is_executed_if_it_wakes_its_target(void)
{
    struct sim_result r = run_parking(WORKERS, TASKS, "target", false);
    check_all_accounted(&r, TASKS);
    CHECK(r.sum.stolen > TASKS / 10); /* from busy workers */
    sim_result_free(&r);
}

/* Two looks in vain before each sleep. */
static void a_worker_looks_twice_before_it_parks(void)
{
    struct sim_result r = run_parking(WORKERS, TASKS, "target", false);
    CHECK_EQ(r.sum.attempts, r.sum.searches); /* one victim per search */
    CHECK_MSG(r.sum.vain >= 2 * r.sum.parks && r.sum.vain <= 2 * r.sum.parks + r.sum.steals,
              "%ju searches in vain, %ju sleeps", (uintmax_t)r.sum.vain, (uintmax_t)r.sum.parks);
    sim_result_free(&r);
}

/* From the records: the worker at which a task arrives does not stay asleep. */
static void no_task_arrives_at_a_worker_that_sleeps_on(void)
{
    enum { SOME = 100 };
    struct sim_result r = run_parking(SOME, 20 * SOME, "target", true);
    bool parked[SOME] = {false};
    uint64_t arrived_asleep = 0;
    for (size_t i = 0; i < r.records; i++) {
        const struct sim_record *e = &r.record[i];
        if (e->kind == SIM_PARKED || e->kind == SIM_WOKEN)
            parked[e->worker] = e->kind == SIM_PARKED;
        if (e->kind != SIM_SUBMITTED || !parked[e->worker])
            continue;
        arrived_asleep++;
        CHECK(i + 1 < r.records && r.record[i + 1].kind == SIM_WOKEN && r.record[i + 1].at == e->at);
        CHECK_EQ(r.record[i + 1].worker, e->worker);
    }
    CHECK(!r.records_cut && arrived_asleep > SOME);
    sim_result_free(&r);
}

/* The tasks that were submitted and not executed, by the records: owner[task] is the worker, else -1. */
static size_t never_executed(const struct sim_result *r, int32_t *owner)
{
    size_t n = 0;
    for (size_t t = 0; t < r->tasks; t++)
        owner[t] = -1;
    for (size_t i = 0; i < r->records; i++) {
        const struct sim_record *e = &r->record[i];
        if (e->kind == SIM_SUBMITTED || e->kind == SIM_EXECUTING) {
            owner[e->task] = e->kind == SIM_SUBMITTED ? e->worker : -1;
            n = e->kind == SIM_SUBMITTED ? n + 1 : n - 1;
        }
    }
    return n;
}

static void check_stuck(const struct sim_result *r, const int32_t *owner)
{
    uint64_t *shown = calloc(r->workers, sizeof *shown);
    for (size_t k = 0; k < r->stuck_shown; k++) {
        const struct sim_stuck *s = &r->stuck[k];
        char name[40], expected[40];
        CHECK(s->queued && s->worker >= 0 && s->task < r->tasks);
        CHECK_EQ(owner[s->task], s->worker);
        sim_task_name(r, s->task, name, sizeof name);
        snprintf(expected, sizeof expected, "T%u", r->name[s->task].number);
        CHECK_STR(name, expected);
        CHECK(++shown[s->worker] <= r->worker[s->worker].queue);
    }
    free(shown);
}

static void a_random_sleeper_leaves_tasks_behind_and_they_are_named(const char *wake)
{
    struct sim_result r = run_parking(SLEEPERS, 10 * SLEEPERS, wake, true);
    int32_t *owner = malloc((r.tasks + 1) * sizeof *owner);
    CHECK_EQ(r.how, SIM_STRANDED);
    CHECK(!r.records_cut && r.stuck_count > 0 && r.stuck_shown > 0);
    CHECK_EQ(never_executed(&r, owner), r.stuck_count);
    CHECK_EQ(r.stuck_count, r.sum.queue);
    check_stuck(&r, owner);
    CHECK_EQ(r.sum.parks, r.sum.wakes + SLEEPERS); /* all sleep */
    free(owner);
    sim_result_free(&r);
}

static void wake_random_leaves_tasks_behind_and_they_are_named(void)
{
    a_random_sleeper_leaves_tasks_behind_and_they_are_named("random");
}

static void wake_one_leaves_tasks_behind_and_they_are_named(void)
{
    a_random_sleeper_leaves_tasks_behind_and_they_are_named("one");
}

/* The names are right where places of tasks are used again: without records. */
static void names_of_tasks_left_behind_do_not_depend_on_records(void)
{
    struct sim_result with = run_parking(SLEEPERS, 10 * SLEEPERS, "random", true);
    struct sim_result without = run_parking(SLEEPERS, 10 * SLEEPERS, "random", false);
    CHECK_EQ(with.stuck_count, without.stuck_count);
    CHECK(without.tasks < with.tasks);
    for (size_t k = 0; k < with.stuck_shown; k++) {
        char a[40], b[40];
        sim_task_name(&with, with.stuck[k].task, a, sizeof a);
        sim_task_name(&without, without.stuck[k].task, b, sizeof b);
        CHECK_STR(a, b);
        CHECK_EQ(with.stuck[k].worker, without.stuck[k].worker);
    }
    sim_result_free(&with);
    sim_result_free(&without);
}

/* Of the processor: the program has one thread, and may share the machine. */
static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int large(uint32_t workers, uint32_t tasks)
{
    struct rusage used;
    check_running = "large";
    double begun = now_s();
    struct sim_result r = run_parking(workers, tasks, "target", false);
    double took = now_s() - begun;
    getrusage(RUSAGE_SELF, &used);
    check_all_accounted(&r, tasks);
    printf("%u workers, %u tasks: %ju events in %.2f s, %ld MiB\n", workers, tasks, (uintmax_t)r.events, took,
           used.ru_maxrss / 1024);
    CHECK_MSG(took < SECONDS_MOST, "it took %.2f s", took);
    CHECK_MSG(used.ru_maxrss < 2 << 20, "%ld KiB of memory", used.ru_maxrss);
    sim_result_free(&r);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return large((uint32_t)strtoul(argv[1], NULL, 10), (uint32_t)strtoul(argv[2], NULL, 10));
    RUN(every_task_is_executed_if_it_wakes_its_target);
    RUN(a_worker_looks_twice_before_it_parks);
    RUN(no_task_arrives_at_a_worker_that_sleeps_on);
    RUN(wake_random_leaves_tasks_behind_and_they_are_named);
    RUN(wake_one_leaves_tasks_behind_and_they_are_named);
    RUN(names_of_tasks_left_behind_do_not_depend_on_records);
    return check_report();
}
