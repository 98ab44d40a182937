/* test_dump_waits.c: filch_dump names what each kind of wait is for, and circles of locks. */
#define _GNU_SOURCE
#include "dump_kit.h"

#include <filch/chan.h>
#include <filch/io.h>
#include <filch/scope.h>
#include <filch/sync.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- one of each ---------------------------------------------------------------------------- */

static filch_mutex mutex;
static filch_rwlock rwlock;
static filch_cond cond;
static filch_sem sem;
static filch_barrier barrier;
static filch_group group;
static filch_once once;
static filch_event once_may_end;
static filch_oneshot oneshot;
static filch_chan *empty, *full;
static int ends[2];
static bool cond_over;

static int locks(void *arg)
{
    (void)arg;
    CHECK_EQ(filch_mutex_lock(&mutex, FILCH_FOREVER), 0);
    filch_mutex_unlock(&mutex);
    return 0;
}

static int reads(void *arg)
{
    (void)arg;
    CHECK_EQ(filch_rwlock_read_lock(&rwlock, FILCH_FOREVER), 0);
    filch_rwlock_read_unlock(&rwlock);
    return 0;
}

static int writes(void *arg)
{
    (void)arg;
    CHECK_EQ(filch_rwlock_write_lock(&rwlock, FILCH_FOREVER), 0);
    filch_rwlock_write_unlock(&rwlock);
    return 0;
}

static int awaits_change(void *arg)
{
    static filch_mutex guard;
    (void)arg;
    filch_mutex_lock(&guard, FILCH_FOREVER);
    CHECK_EQ(filch_cond_wait(&cond, &guard, FILCH_FOREVER), 0);
    CHECK(cond_over);
    filch_mutex_unlock(&guard);
    return 0;
}

static int acquires(void *arg)
{
    (void)arg;
    return filch_sem_acquire(&sem, FILCH_FOREVER);
}

static int arrives(void *arg)
{
    (void)arg;
    return filch_barrier_wait(&barrier, FILCH_FOREVER);
}

static int awaits_group(void *arg)
{
    (void)arg;
    return filch_group_wait(&group, FILCH_FOREVER);
}

static void once_body(void *arg)
{
    (void)arg;
    filch_event_wait(&once_may_end);
}

static int runs_once(void *arg)
{
    (void)arg;
    filch_once_run(&once, once_body, 0);
    return 0;
}

static int receives_once(void *arg)
{
    void *value;
    (void)arg;
    CHECK_EQ(filch_oneshot_recv(&oneshot, &value, FILCH_FOREVER), 0);
    return value == &oneshot ? 0 : 1;
}

static int receives(void *arg)
{
    int item = 0;
    (void)arg;
    CHECK_EQ(filch_chan_recv(empty, &item, FILCH_FOREVER), 0);
    return item - 7;
}

static int sends(void *arg)
{
    int item = 8;
    (void)arg;
    return filch_chan_send(full, &item, FILCH_FOREVER);
}

static int selects(void *arg)
{
    int item = 0;
    struct filch_case cases[] = {{.chan = empty, .op = FILCH_RECV, .item = &item}};
    (void)arg;
    CHECK_EQ(filch_select(cases, 1, FILCH_FOREVER), 0);
    return item - 7;
}

static int reads_pipe(void *arg)
{
    char byte = 0;
    (void)arg;
    CHECK_EQ(filch_read(ends[0], &byte, 1, FILCH_FOREVER), 1);
    return byte - 'x';
}

struct wait_of {
    const char *name;
    int (*fn)(void *);
    const char *words;
    const void *object; /* null: not a part of the words, or a descriptor */
};

static void let_all_go(void)
{
    int item = 7;
    filch_mutex_unlock(&mutex);
    filch_rwlock_write_unlock(&rwlock);
    cond_over = true;
    filch_cond_broadcast(&cond);
    filch_sem_release(&sem, 1);
    CHECK_EQ(filch_barrier_wait(&barrier, FILCH_FOREVER), 1);
    filch_group_done(&group);
    filch_event_set(&once_may_end);
    CHECK_EQ(filch_oneshot_send(&oneshot, &oneshot), 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(filch_chan_send(empty, &item, FILCH_FOREVER), 0);
    CHECK_EQ(filch_chan_recv(full, &item, FILCH_FOREVER), 0);
    CHECK_EQ(write(ends[1], "x", 1), 1);
}

static void every_kind_of_wait_is_named_with_its_object(void)
{
    filch_pool *pool = kit_pool(2);
    int item = 9;
    CHECK_EQ(filch_chan_create(&empty, sizeof item, 0), 0);
    CHECK_EQ(filch_chan_create(&full, sizeof item, 1), 0);
    CHECK_EQ(filch_chan_send(full, &item, FILCH_FOREVER), 0);
    filch_chan_rename(full, "full one");
    CHECK_EQ(filch_mutex_lock(&mutex, FILCH_FOREVER), 0);
    CHECK_EQ(filch_rwlock_write_lock(&rwlock, FILCH_FOREVER), 0);
    filch_sem_init(&sem, 0);
    filch_barrier_init(&barrier, 2);
    filch_group_add(&group, 1);
    CHECK_EQ(pipe(ends), 0);
    struct wait_of all[] = {
        {"mutex", locks, "filch_mutex_lock for mutex", &mutex},
        {"reader", reads, "filch_rwlock_read_lock for rwlock", &rwlock},
        {"writer", writes, "filch_rwlock_write_lock for rwlock", &rwlock},
        {"cond", awaits_change, "filch_cond_wait for condition", &cond},
        {"sem", acquires, "filch_sem_acquire for semaphore", &sem},
        {"barrier", arrives, "filch_barrier_wait for barrier", &barrier},
        {"group", awaits_group, "filch_group_wait for group", &group},
        {"once-runs", runs_once, "filch_event_wait for event", &once_may_end},
        {"once", runs_once, "filch_once_run for once", &once},
        {"oneshot", receives_once, "filch_oneshot_recv for oneshot", &oneshot},
        {"recv", receives, "filch_chan_recv for channel", empty},
        {"send", sends, "filch_chan_send for channel", full}, /* which has a name */
        {"select", selects, "filch_select for one of the cases at 0x", 0},
        {"read", reads_pipe, "filch_read for descriptor ", 0},
    };
    enum { N = sizeof all / sizeof all[0] };
    filch_task *t[N];
    for (int i = 0; i < N; i++) {
        t[i] = spawn(pool, all[i].name, all[i].fn, 0);
        await_waiting(pool, i + 1);
    }
    for (int i = 0; i < N; i++) {
        char name[32], words[100];
        snprintf(name, sizeof name, "\"%s\" waiting in ", all[i].name);
        int n = snprintf(words, sizeof words, "%s", all[i].words);
        if (all[i].object)
            snprintf(words + n, sizeof words - (size_t)n, " %p", all[i].object);
        else if (all[i].fn == reads_pipe)
            snprintf(words + n, sizeof words - (size_t)n, "%d", ends[0]);
        HAS(name, words);
    }
    HAS("filch_chan_send for channel ", " \"full one\"");
    CHECK_EQ(lines_with(text, "deadlock", ""), 0);
    let_all_go();
    for (int i = 0; i < N; i++) {
        int result = -1;
        CHECK_EQ(filch_task_join(t[i], &result, FILCH_FOREVER), 0);
        CHECK_EQ(result, 0);
    }
    filch_chan_destroy(empty);
    filch_chan_destroy(full);
    close(ends[0]);
    close(ends[1]);
    kit_destroy(pool);
}

/* ---- circles -------------------------------------------------------------------------------- */

static filch_mutex fork_a, fork_b;
static uint32_t holding;
static int64_t give_up_at;

struct eater {
    filch_mutex *mine, *other;
    int64_t deadline;
};

static int eats(void *arg)
{
    struct eater *e = arg;
    CHECK_EQ(filch_mutex_lock(e->mine, FILCH_FOREVER), 0);
    kit_count(&holding);
    while (kit_raised(&holding) < 2)
        filch_yield();
    int rc = filch_mutex_lock(e->other, e->deadline);
    if (rc == 0)
        filch_mutex_unlock(e->other);
    filch_mutex_unlock(e->mine);
    return rc;
}

static bool seen(filch_pool *pool, const char *word)
{
    bool found = false;
    while (!found && filch_clock_ns() < give_up_at)
        found = strstr(dump_of(pool), word);
    return found;
}

/* The deadline of one lets the test end; the circle is there until then. */
static bool locks_in_a_circle_seen(filch_pool *pool, int64_t patience_ns)
{
    give_up_at = filch_clock_ns() + patience_ns;
    filch_store_relaxed(&holding, 0u);
    struct eater x = {&fork_a, &fork_b, give_up_at}, y = {&fork_b, &fork_a, FILCH_FOREVER};
    filch_task *alpha = spawn(pool, "alpha", eats, &x), *beta = spawn(pool, "beta", eats, &y);
    bool found = seen(pool, "deadlock");
    if (found) {
        HAS("deadlock (until a deadline): task ", "waits in filch_mutex_lock for mutex ");
        CHECK(strstr(line_with(text, "deadlock", ""), "\"alpha\""));
        CHECK(strstr(line_with(text, "deadlock", ""), "\"beta\""));
        CHECK_EQ(lines_with(text, "deadlock", ""), 1);
    }
    join(alpha);
    join(beta);
    return found;
}

static void two_tasks_that_lock_two_mutexes_in_different_order_are_called_out(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        int64_t patience_ns = INT64_C(100000000);
        while (!locks_in_a_circle_seen(pool, patience_ns)) {
            patience_ns *= 4; /* a machine that is busy with other things */
            CHECK_MSG(patience_ns < INT64_C(60000000000), "no deadlock in\n%s", text);
        }
        dump_of(pool);
        CHECK_EQ(lines_with(text, "deadlock", ""), 0);
        kit_destroy(pool);
    }
}

/* ---- forks ---------------------------------------------------------------------------------- */

static filch_event fork_may_end;
static uint32_t fork_runs;

FILCH_TASK(long, leaf, int, n)
{
    kit_raise(&fork_runs);
    filch_event_wait(&fork_may_end);
    return n;
}

FILCH_TASK(long, forks, int, n)
{
    FILCH_FORK(b, leaf, n);
    while (!kit_raised(&fork_runs)) /* until a thief has it */
        kit_nap_us(100);
    return FILCH_JOIN(leaf, b);
}

static int forks_and_joins(void *arg)
{
    (void)arg;
    return (int)FILCH_RUN(forks, 5);
}

static void a_join_that_waits_for_a_thief_is_named(void)
{
    filch_pool *pool = kit_pool(2);
    filch_task *t = spawn(pool, "forker", forks_and_joins, 0);
    KIT_AWAIT(line_with(dump_of(pool), "job ", "\"forks\" waiting in FILCH_JOIN for a stolen fork"));
    filch_event_set(&fork_may_end);
    int result;
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    CHECK_EQ(result, 5);
    kit_destroy(pool);
}

/* ---- many ----------------------------------------------------------------------------------- */

static filch_event gate;

static int waits(void *arg)
{
    (void)arg;
    filch_event_wait(&gate);
    return 0;
}

static void hundreds_of_waiting_tasks_are_all_listed(void)
{
    enum { N = 300 };
    static filch_task *t[N];
    filch_pool *pool = kit_pool(2);
    gate = (filch_event){0};
    for (int i = 0; i < N; i++)
        t[i] = spawn(pool, "one of many", waits, 0);
    await_waiting(pool, N);
    CHECK_EQ(lines_with(text, "\"one of many\" waiting in filch_event_wait", ""), N);
    filch_event_set(&gate);
    for (int i = 0; i < N; i++)
        join(t[i]);
    kit_destroy(pool);
}

static uint32_t running, may_end;

static int runs(void *arg)
{
    (void)arg;
    kit_raise(&running);
    while (!kit_raised(&may_end))
        kit_nap_us(100);
    return 0;
}

/* More kinds than the dump keeps apart. */
static void more_names_than_are_listed_are_still_counted(void)
{
    enum { N = 100 };
    static filch_task *t[N];
    static char name[N][16];
    filch_pool *pool = kit_pool(1);
    filch_task *r = spawn(pool, "runner", runs, 0);
    KIT_AWAIT(kit_raised(&running));
    gate = (filch_event){0};
    for (int i = 0; i < N; i++) {
        snprintf(name[i], sizeof name[i], "n%d", i);
        t[i] = spawn(pool, name[i], waits, 0);
    }
    dump_of(pool);
    HAS("filch dump: ", "100 ready");
    HAS("  36 more tasks ready, not begun", "");
    filch_event_set(&gate);
    kit_raise(&may_end);
    join(r);
    for (int i = 0; i < N; i++)
        join(t[i]);
    kit_destroy(pool);
}

/* ---- after fork() --------------------------------------------------------------------------- */

#if !defined(FILCH_TSAN) && !defined(__SANITIZE_ADDRESS__)
static void in_a_child_of_fork_dumps_may_be_asked_for_anew(void)
{
    CHECK_EQ(filch_dump_on_signal(SIGQUIT), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        int fd = memfd_create("stderr", 0);
        filch_pool *pool;
        filch_config c = FILCH_CONFIG_INIT;
        c.workers = 1;
        if (fd < 0 || dup2(fd, 2) != 2 || filch_pool_create(&pool, &c) != 0 ||
            filch_dump_on_signal(SIGQUIT) != 0 || raise(SIGQUIT) != 0)
            _exit(1);
        while (!strstr(read_all(fd), "filch dump: pool "))
            kit_nap_us(1000);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(filch_dump_on_signal(0), 0);
}
#endif

int main(void)
{
    kit_watchdog();
    RUN(every_kind_of_wait_is_named_with_its_object);
    RUN(two_tasks_that_lock_two_mutexes_in_different_order_are_called_out);
    RUN(a_join_that_waits_for_a_thief_is_named);
    RUN(hundreds_of_waiting_tasks_are_all_listed);
    RUN(more_names_than_are_listed_are_still_counted);
#if !defined(FILCH_TSAN) && !defined(__SANITIZE_ADDRESS__)
    RUN(in_a_child_of_fork_dumps_may_be_asked_for_anew);
#endif
    free(text);
    return check_report();
}
