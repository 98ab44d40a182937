/* park.c: models of sleep and wake-up (core/idle.c) by itself: workers and their work are played, so
 * that few steps are left and old loads can be had at every one. Whole pools are in idle.c. */
#include "park_kit.h"

/* ---- models ---------------------------------------------------------------------------------- */

/* Seat 0 has a barrier of its own, for guests, and one sits there: the sleeper is in seat 1. */
static void park_last_look(void)
{
    start(2);
    struct worker *guest = idle_seat_enter(&pool);
    mc_check(guest == &seats[0]);
    submit(PLAIN);
    wait_for(1);
    submit(PLAIN);
    wait_for(2);
    idle_seat_leave(guest);
    end();
}
MC_MODEL(park_last_look,
         .claim = "[I1] a job that comes while the only worker falls asleep is found",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .spurious = MC_ZERO);

static void park_successor(void)
{
    start(2);
    submit(WAITS);
    submit(OPENS); /* sees a searcher, perhaps, and wakes nobody */
    wait_for(2);
    end();
}
MC_MODEL(park_successor, .claim = "[I2] the last searcher that finds work wakes a successor",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

/* The second job wakes the sleeper with the alarm; when the first worker lies down, it has to set one. */
static void park_scout(void)
{
    start(2);
    submit(WAITS);
    os_sleep_ns(500); /* until the other one sleeps as the scout */
    submit(FORKS);
    wait_for(3);
    end();
}
MC_MODEL(park_scout, .claim = "[I4] a fork is found though the scout of before works now",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* ---- what timers bring ------------------------------------------------------------------------- */

/* The submitter perhaps saw the searcher, and told nobody. */
static void park_little_and_a_job(void)
{
    start(2);
    woken = WAITS;
    pool.idle->scout = 0; /* as far as the other knows: no alarm goes off */
    submit(WAITS);
    submit(OPENS);
    wait_for(2);
    end();
}
MC_MODEL(park_little_and_a_job,
         .claim = "[I8] who wakes no successor looks whether something came that is not its own",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .spurious = MC_ZERO);

static void park_little_needs_a_scout(void)
{
    start(2);
    woken = FORKS;
    submit(FORKS);
    wait_for(2);
    end();
}
MC_MODEL(park_little_needs_a_scout, .claim = "[I8] a successor is woken if there is no scout",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* The first job has an alarm set by whom it does not need; the second one comes to the first worker, by then
 * the only one that works, and its fork is found by the other's alarm. */
static void park_little_waits_for_the_scout(void)
{
    start(2);
    woken = FORKS;
    submit(OPENS);
    os_sleep_ns(500);
    submit(FORKS);
    wait_for(3);
    end();
}
MC_MODEL(park_little_waits_for_the_scout, .claim = "[I8] the scout finds what was left to it",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* The same, but alarms are too late to be of use, and one of them gets up for a timer. If it is that one who
 * runs the job, it has to tell the other. */
static void park_little_waits_for_the_keeper(void)
{
    start(2);
    pool.config.backoff_min_ns = seats[0].backoff_ns = seats[1].backoff_ns = 1000000000;
    due = os_clock_ns() + 1500;
    woken = FORKS;
    submit(OPENS);
    os_sleep_ns(500);
    submit(FORKS);
    wait_for(3);
    mc_check(os_clock_ns() < 100000000);
    end();
}
MC_MODEL(park_little_waits_for_the_keeper, .claim = "[I8] who keeps the time finds what was left to it",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* ---- the end --------------------------------------------------------------------------------- */

/* A task that its joiner ran is done, but lies in the queue yet: whoever takes it leaves the search as if it
 * were work, and wakes a successor, at a time when the pool may be about to end. */
static void park_stop_while_another_starts(void)
{
    start(2);
    struct worker *guest = idle_seat_enter(&pool); /* has somebody look for its forks in the other seat */
    filch_add_relaxed(&jobs, (uint32_t)PLAIN);
    idle_seat_leave(guest); /* the seat has no thread, and nobody waits for the job */
    end();
}
MC_MODEL(park_stop_while_another_starts, .claim = "[I7] no thread is started behind the back of the stop",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .spurious = MC_ZERO);

/* ---- guests ---------------------------------------------------------------------------------- */

static void park_guest_forks(void)
{
    start(2);
    struct worker *guest = idle_seat_enter(&pool);
    run_one(FORKS);
    idle_seat_leave(guest);
    wait_for(2);
    end();
}
MC_MODEL(park_guest_forks, .claim = "[I4] who becomes active as a guest has somebody look after its forks",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

static void park_guest_leaves(void)
{
    start(2);
    struct worker *guest = idle_seat_enter(&pool);
    submit(FORKS);
    idle_seat_leave(guest);
    wait_for(2);
    end();
}
MC_MODEL(park_guest_leaves, .claim = "[I4] a guest that leaves without an alarm has somebody else set one",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* A job comes for the only seat while a guest is in it: nobody sleeps whom the submitter could wake. */
static void submits(void *unused)
{
    (void)unused;
    submit(PLAIN);
}

static void park_guest_looks_back(void)
{
    start(1);
    struct worker *guest = idle_seat_enter(&pool);
    mc_thread(submits, 0);
    idle_seat_leave(guest);
    wait_for(1);
    mc_join_all();
    end();
}
MC_MODEL(park_guest_looks_back, .claim = "[I1] a guest that leaves looks whether something came meanwhile",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .spurious = MC_ZERO);

static void visits_seat(void *unused)
{
    (void)unused;
    idle_seat_step_in(&seats[0], (struct away){.guest = true}); /* as after a wait */
    visits++;
    idle_seat_leave(&seats[0]);
}

static void park_seat_is_handed_on(void)
{
    start(1);
    mc_thread(visits_seat, 0);
    mc_thread(visits_seat, 0);
    visits_seat(0);
    mc_join_all();
    mc_check(visits == 3);
    end();
}
MC_MODEL(park_seat_is_handed_on, .claim = "guests wait for the seat, sit there alone, and none is forgotten",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO);

/* The thread waits for what the guest is to do, and the guest for the seat. */
static void opens_in_seat(void *unused)
{
    (void)unused;
    idle_seat_step_in(&seats[0], (struct away){.guest = true});
    visits++;
    open_gate(0);
    idle_seat_leave(&seats[0]);
}

static void park_seat_is_lent(void)
{
    start(1);
    submit(LENDS);
    opens_in_seat(0); /* before the thread sits there, or while it lends the seat */
    wait_for(1);
    mc_check(visits == 2);
    submit(PLAIN); /* it is as it was */
    wait_for(2);
    end();
}
MC_MODEL(park_seat_is_lent, .claim = "[G4] a thread that waits, pinned, lends seat 0, and has it back",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

static void park_seat_is_lent_to_two(void)
{
    start(1);
    submit(LENDS);
    mc_thread(opens_in_seat, 0);
    visits_seat(0);
    wait_for(1);
    mc_join_all();
    mc_check(visits == 3);
    end();
}
MC_MODEL(park_seat_is_lent_to_two,
         .claim = "[G4] of guests and the thread that lent the seat none is forgotten",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

static void park_lent_seat_looks_back(void)
{
    start(2);
    filch_add_relaxed(&jobs, (uint32_t)LENDS);
    idle_notify_seat(&pool, 0, 0);
    idle_seat_step_in(&seats[0], (struct away){.guest = true});
    filch_add_relaxed(&jobs, (uint32_t)PLAIN); /* it leaves something behind */
    idle_seat_leave(&seats[0]);
    wait_for(1);
    open_gate(0);
    wait_for(2);
    end();
}
MC_MODEL(park_lent_seat_looks_back, .claim = "[I1] others do what is left behind in a lent seat",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

/* The submitter saw the seat's thread asleep; a guest comes and goes; then the submitter opens the gate: for
 * the thread that is all it hears of what the guest wrote. */
static void park_gate_hands_the_seat_over(void)
{
    start(1);
    submit(PLAIN);
    wait_for(1);
    visits_seat(0); /* so it is free, its thread asleep */
    mc_thread(visits_seat, 0);
    submit(PLAIN);
    wait_for(2);
    mc_join_all();
    end();
}
MC_MODEL(park_gate_hands_the_seat_over, .claim = "[I3] what a guest left in the seat is seen by its thread",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

/* ---- file descriptors ------------------------------------------------------------------------ */

static void start_with_poll(int count, uint32_t kind)
{
    static char something;
    start(count);
    reported = kind;
    pool.poller = (struct poller *)&something;
}

static void becomes_ready(void *unused)
{
    (void)unused;
    tell(NEWS_READY);
}

static void park_poller_is_woken(void)
{
    start_with_poll(1, OPENS);
    submit(PLAIN);
    wait_for(1);
    mc_thread(becomes_ready, 0);
    submit(PLAIN); /* while the worker falls asleep in the poll, or gets up from it */
    wait_for(3);
    mc_join_all();
    end();
}
MC_MODEL(park_poller_is_woken, .claim = "[I6] the poller sees what is ready, and a job that comes",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

static void park_poller_has_a_successor(void)
{
    start_with_poll(2, OPENS);
    submit(WAITS); /* until somebody else has looked at the poll */
    becomes_ready(0);
    wait_for(2);
    end();
}
MC_MODEL(park_poller_has_a_successor, .claim = "[I6] while one works, another looks after the descriptors",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO);

static void park_poll_after_a_guest(void)
{
    start_with_poll(1, PLAIN);
    struct worker *guest = idle_seat_enter(&pool);
    mc_thread(becomes_ready, 0);
    idle_seat_leave(guest);
    wait_for(1);
    mc_join_all();
    end();
}
MC_MODEL(park_poll_after_a_guest, .claim = "[I6] a guest that leaves has somebody look after the descriptors",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .spurious = MC_ZERO);

static void park_poller_without_a_seat(void)
{
    start_with_poll(1, PLAIN);
    submit(OPENS);
    wait_for(1);
    struct worker *guest = idle_seat_enter(&pool); /* perhaps from under the poller */
    becomes_ready(0);
    if (guest)
        idle_seat_leave(guest);
    wait_for(2);
    end();
}
MC_MODEL(park_poller_without_a_seat, .claim = "[I6] the poller sees what is ready while a guest has its seat",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .spurious = MC_ZERO);
