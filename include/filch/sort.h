/* filch/sort.h: sorting arrays.
 *
 *     filch_sort(v, n, sizeof *v, cmp);     qsort's arguments, any comparison
 *     filch_sort_i32(v, n);                 numbers, much faster: no comparison at all
 *
 * All of them: any thread; may wait; may resume on another thread (comparisons too, and several run at
 * once). They return 0, -ECANCELED (the caller's scope was cancelled: the elements are all there, in some
 * order) or -EINVAL (size 0, or n * size is more than there can be). Memory for a copy of the array is
 * used where it can be had (filch_how.scratch: n * size bytes; for elements of more than 64 bytes 16 more
 * for each); without, they sort in place and take longer. What is sorted already costs one look. A
 * comparison that contradicts itself gives some order of the same elements.
 */
#ifndef FILCH_SORT_H
#define FILCH_SORT_H

#include <filch/how.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int filch_compare(const void *a, const void *b);
typedef int filch_compare_r(const void *a, const void *b, void *arg); /* as for qsort_r */

/* By comparison. Equal elements keep their order in the stable forms. */
FILCH_API int filch_sort(void *base, size_t n, size_t size, filch_compare *cmp);
FILCH_API int filch_sort_r(void *base, size_t n, size_t size, filch_compare_r *cmp, void *arg);
FILCH_API int filch_sort_with(const filch_how *how, void *base, size_t n, size_t size, filch_compare_r *cmp,
                              void *arg);
FILCH_API int filch_sort_stable(void *base, size_t n, size_t size, filch_compare *cmp);
FILCH_API int filch_sort_stable_r(void *base, size_t n, size_t size, filch_compare_r *cmp, void *arg);
FILCH_API int filch_sort_stable_with(const filch_how *how, void *base, size_t n, size_t size,
                                     filch_compare_r *cmp, void *arg);

/* Numbers, ascending. Floating-point: -0.0 before 0.0, NaNs with the sign bit first, the others last. */
FILCH_API int filch_sort_i8(int8_t *v, size_t n);
FILCH_API int filch_sort_u8(uint8_t *v, size_t n);
FILCH_API int filch_sort_i16(int16_t *v, size_t n);
FILCH_API int filch_sort_u16(uint16_t *v, size_t n);
FILCH_API int filch_sort_i32(int32_t *v, size_t n);
FILCH_API int filch_sort_u32(uint32_t *v, size_t n);
FILCH_API int filch_sort_i64(int64_t *v, size_t n);
FILCH_API int filch_sort_u64(uint64_t *v, size_t n);
FILCH_API int filch_sort_f32(float *v, size_t n);
FILCH_API int filch_sort_f64(double *v, size_t n);

enum filch_plain {
    FILCH_I8, FILCH_U8, FILCH_I16, FILCH_U16, FILCH_I32, FILCH_U32, FILCH_I64, FILCH_U64, FILCH_F32, FILCH_F64
};
FILCH_API int filch_sort_plain_with(const filch_how *how, void *v, size_t n, enum filch_plain type);

#ifndef __cplusplus
/* By the type of the array. */
#define filch_sort_plain(v, n)                                                                    \
    _Generic((v), int8_t *: filch_sort_i8, uint8_t *: filch_sort_u8, int16_t *: filch_sort_i16,   \
        uint16_t *: filch_sort_u16, int32_t *: filch_sort_i32, uint32_t *: filch_sort_u32,        \
        int64_t *: filch_sort_i64, uint64_t *: filch_sort_u64, float *: filch_sort_f32,           \
        double *: filch_sort_f64)(v, n)
#endif

/* Records by a number that is computed from each (once, if there is memory to keep it), stable, ascending.
 * `key` is called by several workers at once. */
FILCH_API int filch_sort_by_key(void *base, size_t n, size_t size,
                                uint64_t (*key)(const void *element, void *arg), void *arg);

/* The k smallest to the front, in order; the rest behind them in any order. k > n is n. */
FILCH_API int filch_sort_part(void *base, size_t n, size_t size, size_t k, filch_compare_r *cmp, void *arg);
/* What would be at index k if it were sorted is there, nothing greater before it, nothing less behind. k
 * >= n: no effect. */
FILCH_API int filch_nth(void *base, size_t n, size_t size, size_t k, filch_compare_r *cmp, void *arg);

/* Two sorted arrays into one, which overlaps neither; of equal elements those of `a` first. */
FILCH_API int filch_merge(void *to, const void *a, size_t na, const void *b, size_t nb, size_t size,
                          filch_compare_r *cmp, void *arg);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_SORT_H */
