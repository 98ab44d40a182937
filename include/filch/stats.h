/* filch/stats.h: what the workers did.
 *
 * Counters are always on, written by their worker only, and only grow. FILCH_STATS=1 in the
 * environment of any program prints them at exit. */
#ifndef FILCH_STATS_H
#define FILCH_STATS_H

#include <filch/forkjoin.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FILCH_STATS_MAX 32

/* One worker's counters, in the order of filch_stats_name. */
typedef struct filch_worker_stats {
    uint64_t value[FILCH_STATS_MAX];
} filch_worker_stats;

/* Number of counters, the name of one ("executed", "stolen", ...; null past the end), what it
 * means, and its number by name (-1: unknown). Any thread. */
FILCH_API int filch_stats_count(void);
FILCH_API const char *filch_stats_name(int counter);
FILCH_API const char *filch_stats_text(int counter);
FILCH_API int filch_stats_index(const char *name);

/* Copies the counters of up to `max` workers; returns how many workers there are. Any thread. */
FILCH_API int filch_stats(filch_pool *pool, filch_worker_stats *out, int max);

/* Sum of one counter over all workers. Any thread. */
FILCH_API uint64_t filch_stats_total(filch_pool *pool, const char *name);

/* Prints a table per worker and a sentence of advice to stderr. Any thread. */
FILCH_API void filch_stats_print(filch_pool *pool);

#ifdef __cplusplus
}
#endif
#endif
