/* test_sort.c: sorting by comparison: order, stability, any size of elements, comparisons that lie. */
#include "par/merge.h"
#include "sort_kit.h"

/* ---- records: a key that is compared, an index that tells equal ones apart, and a tail ----------- */

enum { HEAD = 8 };

static void record_make(char *r, size_t size, uint32_t key, uint32_t index)
{
    memset(r, (int)(index * 31u & 255), size);
    memcpy(r, &key, sizeof key);
    memcpy(r + 4, &index, sizeof index);
}

static uint32_t record_key(const char *r)
{
    uint32_t key;
    memcpy(&key, r, sizeof key);
    return key;
}

static uint32_t record_index(const char *r)
{
    uint32_t index;
    memcpy(&index, r + 4, sizeof index);
    return index;
}

static int by_key(const void *a, const void *b)
{
    uint32_t x = record_key(a), y = record_key(b);
    return (x > y) - (x < y);
}

static int calls_by_key(const void *a, const void *b, void *arg)
{
    CHECK(arg == &kit_rng);
    return by_key(a, b);
}

static char *records_make(enum pattern p, size_t n, size_t size)
{
    char *v = kit_memory(n * size);
    for (size_t i = 0; i < n; i++) {
        uint32_t key = (uint32_t)pattern_value(p, i, n) >> (p == RANDOM ? 16 : 0); /* with equal ones */
        record_make(v + i * size, size, key, (uint32_t)i);
    }
    return v;
}

/* Each once, whole. */
static void records_all_there(const char *v, size_t n, size_t size)
{
    char *seen = calloc(n + 1, 1);
    CHECK(seen);
    for (size_t i = 0; i < n; i++) {
        const char *r = v + i * size;
        uint32_t index = record_index(r);
        CHECK(index < n && !seen[index]);
        seen[index] = 1;
        for (size_t k = HEAD; k < size; k += KIT_SLOW ? 16 : 1)
            CHECK_EQ((unsigned char)r[k], index * 31u & 255);
    }
    free(seen);
}

static void records_sorted(const char *v, size_t n, size_t size)
{
    for (size_t i = 1; i < n; i++) {
        const char *a = v + (i - 1) * size, *b = v + i * size;
        CHECK(record_key(a) < record_key(b) ||
              (record_key(a) == record_key(b) && record_index(a) < record_index(b)));
    }
    records_all_there(v, n, size);
}

/* ---- claims ---------------------------------------------------------------------------------- */

static void sort_one(filch_how *how, enum pattern p, size_t n, size_t size)
{
    char *v = records_make(p, n, size);
    CHECK_EQ(filch_sort_stable_with(how, v, n, size, calls_by_key, &kit_rng), 0);
    records_sorted(v, n, size);
    free(v);
    kit_beat();
}

static void all_patterns(filch_how *how)
{
    for (int p = 0; p < PATTERNS; p++)
        for (size_t i = 0; i < KIT_SIZES; i += KIT_SLOW ? 7 : 1)
            sort_one(how, (enum pattern)p, kit_sizes[i], 8);
}

static void every_pattern_of_every_length_is_sorted_and_stable(void)
{
    kit_everywhere(all_patterns);
}

static void all_element_sizes(filch_how *how)
{
    static const size_t lengths[] = {2, 3, 5, 37, 300, 3000};
    for (size_t size = HEAD; size <= 200; size += KIT_SLOW ? 48 : 1)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            sort_one(how, RANDOM, lengths[i], size);
    sort_one(how, RANDOM, 20000, 16);
    sort_one(how, RANDOM, 20000, 24);
    sort_one(how, RANDOM, 20000, 32);
    sort_one(how, RANDOM, 20000, 72);
    sort_one(how, RANDOM, 20, 100000);
}

static void elements_of_every_size_move_whole(void)
{
    kit_everywhere(all_element_sizes);
}

static size_t short_size;

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, short_size);
}

static int by_bytes_r(const void *a, const void *b, void *arg)
{
    (void)arg;
    return by_bytes(a, b);
}

static void short_elements(filch_how *how)
{
    for (short_size = 1; short_size < HEAD; short_size++) {
        size_t n = kit_scaled(9000, 4);
        char *v = kit_memory(n * short_size), *w = kit_memory(n * short_size);
        for (size_t i = 0; i < n * short_size; i++)
            v[i] = w[i] = (char)(rng_next(&kit_rng) & 3);
        CHECK_EQ(filch_sort_with(how, v, n, short_size, by_bytes_r, NULL), 0);
        qsort(w, n, short_size, by_bytes);
        CHECK(memcmp(v, w, n * short_size) == 0);
        free(v);
        free(w);
    }
}

static void elements_shorter_than_a_word_are_sorted(void)
{
    kit_everywhere(short_elements);
}

static int up(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int up_r(const void *a, const void *b, void *arg)
{
    (void)arg;
    return up(a, b);
}

static void many(filch_how *how)
{
    size_t n = kit_scaled(1000003, 30);
    int32_t *v = kit_memory(n * sizeof *v);
    uint64_t sum = 0, after = 0;
    for (size_t i = 0; i < n; i++) {
        v[i] = (int32_t)rng_next(&kit_rng);
        sum += (uint64_t)(uint32_t)v[i] * 2654435761u;
    }
    CHECK_EQ(filch_sort_with(how, v, n, sizeof *v, up_r, NULL), 0);
    for (size_t i = 0; i < n; i++) {
        CHECK(i == 0 || v[i - 1] <= v[i]);
        after += (uint64_t)(uint32_t)v[i] * 2654435761u;
    }
    CHECK(sum == after);
    free(v);
}

static void a_million_are_sorted(void)
{
    kit_everywhere(many);
}

/* From inside a task, which has a small stack. */
static void plain_forms(void)
{
    for (size_t n = 0; n < 30000; n = 3 * n + 1) {
        for (int form = 0; form < 4; form++) {
            char *v = records_make(RANDOM, n, 12);
            int rc = form == 0   ? filch_sort(v, n, 12, by_key)
                     : form == 1 ? filch_sort_r(v, n, 12, calls_by_key, &kit_rng)
                     : form == 2 ? filch_sort_stable(v, n, 12, by_key)
                                 : filch_sort_stable_r(v, n, 12, calls_by_key, &kit_rng);
            CHECK_EQ(rc, 0);
            records_sorted(v, n, 12);
            free(v);
        }
        kit_beat();
    }
}

static void every_form_sorts_from_inside_a_task(void)
{
    kit_within(plain_forms);
}

/* ---- comparisons that contradict themselves ---------------------------------------------------- */

/* A generator of each call would be shared by workers; what an answer is depends on the question and a
 * counter. */
static uint32_t questions;

static int lies(const void *a, const void *b, void *arg)
{
    uint64_t q = filch_add_relaxed(&questions, 1u); /* order: a source of disorder */
    switch (*(int *)arg) {
    case 0: return 1;
    case 1: return -1;
    case 2: return 0;
    case 3: return (int)(rng_mix(q) % 3) - 1;
    case 4: return rng_mix(record_index(a) * 77ull + record_index(b)) & 1 ? 1 : -1;
    default: return by_key(a, b) ? by_key(a, b) : -1; /* equal ones are less, both ways */
    }
}

static void sort_with_lies(filch_how *how)
{
    static const size_t sizes[] = {8, 16, 20, 24, 40, 100};
    for (int lie = 0; lie <= 5; lie++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            for (size_t i = 0; i < KIT_SIZES; i += KIT_SLOW ? 13 : 3) {
                char *v = records_make(FEW_DISTINCT, kit_sizes[i], sizes[s]);
                CHECK_EQ(filch_sort_with(how, v, kit_sizes[i], sizes[s], lies, &lie), 0);
                records_all_there(v, kit_sizes[i], sizes[s]);
                free(v);
                kit_beat();
            }
}

static void a_comparison_that_contradicts_itself_loses_nothing(void)
{
    kit_everywhere(sort_with_lies);
}

/* ---- memory ------------------------------------------------------------------------------------ */

static void with_scratch(filch_how *how)
{
    size_t n = kit_scaled(20000, 3), sizes[] = {8, 12, 100};
    for (size_t s = 0; s < 3; s++) {
        size_t whole = n * sizes[s] + (sizes[s] > 64 ? 16 * n : 0);
        char *scratch = kit_memory(whole + 64 + 16);
        memset(scratch, 0x5a, whole + 64 + 16);
        for (size_t skip = 0; skip <= 16; skip += 8) {
            how->scratch = scratch + skip;
            how->scratch_size = whole + (-(uintptr_t)how->scratch & 15);
            sort_one(how, RANDOM, n, sizes[s]);
            for (size_t i = 0; i < 16; i++) /* nothing behind it was touched */
                CHECK_EQ(scratch[skip + how->scratch_size + i], 0x5a);
            how->scratch_size /= 2; /* too small: as if there were none */
            sort_one(how, RANDOM, n, sizes[s]);
            memset(scratch, 0x5a, whole + 64 + 16);
        }
        free(scratch);
    }
}

static void scratch_of_the_caller_is_used_if_it_is_large_enough(void)
{
    kit_everywhere(with_scratch);
}

struct in_place {
    const struct order *order;
    char *v;
    size_t n;
};

static void no_spare(struct crew *c, filch_slot *head, void *job)
{
    struct in_place *s = job;
    merge_sort(c, head, s->order, s->v, 0, s->n);
}

static void without_memory(filch_how *how)
{
    for (int lie = 5; lie <= 6; lie++)
        for (int p = 0; p < PATTERNS; p++)
            for (size_t i = 0; i < KIT_SIZES; i += KIT_SLOW ? 11 : 3) {
                size_t n = kit_sizes[i], size = 12;
                struct crew c;
                char *v = records_make((enum pattern)p, n, size);
                struct order o = lie == 5 ? order_of(0, lies, &lie, size) : order_of(by_key, 0, 0, size);
                struct in_place s = {&o, v, n};
                crew_begin(&c, how, "test", 100);
                crew_run(&c, n, no_spare, &s);
                CHECK_EQ(crew_end(&c), 0);
                if (lie == 5)
                    records_all_there(v, n, size);
                else
                    records_sorted(v, n, size);
                free(v);
                kit_beat();
            }
}

static void without_memory_it_is_sorted_in_place_and_stable(void)
{
    kit_everywhere(without_memory);
}

struct addresses {
    char *v;
    char **at;
    size_t n, size;
};

static void arrange(struct crew *c, filch_slot *head, void *job)
{
    struct addresses *a = job;
    merge_arrange(c, head, a->v, 0, a->at, a->n, a->size);
}

static void elements_are_arranged_in_place(void)
{
    enum { N = 1000, SIZE = 70 };
    struct crew c;
    char *at[N], *v = records_make(SORTED, N, SIZE);
    struct addresses a = {v, at, N, SIZE};
    for (size_t i = 0; i < N; i++)
        at[i] = v + (i * 387 + 5) % N * SIZE;
    crew_begin(&c, 0, "test", 4096);
    crew_run(&c, N, arrange, &a);
    CHECK_EQ(crew_end(&c), 0);
    for (size_t i = 0; i < N; i++)
        CHECK_EQ(record_key(v + i * SIZE), (i * 387 + 5) % N);
    records_all_there(v, N, SIZE);
    free(v);
}

/* ---- cancelling, nonsense ---------------------------------------------------------------------- */

struct canceler {
    filch_scope *scope;
    uint32_t calls, after;
};

static int cancels(const void *a, const void *b, void *arg)
{
    struct canceler *c = arg;
    if (filch_add_relaxed(&c->calls, 1u) == c->after) /* order: a count */
        filch_scope_cancel(c->scope);
    return by_key(a, b);
}

static void canceled(filch_how *how)
{
    static const size_t sizes[] = {8, 20, 100};
    for (size_t s = 0; s < 3; s++)
        for (uint32_t after = 0; after < 300000; after = (KIT_SLOW ? 50 : 5) * after + 1) {
            filch_scope scope;
            struct canceler c = {&scope, 0, after};
            size_t n = 20000, size = sizes[s];
            char *v = records_make(RANDOM, n, size);
            CHECK_EQ(filch_scope_open_on(&scope, how->pool), 0);
            how->scope = &scope;
            if (after == 0)
                filch_scope_cancel(&scope);
            CHECK_EQ(filch_sort_with(how, v, n, size, cancels, &c), -ECANCELED);
            CHECK(after > 0 || c.calls == 0);
            CHECK(c.calls < 400000);
            records_all_there(v, n, size);
            CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
            free(v);
        }
}

static void a_cancelled_sort_ends_early_and_loses_nothing(void)
{
    kit_everywhere(canceled);
}

static void nonsense_is_refused_and_nothing_is_sorted(void)
{
    int32_t v[3] = {3, 2, 1};
    CHECK_EQ(filch_sort(v, 3, 0, up), -EINVAL);
    CHECK_EQ(filch_sort(v, SIZE_MAX / 2, 4, up), -EINVAL);
    CHECK_EQ(filch_sort(NULL, 0, 4, up), 0);
    CHECK_EQ(filch_sort(v, 1, 4, up), 0);
    CHECK(v[0] == 3 && v[1] == 2 && v[2] == 1);
}

/* How many comparisons: of n log2(n) no more, and what is sorted is only looked at. */
static uint32_t count_comparisons(enum pattern p, size_t n)
{
    char *v = records_make(p, n, 8);
    struct canceler c = {0, 0, UINT32_MAX};
    filch_how how = FILCH_HOW_INIT;
    how.workers = 1;
    CHECK_EQ(filch_sort_with(&how, v, n, 8, cancels, &c), 0);
    records_sorted(v, n, 8);
    free(v);
    return c.calls;
}

static void few_comparisons_are_made(void)
{
    CHECK(count_comparisons(RANDOM, 65536) < 65536 * 16);
    CHECK_EQ(count_comparisons(SORTED, 65536), 65535);
    CHECK(count_comparisons(REVERSED, 65536) <= 65537);
    CHECK(count_comparisons(SAWTOOTH, 65536) < 65536 * 14);
}

int main(void)
{
    kit_watchdog();
    RUN(every_pattern_of_every_length_is_sorted_and_stable);
    RUN(elements_of_every_size_move_whole);
    RUN(elements_shorter_than_a_word_are_sorted);
    RUN(a_million_are_sorted);
    RUN(every_form_sorts_from_inside_a_task);
    RUN(a_comparison_that_contradicts_itself_loses_nothing);
    RUN(scratch_of_the_caller_is_used_if_it_is_large_enough);
    RUN(without_memory_it_is_sorted_in_place_and_stable);
    RUN(elements_are_arranged_in_place);
    RUN(a_cancelled_sort_ends_early_and_loses_nothing);
    RUN(nonsense_is_refused_and_nothing_is_sorted);
    RUN(few_comparisons_are_made);
    return check_report();
}
