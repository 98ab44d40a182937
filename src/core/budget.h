/* budget.h: a task that always finds what it wants must let others run now and then.
 *
 * Each operation that did not have to wait costs one; after so many in a row the task goes to the end of
 * the queue. A wait starts the count anew (wait.c). */
#ifndef FILCH_BUDGET_H
#define FILCH_BUDGET_H

#include "core/run.h"

#include <filch/task.h>

enum { BUDGET = 256 };

__attribute__((noinline, unused)) static void budget_spent(struct fiber *f)
{
    f->budget = 0;
    if (f->pins == 0 && f->pool->config.join != FILCH_JOIN_HELP)
        filch_yield();
}

/* The calling flow, after the operation: it may go on on another thread. */
static inline void budget_spend_at(struct worker *me)
{
    struct fiber *f = me ? me->fiber : 0;
    if (f && ++f->budget >= BUDGET)
        budget_spent(f);
}

static inline void budget_spend(void)
{
    budget_spend_at(worker_self());
}

#endif
