#include "core/child.h"
#include "core/report.h"
#include "core/worker.h"

enum { CLAIMED_AHEAD = 64 }; /* forks that the child makes, of which the first join is to be seen */

bool child_of_task;

void child_refuse(const char *call)
{
    report_misuse(call, "in the child of a task");
}

/* Every join of what is pending, or of what the child forks anew, takes the slow way. */
static void claim_forks(struct slots *s)
{
    filch_slot *head = slots_head(s);
    filch_slot *end = s->end - head > CLAIMED_AHEAD ? head + CLAIMED_AHEAD : s->end;
    for (filch_slot *p = s->first; p < end; p++)
        filch_store_relaxed(&p->claim, s->fenced | CLAIMED); /* order: one thread */
}

void child_begin(struct worker *w)
{
    child_of_task = true;
    struct fiber *f = w ? w->fiber : 0;
    if (f) {
        claim_forks(&f->slots);
        f->pins++; /* it is missed when the task returns */
    }
    os_self_set(0);
}
