/* bench.h: what the benchmark programs share.
 *
 * There is one program per runtime and build (filch-bench-gcc-O3, filch-bench-tbb, ...). All have
 * the same main (harness.c), the same cases with the same checks (cases.c), and one file per
 * workload with the same algorithm written for their runtime. `filch bench` runs them.
 */
#ifndef BENCH_H
#define BENCH_H

#include "uts.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum bench_family { BENCH_FIB, BENCH_TREE, BENCH_NQUEENS, BENCH_UTS, BENCH_SPINE, BENCH_FAMILIES };

/* A binary tree in preorder: the left child is the next element of the array. */
struct bench_tree {
    int64_t value;
    struct bench_tree *left, *right; /* both or neither */
};

struct bench_input {
    int size;
    const struct bench_tree *tree;
    const struct uts_tree *uts;
};

struct bench_answer {
    int64_t value[3];
};

typedef struct bench_answer bench_work(const struct bench_input *in);

/* ---- supplied by each runtime -------------------------------------------------------------- */

/* Prepares for a number of workers; null, or what is wrong. */
const char *bench_start(int workers, const char *mode);
void bench_stop(void);
const char *bench_version(void);
bench_work *bench_find(enum bench_family family, const char *mode);

/* ---- supplied by cases.c ------------------------------------------------------------------- */

struct bench_case {
    const char *name;
    enum bench_family family;
    int size;
    int small; /* for runtimes that are too slow for the size: the cost per operation compares */
};

const struct bench_case *bench_case_find(const char *name);

/* Makes the input of a case (untimed). null, or what is wrong. */
const char *bench_case_prepare(const struct bench_case *c, int size, struct bench_input *in);

/* The answer that every runtime must give, and the number of operations (forks or nodes) that the
 * time is divided by. Returns 0 if it is not known for this size. */
int bench_case_expect(const struct bench_case *c, const struct bench_input *in,
                      struct bench_answer *answer, int64_t *operations);

int64_t bench_clock_ns(void);

/* The later sibling of a frame of `spine`: some microseconds of arithmetic in one chain. Not inline:
 * compilers differ in how they shorten the chain, and runtimes are to be compared. */
int64_t spine_sibling(int depth);

#ifdef __cplusplus
}
#endif
#endif
