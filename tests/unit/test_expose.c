/* A job that was forked still runs when its parent waits for it by other means than a join: by an
 * event, by a pipe and a foreign thread, by a job submitted inside. On one worker nobody but the
 * parent's own worker could run it. */
#define _GNU_SOURCE
#include "../forking.h"

#include "core/idle.h"

#include <pthread.h>
#include <filch/stats.h>
#include <filch/task.h>
#include <sched.h>
#include <unistd.h>

static struct {
    filch_pool *pool;
    int workers;
    enum filch_join_policy join;
} on;

/* Each claim as a guest's root (pinned) and as a submitted job (suspended). */
static void on_every_pool(void (*body)(void *))
{
    for (int i = 0; i < 6; i++) {
        on.workers = 1 << i / 2;
        on.join = i % 2 ? FILCH_JOIN_HELP : FILCH_JOIN_SUSPEND;
        on.pool = pool_of(on.workers, on.join);
        for (int k = 0; k < SCALED(200, 50, 20); k++) {
            filch_run_on(on.pool, body, 0);
            run_as_job(on.pool, body, 0);
        }
        filch_pool_destroy(on.pool);
    }
}

typedef filch_event *event_ref;

FILCH_TASK(int, sets, event_ref, event, int, value)
{
    filch_event_set(event);
    return value;
}
FILCH_TASK(int, idles, int, value) { return value; }

/* ---- an event ------------------------------------------------------------------------------ */

FILCH_TASK_VOID(waits_for_event)
{
    filch_event event = {0};
    FILCH_FORK(b, sets, &event, 17);
    filch_event_wait(&event);
    CHECK(filch_event_is_set(&event));
    CHECK_EQ(FILCH_JOIN(sets, b), 17);
}

/* Others are pending before and after the one that is waited for. */
FILCH_TASK_VOID(waits_among_others)
{
    filch_event event = {0}, last = {0};
    FILCH_FORKS(before, idles);
    for (int i = 0; i < 5; i++)
        FILCH_FORK_ADD(idles, i);
    FILCH_FORK(b, sets, &event, 17);
    FILCH_FORK(c, sets, &last, 18);
    filch_event_wait(&event);
    filch_event_wait(&last);
    CHECK_EQ(FILCH_JOIN(sets, c), 18);
    CHECK_EQ(FILCH_JOIN(sets, b), 17);
    for (int i = 4; i >= 0; i--)
        CHECK_EQ(FILCH_JOIN_LAST(idles, before), i);
}

static void event_body(void *arg)
{
    (void)arg;
    FILCH_RUN(waits_for_event);
    FILCH_RUN(waits_among_others);
}

static void a_fork_runs_while_its_parent_waits_for_an_event(void)
{
    on_every_pool(event_body);
}

static void plain_sets(void *event)
{
    filch_event_set(event);
}

static void plain_event_body(void *arg)
{
    filch_event event = {0};
    filch_job job;
    (void)arg;
    filch_fork(&job, plain_sets, &event);
    filch_event_wait(&event);
    filch_join(&job);
}

static void a_plain_fork_runs_while_its_parent_waits_for_an_event(void)
{
    on_every_pool(plain_event_body);
}

/* ---- further down -------------------------------------------------------------------------- */

/* The one that is waited for was forked by a caller's caller. */
FILCH_TASK_VOID(waits_below, event_ref, event, int, depth)
{
    if (depth == 0) {
        filch_event_wait(event);
        return;
    }
    FILCH_FORK(b, idles, depth);
    FILCH_CALL(waits_below, event, depth - 1);
    CHECK_EQ(FILCH_JOIN(idles, b), depth);
}

FILCH_TASK_VOID(forks_above)
{
    filch_event event = {0};
    FILCH_FORK(b, sets, &event, 17);
    FILCH_CALL(waits_below, &event, 20);
    CHECK_EQ(FILCH_JOIN(sets, b), 17);
}

/* In the serial stretch of a bounded task FILCH_FORK makes no job, FILCH_FORK_ADD does: what is
 * forked above either is found all the same. */
FILCH_TASK_BOUNDED(int, number, int, value) { return value; }
FILCH_TASK_BOUNDED_VOID(waits_in_serial_stretch, int, depth)
{
    if (depth > 0) {
        FILCH_FORK(b, number, depth);
        FILCH_CALL(waits_in_serial_stretch, depth - 1);
        CHECK_EQ(FILCH_JOIN(number, b), depth);
        return;
    }
    FILCH_FORKS(results, number);
    for (int i = 0; i < 3; i++)
        FILCH_FORK_ADD(number, i);
    FILCH_CALL(waits_for_event);
    for (int i = 2; i >= 0; i--)
        CHECK_EQ(FILCH_JOIN_LAST(number, results), i);
}

static void below_body(void *arg)
{
    (void)arg;
    FILCH_RUN(forks_above);
}

static void serial_stretch_body(void *arg)
{
    (void)arg;
    FILCH_RUN(waits_in_serial_stretch, 0);
    FILCH_RUN(waits_in_serial_stretch, 30);
}

static void a_fork_of_a_caller_runs_while_a_callee_waits(void)
{
    on_every_pool(below_body);
}

static void a_fork_in_a_serial_stretch_is_found(void)
{
    on_every_pool(serial_stretch_body);
}

/* ---- a pipe -------------------------------------------------------------------------------- */

struct channel {
    int ends[2];
    filch_event *expected; /* set by the foreign thread when a byte arrives */
};
typedef struct channel *channel_ref;

static void *foreign_reader(void *arg)
{
    struct channel *c = arg;
    for (char byte; read(c->ends[0], &byte, 1) == 1 && byte != 'q';)
        filch_event_set(filch_load_acquire(&c->expected));
    return 0;
}

FILCH_TASK(int, writes, channel_ref, c, int, value)
{
    CHECK_EQ(write(c->ends[1], "x", 1), 1);
    return value;
}

static struct channel channel;

FILCH_TASK_VOID(waits_for_pipe)
{
    filch_event event = {0};
    filch_store_release(&channel.expected, &event);
    FILCH_FORK(b, writes, &channel, 17);
    filch_event_wait(&event);
    CHECK_EQ(FILCH_JOIN(writes, b), 17);
}

static void pipe_body(void *arg)
{
    (void)arg;
    FILCH_RUN(waits_for_pipe);
}

static void a_fork_runs_while_its_parent_waits_for_a_pipe(void)
{
    pthread_t reader;
    CHECK_EQ(pipe(channel.ends), 0);
    CHECK_EQ(pthread_create(&reader, 0, foreign_reader, &channel), 0);
    on_every_pool(pipe_body);
    CHECK_EQ(write(channel.ends[1], "q", 1), 1);
    CHECK_EQ(pthread_join(reader, 0), 0);
}

/* ---- a job submitted inside ----------------------------------------------------------------- */

static void waits_for_flag(void *event)
{
    filch_event_wait(event);
}

FILCH_TASK_VOID(waits_for_job)
{
    filch_event event = {0};
    filch_job job;
    FILCH_FORK(b, sets, &event, 17);
    filch_job_init(&job, waits_for_flag, &event); /* ends only after the fork ran */
    CHECK_EQ(filch_submit(&job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
    CHECK_EQ(FILCH_JOIN(sets, b), 17);
}

/* A job that helps keeps its thread, so with one worker there is nobody to run the other job. */
static void job_body(void *arg)
{
    (void)arg;
    if (on.workers > 1 || on.join == FILCH_JOIN_SUSPEND)
        FILCH_RUN(waits_for_job);
}

static void a_fork_runs_while_its_parent_waits_for_a_job_submitted_inside(void)
{
    on_every_pool(job_body);
}

/* ---- thieves in the way --------------------------------------------------------------------- */

/* The last of many: thieves take the others at the same moment as the waiter looks for its own. */
FILCH_TASK_VOID(waits_for_the_last, int, count)
{
    filch_event event[8] = {{0}};
    FILCH_FORKS(all, sets);
    for (int i = 0; i < count; i++)
        FILCH_FORK_ADD(sets, &event[i], i);
    for (int i = count - 1; i >= 0; i--)
        filch_event_wait(&event[i]);
    for (int i = count - 1; i >= 0; i--)
        CHECK_EQ(FILCH_JOIN_LAST(sets, all), i);
}

static void last_body(void *arg)
{
    (void)arg;
    for (int count = 2; count <= 8; count++)
        FILCH_RUN(waits_for_the_last, count);
}

static void forks_that_thieves_leave_behind_run_too(void)
{
    for (int i = 0; i < SCALED(3, 2, 2); i++)
        on_every_pool(last_body);
}

/* ---- and then nothing ---------------------------------------------------------------------- */

static filch_event outside, ran_inside;

FILCH_TASK_VOID(marks) { filch_event_set(&ran_inside); }

FILCH_TASK_VOID(waits_for_outside)
{
    FILCH_FORK(b, marks);
    filch_event_wait(&outside);
    FILCH_JOIN(marks, b);
}

static void waits_outside_body(void *arg)
{
    (void)arg;
    FILCH_RUN(waits_for_outside);
}

/* ---- loops that yield ------------------------------------------------------------------------ */

static void raises(void *flag)
{
    filch_store_release((uint32_t *)flag, 1u);
}

static void yields_body(void *unused)
{
    uint32_t flag = 0;
    filch_job job;
    (void)unused;
    filch_fork(&job, raises, &flag);
    while (!filch_load_acquire(&flag))
        filch_yield();
    filch_join(&job);
}

static void a_fork_runs_while_its_parent_yields(void)
{
    on_every_pool(yields_body);
}

static uint32_t flags[2];

/* Neither is alone: there is always somebody to yield to. */
static int yields_for_both(void *mine)
{
    filch_job job;
    filch_fork(&job, raises, mine);
    while (!filch_load_acquire(&flags[0]) || !filch_load_acquire(&flags[1]))
        filch_yield();
    filch_join(&job);
    return 0;
}

static void forks_run_while_their_parents_yield_to_each_other(void)
{
    for (int k = 0; k < SCALED(200, 50, 20); k++) {
        filch_task_attr a = FILCH_TASK_ATTR_INIT;
        filch_task *t[2];
        a.pool = on.pool = pool_of(1, FILCH_JOIN_SUSPEND);
        for (int i = 0; i < 2; i++)
            filch_store_relaxed(&flags[i], 0u);
        for (int i = 0; i < 2; i++)
            CHECK_EQ(filch_spawn_with(&t[i], &a, yields_for_both, &flags[i]), 0);
        for (int i = 0; i < 2; i++)
            CHECK_EQ(filch_task_join(t[i], NULL, FILCH_FOREVER), 0);
        filch_pool_destroy(on.pool);
    }
}

static void workers_sleep_when_what_a_waiter_left_behind_has_run(void)
{
    filch_job job;
    on.pool = pool_of(2, FILCH_JOIN_SUSPEND);
    filch_job_init(&job, waits_outside_body, 0);
    CHECK_EQ(filch_submit_on(on.pool, &job, FILCH_ANYWHERE), 0);
    filch_event_wait(&ran_inside);
    while (idle_figures(on.pool).sleeping != 2) /* or the test never ends */
        sched_yield();
    uint64_t parks = 0;
    int looks = 0;
    do { /* a scout may look around a few times more, but they are not up and down for ever */
        parks = filch_stats_total(on.pool, "parks");
        usleep(20000);
    } while (filch_stats_total(on.pool, "parks") != parks && ++looks < 100);
    CHECK(looks < 100);
    filch_event_set(&outside);
    CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
    filch_pool_destroy(on.pool);
}

int main(void)
{
    RUN(a_fork_runs_while_its_parent_waits_for_an_event);
    RUN(a_plain_fork_runs_while_its_parent_waits_for_an_event);
    RUN(a_fork_of_a_caller_runs_while_a_callee_waits);
    RUN(a_fork_in_a_serial_stretch_is_found);
    RUN(a_fork_runs_while_its_parent_waits_for_a_pipe);
    RUN(a_fork_runs_while_its_parent_waits_for_a_job_submitted_inside);
    RUN(forks_that_thieves_leave_behind_run_too);
    RUN(a_fork_runs_while_its_parent_yields);
    RUN(forks_run_while_their_parents_yield_to_each_other);
    RUN(workers_sleep_when_what_a_waiter_left_behind_has_run);
    return check_report();
}
