/* test_arrays.c: arrays mapped, filled, copied, reversed, packed and partitioned, against plain loops. */
#define _GNU_SOURCE
#include "forking.h"
#include "par_kit.h"

#include <sys/mman.h>

/* Bytes around each array, to see that nobody writes there. */
enum { FENCE = 64, FENCE_BYTE = 0xa5 };

static unsigned char *array_new(size_t bytes)
{
    unsigned char *p = malloc(bytes + 2 * FENCE);
    CHECK(p);
    memset(p, FENCE_BYTE, bytes + 2 * FENCE);
    return p + FENCE;
}

static void array_free(unsigned char *p, size_t bytes)
{
    for (size_t i = 0; i < FENCE; i++)
        CHECK(p[-1 - (ptrdiff_t)i] == FENCE_BYTE && p[bytes + i] == FENCE_BYTE);
    free(p - FENCE);
    kit_beat();
}

static unsigned char *array_random(size_t bytes)
{
    unsigned char *p = array_new(bytes);
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t random = rng_next(&par_rng);
        memcpy(p + i, &random, bytes - i < 8 ? bytes - i : 8);
    }
    return p;
}

static size_t random_size(void)
{
    static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 12, 16, 24, 63, 64, 65, 100, 128, 200, 1000};
    return sizes[par_random(sizeof sizes / sizeof *sizes)];
}

/* Few, some, and so many that they are shared out. */
static size_t random_count(void)
{
    size_t range[] = {5, 70, 700, kit_scaled(10000, 4)};
    return par_random(range[par_random(4)]);
}

static void everywhere_often(void (*claim)(size_t n, size_t size))
{
    static const size_t edges[] = {0, 1, 2, 63, 64, 65, 255, 256, 257, 4096, 16383, 16384, 16385};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        claim(edges[i], random_size() % 65 + 1);
    for (int i = 0; i < 20; i++)
        claim(random_count(), random_size());
}

/* ---- map ------------------------------------------------------------------------------------ */

static void widen(void *to, const void *from, void *calls)
{
    *(uint32_t *)to = 3u * *(const uint8_t *)from + 1;
    par_add(calls, 1);
}

static void triple(void *to, const void *from, void *unused)
{
    (void)unused;
    *(uint32_t *)to = 3 * *(const uint32_t *)from;
}

static void map_count(size_t n, size_t unused)
{
    uint8_t *from = array_random(n);
    uint32_t *to = (uint32_t *)(void *)array_new(4 * n);
    uint64_t calls = 0;
    (void)unused;
    CHECK_EQ(filch_map(to, 4, from, 1, n, widen, &calls), 0);
    CHECK_EQ(par_get(&calls), n);
    CHECK_EQ(filch_map(to, 4, to, 4, n, triple, NULL), 0);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(to[i], 3 * (3u * from[i] + 1));
    array_free(from, n);
    array_free((unsigned char *)to, 4 * n);
}

static void map(void)
{
    everywhere_often(map_count);
}

static void each_element_is_mapped_once(void)
{
    everywhere(map);
}

/* ---- fill, copy, reverse -------------------------------------------------------------------- */

static void fill_one(size_t n, size_t size)
{
    unsigned char *value = array_random(size), *v = array_random(n * size);
    if (par_random(4) == 0)
        memset(value, (int)par_random(256), size);
    CHECK_EQ(filch_fill(v, n, size, value), 0);
    for (size_t i = 0; i < n; i++)
        CHECK(memcmp(v + i * size, value, size) == 0);
    array_free(v, n * size);
    array_free(value, size);
}

static void fill(void)
{
    everywhere_often(fill_one);
    CHECK_EQ(filch_fill(NULL, 0, 0, ""), 0);
}

static void every_element_is_filled(void)
{
    everywhere(fill);
}

static void copy_one(size_t n, size_t size)
{
    unsigned char *from = array_random(n * size), *to = array_new(n * size);
    CHECK_EQ(filch_copy(to, from, n, size), 0);
    CHECK(memcmp(to, from, n * size) == 0);
    array_free(from, n * size);
    array_free(to, n * size);
}

static void copy(void)
{
    everywhere_often(copy_one);
    CHECK_EQ(filch_copy(NULL, NULL, 0, 0), 0);
}

static void every_element_is_copied(void)
{
    everywhere(copy);
}

static void reverse_one(size_t n, size_t size)
{
    unsigned char *v = array_random(n * size), *was = array_new(n * size);
    memcpy(was, v, n * size);
    CHECK_EQ(filch_reverse(v, n, size), 0);
    for (size_t i = 0; i < n; i++)
        CHECK(memcmp(v + i * size, was + (n - 1 - i) * size, size) == 0);
    array_free(v, n * size);
    array_free(was, n * size);
}

static void reverse(void)
{
    everywhere_often(reverse_one);
    for (size_t size = 1; size <= 16; size *= 2)
        for (size_t n = 0; n < 40; n++)
            reverse_one(n, size);
    CHECK_EQ(filch_reverse(NULL, 0, 0), 0);
}

static void an_array_is_turned_round(void)
{
    everywhere(reverse);
}

/* Elements need not be aligned to their size. */
static void odd_addresses(void)
{
    for (size_t size = 1; size <= 16; size *= 2) {
        size_t bytes = 1000 * size;
        unsigned char *v = array_random(bytes + 1), *was = array_new(bytes + 1);
        unsigned char value[16] = "an odd address!";
        memcpy(was, v, bytes + 1);
        CHECK_EQ(filch_reverse(v + 1, 1000, size), 0);
        CHECK_EQ(filch_reverse(v + 1, 1000, size), 0);
        CHECK(memcmp(was, v, bytes + 1) == 0);
        CHECK_EQ(filch_fill(v + 1, 1000, size, value), 0);
        CHECK(v[0] == was[0] && memcmp(v + 1 + bytes - size, value, size) == 0);
        array_free(v, bytes + 1);
        array_free(was, bytes + 1);
    }
}

/* ---- pack and partition --------------------------------------------------------------------- */

/* An element begins with its answer: a byte, kept if it is below `below`. Each is asked once: that is noted
 * by its place, in plain memory. */
struct question {
    const unsigned char *from;
    size_t size;
    unsigned below;
    unsigned char *asked;
};

static int keep(const void *element, void *arg)
{
    struct question *q = arg;
    const unsigned char *e = element;
    CHECK_EQ((size_t)(e - q->from) % q->size, 0);
    q->asked[(size_t)(e - q->from) / q->size]++;
    return *e < q->below ? 1 << 30 : 0;
}

/* The plain way: those that are kept, then the others. Returns how many are kept. */
static size_t sort_out(unsigned char *to, const unsigned char *from, size_t n, size_t size, unsigned below)
{
    size_t kept = 0, at = 0;
    for (int others = 0; others < 2; others++) {
        for (size_t i = 0; i < n; i++)
            if ((from[i * size] >= below) == others)
                memcpy(to + at++ * size, from + i * size, size);
        kept = others ? kept : at;
    }
    return kept;
}

static unsigned random_part(void)
{
    static const unsigned parts[] = {0, 1, 20, 128, 230, 255, 256};
    return parts[par_random(7)];
}

static void asked_once(const struct question *q, size_t n)
{
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(q->asked[i], 1);
    free(q->asked);
}

static void pack_one(size_t n, size_t size)
{
    size_t bytes = n * size, kept = SIZE_MAX;
    unsigned char *from = array_random(bytes), *to = array_new(bytes), *want = array_new(bytes);
    struct question q = {from, size, random_part(), calloc(n + 1, 1)};
    size_t expected = sort_out(want, from, n, size, q.below);
    CHECK_EQ(filch_pack(to, from, n, size, keep, &q, &kept), 0);
    asked_once(&q, n);
    CHECK_EQ(kept, expected);
    CHECK(memcmp(to, want, kept * size) == 0);
    for (size_t i = kept * size; i < bytes; i++)
        CHECK_EQ(to[i], FENCE_BYTE); /* what is behind them is left alone */
    array_free(from, bytes);
    array_free(to, bytes);
    array_free(want, bytes);
}

static void pack(void)
{
    everywhere_often(pack_one);
    struct question q = {NULL, 1, 1, calloc(4, 1)};
    CHECK_EQ(filch_pack(NULL, NULL, 0, 0, keep, &q, NULL), 0);
    q.from = (const unsigned char *)"\0\5\0";
    unsigned char to[3];
    CHECK_EQ(filch_pack(to, q.from, 3, 1, keep, &q, NULL), 0);
    asked_once(&q, 3);
}

static void what_is_packed_keeps_its_order(void)
{
    everywhere(pack);
}

static void partition_one(size_t n, size_t size)
{
    size_t bytes = n * size, kept = SIZE_MAX;
    unsigned char *v = array_random(bytes), *want = array_new(bytes);
    struct question q = {v, size, random_part(), calloc(n + 1, 1)};
    size_t expected = sort_out(want, v, n, size, q.below);
    CHECK_EQ(filch_partition(v, n, size, keep, &q, &kept), 0);
    asked_once(&q, n);
    CHECK_EQ(kept, expected);
    CHECK(memcmp(v, want, bytes) == 0);
    array_free(v, bytes);
    array_free(want, bytes);
}

static void partition(void)
{
    everywhere_often(partition_one);
}

static void a_partition_keeps_both_orders(void)
{
    everywhere(partition);
}

/* So many that all of them are done in several pieces. */
static void large_arrays(void)
{
    fill_one(50, 10000);
    fill_one(100000, 12);
    copy_one(200000, 8);
    reverse_one(300001, 4);
    pack_one(200000, 4);
    partition_one(200000, 4);
}

static void large_arrays_in_jobs(void)
{
    in_job(large_arrays);
}

static void large_arrays_are_shared_out(void)
{
    large_arrays(); /* the default pool's workers */
    on_pool(4, FILCH_JOIN_SUSPEND, large_arrays_in_jobs);
    on_pool(2, FILCH_JOIN_HELP, large_arrays_in_jobs);
}

/* ---- tests that wait, and are cancelled ------------------------------------------------------ */

static int keep_later(const void *element, void *arg)
{
    if ((uintptr_t)element % 16 == 0)
        CHECK_EQ(filch_sleep_ns(1000), 0);
    return keep(element, arg);
}

static void wait_while_asking(void)
{
    enum { N = 300 };
    unsigned char from[N], to[N], want[N];
    for (int round = 0; round < 2; round++) {
        struct question q = {from, 1, 128, calloc(N, 1)};
        size_t kept;
        for (size_t i = 0; i < N; i++)
            from[i] = (unsigned char)(i * 37);
        size_t expected = sort_out(want, from, N, 1, q.below);
        CHECK_EQ(filch_pack(to, from, N, 1, keep_later, &q, &kept), 0);
        CHECK(kept == expected && memcmp(to, want, kept) == 0);
        asked_once(&q, N);
        q.asked = calloc(N, 1);
        CHECK_EQ(filch_partition(from, N, 1, keep_later, &q, &kept), 0);
        CHECK(kept == expected && memcmp(from, want, N) == 0);
        asked_once(&q, N);
    }
}

static void a_test_may_wait(void)
{
    everywhere(wait_while_asking);
}

struct canceling {
    filch_scope *scope;
    unsigned char *v;
    uint64_t asked;
    size_t at;
};

static int keep_and_cancel(const void *element, void *arg)
{
    struct canceling *c = arg;
    if (par_add(&c->asked, 1) == c->at)
        filch_scope_cancel(c->scope);
    return *(const unsigned char *)element % 2;
}

enum { CANCELED = 20000 };

static int cancel_partition(void *arg)
{
    struct canceling *c = arg;
    size_t kept = 1;
    CHECK_EQ(filch_partition(c->v, CANCELED, 1, keep_and_cancel, c, &kept), -ECANCELED);
    CHECK_EQ(kept, 0);
    return 0;
}

static void cancel_partitions(void)
{
    unsigned char *v = array_random(CANCELED), *was = array_new(CANCELED);
    memcpy(was, v, CANCELED);
    static const size_t at[] = {1, 2, 1000, CANCELED - 1, CANCELED};
    for (size_t i = 0; i < 5; i++) {
        filch_scope s;
        struct canceling c = {&s, v, 0, at[i]};
        CHECK_EQ(filch_scope_open_on(&s, pool), 0);
        CHECK_EQ(filch_scope_go(&s, cancel_partition, &c), 0);
        CHECK_EQ(filch_scope_close(&s), -ECANCELED);
        CHECK(memcmp(v, was, CANCELED) == 0);
    }
    array_free(v, CANCELED);
    array_free(was, CANCELED);
}

static void a_partition_that_is_cancelled_leaves_the_array_as_it_was(void)
{
    everywhere(cancel_partitions);
}

/* From outside, at any time: all or nothing. */
struct racing {
    filch_scope *scope;
    unsigned char *v, *was, *want;
    uint64_t begun;
};

static int keep_low(const void *element, void *begun)
{
    par_set(begun, 1);
    return *(const unsigned char *)element < 128;
}

static int partition_racing(void *arg)
{
    struct racing *r = arg;
    int rc = filch_partition(r->v, CANCELED, 1, keep_low, &r->begun, NULL);
    CHECK(rc == 0 || rc == -ECANCELED);
    CHECK(memcmp(r->v, rc ? r->was : r->want, CANCELED) == 0);
    return 0;
}

static void race_partitions(void)
{
    for (int round = 0; round < 40; round++) {
        filch_scope s;
        struct racing r = {&s, array_random(CANCELED), array_new(CANCELED), array_new(CANCELED), 0};
        memcpy(r.was, r.v, CANCELED);
        sort_out(r.want, r.v, CANCELED, 1, 128);
        CHECK_EQ(filch_scope_open_on(&s, pool), 0);
        CHECK_EQ(filch_scope_go(&s, partition_racing, &r), 0);
        KIT_AWAIT(par_get(&r.begun));
        kit_nap_us((int64_t)par_random(100));
        filch_scope_cancel(&s);
        CHECK_EQ(filch_scope_close(&s), -ECANCELED);
        array_free(r.v, CANCELED);
        array_free(r.was, CANCELED);
        array_free(r.want, CANCELED);
    }
}

static void a_partition_is_cancelled_as_a_whole_or_not_at_all(void)
{
    on_pool(2, FILCH_JOIN_SUSPEND, race_partitions);
    on_pool(4, FILCH_JOIN_SUSPEND, race_partitions);
}

/* ---- without memory ------------------------------------------------------------------------- */

/* In a child whose address space is full. */
enum { MANY = 1 << 22 };
static unsigned char *many, *many_to;
static size_t expected;

static size_t address_space(void)
{
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%zu", &pages) == 1);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void fill_memory(void)
{
    struct rlimit limit = {address_space(), RLIM_INFINITY};
    CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    while (os_alloc(MANY / 16)) /* half of what the bits need; compilers leave out a malloc */
        ;
}

static int keep_seldom(const void *element, void *calls)
{
    par_add(calls, 1);
    return *(const unsigned char *)element < 10;
}

static void in_short(void (*claim)(void))
{
    many = malloc(MANY), many_to = malloc(MANY);
    CHECK(many && many_to);
    for (size_t i = 0; i < MANY; i++)
        many[i] = (unsigned char)rng_next(&par_rng);
    pool = kit_pool(2);
    in_job(odd_addresses); /* threads and stacks are there */
    in_job(claim);
}

static void pack_short(void)
{
    uint64_t calls = 0;
    size_t kept, at = 0;
    fill_memory();
    CHECK_EQ(filch_pack(many_to, many, MANY, 1, keep_seldom, &calls, &kept), 0);
    CHECK_EQ(par_get(&calls), MANY);
    for (size_t i = 0; i < MANY; i++)
        if (many[i] < 10)
            CHECK_EQ(many_to[at++], many[i]);
    CHECK_EQ(kept, at);
}

static void packs(void)
{
    in_short(pack_short);
}

/* Room for the bits, not for a copy. */
static void partition_short(void)
{
    uint64_t calls = 0;
    size_t kept;
    void *bits = mmap(NULL, MANY / 4, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expected = sort_out(many_to, many, MANY, 1, 10);
    fill_memory();
    CHECK_EQ(munmap(bits, MANY / 4), 0);
    CHECK_EQ(filch_partition(many, MANY, 1, keep_seldom, &calls, &kept), 0);
    CHECK_EQ(par_get(&calls), MANY);
    CHECK_EQ(kept, expected);
    CHECK(memcmp(many, many_to, MANY) == 0);
}

static void partitions(void)
{
    in_short(partition_short);
}

static void partition_without(void)
{
    uint64_t calls = 0;
    size_t kept = 1;
    memcpy(many_to, many, MANY);
    fill_memory();
    CHECK_EQ(filch_partition(many, MANY, 1, keep_seldom, &calls, &kept), -ENOMEM);
    CHECK_EQ(par_get(&calls), 0);
    CHECK_EQ(kept, 0);
    CHECK(memcmp(many, many_to, MANY) == 0);
}

static void partitions_not(void)
{
    in_short(partition_without);
}

static void ends_well(void (*body)(void))
{
    struct ending e = in_child(body);
    CHECK_MSG(e.status == 0, "status %d: %s", e.status, e.text);
}

static void without_memory_it_is_done_alone_or_not_at_all(void)
{
    ends_well(packs);
    ends_well(partitions);
    ends_well(partitions_not);
}

int main(void)
{
    rng_seed(&par_rng, 2);
    if (!WITH_ASAN && !WITH_TSAN) /* which need more address space than there is to fill */
        RUN(without_memory_it_is_done_alone_or_not_at_all);
    kit_watchdog();
    RUN(each_element_is_mapped_once);
    RUN(every_element_is_filled);
    RUN(every_element_is_copied);
    RUN(an_array_is_turned_round);
    RUN(odd_addresses);
    RUN(what_is_packed_keeps_its_order);
    RUN(a_partition_keeps_both_orders);
    RUN(large_arrays_are_shared_out);
    RUN(a_test_may_wait);
    RUN(a_partition_that_is_cancelled_leaves_the_array_as_it_was);
    RUN(a_partition_is_cancelled_as_a_whole_or_not_at_all);
    return check_report();
}
