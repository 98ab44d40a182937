/* go.h: tasks begin and end. */
#ifndef FILCH_GO_H
#define FILCH_GO_H

#include "core/wait.h"
#include "core/worker.h"

/* The task ran: tell whoever joins it. It may be gone afterwards. */
void go_finish(filch_task *t);

/* A task whose waits the token cancels, and whose end it is told of. If the token is cancelled before
 * the task begins, it does not run (unless `always`) and its result is -ECANCELED. 0 or -errno. */
int go_scoped(filch_pool *pool, struct wait_token *token, const char *name, int (*fn)(void *), void *arg,
              bool always);

static inline struct wait_token *go_token(const filch_task *t)
{
    return t->flags & TASK_SCOPED ? (struct wait_token *)(t->state & ~(uintptr_t)TASK_TAG) : 0;
}

#endif
