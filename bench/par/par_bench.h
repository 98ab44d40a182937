/* par_bench.h: the cases of `filch bench par`, one definition for every runtime.
 *
 * There is one program per runtime: serial/ (C++, for std::sort), filch/ (C, by gcc and by clang: so are the
 * peers' inner loops), tbb/ (oneTBB, by g++), omp/ (OpenMP, by g++ with libgomp and by clang++ with libomp),
 * ../peers/rayon (Rust). All have the same main (main.c), the same inputs and checks (case_*.c) and the same
 * optimisation, -O3; -ffast-math nowhere. A runtime supplies the functions of struct par_runtime, each in the
 * form that its own users would write, the fastest where there are several. Inner loops are those of loops.h,
 * in Rust the same loop. Everything is called inside the runtime's own context (par_runtime.run), which is
 * not timed. Arrays are written before the clock starts. A program repeats its case for a while; the smallest
 * time counts. After each repetition the result is checked against one that was computed serially.
 *
 *   for_light      v[i] = v[i] * k + c on SIZE floats (10^8), in place. Time / SIZE.
 *                  TBB: parallel_for, auto_partitioner. OpenMP: parallel for. Rayon: par_iter_mut.
 *   reduce         Sum of SIZE doubles (10^8), one addition after the other. Time / SIZE.
 *                  TBB: parallel_reduce. OpenMP: reduction. Rayon: par_iter().sum().
 *   scan           Inclusive prefix sums of SIZE int32 (5 * 10^7) into another array. Time / SIZE.
 *                  filch: filch_scan_sum. TBB: parallel_scan. OpenMP: two passes by hand (see
 *                  omp/scan.cpp). Rayon has none.
 *   find_any       SIZE int32 (10^8) with one hit; 16 searches, the hit each time at another place. Time
 *                  per search.
 *                  filch: filch_find_any with the loop that the others have, or filch_index_any, which
 *                  brings its own. TBB: parallel_for, cancelled by the hit, with auto_partitioner or in
 *                  pieces of 32,768.
 *                  OpenMP: schedule(dynamic, 1) over chunks of 32,768, and a flag. Rayon: position_any, or
 *                  find_map_any over chunks of 32,768. The better one counts.
 *   sort_int       SIZE random int32 (5 * 10^7). Time / SIZE.
 *                  Serial: std::sort. TBB: parallel_sort. OpenMP: __gnu_parallel::sort. Rayon:
 *                  par_sort_unstable.
 *   sort_cmp       SIZE random int32 (10^7) by a comparison that no compiler sees into. Time / SIZE.
 *                  Serial: qsort. The others as in sort_int, with a closure that calls the comparison.
 *   for_irregular  SIZE elements (200,000) that cost 1 to 10,000 units, a unit being 16 steps of integer
 *                  arithmetic. The share of elements that cost more than x is about 1/x; the costlier eighth
 *                  of all lies together. Time / SIZE.
 *                  OpenMP: the best of schedule(dynamic, 1), schedule(dynamic, 16) and schedule(guided).
 *                  The others: as in for_light.
 *   for_tiny       SIZE calls (10^5), one after the other, of the loop of for_light with 100 to 10,000
 *                  iterations, as many loops between 100 and 1,000 as above. Time / SIZE: ns per call.
 */
#ifndef PAR_BENCH_H
#define PAR_BENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int par_compare(const void *a, const void *b);

/* ---- supplied by each runtime -------------------------------------------------------------- */

#define PAR_WAYS 3

typedef size_t par_find(const int32_t *v, size_t n, int32_t wanted);  /* where it is, or n */
typedef void par_spin_all(uint64_t *to, const uint32_t *units, size_t n); /* to[i] = par_spin(i, units[i]) */

/* A null function: this runtime has no such thing. */
struct par_runtime {
    /* Prepares for a number of workers; null, or what is wrong. */
    const char *(*start)(int workers);
    void (*stop)(void);
    const char *(*version)(void);
    void (*run)(void (*fn)(void *arg), void *arg); /* where work is called from in this runtime */

    void (*light)(float *v, size_t n, float k, float c); /* v[i] = v[i] * k + c */
    double (*sum)(const double *v, size_t n);
    void (*scan)(int32_t *to, const int32_t *from, size_t n);
    void (*sort)(int32_t *v, size_t n);
    void (*sort_by)(int32_t *v, size_t n, par_compare *compare);
    /* In different ways; the best counts, and is told (way=0, 1, 2). */
    par_find *find[PAR_WAYS];
    par_spin_all *spin[PAR_WAYS];
};

extern const struct par_runtime par_runtime;

/* ---- supplied by opaque.c: what no compiler may see into ------------------------------------ */

uint64_t par_spin(uint64_t seed, uint32_t units);
par_compare par_compare_int32;

/* ---- supplied by case_*.c ------------------------------------------------------------------- */

/* What a case works on; each uses some of it. Lives as long as the process. */
struct par_data {
    size_t n;
    float *floats;
    double *doubles;
    int32_t *from, *to;
    uint32_t *units;
    uint64_t *spun, *spun_serially;
    int64_t expected;  /* sum of all, of whatever the case sums up */
    int64_t got;
    double got_sum;
};

struct par_case {
    const char *name;
    size_t size, small, most;
    int ways;                                       /* at most */
    int (*there)(const struct par_runtime *r, int way); /* has the runtime got it? */
    const char *(*make)(struct par_data *d);        /* once; null, or what is wrong */
    void (*reset)(struct par_data *d);              /* before each repetition; may be null */
    void (*run)(struct par_data *d, int way);       /* the only part that is timed */
    int (*good)(const struct par_data *d);          /* is the result right? */
    size_t (*operations)(const struct par_data *d); /* null: n */
};

extern const struct par_case par_for_light, par_for_irregular, par_for_tiny;
extern const struct par_case par_reduce, par_scan, par_find_any;
extern const struct par_case par_sort_int, par_sort_cmp;

/* ---- supplied by main.c --------------------------------------------------------------------- */

void *par_alloc(size_t n, size_t size);  /* ends the program if there is no memory; large pages if it can */
uint64_t par_random(uint64_t *state);

#ifdef __cplusplus
}
#endif
#endif
