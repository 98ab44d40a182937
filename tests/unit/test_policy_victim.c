/* test_policy_victim.c: victim= and attempts=: which queues a search looks at, and in which order. In pools
 * without threads; every order is a function of the seed of the thief's random numbers. */
#include "policy_kit.h"

enum { SEEDS = 200 };

/* As before its first search. */
static void begin_anew(struct worker *w, uint64_t seed)
{
    struct choice_memory *m = w->pool->memories ? &w->pool->memories[w->id] : NULL;
    rng_seed(&w->rng, seed);
    if (m)
        m->last = CHOICE_NONE;
    for (uint32_t k = 0; m && m->order && k < (uint32_t)w->pool->count; k++)
        m->order[k] = k;
}

/* The place of a victim in the order of this seed, from 0; -1: it is not tried. It is found by a search of so
 * many attempts and one more, if it alone has a job. */
static int place_of(filch_pool *pool, int thief, int victim, uint64_t seed)
{
    load(pool, victim, victim, 1);
    int most = pool->count - 1, place = -1;
    for (int attempts = 1; attempts <= most && place < 0; attempts++) {
        pool->config.steal_attempts = (unsigned)attempts;
        begin_anew(worker_of(pool, thief), seed);
        if (thief_takes(pool, thief) == victim)
            place = attempts - 1;
    }
    pool->config.steal_attempts = FILCH_MAX_WORKERS;
    empty(pool);
    return place;
}

/* order[i]: the worker at this place, or -1. Returns how many have one. */
static int order_of(filch_pool *pool, int thief, uint64_t seed, int *order)
{
    int n = 0;
    for (int i = 0; i < pool->count; i++)
        order[i] = -1;
    for (int v = 0; v < pool->count; v++) {
        int place = v == thief ? -1 : place_of(pool, thief, v, seed);
        if (place < 0)
            continue;
        CHECK_EQ(order[place], -1); /* no two at one place */
        order[place] = v;
        n++;
    }
    return n;
}

static int next_other(int v, int thief, int count)
{
    v = (v + 1) % count;
    return v == thief ? (v + 1) % count : v;
}

static bool in_index_order(const int *order, int thief, int count)
{
    for (int i = 0; i + 2 < count; i++)
        if (order[i + 1] != next_other(order[i], thief, count))
            return false;
    return true;
}

/* The seeds at which each worker comes first. */
static void count_firsts(filch_pool *pool, int thief, int *firsts)
{
    int order[POLICY_WORKERS];
    memset(firsts, 0, sizeof *firsts * POLICY_WORKERS);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        CHECK(order_of(pool, thief, seed, order) > 0);
        firsts[order[0]]++;
    }
}

static void random_goes_round_from_a_random_victim(void)
{
    for (int thief = 0; thief < 4; thief += 2) {
        int firsts[POLICY_WORKERS], order[POLICY_WORKERS];
        filch_pool *pool = still_pool(4, "victim=random");
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            CHECK_EQ(order_of(pool, thief, seed, order), 3);
            CHECK(in_index_order(order, thief, 4));
        }
        count_firsts(pool, thief, firsts);
        for (int v = 0; v < 4; v++)
            CHECK_EQ(firsts[v] > 0, v != thief);
        still_end(pool);
    }
}

static void order_begins_with_the_first_worker(void)
{
    for (int thief = 0; thief < 4; thief++) {
        int order[POLICY_WORKERS];
        filch_pool *pool = still_pool(4, "victim=order");
        for (uint64_t seed = 0; seed < 20; seed++) {
            CHECK_EQ(order_of(pool, thief, seed, order), 3);
            CHECK_EQ(order[0], thief == 0);
            CHECK(in_index_order(order, thief, 4));
        }
        still_end(pool);
    }
}

static void one_tries_a_single_random_victim(void)
{
    int firsts[POLICY_WORKERS];
    filch_pool *pool = still_pool(4, "victim=one");
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int order[POLICY_WORKERS];
        CHECK_EQ(order_of(pool, 2, seed, order), 1);
    }
    count_firsts(pool, 2, firsts);
    CHECK(firsts[0] > SEEDS / 10 && firsts[1] > SEEDS / 10 && firsts[3] > SEEDS / 10);
    CHECK_EQ(firsts[2], 0);
    still_end(pool);
}

/* Three victims have six orders. */
static void shuffle_takes_every_order(void)
{
    bool seen[4 * 4 * 4] = {false};
    int n = 0;
    filch_pool *pool = still_pool(4, "victim=shuffle");
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int order[POLICY_WORKERS];
        CHECK_EQ(order_of(pool, 2, seed, order), 3);
        int code = order[0] * 16 + order[1] * 4 + order[2];
        n += !seen[code];
        seen[code] = true;
    }
    CHECK_EQ(n, 6);
    still_end(pool);
}

/* One search after another: what is kept between them stays a permutation. */
static void shuffle_tries_everyone_in_every_search(void)
{
    filch_pool *pool = still_pool(8, "victim=shuffle");
    for (int round = 0; round < SEEDS; round++) {
        int victim = 1 + round % 7;
        load(pool, victim, victim, 1);
        CHECK_EQ(thief_takes(pool, 0), victim);
    }
    uint64_t tries = counted(pool, 0, EV_STEAL_TRY);
    CHECK_EQ(thief_takes(pool, 0), -1);
    CHECK_EQ(counted(pool, 0, EV_STEAL_TRY) - tries, 7);
    still_end(pool);
}

static void largest_takes_from_the_longest_queue(void)
{
    static const int by_length[] = {2, 4, 1, 3}, length[] = {0, 3, 9, 1, 7};
    filch_pool *pool = still_pool(5, "victim=largest,steal=one");
    for (int i = 0; i < 4; i++) {
        for (int k = i; k < 4; k++)
            load(pool, by_length[k], 10 * by_length[k], length[by_length[k]]);
        CHECK_EQ(thief_takes(pool, 0), 10 * by_length[i]);
        empty(pool);
    }
    CHECK_EQ(thief_takes(pool, 0), -1);
    still_end(pool);
}

/* Of two it takes the longer: the shortest of three has no chance, the others have one. */
static void two_takes_the_longer_of_two(void)
{
    int taken[4] = {0};
    filch_pool *pool = still_pool(4, "victim=two,steal=one");
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (int v = 1; v < 4; v++)
            load(pool, v, 10 * v, v);
        uint64_t tries = counted(pool, 0, EV_STEAL_TRY);
        begin_anew(worker_of(pool, 0), seed);
        int got = thief_takes(pool, 0);
        CHECK(got > 0);
        CHECK_EQ(counted(pool, 0, EV_STEAL_TRY) - tries, 1);
        taken[got / 10]++;
        empty(pool);
    }
    CHECK_EQ(taken[1], 0);
    CHECK(taken[2] > SEEDS / 10 && taken[3] > SEEDS / 2);
    still_end(pool);
}

static void last_goes_back_to_the_last_success(void)
{
    filch_pool *pool = still_pool(6, "victim=last,steal=one");
    for (int victim = 5; victim > 0; victim--) {
        load(pool, victim, victim, 1);
        CHECK_EQ(thief_takes(pool, 0), victim); /* only there */
        for (int round = 0; round < 20; round++) {
            for (int v = 1; v < 6; v++)
                load(pool, v, v, 1);
            CHECK_EQ(thief_takes(pool, 0), victim);
            empty(pool);
        }
    }
    still_end(pool);
}

static void last_then_tries_all_others_as_random_does(void)
{
    int firsts[POLICY_WORKERS] = {0};
    filch_pool *pool = still_pool(4, "victim=last");
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int order[POLICY_WORKERS];
        CHECK_EQ(order_of(pool, 2, seed, order), 3); /* no success before: as random */
        CHECK(in_index_order(order, 2, 4));
        firsts[order[0]]++;
    }
    CHECK(firsts[0] > 0 && firsts[1] > 0 && firsts[3] > 0);
    struct choice_memory *m = &pool->memories[2];
    m->last = 1;
    uint64_t tries = counted(pool, 2, EV_STEAL_TRY);
    CHECK_EQ(thief_takes(pool, 2), -1);
    CHECK_EQ(counted(pool, 2, EV_STEAL_TRY) - tries, 3);
    for (uint64_t seed = 0; seed < SEEDS; seed++) { /* worker 1, and each of the others */
        int victim = seed % 2 ? 0 : 3;
        begin_anew(worker_of(pool, 2), seed);
        m->last = 1;
        load(pool, victim, victim, 1);
        CHECK_EQ(thief_takes(pool, 2), victim);
        CHECK_EQ(m->last, victim);
    }
    still_end(pool);
}

/* ---- contention ---------------------------------------------------------------------------------------- */

/* The lock of the first victim is held: it is counted as skipped, and the thief goes on to the next. */
static void skips_a_locked_one(const char *words)
{
    enum { WORKERS = 4 };
    char text[100];
    snprintf(text, sizeof text, "%s,queue=trylock,steal=one", words);
    filch_pool *pool = still_pool(WORKERS, text);
    for (uint64_t seed = 0; seed < 20; seed++) {
        for (int v = 1; v < WORKERS; v++)
            load(pool, v, 10 * v, v);
        begin_anew(worker_of(pool, 0), seed);
        int first = thief_takes(pool, 0) / 10;
        load(pool, first, 100, 1);
        begin_anew(worker_of(pool, 0), seed);
        uint64_t tries = counted(pool, 0, EV_STEAL_TRY), skipped = counted(pool, 0, EV_STEAL_SKIP);
        uint64_t failed = counted(pool, 0, EV_STEAL_EMPTY);
        lock_acquire(&worker_of(pool, first)->locked.lock);
        int got = thief_takes(pool, 0);
        lock_release(&worker_of(pool, first)->locked.lock);
        CHECK(got >= 10 && got < 10 * WORKERS && got / 10 != first);
        CHECK_EQ(counted(pool, 0, EV_STEAL_SKIP) - skipped, 1);
        CHECK_EQ(counted(pool, 0, EV_STEAL_EMPTY) - failed, 0);
        CHECK_EQ(counted(pool, 0, EV_STEAL_TRY) - tries, 2);
        empty(pool);
    }
    still_end(pool);
}

static void a_victim_whose_lock_is_held_is_skipped_and_the_next_one_tried(void)
{
    skips_a_locked_one("victim=random");
    skips_a_locked_one("victim=order");
    skips_a_locked_one("victim=shuffle");
    skips_a_locked_one("victim=largest");
    skips_a_locked_one("victim=last");
}

static void a_search_in_which_every_lock_is_held_takes_nothing(void)
{
    filch_pool *pool = still_pool(4, "queue=trylock");
    for (int v = 1; v < 4; v++) {
        load(pool, v, v, 1);
        lock_acquire(&worker_of(pool, v)->locked.lock);
    }
    CHECK_EQ(thief_takes(pool, 0), -1);
    CHECK_EQ(counted(pool, 0, EV_STEAL_SKIP), 3);
    for (int v = 1; v < 4; v++)
        lock_release(&worker_of(pool, v)->locked.lock);
    still_end(pool);
}

struct forking {
    struct block gate;
    struct fiber *fiber;
};

static void never(void *arg)
{
    (void)arg;
}

static void forks_and_waits(void *arg)
{
    struct forking *f = arg;
    filch_job forked;
    filch_fork(&forked, never, NULL);
    f->fiber = worker_self()->fiber;
    block_run(&f->gate);
    filch_join(&forked);
}

/* The same for a fork: the lock of its slots. */
static void a_fork_whose_lock_is_held_is_skipped(void)
{
    static struct forking f;
    filch_pool *pool = kit_pool(2);
    CHECK(idle_seat_enter(pool));
    filch_job_init(&f.gate.job, forks_and_waits, &f);
    CHECK_EQ(filch_submit_on(pool, &f.gate.job, 1), 0);
    KIT_AWAIT(kit_raised(&f.gate.started));
    lock_acquire(&f.fiber->slots.lock);
    uint64_t skipped = counted(pool, 0, EV_STEAL_SKIP);
    for (int i = 0; i < 1000 && counted(pool, 0, EV_STEAL_SKIP) == skipped; i++)
        CHECK_EQ(thief_takes(pool, 0), -1);
    CHECK_EQ(counted(pool, 0, EV_STEAL_SKIP) - skipped, 1);
    lock_release(&f.fiber->slots.lock);
    kit_raise(&f.gate.release);
    idle_seat_leave(worker_of(pool, 0));
    CHECK_EQ(filch_job_wait(&f.gate.job, FILCH_FOREVER), 0);
    kit_destroy(pool);
}

/* ---- attempts ------------------------------------------------------------------------------------------ */

static uint64_t tries_of_a_search(filch_pool *pool)
{
    uint64_t before = counted(pool, 0, EV_STEAL_TRY);
    CHECK_EQ(thief_takes(pool, 0), -1);
    return counted(pool, 0, EV_STEAL_TRY) - before;
}

static void attempts_bound_a_search(void)
{
    filch_pool *pool = still_pool(8, "attempts=3");
    for (int i = 0; i < 5; i++)
        CHECK_EQ(tries_of_a_search(pool), 3);
    still_end(pool);
    pool = still_pool(8, "victim=order");
    CHECK_EQ(tries_of_a_search(pool), 7);
    still_end(pool);
}

/* The searches of one idle cycle together. */
static void bounds_a_cycle(const char *victim, uint64_t a_search)
{
    char text[100];
    snprintf(text, sizeof text, "%s,cycle_attempts=10,attempts=4", victim);
    filch_pool *pool = still_pool(8, text);
    struct worker *w = worker_of(pool, 0);
    for (int cycle = 0; cycle < 3; cycle++) {
        w->cycle_began = (uint32_t)counted(pool, 0, EV_STEAL_TRY); /* as when it runs out of work */
        uint64_t left = 10;
        for (int i = 0; i < 15; i++) {
            uint64_t expected = left < a_search ? left : a_search;
            CHECK_EQ(find_cycle_is_over(w), left == 0);
            CHECK_EQ(tries_of_a_search(pool), expected);
            left -= expected;
        }
        CHECK_EQ(left, 0);
    }
    still_end(pool);
}

static void cycle_attempts_bound_the_searches_of_a_cycle(void)
{
    bounds_a_cycle("victim=random", 4);
    bounds_a_cycle("victim=order", 4);
    bounds_a_cycle("victim=shuffle", 4);
    bounds_a_cycle("victim=last", 4);
    bounds_a_cycle("victim=one", 1);
    bounds_a_cycle("victim=two", 1);
}

int main(void)
{
    kit_watchdog();
    RUN(random_goes_round_from_a_random_victim);
    RUN(order_begins_with_the_first_worker);
    RUN(one_tries_a_single_random_victim);
    RUN(shuffle_takes_every_order);
    RUN(shuffle_tries_everyone_in_every_search);
    RUN(largest_takes_from_the_longest_queue);
    RUN(two_takes_the_longer_of_two);
    RUN(last_goes_back_to_the_last_success);
    RUN(last_then_tries_all_others_as_random_does);
    RUN(a_victim_whose_lock_is_held_is_skipped_and_the_next_one_tried);
    RUN(a_search_in_which_every_lock_is_held_takes_nothing);
    RUN(a_fork_whose_lock_is_held_is_skipped);
    RUN(attempts_bound_a_search);
    RUN(cycle_attempts_bound_the_searches_of_a_cycle);
    return check_report();
}
