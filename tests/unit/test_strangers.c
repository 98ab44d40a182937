/* While a job waits in a join, nothing runs on its stack but its own descendants.
 *
 * Stacks are marked: a job that joins puts itself into a register, by the stack that it is on. Every
 * job begins by looking up who waits on the stack that it was started on, and must descend from
 * all of them. Ancestors cannot end before it, so the way up through them is always there.
 */
#define _GNU_SOURCE
#include "../forking.h"
#include "base/rng.h"
#include "core/run.h"

#include <inttypes.h>
#include <pthread.h>

/* ---- the register ------------------------------------------------------------------------- */

struct who {
    const struct who *parent;
    struct who *next; /* waiting on the same stack */
    const void *stack;
};

enum { BUCKETS = 256 };
static struct bucket {
    pthread_mutex_t lock;
    struct who *waiting;
} buckets[BUCKETS];
static uint64_t looks, waits;

static struct bucket *bucket_of(const void *stack)
{
    return &buckets[rng_mix((uintptr_t)stack) % BUCKETS];
}

/* The stack that the caller is on, found by its address, not only by what the library says. */
static __attribute__((noinline)) const void *stack_now(void)
{
    struct fiber *f = run_fiber();
    CHECK(f);
    const char *here = __builtin_frame_address(0);
    CHECK(here > (char *)f->region && here < (char *)f);
    return f;
}

static int descends(const struct who *me, const struct who *from)
{
    while (me && me != from)
        me = me->parent;
    return me != 0;
}

static void arrive(struct who *me, const struct who *parent)
{
    *me = (struct who){.parent = parent, .stack = stack_now()};
    struct bucket *b = bucket_of(me->stack);
    unsigned n = 0;
    pthread_mutex_lock(&b->lock);
    for (struct who *w = b->waiting; w; w = w->next) {
        CHECK_MSG(w->stack != me->stack || descends(me, w), "a stranger on a waiter's stack");
        n += w->stack == me->stack;
    }
    pthread_mutex_unlock(&b->lock);
    filch_add_relaxed(&looks, n);
}

static void wait_begins(struct who *me)
{
    struct bucket *b = bucket_of(me->stack);
    CHECK(stack_now() == me->stack);
    pthread_mutex_lock(&b->lock);
    me->next = b->waiting;
    b->waiting = me;
    pthread_mutex_unlock(&b->lock);
    filch_add_relaxed(&waits, 1);
}

static void waited_enough(struct who *me)
{
    struct bucket *b = bucket_of(me->stack);
    CHECK(stack_now() == me->stack); /* perhaps another thread, but the same stack */
    pthread_mutex_lock(&b->lock);
    struct who **at = &b->waiting;
    while (*at != me)
        at = &(*at)->next;
    *at = me->next;
    pthread_mutex_unlock(&b->lock);
}

/* ---- trees -------------------------------------------------------------------------------- */

typedef const struct who *who_ref;

/* Some leaves take long, so that others find the time to steal and to wait. */
static void linger(uint64_t seed)
{
    if (seed % 64 == 0)
        usleep(100);
    else if (seed % 8 == 0)
        sched_yield();
}

/* A spine to the left, forks to the right that are mostly short and sometimes long. */
static int side_depth(int depth, uint64_t seed)
{
    return seed % 4 == 0 ? depth - 1 : seed % 3 == 0 ? depth / 2 : 0;
}

FILCH_TASK_VOID(grow, who_ref, parent, int, depth, uint64_t, seed)
{
    struct who me;
    arrive(&me, parent);
    seed = rng_mix(seed);
    if (depth <= 0) {
        linger(seed);
        return;
    }
    FILCH_FORK(first, grow, &me, side_depth(depth, seed >> 8), seed + 1);
    FILCH_FORK(second, grow, &me, side_depth(depth, seed >> 16), seed + 2);
    FILCH_CALL(grow, &me, depth - 1, seed + 3);
    wait_begins(&me);
    FILCH_JOIN(grow, second);
    waited_enough(&me);
    FILCH_CALL(grow, &me, 0, seed + 4);
    wait_begins(&me);
    FILCH_JOIN(grow, first);
    waited_enough(&me);
}

/* The same in the bounded kind, over which the default one is put half-way. */
FILCH_TASK_BOUNDED_VOID(grow_bounded, who_ref, parent, int, depth, uint64_t, seed)
{
    struct who me;
    arrive(&me, parent);
    seed = rng_mix(seed);
    if (depth <= 4) {
        FILCH_CALL(grow, &me, depth, seed);
        return;
    }
    FILCH_FORK(first, grow_bounded, &me, side_depth(depth, seed >> 8), seed + 1);
    FILCH_CALL(grow_bounded, &me, depth - 1, seed + 3);
    wait_begins(&me);
    FILCH_JOIN(grow_bounded, first);
    waited_enough(&me);
}

/* ---- a join that certainly waits ----------------------------------------------------------- */

struct relay {
    filch_pool *pool;
    uint32_t child, grandchild;
    const char *event; /* under suspend: the counter that shows that the parent waits */
    uint64_t base;
};
typedef struct relay *relay_ref;

FILCH_TASK_VOID(relay_grandchild, who_ref, parent, relay_ref, r)
{
    struct who me;
    arrive(&me, parent);
    filch_store_release(&r->grandchild, 1u);
}

/* Ends only when its own fork was taken by another: by the parent, if there is nobody else. */
FILCH_TASK_VOID(relay_child, who_ref, parent, relay_ref, r)
{
    struct who me;
    arrive(&me, parent);
    filch_store_release(&r->child, 1u);
    if (r->event)
        await_stat(r->pool, r->event, r->base + 1);
    FILCH_FORK(g, relay_grandchild, &me, r);
    await_flag(&r->grandchild);
    wait_begins(&me);
    FILCH_JOIN(relay_grandchild, g);
    waited_enough(&me);
}

FILCH_TASK_VOID(relay_parent, relay_ref, r)
{
    struct who me;
    arrive(&me, 0);
    FILCH_FORK(c, relay_child, &me, r);
    await_flag(&r->child);
    wait_begins(&me);
    FILCH_JOIN(relay_child, c);
    waited_enough(&me);
}

static void relay_job(void *arg)
{
    FILCH_RUN(relay_parent, arg);
}

/* ---- several families at once -------------------------------------------------------------- */

enum { FAMILIES = 12, ROUNDS = SCALED(30, 10, 4) };

struct family {
    filch_pool *pool;
    filch_job job;
    int depth;
    uint64_t seed;
};

static void family(void *arg)
{
    struct family *f = arg;
    if (f->seed % 3 == 0)
        FILCH_RUN(grow_bounded, (who_ref)0, f->depth + 2, f->seed);
    else
        FILCH_RUN(grow, (who_ref)0, f->depth, f->seed);
}

static void *guest(void *arg)
{
    struct family *f = arg;
    FILCH_RUN_ON(f->pool, grow, (who_ref)0, f->depth, f->seed);
    return 0;
}

static void families_at_once(filch_pool *pool, uint64_t seed)
{
    struct family f[FAMILIES], g[2];
    pthread_t thread[2];
    int depth = SCALED(9, 8, 6);
    for (unsigned i = 0; i < 2; i++) {
        g[i] = (struct family){.pool = pool, .depth = depth, .seed = seed + 100 + i};
        CHECK_EQ(pthread_create(&thread[i], 0, guest, &g[i]), 0);
    }
    for (unsigned i = 0; i < FAMILIES; i++) {
        f[i] = (struct family){.pool = pool, .depth = depth, .seed = seed + i};
        filch_job_init(&f[i].job, family, &f[i]);
        CHECK_EQ(filch_submit_on(pool, &f[i].job, i % 2 ? FILCH_ANYWHERE : FILCH_ROUND_ROBIN), 0);
    }
    FILCH_RUN_ON(pool, grow, (who_ref)0, depth, seed + 200);
    for (unsigned i = 0; i < FAMILIES; i++)
        CHECK_EQ(filch_job_wait(&f[i].job, FILCH_FOREVER), 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_join(thread[i], 0), 0);
}

/* Returns how often the named thing happened. */
static uint64_t families_on(int workers, enum filch_join_policy join, const char *name)
{
    filch_pool *pool = pool_of(workers, join);
    for (uint64_t round = 0; round < ROUNDS; round++)
        families_at_once(pool, 1000 * round + (uint64_t)workers);
    if (workers > 1)
        CHECK(filch_stats_total(pool, "stolen") > 0);
    uint64_t n = filch_stats_total(pool, name);
    printf("%d workers: %" PRIu64 " stolen, %" PRIu64 " %s\n", workers,
           filch_stats_total(pool, "stolen"), n, name);
    filch_pool_destroy(pool);
    return n;
}

static void no_strangers(enum filch_join_policy join, const char *name)
{
    static const int counts[] = {1, 2, 4, 16};
    uint64_t n = 0;
    looks = waits = 0;
    for (int i = 0; i < 4; i++)
        n += families_on(counts[i], join, name);
    CHECK(n > 0);
    CHECK(looks > 0 && waits > 0);
    for (int i = 0; i < BUCKETS; i++)
        CHECK(!buckets[i].waiting);
}

/* ---- the claims ---------------------------------------------------------------------------- */

static void a_stolen_join_suspends_and_leaves_its_stack_alone(void)
{
    filch_pool *pool = pool_of(2, FILCH_JOIN_SUSPEND);
    struct relay r = {.pool = pool, .event = "suspended"};
    run_as_job(pool, relay_job, &r);
    CHECK(filch_stats_total(pool, "suspended") >= 1);
    filch_pool_destroy(pool);
}

static void a_helping_join_runs_the_descendant_that_it_waits_for(void)
{
    filch_pool *pool = pool_of(2, FILCH_JOIN_HELP);
    struct relay r = {.pool = pool}, pinned = {.pool = pool};
    run_as_job(pool, relay_job, &r);
    FILCH_RUN_ON(pool, relay_parent, &pinned);
    CHECK(filch_stats_total(pool, "helped") >= 1);
    filch_pool_destroy(pool);
}

static void no_stranger_runs_on_a_waiters_stack_when_joins_suspend(void)
{
    no_strangers(FILCH_JOIN_SUSPEND, "suspended");
}

static void no_stranger_runs_on_a_waiters_stack_when_joins_help(void)
{
    no_strangers(FILCH_JOIN_HELP, "helped");
}

int main(void)
{
    for (int i = 0; i < BUCKETS; i++)
        pthread_mutex_init(&buckets[i].lock, 0);
    RUN(a_stolen_join_suspends_and_leaves_its_stack_alone);
    RUN(a_helping_join_runs_the_descendant_that_it_waits_for);
    RUN(no_stranger_runs_on_a_waiters_stack_when_joins_suspend);
    RUN(no_stranger_runs_on_a_waiters_stack_when_joins_help);
    return check_report();
}
