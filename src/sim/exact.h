/* exact.h: fork-join trees under random single steals, exactly, in time O(steals + probes).
 *
 * The model. It is that of the event engine with victim=one and steal=one, where the owner takes the newest
 * and a thief the oldest; the two agree in makespan, steals and failures.
 *   [exact-1] Worker 0's deque holds the root. At time 0 all workers look, in order of their index; worker 0
 *       takes the root. What is taken from the own deque begins `pop` later, what is stolen `steal` later. A
 *       probe that fails is followed by the next one `failed` later.
 *   [exact-2] A node that begins at s has its children in the deque at s + exec + before + (k - 1) * spawn:
 *       k - 1 is the oldest, 1 the newest; child 0 begins at that time. A leaf ends at s + exec + before.
 *   [exact-3] A node that ends at e, as the last child of its parent: the worker continues with the parent,
 *       which ends at e + join + after. Not as the last: the worker takes the newest of its own deque at e,
 *       and if there is none it probes at e.
 *   [exact-4] A probe looks at one other worker, uniformly random by the generator of the worker that probes
 *       (seed rng_mix(seed) + index), and takes the oldest of its deque.
 *   [exact-5] Events are ordered by time; of one instant, ends of work before looks and probes; then by the
 *       index of the worker. The run ends when the root ends.
 */
#ifndef FILCH_SIM_EXACT_H
#define FILCH_SIM_EXACT_H

#include "sim/forktree.h"

enum { EXACT_WORKERS_MOST = 1 << 20 };

struct exact_result {
    sim_time makespan;
    uint64_t steals, failures; /* probes that took a node, that did not */
    uint64_t tasks;            /* nodes of the tree                     */
    uint64_t events;           /* that the engine processed             */
};

/* Runs the tree on 1 .. EXACT_WORKERS_MOST workers. costs->failed is at least 1. 0, or -EINVAL (something out
 * of range, a time above SIM_TIME_MAX) or -ENOMEM with a message; then *result is not written. */
int exact_run(const struct forktree *t, const struct forktree_costs *costs, uint32_t workers, uint64_t seed,
              struct exact_result *result, char *message, size_t size);

/* The same with sums made before, for many runs of one tree with the same costs; on any number of threads. */
int exact_run_sums(const struct forktree *t, const struct forktree_sums *sums, uint32_t workers,
                   uint64_t seed, struct exact_result *result, char *message, size_t size);

#endif
