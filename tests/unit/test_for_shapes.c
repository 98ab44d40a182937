/* test_for_shapes.c: loops over arrays and rectangles: every element and every cell once, errors. */
#define _GNU_SOURCE
#include "par_kit.h"

/* ---- arrays --------------------------------------------------------------------------------- */

static unsigned char *array;
static size_t element_size;

static void invert(void *element, void *size)
{
    unsigned char *e = element;
    CHECK_EQ((size_t)(e - array) % element_size, 0);
    for (size_t i = 0; i < *(size_t *)size; i++)
        e[i] = (unsigned char)~e[i];
}

static int try_invert(void *element, void *size)
{
    invert(element, size);
    return 0;
}

static void for_each_size(void)
{
    filch_how how = how_here();
    for (size_t size = 1; size <= 200; size += 1 + par_random(9)) {
        size_t n = 1 + par_random(200), bytes = n * size;
        array = malloc(bytes);
        element_size = size;
        memset(array, 0x0f, bytes);
        CHECK_EQ(filch_for_each(array, n, size, invert, &size), 0);
        for (size_t i = 0; i < bytes; i++)
            CHECK_EQ(array[i], 0xf0);
        CHECK_EQ(filch_for_each_with(&how, array, n, size, try_invert, &size), 0);
        for (size_t i = 0; i < bytes; i++)
            CHECK_EQ(array[i], 0x0f);
        free(array);
    }
    CHECK_EQ(filch_for_each(NULL, 0, 0, invert, NULL), 0);
}

static void each_element_is_visited_once(void)
{
    everywhere(for_each_size);
}

static void add(void *a, void *b, void *unused)
{
    (void)unused;
    ((uint32_t *)a)[1] += *(unsigned char *)b;
}

static void zip(void)
{
    static uint32_t a[3000][2];
    static unsigned char b[3000];
    for (size_t n = 0; n < 3000; n = n * 2 + 1) {
        for (size_t i = 0; i < n; i++)
            a[i][0] = 7, a[i][1] = (uint32_t)i, b[i] = (unsigned char)(i % 251);
        CHECK_EQ(filch_for_zip(a, sizeof *a, b, 1, n, add, NULL), 0);
        for (size_t i = 0; i < n; i++)
            CHECK(a[i][0] == 7 && a[i][1] == i + i % 251);
    }
}

static void elements_of_two_arrays_meet(void)
{
    everywhere(zip);
}

struct chunks {
    uint16_t *base;
    size_t n, chunk;
    uint64_t calls;
};

static void fill_chunk(void *first, size_t count, size_t index, void *arg)
{
    struct chunks *c = arg;
    uint16_t *v = first;
    CHECK(v == c->base + index && index % c->chunk == 0);
    CHECK_EQ(count, c->n - index < c->chunk ? c->n - index : c->chunk);
    for (size_t i = 0; i < count; i++)
        v[i]++;
    par_add(&c->calls, 1);
}

static void chunk(void)
{
    static uint16_t v[2000];
    for (size_t n = 0; n < 2000; n = n * 2 + 1)
        for (size_t size = 1; size < 3000; size = size * 3 + 1) {
            struct chunks c = {v, n, size, 0};
            memset(v, 0, sizeof v);
            CHECK_EQ(filch_for_chunks(v, n, sizeof *v, size, fill_chunk, &c), 0);
            CHECK_EQ(par_get(&c.calls), (n + size - 1) / size);
            for (size_t i = 0; i < 2000; i++)
                CHECK_EQ(v[i], i < n);
        }
    struct chunks c = {v, 10, SIZE_MAX, 0};
    CHECK_EQ(filch_for_chunks(v, 10, sizeof *v, SIZE_MAX, fill_chunk, &c), 0);
    CHECK_EQ(par_get(&c.calls), 1);
}

static void chunks_cover_the_array(void)
{
    everywhere(chunk);
}

/* ---- rectangles ----------------------------------------------------------------------------- */

struct cells {
    filch_block whole;
    size_t columns, grain;
    unsigned char *count;
};

static void mark_block(const filch_block *b, void *arg)
{
    struct cells *c = arg;
    CHECK(b->row_lo < b->row_hi && b->column_lo < b->column_hi);
    CHECK(b->row_lo >= c->whole.row_lo && b->row_hi <= c->whole.row_hi);
    CHECK(b->column_lo >= c->whole.column_lo && b->column_hi <= c->whole.column_hi);
    if (b->row_hi < c->whole.row_hi && b->column_hi < c->whole.column_hi)
        CHECK((b->row_hi - b->row_lo) * (b->column_hi - b->column_lo) >= c->grain);
    for (size_t i = b->row_lo; i < b->row_hi; i++)
        for (size_t j = b->column_lo; j < b->column_hi; j++)
            c->count[(i - c->whole.row_lo) * c->columns + j - c->whole.column_lo]++;
}

static int try_mark_block(const filch_block *b, void *arg)
{
    mark_block(b, arg);
    return 0;
}

static void cover(size_t rows, size_t columns, size_t row, size_t column, size_t grain)
{
    filch_how how = how_here();
    struct cells c = {{row, row + rows, column, column + columns}, columns, grain, 0};
    CHECK((c.count = calloc(rows * columns + 1, 1)));
    how.grain = grain;
    how.split = par_random(4) ? FILCH_SPLIT_AUTO : FILCH_SPLIT_STATIC;
    CHECK_EQ(filch_for_2d_with(&how, c.whole, try_mark_block, &c), 0);
    if (row == 0 && column == 0 && grain == 0)
        CHECK_EQ(filch_for_2d(rows, columns, mark_block, &c), 0);
    for (size_t i = 0; i < rows * columns; i++)
        CHECK_EQ(c.count[i], 1 + (row == 0 && column == 0 && grain == 0));
    free(c.count);
    kit_beat();
}

static void cover_shapes(void)
{
    static const size_t sides[] = {0, 1, 2, 3, 7, 64, 127, 509};
    for (size_t i = 0; i < 8 - KIT_SLOW; i++)
        for (size_t j = 0; j < 8 - KIT_SLOW; j++) {
            cover(sides[i], sides[j], 0, 0, 0);
            cover(sides[i], sides[j], par_random(1000), SIZE_MAX - sides[j] - par_random(9),
                  par_random(5000));
        }
    cover(1, 100003, 0, 0, 0);
    cover(100003, 1, 0, 0, 0);
    cover(1, 5003, 7, 7, 77);
    cover(0, SIZE_MAX / 2, 0, 0, 0);
}

static void every_cell_is_visited_once(void)
{
    everywhere(cover_shapes);
}

static int fail_block(const filch_block *b, void *unused)
{
    (void)unused;
    return b->row_lo <= 100 && 100 < b->row_hi ? -EDOM : 0;
}

static void fail_2d(void)
{
    filch_how how = how_here();
    CHECK_EQ(filch_for_2d_with(&how, (filch_block){0, 1000, 0, 10}, fail_block, NULL), -EDOM);
    CHECK_EQ(filch_for_2d_with(&how, (filch_block){101, 1000, 0, 10}, fail_block, NULL), 0);
    filch_block huge = {100, (size_t)1 << 31, 0, 1 << 20};
    CHECK_EQ(filch_for_2d_with(&how, huge, fail_block, NULL), -EDOM);
}

static void a_block_may_fail(void)
{
    everywhere(fail_2d);
}

int main(void)
{
    kit_watchdog();
    rng_seed(&par_rng, 1);
    RUN(each_element_is_visited_once);
    RUN(elements_of_two_arrays_meet);
    RUN(chunks_cover_the_array);
    RUN(every_cell_is_visited_once);
    RUN(a_block_may_fail);
    return check_report();
}
