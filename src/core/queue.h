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
/* What to run: `next`, unless that has gone on for long while others wait in the queue; or 0. */
work_item queue_take(struct worker *w);

enum queue_result { QUEUE_EMPTY, QUEUE_CONTENDED, QUEUE_TAKEN };

/* The place before the queue, for what was just made ready and will find its data in the cache: the
 * newest goes there, what stood there moves on into the queue. Others leave it alone at first: a
 * thief takes it when it has stood there for a microsecond while the owner picked nothing.
 *
 * | next   | owner: store from 0, exchange; thief: CAS to 0 | all   | only the owner puts items there |
 * [N1] released by the put, acquired by the taker: the item's contents.
 *
 * queue_push_next says whether others should be told: something moved into the queue, or a thief took
 * what was put there last (then there is somebody who has time; two that wake each other in turn, and
 * are taken by their own worker, tell nobody). With run_next=off, or a queue that is not the default one, it
 * puts the item into the queue. */
bool queue_push_next(struct worker *w, work_item it);
bool queue_take_next(struct worker *w, work_item *out);
enum queue_result queue_steal_next(struct worker *w, struct worker *victim, work_item *out);
/* The owner takes this one back from there. */
bool queue_retract_next(struct worker *w, work_item it);
/* Before the owner leaves its seat. */
void queue_flush_next(struct worker *w);

/* Thief `w` from the queue of `victim`: the first in *out, more into its own queue. */
enum queue_result queue_steal(struct worker *w, struct worker *victim, work_item *out);

/* Length, a guess. */
size_t queue_size(struct worker *w);

int queue_init(struct worker *w, uintptr_t *storage);
void queue_destroy(struct worker *w);
void queue_reset(struct worker *w); /* in the child of fork(): empty */

#endif
