/* find.c: own queue, inbox, injector, victims.
 *
 * The worker's `fiber` pointer is a hint that thieves follow: it may point to a fiber that has
 * left meanwhile, runs elsewhere or rests. That does no harm: fibers stay mapped while the pool
 * lives, and a job found in any of them may be taken. [F1]: released by the switch, acquired
 * here, so that a fresh fiber's fields are seen.
 */
#include "core/find.h"
#include "core/idle_set.h"
#include "core/poll.h"
#include "core/queue.h"

#define BATCH 64
#define LOOK_PAUSES 8   /* between two looks at a fork */
#define BARRIER_US 20   /* a barrier does not take longer */
#define KEPT_US 1000    /* who has picked nothing for so long is in a long job */

static struct found found_item(work_item it)
{
    return (struct found){.what = it ? FOUND_ITEM : FOUND_NOTHING, .it = it};
}

/* Takes a share of a list; all but the first go to the worker's own queue. */
static size_t draw(struct worker *w, struct inject *q, size_t most, work_item *first)
{
    work_item batch[BATCH];
    size_t n = inject_take(q, batch, most < BATCH ? most : BATCH);
    if (n == 0)
        return 0;
    *first = batch[0];
    queue_push_many(w, batch + 1, n - 1);
    return n;
}

static work_item from_injector(struct worker *w)
{
    filch_pool *pool = w->pool;
    size_t count = inject_count(&pool->injector);
    work_item first = 0;
    if (count > 0)
        EV_N(w, INJECTED, draw(w, &pool->injector, count / (unsigned)pool->count + 1, &first));
    return first;
}

static work_item from_inbox(struct worker *w, struct worker *owner)
{
    work_item first = 0;
    if (inject_count(&owner->inbox) > 0)
        EV_N(w, INBOX, draw(w, &owner->inbox, BATCH, &first));
    return first;
}

/* Timers of `v` that are due: what they wake goes into the queue of `w`. */
static bool from_timers(struct worker *w, struct worker *v)
{
    if (timers_next(v->timers) == INT64_MAX)
        return false;
    int64_t now = os_clock_ns();
    if (timers_next(v->timers) > now)
        return false;
    w->hushed = true;
    size_t n = timers_run(v->timers, now);
    w->hushed = false;
    EV_N(w, TIMER, n);
    idle_notify_woken(w, n);
    return n > 0;
}

void find_due(struct worker *w, unsigned turn)
{
    (void)from_timers(w, w);
    (void)from_timers(w, &w->pool->workers[turn % (unsigned)w->pool->count]);
}

/* File descriptors that are ready, if nobody sleeps who would see it: what they wake goes into the
 * queue of `w`. */
static bool from_poll(struct worker *w)
{
    if (!poll_exists(w->pool) || idle_polled(w->pool))
        return false;
    w->hushed = true;
    int n = poll_look(w->pool);
    w->hushed = false;
    EV_N(w, READY, n);
    idle_notify_woken(w, (size_t)n);
    return n > 0;
}

static bool inbox_open(struct worker *w, struct worker *victim)
{
    return w->pool->config.queue != FILCH_QUEUE_PRIVATE && inject_count(&victim->inbox) > 0;
}

/* May `w` take what waits at `v`? With private queues only its own. */
static bool reachable(struct worker *w, struct worker *v)
{
    return v == w || v->pool->config.queue != FILCH_QUEUE_PRIVATE;
}

/* What waits at a victim, forks aside. */
static work_item from_waiting(struct worker *w, struct worker *victim)
{
    work_item it;
    switch (queue_steal(w, victim, &it)) {
    case QUEUE_TAKEN:
        return it;
    case QUEUE_CONTENDED:
        EV(w, STEAL_SKIP);
        return 0;
    case QUEUE_EMPTY:
        break;
    }
    it = inbox_open(w, victim) ? from_inbox(w, victim) : 0;
    if (!it && queue_steal_next(w, victim, &it) != QUEUE_TAKEN)
        it = 0;
    if (!it)
        EV(w, STEAL_EMPTY);
    return it;
}

/* From a worker that is kept by a long job while things wait there: if all others have enough to do, nobody
 * searches who would take them. One is watched at a time. Who searches goes by the policy. */
static work_item from_kept(struct worker *w)
{
    filch_pool *pool = w->pool;
    struct worker *v = &pool->workers[w->suspect.id];
    bool picks = filch_load_relaxed(&v->tick) != w->suspect.tick; /* order: a hint */
    if (w->searching)
        return 0;
    if (v != w && !picks && reachable(w, v) && find_own(v)) {
        if (os_ticks() - w->suspect.since < KEPT_US * os_ticks_per_us())
            return 0;
        EV(w, STEAL_TRY);
        return from_waiting(w, v);
    }
    w->suspect.id = (w->suspect.id + 1) % (unsigned)pool->count;
    w->suspect.tick = filch_load_relaxed(&pool->workers[w->suspect.id].tick); /* order: a hint */
    w->suspect.since = os_ticks();
    return 0;
}

/* global_every=: has the injector its turn at this pick? `tick` may have passed the pick that was due: a
 * yield counts one more. */
static inline bool global_turn(const struct worker *w, uint32_t tick)
{
    return (int32_t)(tick - w->global_at) >= 0;
}

/* What is looked at now and then although there is something in the worker's own queue: also what is
 * another's, who may be in a long job while nobody searches. */
static __attribute__((noinline)) work_item in_turn(struct worker *w, uint32_t tick)
{
    filch_pool *pool = w->pool;
    if (tick % WORKER_TIME == 0)
        (void)from_timers(w, w);
    if (!global_turn(w, tick))
        return 0;
    w->global_at = tick + pool->config.global_every;
    w->timers_of = w->timers_of + 1 < pool->count ? w->timers_of + 1 : 0;
    (void)from_poll(w);
    (void)from_timers(w, &pool->workers[w->timers_of]);
    work_item it = from_injector(w);
    return it ? it : from_kept(w);
}

static __attribute__((noinline)) work_item from_outside(struct worker *w)
{
    work_item it = from_inbox(w, w);
    if (!it)
        it = from_injector(w);
    return it || !from_timers(w, w) ? it : queue_take(w);
}

/* Ends the wait that an item stands for, if it is a call; 0: nothing is left to be run. */
static inline work_item answered(work_item it)
{
    struct wait_node *call = item_as_call(it);
    if (__builtin_expect(!call, 1))
        return it;
    struct fiber *f = wait_answer(call);
    if (!f)
        return 0;
    filch_prefetch(f->task); /* read when it ends, and in a crowd that is soon */
    return item_fiber(f);
}

static inline work_item pick(struct worker *w)
{
    work_item it = 0;
    uint32_t tick = w->tick + 1;
    filch_store_relaxed(&w->tick, tick); /* order: a hint to thieves */
    if (tick % WORKER_TIME == 0 || global_turn(w, tick))
        it = in_turn(w, tick);
    if (!it)
        it = queue_take(w);
    return it ? it : from_outside(w);
}

work_item find_local(struct worker *w)
{
    work_item it, found;
    do
        it = pick(w);
    while (!(found = answered(it)) && it);
    return found;
}

/* Has something else its turn than what is next? Then find_local decides. */
static inline bool others_turn(struct worker *w, uint32_t tick)
{
    return w->streak >= WORKER_STREAK || global_turn(w, tick) ||
           (tick % WORKER_TIME == 0 && timers_next(w->timers) != INT64_MAX);
}

work_item find_at_hand(struct worker *w)
{
    uint32_t tick = w->tick + 1;
    work_item it = filch_load_relaxed(&w->next); /* order: a hint; only thieves empty it meanwhile */
    bool fiber = item_as_fiber(it) || item_as_call(it);
    if (!fiber || others_turn(w, tick) || w->guest || seat_wanted(w) || !queue_take_next(w, &it))
        return 0;
    w->streak++;
    filch_store_relaxed(&w->tick, tick); /* order: a hint to thieves */
    return answered(it);
}

work_item find_ready(struct worker *w)
{
    return from_poll(w) ? answered(queue_take(w)) : 0;
}

/* ---- victims ------------------------------------------------------------------------------ */

static struct found found_loot(struct worker *w, struct fiber *f, enum slots_result result,
                               const struct loot *loot)
{
    struct found found = {.loot = *loot};
    switch (result) {
    case SLOTS_TAKEN:
        EV(w, STEAL_JOB);
        found.what = FOUND_LOOT;
        found.root = filch_load_relaxed(&f->root); /* order: [S1] set before the fork */
        break;
    case SLOTS_CONTENDED:
        EV(w, STEAL_SKIP);
        break;
    case SLOTS_LOST:
        EV(w, STEAL_LOST);
        break;
    case SLOTS_EMPTY:
        break;
    }
    return found;
}

/* ---- forks, and what it costs to take one ---------------------------------------------------
 *
 * The barrier of a steal costs thief and victim several microseconds, or less than one: it is measured.
 * Many forks do not last as long. So one is taken only after it was there for that time: then its victim
 * has lost at most as much again by not having been robbed at once. A short loop that is called over and
 * over is left alone: each call publishes with another function than the last (par/split.c). A loop that has
 * lasted long enough says so (fiber.lasting): it need not be watched. */

/* The fork that cannot be taken without a barrier, or null. `top` is read once: it may be gone the next
 * time, and the fiber's memory with it (see slots_peek). */
static filch_slot *needs_barrier(struct slots *s)
{
    filch_slot *top = filch_load_relaxed(&s->top); /* order: a hint */
    if (!top || top >= s->end || s->fenced)
        return 0;
    if (!slots_stealable(filch_load_relaxed(&top->fn))) /* order: a hint */
        return 0;
    return filch_load_relaxed(&top->claim) & CLAIMED ? 0 : top; /* order: a hint */
}

/* False if it went away meanwhile. */
static bool outlasts_barrier(struct worker *w, struct slots *s, filch_slot *top)
{
    slot_fn fn = filch_load_relaxed(&top->fn); /* order: hints, all of them */
    uint64_t since = os_ticks();
    while (os_ticks() - since < w->barrier_ticks) {
        os_pause_for(LOOK_PAUSES);
        if (filch_load_relaxed(&s->top) != top || filch_load_relaxed(&top->fn) != fn) /* order: as above */
            return false;
    }
    return true;
}

/* A moving average, between what is not worth a thought and what only a disturbed measurement shows. */
static void note_barrier(struct worker *w, uint64_t took)
{
    uint64_t us = os_ticks_per_us(), most = BARRIER_US * us;
    took = took < us ? us : took > most ? most : took;
    w->barrier_ticks = w->barrier_ticks ? w->barrier_ticks - w->barrier_ticks / 4 + took / 4 : took;
}

static struct found from_fiber(struct worker *w, struct fiber *f, const filch_slot *under)
{
    struct loot loot = {0};
    filch_slot *barrier = needs_barrier(&f->slots);
    /* order: a hint */
    if (barrier && !filch_load_relaxed(&f->lasting) && !outlasts_barrier(w, &f->slots, barrier))
        return (struct found){0};
    uint64_t since = barrier ? os_ticks() : 0;
    enum slots_result result = slots_steal(&f->slots, &f->lineage, under, &loot);
    if (barrier && (result == SLOTS_TAKEN || result == SLOTS_LOST))
        note_barrier(w, os_ticks() - since);
    return found_loot(w, f, result, &loot);
}

/* True if it took something, which is in `found` then. */
static inline __attribute__((always_inline)) bool from_victim(struct worker *w, struct worker *victim,
                                                              struct found *found)
{
    EV(w, STEAL_TRY);
    struct fiber *f = filch_load_acquire(&victim->fiber); /* order: [F1] */
    if (f)
        *found = from_fiber(w, f, 0);
    if (f && found->what != FOUND_NOTHING)
        return true;
    work_item it = from_waiting(w, victim);
    if (it)
        *found = found_item(it);
    return it != 0;
}

/* Lock held. */
static void find_unexpose(filch_pool *pool, struct fiber *f)
{
    if (f->exposed_prev)
        f->exposed_prev->exposed_next = f->exposed_next;
    else
        pool->exposed = f->exposed_next;
    if (f->exposed_next)
        f->exposed_next->exposed_prev = f->exposed_prev;
    f->exposed = 0;
    filch_store_relaxed(&pool->exposed_count, pool->exposed_count - 1); /* order: the lock; a hint */
}

void find_expose(struct fiber *f)
{
    filch_pool *pool = f->pool;
    lock_acquire(&pool->exposed_lock);
    f->exposed = 1;
    f->exposed_prev = 0;
    f->exposed_next = pool->exposed;
    if (pool->exposed)
        pool->exposed->exposed_prev = f;
    pool->exposed = f;
    filch_store_relaxed(&pool->exposed_count, pool->exposed_count + 1); /* order: [I1] then notify */
    lock_release(&pool->exposed_lock);
}

void find_hide(struct fiber *f)
{
    lock_acquire(&f->pool->exposed_lock);
    if (f->exposed)
        find_unexpose(f->pool, f);
    lock_release(&f->pool->exposed_lock);
}

/* Lock held: the fiber does not join anything before it was taken off the list. */
static struct found from_suspended(struct worker *w, struct fiber *f)
{
    struct loot loot = {0};
    enum slots_result result = slots_steal_at_rest(&f->slots, &f->lineage, &loot);
    return found_loot(w, f, result, &loot);
}

/* Suspended fibers that left jobs behind: few, so a locked walk. One with nothing left is taken
 * off the list, or sleepers would look again for ever. */
static struct found from_exposed(struct worker *w)
{
    filch_pool *pool = w->pool;
    struct found found = {0};
    /* order: a hint; sleepers look after their fence [I1] */
    if (filch_load_relaxed(&pool->exposed_count) == 0 || !lock_try(&pool->exposed_lock))
        return found;
    struct fiber *next;
    for (struct fiber *f = pool->exposed; f && found.what == FOUND_NOTHING; f = next) {
        next = f->exposed_next;
        found = from_suspended(w, f);
        if (!slots_peek(&f->slots))
            find_unexpose(pool, f);
    }
    lock_release(&pool->exposed_lock);
    return found;
}

/* How much waits at `v`, of whose queue so much counts. */
static unsigned waiting_at(struct worker *v, size_t queued)
{
    struct fiber *f = filch_load_acquire(&v->fiber); /* order: [F1] */
    return (unsigned)queued + (unsigned)inject_count(&v->inbox) +
           (f && slots_peek(&f->slots) ? 1 : 0);
}

/* How much of what waits at `v` may `w` take? */
static unsigned load_of(struct worker *w, struct worker *v)
{
    size_t queued = queue_size(v);
    return waiting_at(v, v == w ? queued : choice_amount(w->pool->config.steal, queued));
}

/* What waits at another worker, `next` included, however much a thief may take of it. */
static uint32_t length_of(struct worker *w, uint32_t v)
{
    struct worker *victim = &w->pool->workers[v];
    bool next = filch_load_relaxed(&victim->next) != 0; /* order: a hint */
    return waiting_at(victim, queue_size(victim)) + next;
}

static void read_lengths(struct worker *w, struct choice *c, const struct choice_memory *m,
                         enum filch_victim policy)
{
    if (c->count < 2)
        return;
    for (uint32_t v = 0; choice_needs_lengths(policy) && v < c->count; v++)
        m->lengths[v] = v == c->self ? 0 : length_of(w, v);
    for (int i = 0; choice_needs_pair(policy) && i < 2; i++)
        c->pair_length[i] = length_of(w, c->pair[i]);
}

/* One search: the victims that the policy names, until one has something. The policy is a constant where this
 * is compiled for the default. */
static inline __attribute__((always_inline)) struct found search_victims(struct worker *w,
                                                                         enum filch_victim policy)
{
    filch_pool *pool = w->pool;
    struct found found = {0};
    uint32_t v, attempts = pool->config.steal_attempts;
    if (__builtin_expect(pool->config.cycle_attempts > 0, 0)) {
        uint32_t left = find_cycle_left(w);
        attempts = left < attempts ? left : attempts;
    }
    struct choice_memory *m = choice_needs_memory(policy) ? &pool->memories[w->id] : 0;
    struct choice c = choice_begin(policy, (uint32_t)w->id, (uint32_t)pool->count, attempts, &w->rng);
    if (choice_needs_lengths(policy) || choice_needs_pair(policy))
        read_lengths(w, &c, m, policy);
    do
        v = choice_next(&c, policy, m, &w->rng);
    while (v != CHOICE_NONE && !from_victim(w, &pool->workers[v], &found));
    if (policy == FILCH_VICTIM_LAST && v != CHOICE_NONE)
        m->last = v;
    return found;
}

static __attribute__((noinline)) struct found by_other_policy(struct worker *w, enum filch_victim policy)
{
    return find_cycle_is_over(w) ? (struct found){0} : search_victims(w, policy);
}

static struct found by_policy(struct worker *w)
{
    enum filch_victim policy = w->pool->config.victim;
    if (__builtin_expect(policy == FILCH_VICTIM_RANDOM, 1))
        return search_victims(w, FILCH_VICTIM_RANDOM);
    return by_other_policy(w, policy);
}

/* Whoever set them, and whatever the policy says: who set them may be in a long job or asleep. */
static struct found from_all_timers(struct worker *w)
{
    filch_pool *pool = w->pool;
    bool fired = false;
    for (int i = 0; i < pool->count; i++)
        fired |= from_timers(w, &pool->workers[i]);
    return found_item(fired ? queue_take(w) : 0);
}

struct found find_steal(struct worker *w)
{
    struct found found = by_policy(w);
    if (found.what == FOUND_NOTHING)
        found = from_all_timers(w);
    if (found.what == FOUND_ITEM)
        return found_item(answered(found.it));
    return found.what != FOUND_NOTHING ? found : from_exposed(w);
}

struct found find_work(struct worker *w)
{
    work_item it = find_local(w);
    return it ? found_item(it) : find_steal(w);
}

struct found find_descendant(struct worker *w, const filch_slot *under, const struct root *root)
{
    struct found found = {0};
    unsigned count = (unsigned)w->pool->count, start = rng_below(&w->rng, count);
    for (unsigned i = 0; i < count && found.what == FOUND_NOTHING; i++) {
        struct worker *v = &w->pool->workers[(start + i) % count];
        struct fiber *f = filch_load_acquire(&v->fiber); /* order: [F1] */
        /* order: a hint that spares a claim; the lineage decides */
        if (f && f != w->fiber && filch_load_relaxed(&f->root) == root)
            found = from_fiber(w, f, under);
    }
    return found;
}

/* ---- for sleepers ------------------------------------------------------------------------- */

bool find_own(struct worker *w)
{
    /* order: hints, as the others: who relies on it is the owner, or holds the idle lock */
    return queue_size(w) > 0 || inject_count(&w->inbox) > 0 || filch_load_relaxed(&w->next);
}

int64_t find_time(filch_pool *pool)
{
    int64_t first = INT64_MAX;
    for (int i = 0; i < pool->count; i++) {
        int64_t at = timers_wake(pool->workers[i].timers);
        first = at < first ? at : first;
    }
    return first;
}

void find_flush(struct worker *w)
{
    queue_flush_next(w);
}

void find_evict(struct worker *w)
{
    filch_pool *pool = w->pool;
    work_item it;
    while (pool->config.queue >= FILCH_QUEUE_PRIVATE && locked_pop(&w->locked, LOCKED_OLDEST, &it) > 0)
        inject_push(&pool->injector, it);
    while (inject_take(&w->inbox, &it, 1) > 0)
        inject_push(&pool->injector, it);
}

void find_leave_behind(struct worker *w)
{
    work_item it;
    find_flush(w);
    find_evict(w);
    while (queue_pop(w, &it))
        inject_push(&w->pool->injector, it);
}

/* Whom it woke last stands before its queue, where thieves come late, and workers that always find something
 * of their own do not come at all. */
void find_hand_over(struct worker *w)
{
    work_item it;
    bool any = false;
    while (w->pool->plain && (queue_take_next(w, &it) || queue_pop(w, &it))) {
        inject_push(&w->pool->injector, it);
        any = true;
    }
    if (any)
        idle_notify(w->pool, w);
}

/* Of its own, more than `least`; of others, anything. */
static bool find_more(filch_pool *pool, struct worker *w, unsigned least)
{
    /* order: hints; idle.c looks after its fence [I1] */
    if (inject_count(&pool->injector) > 0 || filch_load_relaxed(&pool->exposed_count) > 0)
        return true;
    for (int i = 0; i < pool->count; i++) {
        struct worker *v = &pool->workers[i];
        if (reachable(w, v) && load_of(w, v) > (v == w ? least : 0))
            return true;
    }
    return false;
}

bool find_anything(filch_pool *pool, struct worker *w)
{
    return find_more(pool, w, 0);
}

bool find_much(filch_pool *pool, struct worker *w)
{
    return find_more(pool, w, IDLE_LITTLE);
}
