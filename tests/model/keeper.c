/* keeper.c: models of who keeps the time while everybody sleeps (core/idle.c [I5]). Workers and timers are
 * played: there are two timers, set by whom it happens, and fired by a worker that searches and finds that
 * one is due. Forks, jobs and their alarms are in park.c. */
#include "mc.h"

#include "core/idle_set.h"
#include "core/poll.h"

static filch_pool pool;
static struct worker seats[2];
static int64_t due[2] = {INT64_MAX, INT64_MAX}; /* the timers, whoever set them */
static int64_t fired_at[2];
static uint32_t fired;    /* how many: a futex                    */
static uint32_t jobs;     /* a bit for each that lies there       */

/* ---- played: the rest of the core ------------------------------------------------------------ */

int64_t find_time(filch_pool *p)
{
    int64_t first = INT64_MAX;
    (void)p;
    for (int i = 0; i < 2; i++) {
        int64_t at = filch_load_relaxed(&due[i]);
        first = at < first ? at : first;
    }
    return first;
}

bool find_anything(filch_pool *p, struct worker *w)
{
    (void)p, (void)w;
    return filch_load_relaxed(&jobs) > 0;
}

bool find_much(filch_pool *p, struct worker *w) { return find_anything(p, w); }
bool find_own(struct worker *w) { (void)w; return false; }
void find_evict(struct worker *w) { (void)w; }
void find_flush(struct worker *w) { (void)w; }
void find_leave_behind(struct worker *w) { (void)w; }
void find_hand_over(struct worker *w) { (void)w; }
void job_drained(filch_pool *p) { (void)p; }

/* Nobody has descriptors here. */
void poll_wake(filch_pool *p) { (void)p; }
void poll_deliver(filch_pool *p, const struct poll_batch *b) { (void)p, (void)b; }
void poll_deliver_outside(filch_pool *p, const struct poll_batch *b) { (void)p, (void)b; }
int poll_sleep(filch_pool *p, struct poll_batch *out, int64_t deadline)
{
    (void)p, (void)out, (void)deadline;
    mc_check(false);
    return -1;
}

/* Whoever is first takes it out. */
static bool fire_due(void)
{
    int64_t now = os_clock_ns();
    bool any = false;
    for (int i = 0; i < 2; i++) {
        int64_t at = filch_load_relaxed(&due[i]);
        if (at > now || !filch_cas_acq_rel(&due[i], &at, INT64_MAX))
            continue;
        fired_at[i] = now;
        filch_add_acq_rel(&fired, 1u);
        os_futex_wake(&fired, 1);
        any = true;
    }
    return any;
}

/* A job sets a timer, so far from now. */
enum { SOON = 1, LATER = 2 };

static void run_one(uint32_t kind)
{
    int64_t at = os_clock_ns() + (kind == SOON ? 500000 : 900000);
    filch_store_relaxed(&due[kind == LATER], at);
}

static uint32_t take(void)
{
    uint32_t all = filch_load_relaxed(&jobs), one;
    do
        one = all & -all;
    while (all && !filch_cas_acquire(&jobs, &all, all - one));
    return one;
}

void run_thread(void *arg)
{
    struct worker *w = arg;
    os_self_set(w);
    idle_awake(w);
    while (!filch_load_acquire(&pool.stop)) {
        bool searches = idle_search_begin(w);
        uint32_t kind = searches ? take() : 0;
        if (kind) {
            idle_search_found(w);
            run_one(kind);
        } else if (searches && fire_due()) {
            idle_search_found(w);
        } else {
            idle_park(w);
        }
    }
}

/* ---- the outside --------------------------------------------------------------------------------- */

static void submit(uint32_t kind)
{
    filch_add_relaxed(&jobs, kind);
    idle_notify(&pool, 0);
}

static void wait_for(uint32_t n)
{
    for (uint32_t done; (done = filch_load_acquire(&fired)) < n;)
        (void)os_futex_wait(&fired, done, INT64_MAX);
}

static void start(int count)
{
    pool.workers = seats;
    pool.count = pool.config.workers = count;
    pool.config.wake = FILCH_WAKE_ONE;
    pool.config.backoff_min_ns = 1000000000; /* the scout is of no use here */
    pool.config.backoff_max_ns = 1000000000;
    pool.config.backoff_factor = 2;
    for (int i = 0; i < count; i++)
        seats[i] = (struct worker){.pool = &pool, .id = i, .backoff_ns = 1000000000};
    mc_check(idle_create(&pool) == 0);
}

static void end(void)
{
    idle_stop(&pool);
    idle_destroy(&pool);
}

/* Not a second later, when somebody's alarm goes off by itself. */
static void check_in_time(void)
{
    for (unsigned i = 0; i < 2; i++)
        mc_check(fired_at[i] < 100000000);
}

/* ---- models -------------------------------------------------------------------------------------- */

static void keeper_alone(void)
{
    start(1);
    submit(SOON);
    wait_for(1);
    check_in_time();
    end();
}
MC_MODEL(keeper_alone, .claim = "[I5] a worker that sets a timer and sleeps gets up for it",
         .preemptions = 2, .spins = MC_ZERO, .alarms = true);

/* Either may set either, and lie down first or last. */
static void keeper_of_two(void)
{
    start(2);
    submit(LATER);
    submit(SOON);
    wait_for(2);
    check_in_time();
    end();
}
MC_MODEL(keeper_of_two, .claim = "[I5] everybody sleeps and a timer is due: somebody gets up",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* The keeper's time comes while another one searches, who has looked before; then that one lies down. */
static void keeper_that_may_not_get_up(void)
{
    start(2);
    struct worker *other = idle_seat_enter(&pool);
    submit(SOON);
    os_sleep_ns(100000); /* until seat 1 sleeps as the keeper */
    mc_check(idle_search_begin(other));
    os_sleep_ns(600000); /* its time has come */
    mc_check(fired == 0 && idle_lie_down(other, true) <= due[0]);
    end();
}
MC_MODEL(keeper_that_may_not_get_up, .claim = "[I5] a keeper that sleeps on leaves the time to another",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* ---- guests -------------------------------------------------------------------------------------- */

static void keeper_guest(int count)
{
    start(count);
    struct worker *guest = idle_seat_enter(&pool);
    mc_check(guest == &seats[0]);
    run_one(SOON);
    idle_seat_leave(guest);
    wait_for(1);
    check_in_time();
    end();
}

static void keeper_after_a_guest(void)
{
    keeper_guest(1);
}
MC_MODEL(keeper_after_a_guest, .claim = "[I5] a guest that leaves a timer has somebody keep the time",
         .preemptions = 2, .spins = MC_ZERO, .alarms = true);

static void keeper_after_a_guest_of_two(void)
{
    keeper_guest(2);
}
MC_MODEL(keeper_after_a_guest_of_two, .claim = "[I5] the same with another seat", .preemptions = 2,
         .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* A worker keeps a later one when the guest leaves an earlier one. */
static void keeper_of_a_later_one(void)
{
    start(2);
    submit(LATER);
    os_sleep_ns(100000);
    struct worker *guest = idle_seat_enter(&pool);
    if (guest) {
        run_one(SOON);
        idle_seat_leave(guest);
    }
    wait_for(guest ? 2 : 1);
    check_in_time();
    mc_check(!guest || fired_at[0] < fired_at[1]); /* the guest's was first */
    end();
}
MC_MODEL(keeper_of_a_later_one, .claim = "[I5] a keeper that would sleep too long is replaced",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);
