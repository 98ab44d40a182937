/* config.h: settings, from the caller and from the environment. */
#ifndef FILCH_CONFIG_H
#define FILCH_CONFIG_H

#include <filch.h>

/* Fills `out` from the caller's configuration (or null), the environment and the defaults.
 * Returns 0 or -EINVAL. A bad environment variable is one line on stderr and is ignored. */
int config_resolve(filch_config *out, const filch_config *given);

/* Reads a whole decimal number in [low, high]; false otherwise. */
int config_number(const char *text, long low, long high, long *out);

#endif
