/* test_blocking.c: blocking calls leave the workers free; their threads come and go. */
#define _GNU_SOURCE
#include "pool_kit.h"

#include "fiber/blocking.h"

#include <filch/blocking.h>
#include <filch/task.h>
#include <sys/wait.h>
#include <unistd.h>

static filch_task *spawn(filch_pool *pool, int (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t = NULL;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

static int join(filch_task *t)
{
    int result = -1;
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    return result;
}

static int is_outside(void *arg)
{
    (void)arg;
    errno = 77;
    return filch_worker_id() == -1 && !filch_pool_current() ? 5 : 6;
}

/* The compiler may keep the address of errno, and the task may go on on another thread. */
static __attribute__((noinline)) int errno_here(void)
{
    __asm__ __volatile__("" ::: "memory");
    return errno;
}

static int calls_once(void *arg)
{
    int n = filch_blocking(is_outside, arg);
    CHECK_EQ(errno_here(), 77);
    return n;
}

static void a_call_returns_its_result_and_its_errno(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        CHECK_EQ(join(spawn(pool, calls_once, NULL)), 5);
        kit_destroy(pool);
    }
    CHECK_EQ(filch_blocking(is_outside, NULL), 5); /* a plain call */
    blocking_stop();
    CHECK_EQ(blocking_figures().threads, 0);
}

/* Reads what a later task writes: if the read kept the only worker, nothing would come. */
static int reads(void *fd)
{
    char c = 0;
    return read(*(int *)fd, &c, 1) == 1 ? c : -1;
}

static int reads_from_task(void *fds)
{
    return filch_blocking(reads, fds);
}

static int writes(void *arg)
{
    int *fds = arg;
    char c = 9;
    return (int)write(fds[1], &c, 1);
}

static void a_blocking_call_does_not_keep_its_worker(void)
{
    enum { MANY = 20 };
    filch_pool *pool = kit_pool(1);
    int fds[2];
    filch_task *reader[MANY], *writer[MANY];
    CHECK_EQ(pipe(fds), 0);
    for (int i = 0; i < MANY; i++)
        reader[i] = spawn(pool, reads_from_task, fds);
    for (int i = 0; i < MANY; i++)
        writer[i] = spawn(pool, writes, fds);
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(join(writer[i]), 1);
        CHECK_EQ(join(reader[i]), 9);
    }
    close(fds[0]);
    close(fds[1]);
    kit_destroy(pool);
    blocking_stop();
}

/* All of them are in their calls at the same time: each got a thread. */
struct gathering {
    uint32_t here, all;
};

static int gathers(void *arg)
{
    struct gathering *g = arg;
    kit_count(&g->here);
    KIT_AWAIT(kit_raised(&g->here) >= g->all);
    return 1;
}

static int gathers_from_task(void *arg)
{
    return filch_blocking(gathers, arg);
}

static void calls_that_wait_for_each_other_have_a_thread_each(void)
{
    enum { MANY = 60 };
    filch_pool *pool = kit_pool(2);
    for (int round = 0; round < 3; round++) {
        struct gathering g = {0, MANY};
        filch_task *t[MANY];
        for (int i = 0; i < MANY; i++)
            t[i] = spawn(pool, gathers_from_task, &g);
        for (int i = 0; i < MANY; i++)
            CHECK_EQ(join(t[i]), 1);
    }
    CHECK(blocking_figures().most >= MANY);
    CHECK_EQ(blocking_figures().queued, 0);
    kit_destroy(pool);
    blocking_stop();
}

static int counts(void *arg)
{
    kit_count(arg);
    return 1;
}

static int calls_many(void *arg)
{
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += filch_blocking(counts, arg);
    return sum;
}

static void every_call_is_made_once(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        filch_task *t[20];
        uint32_t calls = 0;
        for (int i = 0; i < 20; i++)
            t[i] = spawn(pool, calls_many, &calls);
        for (int i = 0; i < 20; i++)
            CHECK_EQ(join(t[i]), 100);
        CHECK_EQ(calls, 2000);
        kit_destroy(pool);
    }
    blocking_stop();
}

static int in_pinned(void *arg)
{
    int before = filch_worker_id();
    (void)arg;
    filch_pin();
    int n = filch_blocking(is_outside, NULL); /* in place: on the worker */
    CHECK_EQ(filch_worker_id(), before);
    filch_unpin();
    return n;
}

static void pinned_code_makes_the_call_itself(void)
{
    filch_pool *pool = kit_pool(1);
    CHECK_EQ(join(spawn(pool, in_pinned, NULL)), 6);
    kit_destroy(pool);
}

static void a_thread_without_calls_ends(void)
{
    int64_t before = blocking_patience(2000000);
    filch_pool *pool = kit_pool(2);
    for (int round = 0; round < 3; round++) {
        struct gathering g = {0, 5};
        filch_task *t[5];
        for (int i = 0; i < 5; i++)
            t[i] = spawn(pool, gathers_from_task, &g);
        for (int i = 0; i < 5; i++)
            CHECK_EQ(join(t[i]), 1);
        KIT_AWAIT(blocking_figures().threads == 0);
    }
    kit_destroy(pool);
    (void)blocking_patience(before);
    blocking_stop();
}

/* ---- processes ------------------------------------------------------------------------------ */

static int status_of(pid_t child)
{
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    return status;
}

KIT_UNUSED static void a_child_of_fork_starts_anew(void)
{
    filch_pool *pool = kit_pool(2);
    uint32_t calls = 0;
    CHECK_EQ(join(spawn(pool, calls_many, &calls)), 100);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    pid_t child = fork();
    if (child == 0) {
        calls = 0;
        bool good = join(spawn(pool, calls_many, &calls)) == 100 && calls == 100;
        blocking_stop();
        _exit(good && blocking_figures().threads == 0 ? 0 : 1);
    }
    CHECK_EQ(status_of(child), 0);
    CHECK_EQ(join(spawn(pool, calls_many, &calls)), 100);
    kit_destroy(pool);
    blocking_stop();
}

/* In a process of its own: the limit is read once. */
static int most_with_limit(const char *limit, int tasks)
{
    setenv("FILCH_BLOCKING", limit, 1);
    filch_pool *pool = kit_pool(2);
    filch_task *t[20];
    uint32_t calls = 0;
    for (int i = 0; i < tasks; i++)
        t[i] = spawn(pool, calls_many, &calls);
    for (int i = 0; i < tasks; i++)
        (void)join(t[i]);
    filch_pool_destroy(pool);
    int most = (int)blocking_figures().most;
    blocking_stop();
    return calls == 100u * (uint32_t)tasks ? most : -1;
}

static void more_calls_than_threads_wait_for_their_turn(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(most_with_limit("2", 20) <= 2 ? 0 : 1);
    CHECK_EQ(status_of(child), 0);
}

static int exits(void *arg)
{
    exit(*(int *)arg);
}

static int exits_from_task(void *arg)
{
    return filch_blocking(exits, arg);
}

static void exit_inside_a_call_is_safe(void)
{
    pid_t child = fork();
    if (child == 0) {
        int status = 3;
        filch_pool *pool = kit_pool(2);
        uint32_t calls = 0;
        (void)join(spawn(pool, calls_many, &calls));
        (void)join(spawn(pool, exits_from_task, &status));
        _exit(1);
    }
    int status = status_of(child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

int main(void)
{
    RUN(more_calls_than_threads_wait_for_their_turn); /* before there are threads: each in a child */
    RUN(exit_inside_a_call_is_safe);
    kit_watchdog();
    RUN(a_call_returns_its_result_and_its_errno);
    RUN(a_blocking_call_does_not_keep_its_worker);
    RUN(calls_that_wait_for_each_other_have_a_thread_each);
    RUN(every_call_is_made_once);
    RUN(pinned_code_makes_the_call_itself);
    RUN(a_thread_without_calls_ends);
#ifndef FILCH_TSAN /* which does not start threads in the child of a process with threads */
    RUN(a_child_of_fork_starts_anew);
#endif
    return check_report();
}
