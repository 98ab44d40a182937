/* context_valgrind.h: valgrind must know each stack's range, or it takes a switch for a very
 * large change of the stack pointer. Included by context_san.h when FILCH_VALGRIND is defined. */
#ifndef FILCH_CONTEXT_VALGRIND_H
#define FILCH_CONTEXT_VALGRIND_H

#include <stdint.h>
#include <valgrind/memcheck.h>

#define CONTEXT_NO_SANITIZE

/* The registration's number, plus one, is kept in the sanitizer's field. */
static inline void context_san_drop(os_context *c)
{
    if (c->stack_low && c->tsan)
        VALGRIND_STACK_DEREGISTER((uintptr_t)c->tsan - 1);
    c->tsan = NULL;
}

static inline void context_san_make(os_context *c, void *low, size_t size)
{
    context_san_drop(c);
    (void)VALGRIND_MAKE_MEM_UNDEFINED(low, size);
    uintptr_t number = VALGRIND_STACK_REGISTER(low, (char *)low + size - 1);
    c->tsan = (void *)(number + 1);
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

#endif
