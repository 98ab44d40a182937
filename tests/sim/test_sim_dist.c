/* test_sim_dist.c: distributions: their texts, their moments, and that a larger random number never gives
 * a smaller time. */
#include "sim/dist.h"
#include "base/rng.h"
#include "check.h"

#include <errno.h>
#include <math.h>

#ifdef SIM_SHORT
enum { STRATA = 20000, NEIGHBOURS = 3000 };
#else
enum { STRATA = 300000, NEIGHBOURS = 30000 };
#endif

static char file_path[64];

/* A new file with this text; its name is in file_path. */
static void write_file(const char *text, size_t length)
{
    strcpy(file_path, "/tmp/test_sim_dist.XXXXXX");
    int fd = mkstemp(file_path);
    CHECK(fd >= 0 && write(fd, text, length) == (ssize_t)length);
    close(fd);
}

static struct dist parsed(const char *text)
{
    struct dist d;
    char message[300] = "";
    int rc = dist_parse(&d, text, message, sizeof message);
    CHECK_MSG(rc == 0, "\"%s\": %s", text, message);
    return d;
}

static void refused(const char *text, const char *expected)
{
    struct dist d;
    char message[300];
    memset(&d, 0x5a, sizeof d);
    memset(message, '#', sizeof message);
    int rc = dist_parse(&d, text, message, sizeof message);
    CHECK_MSG(rc == -EINVAL, "\"%.60s\" was taken (%d)", text, rc);
    CHECK_MSG(strstr(message, expected), "\"%.60s\": %s", text, message);
    for (const char *c = message; *c; c++)
        CHECK_MSG(*c >= ' ' && *c <= '~', "byte %d in a message", *c);
    CHECK(d.kind == DIST_CONST && d.a == 0 && !d.times && !d.path);
    CHECK_EQ(dist_parse(&d, text, NULL, 0), -EINVAL);
}

static void every_text_is_printed_and_read_back(void)
{
    static const char *const texts[][2] = {
        {"1.5", "const:1.5s"},
        {"const:0.1", "const:0.1s"},
        {"uniform:0.5..2", "uniform:0.5s..2s"},
        {"uniform:1ns..1h", "uniform:1ns..1h"},
        {"exp:1ms", "exp:1ms"},
        {"lognormal:2,0.25", "lognormal:2s,0.25"},
        {"pareto:1us,1.5", "pareto:1us,1.5"},
        {"pareto:1us,1.5,1s", "pareto:1us,1.5,1s"},
        {"bimodal:1,10,0.1", "bimodal:1s,10s,0.1"},
        {"bimodal:10,1,1", "bimodal:10s,1s,1"},
        {"bimodal:0,1,0.000000001", "bimodal:0s,1s,0.000000001"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[200], again[200];
        struct dist d = parsed(texts[i][0]);
        CHECK_EQ(dist_print(&d, text, sizeof text), strlen(texts[i][1]));
        CHECK_STR(text, texts[i][1]);
        struct dist e = parsed(text);
        dist_print(&e, again, sizeof again);
        CHECK_STR(again, text);
        CHECK(memcmp(&d, &e, sizeof d) == 0);
    }
}

static void wrong_texts_are_refused_with_what_would_be_right(void)
{
    static const char *const bad[][2] = {
        {"", "is no time"}, {"abc", "is no time"}, {"-1", "is no time"}, {"const:", "is no time"},
        {"const:1,2", "const:TIME"}, {"Const:1", "is no distribution"}, {":1", "begins with"},
        {"gauss:1", "begins with const:"}, {"uniform:1", "uniform:LOW..HIGH"}, {"uniform:1,2", "LOW..HIGH"},
        {"uniform:2..1", "first time"}, {"uniform:1..2..3", "LOW..HIGH"}, {"uniform:1...2", "\".2\""},
        {"uniform:-1..2", "is no time"}, {"exp:0", "above 0"}, {"exp:1,2", "exp:MEAN"},
        {"exp:", "is no time"},
        {"lognormal:1", "MEAN,CV"}, {"lognormal:0,1", "above 0"}, {"lognormal:1,-1", "coefficient"},
        {"lognormal:1,1001", "from 0 to 1000"}, {"lognormal:1,nan", "coefficient"},
        {"lognormal:1,1e2", "coefficient"}, {"pareto:1", "pareto:LEAST"}, {"pareto:0,1", "above 0"},
        {"pareto:1,0", "exponent"}, {"pareto:1,0.009", "exponent"}, {"pareto:1,1,0.5", "bound"},
        {"pareto:1,1,2,3", "pareto:LEAST"}, {"pareto:1,1,", "is no time"}, {"bimodal:1,2", "PROBABILITY"},
        {"bimodal:1,2,1.1", "from 0 to 1"}, {"bimodal:1,2,inf", "probability"},
        {"bimodal:1,2,0.5,", "bimodal:"},
        {"exp:200000h", "too large"}, {"file:", "No such file"}, {"file:/nonexistent/x", "/nonexistent/x"},
        {"file:/", "cannot be read"}, {"exp:\x1b[2J", "is no time"}, {"%s%n:1", "begins with"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i][0], bad[i][1]);
}

static void long_texts_are_refused(void)
{
    static char text[100000];
    for (size_t i = 0; i < 7; i++) {
        static const char *const start[] = {"",          "const:",   "uniform:", "exp:1,",
                                            "pareto:1,", "bimodal:", "file:"};
        memset(text, 'x', sizeof text - 1);
        memcpy(text, start[i], strlen(start[i]));
        refused(text, "");
        memset(text, ',', sizeof text - 1);
        memcpy(text, start[i], strlen(start[i]));
        refused(text, "");
    }
}

/* ---- draws ------------------------------------------------------------------------------------- */

/* The middle of the i-th of n equal parts of all random numbers. */
static uint64_t stratum(int i, int n)
{
    return (uint64_t)((((unsigned __int128)i * 2 + 1) << 64) / (2 * (unsigned)n));
}

struct moments {
    double mean, scv;
};

static struct moments moments_of(const struct dist *d)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < STRATA; i++)
        sum += (double)dist_draw(d, stratum(i, STRATA));
    double mean = sum / STRATA;
    for (int i = 0; i < STRATA; i++) {
        double x = (double)dist_draw(d, stratum(i, STRATA)) - mean;
        squares += x * x;
    }
    return (struct moments){mean, squares / STRATA / (mean * mean)};
}

/* One draw in the middle of each of many equal parts: an integral with little error but in the tail. */
static void moments_of_the_draws_are_the_stated_ones(void)
{
    static const struct {
        const char *text;
        double mean, scv, within;
    } rows[] = {
        {"0.25", 0.25, 0, 1e-12},
        {"uniform:0.5..2", 1.25, 0.12, 1e-5},
        {"uniform:0..0", 0, 0, 0},
        {"exp:3", 3, 1, 1e-2},
        {"lognormal:2,0.5", 2, 0.25, 1e-2},
        {"lognormal:2,0.001", 2, 1e-6, 1e-2},
        {"pareto:1,4", 4.0 / 3, 0.125, 2e-2},
        {"pareto:1,1,10", 2.5584278811, 0.52775, 1e-3},
        {"pareto:1,2,10", 1.8181818182, 0.4071353, 1e-3},
        {"pareto:1,0.5,100", 10, 2.7, 1e-3},
        {"pareto:5,2,5", 5, 0, 1e-12},
        {"bimodal:1,10,0.1", 1.9, 2.0193906, 1e-3},
        {"bimodal:10,1,0.9", 1.9, 2.0193906, 1e-3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dist d = parsed(rows[i].text);
        CHECK_MSG(fabs(dist_mean(&d) / 1e9 - rows[i].mean) <= 1e-9 * rows[i].mean, "%s: stated mean %.12g",
                  rows[i].text, dist_mean(&d));
        CHECK_MSG(fabs(dist_scv(&d) - rows[i].scv) <= 1e-4 * rows[i].scv + 1e-12, "%s: stated scv %.12g",
                  rows[i].text, dist_scv(&d));
        struct moments m = moments_of(&d);
        CHECK_MSG(fabs(m.mean - dist_mean(&d)) <= rows[i].within * dist_mean(&d), "%s: mean %g", rows[i].text,
                  m.mean);
        CHECK_MSG(rows[i].mean == 0 || fabs(m.scv - rows[i].scv) <= rows[i].within * rows[i].scv * 5 + 1e-15,
                  "%s: scv %g", rows[i].text, m.scv);
    }
}

static void infinite_moments_are_called_infinite(void)
{
    struct dist d = parsed("pareto:1,1"), e = parsed("pareto:1,2"), f = parsed("pareto:1,2.1");
    CHECK(isinf(dist_mean(&d)) && isinf(dist_scv(&d)));
    CHECK(dist_mean(&e) == 2e9 && isinf(dist_scv(&e)) && isfinite(dist_scv(&f)));
}

static void draws_are_quantiles(void)
{
    const uint64_t half = (uint64_t)1 << 63, quarter = (uint64_t)1 << 62;
    struct dist d = parsed("exp:1");
    CHECK_EQ(dist_draw(&d, half), 693147181);
    CHECK_EQ(dist_draw(&d, ~quarter), 1386294361);
    d = parsed("pareto:1,2");
    CHECK_EQ(dist_draw(&d, ~quarter), 2 * SIM_SECOND);
    d = parsed("lognormal:1,1");
    CHECK_EQ(dist_draw(&d, half), 707106781);
    d = parsed("uniform:10ns..19ns");
    CHECK_EQ(dist_draw(&d, 0), 10);
    CHECK_EQ(dist_draw(&d, half), 15);
    CHECK_EQ(dist_draw(&d, UINT64_MAX), 19);
    d = parsed("uniform:0ns..1ns"); /* both, as likely: mean 1/2, variance 1/4 */
    CHECK(dist_scv(&d) > 0.99 && dist_scv(&d) < 1.01);
    d = parsed("bimodal:10,1,0");
    CHECK_EQ(dist_draw(&d, 0), 10 * SIM_SECOND);
    d = parsed("bimodal:1,10,0");
    CHECK_EQ(dist_draw(&d, UINT64_MAX), SIM_SECOND);
    d = parsed("bimodal:1,10,0.25");
    CHECK_EQ(dist_draw(&d, half + quarter - 2), SIM_SECOND);
    CHECK_EQ(dist_draw(&d, half + quarter), 10 * SIM_SECOND);
}

static void check_pair(const struct dist *d, const char *text, uint64_t low, uint64_t high)
{
    sim_time a = dist_draw(d, low), b = dist_draw(d, high);
    CHECK_MSG(0 <= a && a <= b && b <= SIM_TIME_MAX, "%s: %jd at %jx, %jd at %jx", text, (intmax_t)a,
              (uintmax_t)low, (intmax_t)b, (uintmax_t)high);
}

/* Times so large that a tick is less than the last place of a double, and neighbours on the grid. */
static void a_larger_number_never_gives_a_smaller_time(void)
{
    static const char *const texts[] = {
        "100000h", "uniform:1h..100000h", "uniform:0..576460752303423488ns", "exp:5000h", "exp:1ns",
        "lognormal:1000h,1", "lognormal:1000h,0.000001", "lognormal:1000h,1000", "lognormal:100000h,0.01",
        "pareto:1h,1", "pareto:1h,0.01", "pareto:1h,1000", "pareto:1h,1.5,100000h", "pareto:1h,1,1.000001h",
        "pareto:1ns,0.01,160000h", "bimodal:1h,2h,0.3", "bimodal:2h,1h,0.3",
    };
    struct rng r;
    rng_seed(&r, 11);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct dist d = parsed(texts[i]);
        check_pair(&d, texts[i], 0, UINT64_MAX);
        for (int k = 0; k < NEIGHBOURS; k++) {
            uint64_t x = rng_next(&r) >> rng_below(&r, 64);
            uint64_t y = k & 1 ? x : ~x, step = (uint64_t)1 << rng_below(&r, 30);
            check_pair(&d, texts[i], y, y + step > y ? y + step : UINT64_MAX);
            check_pair(&d, texts[i], y, y + 65536 > y ? y + 65536 : UINT64_MAX);
        }
    }
}

/* Where the normal quantile goes from one rational function to the next. */
static void the_seams_of_the_quantile_keep_the_order(void)
{
    struct dist d = parsed("lognormal:1000h,1");
    static const double seam[] = {0.075, 0.925, 1.3887943864964021e-11, 1 - 1.3887943864964021e-11, 0.5};
    for (size_t i = 0; i < sizeof seam / sizeof *seam; i++) {
        uint64_t middle = (uint64_t)(seam[i] * 0x1p64) & ~(uint64_t)0xffff;
        for (uint64_t k = 0; k < 2000; k++)
            check_pair(&d, "lognormal", middle + (k - 1000) * 65536, middle + (k - 999) * 65536);
    }
}

static void the_draws_are_the_stored_ones(void)
{
    static const char *const texts[] = {"1.5", "uniform:0.5..2", "exp:1", "lognormal:1,0.7", "pareto:1,1.2",
                                        "pareto:1,1.2,30", "bimodal:1,10,0.1"};
    uint64_t hash = 0;
    struct rng r;
    rng_seed(&r, 12);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct dist d = parsed(texts[i]);
        for (int k = 0; k < 20000; k++)
            hash = rng_mix(hash ^ (uint64_t)dist_draw(&d, rng_next(&r)));
    }
    CHECK_MSG(hash == 0x1aa84da9445b91eeu, "the hash is 0x%016llx", (unsigned long long)hash);
}

/* ---- files ------------------------------------------------------------------------------------- */

static struct dist from_file(const char *text)
{
    char spec[100];
    write_file(text, strlen(text));
    snprintf(spec, sizeof spec, "file:%s", file_path);
    struct dist d = parsed(spec);
    unlink(file_path);
    return d;
}

static void a_file_gives_its_times_with_equal_probability(void)
{
    struct dist d = from_file("# durations\n3\n1 # the shortest\n\n  2us\t\r\n3");
    char text[100];
    CHECK_EQ(d.n, 4);
    CHECK_EQ(dist_draw(&d, 0), 2000);
    CHECK_EQ(dist_draw(&d, (uint64_t)1 << 62), SIM_SECOND);
    CHECK_EQ(dist_draw(&d, (uint64_t)1 << 63), 3 * SIM_SECOND);
    CHECK_EQ(dist_draw(&d, UINT64_MAX), 3 * SIM_SECOND);
    CHECK(fabs(dist_mean(&d) - 1750000500) < 1e-3);
    CHECK(fabs(dist_scv(&d) - 0.551019) < 1e-5);
    dist_print(&d, text, sizeof text);
    CHECK(strncmp(text, "file:/tmp/", 10) == 0 && strcmp(text + 5, file_path) == 0);
    dist_free(&d);
    CHECK(d.n == 0 && dist_draw(&d, 5) == 0);
}

static void refused_file(const char *text, size_t length, const char *expected)
{
    char spec[100];
    write_file(text, length);
    snprintf(spec, sizeof spec, "file:%s", file_path);
    refused(spec, expected);
    unlink(file_path);
}

static void a_wrong_file_is_refused_with_its_line(void)
{
    static char wide[5000];
    refused_file("", 0, ": no time in it");
    refused_file("# none\n\n", 8, ": no time in it");
    refused_file("1\n2\n-3\n", 7, ":3: \"-3\" is no time");
    refused_file("1\n2 3\n", 6, ":2: \"2 3\" is no time");
    refused_file("1\nnan\n", 6, ":2: ");
    refused_file("1\n\0002\n", 5, ":2: byte 0x00");
    refused_file("\x7f" "ELF", 4, ":1: byte 0x7f");
    memset(wide, '1', sizeof wide);
    refused_file(wide, sizeof wide, ":1: the line has more than");
}

static void a_file_with_too_many_times_is_refused(void)
{
    size_t lines = DIST_FILE_MOST + 1;
    char *text = malloc(2 * lines);
    CHECK(text);
    for (size_t i = 0; i < lines; i++)
        memcpy(text + 2 * i, "1\n", 2);
    refused_file(text, 2 * lines, ":1000001: more than 1000000 times");
    free(text);
}

int main(void)
{
    RUN(every_text_is_printed_and_read_back);
    RUN(wrong_texts_are_refused_with_what_would_be_right);
    RUN(long_texts_are_refused);
    RUN(moments_of_the_draws_are_the_stated_ones);
    RUN(infinite_moments_are_called_infinite);
    RUN(draws_are_quantiles);
    RUN(a_larger_number_never_gives_a_smaller_time);
    RUN(the_seams_of_the_quantile_keep_the_order);
    RUN(the_draws_are_the_stored_ones);
    RUN(a_file_gives_its_times_with_equal_probability);
    RUN(a_wrong_file_is_refused_with_its_line);
    RUN(a_file_with_too_many_times_is_refused);
    return check_report();
}
