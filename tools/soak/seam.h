/* seam.h: the shaking layer between the library and os.h.
 *
 * The program is linked with --wrap for the functions below: the library's calls arrive here first.
 * With seeded odds the calling thread is paused, a sleep ends early, or the call fails where os.h
 * lets it fail. Failures only on threads that asked for them and on the threads that these start:
 * the pools of a phase whose account expects them.
 *
 * | field            | writer            | reader  | invariant                                    |
 * | threads[].used   | CAS, the thread   | watch   | 0 free, 1 from seam_enter to seam_leave      |
 * | threads[].view   | the thread        | watch   | figures; of an earlier thread if it is late  |
 * | level            | watch             | threads | how hard: a hint                             |
 */
#ifndef SOAK_SEAM_H
#define SOAK_SEAM_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SEAM_THREADS = 512, SEAM_SHARED = -1 };

/* What the watch may know of a thread. */
struct seam_view {
    pid_t tid;
    int driver;           /* whose phase it belongs to, or SEAM_SHARED       */
    uint32_t worker;      /* a thread of a pool                              */
    const char *where;    /* the call it is in, or null                      */
};

struct seam_thread {
    uint32_t used;
    struct seam_view view;
    /* The thread's own. */
    uint32_t faults;      /* calls may fail                                  */
    uint32_t fenced;      /* pools it makes do without membarrier            */
    uint32_t hot, cold;   /* calls left until the next pause                 */
    struct rng rng;
};

struct seam_totals {
    uint64_t pauses, long_pauses, spurious, failures;
};

enum seam_level { SEAM_CALM, SEAM_LIGHT, SEAM_STORM };

/* The calling thread takes part, and no longer. */
void seam_enter(int driver, uint64_t seed);
void seam_leave(void);
struct seam_thread *seam_self(void);
/* A place in the soak itself where a thread may be paused. */
void seam_point(void);

void seam_set_level(enum seam_level level);
struct seam_totals seam_totals(void);
/* The i-th of SEAM_THREADS records. False if it is not in use. */
bool seam_look(int i, struct seam_view *out);

#endif
