/* yield.h: to let others run.
 *
 * A fiber that may leave its stack goes to the end of its worker's queue. One that may not (it is pinned,
 * or its pool joins by helping) runs what it forked, and then gives the worker up for a moment: what waits
 * there goes to other workers, and a guest may take the place. */
#ifndef FILCH_YIELD_H
#define FILCH_YIELD_H

#include "core/run.h"

/* May the fiber that runs on `me` not leave its thread? */
static inline bool yield_stays(const struct worker *me, const struct fiber *f)
{
    return f->pins > 0 || me->pool->config.join == FILCH_JOIN_HELP;
}

/* As filch_yield, for a flow whose waits end at once (budget.h): a fiber that stays gives its worker up. The
 * caller holds no lock of the core. It may go on on another thread. */
void yield_somehow(void);

#endif
