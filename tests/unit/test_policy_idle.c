/* test_policy_idle.c: wake=, idle=, join=, spin=, cycle_attempts= and the back-off: which sleeper is woken,
 * what a worker does that finds nothing, for how long, and what a join does that must wait. */
#include "policy_kit.h"

/* ---- wake= --------------------------------------------------------------------------------------
 *
 * All seats but the test's own sleep, and are said to have a thread: to wake one opens its gate. */

enum { SLEEPERS = 7, ROUNDS = 200 };

static void lie_down(filch_pool *pool)
{
    struct idle_set *s = pool->idle;
    for (int id = 1; id < pool->count; id++) {
        struct worker *w = worker_of(pool, id);
        lock_acquire(&s->lock);
        if (!set_has(s, id))
            set_add(s, id, (uint64_t)0 - (w->gate == GATE_SEARCHER));
        w->gate = GATE_SHUT;
        w->has_thread = SEAT_THREAD;
        lock_release(&s->lock);
    }
}

static filch_pool *sleeping_pool(enum filch_wake wake)
{
    filch_pool *pool = still_pool(SLEEPERS + 1, "");
    pool->config.wake = wake; /* not at creation: a pool with wake=none starts all its threads */
    lie_down(pool);
    return pool;
}

static void sleeping_end(filch_pool *pool)
{
    lie_down(pool);
    for (int id = 1; id < pool->count; id++)
        worker_of(pool, id)->has_thread = SEAT_BARE;
    pool->config.wake = FILCH_WAKE_ONE;
    still_end(pool);
}

/* Work was published from outside or by the worker in seat 0. Bit i: worker i was woken. */
static unsigned woken(filch_pool *pool, bool outside)
{
    unsigned set = 0;
    idle_notify(pool, outside ? NULL : worker_of(pool, 0));
    for (int id = 1; id < pool->count; id++)
        set |= (worker_of(pool, id)->gate != GATE_SHUT ? 1u : 0u) << id;
    return set;
}

static void one_wakes_the_first_sleeper(void)
{
    filch_pool *pool = sleeping_pool(FILCH_WAKE_ONE);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(woken(pool, i % 2), 1u << 1);
        lie_down(pool);
    }
    sleeping_end(pool);
}

static void random_wakes_each_of_the_sleepers_now_and_then(void)
{
    for (int outside = 0; outside < 2; outside++) {
        int times[SLEEPERS + 1] = {0};
        filch_pool *pool = sleeping_pool(FILCH_WAKE_RANDOM);
        for (int i = 0; i < ROUNDS; i++) {
            unsigned set = woken(pool, outside);
            CHECK_EQ(__builtin_popcount(set), 1);
            times[__builtin_ctz(set)]++;
            lie_down(pool);
        }
        for (int id = 1; id <= SLEEPERS; id++)
            CHECK_MSG(times[id] > ROUNDS / SLEEPERS / 4, "worker %d: %d times", id, times[id]);
        sleeping_end(pool);
    }
}

/* One that is woken is a searcher. While there is one nobody else is woken. */
static void one_and_random_wake_nobody_while_one_searches(void)
{
    for (int random = 0; random < 2; random++) {
        filch_pool *pool = sleeping_pool(random ? FILCH_WAKE_RANDOM : FILCH_WAKE_ONE);
        unsigned first = woken(pool, true);
        CHECK_EQ(__builtin_popcount(first), 1);
        CHECK_EQ(woken(pool, true), first);
        CHECK_EQ(woken(pool, false), first);
        sleeping_end(pool);
    }
}

static void all_wakes_everyone(void)
{
    for (int outside = 0; outside < 2; outside++) {
        filch_pool *pool = sleeping_pool(FILCH_WAKE_ALL);
        CHECK_EQ(woken(pool, outside), (1u << (SLEEPERS + 1)) - 2);
        sleeping_end(pool);
    }
}

static void none_wakes_nobody(void)
{
    filch_pool *pool = sleeping_pool(FILCH_WAKE_NONE);
    pool->idle->threads = SLEEPERS;
    CHECK_EQ(woken(pool, true), 0);
    CHECK_EQ(woken(pool, false), 0);
    idle_notify_seat(pool, NULL, 3);
    CHECK_EQ(woken(pool, true), 0);
    pool->idle->threads = 0;
    sleeping_end(pool);
}

/* A thread that sleeps in the kernel's poll is of use there; seat 0 is kept for guests. */
static void random_leaves_the_poller_to_the_last(void)
{
    filch_pool *pool = sleeping_pool(FILCH_WAKE_RANDOM);
    pool->idle->poller = 4;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(woken(pool, true) != 1u << 4);
        lie_down(pool);
    }
    pool->idle->poller = -1;
    sleeping_end(pool);
}

/* ---- idle= --------------------------------------------------------------------------------------------- */

static uint64_t total(filch_pool *pool, enum event event)
{
    uint64_t n = 0;
    for (int id = 0; id < pool->count; id++)
        n += counted(pool, id, event);
    return n;
}

static void a_parked_worker_is_in_the_set(void)
{
    filch_pool *pool = policy_pool(2, "idle=park");
    struct cell c;
    cells_submit(pool, &c, 1, 1);
    KIT_AWAIT(filch_job_done(&c.job));
    kit_await_parked(pool);
    CHECK(total(pool, EV_PARK) > 0);
    kit_destroy(pool);
}

/* Both have begun to search many times, so they have rested in between. */
static void is_never_parked(const char *words)
{
    filch_pool *pool = policy_pool(2, words);
    struct cell c[10];
    cells_submit(pool, c, 10, FILCH_ROUND_ROBIN);
    KIT_AWAIT(idle_figures(pool).sleeping == 0);
    KIT_AWAIT(counted(pool, 0, EV_SEARCH) + counted(pool, 1, EV_SEARCH) > 20);
    CHECK_EQ(idle_figures(pool).sleeping, 0);
    CHECK_EQ(total(pool, EV_PARK), 0);
    kit_drain_and_destroy(pool);
    cells_check(c, 10);
}

static void workers_that_yield_sleep_or_back_off_are_never_parked(void)
{
    is_never_parked("idle=yield");
    is_never_parked("idle=sleep");
    is_never_parked("idle=backoff");
}

/* Sits in seat 0 and rests, from 1 to 10 ms. */
static filch_pool *resting_pool(enum filch_idle idle)
{
    filch_pool *pool = still_pool(1, "backoff_us=1000..10000");
    pool->config.idle = idle;
    return pool;
}

static int64_t rests_for(filch_pool *pool)
{
    int64_t begin = filch_clock_ns();
    idle_rest(worker_of(pool, 0));
    return filch_clock_ns() - begin;
}

/* Some of so many rests were not disturbed. */
static void to_yield_is_short(void)
{
    filch_pool *pool = resting_pool(FILCH_IDLE_YIELD);
    int64_t least = INT64_MAX;
    for (int i = 0; i < 50; i++) {
        int64_t took = rests_for(pool);
        least = took < least ? took : least;
        CHECK_EQ(worker_of(pool, 0)->backoff_ns, 1000000);
    }
    CHECK(least < 1000000);
    still_end(pool);
}

static void to_sleep_takes_the_longest_back_off_at_once(void)
{
    filch_pool *pool = resting_pool(FILCH_IDLE_SLEEP);
    for (int i = 0; i < 3; i++) {
        CHECK(rests_for(pool) >= 10000000);
        CHECK_EQ(worker_of(pool, 0)->backoff_ns, 1000000);
    }
    still_end(pool);
}

/* The first, of 1 ms, is not all the time as long as the longest. */
static void to_back_off_takes_longer_each_time(void)
{
    int64_t least = INT64_MAX;
    for (int round = 0; round < 10; round++) {
        filch_pool *pool = resting_pool(FILCH_IDLE_BACKOFF);
        int64_t first = rests_for(pool);
        least = first < least ? first : least;
        for (int64_t wait = 2000000; wait < 10000000; wait *= 2) {
            CHECK_EQ(worker_of(pool, 0)->backoff_ns, wait);
            CHECK(rests_for(pool) >= wait);
        }
        CHECK_EQ(worker_of(pool, 0)->backoff_ns, 10000000);
        still_end(pool);
    }
    CHECK(least >= 1000000 && least < 10000000);
}

/* ---- the back-off -------------------------------------------------------------------------------------- */

/* How far ahead the alarm of a worker is that lies down, at least and at most. */
struct ahead {
    int64_t least, most;
};

static struct ahead alarm_of(filch_pool *pool)
{
    struct worker *w = worker_of(pool, 0);
    struct idle_set *s = pool->idle;
    s->scout = -1;
    w->calm = 0;
    int64_t before = os_clock_ns();
    int64_t deadline = idle_lie_down(w, true);
    int64_t after = os_clock_ns();
    CHECK(deadline != INT64_MAX);
    lock_acquire(&s->lock);
    (void)set_remove(pool, w->id, RISE_AS_ACTIVE);
    lock_release(&s->lock);
    return (struct ahead){deadline - after, deadline - before};
}

static void backs_off(const char *words, const int64_t *us, int n)
{
    filch_pool *pool = still_pool(1, words);
    for (int i = 0; i < n; i++) {
        struct ahead a = alarm_of(pool);
        CHECK(a.least <= us[i] * 1000 && us[i] * 1000 <= a.most);
    }
    still_end(pool);
}

static void the_wait_grows_by_the_factor_from_the_first_to_the_longest(void)
{
    static const int64_t usual[] = {50, 100, 200, 400, 800, 1000, 1000};
    static const int64_t twice[] = {100, 200, 400, 800, 1600, 2000, 2000};
    static const int64_t thrice[] = {100, 300, 900, 2000, 2000};
    static const int64_t constant[] = {100, 100, 100, 100};
    static const int64_t sixteen[] = {100, 1600, 10000, 10000};
    backs_off("", usual, 7);
    backs_off("backoff_us=100..2000", twice, 7);
    backs_off("backoff_us=100..2000,backoff_factor=3", thrice, 5);
    backs_off("backoff_us=100..2000,backoff_factor=1", constant, 4);
    backs_off("backoff_us=100..10000,backoff_factor=16", sixteen, 4);
}

/* `percent` of a wait of 10 ms are random: it lies between, and comes near to both ends. */
static void a_part_is_random(const char *words, int64_t percent)
{
    filch_pool *pool = still_pool(1, words);
    int64_t low = 10000000 - 100000 * percent, shortest = INT64_MAX, longest = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct ahead a = alarm_of(pool);
        CHECK(a.most >= low && a.least <= 10000000);
        shortest = a.most < shortest ? a.most : shortest;
        longest = a.least > longest ? a.least : longest;
    }
    CHECK(shortest < low + 20000 * percent + 1000000);
    CHECK(longest > 10000000 - 20000 * percent - 1000000);
    still_end(pool);
}

static void the_jitter_is_so_many_percent_of_the_wait(void)
{
    a_part_is_random("backoff_us=10000..10000,backoff_jitter=100", 100);
    a_part_is_random("backoff_us=10000..10000,backoff_jitter=50", 50);
}

/* A worker that sleeps for a fixed time, too: the shortest of many sleeps is shorter than without. */
static void so_it_is_for_a_worker_that_sleeps(void)
{
    int64_t least = INT64_MAX;
    filch_pool *pool = resting_pool(FILCH_IDLE_SLEEP);
    pool->config.backoff_jitter = 100;
    for (int i = 0; i < 30; i++) {
        int64_t took = rests_for(pool);
        least = took < least ? took : least;
    }
    CHECK(least < 9000000);
    still_end(pool);
}

/* ---- spin= and cycle_attempts= ------------------------------------------------------------------
 *
 * Two workers, one of them kept by a job: the other searches alone, with one victim, which has nothing. */

struct lonely {
    filch_pool *pool;
    struct block kept;
    int id; /* of the one that searches */
};

struct cycles {
    uint64_t parks, tries, wasted;
};

static void lonely_begin(struct lonely *l, const char *words)
{
    char text[100];
    snprintf(text, sizeof text, "backoff_us=10000..10000,%s", words);
    l->pool = policy_pool(2, text);
    block_start(&l->kept, l->pool, 1);
    struct cell c;
    cells_submit(l->pool, &c, 1, FILCH_ANYWHERE);
    KIT_AWAIT(filch_job_done(&c.job));
    l->id = c.worker;
}

static bool sleeps(const struct lonely *l)
{
    bool has_thread;
    return idle_asleep(l->pool, l->id, &has_thread);
}

/* Between two sleeps. It gets up by itself now and then: again, if it did so meanwhile. */
static struct cycles figures(const struct lonely *l)
{
    struct cycles c;
    do {
        KIT_AWAIT(sleeps(l));
        c.parks = counted(l->pool, l->id, EV_PARK);
        c.tries = counted(l->pool, l->id, EV_STEAL_TRY);
        c.wasted = counted(l->pool, l->id, EV_SPIN_WASTED);
    } while (!sleeps(l) || counted(l->pool, l->id, EV_PARK) != c.parks);
    return c;
}

/* What some cycles took, each of which found nothing and ended with a sleep. */
static struct cycles cycles_of(const char *words)
{
    struct lonely l;
    lonely_begin(&l, words);
    struct cycles before = figures(&l), after;
    KIT_AWAIT((after = figures(&l)).parks >= before.parks + 5);
    block_end(&l.kept);
    kit_drain_and_destroy(l.pool);
    return (struct cycles){after.parks - before.parks, after.tries - before.tries,
                           after.wasted - before.wasted};
}

static void a_cycle_ends_at_its_attempts_and_the_next_begins_afresh(void)
{
    struct cycles c = cycles_of("spin=10000,cycle_attempts=5");
    CHECK_EQ(c.tries, 5 * c.parks);
    CHECK_EQ(c.wasted, 4 * c.parks); /* the fifth attempt sent it to sleep */
}

/* Its patience is halved five times at most: 32 of 1024 are left. */
static void spin_is_how_often_a_cycle_searches(void)
{
    struct cycles c = cycles_of("spin=1");
    CHECK_EQ(c.tries, c.parks);
    CHECK_EQ(c.wasted, 0);
    c = cycles_of("spin=1024");
    CHECK_EQ(c.tries, 32 * c.parks);
    CHECK_EQ(c.wasted, 31 * c.parks);
}

/* ---- join= --------------------------------------------------------------------------------------
 *
 * A parent waits for a child that was stolen, while another waits for the parent's worker: no other worker
 * may take it from there (queue=private; forks are stolen all the same). */

struct family {
    filch_job parent, other;
    uint32_t stolen, let_go, joins, parent_done, other_done, other_was_early;
};

static struct family family;

static void child(void *unused)
{
    (void)unused;
    kit_raise(&family.stolen);
    while (!kit_raised(&family.let_go))
        kit_nap_us(100);
}

static void parent(void *unused)
{
    (void)unused;
    filch_job forked;
    filch_fork(&forked, child, NULL);
    KIT_AWAIT(kit_raised(&family.stolen));
    CHECK_EQ(filch_submit(&family.other, FILCH_ANYWHERE), 0); /* to this worker */
    kit_raise(&family.joins);
    filch_join(&forked);
    kit_raise(&family.parent_done);
}

static void other(void *unused)
{
    (void)unused;
    family.other_was_early = !kit_raised(&family.parent_done);
    kit_raise(&family.other_done);
}

static filch_pool *family_begin(const char *words)
{
    filch_pool *pool = policy_pool(2, words);
    family = (struct family){0};
    filch_job_init(&family.parent, parent, NULL);
    filch_job_init(&family.other, other, NULL);
    CHECK_EQ(filch_submit_on(pool, &family.parent, 1), 0);
    KIT_AWAIT(kit_raised(&family.joins));
    return pool;
}

static void family_end(filch_pool *pool)
{
    kit_raise(&family.let_go);
    KIT_AWAIT(kit_raised(&family.parent_done) && kit_raised(&family.other_done));
    kit_drain_and_destroy(pool);
}

/* The child ends only after the other job, which needs the worker of the parent. */
static void a_join_that_suspends_lets_its_worker_go_on(void)
{
    filch_pool *pool = family_begin("queue=private,join=suspend");
    KIT_AWAIT(kit_raised(&family.other_done));
    CHECK(family.other_was_early);
    CHECK(total(pool, EV_JOIN_SUSPEND) == 1);
    family_end(pool);
}

static void a_join_that_helps_keeps_its_worker(void)
{
    filch_pool *pool = family_begin("queue=private,join=help");
    kit_nap_us(20000); /* time for a worker that goes on */
    family_end(pool);
    CHECK(!family.other_was_early);
}

int main(void)
{
    kit_watchdog();
    RUN(one_wakes_the_first_sleeper);
    RUN(random_wakes_each_of_the_sleepers_now_and_then);
    RUN(one_and_random_wake_nobody_while_one_searches);
    RUN(all_wakes_everyone);
    RUN(none_wakes_nobody);
    RUN(random_leaves_the_poller_to_the_last);
    RUN(a_parked_worker_is_in_the_set);
    RUN(workers_that_yield_sleep_or_back_off_are_never_parked);
    RUN(to_yield_is_short);
    RUN(to_sleep_takes_the_longest_back_off_at_once);
    RUN(to_back_off_takes_longer_each_time);
    RUN(the_wait_grows_by_the_factor_from_the_first_to_the_longest);
    RUN(the_jitter_is_so_many_percent_of_the_wait);
    RUN(so_it_is_for_a_worker_that_sleeps);
    RUN(a_cycle_ends_at_its_attempts_and_the_next_begins_afresh);
    RUN(spin_is_how_often_a_cycle_searches);
    RUN(a_join_that_suspends_lets_its_worker_go_on);
    RUN(a_join_that_helps_keeps_its_worker);
    return check_report();
}
