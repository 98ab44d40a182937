/* deque.c: models of the growing deque (filch/deque.h), both kinds, capacity 1 to 4, indexes near
 * their wrap, growth while thieves are at it. */
#include "items.h"

#include <filch/deque.h>

static filch_deque *deque, *other;

static filch_deque *make(enum filch_deque_order order, size_t capacity, uint64_t index)
{
    filch_deque *d = 0;
    mc_check(filch_deque_create(&d, order, capacity) == 0);
    filch_deque_start_at(d, index);
    return d;
}

static void start(enum filch_deque_order order, size_t capacity, uint64_t index)
{
    deque = make(order, capacity, index);
    other = make(order, capacity, index);
}

static enum filch_deque_order either(void)
{
    return mc_choose(2) ? FILCH_DEQUE_FIFO : FILCH_DEQUE_LIFO;
}

static void push(unsigned task)
{
    mc_check(filch_deque_push(deque, (void *)item(task)) == 0);
}

static bool pop(filch_deque *d)
{
    void *it;
    if (filch_deque_pop(d, &it) != 1)
        return false;
    run((uintptr_t)it);
    return true;
}

static void pop_all(filch_deque *d)
{
    while (pop(d))
        ;
}

/* The last of all threads: what is left is taken, and nothing is leaked. */
static void finish(void)
{
    mc_join_all();
    pop_all(deque);
    pop_all(other);
    mc_check(filch_deque_size(deque) == 0);
    filch_deque_destroy(deque);
    filch_deque_destroy(other);
}

/* ---- thieves --------------------------------------------------------------------------------- */

static void steal(filch_deque *d)
{
    void *it;
    if (filch_deque_steal(d, &it) == 1)
        run((uintptr_t)it);
}

static void thief_of_one(void *unused)
{
    (void)unused;
    steal(deque);
}

static void thief_of_two(void *unused)
{
    (void)unused;
    steal(deque);
    steal(deque);
}

static void thief_of_half(void *unused)
{
    (void)unused;
    filch_deque_steal_batch(deque, other, 8);
    pop(other);
}

static void thief_of_the_thief(void *unused)
{
    (void)unused;
    steal(other);
}

/* ---- owner and thief ------------------------------------------------------------------------- */

static void deque_last_item_has_one_winner(void)
{
    start(either(), 2, UINT64_MAX);
    mc_thread(thief_of_one, 0);
    push(0);
    pop_all(deque);
    finish();
}
MC_MODEL(deque_last_item_has_one_winner, .claim = "the last item goes to the owner or to the thief",
         .preemptions = MC_UNBOUNDED);

static void deque_pop_against_thief(void)
{
    start(either(), 4, UINT64_MAX - 1);
    for (unsigned i = 0; i < 3; i++)
        push(i);
    mc_thread(thief_of_two, 0);
    pop_all(deque);
    finish();
}
MC_MODEL(deque_pop_against_thief, .claim = "owner and thief share three items, both kinds",
         .preemptions = MC_UNBOUNDED);

static void deque_popping_publishes_what_is_left(void)
{
    start(FILCH_DEQUE_LIFO, 2, UINT64_MAX);
    mc_thread(thief_of_one, 0);
    push(0);
    push(1);
    pop(deque);
    finish();
}
MC_MODEL(deque_popping_publishes_what_is_left,
         .claim = "a thief that learns of an item from the bottom that a pop stored sees its contents",
         .preemptions = MC_UNBOUNDED);

static void deque_push_while_stolen(void)
{
    start(either(), 2, UINT64_MAX);
    push(0);
    push(1);
    mc_late(filch_deque_slot(deque->buffer, 0), 2 * sizeof(void *));
    mc_late(&deque->top, sizeof deque->top);
    mc_fails(MC_ALLOC); /* it cannot grow: room is only where the thief has been */
    mc_thread(thief_of_one, 0);
    uintptr_t it = item(2);
    if (filch_deque_push(deque, (void *)it) == -ENOMEM)
        run(it);
    finish();
}
MC_MODEL(deque_push_while_stolen, .claim = "a slot is not overwritten before the thief has read it",
         .preemptions = MC_UNBOUNDED, .failing = 1);

/* ---- growth ---------------------------------------------------------------------------------- */

static void deque_grows_while_stolen(void)
{
    start(either(), 1, UINT64_MAX);
    mc_thread(thief_of_two, 0);
    push(0);
    push(1); /* grows, unless the thief was faster */
    push(2);
    finish();
}
MC_MODEL(deque_grows_while_stolen, .claim = "a thief finds its item in the old buffer or in the new one",
         .preemptions = MC_UNBOUNDED);

static void deque_grows_between_pops(void)
{
    start(either(), 2, UINT64_MAX - 1);
    push(0);
    push(1);
    mc_thread(thief_of_two, 0);
    push(2);
    pop(deque);
    push(3);
    finish();
}
MC_MODEL(deque_grows_between_pops, .claim = "growing does not lose or double an item, whoever takes it",
         .preemptions = 3);

static void deque_that_cannot_grow_is_unchanged(void)
{
    start(either(), 2, UINT64_MAX - 1);
    mc_fails(MC_ALLOC);
    push(0);
    push(1); /* exactly its capacity, without allocating */
    mc_thread(thief_of_one, 0);
    uintptr_t it = item(2);
    int error = filch_deque_push(deque, (void *)it);
    mc_check(error == 0 || error == -ENOMEM);
    if (error)
        run(it);
    finish();
}
MC_MODEL(deque_that_cannot_grow_is_unchanged, .claim = "a push that finds no memory leaves all as it was",
         .preemptions = MC_UNBOUNDED, .failing = 1);

/* No memory is needed up to the capacity, wherever the indexes are. */
static void deque_holds_its_capacity(void)
{
    start(either(), 2, UINT64_MAX - mc_choose(3));
    mc_fails(MC_ALLOC);
    push(0);
    push(1);
    steal(deque);
    push(2);
    mc_check(filch_deque_reserve(deque, 0) == 0 && filch_deque_size(deque) == 2);
    finish();
}
MC_MODEL(deque_holds_its_capacity, .claim = "a deque does not grow before it is full",
         .preemptions = MC_UNBOUNDED, .failing = 1);

/* ---- several thieves, batches ------------------------------------------------------------------ */

static void deque_two_thieves_share(void)
{
    start(either(), 2, UINT64_MAX);
    push(0);
    push(1);
    mc_thread(thief_of_one, 0);
    mc_thread(thief_of_one, 0);
    pop(deque);
    finish();
}
MC_MODEL(deque_two_thieves_share, .claim = "two thieves and the owner share two items", .preemptions = 4);

static void thief_of_half_that_counts(void *unused)
{
    (void)unused;
    int n = filch_deque_steal_batch(deque, other, 8);
    mc_check(filch_deque_size(other) == (n > 0 ? (size_t)n : 0));
}

static void deque_batch_against_pop(void)
{
    start(either(), 4, UINT64_MAX - 1);
    for (unsigned i = 0; i < 4; i++)
        push(i);
    mc_thread(thief_of_half_that_counts, 0);
    pop_all(deque);
    finish();
}
MC_MODEL(deque_batch_against_pop, .claim = "a thief of half and the owner take each item once, both kinds",
         .preemptions = 4);

static void deque_batch_while_pushed(void)
{
    start(FILCH_DEQUE_FIFO, 2, UINT64_MAX);
    push(0);
    push(1);
    mc_late(filch_deque_slot(deque->buffer, 0), 2 * sizeof(void *));
    mc_fails(MC_ALLOC);
    mc_thread(thief_of_half, 0);
    uintptr_t it = item(2);
    if (filch_deque_push(deque, (void *)it) == -ENOMEM)
        run(it);
    finish();
}
MC_MODEL(deque_batch_while_pushed, .claim = "a slot is not overwritten before a batch has copied it",
         .preemptions = MC_UNBOUNDED, .failing = 1);

static void deque_batch_while_grown(void)
{
    start(FILCH_DEQUE_FIFO, 1, UINT64_MAX);
    mc_thread(thief_of_half, 0);
    push(0);
    push(1);
    push(2);
    finish();
}
MC_MODEL(deque_batch_while_grown, .claim = "a batch is whole whichever buffer it is read from",
         .preemptions = MC_UNBOUNDED);

static void deque_stolen_is_stolen_again(void)
{
    start(either(), 4, UINT64_MAX - 1);
    mc_thread(thief_of_half, 0);
    mc_thread(thief_of_the_thief, 0);
    push(0);
    push(1);
    push(2);
    finish();
}
MC_MODEL(deque_stolen_is_stolen_again,
         .claim = "what a batch put into the thief's deque is whole for a thief of the thief",
         .preemptions = 3);

/* Nobody interferes: the share is exact, oldest first, and the thief's deque grows for it. */
static void deque_share_is_exact(void)
{
    unsigned n = mc_choose(5), floor = mc_choose(2), max = 1 + mc_choose(3);
    start(either(), 1, UINT64_MAX - mc_choose(5));
    for (unsigned i = 0; i < n; i++)
        push(i);
    unsigned share = (n + !floor) / 2 < max ? (n + !floor) / 2 : max;
    mc_check((floor ? filch_deque_steal_floor : filch_deque_steal_batch)(deque, other, max) == (int)share);
    mc_check(filch_deque_size(deque) == n - share && filch_deque_size(other) == share);
    void *it;
    for (unsigned i = 0; filch_deque_steal(other, &it) == 1; run((uintptr_t)it))
        mc_check(task_of((uintptr_t)it) == i++);
    for (unsigned i = share; filch_deque_steal(deque, &it) == 1; run((uintptr_t)it))
        mc_check(task_of((uintptr_t)it) == i++);
    finish();
}
MC_MODEL(deque_share_is_exact, .claim = "a thief alone gets half, at most what it asked for, oldest first",
         .preemptions = MC_UNBOUNDED);

static void deque_batch_fits_or_is_not_taken(void)
{
    unsigned own = mc_choose(3);
    start(either(), 2, UINT64_MAX - 1);
    for (unsigned i = 0; i < 4; i++)
        push(i);
    for (unsigned i = 0; i < 3; i++) { /* its indexes have moved */
        mc_check(filch_deque_push(other, (void *)item(4 + i)) == 0);
        mc_check(pop(other));
    }
    for (unsigned i = 0; i < own; i++)
        mc_check(filch_deque_push(other, (void *)item(8 + i)) == 0);
    mc_fails(MC_ALLOC);
    int taken = filch_deque_steal_batch(deque, other, 8);
    mc_check(taken == 2 || taken == (own == 2 ? -ENOMEM : (int)(2 - own)));
    mc_check(filch_deque_size(deque) == 4 - (taken > 0 ? (unsigned)taken : 0));
    finish();
}
MC_MODEL(deque_batch_fits_or_is_not_taken,
         .claim = "a batch into a deque that cannot grow takes what fits, or nothing",
         .preemptions = MC_UNBOUNDED, .failing = 1);

static void bystander(void *unused)
{
    (void)unused;
    mc_check(filch_deque_size(deque) <= 3);
}

static void deque_size_is_never_negative(void)
{
    start(either(), 2, UINT64_MAX);
    mc_thread(bystander, 0);
    push(0);
    pop(deque);
    pop(deque);
    push(1);
    finish();
}
MC_MODEL(deque_size_is_never_negative, .claim = "the size that a bystander guesses is never a huge number",
         .preemptions = MC_UNBOUNDED);
