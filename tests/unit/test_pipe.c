/* test_pipe.c: pipelines: what each stage sees, and what is in flight. */
#include "pipe_kit.h"

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
    RUN(stages_have_large_stacks_and_names);
    RUN(it_fits_into_scratch_that_was_used_before);
    return check_report();
}
