/* sim_verify.c: laws that runs must obey, engines that must agree, queues whose means are known. */
#include "cli.h"
#include "sim.h"
#include "sim/verify.h"
#include "term.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 128

struct report {
    struct sim_job *job;
    size_t n, failed;
    struct verify_row row[ROWS_MOST];
};

static void keep(const struct verify_row *row, void *arg)
{
    struct report *r = arg;
    if (r->n < ROWS_MOST)
        r->row[r->n++] = *row;
    r->failed += !row->pass;
}

static const char *kind_text(enum verify_kind kind)
{
    static const char *const text[] = {
        [VERIFY_EQUAL] = "=", [VERIFY_AT_LEAST] = ">=", [VERIFY_AT_MOST] = "<=", [VERIFY_MEAN] = "about",
    };
    return text[kind];
}

/* What is compared: the worst run, or the mean. */
static struct summary compared(const struct verify_row *row)
{
    struct summary s = row->measured;
    double low = s.min - row->expected, high = s.max - row->expected;
    if (row->kind == VERIFY_AT_LEAST)
        s.mean = s.min;
    else if (row->kind == VERIFY_AT_MOST)
        s.mean = s.max;
    else if (row->kind == VERIFY_EQUAL)
        s.mean = high > -low ? s.max : s.min;
    return s;
}

/* Whole numbers as such. */
static void number_cell(struct table *t, double x)
{
    table_number(t, x, x == (double)(int64_t)x ? 0 : 4);
}

static void row_cells(struct table *t, const struct verify_row *row)
{
    struct sim_unit unit = {"", 1};
    struct summary s = compared(row);
    if (*row->unit)
        unit = sim_unit_of(row->expected);
    double by = unit.per_second;
    table_text(t, "%s%s%s", row->what, *unit.name ? ", " : "", unit.name);
    table_text(t, "%s", kind_text(row->kind));
    number_cell(t, row->expected * by);
    if (row->kind == VERIFY_MEAN)
        table_interval(t, s.mean * by, estimate_half_width(&s, 0.95) * by, 4);
    else
        number_cell(t, s.mean * by);
    table_number(t, (double)s.n, 0);
    table_text(t, "%s", row->pass ? "pass" : "FAIL");
}

/* The law is a heading: told once. */
static void tables(struct report *r)
{
    struct findings *f = r->job->findings;
    struct table *t = NULL;
    for (size_t i = 0; i < r->n; i++) {
        if (i == 0 || strcmp(r->row[i].law, r->row[i - 1].law) != 0)
            t = findings_table(f, r->row[i].law, "case|is|expected|measured|runs|verdict");
        row_cells(t, &r->row[i]);
    }
}

/* Means over what theory says. */
static void plot(struct report *r)
{
    struct findings *f = r->job->findings;
    const char **category = findings_keep(f, ROWS_MOST * sizeof *category);
    double *y = findings_keep(f, 3 * ROWS_MOST * sizeof *y);
    struct plot_series *s = findings_keep(f, sizeof *s);
    struct plot_mark *mark = findings_keep(f, sizeof *mark);
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct verify_row *row = &r->row[i];
        if (row->kind != VERIFY_MEAN)
            continue;
        double half = estimate_half_width(&row->measured, 0.95) / row->expected;
        category[n] = findings_format(f, "%.5s %s", row->law, row->what);
        y[n] = row->measured.mean / row->expected;
        y[ROWS_MOST + n] = y[n] - half;
        y[2 * ROWS_MOST + n] = y[n] + half;
        n++;
    }
    *s = (struct plot_series){.name = "mean over theory, 95 %", .n = n, .y = y};
    s->low = y + ROWS_MOST;
    s->high = y + 2 * ROWS_MOST;
    *mark = (struct plot_mark){.at = 1, .label = "theory"};
    if (n > 0 && !r->job->options.no_plot)
        findings_plot(f, &(struct plot){.kind = PLOT_BARS, .title = "Mean time in the system over theory's",
                                        .n_series = 1, .series = s, .n_categories = n, .category = category,
                                        .n_marks = 1, .mark = mark});
}

static void answer(struct report *r)
{
    double widest = 0, farthest = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct verify_row *row = &r->row[i];
        if (row->kind != VERIFY_MEAN)
            continue;
        double off = 100 * (row->measured.mean / row->expected - 1);
        double half = 100 * estimate_half_width(&row->measured, 0.95) / row->expected;
        farthest = off * off > farthest * farthest ? off : farthest;
        widest = half > widest ? half : widest;
    }
    findings_answer(r->job->findings,
                    "%zu of %zu checks pass. Means of queues are at most %.2f %% beside theory, in intervals "
                    "of at most ± %.2f %%; each other check is one of every run.", r->n - r->failed, r->n,
                    farthest < 0 ? -farthest : farthest, widest);
    for (size_t i = 0; i < r->n; i++)
        if (!r->row[i].pass)
            findings_answer(r->job->findings, "Failed: %s: %s.", r->row[i].law, r->row[i].what);
}

static void show_progress(uint64_t done, uint64_t of, void *arg)
{
    (void)arg;
    if (done % (of / 10 + 1) == 0)
        term_progress("verify: %" PRIu64 " of %" PRIu64 " replications of a queue", done, of);
}

int sim_run_verify(struct sim_job *job)
{
    struct report *r = findings_keep(job->findings, sizeof *r);
    struct verify_options o = {.replications = sim_reps(job),
                               .replicate = {job->options.threads, show_progress, NULL}};
    struct setup_run run;
    char message[300];
    r->job = job;
    for (int k = 0; k < SETUP_KEYS; k++)
        if (setup_given(&job->setup, (enum setup_key)k) && k != SETUP_SEED)
            return cli_usage("sim", "verify has settings of its own: only seed= and --reps change it");
    int rc = sim_make(job, NULL, 0, &run); /* reads the seed */
    if (rc != CLI_OK)
        return rc;
    o.seed = run.config.seed;
    setup_free(&run);
    rc = verify(&o, keep, r, message, sizeof message);
    term_progress_end();
    if (rc != 0)
        return cli_fail("sim", "verify: %s", message);
    tables(r);
    findings_text(job->findings,
                  "`about`: theory's value lies in the 99.99 %% interval of the mean, and the 95 %% "
                  "interval, shown as ±, is narrower than 5 %%. Otherwise `measured` is the worst of all "
                  "runs.");
    plot(r);
    answer(r);
    return r->failed == 0 ? CLI_OK : CLI_FAILED;
}
