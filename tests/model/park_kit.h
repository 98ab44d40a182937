/* park_kit.h: sleep and wake-up (core/idle.c, core/seat.c) by itself: workers and their work are played, so
 * that few steps are left and old loads can be had at every one. */
#ifndef MODEL_PARK_KIT_H
#define MODEL_PARK_KIT_H

#include "mc.h"

#include "core/idle_set.h"
#include "core/poll.h"

static filch_pool pool;
static struct worker seats[2];
static uint32_t jobs;     /* a bit for each kind that lies there     */
static uint32_t woken;    /* kinds that a timer brought              */
static uint32_t finished; /* how many; a futex                       */
static uint32_t gate[2];  /* what jobs wait for                      */
static int64_t due = INT64_MAX; /* a timer; nothing happens then       */

/* ---- played: the rest of the core ------------------------------------------------------------ */

bool find_anything(filch_pool *p, struct worker *w)
{
    (void)p, (void)w;
    return filch_load_relaxed(&jobs) > 0;
}

/* Nothing of all that is in the queue of one. */
bool find_much(filch_pool *p, struct worker *w)
{
    return find_anything(p, w);
}

bool find_own(struct worker *w)
{
    (void)w;
    return false;
}

void find_evict(struct worker *w)
{
    (void)w;
}

void find_flush(struct worker *w)
{
    (void)w;
}

void find_leave_behind(struct worker *w)
{
    (void)w;
}

void find_hand_over(struct worker *w)
{
    (void)w;
}

int64_t find_time(filch_pool *p)
{
    (void)p;
    return due > os_clock_ns() ? due : INT64_MAX;
}

void job_drained(filch_pool *p)
{
    (void)p;
}

static void open_gate(int i)
{
    filch_store_release(&gate[i], 1u);
    os_futex_wake(&gate[i], 1);
}

static void wait_at_gate(int i)
{
    while (!filch_load_acquire(&gate[i]))
        (void)os_futex_wait(&gate[i], 0, INT64_MAX);
}

/* Kinds of jobs; of those that lie there the first of this list is taken first. */
enum { PLAIN = 1, WAITS = 2, BLOCKS = 4, BLOCKS_AGAIN = 8, OPENS = 16, FORKS = 32, FORKED = 64, LENDS = 128 };

/* The kernel's poll: a wake-up, or descriptors that are ready; each makes one job of kind `reported`. */
enum { NEWS_WAKE = 1, NEWS_READY = 256 };
static uint32_t news;
static uint32_t reported;

static void tell(uint32_t what)
{
    filch_add_acq_rel(&news, what);
    os_futex_wake(&news, 1);
}

void poll_wake(filch_pool *p)
{
    (void)p;
    tell(NEWS_WAKE);
}

int poll_sleep(filch_pool *p, struct poll_batch *out, int64_t deadline)
{
    (void)p;
    out->count = 0;
    if (!filch_load_relaxed(&news) && os_futex_wait(&news, 0, deadline) != 0)
        return -1;
    out->count = (int)(filch_xchg_acq_rel(&news, 0u) / NEWS_READY);
    return out->count;
}

void poll_deliver(filch_pool *p, const struct poll_batch *batch)
{
    (void)p;
    if (batch->count > 0)
        filch_add_relaxed(&jobs, reported);
}

void poll_deliver_outside(filch_pool *p, const struct poll_batch *batch)
{
    poll_deliver(p, batch);
    idle_notify(p, 0);
}

/* A look takes what is ready and leaves the wake-up. */
static void look(void)
{
    uint32_t now = filch_load_relaxed(&news);
    if (!poll_exists(&pool) || idle_polled(&pool) || now < NEWS_READY)
        return;
    if (filch_cas_acq_rel(&news, &now, now % NEWS_READY))
        filch_add_relaxed(&jobs, reported);
}

static uint32_t take(void)
{
    uint32_t all = filch_load_relaxed(&jobs), one;
    do
        one = all & -all;
    while (all && !filch_cas_acquire(&jobs, &all, all - one));
    return one;
}

/* As between filch_blocking_enter and _leave. */
static void block_at_gate(int i)
{
    bool replaced = seat_stand_in(&pool, os_self_get());
    wait_at_gate(i);
    if (replaced)
        seat_stand_down(&pool);
}

static unsigned visits; /* of seat 0; plain: who sits there is alone */

/* As a pinned wait. */
static void lend_until_open(struct worker *w, int i)
{
    struct away away = idle_seat_step_out(w);
    wait_at_gate(i);
    idle_seat_step_in(w, away);
    visits++;
}

static void run_one(uint32_t kind)
{
    if (kind == LENDS)
        lend_until_open(os_self_get(), 0);
    if (kind == WAITS)
        wait_at_gate(0);
    if (kind == BLOCKS || kind == BLOCKS_AGAIN)
        block_at_gate(kind == BLOCKS_AGAIN);
    if (kind == OPENS || kind == FORKS)
        open_gate(0);
    if (kind == FORKS) { /* tells nobody, and needs somebody */
        filch_add_relaxed(&jobs, (uint32_t)FORKED);
        wait_at_gate(1);
    }
    if (kind == FORKED)
        open_gate(1);
    filch_add_acq_rel(&finished, 1u);
    os_futex_wake(&finished, 1);
}

void run_thread(void *arg)
{
    struct worker *w = arg;
    os_self_set(w);
    idle_awake(w);
    while (!filch_load_acquire(&pool.stop)) {
        if (w->id >= pool.base && seat_wanted(w))
            idle_seat_yield(w);
        look();
        uint32_t kind = idle_search_begin(w) ? take() : 0;
        if (kind & woken)
            idle_notify_woken(w, 1);
        if (kind) {
            idle_search_found(w);
            run_one(kind);
        } else {
            idle_park(w);
        }
    }
}

/* ---- who submits waits until a worker has done it -------------------------------------------- */

static void submit(uint32_t kind)
{
    filch_add_relaxed(&jobs, kind);
    idle_notify(&pool, 0);
}

static void wait_for(uint32_t n)
{
    for (uint32_t done; (done = filch_load_acquire(&finished)) < n;)
        (void)os_futex_wait(&finished, done, INT64_MAX);
}

static void start_with(int workers, int stand_ins)
{
    int count = workers + stand_ins;
    pool.workers = seats;
    pool.count = count;
    pool.config.workers = workers;
    pool.config.stand_ins = (size_t)stand_ins;
    pool.config.wake = FILCH_WAKE_ONE;
    pool.config.backoff_min_ns = 1000;
    pool.config.backoff_max_ns = 2000;
    pool.config.backoff_factor = 2;
    for (int i = 0; i < count; i++)
        seats[i] = (struct worker){.pool = &pool, .id = i, .backoff_ns = 1000};
    mc_check(idle_create(&pool) == 0);
}

static inline void start(int count)
{
    start_with(count, 0);
}

static inline void start_resizable(int workers, int most)
{
    pool.config.max_workers = most;
    start_with(workers, most - workers);
}

static void end(void)
{
    idle_stop(&pool);
    struct idle_figures f = idle_figures(&pool);
    mc_check(f.sleeping <= (unsigned)pool.count && f.searching <= (unsigned)pool.count);
    idle_destroy(&pool);
    for (int i = 0; i < pool.count; i++)
        seats[i].searching = 0; /* as if freed: whoever still runs is seen to write it */
}

#endif
