/* estimate.h: what replications say: means, intervals, comparisons.
 *
 * A replication is a whole run with a random stream of its own; it gives one number. Replications are
 * independent, so that Student's interval holds for their mean. Latencies within one run are not: those
 * go into a histogram (histogram.h), without an interval.
 */
#ifndef FILCH_SIM_ESTIMATE_H
#define FILCH_SIM_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Welford's running mean and sum of squared differences from it. All zero is the empty one. */
struct summary {
    uint64_t n;
    double mean;
    double m2;
    double min, max; /* 0 while n is 0 */
};

void summary_add(struct summary *s, double x);

/* As if all of `other` had been added, up to rounding: whoever wants the same bits merges in the same
 * order. */
void summary_merge(struct summary *s, const struct summary *other);

double summary_variance(const struct summary *s); /* of the sample, with n - 1; 0 if n < 2 */

/* The quantile of Student's distribution with df > 0 degrees of freedom, relative error below 1e-9 for
 * p from 1e-12 to 1 - 1e-12. NaN for p outside (0, 1) or df <= 0. */
double estimate_t_quantile(double p, double df);

/* Half the width of the interval of this level (0.95) for the mean; infinite if n < 2. */
double estimate_half_width(const struct summary *s, double level);

/* Few replications, stopped as soon as the interval looks narrow, were stopped by a small variance seen by
 * chance: the interval is then too narrow. The more so where the figure of a replication is skewed, because
 * a small mean and a small variance then come together. How many of 1,000-4,000 intervals of 95 % held the
 * true mean:
 *
 *     normal figures to a width of 5 %        93 % with 10 replications at the least, 94-95 % with 30
 *     M/M/1, some 100 replications to 5 %     94-95 % with 30
 *     M/M/1, some 60 replications to 10 %     91 % with 30, 92 % with 60, 94 % with 100
 *
 * A rule that asks for more replications if the skewness seen so far is large (n > 25 skewness^2) did not
 * help: where the variance is small by chance, so is the skewness. */
enum { ESTIMATE_LEAST_N = 30, ESTIMATE_LEAST_N_SKEWED = 100 };

/* True once there are least_n replications (never fewer than 2) and the half width is at most
 * relative_width * |mean|. A mean of 0 is enough only if all values are 0. */
bool estimate_enough(const struct summary *s, double level, double relative_width, uint64_t least_n);

/* Two variants run with the same random numbers: the differences are what counts. A smaller figure is
 * better. */
struct paired {
    struct summary base;       /* of the first variant */
    struct summary difference; /* second minus first */
};

enum estimate_verdict { ESTIMATE_BETTER, ESTIMATE_WORSE, ESTIMATE_NO_DIFFERENCE };

struct paired_result {
    double difference; /* mean */
    double half_width;
    double relative; /* difference / |mean of the first|; 0 if both are 0, else infinite if that mean is 0 */
    enum estimate_verdict verdict; /* of the second against the first: none if the interval holds 0 */
};

void paired_add(struct paired *p, double first, double second);
struct paired_result paired_judge(const struct paired *p, double level);
const char *estimate_verdict_text(enum estimate_verdict v); /* "better", "worse", "no difference seen" */

/* Of n > 0 sorted values, linear between neighbours (p 0: the first, 1: the last). */
double estimate_quantile(const double *sorted, size_t n, double p);

#endif
