/* test_sim_math.c: sim_log and its like against libm, and their bits against stored ones. */
#include "sim/math.h"
#include "base/rng.h"
#include "check.h"

#include <math.h>

#ifdef SIM_SHORT
enum { SAMPLES = 20000 };
#else
enum { SAMPLES = 400000 };
#endif

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Uniform from low to high. */
static double between(struct rng *r, double low, double high)
{
    return low + (high - low) * (double)(rng_next(r) >> 11) * 0x1p-53;
}

/* The distance of two positive or two negative numbers, in units of the last place. */
static double ulps(double a, double b)
{
    int64_t d = (int64_t)(bits_of(a) - bits_of(b));
    return a == b ? 0 : (double)(d < 0 ? -d : d);
}

static double relative(double got, double right)
{
    return got == right ? 0 : fabs(got - right) / fabs(right);
}

static void log_is_within_one_ulp_of_libm_over_all_positive_numbers(void)
{
    struct rng r;
    double worst = 0;
    rng_seed(&r, 1);
    for (int i = 0; i < SAMPLES; i++) {
        double x = from_bits(rng_next(&r) % 0x7ff0000000000000u + 1), near = between(&r, 0.5, 2);
        double d = ulps(sim_log(x), log(x)), e = ulps(sim_log(near), log(near));
        worst = fmax(worst, fmax(d, e));
        CHECK_MSG(d <= 1 && e <= 1, "log(%a) or log(%a): %g, %g ulp", x, near, d, e);
    }
    CHECK(worst > 0); /* the distance is measured */
}

static void log1p_is_within_four_ulp_of_libm(void)
{
    struct rng r;
    rng_seed(&r, 2);
    for (int i = 0; i < SAMPLES; i++) {
        double x = between(&r, -1, 1) * sim_exp(between(&r, -60, 0)), big = sim_exp(between(&r, 0, 300));
        CHECK_MSG(ulps(sim_log1p(x), log1p(x)) <= 4, "log1p(%a)", x);
        CHECK_MSG(ulps(sim_log1p(big), log1p(big)) <= 4, "log1p(%a)", big);
    }
}

static void exp_is_within_one_ulp_of_libm_wherever_it_is_finite(void)
{
    struct rng r;
    rng_seed(&r, 3);
    for (int i = 0; i < SAMPLES; i++) {
        double x = between(&r, -745, 709.78), near = between(&r, -1, 1);
        CHECK_MSG(ulps(sim_exp(x), exp(x)) <= 1, "exp(%a): %a is not %a", x, sim_exp(x), exp(x));
        CHECK_MSG(ulps(sim_exp(near), exp(near)) <= 1, "exp(%a)", near);
    }
}

static void pow_keeps_the_relative_error_that_its_header_states(void)
{
    struct rng r;
    rng_seed(&r, 4);
    for (int i = 0; i < SAMPLES; i++) {
        double x = sim_exp(between(&r, -30, 30)), y = between(&r, -20, 20);
        double bound = (1 + fabs(y * log(x))) * 0x1p-52;
        CHECK_MSG(relative(sim_pow(x, y), pow(x, y)) <= bound, "pow(%a, %a)", x, y);
    }
}

static void ends_of_the_ranges_are_what_libm_says(void)
{
    CHECK(sim_log(0) == -INFINITY && isnan(sim_log(-1)) && isnan(sim_log(NAN)) && sim_log(1) == 0);
    CHECK(sim_log(INFINITY) == INFINITY && sim_log(0x1p-1074) == log(0x1p-1074));
    CHECK(sim_log1p(0) == 0 && sim_log1p(-1) == -INFINITY && sim_log1p(1e-300) == 1e-300);
    CHECK(sim_log1p(INFINITY) == INFINITY);
    CHECK(sim_exp(0) == 1 && sim_exp(-INFINITY) == 0 && sim_exp(INFINITY) == INFINITY);
    CHECK(sim_exp(709.782) < INFINITY && sim_exp(709.783) == INFINITY && sim_exp(710) == INFINITY);
    CHECK(sim_exp(-745.1) == 0x1p-1074 && sim_exp(-745.14) == 0 && isnan(sim_exp(NAN)));
    CHECK(sim_pow(0, 2) == 0 && sim_pow(0, -1) == INFINITY && sim_pow(0, 0) == 1 && sim_pow(1, 1e300) == 1);
    CHECK(fabs(sim_pow(2, 10) - 1024) < 1e-11 && isnan(sim_pow(-1, 2)));
}

static double exact_cdf(double x)
{
    return (double)(0.5L * erfcl(-(long double)x * 0.70710678118654752440084436210485L));
}

static void the_normal_distribution_agrees_with_erfc(void)
{
    struct rng r;
    rng_seed(&r, 5);
    for (int i = 0; i < SAMPLES / 10; i++) {
        double x = between(&r, -37, 9), near = between(&r, -4, 4);
        CHECK_MSG(relative(sim_normal_cdf(x), exact_cdf(x)) < 2e-13, "cdf(%a)", x);
        CHECK_MSG(relative(sim_normal_cdf(near), exact_cdf(near)) < 2e-13, "cdf(%a)", near);
    }
    CHECK(sim_normal_cdf(0) == 0.5 && sim_normal_cdf(-INFINITY) == 0 && sim_normal_cdf(INFINITY) == 1);
    CHECK(isnan(sim_normal_cdf(NAN)));
}

/* A Newton step in long double gives the correction that is left to make. */
static double quantile_correction(double x, double p)
{
    long double l = x, f = 0.5L * erfcl(-l * 0.70710678118654752440084436210485L) - (long double)p;
    long double density = 0.39894228040143267793994605993438L * expl(-0.5L * l * l);
    return (double)(f / density);
}

static void the_quantile_is_the_inverse_of_the_distribution(void)
{
    struct rng r;
    rng_seed(&r, 6);
    for (int i = 0; i < SAMPLES / 4; i++) {
        double p = between(&r, 0, 1), tiny = sim_exp(between(&r, -700, -0.7));
        double x = sim_normal_quantile(p), far = sim_normal_quantile(tiny);
        CHECK_MSG(p == 0 || fabs(quantile_correction(x, p)) <= 1e-14 * fabs(x), "quantile(%a)", p);
        CHECK_MSG(fabs(quantile_correction(far, tiny)) <= 1e-14 * fabs(far), "quantile(%a)", tiny);
    }
    CHECK(sim_normal_quantile(0.5) == 0 && fabs(sim_normal_quantile(0.975) - 1.959963984540054) < 1e-15);
    CHECK(sim_normal_quantile(0) == -INFINITY && sim_normal_quantile(1) == INFINITY);
    CHECK(isnan(sim_normal_quantile(-0.1)) && isnan(sim_normal_quantile(1.1)) &&
          isnan(sim_normal_quantile(NAN)));
}

static uint64_t mixed(uint64_t hash, double x)
{
    return rng_mix(hash ^ bits_of(x));
}

/* The same with every compiler and level: gcc and clang at -O0 and -O3 gave this number. */
static void the_bits_are_the_stored_ones(void)
{
    struct rng r;
    uint64_t hash = 0;
    rng_seed(&r, 7);
    for (int i = 0; i < 20000; i++) {
        double positive = from_bits(rng_next(&r) % 0x7ff0000000000000u);
        hash = mixed(hash, sim_log(positive));
        hash = mixed(hash, sim_log1p(between(&r, -1, 1)));
        hash = mixed(hash, sim_exp(between(&r, -745, 709)));
        double base = between(&r, 0, 30), exponent = between(&r, -20, 20);
        hash = mixed(hash, sim_pow(base, exponent));
        hash = mixed(hash, sim_normal_cdf(between(&r, -39, 39)));
        hash = mixed(hash, sim_normal_quantile(between(&r, 0, 1)));
        hash = mixed(hash, sim_normal_quantile(sim_exp(between(&r, -700, 0))));
    }
    CHECK_MSG(hash == 0xfee002b5c0d72c5au, "the hash is 0x%016llx", (unsigned long long)hash);
}

int main(void)
{
    RUN(log_is_within_one_ulp_of_libm_over_all_positive_numbers);
    RUN(log1p_is_within_four_ulp_of_libm);
    RUN(exp_is_within_one_ulp_of_libm_wherever_it_is_finite);
    RUN(pow_keeps_the_relative_error_that_its_header_states);
    RUN(ends_of_the_ranges_are_what_libm_says);
    RUN(the_normal_distribution_agrees_with_erfc);
    RUN(the_quantile_is_the_inverse_of_the_distribution);
    RUN(the_bits_are_the_stored_ones);
    return check_report();
}
