/* cancel.c: models of the end of a whole pool's waits (core/wait.c [V4]), and of the watch that sleeps
 * while nothing runs (core/watch.c [H1]). */
#include "kit.h"

#include "core/idle.h"
#include "core/watch.h"

#include <errno.h>
#include <filch/task.h>

static filch_task *spawn(int (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    mc_check(filch_spawn_with(&t, &a, fn, arg) == 0);
    return t;
}

static uint32_t waiting; /* a gate */

static void gate_open(uint32_t *gate)
{
    filch_store_release(gate, 1u);
    os_futex_wake(gate, 1);
}

static void gate_wait(uint32_t *gate)
{
    while (!filch_load_acquire(gate))
        (void)os_futex_wait(gate, 0, INT64_MAX);
}

/* Runs when the one that joins it has parked. */
static int ends(void *arg)
{
    (void)arg;
    gate_open(&waiting);
    return 7;
}

static int sleeps_for_ever(void *arg)
{
    (void)arg;
    return filch_sleep_until(FILCH_FOREVER);
}

static void cancels(void *unused)
{
    (void)unused;
    mc_check(filch_pool_cancel(pool) == 0);
}

/* A wait that the canceller does not see, and that does not see the canceller, is a deadlock. */
static void cancel_leaves_no_wait_out(void)
{
    int result;
    kit_make(1);
    filch_task *t = spawn(sleeps_for_ever, 0);
    cancels(0);
    mc_check(filch_task_join(t, &result, FILCH_FOREVER) == 0);
    mc_check(result == -ECANCELED);
    filch_pool_destroy(pool);
}
MC_MODEL(cancel_leaves_no_wait_out, .claim = "[V4] a wait that begins while the pool is cancelled ends",
         .preemptions = 2, .stale = 1);

/* The wait is on the stack of the task: once that goes on, the canceller must be done with it. The
 * place is written to afterwards, as any later call would. */
static __attribute__((noinline)) int waits_for(filch_task *t)
{
    return filch_task_join(t, 0, os_clock_ns() + 1000000000);
}

static __attribute__((noinline)) void writes_over(void)
{
    unsigned char place[1024];
    for (unsigned i = 0; i < sizeof place; i++)
        place[i] = (unsigned char)i; /* seen by the checker: a race with who still reads it */
    __asm__ __volatile__("" : : "r"(place) : "memory");
}

static int waits_and_goes_on(void *arg)
{
    (void)arg;
    filch_task *t = spawn(ends, 0);
    int rc = waits_for(t);
    writes_over();
    if (rc != 0) {
        mc_check(rc == -ECANCELED);
        filch_task_detach(t);
    }
    return 0;
}

static void cancel_is_done_with_a_wait_that_ended(void)
{
    kit_make(1);
    waiting = 0;
    filch_task *u = spawn(waits_and_goes_on, 0);
    gate_wait(&waiting);
    cancels(0);
    mc_check(filch_task_join(u, 0, FILCH_FOREVER) == 0);
    filch_pool_destroy(pool);
}
MC_MODEL(cancel_is_done_with_a_wait_that_ended,
         .claim = "[V4] a flow goes on only when the canceller has done with its wait",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

/* ---- the watch ------------------------------------------------------------------------------- */

static void watches(void *gate)
{
    watch_sleep(pool);
    gate_open(gate);
}

/* The seat is not left before the watch got up: a wake-up that was lost is a deadlock. */
static void watch_gets_up_when_somebody_is_active(void)
{
    static uint32_t *up;
    kit_make(1);
    pool->config.hog_ns = 1000000; /* without a thread of its own */
    up = os_alloc(sizeof *up);
    mc_thread(watches, up);
    struct worker *w = idle_seat_enter(pool);
    mc_check(w != 0);
    gate_wait(up);
    idle_seat_leave(w);
    mc_join_all();
    os_free(up);
    filch_pool_destroy(pool);
}
MC_MODEL(watch_gets_up_when_somebody_is_active,
         .claim = "[H1] the watch does not sleep while a worker is active", .preemptions = 3, .stale = 2);
