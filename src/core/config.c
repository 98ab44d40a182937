#include "core/config.h"
#include "core/report.h"
#include "os/os.h"
#include "policy/choice.h"
#include "policy/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STACK_MIN ((size_t)16 << 10)
#define STACK_DEFAULT ((size_t)8 << 20)
#define TASK_STACK_DEFAULT ((size_t)64 << 10)
#define STACK_MAX ((size_t)16 << 30)
#define US 1000
#define FACTOR_MAX 16
#define GLOBAL_EVERY_MAX 1000000
#define GLOBAL_EVERY_DEFAULT 61

int config_number(const char *text, long low, long high, long *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return 0; /* no blanks, no sign */
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || n < low || n > high)
        return 0;
    *out = n;
    return 1;
}

/* ---- policy strings ----------------------------------------------------------------------- */

static int set_word(filch_config *c, enum policy_key key, const char *value)
{
    const struct policy_word *word = policy_word_named(key, value, POLICY_RUNTIME);
    if (!word)
        return 0;
    switch (key) {
    case POLICY_VICTIM: c->victim = (enum filch_victim)word->number; break;
    case POLICY_STEAL: c->steal = (enum filch_steal)word->number; break;
    case POLICY_ENDS: c->ends = (enum filch_ends)word->number; break;
    case POLICY_WAKE: c->wake = (enum filch_wake)word->number; break;
    case POLICY_IDLE: c->idle = (enum filch_idle)word->number; break;
    case POLICY_JOIN: c->join = (enum filch_join_policy)word->number; break;
    case POLICY_QUEUE: c->queue = (enum filch_queue)word->number; break;
    case POLICY_RUN_NEXT: c->run_next = (enum filch_run_next)word->number; break;
    default: return 0;
    }
    return 1;
}

/* "50..1000", microseconds. */
static int set_backoff(filch_config *c, const char *value)
{
    char low_text[16];
    const char *dots = strstr(value, "..");
    size_t length = dots ? (size_t)(dots - value) : sizeof low_text;
    long low, high;
    if (length >= sizeof low_text)
        return 0;
    memcpy(low_text, value, length);
    low_text[length] = '\0';
    if (!config_number(low_text, 1, 10000, &low) || !config_number(dots + 2, 1000, 10000, &high) ||
        low > high)
        return 0;
    c->backoff_min_ns = (int64_t)low * US;
    c->backoff_max_ns = (int64_t)high * US;
    return 1;
}

/* Keys whose value is a number, and what is accepted. */
static const struct {
    long low, high;
    const char *expected;
} ranges[POLICY_KEYS] = {
    [POLICY_SPIN] = {1, 1000000, "1 to 1000000"},
    [POLICY_ATTEMPTS] = {1, FILCH_MAX_WORKERS, "1 to 1024"},
    [POLICY_CYCLE_ATTEMPTS] = {1, 1000000000, "1 to 1000000000"},
    [POLICY_BACKOFF_US] = {0, 0, "A..B, A 1 to 10000, B 1000 to 10000 and not below A"},
    [POLICY_BACKOFF_FACTOR] = {1, FACTOR_MAX, "1 to 16"},
    [POLICY_BACKOFF_JITTER] = {0, 100, "0 to 100"},
    [POLICY_GLOBAL_EVERY] = {1, GLOBAL_EVERY_MAX, "1 to 1000000"},
    [POLICY_RING] = {2, 65536, "a power of two, 2 to 65536"},
    [POLICY_SPARES] = {0, FILCH_MAX_WORKERS / 2, "0 to 512"},
};

static int set_number(filch_config *c, enum policy_key key, const char *value)
{
    long n;
    if (!config_number(value, ranges[key].low, ranges[key].high, &n))
        return 0;
    switch (key) {
    case POLICY_SPIN: c->spin_rounds = (unsigned)n; break;
    case POLICY_ATTEMPTS: c->steal_attempts = (unsigned)n; break;
    case POLICY_CYCLE_ATTEMPTS: c->cycle_attempts = (unsigned)n; break;
    case POLICY_BACKOFF_FACTOR: c->backoff_factor = (unsigned)n; break;
    case POLICY_BACKOFF_JITTER: c->backoff_jitter = (unsigned)n; break;
    case POLICY_GLOBAL_EVERY: c->global_every = (unsigned)n; break;
    case POLICY_SPARES: c->stand_ins = (size_t)n; break;
    case POLICY_RING:
        if ((n & (n - 1)) != 0)
            return 0;
        c->ring_capacity = (unsigned)n;
        break;
    default: return 0;
    }
    return 1;
}

static int set_pair(filch_config *c, enum policy_key key, const char *value)
{
    if (key < POLICY_WORDS)
        return set_word(c, key, value);
    return key == POLICY_BACKOFF_US ? set_backoff(c, value) : set_number(c, key, value);
}

/* ---- messages ----------------------------------------------------------------------------- */

/* As much as fits; hostile bytes do not reach the terminal. */
struct message {
    char *text;
    size_t size, used;
};

static void add(struct message *m, const char *text, size_t most)
{
    for (size_t i = 0; i < most && text[i] && m->used + 1 < m->size; i++)
        m->text[m->used++] = (unsigned char)text[i] < ' ' || (unsigned char)text[i] > '~' ? '?' : text[i];
    if (m->size > 0)
        m->text[m->used] = '\0';
}

static void add_keys(struct message *m)
{
    add(m, "no such key; there are", SIZE_MAX);
    for (int k = 0; k < POLICY_KEYS; k++) {
        const char *name = policy_key_name((enum policy_key)k);
        if (policy_key_named(name, POLICY_RUNTIME) == POLICY_KEYS)
            continue;
        add(m, " ", 1);
        add(m, name, SIZE_MAX);
    }
}

static void add_values(struct message *m, enum policy_key key)
{
    size_t n;
    const struct policy_word *words = policy_words(&n);
    add(m, policy_key_name(key), SIZE_MAX);
    add(m, key < POLICY_WORDS ? " is one of" : " is ", SIZE_MAX);
    for (size_t i = 0; i < n && key < POLICY_WORDS; i++) {
        if (words[i].key != key || !(words[i].where & POLICY_RUNTIME))
            continue;
        add(m, " ", 1);
        add(m, words[i].value, SIZE_MAX);
    }
    if (key >= POLICY_WORDS)
        add(m, ranges[key].expected, SIZE_MAX);
}

static struct message begin_message(char *text, size_t size, const char *pair)
{
    struct message m = {text, text ? size : 0, 0};
    size_t length = strcspn(pair, ",");
    add(&m, "\"", 1);
    add(&m, pair, length < 40 ? length : 40);
    add(&m, "\": ", SIZE_MAX);
    return m;
}

static int complain(char *text, size_t size, const char *pair, const char *why)
{
    struct message m = begin_message(text, size, pair);
    add(&m, why, SIZE_MAX);
    return -EINVAL;
}

static int complain_of_pair(char *text, size_t size, const char *pair, enum policy_key key)
{
    struct message m = begin_message(text, size, pair);
    if (key == POLICY_KEYS)
        add_keys(&m);
    else
        add_values(&m, key);
    return -EINVAL;
}

/* An older caller's structure is shorter; none ends in the middle of a field. */
static int size_known(size_t size)
{
    return size >= sizeof(size_t) && size <= sizeof(filch_config) && size % sizeof(size_t) == 0;
}

int filch_config_parse(filch_config *config, const char *policy, char *message, size_t size)
{
    char text[512];
    if (!config || !policy)
        report_misuse("filch_config_parse", "null argument");
    if (!size_known(config->size))
        return complain(message, size, "size", "not that of a filch_config; use FILCH_CONFIG_INIT");
    filch_config c = FILCH_CONFIG_INIT;
    memcpy(&c, config, config->size);
    if (strlen(policy) >= sizeof text)
        return complain(message, size, policy, "too long");
    memcpy(text, policy, strlen(policy) + 1);
    char *next = text;
    while (next && *next) {
        char *pair = next;
        next = strchr(pair, ',');
        if (next)
            *next++ = '\0';
        char *value = strchr(pair, '=');
        if (value)
            *value++ = '\0';
        enum policy_key key = policy_key_named(pair, POLICY_RUNTIME);
        if (key == POLICY_KEYS || !value || !set_pair(&c, key, value))
            return complain_of_pair(message, size, policy + (pair - text), key);
    }
    memcpy(config, &c, config->size);
    return 0;
}

/* ---- environment and defaults ------------------------------------------------------------- */

static void milliseconds(const char *name, int64_t *ns, uint32_t *said)
{
    const char *text = os_getenv(name);
    long n;
    if (text && config_number(text, 0, 3600000, &n))
        *ns = (int64_t)n * 1000 * US;
    else if (text)
        report_once(said, "filch: %s is not a number from 0 to 3600000; ignored", name);
}

static void from_environment(filch_config *c)
{
    static uint32_t said[4]; /* each is said for the first pool only */
    const char *workers = os_getenv("FILCH_WORKERS");
    long n;
    if (workers && config_number(workers, 1, FILCH_MAX_WORKERS, &n))
        c->workers = (int)n;
    else if (workers)
        report_once(&said[0], "filch: FILCH_WORKERS is not a number from 1 to %d; using the default",
                       FILCH_MAX_WORKERS);
    milliseconds("FILCH_HOG_MS", &c->hog_ns, &said[1]);
    milliseconds("FILCH_SCHEDTRACE", &c->schedtrace_ns, &said[2]);
    const char *policy = os_getenv("FILCH_POLICY");
    char message[256];
    if (policy && filch_config_parse(c, policy, message, sizeof message) != 0)
        report_once(&said[3], "filch: FILCH_POLICY ignored: %s", message);
}

static int known(enum policy_key key, int number)
{
    return policy_word_numbered(key, number, POLICY_RUNTIME) != NULL;
}

static int in_range(const filch_config *c)
{
    unsigned r = c->ring_capacity;
    return c->workers >= 0 && c->workers <= FILCH_MAX_WORKERS &&
           (c->stack_size == 0 || (c->stack_size >= STACK_MIN && c->stack_size <= STACK_MAX)) &&
           (c->task_stack_size == 0 ||
            (c->task_stack_size >= STACK_MIN && c->task_stack_size <= STACK_MAX)) &&
           known(POLICY_VICTIM, (int)c->victim) && known(POLICY_STEAL, (int)c->steal) &&
           (c->ends == FILCH_ENDS_DEFAULT || known(POLICY_ENDS, (int)c->ends)) &&
           known(POLICY_WAKE, (int)c->wake) && known(POLICY_IDLE, (int)c->idle) &&
           known(POLICY_JOIN, (int)c->join) && known(POLICY_QUEUE, (int)c->queue) &&
           known(POLICY_RUN_NEXT, (int)c->run_next) &&
           c->backoff_factor <= FACTOR_MAX && c->backoff_jitter <= 100 &&
           c->global_every <= GLOBAL_EVERY_MAX &&
           (r == 0 || (r >= 2 && r <= 65536 && (r & (r - 1)) == 0)) && c->backoff_min_ns >= 0 &&
           c->backoff_max_ns >= 0 && c->hog_ns >= 0 && c->schedtrace_ns >= 0 &&
           c->stand_ins <= FILCH_MAX_WORKERS / 2 && c->max_workers >= 0 &&
           c->max_workers <= FILCH_MAX_WORKERS;
}

static int64_t clamp(int64_t n, int64_t low, int64_t high)
{
    return n < low ? low : n > high ? high : n;
}

static void defaults(filch_config *c)
{
    if (c->workers == 0)
        c->workers = os_cpu_count() < FILCH_MAX_WORKERS ? os_cpu_count() : FILCH_MAX_WORKERS;
    if (c->max_workers > 0 && c->max_workers < c->workers)
        c->max_workers = c->workers;
    int most = c->max_workers > 0 ? c->max_workers : c->workers;
    if (c->stand_ins > (size_t)(FILCH_MAX_WORKERS - most))
        c->stand_ins = (size_t)(FILCH_MAX_WORKERS - most);
    if (c->stack_size == 0)
        c->stack_size = STACK_DEFAULT;
    if (c->task_stack_size == 0)
        c->task_stack_size = TASK_STACK_DEFAULT;
    if (c->ring_capacity == 0)
        c->ring_capacity = 256;
    if (c->spin_rounds == 0)
        c->spin_rounds = 64;
    if (c->steal_attempts == 0)
        c->steal_attempts = FILCH_MAX_WORKERS;
    if (c->backoff_min_ns == 0)
        c->backoff_min_ns = 50 * US;
    if (c->backoff_max_ns == 0)
        c->backoff_max_ns = 1000 * US;
    if (c->hog_ns > 0)
        c->hog_ns = clamp(c->hog_ns, 1000 * US, INT64_MAX / 2);
    if (c->schedtrace_ns > 0)
        c->schedtrace_ns = clamp(c->schedtrace_ns, 1000 * US, INT64_MAX / 2);
    c->backoff_max_ns = clamp(c->backoff_max_ns, 1000 * US, 10000 * US);
    c->backoff_min_ns = clamp(c->backoff_min_ns, US, c->backoff_max_ns);
    if (c->backoff_factor == 0)
        c->backoff_factor = 2;
    if (c->global_every == 0)
        c->global_every = GLOBAL_EVERY_DEFAULT;
    c->ends = choice_ends(c->ends, (int)c->queue);
    if (c->ends == FILCH_ENDS_REVERSE && c->queue == FILCH_QUEUE_RING)
        c->queue = FILCH_QUEUE_TRYLOCK; /* the thief's newest end exists on locked queues only */
}

int config_resolve(filch_config *out, const filch_config *given)
{
    *out = (filch_config)FILCH_CONFIG_INIT;
    if (given) {
        if (!size_known(given->size))
            return -EINVAL;
        memcpy(out, given, given->size);
        out->size = sizeof *out;
    }
    if (!in_range(out))
        return -EINVAL;
    if (!out->no_environment)
        from_environment(out);
    defaults(out);
    return 0;
}
