/* for.c: loops over ranges and arrays, each a way to call a body for a piece. */
#include "par/split.h"

#include "core/report.h"

#include <filch/par.h>

static int loop(struct split *s, size_t lo, size_t hi)
{
    if (lo > hi)
        report_misuse(s->par.name, "the range ends before it begins");
    split_run(s, lo, hi, 0);
    return par_end(&s->par);
}

/* ---- ranges --------------------------------------------------------------------------------- */

typedef void body_fn(size_t lo, size_t hi, void *arg);
typedef int try_fn(size_t lo, size_t hi, void *arg);

static int call_body(struct split *s, size_t lo, size_t hi, void *state)
{
    (void)state;
    (*(body_fn *const *)s->what)(lo, hi, s->arg);
    return 0;
}

static int call_try(struct split *s, size_t lo, size_t hi, void *state)
{
    (void)state;
    return (*(try_fn *const *)s->what)(lo, hi, s->arg);
}

int filch_for(size_t lo, size_t hi, body_fn *body, void *arg)
{
    struct split s = {.piece = call_body, .what = &body, .arg = arg};
    par_check_body(body, "filch_for");
    par_begin(&s.par, 0, "filch_for");
    return loop(&s, lo, hi);
}

int filch_for_with(const filch_how *how, size_t lo, size_t hi, try_fn *body, void *arg)
{
    struct split s = {.piece = call_try, .what = &body, .arg = arg};
    par_check_body(body, "filch_for_with");
    par_begin(&s.par, how, "filch_for_with");
    return loop(&s, lo, hi);
}

/* ---- arrays --------------------------------------------------------------------------------- */

struct elements {
    char *base;
    size_t size;
    void (*body)(void *element, void *arg);
    int (*try_body)(void *element, void *arg);
};

static int call_each(struct split *s, size_t lo, size_t hi, void *state)
{
    const struct elements *e = s->what;
    (void)state;
    for (size_t i = lo; i < hi; i++)
        e->body(e->base + i * e->size, s->arg);
    return 0;
}

static int try_each(struct split *s, size_t lo, size_t hi, void *state)
{
    const struct elements *e = s->what;
    int error = 0;
    (void)state;
    for (size_t i = lo; i < hi && !error; i++)
        error = e->try_body(e->base + i * e->size, s->arg);
    return error;
}

int filch_for_each(void *base, size_t n, size_t size, void (*body)(void *element, void *arg), void *arg)
{
    struct elements e = {.base = base, .size = size, .body = body};
    struct split s = {.piece = call_each, .what = &e, .arg = arg};
    par_check_body(body, "filch_for_each");
    par_check_array(base, n, size, "filch_for_each");
    par_begin(&s.par, 0, "filch_for_each");
    return loop(&s, 0, n);
}

int filch_for_each_with(const filch_how *how, void *base, size_t n, size_t size,
                        int (*body)(void *element, void *arg), void *arg)
{
    struct elements e = {.base = base, .size = size, .try_body = body};
    struct split s = {.piece = try_each, .what = &e, .arg = arg};
    par_check_body(body, "filch_for_each_with");
    par_check_array(base, n, size, "filch_for_each_with");
    par_begin(&s.par, how, "filch_for_each_with");
    return loop(&s, 0, n);
}

struct zipped {
    char *a, *b;
    size_t a_size, b_size;
    void (*body)(void *a, void *b, void *arg);
};

static int call_zip(struct split *s, size_t lo, size_t hi, void *state)
{
    const struct zipped *z = s->what;
    (void)state;
    for (size_t i = lo; i < hi; i++)
        z->body(z->a + i * z->a_size, z->b + i * z->b_size, s->arg);
    return 0;
}

int filch_for_zip(void *a, size_t a_size, void *b, size_t b_size, size_t n,
                  void (*body)(void *a, void *b, void *arg), void *arg)
{
    struct zipped z = {a, b, a_size, b_size, body};
    struct split s = {.piece = call_zip, .what = &z, .arg = arg};
    par_check_body(body, "filch_for_zip");
    par_check_array(a, n, a_size, "filch_for_zip");
    par_check_array(b, n, b_size, "filch_for_zip");
    par_begin(&s.par, 0, "filch_for_zip");
    return loop(&s, 0, n);
}

struct chunked {
    char *base;
    size_t n, size, chunk;
    void (*body)(void *first, size_t count, size_t index, void *arg);
};

static int call_chunks(struct split *s, size_t lo, size_t hi, void *state)
{
    const struct chunked *c = s->what;
    (void)state;
    for (size_t k = lo; k < hi; k++) {
        size_t first = k * c->chunk, left = c->n - first;
        c->body(c->base + first * c->size, left < c->chunk ? left : c->chunk, first, s->arg);
    }
    return 0;
}

int filch_for_chunks(void *base, size_t n, size_t size, size_t chunk,
                     void (*body)(void *first, size_t count, size_t index, void *arg), void *arg)
{
    struct chunked c = {base, n, size, chunk, body};
    struct split s = {.piece = call_chunks, .what = &c, .arg = arg};
    par_check_body(body, "filch_for_chunks");
    if (chunk == 0)
        report_misuse("filch_for_chunks", "chunks of no element");
    par_check_array(base, n, size, "filch_for_chunks");
    par_begin(&s.par, 0, "filch_for_chunks");
    return loop(&s, 0, n / chunk + (n % chunk != 0));
}

/* ---- rectangles ----------------------------------------------------------------------------- */

/* Tiles of about 4096 elements, as square as the rectangle allows, in rows of tiles: neighbours in the range
 * of tile numbers are neighbours in memory, and a piece of it is a few tiles. */
#define TILE 4096

struct tiled {
    filch_block whole;
    size_t rows, columns;          /* of a tile */
    size_t across;                 /* tiles side by side */
    int (*try_body)(const filch_block *block, void *arg);
    void (*body)(const filch_block *block, void *arg);
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int call_tiles(struct split *s, size_t lo, size_t hi, void *state)
{
    const struct tiled *t = s->what;
    int error = 0;
    (void)state;
    for (size_t k = lo; k < hi && !error; k++) {
        size_t row = t->whole.row_lo + k / t->across * t->rows;
        size_t column = t->whole.column_lo + k % t->across * t->columns;
        filch_block b = {row, row + least(t->rows, t->whole.row_hi - row), column,
                         column + least(t->columns, t->whole.column_hi - column)};
        if (t->body)
            t->body(&b, s->arg);
        else
            error = t->try_body(&b, s->arg);
    }
    return error;
}

/* A tile of at least `grain` elements, if there are so many. */
static void choose_tile(struct tiled *t, size_t rows, size_t columns, size_t grain)
{
    t->rows = t->columns = 1;
    while (t->rows * t->columns < grain && (t->rows < rows || t->columns < columns)) {
        if (t->columns < columns && (t->columns <= 4 * t->rows || t->rows >= rows))
            t->columns = least(2 * t->columns, columns);
        else
            t->rows = least(2 * t->rows, rows);
    }
    t->across = columns / t->columns + (columns % t->columns != 0);
}

static int loop_2d(struct split *s, struct tiled *t)
{
    filch_block w = t->whole;
    if (w.row_lo > w.row_hi || w.column_lo > w.column_hi)
        report_misuse(s->par.name, "the rectangle ends before it begins");
    size_t rows = w.row_hi - w.row_lo, columns = w.column_hi - w.column_lo;
    if (rows == 0 || columns == 0)
        return par_end(&s->par);
    if (par_bytes(rows, columns) == SIZE_MAX)
        report_misuse(s->par.name, "the rectangle has more elements than can be counted");
    size_t area = rows * columns, grain = s->par.how.grain;
    choose_tile(t, rows, columns, grain ? grain : least(TILE, area / 64 + 1));
    s->par.how.grain = 0; /* of tiles one is enough */
    return loop(s, 0, (rows / t->rows + (rows % t->rows != 0)) * t->across);
}

int filch_for_2d(size_t rows, size_t columns, void (*body)(const filch_block *block, void *arg), void *arg)
{
    struct tiled t = {.whole = {0, rows, 0, columns}, .body = body};
    struct split s = {.piece = call_tiles, .what = &t, .arg = arg};
    par_check_body(body, "filch_for_2d");
    par_begin(&s.par, 0, "filch_for_2d");
    return loop_2d(&s, &t);
}

int filch_for_2d_with(const filch_how *how, filch_block whole,
                      int (*body)(const filch_block *block, void *arg), void *arg)
{
    struct tiled t = {.whole = whole, .try_body = body};
    struct split s = {.piece = call_tiles, .what = &t, .arg = arg};
    par_check_body(body, "filch_for_2d_with");
    par_begin(&s.par, how, "filch_for_2d_with");
    return loop_2d(&s, &t);
}
