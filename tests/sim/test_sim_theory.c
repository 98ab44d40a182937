/* test_sim_theory.c: closed forms against balance equations solved directly, against the formulas as
 * textbooks print them, and against each other. */
#include "sim/theory.h"
#include "check.h"

#include <math.h>

static int close_to(double got, double right, double relative)
{
    return fabs(got - right) <= relative * fabs(right);
}

static void check_close(const char *what, double got, double right, double relative)
{
    CHECK_MSG(close_to(got, right, relative), "%s: %.15g is not %.15g", what, got, right);
}

/* The steady state of a birth-death chain on 0 .. n, from its balance equations: birth[i] from i to i + 1,
 * death[i] from i to i - 1. */
static void solve_chain(const double *birth, const double *death, int n, double *probability)
{
    double sum = 1;
    probability[0] = 1;
    for (int i = 1; i <= n; i++) {
        probability[i] = probability[i - 1] * birth[i - 1] / death[i];
        sum += probability[i];
    }
    for (int i = 0; i <= n; i++)
        probability[i] /= sum;
}

enum { STATES = 6000 };

static double birth[STATES + 1], death[STATES + 1], probability[STATES + 1];

/* M/M/c with at most STATES in the system, which for these loads is as good as no limit. */
static void solve_mmc(double rate, double service, int servers)
{
    for (int i = 0; i <= STATES; i++) {
        birth[i] = rate;
        death[i] = (i < servers ? i : servers) / service;
    }
    solve_chain(birth, death, STATES, probability);
}

static void open_queues_agree_with_their_balance_equations(void)
{
    static const struct {
        double rate, service;
        int servers;
    } rows[] = {{0.5, 1, 1}, {0.8, 1, 1},   {3, 0.3, 1},   {1.2, 1, 2},  {4.5, 1, 5},
                {9, 0.1, 1}, {95, 1, 100},  {1, 2, 100},   {0.9, 10, 10}, {150, 1, 160}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double rate = rows[i].rate, service = rows[i].service, number = 0, waiting = 0;
        int servers = rows[i].servers;
        solve_mmc(rate, service, servers);
        for (int k = 0; k <= STATES; k++) {
            number += k * probability[k];
            waiting += k >= servers ? probability[k] : 0;
        }
        unsigned c = (unsigned)servers;
        check_close("Erlang's C", theory_mmc_wait_probability(rate, service, c), waiting, 1e-9);
        check_close("number", theory_mmc_number(rate, service, c), number, 1e-9);
        check_close("time", theory_mmc_time(rate, service, c), number / rate, 1e-9);
        if (servers > 1)
            continue;
        check_close("number", theory_mm1_number(rate, service), number, 1e-9);
        check_close("time", theory_mm1_time(rate, service), number / rate, 1e-9);
    }
}

/* The sum in Erlang's formula, written out: C = load for one server, 2 load^2 / (1 + load) for two. */
static void erlang_c_has_its_known_values(void)
{
    check_close("C(2, 4/3)", theory_mmc_wait_probability(4.0 / 3, 1, 2), 8.0 / 15, 1e-14);
    for (int i = 1; i < 100; i++) {
        double load = i / 100.0;
        check_close("C(1)", theory_mmc_wait_probability(load, 1, 1), load, 1e-13);
        check_close("C(2)", theory_mmc_wait_probability(2 * load, 1, 2), 2 * load * load / (1 + load), 1e-13);
        check_close("wait", theory_mmc_wait(load, 1, 1), theory_mg1_wait(load, 1, 1), 1e-13);
    }
}

/* Against the defining sum, in logarithms by lgamma. */
static void erlang_c_holds_for_thousands_of_servers(void)
{
    static const struct {
        unsigned servers;
        double load;
    } rows[] = {{10, 0.5}, {64, 0.9}, {1024, 0.8}, {1024, 0.95}, {1024, 0.999}, {10000, 0.99},
                {65536, 0.999}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned c = rows[i].servers;
        double a = c * rows[i].load, log_last = c * log(a) - lgamma(c + 1.0), sum = 0;
        for (unsigned k = 0; k < c; k++)
            sum += exp(k * log(a) - lgamma(k + 1.0) - log_last);
        double last = 1 / (1 - rows[i].load);
        check_close("Erlang's C", theory_mmc_wait_probability(a, 1, c), last / (sum + last), 1e-8);
    }
}

static void pollaczek_and_khinchine_meet_the_known_queues(void)
{
    check_close("M/M/1", theory_mg1_time(0.8, 1, 1), 5, 1e-14);
    check_close("M/D/1", theory_md1_wait(0.8, 1), 2, 1e-14); /* half of the wait with exponential service */
    check_close("M/D/1", theory_mg1_number(0.5, 1, 0), 0.75, 1e-14);
    check_close("M/G/1", theory_mg1_wait(0.25, 2, 3), 4, 1e-14); /* 0.5 * 2 * 4 / (2 * 0.5) */
}

/* The waiting time of M/E2/1 (two exponential phases, scv 1/2) from the chain of phases left in the system:
 * an arrival adds two, each phase ends at rate 2 / service. Who arrives waits for the phases it sees. */
static void pollaczek_and_khinchine_hold_for_two_phases(void)
{
    enum { PHASES = 2000 };
    static double p[PHASES + 1];
    double rate = 0.7, phase = 2, sum = 1, left = 0;
    p[0] = 1;
    /* Flow across the cut between k - 1 and k: upwards from k - 1 and from k - 2, downwards from k. */
    for (int k = 1; k <= PHASES; k++) {
        p[k] = (rate * p[k - 1] + (k > 1 ? rate * p[k - 2] : 0)) / phase;
        sum += p[k];
    }
    for (int k = 0; k <= PHASES; k++)
        left += k * p[k] / sum;
    check_close("M/E2/1", theory_mg1_wait(rate, 1, 0.5), left / phase, 1e-12);
}

static void the_time_in_an_mm1_is_exponential(void)
{
    check_close("median", theory_mm1_time_quantile(0.5, 1, 0.5), 2 * log(2), 1e-14);
    check_close("99 %", theory_mm1_time_quantile(0.8, 1, 0.99), 5 * log(100), 1e-13);
    CHECK(theory_mm1_time_quantile(0.5, 1, 0) == 0 && isnan(theory_mm1_time_quantile(0.5, 1, 1)));
}

/* Machine repair is a birth-death chain, too: i workers at the server. */
static void the_closed_system_agrees_with_its_balance_equations(void)
{
    static const double execution[] = {0, 0.5, 3, 7, 31, 100};
    for (size_t i = 0; i < sizeof execution / sizeof *execution; i++) {
        for (int n = 1; n <= 200; n = n * 3 / 2 + 1) {
            double service = 0.7, queue = 0;
            struct theory_closed c = theory_closed((uint64_t)n, execution[i], service);
            if (execution[i] == 0) { /* all are at the server at all times */
                check_close("throughput", c.throughput, 1 / service, 1e-12);
                check_close("queue", c.queue, n, 1e-12);
                continue;
            }
            for (int k = 0; k <= n; k++) {
                birth[k] = (n - k) / execution[i];
                death[k] = 1 / service;
            }
            solve_chain(birth, death, n, probability);
            for (int k = 0; k <= n; k++)
                queue += k * probability[k];
            check_close("utilisation", c.utilisation, 1 - probability[0], 1e-10);
            check_close("throughput", c.throughput, (1 - probability[0]) / service, 1e-10);
            check_close("queue", c.queue, queue, 1e-9);
        }
    }
}

static void the_knee_is_where_the_asymptotes_meet(void)
{
    double execution = 9, service = 1, knee = theory_knee(execution, service);
    CHECK(knee == 10 && theory_knee(9, 0) == INFINITY);
    struct theory_closed few = theory_closed(1, execution, service);
    struct theory_closed many = theory_closed(1000, execution, service);
    check_close("one worker", few.throughput, 1 / (execution + service), 1e-14);
    check_close("many workers", many.throughput, 1 / service, 1e-12);
    check_close("crossing", few.throughput * knee, many.throughput, 1e-12);
    struct theory_closed at = theory_closed(10, execution, service);
    CHECK(at.throughput < 0.9 && at.throughput > 0.7);
}

static void the_bounds_for_greedy_schedules_are_these(void)
{
    CHECK(theory_time_least(100, 10, 4) == 25 && theory_time_least(100, 30, 4) == 30);
    CHECK(theory_time_greedy(100, 10, 4) == 35 && theory_time_greedy(100, 100, 1) == 200);
    CHECK(isnan(theory_time_least(1, 1, 0)) && isnan(theory_time_greedy(1, 1, 0)));
}

static void what_does_not_settle_is_infinite_and_nonsense_is_no_number(void)
{
    CHECK(isinf(theory_mm1_number(1, 1)) && isinf(theory_mm1_time(2, 1)) && isinf(theory_mmc_wait(2, 1, 2)));
    CHECK(isinf(theory_mg1_wait(1, 1, 0)) && theory_mmc_wait_probability(5, 1, 2) == 1);
    CHECK(theory_mg1_wait(0, 1, INFINITY) == 0 && isinf(theory_mg1_wait(0.1, 1, INFINITY)));
    CHECK(isnan(theory_mm1_time(-1, 1)) && isnan(theory_mmc_time(1, -1, 2)));
    CHECK(isnan(theory_mmc_wait(1, 1, 0)));
    CHECK(isnan(theory_mg1_wait(0.5, 1, -1)) && isnan(theory_mg1_wait(NAN, 1, 1)));
    CHECK(isnan(theory_closed(3, -1, 1).throughput) && isnan(theory_closed(3, 0, 0).queue));
    CHECK(theory_closed(0, 1, 1).throughput == 0 && isnan(theory_knee(-1, 1)));
    CHECK(theory_mmc_wait_probability(0, 1, 3) == 0 && theory_mmc_time(0, 1, 3) == 1);
}

int main(void)
{
    RUN(open_queues_agree_with_their_balance_equations);
    RUN(erlang_c_has_its_known_values);
    RUN(erlang_c_holds_for_thousands_of_servers);
    RUN(pollaczek_and_khinchine_meet_the_known_queues);
    RUN(pollaczek_and_khinchine_hold_for_two_phases);
    RUN(the_time_in_an_mm1_is_exponential);
    RUN(the_closed_system_agrees_with_its_balance_equations);
    RUN(the_knee_is_where_the_asymptotes_meet);
    RUN(the_bounds_for_greedy_schedules_are_these);
    RUN(what_does_not_settle_is_infinite_and_nonsense_is_no_number);
    return check_report();
}
