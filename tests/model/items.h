/* items.h: tasks, as queues hold them, for the models of queues.
 *
 * Whoever makes an item writes its contents plainly, whoever takes it reads them: a hand-over that
 * is not ordered is a data race. The checker counts that each is taken once. */
#ifndef MODEL_ITEMS_H
#define MODEL_ITEMS_H

#include "mc.h"

static unsigned contents[MC_TASKS];

static inline uintptr_t item(unsigned task)
{
    contents[task] = task + 100;
    mc_born(task);
    return task + 1; /* 0 is a slot that nobody wrote */
}

static inline unsigned task_of(uintptr_t it)
{
    return (unsigned)it - 1;
}

static inline void run(uintptr_t it)
{
    unsigned task = task_of(it);
    mc_check(task < MC_TASKS && contents[task] == task + 100);
    mc_ran(task);
}

#endif
