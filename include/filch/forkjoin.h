/* filch/forkjoin.h: typed fork-join, inlined into the caller.
 *
 *     FILCH_TASK(long, fib, int, n)
 *     {
 *         if (n < 2) return n;
 *         FILCH_FORK(b, fib, n - 2);             stealable from here on
 *         long a = FILCH_CALL(fib, n - 1);       first child runs inline
 *         return a + FILCH_JOIN(fib, b);         direct call unless stolen
 *     }
 *     ... long x = FILCH_RUN(fib, 42); ...
 *
 * How it works. Each fiber has an array of job slots. The index of the next free one, the head,
 * travels in a register (`filch_h`, a hidden parameter of every task). A fork fills the slot at
 * the head and stores its function; a join clears the function and looks at the slot's `claim`
 * word. If no thief wrote there, the job is called directly, with arguments the compiler still
 * has. No fence, no locked instruction, no bounds check: the slots end in a guard page, and a
 * thief pays for the ordering with membarrier. The protocol and its argument: src/core/slots.h.
 *
 * Rules. Forks are joined in reverse order, in the function that made them; anything else is
 * reported. A join may resume on another thread (unless pinned). Arguments and result: at most
 * FILCH_PAYLOAD bytes each, alignment at most 8; pass a pointer to what is larger.
 */
#ifndef FILCH_FORKJOIN_H
#define FILCH_FORKJOIN_H

#if defined(__GNUC__)
#pragma GCC system_header /* the macros use GNU C on purpose */
#endif

#include <filch/ord.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef FILCH_API
#define FILCH_API __attribute__((visibility("default")))
#endif

typedef struct filch_pool filch_pool;
typedef struct filch_slot filch_slot;

#define FILCH_PAYLOAD 40

/* A job slot. The layout is ABI: it is compiled into user code. */
struct filch_slot {
    void (*fn)(filch_slot *self, filch_slot *head); /* null: free; written by the owner only  */
    uint32_t claim; /* not 0: the owner's join must take the slow way; written by thieves     */
    uint32_t want;  /* not 0: bounded tasks fork here instead of running serially             */
    uintptr_t state; /* of a stolen job: who runs it, who waits for it, done                  */
    union {
        unsigned char bytes[FILCH_PAYLOAD];
        uint64_t align;
    } payload; /* arguments until the job starts, its result once it is done                  */
} __attribute__((aligned(64)));

/* The cold half, in the library. */
FILCH_API int filch_slot_join_slow(filch_slot *slot) __attribute__((cold, noinline));
FILCH_API filch_slot *filch_slot_head(filch_pool *pool) __attribute__((noinline));
FILCH_API void filch_slot_root(filch_pool *pool, void (*fn)(void *box, filch_slot *head),
                               void *box, const char *name);
FILCH_API void filch_misuse_order(const char *task) __attribute__((cold, noinline, noreturn));
FILCH_API void filch_misuse_unjoined(const char *task) __attribute__((cold, noinline, noreturn));

/* Version of everything inlined here; linking against a library of another layout fails. */
FILCH_API extern const int filch_layout_1;
static const int *const filch_layout_used __attribute__((used)) = &filch_layout_1;

#define FILCH_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define FILCH_INLINE static inline __attribute__((always_inline, unused))

FILCH_INLINE void filch_slot_publish(filch_slot *s, void (*fn)(filch_slot *, filch_slot *))
{
    filch_store_release(&s->fn, fn); /* order: [S1] arguments before the job is visible */
}

/* Take the job back. Returns 1 if it was stolen: then it is done and its result is in place. */
FILCH_INLINE int filch_slot_retract(filch_slot *s)
{
    /* order: [S2] store fn, then load claim; the thief's membarrier makes it a full fence */
    filch_store_relaxed(&s->fn, (void (*)(filch_slot *, filch_slot *))0);
    filch_fence_compiler();
    return FILCH_UNLIKELY(filch_load_relaxed(&s->claim)) && filch_slot_join_slow(s);
}

FILCH_INLINE int filch_slot_wanted(filch_slot *s)
{
    return FILCH_UNLIKELY(filch_load_relaxed(&s->want)); /* order: a hint */
}

/* gcc inlines a recursion into itself until it is too large, nine levels for a small task. Seven are faster
 * (sum over a tree 1.08 -> 1.04 of serial, fib 1.42 -> 1.36): then the registers suffice. It counts a line of
 * an asm as an instruction; these are none. */
#if defined(__GNUC__) && !defined(__clang__)
#define FILCH_LINES_ "\n\n\n\n\n\n\n\n\n"
#define FILCH_WEIGHT_() __asm__(FILCH_LINES_ FILCH_LINES_ FILCH_LINES_ FILCH_LINES_)
#else
#define FILCH_WEIGHT_() ((void)0)
#endif

/* Outside of bounded tasks, every fork is made stealable. Bounded tasks shadow this constant. */
enum { filch_par = 1 };

struct filch_forks {
    filch_slot **head;
    filch_slot *base;
    const char *task;
};

FILCH_INLINE void filch_forks_check(struct filch_forks *f)
{
    if (FILCH_UNLIKELY(*f->head != f->base))
        filch_misuse_unjoined(f->task);
}

/* ---- the user's words -------------------------------------------------------------------- */

/* FILCH_TASK(result, name, type1, arg1, ...) { body }: up to six arguments. Always stealable. */
#define FILCH_TASK(R, ...) FILCH_ARITY_(__VA_ARGS__)(FILCH_DEFAULT_, FILCH_VALUE_, R, __VA_ARGS__)
#define FILCH_TASK_VOID(...)                                                                      \
    FILCH_ARITY_(__VA_ARGS__)(FILCH_DEFAULT_, FILCH_NOVALUE_, void, __VA_ARGS__)

/* Bounded tasks fork only near the root of what is pending and run serially below, until a thief
 * asks for more: as fast as plain calls, right for balanced divide and conquer. A long spine with
 * heavy later siblings stays serial: use FILCH_TASK there. */
#define FILCH_TASK_BOUNDED(R, ...)                                                                \
    FILCH_ARITY_(__VA_ARGS__)(FILCH_BOUNDED_, FILCH_VALUE_, R, __VA_ARGS__)
#define FILCH_TASK_BOUNDED_VOID(...)                                                              \
    FILCH_ARITY_(__VA_ARGS__)(FILCH_BOUNDED_, FILCH_NOVALUE_, void, __VA_ARGS__)

/* Inside a task. */
#define FILCH_CALL(name, ...) name##_filch_call(filch_par, filch_h, ##__VA_ARGS__)
#define FILCH_FORK(var, name, ...)                                                                \
    struct name##_filch_fork var __attribute__((cleanup(name##_filch_unjoined))) =                \
        name##_filch_forked(filch_par, &filch_h, ##__VA_ARGS__)
#define FILCH_JOIN(name, var) name##_filch_join(filch_par, &filch_h, &(var))

/* A variable number of forks of one task, joined last to first. Always stealable, in bounded tasks
 * as well; see FILCH_FORK_INTO for those. */
#define FILCH_FORKS(var, name)                                                                    \
    struct filch_forks var __attribute__((cleanup(filch_forks_check))) = {&filch_h, filch_h, #name}
#define FILCH_FORK_ADD(name, ...) name##_filch_add(filch_par, &filch_h, ##__VA_ARGS__)
/* The same, but in the serial stretch of a bounded task `into` takes the result at once: with
 * FILCH_FORK_INTO(sum +=, place, ...) that is sum += place(...), at the price of a call. */
#define FILCH_FORK_INTO(into, name, ...)                                                          \
    do {                                                                                          \
        if (filch_par)                                                                            \
            name##_filch_add(1, &filch_h, ##__VA_ARGS__);                                         \
        else                                                                                      \
            into name##_filch_now(filch_h, ##__VA_ARGS__);                                        \
    } while (0)
#define FILCH_FORKS_LEFT(var) ((size_t)(filch_h - (var).base))
#define FILCH_JOIN_LAST(name, var) name##_filch_last(filch_par, &filch_h, (var).base)

/* From anywhere: run on the current or default pool, or on a given one. May wait. A plain call
 * from a worker of that pool. */
#define FILCH_RUN(name, ...) name##_filch_root((filch_pool *)0, ##__VA_ARGS__)
#define FILCH_RUN_ON(pool, name, ...) name##_filch_root((pool), ##__VA_ARGS__)

/* ---- how a task is made ------------------------------------------------------------------ */

#define FILCH_CAT2_(a, b) a##b
#define FILCH_CAT_(a, b) FILCH_CAT2_(a, b)
#define FILCH_PICK_(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, n, ...) n
#define FILCH_ARITY_(...)                                                                         \
    FILCH_CAT_(FILCH_ARITY, FILCH_PICK_(__VA_ARGS__, 6, X, 5, X, 4, X, 3, X, 2, X, 1, X, 0, ~))

#define FILCH_ARITY0(KIND, VAL, R, name) KIND(VAL, R, name, (char filch_none;), (), (0), ())
#define FILCH_ARITY1(KIND, VAL, R, name, T1, a1) KIND(VAL, R, name, (T1 a1;), (, T1 a1), (a1), (, filch_a.a1))
#define FILCH_ARITY2(KIND, VAL, R, name, T1, a1, T2, a2)                                          \
    KIND(VAL, R, name, (T1 a1; T2 a2;), (, T1 a1, T2 a2), (a1, a2), (, filch_a.a1, filch_a.a2))
#define FILCH_ARITY3(KIND, VAL, R, name, T1, a1, T2, a2, T3, a3)                                  \
    KIND(VAL, R, name, (T1 a1; T2 a2; T3 a3;), (, T1 a1, T2 a2, T3 a3), (a1, a2, a3),             \
         (, filch_a.a1, filch_a.a2, filch_a.a3))
#define FILCH_ARITY4(KIND, VAL, R, name, T1, a1, T2, a2, T3, a3, T4, a4)                          \
    KIND(VAL, R, name, (T1 a1; T2 a2; T3 a3; T4 a4;), (, T1 a1, T2 a2, T3 a3, T4 a4),             \
         (a1, a2, a3, a4), (, filch_a.a1, filch_a.a2, filch_a.a3, filch_a.a4))
#define FILCH_ARITY5(KIND, VAL, R, name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5)                  \
    KIND(VAL, R, name, (T1 a1; T2 a2; T3 a3; T4 a4; T5 a5;),                                      \
         (, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5), (a1, a2, a3, a4, a5),                             \
         (, filch_a.a1, filch_a.a2, filch_a.a3, filch_a.a4, filch_a.a5))
#define FILCH_ARITY6(KIND, VAL, R, name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6)          \
    KIND(VAL, R, name, (T1 a1; T2 a2; T3 a3; T4 a4; T5 a5; T6 a6;),                               \
         (, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6), (a1, a2, a3, a4, a5, a6),                  \
         (, filch_a.a1, filch_a.a2, filch_a.a3, filch_a.a4, filch_a.a5, filch_a.a6))

#define FILCH_OPEN_(...) __VA_ARGS__

#ifdef __cplusplus
#define FILCH_FITS_ static_assert
#define FILCH_ALIGN_OF_(T) alignof(T)
#else
#define FILCH_FITS_ _Static_assert
#define FILCH_ALIGN_OF_(T) _Alignof(T)
#endif

/* What differs between tasks that return a value and tasks that do not. */
#define FILCH_VALUE_SIZE(R, name)                                                                 \
    FILCH_FITS_(sizeof(R) <= FILCH_PAYLOAD, "result of task " #name " is too large: return a pointer");
#define FILCH_VALUE_STORE(R, slot, expr)                                                          \
    R filch_r = expr;                                                                             \
    memcpy((slot)->payload.bytes, &filch_r, sizeof filch_r)
#define FILCH_VALUE_LOAD(R, slot)                                                                 \
    R filch_r;                                                                                    \
    memcpy(&filch_r, (slot)->payload.bytes, sizeof filch_r);                                      \
    return filch_r
#define FILCH_VALUE_FIELD(R) R filch_r;
#define FILCH_VALUE_BOX(box, expr) (box)->filch_r = expr
#define FILCH_VALUE_UNBOX(box) return (box).filch_r
#define FILCH_VALUE_RETURN(expr) return expr

#define FILCH_NOVALUE_SIZE(R, name)
#define FILCH_NOVALUE_STORE(R, slot, expr) expr
#define FILCH_NOVALUE_LOAD(R, slot) return
#define FILCH_NOVALUE_FIELD(R)
#define FILCH_NOVALUE_BOX(box, expr) expr
#define FILCH_NOVALUE_UNBOX(box) return
#define FILCH_NOVALUE_RETURN(expr)                                                                \
    expr;                                                                                         \
    return

/* Shared by both kinds: argument record, fork record, misuse check, root. */
#define FILCH_COMMON_(VAL, R, name, FIELDS, PARAMS, NAMES, UNPACK)                                \
    struct name##_filch_args {                                                                    \
        FILCH_OPEN_ FIELDS                                                                        \
    } __attribute__((may_alias)); \
    struct name##_filch_fork {                                                                    \
        filch_slot *slot;                                                                         \
        struct name##_filch_args a;                                                               \
        int joined;                                                                               \
    };                                                                                            \
    struct name##_filch_box {                                                                     \
        struct name##_filch_args a;                                                               \
        VAL##FIELD(R)                                                                             \
    };                                                                                            \
    FILCH_FITS_(sizeof(struct name##_filch_args) <= FILCH_PAYLOAD,                                \
                "arguments of task " #name " are too large: pass a pointer");                     \
    FILCH_FITS_(FILCH_ALIGN_OF_(struct name##_filch_args) <= 8,                                   \
                "arguments of task " #name " need too much alignment: pass a pointer");           \
    VAL##SIZE(R, name)                                                                            \
    FILCH_INLINE void name##_filch_unjoined(struct name##_filch_fork *f)                          \
    {                                                                                             \
        if (FILCH_UNLIKELY(!f->joined))                                                           \
            filch_misuse_unjoined(#name);                                                         \
    }

#define FILCH_ROOT_(VAL, R, name, PARAMS, NAMES, UNPACK)                                          \
    static __attribute__((unused)) void name##_filch_boxed(void *p, filch_slot *h)                \
    {                                                                                             \
        struct name##_filch_box *box = (struct name##_filch_box *)p;                              \
        struct name##_filch_args filch_a = box->a;                                                \
        (void)filch_a;                                                                            \
        VAL##BOX(box, name##_filch_call(1, h FILCH_OPEN_ UNPACK));                                \
    }                                                                                             \
    static __attribute__((unused, noinline)) R name##_filch_root(filch_pool *filch_on FILCH_OPEN_ PARAMS)\
    {                                                                                             \
        struct name##_filch_box filch_b;                                                          \
        struct name##_filch_args filch_a = {FILCH_OPEN_ NAMES};                                   \
        filch_slot *filch_hp = filch_slot_head(filch_on);                                         \
        filch_b.a = filch_a;                                                                      \
        if (filch_hp)                                                                             \
            name##_filch_boxed(&filch_b, filch_hp);                                               \
        else                                                                                      \
            filch_slot_root(filch_on, name##_filch_boxed, &filch_b, #name);                       \
        VAL##UNBOX(filch_b);                                                                      \
    }

/* By assignment, field by field: a copy through memory would be read back wider than it was written,
 * which stalls the processor (12 ns per fork in a tree search). */
#define FILCH_ARGS_(name, slot) (*(struct name##_filch_args *)(void *)(slot)->payload.bytes)
#define FILCH_PUBLISH_(name, slot, args)                                                          \
    FILCH_ARGS_(name, slot) = (args);                                                             \
    filch_slot_publish(slot, name##_filch_stolen)

#define FILCH_DEFAULT_(VAL, R, name, FIELDS, PARAMS, NAMES, UNPACK)                               \
    FILCH_COMMON_(VAL, R, name, FIELDS, PARAMS, NAMES, UNPACK)                                    \
    static inline R name##_filch_body(filch_slot *filch_h FILCH_OPEN_ PARAMS);                    \
    FILCH_INLINE R name##_filch_call(int filch_p, filch_slot *filch_h FILCH_OPEN_ PARAMS)         \
    {                                                                                             \
        struct name##_filch_args filch_a = {FILCH_OPEN_ NAMES};                                   \
        (void)filch_p, (void)filch_a;                                                             \
        VAL##RETURN(name##_filch_body(filch_h FILCH_OPEN_ UNPACK));                               \
    }                                                                                             \
    static __attribute__((unused)) void name##_filch_stolen(filch_slot *s, filch_slot *h)         \
    {                                                                                             \
        struct name##_filch_args filch_a;                                                         \
        memcpy(&filch_a, s->payload.bytes, sizeof filch_a);                                       \
        VAL##STORE(R, s, name##_filch_body(h FILCH_OPEN_ UNPACK));                                \
    }                                                                                             \
    FILCH_INLINE struct name##_filch_fork name##_filch_forked(int filch_p,                        \
                                                              filch_slot **filch_hp FILCH_OPEN_ PARAMS)\
    {                                                                                             \
        struct name##_filch_fork filch_f = {*filch_hp, {FILCH_OPEN_ NAMES}, 0};                   \
        (void)filch_p;                                                                            \
        FILCH_PUBLISH_(name, filch_f.slot, filch_f.a);                                            \
        *filch_hp = filch_f.slot + 1;                                                             \
        return filch_f;                                                                           \
    }                                                                                             \
    FILCH_INLINE R name##_filch_join(int par, filch_slot **h, struct name##_filch_fork *f)        \
    {                                                                                             \
        filch_slot *s = f->slot;                                                                  \
        struct name##_filch_args filch_a = f->a;                                                  \
        (void)par, (void)filch_a;                                                                 \
        if (FILCH_UNLIKELY(s + 1 != *h))                                                          \
            filch_misuse_order(#name);                                                            \
        *h = s;                                                                                   \
        f->joined = 1;                                                                            \
        FILCH_WEIGHT_();                                                                          \
        if (filch_slot_retract(s)) {                                                              \
            VAL##LOAD(R, s);                                                                      \
        }                                                                                         \
        VAL##RETURN(name##_filch_body(s FILCH_OPEN_ UNPACK));                                     \
    }                                                                                             \
    FILCH_INLINE R name##_filch_now(filch_slot *filch_hp FILCH_OPEN_ PARAMS)                      \
    {                                                                                             \
        struct name##_filch_args filch_a = {FILCH_OPEN_ NAMES};                                   \
        (void)filch_a;                                                                            \
        VAL##RETURN(name##_filch_body(filch_hp FILCH_OPEN_ UNPACK));                              \
    }                                                                                             \
    FILCH_INLINE void name##_filch_add(int filch_p, filch_slot **filch_hp FILCH_OPEN_ PARAMS)     \
    {                                                                                             \
        struct name##_filch_args filch_a = {FILCH_OPEN_ NAMES};                                   \
        (void)filch_p;                                                                            \
        FILCH_PUBLISH_(name, *filch_hp, filch_a);                                                 \
        ++*filch_hp;                                                                              \
    }                                                                                             \
    FILCH_INLINE R name##_filch_last(int par, filch_slot **h, filch_slot *base)                   \
    {                                                                                             \
        filch_slot *s = *h - 1;                                                                   \
        (void)par;                                                                                \
        if (FILCH_UNLIKELY(s < base))                                                             \
            filch_misuse_order(#name);                                                            \
        *h = s;                                                                                   \
        if (filch_slot_retract(s)) {                                                              \
            VAL##LOAD(R, s);                                                                      \
        }                                                                                         \
        struct name##_filch_args filch_a = FILCH_ARGS_(name, s);                                  \
        (void)filch_a;                                                                            \
        VAL##RETURN(name##_filch_body(s FILCH_OPEN_ UNPACK));                                     \
    }                                                                                             \
    FILCH_ROOT_(VAL, R, name, PARAMS, NAMES, UNPACK)                                              \
    static inline __attribute__((unused)) R name##_filch_body(                                    \
        __attribute__((unused)) filch_slot *filch_h FILCH_OPEN_ PARAMS)

/* A bounded task has its body compiled twice. The parallel one forks; the serial one calls, and
 * looks once per join whether a thief asked for more (`want` of the slot at the head). */
#define FILCH_BOUNDED_(VAL, R, name, FIELDS, PARAMS, NAMES, UNPACK)                               \
    FILCH_COMMON_(VAL, R, name, FIELDS, PARAMS, NAMES, UNPACK)                                    \
    static R name##_filch_parallel(filch_slot *filch_h FILCH_OPEN_ PARAMS);                       \
    static inline R name##_filch_serial(filch_slot *filch_h FILCH_OPEN_ PARAMS);                  \
    FILCH_INLINE R name##_filch_either(filch_slot *h, struct name##_filch_args filch_a)           \
    {                                                                                             \
        (void)filch_a;                                                                            \
        if (filch_slot_wanted(h)) {                                                               \
            VAL##RETURN(name##_filch_parallel(h FILCH_OPEN_ UNPACK));                             \
        }                                                                                         \
        VAL##RETURN(name##_filch_serial(h FILCH_OPEN_ UNPACK));                                   \
    }                                                                                             \
    FILCH_INLINE R name##_filch_call(int filch_p, filch_slot *filch_h FILCH_OPEN_ PARAMS)         \
    {                                                                                             \
        struct name##_filch_args filch_a = {FILCH_OPEN_ NAMES};                                   \
        if (filch_p) {                                                                            \
            VAL##RETURN(name##_filch_either(filch_h, filch_a));                                   \
        }                                                                                         \
        VAL##RETURN(name##_filch_serial(filch_h FILCH_OPEN_ UNPACK));                             \
    }                                                                                             \
    static __attribute__((unused)) void name##_filch_stolen(filch_slot *s, filch_slot *h)         \
    {                                                                                             \
        struct name##_filch_args filch_a;                                                         \
        memcpy(&filch_a, s->payload.bytes, sizeof filch_a);                                       \
        VAL##STORE(R, s, name##_filch_either(h, filch_a));                                        \
    }                                                                                             \
    FILCH_INLINE struct name##_filch_fork name##_filch_forked(int filch_p,                        \
                                                              filch_slot **filch_hp FILCH_OPEN_ PARAMS)\
    {                                                                                             \
        struct name##_filch_fork filch_f = {*filch_hp, {FILCH_OPEN_ NAMES}, 0};                   \
        if (filch_p) {                                                                            \
            FILCH_PUBLISH_(name, filch_f.slot, filch_f.a);                                        \
            *filch_hp = filch_f.slot + 1;                                                         \
        }                                                                                         \
        return filch_f;                                                                           \
    }                                                                                             \
    FILCH_INLINE R name##_filch_join(int par, filch_slot **h, struct name##_filch_fork *f)        \
    {                                                                                             \
        filch_slot *s = f->slot;                                                                  \
        if (FILCH_UNLIKELY(s + (par != 0) != *h))                                                 \
            filch_misuse_order(#name);                                                            \
        *h = s;                                                                                   \
        f->joined = 1;                                                                            \
        if (par && filch_slot_retract(s)) {                                                       \
            VAL##LOAD(R, s);                                                                      \
        }                                                                                         \
        VAL##RETURN(name##_filch_either(s, f->a));                                                \
    }                                                                                             \
    FILCH_INLINE R name##_filch_now(filch_slot *filch_hp FILCH_OPEN_ PARAMS)                      \
    {                                                                                             \
        struct name##_filch_args filch_a = {FILCH_OPEN_ NAMES};                                   \
        VAL##RETURN(name##_filch_either(filch_hp, filch_a));                                      \
    }                                                                                             \
    FILCH_INLINE void name##_filch_add(int filch_p, filch_slot **filch_hp FILCH_OPEN_ PARAMS)     \
    {                                                                                             \
        struct name##_filch_args filch_a = {FILCH_OPEN_ NAMES};                                   \
        filch_slot *filch_s = *filch_hp;                                                          \
        (void)filch_p;                                                                            \
        FILCH_PUBLISH_(name, filch_s, filch_a);                                                   \
        *filch_hp = filch_s + 1;                                                                  \
    }                                                                                             \
    FILCH_INLINE R name##_filch_last(int par, filch_slot **h, filch_slot *base)                   \
    {                                                                                             \
        filch_slot *s = *h - 1;                                                                   \
        if (FILCH_UNLIKELY(s < base))                                                             \
            filch_misuse_order(#name);                                                            \
        *h = s;                                                                                   \
        (void)par;                                                                                \
        if (filch_slot_retract(s)) {                                                              \
            VAL##LOAD(R, s);                                                                      \
        }                                                                                         \
        struct name##_filch_args filch_a = FILCH_ARGS_(name, s);                                  \
        VAL##RETURN(name##_filch_either(s, filch_a));                                             \
    }                                                                                             \
    FILCH_ROOT_(VAL, R, name, PARAMS, NAMES, UNPACK)                                              \
    FILCH_INLINE R name##_filch_body(const int filch_par,                                         \
                                     filch_slot *filch_h FILCH_OPEN_ PARAMS);                     \
    static __attribute__((noinline, unused)) R name##_filch_parallel(                             \
        filch_slot *filch_h FILCH_OPEN_ PARAMS)                                                   \
    {                                                                                             \
        struct name##_filch_args filch_a = {FILCH_OPEN_ NAMES};                                   \
        (void)filch_a;                                                                            \
        VAL##RETURN(name##_filch_body(1, filch_h FILCH_OPEN_ UNPACK));                            \
    }                                                                                             \
    static inline __attribute__((unused)) R name##_filch_serial(                                  \
        filch_slot *filch_h FILCH_OPEN_ PARAMS)                                                   \
    {                                                                                             \
        struct name##_filch_args filch_a = {FILCH_OPEN_ NAMES};                                   \
        (void)filch_a;                                                                            \
        VAL##RETURN(name##_filch_body(0, filch_h FILCH_OPEN_ UNPACK));                            \
    }                                                                                             \
    FILCH_INLINE R name##_filch_body(__attribute__((unused)) const int filch_par,                 \
                                     __attribute__((unused)) filch_slot *filch_h FILCH_OPEN_ PARAMS)

#ifdef __cplusplus
}
#endif
#endif /* FILCH_FORKJOIN_H */
