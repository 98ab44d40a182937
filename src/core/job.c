/* job.c: from submit to done.
 *
 * | field            | writer     | reader        | invariant                                   |
 * | pool.pending     | add, sub   | waiters       | jobs accepted and not finished              |
 * | pool.closed      | shutdown   | submitters    | once 1, always 1                            |
 * | worker.spawned   | its worker | waiters       | tasks begun; so is pool.spawned, from outside |
 * | worker.ended     | its worker | waiters       | tasks ended                                 |
 * | pool.drained     | last job   | waiters       | changes after nothing was left (futex)      |
 * | pool.draining    | waiters    | who ends a task, sleepers | how many wait for that          |
 *
 * [P1] submit: add to pending, then read closed; shutdown: set closed, then read pending. Both
 *      sequentially consistent: either the submitter sees the pool closed and takes its job back,
 *      or shutdown sees the job and waits for it.
 * [P2] the last finisher's sub releases all that jobs wrote; a waiter that reads 0 acquires it.
 *
 * Tasks are counted without a shared word: each worker counts those it began and those it ended. A
 * task is begun by a job or task that has not ended, or from outside (as jobs, [P1]), so when all
 * have ended no more can come. A waiter reads every `ended` first, then every `spawned`: both only
 * grow and ended <= spawned at any time, so if the sums are equal they were so in between. `pending` is
 * read in between: a task that submits a job and ends, or a job that begins a task, is seen in one
 * of the two.
 * [P3] end: count, then read draining; waiter: add to draining, then barrier, then read the counts.
 *      The waiter's membarrier stands for the fence that the end of a task does not have; where
 *      there is none, the end of a task has it. Who ends a task and sees a waiter looks after a
 *      fence: of two that end the last tasks at once, one sees both.
 */
#include "core/job.h"
#include "core/event.h"
#include "core/report.h"
#include "core/run.h"
#include "core/wait.h"

#include <errno.h>

void job_check_pool(const filch_pool *pool, const char *call)
{
    if (!pool || pool->magic != POOL_MAGIC)
        report_misuse(call, "not a pool, or one that was destroyed");
}

filch_pool *job_pool(filch_pool *pool)
{
    if (pool)
        return pool;
    pool = filch_pool_current();
    return pool ? pool : filch_pool_default();
}

/* ---- submit ------------------------------------------------------------------------------- */

static void check_job(const filch_job *job, const char *call)
{
    if (!job || !job->fn)
        report_misuse(call, "null job or null function; use filch_job_init");
    if (job->pool)
        report_misuse_named(call, "job submitted twice; use filch_job_init before each submit",
                            job->name);
}

static bool pool_is_drained(void *p)
{
    filch_pool *pool = p;
    uint64_t ended = 0, spawned = 0;
    filch_fence_seq_cst(); /* order: [P3] of two that end at once, one sees the other's count */
    for (int i = 0; i < pool->count; i++)
        ended += filch_load_acquire(&pool->workers[i].ended); /* order: [P2] */
    if (filch_load_seq_cst(&pool->pending) != 0) /* order: [P1] [P2] after `ended` */
        return false;
    for (int i = 0; i < pool->count; i++)
        spawned += filch_load_relaxed(&pool->workers[i].spawned); /* order: after `pending` [P2] */
    return ended == spawned + filch_load_seq_cst(&pool->spawned); /* order: [P1] */
}

static void tell_drained(filch_pool *pool)
{
    filch_add_acq_rel(&pool->drained, 1); /* order: [P2] */
    os_futex_wake(&pool->drained, INT32_MAX);
}

void job_drained(filch_pool *pool)
{
    if (filch_load_relaxed(&pool->draining) && pool_is_drained(pool)) /* order: [P3] */
        tell_drained(pool);
}

/* n jobs are over, or were not taken after all. */
static void settle(filch_pool *pool, size_t n)
{
    if (filch_sub_seq_cst(&pool->pending, n) != n) /* order: [P1] [P2] */
        return;
    tell_drained(pool);
}

static int admit(filch_pool *pool, size_t n)
{
    if (filch_load_relaxed(&pool->closed)) /* order: once closed, always; keeps pending quiet */
        return -EPIPE;
    filch_add_seq_cst(&pool->pending, n); /* order: [P1] */
    if (!filch_load_seq_cst(&pool->closed)) /* order: [P1] */
        return 0;
    settle(pool, n);
    return -EPIPE;
}

static int seat_for(filch_pool *pool, struct worker *w, int where)
{
    unsigned count = (unsigned)seat_size(pool);
    if (where >= 0)
        return (int)((unsigned)where % count);
    if (where == FILCH_ROUND_ROBIN)
        return (int)(filch_add_relaxed(&pool->next_seat, 1) % count); /* order: a ticket */
    if (where == FILCH_RANDOM) {
        if (w)
            return (int)rng_below(&w->rng, count);
        uint32_t ticket = filch_add_relaxed(&pool->next_seat, 1); /* order: a ticket */
        return (int)(rng_mix(ticket) % count);
    }
    return -1;
}

/* The locked queue for a job from elsewhere, if the policy has one. */
static struct locked *locked_for(filch_pool *pool, int seat)
{
    if (pool->config.queue == FILCH_QUEUE_RING)
        return 0;
    if (pool->config.queue == FILCH_QUEUE_SHARED)
        return &pool->shared;
    return seat < 0 ? 0 : &pool->workers[seat].locked;
}

/* Puts an accepted job where it belongs. `w` is the caller's worker in this pool, or null. */
static void place(filch_pool *pool, struct worker *w, filch_job *job, int where)
{
    int seat = seat_for(pool, w, where);
    if (seat < 0 && !w && pool->config.queue == FILCH_QUEUE_PRIVATE)
        seat = seat_for(pool, w, FILCH_ROUND_ROBIN); /* there is nothing shared to put it into */
    struct locked *queue = locked_for(pool, seat);
    if (w && (seat < 0 || seat == w->id)) {
        EV(w, SUBMITTED);
        queue_push(w, item_job(job));
        idle_notify(pool, w);
    } else if (queue && locked_push(queue, item_job(job)) == 0) {
        if (queue == &pool->shared)
            idle_notify(pool, w);
        else
            idle_notify_seat(pool, w, seat);
    } else if (seat >= 0) { /* the lists below cannot be full */
        inject_push(&pool->workers[seat].inbox, item_job(job));
        idle_notify_seat(pool, w, seat);
    } else {
        inject_push(&pool->injector, item_job(job));
        idle_notify(pool, w);
    }
}

static struct worker *self_in(filch_pool *pool)
{
    struct worker *w = worker_self();
    return w && w->pool == pool ? w : 0;
}

void filch_job_init(filch_job *job, void (*fn)(void *arg), void *arg)
{
    if (!job || !fn)
        report_misuse("filch_job_init", "null job or null function");
    *job = (filch_job){.fn = fn, .arg = arg};
}

/* All of them, or none: 0 or -EPIPE. */
static int submit(filch_pool *pool, filch_job *jobs, size_t n, int where, const char *call)
{
    job_check_pool(pool, call);
    if (where < FILCH_RANDOM || n > INT32_MAX)
        report_misuse(call, "no such place, or too many jobs");
    for (size_t i = 0; i < n; i++)
        check_job(jobs ? &jobs[i] : 0, call);
    int rc = admit(pool, n);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        jobs[i].pool = pool;
        place(pool, self_in(pool), &jobs[i], where);
    }
    return rc;
}

int filch_submit_on(filch_pool *pool, filch_job *job, int where)
{
    return submit(pool, job, 1, where, "filch_submit_on");
}

int filch_submit(filch_job *job, int where)
{
    filch_pool *pool = job_pool(0);
    return pool ? submit(pool, job, 1, where, "filch_submit") : -ENOMEM;
}

int filch_submit_array_on(filch_pool *pool, filch_job *jobs, size_t n, int where)
{
    int rc = submit(pool, jobs, n, where, "filch_submit_array_on");
    return rc < 0 ? rc : (int)n;
}

int filch_submit_detached_on(filch_pool *pool, void (*fn)(void *), void *arg,
                             void (*cleanup)(void *), int where)
{
    static const char call[] = "filch_submit_detached_on";
    job_check_pool(pool, call);
    if (!fn)
        report_misuse(call, "null function");
    filch_job *job = os_alloc(sizeof *job);
    if (!job)
        return -ENOMEM;
    *job = (filch_job){.fn = fn, .arg = arg, .cleanup = cleanup, .slot = JOB_DETACHED};
    int rc = submit(pool, job, 1, where, call);
    if (rc < 0)
        os_free(job);
    return rc;
}

/* ---- done --------------------------------------------------------------------------------- */

void job_finish(filch_job *job)
{
    filch_pool *pool = job->pool;
    if (job->slot == JOB_DETACHED)
        os_free(job);
    else
        event_set(&job->state);
    settle(pool, 1);
}

int job_begin_task(filch_pool *pool, struct worker *w)
{
    if (filch_load_relaxed(&pool->closed)) /* order: once closed, always; see [P1] for outside */
        return -EPIPE;
    if (w) { /* its job or task is counted: nobody has seen everything at an end */
        filch_store_relaxed(&w->spawned, w->spawned + 1); /* order: released by that one's end */
        return 0;
    }
    filch_add_seq_cst(&pool->spawned, 1u); /* order: [P1] */
    if (!filch_load_seq_cst(&pool->closed)) /* order: [P1] */
        return 0;
    filch_sub_seq_cst(&pool->spawned, 1u); /* order: [P1] */
    filch_fence_seq_cst(); /* order: [P3] */
    job_drained(pool);
    return -EPIPE;
}

void job_end_task(struct worker *w)
{
    filch_store_release(&w->ended, w->ended + 1); /* order: [P2] [P3] */
    if (w->pool->fibers[FIBER_LARGE].fenced)
        filch_fence_seq_cst(); /* order: [P3] */
    else
        filch_fence_compiler(); /* order: [P3] the waiter's membarrier */
    if (filch_load_relaxed(&w->pool->draining)) /* order: [P3] */
        job_drained(w->pool);
}

/* ---- wait --------------------------------------------------------------------------------- */

/* A foreign thread works in the pool until `until` holds or there is nothing to do. One with a
 * deadline might miss it in somebody's long job: it helps only if there is no other way. So does a
 * worker of another pool, which has work of its own. */
void job_help(filch_pool *pool, bool (*until)(void *), void *arg, int64_t deadline)
{
    struct fiber *f = run_fiber();
    if (deadline > FILCH_NOW && (idle_crippled(pool) || (!f && deadline == FILCH_FOREVER)))
        run_guest(pool, f, until, arg);
}

void job_help_outside(filch_pool *pool, bool (*until)(void *), void *arg)
{
    if (!self_in(pool))
        job_help(pool, until, arg, FILCH_FOREVER);
}

static bool job_is_done(void *job)
{
    return event_is_set(&((filch_job *)job)->state);
}

int filch_job_done(const filch_job *job)
{
    if (!job)
        report_misuse("filch_job_done", "null job");
    return event_is_set(&job->state);
}

/* What its waiters are told. */
static int result_of(const filch_job *job)
{
    return job->slot == JOB_LEFT_OUT ? -ECANCELED : 0;
}

static int wait_done(filch_job *job, int64_t deadline)
{
    static const struct wait_subject about = {"filch_job_wait", "job", WAIT_FOR_OBJECT,
                                              offsetof(filch_job, name), 0};
    int rc = event_wait_about(&job->state, deadline, &about, job);
    return rc == 0 ? result_of(job) : rc;
}

int filch_job_wait(filch_job *job, int64_t deadline)
{
    if (!job || !job->pool)
        report_misuse("filch_job_wait", "the job was not submitted");
    if (event_is_set(&job->state)) /* then its pool may be gone */
        return result_of(job);
    if (self_in(job->pool))
        return wait_done(job, deadline);
    int rc;
    do {
        job_help(job->pool, job_is_done, job, deadline);
        if (event_is_set(&job->state))
            return result_of(job);
        rc = wait_done(job, event_deadline(job->pool, deadline));
    } while (rc == -ETIMEDOUT && (deadline == FILCH_FOREVER || os_clock_ns() < deadline));
    return rc;
}

static int wait_drained(filch_pool *pool, int64_t deadline)
{
    for (;;) {
        uint32_t epoch = filch_load_acquire(&pool->drained); /* order: [P2] read before the look */
        if (pool_is_drained(pool))
            return 0;
        if (deadline <= FILCH_NOW || os_clock_ns() >= deadline) {
            report_duration("filch_pool_wait", deadline);
            return -ETIMEDOUT;
        }
        job_help(pool, pool_is_drained, pool, deadline);
        if (!pool_is_drained(pool))
            (void)os_futex_wait(&pool->drained, epoch, event_deadline(pool, deadline));
    }
}

int filch_pool_wait(filch_pool *pool, int64_t deadline)
{
    job_check_pool(pool, "filch_pool_wait");
    if (self_in(pool))
        return -EDEADLK;
    if (pool_is_drained(pool))
        return 0;
    if (deadline <= FILCH_NOW)
        return wait_error(WAIT_TIMEOUT);
    filch_add_seq_cst(&pool->draining, 1u); /* order: [P3] */
    (void)slots_barrier(pool->fibers[FIBER_LARGE].fenced); /* [P3]; if it fails, sleepers tell us */
    int rc = wait_drained(pool, deadline);
    filch_sub_seq_cst(&pool->draining, 1u); /* order: a count */
    return rc;
}

int filch_pool_cancel(filch_pool *pool)
{
    job_check_pool(pool, "filch_pool_cancel");
    return wait_cancel_pool(pool);
}

int filch_pool_shutdown(filch_pool *pool, int64_t deadline)
{
    job_check_pool(pool, "filch_pool_shutdown");
    filch_store_seq_cst(&pool->closed, 1); /* order: [P1] */
    return filch_pool_wait(pool, deadline);
}
