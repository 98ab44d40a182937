/* test_pipe.c: pipelines: what each stage sees, what is in flight, how they stop. */
#include "pool_kit.h"

#include <filch/chan.h>
#include <filch/par.h>
#include <filch/pipe.h>
#include <filch/sync.h>

enum { IN_ORDER = FILCH_STAGE_IN_ORDER, SERIAL = FILCH_STAGE_SERIAL, PARALLEL = FILCH_STAGE_PARALLEL };
enum { MOST_STAGES = 5, NOWHERE = MOST_STAGES, WIRED = KIT_SLOW ? 50 : 300 };

/* An item, and what has become of it. */
struct thing {
    size_t number;
    uint32_t visits[MOST_STAGES];
    uint32_t consumed, dropped, filtered;
};

/* A stage, and who is in it. */
struct post {
    struct course *course;
    size_t index;
    uint32_t inside, most;
    size_t next; /* number that comes next, where there is an order */
};

/* A pipeline that watches itself. */
struct course {
    struct thing *things;
    size_t count, tokens, stages;
    size_t made;
    uint32_t in_flight, most_in_flight;
    size_t fail_stage, fail_number, filter_stage;
    int code;
    bool shaken;
    struct post post[MOST_STAGES];
    filch_stage stage[MOST_STAGES];
};

static filch_pool *pool;

static uint32_t up(uint32_t *count, uint32_t *most)
{
    uint32_t now = filch_add_acq_rel(count, 1u) + 1, was = filch_load_relaxed(most);
    while (now > was && !filch_cas_relaxed(most, &was, now))
        continue;
    return now;
}

static void down(uint32_t *count)
{
    filch_sub_acq_rel(count, 1u);
}

static uint32_t once(uint32_t *count)
{
    return filch_add_acq_rel(count, 1u) + 1;
}

/* Lets others in between, now here, now there. */
static void shake(const struct course *c, size_t number, size_t index)
{
    if (c->shaken && (number * 7 + index * 3) % 5 == 0)
        filch_yield();
}

static bool is_last(const struct post *at)
{
    return at->index + 1 == at->course->stages;
}

static int from_source(void **item, void *arg)
{
    struct post *at = arg;
    struct course *c = at->course;
    bool parallel = c->stage[0].kind == FILCH_STAGE_PARALLEL;
    uint32_t inside = up(&at->inside, &at->most);
    CHECK(!*item);
    CHECK(parallel || inside == 1);
    size_t number = filch_add_acq_rel(&c->made, (size_t)1);
    shake(c, number, 0);
    int error = c->fail_stage == 0 && number == c->fail_number ? c->code : 0;
    if (number < c->count && !error) {
        struct thing *t = &c->things[number];
        t->number = number;
        CHECK_EQ(once(&t->visits[0]), 1);
        *item = t;
        if (is_last(at))
            CHECK_EQ(once(&t->consumed), 1);
        else
            CHECK(up(&c->in_flight, &c->most_in_flight) <= c->tokens);
    }
    kit_beat();
    down(&at->inside);
    return error;
}

static int through_stage(void **item, void *arg)
{
    struct post *at = arg;
    struct course *c = at->course;
    struct thing *t = *item;
    int kind = (int)c->stage[at->index].kind, error = 0;
    uint32_t inside = up(&at->inside, &at->most);
    CHECK(kind == PARALLEL || inside == 1);
    CHECK_EQ(once(&t->visits[at->index]), 1);
    for (size_t i = 0; i < at->index; i++)
        CHECK_EQ(t->visits[i], 1);
    if (kind == IN_ORDER && c->stage[0].kind != FILCH_STAGE_PARALLEL) {
        CHECK(t->number >= at->next); /* not one more: some are filtered out */
        CHECK(c->filter_stage < at->index || t->number == at->next);
        at->next = t->number + 1;
    }
    shake(c, t->number, at->index);
    if (c->fail_stage == at->index && t->number == c->fail_number) {
        error = c->code;
    } else if (c->filter_stage == at->index && t->number % 3 == 1) {
        CHECK_EQ(once(&t->filtered), 1);
        down(&c->in_flight);
        *item = NULL;
    } else if (is_last(at)) {
        CHECK_EQ(once(&t->consumed), 1);
        down(&c->in_flight);
    }
    down(&at->inside);
    return error;
}

static void drop_thing(void *item, void *arg)
{
    struct course *c = arg;
    struct thing *t = item;
    CHECK(t >= c->things && t < c->things + c->count);
    CHECK_EQ(once(&t->dropped), 1);
}

static void lay_out(struct course *c, size_t count, size_t tokens, const int *kinds, size_t stages)
{
    *c = (struct course){.count = count, .tokens = tokens, .stages = stages, .fail_stage = NOWHERE,
                         .filter_stage = NOWHERE};
    c->things = calloc(count + 1, sizeof *c->things);
    CHECK(c->things);
    for (size_t i = 0; i < stages; i++) {
        c->post[i] = (struct post){.course = c, .index = i};
        c->stage[i] = (filch_stage){i == 0 ? from_source : through_stage, &c->post[i],
                                    (enum filch_stage_kind)kinds[i], "stage"};
    }
}

/* Every item that was made is consumed, filtered out or dropped: one of them, once. */
static void account(const struct course *c, size_t through)
{
    size_t consumed = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct thing *t = &c->things[i];
        CHECK_MSG(t->consumed + t->dropped + t->filtered == t->visits[0], "item %zu: %u made, %u, %u, %u", i,
                  t->visits[0], t->consumed, t->dropped, t->filtered);
        consumed += t->consumed;
    }
    CHECK_EQ(through, consumed);
}

static int run_course(struct course *c, const filch_how *how)
{
    filch_how mine = FILCH_HOW_INIT;
    size_t through = 12345;
    if (!how) {
        mine.pool = pool;
        how = &mine;
    }
    int rc = filch_pipe_run_with(how, c->stage, c->stages, c->tokens, drop_thing, c, &through);
    account(c, through);
    return rc;
}

static void all_came_through(const struct course *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct thing *t = &c->things[i];
        CHECK_EQ(t->dropped, 0);
        CHECK_EQ(t->consumed + t->filtered, 1);
        for (size_t s = 0; s < c->stages; s++)
            CHECK_EQ(t->visits[s], !t->filtered || s <= c->filter_stage);
    }
}

/* ---- where ---------------------------------------------------------------------------------- */

static int run_claim(void *claim)
{
    ((void (*)(void))(uintptr_t)claim)();
    return 0;
}

static void from_a_task(void (*claim)(void))
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, run_claim, (void *)(uintptr_t)claim), 0);
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
}

/* Every claim on 1, 2, 4 and 16 workers, from a thread outside and from a task. */
static void everywhere(void (*claim)(void))
{
    static const int workers[] = {1, 2, 4, 16};
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
        pool = kit_pool(workers[i]);
        claim();
        from_a_task(claim);
        kit_destroy(pool);
    }
}

/* ---- what goes through ---------------------------------------------------------------------- */

static void goes_well(size_t count, size_t tokens, const int *kinds, size_t stages, size_t filter)
{
    struct course c;
    lay_out(&c, count, tokens, kinds, stages);
    c.shaken = true;
    c.filter_stage = filter;
    CHECK_EQ(run_course(&c, NULL), 0);
    all_came_through(&c);
    free(c.things);
}

static const int *kinds_of(unsigned code, int *kinds)
{
    for (size_t i = 0; i < MOST_STAGES; i++, code /= 3)
        kinds[i] = (int)(code % 3);
    return kinds;
}

/* All kinds of up to four stages; nothing is filtered out, or some at any of them but the last. */
static void all_kinds(void)
{
    int kinds[MOST_STAGES];
    for (size_t stages = 1; stages <= 4; stages++) {
        unsigned codes = stages == 1 ? 3 : stages == 2 ? 9 : stages == 3 ? 27 : 81;
        for (unsigned code = 0; code < codes; code += KIT_SLOW ? 13 : 1)
            for (size_t filter = 1; filter == 1 || filter < stages; filter++)
                goes_well(50, code % 4 == 0 ? 1 : code % 4 * 3, kinds_of(code, kinds), stages,
                          filter + 1 >= stages ? NOWHERE : filter);
    }
}

static void each_item_comes_once_to_each_stage_and_in_order_where_there_is_one(void)
{
    everywhere(all_kinds);
}

static const int usual[] = {IN_ORDER, PARALLEL, IN_ORDER};

static void edges(void)
{
    for (size_t count = 0; count < 4; count++)
        for (size_t tokens = 1; tokens < 6; tokens++)
            for (size_t stages = 1; stages <= 3; stages++)
                goes_well(count, tokens, usual, stages, NOWHERE);
}

static void no_items_one_token_and_one_stage_are_pipelines(void)
{
    everywhere(edges);
}

static void many(void)
{
    static const int kinds[] = {IN_ORDER, PARALLEL, SERIAL, PARALLEL, IN_ORDER};
    struct course c;
    lay_out(&c, kit_scaled(100000, 20), 32, kinds, 5);
    CHECK_EQ(run_course(&c, NULL), 0);
    all_came_through(&c);
    free(c.things);
}

static void a_hundred_thousand_items_keep_their_order(void)
{
    everywhere(many);
}

static void by_default(void)
{
    struct course c;
    filch_how how = FILCH_HOW_INIT;
    size_t most = 4 * (size_t)filch_pool_workers(pool), through = 0;
    how.pool = pool;
    lay_out(&c, 1000, most, usual, 3);
    CHECK_EQ(filch_pipe_run_with(&how, c.stage, 3, 0, NULL, NULL, &through), 0);
    CHECK_EQ(through, 1000);
    all_came_through(&c);
    free(c.things);
}

static void four_tokens_for_each_worker_unless_one_says(void)
{
    everywhere(by_default);
}

static void the_default_pool_does(void)
{
    struct course c;
    lay_out(&c, 500, 4 * (size_t)filch_pool_workers(filch_pool_default()), usual, 3);
    CHECK_EQ(filch_pipe_run(c.stage, 3, drop_thing, &c), 0);
    all_came_through(&c);
    free(c.things);
}

/* ---- what is in flight ---------------------------------------------------------------------- */

static filch_barrier meeting;

static int meets(void **item, void *arg)
{
    int rc = filch_barrier_wait(&meeting, FILCH_FOREVER);
    return rc < 0 ? rc : through_stage(item, arg);
}

/* All tokens have to be in the stage at once, or it would not end: several times. */
static void meet(void)
{
    static const size_t counts[] = {1, 2, 7, 40};
    for (size_t i = 0; i < 4; i++) {
        struct course c;
        lay_out(&c, kit_scaled(20, 5) * counts[i], counts[i], usual, 3);
        filch_barrier_init(&meeting, (unsigned)counts[i]);
        c.stage[1].run = meets;
        CHECK_EQ(run_course(&c, NULL), 0);
        all_came_through(&c);
        CHECK_EQ(c.most_in_flight, counts[i]);
        filch_barrier_destroy(&meeting);
        free(c.things);
    }
}

static void a_parallel_stage_has_all_tokens_at_once_on_any_number_of_workers(void)
{
    everywhere(meet);
}

/* A source that is parallel, too. */
static int meets_at_the_source(void **item, void *arg)
{
    struct post *at = arg;
    int rc = from_source(item, arg);
    if (*item && ((struct thing *)*item)->number < at->course->tokens)
        (void)filch_barrier_wait(&meeting, FILCH_FOREVER);
    return rc;
}

static void meet_at_the_source(void)
{
    static const int kinds[] = {PARALLEL, IN_ORDER};
    struct course c;
    lay_out(&c, 100, 9, kinds, 2);
    filch_barrier_init(&meeting, 9);
    c.stage[0].run = meets_at_the_source;
    CHECK_EQ(run_course(&c, NULL), 0);
    all_came_through(&c);
    filch_barrier_destroy(&meeting);
    free(c.things);
}

static void a_parallel_source_is_called_by_many_at_once(void)
{
    everywhere(meet_at_the_source);
}

/* The first item waits until all other tokens have filtered theirs out. They must keep their tokens, or the
 * number of turns to remember would have no bound. */
static filch_event others_are_out;
static uint32_t out;

static int first_waits_others_go(void **item, void *arg)
{
    struct post *at = arg;
    struct thing *t = *item;
    CHECK_EQ(once(&t->visits[1]), 1);
    if (t->number == 0) {
        filch_event_wait(&others_are_out);
        CHECK_EQ(filch_load_acquire(&at->course->made), at->course->tokens);
        return 0;
    }
    CHECK_EQ(once(&t->filtered), 1);
    down(&at->course->in_flight);
    *item = NULL;
    if (once(&out) == at->course->tokens - 1)
        filch_event_set(&others_are_out);
    return 0;
}

static void filter_many(void)
{
    struct course c;
    lay_out(&c, 1000, 6, usual, 3);
    filch_event_reset(&others_are_out);
    filch_store_release(&out, 0u);
    c.stage[1].run = first_waits_others_go;
    c.filter_stage = 1;
    CHECK_EQ(run_course(&c, NULL), 0);
    all_came_through(&c);
    CHECK_EQ(c.things[0].consumed, 1);
    free(c.things);
}

static void what_is_filtered_out_passes_its_turn_before_its_token_is_free(void)
{
    everywhere(filter_many);
}

/* The first item waits until all others have left the stage: they wait for it at the next one, which keeps
 * the order, and their hands are gone. */
static filch_event others_are_ahead, more_is_made;
static uint32_t ahead;

static int first_waits(void **item, void *arg)
{
    struct post *at = arg;
    struct thing *t = *item;
    if (t->number == 0) {
        filch_event_wait(&others_are_ahead);
        for (int i = 0; i < 10; i++) /* on one worker no other hand is left then */
            filch_yield();
    } else if (once(&ahead) == at->course->tokens - 1) {
        filch_event_set(&others_are_ahead);
    }
    return through_stage(item, arg);
}

static void lay_out_behind_the_first(struct course *c, size_t count, size_t tokens, const int *kinds,
                                     size_t stages)
{
    lay_out(c, count, tokens, kinds, stages);
    c->stage[1].run = first_waits;
    filch_event_reset(&others_are_ahead);
    filch_event_reset(&more_is_made);
    filch_store_release(&ahead, 0u);
}

/* Then all of them have to meet: each that may go on needs a hand of its own. */
static void meet_behind_the_first(void)
{
    static const int kinds[] = {IN_ORDER, PARALLEL, IN_ORDER, PARALLEL};
    struct course c;
    lay_out_behind_the_first(&c, 6, 6, kinds, 4);
    filch_barrier_init(&meeting, 6);
    c.stage[3].run = meets;
    CHECK_EQ(run_course(&c, NULL), 0);
    all_came_through(&c);
    filch_barrier_destroy(&meeting);
    free(c.things);
}

static void what_was_left_at_a_stage_goes_on_beside_the_one_it_waited_for(void)
{
    everywhere(meet_behind_the_first);
}

static int tells_of_the_fourth(void **item, void *arg)
{
    int rc = from_source(item, arg);
    if (*item && ((struct thing *)*item)->number == 3)
        filch_event_set(&more_is_made);
    return rc;
}

/* The second item cannot leave the last stage before the source was asked again. */
static int second_waits(void **item, void *arg)
{
    if (((struct thing *)*item)->number == 1)
        filch_event_wait(&more_is_made);
    return through_stage(item, arg);
}

static void fetch_meanwhile(void)
{
    struct course c;
    lay_out_behind_the_first(&c, 10, 3, usual, 3);
    c.stage[0].run = tells_of_the_fourth;
    c.stage[2].run = second_waits;
    CHECK_EQ(run_course(&c, NULL), 0);
    all_came_through(&c);
    free(c.things);
}

static void a_token_that_is_free_is_used_while_its_hand_carries_another(void)
{
    everywhere(fetch_meanwhile);
}

static void limited(void)
{
    for (int most = 1; most <= 3; most++) {
        struct course c;
        filch_how how = FILCH_HOW_INIT;
        how.pool = pool;
        how.workers = most;
        lay_out(&c, 300, 12, usual, 3);
        c.shaken = true;
        CHECK_EQ(run_course(&c, &how), 0);
        CHECK(c.post[1].most <= (uint32_t)most);
        all_came_through(&c);
        free(c.things);
    }
}

static void a_limit_of_workers_is_one_of_items_worked_on(void)
{
    everywhere(limited);
}

/* ---- errors --------------------------------------------------------------------------------- */

static void fails_once(const int *kinds, size_t stages, size_t stage, size_t number, size_t tokens)
{
    struct course c;
    lay_out(&c, 30, tokens, kinds, stages);
    c.shaken = true;
    c.fail_stage = stage;
    c.fail_number = number;
    c.code = number % 2 ? 77 : -EIO;
    CHECK_EQ(run_course(&c, NULL), c.code);
    if (stage > 0)
        CHECK_EQ(c.things[number].dropped, 1);
    for (size_t i = 0; i < number && kinds[0] != PARALLEL && kinds[stage] == IN_ORDER; i++)
        CHECK_EQ(c.things[i].visits[stage], 1); /* all before it were there */
    free(c.things);
}

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

static int only_sleeps(void **item, void *arg)
{
    (void)item;
    (void)arg;
    return filch_sleep_until(FILCH_FOREVER);
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

/* No stage waits, and the source has no end. On one worker, too, somebody else must come to cancel it. */
static int endless(void **item, void *arg)
{
    kit_beat();
    *item = arg;
    return 0;
}

static int does_nothing(void **item, void *arg)
{
    (void)item;
    (void)arg;
    return 0;
}

static int runs_endless(void *arg)
{
    filch_stage s[] = {{endless, arg, FILCH_STAGE_IN_ORDER, NULL},
                       {does_nothing, NULL, FILCH_STAGE_PARALLEL, NULL}};
    filch_how how = FILCH_HOW_INIT;
    how.pool = pool;
    CHECK_EQ(filch_pipe_run_with(&how, s, 2, 0, NULL, NULL, NULL), -ECANCELED);
    return 0;
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

/* ---- the rest ------------------------------------------------------------------------------- */

static int looks_around(void **item, void *arg)
{
    char large[300000]; /* more than a task's stack has */
    memset(large, 1, sizeof large);
    __asm__("" : : "r"(large) : "memory");
    CHECK_STR(filch_task_name(), "looks");
    return through_stage(item, arg);
}

static void look_around(void)
{
    struct course c;
    lay_out(&c, 30, 4, usual, 3);
    c.stage[1].run = looks_around;
    c.stage[1].name = "looks";
    CHECK_EQ(run_course(&c, NULL), 0);
    free(c.things);
}

static void stages_have_large_stacks_and_names(void)
{
    everywhere(look_around);
}

static void in_scratch(void)
{
    static char scratch[1 << 16];
    struct course c;
    filch_how how = FILCH_HOW_INIT;
    how.pool = pool;
    how.scratch = scratch + 1;
    how.scratch_size = sizeof scratch - 1;
    memset(scratch, 0x55, sizeof scratch);
    lay_out(&c, 500, 20, usual, 3);
    c.shaken = true;
    CHECK_EQ(run_course(&c, &how), 0);
    all_came_through(&c);
    free(c.things);
}

static void it_fits_into_scratch_that_was_used_before(void)
{
    everywhere(in_scratch);
}

int main(void)
{
    kit_watchdog();
    RUN(each_item_comes_once_to_each_stage_and_in_order_where_there_is_one);
    RUN(no_items_one_token_and_one_stage_are_pipelines);
    RUN(a_hundred_thousand_items_keep_their_order);
    RUN(four_tokens_for_each_worker_unless_one_says);
    RUN(the_default_pool_does);
    RUN(a_parallel_stage_has_all_tokens_at_once_on_any_number_of_workers);
    RUN(a_parallel_source_is_called_by_many_at_once);
    RUN(what_is_filtered_out_passes_its_turn_before_its_token_is_free);
    RUN(what_was_left_at_a_stage_goes_on_beside_the_one_it_waited_for);
    RUN(a_token_that_is_free_is_used_while_its_hand_carries_another);
    RUN(a_limit_of_workers_is_one_of_items_worked_on);
    RUN(an_error_anywhere_stops_it_and_each_item_is_dropped_once);
    RUN(an_error_ends_the_waits_of_other_stages);
    RUN(a_stage_that_fails_may_keep_its_item_from_being_dropped);
    RUN(a_closed_pool_and_too_little_memory_are_errors);
    RUN(the_callers_scope_and_that_of_how_stop_it);
    RUN(a_deadline_of_the_scope_stops_it);
    RUN(a_scope_that_is_cancelled_lets_nothing_begin);
    RUN(others_run_beside_stages_that_never_wait);
    RUN(a_cancelled_pool_stops_it);
    RUN(stages_wait_for_channels_without_keeping_a_worker);
    RUN(pipelines_and_loops_run_inside_each_other);
    RUN(a_pipeline_inside_stops_with_the_outer_one);
    RUN(a_loop_inside_stops_with_the_pipeline);
    RUN(guests_and_those_who_are_pinned_may_call);
    RUN(joins_that_help_do);
    RUN(a_task_of_another_pool_may_call);
    RUN(stages_have_large_stacks_and_names);
    RUN(it_fits_into_scratch_that_was_used_before);
    return check_report();
}
