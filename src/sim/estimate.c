#include "sim/estimate.h"
#include "sim/math.h"

void summary_add(struct summary *s, double x)
{
    if (s->n == 0 || x < s->min)
        s->min = x;
    if (s->n == 0 || x > s->max)
        s->max = x;
    s->n++;
    double before = x - s->mean;
    s->mean += before / (double)s->n;
    s->m2 += before * (x - s->mean);
}

void summary_merge(struct summary *s, const struct summary *other)
{
    if (other->n == 0)
        return;
    if (s->n == 0) {
        *s = *other;
        return;
    }
    double a = (double)s->n, b = (double)other->n, n = a + b, apart = other->mean - s->mean;
    s->mean += apart * (b / n);
    s->m2 += other->m2 + apart * apart * (a * (b / n));
    s->n += other->n;
    s->min = other->min < s->min ? other->min : s->min;
    s->max = other->max > s->max ? other->max : s->max;
}

double summary_variance(const struct summary *s)
{
    return s->n < 2 ? 0 : s->m2 / (double)(s->n - 1);
}

double estimate_half_width(const struct summary *s, double level)
{
    if (s->n < 2)
        return SIM_INFINITY;
    double t = estimate_t_quantile(0.5 + level / 2, (double)(s->n - 1));
    return t * sim_sqrt(summary_variance(s) / (double)s->n);
}

static double absolute(double x)
{
    return x < 0 ? -x : x;
}

bool estimate_enough(const struct summary *s, double level, double relative_width, uint64_t least_n)
{
    if (s->n < 2 || s->n < least_n)
        return false;
    return estimate_half_width(s, level) <= relative_width * absolute(s->mean);
}

void paired_add(struct paired *p, double first, double second)
{
    summary_add(&p->base, first);
    summary_add(&p->difference, second - first);
}

static double relative_to(double difference, double base)
{
    if (difference == 0)
        return 0;
    return difference / absolute(base);
}

struct paired_result paired_judge(const struct paired *p, double level)
{
    struct paired_result r = {
        .difference = p->difference.mean,
        .half_width = estimate_half_width(&p->difference, level),
        .relative = relative_to(p->difference.mean, p->base.mean),
        .verdict = ESTIMATE_NO_DIFFERENCE,
    };
    if (r.difference > r.half_width)
        r.verdict = ESTIMATE_WORSE;
    else if (r.difference < -r.half_width)
        r.verdict = ESTIMATE_BETTER;
    return r;
}

const char *estimate_verdict_text(enum estimate_verdict v)
{
    static const char *const texts[] = {
        [ESTIMATE_BETTER] = "better",
        [ESTIMATE_WORSE] = "worse",
        [ESTIMATE_NO_DIFFERENCE] = "no difference seen",
    };
    return texts[v];
}

double estimate_quantile(const double *sorted, size_t n, double p)
{
    if (!(p > 0))
        return sorted[0];
    if (p >= 1)
        return sorted[n - 1];
    double place = p * (double)(n - 1);
    size_t i = (size_t)place;
    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (sorted[i + 1] - sorted[i]) * (place - (double)i);
}
