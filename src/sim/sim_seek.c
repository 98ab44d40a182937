/* sim_seek.c: how a worker without a task finds one.
 *
 * A worker takes from its own queue. If that is empty it searches: it looks at one victim after another, as
 * choice.h names them. After `spin` searches in vain it waits, as idle= says: the end of an idle cycle.
 * Looks, waits and locks that take no time happen within one event. */
#include "sim/sim_state.h"

#define NEXT_KEPT 1000 /* ns that thieves leave a task in run_next alone */

static bool may_steal(const struct sim *s)
{
    int queue = s->config->policy.queue;
    return queue != FILCH_QUEUE_SHARED && queue != FILCH_QUEUE_PRIVATE;
}

/* ---- states ------------------------------------------------------------------------------- */

static void begin_seeking(struct sim *s, struct sim_worker *w, sim_time now)
{
    if (w->state == WORKER_SEEKING)
        return;
    sim_state_set(w, WORKER_SEEKING, now);
    s->searching++;
}

static void begin_cycle(struct sim_worker *w)
{
    w->in_search = false;
    w->searches = 0;
    w->looks = 0;
}

/* The worker has something to do: its next wait is a short one again. */
static void found(struct sim *s, struct sim_worker *w, sim_time now)
{
    w->backoff = s->config->policy.backoff_min;
    begin_cycle(w);
    if (w->state != WORKER_SEEKING)
        return;
    s->searching--;
    if (s->searching == 0)
        sim_park_found(s, now);
}

static void start(struct sim *s, struct sim_worker *w, uint32_t t, sim_time now, sim_time cost)
{
    found(s, w, now);
    sim_run_task(s, w, t, sim_later(s, now, cost));
}

static void wait_for(struct sim *s, struct sim_worker *w, sim_time now, sim_time wait)
{
    sim_state_set(w, WORKER_WAITING, now);
    wait = choice_jitter(wait, s->config->policy.backoff_jitter, &w->rng);
    w->step = STEP_LOOK;
    sim_schedule(s, sim_id(s, w), sim_later(s, now, wait > 0 ? wait : 1), EVENT_LOOK);
}

/* The end of an idle cycle. */
static void rest(struct sim *s, struct sim_worker *w, sim_time now)
{
    const struct sim_policy *p = &s->config->policy;
    s->searching--;
    begin_cycle(w);
    if (p->idle == FILCH_IDLE_PARK && p->wake != FILCH_WAKE_NONE) {
        sim_park(s, w, now);
    } else if (p->idle == FILCH_IDLE_SLEEP) {
        wait_for(s, w, now, p->wait);
    } else {
        wait_for(s, w, now, w->backoff);
        w->backoff = choice_backoff(w->backoff, p->backoff_max, p->backoff_factor);
    }
}

/* ---- collisions --------------------------------------------------------------------------- */

/* With collisions an access is announced, and decided once all of the instant are. */
static void announce(struct sim *s, struct sim_worker *w, struct sim_queue *q, enum worker_step step,
                     sim_time now)
{
    if (q->touched != now)
        q->accesses = 0;
    q->touched = now;
    q->accesses++;
    w->step = step;
    sim_schedule(s, sim_id(s, w), now, EVENT_DECIDE);
}

static bool collides(struct sim *s, struct sim_worker *w, const struct sim_queue *q, sim_time now)
{
    if (!s->config->collisions || q->accesses < 2 || q->touched != now)
        return false;
    w->count.contended++;
    s->collided = true;
    sim_record(s, SIM_LOCKED_OUT, now, sim_id(s, w), w->step == STEP_STEAL ? (int32_t)w->victim : -1, NO_TASK,
               sim_queue_length(q));
    return true;
}

/* ---- the own queue ------------------------------------------------------------------------ */

static bool take_next(struct sim *s, struct sim_worker *w, sim_time now)
{
    uint32_t t = w->next;
    if (t == NO_TASK)
        return false;
    w->next = NO_TASK;
    s->queued--;
    start(s, w, t, now, s->config->costs.pop);
    return true;
}

static bool take_global(struct sim *s, struct sim_worker *w, sim_time now)
{
    if (sim_queue_length(&s->global) == 0)
        return false;
    start(s, w, sim_queue_remove(s, &s->global, false), now, s->config->costs.pop);
    return true;
}

/* Every so many picks, counted down. */
static bool global_is_due(const struct sim *s, struct sim_worker *w)
{
    if (w->until_global == 0 || --w->until_global > 0)
        return false;
    w->until_global = s->config->policy.global_every;
    return true;
}

static void take_queued(struct sim *s, struct sim_worker *w, sim_time now)
{
    uint32_t t = sim_queue_remove(s, sim_queue_of(s, w), sim_queue_owner_newest(s));
    start(s, w, t, now, s->config->costs.pop);
}

/* The frame on top may go on. */
static bool take_frame(struct sim *s, struct sim_worker *w, sim_time now)
{
    uint32_t t = w->frame;
    if (t == NO_TASK || s->task[t].pending > 0)
        return false;
    w->frame = s->task[t].below;
    found(s, w, now);
    sim_run_resume(s, w, t, now);
    return true;
}

/* True if the worker has something to do, or waits for the lock of its queue. */
static bool take_own(struct sim *s, struct sim_worker *w, sim_time now)
{
    struct sim_queue *q = sim_queue_of(s, w);
    if (take_frame(s, w, now) || (global_is_due(s, w) && q != &s->global && take_global(s, w, now)) ||
        take_next(s, w, now))
        return true;
    if (sim_queue_length(q) == 0)
        return q != &s->global && take_global(s, w, now);
    if (s->config->collisions) {
        begin_seeking(s, w, now);
        announce(s, w, q, STEP_POP, now);
    } else if (s->locks) {
        begin_seeking(s, w, now);
        w->step = STEP_POP;
        sim_schedule(s, sim_id(s, w), sim_queue_lock(s, w, q, sim_queue_owner_newest(s), now), EVENT_LOOK);
    } else {
        take_queued(s, w, now);
    }
    return true;
}

/* ---- victims ------------------------------------------------------------------------------ */

static void read_lengths(struct sim *s, struct sim_worker *w)
{
    struct choice *c = &w->choice;
    enum filch_victim policy = (enum filch_victim)s->config->policy.victim;
    if (choice_needs_lengths(policy))
        for (uint32_t v = 0; v < c->count; v++)
            w->memory.lengths[v] = sim_queue_length(&s->worker[w->base + v].queue);
    if (choice_needs_pair(policy) && c->count > 1)
        for (int i = 0; i < 2; i++)
            c->pair_length[i] = sim_queue_length(&s->worker[w->base + c->pair[i]].queue);
}

static void search_begin(struct sim *s, struct sim_worker *w)
{
    const struct sim_config *c = s->config;
    uint32_t id = sim_id(s, w), count = s->workers;
    w->base = 0;
    if (c->group && c->policy.near_permille && rng_below(&w->rng, 1000) < c->policy.near_permille) {
        w->base = id / c->group * c->group;
        count = w->base + c->group > s->workers ? s->workers - w->base : c->group;
    }
    uint32_t attempts = c->policy.attempts ? c->policy.attempts : UINT32_MAX;
    w->choice = choice_begin((enum filch_victim)c->policy.victim, id - w->base, count, attempts, &w->rng);
    read_lengths(s, w);
    w->in_search = true;
    w->count.searches++;
}

static bool cycle_is_over(const struct sim *s, const struct sim_worker *w)
{
    uint32_t most = s->config->policy.cycle_attempts;
    return most && w->looks >= most;
}

static uint32_t next_victim(struct sim *s, struct sim_worker *w)
{
    if (!may_steal(s) || cycle_is_over(s, w))
        return CHOICE_NONE;
    uint32_t v = choice_next(&w->choice, (enum filch_victim)s->config->policy.victim, &w->memory, &w->rng);
    return v == CHOICE_NONE ? v : w->base + v;
}

/* What came for the worker while it searched is seen before it parks, as in the runtime. With collisions its
 * queue is not looked at a second time in one instant. */
static bool takes_late(struct sim *s, struct sim_worker *w, sim_time now)
{
    if (s->config->policy.idle != FILCH_IDLE_PARK)
        return false;
    return s->config->collisions ? take_frame(s, w, now) : take_own(s, w, now);
}

/* A search took nothing. True if the worker has an event then, or is parked; false: it searches again. */
static bool search_over(struct sim *s, struct sim_worker *w, sim_time now, bool looked)
{
    const struct sim_policy *p = &s->config->policy;
    w->in_search = false;
    w->searches++;
    w->count.vain++;
    s->vain++;
    sim_record(s, SIM_FAILED, now, sim_id(s, w), -1, NO_TASK, 0);
    bool more = (p->idle == FILCH_IDLE_YIELD || w->searches < p->spin) && !cycle_is_over(s, w);
    if (!more && p->idle != FILCH_IDLE_YIELD) {
        if (!takes_late(s, w, now))
            rest(s, w, now);
        return true;
    }
    if (looked && more)
        return false;
    if (!more)
        begin_cycle(w);
    sim_time failed = s->config->costs.failed; /* time has to pass */
    w->step = STEP_LOOK;
    sim_schedule(s, sim_id(s, w), sim_later(s, now, failed > 0 ? failed : 1), EVENT_LOOK);
    return true;
}

static sim_time steal_cost(const struct sim *s, const struct sim_worker *w)
{
    uint32_t group = s->config->group;
    bool near = !group || sim_id(s, w) / group == w->victim / group;
    return near ? s->config->costs.steal_near : s->config->costs.steal_far;
}

static void note_steal(struct sim *s, struct sim_worker *w, uint32_t t, uint32_t left, sim_time now)
{
    w->count.stolen++;
    sim_record(s, SIM_STOLE, now, sim_id(s, w), (int32_t)w->victim, t, left);
}

/* What waits to run next at a busy victim, once it has waited for a while. */
static bool steal_next(struct sim *s, struct sim_worker *w, struct sim_worker *v, sim_time now)
{
    uint32_t t = v->next;
    if (t == NO_TASK || now - v->next_since < NEXT_KEPT)
        return false;
    v->next = NO_TASK;
    s->queued--;
    w->count.steals++;
    note_steal(s, w, t, sim_queue_length(&v->queue), now);
    start(s, w, t, now, steal_cost(s, w));
    return true;
}

/* Takes from the victim's queue. The first task is run, the others go into the own queue, oldest first. */
static bool steal(struct sim *s, struct sim_worker *w, sim_time now)
{
    struct sim_worker *v = &s->worker[w->victim];
    bool newest = sim_queue_thief_newest(s);
    uint32_t n = sim_queue_amount(s, sim_queue_length(&v->queue));
    if (n == 0) {
        if (sim_queue_length(&v->queue) == 0 && steal_next(s, w, v, now))
            return true;
        w->count.failed++;
        return false;
    }
    w->count.steals++;
    w->memory.last = w->victim - w->base;
    uint32_t first = sim_queue_remove(s, &v->queue, newest);
    note_steal(s, w, first, sim_queue_length(&v->queue), now);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t t = sim_queue_remove(s, &v->queue, newest);
        note_steal(s, w, t, sim_queue_length(&v->queue), now);
        sim_queue_put(s, w, t);
    }
    start(s, w, first, now, steal_cost(s, w));
    return true;
}

/* A look at the victim. True if it took something, or will know later. */
static bool look(struct sim *s, struct sim_worker *w, sim_time now)
{
    struct sim_queue *q = &s->worker[w->victim].queue;
    bool newest = sim_queue_thief_newest(s);
    w->count.attempts++;
    if (s->config->collisions) {
        announce(s, w, q, STEP_STEAL, now);
        return true;
    }
    if (!s->locks || sim_queue_length(q) == 0)
        return steal(s, w, now);
    if (s->config->policy.queue == FILCH_QUEUE_TRYLOCK && sim_queue_is_locked(s, q, newest, now)) {
        w->count.contended++;
        w->count.failed++;
        return false;
    }
    w->step = STEP_STEAL;
    sim_schedule(s, sim_id(s, w), sim_queue_lock(s, w, q, newest, now), EVENT_LOOK);
    return true;
}

/* True if time passes before the worker goes on. */
static bool pause_after_failure(struct sim *s, struct sim_worker *w, sim_time now)
{
    if (s->config->costs.failed == 0)
        return false;
    w->step = STEP_LOOK;
    sim_schedule(s, sim_id(s, w), sim_later(s, now, s->config->costs.failed), EVENT_LOOK);
    return true;
}

static void search(struct sim *s, struct sim_worker *w, sim_time now)
{
    bool looked = w->in_search;
    while (!s->error) {
        if (!w->in_search)
            search_begin(s, w);
        uint32_t v = next_victim(s, w);
        if (v == CHOICE_NONE) {
            if (search_over(s, w, now, looked))
                return;
            looked = false;
            continue;
        }
        looked = true;
        w->victim = v;
        w->looks++;
        if (s->config->costs.probe > 0) {
            w->step = STEP_VICTIM;
            sim_schedule(s, sim_id(s, w), sim_later(s, now, s->config->costs.probe), EVENT_LOOK);
            return;
        }
        if (look(s, w, now) || pause_after_failure(s, w, now))
            return;
    }
}

/* ---- events ------------------------------------------------------------------------------- */

void sim_seek(struct sim *s, struct sim_worker *w, sim_time now)
{
    if (take_own(s, w, now))
        return;
    begin_seeking(s, w, now);
    begin_cycle(w);
    w->step = STEP_LOOK;
    sim_schedule(s, sim_id(s, w), now, EVENT_LOOK);
}

static void look_again(struct sim *s, struct sim_worker *w, sim_time now)
{
    begin_seeking(s, w, now);
    if (!take_own(s, w, now))
        search(s, w, now);
}

static void decide_pop(struct sim *s, struct sim_worker *w, sim_time now)
{
    struct sim_queue *q = sim_queue_of(s, w);
    if (sim_queue_length(q) > 0 && !collides(s, w, q, now))
        take_queued(s, w, now);
    else
        search(s, w, now);
}

static void decide_steal(struct sim *s, struct sim_worker *w, sim_time now)
{
    bool collided = collides(s, w, &s->worker[w->victim].queue, now);
    w->count.failed += collided;
    if (!collided && steal(s, w, now))
        return;
    if (!pause_after_failure(s, w, now))
        search(s, w, now);
}

static void arrive_at_victim(struct sim *s, struct sim_worker *w, sim_time now)
{
    if (!look(s, w, now) && !pause_after_failure(s, w, now))
        search(s, w, now);
}

void sim_seek_event(struct sim *s, struct sim_worker *w, sim_time now)
{
    switch (w->step) {
    case STEP_LOOK:
    case STEP_WAKE:
        look_again(s, w, now);
        break;
    case STEP_VICTIM:
        arrive_at_victim(s, w, now);
        break;
    case STEP_POP:
        decide_pop(s, w, now);
        break;
    case STEP_STEAL:
        decide_steal(s, w, now);
        break;
    case STEP_FORK:
        sim_run_fork(s, w, now);
        break;
    case STEP_SUCCEED:
        sim_run_succeed(s, w, now);
        break;
    }
}
