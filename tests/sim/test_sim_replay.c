/* test_sim_replay.c: the two logs that document 003 prints come out of the placements and durations that they
 * show. Which victim a thief takes is then no matter of luck: in one log thieves try the longest queue first,
 * in the other never more than one queue has a task. So every seed must give the log. */
#include "pairs_kit.h"
#include "sim.h"

enum { LINES = 64, LINE = 120 };

#ifdef SIM_SHORT
enum { SEEDS = 10 };
#else
enum { SEEDS = 100 };
#endif

struct log {
    int n;
    char line[LINES][LINE];
};

static void read_log(struct log *log, const char *path)
{
    FILE *f = fopen(path, "r");
    CHECK_MSG(f != NULL, "%s cannot be read", path);
    for (log->n = 0; log->n < LINES && fgets(log->line[log->n], LINE, f); log->n++)
        log->line[log->n][strcspn(log->line[log->n], "\n")] = '\0';
    fclose(f);
    CHECK(log->n > 15 && log->n < LINES);
}

static struct sim_result run_tasks(const char *tasks, const char *pairs, int seed)
{
    static struct setup_run run; /* names of tasks are in its list */
    setup_free(&run);
    make_pairs(&run, "load=listed list=%s workers=4 seed=%d %s", tasks, seed, pairs);
    run.config.record = true;
    return run_made(&run);
}

/* The next record from `i` on that has a line in this style; its place. */
static size_t next_line(const struct sim_result *r, size_t i, enum sim_log style, int skip_submitted,
                        char *line)
{
    for (; i < r->records; i++) {
        *line = '\0';
        if (!skip_submitted || r->record[i].kind != SIM_SUBMITTED)
            sim_log_line(r, &r->record[i], style, line, LINE);
        if (*line)
            break;
    }
    CHECK_MSG(i < r->records, "the run has fewer lines than the document");
    return i;
}

static void check_adaptive(const struct log *log, int seed)
{
    struct sim_result r = run_tasks(DOCUMENT "adaptive.tasks", "victim=largest", seed);
    char line[LINE];
    CHECK_STR(log->line[0], "Initial load distribution:");
    for (uint32_t i = 0; i < 4; i++) {
        snprintf(line, sizeof line, "Worker %u: %ju tasks", i, (uintmax_t)r.initial[i]);
        CHECK_STR(line, log->line[1 + i]);
    }
    size_t at = 0;
    for (int i = 5; i < log->n; i++, at++) {
        at = next_line(&r, at, SIM_LOG_ADAPTIVE, 1, line);
        CHECK_STR(line, log->line[i]);
    }
    sim_result_free(&r);
}

static void the_adaptive_log_comes_out_line_by_line_with_every_seed(void)
{
    static struct log log;
    read_log(&log, DOCUMENT "adaptive.log");
    for (int seed = 1; seed <= SEEDS; seed++)
        check_adaptive(&log, seed);
}

/* Time in tenths of a second, and what follows it. */
static const char *split_line(const char *line, int *tenths)
{
    int whole, part, n = 0;
    CHECK_EQ(sscanf(line, "[%d.%d] %n", &whole, &part, &n), 2);
    CHECK(n > 0);
    *tenths = 10 * whole + part;
    return line + n;
}

static void check_arrivals(const struct log *log, int seed)
{
    struct sim_result r = run_tasks(DOCUMENT "arrivals.tasks", "victim=shuffle", seed);
    char line[LINE];
    size_t at = 0;
    for (int i = 0; i < log->n; i++, at++) {
        int here, there;
        at = next_line(&r, at, SIM_LOG_SPAWNING, 0, line);
        CHECK_STR(split_line(line, &here), split_line(log->line[i], &there));
        sim_time off = r.record[at].at - there * (SIM_SECOND / 10), poll = SIM_SECOND / 10;
        CHECK_MSG(off >= -poll && off <= poll, "\"%s\" is more than a poll from \"%s\"", line, log->line[i]);
    }
    for (; at < r.records; at++) {
        sim_log_line(&r, &r.record[at], SIM_LOG_SPAWNING, line, sizeof line);
        CHECK_STR(line, ""); /* the document's log is that of the whole run */
    }
    CHECK_EQ(r.how, SIM_DONE);
    sim_result_free(&r);
}

static void the_log_with_arrivals_comes_out_in_order_within_a_poll_with_every_seed(void)
{
    static struct log log;
    read_log(&log, DOCUMENT "arrivals.log");
    for (int seed = 1; seed <= SEEDS; seed++)
        check_arrivals(&log, seed);
}

/* The document's T1 is submitted at 0.0 and begins at 0.1: all workers have looked before. */
static void a_look_precedes_an_arrival_of_its_instant(void)
{
    static struct setup_run run;
    make_pairs(&run, "workers=4 arrive=gaps gap=0.5 first=now tasks=5 duration=0.3");
    run.config.record = true;
    struct sim_result r = run_made(&run);
    int begun = 0;
    for (size_t i = 0; i < r.records; i++) {
        if (r.record[i].kind != SIM_EXECUTING)
            continue;
        CHECK_EQ(r.record[i].at, begun * (SIM_SECOND / 2) + SIM_SECOND / 10);
        begun++;
    }
    CHECK_EQ(begun, 5);
    sim_result_free(&r);
    setup_free(&run);
}

int main(void)
{
    RUN(the_adaptive_log_comes_out_line_by_line_with_every_seed);
    RUN(the_log_with_arrivals_comes_out_in_order_within_a_poll_with_every_seed);
    RUN(a_look_precedes_an_arrival_of_its_instant);
    return check_report();
}
