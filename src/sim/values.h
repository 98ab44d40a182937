/* values.h: several values of one setting in text, for sweeps.
 *
 *     one,half,all        these
 *     2..8                2, 3, ... 8
 *     0..100+25           0, 25, ... 100
 *     1..1024*2           1, 2, 4, ... 1024
 *     100ns..1ms*10       times, with a unit at both ends
 *     lognormal:1,0.5;exp:1
 *
 * Items are separated by commas, and may be ranges. Where commas belong to the values, semicolons separate:
 * always in `burst` and `speeds`, in a distribution that has a colon, and in every text with a semicolon.
 * `backoff` and `children` are ranges themselves: theirs are not expanded. */
#ifndef FILCH_SIM_VALUES_H
#define FILCH_SIM_VALUES_H

#include "sim/setup.h"

enum { VALUES_MOST = 1000 }; /* of one setting */

struct values {
    size_t n;
    char (*value)[SETUP_VALUE];
};

/* 0, or -EINVAL (-ENOMEM) with a message that names the setting; then there is nothing to free. */
int values_parse(struct values *v, enum setup_key key, const char *text, char *message, size_t size);
void values_free(struct values *v);

#endif
