/* sim_granularity.c: the same work in small and in large tasks: what an observer that looks now and then sees
 * of it, what is true, how far steals depend on the placement, and the best grain if each task has a cost. */
#include "cli.h"
#include "sim.h"
#include <inttypes.h>
#include <stdlib.h>

enum { GRAINS = 3, CURVE_REPS_MOST = 40 };

static const unsigned factor[GRAINS] = {1, 5, 20}; /* of the setup's duration */

/* What document 003 printed for 50 s of work on 4 workers: a draw. */
static const struct {
    double grain;
    unsigned stolen;
} document[] = {{0.1, 14}, {0.5, 13}, {2.0, 1}};

/* The setup: so many workers have so much work to do. */
struct task_sizes {
    uint64_t tasks;
    sim_time grain, look; /* look: 0 if there is no observer */
    uint32_t workers;
};

struct grain {
    double seconds, work;
    uint64_t tasks, reps;
    sim_time least, most;  /* makespans of the replications */
    double *stolen;        /* of the replications, ascending */
};

static const char *grain_text(struct sim_job *job, double seconds)
{
    double tenths = 10 * seconds;
    int whole = tenths < 1e6 && tenths == (double)(int)tenths;
    return findings_format(job->findings, whole ? "%.1fs" : "%gs", seconds);
}

static double efficiency(double work, sim_time wall, uint32_t workers)
{
    return wall > 0 ? 100 * work / sim_time_seconds(wall) / workers : 0;
}

static sim_time seen(const struct task_sizes *s, sim_time makespan)
{
    return s->look > 0 ? sim_look_after(makespan, s->look) : makespan;
}

/* All the work in `tasks` tasks. */
static int make_tasks(struct sim_job *job, const struct task_sizes *s, uint64_t tasks, const char *more,
                      struct setup_run *run)
{
    uint64_t work = s->tasks * (uint64_t)s->grain;
    return sim_make(job, findings_format(job->findings, "tasks=%" PRIu64 " duration=%" PRIu64 "ns %s", tasks,
                                         (work + tasks / 2) / tasks, more), 1, run);
}

/* ---- the runs of the document ------------------------------------------------------------- */

/* Its blocks, without a log. */
static int show_one(struct sim_job *job, const struct task_sizes *s, const struct grain *g,
                    const struct setup_run *run, int last)
{
    struct sim_result r;
    int rc = sim_once(job, run, 1, &r), quiet = job->options.quiet;
    if (rc != CLI_OK)
        return rc;
    const char *text = grain_text(job, g->seconds);
    sim_show_performance(job, text, g->work, sim_time_seconds(seen(s, r.makespan)), s->workers);
    job->options.quiet = 1;
    sim_show_run(job, &r, findings_format(job->findings, "Tasks of %s", text), 0);
    job->options.quiet = quiet;
    if (last)
        sim_show_gantt(job, &r, findings_format(job->findings, "Tasks of %s", text));
    if (last && job->options.events && sim_write_events(&r, job->options.events) != 0)
        rc = cli_fail("sim", "%s: cannot be written", job->options.events);
    sim_result_free(&r);
    return rc;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void note_replications(struct sim_job *job, struct grain *g, const struct replications *r)
{
    struct summary makespan = replications_summary(r, METRIC_MAKESPAN);
    g->reps = r->n;
    g->least = sim_time_round(makespan.min * 1e9);
    g->most = sim_time_round(makespan.max * 1e9);
    g->stolen = findings_keep(job->findings, r->n * sizeof *g->stolen);
    for (uint64_t i = 0; i < r->n; i++)
        g->stolen[i] = r->value[i][METRIC_STOLEN];
    qsort(g->stolen, r->n, sizeof *g->stolen, ascending);
}

static int run_grain(struct sim_job *job, const struct task_sizes *s, int i, struct grain *g)
{
    struct setup_run run;
    struct replications r;
    g->seconds = sim_time_seconds(s->grain) * factor[i];
    g->tasks = s->tasks / factor[i];
    g->work = g->seconds * (double)g->tasks;
    int rc = make_tasks(job, s, g->tasks, "", &run);
    if (rc != CLI_OK)
        return rc;
    rc = show_one(job, s, g, &run, i == GRAINS - 1);
    if (rc == CLI_OK)
        rc = sim_many(job, (const struct setup_run *const[]){&run}, 1, METRIC_STOLEN, &r);
    if (rc == CLI_OK) {
        note_replications(job, g, &r);
        replications_free(&r);
    }
    setup_free(&run);
    return rc;
}

static int near(double a, double b)
{
    return a > 0.999 * b && a < 1.001 * b;
}

/* What the document stole at this grain, or -1. */
static int document_stole(const struct task_sizes *s, const struct grain *g)
{
    for (size_t i = 0; i < sizeof document / sizeof *document; i++)
        if (s->workers == 4 && near(g->work, 50) && near(g->seconds, document[i].grain))
            return (int)document[i].stolen;
    return -1;
}

/* Percent of the replications that stole at most so many. */
static double share_up_to(const struct grain *g, int stolen)
{
    uint64_t n = 0;
    while (n < g->reps && g->stolen[n] <= stolen)
        n++;
    return 100 * (double)n / (double)g->reps;
}

static void show_grains(struct sim_job *job, const struct task_sizes *s, const struct grain *g)
{
    static const double quantile[] = {0.01, 0.05, 0.5, 0.95, 0.99};
    struct table *times = findings_table(job->findings, "The time, over all replications",
                                         "grain s|tasks|seen after s|efficiency %|true s|at most s|"
                                         "efficiency %");
    struct table *steals = findings_table(job->findings, "Tasks stolen, over all replications",
                                          "grain s|1 %|5 %|50 %|95 %|99 %|document|% are not above it");
    for (int i = 0; i < GRAINS; i++, g++) {
        int stolen = document_stole(s, g);
        table_number(times, g->seconds, 2);
        table_number(times, (double)g->tasks, 0);
        table_number(times, sim_time_seconds(seen(s, g->most)), 2);
        table_number(times, efficiency(g->work, seen(s, g->most), s->workers), 1);
        table_number(times, sim_time_seconds(g->least), 2);
        table_number(times, sim_time_seconds(g->most), 2);
        table_number(times, efficiency(g->work, g->most, s->workers), 1);
        table_number(steals, g->seconds, 2);
        for (size_t k = 0; k < sizeof quantile / sizeof *quantile; k++)
            table_number(steals, estimate_quantile(g->stolen, g->reps, quantile[k]), 0);
        if (stolen < 0) {
            table_text(steals, "-");
            table_text(steals, "-");
        } else {
            table_number(steals, stolen, 0);
            table_number(steals, share_up_to(g, stolen), 1);
        }
    }
}

/* ---- a cost per task ---------------------------------------------------------------------- */

struct best {
    double grain, efficiency;
    double finest, coarsest; /* efficiencies there */
};

static struct summary efficiencies(const struct task_sizes *s, const struct replications *r)
{
    struct summary out = {0};
    double work = (double)s->tasks * sim_time_seconds(s->grain);
    for (uint64_t i = 0; i < r->n; i++)
        summary_add(&out, 100 * work / r->value[i][METRIC_MAKESPAN] / s->workers);
    return out;
}

static void note_best(struct best *b, double grain, double mean)
{
    if (b->grain == 0)
        b->finest = mean;
    b->coarsest = mean;
    if (b->grain == 0 || mean > b->efficiency) {
        b->grain = grain;
        b->efficiency = mean;
    }
}

/* So many tasks per worker, and half a round more: no size fits by luck. */
static int run_curve(struct sim_job *job, const struct task_sizes *s, const char *cost, size_t line,
                     struct sim_curve *c, struct best *best)
{
    static const unsigned per_worker[] = {1250, 625, 250, 125, 60, 25, 12, 6, 3, 2, 1};
    struct sim_job few = *job;
    uint64_t reps = sim_reps(job);
    int rc = CLI_OK;
    few.options.reps = reps < CURVE_REPS_MOST ? reps : CURVE_REPS_MOST;
    few.options.width = 0;
    for (size_t i = 0; i < sizeof per_worker / sizeof *per_worker && rc == CLI_OK; i++) {
        uint64_t tasks = (uint64_t)per_worker[i] * s->workers + s->workers / 2;
        double grain = sim_time_seconds(s->grain) * (double)s->tasks / (double)tasks;
        struct setup_run run;
        struct replications r;
        rc = make_tasks(job, s, tasks, findings_format(job->findings, "exec=%s", cost), &run);
        if (rc != CLI_OK)
            return rc;
        rc = sim_many(&few, (const struct setup_run *const[]){&run}, 1, METRIC_MAKESPAN, &r);
        setup_free(&run);
        if (rc != CLI_OK)
            return rc;
        struct summary e = efficiencies(s, &r);
        sim_curve_add(c, line, grain, &e);
        note_best(best, grain, e.mean);
        replications_free(&r);
    }
    return rc;
}

static int show_curve(struct sim_job *job, const struct task_sizes *s, const char *cost, struct best *best)
{
    struct sim_curve *c = sim_curve_new(job);
    struct best without = {0};
    c->name[0] = findings_format(job->findings, "%s per task", cost);
    c->name[1] = "no cost";
    int rc = run_curve(job, s, cost, 0, c, best);
    if (rc == CLI_OK)
        rc = run_curve(job, s, "0ns", 1, c, &without);
    if (rc != CLI_OK)
        return rc;
    struct plot_mark *mark = findings_keep(job->findings, sizeof *mark);
    *mark = (struct plot_mark){0, best->grain, "best"};
    sim_curve_show(job, c, (struct plot){.title = "Efficiency against the size of a task",
                                         .x_label = "grain (s)", .y_label = "%", .log_x = 10,
                                         .from_zero = 1, .n_marks = 1, .mark = mark});
    struct table *t = findings_table(job->findings, findings_format(job->findings, "With %s per task", cost),
                                     "grain s|efficiency %|without cost %");
    for (size_t i = 0; i < c->n[0]; i++) {
        table_number(t, c->x[0][i], 3);
        table_interval(t, c->y[0][i], c->high[0][i] - c->y[0][i], 1);
        table_interval(t, c->y[1][i], c->high[1][i] - c->y[1][i], 1);
    }
    return CLI_OK;
}

/* ---- the answer --------------------------------------------------------------------------- */

/* "12.5, 12.5, 14.0 s (100.0, 100.0, 89.3 %)" */
static const char *walls(struct sim_job *job, const struct task_sizes *s, const struct grain *g, int observed)
{
    const char *times = "", *percents = "";
    for (int i = 0; i < GRAINS; i++) {
        sim_time wall = observed ? seen(s, g[i].most) : g[i].most;
        const char *comma = i ? ", " : "";
        times = findings_format(job->findings, "%s%s%.1f", times, comma, sim_time_seconds(wall));
        percents = findings_format(job->findings, "%s%s%.1f", percents, comma,
                                   efficiency(g[i].work, wall, s->workers));
    }
    return findings_format(job->findings, "%s s (%s %%)", times, percents);
}

static const char *where_the_document_lies(struct sim_job *job, const struct task_sizes *s,
                                           const struct grain *g)
{
    const char *text = "";
    int within = 0, n = 0;
    for (int i = 0; i < GRAINS; i++) {
        int stolen = document_stole(s, &g[i]);
        if (stolen < 0)
            continue;
        text = findings_format(job->findings, "%s%s%d", text, n ? ", " : "", stolen);
        within += stolen >= estimate_quantile(g[i].stolen, g[i].reps, 0.01) &&
                  stolen <= estimate_quantile(g[i].stolen, g[i].reps, 0.99);
        n++;
    }
    if (n == 0)
        return "";
    return findings_format(job->findings, " The document's steals (%s) are one draw: %s between the 1st and "
                           "the 99th percentile.", text, within == n ? "all lie" : "not all lie");
}

static void answer(struct sim_job *job, const struct task_sizes *s, const struct grain *g, const char *cost,
                   const struct best *b)
{
    int same = 1;
    for (int i = 0; i < GRAINS; i++)
        same &= g[i].least == g[i].most;
    const char *observed = "";
    if (s->look > 0)
        observed = findings_format(job->findings, "An observer that looks every %s sees %s. ",
                                   sim_duration(job, sim_time_seconds(s->look)), walls(job, s, g, 1));
    findings_answer(job->findings, "%sThe work is done after %s, %s of %" PRIu64 " runs.%s", observed,
                    walls(job, s, g, 0), same ? "the same in each" : "at the latest", g[0].reps,
                    where_the_document_lies(job, s, g));
    findings_answer(job->findings,
                    "Each task costs %s: then tasks of %.2f s are the best of those tried (%.1f %%); the "
                    "smallest lose to the cost (%.1f %%), the largest to workers that wait for the last task "
                    "(%.1f %%).", cost, b->grain, b->efficiency, b->finest, b->coarsest);
}

static int run_all(struct sim_job *job, const struct task_sizes *s)
{
    struct grain *g = findings_keep(job->findings, GRAINS * sizeof *g);
    struct best best = {0};
    const char *cost = setup_given(&job->setup, SETUP_EXEC) ? job->setup.value[SETUP_EXEC] : "10ms";
    int rc = CLI_OK;
    for (int i = 0; i < GRAINS && rc == CLI_OK; i++)
        rc = run_grain(job, s, i, &g[i]);
    if (rc != CLI_OK)
        return rc;
    show_grains(job, s, g);
    rc = show_curve(job, s, cost, &best);
    if (rc == CLI_OK)
        answer(job, s, g, cost, &best);
    return rc;
}

int sim_run_granularity(struct sim_job *job)
{
    struct setup_run run;
    int rc = sim_make(job, NULL, 0, &run);
    if (rc != CLI_OK)
        return rc;
    const struct dist *d = &run.load.duration;
    struct task_sizes s = {run.load.arrivals.count, d->a, run.config.look_every, run.config.workers};
    int constant = d->kind == DIST_CONST && d->a > 0 && run.load.behavior == SIM_PLAIN &&
                   run.load.arrivals.kind == SIM_ARRIVE_AT_START;
    setup_free(&run);
    if (!constant)
        return cli_usage("sim", "granularity: duration= is a constant above 0, load=plain, arrive=start");
    if (s.tasks < factor[GRAINS - 1] || s.tasks > 100000000 || s.grain > SIM_TIME_MAX / (sim_time)s.tasks)
        return cli_usage("sim", "granularity: tasks= is from %u to 100000000, their work at most 18 years",
                         factor[GRAINS - 1]);
    return run_all(job, &s);
}
