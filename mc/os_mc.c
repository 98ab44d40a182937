/* os_mc.c: the machine of src/os/os.h, as the model checker plays it. Threads are coroutines, time
 * passes only when nobody can go on, and calls fail when the model says so. */
#include "mc_internal.h"
#include "os/os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct mc_site site_wait = {"kernel", "futex_wait", "futex", 0};
static const struct mc_site site_wake = {"kernel", "futex_wake", "futex", 0};
static const struct mc_site site_barrier = {"kernel", "membarrier", "membarrier", 0};
static const struct mc_site site_time = {"kernel", "sleep", "time", 0};

/* ---- threads -------------------------------------------------------------------------------- */

int os_thread_start(os_thread *out, void (*fn)(void *), void *arg, const char *name)
{
    (void)name;
    if (mc_may_fail(MC_THREAD))
        return -EAGAIN;
    /* The handle is written before the thread runs, as pthread_create may do. */
    out->handle = (uintptr_t)mc->threads;
    (void)mc_start_thread(fn, arg, true);
    return 0;
}

void os_thread_join(os_thread t)
{
    mc_join((int)t.handle);
}

/* A spin either lets others go on, or runs to the end of its patience before anybody does. */
static bool spins_on(struct thread *t)
{
    enum { PATIENCE = 80 }; /* more than any spin loop of the core has */
    int most = mc->model->spins == 0 ? 1 : mc->model->spins;
    if (t->spin_out > 0)
        return --t->spin_out > 0;
    if (mc->spun >= most || mc_pick(CHOOSE_FAILURE, 2) == 0)
        return false;
    mc->spun++;
    t->spin_out = PATIENCE;
    t->spin_word = 0;
    return true;
}

void os_thread_yield(void)
{
    if (!mc->running || spins_on(mc_me()))
        return;
    struct op op = {.kind = OP_PAUSE};
    mc_me()->yielded = true;
    mc_step(&op);
    mc_fair(mc_me());
}

void os_pause(void)
{
    os_thread_yield();
}

void os_pause_for(unsigned n)
{
    (void)n;
    os_thread_yield();
}

void *os_self_get(void)
{
    return mc_me()->self;
}

void os_self_set(void *self)
{
    mc_me()->self = self;
}

uintptr_t os_thread_mark(void)
{
    return (uintptr_t)mc_me();
}

int os_errno_get(void)
{
    return mc_me()->errno_value;
}

void os_errno_set(int value)
{
    mc_me()->errno_value = value;
}

int *os_errno_at(void)
{
    return &mc_me()->errno_value;
}

struct os_exceptions *os_exceptions_at(void)
{
    static struct os_exceptions none;
    return &none;
}

/* ---- sleep and time ------------------------------------------------------------------------- */

int64_t os_clock_ns(void)
{
    return mc->now += 100;
}

uint64_t os_ticks(void)
{
    return (uint64_t)os_clock_ns();
}

uint64_t os_ticks_per_us(void)
{
    return 0; /* what is measured takes no time */
}

void os_sleep_ns(int64_t ns)
{
    struct op op = {.kind = OP_PAUSE};
    mc_step(&op);
    mc_fair(mc_me());
    if (!mc->model->alarms)
        return; /* as if the time were over at once */
    mc_record(&site_time, "sleep");
    mc_block(0, mc->now + ns);
}

static bool spurious(void)
{
    int most = mc->model->spurious == 0 ? 1 : mc->model->spurious;
    if (mc->spurious >= most || mc_pick(CHOOSE_FAILURE, 2) == 0)
        return false;
    mc->spurious++;
    return true;
}

/* The time is over before anything else happens. */
static bool is_late(int64_t deadline)
{
    if (deadline == INT64_MAX || mc->hasty >= mc->model->hasty || mc_pick(CHOOSE_FAILURE, 2) == 0)
        return false;
    mc->hasty++;
    mc->now = deadline > mc->now ? deadline : mc->now;
    return true;
}

/* The kernel compares and goes to sleep in one step. */
int os_futex_wait(uint32_t *word, uint32_t expect, int64_t deadline)
{
    struct op op = {.kind = OP_FUTEX_WAIT, .address = word, .order = MC_RELAXED};
    mc_step(&op);
    mc_atomic_access(word, 4, false, &site_wait);
    uint64_t found = mc_newest(word, 4);
    struct step *s = mc_record(&site_wait, "sleeps");
    s->flags = STEP_BEFORE;
    s->before = found;
    if (found != expect || spurious()) {
        s->what = found != expect ? "does not sleep" : "wakes up without cause";
        return 0;
    }
    if (is_late(deadline)) {
        s->what = "time is over at once";
        return -ETIMEDOUT;
    }
    mc_block(word, deadline);
    struct thread *t = mc_me();
    s = mc_record(&site_wait, t->timed_out ? "time is over" : "wakes up");
    if (t->timed_out)
        mc_newest(word, 4);
    return t->timed_out ? -ETIMEDOUT : 0;
}

void os_futex_wake(uint32_t *word, int count)
{
    struct op op = {.kind = OP_FUTEX_WAKE, .address = word, .order = MC_RELAXED};
    mc_step(&op);
    struct step *s = mc_record(&site_wake, "wakes");
    s->flags = STEP_AFTER;
    s->after = (uint64_t)mc_wake(word, count);
}

/* Nothing becomes ready by itself: a model that plays descriptors tells the core what they did. The wait
 * is a sleep that a wake or the deadline ends. */
int os_poll_open(os_poll *p)
{
    *p = (os_poll){0, 0};
    return mc_may_fail(MC_ALLOC) ? -EMFILE : 0;
}

void os_poll_close(os_poll *p) { (void)p; }
int os_poll_add(os_poll *p, int fd, uint64_t tag) { (void)p, (void)fd, (void)tag; return 0; }
bool os_fd_drains(int fd) { return fd >= 0; }
void os_poll_remove(os_poll *p, int fd) { (void)p, (void)fd; }

int os_poll_wait(os_poll *p, struct os_poll_event *out, int most, int64_t deadline)
{
    (void)out, (void)most;
    uint32_t *word = (uint32_t *)&p->wake;
    if (deadline <= 0)
        return 0;
    int rc = os_futex_wait(word, 0, deadline);
    if (rc == 0)
        filch_store_relaxed(word, 0u);
    return rc;
}

void os_poll_wake(os_poll *p)
{
    filch_store_release((uint32_t *)&p->wake, 1u);
    os_futex_wake((uint32_t *)&p->wake, 1);
}

int os_membarrier_init(void)
{
    return mc->model->no_membarrier ? -ENOSYS : 0;
}

int os_membarrier(void)
{
    struct op op = {.kind = OP_MEMBARRIER};
    if (mc->model->no_membarrier || mc_may_fail(MC_MEMBARRIER))
        return -EPERM;
    mc_step(&op);
    mc_record(&site_barrier, "barrier on all threads");
    mc_fence_all();
    return 0;
}

/* ---- memory --------------------------------------------------------------------------------- */

void *os_alloc(size_t size)
{
    return mc_may_fail(MC_ALLOC) ? 0 : mc_arena_take(size, 16, false);
}

void *os_alloc_aligned(size_t size, size_t align)
{
    return mc_may_fail(MC_ALLOC) ? 0 : mc_arena_take(size, align, false);
}

void os_free(void *p)
{
    mc_arena_free(p);
}

size_t os_page_size(void)
{
    return 4096;
}

int os_pages_reserve(void **out, size_t size, size_t align)
{
    if (mc_may_fail(MC_PAGES))
        return -ENOMEM;
    *out = mc_arena_take(size, align, true);
    return 0;
}

void os_pages_release(void *p, size_t size)
{
    (void)size;
    mc_arena_free(p);
}

void os_pages_discard(void *p, size_t size)
{
    (void)p, (void)size;
}

int os_pages_guard(void *p, size_t size)
{
    (void)p, (void)size;
    return 0;
}

/* ---- the rest ------------------------------------------------------------------------------- */

int os_cpu_count(void) { return 2; }
int os_cpu_affinity(void) { return 2; }
int64_t os_cpu_quota_milli(void) { return 0; }
int64_t os_cpu_quota_at(const char *root) { (void)root; return 0; }
int64_t os_began_ns; /* 0: no deadline lies before it */
const char *os_getenv(const char *name) { (void)name; return 0; }
uint64_t os_random_seed(void) { return 42; }

/* The library prints when it is misused, and then aborts. */
void os_print(const char *text, size_t length)
{
    if (mc->running)
        mc_fail("%.*s", (int)length - 1, text);
    fwrite(text, 1, length, stderr);
}

/* For the dump, which no model makes. */
int os_peek(void *to, const void *from, size_t n) { return memcpy(to, from, n), 0; }
void os_code_load(struct os_code *c) { c->count = 0; }
int os_code_is_return(const struct os_code *c, uintptr_t pc) { return (void)c, (void)pc, 0; }
size_t os_symbol(uintptr_t pc, char *text, size_t size) { return (void)pc, (void)text, (void)size, 0; }
int os_write_all(int fd, const void *bytes, size_t n) { return (void)fd, (void)bytes, (void)n, 0; }
int os_signal_catch(int signo, void (*handler)(int)) { return (void)signo, (void)handler, 0; }

void os_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    (void)prepare, (void)parent, (void)child;
}

bool os_child_of_own_thread(void) { return false; }

static size_t (*overflow_lookup)(const void *address, char *text, size_t size);

int os_overflow_install(size_t (*lookup)(const void *, char *, size_t))
{
    overflow_lookup = lookup;
    return 0;
}

size_t mc_overflow(const void *address, char *text, size_t size)
{
    return overflow_lookup ? overflow_lookup(address, text, size) : 0;
}

void os_overflow_remove(void) {}
int os_overflow_thread_enter(void **cookie) { *cookie = 0; return 0; }
void os_overflow_thread_leave(void *cookie) { (void)cookie; }
void os_overflow_thread_keep(void) {}
