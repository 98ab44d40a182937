/* watch.c: names tasks that keep their worker; says now and then how the workers and queues are.
 *
 * One thread per pool, if hog_ns or schedtrace_ns is set. A worker that picked nothing (its tick stands
 * still) and is on the same fiber as at the last look has been at it since then. So the time is known to
 * a quarter of hog_ns, and the workers do nothing for it. A pinned wait keeps the worker, too, but begins
 * the time anew. Forks of a hog and what is queued behind it are taken by thieves, and a stand-in (seat.c)
 * works in its stead until it is seen to have gone on; with one worker and no stand-in the report is all that
 * can be done.
 *
 * | field    | writer                          | reader   | invariant                              |
 * | word     | watch: QUIET, others: AWAKE, STOP | the same | QUIET: it sleeps until somebody is active |
 * | looked   | look_lock                       | the same |                                        |
 *
 * [H1] Nobody polls when nothing runs: the watch stores QUIET, then looks whether all are asleep;
 *      who takes a sleeper out of the set does so, then looks for QUIET. Both sequentially
 *      consistent: one sees the other.
 */
#include "core/watch.h"
#include "core/idle.h"
#include "core/queue.h"
#include "core/look.h"
#include "core/report.h"
#include "core/run.h"

#include <stdio.h>

int64_t watch_look(struct worker *w, int64_t now)
{
    struct fiber *f = filch_load_relaxed(&w->fiber);  /* order: a hint */
    uint32_t tick = filch_load_relaxed(&w->tick);     /* order: a hint */
    if (!f || w->looked.fiber != f || w->looked.tick != tick) {
        w->looked.fiber = f;
        w->looked.tick = tick;
        w->looked.since_ns = now;
        w->looked.reported = false;
        if (w->looked.replaced)
            seat_stand_down(w->pool);
        w->looked.replaced = false;
    } else if (filch_load_relaxed(&f->waiting)) { /* order: a hint; fibers stay mapped */
        w->looked.since_ns = now;
    }
    return now - w->looked.since_ns;
}

size_t watch_behind(struct worker *w)
{
    size_t n = queue_size(w) + inject_count(&w->inbox);
    return n + (filch_load_relaxed(&w->next) != 0); /* order: a guess */
}

/* A guest that came with work of its own, or one of whom that cannot be seen just now. One that waits, and
 * helps meanwhile, runs what is the pool's: what ends its wait may lie behind it. */
static bool runs_its_own(struct worker *w)
{
    uint32_t guest;
    struct body *at, body;
    if (os_peek(&guest, &w->guest, sizeof guest) == 0 && !guest)
        return false;
    return os_peek(&at, &w->body, sizeof at) != 0 || os_peek(&body, at, sizeof body) != 0 || body.root;
}

/* A task or job that runs; not one that waits pinned, and not what is its own thread's business. */
static bool is_hog(struct worker *w, struct fiber *copy)
{
    return os_peek(copy, w->looked.fiber, sizeof *copy) == 0 && copy->root && !copy->waiting &&
           !copy->joining && !runs_its_own(w);
}

static void name_of(char *name, const struct fiber *copy)
{
    filch_task t;
    struct root r;
    name[0] = '\0';
    if (copy->task && os_peek(&t, copy->task, sizeof t) == 0)
        look_text(name, LOOK_NAME, t.name);
    else if (os_peek(&r, copy->root, sizeof r) == 0)
        look_text(name, LOOK_NAME, r.name);
}

static void report(struct worker *w, int64_t kept)
{
    struct fiber copy;
    char name[LOOK_NAME];
    if (!is_hog(w, &copy))
        return;
    w->looked.reported = true;
    w->looked.replaced = seat_stand_in(w->pool, 0);
    EV(w, HOG);
    name_of(name, &copy);
    size_t behind = watch_behind(w);
    report_warning("filch: %s \"%s\" has run on worker %d for %lld ms without waiting; %zu task%s behind it",
                   copy.task ? "task" : "job", name[0] ? name : "unnamed", w->id,
                   (long long)(kept / 1000000), behind, behind == 1 ? " waits" : "s wait");
}

static void look_around(filch_pool *pool)
{
    int64_t now = os_clock_ns();
    lock_acquire(&pool->look_lock);
    for (int i = 0; i < pool->count; i++) {
        struct worker *w = &pool->workers[i];
        int64_t kept = watch_look(w, now);
        if (pool->config.hog_ns > 0 && kept >= pool->config.hog_ns && !w->looked.reported)
            report(w, kept);
    }
    lock_release(&pool->look_lock);
}

/* ---- one line ------------------------------------------------------------------------------- */

static void trace(filch_pool *pool, int64_t ms)
{
    char queues[360]; /* of as many as fit into a line */
    size_t used = 0;
    struct idle_figures now = idle_figures(pool);
    queues[0] = '\0';
    for (int i = 0; i < pool->count; i++) {
        int n = snprintf(queues + used, sizeof queues - used, " %zu", watch_behind(&pool->workers[i]));
        if (n < 0 || (size_t)n >= sizeof queues - used)
            break;
        used += (size_t)n;
    }
    report_warning("filch sched %lld ms: pool \"%.32s\", %d workers, %u asleep, %u searching; "
                   "injector %zu; queues%s", (long long)ms, pool->name, pool->count, now.sleeping,
                   now.searching, inject_count(&pool->injector), queues);
}

/* ---- the thread ----------------------------------------------------------------------------- */

static bool stopped(filch_pool *pool)
{
    return filch_load_acquire(&pool->watch.word) == WATCH_STOP; /* order: pairs with watch_stop */
}

void watch_sleep(filch_pool *pool)
{
    uint32_t *word = &pool->watch.word, was = WATCH_AWAKE;
    if (!filch_cas_seq_cst(word, &was, (uint32_t)WATCH_QUIET)) /* order: [H1] */
        return;
    while (idle_quiet(pool) && filch_load_relaxed(word) == WATCH_QUIET) /* order: looked at again */
        (void)os_futex_wait(word, WATCH_QUIET, INT64_MAX);
    was = WATCH_QUIET;
    (void)filch_cas_seq_cst(word, &was, (uint32_t)WATCH_AWAKE); /* order: own state; STOP stays */
}

/* Until when to sleep, if the last line was due at `line`. */
static int64_t until(const filch_pool *pool, int64_t now, int64_t line)
{
    int64_t hogs = pool->config.hog_ns ? now + pool->config.hog_ns / 4 : INT64_MAX;
    int64_t lines = pool->config.schedtrace_ns ? line + pool->config.schedtrace_ns : INT64_MAX;
    return hogs < lines ? hogs : lines;
}

static void watch_main(void *arg)
{
    filch_pool *pool = arg;
    int64_t begin = os_clock_ns(), line = begin;
    while (!stopped(pool)) {
        int64_t now = os_clock_ns();
        look_around(pool);
        if (pool->config.schedtrace_ns && now - line >= pool->config.schedtrace_ns) {
            trace(pool, (now - begin) / 1000000);
            line = now;
        }
        if (idle_quiet(pool))
            watch_sleep(pool);
        (void)os_futex_wait(&pool->watch.word, WATCH_AWAKE, until(pool, now, line));
    }
}

void watch_start(filch_pool *pool)
{
    if (!watch_wanted(pool))
        return;
    pool->watch.has_thread = os_thread_start(&pool->watch.thread, watch_main, pool, "filch-watch") == 0;
    if (!pool->watch.has_thread)
        report_warning("filch: no thread to watch pool \"%s\": hogs are not named, nothing is traced",
                       pool->name);
}

void watch_stop(filch_pool *pool)
{
    if (!pool->watch.has_thread)
        return;
    filch_store_seq_cst(&pool->watch.word, WATCH_STOP); /* order: pairs with stopped */
    os_futex_wake(&pool->watch.word, 1);
    os_thread_join(pool->watch.thread);
}

void watch_reset(filch_pool *pool)
{
    pool->watch.has_thread = false;
    pool->watch.word = WATCH_AWAKE;
}
