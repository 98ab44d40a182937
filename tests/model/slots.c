/* slots.c: models of the job slots (core/slots.h and the inlined half in filch/forkjoin.h). The slow
 * way of the join is played here by its essentials; core/join.c has models of its own. */
#include "mc.h"

#include "core/slots.h"

enum { SLOTS = 4 };
static filch_slot slot[SLOTS];
static struct slots slots;
static const struct lineage *lineage;
static bool stolen[SLOTS];  /* as thieves told, under the lock */

/* ---- a job: its number in the payload, its answer there when a thief ran it ------------------ */

static unsigned *payload(filch_slot *s)
{
    return (unsigned *)(void *)s->payload.bytes;
}

static void job(filch_slot *self, filch_slot *head)
{
    (void)head;
    unsigned task = *payload(self);
    mc_ran(task);
    *payload(self) = task + 100;
}

static void fork_at(filch_slot *s, unsigned task)
{
    mc_born(task);
    *payload(s) = task;
    filch_slot_publish(s, job);
}

int filch_slot_join_slow(filch_slot *s)
{
    if (!slots_claimed(s) || !slots_was_stolen(&slots, s))
        return 0;
    filch_store_relaxed(&s->fn, SLOT_HELD);
    while (filch_load_acquire(&s->state) != STATE_DONE)
        os_pause();
    slots_give_back(&slots, s);
    filch_store_relaxed(&s->fn, (slot_fn)0);
    return 1;
}

static void join_at(filch_slot *s, unsigned task)
{
    if (filch_slot_retract(s))
        mc_check(*payload(s) == task + 100);
    else
        mc_ran(task);
}

/* ---- thieves --------------------------------------------------------------------------------- */

static bool steal(const filch_slot *under)
{
    struct loot loot;
    if (slots_steal(&slots, &lineage, under, &loot) != SLOTS_TAKEN)
        return false;
    mc_check(loot.fn == job);
    loot.fn(loot.slot, 0);
    (void)filch_xchg_acq_rel(&loot.slot->state, (uintptr_t)STATE_DONE);
    return true;
}

static void thief(void *unused)
{
    (void)unused;
    steal(0);
}

static void thief_of_two(void *unused)
{
    (void)unused;
    if (steal(0))
        steal(0);
}

static void start(bool fenced)
{
    slots_init(&slots, slot, slot + SLOTS, fenced);
    for (int i = 0; fenced && i < SLOTS; i++)
        slot[i].claim = CLAIM_FENCED;
}

/* Everything is as it was: nothing claimed, nothing stolen. */
static void settled(void)
{
    mc_join_all();
    mc_check(slots.top == slot && slots.open == slot && slots.lock == 0);
    for (int i = 0; i < SLOTS; i++)
        mc_check(slot[i].fn == 0 && slot[i].claim == slots.fenced && slot[i].state == STATE_NONE);
}

/* ---- one slot -------------------------------------------------------------------------------- */

static void one_job(bool fenced)
{
    start(fenced);
    mc_thread(thief, 0);
    fork_at(slot, 0);
    join_at(slot, 0);
    settled();
}

static void slots_one_job(void)
{
    one_job(false);
}
MC_MODEL(slots_one_job, .claim = "a forked job runs once, at its owner's or at the thief's",
         .preemptions = MC_UNBOUNDED);

static void slots_one_job_fenced(void)
{
    one_job(true);
}
MC_MODEL(slots_one_job_fenced, .claim = "the same without membarrier", .no_membarrier = true,
         .preemptions = MC_UNBOUNDED, .spins = MC_ZERO);

static void slots_barrier_fails(void)
{
    mc_fails(MC_MEMBARRIER);
    one_job(false);
}
MC_MODEL(slots_barrier_fails, .claim = "a membarrier that fails costs the steal, nothing else",
         .failing = 1, .preemptions = MC_UNBOUNDED);

static void slots_used_again(void)
{
    start(false);
    mc_thread(thief, 0);
    for (unsigned task = 0; task < 2; task++) {
        fork_at(slot, task);
        join_at(slot, task);
    }
    settled();
}
MC_MODEL(slots_used_again,
         .claim = "a slot that is joined and forked again is a new job to a thief",
         .preemptions = 4, .spins = MC_ZERO);

/* ---- several slots --------------------------------------------------------------------------- */

static void forks_two(void)
{
    fork_at(slot, 0);
    fork_at(slot + 1, 1);
    join_at(slot + 1, 1);
    join_at(slot, 0);
}

static void slots_thief_opens_two(void)
{
    start(false);
    mc_thread(thief_of_two, 0);
    forks_two();
    settled();
}
MC_MODEL(slots_thief_opens_two, .claim = "one barrier opens several jobs, each is taken once",
         .preemptions = 3, .spins = MC_ZERO);

static void slots_two_thieves(void)
{
    start(false);
    mc_thread(thief, 0);
    mc_thread(thief, 0);
    forks_two();
    settled();
}
MC_MODEL(slots_two_thieves, .claim = "two thieves and the owner share two jobs", .preemptions = 2,
         .spins = MC_ZERO);

static void slots_two_thieves_fenced(void)
{
    start(true);
    mc_thread(thief, 0);
    mc_thread(thief, 0);
    forks_two();
    settled();
}
MC_MODEL(slots_two_thieves_fenced, .claim = "the same without membarrier", .no_membarrier = true,
         .preemptions = 2, .stale = 2, .spins = MC_ZERO);

/* Trap 2: the owner comes back and forks two anew while the thief is at the lower slot. */
static void oldest_only(void *unused)
{
    (void)unused;
    struct loot loot;
    if (slots_steal(&slots, &lineage, 0, &loot) != SLOTS_TAKEN)
        return;
    for (filch_slot *s = slot; s < loot.slot; s++)
        mc_check(filch_load_relaxed(&s->state) != STATE_NONE);
    loot.fn(loot.slot, 0);
    (void)filch_xchg_acq_rel(&loot.slot->state, (uintptr_t)STATE_DONE);
}

static void slots_oldest_first(void)
{
    start(false);
    mc_thread(oldest_only, 0);
    fork_at(slot, 0);
    join_at(slot, 0);
    fork_at(slot, 1);
    fork_at(slot + 1, 2);
    join_at(slot + 1, 2);
    join_at(slot, 1);
    settled();
}
MC_MODEL(slots_oldest_first, .claim = "a stolen job has only stolen jobs below it",
         .preemptions = 3);

/* ---- a fiber that waits for something else ------------------------------------------------------- */

static uint32_t list_lock; /* of the fibers that left jobs behind */
static bool exposed;

static void thief_at_rest(void *unused)
{
    (void)unused;
    struct loot loot;
    bool taken = false;
    lock_acquire(&list_lock);
    if (exposed)
        taken = slots_steal_at_rest(&slots, &lineage, &loot) == SLOTS_TAKEN;
    lock_release(&list_lock);
    if (!taken)
        return;
    loot.fn(loot.slot, 0);
    (void)filch_xchg_acq_rel(&loot.slot->state, (uintptr_t)STATE_DONE);
}

static void expose(bool on)
{
    lock_acquire(&list_lock);
    exposed = on;
    lock_release(&list_lock);
}

/* The owner forks and joins, rests, and joins what is left; one thief has the lock, one the barrier. */
static void slots_at_rest(void)
{
    start(false);
    mc_fails(MC_MEMBARRIER);
    mc_thread(thief_at_rest, 0);
    mc_thread(thief, 0);
    fork_at(slot, 0);
    expose(true);
    expose(false);
    join_at(slot, 0);
    settled();
}
MC_MODEL(slots_at_rest, .claim = "while the owner rests, its jobs are taken without a barrier",
         .failing = 1, .preemptions = 2, .stale = 2, .spins = MC_ZERO);

/* ---- lineage --------------------------------------------------------------------------------- */

static struct lineage root, child;

static void helper_of_child(void *unused)
{
    (void)unused;
    stolen[0] = steal(&slot[3]);
}

/* The owner runs a stranger's job first and a descendant's then; the helper may take the latter's. */
static void slots_only_descendants(void)
{
    start(false);
    root = (struct lineage){0};
    child = (struct lineage){.slot = &slot[3], .up = &root};
    filch_store_relaxed(&lineage, (const struct lineage *)&root);
    mc_thread(helper_of_child, 0);
    fork_at(slot, 0);
    bool taken = filch_slot_retract(slot);
    mc_check(!taken);
    mc_ran(0);
    filch_store_relaxed(&lineage, (const struct lineage *)&child);
    fork_at(slot, 1);
    join_at(slot, 1);
    filch_store_relaxed(&lineage, (const struct lineage *)&root);
    settled();
}
MC_MODEL(slots_only_descendants, .claim = "who may help one job only never takes a stranger's",
         .preemptions = 3);

/* ---- the head, and the reach of bounded tasks ------------------------------------------------ */

static void slots_reach_follows_top(void)
{
    start(false);
    mc_check(slot[SLOTS - 1].want == 1); /* more reach than slots */
    mc_thread(thief, 0);
    fork_at(slot, 0);
    mc_check(slots_head(&slots) == slot + 1);
    join_at(slot, 0);
    mc_check(slots_head(&slots) == slot);
    settled();
    for (int i = 0; i < SLOTS; i++)
        mc_check(slot[i].want == 1);
}
MC_MODEL(slots_reach_follows_top,
         .claim = "the head is found, and what is wanted follows the top", .preemptions = 3);

/* ---- edges, by one thread alone ----------------------------------------------------------------------- */

static struct loot take(const filch_slot *under, enum slots_result expected)
{
    struct loot loot = {0};
    mc_check(slots_steal(&slots, &lineage, under, &loot) == expected);
    return loot;
}

static void slots_end(void)
{
    slot[2].fn = job; /* not theirs: a guard page is there */
    slot[2].want = 7;
    slots_init(&slots, slot, slot + 2, false);
    fork_at(slot, 0);
    fork_at(slot + 1, 1);
    for (int i = 0; i < 2; i++) {
        struct loot loot = take(0, SLOTS_TAKEN);
        mc_check(loot.slot == slot + i && loot.slot->state == STATE_STOLEN);
        loot.fn(loot.slot, 0);
    }
    take(0, SLOTS_EMPTY);
    mc_check(slot[2].claim == 0 && slot[2].want == 7);
}
MC_MODEL(slots_end, .claim = "when all slots are stolen, nothing behind the last one is looked at");

static void slots_grandchildren(void)
{
    struct lineage top = {.slot = &slot[3]}, middle = {.slot = &slot[2], .up = &top};
    start(false);
    filch_store_relaxed(&lineage, (const struct lineage *)&middle);
    fork_at(slot, 0);
    take(&slot[1], SLOTS_LOST);
    struct loot loot = take(&slot[3], SLOTS_TAKEN);
    mc_check(loot.up == &middle && loot.slot->state == ((uintptr_t)&middle | STATE_STOLEN));
    loot.fn(loot.slot, 0);
}
MC_MODEL(slots_grandchildren, .claim = "a job may be taken for any job above it, and for no other");

static void slots_reach_is_exact(void)
{
    static filch_slot many[SLOTS_REACH + 4];
    slots_init(&slots, many, many + SLOTS_REACH + 4, false);
    fork_at(many, 0);
    for (unsigned stolen_jobs = 0; stolen_jobs < 2; stolen_jobs++) {
        for (unsigned i = 0; i < SLOTS_REACH + 4; i++)
            mc_check(many[i].want == (i < SLOTS_REACH + stolen_jobs));
        if (stolen_jobs == 0) {
            struct loot loot = take(0, SLOTS_TAKEN);
            loot.fn(loot.slot, 0);
        }
    }
    slots_give_back(&slots, many);
    for (unsigned i = 0; i < SLOTS_REACH + 4; i++)
        mc_check(many[i].want == (i < SLOTS_REACH));
}
MC_MODEL(slots_reach_is_exact, .claim = "bounded tasks fork so deep below the top, and no deeper");
