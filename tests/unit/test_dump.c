/* test_dump.c: what filch_dump says of tasks that run, are ready, wait, or wait for each other. */
#define _GNU_SOURCE
#include "dump_kit.h"

#include <filch/scope.h>
#include <signal.h>

/* ---- tasks of every kind ------------------------------------------------------------------ */

static filch_event gate;
static uint32_t running, release_runner;
static filch_task *waited_for;

static int waits_for_event(void *arg)
{
    (void)arg;
    filch_event_wait(&gate);
    return 0;
}

static int sleeps_long(void *arg)
{
    (void)arg;
    return filch_sleep_ns(INT64_C(3600000000000));
}

static int joins_other(void *arg)
{
    return filch_task_join(*(filch_task **)arg, NULL, FILCH_FOREVER);
}

static int runs(void *arg)
{
    (void)arg;
    kit_raise(&running);
    while (!kit_raised(&release_runner))
        kit_nap_us(100);
    return 0;
}

static void reset(void)
{
    gate = (filch_event){0};
    filch_store_relaxed(&running, 0u);
    filch_store_relaxed(&release_runner, 0u);
}

static void every_state_is_shown_with_its_reason(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        char word[80];
        reset();
        filch_task *e = spawn(pool, "for-event", waits_for_event, 0);
        waited_for = e;
        filch_task *j;
        await_waiting(pool, 1);
        j = spawn(pool, "for-task", joins_other, &waited_for);
        await_waiting(pool, 2);
        filch_task *r = spawn(pool, "busy \"one\"", runs, 0);
        KIT_AWAIT(kit_raised(&running));
        dump_of(pool);
        snprintf(word, sizeof word, "waiting in filch_event_wait for event %p", (void *)&gate);
        HAS("\"for-event\"", word);
        snprintf(word, sizeof word, "waiting in filch_task_join for task %p \"for-event\"", (void *)e);
        HAS("\"for-task\"", word);
        HAS("task ", "\"busy ?one?\" running on worker ");
        HAS("filch dump: pool \"pool\"", "1 running, 0 ready, 2 waiting");
        CHECK_EQ(lines_with(text, "  worker ", "queue "), workers);
        CHECK_EQ(lines_with(text, "  worker ", "runs task"), 1);
        CHECK_EQ(lines_with(text, "deadlock", ""), 0);
        kit_raise(&release_runner);
        filch_event_set(&gate);
        join(j);
        join(r);
        dump_of(pool);
        HAS("filch dump: ", "0 running, 0 ready, 0 waiting");
        kit_destroy(pool);
    }
}

static void waits_tell_for_how_long_and_until_when(void)
{
    filch_pool *pool = kit_pool(2);
    filch_scope s;
    dump_of(pool); /* from the first dump on it is noted when a wait begins */
    CHECK_EQ(filch_scope_open_on(&s, pool), 0);
    CHECK_EQ(filch_scope_go_named(&s, "sleeper", sleeps_long, 0, 0), 0);
    KIT_AWAIT(line_with(dump_of(pool), "\"sleeper\" waiting in filch_sleep, for ", " s from now"));
    char word[64];
    snprintf(word, sizeof word, "in scope %p", (void *)&s);
    HAS("\"sleeper\"", word);
    filch_scope_cancel(&s);
    CHECK_EQ(filch_scope_close(&s), -ECANCELED);
    kit_destroy(pool);
}

static void tasks_that_have_not_begun_are_counted_by_name(void)
{
    filch_pool *pool = kit_pool(1);
    reset();
    filch_task *r = spawn(pool, "runner", runs, 0);
    filch_task *t[100];
    KIT_AWAIT(kit_raised(&running));
    for (int i = 0; i < 100; i++)
        t[i] = spawn(pool, i % 2 ? "odd" : "even", waits_for_event, 0);
    dump_of(pool);
    HAS("filch dump: ", "1 running, 100 ready, 0 waiting");
    HAS("  50 tasks \"odd\" ready, not begun", "");
    HAS("  50 tasks \"even\" ready, not begun", "");
    filch_event_set(&gate);
    kit_raise(&release_runner);
    join(r);
    for (int i = 0; i < 100; i++)
        join(t[i]);
    kit_destroy(pool);
}

/* ---- circles ------------------------------------------------------------------------------ */

static filch_task *first, *second;
static uint32_t both;

/* The deadline lets the test end: the circle is there until then. */
static int64_t circle_deadline;
static uint32_t gave_up;

static uint32_t begun;

/* One that has not begun would be run by the other's join. */
static void meet(void)
{
    kit_count(&begun);
    while (!kit_raised(&both))
        filch_yield();
}

static int joins_with_deadline(void *arg)
{
    meet();
    CHECK_EQ(filch_task_join(*(filch_task **)arg, NULL, circle_deadline), -ETIMEDOUT);
    kit_raise(&gave_up);
    return 0;
}

static int joins_for_ever(void *arg)
{
    meet();
    return filch_task_join(*(filch_task **)arg, NULL, FILCH_FOREVER);
}

/* True if it was called out before it ended. */
static bool circle_seen(filch_pool *pool, int64_t patience_ns)
{
    bool found = false;
    filch_store_relaxed(&both, 0u);
    filch_store_relaxed(&begun, 0u);
    filch_store_relaxed(&gave_up, 0u);
    circle_deadline = filch_clock_ns() + patience_ns;
    first = spawn(pool, "alpha", joins_with_deadline, &second);
    second = spawn(pool, "beta", joins_for_ever, &first);
    KIT_AWAIT(kit_raised(&begun) == 2);
    kit_raise(&both);
    while (!found && filch_clock_ns() < circle_deadline)
        found = strstr(dump_of(pool), "deadlock");
    if (found) {
        HAS("filch dump", " 2 waiting");
        HAS("deadlock (until a deadline): task ", "waits in filch_task_join for task ");
        CHECK(strstr(line_with(text, "deadlock", ""), "\"alpha\""));
        CHECK(strstr(line_with(text, "deadlock", ""), "\"beta\""));
        CHECK_EQ(lines_with(text, "deadlock", ""), 1);
    }
    KIT_AWAIT(kit_raised(&gave_up));
    join(second); /* which took the handle of the first */
    return found;
}

static void two_tasks_that_join_each_other_are_called_out(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        int64_t patience_ns = INT64_C(100000000);
        while (!circle_seen(pool, patience_ns)) {
            patience_ns *= 4; /* a machine that is busy with other things */
            CHECK_MSG(patience_ns < INT64_C(60000000000), "no deadlock in\n%s", text);
        }
        dump_of(pool);
        CHECK_EQ(lines_with(text, "deadlock", ""), 0);
        kit_destroy(pool);
    }
}

static int joins_the_joiner(void *arg)
{
    (void)arg;
    CHECK_EQ(filch_task_join(first, NULL, circle_deadline), -ETIMEDOUT);
    return 0;
}

static int runs_its_child(void *arg)
{
    filch_task *child;
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    (void)arg;
    meet();
    a.name = "child";
    CHECK_EQ(filch_spawn_with(&child, &a, joins_the_joiner, 0), 0);
    return filch_task_join(child, NULL, FILCH_FOREVER);
}

/* On one worker the child is run by the join of its parent, on the parent's stack. */
static void a_task_that_joins_the_one_whose_join_runs_it_is_called_out(void)
{
    filch_pool *pool = kit_pool(1);
    int64_t patience_ns = INT64_C(50000000);
    for (bool found = false; !found; patience_ns *= 4) {
        filch_store_relaxed(&both, 0u);
        circle_deadline = filch_clock_ns() + patience_ns;
        first = spawn(pool, "parent", runs_its_child, 0);
        kit_raise(&both);
        while (!found && filch_clock_ns() < circle_deadline)
            found = strstr(dump_of(pool), "deadlock");
        if (found) {
            HAS("\"child\" waiting in filch_task_join", "inside the join of task ");
            HAS("deadlock (until a deadline): task ", "\"parent\" (under the stack of task ");
        }
        KIT_AWAIT(filch_task_done(first));
        join(first);
        CHECK(found || patience_ns < INT64_C(60000000000));
    }
    kit_destroy(pool);
}

static filch_scope *circle_scope;

static int closes_around(void *arg)
{
    filch_scope s;
    (void)arg;
    CHECK_EQ(filch_scope_open(&s), 0);
    circle_scope = &s;
    CHECK_EQ(filch_scope_go_named(&s, "inner", joins_for_ever, &first, 0), 0);
    return filch_scope_close(&s);
}

static void a_scope_whose_task_joins_its_closer_is_called_out(void)
{
    filch_pool *pool = kit_pool(2);
    filch_store_relaxed(&both, 0u);
    first = spawn(pool, "outer", closes_around, 0);
    kit_raise(&both);
    KIT_AWAIT(strstr(dump_of(pool), "deadlock"));
    HAS("deadlock: task ", "filch_scope_close");
    CHECK(strstr(line_with(text, "deadlock", ""), "\"inner\""));
    CHECK(strstr(line_with(text, "deadlock", ""), "\"outer\""));
    filch_scope_cancel(circle_scope);
    int result;
    KIT_AWAIT(filch_task_done(first)); /* the inner one joins it no longer */
    CHECK_EQ(filch_task_join(first, &result, FILCH_FOREVER), 0);
    CHECK_EQ(result, -ECANCELED);
    kit_destroy(pool);
}

/* ---- while everything runs ---------------------------------------------------------------- */

static uint32_t wild_stop;

static int leaf(void *arg)
{
    filch_yield();
    return (int)(intptr_t)arg;
}

static int wild(void *arg)
{
    int sum = 0;
    (void)arg;
    while (!kit_raised(&wild_stop)) {
        filch_task *t[8];
        for (int i = 0; i < 8; i++) {
            filch_task_attr a = FILCH_TASK_ATTR_INIT;
            a.name = i % 2 ? "leaf" : NULL;
            CHECK_EQ(filch_spawn_with(&t[i], &a, leaf, (void *)(intptr_t)i), 0);
        }
        for (int i = 0; i < 8; i++) {
            int got;
            CHECK_EQ(filch_task_join(t[i], &got, FILCH_FOREVER), 0);
            CHECK_EQ(got, i);
            sum += got;
        }
        filch_sleep_ns(1000);
        kit_beat();
    }
    return sum % 28;
}

static void a_dump_while_everything_runs_harms_nobody(void)
{
    filch_pool *pool = kit_pool(4);
    filch_task *t[8];
    filch_store_relaxed(&wild_stop, 0u);
    for (int i = 0; i < 8; i++)
        t[i] = spawn(pool, "wild", wild, 0);
    for (size_t i = 0; i < kit_scaled(300, 6); i++) {
        dump_of(i % 2 ? pool : NULL);
        kit_beat();
        HAS("filch dump: pool ", "4 workers");
        CHECK_EQ(lines_with(text, "  worker ", "queue "), 4);
    }
    kit_raise(&wild_stop);
    for (int i = 0; i < 8; i++) {
        int got;
        CHECK_EQ(filch_task_join(t[i], &got, FILCH_FOREVER), 0);
        CHECK_EQ(got, 0);
    }
    kit_destroy(pool);
}

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_FORK(b, fib, n - 2);
    long a = FILCH_CALL(fib, n - 1);
    return a + FILCH_JOIN(fib, b);
}

static int computes(void *arg)
{
    long sum = 0;
    (void)arg;
    while (!kit_raised(&wild_stop)) {
        sum += FILCH_RUN(fib, 15);
        kit_beat();
    }
    CHECK_EQ(sum % 610, 0);
    return 0;
}

static void a_dump_during_fork_join_harms_nobody(void)
{
    filch_pool *pool = kit_pool(3);
    filch_task *t[3];
    filch_store_relaxed(&wild_stop, 0u);
    for (int i = 0; i < 3; i++)
        t[i] = spawn(pool, "fib", computes, 0);
    for (size_t i = 0; i < kit_scaled(200, 4); i++) {
        dump_of(pool);
        kit_beat();
    }
    kit_raise(&wild_stop);
    for (int i = 0; i < 3; i++)
        join(t[i]);
    kit_destroy(pool);
}

/* ---- signal ------------------------------------------------------------------------------- */

static void a_signal_makes_a_dump_to_stderr(void)
{
    filch_pool *pool = kit_pool(2);
    reset();
    filch_task *e = spawn(pool, "for-signal", waits_for_event, 0);
    await_waiting(pool, 1);
    int fd = memfd_create("stderr", 0), before = dup(2);
    CHECK(fd >= 0 && before >= 0);
    CHECK_EQ(filch_dump_on_signal(-5), -EINVAL);
    CHECK_EQ(filch_dump_on_signal(SIGQUIT), 0);
    CHECK_EQ(filch_dump_on_signal(SIGQUIT), 0);
    dup2(fd, 2);
    CHECK_EQ(raise(SIGQUIT), 0);
    KIT_AWAIT(strstr(read_all(fd), "\"for-signal\" waiting in filch_event_wait"));
    CHECK_EQ(raise(SIGQUIT), 0);
    KIT_AWAIT(read_all(fd) && lines_with(text, "\"for-signal\" waiting", "") == 2);
    dup2(before, 2);
    close(before);
    close(fd);
    CHECK_EQ(filch_dump_on_signal(0), 0);
    CHECK_EQ(filch_dump_on_signal(0), 0);
    CHECK_EQ(filch_dump_on_signal(SIGQUIT), 0);
    CHECK_EQ(filch_dump_on_signal(0), 0);
    filch_event_set(&gate);
    join(e);
    kit_destroy(pool);
}

static void what_cannot_be_written_is_an_error(void)
{
    filch_pool *pool = kit_pool(1);
    CHECK_EQ(filch_dump(-1), -EBADF);
    CHECK_EQ(filch_pool_dump(pool, -1), -EBADF);
    kit_destroy(pool);
}

/* A pool that does not end in time: who is still there? */
static void a_shutdown_that_is_late_can_tell_who_is_left(void)
{
    filch_pool *pool = kit_pool(2);
    reset();
    filch_task *e = spawn(pool, "straggler", waits_for_event, 0);
    CHECK_EQ(filch_pool_shutdown(pool, filch_clock_ns() + 20000000), -ETIMEDOUT);
    await_waiting(pool, 1);
    dump_of(pool);
    HAS("\"straggler\" waiting", "filch_event_wait");
    filch_event_set(&gate);
    join(e);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(every_state_is_shown_with_its_reason);
    RUN(waits_tell_for_how_long_and_until_when);
    RUN(tasks_that_have_not_begun_are_counted_by_name);
    RUN(two_tasks_that_join_each_other_are_called_out);
    RUN(a_task_that_joins_the_one_whose_join_runs_it_is_called_out);
    RUN(a_scope_whose_task_joins_its_closer_is_called_out);
    RUN(a_dump_while_everything_runs_harms_nobody);
    RUN(a_dump_during_fork_join_harms_nobody);
    RUN(a_signal_makes_a_dump_to_stderr);
    RUN(what_cannot_be_written_is_an_error);
    RUN(a_shutdown_that_is_late_can_tell_who_is_left);
    free(text);
    return check_report();
}
