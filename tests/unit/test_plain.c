/* test_plain.c: sums, least, greatest, prefix sums of plain types, where a value is: each against a loop. */
#include "../par_places.h"

#include <float.h>
#include <math.h>

enum { MOST = KIT_SLOW ? 20001 : 200001 };

static uint64_t seed = 1;
static const size_t lengths[] = {0, 1, 2, 15, 16, 17, 31, 1000, 4097, MOST};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* ---- integers ---------------------------------------------------------------------------------- */

/* How values are made: anything; all the least; all the greatest; both by turns; few. */
enum { KINDS = 5 };

static uint64_t value(int kind, size_t i, uint64_t least, uint64_t most)
{
    switch (kind) {
    case 1: return least;
    case 2: return most;
    case 3: return i % 2 ? least : most;
    case 4: return i % 3;
    default: return place_random(&seed);
    }
}

/* Sums without sign: where a sum with one overflows, it wraps around. */
#define INTEGER(name, type, wide, low, high)                                                      \
    static void name##_scans(const type *v, size_t n)                                             \
    {                                                                                             \
        static type to[MOST], in_place[MOST];                                                     \
        uint64_t sum = 0;                                                                         \
        memset(to, 0x5a, sizeof to);                                                              \
        CHECK_EQ(filch_scan_sum(to, v, n), 0);                                                    \
        for (size_t i = 0; i < n; i++)                                                            \
            CHECK(to[i] == (type)(sum += (uint64_t)v[i]));                                        \
        memcpy(in_place, v, n * sizeof *v);                                                       \
        CHECK_EQ(filch_scan_sum_##name(in_place, in_place, n), 0);                                \
        CHECK(memcmp(in_place, to, n * sizeof *v) == 0);                                          \
        memcpy(in_place, v, n * sizeof *v);                                                       \
        CHECK_EQ(filch_scan_sum_before(in_place, in_place, n), 0);                                \
        CHECK_EQ(filch_scan_sum_before_##name(to, v, n), 0);                                      \
        CHECK(memcmp(in_place, to, n * sizeof *v) == 0);                                          \
        sum = 0;                                                                                  \
        for (size_t i = 0; i < n; sum += (uint64_t)v[i++])                                        \
            CHECK(to[i] == (type)sum);                                                            \
    }                                                                                             \
    static void name##_of(int kind, size_t n)                                                     \
    {                                                                                             \
        static type v[MOST];                                                                      \
        uint64_t sum = 0;                                                                         \
        for (size_t i = 0; i < n; i++) {                                                          \
            v[i] = (type)value(kind, i, (uint64_t)low, (uint64_t)high);                           \
            sum += (uint64_t)v[i];                                                                \
        }                                                                                         \
        type least = n ? v[0] : 0, most = least;                                                  \
        for (size_t i = 0; i < n; i++) {                                                          \
            least = v[i] < least ? v[i] : least;                                                  \
            most = v[i] > most ? v[i] : most;                                                     \
        }                                                                                         \
        CHECK(filch_sum(v, n) == (wide)sum);                                                      \
        CHECK(filch_sum((const type *)v, n) == filch_sum_##name(v, n));                           \
        CHECK(filch_min(v, n) == least);                                                          \
        CHECK(filch_max(v, n) == most);                                                           \
        CHECK(filch_min_##name(v, n) == least && filch_max_##name(v, n) == most);                 \
        name##_scans(v, n);                                                                       \
    }

INTEGER(i8, int8_t, int64_t, INT8_MIN, INT8_MAX)
INTEGER(u8, uint8_t, uint64_t, 0, UINT8_MAX)
INTEGER(i16, int16_t, int64_t, INT16_MIN, INT16_MAX)
INTEGER(u16, uint16_t, uint64_t, 0, UINT16_MAX)
INTEGER(i32, int32_t, int64_t, INT32_MIN, INT32_MAX)
INTEGER(u32, uint32_t, uint64_t, 0, UINT32_MAX)
INTEGER(i64, int64_t, int64_t, INT64_MIN, INT64_MAX)
INTEGER(u64, uint64_t, uint64_t, 0, UINT64_MAX)

static void (*const integers[])(int kind, size_t n) = {i8_of, u8_of, i16_of, u16_of, i32_of, u32_of, i64_of,
                                                       u64_of};

static void integers_here(void)
{
    for (size_t type = 0; type < sizeof integers / sizeof *integers; type++) {
        kit_beat();
        for (int i = 0; i < LENGTHS; i++)
            integers[type]((int)((place_random(&seed) + (uint64_t)i) % KINDS), lengths[i]);
        for (int kind = 0; kind < KINDS; kind++)
            integers[type](kind, 3000);
    }
}

static void integers_are_as_a_loop_finds_them(void)
{
    integers_here(); /* in the default pool */
    on_pools(integers_here);
}

/* ---- floating point ------------------------------------------------------------------------------ */

/* Whole numbers, whose sums are exact in any order. */
#define FLOATING(name, type)                                                                      \
    static type name##_v[MOST], name##_to[MOST], name##_same[MOST];                               \
    static void name##_of(size_t n)                                                               \
    {                                                                                             \
        type *v = name##_v, *to = name##_to, *same = name##_same;                                 \
        double sum = 0;                                                                           \
        for (size_t i = 0; i < n; i++)                                                            \
            sum += (double)(v[i] = (type)((int)(place_random(&seed) % 61) - 30));                 \
        type least = n ? v[0] : 0, most = least;                                                  \
        for (size_t i = 0; i < n; i++) {                                                          \
            least = v[i] < least ? v[i] : least;                                                  \
            most = v[i] > most ? v[i] : most;                                                     \
        }                                                                                         \
        CHECK(filch_sum(v, n) == sum && filch_sum((const type *)v, n) == sum);                    \
        CHECK(filch_min(v, n) == least);                                                          \
        CHECK(filch_max(v, n) == most);                                                           \
        memcpy(same, v, n * sizeof *v);                                                           \
        CHECK_EQ(filch_scan_sum(to, v, n), 0);                                                    \
        CHECK_EQ(filch_scan_sum(same, same, n), 0);                                               \
        sum = 0;                                                                                  \
        for (size_t i = 0; i < n; i++)                                                            \
            CHECK((double)to[i] == (sum += (double)v[i]) && same[i] == to[i]);                    \
        memcpy(same, v, n * sizeof *v);                                                           \
        CHECK_EQ(filch_scan_sum_before(to, v, n), 0);                                             \
        CHECK_EQ(filch_scan_sum_before(same, same, n), 0);                                        \
        sum = 0;                                                                                  \
        for (size_t i = 0; i < n; sum += (double)v[i++])                                          \
            CHECK((double)to[i] == sum && same[i] == to[i]);                                      \
    }                                                                                             \
    static void name##_odd(size_t n, type huge)                                                   \
    {                                                                                             \
        type *v = name##_v;                                                                       \
        size_t at = place_random(&seed) % n, also = (at + 1 + place_random(&seed) % (n - 1)) % n; \
        for (size_t i = 0; i < n; i++)                                                            \
            v[i] = (type)NAN;                                                                     \
        CHECK(filch_min(v, n) == 0 && filch_max(v, n) == 0 && isnan(filch_sum(v, n)));            \
        v[at] = -5; /* the only one that counts */                                                \
        CHECK(filch_min(v, n) == -5 && filch_max(v, n) == -5);                                    \
        v[also] = 7;                                                                              \
        CHECK(filch_min(v, n) == -5 && filch_max(v, n) == 7);                                     \
        v[at] = -(type)INFINITY;                                                                  \
        v[also] = (type)INFINITY;                                                                 \
        CHECK(isinf(filch_min(v, n)) && filch_min(v, n) < 0);                                     \
        CHECK(isinf(filch_max(v, n)) && filch_max(v, n) > 0);                                     \
        for (size_t i = 0; i < n; i++)                                                            \
            v[i] = (type)INFINITY;                                                                \
        CHECK(isinf(filch_min(v, n)) && filch_min(v, n) > 0 && isinf(filch_sum(v, n)));           \
        v[at] = -(type)INFINITY;                                                                  \
        CHECK(isnan(filch_sum(v, n)));                                                            \
        for (size_t i = 0; i < n; i++)                                                            \
            v[i] = -0.0f;                                                                         \
        CHECK(filch_min(v, n) == 0 && signbit(filch_min(v, n)));                                  \
        CHECK(filch_max(v, n) == 0 && signbit(filch_max(v, n)) && filch_sum(v, n) == 0);          \
        v[at] = huge;                                                                             \
        v[also] = -huge;                                                                          \
        CHECK(filch_sum(v, n) == 0 && filch_min(v, n) == -huge && filch_max(v, n) == huge);       \
    }

FLOATING(f32, float)
FLOATING(f64, double)

static void floats_here(void)
{
    for (int i = 0; i < LENGTHS; i++) {
        f32_of(lengths[i]);
        f64_of(lengths[i]);
        if (lengths[i] > 1) {
            f32_odd(lengths[i], FLT_MAX);
            f64_odd(lengths[i], DBL_MAX);
        }
    }
}

static void numbers_are_as_a_loop_finds_them(void)
{
    floats_here();
    on_pools(floats_here);
}

/* What a float cannot hold, the sum does: it is kept in doubles. */
static void floats_are_summed_in_double(void)
{
    static float v[MOST];
    for (size_t i = 0; i < MOST; i++)
        v[i] = 16777215.f; /* twice this and one more is no float */
    CHECK(filch_sum(v, MOST) == 16777215.0 * MOST);
}

/* Near the exact sum, which pairs give. */
static void sums_of_doubles_are_close_to_the_exact_one(void)
{
    static double v[MOST];
    long double exact = 0;
    for (size_t i = 0; i < MOST; i++)
        exact += v[i] = (double)(place_random(&seed) >> 11) * 0x1p-53;
    double sum = filch_sum(v, MOST);
    CHECK(fabsl((long double)sum - exact) < 1e-12L * exact);
}

/* ---- searches -------------------------------------------------------------------------------------- */

/* Small numbers, and one or two that are larger. */
#define SEARCHED(name, type)                                                                      \
    static void name##_found(size_t n, size_t at, size_t also)                                    \
    {                                                                                             \
        static type v[MOST];                                                                      \
        size_t first = at < also ? at : also;                                                     \
        for (size_t i = 0; i < n; i++)                                                            \
            v[i] = (type)(i % 100);                                                               \
        CHECK(filch_index_any(v, n, 100) == n && filch_index_first((const type *)v, n, 100) == n);\
        if (n == 0)                                                                               \
            return;                                                                               \
        v[at] = v[also] = 100;                                                                    \
        size_t any = filch_index_any((const type *)v, n, 100);                                    \
        CHECK(any == at || any == also);                                                          \
        any = filch_index_any_##name(v, n, 100);                                                  \
        CHECK(any == at || any == also);                                                          \
        CHECK_EQ(filch_index_first(v, n, 100), first);                                            \
        CHECK_EQ(filch_index_first_##name(v, n, 100), first);                                     \
    }

SEARCHED(i8, int8_t)
SEARCHED(u8, uint8_t)
SEARCHED(i16, int16_t)
SEARCHED(u16, uint16_t)
SEARCHED(i32, int32_t)
SEARCHED(u32, uint32_t)
SEARCHED(i64, int64_t)
SEARCHED(u64, uint64_t)
SEARCHED(f32, float)
SEARCHED(f64, double)

static void (*const searches[])(size_t n, size_t at, size_t also) = {
    i8_found,  u8_found,  i16_found, u16_found, i32_found,
    u32_found, i64_found, u64_found, f32_found, f64_found};

/* At both ends, around what is looked at at once, and anywhere. */
static void searches_here(void)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 127, 128, 129, 1000, MOST};
    for (size_t type = 0; type < sizeof searches / sizeof *searches; type++) {
        kit_beat();
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t n = sizes[i], most = n ? n - 1 : 0;
            searches[type](n, 0, most);
            searches[type](n, most, most);
            searches[type](n, most / 2, most / 2);
            for (int round = 0; n > 0 && round < 3; round++)
                searches[type](n, place_random(&seed) % n, place_random(&seed) % n);
        }
    }
}

static void a_value_is_found_where_it_is(void)
{
    searches_here();
    on_pools(searches_here);
}

static void a_nan_is_nowhere_and_zero_has_two_signs(void)
{
    static double v[300];
    for (size_t i = 0; i < 300; i++)
        v[i] = i == 200 ? -0.0 : NAN;
    CHECK_EQ(filch_index_any(v, 300, NAN), 300);
    CHECK_EQ(filch_index_first(v, 300, 0.0), 200);
}

/* ---- without an array, without leave ---------------------------------------------------------------- */

static void no_element_is_zero(void)
{
    int64_t *none = NULL;
    double *nothing = NULL;
    CHECK(filch_sum(none, 0) == 0 && filch_min(none, 0) == 0 && filch_max(none, 0) == 0);
    CHECK(filch_sum(nothing, 0) == 0 && filch_min(nothing, 0) == 0 && filch_max(nothing, 0) == 0);
    CHECK_EQ(filch_scan_sum(none, none, 0), 0);
    CHECK(filch_index_any(none, 0, 0) == 0 && filch_index_first(nothing, 0, 0) == 0);
    CHECK_EQ(filch_scan_sum_before(nothing, nothing, 0), 0);
}

static int sums_in_a_canceled_scope(void *arg)
{
    static int32_t v[5000], to[5000];
    static double d[5000];
    for (int i = 0; i < 5000; i++)
        d[i] = v[i] = i - 10;
    filch_scope_cancel(arg);
    CHECK_EQ(filch_sum(v, 5000), 12447500);
    CHECK_EQ(filch_min(v, 5000), -10);
    CHECK_EQ(filch_max(v, 5000), 4989);
    CHECK(filch_sum(d, 5000) == 12447500 && filch_min(d, 5000) == -10 && filch_max(d, 5000) == 4989);
    CHECK(filch_index_any(v, 5000, 7) == 17 && filch_index_first(d, 5000, 4989) == 4999);
    CHECK_EQ(filch_index_first(v, 5000, 5000), 5000);
    CHECK_EQ(filch_scan_sum(to, v, 5000), -ECANCELED);
    CHECK_EQ(filch_scan_sum_before(to, v, 5000), -ECANCELED);
    return 0;
}

static void canceled_here(void)
{
    filch_scope scope;
    CHECK_EQ(filch_scope_open_on(&scope, place_pool), 0);
    CHECK_EQ(filch_scope_go(&scope, sums_in_a_canceled_scope, &scope), 0);
    CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
}

static void sums_are_right_in_a_canceled_scope(void) { on_pools(canceled_here); }

int main(void)
{
    kit_watchdog();
    RUN(integers_are_as_a_loop_finds_them);
    RUN(numbers_are_as_a_loop_finds_them);
    RUN(floats_are_summed_in_double);
    RUN(sums_of_doubles_are_close_to_the_exact_one);
    RUN(a_value_is_found_where_it_is);
    RUN(a_nan_is_nowhere_and_zero_has_two_signs);
    RUN(no_element_is_zero);
    RUN(sums_are_right_in_a_canceled_scope);
    return check_report();
}
