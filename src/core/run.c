/* run.c: the worker's loop and what it runs.
 *
 * Everything runs on fibers. A worker's loop runs jobs directly on its own fiber. If such a job
 * has to wait, it takes the loop below it along: the worker goes on with a fresh fiber and a
 * fresh loop. When the waiting fiber is resumed, the loop of whoever resumes it is dropped, and
 * the old loop below the job goes on, on its new worker. So there is one loop per worker at any
 * time, and nothing may keep the worker in a variable across a job: it is asked for again.
 *
 * If something is at hand when a fiber suspends, the loop is spared: another fiber is entered
 * directly. Tasks run on small stacks, jobs and stolen forks on large ones; a loop that finds the
 * other kind hands it to a loop on a stack that fits.
 */
#include "core/run.h"
#include "core/go.h"
#include "core/idle_set.h"
#include "core/job.h"
#include "core/join.h"
#include "core/local.h"
#include "core/report.h"

#include <errno.h>
#include <string.h>

#define TRIM_BATCH 16

static void loop(void *pass);

/* ---- fibers of a worker ------------------------------------------------------------------- */

static struct fiber *fiber_hot(struct worker *w, unsigned kind)
{
    struct fiber *f = w->cached[kind] > 0 ? w->cache[kind][--w->cached[kind]]
                                          : fiber_take(&w->pool->fibers[kind], w->pool);
    if (f) {
        f->pins_held = 0;
        char *low = (char *)f->region + os_page_size();
        os_context_make(&f->context, low, (size_t)((char *)f - low), loop);
    }
    return f;
}

/* Ten seconds after there were too many small ones, somebody without work gives their memory back: what
 * comes in waves finds its stacks warm. A fresh one costs a page fault, more than most tasks do. */
static void on_trim(struct timer *t)
{
    filch_pool *pool = (filch_pool *)((char *)t - offsetof(filch_pool, trim));
    filch_store_relaxed(&pool->trim_due, 1u); /* order: a hint to the idle */
}

static void trim_later(struct worker *w)
{
    filch_pool *pool = w->pool;
    uint32_t unset = 0;
    /* order: relaxed, the wheel's lock hands the timer over */
    if (!filch_load_relaxed(&pool->trim_set) && filch_cas_relaxed(&pool->trim_set, &unset, 1u)) {
        pool->trim.fire = on_trim;
        timers_add(w->timers, &pool->trim, os_clock_ns() + pool->trim_ns);
    }
}

/* A few at a time, so that work that comes meanwhile is not kept waiting. True if there are more. */
static bool trim_if_due(filch_pool *pool)
{
    uint32_t due = 1;
    if (!filch_load_relaxed(&pool->trim_due) || /* order: a hint; one takes it */
        !filch_cas_relaxed(&pool->trim_due, &due, 0u))
        return false;
    bool more = fiber_trim(&pool->fibers[FIBER_SMALL], TRIM_BATCH);
    filch_store_relaxed(more ? &pool->trim_due : &pool->trim_set, (uint32_t)more); /* order: hints */
    return more;
}

/* The older half of the small ones at once: others give theirs back to the same list, and its lock would go
 * to and fro between the processors with each. */
static void cache_flush(struct worker *w)
{
    enum { HALF = WORKER_CACHE / 2 };
    struct fiber **cache = w->cache[FIBER_SMALL];
    for (int i = 1; i < HALF; i++)
        cache[i]->next = cache[i - 1];
    fiber_give_many(&w->pool->fibers[FIBER_SMALL], cache[HALF - 1], cache[0], HALF);
    memmove(cache, cache + HALF, HALF * sizeof *cache);
    w->cached[FIBER_SMALL] = HALF;
    if (fiber_surplus(&w->pool->fibers[FIBER_SMALL]))
        trim_later(w);
}

static void fiber_done(struct worker *w, struct fiber *f)
{
    unsigned kind = f->store->kind;
    if (kind == FIBER_SMALL && w->cached[kind] == WORKER_CACHE)
        cache_flush(w);
    if (w->cached[kind] < (kind == FIBER_SMALL ? WORKER_CACHE : WORKER_CACHE_LARGE))
        w->cache[kind][w->cached[kind]++] = f;
    else
        fiber_give(f->store, f);
}

/* ---- switching ---------------------------------------------------------------------------- */

/* First thing after every switch, on the new stack. Returns the worker whose thread this is, and the fiber to
 * go back to, if any. */
static inline struct worker *arrived(const struct after *p, struct fiber **back)
{
    struct after a = *p; /* the old stack may be entered by another thread from `publish` on */
    *back = a.publish && !a.publish(a.from, a.arg) ? a.from : 0;
    if (!a.publish && a.from)
        fiber_done(a.worker, a.from);
    return a.worker;
}

/* Leaves a fiber that has nothing more to do, for another. */
static void __attribute__((noreturn)) leave_for(struct fiber *f, struct fiber *next)
{
    struct worker *w = worker_self();
    w->after = (struct after){.worker = w, .from = f};
    EV(w, RESUME);
    run_enter(w, next);
    os_context_abandon(&f->context, &next->context, &w->after);
}

static void __attribute__((noreturn)) leave_seat(struct fiber *f)
{
    struct worker *w = worker_self();
    w->after = (struct after){.worker = w, .from = f};
    os_context_abandon(&f->context, &w->body->context, &w->after);
}

/* The kind of stack that an item needs; `otherwise` if any will do. */
static unsigned kind_for(work_item it, unsigned otherwise)
{
    filch_task *t = item_as_task(it);
    if (t)
        return t->flags & TASK_LARGE ? FIBER_LARGE : FIBER_SMALL;
    return it && !item_as_fiber(it) && !item_as_poll(it) ? FIBER_LARGE : otherwise;
}

/* On its own worker: what was woken runs next. */
static void ready_here(struct worker *w, work_item it)
{
    if (queue_push_next(w, it) && !w->hushed)
        idle_notify(w->pool, w);
}

/* The same for one of perhaps many that are woken in a row: the first runs next, the others follow. */
static void ready_in_turn(struct worker *w, work_item it)
{
    if (!filch_load_relaxed(&w->next)) { /* order: own word; thieves only empty it */
        ready_here(w, it);
        return;
    }
    queue_push(w, it);
    if (!w->hushed)
        idle_notify(w->pool, w);
}

/* It was taken to be run, and is not: others may have looked in vain meanwhile, and sleep. */
static void put_back(struct worker *w, work_item it)
{
    if (!it)
        return;
    queue_push(w, it);
    idle_notify(w->pool, w);
}

/* A loop of its own for what comes next. */
static __attribute__((noinline)) struct fiber *fresh_loop(struct worker *w, work_item it)
{
    struct fiber *f = fiber_hot(w, kind_for(it, w->fiber->store->kind));
    if (f)
        w->todo = (struct found){.what = it ? FOUND_ITEM : FOUND_NOTHING, .it = it};
    else
        put_back(w, it);
    return f;
}

/* Leaves the fiber that runs here for another; true, so that callers have nothing left to do. By itself, so
 * that nothing has to be kept in registers over the switch, which saves them all: what is on the stack of one
 * who waits in a crowd has left the cache when he goes on, and each line of it counts. */
static bool switch_in_handler(struct worker *w, struct fiber *next,
                              bool (*publish)(struct fiber *from, void *arg), void *arg);

static __attribute__((noinline)) bool switch_to(struct worker *w, struct fiber *next,
                                                bool (*publish)(struct fiber *from, void *arg), void *arg)
{
    if (__builtin_expect(os_handles(w->body->exceptions), 0))
        return switch_in_handler(w, next, publish, arg);
    struct fiber *from = w->fiber, *back;
    w->after = (struct after){w, from, publish, arg};
    from->errno_value = *w->body->errno_at;
    run_enter(w, next);
    /* Perhaps another thread's. */
    w = arrived(os_context_switch(&from->context, &next->context, &w->after), &back);
    if (__builtin_expect(back != 0, 0)) /* the one we replaced need not have left */
        ready_here(w, item_fiber(back));
    *w->body->errno_at = w->fiber->errno_value;
    return true;
}

/* In a catch block, or in a destructor while an exception passes: what is being handled belongs to this flow,
 * and the thread handles nothing meanwhile. So a fiber that is entered finds that, or puts its own back. */
static __attribute__((noinline)) bool switch_in_handler(struct worker *w, struct fiber *next,
                                                        bool (*publish)(struct fiber *from, void *arg),
                                                        void *arg)
{
    struct os_exceptions mine = os_exceptions_take(w->body->exceptions);
    (void)switch_to(w, next, publish, arg);
    *worker_self()->body->exceptions = mine; /* perhaps another thread's */
    return true;
}

bool run_suspend_for(struct worker *w, work_item it, bool (*publish)(struct fiber *from, void *arg),
                     void *arg)
{
    struct fiber *next = item_as_fiber(it);
    if (__builtin_expect(next != 0, 1))
        EV(w, RESUME);
    else if (!(next = fresh_loop(w, it)))
        return false;
    return switch_to(w, next, publish, arg);
}

bool run_suspend(struct worker *w, bool (*publish)(struct fiber *from, void *arg), void *arg)
{
    work_item it = 0;
    if (!w->guest && !seat_wanted(w)) /* else the loop has to decide */
        it = find_local(w);
    return run_suspend_for(w, it, publish, arg);
}

void run_ready_from(struct worker *w, struct fiber *f)
{
    filch_pool *pool = f->pool;
    if (w && w->pool == pool) {
        ready_here(w, item_fiber(f));
        return;
    }
    child_check("fork"); /* it woke a task of its parent */
    /* From the push on the fiber may end, and with the last one the pool: not before we left. */
    filch_add_relaxed(&pool->visitors, 1u); /* order: handed over with the fiber */
    inject_push(&pool->injector, item_fiber(f));
    idle_notify(pool, 0);
    filch_sub_acq_rel(&pool->visitors, 1u); /* order: pairs with filch_pool_destroy; last access */
}

bool run_call(struct wait_node *n, uint32_t pool)
{
    struct worker *w = worker_self();
    if (!w || !pool || w->pool->number != pool)
        return false;
    ready_in_turn(w, item_call(n));
    return true;
}

/* ---- running ------------------------------------------------------------------------------ */

/* A job leaves the slots from its head on as it found them; if not, it returned with forks not
 * joined. Asked before anybody is told that it is done. */
static void settled(struct fiber *f, filch_slot *head)
{
    if (slots_used(&f->slots, head) || filch_load_relaxed(&f->slots.top) > head) /* order: own */
        report_misuse("filch_fork", "the job returned without joining it; join every fork");
}

static void unpinned(struct fiber *f)
{
    if (f->pins != f->pins_held)
        report_misuse("filch_pin", "the job returned pinned; call filch_unpin as often");
}

/* What `f` runs from here on is part of this. */
static void set_lineage(struct fiber *f, const struct root *root, const struct lineage *lineage)
{
    filch_store_relaxed(&f->root, root);       /* order: [S1] before anything is forked */
    filch_store_relaxed(&f->lineage, lineage); /* order: [S1] before anything is forked */
}

/* One of the fiber's own jobs does not change the lineage: thieves would take it for that of the
 * younger ones, which stay when this one has ended. It goes on with the floating-point control words of who
 * forked it, as if it was joined; another's begins with the pool's. */
struct fiber *run_loot(struct fiber *f, const struct found *found, filch_slot *head)
{
    struct lineage here = {found->loot.slot, found->loot.up};
    const struct lineage *outer = f->lineage;
    const struct root *outer_root = f->root;
    bool own = here.slot >= f->slots.first && here.slot < f->slots.end;
    uint32_t outer_pins = f->pins_held;
    struct os_fp outer_fp;
    os_fp_get(&outer_fp);
    f->pins_held = f->pins;
    EV(worker_self(), EXECUTED);
    if (!own) {
        set_lineage(f, found->root, &here);
        os_fp_set(&f->pool->fp);
    }
    found->loot.fn(found->loot.slot, head);
    if (!own)
        os_fp_set(&outer_fp);
    settled(f, head);
    unpinned(f);
    f->pins_held = outer_pins;
    set_lineage(f, outer_root, outer);
    return join_finish(found->loot.slot);
}

/* A tree of forks begins and ends here. */
static void root_begin(struct fiber *f, struct root *r)
{
    EV(worker_self(), EXECUTED);
    set_lineage(f, r, &r->here);
}

/* Its function has returned. */
static void root_over(struct fiber *f, struct root *r)
{
    if (filch_load_relaxed(&r->locals)) /* order: its jobs have been joined */
        local_end(r);
    settled(f, f->slots.first);
    unpinned(f);
}

static void root_end(struct fiber *f)
{
    if (f->blocks)
        report_misuse("filch_blocking_enter", "the job returned without filch_blocking_leave");
    set_lineage(f, 0, 0);
}

static __attribute__((noinline)) void run_job(struct fiber *f, filch_job *job)
{
    struct root r = {.name = job->name};
    root_begin(f, &r);
    os_fp_set(&f->pool->fp);
    if (__builtin_expect(go_pool_canceled(f->pool), 0) && job->slot != JOB_ALWAYS)
        job_leave_out(job);
    else
        job->fn(job->arg);
    if (job->cleanup)
        job->cleanup(job->arg);
    root_over(f, &r);
    root_end(f);
    job_finish(job);
}

static void run_root(struct fiber *f, struct body *b)
{
    struct root r = {.name = b->name};
    root_begin(f, &r);
    f->pins_held = ++f->pins;
    b->root(b->box, f->slots.first);
    root_over(f, &r);
    f->pins_held = --f->pins;
    root_end(f);
}

/* Its scope or its pool was cancelled before it began. Asked only of a task in a scope, or of a pool that was
 * cancelled. */
static __attribute__((noinline)) bool is_left_out(const struct fiber *f, const filch_task *t)
{
    bool canceled = (f->token && wait_canceled(f->token)) || go_pool_canceled(f->pool);
    return canceled && !(t->flags & TASK_ALWAYS);
}

/* The function of a task, from a root of its own. */
static inline __attribute__((always_inline)) void task_body(struct fiber *f, filch_task *t)
{
    struct root r = {.name = t->name};
    root_begin(f, &r);
    f->task = t;
    f->token = go_token(t);
    os_fp_set(&f->pool->fp);
    if ((f->token || __builtin_expect(go_pool_canceled(f->pool), 0)) && is_left_out(f, t))
        t->result = -ECANCELED;
    else if (t->flags & TASK_RETURNS)
        t->result = t->fn.spawn(t->arg);
    else
        t->fn.go(t->arg);
    root_over(f, &r);
}

static __attribute__((noinline)) void run_task(struct fiber *f, filch_task *t)
{
    if (task_claim(t)) {
        task_body(f, t);
        f->task = 0;
        f->token = 0;
        root_end(f);
        go_finish(t);
        job_end_task(worker_self());
    } else {
        struct worker *w = worker_self();
        task_free(&w->pool->tasks, &w->tasks, t);
    }
}

void run_task_here(struct fiber *f, filch_task *copy)
{
    const struct lineage *outer = f->lineage;
    const struct root *outer_root = f->root;
    filch_task *outer_task = f->task;
    struct wait_token *outer_token = f->token;
    const struct par *outer_par = f->par;
    uint32_t outer_pins = f->pins_held;
    int errno_value = os_errno_get();
    struct os_fp outer_fp;
    os_fp_get(&outer_fp);
    f->pins_held = f->pins;
    f->par = 0; /* it is not a piece of what its joiner is a piece of */
    copy->link = (uintptr_t)outer_task; /* not in a queue: the dump finds the joiner here */
    task_body(f, copy);
    f->pins_held = outer_pins;
    f->task = outer_task;
    f->token = outer_token;
    f->par = outer_par;
    set_lineage(f, outer_root, outer);
    os_fp_set(&outer_fp);
    os_errno_set(errno_value);
    job_end_task(worker_self());
}

/* It calls the user's function, then run_over, then it may be gone. */
static __attribute__((noinline)) void run_poll(struct fiber *f, filch_async *a)
{
    struct root r = {.name = a->name};
    root_begin(f, &r);
    os_fp_set(&f->pool->fp);
    a->run(a);
    root_end(f);
}

void run_over(void)
{
    struct fiber *f = run_fiber();
    child_check("fork"); /* it returned */
    root_over(f, (struct root *)f->root); /* run_poll's */
}

/* The kind of stack that `todo` needs. */
static unsigned kind_wanted(struct worker *w, struct fiber *f)
{
    return w->todo.what == FOUND_LOOT ? FIBER_LARGE : kind_for(w->todo.it, f->store->kind);
}

/* A loop on a stack that fits goes on with it. Returns if there is none: then it runs here. */
static __attribute__((noinline)) void hand_on(struct worker *w, struct fiber *f)
{
    struct fiber *fitting = fiber_hot(w, kind_wanted(w, f));
    if (!fitting)
        return;
    w->after = (struct after){.worker = w, .from = f};
    run_enter(w, fitting);
    os_context_abandon(&f->context, &fitting->context, &w->after);
}

static __attribute__((noinline)) void run_stolen(struct fiber *f)
{
    struct found found = worker_self()->todo;
    struct fiber *next = run_loot(f, &found, f->slots.first);
    if (next)
        leave_for(f, next);
}

/* Each kind by itself, and called last: what waits in a task has small frames below it then. */
static inline void run_item(struct fiber *f, work_item it)
{
    if (item_as_task(it))
        run_task(f, item_as_task(it));
    else if (item_as_fiber(it))
        leave_for(f, item_as_fiber(it));
    else if (item_as_poll(it))
        run_poll(f, item_as_poll(it));
    else
        run_job(f, (filch_job *)it);
}

/* ---- the loop ----------------------------------------------------------------------------- */

/* Patience is halved when a search was in vain, and whole again when waiting within it paid: something was
 * found that was not there at first, or the sleep after it was short (idle.c). So a worker that is woken now
 * and then for a little does not spin as long again as it worked. What a timer brought could have been
 * slept for. */
static struct found search(struct worker *w)
{
    struct found found = {0};
    uint64_t timers = counters_get(&w->counters, EV_TIMER);
    unsigned rounds = w->pool->config.spin_rounds >> w->impatience, round = 0;
    while ((found = find_work(w)).what == FOUND_NOTHING && ++round < rounds) {
        if (find_cycle_is_over(w) || filch_load_relaxed(&w->pool->stop)) /* order: a hint */
            break;
        EV(w, SPIN_WASTED);
        os_pause_for(round < 64 ? round : 64);
    }
    if (found.what == FOUND_NOTHING || counters_get(&w->counters, EV_TIMER) != timers)
        w->impatience += w->impatience < WORKER_IMPATIENCE;
    else if (round > 0)
        w->impatience = 0;
    return found;
}

/* Sleeps, out of the seat: a guest may sit there meanwhile. */
static void rest(struct worker *w, void (*how)(struct worker *))
{
    struct body *body = w->body;
    struct fiber *f = w->fiber;
    how(w);
    w->body = body;
    run_enter(w, f);
}

/* Nothing is at hand: from others, or else it sleeps. */
static __attribute__((noinline)) struct found work_elsewhere(struct worker *w)
{
    struct found found = {0};
    w->cycle_began = (uint32_t)counters_get(&w->counters, EV_STEAL_TRY);
    if (w->guest)
        return find_steal(w); /* a guest looks once, then waits for what it came for */
    if (idle_search_begin(w))
        found = search(w);
    if (found.what == FOUND_LOOT) { /* forks tell nobody: where there is one, there are more soon */
        w->scouts = false;
        w->impatience = 0;
    }
    if (found.what != FOUND_NOTHING)
        idle_search_found(w);
    else if (!trim_if_due(w->pool))
        rest(w, w->pool->config.idle == FILCH_IDLE_PARK ? idle_park : idle_rest);
    return found;
}

static bool body_leaves(struct worker *w)
{
    struct body *b = w->body;
    if (b->until)
        return b->until(b->until_arg);
    return filch_load_acquire(&w->pool->stop); /* order: pairs with idle_stop */
}

/* What the loop was made for, if anything, is in the worker's `todo`. Returns its fiber. */
static __attribute__((noinline)) struct fiber *loop_begin(void *pass)
{
    struct fiber *back;
    struct worker *here = arrived(pass, &back);
    struct fiber *f = here->fiber;
    struct body *body = here->body;
    if (back) {
        if (here->todo.what == FOUND_ITEM)
            put_back(here, here->todo.it);
        here->todo.what = FOUND_NOTHING;
        leave_for(f, back);
    }
    if (body->root) {
        run_root(f, body);
        leave_seat(f);
    }
    return f;
}

/* Out of the way of those who are to sit here; then the next piece of work, if there is any: in `todo`. */
static inline void look_for_work(struct worker *w, struct fiber *f)
{
    if (body_leaves(w))
        leave_seat(f);
    if (seat_wanted(w))
        rest(w, idle_seat_yield);
    work_item it = find_local(w);
    if (!it)
        it = find_ready(w);
    if (__builtin_expect(it != 0, 1)) {
        w->todo.what = FOUND_ITEM; /* the rest is for loot */
        w->todo.it = it;
        idle_search_found(w);
        return;
    }
    w->todo = work_elsewhere(w);
    if (w->todo.what == FOUND_NOTHING && w->guest)
        leave_seat(f);
}

/* An item to be run here; 0: there is none, or something else was done. */
static __attribute__((noinline)) work_item loop_next(struct fiber *f)
{
    struct worker *w = worker_self();
    if (w->todo.what == FOUND_NOTHING)
        look_for_work(w, f);
    if (w->todo.what == FOUND_NOTHING)
        return 0;
    if (kind_wanted(w, f) != f->store->kind)
        hand_on(w, f);
    bool item = w->todo.what == FOUND_ITEM;
    w->todo.what = FOUND_NOTHING;
    if (item)
        return w->todo.it;
    run_stolen(f);
    return 0;
}

/* A small frame: it is below every task that waits. */
static void loop(void *pass)
{
    struct fiber *f = loop_begin(pass);
    for (;;) {
        work_item it = loop_next(f);
        if (it)
            run_item(f, it);
    }
}

/* ---- bodies ------------------------------------------------------------------------------- */

bool run_body(struct worker *w, struct body *body)
{
    os_overflow_thread_keep();
    void *before = os_self_get();
    body->errno_at = os_errno_at();
    body->exceptions = os_exceptions_at();
    struct os_exceptions handled = os_exceptions_take(body->exceptions); /* of who calls a root */
    w->body = body;
    os_self_set(w);
    struct fiber *f = fiber_hot(w, FIBER_LARGE);
    if (f) {
        struct after start = {.worker = w};
        struct fiber *none;
        os_context_thread(&body->context);
        if (body->below) { /* not on the thread's own stack */
            body->context.stack_low = body->below->context.stack_low;
            body->context.stack_size = body->below->context.stack_size;
        }
        run_enter(w, f);
        (void)arrived(os_context_switch(&body->context, &f->context, &start), &none);
        run_enter(w, 0);
    }
    if (os_handles(&handled))
        *body->exceptions = handled;
    os_self_set(before);
    return f != 0;
}

void run_guest(filch_pool *pool, struct fiber *below, bool (*until)(void *), void *arg)
{
    struct worker *w = until(arg) ? 0 : idle_seat_enter(pool);
    if (!w)
        return;
    struct body body = {.until = until, .until_arg = arg, .below = below};
    run_body(w, &body);
    idle_seat_leave(w);
}

/* No memory for a stack: those that have one must do without this worker, and wake each other. */
static void stand_aside(struct worker *w)
{
    idle_search_found(w);
    if (find_own(w)) {
        find_evict(w);
        idle_notify(w->pool, 0);
    }
    os_sleep_ns(1000000);
}

void run_thread(void *arg)
{
    struct worker *w = arg;
    filch_pool *pool = w->pool;
    struct body body = {0};
    idle_awake(w);
    if (pool->config.worker_start)
        pool->config.worker_start(w->id, pool->config.hook_arg);
    while (!run_body(w, &body) && !filch_load_acquire(&pool->stop)) /* order: with idle_stop */
        stand_aside(w);
    if (pool->config.worker_stop)
        pool->config.worker_stop(w->id, pool->config.hook_arg);
}
