/* seat.c: who may sit where. Seat 0 may have a guest in it; the last seats are spare.
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
 *
 * [G1] spares >= spares_wanted: who wants one that is not there already fetches it from the bench
 *      into the set and wakes it. One that is there works, or sleeps like any other: who has work for it
 *      wakes it.
 * [G2] One that is too many goes to the bench by itself, between two jobs: first it hands over what it
 *      has, then it is out of the count, then it looks whether there is work and nobody for it, as a
 *      guest that leaves does. A wake-up that it took from another is so passed on.
 * [G3] idle_stop stores `stop`, then looks at each seat with the lock held: it sees one that is on the
 *      bench, or that one sees `stop` and stays up.
 */
#include "core/idle_set.h"

void seat_left(struct idle_set *s)
{
    filch_fence_seq_cst(); /* order: seat free first, then look for who wants it */
    if (!filch_load_relaxed(&s->wanted)) /* order: after the fence */
        return;
    filch_add_acq_rel(&s->epoch, 1); /* order: pairs with idle_seat_enter_wait */
    os_futex_wake(&s->epoch, 1);
}

/* ---- seat 0 ------------------------------------------------------------------------------- */

struct worker *idle_seat_enter(filch_pool *pool)
{
    struct idle_set *s = pool->idle;
    lock_acquire(&s->lock);
    bool free = set_has(s, 0);
    if (free)
        set_remove(pool, 0, RISE_AS_ACTIVE);
    lock_release(&s->lock);
    if (!free)
        return 0;
    pool->workers[0].guest = 1;
    idle_keep_watch(pool, &pool->workers[0]);
    return &pool->workers[0];
}

struct worker *idle_seat_enter_wait(filch_pool *pool)
{
    struct idle_set *s = pool->idle;
    struct worker *w = idle_seat_enter(pool);
    if (w)
        return w;
    filch_add_seq_cst(&s->wanted, 1); /* order: before the look at the seat, see seat_left */
    for (;;) {
        uint32_t epoch = filch_load_acquire(&s->epoch); /* order: pairs with seat_left */
        w = idle_seat_enter(pool);
        if (w)
            break;
        os_futex_wait(&s->epoch, epoch, INT64_MAX);
    }
    filch_sub_seq_cst(&s->wanted, 1); /* order: a count */
    return w;
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

void idle_seat_leave(struct worker *w)
{
    w->guest = 0;
    find_flush(w);
    idle_lie_down(w, false);
    seat_hand_on(w);
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
