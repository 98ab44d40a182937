/* misuse/task.h: rows about filch/task.h. */
#include "core/task.h"

#include <filch/task.h>

static int returns(void *arg) { return (void)arg, 0; }
static filch_task *some_task(void)
{
    filch_task *t;
    CHECK_EQ(filch_spawn(&t, returns, 0), 0);
    return t;
}
static filch_task_attr bad_attr(void)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.size = 7;
    return a;
}
static filch_task_attr attr_on(filch_pool *p)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.pool = p;
    return a;
}
static void go_null(void) { (void)filch_go(0, 0); }
static void go_size(void)
{
    filch_task_attr a = bad_attr();
    (void)filch_go_with(&a, nothing, 0);
}
static void go_none(void)
{
    filch_task_attr a = attr_on(no_pool());
    (void)filch_go_with(&a, nothing, 0);
}
static void spawn_null_fn(void)
{
    filch_task *t;
    (void)filch_spawn(&t, 0, 0);
}
static void spawn_null_out(void) { (void)filch_spawn(0, returns, 0); }
static void spawn_none(void)
{
    filch_task *t;
    filch_task_attr a = attr_on(no_pool());
    (void)filch_spawn_with(&t, &a, returns, 0);
}
static void task_join_null(void) { (void)filch_task_join(0, 0, FILCH_FOREVER); }
static void task_join_twice(void)
{
    filch_task *t = some_task();
    CHECK_EQ(filch_task_join(t, 0, FILCH_FOREVER), 0);
    (void)filch_task_join(t, 0, FILCH_FOREVER);
}
static void task_detach_null(void) { filch_task_detach(0); }
static void task_detach_joined(void)
{
    filch_task *t = some_task();
    CHECK_EQ(filch_task_join(t, 0, FILCH_FOREVER), 0);
    filch_task_detach(t);
}
/* A task that does not end, and whose joiner waits. */
static int waits_for_nothing(void *arg) { return filch_event_wait(arg), 0; }
static void *joins_for_ever(void *task)
{
    (void)filch_task_join(task, 0, FILCH_FOREVER);
    return 0;
}
static filch_task *joined_task(void)
{
    static filch_event never;
    pthread_t joiner;
    filch_task *t;
    make_pool();
    filch_task_attr a = attr_on(pool);
    CHECK_EQ(filch_spawn_with(&t, &a, waits_for_nothing, &never), 0);
    CHECK_EQ(pthread_create(&joiner, 0, joins_for_ever, t), 0);
    for (unsigned tag = TASK_NEW; tag != TASK_WAITED && tag != TASK_WAITED_NEW;) {
        sched_yield();
        tag = task_tag(filch_load_acquire(&t->state));
    }
    return t;
}
static void task_join_both(void) { (void)filch_task_join(joined_task(), 0, FILCH_FOREVER); }
static void task_detach_waited(void) { filch_task_detach(joined_task()); }
static void task_done_null(void) { (void)filch_task_done(0); }
static void task_answers(void)
{
    filch_task *t = some_task();
    shut_pool();
    filch_task_attr a = attr_on(pool);
    CHECK_EQ(filch_go_with(&a, nothing, 0), -EPIPE);
    CHECK_EQ(filch_spawn_with(&t, &a, returns, 0), -EPIPE);
    CHECK(!t);
    filch_yield();
    CHECK(!filch_task_name());
    filch_task_rename("nobody");
    CHECK(*filch_errno() == errno);
    CHECK(!filch_task_name());
    CHECK(filch_stack_size() == 0 && filch_stack_left() == 0);
    filch_sleep_ns(-1);
    filch_sleep_ns(INT64_MIN);
    filch_sleep_until(-1);
    t = some_task();
    while (filch_task_join(t, 0, -5) != 0)
        CHECK(filch_task_done(t) == 0 || filch_task_done(t) == 1);
}

static void ticker_null(void) { filch_ticker_start(0, 1); }
static void ticker_zero(void) { filch_ticker t; filch_ticker_start(&t, 0); }
static void ticker_negative(void) { filch_ticker t; filch_ticker_start(&t, INT64_MIN); }
static void ticker_unstarted(void) { filch_ticker t = {0, 0}; (void)filch_ticker_wait(&t); }
static void ticker_nobody(void) { (void)filch_ticker_wait(0); }

static void ticker_answers(void)
{
    filch_ticker t;
    filch_ticker_start(&t, 1);
    CHECK(filch_ticker_wait(&t) > 0);
    filch_ticker_start(&t, INT64_MAX);
    CHECK_EQ(t.next_ns, INT64_MAX);
}

#define ROWS_TASK                                                                                 \
    SAYS("filch_go", go_null, "null"),                                                            \
    SAYS_AS("filch_go_with", "filch_go", go_size, "FILCH_TASK_ATTR_INIT"),                        \
    SAYS_AS("filch_go_with", "filch_go", go_none, "not a pool"),                                  \
    SAYS("filch_spawn", spawn_null_fn, "null"),                                                   \
    SAYS("filch_spawn", spawn_null_out, "null"),                                                  \
    SAYS_AS("filch_spawn_with", "filch_spawn", spawn_none, "not a pool"),                         \
    SAYS("filch_task_join", task_join_null, "not a task"),                                        \
    SAYS("filch_task_join", task_join_twice, "joined"),                                           \
    SAYS("filch_task_join", task_join_both, "two at a time"),                                     \
    SAYS("filch_task_detach", task_detach_null, "not a task"),                                    \
    SAYS("filch_task_detach", task_detach_waited, "another joins it"),                            \
    SAYS("filch_task_detach", task_detach_joined, "joined"),                                      \
    SAYS("filch_task_done", task_done_null, "not a task"),                                        \
    SAYS("filch_ticker_start", ticker_null, "null ticker"),                                       \
    SAYS("filch_ticker_start", ticker_zero, "not positive"),                                      \
    SAYS("filch_ticker_start", ticker_negative, "not positive"),                                  \
    SAYS("filch_ticker_wait", ticker_unstarted, "not started"),                                   \
    SAYS("filch_ticker_wait", ticker_nobody, "null ticker"),                                      \
    ANSWERS("filch_ticker_start filch_ticker_wait", ticker_answers),                              \
    ANSWERS("filch_task_join filch_task_done filch_yield filch_task_name filch_task_rename "      \
            "filch_stack_size filch_stack_left filch_errno filch_sleep_ns filch_sleep_until "     \
            "filch_go_with filch_spawn_with", task_answers),
