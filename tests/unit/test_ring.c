/* test_ring.c: the bounded queues of a worker, FIFO (ring.h) and LIFO (lifo.h), and the random
 * numbers and amounts they are used with. */
#define _GNU_SOURCE
#include "core/lifo.h"
#include "core/ring.h"
#include "exactly_once.h"

/* Where counters start: nowhere special, and just before each wrap that could matter. */
static const uint64_t starts[] = {0, (1ull << 31) - 2, (1ull << 32) - 2, (1ull << 63) - 2,
                                  UINT64_MAX - 1};
enum { STARTS = sizeof starts / sizeof starts[0] };

struct box { /* a ring and a lifo with their storage */
    struct ring ring;
    struct lifo lifo;
    uintptr_t slots[2][RING_CAPACITY];
};

static struct box *box_new(uint32_t capacity, uint64_t start)
{
    struct box *box = calloc(1, sizeof *box);
    CHECK(box && capacity <= RING_CAPACITY);
    ring_init(&box->ring, box->slots[0], capacity, start);
    lifo_init(&box->lifo, box->slots[1], capacity, start);
    return box;
}

static void fill(struct box *box, uintptr_t from, uintptr_t n)
{
    for (uintptr_t i = from; i < from + n; i++) {
        CHECK(ring_push(&box->ring, i));
        CHECK(lifo_push(&box->lifo, i));
    }
}

static void for_each_start(void (*test)(uint64_t start))
{
    for (int i = 0; i < STARTS; i++)
        test(starts[i]);
}

/* ---- amounts and random numbers ------------------------------------------------------------ */

static void amounts_round_as_documented(void)
{
    static const struct {
        enum filch_steal how;
        uint64_t of[6]; /* of 0, 1, 2, 5, 100, 255 */
    } want[] = {
        {FILCH_STEAL_HALF, {0, 1, 1, 3, 50, 128}},  {FILCH_STEAL_ONE, {0, 1, 1, 1, 1, 1}},
        {FILCH_STEAL_QUARTER, {0, 1, 1, 2, 25, 64}}, {FILCH_STEAL_THREE, {0, 1, 2, 4, 75, 192}},
        {FILCH_STEAL_ALL, {0, 1, 2, 5, 100, 255}},  {FILCH_STEAL_FLOOR, {0, 0, 1, 2, 50, 127}},
    };
    static const uint64_t n[6] = {0, 1, 2, 5, 100, 255};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        for (size_t k = 0; k < 6; k++)
            CHECK_EQ(choice_amount(want[i].how, n[k]), want[i].of[k]);
}

static void random_numbers_repeat_by_seed_and_stay_in_range(void)
{
    struct rng a, b, c;
    uint32_t hits[7] = {0};
    bool differ = false;
    rng_seed(&a, 42);
    rng_seed(&b, 42);
    rng_seed(&c, 43);
    for (int i = 0; i < 70000; i++) {
        uint32_t x = rng_below(&a, 7);
        CHECK(x < 7);
        CHECK_EQ(x, rng_below(&b, 7));
        differ |= x != rng_below(&c, 7);
        hits[x]++;
    }
    CHECK(differ);
    for (int i = 0; i < 7; i++)
        CHECK_MSG(hits[i] > 9500 && hits[i] < 10500, "%d came %u times of 70000", i, hits[i]);
    CHECK_EQ(rng_below(&a, 1), 0);
}

/* ---- the ring, one thread ------------------------------------------------------------------ */

static void full_and_empty_at(uint64_t start)
{
    static const uint32_t capacity[] = {2, 4, 256};
    for (int k = 0; k < 3; k++) {
        struct box *box = box_new(capacity[k], start);
        struct ring *r = &box->ring;
        uintptr_t item = 77;
        for (uintptr_t round = 0; round < 5; round++) {
            CHECK(!ring_pop(r, &item) && !ring_pop(r, &item));
            CHECK_EQ(ring_size(r), 0);
            CHECK_EQ(ring_room(r), capacity[k]);
            for (uintptr_t i = 0; i < capacity[k]; i++)
                CHECK(ring_push(r, round + i));
            CHECK(!ring_push(r, 99) && !ring_push(r, 99));
            CHECK_EQ(ring_size(r), capacity[k]);
            CHECK_EQ(ring_room(r), 0);
            CHECK(ring_pop(r, &item) && item == round);
            CHECK(ring_push(r, round + capacity[k]));
            CHECK(!ring_push(r, 99));
            for (uintptr_t i = 0; i < capacity[k]; i++) {
                CHECK(ring_pop(r, &item));
                CHECK_EQ(item, round + 1 + i);
            }
        }
        free(box);
    }
}

static void a_ring_holds_exactly_its_capacity_in_order(void)
{
    for_each_start(full_and_empty_at);
}

static void hundred_at(uint64_t start)
{
    struct box *victim = box_new(256, start), *thief = box_new(256, start + 5);
    uintptr_t item;
    fill(victim, 0, 100);
    CHECK_EQ(ring_steal(&victim->ring, &thief->ring, FILCH_STEAL_HALF, &item), 50);
    CHECK_EQ(item, 0);
    CHECK_EQ(ring_size(&thief->ring), 49);
    CHECK_EQ(ring_size(&victim->ring), 50);
    for (uintptr_t i = 1; i < 50; i++)
        CHECK(ring_pop(&thief->ring, &item) && item == i);
    for (uintptr_t i = 50; i < 100; i++)
        CHECK(ring_pop(&victim->ring, &item) && item == i);
    CHECK(!ring_pop(&thief->ring, &item) && !ring_pop(&victim->ring, &item));
    free(victim);
    free(thief);
}

static void of_100_pushed_the_thief_gets_the_older_50(void)
{
    for_each_start(hundred_at);
}

static void a_thief_takes_never_more_than_fits(void)
{
    for (uintptr_t used = 0; used <= 8; used++) {
        struct box *victim = box_new(256, 0), *thief = box_new(8, 3);
        uintptr_t item;
        fill(victim, 100, 100);
        fill(thief, 0, used);
        int room = (int)(8 - used);
        CHECK_EQ(ring_steal(&victim->ring, &thief->ring, FILCH_STEAL_HALF, &item), room + 1);
        CHECK_EQ(item, 100);
        CHECK_EQ(ring_size(&thief->ring), 8);
        CHECK_EQ(ring_size(&victim->ring), 100 - room - 1);
        for (uintptr_t i = 0; i < used; i++)
            CHECK(ring_pop(&thief->ring, &item) && item == i);
        for (uintptr_t i = 0; i < 8 - used; i++)
            CHECK(ring_pop(&thief->ring, &item) && item == 101 + i);
        free(victim);
        free(thief);
    }
}

static void a_thief_without_queue_gets_one(void)
{
    struct box *victim = box_new(16, 0);
    uintptr_t item;
    fill(victim, 0, 10);
    CHECK_EQ(ring_steal(&victim->ring, NULL, FILCH_STEAL_ALL, &item), 1);
    CHECK_EQ(item, 0);
    CHECK_EQ(lifo_steal(&victim->lifo, NULL, FILCH_STEAL_ALL, &item), 1);
    CHECK_EQ(item, 0);
    free(victim);
}

static void every_fraction_takes_its_share(void)
{
    static const enum filch_steal how[] = {FILCH_STEAL_HALF,  FILCH_STEAL_ONE, FILCH_STEAL_QUARTER,
                                           FILCH_STEAL_THREE, FILCH_STEAL_ALL, FILCH_STEAL_FLOOR};
    for (size_t k = 0; k < sizeof how / sizeof how[0]; k++) {
        for (uintptr_t n = 0; n <= 17; n++) {
            struct box *victim = box_new(32, 0), *thief = box_new(32, 0);
            uintptr_t item;
            fill(victim, 0, n);
            int want = (int)choice_amount(how[k], n);
            CHECK_EQ(ring_steal(&victim->ring, &thief->ring, how[k], &item), want);
            CHECK_EQ(lifo_steal(&victim->lifo, &thief->lifo, how[k], &item), want);
            CHECK_EQ(ring_size(&victim->ring), (int)n - want);
            CHECK_EQ(lifo_size(&victim->lifo), (int)n - want);
            free(victim);
            free(thief);
        }
    }
}

static void floor_leaves_a_single_item_to_its_owner(void)
{
    struct box *victim = box_new(4, 0), *thief = box_new(4, 0);
    uintptr_t item;
    fill(victim, 5, 1);
    CHECK_EQ(ring_steal(&victim->ring, &thief->ring, FILCH_STEAL_FLOOR, &item), 0);
    CHECK_EQ(lifo_steal(&victim->lifo, &thief->lifo, FILCH_STEAL_FLOOR, &item), 0);
    CHECK(ring_pop(&victim->ring, &item) && item == 5);
    CHECK(lifo_pop(&victim->lifo, &item) && item == 5);
    free(victim);
    free(thief);
}

static void overflow_at(uint64_t start)
{
    struct box *box = box_new(4, start);
    uintptr_t out[4], item;
    CHECK_EQ(ring_push_batch_out(&box->ring, out, 4), 0);
    CHECK_EQ(lifo_push_batch_out(&box->lifo, out, 4), 0);
    fill(box, 0, 4);
    CHECK_EQ(ring_push_batch_out(&box->ring, out, 4), 2);
    CHECK(out[0] == 0 && out[1] == 1);
    CHECK_EQ(lifo_push_batch_out(&box->lifo, out, 4), 2);
    CHECK(out[0] == 0 && out[1] == 1);
    fill(box, 4, 2);
    CHECK(!ring_push(&box->ring, 9) && !lifo_push(&box->lifo, 9));
    for (uintptr_t i = 0; i < 4; i++) {
        CHECK(ring_pop(&box->ring, &item) && item == 2 + i);
        CHECK(lifo_pop(&box->lifo, &item) && item == 5 - i);
    }
    fill(box, 0, 4);
    CHECK_EQ(ring_push_batch_out(&box->ring, out, 1), 1);
    CHECK_EQ(lifo_push_batch_out(&box->lifo, out, 1), 1);
    CHECK_EQ(ring_size(&box->ring), 3);
    CHECK_EQ(lifo_size(&box->lifo), 3);
    free(box);
}

static void a_full_queue_hands_out_its_older_half(void)
{
    for_each_start(overflow_at);
}

static void pushing_many_stops_when_full(void)
{
    static const uintptr_t items[6] = {10, 11, 12, 13, 14, 15};
    struct box *box = box_new(4, UINT64_MAX - 1);
    uintptr_t item;
    CHECK_EQ(ring_push_many(&box->ring, items, 3), 3);
    CHECK_EQ(lifo_push_many(&box->lifo, items, 3), 3);
    CHECK_EQ(ring_push_many(&box->ring, items + 3, 3), 1);
    CHECK_EQ(lifo_push_many(&box->lifo, items + 3, 3), 1);
    CHECK_EQ(ring_push_many(&box->ring, items, 1), 0);
    CHECK_EQ(lifo_push_many(&box->lifo, items, 1), 0);
    for (uintptr_t i = 0; i < 4; i++) {
        CHECK(ring_pop(&box->ring, &item) && item == 10 + i);
        CHECK(lifo_pop(&box->lifo, &item) && item == 13 - i);
    }
    free(box);
}

/* ---- the lifo, one thread ------------------------------------------------------------------ */

static void lifo_boundaries_at(uint64_t start)
{
    static const uint32_t capacity[] = {2, 4, 256};
    for (int k = 0; k < 3; k++) {
        struct box *box = box_new(capacity[k], start);
        struct lifo *q = &box->lifo;
        uintptr_t item = 77;
        for (uintptr_t round = 0; round < 5; round++) {
            CHECK(!lifo_pop(q, &item) && !lifo_pop(q, &item));
            CHECK_EQ(lifo_steal(q, NULL, FILCH_STEAL_ONE, &item), 0);
            CHECK_EQ(lifo_size(q), 0);
            CHECK_EQ(lifo_room(q), capacity[k]);
            for (uintptr_t i = 0; i < capacity[k]; i++)
                CHECK(lifo_push(q, round + i));
            CHECK(!lifo_push(q, 99) && !lifo_push(q, 99));
            CHECK_EQ(lifo_size(q), capacity[k]);
            CHECK_EQ(lifo_room(q), 0);
            CHECK_EQ(lifo_steal(q, NULL, FILCH_STEAL_ONE, &item), 1);
            CHECK_EQ(item, round);
            CHECK(lifo_push(q, round + capacity[k]));
            CHECK(!lifo_push(q, 99));
            for (uintptr_t i = 0; i < capacity[k]; i++) {
                CHECK(lifo_pop(q, &item));
                CHECK_EQ(item, round + capacity[k] - i);
            }
        }
        free(box);
    }
}

static void a_lifo_gives_the_owner_the_newest_and_holds_its_capacity(void)
{
    for_each_start(lifo_boundaries_at);
}

static void lifo_hundred_at(uint64_t start)
{
    struct box *victim = box_new(256, start), *thief = box_new(256, start + 5);
    uintptr_t item;
    fill(victim, 0, 100);
    CHECK_EQ(lifo_steal(&victim->lifo, &thief->lifo, FILCH_STEAL_HALF, &item), 50);
    CHECK_EQ(item, 0);
    for (uintptr_t i = 99; i >= 50; i--)
        CHECK(lifo_pop(&victim->lifo, &item) && item == i);
    for (uintptr_t i = 49; i >= 1; i--)
        CHECK(lifo_pop(&thief->lifo, &item) && item == i);
    CHECK(!lifo_pop(&thief->lifo, &item) && !lifo_pop(&victim->lifo, &item));
    free(victim);
    free(thief);
}

static void of_100_in_a_lifo_the_thief_gets_the_oldest_50(void)
{
    for_each_start(lifo_hundred_at);
}

static void a_thief_of_a_lifo_takes_never_more_than_fits(void)
{
    for (uintptr_t used = 0; used <= 4; used++) {
        struct box *victim = box_new(64, 0), *thief = box_new(4, 0);
        uintptr_t item;
        fill(victim, 100, 40);
        fill(thief, 0, used);
        CHECK_EQ(lifo_steal(&victim->lifo, &thief->lifo, FILCH_STEAL_HALF, &item), 5 - (int)used);
        CHECK_EQ(lifo_size(&thief->lifo), 4);
        CHECK_EQ(lifo_size(&victim->lifo), 35 + (int)used);
        free(victim);
        free(thief);
    }
}

/* ---- several threads ----------------------------------------------------------------------- */

struct pair {
    struct box *victim;
    struct box *thief[2];
    uintptr_t first[2];
    int got[2];
    pthread_barrier_t gate;
};

struct half {
    struct pair *pair;
    int me;
};

enum { PAIR_ROUNDS = 500 };

static void *steal_once_per_round(void *arg)
{
    struct half *half = arg;
    struct pair *p = half->pair;
    int me = half->me;
    for (int round = 0; round < PAIR_ROUNDS; round++) {
        pthread_barrier_wait(&p->gate); /* the victim is filled */
        do {
            p->got[me] = ring_steal(&p->victim->ring, &p->thief[me]->ring, FILCH_STEAL_HALF,
                                    &p->first[me]);
        } while (p->got[me] == RING_LOST);
        pthread_barrier_wait(&p->gate); /* both are done */
    }
    return NULL;
}

static void count_round(struct pair *p)
{
    uint8_t times[100] = {0};
    uintptr_t item;
    for (int i = 0; i < 2; i++) {
        times[p->first[i]]++;
        while (ring_pop(&p->thief[i]->ring, &item))
            times[item]++;
    }
    while (ring_pop(&p->victim->ring, &item))
        times[item]++;
    for (int i = 0; i < 100; i++)
        CHECK_MSG(times[i] == 1, "item %d came %d times", i, times[i]);
}

static void two_thieves_at_once_share_and_nothing_is_lost(void)
{
    struct pair p = {.victim = box_new(128, (1ull << 32) - 2)};
    struct half half[2];
    pthread_t thread[2];
    pthread_barrier_init(&p.gate, NULL, 3);
    for (int i = 0; i < 2; i++) {
        half[i] = (struct half){&p, i};
        p.thief[i] = box_new(64, 0);
        CHECK_EQ(pthread_create(&thread[i], NULL, steal_once_per_round, &half[i]), 0);
        once_spread(thread[i], (uint32_t)i);
    }
    for (int round = 0; round < PAIR_ROUNDS; round++) {
        for (uintptr_t i = 0; i < 100; i++)
            CHECK(ring_push(&p.victim->ring, i));
        pthread_barrier_wait(&p.gate);
        pthread_barrier_wait(&p.gate);
        CHECK(p.got[0] == 50 || p.got[1] == 50);
        CHECK_EQ(p.got[0] + p.got[1], 75); /* half of the rest for the later one */
        count_round(&p);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        free(p.thief[i]);
    }
    pthread_barrier_destroy(&p.gate);
    free(p.victim);
}

static bool once_ring_push(void *q, uintptr_t item)
{
    return ring_push(&((struct box *)q)->ring, item);
}

static bool once_ring_pop(void *q, uintptr_t *item)
{
    return ring_pop(&((struct box *)q)->ring, item);
}

static int once_ring_steal(void *victim, void *thief, uint32_t random, uintptr_t *first)
{
    return ring_steal(&((struct box *)victim)->ring, &((struct box *)thief)->ring,
                      (enum filch_steal)(random % 6), first);
}

static bool once_lifo_push(void *q, uintptr_t item)
{
    return lifo_push(&((struct box *)q)->lifo, item);
}

static bool once_lifo_pop(void *q, uintptr_t *item)
{
    return lifo_pop(&((struct box *)q)->lifo, item);
}

static int once_lifo_steal(void *victim, void *thief, uint32_t random, uintptr_t *first)
{
    return lifo_steal(&((struct box *)victim)->lifo, &((struct box *)thief)->lifo,
                      (enum filch_steal)(random % 6), first);
}

static const struct once_ops ring_ops = {once_ring_push, once_ring_pop, once_ring_steal};
static const struct once_ops lifo_ops = {once_lifo_push, once_lifo_pop, once_lifo_steal};

static void once_at_all_sizes(const struct once_ops *ops)
{
    static const struct {
        uint32_t workers, capacity;
    } run[] = {{2, 2}, {3, 4}, {4, 8}, {3, 256}};
    uint64_t stolen = 0;
    for (size_t k = 0; k < sizeof run / sizeof run[0]; k++) {
        void *queue[ONCE_WORKERS_MAX];
        for (uint32_t i = 0; i < run[k].workers; i++)
            queue[i] = box_new(run[k].capacity, starts[(k + 1) % STARTS]);
        stolen += once_run(ops, queue, run[k].workers, ONCE_ITEMS, k);
        for (uint32_t i = 0; i < run[k].workers; i++)
            free(queue[i]);
    }
    CHECK(stolen > 0);
}

static void ring_items_are_taken_exactly_once(void)
{
    once_at_all_sizes(&ring_ops);
}

static void lifo_items_are_taken_exactly_once_by_batches_too(void)
{
    once_at_all_sizes(&lifo_ops);
}

/* The owner empties the older half out into an array while thieves steal: the third way out. */
static bool once_push_or_out(void *q, uintptr_t item)
{
    struct box *box = q;
    return (item & 64 ? ring_push(&box->ring, item) : lifo_push(&box->lifo, item));
}

static bool once_pop_both(void *q, uintptr_t *item)
{
    struct box *box = q;
    if (ring_room(&box->ring) == 0 && ring_push_batch_out(&box->ring, item, 1) == 1)
        return true;
    if (lifo_room(&box->lifo) == 0 && lifo_push_batch_out(&box->lifo, item, 1) == 1)
        return true;
    return ring_pop(&box->ring, item) || lifo_pop(&box->lifo, item);
}

static int once_steal_both(void *victim, void *thief, uint32_t random, uintptr_t *first)
{
    return random & 256 ? once_ring_steal(victim, thief, random, first)
                        : once_lifo_steal(victim, thief, random, first);
}

static const struct once_ops out_ops = {once_push_or_out, once_pop_both, once_steal_both};

static void nothing_is_lost_when_a_full_queue_hands_out_under_theft(void)
{
    once_at_all_sizes(&out_ops);
}

int main(void)
{
    RUN(amounts_round_as_documented);
    RUN(random_numbers_repeat_by_seed_and_stay_in_range);
    RUN(a_ring_holds_exactly_its_capacity_in_order);
    RUN(of_100_pushed_the_thief_gets_the_older_50);
    RUN(a_thief_takes_never_more_than_fits);
    RUN(a_thief_without_queue_gets_one);
    RUN(every_fraction_takes_its_share);
    RUN(floor_leaves_a_single_item_to_its_owner);
    RUN(a_full_queue_hands_out_its_older_half);
    RUN(pushing_many_stops_when_full);
    RUN(a_lifo_gives_the_owner_the_newest_and_holds_its_capacity);
    RUN(of_100_in_a_lifo_the_thief_gets_the_oldest_50);
    RUN(a_thief_of_a_lifo_takes_never_more_than_fits);
    RUN(two_thieves_at_once_share_and_nothing_is_lost);
    RUN(ring_items_are_taken_exactly_once);
    RUN(lifo_items_are_taken_exactly_once_by_batches_too);
    RUN(nothing_is_lost_when_a_full_queue_hands_out_under_theft);
    return check_report();
}
