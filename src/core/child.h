/* child.h: the child of a task.
 *
 * fork() in a task, job, stolen fork or blocking call leaves a child that has one thread, on that task's
 * stack, and locks and queues as the other threads were about to change them. It may call exec, _exit and
 * exit, fork() again, and whatever the C library allows; with the library itself it gets one line, then
 * abort. That is found out where it costs nothing on the path:
 *   - it has no worker, so every call takes the way of a thread outside; the default pool is gone, and no
 *     pool has its magic word (job_check_pool);
 *   - where a thread outside would block, spin, or hand something to a pool (child_check), and where
 *     another mistake would be reported;
 *   - its forks are claimed, so a join takes the slow way; its loops are cancelled; its fiber has one pin
 *     too many, which is seen when the task returns.
 *
 * | field         | writer                  | reader | invariant                                            |
 * | child_of_task | the handler of fork()   | any    | true in the child of a task, and in its children     |
 *
 * It is written while the process has one thread.
 */
#ifndef FILCH_CORE_CHILD_H
#define FILCH_CORE_CHILD_H

#include <stdbool.h>

struct worker;

extern bool child_of_task;

/* One line that names the call, then abort. */
void child_refuse(const char *call) __attribute__((cold, noinline, noreturn));

static inline void child_check(const char *call)
{
    if (__builtin_expect(child_of_task, 0))
        child_refuse(call);
}

/* In the handler of fork(): the process is the child of what runs on this worker, or (null) in a blocking
 * call. */
void child_begin(struct worker *w);

#endif
