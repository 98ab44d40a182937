/* litmus.c: the model checker's own proof. Small programs whose outcomes are known: for each, the set
 * of results over all runs must be exactly what RC11 allows, no more and no fewer.
 *
 * An outcome is written as the digits of what was read, in the order of the threads: r1 r2 ...
 * Allowed and forbidden as in Lahav et al., "Repairing Sequential Consistency in C/C++11" (2017).
 */
#include "mc.h"
#include "ord_mc.h"

static uint64_t x, y, z;
static unsigned r1, r2, r3, r4;

static unsigned get(uint64_t *p, enum mc_order o)
{
    return (unsigned)mc_load(p, 8, o, MC_SITE("litmus"));
}

static void put(uint64_t *p, unsigned v, enum mc_order o)
{
    mc_store(p, 8, v, o, MC_SITE("litmus"));
}

#define THREAD(name) static void name(void *unused __attribute__((unused)))
#define FENCE(o) mc_fence(o, MC_SITE("fence"))

/* Two or more threads, then the outcome. */
#define LITMUS2(id, t1, t2, result, allowed, ...)                                                 \
    static void id(void)                                                                          \
    {                                                                                             \
        mc_thread(t1, 0);                                                                         \
        mc_thread(t2, 0);                                                                         \
        mc_join_all();                                                                            \
        mc_outcome(result);                                                                       \
    }                                                                                             \
    MC_MODEL(id, .preemptions = MC_UNBOUNDED, .outcomes = allowed, ##__VA_ARGS__)
#define LITMUS3(id, t1, t2, t3, result, allowed, ...)                                             \
    static void id(void)                                                                          \
    {                                                                                             \
        mc_thread(t1, 0);                                                                         \
        mc_thread(t2, 0);                                                                         \
        mc_thread(t3, 0);                                                                         \
        mc_join_all();                                                                            \
        mc_outcome(result);                                                                       \
    }                                                                                             \
    MC_MODEL(id, .preemptions = MC_UNBOUNDED, .outcomes = allowed, ##__VA_ARGS__)
#define LITMUS4(id, t1, t2, t3, t4, result, allowed)                                              \
    static void id(void)                                                                          \
    {                                                                                             \
        mc_thread(t1, 0);                                                                         \
        mc_thread(t2, 0);                                                                         \
        mc_thread(t3, 0);                                                                         \
        mc_thread(t4, 0);                                                                         \
        mc_join_all();                                                                            \
        mc_outcome(result);                                                                       \
    }                                                                                             \
    MC_MODEL(id, .preemptions = MC_UNBOUNDED, .outcomes = allowed)

/* ---- SB, store buffering: x = 1; r1 = y || y = 1; r2 = x ------------------------------------- */

#define SB(name, store_order, load_order, between)                                                \
    THREAD(name##_a) { put(&x, 1, store_order); between; r1 = get(&y, load_order); }              \
    THREAD(name##_b) { put(&y, 1, store_order); between; r2 = get(&x, load_order); }
SB(sb_rlx, MC_RELAXED, MC_RELAXED, )
SB(sb_ra, MC_RELEASE, MC_ACQUIRE, )
SB(sb_sc, MC_SEQ_CST, MC_SEQ_CST, )
SB(sb_fence, MC_RELAXED, MC_RELAXED, FENCE(MC_SEQ_CST))
SB(sb_ar_fence, MC_RELAXED, MC_RELAXED, FENCE(MC_ACQ_REL))
LITMUS2(sb_relaxed, sb_rlx_a, sb_rlx_b, r1 * 10 + r2, "0 1 10 11");
LITMUS2(sb_release_acquire, sb_ra_a, sb_ra_b, r1 * 10 + r2, "0 1 10 11");
LITMUS2(sb_seq_cst, sb_sc_a, sb_sc_b, r1 * 10 + r2, "1 10 11");
LITMUS2(sb_fences, sb_fence_a, sb_fence_b, r1 * 10 + r2, "1 10 11");
LITMUS2(sb_weak_fences, sb_ar_fence_a, sb_ar_fence_b, r1 * 10 + r2, "0 1 10 11");
LITMUS2(sb_one_fence, sb_fence_a, sb_rlx_b, r1 * 10 + r2, "0 1 10 11");

/* One side pays for both: the asymmetric barrier of the job slots. */
extern int os_membarrier(void);
THREAD(sb_barrier_a) { put(&x, 1, MC_RELAXED); os_membarrier(); r1 = get(&y, MC_RELAXED); }
LITMUS2(sb_membarrier, sb_barrier_a, sb_rlx_b, r1 * 10 + r2, "1 10 11");

/* Locked operations on the words themselves. */
THREAD(sb_rmw_a) { mc_xchg(&x, 8, 1, MC_SEQ_CST, MC_SITE("x")); r1 = get(&y, MC_SEQ_CST); }
THREAD(sb_rmw_b) { mc_xchg(&y, 8, 1, MC_SEQ_CST, MC_SITE("y")); r2 = get(&x, MC_SEQ_CST); }
LITMUS2(sb_exchange, sb_rmw_a, sb_rmw_b, r1 * 10 + r2, "1 10 11");

/* ---- MP, message passing: x = 1; y = 1 || r1 = y; r2 = x ------------------------------------- */

#define MP_WRITER(name, order, between)                                                           \
    THREAD(name) { put(&x, 1, MC_RELAXED); between; put(&y, 1, order); }
#define MP_READER(name, order, between)                                                           \
    THREAD(name) { r1 = get(&y, order); between; r2 = get(&x, MC_RELAXED); }
MP_WRITER(mp_w_rlx, MC_RELAXED, )
MP_WRITER(mp_w_rel, MC_RELEASE, )
MP_WRITER(mp_w_fence, MC_RELAXED, FENCE(MC_RELEASE))
MP_READER(mp_r_rlx, MC_RELAXED, )
MP_READER(mp_r_acq, MC_ACQUIRE, )
MP_READER(mp_r_fence, MC_RELAXED, FENCE(MC_ACQUIRE))
LITMUS2(mp_relaxed, mp_w_rlx, mp_r_rlx, r1 * 10 + r2, "0 1 10 11");
LITMUS2(mp_release_acquire, mp_w_rel, mp_r_acq, r1 * 10 + r2, "0 1 11");
LITMUS2(mp_release_only, mp_w_rel, mp_r_rlx, r1 * 10 + r2, "0 1 10 11");
LITMUS2(mp_acquire_only, mp_w_rlx, mp_r_acq, r1 * 10 + r2, "0 1 10 11");
LITMUS2(mp_fences, mp_w_fence, mp_r_fence, r1 * 10 + r2, "0 1 11");
LITMUS2(mp_fence_and_acquire, mp_w_fence, mp_r_acq, r1 * 10 + r2, "0 1 11");

/* A release sequence goes on through read-modify-writes, relaxed ones too, and ends at a store. */
THREAD(rs_rmw) { mc_add(&y, 8, 1, MC_RELAXED, MC_SITE("y")); }
LITMUS3(mp_through_rmw, mp_w_rel, rs_rmw, mp_r_acq, r1 * 10 + r2, "0 1 10 11 21");
THREAD(rs_store) { if (get(&y, MC_RELAXED) == 1) put(&y, 2, MC_RELAXED); }
LITMUS3(mp_through_store, mp_w_rel, rs_store, mp_r_acq, r1 * 10 + r2, "0 1 11 20 21");

/* ---- LB, load buffering: r1 = x; y = 1 || r2 = y; x = 1 -------------------------------------- */

THREAD(lb_a) { r1 = get(&x, MC_RELAXED); put(&y, 1, MC_RELAXED); }
THREAD(lb_b) { r2 = get(&y, MC_RELAXED); put(&x, 1, MC_RELAXED); }
THREAD(lb_rel_a) { r1 = get(&x, MC_RELAXED); put(&y, 1, MC_RELEASE); }
THREAD(lb_rel_b) { r2 = get(&y, MC_RELAXED); put(&x, 1, MC_RELEASE); }
LITMUS2(lb_relaxed, lb_a, lb_b, r1 * 10 + r2, "0 1 10");
static void late_start(void)
{
    mc_late(&x, sizeof x);
    mc_late(&y, sizeof y);
}
static void lb_late(void)
{
    late_start();
    mc_thread(lb_a, 0);
    mc_thread(lb_b, 0);
    mc_join_all();
    mc_outcome(r1 * 10 + r2);
}
MC_MODEL(lb_late, .preemptions = MC_UNBOUNDED, .outcomes = "0 1 10 11");
static void lb_late_release(void)
{
    late_start();
    mc_thread(lb_rel_a, 0);
    mc_thread(lb_rel_b, 0);
    mc_join_all();
    mc_outcome(r1 * 10 + r2);
}
MC_MODEL(lb_late_release, .preemptions = MC_UNBOUNDED, .outcomes = "0 1 10");

/* ---- IRIW: independent reads of independent writes ------------------------------------------- */

#define IRIW(name, w, r)                                                                          \
    THREAD(name##_x) { put(&x, 1, w); }                                                           \
    THREAD(name##_y) { put(&y, 1, w); }                                                           \
    THREAD(name##_r) { r1 = get(&x, r); r2 = get(&y, r); }                                        \
    THREAD(name##_s) { r3 = get(&y, r); r4 = get(&x, r); }
IRIW(iriw_ra, MC_RELEASE, MC_ACQUIRE)
IRIW(iriw_sc, MC_SEQ_CST, MC_SEQ_CST)
#define IRIW_RESULT r1 * 1000 + r2 * 100 + r3 * 10 + r4
LITMUS4(iriw_release_acquire, iriw_ra_x, iriw_ra_y, iriw_ra_r, iriw_ra_s, IRIW_RESULT,
        "0 1 10 11 100 101 110 111 1000 1001 1010 1011 1100 1101 1110 1111");
LITMUS4(iriw_seq_cst, iriw_sc_x, iriw_sc_y, iriw_sc_r, iriw_sc_s, IRIW_RESULT,
        "0 1 10 11 100 101 110 111 1000 1001 1011 1100 1101 1110 1111");
THREAD(iriw_f_r) { r1 = get(&x, MC_RELAXED); FENCE(MC_SEQ_CST); r2 = get(&y, MC_RELAXED); }
THREAD(iriw_f_s) { r3 = get(&y, MC_RELAXED); FENCE(MC_SEQ_CST); r4 = get(&x, MC_RELAXED); }
LITMUS4(iriw_fences, iriw_ra_x, iriw_ra_y, iriw_f_r, iriw_f_s, IRIW_RESULT,
        "0 1 10 11 100 101 110 111 1000 1001 1011 1100 1101 1110 1111");

/* ---- 2+2W: x = 1; y = 2 || y = 1; x = 2, then the last values -------------------------------- */

#define W22(name, o)                                                                              \
    THREAD(name##_a) { put(&x, 1, o); put(&y, 2, o); }                                            \
    THREAD(name##_b) { put(&y, 1, o); put(&x, 2, o); }
W22(w22_rlx, MC_RELAXED)
W22(w22_sc, MC_SEQ_CST)
static unsigned last_values(void)
{
    return (unsigned)(x * 10 + y); /* plain: memory holds what is last */
}
LITMUS2(two_plus_two_relaxed, w22_rlx_a, w22_rlx_b, last_values(), "11 12 21 22", .old_stores = true);
LITMUS2(two_plus_two_in_order, w22_rlx_a, w22_rlx_b, last_values(), "12 21 22");
LITMUS2(two_plus_two_seq_cst, w22_sc_a, w22_sc_b, last_values(), "12 21 22", .old_stores = true);

/* ---- coherence: of one word all threads see one order ---------------------------------------- */

THREAD(co_w1) { put(&x, 1, MC_RELAXED); }
THREAD(co_w2) { put(&x, 2, MC_RELAXED); }
THREAD(co_w12) { put(&x, 1, MC_RELAXED); put(&x, 2, MC_RELAXED); }
THREAD(co_rr) { r1 = get(&x, MC_RELAXED); r2 = get(&x, MC_RELAXED); }
THREAD(co_rr2) { r3 = get(&x, MC_RELAXED); r4 = get(&x, MC_RELAXED); }
LITMUS2(corr, co_w12, co_rr, r1 * 10 + r2, "0 1 2 11 12 22");
THREAD(co_wr) { put(&x, 1, MC_RELAXED); r1 = get(&x, MC_RELAXED); }
LITMUS2(cowr, co_wr, co_w2, r1, "1 2");
THREAD(co_rw) { r1 = get(&x, MC_RELAXED); put(&x, 1, MC_RELAXED); }
LITMUS2(corw, co_rw, co_w2, r1 * 10 + last_values() / 10, "1 2 21", .old_stores = true);
static unsigned disagree(void)
{
    return (r1 == 1 && r2 == 2 && r3 == 2 && r4 == 1) || (r1 == 2 && r2 == 1 && r3 == 1 && r4 == 2);
}
LITMUS4(coherence_of_two_readers, co_w1, co_w2, co_rr, co_rr2, disagree(), "0");

/* ---- WRC, ISA2: causality over three threads ------------------------------------------------- */

#define WRC_MIDDLE(name, load, store)                                                             \
    THREAD(name) { r1 = get(&x, load); put(&y, 1, store); }
WRC_MIDDLE(wrc_mid_rlx, MC_RELAXED, MC_RELAXED)
WRC_MIDDLE(wrc_mid_ra, MC_ACQUIRE, MC_RELEASE)
THREAD(wrc_w) { put(&x, 1, MC_RELEASE); }
THREAD(wrc_r) { r2 = get(&y, MC_ACQUIRE); r3 = get(&x, MC_RELAXED); }
#define WRC_RESULT r1 * 100 + r2 * 10 + r3
LITMUS3(wrc_release_acquire, wrc_w, wrc_mid_ra, wrc_r, WRC_RESULT, "0 1 10 11 100 101 111");
LITMUS3(wrc_relaxed, wrc_w, wrc_mid_rlx, wrc_r, WRC_RESULT, "0 1 10 11 100 101 110 111");
THREAD(isa2_a) { put(&x, 1, MC_RELAXED); put(&y, 1, MC_RELEASE); }
THREAD(isa2_b) { r1 = get(&y, MC_ACQUIRE); put(&z, 1, MC_RELEASE); }
THREAD(isa2_c) { r2 = get(&z, MC_ACQUIRE); r3 = get(&x, MC_RELAXED); }
LITMUS3(isa2, isa2_a, isa2_b, isa2_c, WRC_RESULT, "0 1 10 11 100 101 111");

/* ---- R and S --------------------------------------------------------------------------------- */

THREAD(r_a) { put(&x, 1, MC_SEQ_CST); put(&y, 1, MC_SEQ_CST); }
THREAD(r_b) { put(&y, 2, MC_SEQ_CST); r1 = get(&x, MC_SEQ_CST); }
LITMUS2(r_seq_cst, r_a, r_b, r1 * 10 + (unsigned)y, "1 11 12", .old_stores = true);
THREAD(r_a_rlx) { put(&x, 1, MC_RELAXED); put(&y, 1, MC_RELEASE); }
THREAD(r_b_rlx) { put(&y, 2, MC_RELEASE); r1 = get(&x, MC_ACQUIRE); }
LITMUS2(r_release_acquire, r_a_rlx, r_b_rlx, r1 * 10 + (unsigned)y, "1 2 11 12", .old_stores = true);
THREAD(s_a) { put(&x, 2, MC_RELAXED); put(&y, 1, MC_RELEASE); }
THREAD(s_b) { r1 = get(&y, MC_ACQUIRE); put(&x, 1, MC_RELAXED); }
LITMUS2(s_release_acquire, s_a, s_b, r1 * 10 + (unsigned)x, "1 2 11", .old_stores = true);

/* ---- compare and swap ------------------------------------------------------------------------ */

static void cas_once(unsigned *r, unsigned value, bool weak)
{
    uint64_t old = 0;
    *r = mc_cas(&x, 8, &old, value, MC_RELAXED, weak, MC_SITE("x"));
}
THREAD(cas_a) { cas_once(&r1, 1, false); }
THREAD(cas_b) { cas_once(&r2, 2, false); }
THREAD(cas_w) { cas_once(&r1, 1, true); }
LITMUS2(cas_has_one_winner, cas_a, cas_b, r1 * 10 + r2, "1 10");
LITMUS2(weak_cas_may_fail, cas_w, co_rr2, r1, "0 1");

/* ---- what the checker must find ------------------------------------------------------------- */

static int data;
THREAD(race_writer) { data = 1; put(&x, 1, MC_RELAXED); }
THREAD(race_reader) { if (get(&x, MC_ACQUIRE)) r1 = (unsigned)data; }
static void race_is_found(void)
{
    mc_thread(race_writer, 0);
    mc_thread(race_reader, 0);
    mc_join_all();
}
MC_MODEL(race_is_found, .claim = "a relaxed flag does not order plain data", .must_say = "data race");
THREAD(no_race_writer) { data = 1; put(&x, 1, MC_RELEASE); }
static void release_orders_plain_data(void)
{
    mc_thread(no_race_writer, 0);
    mc_thread(race_reader, 0);
    mc_join_all();
}
MC_MODEL(release_orders_plain_data, .claim = "a release flag does", .preemptions = MC_UNBOUNDED);

extern int os_futex_wait(uint32_t *word, uint32_t expect, int64_t deadline);
extern void os_futex_wake(uint32_t *word, int count);
extern void *os_alloc(size_t size);
extern void os_free(void *p);
extern void os_pause(void);
static uint32_t gate;
THREAD(forgets_to_wake) { mc_store(&gate, 4, 1, MC_RELEASE, MC_SITE("gate")); }
THREAD(wakes) { mc_store(&gate, 4, 1, MC_RELEASE, MC_SITE("gate")); os_futex_wake(&gate, 1); }
static void wait_at_gate(void)
{
    while (!mc_load(&gate, 4, MC_ACQUIRE, MC_SITE("gate")))
        os_futex_wait(&gate, 0, INT64_MAX);
}
static void deadlock_is_found(void)
{
    mc_thread(forgets_to_wake, 0);
    wait_at_gate();
}
MC_MODEL(deadlock_is_found, .claim = "a wake-up that is missing is a deadlock",
         .must_say = "deadlock");
static void futex_wakes(void)
{
    mc_thread(wakes, 0);
    wait_at_gate();
    mc_join_all();
}
MC_MODEL(futex_wakes, .claim = "a wake-up after the store is never lost",
         .preemptions = MC_UNBOUNDED);

static void livelock_is_found(void)
{
    while (!get(&x, MC_RELAXED))
        os_pause();
}
MC_MODEL(livelock_is_found, .claim = "a spin that nobody ends is a livelock", .must_say = "livelock");
THREAD(sets_x) { put(&x, 1, MC_RELAXED); }
static void spinning_ends(void)
{
    mc_thread(sets_x, 0);
    livelock_is_found();
    mc_join_all();
}
MC_MODEL(spinning_ends,
         .claim = "a spin ends once the store is made: old values are not read for ever");

static void leak_is_found(void) { (void)os_alloc(8); }
MC_MODEL(leak_is_found, .claim = "memory that is not freed is a leak", .must_say = "leak");
static char *shared;
THREAD(uses) { if (get(&x, MC_RELAXED)) shared[0] = 1; }
static void use_after_free_is_found(void)
{
    shared = os_alloc(8);
    put(&x, 1, MC_RELAXED);
    mc_thread(uses, 0);
    os_free(shared);
    mc_join_all();
}
MC_MODEL(use_after_free_is_found, .claim = "memory in use is not freed", .must_say = "free");
