/* case_loop.c: loops that are light, irregular, tiny. */
#include "loops.h"
#include <string.h>

static int light_there(const struct par_runtime *r, int way)
{
    return way == 0 && r->light;
}

/* ---- for_light ------------------------------------------------------------------------------ */

/* Products and sums that are exact, whether the processor rounds in between or not. */
#define LIGHT_K 0.5f
#define LIGHT_C 1.0f

static float light_value(size_t i)
{
    return (float)(i & 1023);
}

static const char *light_make(struct par_data *d)
{
    d->floats = par_alloc(d->n, sizeof *d->floats);
    return NULL;
}

static void light_reset(struct par_data *d)
{
    for (size_t i = 0; i < d->n; i++)
        d->floats[i] = light_value(i);
}

static void light_run(struct par_data *d, int way)
{
    (void)way;
    par_runtime.light(d->floats, d->n, LIGHT_K, LIGHT_C);
}

static int light_good(const struct par_data *d)
{
    size_t wrong = 0;
    for (size_t i = 0; i < d->n; i++)
        wrong += d->floats[i] != light_value(i) * LIGHT_K + LIGHT_C;
    return wrong == 0;
}

const struct par_case par_for_light = {
    .name = "for_light", .size = 100000000, .small = 100000, .most = 2000000000, .ways = 1,
    .there = light_there, .make = light_make, .reset = light_reset, .run = light_run, .good = light_good,
};

/* ---- for_tiny: the same loop, k = c = 1, so that an element tells how often it was visited ----- */

#define TINY_LEAST 100
#define TINY_MOST 10000
#define TINY_STEPS 64 /* different lengths, each the last one times 100^(1/63) */
#define TINY_FACTOR 1.0758285
#define TINY_SEED 7

/* `units` are the lengths, spun[i] the expected visits of element i. */
static const char *tiny_make(struct par_data *d)
{
    uint64_t seed = TINY_SEED;
    double length[TINY_STEPS] = {TINY_LEAST};
    for (int i = 1; i < TINY_STEPS; i++)
        length[i] = length[i - 1] * TINY_FACTOR;
    d->floats = par_alloc(TINY_MOST, sizeof *d->floats);
    d->units = par_alloc(d->n, sizeof *d->units);
    d->spun = par_alloc(TINY_MOST, sizeof *d->spun);
    memset(d->spun, 0, TINY_MOST * sizeof *d->spun);
    for (size_t call = 0; call < d->n; call++) {
        uint32_t n = (uint32_t)length[par_random(&seed) % TINY_STEPS];
        d->units[call] = n;
        for (size_t i = 0; i < n; i++)
            d->spun[i]++;
    }
    return NULL;
}

static void tiny_reset(struct par_data *d)
{
    memset(d->floats, 0, TINY_MOST * sizeof *d->floats);
}

static void tiny_run(struct par_data *d, int way)
{
    (void)way;
    for (size_t call = 0; call < d->n; call++)
        par_runtime.light(d->floats, d->units[call], 1, 1);
}

static int tiny_good(const struct par_data *d)
{
    size_t wrong = 0;
    for (size_t i = 0; i < TINY_MOST; i++)
        wrong += (uint64_t)d->floats[i] != d->spun[i];
    return wrong == 0;
}

/* At most as many calls as a float can count. */
const struct par_case par_for_tiny = {
    .name = "for_tiny", .size = 100000, .small = 100, .most = 1 << 24, .ways = 1,
    .there = light_there, .make = tiny_make, .reset = tiny_reset, .run = tiny_run, .good = tiny_good,
};

/* ---- for_irregular -------------------------------------------------------------------------- */

#define UNITS_MOST 10000
#define UNITS_SEED 11
#define DEAR 8 /* one element in so many is dear ... */

/* ... and all of them lie together, before the middle. */
static int is_dear(size_t i, size_t n)
{
    size_t first = n * 5 / 16;
    return i >= first && i < first + n / DEAR;
}

static int spin_there(const struct par_runtime *r, int way)
{
    return r->spin[way] != NULL;
}

static const char *spin_make(struct par_data *d)
{
    uint64_t seed = UNITS_SEED;
    d->units = par_alloc(d->n, sizeof *d->units);
    d->spun = par_alloc(d->n, sizeof *d->spun);
    d->spun_serially = par_alloc(d->n, sizeof *d->spun_serially);
    for (size_t i = 0; i < d->n; i++) {
        double u = ((double)(par_random(&seed) >> 11) + 1) * 0x1p-53; /* above 0, up to 1 */
        double share = is_dear(i, d->n) ? u / DEAR : 1.0 / DEAR + u * (DEAR - 1) / DEAR;
        d->units[i] = share * UNITS_MOST < 1 ? UNITS_MOST : (uint32_t)(1 / share);
    }
    spin_range(d->spun_serially, d->units, 0, d->n);
    return NULL;
}

static void spin_reset(struct par_data *d)
{
    memset(d->spun, 0, d->n * sizeof *d->spun);
}

static void spin_run(struct par_data *d, int way)
{
    par_runtime.spin[way](d->spun, d->units, d->n);
}

static int spin_good(const struct par_data *d)
{
    return !memcmp(d->spun, d->spun_serially, d->n * sizeof *d->spun);
}

const struct par_case par_for_irregular = {
    .name = "for_irregular", .size = 200000, .small = 2000, .most = 100000000, .ways = PAR_WAYS,
    .there = spin_there, .make = spin_make, .reset = spin_reset, .run = spin_run, .good = spin_good,
};
