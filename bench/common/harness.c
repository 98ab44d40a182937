/* harness.c: main of every benchmark program.
 *
 *     filch-bench-NAME CASE WORKERS MODE [SIZE|small]
 *
 * prints one line of key=value: the best time of a few repetitions. Exit status 0; 1 if a result
 * is wrong; 2 if the request makes no sense; the reason is on stderr.
 */
#include "bench.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Enough repetitions for a good minimum, but a slow runtime gets only one. */
#define REPEAT_MAX 10
#define REPEAT_BUDGET_NS 1000000000

struct timing {
    int64_t best_ns;
    int repetitions;
};

static int refuse(const char *what, const char *which)
{
    fprintf(stderr, "%s: %s\n", which, what);
    return 2;
}

static int size_read(const struct bench_case *c, const char *text)
{
    if (!text)
        return c->size;
    return strcmp(text, "small") ? atoi(text) : c->small;
}

static int same(const struct bench_answer *a, const struct bench_answer *b)
{
    return a->value[0] == b->value[0] && a->value[1] == b->value[1] && a->value[2] == b->value[2];
}

/* Returns 0, or 1 at the first wrong answer. */
static int measure(bench_work *work, const struct bench_input *in, const struct bench_answer *want,
                   struct timing *t)
{
    int64_t spent = 0;
    *t = (struct timing){INT64_MAX, 0};
    while (t->repetitions < REPEAT_MAX && spent < REPEAT_BUDGET_NS) {
        int64_t start = bench_clock_ns();
        struct bench_answer got = work(in);
        int64_t ns = bench_clock_ns() - start;
        if (!same(&got, want)) {
            fprintf(stderr, "wrong result: %" PRId64 " %" PRId64 " %" PRId64 ", expected %" PRId64
                            " %" PRId64 " %" PRId64 "\n", got.value[0], got.value[1], got.value[2],
                    want->value[0], want->value[1], want->value[2]);
            return 1;
        }
        t->best_ns = ns < t->best_ns ? ns : t->best_ns;
        t->repetitions++;
        spent += ns;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 5)
        return refuse("usage: CASE WORKERS MODE [SIZE|small]", argv[0]);

    const struct bench_case *c = bench_case_find(argv[1]);
    int workers = atoi(argv[2]);
    const char *mode = argv[3];
    struct bench_input in;
    struct bench_answer want;
    struct timing t;
    int64_t operations;

    if (!c)
        return refuse("no such case", argv[1]);
    if (workers < 1)
        return refuse("the number of workers must be at least 1", argv[2]);
    bench_work *work = bench_find(c->family, mode);
    if (!work)
        return refuse("not a mode of this runtime", mode);

    const char *wrong = bench_case_prepare(c, size_read(c, argc > 4 ? argv[4] : NULL), &in);
    if (wrong || !bench_case_expect(c, &in, &want, &operations))
        return refuse(wrong ? wrong : "the answer for this size is not known", argv[1]);
    if ((wrong = bench_start(workers, mode)))
        return refuse(wrong, mode);

    int status = measure(work, &in, &want, &t);
    bench_stop();
    if (!status)
        printf("ns_per_op=%.4f size=%d operations=%" PRId64 " repetitions=%d result=%" PRId64
               " runtime_version=%s\n",
               (double)t.best_ns / (double)operations, in.size, operations, t.repetitions,
               want.value[0], bench_version());
    return status;
}
