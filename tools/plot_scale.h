/* plot_scale.h: from values to places on an axis, and the ticks of the axis. */
#ifndef PLOT_SCALE_H
#define PLOT_SCALE_H

#include "plot.h"

enum { PLOT_TICKS_MAX = 32, PLOT_NUMBER = 40 };

struct plot_scale {
    double from, to;               /* from < to                                      */
    int base;                      /* 0: linear                                      */
    int ticks;
    double tick[PLOT_TICKS_MAX];
    int digits;                    /* after the point, of ticks; -1: as plot_number  */
};

/* About `want` ticks. The values of bars are y, the times of a Gantt chart x. */
void plot_scale_x(struct plot_scale *s, const struct plot *p, int want);
void plot_scale_y(struct plot_scale *s, const struct plot *p, int want);

double plot_scale_at(const struct plot_scale *s, double value); /* 0 to 1; outside: the end */
void plot_scale_tick(const struct plot_scale *s, double tick, char text[PLOT_NUMBER]);
void plot_number(double value, char text[PLOT_NUMBER]);

int plot_usable(double value, int base);
double plot_x(const struct plot_series *s, size_t i);
int plot_point_usable(const struct plot *p, const struct plot_series *s, size_t i);
int plot_interval_usable(const struct plot *p, const struct plot_series *s, size_t i);

#endif
