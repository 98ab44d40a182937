/* cond.c: to wait for a change of what a mutex guards.
 *
 * | field   | writer, reader   | invariant                                                          |
 * | lock    | core/lock.h      |                                                                    |
 * | waiters | holder of `lock` | who waits and was not signalled (waiters.h)                        |
 *
 * A waiter is in the list before it unlocks the mutex: whoever changes something with the mutex locked,
 * and signals then or later, finds it. A signal that finds a wait already over (its time was up) goes to
 * the next one, so it is not lost.
 */
#include "core/report.h"
#include "fiber/mutex.h"
#include "fiber/waiters.h"

#include <errno.h>

static void check_cond(const filch_cond *c, const char *call)
{
    if (!c)
        report_misuse(call, "null condition");
}

/* Time was up: out of the list, if no signal took it out in vain. */
static void leave(filch_cond *c, struct wait_node *n)
{
    lock_acquire(&c->lock);
    if (wait_list_has(n))
        waiters_unlink(&c->waiters, n);
    lock_release(&c->lock);
}

static const struct wait_subject about = {.call = "filch_cond_wait", .noun = "condition"};

int filch_cond_wait(filch_cond *c, filch_mutex *m, int64_t deadline)
{
    check_cond(c, "filch_cond_wait");
    if (!m || !filch_load_relaxed(&m->state)) /* order: the caller's own, it has it */
        report_misuse("filch_cond_wait", "null mutex, or one that is not locked; lock it first");
    struct wait w;
    struct wait_node n = {.wait = &w};
    wait_begin(&w);
    wait_about(&w, &about, c);
    lock_acquire(&c->lock);
    waiters_add(&c->waiters, &n);
    lock_release(&c->lock);
    mutex_unlock(m, "filch_cond_wait");
    int why = wait_park(&w, deadline);
    int rc = 0;
    if (why < 0) {
        leave(c, &n);
        rc = wait_error(why); /* others run now and then, while the mutex is free */
    }
    mutex_lock_again(m);
    return rc;
}

void filch_cond_signal(filch_cond *c)
{
    struct claimed claimed = {0};
    check_cond(c, "filch_cond_signal");
    lock_acquire(&c->lock);
    (void)waiters_claim(&c->waiters, &claimed);
    lock_release(&c->lock);
    waiters_complete(&claimed, WAIT_WOKEN);
}

void filch_cond_broadcast(filch_cond *c)
{
    struct claimed claimed = {0};
    check_cond(c, "filch_cond_broadcast");
    lock_acquire(&c->lock);
    while (waiters_claim(&c->waiters, &claimed))
        ;
    lock_release(&c->lock);
    waiters_complete(&claimed, WAIT_WOKEN);
}

void filch_cond_destroy(filch_cond *c)
{
    check_cond(c, "filch_cond_destroy");
    lock_acquire(&c->lock);
    bool used = !waiters_none(&c->waiters);
    lock_release(&c->lock);
    if (used)
        report_misuse("filch_cond_destroy", "somebody waits for it");
}
