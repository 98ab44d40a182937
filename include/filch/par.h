/* filch/par.h: parallel algorithms over ranges and arrays.
 *
 *     #include <filch/par.h>
 *
 *     static void halve(size_t lo, size_t hi, void *x)
 *     {
 *         double *v = x;
 *         for (size_t i = lo; i < hi; i++)
 *             v[i] *= .5;
 *     }
 *     ... filch_for(0, n, halve, v); ...
 *
 * No pool to make, no grain to choose: a range is split as workers become idle, into pieces long enough to be
 * worth it, and a short loop is not split at all. Bodies get a range [lo, hi) and have the loop over it in
 * their own file, where the compiler can see it.
 *
 * All of them: any thread; may wait; may resume on another thread (bodies too). Bodies may wait, fork, and
 * call other algorithms. They return 0, or the first error of a body (what is not 0), or -ECANCELED if the
 * caller's scope (or that of filch_how) was cancelled, or -ENOMEM. After an error or a cancellation pieces
 * that have not begun are left out. The forms with `_with` take a filch_how, which may be null.
 */
#ifndef FILCH_PAR_H
#define FILCH_PAR_H

#include <filch/how.h>
#include <filch/sort.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- loops ---------------------------------------------------------------------------------- */

/* body over [lo, hi) in pieces. */
FILCH_API int filch_for(size_t lo, size_t hi, void (*body)(size_t lo, size_t hi, void *arg), void *arg);

/* The same with a body that may fail, and so also stop the others: a positive number is as good as an
 * error. */
FILCH_API int filch_for_with(const filch_how *how, size_t lo, size_t hi,
                             int (*body)(size_t lo, size_t hi, void *arg), void *arg);

/* body for each element of an array. */
FILCH_API int filch_for_each(void *base, size_t n, size_t size, void (*body)(void *element, void *arg),
                             void *arg);
FILCH_API int filch_for_each_with(const filch_how *how, void *base, size_t n, size_t size,
                                  int (*body)(void *element, void *arg), void *arg);

/* Elements of two arrays side by side. */
FILCH_API int filch_for_zip(void *a, size_t a_size, void *b, size_t b_size, size_t n,
                            void (*body)(void *a, void *b, void *arg), void *arg);

/* An array in chunks of `chunk` elements (the last may be shorter): their address, how many, and the index of
 * the first. */
FILCH_API int filch_for_chunks(void *base, size_t n, size_t size, size_t chunk,
                               void (*body)(void *first, size_t count, size_t index, void *arg), void *arg);

/* A rectangle, split along its longer side (in units of the grains) into blocks. */
typedef struct filch_block {
    size_t row_lo, row_hi, column_lo, column_hi;
} filch_block;

FILCH_API int filch_for_2d(size_t rows, size_t columns, void (*body)(const filch_block *block, void *arg),
                           void *arg);
/* how->grain is the fewest elements (rows times columns) of a block that does not end at an edge. */
FILCH_API int filch_for_2d_with(const filch_how *how, filch_block whole,
                                int (*body)(const filch_block *block, void *arg), void *arg);

/* ---- reductions ----------------------------------------------------------------------------- */

/* What is accumulated: a state of any size. Each is begun by `identity` once, and stays where it is. Each but
 * the result is given to `combine` once, as the right one, also after an error, and is forgotten then: what
 * it owns is freed or taken over there. */
typedef struct filch_reducer {
    size_t state_size;
    void (*identity)(void *state, void *arg);                        /* null: zeroes            */
    void (*fold)(void *state, size_t lo, size_t hi, void *arg);      /* state = state + [lo, hi) */
    void (*combine)(void *state, const void *right, void *arg);      /* state = state + right   */
} filch_reducer;

/* Folds [lo, hi) into *result, which is overwritten. Elements keep their order, so `+` must be associative
 * and need not be commutative. How they are grouped depends on who was idle. */
FILCH_API int filch_reduce(const filch_reducer *reducer, void *result, size_t lo, size_t hi, void *arg);
FILCH_API int filch_reduce_with(const filch_how *how, const filch_reducer *reducer, void *result, size_t lo,
                                size_t hi, void *arg);

/* Grouped by hi - lo (and how->grain) alone: the same bits for any number of workers, also for sums of
 * doubles. */
FILCH_API int filch_reduce_fixed(const filch_reducer *reducer, void *result, size_t lo, size_t hi, void *arg);
FILCH_API int filch_reduce_fixed_with(const filch_how *how, const filch_reducer *reducer, void *result,
                                      size_t lo, size_t hi, void *arg);

/* ---- scans ---------------------------------------------------------------------------------- */

/* Prefix sums over any `+`. `fold` adds a range up; `scan` goes over it with the sum of all before it in
 * state, writes what is wanted for each element (before or after adding it: an exclusive or an inclusive
 * scan) and leaves the sum with the range in state. A range is scanned once, and perhaps folded before. */
typedef struct filch_scanner {
    size_t state_size;
    void (*identity)(void *state, void *arg);                        /* null: zeroes            */
    void (*fold)(void *state, size_t lo, size_t hi, void *arg);
    void (*scan)(void *state, size_t lo, size_t hi, void *arg);
    void (*combine)(void *state, const void *right, void *arg);
} filch_scanner;

/* The sum of all is left in *total (may be null). */
FILCH_API int filch_scan(const filch_scanner *scanner, void *total, size_t lo, size_t hi, void *arg);
FILCH_API int filch_scan_with(const filch_how *how, const filch_scanner *scanner, void *total, size_t lo,
                              size_t hi, void *arg);

/* ---- searches ------------------------------------------------------------------------------- */

/* `find` looks at [lo, hi) in order and returns the index of a hit, or hi. Returns 1 and the index in
 * *where, 0 if there is none, or -errno. After a hit each worker ends its piece at most, how->grain
 * elements or fewer. */
FILCH_API int filch_find_any(size_t lo, size_t hi, size_t (*find)(size_t lo, size_t hi, void *arg), void *arg,
                             size_t *where);
FILCH_API int filch_find_any_with(const filch_how *how, size_t lo, size_t hi,
                                  size_t (*find)(size_t lo, size_t hi, void *arg), void *arg, size_t *where);
/* The one with the lowest index. */
FILCH_API int filch_find_first(size_t lo, size_t hi, size_t (*find)(size_t lo, size_t hi, void *arg),
                               void *arg, size_t *where);
FILCH_API int filch_find_first_with(const filch_how *how, size_t lo, size_t hi,
                                    size_t (*find)(size_t lo, size_t hi, void *arg), void *arg,
                                    size_t *where);

typedef int filch_test(const void *element, void *arg);

/* Over arrays, with a test for one element: is there one, are all so, how many, and where is the first
 * (null if there is none)? The first two return 1 or 0, or -errno; the third puts the count into *count. */
FILCH_API int filch_any(const void *base, size_t n, size_t size, filch_test *test, void *arg);
FILCH_API int filch_all(const void *base, size_t n, size_t size, filch_test *test, void *arg);
FILCH_API int filch_count(const void *base, size_t n, size_t size, filch_test *test, void *arg,
                          size_t *count);
FILCH_API int filch_first(const void *base, size_t n, size_t size, filch_test *test, void *arg, void **where);

/* ---- arrays --------------------------------------------------------------------------------- */

/* Sizes are in bytes per element. Arrays of one call do not overlap unless it says so. */

/* fn(to, from) for each element; to may be from if the sizes are the same. */
FILCH_API int filch_map(void *to, size_t to_size, const void *from, size_t from_size, size_t n,
                        void (*fn)(void *to, const void *from, void *arg), void *arg);
FILCH_API int filch_fill(void *base, size_t n, size_t size, const void *value);
FILCH_API int filch_copy(void *to, const void *from, size_t n, size_t size);
FILCH_API int filch_reverse(void *base, size_t n, size_t size);

/* Those elements for which `keep` is not 0, in order, into `to` (room for n); how many in *kept (may be
 * null). `keep` is called once for each. Where memory is short, by the caller alone. */
FILCH_API int filch_pack(void *to, const void *from, size_t n, size_t size, filch_test *keep, void *arg,
                         size_t *kept);
/* In place: those first, then the others, each in order; how many in *kept (may be null). Takes memory for a
 * copy, or else more time; -ENOMEM: not even a bit for each. After any error the array is as it was. */
FILCH_API int filch_partition(void *base, size_t n, size_t size, filch_test *keep, void *arg, size_t *kept);

/* ---- sums, least and greatest, searches in plain types -------------------------------------- */

/* filch_sum(v, n), filch_min(v, n), filch_max(v, n) and filch_scan_sum(to, from, n) for arrays of the types
 * below; for each also as functions: filch_sum_i32 and so on. Integers are summed in 64 bits (wrapping
 * around), floating-point in double, grouped by n alone (the same bits for any number of workers). The
 * least and greatest of no element are 0; NaNs are passed over (0 if there is nothing else). filch_scan_sum
 * writes sums up to and including each element (wrapping around in the type), filch_scan_sum_before those
 * before it; to may be from; both return 0 or -errno. filch_index_any(v, n, value) is where the value is in
 * the array, any one of such places, and filch_index_first the first of them; n if there is none (a NaN is
 * nowhere). Where memory is short or the caller cancelled, the caller sums up and searches alone. */
#define FILCH_PLAIN_TYPES(X)                                                                      \
    X(i8, int8_t, int64_t) X(u8, uint8_t, uint64_t) X(i16, int16_t, int64_t)                      \
    X(u16, uint16_t, uint64_t) X(i32, int32_t, int64_t) X(u32, uint32_t, uint64_t)                \
    X(i64, int64_t, int64_t) X(u64, uint64_t, uint64_t) X(f32, float, double) X(f64, double, double)

#define FILCH_PLAIN_(name, type, wide)                                                            \
    FILCH_API wide filch_sum_##name(const type *v, size_t n);                                     \
    FILCH_API type filch_min_##name(const type *v, size_t n);                                     \
    FILCH_API type filch_max_##name(const type *v, size_t n);                                     \
    FILCH_API int filch_scan_sum_##name(type *to, const type *from, size_t n);                    \
    FILCH_API int filch_scan_sum_before_##name(type *to, const type *from, size_t n);             \
    FILCH_API size_t filch_index_any_##name(const type *v, size_t n, type value);                 \
    FILCH_API size_t filch_index_first_##name(const type *v, size_t n, type value);
FILCH_PLAIN_TYPES(FILCH_PLAIN_)
#undef FILCH_PLAIN_

#ifndef __cplusplus
/* By the type of the array; sort.h has filch_sort_plain in the same way. */
#define FILCH_PLAIN_PICK_(what, v)                                                                \
    _Generic((v), const int8_t *: what##_i8, int8_t *: what##_i8, const uint8_t *: what##_u8,     \
        uint8_t *: what##_u8, const int16_t *: what##_i16, int16_t *: what##_i16,                 \
        const uint16_t *: what##_u16, uint16_t *: what##_u16, const int32_t *: what##_i32,        \
        int32_t *: what##_i32, const uint32_t *: what##_u32, uint32_t *: what##_u32,              \
        const int64_t *: what##_i64, int64_t *: what##_i64, const uint64_t *: what##_u64,         \
        uint64_t *: what##_u64, const float *: what##_f32, float *: what##_f32,                   \
        const double *: what##_f64, double *: what##_f64)
#define filch_sum(v, n) FILCH_PLAIN_PICK_(filch_sum, v)(v, n)
#define filch_min(v, n) FILCH_PLAIN_PICK_(filch_min, v)(v, n)
#define filch_max(v, n) FILCH_PLAIN_PICK_(filch_max, v)(v, n)
#define filch_scan_sum(to, from, n) FILCH_PLAIN_PICK_(filch_scan_sum, to)(to, from, n)
#define filch_scan_sum_before(to, from, n) FILCH_PLAIN_PICK_(filch_scan_sum_before, to)(to, from, n)
#define filch_index_any(v, n, value) FILCH_PLAIN_PICK_(filch_index_any, v)(v, n, value)
#define filch_index_first(v, n, value) FILCH_PLAIN_PICK_(filch_index_first, v)(v, n, value)
#endif

/* ---- storage of each worker ----------------------------------------------------------------- */

/* One value per worker of a pool, made when a worker first asks for it, for what is too costly to make for
 * each piece (tables, buffers, random numbers). Threads outside the pool share one more. */
typedef struct filch_per_worker filch_per_worker;

/* `make` (null: zeroes) is called with fresh zeroed memory, aligned to 128 bytes; `unmake` (may be null) by
 * destroy. If `make` waits, another of its worker may be faster: what it made is unmade then. null pool:
 * current or default. Returns 0 or -ENOMEM. Any thread. */
FILCH_API int filch_per_worker_create(filch_per_worker **out, filch_pool *pool, size_t size,
                                      void (*make)(void *value, void *arg),
                                      void (*unmake)(void *value, void *arg), void *arg);
/* When nobody uses them any more; the pool may be gone. Any thread. */
FILCH_API void filch_per_worker_destroy(filch_per_worker *values);
/* The calling worker's. Good until the caller waits: then it may be on another worker. Null: no memory. Any
 * thread; does not wait unless `make` does, or outside the pool another thread makes theirs. */
FILCH_API void *filch_per_worker_get(filch_per_worker *values);
/* fn for each value that was made, by the caller, in order of the workers: to add them up. Not while others
 * use them. */
FILCH_API void filch_per_worker_each(filch_per_worker *values, void (*fn)(void *value, void *arg), void *arg);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_PAR_H */
