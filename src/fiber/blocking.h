/* blocking.h: the offload threads, for tests and for who must leave nothing behind. */
#ifndef FILCH_FIBER_BLOCKING_H
#define FILCH_FIBER_BLOCKING_H

#include <stdint.h>

/* Waits until no call is left and every offload thread has ended. Calls made meanwhile are served.
 * Threads outside only: it blocks. */
void blocking_stop(void);

struct blocking_figures {
    uint32_t threads, idle, queued, most; /* most: threads at a time so far */
};
struct blocking_figures blocking_figures(void);

/* How long a thread without a call stays, for tests; returns what it was. */
int64_t blocking_patience(int64_t ns);

#endif
