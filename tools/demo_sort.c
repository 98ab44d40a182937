/* demo_sort.c: merge sort. In the parallel form both the halves and the merging are forked, so
 * that no step is left to one worker alone. */
#include "demo.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_SORT 24   /* below, insertion is faster than merging      */
#define SMALL_MERGE 4096 /* below, a merge is not worth splitting in two */

static size_t count;
static int *unsorted, *serial_out, *parallel_out, *scratch;

static void insertion(int *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        int x = a[i];
        size_t j = i;
        for (; j > 0 && a[j - 1] > x; j--)
            a[j] = a[j - 1];
        a[j] = x;
    }
}

static void merge_serial(const int *a, size_t na, const int *b, size_t nb, int *out)
{
    size_t i = 0, j = 0;
    while (i < na && j < nb)
        *out++ = b[j] < a[i] ? b[j++] : a[i++];
    memcpy(out, a + i, (na - i) * sizeof *out);
    memcpy(out + (na - i), b + j, (nb - j) * sizeof *out);
}

static void sort_serial(int *a, int *spare, size_t n)
{
    if (n <= SMALL_SORT) {
        insertion(a, n);
        return;
    }
    size_t half = n / 2;
    sort_serial(a, spare, half);
    sort_serial(a + half, spare + half, n - half);
    merge_serial(a, half, a + half, n - half, spare);
    memcpy(a, spare, n * sizeof *a);
}

/* ---- on workers ---------------------------------------------------------------------------- */

static size_t below(const int *a, size_t n, int x)
{
    size_t low = 0;
    while (n > 0) {
        size_t half = n / 2;
        if (a[low + half] < x) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

/* The larger run is cut in the middle, the other where that value belongs. */
FILCH_TASK_VOID(merge, int *, a, size_t, na, int *, b, size_t, nb, int *, out)
{
    if (na + nb <= SMALL_MERGE) {
        merge_serial(a, na, b, nb, out);
        return;
    }
    size_t ca = na >= nb ? na / 2 : below(a, na, b[nb / 2]);
    size_t cb = na >= nb ? below(b, nb, a[na / 2]) : nb / 2;
    FILCH_FORK(later, merge, a + ca, na - ca, b + cb, nb - cb, out + ca + cb);
    FILCH_CALL(merge, a, ca, b, cb, out);
    FILCH_JOIN(merge, later);
}

FILCH_TASK_VOID(copy, int *, to, int *, from, size_t, n)
{
    if (n <= 4 * SMALL_MERGE) {
        memcpy(to, from, n * sizeof *to);
        return;
    }
    size_t half = n / 2;
    FILCH_FORK(later, copy, to + half, from + half, n - half);
    FILCH_CALL(copy, to, from, half);
    FILCH_JOIN(copy, later);
}

FILCH_TASK_VOID(sort, int *, a, int *, spare, size_t, n)
{
    if (n <= SMALL_SORT) {
        insertion(a, n);
        return;
    }
    size_t half = n / 2;
    FILCH_FORK(later, sort, a + half, spare + half, n - half);
    FILCH_CALL(sort, a, spare, half);
    FILCH_JOIN(sort, later);
    FILCH_CALL(merge, a, half, a + half, n - half, spare);
    FILCH_CALL(copy, a, spare, n);
}

/* ---- the work ------------------------------------------------------------------------------ */

static int prepare(int quick)
{
    uint64_t x = 1;
    count = quick ? 200000 : 8000000;
    unsorted = malloc(count * sizeof *unsorted);
    serial_out = malloc(count * sizeof *unsorted);
    parallel_out = malloc(count * sizeof *unsorted);
    scratch = malloc(count * sizeof *unsorted);
    if (!unsorted || !serial_out || !parallel_out || !scratch)
        return -1;
    for (size_t i = 0; i < count; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        unsorted[i] = (int)(x >> 33);
    }
    memset(scratch, 0, count * sizeof *scratch);
    return 0;
}

static void serial(void)
{
    memcpy(serial_out, unsorted, count * sizeof *unsorted);
    sort_serial(serial_out, scratch, count);
}

static void parallel(filch_pool *pool)
{
    memcpy(parallel_out, unsorted, count * sizeof *unsorted);
    FILCH_RUN_ON(pool, sort, parallel_out, scratch, count);
}

static int right(void)
{
    for (size_t i = 1; i < count; i++)
        if (parallel_out[i - 1] > parallel_out[i])
            return 0;
    return !memcmp(serial_out, parallel_out, count * sizeof *serial_out);
}

static void describe(char *out, size_t size)
{
    snprintf(out, size, "%zu numbers", count);
}

const struct demo_work demo_sort = {"merge sort", prepare, serial, parallel, right, describe};
