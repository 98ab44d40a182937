/* scope.c: models of scopes (fiber/scope.c): cancelled from outside while its last task ends and it is
 * closed, and while a scope is opened inside. A scope is freed as soon as it is closed: what touches it
 * later is found. */
#include "mc.h"

#include "core/event.h"
#include "core/go.h"
#include "core/idle.h"
#include "core/job.h"
#include "core/join.h"
#include "core/wait.h"
#include "core/yield.h"

#include <errno.h>
#include <filch/scope.h>

static filch_pool pool;

/* ---- played: tasks, which are threads, and the rest of the core -------------------------------------- */

struct task {
    struct wait_token *token;
    int (*fn)(void *arg);
    void *arg;
};

/* Waits for what only its scope's cancellation ends. */
static int waits(void *token)
{
    struct wait w;
    wait_begin(&w);
    w.token = token;
    return wait_park(&w, FILCH_FOREVER) == WAIT_CANCELED ? -ECANCELED : 0;
}

static int ends(void *unused)
{
    (void)unused;
    return 0;
}

static void runs(void *p)
{
    struct task t = *(struct task *)p;
    os_free(p);
    t.token->ended(t.token, t.fn(t.arg), 0);
}

int go_scoped(filch_pool *p, struct wait_token *token, const char *name, int (*fn)(void *), void *arg,
              bool always)
{
    (void)p, (void)name, (void)always;
    struct task *t = os_alloc(sizeof *t);
    *t = (struct task){token, fn, arg};
    mc_thread(runs, t);
    return 0;
}

bool run_suspend(struct worker *w, bool (*publish)(struct fiber *from, void *arg), void *arg)
{
    (void)w, (void)publish, (void)arg;
    return false;
}
bool run_suspend_for(struct worker *w, work_item it, bool (*publish)(struct fiber *from, void *arg),
                     void *arg)
{
    (void)it;
    return run_suspend(w, publish, arg);
}
void run_ready_from(struct worker *me, struct fiber *f) { (void)me, (void)f; }
void run_guest(filch_pool *p, struct fiber *below, bool (*until)(void *), void *arg)
{
    (void)p, (void)below, (void)until, (void)arg;
}
work_item find_at_hand(struct worker *w) { (void)w; return 0; }
void find_expose(struct fiber *f) { (void)f; }
void find_hide(struct fiber *f) { (void)f; }
void idle_notify(filch_pool *p, struct worker *w) { (void)p, (void)w; }
void idle_keep_time(filch_pool *p) { (void)p; }
bool idle_crippled(filch_pool *p) { (void)p; return false; }
struct away idle_seat_step_out(struct worker *w) { return (struct away){w->body, w->fiber, w->guest}; }
void idle_seat_step_in(struct worker *w, struct away away) { (void)w, (void)away; }
void filch_yield(void) {}
void yield_somehow(void) {}
bool join_run_own(struct worker *w, struct fiber *f) { (void)w, (void)f; return false; }
int64_t event_deadline(filch_pool *p, int64_t deadline) { (void)p; return deadline; }
void job_check_pool(const filch_pool *p, const char *call) { (void)p, (void)call; }
filch_pool *job_pool(filch_pool *p) { return p ? p : &pool; }
void job_help_outside(filch_pool *p, bool (*until)(void *), void *arg) { (void)p, (void)until, (void)arg; }

/* ---- cancelled from outside ---------------------------------------------------------------------------- */

static filch_scope *scope;

static void cancels(void *s)
{
    filch_scope_cancel(s);
}

static filch_scope *opened(void)
{
    filch_scope *s = os_alloc(sizeof *s);
    mc_check(filch_scope_open_on(s, &pool) == 0);
    return s;
}

/* The canceller ends the wait of the last task. That one tells the scope, the scope is closed and is gone:
 * not before the canceller has left it. */
static void scope_is_open_until_its_canceller_has_left(void)
{
    scope = opened();
    mc_check(filch_scope_go(scope, waits, scope) == 0);
    mc_thread(cancels, scope);
    mc_check(filch_scope_close(scope) == -ECANCELED);
    os_free(scope);
    mc_join_all();
}
MC_MODEL(scope_is_open_until_its_canceller_has_left,
         .claim = "a scope is closed when its tasks have ended and its canceller has left it",
         .preemptions = 2,
         .stale = MC_ZERO);

/* Two tasks, one of which ends by itself: the close waits for both. */
static void scope_waits_for_all(void)
{
    scope = opened();
    mc_check(filch_scope_go(scope, waits, scope) == 0);
    mc_check(filch_scope_go(scope, ends, 0) == 0);
    mc_thread(cancels, scope);
    mc_check(filch_scope_close(scope) == -ECANCELED);
    os_free(scope);
    mc_join_all();
}
MC_MODEL(scope_waits_for_all, .claim = "a close returns when the last task has ended, whichever it is",
         .preemptions = 1, .stale = MC_ZERO);

/* ---- a scope inside
 * -------------------------------------------------------------------------------------- */

static void opens_inside(void *unused)
{
    filch_scope *inner = os_alloc(sizeof *inner);
    (void)unused;
    mc_check(filch_scope_open_in(inner, scope, &pool) == 0);
    mc_check(filch_scope_go(inner, waits, inner) == 0);
    mc_check(filch_scope_close(inner) == -ECANCELED); /* a deadlock if nobody tells it */
    os_free(inner);
}

/* Opened while the outer one is being cancelled: it is in the list and found there, or sees it itself.
 * Closed while that one walks its list: it is there until the walk has left it. */
static void scope_inside_is_cancelled_with_its_outer(void)
{
    scope = opened();
    mc_thread(opens_inside, 0);
    filch_scope_cancel(scope);
    mc_join_all();
    mc_check(filch_scope_close(scope) == -ECANCELED);
    os_free(scope);
}
MC_MODEL(scope_inside_is_cancelled_with_its_outer,
         .claim = "a scope that is opened while its outer one is cancelled is cancelled, too",
         .preemptions = 2,
         .stale = MC_ZERO);
