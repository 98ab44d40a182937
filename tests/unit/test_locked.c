/* test_locked.c: the lock (lock.h) and the baseline queue under it (locked.h). */
#define _GNU_SOURCE
#include "core/locked.h"
#include "exactly_once.h"

#include <errno.h>

/* ---- the lock ------------------------------------------------------------------------------ */

struct tally {
    uint32_t lock;
    uint64_t sum; /* plain on purpose */
};

enum { TALLY_THREADS = 4, TALLY_TURNS = 50000 };

static void *tally_work(void *arg)
{
    struct tally *t = arg;
    for (int i = 0; i < TALLY_TURNS; i++) {
        lock_acquire(&t->lock);
        t->sum++;
        lock_release(&t->lock);
    }
    return NULL;
}

static void one_thread_at_a_time_holds_the_lock(void)
{
    struct tally t = {0, 0};
    pthread_t thread[TALLY_THREADS];
    for (int i = 0; i < TALLY_THREADS; i++)
        CHECK_EQ(pthread_create(&thread[i], NULL, tally_work, &t), 0);
    for (int i = 0; i < TALLY_THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK_EQ(t.sum, (int64_t)TALLY_THREADS * TALLY_TURNS);
    CHECK_EQ(t.lock, LOCK_FREE);
}

static void a_held_lock_is_not_taken_by_try(void)
{
    uint32_t lock = 0;
    CHECK(lock_try(&lock));
    CHECK(!lock_try(&lock));
    lock_release(&lock);
    CHECK(lock_try(&lock));
    lock_release(&lock);
}

static uint32_t waiting; /* at the lock, or about to */

static void await_waiting(uint32_t n)
{
    while (filch_load_relaxed(&waiting) != n) /* order: relaxed, only a wait */
        os_thread_yield();
}

static void *take_and_release(void *arg)
{
    struct tally *t = arg;
    filch_add_relaxed(&waiting, 1u); /* order: a count */
    lock_acquire(&t->lock);
    t->sum++;
    lock_release(&t->lock);
    return NULL;
}

static void however_long_it_is_held_all_get_it(void)
{
    for (int round = 0; round < 50; round++) {
        struct tally t = {0, 0};
        pthread_t thread[3];
        filch_store_relaxed(&waiting, 0u); /* order: before the threads */
        lock_acquire(&t.lock);
        for (int i = 0; i < 3; i++)
            CHECK_EQ(pthread_create(&thread[i], NULL, take_and_release, &t), 0);
        await_waiting(3);
        os_sleep_ns(round % 2 ? 0 : 300000); /* longer than it takes until they sleep */
        CHECK_EQ(t.sum, 0);
        lock_release(&t.lock);
        for (int i = 0; i < 3; i++)
            pthread_join(thread[i], NULL);
        CHECK_EQ(t.sum, 3);
    }
}

/* ---- the queue, one thread ----------------------------------------------------------------- */

static void push_1_2_3(struct locked *q)
{
    CHECK_EQ(locked_init(q, 1), 0);
    for (uintptr_t i = 1; i <= 3; i++)
        CHECK_EQ(locked_push(q, i), 0);
    CHECK_EQ(locked_size(q), 3);
}

static void owner_and_thief_at_either_pair_of_ends(void)
{
    static const struct {
        enum locked_end owner, thief;
        uintptr_t owner_gets, thief_gets;
    } pair[] = {{LOCKED_OLDEST, LOCKED_NEWEST, 1, 3}, {LOCKED_NEWEST, LOCKED_OLDEST, 3, 1}};
    for (int k = 0; k < 2; k++) {
        struct locked q;
        uintptr_t item = 0;
        push_1_2_3(&q);
        CHECK_EQ(locked_steal(&q, pair[k].thief, LOCKED_TRY, &item), 1);
        CHECK_EQ(item, pair[k].thief_gets);
        CHECK_EQ(locked_pop(&q, pair[k].owner, &item), 1);
        CHECK_EQ(item, pair[k].owner_gets);
        CHECK_EQ(locked_pop(&q, pair[k].owner, &item), 1);
        CHECK_EQ(item, 2);
        CHECK_EQ(locked_pop(&q, pair[k].owner, &item), 0);
        CHECK_EQ(locked_pop(&q, pair[k].owner, &item), 0);
        CHECK_EQ(locked_steal(&q, pair[k].thief, LOCKED_BLOCK, &item), 0);
        locked_destroy(&q);
    }
}

static void a_thief_skips_a_locked_victim_and_proceeds(void)
{
    struct locked held, next;
    uintptr_t item = 0;
    push_1_2_3(&held);
    push_1_2_3(&next);
    lock_acquire(&held.lock);
    CHECK_EQ(locked_steal(&held, LOCKED_NEWEST, LOCKED_TRY, &item), -EBUSY);
    CHECK_EQ(item, 0);
    CHECK_EQ(locked_steal(&next, LOCKED_NEWEST, LOCKED_TRY, &item), 1);
    CHECK_EQ(item, 3);
    lock_release(&held.lock);
    CHECK_EQ(locked_size(&held), 3);
    CHECK_EQ(locked_steal(&held, LOCKED_NEWEST, LOCKED_TRY, &item), 1);
    locked_destroy(&held);
    locked_destroy(&next);
}

static void an_empty_victim_is_seen_without_its_lock(void)
{
    struct locked q;
    uintptr_t item;
    CHECK_EQ(locked_init(&q, 8), 0);
    lock_acquire(&q.lock);
    CHECK_EQ(locked_steal(&q, LOCKED_OLDEST, LOCKED_BLOCK, &item), 0);
    lock_release(&q.lock);
    locked_destroy(&q);
}

static void *steal_waiting(void *arg)
{
    uintptr_t item = 0;
    filch_add_relaxed(&waiting, 1u); /* order: a count */
    CHECK_EQ(locked_steal(arg, LOCKED_NEWEST, LOCKED_BLOCK, &item), 1);
    CHECK_EQ(item, 3);
    return NULL;
}

static void a_blocking_thief_waits_for_the_lock(void)
{
    struct locked q;
    pthread_t thread;
    push_1_2_3(&q);
    filch_store_relaxed(&waiting, 0u); /* order: before the thread */
    lock_acquire(&q.lock);
    CHECK_EQ(pthread_create(&thread, NULL, steal_waiting, &q), 0);
    await_waiting(1);
    os_sleep_ns(100000);
    CHECK_EQ(locked_size(&q), 3);
    lock_release(&q.lock);
    pthread_join(thread, NULL);
    CHECK_EQ(locked_size(&q), 2);
    locked_destroy(&q);
}

static void growth_keeps_the_order_wherever_the_oldest_is(void)
{
    for (uintptr_t before = 0; before < 5; before++) {
        struct locked q;
        uintptr_t item;
        CHECK_EQ(locked_init(&q, 4), 0);
        for (uintptr_t i = 0; i < before; i++)
            CHECK(locked_push(&q, 99) == 0 && locked_pop(&q, LOCKED_OLDEST, &item) == 1);
        for (uintptr_t i = 0; i < 100; i++)
            CHECK_EQ(locked_push(&q, i), 0);
        for (uintptr_t i = 0; i < 50; i++) {
            CHECK(locked_pop(&q, LOCKED_OLDEST, &item) == 1 && item == i);
            CHECK(locked_pop(&q, LOCKED_NEWEST, &item) == 1 && item == 99 - i);
        }
        CHECK_EQ(locked_size(&q), 0);
        locked_destroy(&q);
    }
}

static void many_are_pushed_and_stolen_in_order(void)
{
    struct locked q;
    uintptr_t items[100], out[100];
    for (uintptr_t i = 0; i < 100; i++)
        items[i] = i;
    CHECK_EQ(locked_init(&q, 2), 0);
    CHECK_EQ(locked_push_many(&q, items, 100), 0);
    CHECK_EQ(locked_steal_many(&q, LOCKED_OLDEST, LOCKED_TRY, FILCH_STEAL_HALF, out, 100), 50);
    for (uintptr_t i = 0; i < 50; i++)
        CHECK_EQ(out[i], i);
    CHECK_EQ(locked_steal_many(&q, LOCKED_NEWEST, LOCKED_TRY, FILCH_STEAL_ALL, out, 3), 3);
    CHECK(out[0] == 99 && out[1] == 98 && out[2] == 97);
    CHECK_EQ(locked_size(&q), 47);
    locked_destroy(&q);
}

static void what_cannot_be_had_is_refused_without_harm(void)
{
    struct locked q;
    uintptr_t item;
    CHECK_EQ(locked_init(&q, SIZE_MAX), -ENOMEM);
    locked_destroy(&q);
    push_1_2_3(&q);
    CHECK_EQ(locked_push_many(&q, &item, SIZE_MAX), -ENOMEM);
    CHECK_EQ(locked_push_many(&q, &item, SIZE_MAX / 16), -ENOMEM);
    CHECK_EQ(q.lock, LOCK_FREE);
    CHECK_EQ(locked_size(&q), 3);
    CHECK(locked_pop(&q, LOCKED_NEWEST, &item) == 1 && item == 3);
    locked_destroy(&q);
}

/* ---- several threads ----------------------------------------------------------------------- */

static bool once_locked_push(void *q, uintptr_t item)
{
    return locked_size(q) < 16 && locked_push(q, item) == 0;
}

static bool once_locked_pop(void *q, uintptr_t *item)
{
    return locked_pop(q, LOCKED_OLDEST, item) == 1;
}

static int once_locked_steal(void *victim, void *thief, uint32_t random, uintptr_t *first)
{
    uintptr_t out[8];
    enum locked_wait wait = random & 1 ? LOCKED_TRY : LOCKED_BLOCK;
    int n = locked_steal_many(victim, random & 2 ? LOCKED_NEWEST : LOCKED_OLDEST, wait,
                              (enum filch_steal)(random / 4 % 6), out, 8);
    CHECK(n >= 0 || (n == -EBUSY && wait == LOCKED_TRY));
    if (n <= 0)
        return n;
    *first = out[0];
    CHECK_EQ(locked_push_many(thief, out + 1, (size_t)n - 1), 0);
    return n;
}

static const struct once_ops locked_ops = {once_locked_push, once_locked_pop, once_locked_steal};

static void locked_items_are_taken_exactly_once(void)
{
    uint64_t stolen = 0;
    for (uint32_t workers = 2; workers <= 4; workers++) {
        struct locked q[4];
        void *queue[4];
        for (uint32_t i = 0; i < workers; i++) {
            CHECK_EQ(locked_init(&q[i], 1), 0);
            queue[i] = &q[i];
        }
        stolen += once_run(&locked_ops, queue, workers, ONCE_ITEMS / 4, workers);
        for (uint32_t i = 0; i < workers; i++)
            locked_destroy(&q[i]);
    }
    CHECK(stolen > 0);
}

int main(void)
{
    RUN(one_thread_at_a_time_holds_the_lock);
    RUN(a_held_lock_is_not_taken_by_try);
    RUN(however_long_it_is_held_all_get_it);
    RUN(owner_and_thief_at_either_pair_of_ends);
    RUN(a_thief_skips_a_locked_victim_and_proceeds);
    RUN(an_empty_victim_is_seen_without_its_lock);
    RUN(a_blocking_thief_waits_for_the_lock);
    RUN(growth_keeps_the_order_wherever_the_oldest_is);
    RUN(many_are_pushed_and_stolen_in_order);
    RUN(what_cannot_be_had_is_refused_without_harm);
    RUN(locked_items_are_taken_exactly_once);
    return check_report();
}
