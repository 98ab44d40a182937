/* test_timer.c: the wheel of timers (core/timer.c) under a clock of our own, against a plain table. */
#include "check.h"
#include "scale.h"

#include "base/rng.h"
#include "core/timer.h"

enum { MANY = 300 };

#define TICK ((int64_t)1 << TIMER_SHIFT)
#define NONE INT64_MAX

/* What is said of a timer beside the wheel. */
struct entry {
    struct timer timer;
    int64_t deadline; /* NONE: not in the wheel */
    int64_t added;    /* when                   */
    unsigned fired;
};

static struct timers wheel;
static struct entry table[MANY];
static struct rng rng;
static int64_t now;

static uint64_t random_bits(unsigned bits)
{
    uint64_t r = (uint64_t)rng_next(&rng) << 32 ^ rng_next(&rng);
    return bits == 0 ? 0 : r >> (64 - bits);
}

static void on_fire(struct timer *t)
{
    struct entry *e = (struct entry *)t;
    CHECK(e->deadline != NONE); /* not twice, and not after a cancel */
    CHECK_MSG(now >= e->deadline, "fired %jd ns early", (intmax_t)(e->deadline - now));
    CHECK(!t->prev && !t->next);
    e->deadline = NONE;
    e->fired++;
}

static void start(uint64_t seed, int64_t at)
{
    rng_seed(&rng, seed);
    memset(table, 0, sizeof table);
    now = at;
    wheel = (struct timers){0};
    timers_init(&wheel, now);
    for (int i = 0; i < MANY; i++)
        table[i].deadline = NONE;
}

static void add(struct entry *e, int64_t deadline)
{
    e->timer.fire = on_fire;
    e->deadline = deadline;
    e->added = now;
    timers_add(&wheel, &e->timer, deadline);
}

/* The tick by which it has to have fired: its own, or the one after it was added. */
static int64_t due(const struct entry *e)
{
    int64_t own = e->deadline / TICK + (e->deadline % TICK > 0), least = e->added / TICK + 1;
    return own > least ? own : least;
}

static size_t live(void)
{
    size_t n = 0;
    for (int i = 0; i < MANY; i++)
        n += table[i].deadline != NONE;
    return n;
}

/* next_ns may be early, never late; and is nothing exactly when there is nothing. */
static void check_next(void)
{
    CHECK_EQ(wheel.count, live());
    CHECK_EQ(timers_next(&wheel) == INT64_MAX, live() == 0);
    for (int i = 0; i < MANY; i++)
        if (table[i].deadline != NONE)
            CHECK(timers_next(&wheel) <= due(&table[i]) * TICK);
}

static void run(void)
{
    size_t before = live(), fired = timers_run(&wheel, now);
    CHECK_EQ(fired, before - live());
    for (int i = 0; i < MANY; i++) {
        if (table[i].deadline != NONE)
            CHECK_MSG(due(&table[i]) > now / TICK, "%d is late by %jd ticks", i,
                      (intmax_t)(now / TICK - due(&table[i])));
    }
    CHECK(timers_next(&wheel) > now - TICK); /* or the keeper of the time would not sleep */
    check_next();
}

/* From now on, of every order of magnitude; sometimes in the past. */
static int64_t some_deadline(unsigned most_bits)
{
    int64_t distance = (int64_t)random_bits((unsigned)random_bits(6) % most_bits + 1);
    if (random_bits(4) == 0)
        return now - distance;
    return now + distance;
}

static void add_one(unsigned most_bits)
{
    struct entry *e = &table[rng_below(&rng, MANY)];
    if (e->deadline == NONE)
        add(e, some_deadline(most_bits));
}

static void cancel_one(void)
{
    struct entry *e = &table[rng_below(&rng, MANY)];
    if (!e->timer.home)
        return;
    CHECK_EQ(timers_cancel(&e->timer), e->deadline != NONE);
    e->deadline = NONE;
}

static void walk(uint64_t seed, unsigned steps, int64_t from, unsigned most_bits, unsigned jump_bits)
{
    start(seed, from);
    for (unsigned i = 0; i < steps; i++) {
        unsigned what = rng_below(&rng, 10);
        if (what < 5)
            add_one(most_bits);
        else if (what < 7)
            cancel_one();
        else if (what < 9)
            now += (int64_t)random_bits((unsigned)random_bits(6) % jump_bits + 1);
        else
            run();
        check_next();
    }
    /* What is left fires in the end: at its time, or on the way to it. */
    while (live() > 0) {
        int64_t next = timers_next(&wheel);
        now = next > now ? next : now + TICK;
        run();
    }
    CHECK_EQ(timers_next(&wheel), INT64_MAX);
}

static void random_walks_agree_with_a_table(void)
{
    for (uint64_t seed = 1; seed <= SCALED(60, 10, 5); seed++) {
        walk(seed, 2000, (int64_t)random_bits(40), 30, 24);    /* up to a second    */
        walk(seed, 2000, (int64_t)seed * 1000003, 50, 45);     /* days and hours    */
        walk(seed, 1000, (int64_t)random_bits(50), 59, 57);    /* years             */
        walk(seed, 1000, 0, 20, 18);                           /* hardly more than ticks */
        walk(seed, 500, ((int64_t)1 << 58) - (int64_t)random_bits(30), 30, 24); /* over a turn of the wheel */
    }
}

/* ---- by hand ------------------------------------------------------------------------------------ */

static void a_timer_fires_in_its_tick_and_not_before(void)
{
    for (int64_t distance = 1; distance < (int64_t)1 << 57; distance += distance / 3 + 1) {
        start(1, 12345678);
        add(&table[0], now + distance);
        int64_t tick = due(&table[0]) * TICK;
        now = tick - 1;
        CHECK_EQ(timers_run(&wheel, now), 0);
        now = tick;
        CHECK_EQ(timers_run(&wheel, now), 1);
        CHECK_EQ(table[0].fired, 1);
    }
}

static void every_slot_of_every_level_is_found(void)
{
    for (unsigned level = 0; level < TIMER_LEVELS; level++) {
        for (int64_t slot = 0; slot <= TIMER_SLOTS; slot++) {
            for (int64_t offset = -1; offset <= 1; offset++) {
                int64_t ticks = (slot << 6 * level) + offset;
                start(1, (int64_t)977 << TIMER_SHIFT);
                add(&table[0], now + ticks * TICK);
                int64_t tick = due(&table[0]) * TICK;
                now = tick - TICK;
                if (tick / TICK > 978)
                    run();
                now = tick;
                run();
                CHECK_EQ(table[0].fired, 1);
            }
        }
    }
}

static void the_end_of_time_is_never_reached(void)
{
    static const int64_t far[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX - TICK, INT64_MAX - TICK - 1};
    for (unsigned i = 0; i < sizeof far / sizeof far[0]; i++) {
        start(1, 1000);
        table[0].timer.fire = on_fire;
        table[0].deadline = far[i];
        timers_add(&wheel, &table[0].timer, far[i]);
        for (unsigned bits = 20; bits < 62; bits++) {
            now = (int64_t)1 << bits;
            CHECK_EQ(timers_run(&wheel, now), 0);
        }
        CHECK(timers_next(&wheel) <= far[i]);
        CHECK(timers_cancel(&table[0].timer));
        CHECK(!timers_cancel(&table[0].timer));
    }
}

static void a_deadline_long_past_fires_at_the_next_tick(void)
{
    static const int64_t past[] = {0, 1, -1, -TICK, INT64_MIN + TICK};
    for (unsigned i = 0; i < sizeof past / sizeof past[0]; i++) {
        start(1, 5 * TICK + 7);
        add(&table[0], past[i]);
        CHECK(timers_next(&wheel) <= 6 * TICK);
        CHECK_EQ(timers_run(&wheel, now), 0);
        now = 6 * TICK;
        CHECK_EQ(timers_run(&wheel, now), 1);
    }
}

static void a_wheel_that_stood_still_for_years_goes_on(void)
{
    start(1, 0);
    add(&table[0], 10 * TICK);
    now = (int64_t)1 << 61;
    add(&table[1], now + 3 * TICK);
    add(&table[2], now - 3 * TICK);
    run();
    CHECK_EQ(table[0].fired + table[2].fired, 2);
    CHECK_EQ(table[1].fired, 0);
    now += 3 * TICK;
    run();
    CHECK_EQ(table[1].fired, 1);
}

static void many_in_one_slot_are_cancelled_one_by_one(void)
{
    for (int first = 0; first < 5; first++) {
        start(1, 0);
        for (int i = 0; i < 5; i++)
            add(&table[i], 100 * TICK);
        for (int i = 0; i < 4; i++) {
            CHECK(timers_cancel(&table[(first + i) % 5].timer));
            table[(first + i) % 5].deadline = NONE;
            check_next();
        }
        now = 100 * TICK;
        run();
        CHECK_EQ(table[(first + 4) % 5].fired, 1);
    }
}

static void a_wheel_without_timers_has_no_time(void)
{
    start(1, 0);
    add(&table[0], 100 * TICK);
    add(&table[1], 5000 * TICK);
    for (int i = 0; i < 2; i++) {
        CHECK(timers_cancel(&table[i].timer));
        table[i].deadline = NONE;
        check_next();
    }
}

static void a_wheel_can_be_emptied(void)
{
    start(1, 0);
    add(&table[0], 100);
    timers_reset(&wheel, 77 * TICK);
    CHECK_EQ(timers_next(&wheel), INT64_MAX);
    now = 200 * TICK;
    CHECK_EQ(timers_run(&wheel, now), 0);
    table[0].deadline = NONE;
    add(&table[1], now + 1);
    now += TICK;
    run();
    CHECK_EQ(table[1].fired, 1);
    CHECK_EQ(table[0].fired, 0);
}

int main(void)
{
    RUN(a_timer_fires_in_its_tick_and_not_before);
    RUN(every_slot_of_every_level_is_found);
    RUN(the_end_of_time_is_never_reached);
    RUN(a_deadline_long_past_fires_at_the_next_tick);
    RUN(a_wheel_that_stood_still_for_years_goes_on);
    RUN(many_in_one_slot_are_cancelled_one_by_one);
    RUN(a_wheel_without_timers_has_no_time);
    RUN(a_wheel_can_be_emptied);
    RUN(random_walks_agree_with_a_table);
    return check_report();
}
