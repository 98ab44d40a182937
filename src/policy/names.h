/* names.h: the words of policies, in FILCH_POLICY, in `filch sim` and in what both print.
 *
 * One row per word. The runtime takes the words marked POLICY_RUNTIME, the simulator those marked POLICY_SIM.
 * A key is a word (`victim=random`) or a number (`attempts=4`); the range of a number is the caller's.
 */
#ifndef FILCH_POLICY_NAMES_H
#define FILCH_POLICY_NAMES_H

#include <stddef.h>

enum policy_key {
    POLICY_VICTIM, POLICY_STEAL, POLICY_ENDS, POLICY_WAKE, POLICY_IDLE, POLICY_JOIN, POLICY_QUEUE,
    POLICY_RUN_NEXT,
    POLICY_WORDS, /* number of the keys above, whose values are words */
    POLICY_SPIN = POLICY_WORDS, POLICY_ATTEMPTS, POLICY_CYCLE_ATTEMPTS, POLICY_BACKOFF_US,
    POLICY_BACKOFF_FACTOR, POLICY_BACKOFF_JITTER, POLICY_GLOBAL_EVERY, POLICY_RING, POLICY_SPARES,
    POLICY_NEAR,
    POLICY_KEYS /* number of all keys; also: no such key */
};

enum { POLICY_RUNTIME = 1, POLICY_SIM = 2, POLICY_BOTH = 3 };

/* Values that only the simulator has stand behind those of the runtime's enumerations. */
enum { POLICY_WAKE_TARGET = 64, POLICY_JOIN_BLOCK = 64, POLICY_QUEUE_DEQUE = 64 };

struct policy_word {
    enum policy_key key;
    int where;             /* POLICY_RUNTIME, POLICY_SIM or both */
    const char *value;
    int number;            /* of the enumeration in filch.h */
    const char *meaning;   /* for --help */
};

/* The key with this name that `where` (POLICY_RUNTIME or POLICY_SIM) has, or POLICY_KEYS. */
enum policy_key policy_key_named(const char *name, int where);
const char *policy_key_name(enum policy_key key);

/* The row of a word, or null. */
const struct policy_word *policy_word_named(enum policy_key key, const char *value, int where);
const struct policy_word *policy_word_numbered(enum policy_key key, int number, int where);

/* All rows, to be listed; `n` is their number. */
const struct policy_word *policy_words(size_t *n);

#endif
