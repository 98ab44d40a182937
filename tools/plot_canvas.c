#include "plot_canvas.h"
#include <math.h>
#include <stdlib.h>

int canvas_init(struct canvas *c, int columns, int rows, int unicode)
{
    size_t cells = (size_t)columns * (size_t)rows;
    *c = (struct canvas){columns, rows, unicode, calloc(cells, 1), calloc(cells, sizeof *c->glyph)};
    return c->dots && c->glyph;
}

void canvas_free(struct canvas *c)
{
    free(c->dots);
    free(c->glyph);
}

int canvas_dots_across(const struct canvas *c)
{
    return c->columns * (c->unicode ? 2 : 1);
}

int canvas_dots_down(const struct canvas *c)
{
    return c->rows * (c->unicode ? 4 : 1);
}

static size_t cell_of(const struct canvas *c, int x, int y)
{
    return (size_t)(y / (c->unicode ? 4 : 1) * c->columns + x / (c->unicode ? 2 : 1));
}

void canvas_dot(struct canvas *c, int x, int y)
{
    static const unsigned char bit[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    c->dots[cell_of(c, x, y)] |= c->unicode ? bit[y % 4][x % 2] : 1;
}

static int is_gap(const struct canvas *c, int i)
{
    return c->unicode ? i % 6 >= 3 : i % 2;
}

void canvas_line(struct canvas *c, int x0, int y0, int x1, int y1, int dashed)
{
    int n = abs(x1 - x0) > abs(y1 - y0) ? abs(x1 - x0) : abs(y1 - y0);
    for (int i = 0; i <= n; i++) {
        double part = n ? (double)i / n : 0;
        if (!dashed || !is_gap(c, x0 + i))
            canvas_dot(c, x0 + (int)lround((x1 - x0) * part), y0 + (int)lround((y1 - y0) * part));
    }
}

void canvas_glyph(struct canvas *c, int x, int y, const char *glyph)
{
    c->glyph[cell_of(c, x, y)] = glyph;
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

void canvas_print_row(FILE *f, const struct canvas *c, int row)
{
    size_t cell = (size_t)row * (size_t)c->columns, end = cell + (size_t)c->columns;
    while (end > cell && !c->dots[end - 1] && !c->glyph[end - 1])
        end--;
    for (; cell < end; cell++)
        put_cell(f, c, cell);
    fputc('\n', f);
}
