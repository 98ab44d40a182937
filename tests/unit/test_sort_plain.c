/* test_sort_plain.c: sorting numbers of every plain type, and records by a number. */
#include "par/radix.h"
#include "sort_kit.h"

#include <filch/scope.h>
#include <math.h>

/* ---- what is expected: the same bits in the order of a key of 64 bits --------------------------- */

static const size_t type_size[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
enum { TYPES = FILCH_F64 + 1 };

static uint64_t bits_at(const void *v, size_t i, size_t size)
{
    uint64_t x = 0;
    memcpy(&x, (const char *)v + i * size, size); /* little-endian */
    return x;
}

static uint64_t key_of(uint64_t bits, enum filch_plain type)
{
    uint64_t sign = (uint64_t)1 << (8 * type_size[type] - 1), all = sign | (sign - 1);
    switch (type) {
    case FILCH_U8: case FILCH_U16: case FILCH_U32: case FILCH_U64: return bits;
    case FILCH_F32: case FILCH_F64: return bits & sign ? ~bits & all : bits | sign;
    default: return bits ^ sign;
    }
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorted keys of an array. */
static uint64_t *expected(const void *v, size_t n, enum filch_plain type)
{
    uint64_t *keys = kit_memory(n * sizeof *keys);
    for (size_t i = 0; i < n; i++)
        keys[i] = key_of(bits_at(v, i, type_size[type]), type);
    qsort(keys, n, sizeof *keys, by_number);
    return keys;
}

static void check_expected(const void *v, size_t n, enum filch_plain type, uint64_t *keys)
{
    for (size_t i = 0; i < n; i++)
        CHECK_MSG(key_of(bits_at(v, i, type_size[type]), type) == keys[i], "type %d, element %zu of %zu",
                  (int)type, i, n);
    free(keys);
    kit_beat();
}

/* `narrow` bits are random. */
static void fill(char *v, size_t n, size_t size, enum pattern p, unsigned narrow)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t x = pattern_value(p, i, n);
        if (p == RANDOM)
            x = narrow < 64 ? x & (((uint64_t)1 << narrow) - 1) : x;
        memcpy(v + i * size, &x, size);
    }
}

static void sort_one(filch_how *how, enum filch_plain type, enum pattern p, size_t n, unsigned narrow)
{
    char *v = kit_memory(n * type_size[type]);
    fill(v, n, type_size[type], p, narrow);
    uint64_t *keys = expected(v, n, type);
    CHECK_EQ(filch_sort_plain_with(how, v, n, type), 0);
    check_expected(v, n, type, keys);
    free(v);
}

/* ---- claims ------------------------------------------------------------------------------------- */

static void all_types(filch_how *how)
{
    for (int type = 0; type < TYPES; type++)
        for (int p = 0; p < PATTERNS; p++) {
            for (size_t i = 0; i < KIT_SIZES; i += KIT_SLOW ? 15 : p == RANDOM ? 2 : 9)
                sort_one(how, (enum filch_plain)type, (enum pattern)p, kit_sizes[i], 64);
            if (p == RANDOM || (p == NEARLY && !KIT_SLOW))
                sort_one(how, (enum filch_plain)type, (enum pattern)p, 70000, 64);
        }
}

static void every_type_pattern_and_length_is_sorted(void)
{
    kit_everywhere(all_types);
}

static void narrow_ranges(filch_how *how)
{
    for (unsigned bits = 1; bits < 64; bits += KIT_SLOW ? 21 : 5) {
        sort_one(how, FILCH_U64, RANDOM, 1000, bits);
        sort_one(how, FILCH_I64, RANDOM, 35000, bits);
        if (bits < 32) {
            sort_one(how, FILCH_I32, RANDOM, 1000, bits);
            sort_one(how, FILCH_U32, RANDOM, 40000, bits);
        }
    }
}

static void numbers_of_any_range_are_sorted(void)
{
    kit_everywhere(narrow_ranges);
}

/* Most of them in one bucket, and in one of that: with outliers at both ends. */
static void skewed(filch_how *how)
{
    size_t n = kit_scaled(600000, 4);
    uint64_t *v = kit_memory(n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = i % 1000 == 0 ? rng_next(&kit_rng) : 5000000000 + rng_next(&kit_rng) % (i % 7 ? 300000 : 9);
    uint64_t *keys = expected(v, n, FILCH_U64);
    CHECK_EQ(filch_sort_plain_with(how, v, n, FILCH_U64), 0);
    check_expected(v, n, FILCH_U64, keys);
    free(v);
}

static void uneven_distributions_are_sorted(void)
{
    kit_everywhere(skewed);
}

/* Large enough for many buckets, in arrays that begin anywhere in a cache line. */
/* Two sorted runs, the drop between them at every place near the borders of what is looked at piece by
 * piece: one that is missed is an array taken for sorted. */
static void two_runs(filch_how *how, enum filch_plain type, size_t n, size_t drop)
{
    size_t size = type_size[type];
    char *v = kit_memory(n * size);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = i < drop ? 2 * i + 1 : 2 * (i - drop);
        memcpy(v + i * size, &x, size);
    }
    uint64_t *keys = expected(v, n, type);
    CHECK_EQ(filch_sort_plain_with(how, v, n, type), 0);
    check_expected(v, n, type, keys);
    free(v);
}

static void drops(filch_how *how)
{
    static const enum filch_plain types[] = {FILCH_U32, FILCH_I64, FILCH_U64, FILCH_I32};
    enum { PIECE = 2048, N = 3 * PIECE + 100 };
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t border = 0; border <= N; border += PIECE)
            for (size_t near = 0; near < 7; near++)
                if (border + near >= 4 && border + near - 3 < N)
                    two_runs(how, types[t], N, border + near - 3);
    enum { LARGE = 1 << 17 }; /* in several blocks, of which each is looked at by itself */
    for (size_t blocks = 2; blocks <= 64 && !KIT_SLOW; blocks *= 2)
        two_runs(how, FILCH_U32, LARGE, LARGE / blocks);
}

static void a_drop_is_seen_wherever_it_is(void)
{
    kit_everywhere(drops);
}

static void many(filch_how *how)
{
    size_t n = kit_scaled(5000000, 40);
    for (size_t skip = 0; skip < 3; skip++) {
        uint32_t *all = kit_memory((n + 4) * sizeof *all), *v = all + 1 + skip;
        uint64_t sum = 0, after = 0;
        all[skip] = v[n] = 0xabcdef;
        for (size_t i = 0; i < n; i++) {
            v[i] = (uint32_t)rng_next(&kit_rng);
            sum += rng_mix(v[i]);
        }
        CHECK_EQ(filch_sort_plain_with(how, v, n, FILCH_U32), 0);
        for (size_t i = 0; i < n; i++) {
            CHECK(i == 0 || v[i - 1] <= v[i]);
            after += rng_mix(v[i]);
        }
        CHECK(sum == after);
        CHECK(all[skip] == 0xabcdef && v[n] == 0xabcdef);
        free(all);
        kit_beat();
        n /= 7;
    }
}

static void millions_are_sorted_and_neighbours_are_not_touched(void)
{
    kit_everywhere(many);
}

static void nans_and_zeros_have_their_place(void)
{
    double v[] = {NAN, 1, -0.0, -INFINITY, 0.0, -NAN, INFINITY, -1, 5e-324, -5e-324};
    float f[] = {NAN, 1, -0.0f, -INFINITY, 0.0f, -NAN, INFINITY, -1};
    CHECK_EQ(filch_sort_f64(v, 10), 0);
    CHECK(isnan(v[0]) && signbit(v[0]) && v[1] == -INFINITY && v[2] == -1 && v[3] == -5e-324);
    CHECK(v[4] == 0 && signbit(v[4]) && v[5] == 0 && !signbit(v[5]) && v[6] == 5e-324 && v[7] == 1);
    CHECK(v[8] == INFINITY && isnan(v[9]) && !signbit(v[9]));
    CHECK_EQ(filch_sort_f32(f, 8), 0);
    CHECK(isnan(f[0]) && f[1] == -INFINITY && f[2] == -1 && signbit(f[3]) && !signbit(f[4]) && f[5] == 1);
    CHECK(f[6] == INFINITY && isnan(f[7]));
}

#define TYPED(type, name)                                                                         \
    do {                                                                                          \
        size_t n = 3000;                                                                          \
        type *v = kit_memory(n * sizeof *v);                                                      \
        for (size_t i = 0; i < n; i++)                                                            \
            v[i] = (type)(int64_t)(rng_next(&kit_rng) >> 40);                                     \
        CHECK_EQ(filch_sort_##name(v, n), 0);                                                     \
        for (size_t i = 1; i < n; i++)                                                            \
            CHECK(v[i - 1] <= v[i]);                                                              \
        v[0] = 100;                                                                               \
        CHECK_EQ(filch_sort_plain(v, n), 0);                                                      \
        for (size_t i = 1; i < n; i++)                                                            \
            CHECK(v[i - 1] <= v[i]);                                                              \
        free(v);                                                                                  \
    } while (0)

static void typed_forms(void)
{
    TYPED(int8_t, i8);
    TYPED(uint8_t, u8);
    TYPED(int16_t, i16);
    TYPED(uint16_t, u16);
    TYPED(int32_t, i32);
    TYPED(uint32_t, u32);
    TYPED(int64_t, i64);
    TYPED(uint64_t, u64);
    TYPED(float, f32);
    TYPED(double, f64);
}

static void every_form_sorts_from_inside_a_task(void)
{
    kit_within(typed_forms);
}

/* ---- memory, cancelling ------------------------------------------------------------------------- */

static void with_scratch(filch_how *how)
{
    size_t n = kit_scaled(100000, 2);
    char *scratch = kit_memory(n * 8 + 40);
    for (size_t skip = 0; skip < (KIT_SLOW ? 2 : 3); skip++) {
        memset(scratch, 0x5a, n * 8 + 40);
        how->scratch = scratch + 8 * skip + 1;
        how->scratch_size = n * 8 + (-(uintptr_t)how->scratch & 15);
        sort_one(how, FILCH_U64, RANDOM, n, 64);
        CHECK(scratch[8 * skip] == 0x5a && scratch[8 * skip + 1 + how->scratch_size] == 0x5a);
        how->scratch_size--;
        sort_one(how, FILCH_U64, RANDOM, n, 64);
    }
    free(scratch);
}

static void scratch_of_the_caller_is_used_if_it_is_large_enough(void)
{
    kit_everywhere(with_scratch);
}

struct in_place {
    radix_fn *sort;
    void *v;
    size_t n;
    uint64_t sign;
};

static void no_spare(struct crew *c, filch_slot *head, void *job)
{
    struct in_place *s = job;
    s->sort(c, head, s->v, 0, s->n, s->sign);
}

static void without_memory(filch_how *how)
{
    static const struct { radix_fn *sort; enum filch_plain type; uint64_t sign; } kinds[] = {
        {radix_sort_16, FILCH_U16, 0}, {radix_sort_32, FILCH_I32, 1u << 31}, {radix_sort_64, FILCH_U64, 0},
        {radix_sort_f32, FILCH_F32, 1u << 31}, {radix_sort_f64, FILCH_F64, (uint64_t)1 << 63}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int p = 0; p < PATTERNS; p++)
            for (size_t i = 0; i < KIT_SIZES; i += KIT_SLOW ? 15 : 7) {
                size_t n = kit_sizes[i], size = type_size[kinds[k].type];
                struct crew c;
                char *v = kit_memory(n * size);
                fill(v, n, size, (enum pattern)p, 64);
                uint64_t *keys = expected(v, n, kinds[k].type);
                struct in_place s = {kinds[k].sort, v, n, kinds[k].sign};
                crew_begin(&c, how, "test", 500);
                crew_run(&c, n, no_spare, &s);
                CHECK_EQ(crew_end(&c), 0);
                check_expected(v, n, kinds[k].type, keys);
                free(v);
            }
}

static void without_memory_they_are_sorted_in_place(void)
{
    kit_everywhere(without_memory);
}

static void *cancel_soon(void *scope)
{
    kit_nap_us((int64_t)(rng_mix((uintptr_t)scope) % 200));
    filch_scope_cancel(scope);
    return NULL;
}

static void canceled(filch_how *how)
{
    size_t n = kit_scaled(400000, 4);
    uint32_t *v = kit_memory(n * sizeof *v);
    for (int round = 0; round < (KIT_SLOW ? 4 : 12); round++) {
        filch_scope scope;
        pthread_t thread;
        uint64_t sum = 0, after = 0;
        for (size_t i = 0; i < n; i++)
            sum += rng_mix(v[i] = (uint32_t)rng_next(&kit_rng));
        CHECK_EQ(filch_scope_open_on(&scope, how->pool), 0);
        how->scope = &scope;
        if (round == 0)
            filch_scope_cancel(&scope);
        CHECK_EQ(pthread_create(&thread, NULL, cancel_soon, &scope), 0);
        int rc = filch_sort_plain_with(how, v, n, FILCH_U32);
        CHECK(rc == -ECANCELED || (round > 0 && rc == 0));
        for (size_t i = 0; i < n; i++) {
            CHECK(rc || i == 0 || v[i - 1] <= v[i]);
            after += rng_mix(v[i]);
        }
        CHECK(sum == after);
        pthread_join(thread, NULL);
        CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
        kit_beat();
    }
    free(v);
}

static void a_cancelled_sort_loses_nothing(void)
{
    kit_everywhere(canceled);
}

static void nonsense_is_refused(void)
{
    uint32_t v[2] = {2, 1};
    CHECK_EQ(filch_sort_u32(v, SIZE_MAX / 2), -EINVAL);
    CHECK_EQ(filch_sort_u32(NULL, 0), 0);
    CHECK_EQ(filch_sort_u32(v, 1), 0);
    CHECK_EQ(filch_sort_u32(v, 2), 0);
    CHECK(v[0] == 1 && v[1] == 2);
}

/* ---- by key ------------------------------------------------------------------------------------- */

static uint32_t asked;
static size_t record_size;

static uint64_t first_word(const void *element, void *arg)
{
    uint64_t key;
    CHECK(arg == &asked);
    filch_add_relaxed(&asked, 1u); /* order: a count */
    memcpy(&key, element, sizeof key);
    return key;
}

static void sort_records(enum pattern p, size_t n, size_t size)
{
    char *v = kit_memory(n * size);
    for (size_t i = 0; i < n; i++) {
        uint64_t key = pattern_value(p, i, n), index = i;
        memset(v + i * size, (int)(i % 251), size);
        memcpy(v + i * size, &key, 8);
        memcpy(v + i * size + 8, &index, 8);
    }
    filch_store_relaxed(&asked, 0u);
    CHECK_EQ(filch_sort_by_key(v, n, size, first_word, &asked), 0);
    CHECK_EQ(asked, n > 1 ? n : 0);
    char *seen = calloc(n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t index = bits_at(v + 8, i * (size / 8), 8);
        if (i > 0) {
            uint64_t before = bits_at(v, (i - 1) * (size / 8), 8), key = bits_at(v, i * (size / 8), 8);
            CHECK(before < key || (before == key && bits_at(v + 8, (i - 1) * (size / 8), 8) < index));
        }
        CHECK(index < n && !seen[index]);
        seen[index] = 1;
        for (size_t k = 16; k < size; k += KIT_SLOW ? 16 : 1)
            CHECK_EQ((unsigned char)v[i * size + k], index % 251);
    }
    free(seen);
    free(v);
    kit_beat();
}

static void all_records(void)
{
    for (record_size = 16; record_size <= 200; record_size += KIT_SLOW ? 128 : 56)
        for (int p = 0; p < PATTERNS; p++)
            for (size_t i = 0; i < KIT_SIZES; i += KIT_SLOW ? 15 : 9)
                sort_records((enum pattern)p, kit_sizes[i], record_size);
    sort_records(RANDOM, kit_scaled(100000, 2), 24);
    sort_records(FEW_DISTINCT, kit_scaled(100000, 2), 24);
}

static void records_are_sorted_by_a_key_that_is_computed_once(void)
{
    kit_within(all_records);
}

int main(void)
{
    kit_watchdog();
    RUN(every_type_pattern_and_length_is_sorted);
    RUN(numbers_of_any_range_are_sorted);
    RUN(uneven_distributions_are_sorted);
    RUN(a_drop_is_seen_wherever_it_is);
    RUN(millions_are_sorted_and_neighbours_are_not_touched);
    RUN(nans_and_zeros_have_their_place);
    RUN(every_form_sorts_from_inside_a_task);
    RUN(scratch_of_the_caller_is_used_if_it_is_large_enough);
    RUN(without_memory_they_are_sorted_in_place);
    RUN(a_cancelled_sort_loses_nothing);
    RUN(nonsense_is_refused);
    RUN(records_are_sorted_by_a_key_that_is_computed_once);
    return check_report();
}
