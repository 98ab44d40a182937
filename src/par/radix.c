/* radix.c: radix sort of each plain type, and counting sort of the smallest. See radix.h. */
#include "par/radix.h"

#include "os/os.h"

#define RADIX_INLINE static inline __attribute__((always_inline))

#define FEW 32                    /* elements that are inserted one by one                          */
#define DIGIT 8                   /* bits of a digit within a bucket: counts stay in the first cache */
#define DIGITS_MOST 4
#define PART_MOST 11              /* bits that are parted by at once: a line for each bucket         */
#define PART_LEAST 32768          /* elements that are worth parting                                */
#define BUCKET_BITS 19            /* log2 of the bytes of a bucket, or half of that: second cache   */
#define BUCKET_MOST (1u << 20)    /* bytes; larger buckets are parted again, by all workers         */
#define BLOCKS_MOST 64

/* Of an unsigned number; 0 for 0. */
static inline unsigned bit_length(uint64_t x)
{
    return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

/* Into how many blocks n elements are cut: some for each worker, so that none waits long for the last. */
static size_t radix_blocks(const struct crew *c, size_t n)
{
    size_t workers = crew_workers(c), blocks = workers == 1 ? 1 : 4 * workers, most = n / 4096 + 1;
    blocks = blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST;
    return blocks < most ? blocks : most;
}

/* ---- plain types ------------------------------------------------------------------------------ */

typedef uint16_t __attribute__((may_alias)) word16;
typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

/* Integers: `flip` is the sign bit of signed ones, which is turned over. */
#define KIND 16
#define PUBLIC static void sort_words
#define ELEMENT word16
#define KEY uint16_t
#define KEY_OF(x, flip) ((uint16_t)((x) ^ (flip)))
#include "par/radix_kind.h"

#define KIND 32
#define PUBLIC void radix_sort_32
#define ELEMENT word32
#define KEY uint32_t
#define KEY_OF(x, flip) ((x) ^ (flip))
#include "par/radix_kind.h"

#define KIND 64
#define PUBLIC void radix_sort_64
#define ELEMENT word64
#define KEY uint64_t
#define KEY_OF(x, flip) ((x) ^ (flip))
#include "par/radix_kind.h"

/* Floating-point: of negative ones all bits are turned over, of others the sign. */
#define KIND f32
#define PUBLIC void radix_sort_f32
#define ELEMENT word32
#define KEY uint32_t
#define KEY_OF(x, flip) ((x) ^ ((uint32_t)((int32_t)(x) >> 31) | (flip)))
#include "par/radix_kind.h"

#define KIND f64
#define PUBLIC void radix_sort_f64
#define ELEMENT word64
#define KEY uint64_t
#define KEY_OF(x, flip) ((x) ^ ((uint64_t)((int64_t)(x) >> 63) | (flip)))
#include "par/radix_kind.h"

#define KIND pair
#define PUBLIC void radix_sort_pair
#define ELEMENT struct radix_pair
#define KEY uint64_t
#define KEY_OF(x, flip) ((x).key ^ (flip))
#include "par/radix_kind.h"

/* ---- the short ones ----------------------------------------------------------------------------- */

void radix_sort_8(struct crew *c, filch_slot *head, void *v, void *spare, size_t n, uint64_t sign)
{
    (void)spare;
    count_sort_8(c, head, v, n, (size_t)sign);
}

void radix_sort_16(struct crew *c, filch_slot *head, void *v, void *spare, size_t n, uint64_t sign)
{
    if (n < RADIX_COUNTED_16 || !count_sort_16(c, head, v, n, (size_t)sign))
        sort_words(c, head, v, spare, n, sign);
}
