/* misuse/reduce.h: rows about reductions, scans, searches and plain sums of filch/par.h. */
#include <filch/par.h>

static uint64_t reduced[4];
static filch_scope never_open;
static void folds(void *s, size_t lo, size_t hi, void *a) { (void)a, *(uint64_t *)s += hi - lo; }
static void combines(void *s, const void *r, void *a) { (void)a, *(uint64_t *)s += *(const uint64_t *)r; }
static size_t finds_none(size_t lo, size_t hi, void *arg) { return (void)arg, (void)lo, hi; }
static size_t finds_before(size_t lo, size_t hi, void *arg) { return (void)arg, (void)hi, lo - 1; }
static int test_true(const void *element, void *arg) { return (void)element, (void)arg, 1; }

static filch_reducer good_reducer(void) { return (filch_reducer){8, 0, folds, combines}; }
static filch_scanner good_scanner(void) { return (filch_scanner){8, 0, folds, folds, combines}; }

/* A reducer or scanner with one field that is wrong. */
#define BAD_REDUCER(call, field, name)                                                            \
    static void name(void)                                                                        \
    {                                                                                             \
        filch_reducer r = good_reducer();                                                         \
        r.field = 0;                                                                              \
        (void)call(&r, reduced, 0, 9, 0);                                                         \
    }
#define BAD_SCANNER(field, name)                                                                  \
    static void name(void)                                                                        \
    {                                                                                             \
        filch_scanner s = good_scanner();                                                         \
        s.field = 0;                                                                              \
        (void)filch_scan(&s, reduced, 0, 9, 0);                                                   \
    }
BAD_REDUCER(filch_reduce, state_size, reduce_no_size)
BAD_REDUCER(filch_reduce, fold, reduce_no_fold)
BAD_REDUCER(filch_reduce, combine, reduce_no_combine)
BAD_REDUCER(filch_reduce_fixed, state_size, reduce_fixed_no_size)
BAD_REDUCER(filch_reduce_fixed, fold, reduce_fixed_no_fold)
BAD_SCANNER(state_size, scan_no_size)
BAD_SCANNER(fold, scan_no_fold)
BAD_SCANNER(scan, scan_no_scan)
BAD_SCANNER(combine, scan_no_combine)

/* A filch_how with one field that is wrong. */
#define BAD_HOW(name, field, value, call)                                                         \
    static void name(void)                                                                        \
    {                                                                                             \
        filch_reducer r = good_reducer();                                                         \
        filch_scanner s = good_scanner();                                                         \
        filch_how h = FILCH_HOW_INIT;                                                             \
        h.field = value;                                                                          \
        (void)r, (void)s, (void)call;                                                             \
    }
#define REDUCE_IT filch_reduce_with(&h, &r, reduced, 0, 9, 0)
#define FIXED_IT filch_reduce_fixed_with(&h, &r, reduced, 0, 9, 0)
#define SCAN_IT filch_scan_with(&h, &s, reduced, 0, 9, 0)
#define ANY_IT filch_find_any_with(&h, 0, 9, finds_none, 0, 0)
#define FIRST_IT filch_find_first_with(&h, 0, 9, finds_none, 0, 0)
BAD_HOW(reduce_how_zero, size, 0, REDUCE_IT)
BAD_HOW(reduce_how_large, size, sizeof h + 1, REDUCE_IT)
BAD_HOW(reduce_how_workers, workers, -1, REDUCE_IT)
BAD_HOW(reduce_how_grain, grain, SIZE_MAX, REDUCE_IT)
BAD_HOW(reduce_how_pool, pool, no_pool(), REDUCE_IT)
BAD_HOW(reduce_how_scope, scope, &never_open, REDUCE_IT)
BAD_HOW(reduce_fixed_how_zero, size, 0, FIXED_IT)
BAD_HOW(scan_how_zero, size, 0, SCAN_IT)
BAD_HOW(scan_how_workers, workers, INT_MIN, SCAN_IT)
BAD_HOW(find_any_how_zero, size, 0, ANY_IT)
BAD_HOW(find_first_how_zero, size, 0, FIRST_IT)

static void reduce_null(void) { (void)filch_reduce(0, reduced, 0, 9, 0); }
static void reduce_fixed_null(void) { (void)filch_reduce_fixed(0, reduced, 0, 9, 0); }
static void reduce_no_result(void) { filch_reducer r = good_reducer(); (void)filch_reduce(&r, 0, 0, 9, 0); }
static void reduce_backwards(void)
{
    filch_reducer r = good_reducer();
    (void)filch_reduce(&r, reduced, 9, 8, 0);
}
static void scan_null(void) { (void)filch_scan(0, reduced, 0, 9, 0); }
static void scan_backwards(void)
{
    filch_scanner s = good_scanner();
    (void)filch_scan(&s, reduced, SIZE_MAX, 0, 0);
}
static void reduce_answers(void)
{
    filch_reducer r = good_reducer();
    filch_scanner s = good_scanner();
    reduced[0] = 5;
    CHECK_EQ(filch_reduce_with(0, &r, reduced, SIZE_MAX, SIZE_MAX, 0), 0);
    CHECK_EQ(reduced[0], 0);
    CHECK_EQ(filch_reduce(&r, reduced, 0, SIZE_MAX, 0), 0);
    CHECK(reduced[0] == SIZE_MAX);
    CHECK_EQ(filch_reduce_fixed(&r, reduced, 1, SIZE_MAX, 0), 0);
    CHECK(reduced[0] == SIZE_MAX - 1);
    CHECK_EQ(filch_reduce_fixed_with(0, &r, reduced, 0, 3, 0), 0);
    CHECK_EQ(reduced[0], 3);
    CHECK_EQ(filch_scan(&s, 0, 0, 100, 0), 0);
    CHECK_EQ(filch_scan_with(0, &s, reduced, 7, 7, 0), 0);
    CHECK_EQ(reduced[0], 0);
    s.state_size = SIZE_MAX / 2; /* more than there can be */
    CHECK_EQ(filch_scan(&s, 0, 0, 100, 0), -ENOMEM);
    s.state_size = SIZE_MAX - 5;
    CHECK_EQ(filch_scan(&s, 0, 0, 100, 0), -ENOMEM);
}

static void find_any_null(void) { (void)filch_find_any(0, 9, 0, 0, 0); }
static void find_any_backwards(void) { (void)filch_find_any(9, 0, finds_none, 0, 0); }
static void find_any_outside(void) { (void)filch_find_any(5, 6, finds_before, 0, 0); }
static void find_first_null(void) { (void)filch_find_first(0, 9, 0, 0, 0); }
static void find_first_outside(void) { (void)filch_find_first(5, 6, finds_before, 0, 0); }
static void any_null(void) { (void)filch_any(0, 9, 1, test_true, 0); }
static void any_no_test(void) { (void)filch_any(reduced, 9, 1, 0, 0); }
static void all_no_size(void) { (void)filch_all(reduced, 9, 0, test_true, 0); }
static void all_huge(void) { (void)filch_all(reduced, SIZE_MAX / 2, 3, test_true, 0); }
static void count_no_test(void) { size_t n; (void)filch_count(reduced, 9, 1, 0, 0, &n); }
static void count_no_count(void) { (void)filch_count(reduced, 9, 1, test_true, 0, 0); }
static void first_null(void) { void *where; (void)filch_first(0, 9, 1, test_true, 0, &where); }
static void find_answers(void)
{
    size_t where = 3;
    CHECK_EQ(filch_find_any(0, SIZE_MAX, finds_none, 0, &where), 0);
    CHECK_EQ(filch_find_first(SIZE_MAX, SIZE_MAX, finds_before, 0, &where), 0);
    CHECK_EQ(where, 3);
    CHECK_EQ(filch_all(0, 0, 0, test_true, 0), 1);
    CHECK_EQ(filch_first(0, 0, 0, test_true, 0, 0), 0);
}

#define PLAIN_BODIES_(name, type, wide)                                                           \
    static void sum_null_##name(void) { (void)filch_sum_##name(0, 1); }                           \
    static void min_null_##name(void) { (void)filch_min_##name(0, 1); }                           \
    static void max_null_##name(void) { (void)filch_max_##name(0, SIZE_MAX); }                    \
    static void scan_null_##name(void) { (void)filch_scan_sum_##name(0, (type *)reduced, 1); }    \
    static void scan_before_null_##name(void)                                                     \
    {                                                                                             \
        (void)filch_scan_sum_before_##name((type *)reduced, 0, 1);                                \
    }                                                                                             \
    static void index_any_null_##name(void) { (void)filch_index_any_##name(0, 1, 0); }            \
    static void index_first_null_##name(void) { (void)filch_index_first_##name(0, SIZE_MAX, 0); }
FILCH_PLAIN_TYPES(PLAIN_BODIES_)

#define PLAIN_ROWS_(name, type, wide)                                                             \
    SAYS("filch_sum_" #name, sum_null_##name, "null array"),                                      \
    SAYS("filch_min_" #name, min_null_##name, "null array"),                                      \
    SAYS("filch_max_" #name, max_null_##name, "null array"),                                      \
    SAYS("filch_scan_sum_" #name, scan_null_##name, "null array"),                                \
    SAYS("filch_scan_sum_before_" #name, scan_before_null_##name, "null array"),                  \
    SAYS("filch_index_any_" #name, index_any_null_##name, "null array"),                          \
    SAYS("filch_index_first_" #name, index_first_null_##name, "null array"),

#define ROWS_REDUCE                                                                               \
    SAYS("filch_reduce", reduce_null, "reducer without"),                                         \
    SAYS("filch_reduce", reduce_no_size, "size"),                                                 \
    SAYS("filch_reduce", reduce_no_fold, "fold"),                                                 \
    SAYS("filch_reduce", reduce_no_combine, "combine"),                                           \
    SAYS("filch_reduce", reduce_no_result, "null result"),                                        \
    SAYS("filch_reduce", reduce_backwards, "before it begins"),                                   \
    SAYS("filch_reduce_with", reduce_how_zero, "FILCH_HOW_INIT"),                                 \
    SAYS("filch_reduce_with", reduce_how_large, "FILCH_HOW_INIT"),                                \
    SAYS("filch_reduce_with", reduce_how_workers, "FILCH_HOW_INIT"),                              \
    SAYS("filch_reduce_with", reduce_how_grain, "FILCH_HOW_INIT"),                                \
    SAYS("filch_reduce_with", reduce_how_pool, "not a pool"),                                     \
    SAYS_AS("filch_reduce_with", "filch_scope_canceled", reduce_how_scope, "not an open scope"),  \
    SAYS("filch_reduce_fixed", reduce_fixed_null, "reducer without"),                             \
    SAYS("filch_reduce_fixed", reduce_fixed_no_size, "size"),                                     \
    SAYS("filch_reduce_fixed", reduce_fixed_no_fold, "fold"),                                     \
    SAYS("filch_reduce_fixed_with", reduce_fixed_how_zero, "FILCH_HOW_INIT"),                     \
    SAYS("filch_scan", scan_null, "scanner without"),                                             \
    SAYS("filch_scan", scan_no_size, "size"),                                                     \
    SAYS("filch_scan", scan_no_fold, "fold"),                                                     \
    SAYS("filch_scan", scan_no_scan, "scan"),                                                     \
    SAYS("filch_scan", scan_no_combine, "combine"),                                               \
    SAYS("filch_scan", scan_backwards, "before it begins"),                                       \
    SAYS("filch_scan_with", scan_how_zero, "FILCH_HOW_INIT"),                                     \
    SAYS("filch_scan_with", scan_how_workers, "FILCH_HOW_INIT"),                                  \
    ANSWERS("filch_reduce filch_reduce_with filch_reduce_fixed filch_scan", reduce_answers),      \
    SAYS("filch_find_any", find_any_null, "null function"),                                       \
    SAYS("filch_find_any", find_any_backwards, "before it begins"),                               \
    SAYS("filch_find_any", find_any_outside, "before the range"),                                 \
    SAYS("filch_find_any_with", find_any_how_zero, "FILCH_HOW_INIT"),                             \
    SAYS("filch_find_first", find_first_null, "null function"),                                   \
    SAYS("filch_find_first", find_first_outside, "before the range"),                             \
    SAYS("filch_find_first_with", find_first_how_zero, "FILCH_HOW_INIT"),                         \
    SAYS("filch_any", any_null, "null array"),                                                    \
    SAYS("filch_any", any_no_test, "test"),                                                       \
    SAYS("filch_all", all_no_size, "size 0"),                                                     \
    SAYS("filch_all", all_huge, "more than there can be"),                                        \
    SAYS("filch_count", count_no_test, "test"),                                                   \
    SAYS("filch_count", count_no_count, "null count"),                                            \
    SAYS("filch_first", first_null, "null array"),                                                \
    ANSWERS("filch_find_any filch_find_first filch_all filch_first", find_answers),               \
    FILCH_PLAIN_TYPES(PLAIN_ROWS_)
