#include "filch_bench.h"
#include <stdlib.h>
#include <string.h>

filch_pool *bench_pool;

static bench_work *const default_works[BENCH_FAMILIES] = {
    default_fib, default_tree, default_nqueens, default_uts, default_spine};
static bench_work *const bounded_works[BENCH_FAMILIES] = {
    bounded_fib, bounded_tree, bounded_nqueens, bounded_uts, bounded_spine};

/* FILCH_POLICY applies, so that policies can be compared; the number of workers is as asked. */
const char *bench_start(int workers, const char *mode)
{
    filch_config config = FILCH_CONFIG_INIT;
    const char *policy = getenv("FILCH_POLICY");

    (void)mode;
    config.name = "bench";
    config.workers = workers;
    config.no_environment = 1;
    if (policy && filch_config_parse(&config, policy, NULL, 0))
        return "FILCH_POLICY is not a policy: see filch info";
    if (filch_pool_create(&bench_pool, &config))
        return "the pool cannot be made";
    return NULL;
}

void bench_stop(void)
{
    filch_pool_destroy(bench_pool);
}

const char *bench_version(void)
{
    return filch_version();
}

bench_work *bench_find(enum bench_family family, const char *mode)
{
    if (!strcmp(mode, "default"))
        return default_works[family];
    return strcmp(mode, "bounded") ? NULL : bounded_works[family];
}
