#include "core/config.h"
#include "core/report.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_MIN ((size_t)16 << 10)
#define STACK_DEFAULT ((size_t)8 << 20)
#define TASK_STACK_DEFAULT ((size_t)64 << 10)
#define STACK_MAX ((size_t)16 << 30)
#define US 1000

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

struct word {
    const char *key, *value;
    int number;
};

/* One row per word of FILCH_POLICY. The values are those of the enumerations in filch.h. */
static const struct word words[] = {
    {"victim", "random", FILCH_VICTIM_RANDOM},   {"victim", "one", FILCH_VICTIM_ONE},
    {"victim", "order", FILCH_VICTIM_ORDER},     {"victim", "largest", FILCH_VICTIM_LARGEST},
    {"steal", "half", FILCH_STEAL_HALF},         {"steal", "one", FILCH_STEAL_ONE},
    {"steal", "quarter", FILCH_STEAL_QUARTER},   {"steal", "three", FILCH_STEAL_THREE},
    {"steal", "all", FILCH_STEAL_ALL},           {"steal", "floor", FILCH_STEAL_FLOOR},
    {"ends", "fifo", FILCH_ENDS_FIFO},           {"ends", "lifo", FILCH_ENDS_LIFO},
    {"ends", "reverse", FILCH_ENDS_REVERSE},     {"wake", "one", FILCH_WAKE_ONE},
    {"wake", "all", FILCH_WAKE_ALL},             {"wake", "none", FILCH_WAKE_NONE},
    {"idle", "park", FILCH_IDLE_PARK},           {"idle", "yield", FILCH_IDLE_YIELD},
    {"idle", "sleep", FILCH_IDLE_SLEEP},         {"idle", "backoff", FILCH_IDLE_BACKOFF},
    {"join", "suspend", FILCH_JOIN_SUSPEND},     {"join", "help", FILCH_JOIN_HELP},
    {"queue", "ring", FILCH_QUEUE_RING},         {"queue", "shared", FILCH_QUEUE_SHARED},
    {"queue", "private", FILCH_QUEUE_PRIVATE},   {"queue", "locked", FILCH_QUEUE_LOCKED},
    {"queue", "trylock", FILCH_QUEUE_TRYLOCK},
};

static void set_word(filch_config *c, const char *key, int n)
{
    switch (key[0]) {
    case 'v': c->victim = (enum filch_victim)n; break;
    case 's': c->steal = (enum filch_steal)n; break;
    case 'e': c->ends = (enum filch_ends)n; break;
    case 'w': c->wake = (enum filch_wake)n; break;
    case 'i': c->idle = (enum filch_idle)n; break;
    case 'j': c->join = (enum filch_join_policy)n; break;
    default: c->queue = (enum filch_queue)n; break;
    }
}

/* "50..1000", microseconds. */
static int set_backoff(filch_config *c, char *value)
{
    char *dots = strstr(value, "..");
    long low, high;
    if (!dots)
        return 0;
    *dots = '\0';
    if (!config_number(value, 1, 10000, &low) || !config_number(dots + 2, 1000, 10000, &high) ||
        low > high)
        return 0;
    c->backoff_min_ns = (int64_t)low * US;
    c->backoff_max_ns = (int64_t)high * US;
    return 1;
}

static int set_number(filch_config *c, const char *key, char *value)
{
    long n;
    if (strcmp(key, "backoff_us") == 0)
        return set_backoff(c, value);
    if (strcmp(key, "spin") == 0 && config_number(value, 1, 1000000, &n)) {
        c->spin_rounds = (unsigned)n;
        return 1;
    }
    if (strcmp(key, "attempts") == 0 && config_number(value, 1, FILCH_MAX_WORKERS, &n)) {
        c->steal_attempts = (unsigned)n;
        return 1;
    }
    if (strcmp(key, "standins") == 0 && config_number(value, 0, FILCH_MAX_WORKERS / 2, &n)) {
        c->stand_ins = (size_t)n;
        return 1;
    }
    if (strcmp(key, "ring") == 0 && config_number(value, 2, 65536, &n) && (n & (n - 1)) == 0) {
        c->ring_capacity = (unsigned)n;
        return 1;
    }
    return 0;
}

static int set_pair(filch_config *c, const char *key, char *value)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].key, key) == 0 && strcmp(words[i].value, value) == 0) {
            set_word(c, key, words[i].number);
            return 1;
        }
    }
    return set_number(c, key, value);
}

static void complain(char *message, size_t size, const char *pair, const char *why)
{
    if (!message || size == 0)
        return;
    size_t length = strcspn(pair, ",");
    int shown = length < 40 ? (int)length : 40;
    int n = snprintf(message, size, "\"%.*s\": %s", shown, pair, why);
    for (int i = 0; i < n && (size_t)i < size && message[i]; i++) {
        if ((unsigned char)message[i] < ' ' || (unsigned char)message[i] > '~')
            message[i] = '?'; /* hostile bytes do not reach the terminal */
    }
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
    if (!size_known(config->size)) {
        complain(message, size, "size", "not that of a filch_config; use FILCH_CONFIG_INIT");
        return -EINVAL;
    }
    filch_config c = FILCH_CONFIG_INIT;
    memcpy(&c, config, config->size);
    if (strlen(policy) >= sizeof text) {
        complain(message, size, policy, "too long");
        return -EINVAL;
    }
    memcpy(text, policy, strlen(policy) + 1);
    char *next = text;
    while (next && *next) {
        char *pair = next;
        const char *whole = policy + (pair - text);
        next = strchr(pair, ',');
        if (next)
            *next++ = '\0';
        char *value = strchr(pair, '=');
        if (value)
            *value++ = '\0';
        if (!value || !set_pair(&c, pair, value)) {
            complain(message, size, whole, "no such setting or value; see filch_config_parse");
            return -EINVAL;
        }
    }
    memcpy(config, &c, config->size);
    return 0;
}

/* ---- environment and defaults ------------------------------------------------------------- */

static void milliseconds(const char *name, int64_t *ns)
{
    const char *text = os_getenv(name);
    long n;
    if (text && config_number(text, 0, 3600000, &n))
        *ns = (int64_t)n * 1000 * US;
    else if (text)
        report_warning("filch: %s is not a number from 0 to 3600000; ignored", name);
}

static void from_environment(filch_config *c)
{
    const char *workers = os_getenv("FILCH_WORKERS");
    long n;
    if (workers && config_number(workers, 1, FILCH_MAX_WORKERS, &n))
        c->workers = (int)n;
    else if (workers)
        report_warning("filch: FILCH_WORKERS is not a number from 1 to %d; using the default",
                       FILCH_MAX_WORKERS);
    milliseconds("FILCH_HOG_MS", &c->hog_ns);
    milliseconds("FILCH_SCHEDTRACE", &c->schedtrace_ns);
    const char *policy = os_getenv("FILCH_POLICY");
    char message[160];
    if (policy && filch_config_parse(c, policy, message, sizeof message) != 0)
        report_warning("filch: FILCH_POLICY ignored: %s", message);
}

static int in_range(const filch_config *c)
{
    unsigned r = c->ring_capacity;
    return c->workers >= 0 && c->workers <= FILCH_MAX_WORKERS &&
           (c->stack_size == 0 || (c->stack_size >= STACK_MIN && c->stack_size <= STACK_MAX)) &&
           (c->task_stack_size == 0 ||
            (c->task_stack_size >= STACK_MIN && c->task_stack_size <= STACK_MAX)) &&
           (unsigned)c->victim <= FILCH_VICTIM_LARGEST && (unsigned)c->steal <= FILCH_STEAL_FLOOR &&
           (unsigned)c->ends <= FILCH_ENDS_REVERSE && (unsigned)c->wake <= FILCH_WAKE_NONE &&
           (unsigned)c->idle <= FILCH_IDLE_BACKOFF && (unsigned)c->join <= FILCH_JOIN_HELP &&
           (unsigned)c->queue <= FILCH_QUEUE_TRYLOCK &&
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
    if (c->ends == FILCH_ENDS_DEFAULT)
        c->ends = FILCH_ENDS_FIFO;
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
