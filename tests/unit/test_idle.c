/* test_idle.c: who searches, who sleeps, who is woken. Some tests sit down in seat 0 themselves
 * and call what a worker calls: then nothing depends on when threads run. */
#include "pool_kit.h"
#include "core/find.h"
#include "core/idle_set.h"

#include <time.h>

static uint64_t total(filch_pool *pool, const char *name)
{
    CHECK(filch_stats_index(name) >= 0);
    return filch_stats_total(pool, name);
}

static void submit_cell(filch_pool *pool, struct cell *c, int where)
{
    cell_init(c);
    CHECK_EQ(filch_submit_on(pool, &c->job, where), 0);
}

/* ---- the number of searchers --------------------------------------------------------------- */

static void half_of_the_active_workers_may_search_but_always_one(void)
{
    CHECK_EQ(choice_search_limit(0), 1);
    CHECK_EQ(choice_search_limit(1), 1);
    CHECK_EQ(choice_search_limit(2), 1);
    CHECK_EQ(choice_search_limit(3), 2);
    CHECK_EQ(choice_search_limit(8), 4);
    CHECK_EQ(choice_search_limit(FILCH_MAX_WORKERS), FILCH_MAX_WORKERS / 2);
}

struct watcher {
    filch_pool *pool;
    uint32_t stop;
    unsigned most;
};

static void *watch_searchers(void *arg)
{
    struct watcher *w = arg;
    while (!kit_raised(&w->stop)) {
        unsigned n = idle_figures(w->pool).searching;
        w->most = n > w->most ? n : w->most;
    }
    return NULL;
}

enum { FEW = 40 };

/* Bursts from outside, small enough that workers run dry, search and sleep all the time. */
static void burst(filch_pool *pool, int where)
{
    static struct cell c[FEW];
    for (int i = 0; i < FEW; i++)
        submit_cell(pool, &c[i], where);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    cells_check(c, FEW);
}

static void check_searchers_in_bursts(int where)
{
    static const int counts[] = {1, 2, 4, 8, 16};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        pthread_t t;
        struct watcher w = {.pool = kit_pool(counts[i])};
        CHECK_EQ(pthread_create(&t, NULL, watch_searchers, &w), 0);
        for (size_t n = 0; n < kit_scaled(400, 8); n++)
            burst(w.pool, where);
        kit_raise(&w.stop);
        pthread_join(t, NULL);
        unsigned limit = choice_search_limit((unsigned)counts[i]);
        unsigned most = idle_figures(w.pool).most_searching;
        CHECK_MSG(most <= limit && w.most <= limit, "%d workers: %u (%u seen) searched, limit %u",
                  counts[i], most, w.most, limit);
        kit_destroy(w.pool);
    }
}

static void searchers_are_never_more_than_the_limit_with_jobs_from_outside(void)
{
    check_searchers_in_bursts(FILCH_ANYWHERE);
}

static void searchers_are_never_more_than_the_limit_with_jobs_for_chosen_workers(void)
{
    check_searchers_in_bursts(FILCH_ROUND_ROBIN);
}

static void a_search_beyond_the_limit_is_refused(void)
{
    filch_pool *pool = kit_pool(1);
    struct worker *w = idle_seat_enter(pool);
    CHECK(w);
    CHECK_EQ(idle_search_begin(w), true);
    CHECK_EQ(idle_figures(pool).searching, 1);
    CHECK_EQ(idle_search_begin(w), true); /* it already does */
    CHECK_EQ(idle_figures(pool).searching, 1);
    w->searching = 0; /* as if it were another */
    CHECK_EQ(idle_search_begin(w), false);
    CHECK_EQ(idle_figures(pool).searching, 1);
    w->searching = 1;
    idle_search_found(w);
    CHECK_EQ(idle_figures(pool).searching, 0);
    idle_seat_leave(w);
    kit_destroy(pool);
}

/* ---- successors ---------------------------------------------------------------------------- */

struct meeting {
    uint32_t arrived, needed;
};

struct member {
    filch_job job;
    struct meeting *meeting;
};

/* Ends only when all are there: each needs a thread of its own. */
static void meet(void *arg)
{
    struct meeting *m = ((struct member *)arg)->meeting;
    kit_count(&m->arrived);
    while (kit_raised(&m->arrived) < m->needed)
        kit_nap_us(20);
    kit_beat();
}

/* A new pool has no threads, so no sleeper looks around by itself: only wake-ups bring workers,
 * and there is one from outside. */
static void each_worker_that_finds_work_as_last_searcher_wakes_a_successor(void)
{
    enum { MOST = 16 };
    for (unsigned n = 1; n <= MOST; n++) {
        struct meeting m = {.needed = n};
        struct member member[MOST];
        filch_pool *pool = kit_pool((int)n);
        filch_add_seq_cst(&pool->pending, (uint64_t)n); /* order: as filch_submit does */
        for (unsigned i = 0; i < n; i++) {
            member[i].meeting = &m;
            filch_job_init(&member[i].job, meet, &member[i]);
            member[i].job.pool = pool;
            inject_push(&pool->injector, item_job(&member[i].job));
        }
        idle_notify(pool, 0);
        KIT_AWAIT(kit_raised(&m.arrived) == n);
        CHECK_EQ(total(pool, "wakes"), n - 1);
        CHECK_EQ(idle_figures(pool).threads, n);
        kit_destroy(pool);
    }
}

static void jobs_that_need_each_other_all_start(void)
{
    enum { N = 8 };
    for (int where = FILCH_RANDOM; where <= 0; where++) {
        struct meeting m = {.needed = N};
        struct member member[N];
        filch_pool *pool = kit_pool(N);
        for (int i = 0; i < N; i++) {
            member[i].meeting = &m;
            filch_job_init(&member[i].job, meet, &member[i]);
            CHECK_EQ(filch_submit_on(pool, &member[i].job, where), 0);
        }
        KIT_AWAIT(kit_raised(&m.arrived) == N);
        kit_destroy(pool);
    }
}

/* ---- livelock protection ------------------------------------------------------------------- */

static unsigned attempts_of_a_round(enum filch_victim victim, unsigned most, int workers)
{
    filch_config c = kit_config(workers);
    c.victim = victim;
    c.steal_attempts = most;
    filch_pool *pool = kit_make(&c);
    struct worker *w = idle_seat_enter(pool);
    CHECK(w);
    CHECK_EQ(find_steal(w).what, FOUND_NOTHING);
    unsigned n = (unsigned)counters_get(&w->counters, EV_STEAL_TRY);
    CHECK_EQ(counters_get(&w->counters, EV_STEAL_EMPTY), n);
    idle_seat_leave(w);
    kit_destroy(pool);
    return n;
}

static void a_round_tries_no_more_victims_than_allowed(void)
{
    for (unsigned most = 1; most <= 10; most++) {
        unsigned expected = most < 7 ? most : 7;
        CHECK_EQ(attempts_of_a_round(FILCH_VICTIM_RANDOM, most, 8), expected);
        CHECK_EQ(attempts_of_a_round(FILCH_VICTIM_ORDER, most, 8), expected);
        CHECK_EQ(attempts_of_a_round(FILCH_VICTIM_ONE, most, 8), 1);
        CHECK_EQ(attempts_of_a_round(FILCH_VICTIM_TWO, most, 8), 1);
        CHECK_EQ(attempts_of_a_round(FILCH_VICTIM_SHUFFLE, most, 8), expected);
        CHECK_EQ(attempts_of_a_round(FILCH_VICTIM_LAST, most, 8), expected);
        CHECK_EQ(attempts_of_a_round(FILCH_VICTIM_LARGEST, most, 8), 0); /* all are empty */
    }
    CHECK_EQ(attempts_of_a_round(FILCH_VICTIM_RANDOM, 0, 8), 7);
    CHECK_EQ(attempts_of_a_round(FILCH_VICTIM_ORDER, 0, 1), 0);
}

/* Sits down in seat 0 of a pool without threads, that then gets this policy: nobody else is in
 * the seat, and parking ends by the alarm. */
static struct worker *sit_down(filch_pool *pool, enum filch_wake wake, enum filch_idle idle)
{
    struct worker *w = idle_seat_enter(pool);
    CHECK(w);
    CHECK_EQ(idle_figures(pool).threads, 0);
    pool->config.wake = wake;
    pool->config.idle = idle;
    return w;
}

/* Backs off from 0.1 ms to 1 ms. */
static filch_pool *backing_off(void)
{
    filch_config c = kit_config(1);
    c.backoff_min_ns = 100000;
    c.backoff_max_ns = 1000000;
    return kit_make(&c);
}

static void the_back_off_doubles_to_its_bound_and_success_resets_it(void)
{
    filch_pool *pool = backing_off();
    struct worker *w = sit_down(pool, FILCH_WAKE_NONE, FILCH_IDLE_PARK);
    for (int again = 0; again < 2; again++) {
        int64_t expected = 100000;
        for (int i = 0; i < 8; i++) {
            CHECK_EQ(w->backoff_ns, expected);
            int64_t begin = filch_clock_ns();
            idle_park(w);
            CHECK(filch_clock_ns() - begin >= expected);
            CHECK_EQ(w->searching, 1);
            expected = 2 * expected < 1000000 ? 2 * expected : 1000000;
        }
        CHECK_EQ(w->backoff_ns, 1000000);
        idle_search_found(w);
        CHECK_EQ(w->backoff_ns, 100000);
    }
    idle_seat_leave(w);
    kit_destroy(pool);
}

static void a_scout_keeps_its_pace_until_it_finds_a_fork(void)
{
    filch_pool *pool = backing_off();
    struct worker *w = sit_down(pool, FILCH_WAKE_ONE, FILCH_IDLE_PARK);
    idle_park(w);
    CHECK(w->scouts);
    idle_search_found(w);
    CHECK_EQ(w->backoff_ns, 200000);
    CHECK_EQ(idle_search_begin(w), true);
    w->scouts = false; /* as run.c does when it was a fork */
    idle_search_found(w);
    CHECK_EQ(w->backoff_ns, 100000);
    idle_seat_leave(w);
    kit_destroy(pool);
}

/* Lies down and gets up at once. Does it have an alarm? */
static bool has_alarm(struct worker *w)
{
    struct idle_set *s = w->pool->idle;
    int64_t deadline = idle_lie_down(w, true);
    CHECK_EQ(deadline != INT64_MAX, s->scout == w->id);
    lock_acquire(&s->lock);
    (void)set_remove(w->pool, w->id, RISE_AS_ACTIVE);
    lock_release(&s->lock);
    return deadline != INT64_MAX;
}

static unsigned alarms_until_calm(struct worker *w)
{
    unsigned n = 0;
    while (has_alarm(w) && n < 100)
        n++;
    return n;
}

static void alarms_end_when_nobody_gets_up_between_them(void)
{
    filch_pool *pool = kit_pool(1);
    struct worker *w = sit_down(pool, FILCH_WAKE_ONE, FILCH_IDLE_PARK);
    unsigned first = alarms_until_calm(w);
    CHECK(first > 0 && first < 10);
    CHECK(!has_alarm(w));
    pool->idle->risen++; /* as if another got up and lay down again */
    CHECK_EQ(alarms_until_calm(w), first + 1);
    idle_seat_leave(w);
    kit_destroy(pool);
}

static void who_lies_down_beside_the_poller_is_the_scout(void)
{
    filch_pool *pool = kit_pool(1);
    struct worker *w = sit_down(pool, FILCH_WAKE_ONE, FILCH_IDLE_PARK);
    pool->idle->scout = pool->idle->poller = 2; /* as if it slept there */
    CHECK(has_alarm(w));
    pool->idle->scout = 1; /* one that sleeps at its gate stays */
    CHECK_EQ(idle_lie_down(w, true), INT64_MAX);
    CHECK_EQ(pool->idle->scout, 1);
    lock_acquire(&pool->idle->lock);
    (void)set_remove(pool, w->id, RISE_AS_ACTIVE);
    lock_release(&pool->idle->lock);
    pool->idle->scout = pool->idle->poller = -1;
    idle_seat_leave(w);
    kit_destroy(pool);
}

static void wakes(struct timer *t)
{
    (void)t;
}

/* It gets up for the timers, and then there would be no scout. */
static void who_lies_down_beside_the_keeper_is_the_scout(void)
{
    filch_pool *pool = kit_pool(1);
    struct worker *w = sit_down(pool, FILCH_WAKE_ONE, FILCH_IDLE_PARK);
    struct idle_set *s = pool->idle;
    s->scout = s->keeper = 2; /* as if it slept there */
    s->keeps_ns = 0;
    CHECK(has_alarm(w));
    CHECK_EQ(s->keeper, 2);
    struct timer t = {.fire = wakes};
    timers_add(w->timers, &t, os_clock_ns() + 3600000000000);
    s->scout = s->keeper = 2; /* unless it keeps the time itself from now on: the other stays the scout */
    s->keeps_ns = INT64_MAX;
    CHECK_EQ(idle_lie_down(w, true), timers_wake(w->timers));
    CHECK_EQ(s->scout, 2);
    CHECK_EQ(s->keeper, w->id);
    lock_acquire(&s->lock);
    (void)set_remove(pool, w->id, RISE_AS_ACTIVE);
    lock_release(&s->lock);
    CHECK(timers_cancel(&t));
    s->scout = -1;
    idle_seat_leave(w);
    kit_destroy(pool);
}

static void resting_without_parking_backs_off_in_the_same_way(void)
{
    filch_config c = kit_config(1);
    c.backoff_min_ns = 200000;
    c.backoff_max_ns = 1000000;
    filch_pool *pool = kit_make(&c);
    struct worker *w = sit_down(pool, FILCH_WAKE_ONE, FILCH_IDLE_BACKOFF);
    static const int64_t expected[] = {200000, 400000, 800000, 1000000, 1000000};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        CHECK_EQ(w->backoff_ns, expected[i]);
        CHECK_EQ(idle_search_begin(w), true);
        idle_rest(w);
        CHECK_EQ(w->searching, 0);
        CHECK_EQ(idle_figures(pool).searching, 0);
    }
    CHECK_EQ(idle_search_begin(w), true);
    idle_search_found(w);
    CHECK_EQ(w->backoff_ns, 200000);
    idle_seat_leave(w);
    kit_destroy(pool);
}

/* ---- every policy delivers ----------------------------------------------------------------- */

/* Nobody waits in the pool: whoever is awake, or awakes by itself, must do it. */
static void deliver(const filch_config *config)
{
    filch_pool *pool = kit_make(config);
    for (int i = 0; i < 60; i++) {
        struct cell c;
        submit_cell(pool, &c, i % 6 - 3);
        KIT_AWAIT(filch_job_done(&c.job));
        cells_check(&c, 1);
        if (i % 20 == 0)
            kit_nap_us(3000); /* so that they have run out of patience */
    }
    burst(pool, FILCH_ANYWHERE);
    kit_destroy(pool);
}

static void every_way_to_wake_delivers_with_every_way_to_idle(void)
{
    for (int wake = FILCH_WAKE_ONE; wake <= FILCH_WAKE_NONE; wake++)
        for (int idle = FILCH_IDLE_PARK; idle <= FILCH_IDLE_BACKOFF; idle++)
            for (int workers = 1; workers <= 4; workers += 3) {
                filch_config c = kit_config(workers);
                c.wake = (enum filch_wake)wake;
                c.idle = (enum filch_idle)idle;
                deliver(&c);
            }
}

static void every_way_to_wake_delivers_to_private_queues(void)
{
    for (int wake = FILCH_WAKE_ONE; wake <= FILCH_WAKE_NONE; wake++) {
        filch_config c = kit_config(4);
        c.wake = (enum filch_wake)wake;
        c.queue = FILCH_QUEUE_PRIVATE;
        deliver(&c);
    }
}

/* A guest in seat 0 sends the seat's thread to sleep; it must come back by itself. */
static void without_wake_ups_a_worker_comes_back_after_a_guest(void)
{
    filch_config c = kit_config(1);
    c.wake = FILCH_WAKE_NONE;
    filch_pool *pool = kit_make(&c);
    for (int i = 0; i < 300; i++) {
        struct cell guest, own;
        cell_init(&guest);
        filch_run_on(pool, cell_run, &guest);
        submit_cell(pool, &own, FILCH_ANYWHERE);
        KIT_AWAIT(filch_job_done(&own.job));
        cells_check(&guest, 1);
        cells_check(&own, 1);
    }
    kit_destroy(pool);
}

static void waking_all_wakes_all(void)
{
    enum { N = 8 };
    filch_config c = kit_config(N);
    c.wake = FILCH_WAKE_ALL;
    filch_pool *pool = kit_make(&c);
    struct cell cell;
    submit_cell(pool, &cell, FILCH_ANYWHERE);
    KIT_AWAIT(idle_figures(pool).threads == N);
    kit_destroy(pool);
    cells_check(&cell, 1);
}

static void waking_one_wakes_one(void)
{
    filch_pool *pool = kit_pool(8);
    struct cell cell;
    submit_cell(pool, &cell, FILCH_ANYWHERE);
    CHECK(idle_figures(pool).threads >= 1);
    KIT_AWAIT(filch_job_done(&cell.job));
    kit_await_parked(pool);
    CHECK(idle_figures(pool).threads <= 3); /* the one, its successor, and perhaps the next */
    kit_destroy(pool);
}

/* ---- sleep --------------------------------------------------------------------------------- */

static int64_t cpu_ns(void)
{
    struct timespec t;
    CHECK_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void an_idle_pool_sleeps_in_every_seat_and_uses_no_cpu(void)
{
    filch_pool *pool = kit_pool(8);
    for (int i = 0; i < 10; i++)
        burst(pool, FILCH_ROUND_ROBIN);
    /* Awaited, not read once: an alarm that was set before may rouse one on the way. */
    KIT_AWAIT(idle_figures(pool).sleeping == 8 && idle_figures(pool).searching == 0);
    CHECK(idle_figures(pool).threads >= 1);
    uint64_t parks = total(pool, "parks");
    int64_t before = cpu_ns(), begin = filch_clock_ns();
    kit_nap_us(2000000);
    int64_t used = cpu_ns() - before, wall = filch_clock_ns() - begin;
    CHECK(total(pool, "parks") - parks <= 8); /* at most what an alarm set before has roused */
    if (!KIT_SLOW) /* a sanitizer has threads of its own */
        CHECK_MSG(used * 1000 < wall, "%lld ns of CPU in %lld ns", (long long)used, (long long)wall);
    kit_destroy(pool);
}

static void nap_as_guest(void *unused)
{
    (void)unused;
    kit_nap_us(300000);
}

/* The scout sleeps with an alarm; if a guest sits in its seat when the alarm goes off there is
 * nothing to do for it but to go on sleeping. */
static void a_thread_whose_seat_is_taken_sleeps(void)
{
    struct block b, first;
    filch_config config = kit_config(2);
    config.queue = FILCH_QUEUE_PRIVATE; /* each stays where it was put */
    filch_pool *pool = kit_make(&config);
    block_start(&first, pool, 0); /* a thread for seat 0 ... */
    block_start(&b, pool, 1);
    kit_raise(&first.release); /* ... that becomes the scout, as the other one is busy */
    KIT_AWAIT(idle_figures(pool).sleeping == 1);
    int64_t before = cpu_ns(), begin = filch_clock_ns();
    filch_run_on(pool, nap_as_guest, 0);
    int64_t used = cpu_ns() - before, wall = filch_clock_ns() - begin;
    /* A thread that spins takes all of it; the naps of the others cost more on a loaded machine. */
    CHECK_MSG(used * 3 < wall, "%lld ns of CPU in %lld ns", (long long)used, (long long)wall);
    block_end(&b);
    kit_destroy(pool);
}

static int64_t thread_cpu_ns(void)
{
    struct timespec t;
    CHECK_EQ(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

enum { NAP_US = 100000 };

static uint32_t begun;

static void naps_elsewhere(void *unused)
{
    (void)unused;
    filch_store_release(&begun, 1u);
    kit_nap_us(NAP_US);
}

/* Pinned, as the root of a thread outside. */
static void joins_what_naps(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        filch_job job;
        filch_store_relaxed(&begun, 0u);
        filch_fork(&job, naps_elsewhere, NULL);
        KIT_AWAIT(filch_load_acquire(&begun));
        int64_t before = thread_cpu_ns();
        filch_join(&job);
        int64_t used = thread_cpu_ns() - before;
        /* Not a share of the time it took: the nap may be over before this thread gets here. */
        CHECK_MSG(used * 3 < NAP_US * 1000, "%lld ns of CPU", (long long)used);
    }
}

static void a_pinned_join_sleeps_each_time(void)
{
    filch_pool *pool = kit_pool(2);
    filch_run_on(pool, joins_what_naps, NULL);
    kit_destroy(pool);
}

/* Thieves that never take a single job must not look for ever at one they will not take. */
static void a_job_that_may_not_be_stolen_does_not_keep_thieves_awake(void)
{
    struct block b;
    struct cell c;
    filch_config config = kit_config(2);
    config.queue = FILCH_QUEUE_LOCKED;
    config.steal = FILCH_STEAL_FLOOR;
    filch_pool *pool = kit_make(&config);
    block_start(&b, pool, 1);
    submit_cell(pool, &c, 1);
    uint64_t before = total(pool, "parks");
    kit_nap_us(300000);
    /* A scout's naps are at least 1 ms after the first few. */
    CHECK_MSG(total(pool, "parks") - before < 600, "%llu parks in 0.3 s",
              (unsigned long long)(total(pool, "parks") - before));
    block_end(&b);
    kit_destroy(pool);
    cells_check(&c, 1);
}

/* ---- no wake-up is lost -------------------------------------------------------------------- */

enum { ROUNDS = 6000 };

static void submit_to_a_parked_pool(int workers, int where)
{
    filch_pool *pool = kit_pool(workers);
    for (size_t i = 0; i < kit_scaled(ROUNDS / 4, 10); i++) {
        struct cell c;
        kit_await_parked(pool);
        submit_cell(pool, &c, where);
        while (!filch_job_done(&c.job)) /* without helping; the watchdog waits with us */
            sched_yield();
        kit_beat();
    }
    kit_destroy(pool);
}

static void a_job_for_a_parked_pool_always_starts(void)
{
    submit_to_a_parked_pool(1, FILCH_ANYWHERE);
    submit_to_a_parked_pool(2, FILCH_ANYWHERE);
    submit_to_a_parked_pool(4, FILCH_ROUND_ROBIN);
    submit_to_a_parked_pool(16, FILCH_ANYWHERE);
}

/* The moment in which a worker falls asleep is where wake-ups get lost: hit it by chance. */
static void a_job_for_a_pool_that_falls_asleep_always_starts(void)
{
    struct rng rng;
    rng_seed(&rng, 7);
    for (int workers = 1; workers <= 4; workers *= 2) {
        filch_config config = kit_config(workers);
        config.spin_rounds = 4; /* quickly to sleep */
        filch_pool *pool = kit_make(&config);
        for (size_t i = 0; i < kit_scaled(ROUNDS, 10); i++) {
            struct cell c;
            for (uint32_t n = rng_below(&rng, 2000); n > 0; n--)
                os_pause();
            submit_cell(pool, &c, i % 3 ? FILCH_ANYWHERE : FILCH_ROUND_ROBIN);
            while (!filch_job_done(&c.job))
                sched_yield();
            kit_beat();
        }
        kit_destroy(pool);
    }
}

static void a_guest_that_waits_always_gets_its_job(void)
{
    for (int workers = 1; workers <= 4; workers *= 2) {
        filch_pool *pool = kit_pool(workers);
        for (size_t i = 0; i < kit_scaled(ROUNDS, 10); i++) {
            struct cell c;
            submit_cell(pool, &c, (int)(i % 6) - 3);
            CHECK_EQ(filch_job_wait(&c.job, FILCH_FOREVER), 0);
            kit_beat();
        }
        kit_destroy(pool);
    }
}

int main(void)
{
    kit_watchdog();
    RUN(half_of_the_active_workers_may_search_but_always_one);
    RUN(a_search_beyond_the_limit_is_refused);
    RUN(searchers_are_never_more_than_the_limit_with_jobs_from_outside);
    RUN(searchers_are_never_more_than_the_limit_with_jobs_for_chosen_workers);
    RUN(each_worker_that_finds_work_as_last_searcher_wakes_a_successor);
    RUN(jobs_that_need_each_other_all_start);
    RUN(a_round_tries_no_more_victims_than_allowed);
    RUN(the_back_off_doubles_to_its_bound_and_success_resets_it);
    RUN(a_scout_keeps_its_pace_until_it_finds_a_fork);
    RUN(alarms_end_when_nobody_gets_up_between_them);
    RUN(who_lies_down_beside_the_poller_is_the_scout);
    RUN(who_lies_down_beside_the_keeper_is_the_scout);
    RUN(resting_without_parking_backs_off_in_the_same_way);
    RUN(every_way_to_wake_delivers_with_every_way_to_idle);
    RUN(every_way_to_wake_delivers_to_private_queues);
    RUN(without_wake_ups_a_worker_comes_back_after_a_guest);
    RUN(waking_all_wakes_all);
    RUN(waking_one_wakes_one);
    RUN(an_idle_pool_sleeps_in_every_seat_and_uses_no_cpu);
    RUN(a_pinned_join_sleeps_each_time);
    RUN(a_thread_whose_seat_is_taken_sleeps);
    RUN(a_job_that_may_not_be_stolen_does_not_keep_thieves_awake);
    RUN(a_job_for_a_parked_pool_always_starts);
    RUN(a_job_for_a_pool_that_falls_asleep_always_starts);
    RUN(a_guest_that_waits_always_gets_its_job);
    return check_report();
}
