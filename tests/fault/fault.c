/* fault.c: the injector. Counters are relaxed: a lock here would order threads that the library
 * leaves unordered, and so hide its races from the thread sanitizer. */
#define _GNU_SOURCE
#include "fault.h"

#include <errno.h>
#include <filch/ord.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAULT_MADV_GUARD_INSTALL 102

extern struct fault_site *__start_fault_sites[], *__stop_fault_sites[];

static uint32_t armed; /* 0, or 1 + the kind that fails */
static uint64_t first, count, variant;
static uint64_t calls_of_kind, failed_now;
static uint64_t failed_ever[FAULT_KINDS];
static struct fault_held held;
static __thread struct fault_site *outer;

static const char *const kind_names[FAULT_KINDS] = {"malloc", "mmap",   "guard", "discard",
                                                    "thread", "signal", "futex", "membarrier"};

/* The errors of a kind, in turn; 0 in the list is success without having done anything. */
static const struct {
    int value[4];
    int count;
} errors[FAULT_KINDS] = {
    [FAULT_MALLOC] = {{ENOMEM}, 1},
    [FAULT_MMAP] = {{ENOMEM}, 1},
    [FAULT_GUARD] = {{EINVAL, ENOMEM}, 2},
    [FAULT_DISCARD] = {{EINVAL}, 1},
    [FAULT_THREAD] = {{EAGAIN, EINVAL}, 2},
    [FAULT_SIGNAL] = {{ENOMEM, EPERM}, 2},
    [FAULT_FUTEX] = {{EINTR, EAGAIN, ENOMEM, 0}, 4},
    [FAULT_MEMBARRIER] = {{ENOMEM, EPERM, ENOSYS}, 3},
};

const char *fault_kind_name(enum fault_kind kind)
{
    return kind_names[kind];
}

/* ---- plans -------------------------------------------------------------------------------- */

void fault_arm(struct fault_plan what)
{
    filch_store_relaxed(&first, what.first);
    filch_store_relaxed(&count, what.count);
    filch_store_relaxed(&variant, (uint64_t)what.variant);
    filch_store_relaxed(&calls_of_kind, (uint64_t)0);
    filch_store_relaxed(&failed_now, (uint64_t)0);
    filch_store_release(&armed, 1u + (uint32_t)what.kind);
}

uint64_t fault_disarm(void)
{
    filch_store_release(&armed, 0u);
    return filch_load_relaxed(&failed_now);
}

struct fault_held fault_held(void)
{
    return (struct fault_held){filch_load_relaxed(&held.blocks),
                               filch_load_relaxed(&held.bytes_mapped),
                               filch_load_relaxed(&held.threads)};
}

void fault_enter(struct fault_site *site)
{
    filch_add_relaxed(&site->calls, 1);
    outer = site;
}

void fault_leave(void)
{
    outer = NULL;
}

static void note_failure(struct fault_site *at, enum fault_kind kind)
{
    filch_add_relaxed(&failed_now, 1);
    filch_add_relaxed(&failed_ever[kind], 1);
    filch_add_relaxed(&at->failed, 1);
    if (outer && outer->kind == kind)
        filch_add_relaxed(&outer->failed, 1);
}

/* Must this call fail? Then errno says with what; 0 in it means: succeed at once. */
static int fails(struct fault_site *at, enum fault_kind kind)
{
    filch_add_relaxed(&at->calls, 1);
    filch_store_relaxed(&at->kind, (uint32_t)kind);
    if (filch_load_acquire(&armed) != 1u + (uint32_t)kind)
        return 0;
    uint64_t number = filch_add_relaxed(&calls_of_kind, 1) + 1;
    uint64_t many = filch_load_relaxed(&count), past = number - filch_load_relaxed(&first);
    if (past >= many || past > number) /* not yet: wrapped around */
        return 0;
    note_failure(at, kind);
    uint64_t turn = filch_load_relaxed(&variant) + (many > 2 ? past : 0);
    errno = errors[kind].value[turn % (uint64_t)errors[kind].count];
    return 1;
}

/* ---- what stands for libc and the kernel ---------------------------------------------------- */

void *fault_calloc(struct fault_site *at, size_t n, size_t size)
{
    void *p = fails(at, FAULT_MALLOC) ? NULL : calloc(n, size);
    if (p)
        filch_add_relaxed(&held.blocks, 1);
    return p;
}

int fault_memalign(struct fault_site *at, void **out, size_t align, size_t size)
{
    int error = fails(at, FAULT_MALLOC) ? errno : posix_memalign(out, align, size);
    if (!error)
        filch_add_relaxed(&held.blocks, 1);
    return error;
}

void fault_free(void *p)
{
    if (p)
        filch_add_relaxed(&held.blocks, -1);
    free(p);
}

void *fault_mmap(struct fault_site *at, void *p, size_t size, int prot, int flags, int fd, off_t off)
{
    void *found = fails(at, FAULT_MMAP) ? MAP_FAILED : mmap(p, size, prot, flags, fd, off);
    if (found != MAP_FAILED)
        filch_add_relaxed(&held.bytes_mapped, (int64_t)size);
    return found;
}

int fault_munmap(void *p, size_t size)
{
    int r = munmap(p, size);
    if (r == 0)
        filch_add_relaxed(&held.bytes_mapped, -(int64_t)size);
    return r;
}

/* Advice that is nonsense on purpose is refused anyway. */
int fault_madvise(struct fault_site *at, void *p, size_t size, int advice)
{
    enum fault_kind kind = advice == MADV_DONTNEED              ? FAULT_DISCARD
                           : advice == FAULT_MADV_GUARD_INSTALL ? FAULT_GUARD
                                                                : FAULT_NEVER;
    if (kind == FAULT_NEVER)
        filch_store_relaxed(&at->kind, (uint32_t)FAULT_NEVER);
    else if (fails(at, kind))
        return -1;
    return madvise(p, size, advice);
}

int fault_mprotect(struct fault_site *at, void *p, size_t size, int prot)
{
    return fails(at, FAULT_GUARD) ? -1 : mprotect(p, size, prot);
}

int fault_thread(struct fault_site *at, pthread_t *id, const pthread_attr_t *attr,
                 void *(*fn)(void *), void *arg)
{
    int error = fails(at, FAULT_THREAD) ? errno : pthread_create(id, attr, fn, arg);
    if (!error)
        filch_add_relaxed(&held.threads, 1);
    return error;
}

int fault_thread_join(pthread_t id, void **result)
{
    filch_add_relaxed(&held.threads, -1);
    return pthread_join(id, result);
}

/* To ask, and to take down what was put up, cannot fail. */
int fault_sigaltstack(struct fault_site *at, const stack_t *now, stack_t *before)
{
    if (now && !(now->ss_flags & SS_DISABLE)) {
        if (fails(at, FAULT_SIGNAL))
            return -1;
    } else {
        filch_store_relaxed(&at->kind, (uint32_t)FAULT_NEVER);
    }
    return sigaltstack(now, before);
}

static enum fault_kind kind_of(long number, long op)
{
    if (number == SYS_membarrier)
        return FAULT_MEMBARRIER;
    return number == SYS_futex && ((int)op & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET ? FAULT_FUTEX
                                                                                  : FAULT_NEVER;
}

/* As the C library does: whatever was passed, six words of it. */
long fault_syscall(struct fault_site *at, long number, ...)
{
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    enum fault_kind kind = kind_of(number, number == SYS_futex ? a[1] : a[0]);
    if (kind != FAULT_NEVER && fails(at, kind)) {
        sched_yield(); /* a sleep that does not sleep takes the processor from those that work */
        return errno ? -1 : 0;
    }
    return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- what was reached ---------------------------------------------------------------------- */

static int same_site(const struct fault_site *a, const struct fault_site *b)
{
    return a->line == b->line && !strcmp(a->call, b->call) && !strcmp(a->file, b->file);
}

static const char *short_name(const char *file)
{
    const char *at = strstr(file, "/src/");
    return at ? at + 1 : file;
}

uint64_t fault_calls_in(const char *function)
{
    uint64_t n = 0;
    for (struct fault_site **s = __start_fault_sites; s < __stop_fault_sites; s++)
        if (!strcmp((*s)->function, function))
            n += filch_load_relaxed(&(*s)->calls);
    return n;
}

/* A line of a header is a site of each file that includes it: one line in the report. False if it
 * was reported already. */
static int site_sum(struct fault_site **at, struct fault_site *sum)
{
    *sum = (struct fault_site){(*at)->file, (*at)->line, (*at)->function, (*at)->call, FAULT_NEVER, 0, 0};
    for (struct fault_site **s = __start_fault_sites; s < __stop_fault_sites; s++) {
        if (!same_site(*s, *at))
            continue;
        if (s < at)
            return 0;
        sum->calls += filch_load_relaxed(&(*s)->calls);
        sum->failed += filch_load_relaxed(&(*s)->failed);
        uint32_t kind = filch_load_relaxed(&(*s)->kind);
        sum->kind = kind < sum->kind ? kind : sum->kind;
    }
    return 1;
}

int fault_report(unsigned mask)
{
    struct fault_site sum;
    int missed = 0, sites[FAULT_KINDS] = {0};
    for (struct fault_site **s = __start_fault_sites; s < __stop_fault_sites; s++) {
        if (!site_sum(s, &sum) || sum.kind == FAULT_NEVER)
            continue;
        if (sum.kind != FAULT_BY_CALL && !(mask >> sum.kind & 1))
            continue;
        printf("  %-24s %-22s %-17s %8llu calls %8llu failed\n", short_name(sum.file), sum.function,
               sum.call, (unsigned long long)sum.calls, (unsigned long long)sum.failed);
        missed += sum.failed == 0;
        if (sum.kind < FAULT_KINDS)
            sites[sum.kind]++;
    }
    for (int k = 0; k < FAULT_KINDS; k++)
        if (mask >> k & 1)
            printf("injected: %-10s %7llu failures at %d sites\n", kind_names[k],
                   (unsigned long long)filch_load_relaxed(&failed_ever[k]), sites[k]);
    fflush(stdout);
    return missed;
}
