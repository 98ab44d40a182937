/* go.c: from filch_go to the end of a task. The states and their argument: task.h. */
#include "core/go.h"
#include "core/budget.h"
#include "core/event.h"
#include "core/idle_set.h"
#include "core/job.h"
#include "core/join.h"
#include "core/report.h"
#include "core/run.h"
#include "core/wait.h"

#include <errno.h>

#define ROOM_LEAST ((size_t)12 << 10)

static struct worker *self_in(filch_pool *pool)
{
    struct worker *w = worker_self();
    return w && w->pool == pool ? w : 0;
}

static struct task_cache *cache_of(struct worker *w)
{
    return w ? &w->tasks : 0;
}

/* ---- begin -------------------------------------------------------------------------------- */

static filch_task_attr attr_of(const filch_task_attr *given, const char *call)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    if (!given)
        return a;
    if (given->size < sizeof(size_t) || given->size > sizeof a || given->size % sizeof(size_t) != 0)
        report_misuse(call, "not a filch_task_attr; use FILCH_TASK_ATTR_INIT");
    memcpy(&a, given, given->size);
    return a;
}

/* The pool is known and open: a descriptor, counted. */
static inline __attribute__((always_inline)) int begin(filch_pool *pool, struct worker *w, filch_task **out)
{
    filch_task *t = task_alloc(&pool->tasks, cache_of(w));
    if (!t)
        return -ENOMEM;
    int rc = job_begin_task(pool, w);
    if (rc != 0)
        task_free(&pool->tasks, cache_of(w), t);
    *out = t;
    return rc;
}

static inline __attribute__((always_inline)) void start(filch_pool *pool, struct worker *w, filch_task *t)
{
    if (w) {
        EV(w, SPAWNED);
        if (queue_push_next(w, item_task(t)))
            idle_notify(pool, w);
    } else {
        inject_push(&pool->injector, item_task(t));
        idle_notify(pool, 0);
    }
}

static filch_pool *pool_for(filch_pool *pool, const char *call)
{
    if (pool)
        job_check_pool(pool, call);
    return job_pool(pool);
}

/* What a task runs: one or the other; and does it if its pool is cancelled? */
struct errand {
    void (*go)(void *arg);
    int (*spawn)(void *arg);
    void *arg;
    bool always;
};

/* Makes a task as `a` says, and lets it run. Inlined, so that those without a say cost nothing for it. */
static inline __attribute__((always_inline)) int make(const filch_task_attr *a, const char *call,
                                                      struct errand e, filch_task **out)
{
    struct worker *w = worker_self();
    filch_pool *pool = !a->pool && w ? w->pool : pool_for(a->pool, call);
    if (w && w->pool != pool)
        w = 0;
    filch_task *t;
    int rc = pool ? begin(pool, w, &t) : -ENOMEM;
    if (rc != 0)
        return rc;
    if (e.spawn)
        t->fn.spawn = e.spawn;
    else
        t->fn.go = e.go;
    t->arg = e.arg;
    t->name = a->name;
    t->link = 0;
    t->state = e.spawn ? TASK_NEW : TASK_ORPHAN;
    t->pool = pool;
    t->locals = 0;
    t->result = 0;
    t->flags = (a->large_stack ? TASK_LARGE : 0u) | (e.spawn ? TASK_RETURNS : 0u) |
               (e.always ? TASK_ALWAYS : 0u);
    if (out)
        *out = t;
    start(pool, w, t);
    return 0;
}

static inline __attribute__((always_inline)) int make_go(const filch_task_attr *a, void (*fn)(void *arg),
                                                         void *arg)
{
    if (!fn)
        report_misuse("filch_go", "null function");
    return make(a, "filch_go", (struct errand){.go = fn, .arg = arg}, 0);
}

static inline __attribute__((always_inline)) int make_spawn(const filch_task_attr *a, int (*fn)(void *arg),
                                                            void *arg, filch_task **out)
{
    if (!out || !fn)
        report_misuse("filch_spawn", "null result pointer or null function");
    *out = 0;
    return make(a, "filch_spawn", (struct errand){.spawn = fn, .arg = arg}, out);
}

int filch_go_with(const filch_task_attr *attr, void (*fn)(void *arg), void *arg)
{
    filch_task_attr a = attr_of(attr, "filch_go");
    return make_go(&a, fn, arg);
}

int filch_go(void (*fn)(void *arg), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    return make_go(&a, fn, arg);
}

int filch_spawn_with(filch_task **out, const filch_task_attr *attr, int (*fn)(void *arg), void *arg)
{
    filch_task_attr a = attr_of(attr, "filch_spawn");
    return make_spawn(&a, fn, arg, out);
}

int filch_spawn(filch_task **out, int (*fn)(void *arg), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    return make_spawn(&a, fn, arg, out);
}

int go_always(const filch_task_attr *attr, void (*fn)(void *arg), void *arg)
{
    return make(attr, "filch_go", (struct errand){.go = fn, .arg = arg, .always = true}, 0);
}

int spawn_always(filch_task **out, const filch_task_attr *attr, int (*fn)(void *arg), void *arg)
{
    filch_task_attr a = attr_of(attr, "filch_spawn");
    return make(&a, "filch_spawn", (struct errand){.spawn = fn, .arg = arg, .always = true}, out);
}

int go_scoped(filch_pool *pool, struct wait_token *token, const char *name, int (*fn)(void *), void *arg,
              bool always)
{
    struct worker *w = self_in(pool);
    filch_task *t;
    int rc = begin(pool, w, &t);
    if (rc != 0)
        return rc;
    *t = (filch_task){.fn.spawn = fn, .arg = arg, .name = name, .pool = pool,
                      .state = (uintptr_t)token | TASK_ORPHAN,
                      .flags = TASK_RETURNS | TASK_SCOPED | (always ? TASK_ALWAYS : 0)};
    start(pool, w, t);
    return 0;
}

/* ---- end ---------------------------------------------------------------------------------- */

static void give_back(filch_task *t)
{
    filch_pool *pool = t->pool;
    t->pool = 0; /* a handle used again is reported, for a while */
    task_free(&pool->tasks, cache_of(self_in(pool)), t);
}

/* It belongs to a scope: that is told last, because it may be gone then. */
static void finish_scoped(filch_task *t, struct wait_token *token)
{
    int result = t->result;
    const char *name = t->name;
    give_back(t);
    token->ended(token, result, name);
}

void go_finish(filch_task *t)
{
    uintptr_t was = TASK_ORPHAN;
    if (t->flags & TASK_SCOPED) {
        finish_scoped(t, go_token(t));
        return;
    }
    if (t->flags & TASK_RETURNS)
        was = filch_xchg_acq_rel(&t->state, (uintptr_t)TASK_DONE); /* order: [T1] */
    if (task_tag(was) == TASK_ORPHAN)
        give_back(t);
    else if (task_tag(was) == TASK_WAITED)
        (void)wait_node_fire((struct wait_node *)(was & ~(uintptr_t)TASK_TAG));
}

/* ---- join --------------------------------------------------------------------------------- */

static void check_handle(const filch_task *t, const char *call)
{
    if (!t || !t->pool || !(t->flags & TASK_RETURNS))
        report_misuse(call, "not a task, or one that was joined or detached already");
}

static bool is_done(const filch_task *t)
{
    return filch_load_acquire(&t->state) == TASK_DONE; /* order: [T1] */
}

static int take_result(filch_task *t, int *result)
{
    if (result)
        *result = t->result;
    give_back(t);
    return 0;
}

static const char *stack_low(const struct fiber *f)
{
    return (const char *)f->region + os_page_size();
}

/* What is left of the fiber's stack below the caller, who need not be on it: then 0. */
static inline size_t stack_left(const struct fiber *f)
{
    const char *here = __builtin_frame_address(0), *low = stack_low(f);
    return here > low && here < (const char *)f ? (size_t)(here - low) : 0;
}

/* If half of what it would have alone is left. A joiner that may not leave its thread is content with
 * less: perhaps nobody else comes to run it. */
static bool stack_for(struct fiber *f, const filch_task *t)
{
    bool large = t->flags & TASK_LARGE, stays = f->pins > 0 || f->pool->config.join == FILCH_JOIN_HELP;
    size_t half = f->pool->fibers[large ? FIBER_LARGE : FIBER_SMALL].stack_size / 2;
    return (!large || f->store->kind == FIBER_LARGE) &&
           stack_left(f) >= (stays && half > ROOM_LEAST ? ROOM_LEAST : half);
}

/* May the caller run it on the stack that it is on? Not while a fork of the caller's tree is pending:
 * thieves would take that for a part of this task, and point to this task when it has ended. And not in a
 * scope: cancelling ends the caller's wait, but nothing of this task. */
static bool room_for(struct fiber *f, const filch_task *t)
{
    return !f->token && f->root && f->lineage == &f->root->here && slots_head(&f->slots) == f->slots.first &&
           stack_for(f, t);
}

/* It has not begun: the joiner, who can do nothing else, runs it. */
static bool join_inline(struct worker *w, struct fiber *f, filch_task *t, int *result)
{
    uintptr_t was = TASK_NEW;
    if (filch_load_relaxed(&t->state) != TASK_NEW || !room_for(f, t)) /* order: the CAS decides */
        return false;
    filch_task copy = {.fn = t->fn, .arg = t->arg, .name = t->name, .pool = t->pool,
                       .flags = t->flags | TASK_COPY};
    if (!filch_cas_acq_rel(&t->state, &was, (uintptr_t)TASK_STALE)) /* order: [T2] */
        return false;
    if (queue_retract_next(w, item_task(t)))
        task_free(&w->pool->tasks, &w->tasks, t);
    EV(w, JOIN_INLINE);
    run_task_here(f, &copy);
    if (result)
        *result = copy.result;
    return true;
}

/* Puts the node into the state. False if it is done. */
static bool join_enlist(filch_task *t, struct wait_node *n)
{
    uintptr_t was = filch_load_acquire(&t->state), now; /* order: [T1] */
    do {
        if (was == TASK_DONE)
            return false;
        if (task_tag(was) != TASK_NEW && task_tag(was) != TASK_RUNNING)
            report_misuse("filch_task_join", "two at a time join the same task");
        now = (uintptr_t)n | (was == TASK_NEW ? TASK_WAITED_NEW : TASK_WAITED);
    } while (!filch_cas_acq_rel(&t->state, &was, now)); /* order: [T1] */
    return true;
}

/* Takes it out again. False if the task ended meanwhile. */
static bool join_delist(filch_task *t)
{
    uintptr_t was = filch_load_acquire(&t->state), now; /* order: [T1] */
    do {
        if (was == TASK_DONE)
            return false;
        now = task_tag(was) == TASK_WAITED_NEW ? TASK_NEW : TASK_RUNNING;
    } while (!filch_cas_acq_rel(&t->state, &was, now)); /* order: [T1] */
    return true;
}

static const struct wait_subject about_join = {"filch_task_join", "task", WAIT_FOR_TASK,
                                               offsetof(filch_task, name), 0};

static int join_wait(filch_task *t, int64_t deadline)
{
    struct wait w;
    struct wait_node n = {.wait = &w};
    wait_begin(&w);
    wait_about(&w, &about_join, t);
    int why = join_enlist(t, &n) ? wait_park(&w, deadline) : WAIT_WOKEN;
    if (why == WAIT_WOKEN)
        return 0;
    if (join_delist(t))
        return wait_error(why);
    wait_node_settle(&n);
    return 0;
}

static bool until_done(void *t)
{
    return is_done(t);
}

/* A thread outside, or of another pool: works as a guest as long as there is work. */
static int join_outside(filch_task *t, int64_t deadline)
{
    filch_pool *pool = t->pool;
    int rc = 0;
    while (!is_done(t)) {
        job_help(pool, until_done, t, deadline);
        rc = join_wait(t, event_deadline(pool, deadline));
        if (rc == -ECANCELED) /* a task of another pool */
            return rc;
        if (rc != 0 && deadline != FILCH_FOREVER && os_clock_ns() >= deadline)
            return rc;
    }
    return 0;
}

int filch_task_join(filch_task *t, int *result, int64_t deadline)
{
    check_handle(t, "filch_task_join");
    struct worker *w = self_in(t->pool);
    struct fiber *f = w ? w->fiber : 0;
    if (is_done(t))
        return take_result(t, result);
    if (deadline <= FILCH_NOW)
        return wait_error(WAIT_TIMEOUT);
    if (f && deadline == FILCH_FOREVER && join_inline(w, f, t, result))
        return 0;
    int rc = f ? join_wait(t, deadline) : join_outside(t, deadline);
    return rc == 0 ? take_result(t, result) : rc;
}

void filch_task_detach(filch_task *t)
{
    check_handle(t, "filch_task_detach");
    uintptr_t was = filch_load_acquire(&t->state); /* order: [T1] */
    do {
        if (was == TASK_DONE) {
            give_back(t);
            return;
        }
        if (task_tag(was) != TASK_NEW && task_tag(was) != TASK_RUNNING)
            report_misuse("filch_task_detach", "another joins it");
    } while (!filch_cas_acq_rel(&t->state, &was, (uintptr_t)TASK_ORPHAN)); /* order: [T1] */
}

int filch_task_done(const filch_task *t)
{
    check_handle(t, "filch_task_done");
    return is_done(t);
}

/* ---- the task itself ---------------------------------------------------------------------- */

int *filch_errno(void)
{
    return os_errno_at();
}

size_t filch_stack_size(void)
{
    struct fiber *f = run_fiber();
    return f ? (size_t)((const char *)f - stack_low(f)) : 0;
}

size_t filch_stack_left(void)
{
    struct fiber *f = run_fiber();
    return f ? stack_left(f) : 0;
}

const char *filch_task_name(void)
{
    struct fiber *f = run_fiber();
    return f && f->task ? f->task->name : 0;
}

void filch_task_rename(const char *name)
{
    struct fiber *f = run_fiber();
    if (f && f->task)
        f->task->name = name;
}

static const struct wait_subject about_sleep = {.call = "filch_sleep", .noun = "time"};

int filch_sleep_until(int64_t deadline)
{
    struct wait w;
    if (os_clock_ns() >= deadline) {
        report_duration("filch_sleep_until", deadline);
        budget_spend_wait();
        return 0;
    }
    wait_begin(&w);
    wait_about(&w, &about_sleep, 0);
    int why = wait_park(&w, deadline);
    return why == WAIT_CANCELED ? wait_error(why) : 0;
}

int filch_sleep_ns(int64_t ns)
{
    int64_t now = os_clock_ns();
    ns = ns > 0 ? ns : 0;
    return filch_sleep_until(ns > INT64_MAX - now ? INT64_MAX : now + ns);
}
