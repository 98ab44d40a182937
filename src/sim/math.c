#include "sim/math.h"

#include <stdint.h>
#include <string.h>

#define LN2_HIGH 0x1.62e42fee00000p-1 /* ln 2, the last 21 bits 0: a small integer times it is exact */
#define LN2_LOW 0x1.a39ef35793c76p-33 /* and the rest of it */
#define SQRT_HALF 0x1.6a09e667f3bcdp-1

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* 2^k for -1022 <= k <= 1023. */
static double power_of_two(int k)
{
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* c[0] + c[1] x + ... + c[n-1] x^(n-1), from the last. */
static double polynomial(const double *c, int n, double x)
{
    double sum = c[n - 1];
    for (int i = n - 2; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* ---- log ------------------------------------------------------------------------------------- */

/* x = 2^k * m with m from sqrt(1/2) to sqrt(2). x is positive and finite. */
static double split(double x, int *k)
{
    int shift = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        shift = -54;
    }
    int e = (int)(bits_of(x) >> 52) - 1022;
    uint64_t bits = (bits_of(x) & 0xfffffffffffffu) | (uint64_t)1022 << 52;
    double m;
    memcpy(&m, &bits, sizeof m); /* 1/2 <= m < 1 */
    if (m < SQRT_HALF) {
        m *= 2;
        e--;
    }
    *k = e + shift;
    return m;
}

/* With f = m - 1 and s = f / (2 + f), log m = 2 artanh s = 2s + s * (2/3 s^2 + 2/5 s^4 + ...), and
 * 2s = f - s f, which leaves the rounding of s with little weight. */
double sim_log(double x)
{
    static const double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                               2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
    if (!(x > 0))
        return x == 0 ? -SIM_INFINITY : SIM_NAN;
    if (x == SIM_INFINITY)
        return x;
    int k;
    double f = split(x, &k) - 1, s = f / (2 + f), z = s * s;
    double series = z * polynomial(c, sizeof c / sizeof *c, z);
    return k * LN2_HIGH + (f - (s * (f - series) - k * LN2_LOW));
}

/* w = 1 + x is rounded; log(w) / (w - 1) changes so little that x times it makes up for that. */
double sim_log1p(double x)
{
    double w = 1 + x;
    if (w == 1 || w == SIM_INFINITY)
        return x;
    return sim_log(w) * (x / (w - 1));
}

/* ---- exp ------------------------------------------------------------------------------------- */

/* x = k ln 2 + r with |r| <= ln 2 / 2; e^r is its Taylor series up to r^14. */
double sim_exp(double x)
{
    static const double c[] = {1.0 / 2,        1.0 / 6,         1.0 / 24,        1.0 / 120,
                               1.0 / 720,      1.0 / 5040,      1.0 / 40320,     1.0 / 362880,
                               1.0 / 3628800,  1.0 / 39916800,  1.0 / 479001600, 1.0 / 6227020800.0,
                               1.0 / 87178291200.0};
    if (x != x)
        return x;
    if (x > 709.79)
        return SIM_INFINITY;
    if (x < -745.2)
        return 0;
    int k = (int)(x * 1.44269504088896340736 + (x < 0 ? -0.5 : 0.5));
    double high = x - k * LN2_HIGH, low = k * LN2_LOW, r = high - low;
    double e = 1 + (high - (low - r * r * polynomial(c, sizeof c / sizeof *c, r)));
    int half = k / 2; /* 2^k alone may be out of range where e * 2^k is not */
    return e * power_of_two(half) * power_of_two(k - half);
}

double sim_pow(double x, double y)
{
    if (y == 0 || x == 1)
        return 1;
    if (x == 0)
        return y > 0 ? 0 : SIM_INFINITY;
    return sim_exp(y * sim_log(x));
}

/* ---- the normal distribution ----------------------------------------------------------------- */

static double normal_density(double x)
{
    return 0.39894228040143267794 * sim_exp(-0.5 * x * x); /* 1 / sqrt(2 pi) */
}

/* P(0 < X < x) = density(x) * (x + x^3/3 + x^5/(3*5) + ...), for 0 <= x < 2.5. */
static double normal_middle(double x)
{
    double term = x, sum = x;
    for (int n = 3; term > sum * 1e-17; n += 2) {
        term *= x * x / n;
        sum += term;
    }
    return normal_density(x) * sum;
}

/* P(X > x) = density(x) / (x + 1/(x + 2/(x + 3/(x + ...)))), for x >= 2.5: there 60 levels are plenty. */
static double normal_tail(double x)
{
    double f = x;
    for (int n = 60; n > 0; n--)
        f = x + n / f;
    return normal_density(x) / f;
}

double sim_normal_cdf(double x)
{
    if (x != x)
        return x;
    if (x <= -2.5)
        return x < -39 ? 0 : normal_tail(-x);
    if (x >= 2.5)
        return x > 39 ? 1 : 1 - normal_tail(x);
    return x < 0 ? 0.5 - normal_middle(-x) : 0.5 + normal_middle(x);
}

/* Three rational functions after M. J. Wichura, algorithm AS 241, Applied Statistics 37 (1988): for p near
 * 1/2 in (p - 1/2)^2, for the tails in sqrt(-log p). */
static double quantile_middle(double q)
{
    static const double a[] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                               1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                               3.3430575583588128105e4, 2.5090809287301226727e3};
    static const double b[] = {1.0,                     4.2313330701600911252e1, 6.8718700749205790830e2,
                               5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4,
                               2.8729085735721942674e4, 5.2264952788528545610e3};
    double r = 0.180625 - q * q;
    return q * (polynomial(a, 8, r) / polynomial(b, 8, r));
}

static double quantile_tail(double r)
{
    static const double c[] = {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                               3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                               2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[] = {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
                               6.89767334985100004550e-1, 1.48103976427480074590e-1,
                               1.51986665636164571966e-2, 5.47593808499534494600e-4,
                               1.05075007164441684324e-9};
    return polynomial(c, 8, r - 1.6) / polynomial(d, 8, r - 1.6);
}

static double quantile_far_tail(double r)
{
    static const double e[] = {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                               2.96560571828504891230e-1, 2.65321895265761230930e-2,
                               1.24266094738807843860e-3, 2.71155556874348757815e-5,
                               2.01033439929228813265e-7};
    static const double f[] = {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
                               1.48753612908506148525e-2, 7.86869131145613259100e-4,
                               1.84631831751005468180e-5, 1.42151175831644588870e-7,
                               2.04426310338993978564e-15};
    return polynomial(e, 8, r - 5) / polynomial(f, 8, r - 5);
}

double sim_normal_quantile(double p)
{
    if (!(p > 0 && p < 1))
        return p == 0 ? -SIM_INFINITY : p == 1 ? SIM_INFINITY : SIM_NAN;
    double q = p - 0.5;
    if (q >= -0.425 && q <= 0.425)
        return quantile_middle(q);
    double r = sim_sqrt(-sim_log(q < 0 ? p : 1 - p));
    double x = r <= 5 ? quantile_tail(r) : quantile_far_tail(r);
    return q < 0 ? -x : x;
}
