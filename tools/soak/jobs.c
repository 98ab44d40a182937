/* jobs.c: jobs in the caller's storage and detached ones, to every place, from outside and from
 * other jobs, waited for in every way. */
#include "soak.h"

#include <errno.h>

enum { WIDTH = 4 };

/* ---- jobs that submit jobs ----------------------------------------------------------------- */

/* The last cell of a crowd to be over raises `all`. */
struct crowd {
    struct driver *d;
    filch_pool *pool;
    uint32_t left;
    bool waits;      /* some jobs wait for those that they submitted */
    filch_event all;
};

static struct crowd crowds[SOAK_DRIVERS];

static void one_less(struct crowd *c)
{
    if (filch_sub_acq_rel(&c->left, 1u) == 1) /* order: all that the jobs wrote, before the event */
        filch_event_set(&c->all);
}

static void leaf(void *arg)
{
    struct cell *c = arg;
    cell_run(c);
    one_less(&crowds[c->driver->index]);
}

static void branch(void *arg);

/* Submits the branch over cells [from, to). Inside a job of the pool or outside. */
static void submit_branch(struct crowd *crowd, uint32_t from, uint32_t to, uint32_t hash)
{
    struct driver *d = crowd->d;
    cell_init(d, from, branch);
    d->cell[from].end = to;
    d->cell[from].salt = hash;
    bool here = filch_pool_current() == crowd->pool && hash & 1;
    int where = draw_where_of(hash >> 1);
    int rc = here ? filch_submit(&d->job[from], where)
                  : filch_submit_on(crowd->pool, &d->job[from], where);
    if (rc != 0)
        tally_wrong(d, "filch_submit returns %d", rc);
}

/* Waits inside a job, now and then with a deadline first. */
static void wait_inside(struct driver *d, filch_job *job, uint32_t hash)
{
    int rc = -ETIMEDOUT;
    if (hash & 1)
        rc = filch_job_wait(job, hash & 2 ? FILCH_NOW : filch_clock_ns() + 20000);
    if (rc == -ETIMEDOUT)
        rc = filch_job_wait(job, FILCH_FOREVER);
    if (rc != 0 || !filch_job_done(job))
        tally_wrong(d, "filch_job_wait returns %d inside a job", rc);
}

static void branch(void *arg)
{
    struct cell *c = arg;
    struct crowd *crowd = &crowds[c->driver->index];
    uint32_t at = c->index + 1, parts = 0, start[WIDTH], hash = (uint32_t)rng_mix(c->salt + c->index);
    cell_run(c);
    while (at < c->end) {
        uint32_t left = c->end - at;
        uint32_t size = parts + 1 == WIDTH ? left : 1 + (uint32_t)rng_mix(hash + at) % left;
        start[parts++] = at;
        submit_branch(crowd, at, at + size, hash + at);
        at += size;
    }
    bool waits = crowd->waits && hash % 4 == 0;
    for (uint32_t i = 0; waits && i < parts; i++)
        wait_inside(c->driver, &c->driver->job[start[i]], hash >> i);
    one_less(crowd);
}

/* ---- from outside -------------------------------------------------------------------------- */

static void submit_leaves(struct crowd *crowd, uint32_t from, uint32_t n)
{
    struct driver *d = crowd->d;
    for (uint32_t i = from; i < from + n; i++)
        cell_init(d, i, leaf);
    int rc = filch_submit_array_on(crowd->pool, &d->job[from], n, draw_where(d));
    if (rc != (int)n)
        tally_wrong(d, "filch_submit_array_on returns %d for %u jobs", rc, n);
}

static void submit_all(struct crowd *crowd, uint32_t n)
{
    struct driver *d = crowd->d;
    for (uint32_t at = 0, size; at < n; at += size) {
        uint32_t left = n - at;
        size = 1 + driver_below(d, driver_chance(d, 4) ? 600 : 40);
        size = size < left ? size : left;
        if (driver_chance(d, 2))
            submit_leaves(crowd, at, size);
        else
            submit_branch(crowd, at, at + size, (uint32_t)rng_next(&d->rng));
        if (driver_chance(d, 16))
            driver_step(d);
    }
}

/* A foreign thread's wait. Only jobs that were certainly submitted. */
static void wait_outside(struct driver *d, filch_job *job)
{
    int rc = -ETIMEDOUT;
    while (rc == -ETIMEDOUT && driver_chance(d, 2))
        rc = filch_job_wait(job, driver_chance(d, 2) ? FILCH_NOW
                                                    : filch_clock_ns() + driver_below(d, 300) * 1000);
    if (rc == -ETIMEDOUT)
        rc = filch_job_wait(job, FILCH_FOREVER);
    if (rc != 0 || !filch_job_done(job))
        tally_wrong(d, "filch_job_wait returns %d", rc);
}

static void wait_all(struct crowd *crowd, struct drawn p, uint32_t n)
{
    struct driver *d = crowd->d;
    if (driver_chance(d, 2))
        wait_outside(d, &d->job[0]);
    if (p.own && driver_chance(d, 2)) {
        while (filch_pool_wait(p.pool, filch_clock_ns() + driver_below(d, 2000) * 1000) == -ETIMEDOUT)
            continue;
        if (!filch_event_is_set(&crowd->all))
            tally_wrong(d, "filch_pool_wait returned before all jobs were over");
    }
    filch_event_wait(&crowd->all);
    driver_step(d);
    for (uint32_t i = 0; i < n; i++)
        wait_outside(d, &d->job[i]);
    driver_step(d);
}

static void crowd_run(struct driver *d, struct drawn p, uint32_t n, bool waits)
{
    struct crowd *crowd = &crowds[d->index];
    *crowd = (struct crowd){.d = d, .pool = p.pool, .left = n, .waits = waits};
    d->born += n;
    submit_all(crowd, n);
    wait_all(crowd, p, n);
    cell_check(d, 0, n, 0);
}

static void crowds_run(struct driver *d, unsigned need, uint32_t most, bool waits)
{
    struct drawn p = draw_pool(d, need);
    uint32_t rounds = driver_range(d, 1, 12);
    for (uint32_t i = 0; i < rounds && !soak_ending(); i++)
        crowd_run(d, p, 1 + driver_below(d, most), waits);
    draw_done(d, p);
}

void phase_jobs(struct driver *d)
{
    crowds_run(d, DRAW_ANY, SOAK_CELLS - 1, false);
}

/* Each job that waits keeps a stack: fewer jobs. */
void phase_waits(struct driver *d)
{
    crowds_run(d, DRAW_SUSPEND, SOAK_SLOW ? 100 : 300, true);
}

/* ---- detached ------------------------------------------------------------------------------ */

static void detached(void *arg);

static void tidy(void *arg)
{
    struct cell *c = arg;
    cell_cleanup(c);
    one_less(&crowds[c->driver->index]);
}

static void submit_detached(struct driver *d, uint32_t index, int where)
{
    int rc = filch_submit_detached_on(crowds[d->index].pool, detached, &d->cell[index], tidy, where);
    if (rc != 0)
        tally_wrong(d, "filch_submit_detached_on returns %d", rc);
}

/* A chain: each submits the next. */
static void detached(void *arg)
{
    struct cell *c = arg;
    cell_run(c);
    if (c->index + 1 == c->end)
        return;
    c->driver->cell[c->index + 1].end = c->end;
    submit_detached(c->driver, c->index + 1, draw_where_of(c->index));
}

static void detached_round(struct driver *d, struct drawn p, uint32_t n)
{
    struct crowd *crowd = &crowds[d->index];
    *crowd = (struct crowd){.d = d, .pool = p.pool, .left = n};
    d->born += n;
    for (uint32_t i = 0; i < n; i++)
        cell_init(d, i, detached);
    for (uint32_t at = 0, size; at < n; at += size) {
        size = 1 + driver_below(d, n - at < 20 ? n - at : 20);
        d->cell[at].end = at + size;
        submit_detached(d, at, draw_where(d));
    }
    driver_step(d);
    if (p.own && filch_pool_wait(p.pool, FILCH_FOREVER) != 0)
        tally_wrong(d, "filch_pool_wait fails");
    filch_event_wait(&crowd->all);
    driver_step(d);
    cell_check(d, 0, n, 1);
}

void phase_detached(struct driver *d)
{
    struct drawn p = draw_pool(d, DRAW_ANY);
    uint32_t rounds = driver_range(d, 1, 12);
    for (uint32_t i = 0; i < rounds && !soak_ending(); i++)
        detached_round(d, p, 1 + driver_below(d, SOAK_CELLS - 1));
    draw_done(d, p);
}
