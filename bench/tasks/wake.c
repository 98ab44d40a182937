/* wake.c: many waiting tasks become ready at once.
 *
 * | shared field | writer    | reader    | invariant                                           |
 * |--------------|-----------|-----------|-----------------------------------------------------|
 * | waiting      | each task | main task | tasks that have started and are about to wait       |
 */
#include "cases.h"

#define SETTLE_NS 20000000 /* from the last start to the first wake-up: by then all wait */

struct crowd {
    struct sleeper *sleepers;
    struct tasks_all all;
    int size, waiting;
    int failed;
    int64_t ns;
};

struct sleeper {
    struct crowd *crowd;
    filch_event event;
};

static void sleeper_run(void *arg)
{
    struct sleeper *s = arg;
    struct crowd *c = s->crowd;
    filch_add_relaxed(&c->waiting, 1); /* order: relaxed, only counts */
    filch_event_wait(&s->event);
    tasks_all_done(&c->all);
}

static int crowd_gather(struct crowd *c)
{
    tasks_all_expect(&c->all, c->size);
    for (int i = 0; i < c->size; i++) {
        c->sleepers[i].crowd = c;
        if (filch_go(sleeper_run, &c->sleepers[i]))
            return -1;
    }
    while (filch_load_relaxed(&c->waiting) < c->size) /* order: relaxed, only counts */
        filch_sleep_ns(1000000);
    filch_sleep_ns(SETTLE_NS);
    return 0;
}

static void crowd_main(void *arg)
{
    struct crowd *c = arg;
    if ((c->failed = crowd_gather(c)))
        return;
    struct sleeper *sleepers = c->sleepers; /* read here: the tasks write to the line of `c` */
    int size = c->size;
    int64_t start = filch_clock_ns();
    for (int i = 0; i < size; i++)
        filch_event_set(&sleepers[i].event);
    tasks_all_wait(&c->all);
    c->ns = filch_clock_ns() - start;
}

const char *wake_all(const struct tasks_request *ask, struct tasks_report *out)
{
    struct crowd c = {.size = ask->size};
    c.sleepers = calloc((size_t)c.size, sizeof *c.sleepers);
    if (!c.sleepers || tasks_main(ask->pool, crowd_main, &c) || c.failed)
        return "no memory for the tasks"; /* those that wait are left behind */
    free(c.sleepers);
    out->ns_per_op = tasks_per_op(c.ns, c.size);
    return NULL;
}
