/* future.c: a task whose result is a pointer.
 *
 * | field   | writer                          | reader                              | invariant      |
 * | result  | the task, before it ends        | who awaits, after the join          | task.h [T1]    |
 * | sharers | sub                             | the same: the last one frees it     | 2: task, owner |
 *
 * [U1] the last of the two acquires what the other did with it.
 */
#include "core/go.h"
#include "core/report.h"
#include "os/os.h"

#include <errno.h>
#include <filch/future.h>
#include <filch/ord.h>
#include <filch/scope.h>

struct filch_future {
    void *(*fn)(void *arg);
    void *arg;
    void *result;
    filch_task *task; /* null: taken */
    uint32_t sharers;
};

static void leave(filch_future *f)
{
    if (filch_sub_acq_rel(&f->sharers, 1u) == 1) /* order: [U1] */
        os_free(f);
}

/* Always run: it shares the future. */
static int future_run(void *arg)
{
    filch_future *f = arg;
    int rc = filch_canceled() ? -ECANCELED : 0;
    if (rc == 0)
        f->result = f->fn(f->arg);
    leave(f);
    return rc;
}

int filch_future_start_with(filch_future **out, const filch_task_attr *attr, void *(*fn)(void *arg),
                            void *arg)
{
    if (!out || !fn)
        report_misuse("filch_future_start", "null result pointer or null function");
    *out = 0;
    filch_future *f = os_alloc(sizeof *f);
    if (!f)
        return -ENOMEM;
    *f = (filch_future){.fn = fn, .arg = arg, .sharers = 2};
    int rc = spawn_always(&f->task, attr, future_run, f);
    if (rc == 0)
        *out = f;
    else
        os_free(f);
    return rc;
}

int filch_future_start(filch_future **out, void *(*fn)(void *arg), void *arg)
{
    return filch_future_start_with(out, 0, fn, arg);
}

static filch_task *task_of(const filch_future *f, const char *call)
{
    if (!f || !f->task)
        report_misuse(call, "not a future, or one that was awaited or dropped already");
    return f->task;
}

int filch_future_await(filch_future *f, void **result, int64_t deadline)
{
    int left_out, rc = filch_task_join(task_of(f, "filch_future_await"), &left_out, deadline);
    if (rc != 0)
        return rc;
    if (result)
        *result = f->result;
    f->task = 0; /* used again it is reported, for a while */
    leave(f);
    return left_out;
}

int filch_future_done(const filch_future *f)
{
    return filch_task_done(task_of(f, "filch_future_done"));
}

void filch_future_drop(filch_future *f)
{
    filch_task_detach(task_of(f, "filch_future_drop"));
    f->task = 0; /* used again it is reported, for a while */
    leave(f);
}
