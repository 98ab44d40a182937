/* histogram.h: times in buckets whose width grows with the time: fixed memory, a known error.
 *
 * Times below 64 have a bucket each; above, every power of two is divided into 64. A quantile is the
 * middle of a bucket: at most 1/128 beside the time that has this rank. Counts are sums, so that the order
 * of adding and merging does not matter.
 */
#ifndef FILCH_SIM_HISTOGRAM_H
#define FILCH_SIM_HISTOGRAM_H

#include "sim/clock.h"

enum {
    HISTOGRAM_BITS = 6,
    HISTOGRAM_PARTS = 1 << HISTOGRAM_BITS, /* per power of two */
    HISTOGRAM_BUCKETS = (59 - HISTOGRAM_BITS + 1) * HISTOGRAM_PARTS + 1,
};

struct histogram { /* all zero is the empty one; some 28 KiB */
    uint64_t n;
    sim_time min, max; /* 0 while n is 0 */
    unsigned __int128 sum;
    uint64_t count[HISTOGRAM_BUCKETS];
};

/* A time outside 0 .. SIM_TIME_MAX counts as the nearest of these. */
void histogram_add(struct histogram *h, sim_time t);
void histogram_merge(struct histogram *h, const struct histogram *other);

double histogram_mean(const struct histogram *h); /* exact up to one rounding; 0 if empty */

/* The least time that at least p of all times do not exceed, from 0 (the least of all) to 1 (the
 * greatest): those two are exact. 0 if empty. */
sim_time histogram_quantile(const struct histogram *h, double p);

/* Bucket i holds the times from histogram_low(i) to histogram_low(i + 1) - 1. */
size_t histogram_bucket(sim_time t);
sim_time histogram_low(size_t bucket);

#endif
