/* filch/future.h: a call that runs meanwhile, and its result.
 *
 *     filch_future *f;
 *     void *text;
 *     if (filch_future_start(&f, load, "a.txt") == 0) {
 *         ... something else ...
 *         filch_future_await(f, &text, FILCH_FOREVER);
 *     }
 *
 * A future is a task (filch/task.h) with a pointer as its result.
 */
#ifndef FILCH_FUTURE_H
#define FILCH_FUTURE_H

#include <filch/task.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct filch_future filch_future;

/* Starts fn(arg) on the current or default pool, or as `attr` says (null: the same). The future is to be
 * awaited or dropped, once, before its pool is destroyed. Returns 0, -ENOMEM or -EPIPE (shut down); then
 * *out is null. Any thread. */
FILCH_API int filch_future_start(filch_future **out, void *(*fn)(void *arg), void *arg);
FILCH_API int filch_future_start_with(filch_future **out, const filch_task_attr *attr,
                                      void *(*fn)(void *arg), void *arg);

/* Waits for the result and takes the future; *result (may be null) is what fn returned. If it has not
 * begun, a task that awaits it runs it itself. Returns 0; or -ECANCELED if the pool was cancelled before it
 * began: *result is null; or -ETIMEDOUT: then the future is still good. One at a time. Any thread; may
 * wait; may resume on another thread. */
FILCH_API int filch_future_await(filch_future *future, void **result, int64_t deadline);

/* Would it return at once? Any thread. */
FILCH_API int filch_future_done(const filch_future *future);

/* Nobody wants the result: takes the future. fn runs all the same. Any thread. */
FILCH_API void filch_future_drop(filch_future *future);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_FUTURE_H */
