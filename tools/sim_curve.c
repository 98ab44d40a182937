/* sim_curve.c: lines of means with their intervals. */
#include "sim.h"

struct sim_curve *sim_curve_new(struct sim_job *job)
{
    return findings_keep(job->findings, sizeof(struct sim_curve));
}

void sim_curve_add(struct sim_curve *c, size_t line, double x, const struct summary *s)
{
    size_t i = c->n[line];
    double half = s->n < 2 ? 0 : estimate_half_width(s, 0.95);
    if (i == SIM_CURVE_POINTS)
        return;
    c->x[line][i] = x;
    c->y[line][i] = s->mean;
    c->low[line][i] = s->mean - half;
    c->high[line][i] = s->mean + half;
    c->n[line]++;
}

void sim_curve_show(struct sim_job *job, struct sim_curve *c, struct plot p)
{
    size_t lines = 0;
    while (lines < SIM_CURVE_LINES && c->n[lines] > 0) {
        c->series[lines] = (struct plot_series){.name = c->name[lines], .n = c->n[lines], .x = c->x[lines],
                                                .y = c->y[lines], .low = c->low[lines],
                                                .high = c->high[lines]};
        lines++;
    }
    p.kind = PLOT_LINES;
    p.n_series = lines;
    p.series = c->series;
    findings_plot(job->findings, &p);
}
