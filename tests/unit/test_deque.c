/* test_deque.c: filch/deque.h. */
#define _GNU_SOURCE
#include <filch/deque.h>

#include "exactly_once.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const uint64_t starts[] = {0, (1ull << 31) - 2, (1ull << 32) - 2, (1ull << 63) - 2,
                                  UINT64_MAX - 1};
enum { STARTS = sizeof starts / sizeof starts[0] };
static const enum filch_deque_order orders[] = {FILCH_DEQUE_LIFO, FILCH_DEQUE_FIFO};

static filch_deque *deque_at(enum filch_deque_order order, size_t capacity, uint64_t start)
{
    filch_deque *d = NULL;
    CHECK_EQ(filch_deque_create(&d, order, capacity), 0);
    filch_deque_start_at(d, start);
    return d;
}

static void *number(uintptr_t i)
{
    return (void *)i;
}

static void fill(filch_deque *d, uintptr_t from, uintptr_t n)
{
    for (uintptr_t i = from; i < from + n; i++)
        CHECK_EQ(filch_deque_push(d, number(i)), 0);
}

static void pops(filch_deque *d, uintptr_t want)
{
    void *item = NULL;
    CHECK_EQ(filch_deque_pop(d, &item), 1);
    CHECK_EQ((uintptr_t)item, want);
}

static void steals(filch_deque *d, uintptr_t want)
{
    void *item = NULL;
    CHECK_EQ(filch_deque_steal(d, &item), 1);
    CHECK_EQ((uintptr_t)item, want);
}

/* ---- one thread ---------------------------------------------------------------------------- */

static void an_empty_deque_gives_nothing_twice(void)
{
    for (int k = 0; k < 2; k++) {
        for (int s = 0; s < STARTS; s++) {
            filch_deque *d = deque_at(orders[k], 2, starts[s]);
            void *item = number(7);
            for (int i = 0; i < 3; i++) {
                CHECK_EQ(filch_deque_pop(d, &item), 0);
                CHECK_EQ(filch_deque_pop(d, &item), 0);
                CHECK_EQ(filch_deque_steal(d, &item), 0);
                CHECK_EQ(filch_deque_size(d), 0);
                fill(d, 5, 1);
                CHECK_EQ(filch_deque_size(d), 1);
                pops(d, 5);
            }
            filch_deque_destroy(d);
        }
    }
}

static void the_owner_pops_the_newest_of_a_lifo_and_the_oldest_of_a_fifo(void)
{
    filch_deque *lifo = deque_at(FILCH_DEQUE_LIFO, 4, 0);
    filch_deque *fifo = deque_at(FILCH_DEQUE_FIFO, 4, 0);
    fill(lifo, 1, 3);
    fill(fifo, 1, 3);
    pops(lifo, 3);
    steals(lifo, 1);
    pops(lifo, 2);
    pops(fifo, 1);
    steals(fifo, 2);
    pops(fifo, 3);
    filch_deque_destroy(lifo);
    filch_deque_destroy(fifo);
}

static void a_deque_grows_from_any_index_and_keeps_its_order(void)
{
    for (int k = 0; k < 2; k++) {
        for (int s = 0; s < STARTS; s++) {
            for (uintptr_t before = 0; before < 4; before++) {
                filch_deque *d = deque_at(orders[k], 1, starts[s] - before);
                for (uintptr_t i = 0; i < before; i++) {
                    fill(d, i, 1);
                    steals(d, i);
                }
                fill(d, 0, 37);
                CHECK_EQ(filch_deque_size(d), 37);
                for (uintptr_t i = 0; i < 18; i++) {
                    steals(d, k == 0 ? i : 2 * i);
                    pops(d, k == 0 ? 36 - i : 2 * i + 1);
                }
                pops(d, k == 0 ? 18 : 36);
                CHECK_EQ(filch_deque_size(d), 0);
                filch_deque_destroy(d);
            }
        }
    }
}

static void old_buffers_stay_until_the_deque_is_destroyed(void)
{
    filch_deque *d = deque_at(FILCH_DEQUE_LIFO, 2, 0);
    struct filch_deque_buffer *first = d->buffer;
    fill(d, 1, 3);
    CHECK(d->buffer != first && d->buffer->older == first);
    /* What a slow thief would still read there. */
    CHECK_EQ((uintptr_t)*filch_deque_slot(first, 0), 1);
    CHECK_EQ((uintptr_t)*filch_deque_slot(first, 1), 2);
    filch_deque_destroy(d);
}

static void a_full_deque_whose_items_were_stolen_does_not_grow(void)
{
    for (int k = 0; k < 2; k++) {
        filch_deque *d = deque_at(orders[k], 4, UINT64_MAX - 1);
        struct filch_deque_buffer *first = d->buffer;
        for (uintptr_t i = 0; i < 100; i++) {
            fill(d, 4 * i, 4);
            for (uintptr_t j = 0; j < 4; j++)
                steals(d, 4 * i + j);
        }
        CHECK(d->buffer == first);
        fill(d, 0, 5);
        CHECK(d->buffer != first);
        filch_deque_destroy(d);
    }
}

static void null_is_an_item_like_any_other(void)
{
    filch_deque *d = deque_at(FILCH_DEQUE_LIFO, 0, 0);
    void *item = number(1);
    CHECK_EQ(filch_deque_push(d, NULL), 0);
    CHECK_EQ(filch_deque_steal(d, &item), 1);
    CHECK(item == NULL);
    filch_deque_destroy(d);
}

static void a_batch_takes_the_oldest_half_rounded_up_and_at_most_max(void)
{
    for (int from = 0; from < 2; from++) {
        for (int to = 0; to < 2; to++) {
            for (uintptr_t n = 0; n <= 20; n++) {
                filch_deque *victim = deque_at(orders[from], 1, UINT64_MAX - 3);
                filch_deque *thief = deque_at(orders[to], 1, (1ull << 63) - 3);
                fill(victim, 0, n);
                int half = (int)(n + 1) / 2;
                int want = half < 7 ? half : 7;
                CHECK_EQ(filch_deque_steal_batch(victim, thief, 7), want);
                CHECK_EQ(filch_deque_size(thief), want);
                CHECK_EQ(filch_deque_size(victim), (int)n - want);
                for (int i = 0; i < want; i++)
                    steals(thief, (uintptr_t)i);
                for (uintptr_t i = (uintptr_t)want; i < n; i++)
                    steals(victim, i);
                filch_deque_destroy(victim);
                filch_deque_destroy(thief);
            }
        }
    }
}

static void of_100_pushed_a_batch_takes_50(void)
{
    for (int k = 0; k < 2; k++) {
        filch_deque *victim = deque_at(orders[k], 0, 0);
        filch_deque *thief = deque_at(orders[k], 0, 0);
        fill(victim, 0, 100);
        CHECK_EQ(filch_deque_steal_batch(victim, thief, SIZE_MAX), 50);
        CHECK_EQ(filch_deque_steal_batch(victim, thief, 0), 0);
        CHECK_EQ(filch_deque_size(victim), 50);
        filch_deque_destroy(victim);
        filch_deque_destroy(thief);
    }
}

static void floor_leaves_a_single_item_to_its_owner(void)
{
    for (int k = 0; k < 2; k++) {
        filch_deque *victim = deque_at(orders[k], 0, 0);
        filch_deque *thief = deque_at(orders[k], 0, 0);
        fill(victim, 0, 3);
        CHECK_EQ(filch_deque_steal_floor(victim, thief, 100), 1);
        CHECK_EQ(filch_deque_steal_floor(victim, thief, 100), 1);
        CHECK_EQ(filch_deque_steal_floor(victim, thief, 100), 0);
        CHECK_EQ(filch_deque_size(victim), 1);
        filch_deque_destroy(victim);
        filch_deque_destroy(thief);
    }
}

static void a_reserved_push_needs_no_memory(void)
{
    filch_deque *d = deque_at(FILCH_DEQUE_LIFO, 1, 0);
    fill(d, 0, 1);
    struct filch_deque_buffer *full = d->buffer;
    CHECK_EQ(filch_deque_reserve(d, 0), 0);
    CHECK(d->buffer == full);
    CHECK_EQ(filch_deque_reserve(d, 100), 0);
    struct filch_deque_buffer *reserved = d->buffer;
    fill(d, 1, 100);
    CHECK(d->buffer == reserved);
    pops(d, 100);
    filch_deque_destroy(d);
}

static void what_cannot_be_had_is_refused_without_harm(void)
{
    filch_deque *d = NULL;
    CHECK_EQ(filch_deque_create(&d, (enum filch_deque_order)2, 0), -EINVAL);
    CHECK_EQ(filch_deque_create(&d, FILCH_DEQUE_LIFO, SIZE_MAX), -ENOMEM);
    CHECK(d == NULL);
    filch_deque_destroy(NULL);
    d = deque_at(FILCH_DEQUE_LIFO, 4, 0);
    fill(d, 0, 2);
    CHECK_EQ(filch_deque_reserve(d, SIZE_MAX), -ENOMEM);
    CHECK_EQ(filch_deque_reserve(d, SIZE_MAX / 2), -ENOMEM);
    fill(d, 2, 10);
    pops(d, 11);
    steals(d, 0);
    filch_deque_destroy(d);
}

#if defined(__SANITIZE_ADDRESS__)
#define TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define TEST_ASAN 1
#endif
#endif

#if !defined(TEST_ASAN) && !defined(FILCH_TSAN) /* they need memory of their own */
static uintptr_t push_until_full(filch_deque *d)
{
    for (uintptr_t i = 0; i < 1u << 24; i++) {
        int error = filch_deque_push(d, number(i));
        if (error) {
            CHECK_EQ(error, -ENOMEM);
            return i;
        }
    }
    CHECK_MSG(0, "memory was not limited");
    return 0;
}

/* False where the limit means nothing (user-mode emulation). */
static bool limit_memory(struct rlimit *before)
{
    CHECK_EQ(getrlimit(RLIMIT_AS, before), 0);
    struct rlimit none = {.rlim_cur = 1, .rlim_max = before->rlim_max};
    CHECK_EQ(setrlimit(RLIMIT_AS, &none), 0);
    void *probe = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED)
        return true;
    munmap(probe, 1 << 20);
    CHECK_EQ(setrlimit(RLIMIT_AS, before), 0);
    return false;
}

static void a_push_without_memory_fails_and_changes_nothing(void)
{
    for (int k = 0; k < 2; k++) {
        filch_deque *d = deque_at(orders[k], 1024, 0);
        filch_deque *thief = deque_at(orders[k], 1024, 0);
        struct rlimit before;
        if (!limit_memory(&before)) {
            filch_deque_destroy(d);
            filch_deque_destroy(thief);
            return;
        }
        uintptr_t n = push_until_full(d);
        CHECK_EQ(push_until_full(d), 0);
        CHECK_EQ(filch_deque_size(d), n);
        /* A batch into a deque that cannot grow takes what fits, then nothing. */
        uintptr_t m = push_until_full(thief);
        CHECK_EQ(filch_deque_steal_batch(d, thief, 10), -ENOMEM);
        steals(thief, 0);
        steals(thief, 1);
        CHECK_EQ(filch_deque_steal_batch(d, thief, 10), 2);
        CHECK_EQ(setrlimit(RLIMIT_AS, &before), 0);
        CHECK_EQ(filch_deque_size(thief), m);
        CHECK_EQ(filch_deque_size(d), n - 2);
        fill(d, n, 1);
        for (uintptr_t i = 2; i <= n; i++)
            steals(d, i);
        filch_deque_destroy(d);
        filch_deque_destroy(thief);
    }
}
#endif

static void stealing_from_oneself_is_named_and_aborts(void)
{
    int out[2];
    char text[256] = "";
    CHECK_EQ(pipe(out), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        filch_deque *d = deque_at(FILCH_DEQUE_FIFO, 0, 0);
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        dup2(out[1], STDERR_FILENO);
        filch_deque_steal_batch(d, d, 1);
        _exit(0);
    }
    close(out[1]);
    CHECK(read(out[0], text, sizeof text - 1) > 0);
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    close(out[0]);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(strstr(text, "filch_deque_steal_batch") && strchr(text, '\n') == text + strlen(text) - 1);
}

/* ---- several threads ----------------------------------------------------------------------- */

static bool once_push(void *q, uintptr_t item)
{
    return filch_deque_push(q, (void *)item) == 0;
}

static bool once_pop(void *q, uintptr_t *item)
{
    void *found;
    if (!filch_deque_pop(q, &found))
        return false;
    *item = (uintptr_t)found;
    return true;
}

static int once_steal_single(void *victim, void *thief, uint32_t random, uintptr_t *first)
{
    (void)thief, (void)random;
    void *found;
    int n = filch_deque_steal(victim, &found);
    CHECK(n == 1 || n == 0 || n == -EAGAIN);
    if (n == 1)
        *first = (uintptr_t)found;
    return n;
}

/* A batch goes into the thief's deque; the harness wants one of them in hand: pop it there, unless
 * another thief has already been. */
static int once_steal_batch(void *victim, void *thief, uint32_t random, uintptr_t *first)
{
    int n = random & 1 ? filch_deque_steal_batch(victim, thief, 1 + random % 7)
                       : filch_deque_steal_floor(victim, thief, 1 + random % 7);
    CHECK(n >= 0 || n == -EAGAIN);
    return n > 0 && once_pop(thief, first) ? n : 0;
}

static const struct once_ops single_ops = {once_push, once_pop, once_steal_single};
static const struct once_ops batch_ops = {once_push, once_pop, once_steal_batch};

static void once_for(const struct once_ops *ops, enum filch_deque_order order)
{
    uint64_t stolen = 0;
    for (uint32_t k = 0; k < STARTS; k++) {
        uint32_t workers = 2 + k % 3;
        void *queue[ONCE_WORKERS_MAX];
        for (uint32_t i = 0; i < workers; i++)
            queue[i] = deque_at(order, 1u << (k % 3), starts[k]);
        stolen += once_run(ops, queue, workers, ONCE_ITEMS, k);
        for (uint32_t i = 0; i < workers; i++)
            filch_deque_destroy(queue[i]);
    }
    CHECK(stolen > 0);
}

static void lifo_items_are_taken_exactly_once(void)
{
    once_for(&single_ops, FILCH_DEQUE_LIFO);
}

static void fifo_items_are_taken_exactly_once(void)
{
    once_for(&single_ops, FILCH_DEQUE_FIFO);
}

static void a_batch_from_a_lifo_never_doubles(void)
{
    once_for(&batch_ops, FILCH_DEQUE_LIFO);
}

static void a_batch_from_a_fifo_never_doubles(void)
{
    once_for(&batch_ops, FILCH_DEQUE_FIFO);
}

/* Grows from one slot to thousands while thieves are at it. */
struct growth {
    filch_deque *d;
    uint32_t over;
    uint32_t *taken;
};

enum { GROWTH_ITEMS = 8192, GROWTH_ROUNDS = 40, GROWTH_THIEVES = 2 };

static void growth_take(struct growth *g, void *item)
{
    uint32_t *cell = item;
    CHECK_MSG(cell >= g->taken && cell < g->taken + GROWTH_ITEMS, "an item that nobody pushed");
    CHECK_EQ(filch_add_relaxed(cell, 1u), 0);
}

static void *growth_thief(void *arg)
{
    struct growth *g = arg;
    void *item;
    for (;;) {
        uint32_t over = filch_load_acquire(&g->over); /* order: pairs with the store below */
        int found = filch_deque_steal(g->d, &item);
        if (found == 1)
            growth_take(g, item);
        else if (found == 0 && over)
            return NULL;
    }
}

static void growth_round(enum filch_deque_order order, uint64_t start)
{
    struct growth g = {.d = deque_at(order, 1, start)};
    pthread_t thread[GROWTH_THIEVES];
    g.taken = calloc(GROWTH_ITEMS, sizeof *g.taken);
    CHECK(g.taken);
    for (int i = 0; i < GROWTH_THIEVES; i++) {
        CHECK_EQ(pthread_create(&thread[i], NULL, growth_thief, &g), 0);
        once_spread(thread[i], (uint32_t)i);
    }
    void *item;
    for (int i = 0; i < GROWTH_ITEMS; i++) {
        CHECK_EQ(filch_deque_push(g.d, &g.taken[i]), 0);
        if (i % 8 == 0 && filch_deque_pop(g.d, &item))
            growth_take(&g, item);
    }
    filch_store_release(&g.over, 1u); /* order: after the last push */
    for (int i = 0; i < GROWTH_THIEVES; i++)
        pthread_join(thread[i], NULL);
    CHECK_EQ(filch_deque_size(g.d), 0);
    for (int i = 0; i < GROWTH_ITEMS; i++)
        CHECK_EQ(g.taken[i], 1);
    free(g.taken);
    filch_deque_destroy(g.d);
}

static void nothing_is_lost_or_doubled_while_the_buffer_grows(void)
{
    for (int round = 0; round < GROWTH_ROUNDS; round++)
        growth_round(orders[round % 2], starts[round % STARTS]);
}

int main(void)
{
    RUN(an_empty_deque_gives_nothing_twice);
    RUN(the_owner_pops_the_newest_of_a_lifo_and_the_oldest_of_a_fifo);
    RUN(a_deque_grows_from_any_index_and_keeps_its_order);
    RUN(old_buffers_stay_until_the_deque_is_destroyed);
    RUN(a_full_deque_whose_items_were_stolen_does_not_grow);
    RUN(null_is_an_item_like_any_other);
    RUN(a_batch_takes_the_oldest_half_rounded_up_and_at_most_max);
    RUN(of_100_pushed_a_batch_takes_50);
    RUN(floor_leaves_a_single_item_to_its_owner);
    RUN(a_reserved_push_needs_no_memory);
    RUN(what_cannot_be_had_is_refused_without_harm);
#if !defined(TEST_ASAN) && !defined(FILCH_TSAN)
    RUN(a_push_without_memory_fails_and_changes_nothing);
#endif
    RUN(stealing_from_oneself_is_named_and_aborts);
    RUN(lifo_items_are_taken_exactly_once);
    RUN(fifo_items_are_taken_exactly_once);
    RUN(a_batch_from_a_lifo_never_doubles);
    RUN(a_batch_from_a_fifo_never_doubles);
    RUN(nothing_is_lost_or_doubled_while_the_buffer_grows);
    return check_report();
}
