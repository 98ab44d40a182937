/* join.c: what a join does when the job was stolen.
 *
 * slot.state from the steal on:
 *
 *     STOLEN -----------------> DONE            thief: exchange
 *        \--> WAIT_FIBER -----> DONE            joiner: compare-and-swap, after it left its stack;
 *        \--> WAIT_THREAD ----> DONE            the thief resumes, or wakes, what it finds
 *
 * [W1] The thief's exchange releases the result; the joiner acquires it by reading DONE, or by
 *      being resumed (the exchange also acquires: what the joiner wrote before it waited is seen
 *      by the thread that resumes it).
 * [W2] gate of a sleeping thread: set after DONE; the sleeper takes it with an exchange, so that
 *      a wake-up that is late, from an earlier sleep, is not confused with DONE.
 *
 * suspend: the fiber is left, the worker goes on with a fresh loop. Everything older in the
 * fiber's slots is stolen, everything newer joined: nothing is left behind.
 *
 * help: the thread stays. It runs jobs below the one it waits for (its lineage tells), nobody
 * else's, on the same stack; then sleeps. Joins inside those help as well, because the stack is
 * pinned.
 */
#include "core/idle_set.h"
#include "core/join.h"
#include "core/report.h"

#define JOIN_SPIN 64      /* looks before a waiting join gives up its fiber */
#define JOIN_NAP_NS 50000 /* first sleep of a pinned wait */

static unsigned tag_of(uintptr_t state)
{
    return (unsigned)(state & STATE_TAG);
}

struct fiber *join_finish(filch_slot *slot)
{
    uintptr_t was = filch_xchg_acq_rel(&slot->state, (uintptr_t)STATE_DONE); /* order: [W1] */
    struct fiber *f = (struct fiber *)(was & ~(uintptr_t)STATE_TAG);
    if (tag_of(was) == STATE_WAIT_FIBER)
        return f;
    if (tag_of(was) == STATE_WAIT_THREAD) {
        filch_store_release(&f->gate, 1); /* order: [W2] */
        os_futex_wake(&f->gate, 1);
    }
    return 0;
}

static bool is_done(filch_slot *slot)
{
    return filch_load_acquire(&slot->state) == STATE_DONE; /* order: [W1] */
}

static bool mark_waiting(filch_slot *slot, struct fiber *f, uintptr_t tag)
{
    uintptr_t was = filch_load_acquire(&slot->state); /* order: [W1] DONE found here is final */
    do {
        if (was == STATE_DONE)
            return false;
    } while (!filch_cas_acq_rel(&slot->state, &was, (uintptr_t)f | tag)); /* order: [W1] */
    return true;
}

/* ---- suspend ------------------------------------------------------------------------------ */

static bool publish_join(struct fiber *from, void *slot)
{
    return mark_waiting(slot, from, STATE_WAIT_FIBER);
}

static bool spin_until_done(filch_slot *slot)
{
    for (unsigned i = 0; i < JOIN_SPIN; i++) {
        if (is_done(slot))
            return true;
        os_pause();
    }
    return false;
}

/* ---- help --------------------------------------------------------------------------------- */

static void run_here(struct worker *w, struct fiber *f, const struct found *found, filch_slot *head)
{
    EV(w, JOIN_HELP);
    struct fiber *next = run_loot(f, found, head);
    if (next) /* it cannot be entered from a pinned stack */
        run_ready(next);
}

bool join_run_own(struct worker *w, struct fiber *f)
{
    struct found found = {.what = FOUND_LOOT, .root = f->root};
    if (slots_steal_at_rest(&f->slots, &f->lineage, &found.loot) != SLOTS_TAKEN)
        return false;
    run_here(w, f, &found, slots_head(&f->slots));
    return true;
}

static void sleep_until(struct fiber *f, filch_slot *slot, int64_t deadline)
{
    while (!is_done(slot) && !filch_xchg_acq_rel(&f->gate, 0)) { /* order: [W2] */
        if (os_futex_wait(&f->gate, 0, deadline) != 0)
            return;
    }
}

/* Who sleeps does not keep a guest from the seat, nor a guest the thread that lent it: the job may wait for
 * what they are to do. Nor does a guest keep the pool from it while there is work: then it sleeps until
 * all is done. */
static bool others_need(struct worker *w)
{
    return seat_sought(w) || (w->guest && (seat_missed(w) || find_anything(w->pool, w)));
}

static void sleep_away(struct worker *w, struct fiber *f, filch_slot *slot, int64_t deadline)
{
    struct away away = idle_seat_step_out(w);
    do
        sleep_until(f, slot, away.guest ? INT64_MAX : deadline);
    while (away.guest && !is_done(slot));
    idle_seat_step_in(w, away);
}

static void help_until_done(struct worker *w, struct fiber *f, filch_slot *slot)
{
    int64_t nap = JOIN_NAP_NS;
    unsigned misses = 0;
    while (!is_done(slot)) {
        struct found found = find_descendant(w, slot, f->root);
        if (found.what != FOUND_NOTHING) {
            run_here(w, f, &found, slot + 1);
            nap = JOIN_NAP_NS;
            misses = 0;
        } else if (++misses < JOIN_SPIN) {
            os_pause();
        } else if (mark_waiting(slot, f, STATE_WAIT_THREAD)) {
            int64_t deadline = os_clock_ns() + nap;
            if (others_need(w))
                sleep_away(w, f, slot, deadline);
            else
                sleep_until(f, slot, deadline);
            nap = nap < w->pool->config.backoff_max_ns ? 2 * nap : nap;
        }
    }
}

/* ---- the entry ---------------------------------------------------------------------------- */

static void wait_suspended_or_helping(struct worker *w, struct fiber *f, filch_slot *slot)
{
    if (f->pins == 0 && w->pool->config.join == FILCH_JOIN_SUSPEND) {
        EV(w, JOIN_SUSPEND);
        if (run_suspend(w, publish_join, slot))
            return;
    }
    f->pins++;
    help_until_done(w, f, slot);
    f->pins--;
}

static void wait_stolen(struct worker *w, struct fiber *f, filch_slot *slot)
{
    EV(w, JOIN_STOLEN);
    if (spin_until_done(slot))
        return;
    const filch_slot *outer = f->joining;
    f->joining = slot; /* for the dump */
    wait_suspended_or_helping(w, f, slot);
    f->joining = outer;
}

int filch_slot_join_slow(filch_slot *slot)
{
    if (!slot)
        report_misuse("FILCH_JOIN", "null slot");
    if (!slots_claimed(slot))
        return 0;
    struct worker *w = worker_self();
    struct fiber *f = w ? w->fiber : 0;
    if (!f || slot < f->slots.first || slot >= f->slots.end)
        report_misuse("FILCH_JOIN", "called from another stack than the fork");
    if (!slots_was_stolen(&f->slots, slot))
        return 0;
    filch_store_relaxed(&slot->fn, SLOT_HELD); /* order: own word; keeps the head findable */
    wait_stolen(w, f, slot);
    slots_give_back(&f->slots, slot);
    filch_store_relaxed(&slot->fn, (slot_fn)0); /* order: own word */
    return 1;
}
