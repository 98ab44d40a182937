/* test_child.c: fork() in a task. The child may exec, _exit, exit and fork again; what it asks of filch is
 * refused in one line, at once; it has the signal mask and the timer slack of the thread that made the
 * pool. */
#define _GNU_SOURCE
#include "core/lock.h"
#include "pool_kit.h"

#include <fcntl.h>
#include <filch/async.h>
#include <filch/blocking.h>
#include <filch/chan.h>
#include <filch/io.h>
#include <filch/par.h>
#include <filch/scope.h>
#include <filch/sync.h>
#include <filch/task.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

struct ending {
    int status;
    char text[1024];
};

/* What the parent has ready for its children. */
static struct {
    filch_pool *pool;
    filch_task *never;      /* a task that waits */
    filch_event wake_never; /* for this */
    filch_mutex held;
    filch_chan *empty;
    filch_chan *wanted;     /* a task waits to receive from it */
    filch_async idle;       /* pending */
    int pipe[2];
} parent;

/* ---- children of tasks ---------------------------------------------------------------------- */

static void read_all(int fd, struct ending *e)
{
    size_t have = 0;
    ssize_t n;
    while (have < sizeof e->text - 1 && (n = read(fd, e->text + have, sizeof e->text - 1 - have)) > 0)
        have += (size_t)n;
    e->text[have] = '\0';
}

static int child_pipe[2];

/* In the code of a task: true in the child. */
static bool forked(struct ending *e)
{
    CHECK_EQ(pipe2(child_pipe, O_CLOEXEC), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        dup2(child_pipe[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL); /* a sanitizer may have its own */
        signal(SIGALRM, SIG_DFL);
        alarm(20);                /* a child that hangs fails by itself */
        return true;
    }
    close(child_pipe[1]);
    read_all(child_pipe[0], e);
    close(child_pipe[0]);
    while (waitpid(pid, &e->status, 0) < 0)
        CHECK_EQ(errno, EINTR);
    kit_beat();
    return false;
}

static void check_refused(const struct ending *e, const char *what)
{
    CHECK_MSG(WIFSIGNALED(e->status) && WTERMSIG(e->status) == SIGABRT, "%s: status %#x, \"%s\"", what,
              e->status, e->text);
    const char *line = strchr(e->text, '\n');
    CHECK_MSG(strstr(e->text, "the child of a task may only call exec or _exit") && line && line[1] == '\0',
              "%s: not one line that says what is allowed: %s", what, e->text);
}

struct in_task {
    void (*fn)(void);
    struct ending ending;
};

static int forks_and_calls(void *arg)
{
    struct in_task *t = arg;
    if (forked(&t->ending)) {
        t->fn();
        _exit(0);
    }
    return 0;
}

static filch_task *spawn(int (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = parent.pool;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

/* Without helping: by a thread of the pool. */
static void join(filch_task *t)
{
    KIT_AWAIT(filch_task_done(t));
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
}

static struct ending in_child_of_task(void (*fn)(void))
{
    struct in_task t = {.fn = fn};
    join(spawn(forks_and_calls, &t));
    return t.ending;
}

/* ---- what is refused ------------------------------------------------------------------------ */

static int nothing(void *arg) { return (void)arg, 0; }
static void no_work(void *arg) { (void)arg; }
static void no_piece(size_t lo, size_t hi, void *arg) { (void)lo, (void)hi, (void)arg; }

FILCH_TASK(int, twice, int, n) { return 2 * n; }

static void sleeps(void) { filch_sleep_ns(5000000000); }
static void goes(void) { (void)filch_go(no_work, NULL); }
static void loops(void) { (void)filch_for(0, 1000, no_piece, NULL); }
static void runs(void) { (void)FILCH_RUN(twice, 1); }
static void runs_on(void) { (void)FILCH_RUN_ON(parent.pool, twice, 1); }
static void joins_a_task(void) { (void)filch_task_join(parent.never, NULL, FILCH_FOREVER); }
static void waits_for_its_pool(void) { (void)filch_pool_wait(parent.pool, FILCH_FOREVER); }
static void destroys_its_pool(void) { filch_pool_destroy(parent.pool); }
static void locks(void) { (void)filch_mutex_lock(&parent.held, FILCH_FOREVER); }
static void receives(void) { int n; (void)filch_chan_recv(parent.empty, &n, FILCH_FOREVER); }
static void sends_to_a_task(void) { int n = 1; (void)filch_chan_send(parent.wanted, &n, FILCH_FOREVER); }
static void wakes_a_task(void) { filch_event_set(&parent.wake_never); }
static void wakes_a_stackless_task(void) { filch_wake(&parent.idle); }
static void blocks(void) { (void)filch_blocking(nothing, NULL); }
static void reads(void) { char c; (void)filch_read(parent.pipe[0], &c, 1, FILCH_FOREVER); }

/* As one that another thread of the parent had at the time of fork(): it is never given back. */
static void spins(void)
{
    uint32_t lock = LOCK_HELD;
    lock_acquire(&lock);
}

static void spawns(void)
{
    filch_task *t;
    (void)filch_spawn(&t, nothing, NULL);
}

static void creates_a_pool(void)
{
    filch_pool *pool;
    (void)filch_pool_create(&pool, NULL);
}

static void submits(void)
{
    filch_job job;
    filch_job_init(&job, no_work, NULL);
    (void)filch_submit_on(parent.pool, &job, FILCH_ANYWHERE);
}

static void forks_a_job(void)
{
    filch_job job;
    filch_fork(&job, no_work, NULL);
}

static void uses_a_scope(void)
{
    filch_scope s;
    filch_scope_open(&s);
    (void)filch_scope_go(&s, nothing, NULL);
}

static void forks_again_and_sleeps(void)
{
    pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        filch_sleep_ns(5000000000);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    raise(WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL);
}

static void whatever_a_child_of_a_task_asks_for_is_refused_in_one_line(void)
{
    static const struct {
        const char *what;
        void (*fn)(void);
    } uses[] = {
        {"sleep", sleeps}, {"go", goes}, {"spawn", spawns}, {"for", loops}, {"run", runs},
        {"run on", runs_on},
        {"pool create", creates_a_pool}, {"submit", submits}, {"fork", forks_a_job}, {"scope", uses_a_scope},
        {"join a task", joins_a_task}, {"pool wait", waits_for_its_pool}, {"pool destroy", destroys_its_pool},
        {"mutex", locks}, {"receive", receives}, {"send", sends_to_a_task}, {"event", wakes_a_task},
        {"blocking", blocks}, {"read", reads}, {"lock", spins},
        {"stackless task", wakes_a_stackless_task},
        {"child of the child", forks_again_and_sleeps},
    };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        struct ending e = in_child_of_task(uses[i].fn);
        check_refused(&e, uses[i].what);
    }
}

/* ---- what goes on by itself in the parent ----------------------------------------------------- */

static int returns_from_task(void *ending)
{
    if (forked(ending))
        return 1; /* not to the pool: it is the parent's */
    return 0;
}

static void job_returns(void *ending) { (void)forked(ending); }

static pid_t whose_loop;

/* In the child the other pieces are the parent's. */
static int loop_body(size_t lo, size_t hi, void *ending)
{
    (void)hi;
    if (lo == 0)
        (void)forked(ending);
    else if (getpid() != whose_loop)
        fprintf(stderr, "piece %zu runs in the child\n", lo);
    return 0;
}

static void runs_a_loop(void *ending)
{
    filch_how how = FILCH_HOW_INIT;
    how.grain = 1;
    (void)filch_for_with(&how, 0, 100, loop_body, ending);
}

static void long_body(size_t lo, size_t hi, void *ending)
{
    int64_t until = filch_clock_ns() + 5000000;
    (void)lo, (void)hi;
    (void)forked(ending);
    while (filch_clock_ns() < until)
        ;
}

static void runs_a_long_body(void *ending)
{
    (void)filch_for(0, 1, long_body, ending);
}

static enum filch_poll sets_its_alarm(filch_async *a, void *ending)
{
    if (forked(ending))
        filch_wake_at(a, filch_clock_ns());
    return FILCH_READY;
}

static enum filch_poll polls(filch_async *a, void *ending)
{
    (void)a;
    (void)forked(ending);
    return FILCH_READY;
}

static void a_child_that_returns_from_what_its_parent_runs_is_refused(void)
{
    struct ending e = {0};
    join(spawn(returns_from_task, &e));
    check_refused(&e, "task");
    filch_job job;
    filch_job_init(&job, job_returns, &e);
    CHECK_EQ(filch_submit_on(parent.pool, &job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
    check_refused(&e, "job");
    filch_run_on(parent.pool, job_returns, &e);
    check_refused(&e, "root");
    whose_loop = getpid();
    filch_run_on(parent.pool, runs_a_loop, &e);
    check_refused(&e, "loop");
    filch_run_on(parent.pool, runs_a_long_body, &e);
    check_refused(&e, "a body that lasts");
    filch_async a;
    filch_async_init(&a, polls, &e);
    CHECK_EQ(filch_async_start(&a, parent.pool), 0);
    CHECK_EQ(filch_async_wait(&a, FILCH_FOREVER), 0);
    check_refused(&e, "stackless task");
    filch_async_init(&a, sets_its_alarm, &e);
    CHECK_EQ(filch_async_start(&a, parent.pool), 0);
    CHECK_EQ(filch_async_wait(&a, FILCH_FOREVER), 0);
    check_refused(&e, "alarm");
}

typedef struct ending *ending_ref;

FILCH_TASK_VOID(joins_old_fork, ending_ref, e)
{
    FILCH_FORK(f, twice, 1);
    bool child = forked(e);
    CHECK(FILCH_JOIN(twice, f) == 2 && !child);
}

FILCH_TASK_VOID(joins_new_fork, ending_ref, e)
{
    bool child = forked(e);
    FILCH_FORK(f, twice, 1);
    CHECK(FILCH_JOIN(twice, f) == 2 && !child);
}

static void joins_plain_fork(void *ending)
{
    filch_job job;
    filch_fork(&job, no_work, NULL);
    if (forked(ending)) {
        filch_join(&job);
        _exit(0);
    }
    filch_join(&job);
}

static void a_child_of_a_task_joins_no_fork(void)
{
    struct ending e = {0};
    FILCH_RUN_ON(parent.pool, joins_old_fork, &e);
    check_refused(&e, "a fork of the parent");
    FILCH_RUN_ON(parent.pool, joins_new_fork, &e);
    check_refused(&e, "a fork of its own");
    filch_run_on(parent.pool, joins_plain_fork, &e);
    check_refused(&e, "a plain fork");
}

static int forks_in_a_call(void *arg)
{
    return forks_and_calls(arg);
}

static int makes_a_call(void *arg)
{
    return filch_blocking(forks_in_a_call, arg);
}

static void a_child_of_a_blocking_call_is_the_child_of_a_task(void)
{
    struct in_task t = {.fn = sleeps};
    join(spawn(makes_a_call, &t));
    check_refused(&t.ending, "blocking call");
    t.fn = goes;
    join(spawn(makes_a_call, &t));
    check_refused(&t.ending, "blocking call");
}

/* ---- what is allowed ------------------------------------------------------------------------ */

static void leaves(void) { _exit(7); }

static void exits_with_statistics(void)
{
    setenv("FILCH_STATS", "1", 1);
    exit(7);
}

static void fails_to_exec(void)
{
    execl("/nonexistent", "x", (char *)NULL);
    exit(7);
}

static void execs(void)
{
    execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
}

static void forks_twice(void)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0)
            _exit(0);
        exit(7);
    }
    waitpid(pid, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void asks_the_shell(void)
{
    int status = system("exit 7");
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void uses_what_needs_no_pool(void)
{
    filch_mutex m = {0};
    CHECK_EQ(filch_mutex_lock(&m, FILCH_FOREVER), 0);
    filch_mutex_unlock(&m);
    filch_yield();
    CHECK(filch_clock_ns() > 0 && filch_worker_id() == -1 && !filch_pool_current());
    _exit(7);
}

static void the_child_of_a_task_ends_as_it_likes(void)
{
    static void (*const ways[])(void) = {leaves, exits_with_statistics, fails_to_exec, execs, forks_twice,
                                         asks_the_shell, uses_what_needs_no_pool};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct ending e = in_child_of_task(ways[i]);
        CHECK_MSG(WIFEXITED(e.status) && WEXITSTATUS(e.status) == 7 && (WITH_ASAN || !e.text[0]), /* LSan */
                  "way %zu: status %#x, \"%s\"", i, e.status, e.text);
    }
}

/* ---- what it inherits ----------------------------------------------------------------------- */

static sigset_t expected_mask;
static int expected_slack;

static void compares_mask_and_slack(void)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int sig = 1; sig < 32; sig++)
        if (sigismember(&mask, sig) != sigismember(&expected_mask, sig))
            _exit(sig);
    _exit(prctl(PR_GET_TIMERSLACK) == expected_slack ? 0 : 100);
}

static void a_mask_of_its_own_stays(void)
{
    sigset_t usr1, mask;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &usr1, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        _exit(sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGUSR2) ? 7 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    _exit(WEXITSTATUS(status));
}

static void a_child_has_the_mask_and_the_slack_of_a_thread_outside(void)
{
    struct ending e = in_child_of_task(compares_mask_and_slack);
    CHECK_EQ(e.status, 0);
    struct in_task t = {.fn = compares_mask_and_slack}; /* by a thread that a worker started */
    join(spawn(makes_a_call, &t));
    CHECK_EQ(t.ending.status, 0);
    e = in_child_of_task(a_mask_of_its_own_stays);
    CHECK_EQ(WEXITSTATUS(e.status), 7);
}

static int writes_where_nothing_reads(void *fds)
{
    const int *fd = fds;
    return write(fd[1], "x", 1) == 1;
}

/* A process of its own: it ends. */
KIT_UNUSED static void a_task_that_prints_where_nothing_reads_ends_as_a_thread_would(void)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        int fds[2];
        signal(SIGPIPE, SIG_DFL);
        alarm(20);
        CHECK_EQ(pipe(fds), 0);
        close(fds[0]);
        parent.pool = NULL;
        join(spawn(writes_where_nothing_reads, fds));
        _exit(0);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}

/* ---- the parent ----------------------------------------------------------------------------- */

static int waits_for_event(void *arg)
{
    (void)arg;
    filch_event_wait(&parent.wake_never);
    return 0;
}

static enum filch_poll polls_twice(filch_async *a, void *times)
{
    (void)a;
    return ++*(int *)times == 2 ? FILCH_READY : FILCH_PENDING;
}

static int receives_one(void *arg)
{
    int n = 0;
    (void)arg;
    return filch_chan_recv(parent.wanted, &n, FILCH_FOREVER) == 0 && n == 5 ? 0 : 1;
}

static void what_the_parent_has_goes_on(void)
{
    sigset_t usr2;
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &usr2, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &expected_mask);
    CHECK_EQ(prctl(PR_SET_TIMERSLACK, 70000UL), 0);
    expected_slack = prctl(PR_GET_TIMERSLACK);
    parent.pool = kit_pool(2);
    CHECK_EQ(filch_mutex_lock(&parent.held, FILCH_FOREVER), 0);
    CHECK_EQ(filch_chan_create(&parent.empty, sizeof(int), 1), 0);
    CHECK_EQ(filch_chan_create(&parent.wanted, sizeof(int), 0), 0);
    CHECK_EQ(pipe2(parent.pipe, O_CLOEXEC), 0);
    parent.never = spawn(waits_for_event, NULL);
    filch_task *receiver = spawn(receives_one, NULL);
    KIT_AWAIT(filch_stats_total(parent.pool, "waits") >= 2);
    int polled = 0;
    filch_async_init(&parent.idle, polls_twice, &polled);
    CHECK_EQ(filch_async_start(&parent.idle, parent.pool), 0);
    KIT_AWAIT(filch_stats_total(parent.pool, "executed") >= 3);
    join(spawn(nothing, NULL));
    RUN(whatever_a_child_of_a_task_asks_for_is_refused_in_one_line);
    RUN(a_child_that_returns_from_what_its_parent_runs_is_refused);
    RUN(a_child_of_a_task_joins_no_fork);
    RUN(a_child_of_a_blocking_call_is_the_child_of_a_task);
    RUN(the_child_of_a_task_ends_as_it_likes);
    RUN(a_child_has_the_mask_and_the_slack_of_a_thread_outside);
    int five = 5;
    CHECK_EQ(filch_chan_send(parent.wanted, &five, FILCH_FOREVER), 0);
    filch_event_set(&parent.wake_never);
    filch_wake(&parent.idle);
    CHECK_EQ(filch_async_wait(&parent.idle, FILCH_FOREVER), 0);
    join(receiver);
    join(parent.never);
    filch_mutex_unlock(&parent.held);
    filch_chan_destroy(parent.empty);
    filch_chan_destroy(parent.wanted);
    kit_destroy(parent.pool);
}

int main(void)
{
#if !WITH_TSAN /* which does not start threads in a child */
    RUN(a_task_that_prints_where_nothing_reads_ends_as_a_thread_would);
#endif
    kit_watchdog();
    what_the_parent_has_goes_on();
    return check_report();
}
