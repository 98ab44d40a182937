/* sim_queue.c: queues, their ends and their locks. */
#include "sim/sim_state.h"

#include <errno.h>
#include <stdlib.h>

#define QUEUE_FIRST 8u /* places of a queue when it is used first */

/* ---- places ------------------------------------------------------------------------------- */

static bool sim_queue_grow(struct sim *s, struct sim_queue *q)
{
    uint32_t room = q->item ? 2 * (q->mask + 1) : QUEUE_FIRST, n = sim_queue_length(q);
    uint32_t *more = room > 1u << 30 ? NULL : malloc(room * sizeof *more);
    if (!more) {
        sim_fail(s, -ENOMEM, "no memory for a queue");
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        more[i] = q->item[(q->head + i) & q->mask];
    free(q->item);
    q->item = more;
    q->mask = room - 1;
    q->head = 0;
    q->tail = n;
    return true;
}

/* As the newest. */
void sim_queue_add(struct sim *s, struct sim_queue *q, uint32_t t)
{
    if ((!q->item || sim_queue_length(q) > q->mask) && !sim_queue_grow(s, q))
        return;
    q->item[q->tail++ & q->mask] = t;
    s->queued++;
}

/* The newest or the oldest; the queue is not empty. */
uint32_t sim_queue_remove(struct sim *s, struct sim_queue *q, bool newest)
{
    s->queued--;
    return newest ? q->item[--q->tail & q->mask] : q->item[q->head++ & q->mask];
}

struct sim_queue *sim_queue_of(struct sim *s, struct sim_worker *w)
{
    return s->config->policy.queue == FILCH_QUEUE_SHARED ? &s->global : &w->queue;
}

static enum filch_ends ends_of(const struct sim *s)
{
    return choice_ends((enum filch_ends)s->config->policy.ends, s->config->policy.queue);
}

bool sim_queue_owner_newest(const struct sim *s)
{
    return s->config->policy.queue != FILCH_QUEUE_SHARED && ends_of(s) == FILCH_ENDS_LIFO;
}

bool sim_queue_thief_newest(const struct sim *s)
{
    return ends_of(s) == FILCH_ENDS_REVERSE;
}

uint32_t sim_queue_amount(const struct sim *s, uint32_t n)
{
    uint64_t permille = s->config->policy.steal_permille;
    if (permille)
        return (uint32_t)((n * permille + 999) / 1000);
    return (uint32_t)choice_amount((enum filch_steal)s->config->policy.steal, n);
}

void sim_queue_put(struct sim *s, struct sim_worker *w, uint32_t t)
{
    struct sim_queue *q = sim_queue_of(s, w);
    uint32_t limit = q == &s->global ? 0 : s->config->policy.ring;
    if (limit && sim_queue_length(q) >= limit) {
        for (uint32_t n = limit - limit / 2; n > 0; n--) {
            sim_queue_add(s, &s->global, sim_queue_remove(s, q, false));
            s->result->overflowed++;
        }
    }
    sim_queue_add(s, q, t);
    if (sim_queue_length(q) > w->count.longest)
        w->count.longest = sim_queue_length(q);
}

/* ---- locks -------------------------------------------------------------------------------- */

/* A lock is given in the order in which it was asked for, so the time at which it is free again says all.
 * With own_end, owner and thief have a lock each, but for a queue with one task or none. */
static bool ends_apart(const struct sim *s, const struct sim_queue *q)
{
    return s->config->own_end && sim_queue_length(q) > 1;
}

static sim_time lock_free_at(const struct sim *s, const struct sim_queue *q, bool newest)
{
    sim_time a = q->free_at[newest], b = q->free_at[!newest];
    return ends_apart(s, q) || a > b ? a : b;
}

bool sim_queue_is_locked(const struct sim *s, const struct sim_queue *q, bool newest, sim_time now)
{
    return lock_free_at(s, q, newest) > now;
}

sim_time sim_queue_lock(struct sim *s, struct sim_worker *w, struct sim_queue *q, bool newest, sim_time now)
{
    sim_time free_at = lock_free_at(s, q, newest);
    sim_time hold = dist_draw(&s->config->costs.lock, rng_next(&w->rng));
    sim_time done = sim_later(s, free_at > now ? free_at : now, hold);
    w->count.contended += free_at > now;
    q->free_at[newest] = done;
    if (!ends_apart(s, q))
        q->free_at[!newest] = done;
    return done;
}
