/* The published trees T1 to T5 are counted exactly, whatever the workers, kinds, join and scheduling
 * policies: a set of runs in which every pair of settings meets. */
#define _GNU_SOURCE
#include "../uts_tasks.h"

#include <spawn.h>

extern char **environ;

/* ---- settings ------------------------------------------------------------------------------ */

enum factor { TREE, WORKERS, KIND, JOIN, VICTIM, WAKE, IDLE, BARRIER, FACTORS };
enum { MOST = 5, MAX_RUNS = 64 };

static const struct {
    const char *name;
    int count;
    const char *value[MOST];
} factors[FACTORS] = {
    [TREE] = {"tree", 5, {"T1", "T2", "T3", "T4", "T5"}},
    [WORKERS] = {"workers", 4, {"1", "2", "4", "16"}},
    [KIND] = {"kind", 2, {"default", "bounded"}},
    [JOIN] = {"join", 2, {"suspend", "help"}},
    [VICTIM] = {"victim", 4, {"random", "one", "order", "largest"}},
    [WAKE] = {"wake", 3, {"one", "all", "none"}},
    [IDLE] = {"idle", 3, {"park", "yield", "backoff"}},
    [BARRIER] = {"barrier", 2, {"membarrier", "fence"}},
};

struct run {
    int value[FACTORS];
};

/* ---- all pairs ----------------------------------------------------------------------------- */

static char covered[FACTORS][MOST][FACTORS][MOST];

/* How many pairs of a run are new; marks them if asked. */
static int new_pairs(const struct run *r, int mark)
{
    int n = 0;
    for (int a = 0; a < FACTORS; a++) {
        for (int b = a + 1; b < FACTORS; b++) {
            char *seen = &covered[a][r->value[a]][b][r->value[b]];
            n += !*seen;
            *seen |= (char)mark;
        }
    }
    return n;
}

static int next_run(struct run *r)
{
    for (int f = 0; f < FACTORS; f++) {
        if (++r->value[f] < factors[f].count)
            return 1;
        r->value[f] = 0;
    }
    return 0;
}

/* Greedy: always the run with the most pairs that no earlier one has. */
static int covering_set(struct run *out)
{
    int n = 0;
    for (;; n++) {
        struct run r = {{0}}, best = r;
        int most = 0;
        do {
            int pairs = new_pairs(&r, 0);
            if (pairs > most) {
                most = pairs;
                best = r;
            }
        } while (next_run(&r));
        if (most == 0)
            return n;
        CHECK(n < MAX_RUNS);
        new_pairs(&best, 1);
        out[n] = best;
    }
}

static int all_pairs(void)
{
    int n = 0;
    for (int a = 0; a < FACTORS; a++)
        for (int b = a + 1; b < FACTORS; b++)
            n += factors[a].count * factors[b].count;
    return n;
}

/* ---- trees --------------------------------------------------------------------------------- */

/* With a sanitizer, trees of the same shapes, small enough, measured by plain calls. */
static struct uts_tree tree_of(const char *name)
{
    struct uts_tree t = *uts_find(name);
    if (WITH_ASAN || WITH_TSAN) {
        static const int gens[] = {8, 8, 0, 8, 13};
        struct uts_node root;
        t.gen = gens[name[1] - '1'];
        t.b0 = t.kind == UTS_BINOMIAL ? 100 : t.b0;
        uts_root(&t, &root);
        struct uts_count c = uts_serial(&t, &root);
        t.nodes = c.nodes;
        t.leaves = c.leaves;
        t.depth = c.depth;
    }
    return t;
}

/* ---- one run ------------------------------------------------------------------------------- */

static const char *text_of(const struct run *r, int factor)
{
    return factors[factor].value[r->value[factor]];
}

static void print_run(const struct run *r, double seconds)
{
    for (int f = 0; f < FACTORS; f++)
        printf("%s=%s ", factors[f].name, text_of(r, f));
    printf("%.2f s\n", seconds);
    fflush(stdout);
}

static void do_run(const struct run *r)
{
    char policy[100];
    filch_config c = config_of(atoi(text_of(r, WORKERS)), FILCH_JOIN_SUSPEND);
    filch_pool *pool;
    int64_t begin = filch_clock_ns();
    struct uts_tree tree = tree_of(text_of(r, TREE));
    snprintf(policy, sizeof policy, "join=%s,victim=%s,wake=%s,idle=%s", text_of(r, JOIN),
             text_of(r, VICTIM), text_of(r, WAKE), text_of(r, IDLE));
    CHECK_EQ(filch_config_parse(&c, policy, 0, 0), 0);
    CHECK_EQ(filch_pool_create(&pool, &c), 0);
    struct uts_count n = uts_count_on(pool, &tree, r->value[KIND]);
    filch_pool_destroy(pool);
    print_run(r, (double)(filch_clock_ns() - begin) / 1e9);
    CHECK_EQ(n.nodes, tree.nodes);
    CHECK_EQ(n.leaves, tree.leaves);
    CHECK_EQ(n.depth, tree.depth);
}

static void do_runs(int barrier)
{
    static struct run runs[MAX_RUNS];
    memset(covered, 0, sizeof covered);
    int n = covering_set(runs);
    for (int i = 0; i < n; i++)
        if (runs[i].value[BARRIER] == barrier)
            do_run(&runs[i]);
}

/* ---- the claims ---------------------------------------------------------------------------- */

static const char *self;

static void the_runs_cover_every_pair_of_settings(void)
{
    static struct run runs[MAX_RUNS];
    memset(covered, 0, sizeof covered);
    int n = covering_set(runs), pairs = 0;
    for (int a = 0; a < FACTORS; a++)
        for (int b = a + 1; b < FACTORS; b++)
            for (int i = 0; i < MOST * MOST; i++)
                pairs += covered[a][i / MOST][b][i % MOST];
    CHECK_EQ(pairs, all_pairs());
    printf("%d runs cover all %d pairs of %d settings\n", n, pairs, FACTORS);
}

static void trees_are_exact_with_membarrier(void)
{
    do_runs(0);
}

static void trees_are_exact_with_fences(void)
{
    do_runs(1);
}

/* A process that never had it, as on a system where it is missing. */
static void trees_are_exact_in_a_process_without_membarrier(void)
{
    char *arguments[] = {(char *)self, 0};
    int status;
    pid_t pid;
    CHECK_EQ(setenv("FILCH_NO_MEMBARRIER", "1", 1), 0);
    CHECK_EQ(posix_spawn(&pid, self, 0, 0, arguments, environ), 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    self = argv[0];
    if (getenv("FILCH_NO_MEMBARRIER")) {
        RUN(trees_are_exact_with_fences);
        return check_report();
    }
    RUN(the_runs_cover_every_pair_of_settings);
    RUN(trees_are_exact_with_membarrier);
    RUN(trees_are_exact_in_a_process_without_membarrier);
    return check_report();
}
