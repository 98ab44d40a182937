/* mc.h: the model checker, as a model sees it.
 *
 * A model is a small program of two or three threads over the unchanged sources of filch, compiled
 * against ord_mc.h and os_mc.c. The checker runs it again and again until every schedule, and every
 * value that the memory model lets a load return, has been tried up to the model's bounds.
 *
 *     static void thief(void *arg) { ... }
 *
 *     static void steal_while_popping(void)
 *     {
 *         ... set up ...
 *         mc_thread(thief, 0);
 *         ... the owner ...
 *         mc_join_all();
 *         mc_check(taken == 2);
 *     }
 *     MC_MODEL(steal_while_popping, .claim = "an item is taken once", .preemptions = 3);
 *
 * What is modelled, how, and what is not: docs/testing.md. Static variables of the program are put
 * back before each run; memory comes from os_alloc (malloc would not be put back).
 */
#ifndef MC_H
#define MC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MC_UNBOUNDED (-1)
#define MC_ZERO (-2) /* for bounds whose 0 means "as usual" */

struct mc_model {
    const char *name;
    const char *claim;     /* what holds in every run, in words                               */
    void (*run)(void);     /* the first thread                                                */
    int preemptions;       /* how often a thread that could go on is stopped; 0: 2            */
    int stale;             /* how many loads return an old value; 0: unbounded                */
    int spurious;          /* how many waits and weak CASes fail without cause; 0: 1          */
    int spins;             /* how often a spin loop runs out of patience; 0: 1                */
    int failing;           /* how many times a call that may fail does (mc_fails); 0: none    */
    int hasty;             /* how many sleeps with a deadline end at once: the others go on meanwhile */
    bool alarms;           /* sleeps with a deadline end when nothing else can go on          */
    bool sleepers_stay;    /* threads may sleep for good when the first one has ended         */
    bool old_stores;       /* stores may be put before others in the order of their word      */
    bool no_membarrier;    /* the machine has none                                            */
    bool leaks;            /* memory need not be freed at the end                             */
    const char *must_say;  /* a demonstration: it fails, and this is part of what is reported */
    const char *outcomes;  /* the results of all runs (mc_outcome), exactly these: "0 1 11"   */
    unsigned steps;        /* a run that takes more is a livelock; 0: 20,000                  */
};

#define MC_MODEL(id, ...)                                                                         \
    static const struct mc_model mc_model_##id = {.name = #id, .run = id, __VA_ARGS__};           \
    __attribute__((constructor)) static void mc_register_##id(void)                               \
    {                                                                                             \
        mc_register(&mc_model_##id);                                                              \
    }                                                                                             \
    extern int mc_semicolon_wanted

void mc_register(const struct mc_model *model);

/* Threads. The one that runs the model is 0. */
int mc_thread(void (*fn)(void *arg), void *arg);
void mc_join(int thread);
void mc_join_all(void);
int mc_self(void);

/* What must hold. A failure ends the exploration and prints how it came about. */
#define mc_check(condition) mc_check_at((condition), #condition, __FILE__, __LINE__)
void mc_check_at(bool ok, const char *text, const char *file, int line);
void mc_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* A task that must run exactly once: announced, and run. Missing ones are found at the end. */
enum { MC_TASKS = 32 };
void mc_born(unsigned task);
void mc_ran(unsigned task);

/* Any of 0 .. n-1: all are tried. */
unsigned mc_choose(unsigned n);

/* Relaxed loads from here may be late: return what another thread stores only afterwards, until
 * the next release by the loading thread. For words whose value is used only after such a release. */
void mc_late(const void *address, size_t size);

/* The result of this run, as a number; the model lists those that are allowed. */
void mc_outcome(unsigned result);

/* A line of the model's own in the report. */
void mc_note(const char *text);

/* Asks the library, as its signal handler would, whose stack overflowed at this address. */
size_t mc_overflow(const void *address, char *text, size_t size);

/* The machine's calls that fail now and then, as many times as the model allows. */
enum mc_call { MC_ALLOC = 1, MC_PAGES = 2, MC_THREAD = 4, MC_MEMBARRIER = 8 };
void mc_fails(unsigned calls);

#endif
