/* plain.c: sums, least and greatest, prefix sums and searches in arrays of numbers. One set of functions for
 * each type. */
#include "par/par.h"

#include "core/report.h"

#include <filch/par.h>

static void check_array(const void *v, size_t n, const char *call)
{
    if (n > 0 && !v)
        report_misuse(call, "null array");
}

static void check_arrays(const void *to, const void *from, size_t n, const char *call)
{
    check_array(to, n, call);
    check_array(from, n, call);
}

/* Is this one a number? (All integers are.) */
#define IS_NUMBER(x) ((x) == (x))

/* Several sums side by side: the compiler may use vectors although the order of additions is fixed. */
#define LANES 16

#define DEFINE_SUM(name, type, wide)                                                              \
    static void add_##name(void *state, size_t lo, size_t hi, void *arg)                          \
    {                                                                                             \
        const type *v = (const type *)arg + lo;                                                   \
        size_t n = hi - lo, i = 0;                                                                \
        wide lane[LANES] = {0}, sum = 0;                                                          \
        for (; n - i >= LANES; i += LANES)                                                        \
            for (size_t k = 0; k < LANES; k++)                                                    \
                lane[k] = (wide)(lane[k] + (wide)v[i + k]);                                       \
        for (size_t k = 0; k < LANES; k++)                                                        \
            sum = (wide)(sum + lane[k]);                                                          \
        for (; i < n; i++)                                                                        \
            sum = (wide)(sum + (wide)v[i]);                                                       \
        *(wide *)state = (wide)(*(wide *)state + sum);                                            \
    }                                                                                             \
    static void plus_##name(void *state, const void *right, void *arg)                            \
    {                                                                                             \
        (void)arg;                                                                                \
        *(wide *)state = (wide)(*(wide *)state + *(const wide *)right);                           \
    }                                                                                             \
    static wide sum_##name(const type *v, size_t n)                                               \
    {                                                                                             \
        static const filch_reducer adding = {sizeof(wide), 0, add_##name, plus_##name};           \
        wide sum = 0;                                                                             \
        check_array(v, n, "filch_sum_" #name);                                                          \
        if (filch_reduce_fixed(&adding, &sum, 0, n, (void *)(uintptr_t)v) != 0) {                 \
            sum = 0;                                                                              \
            add_##name(&sum, 0, n, (void *)(uintptr_t)v);                                         \
        }                                                                                         \
        return sum;                                                                               \
    }

#define DEFINE_EXTREME(what, better, name, type)                                                  \
    struct what##_##name {                                                                        \
        type value;                                                                               \
        int seen;                                                                                 \
    };                                                                                            \
    static void note_##what##_##name(void *state, size_t lo, size_t hi, void *arg)                \
    {                                                                                             \
        struct what##_##name *s = state, now = *s;                                                \
        const type *v = arg;                                                                      \
        size_t i = lo;                                                                            \
        for (; i < hi && !now.seen; i++) {                                                        \
            now.value = v[i];                                                                     \
            now.seen = IS_NUMBER(v[i]);                                                           \
        }                                                                                         \
        type best = now.value;                                                                    \
        for (; i < hi; i++)                                                                       \
            best = v[i] better best ? v[i] : best;                                                \
        s->value = best;                                                                          \
        s->seen = now.seen;                                                                       \
    }                                                                                             \
    static void join_##what##_##name(void *state, const void *right, void *arg)                   \
    {                                                                                             \
        struct what##_##name *s = state;                                                          \
        const struct what##_##name *r = right;                                                    \
        (void)arg;                                                                                \
        if (r->seen && (!s->seen || r->value better s->value))                                    \
            *s = *r;                                                                              \
    }                                                                                             \
    type filch_##what##_##name(const type *v, size_t n)                                           \
    {                                                                                             \
        static const filch_reducer noting = {sizeof(struct what##_##name), 0, note_##what##_##name, \
                                             join_##what##_##name};                               \
        struct what##_##name s = {0, 0};                                                          \
        check_array(v, n, "filch_" #what "_" #name);                                                    \
        if (filch_reduce(&noting, &s, 0, n, (void *)(uintptr_t)v) != 0) {                         \
            s.seen = 0;                                                                           \
            note_##what##_##name(&s, 0, n, (void *)(uintptr_t)v);                                 \
        }                                                                                         \
        return s.seen ? s.value : 0;                                                              \
    }

/* to[i] = sum += from[i]; `to` and `from` may be the same. Returns the last sum. */
#define SCAN_ONE_BY_ONE(to, from, n, sum)                                                         \
    for (size_t i = 0; i < (n); i++)                                                              \
        (to)[i] = (__typeof__(*(to)))(sum = (__typeof__(sum))(sum + (__typeof__(sum))(from)[i]))

/* The same for 32 bits: sums within four at a time, so that one addition in four waits for the one before. */
typedef uint32_t four __attribute__((vector_size(16)));

static inline four four_summed(four x)
{
    const four none = {0};
    x += __builtin_shufflevector(none, x, 0, 4, 5, 6);
    return x + __builtin_shufflevector(none, x, 0, 1, 4, 5);
}

static uint32_t scan_words(uint32_t *to, const uint32_t *from, size_t n, uint32_t sum)
{
    four before = {sum, sum, sum, sum};
    size_t done = 0;
    for (; n - done >= 4; done += 4) {
        four x;
        memcpy(&x, from + done, sizeof x);
        x = four_summed(x);
        four y = x + before;
        memcpy(to + done, &y, sizeof y);
        before += __builtin_shufflevector(x, x, 3, 3, 3, 3);
    }
    sum = before[0];
    SCAN_ONE_BY_ONE(to + done, from + done, n - done, sum);
    return sum;
}

#define SCAN_BY_FOUR(to, from, n, sum) sum = scan_words((uint32_t *)(to), (const uint32_t *)(from), n, sum)

/* Integers wrap around, so they are added without sign. */
#define DEFINE_SCAN(name, type, add, SCAN)                                                        \
    struct scan_##name {                                                                          \
        const type *from;                                                                         \
        type *to;                                                                                 \
    };                                                                                            \
    static void fold_##name(void *state, size_t lo, size_t hi, void *arg)                         \
    {                                                                                             \
        const struct scan_##name *a = arg;                                                        \
        const type *from = a->from;                                                               \
        add lane[LANES] = {0}, sum = 0;                                                           \
        size_t i = lo;                                                                            \
        for (; hi - i >= LANES; i += LANES)                                                       \
            for (size_t k = 0; k < LANES; k++)                                                    \
                lane[k] = (add)(lane[k] + (add)from[i + k]);                                      \
        for (size_t k = 0; k < LANES; k++)                                                        \
            sum = (add)(sum + lane[k]);                                                           \
        for (; i < hi; i++)                                                                       \
            sum = (add)(sum + (add)from[i]);                                                      \
        *(add *)state = (add)(*(add *)state + sum);                                               \
    }                                                                                             \
    static void with_##name(void *state, size_t lo, size_t hi, void *arg)                         \
    {                                                                                             \
        const struct scan_##name *a = arg;                                                        \
        const type *from = a->from;                                                               \
        type *to = a->to;                                                                         \
        add sum = *(add *)state;                                                                  \
        SCAN(to + lo, from + lo, hi - lo, sum);                                                   \
        *(add *)state = sum;                                                                      \
    }                                                                                             \
    static void before_##name(void *state, size_t lo, size_t hi, void *arg)                       \
    {                                                                                             \
        const struct scan_##name *a = arg;                                                        \
        const type *from = a->from;                                                               \
        type *to = a->to;                                                                         \
        add sum = *(add *)state;                                                                  \
        for (size_t i = lo; i < hi; i++) {                                                        \
            add next = (add)(sum + (add)from[i]);                                                 \
            to[i] = (type)sum;                                                                    \
            sum = next;                                                                           \
        }                                                                                         \
        *(add *)state = sum;                                                                      \
    }                                                                                             \
    static void chain_##name(void *state, const void *right, void *arg)                           \
    {                                                                                             \
        (void)arg;                                                                                \
        *(add *)state = (add)(*(add *)state + *(const add *)right);                               \
    }                                                                                             \
    int filch_scan_sum_##name(type *to, const type *from, size_t n)                               \
    {                                                                                             \
        static const filch_scanner s = {sizeof(add), 0, fold_##name, with_##name, chain_##name};  \
        struct scan_##name a = {from, to};                                                        \
        check_arrays(to, from, n, "filch_scan_sum_" #name);                                       \
        return filch_scan(&s, 0, 0, n, &a);                                                       \
    }                                                                                             \
    int filch_scan_sum_before_##name(type *to, const type *from, size_t n)                        \
    {                                                                                             \
        static const filch_scanner s = {sizeof(add), 0, fold_##name, before_##name, chain_##name}; \
        struct scan_##name a = {from, to};                                                        \
        check_arrays(to, from, n, "filch_scan_sum_before_" #name);                                \
        return filch_scan(&s, 0, 0, n, &a);                                                       \
    }

/* So many are looked at before anybody asks whether one of them was it: the compiler may use vectors then. */
#define LOOK_AT 64

#define DEFINE_INDEX(name, type, bits)                                                            \
    struct index_##name {                                                                         \
        const type *v;                                                                            \
        type value;                                                                               \
    };                                                                                            \
    static size_t look_##name(size_t lo, size_t hi, void *arg)                                    \
    {                                                                                             \
        const struct index_##name *a = arg;                                                       \
        const type *v = a->v, value = a->value;                                                   \
        size_t i = lo;                                                                            \
        for (bits hits = 0; hi - i >= LOOK_AT; i += LOOK_AT) {                                    \
            for (size_t k = 0; k < LOOK_AT; k++)                                                  \
                hits = (bits)(hits | (bits)(v[i + k] == value));                                  \
            if (hits)                                                                             \
                break;                                                                            \
        }                                                                                         \
        while (i < hi && v[i] != value)                                                           \
            i++;                                                                                  \
        return i;                                                                                 \
    }                                                                                             \
    size_t filch_index_any_##name(const type *v, size_t n, type value)                            \
    {                                                                                             \
        struct index_##name a = {v, value};                                                       \
        size_t where = n;                                                                         \
        check_array(v, n, "filch_index_any_" #name);                                              \
        return filch_find_any(0, n, look_##name, &a, &where) < 0 ? look_##name(0, n, &a) : where; \
    }                                                                                             \
    size_t filch_index_first_##name(const type *v, size_t n, type value)                          \
    {                                                                                             \
        struct index_##name a = {v, value};                                                       \
        size_t where = n;                                                                         \
        check_array(v, n, "filch_index_first_" #name);                                            \
        return filch_find_first(0, n, look_##name, &a, &where) < 0 ? look_##name(0, n, &a) : where;\
    }

/* wide: what is returned; adding: the same without sign; bits: as wide as the type. */
#define DEFINE(name, type, wide, adding, narrow, bits, SCAN)                                      \
    DEFINE_SUM(name, type, adding)                                                                \
    DEFINE_EXTREME(min, <, name, type)                                                            \
    DEFINE_EXTREME(max, >, name, type)                                                            \
    DEFINE_SCAN(name, type, narrow, SCAN)                                                         \
    DEFINE_INDEX(name, type, bits)                                                                \
    wide filch_sum_##name(const type *v, size_t n)                                                \
    {                                                                                             \
        return (wide)sum_##name(v, n);                                                            \
    }

DEFINE(i8, int8_t, int64_t, uint64_t, uint8_t, uint8_t, SCAN_ONE_BY_ONE)
DEFINE(u8, uint8_t, uint64_t, uint64_t, uint8_t, uint8_t, SCAN_ONE_BY_ONE)
DEFINE(i16, int16_t, int64_t, uint64_t, uint16_t, uint16_t, SCAN_ONE_BY_ONE)
DEFINE(u16, uint16_t, uint64_t, uint64_t, uint16_t, uint16_t, SCAN_ONE_BY_ONE)
DEFINE(i32, int32_t, int64_t, uint64_t, uint32_t, uint32_t, SCAN_BY_FOUR)
DEFINE(u32, uint32_t, uint64_t, uint64_t, uint32_t, uint32_t, SCAN_BY_FOUR)
DEFINE(i64, int64_t, int64_t, uint64_t, uint64_t, uint64_t, SCAN_ONE_BY_ONE)
DEFINE(u64, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, SCAN_ONE_BY_ONE)
DEFINE(f32, float, double, double, float, uint32_t, SCAN_ONE_BY_ONE)
DEFINE(f64, double, double, double, double, uint64_t, SCAN_ONE_BY_ONE)
