/* drain.c: models of filch_pool_wait over tasks (core/job.c [P3]): they are counted without a shared
 * word. Who waits has a deadline that never comes, so that it sleeps and does not work as a guest: a
 * wake-up that is lost is a deadlock. */
#include "kit.h"

#include "core/idle.h"
#include "core/job.h"

#include <errno.h>
#include <filch/task.h>

static unsigned data[4];
static filch_job job;

static void go(void (*fn)(void *), unsigned task)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.pool = pool;
    mc_born(task);
    mc_check(filch_go_with(&a, fn, (void *)(uintptr_t)task) == 0);
}

static void writes(void *arg)
{
    unsigned task = (unsigned)(uintptr_t)arg;
    mc_ran(task);
    data[task] = task + 100;
}

static int wait_asleep(void)
{
    return filch_pool_wait(pool, os_clock_ns() + 1000000000);
}

/* ---- the last task -------------------------------------------------------------------------- */

static void drain_last_task(void)
{
    kit_make(1);
    go(writes, 0);
    mc_check(wait_asleep() == 0);
    mc_check(data[0] == 100);
    filch_pool_destroy(pool);
}

MC_MODEL(drain_last_task,
         .claim = "[P3] who waits for all tasks is woken by the last, and sees what it wrote",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .spurious = MC_ZERO);

/* ---- tasks and jobs that begin each other ------------------------------------------------------ */

static void submits(void *arg)
{
    (void)arg;
    mc_ran(0);
    filch_job_init(&job, writes, (void *)1);
    mc_check(filch_submit_on(pool, &job, FILCH_ANYWHERE) == 0);
}

static void drain_task_submits_job(void)
{
    kit_make(1);
    mc_born(1);
    go(submits, 0);
    mc_check(wait_asleep() == 0);
    mc_check(data[1] == 101);
    filch_pool_destroy(pool);
}
MC_MODEL(drain_task_submits_job,
         .claim = "a job that is submitted by the last task is waited for",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

static void goes(void *arg)
{
    (void)arg;
    mc_ran(0);
    go(writes, 1);
}

static void drain_job_begins_task(void)
{
    kit_make(1);
    mc_born(0);
    filch_job_init(&job, goes, 0);
    mc_check(filch_submit_on(pool, &job, FILCH_ANYWHERE) == 0);
    mc_check(wait_asleep() == 0);
    mc_check(data[1] == 101);
    filch_pool_destroy(pool);
}
MC_MODEL(drain_job_begins_task, .claim = "a task that is begun by the last job is waited for",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

static unsigned accepted; /* plain */

static void late(void *unused)
{
    (void)unused;
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.pool = pool;
    mc_born(0);
    int rc = filch_go_with(&a, writes, 0);
    mc_check(rc == 0 || rc == -EPIPE);
    accepted = rc == 0;
    if (rc != 0)
        mc_ran(0); /* refused: it never runs */
}

static void drain_closes_once(void)
{
    kit_make(1);
    int t = mc_thread(late, 0);
    mc_check(filch_pool_shutdown(pool, os_clock_ns() + 1000000000) == 0);
    mc_join(t);
    mc_check(!accepted || data[0] == 100); /* accepted before, so run before */
    filch_pool_destroy(pool);
}
MC_MODEL(drain_closes_once, .claim = "[P1] shutdown refuses a task from outside or waits for it",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .spurious = MC_ZERO);

/* ---- only the end of tasks is real: no worker falls asleep afterwards and tells -------------------- */

static filch_pool bare;
static struct worker seats[2];
static unsigned wrote[2]; /* plain */

static void ends(void *arg)
{
    unsigned i = (unsigned)(uintptr_t)arg;
    wrote[i] = 1;
    job_end_task(&seats[i]);
}

static void wait_for_two(bool fenced)
{
    bare.magic = POOL_MAGIC;
    bare.workers = seats;
    bare.count = bare.config.workers = 1;
    mc_check(idle_create(&bare) == 0);
    mc_check(idle_seat_enter(&bare) != 0); /* nobody helps */
    bare.count = 2;
    bare.fibers[FIBER_LARGE].fenced = fenced;
    for (int i = 0; i < 2; i++)
        seats[i] = (struct worker){.pool = &bare, .spawned = 1};
    mc_thread(ends, (void *)1);
    mc_thread(ends, (void *)0);
    mc_check(filch_pool_wait(&bare, os_clock_ns() + 1000000000) == 0);
    mc_check(wrote[0] + wrote[1] == 2);
    mc_join_all();
    idle_destroy(&bare);
}

static void drain_two_end_at_once(void)
{
    wait_for_two(false);
}
MC_MODEL(drain_two_end_at_once, .claim = "[P3] two tasks end at the same time: one of them is the last",
         .preemptions = 3, .stale = 3, .spins = MC_ZERO, .spurious = MC_ZERO);

static void drain_two_end_at_once_fenced(void)
{
    wait_for_two(true);
}
MC_MODEL(drain_two_end_at_once_fenced, .claim = "[P3] the same without membarrier", .no_membarrier = true,
         .preemptions = 3, .stale = 3, .spins = MC_ZERO, .spurious = MC_ZERO);
