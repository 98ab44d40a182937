/* filch/task.h: tasks that may wait.
 *
 *     #include <filch/task.h>
 *     #include <stdio.h>
 *
 *     static int answer(void *arg) { return *(int *)arg * 6; }
 *     int main(void)
 *     {
 *         int seven = 7, result;
 *         filch_task *t;
 *         if (filch_spawn(&t, answer, &seven) == 0 && filch_task_join(t, &result, FILCH_FOREVER) == 0)
 *             printf("%d\n", result);
 *     }
 *
 * A task is a flow of its own on the pool's workers. While it waits (for another task, a channel, a
 * lock, time, a socket) its worker runs something else. One that is queued costs 64 bytes; it gets a
 * stack when it first runs, and a task that never waits runs on the worker's own, warm stack.
 *
 * A wait that is over at once (its deadline has passed or is FILCH_NOW, the caller is cancelled) does not
 * suspend the task; but every 256 of them in a row let others run, as filch_yield does. So a loop around
 * such a wait ends if another task makes it end, also on one worker. A pinned task runs what it forked
 * then, and gives its worker up for a moment.
 *
 * After a wait a task may go on on another thread: see filch_pin in filch.h for code that relies on
 * thread-local storage. Each task has its own errno; but compilers look up where errno is once per
 * function, and go on using that thread's after a wait: read it through filch_errno() there.
 *
 * A task, job or stolen fork begins with the floating-point control words (rounding, flush to zero) of the
 * thread that made its pool, whatever ran there before, and keeps its own over waits. What is a part of the
 * caller's work begins with the caller's: FILCH_RUN, the pieces of filch_for and its like, filch_blocking.
 */
#ifndef FILCH_TASK_H
#define FILCH_TASK_H

#include <filch.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct filch_task filch_task;

/* How a task is made. Zero or null means the default; start from FILCH_TASK_ATTR_INIT. */
typedef struct filch_task_attr {
    size_t size;          /* of this structure                                                */
    const char *name;     /* in dumps and messages; borrowed until the task has ended         */
    filch_pool *pool;     /* null: the current one, or the default one                        */
    unsigned large_stack; /* 1: as large as fork-join's (filch_config.stack_size)             */
} filch_task_attr;

#define FILCH_TASK_ATTR_INIT { sizeof(filch_task_attr), NULL, NULL, 0 }

/* Starts fn(arg) as a task that nobody waits for but filch_pool_wait. On a worker it is the next to
 * run there, unless another worker is faster. Returns 0, -ENOMEM or -EPIPE (shut down). Any thread. */
FILCH_API int filch_go(void (*fn)(void *arg), void *arg);
FILCH_API int filch_go_with(const filch_task_attr *attr, void (*fn)(void *arg), void *arg);

/* The same with a handle, which is to be joined or detached, once, before its pool is destroyed. */
FILCH_API int filch_spawn(filch_task **out, int (*fn)(void *arg), void *arg);
FILCH_API int filch_spawn_with(filch_task **out, const filch_task_attr *attr, int (*fn)(void *arg),
                               void *arg);

/* Waits for the task's end and takes the handle; what it returned is in *result (may be null). A task
 * that has not begun may be run by the caller, on its own stack. Returns 0, or -ETIMEDOUT: then the handle
 * is still good. Any thread; may wait; may resume on another thread. */
FILCH_API int filch_task_join(filch_task *task, int *result, int64_t deadline);

/* Nobody will join it. Takes the handle. Any thread. */
FILCH_API void filch_task_detach(filch_task *task);

/* Would a join return at once? Any thread. */
FILCH_API int filch_task_done(const filch_task *task);

/* Lets others run: the caller goes to the end of its worker's queue. Outside a task, or pinned, the
 * thread yields. If there is nobody else, and now and then, one of the caller's own forks runs: a loop that
 * yields until a fork has done something ends. Any thread; may resume on another thread. */
FILCH_API void filch_yield(void);

/* Where the calling task's errno is now: *filch_errno() instead of errno, in functions that wait. Any
 * thread. */
FILCH_API int *filch_errno(void);

/* How large the stack is that the caller runs on (some more than asked for), and how much of it is left
 * below the caller: is there room to go deeper? On a thread's own stack, of which nothing is known here,
 * both are 0. Any thread. */
FILCH_API size_t filch_stack_size(void);
FILCH_API size_t filch_stack_left(void);

/* The calling task's name: as given, or null; outside tasks null. */
FILCH_API const char *filch_task_name(void);
/* Names it; borrowed until the task has ended. No effect outside tasks. */
FILCH_API void filch_task_rename(const char *name);

/* Sleeps until the clock (filch_clock_ns) shows at least `deadline`; filch_sleep_ns counts from now.
 * Returns 0, or -ECANCELED (its scope was cancelled). Any thread; may wait; may resume on another thread. */
FILCH_API int filch_sleep_until(int64_t deadline);
FILCH_API int filch_sleep_ns(int64_t ns);

/* Ticks at a fixed rate, however long each takes to be served:
 *
 *     filch_ticker t;
 *     filch_ticker_start(&t, 1000000);      // a millisecond
 *     while (filch_ticker_wait(&t) > 0)     // until its scope is cancelled
 *         sample();
 */
typedef struct filch_ticker {
    int64_t period_ns, next_ns; /* the next tick, as filch_clock_ns shows it */
} filch_ticker;

/* The first tick is a period from now; period_ns > 0. Does not wait. */
FILCH_API void filch_ticker_start(filch_ticker *ticker, int64_t period_ns);
/* Waits for the next tick. Returns how many have come since the last call, more than one if the caller is
 * late, or -ECANCELED (its scope was cancelled). One flow at a time; may wait; may resume on another
 * thread. */
FILCH_API int64_t filch_ticker_wait(filch_ticker *ticker);

/* ---- storage that belongs to a task --------------------------------------------------------- */

/* A key; each task has a value of its own for it, null at first. So has each submitted job and each call
 * from outside (FILCH_RUN and the like), and each poll of a stackless task. What a task forks shares its
 * values. A FILCH_RUN inside a task may run on a stack of its own, with values of its own: pass what it
 * needs. Keys are never given back. */
typedef struct filch_local {
    uint32_t number; /* internal; 0: not created */
} filch_local;

#define FILCH_LOCAL_MAX 256

/* Makes a key. `destroy` (may be null) is called with each value that is not null when its task ends, on
 * the task, before a join returns. Returns 0 or -EAGAIN (there are FILCH_LOCAL_MAX). Any thread. */
FILCH_API int filch_local_create(filch_local *key, void (*destroy)(void *value));

/* The caller's value, or null. Null on threads outside every pool. Does not wait. */
FILCH_API void *filch_local_get(filch_local key);

/* Sets it; a value that it replaces is not destroyed. Returns 0, -ENOMEM (at the first value of a task), or
 * -EPERM on threads outside every pool, which have thread-local storage. */
FILCH_API int filch_local_set(filch_local key, void *value);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_TASK_H */
