/* os_fp.h: the floating-point control words of a thread: rounding, flush to zero, which exceptions trap.
 *
 * A context keeps its own over a switch (context_*.S). What begins anew on a stack that was used before
 * gets those of its pool from here. To load them unasked takes a nanosecond or two on x86, to read them
 * back and compare ten times that; on aarch64 it is the other way round. Elsewhere the words stay as they
 * are. */
#ifndef FILCH_OS_FP_H
#define FILCH_OS_FP_H

#include <stdint.h>

#if defined(__x86_64__)
struct os_fp {
    uint32_t mxcsr;
    uint16_t x87;
};

/* With the exceptions seen so far, which are no control word, but stand in the same register. */
static inline void os_fp_get(struct os_fp *out)
{
    __asm__ __volatile__("stmxcsr %0\n\tfnstcw %1" : "=m"(out->mxcsr), "=m"(out->x87));
}

static inline void os_fp_set(const struct os_fp *to)
{
    __asm__ __volatile__("ldmxcsr %0\n\tfldcw %1" : : "m"(to->mxcsr), "m"(to->x87));
}

static inline void os_fp_forget_seen(struct os_fp *words)
{
    words->mxcsr &= ~(uint32_t)0x3f;
}
#elif defined(__aarch64__)
struct os_fp {
    uint64_t fpcr;
};

static inline void os_fp_get(struct os_fp *out)
{
    __asm__ __volatile__("mrs %0, fpcr" : "=r"(out->fpcr));
}

static inline void os_fp_set(const struct os_fp *to)
{
    struct os_fp now;
    os_fp_get(&now);
    if (__builtin_expect(now.fpcr != to->fpcr, 0))
        __asm__ __volatile__("msr fpcr, %0" : : "r"(to->fpcr));
}

static inline void os_fp_forget_seen(struct os_fp *words)
{
    (void)words;
}
#else
struct os_fp {
    char none;
};

static inline void os_fp_get(struct os_fp *out)
{
    out->none = 0;
}

static inline void os_fp_set(const struct os_fp *to)
{
    (void)to;
}

static inline void os_fp_forget_seen(struct os_fp *words)
{
    (void)words;
}
#endif

#endif
