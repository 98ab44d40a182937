/* timer.c: many sleepers, each with a deadline of its own. */
#include "cases.h"
#include <stdio.h>

#if __has_include(<filch/async.h>)
#include <filch/async.h>
#define STACKLESS 1
#else
#define STACKLESS 0
#endif

struct alarm {
    struct alarms *all;
    int64_t deadline, late_ns;
};

struct alarms {
    struct tasks_all all;
    struct alarm *list;
    int size, failed;
    bool stackless;
    int64_t cpu_ns;
};

static void alarm_rings(struct alarm *a)
{
    a->late_ns = filch_clock_ns() - a->deadline;
    tasks_all_done(&a->all->all);
}

static void alarm_run(void *arg)
{
    struct alarm *a = arg;
    filch_sleep_until(a->deadline);
    alarm_rings(a);
}

#if STACKLESS
static enum filch_poll alarm_poll(filch_async *self, void *arg)
{
    struct alarm *a = arg;
    if (filch_clock_ns() < a->deadline) {
        filch_wake_at(self, a->deadline);
        return FILCH_PENDING;
    }
    alarm_rings(a);
    return FILCH_READY;
}
#endif

static int alarm_start(struct alarms *all, struct alarm *a)
{
#if STACKLESS
    if (all->stackless)
        return filch_async_spawn(NULL, alarm_poll, a);
#endif
    return all->stackless ? -1 : filch_go(alarm_run, a);
}

static void alarms_main(void *arg)
{
    struct alarms *a = arg;
    int64_t cpu = tasks_cpu_ns();
    int64_t first = filch_clock_ns() + (int64_t)a->size * CASE_TIMER_LEAD_NS;
    tasks_all_expect(&a->all, a->size);
    for (int64_t i = 0; i < a->size && !a->failed; i++) {
        int64_t place = i * CASE_TIMER_SCATTER % a->size;
        a->list[i] = (struct alarm){a, first + place * CASE_TIMER_STEP_NS, 0};
        a->failed = alarm_start(a, &a->list[i]);
    }
    if (!a->failed)
        tasks_all_wait(&a->all);
    a->cpu_ns = tasks_cpu_ns() - cpu;
}

struct lateness {
    double p50, p99, cpu;
};

static const char *alarms_ring(const struct tasks_request *ask, struct lateness *out,
                               struct tasks_report *report)
{
    struct alarms a = {.size = ask->size, .stackless = ask->stackless};
    a.list = calloc((size_t)a.size, sizeof *a.list);
    int64_t *late = calloc((size_t)a.size, sizeof *late);
    if (!a.list || !late || tasks_main(ask->pool, alarms_main, &a) || a.failed)
        return "no memory for the tasks"; /* those that sleep are left behind */
    for (int i = 0; i < a.size; i++)
        late[i] = a.list[i].late_ns;
    out->p50 = (double)tasks_percentile(late, a.size, 0.5);
    out->p99 = (double)tasks_percentile(late, a.size, 0.99);
    out->cpu = tasks_per_op(a.cpu_ns, a.size);
    const char *wrong = late[0] < 0 ? "a task woke before its deadline" : NULL;
    snprintf(report->more, sizeof report->more, " p50_ns=%.0f p99_ns=%.0f cpu_ns=%.1f", out->p50,
             out->p99, out->cpu);
    free(a.list);
    free(late);
    return wrong;
}

const char *timer_p50(const struct tasks_request *ask, struct tasks_report *out)
{
    struct lateness l = {0};
    const char *wrong = alarms_ring(ask, &l, out);
    out->ns_per_op = l.p50;
    return wrong;
}

const char *timer_p99(const struct tasks_request *ask, struct tasks_report *out)
{
    struct lateness l = {0};
    const char *wrong = alarms_ring(ask, &l, out);
    out->ns_per_op = l.p99;
    return wrong;
}

const char *timer_cpu(const struct tasks_request *ask, struct tasks_report *out)
{
    struct lateness l = {0};
    const char *wrong = alarms_ring(ask, &l, out);
    out->ns_per_op = l.cpu;
    return wrong;
}
