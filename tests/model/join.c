/* join.c: models of the join of a stolen job (core/join.c): the states of a slot, suspended and
 * sleeping waiters. The switch of fibers is played: a suspended flow sleeps until it is resumed. The
 * real one is in pool.c. */
#include "mc.h"

#include "core/idle_set.h"
#include "core/join.h"

enum { SLOTS = 3 };
static filch_slot slot[SLOTS];
static filch_pool pool;
static struct idle_set idle;
static struct worker joiner, second;
static struct fiber fiber, fiber2;
static uint32_t resumed[2];   /* gate of the flow that is suspended */
static uint32_t left[2];      /* it has left its stack              */
static uint32_t helps;        /* a pinned wait takes what fiber2 forked */

/* ---- played: the rest of the core ------------------------------------------------------------ */

static void resume(struct fiber *f)
{
    int i = f == &fiber2;
    mc_check(i || f == &fiber);
    mc_check(left[i]); /* nobody enters a stack that is in use */
    filch_store_release(&resumed[i], 1);
    os_futex_wake(&resumed[i], 1);
}

bool run_suspend(struct worker *w, bool (*publish)(struct fiber *from, void *arg), void *arg)
{
    int i = w->fiber == &fiber2;
    left[i] = true;
    if (publish(w->fiber, arg)) {
        while (!filch_load_acquire(&resumed[i]))
            (void)os_futex_wait(&resumed[i], 0, INT64_MAX);
        resumed[i] = 0;
    }
    left[i] = false;
    return true;
}

void run_ready_from(struct worker *me, struct fiber *f)
{
    (void)me;
    resume(f);
}

struct fiber *run_loot(struct fiber *f, const struct found *found, filch_slot *head)
{
    (void)f;
    found->loot.fn(found->loot.slot, head);
    return join_finish(found->loot.slot);
}

struct found find_descendant(struct worker *w, const filch_slot *under, const struct root *root)
{
    (void)w, (void)under, (void)root;
    struct found found = {0};
    if (helps && slots_steal(&fiber2.slots, &fiber2.lineage, 0, &found.loot) == SLOTS_TAKEN)
        found.what = FOUND_LOOT;
    return found;
}

bool find_anything(filch_pool *p, struct worker *w)
{
    (void)p, (void)w;
    return false;
}

struct away idle_seat_step_out(struct worker *w)
{
    return (struct away){w->body, w->fiber, w->guest};
}

void idle_seat_step_in(struct worker *w, struct away away)
{
    (void)w, (void)away;
}

/* ---- a job with a plain result --------------------------------------------------------------- */

static unsigned *payload(filch_slot *s)
{
    return (unsigned *)(void *)s->payload.bytes;
}

static void job(filch_slot *self, filch_slot *head)
{
    (void)head;
    mc_ran(*payload(self));
    *payload(self) += 100;
}

static void fork_at(filch_slot *s, unsigned task)
{
    mc_born(task);
    *payload(s) = task;
    filch_slot_publish(s, job);
}

static void join_at(filch_slot *s, unsigned task)
{
    if (filch_slot_retract(s))
        mc_check(*payload(s) == task + 100);
    else
        mc_ran(task);
    *payload(s) = 0; /* the slot is the owner's again: nobody touches it */
}

static void thief(void *unused)
{
    (void)unused;
    struct found found = {.what = FOUND_LOOT};
    if (slots_steal(&fiber.slots, &fiber.lineage, 0, &found.loot) != SLOTS_TAKEN)
        return;
    struct fiber *next = run_loot(0, &found, 0);
    if (next)
        resume(next);
}

static void start(bool fenced, enum filch_join_policy policy)
{
    pool.idle = &idle;
    pool.config.join = policy;
    pool.config.backoff_max_ns = 1000000;
    joiner.pool = &pool;
    joiner.fiber = &fiber;
    slots_init(&fiber.slots, slot, slot + SLOTS, fenced);
    for (int i = 0; fenced && i < SLOTS; i++)
        slot[i].claim = CLAIM_FENCED;
    os_self_set(&joiner);
}

static void one_job(bool fenced, enum filch_join_policy policy)
{
    start(fenced, policy);
    mc_thread(thief, 0);
    fork_at(slot, 0);
    join_at(slot, 0);
    mc_join_all();
}

/* ---- models ---------------------------------------------------------------------------------- */

static void join_suspends(void)
{
    one_job(false, FILCH_JOIN_SUSPEND);
}
MC_MODEL(join_suspends,
         .claim = "a suspended join is resumed once, after it left its stack, and sees the result",
         .preemptions = 4);

static void join_suspends_fenced(void)
{
    one_job(true, FILCH_JOIN_SUSPEND);
}
MC_MODEL(join_suspends_fenced, .claim = "the same without membarrier", .no_membarrier = true,
         .preemptions = 3);

static void join_sleeps(void)
{
    one_job(false, FILCH_JOIN_HELP);
}
MC_MODEL(join_sleeps,
         .claim = "a pinned join sleeps until the job is done, and no wake-up is lost",
         .preemptions = 4, .spins = 2);

static void join_sleeps_twice(void)
{
    start(false, FILCH_JOIN_HELP);
    mc_thread(thief, 0);
    mc_thread(thief, 0);
    fork_at(slot, 0);
    join_at(slot, 0);
    fork_at(slot, 1);
    join_at(slot, 1);
    mc_join_all();
}
MC_MODEL(join_sleeps_twice,
         .claim = "a late wake-up of an earlier join is not taken for this one's end",
         .preemptions = 2, .stale = 2, .spins = 4);

static void join_in_a_row(void)
{
    start(false, FILCH_JOIN_SUSPEND);
    mc_thread(thief, 0);
    mc_thread(thief, 0);
    fork_at(slot, 0);
    fork_at(slot + 1, 1);
    join_at(slot + 1, 1);
    join_at(slot, 0);
    mc_join_all();
}
MC_MODEL(join_in_a_row, .claim = "two stolen jobs are joined in reverse, each once",
         .preemptions = 2, .stale = 2);

/* ---- a pinned wait that helps ----------------------------------------------------------------------- */

static filch_slot inner[1];

/* Stolen, it forks and joins in turn, on a fiber that may be suspended. */
static void parent_job(filch_slot *self, filch_slot *head)
{
    os_self_set(&second);
    fork_at(inner, 1);
    join_at(inner, 1);
    job(self, head);
}

static void join_helper_resumes(void)
{
    start(false, FILCH_JOIN_SUSPEND);
    slots_init(&fiber2.slots, inner, inner + 1, false);
    second.pool = &pool;
    second.fiber = &fiber2;
    fiber.pins = 1;
    helps = true;
    mc_thread(thief, 0);
    mc_born(0);
    *payload(slot) = 0;
    filch_slot_publish(slot, parent_job);
    if (filch_slot_retract(slot))
        mc_check(*payload(slot) == 100);
    else
        mc_ran(0);
    mc_join_all();
}
MC_MODEL(join_helper_resumes,
         .claim = "a pinned join that runs what its job forked resumes the fiber that waits for it",
         .preemptions = 3, .stale = MC_ZERO, .spins = 2, .spurious = MC_ZERO);
