/* plot_svg_draw.c: what is between the axes. */
#include "plot_svg.h"
#include "plot_text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIP = 320, POINTS_WITH_SHAPES = 60, POINTS_MAX = 5000, INTERVALS_MAX = 30 };

/* Beside colours, so that lines differ without them too. */
static const char *const shapes[PLOT_COLOURS] = {
    "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z", "M-3.5 -3.5H3.5V3.5H-3.5Z", "M0 -5L4.5 3.5H-4.5Z",
    "M0 -5L5 0L0 5L-5 0Z", "M0 5L4.5 -3.5H-4.5Z", "M-4 -4L4 4M4 -4L-4 4",
    "M0 -5V5M-5 0H5", "M-5 -1.5H5V1.5H-5Z"};
static const char *const dashes[PLOT_COLOURS] = {"6 4", "2 3", "9 3 2 3", "12 4",
                                                 "4 2", "1 4", "9 3 2 3 2 3", "3 6"};

static int colour_of(size_t number)
{
    return (int)(number % PLOT_COLOURS);
}

static void shape(struct plot_picture *d, size_t number, double x, double y, const char *tip)
{
    fprintf(d->f, "<path class=\"p-m p-c%d\" d=\"%s\" transform=\"translate(", colour_of(number),
            shapes[colour_of(number)]);
    plot_svg_number(d->f, x);
    fputc(' ', d->f);
    plot_svg_number(d->f, y);
    if (!tip) {
        fputs(")\"/>\n", d->f);
        return;
    }
    fputs(")\"><title>", d->f);
    plot_text_xml(d->f, tip);
    fputs("</title></path>\n", d->f);
}

static void begin_path(struct plot_picture *d, const char *css_class, size_t number, int dashed)
{
    fprintf(d->f, "<path class=\"p-c%d %s\"", colour_of(number), css_class);
    if (dashed)
        fprintf(d->f, " stroke-dasharray=\"%s\"", dashes[colour_of(number)]);
    fputs(" d=\"", d->f);
}

static void path_to(struct plot_picture *d, int command, double x, double y)
{
    fputc(command, d->f);
    plot_svg_number(d->f, x);
    fputc(' ', d->f);
    plot_svg_number(d->f, y);
}

/* What the pointer shows: "name: x, y (low to high)". */
static void point_tip(const struct plot *p, const struct plot_series *s, size_t i, const char *at,
                      char tip[TIP])
{
    char y[PLOT_NUMBER], low[PLOT_NUMBER], high[PLOT_NUMBER];
    plot_number(s->y[i], y);
    int used = snprintf(tip, TIP, "%.80s%s%.80s: %s", s->name ? s->name : "", s->name ? ", " : "", at, y);
    if (!plot_interval_usable(p, s, i) || used < 0 || used >= TIP)
        return;
    plot_number(s->low[i], low);
    plot_number(s->high[i], high);
    snprintf(tip + used, TIP - (size_t)used, " (%s to %s)", low, high);
}

/* ---- lines ------------------------------------------------------------------------------------- */

static int has_interval(const struct plot *p, const struct plot_series *s, size_t i)
{
    return plot_point_usable(p, s, i) && plot_interval_usable(p, s, i);
}

/* The points from `from` on whose intervals follow each other without a gap; returns where they end. */
static size_t band_part(struct plot_picture *d, const struct plot_series *s, size_t from)
{
    size_t end = from;
    for (; end < s->n && has_interval(d->p, s, end); end++)
        path_to(d, end == from ? 'M' : 'L', plot_svg_x(d, plot_x(s, end)), plot_svg_y(d, s->high[end]));
    for (size_t i = end; i-- > from;)
        path_to(d, 'L', plot_svg_x(d, plot_x(s, i)), plot_svg_y(d, s->low[i]));
    fputc('Z', d->f);
    return end;
}

static void band(struct plot_picture *d, size_t number)
{
    const struct plot_series *s = &d->p->series[number];
    begin_path(d, "p-band", number, 0);
    for (size_t i = 0; i < s->n; i++)
        if (has_interval(d->p, s, i))
            i = band_part(d, s, i);
    fputs("\"/>\n", d->f);
}

static void error_bar(struct plot_picture *d, size_t number, size_t i)
{
    const struct plot_series *s = &d->p->series[number];
    double x = plot_svg_x(d, plot_x(s, i)), low = plot_svg_y(d, s->low[i]), high = plot_svg_y(d, s->high[i]);
    char css_class[32];
    snprintf(css_class, sizeof css_class, "p-e p-c%d", colour_of(number));
    plot_svg_line(d, css_class, x, low, x, high);
    plot_svg_line(d, css_class, x - 4, low, x + 4, low);
    plot_svg_line(d, css_class, x - 4, high, x + 4, high);
}

/* Points closer than the line is wide are left out. */
static void joined(struct plot_picture *d, size_t number)
{
    const struct plot_series *s = &d->p->series[number];
    double old_x = 0, old_y = 0;
    int begun = 0;
    begin_path(d, "p-l", number, s->dashed);
    for (size_t i = 0; i < s->n; i++) {
        if (!plot_point_usable(d->p, s, i)) {
            begun = 0;
            continue;
        }
        double x = plot_svg_x(d, plot_x(s, i)), y = plot_svg_y(d, s->y[i]);
        if (begun && i + 1 < s->n && fabs(x - old_x) < 0.2 && fabs(y - old_y) < 0.2)
            continue;
        path_to(d, begun ? 'L' : 'M', x, y);
        begun = 1;
        old_x = x;
        old_y = y;
    }
    fputs("\"/>\n", d->f);
}

static void points(struct plot_picture *d, size_t number)
{
    const struct plot_series *s = &d->p->series[number];
    size_t most = s->points_only ? POINTS_MAX : POINTS_WITH_SHAPES, stride = 1 + (s->n - 1) / most;
    if (!s->points_only && stride > 1)
        stride = 1 + s->n / 12;
    for (size_t i = 0; i < s->n; i += stride) {
        char at[PLOT_NUMBER], tip[TIP];
        if (!plot_point_usable(d->p, s, i))
            continue;
        plot_number(plot_x(s, i), at);
        point_tip(d->p, s, i, at, tip);
        shape(d, number, plot_svg_x(d, plot_x(s, i)), plot_svg_y(d, s->y[i]), tip);
    }
}

static void intervals(struct plot_picture *d, size_t number)
{
    const struct plot_series *s = &d->p->series[number];
    if (!s->low || !s->high)
        return;
    if (s->n > INTERVALS_MAX && !s->points_only)
        band(d, number);
    else
        for (size_t i = 0; i < s->n; i++)
            if (has_interval(d->p, s, i))
                error_bar(d, number, i);
}

void plot_svg_lines(struct plot_picture *d)
{
    for (size_t i = d->p->n_series; i-- > 0;) { /* the first on top */
        if (!d->p->series[i].n)
            continue;
        intervals(d, i);
        if (!d->p->series[i].points_only)
            joined(d, i);
        points(d, i);
    }
}

/* ---- bars -------------------------------------------------------------------------------------- */

double plot_svg_bar_height(const struct plot *p)
{
    size_t bars = p->n_series * p->n_categories;
    return bars <= 12 ? 20 : bars <= 40 ? 14 : 8;
}

static void bar_class(size_t number, char css_class[32])
{
    snprintf(css_class, 32, "p-c%d%s", colour_of(number), number % 2 ? " p-open" : "");
}

static void bar(struct plot_picture *d, size_t number, size_t i, double y, double height)
{
    const struct plot_series *s = &d->p->series[number];
    char tip[TIP], value[PLOT_NUMBER], css_class[32];
    if (i >= s->n || !plot_point_usable(d->p, s, i))
        return;
    double zero = d->p->log_y ? d->left : plot_svg_x(d, 0), end = plot_svg_x(d, s->y[i]);
    double beyond = fmax(end, zero);
    bar_class(number, css_class);
    point_tip(d->p, s, i, d->p->category[i], tip);
    plot_svg_bar(d, css_class, zero, y + 1, end, y + height - 1, tip);
    if (plot_interval_usable(d->p, s, i)) {
        double low = plot_svg_x(d, s->low[i]), high = plot_svg_x(d, s->high[i]), middle = y + height / 2;
        beyond = fmax(beyond, high);
        plot_svg_line(d, "p-u", low, middle, high, middle); /* seen on the bar too */
        plot_svg_line(d, "p-w", low, middle, high, middle);
        plot_svg_line(d, "p-w", low, middle - 4, low, middle + 4);
        plot_svg_line(d, "p-w", high, middle - 4, high, middle + 4);
    }
    plot_number(s->y[i], value);
    if (height >= 12)
        plot_svg_text(d, "p-s", "start", beyond + 6, y + height / 2 + 4, value, strlen(value));
}

void plot_svg_bars(struct plot_picture *d)
{
    double height = plot_svg_bar_height(d->p), y = d->top;
    for (size_t i = 0; i < d->p->n_categories; i++) {
        y += 5;
        for (size_t k = 0; k < d->p->n_series; k++, y += height)
            bar(d, k, i, y, height);
        y += 5;
    }
}

/* ---- Gantt ------------------------------------------------------------------------------------- */

double plot_svg_row_height(const struct plot *p)
{
    return p->n_rows <= 16 ? 26 : p->n_rows <= 40 ? 16 : p->n_rows <= 200 ? 8 : 1600 / (double)p->n_rows;
}

/* The height of a span tells its colour as well. */
static void span_edges(int colour, double height, double *above, double *below)
{
    static const double part[PLOT_COLOURS] = {0.84, 0.5, 0.24, 0.84, 0.5, 0.24, 0.84, 0.5};
    *above = height * (1 - part[colour]) / 2;
    *below = height - *above;
}

static int is_open(int colour)
{
    return colour >= 3 && colour < 6;
}

static void span_class(int colour, char css_class[32])
{
    snprintf(css_class, 32, "p-c%d%s", colour, is_open(colour) ? " p-open" : " p-f");
}

static void span_tip(const struct plot *p, const struct plot_span *s, char tip[TIP])
{
    char from[PLOT_NUMBER], to[PLOT_NUMBER];
    size_t colour = (size_t)(s->colour & (PLOT_COLOURS - 1));
    const char *kind = colour < p->n_colours ? p->colour[colour] : "";
    plot_number(s->from, from);
    plot_number(s->to, to);
    snprintf(tip, TIP, "%.80s, %.60s%s%.60s, %s to %s", p->row[s->row], s->label ? s->label : "",
             s->label && *kind ? ", " : "", kind, from, to);
}

/* done[row]: where the last span that was drawn ends, in pixels. What ends there too adds nothing to see. */
static void span(struct plot_picture *d, const struct plot_span *s, double *done)
{
    double height = (d->bottom - d->top) / (double)d->p->n_rows, above, below;
    double from = plot_svg_x(d, s->from), to = plot_svg_x(d, s->to), y = d->top + height * s->row;
    int colour = s->colour & (PLOT_COLOURS - 1);
    char tip[TIP], css_class[32];
    if (to < done[s->row] + 0.3 && to >= done[s->row] - 0.3)
        return;
    done[s->row] = to;
    span_edges(colour, height, &above, &below);
    span_class(colour, css_class);
    span_tip(d->p, s, tip);
    double end = to - from > 3 ? to - 0.8 : fmax(to, from + 0.5); /* a gap before the next */
    plot_svg_bar(d, css_class, from, y + above, end, y + below, tip);
    if (s->label && below - above >= 16 && to - from > plot_svg_width(s->label) + 6)
        plot_svg_text(d, is_open(colour) ? "p-t" : "p-in", "middle", (from + to) / 2, y + height / 2 + 4.5,
                      s->label, strlen(s->label));
}

void plot_svg_gantt(struct plot_picture *d)
{
    const struct plot *p = d->p;
    double *done = malloc((p->n_rows + 1) * sizeof *done);
    for (size_t i = 0; done && i < p->n_rows; i++)
        done[i] = -1;
    for (size_t i = 0; done && i < p->n_spans; i++) {
        const struct plot_span *s = &p->span[i];
        if (s->row >= 0 && (size_t)s->row < p->n_rows && plot_usable(s->from, p->log_x)
            && plot_usable(s->to, p->log_x))
            span(d, s, done);
    }
    free(done);
}

/* ---- marks, legend ----------------------------------------------------------------------------- */

/* The label stands above the chart; left of its line if it has no room right of it. */
static void mark_upright(struct plot_picture *d, const struct plot_mark *m, int row)
{
    double x = plot_svg_x(d, m->at), y = d->top - 6 - 17 * row;
    plot_svg_line(d, "p-k", x, m->label ? y - 10 : d->top, x, d->bottom);
    if (!m->label)
        return;
    int left = x + plot_svg_width(m->label) + 8 > d->width && x > d->width / 2;
    plot_svg_text(d, "p-h", left ? "end" : "start", x + (left ? -5 : 5), y, m->label, strlen(m->label));
}

static void mark_across(struct plot_picture *d, const struct plot_mark *m)
{
    double y = plot_svg_y(d, m->at);
    plot_svg_line(d, "p-k", d->left, y, d->right, y);
    y += y < d->top + 18 ? 16 : -5;
    if (m->label)
        plot_svg_text(d, "p-h", "start", d->left + 6, y, m->label, strlen(m->label));
}

void plot_svg_marks(struct plot_picture *d)
{
    const struct plot *p = d->p;
    int labels = 0;
    for (size_t i = 0; i < p->n_marks; i++) {
        const struct plot_mark *m = &p->mark[i];
        int across = m->horizontal && p->kind == PLOT_LINES;
        if (!plot_usable(m->at, across || p->kind == PLOT_BARS ? p->log_y : p->log_x))
            continue;
        if (across)
            mark_across(d, m);
        else if (!m->horizontal || p->kind == PLOT_BARS)
            mark_upright(d, m, m->label && d->mark_rows ? labels++ % d->mark_rows : 0);
    }
}

void plot_svg_sample(struct plot_picture *d, size_t number, double x, double y)
{
    const struct plot_series *s = d->p->kind == PLOT_GANTT ? NULL : &d->p->series[number];
    char css_class[32];
    double above, below;
    if (d->p->kind == PLOT_LINES) {
        if (!s->points_only) {
            begin_path(d, "p-l", number, s->dashed);
            path_to(d, 'M', x, y);
            path_to(d, 'L', x + 26, y);
            fputs("\"/>\n", d->f);
        }
        shape(d, number, x + 13, y, NULL);
    } else if (s) {
        bar_class(number, css_class);
        plot_svg_bar(d, css_class, x + 4, y - 5, x + 22, y + 5, NULL);
    } else {
        span_edges(colour_of(number), 16, &above, &below);
        span_class(colour_of(number), css_class);
        plot_svg_bar(d, css_class, x + 2, y - 8 + above, x + 24, y - 8 + below, NULL);
    }
}
