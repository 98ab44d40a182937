/* lock.c: models of the lock (core/lock.h): plain data inside, contenders that spin and sleep. */
#include "mc.h"

#include "core/lock.h"

static uint32_t lock;
static unsigned inside, total;

/* Plain words: a data race unless the lock orders the sections. */
static void section(void)
{
    mc_check(inside == 0);
    inside = 1;
    total++;
    inside = 0;
}

static void enters_once(void *unused)
{
    (void)unused;
    lock_acquire(&lock);
    section();
    lock_release(&lock);
}

static void tries_once(void *unused)
{
    (void)unused;
    if (!lock_try(&lock))
        return;
    section();
    lock_release(&lock);
}

static void lock_tried_by_two(void)
{
    mc_thread(tries_once, 0);
    tries_once(0);
    mc_join_all();
    mc_check(lock == LOCK_FREE && (total == 1 || total == 2));
}
MC_MODEL(lock_tried_by_two, .claim = "who gets the lock by trying is alone, and at least one does",
         .preemptions = MC_UNBOUNDED);

static void lock_excludes_two(void)
{
    mc_thread(enters_once, 0);
    enters_once(0);
    mc_join_all();
    mc_check(lock == LOCK_FREE && total == 2);
}
MC_MODEL(lock_excludes_two, .claim = "two contenders, one of them asleep, enter one after the other",
         .preemptions = MC_UNBOUNDED, .spins = 2);

static void lock_wakes_every_sleeper(void)
{
    mc_thread(enters_once, 0);
    mc_thread(enters_once, 0);
    enters_once(0);
    mc_join_all();
    mc_check(lock == LOCK_FREE && total == 3);
}
MC_MODEL(lock_wakes_every_sleeper, .claim = "with two asleep at the lock, both are woken in the end",
         .preemptions = 3, .spins = 2);

static void lock_taken_between_wake_and_entry(void)
{
    mc_thread(enters_once, 0);
    enters_once(0);
    tries_once(0); /* before the sleeper, which then sleeps again */
    mc_join_all();
    mc_check(lock == LOCK_FREE && total >= 2);
}
MC_MODEL(lock_taken_between_wake_and_entry, .claim = "a sleeper that finds the lock taken again sleeps again",
         .preemptions = MC_UNBOUNDED, .spins = 2);
