/* sim_adaptive.c: thieves that look at the longest queue first, against random order, on document 003's own
 * load: 12, 1, 2 and 0 tasks. */
#include "cli.h"
#include "sim.h"
#include <inttypes.h>
#include <string.h>

enum { SIZES = 5 }; /* the load once, 2, 4, ... times beside each other, each with as many workers more */

static const enum metric shown[] = {METRIC_MAKESPAN, METRIC_IMBALANCE, METRIC_STOLEN};

/* burst= for `copies` of the load side by side; null if it does not fit. */
static const char *copies_of(struct sim_job *job, const struct setup_run *run, uint32_t copies)
{
    const struct sim_arrivals *a = &run->load.arrivals;
    char *text = findings_keep(job->findings, SETUP_VALUE);
    size_t n = 0;
    if (a->kind != SIM_ARRIVE_BURSTS || (uint64_t)copies * a->bursts > SETUP_BURSTS)
        return NULL;
    for (uint32_t i = 0; i < a->bursts; i++) {
        for (uint32_t k = 0; k < copies; k++) {
            const struct sim_burst *b = &a->burst[i];
            if (b->worker < 0 || n >= SETUP_VALUE)
                return NULL;
            n += (size_t)snprintf(text + n, SETUP_VALUE - n, "%s%" PRId64 "ns:%u:%u", n ? "," : "", b->at,
                                  (uint32_t)b->worker + k * run->config.workers, b->tasks);
        }
    }
    return n < SETUP_VALUE ? text : NULL;
}

/* out[0] with random victims, out[1] with the longest queue first. `load` is pairs, or empty. */
static int run_both(struct sim_job *job, const char *load, struct replications out[2])
{
    static const char *const victim[] = {"shuffle", "largest"};
    struct setup_run run[2];
    const struct setup_run *const runs[] = {&run[0], &run[1]};
    int rc = CLI_OK, made = 0;
    while (made < 2 && rc == CLI_OK) {
        rc = sim_make(job, findings_format(job->findings, "victim=%s until=never %s", victim[made], load), 1,
                      &run[made]);
        made += rc == CLI_OK;
    }
    if (rc == CLI_OK)
        rc = sim_many(job, runs, 2, METRIC_MAKESPAN, out);
    while (made-- > 0)
        setup_free(&run[made]);
    return rc;
}

struct sizes {
    uint32_t workers[SIZES];
    struct replications runs[SIZES][2];
    int n;
};

static int run_sizes(struct sim_job *job, const struct setup_run *run, struct sizes *s)
{
    int rc = CLI_OK;
    for (uint32_t copies = 1; s->n < SIZES && rc == CLI_OK; copies *= 2) {
        const char *burst = copies_of(job, run, copies), *load = "";
        uint32_t workers = copies * run->config.workers;
        if (copies > 1 && (!burst || workers > SIM_MAX_WORKERS))
            break;
        if (copies > 1)
            load = findings_format(job->findings, "workers=%u burst=%s", workers, burst);
        rc = run_both(job, load, s->runs[s->n]);
        s->workers[s->n] = workers;
        s->n += rc == CLI_OK;
    }
    return rc;
}

static void show_sizes(struct sim_job *job, const struct sizes *s)
{
    struct sim_curve *c = sim_curve_new(job);
    struct table *t = findings_table(job->findings, "Until all is done",
                                     "load|figure|random|adaptive|difference|adaptive is");
    c->name[0] = "random";
    c->name[1] = "adaptive";
    for (int i = 0; i < s->n; i++) {
        sim_pair_rows(t, findings_format(job->findings, "%u workers", s->workers[i]), &s->runs[i][0],
                      &s->runs[i][1], shown, sizeof shown / sizeof *shown);
        for (size_t k = 0; k < 2; k++) {
            struct summary makespan = replications_summary(&s->runs[i][k], METRIC_MAKESPAN);
            sim_curve_add(c, k, (double)s->workers[i], &makespan);
        }
    }
    if (s->n > 1)
        sim_curve_show(job, c, (struct plot){.title = "The same load once, twice, ... side by side: makespan",
                                             .x_label = "workers", .y_label = "s", .log_x = 2});
}

static const char *told(struct sim_job *job, const struct replications runs[2], enum metric m, int digits)
{
    struct paired_result r = sim_judge(&runs[0], &runs[1], m);
    return findings_format(job->findings, "%.*f against %.*f %s (%s: %s)", digits,
                           replications_summary(&runs[1], m).mean, digits,
                           replications_summary(&runs[0], m).mean, metric_unit(m),
                           estimate_verdict_text(r.verdict), sim_difference(job, &r, digits));
}

static void answer(struct sim_job *job, const struct sizes *s)
{
    const struct replications *own = s->runs[0], *last = s->runs[s->n - 1];
    struct paired_result r = sim_judge(&own[0], &own[1], METRIC_IMBALANCE);
    const char *larger = "";
    if (s->n > 1)
        larger = findings_format(job->findings, " With %u workers the makespan is %s.", s->workers[s->n - 1],
                                 told(job, last, METRIC_MAKESPAN, 3));
    findings_answer(job->findings,
                    "That the largest queue first \"leads to better load balancing\" than a random order is "
                    "%s by %" PRIu64 " paired runs with %u workers: the imbalance is %s, the makespan %s. It "
                    "takes %.2f steals instead of %.2f.%s",
                    r.verdict == ESTIMATE_BETTER ? "confirmed" : "not confirmed", own[0].n, s->workers[0],
                    told(job, own, METRIC_IMBALANCE, 2), told(job, own, METRIC_MAKESPAN, 3),
                    replications_summary(&own[1], METRIC_STOLEN).mean,
                    replications_summary(&own[0], METRIC_STOLEN).mean, larger);
}

static int judge(struct sim_job *job, const struct setup_run *run)
{
    struct sizes s = {.n = 0};
    int rc = run_sizes(job, run, &s);
    if (rc == CLI_OK) {
        show_sizes(job, &s);
        answer(job, &s);
    }
    for (int i = 0; i < s.n; i++)
        for (int k = 0; k < 2; k++)
            replications_free(&s.runs[i][k]);
    return rc;
}

int sim_run_adaptive(struct sim_job *job)
{
    struct setup_run run;
    struct sim_result r;
    int rc = sim_refuse_given(job, "victim");
    if (rc == CLI_OK)
        rc = sim_make(job, NULL, 0, &run);
    if (rc != CLI_OK)
        return rc;
    rc = sim_show_once(job, &run, job->scenario->summary, 1, &r);
    if (rc == CLI_OK) {
        sim_result_free(&r);
        rc = judge(job, &run);
    }
    setup_free(&run);
    return rc;
}
