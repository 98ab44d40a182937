/* verify.h: does the simulator say what must be true?
 *
 * Laws that hold for every run (work, span, steals, what is conserved), engines that must agree, and queues
 * whose means are known. */
#ifndef FILCH_SIM_VERIFY_H
#define FILCH_SIM_VERIFY_H

#include "sim/replicate.h"

enum verify_kind {
    VERIFY_EQUAL,    /* every run gave this, up to a rounding                              */
    VERIFY_AT_LEAST, /* the least of all runs is not below, ...                            */
    VERIFY_AT_MOST,  /* ... the largest is not above                                       */
    VERIFY_MEAN,     /* the mean, up to chance: in its 99.99 % interval, which is narrow    */
};

struct verify_row {
    const char *law;         /* a heading for neighbours                                   */
    char what[96];
    const char *unit;        /* "s", or empty                                              */
    enum verify_kind kind;
    double expected;
    struct summary measured; /* of runs; of a mean, of replications                        */
    int pass;
};

struct verify_options {
    uint64_t seed, replications; /* of each queue; 0: 200                                  */
    struct replicate_options replicate;
};

/* Rows in the order in which they are made; the row is the caller's to copy. */
typedef void verify_add(const struct verify_row *row, void *arg);

/* 0, or -errno with a message if a run was not possible: that is no pass. */
int verify(const struct verify_options *options, verify_add *add, void *arg, char *message, size_t size);

/* The most steals that a complete tree of this arity and height allows on so many workers (Leiserson, Schardl
 * and Suksompong, 2015): the sum over i = 1 .. workers - 1 of (arity - 1)^i * choose(height, i). */
double verify_steals_most(uint32_t arity, uint32_t height, uint32_t workers);

#endif
