/* exact_fit.h: may the exact engine run what is set up for the event engine? */
#ifndef FILCH_SIM_EXACT_FIT_H
#define FILCH_SIM_EXACT_FIT_H

#include "sim/exact.h"
#include "sim/simulate.h"

/* True if both engines give the same makespan, steals and failures. */
bool exact_fits(const struct sim_config *config, const struct sim_load *load);

/* The costs of a tree's nodes; a steal costs what one in the own group does. */
struct forktree_costs exact_costs(const struct sim_config *config);

#endif
