/* select.c: one of several operations on channels.
 *
 * First each channel is tried by itself, in random order: most selects end there. Otherwise all of them are
 * locked at once, in the order of their addresses, tried again, and a waiter for each case is listed before
 * any is let go. That is in the same random order: of two cases with the same channel the one that is
 * listed first is served first. So a select either acts or is listed everywhere; while it looks at others'
 * waiters nobody can look at its own, and it needs to claim one wait only, the other's. (One lock at a time
 * would have to claim two waits in one step, its own and the other's, when two selects meet.) Whoever
 * claims its wait decides which case it was; the other waiters leave their lists afterwards.
 */
#include "core/budget.h"
#include "core/report.h"
#include "fiber/chan.h"

#include <errno.h>

struct locks {
    filch_chan *chan[FILCH_SELECT_MOST];
    size_t count;
};

/* A random permutation of the cases: all orders are as likely. What begins at a random case and goes on from
 * there would serve the first of two neighbours more often. */
struct order {
    uint8_t at[FILCH_SELECT_MOST];
    size_t n;
};

static uint32_t turns; /* for threads outside */

static void order_begin(struct order *o, size_t n)
{
    o->n = n;
    for (size_t i = 0; i < n; i++)
        o->at[i] = (uint8_t)i;
}

static void seed_outside(struct rng *rng)
{
    rng_seed(rng, filch_add_relaxed(&turns, 1u)); /* order: any number will do */
}

/* Draws the k-th of them, after those before it. */
static inline size_t order_draw(struct order *o, size_t k, struct rng *rng)
{
    size_t j = k + (k + 1 < o->n ? rng_below(rng, (uint32_t)(o->n - k)) : 0);
    uint8_t drawn = o->at[j];
    o->at[j] = o->at[k];
    o->at[k] = drawn;
    return drawn;
}

static void check_cases(const struct filch_case *cases, size_t n, int64_t deadline)
{
    if (n == 0 && deadline == FILCH_FOREVER)
        report_misuse("filch_select", "waits for ever for nothing");
    if (n > 0 && !cases)
        report_misuse("filch_select", "null cases");
    for (size_t i = 0; i < n; i++) {
        if (cases[i].op != FILCH_SEND && cases[i].op != FILCH_RECV)
            report_misuse("filch_select", "op is neither FILCH_SEND nor FILCH_RECV");
        if (cases[i].chan)
            chan_check(cases[i].chan, cases[i].item, "filch_select");
    }
}

/* ---- without waiting ------------------------------------------------------------------------ */

static bool try_one(struct filch_case *k)
{
    struct chan_waiter *served = 0;
    if (!k->chan)
        return false;
    lock_acquire(&k->chan->lock);
    int rc = chan_step(k->chan, k->op, k->item, &served);
    lock_release(&k->chan->lock);
    chan_resume(worker_self(), served);
    if (rc != CHAN_NOT_NOW)
        k->result = rc;
    return rc != CHAN_NOT_NOW;
}

/* The order is complete if none could happen. */
static int try_each(struct filch_case *cases, struct order *o)
{
    struct worker *w = worker_self();
    struct rng outside;
    if (!w)
        seed_outside(&outside);
    for (size_t k = 0; k < o->n; k++) {
        size_t i = order_draw(o, k, w ? &w->rng : &outside);
        if (try_one(&cases[i]))
            return (int)i;
    }
    return -ETIMEDOUT;
}

/* ---- all locks ------------------------------------------------------------------------------ */

/* By address, each once. */
static void insert(struct locks *l, filch_chan *c)
{
    size_t i = l->count;
    while (i > 0 && (uintptr_t)l->chan[i - 1] > (uintptr_t)c)
        i--;
    if (i > 0 && l->chan[i - 1] == c)
        return;
    for (size_t k = l->count; k > i; k--)
        l->chan[k] = l->chan[k - 1];
    l->chan[i] = c;
    l->count++;
}

static void lock_all(struct locks *l, const struct filch_case *cases, size_t n)
{
    l->count = 0;
    for (size_t i = 0; i < n; i++)
        if (cases[i].chan)
            insert(l, cases[i].chan);
    for (size_t i = 0; i < l->count; i++)
        lock_acquire(&l->chan[i]->lock);
}

static void release_all(struct locks *l)
{
    for (size_t i = 0; i < l->count; i++)
        lock_release(&l->chan[i]->lock);
}

/* All locked. No case sends to an unbounded channel, which would let go of its lock: that has happened
 * already, in try_each. */
static int act_on_one(struct filch_case *cases, const struct order *o, struct chan_waiter **served)
{
    for (size_t k = 0; k < o->n; k++) {
        size_t i = o->at[k];
        int rc = cases[i].chan ? chan_step(cases[i].chan, cases[i].op, cases[i].item, served)
                               : CHAN_NOT_NOW;
        if (rc != CHAN_NOT_NOW) {
            cases[i].result = rc;
            return (int)i;
        }
    }
    return -1;
}

/* The cases: an array, in the caller's hands. */
static const struct wait_subject about_select = {.call = "filch_select", .noun = "one of the cases at"};

static void list_all(struct filch_case *cases, const struct order *o, struct chan_waiter *waiters,
                     struct wait *w)
{
    wait_begin(w);
    wait_about(w, &about_select, cases);
    for (size_t k = 0; k < o->n; k++) {
        size_t i = o->at[k];
        waiters[i] = (struct chan_waiter){.node = {.wait = w, .index = (int32_t)i},
                                          .item = cases[i].item};
        if (cases[i].chan)
            wait_list_add(&cases[i].chan->waiting[cases[i].op], &waiters[i].node);
    }
}

static int wait_for_one(struct filch_case *cases, const struct order *o, int64_t deadline)
{
    size_t n = o->n;
    struct wait w;
    struct chan_waiter waiters[FILCH_SELECT_MOST], *served = 0;
    struct locks locks;
    lock_all(&locks, cases, n);
    int which = act_on_one(cases, o, &served);
    if (which < 0)
        list_all(cases, o, waiters, &w);
    release_all(&locks);
    chan_resume(worker_self(), served);
    if (which >= 0)
        return which;
    int why = wait_park(&w, deadline);
    for (size_t i = 0; i < n; i++)
        if (cases[i].chan && (int)i != why)
            chan_leave(cases[i].chan, cases[i].op, &waiters[i]);
    if (why < 0)
        return wait_error(why);
    cases[why].result = waiters[why].result;
    return why;
}

int filch_select(struct filch_case *cases, size_t n, int64_t deadline)
{
    if (n > FILCH_SELECT_MOST)
        return -EINVAL;
    check_cases(cases, n, deadline);
    struct order o;
    order_begin(&o, n);
    int which = try_each(cases, &o);
    if (which < 0 && deadline > FILCH_NOW)
        return wait_for_one(cases, &o, deadline);
    if (which < 0)
        return wait_error(WAIT_TIMEOUT);
    budget_spend();
    return which;
}
