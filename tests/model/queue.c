/* queue.c: models of a worker's queue (core/queue.c): what does not fit goes to the pool's injector.
 * Two workers of a pool that has nothing but queues, capacity 2 and 4. */
#include "jobs.h"

#include "core/queue.h"

static filch_pool pool;
static struct worker seats[2];
static uintptr_t storage[2][4];

static void start(unsigned capacity, enum filch_queue queue, enum filch_ends ends, enum filch_steal steal)
{
    pool.config.queue = queue;
    pool.config.ends = ends;
    pool.config.steal = steal;
    pool.config.ring_capacity = capacity;
    pool.plain = queue == FILCH_QUEUE_RING && ends == FILCH_ENDS_FIFO;
    for (int i = 0; i < 2; i++) {
        seats[i].pool = &pool;
        mc_check(queue_init(&seats[i], storage[i]) == 0);
    }
}

static void pop_all(struct worker *w)
{
    work_item it;
    while (queue_pop(w, &it))
        job_run(it);
}

/* Returns how many were in the injector. */
static unsigned take_overflow(void)
{
    work_item it;
    unsigned n = 0;
    while (inject_take(&pool.injector, &it, 1)) {
        job_run(it);
        n++;
    }
    return n;
}

/* The last of all threads. What was counted is what happened. */
static void finish(void)
{
    mc_join_all();
    pop_all(&seats[0]);
    pop_all(&seats[1]);
    uint64_t counted = counters_get(&seats[0].counters, EV_OVERFLOW) +
                       counters_get(&seats[1].counters, EV_OVERFLOW);
    mc_check(take_overflow() == counted);
    queue_destroy(&seats[0]);
    queue_destroy(&seats[1]);
}

static void thief(void *unused)
{
    (void)unused;
    work_item it;
    enum queue_result r = queue_steal(&seats[1], &seats[0], &it);
    uint64_t counted = counters_get(&seats[1].counters, EV_STEAL_JOB);
    mc_check(r == QUEUE_TAKEN ? counted > 0 : counted == 0);
    if (r == QUEUE_TAKEN)
        job_run(it);
    pop_all(&seats[1]);
}

static void push_against_thief(unsigned n)
{
    mc_thread(thief, 0);
    for (unsigned i = 0; i < n; i++)
        queue_push(&seats[0], job_item(i));
    finish();
}

static void queue_ring_overflows_while_stolen(void)
{
    start(2, FILCH_QUEUE_RING, FILCH_ENDS_FIFO, FILCH_STEAL_HALF);
    push_against_thief(5);
}
MC_MODEL(queue_ring_overflows_while_stolen,
         .claim = "a full ring hands its older half to the injector, whole, also while a thief is at it",
         .preemptions = 4);

static void queue_lifo_overflows_while_stolen(void)
{
    start(2, FILCH_QUEUE_RING, FILCH_ENDS_LIFO, FILCH_STEAL_ALL);
    push_against_thief(4);
}
MC_MODEL(queue_lifo_overflows_while_stolen, .claim = "the same for the queue whose owner takes the newest",
         .preemptions = 3);

static void queue_locked_overflows_without_memory(void)
{
    start(2, FILCH_QUEUE_LOCKED, mc_choose(2) ? FILCH_ENDS_LIFO : FILCH_ENDS_REVERSE, FILCH_STEAL_HALF);
    mc_fails(MC_ALLOC);
    mc_thread(thief, 0);
    for (unsigned i = 0; i < 3; i++)
        queue_push(&seats[0], job_item(i));
    finish();
}
MC_MODEL(queue_locked_overflows_without_memory,
         .claim = "a locked queue that cannot grow hands the job to the injector", .preemptions = 3,
         .failing = 1);

/* Alone: half goes out, oldest first, and the order stays. */
static void queue_overflow_is_the_older_half(void)
{
    unsigned capacity = 2u << mc_choose(2), half = capacity / 2;
    work_item it = 0;
    start(capacity, FILCH_QUEUE_RING, mc_choose(2) ? FILCH_ENDS_LIFO : FILCH_ENDS_FIFO, FILCH_STEAL_HALF);
    for (unsigned i = 0; i < capacity; i++)
        queue_push(&seats[0], job_item(i));
    mc_check(inject_count(&pool.injector) == 0 && queue_size(&seats[0]) == capacity);
    queue_push(&seats[0], job_item(capacity));
    mc_check(inject_count(&pool.injector) == half && queue_size(&seats[0]) == half + 1);
    for (unsigned i = 0; i < half; i++) {
        mc_check(inject_take(&pool.injector, &it, 1) == 1 && job_task(it) == i);
        job_run(it);
    }
    pop_all(&seats[0]);
}
MC_MODEL(queue_overflow_is_the_older_half, .claim = "the older half of a full queue goes to the injector",
         .preemptions = MC_UNBOUNDED);
