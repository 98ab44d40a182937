/* context_san.h: telling sanitizers and valgrind about stacks. Included by context.c only.
 *
 * In a plain build every function here is empty. The calls, in order of a flow's life:
 *   make     a flow is about to be laid out on a stack that may have been used before
 *   thread   the calling thread's own stack becomes a context
 *   leave    just before the jump, when `from` will be entered again
 *   abandon  just before the jump, when it will not
 *   arrive   just after the jump, on the new stack (null: for the first time)
 *   drop     the stack is about to go away
 */
#ifndef FILCH_CONTEXT_SAN_H
#define FILCH_CONTEXT_SAN_H

#include "os/context.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CONTEXT_ASAN 1
#elif __has_feature(thread_sanitizer)
#define CONTEXT_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CONTEXT_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define CONTEXT_TSAN 1
#endif

#if defined(CONTEXT_ASAN)
#include "os/context_asan.h"
#elif defined(CONTEXT_TSAN)
#include "os/context_tsan.h"
#elif defined(FILCH_VALGRIND) && __has_include(<valgrind/valgrind.h>)
#include "os/context_valgrind.h"
#else

#define CONTEXT_NO_SANITIZE

static inline void context_san_make(os_context *c, void *low, size_t size)
{
    (void)c, (void)low, (void)size;
}

static inline void context_san_thread(os_context *c)
{
    (void)c;
}

static inline void context_san_leave(os_context *from, os_context *to)
{
    (void)from, (void)to;
}

static inline void context_san_abandon(os_context *from, os_context *to)
{
    (void)from, (void)to;
}

static inline void context_san_arrive(os_context *self)
{
    (void)self;
}

static inline void context_san_drop(os_context *c)
{
    (void)c;
}

#endif
#endif
