#include "plot_term.h"
#include "plot_text.h"
#include "term.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_COLUMNS = 30, MOST_COLUMNS = 500 };

static const char *glyph_of(int unicode, size_t series)
{
    static const char *const shapes[PLOT_COLOURS] = {"●", "▲", "■", "◆", "○", "△", "□", "◇"};
    static const char *const ascii[PLOT_COLOURS] = {"*", "o", "+", "x", "#", "@", "%", "&"};
    return (unicode ? shapes : ascii)[series % PLOT_COLOURS];
}

const char *plot_term_fill(int unicode, size_t colour)
{
    static const char *const shades[PLOT_COLOURS] = {"█", "▒", "░", "▓", "▚", "▄", "▀", "▐"};
    static const char *const ascii[PLOT_COLOURS] = {"#", "=", "-", "+", "%", "o", "~", "@"};
    return (unicode ? shades : ascii)[colour % PLOT_COLOURS];
}

void plot_term_repeat(FILE *f, const char *text, int n)
{
    for (; n > 0; n--)
        fputs(text, f);
}

void plot_term_wrapped(const struct plot_drawing *d, const char *text, int columns)
{
    while (text) {
        const char *rest;
        size_t bytes = plot_text_line(text, columns, &rest);
        plot_text_print(d->f, text, bytes);
        fputc('\n', d->f);
        text = rest;
    }
}

/* ---- lines ------------------------------------------------------------------------------------- */

static int dot_x(const struct plot_drawing *d, double x)
{
    return (int)lround(plot_scale_at(&d->x, x) * (canvas_dots_across(&d->canvas) - 1));
}

static int dot_y(const struct plot_drawing *d, double y)
{
    return (int)lround((1 - plot_scale_at(&d->y, y)) * (canvas_dots_down(&d->canvas) - 1));
}

static void draw_mark(struct plot_drawing *d, const struct plot_mark *m)
{
    struct canvas *c = &d->canvas;
    if (!plot_usable(m->at, m->horizontal ? d->p->log_y : d->p->log_x))
        return;
    for (int i = 0; m->horizontal && i < canvas_dots_across(c); i += 2)
        canvas_dot(c, i, dot_y(d, m->at));
    for (int i = 0; !m->horizontal && i < canvas_dots_down(c); i += 2)
        canvas_dot(c, dot_x(d, m->at), i);
}

/* A bar, or of many points, whose bars would hide everything, its ends. */
static void draw_interval(struct plot_drawing *d, const struct plot_series *s, size_t i)
{
    int x = dot_x(d, plot_x(s, i)), low = dot_y(d, s->low[i]), high = dot_y(d, s->high[i]);
    canvas_dot(&d->canvas, x, low);
    canvas_dot(&d->canvas, x, high);
    if (s->n > (size_t)d->canvas.columns / 2)
        return;
    for (int y = low < high ? low : high; y <= (low < high ? high : low); y++)
        canvas_dot(&d->canvas, x, y);
}

static void draw_series(struct plot_drawing *d, size_t number)
{
    const struct plot_series *s = &d->p->series[number];
    int joined = 0, old_x = 0, old_y = 0, shape_at = -1000;
    for (size_t i = 0; i < s->n; i++) {
        if (!plot_point_usable(d->p, s, i)) {
            joined = 0;
            continue;
        }
        int x = dot_x(d, plot_x(s, i)), y = dot_y(d, s->y[i]);
        if (plot_interval_usable(d->p, s, i))
            draw_interval(d, s, i);
        if (joined && !s->points_only)
            canvas_line(&d->canvas, old_x, old_y, x, y, s->dashed);
        /* Few enough shapes that the line between them is seen. */
        if (s->points_only || abs(x - shape_at) >= (d->unicode ? 12 : 6)) {
            canvas_glyph(&d->canvas, x, y, glyph_of(d->unicode, number));
            shape_at = x;
        }
        joined = 1;
        old_x = x;
        old_y = y;
    }
}

static void legend_line(const struct plot_drawing *d, const char *sample, const char *name)
{
    fprintf(d->f, "%s ", sample);
    plot_text_cut(d->f, name, d->columns - 2);
    fputc('\n', d->f);
}

static void print_legend(const struct plot_drawing *d)
{
    for (size_t i = 0; i < d->p->n_series; i++)
        if (d->p->series[i].name)
            legend_line(d, d->p->kind == PLOT_BARS ? plot_term_fill(d->unicode, i) : glyph_of(d->unicode, i),
                        d->p->series[i].name);
    for (size_t i = 0; d->p->kind == PLOT_GANTT && i < d->p->n_colours; i++)
        legend_line(d, plot_term_fill(d->unicode, i), d->p->colour[i]);
}

static void print_marks(const struct plot_drawing *d)
{
    for (size_t i = 0; i < d->p->n_marks; i++) {
        const struct plot_mark *m = &d->p->mark[i];
        char number[PLOT_NUMBER], text[2 * PLOT_NUMBER];
        if (!m->label)
            continue;
        plot_number(m->at, number);
        const char *axis = d->p->kind == PLOT_BARS ? "at" : m->horizontal ? "dotted, y =" : "dotted, x =";
        int used = snprintf(text, sizeof text, "%s %s: ", axis, number);
        if (used >= d->columns)
            continue;
        fputs(text, d->f);
        plot_text_cut(d->f, m->label, d->columns - used);
        fputc('\n', d->f);
    }
}

/* Tick labels below an axis of `columns` columns, those that find room. */
static void print_ticks_below(const struct plot_drawing *d, const struct plot_scale *s, int columns)
{
    int at = 0, end = d->columns;
    for (int i = 0; i < s->ticks; i++) {
        char text[PLOT_NUMBER];
        plot_scale_tick(s, s->tick[i], text);
        int length = (int)strlen(text);
        int place = d->margin + (int)lround(plot_scale_at(s, s->tick[i]) * (columns - 1)) - (length - 1) / 2;
        place = place + length > end ? end - length : place;
        if (place < at + (at > 0))
            continue;
        fprintf(d->f, "%*s%s", place - at, "", text);
        at = place + length;
    }
    fputc('\n', d->f);
}

void plot_term_axis(const struct plot_drawing *d, const struct plot_scale *s, int columns)
{
    fprintf(d->f, "%*s", d->margin - 1, "");
    fputs(d->unicode ? "└" : "+", d->f);
    for (int column = 0; column < columns; column++) {
        int tick = 0;
        for (int i = 0; i < s->ticks; i++)
            tick |= (int)lround(plot_scale_at(s, s->tick[i]) * (columns - 1)) == column;
        fputs(d->unicode ? tick ? "┬" : "─" : tick ? "+" : "-", d->f);
    }
    fputc('\n', d->f);
    print_ticks_below(d, s, columns);
}

void plot_term_label(const struct plot_drawing *d, const char *label)
{
    if (!label)
        return;
    int columns = plot_text_columns(label), before = d->columns - columns;
    before = before > d->margin ? d->margin + (before - d->margin) / 2 : before > 0 ? before : 0;
    fprintf(d->f, "%*s", before, "");
    plot_text_cut(d->f, label, d->columns);
    fputc('\n', d->f);
}

static const char *tick_at_row(const struct plot_drawing *d, int row, char text[PLOT_NUMBER])
{
    for (int i = 0; i < d->y.ticks; i++)
        if ((int)lround((1 - plot_scale_at(&d->y, d->y.tick[i])) * (d->canvas.rows - 1)) == row) {
            plot_scale_tick(&d->y, d->y.tick[i], text);
            return text;
        }
    return NULL;
}

static void print_rows(const struct plot_drawing *d)
{
    const struct canvas *c = &d->canvas;
    for (int row = 0; row < c->rows; row++) {
        char text[PLOT_NUMBER];
        const char *tick = tick_at_row(d, row, text);
        fprintf(d->f, "%*s", d->margin - 1, tick ? tick : "");
        fputs(d->unicode ? tick ? "┤" : "│" : tick ? "+" : "|", d->f);
        canvas_print_row(d->f, c, row);
    }
}

static int widest_tick(const struct plot_scale *s)
{
    int widest = 1;
    for (int i = 0; i < s->ticks; i++) {
        char text[PLOT_NUMBER];
        plot_scale_tick(s, s->tick[i], text);
        widest = (int)strlen(text) > widest ? (int)strlen(text) : widest;
    }
    return widest;
}

static void term_lines(struct plot_drawing *d)
{
    int rows = d->columns / 4 < 8 ? 8 : d->columns / 4 > 20 ? 20 : d->columns / 4;
    plot_scale_y(&d->y, d->p, rows / 3);
    d->margin = widest_tick(&d->y) + 1;
    plot_scale_x(&d->x, d->p, (d->columns - d->margin) / 9);
    if (canvas_init(&d->canvas, d->columns - d->margin, rows, d->unicode)) {
        for (size_t i = 0; i < d->p->n_marks; i++)
            draw_mark(d, &d->p->mark[i]);
        for (size_t i = d->p->n_series; i-- > 0;)
            draw_series(d, i); /* the first on top */
        if (d->p->y_label)
            plot_term_wrapped(d, d->p->y_label, d->columns);
        print_rows(d);
        plot_term_axis(d, &d->x, d->canvas.columns);
        plot_term_label(d, d->p->x_label);
    }
    canvas_free(&d->canvas);
}

void plot_term(FILE *f, const struct plot *p, int columns)
{
    columns = columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
    struct plot_drawing d = {.f = f, .p = p, .columns = columns, .unicode = term_unicode()};
    if (p->title)
        plot_term_wrapped(&d, p->title, columns);
    if (p->kind == PLOT_LINES)
        term_lines(&d);
    else if (p->kind == PLOT_BARS)
        plot_term_bars(&d);
    else
        plot_term_gantt(&d);
    print_legend(&d);
    print_marks(&d);
    if (p->note)
        plot_term_wrapped(&d, p->note, columns);
}
