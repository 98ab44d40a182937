/* idle.h: who sleeps, who searches, who is woken. The protocol and its argument: idle.c. */
#ifndef FILCH_IDLE_H
#define FILCH_IDLE_H

#include "core/worker.h"

int idle_create(filch_pool *pool);
void idle_destroy(filch_pool *pool);
void idle_reset(filch_pool *pool); /* in the child of fork(): every seat is empty */

/* Work was published by the caller (before this call): a sleeping worker is woken if nobody
 * searches. Any thread; `w` is the caller's worker or null. */
void idle_notify(filch_pool *pool, struct worker *w);

/* The same for `n` flows that a timer or the poll woke: they are in the queue of the caller's worker. A
 * little of that can wait for the scout. */
enum { IDLE_LITTLE = 16 };
void idle_notify_woken(struct worker *w, size_t n);

/* The same for work that waits at one worker: that one is woken if it sleeps. */
void idle_notify_seat(filch_pool *pool, struct worker *w, int id);
/* Fills every seat, for policies under which nobody is woken. */
void idle_start_all(filch_pool *pool);

/* No thread, or one was refused that somebody asked for: whoever waits for this pool must not sleep
 * for long, but call idle_remind, which tries to get threads for what lies there. */
bool idle_crippled(filch_pool *pool);
void idle_remind(filch_pool *pool);

/* A worker without work becomes a searcher, if there are not too many already. */
bool idle_search_begin(struct worker *w);
/* It found something: the last searcher to leave wakes a successor. */
void idle_search_found(struct worker *w);

/* Sleeps until there may be work, a wake-up or `stop`. */
void idle_park(struct worker *w);
/* A thread begins in a seat that was roused: as what? */
void idle_awake(struct worker *w);
/* The other idle policies: rest without sleeping in the set. */
void idle_rest(struct worker *w);

/* Does a sleeper wait for file descriptors? A hint: if not, those who work look now and then. */
bool idle_polled(filch_pool *pool);

/* A guest takes seat 0 if nobody is in it (null otherwise), and leaves it. */
struct worker *idle_seat_enter(filch_pool *pool);
void idle_seat_leave(struct worker *w);

/* The thread in this seat is about to sleep on the stack of its fiber, and comes back. A guest leaves
 * meanwhile; the pool's own thread lends seat 0 to guests; what waits in the queue is handed to others. In
 * between the seat is not the caller's. */
struct away {
    struct body *body;
    struct fiber *fiber;
    bool guest;
};
struct away idle_seat_step_out(struct worker *w);
void idle_seat_step_in(struct worker *w, struct away away);

/* Somebody keeps worker `w` (null: the caller is none) without working: may another one take over? If
 * true, seat_stand_down follows. Any thread. */
bool seat_stand_in(filch_pool *pool, struct worker *w);
void seat_stand_down(filch_pool *pool);
/* So many workers from now on, stand-ins apart. Any thread. */
void seat_resize(filch_pool *pool, int workers);
int seat_size(const filch_pool *pool);
/* The thread leaves its seat (seat_wanted, idle_set.h), and sleeps until woken. */
void idle_seat_yield(struct worker *w);

/* A timer was set by a thread outside: somebody must be there to see it come. */
void idle_keep_time(filch_pool *pool);

/* Everyone out: wakes all threads, then waits for them. */
void idle_stop(filch_pool *pool);

/* Figures for tests and statistics. */
struct idle_figures {
    unsigned searching, sleeping, threads, most_searching;
};
struct idle_figures idle_figures(filch_pool *pool);
bool idle_asleep(filch_pool *pool, int id, bool *has_thread);
/* Nobody is active: nothing runs, and nothing will until somebody is woken. */
bool idle_quiet(filch_pool *pool);

/* Is there anything that this worker could do? (find.c) */
bool find_anything(filch_pool *pool, struct worker *w);
/* The same, but for a little in its own queue. */
bool find_much(filch_pool *pool, struct worker *w);
/* Does something wait in this worker's own queue or inbox? */
bool find_own(struct worker *w);
/* When the first timer of any worker is due; INT64_MAX: none. */
int64_t find_time(filch_pool *pool);
/* Nobody comes to this seat: what others may not take from it is handed to the pool. */
void find_evict(struct worker *w);
/* The owner leaves the seat: what is to run next there goes where others see it. */
void find_flush(struct worker *w);
/* The owner keeps its seat, but comes to none of it: all that waits there is handed to the pool. */
void find_leave_behind(struct worker *w);
/* The same for a while: what is the worker's alone stays, and somebody is told of the rest. */
void find_hand_over(struct worker *w);
/* If somebody waits for the end of everything, and this is it: tell (job.c). */
void job_drained(filch_pool *pool);
/* What a pool's thread does (run.c). */
void run_thread(void *worker);

#endif
