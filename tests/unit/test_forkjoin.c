/* Fork-join, typed and plain: whatever the shape of the tasks, whoever calls, and whether a job is
 * stolen or not, the result is that of plain calls. */
#define _GNU_SOURCE
#include "../forking.h"

#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>

extern char **environ;

/* ---- each claim on each pool, called by a guest and by a submitted job -------------------- */

static struct {
    filch_pool *pool;
    int workers;
    enum filch_join_policy join;
    int guest; /* the claim runs in the main thread, so its roots are a guest's */
} on;

static void call_body(void *body)
{
    ((void (*)(void))body)();
}

static void on_every_pool(void (*body)(void))
{
    static const int counts[] = {1, 2, 4, 16}; /* under TSan, 16 mostly wait for a processor */
    for (int i = 0; i < SCALED(8, 8, 6); i++) {
        on.workers = counts[i / 2];
        on.join = i % 2 ? FILCH_JOIN_HELP : FILCH_JOIN_SUSPEND;
        on.pool = pool_of(on.workers, on.join);
        on.guest = 1;
        body();
        on.guest = 0;
        run_as_job(on.pool, call_body, (void *)body);
        filch_pool_destroy(on.pool);
    }
}

/* Holds the caller until thieves took n more jobs, if there can be a thief. */
struct mark {
    uint64_t stolen;
};

static struct mark mark_now(void)
{
    return (struct mark){filch_stats_total(on.pool, "stolen")};
}

static void until_stolen(struct mark m, uint64_t n)
{
    if (on.workers > 1)
        await_stat(on.pool, "stolen", m.stolen + n);
}

/* ---- arity -------------------------------------------------------------------------------- */

#define ARITY_TASKS(KIND, p)                                                                      \
    KIND(int, p##0) { return 1; }                                                                 \
    KIND(int, p##1, int, a) { return a; }                                                         \
    KIND(long, p##2, int, a, long, b) { return a + 10 * b; }                                      \
    KIND(double, p##3, double, a, float, b, char, c) { return a + 10 * (double)b + 100 * c; }     \
    KIND(unsigned, p##4, unsigned char, a, short, b, int, c, unsigned, d)                         \
    {                                                                                             \
        return a + 10u * (unsigned)b + 100u * (unsigned)c + 1000u * d;                            \
    }                                                                                             \
    KIND(int, p##5, int, a, int, b, int, c, int, d, int *, e)                                     \
    {                                                                                             \
        return a + 10 * b + 100 * c + 1000 * d + 10000 * *e;                                      \
    }                                                                                             \
    KIND(int, p##6, int, a, int, b, int, c, int, d, int, e, const char *, g)                      \
    {                                                                                             \
        return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * g[0];                       \
    }                                                                                             \
    KIND(int, p##_all, int, hold)                                                                 \
    {                                                                                             \
        int five = 5;                                                                             \
        struct mark m = mark_now();                                                               \
        FILCH_FORK(f0, p##0);                                                                     \
        FILCH_FORK(f1, p##1, 1);                                                                  \
        FILCH_FORK(f2, p##2, 1, 2);                                                               \
        FILCH_FORK(f3, p##3, 1, 2, 3);                                                            \
        FILCH_FORK(f4, p##4, 1, 2, 3, 4);                                                         \
        FILCH_FORK(f5, p##5, 1, 2, 3, 4, &five);                                                  \
        FILCH_FORK(f6, p##6, 1, 2, 3, 4, 5, "\6");                                                \
        if (hold)                                                                                 \
            until_stolen(m, 7);                                                                   \
        CHECK_EQ(FILCH_CALL(p##0), 1);                                                            \
        CHECK_EQ(FILCH_CALL(p##1, 1), 1);                                                         \
        CHECK_EQ(FILCH_CALL(p##2, 1, 2), 21);                                                     \
        CHECK_EQ(FILCH_CALL(p##3, 1, 2, 3), 321);                                                 \
        CHECK_EQ(FILCH_CALL(p##4, 1, 2, 3, 4), 4321);                                             \
        CHECK_EQ(FILCH_CALL(p##5, 1, 2, 3, 4, &five), 54321);                                     \
        CHECK_EQ(FILCH_CALL(p##6, 1, 2, 3, 4, 5, "\6"), 654321);                                  \
        CHECK_EQ(FILCH_JOIN(p##6, f6), 654321);                                                   \
        CHECK_EQ(FILCH_JOIN(p##5, f5), 54321);                                                    \
        CHECK_EQ(FILCH_JOIN(p##4, f4), 4321);                                                     \
        CHECK_EQ(FILCH_JOIN(p##3, f3), 321);                                                      \
        CHECK_EQ(FILCH_JOIN(p##2, f2), 21);                                                       \
        CHECK_EQ(FILCH_JOIN(p##1, f1), 1);                                                        \
        CHECK_EQ(FILCH_JOIN(p##0, f0), 1);                                                        \
        return 7;                                                                                 \
    }

ARITY_TASKS(FILCH_TASK, usual)
ARITY_TASKS(FILCH_TASK_BOUNDED, limited)

static void arity_body(void)
{
    for (int hold = 0; hold < 2; hold++) {
        CHECK_EQ(FILCH_RUN_ON(on.pool, usual_all, hold), 7);
        CHECK_EQ(FILCH_RUN_ON(on.pool, limited_all, hold), 7);
    }
    CHECK_EQ(FILCH_RUN_ON(on.pool, usual0), 1);
    CHECK_EQ(FILCH_RUN_ON(on.pool, limited6, 1, 2, 3, 4, 5, "\6"), 654321);
}

static void tasks_of_arity_0_to_6_return_what_a_call_would_stolen_or_not(void)
{
    on_every_pool(arity_body);
}

/* ---- void tasks and structures ------------------------------------------------------------ */

struct full { /* exactly what a slot holds */
    uint64_t word[5];
};

FILCH_TASK_VOID(put, int *, where, int, what) { *where = what; }
FILCH_TASK_VOID(nothing) {}
FILCH_TASK_BOUNDED_VOID(put_bounded, int *, where, int, what) { *where = what; }

FILCH_TASK_VOID(put_four, int *, cell)
{
    struct mark m = mark_now();
    FILCH_FORK(a, put, &cell[0], 10);
    FILCH_FORK(b, put_bounded, &cell[1], 11);
    FILCH_FORK(c, nothing);
    until_stolen(m, 3);
    FILCH_CALL(put, &cell[2], 12);
    FILCH_CALL(put_bounded, &cell[3], 13);
    FILCH_JOIN(nothing, c);
    FILCH_JOIN(put_bounded, b);
    FILCH_JOIN(put, a);
}

FILCH_TASK(struct full, reversed, struct full, in)
{
    return (struct full){{in.word[4], in.word[3], in.word[2], in.word[1], in.word[0]}};
}
FILCH_TASK_BOUNDED(struct full, turned_twice, struct full, in)
{
    struct mark m = mark_now();
    FILCH_FORK(f, reversed, in);
    until_stolen(m, 1);
    struct full half = FILCH_JOIN(reversed, f);
    return FILCH_CALL(reversed, half);
}

static void void_and_struct_body(void)
{
    int cell[4] = {0};
    FILCH_RUN_ON(on.pool, put_four, cell);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(cell[i], 10 + i);
    struct full in = {{1, 2, 3, 4, 5}};
    struct full once = FILCH_RUN_ON(on.pool, reversed, in);
    struct full twice = FILCH_RUN_ON(on.pool, turned_twice, in);
    for (unsigned i = 0; i < 5; i++) {
        CHECK_EQ(once.word[i], 5 - i);
        CHECK_EQ(twice.word[i], 1 + i);
    }
}

static void void_tasks_and_full_structures_come_through(void)
{
    on_every_pool(void_and_struct_body);
}

/* ---- kinds that call each other ----------------------------------------------------------- */

static long fib_plain(int n)
{
    return n < 2 ? n : fib_plain(n - 1) + fib_plain(n - 2);
}

static long fib_limited_by_root(int n);

/* A task may use one that is defined later only through a function; so does this pair. */
FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    if (n % 5 == 0)
        return fib_limited_by_root(n);
    FILCH_FORK(b, fib, n - 2);
    long a = FILCH_CALL(fib, n - 1);
    return a + FILCH_JOIN(fib, b);
}

FILCH_TASK_BOUNDED(long, fib_limited, int, n)
{
    if (n < 2)
        return n;
    if (n % 3 == 0) {
        FILCH_FORK(b, fib, n - 2);
        long a = FILCH_CALL(fib_limited, n - 1);
        return a + FILCH_JOIN(fib, b);
    }
    FILCH_FORK(b, fib_limited, n - 2);
    long a = FILCH_CALL(fib, n - 1);
    return a + FILCH_JOIN(fib_limited, b);
}

static long fib_limited_by_root(int n)
{
    return FILCH_RUN(fib_limited, n); /* recursive: a plain call on this pool */
}

static void kinds_body(void)
{
    int n = SCALED(20, 17, 15);
    CHECK_EQ(FILCH_RUN_ON(on.pool, fib, n), fib_plain(n));
    CHECK_EQ(FILCH_RUN_ON(on.pool, fib_limited, n + 1), fib_plain(n + 1));
}

static void default_and_bounded_tasks_call_each_other_and_FILCH_RUN_nests(void)
{
    on_every_pool(kinds_body);
}

/* ---- a variable number of forks ----------------------------------------------------------- */

FILCH_TASK(int, square, int, n) { return n * n; }
FILCH_TASK_BOUNDED(int, square_limited, int, n) { return n * n; }

FILCH_TASK_VOID(squares, int, n, int, hold)
{
    struct mark m = mark_now();
    FILCH_FORKS(all, square);
    for (int i = 0; i < n; i++)
        FILCH_FORK_ADD(square, i);
    CHECK_EQ(FILCH_FORKS_LEFT(all), n);
    if (hold)
        until_stolen(m, (uint64_t)n / 2);
    while (FILCH_FORKS_LEFT(all)) {
        int i = (int)FILCH_FORKS_LEFT(all) - 1;
        CHECK_EQ(FILCH_JOIN_LAST(square, all), i * i);
    }
}

/* Below a number of pending forks the bounded kind runs serially. */
FILCH_TASK_BOUNDED_VOID(squares_limited, int, n, int, depth)
{
    if (depth > 0) {
        FILCH_FORK(beside, square_limited, depth);
        FILCH_CALL(squares_limited, n, depth - 1);
        CHECK_EQ(FILCH_JOIN(square_limited, beside), depth * depth);
        return;
    }
    FILCH_FORKS(all, square_limited);
    for (int i = 0; i < n; i++)
        FILCH_FORK_ADD(square_limited, i);
    CHECK_EQ(FILCH_FORKS_LEFT(all), n);
    CHECK_EQ(FILCH_CALL(square, 12), 144);
    FILCH_CALL(squares, 20, 0);
    while (FILCH_FORKS_LEFT(all)) {
        int i = (int)FILCH_FORKS_LEFT(all) - 1;
        CHECK_EQ(FILCH_JOIN_LAST(square_limited, all), i * i);
    }
}

/* Sums while it forks or while it joins, by turns of the scheduler. */
FILCH_TASK_BOUNDED(long, sum_of_squares, int, n, int, depth)
{
    long sum = 0;
    if (depth > 0) {
        FILCH_FORK(beside, square_limited, depth);
        sum = FILCH_CALL(sum_of_squares, n, depth - 1);
        return sum + 0 * FILCH_JOIN(square_limited, beside);
    }
    FILCH_FORKS(all, square);
    for (int i = 0; i < n; i++)
        FILCH_FORK_INTO(sum +=, square, i);
    while (FILCH_FORKS_LEFT(all))
        sum += FILCH_JOIN_LAST(square, all);
    return sum;
}

static void check_sums(int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += i * i;
    CHECK_EQ(FILCH_RUN_ON(on.pool, sum_of_squares, n, 0), sum);
    CHECK_EQ(FILCH_RUN_ON(on.pool, sum_of_squares, n, 30), sum);
}

static void forks_body(void)
{
    for (int n = 0; n <= 300; n += n < 20 ? 1 : 40) {
        FILCH_RUN_ON(on.pool, squares, n, 0);
        FILCH_RUN_ON(on.pool, squares, n, 1);
        FILCH_RUN_ON(on.pool, squares_limited, n, 0);
        FILCH_RUN_ON(on.pool, squares_limited, n, 30);
        check_sums(n);
    }
}

static void any_number_of_forks_from_0_to_300_is_joined_last_to_first(void)
{
    on_every_pool(forks_body);
}

/* ---- the plain form ----------------------------------------------------------------------- */

struct plain_sum {
    int low, high;
    long sum;
};

static void plain_sum(void *arg)
{
    struct plain_sum *s = arg;
    if (s->high - s->low < 4) {
        for (int i = s->low; i < s->high; i++)
            s->sum += i;
        return;
    }
    int mid = s->low + (s->high - s->low) / 2;
    struct plain_sum a = {s->low, mid, 0}, b = {mid, s->high, 0};
    if (mid % 2) {
        filch_job job;
        filch_fork(&job, plain_sum, &b);
        plain_sum(&a);
        filch_join(&job);
    } else {
        filch_join2(plain_sum, &a, plain_sum, &b);
    }
    s->sum = a.sum + b.sum;
}

static long plain_sum_of(int n)
{
    struct plain_sum s = {0, n, 0};
    plain_sum(&s);
    return s.sum;
}

FILCH_TASK(long, typed_in_plain, int, n) /* a typed fork is pending while plain code runs */
{
    FILCH_FORK(b, fib, n);
    FILCH_FORK(c, square, n);
    filch_job job;
    struct plain_sum later = {0, 100, 0};
    filch_fork(&job, plain_sum, &later);
    long sum = plain_sum_of(100) + FILCH_RUN(fib, n);
    filch_join(&job);
    CHECK_EQ(sum, 4950 + fib_plain(n));
    CHECK_EQ(later.sum, 4950);
    CHECK_EQ(FILCH_JOIN(square, c), n * n);
    return FILCH_JOIN(fib, b);
}

static void typed_from_plain(void *arg)
{
    long *out = arg;
    filch_job job;
    struct plain_sum later = {0, 100, 0};
    filch_fork(&job, plain_sum, &later);
    *out = FILCH_RUN(typed_in_plain, 10);
    filch_join(&job);
    CHECK_EQ(later.sum, 4950);
}

static void plain_body(void)
{
    struct plain_sum s = {0, 1000, 0};
    filch_run_on(on.pool, plain_sum, &s);
    CHECK_EQ(s.sum, 499500);
    long out = 0;
    filch_run_on(on.pool, typed_from_plain, &out);
    CHECK_EQ(out, 55);
}

static void plain_and_typed_forks_mix_in_one_job(void)
{
    on_every_pool(plain_body);
}

static void *foreign_sums(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(plain_sum_of(200), 19900);
        struct plain_sum a = {0, 100, 0}, b = {0, 200, 0};
        filch_join2(plain_sum, &a, plain_sum, &b);
        CHECK_EQ(a.sum + b.sum, 4950 + 19900);
        CHECK_EQ(FILCH_RUN(fib, 10), 55);
    }
    return 0;
}

static void plain_forks_of_foreign_threads_go_to_the_default_pool(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&t[i], 0, foreign_sums, 0), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_join(t[i], 0), 0);
}

/* ---- several pools, several guests -------------------------------------------------------- */

static filch_pool *second;

FILCH_TASK(long, there, int, n)
{
    CHECK(filch_pool_current() == second);
    return FILCH_RUN(fib, n);
}

FILCH_TASK(long, here_and_there, int, n)
{
    FILCH_FORK(b, fib, n);
    long a = FILCH_RUN_ON(second, there, n);
    CHECK(filch_pool_current() == on.pool);
    return a + FILCH_JOIN(fib, b);
}

static void two_pools_body(void)
{
    for (int i = 0; i < SCALED(5, 3, 2); i++)
        CHECK_EQ(FILCH_RUN_ON(on.pool, here_and_there, 12), 2 * 144);
}

static void a_task_runs_another_on_a_second_pool(void)
{
    for (int workers = 1; workers <= 4; workers *= 2) {
        second = pool_of(workers, workers == 2 ? FILCH_JOIN_HELP : FILCH_JOIN_SUSPEND);
        on_every_pool(two_pools_body);
        filch_pool_destroy(second);
    }
}

static void *guest(void *arg)
{
    int rounds = SCALED(200, 60, 30);
    (void)arg;
    for (int i = 0; i < rounds; i++) {
        CHECK_EQ(filch_worker_id(), -1);
        CHECK_EQ(FILCH_RUN_ON(on.pool, fib, 12), 144);
        CHECK_EQ(FILCH_RUN_ON(on.pool, fib_limited, 13), 233);
    }
    return 0;
}

static void eight_guests_at_once_are_all_served(void)
{
    for (int i = 0; i < 6; i++) {
        on.workers = 1 << i / 2;
        on.join = i % 2 ? FILCH_JOIN_HELP : FILCH_JOIN_SUSPEND;
        on.pool = pool_of(on.workers, on.join);
        pthread_t t[8];
        for (int k = 0; k < 8; k++)
            CHECK_EQ(pthread_create(&t[k], 0, guest, 0), 0);
        for (int k = 0; k < 8; k++)
            CHECK_EQ(pthread_join(t[k], 0), 0);
        filch_pool_destroy(on.pool);
    }
}

/* ---- errno, threads ----------------------------------------------------------------------- */

/* The compiler takes errno's address to be constant in a function; after a join it need not be. */
static __attribute__((noinline)) int errno_now(void)
{
    __asm__ __volatile__("" ::: "memory");
    return errno;
}

static __attribute__((noinline)) void errno_becomes(int value)
{
    __asm__ __volatile__("" ::: "memory");
    errno = value;
}

static int thread_now(void)
{
    return (int)syscall(SYS_gettid);
}

/* Ends once its parent waits for it. */
struct held {
    uint32_t started;
    const char *event; /* the counter that tells */
    uint64_t base;
};

FILCH_TASK_VOID(until_parent_waits, struct held *, held)
{
    filch_store_release(&held->started, 1u);
    await_stat(on.pool, held->event, held->base + 1);
    errno_becomes(EDOM);
}

FILCH_TASK_VOID(keeps_errno, int, value)
{
    struct held h = {0, "suspended", filch_stats_total(on.pool, "suspended")};
    errno_becomes(value);
    FILCH_FORK(b, until_parent_waits, &h);
    await_flag(&h.started);
    FILCH_JOIN(until_parent_waits, b);
    CHECK_EQ(errno_now(), value);
}

static void errno_body(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 20; i++)
        FILCH_RUN(keeps_errno, i);
}

static void errno_survives_a_suspended_join(void)
{
    for (on.workers = 2; on.workers <= 4; on.workers *= 2) {
        on.pool = pool_of(on.workers, FILCH_JOIN_SUSPEND);
        run_as_job(on.pool, errno_body, 0);
        CHECK(filch_stats_total(on.pool, "suspended") >= 20);
        filch_pool_destroy(on.pool);
    }
}

FILCH_TASK_VOID(stays, int, unused)
{
    struct held h = {0, "stolen joins", filch_stats_total(on.pool, "stolen joins")};
    (void)unused;
    filch_pin();
    filch_pin();
    filch_unpin(); /* they nest */
    int thread = thread_now();
    FILCH_FORK(b, until_parent_waits, &h);
    FILCH_FORK(c, fib, 10);
    await_flag(&h.started);
    CHECK_EQ(FILCH_JOIN(fib, c), 55);
    FILCH_JOIN(until_parent_waits, b);
    CHECK_EQ(thread_now(), thread);
    filch_unpin();
}

static void stays_body(void *arg)
{
    (void)arg;
    for (int i = 0; i < 50; i++)
        FILCH_RUN(stays, 0);
}

static void a_pinned_job_stays_on_its_thread_over_a_stolen_join(void)
{
    for (on.workers = 2; on.workers <= SCALED(16, 16, 4); on.workers *= 2) {
        on.pool = pool_of(on.workers, FILCH_JOIN_SUSPEND);
        run_as_job(on.pool, stays_body, 0);
        filch_pool_destroy(on.pool);
    }
}

static void foreign_body(void)
{
    if (!on.guest)
        return;
    int thread = thread_now();
    CHECK_EQ(FILCH_RUN_ON(on.pool, usual_all, 1), 7);
    CHECK_EQ(thread_now(), thread);
    CHECK_EQ(filch_worker_id(), -1);
    filch_pin(); /* no effect outside */
    filch_unpin();
}

static void a_guest_comes_back_on_its_own_thread(void)
{
    on_every_pool(foreign_body);
}

/* ---- bounded, deep and unbalanced --------------------------------------------------------- */

/* A long spine; most siblings are leaves, a few are spines of their own. */
static int side_of(int depth, unsigned seed)
{
    int most = depth - 1 < 40 ? depth - 1 : 40;
    return seed >> 28 == 0 ? most : 0;
}

static unsigned seed_after(unsigned seed)
{
    return (seed ^ seed >> 15) * 2654435761u + 12345u;
}

FILCH_TASK_BOUNDED(long, lopsided, int, depth, unsigned, seed)
{
    if (depth == 0)
        return 1;
    unsigned next = seed_after(seed);
    FILCH_FORK(b, lopsided, side_of(depth, next), ~next);
    long a = FILCH_CALL(lopsided, depth - 1, next);
    return a + FILCH_JOIN(lopsided, b);
}

static long lopsided_plain(int depth, unsigned seed)
{
    if (depth == 0)
        return 1;
    unsigned next = seed_after(seed);
    return lopsided_plain(depth - 1, next) + lopsided_plain(side_of(depth, next), ~next);
}

static void lopsided_body(void)
{
    int depth = SCALED(4000, 1000, 500);
    for (unsigned seed = 0; seed < 5; seed++)
        CHECK_EQ(FILCH_RUN_ON(on.pool, lopsided, depth, seed), lopsided_plain(depth, seed));
}

static void bounded_tasks_are_right_on_deep_unbalanced_trees(void)
{
    on_every_pool(lopsided_body);
}

/* ---- the same without membarrier ---------------------------------------------------------- */

static const char *self;

static void all_of_this_holds_without_membarrier(void)
{
    char *arguments[] = {(char *)self, 0};
    int status;
    pid_t pid;
    CHECK_EQ(setenv("FILCH_NO_MEMBARRIER", "1", 1), 0);
    CHECK_EQ(posix_spawn(&pid, self, 0, 0, arguments, environ), 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    self = argv[0];
    RUN(tasks_of_arity_0_to_6_return_what_a_call_would_stolen_or_not);
    RUN(void_tasks_and_full_structures_come_through);
    RUN(default_and_bounded_tasks_call_each_other_and_FILCH_RUN_nests);
    RUN(any_number_of_forks_from_0_to_300_is_joined_last_to_first);
    RUN(plain_and_typed_forks_mix_in_one_job);
    RUN(plain_forks_of_foreign_threads_go_to_the_default_pool);
    RUN(a_task_runs_another_on_a_second_pool);
    RUN(eight_guests_at_once_are_all_served);
    RUN(errno_survives_a_suspended_join);
    RUN(a_pinned_job_stays_on_its_thread_over_a_stolen_join);
    RUN(a_guest_comes_back_on_its_own_thread);
    RUN(bounded_tasks_are_right_on_deep_unbalanced_trees);
    if (!getenv("FILCH_NO_MEMBARRIER") && !WITH_TSAN) /* which does not see the fences that it is about */
        RUN(all_of_this_holds_without_membarrier);
    return check_report();
}
