/* test_lasting.c: an algorithm that lasts wakes who sleeps, before anybody has come by himself.
 *
 * Sleepers look by themselves every ten milliseconds here. What the algorithm calls (pieces, comparisons)
 * looks at the counters: has somebody been told, and nothing been stolen yet? Whether a sleeper gets up by
 * itself just then is up to the machine, so several rounds are made, and one of them is enough. */
#include "pool_kit.h"

#include <filch/par.h>
#include <filch/sort.h>

#include <stdlib.h>

enum { ROUNDS = 200, ELEMENTS = 64, LONG_US = 10, NUMBERS = 50000, SELDOM = 64 };

static struct stage {
    filch_pool *pool;
    void (*act)(void);
    int32_t *numbers;
    uint64_t wakes, stolen; /* before */
    uint32_t told;
} stage;

/* In a worker of the stage's pool, while it acts. */
static void look(void)
{
    struct stage *s = &stage;
    if (filch_stats_total(s->pool, "wakes") > s->wakes && filch_stats_total(s->pool, "stolen") == s->stolen)
        kit_raise(&s->told);
}

static void take_long(void)
{
    uint64_t since = os_ticks();
    while (os_ticks() - since < LONG_US * os_ticks_per_us())
        os_pause();
}

static void until_the_other_sleeps(filch_pool *pool)
{
    while (idle_figures(pool).sleeping != 1)
        kit_nap_us(50);
}

static void acts(void *unused)
{
    struct stage *s = &stage;
    (void)unused;
    for (int i = 0; i < ROUNDS && !kit_raised(&s->told); i++) {
        until_the_other_sleeps(s->pool);
        s->wakes = filch_stats_total(s->pool, "wakes");
        s->stolen = filch_stats_total(s->pool, "stolen");
        s->act();
        kit_beat();
    }
}

static void check_tells(void (*act)(void))
{
    filch_config c = kit_config(2);
    c.backoff_min_ns = c.backoff_max_ns = 10000000;
    stage = (struct stage){.pool = kit_make(&c), .act = act, .numbers = malloc(NUMBERS * sizeof(int32_t))};
    CHECK(stage.numbers);
    filch_run_on(stage.pool, acts, NULL);
    CHECK_MSG(stage.told, "nobody was told in %d rounds", ROUNDS);
    free(stage.numbers);
    kit_destroy(stage.pool);
}

static void long_elements(size_t lo, size_t hi, void *unused)
{
    (void)unused;
    for (size_t i = lo; i < hi; i++) {
        take_long();
        look();
    }
}

static void loops(void)
{
    CHECK_EQ(filch_for(0, ELEMENTS, long_elements, NULL), 0);
}

static void a_loop_that_lasts_wakes_who_sleeps(void)
{
    check_tells(loops);
}

static void slow_fold(void *state, size_t lo, size_t hi, void *unused)
{
    (void)state;
    long_elements(lo, hi, unused);
}

static void no_combine(void *state, const void *right, void *unused)
{
    (void)state, (void)right, (void)unused;
}

static void scans(void)
{
    static const filch_scanner slow = {.state_size = sizeof(int), .fold = slow_fold, .scan = slow_fold,
                                       .combine = no_combine};
    CHECK_EQ(filch_scan(&slow, NULL, 0, ELEMENTS, NULL), 0);
}

static void a_scan_that_lasts_wakes_who_sleeps(void)
{
    check_tells(scans);
}

static int compare(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    if ((uint32_t)x % SELDOM == 0)
        look();
    return (x > y) - (x < y);
}

static void sorts(void)
{
    for (int i = 0; i < NUMBERS; i++)
        stage.numbers[i] = (int32_t)((uint32_t)i * 2654435761u);
    CHECK_EQ(filch_sort(stage.numbers, NUMBERS, sizeof *stage.numbers, compare), 0);
}

static void a_sort_that_lasts_wakes_who_sleeps(void)
{
    check_tells(sorts);
}

/* ---- what is left behind --------------------------------------------------------------------- */

static void long_time(size_t lo, size_t hi, void *unused)
{
    (void)unused;
    for (size_t i = lo; i < hi; i++)
        take_long();
}

static void nested(size_t lo, size_t hi, void *unused)
{
    long_time(lo, hi, unused);
    CHECK_EQ(filch_for(0, 4, long_time, NULL), 0);
}

static void lasts_no_more(void *unused)
{
    (void)unused;
    CHECK_EQ(filch_for(0, 8, nested, NULL), 0);
    CHECK_EQ(worker_self()->fiber->lasting, 0);
}

static void a_fiber_forgets_that_it_lasted_with_the_loop(void)
{
    filch_pool *pool = kit_pool(1);
    filch_run_on(pool, lasts_no_more, NULL);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(a_loop_that_lasts_wakes_who_sleeps);
    RUN(a_scan_that_lasts_wakes_who_sleeps);
    RUN(a_sort_that_lasts_wakes_who_sleeps);
    RUN(a_fiber_forgets_that_it_lasted_with_the_loop);
    return check_report();
}
