/* filch.h: fork-join, pools and jobs on stealing workers.
 *
 *     #include <filch.h>
 *     #include <stdio.h>
 *
 *     FILCH_TASK(long, fib, int, n)
 *     {
 *         if (n < 2) return n;
 *         FILCH_FORK(b, fib, n - 2);
 *         long a = FILCH_CALL(fib, n - 1);
 *         return a + FILCH_JOIN(fib, b);
 *     }
 *     int main(void) { printf("%ld\n", FILCH_RUN(fib, 42)); }
 *
 * Nothing has to be set up: a default pool is made on first use. Calls return 0 or a count, or
 * -errno. A mistake of the caller that can be seen is one line on stderr, then abort.
 * Each function says who may call it and whether it may wait.
 *
 * fork() by a thread outside: the child has all pools, empty, and may use them; what was queued and what
 * ran is the parent's. fork() in a task, a job or a call of filch_blocking: the child may only call exec,
 * _exit or exit (and fork() again); anything else of filch there is one line on stderr, then abort. Of what
 * it inherits see filch/io.h.
 */
#ifndef FILCH_H
#define FILCH_H

#include <filch/forkjoin.h>
#include <stddef.h>
#include <stdint.h>

#define FILCH_VERSION_MAJOR 0
#define FILCH_VERSION_MINOR 1
#define FILCH_VERSION_PATCH 0
#define FILCH_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library that was loaded. Any thread. */
FILCH_API const char *filch_version(void);

/* ---- deadlines ---------------------------------------------------------------------------- */

/* Nanoseconds of CLOCK_MONOTONIC. A call that may wait takes one as its last argument. */
#define FILCH_NOW ((int64_t)0)
#define FILCH_FOREVER INT64_MAX

/* The clock that deadlines are measured by. Any thread. */
FILCH_API int64_t filch_clock_ns(void);
/* A deadline so many nanoseconds, milliseconds, seconds from now, as in filch_read(fd, text, size,
 * filch_after_ms(500)). FILCH_NOW if that is nothing or less, FILCH_FOREVER if it is too much. Any thread.
 * A duration in place of a deadline lies far in the past, and the call ends at once. Where that happens a
 * line on stderr names the call, once per process. */
FILCH_API int64_t filch_after_ns(int64_t ns);
FILCH_API int64_t filch_after_ms(int64_t ms);
FILCH_API int64_t filch_after_s(double seconds);

/* ---- policies ----------------------------------------------------------------------------- */

/* Every enumeration has 0 = the default. The names in FILCH_POLICY are those in the comments. */
enum filch_victim {        /* victim=  whom an idle worker tries                                */
    FILCH_VICTIM_RANDOM,   /* random   all others, from a random one on (default)               */
    FILCH_VICTIM_ONE,      /* one      a single random one per search                           */
    FILCH_VICTIM_ORDER,    /* order    all others, from index 0 on                              */
    FILCH_VICTIM_LARGEST,  /* largest  all others, the longest queue first                      */
    FILCH_VICTIM_SHUFFLE,  /* shuffle  all others, in random order                              */
    FILCH_VICTIM_TWO,      /* two      the one with the longer queue of two random ones         */
    FILCH_VICTIM_LAST,     /* last     the last success first, then as random                   */
};
enum filch_steal {         /* steal=   how much of a queue of submitted jobs a thief takes       */
    FILCH_STEAL_HALF,      /* half     ceil(n/2) (default)                                      */
    FILCH_STEAL_ONE,       /* one                                                               */
    FILCH_STEAL_QUARTER,   /* quarter  ceil(n/4)                                                */
    FILCH_STEAL_THREE,     /* three    ceil(3n/4)                                               */
    FILCH_STEAL_ALL,       /* all                                                               */
    FILCH_STEAL_FLOOR,     /* floor    floor(n/2): never takes a single job                     */
};
enum filch_ends {          /* ends=    owner's and thief's end of a queue of submitted jobs      */
    FILCH_ENDS_DEFAULT,    /*          not given: fifo, for queue=locked and =trylock reverse   */
    FILCH_ENDS_FIFO,       /* fifo     both take the oldest                                     */
    FILCH_ENDS_LIFO,       /* lifo     owner takes the newest, thief the oldest                 */
    FILCH_ENDS_REVERSE,    /* reverse  owner takes the oldest, thief the newest (locked queues) */
};
enum filch_wake {          /* wake=    who is woken when work appears                            */
    FILCH_WAKE_ONE,        /* one      the first sleeping worker, if none is searching (default) */
    FILCH_WAKE_ALL,        /* all      every sleeping worker: the thundering herd, to look at   */
    FILCH_WAKE_NONE,       /* none     nobody: sleepers look again by themselves                */
    FILCH_WAKE_RANDOM,     /* random   a random sleeping worker, if none is searching           */
};
enum filch_idle {          /* idle=    what a worker does that found nothing                     */
    FILCH_IDLE_PARK,       /* park     spin, back off, then sleep until woken (default)         */
    FILCH_IDLE_YIELD,      /* yield    give up the time slice and look again                    */
    FILCH_IDLE_SLEEP,      /* sleep    sleep for backoff_max_ns and look again                  */
    FILCH_IDLE_BACKOFF,    /* backoff  sleep, doubling up to backoff_max_ns, and look again     */
};
enum filch_join_policy {   /* join=    what a join does that must wait                           */
    FILCH_JOIN_SUSPEND,    /* suspend  the fiber waits, the worker goes on (default)            */
    FILCH_JOIN_HELP,       /* help     stay on this thread, run only own descendants, sleep     */
};
enum filch_queue {         /* queue=   where submitted jobs wait                                 */
    FILCH_QUEUE_RING,      /* ring     lock-free ring per worker, overflow to the pool (default) */
    FILCH_QUEUE_SHARED,    /* shared   one locked queue for all                                 */
    FILCH_QUEUE_PRIVATE,   /* private  a locked queue per worker, no stealing                   */
    FILCH_QUEUE_LOCKED,    /* locked   locked deques, thieves wait for the lock                 */
    FILCH_QUEUE_TRYLOCK,   /* trylock  locked deques, thieves skip a locked victim              */
};

enum filch_run_next {      /* run_next= does the newest task of a worker run before its queue    */
    FILCH_RUN_NEXT_ON,     /* on       yes (default); thieves leave it alone at first           */
    FILCH_RUN_NEXT_OFF,    /* off      no: every task goes through the queue                    */
};

/* How a pool is made. Zero or null means the default; start from FILCH_CONFIG_INIT. */
typedef struct filch_config {
    size_t size;                  /* of this structure                                        */
    const char *name;             /* of the pool, in messages and statistics; borrowed        */
    int workers;                  /* 0: as many as CPUs may be used; at most FILCH_MAX_WORKERS */
    size_t stack_size;            /* of a fiber; 0: 8 MiB; 16 KiB .. 16 GiB                   */
    enum filch_victim victim;
    enum filch_steal steal;
    enum filch_ends ends;
    enum filch_wake wake;
    enum filch_idle idle;
    enum filch_join_policy join;
    enum filch_queue queue;
    unsigned ring_capacity;       /* of the ring; 0: 256; a power of two, 2 .. 65536          */
    unsigned spin_rounds;         /* rounds of stealing before backing off; 0: 64             */
    unsigned steal_attempts;      /* victims tried per round at most; 0: all others           */
    int64_t backoff_min_ns;       /* first sleep while others work; 0: 50 us                  */
    int64_t backoff_max_ns;       /* last one, 1 .. 10 ms; 0: 1 ms                            */
    void (*worker_start)(int worker, void *hook_arg); /* on each worker thread, first and ... */
    void (*worker_stop)(int worker, void *hook_arg);  /* ... last                             */
    void *hook_arg;
    unsigned no_environment;      /* 1: FILCH_WORKERS, _POLICY, _HOG_MS, _SCHEDTRACE do not apply */
    size_t task_stack_size;       /* of a task (filch/task.h); 0: 64 KiB; 16 KiB .. 16 GiB    */
    int64_t hog_ns;               /* name tasks that keep a worker for longer; 0: off; >= 1 ms */
    size_t stand_ins;             /* workers that take over for those kept by hogs or by blocking
                                     calls (filch/blocking.h); 0: none                        */
    int64_t schedtrace_ns;        /* a line on stderr so often, while anything runs: who sleeps, who
                                     searches, how long the queues are; 0: off; >= 1 ms       */
    int max_workers;              /* the most that filch_pool_resize may ask for; 0: it may not be called */
    enum filch_run_next run_next;
    unsigned cycle_attempts;      /* victims tried at most until the worker sleeps; 0: no limit   */
    unsigned backoff_factor;      /* of a sleep to the one before; 0: 2; 1 .. 16                 */
    unsigned backoff_jitter;      /* percent of a sleep that are random, 0 .. 100                */
    unsigned global_every;        /* every so many picks the pool's queue comes first; 0: 61     */
} filch_config;

#define FILCH_CONFIG_INIT { sizeof(filch_config), NULL, 0, 0, FILCH_VICTIM_RANDOM,                \
        FILCH_STEAL_HALF, FILCH_ENDS_DEFAULT, FILCH_WAKE_ONE, FILCH_IDLE_PARK, FILCH_JOIN_SUSPEND,   \
        FILCH_QUEUE_RING, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, FILCH_RUN_NEXT_ON, 0, 0,\
        0, 0 }
#define FILCH_MAX_WORKERS 1024

/* Reads a policy string ("victim=one,steal=half,wake=all,idle=park,join=help,queue=ring,ends=lifo,
 * run_next=off,spin=64,attempts=4,cycle_attempts=100,backoff_us=50..1000,backoff_factor=2,
 * backoff_jitter=50,global_every=61,ring=256,spares=1") into `config`. Returns 0, or -EINVAL with `config`
 * unchanged and one line in `message` (size bytes, may be null; 256 hold any) that quotes what is wrong and
 * lists what is known. Any thread. */
FILCH_API int filch_config_parse(filch_config *config, const char *policy, char *message,
                                 size_t size);

/* ---- pools -------------------------------------------------------------------------------- */

/* Makes a pool. null config: the default one. Fewer threads than asked is not an error: the pool
 * works with those it got, down to none (then whoever waits does the work). Returns 0, -EINVAL or
 * -ENOMEM. Any thread. */
FILCH_API int filch_pool_create(filch_pool **out, const filch_config *config);

/* Waits for all jobs, stops the workers, frees the pool. Not from one of its own jobs, and not while
 * another thread still calls something with this pool. */
FILCH_API void filch_pool_destroy(filch_pool *pool);

/* No more jobs are accepted (-EPIPE); waits for those already there. Returns 0 or -ETIMEDOUT; from
 * one of the pool's own jobs -EDEADLK, and the pool is closed. May be called again; what is still running
 * after a time-out, filch_pool_dump says (filch/dump.h). Any thread; may wait. */
FILCH_API int filch_pool_shutdown(filch_pool *pool, int64_t deadline);

/* Cancels every task of the pool: what they wait for, now or later, returns -ECANCELED (but for events,
 * jobs and the closing of scopes, which end with what they wait for). Tasks and jobs that have not begun,
 * and those that are made later, are left out: only their clean-ups run, once; a task's result and
 * filch_job_wait are -ECANCELED. Loops return it too (filch/par.h). What has begun goes on, and so do forks,
 * FILCH_RUN, and stackless tasks, which may ask filch_canceled. For good; to be followed by
 * filch_pool_shutdown. Returns 0, or -EAGAIN if the machine refused (waits that begin later are
 * cancelled all the same). Any thread. */
FILCH_API int filch_pool_cancel(filch_pool *pool);

/* The pool made on first use; null only if there is no memory for one. Any thread. */
FILCH_API filch_pool *filch_pool_default(void);

/* The pool whose worker runs the caller, or null. Any thread. */
FILCH_API filch_pool *filch_pool_current(void);

/* Number of workers that there can be, stand-ins among them (which may be more than the threads that could be
 * made); 0 for null. */
FILCH_API int filch_pool_workers(const filch_pool *pool);

/* How many work at once from now on, stand-ins apart: 1 .. filch_config.max_workers. More are woken at once;
 * those that are too many stop when they have done what they are at, and hand over what is queued there.
 * Returns 0 or -EINVAL. Any thread. */
FILCH_API int filch_pool_resize(filch_pool *pool, int workers);
/* As configured, or as last resized; 0 for null. Any thread. */
FILCH_API int filch_pool_size(const filch_pool *pool);

/* Number of the worker that runs the caller, or -1 on a thread outside every pool. */
FILCH_API int filch_worker_id(void);

/* ---- jobs --------------------------------------------------------------------------------- */

/* A job in the caller's storage: must stay until it is done. Also what filch_fork uses. */
typedef struct filch_job {
    void (*fn)(void *arg);
    void *arg;
    void (*cleanup)(void *arg); /* called once after fn, or null                               */
    const char *name;           /* or null                                                    */
    uintptr_t state;            /* internal                                                   */
    filch_pool *pool;           /* internal                                                   */
    uintptr_t link;             /* internal                                                   */
    filch_slot *slot;           /* internal                                                   */
} filch_job;

/* Where a job is put. A number from 0 on is a worker (modulo their number). */
#define FILCH_ANYWHERE (-1)    /* on a worker its own queue, from outside the pool's             */
#define FILCH_ROUND_ROBIN (-2) /* the next worker's                                              */
#define FILCH_RANDOM (-3)      /* a random worker's                                              */

FILCH_API void filch_job_init(filch_job *job, void (*fn)(void *arg), void *arg);

/* Hands the job to the current or default pool, or to a given one. Borrows the job until it is
 * done. Returns 0, -EPIPE (shut down) or -ENOMEM (no default pool). Any thread. */
FILCH_API int filch_submit(filch_job *job, int where);
FILCH_API int filch_submit_on(filch_pool *pool, filch_job *job, int where);

/* The same for an array; returns the number accepted (all) or -errno (none). */
FILCH_API int filch_submit_array_on(filch_pool *pool, filch_job *jobs, size_t n, int where);

/* A copy of the job kept by the library; nobody can wait for it but filch_pool_wait. Any thread. */
FILCH_API int filch_submit_detached_on(filch_pool *pool, void (*fn)(void *arg), void *arg,
                                       void (*cleanup)(void *arg), int where);

/* Waits until the job is done (its clean-up included); meanwhile a foreign thread works as a
 * guest. Returns 0, -ETIMEDOUT, or -ECANCELED: its pool was cancelled before it began. Any thread; may wait;
 * may resume on another thread. */
FILCH_API int filch_job_wait(filch_job *job, int64_t deadline);
FILCH_API int filch_job_done(const filch_job *job);

/* Waits until every job submitted to the pool is done. Not from one of its own jobs (-EDEADLK).
 * Returns 0 or -ETIMEDOUT. The caller works as a guest meanwhile. */
FILCH_API int filch_pool_wait(filch_pool *pool, int64_t deadline);

/* ---- fork-join as plain functions --------------------------------------------------------- */

/* Makes fn(arg) stealable; the job is in the caller's storage. Any thread (on one outside every
 * pool the job goes to the default pool). */
FILCH_API void filch_fork(filch_job *job, void (*fn)(void *arg), void *arg);

/* Ends it: runs it now unless it was stolen. In reverse order of the forks; anything else is
 * reported. May wait; may resume on another thread. */
FILCH_API void filch_join(filch_job *job);

/* f(fa) and g(ga) in parallel: f runs at once, g is stealable meanwhile. Any thread; may wait. */
FILCH_API void filch_join2(void (*f)(void *), void *fa, void (*g)(void *), void *ga);

/* Runs fn(arg) on the pool (null: current or default) and returns when it is done. */
FILCH_API void filch_run_on(filch_pool *pool, void (*fn)(void *arg), void *arg);

/* ---- waiting by other means --------------------------------------------------------------- */

/* A flag that can be waited for. In a job the wait suspends it (its pending forks stay visible to
 * thieves); on a foreign thread it blocks the thread. Zeroed memory is an event that is not set. */
typedef struct filch_event {
    uintptr_t state; /* internal */
} filch_event;

FILCH_API void filch_event_set(filch_event *event);                   /* any thread              */
FILCH_API int filch_event_is_set(const filch_event *event);           /* any thread              */
FILCH_API void filch_event_wait(filch_event *event);                  /* any number of waiters   */

/* Between these, the caller stays on its thread: joins help instead of suspending. For code that
 * relies on thread-local storage or holds a lock owned by the thread. Nest. No effect outside.
 * A pinned wait keeps its worker: with one worker, do not wait so for a job that is not a
 * descendant. The same holds for all waits in jobs of a pool with join=help; fork-join in a task of such a
 * pool runs on the task's own stack. */
FILCH_API void filch_pin(void);
FILCH_API void filch_unpin(void);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_H */
