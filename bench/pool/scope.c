/* scope.c: a scope that is cancelled while very many of its tasks are queued.
 *
 * | field    | writer             | reader    | invariant                                   |
 * | blocked  | blockers           | the case  | workers that are kept, so that tasks queue  |
 * | release  | the case           | blockers  |                                             |
 * | cleaned  | clean-ups          | the case, after close | each task's, once               |
 * | ran      | tasks that began   | the same  | none: all were queued when it was cancelled |
 */
#include "pool_bench.h"
#include <filch/ord.h>
#include <filch/scope.h>
#include <stdio.h>

#define TASKS 1000000

struct scene {
    int size, workers;
    uint32_t blocked, release, ran, cleaned;
    int64_t cancel_ns, close_ns;
    const char *wrong;
    filch_event over;
};

static void block(void *arg)
{
    struct scene *s = arg;
    filch_add_relaxed(&s->blocked, 1u);          /* order: relaxed, only counts */
    while (!filch_load_relaxed(&s->release))     /* order: relaxed, a flag */
        ;
}

static int run(void *arg)
{
    filch_add_relaxed(&((struct scene *)arg)->ran, 1u); /* order: relaxed, only counts */
    return 0;
}

static void clean(void *arg)
{
    filch_add_relaxed(&((struct scene *)arg)->cleaned, 1u); /* order: relaxed, only counts */
}

static const char *fill(struct scene *s, filch_scope *scope)
{
    for (int i = 1; i < s->workers; i++)
        if (filch_go(block, s))
            return "a task cannot be made";
    while (filch_load_relaxed(&s->blocked) < (uint32_t)s->workers - 1) /* order: relaxed, only counts */
        ;
    for (int i = 0; i < s->size; i++)
        if (filch_scope_go_named(scope, "queued", run, s, clean))
            return "a task cannot be made";
    return NULL;
}

static void play(void *arg)
{
    struct scene *s = arg;
    filch_scope scope;
    if (filch_scope_open(&scope)) {
        s->wrong = "the scope cannot be opened";
    } else {
        s->wrong = fill(s, &scope);
        int64_t begin = filch_clock_ns();
        filch_scope_cancel(&scope);
        int64_t canceled = filch_clock_ns();
        filch_store_relaxed(&s->release, 1u); /* order: relaxed, a flag */
        filch_scope_close(&scope);
        s->cancel_ns = canceled - begin;
        s->close_ns = filch_clock_ns() - canceled;
    }
    filch_event_set(&s->over);
}

static const char *measure(const struct pool_request *ask, struct scene *s, struct pool_report *out)
{
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    filch_pool *pool = pool_make(ask, FILCH_QUEUE_RING, FILCH_STEAL_HALF);
    *s = (struct scene){.size = ask->size ? ask->size : TASKS, .workers = ask->workers};
    attr.pool = pool;
    if (!pool || filch_go_with(&attr, play, s))
        return "the pool cannot be made";
    filch_event_wait(&s->over);
    filch_pool_destroy(pool);
    out->size = s->size;
    snprintf(out->more, sizeof out->more, " cancel_ns=%lld close_ns=%lld", (long long)s->cancel_ns,
             (long long)s->close_ns);
    if (!s->wrong && (s->ran > 0 || s->cleaned != (uint32_t)s->size))
        s->wrong = "tasks ran after the cancel, or were not cleaned up";
    return s->wrong;
}

const char *scope_cancel(const struct pool_request *ask, struct pool_report *out)
{
    struct scene s;
    const char *wrong = measure(ask, &s, out);
    out->ns_per_op = (double)s.cancel_ns;
    return wrong;
}

const char *scope_close(const struct pool_request *ask, struct pool_report *out)
{
    struct scene s;
    const char *wrong = measure(ask, &s, out);
    out->ns_per_op = (double)s.close_ns / (double)s.size;
    return wrong;
}
