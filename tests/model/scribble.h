/* scribble.h: for models of waits that end by themselves. */
#ifndef FILCH_TESTS_SCRIBBLE_H
#define FILCH_TESTS_SCRIBBLE_H

#include <stdint.h>

/* Uses the stack anew where the wait was: who still looks at that is caught. */
static __attribute__((noinline)) void scribble(void)
{
    char here[640] __attribute__((aligned(4)));
    for (unsigned i = 0; i < sizeof here; i += 4)
        *(uint32_t *)(void *)(here + i) = i;
    __asm__("" ::"r"(here) : "memory");
}

#endif
