/* sim_spawning.c: tasks that spawn children and go on. Document 003 says that this helps to balance the load:
 * judged against the same tasks with the children's work inside their parents. */
#include "cli.h"
#include "sim.h"
#include <inttypes.h>

static const enum metric shown[] = {METRIC_IMBALANCE, METRIC_MAKESPAN, METRIC_IDLE};

/* Both ways, with so many tasks, each until all is done: out[0] without children, out[1] with them. */
static int run_both(struct sim_job *job, uint64_t tasks, struct replications out[2])
{
    static const char *const mode[] = {"on", "off"};
    struct setup_run run[2];
    const struct setup_run *const runs[] = {&run[0], &run[1]};
    int rc = CLI_OK, made = 0;
    while (made < 2 && rc == CLI_OK) {
        const char *pairs = findings_format(job->findings, "inline=%s until=never tasks=%" PRIu64, mode[made],
                                            tasks);
        rc = sim_make(job, pairs, 1, &run[made]);
        made += rc == CLI_OK;
    }
    if (rc == CLI_OK)
        rc = sim_many(job, runs, 2, METRIC_MAKESPAN, out);
    while (made-- > 0)
        setup_free(&run[made]);
    return rc;
}

static const char *effect(const struct paired_result *p, const char *better, const char *worse)
{
    if (p->verdict == ESTIMATE_NO_DIFFERENCE)
        return "no difference seen";
    return p->verdict == ESTIMATE_BETTER ? better : worse;
}

static void answer(struct sim_job *job, const struct replications runs[2])
{
    struct paired_result balance = sim_judge(&runs[0], &runs[1], METRIC_IMBALANCE);
    struct paired_result time = sim_judge(&runs[0], &runs[1], METRIC_MAKESPAN);
    findings_answer(job->findings,
                    "\"Spawning helps balance the load\" is %s by %" PRIu64 " paired runs: the busiest "
                    "worker is %.1f %% above the mean if tasks spawn children, %.1f %% if they do their "
                    "children's work themselves (%s: %s points). Makespan: %s (%s s, %+.1f %%).",
                    balance.verdict == ESTIMATE_BETTER ? "confirmed" : "not confirmed", runs[0].n,
                    replications_summary(&runs[1], METRIC_IMBALANCE).mean,
                    replications_summary(&runs[0], METRIC_IMBALANCE).mean,
                    effect(&balance, "better", "worse"), sim_difference(job, &balance, 1),
                    effect(&time, "shorter", "longer"), sim_difference(job, &time, 3), 100 * time.relative);
}

static void curve_add(struct sim_curve *c, uint64_t tasks, const struct replications runs[2])
{
    for (size_t k = 0; k < 2; k++) {
        struct summary s = replications_summary(&runs[k], METRIC_IMBALANCE);
        sim_curve_add(c, k, (double)tasks, &s);
    }
}

static void free_both(struct replications runs[2])
{
    replications_free(&runs[0]);
    replications_free(&runs[1]);
}

/* Up to 16 times as many tasks as were asked for. */
static int show_more(struct sim_job *job, uint64_t tasks, const struct replications asked[2])
{
    struct sim_curve *c = sim_curve_new(job);
    struct replications runs[2];
    int rc = CLI_OK;
    c->name[0] = "children's work in the parent";
    c->name[1] = "children spawned";
    curve_add(c, tasks, asked);
    for (unsigned doubled = 1; doubled <= 4 && rc == CLI_OK; doubled++) {
        rc = run_both(job, tasks << doubled, runs);
        if (rc != CLI_OK)
            return rc;
        curve_add(c, tasks << doubled, runs);
        free_both(runs);
    }
    sim_curve_show(job, c, (struct plot){.title = "By how much the busiest worker is above the mean",
                                         .x_label = "submitted tasks", .y_label = "%", .log_x = 2,
                                         .from_zero = 1});
    return CLI_OK;
}

static int judge(struct sim_job *job, uint64_t tasks)
{
    struct replications asked[2];
    int rc = run_both(job, tasks, asked);
    if (rc != CLI_OK)
        return rc;
    struct table *t = findings_table(job->findings, "Until all is done",
                                     "load|figure|work in parents|children spawned|difference|spawned is");
    sim_pair_rows(t, findings_format(job->findings, "%" PRIu64 " tasks", tasks), &asked[0], &asked[1], shown,
                  sizeof shown / sizeof *shown);
    rc = show_more(job, tasks, asked);
    if (rc == CLI_OK)
        answer(job, asked);
    free_both(asked);
    return rc;
}

int sim_run_spawning(struct sim_job *job)
{
    struct setup_run run;
    struct sim_result r;
    int rc = sim_refuse_given(job, "inline");
    if (rc == CLI_OK)
        rc = sim_make(job, NULL, 0, &run);
    if (rc != CLI_OK)
        return rc;
    uint64_t tasks = run.load.arrivals.count;
    rc = sim_show_once(job, &run, job->scenario->summary, 0, &r);
    setup_free(&run);
    if (rc != CLI_OK)
        return rc;
    sim_result_free(&r);
    return judge(job, tasks);
}
