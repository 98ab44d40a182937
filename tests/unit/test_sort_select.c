/* test_sort_select.c: the k-th element, the k smallest, and merging. */
#include "par/merge.h"
#include "sort_kit.h"

#include <filch/scope.h>

static uint32_t questions;

static int up(const void *a, const void *b, void *arg)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    (void)arg;
    filch_add_relaxed(&questions, 1u); /* order: a count */
    return (x > y) - (x < y);
}

static int up_2(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int lies(const void *a, const void *b, void *arg)
{
    uint64_t q = filch_add_relaxed(&questions, 1u); /* order: a source of disorder */
    (void)a, (void)b;
    return *(int *)arg < 3 ? *(int *)arg - 1 : (int)(rng_mix(q) % 3) - 1;
}

/* Elements of `size` bytes, a multiple of 4, which all say the same. */
static char *make(enum pattern p, size_t n, size_t size)
{
    uint32_t *v = kit_memory(n * size);
    for (size_t i = 0; i < n; i++) {
        uint32_t x = (uint32_t)pattern_value(p, i, n);
        for (size_t k = 0; k < size / 4; k++)
            v[i * (size / 4) + k] = x;
    }
    return (char *)v;
}

static uint32_t value(const char *v, size_t i, size_t size)
{
    uint32_t x;
    memcpy(&x, v + i * size, sizeof x);
    for (size_t k = 4; k < size; k += KIT_SLOW ? 16 : 4)
        CHECK(memcmp(&x, v + i * size + k, 4) == 0);
    return x;
}

static uint32_t *sorted_values(const char *v, size_t n, size_t size)
{
    uint32_t *w = kit_memory(n * sizeof *w);
    for (size_t i = 0; i < n; i++)
        w[i] = value(v, i, size);
    qsort(w, n, sizeof *w, up_2);
    return w;
}

static void same_elements(const char *v, size_t n, size_t size, const uint32_t *want)
{
    uint32_t *got = sorted_values(v, n, size);
    CHECK(memcmp(got, want, n * sizeof *got) == 0);
    free(got);
    kit_beat();
}

/* ---- the k-th ------------------------------------------------------------------------------------ */

static void nth_one(enum pattern p, size_t n, size_t size, size_t k)
{
    char *v = make(p, n, size);
    uint32_t *want = sorted_values(v, n, size);
    CHECK_EQ(filch_nth(v, n, size, k, up, NULL), 0);
    for (size_t i = 0; i < n && k < n; i++)
        CHECK(i < k ? value(v, i, size) <= want[k] : value(v, i, size) >= want[k]);
    CHECK(k >= n || value(v, k, size) == want[k]);
    same_elements(v, n, size, want);
    free(want);
    free(v);
}

static void nth_all(void)
{
    static const size_t sizes[] = {4, 8, 16, 20, 100};
    for (int p = 0; p < PATTERNS; p++)
        for (size_t i = 0; i < KIT_SIZES; i += KIT_SLOW ? 37 : 4) {
            size_t n = kit_sizes[i];
            nth_one((enum pattern)p, n, sizes[i % 5], n / 2);
            nth_one((enum pattern)p, n, sizes[(i + 1) % 5], 0);
            nth_one((enum pattern)p, n, sizes[(i + 2) % 5], n);
            nth_one((enum pattern)p, n, sizes[(i + 3) % 5], n ? n - 1 : 0);
            nth_one((enum pattern)p, n, sizes[(i + 4) % 5], n / 10);
        }
    nth_one(RANDOM, kit_scaled(300000, 10), 4, 1000);
    nth_one(FEW_DISTINCT, kit_scaled(300000, 10), 4, 10000);
}

static void the_element_at_an_index_is_found_and_the_others_are_on_its_sides(void)
{
    kit_within(nth_all);
}

static void finding_it_takes_few_comparisons(void)
{
    static const enum pattern patterns[] = {RANDOM, SORTED, REVERSED, EQUAL, FEW_DISTINCT, ORGAN_PIPE};
    size_t n = kit_scaled(200000, 8);
    for (size_t p = 0; p < 6; p++)
        for (size_t k = 0; k < n; k += n / 5) {
            char *v = make(patterns[p], n, 4);
            filch_store_relaxed(&questions, 0u);
            CHECK_EQ(filch_nth(v, n, 4, k, up, NULL), 0);
            CHECK(questions < 3 * n);
            free(v);
        }
}

/* ---- the k smallest ------------------------------------------------------------------------------- */

static void part_one(enum pattern p, size_t n, size_t size, size_t k)
{
    char *v = make(p, n, size);
    uint32_t *want = sorted_values(v, n, size);
    CHECK_EQ(filch_sort_part(v, n, size, k, up, NULL), 0);
    for (size_t i = 0; i < n && i < k; i++)
        CHECK_EQ(value(v, i, size), want[i]);
    same_elements(v, n, size, want);
    free(want);
    free(v);
}

static void part_all(void)
{
    static const size_t sizes[] = {4, 8, 24, 12, 72};
    for (int p = 0; p < PATTERNS; p++)
        for (size_t i = 0; i < KIT_SIZES; i += KIT_SLOW ? 37 : 4) {
            size_t n = kit_sizes[i];
            part_one((enum pattern)p, n, sizes[i % 5], n / 2);
            part_one((enum pattern)p, n, sizes[(i + 1) % 5], 0);
            part_one((enum pattern)p, n, sizes[(i + 2) % 5], n + 5);
            part_one((enum pattern)p, n, sizes[(i + 3) % 5], 1);
            part_one((enum pattern)p, n, sizes[(i + 4) % 5], n / 10 + 1);
        }
    part_one(RANDOM, kit_scaled(300000, 10), 4, 5000);
}

static void the_smallest_come_first_and_in_order(void)
{
    kit_within(part_all);
}

static void lie_all(void)
{
    for (int lie = 0; lie < 4; lie++)
        for (size_t i = 0; i < KIT_SIZES; i += KIT_SLOW ? 14 : 6) {
            size_t n = kit_sizes[i], size = i % 2 ? 4 : 20;
            char *v = make(RANDOM, n, size);
            uint32_t *want = sorted_values(v, n, size);
            CHECK_EQ(filch_nth(v, n, size, n / 3, lies, &lie), 0);
            same_elements(v, n, size, want);
            CHECK_EQ(filch_sort_part(v, n, size, n / 3, lies, &lie), 0);
            same_elements(v, n, size, want);
            char *to = kit_memory(n * size);
            CHECK_EQ(filch_merge(to, v, n / 4, v + n / 4 * size, n - n / 4, size, lies, &lie), 0);
            same_elements(to, n, size, want);
            free(to);
            free(want);
            free(v);
        }
}

static void a_comparison_that_contradicts_itself_loses_nothing(void)
{
    kit_within(lie_all);
}

/* ---- merging -------------------------------------------------------------------------------------- */

struct element {
    uint32_t key, from;            /* from: which array, and where in it */
};

static struct element *make_run(size_t n, uint32_t range, uint32_t from)
{
    struct element *v = kit_memory(n * sizeof *v);
    uint32_t *keys = kit_memory(n * sizeof *keys);
    for (size_t i = 0; i < n; i++)
        keys[i] = (uint32_t)rng_next(&kit_rng) % range;
    qsort(keys, n, sizeof *keys, up_2);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct element){keys[i], from + (uint32_t)i};
    free(keys);
    return v;
}

static void merge_one(size_t na, size_t nb, uint32_t range)
{
    struct element *a = make_run(na, range, 0), *b = make_run(nb, range, 1u << 30);
    struct element *to = kit_memory((na + nb + 1) * sizeof *to);
    size_t ia = 0, ib = 0;
    to[na + nb].key = 4711;
    CHECK_EQ(filch_merge(to, a, na, b, nb, sizeof *to, up, NULL), 0);
    for (size_t i = 0; i < na + nb; i++) {
        bool left = ib == nb || (ia < na && a[ia].key <= b[ib].key);
        struct element want = left ? a[ia++] : b[ib++];
        CHECK(to[i].key == want.key && to[i].from == want.from);
    }
    CHECK_EQ(to[na + nb].key, 4711);
    free(to);
    free(b);
    free(a);
    kit_beat();
}

static void merge_all(void)
{
    static const size_t lengths[] = {0, 1, 2, 3, 8, 65, 4096, KIT_SLOW ? 9000 : 20000};
    static const uint32_t ranges[] = {3, 1000, UINT32_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
            for (int r = 0; r < 3; r++)
                merge_one(lengths[i], lengths[k], ranges[r]);
}

static void two_arrays_are_merged_and_equal_elements_of_the_first_come_first(void)
{
    kit_within(merge_all);
}

static void merging_a_few_into_many_takes_few_comparisons(void)
{
    size_t n = 100000;
    struct element *a = make_run(n, UINT32_MAX, 0), one = {UINT32_MAX / 2, 0};
    struct element *to = kit_memory((n + 1) * sizeof *to);
    filch_store_relaxed(&questions, 0u);
    CHECK_EQ(filch_merge(to, a, n, &one, 1, sizeof one, up, NULL), 0);
    CHECK(questions < 200);
    for (size_t i = 0; i < n; i++)
        CHECK(to[i].key <= to[i + 1].key);
    free(to);
    free(a);
}

/* ---- cancelling, nonsense ------------------------------------------------------------------------ */

static int canceled_inside(void *arg)
{
    filch_scope *scope = arg;
    size_t n = 50000;
    char *v = make(RANDOM, n, 4), *to = kit_memory(n * 4);
    uint32_t *want = sorted_values(v, n, 4);
    filch_scope_cancel(scope);
    CHECK_EQ(filch_nth(v, n, 4, n / 2, up, NULL), -ECANCELED);
    same_elements(v, n, 4, want);
    CHECK_EQ(filch_sort_part(v, n, 4, n / 2, up, NULL), -ECANCELED);
    same_elements(v, n, 4, want);
    CHECK_EQ(filch_merge(to, v, n / 2, v + n / 2 * 4, n - n / 2, 4, up, NULL), -ECANCELED);
    same_elements(to, n, 4, want);
    free(want);
    free(to);
    free(v);
    return 0;
}

static void in_a_cancelled_scope_nothing_is_lost(void)
{
    filch_pool *pool = kit_pool(2);
    filch_scope scope;
    rng_seed(&kit_rng, 5);
    CHECK_EQ(filch_scope_open_on(&scope, pool), 0);
    CHECK_EQ(filch_scope_go(&scope, canceled_inside, &scope), 0);
    CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
    kit_destroy(pool);
}

static void nonsense_is_refused(void)
{
    uint32_t v[2] = {2, 1}, to[2];
    CHECK_EQ(filch_nth(v, 2, 0, 0, up, NULL), -EINVAL);
    CHECK_EQ(filch_sort_part(v, SIZE_MAX / 3, 8, 1, up, NULL), -EINVAL);
    CHECK_EQ(filch_merge(to, v, SIZE_MAX, v, 2, 4, up, NULL), -EINVAL);
    CHECK_EQ(filch_merge(to, v, 1, v + 1, 1, 0, up, NULL), -EINVAL);
    CHECK_EQ(filch_nth(NULL, 0, 4, 0, up, NULL), 0);
    CHECK_EQ(filch_merge(to, v, 1, v + 1, 1, 4, up, NULL), 0);
    CHECK(to[0] == 1 && to[1] == 2 && v[0] == 2);
}

int main(void)
{
    kit_watchdog();
    RUN(the_element_at_an_index_is_found_and_the_others_are_on_its_sides);
    RUN(finding_it_takes_few_comparisons);
    RUN(the_smallest_come_first_and_in_order);
    RUN(a_comparison_that_contradicts_itself_loses_nothing);
    RUN(two_arrays_are_merged_and_equal_elements_of_the_first_come_first);
    RUN(merging_a_few_into_many_takes_few_comparisons);
    RUN(in_a_cancelled_scope_nothing_is_lost);
    RUN(nonsense_is_refused);
    return check_report();
}
