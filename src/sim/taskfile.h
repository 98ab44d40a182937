/* taskfile.h: lists of tasks and graphs of tasks, as text.
 *
 *     # id  time  worker  duration  [parent]  [after=ID,ID...]
 *     A     0     2       1.5                       # submitted to worker 2 at time 0
 *     B     0.5   *       2                         # to a worker chosen at random
 *     B.0   -     -       0.3       B               # spawned by B when B is half done
 *     C     0     *       1ms       after=A,B.0     # can start once A and B.0 have ended
 *
 * One task a line, columns separated by blanks. An id has up to 31 printable characters other than blank,
 * ',' and '#'; it is unique and neither "-", "*" nor begins with "after=". Times are as for
 * sim_time_parse(). '-' or '*' stands for what is not given: the time is then 0, the worker any, the
 * parent none; the duration must be given. A task with a parent begins its life when the parent spawns it:
 * its time is '-' or 0, and without a worker it is put where its parent runs. A parent, and what stands
 * behind after=, may be defined further down.
 *
 * The parent's first half comes before the child, and so does everything behind after=. A cycle of these
 * is refused: none of its tasks could ever start. An id behind after= may be repeated.
 */
#ifndef FILCH_SIM_TASKFILE_H
#define FILCH_SIM_TASKFILE_H

#include "sim/clock.h"

#include <stdio.h>

enum { TASK_ID_SIZE = 32 };

struct task_line {
    char id[TASK_ID_SIZE]; /* unused bytes are 0 */
    sim_time at;
    sim_time duration;
    int worker;       /* -1: not given. Not compared with the number of workers */
    int parent;       /* index of the task that spawns this one half-way, or -1 */
    unsigned n_after; /* tasks that must end first */
    unsigned line;    /* where it stands, for messages */
    int *after;       /* their indices */
};

struct task_list {
    struct task_line *task; /* in the order of the lines */
    size_t n;
    int *edges; /* what all after[] point into */
};

/* 0 with at least one task, or -EINVAL (-ENOMEM) and a message "NAME:LINE: what is wrong; what would be
 * right"; then the list is empty. A list that was read is freed with task_list_free(). */
int task_list_read(struct task_list *out, FILE *from, const char *name, char *message, size_t size);

/* The same from memory. */
int task_list_parse(struct task_list *out, const void *data, size_t length, const char *name, char *message,
                    size_t size);

void task_list_free(struct task_list *list);

#endif
