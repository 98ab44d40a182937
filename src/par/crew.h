/* crew.h: fork-join for algorithms that divide an array: two jobs at once, or a row of pieces.
 *
 * | field    | writer                                                          | invariant                |
 * | active   | who publishes, takes back, or ends what it stole; with a limit  | at most `limit` published |
 * | the rest | the caller, before it starts                                    |                          |
 *
 * [K1] With a limit of k workers at most k - 1 jobs are published or stolen at once, so no more than k run. A
 *      job is counted before it is published, and until it was taken back or the thief is done with it.
 *
 * Nothing is left out after a cancellation: an array must keep its elements, and only the algorithm knows
 * what it still has to move. It asks crew_stopped where it can save work.
 */
#ifndef FILCH_CREW_H
#define FILCH_CREW_H

#include "par/par.h"

struct crew {
    struct par par;
    size_t grain;                  /* pieces of fewer elements are not forked */
    uint32_t limit;                /* jobs published at most */
    uint32_t active;
};

typedef void crew_fn(struct crew *c, filch_slot *head, void *job);

/* `grain` is what to use if the caller gave none. */
void crew_begin(struct crew *c, const filch_how *how, const char *call, size_t grain);
/* fn(job) on the pool, to work on n elements; for few of them at once, on the caller's stack. */
void crew_run(struct crew *c, size_t n, crew_fn *fn, void *job);
int crew_end(const struct crew *c);

bool crew_stopped(const struct crew *c);
/* At least 1. */
size_t crew_workers(const struct crew *c);

/* fn(left) and fn(right), perhaps at the same time. */
void crew_both(struct crew *c, filch_slot *head, crew_fn *fn, void *left, void *right);
/* fn(i) for 0 <= i < n. */
void crew_each(struct crew *c, filch_slot *head, size_t n, void (*fn)(struct crew *c, size_t i, void *arg),
               void *arg);

/* memcpy of a large block. */
void crew_copy(struct crew *c, filch_slot *head, void *to, const void *from, size_t size);

/* Memory for a call: the caller's scratch if it is large enough, else fresh; contents unknown, aligned to at
 * least 16 bytes. Null in `at`: there is none. */
struct room {
    void *at;
    size_t mapped;                 /* bytes, if it came from os_pages_reserve */
    bool borrowed;
};

struct room room_take(const struct crew *c, size_t size);
void room_give(struct room *r);

#endif
