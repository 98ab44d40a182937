/* sim_sweep.c: a figure over every combination of some settings. */
#include "cli.h"
#include "sim.h"
#include "sim/compare.h"
#include "sim/values.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.95
#define AXES_MOST 8
#define POINTS_MOST 4096
#define METRICS_SHOWN 6

struct axis {
    enum setup_key key;
    struct values values;
};

struct grid {
    struct sim_job *job;
    size_t axes;           /* settings with several values; the first is the x axis of the plot */
    struct axis axis[AXES_MOST];
    size_t metrics;
    enum metric metric[METRICS_SHOWN]; /* the first is plotted and answered */
    size_t n;
    struct replications *point; /* the last axis runs fastest */
};

/* ---- arguments ---------------------------------------------------------------------------- */

static int read_metrics(struct grid *g, const char *list)
{
    char name[40];
    int rc = CLI_OK;
    for (const char *next = list; next && rc == CLI_OK;) {
        size_t n = strcspn(next, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, next);
        if (g->metrics == METRICS_SHOWN)
            return cli_usage("sim", "metric=%s: at most %d of them", list, METRICS_SHOWN);
        rc = sim_metric_word(name, &g->metric[g->metrics++]);
        next = next[n] ? next + n + 1 : NULL;
    }
    return rc;
}

static int add_axis(struct grid *g, enum setup_key key, struct values *v)
{
    for (size_t i = 0; i < g->axes; i++)
        if (g->axis[i].key == key)
            return cli_usage("sim", "sweep: %s= is given twice", setup_key_help(key)->name);
    if (g->axes == AXES_MOST)
        return cli_usage("sim", "sweep: at most %d settings with several values", AXES_MOST);
    g->axis[g->axes++] = (struct axis){key, *v};
    *v = (struct values){0};
    return CLI_OK;
}

/* KEY=VALUES: an axis if there are several. */
static int read_setting(struct grid *g, const char *word)
{
    char name[40], message[300];
    struct values v;
    size_t n = strcspn(word, "=");
    if (word[n] != '=')
        return cli_usage("sim", "sweep: \"%.40s\" is no KEY=VALUES", word);
    snprintf(name, sizeof name, "%.*s", (int)(n < 39 ? n : 39), word);
    enum setup_key key = setup_key_named(name);
    if (key == SETUP_KEYS)
        return cli_usage("sim", "there is no setting \"%s\"", name);
    if (values_parse(&v, key, word + n + 1, message, sizeof message) != 0)
        return cli_usage("sim", "%s", message);
    int rc = CLI_OK;
    if (v.n > 1)
        rc = add_axis(g, key, &v);
    else if (setup_set(&g->job->setup, name, v.value[0], true, message, sizeof message) != 0)
        rc = cli_usage("sim", "%s", message);
    values_free(&v);
    return rc;
}

static int read_words(struct grid *g)
{
    int rc = CLI_OK;
    for (int i = 0; i < g->job->words && rc == CLI_OK; i++) {
        const char *word = g->job->word[i];
        rc = strncmp(word, "metric=", 7) == 0 ? read_metrics(g, word + 7) : read_setting(g, word);
    }
    if (g->metrics == 0)
        g->metric[g->metrics++] = METRIC_MAKESPAN;
    g->n = 1;
    for (size_t i = 0; i < g->axes && rc == CLI_OK; i++)
        if ((g->n *= g->axis[i].values.n) > POINTS_MOST)
            rc = cli_usage("sim", "sweep: more than %d combinations", POINTS_MOST);
    if (rc == CLI_OK && g->axes == 0)
        rc = cli_usage("sim", "sweep: a setting with several values is expected, such as workers=2..8");
    return rc;
}

/* ---- runs --------------------------------------------------------------------------------- */

static const char *value_at(const struct grid *g, size_t point, size_t axis)
{
    for (size_t i = g->axes - 1; i > axis; i--)
        point /= g->axis[i].values.n;
    return g->axis[axis].values.value[point % g->axis[axis].values.n];
}

/* "steal=half spin=2", from the axis `first` on. */
static const char *name_of(const struct grid *g, size_t point, size_t first)
{
    const char *name = "";
    for (size_t i = first; i < g->axes; i++)
        name = findings_format(g->job->findings, "%s%s%s=%s", name, *name ? " " : "",
                               setup_key_help(g->axis[i].key)->name, value_at(g, point, i));
    return name;
}

static int run_point(struct grid *g, size_t i)
{
    struct setup_run run;
    const struct setup_run *runs[] = {&run};
    int rc = sim_make(g->job, name_of(g, i, 0), 1, &run);
    if (rc != CLI_OK)
        return rc;
    rc = sim_many(g->job, runs, 1, g->metric[0], &g->point[i]);
    setup_free(&run);
    return rc;
}

static int run_all(struct grid *g)
{
    int rc = CLI_OK;
    g->point = calloc(g->n, sizeof *g->point);
    if (!g->point)
        return cli_fail("sim", "no memory");
    for (size_t i = 0; i < g->n && rc == CLI_OK; i++)
        rc = run_point(g, i);
    return rc;
}

/* ---- what came out ------------------------------------------------------------------------ */

/* Of the metric at all points: the unit in which the largest reads well. */
static struct sim_unit unit_of(const struct grid *g, enum metric m)
{
    double most = 0;
    for (size_t i = 0; i < g->n; i++) {
        double mean = replications_summary(&g->point[i], m).mean;
        most = mean > most ? mean : most;
    }
    return strcmp(metric_unit(m), "s") == 0 ? sim_unit_of(most) : (struct sim_unit){metric_unit(m), 1};
}

static struct summary figure(const struct grid *g, size_t i, enum metric m, struct sim_unit unit)
{
    struct summary s = replications_summary(&g->point[i], m);
    s.mean *= unit.per_second;
    s.m2 *= unit.per_second * unit.per_second;
    return s;
}

static int is_better(enum metric m, double a, double b)
{
    return metric_more_is_better(m) ? a > b : a < b;
}

static size_t extreme(const struct grid *g, int best)
{
    size_t found = 0;
    for (size_t i = 1; i < g->n; i++) {
        double a = replications_summary(&g->point[i], g->metric[0]).mean;
        double b = replications_summary(&g->point[found], g->metric[0]).mean;
        if (best ? is_better(g->metric[0], a, b) : is_better(g->metric[0], b, a))
            found = i;
    }
    return found;
}

/* "idle, s" */
static const char *labelled(struct findings *f, const char *name, const char *unit)
{
    return findings_format(f, "%s%s%s", name, *unit ? ", " : "", unit);
}

static void table_of(struct grid *g, size_t best)
{
    struct findings *f = g->job->findings;
    const char *columns = "";
    for (size_t i = 0; i < g->axes; i++)
        columns = findings_format(f, "%s%s|", columns, setup_key_help(g->axis[i].key)->name);
    for (size_t k = 0; k < g->metrics; k++) {
        const char *unit = unit_of(g, g->metric[k]).name;
        columns = findings_format(f, "%s%s|", columns, labelled(f, metric_name(g->metric[k]), unit));
    }
    columns = findings_format(f, "%sagainst the best", columns);
    struct table *t = findings_table(f, "Sweep", columns);
    for (size_t i = 0; i < g->n; i++) {
        for (size_t a = 0; a < g->axes; a++)
            table_text(t, "%s", value_at(g, i, a));
        for (size_t k = 0; k < g->metrics; k++) {
            struct summary s = figure(g, i, g->metric[k], unit_of(g, g->metric[k]));
            sim_interval_cell(t, &s, 3);
        }
        struct comparison c = compare(&g->point[best], &g->point[i], g->metric[0], LEVEL);
        table_text(t, "%s", i == best ? "the best" : c.same ? "the same"
                                                            : estimate_verdict_text(c.result.verdict));
    }
}

/* The first axis as numbers, times in seconds; false if some value is neither. */
static bool abscissas(const struct grid *g, double *x, bool *times)
{
    const struct values *v = &g->axis[0].values;
    for (size_t i = 0; i < v->n; i++) {
        const char *text = v->value[i];
        char *end;
        sim_time t;
        x[i] = strtod(text, &end);
        if (*text >= '0' && *text <= '9' && *end == '\0')
            continue;
        if (sim_time_parse(text, &t, NULL, 0) != 0)
            return false;
        x[i] = sim_time_seconds(t);
        *times = true;
    }
    return true;
}

/* The base of the x axis: values that grow by factors need a logarithmic one. Times get their unit. */
static int scale_of(double *x, size_t n, bool times, const char **unit)
{
    double least = x[0], most = x[0];
    for (size_t i = 1; i < n; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    struct sim_unit u = times ? sim_unit_of(least > 0 ? least : most) : (struct sim_unit){"", 1};
    *unit = u.name;
    for (size_t i = 0; i < n; i++)
        x[i] *= u.per_second;
    if (least <= 0 || most / least < 16 || n >= 16)
        return 0;
    return times ? 10 : 2;
}

/* One line, or row of bars, for each combination of the other axes. */
static void series_of(const struct grid *g, struct plot *p, const double *x)
{
    struct findings *f = g->job->findings;
    size_t n = g->axis[0].values.n, lines = g->n / n;
    struct plot_series *s = findings_keep(f, lines * sizeof *s);
    double *y = findings_keep(f, 3 * g->n * sizeof *y);
    struct sim_unit unit = unit_of(g, g->metric[0]);
    for (size_t k = 0; k < lines; k++, y += 3 * n) {
        for (size_t i = 0; i < n; i++) {
            struct summary at = figure(g, i * lines + k, g->metric[0], unit);
            double half = estimate_half_width(&at, LEVEL);
            y[i] = at.mean;
            y[n + i] = at.mean - half;
            y[2 * n + i] = at.mean + half;
        }
        s[k] = (struct plot_series){.name = g->axes > 1 ? name_of(g, k, 1) : NULL, .n = n, .x = x, .y = y};
        s[k].low = y + n;
        s[k].high = y + 2 * n;
    }
    p->n_series = lines;
    p->series = s;
}

static void plot_of(struct grid *g)
{
    struct findings *f = g->job->findings;
    const struct values *v = &g->axis[0].values;
    double *x = findings_keep(f, v->n * sizeof *x);
    const char **category = findings_keep(f, v->n * sizeof *category);
    bool times = false, numbers = abscissas(g, x, &times);
    const char *x_unit = "", *y_unit = unit_of(g, g->metric[0]).name;
    struct plot p = {.kind = numbers ? PLOT_LINES : PLOT_BARS, .title = "Sweep", .from_zero = 1};
    if (g->job->options.no_plot)
        return;
    for (size_t i = 0; i < v->n; i++)
        category[i] = findings_format(f, "%s", v->value[i]);
    p.log_x = numbers ? scale_of(x, v->n, times, &x_unit) : 0;
    p.x_label = labelled(f, setup_key_help(g->axis[0].key)->name, x_unit);
    p.y_label = labelled(f, metric_name(g->metric[0]), y_unit);
    p.n_categories = numbers ? 0 : v->n;
    p.category = category;
    series_of(g, &p, x);
    findings_plot(f, &p);
}

static void answer(struct grid *g, size_t best)
{
    enum metric m = g->metric[0];
    struct sim_unit unit = unit_of(g, m);
    size_t worst = extreme(g, 0), alike = 0;
    struct summary s = figure(g, best, m, unit), w = figure(g, worst, m, unit);
    uint64_t stopped = 0;
    for (size_t i = 0; i < g->n; i++) {
        struct comparison c = compare(&g->point[best], &g->point[i], m, LEVEL);
        alike += i != best && c.result.verdict == ESTIMATE_NO_DIFFERENCE;
        for (uint64_t r = 0; r < g->point[i].n; r++)
            stopped += g->point[i].value[r][METRIC_DONE] == 0;
    }
    findings_answer(g->job->findings,
                    "Of %zu combinations %s is the best: %s %s%s%s. The worst is %s: %s. With %zu of the "
                    "others no difference from the best is seen in %" PRIu64 " paired runs.", g->n,
                    name_of(g, best, 0), metric_name(m), sim_interval(g->job, &s, 3), *unit.name ? " " : "",
                    unit.name, name_of(g, worst, 0), sim_interval(g->job, &w, 3), alike, g->point[best].n);
    if (stopped > 0)
        findings_answer(g->job->findings, "%" PRIu64 " runs stopped before all tasks had ended (stuck, or "
                        "`until` was reached): their figures are of what was done.", stopped);
}

int sim_run_sweep(struct sim_job *job)
{
    struct grid *g = findings_keep(job->findings, sizeof *g);
    g->job = job;
    int rc = read_words(g);
    if (rc == CLI_OK)
        rc = run_all(g);
    if (rc == CLI_OK) {
        size_t best = extreme(g, 1);
        table_of(g, best);
        plot_of(g);
        answer(g, best);
    }
    for (size_t i = 0; i < g->n && g->point; i++)
        replications_free(&g->point[i]);
    for (size_t i = 0; i < g->axes; i++)
        values_free(&g->axis[i].values);
    free(g->point);
    return rc;
}
