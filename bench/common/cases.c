/* cases.c: the cases, their inputs and the answers that are expected of every runtime. */
#include "bench.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPINE_STEPS 2500
#define SPINE_MULTIPLY 6364136223846793005u
#define SPINE_ADD 1442695040888963407u

static const struct bench_case cases[] = {
    {"fib", BENCH_FIB, 36, 28},       /* size: the argument                                  */
    {"tree", BENCH_TREE, 23, 20},     /* levels: 2^size - 1 nodes                            */
    {"nqueens", BENCH_NQUEENS, 13, 11},
    {"uts", BENCH_UTS, 3, 3},         /* number of the tree; 13 is T3L                       */
    {"uts_t1", BENCH_UTS, 1, 1},
    {"uts_t2", BENCH_UTS, 2, 2},
    {"uts_t4", BENCH_UTS, 4, 4},
    {"uts_t5", BENCH_UTS, 5, 5},
    {"uts_t1l", BENCH_UTS, 11, 11},
    {"uts_t3l", BENCH_UTS, 13, 13},
    {"spine", BENCH_SPINE, 10000, 10000}, /* depth of the chain                              */
};

/* Solutions and placed queens (nodes of the search below its root), by board size. */
static const struct {
    int n;
    int64_t solutions, placed;
} boards[] = {
    {8, 92, 2056},        {9, 352, 8393},        {10, 724, 35538},
    {11, 2680, 166925},   {12, 14200, 856188},   {13, 73712, 4674889},
    {14, 365596, 27358552}, {15, 2279184, 171129071},
};

const struct bench_case *bench_case_find(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, name))
            return &cases[i];
    return NULL;
}

int64_t bench_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t spine_sibling(int depth)
{
    uint64_t x = (uint64_t)depth;
    for (int i = 0; i < SPINE_STEPS; i++)
        x = x * SPINE_MULTIPLY + SPINE_ADD;
    return (int64_t)(x >> 32);
}

/* ---- inputs -------------------------------------------------------------------------------- */

static struct bench_tree *tree_fill(struct bench_tree *next, int levels, int64_t *number)
{
    struct bench_tree *self = next++;
    self->value = (*number)++;
    self->left = self->right = NULL;
    if (levels == 1)
        return next;
    self->left = next;
    self->right = next = tree_fill(next, levels - 1, number);
    return tree_fill(next, levels - 1, number);
}

static const char *tree_make(int levels, struct bench_input *in)
{
    if (levels < 1 || levels > 30)
        return "the size of tree is 1 to 30 levels";
    struct bench_tree *nodes = malloc((((size_t)1 << levels) - 1) * sizeof *nodes);
    int64_t number = 0;
    if (!nodes)
        return "no memory for the tree";
    tree_fill(nodes, levels, &number);
    in->tree = nodes; /* lives as long as the process */
    return NULL;
}

const char *bench_case_prepare(const struct bench_case *c, int size, struct bench_input *in)
{
    char name[8] = {'T', (char)('0' + size % 10), size > 10 ? 'L' : 0};

    memset(in, 0, sizeof *in);
    in->size = size;
    if (c->family == BENCH_TREE)
        return tree_make(size, in);
    if (c->family == BENCH_UTS && !(in->uts = uts_find(name)))
        return "no such UTS tree";
    return NULL;
}

/* ---- answers ------------------------------------------------------------------------------- */

static int64_t fib_number(int n)
{
    int64_t a = 0, b = 1;
    while (n-- > 0) {
        int64_t next = a + b;
        a = b;
        b = next;
    }
    return a;
}

/* All siblings, without their loops: `steps` steps of x -> mx + a are one such step. */
static int64_t spine_sum(int depth)
{
    uint64_t m = SPINE_MULTIPLY, a = SPINE_ADD, all_m = 1, all_a = 0;
    int64_t sum = 0;
    for (unsigned steps = SPINE_STEPS; steps; steps >>= 1) {
        if (steps & 1) {
            all_a = all_a * m + a;
            all_m *= m;
        }
        a = a * m + a;
        m *= m;
    }
    for (int i = 1; i <= depth; i++)
        sum += (int64_t)(((uint64_t)i * all_m + all_a) >> 32);
    return sum;
}

static int nqueens_expect(int n, struct bench_answer *answer, int64_t *operations)
{
    for (size_t i = 0; i < sizeof boards / sizeof *boards; i++)
        if (boards[i].n == n) {
            answer->value[0] = boards[i].solutions;
            *operations = boards[i].placed;
            return 1;
        }
    return 0;
}

int bench_case_expect(const struct bench_case *c, const struct bench_input *in,
                      struct bench_answer *answer, int64_t *operations)
{
    int n = in->size;
    memset(answer, 0, sizeof *answer);
    switch (c->family) {
    case BENCH_FIB:
        answer->value[0] = fib_number(n);
        *operations = fib_number(n + 1) - 1; /* forks */
        return n >= 2 && n <= 60;
    case BENCH_TREE:
        *operations = ((int64_t)1 << n) - 1; /* nodes */
        answer->value[0] = *operations * (*operations - 1) / 2;
        return 1;
    case BENCH_NQUEENS:
        return nqueens_expect(n, answer, operations);
    case BENCH_UTS:
        *answer = (struct bench_answer){{in->uts->nodes, in->uts->leaves, in->uts->depth}};
        *operations = in->uts->nodes;
        return 1;
    case BENCH_SPINE:
        answer->value[0] = spine_sum(n);
        *operations = n; /* forks */
        return n > 0;
    default:
        return 0;
    }
}
