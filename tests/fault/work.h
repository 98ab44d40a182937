/* work.h: work of every kind that a pool can be given, each with exact accounting. For scenarios.c.
 * Nothing here waits for help that may never come: a thief, a second thread or a guest is waited for
 * only for a moment. */
#ifndef FILCH_TESTS_WORK_H
#define FILCH_TESTS_WORK_H

#include "check.h"

#include <errno.h>
#include <filch.h>
#include <sched.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

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

#endif
