/* test_io_wait.c: waits for file descriptors end by data, by time and by closing; workers sleep or work
 * meanwhile; threads outside, pinned flows, children and signals. */
#define _GNU_SOURCE
#include "io_kit.h"

#include <dirent.h>
#include <filch/scope.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* ---- time and closing ------------------------------------------------------------------------ */

static int times_out(void *unused)
{
    int ends[2];
    char byte;
    (void)unused;
    CHECK_EQ(filch_pipe(ends), 0);
    CHECK_EQ(filch_read(ends[0], &byte, 1, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_read(ends[0], &byte, 1, INT64_MIN), -ETIMEDOUT);
    for (int i = 0; i < 3; i++) {
        int64_t deadline = soon(5);
        CHECK_EQ(filch_read(ends[0], &byte, 1, deadline), -ETIMEDOUT);
        CHECK(filch_clock_ns() >= deadline);
    }
    CHECK_EQ(filch_wait_fd(ends[0], FILCH_FD_READ, soon(2)), -ETIMEDOUT);
    CHECK_EQ(filch_wait_fd(ends[1], FILCH_FD_WRITE, FILCH_NOW), FILCH_FD_WRITE);
    CHECK_EQ(filch_write(ends[1], "x", 1, FILCH_FOREVER), 1);
    CHECK_EQ(filch_read(ends[0], &byte, 1, soon(60000)), 1); /* a wait that timed out leaves nothing behind */
    CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
    return 0;
}

static void waits_end_in_time(void)
{
    ON_EACH(times_out, NULL);
    CHECK_EQ(times_out(NULL), 0); /* this thread is in no pool */
}

struct waiter {
    int fd, events;
    uint32_t begun;
    int result;
};

static int waits(void *arg)
{
    struct waiter *w = arg;
    char byte;
    kit_raise(&w->begun);
    if (w->events)
        w->result = filch_wait_fd(w->fd, w->events, FILCH_FOREVER);
    else
        w->result = (int)filch_read(w->fd, &byte, 1, FILCH_FOREVER);
    return w->result;
}

static void *waits_outside(void *arg)
{
    (void)waits(arg);
    return NULL;
}

static void closing_ends_every_wait(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers), *other = kit_pool(1);
        int ends[2];
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
        struct waiter w[4] = {{.events = 0}, {.events = FILCH_FD_READ}, {.events = 0}, {.events = 0}};
        for (int i = 0; i < 4; i++)
            w[i].fd = ends[0];
        filch_task *t[3];
        for (int i = 0; i < 3; i++)
            t[i] = spawn(i < 2 ? pool : other, waits, &w[i]);
        pthread_t thread;
        CHECK_EQ(pthread_create(&thread, NULL, waits_outside, &w[3]), 0);
        for (int i = 0; i < 4; i++)
            KIT_AWAIT(kit_raised(&w[i].begun));
        kit_nap_us(20000); /* that they wait, and not only begin: nothing depends on it but what is tested */
        CHECK_EQ(filch_close(ends[0]), 0);
        for (int i = 0; i < 3; i++) {
            int result = join(t[i]);
            CHECK(result == -ECANCELED || result == -EBADF);
        }
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK(w[3].result == -ECANCELED || w[3].result == -EBADF);
        CHECK_EQ(filch_close(ends[1]), 0);
        CHECK_EQ(filch_close(ends[1]), -EBADF);
        kit_destroy(other);
        kit_destroy(pool);
    }
}

/* ---- threads outside, side by side ------------------------------------------------------------ */

static int descriptors_open(void)
{
    DIR *all = opendir("/proc/self/fd");
    int n = 0;
    CHECK(all);
    while (readdir(all))
        n++;
    closedir(all);
    return n;
}

enum { OUTSIDE = 3 };

/* Each has its own pipe; ends them in an order of its own. The second is closed, the others get a byte. */
static void end_in_order(const int order[OUTSIDE])
{
    struct waiter w[OUTSIDE] = {{0}};
    int ends[OUTSIDE][2];
    pthread_t thread[OUTSIDE];
    for (int i = 0; i < OUTSIDE; i++)
        CHECK_EQ(filch_pipe(ends[i]), 0);
    int before = descriptors_open(), closed = 0;
    for (int i = 0; i < OUTSIDE; i++) {
        w[i].fd = ends[i][0];
        CHECK_EQ(pthread_create(&thread[i], NULL, waits_outside, &w[i]), 0);
        KIT_AWAIT(descriptors_open() == before + 2 * (i + 1)); /* a poll each: they wait, or are about to */
    }
    for (int i = 0; i < OUTSIDE; i++) {
        int k = order[i];
        if (k == 1)
            CHECK_EQ(filch_close(ends[k][0]), 0);
        else
            CHECK_EQ(filch_write(ends[k][1], "o", 1, FILCH_FOREVER), 1);
        CHECK_EQ(pthread_join(thread[k], NULL), 0);
        CHECK(k == 1 ? w[k].result == -ECANCELED || w[k].result == -EBADF : w[k].result == 1);
        closed += k == 1;
        KIT_AWAIT(descriptors_open() == before - closed + 2 * (OUTSIDE - 1 - i));
    }
    for (int i = 0; i < OUTSIDE; i++)
        CHECK_EQ((i == 1 ? 0 : filch_close(ends[i][0])) | filch_close(ends[i][1]), 0);
}

static void threads_outside_wait_side_by_side(void)
{
    static const int order[][OUTSIDE] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        end_in_order(order[i]);
}

static int cancels(void *arg)
{
    struct waiter *w = arg;
    filch_scope scope;
    filch_scope_open(&scope);
    CHECK_EQ(filch_scope_go(&scope, waits, w), 0);
    do
        filch_sleep_ns(500000);
    while (!kit_raised(&w->begun));
    filch_scope_cancel(&scope);
    CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
    return w->result;
}

static void a_cancelled_scope_ends_the_wait(void)
{
    int ends[2];
    CHECK_EQ(filch_pipe(ends), 0);
    for (int workers = 1; workers <= 3; workers++) {
        struct waiter w = {.fd = ends[0]};
        CHECK_EQ(run_on(workers, cancels, &w), -ECANCELED);
    }
    CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
}

/* Every connection has the number of the one before: what was reported about that must not count. */
static int reuses(void *arg)
{
    (void)arg;
    int number = -1;
    for (int i = 0; i < 200; i++) {
        int ends[2];
        char byte;
        CHECK_EQ(filch_pipe(ends), 0);
        CHECK(number < 0 || ends[0] == number);
        number = ends[0];
        CHECK_EQ(filch_read(ends[0], &byte, 1, filch_clock_ns() + 1000), -ETIMEDOUT);
        CHECK_EQ(filch_write(ends[1], "y", 1, FILCH_FOREVER), 1);
        CHECK_EQ(filch_wait_fd(ends[0], FILCH_FD_READ, FILCH_FOREVER), FILCH_FD_READ);
        if (i % 2)
            CHECK_EQ(filch_read(ends[0], &byte, 1, FILCH_FOREVER), 1);
        CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
    }
    kit_beat();
    return 0;
}

static void numbers_are_used_again(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        CHECK_EQ(join(spawn(pool, reuses, NULL)), 0); /* alone, or the numbers would differ */
        kit_destroy(pool);
    }
}

static int sends_to_nobody(void *unused)
{
    int ends[2];
    (void)unused;
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    CHECK_EQ(filch_close(ends[1]), 0);
    CHECK_EQ(filch_write(ends[0], "z", 1, FILCH_FOREVER), -EPIPE);
    CHECK_EQ(filch_send(ends[0], "z", 1, 0, FILCH_FOREVER), -EPIPE);
    CHECK_EQ(filch_close(ends[0]), 0);
    return 0;
}

static void a_broken_connection_raises_no_signal(void)
{
    CHECK_EQ(run_on(1, sends_to_nobody, NULL), 0);
    CHECK_EQ(sends_to_nobody(NULL), 0);
}

/* ---- readiness ------------------------------------------------------------------------------- */

static int waits_for_either(void *arg)
{
    int *ends = arg;
    char bytes[4096] = {0};
    CHECK(filch_wait_fd(ends[0], FILCH_FD_READ | FILCH_FD_WRITE, FILCH_FOREVER) & FILCH_FD_WRITE);
    while (filch_write(ends[0], bytes, sizeof bytes, FILCH_NOW) > 0)
        ;
    for (int i = 0; i < 20; i++) {
        int r = filch_wait_fd(ends[0], FILCH_FD_READ | FILCH_FD_WRITE, FILCH_FOREVER);
        CHECK(r == FILCH_FD_READ);
        CHECK_EQ(filch_read(ends[0], bytes, 1, FILCH_FOREVER), 1);
        kit_beat();
    }
    return 0;
}

static int sends_single_bytes(void *arg)
{
    int *ends = arg;
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(filch_write(ends[1], "b", 1, FILCH_FOREVER), 1);
        filch_sleep_ns(100000);
    }
    return 0;
}

static void one_waits_for_both_directions(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        int ends[2];
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
        filch_task *a = spawn(pool, waits_for_either, ends), *b = spawn(pool, sends_single_bytes, ends);
        CHECK_EQ(join(a) | join(b), 0);
        CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
        kit_destroy(pool);
    }
}

/* One report says both: the wait ends once, by the first, and the second has nothing left to say. */
static void a_hang_up_ends_a_wait_for_both_directions(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        int ends[2];
        char bytes[4096] = {0};
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
        while (filch_write(ends[0], bytes, sizeof bytes, FILCH_NOW) > 0)
            ;
        struct waiter w = {.fd = ends[0], .events = FILCH_FD_READ | FILCH_FD_WRITE};
        filch_task *t = spawn(pool, waits, &w);
        KIT_AWAIT(kit_raised(&w.begun));
        kit_await_parked(pool);
        CHECK(!filch_task_done(t));
        CHECK_EQ(filch_close(ends[1]), 0);
        CHECK_EQ(join(t), FILCH_FD_READ | FILCH_FD_WRITE);
        CHECK_EQ(filch_close(ends[0]), 0);
        kit_destroy(pool);
    }
}

/* ---- workers --------------------------------------------------------------------------------- */

struct busy {
    uint32_t stop;
    int fd;
};

static int yields_for_ever(void *arg)
{
    struct busy *b = arg;
    while (!kit_raised(&b->stop))
        filch_yield();
    return 0;
}

static void a_busy_pool_still_sees_what_is_ready(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct busy b = {0};
        filch_task *busy[8];
        for (int i = 0; i < 8; i++)
            busy[i] = spawn(pool, yields_for_ever, &b);
        int ends[2];
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
        check_echo(pool, ends[0], ends[1]);
        kit_raise(&b.stop);
        for (int i = 0; i < 8; i++)
            CHECK_EQ(join(busy[i]), 0);
        kit_destroy(pool);
    }
}

/* Both on the only worker: it sleeps until whichever comes first. */
static int ticks(void *arg)
{
    struct busy *b = arg;
    int n = 0;
    for (; !kit_raised(&b->stop); n++)
        filch_sleep_ns(300000);
    return n;
}

static int pongs(void *arg)
{
    int *ends = arg;
    char byte;
    for (int i = 0; i < 50; i++) {
        CHECK_EQ(filch_read(ends[0], &byte, 1, FILCH_FOREVER), 1);
        CHECK_EQ(filch_write(ends[0], &byte, 1, FILCH_FOREVER), 1);
    }
    return 0;
}

static void time_and_descriptors_on_one_worker(void)
{
    filch_pool *pool = kit_pool(1);
    struct busy b = {0};
    int ends[2];
    char byte = 'p';
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    filch_task *timer = spawn(pool, ticks, &b), *echo = spawn(pool, pongs, ends);
    for (int i = 0; i < 50; i++) { /* this thread is in no pool */
        CHECK_EQ(filch_write(ends[1], &byte, 1, FILCH_FOREVER), 1);
        CHECK_EQ(filch_read(ends[1], &byte, 1, FILCH_FOREVER), 1);
        kit_nap_us(1000);
    }
    kit_raise(&b.stop);
    CHECK_EQ(filch_task_join(echo, NULL, soon(60000)), 0);
    int n = 0;
    CHECK_EQ(filch_task_join(timer, &n, soon(60000)), 0);
    CHECK(n > 0);
    CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
    kit_destroy(pool);
}

static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The watchdog's naps are all that goes on. A loaded machine makes CPU time no longer, but noise is
 * possible: the quietest of several looks counts. */
static void waiting_costs_no_time(void)
{
    for (int workers = 1; workers <= 3; workers += 2) {
        filch_pool *pool = kit_pool(workers);
        int ends[2];
        CHECK_EQ(filch_pipe(ends), 0);
        struct waiter w = {.fd = ends[0]};
        filch_task *t = spawn(pool, waits, &w);
        KIT_AWAIT(kit_raised(&w.begun));
        int64_t least = INT64_MAX;
        for (int i = 0; i < 20 && least > 2000000; i++) {
            int64_t before = cpu_ns();
            kit_nap_us(100000);
            int64_t spent = cpu_ns() - before;
            least = spent < least ? spent : least;
            kit_beat();
        }
        CHECK_MSG(least <= 2000000, "%lld us of CPU time in 100 ms", (long long)least / 1000);
        CHECK_EQ(filch_write(ends[1], "w", 1, FILCH_FOREVER), 1);
        CHECK_EQ(join(t), 1);
        CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
        kit_destroy(pool);
    }
}

/* A sleeper in the poll is woken for other work, again and again. */
static int nothing(void *arg)
{
    return (void)arg, 7;
}

static void the_poller_is_woken_for_jobs(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        int ends[2];
        CHECK_EQ(filch_pipe(ends), 0);
        struct waiter w = {.fd = ends[0]};
        filch_task *t = spawn(pool, waits, &w);
        for (int i = 0; i < 300; i++) {
            filch_task *job = spawn(pool, nothing, NULL);
            if (i % 3 == 0)
                kit_nap_us(200);
            int result = 0;
            CHECK_EQ(filch_task_join(job, &result, soon(60000)), 0);
            CHECK_EQ(result, 7);
            kit_beat();
        }
        CHECK_EQ(filch_write(ends[1], "w", 1, FILCH_FOREVER), 1);
        CHECK_EQ(join(t), 1);
        CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
        kit_destroy(pool);
    }
}

/* A guest pinned to its thread, and a pinned task, wait as a thread does; who else sits there goes on. */
struct crossed {
    int a[2], b[2];
};

static void pinned_echo(void *arg)
{
    struct crossed *x = arg;
    char byte;
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(filch_write(x->a[1], "1", 1, FILCH_FOREVER), 1);
        CHECK_EQ(filch_read(x->b[0], &byte, 1, FILCH_FOREVER), 1);
        kit_beat();
    }
}

static int task_echo(void *arg)
{
    struct crossed *x = arg;
    char byte;
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(filch_read(x->a[0], &byte, 1, FILCH_FOREVER), 1);
        CHECK_EQ(filch_write(x->b[1], "2", 1, FILCH_FOREVER), 1);
    }
    return 0;
}

static int pinned_task(void *arg)
{
    filch_pin();
    pinned_echo(arg);
    filch_unpin();
    return 0;
}

static void pinned_flows_wait_too(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct crossed x;
        CHECK_EQ(filch_pipe(x.a) | filch_pipe(x.b), 0);
        filch_task *t = spawn(pool, task_echo, &x);
        filch_run_on(pool, pinned_echo, &x);
        CHECK_EQ(join(t), 0);
        if (workers > 1) {
            t = spawn(pool, pinned_task, &x);
            CHECK_EQ(join(spawn(pool, task_echo, &x)) | join(t), 0);
        }
        for (int i = 0; i < 2; i++)
            CHECK_EQ(filch_close(x.a[i]) | filch_close(x.b[i]), 0);
        kit_destroy(pool);
    }
}

/* The read would wait for ever: what ends it was forked before, and nobody else comes to run it. */
static void writes_a_byte(void *arg)
{
    CHECK_EQ(filch_write(*(int *)arg, "j", 1, FILCH_FOREVER), 1);
}

static int forks_and_blocks(void *arg)
{
    int *ends = arg;
    filch_job job;
    char byte = 0;
    filch_pin();
    filch_fork(&job, writes_a_byte, &ends[1]);
    CHECK_EQ(filch_read(ends[0], &byte, 1, FILCH_FOREVER), 1);
    filch_join(&job);
    filch_unpin();
    return byte;
}

static void forks_and_blocks_as_guest(void *arg)
{
    CHECK_EQ(forks_and_blocks(arg), 'j');
}

static void what_a_pinned_flow_forked_runs_before_it_blocks(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        int ends[2];
        CHECK_EQ(pipe(ends), 0);
        for (int i = 0; i < 20; i++) {
            CHECK_EQ(join(spawn(pool, forks_and_blocks, ends)), 'j');
            filch_run_on(pool, forks_and_blocks_as_guest, ends);
        }
        CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
        kit_destroy(pool);
    }
}

/* The worker sleeps in the poll, and a guest takes its seat: until the worker has seen the byte, and has
 * handed its reader to those who have one. */
struct seated {
    filch_pool *pool;
    int fd;
};

static void keeps_the_seat(void *arg)
{
    const struct seated *s = arg;
    CHECK_EQ(filch_write(s->fd, "g", 1, FILCH_FOREVER), 1);
    KIT_AWAIT(inject_count(&s->pool->injector) > 0);
}

static void a_poller_without_its_seat_hands_on_what_it_sees(void)
{
    filch_pool *pool = kit_pool(1);
    int ends[2];
    CHECK_EQ(filch_pipe(ends), 0);
    struct waiter w = {.fd = ends[0]};
    filch_task *t = spawn(pool, waits, &w);
    KIT_AWAIT(idle_polled(pool));
    filch_run_on(pool, keeps_the_seat, &(struct seated){pool, ends[1]});
    CHECK_EQ(join(t), 1);
    CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
    kit_destroy(pool);
}

/* ---- children and signals -------------------------------------------------------------------- */

static int waits_for_child(void *arg)
{
    pid_t pid = *(pid_t *)arg;
    int status = -1;
    CHECK_EQ(filch_wait_child(pid, &status, filch_clock_ns() + 1000000), -ETIMEDOUT);
    CHECK_EQ(kill(pid, SIGUSR2), 0);
    CHECK_EQ(filch_wait_child(pid, &status, FILCH_FOREVER), 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
    CHECK_EQ(filch_wait_child(pid, &status, FILCH_FOREVER), -ECHILD);
    return 0;
}

static void a_child_is_waited_for(void)
{
    for (int workers = 0; workers <= 2; workers++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            for (;;)
                (void)pause();
        }
        CHECK_EQ(workers == 0 ? waits_for_child(&pid) : run_on(workers, waits_for_child, &pid), 0);
        kit_beat();
    }
}

static int waits_for_signal(void *arg)
{
    static const int which[] = {SIGUSR1, SIGWINCH};
    (void)arg;
    CHECK_EQ(filch_wait_signal(which, 2, filch_clock_ns() + 1000000), -ETIMEDOUT);
    CHECK_EQ(kill(getpid(), SIGWINCH), 0);
    CHECK_EQ(filch_wait_signal(which, 2, FILCH_FOREVER), SIGWINCH);
    CHECK_EQ(kill(getpid(), SIGUSR1), 0);
    CHECK_EQ(filch_wait_signal(which, 2, FILCH_FOREVER), SIGUSR1);
    static const int wrong[] = {SIGUSR1, 4000};
    CHECK_EQ(filch_wait_signal(wrong, 2, FILCH_FOREVER), -EINVAL);
    return 0;
}

static void a_signal_is_waited_for(void)
{
    CHECK_EQ(run_on(1, waits_for_signal, NULL), 0);
    CHECK_EQ(run_on(2, waits_for_signal, NULL), 0);
    CHECK_EQ(waits_for_signal(NULL), 0);
}

/* ---- fork() ---------------------------------------------------------------------------------- */

KIT_UNUSED static int one_byte(void *arg)
{
    int ends[2];
    char byte = 0;
    (void)arg;
    CHECK_EQ(filch_pipe(ends), 0);
    struct waiter w = {.fd = ends[0]};
    filch_task *t;
    CHECK_EQ(filch_spawn(&t, waits, &w), 0);
    filch_sleep_ns(2000000);
    CHECK_EQ(filch_write(ends[1], "f", 1, FILCH_FOREVER), 1);
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
    CHECK_EQ(w.result, 1);
    CHECK_EQ(filch_read(ends[0], &byte, 1, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
    return 0;
}

KIT_UNUSED static void a_child_has_descriptors_of_its_own(void)
{
    filch_pool *pool = kit_pool(2);
    CHECK_EQ(join(spawn(pool, one_byte, NULL)), 0);
    int ends[2];
    CHECK_EQ(filch_pipe(ends), 0);
    struct waiter w = {.fd = ends[0]};
    filch_task *t = spawn(pool, waits, &w);
    KIT_AWAIT(kit_raised(&w.begun));
    kit_await_parked(pool);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(60);
        CHECK_EQ(join(spawn(pool, one_byte, NULL)), 0);
        CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0); /* the parent's wait goes on */
        _exit(0);
    }
    int status = -1;
    CHECK_EQ(filch_wait_child(pid, &status, FILCH_FOREVER), 0);
    CHECK_EQ(status, 0);
    CHECK_EQ(filch_write(ends[1], "f", 1, FILCH_FOREVER), 1);
    CHECK_EQ(join(t), 1);
    CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
    kit_destroy(pool);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static int without_descriptors(void *arg)
{
    int *ends = arg;
    char byte;
    return (int)filch_read(ends[0], &byte, 1, filch_clock_ns() + 3000000);
}

static void no_descriptor_for_the_poll_is_an_answer(void)
{
    struct rlimit before, few;
    int ends[2];
    CHECK_EQ(filch_pipe(ends), 0);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    filch_pool *pool = kit_pool(1);
    CHECK_EQ(join(spawn(pool, nothing, NULL)), 7); /* a thread is there */
    few = before;
    for (int left = 0; left < 2; left++) { /* none, or one and it takes two */
        few.rlim_cur = (rlim_t)(ends[1] + 1 + left);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
        CHECK_EQ(join(spawn(pool, without_descriptors, ends)), -EMFILE);
        CHECK_EQ(without_descriptors(ends), -ETIMEDOUT); /* a thread can do without */
    }
    int last = dup(ends[0]);
    CHECK_EQ(last, ends[1] + 1); /* given back */
    CHECK_EQ(filch_close(last), 0);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK_EQ(join(spawn(pool, without_descriptors, ends)), -ETIMEDOUT);
    CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
    kit_destroy(pool);
}

struct greedy {
    int ends[2];           /* never empty when it is read from */
    int other[2];
    int begun, over;
};

static int reads_without_end(void *arg)
{
    struct greedy *g = arg;
    char byte = 'x';
    while (!filch_load_acquire(&g->over)) {
        CHECK_EQ(filch_write(g->ends[1], &byte, 1, FILCH_FOREVER), 1);
        CHECK_EQ(filch_read(g->ends[0], &byte, 1, FILCH_FOREVER), 1);
        filch_store_release(&g->begun, 1);
    }
    return 0;
}

static int waits_for_a_byte(void *arg)
{
    struct greedy *g = arg;
    char byte;
    CHECK_EQ(filch_read(g->other[0], &byte, 1, FILCH_FOREVER), 1);
    filch_store_release(&g->over, 1);
    return 0;
}

static void a_stream_that_is_always_ready_lets_others_run(void)
{
    filch_pool *pool = kit_pool(1);
    struct greedy g = {.over = 0};
    CHECK_EQ(filch_pipe(g.ends) | filch_pipe(g.other), 0);
    filch_task *b = spawn(pool, waits_for_a_byte, &g), *a = spawn(pool, reads_without_end, &g);
    while (!filch_load_acquire(&g.begun))
        usleep(100);
    CHECK_EQ(filch_write(g.other[1], "x", 1, FILCH_FOREVER), 1);
    CHECK_EQ(join(a) | join(b), 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(filch_close(g.ends[i]) | filch_close(g.other[i]), 0);
    kit_destroy(pool);
}

/* Blocked before the first thread is started, so that the signals of the test wait. */
static void block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGWINCH);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
}

int main(void)
{
    block_signals();
    kit_watchdog();
    RUN(waits_end_in_time);
    RUN(closing_ends_every_wait);
    RUN(threads_outside_wait_side_by_side);
    RUN(a_cancelled_scope_ends_the_wait);
    RUN(numbers_are_used_again);
    RUN(a_broken_connection_raises_no_signal);
    RUN(one_waits_for_both_directions);
    RUN(a_hang_up_ends_a_wait_for_both_directions);
    RUN(a_busy_pool_still_sees_what_is_ready);
    RUN(a_stream_that_is_always_ready_lets_others_run);
    RUN(time_and_descriptors_on_one_worker);
    RUN(waiting_costs_no_time);
    RUN(the_poller_is_woken_for_jobs);
    RUN(pinned_flows_wait_too);
    RUN(what_a_pinned_flow_forked_runs_before_it_blocks);
    RUN(a_poller_without_its_seat_hands_on_what_it_sees);
    RUN(a_child_is_waited_for);
    RUN(a_signal_is_waited_for);
#ifndef FILCH_TSAN /* which cannot start threads in a child of fork() */
    RUN(a_child_has_descriptors_of_its_own);
#endif
    RUN(no_descriptor_for_the_poll_is_an_answer);
    return check_report();
}
