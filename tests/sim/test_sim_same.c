/* test_sim_same.c: the same seed gives the same bytes: records, statistics, random times, intervals; with
 * every compiler, at every level of optimisation, on any number of threads.
 *
 * The constants below are what every build must come to; tests/CMakeLists.txt builds this program twice, with
 * the simulator as it is and once more at another level. After a change of what a run does
 * `test_sim_same hashes` prints the new ones; the commit says what changed. */
#include "sim_kit.h"

#include "base/rng.h"
#include "policy/names.h"
#include "sim/exact.h"
#include "sim/math.h"
#include "sim/replicate.h"

#define RUNS_HASH 0x0d1f44b8d019abe2
#define TREES_HASH 0x95b80b4cf08778f0
#define REPLICATIONS_HASH 0x7b339cfad22fe3f4
#define NUMBERS_HASH 0x678147910272a41a

static int printing;

/* ---- hashing ------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t h, uint64_t x)
{
    return rng_mix(h ^ x);
}

static uint64_t mix_double(uint64_t h, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return mix(h, bits);
}

static uint64_t mix_text(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = mix(h, (unsigned char)*text);
    return h;
}

static uint64_t mix_summary(uint64_t h, const struct summary *s)
{
    h = mix(h, s->n);
    h = mix_double(h, s->mean);
    h = mix_double(h, s->m2);
    h = mix_double(h, s->min);
    return mix_double(h, s->max);
}

static uint64_t mix_histogram(uint64_t h, const struct histogram *g)
{
    h = mix(mix(h, g->n), (uint64_t)g->sum);
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        if (g->count[i])
            h = mix(mix(h, i), g->count[i]);
    return h;
}

static uint64_t mix_worker(uint64_t h, const struct sim_worker_result *w)
{
    const uint64_t count[] = {w->executed, w->stolen, w->steals, w->searches, w->vain, w->attempts, w->failed,
                              w->contended, w->parks, w->wakes, w->queue, w->longest};
    const sim_time spent[] = {w->busy, w->seeking, w->waiting, w->parked, w->blocked};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        h = mix(h, count[i]);
    for (size_t i = 0; i < sizeof spent / sizeof *spent; i++)
        h = mix(h, (uint64_t)spent[i]);
    return h;
}

static uint64_t mix_records(uint64_t h, const struct sim_result *r)
{
    char name[80];
    for (size_t i = 0; i < r->records; i++) {
        const struct sim_record *e = &r->record[i];
        h = mix(mix(h, (uint64_t)e->at), (uint64_t)e->kind << 32 | e->length);
        h = mix(h, (uint64_t)(uint32_t)e->worker << 32 | (uint32_t)e->other);
        sim_task_name(r, e->task, name, sizeof name);
        h = mix_text(mix(h, e->task), name);
    }
    return h;
}

static uint64_t mix_result(uint64_t h, const struct sim_result *r)
{
    const uint64_t count[] = {r->how, r->events, r->submitted, r->completed, r->overflowed, r->migrated,
                              r->records, r->tasks, r->stuck_shown, r->stuck_count};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        h = mix(h, count[i]);
    h = mix(mix(mix(h, (uint64_t)r->makespan), (uint64_t)r->end), (uint64_t)r->looked);
    for (uint32_t i = 0; i < r->workers; i++)
        h = mix_worker(mix(h, r->initial[i]), &r->worker[i]);
    for (size_t i = 0; i < r->stuck_shown; i++)
        h = mix(mix(h, r->stuck[i].task), (uint64_t)r->stuck[i].worker ^ (uint64_t)r->stuck[i].child << 32);
    h = mix_summary(mix_summary(h, &r->sojourn), &r->queued);
    return mix_records(mix_histogram(h, r->latency), r);
}

static void judge(const char *name, uint64_t hash, uint64_t expected)
{
    if (printing)
        printf("#define %s_HASH 0x%016jx\n", name, (uintmax_t)hash);
    else
        CHECK_MSG(hash == expected, "%s: 0x%016jx is not 0x%016jx", name, (uintmax_t)hash,
                  (uintmax_t)expected);
}

/* ---- a matrix of runs --------------------------------------------------------------------- */

static const char list_text[] = "A 0   0 1.1\n"
                                "B 0.5 * 250ms\n"
                                "C -   - 0.3 A\n"
                                "D -   1 2 after=A,B\n";

static const char *list_path(void)
{
    static char path[] = "/tmp/test_sim_same.XXXXXX";
    static int file = -1;
    size_t length = strlen(list_text);
    if (file < 0) {
        file = mkstemp(path);
        CHECK(file >= 0 && write(file, list_text, length) == (ssize_t)length);
    }
    return path;
}

static const char *const loads[] = {
    "load=plain tasks=40 duration=exp:1",
    "load=plain tasks=60 arrive=gaps gap=exp:0.2 duration=lognormal:0.6,1.5 place=roundrobin skip=5 look=1",
    "load=plain tasks=60 arrive=onoff gap=0.05 on=0.5 off=1.5 first=later duration=pareto:0.1,2 place=global",
    "load=plain arrive=bursts burst=0:0:12,2:random:9,2:3:7 duration=uniform:0.2..1.9",
    "load=spawning tasks=20 duration=bimodal:0.2,3,0.2 child=exp:0.4 spawn=0.5 children=1..2",
    "load=joining tasks=15 duration=pareto:0.2,1.2,9 child=0.5 spawn=0.4 children=1..3 arrive=gaps gap=0.25",
    "load=tree tree=fib:8 leaf=exp:0.5 before=0.01 after=0.02",
    "load=tree tree=random:90 lengths=lognormal:0.3,2 before=1ms",
    "load=tree tree=loop:60:4:linear leaf=3ms",
    "load=closed tasks=12 duration=exp:1 until=12",
};

#define COSTS                                                                                         \
    "exec=3ms spawn_cost=1ms pop=2ms join_cost=4ms probe=5ms failed=7ms steal_near=11ms steal_far=19ms" \
    " wake_cost=23ms migrate=31ms"

static const char *const settings[] = {
    "",
    COSTS " group=2 near=0.5 victim=random speeds=1,2,0.5",
    "exec=1ms probe=1ms lock=exp:20ms queue=locked own_end=on",
    "probe=3ms lock=4ms queue=trylock steal=half victim=random",
    "lock=5ms queue=shared",
    "collisions=on idle=backoff backoff=0.1..2 backoff_factor=3 backoff_jitter=40",
    "run_next=on global_every=3 ring=4 place=global probe=2ms",
    "spin=3 attempts=2 cycle_attempts=5 victim=random steal=0.3",
    "idle=park wake=target probe=1ms wake_cost=9ms",
    "idle=park join=help probe=1ms failed=1ms spin=2",
    "spin=3 idle=park victim=largest wake_cost=5ms join=help",
};

/* Words that need another setting to be accepted, or to do anything. */
static const char *company(const struct policy_word *w)
{
    switch (w->key) {
    case POLICY_WAKE:
        return "idle=park spin=2 backoff=0.02..0.3";
    case POLICY_IDLE:
        return "probe=7ms";
    case POLICY_QUEUE:
        return "lock=6ms";
    case POLICY_STEAL:
        return "place=0 victim=random";
    default:
        return "victim=random";
    }
}

static uint64_t hash_run(uint64_t h, const char *load, const char *more)
{
    struct kit k;
    kit_run(&k, load, more);
    h = mix_result(h, &k.r);
    kit_end(&k);
    return h;
}

static uint64_t hash_load(uint64_t h, const char *load)
{
    char more[KIT_TEXT];
    size_t words;
    const struct policy_word *w = policy_words(&words);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        snprintf(more, sizeof more, "seed=%zu %s events=20000", i + 1, settings[i]);
        h = hash_run(h, load, more);
    }
    for (; words > 0; words--, w++) {
        if (!(w->where & POLICY_SIM))
            continue;
        snprintf(more, sizeof more, "%s %s=%s workers=5 events=20000", company(w), policy_key_name(w->key),
                 w->value);
        h = hash_run(h, load, more);
    }
    return h;
}

static void every_run_has_the_same_bytes(void)
{
    uint64_t h = 0;
    char listed[KIT_TEXT];
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        h = hash_load(h, loads[i]);
    snprintf(listed, sizeof listed, "load=listed list=%s", list_path());
    judge("RUNS", hash_load(h, listed), RUNS_HASH);
}

/* ---- trees, in the exact engine ----------------------------------------------------------- */

static void every_tree_has_the_same_bytes(void)
{
    static const char *const trees[] = {"fib:18", "balanced:3:6", "spine:2:300", "random:700", "uts:2:8",
                                        "utsbin:20:2:0.45", "loop:900:7:uneven", "loop:900:7:heavy"};
    static const struct forktree_costs costs = {.exec = 3, .spawn = 6, .pop = 2, .join = 4, .failed = 50,
                                                .steal = 90};
    uint64_t h = 0;
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        struct kit k;
        char pairs[KIT_TEXT];
        struct exact_result e;
        snprintf(pairs, sizeof pairs, "load=tree tree=%s leaf=40ns before=5ns after=7ns", trees[i]);
        kit_run(&k, pairs, "workers=7 victim=one idle=yield probe=9ns lengths=exp:30ns");
        h = mix_result(h, &k.r);
        CHECK_EQ(exact_run(&k.run.tree, &costs, 13, 5, &e, k.message, sizeof k.message), 0);
        h = mix(mix(mix(h, (uint64_t)e.makespan), e.steals), mix(e.failures, e.tasks));
        kit_end(&k);
    }
    judge("TREES", h, TREES_HASH);
}

/* ---- replications ------------------------------------------------------------------------- */

static void replicate_with(const struct setup_run *const *runs, int threads, struct replications out[2])
{
    char message[300] = "";
    struct replicate_options options = {.threads = threads};
    memset(out, 0, 2 * sizeof *out);
    CHECK_MSG(replicate(runs, 2, 0, 20, &options, out, message, sizeof message) == 0, "%s", message);
    CHECK_MSG(replicate_more(runs, 2, 20, &options, out, message, sizeof message) == 0, "%s", message);
}

static void make(struct setup_run *run, const char *pairs)
{
    struct setup s;
    char message[300] = "";
    setup_init(&s);
    CHECK_MSG(setup_parse(&s, pairs, true, message, sizeof message) == 0, "%s", message);
    CHECK_MSG(setup_make(run, &s, message, sizeof message) == 0, "%s", message);
}

/* Those of the metrics that there were first: others may follow. */
static uint64_t mix_replications(uint64_t h, const struct replications *r)
{
    for (int m = 0; m <= METRIC_DONE; m++) {
        struct summary s = replications_summary(r, (enum metric)m);
        h = mix_double(mix_summary(h, &s), estimate_half_width(&s, 0.95));
    }
    return mix_histogram(h, r->latency);
}

static void replications_have_the_same_bytes_on_1_and_4_threads(void)
{
    static const int threads[] = {1, 4, 3};
    struct setup_run a, b;
    const struct setup_run *const runs[] = {&a, &b};
    struct replications one[2], other[2];
    make(&a, loads[1]);
    make(&b, loads[5]);
    replicate_with(runs, threads[0], one);
    uint64_t h = 0;
    for (int k = 0; k < 2; k++)
        h = mix_replications(h, &one[k]);
    for (int t = 1; t < 3; t++) {
        replicate_with(runs, threads[t], other);
        for (int k = 0; k < 2; k++) {
            CHECK_EQ(one[k].n, 40);
            CHECK_EQ(other[k].n, 40);
            CHECK(memcmp(one[k].value, other[k].value, 40 * sizeof *one[k].value) == 0);
            CHECK(memcmp(one[k].latency, other[k].latency, sizeof *one[k].latency) == 0);
            replications_free(&other[k]);
        }
    }
    for (int k = 0; k < 2; k++)
        replications_free(&one[k]);
    setup_free(&a);
    setup_free(&b);
    judge("REPLICATIONS", h, REPLICATIONS_HASH);
}

/* ---- numbers ------------------------------------------------------------------------------ */

static void random_times_and_functions_have_the_same_bytes(void)
{
    static const char *const dists[] = {"1.5", "uniform:0.5..2", "exp:1", "exp:1000", "lognormal:1,0.5",
                                        "lognormal:3,20", "pareto:1,1.5", "pareto:1,0.9,100",
                                        "bimodal:1,10,0.1"};
    uint64_t h = 0;
    for (size_t i = 0; i < sizeof dists / sizeof *dists; i++) {
        struct dist d;
        char message[300] = "";
        if (dist_parse(&d, dists[i], message, sizeof message) != 0) {
            h = mix_text(h, message);
            continue;
        }
        for (uint64_t n = 0; n < 300; n++)
            h = mix(h, (uint64_t)dist_draw(&d, rng_mix(n)));
        h = mix_double(mix_double(h, dist_mean(&d)), dist_scv(&d));
        dist_free(&d);
    }
    for (int i = 1; i < 300; i++) {
        h = mix_double(h, sim_log(i * 0.37));
        h = mix_double(h, sim_exp(i * 0.21 - 30));
        h = mix_double(h, estimate_t_quantile(i / 300.0, i % 40 + 0.5));
    }
    judge("NUMBERS", h, NUMBERS_HASH);
}

int main(int argc, char **argv)
{
    printing = argc > 1 && strcmp(argv[1], "hashes") == 0;
    RUN(every_run_has_the_same_bytes);
    RUN(every_tree_has_the_same_bytes);
    RUN(replications_have_the_same_bytes_on_1_and_4_threads);
    RUN(random_times_and_functions_have_the_same_bytes);
    unlink(list_path());
    return check_report();
}
