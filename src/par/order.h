/* order.h: elements of any size in the order of a comparison: what one worker does with a piece of an array.
 *
 * A comparison is a call into code that is not seen here, and its answer is a coin toss. A branch on it is
 * guessed wrong half of the time, which costs more than the call. So answers are data: they move pointers.
 * One merge does that from both ends at once, so that two calls are under way that do not wait for each
 * other.
 *
 * The code is compiled once for each common size of an element (order.c): a move is then a load and a store.
 */
#ifndef FILCH_ORDER_H
#define FILCH_ORDER_H

#include <filch/sort.h>
#include <stdbool.h>

struct order;

/* What is compiled for each size. */
struct order_kind {
    /* Sorts n elements at `a`, `b` has room for as many; the result is in b if `into_b`. Stable. */
    void (*sort)(const struct order *o, char *a, char *b, size_t n, bool into_b);
    /* Merges. Of equal elements those of `a` first. */
    void (*merge)(const struct order *o, char *to, const char *a, size_t na, const char *b, size_t nb);
    /* Moves n elements at `v` to `to`: those before the pivot first, equal ones, those behind; how many of
     * the first two in count[]. Contents of v are lost. */
    void (*part)(const struct order *o, char *v, char *to, size_t n, const char *pivot, size_t count[2]);
};

struct order {
    filch_compare *two;            /* one of these two */
    filch_compare_r *three;
    void *arg;
    size_t size;                   /* of an element */
    bool pointers;                 /* elements are addresses of what is compared */
    const struct order_kind *kind;
};

struct order order_of(filch_compare *two, filch_compare_r *three, void *arg, size_t size);
/* The same for an array of pointers to elements. */
struct order order_of_pointers(const struct order *o);

/* `pointers` is o->pointers, as a constant where that is known. */
static inline __attribute__((always_inline)) int order_compare(const struct order *o, const char *a,
                                                               const char *b, bool pointers)
{
    if (pointers) {
        a = *(char *const *)(const void *)a;
        b = *(char *const *)(const void *)b;
    }
    return o->two ? o->two(a, b) : o->three(a, b, o->arg);
}

/* Is b before a? */
static inline bool order_less(const struct order *o, const char *b, const char *a)
{
    return order_compare(o, b, a, o->pointers) < 0;
}

/* How many elements at the front do not go down; and how many go down, each less than the one before. */
size_t order_rising(const struct order *o, const char *v, size_t n);
size_t order_falling(const struct order *o, const char *v, size_t n);
void order_reverse(const struct order *o, char *v, size_t n);

/* In v, sorted: how many elements are before `x`; how many are not behind it. */
size_t order_before(const struct order *o, const char *v, size_t n, const char *x);
size_t order_not_behind(const struct order *o, const char *v, size_t n, const char *x);

/* [0, mid) and [mid, n) are sorted: merges them without other memory, stable, with n log n moves. */
void order_merge_in_place(const struct order *o, char *v, size_t mid, size_t n);

#endif
