/* paths.h: what the programs of scripts/paths.sh share.
 *
 *     PROGRAM                   the cases, a line each
 *     PROGRAM CASE              runs a case and prints how many operations were counted
 *     PROGRAM all               runs all of them, counted or not
 *
 * Under callgrind a case writes a dump before the counted rounds, one after them, and one after twice as
 * many. The last less the second is what the rounds cost, without what begins and ends them.
 *
 * What is counted repeats exactly. A case runs on one worker's thread, and no other thread does anything
 * meanwhile: the pool has that worker alone, or more, each of the others kept by a job that blocks its thread
 * (then the worker takes the steps that are needed where there may be thieves). The seed and the ticks of the
 * processor are replaced at link time (paths.c). */
#ifndef FILCH_TESTS_PATHS_H
#define FILCH_TESTS_PATHS_H

#include <filch.h>

struct paths_case {
    const char *name;
    int workers;
    long rounds;               /* that are counted */
    long per_round;            /* operations of a round */
    int (*round)(void);        /* returns 0, or what is wrong */
};

/* So much time passes by the clock that loops measure their pieces with (os_ticks). */
void paths_pass(uint64_t ns);

/* Runs what the command line asks for; returns the exit status of the program. */
int paths_main(int argc, char **argv, const struct paths_case *cases, int n);

#endif
