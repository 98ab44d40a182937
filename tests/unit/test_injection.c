/* test_injection.c: a job submitted on a worker goes to that worker's own queue; only what comes
 * from outside, and what does not fit, goes through the pool's injector. Shown by the counters. */
#include "pool_kit.h"

static uint64_t total(filch_pool *pool, const char *name)
{
    CHECK(filch_stats_index(name) >= 0);
    return filch_stats_total(pool, name);
}

struct spawner {
    filch_job job;
    struct cell *child;
    size_t children;
    int where;
    uint32_t runs;
};

static void spawn(void *arg)
{
    struct spawner *s = arg;
    filch_add_relaxed(&s->runs, 1u); /* order: a count */
    for (size_t i = 0; i < s->children; i++) {
        cell_init(&s->child[i]);
        CHECK_EQ(filch_submit(&s->child[i].job, s->where), 0);
    }
}

static void spawn_from(filch_pool *pool, struct spawner *s, int worker)
{
    s->runs = 0;
    filch_job_init(&s->job, spawn, s);
    CHECK_EQ(filch_submit_on(pool, &s->job, worker), 0);
}

static void drain(filch_pool *pool)
{
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
}

static struct cell cells[2000];

static void jobs_submitted_by_jobs_are_never_injected(void)
{
    for (int workers = 1; workers <= 8; workers *= 2) {
        filch_pool *pool = kit_pool(workers);
        struct spawner s = {.child = cells, .children = 200, .where = FILCH_ANYWHERE};
        spawn_from(pool, &s, 0);
        drain(pool);
        cells_check(cells, 200);
        CHECK_EQ(total(pool, "submitted"), 200);
        CHECK_EQ(total(pool, "injected"), 0);
        CHECK_EQ(total(pool, "overflow"), 0);
        CHECK_EQ(total(pool, "inbox"), 1);
        kit_destroy(pool);
    }
}

static void grand_spawn(void *arg)
{
    struct spawner *s = arg;
    for (int i = 0; i < 20; i++) {
        s[i] = (struct spawner){.child = cells + 10 * i, .children = 10, .where = FILCH_ANYWHERE};
        filch_job_init(&s[i].job, spawn, &s[i]);
        CHECK_EQ(filch_submit(&s[i].job, FILCH_ANYWHERE), 0);
    }
}

static void jobs_of_jobs_of_jobs_are_never_injected(void)
{
    static struct spawner s[20];
    filch_job job;
    filch_pool *pool = kit_pool(4);
    filch_job_init(&job, grand_spawn, s);
    CHECK_EQ(filch_submit_on(pool, &job, 3), 0);
    drain(pool);
    cells_check(cells, 200);
    CHECK_EQ(total(pool, "submitted"), 220);
    CHECK_EQ(total(pool, "injected"), 0);
    kit_destroy(pool);
}

static void jobs_from_outside_are_injected(void)
{
    filch_pool *pool = kit_pool(4);
    for (int i = 0; i < 100; i++) {
        cell_init(&cells[i]);
        CHECK_EQ(filch_submit_on(pool, &cells[i].job, FILCH_ANYWHERE), 0);
    }
    drain(pool);
    cells_check(cells, 100);
    CHECK_EQ(total(pool, "injected"), 100);
    CHECK_EQ(total(pool, "submitted"), 0);
    CHECK_EQ(total(pool, "inbox"), 0);
    kit_destroy(pool);
}

struct stranger {
    filch_job job;
    filch_pool *other;
    struct cell inner;
};

static void submit_elsewhere(void *arg)
{
    struct stranger *s = arg;
    cell_init(&s->inner);
    CHECK_EQ(filch_submit_on(s->other, &s->inner.job, FILCH_ANYWHERE), 0);
}

static void a_worker_of_another_pool_is_outside(void)
{
    filch_pool *here = kit_pool(2), *there = kit_pool(2);
    struct stranger s = {.other = there};
    filch_job_init(&s.job, submit_elsewhere, &s);
    CHECK_EQ(filch_submit_on(here, &s.job, 0), 0);
    drain(here);
    drain(there);
    cells_check(&s.inner, 1);
    CHECK_EQ(total(there, "injected"), 1);
    CHECK_EQ(total(there, "submitted"), 0);
    CHECK_EQ(total(here, "submitted"), 0);
    kit_destroy(here);
    kit_destroy(there);
}

static void a_chosen_worker_gets_it_in_its_inbox_unless_it_is_the_caller(void)
{
    filch_pool *pool = kit_pool(4);
    struct spawner s = {.child = cells, .children = 50, .where = 2};
    spawn_from(pool, &s, 1);
    drain(pool);
    cells_check(cells, 50);
    CHECK_EQ(total(pool, "inbox") + total(pool, "submitted"), 51);
    CHECK_EQ(total(pool, "injected"), 0);
    kit_destroy(pool);
}

static void what_does_not_fit_is_injected_and_counted(void)
{
    filch_config c = kit_config(1);
    c.ring_capacity = 4;
    filch_pool *pool = kit_make(&c);
    struct spawner s = {.child = cells, .children = 100, .where = FILCH_ANYWHERE};
    spawn_from(pool, &s, 0);
    drain(pool);
    cells_check(cells, 100);
    CHECK_EQ(total(pool, "submitted"), 100);
    CHECK(total(pool, "overflow") >= 96);
    CHECK_EQ(total(pool, "injected"), total(pool, "overflow"));
    kit_destroy(pool);
}

static void injected_is_what_came_from_outside_and_what_did_not_fit(void)
{
    static const unsigned capacity[] = {2, 4, 64};
    for (int ends = FILCH_ENDS_FIFO; ends <= FILCH_ENDS_LIFO; ends++)
        for (int i = 0; i < 3; i++) {
            filch_config c = kit_config(4);
            c.ring_capacity = capacity[i];
            c.ends = (enum filch_ends)ends;
            filch_pool *pool = kit_make(&c);
            struct spawner s = {.child = cells, .children = 1000, .where = FILCH_ANYWHERE};
            spawn_from(pool, &s, 1);
            for (int n = 1000; n < 1300; n++) {
                cell_init(&cells[n]);
                CHECK_EQ(filch_submit_on(pool, &cells[n].job, FILCH_ANYWHERE), 0);
            }
            drain(pool);
            cells_check(cells, 1300);
            CHECK_EQ(total(pool, "submitted"), 1000);
            CHECK_EQ(total(pool, "injected"), 300 + total(pool, "overflow"));
            kit_destroy(pool);
        }
}

static void locked_queues_grow_instead_of_overflowing(void)
{
    for (int q = FILCH_QUEUE_SHARED; q <= FILCH_QUEUE_TRYLOCK; q++) {
        filch_config c = kit_config(3);
        c.ring_capacity = 2;
        c.queue = (enum filch_queue)q;
        filch_pool *pool = kit_make(&c);
        struct spawner s = {.child = cells, .children = 1000, .where = FILCH_ANYWHERE};
        spawn_from(pool, &s, 0);
        drain(pool);
        cells_check(cells, 1000);
        CHECK_EQ(total(pool, "submitted"), 1000);
        CHECK_EQ(total(pool, "overflow"), 0);
        CHECK_EQ(total(pool, "injected"), 0);
        kit_destroy(pool);
    }
}

int main(void)
{
    kit_watchdog();
    RUN(jobs_submitted_by_jobs_are_never_injected);
    RUN(jobs_of_jobs_of_jobs_are_never_injected);
    RUN(jobs_from_outside_are_injected);
    RUN(a_worker_of_another_pool_is_outside);
    RUN(a_chosen_worker_gets_it_in_its_inbox_unless_it_is_the_caller);
    RUN(what_does_not_fit_is_injected_and_counted);
    RUN(injected_is_what_came_from_outside_and_what_did_not_fit);
    RUN(locked_queues_grow_instead_of_overflowing);
    return check_report();
}
