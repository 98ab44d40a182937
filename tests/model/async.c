/* async.c: models of stackless tasks (fiber/async.c): wakes, polls, aborts. The queue is one word, as the
 * task may stand there only once; two workers take from it. Real queues and the end of a pool are in
 * async_pool.c. */
#include "mc.h"

#include "core/event.h"
#include "core/job.h"
#include "core/queue.h"
#include "core/run.h"

#include <errno.h>
#include <filch/async.h>

static filch_pool played;
static struct worker worker[4];
static filch_async *task;
static uint32_t queued;   /* futex: it is in the queue             */
static uint32_t over;     /* it has ended                          */
static unsigned inside;   /* plain: a second poll would be a race  */
static unsigned polls;

/* ---- played: the rest of the core ------------------------------------------------------------ */

static void push(work_item it)
{
    mc_check(item_as_poll(it) == task);
    mc_check(filch_xchg_acq_rel(&queued, 1u) == 0); /* once */
    os_futex_wake(&queued, 1);
}

bool queue_push_next(struct worker *w, work_item it)
{
    (void)w;
    push(it);
    return false;
}

void queue_push(struct worker *w, work_item it)
{
    (void)w;
    push(it);
}

void idle_notify(filch_pool *pool, struct worker *w)
{
    (void)pool, (void)w;
}

int job_begin_task(filch_pool *pool, struct worker *w)
{
    (void)pool, (void)w;
    return 0;
}

void job_end_task(struct worker *w)
{
    mc_check(w != 0);
    mc_check(filch_xchg_acq_rel(&over, 1u) == 0);
    filch_store_release(&queued, 2u);
    os_futex_wake(&queued, 4);
}

void job_check_pool(const filch_pool *pool, const char *call)
{
    (void)pool, (void)call;
}

filch_pool *job_pool(filch_pool *pool)
{
    return pool;
}

void job_help(filch_pool *pool, bool (*until)(void *), void *arg, int64_t deadline)
{
    (void)pool, (void)until, (void)arg, (void)deadline;
}

void run_over(void)
{
}

void event_set(uintptr_t *state)
{
    filch_store_release(state, (uintptr_t)1);
}

bool event_is_set(const uintptr_t *state)
{
    return filch_load_acquire(state) == 1;
}

int event_wait(uintptr_t *state, int64_t deadline)
{
    (void)state, (void)deadline;
    mc_fail("nobody waits here");
}

int64_t event_deadline(filch_pool *pool, int64_t deadline)
{
    (void)pool;
    return deadline;
}

/* ---- who works ------------------------------------------------------------------------------- */

static void seat(int i)
{
    worker[i].pool = &played;
    os_self_set(&worker[i]);
}

/* Takes it from the queue until it has ended. A wake-up that was lost leaves everybody asleep. */
static void works(void *number)
{
    seat((int)(intptr_t)number);
    for (;;) {
        uint32_t was = 1;
        if (filch_cas_acq_rel(&queued, &was, 0u))
            task->run(task);
        else if (was == 2)
            return;
        else
            (void)os_futex_wait(&queued, 0, INT64_MAX);
    }
}

static uint32_t mail[2]; /* written before a wake: relaxed, so that only the wake hands it over */

static enum filch_poll takes(filch_async *self, void *arg)
{
    unsigned wanted = (unsigned)(uintptr_t)arg, got = 0;
    mc_check(self == task);
    inside++;
    for (unsigned i = 0; i < 2; i++)
        got += filch_load_relaxed(&mail[i]);
    polls++;
    inside--;
    mc_check(inside == 0);
    return got == wanted ? FILCH_READY : FILCH_PENDING;
}

static void sends(void *number)
{
    intptr_t i = (intptr_t)number;
    seat(2 + (int)i);
    filch_store_relaxed(&mail[i], 1u);
    filch_wake(task);
}

static void begin(filch_poll_fn *poll, unsigned wanted)
{
    task = os_alloc(sizeof *task);
    filch_async_init(task, poll, (void *)(uintptr_t)wanted);
    seat(0);
    mc_check(filch_async_start(task, &played) == 0);
}

static void end(int rc)
{
    mc_join_all();
    mc_check(filch_async_done(task));
    mc_check(filch_async_wait(task, FILCH_NOW) == rc);
    os_free(task);
}

/* ---- models ---------------------------------------------------------------------------------- */

static void async_wake_is_not_lost(void)
{
    begin(takes, 1);
    mc_thread(sends, (void *)0);
    works((void *)0);
    mc_check(polls <= 2);
    end(0);
}
MC_MODEL(async_wake_is_not_lost,
         .claim = "[Y1] a poll follows every wake and sees what was written before it",
         .preemptions = MC_UNBOUNDED);

static void async_two_wakers(void)
{
    begin(takes, 2);
    mc_thread(sends, (void *)0);
    mc_thread(sends, (void *)1);
    works((void *)0);
    mc_check(polls <= 3);
    end(0);
}
MC_MODEL(async_two_wakers, .claim = "two wakes at once are seen by one poll, or by two",
         .preemptions = 2, .stale = 2, .spurious = MC_ZERO);

static void async_never_by_two(void)
{
    begin(takes, 2);
    mc_thread(works, (void *)1);
    mc_thread(sends, (void *)1);
    seat(2);
    filch_store_relaxed(&mail[0], 1u);
    filch_wake(task);
    works((void *)0);
    end(0);
}
MC_MODEL(async_never_by_two,
         .claim = "[Y2] two workers never poll it at once, and the next sees what the last one wrote",
         .preemptions = 2, .stale = 1, .spurious = MC_ZERO);

static enum filch_poll wakes_itself(filch_async *self, void *arg)
{
    (void)arg;
    inside++;
    if (polls++ == 1)
        return FILCH_READY;
    filch_wake(self);
    return FILCH_PENDING;
}

static void async_wakes_itself(void)
{
    begin(wakes_itself, 0);
    mc_thread(works, (void *)1);
    works((void *)0);
    mc_check(polls == 2);
    end(0);
}
MC_MODEL(async_wakes_itself, .claim = "a task woken by its own poll is polled again, by any worker",
         .preemptions = MC_UNBOUNDED);

static void aborts(void *unused)
{
    (void)unused;
    seat(3);
    filch_async_abort(task);
}

static enum filch_poll never_ready(filch_async *self, void *arg)
{
    (void)self, (void)arg;
    mc_check(inside++ == 0);
    polls++;
    inside--;
    return FILCH_PENDING;
}

static void async_abort_against_wake(void)
{
    begin(never_ready, 0);
    mc_thread(aborts, 0);
    mc_thread(sends, (void *)0);
    works((void *)0);
    mc_check(polls <= 2);
    end(-ECANCELED);
}
MC_MODEL(async_abort_against_wake,
         .claim = "an aborted task ends once, whatever it is doing and whoever wakes it",
         .preemptions = 3, .stale = 2, .spurious = MC_ZERO);

static void async_abort_against_two(void)
{
    begin(never_ready, 0);
    mc_thread(works, (void *)1);
    mc_thread(aborts, 0);
    works((void *)0);
    end(-ECANCELED);
}
MC_MODEL(async_abort_against_two, .claim = "the same with two workers",
         .preemptions = 3, .stale = 2, .spurious = MC_ZERO);

static void async_abort_against_end(void)
{
    begin(takes, 1);
    mc_thread(sends, (void *)0);
    mc_thread(aborts, 0);
    works((void *)0);
    mc_join_all();
    int rc = filch_async_wait(task, FILCH_NOW);
    mc_check(rc == -ECANCELED || (rc == 0 && mail[0] == 1));
    os_free(task);
}
MC_MODEL(async_abort_against_end, .claim = "it is done or aborted, not both",
         .preemptions = 3, .stale = 2, .spurious = MC_ZERO);

/* ---- storage --------------------------------------------------------------------------------- */

static void frees_at_once(void *unused)
{
    (void)unused;
    while (!filch_async_done(task))
        os_pause();
    os_free(task);
}

static void async_may_be_freed_at_once(void)
{
    begin(takes, 1);
    mc_thread(frees_at_once, 0);
    mail[0] = 1;
    works((void *)0);
    mc_join_all();
}
MC_MODEL(async_may_be_freed_at_once,
         .claim = "who sees that it has ended may free it: nobody touches it any more",
         .preemptions = 3, .stale = 2, .spurious = MC_ZERO);

static void holds_and_sends(void *unused)
{
    sends(unused);
    filch_async_drop(task);
}

static void async_last_holder_frees(void)
{
    begin(takes, 1);
    task->holders = 3; /* as filch_async_spawn and filch_async_hold leave it */
    mc_thread(holds_and_sends, (void *)0);
    mc_thread(works, (void *)1);
    filch_async_drop(task);
    mc_join_all();
}
MC_MODEL(async_last_holder_frees,
         .claim = "[Y3] the last of waker, owner and library frees it, and no one else",
         .preemptions = 3, .stale = 2, .spurious = MC_ZERO);
