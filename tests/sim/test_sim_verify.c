/* test_sim_verify.c: the checks of `filch sim verify` pass, and each of them could fail. */
#include "check.h"
#include "sim/verify.h"

#include <errno.h>

#ifdef SIM_SHORT
enum { REPLICATIONS = 100 };
#else
enum { REPLICATIONS = 200 };
#endif
enum { ROWS_MOST = 128 };

static struct verify_row rows[ROWS_MOST];
static size_t n_rows;

static void keep(const struct verify_row *row, void *arg)
{
    CHECK(arg == rows && n_rows < ROWS_MOST);
    rows[n_rows++] = *row;
}

static void run_all(uint64_t seed)
{
    struct verify_options o = {.seed = seed, .replications = REPLICATIONS, .replicate = {.threads = 1}};
    char message[300] = "";
    n_rows = 0;
    CHECK_MSG(verify(&o, keep, rows, message, sizeof message) == 0, "%s", message);
}

static void every_law_holds(void)
{
    run_all(1);
    for (size_t i = 0; i < n_rows; i++)
        CHECK_MSG(rows[i].pass, "%s: %s: expected %.9g; min %.9g, mean %.9g, max %.9g", rows[i].law,
                  rows[i].what, rows[i].expected, rows[i].measured.min, rows[i].measured.mean,
                  rows[i].measured.max);
}

/* A check without runs, or without a figure that could differ, would be none. */
static void every_law_was_put_to_the_test(void)
{
    static const struct {
        const char *law;
        size_t rows;
        uint64_t runs; /* at least, of each */
    } laws[] = {
        {"One worker takes T1", 6, 2},
        {"Work and span bound", 3, 120},
        {"A greedy schedule", 3, 30},
        {"The exact engine", 6, 10},
        {"No run has more steals", 4, 200},
        {"Nothing is lost", 4, 40},
        {"Little", 3, 1},
        {"M/M/1", 2, REPLICATIONS},
        {"M/M/c", 3, REPLICATIONS},
        {"M/G/1", 4, REPLICATIONS},
    };
    size_t total = 0;
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
        size_t seen = 0;
        for (size_t i = 0; i < n_rows; i++) {
            if (strncmp(rows[i].law, laws[k].law, strlen(laws[k].law)) != 0)
                continue;
            CHECK_MSG(rows[i].measured.n >= laws[k].runs, "%s: %s", rows[i].law, rows[i].what);
            seen++;
        }
        CHECK_MSG(seen == laws[k].rows, "%s: %zu rows", laws[k].law, seen);
        total += seen;
    }
    CHECK_EQ(total, n_rows);
}

static const struct verify_row *row_named(const char *law, const char *what)
{
    for (size_t i = 0; i < n_rows; i++)
        if (strncmp(rows[i].law, law, strlen(law)) == 0 && strcmp(rows[i].what, what) == 0)
            return &rows[i];
    CHECK_MSG(0, "no row %s: %s", law, what);
    return NULL;
}

/* By hand: 0.5 / (1 - 0.5); Erlang's C of 2 servers at 0.7; 0.7 + 0.49 / (2 * 0.3). */
static void what_is_expected_is_what_theory_says(void)
{
    static const struct {
        const char *law, *what;
        double expected;
    } known[] = {
        {"M/M/1", "load 0.5", 1},
        {"M/M/1", "load 0.8", 4},
        {"M/M/c", "2 workers, 0.7", 1.4 / (1 - 0.49)},
        {"M/G/1", "constant, 0.7", 0.7 + 0.49 / 0.6},
        {"M/G/1", "uniform, 0.6", 0.6 + (0.36 + 0.64 / 12) / 0.8},
        {"M/G/1", "lognormal, 0.6", 0.6 + 0.36 * (1 + 2.25) / 0.8},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double expected = row_named(known[i].law, known[i].what)->expected;
        CHECK_MSG(expected > known[i].expected * (1 - 1e-9) && expected < known[i].expected * (1 + 1e-9),
                  "%s %s: %.12g", known[i].law, known[i].what, expected);
    }
}

/* The bounds are not far from what is seen: they would notice. */
static void bounds_are_met_closely(void)
{
    CHECK(row_named("Work and span", "2 workers, over max(T1/P, Tinf)")->measured.min < 1.01);
    CHECK(row_named("A greedy", "2 workers, one queue, over T1/P + Tinf")->measured.max > 0.9);
    CHECK(row_named("No run has more", "balanced:2:8, 2 workers")->measured.max >= 5);
    CHECK(row_named("Little", "M/M/1")->expected > 1);
}

/* Two workers: a steal halves the tree, so that there are as many as it is high. A whole tree of height 1
 * with k children allows k - 1 to any number of workers. */
static void the_bound_of_steals_is_the_published_one(void)
{
    CHECK(verify_steals_most(2, 8, 1) == 0 && verify_steals_most(2, 8, 2) == 8);
    CHECK(verify_steals_most(2, 3, 4) == 7 && verify_steals_most(2, 3, 100) == 7);
    CHECK(verify_steals_most(5, 1, 2) == 4 && verify_steals_most(5, 1, 9) == 4);
    CHECK(verify_steals_most(3, 4, 3) == 2 * 4 + 4 * 6);
}

#ifndef SIM_SHORT
static void other_seeds_give_other_runs_and_pass(void)
{
    struct verify_row first = *row_named("M/M/1", "load 0.5");
    run_all(2);
    struct verify_row second = *row_named("M/M/1", "load 0.5");
    CHECK(first.measured.mean != second.measured.mean);
    for (size_t i = 0; i < n_rows; i++)
        CHECK_MSG(rows[i].pass, "%s: %s", rows[i].law, rows[i].what);
}
#endif

int main(void)
{
    RUN(every_law_holds);
    RUN(every_law_was_put_to_the_test);
    RUN(what_is_expected_is_what_theory_says);
    RUN(bounds_are_met_closely);
    RUN(the_bound_of_steals_is_the_published_one);
#ifndef SIM_SHORT
    RUN(other_seeds_give_other_runs_and_pass);
#endif
    return check_report();
}
