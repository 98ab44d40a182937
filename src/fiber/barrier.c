/* barrier.c: opens when so many have come.
 *
 * | field   | writer, reader   | invariant                                                          |
 * | count   | _init            | how many it takes                                                  |
 * | arrived | holder of `lock` | how many are in the list                                           |
 * | waiters | the same         | see waiters.h                                                      |
 *
 * The last one takes everyone out of the list. One whose time was up at that moment does not find
 * itself in the list any more: it has come, like the others. What each wrote before is seen by all
 * after: the lock, then wait.h [V2].
 */
#include "core/report.h"
#include "fiber/waiters.h"

static void check_barrier(const filch_barrier *b, const char *call)
{
    if (!b || b->count == 0)
        report_misuse(call, "not a barrier; use filch_barrier_init");
}

void filch_barrier_init(filch_barrier *b, unsigned count)
{
    if (!b || count == 0)
        report_misuse("filch_barrier_init", "null barrier, or for nobody");
    *b = (filch_barrier){.count = count};
}

/* Lock held. */
static void open_for_all(filch_barrier *b, struct claimed *c)
{
    b->arrived = 0;
    while (waiters_claim(&b->waiters, c))
        ;
}

static int give_up(filch_barrier *b, struct wait_node *n, int why)
{
    lock_acquire(&b->lock);
    bool alone = wait_list_has(n);
    if (alone) {
        waiters_unlink(&b->waiters, n);
        b->arrived--;
    }
    lock_release(&b->lock);
    return alone ? wait_error(why) : 0;
}

static const struct wait_subject about = {.call = "filch_barrier_wait", .noun = "barrier"};

int filch_barrier_wait(filch_barrier *b, int64_t deadline)
{
    check_barrier(b, "filch_barrier_wait");
    struct claimed c = {0};
    struct wait w;
    struct wait_node n = {.wait = &w};
    wait_begin(&w);
    wait_about(&w, &about, b);
    lock_acquire(&b->lock);
    bool last = b->arrived + 1 == b->count, comes = !last && deadline > FILCH_NOW;
    if (last)
        open_for_all(b, &c);
    if (comes) {
        waiters_add(&b->waiters, &n);
        b->arrived++;
    }
    lock_release(&b->lock);
    waiters_complete(&c, WAIT_WOKEN);
    if (!comes)
        return last ? 1 : wait_error(WAIT_TIMEOUT);
    int why = wait_park(&w, deadline);
    return why < 0 ? give_up(b, &n, why) : 0;
}

void filch_barrier_destroy(filch_barrier *b)
{
    check_barrier(b, "filch_barrier_destroy");
    lock_acquire(&b->lock);
    bool used = b->arrived > 0;
    lock_release(&b->lock);
    if (used)
        report_misuse("filch_barrier_destroy", "somebody waits at it");
}
