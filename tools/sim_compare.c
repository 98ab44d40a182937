/* sim_compare.c: variants of a setup against the first of them, with the same random numbers. */
#include "cli.h"
#include "sim.h"
#include "sim/compare.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.95
#define VARIANTS_MOST 16

struct variant {
    const char *name;
    char pairs[SETUP_VALUE + 64];
    struct setup_run run;
    int made;
};

struct contest {
    struct sim_job *job;
    size_t n;
    struct variant variant[VARIANTS_MOST];
    struct replications figures[VARIANTS_MOST];
    enum metric metric; /* of the answer */
};

/* ---- words -------------------------------------------------------------------------------- */

/* metric=NAME, wherever a scenario takes it. */
int sim_metric_word(const char *text, enum metric *m)
{
    *m = metric_named(text);
    if (*m != METRICS)
        return CLI_OK;
    char list[400];
    size_t n = 0;
    for (int k = 0; k < METRICS && n < sizeof list; k++)
        n += (size_t)snprintf(list + n, sizeof list - n, " %s", metric_name((enum metric)k));
    return cli_usage("sim", "metric=%s: one of these is expected:%s", text, list);
}

static size_t key_length(const char *word)
{
    return strcspn(word, "=");
}

/* Does `text` begin with a key that a variant before it begins with? */
static int has_key_of_variant(const struct sim_job *job, const char *text)
{
    size_t n = key_length(text);
    for (int i = 0; i < job->words; i++)
        if (key_length(job->word[i]) == n && job->word[i][n] == '=' && memcmp(job->word[i], text, n) == 0)
            return 1;
    return 0;
}

int sim_compare_takes(const struct sim_job *job, const char *text)
{
    int variants = 0;
    for (int i = 0; i < job->words; i++)
        variants += strncmp(job->word[i], "metric=", 7) != 0;
    if (strncmp(text, "metric=", 7) == 0 || !strchr(text, '='))
        return 1;
    return variants < 2 || has_key_of_variant(job, text);
}

/* "largest", "base", or "steal=half,spin=2": as pairs separated by blanks. A comma that no key follows
 * belongs to the value before it. */
static int read_variant(struct variant *v, const char *word)
{
    v->name = word;
    if (strlen(word) >= SETUP_VALUE)
        return cli_usage("sim", "\"%.40s...\": too long", word);
    if (strcmp(word, "base") == 0)
        return CLI_OK;
    snprintf(v->pairs, sizeof v->pairs, "%s%s", strchr(word, '=') ? "" : "victim=", word);
    for (char *comma = strchr(v->pairs, ','); comma; comma = strchr(comma + 1, ',')) {
        size_t n = strcspn(comma + 1, ",=");
        char key[32];
        if (comma[1 + n] != '=' || n >= sizeof key)
            continue;
        snprintf(key, sizeof key, "%.*s", (int)n, comma + 1);
        if (setup_key_named(key) != SETUP_KEYS)
            *comma = ' ';
    }
    return CLI_OK;
}

static int read_words(struct contest *c)
{
    int rc = CLI_OK;
    c->metric = METRIC_MAKESPAN;
    for (int i = 0; i < c->job->words && rc == CLI_OK; i++) {
        const char *word = c->job->word[i];
        if (strncmp(word, "metric=", 7) == 0)
            rc = sim_metric_word(word + 7, &c->metric);
        else if (c->n == VARIANTS_MOST)
            rc = cli_usage("sim", "compare: at most %d variants", VARIANTS_MOST);
        else
            rc = read_variant(&c->variant[c->n++], word);
    }
    if (rc == CLI_OK && c->n < 2)
        rc = cli_usage("sim", "compare: at least two variants are expected, such as 'random largest' or "
                              "'base steal=half'");
    return rc;
}

/* ---- what came out ------------------------------------------------------------------------ */

static int is_shown(enum metric m)
{
    return m != METRIC_DONE && m != METRIC_EXECUTED;
}

/* Four digits at least. */
static int digits_of(double x)
{
    int digits = 0;
    for (x = x < 0 ? -x : x; x > 0 && x < 1000 && digits < 9; x *= 10)
        digits++;
    return digits > 0 ? digits : x > 0 ? 0 : 1;
}

/* Of a difference: three digits of its half width. */
static int digits_of_difference(const struct comparison *c, double by, int otherwise)
{
    double half = c->result.half_width * by;
    return half > 0 ? digits_of(10 * half) : otherwise;
}

static double unit_of(enum metric m, double most, const char **name)
{
    struct sim_unit unit = {metric_unit(m), 1};
    if (strcmp(unit.name, "s") == 0)
        unit = sim_unit_of(most);
    *name = unit.name;
    return unit.per_second;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static struct summary scaled(struct summary s, double by)
{
    s.mean *= by;
    s.m2 *= by * by;
    return s;
}

static void row(struct table *t, enum metric m, const struct comparison *c)
{
    const char *unit;
    double by = unit_of(m, larger(c->base.mean, c->variant.mean), &unit);
    int digits = digits_of(larger(c->base.mean, c->variant.mean) * by);
    struct summary base = scaled(c->base, by), variant = scaled(c->variant, by);
    table_text(t, "%s%s%s", metric_name(m), *unit ? " " : "", unit);
    sim_interval_cell(t, &base, digits);
    sim_interval_cell(t, &variant, digits);
    table_interval(t, c->result.difference * by, c->result.half_width * by,
                   digits_of_difference(c, by, digits));
    table_number(t, 100 * c->result.relative, 2);
    table_text(t, "%s", c->same ? "the same" : estimate_verdict_text(c->result.verdict));
}

static void table_of(struct contest *c, size_t k)
{
    struct findings *f = c->job->findings;
    const char *first = c->variant[0].name, *second = c->variant[k].name;
    struct table *t = findings_table(f, findings_format(f, "%s against %s", second, first),
                                     findings_format(f, "figure|%s|%s|difference|%%|%s is", first, second,
                                                     second));
    for (int m = 0; m < METRICS; m++) {
        struct comparison x = compare(&c->figures[0], &c->figures[k], (enum metric)m, LEVEL);
        if (is_shown((enum metric)m) && (x.base.mean != 0 || x.variant.mean != 0))
            row(t, (enum metric)m, &x);
    }
}

/* The figures with this verdict, but for the one of the answer. */
static const char *list_of(struct contest *c, size_t k, enum estimate_verdict verdict)
{
    char text[400] = "";
    size_t n = 0;
    for (int m = 0; m < METRICS && n < sizeof text; m++) {
        struct comparison x = compare(&c->figures[0], &c->figures[k], (enum metric)m, LEVEL);
        bool counts = is_shown((enum metric)m) && (enum metric)m != c->metric && !x.same;
        if (counts && x.result.verdict == verdict)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "",
                                  metric_name((enum metric)m));
    }
    return findings_format(c->job->findings, "%s", n ? text : "nothing");
}

static void answer(struct contest *c, size_t k)
{
    struct comparison x = compare(&c->figures[0], &c->figures[k], c->metric, LEVEL);
    const char *unit;
    double by = unit_of(c->metric, larger(x.base.mean, x.variant.mean), &unit);
    int digits = digits_of(larger(x.base.mean, x.variant.mean) * by);
    struct summary base = scaled(x.base, by), variant = scaled(x.variant, by);
    int finer = digits_of_difference(&x, by, digits);
    findings_answer(c->job->findings,
                    "%s against %s, %" PRIu64 " pairs of runs: %s %s against %s%s%s, difference %.*f ± %.*f "
                    "(%.2f %%): %s. Better too: %s. Worse: %s. No difference seen: %s.",
                    c->variant[k].name, c->variant[0].name, c->figures[k].n, metric_name(c->metric),
                    sim_interval(c->job, &variant, digits), sim_interval(c->job, &base, digits),
                    *unit ? " " : "", unit, finer, x.result.difference * by, finer,
                    x.result.half_width * by,
                    100 * x.result.relative,
                    x.same ? "the same in every run" : estimate_verdict_text(x.result.verdict),
                    list_of(c, k, ESTIMATE_BETTER), list_of(c, k, ESTIMATE_WORSE),
                    list_of(c, k, ESTIMATE_NO_DIFFERENCE));
}

static void tell_unfinished(struct contest *c)
{
    for (size_t k = 0; k < c->n; k++) {
        struct summary s = replications_summary(&c->figures[k], METRIC_DONE);
        if (s.mean < 1)
            findings_answer(c->job->findings,
                            "%s: %.0f of %" PRIu64 " runs stopped before all tasks had ended (stuck, or "
                            "`until` was reached); its figures are of what was done.",
                            c->variant[k].name, (1 - s.mean) * (double)s.n, s.n);
    }
}

#define PERCENT_MOST 400 /* figures beyond are left to the table */

struct bars {
    const char *category[METRICS];
    size_t n;
    double value[VARIANTS_MOST][3][METRICS]; /* of each variant: mean, low, high; in percent of the base */
};

/* False if there is nothing to compare with, or a variant is far beyond. */
static bool add_bar(struct contest *c, struct bars *b, enum metric m)
{
    double base = replications_summary(&c->figures[0], m).mean;
    if (!is_shown(m) || !(base > 0))
        return false;
    for (size_t k = 1; k < c->n; k++) {
        struct comparison x = compare(&c->figures[0], &c->figures[k], m, LEVEL);
        double mean = 100 * x.variant.mean / base, half = 100 * x.result.half_width / base;
        if (mean > PERCENT_MOST)
            return false;
        b->value[k][0][b->n] = mean;
        b->value[k][1][b->n] = larger(mean - half, 0);
        b->value[k][2][b->n] = mean + half;
    }
    b->category[b->n] = metric_name(m);
    return true;
}

static void plot_of(struct contest *c)
{
    struct findings *f = c->job->findings;
    struct bars *b = findings_keep(f, sizeof *b);
    struct plot_series *series = findings_keep(f, c->n * sizeof *series);
    struct plot_mark *mark = findings_keep(f, sizeof *mark);
    for (int m = 0; m < METRICS; m++)
        b->n += add_bar(c, b, (enum metric)m);
    for (size_t k = 1; k < c->n; k++)
        series[k - 1] = (struct plot_series){.name = c->variant[k].name,
                                             .n = b->n,
                                             .y = b->value[k][0],
                                             .low = b->value[k][1],
                                             .high = b->value[k][2]};
    *mark = (struct plot_mark){.at = 100, .label = c->variant[0].name};
    if (!c->job->options.no_plot && b->n > 0)
        findings_plot(f, &(struct plot){
            .kind = PLOT_BARS,
            .title = findings_format(f, "In percent of %s, with 95 %% intervals of the differences",
                                     c->variant[0].name),
            .y_label = "percent", .n_series = c->n - 1, .series = series, .n_categories = b->n,
            .category = b->category, .n_marks = 1, .mark = mark});
}

static void show(struct contest *c)
{
    for (size_t k = 1; k < c->n; k++)
        table_of(c, k);
    findings_text(c->job->findings,
                  "Run i of every variant has the same tasks and the same seeds. ± is half the 95 %% "
                  "interval, of a difference that of the paired runs; of 20 figures that do not differ, one "
                  "looks as if it did.");
    plot_of(c);
    for (size_t k = 1; k < c->n; k++)
        answer(c, k);
    tell_unfinished(c);
}

int sim_run_compare(struct sim_job *job)
{
    struct contest *c = calloc(1, sizeof *c);
    const struct setup_run *runs[VARIANTS_MOST];
    if (!c)
        return cli_fail("sim", "no memory");
    c->job = job;
    int rc = read_words(c);
    for (size_t k = 0; k < c->n && rc == CLI_OK; k++) {
        rc = sim_make(job, c->variant[k].pairs, 1, &c->variant[k].run);
        c->variant[k].made = rc == CLI_OK;
        runs[k] = &c->variant[k].run;
    }
    if (rc == CLI_OK)
        rc = sim_many(job, runs, c->n, c->metric, c->figures);
    if (rc == CLI_OK)
        show(c);
    for (size_t k = 0; k < c->n; k++) {
        replications_free(&c->figures[k]);
        if (c->variant[k].made)
            setup_free(&c->variant[k].run);
    }
    free(c);
    return rc;
}
