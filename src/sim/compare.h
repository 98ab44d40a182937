/* compare.h: a variant against a base, both run with the same random numbers. */
#ifndef FILCH_SIM_COMPARE_H
#define FILCH_SIM_COMPARE_H

#include "sim/replicate.h"

struct comparison {
    struct summary base, variant;
    struct paired_result result; /* variant minus base; the verdict knows which direction is the better one */
    bool same;                   /* equal in every replication */
};

/* Replication i of one with replication i of the other; of so many as both have. */
struct comparison compare(const struct replications *base, const struct replications *variant, enum metric m,
                          double level);

#endif
