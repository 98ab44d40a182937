/* test_sim_forktree.c: counts, work and span against closed forms; every kind is what its comment says. */
#include "sim/forktree.h"
#include "base/rng.h"
#include "sim/dist.h"
#include "check.h"

#include <errno.h>
#include <math.h>

static const struct forktree_costs costs = {
    .exec = 3, .spawn = 6, .pop = 2, .join = 4, .failed = 50, .steal = 200};

static struct forktree made(struct forktree_spec spec)
{
    struct forktree t;
    char message[200] = "";
    CHECK_MSG(forktree_make(&t, &spec, message, sizeof message) == 0, "%s", message);
    return t;
}

static sim_time work_of(const struct forktree *t)
{
    sim_time work = -1;
    CHECK_EQ(forktree_work(t, &costs, &work, NULL, 0), 0);
    return work;
}

static sim_time span_of(const struct forktree *t)
{
    sim_time span = -1;
    CHECK_EQ(forktree_span(t, &costs, &span, NULL, 0), 0);
    return span;
}

/* Work of the nodes alone, and their number, by a walk along the children. */
static sim_time walk(const struct forktree *t, uint64_t node, uint64_t *nodes)
{
    uint32_t k = forktree_children(t, node);
    sim_time sum = forktree_before(t, node) + (k ? forktree_after(t, node) : 0);
    ++*nodes;
    for (uint32_t i = 0; i < k; i++)
        sum += walk(t, forktree_child(t, node, i), nodes);
    return sum;
}

static sim_time pure_work(const struct forktree *t)
{
    static const struct forktree_costs none = {.failed = 1};
    sim_time work = -1;
    CHECK_EQ(forktree_work(t, &none, &work, NULL, 0), 0);
    return work;
}

static void check_walk(const struct forktree *t)
{
    uint64_t nodes = 0;
    CHECK_EQ(walk(t, t->root, &nodes), pure_work(t));
    CHECK_EQ(nodes, forktree_count(t));
}

/* ---- computed kinds ----------------------------------------------------------------------- */

static void fib_is_counted_in_closed_form(void)
{
    uint64_t fib[92] = {0, 1};
    for (int i = 2; i < 92; i++)
        fib[i] = fib[i - 1] + fib[i - 2];
    for (uint64_t n = 0; n <= FORKTREE_FIB_MOST; n++) {
        struct forktree t = made((struct forktree_spec){.kind = FORKTREE_FIB, .n = n});
        CHECK(forktree_count(&t) == 2 * fib[n + 1] - 1);
    }
}

/* Each of the fib(n + 1) leaves takes exec + leaf, each of the fib(n + 1) - 1 inner nodes the rest. */
static void work_of_fib_is_a_sum_over_its_nodes(void)
{
    struct forktree t = made(
        (struct forktree_spec){.kind = FORKTREE_FIB, .n = 30, .leaf = 10, .before = 5, .after = 7});
    sim_time leaves = 1346269;
    CHECK_EQ(work_of(&t), 2 + leaves * (3 + 10) + (leaves - 1) * (3 + 5 + 6 + 2 + 4 + 7));
    sim_time last = 2 + 3 + 10; /* fib(0) in fib(2), which is taken from a deque */
    CHECK_EQ(span_of(&t), 2 + 29 * (3 + 5 + 6 + 4 + 7) + last);
}

static void a_balanced_tree_has_its_closed_forms(void)
{
    for (uint32_t arity = 1; arity <= 5; arity++) {
        struct forktree t = made((struct forktree_spec){
            .kind = FORKTREE_BALANCED, .arity = arity, .depth = 7, .leaf = 10, .before = 5, .after = 7});
        sim_time leaves = 1, inner = 0, more = arity - 1;
        for (int i = 0; i < 7; i++) {
            inner += leaves;
            leaves *= arity;
        }
        CHECK_EQ(forktree_count(&t), leaves + inner);
        CHECK_EQ(work_of(&t), 2 + leaves * 13 + inner * (3 + 5 + more * (6 + 2) + 4 + 7));
        sim_time taken = more ? 2 : 0; /* the path through a child that is popped */
        CHECK_EQ(span_of(&t), 2 + 7 * (3 + 5 + more * 6 + taken + 4 + 7) + 13);
        check_walk(&t);
    }
}

static void a_steal_that_is_cheaper_than_a_pop_counts_in_the_span(void)
{
    struct forktree t = made((struct forktree_spec){.kind = FORKTREE_BALANCED, .arity = 2, .depth = 1});
    struct forktree_costs c = {.pop = 9, .steal = 4};
    sim_time span;
    CHECK_EQ(forktree_span(&t, &c, &span, NULL, 0), 0);
    CHECK_EQ(span, 9 + 4);
}

static struct forktree spine(uint32_t arity, uint32_t inner, uint64_t depth)
{
    return made((struct forktree_spec){.kind = FORKTREE_SPINE, .arity = arity, .inner = inner,
                                       .depth = depth, .leaf = 10, .before = 5, .after = 7});
}

/* The same tree in arrays: node 2 and up as in the spine, leaves of their own. */
static struct forktree spine_in_arrays(const struct forktree *s)
{
    struct forktree t = {.kind = FORKTREE_RANDOM, .nodes = 1};
    uint64_t *number = calloc(forktree_count(s), sizeof *number); /* of each array element, in the spine */
    t.node = calloc(forktree_count(s), sizeof *t.node);
    number[0] = s->root;
    for (size_t i = 0; i < t.nodes; i++) {
        uint32_t k = forktree_children(s, number[i]);
        t.node[i] = (struct forktree_node){(uint32_t)t.nodes, k, forktree_before(s, number[i]),
                                           k ? forktree_after(s, number[i]) : 0};
        for (uint32_t j = 0; j < k; j++)
            number[t.nodes++] = forktree_child(s, number[i], j);
    }
    free(number);
    return t;
}

static void a_spine_is_the_same_as_one_in_arrays(void)
{
    for (uint32_t arity = 1; arity <= 4; arity++) {
        for (uint32_t i = 0; i < arity * 6; i++) {
            struct forktree s = spine(arity, i % arity, i / arity), t = spine_in_arrays(&s);
            CHECK_EQ(t.nodes, forktree_count(&s));
            CHECK_EQ(work_of(&s), work_of(&t));
            CHECK_EQ(span_of(&s), span_of(&t));
            check_walk(&s);
            check_walk(&t);
            forktree_free(&t);
        }
    }
}

static void sums_are_the_work_of_subtrees(void)
{
    struct forktree s = spine(3, 1, 20);
    struct forktree_sums sums;
    CHECK_EQ(forktree_sums_make(&sums, &s, &costs, NULL, 0), 0);
    for (uint64_t depth = 0; depth <= 20; depth++) {
        struct forktree t = spine(3, 1, depth);
        CHECK_EQ(forktree_sum(&sums, depth), work_of(&t) - costs.pop);
    }
    forktree_sums_free(&sums);
}

static void a_spine_of_a_million_needs_no_stack(void)
{
    struct forktree s = spine(2, 0, 1000000);
    CHECK_EQ(forktree_count(&s), 2000001);
    CHECK_EQ(work_of(&s), 2 + 13 + 1000000LL * (3 + 5 + 6 + 2 + 13 + 4 + 7));
    struct forktree t = spine_in_arrays(&s);
    CHECK_EQ(work_of(&t), work_of(&s));
    CHECK_EQ(span_of(&t), span_of(&s));
    forktree_free(&t);
}

/* ---- explicit kinds ----------------------------------------------------------------------- */

static void check_order(const struct forktree *t)
{
    uint32_t next = 1;
    for (size_t i = 0; i < t->nodes; i++) {
        if (t->node[i].children == 0)
            continue;
        CHECK(t->node[i].first_child > i);
        CHECK_EQ(t->node[i].first_child, next);
        next += t->node[i].children;
    }
    CHECK_EQ(next, t->nodes);
}

static void a_random_tree_has_the_nodes_asked_for(void)
{
    for (uint64_t size = 1; size < 300; size++) {
        struct forktree t = made((struct forktree_spec){
            .kind = FORKTREE_RANDOM, .size = size, .seed = size, .leaf = 10, .before = 5, .after = 7});
        CHECK_EQ(forktree_count(&t), size);
        check_order(&t);
        check_walk(&t);
        for (size_t i = 0; i < t.nodes; i++)
            CHECK(t.node[i].children <= 2);
        forktree_free(&t);
    }
}

static void the_seed_decides_a_random_tree(void)
{
    struct forktree_spec spec = {.kind = FORKTREE_RANDOM, .size = 1000, .seed = 1};
    struct forktree a = made(spec), b = made(spec);
    spec.seed = 2;
    struct forktree c = made(spec);
    CHECK(memcmp(a.node, b.node, a.nodes * sizeof *a.node) == 0);
    CHECK(memcmp(a.node, c.node, a.nodes * sizeof *a.node) != 0);
    forktree_free(&a);
    forktree_free(&b);
    forktree_free(&c);
}

static struct dist dist(const char *text)
{
    struct dist d;
    char message[200] = "";
    CHECK_MSG(dist_parse(&d, text, message, sizeof message) == 0, "%s", message);
    return d;
}

static void lengths_are_draws_of_the_distribution(void)
{
    struct dist d = dist("uniform:10ns..20ns");
    struct forktree t = made((struct forktree_spec){
        .kind = FORKTREE_RANDOM, .size = 20001, .seed = 5, .lengths = &d, .leaf = 1000});
    size_t draws = t.nodes;
    for (size_t i = 0; i < t.nodes; i++) {
        draws += t.node[i].children > 0;
        CHECK(t.node[i].before >= 10 && t.node[i].before <= 20);
        CHECK(t.node[i].children ? t.node[i].after >= 10 && t.node[i].after <= 20 : t.node[i].after == 0);
    }
    double mean = (double)pure_work(&t) / (double)draws;
    CHECK(mean > 14.7 && mean < 15.3);
    forktree_free(&t);
    dist_free(&d);
}

static struct forktree_spec geometric(enum forktree_uts law, uint64_t seed)
{
    return (struct forktree_spec){.kind = FORKTREE_UTS, .uts = law, .branching = 4, .depth = 6, .seed = seed,
                                  .leaf = 10, .before = 5, .after = 7};
}

/* Of 400 trees. To be near the sum over the levels of the product of the means above. */
static double mean_nodes(enum forktree_uts law)
{
    double sum = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct forktree t = made(geometric(law, seed));
        check_order(&t);
        check_walk(&t);
        sum += (double)t.nodes / 400;
        forktree_free(&t);
    }
    return sum;
}

static void geometric_trees_have_the_mean_of_their_law(void)
{
    double fixed = mean_nodes(FORKTREE_UTS_FIXED), linear = mean_nodes(FORKTREE_UTS_LINEAR);
    double level = 1, expected = 1;
    CHECK_MSG(fixed > 5461 * 0.8 && fixed < 5461 * 1.2, "mean %g, not 5461", fixed);
    for (int i = 0; i < 6; i++)
        expected += level *= 4.0 * (6 - i) / 6;
    CHECK_MSG(linear > expected * 0.8 && linear < expected * 1.2, "mean %g, not %g", linear, expected);
}

static uint64_t hash_of(const struct forktree *t)
{
    uint64_t h = 0;
    for (size_t i = 0; i < t->nodes; i++)
        h = rng_mix(h ^ t->node[i].children) + (uint64_t)t->node[i].before;
    return h;
}

/* The same trees with every compiler: a change of these numbers changes what users' seeds stand for. */
static void a_seed_stands_for_one_tree(void)
{
    struct dist d = dist("exp:1us");
    struct forktree t = made(geometric(FORKTREE_UTS_LINEAR, 1));
    CHECK_EQ(hash_of(&t), -7606584370120240831);
    forktree_free(&t);
    t = made((struct forktree_spec){.kind = FORKTREE_RANDOM, .size = 1000, .seed = 1, .lengths = &d});
    CHECK_EQ(hash_of(&t), 4859243676692433751);
    forktree_free(&t);
    dist_free(&d);
}

/* 1 + b / (1 - m q) nodes on average. */
static void binomial_trees_have_the_mean_of_their_law(void)
{
    double sum = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct forktree t = made((struct forktree_spec){.kind = FORKTREE_UTS, .uts = FORKTREE_UTS_BINOMIAL,
                                                        .branching = 200, .arity = 4, .chance = 0.2,
                                                        .seed = seed});
        CHECK_EQ(t.node[0].children, 200);
        for (size_t i = 1; i < t.nodes; i++)
            CHECK(t.node[i].children == 0 || t.node[i].children == 4);
        sum += (double)t.nodes / 40;
        forktree_free(&t);
    }
    CHECK_MSG(sum > 1001 * 0.9 && sum < 1001 * 1.1, "mean %g, not 1001", sum);
}

static void a_loop_has_all_its_work_in_leaves_within_the_grain(void)
{
    struct forktree_spec spec = {.kind = FORKTREE_LOOP, .leaf = 10};
    for (spec.size = 1; spec.size < 200; spec.size += 7) {
        for (spec.grain = 1; spec.grain < 300; spec.grain *= 3) {
            struct forktree t = made(spec);
            CHECK_EQ(pure_work(&t), 10 * (sim_time)spec.size);
            check_order(&t);
            for (size_t i = 0; i < t.nodes; i++)
                CHECK(t.node[i].children == 2 || (t.node[i].before > 0 &&
                                                  (uint64_t)t.node[i].before <= 10 * spec.grain));
            forktree_free(&t);
        }
    }
}

/* In order of the iterations, of a tree with one iteration in each leaf. */
static size_t leaves_in_order(const struct forktree *t, uint64_t node, sim_time *to, size_t n)
{
    uint32_t k = forktree_children(t, node);
    if (k == 0)
        to[n++] = forktree_before(t, node);
    for (uint32_t i = 0; i < k; i++)
        n = leaves_in_order(t, forktree_child(t, node, i), to, n);
    return n;
}

static void profiles_give_each_iteration_its_time(void)
{
    sim_time at[99];
    struct forktree_spec spec = {.kind = FORKTREE_LOOP, .leaf = 50, .size = 99, .grain = 1};
    spec.profile = FORKTREE_LINEAR;
    struct forktree t = made(spec);
    CHECK_EQ(leaves_in_order(&t, 0, at, 0), 99);
    for (int i = 0; i < 99; i++)
        CHECK_EQ(at[i], i + 1);
    forktree_free(&t);
    spec.profile = FORKTREE_HEAVY;
    spec.heavy = 42;
    spec.heavy_work = 1000;
    t = made(spec);
    CHECK_EQ(leaves_in_order(&t, 0, at, 0), 99);
    for (int i = 0; i < 99; i++)
        CHECK_EQ(at[i], i == 42 ? 1000 : 50);
    forktree_free(&t);
}

static void a_linear_loop_loses_nothing_by_rounding(void)
{
    for (uint64_t grain = 1; grain < 1000; grain *= 3) {
        struct forktree t = made((struct forktree_spec){
            .kind = FORKTREE_LOOP, .leaf = 7, .size = 1000, .grain = grain, .profile = FORKTREE_LINEAR});
        CHECK_EQ(pure_work(&t), 7000);
        forktree_free(&t);
    }
}

static void an_uneven_loop_draws_each_iteration(void)
{
    struct dist d = dist("uniform:10ns..20ns");
    struct forktree t = made((struct forktree_spec){.kind = FORKTREE_LOOP, .lengths = &d, .size = 10000,
                                                    .grain = 1, .profile = FORKTREE_UNEVEN, .seed = 1});
    double mean = (double)pure_work(&t) / 10000;
    CHECK(mean > 14.7 && mean < 15.3);
    forktree_free(&t);
    dist_free(&d);
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void refused(struct forktree_spec spec, const char *why)
{
    struct forktree t;
    char message[200] = "";
    CHECK_EQ(forktree_make(&t, &spec, message, sizeof message), -EINVAL);
    CHECK_STR(message, why);
    CHECK(t.node == NULL);
    CHECK_EQ(forktree_make(&t, &spec, NULL, 0), -EINVAL);
}

#define REFUSED(why, ...) refused((struct forktree_spec){__VA_ARGS__}, why)

static void times_out_of_range_are_refused(void)
{
    REFUSED("work of a leaf: a time is 0 to 2^59 ns, not -1", .leaf = -1);
    REFUSED("work before the fork: a time is 0 to 2^59 ns, not 576460752303423489",
            .before = SIM_TIME_MAX + 1);
    REFUSED("work after the join: a time is 0 to 2^59 ns, not 9223372036854775807", .after = SIM_NEVER);
    REFUSED("work of the heavy iteration: a time is 0 to 2^59 ns, not -5", .kind = FORKTREE_LOOP, .size = 4,
            .grain = 1, .profile = FORKTREE_HEAVY, .heavy_work = -5);
}

static void computed_trees_out_of_range_are_refused(void)
{
    REFUSED("fib: 0 to 90, not 91", .n = 91);
    REFUSED("arity: 1 to 65536, not 0", .kind = FORKTREE_BALANCED);
    REFUSED("arity: 1 to 65536, not 4294967295", .kind = FORKTREE_SPINE, .arity = UINT32_MAX);
    REFUSED("arity 2, depth 64: more than 2^64 nodes", .kind = FORKTREE_BALANCED, .arity = 2, .depth = 64);
    REFUSED("depth of a balanced tree: 0 to 1048576, not 1048577", .kind = FORKTREE_BALANCED, .arity = 1,
            .depth = FORKTREE_BALANCED_MOST + 1);
    REFUSED("inner child of a spine: 0 to 2, not 3", .kind = FORKTREE_SPINE, .arity = 3, .inner = 3);
    REFUSED("depth of a spine: 0 to 1073741824, not 18446744073709551615", .kind = FORKTREE_SPINE, .arity = 3,
            .depth = UINT64_MAX);
    REFUSED("kind of tree: 0 to 5, not 77", .kind = (enum forktree_kind)77);
}

static void the_largest_balanced_trees_are_counted(void)
{
    struct forktree t = made((struct forktree_spec){.kind = FORKTREE_BALANCED, .arity = 2, .depth = 63});
    CHECK(forktree_count(&t) == UINT64_MAX);
    t = made((struct forktree_spec){.kind = FORKTREE_BALANCED, .arity = 1, .depth = FORKTREE_BALANCED_MOST});
    CHECK_EQ(forktree_count(&t), FORKTREE_BALANCED_MOST + 1);
    t = made((struct forktree_spec){.kind = FORKTREE_SPINE, .arity = 1 << 16, .depth = FORKTREE_SPINE_MOST});
    CHECK_EQ(forktree_count(&t), ((int64_t)1 << 46) + 1);
}

static void explicit_trees_out_of_range_are_refused(void)
{
    REFUSED("nodes of a tree: 1 to 67108864, not 0", .kind = FORKTREE_RANDOM);
    REFUSED("nodes of a tree: 1 to 100, not 101", .kind = FORKTREE_RANDOM, .size = 101, .most = 100);
    REFUSED("nodes of a tree: 1 to 67108864, not 67108865", .kind = FORKTREE_RANDOM, .size = 5,
            .most = FORKTREE_NODES_MOST + 1);
    REFUSED("iterations of a loop: 1 to 1099511627776, not 0", .kind = FORKTREE_LOOP, .grain = 1);
    REFUSED("grain of a loop: 1 to 18446744073709551615, not 0", .kind = FORKTREE_LOOP, .size = 1);
    REFUSED("the tree has more than 1000 nodes", .kind = FORKTREE_LOOP, .grain = 1, .size = 501,
            .most = 1000);
    REFUSED("the heavy iteration: 0 to 3, not 4", .kind = FORKTREE_LOOP, .size = 4, .grain = 1,
            .profile = FORKTREE_HEAVY, .heavy = 4);
    REFUSED("an uneven loop needs a distribution of lengths", .kind = FORKTREE_LOOP, .size = 4, .grain = 1,
            .profile = FORKTREE_UNEVEN);
    REFUSED("profile of a loop: 0 to 3, not 9", .kind = FORKTREE_LOOP, .size = 4, .grain = 1,
            .profile = (enum forktree_profile)9);
    REFUSED("iterations 0 to 1 take more than 2^59 ns", .kind = FORKTREE_LOOP, .size = 4, .grain = 2,
            .leaf = SIM_TIME_MAX);
}

static void uts_trees_out_of_range_are_refused(void)
{
    REFUSED("mean number of children: 0 to 100, not nan", .kind = FORKTREE_UTS, .branching = (double)NAN);
    REFUSED("mean number of children: 0 to 100, not -1", .kind = FORKTREE_UTS, .branching = -1);
    REFUSED("children of the root of a binomial tree: 0 to 1e+06, not inf", .kind = FORKTREE_UTS,
            .uts = FORKTREE_UTS_BINOMIAL, .branching = (double)INFINITY);
    REFUSED("chance of children in a binomial tree: 0 to 1, not 1.5", .kind = FORKTREE_UTS,
            .uts = FORKTREE_UTS_BINOMIAL, .chance = 1.5);
    REFUSED("law of a UTS tree: 0 to 2, not 8", .kind = FORKTREE_UTS, .uts = (enum forktree_uts)8);
    REFUSED("the tree has more than 5000 nodes", .kind = FORKTREE_UTS, .uts = FORKTREE_UTS_BINOMIAL,
            .branching = 10, .chance = 1, .arity = 3, .most = 5000);
}

static void a_tree_that_takes_too_long_is_refused(void)
{
    char message[100] = "";
    sim_time work = -7;
    struct forktree_sums sums;
    struct forktree t = made((struct forktree_spec){.kind = FORKTREE_FIB, .n = 90, .leaf = 1000});
    CHECK_EQ(forktree_work(&t, &costs, &work, message, sizeof message), -EINVAL);
    CHECK_STR(message, "the tree takes more than 2^59 ns on one worker");
    CHECK_EQ(work, -7);
    CHECK_EQ(forktree_sums_make(&sums, &t, &costs, message, sizeof message), -EINVAL);
    t = made((struct forktree_spec){
        .kind = FORKTREE_SPINE, .arity = 2, .depth = 1000, .leaf = SIM_TIME_MAX / 1000});
    CHECK_EQ(forktree_work(&t, &costs, &work, NULL, 0), -EINVAL);
    CHECK_EQ(forktree_sums_make(&sums, &t, &costs, message, sizeof message), -EINVAL);
    CHECK_EQ(forktree_span(&t, &costs, &work, NULL, 0), 0);
}

static void costs_out_of_range_are_refused(void)
{
    struct forktree t = made((struct forktree_spec){.kind = FORKTREE_FIB, .n = 9});
    sim_time work;
    struct forktree_costs c = costs;
    sim_time *fields[] = {&c.exec, &c.spawn, &c.pop, &c.join, &c.failed, &c.steal};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        *fields[i] = -1;
        CHECK_EQ(forktree_work(&t, &c, &work, NULL, 0), -EINVAL);
        *fields[i] = SIM_NEVER;
        CHECK_EQ(forktree_span(&t, &c, &work, NULL, 0), -EINVAL);
        *fields[i] = 1;
    }
    CHECK_EQ(forktree_work(&t, &c, &work, NULL, 0), 0);
}

int main(void)
{
    RUN(fib_is_counted_in_closed_form);
    RUN(work_of_fib_is_a_sum_over_its_nodes);
    RUN(a_balanced_tree_has_its_closed_forms);
    RUN(a_steal_that_is_cheaper_than_a_pop_counts_in_the_span);
    RUN(a_spine_is_the_same_as_one_in_arrays);
    RUN(sums_are_the_work_of_subtrees);
    RUN(a_spine_of_a_million_needs_no_stack);
    RUN(a_random_tree_has_the_nodes_asked_for);
    RUN(the_seed_decides_a_random_tree);
    RUN(lengths_are_draws_of_the_distribution);
    RUN(geometric_trees_have_the_mean_of_their_law);
    RUN(a_seed_stands_for_one_tree);
    RUN(binomial_trees_have_the_mean_of_their_law);
    RUN(a_loop_has_all_its_work_in_leaves_within_the_grain);
    RUN(profiles_give_each_iteration_its_time);
    RUN(a_linear_loop_loses_nothing_by_rounding);
    RUN(an_uneven_loop_draws_each_iteration);
    RUN(times_out_of_range_are_refused);
    RUN(computed_trees_out_of_range_are_refused);
    RUN(the_largest_balanced_trees_are_counted);
    RUN(explicit_trees_out_of_range_are_refused);
    RUN(uts_trees_out_of_range_are_refused);
    RUN(a_tree_that_takes_too_long_is_refused);
    RUN(costs_out_of_range_are_refused);
    return check_report();
}
