/* idle.c: models of the protocol of sleep (core/idle.c), in whole pools: who submits waits at a gate
 * that only a worker opens, and alarms do not go off, so a wake-up that is lost is a deadlock. */
#include "kit.h"

static struct kit_job job[3];

static void idle_submit_to_sleeper(void)
{
    kit_make(1);
    kit_submit(&job[0], 0, FILCH_ANYWHERE);
    kit_wait(&job[0]);
    kit_submit(&job[1], 1, FILCH_ANYWHERE); /* while the worker is about to sleep */
    kit_wait(&job[1]);
    filch_pool_destroy(pool);
}
MC_MODEL(idle_submit_to_sleeper,
         .claim = "[I1] a job that is submitted while the worker falls asleep is found",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO);

static void idle_submit_to_inbox(void)
{
    kit_make(1);
    kit_submit(&job[0], 0, 0);
    kit_wait(&job[0]);
    kit_submit(&job[1], 1, 0);
    kit_wait(&job[1]);
    filch_pool_destroy(pool);
}
MC_MODEL(idle_submit_to_inbox, .claim = "[I1] the same for a job for this worker",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO);

static void idle_round_robin(void)
{
    kit_make(1);
    for (unsigned i = 0; i < 2; i++) {
        kit_submit(&job[i], i, FILCH_ROUND_ROBIN); /* each to the only seat there is */
        kit_wait(&job[i]);
    }
    filch_pool_destroy(pool);
}
MC_MODEL(idle_round_robin, .claim = "jobs go around the seats that there are", .preemptions = 2,
         .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

static void submits(void *arg)
{
    unsigned task = (unsigned)(uintptr_t)arg;
    kit_submit(&job[task], task, FILCH_ANYWHERE);
    kit_wait(&job[task]);
}

static void idle_two_submitters(void)
{
    kit_make(1);
    mc_thread(submits, (void *)1);
    submits(0);
    mc_join_all();
    filch_pool_destroy(pool);
}
MC_MODEL(idle_two_submitters, .claim = "two submitters at once: both jobs are found",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO);

static void idle_searcher_gives_up(void)
{
    kit_make(2);
    kit_submit(&job[0], 0, FILCH_ANYWHERE);
    kit_submit(&job[1], 1, FILCH_ANYWHERE); /* perhaps nobody is woken: one is searching */
    kit_wait(&job[0]);
    kit_wait(&job[1]);
    filch_pool_destroy(pool);
}
MC_MODEL(idle_searcher_gives_up, .claim = "[I2] a searcher that gives up looks once more",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

/* ---- forks ----------------------------------------------------------------------------------- */

static uint32_t flag;

FILCH_TASK_VOID(raises)
{
    mc_ran(0);
    filch_store_release(&flag, 1u);
}

/* The fork tells nobody; the root waits for it in a way that only a thief can end. */
FILCH_TASK_VOID(waits_for_fork)
{
    mc_born(0);
    FILCH_FORK(f, raises);
    while (!filch_load_acquire(&flag))
        os_pause();
    FILCH_JOIN(raises, f);
}

static void idle_scout_finds_fork(void)
{
    kit_make(2);
    FILCH_RUN_ON(pool, waits_for_fork);
    filch_pool_destroy(pool);
}
MC_MODEL(idle_scout_finds_fork,
         .claim = "[I4] while somebody works, somebody looks after its forks", .preemptions = 2,
         .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* ---- guests ---------------------------------------------------------------------------------- */

FILCH_TASK(unsigned, answer, unsigned, task)
{
    mc_ran(task);
    return task + 100;
}

static void guest(void *arg)
{
    unsigned task = (unsigned)(uintptr_t)arg;
    mc_born(task);
    mc_check(FILCH_RUN_ON(pool, answer, task) == task + 100);
}

static void idle_guests_share_a_seat(void)
{
    kit_make(1);
    mc_thread(guest, (void *)1);
    guest(0);
    mc_join_all();
    filch_pool_destroy(pool);
}
MC_MODEL(idle_guests_share_a_seat, .claim = "two guests and one seat: each gets its answer",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .alarms = true);

static void idle_guest_and_worker(void)
{
    kit_make(1);
    kit_submit(&job[1], 1, FILCH_ANYWHERE);
    guest(0);
    kit_wait(&job[1]);
    filch_pool_destroy(pool);
}
MC_MODEL(idle_guest_and_worker,
         .claim = "a guest takes the only seat, and the worker's job still runs",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .alarms = true);

/* The guest gives up its seat while it waits; who sits there then always has another job. */
static filch_event event;

static void again(void *unused)
{
    (void)unused;
    if (!filch_event_is_set(&event))
        filch_event_set(&event);
    if (filch_load_acquire(&flag))
        return;
    os_pause();
    mc_check(filch_submit_detached_on(pool, again, 0, 0, FILCH_ANYWHERE) == 0);
}

FILCH_TASK_VOID(comes_back)
{
    mc_check(filch_submit_detached_on(pool, again, 0, 0, FILCH_ANYWHERE) == 0);
    filch_event_wait(&event);
    filch_store_release(&flag, 1u);
}

static void idle_guest_gets_its_seat_back(void)
{
    kit_make(1);
    FILCH_RUN_ON(pool, comes_back);
    filch_pool_destroy(pool);
}
MC_MODEL(idle_guest_gets_its_seat_back,
         .claim = "a worker that never runs out of jobs leaves the only seat to the guest that waits",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* ---- refused threads ------------------------------------------------------------------------------- */

static void idle_refused_thread_is_tried_again(void)
{
    kit_make(1);
    mc_fails(MC_THREAD);
    kit_submit(&job[0], 0, FILCH_ANYWHERE);
    mc_fails(0);
    kit_submit(&job[1], 1, FILCH_ANYWHERE);
    kit_wait(&job[0]);
    kit_wait(&job[1]);
    filch_pool_destroy(pool);
}
MC_MODEL(idle_refused_thread_is_tried_again,
         .claim = "a thread that could not be made is made for the next job", .failing = 1,
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);
