/* context_frame.h: what each processor supplies to context.c (context_x86_64.S,
 * context_aarch64.S; context_ucontext.c elsewhere or when FILCH_UCONTEXT is defined). */
#ifndef FILCH_CONTEXT_FRAME_H
#define FILCH_CONTEXT_FRAME_H

#define CONTEXT_HIDDEN __attribute__((visibility("hidden")))

/* Lays out, below `top`, a flow that calls os_context_begin(entry, pass) when it is first jumped
 * to; returns its stack pointer. Floating-point control is inherited from the caller, as a new
 * thread inherits it. */
CONTEXT_HIDDEN void *os_context_frame(void *top, void (*entry)(void *));

/* Suspends the calling flow, stores its stack pointer to *from_sp, and continues the one at
 * to_sp, whose own call of this function returns `pass`. */
CONTEXT_HIDDEN void *os_context_jump(void **from_sp, void *to_sp, void *pass);

/* In context.c: the first function of every flow. */
CONTEXT_HIDDEN void os_context_begin(void (*entry)(void *), void *pass) __attribute__((noreturn));

#endif
