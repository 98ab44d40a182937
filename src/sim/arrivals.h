/* arrivals.h: when tasks are submitted, and to which worker.
 *
 * Durations, gaps and placements are functions of the load's seed and of the number of the task: two policies
 * see the same tasks, whatever they do with them. */
#ifndef FILCH_SIM_ARRIVALS_H
#define FILCH_SIM_ARRIVALS_H

#include "sim/clock.h"
#include "sim/dist.h"

#include <stdbool.h>
#include <stdint.h>

#define SIM_RANDOM (-1)      /* a random worker          */
#define SIM_GLOBAL (-2)      /* the pool's queue         */
#define SIM_ROUND_ROBIN (-3) /* one worker after another */

struct sim_burst {
    sim_time at;
    int32_t worker;
    uint32_t tasks;
};

enum sim_arrivals_kind {
    SIM_ARRIVE_AT_START, /* `count` tasks before the run begins                                    */
    SIM_ARRIVE_GAPS,     /* one after each gap; the first at 0 if `first_now`                      */
    SIM_ARRIVE_ON_OFF,   /* the same, but only in the first `on` of each `on` + `off`              */
    SIM_ARRIVE_BURSTS,   /* `burst`, in order of time; those at 0 before the run begins            */
    SIM_ARRIVE_LIST,     /* as the task file says                                                  */
    SIM_ARRIVE_ROOT,     /* the root of a tree, in the queue of worker 0                           */
};

struct sim_arrivals {
    enum sim_arrivals_kind kind;
    uint64_t count;
    struct dist gap;
    bool first_now;
    sim_time on, off;
    const struct sim_burst *burst;
    uint32_t bursts;
    int32_t worker;              /* or SIM_RANDOM, SIM_GLOBAL, SIM_ROUND_ROBIN */
};

#endif
