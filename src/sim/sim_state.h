/* sim_state.h: what a run consists of: tasks, queues, workers. Data and the smallest operations on it.
 *
 * Files of a run, from below: sim_tasks.c (what a task does), sim_queue.c (queues and their locks),
 * sim_park.c (parked workers and their wake-ups), sim_seek.c (how a worker finds work), simulate.c (the
 * events). */
#ifndef FILCH_SIM_STATE_H
#define FILCH_SIM_STATE_H

#include "base/rng.h"
#include "policy/choice.h"
#include "policy/names.h"
#include "sim/simulate.h"
#include "sim/tourney.h"

#include <errno.h>

#define NO_TASK SIM_NO_TASK
#define NO_WORKER UINT32_MAX

/* Kinds of events, in their order within one instant. */
enum { EVENT_END = 1, EVENT_LOOK = 2, EVENT_ARRIVAL = 3, EVENT_DECIDE = 4 };

struct sim_task {
    uint64_t key;        /* its random numbers are functions of this                          */
    uint64_t node;       /* of the tree; line of the task file                                */
    sim_time submitted;
    sim_time after;      /* its work once the children are forked, or have ended              */
    uint32_t parent;     /* NO_TASK: it was submitted from outside                            */
    uint32_t number;     /* see struct sim_name                                               */
    uint32_t children;   /* that it forks half-way                                            */
    uint32_t pending;    /* children that have not ended, and that it waits for               */
    uint32_t below;      /* join=help: the frame under this one; free list: the next          */
    int32_t home;        /* the worker into whose queue it was put first; -1: the pool's      */
    int32_t at;          /* the worker that stays with it while it waits (block, help)        */
};

struct sim_queue {
    uint32_t *item;      /* a ring: item[i & mask] for i from head to tail                    */
    uint32_t head, tail; /* oldest; behind the newest                                         */
    uint32_t mask;
    uint32_t accesses;   /* collisions: how many in the instant `touched`                     */
    sim_time touched;
    sim_time free_at[2]; /* its lock, or that of the oldest and of the newest end             */
};

enum worker_state {
    WORKER_BUSY, WORKER_SEEKING, WORKER_WAITING, WORKER_PARKED, WORKER_BLOCKED, WORKER_STATES
};

/* What the next event of a seeking worker is. */
enum worker_step {
    STEP_LOOK,     /* it looks for work: own queue, then victims                              */
    STEP_WAKE,     /* it was woken, and looks for work then                                    */
    STEP_VICTIM,   /* it arrives at its victim                                                */
    STEP_POP,      /* the lock is its own: it takes from its queue                            */
    STEP_STEAL,    /* the lock is its own: it takes from the victim's                         */
    STEP_FORK,     /* the lock is its own: it puts children into its queue                    */
    STEP_SUCCEED,  /* the lock is its own: it puts a successor into another's queue           */
};

struct sim_worker {
    struct sim_queue queue;
    struct rng rng;
    struct choice choice;
    struct choice_memory memory;
    enum worker_state state, state_before;
    enum worker_step step;
    sim_time since;          /* in this state; a task begins after what it costs to take it   */
    uint32_t task;           /* that runs here, or NO_TASK                                    */
    bool forked;             /* it is behind its fork: its end is next                        */
    bool in_search;          /* `choice` goes on                                              */
    uint32_t base;           /* first worker of the search                                    */
    uint32_t victim;
    uint32_t successor;      /* STEP_SUCCEED: the task                                        */
    uint32_t frame;          /* join=help: the task that waits on top, or NO_TASK             */
    uint32_t next;           /* run_next, or NO_TASK                                          */
    sim_time next_since;
    uint32_t searches;       /* of this idle cycle                                            */
    uint32_t looks;          /* at victims, in this idle cycle                                */
    uint64_t vain_mark;      /* count.vain when sim.marked was set                            */
    uint32_t until_global;   /* picks until the pool's queue comes first                      */
    sim_time backoff;
    uint32_t parked_at;      /* place in sim.parked                                           */
    sim_time spent[WORKER_STATES];
    struct sim_worker_result count;
};

struct sim {
    const struct sim_config *config;
    const struct sim_load *load;
    struct sim_result *result;
    struct tourney events;
    struct sim_worker *worker;
    uint32_t workers;
    bool locks;              /* an operation on a queue takes time under its lock             */
    bool recording;
    bool latency;            /* the submitted tasks are accounted for one by one              */
    int error;
    const char *error_text;

    struct sim_queue global;     /* the pool's queue; with queue=shared the only one              */
    uint64_t queued;         /* tasks in all queues                                           */

    struct sim_task *task;
    uint32_t tasks, room, free_task;
    uint64_t live;           /* tasks that have not ended                                     */

    uint64_t arrived;        /* tasks submitted from outside, or lines and bursts of them     */
    uint32_t burst, burst_task;
    sim_time next_arrival;   /* SIM_NEVER: no more                                            */
    uint32_t round_robin;
    uint32_t *line_order;    /* task file: lines that are submitted, by time                  */
    size_t lines;
    uint32_t *line_first, *line_sibling; /* children of a line                                */
    uint32_t *line_waits;    /* how many lines it waits for                                   */
    uint32_t *line_used, *line_users;    /* who waits for line i: users[used[i] .. used[i+1]) */

    uint32_t running;        /* workers with a task                                           */
    uint32_t searching;      /* workers that seek                                             */
    uint32_t *parked, parked_count;
    uint64_t *parked_bits;
    struct rng wake_rng;
    uint64_t vain;           /* searches since a task began or arrived, or since the mark     */
    bool marked;             /* no task has begun or arrived since each worker's vain_mark    */
    bool collided;           /* one of them collided                                          */

    bool search_lasts;       /* other workers' events may come between two looks of a search   */
    uint32_t *lengths;       /* of all queues as its search saw them, of each worker; if no search lasts,
                                of the one that searches just now                              */
    size_t record_room;
};

/* ---- errors ------------------------------------------------------------------------------- */

static inline void sim_fail(struct sim *s, int error, const char *text)
{
    if (!s->error) {
        s->error = error;
        s->error_text = text;
    }
}

/* t + d; a time that is too large ends the run. Both are times, so the sum fits into 64 bits. */
static inline sim_time sim_later(struct sim *s, sim_time t, sim_time d)
{
    sim_time sum = t + d;
    if (__builtin_expect(sum > SIM_TIME_MAX, 0)) {
        sim_fail(s, -EOVERFLOW, "the time is beyond 18 years of virtual time");
        return SIM_TIME_MAX;
    }
    return sum;
}

static inline void sim_schedule(struct sim *s, uint32_t leaf, sim_time t, unsigned kind)
{
    tourney_set(&s->events, leaf, tourney_key(t, kind));
}

static inline uint32_t sim_id(const struct sim *s, const struct sim_worker *w)
{
    return (uint32_t)(w - s->worker);
}

static inline void sim_state_set(struct sim_worker *w, enum worker_state state, sim_time at)
{
    w->spent[w->state] += at - w->since;
    w->since = at;
    w->state_before = w->state;
    w->state = state;
}

/* A task begins or arrives: the run goes on. */
static inline void sim_progress(struct sim *s)
{
    s->vain = 0;
    s->marked = s->collided = false;
}

/* ---- sim_tasks.c -------------------------------------------------------------------------- */

uint32_t sim_task_new(struct sim *s, uint32_t parent, uint32_t number, uint64_t key, sim_time now);
void sim_task_free(struct sim *s, uint32_t t);
/* Decides on its children; returns its work until it forks, or ends. */
sim_time sim_task_begin(struct sim *s, struct sim_task *t);
uint32_t sim_task_child(struct sim *s, uint32_t parent, uint32_t i, sim_time now);
bool sim_task_joins(const struct sim *s);
int sim_tasks_init(struct sim *s);
void sim_tasks_destroy(struct sim *s);
/* Submits what is due at `now`, and finds the time of the next arrival. */
void sim_tasks_arrive(struct sim *s, sim_time now);
void sim_tasks_at_start(struct sim *s);
/* A line of the task file has ended: those that waited for it last are submitted. */
void sim_tasks_release(struct sim *s, uint64_t line, int32_t worker, sim_time now);
/* A new task of the closed load; stores the worker that gets it. */
uint32_t sim_task_successor(struct sim *s, sim_time now, uint32_t *target);
void sim_task_submit(struct sim *s, uint32_t t, int32_t worker, sim_time now);

/* ---- sim_queue.c -------------------------------------------------------------------------- */

static inline uint32_t sim_queue_length(const struct sim_queue *q)
{
    return q->tail - q->head;
}

void sim_queue_add(struct sim *s, struct sim_queue *q, uint32_t t);
uint32_t sim_queue_remove(struct sim *s, struct sim_queue *q, bool newest);
struct sim_queue *sim_queue_of(struct sim *s, struct sim_worker *w);
bool sim_queue_owner_newest(const struct sim *s);
bool sim_queue_thief_newest(const struct sim *s);
/* How many tasks a thief takes of n. */
uint32_t sim_queue_amount(const struct sim *s, uint32_t n);
/* Asks for the lock of a queue's end at `now`; returns when the operation under it is over. */
sim_time sim_queue_lock(struct sim *s, struct sim_worker *w, struct sim_queue *q, bool newest, sim_time now);
bool sim_queue_is_locked(const struct sim *s, const struct sim_queue *q, bool newest, sim_time now);
/* Puts a task into a worker's queue; one that is full moves half to the pool's. */
void sim_queue_put(struct sim *s, struct sim_worker *w, uint32_t t);

/* ---- sim_park.c --------------------------------------------------------------------------- */

void sim_park(struct sim *s, struct sim_worker *w, sim_time now);
void sim_park_wake(struct sim *s, struct sim_worker *w, sim_time now);
/* A task was put into the queue of `w` (null: of the pool). */
void sim_park_notify(struct sim *s, struct sim_worker *w, sim_time now);
/* A worker that sought has found something. */
void sim_park_found(struct sim *s, sim_time now);

/* ---- sim_seek.c --------------------------------------------------------------------------- */

/* `w` has no task: it takes one from its own queue, or looks for one. */
void sim_seek(struct sim *s, struct sim_worker *w, sim_time now);
/* The event of a worker that seeks. */
void sim_seek_event(struct sim *s, struct sim_worker *w, sim_time now);

/* ---- sim_check.c -------------------------------------------------------------------------- */

/* Returns true if time may pass between two looks of one search. */
bool sim_search_lasts(const struct sim_config *config);
/* 0, or -EINVAL and what is wrong. */
int sim_check(const struct sim_config *config, const struct sim_load *load, char *message, size_t size);

/* ---- simulate.c --------------------------------------------------------------------------- */

void sim_run_task(struct sim *s, struct sim_worker *w, uint32_t t, sim_time at);
void sim_run_resume(struct sim *s, struct sim_worker *w, uint32_t t, sim_time now);
/* The lock that the worker asked for is its own. */
void sim_run_fork(struct sim *s, struct sim_worker *w, sim_time now);
void sim_run_succeed(struct sim *s, struct sim_worker *w, sim_time now);
void sim_record(struct sim *s, enum sim_record_kind kind, sim_time at, uint32_t worker, int32_t other,
                uint32_t task, uint32_t length);

#endif
