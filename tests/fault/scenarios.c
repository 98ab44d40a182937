/* scenarios.c: see scenarios.h. Nothing here waits for help that may never come: a thief, a second
 * thread or a guest is waited for only for a moment. */
#define _GNU_SOURCE
#include "scenarios.h"

#include "check.h"
#include "core/idle.h"
#include "fault.h"

#include <errno.h>
#include <filch.h>
#include <filch/deque.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define HUGE_STACK ((size_t)192 << 20) /* with its slots, more than half of what is mapped at once */

/* Looks until it holds, for a millisecond at most. */
#define FOR_A_MOMENT(cond) FOR_SOME_NS(1000000, cond)
#define FOR_SOME_NS(ns, cond)                                                                     \
    do {                                                                                          \
        int64_t end_ = filch_clock_ns() + (ns);                                                   \
        while (!(cond) && filch_clock_ns() < end_)                                                \
            sched_yield();                                                                        \
    } while (0)

static uint32_t value_of(const uint32_t *word)
{
    return filch_load_acquire(word);
}

static void count(void *word)
{
    filch_add_acq_rel((uint32_t *)word, 1u);
}

static filch_config config_of(int workers)
{
    filch_config c = FILCH_CONFIG_INIT;
    c.workers = workers;
    c.no_environment = 1;
    c.stack_size = (size_t)64 << 10;
    c.ring_capacity = 4;
    return c;
}

/* Null if there was no memory, and only then. */
static filch_pool *make(const filch_config *c)
{
    filch_pool *pool = (filch_pool *)1;
    int rc = filch_pool_create(&pool, c);
    if (rc == 0)
        return pool;
    CHECK_EQ(rc, -ENOMEM);
    CHECK(!pool);
    return 0;
}

/* ---- work of every kind --------------------------------------------------------------------- */

FILCH_TASK(int, tree, int, depth)
{
    if (depth == 0)
        return 1;
    FILCH_FORK(right, tree, depth - 1);
    int left = FILCH_CALL(tree, depth - 1);
    return left + FILCH_JOIN(tree, right);
}

static void a_tree_of_forks(filch_pool *pool)
{
    CHECK_EQ(FILCH_RUN_ON(pool, tree, 7), 128);
}

static void jobs_one_by_one(filch_pool *pool)
{
    static const int places[] = {FILCH_ANYWHERE, FILCH_ROUND_ROBIN, FILCH_RANDOM, 0, 1};
    filch_job jobs[COUNT(places)];
    uint32_t ran = 0;
    for (size_t i = 0; i < COUNT(places); i++) {
        filch_job_init(&jobs[i], count, &ran);
        CHECK_EQ(filch_submit_on(pool, &jobs[i], places[i]), 0);
    }
    for (size_t i = 0; i < COUNT(places); i++)
        CHECK_EQ(filch_job_wait(&jobs[i], FILCH_FOREVER), 0);
    CHECK_EQ(ran, COUNT(places));
}

static void jobs_in_an_array(filch_pool *pool)
{
    filch_job jobs[24];
    uint32_t ran = 0;
    for (size_t i = 0; i < COUNT(jobs); i++)
        filch_job_init(&jobs[i], count, &ran);
    CHECK_EQ(filch_submit_array_on(pool, jobs, COUNT(jobs), FILCH_ANYWHERE), COUNT(jobs));
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(ran, COUNT(jobs));
}

struct detached {
    uint32_t ran, cleaned;
};
static void detached_run(void *arg) { count(&((struct detached *)arg)->ran); }
static void detached_clean(void *arg) { count(&((struct detached *)arg)->cleaned); }

static void jobs_detached(filch_pool *pool)
{
    struct detached d = {0, 0};
    uint32_t accepted = 0;
    for (int i = 0; i < 6; i++) {
        int rc = filch_submit_detached_on(pool, detached_run, &d, detached_clean, FILCH_ANYWHERE);
        CHECK(rc == 0 || rc == -ENOMEM);
        accepted += rc == 0;
    }
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(d.ran, accepted);
    CHECK_EQ(d.cleaned, accepted);
}

/* A guest waits for what it submitted itself. */
static void waits_for_a_job(void *arg)
{
    uint32_t ran = 0;
    filch_job job;
    filch_job_init(&job, count, &ran);
    CHECK_EQ(filch_submit_on(arg, &job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
    CHECK_EQ(ran, 1);
}

static void a_root_that_waits_for_a_job(filch_pool *pool)
{
    filch_run_on(pool, waits_for_a_job, pool);
}

/* From inside: more than a queue holds, so that it grows or overflows. */
struct nest {
    filch_pool *pool;
    filch_job jobs[20];
    uint32_t ran;
};

static void nest_fill(void *arg)
{
    struct nest *n = arg;
    for (size_t i = 0; i < COUNT(n->jobs); i++) {
        filch_job_init(&n->jobs[i], count, &n->ran);
        CHECK_EQ(filch_submit_on(n->pool, &n->jobs[i], FILCH_ANYWHERE), 0);
    }
}

static void jobs_of_a_job(filch_pool *pool)
{
    struct nest n = {.pool = pool};
    filch_job job;
    filch_job_init(&job, nest_fill, &n);
    CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(n.ran, COUNT(n.jobs));
}

/* A fork that a thief may take: if one does, the join waits for it. */
struct theft {
    uint32_t started, ran;
};

static void theft_run(void *arg)
{
    struct theft *l = arg;
    count(&l->started);
    struct timespec t = {0, 100000};
    nanosleep(&t, NULL);
    count(&l->ran);
}

static void theft_fork(void *arg)
{
    struct theft *l = arg;
    filch_job jobs[2];
    filch_fork(&jobs[0], theft_run, l);
    filch_fork(&jobs[1], count, &l->ran);
    FOR_A_MOMENT(value_of(&l->started));
    filch_join(&jobs[1]);
    filch_join(&jobs[0]);
    CHECK_EQ(l->ran, 2);
}

static void forks_that_are_stolen(filch_pool *pool)
{
    struct theft l = {0, 0};
    filch_job job;
    filch_job_init(&job, theft_fork, &l); /* not pinned: its join suspends */
    CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
    CHECK_EQ(l.ran, 2);
    l = (struct theft){0, 0};
    filch_run_on(pool, theft_fork, &l); /* a guest, pinned: its join helps and sleeps */
    CHECK_EQ(l.ran, 2);
}

/* Jobs that wait for the caller. The caller waits for the jobs, not for an event: that would not
 * tell it which pool to work in when there are no threads. */
struct relay {
    filch_event from, to;
    uint32_t *passed;
};

static void relay_pass(void *arg)
{
    struct relay *r = arg;
    filch_event_wait(&r->from);
    count(r->passed);
    filch_event_set(&r->to);
}

static void jobs_that_wait(filch_pool *pool)
{
    struct chain {
        filch_job job;
        struct relay relay;
    } links[3];
    uint32_t passed = 0;
    for (size_t i = 0; i < COUNT(links); i++) {
        links[i].relay = (struct relay){{0}, {0}, &passed};
        filch_job_init(&links[i].job, relay_pass, &links[i].relay);
        CHECK_EQ(filch_submit_on(pool, &links[i].job, FILCH_ANYWHERE), 0);
    }
    for (size_t i = 0; i < COUNT(links); i++)
        filch_event_set(&links[i].relay.from);
    for (size_t i = 0; i < COUNT(links); i++) {
        CHECK_EQ(filch_job_wait(&links[i].job, FILCH_FOREVER), 0);
        CHECK(filch_event_is_set(&links[i].relay.to));
    }
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(passed, COUNT(links));
}

/* The first waits for what a later one does. */
struct pair {
    filch_event event;
    uint32_t seen;
};
static void pair_wait(void *arg)
{
    struct pair *p = arg;
    filch_event_wait(&p->event);
    count(&p->seen);
}
static void pair_set(void *arg) { filch_event_set(&((struct pair *)arg)->event); }

static void a_job_that_waits_for_a_later_one(filch_pool *pool)
{
    struct pair p = {{0}, 0};
    filch_job jobs[2];
    filch_job_init(&jobs[0], pair_wait, &p);
    filch_job_init(&jobs[1], pair_set, &p);
    CHECK_EQ(filch_submit_array_on(pool, jobs, 2, FILCH_ANYWHERE), 2);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(p.seen, 1);
}

/* Waits for what it forked itself and did not join yet. */
static void waits_for_own_fork(void *arg)
{
    struct pair *p = arg;
    filch_job job;
    filch_fork(&job, pair_set, p);
    filch_event_wait(&p->event);
    filch_join(&job);
    count(&p->seen);
}

static void a_job_that_waits_for_its_fork(filch_pool *pool)
{
    struct pair p = {{0}, 0};
    filch_job job;
    filch_job_init(&job, waits_for_own_fork, &p);
    CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
    CHECK_EQ(p.seen, 1);
    p = (struct pair){{0}, 0};
    filch_run_on(pool, waits_for_own_fork, &p);
    CHECK_EQ(p.seen, 1);
}

static void wait_with_a_deadline(filch_pool *pool)
{
    struct relay r = {{0}, {0}, &(uint32_t){0}};
    filch_job job;
    filch_job_init(&job, relay_pass, &r);
    CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_job_wait(&job, FILCH_NOW), -ETIMEDOUT);
    filch_event_set(&r.from);
    int rc;
    do
        rc = filch_job_wait(&job, filch_clock_ns() + 500000);
    while (rc == -ETIMEDOUT);
    CHECK_EQ(rc, 0);
}

static void end(filch_pool *pool)
{
    filch_job late;
    filch_job_init(&late, count, NULL);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    CHECK_EQ(filch_submit_on(pool, &late, FILCH_ANYWHERE), -EPIPE);
    filch_pool_destroy(pool);
}

static void everything_on(const filch_config *c)
{
    filch_pool *pool = make(c);
    if (!pool)
        return;
    a_tree_of_forks(pool);
    jobs_one_by_one(pool);
    jobs_in_an_array(pool);
    jobs_detached(pool);
    jobs_of_a_job(pool);
    a_root_that_waits_for_a_job(pool);
    forks_that_are_stolen(pool);
    jobs_that_wait(pool);
    if (c->join == FILCH_JOIN_SUSPEND) { /* with help, what they wait for may lie behind them */
        a_job_that_waits_for_a_later_one(pool);
        a_job_that_waits_for_its_fork(pool);
    }
    wait_with_a_deadline(pool);
    end(pool);
}

/* ---- pools by policy ------------------------------------------------------------------------ */

static void ring(void)
{
    filch_config c = config_of(3);
    everything_on(&c);
}

static void one_worker(void)
{
    filch_config c = config_of(1);
    everything_on(&c);
}

static void lifo(void)
{
    filch_config c = config_of(2);
    c.ends = FILCH_ENDS_LIFO;
    everything_on(&c);
}

static void shared(void)
{
    filch_config c = config_of(2);
    c.queue = FILCH_QUEUE_SHARED;
    everything_on(&c);
}

static void private(void)
{
    filch_config c = config_of(2);
    c.queue = FILCH_QUEUE_PRIVATE;
    everything_on(&c);
}

static void locked(void)
{
    filch_config c = config_of(2);
    c.queue = FILCH_QUEUE_LOCKED;
    everything_on(&c);
}

static void trylock_reverse(void)
{
    filch_config c = config_of(2);
    c.ends = FILCH_ENDS_REVERSE;
    everything_on(&c);
}

static void wake_all(void)
{
    filch_config c = config_of(3);
    c.wake = FILCH_WAKE_ALL;
    everything_on(&c);
}

static void wake_none(void)
{
    filch_config c = config_of(2);
    c.wake = FILCH_WAKE_NONE;
    everything_on(&c);
}

static void yielding(void)
{
    filch_config c = config_of(2);
    c.idle = FILCH_IDLE_YIELD;
    everything_on(&c);
}

static void backing_off(void)
{
    filch_config c = config_of(2);
    c.idle = FILCH_IDLE_BACKOFF;
    everything_on(&c);
}

static void helping(void)
{
    filch_config c = config_of(2);
    c.join = FILCH_JOIN_HELP;
    everything_on(&c);
}

/* Without membarrier every owner fences for itself. */
static void fenced(void)
{
    filch_config c = config_of(2);
    CHECK_EQ(setenv("FILCH_NO_MEMBARRIER", "1", 1), 0);
    everything_on(&c);
    CHECK_EQ(unsetenv("FILCH_NO_MEMBARRIER"), 0);
}

/* Every stack is a mapping of its own, so each of them can be the one that is not to be had. */
static void huge_stacks(void)
{
    filch_config c = config_of(2);
    c.stack_size = HUGE_STACK;
    everything_on(&c);
}

static void huge_stack_alone(void)
{
    filch_config c = config_of(1);
    c.stack_size = HUGE_STACK;
    everything_on(&c);
}

/* Without jobs that wait, one stack is enough. */
static void one_stack_for_all(void)
{
    filch_config c = config_of(2);
    c.stack_size = HUGE_STACK;
    filch_pool *pool = make(&c);
    if (!pool)
        return;
    a_tree_of_forks(pool);
    jobs_one_by_one(pool);
    jobs_in_an_array(pool);
    jobs_detached(pool);
    jobs_of_a_job(pool);
    forks_that_are_stolen(pool);
    end(pool);
}

/* ---- several pools, guests ------------------------------------------------------------------ */

struct bridge {
    filch_pool *other;
    int leaves;
};

static void bridge_cross(void *arg)
{
    struct bridge *b = arg;
    b->leaves = FILCH_RUN_ON(b->other, tree, 5);
}

static void pools_that_call_each_other(void)
{
    filch_config c = config_of(2);
    filch_pool *a = make(&c), *b = make(&c);
    if (a && b) {
        struct bridge over = {b, 0};
        filch_job job;
        filch_job_init(&job, bridge_cross, &over);
        CHECK_EQ(filch_submit_on(a, &job, FILCH_ANYWHERE), 0);
        CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
        CHECK_EQ(over.leaves, 32);
        over.leaves = 0;
        filch_run_on(a, bridge_cross, &over);
        CHECK_EQ(over.leaves, 32);
    }
    filch_pool_destroy(a);
    filch_pool_destroy(b);
}

/* A guest leaves its seat while it waits, another takes it, and the first wants it back. */
struct guests {
    filch_pool *pool;
    filch_event event;
    uint32_t waiting, back;
};

static void guest_waits(void *arg)
{
    struct guests *g = arg;
    count(&g->waiting);
    filch_event_wait(&g->event);
    count(&g->back);
}

static void guest_sits(void *arg)
{
    struct guests *g = arg;
    uint64_t before = fault_calls_in("idle_seat_enter_wait");
    filch_event_set(&g->event);
    FOR_SOME_NS(20000000, fault_calls_in("idle_seat_enter_wait") > before);
}

static void *first_guest(void *arg)
{
    struct guests *g = arg;
    filch_run_on(g->pool, guest_waits, g);
    return NULL;
}

static void guests_in_turn(void)
{
    filch_config c = config_of(2);
    struct guests g = {.pool = make(&c)};
    if (!g.pool)
        return;
    pthread_t first;
    CHECK_EQ(pthread_create(&first, NULL, first_guest, &g), 0);
    while (!value_of(&g.waiting))
        sched_yield();
    filch_run_on(g.pool, guest_sits, &g);
    CHECK_EQ(pthread_join(first, NULL), 0);
    CHECK_EQ(g.back, 1);
    end(g.pool);
}

/* ---- locks, stacks, deques, the default pool ------------------------------------------------- */

struct contended {
    filch_pool *pool;
    filch_job job;
    uint32_t ran;
};

static void *submits_to_locked(void *arg)
{
    struct contended *x = arg;
    filch_job_init(&x->job, count, &x->ran);
    CHECK_EQ(filch_submit_on(x->pool, &x->job, FILCH_ANYWHERE), 0);
    return NULL;
}

static void a_lock_that_is_held(void)
{
    filch_config c = config_of(1);
    struct contended x = {.pool = make(&c)};
    if (!x.pool)
        return;
    pthread_t other;
    uint64_t before = fault_calls_in("lock_wait");
    lock_acquire(&x.pool->injector.lock);
    CHECK_EQ(pthread_create(&other, NULL, submits_to_locked, &x), 0);
    while (fault_calls_in("lock_wait") == before)
        sched_yield();
    lock_release(&x.pool->injector.lock);
    CHECK_EQ(pthread_join(other, NULL), 0);
    CHECK_EQ(filch_pool_wait(x.pool, FILCH_FOREVER), 0);
    CHECK_EQ(x.ran, 1);
    end(x.pool);
}

/* More suspended jobs than stacks are kept warm. The last of them lets all go. */
static void many_stacks(void)
{
    enum { MANY = 300 };
    static filch_job jobs[MANY];
    filch_config c = config_of(1);
    c.stack_size = (size_t)16 << 10;
    c.ring_capacity = 512;
    filch_pool *pool = make(&c);
    if (!pool)
        return;
    struct pair p = {{0}, 0};
    for (int i = 0; i < MANY; i++)
        filch_job_init(&jobs[i], i < MANY - 1 ? pair_wait : pair_set, &p);
    CHECK_EQ(filch_submit_array_on(pool, jobs, MANY, FILCH_ANYWHERE), MANY);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(p.seen, MANY - 1);
    end(pool);
}

static int push_up_to(filch_deque *d, uintptr_t from, uintptr_t to)
{
    for (uintptr_t i = from; i <= to; i++) {
        int rc = filch_deque_push(d, (void *)i);
        if (rc != 0) {
            CHECK_EQ(rc, -ENOMEM);
            return (int)(i - from);
        }
    }
    return (int)(to - from + 1);
}

/* What was pushed comes out once, wherever it went. */
static void deques_with(enum filch_deque_order order)
{
    filch_deque *d = NULL, *thief = NULL;
    int rc = filch_deque_create(&d, order, 2), rc2 = filch_deque_create(&thief, order, 1);
    CHECK(rc == 0 || rc == -ENOMEM);
    CHECK(rc2 == 0 || rc2 == -ENOMEM);
    CHECK((rc == 0) == (d != NULL) && (rc2 == 0) == (thief != NULL));
    if (d && thief) {
        uintptr_t sum = 0;
        void *item;
        int pushed = push_up_to(d, 1, 40), out = 0;
        int moved = filch_deque_steal_batch(d, thief, SIZE_MAX);
        CHECK(moved > 0 || moved == -ENOMEM || pushed == 0);
        rc = filch_deque_reserve(thief, 100);
        CHECK(rc == 0 || rc == -ENOMEM);
        CHECK_EQ(filch_deque_size(d) + filch_deque_size(thief), pushed);
        for (; filch_deque_pop(d, &item) == 1; out++)
            sum += (uintptr_t)item;
        for (; filch_deque_steal(thief, &item) == 1; out++)
            sum += (uintptr_t)item;
        CHECK_EQ(out, pushed);
        CHECK_EQ(sum, (uintptr_t)(pushed * (pushed + 1) / 2));
    }
    filch_deque_destroy(d);
    filch_deque_destroy(thief);
}

static void deques(void)
{
    deques_with(FILCH_DEQUE_LIFO);
    deques_with(FILCH_DEQUE_FIFO);
}

/* ---- the table ------------------------------------------------------------------------------ */

#define SCENARIO(name, frugal) {#name, name, frugal}
const struct scenario scenarios[] = {
    SCENARIO(ring, 0),
    SCENARIO(one_worker, 0),
    SCENARIO(lifo, 0),
    SCENARIO(shared, 0),
    SCENARIO(private, 0),
    SCENARIO(locked, 0),
    SCENARIO(wake_all, 0),
    SCENARIO(trylock_reverse, 0),
    SCENARIO(wake_none, 0),
    SCENARIO(yielding, 0),
    SCENARIO(backing_off, 0),
    SCENARIO(helping, 0),
    SCENARIO(fenced, 0),
    SCENARIO(huge_stacks, 0),
    SCENARIO(huge_stack_alone, 0),
    SCENARIO(guests_in_turn, 0),
    SCENARIO(pools_that_call_each_other, 0),
    SCENARIO(a_lock_that_is_held, 0),
    SCENARIO(many_stacks, 0),
    SCENARIO(one_stack_for_all, 1),
    SCENARIO(deques, 1),
};
const int scenario_count = COUNT(scenarios);
