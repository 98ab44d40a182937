/* test_exactly_once.c: millions of jobs (how many: its argument), each accounted for: it ran once in each
 * round in which it was accepted, and not at all when it was refused. Tiny and normal queues, 1 to 16
 * workers, from outside in arrays, from jobs, to chosen workers, and with a shutdown in the middle. */
#include "pool_kit.h"

enum { UNITS = KIT_SLOW ? 1 << 13 : 1 << 15, FAN = 63 };

struct unit {
    filch_job job;
    uint32_t runs;
    uint32_t accepted;
};

/* Jobs and their counts apart, as arrays of jobs are submitted as they are. */
static filch_job jobs[UNITS];
static uint32_t runs[UNITS];
static uint64_t accounted;

static const unsigned capacities[] = {2, 4, 256};
static const int worker_counts[] = {1, 2, 4, 16};
enum { CAPACITIES = 3, COUNTS = 4, COMBINATIONS = CAPACITIES * COUNTS };

static size_t total_jobs = KIT_SLOW ? 200000 : 3000000;

static filch_pool *make_pool(unsigned capacity, int workers)
{
    filch_config c = kit_config(workers);
    c.ring_capacity = capacity;
    return kit_make(&c);
}

static void unit_run(void *count)
{
    filch_add_relaxed((uint32_t *)count, 1u); /* order: a count, read after the wait */
}

/* Every job of the round ran once; then the counts start anew. */
static void account(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CHECK_MSG(runs[i] == 1, "job %zu ran %u times", i, runs[i]);
        runs[i] = 0;
    }
    accounted += n;
    kit_beat();
}

static void drain(filch_pool *pool)
{
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
}

/* ---- three ways in ------------------------------------------------------------------------- */

static void round_of_arrays(filch_pool *pool, struct rng *rng)
{
    size_t next = 0;
    for (size_t i = 0; i < UNITS; i++)
        filch_job_init(&jobs[i], unit_run, &runs[i]);
    while (next < UNITS) {
        size_t n = 1 + rng_below(rng, 1000);
        n = n < UNITS - next ? n : UNITS - next;
        CHECK_EQ(filch_submit_array_on(pool, jobs + next, n, FILCH_ANYWHERE), (int)n);
        next += n;
    }
    drain(pool);
    account(UNITS);
}

static void round_to_chosen_workers(filch_pool *pool, struct rng *rng)
{
    for (size_t i = 0; i < UNITS; i++) {
        int where = i % 4 == 0 ? FILCH_RANDOM : i % 4 == 1 ? FILCH_ROUND_ROBIN
                                                           : (int)rng_below(rng, 1000);
        filch_job_init(&jobs[i], unit_run, &runs[i]);
        CHECK_EQ(filch_submit_on(pool, &jobs[i], where), 0);
    }
    drain(pool);
    account(UNITS);
}

/* Unit i is the first of a family: it submits the others. */
static void family_run(void *count)
{
    size_t first = (size_t)((uint32_t *)count - runs);
    unit_run(count);
    for (size_t i = first + 1; i <= first + FAN && i < UNITS; i++) {
        filch_job_init(&jobs[i], unit_run, &runs[i]);
        CHECK_EQ(filch_submit(&jobs[i], i % 8 ? FILCH_ANYWHERE : FILCH_RANDOM), 0);
    }
}

static void round_from_jobs(filch_pool *pool, struct rng *rng)
{
    (void)rng;
    for (size_t i = 0; i < UNITS; i += FAN + 1) {
        filch_job_init(&jobs[i], family_run, &runs[i]);
        CHECK_EQ(filch_submit_on(pool, &jobs[i], FILCH_ANYWHERE), 0);
    }
    drain(pool);
    account(UNITS);
}

static void rounds(void (*round)(filch_pool *, struct rng *))
{
    struct rng rng;
    rng_seed(&rng, 11);
    uint64_t share = total_jobs / 3 / COMBINATIONS + 1;
    for (int c = 0; c < CAPACITIES; c++)
        for (int w = 0; w < COUNTS; w++) {
            filch_pool *pool = make_pool(capacities[c], worker_counts[w]);
            for (uint64_t until = accounted + share; accounted < until;)
                round(pool, &rng);
            kit_destroy(pool);
        }
}

static void arrays_from_outside_run_exactly_once(void)
{
    rounds(round_of_arrays);
}
static void jobs_for_chosen_workers_run_exactly_once(void)
{
    rounds(round_to_chosen_workers);
}
static void jobs_from_jobs_run_exactly_once(void)
{
    rounds(round_from_jobs);
}

/* ---- shutdown in the middle ---------------------------------------------------------------- */

enum { SUBMITTERS = 2, SHARE = 4000 };

static struct unit units[SUBMITTERS][SHARE][2]; /* each may bring a child */

struct submitter {
    filch_pool *pool;
    int index;
};

static void offer(filch_pool *pool, struct unit *u, void (*fn)(void *), int where)
{
    filch_job_init(&u->job, fn, u);
    /* Written after the job may have run: by this thread alone, read after the end. */
    u->accepted = filch_submit_on(pool, &u->job, where) == 0;
}

static void child_run(void *arg)
{
    unit_run(&((struct unit *)arg)->runs);
}

static void parent_run(void *arg)
{
    struct unit *u = arg;
    unit_run(&u->runs);
    offer(filch_pool_current(), u + 1, child_run, FILCH_ANYWHERE);
}

static void *submit_until_refused(void *arg)
{
    struct submitter *s = arg;
    for (int i = 0; i < SHARE; i++) {
        struct unit *u = units[s->index][i];
        offer(s->pool, u, parent_run, i % 6 - 3);
        if (!u->accepted)
            break;
    }
    return NULL;
}

static uint64_t account_units(void)
{
    uint64_t n = 0;
    for (int s = 0; s < SUBMITTERS; s++)
        for (int i = 0; i < SHARE; i++)
            for (int k = 0; k < 2; k++) {
                struct unit *u = &units[s][i][k];
                CHECK_MSG(u->runs == u->accepted, "job %d of %d: accepted %u, ran %u times", i, s,
                          u->accepted, u->runs);
                n += u->runs;
                *u = (struct unit){.runs = 0};
            }
    return n;
}

static void shut_down_in_the_middle(unsigned capacity, int workers, int64_t after_us)
{
    pthread_t t[SUBMITTERS];
    struct submitter s[SUBMITTERS];
    filch_pool *pool = make_pool(capacity, workers);
    for (int i = 0; i < SUBMITTERS; i++) {
        s[i] = (struct submitter){pool, i};
        CHECK_EQ(pthread_create(&t[i], NULL, submit_until_refused, &s[i]), 0);
    }
    kit_nap_us(after_us);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    for (int i = 0; i < SUBMITTERS; i++)
        pthread_join(t[i], NULL);
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_NOW), 0);
    kit_destroy(pool);
    accounted += account_units();
}

static void accepted_jobs_run_and_refused_ones_do_not_across_a_shutdown(void)
{
    int turns = KIT_SLOW ? 2 : 20;
    for (int turn = 0; turn < turns; turn++)
        for (int c = 0; c < CAPACITIES; c++)
            for (int w = 0; w < COUNTS; w++)
                shut_down_in_the_middle(capacities[c], worker_counts[w], turn % 20 * 50);
}

int main(int count, char **arguments)
{
    if (count > 1)
        total_jobs = (size_t)strtoull(arguments[1], NULL, 10);
    CHECK(total_jobs > 0);
    kit_watchdog();
    RUN(arrays_from_outside_run_exactly_once);
    RUN(jobs_for_chosen_workers_run_exactly_once);
    RUN(jobs_from_jobs_run_exactly_once);
    RUN(accepted_jobs_run_and_refused_ones_do_not_across_a_shutdown);
    printf("%llu jobs accounted for\n", (unsigned long long)accounted);
    CHECK(accounted >= total_jobs);
    return check_report();
}
