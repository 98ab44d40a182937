/* A caller's mistake in fork-join is one line on stderr that names the call, then abort. */
#define _GNU_SOURCE
#include "../forking.h"

/* `call: ` begins the line after the library's name, `hint` is somewhere in it, and nothing
 * follows it. */
static void expect(void (*body)(void), const char *call, const char *hint)
{
    struct ending e = in_child(body);
    char start[80];
    snprintf(start, sizeof start, "filch: %s: ", call);
    char *end = strchr(e.text, '\n');
    CHECK_MSG(aborted(&e), "%s: status %d, it said: %s", call, e.status, e.text);
    CHECK_MSG(!strncmp(e.text, start, strlen(start)), "%s: it said: %s", call, e.text);
    CHECK_MSG(strstr(e.text, hint), "%s: no \"%s\" in: %s", call, hint, e.text);
    CHECK_MSG(end && end[1] == '\0', "%s: more than one line: %s", call, e.text);
}

static filch_pool *pool; /* made in the child: the parent has no threads */

static void make_pool(void)
{
    pool = pool_of(2, FILCH_JOIN_SUSPEND);
}

FILCH_TASK(int, leaf, int, n) { return n; }
FILCH_TASK_BOUNDED(int, leaf_bounded, int, n) { return n; }
static void nothing(void *arg) { (void)arg; }

/* ---- order -------------------------------------------------------------------------------- */

FILCH_TASK(int, joins_first_first)
{
    FILCH_FORK(a, leaf, 1);
    FILCH_FORK(b, leaf, 2);
    int sum = FILCH_JOIN(leaf, a);
    return sum + FILCH_JOIN(leaf, b);
}
FILCH_TASK_BOUNDED(int, joins_first_first_bounded)
{
    FILCH_FORK(a, leaf_bounded, 1);
    FILCH_FORK(b, leaf_bounded, 2);
    int sum = FILCH_JOIN(leaf_bounded, a);
    return sum + FILCH_JOIN(leaf_bounded, b);
}
FILCH_TASK(int, joins_twice)
{
    FILCH_FORK(a, leaf, 1);
    int sum = FILCH_JOIN(leaf, a);
    return sum + FILCH_JOIN(leaf, a);
}
static void typed_order_body(void) { make_pool(), (void)FILCH_RUN_ON(pool, joins_first_first); }
static void bounded_order_body(void)
{
    make_pool();
    (void)FILCH_RUN_ON(pool, joins_first_first_bounded);
}
static void typed_twice_body(void) { make_pool(), (void)FILCH_RUN_ON(pool, joins_twice); }

static void typed_joins_out_of_order_are_reported(void)
{
    expect(typed_order_body, "FILCH_JOIN", "\"leaf\"");
    expect(bounded_order_body, "FILCH_JOIN", "\"leaf_bounded\"");
    expect(typed_twice_body, "FILCH_JOIN", "\"leaf\"");
}

static void plain_wrong_order(void *arg)
{
    filch_job a, b;
    filch_fork(&a, nothing, arg);
    filch_fork(&b, nothing, arg);
    filch_join(&a);
    filch_join(&b);
}
static filch_job forked_outside;
static void joins_another_jobs_fork(void *arg)
{
    (void)arg;
    filch_join(&forked_outside);
}
static void plain_of_another(void *arg)
{
    filch_fork(&forked_outside, nothing, arg);
    run_as_job(pool, joins_another_jobs_fork, 0);
}
static void plain_order_body(void) { make_pool(), filch_run_on(pool, plain_wrong_order, 0); }
static void plain_of_another_body(void) { make_pool(), filch_run_on(pool, plain_of_another, 0); }

FILCH_TASK(int, typed_over_plain)
{
    filch_job job;
    filch_fork(&job, nothing, 0);
    FILCH_FORK(a, leaf, 1); /* the task's own head does not know of the plain fork */
    int sum = FILCH_JOIN(leaf, a);
    filch_join(&job);
    return sum;
}
static void typed_over_plain_body(void) { make_pool(), (void)FILCH_RUN_ON(pool, typed_over_plain); }

static void plain_joins_out_of_order_are_reported(void)
{
    expect(plain_order_body, "filch_join", "reverse order");
    expect(plain_of_another_body, "filch_join", "in the job that made them");
    expect(typed_over_plain_body, "filch_join", "in the job that made them");
}

/* ---- forks that nobody joins --------------------------------------------------------------- */

FILCH_TASK(int, forgets)
{
    FILCH_FORK(a, leaf, 1);
    (void)a;
    return 0;
}
FILCH_TASK_BOUNDED(int, forgets_bounded)
{
    FILCH_FORK(a, leaf_bounded, 1);
    (void)a;
    return 0;
}
FILCH_TASK(int, forgets_one_of_three)
{
    FILCH_FORKS(all, leaf);
    for (int i = 0; i < 3; i++)
        FILCH_FORK_ADD(leaf, i);
    (void)FILCH_JOIN_LAST(leaf, all);
    return FILCH_JOIN_LAST(leaf, all);
}
static void forgets_body(void) { make_pool(), (void)FILCH_RUN_ON(pool, forgets); }
static void forgets_bounded_body(void) { make_pool(), (void)FILCH_RUN_ON(pool, forgets_bounded); }
static void forgets_one_body(void) { make_pool(), (void)FILCH_RUN_ON(pool, forgets_one_of_three); }

static void typed_forks_not_joined_at_return_are_reported(void)
{
    expect(forgets_body, "FILCH_FORK", "\"leaf\"");
    expect(forgets_bounded_body, "FILCH_FORK", "\"leaf_bounded\"");
    expect(forgets_one_body, "FILCH_FORK", "\"leaf\"");
}

static filch_job forgotten;
static void plain_forgets(void *arg) { filch_fork(&forgotten, nothing, arg); }
static void plain_root_body(void) { make_pool(), filch_run_on(pool, plain_forgets, 0); }
static void plain_job_body(void) { make_pool(), run_as_job(pool, plain_forgets, 0); }

static void stolen_forgets(void *started)
{
    plain_forgets(0);
    filch_store_release((uint32_t *)started, 1u);
}
static void forks_forgetful(void *arg)
{
    uint32_t started = 0;
    filch_job job;
    (void)arg;
    filch_fork(&job, stolen_forgets, &started);
    await_flag(&started);
    filch_join(&job);
}
static void plain_stolen_body(void) { make_pool(), filch_run_on(pool, forks_forgetful, 0); }

static void plain_forks_not_joined_at_return_are_reported(void)
{
    expect(plain_root_body, "filch_fork", "join every fork");
    expect(plain_job_body, "filch_fork", "join every fork");
    expect(plain_stolen_body, "filch_fork", "join every fork");
}

/* ---- joins of nothing ---------------------------------------------------------------------- */

static void join_zero_body(void)
{
    filch_job job = {0};
    filch_join(&job);
}
static void join_null_body(void) { filch_join(0); }
FILCH_TASK(int, one_too_many)
{
    FILCH_FORKS(all, leaf);
    FILCH_FORK_ADD(leaf, 1);
    int sum = FILCH_JOIN_LAST(leaf, all);
    return sum + FILCH_JOIN_LAST(leaf, all);
}
FILCH_TASK(int, past_the_base)
{
    FILCH_FORK(before, leaf, 1);
    FILCH_FORKS(all, leaf);
    int sum = FILCH_JOIN_LAST(leaf, all);
    return sum + FILCH_JOIN(leaf, before);
}
static void one_too_many_body(void) { make_pool(), (void)FILCH_RUN_ON(pool, one_too_many); }
static void past_the_base_body(void) { make_pool(), (void)FILCH_RUN_ON(pool, past_the_base); }

static void joins_of_what_was_never_forked_are_reported(void)
{
    expect(join_zero_body, "filch_join", "never forked");
    expect(join_null_body, "filch_join", "never forked");
    expect(one_too_many_body, "FILCH_JOIN", "\"leaf\"");
    expect(past_the_base_body, "FILCH_JOIN", "\"leaf\"");
}

/* ---- pins ---------------------------------------------------------------------------------- */

static void unpins(void *arg)
{
    (void)arg;
    filch_unpin();
}
static void stays_pinned(void *arg)
{
    (void)arg;
    filch_pin();
}
static void unpin_body(void) { make_pool(), run_as_job(pool, unpins, 0); }
static void stay_pinned_body(void) { make_pool(), run_as_job(pool, stays_pinned, 0); }

static void pins_that_do_not_pair_are_reported(void)
{
    expect(unpin_body, "filch_unpin", "without filch_pin");
    expect(stay_pinned_body, "filch_pin", "filch_unpin as often");
}

/* ---- pools and jobs ------------------------------------------------------------------------ */

static void destroy_twice_body(void)
{
    make_pool();
    filch_pool_destroy(pool);
    filch_pool_destroy(pool);
}
static void destroys(void *arg) { filch_pool_destroy(arg); }
static void destroy_inside_body(void) { make_pool(), run_as_job(pool, destroys, pool); }
static void destroy_in_root_body(void) { make_pool(), filch_run_on(pool, destroys, pool); }
static void destroy_default_body(void) { filch_pool_destroy(filch_pool_default()); }
static void not_a_pool_body(void)
{
    static uint64_t zeroes[64] __attribute__((aligned(128)));
    filch_run_on((filch_pool *)zeroes, nothing, 0);
}
FILCH_TASK(int, on_a_dead_pool) { return 1; }
static void not_a_pool_typed_body(void)
{
    static uint64_t zeroes[64] __attribute__((aligned(128)));
    (void)FILCH_RUN_ON((filch_pool *)zeroes, on_a_dead_pool);
}
static void pools_destroyed_wrongly_are_reported(void)
{
    if (WITH_ASAN || WITH_TSAN)
        printf("skipped: a pool destroyed twice, as the sanitizer reports it first\n");
    else
        expect(destroy_twice_body, "filch_pool_destroy", "destroyed");
    expect(destroy_inside_body, "filch_pool_destroy", "a job of the same pool");
    expect(destroy_in_root_body, "filch_pool_destroy", "a job of the same pool");
    expect(destroy_default_body, "filch_pool_destroy", "default pool");
    expect(not_a_pool_body, "filch_run_on", "not a pool");
    expect(not_a_pool_typed_body, "FILCH_RUN", "not a pool");
}

static void submit_twice_body(void)
{
    filch_job job;
    make_pool();
    filch_job_init(&job, nothing, 0);
    (void)filch_submit_on(pool, &job, FILCH_ANYWHERE);
    (void)filch_submit_on(pool, &job, FILCH_ANYWHERE);
}
static void submit_after_done_body(void)
{
    filch_job job;
    make_pool();
    filch_job_init(&job, nothing, 0);
    (void)filch_submit_on(pool, &job, FILCH_ANYWHERE);
    (void)filch_job_wait(&job, FILCH_FOREVER);
    (void)filch_submit_on(pool, &job, FILCH_ANYWHERE);
}
static void submit_nowhere_body(void)
{
    filch_job job;
    make_pool();
    filch_job_init(&job, nothing, 0);
    (void)filch_submit_on(pool, &job, -4);
}
static void submit_no_pool_body(void)
{
    filch_job job;
    filch_job_init(&job, nothing, 0);
    (void)filch_submit_on(0, &job, FILCH_ANYWHERE);
}
static void wait_not_submitted_body(void)
{
    filch_job job;
    filch_job_init(&job, nothing, 0);
    (void)filch_job_wait(&job, FILCH_NOW);
}

static void jobs_submitted_or_waited_for_wrongly_are_reported(void)
{
    expect(submit_twice_body, "filch_submit_on", "twice");
    expect(submit_after_done_body, "filch_submit_on", "twice");
    expect(submit_nowhere_body, "filch_submit_on", "no such place");
    expect(submit_no_pool_body, "filch_submit_on", "not a pool");
    expect(wait_not_submitted_body, "filch_job_wait", "not submitted");
}

/* ---- null functions ------------------------------------------------------------------------ */

static void null_fork(void *arg)
{
    filch_job job;
    (void)arg;
    filch_fork(&job, 0, 0);
}
static void null_fork_body(void) { null_fork(0); }
static void null_fork_inside_body(void) { make_pool(), run_as_job(pool, null_fork, 0); }
static void null_init_body(void) { filch_job_init(0, nothing, 0); }
static void null_run_body(void) { filch_run_on(0, 0, 0); }
static void null_join2_body(void) { filch_join2(nothing, 0, 0, 0); }
static void null_submit_body(void)
{
    filch_job job = {0};
    make_pool();
    (void)filch_submit_on(pool, &job, FILCH_ANYWHERE);
}
static void null_detached_body(void)
{
    make_pool();
    (void)filch_submit_detached_on(pool, 0, 0, 0, FILCH_ANYWHERE);
}

static void null_functions_are_reported(void)
{
    expect(null_fork_body, "filch_fork", "null");
    expect(null_fork_inside_body, "filch_fork", "null");
    expect(null_init_body, "filch_job_init", "null");
    expect(null_run_body, "filch_run_on", "null function");
    expect(null_join2_body, "filch_join2", "null function");
    expect(null_submit_body, "filch_submit_on", "null");
    expect(null_detached_body, "filch_submit_detached_on", "null");
}

int main(void)
{
    RUN(typed_joins_out_of_order_are_reported);
    RUN(plain_joins_out_of_order_are_reported);
    RUN(typed_forks_not_joined_at_return_are_reported);
    RUN(plain_forks_not_joined_at_return_are_reported);
    RUN(joins_of_what_was_never_forked_are_reported);
    RUN(pins_that_do_not_pair_are_reported);
    RUN(pools_destroyed_wrongly_are_reported);
    RUN(jobs_submitted_or_waited_for_wrongly_are_reported);
    RUN(null_functions_are_reported);
    return check_report();
}
