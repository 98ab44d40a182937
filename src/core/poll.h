/* poll.h: a pool's file descriptors: who waits for which, and what the kernel said about them.
 *
 * A pool has an epoll from the first wait on. Each descriptor is registered once with it, for both
 * directions, edge-triggered. A call that may have to wait makes a mark, tries, and if the kernel says
 * "would block" waits with that mark: if something happened to the descriptor since, it tries again.
 *
 * | field    | writer                     | reader        | invariant                              |
 * | poller   | first waiter (list lock)   | anyone        | once set, set until the pool ends      |
 * | page[]   | whoever needs it: CAS      | anyone        | once set, set until the pool ends      |
 * | gen      | lock holder                | anyone        | odd while the descriptor is closed;    |
 * |          |                            |               | differs for each that had this number  |
 * | epoch[]  | lock holder                | anyone        | counts what was reported               |
 * | added    | lock holder                | the same      | registered, with this gen as its tag   |
 * | drains   | lock holder                | anyone        | a short read leaves nothing, see below |
 * | drained  | who read less than it asked for | anyone   | gen and epoch of the mark before that  |
 * | waiting[]| lock holder                | the same      |                                        |
 * | blocked  | list lock holder           | the same      | threads that wait by themselves        |
 *
 * [Q1] epoch, gen: released under the lock after the kernel's report, acquired by poll_mark: a call made
 *      after a mark that counts a report finds what was reported.
 * [Q2] poller, page[]: released complete, acquired by lookups.
 *
 * Why nothing is missed: a waiter's call failed after its mark. What becomes ready later is reported later;
 * the report either finds the waiter in the list, or came before it was put there and has changed the
 * epoch. Before the first wait there are no reports, but registering reports what is ready then.
 * A TCP connection that a read has drained need not be tried again before there was another report. `drained`
 * says at which mark that was: what came later is reported later, and changes the epoch. [Q1] Not so once
 * its end or urgent data was reported, which does not come twice: `drains` is cleared before that epoch.
 * A report wakes all waiters of its direction: how many of them it is for, the kernel does not say.
 */
#ifndef FILCH_POLL_H
#define FILCH_POLL_H

#include "core/worker.h"

enum { POLL_LOOK = 32 }; /* events taken at a time by a worker that does not wait */

struct wait_subject;

struct poll_mark {
    uint32_t gen;
    uint32_t epoch[2];     /* in, out */
    bool drained;          /* nothing to be read: the first try is spared */
};

struct poll_batch {
    int count;
    struct os_poll_event event[OS_POLL_MOST];
};

/* Before the call. `pool` is the caller's, whose worker it is on; null outside. */
void poll_mark(filch_pool *pool, int fd, struct poll_mark *m);

/* After a read that returned less than was asked for. */
void poll_drained(filch_pool *pool, int fd, const struct poll_mark *m);

/* After a call that would block: waits until it is worth another try. `what` is OS_POLL_IN, OS_POLL_OUT
 * or both. Returns 0, -ETIMEDOUT, -ECANCELED (closed meanwhile, or the wait was cancelled), -EPERM (a
 * file: never waits), -EBADF, -ENOMEM and what else the kernel has against it. Suspends the caller. */
int poll_wait(filch_pool *pool, int fd, unsigned what, const struct poll_mark *m, int64_t deadline,
              const struct wait_subject *about);
/* The same for a thread that is in no pool, or a flow that may not leave its thread: blocks it. */
int poll_block(int fd, unsigned what, int64_t deadline);

/* A descriptor is about to be closed: all that wait for it return -ECANCELED, in every pool. Then it is
 * closed, then poll_closed. */
void poll_close(int fd);
void poll_closed(int fd);

/* ---- for workers -------------------------------------------------------------------------- */

static inline bool poll_exists(filch_pool *pool)
{
    return filch_load_acquire(&pool->poller) != 0; /* order: [Q2] */
}

/* The one sleeper that has the part (idle.c [I6]): until something is ready, a wake-up or the deadline.
 * Returns the number of events, 0, or -ETIMEDOUT. */
int poll_sleep(filch_pool *pool, struct poll_batch *out, int64_t deadline);
void poll_wake(filch_pool *pool);
/* Makes those ready that waited for this; they go to the queue of the caller's worker, or from a thread
 * that is not in its seat to the injector. */
void poll_deliver(filch_pool *pool, const struct poll_batch *batch);
void poll_deliver_outside(filch_pool *pool, const struct poll_batch *batch);
/* A look without waiting: how many events were delivered. */
int poll_look(filch_pool *pool);

/* ---- for pool.c --------------------------------------------------------------------------- */

void poll_destroy(filch_pool *pool);
void poll_reset_all(void);           /* in the child of fork(): before the pools one by one */
void poll_reset(filch_pool *pool);

#endif
