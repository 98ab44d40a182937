/* bench_plan.h: which measurements there are, and which of them were asked for. */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#define PLAN_ROUNDS_MAX 1000
#define PLAN_WORKERS_MAX 16 /* different numbers of workers in one run */
#define PLAN_FIGURES 8

/* One program run in one way: a line of the report. */
struct plan_row {
    const char *suite, *name; /* of the case */
    const char *runtime, *build, *mode;
    const char *program; /* of the folder of benchmark programs */
    const char *size;    /* passed on; null: the case's own     */
    int workers;
    int required; /* a failure here is a failure of the run: not a peer */
    int compare;  /* filch's figure is divided by this one's ... */
    double bar;   /* ... and should be no more than this; 0: no such wish */
    int rank;     /* this is filch's: it is divided by the best peer's and by serial code's */

    /* what came out */
    double samples[PLAN_ROUNDS_MAX];
    int n;
    int best; /* index of the smallest sample */
    struct {
        char key[32];
        double value;
    } figures[PLAN_FIGURES]; /* of the best sample */
    int figure_count;
    char runtime_version[64];
    char error[200]; /* empty: none */
};

/* What was asked for; a null list means all that are on by default. */
struct plan_filter {
    const char *suites, *cases, *runtimes, *modes, *builds; /* separated by commas */
    int workers[PLAN_WORKERS_MAX], worker_count;
    int workers_asked; /* by the user; otherwise a suite may have numbers of its own */
    int quick;
};

struct plan {
    struct plan_row *rows; /* those of a case stand together */
    int n;
};

/* Returns 0, or -1 if there is no memory. The plan may be empty. */
int plan_make(struct plan *p, const struct plan_filter *f);
void plan_free(struct plan *p);

/* Is each word of the list the name of a suite (or of a case)? null, or the first that is not. */
const char *plan_unknown_suite(const char *list);
const char *plan_unknown_case(const char *list);
void plan_list(void); /* suites and cases, for the help */

#endif
