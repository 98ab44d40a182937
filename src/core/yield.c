#include "core/yield.h"
#include "core/idle_set.h"
#include "core/join.h"

#include <filch/task.h>

static bool publish_yield(struct fiber *from, void *worker)
{
    queue_push(worker, item_fiber(from));
    return true;
}

/* What the caller forked may be what it yields for, and no other worker may be there to run it. */
static bool yield_to_own(struct worker *w, struct fiber *f)
{
    return slots_peek(&f->slots) && join_run_own(w, f);
}

static inline __attribute__((always_inline)) void leave_stack(struct worker *w, struct fiber *f)
{
    EV(w, YIELD);
    if (worker_was_global(w) && slots_peek(&f->slots)) { /* in turn: others may yield for it, too */
        filch_store_relaxed(&w->tick, w->tick + 1); /* order: a hint to thieves; the fork may yield, too */
        if (yield_to_own(w, f))
            return;
    }
    bool leaves = w->guest || seat_wanted(w); /* perhaps: the loop has to decide */
    work_item it = leaves ? 0 : find_local(w);
    if (it || leaves)
        (void)run_suspend_for(w, it, publish_yield, w);
    else
        (void)yield_to_own(w, f);
}

void filch_yield(void)
{
    struct worker *w = worker_self();
    struct fiber *f = w ? w->fiber : 0;
    if (f && !yield_stays(w, f))
        leave_stack(w, f);
    else if (!f || !yield_to_own(w, f))
        os_thread_yield();
}

/* As a wait on a pinned stack does, only that there is nothing to wait for. */
static void give_worker_up(struct worker *w, struct fiber *f)
{
    while (slots_peek(&f->slots)) {
        if (!join_run_own(w, f))
            os_pause(); /* a thief is at it: it takes this one, the next may be ours */
    }
    struct away away = idle_seat_step_out(w);
    os_thread_yield();
    idle_seat_step_in(w, away);
}

void yield_somehow(void)
{
    struct worker *w = worker_self();
    struct fiber *f = w ? w->fiber : 0;
    if (!f)
        os_thread_yield();
    else if (yield_stays(w, f))
        give_worker_up(w, f);
    else
        leave_stack(w, f);
}
