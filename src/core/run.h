/* run.h: bodies, the loop, and the switch between fibers. */
#ifndef FILCH_RUN_H
#define FILCH_RUN_H

#include "core/find.h"
#include "core/queue.h"

/* Who sits in a seat: a pool's thread, or a guest for a while. On its thread's stack. */
struct body {
    os_context context;            /* of the thread itself, while a fiber runs                  */
    void (*root)(void *box, filch_slot *head); /* a guest's root to run first, pinned ...       */
    void *box;                     /* ... with this; then leave                                 */
    const char *name;
    bool (*until)(void *arg);      /* a guest that waits leaves when this holds, or when there  */
    void *until_arg;               /* is nothing to do                                          */
    int *errno_at;                 /* the thread's errno                                        */
    struct os_exceptions *exceptions; /* what the thread handles: nothing but while a flow of C++ does */
    struct fiber *below;           /* a guest from another seat: the fiber it waits on, or null */
};

/* Suspends the calling fiber, which must not be pinned, until somebody resumes it (run_ready, or
 * the finisher of a join). False if there is no fiber to go on with: nothing happened. */
bool run_suspend(struct worker *w, bool (*publish)(struct fiber *from, void *arg), void *arg);

/* The same, to go on with what find_local found. If false, that is back in the queue. */
bool run_suspend_for(struct worker *w, work_item it, bool (*publish)(struct fiber *from, void *arg),
                     void *arg);

/* Runs a task that its joiner claimed, on the joiner's own stack, which has no fork pending. The task is a
 * copy. */
void run_task_here(struct fiber *f, filch_task *copy);

/* A stackless task's function has returned, on the fiber that it was called on: what it left undone is
 * reported. */
void run_over(void);

/* Makes a suspended fiber runnable. Any thread. */
void run_ready_from(struct worker *me, struct fiber *f); /* me: the caller's, or null */

static inline void run_ready(struct fiber *f)
{
    run_ready_from(worker_self(), f);
}

/* Lets whoever takes it from the caller's queue end a wait (wait_answer). False if the caller is not a worker
 * of the pool with this number: nothing happened. */
bool run_call(struct wait_node *n, uint32_t pool);

/* Runs a stolen job on the caller's stack from `head` on. Returns the fiber that waited for it
 * and is now to be resumed, or null. */
struct fiber *run_loot(struct fiber *f, const struct found *found, filch_slot *head);

/* Seats a body: runs on a fiber until the body leaves. False if there was no memory for one. */
bool run_body(struct worker *w, struct body *body);

/* The calling thread works in seat 0, if that is free, until `until` holds or there is nothing to do.
 * A thread that is a worker already does so when the pool has no other help: the fiber it is on,
 * `below`, stays where it is meanwhile. */
void run_guest(filch_pool *pool, struct fiber *below, bool (*until)(void *), void *arg);

/* Tells thieves which fiber runs in a seat. */
static inline void run_enter(struct worker *w, struct fiber *f)
{
    filch_store_release(&w->fiber, f); /* order: [F1] */
}

/* The calling fiber, or null outside. */
static inline struct fiber *run_fiber(void)
{
    struct worker *w = worker_self();
    return w ? w->fiber : 0;
}

#endif
