/* exactly_once.h: several workers push, pop and steal at random; every item must be taken once.
 *
 * Each worker owns a queue. The first half of them push their shares of the items in small bursts,
 * the others live by theft; all pop in small bursts, and steal from random others into their own
 * queue. A worker leaves when its queue is empty and nobody pushes any more: a lost item ends the
 * run like any other and is found when the cells are counted; no clock is involved. The contents
 * of a cell are plain memory: a hand-over without release and acquire is a race for the sanitizer.
 */
#ifndef FILCH_TESTS_EXACTLY_ONCE_H
#define FILCH_TESTS_EXACTLY_ONCE_H

#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE before the first include: the workers are spread over the CPUs"
#endif

#include "base/rng.h"
#include "check.h"

#include <filch/ord.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

struct once_ops {
    bool (*push)(void *queue, uintptr_t item); /* false when full */
    bool (*pop)(void *queue, uintptr_t *item);
    /* Returns the number taken, `first` included, or 0 or less. */
    int (*steal)(void *victim, void *thief, uint32_t random, uintptr_t *first);
};

struct once_cell {
    size_t id; /* plain: written before the push, read and cleared by whoever takes the item */
    uint32_t taken;
};

struct once {
    const struct once_ops *ops;
    void **queue;
    uint32_t workers;
    uint32_t pushing; /* workers that have not pushed all of their share */
    struct once_cell *cell;
    pthread_barrier_t start;
};

struct once_worker {
    struct once *run;
    uint32_t index;
    struct rng rng;
    size_t next, end; /* of its share */
    uint64_t stolen;
};

enum { ONCE_BURST = 8, ONCE_WORKERS_MAX = 8 };

static void once_take(struct once *run, uintptr_t item)
{
    struct once_cell *cell = (struct once_cell *)item;
    size_t id = (size_t)(cell - run->cell);
    CHECK_MSG(filch_add_relaxed(&cell->taken, 1u) == 0, "item %zu taken twice", id);
    CHECK_MSG(cell->id == id, "item %zu came with the contents of %zu", id, cell->id);
    cell->id = SIZE_MAX;
}

static void once_push_burst(struct once_worker *w, void *queue)
{
    struct once *run = w->run;
    if (w->next == w->end)
        return;
    for (uint32_t n = rng_below(&w->rng, ONCE_BURST); n > 0 && w->next < w->end; n--) {
        struct once_cell *cell = &run->cell[w->next];
        cell->id = w->next;
        if (!run->ops->push(queue, (uintptr_t)cell))
            return;
        w->next++;
    }
    if (w->next == w->end)
        filch_sub_acq_rel(&run->pushing, 1u); /* order: release, pairs with the load in once_work */
}

static void once_pop_burst(struct once_worker *w, void *queue)
{
    uintptr_t item;
    for (uint32_t n = rng_below(&w->rng, ONCE_BURST); n > 0; n--) {
        if (!w->run->ops->pop(queue, &item))
            return;
        once_take(w->run, item);
    }
}

/* Of three workers each robs the one before it: what the last one gets has been handed over
 * twice, and it knows the one that pushed only by that. */
static uint32_t once_victim(struct once_worker *w)
{
    if (w->run->workers == 3)
        return w->index > 0 ? w->index - 1 : 0;
    return rng_below(&w->rng, w->run->workers);
}

static bool once_steal(struct once_worker *w, void *queue)
{
    struct once *run = w->run;
    uint32_t victim = once_victim(w);
    uintptr_t first;
    if (victim == w->index)
        return false;
    int n = run->ops->steal(run->queue[victim], queue, rng_below(&w->rng, UINT32_MAX), &first);
    if (n <= 0)
        return false;
    once_take(run, first);
    w->stolen += (uint64_t)n;
    return true;
}

static void *once_work(void *arg)
{
    struct once_worker *w = arg;
    struct once *run = w->run;
    void *queue = run->queue[w->index];
    uintptr_t item;
    pthread_barrier_wait(&run->start);
    while (filch_load_acquire(&run->pushing) > 0) { /* order: pairs with once_push_burst */
        once_push_burst(w, queue);
        once_pop_burst(w, queue);
        if (!once_steal(w, queue) && rng_below(&w->rng, 256) == 0)
            sched_yield(); /* so that few CPUs interleave as well */
    }
    while (run->ops->pop(queue, &item))
        once_take(run, item);
    return NULL;
}

/* The kernel leaves short-lived threads on the CPU that made them, where they cannot collide. */
static void once_spread(pthread_t thread, uint32_t index)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    uint32_t skip = index % (uint32_t)CPU_COUNT(&allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || skip-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        (void)pthread_setaffinity_np(thread, sizeof one, &one); /* only a help */
        return;
    }
}

static void once_start(struct once *run, struct once_worker *w, pthread_t *thread, size_t share)
{
    w->run = run;
    if (w->index < run->pushing) {
        w->next = w->index * share;
        w->end = w->next + share;
    }
    CHECK_EQ(pthread_create(thread, NULL, once_work, w), 0);
    once_spread(*thread, w->index);
}

/* Returns the number of items that were stolen. */
__attribute__((unused)) static uint64_t once_run(const struct once_ops *ops, void **queue,
                                                 uint32_t workers, size_t items, uint64_t seed)
{
    struct once run = {.ops = ops, .queue = queue, .workers = workers, .pushing = workers / 2};
    struct once_worker worker[ONCE_WORKERS_MAX] = {{.index = 0}};
    pthread_t thread[ONCE_WORKERS_MAX];
    size_t share = items / run.pushing, n = share * run.pushing;
    uint64_t stolen = 0;
    run.cell = calloc(n, sizeof *run.cell);
    CHECK(run.cell);
    pthread_barrier_init(&run.start, NULL, workers);
    for (uint32_t i = 0; i < workers; i++) {
        worker[i].index = i;
        rng_seed(&worker[i].rng, seed * ONCE_WORKERS_MAX + i);
        once_start(&run, &worker[i], &thread[i], share);
    }
    for (uint32_t i = 0; i < workers; i++) {
        pthread_join(thread[i], NULL);
        stolen += worker[i].stolen;
    }
    for (size_t i = 0; i < n; i++)
        CHECK_MSG(run.cell[i].taken == 1, "item %zu taken %u times", i, run.cell[i].taken);
    pthread_barrier_destroy(&run.start);
    free(run.cell);
    return stolen;
}

/* How much a stress test does; the thread sanitizer is about ten times slower. */
#ifdef FILCH_TSAN
enum { ONCE_ITEMS = 40000 };
#else
enum { ONCE_ITEMS = 400000 };
#endif

#endif
