/* plot_term_rows.c: charts that are a row of characters for each bar, or each row of a Gantt chart. */
#include "plot_term.h"
#include "plot_text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* One series is drawn in eighths of a cell, several with the fill of each. Negative values reach to the left
 * of 0. */
static void put_bar(const struct plot_drawing *d, double value, size_t number, int columns)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int in_eighths = d->unicode && d->p->n_series == 1;
    double zero = d->y.base ? 0 : plot_scale_at(&d->y, 0), at = plot_scale_at(&d->y, value);
    int units = in_eighths ? 8 : 1;
    int from = (int)lround(fmin(zero, at) * columns), to = (int)lround(fmax(zero, at) * columns * units);
    plot_term_repeat(d->f, " ", from);
    plot_term_repeat(d->f, plot_term_fill(d->unicode, number), to / units - from);
    if (in_eighths && to / units >= from)
        fputs(eighths[to % units], d->f);
    int used = (to / units > from ? to / units : from) + (in_eighths && to % units > 0);
    plot_term_repeat(d->f, " ", columns - used + 1);
}

static void bars_of_category(const struct plot_drawing *d, size_t i, int columns)
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

void plot_term_bars(struct plot_drawing *d)
{
    int values = widest_value(d->p);
    values = values > d->columns / 2 ? d->columns / 2 : values;
    d->margin = widest_name(d->p->category, d->p->n_categories, d->columns / 3) + 2;
    int columns = d->columns - d->margin - 1 - values;
    plot_scale_y(&d->y, d->p, columns / 9);
    if (d->p->x_label)
        plot_term_wrapped(d, d->p->x_label, d->columns);
    for (size_t i = 0; i < d->p->n_categories; i++)
        bars_of_category(d, i, columns);
    plot_term_axis(d, &d->y, columns);
    plot_term_label(d, d->p->y_label);
}

/* ---- Gantt ------------------------------------------------------------------------------------- */

/* The time of each colour in each cell of one row. */
static void cover(double *shares, const struct plot_scale *x, const struct plot_span *s, int columns)
{
    double from = plot_scale_at(x, s->from) * columns, to = plot_scale_at(x, s->to) * columns;
    int colour = s->colour & (PLOT_COLOURS - 1);
    for (int cell = (int)from; cell < columns && cell < to; cell++)
        shares[cell * PLOT_COLOURS + colour] += fmin(to, cell + 1) - fmax(from, cell);
}

static int marked(const struct plot_drawing *d, int cell, int columns)
{
    for (size_t i = 0; i < d->p->n_marks; i++)
        if (!d->p->mark[i].horizontal && plot_usable(d->p->mark[i].at, d->p->log_x)
            && (int)lround(plot_scale_at(&d->x, d->p->mark[i].at) * (columns - 1)) == cell)
            return 1;
    return 0;
}

static const char *most_of(const struct plot_drawing *d, const double *shares)
{
    int best = 0;
    double sum = 0;
    for (int i = 0; i < PLOT_COLOURS; i++) {
        sum += shares[i];
        best = shares[i] > shares[best] ? i : best;
    }
    return sum > 0.25 ? plot_term_fill(d->unicode, (size_t)best) : sum > 0 ? d->unicode ? "·" : "." : " ";
}

static const struct plot_span *label_at(const struct plot *p, const struct plot_scale *x, size_t row,
                                        int cell, int columns)
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

static const char *gantt_cell(const struct plot_drawing *d, const double *shares, int cell, int columns)
{
    if (marked(d, cell, columns))
        return d->unicode ? "┊" : ":";
    return most_of(d, shares + cell * PLOT_COLOURS);
}

/* Labels are looked for in all spans: only while these are few. */
static void gantt_cells(const struct plot_drawing *d, size_t row, const double *shares, int columns)
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
        plot_term_repeat(d->f, " ", blanks);
        plot_text_cut(d->f, text, used);
        blanks = 0;
        cell += used > 1 ? used - 1 : 0;
    }
}

static void gantt_row(const struct plot_drawing *d, size_t row, double *shares, int columns)
{
    memset(shares, 0, (size_t)columns * PLOT_COLOURS * sizeof *shares);
    for (size_t i = 0; i < d->p->n_spans; i++) {
        const struct plot_span *s = &d->p->span[i];
        if (s->row >= 0 && (size_t)s->row == row && plot_usable(s->from, 0) && plot_usable(s->to, 0))
            cover(shares, &d->x, s, columns);
    }
    gantt_cells(d, row, shares, columns);
}

void plot_term_gantt(struct plot_drawing *d)
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
    plot_term_axis(d, &d->x, columns);
    plot_term_label(d, d->p->x_label);
}
