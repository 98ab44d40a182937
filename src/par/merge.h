/* merge.h: the merge sort of a crew: halves are sorted at the same time, and a merge is cut into pieces. */
#ifndef FILCH_MERGE_H
#define FILCH_MERGE_H

#include "par/crew.h"
#include "par/order.h"

#define MERGE_GRAIN 4096 /* elements: some 50 us */

/* Sorts n elements at `v`; `spare` has room for as many, or is null: then it takes longer. Stable. */
void merge_sort(struct crew *c, filch_slot *head, const struct order *o, char *v, char *spare, size_t n);

struct merge_job {
    const struct order *order;
    char *to;
    const char *a, *b;
    size_t na, nb;
};

/* A crew_fn: one merge. Of equal elements those of `a` first. */
void merge_two(struct crew *c, filch_slot *head, void *merge_job);

/* Elements in the order that `at` says: at[i] is the address of what comes to v[i]. With `spare`, room for
 * all of them, by all workers; without, by one. Addresses are lost. */
void merge_arrange(struct crew *c, filch_slot *head, char *v, char *spare, char **at, size_t n, size_t size);

#endif
