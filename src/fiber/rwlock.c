/* rwlock.c: readers together or one writer, in the order in which they came.
 *
 * | field   | writer           | reader   | invariant                                                |
 * | state   | CAS by anyone    | anyone   | WRITER, or the number of readers, and QUEUED             |
 * | waiters | holder of `lock` | the same | see waiters.h; node.index: what it wants                 |
 *
 * QUEUED is set and cleared with `lock` held: the list is not empty. While it is set nobody comes in
 * past the list, and nobody who is the last inside leaves but by handing over to the first in the
 * list. So with QUEUED and `lock` held the state changes only by readers who leave others behind.
 *
 * Handing over: those who come in are counted in the step that lets the last one out, so the lock is
 * never free with somebody in the list. A node whose time is up lets those behind it in, if they
 * are readers among readers.
 *
 * The last access of an unlock is the step that makes it free; or it hands over, and those who got it
 * are told after everything else. So whoever has it may free it.
 *
 * [Q1] Unlock releases, lock acquires: what was written inside. Other changes are read-modify-writes,
 *      which do not end the release sequence; readers who leave add theirs to it. Handed over: the
 *      list's lock, then wait.h [V2].
 */
#include "core/report.h"
#include "fiber/waiters.h"

#include <errno.h>

enum { WRITER = 1, QUEUED = 2, READER = 4 };

/* ---- in ----------------------------------------------------------------------------------- */

/* What it wants as a part of the state: WRITER or READER. */
static bool compatible(uint32_t s, uint32_t want)
{
    return want == WRITER ? s == 0 : !(s & WRITER);
}

/* Comes in if nobody waits. */
static bool enter(filch_rwlock *rw, uint32_t want)
{
    uint32_t s = filch_load_relaxed(&rw->state); /* order: the CAS decides */
    while (!(s & QUEUED) && compatible(s, want))
        if (filch_cas_acquire(&rw->state, &s, s + want)) /* order: [Q1] */
            return true;
    return false;
}

/* Lock of the list held. Comes in (true), or leaves word that somebody waits. */
static bool enter_or_mark(filch_rwlock *rw, uint32_t want)
{
    uint32_t s = filch_load_relaxed(&rw->state), now; /* order: the CAS decides */
    bool in;
    do {
        in = !(s & QUEUED) && compatible(s, want);
        now = in ? s + want : s | QUEUED;
    } while (!filch_cas_acquire(&rw->state, &s, now)); /* order: [Q1] */
    return in;
}

/* ---- handing over ------------------------------------------------------------------------- */

/* Lock of the list held: claims those who can come in with what is left of `held`. Returns what they
 * add to the state. */
static uint32_t claim_next(filch_rwlock *rw, uint32_t held, struct claimed *c)
{
    uint32_t more = 0;
    struct wait_node *n;
    while ((n = rw->waiters.head) && compatible(held + more, (uint32_t)n->index)) {
        uint32_t want = (uint32_t)n->index;
        if (waiters_claim_first(&rw->waiters, c))
            more += want;
    }
    return more;
}

/* Lock of the list held: the holder of `mine` leaves (0: nobody does), others come in. What nobody got
 * stays with it. Returns what came in. */
static uint32_t hand_over(filch_rwlock *rw, uint32_t mine, struct claimed *c)
{
    uint32_t s = filch_load_relaxed(&rw->state), now; /* order: changes little, see above */
    if (!(s & QUEUED))
        return 0;
    uint32_t more = claim_next(rw, (s & ~(uint32_t)QUEUED) - mine, c);
    do {
        now = more ? s + more - mine : s;
        now = waiters_none(&rw->waiters) ? now & ~(uint32_t)QUEUED : now;
    } while (!filch_cas_acq_rel(&rw->state, &s, now)); /* order: [Q1] for readers who come later */
    return more;
}

/* The last one inside leaves, others wait. False if they do not any more, or it is not the last. */
static bool leave_to_next(filch_rwlock *rw, uint32_t mine)
{
    struct claimed c = {0};
    lock_acquire(&rw->lock);
    uint32_t s = filch_load_relaxed(&rw->state); /* order: changes little, see above */
    bool left = (s & ~(uint32_t)QUEUED) == mine && hand_over(rw, mine, &c) != 0;
    lock_release(&rw->lock);
    waiters_complete(&c, WAIT_WOKEN);
    return left;
}

static void leave(filch_rwlock *rw, uint32_t mine, const char *call)
{
    uint32_t s = filch_load_relaxed(&rw->state); /* order: the CAS decides */
    for (;;) {
        if (mine == WRITER ? !(s & WRITER) : s < READER)
            report_misuse(call, "it is not locked so; lock it first");
        if (s == (mine | QUEUED)) {
            if (leave_to_next(rw, mine))
                return;
            s = filch_load_relaxed(&rw->state); /* order: the CAS decides */
        } else if (filch_cas_release(&rw->state, &s, s - mine)) { /* order: [Q1]; last access */
            return;
        }
    }
}

/* ---- waiting ------------------------------------------------------------------------------ */

static int give_up(filch_rwlock *rw, struct wait_node *n, int why)
{
    struct claimed c = {0};
    lock_acquire(&rw->lock);
    if (wait_list_has(n)) {
        waiters_unlink(&rw->waiters, n);
        (void)hand_over(rw, 0, &c); /* readers behind a writer that gave up */
    }
    lock_release(&rw->lock);
    waiters_complete(&c, WAIT_WOKEN);
    return wait_error(why);
}

static const struct wait_subject about_read = {"filch_rwlock_read_lock", "rwlock", WAIT_FOR_LOCK, 0, 0};
static const struct wait_subject about_write = {"filch_rwlock_write_lock", "rwlock", WAIT_FOR_LOCK, 0, 0};

static int lock_wait_turn(filch_rwlock *rw, uint32_t want, int64_t deadline)
{
    struct wait w;
    struct wait_node n = {.wait = &w, .index = (int32_t)want};
    wait_begin_firm(&w);
    wait_about(&w, want == WRITER ? &about_write : &about_read, rw);
    lock_acquire(&rw->lock);
    bool in = enter_or_mark(rw, want);
    if (!in)
        waiters_add(&rw->waiters, &n);
    lock_release(&rw->lock);
    int why = in ? WAIT_WOKEN : wait_park(&w, deadline);
    return why < 0 ? give_up(rw, &n, why) : 0;
}

static int lock_as(filch_rwlock *rw, uint32_t want, int64_t deadline, const char *call)
{
    if (!rw)
        report_misuse(call, "null rwlock");
    if (enter(rw, want))
        return 0;
    return deadline <= FILCH_NOW ? wait_error(WAIT_TIMEOUT) : lock_wait_turn(rw, want, deadline);
}

/* ---- the public face ---------------------------------------------------------------------- */

int filch_rwlock_read_lock(filch_rwlock *rw, int64_t deadline)
{
    return lock_as(rw, READER, deadline, "filch_rwlock_read_lock");
}

int filch_rwlock_write_lock(filch_rwlock *rw, int64_t deadline)
{
    return lock_as(rw, WRITER, deadline, "filch_rwlock_write_lock");
}

void filch_rwlock_read_unlock(filch_rwlock *rw)
{
    if (!rw)
        report_misuse("filch_rwlock_read_unlock", "null rwlock");
    leave(rw, READER, "filch_rwlock_read_unlock");
}

void filch_rwlock_write_unlock(filch_rwlock *rw)
{
    if (!rw)
        report_misuse("filch_rwlock_write_unlock", "null rwlock");
    leave(rw, WRITER, "filch_rwlock_write_unlock");
}

void filch_rwlock_destroy(filch_rwlock *rw)
{
    if (!rw || filch_load_acquire(&rw->state) != 0) /* order: [Q1] whoever had it is done */
        report_misuse("filch_rwlock_destroy", "null rwlock, or one that is locked or waited for");
}
