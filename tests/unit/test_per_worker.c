/* test_per_worker.c: a value for each worker. */
#include "par_kit.h"

#include <filch/sync.h>

static filch_per_worker *values;
static uint64_t made, unmade;

struct value {
    uint64_t count; /* plain: its worker's alone */
    int worker;
    char rest[100];
};

static int worker_here(void)
{
    return filch_pool_current() == pool ? filch_worker_id() : -1;
}

static void make(void *p, void *arg)
{
    struct value *v = p;
    CHECK(arg == &values);
    CHECK_EQ((uintptr_t)p % 64, 0);
    CHECK_EQ(v->count, 0);
    v->worker = worker_here();
    par_add(&made, 1);
    if (v->worker < 0)
        kit_nap_us(200); /* the others come meanwhile */
}

static void unmake(void *p, void *arg)
{
    CHECK(p && arg == &values);
    par_add(&unmade, 1);
}

static void create(void)
{
    par_set(&made, 0), par_set(&unmade, 0);
    CHECK_EQ(filch_per_worker_create(&values, pool, sizeof(struct value), make, unmake, &values), 0);
}

static void destroy(void)
{
    filch_per_worker_destroy(values);
    CHECK_EQ(par_get(&made), par_get(&unmade));
}

/* ---- sums ----------------------------------------------------------------------------------- */

static int count(size_t lo, size_t hi, void *unused)
{
    (void)unused;
    struct value *v = filch_per_worker_get(values);
    CHECK(v && v == filch_per_worker_get(values));
    CHECK_EQ(v->worker, worker_here());
    v->count += hi - lo;
    return 0;
}

struct sum {
    uint64_t total, values;
    int last;
};

static void add_value(void *p, void *arg)
{
    struct value *v = p;
    struct sum *s = arg;
    s->total += v->count;
    s->values++;
    if (v->worker >= 0) { /* in order, those outside last */
        CHECK(s->last < v->worker);
        s->last = v->worker;
    } else {
        s->last = INT32_MAX;
    }
}

static struct sum add_up(void)
{
    struct sum s = {0, 0, -1};
    filch_per_worker_each(values, add_value, &s);
    CHECK_EQ(s.values, par_get(&made));
    CHECK(s.values <= (uint64_t)filch_pool_workers(pool) + 1);
    return s;
}

static void sum(void)
{
    filch_how how = how_here();
    create();
    CHECK_EQ(add_up().values, 0);
    for (size_t i = 1; i <= 20; i++) {
        CHECK_EQ(filch_for_with(&how, 0, 1000, count, NULL), 0);
        CHECK_EQ(add_up().total, 1000 * i);
    }
    destroy();
}

static void workers_count_for_themselves(void)
{
    everywhere(sum);
}

static int count_and_sleep(size_t lo, size_t hi, void *unused)
{
    for (size_t i = lo; i < hi; i++) {
        CHECK_EQ(filch_sleep_ns(1000), 0);
        count(i, i + 1, unused); /* of the worker that it is on by now */
    }
    return 0;
}

static void sum_sleeping(void)
{
    filch_how how = how_here();
    create();
    CHECK_EQ(filch_for_with(&how, 0, 100, count_and_sleep, NULL), 0);
    CHECK_EQ(add_up().total, 100);
    destroy();
}

static void after_a_wait_the_value_is_that_of_the_worker_it_is_on(void)
{
    everywhere(sum_sleeping);
}

/* ---- outside -------------------------------------------------------------------------------- */

static void *get_outside(void *out)
{
    *(void **)out = filch_per_worker_get(values);
    return NULL;
}

static void share(void)
{
    enum { THREADS = 8 };
    pthread_t t[THREADS];
    void *got[THREADS];
    create();
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&t[i], NULL, get_outside, &got[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK(got[i] && got[i] == got[0]);
    CHECK_EQ(par_get(&made), 1);
    CHECK_EQ(((struct value *)got[0])->worker, -1);
    destroy();
}

static void many_share(void)
{
    for (int round = 0; round < 30; round++)
        share();
}

static void threads_outside_share_one_that_is_made_once(void)
{
    on_pool(2, FILCH_JOIN_SUSPEND, many_share);
}

static filch_pool *first_pool;
static void *from_other;

static void get_from_other(void)
{
    from_other = filch_per_worker_get(values);
}

static void two_pools(void)
{
    void *outside;
    first_pool = pool;
    create();
    (void)get_outside(&outside);
    pool = kit_pool(2);
    in_job(get_from_other);
    CHECK(from_other && from_other == outside); /* a worker, but not one of this pool */
    kit_destroy(pool);
    pool = first_pool;
    in_job(get_from_other);
    CHECK(from_other && from_other != outside);
    destroy();
}

static void a_worker_of_another_pool_is_outside(void)
{
    on_pool(2, FILCH_JOIN_SUSPEND, two_pools);
}

/* ---- making --------------------------------------------------------------------------------- */

static void make_slowly(void *p, void *arg)
{
    make(p, arg);
    filch_yield(); /* others of the same worker ask meanwhile */
    CHECK_EQ(filch_sleep_ns(1000), 0);
    ((struct value *)p)->worker = 77;
}

static int get_slow(void *unused)
{
    (void)unused;
    struct value *v = filch_per_worker_get(values);
    CHECK_EQ(v->worker, 77); /* complete, whoever made it */
    par_add(&v->count, 1);
    return 0;
}

static void count_slow(void *p, void *total)
{
    *(uint64_t *)total += par_get(&((struct value *)p)->count);
}

static void ask_while_it_is_made(void)
{
    for (int round = 0; round < 10; round++) {
        filch_scope s;
        uint64_t total = 0;
        par_set(&made, 0), par_set(&unmade, 0);
        CHECK_EQ(filch_per_worker_create(&values, pool, sizeof(struct value), make_slowly, unmake, &values),
                 0);
        CHECK_EQ(filch_scope_open_on(&s, pool), 0);
        for (int i = 0; i < 20; i++)
            CHECK_EQ(filch_scope_go(&s, get_slow, NULL), 0);
        CHECK_EQ(filch_scope_close(&s), 0);
        filch_per_worker_each(values, count_slow, &total);
        CHECK_EQ(total, 20);
        uint64_t left = par_get(&made) - par_get(&unmade);
        CHECK(left >= 1 && left <= (uint64_t)filch_pool_workers(pool) + 1);
        destroy();
    }
}

static void making_may_wait(void)
{
    for (int workers = 1; workers <= 4; workers++)
        on_pool(workers, FILCH_JOIN_SUSPEND, ask_while_it_is_made);
}

static int zeroes(size_t lo, size_t hi, void *seen)
{
    unsigned char *v = filch_per_worker_get(values);
    (void)lo, (void)hi;
    CHECK(v);
    if (v[0] == 0) {
        for (size_t i = 0; i < 1000; i++)
            CHECK_EQ(v[i], 0);
        memset(v, 1, 1000);
        par_add(seen, 1);
    }
    return 0;
}

static void without_functions(void)
{
    filch_how how = how_here();
    uint64_t seen = 0;
    CHECK_EQ(filch_per_worker_create(&values, pool, 1000, NULL, NULL, NULL), 0);
    CHECK_EQ(filch_for_with(&how, 0, 1000, zeroes, &seen), 0);
    CHECK(par_get(&seen) >= 1 && par_get(&seen) <= (uint64_t)filch_pool_workers(pool));
    filch_per_worker_destroy(values);
}

static void without_functions_values_are_zeroes(void)
{
    everywhere(without_functions);
}

static void values_outlive_their_pool(void)
{
    pool = kit_pool(2);
    create();
    in_job(get_from_other);
    kit_destroy(pool);
    CHECK_EQ(par_get(&unmade), 0);
    pool = 0;
    destroy();
    CHECK_EQ(par_get(&unmade), 1);
}

static void values_of_the_default_pool(void)
{
    CHECK_EQ(filch_per_worker_create(&values, NULL, 1, NULL, NULL, NULL), 0);
    pool = filch_pool_default();
    in_job(get_from_other);
    void *inside = from_other;
    get_from_other();
    CHECK(inside && from_other && inside != from_other);
    filch_per_worker_destroy(values);
}

static void what_there_cannot_be_is_null(void)
{
    CHECK_EQ(filch_per_worker_create(&values, NULL, PTRDIFF_MAX, NULL, NULL, NULL), 0);
    CHECK(!filch_per_worker_get(values));
    filch_per_worker_destroy(values);
}

int main(void)
{
    kit_watchdog();
    rng_seed(&par_rng, 3);
    RUN(workers_count_for_themselves);
    RUN(after_a_wait_the_value_is_that_of_the_worker_it_is_on);
    RUN(threads_outside_share_one_that_is_made_once);
    RUN(a_worker_of_another_pool_is_outside);
    RUN(making_may_wait);
    RUN(without_functions_values_are_zeroes);
    RUN(values_outlive_their_pool);
    RUN(values_of_the_default_pool);
    if (!KIT_SLOW) /* sanitizers report it */
        RUN(what_there_cannot_be_is_null);
    return check_report();
}
