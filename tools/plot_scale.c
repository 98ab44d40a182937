#include "plot_scale.h"
#include <math.h>
#include <string.h>

struct range {
    double low, high; /* low > high: nothing yet */
};

int plot_usable(double value, int base)
{
    return isfinite(value) && fabs(value) <= 1e300 && (!base || value >= 1e-300);
}

double plot_x(const struct plot_series *s, size_t i)
{
    return s->x ? s->x[i] : (double)i;
}

int plot_point_usable(const struct plot *p, const struct plot_series *s, size_t i)
{
    return (p->kind == PLOT_BARS || plot_usable(plot_x(s, i), p->log_x)) && plot_usable(s->y[i], p->log_y);
}

int plot_interval_usable(const struct plot *p, const struct plot_series *s, size_t i)
{
    return s->low && s->high && plot_usable(s->low[i], p->log_y) && plot_usable(s->high[i], p->log_y);
}

static void include(struct range *r, double value, int base)
{
    if (!plot_usable(value, base))
        return;
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
}

/* A step of 1, 2 or 5 times a power of ten. */
static double nice_step(double span, int want)
{
    double raw = span / want, power = pow(10, floor(log10(raw))), part = raw / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

/* If few digits of large numbers differ, ticks of six digits would all be the same. */
static int tick_digits(const struct plot_scale *s, double step)
{
    if (fmax(fabs(s->from), fabs(s->to)) >= 1e7 || step < 1e-6)
        return -1;
    return step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
}

static void ticks_linear(struct plot_scale *s, int want, int widen)
{
    double step = nice_step(s->to - s->from, want);
    double first = widen ? floor(s->from / step + 1e-9) : ceil(s->from / step - 1e-9);
    double last = widen ? ceil(s->to / step - 1e-9) : floor(s->to / step + 1e-9);
    if (widen) {
        s->from = first * step;
        s->to = last * step;
    }
    s->ticks = 0;
    for (int i = 0; first + i <= last && i < PLOT_TICKS_MAX; i++)
        s->tick[s->ticks++] = first + i == 0 ? 0 : (first + i) * step;
    s->digits = tick_digits(s, step);
}

static void ticks_powers(struct plot_scale *s, int want, int widen)
{
    double unit = log(s->base);
    double from = log(s->from) / unit, to = log(s->to) / unit;
    double first = floor(from + 1e-9), last = ceil(to - 1e-9), stride = ceil((last - first) / want);
    stride = stride < 1 ? 1 : stride;
    if (widen && pow(s->base, first) > 0 && isfinite(pow(s->base, last))) {
        s->from = pow(s->base, first);
        s->to = pow(s->base, last);
    }
    s->ticks = 0;
    s->digits = -1;
    for (double e = first; e <= last && s->ticks < PLOT_TICKS_MAX; e += stride) {
        double tick = pow(s->base, e);
        if (tick >= s->from * (1 - 1e-9) && tick <= s->to * (1 + 1e-9))
            s->tick[s->ticks++] = tick;
    }
}

/* 1, 2 and 5 times each power of ten, for few decades. */
static void ticks_125(struct plot_scale *s)
{
    static const double part[] = {1, 2, 5};
    s->ticks = 0;
    s->digits = -1;
    for (double e = floor(log10(s->from)); e <= ceil(log10(s->to)); e++)
        for (int i = 0; i < 3 && s->ticks < PLOT_TICKS_MAX; i++) {
            double tick = part[i] * pow(10, e);
            if (tick >= s->from * (1 - 1e-9) && tick <= s->to * (1 + 1e-9))
                s->tick[s->ticks++] = tick;
        }
}

static void widen_point(struct range *r)
{
    if (r->low > r->high)
        *r = (struct range){0, 1};
    double least = fmax(fmax(fabs(r->low), fabs(r->high)) * 1e-8, 1e-280);
    if (r->high - r->low >= least)
        return;
    double middle = r->low / 2 + r->high / 2, reach = middle == 0 ? 1 : fabs(middle) / 2;
    *r = (struct range){middle - reach, middle + reach};
}

static void scale_from(struct plot_scale *s, struct range r, int base, int want, int widen)
{
    if (base && r.low > r.high)
        r = (struct range){1, base};
    widen_point(&r);
    *s = (struct plot_scale){.from = r.low, .to = r.high, .base = base > 2 ? 10 : base};
    want = want < 2 ? 2 : want > PLOT_TICKS_MAX / 2 ? PLOT_TICKS_MAX / 2 : want;
    double decades = base ? log10(s->to) - log10(s->from) : 0;
    if (!base || decades < 0.6)
        ticks_linear(s, want, widen && !base);
    else {
        ticks_powers(s, want, widen && (decades > 1 || s->base == 2));
        if (s->base == 10 && decades * 3 <= want)
            ticks_125(s);
    }
}

void plot_scale_x(struct plot_scale *s, const struct plot *p, int want)
{
    struct range r = {INFINITY, -INFINITY};
    for (size_t k = 0; p->kind == PLOT_LINES && k < p->n_series; k++)
        for (size_t i = 0; i < p->series[k].n; i++)
            if (plot_point_usable(p, &p->series[k], i))
                include(&r, plot_x(&p->series[k], i), p->log_x);
    for (size_t i = 0; p->kind == PLOT_GANTT && i < p->n_spans; i++) {
        include(&r, p->span[i].from, p->log_x);
        include(&r, p->span[i].to, p->log_x);
    }
    for (size_t i = 0; i < p->n_marks; i++)
        if (!p->mark[i].horizontal)
            include(&r, p->mark[i].at, p->log_x);
    scale_from(s, r, p->log_x, want, 0);
}

void plot_scale_y(struct plot_scale *s, const struct plot *p, int want)
{
    struct range r = {INFINITY, -INFINITY};
    if ((p->from_zero || p->kind == PLOT_BARS) && !p->log_y)
        include(&r, 0, 0);
    for (size_t k = 0; k < p->n_series; k++)
        for (size_t i = 0; i < p->series[k].n; i++)
            if (plot_point_usable(p, &p->series[k], i)) {
                include(&r, p->series[k].y[i], p->log_y);
                if (plot_interval_usable(p, &p->series[k], i)) {
                    include(&r, p->series[k].low[i], p->log_y);
                    include(&r, p->series[k].high[i], p->log_y);
                }
            }
    for (size_t i = 0; i < p->n_marks; i++)
        if (p->mark[i].horizontal || p->kind == PLOT_BARS)
            include(&r, p->mark[i].at, p->log_y);
    scale_from(s, r, p->log_y, want, 1);
}

double plot_scale_at(const struct plot_scale *s, double value)
{
    double at;
    if (!s->base)
        at = value / (s->to - s->from) - s->from / (s->to - s->from);
    else if (value <= 0)
        return 0;
    else
        at = (log(value) - log(s->from)) / (log(s->to) - log(s->from));
    return at >= 0 ? at <= 1 ? at : 1 : 0; /* not a number: 0 */
}

/* 1e+06 and 1e-07 as 1e6 and 1e-7. */
static void shorten_exponent(char *text)
{
    char *e = strchr(text, 'e');
    if (!e)
        return;
    char *digits = e + 1, *to = e + 1;
    if (*digits == '-')
        *to++ = *digits++;
    else if (*digits == '+')
        digits++;
    while (*digits == '0' && digits[1])
        digits++;
    memmove(to, digits, strlen(digits) + 1);
}

void plot_number(double value, char text[PLOT_NUMBER])
{
    if (value == 0)
        value = 0; /* not -0 */
    snprintf(text, PLOT_NUMBER, fabs(value) < 1e7 && value == floor(value) ? "%.0f" : "%.6g", value);
    shorten_exponent(text);
}

void plot_scale_tick(const struct plot_scale *s, double tick, char text[PLOT_NUMBER])
{
    double size = fmax(fabs(s->from), fabs(s->to));
    if (s->digits >= 0) {
        snprintf(text, PLOT_NUMBER, "%.*f", s->digits, tick);
    } else if (!s->base && (s->to - s->from) / size < 1e-3) {
        snprintf(text, PLOT_NUMBER, "%.12g", tick);
        shorten_exponent(text);
    } else {
        plot_number(tick, text);
    }
}
