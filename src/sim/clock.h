/* clock.h: simulated time: whole nanoseconds since the start of a run, in 64 bits.
 *
 * Times are integers so that a run is the same with every compiler. A time is 0 .. SIM_TIME_MAX (about 18
 * years). Above it the engine has three bits for the order of events in one instant; a sum beyond it is an
 * error, not a wrapped number.
 */
#ifndef FILCH_SIM_CLOCK_H
#define FILCH_SIM_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t sim_time;

#define SIM_NEVER INT64_MAX
#define SIM_TIME_MAX ((sim_time)1 << 59)
#define SIM_SECOND ((sim_time)1000000000)

enum { SIM_TIME_TEXT = 40 }; /* room for any time in text */

/* False if a + b is above SIM_TIME_MAX; then *sum stays. a and b are times, neither is SIM_NEVER. */
static inline bool sim_time_add(sim_time a, sim_time b, sim_time *sum)
{
    if (a > SIM_TIME_MAX - b)
        return false;
    *sum = a + b;
    return true;
}

static inline double sim_time_seconds(sim_time t)
{
    return (double)t / 1e9;
}

/* The nearest time; 0 for what is below 0 or no number, SIM_TIME_MAX for what is above it. */
static inline sim_time sim_time_round(double ticks)
{
    if (!(ticks > 0))
        return 0;
    return ticks < (double)SIM_TIME_MAX ? (sim_time)(ticks + 0.5) : SIM_TIME_MAX;
}

/* "0.1", "5ns", "2.5us", "1ms", "3s", "2min", "1h": a number as in decimal.h and a unit, without one in
 * seconds. What is finer than a nanosecond is rounded to the nearest. No sign, blank or exponent ("1e3" is
 * refused). 0, or -EINVAL with a message (message may be NULL if size is 0). */
int sim_time_parse(const char *text, sim_time *out, char *message, size_t size);

/* The shortest text that sim_time_parse() takes back to the same time: "0.1s", "250ms", "90s", "1.5h". Of
 * two that are equally short, the one with the smaller unit. "never" for SIM_NEVER; a difference may be
 * negative ("-5ns"): these two cannot be parsed. Returns the length as snprintf does. */
int sim_time_print(char *to, size_t size, sim_time t);

#endif
