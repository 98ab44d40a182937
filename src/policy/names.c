#include "policy/names.h"

#include <filch.h>
#include <string.h>

static const struct {
    const char *name;
    int where;
} keys[POLICY_KEYS] = {
    [POLICY_VICTIM] = {"victim", POLICY_BOTH},
    [POLICY_STEAL] = {"steal", POLICY_BOTH},
    [POLICY_ENDS] = {"ends", POLICY_BOTH},
    [POLICY_WAKE] = {"wake", POLICY_BOTH},
    [POLICY_IDLE] = {"idle", POLICY_BOTH},
    [POLICY_JOIN] = {"join", POLICY_BOTH},
    [POLICY_QUEUE] = {"queue", POLICY_BOTH},
    [POLICY_RUN_NEXT] = {"run_next", POLICY_BOTH},
    [POLICY_SPIN] = {"spin", POLICY_BOTH},
    [POLICY_ATTEMPTS] = {"attempts", POLICY_BOTH},
    [POLICY_CYCLE_ATTEMPTS] = {"cycle_attempts", POLICY_BOTH},
    [POLICY_BACKOFF_US] = {"backoff_us", POLICY_BOTH},
    [POLICY_BACKOFF_FACTOR] = {"backoff_factor", POLICY_BOTH},
    [POLICY_BACKOFF_JITTER] = {"backoff_jitter", POLICY_BOTH},
    [POLICY_GLOBAL_EVERY] = {"global_every", POLICY_BOTH},
    [POLICY_RING] = {"ring", POLICY_BOTH},
    [POLICY_SPARES] = {"spares", POLICY_RUNTIME},
    [POLICY_NEAR] = {"near", POLICY_SIM},
};

static const struct policy_word words[] = {
    {POLICY_VICTIM, POLICY_BOTH, "random", FILCH_VICTIM_RANDOM, "all others, from a random one on"},
    {POLICY_VICTIM, POLICY_BOTH, "one", FILCH_VICTIM_ONE, "a single random one per search"},
    {POLICY_VICTIM, POLICY_BOTH, "order", FILCH_VICTIM_ORDER, "all others, from index 0 on"},
    {POLICY_VICTIM, POLICY_BOTH, "largest", FILCH_VICTIM_LARGEST, "all others, the longest queue first"},
    {POLICY_VICTIM, POLICY_BOTH, "shuffle", FILCH_VICTIM_SHUFFLE, "all others, in random order"},
    {POLICY_VICTIM, POLICY_BOTH, "two", FILCH_VICTIM_TWO, "the longer queue of two random ones"},
    {POLICY_VICTIM, POLICY_BOTH, "last", FILCH_VICTIM_LAST, "the last success first, then as random"},
    {POLICY_STEAL, POLICY_BOTH, "half", FILCH_STEAL_HALF, "ceil(n/2)"},
    {POLICY_STEAL, POLICY_BOTH, "one", FILCH_STEAL_ONE, "one"},
    {POLICY_STEAL, POLICY_BOTH, "quarter", FILCH_STEAL_QUARTER, "ceil(n/4)"},
    {POLICY_STEAL, POLICY_BOTH, "three", FILCH_STEAL_THREE, "ceil(3n/4)"},
    {POLICY_STEAL, POLICY_BOTH, "all", FILCH_STEAL_ALL, "all"},
    {POLICY_STEAL, POLICY_BOTH, "floor", FILCH_STEAL_FLOOR, "floor(n/2): never a single one"},
    {POLICY_ENDS, POLICY_BOTH, "fifo", FILCH_ENDS_FIFO, "both take the oldest"},
    {POLICY_ENDS, POLICY_BOTH, "lifo", FILCH_ENDS_LIFO, "owner the newest, thief the oldest"},
    {POLICY_ENDS, POLICY_BOTH, "reverse", FILCH_ENDS_REVERSE, "owner the oldest, thief the newest"},
    {POLICY_WAKE, POLICY_BOTH, "one", FILCH_WAKE_ONE, "the first parked worker, if none searches"},
    {POLICY_WAKE, POLICY_BOTH, "all", FILCH_WAKE_ALL, "every parked worker"},
    {POLICY_WAKE, POLICY_BOTH, "none", FILCH_WAKE_NONE, "none: parked workers look again by themselves"},
    {POLICY_WAKE, POLICY_BOTH, "random", FILCH_WAKE_RANDOM, "a random parked worker, if none searches"},
    {POLICY_WAKE, POLICY_SIM, "target", POLICY_WAKE_TARGET, "the worker that has the task in its queue"},
    {POLICY_IDLE, POLICY_BOTH, "park", FILCH_IDLE_PARK, "search, then sleep"},
    {POLICY_IDLE, POLICY_BOTH, "yield", FILCH_IDLE_YIELD, "look again at once"},
    {POLICY_IDLE, POLICY_BOTH, "sleep", FILCH_IDLE_SLEEP, "sleep for a fixed time and look again"},
    {POLICY_IDLE, POLICY_BOTH, "backoff", FILCH_IDLE_BACKOFF, "sleep for a growing time, look again"},
    {POLICY_JOIN, POLICY_BOTH, "suspend", FILCH_JOIN_SUSPEND, "the parent is suspended; its worker goes on"},
    {POLICY_JOIN, POLICY_BOTH, "help", FILCH_JOIN_HELP, "the worker runs others on top of the parent"},
    {POLICY_JOIN, POLICY_SIM, "block", POLICY_JOIN_BLOCK, "the worker waits with the parent"},
    {POLICY_QUEUE, POLICY_RUNTIME, "ring", FILCH_QUEUE_RING, "a lock-free ring per worker"},
    {POLICY_QUEUE, POLICY_SIM, "deque", POLICY_QUEUE_DEQUE, "a lock-free deque per worker"},
    {POLICY_QUEUE, POLICY_BOTH, "shared", FILCH_QUEUE_SHARED, "one locked queue for all"},
    {POLICY_QUEUE, POLICY_BOTH, "private", FILCH_QUEUE_PRIVATE, "a queue per worker, no stealing"},
    {POLICY_QUEUE, POLICY_BOTH, "locked", FILCH_QUEUE_LOCKED, "locked deques, thieves wait for the lock"},
    {POLICY_QUEUE, POLICY_BOTH, "trylock", FILCH_QUEUE_TRYLOCK, "locked deques, thieves skip a locked one"},
    {POLICY_RUN_NEXT, POLICY_BOTH, "on", FILCH_RUN_NEXT_ON, "the newest task runs before the queue"},
    {POLICY_RUN_NEXT, POLICY_BOTH, "off", FILCH_RUN_NEXT_OFF, "every task goes through the queue"},
};

#define COUNT (sizeof words / sizeof *words)

enum policy_key policy_key_named(const char *name, int where)
{
    for (int k = 0; k < POLICY_KEYS; k++)
        if ((keys[k].where & where) && strcmp(keys[k].name, name) == 0)
            return (enum policy_key)k;
    return POLICY_KEYS;
}

const char *policy_key_name(enum policy_key key)
{
    return key < POLICY_KEYS ? keys[key].name : "";
}

const struct policy_word *policy_word_named(enum policy_key key, const char *value, int where)
{
    for (size_t i = 0; i < COUNT; i++)
        if (words[i].key == key && (words[i].where & where) && strcmp(words[i].value, value) == 0)
            return &words[i];
    return NULL;
}

const struct policy_word *policy_word_numbered(enum policy_key key, int number, int where)
{
    for (size_t i = 0; i < COUNT; i++)
        if (words[i].key == key && (words[i].where & where) && words[i].number == number)
            return &words[i];
    return NULL;
}

const struct policy_word *policy_words(size_t *n)
{
    *n = COUNT;
    return words;
}
