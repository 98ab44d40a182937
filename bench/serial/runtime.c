/* Plain C: what every runtime is compared with. */
#include "serial.h"
#include <string.h>

static bench_work *const works[BENCH_FAMILIES] = {serial_fib, serial_tree, serial_nqueens,
                                                  serial_uts, serial_spine};

const char *bench_start(int workers, const char *mode)
{
    (void)mode;
    return workers == 1 ? 0 : "serial code has one worker";
}

void bench_stop(void)
{
}

const char *bench_version(void)
{
    return __VERSION__;
}

bench_work *bench_find(enum bench_family family, const char *mode)
{
    return strcmp(mode, "default") ? 0 : works[family];
}
