/* test_words.c: floating-point control words. A fresh task, job, stolen fork or poll has those of the
 * thread that made the pool, whatever ran before on its stack or its worker; a flow keeps its own over
 * waits; a call that runs elsewhere (a root, a blocking call) has its caller's. */
#define _GNU_SOURCE
#include "pool_kit.h"

#include <fenv.h>
#include <filch/async.h>
#include <filch/blocking.h>
#include <filch/par.h>
#include <filch/task.h>

/* Read and written without os_fp.h, which is what is tested. */
struct words {
    unsigned sse, x87;
};

static struct words words_now(void)
{
    struct words w = {0, 0};
#if defined(__x86_64__)
    unsigned mxcsr;
    unsigned short x87;
    __asm__ __volatile__("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
    w.sse = mxcsr & ~0x3fu; /* without the exceptions seen so far */
    w.x87 = x87;
#else
    w.sse = (unsigned)fegetround();
#endif
    return w;
}

static void words_set(struct words w)
{
#if defined(__x86_64__)
    unsigned short x87 = (unsigned short)w.x87;
    __asm__ __volatile__("ldmxcsr %0\n\tfldcw %1" : : "m"(w.sse), "m"(x87));
#else
    fesetround((int)w.sse);
#endif
}

static int same(struct words a, struct words b)
{
    return a.sse == b.sse && a.x87 == b.x87;
}

/* Two that differ from what a process begins with in both words, as far as there are two. */
static struct words usual, odd, creators;

static void choose_words(void)
{
    usual = words_now();
#if defined(__x86_64__)
    odd = (struct words){usual.sse | 0x8040, 0x027f};      /* flush to zero; double precision */
    creators = (struct words){usual.sse | 0x4000, 0x0b7f}; /* both round upwards */
#else
    odd = (struct words){FE_TOWARDZERO, 0};
    creators = (struct words){FE_UPWARD, 0};
#endif
    CHECK(!same(usual, odd) && !same(odd, creators) && !same(usual, creators));
}

/* A pool whose words are `creators`; the caller's are the usual ones. */
static filch_pool *pool_with_words(int workers, enum filch_join_policy join)
{
    filch_config c = kit_config(workers);
    c.join = join;
    words_set(creators);
    filch_pool *pool = kit_make(&c);
    words_set(usual);
    return pool;
}

static filch_task *spawn(filch_pool *pool, int (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

/* Without helping. */
static int join(filch_task *t)
{
    int result = -1;
    KIT_AWAIT(filch_task_done(t));
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    return result;
}

/* ---- what begins ---------------------------------------------------------------------------- */

/* What it found; it leaves others behind. */
static int task_looks(void *found)
{
    *(struct words *)found = words_now();
    words_set(odd);
    return 0;
}

static void looks(void *found)
{
    (void)task_looks(found);
}

static enum filch_poll poll_looks(filch_async *a, void *found)
{
    (void)a;
    looks(found);
    return FILCH_READY;
}

static void check_creators(const struct words *found, const char *what)
{
    CHECK_MSG(same(*found, creators), "%s begins with %#x, %#x", what, found->sse, found->x87);
}

static void what_begins_has_the_words_of_its_pool_whatever_ran_before(void)
{
    filch_pool *pool = pool_with_words(1, FILCH_JOIN_SUSPEND);
    for (int round = 0; round < 3; round++) {
        struct words found = usual;
        join(spawn(pool, task_looks, &found));
        check_creators(&found, "a task");
        found = usual;
        filch_job job;
        filch_job_init(&job, looks, &found);
        CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), 0);
        KIT_AWAIT(filch_job_done(&job));
        check_creators(&found, "a job");
        found = usual;
        filch_async a;
        filch_async_init(&a, poll_looks, &found);
        CHECK_EQ(filch_async_start(&a, pool), 0);
        KIT_AWAIT(filch_async_done(&a));
        check_creators(&found, "a stackless task");
        CHECK(same(words_now(), usual));
    }
    kit_destroy(pool);
}

struct waiter {
    filch_event go_on;
    uint32_t waits;
    struct words after;
};

static int waits_with_odd_words(void *arg)
{
    struct waiter *w = arg;
    words_set(odd);
    kit_raise(&w->waits);
    filch_event_wait(&w->go_on);
    w->after = words_now();
    return 0;
}

static void a_wait_keeps_the_words_and_gives_them_to_no_other(void)
{
    filch_pool *pool = pool_with_words(1, FILCH_JOIN_SUSPEND);
    for (int round = 0; round < 3; round++) {
        struct waiter w = {0};
        struct words found = usual;
        filch_task *t = spawn(pool, waits_with_odd_words, &w);
        KIT_AWAIT(kit_raised(&w.waits));
        join(spawn(pool, task_looks, &found));
        check_creators(&found, "a task on a fresh stack");
        filch_event_set(&w.go_on);
        join(t);
        CHECK(same(w.after, odd));
    }
    kit_destroy(pool);
}

/* On one worker the joiner finds a task that has not begun, and runs it. */
static int joins_on_its_own_stack(void *found)
{
    words_set(usual);
    filch_task *t = spawn(0, task_looks, found);
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
    return same(words_now(), usual);
}

static void a_task_that_its_joiner_runs_begins_as_others_and_leaves_the_joiner_its_words(void)
{
    filch_pool *pool = pool_with_words(1, FILCH_JOIN_SUSPEND);
    struct words found = usual;
    CHECK_EQ(join(spawn(pool, joins_on_its_own_stack, &found)), 1);
    check_creators(&found, "a task that its joiner runs");
    CHECK_EQ(filch_stats_total(pool, "joined early"), 1);
    kit_destroy(pool);
}

/* ---- forks ---------------------------------------------------------------------------------- */

typedef struct fork_scene *scene_ref;
struct fork_scene {
    struct words found;
    uint32_t stolen;
};

FILCH_TASK(int, fork_looks, scene_ref, s)
{
    looks(&s->found);
    kit_raise(&s->stolen);
    return 1;
}

FILCH_TASK(int, waits_for_a_thief, scene_ref, s)
{
    words_set(usual);
    FILCH_FORK(f, fork_looks, s);
    KIT_AWAIT(kit_raised(&s->stolen));
    return FILCH_JOIN(fork_looks, f) && same(words_now(), usual);
}

static void a_stolen_fork_has_the_words_of_its_pool(void)
{
    for (int join_how = FILCH_JOIN_SUSPEND; join_how <= FILCH_JOIN_HELP; join_how++) {
        filch_pool *pool = pool_with_words(2, (enum filch_join_policy)join_how);
        for (int round = 0; round < 3; round++) {
            struct fork_scene s = {.found = usual};
            CHECK(FILCH_RUN_ON(pool, waits_for_a_thief, &s));
            check_creators(&s.found, "a stolen fork");
        }
        kit_destroy(pool);
    }
}

/* The first fork is stolen and forks in turn; whoever joins it helps with that. */
struct help_scene {
    struct words found, after;
    uint32_t first, second;
};
typedef struct help_scene *help_ref;

FILCH_TASK(int, inner_looks, help_ref, s)
{
    looks(&s->found);
    kit_raise(&s->second);
    return 1;
}

FILCH_TASK(int, stolen_forks, help_ref, s)
{
    FILCH_FORK(f, inner_looks, s);
    kit_raise(&s->first);
    KIT_AWAIT(kit_raised(&s->second)); /* who joins us helps */
    return FILCH_JOIN(inner_looks, f);
}

FILCH_TASK(int, helps, help_ref, s)
{
    words_set(usual);
    FILCH_FORK(f, stolen_forks, s);
    KIT_AWAIT(kit_raised(&s->first));
    int one = FILCH_JOIN(stolen_forks, f);
    s->after = words_now();
    return one;
}

static void who_helps_keeps_its_words(void)
{
    filch_pool *pool = pool_with_words(2, FILCH_JOIN_HELP);
    struct help_scene s = {.found = usual};
    CHECK_EQ(FILCH_RUN_ON(pool, helps, &s), 1);
    check_creators(&s.found, "a fork of a thief");
    CHECK(same(s.after, usual));
    kit_destroy(pool);
}

/* A fork of the flow's own that it runs itself while it waits is as good as joined. */
static void own_fork(void *found)
{
    looks(found);
    words_set(usual);
}

static int waits_with_a_fork(void *found)
{
    filch_job job;
    words_set(usual);
    filch_pin();
    filch_fork(&job, own_fork, found);
    filch_sleep_ns(1000);
    filch_join(&job);
    filch_unpin();
    return 0;
}

static void a_fork_that_is_not_stolen_has_its_flows_words(void)
{
    filch_pool *pool = pool_with_words(1, FILCH_JOIN_SUSPEND);
    struct words found = odd;
    join(spawn(pool, waits_with_a_fork, &found));
    CHECK(same(found, usual));
    kit_destroy(pool);
}

/* ---- calls ---------------------------------------------------------------------------------- */

static int call_looks(void *found)
{
    *(struct words *)found = words_now();
    return 0;
}

static void root_looks(void *found)
{
    (void)call_looks(found);
}

static int calls(void *arg)
{
    filch_pool *pool = arg;
    struct words found;
    CHECK_EQ(filch_blocking(call_looks, &found), 0); /* its thread takes the next call as well */
    words_set(odd);
    filch_run_on(pool, root_looks, &found); /* on a large stack: as a job */
    CHECK(same(found, odd));
    found = usual;
    CHECK_EQ(filch_blocking(call_looks, &found), 0);
    CHECK(same(found, odd));
    CHECK(same(words_now(), odd));
    return 0;
}

static void a_call_that_runs_elsewhere_has_its_callers_words(void)
{
    filch_pool *pool = pool_with_words(1, FILCH_JOIN_SUSPEND);
    join(spawn(pool, calls, pool));
    struct words found;
    filch_run_on(pool, root_looks, &found);
    CHECK(same(found, usual));
    kit_destroy(pool);
}

/* Pieces of a loop, on two workers at once: they wait for each other. */
struct loop_scene {
    uint32_t came, odd;
};

static int piece_looks(size_t lo, size_t hi, void *arg)
{
    struct loop_scene *s = arg;
    (void)lo, (void)hi;
    kit_count(&s->came);
    KIT_AWAIT(kit_raised(&s->came) >= 2);
    if (!same(words_now(), odd))
        kit_count(&s->odd);
    return 0;
}

static void a_stolen_piece_of_a_loop_has_its_callers_words(void)
{
    filch_pool *pool = pool_with_words(2, FILCH_JOIN_SUSPEND);
    filch_how how = FILCH_HOW_INIT;
    struct loop_scene s = {0};
    how.pool = pool;
    how.grain = 1;
    words_set(odd);
    CHECK_EQ(filch_for_with(&how, 0, 2, piece_looks, &s), 0);
    words_set(usual);
    CHECK_EQ(kit_raised(&s.odd), 0);
    kit_destroy(pool);
}

static void a_thread_that_helps_keeps_its_words(void)
{
    filch_pool *pool = pool_with_words(1, FILCH_JOIN_SUSPEND);
    struct words found = usual;
    filch_job job;
    filch_job_init(&job, looks, &found);
    CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    check_creators(&found, "a job");
    CHECK(same(words_now(), usual));
    kit_destroy(pool);
}

int main(void)
{
    choose_words();
    kit_watchdog();
    RUN(what_begins_has_the_words_of_its_pool_whatever_ran_before);
    RUN(a_wait_keeps_the_words_and_gives_them_to_no_other);
    RUN(a_task_that_its_joiner_runs_begins_as_others_and_leaves_the_joiner_its_words);
    RUN(a_stolen_fork_has_the_words_of_its_pool);
    RUN(who_helps_keeps_its_words);
    RUN(a_fork_that_is_not_stolen_has_its_flows_words);
    RUN(a_call_that_runs_elsewhere_has_its_callers_words);
    RUN(a_stolen_piece_of_a_loop_has_its_callers_words);
    RUN(a_thread_that_helps_keeps_its_words);
    return check_report();
}
