/* task.h: what filch_go and filch_spawn make, and where its 64 bytes come from.
 *
 * state of a task with a handle; the one without is ORPHAN from the start (| the token of the scope
 * that it belongs to):
 *
 *     NEW ----------> RUNNING -------> DONE     popped and run by a worker; the joiner frees it
 *      | \             |    \          /
 *      |  WAITED_NEW --|--> WAITED ---           a joiner waits: its node is in the word
 *      |               \
 *      |                ORPHAN                   detached: whoever ran it frees it
 *       STALE                                    the joiner ran it itself; whoever pops it frees it
 *
 * | field   | writer                         | reader          | invariant                         |
 * | state   | CAS: worker, joiner            | the same        | see above                         |
 * | result  | who ran it, before DONE        | joiner          |                                   |
 * | link    | who has it in a list           | the same        |                                   |
 * | others  | the spawner, before the push   | who runs it; the joiner while NEW                   |
 *
 * [T1] The runner's exchange to DONE releases the result; the joiner acquires it by reading DONE, or
 *      by being woken (the exchange acquires the node that a joiner put there).
 * [T2] A joiner that made it STALE has read all it needs before: from then on the popper may free it.
 */
#ifndef FILCH_CORE_TASK_H
#define FILCH_CORE_TASK_H

#include "core/lock.h"

#include <filch/task.h>

enum {
    TASK_NEW = 0,
    TASK_RUNNING = 1,
    TASK_WAITED = 2,     /* | the joiner's node */
    TASK_DONE = 3,
    TASK_ORPHAN = 4,
    TASK_STALE = 5,
    TASK_WAITED_NEW = 6, /* | the joiner's node */
    TASK_TAG = 7,
};

/* Flags: a large stack; the function returns int; it belongs to a scope; it runs even if cancelled; it
 * is a joiner's copy, and `link` the joiner's own task. */
enum { TASK_LARGE = 1, TASK_RETURNS = 2, TASK_SCOPED = 4, TASK_ALWAYS = 8, TASK_COPY = 16 };

struct filch_task {
    union {
        void (*go)(void *arg);
        int (*spawn)(void *arg);
    } fn;
    void *arg;
    const char *name;
    uintptr_t link;
    uintptr_t state;
    filch_pool *pool;
    void *locals;      /* filch_local */
    int32_t result;
    uint32_t flags;
};

_Static_assert(sizeof(filch_task) == 64, "a cache line");

/* ---- descriptors -------------------------------------------------------------------------- */

enum { TASK_BATCH = 64 };

/* Free descriptors, by address: who takes one can fetch those that come next meanwhile, which a list that is
 * linked through them would not let him. */
struct task_box {
    struct task_box *next;  /* in one of the pool's lists */
    struct task_box *older; /* among all there are */
    unsigned count;
    filch_task *task[TASK_BATCH];
};

/* A worker's: taken from and given to without a lock; whole boxes are swapped with the pool's. */
struct task_cache {
    struct task_box *open, *other; /* other: full, empty, or there is none */
};

struct task_slab;

/* The pool's. Lock. */
struct task_store {
    uint32_t lock;
    struct task_box *full, *empty;
    struct task_box *boxes;  /* all there are */
    filch_task *loose;       /* from threads outside, or when there was no memory for a box; by `link` */
    struct task_slab *slabs, *carving;
};

/* With a cache (the calling worker's) or without (another thread). Null: no memory. */
filch_task *task_alloc(struct task_store *s, struct task_cache *c);
void task_free(struct task_store *s, struct task_cache *c, filch_task *t);
void task_store_destroy(struct task_store *s);
void task_store_reset(struct task_store *s); /* in the child of fork(): everything is free */

/* Calls fn for every descriptor that was ever handed out, free ones too. No lock. */
void task_each(struct task_store *s, void (*fn)(const filch_task *t, void *arg), void *arg);

/* ---- states ------------------------------------------------------------------------------- */

static inline unsigned task_tag(uintptr_t state)
{
    return (unsigned)(state & TASK_TAG);
}

/* Popped from a queue: is it ours to run? False: it ran already, and is ours to free. */
static inline bool task_claim(filch_task *t)
{
    uintptr_t was = filch_load_acquire(&t->state); /* order: [T2]; else the CAS decides */
    while (task_tag(was) != TASK_ORPHAN) {
        if (task_tag(was) == TASK_STALE)
            return false;
        uintptr_t now = task_tag(was) == TASK_NEW ? (uintptr_t)TASK_RUNNING
                                                  : (was & ~(uintptr_t)TASK_TAG) | TASK_WAITED;
        if (filch_cas_acq_rel(&t->state, &was, now)) /* order: [T2] against the joiner's claim */
            return true;
    }
    return true;
}

static inline bool task_is_stale(filch_task *t)
{
    return task_tag(filch_load_acquire(&t->state)) == TASK_STALE; /* order: [T2] then it is freed */
}

#endif
