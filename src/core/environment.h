/* environment.h: the variables FILCH_... that people set. */
#ifndef FILCH_ENVIRONMENT_H
#define FILCH_ENVIRONMENT_H

#include <stdbool.h>

enum flag { FLAG_STATS, FLAG_DUMP, FLAG_NO_MEMBARRIER, FLAG_NO_OVERFLOW_REPORT, FLAGS };

/* 1: true. Not set, empty or 0: false. Anything else: false, and a line that says so, once per process. */
bool environment_flag(enum flag flag);
/* The same without the line. */
bool environment_flag_set(enum flag flag);

#endif
