/* fork_cases.h: random fork-join trees, costs and numbers of workers. */
#ifndef FILCH_TESTS_FORK_CASES_H
#define FILCH_TESTS_FORK_CASES_H

#include "base/rng.h"
#include "check.h"
#include "sim/forktree.h"

enum { CASE_PROBES = 5000 }; /* in one case, about */

static struct rng case_rng;

static uint32_t case_below(uint32_t n)
{
    return rng_below(&case_rng, n);
}

static struct forktree case_make(struct forktree_spec spec)
{
    struct forktree t;
    char message[160] = "";
    CHECK_MSG(forktree_make(&t, &spec, message, sizeof message) == 0, "%s", message);
    return t;
}

static sim_time case_work(const struct forktree *t, const struct forktree_costs *c)
{
    sim_time work = -1;
    CHECK_EQ(forktree_work(t, c, &work, NULL, 0), 0);
    return work;
}

/* Small numbers give many events in one instant, large ones few. */
static sim_time case_cost(void)
{
    static const uint32_t bound[] = {1, 2, 3, 6, 40, 2000};
    return case_below(bound[case_below(6)]);
}

static struct forktree_costs case_any_costs(void)
{
    struct forktree_costs c = {.exec = case_cost(), .spawn = case_cost(), .pop = case_cost()};
    c.join = case_cost();
    c.failed = 1 + case_cost();
    c.steal = case_cost();
    return c;
}

static uint32_t case_workers(void)
{
    switch (case_below(8)) {
    case 0:
        return 1;
    case 1:
        return 2;
    case 2:
        return 1 + case_below(200);
    default:
        return 2 + case_below(15);
    }
}

/* Each probe is an event of the other engine: `failed` is raised until there are not too many. */
static struct forktree_costs case_costs(const struct forktree *t, uint32_t workers)
{
    struct forktree_costs c = case_any_costs();
    sim_time least = case_work(t, &c) * workers / CASE_PROBES;
    c.failed = c.failed < least ? least : c.failed;
    return c;
}

static struct forktree_spec case_fib(void)
{
    uint32_t most = case_below(8) == 0 ? 19 : 14;
    return (struct forktree_spec){.kind = FORKTREE_FIB, .n = case_below(most + 1)};
}

static struct forktree_spec case_balanced(void)
{
    static const uint32_t depth[] = {12, 9, 6, 5, 4};
    uint32_t arity = 1 + case_below(5);
    return (struct forktree_spec){
        .kind = FORKTREE_BALANCED, .arity = arity, .depth = case_below(depth[arity - 1])};
}

static struct forktree_spec case_spine(void)
{
    uint32_t arity = 1 + case_below(5);
    return (struct forktree_spec){
        .kind = FORKTREE_SPINE, .arity = arity, .inner = case_below(arity), .depth = case_below(150)};
}

static struct forktree_spec case_loop(void)
{
    uint64_t size = 1 + case_below(500);
    return (struct forktree_spec){.kind = FORKTREE_LOOP,
                                  .size = size,
                                  .grain = 1 + case_below(5),
                                  .profile = case_below(2) ? FORKTREE_LINEAR : FORKTREE_HEAVY,
                                  .heavy = size / 3,
                                  .heavy_work = case_cost()};
}

/* 0 to 5 children, every length a draw of its own, some 0. */
static struct forktree case_irregular(uint32_t most)
{
    struct forktree t = {.kind = FORKTREE_RANDOM, .node = calloc(most, sizeof *t.node), .nodes = 1};
    uint32_t range = 1 + case_below(5);
    for (size_t i = 0; i < t.nodes; i++) {
        uint32_t k = case_below(4) == 0 && i > 0 ? 0 : case_below(range + 1);
        struct forktree_node *node = &t.node[i];
        if (t.nodes + k > most)
            k = 0;
        *node = (struct forktree_node){(uint32_t)t.nodes, k, case_cost(), k ? case_cost() : 0};
        t.nodes += k;
    }
    return t;
}

static struct forktree case_binary(void)
{
    struct forktree t = case_make((struct forktree_spec){
        .kind = FORKTREE_RANDOM, .size = 1 + case_below(800), .seed = rng_next(&case_rng)});
    for (size_t n = 0; n < t.nodes; n++) {
        t.node[n].before = case_cost();
        t.node[n].after = case_cost();
    }
    return t;
}

static struct forktree case_of_kind(struct forktree_spec spec)
{
    spec.leaf = case_cost();
    spec.before = case_cost();
    spec.after = case_cost();
    return case_make(spec);
}

enum { CASE_SHAPES = 6 };

static struct forktree case_tree(int shape)
{
    switch (shape) {
    case 0:
        return case_of_kind(case_fib());
    case 1:
        return case_of_kind(case_balanced());
    case 2:
        return case_of_kind(case_spine());
    case 3:
        return case_of_kind(case_loop());
    case 4:
        return case_irregular(1 + case_below(1500));
    default:
        return case_binary();
    }
}

#endif
