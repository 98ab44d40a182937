/* misuse/async.h: rows about filch/async.h, filch/future.h and filch_local. */
#include <filch/async.h>
#include <filch/future.h>

static filch_async stackless;
static enum filch_poll at_once(filch_async *self, void *arg) { return (void)self, (void)arg, FILCH_READY; }
static enum filch_poll not_yet(filch_async *self, void *arg) { return (void)self, (void)arg, FILCH_PENDING; }
static void ready_async(void) { filch_async_init(&stackless, at_once, 0); }
static void ended_async(void)
{
    ready_async();
    CHECK_EQ(filch_async_start(&stackless, 0), 0);
    CHECK_EQ(filch_async_wait(&stackless, FILCH_FOREVER), 0);
}
static void async_init_null(void) { filch_async_init(0, at_once, 0); }
static void async_init_null_fn(void) { filch_async_init(&stackless, 0, 0); }
static void async_start_null(void) { (void)filch_async_start(0, 0); }
static void async_start_zero(void)
{
    memset(&stackless, 0, sizeof stackless);
    (void)filch_async_start(&stackless, 0);
}
static void async_start_none(void) { ready_async(), (void)filch_async_start(&stackless, no_pool()); }
static void async_start_twice(void) { ended_async(), (void)filch_async_start(&stackless, 0); }
static void async_spawn_null(void) { (void)filch_async_spawn(0, 0, 0); }
static void async_spawn_none(void) { (void)filch_async_spawn_on(no_pool(), 0, at_once, 0); }
static void wake_null(void) { filch_wake(0); }
static void wake_early(void) { ready_async(), filch_wake(&stackless); }
static void wake_at_null(void) { filch_wake_at(0, FILCH_NOW); }
static void wake_at_outside(void) { ended_async(), filch_wake_at(&stackless, FILCH_FOREVER); }
static void async_abort_null(void) { filch_async_abort(0); }
static void async_abort_early(void) { ready_async(), filch_async_abort(&stackless); }
static void async_wait_null(void) { (void)filch_async_wait(0, FILCH_NOW); }
static void async_wait_early(void) { ready_async(), (void)filch_async_wait(&stackless, FILCH_NOW); }
static void async_done_null(void) { (void)filch_async_done(0); }
static void async_hold_null(void) { (void)filch_async_hold(0); }
static void async_drop_null(void) { filch_async_drop(0); }
static enum filch_poll forgets_fork(filch_async *self, void *arg)
{
    (void)self, (void)arg;
    filch_fork(&job, nothing, 0);
    return FILCH_READY;
}
static void async_unjoined(void)
{
    filch_async *a;
    CHECK_EQ(filch_async_spawn(&a, forgets_fork, 0), 0);
    (void)filch_async_wait(a, FILCH_FOREVER);
}
static enum filch_poll forgets_pin(filch_async *self, void *arg)
{
    (void)self, (void)arg;
    filch_pin();
    return FILCH_PENDING;
}
static void async_pinned(void)
{
    filch_async *a;
    CHECK_EQ(filch_async_spawn(&a, forgets_pin, 0), 0);
    (void)filch_async_wait(a, FILCH_FOREVER);
}
static void async_answers(void)
{
    filch_async *a = (filch_async *)1;
    shut_pool();
    CHECK_EQ(filch_async_spawn_on(pool, &a, at_once, 0), -EPIPE);
    CHECK(!a);
    ended_async();
    filch_wake(&stackless);
    filch_async_abort(&stackless);
    CHECK_EQ(filch_async_wait(&stackless, INT64_MIN), 0);
    CHECK(filch_async_hold(&stackless) == &stackless);
    filch_async_drop(&stackless), filch_async_drop(&stackless);
    CHECK_EQ(filch_async_spawn(&a, not_yet, 0), 0);
    CHECK_EQ(filch_async_wait(a, -1), -ETIMEDOUT);
    CHECK_EQ(filch_async_done(a), 0);
    filch_async_abort(a);
    CHECK_EQ(filch_async_wait(a, FILCH_FOREVER), -ECANCELED);
    filch_async_drop(a);
}

static void *same(void *arg) { return arg; }
static filch_future *some_future(void)
{
    filch_future *f;
    CHECK_EQ(filch_future_start(&f, same, 0), 0);
    return f;
}
static void future_null_out(void) { (void)filch_future_start(0, same, 0); }
static void future_null_fn(void)
{
    filch_future *f;
    (void)filch_future_start(&f, 0, 0);
}
static void future_size(void)
{
    filch_future *f;
    filch_task_attr a = bad_attr();
    (void)filch_future_start_with(&f, &a, same, 0);
}
static void await_null(void) { (void)filch_future_await(0, 0, FILCH_NOW); }
static void future_done_null(void) { (void)filch_future_done(0); }
static void future_drop_null(void) { filch_future_drop(0); }
static void future_answers(void)
{
    void *result = &job;
    filch_future *f = some_future();
    while (filch_future_await(f, &result, -5) != 0)
        CHECK(filch_future_done(f) == 0 || filch_future_done(f) == 1);
    CHECK(!result);
    filch_future_drop(some_future());
    shut_pool();
    filch_task_attr a = attr_on(pool);
    CHECK_EQ(filch_future_start_with(&f, &a, same, 0), -EPIPE);
    CHECK(!f);
}

static void local_create_null(void) { (void)filch_local_create(0, 0); }
static void local_get_zero(void) { (void)filch_local_get((filch_local){0}); }
static void local_get_wild(void) { (void)filch_local_get((filch_local){UINT32_MAX}); }
static void local_set_zero(void) { (void)filch_local_set((filch_local){0}, 0); }
static void local_answers(void)
{
    filch_local k;
    CHECK_EQ(filch_local_create(&k, 0), 0);
    CHECK(!filch_local_get(k));
    CHECK_EQ(filch_local_set(k, &k), -EPERM);
}

#define ROWS_ASYNC                                                                                \
    SAYS("filch_async_init", async_init_null, "null"),                                            \
    SAYS("filch_async_init", async_init_null_fn, "null"),                                         \
    SAYS("filch_async_start", async_start_null, "filch_async_init"),                              \
    SAYS("filch_async_start", async_start_zero, "filch_async_init"),                              \
    SAYS("filch_async_start", async_start_none, "not a pool"),                                    \
    SAYS("filch_async_start", async_start_twice, "twice"),                                        \
    SAYS("filch_async_spawn", async_spawn_null, "null"),                                          \
    SAYS_AS("filch_async_spawn_on", "filch_async_spawn", async_spawn_none, "not a pool"),         \
    SAYS("filch_wake", wake_null, "not a stackless task"),                                        \
    SAYS("filch_wake", wake_early, "not started"),                                                \
    SAYS("filch_wake_at", wake_at_null, "not a stackless task"),                                  \
    SAYS("filch_wake_at", wake_at_outside, "own poll"),                                           \
    SAYS("filch_async_abort", async_abort_null, "not a stackless task"),                          \
    SAYS("filch_async_abort", async_abort_early, "not started"),                                  \
    SAYS("filch_async_wait", async_wait_null, "not a stackless task"),                            \
    SAYS("filch_async_wait", async_wait_early, "not started"),                                    \
    SAYS("filch_async_done", async_done_null, "not a stackless task"),                            \
    SAYS("filch_async_hold", async_hold_null, "not a stackless task"),                            \
    SAYS("filch_async_drop", async_drop_null, "not a stackless task"),                            \
    SAYS("filch_fork", async_unjoined, "without joining"),                                        \
    SAYS("filch_pin", async_pinned, "returned pinned"),                                           \
    ANSWERS("filch_async_spawn_on filch_async_wait filch_async_hold filch_async_drop", async_answers), \
    SAYS("filch_future_start", future_null_out, "null"),                                          \
    SAYS("filch_future_start", future_null_fn, "null"),                                           \
    SAYS_AS("filch_future_start_with", "filch_spawn", future_size, "FILCH_TASK_ATTR_INIT"),       \
    SAYS("filch_future_await", await_null, "not a future"),                                       \
    SAYS("filch_future_done", future_done_null, "not a future"),                                  \
    SAYS("filch_future_drop", future_drop_null, "not a future"),                                  \
    ANSWERS("filch_future_await filch_future_done filch_future_drop", future_answers),            \
    SAYS("filch_local_create", local_create_null, "null"),                                        \
    SAYS("filch_local_get", local_get_zero, "not a key"),                                         \
    SAYS("filch_local_get", local_get_wild, "not a key"),                                         \
    SAYS("filch_local_set", local_set_zero, "not a key"),                                         \
    ANSWERS("filch_local_create filch_local_get filch_local_set", local_answers),
