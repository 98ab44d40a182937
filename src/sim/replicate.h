/* replicate.h: the same run many times with other random numbers, on the product's own pool.
 *
 * Replication i of a setup uses seeds that depend on i alone (setup_replication), and its figures are stored
 * at place i: the result does not depend on the number of threads or on their order. */
#ifndef FILCH_SIM_REPLICATE_H
#define FILCH_SIM_REPLICATE_H

#include "sim/setup.h"

/* What is kept of a run. Times in seconds. */
enum metric {
    METRIC_MAKESPAN,   /* end of the last task                                                   */
    METRIC_SPEEDUP,    /* work of all workers / makespan                                         */
    METRIC_IDLE,       /* time of all workers without a task, until the last task ends           */
    METRIC_STOLEN,     /* tasks taken from others                                                */
    METRIC_STEAL_RATE, /* percent of the executed tasks                                          */
    METRIC_STEALS,     /* looks that took something                                              */
    METRIC_TRIES,      /* searches                                                               */
    METRIC_VAIN,       /* searches that took nothing                                             */
    METRIC_ATTEMPTS,   /* looks at victims                                                       */
    METRIC_FAILED,     /* looks that found nothing                                               */
    METRIC_CONTENDED,  /* accesses that met another                                              */
    METRIC_IMBALANCE,  /* percent by which the busiest worker is above the mean                  */
    METRIC_SOJOURN,    /* mean time from submission to end                                       */
    METRIC_QUEUED,     /* mean time from submission to begin                                     */
    METRIC_P99,        /* of the time from submission to begin                                   */
    METRIC_THROUGHPUT, /* tasks completed per second                                             */
    METRIC_EXECUTED,
    METRIC_DONE,       /* 1: all tasks have ended; 0: the run got stuck or its time was up       */
    METRIC_LIVELOCK,   /* 1: a livelock was detected                                             */
    METRICS
};

const char *metric_name(enum metric m);
const char *metric_unit(enum metric m);
bool metric_more_is_better(enum metric m);
enum metric metric_named(const char *name); /* METRICS: none */
double metric_of(const struct sim_result *r, enum metric m);

struct replications {
    uint64_t n;
    double (*value)[METRICS];
    struct histogram *latency; /* of all */
};

/* Told how many are done; may be null. Called by any thread, not by two at once. */
typedef void replicate_progress(uint64_t done, uint64_t of, void *arg);

struct replicate_options {
    int threads;               /* 0: as many as CPUs; 1: on the calling thread                   */
    replicate_progress *progress;
    void *arg;
};

/* Runs first .. first + n - 1. Every setup of `runs` is run with the same seeds. Results: out[0 .. setups-1].
 * 0, or -errno with a message: that of the first replication that failed. */
int replicate(const struct setup_run *const *runs, size_t setups, uint64_t first, uint64_t n,
              const struct replicate_options *options, struct replications *out, char *message, size_t size);
/* n more of each, behind those that are there. */
int replicate_more(const struct setup_run *const *runs, size_t setups, uint64_t n,
                   const struct replicate_options *options, struct replications *out, char *message,
                   size_t size);
void replications_free(struct replications *r);

struct summary replications_summary(const struct replications *r, enum metric m);

#endif
