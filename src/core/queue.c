#include "core/queue.h"

#define BATCH CRATE /* most items moved between queues at once */
#define AHEAD_FAR 4  /* items behind the one that is taken: its descriptor or fiber is fetched */
#define AHEAD_BURST 16 /* so often, one line of each of as many that follow those */
#define AHEAD_NEAR 1 /* and the stack of this one, whose fiber has arrived by now */
#define EYED_NS 1000 /* how long a thief looks at another's next before it takes it */
#define EYED_MOST_NS 100000 /* and how long it looks at no other's */

static bool locked_kind(filch_pool *pool)
{
    return pool->config.queue != FILCH_QUEUE_RING;
}

static struct locked *locked_of(struct worker *w)
{
    return w->pool->config.queue == FILCH_QUEUE_SHARED ? &w->pool->shared : &w->locked;
}

static enum locked_end owner_end(filch_pool *pool)
{
    return pool->config.ends == FILCH_ENDS_LIFO ? LOCKED_NEWEST : LOCKED_OLDEST;
}

static enum locked_end thief_end(filch_pool *pool)
{
    return pool->config.ends == FILCH_ENDS_REVERSE ? LOCKED_NEWEST : LOCKED_OLDEST;
}

int queue_init(struct worker *w, uintptr_t *storage)
{
    unsigned capacity = w->pool->config.ring_capacity;
    ring_init(&w->ring, storage, capacity, 0);
    lifo_init(&w->lifo, storage, capacity, 0);
    return locked_kind(w->pool) ? locked_init(&w->locked, capacity) : 0;
}

void queue_destroy(struct worker *w)
{
    locked_destroy(&w->locked); /* empty unless the policy has locks and its worker was reached */
}

void queue_reset(struct worker *w)
{
    w->next = 0;
    ring_init(&w->ring, w->ring.slot, w->pool->config.ring_capacity, 0);
    lifo_init(&w->lifo, w->lifo.slot, w->pool->config.ring_capacity, 0);
    w->locked.lock = 0; /* perhaps held by a thread that is not here */
    w->locked.count = 0;
}

/* Tasks that their joiner has run already need not go on; returns how many are left. */
static size_t drop_stale(struct worker *w, work_item *items, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        filch_task *t = item_as_task(items[i]);
        if (t && task_is_stale(t))
            task_free(&w->pool->tasks, &w->tasks, t);
        else
            items[kept++] = items[i];
    }
    return kept;
}

static void overflow(struct worker *w, const work_item *items, size_t n)
{
    inject_push_many(&w->pool->injector, items, n);
    EV_N(w, OVERFLOW, n);
}

static bool push_full(struct worker *w, work_item it)
{
    work_item half[BATCH];
    bool plain = w->pool->plain;
    size_t n = plain ? ring_push_batch_out(&w->ring, half, BATCH)
                     : lifo_push_batch_out(&w->lifo, half, BATCH);
    n = drop_stale(w, half, n);
    if (n > 0)
        overflow(w, half, n);
    return plain ? ring_push(&w->ring, it) : lifo_push(&w->lifo, it);
}

void queue_push(struct worker *w, work_item it)
{
    filch_pool *pool = w->pool;
    bool done;
    if (__builtin_expect(pool->plain, 1))
        done = ring_push(&w->ring, it) || push_full(w, it);
    else if (locked_kind(pool))
        done = locked_push(locked_of(w), it) == 0;
    else
        done = lifo_push(&w->lifo, it) || push_full(w, it);
    if (!done)
        overflow(w, &it, 1);
}

void queue_push_many(struct worker *w, const work_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        queue_push(w, items[i]);
}

/* What comes soon is fetched into the cache meanwhile: who waits for long, or in a crowd, has left it. So has
 * the page table for its stack, and to walk that takes as long again; the next locked step of this worker
 * waits for it. Many at once take hardly longer than one. */
static inline void look_ahead(const struct ring *r)
{
    if (!FILCH_PREFETCH)
        return;
    /* order: relaxed, hints */
    uint64_t h = filch_load_relaxed(&r->head), n = filch_load_relaxed(&r->tail) - h;
    if (__builtin_expect(n <= AHEAD_FAR || n > r->mask, 1))
        return;
    for (uint64_t i = 0; h % AHEAD_BURST == 0 && i < AHEAD_BURST; i++) /* order: relaxed, a hint */
        item_touch(filch_load_relaxed(&r->slot[(h + AHEAD_BURST + i) & r->mask]));
    /* order: relaxed, hints */
    work_item far = filch_load_relaxed(&r->slot[(h + AHEAD_FAR) & r->mask]);
    work_item near = filch_load_relaxed(&r->slot[(h + AHEAD_NEAR) & r->mask]);
    item_fetch(far);
    item_fetch_stack(near);
}

bool queue_pop(struct worker *w, work_item *out)
{
    if (__builtin_expect(w->pool->plain, 1)) {
        bool any = w->pool->alone ? ring_pop_alone(&w->ring, out) : ring_pop(&w->ring, out);
        look_ahead(&w->ring);
        return any;
    }
    if (locked_kind(w->pool))
        return locked_pop(locked_of(w), owner_end(w->pool), out) > 0;
    return lifo_pop(&w->lifo, out);
}

/* ---- next --------------------------------------------------------------------------------- */

static inline work_item next_put(struct worker *w, work_item it)
{
    if (!w->pool->alone)
        return filch_xchg_acq_rel(&w->next, it); /* order: [N1] */
    work_item old = w->next;
    filch_store_relaxed(&w->next, it); /* order: own word, and there are no thieves */
    return old;
}

bool queue_push_next(struct worker *w, work_item it)
{
    work_item old = 0;
    bool lent = w->lent;
    if (!w->pool->run_next) {
        queue_push(w, it);
        return true;
    }
    w->lent = true;
    filch_store_relaxed(&w->puts, w->puts + 1); /* order: a hint to thieves */
    if (filch_load_relaxed(&w->next)) /* order: own word; thieves only empty it */
        old = next_put(w, it);
    else
        filch_store_release(&w->next, it); /* order: [N1] */
    if (old)
        queue_push(w, old);
    return lent;
}

static inline work_item next_take(struct worker *w)
{
    if (!w->pool->alone)
        return filch_xchg_acq_rel(&w->next, (work_item)0); /* order: [N1] against a thief's CAS */
    work_item it = w->next;
    filch_store_relaxed(&w->next, (work_item)0); /* order: own word, and there are no thieves */
    return it;
}

bool queue_take_next(struct worker *w, work_item *out)
{
    if (!filch_load_relaxed(&w->next)) /* order: own word; thieves only empty it */
        return false;
    *out = next_take(w);
    if (*out)
        w->lent = false;
    return *out != 0;
}

work_item queue_take(struct worker *w)
{
    work_item it;
    bool turn = w->streak >= WORKER_STREAK;
    if (!turn && queue_take_next(w, &it)) {
        w->streak++;
        return it;
    }
    w->streak = 0;
    return queue_pop(w, &it) || (turn && queue_take_next(w, &it)) ? it : 0;
}

bool queue_retract_next(struct worker *w, work_item it)
{
    /* order: own word; the CAS is against a thief's [N1] */
    bool back = filch_load_relaxed(&w->next) == it && filch_cas_acq_rel(&w->next, &it, (work_item)0);
    if (back)
        w->lent = false;
    return back;
}

void queue_flush_next(struct worker *w)
{
    work_item it;
    if (queue_take_next(w, &it))
        queue_push(w, it);
}

/* Is what the thief has its eye on still there, not put there anew (a task that was joined at once is made
 * again in the same place), and has its owner picked nothing since? If another's is looked at meanwhile, only
 * for a while: it may not come back to the first. */
static bool still_eyed(struct worker *w, struct worker *victim, int64_t now)
{
    struct worker *v = w->eyed.victim;
    if (v != victim && now - w->eyed.since_ns > EYED_MOST_NS)
        return false;
    /* order: hints, the CAS decides */
    return v && filch_load_relaxed(&v->next) == w->eyed.item &&
           filch_load_relaxed(&v->tick) == w->eyed.tick && filch_load_relaxed(&v->puts) == w->eyed.puts;
}

enum queue_result queue_steal_next(struct worker *w, struct worker *victim, work_item *out)
{
    work_item it = filch_load_relaxed(&victim->next); /* order: the CAS decides */
    if (!it)
        return QUEUE_EMPTY;
    int64_t now = os_clock_ns();
    /* One at a time, or two that are looked at in turn would never be taken. */
    if (!still_eyed(w, victim, now)) {
        w->eyed.victim = victim;
        w->eyed.item = it;
        w->eyed.tick = filch_load_relaxed(&victim->tick); /* order: a hint */
        w->eyed.puts = filch_load_relaxed(&victim->puts); /* order: a hint */
        w->eyed.since_ns = now;
        return QUEUE_EMPTY;
    }
    if (w->eyed.victim != victim || w->eyed.item != it || now - w->eyed.since_ns < EYED_NS)
        return QUEUE_EMPTY;
    *out = it;
    if (!filch_cas_acq_rel(&victim->next, &it, (work_item)0)) /* order: [N1] */
        return QUEUE_CONTENDED;
    EV(w, STEAL_JOB);
    EV(w, STEAL_NEXT);
    return QUEUE_TAKEN;
}

/* ---- thieves ------------------------------------------------------------------------------ */

static enum queue_result taken(struct worker *w, int n)
{
    if (n <= 0)
        return n < 0 ? QUEUE_CONTENDED : QUEUE_EMPTY;
    EV_N(w, STEAL_JOB, n);
    if (n > 1)
        EV(w, STEAL_BATCH);
    return QUEUE_TAKEN;
}

static enum queue_result steal_locked(struct worker *w, struct worker *victim, work_item *out)
{
    filch_pool *pool = w->pool;
    if (pool->config.queue <= FILCH_QUEUE_PRIVATE)
        return QUEUE_EMPTY;
    work_item batch[BATCH];
    int n = locked_steal_many(&victim->locked, thief_end(pool),
                              pool->config.queue == FILCH_QUEUE_TRYLOCK ? LOCKED_TRY : LOCKED_BLOCK,
                              pool->config.steal, batch, BATCH);
    if (n > 0) {
        *out = batch[0];
        queue_push_many(w, batch + 1, (size_t)n - 1);
    }
    return taken(w, n);
}

enum queue_result queue_steal(struct worker *w, struct worker *victim, work_item *out)
{
    enum filch_steal how = w->pool->config.steal;
    if (__builtin_expect(w->pool->plain, 1))
        return taken(w, ring_steal(&victim->ring, &w->ring, how, out));
    if (locked_kind(w->pool))
        return steal_locked(w, victim, out);
    return taken(w, lifo_steal(&victim->lifo, &w->lifo, how, out));
}

size_t queue_size(struct worker *w)
{
    if (__builtin_expect(w->pool->plain, 1))
        return ring_size(&w->ring);
    return locked_kind(w->pool) ? locked_size(locked_of(w)) : lifo_size(&w->lifo);
}
