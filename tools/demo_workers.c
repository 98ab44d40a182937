/* demo_workers.c: what each worker did, as bars. */
#include "demo.h"
#include "term.h"
#include <filch/stats.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BAR 24

static uint64_t counter(const filch_worker_stats *w, const char *name)
{
    int index = filch_stats_index(name);
    return index < 0 ? 0 : w->value[index];
}

static uint64_t largest(const filch_worker_stats *workers, int n, const char *name)
{
    uint64_t most = 0;
    for (int i = 0; i < n; i++)
        most = counter(&workers[i], name) > most ? counter(&workers[i], name) : most;
    return most;
}

static void worker_print(int number, const filch_worker_stats *w, uint64_t most)
{
    char bar[BAR * 4 + 1];
    uint64_t executed = counter(w, "executed"), stolen = counter(w, "stolen");
    term_bar(bar, sizeof bar, most ? (double)executed / (double)most : 0, BAR);
    printf("worker %-5d%12" PRIu64 " jobs run%12" PRIu64 " stolen  %s\n", number, executed, stolen,
           bar);
}

/* A fork that nobody steals is a plain call and not counted: these are the jobs that moved. */
void demo_workers(filch_pool *pool)
{
    int n = filch_pool_workers(pool);
    filch_worker_stats *workers = calloc((size_t)n, sizeof *workers);
    if (!workers)
        return;
    if (filch_stats(pool, workers, n) < n)
        n = 0;
    uint64_t most = largest(workers, n, "executed");
    for (int i = 0; i < n; i++)
        worker_print(i, &workers[i], most);
    printf("(forks that nobody steals are plain calls and not counted here)\n\n");
    free(workers);
}
