/* Many waiters at one place, some of which give up; many jobs that wait and leave forks behind; and
 * fork() while forks are pending. */
#define _GNU_SOURCE
#include "../forking.h"
#include "pool_kit.h"

enum { WAITERS = 9 };

struct waiting {
    filch_job *job;
    int64_t deadline;
    int result;
};

static void *wait_as_told(void *arg)
{
    struct waiting *w = arg;
    w->result = filch_job_wait(w->job, w->deadline);
    return NULL;
}

/* Every third gives up, so that of the list of those who wait the first, the last and some between
 * are taken out. The order in which they arrive does not matter to the claim. */
static void who_gives_up_does_not_take_others_along(void)
{
    for (int round = 0; round < 10; round++) {
        struct block b;
        pthread_t threads[WAITERS];
        struct waiting w[WAITERS];
        filch_pool *pool = kit_pool(1);
        block_start(&b, pool, 0);
        for (int i = 0; i < WAITERS; i++) {
            int64_t soon = filch_clock_ns() + 20000000;
            w[i] = (struct waiting){&b.job, (i + round) % 3 ? FILCH_FOREVER : soon, 1};
            CHECK_EQ(pthread_create(&threads[i], NULL, wait_as_told, &w[i]), 0);
        }
        for (int i = 0; i < WAITERS; i++) {
            if (w[i].deadline != FILCH_FOREVER) {
                pthread_join(threads[i], NULL);
                CHECK_EQ(w[i].result, -ETIMEDOUT);
            }
        }
        CHECK(!filch_job_done(&b.job));
        block_end(&b);
        for (int i = 0; i < WAITERS; i++) {
            if (w[i].deadline == FILCH_FOREVER) {
                pthread_join(threads[i], NULL);
                CHECK_EQ(w[i].result, 0);
            }
        }
        kit_destroy(pool);
    }
}

static void *wait_for_all(void *pool)
{
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    return NULL;
}

static void everybody_who_waits_for_the_pool_is_told(void)
{
    for (int round = 0; round < 10; round++) {
        struct block b;
        pthread_t threads[WAITERS];
        filch_pool *pool = kit_pool(1);
        block_start(&b, pool, 0);
        for (int i = 0; i < WAITERS; i++)
            CHECK_EQ(pthread_create(&threads[i], NULL, wait_for_all, pool), 0);
        KIT_AWAIT(filch_load_relaxed(&pool->draining) == WAITERS);
        kit_nap_us(2000); /* most are asleep by now, which is what it is about */
        block_end(&b);
        for (int i = 0; i < WAITERS; i++)
            pthread_join(threads[i], NULL);
        kit_destroy(pool);
    }
}

/* ---- several that wait and leave forks behind -------------------------------------------------- */

enum { PARENTS = 12 };

static struct {
    filch_event go;
    uint32_t ran[PARENTS];
} left;

FILCH_TASK(int, marks, int, i)
{
    filch_add_acq_rel(&left.ran[i], 1u);
    return i;
}

FILCH_TASK_VOID(forks_and_waits, int, i)
{
    FILCH_FORK(b, marks, i);
    filch_event_wait(&left.go);
    CHECK_EQ(FILCH_JOIN(marks, b), i);
}

static void parent_run(void *arg)
{
    FILCH_RUN(forks_and_waits, (int)(intptr_t)arg);
}

static void forks_of_all_who_wait_are_run_before_any_of_them_goes_on(void)
{
    for (int workers = 1; workers <= 4; workers *= 2) {
        filch_job jobs[PARENTS];
        memset(&left, 0, sizeof left);
        filch_pool *pool = kit_pool(workers);
        for (intptr_t i = 0; i < PARENTS; i++) {
            filch_job_init(&jobs[i], parent_run, (void *)i);
            CHECK_EQ(filch_submit_on(pool, &jobs[i], 0), 0);
        }
        for (int i = 0; i < PARENTS; i++)
            KIT_AWAIT(filch_load_acquire(&left.ran[i]) == 1);
        filch_event_set(&left.go);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        for (int i = 0; i < PARENTS; i++)
            CHECK_EQ(filch_load_acquire(&left.ran[i]), 1);
        kit_destroy(pool);
    }
}

/* ---- fork() while forks are pending ------------------------------------------------------------ */

struct pause {
    uint32_t forked, release;
};
typedef struct pause *pause_ref;

FILCH_TASK(int, twice, int, n) { return 2 * n; }
FILCH_TASK_VOID(forks_and_pauses, pause_ref, p)
{
    FILCH_FORKS(many, twice);
    for (int i = 0; i < 100; i++)
        FILCH_FORK_ADD(twice, i);
    kit_raise(&p->forked);
    while (!kit_raised(&p->release))
        kit_nap_us(200);
    for (int i = 99; i >= 0; i--)
        CHECK_EQ(FILCH_JOIN_LAST(twice, many), 2 * i);
}

static void pause_run(void *arg)
{
    FILCH_RUN(forks_and_pauses, arg);
}

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_FORK(b, fib, n - 2);
    long a = FILCH_CALL(fib, n - 1);
    return a + FILCH_JOIN(fib, b);
}

static void child_counts(filch_pool *pool)
{
    alarm(60);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(FILCH_RUN_ON(pool, fib, 15), 610);
    filch_pool_destroy(pool);
    _exit(0);
}

/* The parent's forks stay the parent's: in the child their slots are empty. */
static void forks_pending_at_a_fork_of_the_process_stay_with_the_parent(void)
{
    for (int workers = 1; workers <= 2; workers++) {
        struct pause p = {0};
        filch_job job;
        int status = -1;
        filch_pool *pool = kit_pool(workers);
        filch_job_init(&job, pause_run, &p);
        CHECK_EQ(filch_submit_on(pool, &job, 0), 0);
        KIT_AWAIT(kit_raised(&p.forked));
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            child_counts(pool);
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_MSG(status == 0, "the child ended with %#x", status);
        kit_raise(&p.release);
        CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
        kit_destroy(pool);
    }
}

static void fork_inside(void *arg)
{
    int *status = arg;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(42);
    CHECK_EQ(waitpid(child, status, 0), child);
}

static void a_child_made_inside_a_task_may_leave(void)
{
    int status = -1;
    filch_pool *pool = kit_pool(2);
    run_as_job(pool, fork_inside, &status);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    filch_run_on(pool, fork_inside, &status);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(who_gives_up_does_not_take_others_along);
    RUN(everybody_who_waits_for_the_pool_is_told);
    RUN(forks_of_all_who_wait_are_run_before_any_of_them_goes_on);
    if (WITH_ASAN || WITH_TSAN) /* a child with threads cannot be judged under them: see test_life.c */
        printf("skipped: a fork of the process\n");
    else
        RUN(forks_pending_at_a_fork_of_the_process_stay_with_the_parent);
    RUN(a_child_made_inside_a_task_may_leave);
    return check_report();
}
