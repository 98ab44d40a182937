/* mc_internal.h: the checker's own state. One struct, in memory of its own, because the program's
 * static variables are put back before each run. */
#ifndef MC_INTERNAL_H
#define MC_INTERNAL_H

#include "mc.h"
#include "ord_mc.h"

#include <stdio.h>

enum {
    MC_THREADS = 6,
    MC_LOCS = 768,
    MC_STORES = 1 << 16,
    MC_CHOICES = 1 << 16,
    MC_STEPS = 1 << 16,
    MC_CELLS = 1 << 15,       /* shadow of plain memory, open addressing */
    MC_KNOWN = 1 << 12,       /* words that several threads touch        */
    MC_FUTURE = 8,            /* values that a late load may return      */
    MC_STACK = 128 << 10,
};
#define MC_ARENA ((size_t)1 << 32)
#define MC_VIEW_BYTES ((size_t)1 << 27)

/* ---- views -------------------------------------------------------------------------------- */

/* What a thread has seen: of each word the oldest store it may still read, of each thread the
 * clock up to which everything happened before. */
struct view {
    uint32_t clock[MC_THREADS];
    uint32_t n;
    uint32_t ts[MC_LOCS];
};

struct store {
    uint64_t value;
    uint32_t ts;              /* place in the order of the word's stores */
    int prev;                 /* the store before it, or -1              */
    int thread;
    bool rmw;                 /* nothing may come between it and prev    */
    const struct view *view;  /* what whoever acquires it gets           */
};

struct loc {
    uintptr_t address;
    unsigned size;
    int newest;               /* store */
    uint32_t plain_ts;        /* nobody may read older ones: a plain write came after them */
    bool dirty;               /* a plain write since the last atomic access                */
};

/* ---- threads ------------------------------------------------------------------------------ */

enum op_kind {
    OP_LOAD, OP_STORE, OP_RMW, OP_FENCE, OP_MEMBARRIER, OP_FUTEX_WAIT, OP_FUTEX_WAKE, OP_PAUSE,
    OP_JOIN, OP_RESUME,
};

struct op {
    enum op_kind kind;
    const void *address;
    enum mc_order order;
    int target;               /* of a join */
};

enum state { THREAD_NONE, THREAD_READY, THREAD_BLOCKED, THREAD_DONE };

struct thread {
    enum state state;
    struct op op;             /* what it does next */
    void *sp;
    char *stack;
    void (*fn)(void *);
    void *arg;
    void *self;
    int errno_value;
    bool starting;            /* runs up to its first step, then back to who started it */
    bool yielded;
    int spin_out;             /* > 0: spins to the end of its patience, nobody comes between */
    const void *spin_word;    /* that it looks at; a look elsewhere ends it                 */
    bool timed_out;
    bool daemon;
    const void *futex;
    int64_t deadline;
    uint64_t since;           /* order of going to sleep */
    int starter;
    struct view cur, acq, rel, mark;
    bool released;            /* rel is set */
};

struct pending {              /* a late load that is not yet fulfilled */
    int thread, loc;
    uint64_t value;
    bool fulfilled;
};

enum choice_kind { CHOOSE_THREAD, CHOOSE_STORE, CHOOSE_PLACE, CHOOSE_FAILURE, CHOOSE_WAKE, CHOOSE_DATA };

struct choice {
    uint8_t kind;
    uint16_t count, taken;
};

struct step {
    int thread;
    const struct mc_site *site;
    const char *what;         /* load, store, ... */
    const char *note;
    uint64_t before, after;
    enum mc_order order;
    uint8_t flags;
};
enum { STEP_BEFORE = 1, STEP_AFTER = 2, STEP_FAILED = 4, STEP_OLD = 8, STEP_LATE = 16, STEP_ORDER = 32 };

struct cell {                 /* four bytes of memory */
    _Alignas(64) uintptr_t key;
    uint32_t run;             /* of which execution; others are empty */
    int loc;                  /* + 1 */
    uint8_t write_mask, read_mask;
    int8_t write_thread;
    bool atomic;              /* there is more of it in cell_atomic */
    uint32_t write_clock;
    uint32_t read_clock[MC_THREADS];
};

struct cell_atomic {          /* apart: most words are plain ones */
    _Alignas(64) uint32_t read[MC_THREADS];
    uint32_t write[MC_THREADS];
};

struct chunk {
    char *p;
    size_t size;
    bool freed, pages;
};

struct known {                /* a word, in all executions of a model */
    uintptr_t address;
    bool shared;              /* two threads, one of them writing, in no order */
    uint8_t values;
    uint8_t by[MC_FUTURE];     /* threads that stored ... */
    uint64_t value[MC_FUTURE];        /* ... these, ever, for late loads */
};

enum end { END_OK, END_CUT, END_DISCARDED, END_FAILED };

struct engine {
    const struct mc_model *model;
    bool running, random;
    bool every_step;          /* a choice before each step, shared word or not */
    uint64_t rng;
    void *main_sp;

    /* this execution */
    uint32_t run;
    struct thread thread[MC_THREADS];
    int threads, current;
    unsigned sleep;           /* sleep set: threads that need not run here */
    int preempted, stale, spurious, failures, spun, hasty;
    unsigned failing_calls;
    int64_t now;
    uint64_t sleepers;
    unsigned steps_taken, idle_rounds;
    enum end end;
    struct view sc;
    struct loc loc[MC_LOCS];
    int locs;
    struct store store[MC_STORES];
    int stores;
    char *views;
    size_t views_used;
    struct pending pending[16];
    int pendings;
    struct { const char *p; size_t size; } late[4];
    int lates;
    uint8_t born[MC_TASKS], ran[MC_TASKS];
    struct step step[MC_STEPS];
    int steps;
    char message[512];
    bool tentative;           /* message holds if every late load is fulfilled */
    bool grew;                /* something was learned: the exploration starts again */

    /* memory */
    char *arena;
    size_t arena_used, arena_most;
    struct chunk chunk[512];
    int chunks;
    uint8_t *freed;           /* per 16 bytes of the arena, but for pages ... */
    int freed_pages;          /* ... of which there are few: chunks */
    uint8_t *touched;         /* per page of the arena     */
    struct cell cell[MC_CELLS];
    struct cell_atomic cell_atomic[MC_CELLS];
    int cell_list[MC_CELLS];
    int cells;

    /* all executions of the model */
    struct choice choice[MC_CHOICES];
    int depth, position;
    int script_length;        /* choices given from outside */
    uint16_t script[MC_CHOICES];
    struct known known[MC_KNOWN];
    unsigned outcome[64];
    int outcomes;
    long executions, cut, discarded, restarts;
    unsigned longest;
};

extern struct engine *mc;

/* engine.c */
void mc_step(const struct op *op);              /* before each step: perhaps another thread goes on */
void mc_end(enum end how) __attribute__((noreturn)); /* of this execution */
unsigned mc_pick(enum choice_kind kind, unsigned count);
bool mc_may_fail(unsigned call);
int mc_start_thread(void (*fn)(void *), void *arg, bool daemon);
void mc_block(const void *futex, int64_t deadline);
int mc_wake(const void *futex, int count);
void mc_execute(void); /* one execution */
static inline struct thread *mc_me(void)
{
    return &mc->thread[mc->current];
}

/* memory.c */
void mc_memory_reset(void);
void mc_view_join(struct view *into, const struct view *from);
uint64_t mc_newest(const void *p, unsigned size); /* and from now on nothing older */
void mc_fence_all(void);
void mc_fair(struct thread *t);
struct known *mc_known(const void *p);
bool mc_conflicts(const void *p);
void mc_note_conflict(const void *p);

/* plain.c */
struct cell *mc_cell(uintptr_t address, bool make);
void mc_plain_reset(void);
void mc_atomic_access(const void *p, unsigned size, bool write, const struct mc_site *site);
void *mc_arena_take(size_t size, size_t align, bool pages);
void mc_arena_free(void *p);
void mc_check_leaks(void);

/* report.c */
struct step *mc_record(const struct mc_site *site, const char *what);
void mc_report(FILE *out);
void mc_replay_print(FILE *out);
int mc_replay_read(const char *text);

#endif
