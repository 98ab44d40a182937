/* sim_park.c: parked workers, and which of them are woken.
 *
 * `parked` lists them in any order, for a random one; `parked_bits` has a bit each, for the first. */
#include "sim/sim_state.h"

static void parked_add(struct sim *s, struct sim_worker *w)
{
    uint32_t id = sim_id(s, w);
    w->parked_at = s->parked_count;
    s->parked[s->parked_count++] = id;
    s->parked_bits[id / 64] |= (uint64_t)1 << (id % 64);
}

static void parked_remove(struct sim *s, struct sim_worker *w)
{
    uint32_t id = sim_id(s, w), last = s->parked[--s->parked_count];
    s->parked[w->parked_at] = last;
    s->worker[last].parked_at = w->parked_at;
    s->parked_bits[id / 64] &= ~((uint64_t)1 << (id % 64));
}

static uint32_t parked_first(const struct sim *s)
{
    uint32_t word = 0;
    while (s->parked_bits[word] == 0)
        word++;
    return word * 64 + (uint32_t)__builtin_ctzll(s->parked_bits[word]);
}

void sim_park(struct sim *s, struct sim_worker *w, sim_time now)
{
    sim_state_set(w, WORKER_PARKED, now);
    w->count.parks++;
    parked_add(s, w);
    sim_record(s, SIM_PARKED, now, sim_id(s, w), -1, NO_TASK, 0);
    tourney_set(&s->events, sim_id(s, w), TOURNEY_NONE);
}

void sim_park_wake(struct sim *s, struct sim_worker *w, sim_time now)
{
    parked_remove(s, w);
    sim_state_set(w, WORKER_SEEKING, now);
    s->searching++;
    w->step = STEP_WAKE;
    w->count.wakes++;
    sim_record(s, SIM_WOKEN, now, sim_id(s, w), -1, NO_TASK, 0);
    sim_schedule(s, sim_id(s, w), sim_later(s, now, s->config->costs.wake), EVENT_LOOK);
}

static void wake_all(struct sim *s, sim_time now)
{
    for (uint32_t id = 0; id < s->workers; id++)
        if (s->worker[id].state == WORKER_PARKED)
            sim_park_wake(s, &s->worker[id], now);
}

/* wake=one and wake=random: one worker, if none seeks. */
static void wake_one(struct sim *s, sim_time now)
{
    enum filch_wake policy = (enum filch_wake)s->config->policy.wake;
    if (s->searching > 0)
        return;
    uint32_t rank = choice_wake_rank(policy, s->parked_count, &s->wake_rng);
    uint32_t id = policy == FILCH_WAKE_RANDOM ? s->parked[rank] : parked_first(s);
    sim_park_wake(s, &s->worker[id], now);
}

void sim_park_notify(struct sim *s, struct sim_worker *w, sim_time now)
{
    if (s->parked_count == 0)
        return;
    switch (s->config->policy.wake) {
    case FILCH_WAKE_NONE:
        break;
    case FILCH_WAKE_ALL:
        wake_all(s, now);
        break;
    case POLICY_WAKE_TARGET:
        if (!w)
            wake_one(s, now);
        else if (w->state == WORKER_PARKED)
            sim_park_wake(s, w, now);
        break;
    default:
        wake_one(s, now);
    }
}

/* The last worker that sought tells another to seek, if there is more. */
void sim_park_found(struct sim *s, sim_time now)
{
    int policy = s->config->policy.wake;
    if (s->parked_count > 0 && s->queued > 0 && (policy == FILCH_WAKE_ONE || policy == FILCH_WAKE_RANDOM))
        wake_one(s, now);
}
