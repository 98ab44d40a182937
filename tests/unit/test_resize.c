/* test_resize.c: a pool grows and shrinks while it runs. */
#include "check.h"
#include "core/idle_set.h"
#include "pool_kit.h"

#include <filch/ord.h>
#include <filch/par.h>
#include <filch/task.h>

enum { MOST = 6 };

static filch_pool *pool_of(int workers, int most)
{
    filch_config c = FILCH_CONFIG_INIT;
    filch_pool *pool;
    c.workers = workers;
    c.max_workers = most;
    c.no_environment = 1;
    CHECK_EQ(filch_pool_create(&pool, &c), 0);
    return pool;
}

/* ---- how many run at once ------------------------------------------------------------------- */

static struct {
    uint32_t now, most, done, hold;
} crowd;

static void note_most(uint32_t now)
{
    uint32_t most = filch_load_relaxed(&crowd.most);
    while (now > most && !filch_cas_relaxed(&crowd.most, &most, now))
        continue;
}

/* Keeps its worker: those that wait let others run. */
static void counted(void *unused)
{
    (void)unused;
    note_most(filch_add_acq_rel(&crowd.now, 1u) + 1);
    for (int i = 0; i < 200 || filch_load_acquire(&crowd.hold); i++)
        kit_nap_us(1);
    filch_add_acq_rel(&crowd.now, (uint32_t)-1);
    filch_add_acq_rel(&crowd.done, 1u);
}

static void send(filch_pool *pool, int n)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.pool = pool;
    for (int i = 0; i < n; i++)
        CHECK_EQ(filch_go_with(&a, counted, 0), 0);
}

static void until_running(uint32_t n)
{
    while (filch_load_acquire(&crowd.now) < n)
        kit_nap_us(100);
}

static void a_pool_that_grew_runs_as_many_as_it_has_workers(void)
{
    filch_pool *pool = pool_of(1, MOST);
    crowd.hold = 1;
    send(pool, MOST);
    until_running(1);
    CHECK_EQ(filch_pool_size(pool), 1);
    for (int n = 2; n <= MOST; n++) {
        CHECK_EQ(filch_pool_resize(pool, n), 0);
        CHECK_EQ(filch_pool_size(pool), n);
        until_running((uint32_t)n);
    }
    filch_store_release(&crowd.hold, 0u);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    kit_destroy(pool);
}

static void a_pool_grows_by_several_at_once(void)
{
    filch_pool *pool = pool_of(1, MOST);
    memset(&crowd, 0, sizeof crowd);
    crowd.hold = 1;
    send(pool, MOST);
    until_running(1);
    CHECK_EQ(filch_pool_resize(pool, MOST), 0);
    until_running(MOST);
    filch_store_release(&crowd.hold, 0u);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    kit_destroy(pool);
}

static void a_limit_below_the_size_is_the_size(void)
{
    filch_pool *pool = pool_of(4, 2);
    CHECK_EQ(filch_pool_size(pool), 4);
    CHECK_EQ(filch_pool_resize(pool, 4), 0);
    CHECK_EQ(filch_pool_size(pool), 4);
    kit_destroy(pool);
}

static void until_done(uint32_t n)
{
    while (filch_load_acquire(&crowd.done) < n)
        kit_nap_us(100);
}

/* Those that are too many leave when they have done what they are at, or when they are woken for more. The
 * thread that waits is not a guest here: it would be another. */
static void until_left(filch_pool *pool, uint32_t n)
{
    for (uint32_t sent = 0; filch_load_acquire(&pool->idle->seats) > n;) {
        send(pool, MOST);
        until_done(sent += MOST);
    }
}

static void a_pool_that_shrank_runs_no_more_than_that(void)
{
    filch_pool *pool = pool_of(MOST, MOST);
    for (uint32_t n = MOST; n >= 1; n--) {
        memset(&crowd, 0, sizeof crowd);
        CHECK_EQ(filch_pool_resize(pool, (int)n), 0);
        until_left(pool, n);
        while (filch_load_acquire(&crowd.now) > 0)
            kit_nap_us(100);
        memset(&crowd, 0, sizeof crowd);
        send(pool, 20);
        until_done(20);
        CHECK(filch_load_acquire(&crowd.most) <= n);
    }
    kit_destroy(pool);
}

/* ---- nothing is lost ------------------------------------------------------------------------ */

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_FORK(b, fib, n - 2);
    long a = FILCH_CALL(fib, n - 1);
    return a + FILCH_JOIN(fib, b);
}

static uint64_t ran;

static void count(void *unused)
{
    (void)unused;
    filch_add_relaxed(&ran, 1);
}

static void goes_and_forks(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++)
        CHECK_EQ(filch_go(count, 0), 0);
    CHECK_EQ(FILCH_RUN(fib, 12), 144);
}

static void add_range(size_t lo, size_t hi, void *arg)
{
    filch_add_relaxed((uint64_t *)arg, hi - lo);
}

static void work_goes_on_while_the_size_changes(void)
{
    filch_pool *pool = pool_of(2, MOST);
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.pool = pool;
    ran = 0;
    for (int i = 0; i < 200; i++) {
        CHECK_EQ(filch_go_with(&a, goes_and_forks, 0), 0);
        CHECK_EQ(filch_pool_resize(pool, 1 + (i * 7) % MOST), 0);
        kit_nap_us(20);
    }
    CHECK_EQ(FILCH_RUN_ON(pool, fib, 18), 2584);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(filch_load_acquire(&ran), 200u * 100u);
    kit_destroy(pool);
}

static void jobs_for_a_worker_that_left_are_run_by_others(void)
{
    filch_pool *pool = pool_of(MOST, MOST);
    filch_job jobs[64];
    ran = 0;
    CHECK_EQ(filch_pool_resize(pool, 1), 0);
    for (int i = 0; i < 64; i++) {
        filch_job_init(&jobs[i], count, 0);
        CHECK_EQ(filch_submit_on(pool, &jobs[i], i), 0);
    }
    for (int i = 0; i < 64; i++)
        CHECK_EQ(filch_job_wait(&jobs[i], FILCH_FOREVER), 0);
    CHECK_EQ(filch_load_acquire(&ran), 64u);
    kit_destroy(pool);
}

static int loops(void *pool)
{
    uint64_t n = 0;
    (void)pool;
    for (int i = 0; i < 50; i++)
        CHECK_EQ(filch_for(0, 1000, add_range, &n), 0);
    CHECK_EQ(n, 50000u);
    return 0;
}

static void a_task_may_resize_its_own_pool(void)
{
    filch_pool *pool = pool_of(1, MOST);
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(filch_pool_resize(pool, 1 + i % MOST), 0);
        CHECK_EQ(filch_spawn_with(&t, &a, loops, pool), 0);
        CHECK_EQ(filch_task_join(t, 0, FILCH_FOREVER), 0);
    }
    kit_destroy(pool);
}

/* ---- limits --------------------------------------------------------------------------------- */

static void sizes_that_cannot_be_are_refused(void)
{
    filch_pool *fixed = pool_of(2, 0), *pool = pool_of(2, 4);
    CHECK_EQ(filch_pool_resize(fixed, 1), -EINVAL);
    CHECK_EQ(filch_pool_resize(fixed, 2), -EINVAL);
    CHECK_EQ(filch_pool_size(fixed), 2);
    CHECK_EQ(filch_pool_resize(pool, 0), -EINVAL);
    CHECK_EQ(filch_pool_resize(pool, -1), -EINVAL);
    CHECK_EQ(filch_pool_resize(pool, 5), -EINVAL);
    CHECK_EQ(filch_pool_size(pool), 2);
    CHECK_EQ(filch_pool_workers(pool), 4);
    CHECK_EQ(filch_pool_size(0), 0);
    kit_destroy(fixed);
    kit_destroy(pool);
}

int main(void)
{
    RUN(a_pool_that_grew_runs_as_many_as_it_has_workers);
    RUN(a_pool_grows_by_several_at_once);
    RUN(a_limit_below_the_size_is_the_size);
    RUN(a_pool_that_shrank_runs_no_more_than_that);
    RUN(work_goes_on_while_the_size_changes);
    RUN(jobs_for_a_worker_that_left_are_run_by_others);
    RUN(a_task_may_resize_its_own_pool);
    RUN(sizes_that_cannot_be_are_refused);
    return check_report();
}
