/* test_stats.c: the counters are oracles: at rest their sums must agree with what was submitted. */
#include "pool_kit.h"

static uint64_t total(filch_pool *pool, const char *name)
{
    CHECK(filch_stats_index(name) >= 0);
    return filch_stats_total(pool, name);
}

static void every_counter_has_a_name_of_its_own_and_a_text(void)
{
    int n = filch_stats_count();
    CHECK(n > 0 && n <= FILCH_STATS_MAX);
    for (int i = 0; i < n; i++) {
        CHECK(filch_stats_name(i) && filch_stats_name(i)[0]);
        CHECK(filch_stats_text(i) && filch_stats_text(i)[0]);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(filch_stats_name(i), filch_stats_name(j)) != 0);
    }
}

static void a_name_leads_back_to_its_counter(void)
{
    for (int i = 0; i < filch_stats_count(); i++)
        CHECK_EQ(filch_stats_index(filch_stats_name(i)), i);
}

static void what_does_not_exist_is_null_or_minus_one(void)
{
    CHECK(filch_stats_name(-1) == NULL);
    CHECK(filch_stats_name(filch_stats_count()) == NULL);
    CHECK(filch_stats_text(-1) == NULL);
    CHECK(filch_stats_text(filch_stats_count()) == NULL);
    CHECK_EQ(filch_stats_index("no such counter"), -1);
    CHECK_EQ(filch_stats_index(""), -1);
    CHECK_EQ(filch_stats_index(NULL), -1);
}

static void only_as_many_workers_as_there_is_room_for_are_copied(void)
{
    filch_worker_stats s[4];
    memset(s, 0xab, sizeof s);
    filch_pool *pool = kit_pool(4);
    CHECK_EQ(filch_stats(pool, s, 2), 4);
    CHECK_EQ(s[1].value[0], 0);
    CHECK_EQ(s[2].value[0], 0xabababababababab);
    CHECK_EQ(filch_stats(pool, NULL, 0), 4);
    CHECK_EQ(filch_stats(pool, s, 4), 4);
    for (int e = 0; e < FILCH_STATS_MAX; e++)
        CHECK_EQ(s[3].value[e], 0);
    kit_destroy(pool);
}

/* ---- sums ---------------------------------------------------------------------------------- */

enum { OUTER = 300, INNER = 5 };

struct family {
    filch_job job;
    struct cell child[INNER];
};
static struct family families[OUTER];

static void family_run(void *arg)
{
    struct family *f = arg;
    for (int i = 0; i < INNER; i++) {
        cell_init(&f->child[i]);
        CHECK_EQ(filch_submit(&f->child[i].job, i - 3), 0); /* random, round robin, own, 0, 1 */
    }
}

static void run_families(filch_pool *pool)
{
    for (int i = 0; i < OUTER; i++) {
        filch_job_init(&families[i].job, family_run, &families[i]);
        CHECK_EQ(filch_submit_on(pool, &families[i].job, i % 7 - 3), 0);
    }
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    for (int i = 0; i < OUTER; i++)
        cells_check(families[i].child, INNER);
}

static void check_attempts(filch_pool *pool)
{
    /* In this order: a scout may still look around, and counts the attempt before its outcome. */
    uint64_t batches = total(pool, "batches"), failed = total(pool, "failed");
    uint64_t stolen = total(pool, "stolen"), tries = total(pool, "attempts");
    CHECK(batches <= stolen);
    CHECK(failed + batches <= tries);
}

static void jobs_executed_are_jobs_accepted(void)
{
    for (int workers = 1; workers <= 8; workers *= 2) {
        filch_pool *pool = kit_pool(workers);
        for (int round = 1; round <= 5; round++) {
            run_families(pool);
            CHECK_EQ(total(pool, "executed"), round * OUTER * (1 + INNER));
            check_attempts(pool);
        }
        CHECK_EQ(total(pool, "forked"), 0);
        kit_destroy(pool);
    }
}

/* Each accepted job enters by exactly one door; what overflows enters the injector once more. */
static void each_job_came_in_by_one_door(void)
{
    static const unsigned capacity[] = {2, 8, 256};
    for (int ends = FILCH_ENDS_FIFO; ends <= FILCH_ENDS_LIFO; ends++)
        for (int i = 0; i < 3; i++) {
            filch_config c = kit_config(4);
            c.ring_capacity = capacity[i];
            c.ends = (enum filch_ends)ends;
            filch_pool *pool = kit_make(&c);
            run_families(pool);
            CHECK_EQ(total(pool, "submitted") + total(pool, "inbox") + total(pool, "injected"),
                     OUTER * (1 + INNER) + total(pool, "overflow"));
            kit_destroy(pool);
        }
}

static void a_root_is_executed_once(void)
{
    struct cell c;
    filch_pool *pool = kit_pool(2);
    cell_init(&c);
    filch_run_on(pool, cell_run, &c);
    cells_check(&c, 1);
    CHECK_EQ(total(pool, "executed"), 1);
    kit_destroy(pool);
}

static void nothing_is_stolen_by_a_worker_that_is_alone(void)
{
    filch_pool *pool = kit_pool(1);
    run_families(pool);
    CHECK_EQ(total(pool, "stolen"), 0);
    CHECK_EQ(total(pool, "attempts"), 0);
    kit_destroy(pool);
}

static uint64_t sum_of(const filch_worker_stats *s, int workers, int counter)
{
    uint64_t sum = 0;
    for (int i = 0; i < workers; i++)
        sum += s[i].value[counter];
    return sum;
}

static void totals_are_the_sums_over_the_workers(void)
{
    filch_worker_stats before[4], after[4];
    uint64_t totals[FILCH_STATS_MAX];
    filch_pool *pool = kit_pool(4);
    run_families(pool);
    CHECK_EQ(filch_stats(pool, before, 4), 4);
    for (int e = 0; e < filch_stats_count(); e++)
        totals[e] = total(pool, filch_stats_name(e));
    CHECK_EQ(filch_stats(pool, after, 4), 4);
    for (int e = 0; e < filch_stats_count(); e++) {
        CHECK(sum_of(before, 4, e) <= totals[e]);
        CHECK(totals[e] <= sum_of(after, 4, e));
    }
    CHECK_EQ(sum_of(before, 4, filch_stats_index("executed")), OUTER * (1 + INNER));
    kit_destroy(pool);
}

struct sampler {
    filch_pool *pool;
    uint32_t stop;
};

static void *sample(void *arg)
{
    struct sampler *s = arg;
    filch_worker_stats last[4], now[4];
    memset(last, 0, sizeof last);
    while (!kit_raised(&s->stop)) {
        CHECK_EQ(filch_stats(s->pool, now, 4), 4);
        for (int i = 0; i < 4; i++)
            for (int e = 0; e < filch_stats_count(); e++)
                CHECK(now[i].value[e] >= last[i].value[e]);
        memcpy(last, now, sizeof last);
    }
    return NULL;
}

static void counters_only_grow_while_others_look(void)
{
    pthread_t t;
    struct sampler s = {.pool = kit_pool(4)};
    CHECK_EQ(pthread_create(&t, NULL, sample, &s), 0);
    for (int round = 0; round < 30; round++)
        run_families(s.pool);
    kit_raise(&s.stop);
    pthread_join(t, NULL);
    kit_destroy(s.pool);
}

struct waiting {
    filch_job job;
    struct cell inner;
};

static void wait_inside(void *arg)
{
    struct waiting *w = arg;
    cell_init(&w->inner);
    CHECK_EQ(filch_submit(&w->inner.job, FILCH_ANYWHERE), 0);
    CHECK_EQ(filch_job_wait(&w->inner.job, FILCH_FOREVER), 0);
}

static void a_job_that_waits_on_the_only_worker_is_counted_as_waiting_and_resumed(void)
{
    struct waiting w;
    filch_pool *pool = kit_pool(1);
    filch_job_init(&w.job, wait_inside, &w);
    CHECK_EQ(filch_submit_on(pool, &w.job, 0), 0);
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    cells_check(&w.inner, 1);
    CHECK_EQ(total(pool, "waits"), 1);
    CHECK_EQ(total(pool, "resumed"), 1);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(every_counter_has_a_name_of_its_own_and_a_text);
    RUN(a_name_leads_back_to_its_counter);
    RUN(what_does_not_exist_is_null_or_minus_one);
    RUN(only_as_many_workers_as_there_is_room_for_are_copied);
    RUN(jobs_executed_are_jobs_accepted);
    RUN(each_job_came_in_by_one_door);
    RUN(a_root_is_executed_once);
    RUN(nothing_is_stolen_by_a_worker_that_is_alone);
    RUN(totals_are_the_sums_over_the_workers);
    RUN(counters_only_grow_while_others_look);
    RUN(a_job_that_waits_on_the_only_worker_is_counted_as_waiting_and_resumed);
    return check_report();
}
