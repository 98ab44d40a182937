/* watch.h: who keeps a worker for too long? And a line now and then about all of them. */
#ifndef FILCH_WATCH_H
#define FILCH_WATCH_H

#include "core/worker.h"

/* pool.watch.word */
enum { WATCH_AWAKE, WATCH_QUIET, WATCH_STOP };

static inline bool watch_wanted(const filch_pool *p)
{
    return (p->config.hog_ns | p->config.schedtrace_ns) != 0;
}

/* Somebody becomes active: the watch has something to look at. */
static inline void watch_rouse(filch_pool *p)
{
    uint32_t was = WATCH_QUIET;
    if (!watch_wanted(p))
        return;
    if (filch_cas_seq_cst(&p->watch.word, &was, (uint32_t)WATCH_AWAKE)) /* order: [H1] of watch.c */
        os_futex_wake(&p->watch.word, 1);
}

/* A thread that watches the pool, if its configuration asks for one. */
void watch_start(filch_pool *pool);
void watch_stop(filch_pool *pool);
void watch_reset(filch_pool *pool); /* in the child of fork(): there is none */

/* The watch sleeps while nothing runs. */
void watch_sleep(filch_pool *pool);

/* For how long this worker has been seen to run the same thing: at least so long. pool.look_lock
 * held. */
int64_t watch_look(struct worker *w, int64_t now);

/* What waits at this worker, a guess. */
size_t watch_behind(struct worker *w);

#endif
