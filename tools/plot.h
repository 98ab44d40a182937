/* plot.h: charts of figures, for the terminal, as SVG, and in a page of HTML that needs no network.
 *
 * The same input gives the same bytes. Text may be anything: it is escaped, and what is no UTF-8 is replaced.
 * A value that is not finite, beyond 1e300, or not positive on a logarithmic axis is left out; a line breaks
 * there.
 */
#ifndef PLOT_H
#define PLOT_H

#include <stddef.h>
#include <stdio.h>

enum plot_kind {
    PLOT_LINES, /* series over x                                                     */
    PLOT_BARS,  /* one bar of each series per category                               */
    PLOT_GANTT  /* spans of time in rows                                             */
};

enum { PLOT_COLOURS = 8 }; /* colours repeat after this many; so do shapes, dashes and characters */

struct plot_series {
    const char *name;        /* null: not in the legend                              */
    size_t n;
    const double *x;         /* null: 0, 1, 2 ...; not used for bars                 */
    const double *y;
    const double *low, *high; /* an interval around each y; null: none               */
    int dashed, points_only;
};

struct plot_span {
    int row;
    double from, to;
    int colour;              /* 0 to PLOT_COLOURS - 1: also its height or its character */
    const char *label;       /* or null                                              */
};

struct plot_mark {           /* a line across the whole chart                        */
    int horizontal;          /* at a y; 0: at an x. Bars: every mark is at a value   */
    double at;
    const char *label;       /* or null                                              */
};

struct plot {
    enum plot_kind kind;
    const char *title, *x_label, *y_label, *note; /* each may be null. Bars: x are categories, y values */
    int log_x, log_y;        /* 0: linear; 2 or 10: base of a logarithmic axis       */
    int from_zero;           /* a linear y axis begins at 0; that of bars always does */
    size_t n_series;
    const struct plot_series *series;
    size_t n_categories;     /* bars                                                 */
    const char *const *category;
    size_t n_rows;           /* Gantt                                                */
    const char *const *row;
    size_t n_spans;
    const struct plot_span *span;
    size_t n_colours;        /* what the colours of spans mean, for the legend       */
    const char *const *colour;
    size_t n_marks;
    const struct plot_mark *mark;
};

/* No line is longer than `columns` (at least 30). Unicode if term_unicode(). */
void plot_term(FILE *f, const struct plot *p, int columns);

/* A file of its own, readable on light and on dark screens. */
void plot_svg(FILE *f, const struct plot *p);

/* A page: begin, any number of parts, end. */
void plot_page_begin(FILE *f, const char *title, const char *subtitle);
void plot_page_heading(FILE *f, const char *text);
void plot_page_text(FILE *f, const char *text);
void plot_page_plot(FILE *f, const struct plot *p);

/* `cells` row by row. Cells that begin like numbers are aligned to the right. */
void plot_page_table(FILE *f, const char *caption, const char *const *header, size_t columns,
                     const char *const *cells, size_t rows);

/* Names and values, folded away under `summary`. */
void plot_page_parameters(FILE *f, const char *summary, const char *const *names, const char *const *values,
                          size_t n);
void plot_page_end(FILE *f);

#endif
