/* sim_ends.c: which ends of a deque owner and thief take from: how often they meet, and how often there is
 * something to steal.
 *
 * Two loads. A queue with many equal tasks, its owner and one thief: every wait for a lock is for the other
 * of the two. A fork-join tree on many workers: the oldest task of a queue is the root of a large subtree, so
 * that the ends decide for how long a theft keeps its thief busy. */
#include "cli.h"
#include "sim.h"
#include <inttypes.h>

#define VARIANTS 6

struct variant {
    const char *ends, *own_end, *locks, *take;
};

/* The first is the asymmetry of document 003, the third is what it is compared with. */
static const struct variant variants[VARIANTS] = {
    {"lifo", "on", "per end", "owner newest, thief oldest"},
    {"reverse", "on", "per end", "owner oldest, thief newest"},
    {"fifo", "on", "per end", "both oldest"},
    {"lifo", "off", "one", "owner newest, thief oldest"},
    {"reverse", "off", "one", "owner oldest, thief newest"},
    {"fifo", "off", "one", "both oldest"},
};

enum { LIFO, REVERSE, FIFO };

struct measured {
    struct summary contended, steals, time; /* waits for a lock; thefts; seconds           */
    uint64_t tasks, longest;                /* of the first replication; its longest queue */
};

/* ---- runs --------------------------------------------------------------------------------- */

static int measure_longest(struct sim_job *job, const struct setup_run *run, struct measured *m)
{
    struct sim_result r;
    int rc = sim_once(job, run, 0, &r);
    if (rc != CLI_OK)
        return rc;
    m->tasks = r.completed;
    m->longest = r.sum.longest;
    if (r.how != SIM_DONE)
        rc = cli_fail("sim", "ends: a run did not end: %s", sim_end_name(r.how));
    sim_result_free(&r);
    return rc;
}

/* `pairs` make the load, over what the user gave. */
static int measure(struct sim_job *job, const char *pairs, struct measured m[VARIANTS])
{
    struct setup_run run[VARIANTS] = {0};
    const struct setup_run *runs[VARIANTS];
    struct replications r[VARIANTS] = {0};
    int rc = CLI_OK;
    for (int i = 0; i < VARIANTS && rc == CLI_OK; i++) {
        runs[i] = &run[i];
        rc = sim_make(job, findings_format(job->findings, "%s ends=%s own_end=%s", pairs, variants[i].ends,
                                           variants[i].own_end), 1, &run[i]);
        if (rc == CLI_OK)
            rc = measure_longest(job, &run[i], &m[i]);
    }
    if (rc == CLI_OK)
        rc = sim_many(job, runs, VARIANTS, METRIC_CONTENDED, r);
    for (int i = 0; i < VARIANTS; i++) {
        m[i].contended = replications_summary(&r[i], METRIC_CONTENDED);
        m[i].steals = replications_summary(&r[i], METRIC_STEALS);
        m[i].time = replications_summary(&r[i], METRIC_MAKESPAN);
        replications_free(&r[i]);
        setup_free(&run[i]);
    }
    return rc;
}

/* ---- what is shown ------------------------------------------------------------------------ */

static void show_table(struct sim_job *job, const char *title, const struct measured m[VARIANTS])
{
    struct sim_unit unit = sim_unit_of(m[LIFO].time.mean);
    const char *columns = findings_format(job->findings, "ends|taken|locks|waits for a lock|steals|"
                                          "longest queue|time (%s)", unit.name);
    struct table *t = findings_table(job->findings, title, columns);
    for (int i = 0; i < VARIANTS; i++) {
        table_text(t, "%s", variants[i].ends);
        table_text(t, "%s", variants[i].take);
        table_text(t, "%s", variants[i].locks);
        sim_interval_cell(t, &m[i].contended, 1);
        sim_interval_cell(t, &m[i].steals, 1);
        table_number(t, (double)m[i].longest, 0);
        table_interval(t, m[i].time.mean * unit.per_second,
                       estimate_half_width(&m[i].time, 0.95) * unit.per_second, 3);
    }
}

static double per_1000(const struct measured *m, const struct summary *s)
{
    return 1000 * s->mean / (double)m->tasks;
}

static void show_plot(struct sim_job *job, const struct measured pair[VARIANTS],
                      const struct measured tree[VARIANTS])
{
    struct findings *f = job->findings;
    const char **category = findings_keep(f, VARIANTS * sizeof *category);
    struct plot_series *s = findings_keep(f, 3 * sizeof *s);
    double *y[3];
    for (int k = 0; k < 3; k++)
        y[k] = findings_keep(f, VARIANTS * sizeof *y[k]);
    for (int i = 0; i < VARIANTS; i++) {
        category[i] = findings_format(f, "%s, %s lock%s", variants[i].ends, i < 3 ? "two" : "one",
                                      i < 3 ? "s" : "");
        y[0][i] = per_1000(&pair[i], &pair[i].contended);
        y[1][i] = per_1000(&tree[i], &tree[i].contended);
        y[2][i] = per_1000(&tree[i], &tree[i].steals);
    }
    s[0] = (struct plot_series){.name = "waits, owner and thief", .n = VARIANTS, .y = y[0]};
    s[1] = (struct plot_series){.name = "waits, tree", .n = VARIANTS, .y = y[1]};
    s[2] = (struct plot_series){.name = "steals, tree", .n = VARIANTS, .y = y[2]};
    findings_plot(f, &(struct plot){.kind = PLOT_BARS, .title = "Opposite ends and the same end",
                                    .y_label = "per 1,000 tasks", .n_categories = VARIANTS,
                                    .category = category, .n_series = 3, .series = s});
}

static double percent_more(const struct measured *a, const struct measured *b)
{
    return 100 * (b->time.mean / a->time.mean - 1);
}

static void answer(struct sim_job *job, const struct measured pair[VARIANTS],
                   const struct measured tree[VARIANTS])
{
    findings_answer(job->findings,
                    "Contention: an owner and a thief with a lock per end wait for each other %.1f times in %"
                    PRIu64 " tasks at opposite ends, and %.0f times at the same end; with one lock for both "
                    "ends the ends make no difference to that (%.0f and %.0f). Steals: on a tree of %" PRIu64
                    " tasks thieves that take the oldest, the owner the newest, come %.0f times, at the same "
                    "end %.0f times (%+.1f %% time), with the ends reversed %.0f times (%+.1f %% time); the "
                    "longest queue has %" PRIu64 ", %" PRIu64 " and %" PRIu64 " tasks.",
                    pair[LIFO].contended.mean, pair[LIFO].tasks, pair[FIFO].contended.mean,
                    pair[LIFO + 3].contended.mean, pair[FIFO + 3].contended.mean, tree[LIFO].tasks,
                    tree[LIFO].steals.mean, tree[FIFO].steals.mean, percent_more(&tree[LIFO], &tree[FIFO]),
                    tree[REVERSE].steals.mean, percent_more(&tree[LIFO], &tree[REVERSE]), tree[LIFO].longest,
                    tree[FIFO].longest, tree[REVERSE].longest);
}

int sim_run_ends(struct sim_job *job)
{
    struct measured pair[VARIANTS] = {0}, tree[VARIANTS] = {0};
    int rc = measure(job, "load=plain arrive=start place=0 workers=2", pair);
    if (rc == CLI_OK)
        rc = measure(job, "load=tree", tree);
    if (rc != CLI_OK)
        return rc;
    show_table(job, "An owner and a thief", pair);
    show_table(job, "A fork-join tree", tree);
    show_plot(job, pair, tree);
    answer(job, pair, tree);
    return CLI_OK;
}
