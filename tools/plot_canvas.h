/* plot_canvas.h: a picture of dots in the cells of a terminal. */
#ifndef PLOT_CANVAS_H
#define PLOT_CANVAS_H

#include <stddef.h>
#include <stdio.h>

/* Unicode: a cell has 2 x 4 dots (braille). ASCII: one. A cell shows its glyph if it has one. */
struct canvas {
    int columns, rows, unicode;
    unsigned char *dots;
    const char **glyph;
};

/* Returns 0 if there is no memory. To be freed in any case. */
int canvas_init(struct canvas *c, int columns, int rows, int unicode);
void canvas_free(struct canvas *c);
int canvas_dots_across(const struct canvas *c);
int canvas_dots_down(const struct canvas *c);

/* At dots, counted from the upper left. */
void canvas_dot(struct canvas *c, int x, int y);
void canvas_line(struct canvas *c, int x0, int y0, int x1, int y1, int dashed);
void canvas_glyph(struct canvas *c, int x, int y, const char *glyph);

/* One row, without blanks at its end, and the end of the line. */
void canvas_print_row(FILE *f, const struct canvas *c, int row);

#endif
