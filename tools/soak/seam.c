#define _GNU_SOURCE /* gettid */
#include "seam.h"

#include "os/context.h"
#include "os/os.h"

#include <errno.h>
#include <filch/ord.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct seam_thread threads[SEAM_THREADS];
static struct seam_totals totals;
static uint32_t level;
static uint64_t freeze_after; /* clock; nobody is frozen before */
static __thread struct seam_thread *self;

/* Calls between two pauses, on average. Hot calls are made a few times per task. While it is calm,
 * how often a thread looks whether it still is. */
static const uint32_t hot_mean[] = {50000, 50000, 15000};
static const uint32_t cold_mean[] = {300, 300, 30};

/* ---- who takes part ------------------------------------------------------------------------ */

static void rearm(struct seam_thread *t)
{
    uint32_t now = filch_load_relaxed(&level); /* order: a hint */
    t->hot = 1 + rng_below(&t->rng, 2 * hot_mean[now]);
    t->cold = 1 + rng_below(&t->rng, 2 * cold_mean[now]);
}

static void enter(int driver, uint64_t seed, uint32_t worker, uint32_t faults)
{
    for (int i = 0; i < SEAM_THREADS; i++) {
        struct seam_thread *t = &threads[i];
        uint32_t unused = 0;
        if (!filch_cas_acq_rel(&t->used, &unused, 2u)) /* order: the record is ours */
            continue;
        filch_store_relaxed(&t->view.driver, driver); /* order: figures, the next two as well */
        filch_store_relaxed(&t->view.worker, worker);
        filch_store_relaxed(&t->view.tid, gettid());
        t->faults = faults;
        t->fenced = 0;
        rng_seed(&t->rng, seed);
        rearm(t);
        filch_store_release(&t->used, 1u); /* order: filled in before the watch reads it */
        self = t;
        return;
    }
}

void seam_enter(int driver, uint64_t seed)
{
    enter(driver, seed, 0, 0);
}

void seam_leave(void)
{
    struct seam_thread *t = self;
    self = NULL;
    if (t)
        filch_store_release(&t->used, 0u); /* order: the last access */
}

struct seam_thread *seam_self(void)
{
    return self;
}

bool seam_look(int i, struct seam_view *out)
{
    const struct seam_thread *t = &threads[i];
    if (filch_load_acquire(&t->used) != 1) /* order: pairs with enter */
        return false;
    /* order: figures */
    *out = (struct seam_view){filch_load_relaxed(&t->view.tid), filch_load_relaxed(&t->view.driver),
                              filch_load_relaxed(&t->view.worker), filch_load_relaxed(&t->view.where)};
    return true;
}

void seam_set_level(enum seam_level new)
{
    filch_store_relaxed(&level, (uint32_t)new); /* order: a hint */
}

struct seam_totals seam_totals(void)
{
    /* order: figures */
    return (struct seam_totals){filch_load_relaxed(&totals.pauses), filch_load_relaxed(&totals.long_pauses),
                                filch_load_relaxed(&totals.spurious), filch_load_relaxed(&totals.failures)};
}

/* ---- pauses -------------------------------------------------------------------------------- */

static void sleep_us(uint32_t us)
{
    struct timespec t = {0, (long)us * 1000};
    int saved = errno;
    (void)nanosleep(&t, NULL);
    errno = saved;
}

/* As if the kernel had taken the CPU away for a while: one thread at a time, not often. */
static bool freeze(struct seam_thread *t)
{
    uint64_t after = filch_load_relaxed(&freeze_after); /* order: a ticket */
    struct timespec clock;
    clock_gettime(CLOCK_MONOTONIC, &clock);
    uint64_t now = (uint64_t)clock.tv_sec * 1000000000u + (uint64_t)clock.tv_nsec;
    if (now < after || !filch_cas_relaxed(&freeze_after, &after, now + 1000000000u)) /* order: as above */
        return false;
    sleep_us(20000 + rng_below(&t->rng, 80000));
    return true;
}

static void pause_for(struct seam_thread *t, const char *where)
{
    uint32_t kind = rng_below(&t->rng, 1000);
    filch_store_relaxed(&t->view.where, where); /* order: a sign to the watch */
    filch_add_relaxed(&totals.pauses, 1u); /* order: a figure */
    if (kind < 600) {
        (void)sched_yield();
    } else if (kind < 950) {
        sleep_us(1 + rng_below(&t->rng, 100));
    } else {
        filch_add_relaxed(&totals.long_pauses, 1u); /* order: a figure */
        if (kind < 995)
            sleep_us(100 + rng_below(&t->rng, 2000));
        else if (kind < 999 || !freeze(t))
            sleep_us(2000 + rng_below(&t->rng, 8000));
    }
    filch_store_relaxed(&t->view.where, (const char *)0); /* order: a sign to the watch */
}

static __attribute__((noinline)) void due(struct seam_thread *t, const char *where)
{
    if (filch_load_relaxed(&level) != SEAM_CALM) /* order: a hint */
        pause_for(t, where);
    rearm(t);
}

static inline void hot(const char *where)
{
    struct seam_thread *t = self;
    if (t && __builtin_expect(--t->hot == 0, 0))
        due(t, where);
}

static inline struct seam_thread *cold(const char *where)
{
    struct seam_thread *t = self;
    if (t && --t->cold == 0)
        due(t, where);
    return t;
}

void seam_point(void)
{
    hot("soak");
}

/* One in `odds`, on threads that expect it. */
static bool fails(struct seam_thread *t, uint32_t odds)
{
    if (!t || !t->faults || rng_below(&t->rng, odds) != 0)
        return false;
    filch_add_relaxed(&totals.failures, 1u); /* order: a figure */
    return true;
}

/* ---- the functions of os.h ----------------------------------------------------------------- */

#define REAL(result, name, ...) result __real_##name(__VA_ARGS__)
#define WRAP(result, name, ...)                                                                   \
    REAL(result, name, __VA_ARGS__);                                                              \
    result __wrap_##name(__VA_ARGS__);                                                            \
    result __wrap_##name(__VA_ARGS__)

WRAP(void *, os_self_get, void)
{
    hot("self_get");
    return __real_os_self_get();
}

WRAP(void, os_self_set, void *value)
{
    cold("self_set");
    __real_os_self_set(value);
}

WRAP(void, os_pause, void)
{
    hot("pause");
    __real_os_pause();
}

WRAP(void, os_pause_for, unsigned n)
{
    hot("pause");
    __real_os_pause_for(n);
}

WRAP(int64_t, os_clock_ns, void)
{
    cold("clock");
    return __real_os_clock_ns();
}

WRAP(void, os_thread_yield, void)
{
    hot("yield");
    __real_os_thread_yield();
}

REAL(int, os_futex_wait, uint32_t *word, uint32_t expect, int64_t deadline);

static int wait_shaken(struct seam_thread *t, uint32_t *word, uint32_t expect, int64_t deadline)
{
    if (!t)
        return __real_os_futex_wait(word, expect, deadline);
    if (rng_below(&t->rng, 64) == 0 && filch_load_relaxed(&level) != SEAM_CALM) { /* order: a hint */
        filch_add_relaxed(&totals.spurious, 1u); /* order: a figure */
        return 0;
    }
    filch_store_relaxed(&t->view.where, deadline == INT64_MAX ? "futex_wait" : "futex_wait with a deadline");
    int rc = __real_os_futex_wait(word, expect, deadline);
    filch_store_relaxed(&t->view.where, (const char *)0); /* order: a sign to the watch, as above */
    return rc;
}

WRAP(int, os_futex_wait, uint32_t *word, uint32_t expect, int64_t deadline)
{
    int rc = wait_shaken(cold("futex_wait"), word, expect, deadline);
    cold("futex_wait, after");
    return rc;
}

WRAP(void, os_futex_wake, uint32_t *word, int count)
{
    cold("futex_wake");
    __real_os_futex_wake(word, count);
}

WRAP(int, os_membarrier, void)
{
    struct seam_thread *t = cold("membarrier");
    if (fails(t, 16))
        return -EPERM;
    int rc = __real_os_membarrier();
    cold("membarrier, after");
    return rc;
}

WRAP(int, os_membarrier_init, void)
{
    struct seam_thread *t = cold("membarrier_init");
    return t && t->fenced ? -ENOSYS : __real_os_membarrier_init();
}

WRAP(void *, os_alloc, size_t size)
{
    return fails(cold("alloc"), 8) ? NULL : __real_os_alloc(size);
}

WRAP(void *, os_alloc_aligned, size_t size, size_t align)
{
    return fails(cold("alloc_aligned"), 8) ? NULL : __real_os_alloc_aligned(size, align);
}

WRAP(int, os_pages_reserve, void **out, size_t size, size_t align)
{
    return fails(cold("pages_reserve"), 8) ? -ENOMEM : __real_os_pages_reserve(out, size, align);
}

WRAP(uint64_t, os_random_seed, void)
{
    struct seam_thread *t = cold("random_seed");
    return t ? rng_next(&t->rng) : __real_os_random_seed();
}

/* After the switch we may be on another thread: nothing is touched any more. */
WRAP(void *, os_context_switch, os_context *from, os_context *to, void *pass)
{
    cold("context_switch");
    return __real_os_context_switch(from, to, pass);
}

/* ---- threads of pools ---------------------------------------------------------------------- */

struct started {
    void (*fn)(void *);
    void *arg;
    int driver;
    uint32_t faults;
    uint64_t seed;
};

static void thread_main(void *p)
{
    struct started s = *(struct started *)p;
    free(p);
    enter(s.driver, s.seed, 1, s.faults);
    s.fn(s.arg);
    seam_leave();
}

WRAP(int, os_thread_start, os_thread *out, void (*fn)(void *), void *arg, const char *name)
{
    struct seam_thread *t = cold("thread_start");
    if (!t)
        return __real_os_thread_start(out, fn, arg, name);
    struct started *s = fails(t, 3) ? NULL : malloc(sizeof *s);
    if (!s)
        return -EAGAIN;
    *s = (struct started){fn, arg, t->view.driver, t->faults, rng_next(&t->rng)};
    int rc = __real_os_thread_start(out, thread_main, s, name);
    if (rc != 0)
        free(s);
    cold("thread_start, after");
    return rc;
}
