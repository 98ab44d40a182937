/* event.c: models of events (core/event.c) between threads outside any pool. Fibers that wait are in
 * pool.c. */
#include "mc.h"

#include "core/event.h"
#include "os/os.h"

#include <errno.h>
#include <filch.h>

static filch_event *event;
static unsigned data;

static void sets(void *unused)
{
    (void)unused;
    data = 7;
    filch_event_set(event);
}

/* What was on the stack of a wait that is over is not touched by others: they would race with this. */
static __attribute__((noinline)) void use_stack(void)
{
    uintptr_t junk[100];
    for (int i = 0; i < 100; i++)
        junk[i] = (uintptr_t)i;
    __asm__ __volatile__("" : : "r"(junk) : "memory");
}

static void waits(void *unused)
{
    (void)unused;
    filch_event_wait(event);
    use_stack();
    mc_check(data == 7);
}

static void make(void)
{
    event = os_alloc(sizeof *event);
    mc_check(event != 0);
}

static void event_may_be_freed_at_once(void)
{
    make();
    mc_thread(sets, 0);
    waits(0);
    os_free(event);
    mc_join_all();
}
MC_MODEL(event_may_be_freed_at_once,
         .claim = "who waited may free the event: the setter does not touch it any more",
         .preemptions = 3);

static void event_wakes_all(void)
{
    make();
    mc_thread(waits, 0);
    mc_thread(waits, 0);
    sets(0);
    mc_join_all();
    os_free(event);
}
MC_MODEL(event_wakes_all, .claim = "everyone who waits is woken and sees what was written before",
         .preemptions = 2, .stale = 2);

static void event_polled(void)
{
    make();
    mc_thread(sets, 0);
    while (!filch_event_is_set(event))
        os_pause();
    mc_check(data == 7);
    os_free(event);
    mc_join_all();
}
MC_MODEL(event_polled, .claim = "who only looks may free it as well", .preemptions = 3);

/* A waiter with a deadline takes itself out of the list, or was woken: never both, never neither. */
static void event_wait_with_deadline(void)
{
    make();
    mc_thread(sets, 0);
    int rc = event_wait(&event->state, os_clock_ns() + 1000);
    use_stack();
    mc_check(rc == 0 || rc == -ETIMEDOUT);
    if (rc == 0)
        mc_check(data == 7);
    mc_join_all();
    os_free(event);
}
MC_MODEL(event_wait_with_deadline,
         .claim = "a wait that timed out leaves nothing of itself in the list", .preemptions = 2,
         .stale = 2, .alarms = true, .hasty = 1);

static void waits_a_little(void *unused)
{
    (void)unused;
    int rc = event_wait(&event->state, os_clock_ns() + 1000);
    use_stack();
    if (rc == 0)
        mc_check(data == 7);
}

static void event_timeout_in_the_middle(void)
{
    make();
    mc_thread(waits, 0);
    mc_thread(waits_a_little, 0);
    os_sleep_ns(mc_choose(2) ? 5000 : 0);
    sets(0);
    mc_join_all();
    os_free(event);
}
MC_MODEL(event_timeout_in_the_middle,
         .claim = "one that gives up does not take its neighbours along", .preemptions = 2,
         .stale = 1, .spurious = MC_ZERO, .spins = MC_ZERO, .alarms = true, .hasty = 1);

static void event_timeout_between_others(void)
{
    make();
    mc_thread(waits, 0);
    mc_thread(waits_a_little, 0);
    mc_thread(waits, 0);
    os_sleep_ns(5000);
    sets(0);
    mc_join_all();
    os_free(event);
}
MC_MODEL(event_timeout_between_others, .claim = "nor those on both sides of it", .preemptions = 2,
         .stale = MC_ZERO, .spurious = MC_ZERO, .spins = MC_ZERO, .alarms = true);

static void event_that_nobody_sets(void)
{
    make();
    mc_check(event_wait(&event->state, os_clock_ns() + 1000) == -ETIMEDOUT);
    os_free(event);
}
MC_MODEL(event_that_nobody_sets, .claim = "a wait ends with its deadline although nothing happens",
         .preemptions = 2, .alarms = true, .steps = 2000);
