/* plot_term.h: what plot_term.c and plot_term_rows.c share. */
#ifndef PLOT_TERM_H
#define PLOT_TERM_H

#include "plot_canvas.h"
#include "plot_scale.h"

struct plot_drawing {
    FILE *f;
    const struct plot *p;
    int columns, unicode, margin;   /* margin: columns left of the chart */
    struct plot_scale x, y;
    struct canvas canvas;
};

void plot_term_bars(struct plot_drawing *d);
void plot_term_gantt(struct plot_drawing *d);

const char *plot_term_fill(int unicode, size_t colour); /* a character for a colour */
void plot_term_repeat(FILE *f, const char *text, int n);
void plot_term_wrapped(const struct plot_drawing *d, const char *text, int columns);

/* An axis of `columns` columns with ticks and their labels, and the label of the axis. */
void plot_term_axis(const struct plot_drawing *d, const struct plot_scale *s, int columns);
void plot_term_label(const struct plot_drawing *d, const char *label);

#endif
