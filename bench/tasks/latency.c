/* latency.c: from the spawn of a task to its first instruction, at light load. */
#include "cases.h"
#include <pthread.h>
#include <stdio.h>

struct probe {
    struct probes *all;
    int64_t spawned, ns;
};

struct probes {
    struct tasks_all all;
    filch_task_attr attr;
    struct probe *list;
    int size, failed;
};

static void probe_run(void *arg)
{
    struct probe *p = arg;
    p->ns = filch_clock_ns() - p->spawned;
    tasks_all_done(&p->all->all);
}

static void probes_send(void *arg)
{
    struct probes *p = arg;
    tasks_all_expect(&p->all, p->size);
    for (int i = 0; i < p->size && !p->failed; i++) {
        int64_t now = filch_clock_ns(), next = now + CASE_LATENCY_GAP_NS;
        p->list[i].all = p;
        p->list[i].spawned = now;
        p->failed = filch_go_with(&p->attr, probe_run, &p->list[i]);
        while (filch_clock_ns() < next)
            ;
    }
    if (!p->failed)
        tasks_all_wait(&p->all);
}

static void *probes_thread(void *arg)
{
    probes_send(arg);
    return NULL;
}

static int run_inside(struct probes *p)
{
    return tasks_main(p->attr.pool, probes_send, p);
}

static int run_outside(struct probes *p)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, probes_thread, p))
        return -1;
    return pthread_join(thread, NULL);
}

static const char *probes_measure(const struct tasks_request *ask, int (*run)(struct probes *),
                                  struct tasks_report *out)
{
    struct probes p = {.attr = FILCH_TASK_ATTR_INIT, .size = ask->size};
    p.attr.pool = ask->pool;
    p.list = calloc((size_t)p.size, sizeof *p.list);
    int64_t *ns = calloc((size_t)p.size, sizeof *ns);
    if (!p.list || !ns || run(&p) || p.failed)
        return "no memory or thread for the tasks";
    for (int i = 0; i < p.size; i++)
        ns[i] = p.list[i].ns;
    out->ns_per_op = (double)tasks_percentile(ns, p.size, 0.5);
    snprintf(out->more, sizeof out->more, " p99_ns=%lld",
             (long long)tasks_percentile(ns, p.size, 0.99));
    free(p.list);
    free(ns);
    return NULL;
}

const char *latency_in(const struct tasks_request *ask, struct tasks_report *out)
{
    return probes_measure(ask, run_inside, out);
}

const char *latency_out(const struct tasks_request *ask, struct tasks_report *out)
{
    return probes_measure(ask, run_outside, out);
}
