/* pools.c: pools that come and go, shut down in the middle, and crowds of guests. */
#include "soak.h"

#include <errno.h>

/* ---- churn --------------------------------------------------------------------------------- */

/* Jobs are left behind: the destruction waits for them. */
static void churn_once(struct driver *d)
{
    struct drawn p = draw_pool(d, DRAW_OWN | DRAW_DEEP);
    uint32_t n = driver_below(d, 60);
    if (driver_chance(d, 2))
        tree_run(d, p.pool, 1 + driver_below(d, 300), driver_below(d, 1000));
    for (uint32_t i = 0; i < n; i++) {
        cell_init(d, i, cell_run);
        d->job[i].cleanup = cell_cleanup;
        if (filch_submit_on(p.pool, &d->job[i], draw_where(d)) != 0)
            tally_wrong(d, "filch_submit_on fails");
    }
    d->born += n;
    draw_done(d, p);
    if (p.own)
        cell_check(d, 0, n, 1);
}

void phase_churn(struct driver *d)
{
    uint32_t rounds = driver_range(d, 1, SOAK_SLOW ? 5 : 20);
    for (uint32_t i = 0; i < rounds && !soak_ending(); i++)
        churn_once(d);
}

/* ---- shutdown ------------------------------------------------------------------------------ */

enum { SUBMITTERS = 3, SHARE = SOAK_CELLS / (SUBMITTERS + 1) };

/* Each submitter has a share of the cells; `result` is how many were accepted. */
static uint64_t submit_until_closed(struct driver *d, filch_pool *pool, uint32_t first, struct rng *rng)
{
    for (uint32_t i = 0; i < SHARE; i++) {
        cell_init(d, first + i, cell_run);
        int rc = filch_submit_on(pool, &d->job[first + i], draw_where_of(rng_below(rng, 1000)));
        if (rc == -EPIPE)
            return i;
        if (rc != 0)
            tally_wrong(d, "filch_submit_on returns %d while the pool shuts down", rc);
        if (rng_below(rng, 100) == 0)
            soak_nap_us(rng_below(rng, 50));
    }
    return SHARE;
}

static void submitter(struct stranger *s)
{
    s->result = submit_until_closed(s->driver, s->arg, s->number * SHARE, &s->rng);
}

/* Returns how many jobs of this phase had run when the pool said that it was shut down. */
static uint64_t shut(struct driver *d, filch_pool *pool)
{
    int rc;
    do {
        rc = filch_pool_shutdown(pool, filch_clock_ns() + driver_below(d, 1000) * 1000);
        driver_step(d);
    } while (rc == -ETIMEDOUT);
    if (rc != 0)
        tally_wrong(d, "filch_pool_shutdown returns %d", rc);
    return tally_sum(&d->tally);
}

static void stays_shut(struct driver *d, filch_pool *pool)
{
    filch_job late;
    filch_job_init(&late, cell_run, NULL);
    if (filch_submit_on(pool, &late, FILCH_ANYWHERE) != -EPIPE)
        tally_wrong(d, "a job is accepted after the shutdown");
}

static void shutdown_once(struct driver *d)
{
    struct drawn p = draw_pool(d, DRAW_OWN);
    struct stranger s[SUBMITTERS];
    if (!p.own)
        return;
    uint32_t n = stranger_start(s, 1 + driver_below(d, SUBMITTERS), d, submitter, p.pool);
    soak_nap_us(driver_below(d, 1000));
    uint64_t ran = shut(d, p.pool);
    stranger_join(s, n);
    stays_shut(d, p.pool);
    for (uint32_t i = 0; i < n; i++) {
        d->born += s[i].result;
        cell_check(d, i * SHARE, (uint32_t)s[i].result, 0);
    }
    if (ran != d->born)
        tally_wrong(d, "%llu jobs were accepted, but %llu had run when the pool was shut down",
                    (unsigned long long)d->born, (unsigned long long)ran);
    draw_done(d, p);
}

void phase_shutdown(struct driver *d)
{
    uint32_t rounds = driver_range(d, 1, SOAK_SLOW ? 3 : 8);
    for (uint32_t i = 0; i < rounds && !soak_ending(); i++)
        shutdown_once(d);
}

/* ---- guests -------------------------------------------------------------------------------- */

enum { GUESTS = 4, GUEST_MARKS = SOAK_MARKS / (GUESTS + 1) };

struct party {
    filch_pool *pool;
    uint32_t rounds;
};

/* All want seat 0 of one pool. Each has its own marks. Returns the number of tasks. */
static uint32_t guest_round(struct driver *d, filch_pool *pool, uint32_t first, struct rng *rng)
{
    uint32_t most = rng_below(rng, 2) ? 100 : GUEST_MARKS - 1;
    uint32_t n = 1 + rng_below(rng, most), shape = rng_below(rng, 1000);
    long said = tree_part(d, pool, first, n, shape);
    if (said != (long)n)
        tally_wrong(d, "a guest's tree of %u tasks says it has %ld", n, said);
    for (uint32_t i = first; i < first + n; i++) {
        uint8_t times = filch_load_relaxed(&d->mark[i]); /* order: the tree is over */
        if (times != 1)
            tally_wrong(d, "task %u of a guest's tree ran %u times", i, times);
        filch_store_relaxed(&d->mark[i], (uint8_t)0); /* order: as above */
    }
    return n;
}

static void guest(struct stranger *s)
{
    struct party *party = s->arg;
    for (uint32_t i = 0; i < party->rounds; i++)
        s->result += guest_round(s->driver, party->pool, (s->number + 1) * GUEST_MARKS, &s->rng);
}

void phase_guests(struct driver *d)
{
    struct stranger s[GUESTS];
    struct drawn p = draw_pool(d, DRAW_DEEP);
    struct party party = {p.pool, driver_range(d, 1, 20)};
    uint32_t n = stranger_start(s, driver_range(d, 1, GUESTS), d, guest, &party);
    tree_run(d, p.pool, 1 + driver_below(d, GUEST_MARKS - 1), driver_below(d, 1000));
    stranger_join(s, n);
    for (uint32_t i = 0; i < n; i++)
        d->born += s[i].result;
    draw_done(d, p);
}
