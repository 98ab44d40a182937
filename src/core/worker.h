/* worker.h: what a worker is made of. Data only; read together with docs/glossary.md.
 *
 * A worker is a seat: queues, counters and a place in the idle set. The body in the seat is a
 * thread of the pool, made when the seat is first woken, or, in seat 0, a guest: a foreign thread
 * that works while it waits. Bodies in seats are never more than the configured number.
 */
#ifndef FILCH_WORKER_H
#define FILCH_WORKER_H

#include "base/rng.h"
#include "core/inject.h"
#include "core/lifo.h"
#include "core/locked.h"
#include "core/ring.h"
#include "core/timer.h"
#include "obs/counters.h"
#include "os/os_fp.h"
#include "policy/choice.h"

#include <filch.h>

#define WORKER_CACHE 64  /* small fibers kept hot by a worker, ... */
#define WORKER_CACHE_LARGE 8 /* ... and large ones */
#define WORKER_TIME 8     /* every so many picks the timers are looked at first */
#define WORKER_IMPATIENCE 5 /* times that a search is halved */
#define WORKER_STREAK 64 /* picks of `next` in a row before the queue has its turn */

/* What is to be done once a fiber has been left, by the next one on its own stack: nobody may
 * enter a fiber that has not left its stack. */
struct after {
    struct worker *worker;     /* whose thread makes the switch, and arrives                   */
    struct fiber *from;        /* null: nothing is to be done                                  */
    /* Publishes `from` as waiting. False: what it waits for is there, go back to it at once. Null: `from`
     * has ended. */
    bool (*publish)(struct fiber *from, void *arg);
    void *arg;
};

/* The next piece of work: see find.h. */
struct found {
    enum { FOUND_NOTHING, FOUND_ITEM, FOUND_LOOT } what;
    work_item it;
    struct loot loot;
    const struct root *root;   /* of the loot                                                   */
};

struct worker {
    /* Read by thieves and wakers. */
    struct fiber *fiber;       /* that runs here; perhaps already another: a hint               */
    struct ring ring;          /* its own queue of submitted jobs and resumable fibers          */
    struct lifo lifo;          /* the same with ends=lifo                                       */
    struct locked locked;      /* the same with a locked queue (baselines)                      */
    struct inject inbox;       /* what others submit to this worker                             */
    work_item next;            /* to run before its queue, see queue.h                          */
    uint32_t tick;             /* picks so far                                                  */
    uint32_t puts;             /* into `next`, so far                                           */
    struct timers *timers;
    uint64_t spawned, ended;   /* tasks, see job.c                                              */
    uint32_t gate;             /* see idle.c                                                    */
    uint32_t has_thread;       /* idle lock: see idle.c                                         */

    /* Written by the body in the seat only. */
    struct counters counters __attribute__((aligned(64)));
    filch_pool *pool;
    int id;
    struct rng rng;
    uint32_t searching;        /* counted in the pool's searchers                               */
    uint32_t guest;            /* the body is a guest                                           */
    int64_t backoff_ns;
    uint32_t risen;            /* how often somebody had got up when it last lay down: idle.c   */
    uint32_t calm;             /* so often in a row nobody did between two of its alarms        */
    unsigned impatience;       /* see search                                                    */
    struct fiber *cache[FIBER_KINDS][WORKER_CACHE];
    unsigned cached[FIBER_KINDS];
    struct task_cache tasks;
    unsigned streak;           /* picks of `next` in a row                                      */
    bool lent;                 /* what was put into `next` last was not taken back: a thief did */
    bool hushed;               /* whom it wakes just now it tells the others of all at once     */
    bool scouts;               /* it got up by itself, and has found no fork since: idle.c      */
    bool little;               /* what its search found can wait for the scout: idle.c [I8]     */
    uint32_t global_at;        /* the pick at which the injector comes first, counted by `tick` */
    uint32_t cycle_began;      /* attempts made until it ran out of work: cycle_attempts=       */
    struct {
        struct worker *victim;
        work_item item;
        uint32_t tick, puts;
        int64_t since_ns;
    } eyed;                    /* another's `next`, as last seen                                */
    struct {
        unsigned id;
        uint32_t tick;
        uint64_t since;
    } suspect;                 /* another that may be in a long job, as last seen: see find.c   */
    int64_t little_since_ns;   /* it began to run what it took for little; 0: it did not        */
    unsigned wary;             /* so often nothing is taken for little                          */
    int timers_of;             /* whose timers were looked at when the injector came first      */
    uint64_t barrier_ticks;    /* what a steal of a fork costs, about: see find.c               */
    struct found todo;         /* by the loop in this seat, or a fresh one that replaces a flow */
    struct body *body;         /* who sits here, see run.h                                      */
    struct after after;        /* of the fiber that is left: its stack may soon be another's    */
    os_thread thread;

    /* pool.look_lock: what the dump or the watch saw here, and since when. */
    struct {
        struct fiber *fiber;
        uint32_t tick;
        bool reported;
        bool replaced;         /* by a stand-in */
        int64_t since_ns;
    } looked;
} __attribute__((aligned(128)));

/* To find a worker by its number takes a shift. */
_Static_assert((sizeof(struct worker) & (sizeof(struct worker) - 1)) == 0, "a power of two");

struct filch_pool {
    /* Fixed at creation. */
    uint32_t magic;
    int count;                 /* seats, spare ones last */
    uint32_t number;           /* no other pool's, ever; 0: there have been too many            */
    int base;                  /* seats from here on may be on the bench: seat.c */
    struct filch_config config;
    char name[32];
    uint32_t heed;             /* what every wait has to heed: see wait.h; written under cancel_lock */
    bool plain;                /* default queue, default ends: the path without questions       */
    bool alone;                /* and one seat: nobody steals                                   */
    struct os_fp fp;           /* with these words a task or job begins: the creator's          */
    bool run_next;             /* plain, and what is made ready last runs first: see queue.h    */
    struct worker *workers;
    uintptr_t *ring_storage;
    struct choice_memory *memories; /* of each worker's choice of victims; null: it needs none */
    uint32_t *choices;         /* what the memories point to, or null                           */
    struct timers *timers;     /* one per worker */

    struct idle_set *idle;     /* idle.c */
    struct poller *poller;     /* poll.c; null until somebody waits for a file descriptor       */
    struct inject injector __attribute__((aligned(64)));
    struct locked shared;      /* queue=shared */
    struct fiber_store fibers[FIBER_KINDS];
    struct task_store tasks;
    struct timer trim;         /* set once there are too many small fibers */
    int64_t trim_ns;           /* how long small stacks that are too many stay warm             */
    uint32_t trim_set;         /* it is; 0 again when their memory was given back */
    uint32_t trim_due;

    /* Suspended fibers that still have jobs to steal. */
    uint32_t exposed_lock;
    uint32_t exposed_count;
    struct fiber *exposed;

    uint64_t pending __attribute__((aligned(64))); /* jobs submitted and not done */
    uint64_t spawned;          /* tasks from other threads                                      */
    uint32_t drained;          /* changes when nothing is left to do: futex                     */
    uint32_t draining;         /* threads that wait for that                                    */
    uint32_t closed;           /* no more jobs                                                  */
    uint32_t stop;             /* workers leave                                                 */
    uint32_t next_seat;        /* round robin                                                   */
    uint32_t visitors;         /* others that resume a fiber of this pool: it stays meanwhile   */
    uint32_t cancel_lock;      /* see wait.c */
    uint32_t look_lock;
    struct {
        uint32_t word;         /* see watch.c */
        bool has_thread;
        os_thread thread;
    } watch;
    struct filch_pool *prev, *next; /* all pools, for fork() and the overflow reporter          */
};

#define POOL_MAGIC 0xf11c4001u

/* Had the injector its turn at the last pick? */
static inline bool worker_was_global(const struct worker *w)
{
    return w->global_at - w->tick == w->pool->config.global_every;
}

static inline struct worker *worker_self(void)
{
    return os_self_get();
}

#endif
