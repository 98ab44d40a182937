/* context.h: stacks that can be left and entered again.
 *
 * A context is a suspended flow of control on a stack of its own. Switching saves what the
 * calling convention says a function preserves, nothing more (signal mask and thread-local
 * storage belong to the thread). The first switch to a fresh context calls its entry.
 *
 * Sanitizers and valgrind are told of every switch when the build asks for it.
 */
#ifndef FILCH_CONTEXT_H
#define FILCH_CONTEXT_H

#include <stddef.h>

typedef struct os_context {
    void *sp;          /* of the suspended flow                                              */
    void *stack_low;   /* null for a thread's own stack                                      */
    size_t stack_size;
    void *tsan;        /* the thread sanitizer's (or valgrind's) handle                      */
    void *asan;        /* fake stack saved by the address sanitizer while suspended          */
} os_context;

/* Makes a context that will call entry(pass) on its first switch; entry must not return.
 * All zero before it is made for the first time. May be made anew once it was abandoned, or while
 * suspended: what it ran before is forgotten, nothing of it is unwound. The stack may have been
 * used before; a context that used it and is not this one must have been dropped. */
void os_context_make(os_context *c, void *stack_low, size_t stack_size, void (*entry)(void *pass));

/* Adopts the calling thread's own stack as a context, to be able to switch away and back. */
void os_context_thread(os_context *c);

/* Leaves `from` and continues `to`; returns what the switch back to `from` passes. */
void *os_context_switch(os_context *from, os_context *to, void *pass);

/* The same when `from` will never be entered again (until made anew). */
void os_context_abandon(os_context *from, os_context *to, void *pass) __attribute__((noreturn));

/* Frees what sanitizers keep for a context whose stack is about to go away. */
void os_context_drop(os_context *c);

#endif
