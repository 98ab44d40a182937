/* The context switch: what is kept, what moves, what can be used again. */
#define _GNU_SOURCE
#include "../check.h"
#include "../scale.h"
#include "os/context.h"
#include "os/os.h"

#define SMALL ((size_t)64 << 10)
#define LARGE ((size_t)8 << 20)

static os_context home, other;

static void *stack_new(size_t size)
{
    void *low = NULL;
    CHECK_EQ(os_pages_reserve(&low, size, os_page_size()), 0);
    return low;
}

static void start(void *low, size_t size, void (*entry)(void *))
{
    os_context_thread(&home);
    os_context_make(&other, low, size, entry);
}

static void finish(void *low, size_t size)
{
    os_context_drop(&other);
    os_pages_release(low, size);
}

/* ---- passing values ------------------------------------------------------------------------ */

static void echo(void *pass)
{
    for (;;)
        pass = os_context_switch(&other, &home, (void *)((uintptr_t)pass + 1));
}

static void a_switch_passes_values_both_ways(void)
{
    void *low = stack_new(SMALL);
    start(low, SMALL, echo);
    for (uintptr_t i = 0; i < 1000; i++)
        CHECK_EQ((uintptr_t)os_context_switch(&home, &other, (void *)i), i + 1);
    finish(low, SMALL);
}

struct ring {
    os_context c[8];
    unsigned at;
    int turns;
};

static void ring_member(void *pass)
{
    for (;;) {
        struct ring *r = pass;
        unsigned self = r->at;
        os_context *next = ++r->turns < 10000 ? &r->c[r->at = (self + 1) % 8] : &home;
        pass = os_context_switch(&r->c[self], next, r);
        CHECK_EQ(((struct ring *)pass)->at, self);
    }
}

static void contexts_can_switch_to_each_other_without_going_home(void)
{
    static struct ring r;
    char *low = stack_new(8 * SMALL);
    os_context_thread(&home);
    for (unsigned i = 0; i < 8; i++)
        os_context_make(&r.c[i], low + i * SMALL, SMALL, ring_member);
    CHECK(os_context_switch(&home, &r.c[0], &r) == &r);
    CHECK_EQ(r.turns, 10000);
    for (unsigned i = 0; i < 8; i++)
        os_context_drop(&r.c[i]);
    os_pages_release(low, 8 * SMALL);
}

static void context_entry_align(void *pass)
{
    uintptr_t *out = pass;
    max_align_t local;
    __asm__("" : : "r"(&local) : "memory"); /* keep it on the stack */
    *out = (uintptr_t)&local % _Alignof(max_align_t);
    os_context_abandon(&other, &home, NULL);
}

static void a_fresh_stack_is_aligned_even_if_its_top_is_not(void)
{
    char *low = stack_new(SMALL);
    for (size_t odd = 0; odd < 32; odd++) {
        uintptr_t misaligned = 1;
        start(low, SMALL - odd, context_entry_align);
        os_context_switch(&home, &other, &misaligned);
        CHECK_EQ(misaligned, 0);
    }
    finish(low, SMALL);
}

/* ---- what is kept -------------------------------------------------------------------------- */

#define MIX(x) ((x) * 6364136223846793005u + 1442695040888963407u)

/* More live values than there are registers that a call preserves. */
static uint64_t many_values(os_context *self, os_context *peer, uint64_t seed, int rounds)
{
    uint64_t a = MIX(seed), b = MIX(a), c = MIX(b), d = MIX(c), e = MIX(d), f = MIX(e);
    double x = (double)(a >> 40), y = (double)(b >> 40), z = (double)(c >> 40);
    for (int i = 0; i < rounds; i++) {
        if (self)
            os_context_switch(self, peer, NULL);
        a = MIX(a ^ f), b = MIX(b ^ a), c = MIX(c ^ b), d = MIX(d ^ c), e = MIX(e ^ d);
        f = MIX(f ^ e);
        x = x * .5 + y, y = y * .25 + z, z = z * .125 + (double)(f >> 40);
    }
    return a ^ b ^ c ^ d ^ e ^ f ^ (uint64_t)(x + y + z);
}

static uint64_t other_values;

static void keeps_values(void *pass)
{
    (void)pass;
    other_values = many_values(&other, &home, 7, 100);
    os_context_abandon(&other, &home, NULL);
}

static void registers_are_kept_across_switches(void)
{
    void *low = stack_new(SMALL);
    start(low, SMALL, keeps_values);
    os_context_switch(&home, &other, NULL);
    uint64_t mine = many_values(&home, &other, 3, 100);
    CHECK(mine == many_values(NULL, NULL, 3, 100));
    CHECK(other_values == many_values(NULL, NULL, 7, 100));
    finish(low, SMALL);
}

#if defined(__x86_64__)
static unsigned control_get(void)
{
    unsigned short x87;
    __asm__ __volatile__("fnstcw %0" : "=m"(x87));
    return (__builtin_ia32_stmxcsr() & 0xffc0u) << 16 | x87;
}
static void control_set_rounding(unsigned mode)
{
    unsigned short x87;
    __asm__ __volatile__("fnstcw %0" : "=m"(x87));
    x87 = (unsigned short)((x87 & ~0xc00u) | mode << 10);
    __asm__ __volatile__("fldcw %0" : : "m"(x87));
    __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~0x6000u) | mode << 13);
}
#elif defined(__aarch64__)
static unsigned control_get(void)
{
    uint64_t fpcr;
    __asm__ __volatile__("mrs %0, fpcr" : "=r"(fpcr));
    return (unsigned)fpcr;
}
static void control_set_rounding(unsigned mode)
{
    uint64_t fpcr = (control_get() & ~0xc00000u) | (uint64_t)mode << 22;
    __asm__ __volatile__("msr fpcr, %0" : : "r"(fpcr));
}
#else
static unsigned control_get(void) { return 0; }
static void control_set_rounding(unsigned mode) { (void)mode; }
#endif

static void rounds_its_own_way(void *pass)
{
    CHECK_EQ(control_get(), *(unsigned *)pass); /* inherited when made */
    control_set_rounding(1);
    unsigned mine = control_get();
    for (;;) {
        os_context_switch(&other, &home, &mine);
        CHECK_EQ(control_get(), mine);
    }
}

static void floating_point_control_belongs_to_the_context(void)
{
    void *low = stack_new(SMALL);
    control_set_rounding(0);
    unsigned usual = control_get();
    start(low, SMALL, rounds_its_own_way);
    unsigned theirs = *(unsigned *)os_context_switch(&home, &other, &usual);
#if defined(__x86_64__) || defined(__aarch64__)
    CHECK(theirs != usual);
#endif
    CHECK_EQ(control_get(), usual);
    control_set_rounding(2);
    unsigned mine = control_get();
    CHECK_EQ(*(unsigned *)os_context_switch(&home, &other, NULL), theirs);
    CHECK_EQ(control_get(), mine);
    control_set_rounding(0);
    finish(low, SMALL);
}

/* ---- deep stacks and used stacks ------------------------------------------------------------ */

/* Frames of a kilobyte or so, each with an array that sanitizers surround with poison. */
static __attribute__((noinline)) unsigned dive(unsigned depth, void (*bottom)(void))
{
    unsigned char frame[1000];
    memset(frame, (int)depth, sizeof frame);
    __asm__("" : : "r"(frame) : "memory");
    unsigned below = 0;
    if (depth)
        below = dive(depth - 1, bottom);
    else if (bottom)
        bottom();
    return below + frame[depth % sizeof frame];
}

static unsigned dive_sum(unsigned depth)
{
    unsigned sum = 0;
    for (unsigned i = 0; i <= depth; i++)
        sum += i & 0xff;
    return sum;
}

static void go_home(void) { os_context_switch(&other, &home, NULL); }
static void go_home_for_good(void) { os_context_abandon(&other, &home, NULL); }

static void dives_and_returns(void *pass)
{
    unsigned *depth = pass;
    *depth = dive(*depth, go_home);
    os_context_abandon(&other, &home, NULL);
}

static void recursion_can_be_as_deep_as_the_stack_allows(void)
{
    void *low = stack_new(LARGE);
    unsigned depth = 4000;
    start(low, LARGE, dives_and_returns);
    os_context_switch(&home, &other, &depth); /* suspended at the bottom */
    CHECK_EQ(depth, 4000);
    os_context_switch(&home, &other, NULL);
    CHECK_EQ(depth, dive_sum(4000));
    finish(low, LARGE);
}

static void dives_for_good(void *pass)
{
    dive(*(unsigned *)pass, go_home_for_good);
}

static void dives_and_stays(void *pass)
{
    dive(*(unsigned *)pass, go_home);
}

/* Frames of another size than dive's, so that they lie across what dive left behind. */
static __attribute__((noinline)) unsigned sweep(unsigned depth)
{
    unsigned char frame[3700];
    memset(frame, 1, sizeof frame);
    __asm__("" : : "r"(frame) : "memory");
    return depth ? sweep(depth - 1) + frame[depth] : 0;
}

static void sweeps(void *pass)
{
    *(unsigned *)pass = sweep(*(unsigned *)pass);
    os_context_abandon(&other, &home, NULL);
}

static void use_again(void (*first)(void *), size_t size, unsigned depth)
{
    void *low = stack_new(size);
    start(low, size, first);
    os_context_switch(&home, &other, &depth);
    unsigned count = (unsigned)(size / 8192), expect = count;
    os_context_make(&other, low, size, sweeps);
    os_context_switch(&home, &other, &count);
    CHECK_EQ(count, expect);
    finish(low, size);
}

static void a_stack_can_be_used_again_after_it_was_abandoned(void)
{
    use_again(dives_for_good, SMALL, 20);
    use_again(dives_for_good, LARGE, 4000);
}

static void a_stack_can_be_used_again_while_its_last_flow_is_suspended(void)
{
    use_again(dives_and_stays, SMALL, 20);
    use_again(dives_and_stays, LARGE, 4000);
}

static void a_dropped_stack_serves_as_plain_memory(void)
{
    unsigned depth = 4000;
    char *low = stack_new(LARGE);
    start(low, LARGE, dives_and_stays);
    os_context_switch(&home, &other, &depth);
    os_context_drop(&other);
    memset(low, 5, LARGE);
    CHECK_EQ(low[LARGE - 100], 5);
    os_pages_release(low, LARGE);
}

static void a_context_can_be_made_anew_many_times(void)
{
    void *low = stack_new(SMALL);
    unsigned depth = 8;
    for (int i = 0; i < SCALED(10000, 10000, 1000); i++) {
        start(low, SMALL, i & 1 ? dives_for_good : dives_and_stays);
        os_context_switch(&home, &other, &depth);
    }
    finish(low, SMALL);
}

/* ---- moving between threads ----------------------------------------------------------------- */

struct visit {
    int id;       /* what os_self is on this thread */
    int sees;     /* what the context saw           */
    int error;    /* errno that the context saw     */
    os_context own;
};

static void wanders(void *pass)
{
    for (;;) {
        struct visit *here = pass;
        here->sees = *(int *)os_self_get();
        here->error = os_errno_get();
        pass = os_context_switch(&other, &here->own, NULL);
    }
}

static void visitor(void *arg)
{
    struct visit *v = arg;
    os_self_set(&v->id);
    os_errno_set(100 + v->id);
    os_context_thread(&v->own);
    os_context_switch(&v->own, &other, v);
    CHECK(os_self_get() == &v->id);
}

static void a_context_that_moved_sees_its_new_thread(void)
{
    void *low = stack_new(SMALL);
    os_context_make(&other, low, SMALL, wanders);
    for (int i = 1; i <= 20; i++) {
        struct visit v = {.id = i};
        os_thread t;
        CHECK_EQ(os_thread_start(&t, visitor, &v, "visitor"), 0);
        os_thread_join(t);
        CHECK_EQ(v.sees, i);
        CHECK_EQ(v.error, 100 + i);
    }
    finish(low, SMALL);
}

int main(void)
{
    RUN(a_switch_passes_values_both_ways);
    RUN(contexts_can_switch_to_each_other_without_going_home);
    RUN(a_fresh_stack_is_aligned_even_if_its_top_is_not);
    RUN(registers_are_kept_across_switches);
    RUN(floating_point_control_belongs_to_the_context);
    RUN(recursion_can_be_as_deep_as_the_stack_allows);
    RUN(a_stack_can_be_used_again_after_it_was_abandoned);
    RUN(a_stack_can_be_used_again_while_its_last_flow_is_suspended);
    RUN(a_dropped_stack_serves_as_plain_memory);
    RUN(a_context_can_be_made_anew_many_times);
    RUN(a_context_that_moved_sees_its_new_thread);
    return check_report();
}
