/* main.c: main of every program of `filch bench par`.
 *
 *     filch-bench-par-NAME CASE WORKERS default [SIZE|small]
 *
 * prints one line of key=value: the best time of a few repetitions. Exit status 0; 1 if a result is
 * wrong; 2 if the request makes no sense; the reason is on stderr.
 */
#include "par_bench.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Enough repetitions for a good minimum, but a slow case gets only one. */
#define REPEAT_MAX 5
#define REPEAT_BUDGET_NS 600000000
#define LARGE_PAGE ((size_t)2 << 20)

static const struct par_case *const cases[] = {
    &par_for_light, &par_reduce, &par_scan, &par_find_any, &par_sort_int, &par_sort_cmp,
    &par_for_irregular, &par_for_tiny,
};

struct timing {
    int64_t best_ns;
    int repetitions, way;
};

/* One repetition, inside the runtime. */
struct shot {
    const struct par_case *c;
    struct par_data *d;
    int way;
    int64_t ns;
};

/* ---- what cases need ------------------------------------------------------------------------ */

void *par_alloc(size_t n, size_t size)
{
    size_t bytes = (n * size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    void *p = aligned_alloc(LARGE_PAGE, bytes);
    if (!p) {
        fprintf(stderr, "no memory for %zu elements\n", n);
        exit(2);
    }
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

uint64_t par_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static int64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- a case --------------------------------------------------------------------------------- */

static void fire(void *arg)
{
    struct shot *s = arg;
    int64_t start = clock_ns();
    s->c->run(s->d, s->way);
    s->ns = clock_ns() - start;
}

/* Adds repetitions of one way to the timing. Returns 0, or 1 at the first wrong result. */
static int measure(struct shot *s, struct timing *t)
{
    int64_t spent = 0;
    for (int i = 0; i < REPEAT_MAX && spent < REPEAT_BUDGET_NS; i++) {
        if (s->c->reset)
            s->c->reset(s->d);
        par_runtime.run(fire, s);
        if (!s->c->good(s->d)) {
            fprintf(stderr, "wrong result: %s, size %zu, repetition %d\n", s->c->name, s->d->n, i + 1);
            return 1;
        }
        t->repetitions++;
        spent += s->ns;
        if (s->ns < t->best_ns) {
            t->best_ns = s->ns;
            t->way = s->way;
        }
    }
    return 0;
}

static int measure_ways(const struct par_case *c, struct par_data *d, struct timing *t)
{
    for (int way = 0; way < c->ways; way++) {
        struct shot s = {c, d, way, 0};
        if (c->there(&par_runtime, way) && measure(&s, t))
            return 1;
    }
    return 0;
}

static void answer(const struct par_case *c, const struct par_data *d, const struct timing *t)
{
    size_t operations = c->operations ? c->operations(d) : d->n;
    printf("ns_per_op=%.4f size=%zu operations=%zu repetitions=%d", (double)t->best_ns / (double)operations,
           d->n, operations, t->repetitions);
    if (c->ways > 1 && c->there(&par_runtime, 1))
        printf(" way=%d", t->way);
    printf(" runtime_version=%s\n", par_runtime.version());
}

/* ---- the request ---------------------------------------------------------------------------- */

static int refuse(const char *what, const char *which)
{
    fprintf(stderr, "%s: %s\n", which, what);
    return 2;
}

static const struct par_case *case_find(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i]->name, name))
            return cases[i];
    return NULL;
}

static size_t size_read(const struct par_case *c, const char *text)
{
    if (!text)
        return c->size;
    return strcmp(text, "small") ? (size_t)strtoull(text, NULL, 10) : c->small;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 5 || strcmp(argv[3], "default"))
        return refuse("usage: CASE WORKERS default [SIZE|small]", argv[0]);

    const struct par_case *c = case_find(argv[1]);
    int workers = atoi(argv[2]);
    struct timing t = {INT64_MAX, 0, 0};
    struct par_data d = {0};
    const char *wrong;

    if (!c || !c->there(&par_runtime, 0))
        return refuse(c ? "not in this runtime" : "no such case", argv[1]);
    if (workers < 1)
        return refuse("the number of workers must be at least 1", argv[2]);
    d.n = size_read(c, argc > 4 ? argv[4] : NULL);
    if (d.n < 1 || d.n > c->most)
        return refuse("the case has no such size", argv[4]);
    if ((wrong = c->make(&d)) || (wrong = par_runtime.start(workers)))
        return refuse(wrong, argv[1]);

    int status = measure_ways(c, &d, &t);
    par_runtime.stop();
    if (!status)
        answer(c, &d, &t);
    return status;
}
