/* test_pipe_nested.c: pipelines whose stages wait, run loops and pipelines, and callers of all kinds. */
#include "pipe_kit.h"

/* ---- stages that wait ----------------------------------------------------------------------- */

struct wires {
    filch_chan *in, *ask, *answer, *out;
    long sum;
};

static int feeds(void *arg)
{
    struct wires *w = arg;
    for (intptr_t i = 1; i <= WIRED; i++)
        CHECK_EQ(filch_chan_send(w->in, &i, FILCH_FOREVER), 0);
    filch_chan_close(w->in);
    return 0;
}

static int answers(void *arg)
{
    struct wires *w = arg;
    intptr_t i;
    while (filch_chan_recv(w->ask, &i, FILCH_FOREVER) == 0) {
        i *= 2;
        CHECK_EQ(filch_chan_send(w->answer, &i, FILCH_FOREVER), 0);
    }
    return 0;
}

static int receives(void **item, void *arg)
{
    struct wires *w = arg;
    intptr_t i;
    int rc = filch_chan_recv(w->in, &i, FILCH_FOREVER);
    *item = rc == 0 ? (void *)i : NULL;
    return rc == -EPIPE ? 0 : rc;
}

static int asks(void **item, void *arg)
{
    struct wires *w = arg;
    intptr_t i = (intptr_t)*item;
    int rc = filch_chan_send(w->ask, &i, FILCH_FOREVER);
    if (rc == 0)
        rc = filch_chan_recv(w->answer, &i, FILCH_FOREVER); /* perhaps another's */
    *item = (void *)i;
    kit_beat();
    return rc;
}

static int sends(void **item, void *arg)
{
    struct wires *w = arg;
    intptr_t i = (intptr_t)*item;
    filch_yield();
    return filch_chan_send(w->out, &i, FILCH_FOREVER);
}

static int collects(void *arg)
{
    struct wires *w = arg;
    intptr_t i;
    while (filch_chan_recv(w->out, &i, FILCH_FOREVER) == 0)
        w->sum += (long)i;
    return 0;
}

static filch_task *spawn(int (*fn)(void *arg), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

static void wait_on_channels(void)
{
    struct wires w = {0};
    size_t through = 0;
    filch_how how = FILCH_HOW_INIT;
    how.pool = pool;
    filch_stage s[] = {{receives, &w, FILCH_STAGE_IN_ORDER, NULL},
                       {asks, &w, FILCH_STAGE_PARALLEL, NULL},
                       {sends, &w, FILCH_STAGE_SERIAL, NULL}};
    filch_chan **all[] = {&w.in, &w.ask, &w.answer, &w.out};
    for (size_t i = 0; i < 4; i++)
        CHECK_EQ(filch_chan_create(all[i], sizeof(intptr_t), 0), 0);
    filch_task *t[] = {spawn(feeds, &w), spawn(answers, &w), spawn(collects, &w)};
    CHECK_EQ(filch_pipe_run_with(&how, s, 3, 7, NULL, NULL, &through), 0);
    CHECK_EQ(through, WIRED);
    filch_chan_close(w.ask);
    filch_chan_close(w.out);
    for (size_t i = 0; i < 3; i++)
        CHECK_EQ(filch_task_join(t[i], NULL, FILCH_FOREVER), 0);
    CHECK_EQ(w.sum, WIRED * (WIRED + 1));
    for (size_t i = 0; i < 4; i++)
        filch_chan_destroy(*all[i]);
}

static void stages_wait_for_channels_without_keeping_a_worker(void)
{
    everywhere(wait_on_channels);
}

/* ---- inside each other ---------------------------------------------------------------------- */

static void adds(size_t lo, size_t hi, void *sum)
{
    filch_add_relaxed((uint64_t *)sum, (uint64_t)(hi - lo));
}

static void inner_course(void)
{
    struct course c;
    lay_out(&c, 20, 3, usual, 3);
    c.shaken = true;
    CHECK_EQ(run_course(&c, NULL), 0);
    all_came_through(&c);
    free(c.things);
}

static int nests(void **item, void *arg)
{
    uint64_t sum = 0;
    inner_course();
    CHECK_EQ(filch_for(0, 1000, adds, &sum), 0);
    CHECK_EQ(sum, 1000);
    return through_stage(item, arg);
}

static int nests_in_piece(size_t lo, size_t hi, void *arg)
{
    (void)arg;
    for (size_t i = lo; i < hi; i++)
        inner_course();
    return 0;
}

static void nested(void)
{
    struct course c;
    filch_how how = FILCH_HOW_INIT;
    lay_out(&c, kit_scaled(60, 6), 5, usual, 3);
    c.stage[1].run = nests;
    c.stage[2].run = nests;
    CHECK_EQ(run_course(&c, NULL), 0);
    all_came_through(&c);
    free(c.things);
    how.pool = pool;
    how.grain = 1;
    CHECK_EQ(filch_for_with(&how, 0, kit_scaled(30, 6), nests_in_piece, NULL), 0);
}

static void pipelines_and_loops_run_inside_each_other(void)
{
    everywhere(nested);
}

/* One item begins a pipeline that would never end, one sleeps; another fails. */
static int never_ends(void **item, void *arg)
{
    static int something;
    struct thing *t = *item;
    if (t->number == 0)
        return runs_endless(&something);
    if (t->number == 1)
        return only_sleeps(item, arg);
    filch_yield();
    return 6;
}

static void fail_beside_the_endless(void)
{
    struct course c;
    lay_out(&c, 100, 3, usual, 3);
    c.stage[1].run = never_ends;
    CHECK_EQ(run_course(&c, NULL), 6);
    free(c.things);
}

static void a_pipeline_inside_stops_with_the_outer_one(void)
{
    everywhere(fail_beside_the_endless);
}

/* A loop keeps its worker: the one who fails has another, before it begins. */
static filch_event other_is_there;
static uint32_t loop_runs;

/* A million of these take longer than the watchdog has patience. */
static void runs_for_long(size_t lo, size_t hi, void *arg)
{
    int64_t end = filch_clock_ns() + 50000;
    (void)lo;
    (void)hi;
    (void)arg;
    kit_raise(&loop_runs);
    while (filch_clock_ns() < end)
        continue;
}

static int loops_or_fails(void **item, void *arg)
{
    (void)arg;
    if (((struct thing *)*item)->number == 0) {
        filch_event_wait(&other_is_there);
        return filch_for(0, 1 << 20, runs_for_long, NULL);
    }
    filch_event_set(&other_is_there);
    KIT_AWAIT(kit_raised(&loop_runs));
    return 6;
}

static void fail_beside_a_loop(void)
{
    struct course c;
    filch_event_reset(&other_is_there);
    filch_store_release(&loop_runs, 0u);
    lay_out(&c, 100, 2, usual, 3);
    c.stage[1].run = loops_or_fails;
    CHECK_EQ(run_course(&c, NULL), 6);
    free(c.things);
}

static void a_loop_inside_stops_with_the_pipeline(void)
{
    for (int workers = 2; workers <= 4; workers++) {
        pool = kit_pool(workers);
        fail_beside_a_loop();
        from_a_task(fail_beside_a_loop);
        kit_destroy(pool);
    }
}

/* ---- callers of all kinds ------------------------------------------------------------------- */

static void pinned_claim(void *claim)
{
    filch_pin();
    ((void (*)(void))(uintptr_t)claim)();
    filch_unpin();
}

static void some(void)
{
    struct course c;
    lay_out(&c, 200, 6, usual, 3);
    CHECK_EQ(run_course(&c, NULL), 0);
    all_came_through(&c);
    free(c.things);
    for (size_t stage = 0; stage < 3; stage++)
        fails_once(usual, 3, stage, 13, 5);
}

static int some_pinned(void *unused)
{
    (void)unused;
    pinned_claim((void *)(uintptr_t)some);
    CHECK_STR(filch_task_name(), "pinned");
    return 0;
}

static void guests_and_those_who_are_pinned_may_call(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_task_attr a = FILCH_TASK_ATTR_INIT;
        filch_task *t[4];
        a.pool = pool = kit_pool(workers);
        a.name = "pinned";
        filch_run_on(pool, pinned_claim, (void *)(uintptr_t)some);
        for (int i = 0; i < 4; i++)
            CHECK_EQ(filch_spawn_with(&t[i], &a, some_pinned, NULL), 0);
        for (int i = 0; i < 4; i++)
            CHECK_EQ(filch_task_join(t[i], NULL, FILCH_FOREVER), 0);
        kit_destroy(pool);
    }
}

static void joins_that_help_do(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_config config = kit_config(workers);
        config.join = FILCH_JOIN_HELP;
        pool = kit_make(&config);
        some();
        from_a_task(some);
        kit_destroy(pool);
    }
}

static void a_task_of_another_pool_may_call(void)
{
    filch_pool *other = kit_pool(2), *mine = kit_pool(2);
    pool = mine;
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = other;
    CHECK_EQ(filch_spawn_with(&t, &a, run_claim, (void *)(uintptr_t)some), 0);
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
    kit_destroy(mine);
    kit_destroy(other);
}

int main(void)
{
    kit_watchdog();
    RUN(stages_wait_for_channels_without_keeping_a_worker);
    RUN(pipelines_and_loops_run_inside_each_other);
    RUN(a_pipeline_inside_stops_with_the_outer_one);
    RUN(a_loop_inside_stops_with_the_pipeline);
    RUN(guests_and_those_who_are_pinned_may_call);
    RUN(joins_that_help_do);
    RUN(a_task_of_another_pool_may_call);
    return check_report();
}
