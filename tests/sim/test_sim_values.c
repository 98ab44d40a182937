/* test_sim_values.c: lists of values of a setting. */
#include "check.h"
#include "sim/values.h"

#include <errno.h>

/* The values of `text`, separated by blanks. */
static const char *values_of(const char *key, const char *text)
{
    static char all[4096];
    struct values v;
    char message[200] = "";
    size_t n = 0;
    CHECK_MSG(values_parse(&v, setup_key_named(key), text, message, sizeof message) == 0, "%s", message);
    for (size_t i = 0; i < v.n && n < sizeof all; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", i ? " " : "", v.value[i]);
    values_free(&v);
    return all;
}

static void check_refused(const char *key, const char *text, const char *says)
{
    struct values v;
    char message[200] = "";
    CHECK_EQ(values_parse(&v, setup_key_named(key), text, message, sizeof message), -EINVAL);
    CHECK_MSG(strstr(message, says) && strstr(message, key), "%s=%s: %s", key, text, message);
    CHECK(v.n == 0 && !v.value);
}

static void commas_separate_values(void)
{
    CHECK_STR(values_of("steal", "one,half,0.3"), "one half 0.3");
    CHECK_STR(values_of("victim", "random"), "random");
    CHECK_STR(values_of("tree", "fib:20,spine:2:10"), "fib:20 spine:2:10");
    CHECK_STR(values_of("duration", "1,2s"), "1 2s");
}

static void ranges_count_add_and_multiply(void)
{
    CHECK_STR(values_of("workers", "2..8"), "2 3 4 5 6 7 8");
    CHECK_STR(values_of("workers", "3..3"), "3");
    CHECK_STR(values_of("workers", "0..100+25"), "0 25 50 75 100");
    CHECK_STR(values_of("workers", "1..9+5"), "1 6");
    CHECK_STR(values_of("workers", "1..20*2"), "1 2 4 8 16");
    CHECK_STR(values_of("workers", "1,4..16*2,100"), "1 4 8 16 100");
    CHECK_STR(values_of("spawn", "0..1+0.25"), "0 0.25 0.5 0.75 1");
    CHECK_STR(values_of("workers", "10..40*1.5"), "10 15 22.5 33.75");
}

static void ranges_of_times_keep_their_units(void)
{
    CHECK_STR(values_of("exec", "0ns..100ns+50ns"), "0s 50ns 100ns");
    CHECK_STR(values_of("failed", "100ns..1ms*10"), "100ns 1us 10us 100us 1ms");
    CHECK_STR(values_of("wait", "0.1..0.3+0.1"), "0.1 0.2 0.3");
}

static void commas_inside_values_stay(void)
{
    CHECK_STR(values_of("burst", "0:0:12,5:1:12"), "0:0:12,5:1:12");
    CHECK_STR(values_of("speeds", "1,0.5"), "1,0.5");
    CHECK_STR(values_of("duration", "lognormal:1,0.5"), "lognormal:1,0.5");
    CHECK_STR(values_of("duration", "lognormal:1,0.5;exp:1"), "lognormal:1,0.5 exp:1");
    CHECK_STR(values_of("burst", "0:0:12;0:0:1,1:1:1"), "0:0:12 0:0:1,1:1:1");
}

static void values_that_are_ranges_stay(void)
{
    CHECK_STR(values_of("backoff", "0.05..0.5,0.1..0.1"), "0.05..0.5 0.1..0.1");
    CHECK_STR(values_of("children", "1..3"), "1..3");
    CHECK_STR(values_of("duration", "uniform:0.5..2"), "uniform:0.5..2");
}

static void nonsense_is_refused_with_its_place(void)
{
    check_refused("workers", "", "missing");
    check_refused("workers", "1,,2", "missing");
    check_refused("workers", "1,", "missing");
    check_refused("workers", "8..2", "8..2: the range is empty");
    check_refused("workers", "1..x", "1..x");
    check_refused("workers", "1..", "LOW..HIGH");
    check_refused("workers", "1..8+0", "LOW..HIGH");
    check_refused("workers", "1..8*1", "LOW..HIGH");
    check_refused("workers", "1..8*nan", "LOW..HIGH");
    check_refused("workers", "0..8*2", "begins above 0");
    check_refused("workers", "1..1001", "more than 1000");
    check_refused("workers", "1..999999999999", "expected");
    check_refused("exec", "1ns..5ns", "a step");
    check_refused("exec", "1ns..5ns+0ns", "LOW..HIGH");
}

static void a_thousand_values_fit(void)
{
    struct values v;
    CHECK_EQ(values_parse(&v, SETUP_WORKERS, "1..1000", NULL, 0), 0);
    CHECK(v.n == VALUES_MOST);
    CHECK_STR(v.value[999], "1000");
    values_free(&v);
}

int main(void)
{
    RUN(commas_separate_values);
    RUN(ranges_count_add_and_multiply);
    RUN(ranges_of_times_keep_their_units);
    RUN(commas_inside_values_stay);
    RUN(values_that_are_ranges_stay);
    RUN(nonsense_is_refused_with_its_place);
    RUN(a_thousand_values_fit);
    return check_report();
}
