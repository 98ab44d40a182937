/* sim_livelock.c: workers in step that fail at each other, and what ends that.
 *
 * The first four ways are those of document 003 and its cures. The last two have one half of the fourth cure
 * each, to tell them apart. */
#include "cli.h"
#include "sim.h"
#include <inttypes.h>
#include <math.h>

struct way {
    const char *name, *label, *pairs; /* label: what fits beside a bar */
};

#define ORDER_SLEEP "victim=order idle=sleep cycle_attempts=all backoff_jitter=0 "
#define ONE_SLEEP "victim=one idle=sleep cycle_attempts=all backoff_jitter=0 "

static const struct way ways[] = {
    {"index order, fixed wait", "fixed wait", ORDER_SLEEP "probe=0"},
    {"index order, capped, doubling wait", "doubling wait",
     "victim=order idle=backoff backoff_jitter=0 probe=0"},
    {"index order, capped, doubling wait, in part random", "doubling, in part random",
     "victim=order idle=backoff probe=0"},
    {"one random victim, a probe takes time", "random victim, slow probe", ONE_SLEEP},
    {"index order, a probe takes time", "slow probe alone", ORDER_SLEEP},
    {"one random victim, a probe takes no time", "random victim alone", ONE_SLEEP "probe=0"},
};
enum { FIXED, DOUBLING, JITTER, ONE_PROBE, ORDER_PROBE, ONE, WAYS };

struct outcome {
    uint64_t n, ended, livelocks;
    struct summary makespan; /* of the runs that ended */
    struct summary collisions, steals;
};

static struct outcome outcome_of(const struct replications *r)
{
    struct outcome o = {.n = r->n, .collisions = replications_summary(r, METRIC_CONTENDED),
                        .steals = replications_summary(r, METRIC_STEALS)};
    for (uint64_t i = 0; i < r->n; i++) {
        o.livelocks += r->value[i][METRIC_LIVELOCK] > 0;
        if (r->value[i][METRIC_DONE] > 0) {
            o.ended++;
            summary_add(&o.makespan, r->value[i][METRIC_MAKESPAN]);
        }
    }
    return o;
}

static int run_ways(struct sim_job *job, struct outcome outcome[WAYS])
{
    struct setup_run run[WAYS];
    const struct setup_run *runs[WAYS];
    struct replications out[WAYS];
    int made = 0, rc = CLI_OK;
    for (; made < WAYS && rc == CLI_OK; made += rc == CLI_OK) {
        rc = sim_make(job, ways[made].pairs, 1, &run[made]);
        runs[made] = &run[made];
    }
    if (rc == CLI_OK)
        rc = sim_many(job, runs, WAYS, METRIC_DONE, out);
    for (int i = 0; i < WAYS && rc == CLI_OK; i++) {
        outcome[i] = outcome_of(&out[i]);
        replications_free(&out[i]);
    }
    for (int i = 0; i < made; i++)
        setup_free(&run[i]);
    return rc;
}

/* The first instants of the first way, and how it was found out that it goes on like that. */
static int show_first(struct sim_job *job)
{
    struct setup_run run;
    struct sim_result begin, whole;
    int rc = sim_make(job, ways[FIXED].pairs, 1, &run);
    if (rc != CLI_OK)
        return rc;
    rc = sim_once(job, &run, 0, &whole);
    if (rc == CLI_OK && run.config.until > run.config.policy.wait * 5 / 2)
        run.config.until = run.config.policy.wait * 5 / 2;
    if (rc == CLI_OK && (rc = sim_once(job, &run, 1, &begin)) == CLI_OK) {
        findings_lines(job->findings, "%s, the first three instants:\n", ways[FIXED].name);
        sim_show_run(job, &begin, ways[FIXED].name, 0);
        if (job->options.events && sim_write_events(&begin, job->options.events) != 0)
            rc = cli_fail("sim", "%s: cannot be written", job->options.events);
        findings_lines(job->findings, "It was given up after %" PRIu64 " searches in vain, %.1f s:\n",
                       whole.sum.vain, sim_time_seconds(whole.end));
        sim_show_stuck(job, &whole);
        sim_result_free(&begin);
    }
    sim_result_free(&whole);
    setup_free(&run);
    return rc;
}

static void show_table(struct sim_job *job, const struct outcome outcome[WAYS])
{
    struct table *t = findings_table(job->findings, "Does it end?",
                                     "way|runs|ended|livelock|makespan s|steals|collisions");
    for (int i = 0; i < WAYS; i++) {
        const struct outcome *o = &outcome[i];
        table_text(t, "%s", ways[i].name);
        table_number(t, (double)o->n, 0);
        table_number(t, (double)o->ended, 0);
        table_number(t, (double)o->livelocks, 0);
        if (o->ended)
            sim_interval_cell(t, &o->makespan, 2);
        else
            table_number(t, NAN, 2);
        sim_interval_cell(t, &o->steals, 2);
        sim_interval_cell(t, &o->collisions, 1);
    }
}

static void show_plots(struct sim_job *job, const struct outcome outcome[WAYS])
{
    double *ended = findings_keep(job->findings, WAYS * sizeof *ended);
    double *makespan = findings_keep(job->findings, WAYS * sizeof *makespan);
    const char **name = findings_keep(job->findings, WAYS * sizeof *name);
    for (int i = 0; i < WAYS; i++) {
        name[i] = ways[i].label;
        ended[i] = 100 * (double)outcome[i].ended / (double)outcome[i].n;
        makespan[i] = outcome[i].ended ? outcome[i].makespan.mean : NAN;
    }
    struct plot_series *s = findings_keep(job->findings, 2 * sizeof *s);
    s[0] = (struct plot_series){.n = WAYS, .y = ended};
    s[1] = (struct plot_series){.n = WAYS, .y = makespan};
    findings_plot(job->findings, &(struct plot){.kind = PLOT_BARS, .title = "Runs that end",
                                                .y_label = "percent of the runs", .n_series = 1,
                                                .series = &s[0], .n_categories = WAYS, .category = name});
    findings_plot(job->findings, &(struct plot){.kind = PLOT_BARS, .title = "And how long those take",
                                                .y_label = "mean makespan (s)", .n_series = 1,
                                                .series = &s[1], .n_categories = WAYS, .category = name});
}

/* "2.04 s", of the runs that ended. */
static const char *time_of(struct sim_job *job, const struct outcome *o)
{
    if (o->ended == 0)
        return "not at all";
    return findings_format(job->findings, "in %.2f s", o->makespan.mean);
}

static void answer(struct sim_job *job, const struct outcome o[WAYS])
{
    int stuck = o[FIXED].livelocks == o[FIXED].n && o[DOUBLING].livelocks == o[DOUBLING].n;
    int cured = o[JITTER].ended == o[JITTER].n && o[ONE].ended == o[ONE].n; /* by chance alone */
    findings_answer(job->findings, "Of %" PRIu64 " runs each, %" PRIu64 " end with a fixed wait and %" PRIu64
                    " with a capped search and a doubling wait; %" PRIu64 " end if a part of that wait is "
                    "random, %" PRIu64 " with one random victim per try and a probe that takes time%s",
                    o[FIXED].n, o[FIXED].ended, o[DOUBLING].ended, o[JITTER].ended, o[ONE_PROBE].ended,
                    stuck && cured ? ": a longer wait keeps them in step, a random choice parts them." : ".");
    findings_answer(job->findings, "A probe that takes time ends %s by itself, with %.1f steals per run, and "
                    "one random victim without it %s, with %.1f; both together end %s, the random wait %s.",
                    time_of(job, &o[ORDER_PROBE]), o[ORDER_PROBE].steals.mean, time_of(job, &o[ONE]),
                    o[ONE].steals.mean, time_of(job, &o[ONE_PROBE]), time_of(job, &o[JITTER]));
}

int sim_run_livelock(struct sim_job *job)
{
    struct outcome outcome[WAYS];
    int rc = sim_refuse_given(job, "victim idle");
    if (rc == CLI_OK)
        rc = run_ways(job, outcome);
    if (rc == CLI_OK)
        rc = show_first(job);
    if (rc != CLI_OK)
        return rc;
    show_table(job, outcome);
    show_plots(job, outcome);
    answer(job, outcome);
    return CLI_OK;
}
