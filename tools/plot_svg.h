/* plot_svg.h: what plot_svg.c and its parts share. */
#ifndef PLOT_SVG_H
#define PLOT_SVG_H

#include "plot_scale.h"

/* The chart has its origin at the upper left corner; lengths are pixels. */
struct plot_picture {
    FILE *f;
    const struct plot *p;
    double width, height;
    double left, right, top, bottom; /* the area between the axes */
    struct plot_scale x, y;
    int mark_rows;                   /* above the area, for the labels of upright marks */
};

enum { PLOT_WIDE = 720, PLOT_NARROW = 360 };

/* As a part of a page, with a class; the page has the style. */
void plot_svg_part(FILE *f, const struct plot *p, int width, const char *css_class);
void plot_svg_style(FILE *f);

/* plot_svg_draw.c: between the axes. */
void plot_svg_lines(struct plot_picture *d);
void plot_svg_bars(struct plot_picture *d);
void plot_svg_gantt(struct plot_picture *d);
void plot_svg_marks(struct plot_picture *d);
void plot_svg_sample(struct plot_picture *d, size_t number, double x, double y); /* in the legend */

double plot_svg_bar_height(const struct plot *p);
double plot_svg_row_height(const struct plot *p);

double plot_svg_x(const struct plot_picture *d, double value);
double plot_svg_y(const struct plot_picture *d, double value);
void plot_svg_number(FILE *f, double value);
/* ` name="value"` */
void plot_svg_set(FILE *f, const char *name, double value);
/* anchor: start, middle or end */
void plot_svg_text(struct plot_picture *d, const char *css_class, const char *anchor, double x, double y,
                   const char *text, size_t bytes);
void plot_svg_line(struct plot_picture *d, const char *css_class, double x1, double y1, double x2, double y2);
void plot_svg_bar(struct plot_picture *d, const char *css_class, double x1, double y1, double x2, double y2,
                  const char *tip);
double plot_svg_width(const char *text); /* of text, about */

#endif
