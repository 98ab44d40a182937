/* lock.c: models of the lock (core/lock.h): plain data inside, contenders that spin, yield and sleep. */
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
MC_MODEL(lock_excludes_two, .claim = "two contenders enter one after the other, however long one has to wait",
         .preemptions = MC_UNBOUNDED, .spins = 2);

static void lock_lets_every_contender_in(void)
{
    mc_thread(enters_once, 0);
    mc_thread(enters_once, 0);
    enters_once(0);
    mc_join_all();
    mc_check(lock == LOCK_FREE && total == 3);
}
MC_MODEL(lock_lets_every_contender_in, .claim = "of three contenders each enters in the end",
         .preemptions = 3, .spins = 2);

static void lock_taken_again_before_a_waiter(void)
{
    mc_thread(enters_once, 0);
    enters_once(0);
    tries_once(0); /* perhaps before the one that waits */
    mc_join_all();
    mc_check(lock == LOCK_FREE && total >= 2);
}
MC_MODEL(lock_taken_again_before_a_waiter, .claim = "a waiter that finds the lock taken again waits again",
         .preemptions = MC_UNBOUNDED, .spins = 2);
