/* sim_bursts.c: the longest queue first against random victims, where tasks arrive in bursts.
 *
 * The choice can only matter while two queues have tasks. So there are three variants, and it is counted in
 * how many runs tasks of the first burst still wait when the second one comes. */
#include "cli.h"
#include "sim.h"
#include <math.h>

enum { VARIANTS = 3 };
enum { RANDOM, LARGEST, POLICIES };

struct variant {
    const char *name, *label, *pairs; /* label: what fits beside a bar */
};
static const struct variant variants[VARIANTS] = {
    {"12 and 12 tasks, at 0 and 5 s", "12, 12 at 5 s", "burst=0:0:12,5:1:12"},
    {"24 and 12 tasks, at 0 and 5 s", "24, 12 at 5 s", "burst=0:0:24,5:1:12"},
    {"12 and 12 tasks, at 0 and 15 s", "12, 12 at 15 s", "burst=0:0:12,15:1:12"},
};
static const char *const policies[POLICIES] = {"victim=shuffle", "victim=largest"};

static int run_variant(struct sim_job *job, const struct variant *v, struct replications out[POLICIES])
{
    struct setup_run run[POLICIES];
    const struct setup_run *runs[POLICIES];
    int made = 0, rc = CLI_OK;
    for (; made < POLICIES && rc == CLI_OK; made += rc == CLI_OK) {
        rc = sim_make(job, findings_format(job->findings, "%s %s", v->pairs, policies[made]), 1, &run[made]);
        runs[made] = &run[made];
    }
    if (rc == CLI_OK)
        rc = sim_many(job, runs, POLICIES, METRIC_MAKESPAN, out);
    for (int i = 0; i < made; i++)
        setup_free(&run[i]);
    return rc;
}

/* Stores the share of `n` runs in which the second burst finds tasks in a queue. */
static int measure_overlap(struct sim_job *job, const struct variant *v, uint64_t n, double *share)
{
    struct setup_run run;
    struct sim_result r;
    char message[300];
    uint64_t waiting = 0;
    int rc = sim_make(job, v->pairs, 1, &run);
    if (rc != CLI_OK)
        return rc;
    for (uint64_t i = 0; i < n && rc == CLI_OK; i++) {
        struct sim_config config;
        struct sim_load load;
        setup_replication(&run, i, &config, &load);
        config.until = load.arrivals.burst[1].at - 1;
        if (sim_run(&config, &load, &r, message, sizeof message) != 0) {
            rc = cli_fail("sim", "%s: %s", job->scenario->name, message);
            break;
        }
        waiting += r.sum.queue > 0;
        sim_result_free(&r);
    }
    *share = (double)waiting / (double)n;
    setup_free(&run);
    return rc;
}

/* One run with the longest queue first. */
static int show_one(struct sim_job *job)
{
    struct setup_run run;
    struct sim_result r;
    int rc = sim_make(job, policies[LARGEST], 1, &run);
    if (rc != CLI_OK)
        return rc;
    rc = sim_once(job, &run, 1, &r);
    if (rc == CLI_OK) {
        sim_show_run(job, &r, "The longest queue first", 1);
        sim_show_stuck(job, &r);
        sim_show_gantt(job, &r, "The longest queue first: who ran what");
        if (job->options.events && sim_write_events(&r, job->options.events) != 0)
            rc = cli_fail("sim", "%s: cannot be written", job->options.events);
        sim_result_free(&r);
    }
    setup_free(&run);
    return rc;
}

static void show_table(struct sim_job *job, struct replications out[VARIANTS][POLICIES])
{
    static const enum metric metrics[] = {METRIC_MAKESPAN, METRIC_STEALS, METRIC_ATTEMPTS, METRIC_FAILED,
                                          METRIC_QUEUED};
    struct table *t = findings_table(job->findings, "The longest queue first, against random ones",
                                     "bursts|figure|random|longest first|difference|that is");
    for (int v = 0; v < VARIANTS; v++)
        sim_pair_rows(t, variants[v].label, &out[v][RANDOM], &out[v][LARGEST], metrics,
                      sizeof metrics / sizeof *metrics);
}

static struct plot_series bars_of(struct sim_job *job, const char *name, enum metric m,
                                  struct replications out[VARIANTS][POLICIES], int policy)
{
    double *y = findings_keep(job->findings, VARIANTS * sizeof *y);
    for (int v = 0; v < VARIANTS; v++)
        y[v] = replications_summary(&out[v][policy], m).mean;
    return (struct plot_series){.name = name, .n = VARIANTS, .y = y};
}

static void show_plots(struct sim_job *job, struct replications out[VARIANTS][POLICIES])
{
    static const struct {
        enum metric m;
        const char *title, *label;
    } charts[] = {{METRIC_STEALS, "Steals", "steals per run"},
                  {METRIC_FAILED, "Looks that found nothing", "per run"}};
    static const char *category[VARIANTS];
    for (int v = 0; v < VARIANTS; v++)
        category[v] = variants[v].label;
    for (size_t i = 0; i < sizeof charts / sizeof *charts; i++) {
        struct plot_series *s = findings_keep(job->findings, POLICIES * sizeof *s);
        s[RANDOM] = bars_of(job, "random", charts[i].m, out, RANDOM);
        s[LARGEST] = bars_of(job, "longest first", charts[i].m, out, LARGEST);
        findings_plot(job->findings, &(struct plot){.kind = PLOT_BARS, .title = charts[i].title,
                                                    .y_label = charts[i].label, .n_series = POLICIES,
                                                    .series = s, .n_categories = VARIANTS,
                                                    .category = category});
    }
}

static const char *effect(struct sim_job *job, const struct paired_result *time)
{
    const char *word = time->verdict == ESTIMATE_BETTER ? "helps" : "hurts";
    if (time->verdict == ESTIMATE_NO_DIFFERENCE)
        return "neither helps nor hurts, as far as is seen";
    return findings_format(job->findings, "%s by %.2f %%", word, 100 * fabs(time->relative));
}

static double mean_of(const struct replications *r, enum metric m)
{
    return replications_summary(r, m).mean;
}

static void answer(struct sim_job *job, const char *name, const struct replications out[POLICIES],
                   double overlap)
{
    const struct replications *random = &out[RANDOM], *largest = &out[LARGEST];
    struct paired_result time = sim_judge(random, largest, METRIC_MAKESPAN);
    struct paired_result steals = sim_judge(random, largest, METRIC_STEALS);
    findings_answer(job->findings,
                    "%s (in %.0f %% of the runs tasks of the first still wait when the second burst "
                    "comes): the longest queue first %s. Total time %.3f s instead of %.3f s (%s), "
                    "%.2f steals instead of %.2f (%s), %.1f looks in vain instead of %.1f.",
                    name, 100 * overlap, effect(job, &time),
                    mean_of(largest, METRIC_MAKESPAN), mean_of(random, METRIC_MAKESPAN),
                    sim_judged(job, &time, 3, " s"), mean_of(largest, METRIC_STEALS),
                    mean_of(random, METRIC_STEALS), sim_judged(job, &steals, 2, ""),
                    mean_of(largest, METRIC_FAILED), mean_of(random, METRIC_FAILED));
}

int sim_run_bursts(struct sim_job *job)
{
    struct replications out[VARIANTS][POLICIES] = {0};
    double overlap[VARIANTS] = {0};
    int rc = sim_refuse_given(job, "victim burst arrive load");
    for (int v = 0; v < VARIANTS && rc == CLI_OK; v++) {
        rc = run_variant(job, &variants[v], out[v]);
        if (rc == CLI_OK)
            rc = measure_overlap(job, &variants[v], out[v][RANDOM].n, &overlap[v]);
    }
    if (rc == CLI_OK)
        rc = show_one(job);
    if (rc == CLI_OK) {
        show_table(job, out);
        show_plots(job, out);
        for (int v = 0; v < VARIANTS; v++)
            answer(job, variants[v].name, out[v], overlap[v]);
        findings_text(job->findings, "To read the lengths of all queues is no look, and takes no time.");
    }
    for (int i = 0; i < VARIANTS * POLICIES; i++)
        replications_free(&out[i / POLICIES][i % POLICIES]);
    return rc;
}
