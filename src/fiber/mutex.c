/* mutex.c: a lock whose holder may wait.
 *
 * Whoever unlocks wakes one of those who wait, and that one tries again: another may have been faster.
 * Until it has tried nobody else is woken (WOKEN), so a holder that unlocks and locks in a loop does not
 * pay for a wake-up each time. A waiter that failed stands first in the list again. If by then it has
 * waited for STARVE_NS, it puts the mutex into the other mode (STARVING): there unlock hands the
 * mutex over, LOCKED as it is, to the first who waits, until one of them had not waited that long.
 *
 * | field   | writer                  | reader         | invariant                                 |
 * | state   | CAS, or by anyone       | anyone         | bits below                                |
 * | owner   | who has it              | anyone, a hint | flow_self() of the holder; 0 for a moment |
 * | waiters | holder of `lock`        | the same       | see waiters.h                             |
 *
 * WAITERS   set with `lock` held by who goes into the list, cleared so by an unlock that leaves it empty.
 *           Set only while LOCKED, by the same CAS that sees LOCKED: so who unlocks sees it, or the
 *           waiter sees the mutex free.
 * WOKEN     set by who unlocks, cleared by the one who was woken, in one CAS with taking the mutex or
 *           with seeing it LOCKED: then its holder wakes the next.
 * STARVING  set with WAITERS, cleared with it or by the holder. Never without LOCKED.
 *
 * The last access of unlock is the step that clears LOCKED (in slow unlocks the list's lock has been
 * given back before); what it has claimed is completed afterwards. So the next holder may free it.
 *
 * [U1] LOCKED is cleared with release, set with acquire: the next holder sees what this one wrote. All
 *      other changes of the word are read-modify-writes and do not end that release sequence. A mutex
 *      that is handed over: wait.h [V2].
 */
#include "fiber/mutex.h"
#include "core/budget.h"
#include "core/report.h"
#include "fiber/flow.h"
#include "fiber/waiters.h"

#include <errno.h>
#include <stddef.h>

#define STARVE_NS 1000000
#define SPINS 256     /* pauses before the last look at a mutex whose holder runs */
#define SEATS_MOST 32 /* in larger pools nobody looks whether the holder runs */

enum { LOCKED = 1, WOKEN = 2, STARVING = 4, WAITERS = 8 };
enum { HANDED = 1 }; /* why a wait ended: has it already */

/* ---- lock --------------------------------------------------------------------------------- */

static void own(filch_mutex *m)
{
    filch_store_relaxed(&m->owner, flow_self()); /* order: a hint to others, exact for the holder */
}

/* Takes it if it is free, and clears `bits` with that. */
static bool take(filch_mutex *m, uint32_t bits)
{
    uint32_t s = filch_load_relaxed(&m->state); /* order: the CAS decides */
    while (!(s & LOCKED))
        if (filch_cas_acquire(&m->state, &s, (s | LOCKED) & ~bits)) /* order: [U1] */
            return true;
    return false;
}

/* Could the holder be running at this moment, on another processor? */
static bool holder_runs(filch_mutex *m)
{
    uintptr_t owner = filch_load_relaxed(&m->owner); /* order: a hint */
    struct worker *me = worker_self();
    if (!me || owner == 0 || owner & FLOW_THREAD)
        return !me || me->pool->count > 1;
    int seats = me->pool->count;
    for (int i = 0; i < seats && i < SEATS_MOST; i++)
        if ((uintptr_t)filch_load_relaxed(&me->pool->workers[i].fiber) == owner) /* order: a hint */
            return true;
    return seats > SEATS_MOST;
}

/* Each look takes the cache line from the holder, who is about to need it: twice as long between two looks
 * each time. */
static bool spin(filch_mutex *m, uint32_t bits)
{
    if (take(m, bits))
        return true;
    if (!holder_runs(m))
        return false;
    for (unsigned pauses = SPINS / 4; pauses <= SPINS; pauses *= 2) {
        os_pause_for(pauses);
        uint32_t s = filch_load_relaxed(&m->state); /* order: a hint */
        if (s & STARVING)
            return false;
        if (!(s & LOCKED) && take(m, bits))
            return true;
    }
    return false;
}

/* Lock of the list held. Takes the mutex (true), or leaves word that there are waiters. */
static bool take_or_mark(filch_mutex *m, uint32_t bits, bool starving)
{
    uint32_t s = filch_load_relaxed(&m->state), now; /* order: the CAS decides */
    do {
        now = s & LOCKED ? s | WAITERS | (starving ? STARVING : 0u) : s | LOCKED;
    } while (!filch_cas_acquire(&m->state, &s, now & ~bits)); /* order: [U1] */
    return !(s & LOCKED);
}

/* The wait ended by itself. If the node is not in the list, somebody found it too late. */
static int give_up(filch_mutex *m, struct wait_node *n, int why)
{
    lock_acquire(&m->lock);
    if (wait_list_has(n))
        waiters_unlink(&m->waiters, n);
    lock_release(&m->lock);
    return wait_error(why);
}

/* It was handed to one who had not waited for long: the others can wait as usual. */
static void calm_down(filch_mutex *m)
{
    uint32_t s = filch_load_relaxed(&m->state); /* order: the CAS decides */
    while (!filch_cas_relaxed(&m->state, &s, s & ~(uint32_t)STARVING)) /* order: a mode only */
        ;
}

static const struct wait_subject about_lock = {"filch_mutex_lock", "mutex", WAIT_FOR_LOCK, 0,
                                               offsetof(filch_mutex, owner)};

static int lock_wait_turn(filch_mutex *m, int64_t deadline)
{
    int64_t since = 0;
    bool starving = false;
    uint32_t bits = 0; /* WOKEN, once we were */
    for (;;) {
        struct wait w;
        struct wait_node n = {.wait = &w};
        wait_begin_firm(&w);
        wait_about(&w, &about_lock, m);
        lock_acquire(&m->lock);
        bool taken = take_or_mark(m, bits, starving);
        if (!taken && bits)
            waiters_add_first(&m->waiters, &n);
        else if (!taken)
            waiters_add(&m->waiters, &n);
        lock_release(&m->lock);
        if (taken)
            return 0;
        if (!since)
            since = os_clock_ns();
        int why = wait_park(&w, deadline);
        if (why < 0)
            return give_up(m, &n, why);
        starving = os_clock_ns() - since > STARVE_NS;
        if (why == HANDED) {
            if (!starving)
                calm_down(m);
            return 0;
        }
        bits = WOKEN;
        if (spin(m, bits))
            return 0;
    }
}

__attribute__((noinline)) static int lock_slow(filch_mutex *m, int64_t deadline)
{
    if (deadline <= FILCH_NOW)
        return wait_error(WAIT_TIMEOUT);
    if (filch_load_relaxed(&m->owner) == flow_self()) /* order: nobody else writes our number */
        report_misuse("filch_mutex_lock", "the caller has it already; unlock it first");
    int rc = spin(m, 0) ? 0 : lock_wait_turn(m, deadline);
    if (rc == 0)
        own(m);
    return rc;
}

/* One step, whoever else waits or was woken: a bit that is set already stays as it is. */
static bool take_free(filch_mutex *m)
{
    return !(filch_or_acquire(&m->state, (uint32_t)LOCKED) & LOCKED); /* order: [U1] */
}

int filch_mutex_lock(filch_mutex *m, int64_t deadline)
{
    if (!m)
        report_misuse("filch_mutex_lock", "null mutex");
    if (!take_free(m))
        return lock_slow(m, deadline);
    own(m);
    return 0;
}

int filch_mutex_trylock(filch_mutex *m)
{
    if (!m)
        report_misuse("filch_mutex_trylock", "null mutex");
    if (!take_free(m)) {
        budget_spend_wait();
        return -EBUSY;
    }
    own(m);
    return 0;
}

void mutex_lock_again(filch_mutex *m)
{
    (void)filch_mutex_lock(m, FILCH_FOREVER);
}

/* ---- unlock ------------------------------------------------------------------------------- */

/* Wakes one, or hands the mutex to it. False if nobody waits any more: it is still locked. */
static bool pass_on(filch_mutex *m)
{
    struct claimed c = {0};
    lock_acquire(&m->lock);
    bool any = waiters_claim(&m->waiters, &c);
    uint32_t s = filch_load_relaxed(&m->state), now; /* order: the CAS decides */
    do {
        now = waiters_none(&m->waiters) ? s & ~(uint32_t)(WAITERS | STARVING) : s;
        now |= any && !(s & STARVING) ? WOKEN : 0u;
    } while (!filch_cas_relaxed(&m->state, &s, now)); /* order: released below, or by [V2] */
    lock_release(&m->lock);
    if (!any)
        return false;
    bool handed = s & STARVING;
    if (!handed)
        filch_sub_acq_rel(&m->state, (uint32_t)LOCKED); /* order: [U1]; last access */
    waiters_complete(&c, handed ? HANDED : WAIT_WOKEN);
    return true;
}

__attribute__((noinline)) static void unlock_slow(filch_mutex *m, uint32_t s, const char *call)
{
    for (;;) {
        if (!(s & LOCKED))
            report_misuse(call, "the mutex is not locked; lock it first");
        if ((s & WAITERS) && !(s & WOKEN)) {
            if (pass_on(m))
                return;
            s = filch_load_relaxed(&m->state); /* order: the CAS decides */
        } else if (filch_cas_release(&m->state, &s, s & ~(uint32_t)LOCKED)) { /* order: [U1]; last access */
            return;
        }
    }
}

/* Looks first: while others wait a guess would be wrong, and a CAS that fails costs as much. */
void mutex_unlock(filch_mutex *m, const char *call)
{
    filch_store_relaxed(&m->owner, (uintptr_t)0); /* order: still ours */
    uint32_t s = filch_load_relaxed(&m->state); /* order: the CAS decides */
    if (s != LOCKED || !filch_cas_release(&m->state, &s, 0u)) /* order: [U1]; last access */
        unlock_slow(m, s, call);
}

void filch_mutex_unlock(filch_mutex *m)
{
    if (!m)
        report_misuse("filch_mutex_unlock", "null mutex");
    mutex_unlock(m, "filch_mutex_unlock");
}

void filch_mutex_destroy(filch_mutex *m)
{
    if (!m || filch_load_acquire(&m->state) != 0) /* order: [U1] whoever had it is done */
        report_misuse("filch_mutex_destroy", "null mutex, or one that is locked or waited for");
}
