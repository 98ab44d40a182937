/* jobs.h: items.h for queues of real jobs, which are linked through themselves. */
#ifndef MODEL_JOBS_H
#define MODEL_JOBS_H

#include "mc.h"

#include "core/item.h"

static filch_job jobs[8];

static inline work_item job_item(unsigned task)
{
    jobs[task].arg = &jobs[task]; /* plain, and checked by whoever takes it */
    mc_born(task);
    return item_job(&jobs[task]);
}

static inline unsigned job_task(work_item it)
{
    return (unsigned)((filch_job *)it - jobs);
}

static inline void job_run(work_item it)
{
    filch_job *job = (filch_job *)it;
    mc_check(job >= jobs && job < jobs + 8 && job->arg == job);
    mc_ran(job_task(it));
    job->arg = 0; /* it is ours now */
}

#endif
