/* standin.c: a flow that blocks its thread in place, and has another one work meanwhile (core/seat.c). The
 * stand-in is the pool's, not the worker's: a flow that waits inside may come back on another thread. */
#include "core/idle.h"
#include "core/report.h"
#include "core/run.h"

#include <filch/blocking.h>

void filch_blocking_enter(void)
{
    struct fiber *f = run_fiber();
    if (!f || f->blocks++ > 0)
        return;
    struct worker *w = worker_self();
    f->replaced = seat_stand_in(w->pool, w);
    if (f->replaced) {
        find_leave_behind(w);
        idle_notify(w->pool, w);
    }
}

void filch_blocking_leave(void)
{
    struct fiber *f = run_fiber();
    if (!f)
        return;
    if (f->blocks == 0)
        report_misuse("filch_blocking_leave", "without filch_blocking_enter");
    if (--f->blocks == 0 && f->replaced)
        seat_stand_down(f->pool);
}
