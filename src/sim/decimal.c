#include "sim/decimal.h"
#include "sim/refuse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits [at, end) as an integer times unit. False if it is above most. */
static bool scan_whole(const char *at, const char *end, int64_t unit, int64_t most, int64_t *out)
{
    int64_t value = 0;
    for (; at < end; at++) {
        if (value > most)
            return false;
        value = value * 10 + (*at - '0'); /* at most 10 * 2^59 + 9 */
    }
    return !__builtin_mul_overflow(value, unit, out) && *out <= most;
}

/* Digits [at, end) behind the point times unit, rounded. The product is made digit by digit from the
 * right, as on paper: `carry` ends as its whole part, and `digit` as the first digit behind the point. */
static int64_t scan_fraction(const char *at, const char *end, int64_t unit)
{
    unsigned __int128 carry = 0;
    int digit = 0;
    while (end > at) {
        carry += (unsigned __int128)(*--end - '0') * (unsigned __int128)unit;
        digit = (int)(carry % 10);
        carry /= 10;
    }
    return (int64_t)carry + (digit >= 5);
}

enum decimal_result decimal_scan(const char **text, int64_t unit, int64_t most, int64_t *out)
{
    const char *at = *text, *point = at, *end;
    while (is_digit(*point))
        point++;
    if (point == at)
        return DECIMAL_NONE;
    end = point;
    if (*point == '.') {
        for (end = point + 1; is_digit(*end); end++)
            continue;
        if (end == point + 1)
            return DECIMAL_NONE;
    }
    int64_t whole;
    if (!scan_whole(at, point, unit, most, &whole))
        return DECIMAL_LARGE;
    if (end > point)
        whole += scan_fraction(point + 1, end, unit);
    if (whole > most)
        return DECIMAL_LARGE;
    *out = whole;
    *text = end;
    return DECIMAL_OK;
}

int decimal_parse(const char *text, const char *what, int64_t least, int64_t most, int64_t *out,
                  char *message, size_t size)
{
    const char *end = text;
    int64_t value;
    enum decimal_result result = decimal_scan(&end, DECIMAL_ONE, most, &value);
    if (result == DECIMAL_OK && *end == '\0' && value >= least) {
        *out = value;
        return 0;
    }
    char low[40], high[40];
    decimal_print(low, sizeof low, least, DECIMAL_ONE, 9);
    decimal_print(high, sizeof high, most, DECIMAL_ONE, 9);
    return sim_refuse(message, size, "%s is \"%.40s\"; a number from %s to %s is needed, such as 0.5", what,
                      text, low, high);
}

int decimal_print(char *to, size_t size, int64_t value, int64_t unit, int digits)
{
    char fraction[24];
    int n = 0;
    int64_t rest = value % unit;
    unsigned __int128 left = (unsigned __int128)rest;
    while (left && n < digits && n < (int)sizeof fraction - 1) {
        left *= 10;
        fraction[n++] = (char)('0' + (int)(left / (unsigned __int128)unit));
        left %= (unsigned __int128)unit;
    }
    if (left)
        return -1;
    fraction[n] = '\0';
    return snprintf(to, size, "%" PRId64 "%s%s", value / unit, n ? "." : "", fraction);
}
