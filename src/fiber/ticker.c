/* ticker.c: ticks at a fixed rate. They are counted from the first one, so lateness does not add up. */
#include "core/report.h"
#include "os/os.h"

#include <filch/task.h>

void filch_ticker_start(filch_ticker *t, int64_t period_ns)
{
    int64_t now = os_clock_ns();
    if (!t || period_ns <= 0)
        report_misuse("filch_ticker_start", "null ticker, or a period that is not positive");
    t->period_ns = period_ns;
    t->next_ns = period_ns < INT64_MAX - now ? now + period_ns : INT64_MAX;
}

int64_t filch_ticker_wait(filch_ticker *t)
{
    if (!t || t->period_ns <= 0)
        report_misuse("filch_ticker_wait", "null ticker, or one that was not started");
    int rc = filch_sleep_until(t->next_ns);
    if (rc != 0)
        return rc;
    int64_t late = os_clock_ns() - t->next_ns;
    int64_t ticks = 1 + (late > 0 ? late / t->period_ns : 0);
    t->next_ns += ticks * t->period_ns;
    return ticks;
}
