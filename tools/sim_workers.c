/* sim_workers.c: the same tasks on more and more workers: how much is stolen, from where more do not help.
 *
 * The rule: a worker more helps as long as it adds at least half a worker to the speed-up, of the mean of all
 * runs. A paired comparison alone would not do: with enough runs it sees a gain of a thousandth. */
#include "cli.h"
#include "sim.h"
#include <inttypes.h>
#include <string.h>

enum { LEAST = 2, ASKED = 8, SHOWN = 12, MOST = 24, RUNS = MOST - LEAST + 1 };
static const double helps = 0.5;

/* `out` and the figures of P workers stand at P - LEAST. */
struct figures {
    struct summary makespan, speedup, rate, idle;
};

static struct figures figures_of(const struct replications *r)
{
    return (struct figures){replications_summary(r, METRIC_MAKESPAN), replications_summary(r, METRIC_SPEEDUP),
                            replications_summary(r, METRIC_STEAL_RATE), replications_summary(r, METRIC_IDLE)};
}

static int run_all(struct sim_job *job, struct replications out[RUNS])
{
    struct setup_run run[RUNS];
    const struct setup_run *runs[RUNS];
    int made = 0, rc = CLI_OK;
    for (; made < RUNS && rc == CLI_OK; made += rc == CLI_OK) {
        rc = sim_make(job, findings_format(job->findings, "workers=%d", made + LEAST), 1, &run[made]);
        runs[made] = &run[made];
    }
    if (rc == CLI_OK)
        rc = sim_many(job, runs, RUNS, METRIC_MAKESPAN, out);
    for (int i = 0; i < made; i++)
        setup_free(&run[i]);
    return rc;
}

static void show_row(struct table *t, int i, const struct figures *f, const struct replications *out)
{
    table_number(t, i + LEAST, 0);
    sim_interval_cell(t, &f[i].makespan, 3);
    sim_interval_cell(t, &f[i].speedup, 2);
    table_number(t, 100 * f[i].speedup.mean / (i + LEAST), 1);
    sim_interval_cell(t, &f[i].rate, 1);
    sim_interval_cell(t, &f[i].idle, 2);
    if (i == 0) {
        table_text(t, "-");
        table_text(t, "-");
        return;
    }
    struct paired_result r = sim_judge(&out[i - 1], &out[i], METRIC_MAKESPAN);
    table_interval(t, r.difference, r.half_width, 3);
    table_text(t, "%s", estimate_verdict_text(r.verdict));
}

static void show_tables(struct sim_job *job, const struct figures *f, const struct replications *out)
{
    static const char columns[] = "workers|makespan s|speed-up|efficiency %|steal rate %|idle s|"
                                  "makespan, one worker more|that is";
    struct table *t = findings_table(job->findings, "More and more workers", columns);
    for (int i = 0; i <= SHOWN - LEAST; i++)
        show_row(t, i, f, out);
    t = findings_data(job->findings, "beyond", columns);
    for (int i = SHOWN - LEAST + 1; i < RUNS; i++)
        show_row(t, i, f, out);
}

static double *column(struct sim_job *job)
{
    return findings_keep(job->findings, RUNS * sizeof(double));
}

static void show_plots(struct sim_job *job, const struct figures *f)
{
    double *x = column(job), *speedup = column(job), *rate = column(job);
    for (int i = 0; i < RUNS; i++) {
        x[i] = i + LEAST;
        speedup[i] = f[i].speedup.mean;
        rate[i] = f[i].rate.mean;
    }
    struct plot_series *s = findings_keep(job->findings, 3 * sizeof *s);
    s[0] = (struct plot_series){.name = "speed-up", .n = RUNS, .x = x, .y = speedup};
    s[1] = (struct plot_series){.name = "as many as workers", .n = RUNS, .x = x, .y = x, .dashed = 1};
    s[2] = (struct plot_series){.n = RUNS, .x = x, .y = rate};
    findings_plot(job->findings, &(struct plot){.kind = PLOT_LINES, .title = "Speed-up", .x_label = "workers",
                                                .from_zero = 1, .n_series = 2, .series = s});
    findings_plot(job->findings, &(struct plot){.kind = PLOT_LINES, .title = "Steal rate", .from_zero = 1,
                                                .x_label = "workers", .y_label = "stolen tasks (%)",
                                                .n_series = 1, .series = s + 2});
}

/* The last number of workers before the first one that adds less than `helps` to the speed-up. */
static int useful(const struct figures *f)
{
    int i = 1;
    while (i < RUNS && f[i].speedup.mean - f[i - 1].speedup.mean >= helps)
        i++;
    return i - 1 + LEAST;
}

/* The last one before the first whose worker more does not make the total shorter, as far as can be seen. */
static int shortens(const struct replications *out)
{
    int i = 1;
    while (i < RUNS && sim_judge(&out[i - 1], &out[i], METRIC_MAKESPAN).verdict == ESTIMATE_BETTER)
        i++;
    return i - 1 + LEAST;
}

static const char *beyond(struct sim_job *job, int workers)
{
    return findings_format(job->findings, workers == MOST ? "%d or more" : "%d", workers);
}

static void answer(struct sim_job *job, const struct figures *f, const struct replications *out)
{
    const struct figures *first = &f[0], *last = &f[ASKED - LEAST];
    int most = useful(f), seen = shortens(out);
    const char *next = "";
    if (most < MOST)
        next = findings_format(job->findings, ", and the next one %.2f",
                               f[most + 1 - LEAST].speedup.mean - f[most - LEAST].speedup.mean);
    findings_answer(job->findings,
                    "From %d to %d workers the steal rate goes from %.1f %% to %.1f %%, the speed-up from "
                    "%.2f to %.2f, the efficiency from %.0f %% to %.0f %%.", LEAST, ASKED, first->rate.mean,
                    last->rate.mean, first->speedup.mean, last->speedup.mean,
                    100 * first->speedup.mean / LEAST, 100 * last->speedup.mean / ASKED);
    findings_answer(job->findings,
                    "More workers stop helping at %s: up to there each one adds at least %.1f to the "
                    "speed-up%s. A shorter total is seen up to %s; with %d workers the speed-up is %.2f.",
                    beyond(job, most), helps, next, beyond(job, seen), MOST, f[RUNS - 1].speedup.mean);
}

int sim_run_workers(struct sim_job *job)
{
    struct replications out[RUNS] = {0};
    struct figures figures[RUNS];
    int rc = sim_refuse_given(job, "workers");
    if (rc == CLI_OK)
        rc = run_all(job, out);
    for (int i = 0; i < RUNS && rc == CLI_OK; i++)
        figures[i] = figures_of(&out[i]);
    if (rc == CLI_OK) {
        show_tables(job, figures, out);
        show_plots(job, figures);
        answer(job, figures, out);
    }
    for (int i = 0; i < RUNS; i++)
        replications_free(&out[i]);
    return rc;
}
