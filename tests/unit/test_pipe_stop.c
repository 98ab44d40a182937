/* test_pipe_stop.c: pipelines that end early: errors, scopes, pools that go. */
#include "pipe_kit.h"

/* ---- errors --------------------------------------------------------------------------------- */

static void all_errors(void)
{
    static const size_t numbers[] = {0, 1, 13, 29};
    int kinds[MOST_STAGES];
    unsigned turn = 0;
    for (unsigned code = 0; code < 81; code += KIT_SLOW ? 16 : 1)
        for (size_t stage = 0; stage < 4; stage++)
            for (size_t i = 0; i < 4; i += KIT_SLOW ? 2 : 1, turn++)
                fails_once(kinds_of(code, kinds), 4, stage, numbers[i], turn % 3 == 0 ? 1 : turn % 3 * 4);
    fails_once(usual, 1, 0, 5, 3);
    fails_once(usual, 2, 1, 5, 3);
}

static void an_error_anywhere_stops_it_and_each_item_is_dropped_once(void)
{
    everywhere(all_errors);
}

/* The rest waits for ever: the error ends their waits. The last item to come fails. */
static int sleeps_or_fails(void **item, void *arg)
{
    struct post *at = arg;
    struct course *c = at->course;
    struct thing *t = *item;
    CHECK_EQ(once(&t->visits[1]), 1);
    if (t->number == c->tokens - 1)
        return 5;
    CHECK_EQ(filch_sleep_until(FILCH_FOREVER), -ECANCELED);
    CHECK(filch_canceled());
    return -ECANCELED;
}

static void fail_beside_sleepers(void)
{
    struct course c;
    lay_out(&c, 100, 9, usual, 3);
    c.stage[1].run = sleeps_or_fails;
    CHECK_EQ(run_course(&c, NULL), 5);
    CHECK_EQ(c.made, 9);
    for (size_t i = 0; i < 9; i++)
        CHECK_EQ(c.things[i].dropped, 1);
    free(c.things);
}

static void an_error_ends_the_waits_of_other_stages(void)
{
    everywhere(fail_beside_sleepers);
}

/* What a stage leaves with its error is dropped; null is not. */
static int takes_care_and_fails(void **item, void *arg)
{
    struct thing *t = *item;
    (void)arg;
    t->filtered = 1;
    *item = NULL;
    return 9;
}

static int brings_one_and_fails(void **item, void *arg)
{
    (void)from_source(item, arg);
    return *item ? 8 : 0;
}

static void leave_with_an_error(void)
{
    struct course c;
    lay_out(&c, 10, 1, usual, 3);
    c.stage[1].run = takes_care_and_fails;
    CHECK_EQ(run_course(&c, NULL), 9);
    CHECK_EQ(c.things[0].dropped, 0);
    free(c.things);
    lay_out(&c, 10, 1, usual, 3);
    c.stage[0].run = brings_one_and_fails;
    CHECK_EQ(run_course(&c, NULL), 8);
    CHECK_EQ(c.things[0].dropped, 1);
    CHECK_EQ(c.made, 1);
    free(c.things);
}

static void a_stage_that_fails_may_keep_its_item_from_being_dropped(void)
{
    everywhere(leave_with_an_error);
}

static void a_closed_pool_and_too_little_memory_are_errors(void)
{
    struct course c;
    pool = kit_pool(2);
    lay_out(&c, 10, SIZE_MAX / 8, usual, 3);
    CHECK_EQ(run_course(&c, NULL), -ENOMEM);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    c.tokens = 3;
    CHECK_EQ(run_course(&c, NULL), -EPIPE);
    CHECK_EQ(c.made, 0);
    free(c.things);
    kit_destroy(pool);
}

/* ---- cancelling ----------------------------------------------------------------------------- */

static filch_scope outer;

static int cancels_at_the_last(void **item, void *arg)
{
    struct post *at = arg;
    struct thing *t = *item;
    if (t->number == at->course->tokens - 1)
        filch_scope_cancel(&outer);
    CHECK_EQ(filch_sleep_until(FILCH_FOREVER), -ECANCELED);
    return t->number % 2 ? -ECANCELED : 0;
}

static int cancels_and_goes_on(void **item, void *arg)
{
    struct post *at = arg;
    if (((struct thing *)*item)->number == 50)
        filch_scope_cancel(&outer);
    return through_stage(item, at);
}

static int (*stage_of_the_day)(void **item, void *arg);

static void stopped_course(const filch_how *how)
{
    struct course c;
    lay_out(&c, 5000, 5, usual, 3);
    c.stage[1].run = stage_of_the_day;
    CHECK_EQ(run_course(&c, how), -ECANCELED);
    CHECK(c.made < 5000);
    free(c.things);
}

static int runs_in_scope(void *arg)
{
    (void)arg;
    stopped_course(NULL);
    return 0;
}

static void cancel_callers_scope(void)
{
    CHECK_EQ(filch_scope_open_on(&outer, pool), 0);
    CHECK_EQ(filch_scope_go(&outer, runs_in_scope, NULL), 0);
    CHECK_EQ(filch_scope_close(&outer), -ECANCELED);
}

static void cancel_hows_scope(void)
{
    filch_how how = FILCH_HOW_INIT;
    how.pool = pool;
    how.scope = &outer;
    CHECK_EQ(filch_scope_open_on(&outer, pool), 0);
    stopped_course(&how);
    CHECK_EQ(filch_scope_close(&outer), -ECANCELED);
}

static void cancel_both_ways(void)
{
    stage_of_the_day = cancels_at_the_last;
    cancel_callers_scope();
    cancel_hows_scope();
    stage_of_the_day = cancels_and_goes_on;
    cancel_callers_scope();
    cancel_hows_scope();
}

static void the_callers_scope_and_that_of_how_stop_it(void)
{
    everywhere(cancel_both_ways);
}

static void late(void)
{
    filch_how how = FILCH_HOW_INIT;
    how.pool = pool;
    how.scope = &outer;
    stage_of_the_day = only_sleeps;
    CHECK_EQ(filch_scope_open_on(&outer, pool), 0);
    filch_scope_deadline(&outer, filch_clock_ns() + 1000000);
    stopped_course(&how);
    CHECK_EQ(filch_scope_close(&outer), -ETIMEDOUT);
    CHECK_EQ(filch_scope_open_on(&outer, pool), 0);
    filch_scope_deadline(&outer, filch_clock_ns() + 1000000);
    CHECK_EQ(filch_scope_go(&outer, runs_in_scope, NULL), 0);
    CHECK_EQ(filch_scope_close(&outer), -ETIMEDOUT);
}

static void a_deadline_of_the_scope_stops_it(void)
{
    everywhere(late);
}

static void canceled_before(void)
{
    struct course c;
    filch_how how = FILCH_HOW_INIT;
    how.pool = pool;
    how.scope = &outer;
    CHECK_EQ(filch_scope_open_on(&outer, pool), 0);
    filch_scope_cancel(&outer);
    lay_out(&c, 10, 3, usual, 3);
    CHECK_EQ(run_course(&c, &how), -ECANCELED);
    CHECK_EQ(c.made, 0);
    free(c.things);
    CHECK_EQ(filch_scope_close(&outer), -ECANCELED);
}

static void a_scope_that_is_cancelled_lets_nothing_begin(void)
{
    everywhere(canceled_before);
}

static int cancels(void *arg)
{
    filch_scope_cancel(arg);
    return 0;
}

static void cancel_endless(void)
{
    static int something;
    CHECK_EQ(filch_scope_open_on(&outer, pool), 0);
    CHECK_EQ(filch_scope_go(&outer, runs_endless, &something), 0);
    filch_sleep_ns(1000000); /* so that it is under way; the claim does not depend on it */
    CHECK_EQ(filch_scope_go(&outer, cancels, &outer), 0);
    CHECK_EQ(filch_scope_close(&outer), -ECANCELED);
}

static void others_run_beside_stages_that_never_wait(void)
{
    everywhere(cancel_endless);
}

static int cancels_the_pool(void **item, void *arg)
{
    struct post *at = arg;
    if (((struct thing *)*item)->number == at->course->tokens - 1)
        (void)filch_pool_cancel(pool);
    return filch_sleep_until(FILCH_FOREVER);
}

static void a_cancelled_pool_stops_it(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        pool = kit_pool(workers);
        stage_of_the_day = cancels_the_pool;
        filch_how how = FILCH_HOW_INIT;
        how.pool = pool;
        stopped_course(&how);
        kit_destroy(pool);
    }
}

int main(void)
{
    kit_watchdog();
    RUN(an_error_anywhere_stops_it_and_each_item_is_dropped_once);
    RUN(an_error_ends_the_waits_of_other_stages);
    RUN(a_stage_that_fails_may_keep_its_item_from_being_dropped);
    RUN(a_closed_pool_and_too_little_memory_are_errors);
    RUN(the_callers_scope_and_that_of_how_stop_it);
    RUN(a_deadline_of_the_scope_stops_it);
    RUN(a_scope_that_is_cancelled_lets_nothing_begin);
    RUN(others_run_beside_stages_that_never_wait);
    RUN(a_cancelled_pool_stops_it);
    return check_report();
}
