/* locked.c: models of the growing deque under a lock (core/locked.c). */
#include "items.h"

#include "core/locked.h"

#include <errno.h>

static struct locked queue;
static enum locked_end thief_end;

static void push(unsigned task)
{
    mc_check(locked_push(&queue, item(task)) == 0);
}

static void pop_all(enum locked_end end)
{
    uintptr_t it;
    while (locked_pop(&queue, end, &it) == 1)
        run(it);
}

static void start(size_t capacity)
{
    mc_check(locked_init(&queue, capacity) == 0);
    thief_end = mc_choose(2) ? LOCKED_NEWEST : LOCKED_OLDEST;
}

static void finish(void)
{
    mc_join_all();
    pop_all(LOCKED_OLDEST);
    mc_check(locked_size(&queue) == 0 && queue.lock == LOCK_FREE);
    locked_destroy(&queue);
}

static void thief_that_waits(void *unused)
{
    (void)unused;
    uintptr_t it;
    int n = locked_steal(&queue, thief_end, LOCKED_BLOCK, &it);
    mc_check(n == 0 || n == 1);
    if (n == 1)
        run(it);
}

static void thief_that_tries(void *unused)
{
    (void)unused;
    uintptr_t it;
    int n = locked_steal(&queue, thief_end, LOCKED_TRY, &it);
    mc_check(n == 0 || n == 1 || n == -EBUSY);
    if (n == 1)
        run(it);
}

static void thief_of_half(void *unused)
{
    (void)unused;
    uintptr_t out[2];
    int n = locked_steal_many(&queue, thief_end, LOCKED_BLOCK, FILCH_STEAL_HALF, out, 2);
    for (int i = 0; i < n; i++)
        run(out[i]);
}

static void locked_push_grows_while_stolen(void)
{
    start(1);
    mc_thread(thief_that_waits, 0);
    push(0);
    push(1);
    push(2);
    finish();
}
MC_MODEL(locked_push_grows_while_stolen, .claim = "growing while a thief waits for the lock loses nothing",
         .preemptions = 4);

static void locked_last_item_has_one_taker(void)
{
    start(2);
    push(0);
    mc_thread(thief_that_waits, 0);
    mc_thread(thief_that_tries, 0);
    pop_all(LOCKED_NEWEST);
    finish();
}
MC_MODEL(locked_last_item_has_one_taker, .claim = "owner and two thieves: one of them gets the last item",
         .preemptions = 3);

static void locked_half_against_pop(void)
{
    start(4);
    for (unsigned i = 0; i < 4; i++)
        push(i);
    mc_thread(thief_of_half, 0);
    pop_all(LOCKED_NEWEST);
    finish();
}
MC_MODEL(locked_half_against_pop, .claim = "a thief of half and the owner take each item once, from any end",
         .preemptions = 2);

/* Whoever tries does not wait: it ends while the lock is held for good. */
static void locked_thief_that_tries_never_waits(void)
{
    start(2);
    push(0);
    lock_acquire(&queue.lock);
    mc_join(mc_thread(thief_that_tries, 0));
    lock_release(&queue.lock);
    finish();
}
MC_MODEL(locked_thief_that_tries_never_waits, .claim = "a held lock is skipped, not waited for",
         .preemptions = MC_UNBOUNDED);

static void locked_failed_push_changes_nothing(void)
{
    start(2);
    mc_fails(MC_ALLOC);
    push(0);
    push(1); /* exactly its capacity, without allocating */
    mc_thread(thief_that_waits, 0);
    uintptr_t two[] = {item(2), item(3)};
    int error = locked_push_many(&queue, two, 2);
    mc_check(error == 0 || error == -ENOMEM);
    if (error)
        run(two[0]), run(two[1]);
    finish();
}
MC_MODEL(locked_failed_push_changes_nothing, .claim = "a push that finds no memory leaves all as it was",
         .preemptions = 4, .failing = 1);

/* Nobody interferes: exactly the share, in order, from either end, and round the buffer's end. */
static void locked_share_is_exact(void)
{
    unsigned n = mc_choose(5), turned = mc_choose(4), max = 1 + mc_choose(2);
    uintptr_t out[4], it;
    start(4);
    for (unsigned i = 0; i < turned; i++) {
        push(8 + i);
        mc_check(locked_pop(&queue, LOCKED_OLDEST, &it) == 1 && task_of(it) == 8 + i);
        run(it);
    }
    for (unsigned i = 0; i < n; i++)
        push(i);
    int share = (int)(n + 1) / 2 < (int)max ? (int)(n + 1) / 2 : (int)max;
    mc_check(locked_steal_many(&queue, thief_end, LOCKED_TRY, FILCH_STEAL_HALF, out, max) == share);
    for (int i = 0; i < share; i++) {
        mc_check(task_of(out[i]) == (thief_end == LOCKED_OLDEST ? (unsigned)i : n - 1 - (unsigned)i));
        run(out[i]);
    }
    mc_check(locked_size(&queue) == n - (unsigned)share);
    unsigned oldest = thief_end == LOCKED_OLDEST ? (unsigned)share : 0;
    for (; locked_pop(&queue, LOCKED_OLDEST, &it) == 1; run(it))
        mc_check(task_of(it) == oldest++);
    finish();
}
MC_MODEL(locked_share_is_exact, .claim = "a thief alone gets its share from its end, in order",
         .preemptions = MC_UNBOUNDED);

/* Growth keeps the order wherever the oldest item is. */
static void locked_growth_keeps_the_order(void)
{
    uintptr_t it = 0;
    unsigned turned = mc_choose(3);
    start(2);
    for (unsigned i = 0; i < turned; i++) {
        push(8 + i);
        mc_check(locked_pop(&queue, LOCKED_OLDEST, &it) == 1);
        run(it);
    }
    for (unsigned i = 0; i < 5; i++)
        push(i);
    for (unsigned i = 0; i < 5; i++) {
        mc_check(locked_pop(&queue, LOCKED_OLDEST, &it) == 1 && task_of(it) == i);
        run(it);
    }
    finish();
}
MC_MODEL(locked_growth_keeps_the_order, .claim = "growing keeps the order, wherever the oldest item is",
         .preemptions = MC_UNBOUNDED);
