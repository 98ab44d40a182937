/* job.h: submitted jobs. */
#ifndef FILCH_JOB_H
#define FILCH_JOB_H

#include "core/worker.h"

/* The job ran: tell whoever waits. The job may be gone afterwards. */
void job_finish(filch_job *job);

/* The pool, or the current one, or the default one; null if there is no memory. */
filch_pool *job_pool(filch_pool *pool);
void job_check_pool(const filch_pool *pool, const char *call);

#endif
