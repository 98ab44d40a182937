#include "plot.h"
#include "plot_scale.h"
#include "plot_text.h"
#include "term.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Unicode: a cell has 2 x 4 dots (braille). ASCII: one. A cell shows its glyph if it has one. */
struct canvas {
    int columns, rows, unicode;
    unsigned char *dots;
    const char **glyph;
};

struct drawing {
    FILE *f;
    const struct plot *p;
    int columns, unicode, margin;   /* margin: columns left of the chart */
    struct plot_scale x, y;
    struct canvas canvas;
};

enum { LEAST_COLUMNS = 20, MOST_COLUMNS = 500 };

static const char *glyph_of(int unicode, size_t series)
{
    static const char *const shapes[PLOT_COLOURS] = {"●", "▲", "■", "◆", "○", "△", "□", "◇"};
    static const char *const ascii[PLOT_COLOURS] = {"*", "o", "+", "x", "#", "@", "%", "&"};
    return (unicode ? shapes : ascii)[series % PLOT_COLOURS];
}

static const char *fill_of(int unicode, size_t colour)
{
    static const char *const shades[PLOT_COLOURS] = {"█", "▒", "░", "▓", "▚", "▄", "▀", "▐"};
    static const char *const ascii[PLOT_COLOURS] = {"#", "=", "-", "+", "%", "o", "~", "@"};
    return (unicode ? shades : ascii)[colour % PLOT_COLOURS];
}

static void repeat(FILE *f, const char *text, int n)
{
    for (; n > 0; n--)
        fputs(text, f);
}

static void wrapped(const struct drawing *d, const char *text, int columns)
{
    while (text) {
        const char *rest;
        size_t bytes = plot_text_line(text, columns, &rest);
        plot_text_print(d->f, text, bytes);
        fputc('\n', d->f);
        text = rest;
    }
}

/* ---- canvas ------------------------------------------------------------------------------------ */

static int canvas_init(struct canvas *c, int columns, int rows, int unicode)
{
    size_t cells = (size_t)columns * (size_t)rows;
    *c = (struct canvas){columns, rows, unicode, calloc(cells, 1), calloc(cells, sizeof *c->glyph)};
    return c->dots && c->glyph;
}

static void canvas_free(struct canvas *c)
{
    free(c->dots);
    free(c->glyph);
}

static int dots_across(const struct canvas *c)
{
    return c->columns * (c->unicode ? 2 : 1);
}

static int dots_down(const struct canvas *c)
{
    return c->rows * (c->unicode ? 4 : 1);
}

static size_t cell_of(const struct canvas *c, int x, int y)
{
    return (size_t)(y / (c->unicode ? 4 : 1) * c->columns + x / (c->unicode ? 2 : 1));
}

static void dot(struct canvas *c, int x, int y)
{
    static const unsigned char bit[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    c->dots[cell_of(c, x, y)] |= c->unicode ? bit[y % 4][x % 2] : 1;
}

static void line(struct canvas *c, int x0, int y0, int x1, int y1, int dashed)
{
    int n = abs(x1 - x0) > abs(y1 - y0) ? abs(x1 - x0) : abs(y1 - y0);
    for (int i = 0; i <= n; i++)
        if (!dashed || (c->unicode ? (x0 + i) % 6 < 3 : i % 2 == 0))
            dot(c, x0 + (n ? (int)lround((double)(x1 - x0) * i / n) : 0),
                y0 + (n ? (int)lround((double)(y1 - y0) * i / n) : 0));
}

static void put_cell(FILE *f, const struct canvas *c, size_t cell)
{
    unsigned dots = c->dots[cell];
    if (c->glyph[cell])
        fputs(c->glyph[cell], f);
    else if (!dots || !c->unicode)
        fputc(dots ? '.' : ' ', f);
    else
        fprintf(f, "\xe2%c%c", (int)(0xa0 | dots >> 6), (int)(0x80 | (dots & 0x3f)));
}

/* ---- lines ------------------------------------------------------------------------------------- */

static int dot_x(const struct drawing *d, double x)
{
    return (int)lround(plot_scale_at(&d->x, x) * (dots_across(&d->canvas) - 1));
}

static int dot_y(const struct drawing *d, double y)
{
    return (int)lround((1 - plot_scale_at(&d->y, y)) * (dots_down(&d->canvas) - 1));
}

static void draw_mark(struct drawing *d, const struct plot_mark *m)
{
    struct canvas *c = &d->canvas;
    if (!plot_usable(m->at, m->horizontal ? d->p->log_y : d->p->log_x))
        return;
    for (int i = 0; m->horizontal && i < dots_across(c); i += 2)
        dot(c, i, dot_y(d, m->at));
    for (int i = 0; !m->horizontal && i < dots_down(c); i += 2)
        dot(c, dot_x(d, m->at), i);
}

/* A bar, or of many points, whose bars would hide everything, its ends. */
static void draw_interval(struct drawing *d, const struct plot_series *s, size_t i)
{
    int x = dot_x(d, plot_x(s, i)), low = dot_y(d, s->low[i]), high = dot_y(d, s->high[i]);
    dot(&d->canvas, x, low);
    dot(&d->canvas, x, high);
    if (s->n > (size_t)d->canvas.columns / 2)
        return;
    for (int y = low < high ? low : high; y <= (low < high ? high : low); y++)
        dot(&d->canvas, x, y);
}

static void draw_series(struct drawing *d, size_t number)
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
            line(&d->canvas, old_x, old_y, x, y, s->dashed);
        /* Few enough shapes that the line between them is seen. */
        if (s->points_only || abs(x - shape_at) >= (d->unicode ? 12 : 6)) {
            d->canvas.glyph[cell_of(&d->canvas, x, y)] = glyph_of(d->unicode, number);
            shape_at = x;
        }
        joined = 1;
        old_x = x;
        old_y = y;
    }
}

static void print_legend(const struct drawing *d)
{
    for (size_t i = 0; i < d->p->n_series; i++)
        if (d->p->series[i].name) {
            fprintf(d->f, "%s ", d->p->kind == PLOT_BARS ? fill_of(d->unicode, i) : glyph_of(d->unicode, i));
            plot_text_cut(d->f, d->p->series[i].name, d->columns - 2);
            fputc('\n', d->f);
        }
    for (size_t i = 0; d->p->kind == PLOT_GANTT && i < d->p->n_colours; i++) {
        fprintf(d->f, "%s ", fill_of(d->unicode, i));
        plot_text_cut(d->f, d->p->colour[i], d->columns - 2);
        fputc('\n', d->f);
    }
}

static void print_marks(const struct drawing *d)
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
static void print_ticks_below(const struct drawing *d, const struct plot_scale *s, int margin, int columns)
{
    int at = 0, end = d->columns;
    for (int i = 0; i < s->ticks; i++) {
        char text[PLOT_NUMBER];
        plot_scale_tick(s, s->tick[i], text);
        int length = (int)strlen(text);
        int place = margin + (int)lround(plot_scale_at(s, s->tick[i]) * (columns - 1)) - (length - 1) / 2;
        place = place + length > end ? end - length : place;
        if (place < at + (at > 0))
            continue;
        fprintf(d->f, "%*s%s", place - at, "", text);
        at = place + length;
    }
    fputc('\n', d->f);
}

static void print_axis_below(const struct drawing *d, const struct plot_scale *s, int margin, int columns)
{
    fprintf(d->f, "%*s", margin - 1, "");
    fputs(d->unicode ? "└" : "+", d->f);
    for (int column = 0; column < columns; column++) {
        int tick = 0;
        for (int i = 0; i < s->ticks; i++)
            tick |= (int)lround(plot_scale_at(s, s->tick[i]) * (columns - 1)) == column;
        fputs(d->unicode ? tick ? "┬" : "─" : tick ? "+" : "-", d->f);
    }
    fputc('\n', d->f);
    print_ticks_below(d, s, margin, columns);
}

static void print_x_label(const struct drawing *d, const char *label, int margin)
{
    if (!label)
        return;
    int columns = plot_text_columns(label), before = d->columns - columns;
    before = before > margin ? margin + (before - margin) / 2 : before > 0 ? before : 0;
    fprintf(d->f, "%*s", before, "");
    plot_text_cut(d->f, label, d->columns);
    fputc('\n', d->f);
}

static const char *tick_at_row(const struct drawing *d, int row, char text[PLOT_NUMBER])
{
    for (int i = 0; i < d->y.ticks; i++)
        if ((int)lround((1 - plot_scale_at(&d->y, d->y.tick[i])) * (d->canvas.rows - 1)) == row) {
            plot_scale_tick(&d->y, d->y.tick[i], text);
            return text;
        }
    return NULL;
}

static void print_rows(const struct drawing *d)
{
    const struct canvas *c = &d->canvas;
    for (int row = 0; row < c->rows; row++) {
        char text[PLOT_NUMBER];
        const char *tick = tick_at_row(d, row, text);
        size_t cell = (size_t)row * (size_t)c->columns, end = cell + (size_t)c->columns;
        fprintf(d->f, "%*s", d->margin - 1, tick ? tick : "");
        fputs(d->unicode ? tick ? "┤" : "│" : tick ? "+" : "|", d->f);
        while (end > cell && !c->dots[end - 1] && !c->glyph[end - 1])
            end--; /* no blanks at the end of a line */
        for (; cell < end; cell++)
            put_cell(d->f, c, cell);
        fputc('\n', d->f);
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

static void term_lines(struct drawing *d)
{
    int rows = d->columns / 4 < 8 ? 8 : d->columns / 4 > 20 ? 20 : d->columns / 4;
    plot_scale_y(&d->y, d->p, rows / 3);
    d->margin = widest_tick(&d->y) + 1;
    d->margin = d->margin > d->columns / 2 ? d->columns / 2 : d->margin;
    plot_scale_x(&d->x, d->p, (d->columns - d->margin) / 9);
    if (canvas_init(&d->canvas, d->columns - d->margin, rows, d->unicode)) {
        for (size_t i = 0; i < d->p->n_marks; i++)
            draw_mark(d, &d->p->mark[i]);
        for (size_t i = d->p->n_series; i-- > 0;)
            draw_series(d, i); /* the first on top */
        if (d->p->y_label)
            wrapped(d, d->p->y_label, d->columns);
        print_rows(d);
        print_axis_below(d, &d->x, d->margin, d->canvas.columns);
        print_x_label(d, d->p->x_label, d->margin);
    }
    canvas_free(&d->canvas);
}

/* ---- bars -------------------------------------------------------------------------------------- */

static int widest_name(const char *const *names, size_t n, int most)
{
    int widest = 1;
    for (size_t i = 0; i < n; i++) {
        int columns = plot_text_columns(names[i]);
        widest = columns > widest ? columns : widest;
    }
    return widest > most ? most : widest;
}

static void bar_value(const struct plot *p, const struct plot_series *s, size_t i, char *text, size_t size)
{
    char value[PLOT_NUMBER], low[PLOT_NUMBER], high[PLOT_NUMBER];
    plot_number(s->y[i], value);
    if (!plot_interval_usable(p, s, i)) {
        snprintf(text, size, "%s", value);
        return;
    }
    plot_number(s->low[i], low);
    plot_number(s->high[i], high);
    snprintf(text, size, "%s (%s to %s)", value, low, high);
}

static int widest_value(const struct plot *p)
{
    int widest = 1;
    for (size_t k = 0; k < p->n_series; k++)
        for (size_t i = 0; i < p->series[k].n && i < p->n_categories; i++) {
            char text[4 * PLOT_NUMBER];
            bar_value(p, &p->series[k], i, text, sizeof text);
            widest = (int)strlen(text) > widest ? (int)strlen(text) : widest;
        }
    return widest;
}

/* One series is drawn in eighths of a cell, several with the fill of each. Negative values reach left of 0. */
static void put_bar(const struct drawing *d, double value, size_t number, int columns)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int in_eighths = d->unicode && d->p->n_series == 1;
    double zero = d->y.base ? 0 : plot_scale_at(&d->y, 0), at = plot_scale_at(&d->y, value);
    int units = in_eighths ? 8 : 1;
    int from = (int)lround(fmin(zero, at) * columns), to = (int)lround(fmax(zero, at) * columns * units);
    repeat(d->f, " ", from);
    repeat(d->f, fill_of(d->unicode, number), to / units - from);
    if (in_eighths && to / units >= from)
        fputs(eighths[to % units], d->f);
    fprintf(d->f, "%*s ", columns - (to / units > from ? to / units : from) - (in_eighths && to % units > 0), "");
}

static void bars_of_category(const struct drawing *d, size_t i, int columns)
{
    int first = 1;
    for (size_t k = 0; k < d->p->n_series; k++) {
        const struct plot_series *s = &d->p->series[k];
        char text[4 * PLOT_NUMBER];
        if (i >= s->n)
            continue;
        plot_text_fit(d->f, first ? d->p->category[i] : "", d->margin - 2, 1);
        fputs(d->unicode ? " │" : " |", d->f);
        first = 0;
        if (plot_point_usable(d->p, s, i)) {
            bar_value(d->p, s, i, text, sizeof text);
            put_bar(d, s->y[i], k, columns);
            plot_text_cut(d->f, text, d->columns - d->margin - columns - 1);
        }
        fputc('\n', d->f);
    }
}

static void term_bars(struct drawing *d)
{
    int values = widest_value(d->p);
    values = values > d->columns / 3 ? d->columns / 3 : values;
    d->margin = widest_name(d->p->category, d->p->n_categories, d->columns / 3) + 2;
    int columns = d->columns - d->margin - 1 - values;
    plot_scale_y(&d->y, d->p, columns / 9);
    if (d->p->x_label)
        wrapped(d, d->p->x_label, d->columns);
    for (size_t i = 0; i < d->p->n_categories; i++)
        bars_of_category(d, i, columns);
    print_axis_below(d, &d->y, d->margin, columns);
    print_x_label(d, d->p->y_label, d->margin);
}

/* ---- Gantt ------------------------------------------------------------------------------------- */

/* The time of each colour in each cell of one row. */
static void cover(double *shares, const struct plot_scale *x, const struct plot_span *s, int columns)
{
    double from = plot_scale_at(x, s->from) * columns, to = plot_scale_at(x, s->to) * columns;
    for (int cell = (int)from; cell < columns && cell < to; cell++)
        shares[cell * PLOT_COLOURS + (s->colour & (PLOT_COLOURS - 1))] += fmin(to, cell + 1) - fmax(from, cell);
}

static int marked(const struct drawing *d, int cell, int columns)
{
    for (size_t i = 0; i < d->p->n_marks; i++)
        if (!d->p->mark[i].horizontal && plot_usable(d->p->mark[i].at, d->p->log_x)
            && (int)lround(plot_scale_at(&d->x, d->p->mark[i].at) * (columns - 1)) == cell)
            return 1;
    return 0;
}

static const char *most_of(const struct drawing *d, const double *shares)
{
    int best = 0;
    double sum = 0;
    for (int i = 0; i < PLOT_COLOURS; i++) {
        sum += shares[i];
        best = shares[i] > shares[best] ? i : best;
    }
    return sum > 0.25 ? fill_of(d->unicode, (size_t)best) : sum > 0 ? d->unicode ? "·" : "." : " ";
}

static const struct plot_span *label_at(const struct plot *p, const struct plot_scale *x, size_t row, int cell,
                                        int columns)
{
    for (size_t i = 0; i < p->n_spans; i++) {
        const struct plot_span *s = &p->span[i];
        if (s->row < 0 || (size_t)s->row != row || !s->label)
            continue;
        int from = (int)ceil(plot_scale_at(x, s->from) * columns);
        int to = (int)floor(plot_scale_at(x, s->to) * columns);
        if (from + 1 == cell && to - from >= plot_text_columns(s->label) + 2)
            return s;
    }
    return NULL;
}

static const char *gantt_cell(const struct drawing *d, const double *shares, int cell, int columns)
{
    if (marked(d, cell, columns))
        return d->unicode ? "┊" : ":";
    return most_of(d, shares + cell * PLOT_COLOURS);
}

/* Labels are looked for in all spans: only while these are few. */
static void gantt_cells(const struct drawing *d, size_t row, const double *shares, int columns)
{
    int blanks = 0; /* not printed at the end of the line */
    for (int cell = 0; cell < columns; cell++) {
        const struct plot_span *s = d->p->n_spans < 2000 ? label_at(d->p, &d->x, row, cell, columns) : NULL;
        const char *text = s && *s->label ? s->label : gantt_cell(d, shares, cell, columns);
        if (strcmp(text, " ") == 0) {
            blanks++;
            continue;
        }
        int used = plot_text_columns(text);
        repeat(d->f, " ", blanks);
        plot_text_cut(d->f, text, used);
        blanks = 0;
        cell += used > 1 ? used - 1 : 0;
    }
}

static void gantt_row(const struct drawing *d, size_t row, double *shares, int columns)
{
    memset(shares, 0, (size_t)columns * PLOT_COLOURS * sizeof *shares);
    for (size_t i = 0; i < d->p->n_spans; i++) {
        const struct plot_span *s = &d->p->span[i];
        if (s->row >= 0 && (size_t)s->row == row && plot_usable(s->from, 0) && plot_usable(s->to, 0))
            cover(shares, &d->x, s, columns);
    }
    gantt_cells(d, row, shares, columns);
}

static void term_gantt(struct drawing *d)
{
    d->margin = widest_name(d->p->row, d->p->n_rows, d->columns / 3) + 2;
    int columns = d->columns - d->margin;
    plot_scale_x(&d->x, d->p, columns / 9);
    double *shares = calloc((size_t)columns * PLOT_COLOURS, sizeof *shares);
    if (!shares)
        return;
    for (size_t i = 0; i < d->p->n_rows; i++) {
        plot_text_fit(d->f, d->p->row[i], d->margin - 2, 1);
        fputs(d->unicode ? " │" : " |", d->f);
        gantt_row(d, i, shares, columns);
        fputc('\n', d->f);
    }
    free(shares);
    print_axis_below(d, &d->x, d->margin, columns);
    print_x_label(d, d->p->x_label, d->margin);
}

void plot_term(FILE *f, const struct plot *p, int columns)
{
    columns = columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
    struct drawing d = {.f = f, .p = p, .columns = columns, .unicode = term_unicode()};
    if (p->title)
        wrapped(&d, p->title, columns);
    if (p->kind == PLOT_LINES)
        term_lines(&d);
    else if (p->kind == PLOT_BARS)
        term_bars(&d);
    else
        term_gantt(&d);
    print_legend(&d);
    print_marks(&d);
    if (p->note)
        wrapped(&d, p->note, columns);
}
