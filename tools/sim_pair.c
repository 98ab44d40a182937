/* sim_pair.c: two ways of scheduling the same load, replication by replication. */
#include "cli.h"
#include "sim.h"
#include "sim/compare.h"
#include <string.h>

struct paired_result sim_judge(const struct replications *first, const struct replications *second,
                               enum metric m)
{
    return compare(first, second, m, 0.95).result;
}

static int digits_of(enum metric m)
{
    const char *unit = metric_unit(m);
    return strcmp(unit, "s") == 0 ? 3 : 2;
}

static void figure_cell(struct table *t, enum metric m)
{
    char name[40];
    size_t n = (size_t)snprintf(name, sizeof name, "%s", metric_name(m));
    for (size_t i = 0; i < n && i < sizeof name; i++)
        if (name[i] == '_')
            name[i] = ' ';
    if (*metric_unit(m))
        table_text(t, "%s, %s", name, metric_unit(m));
    else
        table_text(t, "%s", name);
}

void sim_pair_rows(struct table *t, const char *load, const struct replications *first,
                   const struct replications *second, const enum metric *metrics, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum metric m = metrics[i];
        struct paired_result r = sim_judge(first, second, m);
        struct summary a = replications_summary(first, m), b = replications_summary(second, m);
        table_text(t, "%s", load);
        figure_cell(t, m);
        sim_interval_cell(t, &a, digits_of(m));
        sim_interval_cell(t, &b, digits_of(m));
        table_interval(t, r.difference, r.half_width, digits_of(m));
        table_text(t, "%s", estimate_verdict_text(r.verdict));
    }
}

const char *sim_difference(struct sim_job *job, const struct paired_result *r, int digits)
{
    if (r->difference == 0 && r->half_width == 0)
        return "0 in every run";
    return findings_format(job->findings, "%+.*f ± %.*f", digits, r->difference, digits, r->half_width);
}

const char *sim_judged(struct sim_job *job, const struct paired_result *r, int digits, const char *unit)
{
    if (r->difference == 0 && r->half_width == 0)
        return "the same in every run";
    return findings_format(job->findings, "%s%s, %s", sim_difference(job, r, digits), unit,
                           estimate_verdict_text(r->verdict));
}

int sim_refuse_given(const struct sim_job *job, const char *keys)
{
    char name[40];
    for (const char *k = keys; *k; k += strspn(k, " ")) {
        size_t n = strcspn(k, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, k);
        k += n;
        if (setup_given(&job->setup, setup_key_named(name)))
            return cli_usage("sim", "%s: %s= is what this scenario compares; 'filch sim run' takes any",
                             job->scenario->name, name);
    }
    return CLI_OK;
}
