/* idle.c: the protocol of sleep.
 *
 * Promises
 *   1. A job that was submitted is not left lying while a worker sleeps and nobody searches.
 *   2. A forked job is found within a back-off period while a worker sleeps.
 *   3. When nothing runs, everybody sleeps and nothing is polled: 0 % CPU.
 *   4. At most half of the active workers search (at least one may).
 *
 * States of a seat: active (a body works), searching (a body looks for work; counted), asleep (in
 * the set; its thread, if it has one, sleeps at its gate).
 *
 * | field    | writer                          | reader    | invariant                         |
 * | word     | add/sub by anyone               | anyone    | searchers | sleepers << 32        |
 * | asleep[] | lock holder                     | the same  | one bit per sleeper               |
 * | scout    | lock holder                     | anyone    | the sleeper with an alarm, or -1  |
 * | scout_ns | lock holder                     | anyone    | about when; a hint                |
 * | keeper   | lock holder                     | the same  | the sleeper whose sleep ends with |
 * | keeps_ns | lock holder                     | anyone    | the first timer, or -1; and when, |
 * |          |                                 | (a hint)  | INT64_MAX if there is none        |
 * | poller   | taken and left by the sleeper   | anyone    | the sleeper that sleeps in the    |
 * |          | itself, lock held               | (a hint)  | kernel's poll (poll.h), or -1     |
 * | gate     | waker opens, sleeper shuts      | sleeper   | open: taken out of the set        |
 * | refused  | who failed to start a thread    | waiters   | a hint: not 0, then ask again soon |
 *
 * [I1] The race that must not happen: a submitter publishes a job, sees no sleeper and wakes
 *      nobody, while a worker sees no job and falls asleep. Submitter: publish, fence, read word.
 *      Sleeper: add itself to word (in the set), fence, look for work once more. Of two sequentially
 *      consistent fences one is first: either the submitter sees the sleeper, or the sleeper the
 *      job. Without either fence both may miss (store-load reordering).
 * [I2] The same for searchers: a submitter that sees a searcher wakes nobody. So the last searcher
 *      that gives up looks once more after it has left the count: idle_park does, after its
 *      fence. If it finds something it becomes a searcher again, and so wakes a successor when it
 *      leaves (a searcher that just took one job and was silent lost wake-ups in other runtimes).
 * [I3] gate: opened with release and the lock held, acquired by the sleeper.
 *
 * Forks tell nobody: the fork path has no instruction to spare. Instead, while anyone is active,
 * one sleeper is the scout: its sleep ends after a back-off that doubles from 50 us to 1 ms (or as
 * backoff_us=, backoff_factor= and backoff_jitter= say), it takes a look, and sleeps again. When it
 * finds work its successor becomes the scout. If that was a fork, it begins with 50 us again; anything
 * else it was not needed for, and it keeps its pace.
 * When nobody is active, and nobody got up between its last CALM alarms, it is not set again.
 * Who sleeps in the poll [I6] gets up when descriptors bring something, and then there would be no scout to
 * leave it to [I8]: whoever lies down beside him becomes the scout in his place. The same if the scout keeps
 * the time as well [I5].
 * [I4] Hence: while somebody is active and somebody sleeps, there is a searcher or a scout (or, but not
 *      for longer than a back-off period, only a keeper [I8]). The last searcher to find work wakes a
 *      successor, the last to find none lies down as the scout, and whoever becomes active without
 *      searching (a guest, or one too many for the limit), or leaves without an alarm (a guest again),
 *      wakes a searcher if there is neither.
 * [I5] While everybody sleeps, one of them (the keeper) sleeps no longer than until the first timer, or the
 *      last of those that follow it soon (timer.h).
 *      Timers are set by the active: each, before it sleeps, looks at all wheels, and becomes the
 *      keeper if its predecessor would sleep too long. While somebody is active, he looks at them
 *      between two jobs, and the scout does.
 * [I6] Once somebody has waited for a file descriptor: while everybody sleeps, one of them (the poller)
 *      sleeps in the kernel's poll, so that what becomes ready is seen. Each, before it sleeps, takes
 *      the part if nobody has it; who has it gives it up by itself when it got up: it is active then, and
 *      looks at the poll when it finds nothing else and every so many picks, as all who work do while
 *      nobody has the part. A guest, which leaves without sleeping, wakes somebody if all others sleep
 *      and none is the poller. The kernel keeps what happened while nobody looked.
 *      Whoever wakes the poller opens its gate as for others, but writes to the poll instead of waking a
 *      futex. Only the poller takes such a wake-up, and there is one poller at a time, so it cannot be
 *      taken by another; one that comes too late ends the next poller's sleep, which sees its gate shut
 *      and sleeps again. If a guest sits in the poller's seat, it polls on without a seat, and hands what
 *      it sees to the injector.
 * [I7] A pool that stops joins every thread there is. idle_stop stores `stop`, then looks at each seat with
 *      the lock held: either it sees the seat being filled and waits for that, or who would fill it later
 *      sees `stop` and does not. Work needs nobody by then, but a worker may leave its search for a task
 *      that its joiner has run already, and look for a successor.
 * [I8] To wake somebody costs more than most of what timers and descriptors bring: if they bring a little
 *      to a worker, it wakes nobody while there is a scout, or a keeper, who gets up by himself within a
 *      back-off period. If what it runs first takes long, that one finds the rest, as a scout finds forks;
 *      and the next WARY times that worker takes nothing for little. A searcher that leaves without waking
 *      a successor may have kept a submitter from it: like one that gives up [I2] it looks once more,
 *      after it has left the count and a fence, at everything but its own queue. (Sleepers that came 10 us
 *      after each other, on two workers: 10.3 us of CPU time each with a successor for each batch, 4.5 us
 *      without.)
 */
#include "core/idle_set.h"
#include "core/poll.h"
#include "core/report.h"
#include "core/watch.h"

#define REGRET_NS 30000 /* as long as a whole search takes */
#define LITTLE_NS 200000 /* what took longer was not little */
#define WARY 32
#define CALM 4 /* alarms of a scout while nothing happens */

static unsigned searchers(uint64_t word)
{
    return (unsigned)word;
}

/* Spare seats that nobody needs are not in the set, and not in use. */
static void all_asleep(filch_pool *pool)
{
    struct idle_set *s = pool->idle;
    int seats = pool->config.workers;
    uint32_t spares = (uint32_t)(seats - pool->base);
    *s = (struct idle_set){.scout = -1, .keeper = -1, .poller = -1, .keeps_ns = INT64_MAX,
                           .seats = (uint32_t)seats, .size = (uint32_t)seats, .spares = spares,
                           .spares_wanted = spares, .word = (uint64_t)seats << 32};
    rng_seed(&s->rng, pool->workers[0].rng.state);
    for (int i = 0; i < pool->count; i++)
        (i < seats ? s->asleep : s->benched)[i / 64] |= (uint64_t)1 << (i % 64);
}

int idle_create(filch_pool *pool)
{
    pool->idle = os_alloc(sizeof *pool->idle);
    if (!pool->idle)
        return -1;
    pool->base = pool->config.max_workers > 0 ? 1 : pool->config.workers;
    all_asleep(pool);
    return 0;
}

void idle_destroy(filch_pool *pool)
{
    os_free(pool->idle);
}

void idle_reset(filch_pool *pool)
{
    all_asleep(pool);
    for (int i = 0; i < pool->count; i++) {
        struct worker *w = &pool->workers[i];
        w->has_thread = w->searching = w->guest = w->gate = 0;
    }
}

/* Remembers the most there ever were. Any thread. */
static void note_searchers(struct idle_set *s, unsigned n)
{
    uint32_t most = filch_load_relaxed(&s->most_searching); /* order: a figure for tests */
    while (n > most && !filch_cas_relaxed(&s->most_searching, &most, n)) /* order: as above */
        ;
}

/* ---- the set: lock held ------------------------------------------------------------------- */

/* Is there room for one more searcher among `active` workers? */
static bool room(uint64_t word, unsigned active)
{
    return searchers(word) < choice_search_limit(active);
}

static void keeps_no_time(struct idle_set *s, int id)
{
    if (s->keeper != id)
        return;
    s->keeper = -1;
    filch_store_relaxed(&s->keeps_ns, INT64_MAX); /* order: the lock; a hint outside */
}

/* Takes a sleeper out of the set. As a searcher only if there is room: otherwise it stays asleep
 * (GATE_SHUT), or with EITHER becomes active without being one. Returns how to open its gate. */
uint32_t set_remove(filch_pool *pool, int id, enum rise how)
{
    struct idle_set *s = pool->idle;
    uint64_t word = filch_load_relaxed(&s->word); /* order: checked by the exchange */
    bool searcher;
    do {
        searcher = how != RISE_AS_ACTIVE && room(word, s->seats - sleepers(word) + 1);
        if (how == RISE_AS_SEARCHER && !searcher)
            return GATE_SHUT;
    } while (!filch_cas_seq_cst(&s->word, &word, word - SLEEPER + searcher)); /* order: [I1] */
    s->asleep[id / 64] &= ~((uint64_t)1 << (id % 64));
    s->risen++;
    if (s->scout == id)
        filch_store_relaxed(&s->scout, -1); /* order: the lock; a hint outside */
    keeps_no_time(s, id);
    note_searchers(s, searchers(word) + searcher);
    watch_rouse(pool);
    return searcher ? GATE_SEARCHER : GATE_ACTIVE;
}

/* The same for a thread that sleeps at its gate, or will find it open. */
static bool set_rouse(filch_pool *pool, int id, enum rise how)
{
    uint32_t gate = set_remove(pool, id, how);
    if (gate != GATE_SHUT)
        filch_store_release(&pool->workers[id].gate, gate); /* order: [I3] */
    return gate != GATE_SHUT;
}

/* How readily a sleeper is woken: one with a thread first; the poller only if there is no other thread, it is
 * of use where it is; then a seat without a thread, seat 0 last: it is kept for guests as long as another can
 * be filled. */
enum { READY_THREAD, READY_POLLER, READY_BARE, READY_GUESTS, READY_NOT };

static int readiness(filch_pool *pool, int id)
{
    if (!set_has(pool->idle, id))
        return READY_NOT;
    if (id == pool->idle->poller)
        return READY_POLLER;
    if (pool->workers[id].has_thread)
        return READY_THREAD;
    return id > 0 ? READY_BARE : READY_GUESTS;
}

/* Of the sleepers that are woken most readily the one with this rank. */
static int sleeper_ranked(filch_pool *pool, int ready, uint32_t rank)
{
    for (int id = 0; id < pool->count; id++)
        if (readiness(pool, id) == ready && rank-- == 0)
            return id;
    return -1;
}

/* A sleeper to wake, as wake= says, or -1. The first that has a thread is the default's: then no more is
 * looked at. */
static int set_pick(filch_pool *pool)
{
    int best = READY_NOT;
    uint32_t n = 0;
    for (int id = 0; id < pool->count; id++) {
        int ready = readiness(pool, id);
        if (ready == READY_THREAD && pool->config.wake == FILCH_WAKE_ONE)
            return id;
        n = ready < best ? 1 : n + (ready == best);
        best = ready < best ? ready : best;
    }
    if (best == READY_NOT)
        return -1;
    return sleeper_ranked(pool, best, choice_wake_rank(pool->config.wake, n, &pool->idle->rng));
}

/* ---- waking ------------------------------------------------------------------------------- */

/* The gate of a thread was opened: it may sleep before it, or in the poll [I6]. */
static void gate_wake(struct worker *w, bool polls)
{
    if (polls)
        poll_wake(w->pool);
    else
        os_futex_wake(&w->gate, 1);
}

/* The seat was taken out of the set, and has no thread yet. False if there is none to be had. */
static bool seat_fill(struct worker *w)
{
    filch_pool *pool = w->pool;
    struct idle_set *s = pool->idle;
    bool started = os_thread_start(&w->thread, run_thread, w, "filch") == 0;
    lock_acquire(&s->lock);
    if (started) {
        w->has_thread = SEAT_THREAD;
        filch_store_relaxed(&s->threads, s->threads + 1); /* order: the lock; a hint outside */
        filch_store_relaxed(&s->refused, 0u); /* order: the lock; a hint outside */
    } else { /* no thread to be had: asleep again; the next call tries anew, see idle_remind */
        w->has_thread = SEAT_BARE;
        filch_store_relaxed(&s->refused, 1u); /* order: the lock; a hint outside */
        set_add(s, w->id, w->gate == GATE_SEARCHER ? (uint64_t)-1 : 0);
        filch_store_relaxed(&w->gate, GATE_SHUT); /* order: the lock; no thread looks at it */
    }
    lock_release(&s->lock);
    return started;
}

void idle_keep_watch(filch_pool *pool, struct worker *w)
{
    struct idle_set *s = pool->idle;
    lock_acquire(&s->lock);
    uint64_t word = filch_load_relaxed(&s->word); /* order: the lock; or a guess */
    bool blind = s->scout < 0 && searchers(word) == 0 && sleepers(word) > 0 &&
                 sleepers(word) < s->seats;
    lock_release(&s->lock);
    if (blind && pool->config.wake != FILCH_WAKE_NONE)
        idle_wake_one(pool, w, -1, false);
}

bool idle_wake_one(filch_pool *pool, struct worker *w, int id, bool even_if_searching)
{
    struct idle_set *s = pool->idle;
    lock_acquire(&s->lock);
    bool bare = false, active = false, polls = false;
    uint64_t word = filch_load_relaxed(&s->word); /* order: the lock; adds outside only help */
    if (id >= 0)
        id = set_has(s, id) ? id : -1;
    else if (sleepers(word) > 0 && (even_if_searching || searchers(word) == 0))
        id = set_pick(pool);
    bare = id >= 0 && pool->workers[id].has_thread == SEAT_BARE;
    if (bare && filch_load_relaxed(&pool->stop)) /* order: [I7] the lock */
        id = -1;
    if (id >= 0) {
        set_rouse(pool, id, RISE_AS_EITHER);
        active = pool->workers[id].gate == GATE_ACTIVE;
        polls = id == s->poller;
        if (bare)
            pool->workers[id].has_thread = SEAT_STARTING;
    }
    lock_release(&s->lock);
    if (id < 0)
        return false;
    if (w)
        EV(w, WAKE);
    bool roused = !bare || seat_fill(&pool->workers[id]);
    if (!bare)
        gate_wake(&pool->workers[id], polls);
    if (roused && active)
        idle_keep_watch(pool, w);
    return roused;
}

/* By number: a thread that is just going back to sleep must not be woken in place of another. */
void idle_start_all(filch_pool *pool)
{
    for (int id = 0; id < pool->count; id++)
        idle_wake_one(pool, 0, id, true);
}

/* wake=none in the child of fork(): nobody is there yet who would look by himself. */
static void start_if_none(filch_pool *pool)
{
    if (filch_load_relaxed(&pool->idle->threads) == 0) /* order: a hint; 0 only before the first */
        idle_start_all(pool);
}

void idle_notify(filch_pool *pool, struct worker *w)
{
    if (pool->config.wake == FILCH_WAKE_NONE) {
        start_if_none(pool);
        return;
    }
    if (w && pool->alone) /* in the only seat: nobody sleeps */
        return;
    filch_fence_seq_cst(); /* order: [I1] after the job was published */
    uint64_t word = filch_load_relaxed(&pool->idle->word); /* order: [I1] after the fence */
    if (sleepers(word) == 0)
        return;
    if (pool->config.wake == FILCH_WAKE_ALL) {
        for (int id = 0; id < pool->count; id++)
            (void)idle_wake_one(pool, w, id, true);
    } else if (searchers(word) == 0) {
        idle_wake_one(pool, w, -1, false);
    }
}

/* wake=one, =random: a sleeper, if no worker searches. */
static bool wakes_one(const filch_pool *pool)
{
    return pool->config.wake == FILCH_WAKE_ONE || pool->config.wake == FILCH_WAKE_RANDOM;
}

/* [I8] Does somebody come by himself, soon? If he was roused meanwhile he is up, which is as good. */
static bool somebody_near(filch_pool *pool)
{
    struct idle_set *s = pool->idle;
    int64_t soon = os_clock_ns() + pool->config.backoff_max_ns;
    /* order: hints; [I4] holds with a scout that is late as well */
    return (filch_load_relaxed(&s->scout) >= 0 && filch_load_relaxed(&s->scout_ns) <= soon) ||
           filch_load_relaxed(&s->keeps_ns) <= soon; /* order: as above */
}

/* It has run all that it had, or most of it. */
static void was_it_little(struct worker *w)
{
    if (w->little_since_ns && os_clock_ns() - w->little_since_ns > LITTLE_NS)
        w->wary = WARY;
    w->little_since_ns = 0;
}

void idle_notify_woken(struct worker *w, size_t n)
{
    filch_pool *pool = w->pool;
    if (n == 0)
        return;
    was_it_little(w);
    w->little = n <= IDLE_LITTLE && !w->wary && wakes_one(pool) && somebody_near(pool);
    w->wary -= w->wary > 0;
    if (!w->little)
        idle_notify(pool, w); /* a searcher tells its successor when it leaves */
    else
        w->little_since_ns = os_clock_ns();
}

void idle_notify_seat(filch_pool *pool, struct worker *w, int id)
{
    if (pool->config.wake == FILCH_WAKE_NONE) {
        start_if_none(pool);
        return;
    }
    filch_fence_seq_cst(); /* order: [I1] after the job was published */
    /* order: [I1] after the fence */
    bool anyone = sleepers(filch_load_relaxed(&pool->idle->word)) > 0;
    if (anyone && !idle_wake_one(pool, w, id, true))
        idle_notify(pool, w); /* it is up, or there is no thread for it: another may help */
}

bool idle_crippled(filch_pool *pool)
{
    struct idle_set *s = pool->idle;
    /* order: hints, asked again before each sleep */
    return filch_load_relaxed(&s->refused) || filch_load_relaxed(&s->threads) == 0;
}

static bool seat_bare(filch_pool *pool, int id)
{
    lock_acquire(&pool->idle->lock);
    bool bare = pool->workers[id].has_thread == SEAT_BARE;
    lock_release(&pool->idle->lock);
    return bare;
}

void idle_remind(filch_pool *pool)
{
    if (!filch_load_relaxed(&pool->idle->refused)) /* order: a hint */
        return;
    for (int id = 0; id < pool->count; id++) {
        struct worker *w = &pool->workers[id];
        if (find_own(w))
            idle_notify_seat(pool, 0, id);
        if (find_own(w) && seat_bare(pool, id))
            find_evict(w);
    }
    if (find_anything(pool, &pool->workers[0]))
        idle_notify(pool, 0);
}

/* ---- searching ---------------------------------------------------------------------------- */

bool idle_search_begin(struct worker *w)
{
    struct idle_set *s = w->pool->idle;
    if (w->searching)
        return true;
    w->little = false;
    was_it_little(w);
    uint64_t word = filch_load_relaxed(&s->word); /* order: checked by the exchange below */
    do {
        if (!room(word, filch_load_relaxed(&s->seats) - sleepers(word))) /* order: a figure */
            return false;
    } while (!filch_cas_seq_cst(&s->word, &word, word + 1)); /* order: [I2] */
    note_searchers(s, searchers(word) + 1);
    w->searching = 1;
    EV(w, SEARCH);
    return true;
}

void idle_search_found(struct worker *w)
{
    if (!w->searching)
        return;
    w->searching = 0;
    if (!w->scouts)
        w->backoff_ns = w->pool->config.backoff_min_ns;
    uint64_t word = filch_sub_seq_cst(&w->pool->idle->word, 1) - 1; /* order: [I2] */
    if (searchers(word) > 0 || sleepers(word) == 0)
        return;
    if (w->little) {
        filch_fence_seq_cst(); /* order: [I8] out of the count first, then look */
        if (!find_much(w->pool, w))
            return;
    }
    idle_notify(w->pool, w);
}

/* ---- sleeping ----------------------------------------------------------------------------- */

/* How long to sleep now; the next time is longer, until work is found. */
static int64_t back_off(struct worker *w)
{
    const filch_config *c = &w->pool->config;
    int64_t wait = choice_jitter(w->backoff_ns, c->backoff_jitter, &w->rng);
    w->backoff_ns = choice_backoff(w->backoff_ns, c->backoff_max_ns, c->backoff_factor);
    return wait;
}

static int64_t alarm_set(struct worker *w)
{
    return os_clock_ns() + back_off(w);
}

/* Lock held. Does anything happen, though everybody sleeps just now? */
static bool stirs(struct worker *w)
{
    uint32_t risen = w->pool->idle->risen;
    w->calm = risen - w->risen > 1 ? 0 : w->calm + (w->calm < CALM); /* but itself */
    w->risen = risen;
    return w->calm < CALM;
}

int64_t idle_lie_down(struct worker *w, bool alarm_allowed)
{
    filch_pool *pool = w->pool;
    struct idle_set *s = pool->idle;
    int64_t deadline = INT64_MAX;
    lock_acquire(&s->lock);
    EV(w, PARK);
    filch_store_relaxed(&w->gate, GATE_SHUT); /* order: the lock; opened with it held */
    set_add(s, w->id, (uint64_t)0 - w->searching);
    w->searching = 0;
    uint64_t word = filch_load_relaxed(&s->word); /* order: the lock */
    int64_t first = alarm_allowed ? find_time(pool) : INT64_MAX;
    bool keeps = first < s->keeps_ns; /* [I5] */
    bool busy = stirs(w) || sleepers(word) < s->seats;
    bool vacant = s->scout < 0 || s->scout == s->poller || (s->scout == s->keeper && !keeps);
    if (alarm_allowed && busy && vacant) {
        deadline = alarm_set(w);
        filch_store_relaxed(&s->scout, w->id); /* order: the lock; a hint outside */
        filch_store_relaxed(&s->scout_ns, deadline); /* order: as above */
    } else if (pool->config.wake == FILCH_WAKE_NONE) {
        deadline = alarm_set(w);
    }
    if (keeps) {
        s->keeper = w->id;
        filch_store_relaxed(&s->keeps_ns, first); /* order: the lock; a hint outside */
        deadline = first < deadline ? first : deadline;
    }
    if (alarm_allowed && s->poller < 0 && poll_exists(pool)) /* [I6] */
        filch_store_relaxed(&s->poller, w->id); /* order: the lock; a hint outside */
    lock_release(&s->lock);
    if (w->id == 0)
        seat_left(s);
    return deadline;
}

/* Leaves the set by itself, as a searcher. False if there are enough of them (they will find what
 * there is), or if somebody else took it out: then the gate is open. */
static bool get_up(struct worker *w, bool has_work)
{
    struct idle_set *s = w->pool->idle;
    lock_acquire(&s->lock);
    bool stop = filch_load_relaxed(&w->pool->stop); /* order: a flag, looked at again */
    bool must = stop || has_work || find_own(w); /* perhaps nobody else may take it */
    bool up = set_has(s, w->id) &&
              set_rouse(w->pool, w->id, must ? RISE_AS_EITHER : RISE_AS_SEARCHER);
    if (!up)
        keeps_no_time(s, w->id); /* [I5] it sleeps on past its time: a searcher becomes the keeper */
    lock_release(&s->lock);
    return up;
}

bool idle_polled(filch_pool *pool)
{
    return filch_load_relaxed(&pool->idle->poller) >= 0; /* order: a hint */
}

/* [I6] Sleeps in the kernel's poll until the gate is open; what it saw last is left in `got`. */
static void sleep_in_poll(struct worker *w, int64_t deadline, struct poll_batch *got)
{
    filch_pool *pool = w->pool;
    while (!filch_load_acquire(&w->gate)) { /* order: [I3] */
        int rc = poll_sleep(pool, got, deadline);
        if (rc == 0 || get_up(w, rc > 0) || filch_load_acquire(&w->gate)) /* order: [I3] */
            continue;
        if (rc > 0) { /* a guest is in the seat */
            poll_deliver_outside(pool, got);
            got->count = 0;
        } else {
            deadline = os_clock_ns() + pool->config.backoff_max_ns;
        }
    }
}

static void be_poller(struct worker *w, int64_t deadline)
{
    struct idle_set *s = w->pool->idle;
    struct poll_batch got;
    got.count = 0;
    sleep_in_poll(w, deadline, &got);
    lock_acquire(&s->lock);
    filch_store_relaxed(&s->poller, -1); /* order: the lock; a hint outside */
    lock_release(&s->lock);
    idle_awake(w);
    EV_N(w, READY, got.count);
    w->hushed = true;
    poll_deliver(w->pool, &got);
    w->hushed = false;
    idle_notify_woken(w, (size_t)got.count);
}

/* Woken so soon by somebody who has work: a search that had lasted a little longer would have found it. */
static void regret(struct worker *w, int64_t since)
{
    if (w->impatience && os_clock_ns() - since < REGRET_NS)
        w->impatience = 0;
}

void idle_sleep_at_gate(struct worker *w, int64_t deadline)
{
    int64_t since = w->impatience ? os_clock_ns() : 0;
    bool by_itself = false;
    while (!filch_load_acquire(&w->gate)) { /* order: [I3] */
        if (os_futex_wait(&w->gate, GATE_SHUT, deadline) == 0)
            continue;
        by_itself = get_up(w, false);
        if (!by_itself)
            deadline = os_clock_ns() + w->pool->config.backoff_max_ns;
    }
    idle_awake(w);
    w->scouts = by_itself && w->pool->config.wake != FILCH_WAKE_NONE; /* then all depends on it */
    if (by_itself)
        w->impatience = WORKER_IMPATIENCE; /* it takes a look */
    else
        regret(w, since);
}

/* [I5] [I6] Somebody left who was not to keep the time, nor to look after descriptors. */
void idle_keep_time(filch_pool *pool)
{
    struct idle_set *s = pool->idle;
    lock_acquire(&s->lock);
    bool late = find_time(pool) < s->keeps_ns;
    uint64_t word = filch_load_relaxed(&s->word); /* order: the lock */
    bool blind = s->poller < 0 && sleepers(word) == s->seats && poll_exists(pool);
    lock_release(&s->lock);
    if (late || blind)
        (void)idle_wake_one(pool, 0, -1, true);
}

void idle_awake(struct worker *w)
{
    w->searching = filch_load_acquire(&w->gate) == GATE_SEARCHER; /* order: [I3] */
    w->little = false;
    if (w->searching)
        EV(w, SEARCH);
}

void idle_park(struct worker *w)
{
    int64_t deadline = idle_lie_down(w, true);
    filch_fence_seq_cst(); /* order: [I1] [I2] in the set first, then look */
    if (find_anything(w->pool, w) || filch_load_relaxed(&w->pool->stop)) /* order: [I1] */
        (void)get_up(w, false);
    else
        job_drained(w->pool);
    if (filch_load_relaxed(&w->pool->idle->poller) == w->id) /* order: ours to change */
        be_poller(w, deadline);
    else
        idle_sleep_at_gate(w, deadline);
}

void idle_rest(struct worker *w)
{
    struct filch_config *c = &w->pool->config;
    if (w->searching) {
        w->searching = 0;
        filch_sub_seq_cst(&w->pool->idle->word, 1); /* order: [I2] others look by themselves */
    }
    job_drained(w->pool);
    if (c->idle == FILCH_IDLE_YIELD) {
        os_thread_yield();
        return;
    }
    if (c->idle == FILCH_IDLE_SLEEP)
        os_sleep_ns(choice_jitter(c->backoff_max_ns, c->backoff_jitter, &w->rng));
    else
        os_sleep_ns(back_off(w));
}

/* ---- the end ------------------------------------------------------------------------------ */

void idle_stop(filch_pool *pool)
{
    struct idle_set *s = pool->idle;
    filch_store_seq_cst(&pool->stop, 1); /* order: [I1] like a job: then wake */
    for (int i = 0; i < pool->count; i++) {
        struct worker *w = &pool->workers[i];
        lock_acquire(&s->lock);
        while (w->has_thread == SEAT_STARTING) { /* another worker is just starting it */
            lock_release(&s->lock);
            os_thread_yield();
            lock_acquire(&s->lock);
        }
        bool thread = w->has_thread == SEAT_THREAD;
        if (thread && set_has(s, i))
            set_rouse(pool, i, RISE_AS_ACTIVE);
        else if (thread && set_benched(s, i))
            filch_store_release(&w->gate, GATE_ACTIVE); /* order: [I3] */
        bool polls = s->poller == i;
        lock_release(&s->lock);
        if (!thread)
            continue;
        gate_wake(w, polls);
        os_thread_join(w->thread);
    }
}

bool idle_asleep(filch_pool *pool, int id, bool *has_thread)
{
    lock_acquire(&pool->idle->lock);
    bool asleep = set_has(pool->idle, id);
    *has_thread = pool->workers[id].has_thread != SEAT_BARE;
    lock_release(&pool->idle->lock);
    return asleep;
}

bool idle_quiet(filch_pool *pool)
{
    /* order: [H1] of watch.c */
    return sleepers(filch_load_seq_cst(&pool->idle->word)) ==
           filch_load_relaxed(&pool->idle->seats); /* order: more only while somebody is active */
}

struct idle_figures idle_figures(filch_pool *pool)
{
    struct idle_set *s = pool->idle;
    lock_acquire(&s->lock);
    uint64_t word = filch_load_relaxed(&s->word); /* order: figures */
    struct idle_figures f = {searchers(word), sleepers(word), s->threads,
                             filch_load_relaxed(&s->most_searching)}; /* order: figures */
    lock_release(&s->lock);
    return f;
}
