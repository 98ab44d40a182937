/* deque.c: what a steal from filch_deque costs a thief on another thread, by the victim's size.
 * The mode is the deque's order. An operation is an item; the cost of a steal is reported as well.
 *
 * Owner and thief take turns: the owner fills the deque, the thief drains it and reads the clock.
 *
 * | shared field | writer         | reader    | invariant                                       |
 * |--------------|----------------|-----------|-------------------------------------------------|
 * | turn         | owner, thief   | both      | even: the owner's; odd: the thief's             |
 *
 * [B2] release of `turn` -> the other's acquire: what one side did is complete when the other goes on.
 */
#include "pool_bench.h"
#include <filch/deque.h>
#include <filch/ord.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define VICTIM_SIZE 100
#define ROUNDS 2000

struct drain {
    filch_deque *victim, *own;
    int (*steal)(struct drain *d, uintptr_t *sum);
    int turn;
    int steals;
    uintptr_t sum;
    int64_t ns;
};

/* Each takes what it can with one steal; returns the number of items. */
static int steal_one(struct drain *d, uintptr_t *sum)
{
    void *item;
    int got = filch_deque_steal(d->victim, &item);
    if (got == 1)
        *sum += (uintptr_t)item;
    return got;
}

static int steal_batch(struct drain *d, uintptr_t *sum)
{
    void *item;
    int got = filch_deque_steal_batch(d->victim, d->own, 256);
    while (filch_deque_pop(d->own, &item) == 1)
        *sum += (uintptr_t)item;
    return got;
}

static void turn_wait(struct drain *d, int turn)
{
    while (filch_load_acquire(&d->turn) != turn) /* order: [B2] */
        sched_yield();
}

static void *thief_main(void *arg)
{
    struct drain *d = arg;
    for (int round = 0; round < ROUNDS; round++) {
        turn_wait(d, 2 * round + 1);
        int64_t start = filch_clock_ns();
        d->sum = 0;
        d->steals = 0;
        while (d->steal(d, &d->sum) > 0)
            d->steals++;
        d->ns = filch_clock_ns() - start;
        filch_store_release(&d->turn, 2 * round + 2); /* order: [B2] */
    }
    return NULL;
}

/* Best time of a drain, with the number of steals; 0, or 1 if items were lost or doubled. */
static int owner_run(struct drain *d, int n, int64_t *best, int *steals)
{
    uintptr_t want = (uintptr_t)n * (uintptr_t)(n + 1) / 2;
    int wrong = 0;
    *best = INT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 1; i <= n; i++)
            if (filch_deque_push(d->victim, (void *)(uintptr_t)i))
                wrong = 1;
        filch_store_release(&d->turn, 2 * round + 1); /* order: [B2] */
        turn_wait(d, 2 * round + 2);
        wrong |= d->sum != want;
        if (d->ns < *best) {
            *best = d->ns;
            *steals = d->steals;
        }
    }
    return wrong;
}

static const char *drain_run(struct drain *d, int n, struct pool_report *out)
{
    pthread_t thief;
    int64_t best = 0;
    int steals = 1;
    if (pthread_create(&thief, NULL, thief_main, d))
        return "the thief's thread cannot be made";
    int wrong = owner_run(d, n, &best, &steals);
    pthread_join(thief, NULL);
    out->size = n;
    out->ns_per_op = (double)best / n;
    snprintf(out->more, sizeof out->more, " ns_per_steal=%.2f steals=%d", (double)best / steals,
             steals);
    return wrong ? "an item was lost or came twice" : NULL;
}

static const char *deque_measure(const struct pool_request *ask,
                                 int (*steal)(struct drain *, uintptr_t *), struct pool_report *out)
{
    enum filch_deque_order order =
        strcmp(ask->mode, "fifo") ? FILCH_DEQUE_LIFO : FILCH_DEQUE_FIFO;
    struct drain d = {.steal = steal};
    if (filch_deque_create(&d.victim, order, 0))
        return "no memory for a deque";
    if (filch_deque_create(&d.own, order, 0)) {
        filch_deque_destroy(d.victim);
        return "no memory for a deque";
    }
    const char *wrong = drain_run(&d, ask->size ? ask->size : VICTIM_SIZE, out);
    filch_deque_destroy(d.own);
    filch_deque_destroy(d.victim);
    return wrong;
}

const char *steal_deque_one(const struct pool_request *ask, struct pool_report *out)
{
    return deque_measure(ask, steal_one, out);
}

/* Popping the stolen items from the thief's own deque is part of the price. */
const char *steal_deque_batch(const struct pool_request *ask, struct pool_report *out)
{
    return deque_measure(ask, steal_batch, out);
}
