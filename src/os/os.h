/* os.h: the machine, behind one seam.
 *
 * Core reaches threads, sleep, clock, pages, CPUs and the context switch only through these
 * functions, so that the same core runs on the product's back end (os_linux.c and its
 * neighbours), under fault injection, in the simulator and under the model checker.
 *
 * Functions that can fail return 0 or -errno. None of them allocates behind the caller's back.
 */
#ifndef FILCH_OS_H
#define FILCH_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- threads ------------------------------------------------------------------------------ */

typedef struct {
    uintptr_t handle;
} os_thread;

int os_thread_start(os_thread *out, void (*fn)(void *), void *arg, const char *name);
void os_thread_join(os_thread t);
void os_thread_yield(void);
void os_pause(void); /* a spin-loop hint */
void os_pause_for(unsigned n); /* so many */

/* One pointer per thread. Never inlined: a fiber may read it on one thread, move, and read it
 * again, and compilers cache the address of thread-local storage across the switch. */
void *os_self_get(void) __attribute__((noinline));
void os_self_set(void *self) __attribute__((noinline));
/* A number that no other living thread has. Even. */
uintptr_t os_thread_mark(void) __attribute__((noinline));

/* The per-thread errno as a value (saved and restored around a switch). */
int os_errno_get(void) __attribute__((noinline));
void os_errno_set(int value) __attribute__((noinline));
int *os_errno_at(void) __attribute__((noinline)); /* where the calling thread has it */

/* What the run-time library of C++ keeps per thread (__cxa_eh_globals): the exceptions that are being
 * handled, and how many are on their way. */
struct os_exceptions {
    void *caught;
    unsigned uncaught;
};

/* Where the calling thread has it. Without C++ it is always zero, and never written. */
struct os_exceptions *os_exceptions_at(void) __attribute__((noinline));

static inline bool os_handles(const struct os_exceptions *e)
{
    return ((uintptr_t)e->caught | e->uncaught) != 0;
}

static inline struct os_exceptions os_exceptions_take(struct os_exceptions *e)
{
    struct os_exceptions mine = *e;
    if (os_handles(&mine))
        *e = (struct os_exceptions){0, 0};
    return mine;
}

/* ---- sleep and time ----------------------------------------------------------------------- */

int64_t os_clock_ns(void);
/* A cheap clock to tell short from long: so many ticks to the microsecond, roughly. */
uint64_t os_ticks(void);
uint64_t os_ticks_per_us(void);
void os_sleep_ns(int64_t ns);

/* Sleeps while *word == expect, until woken or until the deadline (clock time; INT64_MAX: none).
 * May return early. Returns 0 or -ETIMEDOUT. */
int os_futex_wait(uint32_t *word, uint32_t expect, int64_t deadline);
void os_futex_wake(uint32_t *word, int count);

/* Readiness of file descriptors, reported on every change (edge-triggered). One thread at a time waits,
 * and os_poll_wake ends that wait; with a deadline of 0 any number of threads look, without waiting. */
typedef struct {
    int poll, wake;
} os_poll;

struct os_poll_event {
    uint64_t tag;
    uint32_t ready;            /* OS_POLL_IN, OS_POLL_OUT; both after an error or a hang-up; OS_POLL_ODD */
};

/* ODD: it ends, or has urgent data: from now on more may be there than a read returned. */
enum { OS_POLL_IN = 1, OS_POLL_OUT = 2, OS_POLL_ODD = 4, OS_POLL_MOST = 128 };

int os_poll_open(os_poll *p);
void os_poll_close(os_poll *p);
/* Both directions. What is ready already is reported. -EPERM: a file, it is always ready. */
int os_poll_add(os_poll *p, int fd, uint64_t tag); /* not UINT64_MAX */
void os_poll_remove(os_poll *p, int fd);
/* Does a read that returned less than was asked for leave nothing behind (a TCP connection)? */
bool os_fd_drains(int fd);
/* At most OS_POLL_MOST at a time; 0 if woken or without cause; -ETIMEDOUT. */
int os_poll_wait(os_poll *p, struct os_poll_event *out, int most, int64_t deadline);
void os_poll_wake(os_poll *p);

/* A full memory barrier on every running thread of this process. os_membarrier_init says once
 * whether it exists: 0 or -errno. */
int os_membarrier_init(void);
int os_membarrier(void);

/* ---- memory ------------------------------------------------------------------------------- */

void *os_alloc(size_t size); /* zeroed; null if there is none */
void *os_alloc_aligned(size_t size, size_t align); /* a power of two; freed by os_free */
void os_free(void *p);

size_t os_page_size(void);
/* Reserves zeroed pages, aligned (a power of two, at least a page), without committing memory. */
int os_pages_reserve(void **out, size_t size, size_t align);
void os_pages_release(void *p, size_t size);
void os_pages_discard(void *p, size_t size); /* contents become zero again, memory is returned */
int os_pages_guard(void *p, size_t size);    /* any access faults */
void os_pages_large(void *p, size_t size);   /* a hint: large pages, if the machine has any */

/* ---- the machine -------------------------------------------------------------------------- */

int os_cpu_count(void);        /* CPUs this process may run on, at least 1: affinity and quota */
int os_cpu_affinity(void);     /* by affinity mask alone */
int64_t os_cpu_quota_milli(void); /* by cgroup CPU quota, in thousandths of a CPU; 0: no limit */
/* The quota as read from files below `root` ("/" on a real machine), for tests. */
int64_t os_cpu_quota_at(const char *root);

/* For a few words of a thread. In a shared object they lie in the block that every thread has from its start,
 * where room is scarce, and are read without a call of __tls_get_addr; in a program they do so anyway. */
#if defined(__PIC__) && !defined(__PIE__)
#define OS_TLS_FAST __attribute__((tls_model("initial-exec")))
#else
#define OS_TLS_FAST
#endif

const char *os_getenv(const char *name); /* null in setuid programs */
extern int64_t os_began_ns; /* os_clock_ns when this program, or the library, was loaded */
void os_print(const char *text, size_t length); /* to stderr, in one write */
uint64_t os_random_seed(void);

/* ---- looking at other flows --------------------------------------------------------------- */

/* Copies memory that others may be writing, or that may be gone: 0 or -EFAULT. */
int os_peek(void *to, const void *from, size_t n);

/* Where the process has code. A word on a stack is taken for a return address if it points there,
 * just behind a call: sometimes that is wrong. */
enum { OS_CODE_RANGES = 128 };
struct os_code {
    size_t count;
    struct {
        uintptr_t low, high;
    } range[OS_CODE_RANGES];
};
void os_code_load(struct os_code *c);
int os_code_is_return(const struct os_code *c, uintptr_t pc);
/* "function+0x12 (file)", or "file+0x1234" for one that is not exported. Returns its length. */
size_t os_symbol(uintptr_t pc, char *text, size_t size);

int os_write_all(int fd, const void *bytes, size_t n); /* all of it */
/* The handler may do nothing but atomic operations and os_futex_wake. Null: the default again. */
enum { OS_SIGQUIT = 3 };
int os_signal_catch(int signo, void (*handler)(int signo));

/* ---- process life ------------------------------------------------------------------------- */

void os_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
/* In the child of fork(): true if a thread that os_thread_start made called it. Then the child now has the
 * signal mask and the timer slack of the thread outside from which that one stems. */
bool os_child_of_own_thread(void);

/* Reports stack overflow. `lookup` is called in a signal handler with the address that faulted;
 * it returns the length of a message that it put into `text`, or 0 if the address is not ours. */
int os_overflow_install(size_t (*lookup)(const void *address, char *text, size_t size));
void os_overflow_remove(void);
/* The alternate signal stack of the calling thread: set up and taken down. */
int os_overflow_thread_enter(void **cookie);
void os_overflow_thread_leave(void *cookie);
void os_overflow_thread_keep(void); /* set up once, taken down when the thread ends */

#endif
