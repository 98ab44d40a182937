/* test_pool.c: jobs on pools: where they are put, that each runs exactly once, waiting, the end. */
#include "pool_kit.h"

#include <limits.h>

static filch_pool *pool_with_queue(enum filch_queue queue, int workers)
{
    filch_config c = kit_config(workers);
    c.queue = queue;
    return kit_make(&c);
}

/* ---- all on one, each exactly once --------------------------------------------------------- */

static void twenty_jobs_loaded_on_one_of_four_workers_all_run_once(void)
{
    struct cell c[20];
    for (int where = 0; where < 4; where++) {
        filch_pool *pool = kit_pool(4);
        cells_submit(pool, c, 20, where);
        kit_drain_and_destroy(pool);
        cells_check(c, 20);
    }
}

static void ten_jobs_on_a_single_worker_all_run_once(void)
{
    struct cell c[10];
    filch_pool *pool = kit_pool(1);
    cells_submit(pool, c, 10, 0);
    kit_drain_and_destroy(pool);
    cells_check(c, 10);
}

struct with_argument {
    filch_job job;
    int given, seen;
    uint32_t runs;
};

static void see_argument(void *arg)
{
    struct with_argument *a = arg;
    a->seen = a->given * 7;
    filch_add_relaxed(&a->runs, 1u); /* order: a count */
}

static void twenty_jobs_on_worker_0_each_see_their_own_argument(void)
{
    struct with_argument a[20];
    filch_pool *pool = kit_pool(4);
    for (int i = 0; i < 20; i++) {
        a[i] = (struct with_argument){.given = i};
        filch_job_init(&a[i].job, see_argument, &a[i]);
        CHECK_EQ(filch_submit_on(pool, &a[i].job, 0), 0);
    }
    kit_drain_and_destroy(pool);
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(a[i].seen, 7 * i);
        CHECK_EQ(a[i].runs, 1);
    }
}

static void eight_jobs_round_robin_over_four_workers_run_once_each(void)
{
    struct cell c[8];
    filch_pool *pool = kit_pool(4);
    cells_submit(pool, c, 8, FILCH_ROUND_ROBIN);
    kit_drain_and_destroy(pool);
    cells_check(c, 8);
}

/* ---- where they are put: without stealing, the place is who runs it ------------------------ */

static void count_by_worker(const struct cell *c, size_t n, int workers, int *count)
{
    memset(count, 0, sizeof *count * (size_t)workers);
    for (size_t i = 0; i < n; i++) {
        CHECK(c[i].worker >= 0 && c[i].worker < workers);
        count[c[i].worker]++;
    }
}

static void round_robin_puts_two_of_eight_jobs_on_each_of_four_workers(void)
{
    struct cell c[8];
    int count[4];
    filch_pool *pool = pool_with_queue(FILCH_QUEUE_PRIVATE, 4);
    cells_submit(pool, c, 8, FILCH_ROUND_ROBIN);
    kit_drain_and_destroy(pool);
    cells_check(c, 8);
    count_by_worker(c, 8, 4, count);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(count[i], 2);
}

static void a_job_goes_to_its_number_modulo_the_workers(void)
{
    static const int where[] = {0, 1, 2, 3, 4, 5, 11, 4000001, INT_MAX};
    enum { N = sizeof where / sizeof *where };
    struct cell c[N];
    filch_pool *pool = pool_with_queue(FILCH_QUEUE_PRIVATE, 4);
    for (int i = 0; i < N; i++)
        cells_submit(pool, &c[i], 1, where[i]);
    kit_drain_and_destroy(pool);
    cells_check(c, N);
    for (int i = 0; i < N; i++)
        CHECK_EQ(c[i].worker, where[i] % 4);
}

enum { SPREAD = 400 };

static void random_places_reach_every_worker(void)
{
    static struct cell c[SPREAD];
    int count[4];
    filch_pool *pool = pool_with_queue(FILCH_QUEUE_PRIVATE, 4);
    cells_submit(pool, c, SPREAD, FILCH_RANDOM);
    kit_drain_and_destroy(pool);
    cells_check(c, SPREAD);
    count_by_worker(c, SPREAD, 4, count);
    for (int i = 0; i < 4; i++)
        CHECK_MSG(count[i] > SPREAD / 40, "worker %d got %d of %d", i, count[i], SPREAD);
}

static void submit_spread_at_random(void *arg)
{
    cells_submit(filch_pool_current(), arg, SPREAD, FILCH_RANDOM);
}

static void random_places_chosen_by_a_worker_reach_every_worker(void)
{
    static struct cell c[SPREAD];
    int count[4];
    filch_job job;
    filch_pool *pool = pool_with_queue(FILCH_QUEUE_PRIVATE, 4);
    filch_job_init(&job, submit_spread_at_random, c);
    CHECK_EQ(filch_submit_on(pool, &job, 2), 0);
    kit_drain_and_destroy(pool);
    cells_check(c, SPREAD);
    count_by_worker(c, SPREAD, 4, count);
    for (int i = 0; i < 4; i++)
        CHECK_MSG(count[i] > SPREAD / 40, "worker %d got %d of %d", i, count[i], SPREAD);
}

static void anywhere_runs_each_job_once(void)
{
    static struct cell c[1000];
    filch_pool *pool = kit_pool(3);
    cells_submit(pool, c, 1000, FILCH_ANYWHERE);
    kit_drain_and_destroy(pool);
    cells_check(c, 1000);
}

struct many {
    filch_job job[100];
    uint32_t runs[100];
};

static void count_one(void *runs)
{
    filch_add_relaxed((uint32_t *)runs, 1u); /* order: a count */
}

static void an_array_is_accepted_as_a_whole_and_runs_once_each(void)
{
    static const int places[] = {FILCH_ANYWHERE, FILCH_ROUND_ROBIN, FILCH_RANDOM, 0, 7};
    static struct many m;
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        filch_pool *pool = kit_pool(4);
        for (int i = 0; i < 100; i++) {
            m.runs[i] = 0;
            filch_job_init(&m.job[i], count_one, &m.runs[i]);
        }
        CHECK_EQ(filch_submit_array_on(pool, m.job, 100, places[p]), 100);
        kit_drain_and_destroy(pool);
        for (int i = 0; i < 100; i++)
            CHECK_EQ(m.runs[i], 1);
    }
}

static void an_empty_array_is_accepted(void)
{
    filch_pool *pool = kit_pool(2);
    filch_job none;
    CHECK_EQ(filch_submit_array_on(pool, &none, 0, FILCH_ANYWHERE), 0);
    kit_drain_and_destroy(pool);
}

/* ---- clean-up and detached jobs ------------------------------------------------------------ */

struct tidy {
    filch_job job;
    uint32_t runs, cleanups, late;
};

static void tidy_run(void *arg)
{
    struct tidy *t = arg;
    if (filch_load_relaxed(&t->cleanups)) /* order: own words of one job */
        filch_store_relaxed(&t->late, 1u);
    filch_add_relaxed(&t->runs, 1u); /* order: a count */
}

static void tidy_cleanup(void *arg)
{
    struct tidy *t = arg;
    if (!filch_load_relaxed(&t->runs)) /* order: own words of one job */
        filch_store_relaxed(&t->late, 1u);
    filch_add_relaxed(&t->cleanups, 1u); /* order: a count */
    kit_beat();
}

static void tidy_check(const struct tidy *t)
{
    CHECK_EQ(t->runs, 1);
    CHECK_EQ(t->cleanups, 1);
    CHECK_EQ(t->late, 0);
}

static void the_clean_up_runs_once_after_the_function_and_before_the_job_is_done(void)
{
    static struct tidy t[200];
    filch_pool *pool = kit_pool(4);
    for (int i = 0; i < 200; i++) {
        t[i] = (struct tidy){0};
        filch_job_init(&t[i].job, tidy_run, &t[i]);
        t[i].job.cleanup = tidy_cleanup;
        CHECK_EQ(filch_submit_on(pool, &t[i].job, FILCH_ANYWHERE), 0);
    }
    for (int i = 0; i < 200; i++) {
        CHECK_EQ(filch_job_wait(&t[i].job, FILCH_FOREVER), 0);
        tidy_check(&t[i]);
    }
    kit_destroy(pool);
}

static void detached_jobs_run_once_with_their_clean_up(void)
{
    static struct tidy t[500];
    memset(t, 0, sizeof t);
    filch_pool *pool = kit_pool(4);
    for (int i = 0; i < 500; i++)
        CHECK_EQ(filch_submit_detached_on(pool, tidy_run, &t[i], tidy_cleanup, i % 8 - 3), 0);
    kit_drain_and_destroy(pool);
    for (int i = 0; i < 500; i++)
        tidy_check(&t[i]);
}

static void a_detached_job_needs_nobody_who_waits(void)
{
    struct tidy t = {0};
    filch_pool *pool = kit_pool(2);
    CHECK_EQ(filch_submit_detached_on(pool, tidy_run, &t, tidy_cleanup, FILCH_ANYWHERE), 0);
    KIT_AWAIT(kit_raised(&t.cleanups));
    kit_destroy(pool);
    tidy_check(&t);
}

/* ---- waiting ------------------------------------------------------------------------------- */

static void a_job_that_was_waited_for_is_done(void)
{
    filch_pool *pool = kit_pool(2);
    for (int i = 0; i < 300; i++) {
        struct cell c;
        cells_submit(pool, &c, 1, i % 5 - 3);
        CHECK_EQ(filch_job_wait(&c.job, FILCH_FOREVER), 0);
        CHECK_EQ(filch_job_done(&c.job), 1);
        cells_check(&c, 1);
    }
    kit_destroy(pool);
}

static void waiting_now_for_a_pending_job_times_out(void)
{
    struct block b;
    filch_pool *pool = kit_pool(2);
    block_start(&b, pool, FILCH_ANYWHERE);
    CHECK_EQ(filch_job_wait(&b.job, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_pool_wait(pool, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_job_done(&b.job), 0);
    block_end(&b);
    CHECK_EQ(filch_job_wait(&b.job, FILCH_NOW), 0);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(filch_pool_wait(pool, FILCH_NOW), 0);
    kit_destroy(pool);
}

static void a_wait_with_a_deadline_times_out_after_it(void)
{
    struct block b;
    filch_pool *pool = kit_pool(2);
    block_start(&b, pool, FILCH_ANYWHERE);
    int64_t deadline = filch_clock_ns() + 3000000;
    CHECK_EQ(filch_job_wait(&b.job, deadline), -ETIMEDOUT);
    CHECK(filch_clock_ns() >= deadline);
    deadline = filch_clock_ns() + 3000000;
    CHECK_EQ(filch_pool_wait(pool, deadline), -ETIMEDOUT);
    CHECK(filch_clock_ns() >= deadline);
    CHECK_EQ(filch_pool_wait(pool, deadline), -ETIMEDOUT);
    block_end(&b);
    kit_destroy(pool);
}

static void a_wait_with_a_deadline_ends_with_its_job(void)
{
    filch_pool *pool = kit_pool(2);
    for (int i = 0; i < 100; i++) {
        struct cell c;
        cells_submit(pool, &c, 1, FILCH_ANYWHERE);
        CHECK_EQ(filch_job_wait(&c.job, filch_clock_ns() + INT64_C(3600000000000)), 0);
        cells_check(&c, 1);
    }
    kit_destroy(pool);
}

static pthread_t main_thread;

struct trap {
    filch_job job;
    uint32_t release, trapped;
};

/* Blocks its thread; were that the waiting one, nobody would let it go. */
static void trap_run(void *arg)
{
    struct trap *t = arg;
    if (pthread_equal(pthread_self(), main_thread)) {
        kit_raise(&t->trapped);
        return;
    }
    while (!kit_raised(&t->release))
        kit_nap_us(50);
}

static void a_deadline_is_kept_though_the_job_blocks(void)
{
    for (int i = 0; i < 20; i++) {
        struct trap t = {0};
        filch_pool *pool = kit_pool(2);
        filch_job_init(&t.job, trap_run, &t);
        CHECK_EQ(filch_submit_on(pool, &t.job, FILCH_ANYWHERE), 0);
        int rc = filch_job_wait(&t.job, filch_clock_ns() + 1000000);
        CHECK_MSG(!kit_raised(&t.trapped), "the thread with a deadline ran a job that blocks");
        CHECK_EQ(rc, -ETIMEDOUT);
        kit_raise(&t.release);
        kit_destroy(pool);
    }
}

static void wait_for_own_pool(void *result)
{
    *(int *)result = filch_pool_wait(filch_pool_current(), FILCH_FOREVER);
}

static void a_job_that_waits_for_its_own_pool_is_told_so(void)
{
    int result = 0;
    filch_job job;
    filch_pool *pool = kit_pool(2);
    filch_job_init(&job, wait_for_own_pool, &result);
    CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
    CHECK_EQ(result, -EDEADLK);
    kit_destroy(pool);
}

static void *wait_on_thread(void *pool)
{
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    return NULL;
}

static void several_threads_wait_for_the_same_pool(void)
{
    enum { WAITERS = 8 };
    pthread_t t[WAITERS];
    struct block b;
    filch_pool *pool = kit_pool(2);
    block_start(&b, pool, FILCH_ANYWHERE);
    for (int i = 0; i < WAITERS; i++)
        CHECK_EQ(pthread_create(&t[i], NULL, wait_on_thread, pool), 0);
    block_end(&b);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(t[i], NULL);
    kit_destroy(pool);
}

/* ---- shutdown and destroy ------------------------------------------------------------------ */

static void after_shutdown_new_jobs_are_refused_and_do_not_run(void)
{
    struct tidy t = {0};
    struct cell c;
    cell_init(&c);
    filch_pool *pool = kit_pool(2);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    CHECK_EQ(filch_submit_on(pool, &c.job, FILCH_ANYWHERE), -EPIPE);
    CHECK_EQ(filch_submit_array_on(pool, &c.job, 1, 0), -EPIPE);
    CHECK_EQ(filch_submit_detached_on(pool, tidy_run, &t, tidy_cleanup, 0), -EPIPE);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_NOW), 0);
    kit_destroy(pool);
    CHECK_EQ(c.runs, 0);
    CHECK_EQ(t.runs, 0);
    CHECK_EQ(t.cleanups, 0);
}

static void shutdown_drains_what_was_accepted(void)
{
    static struct cell c[2000];
    filch_pool *pool = kit_pool(4);
    cells_submit(pool, c, 2000, FILCH_RANDOM);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    cells_check(c, 2000);
    kit_destroy(pool);
}

static void shutdown_times_out_while_a_job_blocks_and_ends_later(void)
{
    struct block b;
    struct cell c;
    filch_pool *pool = kit_pool(2);
    block_start(&b, pool, FILCH_ANYWHERE);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_pool_shutdown(pool, filch_clock_ns() + 2000000), -ETIMEDOUT);
    cell_init(&c);
    CHECK_EQ(filch_submit_on(pool, &c.job, 0), -EPIPE);
    kit_raise(&b.release);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    CHECK_EQ(kit_raised(&b.done), 1);
    kit_destroy(pool);
}

struct pusher {
    filch_pool *pool;
    uint32_t stop;
    uint64_t accepted, ran;
};

static void push_ran(void *arg)
{
    filch_add_relaxed(&((struct pusher *)arg)->ran, (uint64_t)1); /* order: a count */
}

static void *push_until_refused(void *arg)
{
    struct pusher *p = arg;
    while (filch_submit_detached_on(p->pool, push_ran, p, 0, FILCH_ANYWHERE) == 0)
        filch_add_relaxed(&p->accepted, (uint64_t)1); /* order: a count */
    return NULL;
}

/* The refusal must not hide from shutdown that the last job has ended. */
static void shutdown_ends_while_others_try_to_submit(void)
{
    enum { PUSHERS = 3 };
    for (int round = 0; round < (KIT_SLOW ? 60 : 300); round++) {
        pthread_t t[PUSHERS];
        struct pusher p = {.pool = kit_pool(2)};
        for (int i = 0; i < PUSHERS; i++)
            CHECK_EQ(pthread_create(&t[i], NULL, push_until_refused, &p), 0);
        kit_nap_us(round % 50 * 10);
        CHECK_EQ(filch_pool_shutdown(p.pool, FILCH_FOREVER), 0);
        for (int i = 0; i < PUSHERS; i++)
            pthread_join(t[i], NULL);
        kit_destroy(p.pool);
        CHECK_EQ(p.ran, p.accepted);
    }
}

static void *knock(void *arg)
{
    struct pusher *p = arg;
    struct cell c;
    cell_init(&c);
    while (!kit_raised(&p->stop))
        CHECK_EQ(filch_submit_on(p->pool, &c.job, FILCH_ANYWHERE), -EPIPE);
    CHECK_EQ(c.runs, 0);
    return NULL;
}

/* A closed pool is knocked at all the time; each time its last job ends the waiter must hear it. */
static void refused_jobs_do_not_keep_a_closed_pool_from_being_drained(void)
{
    for (int round = 0; round < (KIT_SLOW ? 30 : 200); round++) {
        struct pusher p = {.pool = kit_pool(2)};
        struct block b;
        pthread_t t[2];
        block_start(&b, p.pool, FILCH_ANYWHERE);
        CHECK_EQ(filch_pool_shutdown(p.pool, FILCH_NOW), -ETIMEDOUT);
        for (int i = 0; i < 2; i++)
            CHECK_EQ(pthread_create(&t[i], NULL, knock, &p), 0);
        kit_raise(&b.release);
        CHECK_EQ(filch_pool_wait(p.pool, FILCH_FOREVER), 0);
        kit_raise(&p.stop);
        for (int i = 0; i < 2; i++)
            pthread_join(t[i], NULL);
        kit_destroy(p.pool);
    }
}

static void destroy_drains_what_was_accepted(void)
{
    static struct cell c[2000];
    filch_pool *pool = kit_pool(4);
    cells_submit(pool, c, 2000, FILCH_ANYWHERE);
    kit_destroy(pool);
    cells_check(c, 2000);
}

/* ---- several pools ------------------------------------------------------------------------- */

static void several_pools_work_at_once(void)
{
    enum { POOLS = 5, JOBS = 200 };
    static struct cell c[POOLS][JOBS];
    filch_pool *pool[POOLS];
    for (int p = 0; p < POOLS; p++)
        pool[p] = kit_pool(p + 1);
    for (int p = 0; p < POOLS; p++)
        cells_submit(pool[p], c[p], JOBS, FILCH_ANYWHERE);
    for (int p = POOLS - 1; p >= 0; p--)
        kit_drain_and_destroy(pool[p]);
    for (int p = 0; p < POOLS; p++) {
        cells_check(c[p], JOBS);
        for (int i = 0; i < JOBS; i++)
            CHECK(c[p][i].worker <= p);
    }
}

struct bridge {
    filch_job job;
    filch_pool *other, *seen;
    struct cell inner[20];
};

static void bridge_run(void *arg)
{
    struct bridge *b = arg;
    b->seen = filch_pool_current();
    cells_submit(b->other, b->inner, 20, FILCH_ANYWHERE);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(filch_job_wait(&b->inner[i].job, FILCH_FOREVER), 0);
    CHECK_EQ(filch_pool_current() == b->seen, 1);
}

static void a_job_submits_to_another_pool_and_waits_there(void)
{
    static struct bridge b;
    filch_pool *first = kit_pool(2), *second = kit_pool(2);
    for (int round = 0; round < 100; round++) {
        b = (struct bridge){.other = second};
        filch_job_init(&b.job, bridge_run, &b);
        CHECK_EQ(filch_submit_on(first, &b.job, FILCH_ANYWHERE), 0);
        CHECK_EQ(filch_job_wait(&b.job, FILCH_FOREVER), 0);
        CHECK_EQ(b.seen == first, 1);
        cells_check(b.inner, 20);
    }
    kit_destroy(first);
    kit_destroy(second);
}

/* The worker of the other pool that ends the wait must not touch the pool that is then gone. */
static void a_pool_may_go_as_soon_as_its_jobs_are_done_though_another_pool_woke_them(void)
{
    static struct bridge b;
    filch_pool *lasting = kit_pool(2);
    for (int round = 0; round < (KIT_SLOW ? 300 : 1500); round++) {
        filch_pool *brief = kit_pool(1);
        b = (struct bridge){.other = lasting};
        filch_job_init(&b.job, bridge_run, &b);
        CHECK_EQ(filch_submit_on(brief, &b.job, FILCH_ANYWHERE), 0);
        kit_destroy(brief);
        cells_check(b.inner, 20);
    }
    kit_destroy(lasting);
}

/* ---- jobs that make jobs ------------------------------------------------------------------- */

struct branch {
    filch_job job;
    int depth;
    struct branch *child;
    uint32_t *leaves;
};

static void branch_run(void *arg)
{
    struct branch *b = arg;
    if (b->depth == 0) {
        filch_add_relaxed(b->leaves, 1u); /* order: a count */
        kit_beat();
        return;
    }
    for (int i = 0; i < 2; i++) {
        struct branch *c = &b->child[i];
        *c = (struct branch){.depth = b->depth - 1, .leaves = b->leaves};
        c->child = c->depth ? calloc(2, sizeof *c->child) : NULL;
        filch_job_init(&c->job, branch_run, c);
        CHECK_EQ(filch_submit(&c->job, FILCH_ANYWHERE), 0);
    }
}

static void branch_free(struct branch *b)
{
    for (int i = 0; b->child && i < 2; i++)
        branch_free(&b->child[i]);
    free(b->child);
}

static void jobs_submit_jobs_and_the_pool_waits_for_all_of_them(void)
{
    for (int workers = 1; workers <= 4; workers *= 2) {
        uint32_t leaves = 0;
        struct branch top = {.depth = 10, .leaves = &leaves};
        top.child = calloc(2, sizeof *top.child);
        filch_pool *pool = kit_pool(workers);
        filch_job_init(&top.job, branch_run, &top);
        CHECK_EQ(filch_submit_on(pool, &top.job, FILCH_ANYWHERE), 0);
        kit_drain_and_destroy(pool);
        CHECK_EQ(leaves, 1024);
        branch_free(&top);
    }
}

struct nest {
    filch_job job;
    int depth, order;
    int64_t deadline; /* of each wait */
    int *next;
};

/* Waits for a job that can only run when this one has left its worker. */
static void nest_run(void *arg)
{
    struct nest *n = arg;
    if (n->depth > 0) {
        struct nest inner = {.depth = n->depth - 1, .deadline = n->deadline, .next = n->next};
        filch_job_init(&inner.job, nest_run, &inner);
        CHECK_EQ(filch_submit(&inner.job, FILCH_ANYWHERE), 0);
        CHECK_EQ(filch_job_done(&inner.job) && n->depth == 1, 0);
        CHECK_EQ(filch_job_wait(&inner.job, n->deadline), 0);
        CHECK_EQ(inner.order, inner.depth);
    }
    n->order = (*n->next)++;
    kit_beat();
}

static void run_nest(int depth, int64_t deadline)
{
    int next = 0;
    struct nest n = {.depth = depth, .deadline = deadline, .next = &next};
    filch_pool *pool = kit_pool(1);
    filch_job_init(&n.job, nest_run, &n);
    CHECK_EQ(filch_submit_on(pool, &n.job, 0), 0);
    CHECK_EQ(filch_job_wait(&n.job, FILCH_FOREVER), 0);
    CHECK_EQ(next, depth + 1);
    kit_destroy(pool);
}

static void jobs_wait_for_jobs_on_one_worker(void)
{
    run_nest(100, FILCH_FOREVER);
}

static void jobs_wait_for_jobs_on_one_worker_with_a_deadline(void)
{
    run_nest(10, filch_clock_ns() + INT64_C(3600000000000));
}

struct impatient {
    filch_job job;
    struct block *blocked;
    int result_now, result_soon;
};

static void impatient_run(void *arg)
{
    struct impatient *p = arg;
    p->result_now = filch_job_wait(&p->blocked->job, FILCH_NOW);
    p->result_soon = filch_job_wait(&p->blocked->job, filch_clock_ns() + 1000000);
}

static void a_job_that_waits_with_a_deadline_times_out(void)
{
    struct block b;
    filch_pool *pool = kit_pool(2);
    block_start(&b, pool, 1);
    struct impatient p = {.blocked = &b};
    filch_job_init(&p.job, impatient_run, &p);
    CHECK_EQ(filch_submit_on(pool, &p.job, 0), 0);
    CHECK_EQ(filch_job_wait(&p.job, FILCH_FOREVER), 0);
    CHECK_EQ(p.result_now, -ETIMEDOUT);
    CHECK_EQ(p.result_soon, -ETIMEDOUT);
    block_end(&b);
    kit_destroy(pool);
}

/* ---- hooks and identity -------------------------------------------------------------------- */

struct hooks {
    uint32_t starts[8], stops[8];
    pthread_t thread[8];
};

static void hook_start(int worker, void *arg)
{
    struct hooks *h = arg;
    h->thread[worker] = pthread_self();
    kit_count(&h->starts[worker]);
}

static void hook_stop(int worker, void *arg)
{
    struct hooks *h = arg;
    CHECK(pthread_equal(h->thread[worker], pthread_self()));
    CHECK_EQ(kit_raised(&h->starts[worker]), 1);
    kit_count(&h->stops[worker]);
}

static void start_and_stop_hooks_run_once_on_each_worker_thread(void)
{
    static struct cell c[64];
    struct hooks h = {{0}, {0}, {0}};
    filch_config config = kit_config(8);
    config.worker_start = hook_start;
    config.worker_stop = hook_stop;
    config.hook_arg = &h;
    filch_pool *pool = kit_make(&config);
    for (int round = 0; round < 20; round++) {
        cells_submit(pool, c, 64, FILCH_ROUND_ROBIN);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        cells_check(c, 64);
    }
    unsigned threads = idle_figures(pool).threads, started = 0;
    kit_destroy(pool);
    for (int i = 0; i < 8; i++) {
        CHECK(h.starts[i] <= 1);
        CHECK_EQ(h.starts[i], h.stops[i]);
        started += h.starts[i];
    }
    CHECK(started >= 1);
    CHECK_EQ(started, threads);
}

struct identity {
    filch_pool *pool;
    int worker;
};

static void who_am_i(void *arg)
{
    *(struct identity *)arg = (struct identity){filch_pool_current(), filch_worker_id()};
}

static void a_job_knows_its_pool_and_worker_and_a_foreign_thread_has_none(void)
{
    struct identity inside = {0, -1};
    filch_job job;
    CHECK_EQ(filch_worker_id(), -1);
    CHECK(filch_pool_current() == NULL);
    filch_pool *pool = kit_pool(3);
    CHECK_EQ(filch_pool_workers(pool), 3);
    filch_job_init(&job, who_am_i, &inside);
    CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
    CHECK(inside.pool == pool);
    CHECK(inside.worker >= 0 && inside.worker < 3);
    filch_run_on(pool, who_am_i, &inside);
    CHECK(inside.pool == pool);
    CHECK_EQ(filch_worker_id(), -1);
    CHECK(filch_pool_current() == NULL);
    kit_destroy(pool);
}

static void submit_without_a_pool_uses_the_default_one(void)
{
    struct identity seen = {0, -1};
    filch_job job;
    filch_job_init(&job, who_am_i, &seen);
    CHECK_EQ(filch_submit(&job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
    CHECK(seen.pool == filch_pool_default());
}

int main(int argc, char **argv)
{
    main_thread = pthread_self();
    (void)argc;
    (void)argv;
    kit_watchdog();
    RUN(twenty_jobs_loaded_on_one_of_four_workers_all_run_once);
    RUN(ten_jobs_on_a_single_worker_all_run_once);
    RUN(twenty_jobs_on_worker_0_each_see_their_own_argument);
    RUN(eight_jobs_round_robin_over_four_workers_run_once_each);
    RUN(round_robin_puts_two_of_eight_jobs_on_each_of_four_workers);
    RUN(a_job_goes_to_its_number_modulo_the_workers);
    RUN(random_places_reach_every_worker);
    RUN(random_places_chosen_by_a_worker_reach_every_worker);
    RUN(anywhere_runs_each_job_once);
    RUN(an_array_is_accepted_as_a_whole_and_runs_once_each);
    RUN(an_empty_array_is_accepted);
    RUN(the_clean_up_runs_once_after_the_function_and_before_the_job_is_done);
    RUN(detached_jobs_run_once_with_their_clean_up);
    RUN(a_detached_job_needs_nobody_who_waits);
    RUN(a_job_that_was_waited_for_is_done);
    RUN(waiting_now_for_a_pending_job_times_out);
    RUN(a_wait_with_a_deadline_times_out_after_it);
    RUN(a_wait_with_a_deadline_ends_with_its_job);
    RUN(a_deadline_is_kept_though_the_job_blocks);
    RUN(a_job_that_waits_for_its_own_pool_is_told_so);
    RUN(several_threads_wait_for_the_same_pool);
    RUN(after_shutdown_new_jobs_are_refused_and_do_not_run);
    RUN(shutdown_drains_what_was_accepted);
    RUN(shutdown_times_out_while_a_job_blocks_and_ends_later);
    RUN(shutdown_ends_while_others_try_to_submit);
    RUN(refused_jobs_do_not_keep_a_closed_pool_from_being_drained);
    RUN(destroy_drains_what_was_accepted);
    RUN(several_pools_work_at_once);
    RUN(a_job_submits_to_another_pool_and_waits_there);
    RUN(a_pool_may_go_as_soon_as_its_jobs_are_done_though_another_pool_woke_them);
    RUN(jobs_submit_jobs_and_the_pool_waits_for_all_of_them);
    RUN(jobs_wait_for_jobs_on_one_worker);
    RUN(jobs_wait_for_jobs_on_one_worker_with_a_deadline);
    RUN(a_job_that_waits_with_a_deadline_times_out);
    RUN(start_and_stop_hooks_run_once_on_each_worker_thread);
    RUN(a_job_knows_its_pool_and_worker_and_a_foreign_thread_has_none);
    RUN(submit_without_a_pool_uses_the_default_one);
    return check_report();
}
