/* context.c: stacks that can be left and entered again, the part that all processors share. */
#define _GNU_SOURCE /* pthread_getattr_np, in a sanitizer build */
#include "os/context.h"

#include "os/context_frame.h"
#include "os/context_san.h"
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

void os_context_begin(void (*entry)(void *), void *pass)
{
    static const char returned[] = "filch: the entry function of a context returned\n";
    context_san_arrive(NULL);
    entry(pass);
    os_print(returned, sizeof returned - 1);
    abort();
}

void os_context_make(os_context *c, void *stack_low, size_t stack_size, void (*entry)(void *pass))
{
    context_san_make(c, stack_low, stack_size);
    c->stack_low = stack_low;
    c->stack_size = stack_size;
    c->sp = os_context_frame((char *)stack_low + stack_size, entry);
}

void os_context_thread(os_context *c)
{
    memset(c, 0, sizeof *c);
    context_san_thread(c);
}

CONTEXT_NO_SANITIZE void *os_context_switch(os_context *from, os_context *to, void *pass)
{
    context_san_leave(from, to);
    pass = os_context_jump(&from->sp, to->sp, pass);
    context_san_arrive(from);
    return pass;
}

CONTEXT_NO_SANITIZE void os_context_abandon(os_context *from, os_context *to, void *pass)
{
    context_san_abandon(from, to);
    (void)os_context_jump(&from->sp, to->sp, pass);
    __builtin_unreachable();
}

void os_context_drop(os_context *c)
{
    context_san_drop(c);
    memset(c, 0, sizeof *c);
}
