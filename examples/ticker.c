/* A task that computes for long and a clock that ticks every millisecond share two workers. How late do
 * the ticks come? The long one forks all the time and never waits; the worker that is between two of its
 * pieces, or has none, serves the clock. */
#include <filch/forkjoin.h>
#include <filch/ord.h>
#include <filch/task.h>
#include <stdio.h>
#include <stdlib.h>

enum { TICKS = 400 };
#define PERIOD_NS 1000000

static uint32_t over;
static int64_t late_ns[TICKS];

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_FORK(b, fib, n - 2);
    long a = FILCH_CALL(fib, n - 1);
    return a + FILCH_JOIN(fib, b);
}

static int ticks(void *unused)
{
    filch_ticker t;
    (void)unused;
    filch_ticker_start(&t, PERIOD_NS);
    for (int i = 0; i < TICKS; i++) {
        int64_t due = t.next_ns;
        if (filch_ticker_wait(&t) < 0)
            return 1;
        late_ns[i] = filch_clock_ns() - due;
    }
    filch_store_release(&over, 1u);
    return 0;
}

static void computes(void *rounds)
{
    while (!filch_load_acquire(&over)) {
        if (FILCH_RUN(fib, 25) != 75025)
            exit(1);
        ++*(long *)rounds;
    }
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    filch_config config = FILCH_CONFIG_INIT;
    filch_pool *pool;
    filch_task *ticker;
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    long rounds = 0;
    config.workers = 2;
    if (filch_pool_create(&pool, &config) != 0)
        return 1;
    attr.pool = pool;
    attr.name = "ticker";
    if (filch_spawn_with(&ticker, &attr, ticks, NULL) != 0)
        return 1;
    filch_run_on(pool, computes, &rounds);
    int failed;
    if (filch_task_join(ticker, &failed, FILCH_FOREVER) != 0 || failed)
        return 1;
    filch_pool_destroy(pool);
    qsort(late_ns, TICKS, sizeof *late_ns, ascending);
    printf("%d ticks of 1 ms beside %ld rounds of fib(25): late by %.0f us (p50), %.0f us (p99), "
           "%.0f us (most)\n", TICKS, rounds, (double)late_ns[TICKS / 2] / 1e3,
           (double)late_ns[TICKS * 99 / 100] / 1e3, (double)late_ns[TICKS - 1] / 1e3);
    return 0;
}
