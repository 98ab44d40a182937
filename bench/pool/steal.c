/* steal.c: what it costs to take jobs from another worker, by the number of jobs that it has.
 *
 * A victim makes `size` jobs and then does nothing that would run one itself, so that thieves take
 * them all. The clock runs from the start of the first job to the start of the last, which leaves
 * out how long the first thief took to arrive.
 *
 * | shared field | writer                  | reader         | invariant                           |
 * |--------------|-------------------------|----------------|-------------------------------------|
 * | started      | each job, victim resets | each job       | number of jobs that have started    |
 * | first, last  | first and last job      | victim         | when it started; 0: has not yet     |
 *
 * [B1] release of `first` and `last` -> the victim's acquire: it would reset the race while a job
 *      is still to write to it.
 */
#include "pool_bench.h"
#include <filch/ord.h>
#include <sched.h>
#include <stdio.h>

#define VICTIM_SIZE 100
#define ROUNDS 200
#define GIVE_UP_NS 2000000000

static struct {
    int64_t first, last;
    int started;
    int jobs;
} race;

static void race_start(int jobs)
{
    race.jobs = jobs;
    /* order: relaxed, the fork or submit that follows publishes it */
    filch_store_relaxed(&race.started, 0);
    filch_store_relaxed(&race.first, 0);
    filch_store_relaxed(&race.last, 0);
}

static void race_step(void)
{
    int before = filch_add_relaxed(&race.started, 1); /* order: relaxed, only counts */
    if (before == 0)
        filch_store_release(&race.first, filch_clock_ns()); /* order: [B1] */
    else if (before == race.jobs - 1)
        filch_store_release(&race.last, filch_clock_ns()); /* order: [B1] */
}

/* Waits without helping; 0 if no thief came for long. */
static int race_wait(void)
{
    int64_t deadline = filch_clock_ns() + GIVE_UP_NS;
    /* order: [B1] */
    while (!filch_load_acquire(&race.first) || !filch_load_acquire(&race.last)) {
        if (filch_clock_ns() > deadline)
            return 0;
        sched_yield();
    }
    return 1;
}

/* Thousandths of a nanosecond per job. */
static int64_t race_cost(void)
{
    /* order: relaxed, after race_wait, which acquired; with several thieves the last job may have
     * read the clock before the first one did */
    int64_t ns = filch_load_relaxed(&race.last) - filch_load_relaxed(&race.first);
    return ns > 0 ? ns * 1000 / (race.jobs - 1) : 0;
}

/* ---- forks --------------------------------------------------------------------------------- */

FILCH_TASK_VOID(stolen)
{
    race_step();
}

FILCH_TASK(int, victim, int, n)
{
    FILCH_FORKS(jobs, stolen);
    race_start(n);
    for (int i = 0; i < n; i++)
        FILCH_FORK_ADD(stolen);
    int came = race_wait();
    while (FILCH_FORKS_LEFT(jobs))
        FILCH_JOIN_LAST(stolen, jobs);
    return came;
}

static int slots_once(filch_pool *pool, int n)
{
    return FILCH_RUN_ON(pool, victim, n);
}

/* ---- submitted jobs ------------------------------------------------------------------------ */

#define RING_MAX 256

struct ring_race {
    filch_job jobs[RING_MAX];
    filch_job victim;
    filch_pool *pool;
    int n, came;
};

static void ring_job(void *arg)
{
    (void)arg;
    race_step();
}

static void ring_victim(void *arg)
{
    struct ring_race *r = arg;
    race_start(r->n);
    for (int i = 0; i < r->n; i++) {
        filch_job_init(&r->jobs[i], ring_job, NULL);
        if (filch_submit_on(r->pool, &r->jobs[i], FILCH_ANYWHERE))
            return;
    }
    r->came = race_wait();
}

static int ring_once(filch_pool *pool, int n)
{
    static struct ring_race r;
    r.pool = pool;
    r.n = n;
    r.came = 0;
    filch_job_init(&r.victim, ring_victim, &r);
    if (filch_submit_on(pool, &r.victim, 0))
        return 0;
    while (!filch_job_done(&r.victim))
        pool_sleep_ns(100000);
    return filch_pool_wait(pool, FILCH_FOREVER) == 0 && r.came;
}

/* ---- both ---------------------------------------------------------------------------------- */

static const char *steal_measure(const struct pool_request *ask, enum filch_steal amount,
                                 int (*once)(filch_pool *, int), struct pool_report *out)
{
    static int64_t costs[ROUNDS];
    int n = ask->size ? ask->size : VICTIM_SIZE;
    if (ask->workers < 2)
        return "stealing needs two workers";
    if (n < 2 || n > RING_MAX)
        return "the size of the victim is 2 to 256 jobs";
    filch_pool *pool = pool_make(ask, FILCH_QUEUE_RING, amount);
    if (!pool)
        return "the pool cannot be made";
    for (int i = 0; i < ROUNDS; i++) {
        if (!once(pool, n))
            return "no thief came";
        costs[i] = race_cost();
    }
    filch_pool_destroy(pool);
    out->size = n;
    out->ns_per_op = (double)pool_percentile(costs, ROUNDS, 0) / 1000;
    snprintf(out->more, sizeof out->more, " median_ns_per_op=%.3f",
             (double)pool_percentile(costs, ROUNDS, 0.5) / 1000);
    return NULL;
}

/* Forked jobs, one per steal. */
const char *steal_slots(const struct pool_request *ask, struct pool_report *out)
{
    return steal_measure(ask, FILCH_STEAL_HALF, slots_once, out);
}

/* Submitted jobs; the mode is the amount per steal. */
const char *steal_ring(const struct pool_request *ask, struct pool_report *out)
{
    enum filch_steal amount = ask->mode[0] == 'o' ? FILCH_STEAL_ONE : FILCH_STEAL_HALF;
    return steal_measure(ask, amount, ring_once, out);
}
