/* mutex.c: a lock that several tasks want. */
#include "cases.h"

#if __has_include(<filch/sync.h>)
#include <filch/sync.h>

struct shared {
    filch_mutex mutex;
    int64_t counter;
    int share, failed;
    int64_t ns;
};

static int locker(void *arg)
{
    struct shared *s = arg;
    for (int i = 0; i < s->share; i++) {
        if (filch_mutex_lock(&s->mutex, FILCH_FOREVER))
            return 1;
        s->counter++;
        filch_mutex_unlock(&s->mutex);
    }
    return 0;
}

static void lockers_main(void *arg)
{
    struct shared *s = arg;
    filch_task *tasks[CASE_LOCKERS];
    int n = 0;
    int64_t start = filch_clock_ns();
    while (n < CASE_LOCKERS && filch_spawn(&tasks[n], locker, s) == 0)
        n++;
    s->failed = n < CASE_LOCKERS;
    while (n > 0)
        filch_task_join(tasks[--n], NULL, FILCH_FOREVER);
    s->ns = filch_clock_ns() - start;
}

const char *mutex_eight(const struct tasks_request *ask, struct tasks_report *out)
{
    struct shared s = {.share = (ask->size + CASE_LOCKERS - 1) / CASE_LOCKERS};
    if (tasks_main(ask->pool, lockers_main, &s) || s.failed)
        return "a task cannot be made";
    if (s.counter != (int64_t)s.share * CASE_LOCKERS)
        return "wrong count";
    out->ns_per_op = tasks_per_op(s.ns, s.counter);
    return NULL;
}

#else

const char *mutex_eight(const struct tasks_request *ask, struct tasks_report *out)
{
    (void)ask, (void)out;
    return "skipped, the library has no mutex yet (filch/sync.h)";
}

#endif
