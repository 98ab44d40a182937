/* context_asan.h: stacks, as the address sanitizer sees them. Included by context_san.h.
 *
 * Poison. Instrumented functions poison parts of their frames and clean up when they return; what
 * leaves them otherwise (longjmp, exceptions, calls that do not return) cleans from its stack
 * pointer to the top of the stack. So stale poison is found only in frames that were live when
 * a stack was left for good, between the stack pointer at that moment and the top:
 *   - abandoned: we clean before we leave;
 *   - suspended, and then made anew or dropped: we clean from the saved stack pointer up.
 * Cleaning the whole range instead would write one byte of shadow per eight of stack: a megabyte,
 * committed, for each large one. Make still cleans the top of the range, as insurance for stacks
 * whose earlier user is not known to us.
 *
 * Fake stacks (detect_stack_use_after_return) are freed on abandon. That of a flow which is
 * suspended and never continued is lost: the sanitizer has no call to free it from outside.
 */
#ifndef FILCH_CONTEXT_ASAN_H
#define FILCH_CONTEXT_ASAN_H

#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#define CONTEXT_NO_SANITIZE __attribute__((no_sanitize("address")))
#define CONTEXT_INSURED ((size_t)256 << 10)

void __asan_handle_no_return(void); /* cleans from here to the top of the current stack */

/* A thread's own stack is entered only by its thread. */
struct context_bounds {
    void *low;
    size_t size;
};
static __thread struct context_bounds context_own;

/* Never inlined: a flow that moved must not use the address of its former thread's copy. */
static __attribute__((noinline)) struct context_bounds context_own_bounds(void)
{
    __asm__ __volatile__("" ::: "memory");
    return context_own;
}

static inline void context_san_thread(os_context *c)
{
    pthread_attr_t attr;
    (void)c;
    if (context_own_bounds().low || pthread_getattr_np(pthread_self(), &attr))
        return;
    (void)pthread_attr_getstack(&attr, &context_own.low, &context_own.size);
    pthread_attr_destroy(&attr);
}

static inline void context_san_drop(os_context *c)
{
    char *low = c->stack_low, *sp = c->sp;
    if (low && sp >= low && sp < low + c->stack_size)
        __asan_unpoison_memory_region(sp, (size_t)(low + c->stack_size - sp));
    c->asan = NULL;
}

static inline void context_san_make(os_context *c, void *low, size_t size)
{
    size_t insured = size < CONTEXT_INSURED ? size : CONTEXT_INSURED;
    context_san_drop(c);
    __asan_unpoison_memory_region((char *)low + size - insured, insured);
}

static inline void context_asan_start(void **fake, os_context *to)
{
    struct context_bounds b = {to->stack_low, to->stack_size};
    if (!b.low)
        b = context_own_bounds();
    __sanitizer_start_switch_fiber(fake, b.low, b.size);
}

static inline void context_san_leave(os_context *from, os_context *to)
{
    context_asan_start(&from->asan, to);
}

static inline void context_san_abandon(os_context *from, os_context *to)
{
    (void)from;
    __asan_handle_no_return();
    context_asan_start(NULL, to);
}

static inline void context_san_arrive(os_context *self)
{
    __sanitizer_finish_switch_fiber(self ? self->asan : NULL, NULL, NULL);
}

#endif
