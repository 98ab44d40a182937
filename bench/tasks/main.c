/* main.c: filch-bench-tasks CASE WORKERS MODE [SIZE]; prints one line of key=value. Exit status 0; 1
 * if a result is wrong or the case is not in this build; 2 if the request makes no sense. */
#include "cases.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

struct flow {
    void (*fn)(void *arg);
    void *arg;
    filch_event done;
};

static void flow_run(void *arg)
{
    struct flow *flow = arg;
    flow->fn(flow->arg);
    filch_event_set(&flow->done);
}

int tasks_main(filch_pool *pool, void (*fn)(void *arg), void *arg)
{
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    struct flow flow = {fn, arg, {0}};
    attr.pool = pool;
    attr.name = "main";
    if (filch_go_with(&attr, flow_run, &flow))
        return -1;
    filch_event_wait(&flow.done);
    return 0;
}

int64_t tasks_cpu_ns(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
           (int64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static int sample_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t tasks_percentile(int64_t *samples, int n, double fraction)
{
    qsort(samples, (size_t)n, sizeof *samples, sample_compare);
    return samples[(int)(fraction * (n - 1))];
}

static const struct tasks_case *case_find(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, name))
            return &cases[i];
    return NULL;
}

static filch_pool *pool_make(int workers)
{
    filch_config config = FILCH_CONFIG_INIT;
    filch_pool *pool;
    config.name = "bench";
    config.workers = workers;
    config.no_environment = 1;
    return filch_pool_create(&pool, &config) ? NULL : pool;
}

/* Returns the number of runs, with the best of them in *best; 0 and what is wrong in *wrong. */
static int measure(const struct tasks_case *c, const struct tasks_request *ask,
                   struct tasks_report *best, const char **wrong)
{
    int64_t end = filch_clock_ns() + REPEAT_BUDGET_NS;
    int n = 0;
    do {
        struct tasks_report report = {0};
        if ((*wrong = c->run(ask, &report)))
            return 0;
        if (n == 0 || report.ns_per_op < best->ns_per_op)
            *best = report;
        n++;
    } while (n < c->repeat && (n < REPEAT_MIN || filch_clock_ns() < end));
    return n;
}

static int refuse(const char *what, const char *which, int status)
{
    fprintf(stderr, "%s: %s\n", which, what);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 5)
        return refuse("usage: CASE WORKERS MODE [SIZE]", argv[0], 2);
    const struct tasks_case *c = case_find(argv[1]);
    int workers = atoi(argv[2]);
    if (!c)
        return refuse("no such case", argv[1], 2);
    struct tasks_request ask = {.size = argc > 4 ? atoi(argv[4]) : c->size};
    ask.stackless = c->either && !strcmp(argv[3], "async");
    if (!ask.stackless && strcmp(argv[3], "default"))
        return refuse("not a mode of this case", argv[3], 2);
    struct tasks_report best;
    const char *wrong;
    if (workers < 1 || ask.size < 1)
        return refuse("the number of workers and the size must be at least 1", argv[1], 2);
    if (!(ask.pool = pool_make(workers)))
        return refuse("the pool cannot be made", argv[1], 1);
    int runs = measure(c, &ask, &best, &wrong);
    if (!runs)
        return refuse(wrong, argv[1], 1);
    filch_pool_destroy(ask.pool);
    printf("ns_per_op=%.4f size=%d repetitions=%d%s runtime_version=%s\n", best.ns_per_op, ask.size,
           runs, best.more, filch_version());
    return 0;
}
