/* setup.h: a run as text: pairs key=value, from which configuration and load are made.
 *
 * A scenario is a list of pairs; a user's pairs replace those of the same key. All pairs printed in order
 * are everything that a run depends on: with them it can be repeated. setup_keys() lists what there is. */
#ifndef FILCH_SIM_SETUP_H
#define FILCH_SIM_SETUP_H

#include "sim/simulate.h"

enum { SETUP_VALUE = 512, SETUP_BURSTS = 64 };

enum setup_key {
    SETUP_LOAD, SETUP_TASKS, SETUP_ARRIVE, SETUP_GAP, SETUP_FIRST, SETUP_ON, SETUP_OFF, SETUP_BURST,
    SETUP_PLACE, SETUP_DURATION, SETUP_SPAWN, SETUP_CHILDREN, SETUP_CHILD, SETUP_INLINE, SETUP_TREE,
    SETUP_LEAF, SETUP_BEFORE, SETUP_AFTER, SETUP_LENGTHS, SETUP_LIST,
    SETUP_WORKERS, SETUP_GROUP, SETUP_SPEEDS, SETUP_VICTIM, SETUP_STEAL, SETUP_ENDS, SETUP_WAKE, SETUP_IDLE,
    SETUP_JOIN, SETUP_QUEUE, SETUP_RUN_NEXT, SETUP_SPIN, SETUP_ATTEMPTS, SETUP_CYCLE_ATTEMPTS, SETUP_WAIT,
    SETUP_BACKOFF, SETUP_BACKOFF_FACTOR, SETUP_BACKOFF_JITTER, SETUP_GLOBAL_EVERY, SETUP_RING, SETUP_NEAR,
    SETUP_EXEC, SETUP_SPAWN_COST, SETUP_POP, SETUP_JOIN_COST, SETUP_PROBE, SETUP_FAILED, SETUP_STEAL_NEAR,
    SETUP_STEAL_FAR, SETUP_WAKE_COST, SETUP_MIGRATE, SETUP_LOCK,
    SETUP_COLLISIONS, SETUP_OWN_END, SETUP_UNTIL, SETUP_LOOK, SETUP_SKIP, SETUP_EVENTS, SETUP_SEED,
    SETUP_KEYS
};

struct setup_key_help {
    const char *name, *standard, *help; /* `standard` is the value if none is given */
};

struct setup {
    char value[SETUP_KEYS][SETUP_VALUE];
    uint64_t given; /* bits: the user's own, see setup_parse */
};

/* What a setup describes, ready to run. It refers to itself: not to be copied. */
struct setup_run {
    struct sim_config config;
    struct sim_load load;
    struct forktree tree;
    struct task_list list;
    struct dist leaf;
    struct sim_burst burst[SETUP_BURSTS];
    uint32_t *speed;
};

/* Every key at its standard value. */
void setup_init(struct setup *s);

/* Pairs, separated by blanks. 0, or -EINVAL with a message that names the pair: setup unchanged. `user`: the
 * pairs count as given. */
int setup_parse(struct setup *s, const char *pairs, bool user, char *message, size_t size);
/* One pair. */
int setup_set(struct setup *s, const char *key, const char *value, bool user, char *message, size_t size);

enum setup_key setup_key_named(const char *name); /* SETUP_KEYS: none */
const struct setup_key_help *setup_key_help(enum setup_key key);
static inline bool setup_given(const struct setup *s, enum setup_key key)
{
    return s->given >> key & 1;
}

/* 0, or -EINVAL, -ENOMEM with a message that says which pair is wrong. */
int setup_make(struct setup_run *run, const struct setup *s, char *message, size_t size);
void setup_free(struct setup_run *run);

/* For replication `i`: other seeds of workers and of load, the same for all policies. */
void setup_replication(const struct setup_run *run, uint64_t i, struct sim_config *config,
                       struct sim_load *load);

#endif
