/* go.h: tasks begin and end. */
#ifndef FILCH_GO_H
#define FILCH_GO_H

#include "core/wait.h"
#include "core/worker.h"

/* The task ran: tell whoever joins it. It may be gone afterwards. */
void go_finish(filch_task *t);

/* Tasks that run even if their pool is cancelled: something counts on their end. As filch_go_with and
 * filch_spawn_with. */
int go_always(const filch_task_attr *attr, void (*fn)(void *arg), void *arg);
int spawn_always(filch_task **out, const filch_task_attr *attr, int (*fn)(void *arg), void *arg);

/* Has the pool been cancelled (wait_cancel_pool)? Then what has not begun is left out as a worker begins it
 * (run.c), so that nothing is pulled out of a queue. */
static inline bool go_pool_canceled(const filch_pool *pool)
{
    return filch_load_acquire(&pool->heed) & HEED_CANCEL; /* order: a flag, as in wait_canceled */
}

/* A task whose waits the token cancels, and whose end it is told of. If the token, or the pool, is
 * cancelled before the task begins, it does not run (unless `always`) and its result is -ECANCELED. 0 or
 * -errno. */
int go_scoped(filch_pool *pool, struct wait_token *token, const char *name, int (*fn)(void *), void *arg,
              bool always);

static inline struct wait_token *go_token(const filch_task *t)
{
    return t->flags & TASK_SCOPED ? (struct wait_token *)(t->state & ~(uintptr_t)TASK_TAG) : 0;
}

#endif
