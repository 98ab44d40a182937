#include "findings.h"
#include "findings_form.h"
#include <errno.h>
#include <filch.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ------------------------------------------------------------------------------- */

struct kept {
    struct kept *next;
    max_align_t data[];
};

static void *must(void *p)
{
    if (!p) {
        fputs("filch: no memory for the findings\n", stderr);
        exit(EXIT_FAILURE);
    }
    return p;
}

void *findings_keep(struct findings *r, size_t bytes)
{
    struct kept *k = must(bytes < SIZE_MAX / 2 ? calloc(1, sizeof *k + bytes) : NULL);
    k->next = r->kept;
    r->kept = k;
    return k->data;
}

static char *format_v(struct findings *r, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = findings_keep(r, (size_t)(n < 0 ? 0 : n) + 1);
    vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, format, args);
    return text;
}

char *findings_format(struct findings *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_v(r, format, args);
    va_end(args);
    return text;
}

struct findings *findings_new(const char *title, const char *command)
{
    struct findings *r = must(calloc(1, sizeof *r));
    r->title = findings_format(r, "%s", title);
    r->command = findings_format(r, "%s", command);
    r->last = &r->first;
    return r;
}

void findings_free(struct findings *r)
{
    struct kept *next;
    for (struct kept *k = r ? r->kept : NULL; k; k = next) {
        next = k->next;
        free(k);
    }
    free(r);
}

/* ---- parts -------------------------------------------------------------------------------- */

static struct part *add(struct findings *r, enum part_kind kind)
{
    struct part *p = findings_keep(r, sizeof *p);
    p->kind = kind;
    *r->last = p;
    r->last = &p->next;
    return p;
}

void findings_parameter(struct findings *r, const char *name, const char *value)
{
    if (r->parameters == FINDINGS_PARAMETERS)
        return;
    r->name[r->parameters] = findings_format(r, "%s", name);
    r->value[r->parameters++] = findings_format(r, "%s", value);
}

void findings_text(struct findings *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(r, PART_TEXT)->text = format_v(r, format, args);
    va_end(args);
}

void findings_answer(struct findings *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(r, PART_ANSWER)->text = format_v(r, format, args);
    va_end(args);
}

void findings_lines(struct findings *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(r, PART_LINES)->text = format_v(r, format, args);
    va_end(args);
}

void findings_plot(struct findings *r, const struct plot *p)
{
    struct plot *copy = findings_keep(r, sizeof *copy);
    *copy = *p;
    add(r, PART_PLOT)->plot = copy;
}

void findings_hide_plots(struct findings *r)
{
    r->no_plots = 1;
}

void findings_run(struct findings *r, const struct page_run *run)
{
    struct page_run *copy = findings_keep(r, sizeof *copy);
    *copy = *run;
    add(r, PART_RUN)->run = copy;
}

/* ---- tables ------------------------------------------------------------------------------- */

struct table *findings_table(struct findings *r, const char *name, const char *columns)
{
    struct table *t = findings_keep(r, sizeof *t);
    t->findings = r;
    t->name = findings_format(r, "%s", name);
    char *text = findings_format(r, "%s", columns);
    for (char *next = text; next && t->columns < TABLE_COLUMNS;) {
        t->header[t->columns++] = next;
        next = strchr(next, '|');
        if (next)
            *next++ = '\0';
    }
    add(r, PART_TABLE)->table = t;
    return t;
}

struct table *findings_data(struct findings *r, const char *name, const char *columns)
{
    struct table *t = findings_table(r, name, columns);
    t->data_only = 1;
    return t;
}

static void grow(struct table *t)
{
    size_t room = t->room ? 2 * t->room : 16 * t->columns;
    const char **cells = findings_keep(t->findings, room * sizeof *cells);
    const char **halves = findings_keep(t->findings, room * sizeof *halves);
    unsigned char *numbers = findings_keep(t->findings, room);
    for (size_t i = 0; i < t->cells; i++) {
        cells[i] = t->cell[i];
        halves[i] = t->half[i];
        numbers[i] = t->is_number[i];
    }
    t->cell = cells;
    t->half = halves;
    t->is_number = numbers;
    t->room = room;
}

static void cell(struct table *t, const char *text, int is_number)
{
    if (t->cells == t->room)
        grow(t);
    t->is_number[t->cells] = (unsigned char)is_number;
    t->cell[t->cells++] = text;
}

void table_text(struct table *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cell(t, format_v(t->findings, format, args), 0);
    va_end(args);
}

static int is_finite(double value)
{
    return value > -1e300 && value < 1e300;
}

static const char *figure(struct table *t, double value, int digits)
{
    return findings_format(t->findings, "%.*f", digits, value == 0 ? 0.0 : value); /* no -0 */
}

void table_number(struct table *t, double value, int digits)
{
    if (is_finite(value))
        cell(t, figure(t, value, digits), 1);
    else
        cell(t, "-", 0);
}

void table_interval(struct table *t, double mean, double half_width, int digits)
{
    table_number(t, mean, digits);
    if (!is_finite(mean) || !is_finite(half_width))
        return;
    t->half[t->cells - 1] = figure(t, half_width, digits);
    t->has_half[(t->cells - 1) % t->columns] = 1;
}

/* ---- files -------------------------------------------------------------------------------- */

static int close_file(FILE *f)
{
    int failed = ferror(f) ? EIO : 0;
    if (fclose(f) != 0)
        failed = errno;
    return -failed;
}

static int svg_file(const struct plot *p, const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return -errno;
    plot_svg(f, p);
    return close_file(f);
}

/* The name of plot number i: where the path has %d stands its number, or else i must be 0. */
static char *numbered(const char *path, int i)
{
    const char *mark = strstr(path, "%d");
    size_t size = strlen(path) + 16;
    char *name = must(malloc(size));
    if (mark)
        snprintf(name, size, "%.*s%d%s", (int)(mark - path), path, i + 1, mark + 2);
    else
        snprintf(name, size, "%s", path);
    return name;
}

int findings_svg(const struct findings *r, const char *path)
{
    int i = 0, rc = 0;
    for (const struct part *p = r->first; p && rc == 0; p = p->next) {
        if (p->kind != PART_PLOT || (i > 0 && !strstr(path, "%d")))
            continue;
        char *name = numbered(path, i++);
        rc = svg_file(p->plot, name);
        free(name);
    }
    return i == 0 ? -ENODATA : rc;
}

static void html_table(FILE *f, const struct table *t)
{
    const char **shown = must(calloc(t->cells + 1, sizeof *shown));
    for (size_t i = 0; i < t->cells; i++)
        shown[i] = t->half[i] ? findings_format(t->findings, "%s ± %s", t->cell[i], t->half[i]) : t->cell[i];
    plot_page_table(f, t->name, t->header, t->columns, shown, t->cells / t->columns);
    free(shown);
}

static void html_part(FILE *f, const struct part *p, int *runs)
{
    switch (p->kind) {
    case PART_TEXT:
    case PART_ANSWER:
        plot_page_text(f, p->text);
        break;
    case PART_TABLE:
        html_table(f, p->table);
        break;
    case PART_PLOT:
        plot_page_plot(f, p->plot);
        break;
    case PART_RUN:
        sim_page_run(f, p->run, (*runs)++);
        break;
    case PART_LINES: /* the run view has the log */
        break;
    }
}

int findings_html(const struct findings *r, const char *path)
{
    int runs = 0;
    FILE *f = fopen(path, "w");
    if (!f)
        return -errno;
    plot_page_begin(f, r->title, r->command);
    for (const struct part *p = r->first; p; p = p->next)
        html_part(f, p, &runs);
    plot_page_parameters(f, "All parameters", r->name, r->value, r->parameters);
    plot_page_end(f);
    return close_file(f);
}
