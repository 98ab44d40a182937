/* park.c: models of sleep and wake-up (core/idle.c) by itself: workers and their work are played, so
 * that few steps are left and old loads can be had at every one. Whole pools are in idle.c. */
#include "mc.h"

#include "core/idle.h"
#include "core/poll.h"

static filch_pool pool;
static struct worker seats[2];
static uint32_t jobs;     /* a bit for each kind that lies there     */
static uint32_t finished; /* how many; a futex                       */
static uint32_t gate[2];  /* what jobs wait for                      */

/* ---- played: the rest of the core ------------------------------------------------------------ */

bool find_anything(filch_pool *p, struct worker *w)
{
    (void)p, (void)w;
    return filch_load_relaxed(&jobs) > 0;
}

bool find_own(struct worker *w)
{
    (void)w;
    return false;
}

void find_evict(struct worker *w)
{
    (void)w;
}

void find_flush(struct worker *w)
{
    (void)w;
}

int64_t find_time(filch_pool *p)
{
    (void)p;
    return INT64_MAX;
}

void job_drained(filch_pool *p)
{
    (void)p;
}

static void open_gate(int i)
{
    filch_store_release(&gate[i], 1u);
    os_futex_wake(&gate[i], 1);
}

static void wait_at_gate(int i)
{
    while (!filch_load_acquire(&gate[i]))
        (void)os_futex_wait(&gate[i], 0, INT64_MAX);
}

enum { PLAIN = 1, WAITS = 2, OPENS = 4, FORKS = 8, FORKED = 16 };

/* The kernel's poll: a wake-up, or descriptors that are ready; each makes one job of kind `reported`. */
enum { NEWS_WAKE = 1, NEWS_READY = 256 };
static uint32_t news;
static uint32_t reported;

static void tell(uint32_t what)
{
    filch_add_acq_rel(&news, what);
    os_futex_wake(&news, 1);
}

void poll_wake(filch_pool *p)
{
    (void)p;
    tell(NEWS_WAKE);
}

int poll_sleep(filch_pool *p, struct poll_batch *out, int64_t deadline)
{
    (void)p;
    out->count = 0;
    if (!filch_load_relaxed(&news) && os_futex_wait(&news, 0, deadline) != 0)
        return -1;
    out->count = (int)(filch_xchg_acq_rel(&news, 0u) / NEWS_READY);
    return out->count;
}

void poll_deliver(filch_pool *p, const struct poll_batch *batch)
{
    (void)p;
    if (batch->count > 0)
        filch_add_relaxed(&jobs, reported);
}

void poll_deliver_outside(filch_pool *p, const struct poll_batch *batch)
{
    poll_deliver(p, batch);
    idle_notify(p, 0);
}

/* A look takes what is ready and leaves the wake-up. */
static void look(void)
{
    uint32_t now = filch_load_relaxed(&news);
    if (!poll_exists(&pool) || idle_polled(&pool) || now < NEWS_READY)
        return;
    if (filch_cas_acq_rel(&news, &now, now % NEWS_READY))
        filch_add_relaxed(&jobs, reported);
}

static uint32_t take(void)
{
    uint32_t all = filch_load_relaxed(&jobs), one;
    do
        one = all & -all;
    while (all && !filch_cas_acquire(&jobs, &all, all - one));
    return one;
}

static void run_one(uint32_t kind)
{
    if (kind == WAITS)
        wait_at_gate(0);
    if (kind == OPENS || kind == FORKS)
        open_gate(0);
    if (kind == FORKS) { /* tells nobody, and needs somebody */
        filch_add_relaxed(&jobs, (uint32_t)FORKED);
        wait_at_gate(1);
    }
    if (kind == FORKED)
        open_gate(1);
    filch_add_acq_rel(&finished, 1u);
    os_futex_wake(&finished, 1);
}

void run_thread(void *arg)
{
    struct worker *w = arg;
    os_self_set(w);
    idle_awake(w);
    while (!filch_load_acquire(&pool.stop)) {
        look();
        uint32_t kind = idle_search_begin(w) ? take() : 0;
        if (kind) {
            idle_search_found(w);
            run_one(kind);
        } else {
            idle_park(w);
        }
    }
}

/* ---- who submits waits until a worker has done it -------------------------------------------- */

static void submit(uint32_t kind)
{
    filch_add_relaxed(&jobs, kind);
    idle_notify(&pool, 0);
}

static void wait_for(uint32_t n)
{
    for (uint32_t done; (done = filch_load_acquire(&finished)) < n;)
        (void)os_futex_wait(&finished, done, INT64_MAX);
}

static void start(int count)
{
    pool.workers = seats;
    pool.count = count;
    pool.config.wake = FILCH_WAKE_ONE;
    pool.config.backoff_min_ns = 1000;
    pool.config.backoff_max_ns = 2000;
    for (int i = 0; i < count; i++)
        seats[i] = (struct worker){.pool = &pool, .id = i, .backoff_ns = 1000};
    mc_check(idle_create(&pool) == 0);
}

static void end(void)
{
    idle_stop(&pool);
    struct idle_figures f = idle_figures(&pool);
    mc_check(f.sleeping <= (unsigned)pool.count && f.searching <= (unsigned)pool.count);
    idle_destroy(&pool);
}

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

static unsigned visits; /* plain: one guest at a time */

static void visits_seat(void *unused)
{
    (void)unused;
    struct worker *guest = idle_seat_enter_wait(&pool);
    visits++;
    idle_seat_leave(guest);
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
