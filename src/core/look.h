/* look.h: a picture of a pool's flows, taken from outside while they run.
 *
 * Fibers, waits, tasks and names are copied by os_peek: nothing is locked, nobody is stopped, and
 * nothing that was seen is believed further than it can do harm. */
#ifndef FILCH_LOOK_H
#define FILCH_LOOK_H

#include "core/wait.h"
#include "core/worker.h"

enum { LOOK_NAME = 40, LOOK_GROUPS = 64 };
enum look_state { LOOK_RUNNING, LOOK_READY, LOOK_WAITING };

/* A task or job that has begun. */
struct look_flow {
    const struct fiber *fiber;
    const filch_task *task;          /* null: a job                                            */
    const filch_task *under;         /* whose join runs it on the same stack, or null          */
    const struct wait_token *token;  /* its scope, or null                                     */
    enum look_state state;
    int worker;                      /* that it is on, or -1                                   */
    char name[LOOK_NAME];            /* "": none                                               */
    struct wait_subject about;       /* if it waits                                            */
    const void *object;
    int64_t since_ns, deadline;
    bool stolen;                     /* it waits for a fork that was stolen                    */
    const char *stack_low, *stack_high; /* to be scanned                                       */
    size_t parent, cursor;           /* of the search for circles                              */
    uint32_t colour;
};

/* Tasks that have not begun, of the same function and name. */
struct look_group {
    uintptr_t fn;
    const char *at;
    size_t count;
};

/* Which flow has this task, or belongs to this token. Sorted. */
struct look_key {
    const void *key;
    size_t flow;
};

struct look {
    filch_pool *pool;
    struct look_flow *flow;
    size_t flows, room, missed;      /* missed: no memory for them */
    struct look_key *task, *token;
    size_t tasks, tokens, task_room;
    size_t running, ready, waiting;  /* flows in each state                                     */
    struct look_group group[LOOK_GROUPS];
    size_t groups, queued, ended;    /* queued: not begun; ended: not joined                    */
};

void look_take(struct look *l, filch_pool *pool);
void look_drop(struct look *l);

/* The flows that `f` cannot go on without, one after the other by `cursor`; null: no more. */
struct look_flow *look_needs(struct look *l, struct look_flow *f);

/* A string that may be gone; what cannot be printed becomes '?'. */
void look_text(char *to, size_t size, const char *from);

/* The next circle of flows that wait for each other: a flow of it, or null. From there `parent`
 * leads around. Call with *from = 0 first. */
struct look_flow *look_circle(struct look *l, size_t *from);

#endif
