/* flow.h: who is the caller? A fiber, or a thread outside every pool, as a number. */
#ifndef FILCH_FLOW_H
#define FILCH_FLOW_H

#include "core/worker.h"

#define FLOW_THREAD ((uintptr_t)1) /* bit: a thread */

static inline uintptr_t flow_self(void)
{
    struct worker *w = worker_self();
    struct fiber *f = w ? w->fiber : 0;
    return f ? (uintptr_t)f : os_thread_mark() | FLOW_THREAD;
}

#endif
