/* test_sim_estimate.c: summaries, Student's quantiles, intervals that are as wide as they say, comparisons,
 * histograms. */
#include "sim/estimate.h"
#include "sim/histogram.h"
#include "sim/math.h"
#include "base/rng.h"
#include "check.h"

#include <math.h>

enum { EXPERIMENTS = 1000, CUSTOMERS = 50 };

#ifdef SIM_SHORT
enum { TIMES = 20000 };
#else
enum { TIMES = 300000 };
#endif

static struct rng rng;

static double uniform(void)
{
    return (double)((rng_next(&rng) >> 12) * 2 + 1) * 0x1p-53;
}

static double normal(void)
{
    return sim_normal_quantile(uniform());
}

static int close_to(double got, double right, double relative)
{
    return fabs(got - right) <= relative * fabs(right);
}

/* ---- summaries --------------------------------------------------------------------------------- */

static void a_summary_has_mean_variance_and_range(void)
{
    static const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct summary s = {0};
    CHECK(summary_variance(&s) == 0 && isinf(estimate_half_width(&s, 0.95)));
    for (int i = 0; i < 8; i++)
        summary_add(&s, x[i]);
    CHECK(s.n == 8 && s.mean == 5 && s.min == 2 && s.max == 9);
    CHECK(close_to(summary_variance(&s), 32.0 / 7, 1e-14));
    CHECK(close_to(estimate_half_width(&s, 0.95), 2.364624251592784 * sqrt(32.0 / 7 / 8), 1e-9));
}

static void small_differences_of_large_numbers_are_kept(void)
{
    struct summary s = {0};
    for (int i = 0; i < 1000; i++)
        summary_add(&s, 1e12 + i % 2);
    CHECK(close_to(summary_variance(&s), 250.0 / 999, 1e-3) && close_to(s.mean, 1e12 + 0.5, 1e-15));
}

static void merged_summaries_are_the_summary_of_all(void)
{
    rng_seed(&rng, 1);
    for (int cut = 0; cut <= 100; cut += 10) {
        struct summary all = {0}, first = {0}, second = {0};
        for (int i = 0; i < 100; i++) {
            double x = normal();
            summary_add(&all, x);
            summary_add(i < cut ? &first : &second, x);
        }
        summary_merge(&first, &second);
        CHECK(first.n == 100 && first.min == all.min && first.max == all.max);
        CHECK(close_to(first.mean, all.mean, 1e-12) && close_to(first.m2, all.m2, 1e-12));
    }
}

/* ---- Student ----------------------------------------------------------------------------------- */

/* From the incomplete beta function of mpmath 1.3 with 30 digits. */
static void quantiles_of_student_are_the_tabulated_ones(void)
{
    static const struct {
        double p, df, t;
    } rows[] = {
        {0.975, 1, 12.706204736174693},       {0.975, 2, 4.3026527297494618},
        {0.975, 3, 3.1824463052837084},       {0.975, 4, 2.7764451051977935},
        {0.95, 9, 1.8331129326562366},        {0.975, 9, 2.262157162798205},
        {0.995, 19, 2.8609346064649788},      {0.975, 29, 2.0452296421327039},
        {0.975, 999, 1.9623414611334496},     {0.975, 9999, 1.9602012636213573},
        {0.975, 20000, 1.9600826051581348},   {0.999999, 5, 24.771029720372489},
        {0.6, 1, 0.32491969623290625},        {0.51, 2, 0.028289929799333577},
        {0.975, 0.5, 164.55767348048824},     {0.999999999998181, 7, 95.4954355712777},
        {0.9, 2.5, 1.7302509288071768},       {0.975, 1e300, 1.9599639845400545},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double t = estimate_t_quantile(rows[i].p, rows[i].df);
        CHECK_MSG(close_to(t, rows[i].t, 1e-9), "p %g, df %g: %.17g", rows[i].p, rows[i].df, t);
        double mirrored = estimate_t_quantile(1 - rows[i].p, rows[i].df);
        CHECK(close_to(mirrored, -estimate_t_quantile(1 - (1 - rows[i].p), rows[i].df), 1e-12));
    }
    CHECK(estimate_t_quantile(0.5, 3) == 0);
    CHECK(isnan(estimate_t_quantile(0, 3)) && isnan(estimate_t_quantile(1, 3)));
    CHECK(isnan(estimate_t_quantile(0.9, 0)) && isnan(estimate_t_quantile(NAN, 3)));
}

/* With 1 and 2 degrees of freedom the quantiles are tan(pi (p - 1/2)) and a quotient with a root. */
static void quantiles_with_one_and_two_degrees_are_the_closed_forms(void)
{
    for (int i = 1; i < 1000; i++) {
        double p = i / 1000.0, a = 4 * p * (1 - p);
        double one = tan(M_PI * (p - 0.5)), two = 2 * (p - 0.5) * sqrt(2 / a);
        CHECK_MSG(i == 500 || close_to(estimate_t_quantile(p, 1), one, 1e-9), "p %g", p);
        CHECK_MSG(close_to(estimate_t_quantile(p, 2), two, 1e-9), "p %g", p);
    }
}

static void the_two_ways_to_a_quantile_meet(void)
{
    double below = estimate_t_quantile(0.99, 9999.999), at = estimate_t_quantile(0.99, 10000);
    CHECK(below > at && below - at < 1e-6 * at);
    CHECK(close_to(estimate_t_quantile(0.9999, 9999.9999), estimate_t_quantile(0.9999, 10000), 1e-9));
}

/* ---- intervals ---------------------------------------------------------------------------------- */

static double normal_figure(void)
{
    return 1 + 0.15 * normal();
}

static double skewed_figure(void)
{
    return -sim_log(uniform());
}

/* Mean time in system of some customers of an M/M/1 at load 0.5 (service 1, so the true one is 2), where
 * the first finds the queue in its steady state. */
static double queue_figure(void)
{
    double wait = uniform() < 0.5 ? -sim_log(uniform()) * 2 : 0, sum = 0;
    for (int i = 0; i < CUSTOMERS; i++) {
        double service = -sim_log(uniform());
        sum += wait + service;
        wait += service + sim_log(uniform()) / 0.5;
        wait = wait > 0 ? wait : 0;
    }
    return sum / CUSTOMERS;
}

/* In how many of EXPERIMENTS the interval of 95 % holds the true mean. */
static int held(double (*figure)(void), double truth, double width, uint64_t least, uint64_t most)
{
    int count = 0;
    for (int i = 0; i < EXPERIMENTS; i++) {
        struct summary s = {0};
        while (!estimate_enough(&s, 0.95, width, least) && s.n < most)
            summary_add(&s, figure());
        count += fabs(s.mean - truth) <= estimate_half_width(&s, 0.95);
    }
    return count;
}

static void check_held(const char *what, int count)
{
    CHECK_MSG(count >= EXPERIMENTS * 92 / 100 && count <= EXPERIMENTS * 98 / 100, "%s: %d of %d", what, count,
              EXPERIMENTS);
}

static void intervals_of_a_fixed_number_of_replications_are_honest(void)
{
    rng_seed(&rng, 21);
    check_held("3 normal ones", held(normal_figure, 1, 0, 3, 3));
    check_held("20 normal ones", held(normal_figure, 1, 0, 20, 20));
    check_held("100 queues", held(queue_figure, 2, 0, 100, 100));
}

static void intervals_run_to_a_width_are_honest(void)
{
    rng_seed(&rng, 22);
    check_held("normal, 5 %", held(normal_figure, 1, 0.05, ESTIMATE_LEAST_N, 100000));
    check_held("exponential, 15 %", held(skewed_figure, 1, 0.15, ESTIMATE_LEAST_N, 100000));
    check_held("queue, 10 %", held(queue_figure, 2, 0.1, ESTIMATE_LEAST_N_SKEWED, 100000));
}

/* The reason for ESTIMATE_LEAST_N, and that held() can see it. */
static void intervals_stopped_after_two_replications_are_not(void)
{
    rng_seed(&rng, 23);
    int count = held(normal_figure, 1, 0.15, 2, 100000);
    CHECK_MSG(count < EXPERIMENTS * 92 / 100, "%d of %d", count, EXPERIMENTS);
}

static void enough_needs_the_least_number_and_the_width(void)
{
    struct summary s = {0};
    for (int i = 0; i < 9; i++)
        summary_add(&s, 7);
    CHECK(!estimate_enough(&s, 0.95, 0.05, 10) && estimate_enough(&s, 0.95, 0, 9));
    summary_add(&s, 8);
    CHECK(estimate_enough(&s, 0.95, 0.05, 10) && !estimate_enough(&s, 0.95, 0.02, 10));
    struct summary zero = {0};
    CHECK(!estimate_enough(&zero, 0.95, 1, 0));
    summary_add(&zero, 0);
    CHECK(!estimate_enough(&zero, 0.95, 1, 0));
    summary_add(&zero, 0);
    CHECK(estimate_enough(&zero, 0.95, 0.05, 0));
}

/* ---- comparisons -------------------------------------------------------------------------------- */

static struct paired_result compared(double effect, int n)
{
    struct paired p = {0};
    for (int i = 0; i < n; i++) {
        double common = 10 + 3 * normal();
        paired_add(&p, common, common * effect + 0.1 * normal());
    }
    return paired_judge(&p, 0.95);
}

static void a_verdict_says_better_worse_or_neither(void)
{
    rng_seed(&rng, 31);
    CHECK_STR(estimate_verdict_text(compared(0.98, 50).verdict), "better");
    CHECK_STR(estimate_verdict_text(compared(1.02, 50).verdict), "worse");
    CHECK_STR(estimate_verdict_text(compared(1, 50).verdict), "no difference seen");
    CHECK_EQ(compared(2, 1).verdict, ESTIMATE_NO_DIFFERENCE);
    CHECK_EQ(compared(2, 0).verdict, ESTIMATE_NO_DIFFERENCE);
    struct paired_result r = compared(1.1, 1000);
    CHECK(fabs(r.relative - 0.1) < 0.01 && fabs(r.difference - 1) < 0.1 && r.half_width < 0.1);
}

static void equal_variants_are_seldom_called_different(void)
{
    int different = 0;
    rng_seed(&rng, 32);
    for (int i = 0; i < 400; i++)
        different += compared(1, 20).verdict != ESTIMATE_NO_DIFFERENCE;
    CHECK_MSG(different >= 8 && different <= 32, "%d of 400", different);
}

static void variants_without_any_spread_are_compared_exactly(void)
{
    struct paired same = {0}, more = {0}, zero = {0};
    for (int i = 0; i < 3; i++) {
        paired_add(&same, i, i);
        paired_add(&more, i, i + 1);
        paired_add(&zero, 0, -1);
    }
    CHECK_EQ(paired_judge(&same, 0.95).verdict, ESTIMATE_NO_DIFFERENCE);
    CHECK(paired_judge(&same, 0.95).relative == 0);
    CHECK(paired_judge(&more, 0.95).verdict == ESTIMATE_WORSE && paired_judge(&more, 0.95).relative == 1);
    CHECK(paired_judge(&zero, 0.95).verdict == ESTIMATE_BETTER && isinf(paired_judge(&zero, 0.95).relative));
}

/* ---- quantiles ---------------------------------------------------------------------------------- */

static void quantiles_of_sorted_values_are_linear_between_them(void)
{
    static const double x[] = {1, 2, 4, 8};
    CHECK(estimate_quantile(x, 4, 0) == 1 && estimate_quantile(x, 4, 1) == 8);
    CHECK(estimate_quantile(x, 4, 0.5) == 3);
    CHECK(estimate_quantile(x, 4, 1.0 / 3) == 2 && close_to(estimate_quantile(x, 4, 0.9), 6.8, 1e-12));
    CHECK(estimate_quantile(x, 1, 0.7) == 1);
    CHECK(estimate_quantile(x, 4, -1) == 1 && estimate_quantile(x, 4, NAN) == 1);
}

static void every_bucket_holds_the_times_from_its_low_end_to_the_next(void)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        sim_time low = histogram_low(i), next = histogram_low(i + 1);
        CHECK(low < next);
        CHECK_EQ(histogram_bucket(low), i);
        if (i + 1 < HISTOGRAM_BUCKETS)
            CHECK_EQ(histogram_bucket(next - 1), i);
        CHECK(i < HISTOGRAM_PARTS || (double)(next - low) <= (double)low / HISTOGRAM_PARTS);
    }
    CHECK_EQ(histogram_bucket(SIM_TIME_MAX), HISTOGRAM_BUCKETS - 1);
}

static struct histogram h, other;

static int compare(const void *a, const void *b)
{
    sim_time x = *(const sim_time *)a, y = *(const sim_time *)b;
    return (x > y) - (x < y);
}

static void a_histogram_knows_quantiles_to_within_its_buckets(void)
{
    static sim_time times[TIMES];
    double sum = 0;
    memset(&h, 0, sizeof h);
    rng_seed(&rng, 41);
    for (int i = 0; i < TIMES; i++) {
        times[i] = sim_time_round(1e6 * sim_exp(2 * normal()));
        sum += (double)times[i];
        histogram_add(&h, times[i]);
    }
    qsort(times, TIMES, sizeof *times, compare);
    for (int k = 0; k <= 1000; k++) {
        size_t rank = (size_t)((TIMES * (int64_t)k + 999) / 1000);
        sim_time right = times[rank ? rank - 1 : 0];
        CHECK_MSG(close_to((double)histogram_quantile(&h, k / 1000.0), (double)right, 1.0 / 127), "p %g: %g",
                  k / 1000.0, (double)right);
    }
    CHECK(h.n == TIMES && h.min == times[0] && h.max == times[TIMES - 1]);
    CHECK(close_to(histogram_mean(&h), sum / TIMES, 1e-12));
}

static void merged_histograms_are_the_histogram_of_all(void)
{
    static struct histogram all;
    memset(&h, 0, sizeof h);
    memset(&other, 0, sizeof other);
    memset(&all, 0, sizeof all);
    rng_seed(&rng, 42);
    histogram_merge(&h, &other);
    CHECK(h.n == 0 && histogram_mean(&h) == 0 && histogram_quantile(&h, 0.5) == 0);
    for (int i = 0; i < 1000; i++) {
        sim_time t = (sim_time)(rng_next(&rng) >> (5 + rng_below(&rng, 50)));
        histogram_add(i % 3 ? &h : &other, t);
        histogram_add(&all, t);
    }
    histogram_merge(&h, &other);
    CHECK(memcmp(&h, &all, sizeof h) == 0);
}

static void times_out_of_range_count_as_the_nearest(void)
{
    memset(&h, 0, sizeof h);
    histogram_add(&h, -5);
    histogram_add(&h, SIM_NEVER);
    CHECK(h.n == 2 && h.min == 0 && h.max == SIM_TIME_MAX && histogram_quantile(&h, 0.5) == 0);
    CHECK(histogram_quantile(&h, 0.51) == SIM_TIME_MAX);
}

int main(void)
{
    RUN(a_summary_has_mean_variance_and_range);
    RUN(small_differences_of_large_numbers_are_kept);
    RUN(merged_summaries_are_the_summary_of_all);
    RUN(quantiles_of_student_are_the_tabulated_ones);
    RUN(quantiles_with_one_and_two_degrees_are_the_closed_forms);
    RUN(the_two_ways_to_a_quantile_meet);
    RUN(intervals_of_a_fixed_number_of_replications_are_honest);
    RUN(intervals_run_to_a_width_are_honest);
    RUN(intervals_stopped_after_two_replications_are_not);
    RUN(enough_needs_the_least_number_and_the_width);
    RUN(a_verdict_says_better_worse_or_neither);
    RUN(equal_variants_are_seldom_called_different);
    RUN(variants_without_any_spread_are_compared_exactly);
    RUN(quantiles_of_sorted_values_are_linear_between_them);
    RUN(every_bucket_holds_the_times_from_its_low_end_to_the_next);
    RUN(a_histogram_knows_quantiles_to_within_its_buckets);
    RUN(merged_histograms_are_the_histogram_of_all);
    RUN(times_out_of_range_count_as_the_nearest);
    return check_report();
}
