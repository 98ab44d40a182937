/* test_shares.c: 10,000 tasks of 100 us on 8 workers: all run, and no worker has much more than another. The
 * machine may have fewer processors: then the kernel's turns decide, over the second that this takes. */
#include "pool_kit.h"

#include <filch/task.h>

enum { TASKS = 10000, WORKERS = 8, SHARE = TASKS / WORKERS };
#define WORK_NS 100000

static uint32_t ran[WORKERS];

static int64_t cpu_ns(void)
{
    struct timespec t;
    CHECK_EQ(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void works(void *arg)
{
    (void)arg;
    for (int64_t end = cpu_ns() + WORK_NS; cpu_ns() < end;)
        ;
    filch_add_relaxed(&ran[filch_worker_id()], 1u);
}

static void tasks_of_equal_length_are_shared_within_a_fifth(void)
{
    filch_pool *pool = kit_pool(WORKERS);
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    uint32_t all = 0;
    a.pool = pool;
    for (int i = 0; i < TASKS; i++)
        CHECK_EQ(filch_go_with(&a, works, NULL), 0);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    for (int i = 0; i < WORKERS; i++) {
        uint32_t n = filch_load_acquire(&ran[i]);
        printf("worker %d: %u tasks, %+.1f %%\n", i, n, 100.0 * ((double)n / SHARE - 1));
        all += n;
    }
    CHECK_EQ(all, TASKS);
    for (int i = 0; i < WORKERS; i++)
        CHECK_MSG(ran[i] >= SHARE * 4 / 5 && ran[i] <= SHARE * 6 / 5, "worker %d ran %u", i, ran[i]);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(tasks_of_equal_length_are_shared_within_a_fifth);
    return check_report();
}
