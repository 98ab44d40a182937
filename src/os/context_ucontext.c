/* context_ucontext.c: the switch by the C library, for processors that have no assembly here and
 * for builds with FILCH_UCONTEXT. Two system calls per switch. */
#define _GNU_SOURCE
#include "os/context_frame.h"

#if defined(FILCH_UCONTEXT) || !(defined(__x86_64__) || defined(__aarch64__))

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

/* What a suspended flow's stack pointer points to, on its own stack. */
struct context_saved {
    ucontext_t registers;
    void (*entry)(void *);
    void *pass; /* written by the flow that switches here */
};

/* makecontext passes ints: a pointer comes in halves. */
static void context_start(unsigned high, unsigned low)
{
    uintptr_t bits = (uintptr_t)((uint64_t)high << 32 | low);
    struct context_saved *self = (struct context_saved *)bits;
    os_context_begin(self->entry, self->pass);
}

void *os_context_frame(void *top, void (*entry)(void *))
{
    /* The C library lays its frame out below the record; it wants a range, of which it uses the
     * upper end only. */
    enum { BELOW = 512 };
    uintptr_t at = ((uintptr_t)top - sizeof(struct context_saved)) & ~(uintptr_t)63;
    struct context_saved *self = (struct context_saved *)at;
    (void)getcontext(&self->registers);
    self->entry = entry;
    self->pass = 0;
    self->registers.uc_link = 0;
    self->registers.uc_stack.ss_sp = (char *)self - BELOW;
    self->registers.uc_stack.ss_size = BELOW;
    makecontext(&self->registers, (void (*)(void))context_start, 2,
                (unsigned)((uint64_t)at >> 32), (unsigned)at);
    return self;
}

__attribute__((no_sanitize_address, no_sanitize_thread))
void *os_context_jump(void **from_sp, void *to_sp, void *pass)
{
    struct context_saved self, *to = to_sp;
    self.registers.uc_stack = (stack_t){0}; /* unset by the C library, read by sanitizers */
    /* The signal mask belongs to the thread, not to the flow. */
    (void)pthread_sigmask(SIG_SETMASK, 0, &to->registers.uc_sigmask);
    to->pass = pass;
    *from_sp = &self;
    (void)swapcontext(&self.registers, &to->registers);
    return self.pass;
}

#else
typedef int context_ucontext_unused; /* C wants a file to declare something */
#endif
