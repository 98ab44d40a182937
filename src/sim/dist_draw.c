/* dist_draw.c: numbers from a distribution, and about it.
 *
 * Monotone to the last tick: log, exp and the normal quantile are within a few units of the last place,
 * so that of two neighbouring arguments the larger may give the smaller result. They are therefore called
 * on grids whose steps change the result by more than that: probabilities in steps of 2^-48 (2^-49 beside
 * 0 and 1), arguments of exp in steps of 2^-40. What is between is rounding, sums and products with
 * constants, which keep an order.
 */
#include "sim/dist.h"
#include "sim/decimal.h"
#include "sim/math.h"

/* The whole steps in x, towards 0. */
static double on_grid(double x, double steps_per_one)
{
    return (double)(int64_t)(x * steps_per_one) / steps_per_one;
}

/* The middle of one of 2^48 equal parts of (0, 1). */
static double probability(uint64_t random)
{
    return (double)((random >> 16) * 2 + 1) * 0x1p-49;
}

/* 0 .. n - 1, n > 0. */
static uint64_t below(uint64_t random, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)random * n) >> 64);
}

static sim_time scaled_exp(double scale, double x)
{
    return sim_time_round(scale * sim_exp(on_grid(x, 0x1p40)));
}

static sim_time draw_pareto(const struct dist *d, uint64_t random)
{
    double above = on_grid(d->shift + (1 - d->shift) * probability(~random), 0x1p49);
    sim_time t = scaled_exp(d->scale, -sim_log(above) * d->factor);
    return t > d->b ? d->b : t;
}

sim_time dist_draw(const struct dist *d, uint64_t random)
{
    switch (d->kind) {
    case DIST_UNIFORM:
        return d->a + (sim_time)below(random, (uint64_t)(d->b - d->a) + 1);
    case DIST_EXP:
        return sim_time_round(d->scale * -sim_log(probability(~random)));
    case DIST_LOGNORMAL:
        return scaled_exp(d->scale, d->factor * sim_normal_quantile(probability(random)) + d->shift);
    case DIST_PARETO:
        return draw_pareto(d, random);
    case DIST_BIMODAL:
        return (random >> 1 >= d->threshold) == (d->b >= d->a) ? d->b : d->a;
    case DIST_FILE:
        return d->times[below(random, d->n)];
    case DIST_CONST:
        break;
    }
    return d->a;
}

/* ---- moments ------------------------------------------------------------------------------------ */

/* (1 - e^-ew) / e, also where e is 0. */
static double decay(double e, double w)
{
    double x = e * w;
    if (x > -1e-5 && x < 1e-5)
        return w * (1 - x / 2 + x * x / 6);
    return (1 - sim_exp(-x)) / e;
}

/* The k-th moment of a pareto, its least value being 1. */
static double pareto_moment(const struct dist *d, int k)
{
    double exponent = (double)d->shape / DECIMAL_ONE;
    if (d->b == SIM_NEVER)
        return exponent > k ? exponent / (exponent - k) : SIM_INFINITY;
    double w = sim_log((double)d->b / (double)d->a);
    return d->b == d->a ? 1 : decay(exponent - k, w) / decay(exponent, w);
}

static double pareto_scv(const struct dist *d)
{
    double mean = pareto_moment(d, 1), square = pareto_moment(d, 2);
    if (square == SIM_INFINITY)
        return square;
    double scv = square / (mean * mean) - 1;
    return scv > 0 ? scv : 0;
}

static double file_mean(const struct dist *d)
{
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < d->n; i++)
        sum += (uint64_t)d->times[i];
    return (double)sum / (double)d->n;
}

double dist_mean(const struct dist *d)
{
    double p = (double)d->shape / DECIMAL_ONE;
    switch (d->kind) {
    case DIST_UNIFORM:
        return ((double)d->a + (double)d->b) / 2;
    case DIST_PARETO:
        return d->scale * pareto_moment(d, 1);
    case DIST_BIMODAL:
        return (1 - p) * (double)d->a + p * (double)d->b;
    case DIST_FILE:
        return file_mean(d);
    case DIST_CONST:
    case DIST_EXP:
    case DIST_LOGNORMAL:
        break;
    }
    return (double)d->a;
}

static double variance(const struct dist *d)
{
    double p = (double)d->shape / DECIMAL_ONE, width = (double)d->b - (double)d->a, sum = 0;
    if (d->kind == DIST_UNIFORM)
        return width * (width + 2) / 12; /* of whole ticks */
    if (d->kind == DIST_BIMODAL)
        return p * (1 - p) * width * width;
    double mean = dist_mean(d);
    for (size_t i = 0; i < d->n; i++)
        sum += ((double)d->times[i] - mean) * ((double)d->times[i] - mean);
    return sum / (double)d->n;
}

double dist_scv(const struct dist *d)
{
    double cv = (double)d->shape / DECIMAL_ONE, mean;
    switch (d->kind) {
    case DIST_CONST:
        return 0;
    case DIST_EXP:
        return 1;
    case DIST_LOGNORMAL:
        return cv * cv;
    case DIST_PARETO:
        return pareto_scv(d);
    case DIST_UNIFORM:
    case DIST_BIMODAL:
    case DIST_FILE:
        break;
    }
    mean = dist_mean(d);
    return mean > 0 ? variance(d) / (mean * mean) : 0;
}
