/* lifo.c: models of the bounded deque (core/lifo.h): the owner takes the newest, thieves the oldest.
 * Capacity 2 to 4, counters near their wrap. */
#include "items.h"

#include "core/lifo.h"

static struct lifo lifo, other;
static uintptr_t slots[4], other_slots[4];

static void start(unsigned capacity, uint64_t counter)
{
    lifo_init(&lifo, slots, capacity, counter);
    lifo_init(&other, other_slots, capacity, counter);
}

static void push(unsigned task)
{
    mc_check(lifo_push(&lifo, item(task)));
}

/* What does not fit is run at once. */
static void push_or_run(unsigned task)
{
    uintptr_t it = item(task);
    if (!lifo_push(&lifo, it))
        run(it);
}

static void pop_all(struct lifo *q)
{
    uintptr_t it;
    while (lifo_pop(q, &it))
        run(it);
}

static int steal(struct lifo *thief, enum filch_steal how)
{
    uintptr_t first;
    int n = lifo_steal(&lifo, thief, how, &first);
    if (n > 0)
        run(first);
    return n;
}

/* ---- thieves --------------------------------------------------------------------------------- */

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

static void thief_of_half(void *unused)
{
    (void)unused;
    steal(&other, FILCH_STEAL_HALF);
    pop_all(&other);
}

/* ---- owner and thief ------------------------------------------------------------------------- */

static void lifo_last_item_has_one_winner(void)
{
    start(2, UINT64_MAX);
    mc_thread(thief_of_one, 0);
    push(0);
    pop_all(&lifo);
    mc_join_all();
    mc_check(lifo_size(&lifo) == 0);
}
MC_MODEL(lifo_last_item_has_one_winner, .claim = "the last item goes to the owner or to the thief",
         .preemptions = MC_UNBOUNDED);

static void lifo_pop_against_thief(void)
{
    start(4, UINT64_MAX - 1);
    for (unsigned i = 0; i < 3; i++)
        push(i);
    mc_thread(thief_of_two_one_by_one, 0);
    pop_all(&lifo);
    mc_join_all();
    pop_all(&lifo);
}
MC_MODEL(lifo_pop_against_thief, .claim = "owner and thief meet in the middle: three items, once each",
         .preemptions = MC_UNBOUNDED);

static void lifo_popping_publishes_what_is_left(void)
{
    uintptr_t it;
    start(4, UINT64_MAX);
    mc_thread(thief_of_one, 0);
    push(0);
    push(1);
    if (lifo_pop(&lifo, &it))
        run(it);
    mc_join_all();
    pop_all(&lifo);
}
MC_MODEL(lifo_popping_publishes_what_is_left,
         .claim = "a thief that learns of an item from the bottom that a pop stored sees its contents",
         .preemptions = MC_UNBOUNDED);

static void lifo_push_while_stolen(void)
{
    start(2, UINT64_MAX);
    mc_late(slots, sizeof slots);
    mc_late(&lifo.top, sizeof lifo.top);
    push(0);
    push(1);
    mc_thread(thief_of_one, 0);
    push_or_run(2); /* fits only where the thief has been: its slot is used again */
    mc_join_all();
    pop_all(&lifo);
}
MC_MODEL(lifo_push_while_stolen, .claim = "a slot is not overwritten before the thief has read it",
         .preemptions = MC_UNBOUNDED);

static void lifo_owner_wraps_while_stolen(void)
{
    uintptr_t it;
    start(2, UINT64_MAX - 1);
    push(0);
    mc_thread(thief_of_two_one_by_one, 0);
    for (unsigned i = 1; i < 4; i++) {
        push_or_run(i);
        if (i == 2 && lifo_pop(&lifo, &it))
            run(it);
    }
    pop_all(&lifo);
    mc_join_all();
}
MC_MODEL(lifo_owner_wraps_while_stolen,
         .claim = "a thief that slept while the owner pushed and popped takes nothing that is gone",
         .preemptions = 3);

static uintptr_t three[3];

static void lifo_push_many_is_published_whole(void)
{
    start(2, UINT64_MAX);
    mc_thread(thief_of_two_one_by_one, 0);
    for (unsigned i = 0; i < 3; i++)
        three[i] = item(i);
    mc_check(lifo_push_many(&lifo, three, 3) == 2); /* as many as fit */
    run(three[2]);
    mc_join_all();
    pop_all(&lifo);
}
MC_MODEL(lifo_push_many_is_published_whole, .claim = "push_many fills the queue, and a thief sees all of it",
         .preemptions = MC_UNBOUNDED);

static void lifo_overflow_against_thief(void)
{
    uintptr_t out[2] = {0, 0};
    start(4, UINT64_MAX - 2);
    for (unsigned i = 0; i < 4; i++)
        push(i);
    mc_thread(thief_of_one, 0);
    uint32_t n = lifo_push_batch_out(&lifo, out, 2);
    for (uint32_t i = 0; i < n; i++) {
        mc_check(out[i] == out[0] + i);
        run(out[i]);
    }
    push(4); /* half went out, or the thief was faster */
    pop_all(&lifo);
    mc_join_all();
}
MC_MODEL(lifo_overflow_against_thief,
         .claim = "what the owner takes out of a full queue is not stolen as well; then there is room",
         .preemptions = MC_UNBOUNDED);

/* The owner moves top by several with one CAS between pops. */
static void lifo_overflow_between_pops(void)
{
    uintptr_t it;
    start(4, UINT64_MAX);
    for (unsigned i = 0; i < 4; i++)
        push(i);
    mc_thread(thief_of_one, 0);
    if (lifo_pop(&lifo, &it))
        run(it);
    if (lifo_push_batch_out(&lifo, &it, 1))
        run(it);
    pop_all(&lifo);
    mc_join_all();
}
MC_MODEL(lifo_overflow_between_pops, .claim = "pops, an overflow and a thief take each item once",
         .preemptions = MC_UNBOUNDED);

/* ---- several thieves ------------------------------------------------------------------------- */

static void lifo_two_thieves_share(void)
{
    uintptr_t it;
    start(2, UINT64_MAX);
    push(0);
    push(1);
    mc_thread(thief_of_one, 0);
    mc_thread(thief_of_one, 0);
    if (lifo_pop(&lifo, &it))
        run(it);
    mc_join_all();
    pop_all(&lifo);
}
MC_MODEL(lifo_two_thieves_share, .claim = "two thieves and the owner share two items",
         .preemptions = 4);

static void thief_of_the_thief(void *unused)
{
    (void)unused;
    uintptr_t first;
    if (lifo_steal(&other, 0, FILCH_STEAL_ONE, &first) > 0)
        run(first);
}

static void lifo_stolen_is_stolen_again(void)
{
    start(4, UINT64_MAX - 1);
    mc_thread(thief_of_half, 0);
    mc_thread(thief_of_the_thief, 0);
    for (unsigned i = 0; i < 3; i++)
        three[i] = item(i);
    lifo_push_many(&lifo, three, 3);
    mc_join_all();
    pop_all(&lifo);
}
MC_MODEL(lifo_stolen_is_stolen_again,
         .claim = "what a thief puts into its queue is whole for a thief of the thief", .preemptions = 4);

/* ---- how much -------------------------------------------------------------------------------- */

static void lifo_half_against_pop(void)
{
    start(4, UINT64_MAX - 1);
    for (unsigned i = 0; i < 4; i++)
        push(i);
    mc_thread(thief_of_half, 0);
    pop_all(&lifo);
    mc_join_all();
}
MC_MODEL(lifo_half_against_pop,
         .claim = "a thief of half claims item by item, so the owner may pop into its share",
         .preemptions = 4);

/* The thief's queue holds items of its own: tasks 8 and on. */
static void lifo_thief_takes_what_fits(void)
{
    unsigned own = mc_choose(3);
    start(4, UINT64_MAX - 1);
    lifo_init(&other, other_slots, 2, UINT64_MAX);
    for (unsigned i = 0; i < 4; i++)
        push(i);
    for (unsigned i = 0; i < own; i++)
        mc_check(lifo_push(&other, item(8 + i)));
    mc_check(steal(&other, FILCH_STEAL_ALL) == (int)(2 - own) + 1);
    mc_check(lifo_size(&other) == 2);
    pop_all(&other);
    pop_all(&lifo);
}
MC_MODEL(lifo_thief_takes_what_fits, .claim = "a thief takes no more than its queue has room for, and one",
         .preemptions = MC_UNBOUNDED);

static void lifo_holds_its_capacity(void)
{
    uint32_t capacity = 2u << mc_choose(2);
    uintptr_t it = 0;
    start(capacity, UINT64_MAX - mc_choose(5));
    for (unsigned round = 0; round < 3; round++) {
        mc_check(!lifo_pop(&lifo, &it) && lifo_room(&lifo) == capacity);
        for (unsigned i = 0; i < capacity; i++)
            push(4 * round + i);
        mc_check(!lifo_push(&lifo, 1) && lifo_size(&lifo) == capacity && lifo_room(&lifo) == 0);
        mc_check(lifo_push_many(&lifo, three, 3) == 0);
        mc_check(lifo_push_batch_out(&lifo, three, capacity == 2 ? 2 : 1) == 1);
        mc_check(task_of(three[0]) == 4 * round && lifo_room(&lifo) == 1);
        run(three[0]);
        for (unsigned i = capacity - 1; i > 0; i--) {
            mc_check(lifo_pop(&lifo, &it) && task_of(it) == 4 * round + i);
            run(it);
        }
    }
}
MC_MODEL(lifo_holds_its_capacity,
         .claim = "a queue holds exactly its capacity, newest first, wherever its counters are",
         .preemptions = MC_UNBOUNDED);

static void bystander(void *unused)
{
    (void)unused;
    mc_check(lifo_size(&lifo) <= 2);
}

static void lifo_size_is_a_possible_size(void)
{
    start(2, UINT64_MAX - 1);
    mc_thread(bystander, 0);
    push(0);
    push(1);
    mc_check(steal(0, FILCH_STEAL_ONE) == 1);
    mc_check(steal(0, FILCH_STEAL_ONE) == 1);
    push(2);
    push(3);
    pop_all(&lifo);
    mc_join_all();
}
MC_MODEL(lifo_size_is_a_possible_size, .claim = "the size that a bystander guesses is at most the capacity",
         .preemptions = MC_UNBOUNDED);

static void bystander_of_one(void *unused)
{
    (void)unused;
    mc_check(lifo_size(&lifo) <= 1);
}

static void lifo_size_is_never_negative(void)
{
    start(2, UINT64_MAX);
    mc_thread(bystander_of_one, 0);
    push(0);
    pop_all(&lifo);
    mc_join_all();
}
MC_MODEL(lifo_size_is_never_negative, .claim = "who sees the item taken before it was put guesses 0 or 1",
         .preemptions = MC_UNBOUNDED);
