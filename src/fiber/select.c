/* select.c: one of several operations on channels.
 *
 * First each channel is tried by itself, from a random one on: most selects end there. Otherwise all
 * of them are locked at once, in the order of their addresses, tried again, and a waiter for each case is
 * listed before any is let go. So a select either acts or is listed everywhere; while it looks at others'
 * waiters nobody can look at its own, and it needs to claim one wait only, the other's. (One lock at a
 * time would have to claim two waits in one step, its own and the other's, when two selects meet.)
 * Whoever claims its wait decides which case it was; the other waiters leave their lists afterwards.
 */
#include "core/budget.h"
#include "core/report.h"
#include "fiber/chan.h"

#include <errno.h>

struct locks {
    filch_chan *chan[FILCH_SELECT_MOST];
    size_t count;
};

static uint32_t turns; /* for threads outside */

static size_t random_start(size_t n)
{
    struct worker *w = worker_self();
    if (n < 2)
        return 0;
    if (w)
        return rng_below(&w->rng, (uint32_t)n);
    return rng_mix(filch_add_relaxed(&turns, 1u)) % n; /* order: any number will do */
}

static inline size_t after(size_t i, size_t n)
{
    return i + 1 == n ? 0 : i + 1;
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

static int try_each(struct filch_case *cases, size_t n, size_t start)
{
    for (size_t k = 0, i = start; k < n; k++, i = after(i, n))
        if (try_one(&cases[i]))
            return (int)i;
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
static int act_on_one(struct filch_case *cases, size_t n, size_t start, struct chan_waiter **served)
{
    for (size_t k = 0, i = start; k < n; k++, i = after(i, n)) {
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

static void list_all(struct filch_case *cases, size_t n, struct chan_waiter *waiters, struct wait *w)
{
    wait_begin(w);
    wait_about(w, &about_select, cases);
    for (size_t i = 0; i < n; i++) {
        waiters[i] = (struct chan_waiter){.node = {.wait = w, .index = (int32_t)i},
                                          .item = cases[i].item};
        if (cases[i].chan)
            wait_list_add(&cases[i].chan->waiting[cases[i].op], &waiters[i].node);
    }
}

static int wait_for_one(struct filch_case *cases, size_t n, size_t start, int64_t deadline)
{
    struct wait w;
    struct chan_waiter waiters[FILCH_SELECT_MOST], *served = 0;
    struct locks locks;
    lock_all(&locks, cases, n);
    int which = act_on_one(cases, n, start, &served);
    if (which < 0)
        list_all(cases, n, waiters, &w);
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
    size_t start = random_start(n);
    int which = try_each(cases, n, start);
    if (which < 0 && deadline > FILCH_NOW)
        return wait_for_one(cases, n, start, deadline);
    if (which < 0)
        return wait_error(WAIT_TIMEOUT);
    budget_spend();
    return which;
}
