/* budget.h: a task that never has to wait must let others run now and then.
 *
 * Each operation that found at once what it wanted costs one, and so does each wait that did not suspend its
 * caller: because it was over already, its deadline has passed, or the caller is cancelled. After so many in
 * a row the task lets others run. Only a wait that really suspends it starts the count anew (wait.c).
 *
 * A task that may not leave its thread lets others run after waits alone (yield_somehow): what it forked
 * would run on its stack, and an operation that has what it wants may hold a lock that this needs. */
#ifndef FILCH_BUDGET_H
#define FILCH_BUDGET_H

#include "core/yield.h"

#include <filch/task.h>

enum { BUDGET = 256 };

__attribute__((noinline, unused)) static void budget_spent(struct worker *me, struct fiber *f)
{
    f->budget = 0;
    if (!yield_stays(me, f))
        filch_yield();
}

/* The calling flow, after the operation: it may go on on another thread. */
static inline void budget_spend_at(struct worker *me)
{
    struct fiber *f = me ? me->fiber : 0;
    if (f && ++f->budget >= BUDGET)
        budget_spent(me, f);
}

static inline void budget_spend(void)
{
    budget_spend_at(worker_self());
}

/* After a wait that did not suspend the calling flow, which holds no lock of the core. */
static inline void budget_check(struct fiber *f)
{
    if (__builtin_expect(f->budget >= BUDGET, 0)) {
        f->budget = 0;
        yield_somehow();
    }
}

static inline void budget_spend_wait(void)
{
    struct worker *me = worker_self();
    struct fiber *f = me ? me->fiber : 0;
    if (f) {
        f->budget++;
        budget_check(f);
    }
}

#endif
