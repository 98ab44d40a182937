/* ring.c: models of the bounded ring (core/ring.h), capacity 2 to 4, counters near their wrap. */
#include "mc.h"

#include "core/ring.h"

static struct ring ring, other;
static uintptr_t slots[4], other_slots[4];

/* An item is a task with plain contents, written by whoever pushes it. */
static unsigned contents[MC_TASKS];

static uintptr_t item(unsigned task)
{
    contents[task] = task + 100;
    mc_born(task);
    return task + 1;
}

static void run(uintptr_t it)
{
    unsigned task = (unsigned)it - 1;
    mc_check(task < MC_TASKS && contents[task] == task + 100);
    mc_ran(task);
}

static void pop_all(struct ring *r)
{
    uintptr_t it;
    while (ring_pop(r, &it))
        run(it);
}

static void start(unsigned capacity, uint64_t counter)
{
    ring_init(&ring, slots, capacity, counter);
    ring_init(&other, other_slots, capacity, counter);
}

/* ---- thieves --------------------------------------------------------------------------------- */

static void thief_of_half(void *unused)
{
    (void)unused;
    uintptr_t first;
    if (ring_steal(&ring, &other, FILCH_STEAL_HALF, &first) > 0)
        run(first);
    pop_all(&other);
}

static void thief_of_one(void *unused)
{
    (void)unused;
    uintptr_t first;
    if (ring_steal(&ring, 0, FILCH_STEAL_ONE, &first) > 0)
        run(first);
}

static void ring_pop_against_half(void)
{
    start(4, UINT64_MAX - 1);
    for (unsigned i = 0; i < 3; i++)
        mc_check(ring_push(&ring, item(i)));
    mc_thread(thief_of_half, 0);
    pop_all(&ring);
    mc_join_all();
}
MC_MODEL(ring_pop_against_half, .claim = "owner and thief of half share three items, across the wrap",
         .preemptions = MC_UNBOUNDED);

static void ring_push_while_stolen(void)
{
    start(2, UINT64_MAX);
    mc_late(slots, sizeof slots);
    ring_push(&ring, item(0));
    ring_push(&ring, item(1));
    mc_thread(thief_of_one, 0);
    if (ring_push(&ring, item(2))) /* only where the thief has been: its slot is used again */
        pop_all(&ring);
    else
        run(3), pop_all(&ring);
    mc_join_all();
}
MC_MODEL(ring_push_while_stolen, .claim = "a slot is not overwritten before the thief has read it",
         .preemptions = MC_UNBOUNDED);
