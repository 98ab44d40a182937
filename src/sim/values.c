#include "sim/values.h"

#include "sim/decimal.h"
#include "sim/refuse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct values *values;
    enum setup_key key;
    char *message;
    size_t size;
};

static int wrong(const struct reader *r, const char *item, size_t length, const char *why)
{
    return sim_refuse(r->message, r->size, "%s=%.*s: %s", setup_key_help(r->key)->name,
                      (int)(length < 60 ? length : 60), item, why);
}

static int add(struct reader *r, const char *text, size_t length)
{
    struct values *v = r->values;
    if (length == 0)
        return wrong(r, text, strnlen(text, 60), "a value is missing");
    if (length >= SETUP_VALUE)
        return wrong(r, text, length, "too long");
    if (v->n == VALUES_MOST)
        return wrong(r, text, length, "more than 1000 values");
    if ((v->n & (v->n - 1)) == 0) { /* a power of two is full */
        char (*more)[SETUP_VALUE] = realloc(v->value, (v->n ? 2 * v->n : 1) * sizeof *more);
        if (!more) {
            sim_refuse(r->message, r->size, "no memory for so many values");
            return -ENOMEM;
        }
        v->value = more;
    }
    memcpy(v->value[v->n], text, length);
    v->value[v->n++][length] = '\0';
    return 0;
}

/* ---- ranges ------------------------------------------------------------------------------------ */

/* A range of plain numbers counts in billionths, one of times in nanoseconds. */
struct range {
    bool times;
    int64_t low, high;
    int64_t step;   /* added; or ... */
    int64_t factor; /* ... multiplied by, in billionths; 0: added */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number, or a time with a unit. */
static bool read_bound(const char *text, bool times, int64_t *out)
{
    if (times)
        return sim_time_parse(text, out, NULL, 0) == 0;
    return decimal_parse(text, "", 0, (int64_t)1 << 58, out, NULL, 0) == 0;
}

static bool has_unit(const char *text)
{
    size_t n = strlen(text);
    return n > 0 && !is_digit(text[n - 1]);
}

/* `low`, `high` and `by`, which is "+STEP", "*FACTOR" or empty. */
static bool read_range(const char *low, const char *high, const char *by, struct range *g)
{
    g->times = has_unit(high);
    if (!read_bound(low, g->times, &g->low) || !read_bound(high, g->times, &g->high))
        return false;
    g->step = DECIMAL_ONE;
    if (*by == '*')
        return decimal_parse(by + 1, "", DECIMAL_ONE + 1, 1000000 * (int64_t)DECIMAL_ONE, &g->factor, NULL,
                             0) == 0;
    if (*by == '+')
        return read_bound(by + 1, g->times, &g->step) && g->step > 0;
    return !g->times; /* what would the step of times be? */
}

static int add_number(struct reader *r, const struct range *g, int64_t x)
{
    char text[64];
    int n = g->times ? sim_time_print(text, sizeof text, x)
                     : decimal_print(text, sizeof text, x, DECIMAL_ONE, 9);
    return add(r, text, n > 0 ? (size_t)n : 0);
}

/* The value behind x; not above g->high + 1, which ends the range. */
static int64_t next_of(const struct range *g, int64_t x)
{
    if (g->factor == 0)
        return x > g->high - g->step ? g->high + 1 : x + g->step;
    __extension__ typedef __int128 wide;
    wide next = ((wide)x * g->factor + DECIMAL_ONE / 2) / DECIMAL_ONE;
    next = next > x ? next : x + 1;
    return next > g->high ? g->high + 1 : (int64_t)next;
}

static int add_range(struct reader *r, const struct range *g, const char *item, size_t length)
{
    int rc = 0;
    if (g->low > g->high)
        return wrong(r, item, length, "the range is empty");
    if (g->factor && g->low == 0)
        return wrong(r, item, length, "a range with a factor begins above 0");
    for (int64_t x = g->low; x <= g->high && rc == 0; x = next_of(g, x))
        rc = add_number(r, g, x);
    return rc;
}

/* ---- lists ------------------------------------------------------------------------------------- */

static bool is_range_itself(enum setup_key key)
{
    return key == SETUP_BACKOFF || key == SETUP_CHILDREN;
}

static int add_item(struct reader *r, const char *item, size_t length)
{
    char text[SETUP_VALUE], by[SETUP_VALUE] = "";
    struct range g = {0};
    if (length >= sizeof text)
        return wrong(r, item, length, "too long");
    memcpy(text, item, length);
    text[length] = '\0';
    char *dots = strstr(text, "..");
    if (!dots || is_range_itself(r->key) || !is_digit(*text))
        return add(r, item, length);
    *dots = '\0';
    char *high = dots + 2, *sign = strpbrk(high, "+*");
    if (sign) {
        snprintf(by, sizeof by, "%s", sign);
        *sign = '\0';
    }
    if (!read_range(text, high, by, &g))
        return wrong(r, item, length, "LOW..HIGH, LOW..HIGH+STEP or LOW..HIGH*FACTOR is expected, of times "
                                      "with a unit and a step");
    return add_range(r, &g, item, length);
}

static char separator(enum setup_key key, const char *text)
{
    static const enum setup_key distributions[] = {SETUP_DURATION, SETUP_GAP,     SETUP_CHILD,
                                                   SETUP_LEAF,     SETUP_LENGTHS, SETUP_LOCK};
    if (strchr(text, ';') || key == SETUP_BURST || key == SETUP_SPEEDS)
        return ';';
    for (size_t i = 0; i < sizeof distributions / sizeof *distributions; i++)
        if (key == distributions[i] && strchr(text, ':'))
            return ';';
    return ',';
}

int values_parse(struct values *v, enum setup_key key, const char *text, char *message, size_t size)
{
    struct reader r = {v, key, message, size};
    const char stop[] = {separator(key, text), '\0'};
    int rc = 0;
    *v = (struct values){0};
    for (const char *next = text; next && rc == 0;) {
        size_t length = strcspn(next, stop);
        rc = add_item(&r, next, length);
        next = next[length] ? next + length + 1 : NULL;
    }
    if (rc != 0)
        values_free(v);
    return rc;
}

void values_free(struct values *v)
{
    free(v->value);
    *v = (struct values){0};
}
