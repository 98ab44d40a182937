/* pool.c: pools come and go; the default one; fork() and exit.
 *
 * All pools are in one list, for the overflow reporter and for fork(). */
#include "core/config.h"
#include "core/dump.h"
#include "core/environment.h"
#include "core/event.h"
#include "core/job.h"
#include "core/poll.h"
#include "core/report.h"
#include "core/run.h"
#include "core/wait.h"
#include "core/watch.h"

#include <errno.h>
#include <filch/stats.h>
#include <stdio.h>
#include <string.h>

#define TRIM_NS 10000000000

static uint32_t pools_lock;
static filch_pool *pools;
static filch_pool *default_pool;
static uint32_t prepared;

const char *filch_version(void)
{
    return FILCH_VERSION;
}

int64_t filch_clock_ns(void)
{
    return os_clock_ns();
}

int64_t filch_after_ns(int64_t ns)
{
    if (ns <= 0)
        return FILCH_NOW;
    int64_t now = os_clock_ns();
    return ns < FILCH_FOREVER - now ? now + ns : FILCH_FOREVER;
}

int64_t filch_after_ms(int64_t ms)
{
    return ms < FILCH_FOREVER / 1000000 ? filch_after_ns(ms > 0 ? ms * 1000000 : 0) : FILCH_FOREVER;
}

int64_t filch_after_s(double seconds)
{
    double ns = seconds * 1e9;
    if (ns >= 9e18)
        return FILCH_FOREVER;
    return ns > 0 ? filch_after_ns((int64_t)ns) : FILCH_NOW; /* not a number: not more than 0 */
}

/* ---- overflow report ---------------------------------------------------------------------- */

/* In a signal handler: no locks, no allocation. */
static size_t overflow_text(const void *address, char *text, size_t size)
{
    bool in_slots = false;
    /* order: acquires a pool that was linked in; pools are not destroyed while they run jobs */
    for (filch_pool *p = filch_load_acquire(&pools); p; p = p->next) {
        struct fiber *f = fiber_at_guard(&p->fibers[FIBER_LARGE], address, &in_slots);
        if (!f)
            f = fiber_at_guard(&p->fibers[FIBER_SMALL], address, &in_slots);
        if (!f)
            continue;
        const char *setting = f->store->kind == FIBER_SMALL ? "task_stack_size" : "stack_size";
        const char *name = f->task ? f->task->name : f->root ? f->root->name : 0;
        name = name ? name : "unnamed";
        int n = in_slots ? snprintf(text, size,
                                    "filch: stack overflow in task \"%s\" (more than %zu forks pending)\n",
                                    name, (size_t)(f->slots.end - f->slots.first))
                         : snprintf(text, size,
                                    "filch: stack overflow in task \"%s\" (stack of %zu KiB): raise "
                                    "%s in filch_config, or recurse less deeply\n",
                                    name, f->store->stack_size / 1024, setting);
        return n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* ---- fork() and exit ---------------------------------------------------------------------- */

static void before_fork(void)
{
    lock_acquire(&pools_lock);
}

static void parent_after_fork(void)
{
    lock_release(&pools_lock);
}

/* What a worker remembers from one turn to the next belongs to a flow that the child does not have. With
 * `hushed` left on it would never tell others of what it wakes. */
static void worker_reset(struct worker *w)
{
    w->fiber = 0;
    memset(w->cached, 0, sizeof w->cached);
    w->tasks = (struct task_cache){0};
    w->todo.what = FOUND_NOTHING;
    w->spawned = w->ended = 0;
    w->body = 0;
    w->impatience = w->calm = w->wary = w->streak = 0;
    w->lent = w->hushed = w->scouts = w->little = false;
    w->little_since_ns = 0;
    memset(&w->eyed, 0, sizeof w->eyed);
    memset(&w->suspect, 0, sizeof w->suspect);
    memset(&w->looked, 0, sizeof w->looked);
    timers_reset(w->timers, os_clock_ns());
    w->inbox = (struct inject){0};
    queue_reset(w);
}

/* The child has the calling thread only. Its pools are empty and start anew. */
static void pool_reset(filch_pool *p)
{
    for (int i = 0; i < p->count; i++)
        worker_reset(&p->workers[i]);
    p->injector = (struct inject){0};
    p->shared.lock = 0; /* perhaps held by a thread that is not here */
    p->shared.count = 0;
    p->exposed = 0;
    p->exposed_count = p->exposed_lock = 0;
    p->pending = p->spawned = 0;
    p->draining = p->trim_set = p->trim_due = 0;
    p->visitors = 0;
    poll_reset(p);
    p->look_lock = p->cancel_lock = 0;
    p->heed &= ~HEED_CANCEL;
    watch_reset(p);
    idle_reset(p);
    for (int kind = 0; kind < FIBER_KINDS; kind++)
        fiber_store_reset(&p->fibers[kind]);
    task_store_reset(&p->tasks);
}

/* What runs in the child is a task of a pool that is not there: see child.h. */
static void pools_refuse(void)
{
    default_pool = 0;
    for (filch_pool *p = pools; p; p = p->next) {
        p->magic = 0;
        p->heed |= HEED_CANCELED; /* ends its loops */
    }
}

static void child_after_fork(void)
{
    bool of_task = os_child_of_own_thread() || worker_self() || child_of_task;
    if (of_task) {
        child_begin(worker_self());
        pools_refuse();
    } else {
        event_reset_locks();
        poll_reset_all();
        for (filch_pool *p = pools; p; p = p->next)
            pool_reset(p);
    }
    pools_lock = 0;
}

static void __attribute__((destructor)) at_exit(void)
{
    if (child_of_task || !environment_flag(FLAG_STATS)) /* the figures are the parent's */
        return;
    lock_acquire(&pools_lock);
    for (filch_pool *p = pools; p; p = p->next)
        filch_stats_print(p);
    lock_release(&pools_lock);
}

/* Once per process; pools_lock held. */
static void prepare(void)
{
    if (prepared)
        return;
    prepared = 1;
    os_at_fork(before_fork, parent_after_fork, child_after_fork);
    (void)environment_flag(FLAG_STATS); /* a value that means nothing is said early */
    if (!environment_flag(FLAG_NO_OVERFLOW_REPORT))
        (void)os_overflow_install(overflow_text);
    dump_prepare();
}

/* ---- create ------------------------------------------------------------------------------- */

/* Those of the choice of victims: a number for each other worker. */
static int make_choices(filch_pool *p)
{
    size_t count = (size_t)p->count;
    bool order = choice_needs_order(p->config.victim);
    p->choices = os_alloc(sizeof *p->choices * count * count);
    if (!p->choices)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        uint32_t *own = p->choices + i * count;
        for (uint32_t k = 0; order && k < count; k++)
            own[k] = k;
        p->memories[i].order = order ? own : 0;
        p->memories[i].lengths = order ? 0 : own;
    }
    return 0;
}

static int make_memories(filch_pool *p)
{
    enum filch_victim victim = p->config.victim;
    if (!choice_needs_memory(victim))
        return 0;
    p->memories = os_alloc(sizeof *p->memories * (size_t)p->count);
    if (!p->memories)
        return -ENOMEM;
    for (int i = 0; i < p->count; i++)
        p->memories[i].last = CHOICE_NONE;
    return choice_needs_order(victim) || choice_needs_lengths(victim) ? make_choices(p) : 0;
}

static int make_workers(filch_pool *p)
{
    size_t capacity = p->config.ring_capacity;
    p->workers = os_alloc_aligned(sizeof *p->workers * (size_t)p->count, 128);
    p->ring_storage = os_alloc(sizeof *p->ring_storage * capacity * (size_t)p->count);
    p->timers = os_alloc(sizeof *p->timers * (size_t)p->count);
    if (!p->workers || !p->ring_storage || !p->timers)
        return -ENOMEM;
    int64_t now = os_clock_ns();
    uint64_t seed = os_random_seed();
    for (int i = 0; i < p->count; i++) {
        struct worker *w = &p->workers[i];
        w->pool = p;
        w->id = i;
        w->timers = &p->timers[i];
        timers_init(w->timers, now);
        w->backoff_ns = p->config.backoff_min_ns;
        w->global_at = p->config.global_every;
        rng_seed(&w->rng, seed + (uint64_t)i);
        int rc = queue_init(w, p->ring_storage + (size_t)i * capacity);
        if (rc != 0)
            return rc;
    }
    int rc = make_memories(p);
    return rc != 0 ? rc : locked_init(&p->shared, capacity);
}

/* What is left in there are tasks that their joiners have run; the crates around them are to be freed. */
static void injector_drop(filch_pool *p)
{
    work_item stale[64];
    while (inject_take(&p->injector, stale, 64) > 0)
        ;
}

static void pool_free(filch_pool *p)
{
    injector_drop(p);
    for (int i = 0; p->workers && i < p->count; i++)
        queue_destroy(&p->workers[i]);
    locked_destroy(&p->shared);
    for (int kind = 0; kind < FIBER_KINDS; kind++)
        fiber_store_destroy(&p->fibers[kind]);
    task_store_destroy(&p->tasks);
    poll_destroy(p);
    idle_destroy(p);
    os_free(p->timers);
    os_free(p->choices);
    os_free(p->memories);
    os_free(p->ring_storage);
    os_free(p->workers);
    p->magic = 0;
    os_free(p);
}

static int pool_make(filch_pool **out, const filch_config *config)
{
    filch_pool *p = os_alloc_aligned(sizeof *p, 128);
    if (!p)
        return -ENOMEM;
    int rc = config_resolve(&p->config, config);
    if (rc != 0) {
        os_free(p);
        return rc;
    }
    p->count = p->config.workers > p->config.max_workers ? p->config.workers : p->config.max_workers;
    p->count += (int)p->config.stand_ins;
    p->trim_ns = TRIM_NS;
    os_fp_get(&p->fp);
    os_fp_forget_seen(&p->fp);
    p->plain = p->config.queue == FILCH_QUEUE_RING && p->config.ends == FILCH_ENDS_FIFO;
    p->alone = p->plain && p->count == 1;
    p->run_next = p->plain && p->config.run_next == FILCH_RUN_NEXT_ON;
    snprintf(p->name, sizeof p->name, "%s", p->config.name ? p->config.name : "pool");
    bool fenced = environment_flag(FLAG_NO_MEMBARRIER) || os_membarrier_init() != 0;
    p->heed = (fenced ? HEED_FENCED : 0u) | (dump_by_signal() ? HEED_CLOCK : 0u);
    fiber_store_init(&p->fibers[FIBER_LARGE], FIBER_LARGE, p->config.stack_size, fenced);
    fiber_store_init(&p->fibers[FIBER_SMALL], FIBER_SMALL, p->config.task_stack_size, fenced);
    rc = make_workers(p);
    if (rc == 0 && idle_create(p) != 0)
        rc = -ENOMEM;
    if (rc == 0) {
        struct fiber *first = fiber_take(&p->fibers[FIBER_LARGE], p); /* for guests */
        if (first)
            fiber_give(&p->fibers[FIBER_LARGE], first);
        else
            rc = -ENOMEM;
    }
    if (rc != 0) {
        pool_free(p);
        return rc;
    }
    p->magic = POOL_MAGIC;
    *out = p;
    return 0;
}

/* pools_lock held. */
static int pool_add(filch_pool **out, const filch_config *config)
{
    prepare();
    int rc = pool_make(out, config);
    if (rc != 0)
        return rc;
    filch_pool *p = *out;
    static uint32_t made;
    p->number = made < UINT16_MAX ? ++made : 0; /* 0 is not looked for: see run_call */
    p->next = pools;
    if (pools)
        pools->prev = p;
    filch_store_release(&pools, p); /* order: filled in before the overflow reporter sees it */
    if (p->config.wake == FILCH_WAKE_NONE || p->config.idle != FILCH_IDLE_PARK)
        idle_start_all(p);
    watch_start(p);
    return 0;
}

int filch_pool_create(filch_pool **out, const filch_config *config)
{
    if (!out)
        report_misuse("filch_pool_create", "null result pointer");
    *out = 0;
    child_check("filch_pool_create");
    lock_acquire(&pools_lock);
    int rc = pool_add(out, config);
    lock_release(&pools_lock);
    return rc;
}

filch_pool *filch_pool_default(void)
{
    filch_pool *p = filch_load_acquire(&default_pool); /* order: pairs with the release below */
    if (p)
        return p;
    child_check("filch_pool_default");
    lock_acquire(&pools_lock);
    if (!default_pool) {
        filch_config c = FILCH_CONFIG_INIT;
        c.name = "default";
        if (pool_add(&p, &c) == 0)
            filch_store_release(&default_pool, p); /* order: the pool is complete */
    }
    p = default_pool;
    lock_release(&pools_lock);
    return p;
}

int pool_each(int (*fn)(filch_pool *pool, void *arg), void *arg)
{
    int rc = 0;
    lock_acquire(&pools_lock);
    for (filch_pool *p = pools; p && rc == 0; p = p->next)
        rc = fn(p, arg);
    lock_release(&pools_lock);
    return rc;
}

/* ---- destroy ------------------------------------------------------------------------------ */

void filch_pool_destroy(filch_pool *p)
{
    if (!p)
        return;
    job_check_pool(p, "filch_pool_destroy");
    struct worker *w = worker_self();
    if (w && w->pool == p)
        report_misuse("filch_pool_destroy", "called from a job of the same pool");
    if (p == default_pool)
        report_misuse("filch_pool_destroy", "the default pool stays");
    (void)filch_pool_shutdown(p, FILCH_FOREVER);
    while (filch_load_acquire(&p->visitors) > 0) /* order: pairs with run_ready */
        os_thread_yield(); /* before the stop: a visitor may yet start a thread */
    idle_stop(p);
    watch_stop(p);
    if (environment_flag(FLAG_STATS))
        filch_stats_print(p);
    lock_acquire(&pools_lock);
    if (p->prev)
        p->prev->next = p->next;
    else
        filch_store_release(&pools, p->next); /* order: as in pool_add */
    if (p->next)
        p->next->prev = p->prev;
    lock_release(&pools_lock);
    pool_free(p);
}

/* ---- who am I ----------------------------------------------------------------------------- */

filch_pool *filch_pool_current(void)
{
    struct worker *w = worker_self();
    return w ? w->pool : 0;
}

int filch_pool_workers(const filch_pool *pool)
{
    if (!pool)
        return 0;
    job_check_pool(pool, "filch_pool_workers");
    return pool->count;
}

int filch_pool_resize(filch_pool *pool, int workers)
{
    job_check_pool(pool, "filch_pool_resize");
    if (workers < 1 || workers > pool->config.max_workers)
        return -EINVAL;
    seat_resize(pool, workers);
    return 0;
}

int filch_pool_size(const filch_pool *pool)
{
    if (!pool)
        return 0;
    job_check_pool(pool, "filch_pool_size");
    return seat_size(pool);
}

int filch_worker_id(void)
{
    struct worker *w = worker_self();
    return w ? w->id : -1;
}

void filch_pin(void)
{
    struct fiber *f = run_fiber();
    if (f)
        f->pins++;
}

void filch_unpin(void)
{
    struct fiber *f = run_fiber();
    if (!f)
        return;
    if (f->pins == f->pins_held)
        report_misuse("filch_unpin", "without filch_pin");
    f->pins--;
}
