/* unlocked.c: what a deque without a lock loses or doubles, for each pair of push, pop and steal.
 *
 * The deque is the simplest there is: two counters and four slots. Its words are atomic, so nothing
 * here is undefined, and still each pair goes wrong. `--trace` prints how, step by step; loads
 * return no old values (but where that is the point), so these are orders of steps that any machine
 * shows. The same deque with a lock around each operation holds, for all pairs: the last model. */
#include "mc.h"

#include "core/lock.h"

enum { CAPACITY = 4, TASKS = 5, GARBAGE = 0 };

static uint64_t head, tail; /* items are in [head, tail): thieves take at head, the owner at tail */
static uint64_t slot[CAPACITY];
static uint32_t lock;
static bool locked;

static unsigned made;             /* bits */
static unsigned taken[2][TASKS];  /* by whom; task 0 is a slot that nobody wrote */

static void enter(void)
{
    if (locked)
        lock_acquire(&lock);
}

static void leave(void)
{
    if (locked)
        lock_release(&lock);
}

static void push(uint64_t task)
{
    enter();
    uint64_t t = filch_load_relaxed(&tail);
    filch_store_relaxed(&slot[t % CAPACITY], task);
    filch_store_relaxed(&tail, t + 1);
    leave();
}

static void pop(void)
{
    enter();
    uint64_t h = filch_load_relaxed(&head);
    uint64_t t = filch_load_relaxed(&tail);
    if (h < t) {
        uint64_t task = filch_load_relaxed(&slot[(t - 1) % CAPACITY]);
        filch_store_relaxed(&tail, t - 1);
        taken[mc_self()][task]++;
    }
    leave();
}

static void steal(void)
{
    enter();
    uint64_t h = filch_load_relaxed(&head);
    uint64_t t = filch_load_relaxed(&tail);
    if (h < t) {
        uint64_t task = filch_load_relaxed(&slot[h % CAPACITY]);
        filch_store_relaxed(&head, h + 1);
        taken[mc_self()][task]++;
    }
    leave();
}

/* ---- two threads, one operation each ----------------------------------------------------------- */

enum operation { PUSH, POP, STEAL };

static void operate(enum operation o, uint64_t task)
{
    static const char *const says[] = {"pushes", "pops", "steals"};
    mc_note(says[o]);
    if (o == PUSH)
        push(task);
    else if (o == POP)
        pop();
    else
        steal();
}

static enum operation second;

static void other_thread(void *unused)
{
    (void)unused;
    operate(second, 3);
}

/* So many tasks are there (1, 2) when the two begin; what they push is 3 and 4. */
static void pair(unsigned there, enum operation first, enum operation by_other)
{
    for (unsigned i = 1; i <= there; i++)
        push(i);
    second = by_other;
    mc_thread(other_thread, 0);
    operate(first, 4);
    mc_join_all();
    made = 0;
    for (unsigned i = 1; i <= there; i++)
        made |= 1u << i;
    made |= (second == PUSH ? 1u << 3 : 0) | (first == PUSH ? 1u << 4 : 0);
}

static void empty(void)
{
    mc_note("takes what is left");
    uint64_t t = filch_load_relaxed(&tail);
    for (uint64_t h = filch_load_relaxed(&head); h < t; h++)
        taken[0][filch_load_relaxed(&slot[h % CAPACITY])]++;
}

static unsigned times(unsigned task)
{
    return taken[0][task] + taken[1][task];
}

static void check_lost(void)
{
    for (unsigned i = 1; i < TASKS; i++)
        if ((made & 1u << i) && times(i) == 0)
            mc_fail("lost: task %u was pushed, and nobody got it", i);
}

static void check_doubled(void)
{
    for (unsigned i = 1; i < TASKS; i++)
        if (times(i) > 1)
            mc_fail("doubled: task %u was pushed once, and taken %u times", i, times(i));
}

static void check_garbage(void)
{
    if (times(GARBAGE) > 0)
        mc_fail("garbage: taken from a slot that was not written yet");
}

#define LOSES(id, there, first, other, words)                                                     \
    static void id(void)                                                                          \
    {                                                                                             \
        pair(there, first, other);                                                                \
        empty();                                                                                  \
        check_lost();                                                                             \
    }                                                                                             \
    MC_MODEL(id, .claim = words, .preemptions = 2, .stale = MC_ZERO, .must_say = "lost:")
#define DOUBLES(id, there, first, other, words)                                                   \
    static void id(void)                                                                          \
    {                                                                                             \
        pair(there, first, other);                                                                \
        empty();                                                                                  \
        check_doubled();                                                                          \
    }                                                                                             \
    MC_MODEL(id, .claim = words, .preemptions = 2, .stale = MC_ZERO, .must_say = "doubled:")

LOSES(unlocked_push_and_push_lose, 0, PUSH, PUSH, "two pushes into one slot: one item is lost");
LOSES(unlocked_push_and_pop_lose, 1, POP, PUSH, "a pop takes back the tail of a push: its item is lost");
DOUBLES(unlocked_push_and_pop_double, 1, PUSH, POP, "a push puts back the tail of a pop: it is doubled");
DOUBLES(unlocked_pop_and_pop_double, 1, POP, POP, "two pops take the same item");
DOUBLES(unlocked_steal_and_steal_double, 1, STEAL, STEAL, "two thieves take the same item");
DOUBLES(unlocked_pop_and_steal_double, 1, POP, STEAL, "owner and thief take the same last item");

static void unlocked_pop_and_steal_lose(void)
{
    pair(1, POP, STEAL);
    mc_note("pushes");
    push(2);
    made |= 1u << 2;
    empty();
    check_lost();
}
MC_MODEL(unlocked_pop_and_steal_lose, .stale = MC_ZERO, .must_say = "lost:",
         .claim = "after owner and thief took the same item head is beyond tail: the next push is lost");

/* In order of the steps a thief cannot be wrong here: the slot is written before the tail. But a
 * machine may show another thread the tail first. */
static void unlocked_push_and_steal_give_garbage(void)
{
    pair(0, PUSH, STEAL);
    check_garbage();
}
MC_MODEL(unlocked_push_and_steal_give_garbage, .must_say = "garbage:",
         .claim = "a thief sees the new tail and not yet the slot: it takes what nobody pushed");

static void unlocked_push_and_steal_hold_in_order(void)
{
    pair(mc_choose(2), PUSH, STEAL);
    empty();
    check_garbage();
    check_lost();
    check_doubled();
}
MC_MODEL(unlocked_push_and_steal_hold_in_order, .preemptions = 8, .stale = MC_ZERO,
         .claim = "without old values a push and a steal do not disturb each other: only this pair");

/* ---- the same with the lock -------------------------------------------------------------------- */

static void locked_every_pair_holds(void)
{
    locked = true;
    pair(mc_choose(3), (enum operation)mc_choose(3), (enum operation)mc_choose(3));
    empty();
    check_garbage();
    check_lost();
    check_doubled();
}
MC_MODEL(locked_every_pair_holds, .preemptions = 4,
         .claim = "with a lock around each operation no pair loses, doubles or invents an item");
