/* blocking.c: models of the offload threads (fiber/blocking.c). The tasks that call are played by threads:
 * a worker and a fiber each, that sleep until their call is done. */
#include "mc.h"

#include "core/event.h"
#include "core/run.h"
#include "fiber/blocking.h"

#include <filch/blocking.h>

static filch_pool pool;
static struct worker worker[2];
static struct fiber fiber[2];
static uint32_t gate;

/* ---- played: events -------------------------------------------------------------------------- */

void event_set(uintptr_t *state)
{
    filch_store_release(state, (uintptr_t)1);
    filch_add_acq_rel(&gate, 1u);
    os_futex_wake(&gate, 2);
}

int event_wait_about(uintptr_t *state, int64_t deadline, const struct wait_subject *about, const void *object)
{
    (void)deadline, (void)about, (void)object;
    for (;;) {
        uint32_t seen = filch_load_acquire(&gate);
        if (filch_load_acquire(state) == 1)
            return 0;
        (void)os_futex_wait(&gate, seen, INT64_MAX);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static unsigned data[2];

static int runs(void *number)
{
    unsigned i = (unsigned)(uintptr_t)number;
    mc_ran(i);
    data[i]++;
    return (int)i + 10;
}

static void calls(void *number)
{
    unsigned i = (unsigned)(uintptr_t)number;
    worker[i].pool = &pool;
    worker[i].fiber = &fiber[i];
    os_self_set(&worker[i]);
    mc_born(i);
    mc_check(filch_blocking(runs, number) == (int)i + 10);
    mc_check(data[i] == 1);
    os_self_set(0);
}

static void blocking_one_call(void)
{
    calls((void *)0);
    blocking_stop();
    mc_check(blocking_figures().threads == 0);
}
MC_MODEL(blocking_one_call, .claim = "[B1] a call is made once, and its thread ends when told to",
         .preemptions = 3, .stale = 1);

static uint32_t met;

static int meets(void *number)
{
    (void)runs(number);
    filch_add_acq_rel(&met, 1u);
    os_futex_wake(&met, 2);
    while (filch_load_acquire(&met) == 1)
        (void)os_futex_wait(&met, 1, INT64_MAX);
    return 0;
}

static void calls_and_meets(void *number)
{
    unsigned i = (unsigned)(uintptr_t)number;
    worker[i].pool = &pool;
    worker[i].fiber = &fiber[i];
    os_self_set(&worker[i]);
    mc_born(i);
    mc_check(filch_blocking(meets, number) == 0);
    os_self_set(0);
}

static void blocking_calls_that_meet(void)
{
    int other = mc_thread(calls_and_meets, (void *)1);
    calls_and_meets((void *)0);
    mc_join(other);
}
MC_MODEL(blocking_calls_that_meet,
         .claim = "a call that waits for another one does not keep that one from a thread",

         .preemptions = 2, .sleepers_stay = true, .stale = MC_ZERO, .spurious = MC_ZERO, .spins = MC_ZERO);

/* The thread's patience is over when nothing else can go on: just when the second call comes, or not. */
static void blocking_thread_gives_up(void)
{
    (void)blocking_patience(1000);
    calls((void *)0);
    os_sleep_ns(mc_choose(2) ? 1000 : 5000);
    calls((void *)1);
    blocking_stop();
}
MC_MODEL(blocking_thread_gives_up,
         .claim = "a thread that ends for want of calls does not take a call along", .preemptions = 2,
         .stale = 1, .spurious = MC_ZERO, .spins = MC_ZERO, .alarms = true);

static void blocking_without_threads(void)
{
    mc_fails(MC_THREAD);
    int other = mc_thread(calls, (void *)1);
    calls((void *)0);
    mc_join(other);
}
MC_MODEL(blocking_without_threads, .claim = "a call is made although no thread could be started",
         .failing = 2,
         .preemptions = 2, .sleepers_stay = true, .stale = MC_ZERO, .spurious = MC_ZERO, .spins = MC_ZERO);
