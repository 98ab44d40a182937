/* demo_mandelbrot.c: a picture whose rows cost very different amounts of work. */
#include "demo.h"
#include "term.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 600

static int width, height;
static uint16_t *serial_picture, *parallel_picture;

static uint16_t pixel(int column, int row)
{
    double cx = -2.2 + 3.2 * column / width, cy = -1.2 + 2.4 * row / height;
    double x = 0, y = 0;
    int step = 0;
    for (; step < STEPS && x * x + y * y < 4; step++) {
        double next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
    }
    return (uint16_t)step;
}

static void row_draw(uint16_t *picture, int row)
{
    for (int column = 0; column < width; column++)
        picture[(size_t)row * (size_t)width + (size_t)column] = pixel(column, row);
}

FILCH_TASK_VOID(rows_draw, uint16_t *, picture, int, first, int, end)
{
    if (end - first == 1) {
        row_draw(picture, first);
        return;
    }
    int half = first + (end - first) / 2;
    FILCH_FORK(later, rows_draw, picture, half, end);
    FILCH_CALL(rows_draw, picture, first, half);
    FILCH_JOIN(rows_draw, later);
}

static int prepare(int quick)
{
    width = quick ? 160 : 1200;
    height = quick ? 120 : 900;
    serial_picture = calloc((size_t)width * (size_t)height, sizeof *serial_picture);
    parallel_picture = calloc((size_t)width * (size_t)height, sizeof *parallel_picture);
    return serial_picture && parallel_picture ? 0 : -1;
}

static void serial(void)
{
    for (int row = 0; row < height; row++)
        row_draw(serial_picture, row);
}

static void parallel(filch_pool *pool)
{
    FILCH_RUN_ON(pool, rows_draw, parallel_picture, 0, height);
}

static int right(void)
{
    size_t bytes = (size_t)width * (size_t)height * sizeof *serial_picture;
    return !memcmp(serial_picture, parallel_picture, bytes);
}

static void describe(char *out, size_t size)
{
    snprintf(out, size, "%d x %d pixels", width, height);
}

const struct demo_work demo_mandelbrot = {"Mandelbrot", prepare, serial, parallel, right, describe};

/* ---- the picture --------------------------------------------------------------------------- */

static int ends_in(const char *path, const char *suffix)
{
    size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && !strcmp(path + length - tail, suffix);
}

int demo_mandelbrot_named(const char *path)
{
    return ends_in(path, ".pgm") || ends_in(path, ".ppm");
}

static void pixel_write(FILE *f, int step, int colour)
{
    int wave = step == STEPS ? 0 : (step * 9) % 512;
    int grey = wave < 256 ? wave : 511 - wave;
    if (!colour) {
        fputc(grey, f);
        return;
    }
    fputc(grey * grey / 255, f);
    fputc(grey, f);
    fputc(step == STEPS ? 0 : 80 + grey * 175 / 255, f);
}

int demo_mandelbrot_save(const char *path)
{
    int colour = ends_in(path, ".ppm");
    FILE *f = fopen(path, "wb");
    if (!f)
        return -errno;
    fprintf(f, "P%d\n%d %d\n255\n", colour ? 6 : 5, width, height);
    for (size_t i = 0; i < (size_t)width * (size_t)height; i++)
        pixel_write(f, parallel_picture[i], colour);
    int broken = ferror(f);
    return fclose(f) || broken ? -EIO : 0;
}

/* Each character stands for a rectangle of pixels, by their mean; characters are twice as high as
 * they are wide. */
static double cell_level(int column, int row, int columns, int rows)
{
    int x0 = column * width / columns, x1 = (column + 1) * width / columns;
    int y0 = row * height / rows, y1 = (row + 1) * height / rows;
    double sum = 0;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            int step = parallel_picture[(size_t)y * (size_t)width + (size_t)x];
            sum += step > 40 ? 1.0 : step / 40.0;
        }
    return sum / ((x1 - x0) * (y1 - y0));
}

void demo_mandelbrot_preview(void)
{
    int columns = term_columns() - 4 < 64 ? term_columns() - 4 : 64;
    if (columns < 16)
        return;
    int rows = columns * height / width / 2;
    for (int row = 0; row < rows; row++) {
        fputs("  ", stdout);
        for (int column = 0; column < columns; column++)
            fputs(term_shade(cell_level(column, row, columns, rows)), stdout);
        fputc('\n', stdout);
    }
    fputc('\n', stdout);
}
