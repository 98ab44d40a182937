/* pipe_kit.h: what tests of pipelines share: a pipeline that watches itself, and places to run it from. */
#ifndef FILCH_TESTS_PIPE_KIT_H
#define FILCH_TESTS_PIPE_KIT_H

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

KIT_UNUSED static void all_came_through(const struct course *c)
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

KIT_UNUSED static void from_a_task(void (*claim)(void))
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, run_claim, (void *)(uintptr_t)claim), 0);
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
}

/* Every claim on 1, 2, 4 and 16 workers, from a thread outside and from a task. */
KIT_UNUSED static void everywhere(void (*claim)(void))
{
    static const int workers[] = {1, 2, 4, 16};
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
        pool = kit_pool(workers[i]);
        claim();
        from_a_task(claim);
        kit_destroy(pool);
    }
}

/* ---- some of them ----------------------------------------------------------------------------- */

KIT_UNUSED static const int usual[] = {IN_ORDER, PARALLEL, IN_ORDER};

KIT_UNUSED static const int *kinds_of(unsigned code, int *kinds)
{
    for (size_t i = 0; i < MOST_STAGES; i++, code /= 3)
        kinds[i] = (int)(code % 3);
    return kinds;
}

KIT_UNUSED static void fails_once(const int *kinds, size_t stages, size_t stage, size_t number, size_t tokens)
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

KIT_UNUSED static int only_sleeps(void **item, void *arg)
{
    (void)item;
    (void)arg;
    return filch_sleep_until(FILCH_FOREVER);
}

/* No stage waits, and the source has no end. On one worker, too, somebody else must come to cancel it. */
KIT_UNUSED static int endless(void **item, void *arg)
{
    kit_beat();
    *item = arg;
    return 0;
}

KIT_UNUSED static int does_nothing(void **item, void *arg)
{
    (void)item;
    (void)arg;
    return 0;
}

KIT_UNUSED static int runs_endless(void *arg)
{
    filch_stage s[] = {{endless, arg, FILCH_STAGE_IN_ORDER, NULL},
                       {does_nothing, NULL, FILCH_STAGE_PARALLEL, NULL}};
    filch_how how = FILCH_HOW_INIT;
    how.pool = pool;
    CHECK_EQ(filch_pipe_run_with(&how, s, 2, 0, NULL, NULL, NULL), -ECANCELED);
    return 0;
}

#endif
