/* filch/async.h: stackless tasks: a function that is called again whenever there is something to do.
 *
 *     #include <filch/async.h>
 *
 *     static enum filch_poll step(filch_async *self, void *arg)
 *     {
 *         struct box *b = arg;
 *         if (box_take(b, &b->item))      // there is something: go on with it
 *             return FILCH_READY;
 *         box_tell(b, self);              // whoever fills the box calls filch_wake(self)
 *         return FILCH_PENDING;
 *     }
 *     ...
 *     filch_async a;
 *     filch_async_init(&a, step, &box);
 *     if (filch_async_start(&a, NULL) == 0)
 *         filch_async_wait(&a, FILCH_FOREVER);
 *
 * A stackless task has no stack while it waits, only these 104 bytes. Its poll function is called once
 * after the start, and once more after a wake, by any worker, never by two at once. A wake that comes
 * while it runs makes it run again: what was written before filch_wake is seen by a poll that begins
 * later. Several wakes before a poll are one.
 *
 * Who frees it. An object in the caller's storage stays until the task has ended (filch_async_wait or
 * filch_async_done say so) and nobody will call filch_wake with it any more. One made by
 * filch_async_spawn is counted: each thread or object that keeps a pointer to it for later holds it
 * (filch_async_hold) and drops it when done; the library holds it until the task has ended. Waking and
 * aborting a task that has ended does nothing.
 */
#ifndef FILCH_ASYNC_H
#define FILCH_ASYNC_H

#include <filch.h>

#ifdef __cplusplus
extern "C" {
#endif

enum filch_poll {
    FILCH_PENDING, /* not done: whoever has something for it will wake it */
    FILCH_READY,   /* done: the poll function is not called again         */
};

typedef struct filch_async filch_async;

/* May wait as a task may, but holds a stack while it does, and then `self` is not polled again. */
typedef enum filch_poll filch_poll_fn(filch_async *self, void *arg);

struct filch_async {
    void (*run)(filch_async *self); /* internal                                              */
    uintptr_t link;                 /* internal                                              */
    const char *name;               /* or null: set it between init and start; borrowed      */
    filch_poll_fn *poll;            /* internal                                              */
    void *arg;                      /* internal                                              */
    filch_pool *pool;               /* internal                                              */
    uintptr_t ended;                /* internal                                              */
    uint32_t state;                 /* internal                                              */
    uint32_t holders;               /* internal                                              */
    uint64_t timer[5];              /* internal                                              */
};

/* Sets up an object in the caller's storage. */
FILCH_API void filch_async_init(filch_async *a, filch_poll_fn *poll, void *arg);

/* Starts it on a pool (null: the current or the default one): it will be polled soon. Borrows the
 * object. Returns 0, -EPIPE (shut down) or -ENOMEM (no default pool). Any thread. */
FILCH_API int filch_async_start(filch_async *a, filch_pool *pool);

/* The same with an object made by the library, of which the caller holds one reference (and drops it
 * with filch_async_drop). `out` may be null: then nobody but the task itself knows it. Returns 0, -EPIPE
 * or -ENOMEM. Any thread. */
FILCH_API int filch_async_spawn(filch_async **out, filch_poll_fn *poll, void *arg);
FILCH_API int filch_async_spawn_on(filch_pool *pool, filch_async **out, filch_poll_fn *poll, void *arg);

/* Has it polled. Any thread; does not wait. */
FILCH_API void filch_wake(filch_async *a);

/* Has it polled when the clock (filch_clock_ns) shows `deadline`, or up to 16 us later. Each task has one
 * such alarm: another call moves it, FILCH_FOREVER takes it back. From its own poll function only. */
FILCH_API void filch_wake_at(filch_async *self, int64_t deadline);

/* It is not polled again, and ends; a poll that runs meanwhile is not interrupted. Any thread; does not
 * wait: filch_async_wait says when it has ended. */
FILCH_API void filch_async_abort(filch_async *a);

/* Waits for its end. Returns 0, -ECANCELED (it was aborted) or -ETIMEDOUT. Any number of waiters. Not
 * from its own poll function. Any thread; may wait; may resume on another thread. */
FILCH_API int filch_async_wait(filch_async *a, int64_t deadline);
/* Has it ended? Any thread. */
FILCH_API int filch_async_done(const filch_async *a);

/* One more who keeps a pointer, and one less: the last one frees it. For objects made by
 * filch_async_spawn; nothing happens to others. Any thread. */
FILCH_API filch_async *filch_async_hold(filch_async *a);
FILCH_API void filch_async_drop(filch_async *a);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_ASYNC_H */
