#include "filch_par.h"
#include <stdlib.h>

static filch_pool *pool;

/* FILCH_POLICY applies, so that policies can be compared; the number of workers is as asked. */
static const char *start(int workers)
{
    filch_config config = FILCH_CONFIG_INIT;
    const char *policy = getenv("FILCH_POLICY");

    config.name = "bench";
    config.workers = workers;
    config.no_environment = 1;
    if (policy && filch_config_parse(&config, policy, NULL, 0))
        return "FILCH_POLICY is not a policy: see filch info";
    return filch_pool_create(&pool, &config) ? "the pool cannot be made" : NULL;
}

static void stop(void)
{
    filch_pool_destroy(pool);
}

static const char *version(void)
{
    return filch_version();
}

static void run(void (*fn)(void *arg), void *arg)
{
    filch_run_on(pool, fn, arg);
}

/* ---- for_light, for_tiny -------------------------------------------------------------------- */

struct light {
    float *v;
    float k, c;
};

static void light_piece(size_t lo, size_t hi, void *arg)
{
    const struct light *l = arg;
    light_range(l->v, lo, hi, l->k, l->c);
}

static void light(float *v, size_t n, float k, float c)
{
    struct light l = {v, k, c};
    filch_for(0, n, light_piece, &l);
}

/* ---- for_irregular -------------------------------------------------------------------------- */

struct spin {
    uint64_t *to;
    const uint32_t *units;
};

static void spin_piece(size_t lo, size_t hi, void *arg)
{
    const struct spin *s = arg;
    spin_range(s->to, s->units, lo, hi);
}

static void spin(uint64_t *to, const uint32_t *units, size_t n)
{
    struct spin s = {to, units};
    filch_for(0, n, spin_piece, &s);
}

const struct par_runtime par_runtime = {
    .start = start, .stop = stop, .version = version, .run = run,
    .light = light, .sum = filch_par_sum, .scan = filch_par_scan,
    .sort = filch_par_sort, .sort_by = filch_par_sort_by,
    .find = {filch_par_find, filch_par_index}, .spin = {spin},
};
