/* sim_backoff.c: a wait that doubles while searches fail, against a fixed one.
 *
 * Waiting longer saves searches and finds tasks later. So the two are compared twice: as document 003 asks,
 * and with the fixed waits that make as many searches. */
#include "cli.h"
#include "sim.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const loads[] = {"basic", "arrivals"};
static const char *const waits[] = {"0.01", "0.02", "0.05", "0.1", "0.15", "0.2", "0.3", "0.5", "1"};
enum { LOADS = sizeof loads / sizeof *loads, WAITS = sizeof waits / sizeof *waits };
enum { FIXED, BACKOFF, CURVE, RUNS = CURVE + WAITS };

struct point {
    double tries, idle, makespan;
};

struct load_result {
    struct replications out[RUNS];
    struct point point[RUNS];
};

static int run_load(struct sim_job *job, const char *load, struct load_result *result)
{
    struct setup_run run[RUNS];
    const struct setup_run *runs[RUNS];
    const char *pairs = sim_scenario_named(load)->pairs;
    int made = 0, rc = CLI_OK;
    for (; made < RUNS && rc == CLI_OK; made += rc == CLI_OK) {
        const char *more = made == BACKOFF ? "idle=backoff" : "idle=sleep";
        if (made >= CURVE)
            more = findings_format(job->findings, "idle=sleep wait=%s", waits[made - CURVE]);
        rc = sim_make(job, findings_format(job->findings, "%s %s", pairs, more), 0, &run[made]);
        runs[made] = &run[made];
    }
    if (rc == CLI_OK)
        rc = sim_many(job, runs, RUNS, METRIC_IDLE, result->out);
    for (int i = 0; i < made; i++)
        setup_free(&run[i]);
    for (int i = 0; i < RUNS && rc == CLI_OK; i++)
        result->point[i] = (struct point){replications_summary(&result->out[i], METRIC_VAIN).mean,
                                          replications_summary(&result->out[i], METRIC_IDLE).mean,
                                          replications_summary(&result->out[i], METRIC_MAKESPAN).mean};
    return rc;
}

/* The idle time of a fixed wait with as many searches in vain: between two of the curve, along which the
 * searches fall. NAN outside of it. */
static double idle_of_fixed(const struct load_result *r, double tries)
{
    for (int i = CURVE; i + 1 < RUNS; i++) {
        const struct point *a = &r->point[i], *b = &r->point[i + 1];
        if (tries <= a->tries && tries >= b->tries && a->tries > b->tries)
            return b->idle + (a->idle - b->idle) * (tries - b->tries) / (a->tries - b->tries);
    }
    return NAN;
}

static void show_table(struct sim_job *job, const struct load_result *result)
{
    static const enum metric metrics[] = {METRIC_MAKESPAN, METRIC_IDLE, METRIC_VAIN, METRIC_FAILED};
    const char *wait = job->setup.value[SETUP_WAIT], *backoff = job->setup.value[SETUP_BACKOFF];
    struct table *t = findings_table(job->findings, "A wait that doubles, against a fixed one",
                                     findings_format(job->findings, "load|figure|fixed %s s|doubling %s s|"
                                                     "difference|the doubling one is", wait, backoff));
    for (int l = 0; l < LOADS; l++)
        sim_pair_rows(t, loads[l], &result[l].out[FIXED], &result[l].out[BACKOFF], metrics,
                      sizeof metrics / sizeof *metrics);
    t = findings_table(job->findings, "Fixed waits", "load|wait s|makespan s|idle s|failed tries");
    for (int l = 0; l < LOADS; l++)
        for (int i = CURVE; i < RUNS; i++) {
            struct summary tries = replications_summary(&result[l].out[i], METRIC_VAIN);
            struct summary idle = replications_summary(&result[l].out[i], METRIC_IDLE);
            struct summary makespan = replications_summary(&result[l].out[i], METRIC_MAKESPAN);
            table_text(t, "%s", loads[l]);
            table_text(t, "%s", waits[i - CURVE]);
            sim_interval_cell(t, &makespan, 3);
            sim_interval_cell(t, &idle, 3);
            sim_interval_cell(t, &tries, 2);
        }
}

static struct plot_series series_of(struct sim_job *job, const char *name, const struct point *p, size_t n)
{
    double *x = findings_keep(job->findings, n * sizeof *x);
    double *y = findings_keep(job->findings, n * sizeof *y);
    for (size_t i = 0; i < n; i++) {
        x[i] = p[i].tries;
        y[i] = p[i].idle;
    }
    return (struct plot_series){.name = name, .n = n, .x = x, .y = y, .points_only = n == 1};
}

static void show_plot(struct sim_job *job, const struct load_result *r)
{
    struct plot_series *s = findings_keep(job->findings, 2 * LOADS * sizeof *s);
    for (int l = 0; l < LOADS; l++) {
        const char *fixed = findings_format(job->findings, "%s, fixed waits", loads[l]);
        const char *doubling = findings_format(job->findings, "%s, the doubling wait", loads[l]);
        s[2 * l] = series_of(job, fixed, r[l].point + CURVE, WAITS);
        s[2 * l + 1] = series_of(job, doubling, r[l].point + BACKOFF, 1);
    }
    findings_plot(job->findings, &(struct plot){
        .kind = PLOT_LINES, .title = "What saving searches costs", .x_label = "searches in vain per run",
        .y_label = "idle time (s)", .log_x = 10, .from_zero = 1, .n_series = 2 * LOADS, .series = s});
}

static double percent_saved(const struct load_result *r)
{
    double fixed = r->point[FIXED].tries;
    return fixed > 0 ? 100 * (1 - r->point[BACKOFF].tries / fixed) : 0;
}

static void answer(struct sim_job *job, const char *load, const struct load_result *r)
{
    const struct point *fixed = &r->point[FIXED], *doubling = &r->point[BACKOFF];
    struct paired_result total = sim_judge(&r->out[FIXED], &r->out[BACKOFF], METRIC_MAKESPAN);
    struct paired_result idle = sim_judge(&r->out[FIXED], &r->out[BACKOFF], METRIC_IDLE);
    double same = idle_of_fixed(r, doubling->tries);
    const char *equal = "";
    if (isfinite(same))
        equal = findings_format(job->findings, " A fixed wait with as many is idle for %.2f s.", same);
    findings_answer(job->findings,
                    "%s: with the doubling wait the last task ends after %.2f s, with the fixed one after "
                    "%.2f s (%s); workers are idle for %.2f s and %.2f s (%s); %.1f searches instead of %.1f "
                    "find nothing, %.0f %% fewer.%s", load, doubling->makespan, fixed->makespan,
                    sim_judged(job, &total, 3, " s"), doubling->idle, fixed->idle,
                    sim_judged(job, &idle, 3, " s"), doubling->tries, fixed->tries, percent_saved(r), equal);
}

int sim_run_backoff(struct sim_job *job)
{
    struct load_result result[LOADS] = {0};
    int rc = sim_refuse_given(job, "idle");
    for (int l = 0; l < LOADS && rc == CLI_OK; l++)
        rc = run_load(job, loads[l], &result[l]);
    if (rc == CLI_OK) {
        show_table(job, result);
        show_plot(job, result);
        for (int l = 0; l < LOADS; l++)
            answer(job, loads[l], &result[l]);
    }
    for (int l = 0; l < LOADS; l++)
        for (int i = 0; i < RUNS; i++)
            replications_free(&result[l].out[i]);
    return rc;
}
