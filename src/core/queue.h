/* queue.h: a worker's own queue of submitted jobs and resumable fibers, whichever kind it is.
 *
 * The default is the ring; the others are policies and baselines behind `pool->plain`, one test
 * of a constant. None can be full for good: what does not fit goes to the pool's injector. */
#ifndef FILCH_QUEUE_H
#define FILCH_QUEUE_H

#include "core/worker.h"

/* Owner. */
void queue_push(struct worker *w, work_item it);
void queue_push_many(struct worker *w, const work_item *items, size_t n);
bool queue_pop(struct worker *w, work_item *out);

enum queue_result { QUEUE_EMPTY, QUEUE_CONTENDED, QUEUE_TAKEN };
/* Thief `w` from the queue of `victim`: the first in *out, more into its own queue. */
enum queue_result queue_steal(struct worker *w, struct worker *victim, work_item *out);

/* Length, a guess. */
size_t queue_size(struct worker *w);

int queue_init(struct worker *w, uintptr_t *storage);
void queue_destroy(struct worker *w);
void queue_reset(struct worker *w); /* in the child of fork(): empty */

#endif
