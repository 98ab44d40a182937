#include "sim/verify.h"

#include "sim/exact_fit.h"
#include "sim/theory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-9

/* The first error ends all that follows. */
struct verifier {
    const struct verify_options *options;
    verify_add *add;
    void *arg;
    char *message;
    size_t size;
    int rc;
};

/* ---- rows -------------------------------------------------------------------------------------- */

static struct verify_row row_of(const char *law, const char *what, enum verify_kind kind, double expected)
{
    struct verify_row r = {.law = law, .kind = kind, .expected = expected, .unit = ""};
    snprintf(r.what, sizeof r.what, "%s", what);
    return r;
}

static double distance(double a, double b)
{
    return a > b ? a - b : b - a;
}

static int passes(const struct verify_row *r)
{
    const struct summary *m = &r->measured;
    double slack = ROUNDING * distance(r->expected, 0);
    if (m->n == 0)
        return 0;
    switch (r->kind) {
    case VERIFY_EQUAL:
        return distance(m->min, r->expected) <= slack && distance(m->max, r->expected) <= slack;
    case VERIFY_AT_LEAST:
        return m->min >= r->expected - slack;
    case VERIFY_AT_MOST:
        return m->max <= r->expected + slack;
    case VERIFY_MEAN:
        break;
    }
    return distance(m->mean, r->expected) <= estimate_half_width(m, 0.9999) &&
           estimate_half_width(m, 0.95) <= 0.05 * r->expected;
}

static void finish(struct verifier *v, struct verify_row *r)
{
    if (v->rc != 0)
        return;
    r->pass = passes(r);
    v->add(r, v->arg);
}

/* ---- runs -------------------------------------------------------------------------------------- */

/* `pairs` and then `more`; the seed is the one that was asked for, plus `turn`. */
static bool make(struct verifier *v, struct setup_run *run, const char *pairs, const char *more,
                 uint64_t turn)
{
    struct setup s;
    char seed[32];
    memset(run, 0, sizeof *run);
    if (v->rc != 0)
        return false;
    setup_init(&s);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)(v->options->seed + turn));
    v->rc = setup_parse(&s, pairs, true, v->message, v->size);
    if (v->rc == 0)
        v->rc = setup_parse(&s, more, true, v->message, v->size);
    if (v->rc == 0)
        v->rc = setup_set(&s, "seed", seed, true, v->message, v->size);
    if (v->rc == 0)
        v->rc = setup_make(run, &s, v->message, v->size);
    return v->rc == 0;
}

/* A run that has to end. */
static bool run_one(struct verifier *v, const struct setup_run *run, struct sim_result *r)
{
    if (v->rc != 0)
        return false;
    v->rc = sim_run(&run->config, &run->load, r, v->message, v->size);
    if (v->rc == 0 && r->how != SIM_DONE) {
        snprintf(v->message, v->size, "a run of the verification is %s", sim_end_name(r->how));
        sim_result_free(r);
        v->rc = -EIO;
    }
    return v->rc == 0;
}

/* ---- fork-join trees --------------------------------------------------------------------------- */

#define TREES 6

static const char tree_base[] = "load=tree leaf=100ns before=30ns after=20ns exec=5ns spawn_cost=7ns "
                                "pop=3ns join_cost=4ns failed=50ns steal_near=80ns steal_far=80ns victim=one "
                                "idle=yield";
static const char *const tree_names[TREES] = {
    "fib:14", "balanced:3:6", "spine:3:100", "random:800", "uts:3:5", "loop:2000:16:linear",
};

struct tree {
    struct setup_run run;
    double work, span; /* T1 and Tinf, in seconds */
};

static bool make_tree(struct verifier *v, struct tree *t, size_t which, const char *more, uint64_t turn)
{
    char pairs[300];
    sim_time work = 0, span = 0;
    snprintf(pairs, sizeof pairs, "tree=%s %s", tree_names[which], more);
    if (!make(v, &t->run, tree_base, pairs, turn))
        return false;
    struct forktree_costs costs = exact_costs(&t->run.config);
    v->rc = forktree_work(&t->run.tree, &costs, &work, v->message, v->size);
    if (v->rc == 0)
        v->rc = forktree_span(&t->run.tree, &costs, &span, v->message, v->size);
    t->work = sim_time_seconds(work);
    t->span = sim_time_seconds(span);
    if (v->rc != 0)
        setup_free(&t->run);
    return v->rc == 0;
}

static bool run_exact(struct verifier *v, const struct setup_run *run, struct exact_result *e)
{
    struct forktree_costs costs = exact_costs(&run->config);
    if (v->rc == 0)
        v->rc = exact_run(&run->tree, &costs, run->config.workers, run->config.seed, e, v->message, v->size);
    return v->rc == 0;
}

static void one_worker(struct verifier *v)
{
    for (size_t k = 0; k < TREES; k++) {
        struct tree t;
        struct sim_result r;
        struct exact_result e;
        if (!make_tree(v, &t, k, "workers=1", 0))
            return;
        struct verify_row row = row_of("One worker takes T1", tree_names[k], VERIFY_EQUAL, t.work);
        row.unit = "s";
        if (run_one(v, &t.run, &r)) {
            summary_add(&row.measured, sim_time_seconds(r.makespan));
            sim_result_free(&r);
        }
        if (run_exact(v, &t.run, &e))
            summary_add(&row.measured, sim_time_seconds(e.makespan));
        finish(v, &row);
        setup_free(&t.run);
    }
}

/* T_P of each tree, some policies and seeds, over a bound. */
static void over_bound(struct verifier *v, struct verify_row *row, const char *pairs, unsigned workers,
                       double (*bound)(double work, double span, uint64_t workers))
{
    char more[300];
    for (uint64_t turn = 0; turn < 5; turn++) {
        for (size_t k = 0; k < TREES; k++) {
            struct tree t;
            struct sim_result r;
            snprintf(more, sizeof more, "workers=%u %s", workers, pairs);
            if (!make_tree(v, &t, k, more, turn))
                return;
            if (run_one(v, &t.run, &r)) {
                summary_add(&row->measured, sim_time_seconds(r.makespan) / bound(t.work, t.span, workers));
                sim_result_free(&r);
            }
            setup_free(&t.run);
        }
    }
}

static void work_and_span(struct verifier *v)
{
    static const unsigned workers[] = {2, 8, 64};
    static const char *const policies[] = {"", "victim=random idle=park",
                                           "victim=largest steal=half idle=sleep wait=1us",
                                           "join=help victim=random idle=park wake=all"};
    char what[96];
    for (size_t i = 0; i < 3; i++) {
        snprintf(what, sizeof what, "%u workers, over max(T1/P, Tinf)", workers[i]);
        struct verify_row row = row_of("Work and span bound the time from below", what, VERIFY_AT_LEAST, 1);
        for (size_t k = 0; k < sizeof policies / sizeof *policies; k++)
            over_bound(v, &row, policies[k], workers[i], theory_time_least);
        finish(v, &row);
    }
}

/* One queue and idle workers that find everything at once: greedy, so that Brent's bound holds. */
static void greedy(struct verifier *v)
{
    static const unsigned workers[] = {2, 8, 64};
    char what[96];
    for (size_t i = 0; i < 3; i++) {
        snprintf(what, sizeof what, "%u workers, one queue, over T1/P + Tinf", workers[i]);
        struct verify_row row = row_of("A greedy schedule is within T1/P + Tinf", what, VERIFY_AT_MOST, 1);
        over_bound(v, &row, "queue=shared idle=park wake=all failed=0ns steal_near=0ns steal_far=0ns",
                   workers[i], theory_time_greedy);
        finish(v, &row);
    }
}

static void engines_agree(struct verifier *v)
{
    static const char *const workers[] = {"workers=2", "workers=16"};
    for (size_t k = 0; k < TREES; k++) {
        struct verify_row row = row_of("The exact engine and events agree", tree_names[k], VERIFY_EQUAL, 0);
        for (uint64_t turn = 0; turn < 10; turn++) {
            struct tree t;
            struct sim_result r;
            struct exact_result e;
            if (!make_tree(v, &t, k, workers[turn % 2], turn))
                return;
            if (run_exact(v, &t.run, &e) && run_one(v, &t.run, &r)) {
                double off = distance((double)e.steals, (double)r.sum.steals);
                off += distance((double)e.failures, (double)r.sum.failed);
                off += distance((double)e.makespan, (double)r.makespan);
                summary_add(&row.measured, off);
                sim_result_free(&r);
            }
            setup_free(&t.run);
        }
        finish(v, &row);
    }
}

double verify_steals_most(uint32_t arity, uint32_t height, uint32_t workers)
{
    double sum = 0, term = 1;
    for (uint32_t i = 1; i < workers && i <= height; i++) {
        term *= (arity - 1) * (double)(height - i + 1) / i;
        sum += term;
    }
    return sum;
}

/* Leaves of random lengths: more steals than equal ones give. */
static void steals(struct verifier *v)
{
    static const uint32_t workers[] = {2, 3, 4, 8};
    char more[80], what[96];
    for (size_t i = 0; i < 4; i++) {
        struct setup_run run;
        snprintf(more, sizeof more, "tree=balanced:2:8 leaf=exp:100ns workers=%u", workers[i]);
        snprintf(what, sizeof what, "balanced:2:8, %u workers", workers[i]);
        struct verify_row row = row_of("No run has more steals than the tree allows", what, VERIFY_AT_MOST,
                                       verify_steals_most(2, 8, workers[i]));
        if (!make(v, &run, tree_base, more, 0))
            return;
        for (uint64_t k = 0; k < 200; k++) {
            struct sim_result r;
            run.config.seed = v->options->seed + k;
            run.load.seed = run.config.seed;
            if (run_one(v, &run, &r)) {
                summary_add(&row.measured, (double)r.sum.steals);
                sim_result_free(&r);
            }
        }
        setup_free(&run);
        finish(v, &row);
    }
}

/* ---- what is conserved ------------------------------------------------------------------------- */

static const char *const loads[] = {
    "workers=3 tasks=50 duration=uniform:0.5..2",
    "workers=4 tasks=200 arrive=gaps gap=exp:0.3 duration=exp:1 idle=park victim=random",
    "workers=4 tasks=60 load=spawning duration=uniform:1..3 spawn=0.4 victim=two idle=backoff",
    "workers=5 tasks=40 load=joining duration=uniform:1..3 spawn=0.4",
    "workers=5 tasks=40 load=joining duration=uniform:1..3 spawn=0.4 join=help idle=park wake=all",
    "workers=8 arrive=bursts burst=0:0:40,5:1:40 duration=uniform:1..3 victim=largest steal=half",
    "workers=6 tasks=100 arrive=onoff gap=0.05 on=1 off=3 duration=exp:0.5 queue=shared idle=park",
    "workers=7 load=tree tree=uts:3:6 victim=random idle=park wake=random",
};

/* Rows over all of `loads`. */
struct books {
    struct verify_row tasks, looks, time, work;
};

static double whole_time(const struct sim_result *r)
{
    const struct sim_worker_result *s = &r->sum;
    return (double)(s->busy + s->seeking + s->waiting + s->parked + s->blocked);
}

static void book(struct books *b, const struct sim_result *r)
{
    const struct sim_worker_result *s = &r->sum;
    summary_add(&b->tasks.measured, (double)r->completed - (double)s->executed + (double)s->queue);
    summary_add(&b->looks.measured, (double)s->attempts - (double)s->steals - (double)s->failed);
    summary_add(&b->time.measured, (double)r->end * r->workers - whole_time(r));
}

/* The same tasks on one worker are the same work. */
static void book_work(struct verifier *v, struct books *b, const char *pairs, uint64_t turn, sim_time busy)
{
    struct setup_run run;
    struct sim_result r;
    bool bursts = strstr(pairs, "burst=") != NULL; /* they name worker 1 */
    if (!make(v, &run, pairs, bursts ? "workers=2" : "workers=1", turn))
        return;
    if (run_one(v, &run, &r)) {
        summary_add(&b->work.measured, (double)(busy - r.sum.busy));
        sim_result_free(&r);
    }
    setup_free(&run);
}

static void conservation(struct verifier *v)
{
    static const char law[] = "Nothing is lost or made up, in 40 runs of eight loads";
    struct books b = {row_of(law, "tasks begun, ended or left, difference", VERIFY_EQUAL, 0),
                      row_of(law, "looks less steals and failures", VERIFY_EQUAL, 0),
                      row_of(law, "P times the makespan less what workers did, ns", VERIFY_EQUAL, 0),
                      row_of(law, "work less that of the same tasks on fewer workers, ns", VERIFY_EQUAL, 0)};
    for (size_t k = 0; k < sizeof loads / sizeof *loads; k++) {
        for (uint64_t turn = 0; turn < 5; turn++) {
            struct setup_run run;
            struct sim_result r;
            if (!make(v, &run, loads[k], "", turn))
                return;
            if (run_one(v, &run, &r)) {
                book(&b, &r);
                book_work(v, &b, loads[k], turn, r.sum.busy);
                sim_result_free(&r);
            }
            setup_free(&run);
        }
    }
    finish(v, &b.tasks);
    finish(v, &b.looks);
    finish(v, &b.time);
    finish(v, &b.work);
}

/* ---- Little's law ------------------------------------------------------------------------------ */

/* The mean number of tasks in the system, from the records: an integral over time. */
static double number_in_system(const struct sim_result *r)
{
    double area = 0, here = 0;
    sim_time last = 0;
    for (size_t i = 0; i < r->records; i++) {
        const struct sim_record *e = &r->record[i];
        area += here * (double)(e->at - last);
        last = e->at;
        here += (e->kind == SIM_SUBMITTED) - (e->kind == SIM_COMPLETED);
    }
    return area / (double)r->end;
}

static void little(struct verifier *v)
{
    static const char *const systems[][2] = {
        {"M/M/1", "workers=1 place=0 ends=fifo idle=park wake=target arrive=gaps gap=exp:1 duration=exp:0.8 "
                  "tasks=5000"},
        {"4 workers that steal", "workers=4 idle=sleep wait=0.1 arrive=gaps gap=exp:0.3 duration=exp:1 "
                                 "tasks=5000"},
        {"bursts", "workers=4 arrive=bursts burst=0:0:50,5:1:50,30:random:50 duration=uniform:1..3 "
                   "steal=half"},
    };
    for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
        struct setup_run run;
        struct sim_result r;
        if (!make(v, &run, systems[k][1], "", 0))
            return;
        run.config.record = true;
        if (run_one(v, &run, &r)) {
            double rate = (double)r.completed / (double)r.end * 1e9;
            struct verify_row row = row_of("Little: tasks in the system are rate times time in it",
                                           systems[k][0], VERIFY_EQUAL, rate * r.sojourn.mean);
            summary_add(&row.measured, number_in_system(&r));
            sim_result_free(&r);
            finish(v, &row);
        }
        setup_free(&run);
    }
}

/* ---- queues ------------------------------------------------------------------------------------ */

static const char queue_base[] = "arrive=gaps gap=exp:1 skip=500 tasks=4500 idle=park wake=target place=0 "
                                 "ends=fifo";

struct known_queue {
    const char *law, *what, *pairs;
    double (*theory)(const struct setup_run *run);
};

/* Each queue has seeds of its own: what is seen of one says nothing of the next. */
static void queue(struct verifier *v, const struct known_queue *q, uint64_t turn)
{
    struct setup_run run;
    const struct setup_run *runs[] = {&run};
    struct replications r = {0};
    uint64_t n = v->options->replications ? v->options->replications : 200;
    if (!make(v, &run, queue_base, q->pairs, turn))
        return;
    struct verify_row row = row_of(q->law, q->what, VERIFY_MEAN, q->theory(&run));
    row.unit = "s";
    v->rc = replicate(runs, 1, 0, n, &v->options->replicate, &r, v->message, v->size);
    if (v->rc == 0)
        row.measured = replications_summary(&r, METRIC_SOJOURN);
    replications_free(&r);
    setup_free(&run);
    finish(v, &row);
}

static double service_of(const struct setup_run *run)
{
    return dist_mean(&run->load.duration) / 1e9;
}

static double rate_of(const struct setup_run *run)
{
    return 1e9 / dist_mean(&run->load.arrivals.gap);
}

static double mm1(const struct setup_run *run)
{
    return theory_mm1_time(rate_of(run), service_of(run));
}

static double mmc(const struct setup_run *run)
{
    return theory_mmc_time(rate_of(run), service_of(run), run->config.workers);
}

static double mg1(const struct setup_run *run)
{
    return theory_mg1_time(rate_of(run), service_of(run), dist_scv(&run->load.duration));
}

static const char law_mm1[] = "M/M/1: mean time in the system";
static const char law_mmc[] = "M/M/c: mean time in the system";
static const char law_mg1[] = "M/G/1 (Pollaczek, Khinchine): mean time in the system";

static const struct known_queue known_queues[] = {
    {law_mm1, "load 0.5", "workers=1 duration=exp:0.5", mm1},
    {law_mm1, "load 0.8", "workers=1 duration=exp:0.8", mm1},
    {law_mmc, "2 workers, 0.7", "workers=2 duration=exp:1.4 queue=shared wake=one", mmc},
    {law_mmc, "4 workers, 0.8", "workers=4 duration=exp:3.2 queue=shared wake=one", mmc},
    {law_mmc, "16 workers, 0.8", "workers=16 duration=exp:12.8 queue=shared wake=one", mmc},
    {law_mg1, "constant, 0.7", "workers=1 duration=0.7", mg1},
    {law_mg1, "uniform, 0.6", "workers=1 duration=uniform:0.2..1", mg1},
    {law_mg1, "two lengths, 0.56", "workers=1 duration=bimodal:0.2,2,0.2", mg1},
    {law_mg1, "lognormal, 0.6", "workers=1 duration=lognormal:0.6,1.5", mg1},
};

static void queues(struct verifier *v)
{
    for (size_t i = 0; i < sizeof known_queues / sizeof *known_queues; i++)
        queue(v, &known_queues[i], 1000 * i);
}

int verify(const struct verify_options *options, verify_add *add, void *arg, char *message, size_t size)
{
    struct verifier v = {options, add, arg, message, size, 0};
    one_worker(&v);
    work_and_span(&v);
    greedy(&v);
    engines_agree(&v);
    steals(&v);
    conservation(&v);
    little(&v);
    queues(&v);
    return v.rc;
}
