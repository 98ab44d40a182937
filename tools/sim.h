/* sim.h: `filch sim`: scenarios, and what they share.
 *
 * A scenario is a setup (pairs key=value that a user can change) and a function that runs it and adds to the
 * findings: log, tables, plots, and the sentence that answers its question, computed in that run. */
#ifndef SIM_H
#define SIM_H

#include "findings.h"
#include "sim/replicate.h"
#include "sim/setup.h"

/* Which lines a log has, and what they say: as the classes of document 003 print them. */
enum sim_log {
    SIM_LOG_BASIC,    /* queue sizes with `Executing`                                     */
    SIM_LOG_SPAWNING, /* none; `Spawned`                                                  */
    SIM_LOG_ADAPTIVE, /* with `Executing`, and the target's with `Stole`                  */
    SIM_LOG_JOINING,  /* none; `Spawned child`, `All children of ... done`                */
    SIM_LOG_FULL,     /* everything                                                       */
};

struct sim_options {
    enum findings_form form;
    int quiet, no_plot;
    const char *events, *svg, *html; /* files, or null                                    */
    uint64_t reps;                   /* 0: the scenario's own number                      */
    double width;                    /* relative, of 95 % intervals; 0: not asked for     */
    int threads;                     /* 0: as many as CPUs                                */
};

struct sim_job {
    const struct sim_scenario *scenario;
    struct setup setup, base;        /* base: before the user's pairs                      */
    const char *workload;            /* the name behind --workload, or null                */
    struct sim_options options;
    struct findings *findings;
    const char **word;               /* arguments that are no settings of all runs        */
    int words;
};

enum { SIM_WORDS = 64 };             /* of a scenario that takes all arguments by itself      */

struct sim_scenario {
    const char *name, *summary;
    const char *pairs;               /* over setup_init; what the user gives goes over this */
    const char *text;                /* of --help, and the first paragraph of a page      */
    enum sim_log log;
    uint64_t reps;                   /* replications if none are asked for; 0: it has none */
    int words;                       /* arguments that are no settings of all runs, at most; SIM_WORDS: all */
    int (*run)(struct sim_job *job); /* a status of cli.h                                 */
};

/* All of them, ended by a null name. */
extern const struct sim_scenario sim_scenarios[];
const struct sim_scenario *sim_scenario_named(const char *name);

/* ---- for scenarios ------------------------------------------------------------------------ */

/* Each returns 0 or a status of cli.h, and has said then what is wrong. */

/* Makes the job's setup with `pairs` over it (null: none); keys that the user gave stay as they are unless
 * `force`. */
int sim_make(struct sim_job *job, const char *pairs, int force, struct setup_run *run);
/* One run. */
int sim_once(struct sim_job *job, const struct setup_run *run, int record, struct sim_result *result);
/* options.reps or the scenario's number of replications of each setup, with progress; with --width so many
 * that the interval of `m` of each is that narrow. */
int sim_many(struct sim_job *job, const struct setup_run *const *runs, size_t n, enum metric m,
             struct replications *out);
uint64_t sim_reps(const struct sim_job *job);

/* ---- sim_log.c ---------------------------------------------------------------------------- */

/* The line of a record, without its end; an empty text if the style has none. */
void sim_log_line(const struct sim_result *r, const struct sim_record *record, enum sim_log style, char *to,
                  size_t size);
/* Log (unless quiet) with the initial load if `initial`, and the statistics block; the run for the page. */
void sim_show_run(struct sim_job *job, const struct sim_result *r, const char *title, int initial);
/* Runs it and shows all of it: log, statistics, what got stuck, chart, file of events. The result is the
 * caller's if it returns 0. */
int sim_show_once(struct sim_job *job, const struct setup_run *run, const char *title, int initial,
                  struct sim_result *r);
void sim_show_statistics(struct sim_job *job, const struct sim_result *r);
/* The block of document 003: `wall` is the time that an observer saw. */
void sim_show_performance(struct sim_job *job, const char *granularity, double work, double wall,
                          uint32_t workers);
/* What each worker did, as a chart. */
void sim_show_gantt(struct sim_job *job, const struct sim_result *r, const char *title);
/* Writes the records as CSV; 0 or -errno. */
int sim_write_events(const struct sim_result *r, const char *path);
/* Who waits for what, if the run did not end. */
void sim_show_stuck(struct sim_job *job, const struct sim_result *r);

/* The unit in which a time reads best: s, ms, us or ns. */
struct sim_unit {
    const char *name;
    double per_second;
};
struct sim_unit sim_unit_of(double seconds);
/* "1.25 s", "310 us": three digits at least. */
const char *sim_duration(struct sim_job *job, double seconds);

/* "12.3 ± 0.4" of 95 %, as text and as a cell. */
const char *sim_interval(struct sim_job *job, const struct summary *s, int digits);
void sim_interval_cell(struct table *t, const struct summary *s, int digits);

/* ---- sim_pair.c --------------------------------------------------------------------------- */

/* The second against the first, replication by replication; "better" has the metric's own sense. */
struct paired_result sim_judge(const struct replications *first, const struct replications *second,
                               enum metric m);
/* A row for each of `n` metrics: load, figure, first, second, difference, verdict. */
void sim_pair_rows(struct table *t, const char *load, const struct replications *first,
                   const struct replications *second, const enum metric *metrics, size_t n);
/* "+0.12 ± 0.03" of 95 %. */
const char *sim_difference(struct sim_job *job, const struct paired_result *r, int digits);
/* "+0.12 ± 0.03 s, worse", of 95 %; `unit` with its blank. */
const char *sim_judged(struct sim_job *job, const struct paired_result *r, int digits, const char *unit);
/* CLI_OK unless the user gave one of `keys`, separated by blanks: the scenario sets them itself. */
int sim_refuse_given(const struct sim_job *job, const char *keys);

/* ---- sim_compare.c ------------------------------------------------------------------------ */

/* Is this argument, after the words so far, a variant, or metric=? */
int sim_compare_takes(const struct sim_job *job, const char *text);
/* The name behind metric=. */
int sim_metric_word(const char *text, enum metric *m);
/* ---- sim_curve.c: lines of means with their intervals ------------------------------------- */

enum { SIM_CURVE_LINES = 4, SIM_CURVE_POINTS = 32 };

struct sim_curve {
    const char *name[SIM_CURVE_LINES];
    size_t n[SIM_CURVE_LINES];
    double x[SIM_CURVE_LINES][SIM_CURVE_POINTS], y[SIM_CURVE_LINES][SIM_CURVE_POINTS];
    double low[SIM_CURVE_LINES][SIM_CURVE_POINTS], high[SIM_CURVE_LINES][SIM_CURVE_POINTS];
    struct plot_series series[SIM_CURVE_LINES];
};

/* Kept with the findings. */
struct sim_curve *sim_curve_new(struct sim_job *job);
/* A point of a line; what has no room is left out. */
void sim_curve_add(struct sim_curve *c, size_t line, double x, const struct summary *s);
/* `p` has everything but the series. */
void sim_curve_show(struct sim_job *job, struct sim_curve *c, struct plot p);

/* ---- scenarios ---------------------------------------------------------------------------- */

int sim_run_plain(struct sim_job *job);       /* sim_basic.c */
int sim_run_spawning(struct sim_job *job);    /* sim_spawning.c */
int sim_run_joining(struct sim_job *job);     /* sim_joining.c */
int sim_run_adaptive(struct sim_job *job);    /* sim_adaptive.c */
int sim_run_granularity(struct sim_job *job); /* sim_granularity.c */
int sim_run_backoff(struct sim_job *job);     /* sim_backoff.c */
int sim_run_livelock(struct sim_job *job);    /* sim_livelock.c */
int sim_run_bursts(struct sim_job *job);      /* sim_bursts.c */
int sim_run_workers(struct sim_job *job);     /* sim_workers.c */
int sim_run_central(struct sim_job *job);     /* sim_central.c */
int sim_run_parking(struct sim_job *job);     /* sim_parking.c */
int sim_run_ends(struct sim_job *job);        /* sim_ends.c */
int sim_run_tree(struct sim_job *job);        /* sim_trees.c */
int sim_run_compare(struct sim_job *job);     /* sim_compare.c */
int sim_run_sweep(struct sim_job *job);       /* sim_sweep.c */
int sim_run_verify(struct sim_job *job);      /* sim_verify.c */

#endif
