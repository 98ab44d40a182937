/* main.c: filch-bench-sim CASE WORKERS MODE [SIZE]: how fast the simulator is, on one thread.
 * Prints one line of key=value. Exit status 0; 1 if a result is wrong; 2 if the request makes no sense.
 *
 *   model   the tree fib(SIZE) in the event engine, per task; steal.py is the same model in Python
 *   events  open arrivals at 80 % load, SIZE tasks, workers that park; per event
 *   exact   the tree fib(SIZE) in the exact engine, per run */
#include "sim/exact.h"
#include "sim/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SMALL 12 /* the tree of which the mean number of steals is compared */
#define SMALL_WORKERS 16
#define SEEDS 200

struct report {
    double ns_per_op;
    uint64_t tasks, steals, events;
    sim_time makespan;
    double events_per_s, small_steals, ms; /* 0: not of this case */
};

/* Null, or what is wrong. */
typedef const char *bench_case(uint32_t workers, uint64_t size, struct report *report);

static char message[300];

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t nodes_of(uint64_t n)
{
    uint64_t a = 1, b = 1;
    for (uint64_t i = 1; i < n; i++) {
        uint64_t sum = a + b + 1;
        a = b;
        b = sum;
    }
    return b;
}

/* ---- runs --------------------------------------------------------------------------------- */

static int run_pairs(const char *pairs, struct sim_result *result, double *ns)
{
    struct setup setup;
    struct setup_run run;
    setup_init(&setup);
    if (setup_parse(&setup, pairs, true, message, sizeof message) != 0 ||
        setup_make(&run, &setup, message, sizeof message) != 0)
        return -1;
    double begin = now_ns();
    int rc = sim_run(&run.config, &run.load, result, message, sizeof message);
    *ns = now_ns() - begin;
    setup_free(&run);
    if (rc == 0 && result->how != SIM_DONE) {
        snprintf(message, sizeof message, "the run ended: %s", sim_end_name(result->how));
        sim_result_free(result);
        rc = -1;
    }
    return rc;
}

static int run_tree(uint64_t n, uint32_t workers, uint64_t seed, struct sim_result *result, double *ns)
{
    char pairs[300];
    snprintf(pairs, sizeof pairs,
             "load=tree tree=fib:%llu leaf=100ns workers=%u victim=one idle=yield spawn_cost=6ns pop=2ns"
             " join_cost=4ns failed=200ns steal_near=200ns seed=%llu",
             (unsigned long long)n, workers, (unsigned long long)seed);
    return run_pairs(pairs, result, ns);
}

static const char *small_steals(double *mean)
{
    struct sim_result r;
    double ns;
    *mean = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        if (run_tree(SMALL, SMALL_WORKERS, seed, &r, &ns) != 0)
            return message;
        *mean += (double)r.sum.steals / SEEDS;
        sim_result_free(&r);
    }
    return NULL;
}

static const char *take(struct report *report, struct sim_result *r, uint64_t tasks, double ns)
{
    report->tasks = r->completed;
    report->steals = r->sum.steals;
    report->events = r->events;
    report->makespan = r->makespan;
    report->events_per_s = (double)r->events * 1e9 / ns;
    sim_result_free(r);
    if (report->tasks != tasks)
        snprintf(message, sizeof message, "wrong result: %llu tasks, not %llu",
                 (unsigned long long)report->tasks, (unsigned long long)tasks);
    return report->tasks == tasks ? NULL : message;
}

/* ---- cases -------------------------------------------------------------------------------- */

static const char *case_model(uint32_t workers, uint64_t size, struct report *report)
{
    struct sim_result r;
    double ns;
    if (run_tree(size, workers, 1, &r, &ns) != 0)
        return message;
    report->ns_per_op = ns / (double)r.completed;
    const char *wrong = take(report, &r, nodes_of(size), ns);
    return wrong ? wrong : small_steals(&report->small_steals);
}

static const char *case_events(uint32_t workers, uint64_t size, struct report *report)
{
    struct sim_result r;
    double ns;
    char pairs[300];
    snprintf(pairs, sizeof pairs,
             "tasks=%llu arrive=gaps gap=exp:%uns duration=exp:100us workers=%u victim=random attempts=4"
             " idle=park probe=5ns wake=target",
             (unsigned long long)size, 125000 / workers, workers);
    if (run_pairs(pairs, &r, &ns) != 0)
        return message;
    report->ns_per_op = ns / (double)r.events;
    return take(report, &r, size, ns);
}

static const char *case_exact(uint32_t workers, uint64_t size, struct report *report)
{
    struct forktree tree;
    struct forktree_spec spec = {.kind = FORKTREE_FIB, .n = size, .leaf = 100};
    const struct forktree_costs costs = {.spawn = 6, .pop = 2, .join = 4, .failed = 200, .steal = 200};
    struct exact_result r;
    if (forktree_make(&tree, &spec, message, sizeof message) != 0)
        return message;
    double begin = now_ns();
    int rc = exact_run(&tree, &costs, workers, 1, &r, message, sizeof message);
    report->ns_per_op = now_ns() - begin;
    forktree_free(&tree);
    if (rc != 0)
        return message;
    report->tasks = r.tasks;
    report->steals = r.steals;
    report->events = r.events;
    report->makespan = r.makespan;
    report->ms = report->ns_per_op / 1e6;
    return r.tasks == nodes_of(size) ? NULL : "wrong result: another number of tasks";
}

static const struct {
    const char *name;
    bench_case *run;
    uint64_t size, least, most;
} cases[] = {
    {"model", case_model, 23, 2, 40},
    {"events", case_events, 1000000, 1, 1000000000},
    {"exact", case_exact, 45, 2, 80},
};

static void print(const struct report *r, uint64_t size)
{
    printf("ns_per_op=%.4f size=%llu tasks=%llu", r->ns_per_op, (unsigned long long)size,
           (unsigned long long)r->tasks);
    if (r->small_steals > 0)
        printf(" small_steals=%.3f", r->small_steals);
    if (r->events_per_s > 0)
        printf(" events_per_s=%.0f", r->events_per_s);
    if (r->ms > 0)
        printf(" ms=%.3f events=%llu", r->ms, (unsigned long long)r->events);
    printf(" makespan_ns=%lld steals=%llu runtime_version=%s\n", (long long)r->makespan,
           (unsigned long long)r->steals, filch_version());
}

int main(int argc, char **argv)
{
    struct report report = {0};
    int c = (int)(sizeof cases / sizeof *cases);
    while (argc > 1 && --c >= 0 && strcmp(cases[c].name, argv[1]) != 0)
        ;
    if (argc < 4 || argc > 5 || c < 0 || strcmp(argv[3], "default") != 0) {
        fprintf(stderr, "usage: %s model|events|exact WORKERS default [SIZE]\n", argv[0]);
        return 2;
    }
    int workers = atoi(argv[2]);
    uint64_t size = argc > 4 ? strtoull(argv[4], NULL, 10) : cases[c].size;
    if (workers < 2 || workers > 10000 || size < cases[c].least || size > cases[c].most) {
        fprintf(stderr, "%s: no such number of workers or size\n", argv[1]);
        return 2;
    }
    const char *wrong = cases[c].run((uint32_t)workers, size, &report);
    if (wrong) {
        fprintf(stderr, "%s\n", wrong);
        return 1;
    }
    print(&report, size);
    return 0;
}
