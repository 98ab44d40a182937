/* job.h: submitted jobs. */
#ifndef FILCH_JOB_H
#define FILCH_JOB_H

#include "core/idle.h"

/* The job ran: tell whoever waits. The job may be gone afterwards. */
void job_finish(filch_job *job);

/* The pool, or the current one, or the default one; null if there is no memory. */
filch_pool *job_pool(filch_pool *pool);

/* Tasks: n more, by this worker or (null) another thread: 0 or -EPIPE. One less, by this worker. */
int job_begin_task(filch_pool *pool, struct worker *w);
void job_end_task(struct worker *w);
/* The calling thread may work as a guest of the pool, until `until` holds or nothing is to be done. */
void job_help(filch_pool *pool, bool (*until)(void *), void *arg, int64_t deadline);
/* The same without a deadline, if the caller is not one of the pool's own. */
void job_help_outside(filch_pool *pool, bool (*until)(void *), void *arg);

void job_check_pool(const filch_pool *pool, const char *call);

#endif
