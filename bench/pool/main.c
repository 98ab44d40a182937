/* main.c: filch-bench-pool CASE WORKERS MODE [SIZE]; prints one line of key=value. A case may end
 * in its size (ring_200). Exit status 0; 1 if a result is wrong; 2 if the request makes no sense. */
#include "pool_bench.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *name;
    pool_case *run;
} cases[] = {
    {"slots", steal_slots},           {"ring", steal_ring},
    {"deque_one", steal_deque_one},   {"deque_batch", steal_deque_batch},
    {"cpu", idle_cpu},                {"wakeup", idle_wakeup},
    {"balanced", baselines_balanced}, {"one_worker", baselines_one_worker},
    {"cancel", scope_cancel},         {"close", scope_close},
};

filch_pool *pool_make(const struct pool_request *ask, enum filch_queue queue, enum filch_steal steal)
{
    filch_config config = FILCH_CONFIG_INIT;
    filch_pool *pool;
    config.name = "bench";
    config.workers = ask->workers;
    config.queue = queue;
    config.steal = steal;
    config.no_environment = 1;
    return filch_pool_create(&pool, &config) ? NULL : pool;
}

void pool_sleep_ns(int64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    nanosleep(&t, NULL);
}

static int sample_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t pool_percentile(int64_t *samples, size_t n, double fraction)
{
    qsort(samples, n, sizeof *samples, sample_compare);
    return samples[(size_t)(fraction * (double)(n - 1))];
}

/* "ring_200" is case "ring" of size 200. */
static int case_split(const char *text, int *size)
{
    size_t length = strlen(text), digits = length;
    while (digits > 0 && isdigit((unsigned char)text[digits - 1]))
        digits--;
    if (digits > 1 && digits < length && text[digits - 1] == '_') {
        *size = atoi(text + digits);
        length = digits - 1;
    }
    return (int)length;
}

static pool_case *case_find(const char *name, int length)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strncmp(cases[i].name, name, (size_t)length) && !cases[i].name[length])
            return cases[i].run;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 5) {
        fprintf(stderr, "usage: %s CASE WORKERS MODE [SIZE]\n", argv[0]);
        return 2;
    }
    struct pool_request ask = {atoi(argv[2]), 0, argv[3]};
    struct pool_report report = {0};
    pool_case *run = case_find(argv[1], case_split(argv[1], &ask.size));
    if (argc > 4)
        ask.size = atoi(argv[4]);
    if (!run || ask.workers < 1 || ask.size < 0) {
        fprintf(stderr, "%s: no such case, number of workers or size\n", argv[1]);
        return 2;
    }
    const char *wrong = run(&ask, &report);
    if (wrong) {
        fprintf(stderr, "%s\n", wrong);
        return 1;
    }
    printf("ns_per_op=%.4f size=%d%s runtime_version=%s\n", report.ns_per_op, report.size,
           report.more, filch_version());
    return 0;
}
