/* fork.c: fork-join as plain functions, and roots. Over the same slots as the typed macros; the
 * head is looked up instead of passed. */
#include "core/job.h"
#include "core/report.h"
#include "core/run.h"

void filch_misuse_order(const char *task)
{
    report_misuse_named("FILCH_JOIN", "forks are joined in reverse order, in the task that made them",
                        task);
}

void filch_misuse_unjoined(const char *task)
{
    report_misuse_named("FILCH_FORK", "the task returned before it joined its fork", task);
}

const int filch_layout_1 = 1;

filch_slot *filch_slot_head(filch_pool *pool)
{
    struct worker *w = worker_self();
    if (!w || (pool && w->pool != pool))
        return 0;
    bool stays = w->fiber->pins > 0 || w->pool->config.join == FILCH_JOIN_HELP;
    if (w->fiber->store->kind == FIBER_SMALL && !stays)
        return 0; /* recursion wants a large stack: a job of its own; who waits for it gives up the worker */
    return slots_head(&w->fiber->slots);
}

/* ---- roots -------------------------------------------------------------------------------- */

struct root_job {
    void (*fn)(void *box, filch_slot *head);
    void *box;
    struct os_fp fp; /* the caller's: it is its call, wherever it runs */
};

static void root_as_job(void *arg)
{
    struct root_job *r = arg;
    os_fp_set(&r->fp);
    r->fn(r->box, filch_slot_head(0));
}

static void root_submitted(filch_pool *pool, struct root_job *r, const char *name)
{
    filch_job job;
    filch_job_init(&job, root_as_job, r);
    job.name = name;
    job.slot = JOB_ALWAYS;
    if (filch_submit_on(pool, &job, FILCH_ANYWHERE) != 0)
        report_misuse_named("FILCH_RUN", "the pool is shut down", name);
    (void)filch_job_wait(&job, FILCH_FOREVER);
}

static filch_pool *root_pool(filch_pool *pool, const char *call, const char *name)
{
    pool = job_pool(pool);
    if (!pool)
        report_misuse_named(call, "there is no memory for the default pool", name);
    job_check_pool(pool, call);
    if (filch_load_relaxed(&pool->closed)) /* order: once closed, always */
        report_misuse_named(call, "the pool is shut down", name);
    return pool;
}

void filch_slot_root(filch_pool *pool, void (*fn)(void *box, filch_slot *head), void *box,
                     const char *name)
{
    if (!fn)
        report_misuse_named("FILCH_RUN", "null function", name);
    pool = root_pool(pool, "FILCH_RUN", name);
    struct root_job r = {.fn = fn, .box = box};
    os_fp_get(&r.fp);
    struct worker *w = worker_self() ? 0 : idle_seat_enter(pool);
    struct body body = {.root = fn, .box = box, .name = name};
    bool ran = false;
    if (w) {
        if (pool->count > 1)
            idle_notify(pool, w);
        ran = run_body(w, &body);
        idle_seat_leave(w);
    }
    if (!ran)
        root_submitted(pool, &r, name);
}

struct plain_root {
    void (*fn)(void *arg);
    void *arg;
};

static void plain_root(void *box, filch_slot *head)
{
    struct plain_root *p = box;
    (void)head;
    p->fn(p->arg);
}

void filch_run_on(filch_pool *pool, void (*fn)(void *arg), void *arg)
{
    if (!fn)
        report_misuse("filch_run_on", "null function");
    struct plain_root p = {fn, arg};
    if (filch_slot_head(pool))
        fn(arg);
    else
        filch_slot_root(root_pool(pool, "filch_run_on", 0), plain_root, &p, 0);
}

/* ---- fork, join --------------------------------------------------------------------------- */

static filch_job *job_in(filch_slot *slot)
{
    filch_job *job;
    memcpy(&job, slot->payload.bytes, sizeof job);
    return job;
}

static void plain_stolen(filch_slot *slot, filch_slot *head)
{
    filch_job *job = job_in(slot);
    (void)head;
    job->fn(job->arg);
}

void filch_fork(filch_job *job, void (*fn)(void *arg), void *arg)
{
    if (!job || !fn)
        report_misuse("filch_fork", "null job or null function");
    *job = (filch_job){.fn = fn, .arg = arg};
    struct worker *w = worker_self();
    if (!w) {
        job->slot = JOB_ALWAYS; /* its joiner counts on it */
        if (filch_submit(job, FILCH_ANYWHERE) != 0) { /* no pool to be had: serial */
            fn(arg);
            job->slot = 0;
        }
        return;
    }
    struct slots *s = &w->fiber->slots;
    filch_slot *slot = slots_head(s);
    if (slot >= s->end)
        report_misuse("filch_fork", "too many forks pending; join some first");
    EV(w, FORKED);
    job->slot = slot;
    memcpy(slot->payload.bytes, &job, sizeof job);
    filch_slot_publish(slot, plain_stolen);
    s->hint = slot + 1;
}

static bool owns(struct worker *w, filch_slot *slot)
{
    struct slots *s = w ? &w->fiber->slots : 0;
    return s && slot >= s->first && slot < s->end && slot + 1 == slots_head(s) &&
           slots_used(s, slot);
}

void filch_join(filch_job *job)
{
    if (!job || !job->fn)
        report_misuse("filch_join", "null job, or one that was never forked or is joined already");
    filch_slot *slot = job->slot;
    if (!slot || slot == JOB_ALWAYS) {
        if (job->pool)
            (void)filch_job_wait(job, FILCH_FOREVER);
        job->fn = 0; /* joined: a second join is reported */
        return;
    }
    struct worker *w = worker_self();
    if (!owns(w, slot))
        report_misuse_named("filch_join", "forks are joined in reverse order, in the job that made "
                            "them", job->name);
    w->fiber->slots.hint = slot;
    if (!filch_slot_retract(slot))
        job->fn(job->arg);
    job->slot = 0;
    job->fn = 0;
}

struct join2 {
    void (*f)(void *), (*g)(void *);
    void *fa, *ga;
};

static void join2_root(void *arg)
{
    struct join2 *j = arg;
    filch_join2(j->f, j->fa, j->g, j->ga);
}

void filch_join2(void (*f)(void *), void *fa, void (*g)(void *), void *ga)
{
    if (!f || !g)
        report_misuse("filch_join2", "null function");
    if (filch_slot_head(0)) {
        filch_job later;
        filch_fork(&later, g, ga);
        f(fa);
        filch_join(&later);
        return;
    }
    struct join2 both = {f, g, fa, ga};
    filch_run_on(0, join2_root, &both);
}
