#include "sim/replicate.h"

#include <errno.h>
#include <filch.h>
#include <filch/par.h>
#include <filch/sync.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures ------------------------------------------------------------------------------ */

static const struct {
    const char *name, *unit;
    bool more_is_better;
} metrics[METRICS] = {
    [METRIC_MAKESPAN] = {"makespan", "s", false},   [METRIC_SPEEDUP] = {"speedup", "", true},
    [METRIC_IDLE] = {"idle", "s", false},           [METRIC_STOLEN] = {"stolen", "tasks", false},
    [METRIC_STEAL_RATE] = {"steal_rate", "%", false}, [METRIC_STEALS] = {"steals", "", false},
    [METRIC_TRIES] = {"tries", "", false},          [METRIC_VAIN] = {"failed_tries", "", false},
    [METRIC_ATTEMPTS] = {"attempts", "", false},    [METRIC_FAILED] = {"failed", "", false},
    [METRIC_CONTENDED] = {"contended", "", false},  [METRIC_IMBALANCE] = {"imbalance", "%", false},
    [METRIC_SOJOURN] = {"sojourn", "s", false},     [METRIC_QUEUED] = {"queued", "s", false},
    [METRIC_P99] = {"p99", "s", false},             [METRIC_THROUGHPUT] = {"throughput", "tasks/s", true},
    [METRIC_EXECUTED] = {"executed", "tasks", true}, [METRIC_DONE] = {"done", "", true},
    [METRIC_LIVELOCK] = {"livelock", "", false},
};

const char *metric_name(enum metric m) { return metrics[m].name; }
const char *metric_unit(enum metric m) { return metrics[m].unit; }
bool metric_more_is_better(enum metric m) { return metrics[m].more_is_better; }

enum metric metric_named(const char *name)
{
    int m = 0;
    while (m < METRICS && strcmp(metrics[m].name, name) != 0)
        m++;
    return (enum metric)m;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static double imbalance(const struct sim_result *r)
{
    sim_time most = 0;
    for (uint32_t i = 0; i < r->workers; i++)
        most = r->worker[i].busy > most ? r->worker[i].busy : most;
    double mean = (double)r->sum.busy / r->workers;
    return mean > 0 ? 100 * ((double)most / mean - 1) : 0;
}

double metric_of(const struct sim_result *r, enum metric m)
{
    const struct sim_worker_result *s = &r->sum;
    switch (m) {
    case METRIC_MAKESPAN: return sim_time_seconds(r->makespan);
    case METRIC_SPEEDUP: return ratio((double)s->busy, (double)r->makespan);
    case METRIC_IDLE: return sim_time_seconds(r->end) * r->workers - sim_time_seconds(s->busy);
    case METRIC_STOLEN: return (double)s->stolen;
    case METRIC_STEAL_RATE: return 100 * ratio((double)s->stolen, (double)s->executed);
    case METRIC_STEALS: return (double)s->steals;
    case METRIC_TRIES: return (double)s->searches;
    case METRIC_VAIN: return (double)s->vain;
    case METRIC_ATTEMPTS: return (double)s->attempts;
    case METRIC_FAILED: return (double)s->failed;
    case METRIC_CONTENDED: return (double)s->contended;
    case METRIC_IMBALANCE: return imbalance(r);
    case METRIC_SOJOURN: return r->sojourn.mean;
    case METRIC_QUEUED: return r->queued.mean;
    case METRIC_P99: return sim_time_seconds(histogram_quantile(r->latency, 0.99));
    case METRIC_THROUGHPUT: return ratio((double)r->completed, sim_time_seconds(r->end));
    case METRIC_EXECUTED: return (double)s->executed;
    case METRIC_DONE: return r->how == SIM_DONE;
    case METRIC_LIVELOCK: return r->how == SIM_LIVELOCK;
    case METRICS: break;
    }
    return 0;
}

/* ---- many runs ---------------------------------------------------------------------------- */

struct batch {
    const struct setup_run *const *runs;
    size_t setups;
    uint64_t first, n;
    const struct replicate_options *options;
    struct replications *out;
    filch_mutex lock;    /* of what follows, and of the histograms */
    uint64_t done;
    uint64_t failed_at;  /* the first replication that failed; n: none */
    int rc;
    char *message;
    size_t size;
};

/* The lock is tried again, never waited for: on a thread from outside the pool a wait runs other replications
 * on top of this one, and the lock could then be handed to one that lies below another that waits for it.
 * What is done under the lock is short and does not wait. */
static void enter(struct batch *b)
{
    while (filch_mutex_trylock(&b->lock) != 0)
        sched_yield();
}

static void note_failure(struct batch *b, uint64_t i, int rc, const char *why)
{
    enter(b);
    if (i < b->failed_at) {
        b->failed_at = i;
        b->rc = rc;
        snprintf(b->message, b->size, "%s", why);
    }
    filch_mutex_unlock(&b->lock);
}

static void note_progress(struct batch *b)
{
    enter(b);
    b->done++;
    if (b->options->progress)
        b->options->progress(b->done, b->n, b->options->arg);
    filch_mutex_unlock(&b->lock);
}

static void run_one(struct batch *b, size_t k, uint64_t i)
{
    struct sim_config config;
    struct sim_load load;
    struct sim_result result;
    char why[200];
    setup_replication(b->runs[k], b->first + i, &config, &load);
    config.record = false;
    int rc = sim_run(&config, &load, &result, why, sizeof why);
    if (rc != 0) {
        note_failure(b, i, rc, why);
        return;
    }
    for (int m = 0; m < METRICS; m++)
        b->out[k].value[b->first + i][m] = metric_of(&result, (enum metric)m);
    enter(b); /* sums of counts: the order does not matter */
    histogram_merge(b->out[k].latency, result.latency);
    filch_mutex_unlock(&b->lock);
    sim_result_free(&result);
}

static int run_some(size_t low, size_t high, void *arg)
{
    struct batch *b = arg;
    for (size_t i = low; i < high; i++) {
        for (size_t k = 0; k < b->setups; k++)
            run_one(b, k, i);
        note_progress(b);
    }
    return 0;
}

static int run_on_pool(struct batch *b)
{
    filch_config config = FILCH_CONFIG_INIT;
    filch_pool *pool;
    config.name = "replications";
    config.workers = b->options->threads;
    int rc = filch_pool_create(&pool, &config);
    if (rc != 0)
        return rc;
    filch_how how = FILCH_HOW_INIT;
    how.pool = pool;
    how.grain = 1;
    rc = filch_for_with(&how, 0, b->n, run_some, b);
    filch_pool_destroy(pool);
    return rc;
}

static int make_room(struct replications *r, uint64_t n)
{
    double (*more)[METRICS] = n < SIZE_MAX / sizeof *more ? realloc(r->value, n * sizeof *more) : NULL;
    if (!more)
        return -ENOMEM;
    r->value = more;
    if (!r->latency)
        r->latency = calloc(1, sizeof *r->latency);
    return r->latency ? 0 : -ENOMEM;
}

static int run_batch(struct batch *b)
{
    for (size_t k = 0; k < b->setups; k++) {
        if (make_room(&b->out[k], b->first + b->n) != 0) {
            snprintf(b->message, b->size, "no memory for so many replications");
            return -ENOMEM;
        }
    }
    int rc = 0;
    if (b->options->threads == 1)
        rc = run_some(0, b->n, b);
    else
        rc = run_on_pool(b);
    if (rc != 0)
        snprintf(b->message, b->size, "no pool for the replications: %s", strerror(-rc));
    filch_mutex_destroy(&b->lock);
    for (size_t k = 0; k < b->setups; k++)
        b->out[k].n = b->first + b->n;
    return rc != 0 ? rc : b->rc;
}

int replicate(const struct setup_run *const *runs, size_t setups, uint64_t first, uint64_t n,
              const struct replicate_options *options, struct replications *out, char *message, size_t size)
{
    static const struct replicate_options standard = {0};
    struct batch b = {.runs = runs, .setups = setups, .first = first, .n = n, .out = out, .failed_at = n,
                      .options = options ? options : &standard, .message = message, .size = size};
    return run_batch(&b);
}

int replicate_more(const struct setup_run *const *runs, size_t setups, uint64_t n,
                   const struct replicate_options *options, struct replications *out, char *message,
                   size_t size)
{
    return replicate(runs, setups, out[0].n, n, options, out, message, size);
}

void replications_free(struct replications *r)
{
    free(r->value);
    free(r->latency);
    memset(r, 0, sizeof *r);
}

struct summary replications_summary(const struct replications *r, enum metric m)
{
    struct summary s = {0};
    for (uint64_t i = 0; i < r->n; i++)
        summary_add(&s, r->value[i][m]);
    return s;
}
