#include "sim/histogram.h"

size_t histogram_bucket(sim_time t)
{
    if (t < HISTOGRAM_PARTS)
        return t < 0 ? 0 : (size_t)t;
    if (t > SIM_TIME_MAX)
        t = SIM_TIME_MAX;
    unsigned shift = 63 - HISTOGRAM_BITS - (unsigned)__builtin_clzll((uint64_t)t);
    return (size_t)shift * HISTOGRAM_PARTS + (size_t)(t >> shift);
}

sim_time histogram_low(size_t bucket)
{
    if (bucket < 2 * HISTOGRAM_PARTS)
        return (sim_time)bucket;
    size_t shift = bucket / HISTOGRAM_PARTS - 1;
    return (sim_time)(bucket % HISTOGRAM_PARTS + HISTOGRAM_PARTS) << shift;
}

static void range_add(struct histogram *h, sim_time min, sim_time max)
{
    if (h->n == 0 || min < h->min)
        h->min = min;
    if (h->n == 0 || max > h->max)
        h->max = max;
}

void histogram_add(struct histogram *h, sim_time t)
{
    t = t < 0 ? 0 : t > SIM_TIME_MAX ? SIM_TIME_MAX : t;
    range_add(h, t, t);
    h->n++;
    h->sum += (uint64_t)t;
    h->count[histogram_bucket(t)]++;
}

void histogram_merge(struct histogram *h, const struct histogram *other)
{
    if (other->n == 0)
        return;
    range_add(h, other->min, other->max);
    h->n += other->n;
    h->sum += other->sum;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        h->count[i] += other->count[i];
}

double histogram_mean(const struct histogram *h)
{
    return h->n ? (double)h->sum / (double)h->n : 0;
}

/* How many times are at most the one that is asked for: p * n, rounded up. */
static uint64_t rank_of(const struct histogram *h, double p)
{
    double place = p * (double)h->n;
    uint64_t rank = (uint64_t)place;
    return rank + ((double)rank < place);
}

sim_time histogram_quantile(const struct histogram *h, double p)
{
    if (h->n == 0 || !(p > 0))
        return h->min;
    if (p >= 1)
        return h->max;
    uint64_t rank = rank_of(h, p), seen = 0;
    size_t i = 0;
    while (i < HISTOGRAM_BUCKETS - 1 && (seen += h->count[i]) < rank)
        i++;
    sim_time low = histogram_low(i), middle = low + (histogram_low(i + 1) - 1 - low) / 2;
    return middle < h->min ? h->min : middle > h->max ? h->max : middle;
}
