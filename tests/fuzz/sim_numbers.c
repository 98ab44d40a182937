/* Times and distributions, one per line. What is taken is in range and is printed as text that is taken
 * back as the same; draws are in range and grow with the random number; a message is short and printable
 * and keeps to its room. Files are not opened. */
#include "fuzz.h"
#include "sim/decimal.h"
#include "sim/dist.h"

#include <errno.h>
#include <stdio.h>

/* The room for a message varies with the text, from none to more than enough. */
static size_t room_of(const char *text)
{
    size_t sum = 0;
    for (; *text; text++)
        sum = sum * 31 + (unsigned char)*text;
    return sum % 200;
}

static void check_message(const char *message, size_t room, size_t size)
{
    for (size_t i = room; i < size; i++)
        FUZZ_CHECK(message[i] == '#');
    size_t n = room ? strnlen(message, room) : 0;
    FUZZ_CHECK(!room || n < room);
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(message[i] >= ' ' && message[i] <= '~');
}

static void try_time(const char *text, size_t room)
{
    char message[256], again[SIM_TIME_TEXT];
    sim_time t = -7, back;
    memset(message, '#', sizeof message);
    int rc = sim_time_parse(text, &t, message, room);
    FUZZ_CHECK(rc == 0 || rc == -EINVAL);
    check_message(message, rc ? room : 0, sizeof message);
    if (rc) {
        FUZZ_CHECK(t == -7);
        return;
    }
    FUZZ_CHECK(t >= 0 && t <= SIM_TIME_MAX);
    FUZZ_CHECK(sim_time_print(again, sizeof again, t) < SIM_TIME_TEXT);
    FUZZ_CHECK(sim_time_parse(again, &back, NULL, 0) == 0 && back == t);
}

static void try_decimal(const char *text, size_t room)
{
    char message[256], again[SIM_TIME_TEXT];
    int64_t x = -7, back;
    memset(message, '#', sizeof message);
    int rc = decimal_parse(text, "x", 5, DECIMAL_UNIT_MAX, &x, message, room);
    check_message(message, rc ? room : 0, sizeof message);
    FUZZ_CHECK(rc ? rc == -EINVAL && x == -7 : x >= 5 && x <= DECIMAL_UNIT_MAX);
    if (rc)
        return;
    FUZZ_CHECK(decimal_print(again, sizeof again, x, DECIMAL_ONE, 9) > 0);
    FUZZ_CHECK(decimal_parse(again, "x", 5, DECIMAL_UNIT_MAX, &back, NULL, 0) == 0 && back == x);
}

static void check_draws(const struct dist *d)
{
    sim_time last = 0;
    for (uint64_t i = 0; i < 64; i++) {
        sim_time t = dist_draw(d, i * (UINT64_MAX / 63));
        FUZZ_CHECK(t >= last && t <= SIM_TIME_MAX);
        last = t;
    }
    for (uint64_t i = 0; i < 64; i++) {
        uint64_t far = UINT64_MAX >> i, near = ~far;
        FUZZ_CHECK(dist_draw(d, far) >= dist_draw(d, far / 2));
        FUZZ_CHECK(dist_draw(d, near) <= dist_draw(d, near + 65536 > near ? near + 65536 : UINT64_MAX));
    }
    FUZZ_CHECK(dist_mean(d) >= 0 && dist_scv(d) >= 0); /* false for what is not a number, too */
}

static void try_dist(const char *text, size_t room)
{
    char message[256], first[200], second[200];
    struct dist d, back;
    memset(message, '#', sizeof message);
    int rc = dist_parse(&d, text, message, room);
    FUZZ_CHECK(rc == 0 || rc == -EINVAL);
    check_message(message, rc ? room : 0, sizeof message);
    if (rc) {
        FUZZ_CHECK(d.kind == DIST_CONST && d.a == 0 && !d.times && !d.path);
        return;
    }
    check_draws(&d);
    FUZZ_CHECK(dist_print(&d, first, sizeof first) < (int)sizeof first);
    FUZZ_CHECK(dist_parse(&back, first, NULL, 0) == 0);
    dist_print(&back, second, sizeof second);
    FUZZ_CHECK(strcmp(first, second) == 0 && dist_draw(&back, 1) == dist_draw(&d, 1));
    dist_free(&back);
    dist_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    while (size) {
        const uint8_t *rest;
        size_t left, n = fuzz_line(data, size, &rest, &left);
        char *text = fuzz_string(data, n);
        size_t room = room_of(text);
        try_time(text, room);
        try_decimal(text, room);
        if (strncmp(text, "file:", 5) != 0)
            try_dist(text, room);
        free(text);
        data = rest;
        size = left;
    }
    return 0;
}
