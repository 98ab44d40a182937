/* scope.c: structured concurrency over tokens (core/wait.h).
 *
 * | field    | writer                          | reader      | invariant                            |
 * | token    | see wait.h                      |             |                                      |
 * | running  | lock holder                     | lock holder | tasks begun and not ended            |
 * | error    | lock holder, once               | close       | of the first that failed             |
 * | closer   | close; taken by the last task   | lock holder | its node while it waits              |
 * | inner    | lock of the outer one           | the same    | scopes opened by its tasks           |
 *
 * The lock is the token's. A task's end is the last access to the scope that it makes: the closer is
 * woken after the lock was released, from its own node ([V3] of wait.h is not needed: a close has no
 * deadline and is not cancelled, so the one who takes the node ends the wait).
 *
 * Cancelling goes down: a scope knows the scopes that its tasks opened. A lock is held while those below
 * are cancelled, so that they cannot be closed meanwhile; always from the outer to the inner.
 */
#include "core/event.h"
#include "core/go.h"
#include "core/idle.h"
#include "core/job.h"
#include "core/report.h"
#include "core/run.h"

#include <errno.h>
#include <filch/scope.h>

#define SCOPE_MAGIC 0x5c09e001u

struct scope {
    struct wait_token token;   /* first: tasks know it by this */
    uint32_t magic;
    int32_t error;
    const char *failed;
    filch_pool *pool;
    uint64_t running;
    struct wait_node *closer;
    struct scope *outer, *inner, *next, *prev;
    struct timer timer;
    bool timed, late;
};

_Static_assert(sizeof(struct scope) <= sizeof(filch_scope), "raise filch_scope");

static struct scope *scope_of(const filch_scope *scope, const char *call)
{
    struct scope *s = (struct scope *)scope;
    if (!s || s->magic != SCOPE_MAGIC)
        report_misuse(call, "not an open scope; use filch_scope_open");
    return s;
}

/* ---- cancel ------------------------------------------------------------------------------- */

/* This scope and those inside. Not with its own lock held. */
static void cancel(struct scope *s)
{
    if (!wait_cancel_all(&s->token))
        return;
    lock_acquire(&s->token.lock);
    for (struct scope *in = s->inner; in; in = in->next)
        cancel(in);
    lock_release(&s->token.lock);
}

static void on_deadline(struct timer *t)
{
    struct scope *s = (struct scope *)((char *)t - offsetof(struct scope, timer));
    s->late = true; /* read by close, after the timer was cancelled */
    cancel(s);
}

/* ---- tasks -------------------------------------------------------------------------------- */

/* Lock held. */
static bool note_error(struct scope *s, int result, const char *name)
{
    bool first = result != 0 && s->error == 0 && !(result == -ECANCELED && s->token.canceled);
    if (first) {
        s->error = result;
        s->failed = name;
    }
    return first;
}

/* One less that it waits for. The last access to the scope. */
static void let_go(struct scope *s)
{
    lock_acquire(&s->token.lock);
    struct wait_node *closer = --s->running == 0 ? s->closer : 0;
    if (closer)
        s->closer = 0; /* taken: it is fired once */
    lock_release(&s->token.lock);
    if (closer)
        (void)wait_node_fire(closer);
}

static void task_ended(struct wait_token *token, int result, const char *name)
{
    struct scope *s = (struct scope *)token;
    lock_acquire(&token->lock);
    bool failed = note_error(s, result, name);
    lock_release(&token->lock);
    if (failed)
        cancel(s);
    let_go(s);
}

/* ---- open --------------------------------------------------------------------------------- */

/* A scope that a task of another opens is cancelled with that one. */
static void link_to(struct scope *s, struct wait_token *outer)
{
    if (!outer || outer->ended != task_ended)
        return;
    s->outer = (struct scope *)outer;
    lock_acquire(&outer->lock);
    s->next = s->outer->inner;
    if (s->next)
        s->next->prev = s;
    s->outer->inner = s;
    bool canceled = outer->canceled;
    lock_release(&outer->lock);
    if (canceled)
        cancel(s);
}

static void unlink_from(struct scope *outer, struct scope *s)
{
    lock_acquire(&outer->token.lock);
    if (s->prev)
        s->prev->next = s->next;
    else
        outer->inner = s->next;
    if (s->next)
        s->next->prev = s->prev;
    lock_release(&outer->token.lock);
}

static int open_inside(filch_scope *scope, struct wait_token *outer, filch_pool *pool)
{
    struct scope *s = (struct scope *)scope;
    if (!scope)
        report_misuse("filch_scope_open", "null scope");
    if (pool)
        job_check_pool(pool, "filch_scope_open");
    pool = job_pool(pool);
    if (!pool)
        return -ENOMEM;
    *s = (struct scope){.token.ended = task_ended, .magic = SCOPE_MAGIC, .pool = pool};
    link_to(s, outer);
    return 0;
}

int filch_scope_open_on(filch_scope *scope, filch_pool *pool)
{
    struct fiber *f = run_fiber();
    return open_inside(scope, f ? f->token : 0, pool);
}

int filch_scope_open_in(filch_scope *scope, filch_scope *outer, filch_pool *pool)
{
    return open_inside(scope, &scope_of(outer, "filch_scope_open_in")->token, pool);
}

int filch_scope_open(filch_scope *scope)
{
    return filch_scope_open_on(scope, 0);
}

/* ---- go ----------------------------------------------------------------------------------- */

struct boxed {
    int (*fn)(void *arg);
    void *arg;
    void (*cleanup)(void *arg);
    struct scope *scope;
};

/* With a clean-up the task runs even if the scope or the pool is cancelled: its function then does not. */
static int run_boxed(void *p)
{
    struct boxed box = *(struct boxed *)p;
    os_free(p);
    int result = filch_canceled() ? -ECANCELED : box.fn(box.arg);
    box.cleanup(box.arg);
    return result;
}

static int begin(struct scope *s, const char *name, int (*fn)(void *), void *arg, bool always)
{
    lock_acquire(&s->token.lock);
    s->running++;
    lock_release(&s->token.lock);
    int rc = go_scoped(s->pool, &s->token, name, fn, arg, always);
    if (rc != 0)
        task_ended(&s->token, rc, name);
    return rc;
}

static int begin_boxed(struct scope *s, const char *name, struct boxed from)
{
    struct boxed *box = os_alloc(sizeof *box);
    if (box)
        *box = from;
    int rc = box ? begin(s, name, run_boxed, box, true) : -ENOMEM;
    if (rc == 0)
        return 0;
    os_free(box);
    from.cleanup(from.arg);
    if (!box) { /* the others know by begin */
        lock_acquire(&s->token.lock);
        bool failed = note_error(s, rc, name);
        lock_release(&s->token.lock);
        if (failed)
            cancel(s);
    }
    return rc;
}

int filch_scope_go_named(filch_scope *scope, const char *name, int (*fn)(void *arg), void *arg,
                         void (*cleanup)(void *arg))
{
    struct scope *s = scope_of(scope, "filch_scope_go");
    if (!fn)
        report_misuse("filch_scope_go", "null function");
    if (cleanup)
        return begin_boxed(s, name, (struct boxed){fn, arg, cleanup, s});
    return begin(s, name, fn, arg, false);
}

int filch_scope_go(filch_scope *scope, int (*fn)(void *arg), void *arg)
{
    return filch_scope_go_named(scope, 0, fn, arg, 0);
}

/* ---- close -------------------------------------------------------------------------------- */

static bool none_running(void *p)
{
    struct scope *s = p;
    lock_acquire(&s->token.lock);
    bool none = s->running == 0;
    lock_release(&s->token.lock);
    return none;
}

static const struct wait_subject about_close = {"filch_scope_close", "scope", WAIT_FOR_SCOPE, 0, 0};

static void wait_for_tasks(struct scope *s, int64_t deadline)
{
    struct wait w;
    struct wait_node n = {.wait = &w};
    wait_begin_firm(&w);
    wait_about(&w, &about_close, &s->token);
    lock_acquire(&s->token.lock);
    bool waits = s->running > 0;
    s->closer = waits ? &n : 0;
    lock_release(&s->token.lock);
    if (!waits || wait_park(&w, deadline) == WAIT_WOKEN)
        return;
    lock_acquire(&s->token.lock);
    bool taken = s->closer != &n;
    s->closer = 0;
    lock_release(&s->token.lock);
    if (taken)
        wait_node_settle(&n);
}

int filch_scope_close(filch_scope *scope)
{
    struct scope *s = scope_of(scope, "filch_scope_close");
    while (!none_running(s)) {
        job_help_outside(s->pool, none_running, s);
        wait_for_tasks(s, event_deadline(s->pool, FILCH_FOREVER));
    }
    if (s->timed)
        (void)timers_cancel(&s->timer);
    if (s->outer)
        unlink_from(s->outer, s);
    s->magic = 0;
    if (s->error)
        return s->error;
    return s->late ? -ETIMEDOUT : s->token.canceled ? -ECANCELED : 0;
}

const char *filch_scope_failed(const filch_scope *scope)
{
    if (!scope)
        report_misuse("filch_scope_failed", "null scope");
    return ((const struct scope *)scope)->failed;
}

/* ---- the rest ----------------------------------------------------------------------------- */

void filch_scope_cancel(filch_scope *scope)
{
    struct scope *s = scope_of(scope, "filch_scope_cancel");
    lock_acquire(&s->token.lock);
    s->running++; /* its tasks may end now: it is not closed before we have left it */
    lock_release(&s->token.lock);
    cancel(s);
    let_go(s);
}

int filch_scope_canceled(const filch_scope *scope)
{
    return wait_canceled(&scope_of(scope, "filch_scope_canceled")->token);
}

void filch_scope_deadline(filch_scope *scope, int64_t deadline)
{
    struct scope *s = scope_of(scope, "filch_scope_deadline");
    struct worker *w = worker_self();
    if (s->timed)
        report_misuse("filch_scope_deadline", "the scope has one already");
    report_duration("filch_scope_deadline", deadline);
    s->timed = true;
    s->timer.fire = on_deadline;
    bool here = w && w->pool == s->pool;
    timers_add(here ? w->timers : s->pool->workers[0].timers, &s->timer, deadline);
    if (!here)
        idle_keep_time(s->pool);
}

int filch_canceled(void)
{
    struct fiber *f = run_fiber();
    if (!f)
        return 0;
    if (f->token && wait_canceled(f->token))
        return 1;
    bool shielded = f->token && f->token->shield;
    return !shielded && go_pool_canceled(f->pool);
}

/* ---- clean-up ----------------------------------------------------------------------------- */

/* No scope and no loop outside reaches what runs with this token. */
static int run_shielded(struct fiber *f, struct scope *s, int (*fn)(void *), void *arg)
{
    struct wait_token *outer = f->token;
    const struct par *outer_par = f->par;
    f->token = &s->token;
    f->par = 0;
    int rc = fn(arg);
    f->token = outer;
    f->par = outer_par;
    return rc;
}

int filch_scope_shield(int (*fn)(void *arg), void *arg, int64_t deadline)
{
    struct worker *w = worker_self();
    struct fiber *f = w ? w->fiber : 0;
    if (!fn)
        report_misuse("filch_scope_shield", "null function");
    if (!f)
        return fn(arg);
    struct scope s = {.token = {.ended = task_ended, .shield = true}, .magic = SCOPE_MAGIC, .pool = w->pool,
                      .timer.fire = on_deadline};
    report_duration("filch_scope_shield", deadline);
    bool timed = deadline != FILCH_FOREVER;
    if (timed)
        timers_add(w->timers, &s.timer, deadline);
    int rc = run_shielded(f, &s, fn, arg);
    if (timed)
        (void)timers_cancel(&s.timer);
    if (s.inner)
        report_misuse("filch_scope_shield", "the function left a scope open; close what it opens");
    return rc;
}
