/* dump.c: the picture of look.c in words. One line per fact, the same words each time. */
#include "core/dump.h"
#include "core/environment.h"
#include "core/idle.h"
#include "core/job.h"
#include "core/look.h"
#include "core/queue.h"
#include "core/report.h"
#include "core/watch.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 4096, LINE = 512, FRAMES = 16, SCANNED = 1024, CIRCLE_MOST = 64 };

struct dump {
    int fd, error;
    int64_t now;
    size_t used;
    char text[TEXT];
    struct os_code code;
    uintptr_t stack[SCANNED];
    struct look look;
};

/* ---- text --------------------------------------------------------------------------------- */

static void flush(struct dump *d)
{
    if (d->error == 0 && d->used > 0)
        d->error = os_write_all(d->fd, d->text, d->used);
    d->used = 0;
}

__attribute__((format(printf, 2, 3))) static void say(struct dump *d, const char *format, ...)
{
    va_list args;
    if (TEXT - d->used < LINE)
        flush(d);
    va_start(args, format);
    int n = vsnprintf(d->text + d->used, LINE, format, args);
    va_end(args);
    if (n > 0)
        d->used += (size_t)n < LINE ? (size_t)n : LINE - 1;
}

static void say_time(struct dump *d, int64_t ns)
{
    if (ns < 0)
        ns = 0;
    if (ns < 1000000000)
        say(d, "%lld ms", (long long)(ns / 1000000));
    else
        say(d, "%lld.%03lld s", (long long)(ns / 1000000000), (long long)(ns / 1000000 % 1000));
}

/* Null terminated, from the library itself if all is well. */
static void say_word(struct dump *d, const char *at, const char *otherwise)
{
    char word[LOOK_NAME];
    look_text(word, sizeof word, at);
    say(d, "%s", word[0] ? word : otherwise);
}

static void say_flow(struct dump *d, const struct look_flow *f)
{
    const void *id = f->task ? (const void *)f->task : f->fiber;
    say(d, "%s %p \"%s\"", f->task ? "task" : "job", id, f->name);
}

/* ---- what a flow waits for ---------------------------------------------------------------- */

static void say_object(struct dump *d, const struct look_flow *f)
{
    const char *name = 0;
    if (f->about.kind == WAIT_FOR_FD) {
        say(d, " for descriptor %d", (int)(intptr_t)f->object);
        return;
    }
    if (!f->object)
        return;
    say(d, " for ");
    say_word(d, f->about.noun, "object");
    say(d, " %p", f->object);
    if (f->about.name_at)
        (void)os_peek(&name, (const char *)f->object + f->about.name_at, sizeof name);
    if (name) {
        say(d, " \"");
        say_word(d, name, "");
        say(d, "\"");
    }
}

static void say_wait(struct dump *d, const struct look_flow *f)
{
    if (f->stolen) {
        say(d, "waiting in FILCH_JOIN for a stolen fork");
        return;
    }
    say(d, "waiting in ");
    say_word(d, f->about.call, "a call");
    say_object(d, f);
    if (f->since_ns) {
        say(d, ", for ");
        say_time(d, d->now - f->since_ns);
    }
    if (f->deadline != FILCH_FOREVER && f->deadline != 0) {
        say(d, ", until ");
        say_time(d, f->deadline - d->now);
        say(d, " from now");
    }
    if (f->worker >= 0)
        say(d, ", on worker %d", f->worker); /* pinned, or about to leave */
}

/* ---- stacks ------------------------------------------------------------------------------- */

static void say_stack(struct dump *d, const struct look_flow *f)
{
    const char *low = (const char *)((uintptr_t)f->stack_low & ~(sizeof(uintptr_t) - 1));
    if (f->state == LOOK_RUNNING || !low || low >= f->stack_high)
        return;
    size_t words = (size_t)(f->stack_high - low) / sizeof(uintptr_t), frames = 0;
    words = words < SCANNED ? words : SCANNED;
    if (os_peek(d->stack, low, words * sizeof(uintptr_t)) != 0)
        return;
    for (size_t i = 0; i < words && frames < FRAMES; i++) {
        if (!os_code_is_return(&d->code, d->stack[i]))
            continue;
        char text[160];
        (void)os_symbol(d->stack[i], text, sizeof text);
        say(d, "      at %s\n", text);
        frames++;
    }
}

/* ---- lines -------------------------------------------------------------------------------- */

static void say_begun(struct dump *d, const struct look_flow *f)
{
    say(d, "  ");
    say_flow(d, f);
    if (f->state == LOOK_RUNNING)
        say(d, " running on worker %d", f->worker);
    else if (f->state == LOOK_READY)
        say(d, " ready");
    else
        say(d, " "), say_wait(d, f);
    if (f->token)
        say(d, ", in scope %p", (const void *)f->token);
    if (f->under)
        say(d, ", inside the join of task %p", (const void *)f->under);
    say(d, "\n");
    say_stack(d, f);
}

static void say_queued(struct dump *d, const struct look *l)
{
    size_t shown = 0;
    for (size_t i = 0; i < l->groups; i++) {
        char symbol[160];
        (void)os_symbol(l->group[i].fn, symbol, sizeof symbol);
        say(d, "  %zu task%s \"", l->group[i].count, l->group[i].count == 1 ? "" : "s");
        say_word(d, l->group[i].at, "");
        say(d, "\" ready, not begun: %s\n", symbol);
        shown += l->group[i].count;
    }
    if (shown < l->queued)
        say(d, "  %zu more tasks ready, not begun\n", l->queued - shown);
    if (l->ended)
        say(d, "  %zu task%s ended, not joined\n", l->ended, l->ended == 1 ? "" : "s");
}

static const struct look_flow *on_fiber(const struct look *l, const struct fiber *f)
{
    for (size_t i = 0; f && i < l->flows; i++)
        if (l->flow[i].fiber == f)
            return &l->flow[i];
    return 0;
}

static void say_doing(struct dump *d, struct worker *w, int64_t kept)
{
    bool has_thread;
    uint32_t searching = 0;
    const struct look_flow *f = on_fiber(&d->look, w->looked.fiber);
    if (idle_asleep(w->pool, w->id, &has_thread)) {
        say(d, "%s", has_thread ? "asleep" : "empty");
    } else if (f) {
        say(d, f->state == LOOK_WAITING ? "waits with " : "runs ");
        say_flow(d, f);
        say(d, ", for at least ");
        say_time(d, kept);
    } else {
        (void)os_peek(&searching, &w->searching, sizeof searching);
        say(d, "%s", searching ? "searching" : "between two tasks");
    }
}

static void say_worker(struct dump *d, struct worker *w)
{
    say(d, "  worker %d: ", w->id);
    lock_acquire(&w->pool->look_lock);
    int64_t kept = watch_look(w, d->now);
    say_doing(d, w, kept);
    lock_release(&w->pool->look_lock);
    say(d, "; queue %zu, next %d, inbox %zu\n", queue_size(w),
        filch_load_relaxed(&w->next) != 0, inject_count(&w->inbox)); /* order: a figure */
}

/* Who keeps `f` waiting, if that is not plain from what it waits for. */
static void say_next(struct dump *d, const struct look_flow *f, const struct look_flow *next)
{
    if (f->about.kind == WAIT_FOR_TASK && next->task == f->object)
        return;
    say(d, f->about.kind == WAIT_FOR_TASK ? " (under the stack of " :
           f->about.kind == WAIT_FOR_SCOPE ? " (with " : " (held by ");
    say_flow(d, next);
    say(d, ")");
}

/* From the flow that waits to the one that is waited for; `parent` leads the other way. */
static void say_circle(struct dump *d, const struct look_flow *end)
{
    const struct look_flow *ring[CIRCLE_MOST], *f = end;
    size_t n = 0;
    bool ends = false;
    do {
        ring[n++] = f;
        ends = ends || f->deadline != FILCH_FOREVER;
        f = &d->look.flow[f->parent];
    } while (f != end && n < CIRCLE_MOST);
    say(d, "  deadlock%s: ", ends ? " (until a deadline)" : "");
    for (size_t i = n; i-- > 0;) {
        say_flow(d, ring[i]);
        say(d, " waits in ");
        say_word(d, ring[i]->about.call, "a call");
        say_object(d, ring[i]);
        say_next(d, ring[i], ring[i > 0 ? i - 1 : n - 1]);
        say(d, i > 0 ? "; " : f == end ? "\n" : "; and more\n");
    }
}

/* ---- a pool ------------------------------------------------------------------------------- */

static void say_head(struct dump *d, filch_pool *pool)
{
    const struct look *l = &d->look;
    say(d, "filch dump: pool \"%s\" %p, %d workers, %zu running, %zu ready, %zu waiting\n", pool->name,
        (void *)pool, pool->count, l->running, l->ready + l->queued, l->waiting);
    say(d, "  jobs pending %llu, injector %zu\n",
        (unsigned long long)filch_load_relaxed(&pool->pending), /* order: a figure */
        inject_count(&pool->injector));
}

static int dump_pool(filch_pool *pool, void *arg)
{
    struct dump *d = arg;
    struct look_flow *end;
    wait_keep_time(pool);
    look_take(&d->look, pool);
    d->now = os_clock_ns();
    say_head(d, pool);
    for (int i = 0; i < pool->count; i++)
        say_worker(d, &pool->workers[i]);
    for (size_t i = 0; i < d->look.flows; i++)
        say_begun(d, &d->look.flow[i]);
    say_queued(d, &d->look);
    if (d->look.missed)
        say(d, "  no memory to show %zu more\n", d->look.missed);
    for (size_t from = 0; (end = look_circle(&d->look, &from));)
        say_circle(d, end);
    look_drop(&d->look);
    flush(d);
    return d->error;
}

static struct dump *dump_make(int fd)
{
    struct dump *d = os_alloc(sizeof *d);
    if (d) {
        d->fd = fd;
        os_code_load(&d->code);
    }
    return d;
}

int filch_dump(int fd)
{
    struct dump *d = dump_make(fd);
    int rc = d ? pool_each(dump_pool, d) : -ENOMEM;
    os_free(d);
    return rc;
}

int filch_pool_dump(filch_pool *pool, int fd)
{
    job_check_pool(pool, "filch_pool_dump");
    struct dump *d = dump_make(fd);
    int rc = d ? dump_pool(pool, d) : -ENOMEM;
    os_free(d);
    return rc;
}

/* ---- by signal ---------------------------------------------------------------------------- */

static uint32_t signal_lock, served, ending, wanted; /* wanted: counts signals, futex */
static os_thread server;
static int caught; /* the signal; signal_lock */

static void ask(void)
{
    filch_add_acq_rel(&wanted, 1u); /* order: pairs with serve, for `ending` */
    os_futex_wake(&wanted, 1);
}

static void on_signal(int signo)
{
    static const char none[] = "filch dump: no pool was made in this process\n";
    (void)signo;
    if (filch_load_relaxed(&served)) /* order: a flag */
        ask();
    else
        os_print(none, sizeof none - 1);
}

static void serve(void *arg)
{
    uint32_t seen = 0;
    (void)arg;
    for (;;) {
        uint32_t now = filch_load_acquire(&wanted); /* order: pairs with ask */
        if (filch_load_relaxed(&ending)) /* order: set before ask */
            return;
        if (now != seen)
            (void)filch_dump(2);
        else
            (void)os_futex_wait(&wanted, seen, INT64_MAX);
        seen = now;
    }
}

static void forked(void)
{
    signal_lock = served = ending = 0;
    caught = 0;
}

static int keep_time(filch_pool *pool, void *unused)
{
    (void)unused;
    wait_keep_time(pool);
    return 0;
}

int dump_by_signal(void)
{
    return filch_load_relaxed(&served) != 0; /* order: a flag */
}

/* signal_lock held, as in the next two. */
static int begin_serving(void)
{
    static uint32_t prepared;
    if (!prepared)
        os_at_fork(0, 0, forked);
    prepared = 1;
    if (served)
        return 0;
    filch_store_relaxed(&wanted, 0u); /* order: handed over with the thread */
    int rc = os_thread_start(&server, serve, 0, "filch-dump");
    filch_store_relaxed(&served, (uint32_t)(rc == 0)); /* order: the lock; a flag outside */
    return rc;
}

static int end_serving(void)
{
    if (!served)
        return 0;
    (void)os_signal_catch(caught, 0);
    filch_store_relaxed(&ending, 1u); /* order: before ask */
    ask();
    os_thread_join(server);
    filch_store_relaxed(&ending, 0u); /* order: the lock */
    filch_store_relaxed(&served, 0u); /* order: the lock; a flag outside */
    return 0;
}

static int begin_catching(int signo)
{
    int rc = begin_serving();
    if (rc == 0)
        rc = os_signal_catch(signo, on_signal);
    if (rc == 0)
        caught = signo;
    else if (!caught)
        (void)end_serving();
    return rc;
}

static int catch(int signo)
{
    lock_acquire(&signal_lock);
    int rc = signo ? begin_catching(signo) : end_serving();
    if (signo == 0)
        caught = 0;
    lock_release(&signal_lock);
    return rc;
}

int filch_dump_on_signal(int signo)
{
    int rc = catch(signo);
    if (rc == 0 && signo)
        (void)pool_each(keep_time, 0);
    return rc;
}

/* With the lock of all pools held, and no pool yet. */
void dump_prepare(void)
{
    if (!environment_flag(FLAG_DUMP))
        return;
    int rc = catch(OS_SIGQUIT);
    if (rc != 0)
        report_warning("filch: FILCH_DUMP=1 has no effect: error %d", -rc);
}

/* The first pool brings the thread that answers. Until then the signal must not end the process: the user
 * cannot see whether there is a pool. */
static void __attribute__((constructor)) at_load(void)
{
    if (environment_flag_set(FLAG_DUMP))
        (void)os_signal_catch(OS_SIGQUIT, on_signal);
}
