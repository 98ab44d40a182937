/* forktree_grow.h: trees whose nodes are stored, for forktree.c. */
#ifndef FILCH_SIM_FORKTREE_GROW_H
#define FILCH_SIM_FORKTREE_GROW_H

#include "sim/forktree.h"

/* The kinds random, UTS and loop. Times in *spec are in range. Errors as forktree_make(). */
int forktree_grow(struct forktree *t, const struct forktree_spec *spec, char *message, size_t size);

#endif
