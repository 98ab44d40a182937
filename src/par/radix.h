/* radix.h: numbers in order of their bits, without comparing them. */
#ifndef FILCH_RADIX_H
#define FILCH_RADIX_H

#include "par/crew.h"

#include <filch/sort.h>

/* Something with a number that stands for it. */
struct radix_pair {
    uint64_t key;
    uint64_t index;
};

#define RADIX_GRAIN 16384 /* elements */

/* Each sorts n elements at v. `spare` has room for as many, or is null: then it takes longer. `sign` is
 * the sign bit, or 0 if they are unsigned. */
typedef void radix_fn(struct crew *c, filch_slot *head, void *v, void *spare, size_t n, uint64_t sign);

radix_fn radix_sort_8; /* has no use for spare */
radix_fn radix_sort_16;
radix_fn radix_sort_32;
radix_fn radix_sort_64;
radix_fn radix_sort_f32;
radix_fn radix_sort_f64;
radix_fn radix_sort_pair; /* by key, stable; needs spare; at most UINT32_MAX */

#define RADIX_COUNTED_16 8192 /* elements of 2 bytes from which they are counted: no use for spare */

/* Numbers of 1 or 2 bytes, by counting how often each occurs. Returns whether there was memory. */
void count_sort_8(struct crew *c, filch_slot *head, uint8_t *v, size_t n, size_t sign);
bool count_sort_16(struct crew *c, filch_slot *head, uint16_t *v, size_t n, size_t sign);

#endif
