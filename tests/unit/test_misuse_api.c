/* Every function of the API with arguments that it cannot take: null, what is not a pool or was
 * destroyed, the wrong thread, after shutdown, huge, negative. It says so in one line that names the
 * call and aborts, or it returns what its header says. The table is compared with the list of exports,
 * so a function that is added later has to be added here. */
#define _GNU_SOURCE
#include "../forking.h"

#include <filch/deque.h>
#include <limits.h>
#include <pthread.h>

static filch_pool *pool; /* made in the child: the parent has no threads */
static filch_job job;

static void make_pool(void) { pool = pool_of(2, FILCH_JOIN_SUSPEND); }
static void shut_pool(void) { make_pool(), CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0); }
static void dead_pool(void) { make_pool(), filch_pool_destroy(pool); }
static void nothing(void *arg) { (void)arg; }
static void waits(void *event) { filch_event_wait(event); }
static void ready_job(void) { filch_job_init(&job, nothing, 0); }
static filch_pool *no_pool(void)
{
    static uint64_t zeroes[512] __attribute__((aligned(128)));
    return (filch_pool *)zeroes;
}

/* ---- configurations and pools ---------------------------------------------------------------- */

static filch_config config;
static void parse_null_config(void) { (void)filch_config_parse(0, "", 0, 0); }
static void parse_null_policy(void) { (void)filch_config_parse(&config, 0, 0, 0); }
static void parse_answers(void)
{
    static char huge[1 << 20], text[64];
    filch_config c = FILCH_CONFIG_INIT;
    memset(huge, ',', sizeof huge - 1);
    CHECK_EQ(filch_config_parse(&c, huge, 0, SIZE_MAX), -EINVAL);
    CHECK_EQ(filch_config_parse(&c, "spin=-1", text, 0), -EINVAL);
    CHECK_EQ(filch_config_parse(&c, "spin=99999999999999999999", text, sizeof text), -EINVAL);
    static const size_t sizes[] = {0, 7, sizeof c - 1, sizeof c + 8, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        c.size = sizes[i];
        CHECK_EQ(filch_config_parse(&c, "spin=1", text, sizeof text), -EINVAL);
        CHECK(strstr(text, "size"));
    }
}

static void create_null(void) { (void)filch_pool_create(0, 0); }
#define REFUSED(field, value)                                                                     \
    do {                                                                                          \
        filch_config c_ = FILCH_CONFIG_INIT;                                                      \
        filch_pool *out_ = (filch_pool *)1;                                                       \
        c_.field = (__typeof__(c_.field))(value);                                                 \
        CHECK_EQ(filch_pool_create(&out_, &c_), -EINVAL);                                         \
        CHECK(!out_);                                                                             \
    } while (0)
static void create_answers(void)
{
    REFUSED(size, 0); REFUSED(size, 9); REFUSED(size, sizeof(filch_config) + 8); REFUSED(size, -1);
    REFUSED(workers, -1); REFUSED(workers, INT_MIN); REFUSED(workers, FILCH_MAX_WORKERS + 1);
    REFUSED(stack_size, 1); REFUSED(stack_size, SIZE_MAX); REFUSED(stack_size, (uint64_t)17 << 30);
    REFUSED(victim, 99); REFUSED(steal, -1); REFUSED(ends, 4); REFUSED(wake, INT_MAX);
    REFUSED(idle, INT_MIN); REFUSED(join, 2); REFUSED(queue, 5); REFUSED(run_next, 2);
    REFUSED(ring_capacity, 1); REFUSED(ring_capacity, 3); REFUSED(ring_capacity, 1 << 17);
    REFUSED(backoff_min_ns, -1); REFUSED(backoff_max_ns, INT64_MIN);
}
static void create_clamps(void)
{
    filch_config c = config_of(1, FILCH_JOIN_SUSPEND);
    c.spin_rounds = c.steal_attempts = 1;
    c.backoff_min_ns = c.backoff_max_ns = INT64_MAX;
    CHECK_EQ(filch_pool_create(&pool, &c), 0);
    run_as_job(pool, nothing, 0);
    filch_pool_destroy(pool);
}

static void destroy_null(void) { filch_pool_destroy(0); }
static void destroy_none(void) { filch_pool_destroy(no_pool()); }
static void destroy_twice(void) { dead_pool(), filch_pool_destroy(pool); }
static void destroys(void *arg) { filch_pool_destroy(arg); }
static void destroy_own(void) { make_pool(), run_as_job(pool, destroys, pool); }
static void destroy_default(void) { filch_pool_destroy(filch_pool_default()); }

static void shutdown_null(void) { (void)filch_pool_shutdown(0, FILCH_NOW); }
static void shutdown_none(void) { (void)filch_pool_shutdown(no_pool(), FILCH_NOW); }
static void shutdown_dead(void) { dead_pool(), (void)filch_pool_shutdown(pool, FILCH_NOW); }
static void shuts_own(void *unused)
{
    (void)unused;
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), -EDEADLK);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), -EDEADLK);
    CHECK_EQ(filch_pool_wait(pool, INT64_MIN), -EDEADLK);
}
static void shutdown_answers(void)
{
    filch_event event = {0};
    make_pool();
    filch_job_init(&job, waits, &event);
    CHECK_EQ(filch_submit_on(pool, &job, 0), 0);
    CHECK_EQ(filch_pool_shutdown(pool, -1), -ETIMEDOUT);
    CHECK_EQ(filch_pool_shutdown(pool, INT64_MIN), -ETIMEDOUT);
    CHECK_EQ(filch_pool_wait(pool, INT64_MIN), -ETIMEDOUT);
    filch_event_set(&event);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    CHECK_EQ(filch_pool_shutdown(pool, INT64_MIN), 0);
}
static void shutdown_own(void) { make_pool(), run_as_job(pool, shuts_own, 0); }
static void wait_pool_null(void) { (void)filch_pool_wait(0, FILCH_NOW); }
static void wait_pool_none(void) { (void)filch_pool_wait(no_pool(), FILCH_NOW); }
static void wait_pool_dead(void) { dead_pool(), (void)filch_pool_wait(pool, FILCH_NOW); }

static void workers_none(void) { (void)filch_pool_workers(no_pool()); }
static void workers_dead(void) { dead_pool(), (void)filch_pool_workers(pool); }
static void outsider_answers(void)
{
    CHECK_EQ(filch_pool_workers(0), 0);
    CHECK(!filch_pool_current());
    CHECK_EQ(filch_worker_id(), -1);
    CHECK(filch_pool_default() && filch_pool_default() == filch_pool_default());
    CHECK(filch_clock_ns() > 0);
    CHECK(filch_after_ns(1) > 0 && filch_after_ms(1) > 0 && filch_after_s(1) > 0);
    CHECK_STR(filch_version(), FILCH_VERSION);
    filch_pin(); /* no effect, and none that would have to be undone */
    filch_unpin(), filch_unpin();
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void init_null_job(void) { filch_job_init(0, nothing, 0); }
static void init_null_fn(void) { filch_job_init(&job, 0, 0); }

static void submit_null(void) { (void)filch_submit(0, FILCH_ANYWHERE); }
static void submit_zero(void) { job = (filch_job){0}, (void)filch_submit(&job, FILCH_ANYWHERE); }
static void submit_nowhere(void) { ready_job(), (void)filch_submit(&job, INT_MIN); }
static void submit_shut(void)
{
    CHECK_EQ(filch_pool_shutdown(filch_pool_default(), FILCH_FOREVER), 0);
    ready_job();
    CHECK_EQ(filch_submit(&job, FILCH_ANYWHERE), -EPIPE);
    CHECK(!job.pool);
}
static void submit_far(void)
{
    ready_job();
    CHECK_EQ(filch_submit(&job, INT_MAX), 0);
    CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
}

static void submit_on_null(void) { ready_job(), (void)filch_submit_on(0, &job, 0); }
static void submit_on_none(void) { ready_job(), (void)filch_submit_on(no_pool(), &job, 0); }
static void submit_on_dead(void) { ready_job(), dead_pool(), (void)filch_submit_on(pool, &job, 0); }
static void submit_on_null_job(void) { make_pool(), (void)filch_submit_on(pool, 0, 0); }
static void submit_on_nowhere(void) { make_pool(), ready_job(), (void)filch_submit_on(pool, &job, -4); }
static void submit_on_twice(void)
{
    submit_far();
    make_pool();
    (void)filch_submit_on(pool, &job, 0); /* the wrong pool, and once too often */
}
static void submit_on_shut(void)
{
    shut_pool(), ready_job();
    CHECK_EQ(filch_submit_on(pool, &job, FILCH_ANYWHERE), -EPIPE);
    CHECK_EQ(filch_job_done(&job), 0);
}

static void array_null_pool(void) { (void)filch_submit_array_on(0, &job, 0, 0); }
static void array_dead(void) { dead_pool(), (void)filch_submit_array_on(pool, &job, 0, 0); }
static void array_null_jobs(void) { make_pool(), (void)filch_submit_array_on(pool, 0, 3, 0); }
static int array_of(size_t n, int where)
{
    make_pool(), ready_job();
    return filch_submit_array_on(pool, &job, n, where);
}
static void array_huge(void) { (void)array_of(SIZE_MAX, 0); }
static void array_nowhere(void) { (void)array_of(1, -9); }
static void array_half_ready(void)
{
    filch_job jobs[2] = {{0}, {0}};
    make_pool();
    filch_job_init(&jobs[0], nothing, 0);
    (void)filch_submit_array_on(pool, jobs, 2, 0);
}
static void array_answers(void)
{
    shut_pool(), ready_job();
    CHECK_EQ(filch_submit_array_on(pool, &job, 1, FILCH_RANDOM), -EPIPE);
    CHECK(!job.pool);
    filch_pool_destroy(pool);
    make_pool();
    CHECK_EQ(filch_submit_array_on(pool, 0, 0, FILCH_ROUND_ROBIN), 0);
}

static void detached_null(void) { (void)filch_submit_detached_on(0, nothing, 0, 0, 0); }
static void detached_none(void) { (void)filch_submit_detached_on(no_pool(), nothing, 0, 0, 0); }
static void detached_dead(void) { dead_pool(), (void)filch_submit_detached_on(pool, nothing, 0, 0, 0); }
static void detached_null_fn(void) { make_pool(), (void)filch_submit_detached_on(pool, 0, 0, 0, 0); }
static void detached_nowhere(void) { make_pool(), (void)filch_submit_detached_on(pool, nothing, 0, 0, -4); }
static void never(void *arg) { (void)arg, abort(); }
static void detached_shut(void)
{
    shut_pool();
    CHECK_EQ(filch_submit_detached_on(pool, never, 0, never, 0), -EPIPE);
    filch_pool_destroy(pool);
}

static void wait_null(void) { (void)filch_job_wait(0, FILCH_NOW); }
static void wait_unsubmitted(void) { ready_job(), (void)filch_job_wait(&job, FILCH_FOREVER); }
static void wait_answers(void)
{
    filch_event event = {0};
    make_pool();
    filch_job_init(&job, waits, &event);
    CHECK_EQ(filch_submit_on(pool, &job, 0), 0);
    CHECK_EQ(filch_job_wait(&job, -1), -ETIMEDOUT);
    CHECK_EQ(filch_job_wait(&job, INT64_MIN), -ETIMEDOUT);
    CHECK_EQ(filch_job_done(&job), 0);
    filch_event_set(&event);
    filch_pool_destroy(pool);
    CHECK_EQ(filch_job_wait(&job, filch_clock_ns() + 1000000), 0); /* its pool is gone */
    CHECK_EQ(filch_job_wait(&job, INT64_MIN), 0);
}
static void done_null(void) { (void)filch_job_done(0); }
static void done_unsubmitted(void) { ready_job(), CHECK_EQ(filch_job_done(&job), 0); }

/* ---- fork and join --------------------------------------------------------------------------- */

static void fork_null_job(void) { filch_fork(0, nothing, 0); }
static void fork_null_fn(void) { filch_fork(&job, 0, 0); }
static void join_null(void) { filch_join(0); }
static void join_zero(void) { job = (filch_job){0}, filch_join(&job); }
static void join_twice(void) { filch_fork(&job, nothing, 0), filch_join(&job), filch_join(&job); }
static void joins_twice(void *unused) { (void)unused, join_twice(); }
static void join_twice_inside(void) { make_pool(), filch_run_on(pool, joins_twice, 0); }
static void *joins(void *arg) { return filch_join(arg), NULL; }
static void joined_elsewhere(void *unused)
{
    pthread_t t;
    (void)unused;
    filch_fork(&job, nothing, 0);
    CHECK_EQ(pthread_create(&t, NULL, joins, &job), 0);
    pthread_join(t, NULL);
}
static void join_elsewhere(void) { make_pool(), run_as_job(pool, joined_elsewhere, 0); }
static void join2_null_first(void) { filch_join2(0, 0, nothing, 0); }
static void join2_null_second(void) { filch_join2(nothing, 0, 0, 0); }

static void run_null(void) { filch_run_on(0, 0, 0); }
static void run_none(void) { filch_run_on(no_pool(), nothing, 0); }
static void run_dead(void) { dead_pool(), filch_run_on(pool, nothing, 0); }
static void run_shut(void) { shut_pool(), filch_run_on(pool, nothing, 0); }

static void box(void *b, filch_slot *head) { (void)b, (void)head; }
static void root_null(void) { filch_slot_root(0, 0, 0, "none"); }
static void root_none(void) { filch_slot_root(no_pool(), box, 0, "none"); }
static void root_dead(void) { dead_pool(), filch_slot_root(pool, box, 0, "none"); }
static void root_shut(void) { shut_pool(), filch_slot_root(pool, box, 0, "none"); }
static void head_answers(void)
{
    CHECK(!filch_slot_head(0)); /* outside there is none, whatever is asked for */
    CHECK(!filch_slot_head(no_pool()));
}
static void slow_null(void) { (void)filch_slot_join_slow(0); }
static void slow_elsewhere(void)
{
    static filch_slot strange = {.claim = 2};
    (void)filch_slot_join_slow(&strange);
}
static void order_null(void) { filch_misuse_order(0); }
static void unjoined_null(void) { filch_misuse_unjoined(0); }

static void event_set_null(void) { filch_event_set(0); }
static void event_is_set_null(void) { (void)filch_event_is_set(0); }
static void event_wait_null(void) { filch_event_wait(0); }
static void event_answers(void)
{
    filch_event e = {0};
    CHECK_EQ(filch_event_is_set(&e), 0);
    filch_event_set(&e), filch_event_set(&e);
    CHECK_EQ(filch_event_is_set(&e), 1);
    filch_event_wait(&e);
}

static void pins(void *unused) { (void)unused, filch_pin(); }
static void unpins(void *unused) { (void)unused, filch_unpin(); }
static void unpins_too_often(void *unused) { (void)unused, filch_pin(), filch_unpin(), filch_unpin(); }
static void pin_job(void) { make_pool(), run_as_job(pool, pins, 0); }
static void pin_root(void) { make_pool(), filch_run_on(pool, pins, 0); }
static void unpin_job(void) { make_pool(), run_as_job(pool, unpins_too_often, 0); }
static void unpin_root(void) { make_pool(), filch_run_on(pool, unpins, 0); } /* its own pin stays */

/* ---- figures --------------------------------------------------------------------------------- */

static filch_worker_stats stats[2];
static void stats_null(void) { (void)filch_stats(0, stats, 2); }
static void stats_none(void) { (void)filch_stats(no_pool(), stats, 2); }
static void stats_dead(void) { dead_pool(), (void)filch_stats(pool, stats, 2); }
static void stats_null_array(void) { make_pool(), (void)filch_stats(pool, 0, 1); }
static void stats_answers(void)
{
    make_pool();
    CHECK_EQ(filch_stats(pool, 0, 0), 2);
    CHECK_EQ(filch_stats(pool, 0, INT_MIN), 2);
    CHECK_EQ(filch_stats(pool, stats, INT_MAX), 2);
    CHECK_EQ(filch_stats_total(pool, 0), 0);
    CHECK_EQ(filch_stats_total(pool, "no such counter"), 0);
    int n = filch_stats_count();
    CHECK(n > 0 && n <= FILCH_STATS_MAX);
    static const int bad[] = {-1, INT_MIN, INT_MAX};
    for (size_t i = 0; i < 3; i++)
        CHECK(!filch_stats_name(bad[i]) && !filch_stats_text(bad[i]));
    CHECK(!filch_stats_name(n) && !filch_stats_text(n));
    CHECK_EQ(filch_stats_index(0), -1);
    CHECK_EQ(filch_stats_index(""), -1);
}
static void total_null(void) { (void)filch_stats_total(0, "executed"); }
static void total_dead(void) { dead_pool(), (void)filch_stats_total(pool, "executed"); }
static void print_null(void) { filch_stats_print(0); }
static void print_none(void) { filch_stats_print(no_pool()); }
static void print_dead(void) { dead_pool(), filch_stats_print(pool); }

/* ---- deques ---------------------------------------------------------------------------------- */

static filch_deque *deque, *other;
static void *item;
static void make_deque(void)
{
    CHECK_EQ(filch_deque_create(&deque, FILCH_DEQUE_FIFO, 0), 0);
    CHECK_EQ(filch_deque_create(&other, FILCH_DEQUE_LIFO, 0), 0);
}
static void dead_deque(void) { make_deque(), filch_deque_destroy(deque); }
static void dead_lifo(void) { make_deque(), filch_deque_destroy(other); }

static void deque_create_null(void) { (void)filch_deque_create(0, FILCH_DEQUE_LIFO, 0); }
static void deque_create_answers(void)
{
    CHECK_EQ(filch_deque_create(&deque, (enum filch_deque_order)-1, 0), -EINVAL);
    CHECK_EQ(filch_deque_create(&deque, (enum filch_deque_order)2, 0), -EINVAL);
    CHECK_EQ(filch_deque_create(&deque, FILCH_DEQUE_LIFO, SIZE_MAX), -ENOMEM);
    CHECK(!deque);
}
static void deque_destroy_null(void) { filch_deque_destroy(0); }
static void deque_destroy_twice(void) { dead_deque(), filch_deque_destroy(deque); }
static void push_null(void) { (void)filch_deque_push(0, 0); }
static void push_dead(void) { dead_deque(), (void)filch_deque_push(deque, 0); }
static void push_dead_lifo(void) { dead_lifo(), (void)filch_deque_push(other, 0); }
static void pop_null(void) { (void)filch_deque_pop(0, &item); }
static void pop_null_item(void) { make_deque(), (void)filch_deque_pop(deque, 0); }
static void pop_dead(void) { dead_deque(), (void)filch_deque_pop(deque, &item); }
static void pop_dead_lifo(void) { dead_lifo(), (void)filch_deque_pop(other, &item); }
static void steal_null(void) { (void)filch_deque_steal(0, &item); }
static void steal_null_item(void) { make_deque(), (void)filch_deque_steal(deque, 0); }
static void steal_dead(void) { dead_deque(), (void)filch_deque_steal(deque, &item); }
static void steal_dead_lifo(void) { dead_lifo(), (void)filch_deque_steal(other, &item); }
static void batch_null(void) { make_deque(), (void)filch_deque_steal_batch(0, deque, 1); }
static void batch_null_thief(void) { make_deque(), (void)filch_deque_steal_batch(deque, 0, 1); }
static void batch_self(void) { make_deque(), (void)filch_deque_steal_batch(deque, deque, 1); }
static void batch_dead(void) { dead_deque(), (void)filch_deque_steal_batch(deque, other, 1); }
static void batch_dead_thief(void) { dead_deque(), (void)filch_deque_steal_batch(other, deque, 1); }
static void floor_null(void) { make_deque(), (void)filch_deque_steal_floor(0, deque, 1); }
static void floor_self(void) { make_deque(), (void)filch_deque_steal_floor(deque, deque, 1); }
static void floor_dead(void) { dead_deque(), (void)filch_deque_steal_floor(deque, other, 1); }
static void batch_answers(void)
{
    make_deque();
    CHECK_EQ(filch_deque_push(deque, deque), 0);
    CHECK_EQ(filch_deque_steal_batch(deque, other, 0), 0);
    CHECK_EQ(filch_deque_steal_floor(deque, other, SIZE_MAX), 0);
    CHECK_EQ(filch_deque_steal_batch(deque, other, SIZE_MAX), 1);
}
static void reserve_null(void) { (void)filch_deque_reserve(0, 1); }
static void reserve_dead(void) { dead_deque(), (void)filch_deque_reserve(deque, 1); }
static void reserve_answers(void)
{
    make_deque();
    CHECK_EQ(filch_deque_push(deque, 0), 0);
    CHECK_EQ(filch_deque_reserve(deque, SIZE_MAX), -ENOMEM);
    CHECK_EQ(filch_deque_reserve(deque, SIZE_MAX / 2), -ENOMEM);
    CHECK_EQ(filch_deque_size(deque), 1);
}
static void size_null(void) { (void)filch_deque_size(0); }
static void size_dead(void) { dead_deque(), (void)filch_deque_size(deque); }
static void start_null(void) { filch_deque_start_at(0, 1); }
static void start_dead(void) { dead_deque(), filch_deque_start_at(deque, 1); }
static void start_full(void)
{
    make_deque();
    CHECK_EQ(filch_deque_push(deque, 0), 0);
    filch_deque_start_at(deque, 1);
}
static void misuse_deque_null(void) { filch_misuse_deque("filch_deque"); }

/* ---- other headers, one file each ------------------------------------------------------------ */

#include "misuse/sync.h"
#include "misuse/io.h"
#include "misuse/file.h"
#include "misuse/task.h"
#include "misuse/dump.h"
#include "misuse/scope.h"
#include "misuse/chan.h"
#include "misuse/async.h"
#include "misuse/blocking.h"
#include "misuse/reduce.h"
#include "misuse/par.h"
#include "misuse/graph.h"

/* ---- the table ------------------------------------------------------------------------------- */

/* `symbols` are the functions that the row is about. With a hint, the line begins with the call's
 * name (the first of the symbols, unless `call` says otherwise) and the hint is in it; without, the
 * body checks what was returned. */
struct misuse {
    const char *symbols;
    void (*body)(void);
    const char *hint, *call;
    int after_free; /* reads freed memory: a sanitizer would say so first */
};
#define SAYS(symbol, body, hint) {symbol, body, hint, NULL, 0}
#define SAYS_AS(symbol, call, body, hint) {symbol, body, hint, call, 0}
#define DEAD(symbol, body) {symbol, body, "destroyed", NULL, 1}
#define ANSWERS(symbols, body) {symbols, body, NULL, NULL, 0}

static const struct misuse table[] = {
    SAYS("filch_config_parse", parse_null_config, "null"),
    SAYS("filch_config_parse", parse_null_policy, "null"),
    ANSWERS("filch_config_parse", parse_answers),
    SAYS("filch_pool_create", create_null, "null"),
    ANSWERS("filch_pool_create", create_answers),
    ANSWERS("filch_pool_create", create_clamps),
    ANSWERS("filch_pool_destroy", destroy_null),
    SAYS("filch_pool_destroy", destroy_none, "not a pool"),
    DEAD("filch_pool_destroy", destroy_twice),
    SAYS("filch_pool_destroy", destroy_own, "same pool"),
    SAYS("filch_pool_destroy", destroy_default, "default pool"),
    SAYS("filch_pool_shutdown", shutdown_null, "not a pool"),
    SAYS("filch_pool_shutdown", shutdown_none, "not a pool"),
    DEAD("filch_pool_shutdown", shutdown_dead),
    ANSWERS("filch_pool_shutdown filch_pool_wait", shutdown_answers),
    ANSWERS("filch_pool_shutdown filch_pool_wait", shutdown_own),
    SAYS("filch_pool_wait", wait_pool_null, "not a pool"),
    SAYS("filch_pool_wait", wait_pool_none, "not a pool"),
    DEAD("filch_pool_wait", wait_pool_dead),
    SAYS("filch_pool_workers", workers_none, "not a pool"),
    DEAD("filch_pool_workers", workers_dead),
    ANSWERS("filch_pool_workers filch_pool_current filch_worker_id filch_pool_default filch_clock_ns "
            "filch_after_ns filch_after_ms filch_after_s "
            "filch_version filch_pin filch_unpin", outsider_answers),

    SAYS("filch_job_init", init_null_job, "null"),
    SAYS("filch_job_init", init_null_fn, "null"),
    SAYS("filch_submit", submit_null, "null job"),
    SAYS("filch_submit", submit_zero, "filch_job_init"),
    SAYS("filch_submit", submit_nowhere, "no such place"),
    ANSWERS("filch_submit", submit_shut),
    ANSWERS("filch_submit", submit_far),
    SAYS("filch_submit_on", submit_on_null, "not a pool"),
    SAYS("filch_submit_on", submit_on_none, "not a pool"),
    DEAD("filch_submit_on", submit_on_dead),
    SAYS("filch_submit_on", submit_on_null_job, "null job"),
    SAYS("filch_submit_on", submit_on_nowhere, "no such place"),
    SAYS("filch_submit_on", submit_on_twice, "twice"),
    ANSWERS("filch_submit_on", submit_on_shut),
    SAYS("filch_submit_array_on", array_null_pool, "not a pool"),
    DEAD("filch_submit_array_on", array_dead),
    SAYS("filch_submit_array_on", array_null_jobs, "null job"),
    SAYS("filch_submit_array_on", array_huge, "too many"),
    SAYS("filch_submit_array_on", array_nowhere, "no such place"),
    SAYS("filch_submit_array_on", array_half_ready, "filch_job_init"),
    ANSWERS("filch_submit_array_on", array_answers),
    SAYS("filch_submit_detached_on", detached_null, "not a pool"),
    SAYS("filch_submit_detached_on", detached_none, "not a pool"),
    DEAD("filch_submit_detached_on", detached_dead),
    SAYS("filch_submit_detached_on", detached_null_fn, "null function"),
    SAYS("filch_submit_detached_on", detached_nowhere, "no such place"),
    ANSWERS("filch_submit_detached_on", detached_shut),
    SAYS("filch_job_wait", wait_null, "not submitted"),
    SAYS("filch_job_wait", wait_unsubmitted, "not submitted"),
    ANSWERS("filch_job_wait filch_job_done", wait_answers),
    SAYS("filch_job_done", done_null, "null job"),
    ANSWERS("filch_job_done", done_unsubmitted),

    SAYS("filch_fork", fork_null_job, "null"),
    SAYS("filch_fork", fork_null_fn, "null"),
    SAYS("filch_join", join_null, "null job"),
    SAYS("filch_join", join_zero, "never forked"),
    SAYS("filch_join", join_twice, "joined already"),
    SAYS("filch_join", join_twice_inside, "joined already"),
    SAYS("filch_join", join_elsewhere, "in the job that made"),
    SAYS("filch_join2", join2_null_first, "null function"),
    SAYS("filch_join2", join2_null_second, "null function"),
    SAYS("filch_run_on", run_null, "null function"),
    SAYS("filch_run_on", run_none, "not a pool"),
    DEAD("filch_run_on", run_dead),
    SAYS("filch_run_on", run_shut, "shut down"),
    SAYS_AS("filch_slot_root", "FILCH_RUN", root_null, "null function"),
    SAYS_AS("filch_slot_root", "FILCH_RUN", root_none, "not a pool"),
    {"filch_slot_root", root_dead, "destroyed", "FILCH_RUN", 1},
    SAYS_AS("filch_slot_root", "FILCH_RUN", root_shut, "shut down"),
    ANSWERS("filch_slot_head", head_answers),
    SAYS_AS("filch_slot_join_slow", "FILCH_JOIN", slow_null, "null"),
    SAYS_AS("filch_slot_join_slow", "FILCH_JOIN", slow_elsewhere, "another stack"),
    SAYS_AS("filch_misuse_order", "FILCH_JOIN", order_null, "reverse order"),
    SAYS_AS("filch_misuse_unjoined", "FILCH_FORK", unjoined_null, "returned before"),
    SAYS("filch_event_set", event_set_null, "null event"),
    SAYS("filch_event_is_set", event_is_set_null, "null event"),
    SAYS("filch_event_wait", event_wait_null, "null event"),
    ANSWERS("filch_event_set filch_event_is_set filch_event_wait", event_answers),
    SAYS("filch_pin", pin_job, "filch_unpin"),
    SAYS("filch_pin", pin_root, "filch_unpin"),
    SAYS("filch_unpin", unpin_job, "without filch_pin"),
    SAYS("filch_unpin", unpin_root, "without filch_pin"),

    SAYS("filch_stats", stats_null, "not a pool"),
    SAYS("filch_stats", stats_none, "not a pool"),
    DEAD("filch_stats", stats_dead),
    SAYS("filch_stats", stats_null_array, "null array"),
    ANSWERS("filch_stats filch_stats_total filch_stats_count filch_stats_name filch_stats_text "
            "filch_stats_index", stats_answers),
    SAYS("filch_stats_total", total_null, "not a pool"),
    DEAD("filch_stats_total", total_dead),
    SAYS("filch_stats_print", print_null, "not a pool"),
    SAYS("filch_stats_print", print_none, "not a pool"),
    DEAD("filch_stats_print", print_dead),

    SAYS("filch_deque_create", deque_create_null, "null"),
    ANSWERS("filch_deque_create", deque_create_answers),
    ANSWERS("filch_deque_destroy", deque_destroy_null),
    DEAD("filch_deque_destroy", deque_destroy_twice),
    SAYS("filch_deque_push", push_null, "null"),
    DEAD("filch_deque_push", push_dead),
    DEAD("filch_deque_push", push_dead_lifo),
    SAYS("filch_deque_pop", pop_null, "null"),
    SAYS("filch_deque_pop", pop_null_item, "null"),
    DEAD("filch_deque_pop", pop_dead),
    DEAD("filch_deque_pop", pop_dead_lifo),
    SAYS("filch_deque_steal", steal_null, "null"),
    SAYS("filch_deque_steal", steal_null_item, "null"),
    DEAD("filch_deque_steal", steal_dead),
    DEAD("filch_deque_steal", steal_dead_lifo),
    SAYS("filch_deque_steal_batch", batch_null, "null"),
    SAYS("filch_deque_steal_batch", batch_null_thief, "null"),
    SAYS("filch_deque_steal_batch", batch_self, "itself"),
    DEAD("filch_deque_steal_batch", batch_dead),
    DEAD("filch_deque_steal_batch", batch_dead_thief),
    SAYS("filch_deque_steal_floor", floor_null, "null"),
    SAYS("filch_deque_steal_floor", floor_self, "itself"),
    DEAD("filch_deque_steal_floor", floor_dead),
    ANSWERS("filch_deque_steal_batch filch_deque_steal_floor filch_deque_push", batch_answers),
    SAYS("filch_deque_reserve", reserve_null, "null"),
    DEAD("filch_deque_reserve", reserve_dead),
    ANSWERS("filch_deque_reserve filch_deque_size", reserve_answers),
    SAYS("filch_deque_size", size_null, "null"),
    DEAD("filch_deque_size", size_dead),
    SAYS("filch_deque_start_at", start_null, "null"),
    DEAD("filch_deque_start_at", start_dead),
    SAYS("filch_deque_start_at", start_full, "not empty"),
    SAYS_AS("filch_misuse_deque", "filch_deque", misuse_deque_null, "destroyed"),

    ROWS_SYNC
    ROWS_IO
    ROWS_FILE
    ROWS_TASK
    ROWS_SCOPE
    ROWS_CHAN
    ROWS_ASYNC
    ROWS_BLOCKING
    ROWS_DUMP
    ROWS_REDUCE
    ROWS_PAR
    ROWS_GRAPH
};
enum { ROWS = sizeof table / sizeof *table };

static void check_says(const struct misuse *m, int row, const struct ending *e)
{
    char start[80];
    snprintf(start, sizeof start, "filch: %s: ", m->call ? m->call : m->symbols);
    const char *end = strchr(e->text, '\n');
    CHECK_MSG(aborted(e), "row %d, %s: status %d, it said: %s", row, m->symbols, e->status, e->text);
    CHECK_MSG(!strncmp(e->text, start, strlen(start)), "row %d, %s: it said: %s", row, m->symbols, e->text);
    CHECK_MSG(strstr(e->text, m->hint), "row %d, %s: no \"%s\" in: %s", row, m->symbols, m->hint, e->text);
    CHECK_MSG(end && !end[1], "row %d, %s: more than one line: %s", row, m->symbols, e->text);
}

static void every_misuse_is_reported_or_answered(void)
{
    for (int i = 0; i < ROWS; i++) {
        const struct misuse *m = &table[i];
        if (m->after_free && (WITH_ASAN || WITH_TSAN))
            continue;
        struct ending e = in_child(m->body);
        if (m->hint)
            check_says(m, i, &e);
        else
            CHECK_MSG(e.status == 0 && !e.text[0], "row %d, %s: status %d, it said: %s", i, m->symbols,
                      e.status, e.text);
    }
}

static int in_table(const char *symbol)
{
    size_t n = strlen(symbol);
    for (int i = 0; i < ROWS; i++)
        for (const char *at = table[i].symbols; (at = strstr(at, symbol)); at += n)
            if ((at == table[i].symbols || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
                return 1;
    return 0;
}

static void every_exported_function_is_in_the_table(void)
{
    char path[4096], symbol[128];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s/../api/symbols.txt", slash ? (int)(slash - __FILE__) : 1,
             slash ? __FILE__ : ".");
    FILE *list = fopen(path, "r");
    CHECK_MSG(list, "cannot read %s", path);
    int functions = 0;
    while (fscanf(list, "%127s %*s", symbol) == 1) {
        if (!strncmp(symbol, "filch_layout_", 13) || strncmp(symbol, "filch_", 6) != 0)
            continue; /* a constant; what only passes a call on to the C library */
        functions++;
        CHECK_MSG(in_table(symbol), "%s is exported, but nothing here misuses it", symbol);
    }
    fclose(list);
    CHECK(functions > 40);
}

int main(void)
{
    RUN(every_exported_function_is_in_the_table);
    RUN(every_misuse_is_reported_or_answered);
    return check_report();
}
