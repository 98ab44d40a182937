/* parallel.h: parallel algorithms, for scenarios.c. A call gives what it should, or -ENOMEM. */
#ifndef FILCH_TESTS_PARALLEL_H
#define FILCH_TESTS_PARALLEL_H

#include "work.h"

#include <filch/par.h>

enum { SPANS = 48 };

/* A state too large for a stack: what it has is known by its ends. */
struct span {
    size_t lo, hi, holes;
    char large[3000];
};

static void span_join(struct span *left, size_t lo, size_t hi)
{
    left->holes += left->hi != 0 && left->hi != lo; /* what was left out, if it failed */
    if (left->hi == 0)
        left->lo = lo;
    left->hi = hi;
}

static void span_fold(void *state, size_t lo, size_t hi, void *scanned)
{
    (void)scanned;
    FOR_SOME_NS(20000, 0); /* time for a thief */
    span_join(state, lo, hi);
}

static void span_scan(void *state, size_t lo, size_t hi, void *scanned)
{
    span_fold(state, lo, hi, scanned);
    for (size_t i = lo; i < hi; i++)
        filch_add_acq_rel((uint32_t *)scanned + i, 1u);
    CHECK(((struct span *)state)->lo == 1 && ((struct span *)state)->holes == 0);
}

static void span_combine(void *state, const void *right, void *scanned)
{
    const struct span *r = right;
    (void)scanned;
    if (r->hi > 0)
        span_join(state, r->lo, r->hi);
    ((struct span *)state)->holes += r->holes;
}

static void reduces_spans(filch_pool *pool, int fixed)
{
    static const filch_reducer spans = {sizeof(struct span), 0, span_fold, span_combine};
    filch_how how = FILCH_HOW_INIT;
    struct span sum;
    how.pool = pool;
    how.grain = 1;
    int rc = fixed ? filch_reduce_fixed_with(&how, &spans, &sum, 1, SPANS, 0)
                   : filch_reduce_with(&how, &spans, &sum, 1, SPANS, 0);
    CHECK(rc == 0 || rc == -ENOMEM);
    if (rc == 0)
        CHECK(sum.lo == 1 && sum.hi == SPANS && sum.holes == 0);
}

static void scans_spans(filch_pool *pool)
{
    static const filch_scanner spans = {sizeof(struct span), 0, span_fold, span_scan, span_combine};
    uint32_t scanned[SPANS] = {0};
    filch_how how = FILCH_HOW_INIT;
    struct span sum;
    how.pool = pool;
    how.grain = 1;
    int rc = filch_scan_with(&how, &spans, &sum, 1, SPANS, scanned);
    CHECK(rc == 0 || rc == -ENOMEM);
    if (rc == 0)
        CHECK(sum.lo == 1 && sum.hi == SPANS && sum.holes == 0);
    for (size_t i = 1; i < SPANS; i++)
        CHECK(scanned[i] == 1 || (scanned[i] == 0 && rc));
}

static int sums(void *arg)
{
    static int32_t v[5000], to[5000];
    (void)arg;
    for (int i = 0; i < 5000; i++)
        v[i] = i;
    CHECK_EQ(filch_sum(v, 5000), 12497500); /* whatever fails */
    CHECK_EQ(filch_max(v, 5000), 4999);
    int rc = filch_scan_sum(to, v, 5000);
    CHECK(rc == 0 ? to[4999] == 12497500 : rc == -ENOMEM);
    return 0;
}

static void reduced(void)
{
    filch_config c = config_of(3);
    filch_pool *pool = make(&c);
    if (!pool)
        return;
    reduces_spans(pool, 0);
    reduces_spans(pool, 1);
    filch_pool_destroy(pool);
}

static void scanned(void)
{
    filch_config c = config_of(3);
    filch_pool *pool = make(&c);
    filch_task *t;
    if (!pool)
        return;
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = pool;
    scans_spans(pool);
    int rc = filch_spawn_with(&t, &attr, sums, NULL);
    CHECK(rc == 0 || rc == -ENOMEM);
    if (rc == 0)
        CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
    filch_pool_destroy(pool);
}

/* ---- what needs a copy ------------------------------------------------------------------------ */

enum { ITEMS = 3000 };
struct record {
    int32_t key, place;
};

static int by_record(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static uint64_t record_key(const void *element, void *arg)
{
    (void)arg;
    return (uint64_t)((const struct record *)element)->key;
}

static void fill_records(struct record *r)
{
    for (int32_t i = 0; i < ITEMS; i++)
        r[i] = (struct record){(i * 7919) % 101, i};
}

static void check_records(const struct record *r)
{
    for (int i = 1; i < ITEMS; i++)
        CHECK(r[i - 1].key < r[i].key || (r[i - 1].key == r[i].key && r[i - 1].place < r[i].place));
}

static int is_odd(const void *element, void *arg)
{
    (void)arg;
    return *(const int32_t *)element & 1;
}

static int sorts(void *arg)
{
    static struct record r[ITEMS];
    static int32_t v[ITEMS], to[ITEMS];
    size_t kept = 0;
    (void)arg;
    fill_records(r);
    CHECK_EQ(filch_sort_stable(r, ITEMS, sizeof *r, by_record), 0); /* without memory, in place */
    check_records(r);
    fill_records(r);
    int rc = filch_sort_by_key(r, ITEMS, sizeof *r, record_key, NULL);
    CHECK(rc == 0 || rc == -ENOMEM);
    if (rc == 0)
        check_records(r);
    for (int32_t i = 0; i < ITEMS; i++)
        v[i] = ITEMS - i;
    CHECK_EQ(filch_sort_i32(v, ITEMS), 0);
    for (int32_t i = 0; i < ITEMS; i++)
        CHECK_EQ(v[i], i + 1);
    CHECK_EQ(filch_pack(to, v, ITEMS, sizeof *v, is_odd, NULL, &kept), 0);
    CHECK_EQ(kept, ITEMS / 2);
    rc = filch_partition(v, ITEMS, sizeof *v, is_odd, NULL, &kept);
    CHECK(rc == -ENOMEM ? v[1] == 2 : rc == 0 && v[1] == 3);
    return 0;
}

/* So many that tables are counted by several, buckets parted and pages asked for. */
enum { LOTS = 70000, MORE = 8 * LOTS };

static int sorts_many(void *arg)
{
    static struct record r[LOTS];
    static uint16_t words[LOTS];
    static uint8_t bytes[LOTS];
    static double numbers[MORE];
    bool good = true;
    (void)arg;
    for (uint32_t i = 0; i < LOTS; i++) {
        words[i] = (uint16_t)(i * 40503u);
        bytes[i] = (uint8_t)(i * 2654435761u >> 24);
        r[i] = (struct record){(int32_t)(i * 2654435761u >> 1), 0};
    }
    for (uint32_t i = 0; i < MORE; i++)
        numbers[i] = -(double)i;
    CHECK_EQ(filch_sort_u16(words, LOTS), 0);
    CHECK_EQ(filch_sort_u8(bytes, LOTS), 0);
    CHECK_EQ(filch_sort_f64(numbers, MORE), 0);
    int rc = filch_sort_by_key(r, LOTS, sizeof *r, record_key, NULL);
    CHECK(rc == 0 || rc == -ENOMEM);
    for (uint32_t i = 1; i < LOTS; i++)
        good = good && words[i - 1] <= words[i] && bytes[i - 1] <= bytes[i] && numbers[i - 1] <= numbers[i] &&
               (rc || r[i - 1].key <= r[i].key);
    CHECK(good);
    return 0;
}

static void in_a_task(int (*fn)(void *))
{
    filch_config c = config_of(2);
    filch_pool *pool = make(&c);
    filch_task *t;
    if (!pool)
        return;
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = pool;
    int rc = filch_spawn_with(&t, &attr, fn, NULL);
    CHECK(rc == 0 || rc == -ENOMEM);
    if (rc == 0)
        CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
    filch_pool_destroy(pool);
}

static void sorted(void)
{
    in_a_task(sorts);
}

static void sorted_many(void)
{
    in_a_task(sorts_many);
}

#endif
