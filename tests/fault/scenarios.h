/* scenarios.h: what the library is made to do while its machine fails. */
#ifndef FILCH_TESTS_SCENARIOS_H
#define FILCH_TESTS_SCENARIOS_H

/* Each does some work and checks that every part of it that was accepted was done exactly once, or
 * that the call said -ENOMEM; and gives back all that it took. A frugal one gets by on the memory
 * that it has when its pool is made: for ever. The others wait until there is some again. */
struct scenario {
    const char *name;
    void (*run)(void);
    int frugal;
};

extern const struct scenario scenarios[];
extern const int scenario_count;

#endif
