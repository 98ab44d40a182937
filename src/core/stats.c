#include "core/job.h"
#include "core/report.h"
#include "os/os.h"

#include <filch/stats.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)EV_COUNT <= FILCH_STATS_MAX, "raise FILCH_STATS_MAX");

static const struct {
    const char *name, *text;
} events[] = {
#define EVENT(name, column, text) {column, text},
#include "obs/events.def"
#undef EVENT
};

int filch_stats_count(void)
{
    return EV_COUNT;
}

const char *filch_stats_name(int counter)
{
    return counter >= 0 && counter < EV_COUNT ? events[counter].name : 0;
}

const char *filch_stats_text(int counter)
{
    return counter >= 0 && counter < EV_COUNT ? events[counter].text : 0;
}

int filch_stats_index(const char *name)
{
    for (int i = 0; name && i < EV_COUNT; i++) {
        if (strcmp(events[i].name, name) == 0)
            return i;
    }
    return -1;
}

int filch_stats(filch_pool *pool, filch_worker_stats *out, int max)
{
    job_check_pool(pool, "filch_stats");
    if (!out && max > 0)
        report_misuse("filch_stats", "null array; use max = 0 to ask for the number of workers");
    for (int i = 0; i < pool->count && i < max; i++) {
        memset(&out[i], 0, sizeof out[i]);
        for (int e = 0; e < EV_COUNT; e++)
            out[i].value[e] = counters_get(&pool->workers[i].counters, (enum event)e);
    }
    return pool->count;
}

static uint64_t total(filch_pool *pool, enum event e)
{
    uint64_t sum = 0;
    for (int i = 0; i < pool->count; i++)
        sum += counters_get(&pool->workers[i].counters, e);
    return sum;
}

uint64_t filch_stats_total(filch_pool *pool, const char *name)
{
    job_check_pool(pool, "filch_stats_total");
    int e = filch_stats_index(name);
    return e < 0 ? 0 : total(pool, (enum event)e);
}

/* ---- the table ---------------------------------------------------------------------------- */

static const enum event columns[] = {EV_EXECUTED,  EV_FORKED,      EV_STEAL_JOB, EV_STEAL_TRY,
                                     EV_STEAL_EMPTY, EV_STEAL_SKIP, EV_PARK,      EV_JOIN_SUSPEND,
                                     EV_SPIN_WASTED};
#define COLUMNS (sizeof columns / sizeof *columns)

static void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void print(const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n > 0)
        os_print(line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

static void print_row(const char *label, filch_pool *pool, int worker)
{
    char line[512];
    int n = snprintf(line, sizeof line, "%-8s", label);
    for (size_t c = 0; c < COLUMNS; c++) {
        uint64_t v = worker < 0 ? total(pool, columns[c])
                                : counters_get(&pool->workers[worker].counters, columns[c]);
        n += snprintf(line + n, sizeof line - (size_t)n, " %11" PRIu64, v);
    }
    print("%s\n", line);
}

static void print_head(void)
{
    char line[512];
    int n = snprintf(line, sizeof line, "%-8s", "worker");
    for (size_t c = 0; c < COLUMNS; c++)
        n += snprintf(line + n, sizeof line - (size_t)n, " %11s", events[columns[c]].name);
    print("%s\n", line);
}

/* One sentence: the first thing that looks worth changing. */
static const char *advice(filch_pool *pool)
{
    uint64_t ran = total(pool, EV_EXECUTED), stolen = total(pool, EV_STEAL_JOB);
    uint64_t most = 0, tries = total(pool, EV_STEAL_TRY);
    for (int i = 0; i < pool->count; i++) {
        uint64_t n = counters_get(&pool->workers[i].counters, EV_EXECUTED);
        most = n > most ? n : most;
    }
    if (ran == 0)
        return "Nothing ran on this pool.";
    if (pool->count > 1 && stolen == 0 && ran == most)
        return "One worker did everything and nothing was stolen: the work has no parallelism at "
               "this size, or its tasks are bounded and too small.";
    if (total(pool, EV_OVERFLOW) * 10 > ran)
        return "Queues overflow often: submit larger jobs, or raise ring_capacity.";
    if (total(pool, EV_JOIN_SUSPEND) * 2 > stolen && stolen > 1000)
        return "Every other stolen job is waited for: make the stolen pieces larger, or the inline "
               "ones.";
    if (tries > 1000 * (stolen + 1))
        return "Workers search a lot and find little: there is less parallelism than workers; try "
               "fewer (FILCH_WORKERS).";
    return "Nothing stands out: steals are rare against the work done.";
}

void filch_stats_print(filch_pool *pool)
{
    job_check_pool(pool, "filch_stats_print");
    print("filch: pool \"%s\", %d worker%s\n", pool->name, pool->count, pool->count == 1 ? "" : "s");
    print_head();
    int shown = pool->count < 64 ? pool->count : 64;
    for (int i = 0; i < shown; i++) {
        char label[16];
        snprintf(label, sizeof label, "%d", i);
        print_row(label, pool, i);
    }
    if (shown < pool->count)
        print("... %d more workers\n", pool->count - shown);
    print_row("all", pool, -1);
    print("%s\n", advice(pool));
}
