/* simulate.h: a run of stealing workers in virtual time.
 *
 * A run is a function of its configuration and its load: the same two give the same result with every
 * compiler and on every machine. Time is in whole nanoseconds. docs/simulator.md has the model in words.
 *
 * Cost of an operation: what follows it in the same worker begins so much later. Speeds apply to the work of
 * tasks, not to the costs of scheduling. */
#ifndef FILCH_SIM_SIMULATE_H
#define FILCH_SIM_SIMULATE_H

#include "sim/arrivals.h"
#include "sim/clock.h"
#include "sim/dist.h"
#include "sim/forktree.h"
#include "sim/histogram.h"
#include "sim/estimate.h"
#include "sim/taskfile.h"

#include <filch.h>
#include <stdbool.h>

#define SIM_MAX_WORKERS 65536
#define SIM_NO_TASK UINT32_MAX

/* ---- the workers -------------------------------------------------------------------------- */

struct sim_costs {
    sim_time exec;       /* per task, before its work                                              */
    sim_time spawn;      /* per task that a task puts into a queue                                 */
    sim_time pop;        /* a task is taken from the own queue, or from the pool's                 */
    sim_time join;       /* a parent goes on                                                       */
    sim_time probe;      /* from the choice of a victim until the look at its queue                */
    sim_time failed;     /* after a look that found nothing                                        */
    sim_time steal_near; /* after a look that took something, the victim in the own group          */
    sim_time steal_far;  /* the same, in another group                                             */
    sim_time wake;       /* from the wake-up of a worker until it looks for work                   */
    sim_time migrate;    /* added to the work of a task that begins away from where it was queued  */
    struct dist lock;    /* how long an operation holds the lock of a queue                        */
};

/* Values of the words are those of filch.h and policy/names.h. */
struct sim_policy {
    int victim, steal, ends, wake, idle, join, queue, run_next;
    uint32_t steal_permille;  /* not 0: the thief takes ceil(n * this / 1000) instead of `steal`    */
    uint32_t near_permille;   /* how many of 1,000 searches look at the own group only              */
    uint32_t spin;            /* searches in a row before the worker waits; at least 1              */
    uint32_t attempts;        /* victims per search; 0: all others                                  */
    uint32_t cycle_attempts;  /* victims until the worker waits; 0: no limit                        */
    sim_time backoff_min, backoff_max;
    uint32_t backoff_factor, backoff_jitter; /* jitter in percent, of every wait                    */
    sim_time wait;            /* idle=sleep: how long                                               */
    uint32_t global_every;    /* every so many picks the pool's queue comes first; 0: never         */
    uint32_t ring;            /* a longer queue moves half to the pool's queue; 0: no limit         */
};

struct sim_config {
    uint32_t workers;
    uint32_t group;               /* workers per group; 0: all are one group                        */
    const uint32_t *speed;        /* per worker, in thousandths; null: 1000 each                    */
    struct sim_policy policy;
    struct sim_costs costs;
    uint64_t seed;                /* of victims, waits and locks; the load has its own              */
    sim_time until;               /* the run ends here at the latest; SIM_NEVER: when all is done   */
    sim_time look_every;          /* an observer looks so often whether all is done; 0: none        */
    bool collisions;              /* accesses to one queue in one instant all fail                  */
    bool own_end;                 /* locks: one per end of a queue while it has more than one task  */
    bool record;                  /* keep the records of the run                                    */
    uint64_t skip;                /* the first so many submitted tasks are left out of `sojourn`    */
    uint64_t events_most;         /* 0: no limit                                                    */
};

/* ---- the load ----------------------------------------------------------------------------- */

enum sim_behavior {
    SIM_PLAIN,    /* a task works and ends                                                          */
    SIM_SPAWNING, /* half-way, some spawn children, and go on                                       */
    SIM_JOINING,  /* half-way, some spawn children, and wait for them                               */
    SIM_TREE,     /* the nodes of a fork-join tree                                                  */
    SIM_LISTED,   /* the lines of a task file                                                       */
    SIM_CLOSED,   /* a task that ends submits its successor                                         */
};

struct sim_load {
    enum sim_behavior behavior;
    uint64_t seed;                   /* of durations, placements and children                       */
    struct sim_arrivals arrivals;
    struct dist duration;
    uint32_t spawn_permille;         /* how many of 1,000 tasks spawn                               */
    uint32_t children_min, children_max;
    struct dist child;               /* duration of a child                                         */
    bool children_inline;            /* SIM_SPAWNING: no task spawns; the parent's work is so much longer */
    const struct forktree *tree;
    const struct dist *leaf;         /* SIM_TREE: work of the leaves, instead of the tree's; or null */
    const struct task_list *list;
};

/* ---- the result --------------------------------------------------------------------------- */

enum sim_end {
    SIM_DONE,      /* every task has ended                                                          */
    SIM_TIME_UP,   /* `until` was reached                                                           */
    SIM_DEADLOCK,  /* blocked parents wait for children that no worker can run                      */
    SIM_LIVELOCK,  /* tasks wait, workers look for them, and every access collides                  */
    SIM_STRANDED,  /* tasks wait in queues, and no worker comes to look there                       */
    SIM_EVENTS_UP, /* `events_most` was reached                                                     */
};

enum sim_record_kind {
    SIM_SUBMITTED, SIM_EXECUTING, SIM_COMPLETED, SIM_STOLE, SIM_SPAWNED, SIM_WAITS, SIM_RESUMED, SIM_FAILED,
    SIM_PARKED, SIM_WOKEN, SIM_LOCKED_OUT,
};

struct sim_record {
    sim_time at;
    uint32_t task;   /* or SIM_NO_TASK                                                              */
    uint32_t length; /* of the queue afterwards: the own one; of a steal the victim's                */
    int32_t worker;
    int32_t other;   /* the victim (stole); the parent task (spawned)                               */
    enum sim_record_kind kind;
};

struct sim_worker_result {
    uint64_t executed, stolen; /* tasks begun; tasks taken from others                              */
    uint64_t steals;           /* looks that took something                                         */
    uint64_t searches, vain;   /* searches (tries), and those that took nothing                     */
    uint64_t attempts, failed; /* looks at victims; those that found nothing, or lost a collision   */
    uint64_t contended;        /* accesses given up because of another: a lock, a collision         */
    uint64_t parks, wakes;     /* of this worker                                                    */
    uint64_t queue;            /* tasks in the queue at the end                                     */
    uint64_t longest;          /* and at most                                                       */
    sim_time busy, seeking, waiting, parked, blocked; /* until `end`                                */
};

/* A task that is not done at the end of a run that got stuck. */
struct sim_stuck {
    uint32_t task;
    int32_t worker;      /* blocked there, or in its queue                                          */
    bool queued;         /* in a queue; else it waits for `child`                                   */
    uint32_t child;
};

struct sim_name {        /* of a task: see sim_task_name                                            */
    uint32_t parent;     /* task, or SIM_NO_TASK                                                    */
    uint32_t number;     /* of submission from 1 on, or of the child from 0 on                      */
};

struct sim_result {
    enum sim_end how;
    sim_time makespan;   /* the last task ended                                                     */
    sim_time end;        /* the run ended                                                           */
    sim_time looked;     /* the first look at which all was done; SIM_NEVER                         */
    uint64_t events, submitted, completed, overflowed, migrated;
    struct sim_worker_result sum;
    struct sim_worker_result *worker;
    struct summary sojourn, queued; /* seconds from submission to end, and to begin                 */
    struct histogram *latency;      /* from submission to begin                                     */
    struct sim_record *record;
    size_t records;
    bool records_cut;    /* there were more than fit                                                */
    struct sim_name *name; /* by task, if recorded                                                  */
    size_t tasks;
    struct sim_stuck *stuck; /* the first few                                                       */
    size_t stuck_shown, stuck_count;
    uint64_t *initial;   /* tasks in each queue as the run begins, if recorded                      */
    uint32_t workers;
    const struct task_list *list; /* of the load: names of listed tasks                             */
};

/* 0, or -EINVAL (a configuration that makes no sense), -ENOMEM or -EOVERFLOW (time), with a message. */
int sim_run(const struct sim_config *config, const struct sim_load *load, struct sim_result *out,
            char *message, size_t size);
void sim_result_free(struct sim_result *r);

/* "T7", "T7.0.1", or the name in the task file. */
int sim_task_name(const struct sim_result *r, uint32_t task, char *to, size_t size);

/* Defaults of document 003: a deque per worker, own end newest, shuffled sweep, steal one, sleep 0.1 s. */
struct sim_config sim_config_003(uint32_t workers);

/* The first look, at a multiple of `every`, that sees what ended at `end`: a look precedes what ends in its
 * instant. */
static inline sim_time sim_look_after(sim_time end, sim_time every)
{
    return (end / every + 1) * every;
}

const char *sim_end_name(enum sim_end how);

#endif
