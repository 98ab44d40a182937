/* sim_trees.c: a fork-join tree on more and more workers: speed-up, and what theory says of it. */
#include "cli.h"
#include "sim.h"
#include "sim/exact_fit.h"
#include "sim/theory.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MOST 20 /* numbers of workers: 1, 2, 4, ... */

struct point {
    uint32_t workers;
    struct summary time, speedup, steals, failed; /* time in seconds */
};

struct growth {
    struct sim_job *job;
    struct setup_run *run;
    int exact;
    struct forktree_sums sums; /* exact */
    double work, span;         /* seconds */
    double c;                  /* T_P = T1 / P + c Tinf */
    size_t n;
    struct point point[POINTS_MOST];
};

/* ---- runs --------------------------------------------------------------------------------- */

static void point_add(const struct growth *g, struct point *p, double time, double steals, double failed)
{
    summary_add(&p->time, time);
    summary_add(&p->speedup, time > 0 ? g->work / time : 1);
    summary_add(&p->steals, steals);
    summary_add(&p->failed, failed);
}

static int enough(const struct growth *g, const struct point *p)
{
    double width = g->job->options.width;
    return p->time.n >= sim_reps(g->job) &&
           (width <= 0 || p->workers == 1 || estimate_enough(&p->time, 0.95, width, ESTIMATE_LEAST_N));
}

static int run_exact(struct growth *g, struct point *p)
{
    char message[200];
    while (!enough(g, p)) {
        struct sim_config config;
        struct sim_load load;
        struct exact_result r;
        setup_replication(g->run, p->time.n, &config, &load);
        if (exact_run_sums(&g->run->tree, &g->sums, p->workers, config.seed, &r, message,
                           sizeof message) != 0)
            return cli_usage("sim", "tree: %s", message);
        point_add(g, p, sim_time_seconds(r.makespan), (double)r.steals, (double)r.failures);
    }
    return CLI_OK;
}

static int run_events(struct growth *g, struct point *p)
{
    const struct setup_run *runs[] = {g->run};
    struct replications r;
    int rc = sim_many(g->job, runs, 1, METRIC_MAKESPAN, &r);
    for (uint64_t i = 0; i < r.n && rc == CLI_OK; i++) {
        const double *v = r.value[i];
        if (v[METRIC_DONE] == 0)
            rc = cli_fail("sim", "tree: a run of %u workers did not end: 'filch sim run' with these settings "
                          "shows where it stops", p->workers);
        else
            point_add(g, p, v[METRIC_MAKESPAN], v[METRIC_STEALS], v[METRIC_FAILED]);
    }
    replications_free(&r);
    return rc;
}

/* 1, 2, 4, ... and the number that was asked for. The tree is the same for all. */
static int run_points(struct growth *g)
{
    uint32_t most = g->run->config.workers;
    int rc = CLI_OK;
    for (uint32_t workers = 1; rc == CLI_OK; workers = workers > most / 2 ? most : 2 * workers) {
        struct point *p = &g->point[g->n++];
        p->workers = g->run->config.workers = workers;
        rc = g->exact ? run_exact(g, p) : run_events(g, p);
        if (workers == most)
            break;
    }
    return rc;
}

static int measure(struct growth *g)
{
    struct forktree_costs costs = exact_costs(&g->run->config);
    sim_time work, span;
    char message[200];
    if (g->run->load.behavior != SIM_TREE || g->run->load.leaf)
        return cli_usage("sim", "tree: load=tree is expected, with a leaf= that is no distribution: other "
                         "trees have no T1 before they run (random, uts and loops take lengths=)");
    if (forktree_work(&g->run->tree, &costs, &work, message, sizeof message) != 0 ||
        forktree_span(&g->run->tree, &costs, &span, message, sizeof message) != 0)
        return cli_usage("sim", "tree: %s", message);
    g->work = sim_time_seconds(work);
    g->span = sim_time_seconds(span);
    g->exact = exact_fits(&g->run->config, &g->run->load);
    if (g->exact && forktree_sums_make(&g->sums, &g->run->tree, &costs, message, sizeof message) != 0)
        return cli_fail("sim", "tree: %s", message);
    return run_points(g);
}

/* ---- what came out ------------------------------------------------------------------------ */

/* The c for which T1 / P + c Tinf has the least sum of squared relative errors. */
static void fit(struct growth *g)
{
    double above = 0, below = 0;
    for (size_t i = 1; i < g->n; i++) {
        double time = g->point[i].time.mean, part = g->span / time;
        above += (time - g->work / g->point[i].workers) / time * part;
        below += part * part;
    }
    g->c = below > 0 ? above / below : 0;
}

static double model(const struct growth *g, size_t i)
{
    return i == 0 ? g->work : g->work / g->point[i].workers + g->c * g->span;
}

static double off(const struct growth *g, size_t i)
{
    return 100 * (model(g, i) / g->point[i].time.mean - 1);
}

/* Steals in the time that the longest path takes, for each worker. */
static double steals_per_path(const struct growth *g, double steals, uint32_t workers)
{
    return g->span > 0 ? steals / (workers * g->span) : 0;
}

static void tables(struct growth *g)
{
    struct findings *f = g->job->findings;
    struct sim_unit unit = sim_unit_of(g->point[g->n - 1].time.mean);
    struct sim_unit of_span = sim_unit_of(g->span);
    const char *columns = findings_format(f, "workers|time, %s|speed-up|efficiency, %%|T1/P + c Tinf, %s|"
                                          "off by %%|steals|failed looks|steals/(P Tinf), 1/%s",
                                          unit.name, unit.name, of_span.name);
    struct table *t = findings_table(f, "Time and steals", columns);
    for (size_t i = 0; i < g->n; i++) {
        const struct point *p = &g->point[i];
        struct summary time = p->time;
        time.mean *= unit.per_second;
        time.m2 *= unit.per_second * unit.per_second;
        table_number(t, p->workers, 0);
        sim_interval_cell(t, &time, 3);
        sim_interval_cell(t, &p->speedup, 2);
        table_number(t, 100 * p->speedup.mean / p->workers, 1);
        table_number(t, model(g, i) * unit.per_second, 3);
        table_number(t, off(g, i), 1);
        sim_interval_cell(t, &p->steals, 0);
        sim_interval_cell(t, &p->failed, 0);
        table_number(t, steals_per_path(g, p->steals.mean, p->workers) / of_span.per_second, 3);
    }
}

struct curves {
    double x[POINTS_MOST], y[POINTS_MOST], low[POINTS_MOST], high[POINTS_MOST], model[POINTS_MOST];
    double ideal[POINTS_MOST], steals[POINTS_MOST], steals_low[POINTS_MOST], steals_high[POINTS_MOST];
};

static struct curves *curves_of(const struct growth *g)
{
    struct curves *c = findings_keep(g->job->findings, sizeof *c);
    double per = 1 / sim_unit_of(g->span).per_second;
    for (size_t i = 0; i < g->n; i++) {
        const struct point *p = &g->point[i];
        double half = estimate_half_width(&p->speedup, 0.95), steals = estimate_half_width(&p->steals, 0.95);
        c->x[i] = c->ideal[i] = p->workers;
        c->y[i] = p->speedup.mean;
        c->low[i] = p->speedup.mean - half;
        c->high[i] = p->speedup.mean + half;
        c->model[i] = g->work / model(g, i);
        c->steals[i] = steals_per_path(g, p->steals.mean, p->workers) * per;
        c->steals_low[i] = steals_per_path(g, p->steals.mean - steals, p->workers) * per;
        c->steals_high[i] = steals_per_path(g, p->steals.mean + steals, p->workers) * per;
    }
    return c;
}

static void plots(struct growth *g)
{
    struct findings *f = g->job->findings;
    struct curves *c = curves_of(g);
    struct plot_series *s = findings_keep(f, 4 * sizeof *s);
    struct plot_mark *mark = findings_keep(f, sizeof *mark);
    if (g->job->options.no_plot || g->n < 2)
        return;
    s[0] = (struct plot_series){.name = "measured", .n = g->n, .x = c->x, .y = c->y, .low = c->low,
                                .high = c->high};
    s[1] = (struct plot_series){.name = findings_format(f, "T1 / (T1/P + %.2f Tinf)", g->c), .n = g->n,
                                .x = c->x, .y = c->model, .dashed = 1};
    s[2] = (struct plot_series){.name = "P", .n = g->n, .x = c->x, .y = c->ideal, .dashed = 1};
    s[3] = (struct plot_series){.name = "steals", .n = g->n - 1, .x = c->x + 1, .y = c->steals + 1,
                                .low = c->steals_low + 1, .high = c->steals_high + 1};
    *mark = (struct plot_mark){.horizontal = 1, .at = g->work / g->span, .label = "T1/Tinf"};
    findings_plot(f, &(struct plot){.kind = PLOT_LINES, .title = "Speed-up", .x_label = "workers P",
                                    .y_label = "speed-up", .log_x = 2, .log_y = 2, .n_series = 3, .series = s,
                                    .n_marks = mark->at < 8 * c->x[g->n - 1], .mark = mark});
    findings_plot(f, &(struct plot){.kind = PLOT_LINES, .title = "Steals over P Tinf", .x_label = "workers P",
                                    .y_label = findings_format(f, "steals per worker and %s of Tinf",
                                                               sim_unit_of(g->span).name),
                                    .log_x = 2, .from_zero = 1, .n_series = 1, .series = s + 3});
}

static void answer(struct growth *g)
{
    const struct point *last = &g->point[g->n - 1];
    double worst = 0, slack = last->time.min / theory_time_least(g->work, g->span, last->workers);
    for (size_t i = 0; i < g->n; i++) {
        double x = off(g, i) < 0 ? -off(g, i) : off(g, i);
        double bound = theory_time_least(g->work, g->span, g->point[i].workers);
        worst = x > worst ? x : worst;
        slack = g->point[i].time.min / bound < slack ? g->point[i].time.min / bound : slack;
    }
    findings_answer(g->job->findings,
                    "%s has %" PRIu64 " tasks, T1 = %s, Tinf = %s: room for a speed-up of %.0f. %u workers "
                    "reach %s (%.1f %%). T_P = T1/P + %.2f Tinf is at most %.1f %% beside what was measured; "
                    "no run was shorter than %.4f max(T1/P, Tinf).",
                    g->job->setup.value[SETUP_TREE], forktree_count(&g->run->tree),
                    sim_duration(g->job, g->work), sim_duration(g->job, g->span), g->work / g->span,
                    last->workers, sim_interval(g->job, &last->speedup, 2),
                    100 * last->speedup.mean / last->workers, g->c, worst, slack);
    findings_text(g->job->findings, g->exact ? "Engine: exact, O(steals)." : "Engine: events.");
}

int sim_run_tree(struct sim_job *job)
{
    struct setup_run run;
    struct growth *g;
    int rc = sim_make(job, NULL, 0, &run);
    if (rc != CLI_OK)
        return rc;
    g = findings_keep(job->findings, sizeof *g);
    g->job = job;
    g->run = &run;
    rc = measure(g);
    if (rc == CLI_OK) {
        fit(g);
        tables(g);
        plots(g);
        answer(g);
    }
    forktree_sums_free(&g->sums);
    setup_free(&run);
    return rc;
}
