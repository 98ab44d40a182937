/* filch/scope.h: tasks that end before the block that started them does.
 *
 *     filch_scope s;
 *     filch_scope_open(&s);
 *     for (int i = 0; i < n; i++)
 *         filch_scope_go(&s, fetch, &page[i]);   // int fetch(void *): 0, or an error
 *     int rc = filch_scope_close(&s);            // all have ended; the first error, or 0
 *
 * The first task that returns an error (not 0) cancels the others: what they wait for returns
 * -ECANCELED, those that have not begun do not run. A scope that is opened in a task of another scope
 * is cancelled with it.
 *
 * A cancelled task goes on until it returns: it should, soon. Its waits return -ECANCELED at once; so that a
 * loop around such a wait does not keep others from running, every so many of them let others run first
 * (filch/task.h). What has to be waited for in clean-up: filch_scope_shield.
 */
#ifndef FILCH_SCOPE_H
#define FILCH_SCOPE_H

#include <filch/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In the caller's storage, from open to close. */
typedef struct filch_scope {
    uintptr_t internal[32];
} filch_scope;

/* Opens it, for tasks of the current or default pool, or of a given one. Returns 0 or -ENOMEM (no
 * default pool). Any thread; closed by the same task or thread. */
FILCH_API int filch_scope_open(filch_scope *scope);
FILCH_API int filch_scope_open_on(filch_scope *scope, filch_pool *pool);
/* Opens it inside a given scope, which stays open for longer, whoever opened that: cancelled with it, and not
 * with the caller's. null pool: current or default. */
FILCH_API int filch_scope_open_in(filch_scope *scope, filch_scope *outer, filch_pool *pool);

/* Starts fn(arg) in it. If that cannot be (-ENOMEM, -EPIPE: the pool is shut down) it is as if the
 * task had failed so: the scope is cancelled, and close returns it. Returns 0 or that error. The named
 * form names the task and has a clean-up, called once after fn or instead of it. The task that opened
 * the scope, or tasks in it. */
FILCH_API int filch_scope_go(filch_scope *scope, int (*fn)(void *arg), void *arg);
FILCH_API int filch_scope_go_named(filch_scope *scope, const char *name, int (*fn)(void *arg), void *arg,
                                   void (*cleanup)(void *arg));

/* Waits until all have ended. Returns 0; or the first error that a task returned; or -ECANCELED if it was
 * cancelled otherwise, or -ETIMEDOUT if its deadline did. May wait; may resume on another thread. */
FILCH_API int filch_scope_close(filch_scope *scope);

/* After close: the name of the task that failed first, or null. */
FILCH_API const char *filch_scope_failed(const filch_scope *scope);

/* Cancels it. Any thread, while it is open. */
FILCH_API void filch_scope_cancel(filch_scope *scope);
/* Cancels it when the time comes. Once; the task or thread that opened it. */
FILCH_API void filch_scope_deadline(filch_scope *scope, int64_t deadline);
FILCH_API int filch_scope_canceled(const filch_scope *scope);

/* Is the calling task's scope (or pool) cancelled? For loops that do not wait. 0 outside tasks. Any
 * thread. */
FILCH_API int filch_canceled(void);

/* To say goodbye: calls fn(arg), in whose waits nothing is cancelled, not by the caller's scope and not by
 * its pool, but all return -ECANCELED from `deadline` on. Scopes that fn opens are cancelled then as well,
 * and closed by it. Returns what fn returns. Outside tasks and jobs, where nothing is cancelled, it only
 * calls fn.
 *
 *     static int say_goodbye(void *c) { return filch_write_all(*(int *)c, "bye\n", 4, FILCH_FOREVER); }
 *     ...
 *     if (rc == -ECANCELED)
 *         filch_scope_shield(say_goodbye, &connection, filch_after_s(1));
 */
FILCH_API int filch_scope_shield(int (*fn)(void *arg), void *arg, int64_t deadline);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_SCOPE_H */
