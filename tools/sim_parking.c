/* sim_parking.c: many workers that park, and which of them a new task wakes.
 *
 * A task arrives at a random worker. A busy one takes it later. The queue of a sleeping one is found only by
 * chance, unless that worker is woken itself: wake=target. With wake=random and wake=one another sleeper is
 * woken, which looks at a few random queues and parks again. */
#include "cli.h"
#include "sim.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define POLICIES 3
#define NAMED 8           /* tasks left behind that are shown, per policy */
#define QUANTILES 7

struct parking {
    const char *wake;
    struct sim_result result;
    uint64_t sleepers;    /* workers with tasks in their queue at the end */
};

/* ---- runs --------------------------------------------------------------------------------- */

static int run_policy(struct sim_job *job, struct parking *p)
{
    struct setup_run run;
    int rc = sim_make(job, findings_format(job->findings, "wake=%s", p->wake), 1, &run);
    if (rc != CLI_OK)
        return rc;
    rc = sim_once(job, &run, 0, &p->result);
    for (uint32_t i = 0; rc == CLI_OK && i < p->result.workers; i++)
        p->sleepers += p->result.worker[i].queue > 0;
    setup_free(&run);
    return rc;
}

/* Share of the workers that the tasks keep busy, in percent. */
static int offered_load(struct sim_job *job, double *load)
{
    struct setup_run run;
    int rc = sim_make(job, NULL, 0, &run);
    if (rc != CLI_OK)
        return rc;
    double gap = dist_mean(&run.load.arrivals.gap);
    bool parks = run.config.policy.idle == FILCH_IDLE_PARK && run.load.arrivals.kind == SIM_ARRIVE_GAPS;
    *load = 100 * dist_mean(&run.load.duration) / (gap * run.config.workers);
    setup_free(&run);
    return parks ? CLI_OK : cli_usage("sim", "parking: idle=park and arrive=gaps are what it is about");
}

/* ---- what is shown ------------------------------------------------------------------------ */

static uint64_t left_behind(const struct parking *p)
{
    return p->result.submitted - p->result.completed;
}

/* The time from submission to begin that so large a share of all submitted tasks does not exceed, in
 * microseconds. A task that never began exceeds every time. */
static double waited_us(const struct parking *p, double share)
{
    double begun = (double)p->result.sum.executed / (double)p->result.submitted;
    if (share > begun)
        return NAN;
    return sim_time_seconds(histogram_quantile(p->result.latency, share / begun)) * 1e6;
}

static void show_table(struct sim_job *job, const struct parking *p)
{
    struct table *t = findings_table(job->findings, "Which worker a new task wakes",
                                     "wake|end|completed|left behind|in queues|stolen %|wake-ups per task|"
                                     "queued, mean (us)|99.9 % (us)|events");
    for (int i = 0; i < POLICIES; i++) {
        const struct sim_result *r = &p[i].result;
        table_text(t, "%s", p[i].wake);
        table_text(t, "%s", sim_end_name(r->how));
        table_number(t, (double)r->completed, 0);
        table_number(t, (double)left_behind(&p[i]), 0);
        table_number(t, (double)p[i].sleepers, 0);
        table_number(t, 100 * (double)r->sum.stolen / (double)r->sum.executed, 1);
        table_number(t, (double)r->sum.wakes / (double)r->submitted, 2);
        table_number(t, r->queued.mean * 1e6, 1);
        table_number(t, waited_us(&p[i], 0.999), 0);
        table_number(t, (double)r->events, 0);
    }
}

static void show_left_behind(struct sim_job *job, const struct parking *p)
{
    char name[64];
    struct table *t = NULL;
    for (int i = 0; i < POLICIES; i++) {
        const struct sim_result *r = &p[i].result;
        if (r->stuck_count > 0 && !t)
            t = findings_table(job->findings, "Tasks left behind, the first of them",
                               "wake|task|queue of worker");
        for (size_t k = 0; k < r->stuck_shown && k < NAMED; k++) {
            sim_task_name(r, r->stuck[k].task, name, sizeof name);
            table_text(t, "%s", p[i].wake);
            table_text(t, "%s", name);
            table_number(t, r->stuck[k].worker, 0);
        }
    }
}

static void show_plot(struct sim_job *job, const struct parking *p)
{
    struct findings *f = job->findings;
    double *x = findings_keep(f, QUANTILES * sizeof *x);
    struct plot_series *s = findings_keep(f, POLICIES * sizeof *s);
    for (int k = 0; k < QUANTILES; k++)
        x[k] = k ? 10 * x[k - 1] : 2; /* 2, 20, 200 ... */
    for (int i = 0; i < POLICIES; i++) {
        double *y = findings_keep(f, QUANTILES * sizeof *y);
        for (int k = 0; k < QUANTILES; k++)
            y[k] = waited_us(&p[i], 1 - 1 / x[k]);
        s[i] = (struct plot_series){.name = findings_format(f, "wake=%s", p[i].wake), .n = QUANTILES, .x = x,
                                    .y = y};
    }
    findings_plot(f, &(struct plot){.kind = PLOT_LINES, .title = "How long tasks lie in a queue", .log_x = 10,
                                    .log_y = 10, .x_label = "one task of so many waits longer",
                                    .y_label = "wait (us)", .n_series = POLICIES, .series = s,
                                    .note = "A line ends where the tasks begin that never ran."});
}

static const char *stranded_text(struct sim_job *job, const struct parking *p)
{
    char name[64];
    const struct sim_result *r = &p->result;
    if (left_behind(p) == 0)
        return findings_format(job->findings, "With wake=%s nothing was left behind this time.", p->wake);
    if (r->stuck_shown == 0)
        return findings_format(job->findings, "With wake=%s the run did not end: %s.", p->wake,
                               sim_end_name(r->how));
    sim_task_name(r, r->stuck[0].task, name, sizeof name);
    return findings_format(job->findings,
                           "With wake=%s the run ends %s: %" PRIu64 " tasks lie in the queues of %" PRIu64
                           " sleeping workers, %s in that of Worker %d, and no worker comes to look; the "
                           "others waited for %.1f us.", p->wake, sim_end_name(r->how), left_behind(p),
                           p->sleepers, name, r->stuck[0].worker, r->queued.mean * 1e6);
}

static void answer(struct sim_job *job, const struct parking *p, double load)
{
    const struct sim_result *r = &p[0].result;
    findings_answer(job->findings,
                    "%u workers that park, load %.0f %%: if a task wakes the worker that it is submitted to, "
                    "%" PRIu64 " of %" PRIu64 " tasks are completed, after %.1f us in a queue on average. "
                    "%s %s", r->workers, load, r->completed, r->submitted, r->queued.mean * 1e6,
                    stranded_text(job, &p[1]), stranded_text(job, &p[2]));
}

int sim_run_parking(struct sim_job *job)
{
    struct parking p[POLICIES] = {{.wake = "target"}, {.wake = "random"}, {.wake = "one"}};
    double load;
    int rc = offered_load(job, &load);
    for (int i = 0; i < POLICIES && rc == CLI_OK; i++)
        rc = run_policy(job, &p[i]);
    if (rc == CLI_OK) {
        show_table(job, p);
        show_left_behind(job, p);
        show_plot(job, p);
        answer(job, p, load);
        rc = p[0].result.how == SIM_DONE ? CLI_OK : CLI_FAILED;
    }
    for (int i = 0; i < POLICIES; i++)
        sim_result_free(&p[i].result);
    return rc;
}
