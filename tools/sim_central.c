/* sim_central.c: one locked queue for all workers against a deque per worker: where does the one bend?
 *
 * A closed system: a task that ends puts its successor into a queue, and its worker takes the next task. Both
 * operations hold the queue's lock for a time, with one queue and with deques alike. With one queue that is
 * the machine-repair model with a demand of two lock times per task: theory_closed(). Two tasks or more per
 * worker circulate, so that the one queue is never empty.
 *
 * Steady state: every setup runs twice with the same seeds, until the end of the warm-up and until the end of
 * the run. The second run repeats the first; what it completes more is the throughput. */
#include "cli.h"
#include "sim.h"
#include "sim/theory.h"
#include <inttypes.h>
#include <string.h>

#define POINTS_MOST 24
#define PASSAGES 2        /* of a queue's lock, per task */
#define CYCLES_WARM 10    /* task cycles that the warm-up takes */
#define TASKS_MEASURED 20000.0
#define CYCLES_MEASURED 20.0
#define LOCK_LEAST 20e-9    /* seconds: a quarter of it is long enough for whole nanoseconds */
#define EXECUTION_MOST 16000 /* locks: twice the knee of a quarter of one are below SIM_MAX_WORKERS */

struct times {
    double execution, lock;      /* means, in seconds */
    uint32_t workers;            /* at most */
    uint64_t tasks_per_worker;
};

struct point {
    uint32_t workers;
    double formula;              /* these three: tasks per task time */
    struct summary central, deques;
};

/* ---- one figure --------------------------------------------------------------------------- */

/* Of each replication what was completed after the warm-up, per mean execution time. */
static struct summary steady_rate(const struct replications r[2], const sim_time until[2], double execution)
{
    struct summary s = {0};
    double early = sim_time_seconds(until[0]), late = sim_time_seconds(until[1]);
    for (uint64_t i = 0; i < r[0].n; i++) {
        double begun = r[0].value[i][METRIC_THROUGHPUT] * early;
        double done = r[1].value[i][METRIC_THROUGHPUT] * late;
        summary_add(&s, (done - begun) / (late - early) * execution);
    }
    return s;
}

/* `expected` tasks per execution time decide how long the run is, nothing else. */
static int measure(struct sim_job *job, const struct times *t, uint32_t workers, const char *queue,
                   double expected, struct summary *rate)
{
    struct setup_run run[2] = {0};
    const struct setup_run *runs[2] = {&run[0], &run[1]};
    struct replications r[2] = {0};
    sim_time until[2];
    double cycle = workers / expected * t->execution, measured = TASKS_MEASURED / expected * t->execution;
    double least = CYCLES_MEASURED * cycle;
    until[0] = sim_time_round(1e9 * CYCLES_WARM * cycle) + 1;
    until[1] = until[0] + sim_time_round(1e9 * (measured > least ? measured : least)) + 1;
    int rc = CLI_OK;
    for (int i = 0; i < 2 && rc == CLI_OK; i++) {
        const char *pairs = findings_format(job->findings,
                                            "workers=%u tasks=%" PRIu64 " queue=%s lock=exp:%" PRId64 "ns "
                                            "until=%" PRId64 "ns", workers, workers * t->tasks_per_worker,
                                            queue, sim_time_round(1e9 * t->lock), until[i]);
        rc = sim_make(job, pairs, 1, &run[i]);
    }
    if (rc == CLI_OK)
        rc = sim_many(job, runs, 2, METRIC_THROUGHPUT, r);
    if (rc == CLI_OK)
        *rate = steady_rate(r, until, t->execution);
    for (int i = 0; i < 2; i++) {
        replications_free(&r[i]);
        setup_free(&run[i]);
    }
    return rc;
}

static double formula(const struct times *t, uint32_t workers)
{
    return theory_closed(workers, t->execution, PASSAGES * t->lock).throughput * t->execution;
}

static double knee_of(const struct times *t)
{
    return theory_knee(t->execution, PASSAGES * t->lock);
}

static double differs(const struct point *p) /* in percent */
{
    return 100 * (p->central.mean / p->formula - 1);
}

/* ---- which numbers of workers ------------------------------------------------------------- */

static size_t add_point(struct point *point, size_t n, double workers, uint32_t most)
{
    size_t at = 0;
    if (workers < 1 || workers > most || n == POINTS_MOST)
        return n;
    uint32_t count = (uint32_t)(workers + 0.5);
    while (at < n && point[at].workers < count)
        at++;
    if (at < n && point[at].workers == count)
        return n;
    memmove(&point[at + 1], &point[at], (n - at) * sizeof *point);
    point[at] = (struct point){.workers = count};
    return n + 1;
}

/* 1, 2, 4 ... and the most; half, once and twice the knee. */
static size_t choose_points(const struct times *t, struct point *point)
{
    size_t n = 0;
    for (double p = 1; p < t->workers; p *= 2)
        n = add_point(point, n, p, t->workers);
    n = add_point(point, n, t->workers, t->workers);
    for (double part = 0.5; part <= 2; part *= 2)
        n = add_point(point, n, part * knee_of(t), t->workers);
    return n;
}

/* ---- what is shown ------------------------------------------------------------------------ */

static void show_table(struct sim_job *job, const struct point *point, size_t n)
{
    struct table *t = findings_table(job->findings, "Tasks per task time",
                                     "workers|one queue|formula|difference %|deques|of the workers %");
    for (size_t i = 0; i < n; i++) {
        table_number(t, point[i].workers, 0);
        sim_interval_cell(t, &point[i].central, 2);
        table_number(t, point[i].formula, 2);
        table_number(t, differs(&point[i]), 2);
        sim_interval_cell(t, &point[i].deques, 2);
        table_number(t, 100 * point[i].deques.mean / point[i].workers, 1);
    }
}

static void show_plot(struct sim_job *job, const struct point *point, size_t n, double bend)
{
    double *x[4];
    struct findings *f = job->findings;
    for (int k = 0; k < 4; k++)
        x[k] = findings_keep(f, n * sizeof *x[k]);
    for (size_t i = 0; i < n; i++) {
        x[0][i] = point[i].workers;
        x[1][i] = point[i].central.mean;
        x[2][i] = point[i].deques.mean;
        x[3][i] = point[i].formula;
    }
    struct plot_series *s = findings_keep(f, 3 * sizeof *s);
    s[0] = (struct plot_series){.name = "one locked queue", .n = n, .x = x[0], .y = x[1], .points_only = 1};
    s[1] = (struct plot_series){.name = "deques", .n = n, .x = x[0], .y = x[2], .points_only = 1};
    s[2] = (struct plot_series){.name = "machine-repair formula", .n = n, .x = x[0], .y = x[3], .dashed = 1};
    struct plot_mark *mark = findings_keep(f, sizeof *mark);
    *mark = (struct plot_mark){.at = bend, .label = "bends"};
    findings_plot(f, &(struct plot){.kind = PLOT_LINES, .title = "One locked queue and deques", .log_x = 2,
                                    .log_y = 10, .x_label = "workers", .y_label = "tasks per task time",
                                    .n_series = 3, .series = s, .n_marks = 1, .mark = mark});
}

static int measure_points(struct sim_job *job, const struct times *t, struct point *point, size_t n)
{
    int rc = CLI_OK;
    for (size_t i = 0; i < n && rc == CLI_OK; i++) {
        point[i].formula = formula(t, point[i].workers);
        rc = measure(job, t, point[i].workers, "shared", point[i].formula, &point[i].central);
        if (rc == CLI_OK)
            rc = measure(job, t, point[i].workers, "locked", point[i].workers, &point[i].deques);
    }
    return rc;
}

/* Three locks, four times as long and as short as the one that was asked for; *worst is the largest
 * difference from the formula, in percent. */
static int three_locks(struct sim_job *job, const struct times *asked, double *worst)
{
    struct table *table = findings_table(job->findings, "Half, once and twice the knee",
                                         "lock (ns)|knee|workers|one queue|formula|difference %");
    int rc = CLI_OK;
    *worst = 0;
    for (double scale = 4; scale >= 0.25 && rc == CLI_OK; scale /= 4) {
        struct times t = *asked;
        sim_time lock = sim_time_round(1e9 * asked->lock * scale);
        t.lock = sim_time_seconds(lock > 0 ? lock : 1);
        for (double part = 0.5; part <= 2 && rc == CLI_OK; part *= 2) {
            struct point p = {.workers = (uint32_t)(part * knee_of(&t) + 0.5)};
            p.formula = formula(&t, p.workers);
            rc = measure(job, &t, p.workers, "shared", p.formula, &p.central);
            double d = differs(&p) < 0 ? -differs(&p) : differs(&p);
            *worst = d > *worst ? d : *worst;
            table_number(table, 1e9 * t.lock, 0);
            table_number(table, knee_of(&t), 1);
            table_number(table, p.workers, 0);
            sim_interval_cell(table, &p.central, 2);
            table_number(table, p.formula, 2);
            table_number(table, differs(&p), 2);
        }
    }
    return rc;
}

/* Where the line through one worker meets the level of the most workers. */
static double bend_of(const struct point *point, size_t n)
{
    return point[n - 1].central.mean / point[0].central.mean;
}

/* The first half of the answer: before the bend there is none to tell of. */
static const char *bend_text(struct sim_job *job, const struct times *t, const struct point *last,
                             double bend)
{
    double limit = t->execution / (PASSAGES * t->lock);
    if (last->workers < 2 * knee_of(t))
        return findings_format(job->findings, "Up to %u workers are too few to see one locked queue bend "
                               "(theory: at (E + 2 S) / 2 S = %.1f): they complete %.1f tasks per task time.",
                               last->workers, knee_of(t), last->central.mean);
    return findings_format(job->findings, "One locked queue bends at %.1f workers (theory: (E + 2 S) / 2 S = "
                           "%.1f): on %u workers it completes %.1f tasks per task time, and its lock allows "
                           "%.1f on any number.", bend, knee_of(t), last->workers, last->central.mean, limit);
}

static void answer(struct sim_job *job, const struct times *t, const struct point *last, double bend,
                   double worst)
{
    double efficiency = 100 * last->deques.mean / last->workers;
    findings_answer(job->findings,
                    "%s At half, once and twice the knee of three locks it differs from the machine-repair "
                    "formula by at most %.2f %%. Deques with the same cost of every operation complete %.1f "
                    "tasks per task time on %u workers: %.1f %% of them, %.1f times as many as one queue.",
                    bend_text(job, t, last, bend), worst, last->deques.mean, last->workers, efficiency,
                    last->deques.mean / last->central.mean);
}

/* ---- the scenario ------------------------------------------------------------------------- */

static int read_times(struct sim_job *job, struct times *t)
{
    struct setup_run run;
    int rc = sim_make(job, NULL, 0, &run);
    if (rc != CLI_OK)
        return rc;
    t->workers = run.config.workers;
    t->execution = dist_mean(&run.load.duration) / 1e9;
    t->lock = dist_mean(&run.config.costs.lock) / 1e9;
    t->tasks_per_worker = run.load.arrivals.count / t->workers;
    bool exponential = run.config.costs.lock.kind == DIST_EXP;
    setup_free(&run);
    if (!exponential || t->lock < LOCK_LEAST)
        return cli_usage("sim", "central: lock=exp:MEAN is expected, at least 20ns");
    double ratio = t->execution / t->lock;
    if (!(ratio >= 1 && ratio <= EXECUTION_MOST && t->execution < 1))
        return cli_usage("sim", "central: duration= is 1 to %d times the lock and below 1 s",
                         EXECUTION_MOST);
    if (t->workers < 2 || t->tasks_per_worker < 2)
        return cli_usage("sim", "central: at least 2 workers, and tasks= at least twice their number");
    return CLI_OK;
}

int sim_run_central(struct sim_job *job)
{
    struct times t = {0};
    struct point point[POINTS_MOST];
    double worst;
    int rc = read_times(job, &t);
    if (rc != CLI_OK)
        return rc;
    size_t n = choose_points(&t, point);
    rc = measure_points(job, &t, point, n);
    if (rc != CLI_OK)
        return rc;
    show_table(job, point, n);
    show_plot(job, point, n, bend_of(point, n));
    rc = three_locks(job, &t, &worst);
    if (rc == CLI_OK)
        answer(job, &t, &point[n - 1], bend_of(point, n), worst);
    return rc;
}
