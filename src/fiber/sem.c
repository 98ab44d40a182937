/* sem.c: permits, in the order in which they were asked for.
 *
 * | field   | writer           | reader   | invariant                                                |
 * | state   | CAS by anyone    | anyone   | permits * PERMIT; or QUEUED, and none                    |
 * | waiters | holder of `lock` | the same | see waiters.h                                            |
 *
 * QUEUED is set and cleared with `lock` held: the list is not empty. It is set by the CAS that sees that
 * there is no permit, and a release that sees it hands its permits to the list instead: so there are
 * never both. What a release has left over it adds as everyone does, in its last access.
 *
 * [J1] A release's CAS releases, an acquire's acquires: what was written before. Through the list: its
 *      lock, then wait.h [V2].
 */
#include "core/report.h"
#include "fiber/waiters.h"

#include <errno.h>

enum { QUEUED = 1, PERMIT = 2 };

static bool take(filch_sem *s)
{
    uint32_t was = filch_load_relaxed(&s->state); /* order: the CAS decides */
    while (was >= PERMIT)
        if (filch_cas_acquire(&s->state, &was, was - PERMIT)) /* order: [J1] */
            return true;
    return false;
}

/* Lock of the list held. Takes one (true), or leaves word that somebody waits. */
static bool take_or_mark(filch_sem *s)
{
    uint32_t was = filch_load_relaxed(&s->state), now; /* order: the CAS decides */
    do {
        now = was >= PERMIT ? was - PERMIT : QUEUED;
    } while (!filch_cas_acquire(&s->state, &was, now)); /* order: [J1] */
    return was >= PERMIT;
}

/* Lock of the list held, and QUEUED: then nobody else changes the word. */
static void clear_if_none(filch_sem *s)
{
    if (waiters_none(&s->waiters))
        filch_store_relaxed(&s->state, 0u); /* order: nothing to see; later ones add to it */
}

static int give_up(filch_sem *s, struct wait_node *n, int why)
{
    lock_acquire(&s->lock);
    if (wait_list_has(n)) {
        waiters_unlink(&s->waiters, n);
        clear_if_none(s);
    }
    lock_release(&s->lock);
    return wait_error(why);
}

static const struct wait_subject about = {.call = "filch_sem_acquire", .noun = "semaphore"};

static int wait_turn(filch_sem *s, int64_t deadline)
{
    struct wait w;
    struct wait_node n = {.wait = &w};
    wait_begin(&w);
    wait_about(&w, &about, s);
    lock_acquire(&s->lock);
    bool taken = take_or_mark(s);
    if (!taken)
        waiters_add(&s->waiters, &n);
    lock_release(&s->lock);
    int why = taken ? WAIT_WOKEN : wait_park(&w, deadline);
    return why < 0 ? give_up(s, &n, why) : 0;
}

/* Gives permits to those who wait; returns how many are left. */
static unsigned give_to_list(filch_sem *s, unsigned n)
{
    struct claimed c = {0};
    lock_acquire(&s->lock);
    bool queued = filch_load_relaxed(&s->state) == QUEUED; /* order: the lock */
    while (queued && n > 0 && waiters_claim(&s->waiters, &c))
        n--;
    if (queued)
        clear_if_none(s);
    lock_release(&s->lock);
    waiters_complete(&c, WAIT_WOKEN);
    return n;
}

/* ---- the public face ---------------------------------------------------------------------- */

static void check_sem(const filch_sem *s, const char *call)
{
    if (!s)
        report_misuse(call, "null semaphore");
}

void filch_sem_init(filch_sem *s, unsigned permits)
{
    check_sem(s, "filch_sem_init");
    if (permits > FILCH_SEM_MAX)
        report_misuse("filch_sem_init", "more permits than FILCH_SEM_MAX");
    *s = (filch_sem){.state = permits * PERMIT};
}

int filch_sem_acquire(filch_sem *s, int64_t deadline)
{
    check_sem(s, "filch_sem_acquire");
    if (take(s))
        return 0;
    return deadline <= FILCH_NOW ? wait_error(WAIT_TIMEOUT) : wait_turn(s, deadline);
}

void filch_sem_release(filch_sem *s, unsigned n)
{
    check_sem(s, "filch_sem_release");
    while (n > 0) {
        uint32_t was = filch_load_relaxed(&s->state); /* order: the CAS decides */
        if (n > FILCH_SEM_MAX || was / PERMIT > FILCH_SEM_MAX - n)
            report_misuse("filch_sem_release", "more permits than FILCH_SEM_MAX");
        if (was == QUEUED)
            n = give_to_list(s, n);
        else if (filch_cas_release(&s->state, &was, was + n * PERMIT)) /* order: [J1]; last access */
            n = 0;
    }
}

void filch_sem_destroy(filch_sem *s)
{
    check_sem(s, "filch_sem_destroy");
    if (filch_load_acquire(&s->state) == QUEUED) /* order: [J1] others are done with it */
        report_misuse("filch_sem_destroy", "somebody waits for it");
}
