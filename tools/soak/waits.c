/* waits.c: events between pools and threads, pools that call each other, pinned jobs. */
#define _GNU_SOURCE /* gettid */
#include "soak.h"

#include <stddef.h>
#include <unistd.h>

enum { STAGES = SOAK_SLOW ? 24 : 60 };

/* ---- events -------------------------------------------------------------------------------- */

/* A relay: the runner of stage i waits for event i, then sets event i + 1. */
struct relay {
    filch_event event[STAGES + 1];
};

static struct relay relays[SOAK_DRIVERS];

static void raise_event(void *event)
{
    filch_event_set(event);
}

/* The event that is waited for is set by a fork of the waiter: it must stay visible meanwhile. */
static void runner_forks(struct driver *d, uint32_t index)
{
    filch_event own = {0};
    filch_job job;
    filch_fork(&job, raise_event, &own);
    filch_event_wait(&own);
    filch_join(&job);
    if (!filch_event_is_set(&own))
        tally_wrong(d, "the wait of stage %u returned before its event was set", index);
}

static void runner(void *arg)
{
    struct cell *c = arg;
    struct relay *r = &relays[c->driver->index];
    if (c->salt & 1)
        runner_forks(c->driver, c->index);
    filch_event_wait(&r->event[c->index]);
    cell_run(c);
    filch_event_set(&r->event[c->index + 1]);
}

/* The order of submission is not that of the relay. */
static void relay_submit(struct driver *d, struct drawn *p, uint32_t n)
{
    uint32_t order[STAGES];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = driver_below(d, i + 1);
        order[i] = i; /* j may be i */
        order[i] = order[j];
        order[j] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        cell_init(d, order[i], runner);
        d->cell[order[i]].salt = (uint32_t)rng_next(&d->rng);
        int rc = filch_submit_on(p[driver_below(d, 2)].pool, &d->job[order[i]], draw_where(d));
        if (rc != 0)
            tally_wrong(d, "filch_submit_on returns %d", rc);
    }
}

static void relay_watch(struct stranger *s)
{
    struct relay *r = s->arg;
    filch_event_wait(&r->event[rng_below(&s->rng, STAGES / 2)]);
}

static void relay_run(struct driver *d, struct drawn *p)
{
    struct relay *r = &relays[d->index];
    struct stranger s[2];
    uint32_t n = driver_range(d, STAGES / 2, STAGES), watchers = driver_chance(d, 4) ? 2 : 0;
    *r = (struct relay){0};
    d->born += n;
    watchers = stranger_start(s, watchers, d, relay_watch, r);
    relay_submit(d, p, n);
    filch_event_set(&r->event[0]);
    filch_event_wait(&r->event[n]);
    driver_step(d);
    for (uint32_t i = 0; i < n; i++)
        (void)filch_job_wait(&d->job[i], FILCH_FOREVER);
    stranger_join(s, watchers);
    driver_step(d);
    cell_check(d, 0, n, 0);
}

void phase_events(struct driver *d)
{
    struct drawn p[2] = {draw_pool(d, DRAW_SUSPEND), draw_pool(d, DRAW_SUSPEND)};
    uint32_t rounds = driver_range(d, 1, 20);
    for (uint32_t i = 0; i < rounds && !soak_ending(); i++)
        relay_run(d, p);
    draw_done(d, p[0]);
    draw_done(d, p[1]);
}

/* ---- pools that call each other ------------------------------------------------------------ */

enum { NESTED = SOAK_SLOW ? 12 : 40, NESTED_FIB = SOAK_SLOW ? 6 : 9 };

struct nest {
    struct driver *d;
    filch_pool *pool[2];
    int depth;
};

static void nest(void *arg)
{
    struct nest n = *(struct nest *)arg;
    filch_pool *other = n.pool[n.depth & 1];
    tally_count(n.d);
    if (n.depth-- > 0)
        filch_run_on(other, nest, &n);
    else
        tree_small(n.d, other, NESTED_FIB);
}

static uint64_t nest_tasks(int depth)
{
    return (uint64_t)depth + 1 + tree_small_tasks(NESTED_FIB);
}

struct nested {
    filch_job job;
    struct nest nest;
};
static struct nested nested[SOAK_DRIVERS][NESTED];

static void nested_job(void *arg)
{
    nest(&((struct nested *)arg)->nest);
}

static void nested_round(struct driver *d, struct drawn *p)
{
    struct nested *all = nested[d->index];
    uint32_t n = 1 + driver_below(d, NESTED);
    for (uint32_t i = 0; i < n; i++) {
        all[i].nest = (struct nest){d, {p[0].pool, p[1].pool}, (int)driver_below(d, 5)};
        d->born += nest_tasks(all[i].nest.depth);
        filch_job_init(&all[i].job, nested_job, &all[i]);
        if (filch_submit_on(p[driver_below(d, 2)].pool, &all[i].job, draw_where(d)) != 0)
            tally_wrong(d, "filch_submit_on fails");
    }
    struct nest own = {d, {p[0].pool, p[1].pool}, (int)driver_below(d, 5)};
    d->born += nest_tasks(own.depth);
    filch_run_on(p[0].pool, nest, &own); /* as a guest, pinned */
    driver_step(d);
    for (uint32_t i = 0; i < n; i++)
        (void)filch_job_wait(&all[i].job, FILCH_FOREVER);
    driver_step(d);
}

void phase_nested(struct driver *d)
{
    struct drawn p[2] = {draw_pool(d, DRAW_SUSPEND | DRAW_DEEP), draw_pool(d, DRAW_SUSPEND | DRAW_DEEP)};
    uint32_t rounds = driver_range(d, 1, 10);
    for (uint32_t i = 0; i < rounds && !soak_ending(); i++)
        nested_round(d, p);
    draw_done(d, p[0]);
    draw_done(d, p[1]);
}

/* ---- pins ---------------------------------------------------------------------------------- */

enum { PINNED = SOAK_SLOW ? 20 : 100, PINNED_FIB = SOAK_SLOW ? 6 : 10 };

static void stays(struct driver *d, pid_t thread)
{
    if (gettid() != thread)
        tally_wrong(d, "a pinned job moved to another thread");
}

static void pinned_leaf(void *d)
{
    tally_count(d);
}

/* Pins nest; joins in between help instead of suspending. */
static void pinned_job(void *arg)
{
    struct cell *c = arg;
    filch_pin();
    pid_t thread = gettid();
    tree_small(c->driver, NULL, PINNED_FIB);
    stays(c->driver, thread);
    filch_pin();
    filch_join2(pinned_leaf, c->driver, pinned_leaf, c->driver);
    stays(c->driver, thread);
    filch_unpin();
    tree_small(c->driver, NULL, PINNED_FIB / 2);
    stays(c->driver, thread);
    filch_unpin();
    tree_small(c->driver, NULL, PINNED_FIB);
    cell_run(c);
}

void phase_pins(struct driver *d)
{
    struct drawn p = draw_pool(d, DRAW_DEEP);
    uint32_t rounds = driver_range(d, 1, 10), n = 1 + driver_below(d, PINNED);
    uint64_t each = 3 + 2 * tree_small_tasks(PINNED_FIB) + tree_small_tasks(PINNED_FIB / 2);
    for (uint32_t r = 0; r < rounds && !soak_ending(); r++) {
        d->born += n * each;
        for (uint32_t i = 0; i < n; i++) {
            cell_init(d, i, pinned_job);
            if (filch_submit_on(p.pool, &d->job[i], draw_where(d)) != 0)
                tally_wrong(d, "filch_submit_on fails");
        }
        for (uint32_t i = n; i-- > 0;)
            (void)filch_job_wait(&d->job[i], FILCH_FOREVER);
        driver_step(d);
        cell_check(d, 0, n, 0);
    }
    draw_done(d, p);
}
