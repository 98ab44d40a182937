/* family.h: parents that wait for their children, as the records of a run show them.
 *
 * The critical path of a task is the time that it needs at least, with any number of workers: its own work
 * and, between the two parts of it, the critical path of the child that needs longest. */
#ifndef FILCH_SIM_FAMILY_H
#define FILCH_SIM_FAMILY_H

#include "sim/simulate.h"

struct family_task {
    sim_time submitted;      /* or spawned                                                   */
    sim_time begin, end;     /* SIM_NEVER: it did not                                        */
    sim_time before, after;  /* its own work before it waited, and behind that; no wait: all before */
    sim_time path;           /* its critical path                                            */
    sim_time children_work;  /* of its children, and theirs                                  */
    uint32_t children;
    uint32_t longest;        /* the child with the longest path, or SIM_NO_TASK              */
    bool waited;
};

struct family {
    struct family_task *task; /* by number, as in the records */
    size_t n;
    uint32_t last;           /* submitted from outside, and on the path that ends last; SIM_NO_TASK */
};

/* 0, -ENOMEM, or -EINVAL if the records of the run are not complete. */
int family_of(const struct sim_result *r, struct family *out);
void family_free(struct family *f);

/* A task that has ended: how much later than without children. */
static inline sim_time family_later(const struct family_task *t)
{
    return t->end - t->begin - t->before - t->after;
}

#endif
