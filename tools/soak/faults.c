/* faults.c: memory, pages, threads and barriers that are not to be had. What was accepted runs
 * once all the same; what was not says -ENOMEM. */
#include "seam.h"
#include "soak.h"

#include <errno.h>

static void allow(bool faults)
{
    struct seam_thread *t = seam_self();
    if (t)
        t->faults = faults;
}

/* Null after so many refusals that the phase is given up; that is no mistake. */
static filch_pool *pool_in_need(struct driver *d)
{
    filch_config c = draw_config(d, DRAW_SHARING | DRAW_DEEP);
    filch_pool *pool;
    for (int i = 0; i < 200; i++) {
        int rc = draw_create(d, &pool, &c);
        if (rc == 0)
            return pool;
        if (rc != -ENOMEM)
            tally_wrong(d, "filch_pool_create returns %d, not -ENOMEM", rc);
    }
    return NULL;
}

static void jobs_in_need(struct driver *d, filch_pool *pool)
{
    uint32_t n = 1 + driver_below(d, 400);
    for (uint32_t i = 0; i < n; i++) {
        cell_init(d, i, cell_run);
        d->job[i].cleanup = cell_cleanup;
        int rc = filch_submit_on(pool, &d->job[i], draw_where(d));
        if (rc != 0)
            tally_wrong(d, "filch_submit_on returns %d for lack of memory", rc);
    }
    d->born += n;
    for (uint32_t i = 0; i < n; i++)
        if (filch_job_wait(&d->job[i], FILCH_FOREVER) != 0)
            tally_wrong(d, "filch_job_wait fails");
    driver_step(d);
    cell_check(d, 0, n, 1);
}

/* A job that is refused leaves its cell to the next. */
static void detached_in_need(struct driver *d, filch_pool *pool)
{
    uint32_t n = 1 + driver_below(d, 400), accepted = 0;
    while (accepted < n) {
        cell_init(d, accepted, cell_run);
        int rc = filch_submit_detached_on(pool, cell_run, &d->cell[accepted], cell_cleanup, draw_where(d));
        if (rc == 0)
            accepted++;
        else if (rc != -ENOMEM)
            tally_wrong(d, "filch_submit_detached_on returns %d, not -ENOMEM", rc);
    }
    d->born += n;
    if (filch_pool_wait(pool, FILCH_FOREVER) != 0)
        tally_wrong(d, "filch_pool_wait fails");
    driver_step(d);
    cell_check(d, 0, n, 1);
}

static void round_in_need(struct driver *d, filch_pool *pool)
{
    switch (driver_below(d, 3)) {
    case 0: tree_run(d, pool, 1 + driver_below(d, SOAK_MARKS / 8), driver_below(d, 1000)); break;
    case 1: jobs_in_need(d, pool); break;
    default: detached_in_need(d, pool); break;
    }
}

void phase_faults(struct driver *d)
{
    allow(true);
    if (driver_chance(d, 6)) {
        deque_bout(d, true);
    } else {
        filch_pool *pool = pool_in_need(d);
        uint32_t rounds = driver_range(d, 1, 10);
        for (uint32_t i = 0; pool && i < rounds && !soak_ending(); i++)
            round_in_need(d, pool);
        if (pool)
            draw_destroy(d, pool);
    }
    allow(false);
}
