/* student.c: estimate_t_quantile(). */
#include "sim/math.h"
#include "sim/estimate.h"

enum { MANY = 10000 }; /* degrees of freedom from which the normal quantile and four corrections do */

/* Stirling's series; below 12 the recursion log gamma(x) = log gamma(x + 1) - log x comes first. x > 0. */
static double log_gamma(double x)
{
    double product = 1;
    for (; x < 12; x++)
        product *= x;
    double y = 1 / (x * x);
    double series = (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y / 1188)))) / x;
    return (x - 0.5) * sim_log(x) - x + 0.91893853320467274178 + series - sim_log(product);
}

/* The continued fraction of the incomplete beta function, by Lentz's method; for x < (a + 1) / (a + b + 2)
 * it needs some ten steps. None of its denominators is 0 there. */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), f = d;
    for (int m = 1; m < 1000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        f *= c * d;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        double step = c * d;
        f *= step;
        if (step > 1 - 1e-15 && step < 1 + 1e-15)
            break;
    }
    return f;
}

struct student {
    double df;
    double log_beta; /* log B(df / 2, 1 / 2) */
};

/* P(T > t) for t > 0: half the incomplete beta function of x = df / (df + t^2). */
static double tail(const struct student *s, double t)
{
    double a = s->df / 2, ratio = t * t / s->df, x = 1 / (1 + ratio), y = ratio / (1 + ratio);
    double front = sim_exp(-a * sim_log1p(ratio) + 0.5 * sim_log(y) - s->log_beta);
    if (x < (a + 1) / (a + 2.5))
        return 0.5 * front * beta_fraction(a, 0.5, x) / a;
    return 0.5 - front * beta_fraction(0.5, a, y);
}

static double density(const struct student *s, double t)
{
    double power = -(s->df + 1) / 2 * sim_log1p(t * t / s->df);
    return sim_exp(power - s->log_beta) / sim_sqrt(s->df);
}

/* The first terms of the quantile in powers of 1 / df (Cornish and Fisher). z is the normal one. */
static double expansion(double z, double df)
{
    double q = z * z, f = 1 / df;
    double g1 = (q + 1) / 4, g2 = ((5 * q + 16) * q + 3) / 96;
    double g3 = (((3 * q + 19) * q + 17) * q - 15) / 384;
    double g4 = ((((79 * q + 776) * q + 1482) * q - 1920) * q - 945) / 92160;
    return z * (1 + f * (g1 + f * (g2 + f * (g3 + f * g4))));
}

/* t > 0 with P(T > t) = q. Newton steps; one that leaves what is known to hold the root is replaced by
 * its middle. */
static double root(const struct student *s, double q, double t)
{
    double low = 0, high = t;
    while (tail(s, high) > q && high < 1e150) {
        low = high;
        high *= 2;
    }
    t = low > 0 ? low : high;
    for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
        double excess = tail(s, t) - q;
        if (excess > 0)
            low = t;
        else
            high = t;
        double next = t + excess / density(s, t);
        if (!(next > low && next < high))
            next = low + (high - low) / 2;
        double step = next > t ? next - t : t - next;
        t = next;
        if (step <= 1e-13 * t)
            break;
    }
    return t;
}

double estimate_t_quantile(double p, double df)
{
    if (!(p > 0 && p < 1 && df > 0))
        return SIM_NAN;
    if (p == 0.5)
        return 0;
    double z = -sim_normal_quantile(p < 0.5 ? p : 1 - p), t = 0;
    if (df >= MANY) {
        t = expansion(z, df);
    } else {
        struct student s = {df, log_gamma(df / 2) + log_gamma(0.5) - log_gamma((df + 1) / 2)};
        t = root(&s, p < 0.5 ? p : 1 - p, df > 4 ? expansion(z, df) : z);
    }
    return p < 0.5 ? -t : t;
}
