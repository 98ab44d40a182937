/* The machine behind os.h: threads, sleep, memory, CPUs. */
#define _GNU_SOURCE
#include "../check.h"
#include "os/os.h"

#include <errno.h>
#include <filch/ord.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* ---- children that are meant to die --------------------------------------------------------- */

static pid_t child_begin(void)
{
    struct rlimit no_core = {0, 0};
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGSEGV, SIG_DFL); /* a sanitizer may have its own */
        signal(SIGBUS, SIG_DFL);
    }
    return pid;
}

static int child_status(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        CHECK_EQ(errno, EINTR);
    return status;
}

static int reading_kills(const char *p)
{
    pid_t pid = child_begin();
    if (pid == 0) {
        char byte;
        __asm__ __volatile__("" : : : "memory");
        byte = *p;
        __asm__ __volatile__("" : : "r"(byte) : "memory");
        _exit(0);
    }
    int status = child_status(pid);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

/* ---- threads -------------------------------------------------------------------------------- */

struct seen {
    char name[16];
    sigset_t mask;
    void *self_before, *self_after;
    int error;
};

static void look_around(void *arg)
{
    struct seen *s = arg;
    pthread_getname_np(pthread_self(), s->name, sizeof s->name);
    pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
    s->self_before = os_self_get();
    os_self_set(s);
    s->self_after = os_self_get();
    os_errno_set(33);
    s->error = os_errno_get();
}

static void run_thread(struct seen *s, const char *name)
{
    os_thread t;
    memset(s, 0, sizeof *s);
    CHECK_EQ(os_thread_start(&t, look_around, s, name), 0);
    os_thread_join(t);
}

static void a_thread_carries_its_name(void)
{
    struct seen s;
    run_thread(&s, "filch-worker");
    CHECK_STR(s.name, "filch-worker");
    run_thread(&s, "a-name-that-is-much-too-long");
    CHECK_STR(s.name, "a-name-that-is-");
}

static void threads_block_asynchronous_signals_and_no_faults(void)
{
    static const int blocked[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1};
    static const int open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPIPE, SIGPROF};
    struct seen s;
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    run_thread(&s, "mask");
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (size_t i = 0; i < sizeof blocked / sizeof blocked[0]; i++)
        CHECK_EQ(sigismember(&s.mask, blocked[i]), 1);
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        CHECK_EQ(sigismember(&s.mask, open[i]), 0);
    for (int sig = 1; sig < 32; sig++)
        CHECK_EQ(sigismember(&before, sig), sigismember(&after, sig));
}

static void the_self_pointer_and_errno_belong_to_the_thread(void)
{
    struct seen s;
    int mine;
    os_self_set(&mine);
    os_errno_set(44);
    run_thread(&s, "self");
    CHECK(s.self_before == NULL);
    CHECK(s.self_after == &s);
    CHECK_EQ(s.error, 33);
    CHECK(os_self_get() == &mine);
    os_self_set(NULL);
}

/* ---- sleep ---------------------------------------------------------------------------------- */

static void the_clock_does_not_run_backwards_and_sleep_is_not_short(void)
{
    int64_t before = os_clock_ns();
    os_sleep_ns(2000000);
    os_sleep_ns(0);
    os_sleep_ns(-5);
    os_thread_yield();
    os_pause();
    CHECK(os_clock_ns() - before >= 2000000);
}

static void a_futex_wait_ends_at_its_deadline(void)
{
    uint32_t word = 1;
    int64_t deadline = os_clock_ns() + 3000000;
    int r;
    while ((r = os_futex_wait(&word, 1, deadline)) == 0)
        CHECK(os_clock_ns() < deadline + INT64_C(60000000000));
    CHECK_EQ(r, -ETIMEDOUT);
    CHECK(os_clock_ns() >= deadline);
}

static void a_futex_wait_in_the_past_times_out_at_once(void)
{
    uint32_t word = 1;
    CHECK_EQ(os_futex_wait(&word, 1, 0), -ETIMEDOUT);
    CHECK_EQ(os_futex_wait(&word, 1, -7), -ETIMEDOUT);
    CHECK_EQ(os_futex_wait(&word, 1, 1), -ETIMEDOUT);
}

static void a_futex_wait_on_another_value_does_not_sleep(void)
{
    uint32_t word = 1;
    os_errno_set(77);
    CHECK_EQ(os_futex_wait(&word, 2, INT64_MAX), 0);
    CHECK_EQ(os_errno_get(), 77); /* and errno is the user's */
}

struct post {
    uint32_t ball; /* 0: with main; 1: with the thread */
    int rounds;
};

static void wait_for(uint32_t *word, uint32_t value)
{
    uint32_t now;
    while ((now = filch_load_acquire(word)) != value) /* order: with the store in pass_to */
        CHECK_EQ(os_futex_wait(word, now, INT64_MAX), 0);
}

static void pass_to(uint32_t *word, uint32_t value)
{
    filch_store_release(word, value); /* order: what was done before the ball is passed */
    os_futex_wake(word, 1);
}

static void play(void *arg)
{
    struct post *p = arg;
    for (int i = 0; i < p->rounds; i++) {
        wait_for(&p->ball, 1);
        pass_to(&p->ball, 0);
    }
}

static void a_futex_wake_wakes(void)
{
    struct post p = {.rounds = 500};
    os_thread t;
    CHECK_EQ(os_thread_start(&t, play, &p, "play"), 0);
    for (int i = 0; i < p.rounds; i++) {
        pass_to(&p.ball, 1);
        wait_for(&p.ball, 0);
    }
    os_thread_join(t);
}

static void membarrier_works_if_it_says_so_in_a_child_too(void)
{
    if (os_membarrier_init())
        return;
    CHECK_EQ(os_membarrier(), 0);
    pid_t pid = child_begin();
    if (pid == 0)
        _exit(os_membarrier() == 0 ? 0 : 1);
    CHECK_EQ(child_status(pid), 0);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void reserved_pages_are_aligned_and_zero(void)
{
    size_t page = os_page_size();
    for (size_t align = 1; align <= (size_t)16 << 20; align *= 4) {
        char *p;
        size_t size = 3 * page;
        CHECK_EQ(os_pages_reserve((void **)&p, size, align), 0);
        CHECK_EQ((uintptr_t)p % (align < page ? page : align), 0);
        CHECK_EQ(p[0] | p[size - 1], 0);
        p[0] = p[size - 1] = 1;
        os_pages_release(p, size);
    }
}

static void a_large_reservation_costs_no_memory(void)
{
    void *p;
    size_t size = (size_t)64 << 30;
    CHECK_EQ(os_pages_reserve(&p, size, (size_t)1 << 30), 0);
    ((char *)p)[size - 1] = 1;
    os_pages_release(p, size);
}

static void reservations_that_cannot_be_are_refused(void)
{
    void *p;
    CHECK_EQ(os_pages_reserve(&p, 0, 4096), -EINVAL);
    CHECK_EQ(os_pages_reserve(&p, 4096, 3 * os_page_size()), -EINVAL);
    CHECK_EQ(os_pages_reserve(&p, SIZE_MAX, 4096), -EINVAL);
    CHECK_EQ(os_pages_reserve(&p, SIZE_MAX / 4, 4096), -ENOMEM);
}

static void discarded_pages_are_zero_again(void)
{
    char *p;
    size_t page = os_page_size();
    CHECK_EQ(os_pages_reserve((void **)&p, 4 * page, page), 0);
    memset(p, 9, 4 * page);
    os_pages_discard(p + page, 2 * page);
    CHECK_EQ(p[page - 1], 9);
    CHECK_EQ(p[page] | p[3 * page - 1], 0);
    CHECK_EQ(p[3 * page], 9);
    os_pages_release(p, 4 * page);
}

static void a_guard_faults_and_its_neighbours_do_not(void)
{
    char *p;
    size_t page = os_page_size();
    CHECK_EQ(os_pages_reserve((void **)&p, 3 * page, page), 0);
    memset(p, 9, 3 * page);
    CHECK(!reading_kills(p + page));
    CHECK_EQ(os_pages_guard(p + page, page), 0);
    CHECK(reading_kills(p + page));
    CHECK(reading_kills(p + 2 * page - 1));
    CHECK_EQ(p[page - 1] + p[2 * page], 18);
    os_pages_discard(p, 3 * page);
    CHECK(reading_kills(p + page)); /* a discard does not take the guard away */
    CHECK_EQ(p[page - 1] + p[2 * page], 0);
    os_pages_release(p, 3 * page);
}

static void what_is_not_mapped_is_not_peeked_at(void)
{
    char *p, byte = 7;
    size_t page = os_page_size();
    CHECK_EQ(os_pages_reserve((void **)&p, 2 * page, page), 0);
    p[page - 1] = 5;
    os_pages_release(p + page, page);
    os_errno_set(77);
    CHECK_EQ(os_peek(&byte, p + page - 1, 1), 0);
    CHECK_EQ(byte, 5);
    CHECK_EQ(os_peek(&byte, p + page, 1), -EFAULT);
    CHECK_EQ(os_peek(&byte, NULL, 1), -EFAULT);
    CHECK_EQ(byte, 5);
    CHECK_EQ(os_errno_get(), 77);
    os_pages_release(p, page);
}

/* ---- code ----------------------------------------------------------------------------------- */

static __attribute__((noinline)) uintptr_t return_address(void)
{
    __asm__ __volatile__("" ::: "memory"); /* not to be moved into its caller */
    return (uintptr_t)__builtin_return_address(0);
}

static void a_return_address_follows_a_call_in_code(void)
{
    struct os_code code;
    char *gone;
    size_t page = os_page_size();
    os_code_load(&code);
    CHECK(code.count > 0);
    CHECK_EQ(os_code_is_return(&code, return_address()), 1);
    CHECK_EQ(os_code_is_return(&code, 0), 0);
    CHECK_EQ(os_code_is_return(&code, (uintptr_t)&code), 0);
    CHECK_EQ(os_code_is_return(&code, code.range[0].low), 0);
    CHECK_EQ(os_pages_reserve((void **)&gone, page, page), 0);
    os_pages_release(gone, page);
    code.count = 1; /* a library that was closed meanwhile */
    code.range[0].low = (uintptr_t)gone;
    code.range[0].high = (uintptr_t)gone + page;
    CHECK_EQ(os_code_is_return(&code, (uintptr_t)gone + 16), 0);
}

static void an_address_of_nothing_is_shown_as_a_number(void)
{
    char text[64], few[4];
    CHECK_EQ(os_symbol(0x10, text, sizeof text), 4);
    CHECK_STR(text, "0x10");
    CHECK_EQ(os_symbol(0x10, few, sizeof few), 3);
    CHECK_STR(few, "0x1");
    CHECK(os_symbol((uintptr_t)getpid, text, sizeof text) > 0);
    CHECK(strstr(text, "getpid"));
}

/* ---- CPUs ----------------------------------------------------------------------------------- */

static void the_cpu_count_follows_the_affinity_mask(void)
{
    cpu_set_t before, one;
    CHECK_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    CHECK_EQ(os_cpu_affinity(), CPU_COUNT(&before));
    CHECK(os_cpu_count() >= 1 && os_cpu_count() <= os_cpu_affinity());
    CPU_ZERO(&one);
    for (size_t i = 0; CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK_EQ(os_cpu_affinity(), 1);
    CHECK_EQ(os_cpu_count(), 1);
    CHECK_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

static void seeds_differ(void)
{
    CHECK(os_random_seed() != os_random_seed());
}

static int forked_here, forked_parent, forked_child;
static void at_prepare(void) { forked_here++; }
static void at_parent(void) { forked_parent++; }
static void at_child(void) { forked_child++; }

static void fork_hooks_run_on_both_sides(void)
{
    os_at_fork(at_prepare, at_parent, at_child);
    pid_t pid = child_begin();
    if (pid == 0)
        _exit(forked_here == 1 && forked_parent == 0 && forked_child == 1 ? 0 : 1);
    CHECK_EQ(child_status(pid), 0);
    CHECK_EQ(forked_here * 100 + forked_parent * 10 + forked_child, 110);
}

int main(void)
{
    RUN(a_thread_carries_its_name);
    RUN(threads_block_asynchronous_signals_and_no_faults);
    RUN(the_self_pointer_and_errno_belong_to_the_thread);
    RUN(the_clock_does_not_run_backwards_and_sleep_is_not_short);
    RUN(a_futex_wait_ends_at_its_deadline);
    RUN(a_futex_wait_in_the_past_times_out_at_once);
    RUN(a_futex_wait_on_another_value_does_not_sleep);
    RUN(a_futex_wake_wakes);
    RUN(membarrier_works_if_it_says_so_in_a_child_too);
    RUN(reserved_pages_are_aligned_and_zero);
    RUN(a_large_reservation_costs_no_memory);
    RUN(reservations_that_cannot_be_are_refused);
    RUN(discarded_pages_are_zero_again);
    RUN(a_guard_faults_and_its_neighbours_do_not);
    RUN(what_is_not_mapped_is_not_peeked_at);
    RUN(a_return_address_follows_a_call_in_code);
    RUN(an_address_of_nothing_is_shown_as_a_number);
    RUN(the_cpu_count_follows_the_affinity_mask);
    RUN(seeds_differ);
    RUN(fork_hooks_run_on_both_sides);
    return check_report();
}
