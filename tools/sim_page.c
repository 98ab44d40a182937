#include "sim_page.h"
#include "plot.h"
#include "plot_text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The files sim_*.js and sim_page.css: cmake/embed.cmake */
extern const unsigned char sim_replay_script[], sim_gantt_script[], sim_page_script[], sim_page_style[];

/* What a worker does for a while: the colours of the Gantt chart. */
enum { OWN, STOLEN, PARKED, WAITS, ACTIVITIES };
static const char *const activities[ACTIVITIES] = {"executes", "executes a stolen task", "is parked",
                                                   "its task waits for children"};

struct activity {
    int open, what;
    int64_t since_ns;
    const char *task;
};

struct spans {
    struct plot_span *span;
    size_t n;
    struct activity *worker;
    unsigned char *stolen; /* of each task: a thief took it */
};

static int has_task(int kind)
{
    return kind < PAGE_FAILED;
}

static int is_sound(const struct page_run *run, const struct page_record *r)
{
    return r->kind >= 0 && r->kind < PAGE_KINDS && r->worker >= 0 && r->worker < run->workers
           && (!has_task(r->kind) || r->task < run->tasks)
           && (r->kind != PAGE_STOLE || (r->other >= 0 && r->other < run->workers));
}

/* ---- spans ------------------------------------------------------------------------------------- */

static void end_activity(struct spans *s, int worker, int64_t now_ns)
{
    struct activity *a = &s->worker[worker];
    int seen = now_ns > a->since_ns || a->what == OWN || a->what == STOLEN; /* also a task of no length */
    if (a->open && seen)
        s->span[s->n++] = (struct plot_span){worker, (double)a->since_ns, (double)now_ns, a->what, a->task};
    a->open = 0;
}

static void begin_activity(struct spans *s, const struct page_record *r, int what, const char *task)
{
    end_activity(s, r->worker, r->time_ns);
    s->worker[r->worker] = (struct activity){1, what, r->time_ns, task};
}

static void follow(struct spans *s, const struct page_run *run, const struct page_record *r)
{
    switch (r->kind) {
    case PAGE_STOLE:
        s->stolen[r->task] = 1;
        break;
    case PAGE_EXECUTING:
    case PAGE_RESUMED:
        begin_activity(s, r, s->stolen[r->task] ? STOLEN : OWN, run->task_name[r->task]);
        break;
    case PAGE_WAITS:
        begin_activity(s, r, WAITS, run->task_name[r->task]);
        break;
    case PAGE_PARKED:
        begin_activity(s, r, PARKED, NULL);
        break;
    case PAGE_COMPLETED:
        end_activity(s, r->worker, r->time_ns);
        break;
    case PAGE_WOKEN:
        if (s->worker[r->worker].what == PARKED)
            end_activity(s, r->worker, r->time_ns);
        break;
    default:
        break;
    }
}

static void spans_free(struct spans *s)
{
    free(s->span);
    free(s->worker);
    free(s->stolen);
}

/* A record begins or ends at most one span, so there are no more spans than records. */
static int spans_of(struct spans *s, const struct page_run *run)
{
    size_t workers = (size_t)run->workers;
    int64_t last_ns = 0;
    *s = (struct spans){calloc(run->n + 1, sizeof *s->span), 0, calloc(workers + 1, sizeof *s->worker),
                        calloc(run->tasks + 1, 1)};
    if (!s->span || !s->worker || !s->stolen)
        return 0;
    for (size_t i = 0; i < run->n; i++)
        if (is_sound(run, &run->record[i])) {
            follow(s, run, &run->record[i]);
            last_ns = run->record[i].time_ns;
        }
    for (int i = 0; i < run->workers; i++)
        end_activity(s, i, last_ns);
    return 1;
}

/* ---- the view ---------------------------------------------------------------------------------- */

static void json_text(FILE *f, const char *text)
{
    fputc('"', f);
    while (*text) {
        uint32_t c = plot_text_next(&text);
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", (int)c);
        else if (c == '<' || c == '>' || c == '&')
            fprintf(f, "\\u%04x", (unsigned)c); /* so that no text ends the script */
        else
            plot_text_put(f, c);
    }
    fputc('"', f);
}

static void json_records(FILE *f, const struct page_run *run)
{
    const char *comma = "";
    fputs(",\n\"records\":[", f);
    for (size_t i = 0; i < run->n; i++) {
        const struct page_record *r = &run->record[i];
        if (!is_sound(run, r))
            continue;
        fprintf(f, "%s%" PRId64 ",%d,%d,%d,%u", comma, r->time_ns, r->kind, r->worker, r->other,
                has_task(r->kind) ? r->task : 0);
        comma = ",\n";
    }
    fputs("]", f);
}

static void json_lines(FILE *f, const struct page_run *run)
{
    const char *comma = "";
    fputs(",\n\"lines\":[", f);
    for (size_t i = 0; i < run->n; i++) {
        if (!is_sound(run, &run->record[i]))
            continue;
        fputs(comma, f);
        if (run->line && run->line[i])
            json_text(f, run->line[i]);
        else
            fputc('0', f);
        comma = ",\n";
    }
    fputs("]", f);
}

static void json_spans(FILE *f, const struct spans *s)
{
    fputs(",\n\"spans\":[", f);
    for (size_t i = 0; i < s->n; i++) {
        fprintf(f, "%s%d,%.0f,%.0f,%d,", i ? ",\n" : "", s->span[i].row, s->span[i].from, s->span[i].to,
                s->span[i].colour);
        json_text(f, s->span[i].label ? s->span[i].label : "");
    }
    fputs("]", f);
}

static void json_run(FILE *f, const struct page_run *run, const struct spans *s)
{
    fprintf(f, "<script type=\"application/json\">\n{\"workers\":%d,\"names\":[", run->workers);
    for (size_t i = 0; i < run->tasks; i++) {
        fputs(i ? "," : "", f);
        json_text(f, run->task_name[i]);
    }
    fputs("]", f);
    json_records(f, run);
    json_lines(f, run);
    json_spans(f, s);
    fputs("}\n</script>\n", f);
}

static void view(FILE *f, const struct page_run *run, const struct spans *s, int number)
{
    fprintf(f, "<section class=\"run broad\" data-run=\"%d\" aria-label=\"", number);
    plot_text_xml(f, run->title);
    fputs("\">\n", f);
    plot_page_heading(f, run->title);
    fputs("<noscript><p>The steps of this run need JavaScript.</p></noscript>\n", f);
    json_run(f, run, s);
    fputs("</section>\n", f);
}

/* ---- too much for a view ----------------------------------------------------------------------- */

/* Seconds, or the part of one in which the numbers are short. */
static double unit_of(double last_ns, const char **label)
{
    static const struct {
        double ns;
        const char *label;
    } unit[] = {{1e9, "time (s)"}, {1e6, "time (ms)"}, {1e3, "time (µs)"}, {1, "time (ns)"}};
    size_t i = 0;
    while (i < 3 && last_ns < unit[i].ns)
        i++;
    *label = unit[i].label;
    return unit[i].ns;
}

static void chart(FILE *f, const struct page_run *run, struct spans *s)
{
    size_t rows = (size_t)run->workers;
    char (*name)[32] = calloc(rows + 1, sizeof *name);
    const char **row = calloc(rows + 1, sizeof *row);
    struct plot p = {.kind = PLOT_GANTT, .title = run->title, .n_rows = rows, .row = row, .n_spans = s->n,
                     .span = s->span, .n_colours = ACTIVITIES, .colour = activities};
    double unit = unit_of(run->n ? (double)run->record[run->n - 1].time_ns : 0, &p.x_label);
    for (size_t i = 0; i < s->n; i++) {
        s->span[i].from /= unit;
        s->span[i].to /= unit;
    }
    for (size_t i = 0; name && row && i < rows; i++) {
        snprintf(name[i], sizeof name[i], "Worker %zu", i);
        row[i] = name[i];
    }
    if (name && row)
        plot_page_plot(f, &p);
    free(name);
    free(row);
}

static void end_of_log(FILE *f, const struct page_run *run)
{
    size_t first = run->n, lines = 0;
    for (; first > 0 && lines < 200; first--)
        lines += run->line && run->line[first - 1];
    fputs("<pre class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"End of the log\">", f);
    for (size_t i = first; i < run->n; i++)
        if (run->line && run->line[i]) {
            plot_text_xml(f, run->line[i]);
            fputc('\n', f);
        }
    fputs("</pre>\n", f);
}

static void summary(FILE *f, const struct page_run *run, struct spans *s)
{
    char text[200];
    snprintf(text, sizeof text,
             "This run has %d workers and %zu records. Single steps are shown of runs of at most %d workers "
             "and %d records. Here are the chart of all of it, and the end of the log.",
             run->workers, run->n, PAGE_WORKERS, PAGE_RECORDS);
    plot_page_heading(f, run->title);
    plot_page_text(f, text);
    chart(f, run, s);
    end_of_log(f, run);
}

void sim_page_run(FILE *f, const struct page_run *run, int number)
{
    struct spans s;
    if (number == 0)
        fprintf(f, "<style>\n%s</style>\n<script>\n%s\n%s\n%s</script>\n",
                (const char *)sim_page_style, (const char *)sim_replay_script,
                (const char *)sim_gantt_script, (const char *)sim_page_script);
    if (run->workers < 1 || !spans_of(&s, run))
        plot_page_text(f, "There is nothing to show of this run.");
    else if (run->workers <= PAGE_WORKERS && run->n <= PAGE_RECORDS)
        view(f, run, &s, number);
    else
        summary(f, run, &s);
    if (run->workers >= 1)
        spans_free(&s);
}
