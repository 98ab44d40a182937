#include "sim/clock.h"
#include "sim/decimal.h"
#include "sim/refuse.h"

#include <stdio.h>
#include <string.h>

static const struct unit {
    const char *name;
    int64_t ns;
} units[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"min", 60 * (int64_t)1000000000},
    {"h", 3600 * (int64_t)1000000000},
};

enum {
    UNITS = sizeof units / sizeof *units,
    PRINT_DIGITS = 12, /* every time ends after 9 in seconds; in hours, those that end at all after 12 */
};

/* The unit is found before the number is read, because the number is read as a multiple of it. */
static const struct unit *unit_of(const char *text)
{
    const char *name = text + strspn(text, "0123456789.");
    if (*name == '\0')
        name = "s";
    for (int i = 0; i < UNITS; i++)
        if (strcmp(name, units[i].name) == 0)
            return &units[i];
    return NULL;
}

int sim_time_parse(const char *text, sim_time *out, char *message, size_t size)
{
    const struct unit *unit = unit_of(text);
    const char *at = text;
    sim_time t = 0;
    enum decimal_result result =
        unit ? decimal_scan(&at, unit->ns, SIM_TIME_MAX, &t) : DECIMAL_NONE;
    if (result == DECIMAL_LARGE)
        return sim_refuse(message, size, "time \"%.40s\" is too large: at most 160000h", text);
    if (result == DECIMAL_NONE || *at == '.')
        return sim_refuse(message, size,
                          "\"%.40s\" is no time: a number and ns, us, ms, s, min or h (none: s) is needed, "
                          "such as 2.5us", text);
    *out = t;
    return 0;
}

int sim_time_print(char *to, size_t size, sim_time t)
{
    if (t == SIM_NEVER || t == INT64_MIN)
        return snprintf(to, size, "never");
    const char *sign = t < 0 ? "-" : "";
    if (t < 0)
        t = -t;
    char best[SIM_TIME_TEXT] = "", form[SIM_TIME_TEXT / 2 + 12];
    int shortest = SIM_TIME_TEXT;
    for (int i = 0; i < UNITS; i++) {
        int n = decimal_print(form, sizeof form, t, units[i].ns, PRINT_DIGITS);
        int length = n + (int)strlen(units[i].name);
        if (n < 0 || length >= shortest)
            continue;
        shortest = length;
        snprintf(best, sizeof best, "%s%s", form, units[i].name);
    }
    return snprintf(to, size, "%s%s", sign, best);
}
