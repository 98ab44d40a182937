/* seat.c: who may sit where. Seat 0 may have a guest in it; the last seats are spare.
 *
 * A guest that waits gives seat 0 up, and comes back when its wait is over. The pool's own thread may sit
 * there by then, and wait itself, pinned, so that it cannot leave its stack: perhaps for what the guest is to
 * do. So while that thread sleeps it lends the seat:
 *
 *     KEPT ---> OFFERED <---> LENT         a guest sits down, and leaves
 *       \_________/                        the thread comes back, if no guest wants the seat
 *
 * To guests that come back: they are pinned as well, and leave nothing behind that needs this worker. Others
 * would begin what its thread might have to wait for, and could not go on with. The seat is not in the idle
 * set meanwhile, and counts as active, as the thread that waits there does.
 *
 * A spare seat is used while the pool is large enough (filch_pool_resize), or by a stand-in. A stand-in
 * takes over while somebody keeps a worker without working: a thread that blocks in the system and said so
 * (filch_blocking_enter), or a hog (watch.c). Who sits in a spare seat is a worker like all others: what
 * lies behind the one that is kept, it steals. When nobody needs it, it is on the bench: not in use, not
 * in the idle set, unknown to the protocol of idle.c but as a victim with nothing to take.
 *
 * | field         | writer       | reader           | invariant                                          |
 * | benched[]     | lock holder  | the same         | on the bench: not asleep, not active               |
 * | spares        | lock holder  | they (a hint)    | not on the bench                                   |
 * | spares_wanted | lock holder  | they (a hint)    | size - base + stand_ins                            |
 * | size          | lock holder  | anyone (a figure)| workers without stand-ins                          |
 * | stand_ins     | lock holder  | the same         | granted and not given back                         |
 * | seats         | lock holder  | anyone (a figure)| base + spares                                      |
 * | lent          | lock holder  | the same, who sits there | KEPT while seat 0 is in the set            |
 * | guests, owner | those who wait for seat 0; for the seat that it lent, its thread                     |
 * |   .count      | they         | who leaves it, anyone (a hint) | how many                             |
 * |   .epoch      | who leaves it | they            | changes when it is their turn                      |
 *
 * [G1] spares >= spares_wanted: who wants one that is not there already fetches it from the bench
 *      into the set and wakes it. One that is there works, or sleeps like any other: who has work for it
 *      wakes it.
 * [G2] One that is too many goes to the bench by itself, between two jobs: first it hands over what it
 *      has, then it is out of the count, then it looks whether there is work and nobody for it, as a
 *      guest that leaves does. A wake-up that it took from another is so passed on.
 * [G3] idle_stop stores `stop`, then looks at each seat with the lock held: it sees one that is on the
 *      bench, or that one sees `stop` and stays up.
 * [G4] Who wants seat 0 says so, then looks, with the lock held; who leaves it changes it with the lock held,
 *      then looks who wants it: guests first. Its thread takes it back only if no guest wants it, so it is
 *      told apart from them: a wake-up that it heard in place of a guest would be lost.
 */
#include "core/idle_set.h"
#include "core/run.h"

void seat_left(struct idle_set *s)
{
    filch_fence_seq_cst(); /* order: [G4] seat free first, then look for who wants it */
    struct seat_queue *q = &s->guests;
    if (!filch_load_relaxed(&q->count)) /* order: after the fence */
        q = &s->owner;
    if (!filch_load_relaxed(&q->count)) /* order: after the fence */
        return;
    filch_add_acq_rel(&q->epoch, 1); /* order: pairs with seat_wait */
    os_futex_wake(&q->epoch, 1);
}

/* ---- seat 0 ------------------------------------------------------------------------------- */

static struct worker *sit_down(filch_pool *pool, bool again)
{
    struct idle_set *s = pool->idle;
    lock_acquire(&s->lock);
    bool asleep = set_has(s, 0), offered = again && s->lent == SEAT_OFFERED;
    if (asleep)
        set_remove(pool, 0, RISE_AS_ACTIVE);
    else if (offered)
        s->lent = SEAT_LENT;
    lock_release(&s->lock);
    if (!asleep && !offered)
        return 0;
    pool->workers[0].guest = 1;
    idle_keep_watch(pool, &pool->workers[0]);
    return &pool->workers[0];
}

struct worker *idle_seat_enter(filch_pool *pool)
{
    return sit_down(pool, false);
}

/* A guest comes back. */
static struct worker *enter_again(filch_pool *pool)
{
    return sit_down(pool, true);
}

/* The thread whose seat it is comes back. */
static struct worker *take_back(filch_pool *pool)
{
    struct idle_set *s = pool->idle;
    lock_acquire(&s->lock);
    bool back = s->lent == SEAT_OFFERED && !filch_load_relaxed(&s->guests.count); /* order: [G4] the lock */
    if (back)
        s->lent = SEAT_KEPT;
    lock_release(&s->lock);
    return back ? &pool->workers[0] : 0;
}

/* [G4] */
static void seat_wait(filch_pool *pool, struct seat_queue *q, struct worker *(*enter)(filch_pool *pool))
{
    if (enter(pool))
        return;
    filch_add_seq_cst(&q->count, 1); /* order: [G4] before the look at the seat */
    for (;;) {
        uint32_t epoch = filch_load_acquire(&q->epoch); /* order: pairs with seat_left */
        if (enter(pool))
            break;
        os_futex_wait(&q->epoch, epoch, INT64_MAX);
    }
    filch_sub_seq_cst(&q->count, 1); /* order: a count */
}

/* The body leaves, and does not lie down as those do who come back by themselves: whatever it was to see,
 * somebody else must. */
static void seat_hand_on(struct worker *w)
{
    filch_pool *pool = w->pool;
    filch_fence_seq_cst(); /* order: [I1] as any sleeper: out of the count first, then look */
    bool kept = pool->config.queue == FILCH_QUEUE_PRIVATE || pool->config.steal == FILCH_STEAL_FLOOR;
    if (kept && find_own(w))
        idle_notify_seat(pool, 0, w->id); /* nobody else may take all of it */
    else if (find_anything(pool, w))
        idle_notify(pool, 0);
    idle_keep_watch(pool, 0);
    idle_keep_time(pool);
    job_drained(pool);
}

/* Its thread lends the seat, or a guest gives back what it was lent. */
static void offer(struct worker *w)
{
    struct idle_set *s = w->pool->idle;
    lock_acquire(&s->lock);
    s->lent = SEAT_OFFERED;
    lock_release(&s->lock);
    seat_left(s);
}

void idle_seat_leave(struct worker *w)
{
    w->guest = 0;
    if (w->pool->idle->lent == SEAT_LENT) { /* to us: nobody else changes it meanwhile */
        find_hand_over(w);
        offer(w);
    } else {
        find_flush(w);
        idle_lie_down(w, false);
    }
    seat_hand_on(w);
}

struct away idle_seat_step_out(struct worker *w)
{
    struct away away = {w->body, w->fiber, w->guest};
    if (w->guest) {
        run_enter(w, 0);
        idle_seat_leave(w);
        return away;
    }
    find_hand_over(w);
    if (w->id == 0)
        offer(w);
    return away;
}

void idle_seat_step_in(struct worker *w, struct away away)
{
    filch_pool *pool = w->pool;
    if (away.guest)
        seat_wait(pool, &pool->idle->guests, enter_again);
    else if (w->id == 0)
        seat_wait(pool, &pool->idle->owner, take_back);
    w->body = away.body;
    run_enter(w, away.fiber);
}

/* ---- spare seats -------------------------------------------------------------------------- */

/* [G1] Lock held. Returns one to be woken, or -1 if there are enough in use (of which one may have been about
 * to leave: it stays). */
static int fetch(filch_pool *pool)
{
    struct idle_set *s = pool->idle;
    int id = pool->base;
    if (s->spares >= s->spares_wanted)
        return -1;
    while (!set_benched(s, id))
        id++;
    s->benched[id / 64] &= ~((uint64_t)1 << (id % 64));
    filch_store_relaxed(&s->spares, s->spares + 1); /* order: the lock; a hint outside */
    filch_store_relaxed(&s->seats, s->seats + 1);   /* order: the lock; a figure outside */
    set_add(s, id, 0);
    return id;
}

/* Lock held. */
static void want(struct idle_set *s, uint32_t more)
{
    filch_store_relaxed(&s->spares_wanted, s->spares_wanted + more); /* order: the lock; a hint outside */
}

bool seat_stand_in(filch_pool *pool, struct worker *w)
{
    struct idle_set *s = pool->idle;
    int id = -1;
    if (pool->config.stand_ins == 0)
        return false;
    lock_acquire(&s->lock);
    bool granted = s->stand_ins < pool->config.stand_ins;
    if (granted) {
        s->stand_ins++;
        want(s, 1);
        id = fetch(pool);
    }
    lock_release(&s->lock);
    if (id >= 0)
        (void)idle_wake_one(pool, w, id, true);
    return granted;
}

void seat_stand_down(filch_pool *pool)
{
    struct idle_set *s = pool->idle;
    lock_acquire(&s->lock);
    s->stand_ins--;
    want(s, (uint32_t)-1);
    lock_release(&s->lock);
}

void seat_resize(filch_pool *pool, int workers)
{
    struct idle_set *s = pool->idle;
    int id;
    lock_acquire(&s->lock);
    want(s, (uint32_t)workers - s->size);
    filch_store_relaxed(&s->size, (uint32_t)workers); /* order: the lock; a figure outside */
    lock_release(&s->lock);
    do {
        lock_acquire(&s->lock);
        id = fetch(pool);
        lock_release(&s->lock);
        if (id >= 0)
            (void)idle_wake_one(pool, 0, id, true);
    } while (id >= 0);
}

int seat_size(const filch_pool *pool)
{
    return (int)filch_load_relaxed(&pool->idle->size); /* order: a figure */
}

/* [G2] */
static void to_the_bench(struct worker *w)
{
    filch_pool *pool = w->pool;
    struct idle_set *s = pool->idle;
    find_leave_behind(w);
    lock_acquire(&s->lock);
    bool leaves = seat_too_many(s) && !filch_load_relaxed(&pool->stop); /* order: [G3] the lock */
    if (leaves) {
        filch_store_relaxed(&w->gate, GATE_SHUT); /* order: the lock; opened with it held */
        s->benched[w->id / 64] |= (uint64_t)1 << (w->id % 64);
        filch_store_relaxed(&s->spares, s->spares - 1); /* order: the lock; a hint outside */
        filch_store_relaxed(&s->seats, s->seats - 1);   /* order: the lock; a figure outside */
        filch_sub_seq_cst(&s->word, w->searching);      /* order: [I2] */
        w->searching = 0;
    }
    lock_release(&s->lock);
    seat_hand_on(w);
    if (leaves)
        idle_sleep_at_gate(w, INT64_MAX);
}

/* ---- leaving on request ------------------------------------------------------------------- */

void idle_seat_yield(struct worker *w)
{
    if (w->id > 0) {
        to_the_bench(w);
        return;
    }
    find_flush(w);
    idle_sleep_at_gate(w, idle_lie_down(w, false)); /* with wake=none its alarm alone ends it */
}
