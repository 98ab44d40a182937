/* soak.h: what the parts of filch-soak share.
 *
 * A driver is a foreign thread that runs one phase after another, drawn by the seed. A phase makes
 * tasks of one kind, ends when all are done, and knows how many there were. Every task counts
 * itself in its driver's tally, and most of them in a mark of their own as well: the tally sees
 * what is missing or too much, the marks see which, and a loss beside a double.
 *
 *   seam.c   -> pauses, spurious wake-ups and failures below the library
 *   tally.c  -> the accounts          draw.c -> random configurations and pools
 *   trees.c, jobs.c, tasks.c, waits.c, pools.c, deques.c, faults.c, children.c -> the phases
 *   watch.c  -> the control thread    report.c, main.c -> the program
 *
 * Shared fields
 *   field           written by            read by         invariant
 *   tally.lane      tasks                 driver, watch   sum: tasks that ran in this phase
 *   mark, runs      tasks                 driver          1 once the phase is over
 *   driver.steps    driver                watch           grows when a call returned
 *   driver.phase    driver                watch           what it does, or null between phases
 *   driver.pools    driver                watch           alive while shown, under `shown`
 *   soak_stop       anyone                drivers         no further phase
 */
#ifndef SOAK_SOAK_H
#define SOAK_SOAK_H

#include "base/rng.h"

#include <filch.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Sanitizers are about ten times slower: phases are so much smaller under them, stacks larger. */
#if defined(FILCH_TSAN) || defined(__SANITIZE_ADDRESS__)
enum { SOAK_SLOW = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SOAK_SLOW = 1 };
#else
enum { SOAK_SLOW = 0 };
#endif
#else
enum { SOAK_SLOW = 0 };
#endif

enum {
    SOAK_DRIVERS = 4,
    SOAK_CELLS = SOAK_SLOW ? 512 : 4096, /* jobs of a phase at most   */
    SOAK_MARKS = SOAK_SLOW ? 2048 : 32768, /* tasks of a tree at most */
    SOAK_SHOWN = 4,                      /* pools that the watch shows of a driver */
    SOAK_LANES = 16,
    SOAK_PHASES = 32,                    /* at most */
};

/* ---- accounts (tally.c) -------------------------------------------------------------------- */

struct tally {
    struct {
        uint64_t ran;
    } __attribute__((aligned(64))) lane[SOAK_LANES];
};

struct driver;

/* One job: what it was given, what it did. */
struct cell {
    struct driver *driver;
    uint64_t given, made;   /* plain: handed over by the submit and by the wait */
    uint32_t runs, cleaned;
    uint32_t index, end;    /* the job is responsible for cells [index, end) */
    uint32_t salt;
};

struct phase;

struct driver {
    struct tally tally;
    int index;
    struct rng rng;
    uint64_t salt;              /* of this phase's cells                       */
    uint64_t steps;
    const struct phase *phase;
    uint64_t born;              /* tasks that must run in this phase           */
    uint64_t lost, doubled;     /* known by their marks                        */
    uint8_t *mark;              /* SOAK_MARKS                                  */
    filch_job *job;             /* SOAK_CELLS, and as many cells               */
    struct cell *cell;
    uint32_t shown;             /* lock of the next two                        */
    filch_pool *pools[SOAK_SHOWN];
    char text[SOAK_SHOWN][160]; /* how they are configured                     */
    pid_t child;                /* that is waited for, or 0                    */
    uint32_t finished;
};

void driver_init(struct driver *d, int index, uint64_t seed);
void driver_free(struct driver *d);
uint32_t driver_below(struct driver *d, uint32_t n);            /* 0 .. n-1    */
uint32_t driver_range(struct driver *d, uint32_t low, uint32_t high);
bool driver_chance(struct driver *d, uint32_t one_in);
void driver_step(struct driver *d); /* a call returned: a sign of life         */

/* A task of driver `d` ran; the mark is that of `index`. Any thread. */
void tally_count(struct driver *d);
void tally_mark(struct driver *d, uint32_t index);
uint64_t tally_sum(const struct tally *t);

void tally_begin(struct driver *d);
/* Marks [0, n) must be 1, and are cleared. */
void tally_marks(struct driver *d, uint32_t n);
/* Closes the phase's account; returns the number of tasks that ran. */
uint64_t tally_end(struct driver *d);

/* Something is not as it must be: counted, printed (the first few), and the run ends. */
void tally_wrong(struct driver *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

void cell_init(struct driver *d, uint32_t index, void (*fn)(void *cell));
void cell_run(void *cell);     /* a job that only counts itself */
void cell_cleanup(void *cell);
/* Cells [0, n) ran once each; `cleaned` times each for their clean-up. */
void cell_check(struct driver *d, uint32_t first, uint32_t n, uint32_t cleaned);

/* ---- pools (draw.c) ------------------------------------------------------------------------ */

enum draw_need {
    DRAW_ANY = 0,
    DRAW_SUSPEND = 1, /* jobs wait for others that are not their descendants */
    DRAW_DEEP = 2,    /* recursion of some hundred frames                    */
    DRAW_SHARING = 4, /* a worker that is missing or busy can be stood in for */
    DRAW_OWN = 8,     /* no pool that others use                             */
};

struct drawn {
    filch_pool *pool;
    bool own;
};

filch_config draw_config(struct driver *d, unsigned need);
/* A pool of its own, the default one, or one that all drivers share. */
struct drawn draw_pool(struct driver *d, unsigned need);
int draw_create(struct driver *d, filch_pool **out, const filch_config *config);
void draw_destroy(struct driver *d, filch_pool *pool);
void draw_done(struct driver *d, struct drawn p);
/* A place to submit to. */
int draw_where(struct driver *d);
int draw_where_of(uint32_t hash);

/* Pools that all drivers use. Returns 0 or -errno. */
int draw_shared_create(uint64_t seed);
void draw_shared_destroy(void);
filch_pool *draw_shared(int i); /* null past the last */
const char *draw_shared_text(int i);

/* ---- helpers of phases --------------------------------------------------------------------- */

/* Extra foreign threads of a phase. */
struct stranger {
    struct driver *driver;
    uint32_t number;
    struct rng rng;
    void *arg;
    uint64_t result;
    uintptr_t thread;
    void (*run)(struct stranger *);
};
/* Starts up to n; returns how many there are. */
uint32_t stranger_start(struct stranger *s, uint32_t n, struct driver *d, void (*run)(struct stranger *),
                        void *arg);
void stranger_join(struct stranger *s, uint32_t n);

/* A tree over the marks [0, n) in one of several shapes, on this pool. Counts itself as born. */
void tree_run(struct driver *d, filch_pool *pool, uint32_t n, uint32_t shape);
/* The same over [low, low + n), without counting: returns the number of tasks it claims. */
long tree_part(struct driver *d, filch_pool *pool, uint32_t low, uint32_t n, uint32_t shape);
/* A small one that leaves no marks: tasks are only tallied. */
long tree_small(struct driver *d, filch_pool *pool, int n);
uint64_t tree_small_tasks(int n);

/* Items through deques with thieves; `faults`: growing may fail. */
void deque_bout(struct driver *d, bool faults);

/* ---- phases -------------------------------------------------------------------------------- */

struct phase {
    const char *name, *text;
    void (*run)(struct driver *d);
    unsigned weight;
    bool plain_only; /* cannot be judged under sanitizers */
};
extern const struct phase phases[];
extern const int phase_count;

void phase_fib(struct driver *d);
void phase_trees(struct driver *d);
void phase_bounded(struct driver *d);
void phase_forks(struct driver *d);
void phase_plain(struct driver *d);
void phase_jobs(struct driver *d);
void phase_detached(struct driver *d);
void phase_waits(struct driver *d);
void phase_events(struct driver *d);
void phase_nested(struct driver *d);
void phase_pins(struct driver *d);
void phase_churn(struct driver *d);
void phase_shutdown(struct driver *d);
void phase_guests(struct driver *d);
void phase_deques(struct driver *d);
void phase_tasks(struct driver *d);
void phase_faults(struct driver *d);
void phase_children(struct driver *d);

/* ---- the run ------------------------------------------------------------------------------- */

struct totals {
    uint64_t tasks, runs;
};
extern struct totals soak_phase_totals[SOAK_PHASES]; /* by phase, atomic           */
extern uint64_t soak_lost, soak_doubled, soak_wrong, soak_stalls;
extern uint64_t soak_children, soak_affinity;
extern uint32_t soak_stop;
extern struct driver soak_drivers[SOAK_DRIVERS];

int64_t soak_clock_ns(void);
void soak_nap_us(int64_t us);
void soak_end(void); /* no further phases */
bool soak_ending(void);

struct options {
    int seconds;
    uint64_t seed;
    bool json, list, help;
    bool chosen[SOAK_PHASES];
};

/* watch.c: the control thread's loop; returns when all drivers are finished. False: a stall. */
bool watch_run(const struct options *o);

/* report.c */
void report_progress(const struct options *o, double seconds);
void report_end(const struct options *o, double seconds);
int report_status(void);

#endif
