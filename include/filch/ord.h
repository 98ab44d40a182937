/* filch/ord.h: the one door to atomic memory.
 *
 * Every shared word of filch is a plain integer or pointer that is touched only through the
 * operations below; the memory order is part of the operation's name. The same sources are built
 * against other back ends (thread sanitizer, model checker, simulator) by defining
 * FILCH_ORD_BACKEND to the header that supplies these operations.
 *
 * Compiler builtins on plain words, because this header is inlined into user code, C++ included.
 */
#ifndef FILCH_ORD_H
#define FILCH_ORD_H

#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define FILCH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FILCH_TSAN 1
#endif
#endif

#ifdef FILCH_ORD_BACKEND
#include FILCH_ORD_BACKEND
#else

#if defined(__x86_64__) && !defined(__clang__) && !defined(FILCH_TSAN)
/* For gcc the builtin is a call whose argument, the address, has to be in a register; inlined into a
 * recursion it keeps one for each level. As a volatile access it is part of the instruction. On x86-64 an
 * aligned word is written at once, and in order. (fib: 1.81 -> 1.42 of serial) */
#define FILCH_WORD_(p) (*(volatile __typeof__(*(p)) *)(p))
#define filch_load_relaxed(p) (*(const volatile __typeof__(*(p)) *)(p))
#define filch_store_relaxed(p, v) ((void)(FILCH_WORD_(p) = (v)))
#define filch_store_release(p, v) (__atomic_signal_fence(__ATOMIC_RELEASE), (void)(FILCH_WORD_(p) = (v)))
#else
#define filch_load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define filch_store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define filch_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#endif

#define filch_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define filch_load_seq_cst(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)

#define filch_store_seq_cst(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

#define filch_xchg_acquire(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE)
#define filch_xchg_acq_rel(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)
#define filch_xchg_seq_cst(p, v) __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)

#define filch_add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define filch_add_acq_rel(p, v) __atomic_fetch_add((p), (v), __ATOMIC_ACQ_REL)
#define filch_add_seq_cst(p, v) __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define filch_or_acquire(p, v) __atomic_fetch_or((p), (v), __ATOMIC_ACQUIRE)
#define filch_sub_acq_rel(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_ACQ_REL)
#define filch_sub_seq_cst(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_SEQ_CST)

/* Compare and swap: `old` points to the expected value and receives the value found.
 * The order named is that of success; failure loads with the strongest order it allows. */
#define filch_cas_relaxed(p, old, v)                                                              \
    __atomic_compare_exchange_n((p), (old), (v), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define filch_cas_acquire(p, old, v)                                                              \
    __atomic_compare_exchange_n((p), (old), (v), 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)
#define filch_cas_release(p, old, v)                                                              \
    __atomic_compare_exchange_n((p), (old), (v), 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)
#define filch_cas_acq_rel(p, old, v)                                                              \
    __atomic_compare_exchange_n((p), (old), (v), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
#define filch_cas_seq_cst(p, old, v)                                                              \
    __atomic_compare_exchange_n((p), (old), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
/* The weak form may fail without cause; for use in loops only. */
#define filch_cas_weak_acq_rel(p, old, v)                                                         \
    __atomic_compare_exchange_n((p), (old), (v), 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* Orders the compiler only. The other half of a pair whose processor barrier is paid by the
 * other side (membarrier). */
#define filch_fence_compiler() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* A hint, never an access: the address need not be one. FILCH_PREFETCH: is it worth finding out which? */
#define filch_prefetch(p) __builtin_prefetch(p)
/* The same for what will be written: nobody else has it then. Compilers ask for less unless told of the
 * processor; all with 64 bits know the instruction, or pass over it. */
#if defined(__x86_64__) && !defined(__PRFCHW__)
#define filch_prefetch_write(p) __asm__ volatile("prefetchw %0" : : "m"(*(const char *)(p)))
#else
#define filch_prefetch_write(p) __builtin_prefetch(p, 1)
#endif
#ifdef FILCH_TSAN
#define FILCH_PREFETCH 0
#else
#define FILCH_PREFETCH 1
#endif

#ifdef FILCH_TSAN
/* The thread sanitizer does not know stand-alone fences. A locked operation on a word of our own
 * orders the processor all the same, and does not make it believe that threads synchronised. */
static inline void filch_fence_seq_cst(void)
{
    uint32_t word = 0;
    (void)__atomic_fetch_add(&word, 0, __ATOMIC_SEQ_CST);
}
#else
static inline void filch_fence_seq_cst(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#endif

#endif /* FILCH_ORD_BACKEND */
#endif /* FILCH_ORD_H */
