/* os_linux.c: threads, sleep, time, memory and the environment, on Linux.
 *
 * No function here changes errno: the library reports by return value, and a task's errno is the
 * user's. */
#define _GNU_SOURCE
#include "os/os.h"
#include "os/os_thread.h"

#include <filch/ord.h>

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/* ---- threads ------------------------------------------------------------------------------ */

/* Work runs on fibers; a thread's own stack holds only the scheduler. */
#define OS_THREAD_STACK ((size_t)256 << 10)

void os_slack_set(unsigned long ns)
{
    (void)prctl(PR_SET_TIMERSLACK, ns, 0UL, 0UL, 0UL);
}

static __thread struct os_outside outside;

const struct os_outside *os_thread_outside(void)
{
    __asm__ __volatile__("" ::: "memory");
    return outside.is ? &outside : NULL;
}

/* Handed to the new thread, which frees it: the starter does not wait. */
struct os_thread_box {
    void (*fn)(void *);
    void *arg;
    struct os_outside outside;
    char name[16];
};

static void *os_thread_main(void *p)
{
    struct os_thread_box box = *(struct os_thread_box *)p;
    os_free(p);
    if (box.name[0])
        (void)pthread_setname_np(pthread_self(), box.name);
    outside = box.outside;
    os_slack_set(OS_THREAD_SLACK_NS);
    box.fn(box.arg);
    return NULL;
}

/* Everything asynchronous is blocked, so that user handlers run on the user's threads. Faults
 * must reach the thread that made them, and so must SIGPIPE, or a task never learns that nothing reads
 * what it prints. SIGPROF is how profilers look at workers. */
static void os_thread_mask(sigset_t *set)
{
    static const int open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPIPE, SIGPROF};
    sigfillset(set);
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        sigdelset(set, open[i]);
}

static int os_thread_tls_of(struct dl_phdr_info *info, size_t info_size, void *sum)
{
    (void)info_size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *)sum += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
    return 0;
}

/* glibc takes thread-local storage out of the thread's stack: a program with much of it (or a
 * sanitizer's) would otherwise leave no room. Counted when the library is loaded, and never again:
 * the loader's lock may be held by a thread that a child of fork() does not have. What is loaded
 * later gets its storage elsewhere. */
static size_t os_thread_tls;

static void __attribute__((constructor)) os_thread_count_tls(void)
{
    dl_iterate_phdr(os_thread_tls_of, &os_thread_tls);
}

static size_t os_thread_stack_size(void)
{
    size_t page = os_page_size();
    return (OS_THREAD_STACK + os_thread_tls + page - 1) & ~(page - 1);
}

/* What the calling thread gives to its children, or would give them if it were none of ours. */
static struct os_outside os_outside_here(const sigset_t *mask)
{
    const struct os_outside *inherited = os_thread_outside();
    if (inherited)
        return *inherited;
    int slack = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
    return (struct os_outside){.is = true, .slack_ns = slack > 0 ? (unsigned long)slack : 0, .mask = *mask};
}

static int os_thread_create(pthread_t *id, struct os_thread_box *box)
{
    pthread_attr_t attr;
    int error = pthread_attr_init(&attr);
    if (error)
        return error;
    (void)pthread_attr_setstacksize(&attr, os_thread_stack_size());
    sigset_t blocked, before;
    os_thread_mask(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    box->outside = os_outside_here(&before);
    error = pthread_create(id, &attr, os_thread_main, box);
    if (error == EINVAL) /* the size did not suit the C library */
        error = pthread_create(id, NULL, os_thread_main, box);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return error;
}

int os_thread_start(os_thread *out, void (*fn)(void *), void *arg, const char *name)
{
    struct os_thread_box *box = os_alloc(sizeof *box);
    if (!box)
        return -ENOMEM;
    box->fn = fn;
    box->arg = arg;
    if (name)
        strncpy(box->name, name, sizeof box->name - 1);
    pthread_t id;
    int saved = errno, error = os_thread_create(&id, box);
    errno = saved;
    if (error) {
        os_free(box);
        return -error;
    }
    out->handle = (uintptr_t)id;
    return 0;
}

void os_thread_join(os_thread t)
{
    (void)pthread_join((pthread_t)t.handle, NULL);
}

void os_thread_yield(void)
{
    (void)sched_yield();
}

void os_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory"); /* `yield` is a no-op on most cores */
#else
    __asm__ __volatile__("" ::: "memory");
#endif
}

void os_pause_for(unsigned n)
{
    while (n-- > 0)
        os_pause();
}

/* ---- what belongs to a thread -------------------------------------------------------------- */

static __thread void *os_self OS_TLS_FAST;

/* The barrier keeps the compiler from finding the accessors pure and merging two calls. */
void *os_self_get(void)
{
    __asm__ __volatile__("" ::: "memory");
    return os_self;
}

void os_self_set(void *self)
{
    os_self = self;
    __asm__ __volatile__("" ::: "memory");
}

uintptr_t os_thread_mark(void)
{
    __asm__ __volatile__("" ::: "memory");
    return (uintptr_t)&os_self;
}

int os_errno_get(void)
{
    __asm__ __volatile__("" ::: "memory");
    return errno;
}

int *os_errno_at(void)
{
    __asm__ __volatile__("" ::: "memory");
    return &errno;
}

/* There if the program is linked with a run-time library of C++. */
void *__cxa_get_globals(void) __attribute__((weak));

struct os_exceptions *os_exceptions_at(void)
{
    static struct os_exceptions none;
    return __cxa_get_globals ? (struct os_exceptions *)__cxa_get_globals() : &none;
}

void os_errno_set(int value)
{
    errno = value;
    __asm__ __volatile__("" ::: "memory");
}

/* ---- sleep and time ----------------------------------------------------------------------- */

#define OS_NS_PER_S INT64_C(1000000000)

static struct timespec os_timespec(int64_t ns)
{
    if (ns < 0)
        ns = 0;
    return (struct timespec){.tv_sec = (time_t)(ns / OS_NS_PER_S),
                             .tv_nsec = (long)(ns % OS_NS_PER_S)};
}

int64_t os_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * OS_NS_PER_S + t.tv_nsec;
}

#if defined(__x86_64__)
uint64_t os_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

uint64_t os_ticks_per_us(void)
{
    return 2500; /* between 2 and 4 GHz on what is in use */
}
#elif defined(__aarch64__)
uint64_t os_ticks(void)
{
    uint64_t ticks;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

uint64_t os_ticks_per_us(void)
{
    uint64_t hertz;
    __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(hertz));
    return hertz >= 1000000 ? hertz / 1000000 : 1;
}
#else
uint64_t os_ticks(void)
{
    return (uint64_t)os_clock_ns();
}

uint64_t os_ticks_per_us(void)
{
    return 1000;
}
#endif

void os_sleep_ns(int64_t ns)
{
    if (ns <= 0)
        return;
    int64_t now = os_clock_ns();
    struct timespec until = os_timespec(ns > INT64_MAX - now ? INT64_MAX : now + ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

static int os_futex(uint32_t *word, int op, uint32_t value, const struct timespec *until)
{
    int saved = errno;
    long r = syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, until, NULL,
                     FUTEX_BITSET_MATCH_ANY);
    int result = r < 0 ? -errno : 0;
    errno = saved;
    return result;
}

int os_futex_wait(uint32_t *word, uint32_t expect, int64_t deadline)
{
    struct timespec until = os_timespec(deadline);
    int r = os_futex(word, FUTEX_WAIT_BITSET, expect, deadline == INT64_MAX ? NULL : &until);
    if (r < 0 && r != -ETIMEDOUT && os_clock_ns() >= deadline)
        r = -ETIMEDOUT; /* a kernel that never lets us sleep must not keep us past the deadline */
    return r == -ETIMEDOUT ? r : 0;
}

void os_futex_wake(uint32_t *word, int count)
{
    (void)os_futex(word, FUTEX_WAKE, (uint32_t)count, NULL);
}

static int os_membarrier_call(int command)
{
    int saved = errno;
    long r = syscall(SYS_membarrier, command, 0, 0);
    int result = r < 0 ? -errno : (int)r;
    errno = saved;
    return result;
}

int os_membarrier_init(void)
{
    int has = os_membarrier_call(MEMBARRIER_CMD_QUERY);
    if (has < 0)
        return has;
    if (!(has & MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        return -ENOSYS;
    return os_membarrier_call(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

int os_membarrier(void)
{
    return os_membarrier_call(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

/* ---- memory ------------------------------------------------------------------------------- */

void *os_alloc(size_t size)
{
    int saved = errno;
    void *p = calloc(1, size);
    errno = saved;
    return p;
}

void *os_alloc_aligned(size_t size, size_t align)
{
    int saved = errno;
    void *p = NULL;
    if (posix_memalign(&p, align, size) == 0)
        memset(p, 0, size);
    else
        p = NULL;
    errno = saved;
    return p;
}

void os_free(void *p)
{
    int saved = errno;
    free(p);
    errno = saved;
}

size_t os_page_size(void)
{
    static size_t page; /* the same whoever asks first */
    size_t known = filch_load_relaxed(&page); /* order: a constant */
    if (!known) {
        known = (size_t)sysconf(_SC_PAGESIZE);
        filch_store_relaxed(&page, known); /* order: a constant */
    }
    return known;
}

/* Maps `size + slack` and gives back what lies before and after the aligned part. */
static int os_pages_map(void **out, size_t size, size_t align, size_t slack)
{
    char *p = mmap(NULL, size + slack, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return -errno;
    size_t before = (size_t)(-(uintptr_t)p & (align - 1));
    if (before)
        (void)munmap(p, before);
    if (slack - before)
        (void)munmap(p + before + size, slack - before);
    *out = p + before;
    return 0;
}

int os_pages_reserve(void **out, size_t size, size_t align)
{
    size_t page = os_page_size();
    if (align < page)
        align = page;
    if (!size || (align & (align - 1)) || size > (size_t)PTRDIFF_MAX - align)
        return -EINVAL;
    int saved = errno;
    size = (size + page - 1) & ~(page - 1);
    int r = os_pages_map(out, size, align, align - page);
    errno = saved;
    return r;
}

void os_pages_release(void *p, size_t size)
{
    int saved = errno;
    (void)munmap(p, size);
    errno = saved;
}

void os_pages_discard(void *p, size_t size)
{
    int saved = errno;
    (void)madvise(p, size, MADV_DONTNEED); /* guards made by MADV_GUARD_INSTALL stay */
    errno = saved;
}

void os_pages_large(void *p, size_t size)
{
    int saved = errno;
    (void)madvise(p, size, MADV_HUGEPAGE);
    errno = saved;
}

/* MADV_GUARD_INSTALL (Linux 6.13) marks page tables and leaves the mapping in one piece; with
 * mprotect, each guard costs two of the process's (by default 65,530) mappings. Emulators may
 * say yes to any advice and do nothing: one that takes nonsense is not believed. */
static int believes_advice(void *p, size_t size)
{
    enum { NONSENSE = 0x7ffffff, UNKNOWN = 0, YES, NO };
    static uint32_t answer;
    uint32_t known = filch_load_relaxed(&answer); /* order: the same whoever asks */
    if (known == UNKNOWN) {
        known = madvise(p, size, NONSENSE) == 0 ? NO : YES;
        filch_store_relaxed(&answer, known); /* order: as above */
    }
    return known == YES;
}

int os_pages_guard(void *p, size_t size)
{
    int saved = errno;
    int r = !believes_advice(p, size) || madvise(p, size, MADV_GUARD_INSTALL);
    if (r)
        r = mprotect(p, size, PROT_NONE);
    r = r ? -errno : 0;
    errno = saved;
    return r;
}

/* ---- the process -------------------------------------------------------------------------- */

int64_t os_began_ns;

static void __attribute__((constructor)) at_load(void)
{
    os_began_ns = os_clock_ns();
}

const char *os_getenv(const char *name)
{
    return secure_getenv(name);
}

void os_print(const char *text, size_t length)
{
    int saved = errno;
    while (write(STDERR_FILENO, text, length) < 0 && errno == EINTR)
        ;
    errno = saved;
}

uint64_t os_random_seed(void)
{
    int saved = errno;
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = (uint64_t)os_clock_ns() * UINT64_C(0x9E3779B97F4A7C15) ^ (uintptr_t)&seed;
    errno = saved;
    return seed;
}

void os_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    (void)pthread_atfork(prepare, parent, child);
}

bool os_child_of_own_thread(void)
{
    const struct os_outside *o = os_thread_outside();
    if (!o)
        return false;
    os_slack_set(o->slack_ns);
    (void)pthread_sigmask(SIG_SETMASK, &o->mask, NULL);
    outside.is = false; /* from now on its mask is its own */
    return true;
}
