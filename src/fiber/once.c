/* once.c: to do something once; and what events can do besides (core/event.h).
 *
 * | field  | writer                        | reader | invariant                                     |
 * | runner | CAS from 0                    | anyone | flow_self() of the one who runs it, or ran it |
 * | done   | the runner, when it has run it | anyone | core/event.h [E1]                             |
 */
#include "core/event.h"
#include "core/report.h"
#include "core/wait.h"
#include "fiber/flow.h"

#include <filch/sync.h>
#include <stddef.h>

static const struct wait_subject about_once = {"filch_once_run", "once", WAIT_FOR_OBJECT, 0,
                                               offsetof(filch_once, runner)};

static void run_or_wait(filch_once *once, void (*fn)(void *arg), void *arg)
{
    uintptr_t self = flow_self(), was = 0;
    if (filch_cas_relaxed(&once->runner, &was, self)) { /* order: who runs it; [E1] orders the rest */
        fn(arg);
        event_set(&once->done.state);
        return;
    }
    if (was == self && !event_is_set(&once->done.state))
        report_misuse("filch_once_run", "called by the function that it runs");
    (void)event_wait_about(&once->done.state, FILCH_FOREVER, &about_once, once);
}

void filch_once_run(filch_once *once, void (*fn)(void *arg), void *arg)
{
    if (!once || !fn)
        report_misuse("filch_once_run", "null once or null function");
    if (!event_is_set(&once->done.state))
        run_or_wait(once, fn, arg);
}

int filch_event_wait_until(filch_event *event, int64_t deadline)
{
    if (!event)
        report_misuse("filch_event_wait_until", "null event");
    return event_wait_canceled(&event->state, deadline);
}

void filch_event_reset(filch_event *event)
{
    if (!event)
        report_misuse("filch_event_reset", "null event");
    event_reset(&event->state);
}
