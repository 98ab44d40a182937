/* standin.c: models of stand-ins (core/seat.c): a worker blocks at a gate that only a job behind it opens, so
 * one that is not replaced is a deadlock. */
#include "park_kit.h"

/* The stand-in is about to leave, or just has, or sleeps. */
static void standin_leaves(void)
{
    start_with(1, 1);
    submit(BLOCKS);
    submit(OPENS);
    wait_for(2);
    submit(PLAIN);
    wait_for(3);
    end();
}
MC_MODEL(standin_leaves,
         .claim = "[G1] [G2] a stand-in takes over; a job that comes while it leaves is found",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

static void standin_is_fetched_again(void)
{
    start_with(1, 1);
    submit(BLOCKS);
    submit(OPENS);
    wait_for(2);
    submit(BLOCKS_AGAIN);
    submit(FORKED);
    wait_for(4);
    end();
}
MC_MODEL(standin_is_fetched_again, .claim = "[G1] one that leaves, has left or sleeps can be had again",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

/* It searches when the job comes, so nobody is woken for it; then it leaves. */
static void standin_last_look(void)
{
    start_with(1, 1);
    mc_check(seat_stand_in(&pool, 0));
    seat_stand_down(&pool);
    submit(PLAIN);
    wait_for(1);
    end();
}
MC_MODEL(standin_last_look, .claim = "[G2] a stand-in that leaves looks after it is out of the count",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .spurious = MC_ZERO);

/* ---- resize ---------------------------------------------------------------------------------- */

/* The first job waits for the second: one worker is not enough. */
static void resize_grows(void)
{
    start_resizable(1, 2);
    submit(WAITS);
    submit(OPENS);
    seat_resize(&pool, 2);
    wait_for(2);
    end();
}
MC_MODEL(resize_grows, .claim = "[G1] a pool that grows has somebody for what waits already",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

/* Whoever was woken for a job may be the one that leaves. */
static void resize_shrinks(void)
{
    start_resizable(2, 2);
    submit(PLAIN);
    seat_resize(&pool, 1);
    wait_for(1);
    submit(OPENS);
    wait_for(2);
    end();
}
MC_MODEL(resize_shrinks, .claim = "[G2] a pool that shrinks loses no job, and no wake-up",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);
