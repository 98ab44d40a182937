/* filch/sync.h: locks and other things to wait for.
 *
 *     #include <filch/sync.h>
 *     #include <filch/task.h>
 *     #include <stdio.h>
 *
 *     static filch_mutex mutex;
 *     static filch_group group;
 *     static int sum;
 *
 *     static void adds(void *arg)
 *     {
 *         filch_mutex_lock(&mutex, FILCH_FOREVER);
 *         sum += *(int *)arg;
 *         filch_mutex_unlock(&mutex);
 *         filch_group_done(&group);
 *     }
 *     int main(void)
 *     {
 *         int seven = 7;
 *         filch_group_add(&group, 6);
 *         for (int i = 0; i < 6; i++)
 *             if (filch_go(adds, &seven) != 0)
 *                 return 1;
 *         filch_group_wait(&group, FILCH_FOREVER);
 *         printf("%d\n", sum);
 *     }
 *
 * All of it is for tasks, jobs and threads outside every pool alike: a task that waits is suspended and
 * its worker goes on, a thread sleeps. After a wait a task may go on on another thread; one that is
 * pinned stays, and keeps its worker from others meanwhile (filch_pin). Waits return 0, -ETIMEDOUT or
 * -ECANCELED; then nothing has changed, but for what the call says. Locks are not cancelled: a lock
 * without a deadline is had when the call returns.
 *
 * Objects are in the caller's storage. Zeroed memory is a free mutex or rwlock, a condition or group
 * that nobody waits for, a once that has not run; semaphores and barriers have an _init. _destroy frees
 * nothing: it reports an object that is still in use. Whoever knows by means of an object that the
 * others are done with it (holds the mutex, has seen the group at zero, got the semaphore's last
 * permit) may free it at once.
 */
#ifndef FILCH_SYNC_H
#define FILCH_SYNC_H

#include <filch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Who waits. Internal. */
typedef struct filch_waiters {
    void *head, *tail;
} filch_waiters;

/* ---- mutex -------------------------------------------------------------------------------- */

/* One at a time. Belongs to the task, job or thread that locked it, not to an OS thread: may be held
 * while that waits for something else. Not recursive: locking it twice is reported, and so is
 * unlocking one that is not locked. Others may be faster than those who wait, but whoever has waited
 * for a millisecond gets it before them. */
typedef struct filch_mutex {
    uint32_t state, lock;  /* internal */
    uintptr_t owner;       /* internal */
    filch_waiters waiters; /* internal */
} filch_mutex;

FILCH_API int filch_mutex_lock(filch_mutex *mutex, int64_t deadline); /* any thread; may wait     */
FILCH_API int filch_mutex_trylock(filch_mutex *mutex); /* 0 or -EBUSY; any thread                 */
FILCH_API void filch_mutex_unlock(filch_mutex *mutex); /* its holder                              */
FILCH_API void filch_mutex_destroy(filch_mutex *mutex); /* any thread; must be free               */

/* ---- readers and writers ------------------------------------------------------------------ */

/* Any number of readers, or one writer; in the order in which they came, readers next to each other
 * together. So neither starves, and a reader must not lock it for reading once more (a writer may have
 * come in between). */
typedef struct filch_rwlock {
    uint32_t state, lock;  /* internal */
    filch_waiters waiters; /* internal */
} filch_rwlock;

FILCH_API int filch_rwlock_read_lock(filch_rwlock *rwlock, int64_t deadline);  /* any thread; may wait */
FILCH_API int filch_rwlock_write_lock(filch_rwlock *rwlock, int64_t deadline); /* any thread; may wait */
FILCH_API void filch_rwlock_read_unlock(filch_rwlock *rwlock);  /* a reader                        */
FILCH_API void filch_rwlock_write_unlock(filch_rwlock *rwlock); /* the writer                      */
FILCH_API void filch_rwlock_destroy(filch_rwlock *rwlock);      /* any thread; must be free        */

/* ---- condition ---------------------------------------------------------------------------- */

/* To wait for a change of what a mutex guards. */
typedef struct filch_cond {
    uint32_t lock, unused; /* internal */
    filch_waiters waiters; /* internal */
} filch_cond;

/* Unlocks the mutex and waits for a signal, as one step; has the mutex again when it returns, whatever
 * it returns. 0 means that it was signalled; look at what you wait for again, as others may have been
 * faster. Holder of the mutex; may wait (for the mutex, beyond the deadline as well). */
FILCH_API int filch_cond_wait(filch_cond *cond, filch_mutex *mutex, int64_t deadline);
/* Wakes the one who has waited longest, or everyone. Any thread, with the mutex or without. */
FILCH_API void filch_cond_signal(filch_cond *cond);
FILCH_API void filch_cond_broadcast(filch_cond *cond);
FILCH_API void filch_cond_destroy(filch_cond *cond); /* any thread; nobody may wait                */

/* ---- semaphore ---------------------------------------------------------------------------- */

/* A number of permits, given out in the order in which they were asked for. */
typedef struct filch_sem {
    uint32_t state, lock;  /* internal */
    filch_waiters waiters; /* internal */
} filch_sem;

#define FILCH_SEM_MAX 0x3fffffffu /* permits at most */

FILCH_API void filch_sem_init(filch_sem *sem, unsigned permits);
FILCH_API int filch_sem_acquire(filch_sem *sem, int64_t deadline); /* any thread; may wait         */
FILCH_API void filch_sem_release(filch_sem *sem, unsigned permits); /* any thread                  */
FILCH_API void filch_sem_destroy(filch_sem *sem); /* any thread; nobody may wait                   */

/* ---- barrier ------------------------------------------------------------------------------ */

/* Opens when `count` have come, and is closed again for the next round. */
typedef struct filch_barrier {
    uint32_t lock, count, arrived, unused; /* internal */
    filch_waiters waiters;                 /* internal */
} filch_barrier;

FILCH_API void filch_barrier_init(filch_barrier *barrier, unsigned count);
/* Returns 1 to the one who came last, 0 to the others. One that gave up has not come. A barrier whose
 * waits have deadlines stays until all these calls have returned. Any thread; may wait. */
FILCH_API int filch_barrier_wait(filch_barrier *barrier, int64_t deadline);
FILCH_API void filch_barrier_destroy(filch_barrier *barrier); /* any thread; nobody may wait       */

/* ---- group -------------------------------------------------------------------------------- */

/* A count of what is under way, to wait until it is zero. May be used again: what is added at zero is
 * added after the waits for that zero have returned. */
typedef struct filch_group {
    uint32_t state, lock;  /* internal */
    filch_waiters waiters; /* internal */
} filch_group;

#define FILCH_GROUP_MAX 0x7fffffffu /* at once */

FILCH_API void filch_group_add(filch_group *group, unsigned n); /* any thread, before it begins    */
FILCH_API void filch_group_done(filch_group *group);            /* any thread, once for each       */
FILCH_API int filch_group_wait(filch_group *group, int64_t deadline); /* any thread; may wait      */
FILCH_API void filch_group_destroy(filch_group *group); /* any thread; at zero, nobody may wait    */

/* ---- once --------------------------------------------------------------------------------- */

typedef struct filch_once {
    filch_event done; /* internal */
    uintptr_t runner; /* internal */
} filch_once;

/* Runs fn(arg) unless that has been done with this `once`; returns when it has. The function must not
 * come back to its own `once`: reported. Any thread; may wait; may resume on another thread. */
FILCH_API void filch_once_run(filch_once *once, void (*fn)(void *arg), void *arg);

/* ---- events (filch_event: filch.h) -------------------------------------------------------- */

/* filch_event_wait with a deadline. Any thread; may wait; may resume on another thread. */
FILCH_API int filch_event_wait_until(filch_event *event, int64_t deadline);
/* Not set any more; no effect on those it has woken. Any thread that knows that the event stays. */
FILCH_API void filch_event_reset(filch_event *event);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_SYNC_H */
