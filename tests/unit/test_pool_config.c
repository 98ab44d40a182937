/* test_pool_config.c: jobs on pools of every configuration: each runs exactly once, bad ones are refused. */
#include "pool_kit.h"

/* ---- configurations ------------------------------------------------------------------------ */

static void a_shorter_configuration_of_an_older_caller_is_taken(void)
{
    filch_config c = kit_config(3);
    c.ring_capacity = 3; /* nonsense, but beyond what the caller says it has */
    c.size = offsetof(filch_config, stack_size);
    filch_pool *pool;
    CHECK_EQ(filch_pool_create(&pool, &c), 0);
    kit_destroy(pool);
    c.size = sizeof(size_t);
    CHECK_EQ(filch_pool_create(&pool, &c), 0);
    kit_destroy(pool);
}

static void no_configuration_is_the_default_one(void)
{
    filch_pool *pool;
    struct cell c;
    CHECK_EQ(filch_pool_create(&pool, NULL), 0);
    CHECK(filch_pool_workers(pool) >= 1);
    cells_submit(pool, &c, 1, FILCH_ANYWHERE);
    kit_destroy(pool);
    cells_check(&c, 1);
}

static void refused(filch_config c)
{
    filch_pool *pool = (filch_pool *)&c;
    CHECK_EQ(filch_pool_create(&pool, &c), -EINVAL);
    CHECK(pool == NULL);
}

#define REFUSED(field, value)                                                                     \
    do {                                                                                          \
        filch_config bad = kit_config(2);                                                         \
        bad.field = (value);                                                                      \
        refused(bad);                                                                             \
    } while (0)

static void bad_configurations_are_refused(void)
{
    REFUSED(size, 0);
    REFUSED(size, sizeof(size_t) - 1);
    REFUSED(size, sizeof(filch_config) + 1);
    REFUSED(workers, -1);
    REFUSED(workers, FILCH_MAX_WORKERS + 1);
    REFUSED(stack_size, 1);
    REFUSED(stack_size, (size_t)1 << 40);
    REFUSED(ring_capacity, 1);
    REFUSED(ring_capacity, 3);
    REFUSED(ring_capacity, 1u << 17);
    REFUSED(backoff_min_ns, -1);
    REFUSED(backoff_max_ns, -1);
}

static void unknown_policies_are_refused(void)
{
    REFUSED(victim, (enum filch_victim)7);
    REFUSED(steal, (enum filch_steal)6);
    REFUSED(ends, (enum filch_ends)4);
    REFUSED(wake, (enum filch_wake)4);
    REFUSED(idle, (enum filch_idle)4);
    REFUSED(join, (enum filch_join_policy)2);
    REFUSED(queue, (enum filch_queue)5);
    REFUSED(run_next, (enum filch_run_next)2);
    REFUSED(backoff_factor, 17);
    REFUSED(backoff_jitter, 101);
    REFUSED(global_every, 1000001);
}

/* ---- every queue, every pair of ends, every share ------------------------------------------ */

enum { OUTER = 40, INNER = 6 };

struct parent {
    struct cell own;
    struct cell child[INNER];
};

static void parent_run(void *arg)
{
    struct parent *p = arg;
    filch_add_relaxed(&p->own.runs, 1u); /* order: a count */
    cells_submit(filch_pool_current(), p->child, INNER / 2, FILCH_ANYWHERE);
    cells_submit(filch_pool_current(), p->child + INNER / 2, INNER / 2, FILCH_ROUND_ROBIN);
}

static void run_family(const filch_config *config)
{
    static struct parent p[OUTER];
    filch_pool *pool = kit_make(config);
    for (int i = 0; i < OUTER; i++) {
        cell_init(&p[i].own);
        filch_job_init(&p[i].own.job, parent_run, &p[i]);
        CHECK_EQ(filch_submit_on(pool, &p[i].own.job, i % 6 - 3), 0);
    }
    kit_drain_and_destroy(pool);
    for (int i = 0; i < OUTER; i++) {
        cells_check(&p[i].own, 1);
        cells_check(p[i].child, INNER);
    }
}

static void run_families(enum filch_queue queue)
{
    static const unsigned capacity[] = {2, 4, 256};
    filch_config c = kit_config(4);
    c.queue = queue;
    for (int ends = FILCH_ENDS_FIFO; ends <= FILCH_ENDS_REVERSE; ends++)
        for (int steal = FILCH_STEAL_HALF; steal <= FILCH_STEAL_FLOOR; steal++)
            for (int i = 0; i < 3; i++) {
                c.ends = (enum filch_ends)ends;
                c.steal = (enum filch_steal)steal;
                c.ring_capacity = capacity[i];
                run_family(&c);
            }
}

static void ring_queues_run_everything_once_with_any_ends_share_and_capacity(void)
{
    run_families(FILCH_QUEUE_RING);
}
static void a_shared_queue_runs_everything_once_with_any_ends_share_and_capacity(void)
{
    run_families(FILCH_QUEUE_SHARED);
}
static void private_queues_run_everything_once_with_any_ends_share_and_capacity(void)
{
    run_families(FILCH_QUEUE_PRIVATE);
}
static void locked_queues_run_everything_once_with_any_ends_share_and_capacity(void)
{
    run_families(FILCH_QUEUE_LOCKED);
}
static void trylock_queues_run_everything_once_with_any_ends_share_and_capacity(void)
{
    run_families(FILCH_QUEUE_TRYLOCK);
}

static void every_victim_policy_runs_everything_once(void)
{
    filch_config c = kit_config(4);
    for (int victim = FILCH_VICTIM_RANDOM; victim <= FILCH_VICTIM_LAST; victim++)
        for (unsigned attempts = 0; attempts < 3; attempts++) {
            c.victim = (enum filch_victim)victim;
            c.steal_attempts = attempts;
            c.ring_capacity = 4;
            run_family(&c);
        }
}

/* ---- what a guest leaves behind ------------------------------------------------------------ */

/* A guest that got what it waited for leaves; jobs that are then in its seat's queue must run
 * though nobody waits for them. Batches from the injector and jobs that submit put them there. */
static void submit_and_leave(void *arg)
{
    cells_submit(filch_pool_current(), arg, 3, FILCH_ANYWHERE);
}

static void leave_jobs_in_the_seat(const filch_config *config)
{
    for (int round = 0; round < 50; round++) {
        struct cell c[3];
        filch_pool *pool = kit_make(config);
        filch_run_on(pool, submit_and_leave, c);
        for (int i = 0; i < 3; i++)
            KIT_AWAIT(kit_raised(&c[i].runs)); /* without helping */
        kit_destroy(pool);
        cells_check(c, 3);
    }
}

static void jobs_left_by_a_guest_run_without_a_guest(void)
{
    filch_config c = kit_config(4);
    leave_jobs_in_the_seat(&c);
    c.workers = 1;
    leave_jobs_in_the_seat(&c);
}

static void jobs_left_by_a_guest_run_though_thieves_leave_single_jobs_alone(void)
{
    filch_config c = kit_config(4);
    c.steal = FILCH_STEAL_FLOOR;
    leave_jobs_in_the_seat(&c);
}

static void jobs_left_by_a_guest_run_though_queues_are_private(void)
{
    filch_config c = kit_config(4);
    c.queue = FILCH_QUEUE_PRIVATE;
    leave_jobs_in_the_seat(&c);
}

int main(void)
{
    kit_watchdog();
    RUN(a_shorter_configuration_of_an_older_caller_is_taken);
    RUN(no_configuration_is_the_default_one);
    RUN(bad_configurations_are_refused);
    RUN(unknown_policies_are_refused);
    RUN(ring_queues_run_everything_once_with_any_ends_share_and_capacity);
    RUN(a_shared_queue_runs_everything_once_with_any_ends_share_and_capacity);
    RUN(private_queues_run_everything_once_with_any_ends_share_and_capacity);
    RUN(locked_queues_run_everything_once_with_any_ends_share_and_capacity);
    RUN(trylock_queues_run_everything_once_with_any_ends_share_and_capacity);
    RUN(every_victim_policy_runs_everything_once);
    RUN(jobs_left_by_a_guest_run_without_a_guest);
    RUN(jobs_left_by_a_guest_run_though_thieves_leave_single_jobs_alone);
    RUN(jobs_left_by_a_guest_run_though_queues_are_private);
    return check_report();
}
