#include "sim/setup.h"

#include "base/rng.h"
#include "policy/names.h"
#include "sim/decimal.h"
#include "sim/refuse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By enum setup_key. */
static const struct setup_key_help keys[SETUP_KEYS] = {
    [SETUP_LOAD] = {"load", "plain", "plain, spawning, joining, tree, listed or closed: what tasks do"},
    [SETUP_TASKS] = {"tasks", "10", "how many are submitted (closed: at the start)"},
    [SETUP_ARRIVE] = {"arrive", "start", "start, gaps, onoff or bursts: when they are submitted"},
    [SETUP_GAP] = {"gap", "0.5", "time between two arrivals, a distribution"},
    [SETUP_FIRST] = {"first", "now", "now or later: the first arrival at 0, or after a gap"},
    [SETUP_ON] = {"on", "1", "arrive=onoff: so long there are arrivals, ..."},
    [SETUP_OFF] = {"off", "1", "... and so long there are none"},
    [SETUP_BURST] = {"burst", "0:0:10", "arrive=bursts: TIME:PLACE:TASKS, several separated by commas"},
    [SETUP_PLACE] = {"place", "random", "random, global, roundrobin or a worker's number"},
    [SETUP_DURATION] = {"duration", "1", "of a submitted task, a distribution"},
    [SETUP_SPAWN] = {"spawn", "0.3", "load=spawning, joining: the share of tasks that spawn"},
    [SETUP_CHILDREN] = {"children", "1..3", "how many those spawn"},
    [SETUP_CHILD] = {"child", "0.5", "duration of a child, a distribution"},
    [SETUP_INLINE] = {"inline", "off", "on: the children's work is done by the parent, nothing is spawned"},
    [SETUP_TREE] = {"tree", "fib:20", "fib:N, balanced:ARITY:DEPTH, spine:ARITY:DEPTH, random:NODES,"
                    " uts:BRANCHING:DEPTH, utsbin:BRANCHING:ARITY:CHANCE,"
                    " loop:SIZE:GRAIN:constant|linear|uneven|heavy"},
    [SETUP_LEAF] = {"leaf", "100ns", "load=tree: work of a leaf, of an iteration; a distribution"},
    [SETUP_BEFORE] = {"before", "0ns", "work of an inner node before it forks"},
    [SETUP_AFTER] = {"after", "0ns", "and after its children have ended"},
    [SETUP_LENGTHS] = {"lengths", "-", "random, uts, loop uneven: a distribution for every node's work"},
    [SETUP_LIST] = {"list", "-", "load=listed: the task file"},
    [SETUP_WORKERS] = {"workers", "4", "1 to 65536"},
    [SETUP_GROUP] = {"group", "0", "workers per group; 0: all are one group"},
    [SETUP_SPEEDS] = {"speeds", "-", "of the workers, separated by commas; the last one is repeated"},
    [SETUP_VICTIM] = {"victim", "shuffle", "which queues a search looks at"},
    [SETUP_STEAL] = {"steal", "one", "how much a thief takes; also a fraction, such as 0.3"},
    [SETUP_ENDS] = {"ends", "lifo", "which ends owner and thief take from; - for the queue's own"},
    [SETUP_WAKE] = {"wake", "one", "which parked worker is woken"},
    [SETUP_IDLE] = {"idle", "sleep", "what a worker does that found nothing"},
    [SETUP_JOIN] = {"join", "suspend", "what a parent does that waits for children"},
    [SETUP_QUEUE] = {"queue", "deque", "where tasks wait"},
    [SETUP_RUN_NEXT] = {"run_next", "off", "does the newest spawned task run before the queue"},
    [SETUP_SPIN] = {"spin", "1", "searches in a row before the worker waits"},
    [SETUP_ATTEMPTS] = {"attempts", "all", "victims per search at most"},
    [SETUP_CYCLE_ATTEMPTS] = {"cycle_attempts", "all", "victims at most until the worker waits"},
    [SETUP_WAIT] = {"wait", "0.1", "idle=sleep: how long"},
    [SETUP_BACKOFF] = {"backoff", "0.05..0.5", "first and longest wait of idle=backoff and of wake=none"},
    [SETUP_BACKOFF_FACTOR] = {"backoff_factor", "2", "of a wait to the one before, 1 to 16"},
    [SETUP_BACKOFF_JITTER] = {"backoff_jitter", "0", "percent of each wait that are random"},
    [SETUP_GLOBAL_EVERY] = {"global_every", "0", "so often the pool's queue comes first; 0: never"},
    [SETUP_RING] = {"ring", "0", "longest own queue, half goes to the pool's then; 0: no limit"},
    [SETUP_NEAR] = {"near", "0", "share of searches that look at the own group only"},
    [SETUP_EXEC] = {"exec", "0ns", "cost: per task, before its work"},
    [SETUP_SPAWN_COST] = {"spawn_cost", "0ns", "cost: per task put into a queue by a task"},
    [SETUP_POP] = {"pop", "0ns", "cost: a task is taken from the own queue"},
    [SETUP_JOIN_COST] = {"join_cost", "0ns", "cost: a parent goes on"},
    [SETUP_PROBE] = {"probe", "0ns", "cost: from the choice of a victim to the look at it"},
    [SETUP_FAILED] = {"failed", "0ns", "cost: after a look that found nothing"},
    [SETUP_STEAL_NEAR] = {"steal_near", "0ns", "cost: after a look that took something, same group"},
    [SETUP_STEAL_FAR] = {"steal_far", "0ns", "cost: the same, another group"},
    [SETUP_WAKE_COST] = {"wake_cost", "0ns", "cost: from the wake-up of a worker to its first look"},
    [SETUP_MIGRATE] = {"migrate", "0ns", "cost: a task runs away from where it was queued"},
    [SETUP_LOCK] = {"lock", "0ns", "how long an operation holds a queue's lock, a distribution"},
    [SETUP_COLLISIONS] = {"collisions", "off", "on: accesses to one queue in one instant all fail"},
    [SETUP_OWN_END] = {"own_end", "off", "on: a lock for each end of a queue"},
    [SETUP_UNTIL] = {"until", "never", "the run ends here at the latest"},
    [SETUP_LOOK] = {"look", "never", "an observer looks so often whether all is done"},
    [SETUP_SKIP] = {"skip", "0", "first tasks that are left out of the time in system"},
    [SETUP_EVENTS] = {"events", "2000000000", "a run of more events is given up"},
    [SETUP_SEED] = {"seed", "1", "of everything random"},
};

/* ---- pairs -------------------------------------------------------------------------------- */

enum setup_key setup_key_named(const char *name)
{
    int k = 0;
    while (k < SETUP_KEYS && strcmp(keys[k].name, name) != 0)
        k++;
    return (enum setup_key)k;
}

const struct setup_key_help *setup_key_help(enum setup_key key)
{
    return &keys[key];
}

void setup_init(struct setup *s)
{
    s->given = 0;
    for (int k = 0; k < SETUP_KEYS; k++)
        snprintf(s->value[k], SETUP_VALUE, "%s", keys[k].standard);
}

int setup_set(struct setup *s, const char *key, const char *value, bool user, char *message, size_t size)
{
    enum setup_key k = setup_key_named(key);
    if (k == SETUP_KEYS)
        return sim_refuse(message, size, "there is no setting \"%.40s\"", key);
    if (strlen(value) >= SETUP_VALUE || *value == '\0')
        return sim_refuse(message, size, "%s: the value has 1 to %d characters", key, SETUP_VALUE - 1);
    for (const char *c = value; *c; c++)
        if (*c <= ' ' || *c > '~')
            return sim_refuse(message, size, "%s: the value has a blank or a byte that does not print", key);
    snprintf(s->value[k], SETUP_VALUE, "%s", value);
    if (user)
        s->given |= (uint64_t)1 << k;
    return 0;
}

static int set_pair(struct setup *s, const char *pair, size_t length, bool user, char *message, size_t size)
{
    char text[SETUP_VALUE + 64];
    if (length >= sizeof text)
        return sim_refuse(message, size, "\"%.40s...\" is too long", pair);
    memcpy(text, pair, length);
    text[length] = '\0';
    char *value = strchr(text, '=');
    if (!value)
        return sim_refuse(message, size, "\"%.40s\" is not a pair key=value", text);
    *value++ = '\0';
    return setup_set(s, text, value, user, message, size);
}

int setup_parse(struct setup *s, const char *pairs, bool user, char *message, size_t size)
{
    struct setup before = *s;
    while (*(pairs += strspn(pairs, " ")) != '\0') {
        size_t length = strcspn(pairs, " ");
        if (set_pair(s, pairs, length, user, message, size) != 0) {
            *s = before;
            return -EINVAL;
        }
        pairs += length;
    }
    return 0;
}

/* ---- values ------------------------------------------------------------------------------- */

/* Reads values; the first mistake is kept, and the reading goes on. */
struct reader {
    const struct setup *setup;
    char *message;
    size_t size;
    int rc;
};

static const char *text_of(const struct reader *r, enum setup_key k)
{
    return r->setup->value[k];
}

static void wrong(struct reader *r, enum setup_key k, const char *why)
{
    if (r->rc == 0)
        r->rc = sim_refuse(r->message, r->size, "%s=%.60s: %s", keys[k].name, text_of(r, k), why);
}

static bool number(const char *text, uint64_t most, uint64_t *out)
{
    uint64_t n = 0;
    if (*text == '\0' || strlen(text) > 20)
        return false;
    for (; *text; text++) {
        unsigned digit = (unsigned)*text - '0';
        if (digit > 9 || n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return n <= most;
}

static uint64_t read_number(struct reader *r, enum setup_key k, uint64_t most)
{
    uint64_t n = 0;
    char why[64];
    if (!number(text_of(r, k), most, &n)) {
        snprintf(why, sizeof why, "a number from 0 to %llu is expected", (unsigned long long)most);
        wrong(r, k, why);
        return 0;
    }
    return n;
}

/* A number, or `word` for `meaning`. */
static uint64_t read_number_or(struct reader *r, enum setup_key k, const char *word, uint64_t meaning,
                               uint64_t most)
{
    return strcmp(text_of(r, k), word) == 0 ? meaning : read_number(r, k, most);
}

static sim_time read_time(struct reader *r, enum setup_key k)
{
    char why[160];
    sim_time t = 0;
    if (sim_time_parse(text_of(r, k), &t, why, sizeof why) != 0)
        wrong(r, k, why);
    return t;
}

static sim_time read_time_or(struct reader *r, enum setup_key k, const char *word, sim_time meaning)
{
    return strcmp(text_of(r, k), word) == 0 ? meaning : read_time(r, k);
}

static void read_dist(struct reader *r, enum setup_key k, struct dist *d)
{
    char why[300];
    if (dist_parse(d, text_of(r, k), why, sizeof why) != 0)
        wrong(r, k, why);
}

static bool read_switch(struct reader *r, enum setup_key k)
{
    bool on = strcmp(text_of(r, k), "on") == 0;
    if (!on && strcmp(text_of(r, k), "off") != 0)
        wrong(r, k, "on or off is expected");
    return on;
}

/* One of the words in `list`, separated by blanks; its place. */
static int read_word(struct reader *r, enum setup_key k, const char *list)
{
    const char *text = text_of(r, k);
    size_t length = strlen(text);
    char why[200];
    int i = 0;
    for (const char *w = list; *w; w += strspn(w, " "), i++) {
        size_t n = strcspn(w, " ");
        if (n == length && memcmp(w, text, n) == 0)
            return i;
        w += n;
    }
    snprintf(why, sizeof why, "one of these is expected: %s", list);
    wrong(r, k, why);
    return 0;
}

/* A share from 0 to 1, in thousandths. */
static uint32_t read_share(struct reader *r, enum setup_key k)
{
    int64_t billionths = 0;
    char why[160];
    if (decimal_parse(text_of(r, k), "a share", 0, DECIMAL_ONE, &billionths, why, sizeof why) != 0)
        wrong(r, k, why);
    return (uint32_t)(billionths / (DECIMAL_ONE / 1000));
}

/* "LOW..HIGH": copies both parts. */
static bool split_range(struct reader *r, enum setup_key k, char low[64], char high[64])
{
    const char *text = text_of(r, k), *dots = strstr(text, "..");
    if (!dots || dots - text > 63 || strlen(dots + 2) > 63) {
        wrong(r, k, "LOW..HIGH is expected");
        return false;
    }
    snprintf(low, 64, "%.*s", (int)(dots - text), text);
    snprintf(high, 64, "%s", dots + 2);
    return true;
}

/* The parts of text between `separator`s, at most `most`; returns their number, 0 if there are too many. */
static size_t split(char *text, char separator, char **part, size_t most)
{
    size_t n = 0;
    for (char *next = text; next;) {
        if (n == most)
            return 0;
        part[n++] = next;
        next = strchr(next, separator);
        if (next)
            *next++ = '\0';
    }
    return n;
}

/* ---- the load ----------------------------------------------------------------------------- */

static bool place(const char *text, int32_t *out)
{
    uint64_t n;
    if (strcmp(text, "random") == 0)
        *out = SIM_RANDOM;
    else if (strcmp(text, "global") == 0)
        *out = SIM_GLOBAL;
    else if (strcmp(text, "roundrobin") == 0)
        *out = SIM_ROUND_ROBIN;
    else if (number(text, SIM_MAX_WORKERS - 1, &n))
        *out = (int32_t)n;
    else
        return false;
    return true;
}

static bool read_burst(char *text, struct sim_burst *b)
{
    char *part[3], why[160];
    uint64_t tasks;
    if (split(text, ':', part, 3) != 3 || sim_time_parse(part[0], &b->at, why, sizeof why) != 0 ||
        !place(part[1], &b->worker) || !number(part[2], 1000000000, &tasks))
        return false;
    b->tasks = (uint32_t)tasks;
    return true;
}

static uint32_t read_bursts(struct reader *r, struct sim_burst *burst)
{
    char text[SETUP_VALUE], *part[SETUP_BURSTS];
    snprintf(text, sizeof text, "%s", text_of(r, SETUP_BURST));
    size_t n = split(text, ',', part, SETUP_BURSTS);
    for (size_t i = 0; i < n; i++)
        if (!read_burst(part[i], &burst[i]))
            n = 0;
    if (n == 0)
        wrong(r, SETUP_BURST, "TIME:PLACE:TASKS is expected, at most 64 of them separated by commas");
    return (uint32_t)n;
}

static void read_arrivals(struct reader *r, struct setup_run *run)
{
    static const enum sim_arrivals_kind kinds[] = {SIM_ARRIVE_AT_START, SIM_ARRIVE_GAPS, SIM_ARRIVE_ON_OFF,
                                                   SIM_ARRIVE_BURSTS};
    struct sim_arrivals *a = &run->load.arrivals;
    a->kind = kinds[read_word(r, SETUP_ARRIVE, "start gaps onoff bursts")];
    if (run->load.behavior == SIM_TREE)
        a->kind = SIM_ARRIVE_ROOT;
    if (run->load.behavior == SIM_LISTED)
        a->kind = SIM_ARRIVE_LIST;
    a->count = read_number(r, SETUP_TASKS, 4000000000);
    read_dist(r, SETUP_GAP, &a->gap);
    a->first_now = read_word(r, SETUP_FIRST, "later now") == 1;
    a->on = read_time(r, SETUP_ON);
    a->off = read_time(r, SETUP_OFF);
    a->burst = run->burst;
    a->bursts = read_bursts(r, run->burst);
    if (!place(text_of(r, SETUP_PLACE), &a->worker))
        wrong(r, SETUP_PLACE, "random, global, roundrobin or the number of a worker is expected");
}

static void read_children(struct reader *r, struct sim_load *l)
{
    char low[64], high[64];
    uint64_t a, b;
    l->spawn_permille = read_share(r, SETUP_SPAWN);
    read_dist(r, SETUP_CHILD, &l->child);
    l->children_inline = read_switch(r, SETUP_INLINE);
    if (!split_range(r, SETUP_CHILDREN, low, high))
        return;
    if (!number(low, 1000, &a) || !number(high, 1000, &b) || a > b)
        wrong(r, SETUP_CHILDREN, "two numbers from 0 to 1000 are expected, the smaller one first");
    else
        l->children_min = (uint32_t)a, l->children_max = (uint32_t)b;
}

/* ---- trees -------------------------------------------------------------------------------- */

static bool real(const char *text, double *out)
{
    int64_t billionths;
    char why[160];
    if (decimal_parse(text, "", 0, 1000000 * (int64_t)DECIMAL_ONE, &billionths, why, sizeof why) != 0)
        return false;
    *out = (double)billionths / DECIMAL_ONE;
    return true;
}

static bool read_loop(char **part, size_t n, struct forktree_spec *spec)
{
    static const char *const profiles[] = {"constant", "linear", "uneven", "heavy"};
    spec->kind = FORKTREE_LOOP;
    if (n != 4 || !number(part[1], UINT64_MAX, &spec->size) || !number(part[2], UINT64_MAX, &spec->grain))
        return false;
    spec->heavy = spec->size / 2;
    spec->heavy_work = spec->leaf < SIM_TIME_MAX / 1000 ? spec->leaf * 1000 : SIM_TIME_MAX;
    for (int i = 0; i < 4; i++) {
        if (strcmp(part[3], profiles[i]) == 0) {
            spec->profile = (enum forktree_profile)i;
            return true;
        }
    }
    return false;
}

static bool read_binomial(char **part, size_t n, struct forktree_spec *spec)
{
    uint64_t arity;
    spec->kind = FORKTREE_UTS;
    spec->uts = FORKTREE_UTS_BINOMIAL;
    if (n != 4 || !real(part[1], &spec->branching) || !number(part[2], FORKTREE_ARITY_MOST, &arity) ||
        !real(part[3], &spec->chance))
        return false;
    spec->arity = (uint32_t)arity;
    return true;
}

/* ARITY:DEPTH */
static bool read_shape(char **part, size_t n, enum forktree_kind kind, struct forktree_spec *spec)
{
    uint64_t arity;
    spec->kind = kind;
    if (n != 3 || !number(part[1], FORKTREE_ARITY_MOST, &arity) || !number(part[2], UINT64_MAX, &spec->depth))
        return false;
    spec->arity = (uint32_t)arity;
    return true;
}

static bool read_shape_of_tree(char **part, size_t n, struct forktree_spec *spec)
{
    if (strcmp(part[0], "fib") == 0) {
        spec->kind = FORKTREE_FIB;
        return n == 2 && number(part[1], UINT64_MAX, &spec->n);
    }
    if (strcmp(part[0], "random") == 0) {
        spec->kind = FORKTREE_RANDOM;
        return n == 2 && number(part[1], UINT64_MAX, &spec->size);
    }
    if (strcmp(part[0], "uts") == 0) {
        spec->kind = FORKTREE_UTS;
        spec->uts = FORKTREE_UTS_FIXED;
        return n == 3 && real(part[1], &spec->branching) && number(part[2], UINT64_MAX, &spec->depth);
    }
    if (strcmp(part[0], "balanced") == 0)
        return read_shape(part, n, FORKTREE_BALANCED, spec);
    if (strcmp(part[0], "spine") == 0)
        return read_shape(part, n, FORKTREE_SPINE, spec);
    if (strcmp(part[0], "utsbin") == 0)
        return read_binomial(part, n, spec);
    return strcmp(part[0], "loop") == 0 && read_loop(part, n, spec);
}

static bool has_lengths(const struct reader *r)
{
    return strcmp(text_of(r, SETUP_LENGTHS), "-") != 0;
}

static void read_tree(struct reader *r, struct setup_run *run)
{
    char text[SETUP_VALUE], *part[8], why[200];
    struct dist lengths = {0};
    struct forktree_spec spec = {.seed = rng_mix(run->load.seed ^ 0x74726565)};
    read_dist(r, SETUP_LEAF, &run->leaf);
    spec.leaf = run->leaf.kind == DIST_CONST ? run->leaf.a : 0;
    spec.before = read_time(r, SETUP_BEFORE);
    spec.after = read_time(r, SETUP_AFTER);
    if (has_lengths(r)) {
        read_dist(r, SETUP_LENGTHS, &lengths);
        spec.lengths = &lengths;
    }
    snprintf(text, sizeof text, "%s", text_of(r, SETUP_TREE));
    size_t n = split(text, ':', part, 8);
    if (n == 0 || !read_shape_of_tree(part, n, &spec))
        wrong(r, SETUP_TREE, "no such tree; 'filch sim keys' lists them");
    if (r->rc == 0) {
        int rc = forktree_make(&run->tree, &spec, why, sizeof why);
        if (rc != 0)
            wrong(r, SETUP_TREE, why);
        if (rc == -ENOMEM)
            r->rc = rc;
    }
    dist_free(&lengths);
    run->load.tree = &run->tree;
    run->load.leaf = run->leaf.kind == DIST_CONST ? NULL : &run->leaf;
}

static void read_list(struct reader *r, struct setup_run *run)
{
    char why[300];
    const char *path = text_of(r, SETUP_LIST);
    FILE *f = strcmp(path, "-") == 0 ? NULL : fopen(path, "r");
    run->load.list = &run->list;
    if (!f) {
        bool none = strcmp(path, "-") == 0;
        wrong(r, SETUP_LIST, none ? "the name of a task file is expected" : strerror(errno));
        return;
    }
    int rc = task_list_read(&run->list, f, path, why, sizeof why);
    fclose(f);
    if (rc != 0 && r->rc == 0) {
        sim_refuse(r->message, r->size, "%s", why);
        r->rc = rc;
    }
}

static void read_load(struct reader *r, struct setup_run *run)
{
    static const enum sim_behavior behaviors[] = {SIM_PLAIN, SIM_SPAWNING, SIM_JOINING, SIM_TREE, SIM_LISTED,
                                                  SIM_CLOSED};
    struct sim_load *l = &run->load;
    l->behavior = behaviors[read_word(r, SETUP_LOAD, "plain spawning joining tree listed closed")];
    read_dist(r, SETUP_DURATION, &l->duration);
    read_arrivals(r, run);
    read_children(r, l);
    if (l->behavior == SIM_TREE)
        read_tree(r, run);
    if (l->behavior == SIM_LISTED)
        read_list(r, run);
}

/* ---- the workers -------------------------------------------------------------------------- */

static int policy_word(struct reader *r, enum setup_key k, enum policy_key key)
{
    const struct policy_word *w = policy_word_named(key, text_of(r, k), POLICY_SIM);
    char list[200] = "one of these is expected:";
    if (w)
        return w->number;
    size_t n, used = strlen(list);
    const struct policy_word *all = policy_words(&n);
    for (size_t i = 0; i < n && used < sizeof list; i++)
        if (all[i].key == key && (all[i].where & POLICY_SIM))
            used += (size_t)snprintf(list + used, sizeof list - used, " %s", all[i].value);
    wrong(r, k, list);
    return 0;
}

static void read_steal(struct reader *r, struct sim_policy *p)
{
    const char *text = text_of(r, SETUP_STEAL);
    if (*text < '0' || *text > '9') {
        p->steal = policy_word(r, SETUP_STEAL, POLICY_STEAL);
        return;
    }
    p->steal_permille = read_share(r, SETUP_STEAL);
    if (p->steal_permille == 0)
        wrong(r, SETUP_STEAL, "a fraction from 0.001 to 1 is expected");
}

static void read_backoff(struct reader *r, struct sim_policy *p)
{
    char low[64], high[64], why[160];
    if (split_range(r, SETUP_BACKOFF, low, high) &&
        (sim_time_parse(low, &p->backoff_min, why, sizeof why) != 0 ||
         sim_time_parse(high, &p->backoff_max, why, sizeof why) != 0))
        wrong(r, SETUP_BACKOFF, why);
    p->backoff_factor = (uint32_t)read_number(r, SETUP_BACKOFF_FACTOR, 16);
    p->backoff_jitter = (uint32_t)read_number(r, SETUP_BACKOFF_JITTER, 100);
}

static void read_policy(struct reader *r, struct sim_policy *p)
{
    p->victim = policy_word(r, SETUP_VICTIM, POLICY_VICTIM);
    read_steal(r, p);
    bool given = strcmp(text_of(r, SETUP_ENDS), "-") != 0;
    p->ends = given ? policy_word(r, SETUP_ENDS, POLICY_ENDS) : FILCH_ENDS_DEFAULT;
    p->wake = policy_word(r, SETUP_WAKE, POLICY_WAKE);
    p->idle = policy_word(r, SETUP_IDLE, POLICY_IDLE);
    p->join = policy_word(r, SETUP_JOIN, POLICY_JOIN);
    p->queue = policy_word(r, SETUP_QUEUE, POLICY_QUEUE);
    p->run_next = policy_word(r, SETUP_RUN_NEXT, POLICY_RUN_NEXT);
    p->spin = (uint32_t)read_number(r, SETUP_SPIN, 1000000);
    p->attempts = (uint32_t)read_number_or(r, SETUP_ATTEMPTS, "all", 0, SIM_MAX_WORKERS);
    p->cycle_attempts = (uint32_t)read_number_or(r, SETUP_CYCLE_ATTEMPTS, "all", 0, 1000000000);
    p->wait = read_time(r, SETUP_WAIT);
    p->global_every = (uint32_t)read_number(r, SETUP_GLOBAL_EVERY, 1000000);
    p->ring = (uint32_t)read_number(r, SETUP_RING, 1u << 30);
    p->near_permille = read_share(r, SETUP_NEAR);
    read_backoff(r, p);
}

static void read_costs(struct reader *r, struct sim_costs *c)
{
    c->exec = read_time(r, SETUP_EXEC);
    c->spawn = read_time(r, SETUP_SPAWN_COST);
    c->pop = read_time(r, SETUP_POP);
    c->join = read_time(r, SETUP_JOIN_COST);
    c->probe = read_time(r, SETUP_PROBE);
    c->failed = read_time(r, SETUP_FAILED);
    c->steal_near = read_time(r, SETUP_STEAL_NEAR);
    c->steal_far = read_time(r, SETUP_STEAL_FAR);
    c->wake = read_time(r, SETUP_WAKE_COST);
    c->migrate = read_time(r, SETUP_MIGRATE);
    read_dist(r, SETUP_LOCK, &c->lock);
}

/* In thousandths, for every worker. */
static void read_speeds(struct reader *r, struct setup_run *run)
{
    char text[SETUP_VALUE], *part[SETUP_VALUE], why[160];
    uint32_t n = run->config.workers;
    if (strcmp(text_of(r, SETUP_SPEEDS), "-") == 0 || r->rc != 0 || n > SIM_MAX_WORKERS)
        return;
    snprintf(text, sizeof text, "%s", text_of(r, SETUP_SPEEDS));
    size_t parts = split(text, ',', part, SETUP_VALUE);
    run->speed = malloc((n + 1) * sizeof *run->speed);
    if (!run->speed)
        r->rc = -ENOMEM;
    for (uint32_t i = 0; run->speed && i < n; i++) {
        int64_t speed = DECIMAL_ONE;
        if (decimal_parse(part[i < parts ? i : parts - 1], "a speed", DECIMAL_ONE / 1000,
                          1000 * (int64_t)DECIMAL_ONE, &speed, why, sizeof why) != 0)
            wrong(r, SETUP_SPEEDS, why);
        run->speed[i] = (uint32_t)(speed / (DECIMAL_ONE / 1000));
    }
    run->config.speed = run->speed;
}

static void read_config(struct reader *r, struct setup_run *run)
{
    struct sim_config *c = &run->config;
    c->workers = (uint32_t)read_number(r, SETUP_WORKERS, SIM_MAX_WORKERS);
    if (c->workers == 0)
        wrong(r, SETUP_WORKERS, "at least 1 is expected");
    c->group = (uint32_t)read_number(r, SETUP_GROUP, SIM_MAX_WORKERS);
    read_speeds(r, run);
    read_policy(r, &c->policy);
    read_costs(r, &c->costs);
    c->collisions = read_switch(r, SETUP_COLLISIONS);
    c->own_end = read_switch(r, SETUP_OWN_END);
    c->until = read_time_or(r, SETUP_UNTIL, "never", SIM_NEVER);
    c->look_every = read_time_or(r, SETUP_LOOK, "never", 0);
    c->skip = read_number(r, SETUP_SKIP, UINT64_MAX);
    c->events_most = read_number(r, SETUP_EVENTS, UINT64_MAX);
    c->seed = read_number(r, SETUP_SEED, UINT64_MAX);
}

int setup_make(struct setup_run *run, const struct setup *s, char *message, size_t size)
{
    struct reader r = {.setup = s, .message = message, .size = size};
    memset(run, 0, sizeof *run);
    read_config(&r, run);
    run->load.seed = rng_mix(run->config.seed ^ 0x6c6f6164);
    read_load(&r, run);
    if (r.rc != 0)
        setup_free(run);
    return r.rc;
}

void setup_free(struct setup_run *run)
{
    dist_free(&run->load.duration);
    dist_free(&run->load.child);
    dist_free(&run->load.arrivals.gap);
    dist_free(&run->config.costs.lock);
    dist_free(&run->leaf);
    forktree_free(&run->tree);
    task_list_free(&run->list);
    free(run->speed);
    memset(run, 0, sizeof *run);
}

void setup_replication(const struct setup_run *run, uint64_t i, struct sim_config *config,
                       struct sim_load *load)
{
    *config = run->config;
    *load = run->load;
    if (i == 0)
        return; /* the run that was asked for */
    config->seed = rng_mix(run->config.seed + rng_mix(i));
    load->seed = rng_mix(run->load.seed + rng_mix(i));
}
