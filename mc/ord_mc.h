/* ord_mc.h: the operations of filch/ord.h, as steps of the model checker. */
#ifndef ORD_MC_H
#define ORD_MC_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum mc_order { MC_RELAXED, MC_ACQUIRE, MC_RELEASE, MC_ACQ_REL, MC_SEQ_CST };

struct mc_site {
    const char *file, *function, *text;
    int line;
};

uint64_t mc_load(const void *p, unsigned size, enum mc_order order, const struct mc_site *site);
void mc_store(void *p, unsigned size, uint64_t value, enum mc_order order, const struct mc_site *site);
uint64_t mc_xchg(void *p, unsigned size, uint64_t value, enum mc_order order, const struct mc_site *site);
uint64_t mc_add(void *p, unsigned size, uint64_t value, enum mc_order order, const struct mc_site *site);
uint64_t mc_or(void *p, unsigned size, uint64_t value, enum mc_order order, const struct mc_site *site);
bool mc_cas(void *p, unsigned size, void *old, uint64_t value, enum mc_order order, bool weak,
            const struct mc_site *site);
void mc_fence(enum mc_order order, const struct mc_site *site);

#ifdef __cplusplus
}
#endif

#define MC_SITE(what)                                                                             \
    (__extension__({                                                                              \
        static const struct mc_site mc_here = {__FILE__, __func__, what, __LINE__};               \
        &mc_here;                                                                                 \
    }))
#define MC_TYPE(p) __typeof__(*(p))
#define MC_WORD(p, v) ((uint64_t)(uintptr_t)(MC_TYPE(p))(v))

#define MC_LOAD(p, o) __extension__({ (MC_TYPE(p))(uintptr_t)mc_load((p), sizeof *(p), o, MC_SITE(#p)); })
#define MC_STORE(p, v, o) mc_store((p), sizeof *(p), MC_WORD(p, v), o, MC_SITE(#p))
#define MC_XCHG(p, v, o)                                                                          \
    __extension__({ (MC_TYPE(p))(uintptr_t)mc_xchg((p), sizeof *(p), MC_WORD(p, v), o, MC_SITE(#p)); })
#define MC_ADD(p, v, o)                                                                           \
    __extension__({ (MC_TYPE(p))mc_add((p), sizeof *(p), MC_WORD(p, v), o, MC_SITE(#p)); })
#define MC_SUB(p, v, o)                                                                           \
    __extension__({ (MC_TYPE(p))mc_add((p), sizeof *(p), (uint64_t)0 - MC_WORD(p, v), o, MC_SITE(#p)); })
#define MC_OR(p, v, o)                                                                            \
    __extension__({ (MC_TYPE(p))mc_or((p), sizeof *(p), MC_WORD(p, v), o, MC_SITE(#p)); })
#define MC_CAS(p, old, v, o, weak) mc_cas((p), sizeof *(p), (old), MC_WORD(p, v), o, weak, MC_SITE(#p))

#define filch_load_relaxed(p) MC_LOAD(p, MC_RELAXED)
#define filch_load_acquire(p) MC_LOAD(p, MC_ACQUIRE)
#define filch_load_seq_cst(p) MC_LOAD(p, MC_SEQ_CST)
#define filch_store_relaxed(p, v) MC_STORE(p, v, MC_RELAXED)
#define filch_store_release(p, v) MC_STORE(p, v, MC_RELEASE)
#define filch_store_seq_cst(p, v) MC_STORE(p, v, MC_SEQ_CST)
#define filch_xchg_relaxed(p, v) MC_XCHG(p, v, MC_RELAXED) /* for seeded breaks */
#define filch_xchg_acquire(p, v) MC_XCHG(p, v, MC_ACQUIRE)
#define filch_xchg_release(p, v) MC_XCHG(p, v, MC_RELEASE) /* for seeded breaks */
#define filch_xchg_acq_rel(p, v) MC_XCHG(p, v, MC_ACQ_REL)
#define filch_xchg_seq_cst(p, v) MC_XCHG(p, v, MC_SEQ_CST)
#define filch_add_relaxed(p, v) MC_ADD(p, v, MC_RELAXED)
#define filch_add_acq_rel(p, v) MC_ADD(p, v, MC_ACQ_REL)
#define filch_add_seq_cst(p, v) MC_ADD(p, v, MC_SEQ_CST)
#define filch_or_relaxed(p, v) MC_OR(p, v, MC_RELAXED) /* for seeded breaks */
#define filch_or_acquire(p, v) MC_OR(p, v, MC_ACQUIRE)
#define filch_sub_relaxed(p, v) MC_SUB(p, v, MC_RELAXED) /* for seeded breaks */
#define filch_sub_acq_rel(p, v) MC_SUB(p, v, MC_ACQ_REL)
#define filch_sub_seq_cst(p, v) MC_SUB(p, v, MC_SEQ_CST)
#define filch_cas_relaxed(p, old, v) MC_CAS(p, old, v, MC_RELAXED, false)
#define filch_cas_acquire(p, old, v) MC_CAS(p, old, v, MC_ACQUIRE, false)
#define filch_cas_release(p, old, v) MC_CAS(p, old, v, MC_RELEASE, false)
#define filch_cas_acq_rel(p, old, v) MC_CAS(p, old, v, MC_ACQ_REL, false)
#define filch_cas_seq_cst(p, old, v) MC_CAS(p, old, v, MC_SEQ_CST, false)
#define filch_cas_weak_acq_rel(p, old, v) MC_CAS(p, old, v, MC_ACQ_REL, true)
#define filch_prefetch(p) ((void)(p))
#define filch_prefetch_write(p) ((void)(p))
#define FILCH_PREFETCH 0
#define filch_fence_compiler() ((void)0) /* threads run in program order here */
#define filch_fence_seq_cst() mc_fence(MC_SEQ_CST, MC_SITE("fence"))

#endif
