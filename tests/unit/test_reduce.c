/* test_reduce.c: reductions: the order of elements is kept, whoever steals; states of any size; the fixed
 * form gives the same bits on any number of workers; cancellation. */
#include "../par_places.h"

#include "par/split.h"

#include <filch/chan.h>

/* ---- what is reduced ------------------------------------------------------------------------ */

/* Affine maps x -> a x + b over 64-bit words, composed in order: associative, not commutative. Zeroes are
 * the identity (a is kept less 1), so that a null identity can be tested. The tail, if the state is larger,
 * is a byte that follows from the rest. */
struct map {
    uint64_t a_less_1, b, count;
    unsigned char tail[];
};

struct maps {
    size_t state_size;
    uint64_t fresh, combined, folds;
    int waits; /* every so many folds wait */
    filch_chan *there, *back;
};

static struct map element(size_t i)
{
    return (struct map){2 * rng_mix(i), rng_mix(i + 77), 1};
}

static void then(struct map *left, const struct map *right)
{
    uint64_t a = left->a_less_1 + 1, b = left->b, c = right->a_less_1 + 1;
    left->a_less_1 = a * c - 1;
    left->b = c * b + right->b;
    left->count += right->count;
}

static void seal(struct map *m, size_t size)
{
    memset(m->tail, (int)((m->b ^ m->count) & 255), size - sizeof *m);
}

static void check_seal(const struct map *m, size_t size)
{
    for (size_t i = 0; i < size - sizeof *m; i += KIT_SLOW ? 61 : 1)
        CHECK_EQ(m->tail[i], (m->b ^ m->count) & 255);
}

static void map_identity(void *state, void *arg)
{
    struct maps *m = arg;
    memset(state, 0, m->state_size);
    seal(state, m->state_size);
    filch_add_relaxed(&m->fresh, (uint64_t)1); /* order: a count, read after the end */
}

static void wait_a_little(struct maps *m, uint64_t turn)
{
    uint64_t x = turn;
    switch (turn / (uint64_t)m->waits % 3) {
    case 0: CHECK_EQ(filch_sleep_ns(20000), 0); break;
    case 1: filch_yield(); break;
    default:
        if (m->there) {
            CHECK_EQ(filch_chan_send(m->there, &x, FILCH_FOREVER), 0);
            CHECK_EQ(filch_chan_recv(m->back, &x, FILCH_FOREVER), 0);
        }
    }
}

static void map_fold(void *state, size_t lo, size_t hi, void *arg)
{
    struct maps *m = arg;
    struct map *s = state;
    uint64_t turn = filch_add_relaxed(&m->folds, (uint64_t)1); /* order: a count */
    CHECK(lo < hi);
    check_seal(s, m->state_size);
    for (size_t i = lo; i < hi; i++) {
        struct map e = element(i);
        then(s, &e);
    }
    if (m->waits && turn % (uint64_t)m->waits == 0)
        wait_a_little(m, turn);
    seal(s, m->state_size);
}

static void map_combine(void *state, const void *right, void *arg)
{
    struct maps *m = arg;
    check_seal(state, m->state_size);
    check_seal(right, m->state_size);
    then(state, right);
    seal(state, m->state_size);
    filch_add_relaxed(&m->combined, (uint64_t)1); /* order: a count */
}

static struct map serial(size_t lo, size_t hi)
{
    struct map sum = {0, 0, 0};
    for (size_t i = lo; i < hi; i++) {
        struct map e = element(i);
        then(&sum, &e);
    }
    return sum;
}

static filch_reducer mapping(const struct maps *m)
{
    return (filch_reducer){m->state_size, map_identity, map_fold, map_combine};
}

static void check_map(const struct map *got, size_t lo, size_t hi)
{
    struct map want = serial(lo, hi);
    CHECK_MSG(got->a_less_1 == want.a_less_1 && got->b == want.b && got->count == want.count,
              "[%zu, %zu): %llu elements were combined, or in another order", lo, hi,
              (unsigned long long)got->count);
}

typedef int reduce_fn(const filch_how *, const filch_reducer *, void *, size_t, size_t, void *);

static struct map *room_for(size_t size)
{
    struct map *m = malloc(size);
    CHECK(m);
    memset(m, 0xa5, size); /* the result is overwritten */
    return m;
}

/* One reduction; every state that was made but the result was combined, once. */
static void reduce_once(reduce_fn *reduce, const filch_how *how, struct maps *m, size_t lo, size_t hi)
{
    filch_reducer r = mapping(m);
    struct map *result = room_for(m->state_size);
    m->fresh = m->combined = 0;
    CHECK_EQ(reduce(how, &r, result, lo, hi, m), 0);
    check_map(result, lo, hi);
    check_seal(result, m->state_size);
    CHECK_EQ(m->fresh, m->combined + 1);
    free(result);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static const size_t lengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129,
                                 255, 257, 511, 513, 1023, 1024, 1025, 4095, 4097, 20000};
static const size_t state_sizes[] = {24, 25, 64, 200, 256, 257, 5000};
enum { LENGTHS = sizeof lengths / sizeof *lengths, STATES = sizeof state_sizes / sizeof *state_sizes };

static uint64_t seed = 1;

static void of_each_length(reduce_fn *reduce)
{
    filch_how how = how_here();
    struct maps m = {.state_size = state_sizes[place_random(&seed) % STATES]};
    for (int i = 0; i < LENGTHS; i++) {
        size_t lo = place_random(&seed) % 1000;
        reduce_once(reduce, &how, &m, lo, lo + lengths[i]);
    }
    for (int i = 0; i < STATES; i++) {
        m.state_size = state_sizes[i];
        how.grain = place_random(&seed) % 100;
        how.workers = (int)(place_random(&seed) % 5);
        how.split = place_random(&seed) % 4 ? FILCH_SPLIT_AUTO : FILCH_SPLIT_STATIC;
        reduce_once(reduce, &how, &m, 5, 5 + place_random(&seed) % 6000);
    }
}

static void lengths_here(void) { of_each_length(filch_reduce_with); }
static void fixed_lengths_here(void) { of_each_length(filch_reduce_fixed_with); }

static void elements_keep_their_order_at_every_length(void) { everywhere(lengths_here); }
static void elements_keep_their_order_in_a_fixed_tree(void) { everywhere(fixed_lengths_here); }

static void millions_here(void)
{
    filch_how how = how_here();
    struct maps m = {.state_size = 24};
    size_t n = kit_scaled(1000000, 10);
    reduce_once(filch_reduce_with, &how, &m, 0, n);
    reduce_once(filch_reduce_fixed_with, &how, &m, 3, n);
    reduce_once(filch_reduce_with, 0, &m, 0, n + 1); /* the pool that the caller is in */
}

static void millions_of_elements_keep_their_order(void)
{
    on_pools(millions_here);
    filch_how how = FILCH_HOW_INIT;
    struct maps m = {.state_size = 200};
    how.pool = place_pool = kit_pool(4);
    reduce_once(filch_reduce_with, &how, &m, 0, kit_scaled(10000000, 20));
    place_close();
}

/* ---- small states, and no identity ---------------------------------------------------------- */

static unsigned char byte_at(size_t i)
{
    return rng_mix(i) % 50 ? 0 : (unsigned char)(1 + rng_mix(i + 9) % 255);
}

/* The last byte that is not 0. */
static void byte_fold(void *state, size_t lo, size_t hi, void *arg)
{
    (void)arg;
    for (size_t i = lo; i < hi; i++)
        if (byte_at(i))
            *(unsigned char *)state = byte_at(i);
}

static void byte_combine(void *state, const void *right, void *arg)
{
    (void)arg;
    if (*(const unsigned char *)right)
        *(unsigned char *)state = *(const unsigned char *)right;
}

/* Maps of 32 bits. */
struct last {
    uint32_t a_less_1, b;
};

static void last_combine(void *state, const void *right, void *arg)
{
    struct last *l = state, r;
    memcpy(&r, right, sizeof r);
    (void)arg;
    l->b = (r.a_less_1 + 1) * l->b + r.b;
    l->a_less_1 = (l->a_less_1 + 1) * (r.a_less_1 + 1) - 1;
}

static void last_fold(void *state, size_t lo, size_t hi, void *arg)
{
    for (size_t i = lo; i < hi; i++) {
        struct last one = {(uint32_t)(2 * rng_mix(i)), (uint32_t)rng_mix(i + 5)};
        last_combine(state, &one, arg);
    }
}

static void small_states_here(void)
{
    static const filch_reducer bytes = {1, 0, byte_fold, byte_combine};
    static const filch_reducer lasts = {sizeof(struct last), 0, last_fold, last_combine};
    filch_how how = how_here();
    for (int i = 0; i < LENGTHS; i++) {
        unsigned char got = 99, want = 0;
        struct last found = {99, 99}, wanted = {0, 0};
        byte_fold(&want, 0, lengths[i], 0);
        last_fold(&wanted, 0, lengths[i], 0);
        CHECK_EQ(filch_reduce_with(&how, &bytes, &got, 0, lengths[i], 0), 0);
        CHECK_EQ(got, want);
        CHECK_EQ(filch_reduce_fixed_with(&how, &bytes, &got, 0, lengths[i], 0), 0);
        CHECK_EQ(got, want);
        CHECK_EQ(filch_reduce_with(&how, &lasts, &found, 0, lengths[i], 0), 0);
        CHECK(found.a_less_1 == wanted.a_less_1 && found.b == wanted.b);
    }
}

static void without_an_identity_a_state_begins_as_zeroes(void) { everywhere(small_states_here); }

/* ---- strings: states that own memory --------------------------------------------------------- */

struct text {
    char *bytes;
    size_t size, room;
};

static void text_add(struct text *t, const char *bytes, size_t size)
{
    if (t->size + size > t->room) {
        t->room = 2 * (t->size + size);
        t->bytes = realloc(t->bytes, t->room);
        CHECK(t->bytes);
    }
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
}

static void text_fold(void *state, size_t lo, size_t hi, void *arg)
{
    (void)arg;
    for (size_t i = lo; i < hi; i++) {
        char c = (char)('a' + rng_mix(i) % 26);
        text_add(state, &c, 1);
    }
    if (lo % 7 == 0)
        filch_yield();
}

/* Takes what is in the right one, which nobody else will free: twice would be seen, and never as well. */
static void text_combine(void *state, const void *right, void *arg)
{
    const struct text *r = right;
    (void)arg;
    if (r->size)
        text_add(state, r->bytes, r->size);
    free(r->bytes);
}

static void strings_here(void)
{
    static const filch_reducer texts = {sizeof(struct text), 0, text_fold, text_combine};
    filch_how how = how_here();
    size_t n = kit_scaled(4000, 4) + place_random(&seed) % 1000;
    struct text want = {0}, got;
    text_fold(&want, 0, n, 0);
    for (int fixed = 0; fixed < 2; fixed++) {
        CHECK_EQ((fixed ? filch_reduce_fixed_with : filch_reduce_with)(&how, &texts, &got, 0, n, 0), 0);
        CHECK_EQ(got.size, n);
        CHECK(memcmp(got.bytes, want.bytes, n) == 0);
        free(got.bytes);
    }
    free(want.bytes);
}

static void each_state_is_combined_exactly_once(void) { everywhere(strings_here); }

/* ---- folds that wait ------------------------------------------------------------------------- */

static int echoes(void *arg)
{
    struct maps *m = arg;
    uint64_t x;
    while (filch_chan_recv(m->there, &x, FILCH_FOREVER) == 0)
        CHECK_EQ(filch_chan_send(m->back, &x, FILCH_FOREVER), 0);
    return 0;
}

static uint64_t combined_after_waits;

static void waits_here(void)
{
    filch_how how = how_here();
    struct maps m = {.state_size = 200, .waits = 2};
    how.grain = 1;
    for (int round = 0; round < 2; round++) {
        reduce_once(round ? filch_reduce_fixed_with : filch_reduce_with, &how, &m, 0, 150);
        combined_after_waits += round ? 0 : m.combined;
    }
}

static void folds_may_wait(void)
{
    combined_after_waits = 0;
    everywhere(waits_here);
    CHECK(combined_after_waits > 0); /* while one waited others stole */
}

/* In a pool whose waits keep their worker a task that answers may find none: not for these. */
static void channels_here(void)
{
    filch_how how = how_here();
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    struct maps m = {.state_size = 24, .waits = 1};
    filch_task *t;
    attr.pool = place_pool;
    CHECK_EQ(filch_chan_create(&m.there, sizeof(uint64_t), 0), 0);
    CHECK_EQ(filch_chan_create(&m.back, sizeof(uint64_t), 4), 0);
    CHECK_EQ(filch_spawn_with(&t, &attr, echoes, &m), 0);
    how.grain = 1;
    reduce_once(filch_reduce_with, &how, &m, 0, kit_scaled(600, 4));
    filch_chan_close(m.there);
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
    filch_chan_destroy(m.there);
    filch_chan_destroy(m.back);
}

static void folds_may_wait_for_channels(void)
{
    on_pools(channels_here);
}

/* ---- nested ---------------------------------------------------------------------------------- */

static int reduces_inside(size_t lo, size_t hi, void *arg)
{
    (void)arg;
    for (size_t i = lo; i < hi; i++) {
        struct maps m = {.state_size = i % 2 ? 24 : 300, .waits = i % 5 == 0 ? 3 : 0};
        reduce_once(i % 3 ? filch_reduce_with : filch_reduce_fixed_with, 0, &m, i, i + 10 * i);
    }
    return 0;
}

/* A reduction whose fold is one. */
static void outer_fold(void *state, size_t lo, size_t hi, void *arg)
{
    struct maps inner = {.state_size = 24};
    filch_reducer r = mapping(&inner);
    struct map sum;
    (void)arg;
    CHECK_EQ(filch_reduce(&r, &sum, 10 * lo, 10 * hi, &inner), 0);
    then(state, &sum);
}

static void outer_combine(void *state, const void *right, void *arg)
{
    (void)arg;
    then(state, right);
}

static void nested_here(void)
{
    static const filch_reducer outer = {sizeof(struct map), 0, outer_fold, outer_combine};
    filch_how how = how_here();
    struct map sum;
    how.grain = 1;
    CHECK_EQ(filch_for_with(&how, 0, 60, reduces_inside, 0), 0);
    CHECK_EQ(filch_reduce_with(&how, &outer, &sum, 0, 100, 0), 0);
    check_map(&sum, 0, 1000);
}

static void reductions_nest(void) { everywhere(nested_here); }

/* Called on a worker of one pool, run by another. */
static filch_pool *other_pool;

static void elsewhere_here(void)
{
    filch_how how = FILCH_HOW_INIT;
    struct maps m = {.state_size = 300, .waits = 10};
    how.pool = other_pool;
    reduce_once(filch_reduce_with, &how, &m, 0, 3000);
    reduce_once(filch_reduce_fixed_with, &how, &m, 0, 3000);
}

static void a_reduction_may_run_in_another_pool(void)
{
    other_pool = kit_pool(2);
    on_pools(elsewhere_here);
    kit_destroy(other_pool);
}

/* ---- the same bits --------------------------------------------------------------------------- */

enum { DOUBLES = 100003 };
static double doubles[DOUBLES];
static float floats[DOUBLES];

static void make_doubles(void)
{
    for (size_t i = 0; i < DOUBLES; i++) {
        double x = (double)(int64_t)rng_mix(i) / 4e18;
        int shift = (int)(rng_mix(i + DOUBLES) % 200) - 100;
        doubles[i] = __builtin_ldexp(x, shift);
        floats[i] = (float)__builtin_ldexp(x, shift / 4);
    }
}

static void double_fold(void *state, size_t lo, size_t hi, void *arg)
{
    (void)arg;
    for (size_t i = lo; i < hi; i++)
        *(double *)state += doubles[i];
}

static void double_combine(void *state, const void *right, void *arg)
{
    (void)arg;
    *(double *)state += *(const double *)right;
}

static const filch_reducer adding = {sizeof(double), 0, double_fold, double_combine};
static const size_t counts[] = {0, 1, 2, 1000, 32767, 32768, 50001, DOUBLES};
static const size_t grains[] = {0, 1, 10, 1000};
enum { COUNTS = sizeof counts / sizeof *counts, GRAINS = sizeof grains / sizeof *grains };
static double fixed_sums[COUNTS][GRAINS], sums_f64[COUNTS], sums_f32[COUNTS];
static bool fixed_known;

/* What the first call finds is what all others have to find. */
static void same(double *known, double now)
{
    if (!fixed_known)
        *known = now;
    CHECK_MSG(memcmp(known, &now, sizeof now) == 0, "%a is not %a", now, *known);
}

static void bits_here(void)
{
    filch_how how = how_here();
    for (int i = 0; i < COUNTS; i++) {
        for (int g = 0; g < GRAINS; g++) {
            double sum = 1;
            how.grain = grains[g];
            how.workers = (int)(place_random(&seed) % 6);
            CHECK_EQ(filch_reduce_fixed_with(&how, &adding, &sum, 0, counts[i], 0), 0);
            same(&fixed_sums[i][g], sum);
        }
        if (place_now == ON_A_THREAD)
            continue; /* they would go to the default pool */
        same(&sums_f64[i], filch_sum_f64(doubles, counts[i]));
        same(&sums_f32[i], filch_sum_f32(floats, counts[i]));
    }
    fixed_known |= place_now != ON_A_THREAD;
}

static uint32_t disturbed;

static void disturbs(void *arg)
{
    (void)arg;
    while (!kit_raised(&disturbed)) {
        kit_nap_us(10);
        filch_yield();
    }
}

static void bits_under_disturbance_here(void)
{
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = place_pool;
    filch_store_relaxed(&disturbed, 0u); /* order: nobody looks yet */
    for (int i = 0; i < 3; i++)
        CHECK_EQ(filch_go_with(&attr, disturbs, 0), 0);
    bits_here();
    kit_raise(&disturbed);
}

static void a_fixed_reduction_gives_the_same_bits_everywhere(void)
{
    make_doubles();
    double forward = 0, backward = 0;
    for (size_t i = 0; i < DOUBLES; i++) {
        forward += doubles[i];
        backward += doubles[DOUBLES - 1 - i];
    }
    CHECK(forward != backward); /* with these the order shows */
    place_open(1, FILCH_JOIN_SUSPEND);
    place_call(IN_A_TASK, bits_here);
    place_close();
    everywhere(bits_here);
    on_pools(bits_under_disturbance_here);
}

/* ---- cancellation ----------------------------------------------------------------------------- */

struct stop {
    filch_scope *scope;
    size_t at;      /* the element whose fold cancels; SIZE_MAX: none */
    uint64_t folds;
};

static void stop_fold(void *state, size_t lo, size_t hi, void *arg)
{
    struct stop *s = arg;
    filch_add_relaxed(&s->folds, (uint64_t)1); /* order: a count */
    for (size_t i = lo; i < hi; i++) {
        ++*(uint64_t *)state;
        if (i == s->at)
            filch_scope_cancel(s->scope);
    }
}

static void stop_combine(void *state, const void *right, void *arg)
{
    (void)arg;
    *(uint64_t *)state += *(const uint64_t *)right;
}

static const filch_reducer counting = {sizeof(uint64_t), 0, stop_fold, stop_combine};
static reduce_fn *const forms[] = {filch_reduce_with, filch_reduce_fixed_with};

static void canceled_before_here(void)
{
    for (int f = 0; f < 2; f++) {
        filch_how how = how_here();
        filch_scope scope;
        struct stop s = {.at = SIZE_MAX};
        uint64_t n = 7;
        CHECK_EQ(filch_scope_open_on(&scope, place_pool), 0);
        how.scope = &scope;
        how.name = "counted";
        CHECK_EQ(forms[f](&how, &counting, &n, 0, 5000, &s), 0);
        CHECK_EQ(n, 5000);
        filch_scope_cancel(&scope);
        s.folds = 0;
        CHECK_EQ(forms[f](&how, &counting, &n, 0, 5000, &s), -ECANCELED);
        CHECK_EQ(s.folds, 0);
        CHECK_EQ(n, 0);
        CHECK_EQ(forms[f](&how, &counting, &n, 0, 0, &s), -ECANCELED);
        CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
    }
}

static void a_canceled_scope_keeps_it_from_beginning(void) { everywhere(canceled_before_here); }

static void canceled_during_here(void)
{
    for (int f = 0; f < 2; f++) {
        filch_how how = how_here();
        filch_scope scope;
        struct stop s = {.at = 1003, .scope = &scope};
        uint64_t n, all = 1 << 20;
        CHECK_EQ(filch_scope_open_on(&scope, place_pool), 0);
        how.scope = &scope;
        CHECK_EQ(forms[f](&how, &counting, &n, 1000, 1000 + all, &s), -ECANCELED);
        CHECK(n > 3 && n <= all);
        if (filch_pool_workers(place_pool) == 1)
            CHECK_EQ(s.folds, 1);
        CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
    }
}

static void a_fold_may_cancel_the_rest(void) { on_pools(canceled_during_here); }

static void late_fold(void *state, size_t lo, size_t hi, void *arg)
{
    struct stop *s = arg;
    (void)state, (void)lo, (void)hi;
    while (!filch_scope_canceled(s->scope))
        CHECK_EQ(filch_sleep_ns(100000), 0);
}

static void late_here(void)
{
    static const filch_reducer late = {sizeof(uint64_t), 0, late_fold, stop_combine};
    for (int f = 0; f < 2; f++) {
        filch_how how = how_here();
        filch_scope scope;
        struct stop s = {.scope = &scope};
        uint64_t n;
        CHECK_EQ(filch_scope_open_on(&scope, place_pool), 0);
        filch_scope_deadline(&scope, filch_clock_ns() + 2000000);
        how.scope = &scope;
        CHECK_EQ(forms[f](&how, &late, &n, 0, 1000, &s), -ECANCELED);
        CHECK_EQ(filch_scope_close(&scope), -ETIMEDOUT);
    }
}

static void a_deadline_ends_it(void) { on_pools(late_here); }

/* The caller's own scope, which the stolen pieces sleep in as well. */
static void sleep_fold(void *state, size_t lo, size_t hi, void *arg)
{
    struct stop *s = arg;
    (void)state, (void)lo, (void)hi;
    if (filch_add_acq_rel(&s->folds, (uint64_t)1) == 0) /* order: only one of them cancels */
        filch_scope_cancel(s->scope);
    CHECK_EQ(filch_sleep_until(FILCH_FOREVER), -ECANCELED);
    CHECK(filch_canceled());
}

static int sleeps_in_a_scope(void *arg)
{
    static const filch_reducer sleeping = {sizeof(uint64_t), 0, sleep_fold, stop_combine};
    uint64_t n;
    CHECK_EQ(filch_reduce(&sleeping, &n, 0, 1000, arg), -ECANCELED);
    CHECK_EQ(filch_reduce_fixed(&sleeping, &n, 0, 1000, arg), -ECANCELED);
    return 0;
}

static void own_scope_here(void)
{
    filch_scope scope;
    struct stop s = {.scope = &scope};
    CHECK_EQ(filch_scope_open_on(&scope, place_pool), 0);
    CHECK_EQ(filch_scope_go(&scope, sleeps_in_a_scope, &s), 0);
    CHECK_EQ(filch_scope_close(&scope), -ECANCELED);
    CHECK(s.folds > 0);
}

static void the_scope_of_the_caller_is_that_of_the_pieces(void) { on_pools(own_scope_here); }

static void canceled_pool_here(void)
{
    for (int f = 0; f < 2; f++) {
        filch_how how = how_here();
        struct stop s = {.at = SIZE_MAX};
        uint64_t n = 7;
        CHECK_EQ(filch_pool_cancel(place_pool), 0);
        CHECK_EQ(forms[f](&how, &counting, &n, 0, 5000, &s), -ECANCELED);
        CHECK_EQ(s.folds, 0);
        CHECK_EQ(n, 0);
    }
}

static void a_canceled_pool_reduces_nothing(void)
{
    on_pools(canceled_pool_here);
    place_open(2, FILCH_JOIN_HELP);
    place_call(ON_A_THREAD, canceled_pool_here);
    place_close();
}

/* A body of an outer loop fails: the reductions in the others end. */
static void fold_until_outer_stops(void *state, size_t lo, size_t hi, void *arg)
{
    (void)state, (void)lo, (void)hi, (void)arg;
    while (!filch_load_relaxed(&run_fiber()->par->outer->stop)) /* order: a flag */
        CHECK_EQ(filch_sleep_ns(50000), 0);
}

static int one_fails(size_t lo, size_t hi, void *arg)
{
    static const filch_reducer endless = {sizeof(uint64_t), 0, fold_until_outer_stops, stop_combine};
    uint64_t n;
    (void)hi, (void)arg;
    if (lo == 0)
        return 5;
    int rc = filch_reduce(&endless, &n, 0, 1000, 0);
    CHECK_EQ(rc, -ECANCELED);
    return rc;
}

static void outer_fails_here(void)
{
    filch_how how = how_here();
    how.grain = 1;
    int rc = filch_for_with(&how, 0, 16, one_fails, 0);
    CHECK_EQ(rc, 5);
}

static void a_loop_that_fails_ends_the_reductions_in_it(void)
{
    for (int round = 0; round < 5; round++)
        on_pools(outer_fails_here);
}

/* ---- the engine ------------------------------------------------------------------------------- */

static int tiny_then_stop(struct split *s, size_t lo, size_t hi, void *state)
{
    (void)lo, (void)hi, (void)state;
    filch_store_relaxed(&s->grain, (size_t)1); /* order: a guess */
    kit_nap_us(200); /* so long that the next piece should not be longer */
    return 3;
}

/* What is left out is not split either: one by one they would take hours. */
static void stop_here(void)
{
    filch_how how = how_here();
    struct split s = {.piece = tiny_then_stop};
    par_begin(&s.par, &how, "stop_here");
    split_run(&s, 0, (size_t)1 << 50, 0);
    CHECK_EQ(par_end(&s.par), 3);
}

static void what_is_left_out_is_left_out_at_once(void) { everywhere(stop_here); }

/* As many at once as were allowed, not one more. */
struct crowd {
    uint32_t now, most, folds;
};

static void crowd_fold(void *state, size_t lo, size_t hi, void *arg)
{
    struct crowd *c = arg;
    uint32_t now = kit_count(&c->now), most = filch_load_relaxed(&c->most); /* order: a maximum */
    while (now > most && !filch_cas_relaxed(&c->most, &most, now)) /* order: a maximum */
        continue;
    kit_count(&c->folds);
    *(uint64_t *)state += hi - lo;
    CHECK_EQ(filch_sleep_ns(100000), 0);
    filch_add_acq_rel(&c->now, (uint32_t)-1); /* order: as kit_count */
}

static void crowd_here(void)
{
    static const filch_reducer crowding = {sizeof(uint64_t), 0, crowd_fold, stop_combine};
    for (int f = 0; f < 2; f++) {
        for (int workers = 1; workers <= 4; workers++) {
            filch_how how = how_here();
            struct crowd c = {0};
            uint64_t n;
            how.workers = workers;
            how.grain = 10;
            if (workers >= filch_pool_workers(place_pool))
                continue; /* no limit: one that waits makes room for another */
            CHECK_EQ(forms[f](&how, &crowding, &n, 0, 400, &c), 0);
            CHECK_EQ(n, 400);
            CHECK_MSG(c.most <= (uint32_t)workers, "%u at once instead of %d", c.most, workers);
        }
    }
}

static void no_more_work_at_once_than_was_allowed(void) { on_pools(crowd_here); }

static void piece_count_here(void)
{
    static const filch_reducer crowding = {sizeof(uint64_t), 0, crowd_fold, stop_combine};
    static const size_t sizes[] = {1, 2, 5, 9, 10, 100, 1000, 1001, 12345, 100000};
    int workers = filch_pool_workers(place_pool);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        filch_how how = how_here();
        struct crowd c = {0};
        uint64_t n;
        how.split = FILCH_SPLIT_STATIC;
        CHECK_EQ(filch_reduce_with(&how, &crowding, &n, 7, 7 + sizes[i], &c), 0);
        CHECK_EQ(n, sizes[i]);
        uint32_t want = sizes[i] < (size_t)workers ? (uint32_t)sizes[i] : (uint32_t)workers;
        CHECK_MSG(c.folds <= want, "%zu elements on %d workers: %u pieces", sizes[i], workers, c.folds);
    }
}

static void a_static_split_has_a_piece_for_each_worker(void) { on_pools(piece_count_here); }

int main(void)
{
    kit_watchdog();
    RUN(elements_keep_their_order_at_every_length);
    RUN(elements_keep_their_order_in_a_fixed_tree);
    RUN(millions_of_elements_keep_their_order);
    RUN(without_an_identity_a_state_begins_as_zeroes);
    RUN(each_state_is_combined_exactly_once);
    RUN(folds_may_wait);
    RUN(folds_may_wait_for_channels);
    RUN(reductions_nest);
    RUN(a_reduction_may_run_in_another_pool);
    RUN(a_fixed_reduction_gives_the_same_bits_everywhere);
    RUN(a_canceled_scope_keeps_it_from_beginning);
    RUN(a_fold_may_cancel_the_rest);
    RUN(a_deadline_ends_it);
    RUN(the_scope_of_the_caller_is_that_of_the_pieces);
    RUN(a_canceled_pool_reduces_nothing);
    RUN(a_loop_that_fails_ends_the_reductions_in_it);
    RUN(what_is_left_out_is_left_out_at_once);
    RUN(no_more_work_at_once_than_was_allowed);
    RUN(a_static_split_has_a_piece_for_each_worker);
    return check_report();
}
