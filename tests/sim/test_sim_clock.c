/* test_sim_clock.c: times in text: every unit, exact rounding, and texts that are no times. */
#include "sim/clock.h"
#include "sim/decimal.h"
#include "base/rng.h"
#include "check.h"

#include <errno.h>

static sim_time parsed(const char *text)
{
    char message[160] = "";
    sim_time t = -1;
    int rc = sim_time_parse(text, &t, message, sizeof message);
    CHECK_MSG(rc == 0, "\"%s\": %s", text, message);
    return t;
}

static void refused(const char *text, const char *expected)
{
    char message[160];
    sim_time t = 77;
    memset(message, '#', sizeof message);
    int rc = sim_time_parse(text, &t, message, sizeof message);
    CHECK_MSG(rc == -EINVAL && t == 77, "\"%.40s\" was taken", text);
    CHECK_MSG(strstr(message, expected), "\"%.40s\": %s", text, message);
    for (const char *c = message; *c; c++)
        CHECK_MSG(*c >= ' ' && *c <= '~', "byte %d in a message", *c);
    CHECK_EQ(sim_time_parse(text, &t, NULL, 0), -EINVAL);
}

static void every_unit_is_read(void)
{
    CHECK_EQ(parsed("5"), 5 * SIM_SECOND);
    CHECK_EQ(parsed("0.1"), 100000000);
    CHECK_EQ(parsed("5ns"), 5);
    CHECK_EQ(parsed("2.5us"), 2500);
    CHECK_EQ(parsed("1ms"), 1000000);
    CHECK_EQ(parsed("3s"), 3 * SIM_SECOND);
    CHECK_EQ(parsed("2min"), 120 * SIM_SECOND);
    CHECK_EQ(parsed("1.5h"), 5400 * SIM_SECOND);
    CHECK_EQ(parsed("0"), 0);
    CHECK_EQ(parsed("000.000h"), 0);
    CHECK_EQ(parsed("0000000000000000000000000000001us"), 1000);
}

static void what_is_finer_than_a_tick_is_rounded_to_the_nearest(void)
{
    CHECK_EQ(parsed("0.4ns"), 0);
    CHECK_EQ(parsed("0.5ns"), 1);
    CHECK_EQ(parsed("0.49999999999999999999999999999999999ns"), 0);
    CHECK_EQ(parsed("0.0000000004999999999"), 0);
    CHECK_EQ(parsed("0.0000000005"), 1);
    CHECK_EQ(parsed("1.9999999995"), 2 * SIM_SECOND);
    CHECK_EQ(parsed("0.1000000000000000055511151231257827021181583404541015625"), 100000000);
    CHECK_EQ(parsed("0.00000000000013888888888888888888h"), 0); /* 0.49999999999999999997 ns */
    CHECK_EQ(parsed("0.00000000000013888888888888888889h"), 1);
    CHECK_EQ(parsed("0.3333333333333333333333h"), 1200 * SIM_SECOND);
}

static void the_largest_time_is_taken_and_the_next_refused(void)
{
    CHECK_EQ(parsed("576460752303423488ns"), SIM_TIME_MAX);
    CHECK_EQ(parsed("576460752.303423488"), SIM_TIME_MAX);
    CHECK_EQ(parsed("576460752303423488.4ns"), SIM_TIME_MAX);
    refused("576460752303423489ns", "too large");
    refused("576460752303423488.5ns", "too large");
    refused("576460752.303423489", "too large");
    refused("160200h", "too large");
    refused("9223372036854775807", "too large");
    refused("9223372036854775808ns", "too large");
    refused("18446744073709551617ns", "too large");
    refused("99999999999999999999999999999999999999999999", "too large");
}

static void texts_that_are_no_times_are_refused(void)
{
    static const char *const bad[] = {
        "", " ", ".", ".5", "5.", "-1", "+1", "-0", " 1", "1 ", "1 s", "1e3", "1E3", "1e-3", "nan", "inf",
        "NaN", "0x10", "1,5", "1.5.2", "1..2", "s", "ns", "1S", "1sec", "1m", "1nsns", "1s2", "1d", "1us ",
        "1'000", "1_000", "1\n", "1\xb5s", "%s%n", "\x1b[2J", "1.s", "--1", "1-", "never",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i], "is no time");
}

static void a_long_text_is_read_or_refused_as_any_other(void)
{
    static char text[100000];
    memset(text, '9', sizeof text - 1);
    refused(text, "too large");
    memset(text, '0', sizeof text - 1);
    CHECK_EQ(parsed(text), 0);
    text[1] = '.';
    text[sizeof text - 2] = '9';
    CHECK_EQ(parsed(text), 0);
    memset(text, 'x', sizeof text - 1);
    refused(text, "is no time");
}

static void printed(sim_time t, const char *expected)
{
    char text[SIM_TIME_TEXT];
    int n = sim_time_print(text, sizeof text, t);
    CHECK_STR(text, expected);
    CHECK_EQ(n, strlen(expected));
}

static void a_time_is_printed_in_its_shortest_form(void)
{
    printed(0, "0s");
    printed(1, "1ns");
    printed(2500, "2.5us");
    printed(100000000, "0.1s");
    printed(250000000, "250ms");
    printed(SIM_SECOND, "1s");
    printed(1234500000, "1.2345s");
    printed(90 * SIM_SECOND, "90s");
    printed(60 * SIM_SECOND, "60s");
    printed(3600 * SIM_SECOND, "1h");
    printed(5400 * SIM_SECOND, "1.5h");
    printed(120 * SIM_SECOND, "120s");
    printed(100 * SIM_SECOND, "100s");
    printed(SIM_TIME_MAX, "576460752303423488ns");
    printed(SIM_NEVER, "never");
    printed(-5, "-5ns");
}

static void what_is_printed_is_read_back(void)
{
    struct rng r;
    rng_seed(&r, 1);
    for (int i = 0; i < 200000; i++) {
        char text[SIM_TIME_TEXT];
        sim_time t = (sim_time)(rng_next(&r) >> (5 + rng_below(&r, 59)));
        for (unsigned zeros = rng_below(&r, 12); zeros; zeros--)
            t = t < SIM_TIME_MAX / 10 ? t * 10 : t;
        CHECK(sim_time_print(text, sizeof text, t) < SIM_TIME_TEXT);
        CHECK_EQ(parsed(text), t);
    }
}

static void a_sum_beyond_the_largest_time_is_refused(void)
{
    sim_time sum = 7;
    CHECK(sim_time_add(1, 2, &sum) && sum == 3);
    CHECK(sim_time_add(SIM_TIME_MAX - 5, 5, &sum) && sum == SIM_TIME_MAX);
    CHECK(!sim_time_add(SIM_TIME_MAX - 5, 6, &sum) && sum == SIM_TIME_MAX);
    CHECK(!sim_time_add(SIM_TIME_MAX, SIM_TIME_MAX, &sum) && !sim_time_add(1, SIM_TIME_MAX, &sum));
}

static void doubles_become_times_within_the_range(void)
{
    CHECK_EQ(sim_time_round(2.5), 3);
    CHECK_EQ(sim_time_round(0.49), 0);
    CHECK_EQ(sim_time_round(-1), 0);
    CHECK_EQ(sim_time_round(__builtin_nan("")), 0);
    CHECK_EQ(sim_time_round(__builtin_inf()), SIM_TIME_MAX);
    CHECK_EQ(sim_time_round(1e300), SIM_TIME_MAX);
    CHECK(sim_time_seconds(2500000000) == 2.5);
}

static void a_decimal_is_read_in_billionths(void)
{
    char message[160], text[40];
    int64_t x = -1;
    CHECK(decimal_parse("0.3", "p", 0, DECIMAL_ONE, &x, NULL, 0) == 0 && x == 300000000);
    CHECK(decimal_parse("1", "p", 0, DECIMAL_ONE, &x, NULL, 0) == 0 && x == DECIMAL_ONE);
    CHECK_EQ(decimal_parse("1.000000001", "p", 0, DECIMAL_ONE, &x, message, sizeof message), -EINVAL);
    CHECK_STR(message, "p is \"1.000000001\"; a number from 0 to 1 is needed, such as 0.5");
    CHECK_EQ(decimal_parse("0.1x", "p", 0, DECIMAL_ONE, &x, NULL, 0), -EINVAL);
    CHECK_EQ(decimal_parse("", "p", 0, DECIMAL_ONE, &x, NULL, 0), -EINVAL);
    CHECK_EQ(decimal_parse("0.4", "p", DECIMAL_ONE / 2, DECIMAL_ONE, &x, NULL, 0), -EINVAL);
    CHECK_EQ(x, DECIMAL_ONE);
    CHECK_EQ(decimal_print(text, sizeof text, 1250000000, DECIMAL_ONE, 9), 4);
    CHECK_STR(text, "1.25");
    CHECK_EQ(decimal_print(text, sizeof text, 1, 3, 9), -1);
}

int main(void)
{
    RUN(every_unit_is_read);
    RUN(what_is_finer_than_a_tick_is_rounded_to_the_nearest);
    RUN(the_largest_time_is_taken_and_the_next_refused);
    RUN(texts_that_are_no_times_are_refused);
    RUN(a_long_text_is_read_or_refused_as_any_other);
    RUN(a_time_is_printed_in_its_shortest_form);
    RUN(what_is_printed_is_read_back);
    RUN(a_sum_beyond_the_largest_time_is_refused);
    RUN(doubles_become_times_within_the_range);
    RUN(a_decimal_is_read_in_billionths);
    return check_report();
}
