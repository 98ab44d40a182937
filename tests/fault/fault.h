/* fault.h: makes what the library asks of the machine fail, call by call.
 *
 * The tests of this directory link a library of their own: the same sources, compiled with seam.h
 * in front, which sends each call that may fail through here. Two layers of call sites are known,
 * by file and line: calls of libc and the kernel in src/os, and calls of os.h in src/core. A
 * failure is always made at the lower one, and counted at both.
 *
 * Every site is a record that the linker collects, so a site that no test reaches is found.
 */
#ifndef FILCH_TESTS_FAULT_H
#define FILCH_TESTS_FAULT_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum fault_kind {
    FAULT_MALLOC,     /* calloc, posix_memalign: null, ENOMEM                                     */
    FAULT_MMAP,       /* mmap: ENOMEM                                                             */
    FAULT_GUARD,      /* madvise(GUARD_INSTALL), mprotect: EINVAL, ENOMEM                         */
    FAULT_DISCARD,    /* madvise(DONTNEED): EINVAL                                                */
    FAULT_THREAD,     /* pthread_create: EAGAIN, or EINVAL, which asks for another stack size     */
    FAULT_SIGNAL,     /* sigaltstack: ENOMEM, EPERM                                               */
    FAULT_FUTEX,      /* FUTEX_WAIT: EINTR, EAGAIN, ENOMEM, or 0 at once; FUTEX_WAKE cannot fail  */
    FAULT_MEMBARRIER, /* query, register, barrier: ENOMEM, EPERM, ENOSYS                          */
    FAULT_KINDS,
    FAULT_BY_CALL = FAULT_KINDS, /* a site whose kind is known from its arguments               */
    FAULT_NEVER,                 /* one that has none: what it asks for cannot fail, or must     */
};

struct fault_site {
    const char *file;
    int line;
    const char *function, *call;
    uint32_t kind;
    uint64_t calls, failed;
};

/* What is to fail: the calls of this kind from number `first` on, `count` of them. */
struct fault_plan {
    enum fault_kind kind;
    uint64_t first, count;
    int variant; /* which of the kind's errors; rotates from there                               */
};
#define FAULT_FOREVER UINT64_MAX

/* What the library holds of the machine. Nothing of it may grow over a scenario. */
struct fault_held {
    int64_t blocks, bytes_mapped, threads;
};

void fault_arm(struct fault_plan plan);
uint64_t fault_disarm(void); /* how many calls failed since fault_arm */
struct fault_held fault_held(void);
const char *fault_kind_name(enum fault_kind kind);
uint64_t fault_calls_in(const char *function); /* at all sites in this function */

/* Prints how often each site was reached and failed. Returns how many sites of the kinds in `mask`
 * (bits) were never made to fail. */
int fault_report(unsigned mask);

/* ---- called by seam.h ----------------------------------------------------------------------- */

void fault_enter(struct fault_site *site); /* a call of os.h in core begins ... */
void fault_leave(void);                    /* ... and ends                      */

void *fault_calloc(struct fault_site *at, size_t n, size_t size);
int fault_memalign(struct fault_site *at, void **out, size_t align, size_t size);
void fault_free(void *p);
void *fault_mmap(struct fault_site *at, void *p, size_t size, int prot, int flags, int fd, off_t off);
int fault_munmap(void *p, size_t size);
int fault_madvise(struct fault_site *at, void *p, size_t size, int advice);
int fault_mprotect(struct fault_site *at, void *p, size_t size, int prot);
int fault_thread(struct fault_site *at, pthread_t *id, const pthread_attr_t *attr,
                 void *(*fn)(void *), void *arg);
int fault_thread_join(pthread_t id, void **result);
int fault_sigaltstack(struct fault_site *at, const stack_t *now, stack_t *before);
long fault_syscall(struct fault_site *at, long number, ...);

#endif
