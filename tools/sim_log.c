/* sim_log.c: a run as it is shown: log, statistics, chart. */
#include "cli.h"
#include "sim.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME 128

/* ---- blocks ------------------------------------------------------------------------------- */

static void show_initial(struct sim_job *job, const struct sim_result *r)
{
    findings_lines(job->findings, "Initial load distribution:\n");
    for (uint32_t i = 0; i < r->workers; i++)
        findings_lines(job->findings, "Worker %u: %" PRIu64 " tasks\n", i, r->initial[i]);
}

#define STATISTICS_WORKERS 64 /* a line each; of more workers the first 16 are shown */

static void worker_lines(struct findings *f, const struct sim_result *r)
{
    uint32_t shown = r->workers <= STATISTICS_WORKERS ? r->workers : 16;
    for (uint32_t i = 0; i < shown; i++)
        findings_lines(f, "Worker %u: executed=%" PRIu64 ", stolen=%" PRIu64 ", queue=%" PRIu64 "\n", i,
                       r->worker[i].executed, r->worker[i].stolen, r->worker[i].queue);
    if (shown < r->workers)
        findings_lines(f, "... and %u workers more\n", r->workers - shown);
}

static void worker_table(struct findings *f, const struct sim_result *r)
{
    struct table *t = findings_data(f, "workers",
                                    "worker|executed|stolen|queue|tries|in vain|attempts|failed|"
                                    "contended|busy s|seeking s|waiting s|parked s|blocked s");
    for (uint32_t i = 0; i < r->workers; i++) {
        const struct sim_worker_result *w = &r->worker[i];
        const uint64_t count[] = {i, w->executed, w->stolen, w->queue, w->searches, w->vain, w->attempts,
                                  w->failed, w->contended};
        const sim_time spent[] = {w->busy, w->seeking, w->waiting, w->parked, w->blocked};
        for (size_t k = 0; k < sizeof count / sizeof *count; k++)
            table_number(t, (double)count[k], 0);
        for (size_t k = 0; k < sizeof spent / sizeof *spent; k++)
            table_number(t, sim_time_seconds(spent[k]), 9);
    }
}

void sim_show_statistics(struct sim_job *job, const struct sim_result *r)
{
    struct findings *f = job->findings;
    const struct sim_worker_result *s = &r->sum;
    double rate = s->executed ? 100 * (double)s->stolen / (double)s->executed : 0;
    findings_lines(f, "=== Statistics ===\nTotal tasks executed: %" PRIu64 "\nTotal tasks stolen: %" PRIu64
                   "\nSteal rate: %.1f%%\n", s->executed, s->stolen, rate);
    worker_lines(f, r);
    findings_lines(f, "Steal attempts: %" PRIu64 " tries, %" PRIu64 " in vain; %" PRIu64 " victims, %" PRIu64
                   " in vain\n", s->searches, s->vain, s->attempts, s->failed);
    worker_table(f, r);
}

void sim_show_performance(struct sim_job *job, const char *granularity, double work, double wall,
                          uint32_t workers)
{
    findings_lines(job->findings, "=== Performance Analysis ===\nGranularity: %s\nTotal work: %.1fs\n"
                   "Wall time: %.2fs\nSpeedup: %.2fx\nEfficiency: %.1f%%\n", granularity, work, wall,
                   wall > 0 ? work / wall : 0, wall > 0 ? 100 * work / wall / workers : 0);
}

/* ---- the page ----------------------------------------------------------------------------- */

static int page_kind(enum sim_record_kind kind)
{
    static const int kinds[] = {
        [SIM_SUBMITTED] = PAGE_SUBMITTED, [SIM_EXECUTING] = PAGE_EXECUTING, [SIM_COMPLETED] = PAGE_COMPLETED,
        [SIM_STOLE] = PAGE_STOLE,         [SIM_SPAWNED] = PAGE_SPAWNED,     [SIM_WAITS] = PAGE_WAITS,
        [SIM_RESUMED] = PAGE_RESUMED,     [SIM_FAILED] = PAGE_FAILED,       [SIM_PARKED] = PAGE_PARKED,
        [SIM_WOKEN] = PAGE_WOKEN,         [SIM_LOCKED_OUT] = PAGE_LOCKED_OUT,
    };
    return kinds[kind];
}

static void page_add(struct sim_job *job, const struct sim_result *r, const char *title)
{
    struct findings *f = job->findings;
    struct page_record *record = findings_keep(f, (r->records + 1) * sizeof *record);
    const char **name = findings_keep(f, (r->tasks + 1) * sizeof *name);
    const char **line = findings_keep(f, (r->records + 1) * sizeof *line);
    char text[NAME + 80];
    for (size_t i = 0; i < r->tasks; i++) {
        sim_task_name(r, (uint32_t)i, text, sizeof text);
        name[i] = findings_format(f, "%s", text);
    }
    for (size_t i = 0; i < r->records; i++) {
        const struct sim_record *e = &r->record[i];
        record[i] = (struct page_record){e->at, page_kind(e->kind), e->worker, e->other, e->task, e->length};
        sim_log_line(r, e, SIM_LOG_FULL, text, sizeof text);
        line[i] = *text ? findings_format(f, "%s", text) : NULL;
    }
    findings_run(f, &(struct page_run){.title = findings_format(f, "%s", title), .workers = (int)r->workers,
                                       .n = r->records, .record = record, .tasks = r->tasks,
                                       .task_name = name, .line = line});
}

void sim_show_run(struct sim_job *job, const struct sim_result *r, const char *title, int initial)
{
    char text[NAME + 80];
    enum sim_log style = job->scenario->log;
    if (!job->options.quiet && initial)
        show_initial(job, r);
    for (size_t i = 0; i < r->records && !job->options.quiet; i++) {
        if (initial && r->record[i].kind == SIM_SUBMITTED && r->record[i].at == 0)
            continue; /* that is the initial load */
        sim_log_line(r, &r->record[i], style, text, sizeof text);
        if (*text)
            findings_lines(job->findings, "%s\n", text);
    }
    sim_show_statistics(job, r);
    page_add(job, r, title);
}

/* ---- units -------------------------------------------------------------------------------- */

const char *sim_duration(struct sim_job *job, double seconds)
{
    struct sim_unit unit = sim_unit_of(seconds);
    double x = seconds * unit.per_second;
    return findings_format(job->findings, "%.*f %s", x >= 100 && unit.per_second > 1 ? 0 : 2, x, unit.name);
}

/* ---- the chart ---------------------------------------------------------------------------- */

static void gantt_spans(struct sim_job *job, const struct sim_result *r, struct plot *p, double scale)
{
    struct findings *f = job->findings;
    struct plot_span *span = findings_keep(f, (r->records + 1) * sizeof *span);
    int64_t *open = findings_keep(f, (r->workers + 1) * sizeof *open); /* span + 1 of each worker */
    char text[NAME];
    for (size_t i = 0; i < r->records; i++) {
        const struct sim_record *e = &r->record[i];
        double at = sim_time_seconds(e->at) * scale;
        if (e->worker < 0 || (uint32_t)e->worker >= r->workers)
            continue;
        bool ends = e->kind == SIM_COMPLETED || e->kind == SIM_WAITS;
        bool begins = e->kind == SIM_EXECUTING || e->kind == SIM_RESUMED;
        if ((ends || begins) && open[e->worker])
            span[open[e->worker] - 1].to = at;
        if (ends)
            open[e->worker] = 0;
        if (!begins)
            continue;
        sim_task_name(r, e->task, text, sizeof text);
        span[p->n_spans] = (struct plot_span){e->worker, at, sim_time_seconds(r->end) * scale,
                                              (int)(r->name[e->task].number % PLOT_COLOURS),
                                              findings_format(f, "%s", text)};
        open[e->worker] = (int64_t)++p->n_spans;
    }
    p->span = span;
}

#define GANTT_WORKERS 64

void sim_show_gantt(struct sim_job *job, const struct sim_result *r, const char *title)
{
    struct sim_unit unit = sim_unit_of(sim_time_seconds(r->end));
    struct plot p = {.kind = PLOT_GANTT, .title = title, .n_rows = r->workers};
    if (r->workers > GANTT_WORKERS || r->records == 0)
        return;
    const char **row = findings_keep(job->findings, (r->workers + 1) * sizeof *row);
    for (uint32_t i = 0; i < r->workers; i++)
        row[i] = findings_format(job->findings, "Worker %u", i);
    p.row = row;
    p.x_label = findings_format(job->findings, "time (%s)", unit.name);
    gantt_spans(job, r, &p, unit.per_second);
    findings_plot(job->findings, &p);
}

/* ---- files, and runs that got stuck ------------------------------------------------------- */

static const char *const kind_names[] = {
    [SIM_SUBMITTED] = "submitted", [SIM_EXECUTING] = "executing", [SIM_COMPLETED] = "completed",
    [SIM_STOLE] = "stole",         [SIM_SPAWNED] = "spawned",     [SIM_WAITS] = "waits",
    [SIM_RESUMED] = "resumed",     [SIM_FAILED] = "failed",       [SIM_PARKED] = "parked",
    [SIM_WOKEN] = "woken",         [SIM_LOCKED_OUT] = "contended",
};

int sim_write_events(const struct sim_result *r, const char *path)
{
    char name[NAME];
    FILE *f = fopen(path, "w");
    if (!f)
        return -errno;
    fputs("time_ns,event,worker,task,other,queue\n", f);
    for (size_t i = 0; i < r->records; i++) {
        const struct sim_record *e = &r->record[i];
        *name = '\0';
        if (e->task != SIM_NO_TASK)
            sim_task_name(r, e->task, name, sizeof name);
        fprintf(f, "%" PRId64 ",%s,%d,%s,%d,%u\n", e->at, kind_names[e->kind], e->worker, name, e->other,
                e->length);
    }
    int failed = ferror(f) ? EIO : 0;
    return fclose(f) != 0 || failed ? -(failed ? failed : errno) : 0;
}

void sim_show_stuck(struct sim_job *job, const struct sim_result *r)
{
    char task[NAME], child[NAME];
    if (r->how == SIM_DONE || r->how == SIM_TIME_UP)
        return;
    findings_lines(job->findings, "=== %s after %.3fs: %" PRIu64 " tasks have ended, %zu have not ===\n",
                   sim_end_name(r->how), sim_time_seconds(r->makespan), r->completed, r->stuck_count);
    for (size_t i = 0; i < r->stuck_shown; i++) {
        const struct sim_stuck *s = &r->stuck[i];
        sim_task_name(r, s->task, task, sizeof task);
        sim_task_name(r, s->child, child, sizeof child);
        if (s->queued)
            findings_lines(job->findings, "%s lies in the queue of Worker %d\n", task, s->worker);
        else
            findings_lines(job->findings, "Worker %d is blocked by %s, which waits for %s\n", s->worker, task,
                           child);
    }
    if (r->stuck_count > r->stuck_shown)
        findings_lines(job->findings, "... and %zu more\n", r->stuck_count - r->stuck_shown);
}

/* ---- all of it ---------------------------------------------------------------------------- */

int sim_show_once(struct sim_job *job, const struct setup_run *run, const char *title, int initial,
                  struct sim_result *r)
{
    int rc = sim_once(job, run, 1, r);
    if (rc != CLI_OK)
        return rc;
    sim_show_run(job, r, title, initial);
    sim_show_stuck(job, r);
    sim_show_gantt(job, r, "Who ran what");
    if (job->options.events && sim_write_events(r, job->options.events) != 0) {
        rc = cli_fail("sim", "%s: cannot be written", job->options.events);
        sim_result_free(r);
    }
    return rc;
}
