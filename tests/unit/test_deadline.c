/* Deadlines made of durations, and durations given where a deadline is wanted. */
#define _GNU_SOURCE
#include "../forking.h"

#include <filch/async.h>
#include <filch/chan.h>
#include <filch/io.h>
#include <filch/scope.h>
#include <filch/sync.h>
#include <filch/task.h>
#include <math.h>

/* ---- a duration from now ---------------------------------------------------------------------- */

static void a_deadline_is_now_and_the_duration(void)
{
    int64_t a = filch_clock_ns(), ns = filch_after_ns(7), ms = filch_after_ms(7), s = filch_after_s(0.5);
    int64_t b = filch_clock_ns();
    CHECK(ns >= a + 7 && ns <= b + 7);
    CHECK(ms >= a + 7000000 && ms <= b + 7000000);
    CHECK(s >= a + 500000000 && s <= b + 500000000);
    s = filch_after_s(86400);
    CHECK(s >= a + INT64_C(86400000000000) && s <= filch_clock_ns() + INT64_C(86400000000000));
}

static void no_duration_is_now_and_too_much_for_ever(void)
{
    static const int64_t none[] = {0, -1, INT64_MIN, INT64_MIN / 1000000 - 1};
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(filch_after_ns(none[i]), FILCH_NOW);
        CHECK_EQ(filch_after_ms(none[i]), FILCH_NOW);
        CHECK_EQ(filch_after_s((double)none[i]), FILCH_NOW);
    }
    CHECK_EQ(filch_after_s((double)NAN), FILCH_NOW);
    CHECK_EQ(filch_after_ns(INT64_MAX), FILCH_FOREVER);
    CHECK_EQ(filch_after_ns(INT64_MAX - 1), FILCH_FOREVER);
    CHECK_EQ(filch_after_ms(INT64_MAX), FILCH_FOREVER);
    CHECK_EQ(filch_after_ms(INT64_MAX / 1000000 + 1), FILCH_FOREVER);
    CHECK_EQ(filch_after_s(1e300), FILCH_FOREVER);
    CHECK_EQ(filch_after_s((double)INFINITY), FILCH_FOREVER);
    CHECK(filch_after_ms(INT64_MAX / 1000000 / 2) < FILCH_FOREVER);
}

/* ---- a duration that is taken for a deadline ------------------------------------------------------ */

static int64_t deadline; /* what every call gets */

static int receives(void)
{
    filch_chan *c;
    int x;
    CHECK_EQ(filch_chan_create(&c, sizeof x, 0), 0);
    int rc = filch_chan_recv(c, &x, deadline);
    filch_chan_destroy(c);
    return rc;
}

static int sends(void)
{
    filch_chan *c;
    int x = 0;
    CHECK_EQ(filch_chan_create(&c, sizeof x, 0), 0);
    int rc = filch_chan_send(c, &x, deadline);
    filch_chan_destroy(c);
    return rc;
}

static int acquires(void)
{
    filch_sem s;
    filch_sem_init(&s, 0);
    int rc = filch_sem_acquire(&s, deadline);
    filch_sem_destroy(&s);
    return rc;
}

static int waits_for_group(void)
{
    filch_group g = {0};
    filch_group_add(&g, 1);
    int rc = filch_group_wait(&g, deadline);
    filch_group_done(&g);
    filch_group_destroy(&g);
    return rc;
}

static int reads(void)
{
    int ends[2];
    char byte;
    CHECK_EQ(filch_pipe(ends), 0);
    int rc = (int)filch_read(ends[0], &byte, 1, deadline);
    CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
    return rc;
}

static int sleeps(void)
{
    CHECK_EQ(filch_sleep_until(deadline), 0);
    return -ETIMEDOUT;
}

static int waits_for_event(void)
{
    filch_event e = {0};
    return filch_event_wait_until(&e, deadline);
}

static int waits_forever(void *arg)
{
    return filch_event_wait_until(arg, FILCH_FOREVER);
}

static int joins(void)
{
    filch_event e = {0};
    filch_task *t;
    CHECK_EQ(filch_spawn(&t, waits_forever, &e), 0);
    int rc = filch_task_join(t, NULL, deadline);
    filch_event_set(&e);
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
    return rc;
}

static int shields_nothing(void *arg)
{
    (void)arg;
    return -ETIMEDOUT;
}

static int shields(void)
{
    return filch_scope_shield(shields_nothing, NULL, deadline);
}

static int limits_a_scope(void)
{
    filch_scope s;
    CHECK_EQ(filch_scope_open(&s), 0);
    filch_scope_deadline(&s, deadline);
    (void)filch_scope_close(&s);
    return -ETIMEDOUT;
}

enum { TASKS = 1, THREADS = 2 }; /* where the call waits, or is made at all */
static const struct call {
    const char *name;
    int (*make)(void);
    int where;
} calls[] = {
    {"filch_chan_recv", receives, TASKS | THREADS},
    {"filch_chan_send", sends, TASKS | THREADS},
    {"filch_sem_acquire", acquires, TASKS | THREADS},
    {"filch_group_wait", waits_for_group, TASKS | THREADS},
    {"filch_read", reads, TASKS | THREADS},
    {"filch_sleep_until", sleeps, TASKS | THREADS},
    {"filch_event_wait", waits_for_event, TASKS | THREADS},
    {"filch_task_join", joins, TASKS | THREADS},
    {"filch_scope_shield", shields, TASKS},
    {"filch_scope_deadline", limits_a_scope, TASKS},
};
enum { CALLS = sizeof calls / sizeof *calls };
static const struct call *now_calling;
static int where;

static int twice(void *pin)
{
    if (pin)
        filch_pin();
    for (int i = 0; i < 2; i++)
        CHECK_EQ(now_calling->make(), -ETIMEDOUT);
    if (pin)
        filch_unpin();
    return 0;
}

static int pinned; /* the task is */

static void in_a_child(void)
{
    filch_task *t;
    if (where == THREADS) {
        (void)twice(NULL);
        return;
    }
    CHECK_EQ(filch_spawn(&t, twice, pinned ? &where : NULL), 0);
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
}

/* What `call` says about this deadline, made there some times. */
static struct ending said_by(const struct call *call, int from, int64_t ns)
{
    now_calling = call;
    where = from;
    deadline = ns;
    struct ending e = in_child(in_a_child);
    CHECK_MSG(WIFEXITED(e.status) && WEXITSTATUS(e.status) == 0, "%s: %#x: %s", call->name, e.status, e.text);
    return e;
}

static void is_said(void)
{
    for (int i = 0; i < CALLS; i++)
        for (int from = TASKS; from <= THREADS; from++) {
            if (!(calls[i].where & from))
                continue;
            struct ending e = said_by(&calls[i], from, 1000000);
            char want[200];
            snprintf(want, sizeof want, "filch: %s: the deadline 1000000 lies before this program began: "
                     "a duration? use filch_after_ns\n", calls[i].name);
            CHECK_STR(e.text, want);
        }
}

static void a_duration_is_said_once_and_names_the_call(void)
{
    is_said();
    pinned = 1;
    is_said();
    pinned = 0;
}

static void a_deadline_that_is_just_past_is_not(void)
{
    int64_t past = filch_clock_ns(); /* the program has begun */
    for (int i = 0; i < CALLS; i++)
        for (int from = TASKS; from <= THREADS; from++)
            if (calls[i].where & from)
                CHECK_STR(said_by(&calls[i], from, past).text, "");
}

static void nor_is_one_that_tries_once(void)
{
    for (int i = 0; i < CALLS; i++) {
        CHECK_STR(said_by(&calls[i], TASKS, FILCH_NOW).text, "");
        CHECK_STR(said_by(&calls[i], TASKS, -1000000).text, "");
    }
}

static void drains(void)
{
    filch_event e = {0};
    filch_task *t;
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.pool = pool_of(1, FILCH_JOIN_SUSPEND);
    CHECK_EQ(filch_spawn_with(&t, &a, waits_forever, &e), 0);
    CHECK_EQ(filch_pool_wait(a.pool, deadline), -ETIMEDOUT);
    CHECK_EQ(filch_pool_wait(a.pool, deadline), -ETIMEDOUT);
    filch_event_set(&e);
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
    filch_pool_destroy(a.pool);
}

static void a_pool_that_is_waited_for_says_it_too(void)
{
    deadline = 1000000;
    struct ending e = in_child(drains);
    CHECK(e.status == 0 && strstr(e.text, "filch: filch_pool_wait: the deadline 1000000 "));
    deadline = filch_clock_ns();
    e = in_child(drains);
    CHECK_EQ(e.status, 0);
    CHECK_STR(e.text, "");
}

static enum filch_poll polls(filch_async *self, void *arg)
{
    int *round = arg;
    if (++*round == 1)
        filch_wake_at(self, deadline);
    return *round == 1 ? FILCH_PENDING : FILCH_READY;
}

static void is_polled_again(void)
{
    filch_async *a;
    int round = 0;
    CHECK_EQ(filch_async_spawn(&a, polls, &round), 0);
    CHECK_EQ(filch_async_wait(a, FILCH_FOREVER), 0);
    filch_async_drop(a);
}

static void an_alarm_of_a_stackless_task_says_it_too(void)
{
    deadline = 1000000;
    struct ending e = in_child(is_polled_again);
    CHECK(e.status == 0 && strstr(e.text, "filch: filch_wake_at: the deadline 1000000 "));
}

static void served(void)
{
    filch_chan *c;
    int x = 7;
    CHECK_EQ(filch_chan_create(&c, sizeof x, 1), 0);
    CHECK_EQ(filch_chan_send(c, &x, 1000000), 0);
    CHECK_EQ(filch_chan_recv(c, &x, 1000000), 0);
    filch_chan_destroy(c);
}

static void a_call_that_need_not_wait_says_nothing(void)
{
    struct ending e = in_child(served);
    CHECK_EQ(e.status, 0);
    CHECK_STR(e.text, "");
}

int main(void)
{
    RUN(a_deadline_is_now_and_the_duration);
    RUN(no_duration_is_now_and_too_much_for_ever);
    RUN(a_duration_is_said_once_and_names_the_call);
    RUN(a_deadline_that_is_just_past_is_not);
    RUN(nor_is_one_that_tries_once);
    RUN(a_pool_that_is_waited_for_says_it_too);
    RUN(an_alarm_of_a_stackless_task_says_it_too);
    RUN(a_call_that_need_not_wait_says_nothing);
    return check_report();
}
