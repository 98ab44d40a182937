/* pool.c: models of whole pools: submit, wait, suspend, shutdown, destroy. Real workers, fibers and
 * sleep; only the machine below is played. */
#include "kit.h"

#include "core/run.h"

#include <errno.h>

static unsigned data[4];

static void writes(void *arg)
{
    unsigned task = (unsigned)(uintptr_t)arg;
    mc_ran(task);
    data[task] = task + 100;
}

static int submit(filch_job *job, unsigned task)
{
    filch_job_init(job, writes, (void *)(uintptr_t)task);
    int rc = filch_submit_on(pool, job, FILCH_ANYWHERE);
    if (rc == 0)
        mc_born(task);
    return rc;
}

/* ---- waiting and going ----------------------------------------------------------------------- */

static void pool_destroy_runs_everything(void)
{
    filch_job job;
    kit_make(1);
    mc_born(0);
    mc_check(submit(&job, 0) == 0);
    filch_pool_destroy(pool);
    mc_check(data[0] == 100);
}
MC_MODEL(pool_destroy_runs_everything,
         .claim = "[P2] a submitted job has run, and its writes are seen, when the pool is "
                   "destroyed", .preemptions = 2);

/* The epoch is read before the look at what is pending: a load that came late would sleep through. */
static void pool_wait_is_woken(void)
{
    filch_job job;
    kit_make(1);
    mc_late(&pool->drained, sizeof pool->drained);
    mc_born(0);
    mc_check(submit(&job, 0) == 0);
    mc_check(filch_pool_wait(pool, os_clock_ns() + 1000000000) == 0); /* alarms do not go off here */
    filch_pool_destroy(pool);
}
MC_MODEL(pool_wait_is_woken, .claim = "[P2] who waits for all jobs does not sleep through the last one",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

static void pool_job_may_be_freed(void)
{
    kit_make(1);
    filch_job *job = os_alloc(sizeof *job);
    mc_born(0);
    mc_check(submit(job, 0) == 0);
    mc_check(filch_job_wait(job, FILCH_FOREVER) == 0);
    mc_check(data[0] == 100);
    os_free(job);
    filch_pool_destroy(pool);
}
MC_MODEL(pool_job_may_be_freed, .claim = "who waited for a job may free it at once",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .alarms = true);

static void late_submitter(void *arg)
{
    filch_job *job = arg;
    mc_born(1);
    filch_job_init(job, writes, (void *)1);
    int rc = filch_submit_on(pool, job, FILCH_ANYWHERE);
    mc_check(rc == 0 || rc == -EPIPE);
    if (rc != 0)
        mc_ran(1); /* refused: it never runs */
}

static void pool_closes_once(void)
{
    static filch_job job;
    kit_make(1);
    int t = mc_thread(late_submitter, &job);
    mc_check(filch_pool_shutdown(pool, FILCH_FOREVER) == 0);
    mc_join(t);
    mc_check(!job.pool || filch_job_done(&job)); /* accepted before, so run before */
    filch_pool_destroy(pool);
}
MC_MODEL(pool_closes_once,
         .claim = "[P1] shutdown refuses a job or waits for it: none is accepted and left",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .alarms = true);

/* The worker sleeps; who gives back what was not taken is the last to know of it. */
static void pool_refused_job_is_told(void)
{
    static filch_job job;
    struct kit_job first;
    kit_make(1);
    kit_submit(&first, 0, FILCH_ANYWHERE);
    kit_wait(&first);
    int t = mc_thread(late_submitter, &job);
    mc_check(filch_pool_shutdown(pool, os_clock_ns() + 1000000000) == 0); /* alarms do not go off here */
    mc_join(t);
    filch_pool_destroy(pool);
}
MC_MODEL(pool_refused_job_is_told, .claim = "[P2] who waits for all jobs hears of one that was refused last",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

/* ---- what the machine refuses ---------------------------------------------------------------- */

static void pool_create_fails_cleanly(void)
{
    filch_config c = kit_config(1);
    filch_job job;
    mc_fails(MC_ALLOC | MC_PAGES);
    if (filch_pool_create(&pool, &c) != 0)
        return; /* and nothing is left behind */
    mc_fails(0);
    mc_born(0);
    mc_check(submit(&job, 0) == 0);
    filch_pool_destroy(pool);
}
MC_MODEL(pool_create_fails_cleanly,
         .claim = "a pool for which there is no memory leaves nothing behind", .failing = 2,
         .preemptions = 2, .stale = MC_ZERO, .alarms = true);

static void pool_without_threads(void)
{
    filch_job job;
    kit_make(1);
    mc_fails(MC_THREAD);
    mc_born(0);
    mc_check(submit(&job, 0) == 0);
    mc_check(filch_job_wait(&job, FILCH_FOREVER) == 0);
    filch_pool_destroy(pool);
}
MC_MODEL(pool_without_threads, .claim = "a job runs although no thread could be made",
         .failing = 2, .preemptions = 2, .stale = 1, .spins = MC_ZERO, .alarms = true);

/* ---- fibers ---------------------------------------------------------------------------------- */

static filch_event event;

static void sets_event(void *unused)
{
    (void)unused;
    mc_ran(1);
    filch_event_set(&event);
}

static void waits_event(void *unused)
{
    (void)unused;
    filch_event_wait(&event);
    mc_ran(0);
}

static void submit_fn(filch_job *job, void (*fn)(void *))
{
    filch_job_init(job, fn, 0);
    mc_check(filch_submit_on(pool, job, FILCH_ANYWHERE) == 0);
}

static void pool_fiber_waits_for_job(void)
{
    filch_job a, b;
    kit_make(1);
    mc_born(0);
    mc_born(1);
    submit_fn(&a, waits_event);
    submit_fn(&b, sets_event);
    filch_pool_destroy(pool);
}
MC_MODEL(pool_fiber_waits_for_job,
         .claim = "one worker: a job that waits lets the other run, and is resumed",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .alarms = true);

static void outsider(void *unused)
{
    sets_event(unused);
}

/* The fiber may end, and the pool be destroyed, while the outsider is still in filch_event_set. */
static void pool_resumed_from_outside(void)
{
    filch_job a;
    kit_make(1);
    mc_born(0);
    mc_born(1);
    mc_thread(outsider, 0);
    submit_fn(&a, waits_event);
    filch_pool_destroy(pool);
    mc_join_all();
}
MC_MODEL(pool_resumed_from_outside,
         .claim = "a pool is not freed while an outsider still resumes its last fiber",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO);

/* Trap 1: the job forks b, then waits for what b sets, on one worker. */
FILCH_TASK_VOID(forked_setter)
{
    sets_event(0);
}

FILCH_TASK_VOID(forks_then_waits)
{
    FILCH_FORK(f, forked_setter);
    filch_event_wait(&event);
    FILCH_JOIN(forked_setter, f);
    mc_ran(0);
}

static void forks_then_waits_job(void *unused)
{
    (void)unused;
    FILCH_RUN_ON(pool, forks_then_waits);
}

static void pool_fork_behind_a_wait(void)
{
    filch_job a;
    kit_make(1);
    mc_born(0);
    mc_born(1);
    submit_fn(&a, forks_then_waits_job);
    mc_check(filch_pool_wait(pool, FILCH_FOREVER) == 0);
    mc_check(pool->exposed == 0 && pool->exposed_count == 0);
    filch_pool_destroy(pool);
}
MC_MODEL(pool_fork_behind_a_wait,
         .claim = "what a fiber forked before it waits otherwise is still found",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .alarms = true);

/* ---- fork and join over two workers ---------------------------------------------------------- */

FILCH_TASK(unsigned, leaf, unsigned, task)
{
    mc_ran(task);
    data[task] = task + 100;
    return task;
}

static uint32_t begun;

FILCH_TASK(unsigned, tree, int, unused)
{
    (void)unused;
    filch_store_release(&begun, 1u);
    FILCH_FORK(b, leaf, 1);
    unsigned a = FILCH_CALL(leaf, 0);
    a += FILCH_JOIN(leaf, b);
    mc_check(data[1] == 101);
    return a;
}

static void tree_job(void *unused)
{
    (void)unused;
    mc_check(FILCH_RUN_ON(pool, tree, 0) == 1);
}

/* A job, so that its join suspends; another one wakes the second worker, who steals. */
static void pool_join_suspends(void)
{
    static struct kit_job other;
    filch_job a;
    kit_make(2);
    mc_born(0);
    mc_born(1);
    submit_fn(&a, tree_job);
    kit_submit(&other, 2, FILCH_ANYWHERE);
    filch_pool_destroy(pool);
}
MC_MODEL(pool_join_suspends,
         .claim = "a stolen fork is joined once, on whichever worker the fiber goes on",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO,
         .alarms = true);

/* A guest is pinned: while it waits for a stolen fork, it helps with what that forked. */
FILCH_TASK(unsigned, outer, int, unused)
{
    const struct lineage *mine = run_fiber()->lineage;
    FILCH_FORK(b, tree, unused);
    while (!filch_load_acquire(&begun))
        os_pause();
    unsigned result = FILCH_JOIN(tree, b);
    mc_check(run_fiber()->lineage == mine); /* not that of what it helped with */
    return result;
}

static void pool_guest_helps(void)
{
    kit_make(2);
    mc_born(0);
    mc_born(1);
    mc_check(FILCH_RUN_ON(pool, outer, 0) == 1);
    filch_pool_destroy(pool);
}
MC_MODEL(pool_guest_helps, .claim = "a guest that waits runs what its stolen fork forked, once",
         .preemptions = 2, .stale = MC_ZERO, .spins = 2, .spurious = MC_ZERO, .alarms = true);

/* ---- more jobs than the ring holds --------------------------------------------------------------- */

static filch_job many[4];

static void submits_three(void *unused)
{
    (void)unused;
    mc_ran(0);
    for (unsigned i = 1; i < 4; i++)
        mc_check(submit(&many[i], i) == 0);
}

static void pool_overflow_loses_nothing(void)
{
    kit_make(2);
    for (unsigned i = 0; i < 4; i++)
        mc_born(i);
    submit_fn(&many[0], submits_three);
    mc_check(filch_pool_wait(pool, FILCH_FOREVER) == 0);
    filch_pool_destroy(pool);
}
MC_MODEL(pool_overflow_loses_nothing,
         .claim = "jobs that do not fit the ring go to the injector and run once", .preemptions = 2,
         .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* ---- the library's own copy of a job --------------------------------------------------------------- */

static void cleans(void *unused)
{
    (void)unused;
    mc_ran(1);
}

static void runs_first(void *unused)
{
    (void)unused;
    mc_ran(0);
}

static void pool_detached_job_is_freed(void)
{
    kit_make(1);
    mc_born(0);
    mc_born(1);
    mc_check(filch_submit_detached_on(pool, runs_first, 0, cleans, FILCH_ANYWHERE) == 0);
    mc_check(filch_pool_wait(pool, FILCH_FOREVER) == 0);
    filch_pool_destroy(pool);
}
MC_MODEL(pool_detached_job_is_freed, .claim = "a detached job runs, is cleaned up after, and freed",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .alarms = true);

/* ---- other ways to sleep ---------------------------------------------------------------------------- */

static void with_wake(enum filch_wake wake, int workers)
{
    static struct kit_job job[2];
    filch_config c = kit_config(workers);
    c.wake = wake;
    mc_check(filch_pool_create(&pool, &c) == 0);
    kit_submit(&job[0], 0, FILCH_ROUND_ROBIN);
    kit_wait(&job[0]);
    if (workers == 1) {
        kit_submit(&job[1], 1, FILCH_ANYWHERE);
        kit_wait(&job[1]);
    }
    filch_pool_destroy(pool);
}

static void pool_wakes_all(void)
{
    with_wake(FILCH_WAKE_ALL, 2);
}
MC_MODEL(pool_wakes_all, .claim = "wake=all: every job is found", .preemptions = 2, .stale = MC_ZERO,
         .spins = MC_ZERO, .spurious = MC_ZERO);

static void pool_wakes_none(void)
{
    with_wake(FILCH_WAKE_NONE, 1);
}
MC_MODEL(pool_wakes_none, .claim = "wake=none: sleepers find jobs when their alarm goes off",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* ---- pools as such ------------------------------------------------------------------------------------ */

static filch_pool *seen[2];

static void asks_for_default(void *arg)
{
    unsigned i = (unsigned)(uintptr_t)arg;
    seen[i] = filch_pool_default();
    mc_check(filch_pool_workers(seen[i]) == 2);
}

static void pool_default_is_made_once(void)
{
    mc_thread(asks_for_default, (void *)1);
    asks_for_default(0);
    mc_join_all();
    mc_check(seen[0] == seen[1]);
}
MC_MODEL(pool_default_is_made_once, .claim = "all who ask at once get the same default pool, complete",
         .preemptions = 2, .leaks = true);

static void overflows(void *unused)
{
    char text[200];
    (void)unused;
    mc_check(mc_overflow(&text, text, sizeof text) == 0); /* nobody's guard page */
}

static void pool_list_is_walked_by_handlers(void)
{
    kit_make(1);
    filch_pool *first = pool;
    mc_thread(overflows, 0);
    kit_make(1);
    mc_join_all();
    filch_pool_destroy(pool);
    filch_pool_destroy(first);
}
MC_MODEL(pool_list_is_walked_by_handlers,
         .claim = "a fault handler sees only complete pools, while others are made", .preemptions = 2,
         .alarms = true);
