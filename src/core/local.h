/* local.h: storage that belongs to a root: to a task, a submitted job or a call from outside, with all
 * that it forks. Nothing is allocated before the first value is set.
 *
 * | field       | writer                                  | reader                              |
 * | root.locals | CAS: who sets the first value of a chunk | the root's jobs                    |
 * | chunk.value | who sets it                             | the root's jobs                     |
 * | chunk.next  | who made the chunk, before it is linked | the root's jobs                     |
 * | destructors | who creates the key, once               | whoever ends a root                 |
 *
 * [L1] a chunk is linked with release, found with acquire: its zeroes and its base are seen.
 * [L2] a value is stored with release, read with acquire: a forked job that reads it while its root's
 *      flow sets it sees what it points to.
 * Chunks are freed when the root ends, when all of its jobs have been joined.
 */
#ifndef FILCH_CORE_LOCAL_H
#define FILCH_CORE_LOCAL_H

#include "core/fiber.h"

/* The root has values: their destructors run, and it has none any more. */
void local_end(struct root *r);

#endif
