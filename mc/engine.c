/* engine.c: threads as coroutines, one execution after the other.
 *
 * Every step of a thread that others might notice begins in mc_step, on the thread's own stack. There
 * the next thread is chosen: a choice like any other (mc_pick), recorded in a stack of choices that
 * is walked depth first. Steps on words that only one thread ever touches are not worth a choice;
 * which words are shared is learned from earlier executions of the same model, and the exploration
 * starts again when another one turns up.
 *
 * Bounded models count preemptions: stopping a thread that could go on. Unbounded ones use sleep
 * sets: a thread whose step was tried first need not run again until a step that depends on it.
 */
#include "mc_internal.h"
#include "os/context_frame.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct engine *mc;

/* ---- choices ------------------------------------------------------------------------------ */

static unsigned random_below(unsigned n)
{
    mc->rng ^= mc->rng << 13;
    mc->rng ^= mc->rng >> 7;
    mc->rng ^= mc->rng << 17;
    return (unsigned)((mc->rng >> 32) * n >> 32);
}

unsigned mc_pick(enum choice_kind kind, unsigned count)
{
    if (count <= 1)
        return 0;
    struct choice *c = &mc->choice[mc->position];
    if (mc->position == mc->depth) {
        if (mc->depth == MC_CHOICES)
            mc_fail("too many choices in one execution: make the model smaller");
        *c = (struct choice){(uint8_t)kind, (uint16_t)count, 0};
        if (mc->random)
            c->taken = (uint16_t)random_below(count);
        if (mc->position < mc->script_length)
            c->taken = mc->script[mc->position];
        if (c->taken >= count)
            mc_fail("the string does not fit this model: choice %d has %u ways", mc->position, count);
        mc->depth++;
    } else if (c->kind != kind || c->count != count) {
        mc_fail("the model is not repeatable: it depends on something that the checker does not "
                "put back (choice %d: %d of %d, now %d of %u)",
                mc->position, c->kind, c->count, (int)kind, count);
    }
    mc->position++;
    return c->taken;
}

bool mc_may_fail(unsigned call)
{
    if (!mc->running || !(mc->failing_calls & call) || mc->failures >= mc->model->failing)
        return false;
    if (mc_pick(CHOOSE_FAILURE, 2) == 0)
        return false;
    mc->failures++;
    return true;
}

/* ---- the end of an execution --------------------------------------------------------------- */

void mc_end(enum end how)
{
    void *abandoned;
    mc->end = how;
    mc->running = false;
    (void)os_context_jump(&abandoned, mc->main_sp, 0);
    __builtin_unreachable();
}

static bool all_fulfilled(void)
{
    for (int i = 0; i < mc->pendings; i++)
        if (!mc->pending[i].fulfilled)
            return false;
    return true;
}

static void schedule(void);
static void stir(void);

/* While a late load is open, what follows from it is not certain: the thread stops, the others go
 * on, and the end tells. */
static void __attribute__((noreturn)) stop_here(void)
{
    struct thread *t = mc_me();
    mc->tentative = true;
    t->state = THREAD_BLOCKED;
    t->futex = t;
    t->deadline = INT64_MAX;
    stir();
    schedule();
    __builtin_unreachable();
}

void mc_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!mc->tentative)
        vsnprintf(mc->message, sizeof mc->message, format, args);
    va_end(args);
    if (!all_fulfilled())
        stop_here();
    mc_end(END_FAILED);
}

void mc_check_at(bool ok, const char *text, const char *file, int line)
{
    if (!ok)
        mc_fail("%s:%d: does not hold: %s", file, line, text);
}

static void check_tasks(void)
{
    for (unsigned i = 0; i < MC_TASKS; i++)
        if (mc->born[i] && !mc->ran[i])
            mc_fail("task %u is lost: it never ran", i);
}

void mc_born(unsigned task)
{
    mc->born[task] = 1;
}

void mc_ran(unsigned task)
{
    if (!mc->born[task])
        mc_fail("task %u ran before it was there", task);
    if (mc->ran[task]++)
        mc_fail("task %u ran twice", task);
}

static const char *doing(const struct thread *t)
{
    if (t->state == THREAD_BLOCKED)
        return t->futex ? "sleeps at a futex" : "sleeps";
    return t->op.kind == OP_JOIN ? "waits for a thread to end" : "could go on";
}

static void __attribute__((noreturn)) deadlock(void)
{
    char text[400] = "";
    for (int i = 0; i < mc->threads; i++) {
        struct thread *t = &mc->thread[i];
        if (t->state == THREAD_DONE)
            continue;
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, " T%d %s;", i, doing(t));
    }
    mc_fail("deadlock:%s nobody can go on", text);
}

/* Nobody can take a step. */
static void __attribute__((noreturn)) all_stopped(void)
{
    bool done = true;
    if (!all_fulfilled())
        mc_end(END_DISCARDED);
    if (mc->tentative)
        mc_end(END_FAILED);
    for (int i = 0; i < mc->threads; i++)
        if (mc->thread[i].state != THREAD_DONE && !(mc->model->sleepers_stay && i > 0))
            done = false;
    if (!done)
        deadlock();
    check_tasks();
    if (!mc->model->leaks)
        mc_check_leaks();
    mc_end(END_OK);
}

/* ---- whose turn it is ---------------------------------------------------------------------- */

static unsigned bit(int thread)
{
    return 1u << thread;
}

static bool enabled(const struct thread *t)
{
    if (t->state != THREAD_READY)
        return false;
    return t->op.kind != OP_JOIN || mc->thread[t->op.target].state == THREAD_DONE;
}

static unsigned enabled_all(bool yielded_too)
{
    unsigned mask = 0;
    for (int i = 0; i < mc->threads; i++)
        if (enabled(&mc->thread[i]) && (yielded_too || !mc->thread[i].yielded))
            mask |= bit(i);
    return mask;
}

/* The earliest alarm goes off. */
static bool alarm_fires(void)
{
    struct thread *first = 0;
    for (int i = 0; mc->model->alarms && i < mc->threads; i++) {
        struct thread *t = &mc->thread[i];
        if (t->state == THREAD_BLOCKED && t->deadline != INT64_MAX &&
            (!first || t->deadline < first->deadline))
            first = t;
    }
    if (!first)
        return false;
    mc->now = first->deadline > mc->now ? first->deadline : mc->now;
    first->state = THREAD_READY;
    first->op = (struct op){.kind = OP_RESUME};
    first->timed_out = true;
    return true;
}

static bool is_access(const struct op *o)
{
    return o->kind == OP_LOAD || o->kind == OP_STORE || o->kind == OP_RMW ||
           o->kind == OP_FUTEX_WAIT || o->kind == OP_FUTEX_WAKE;
}

/* Does the order of the two steps matter? */
static bool dependent(const struct op *a, const struct op *b)
{
    if (is_access(a) && is_access(b))
        return a->address == b->address && !(a->kind == OP_LOAD && b->kind == OP_LOAD);
    if (a->kind == OP_FENCE && b->kind == OP_FENCE)
        return true;
    if ((a->kind == OP_FENCE && is_access(b)) || (b->kind == OP_FENCE && is_access(a)))
        return a->order == MC_SEQ_CST && b->order == MC_SEQ_CST;
    return true;
}

/* The current thread first, then by number. */
static int list_options(unsigned mask, int *options)
{
    int n = 0;
    if (mask & bit(mc->current))
        options[n++] = mc->current;
    for (int i = 0; i < mc->threads; i++)
        if (i != mc->current && (mask & bit(i)))
            options[n++] = i;
    return n;
}

static int choose_unbounded(unsigned mask, unsigned all)
{
    int options[MC_THREADS];
    unsigned open = mask & ~mc->sleep;
    if (!open)
        open = all & ~mc->sleep;
    if (!open)
        mc_end(END_CUT);
    int n = list_options(open, options), taken = (int)mc_pick(CHOOSE_THREAD, (unsigned)n);
    unsigned sleep = mc->sleep, kept = 0;
    for (int i = 0; i < taken; i++)
        sleep |= bit(options[i]);
    for (int i = 0; i < mc->threads; i++)
        if ((sleep & bit(i)) && !dependent(&mc->thread[i].op, &mc->thread[options[taken]].op))
            kept |= bit(i);
    mc->sleep = kept;
    return options[taken];
}

static int choose_bounded(unsigned mask, int most)
{
    int options[MC_THREADS], n = list_options(mask, options);
    bool stops_someone = mask & bit(mc->current);
    if (stops_someone && mc->preempted >= most)
        n = 1;
    int taken = (int)mc_pick(CHOOSE_THREAD, (unsigned)n);
    if (stops_someone && taken > 0)
        mc->preempted++;
    return options[taken];
}

static unsigned next_in_turn(unsigned all)
{
    int i = mc->current;
    do {
        i = (i + 1) % mc->threads;
    } while (!(all & bit(i)));
    return bit(i);
}

static int choose_thread(void)
{
    unsigned mask, all;
    for (int rounds = 0;; rounds++) {
        all = enabled_all(true);
        mask = enabled_all(false);
        if (mask)
            break;
        if (all && rounds == 0 && ++mc->idle_rounds < 4) {
            mask = all; /* all spin: any of them */
            break;
        }
        if (alarm_fires())
            continue;
        if (!all)
            all_stopped();
        mask = next_in_turn(all); /* they still spin: nobody is left out */
        break;
    }
    if (mc->model->preemptions == MC_UNBOUNDED && mc->lates == 0)
        return choose_unbounded(mask, all);
    int most = mc->model->preemptions;
    if (most == MC_UNBOUNDED)
        most = 1 << 30;
    return choose_bounded(mask, most == MC_ZERO ? 0 : most == 0 ? 2 : most);
}

static void switch_to(int next)
{
    struct thread *me = mc_me();
    if (next == mc->current)
        return;
    mc->current = next;
    (void)os_context_jump(&me->sp, mc->thread[next].sp, 0);
}

static void schedule(void)
{
    int next = choose_thread();
    mc->thread[next].yielded = false;
    switch_to(next);
}

/* Others may be worth a look again once somebody took a step that they could notice. */
static void stir(void)
{
    mc->idle_rounds = 0;
    for (int i = 0; i < mc->threads; i++)
        if (i != mc->current)
            mc->thread[i].yielded = false;
}

/* ---- steps --------------------------------------------------------------------------------- */

static bool alone(void)
{
    for (int i = 0; i < mc->threads; i++)
        if (i != mc->current && mc->thread[i].state != THREAD_DONE)
            return false;
    return true;
}

/* A new thread runs up to its first step while its starter waits. */
static bool hand_back(struct thread *t)
{
    if (!t->starting)
        return false;
    t->starting = false;
    switch_to(t->starter);
    return true;
}

/* It read a value that nobody has stored yet: whatever it does next, others must have the chance to. */
static bool waits_for_store(int thread)
{
    for (int i = 0; i < mc->pendings; i++)
        if (mc->pending[i].thread == thread && !mc->pending[i].fulfilled)
            return true;
    return false;
}

/* Nobody else could notice it, as far as is known. */
static bool is_private(const struct op *op)
{
    return (op->kind == OP_LOAD || op->kind == OP_STORE || op->kind == OP_RMW) &&
           !mc_conflicts(op->address) && !waits_for_store(mc->current);
}

static bool still_spins(struct thread *t, const struct op *op)
{
    if (t->spin_out == 0 || op->kind != OP_LOAD || (t->spin_word && t->spin_word != op->address))
        return false;
    t->spin_word = op->address;
    return true;
}

void mc_step(const struct op *op)
{
    struct thread *t = mc_me();
    unsigned most = mc->model->steps ? mc->model->steps : 20000;
    if (++mc->steps_taken > most)
        mc_fail("livelock: no end after %u steps", most);
    t->op = *op;
    if (still_spins(t, op))
        return;
    t->spin_out = 0;
    if (alone() || is_private(op))
        return;
    if (!hand_back(t))
        schedule();
    if (op->kind != OP_LOAD && op->kind != OP_PAUSE)
        stir();
}

static void thread_main(void *unused)
{
    (void)unused;
    struct thread *t = mc_me();
    t->fn(t->arg);
    t->state = THREAD_DONE;
    stir();
    if (!hand_back(t))
        schedule();
    __builtin_unreachable();
}

static void thread_make(int id, void (*fn)(void *), void *arg)
{
    struct thread *t = &mc->thread[id];
    t->state = THREAD_READY;
    t->op = (struct op){.kind = OP_RESUME};
    t->fn = fn;
    t->arg = arg;
    t->sp = os_context_frame(t->stack + MC_STACK, thread_main);
}

int mc_start_thread(void (*fn)(void *), void *arg, bool daemon)
{
    if (mc->threads == MC_THREADS)
        mc_fail("more than %d threads", MC_THREADS);
    int id = mc->threads++;
    struct thread *t = &mc->thread[id], *me = mc_me();
    thread_make(id, fn, arg);
    t->cur = me->cur; /* what was before the start has happened for it */
    t->acq = me->cur;
    t->cur.clock[id] = 1;
    me->cur.clock[mc->current]++;
    t->daemon = daemon;
    t->starting = true;
    t->starter = mc->current;
    switch_to(id);
    return id;
}

int mc_thread(void (*fn)(void *arg), void *arg)
{
    return mc_start_thread(fn, arg, false);
}

void mc_join(int thread)
{
    struct op op = {.kind = OP_JOIN, .target = thread};
    mc_me()->op = op;
    if (mc->thread[thread].state != THREAD_DONE)
        mc_step(&op);
    mc_view_join(&mc_me()->cur, &mc->thread[thread].cur);
}

void mc_join_all(void)
{
    for (int i = 0; i < mc->threads; i++)
        if (i != mc->current && !mc->thread[i].daemon)
            mc_join(i);
}

int mc_self(void)
{
    return mc->current;
}

unsigned mc_choose(unsigned n)
{
    return mc_pick(CHOOSE_DATA, n);
}

void mc_outcome(unsigned result)
{
    for (int i = 0; i < mc->outcomes; i++)
        if (mc->outcome[i] == result)
            return;
    if (mc->outcomes == (int)(sizeof mc->outcome / sizeof mc->outcome[0]))
        mc_fail("too many outcomes");
    mc->outcome[mc->outcomes++] = result;
}

void mc_fails(unsigned calls)
{
    mc->failing_calls = calls;
}

void mc_late(const void *address, size_t size)
{
    mc->late[mc->lates].p = address;
    mc->late[mc->lates++].size = size;
}

void mc_note(const char *text)
{
    struct step *s = mc_record(0, 0);
    s->note = text;
}

/* ---- sleep --------------------------------------------------------------------------------- */

void mc_block(const void *futex, int64_t deadline)
{
    struct thread *t = mc_me();
    t->state = THREAD_BLOCKED;
    t->futex = futex;
    t->deadline = deadline;
    t->since = mc->sleepers++;
    t->timed_out = false;
    schedule();
    t->futex = 0;
}

static int sleepers_at(const void *futex, int *list)
{
    int n = 0;
    for (int i = 0; i < mc->threads; i++)
        if (mc->thread[i].state == THREAD_BLOCKED && mc->thread[i].futex == futex)
            list[n++] = i;
    return n;
}

int mc_wake(const void *futex, int count)
{
    int list[MC_THREADS], n, woken = 0;
    while (woken < count && (n = sleepers_at(futex, list)) > 0) {
        int i = n > count - woken ? (int)mc_pick(CHOOSE_WAKE, (unsigned)n) : 0;
        mc->thread[list[i]].state = THREAD_READY;
        mc->thread[list[i]].op = (struct op){.kind = OP_RESUME};
        woken++;
    }
    return woken;
}

/* ---- one execution -------------------------------------------------------------------------- */

static void first_thread(void *unused)
{
    (void)unused;
    mc->model->run();
}

static void thread_reset(struct thread *t)
{
    char *stack = t->stack;
    memset(&t->cur, 0, offsetof(struct view, ts));
    memset(t, 0, offsetof(struct thread, cur));
    t->acq.n = t->rel.n = t->mark.n = 0;
    memset(t->acq.clock, 0, sizeof t->acq.clock);
    t->released = false;
    t->stack = stack;
}

void mc_execute(void)
{
    mc->run++;
    for (int i = 0; i < MC_THREADS; i++)
        thread_reset(&mc->thread[i]);
    mc->threads = 1;
    mc->current = 0;
    mc->sleep = 0;
    mc->idle_rounds = 0;
    mc->preempted = mc->stale = mc->spurious = mc->failures = mc->spun = mc->hasty = 0;
    mc->failing_calls = 0;
    mc->now = 1000000;
    mc->sleepers = 0;
    mc->steps_taken = 0;
    mc->pendings = mc->lates = mc->steps = 0;
    mc->message[0] = 0;
    mc->tentative = false;
    mc->position = 0;
    memset(mc->born, 0, sizeof mc->born);
    memset(mc->ran, 0, sizeof mc->ran);
    mc_memory_reset();
    mc_plain_reset();
    thread_make(0, first_thread, 0);
    mc->thread[0].cur.clock[0] = 1;
    mc->running = true;
    (void)os_context_jump(&mc->main_sp, mc->thread[0].sp, 0);
    if (mc->steps_taken > mc->longest)
        mc->longest = mc->steps_taken;
}
