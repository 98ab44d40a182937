/* filch/blocking.h: calls that block a thread, made without blocking a worker.
 *
 *     static int lookup(void *arg) { struct query *q = arg; return getaddrinfo(q->host, ...); }
 *     ...
 *     int rc = filch_blocking(lookup, &query);   // the task waits, its worker goes on
 */
#ifndef FILCH_BLOCKING_H
#define FILCH_BLOCKING_H

#include <filch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls fn(arg) on a thread kept for such calls, and returns what it returned; errno is as fn left it.
 * The calling task or job waits. On a thread outside every pool and in pinned code it is a plain call.
 *
 * Such threads are made when they are needed, up to FILCH_BLOCKING of them (environment; 1 to 1024,
 * usually 512) in the process; more calls wait for their turn. They end after five seconds without a call.
 * If no thread is to be had at all, fn is called in place. fn has a stack of 256 KiB, belongs to no pool
 * and sees no filch_local.
 * Any thread; may wait; may resume on another thread. */
FILCH_API int filch_blocking(int (*fn)(void *arg), void *arg);

/* Around code that blocks its thread and cannot be moved to another: if the pool has a stand-in to spare
 * (filch_config.stand_ins), that works in the caller's stead until filch_blocking_leave, and what lies
 * behind the caller goes on. The caller keeps its thread, its locals and everything it may call.
 *
 *     filch_blocking_enter();
 *     poll(fds, n, -1);
 *     filch_blocking_leave();
 *
 * A microsecond or a few if a stand-in is to be had, next to nothing if not. May be nested; each job
 * leaves as often as it enters. Nothing happens on threads outside every pool. */
FILCH_API void filch_blocking_enter(void);
FILCH_API void filch_blocking_leave(void);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_BLOCKING_H */
