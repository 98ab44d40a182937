/* os_overflow.c: says which stack overflowed, instead of "Segmentation fault".
 *
 * A guard page raises SIGSEGV (SIGBUS on some systems) on a stack that has no room left, so the
 * handler runs on the thread's alternate signal stack. It asks `lookup` whether the address is a
 * guard of ours; if not, the handler that was there before us gets the signal, in the way it
 * would have got it.
 *
 * Shared fields
 *   field        writer                        reader                    invariant
 *   lookup       install, remove (with lock)   handler, any thread       null: pass everything on
 *   previous[]   install (with lock), before   handler                   valid while our handler
 *                our handler is in place                                 may be called
 *   count        install, remove (with lock)   the same
 * Pairs
 *   [V1] store of lookup / load in the handler: publishes whatever lookup depends on. Without it
 *        a fault just after install may find a table that is not filled.
 */
#define _GNU_SOURCE
#include "os/os.h"

#include <errno.h>
#include <filch/ord.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

typedef size_t overflow_lookup_fn(const void *address, char *text, size_t size);

enum { OVERFLOW_SIGNALS = 2 };
static const int overflow_signals[OVERFLOW_SIGNALS] = {SIGSEGV, SIGBUS};

static pthread_mutex_t overflow_lock = PTHREAD_MUTEX_INITIALIZER;
static int overflow_count;
static overflow_lookup_fn *overflow_lookup;
static struct sigaction overflow_previous[OVERFLOW_SIGNALS];
/* Someone put a handler over ours, and may call ours from it: it stays where it is. */
static bool overflow_buried[OVERFLOW_SIGNALS];

/* ---- the handler: async-signal-safe -------------------------------------------------------- */

/* By default the signal kills. A fault comes again when we return, and dies where it happened;
 * what was sent by kill() has to be sent again. A fault cannot be ignored: the kernel kills. */
static void overflow_pass_default(int sig, const siginfo_t *info, const struct sigaction *before)
{
    bool sent = info->si_code <= 0;
    if (sent && before->sa_handler == SIG_IGN)
        return;
    sigaction(sig, before, NULL);
    if (sent)
        raise(sig); /* blocked until we return */
}

static void overflow_pass_on(int sig, siginfo_t *info, void *context)
{
    const struct sigaction *before = &overflow_previous[sig == SIGBUS];
    if (!(before->sa_flags & SA_SIGINFO) &&
        (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN)) {
        overflow_pass_default(sig, info, before);
        return;
    }
    sigset_t mask = before->sa_mask, own, outer;
    sigemptyset(&own);
    sigaddset(&own, sig);
    pthread_sigmask(SIG_BLOCK, &mask, &outer);
    if (before->sa_flags & SA_NODEFER)
        pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(sig, info, context);
    else
        before->sa_handler(sig);
    pthread_sigmask(SIG_SETMASK, &outer, NULL);
}

static void overflow_handler(int sig, siginfo_t *info, void *context)
{
    char text[512];
    int saved = errno;
    overflow_lookup_fn *lookup = filch_load_acquire(&overflow_lookup); /* order: [V1] */
    if (lookup && info->si_code > 0) { /* the kernel's: si_addr is an address */
        size_t n = lookup(info->si_addr, text, sizeof text);
        if (n) {
            os_print(text, n < sizeof text ? n : sizeof text);
            abort();
        }
    }
    overflow_pass_on(sig, info, context);
    errno = saved;
}

/* ---- install and remove -------------------------------------------------------------------- */

static bool overflow_is_ours(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == overflow_handler;
}

static int overflow_put(int i)
{
    struct sigaction ours = {.sa_sigaction = overflow_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction now;
    sigemptyset(&ours.sa_mask);
    if (sigaction(overflow_signals[i], NULL, &now))
        return -errno;
    if (overflow_buried[i] || overflow_is_ours(&now))
        return 0;
    overflow_previous[i] = now;
    return sigaction(overflow_signals[i], &ours, NULL) ? -errno : 0;
}

static void overflow_take(int i)
{
    struct sigaction now;
    if (sigaction(overflow_signals[i], NULL, &now))
        return;
    overflow_buried[i] = !overflow_is_ours(&now);
    if (!overflow_buried[i])
        sigaction(overflow_signals[i], &overflow_previous[i], NULL);
}

static int overflow_put_all(overflow_lookup_fn *lookup)
{
    filch_store_release(&overflow_lookup, lookup); /* order: [V1] */
    for (int i = 0; i < OVERFLOW_SIGNALS; i++) {
        int r = overflow_put(i);
        if (r) {
            while (i--)
                overflow_take(i);
            return r;
        }
    }
    return 0;
}

int os_overflow_install(overflow_lookup_fn *lookup)
{
    int saved = errno, r = 0;
    pthread_mutex_lock(&overflow_lock);
    if (overflow_count == 0)
        r = overflow_put_all(lookup);
    if (!r)
        overflow_count++;
    pthread_mutex_unlock(&overflow_lock);
    errno = saved;
    return r;
}

void os_overflow_remove(void)
{
    int saved = errno;
    pthread_mutex_lock(&overflow_lock);
    if (overflow_count && --overflow_count == 0) {
        for (int i = 0; i < OVERFLOW_SIGNALS; i++)
            overflow_take(i);
        filch_store_release(&overflow_lookup, (overflow_lookup_fn *)0); /* order: [V1] */
    }
    pthread_mutex_unlock(&overflow_lock);
    errno = saved;
}

/* ---- alternate stacks ---------------------------------------------------------------------- */

static size_t overflow_stack_size(void)
{
    size_t page = os_page_size(), size = (size_t)32 << 10;
    long wanted = sysconf(_SC_SIGSTKSZ);
    if (wanted > 0 && (size_t)wanted > size)
        size = (size_t)wanted;
    return (size + page - 1) & ~(page - 1);
}

int os_overflow_thread_enter(void **cookie)
{
    stack_t now, ours;
    size_t page = os_page_size(), size = overflow_stack_size();
    *cookie = NULL;
    int saved = errno;
    bool has_one = sigaltstack(NULL, &now) == 0 && !(now.ss_flags & SS_DISABLE);
    errno = saved;
    if (has_one)
        return 0; /* it serves */
    void *low;
    int r = os_pages_reserve(&low, page + size, page);
    if (r)
        return r;
    ours = (stack_t){.ss_sp = (char *)low + page, .ss_size = size};
    r = os_pages_guard(low, page);
    if (!r && sigaltstack(&ours, NULL))
        r = -errno;
    errno = saved;
    if (r)
        os_pages_release(low, page + size);
    else
        *cookie = low;
    return r;
}

void os_overflow_thread_leave(void *cookie)
{
    size_t page = os_page_size();
    stack_t now, off = {.ss_flags = SS_DISABLE};
    if (!cookie)
        return;
    int saved = errno;
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == (char *)cookie + page)
        (void)sigaltstack(&off, NULL);
    errno = saved;
    os_pages_release(cookie, page + overflow_stack_size());
}

/* Once per thread and kept until it ends: for threads that come back often. */
static pthread_key_t overflow_key;
static pthread_once_t overflow_key_once = PTHREAD_ONCE_INIT;
static bool overflow_key_made;
static __thread bool overflow_kept OS_TLS_FAST;

static void overflow_key_make(void)
{
    overflow_key_made = pthread_key_create(&overflow_key, os_overflow_thread_leave) == 0;
}

void os_overflow_thread_keep(void)
{
    void *cookie;
    if (overflow_kept)
        return;
    overflow_kept = true; /* one try: without it an overflow is an unnamed SIGSEGV, no more */
    pthread_once(&overflow_key_once, overflow_key_make);
    if (overflow_key_made && os_overflow_thread_enter(&cookie) == 0)
        (void)pthread_setspecific(overflow_key, cookie);
}
