/* split.h: a range in pieces that thieves may take. The engine below loops, reductions and searches.
 *
 * Who has a range publishes its right half and goes on with the left, down to a piece that is not worth
 * splitting; a thief takes the oldest, and so the largest, half. What nobody took is split in its turn, so
 * the pieces of one worker are done from left to right. Publishing costs two stores (forkjoin.h), so the
 * question is only how small a piece may be. Its cost is measured: the first is an eighth of a worker's
 * share or 256 elements, and while pieces are shorter than SPLIT_US the next may be larger; an eighth of that
 * if they are a good part of the whole, as what a piece hides cannot be shared. A short loop is over by then,
 * having forked a handful of times. If elements turn out costly, pieces become as short as that takes, and
 * stay so for a while. Each thief begins anew: what elements cost elsewhere says little.
 *
 * | field       | writer                             | reader      | invariant                       |
 * | active      | who publishes, or takes back, or ends what it stole; counted only with a limit     |
 * | half.let_go | its owner and its thief, once each | the same    | who is first counts it off      |
 * | the rest    | the caller, before it starts                                                       |
 *
 * [Q1] With a limit of k workers at most k - 1 halves are counted at once, so no more than k pieces run. A
 *      half is counted before it is published, until the thief is done with it or its owner wants it back.
 *      The owner of one that was stolen then has nothing to do but wait: the thief goes on in its place,
 *      and another may begin.
 *
 * State: a reduction has an accumulator that goes from piece to piece in order. A thief has one of its
 * own, and whoever joins what was stolen combines the two. So the order of elements is kept, and nothing
 * is combined that was not stolen.
 */
#ifndef FILCH_SPLIT_H
#define FILCH_SPLIT_H

#include "par/par.h"

#define SPLIT_US 10
#define SPLIT_ANY UINT32_MAX

struct split {
    struct par par;
    /* Elements [lo, hi). Returns 0, or an error that stops everything. */
    int (*piece)(struct split *s, size_t lo, size_t hi, void *state);
    const void *what;              /* what the piece works on             */
    void *arg;                     /* the user's                          */
    /* With state: its size, how it begins, and left = left + right. */
    size_t state_size;
    void (*fresh)(struct split *s, void *state);
    void (*combine)(struct split *s, void *left, const void *right);
    /* Asked where a half is about to run: should it be left out? Null: never. */
    bool (*declines)(struct split *s);
    size_t grain;                  /* elements of the first piece; of a fixed tree: of all */
    size_t least;                  /* elements of a piece, unless there are fewer at all */
    size_t parts, first, n;        /* of one that goes over numbers of parts; 0: it does not */
    bool exact;                    /* how.grain is also the most elements of a piece */
    uint64_t soon;                 /* ticks: pieces that take less may grow */
    size_t fine;                   /* elements: pieces that have fewer are a small part of the whole */
    uint32_t limit;                /* published at most, or SPLIT_ANY     */
    uint32_t active;
    void (*stolen)(filch_slot *slot, filch_slot *head); /* what is published in this call */
};

/* After par_begin(&s->par), with the fields above filled in: runs it over [lo, hi). Elements go in order into
 * `state`, which is fresh. */
void split_run(struct split *s, size_t lo, size_t hi, void *state);

/* The same with pieces and a tree of combinations that depend on the number of elements alone. */
void split_run_fixed(struct split *s, size_t lo, size_t hi, void *state);

#endif
