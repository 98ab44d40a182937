/* forking.h: what the tests of fork-join share: pools by policy, child processes. */
#ifndef FILCH_TESTS_FORKING_H
#define FILCH_TESTS_FORKING_H

#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE before the first include"
#endif

#include "check.h"
#include "scale.h"

#include <errno.h>
#include <fcntl.h>
#include <filch.h>
#include <filch/stats.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* ---- pools -------------------------------------------------------------------------------- */

CHECK_UNUSED_ static filch_config config_of(int workers, enum filch_join_policy join)
{
    filch_config c = FILCH_CONFIG_INIT;
    c.workers = workers;
    c.join = join;
    c.no_environment = 1;
    return c;
}

CHECK_UNUSED_ static filch_pool *pool_of(int workers, enum filch_join_policy join)
{
    filch_config c = config_of(workers, join);
    filch_pool *pool;
    CHECK_EQ(filch_pool_create(&pool, &c), 0);
    return pool;
}

/* fn(arg) as a submitted job: not pinned, on a worker. */
CHECK_UNUSED_ static void run_as_job(filch_pool *pool, void (*fn)(void *), void *arg)
{
    filch_job job;
    filch_job_init(&job, fn, arg);
    CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
}

/* Waits until another thread raised a flag or moved a counter: no time limit, the test's own
 * limit is the judge. */
CHECK_UNUSED_ static void await_flag(const uint32_t *flag)
{
    while (!filch_load_acquire(flag))
        sched_yield();
}

CHECK_UNUSED_ static void await_stat(filch_pool *pool, const char *name, uint64_t at_least)
{
    while (filch_stats_total(pool, name) < at_least)
        sched_yield();
}

/* ---- children: for what ends in abort ----------------------------------------------------- */

struct ending {
    int status;
    char text[1024]; /* the beginning of what it wrote to stderr */
};

static void child_signals(void)
{
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (int sig = 1; sig < 32; sig++)
        signal(sig, SIG_DFL); /* a sanitizer may have its own */
    alarm(60);                /* a child that hangs fails by itself */
}

static void child_read(int fd, struct ending *e)
{
    size_t have = 0;
    char rest[256];
    for (;;) {
        size_t room = sizeof e->text - 1 - have;
        ssize_t n = room ? read(fd, e->text + have, room) : read(fd, rest, sizeof rest);
        if (n <= 0)
            return;
        have += room ? (size_t)n : 0;
    }
}

/* Runs body in a child process. Only while the caller has no other thread. */
CHECK_UNUSED_ static struct ending in_child(void (*body)(void))
{
    struct ending e = {0};
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        child_signals();
        body();
        _exit(0);
    }
    close(ends[1]);
    child_read(ends[0], &e);
    close(ends[0]);
    while (waitpid(pid, &e.status, 0) < 0)
        CHECK_EQ(errno, EINTR);
    return e;
}

CHECK_UNUSED_ static int aborted(const struct ending *e)
{
    return WIFSIGNALED(e->status) && WTERMSIG(e->status) == SIGABRT;
}

#endif
