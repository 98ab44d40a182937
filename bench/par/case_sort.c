/* case_sort.c: random numbers, sorted with and without an opaque comparison. */
#include "par_bench.h"
#include <string.h>

#define SORT_SEED 2

static int sort_there(const struct par_runtime *r, int way)
{
    return way == 0 && r->sort;
}

static int sort_by_there(const struct par_runtime *r, int way)
{
    return way == 0 && r->sort_by;
}

/* Tells arrays apart that do not have the same elements, in whatever order. */
static int64_t elements_sum(const int32_t *v, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (uint32_t)v[i];
        sum += (x ^ (x >> 15)) * (x + 0x9e3779b97f4a7c15u);
    }
    return (int64_t)sum;
}

static const char *sort_make(struct par_data *d)
{
    uint64_t seed = SORT_SEED;
    d->from = par_alloc(d->n, sizeof *d->from);
    d->to = par_alloc(d->n, sizeof *d->to);
    for (size_t i = 0; i < d->n; i++)
        d->from[i] = (int32_t)(uint32_t)(par_random(&seed) >> 32);
    d->expected = elements_sum(d->from, d->n);
    return NULL;
}

static void sort_reset(struct par_data *d)
{
    memcpy(d->to, d->from, d->n * sizeof *d->to);
}

static void sort_run(struct par_data *d, int way)
{
    (void)way;
    par_runtime.sort(d->to, d->n);
}

static void sort_by_run(struct par_data *d, int way)
{
    (void)way;
    par_runtime.sort_by(d->to, d->n, par_compare_int32);
}

static int sort_good(const struct par_data *d)
{
    size_t wrong = 0;
    for (size_t i = 1; i < d->n; i++)
        wrong += d->to[i - 1] > d->to[i];
    return wrong == 0 && elements_sum(d->to, d->n) == d->expected;
}

const struct par_case par_sort_int = {
    .name = "sort_int", .size = 50000000, .small = 50000, .most = 1000000000, .ways = 1,
    .there = sort_there, .make = sort_make, .reset = sort_reset, .run = sort_run, .good = sort_good,
};

const struct par_case par_sort_cmp = {
    .name = "sort_cmp", .size = 10000000, .small = 10000, .most = 1000000000, .ways = 1,
    .there = sort_by_there, .make = sort_make, .reset = sort_reset, .run = sort_by_run, .good = sort_good,
};
