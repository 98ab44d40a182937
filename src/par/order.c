/* order.c: sorting, merging and parting a piece of an array. See order.h. */
#include "par/order.h"

#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

/* From so many elements on a merge looks first whether there is anything to do. */
#define LOOK 16

/* ---- comparing and moving: `size` and `pointers` are constants, but for odd sizes ------------- */

/* All ones if b is before a, else 0. */
INLINE uintptr_t before(const struct order *o, const char *b, const char *a, bool pointers)
{
    return -(uintptr_t)(order_compare(o, b, a, pointers) < 0);
}

INLINE const char *pick(uintptr_t mask, const char *if_set, const char *if_clear)
{
    uintptr_t x = (uintptr_t)if_clear ^ (((uintptr_t)if_set ^ (uintptr_t)if_clear) & mask);
    return (const char *)x;
}

INLINE void move(char *to, const char *from, size_t size)
{
    memcpy(to, from, size);
}

/* ---- merging -------------------------------------------------------------------------------- */

/* What is left of a merge: two runs, and where they go. */
struct merging {
    const char *a, *a_end, *b, *b_end;
    char *to, *to_end;
};

/* Merges the front, an element at a time, until a run is empty; moves the rest. */
INLINE void merge_rest(const struct order *o, struct merging g, size_t size, bool pointers)
{
    while (g.a != g.a_end && g.b != g.b_end) {
        uintptr_t right = before(o, g.b, g.a, pointers);
        move(g.to, pick(right, g.b, g.a), size);
        g.to += size;
        g.b += right & size;
        g.a += ~right & size;
    }
    size_t left = (size_t)(g.a_end - g.a);
    memcpy(g.to, g.a, left);
    memcpy(g.to + left, g.b, (size_t)(g.b_end - g.b));
}

/* `steps` elements from the front and as many from the back; neither run has fewer, so no end can be
 * reached. */
INLINE struct merging merge_ends(const struct order *o, struct merging g, size_t steps, size_t size,
                                 bool pointers)
{
    do {
        uintptr_t right = before(o, g.b, g.a, pointers);
        uintptr_t left = before(o, g.b_end - size, g.a_end - size, pointers);
        move(g.to, pick(right, g.b, g.a), size);
        g.to += size;
        g.b += right & size;
        g.a += ~right & size;
        g.to_end -= size;
        move(g.to_end, pick(left, g.a_end, g.b_end) - size, size);
        g.a_end -= left & size;
        g.b_end -= ~left & size;
    } while (--steps);
    return g;
}

/* A comparison that contradicts itself can take an element from the front and again from the back. Then
 * what the ends did is not used: the front alone cannot go wrong. */
INLINE void merge_both_ends(const struct order *o, struct merging g, size_t size, bool pointers)
{
    for (;;) {
        size_t na = (size_t)(g.a_end - g.a), nb = (size_t)(g.b_end - g.b), least = na < nb ? na : nb;
        if (least < size)
            break;
        struct merging next = merge_ends(o, g, least / size, size, pointers);
        if (next.a > next.a_end || next.b > next.b_end)
            break;
        g = next;
    }
    merge_rest(o, g, size, pointers);
}

INLINE void merge_runs(const struct order *o, char *to, const char *a, size_t na, const char *b, size_t nb,
                       size_t size, bool pointers)
{
    struct merging g = {a, a + na * size, b, b + nb * size, to, to + (na + nb) * size};
    if (na + nb >= LOOK && na && nb && !before(o, b, g.a_end - size, pointers)) {
        memcpy(to, a, na * size);
        memcpy(to + na * size, b, nb * size);
        return;
    }
    merge_both_ends(o, g, size, pointers);
}

/* ---- the smallest runs ---------------------------------------------------------------------- */

INLINE void sort_two(const struct order *o, char *to, const char *v, size_t size, bool pointers)
{
    uintptr_t swap = before(o, v + size, v, pointers);
    move(to, pick(swap, v + size, v), size);
    move(to + size, pick(swap, v, v + size), size);
}

INLINE void sort_three(const struct order *o, char *to, const char *v, size_t size, bool pointers)
{
    uintptr_t swap = before(o, v + size, v, pointers);
    const char *x = v + 2 * size, *low = pick(swap, v + size, v), *high = pick(swap, v, v + size);
    uintptr_t under = before(o, x, high, pointers);
    uintptr_t first = before(o, x, low, pointers) & under;
    move(to, pick(first, x, low), size);
    move(to + size, pick(first, low, pick(under, x, high)), size);
    move(to + 2 * size, pick(under, high, x), size);
}

/* Two pairs, then the least and the greatest of all, then the two that remain: whatever the answers are, each
 * element goes to one place. */
INLINE void sort_four(const struct order *o, char *to, const char *v, size_t size, bool pointers)
{
    const char *v1 = v + size, *v2 = v + 2 * size, *v3 = v + 3 * size;
    uintptr_t p = before(o, v1, v, pointers), q = before(o, v3, v2, pointers);
    const char *a = pick(p, v1, v), *b = pick(p, v, v1), *c = pick(q, v3, v2), *d = pick(q, v2, v3);
    uintptr_t low = before(o, c, a, pointers), high = before(o, d, b, pointers);
    const char *left = pick(low, a, pick(high, c, b)), *right = pick(high, d, pick(low, b, c));
    uintptr_t swap = before(o, right, left, pointers);
    move(to, pick(low, c, a), size);
    move(to + size, pick(swap, right, left), size);
    move(to + 2 * size, pick(swap, left, right), size);
    move(to + 3 * size, pick(high, b, d), size);
}

INLINE void sort_few(const struct order *o, char *a, char *b, size_t n, bool into_b, size_t size,
                     bool pointers)
{
    char *from = a, *to = b;
    if (!into_b) {
        memcpy(b, a, n * size);
        from = b;
        to = a;
    }
    if (n == 4)
        sort_four(o, to, from, size, pointers);
    else if (n == 3)
        sort_three(o, to, from, size, pointers);
    else if (n == 2)
        sort_two(o, to, from, size, pointers);
    else if (n == 1)
        move(to, from, size);
}

typedef void sort_fn(const struct order *o, char *a, char *b, size_t n, bool into_b);

/* `self` is the function that this is compiled into. */
INLINE void sort_run(const struct order *o, char *a, char *b, size_t n, bool into_b, size_t size,
                     bool pointers, sort_fn *self)
{
    if (n <= 4) {
        sort_few(o, a, b, n, into_b, size, pointers);
        return;
    }
    size_t half = n / 2;
    self(o, a, b, half, !into_b);
    self(o, a + half * size, b + half * size, n - half, !into_b);
    const char *from = into_b ? a : b;
    merge_runs(o, into_b ? b : a, from, half, from + half * size, n - half, size, pointers);
}

/* ---- parting -------------------------------------------------------------------------------- */

/* Every element is written to all three places it may belong to, and only one of them counts. Equal ones
 * gather at the front of v, where everything was read already. */
INLINE void part_run(const struct order *o, char *v, char *to, size_t n, const char *pivot, size_t count[2],
                     size_t size, bool pointers)
{
    char *less = to, *more = to + n * size, *equal = v, *end = v + n * size;
    for (const char *x = v; x != end; x += size) {
        int c = order_compare(o, x, pivot, pointers);
        char *last = more - size;
        if (size <= 16) {
            move(less, x, size);
            move(last, x, size);
            move(equal, x, size);
        } else {
            move(c < 0 ? less : c > 0 ? last : equal, x, size);
        }
        less += -(size_t)(c < 0) & size;
        more -= -(size_t)(c > 0) & size;
        equal += -(size_t)(c == 0) & size;
    }
    count[0] = (size_t)(less - to) / size;
    count[1] = (size_t)(equal - v) / size;
    memcpy(less, v, count[1] * size);
}

/* ---- for each size -------------------------------------------------------------------------- */

#define KIND(name, size, pointers)                                                                \
    static void name##_sort(const struct order *o, char *a, char *b, size_t n, bool into_b)       \
    {                                                                                             \
        sort_run(o, a, b, n, into_b, size, pointers, name##_sort);                                \
    }                                                                                             \
    static void name##_merge(const struct order *o, char *to, const char *a, size_t na,           \
                             const char *b, size_t nb)                                            \
    {                                                                                             \
        merge_runs(o, to, a, na, b, nb, size, pointers);                                          \
    }                                                                                             \
    static void name##_part(const struct order *o, char *v, char *to, size_t n,                   \
                            const char *pivot, size_t count[2])                                   \
    {                                                                                             \
        part_run(o, v, to, n, pivot, count, size, pointers);                                      \
    }                                                                                             \
    static const struct order_kind name = {name##_sort, name##_merge, name##_part}

KIND(kind_4, 4, false);
KIND(kind_8, 8, false);
KIND(kind_16, 16, false);
KIND(kind_24, 24, false);
KIND(kind_32, 32, false);
KIND(kind_any, o->size, false);
KIND(kind_pointer, sizeof(char *), true);

static const struct order_kind *kind_of(size_t size)
{
    switch (size) {
    case 4: return &kind_4;
    case 8: return &kind_8;
    case 16: return &kind_16;
    case 24: return &kind_24;
    case 32: return &kind_32;
    default: return &kind_any;
    }
}

struct order order_of(filch_compare *two, filch_compare_r *three, void *arg, size_t size)
{
    return (struct order){two, three, arg, size, false, kind_of(size)};
}

struct order order_of_pointers(const struct order *o)
{
    return (struct order){o->two, o->three, o->arg, sizeof(char *), true, &kind_pointer};
}

/* ---- runs ----------------------------------------------------------------------------------- */

size_t order_rising(const struct order *o, const char *v, size_t n)
{
    size_t i = 1;
    while (i < n && !order_less(o, v + i * o->size, v + (i - 1) * o->size))
        i++;
    return n ? i : 0;
}

size_t order_falling(const struct order *o, const char *v, size_t n)
{
    size_t i = 1;
    while (i < n && order_less(o, v + i * o->size, v + (i - 1) * o->size))
        i++;
    return n ? i : 0;
}

static void swap(char *a, char *b, size_t size)
{
    char t[64];
    for (size_t part; size; size -= part, a += part, b += part) {
        part = size < sizeof t ? size : sizeof t;
        memcpy(t, a, part);
        memcpy(a, b, part);
        memcpy(b, t, part);
    }
}

void order_reverse(const struct order *o, char *v, size_t n)
{
    if (n == 0)
        return;
    for (char *w = v + (n - 1) * o->size; v < w; v += o->size, w -= o->size)
        swap(v, w, o->size);
}

/* ---- searches ------------------------------------------------------------------------------- */

size_t order_before(const struct order *o, const char *v, size_t n, const char *x)
{
    size_t lo = 0;
    while (n > 0) {
        size_t half = n / 2;
        bool right = order_less(o, v + (lo + half) * o->size, x);
        lo = right ? lo + half + 1 : lo;
        n = right ? n - half - 1 : half;
    }
    return lo;
}

size_t order_not_behind(const struct order *o, const char *v, size_t n, const char *x)
{
    size_t lo = 0;
    while (n > 0) {
        size_t half = n / 2;
        bool right = !order_less(o, x, v + (lo + half) * o->size);
        lo = right ? lo + half + 1 : lo;
        n = right ? n - half - 1 : half;
    }
    return lo;
}

/* ---- without memory ------------------------------------------------------------------------- */

/* Turns [0, mid) [mid, n) into [mid, n) [0, mid). */
static void rotate(const struct order *o, char *v, size_t mid, size_t n)
{
    order_reverse(o, v, mid);
    order_reverse(o, v + mid * o->size, n - mid);
    order_reverse(o, v, n);
}

/* The longer run is cut in the middle, the other where that element would go; what is between the cuts
 * changes sides, and two smaller merges are left. */
void order_merge_in_place(const struct order *o, char *v, size_t mid, size_t n)
{
    while (mid > 0 && mid < n && order_less(o, v + mid * o->size, v + (mid - 1) * o->size)) {
        size_t cut, other;
        if (n == 2) {
            swap(v, v + o->size, o->size);
            return;
        }
        if (mid >= n - mid) {
            cut = mid / 2;
            other = mid + order_before(o, v + mid * o->size, n - mid, v + cut * o->size);
        } else {
            other = mid + (n - mid) / 2;
            cut = order_not_behind(o, v, mid, v + other * o->size);
        }
        rotate(o, v + cut * o->size, mid - cut, other - cut);
        size_t seam = cut + (other - mid);
        order_merge_in_place(o, v, cut, seam);
        v += seam * o->size;
        mid = mid - cut;
        n -= seam;
    }
}
