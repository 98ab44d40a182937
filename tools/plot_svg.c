/* plot_svg.c: the frame of a chart: title, legend, axes, note. */
#include "plot_svg.h"
#include "plot_text.h"
#include <math.h>
#include <string.h>

/* Colours that differ for the colour-blind too, and from the background by 4.5 to 1. */
static const char style[] =
    ".p-bg{fill:#fff}.p-t{fill:#1b1f24}.p-s{fill:#555d66}.p-g{stroke:#d9dde2}.p-a{stroke:#6b737c}"
    ".p-k{stroke:#1b1f24;stroke-dasharray:1.5 3;stroke-width:1.5}"
    ".p-h{fill:#1b1f24;stroke:#fff;stroke-width:4px;stroke-linejoin:round;paint-order:stroke}"
    ".p-in{fill:#fff}.p-l{stroke-width:2;stroke-linejoin:round}.p-band{fill-opacity:.16}"
    ".p-e{stroke-width:1.5}.p-w{stroke:#1b1f24;stroke-width:1.5}.p-u{stroke:#fff;stroke-width:4.5}"
    ".p-m{stroke-width:1.5}.p-open{fill-opacity:.18;stroke-width:1.5}"
    ".p-c0{fill:#0067a5;stroke:#0067a5}.p-c1{fill:#b84700;stroke:#b84700}.p-c2{fill:#00734f;stroke:#00734f}"
    ".p-c3{fill:#9c3d7a;stroke:#9c3d7a}.p-c4{fill:#735a00;stroke:#735a00}.p-c5{fill:#444;stroke:#444}"
    ".p-c6{fill:#5a4fcf;stroke:#5a4fcf}.p-c7{fill:#7a4b2a;stroke:#7a4b2a}"
    "@media (prefers-color-scheme:dark){"
    ".p-bg{fill:#15181c}.p-t{fill:#e6e9ed}.p-s{fill:#a9b1ba}.p-g{stroke:#333a42}.p-a{stroke:#858e98}"
    ".p-k{stroke:#e6e9ed}.p-h{fill:#e6e9ed;stroke:#15181c}.p-in{fill:#101215}"
    ".p-w{stroke:#e6e9ed}.p-u{stroke:#15181c}"
    ".p-c0{fill:#5cb8f0;stroke:#5cb8f0}.p-c1{fill:#ff9a57;stroke:#ff9a57}.p-c2{fill:#3fcf9f;stroke:#3fcf9f}"
    ".p-c3{fill:#eba0d0;stroke:#eba0d0}.p-c4{fill:#e3bd3a;stroke:#e3bd3a}.p-c5{fill:#ccc;stroke:#ccc}"
    ".p-c6{fill:#aaa4ff;stroke:#aaa4ff}.p-c7{fill:#d3aa84;stroke:#d3aa84}}"
    ".p-l{fill:none}.p-band,.p-f{stroke:none}.p-title{font-size:15px;font-weight:600}.p-note{font-size:12px}";

enum { LINE = 17, TITLE = 15, EDGE = 12, CHART = 300, LEGEND_SAMPLE = 26, LEGEND_GAP = 18, PLOT_NAME = 512 };

void plot_svg_style(FILE *f)
{
    fputs(style, f);
}

double plot_svg_width(const char *text)
{
    return plot_text_columns(text) * 7.0;
}

/* One digit after the point is a tenth of a pixel. */
void plot_svg_number(FILE *f, double value)
{
    double bounded = value > 99999 ? 99999 : value > -99999 ? value : -99999; /* not a number: -99999 */
    char text[PLOT_NUMBER];
    snprintf(text, sizeof text, "%.1f", bounded);
    size_t n = strlen(text);
    if (text[n - 1] == '0')
        text[n - 2] = 0;
    fputs(strcmp(text, "-0") == 0 ? "0" : text, f);
}

void plot_svg_set(FILE *f, const char *name, double value)
{
    fprintf(f, " %s=\"", name);
    plot_svg_number(f, value);
    fputc('"', f);
}

void plot_svg_text(struct plot_picture *d, const char *css_class, const char *anchor, double x, double y,
                   const char *text, size_t bytes)
{
    fprintf(d->f, "<text class=\"%s\"", css_class);
    if (strcmp(anchor, "start") != 0)
        fprintf(d->f, " text-anchor=\"%s\"", anchor);
    plot_svg_set(d->f, "x", x);
    plot_svg_set(d->f, "y", y);
    fputc('>', d->f);
    plot_text_xml_part(d->f, text, bytes);
    fputs("</text>\n", d->f);
}

void plot_svg_line(struct plot_picture *d, const char *css_class, double x1, double y1, double x2, double y2)
{
    fprintf(d->f, "<line class=\"%s\"", css_class);
    plot_svg_set(d->f, "x1", x1);
    plot_svg_set(d->f, "y1", y1);
    plot_svg_set(d->f, "x2", x2);
    plot_svg_set(d->f, "y2", y2);
    fputs("/>\n", d->f);
}

void plot_svg_bar(struct plot_picture *d, const char *css_class, double x1, double y1, double x2, double y2,
                  const char *tip)
{
    fprintf(d->f, "<rect class=\"%s\"", css_class);
    plot_svg_set(d->f, "x", fmin(x1, x2));
    plot_svg_set(d->f, "y", y1);
    plot_svg_set(d->f, "width", fabs(x2 - x1));
    plot_svg_set(d->f, "height", y2 - y1);
    if (!tip) {
        fputs("/>\n", d->f);
        return;
    }
    fputs("><title>", d->f);
    plot_text_xml(d->f, tip);
    fputs("</title></rect>\n", d->f);
}

double plot_svg_x(const struct plot_picture *d, double value)
{
    const struct plot_scale *s = d->p->kind == PLOT_BARS ? &d->y : &d->x;
    return d->left + plot_scale_at(s, value) * (d->right - d->left);
}

double plot_svg_y(const struct plot_picture *d, double value)
{
    return d->bottom - plot_scale_at(&d->y, value) * (d->bottom - d->top);
}

/* ---- text around the chart --------------------------------------------------------------------- */

static int lines_of(const char *text, int columns)
{
    int lines = 0;
    for (; text; lines++)
        plot_text_line(text, columns, &text);
    return lines;
}

static double wrapped(struct plot_picture *d, const char *css_class, double y, int step, const char *text,
                      int columns)
{
    while (text) {
        const char *rest;
        size_t bytes = plot_text_line(text, columns, &rest);
        y += step;
        plot_svg_text(d, css_class, "start", EDGE, y, text, bytes);
        text = rest;
    }
    return y;
}

static int title_columns(const struct plot_picture *d)
{
    return (int)((d->width - 2 * EDGE) / 8.4);
}

static int note_columns(const struct plot_picture *d)
{
    return (int)((d->width - 2 * EDGE) / 6.2);
}

static size_t legend_size(const struct plot *p)
{
    return p->kind == PLOT_GANTT ? p->n_colours : p->n_series;
}

static const char *legend_name(const struct plot *p, size_t i)
{
    return p->kind == PLOT_GANTT ? p->colour[i] : p->series[i].name;
}

/* From `y` down; returns where it ends. Measures only, if `draw` is 0. */
static double legend(struct plot_picture *d, double y, int draw)
{
    double x = EDGE;
    int any = 0;
    y += 4;
    for (size_t i = 0; i < legend_size(d->p); i++) {
        const char *name = legend_name(d->p, i);
        if (!name || (i >= PLOT_COLOURS && d->p->kind == PLOT_GANTT))
            continue;
        double width = LEGEND_SAMPLE + 6 + plot_svg_width(name);
        if (any && x + width > d->width - EDGE) {
            x = EDGE;
            y += LINE;
        }
        if (draw) {
            plot_svg_sample(d, i, x, y + LINE - 5);
            plot_svg_text(d, "p-t", "start", x + LEGEND_SAMPLE + 6, y + LINE, name, strlen(name));
        }
        x += width + LEGEND_GAP;
        any = 1;
    }
    return any ? y + LINE + 6 : y;
}

/* ---- axes -------------------------------------------------------------------------------------- */

static void axis_below(struct plot_picture *d, const struct plot_scale *s, const char *label)
{
    double free_from = -1;
    for (int i = 0; i < s->ticks; i++) {
        char text[PLOT_NUMBER];
        double x = d->left + plot_scale_at(s, s->tick[i]) * (d->right - d->left);
        plot_scale_tick(s, s->tick[i], text);
        double half = plot_svg_width(text) / 2, at = fmin(x, d->width - 2 - half);
        plot_svg_line(d, "p-g", x, d->top, x, d->bottom + 4);
        if (at - half >= free_from) {
            plot_svg_text(d, "p-s", "middle", at, d->bottom + LINE + 1, text, strlen(text));
            free_from = at + half + 6;
        }
    }
    plot_svg_line(d, "p-a", d->left, d->bottom, d->right, d->bottom);
    if (label)
        plot_svg_text(d, "p-t", "middle", (d->left + d->right) / 2, d->bottom + 2 * LINE + 3, label,
                      strlen(label));
}

static void axis_left(struct plot_picture *d)
{
    for (int i = 0; i < d->y.ticks; i++) {
        char text[PLOT_NUMBER];
        double y = plot_svg_y(d, d->y.tick[i]);
        plot_scale_tick(&d->y, d->y.tick[i], text);
        plot_svg_line(d, "p-g", d->left, y, d->right, y);
        plot_svg_text(d, "p-s", "end", d->left - 7, y + 4, text, strlen(text));
    }
    plot_svg_line(d, "p-a", d->left, d->top, d->left, d->bottom);
}

static void name_left(struct plot_picture *d, const char *name, double y, int columns)
{
    char cut[PLOT_NAME];
    const char *rest;
    size_t bytes = plot_text_line(name, columns, &rest);
    if (rest) {
        bytes = plot_text_line(name, columns - 1, &rest);
        snprintf(cut, sizeof cut, "%.*s…", (int)bytes, name);
        name = cut;
        bytes = strlen(cut);
    }
    plot_svg_text(d, "p-t", "end", d->left - 7, y, name, bytes);
}

/* Names of rows or categories, as many as fit below each other. */
static void names_left(struct plot_picture *d, const char *const *names, size_t n)
{
    double each = n ? (d->bottom - d->top) / (double)n : 0, free_from = -1;
    int columns = (int)((d->left - 12) / 7);
    for (size_t i = 0; i < n; i++) {
        double y = d->top + each * ((double)i + 0.5) + 4;
        if (y < free_from)
            continue;
        name_left(d, names[i], y, columns);
        free_from = y + 14;
    }
    plot_svg_line(d, "p-a", d->left, d->top, d->left, d->bottom);
}

static double widest(const char *const *names, size_t n, double most)
{
    double width = 0;
    for (size_t i = 0; i < n; i++)
        width = fmax(width, plot_svg_width(names[i]));
    return fmin(width, most);
}

static double left_margin(const struct plot_picture *d)
{
    const struct plot *p = d->p;
    double width = 0, most = d->width * 0.4;
    if (p->kind == PLOT_BARS)
        return widest(p->category, p->n_categories, most) + EDGE + 8;
    if (p->kind == PLOT_GANTT)
        return widest(p->row, p->n_rows, most) + EDGE + 8;
    for (int i = 0; i < d->y.ticks; i++) {
        char text[PLOT_NUMBER];
        plot_scale_tick(&d->y, d->y.tick[i], text);
        width = fmax(width, plot_svg_width(text));
    }
    return fmin(width, most) + EDGE + 8;
}

static double chart_height(const struct plot *p, double width)
{
    if (p->kind == PLOT_BARS)
        return fmax(30, (plot_svg_bar_height(p) * (double)p->n_series + 10) * (double)p->n_categories);
    if (p->kind == PLOT_GANTT)
        return fmax(20, plot_svg_row_height(p) * (double)p->n_rows);
    return width < PLOT_WIDE ? 230 : CHART;
}

static int upright_labels(const struct plot *p)
{
    int labels = 0;
    for (size_t i = 0; i < p->n_marks && labels < 4; i++)
        labels += p->mark[i].label && (!p->mark[i].horizontal || p->kind == PLOT_BARS);
    return labels;
}

/* Where everything goes, before anything is printed. */
static void layout(struct plot_picture *d, int width)
{
    const struct plot *p = d->p;
    const char *above = p->kind == PLOT_BARS ? p->x_label : p->y_label;
    const char *below = p->kind == PLOT_BARS ? p->y_label : p->x_label;
    d->width = width;
    plot_scale_y(&d->y, p, p->kind == PLOT_BARS ? width / 110 : 6);
    plot_scale_x(&d->x, p, width / 80);
    d->left = left_margin(d);
    d->right = width - EDGE - (p->kind == PLOT_BARS ? 50 : 6);
    d->top = EDGE / 2 + (p->title ? lines_of(p->title, title_columns(d)) * (TITLE + 5) : 0);
    d->top = legend(d, d->top, 0) + (above ? LINE + 4 : 4) + 10;
    d->mark_rows = upright_labels(p);
    d->top += d->mark_rows * LINE;
    d->bottom = d->top + chart_height(p, width);
    d->height = d->bottom + LINE + 8 + (below ? LINE + 2 : 0);
    d->height += p->note ? lines_of(p->note, note_columns(d)) * LINE + 6 : 0;
}

static void frame(struct plot_picture *d)
{
    const struct plot *p = d->p;
    const char *above = p->kind == PLOT_BARS ? p->x_label : p->y_label;
    double y = EDGE / 2;
    plot_svg_bar(d, "p-bg", 0, 0, d->width, d->height, NULL);
    if (p->title)
        y = wrapped(d, "p-t p-title", y, TITLE + 5, p->title, title_columns(d));
    y = legend(d, y, 1);
    if (above)
        plot_svg_text(d, "p-t", "start", EDGE, y + LINE, above, strlen(above));
    if (p->note)
        wrapped(d, "p-s p-note", d->height - 8 - lines_of(p->note, note_columns(d)) * LINE, LINE, p->note,
                note_columns(d));
}

static void chart(struct plot_picture *d)
{
    const struct plot *p = d->p;
    axis_below(d, p->kind == PLOT_BARS ? &d->y : &d->x, p->kind == PLOT_BARS ? p->y_label : p->x_label);
    if (p->kind == PLOT_LINES) {
        axis_left(d);
        plot_svg_lines(d);
    } else if (p->kind == PLOT_BARS) {
        names_left(d, p->category, p->n_categories);
        plot_svg_bars(d);
    } else {
        names_left(d, p->row, p->n_rows);
        plot_svg_gantt(d);
    }
    plot_svg_marks(d);
}

static void picture(FILE *f, const struct plot *p, int width, const char *css_class)
{
    struct plot_picture d = {.f = f, .p = p};
    const char *title = p->title ? p->title : "Chart";
    layout(&d, width);
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", f);
    plot_svg_number(f, d.width);
    fputc(' ', f);
    plot_svg_number(f, d.height);
    fprintf(f, "\" font-family=\"system-ui,sans-serif\" font-size=\"13\" role=\"img\"%s%s%s aria-label=\"",
            css_class ? " class=\"" : "", css_class ? css_class : "", css_class ? "\"" : "");
    plot_text_xml(f, title);
    fputs("\">\n<title>", f);
    plot_text_xml(f, title);
    fputs("</title>\n", f);
    if (!css_class)
        fprintf(f, "<style>%s</style>\n", style);
    frame(&d);
    chart(&d);
    fputs("</svg>\n", f);
}

void plot_svg_part(FILE *f, const struct plot *p, int width, const char *css_class)
{
    picture(f, p, width, css_class);
}

void plot_svg(FILE *f, const struct plot *p)
{
    picture(f, p, PLOT_WIDE, NULL);
}
