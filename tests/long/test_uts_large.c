/* The large published trees, of more than a hundred million nodes; T3L is 17,844 deep. */
#define _GNU_SOURCE
#include "../uts_tasks.h"

static void count_exactly(const char *name, int workers, int bounded)
{
    const struct uts_tree *tree = uts_find(name);
    filch_pool *pool = pool_of(workers, FILCH_JOIN_SUSPEND);
    int64_t begin = filch_clock_ns();
    struct uts_count n = uts_count_on(pool, tree, bounded);
    printf("%s, %d workers, %s: %.1f s\n", name, workers, bounded ? "bounded" : "default",
           (double)(filch_clock_ns() - begin) / 1e9);
    fflush(stdout);
    filch_pool_destroy(pool);
    CHECK_EQ(n.nodes, tree->nodes);
    CHECK_EQ(n.leaves, tree->leaves);
    CHECK_EQ(n.depth, tree->depth);
}

static void on_2_and_16_workers(const char *name)
{
    for (int bounded = 0; bounded < 2; bounded++) {
        count_exactly(name, 2, bounded);
        count_exactly(name, 16, bounded);
    }
}

static void T1L_is_exact_on_2_and_16_workers(void) { on_2_and_16_workers("T1L"); }
static void T3L_is_exact_on_2_and_16_workers(void) { on_2_and_16_workers("T3L"); }

int main(void)
{
    RUN(T1L_is_exact_on_2_and_16_workers);
    RUN(T3L_is_exact_on_2_and_16_workers);
    return check_report();
}
