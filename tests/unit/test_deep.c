/* Depth: nested forks, stacks that end, and many joins suspended at once. */
#define _GNU_SOURCE
#include "../footprint.h"
#include "../forking.h"

#define GIB ((size_t)1 << 30)

FILCH_TASK(long, leaf, int, n) { return n; }

/* One fork pending at every level. */
FILCH_TASK(long, nest, int, depth)
{
    if (depth == 0)
        return 0;
    FILCH_FORK(b, leaf, 1);
    long below = FILCH_CALL(nest, depth - 1);
    return below + FILCH_JOIN(leaf, b);
}

FILCH_TASK_BOUNDED(long, nest_bounded, int, depth)
{
    if (depth == 0)
        return 0;
    FILCH_FORK(b, leaf, 1);
    long below = FILCH_CALL(nest_bounded, depth - 1);
    return below + FILCH_JOIN(leaf, b);
}

struct nesting {
    int depth;
    long result;
};

static void nest_as_job(void *arg)
{
    struct nesting *n = arg;
    n->result = FILCH_RUN(nest, n->depth);
}

/* ---- what must work ----------------------------------------------------------------------- */

static void nest_in(filch_pool *pool, int depth)
{
    struct nesting job = {depth, 0};
    CHECK_EQ(FILCH_RUN_ON(pool, nest, depth), depth);
    CHECK_EQ(FILCH_RUN_ON(pool, nest_bounded, depth), depth);
    run_as_job(pool, nest_as_job, &job);
    CHECK_EQ(job.result, depth);
    filch_pool_destroy(pool);
}

/* A frame with sanitizers is larger: the same stack holds fewer. */
static void fifty_thousand_nested_forks_complete_by_default(void)
{
    for (int workers = 1; workers <= 4; workers *= 2)
        nest_in(pool_of(workers, FILCH_JOIN_SUSPEND), SCALED(50000, 10000, 10000));
}

static void a_million_nested_forks_complete_on_a_stack_of_1_GiB(void)
{
    for (int workers = 1; workers <= 2; workers++) {
        filch_config c = config_of(workers, FILCH_JOIN_SUSPEND);
        filch_pool *pool;
        c.stack_size = GIB;
        CHECK_EQ(filch_pool_create(&pool, &c), 0);
        nest_in(pool, SCALED(1000000, 100000, 20000));
    }
}

/* ---- what must be reported ----------------------------------------------------------------- */

/* Recursion without forks, that no compiler turns into a loop. */
FILCH_TASK(long, plunge, int, depth)
{
    char frame[64];
    memset(frame, depth, sizeof frame);
    __asm__ __volatile__("" : : "r"(frame) : "memory");
    if (depth == 0)
        return 0;
    return FILCH_CALL(plunge, depth - 1) + frame[depth % 64];
}

#define FAR 100000000

static void plunge_as_job(void *arg)
{
    *(long *)arg = FILCH_RUN(plunge, FAR);
}

static void named_job(filch_pool *pool, void (*fn)(void *), void *arg, const char *name)
{
    filch_job job;
    filch_job_init(&job, fn, arg);
    job.name = name;
    CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), 0);
    while (!filch_job_done(&job))
        sched_yield(); /* it is a worker that runs it, not this thread */
}

static void nest_guest_body(void)
{
    CHECK_EQ(FILCH_RUN_ON(pool_of(2, FILCH_JOIN_SUSPEND), nest, 1000000), 1000000);
}
static void nest_default_pool_body(void) { CHECK_EQ(FILCH_RUN(nest, 1000000), 1000000); }
static void nest_worker_body(void)
{
    struct nesting n = {1000000, 0};
    named_job(pool_of(2, FILCH_JOIN_SUSPEND), nest_as_job, &n, "deep job");
}
static void plunge_guest_body(void)
{
    (void)FILCH_RUN_ON(pool_of(2, FILCH_JOIN_SUSPEND), plunge, FAR);
}
static void plunge_worker_body(void)
{
    long out;
    named_job(pool_of(2, FILCH_JOIN_SUSPEND), plunge_as_job, &out, "deep job");
}

/* A stolen job is reported under the name of the root that it belongs to. */
static uint32_t stolen_started;
FILCH_TASK(long, plunge_when_stolen, int, depth)
{
    filch_store_release(&stolen_started, 1u);
    return FILCH_CALL(plunge, depth);
}
FILCH_TASK(long, robbed, int, depth)
{
    FILCH_FORK(b, plunge_when_stolen, depth);
    await_flag(&stolen_started);
    return FILCH_JOIN(plunge_when_stolen, b);
}
static void plunge_stolen_body(void)
{
    (void)FILCH_RUN_ON(pool_of(2, FILCH_JOIN_SUSPEND), robbed, FAR);
}

static void expect_report(void (*body)(void), const char *name)
{
    char overflow[100], forks[100];
    snprintf(overflow, sizeof overflow, "filch: stack overflow in task \"%s\"", name);
    snprintf(forks, sizeof forks, "filch: too many pending forks in task \"%s\"", name);
    struct ending e = in_child(body);
    CHECK_MSG(!strncmp(e.text, overflow, strlen(overflow)) ||
                  !strncmp(e.text, forks, strlen(forks)),
              "\"%s\" expected, status %d, it said: %s", name, e.status, e.text);
    CHECK_MSG(aborted(&e), "\"%s\": status %d", name, e.status);
}

static void an_overflow_names_the_task_of_a_guest(void)
{
    expect_report(nest_guest_body, "nest");
    expect_report(nest_default_pool_body, "nest");
    expect_report(plunge_guest_body, "plunge");
}

static void an_overflow_on_a_worker_names_the_job(void)
{
    expect_report(nest_worker_body, "deep job");
    expect_report(plunge_worker_body, "deep job");
}

static void an_overflow_of_a_stolen_job_names_its_root(void)
{
    expect_report(plunge_stolen_body, "robbed");
}

/* ---- many suspended joins ------------------------------------------------------------------ */

struct chain {
    filch_pool *pool;
    int length;
    uint32_t *started; /* one per level */
    long base_kib, kib;
    uint64_t suspended;
};
typedef struct chain *chain_ref;

/* Waits until all levels above are suspended: then there are length of them at once. */
static void measure(chain_ref c)
{
    await_stat(c->pool, "suspended", (uint64_t)c->length);
    c->suspended = filch_stats_total(c->pool, "suspended");
    c->kib = footprint_kib();
}

FILCH_TASK(long, link, chain_ref, c, int, level)
{
    filch_store_release(&c->started[level], 1u);
    if (level == c->length) {
        measure(c);
        return 0;
    }
    FILCH_FORK(b, link, c, level + 1);
    await_flag(&c->started[level + 1]); /* by a thief, so that the join has to wait */
    return 1 + FILCH_JOIN(link, b);
}

static void link_as_job(void *arg)
{
    struct chain *c = arg;
    CHECK_EQ(FILCH_RUN(link, c, 0), c->length);
}

/* ucontext keeps a kilobyte more on each stack, and that is on another page. */
#ifdef FILCH_UCONTEXT
#define MOST_KIB 20.0
#else
#define MOST_KIB 16.0
#endif

static void a_hundred_thousand_suspended_joins_take_at_most_16_KiB_each(void)
{
    struct chain c = {.length = SCALED(100000, 2000, 2000)};
    c.started = malloc((size_t)(c.length + 1) * sizeof *c.started);
    CHECK(c.started);
    memset(c.started, 0xff, (size_t)(c.length + 1) * sizeof *c.started); /* in memory before ... */
    memset(c.started, 0, (size_t)(c.length + 1) * sizeof *c.started);
    c.pool = pool_of(2, FILCH_JOIN_SUSPEND);
    c.base_kib = footprint_kib(); /* ... this */
    run_as_job(c.pool, link_as_job, &c);
    CHECK(c.suspended >= (uint64_t)c.length);
    double each = (double)(c.kib - c.base_kib) / c.length;
    printf("%d joins suspended at once: %.2f KiB each, page tables included\n", c.length, each);
    if (WITH_ASAN || WITH_TSAN)
        printf("not judged: a sanitizer's own memory is in the figure\n");
    else
        CHECK_MSG(each <= MOST_KIB, "%.2f KiB for each suspended join", each);
    filch_pool_destroy(c.pool);
    free(c.started);
}

int main(void)
{
    if (WITH_ASAN || WITH_TSAN) { /* children first: there must be no other thread yet */
        printf("skipped: reports of overflow, as the sanitizer handles the signal itself\n");
    } else {
        RUN(an_overflow_names_the_task_of_a_guest);
        RUN(an_overflow_on_a_worker_names_the_job);
        RUN(an_overflow_of_a_stolen_job_names_its_root);
    }
    RUN(fifty_thousand_nested_forks_complete_by_default);
    RUN(a_million_nested_forks_complete_on_a_stack_of_1_GiB);
    RUN(a_hundred_thousand_suspended_joins_take_at_most_16_KiB_each);
    return check_report();
}
