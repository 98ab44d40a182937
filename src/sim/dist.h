/* dist.h: distributions of durations and of gaps between arrivals.
 *
 *     1.5  const:1.5         always this time
 *     uniform:0.5..2         every tick from the first to the second is equally likely
 *     exp:1                  exponential, by its mean
 *     lognormal:1,0.5        by its mean and its coefficient of variation (0 .. 1000)
 *     pareto:1,1.5           by its least value and its exponent (0.01 .. 1000); above SIM_TIME_MAX it is
 *                            SIM_TIME_MAX
 *     pareto:1,1.5,100       the same, conditioned on being at most 100
 *     bimodal:1,10,0.1       1, or with probability 0.1 10
 *     file:PATH              the times in a file, one per line, '#' comments; all equally likely
 *
 * Times are written as for sim_time_parse(), other numbers as for decimal_parse(), with at most nine
 * digits after the point that count. One 64-bit random number gives one time, by the inverse of the
 * distribution function. A larger number never gives a smaller time: runs that share their random numbers
 * differ in the distribution alone.
 */
#ifndef FILCH_SIM_DIST_H
#define FILCH_SIM_DIST_H

#include "sim/clock.h"

enum dist_kind {
    DIST_CONST,
    DIST_UNIFORM,
    DIST_EXP,
    DIST_LOGNORMAL,
    DIST_PARETO,
    DIST_BIMODAL,
    DIST_FILE,
};

enum { DIST_FILE_MOST = 1000000 }; /* times in a file */

struct dist {
    enum dist_kind kind;
    sim_time a, b;      /* as in the text; b of a pareto: its bound, SIM_NEVER if it has none */
    int64_t shape;      /* the cv, exponent or probability, in billionths */
    double scale;       /* mean of exp and lognormal, least of pareto, in ticks */
    double factor;      /* lognormal: sigma; pareto: 1 / exponent */
    double shift;       /* lognormal: -sigma^2 / 2; pareto: the probability above the bound */
    uint64_t threshold; /* bimodal: the larger time from this one of 2^63 on */
    sim_time *times;    /* file: sorted */
    size_t n;
    char *path;
};

/* 0, or -EINVAL with a message (-ENOMEM if a file does not fit into memory), and then *d is const:0. What
 * succeeded is freed with dist_free(). */
int dist_parse(struct dist *d, const char *text, char *message, size_t size);
void dist_free(struct dist *d);

/* 0 .. SIM_TIME_MAX; monotone in `random`. */
sim_time dist_draw(const struct dist *d, uint64_t random);

/* The mean in ticks (nanoseconds), and variance / mean^2. Those of the distribution as written, without
 * the rounding to ticks and without the cap at SIM_TIME_MAX: infinite for a pareto without bound whose
 * exponent is at most 1, and at most 2. The scv of a mean of 0 is 0. */
double dist_mean(const struct dist *d);
double dist_scv(const struct dist *d);

/* Text that dist_parse() takes back to the same distribution; returns its length as snprintf does. */
int dist_print(const struct dist *d, char *to, size_t size);

#endif
