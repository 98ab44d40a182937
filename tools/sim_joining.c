/* sim_joining.c: parents that wait for their children: how much later one ends, its critical path, and
 * three ways to wait: the worker blocks, the parent is suspended, the worker helps. */
#include "cli.h"
#include "sim.h"
#include "sim/family.h"
#include <inttypes.h>

enum { WAYS = 3, NAME = 128, CHAIN = 16 };

static const char *const way[WAYS] = {"block", "suspend", "help"};

static const char *name_of(struct sim_job *job, const struct sim_result *r, uint32_t task)
{
    char name[NAME];
    sim_task_name(r, task, name, sizeof name);
    return findings_format(job->findings, "%s", name);
}

/* ---- the run that is shown: its parents --------------------------------------------------- */

static void show_parents(struct sim_job *job, const struct sim_result *r, const struct family *f)
{
    struct table *t = findings_table(job->findings, "Parents that waited",
                                     "parent|begin s|end s|own work s|later by s|children|their work s|"
                                     "critical path s|its longest child");
    for (size_t i = 0; i < f->n; i++) {
        const struct family_task *p = &f->task[i];
        if (!p->waited || p->end == SIM_NEVER)
            continue;
        const sim_time time[] = {p->begin, p->end, p->before + p->after, family_later(p)};
        table_text(t, "%s", name_of(job, r, (uint32_t)i));
        for (size_t k = 0; k < sizeof time / sizeof *time; k++)
            table_number(t, sim_time_seconds(time[k]), 3);
        table_number(t, p->children, 0);
        table_number(t, sim_time_seconds(p->children_work), 3);
        table_number(t, sim_time_seconds(p->path), 3);
        table_text(t, "%s", name_of(job, r, p->longest));
    }
}

/* The parent that ended latest compared with itself alone, or SIM_NO_TASK. */
static uint32_t latest_parent(const struct family *f)
{
    uint32_t best = SIM_NO_TASK;
    for (size_t i = 0; i < f->n; i++) {
        const struct family_task *p = &f->task[i];
        if (p->waited && p->end != SIM_NEVER &&
            (best == SIM_NO_TASK || family_later(p) > family_later(&f->task[best])))
            best = (uint32_t)i;
    }
    return best;
}

/* "T3 > T3.1 > T3.1.0": a parent, its longest child, and so on. */
static const char *chain(struct sim_job *job, const struct sim_result *r, const struct family *f,
                         uint32_t task)
{
    const char *text = name_of(job, r, task);
    for (int i = 0; i < CHAIN && f->task[task].waited && f->task[task].longest != SIM_NO_TASK; i++) {
        task = f->task[task].longest;
        text = findings_format(job->findings, "%s > %s", text, name_of(job, r, task));
    }
    return text;
}

static void answer_parent(struct sim_job *job, const struct sim_result *r, const struct family *f)
{
    uint32_t t = latest_parent(f);
    if (t == SIM_NO_TASK) {
        findings_answer(job->findings, "In the run that is shown no parent waited until its children had "
                        "ended; another seed= or a larger spawn= has some.");
        return;
    }
    const struct family_task *p = &f->task[t];
    sim_time own = p->before + p->after, waits = family_later(p) - (p->path - own);
    findings_answer(job->findings,
                    "%s worked for %.3f s and took %.3f s: %.3f s more than without children. %.3f s of "
                    "that are on its critical path (%s: half of each parent, its longest child, the other "
                    "half), %.3f s are waits for a worker.", name_of(job, r, t), sim_time_seconds(own),
                    sim_time_seconds(p->end - p->begin), sim_time_seconds(family_later(p)),
                    sim_time_seconds(p->path - own), chain(job, r, f, t), sim_time_seconds(waits));
}

static void answer_run(struct sim_job *job, const struct sim_result *r, const struct family *f)
{
    if (r->how != SIM_DONE || f->last == SIM_NO_TASK)
        return;
    const struct family_task *t = &f->task[f->last];
    sim_time least = t->submitted + t->path;
    findings_answer(job->findings,
                    "With any number of workers this run would take %.3f s at least: %s is submitted at "
                    "%.3f s and its critical path (%s) is %.3f s. It took %.3f s.", sim_time_seconds(least),
                    name_of(job, r, f->last), sim_time_seconds(t->submitted), chain(job, r, f, f->last),
                    sim_time_seconds(t->path), sim_time_seconds(r->makespan));
}

static int show_run(struct sim_job *job, uint64_t *tasks)
{
    struct setup_run run;
    struct sim_result r;
    struct family f;
    int rc = sim_make(job, NULL, 0, &run);
    if (rc != CLI_OK)
        return rc;
    *tasks = run.load.arrivals.count;
    rc = sim_show_once(job, &run, job->scenario->summary, 0, &r);
    if (rc != CLI_OK) {
        setup_free(&run);
        return rc;
    }
    if (family_of(&r, &f) == 0) {
        show_parents(job, &r, &f);
        answer_parent(job, &r, &f);
        answer_run(job, &r, &f);
        family_free(&f);
    }
    sim_result_free(&r);
    setup_free(&run); /* names of listed tasks are there */
    return CLI_OK;
}

/* ---- three ways to wait ------------------------------------------------------------------- */

static int run_ways(struct sim_job *job, uint64_t tasks, struct replications out[WAYS])
{
    struct setup_run run[WAYS];
    const struct setup_run *const runs[] = {&run[0], &run[1], &run[2]};
    int rc = CLI_OK, made = 0;
    while (made < WAYS && rc == CLI_OK) {
        const char *pairs = findings_format(job->findings, "join=%s until=never tasks=%" PRIu64, way[made],
                                            tasks);
        rc = sim_make(job, pairs, 1, &run[made]);
        made += rc == CLI_OK;
    }
    if (rc == CLI_OK)
        rc = sim_many(job, runs, WAYS, METRIC_DONE, out);
    while (made-- > 0)
        setup_free(&run[made]);
    return rc;
}

static void free_ways(struct replications r[WAYS])
{
    for (int k = 0; k < WAYS; k++)
        replications_free(&r[k]);
}

/* Percent of the runs that do not end. */
static struct summary stuck_share(const struct replications *r)
{
    struct summary s = {0};
    for (uint64_t i = 0; i < r->n; i++)
        summary_add(&s, 100 * (1 - r->value[i][METRIC_DONE]));
    return s;
}

static int all_end(const struct replications r[WAYS], uint64_t i)
{
    int all = 1;
    for (int k = 0; k < WAYS; k++)
        all &= r[k].value[i][METRIC_DONE] > 0;
    return all;
}

/* Way k against the first, over the replications in which all ways end. */
static struct paired against_first(const struct replications r[WAYS], int k, enum metric m)
{
    struct paired p = {{0}, {0}};
    for (uint64_t i = 0; i < r[0].n; i++)
        if (all_end(r, i))
            paired_add(&p, r[0].value[i][m], r[k].value[i][m]);
    return p;
}

static struct summary over_common(const struct replications r[WAYS], int k, enum metric m)
{
    struct summary s = {0};
    for (uint64_t i = 0; i < r[0].n; i++)
        if (all_end(r, i))
            summary_add(&s, r[k].value[i][m]);
    return s;
}

/* There need not be a run in which all ways end. */
static void common_cell(struct table *t, const struct summary *s)
{
    if (s->n > 0)
        sim_interval_cell(t, s, 3);
    else
        table_text(t, "-");
}

static void show_ways(struct sim_job *job, const struct replications r[WAYS])
{
    struct table *t = findings_table(job->findings, "Three ways to wait, until all is done",
                                     "join|stuck %|makespan s|idle s|makespan against block|verdict");
    for (int k = 0; k < WAYS; k++) {
        struct summary stuck = stuck_share(&r[k]), makespan = over_common(r, k, METRIC_MAKESPAN);
        struct summary idle = over_common(r, k, METRIC_IDLE);
        struct paired p = against_first(r, k, METRIC_MAKESPAN);
        struct paired_result judged = paired_judge(&p, 0.95);
        table_text(t, "%s", way[k]);
        sim_interval_cell(t, &stuck, 2);
        common_cell(t, &makespan);
        common_cell(t, &idle);
        if (k == 0 || makespan.n == 0) {
            table_text(t, "-");
            table_text(t, "-");
        } else {
            table_interval(t, judged.difference, judged.half_width, 3);
            table_text(t, "%s", estimate_verdict_text(judged.verdict));
        }
    }
    findings_text(job->findings, "Makespan and idle time over the runs in which all three end.");
}

static int show_curve(struct sim_job *job, uint64_t tasks, const struct replications asked[WAYS])
{
    struct sim_curve *c = sim_curve_new(job);
    for (size_t k = 0; k < WAYS; k++) {
        struct summary s = stuck_share(&asked[k]);
        c->name[k] = way[k];
        sim_curve_add(c, k, (double)tasks, &s);
    }
    for (unsigned doubled = 1; doubled <= 4; doubled++) {
        struct replications more[WAYS];
        int rc = run_ways(job, tasks << doubled, more);
        if (rc != CLI_OK)
            return rc;
        for (size_t k = 0; k < WAYS; k++) {
            struct summary s = stuck_share(&more[k]);
            sim_curve_add(c, k, (double)(tasks << doubled), &s);
        }
        free_ways(more);
    }
    sim_curve_show(job, c, (struct plot){.title = "Runs that never end", .x_label = "submitted tasks",
                                         .y_label = "%", .log_x = 2, .from_zero = 1});
    return CLI_OK;
}

/* ---- a deadlock --------------------------------------------------------------------------- */

/* The worker in whose queue the task lies, or -1. */
static int queue_with(const struct sim_result *r, uint32_t task)
{
    for (size_t i = 0; i < r->stuck_shown; i++)
        if (r->stuck[i].queued && r->stuck[i].task == task)
            return r->stuck[i].worker;
    return -1;
}

static const char *tell_stuck(struct sim_job *job, const struct sim_result *r)
{
    const char *text = "";
    for (size_t i = 0; i < r->stuck_shown; i++) {
        const struct sim_stuck *s = &r->stuck[i];
        if (s->queued)
            continue;
        int where = queue_with(r, s->child);
        text = findings_format(job->findings, "%s%s%s waits for %s", text, *text ? ", " : "",
                               name_of(job, r, s->task), name_of(job, r, s->child));
        if (where >= 0)
            text = findings_format(job->findings, "%s in the queue of worker %d", text, where);
    }
    return text;
}

static void show_waits(struct sim_job *job, const struct sim_result *r)
{
    struct table *t = findings_data(job->findings, "What waits for what",
                                    "worker|task|waits for|in queue of");
    for (size_t i = 0; i < r->stuck_shown; i++) {
        const struct sim_stuck *s = &r->stuck[i];
        int where = queue_with(r, s->child);
        if (s->queued)
            continue;
        table_number(t, s->worker, 0);
        table_text(t, "%s", name_of(job, r, s->task));
        table_text(t, "%s", name_of(job, r, s->child));
        if (where >= 0)
            table_number(t, where, 0);
        else
            table_text(t, "-");
    }
}

/* The first replication with a worker that blocks that got stuck, run again to name what waits for what. */
static int show_deadlock(struct sim_job *job, const struct replications *blocking)
{
    struct setup_run run;
    struct sim_result r;
    uint64_t i = 0;
    while (i < blocking->n && blocking->value[i][METRIC_DONE] > 0)
        i++;
    if (i == blocking->n) {
        findings_answer(job->findings, "None of %" PRIu64 " runs with a worker that blocks deadlocks.",
                        blocking->n);
        return CLI_OK;
    }
    int rc = sim_make(job, "join=block until=never", 1, &run);
    if (rc != CLI_OK)
        return rc;
    setup_replication(&run, i, &run.config, &run.load);
    rc = sim_once(job, &run, 1, &r);
    if (rc != CLI_OK) {
        setup_free(&run);
        return rc;
    }
    findings_text(job->findings, "Run %" PRIu64 " of join=block, the first that does not end:", i + 1);
    sim_show_stuck(job, &r);
    show_waits(job, &r);
    findings_answer(job->findings,
                    "A worker that blocks: %.2f %% of %" PRIu64 " runs never end. The first of them is a %s "
                    "after %.3f s: %s.", stuck_share(blocking).mean, blocking->n, sim_end_name(r.how),
                    sim_time_seconds(r.makespan), tell_stuck(job, &r));
    sim_result_free(&r);
    setup_free(&run);
    return rc;
}

static void answer_ways(struct sim_job *job, const struct replications r[WAYS])
{
    const char *text = "";
    for (int k = 1; k < WAYS; k++) {
        struct paired p = against_first(r, k, METRIC_MAKESPAN);
        struct paired_result judged = paired_judge(&p, 0.95);
        text = findings_format(job->findings, "%s%sjoin=%s: %.2f %% never end", text, k > 1 ? "; " : "",
                               way[k], stuck_share(&r[k]).mean);
        if (p.base.n > 1)
            text = findings_format(job->findings, "%s, makespan %s s (%+.1f %%, %s)", text,
                                   sim_difference(job, &judged, 3), 100 * judged.relative,
                                   estimate_verdict_text(judged.verdict));
    }
    findings_answer(job->findings, "Against a worker that blocks, %s.", text);
}

static int compare_ways(struct sim_job *job, uint64_t tasks)
{
    struct replications r[WAYS];
    int rc = run_ways(job, tasks, r);
    if (rc != CLI_OK)
        return rc;
    show_ways(job, r);
    rc = show_curve(job, tasks, r);
    if (rc == CLI_OK)
        rc = show_deadlock(job, &r[0]);
    if (rc == CLI_OK)
        answer_ways(job, r);
    free_ways(r);
    return rc;
}

int sim_run_joining(struct sim_job *job)
{
    uint64_t tasks;
    int rc = show_run(job, &tasks);
    return rc == CLI_OK ? compare_ways(job, tasks) : rc;
}
