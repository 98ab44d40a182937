/* sim_page.h: the run view, a part of a page (plot.h): what each worker did, step by step. */
#ifndef SIM_PAGE_H
#define SIM_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum page_kind {
    PAGE_SUBMITTED,  /* the task is put into the worker's queue from outside; an initial load too */
    PAGE_EXECUTING,  /* the worker begins the task, which leaves its queue if it is there         */
    PAGE_COMPLETED,  /* the worker ends the task                                                  */
    PAGE_STOLE,      /* the worker took the task from the queue of `other` into its own           */
    PAGE_SPAWNED,    /* the task is put into the worker's queue by task `other`                   */
    PAGE_WAITS,      /* the task of the worker waits for its children                             */
    PAGE_RESUMED,    /* the task goes on, on this worker                                          */
    PAGE_FAILED,     /* a search found nothing                                                    */
    PAGE_PARKED,
    PAGE_WOKEN,
    PAGE_LOCKED_OUT, /* a probe of the queue of `other` met another worker there                  */
    PAGE_KINDS
};

/* In order of time, and of cause where times are equal. */
struct page_record {
    int64_t time_ns;
    int kind;        /* enum page_kind                                           */
    int worker;      /* from 0                                                   */
    int other;       /* a worker or a task, see above; -1: none                  */
    unsigned task;
    unsigned length; /* of the worker's queue afterwards; not used: the view counts */
};

struct page_run {
    const char *title;
    int workers;
    size_t n;
    const struct page_record *record;
    size_t tasks;
    const char *const *task_name; /* of each task                                */
    const char *const *line;      /* of each record what the log says, or null   */
};

/* The most of a view with steps. Beyond: a chart, and the end of the log. */
enum { PAGE_WORKERS = 16, PAGE_RECORDS = 20000 };

/* Records that name no worker or task of the run are left out. `number` counts the views of a page; style and
 * script come with number 0. The address of a page may end with #at=17, or with #at=17&run=1. */
void sim_page_run(FILE *f, const struct page_run *run, int number);

#endif
