/* case_array.c: a sum, prefix sums, a search. */
#include "par_bench.h"
#include <string.h>

/* ---- reduce: whole numbers, so that any grouping gives the same bits --------------------------- */

static int sum_there(const struct par_runtime *r, int way)
{
    return way == 0 && r->sum;
}

static const char *sum_make(struct par_data *d)
{
    d->doubles = par_alloc(d->n, sizeof *d->doubles);
    for (size_t i = 0; i < d->n; i++) {
        d->doubles[i] = (double)(i & 1023);
        d->expected += (int64_t)(i & 1023);
    }
    return NULL;
}

static void sum_run(struct par_data *d, int way)
{
    (void)way;
    d->got_sum = par_runtime.sum(d->doubles, d->n);
}

static int sum_good(const struct par_data *d)
{
    return d->got_sum == (double)d->expected;
}

const struct par_case par_reduce = {
    .name = "reduce", .size = 100000000, .small = 100000, .most = 1000000000, .ways = 1,
    .there = sum_there, .make = sum_make, .run = sum_run, .good = sum_good,
};

/* ---- scan ----------------------------------------------------------------------------------- */

#define SCAN_SEED 3
#define SCAN_MASK 15 /* no sum is more than an int32 can be */

static int scan_there(const struct par_runtime *r, int way)
{
    return way == 0 && r->scan;
}

static const char *scan_make(struct par_data *d)
{
    uint64_t seed = SCAN_SEED;
    d->from = par_alloc(d->n, sizeof *d->from);
    d->to = par_alloc(d->n, sizeof *d->to);
    for (size_t i = 0; i < d->n; i++)
        d->from[i] = (int32_t)(par_random(&seed) & SCAN_MASK);
    return NULL;
}

static void scan_reset(struct par_data *d)
{
    memset(d->to, 0xff, d->n * sizeof *d->to);
}

static void scan_run(struct par_data *d, int way)
{
    (void)way;
    par_runtime.scan(d->to, d->from, d->n);
}

static int scan_good(const struct par_data *d)
{
    size_t wrong = 0;
    int32_t sum = 0;
    for (size_t i = 0; i < d->n; i++) {
        sum += d->from[i];
        wrong += d->to[i] != sum;
    }
    return wrong == 0;
}

const struct par_case par_scan = {
    .name = "scan", .size = 50000000, .small = 50000, .most = INT32_MAX / SCAN_MASK, .ways = 1,
    .there = scan_there, .make = scan_make, .reset = scan_reset, .run = scan_run, .good = scan_good,
};

/* ---- find_any ------------------------------------------------------------------------------- */

#define SEARCHES 16
#define SEARCH_SEED 5
#define HIT 1

static int find_there(const struct par_runtime *r, int way)
{
    return r->find[way] != NULL;
}

static const char *find_make(struct par_data *d)
{
    d->from = par_alloc(d->n, sizeof *d->from);
    for (size_t i = 0; i < d->n; i++)
        d->from[i] = (int32_t)(i & 1022); /* even */
    return NULL;
}

static void find_run(struct par_data *d, int way)
{
    uint64_t seed = SEARCH_SEED;
    d->got = 0;
    for (int i = 0; i < SEARCHES; i++) {
        size_t where = par_random(&seed) % d->n;
        int32_t before = d->from[where];
        d->from[where] = HIT;
        d->got += par_runtime.find[way](d->from, d->n, HIT) == where;
        d->from[where] = before;
    }
}

static int find_good(const struct par_data *d)
{
    return d->got == SEARCHES;
}

static size_t find_operations(const struct par_data *d)
{
    (void)d;
    return SEARCHES;
}

const struct par_case par_find_any = {
    .name = "find_any", .size = 100000000, .small = 100000, .most = 2000000000, .ways = PAR_WAYS,
    .there = find_there, .make = find_make, .run = find_run, .good = find_good,
    .operations = find_operations,
};
