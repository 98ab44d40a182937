/* seam.h: stands in front of every source of the library that the fault tests link (-include).
 *
 * FAULT_ROOM_OS is defined for src/os: there libc and the kernel are replaced. Elsewhere calls of
 * os.h are noted. What is not named here is called as it is.
 */
#ifndef FILCH_TESTS_SEAM_H
#define FILCH_TESTS_SEAM_H

#define _GNU_SOURCE
#include "fault.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/os.h"

/* The record of this site; the linker makes a table of the pointers. */
#define FAULT_HERE(kind, call)                                                                    \
    ({                                                                                            \
        static struct fault_site fault_here = {__FILE__, __LINE__, __func__, call, kind, 0, 0};   \
        static struct fault_site *fault_entry                                                     \
            __attribute__((section("fault_sites"), used)) = &fault_here;                          \
        fault_entry;                                                                              \
    })

#ifdef FAULT_ROOM_OS

#define calloc(n, size) fault_calloc(FAULT_HERE(FAULT_MALLOC, "calloc"), n, size)
#define posix_memalign(out, align, size)                                                          \
    fault_memalign(FAULT_HERE(FAULT_MALLOC, "posix_memalign"), out, align, size)
#define free(p) fault_free(p)
#define mmap(p, size, prot, flags, fd, off)                                                       \
    fault_mmap(FAULT_HERE(FAULT_MMAP, "mmap"), p, size, prot, flags, fd, off)
#define munmap(p, size) fault_munmap(p, size)
#define madvise(p, size, advice)                                                                  \
    fault_madvise(FAULT_HERE(FAULT_BY_CALL, "madvise"), p, size, advice)
#define mprotect(p, size, prot)                                                                   \
    fault_mprotect(FAULT_HERE(FAULT_GUARD, "mprotect"), p, size, prot)
#define pthread_create(id, attr, fn, arg)                                                         \
    fault_thread(FAULT_HERE(FAULT_THREAD, "pthread_create"), id, attr, fn, arg)
#define pthread_join(id, result) fault_thread_join(id, result)
#define sigaltstack(now, before)                                                                  \
    fault_sigaltstack(FAULT_HERE(FAULT_SIGNAL, "sigaltstack"), now, before)
#define FAULT_OF(number) ((number) == SYS_futex || (number) == SYS_membarrier ? FAULT_BY_CALL : FAULT_NEVER)
#define syscall(number, ...)                                                                      \
    fault_syscall(FAULT_HERE(FAULT_OF(number), "syscall"), number, __VA_ARGS__)

#else

#define FAULT_NOTED(kind, name, call)                                                             \
    ({                                                                                            \
        fault_enter(FAULT_HERE(kind, name));                                                      \
        __typeof__(call) fault_result = (call);                                                   \
        fault_leave();                                                                            \
        fault_result;                                                                             \
    })

#define os_alloc(size) FAULT_NOTED(FAULT_MALLOC, "os_alloc", os_alloc(size))
#define os_alloc_aligned(size, align)                                                             \
    FAULT_NOTED(FAULT_MALLOC, "os_alloc_aligned", os_alloc_aligned(size, align))
#define os_pages_reserve(out, size, align)                                                        \
    FAULT_NOTED(FAULT_MMAP, "os_pages_reserve", os_pages_reserve(out, size, align))
#define os_pages_guard(p, size) FAULT_NOTED(FAULT_GUARD, "os_pages_guard", os_pages_guard(p, size))
#define os_pages_discard(p, size)                                                                 \
    (fault_enter(FAULT_HERE(FAULT_DISCARD, "os_pages_discard")), os_pages_discard(p, size),       \
     fault_leave())
#define os_thread_start(out, fn, arg, name)                                                       \
    FAULT_NOTED(FAULT_THREAD, "os_thread_start", os_thread_start(out, fn, arg, name))
#define os_futex_wait(word, expect, deadline)                                                     \
    FAULT_NOTED(FAULT_FUTEX, "os_futex_wait", os_futex_wait(word, expect, deadline))
#define os_membarrier_init()                                                                      \
    FAULT_NOTED(FAULT_MEMBARRIER, "os_membarrier_init", os_membarrier_init())
#define os_membarrier() FAULT_NOTED(FAULT_MEMBARRIER, "os_membarrier", os_membarrier())

#endif
#endif
