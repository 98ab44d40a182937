/* find.h: where a worker's next piece of work comes from. */
#ifndef FILCH_FIND_H
#define FILCH_FIND_H

#include "core/idle.h"

/* Everything there is, in order: own queue, inbox, injector, victims, timers, suspended fibers' jobs.
 * Does not wait. */
struct found find_work(struct worker *w);
/* Own queue, inbox, injector and timers only; 0: nothing. */
work_item find_local(struct worker *w);
/* A fiber that is to run next here, if nothing else has its turn: found in a few instructions; or 0. */
work_item find_at_hand(struct worker *w);
/* What waited for a file descriptor that is ready now, if no sleeper looks after them. */
work_item find_ready(struct worker *w);
/* For a worker that stays with one thing for long, but looks up: fires its own timers that are due, and one
 * other's, in turn. */
void find_due(struct worker *w, unsigned turn);
/* One round over the victims, all timers and suspended fibers. */
struct found find_steal(struct worker *w);

/* cycle_attempts=: how many victims may still be tried in this idle cycle, which began when the worker ran
 * out of work (cycle_began) and ends when it finds some or sleeps. */
static inline uint32_t find_cycle_left(struct worker *w)
{
    uint32_t most = w->pool->config.cycle_attempts;
    uint32_t tried = (uint32_t)counters_get(&w->counters, EV_STEAL_TRY) - w->cycle_began;
    return tried < most ? most - tried : 0;
}

static inline bool find_cycle_is_over(struct worker *w)
{
    return w->pool->config.cycle_attempts > 0 && find_cycle_left(w) == 0;
}

/* A forked job below `under`, of the given root, wherever it is. */
struct found find_descendant(struct worker *w, const filch_slot *under,
                             const struct root *root);

/* A fiber that suspends with jobs still in its slots stays visible, and is hidden again when it
 * goes on (trap: the job it waits for may be its own). */
void find_expose(struct fiber *f);
void find_hide(struct fiber *f);

#endif
