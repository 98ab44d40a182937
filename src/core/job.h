/* job.h: submitted jobs. */
#ifndef FILCH_JOB_H
#define FILCH_JOB_H

#include "core/idle.h"

/* In job.slot of jobs that are not forks: the library's own copy; one that runs even if its pool is
 * cancelled; one that did not run, because its pool was. */
#define JOB_DETACHED ((filch_slot *)1)
#define JOB_ALWAYS ((filch_slot *)2)
#define JOB_LEFT_OUT ((filch_slot *)3)

/* Instead of running it: its waiters will be told. */
static inline void job_leave_out(filch_job *job)
{
    if (job->slot != JOB_DETACHED)
        job->slot = JOB_LEFT_OUT;
}

/* The job ran, or was left out: tell those that wait. The job may be gone afterwards. */
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
