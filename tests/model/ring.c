/* ring.c: models of the bounded ring (core/ring.h), capacity 2 to 4, counters near their wrap. */
#include "items.h"

#include "core/ring.h"

static struct ring ring, other;
static uintptr_t slots[4], other_slots[4];

static void start(unsigned capacity, uint64_t counter)
{
    ring_init(&ring, slots, capacity, counter);
    ring_init(&other, other_slots, capacity, counter);
}

static void push(unsigned task)
{
    mc_check(ring_push(&ring, item(task)));
}

/* What does not fit is run at once. */
static void push_or_run(unsigned task)
{
    uintptr_t it = item(task);
    if (!ring_push(&ring, it))
        run(it);
}

static void pop_all(struct ring *r)
{
    uintptr_t it;
    while (ring_pop(r, &it))
        run(it);
}

static int steal(struct ring *thief, enum filch_steal how)
{
    uintptr_t first;
    int n = ring_steal(&ring, thief, how, &first);
    if (n > 0)
        run(first);
    return n;
}

/* ---- thieves --------------------------------------------------------------------------------- */

static void thief_of_half(void *unused)
{
    (void)unused;
    steal(&other, FILCH_STEAL_HALF);
    pop_all(&other);
}

static void thief_of_one(void *unused)
{
    (void)unused;
    steal(0, FILCH_STEAL_ONE);
}

static void thief_of_two_one_by_one(void *unused)
{
    thief_of_one(unused);
    thief_of_one(unused);
}

/* ---- owner and thief ------------------------------------------------------------------------- */

static void ring_pop_against_half(void)
{
    start(4, UINT64_MAX - 1);
    for (unsigned i = 0; i < 3; i++)
        push(i);
    mc_thread(thief_of_half, 0);
    pop_all(&ring);
    mc_join_all();
}
MC_MODEL(ring_pop_against_half, .claim = "owner and thief of half share three items, across the wrap",
         .preemptions = MC_UNBOUNDED);

static void ring_last_item_has_one_taker(void)
{
    start(2, UINT64_MAX);
    mc_thread(thief_of_one, 0);
    push(0);
    pop_all(&ring);
    mc_join_all();
}
MC_MODEL(ring_last_item_has_one_taker, .claim = "the last item goes to the owner or to the thief",
         .preemptions = MC_UNBOUNDED);

static void ring_push_publishes_contents(void)
{
    start(2, UINT64_MAX);
    mc_thread(thief_of_two_one_by_one, 0);
    push(0);
    push(1);
    mc_join_all();
    pop_all(&ring);
}
MC_MODEL(ring_push_publishes_contents, .claim = "a thief sees what was written before the push",
         .preemptions = MC_UNBOUNDED);

static void ring_push_while_stolen(void)
{
    start(2, UINT64_MAX);
    mc_late(slots, sizeof slots);
    mc_late(&ring.head, sizeof ring.head);
    push(0);
    push(1);
    mc_thread(thief_of_one, 0);
    push_or_run(2); /* fits only where the thief has been: its slot is used again */
    pop_all(&ring);
    mc_join_all();
}
MC_MODEL(ring_push_while_stolen, .claim = "a slot is not overwritten before the thief has read it",
         .preemptions = MC_UNBOUNDED);

static void ring_owner_wraps_while_stolen(void)
{
    start(2, UINT64_MAX - 1);
    uintptr_t it;
    push(0);
    push(1);
    mc_thread(thief_of_two_one_by_one, 0);
    for (unsigned i = 2; i < 4; i++) {
        if (ring_pop(&ring, &it))
            run(it);
        push(i); /* the owner popped, or found it empty: there is room */
    }
    pop_all(&ring);
    mc_join_all();
}
MC_MODEL(ring_owner_wraps_while_stolen,
         .claim = "a thief that slept while the owner went round the ring takes nothing that is gone",
         .preemptions = MC_UNBOUNDED);

static uintptr_t three[3];

static void ring_push_many_is_published_whole(void)
{
    start(2, UINT64_MAX);
    mc_thread(thief_of_half, 0);
    for (unsigned i = 0; i < 3; i++)
        three[i] = item(i);
    mc_check(ring_push_many(&ring, three, 3) == 2); /* as many as fit */
    run(three[2]);
    mc_join_all();
    pop_all(&ring);
}
MC_MODEL(ring_push_many_is_published_whole, .claim = "push_many fills the ring, and a thief sees all of it",
         .preemptions = MC_UNBOUNDED);

static void ring_overflow_against_thief(void)
{
    uintptr_t out[2] = {0, 0};
    start(4, UINT64_MAX - 2);
    for (unsigned i = 0; i < 4; i++)
        push(i);
    mc_thread(thief_of_half, 0);
    uint32_t n = ring_push_batch_out(&ring, out, 2);
    for (uint32_t i = 0; i < n; i++) {
        mc_check(out[i] == out[0] + i);
        run(out[i]);
    }
    push(4); /* half went out, or the thief was faster */
    pop_all(&ring);
    mc_join_all();
}
MC_MODEL(ring_overflow_against_thief,
         .claim = "what the owner takes out of a full ring is not stolen as well; then there is room",
         .preemptions = MC_UNBOUNDED);

/* ---- several thieves ------------------------------------------------------------------------- */

static void ring_two_thieves_share(void)
{
    start(4, UINT64_MAX - 1);
    for (unsigned i = 0; i < 3; i++)
        push(i);
    mc_thread(thief_of_half, 0);
    mc_thread(thief_of_one, 0);
    pop_all(&ring);
    mc_join_all();
}
MC_MODEL(ring_two_thieves_share, .claim = "two thieves and the owner share three items",
         .preemptions = MC_UNBOUNDED);

static void thief_of_the_thief(void *unused)
{
    (void)unused;
    uintptr_t first;
    if (ring_steal(&other, 0, FILCH_STEAL_ONE, &first) > 0)
        run(first);
}

static void ring_stolen_is_stolen_again(void)
{
    start(4, UINT64_MAX - 1);
    mc_thread(thief_of_half, 0);
    mc_thread(thief_of_the_thief, 0);
    for (unsigned i = 0; i < 3; i++)
        three[i] = item(i);
    ring_push_many(&ring, three, 3);
    mc_join_all();
    pop_all(&ring);
}
MC_MODEL(ring_stolen_is_stolen_again,
         .claim = "what a thief puts into its ring is whole for a thief of the thief",
         .preemptions = MC_UNBOUNDED);

/* ---- how much -------------------------------------------------------------------------------- */

/* The thief's ring holds items of its own: tasks 8 and on. */
static void thief_with_little_room(void *arg)
{
    unsigned own = *(unsigned *)arg;
    for (unsigned i = 0; i < own; i++)
        mc_check(ring_push(&other, item(8 + i)));
    int n = steal(&other, FILCH_STEAL_ALL);
    mc_check(n == RING_LOST || n == (int)(2 - own) + 1); /* at least three are there */
    uintptr_t it = 0;
    for (unsigned i = 0; i < own; i++) { /* first its own, not overwritten */
        mc_check(ring_pop(&other, &it) && task_of(it) == 8 + i);
        run(it);
    }
    pop_all(&other);
}

static unsigned own_items;

static void ring_thief_takes_what_fits(void)
{
    start(4, UINT64_MAX - 1);
    ring_init(&other, other_slots, 2, UINT64_MAX);
    for (unsigned i = 0; i < 4; i++)
        push(i);
    own_items = mc_choose(3);
    mc_thread(thief_with_little_room, &own_items);
    uintptr_t it;
    if (ring_pop(&ring, &it))
        run(it);
    mc_join_all();
    pop_all(&ring);
}
MC_MODEL(ring_thief_takes_what_fits, .claim = "a thief takes no more than its ring has room for, and one",
         .preemptions = MC_UNBOUNDED);

/* Nobody interferes: the share is exact. */
static void ring_share_is_exact(void)
{
    static const unsigned share[][5] = {
        [FILCH_STEAL_HALF] = {0, 1, 1, 2, 2},    [FILCH_STEAL_ONE] = {0, 1, 1, 1, 1},
        [FILCH_STEAL_QUARTER] = {0, 1, 1, 1, 1}, [FILCH_STEAL_THREE] = {0, 1, 2, 3, 3},
        [FILCH_STEAL_ALL] = {0, 1, 2, 3, 4},     [FILCH_STEAL_FLOOR] = {0, 0, 1, 1, 2},
    };
    unsigned n = mc_choose(5), how = mc_choose(6);
    start(4, UINT64_MAX - mc_choose(5));
    for (unsigned i = 0; i < n; i++)
        push(i);
    mc_check(steal(&other, (enum filch_steal)how) == (int)share[how][n]);
    mc_check(ring_size(&ring) == n - share[how][n]);
    unsigned next = share[how][n] ? 1 : 0; /* the oldest was the first */
    for (uintptr_t it; ring_pop(&other, &it); run(it))
        mc_check(task_of(it) == next++);
    for (uintptr_t it; ring_pop(&ring, &it); run(it))
        mc_check(task_of(it) == next++);
}
MC_MODEL(ring_share_is_exact, .claim = "a thief alone gets the share that the policy says, oldest first",
         .preemptions = MC_UNBOUNDED);

static void ring_holds_its_capacity(void)
{
    uint32_t capacity = 2u << mc_choose(2);
    uintptr_t it = 0;
    start(capacity, UINT64_MAX - mc_choose(5));
    for (unsigned round = 0; round < 3; round++) {
        mc_check(!ring_pop(&ring, &it) && ring_room(&ring) == capacity);
        for (unsigned i = 0; i < capacity; i++)
            push(4 * round + i);
        mc_check(!ring_push(&ring, 1) && ring_size(&ring) == capacity && ring_room(&ring) == 0);
        mc_check(ring_push_many(&ring, three, 3) == 0);
        uint32_t n = ring_push_batch_out(&ring, three, capacity == 2 ? 2 : 1);
        mc_check(n == 1 && ring_room(&ring) == 1);
        run(three[0]);
        for (unsigned i = 1; i < capacity; i++) {
            mc_check(ring_pop(&ring, &it) && task_of(it) == 4 * round + i);
            run(it);
        }
    }
}
MC_MODEL(ring_holds_its_capacity,
         .claim = "a ring holds exactly its capacity, full and empty, wherever its counters are",
         .preemptions = MC_UNBOUNDED);

static void bystander(void *unused)
{
    (void)unused;
    mc_check(ring_size(&ring) <= 2);
}

static void ring_size_is_a_possible_size(void)
{
    start(2, UINT64_MAX - 1);
    mc_thread(bystander, 0);
    push(0);
    push(1);
    pop_all(&ring);
    push(2);
    push(3);
    pop_all(&ring);
    mc_join_all();
}
MC_MODEL(ring_size_is_a_possible_size, .claim = "the size that a bystander guesses is at most the capacity",
         .preemptions = MC_UNBOUNDED);

static void bystander_of_one(void *unused)
{
    (void)unused;
    mc_check(ring_size(&ring) <= 1);
}

static void ring_size_is_never_negative(void)
{
    start(2, UINT64_MAX);
    mc_thread(bystander_of_one, 0);
    push(0);
    pop_all(&ring);
    mc_join_all();
}
MC_MODEL(ring_size_is_never_negative, .claim = "who sees the item taken before it was put guesses 0 or 1",
         .preemptions = MC_UNBOUNDED);
