#include "bench_plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A way to run a case. A number of workers outside its bounds is moved to the nearest bound. */
struct contender {
    const char *runtime, *build, *mode, *program;
    const char *size, *quick_size; /* null: the case's own */
    int workers_min, workers_max;
    int required;
};

struct contenders {
    const struct contender *list;
    int n;
    int workers[2]; /* unless told otherwise; 0: none, both 0: what the filter says */
    int compare;    /* the others are compared with filch */
    int rank;       /* and filch with the best of them    */
};

struct entry {
    const char *suite, *name;
    int extra; /* only if asked for by name, or with "all" */
    const struct contenders *run;
};

#define MANY 100000
#define FILCH "filch-bench-"
#define POOL "filch-bench-pool"
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
#define GROUP(name) static const struct contenders name = {.list = name##_list, .n = COUNT(name##_list)}

static const struct contender forkjoin_list[] = {
    {"serial", "gcc-O3", "default", FILCH "serial", NULL, NULL, 1, 1, 1},
    {"filch", "gcc-O3", "default", FILCH "gcc-O3", NULL, NULL, 1, MANY, 1},
    {"filch", "gcc-O3", "bounded", FILCH "gcc-O3", NULL, NULL, 1, MANY, 1},
    {"filch", "gcc-O2", "default", FILCH "gcc-O2", NULL, NULL, 1, MANY, 1},
    {"filch", "gcc-O2", "bounded", FILCH "gcc-O2", NULL, NULL, 1, MANY, 1},
    {"filch", "clang-O3", "default", FILCH "clang-O3", NULL, NULL, 1, MANY, 0},
    {"filch", "clang-O3", "bounded", FILCH "clang-O3", NULL, NULL, 1, MANY, 0},
    {"tbb", "g++-O3", "default", FILCH "tbb", "small", "small", 1, MANY, 0},
    {"libgomp", "gcc-O3", "default", FILCH "gomp", "small", "small", 1, MANY, 0},
    {"libomp", "clang-O3", "default", FILCH "omp", "small", "small", 1, MANY, 0},
};
GROUP(forkjoin);

static const struct contender slots_list[] = {
    {"filch", "gcc-O3", "default", POOL, NULL, NULL, 2, 2, 1},
};
GROUP(slots);

static const struct contender ring_list[] = {
    {"filch", "gcc-O3", "half", POOL, NULL, NULL, 2, 2, 1},
    {"filch", "gcc-O3", "one", POOL, NULL, NULL, 2, 2, 1},
};
GROUP(ring);

static const struct contender deque_list[] = {
    {"filch", "gcc-O3", "lifo", POOL, NULL, NULL, 2, 2, 1},
    {"filch", "gcc-O3", "fifo", POOL, NULL, NULL, 2, 2, 1},
};
GROUP(deque);

static const struct contender cpu_list[] = {
    {"filch", "gcc-O3", "default", POOL, NULL, "1000", 1, MANY, 1}, /* milliseconds */
};
GROUP(cpu);

static const struct contender wakeup_list[] = {
    {"filch", "gcc-O3", "default", POOL, NULL, "20", 1, MANY, 1}, /* wake-ups */
};
GROUP(wakeup);

static const struct contender scope_list[] = {
    {"filch", "gcc-O3", "default", POOL, NULL, "10000", 1, MANY, 1}, /* tasks */
};
GROUP(scope);

static const struct contender baselines_list[] = {
    {"filch", "gcc-O3", "ring", POOL, NULL, "5000", 1, MANY, 1}, /* jobs */
    {"filch", "gcc-O3", "shared", POOL, NULL, "5000", 1, MANY, 1},
    {"filch", "gcc-O3", "private", POOL, NULL, "5000", 1, MANY, 1},
    {"filch", "gcc-O3", "locked", POOL, NULL, "5000", 1, MANY, 1},
    {"filch", "gcc-O3", "trylock", POOL, NULL, "5000", 1, MANY, 1},
};
GROUP(baselines);

/* One definition of each case for all: bench/tasks/cases.h. */
static const struct contender tasks_list[] = {
    {"filch", "gcc-O3", "default", FILCH "tasks", NULL, "1000", 1, MANY, 1},
    {"go", "go", "default", FILCH "go", NULL, "1000", 1, MANY, 0},
    {"tokio", "rustc-O3", "default", FILCH "tokio", NULL, "1000", 1, MANY, 0},
};
static const struct contenders tasks_on_1 = {tasks_list, COUNT(tasks_list), {1, 0}, 1, 0};
static const struct contenders tasks_on_2 = {tasks_list, COUNT(tasks_list), {2, 0}, 1, 0};
static const struct contenders tasks_on_both = {tasks_list, COUNT(tasks_list), {1, 2}, 1, 0};

/* Tasks that only sleep need no stack either: beside the peers whose tasks never have one. */
static const struct contender timers_list[] = {
    {"filch", "gcc-O3", "default", FILCH "tasks", NULL, "1000", 1, MANY, 1},
    {"filch", "gcc-O3", "async", FILCH "tasks", NULL, "1000", 1, MANY, 0},
    {"go", "go", "default", FILCH "go", NULL, "1000", 1, MANY, 0},
    {"tokio", "rustc-O3", "default", FILCH "tokio", NULL, "1000", 1, MANY, 0},
};
static const struct contenders timers = {timers_list, COUNT(timers_list), {2, 0}, 1, 0};

static const struct contender http_list[] = {
    {"filch", "gcc-O3", "default", FILCH "tasks", NULL, "1", 1, MANY, 0}, /* seconds; needs wrk */
    {"go", "go", "default", FILCH "go", NULL, "1", 1, MANY, 0},
    {"tokio", "rustc-O3", "default", FILCH "tokio", NULL, "1", 1, MANY, 0},
    {"epoll", "gcc-O3", "default", FILCH "epoll", NULL, "1", 1, MANY, 0},
};
static const struct contenders http = {http_list, COUNT(http_list), {2, 0}, 1, 0};

/* One definition of each case for all: bench/par/par_bench.h. */
static const struct contender par_list[] = {
    {"serial", "g++-O3", "default", FILCH "par-serial", NULL, "small", 1, 1, 0},
    {"filch", "gcc-O3", "default", FILCH "par", NULL, "small", 1, MANY, 1},
    {"filch", "clang-O3", "default", FILCH "par-clang", NULL, "small", 1, MANY, 0},
    {"tbb", "g++-O3", "default", FILCH "par-tbb", NULL, "small", 1, MANY, 0},
    {"gomp", "g++-O3", "default", FILCH "par-gomp", NULL, "small", 1, MANY, 0},
    {"omp", "clang-O3", "default", FILCH "par-omp", NULL, "small", 1, MANY, 0},
    {"rayon", "rustc-O3", "default", FILCH "par-rayon", NULL, "small", 1, MANY, 0},
};
static const struct contenders par = {par_list, COUNT(par_list), {1, 2}, 1, 1};
static const struct contenders par_scan = {par_list, COUNT(par_list) - 1, {1, 2}, 1, 1}; /* Rayon has none */

/* Simulators; the other runtime is the same model with a heap (bench/sim/steal.py). */
static const struct contender sim_model_list[] = {
    {"filch", "gcc-O3", "default", FILCH "sim", NULL, "20", 2, MANY, 1},
    {"python", "python3", "default", FILCH "sim-python", NULL, "20", 2, MANY, 0},
};
static const struct contenders sim_model = {sim_model_list, COUNT(sim_model_list), {16, 1024}, 1, 0};
static const struct contender sim_events_list[] = {
    {"filch", "gcc-O3", "default", FILCH "sim", NULL, "20000", 2, MANY, 1}, /* tasks */
};
static const struct contenders sim_events = {sim_events_list, COUNT(sim_events_list), {16, 1024}, 0, 0};
static const struct contender sim_exact_list[] = {
    {"filch", "gcc-O3", "default", FILCH "sim", NULL, "30", 2, MANY, 1},
};
static const struct contenders sim_exact = {sim_exact_list, COUNT(sim_exact_list), {1024, 0}, 0, 0};

static const struct entry entries[] = {
    {"forkjoin", "fib", 0, &forkjoin},
    {"forkjoin", "tree", 0, &forkjoin},
    {"forkjoin", "nqueens", 0, &forkjoin},
    {"forkjoin", "uts", 0, &forkjoin},
    {"forkjoin", "spine", 0, &forkjoin},
    {"forkjoin", "uts_t1", 1, &forkjoin},
    {"forkjoin", "uts_t2", 1, &forkjoin},
    {"forkjoin", "uts_t4", 1, &forkjoin},
    {"forkjoin", "uts_t5", 1, &forkjoin},
    {"forkjoin", "uts_t1l", 1, &forkjoin},
    {"forkjoin", "uts_t3l", 1, &forkjoin},
    {"steal", "slots_50", 0, &slots},
    {"steal", "slots_100", 0, &slots},
    {"steal", "slots_200", 0, &slots},
    {"steal", "ring_50", 0, &ring},
    {"steal", "ring_100", 0, &ring},
    {"steal", "ring_200", 0, &ring},
    {"steal", "deque_one_50", 0, &deque},
    {"steal", "deque_one_100", 0, &deque},
    {"steal", "deque_one_200", 0, &deque},
    {"steal", "deque_batch_50", 0, &deque},
    {"steal", "deque_batch_100", 0, &deque},
    {"steal", "deque_batch_200", 0, &deque},
    {"idle", "cpu", 0, &cpu},
    {"idle", "wakeup", 0, &wakeup},
    {"scope", "cancel", 0, &scope},
    {"scope", "close", 0, &scope},
    {"baselines", "balanced", 0, &baselines},
    {"baselines", "one_worker", 0, &baselines},
    {"tasks", "spawn", 0, &tasks_on_2},
    {"tasks", "spawn_join", 0, &tasks_on_2},
    {"tasks", "skynet", 0, &tasks_on_2},
    {"tasks", "yield", 0, &tasks_on_1},
    {"tasks", "pingpong", 0, &tasks_on_both},
    {"tasks", "chan_1_1", 0, &tasks_on_2},
    {"tasks", "chan_4_4", 0, &tasks_on_2},
    {"tasks", "mutex", 0, &tasks_on_2},
    {"tasks", "wake", 0, &tasks_on_2},
    {"tasks", "timer_p50", 0, &timers},
    {"tasks", "timer_p99", 0, &timers},
    {"tasks", "timer_cpu", 0, &timers},
    {"tasks", "latency_in", 0, &tasks_on_2},
    {"tasks", "latency_out", 0, &tasks_on_2},
    {"tasks", "http_cpu_64", 0, &http},
    {"tasks", "http_cpu_1000", 0, &http},
    {"par", "for_light", 0, &par},
    {"par", "reduce", 0, &par},
    {"par", "scan", 0, &par_scan},
    {"par", "find_any", 0, &par},
    {"par", "sort_int", 0, &par},
    {"par", "sort_cmp", 0, &par},
    {"par", "for_irregular", 0, &par},
    {"par", "for_tiny", 0, &par},
    {"sim", "model", 0, &sim_model},
    {"sim", "events", 0, &sim_events},
    {"sim", "exact", 0, &sim_exact},
};

/* What filch's figure, divided by the peer's, should not exceed; 0: no such wish. */
static const struct bar {
    const char *name;
    int workers;
    double go, tokio;
} bars[] = {
    {"spawn", 2, 0.20, 0.35},       {"spawn_join", 2, 0.25, 0.45},
    {"skynet", 2, 0.12, 0.30},      {"yield", 1, 0.20, 0.15},
    {"pingpong", 1, 0.28, 0.40},    {"pingpong", 2, 0.35, 0.35},
    {"chan_1_1", 2, 0.6, 0.4},      {"chan_4_4", 2, 0.8, 0.4},
    {"mutex", 2, 0.7, 0.2},         {"wake", 2, 0.35, 0.8},
    {"timer_p50", 2, 0.3, 0.2},     {"timer_p99", 2, 0.3, 0.5},
    {"timer_cpu", 2, 0.4, 0.8},     {"latency_in", 2, 0.1, 0.2},
    {"latency_out", 2, 0.2, 1.0},   {"http_cpu_64", 2, 0.7, 1.0},
    {"http_cpu_1000", 2, 0.7, 1.0},
};

#define PYTHON_BAR 0.20 /* for any number of simulated workers */

/* ---- lists of words ------------------------------------------------------------------------ */

static int list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, word, length) && (at[length] == ',' || !at[length]))
            return 1;
    return 0;
}

static int wanted(const char *list, const char *word)
{
    return !list || list_has(list, word);
}

/* The first word that no entry has; in static storage. */
static const char *list_unknown(const char *list, const char *(*name)(const struct entry *e))
{
    static char word[64];
    while (list && *list) {
        size_t length = strcspn(list, ",");
        int known = length == 3 && !strncmp(list, "all", 3);
        for (int i = 0; i < COUNT(entries); i++)
            known |= strlen(name(&entries[i])) == length &&
                     !strncmp(name(&entries[i]), list, length);
        if (!known) {
            snprintf(word, sizeof word, "%.*s", (int)length, list);
            return word;
        }
        list += length + (list[length] == ',');
    }
    return NULL;
}

static const char *entry_suite(const struct entry *e)
{
    return e->suite;
}

static const char *entry_case(const struct entry *e)
{
    return e->name;
}

const char *plan_unknown_suite(const char *list)
{
    return list_unknown(list, entry_suite);
}

const char *plan_unknown_case(const char *list)
{
    return list_unknown(list, entry_case);
}

void plan_list(void)
{
    const char *suite = "";
    for (int i = 0; i < COUNT(entries); i++) {
        if (strcmp(suite, entries[i].suite))
            printf("%s  %-10s", *suite ? "\n" : "", entries[i].suite);
        suite = entries[i].suite;
        printf(entries[i].extra ? " (%s)" : " %s", entries[i].name);
    }
    printf("\n");
}

/* ---- the plan ------------------------------------------------------------------------------ */

static int entry_wanted(const struct entry *e, const struct plan_filter *f)
{
    if (!list_has(f->suites, "all") && !list_has(f->suites, e->suite))
        return 0;
    if (!f->cases)
        return !e->extra;
    return list_has(f->cases, "all") || list_has(f->cases, e->name);
}

static int contender_wanted(const struct contender *c, const struct plan_filter *f)
{
    return wanted(f->runtimes, c->runtime) && wanted(f->modes, c->mode) &&
           wanted(f->builds, c->build);
}

static double bar_find(const char *name, const char *runtime, int workers)
{
    for (int i = 0; i < COUNT(bars); i++)
        if (!strcmp(bars[i].name, name) && bars[i].workers == workers)
            return !strcmp(runtime, "go") ? bars[i].go : !strcmp(runtime, "tokio") ? bars[i].tokio : 0;
    return strcmp(runtime, "python") ? 0 : PYTHON_BAR;
}

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static int row_add(struct plan *p, const struct entry *e, const struct contender *c, int workers,
                   int quick)
{
    if ((p->n & (p->n - 1)) == 0) { /* full at each power of two: the room doubles */
        size_t room = p->n ? (size_t)p->n * 2 : 1;
        struct plan_row *rows = realloc(p->rows, room * sizeof *rows);
        if (!rows)
            return -1;
        p->rows = rows;
    }
    struct plan_row *row = memset(&p->rows[p->n++], 0, sizeof *row);
    row->suite = e->suite;
    row->name = e->name;
    row->runtime = c->runtime;
    row->build = c->build;
    row->mode = c->mode;
    row->program = c->program;
    row->size = quick ? c->quick_size : c->size;
    row->workers = workers;
    row->required = c->required;
    row->compare = e->run->compare && strcmp(c->runtime, "filch");
    row->rank = e->run->rank && !row->compare;
    if (row->compare)
        row->bar = bar_find(e->name, c->runtime, workers);
    return 0;
}

/* A row for each number of workers, each number once. */
static int contender_add(struct plan *p, const struct entry *e, const struct contender *c,
                         const struct plan_filter *f)
{
    int own = e->run->workers[0] && !f->workers_asked, first = p->n;
    const int *list = own ? e->run->workers : f->workers;
    for (int i = 0; i < (own ? 2 : f->worker_count); i++) {
        int workers = clamp(list[i], c->workers_min, c->workers_max), seen = own && !list[i];
        for (int r = first; r < p->n; r++)
            seen |= p->rows[r].workers == workers;
        if (!seen && row_add(p, e, c, workers, f->quick))
            return -1;
    }
    return 0;
}

int plan_make(struct plan *p, const struct plan_filter *f)
{
    *p = (struct plan){0};
    for (int i = 0; i < COUNT(entries); i++) {
        const struct contenders *run = entries[i].run;
        if (!entry_wanted(&entries[i], f))
            continue;
        for (int c = 0; c < run->n; c++)
            if (contender_wanted(&run->list[c], f) &&
                contender_add(p, &entries[i], &run->list[c], f)) {
                plan_free(p);
                return -1;
            }
    }
    return 0;
}

void plan_free(struct plan *p)
{
    free(p->rows);
    *p = (struct plan){0};
}
