/* context_tsan.h: flows, as the thread sanitizer sees them. Included by context_san.h.
 *
 * One handle per life of a flow: the sanitizer keeps a call stack in it, which an abandoned flow
 * leaves unbalanced, so a stack that is made anew gets a new handle. A flow cannot destroy its
 * own; the next make or drop does it. A switch orders what the two flows did (flags 0), as it
 * does in truth.
 */
#ifndef FILCH_CONTEXT_TSAN_H
#define FILCH_CONTEXT_TSAN_H

#include <sanitizer/tsan_interface.h>

/* Accesses between the announcement and the jump belong to neither flow. */
#define CONTEXT_NO_SANITIZE __attribute__((no_sanitize("thread")))

/* Inlined even when nothing else is: a function that announced the switch and then returned
 * would be seen to be entered by one flow and left by the other. */
#define CONTEXT_INLINE static inline __attribute__((always_inline, no_sanitize("thread")))

CONTEXT_INLINE void context_san_drop(os_context *c)
{
    if (c->stack_low && c->tsan)
        __tsan_destroy_fiber(c->tsan);
    c->tsan = NULL;
}

CONTEXT_INLINE void context_san_make(os_context *c, void *low, size_t size)
{
    (void)low, (void)size;
    context_san_drop(c);
    c->tsan = __tsan_create_fiber(0);
}

CONTEXT_INLINE void context_san_thread(os_context *c)
{
    c->tsan = __tsan_get_current_fiber();
}

CONTEXT_INLINE void context_san_leave(os_context *from, os_context *to)
{
    (void)from;
    __tsan_switch_to_fiber(to->tsan, 0);
}

CONTEXT_INLINE void context_san_abandon(os_context *from, os_context *to)
{
    (void)from;
    __tsan_switch_to_fiber(to->tsan, 0);
}

CONTEXT_INLINE void context_san_arrive(os_context *self)
{
    (void)self;
}

#endif
