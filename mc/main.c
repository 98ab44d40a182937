/* main.c: the models of one program, explored one after the other. */
#include "mc_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { MODELS = 64 };
static const struct mc_model *models[MODELS];
static int model_count;

void mc_register(const struct mc_model *model)
{
    if (model_count < MODELS)
        models[model_count++] = model;
}

/* ---- static variables are put back before each run ------------------------------------------- */

extern char __data_start[], _end[];
static char *saved;

static void statics_save(void)
{
    size_t size = (size_t)(_end - __data_start);
    saved = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (saved == MAP_FAILED)
        abort();
    memcpy(saved, __data_start, size);
}

static void statics_restore(void)
{
    memcpy(__data_start, saved, (size_t)(_end - __data_start));
}

static void *reserve(size_t size)
{
    void *p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        perror("model checker: no memory");
        exit(2);
    }
    return p;
}

static void engine_make(void)
{
    mc = reserve(sizeof *mc);
    mc->arena = reserve(MC_ARENA);
    mc->freed = reserve(MC_ARENA >> 4);
    mc->touched = reserve(MC_ARENA >> 12);
    mc->views = reserve(MC_VIEW_BYTES);
    for (int i = 0; i < MC_THREADS; i++)
        mc->thread[i].stack = reserve(MC_STACK);
}

/* ---- exploration ----------------------------------------------------------------------------- */

struct options {
    const char *only, *replay;
    long random;
    uint64_t seed;
    int preemptions;
    bool trace, json, list, only_given_preemptions;
    double limit;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The next sequence of choices, depth first; false when there is none. */
static bool advance(void)
{
    mc->depth = mc->position;
    while (mc->depth > 0) {
        struct choice *c = &mc->choice[mc->depth - 1];
        if (c->taken + 1 < c->count) {
            c->taken++;
            return true;
        }
        mc->depth--;
    }
    return false;
}

static void one(void)
{
    statics_restore();
    mc_execute();
    mc->executions++;
    mc->cut += mc->end == END_CUT;
    mc->discarded += mc->end == END_DISCARDED;
}

static void begin(const struct mc_model *m)
{
    mc->model = m;
    memset(mc->known, 0, sizeof mc->known);
    mc->depth = 0;
    mc->script_length = mc->outcomes = 0;
    mc->every_step = false;
    mc->executions = mc->cut = mc->discarded = mc->restarts = 0;
    mc->longest = 0;
}

static void restart(void)
{
    mc->depth = 0;
    mc->executions = mc->cut = mc->discarded = 0;
    mc->restarts++;
}

enum verdict { EXHAUSTED, FOUND, OUT_OF_TIME };

static enum verdict explore(double limit)
{
    double until = seconds() + limit;
    mc->random = false;
    for (;;) {
        mc->grew = false;
        one();
        if (mc->end == END_FAILED)
            return FOUND;
        if (mc->grew)
            restart();
        else if (!advance())
            return EXHAUSTED;
        if (mc->executions % 1024 == 0 && seconds() > until)
            return OUT_OF_TIME;
    }
}

static enum verdict walk(long runs, uint64_t seed)
{
    mc->random = mc->every_step = true;
    for (long i = 0; i < runs; i++) {
        mc->rng = (seed + (uint64_t)i) * 0x9e3779b97f4a7c15u | 1;
        mc->depth = 0;
        one();
        if (mc->end == END_FAILED)
            return FOUND;
    }
    return EXHAUSTED;
}

/* Which words are shared decides where there are choices. A string that does not come from random
 * runs is repeated by exploring up to it. */
static enum verdict replay(double limit)
{
    int length = mc->script_length;
    if (!mc->every_step) {
        mc->script_length = 0;
        if (explore(limit) != FOUND)
            return EXHAUSTED;
        mc->script_length = length;
    }
    mc->depth = 0;
    one();
    return mc->end == END_FAILED ? FOUND : EXHAUSTED;
}

/* ---- outcomes ---------------------------------------------------------------------------------- */

static bool outcome_listed(const char *list, unsigned result)
{
    char *end;
    for (; *list; list = *end ? end + 1 : end)
        if (strtoul(list, &end, 10) == result)
            return true;
    return false;
}

static int listed(const char *list)
{
    int n = *list != 0;
    for (; *list; list++)
        n += *list == ' ';
    return n;
}

/* Exactly those of the list were seen. */
static bool outcomes_right(const struct mc_model *m)
{
    bool right = true;
    for (int i = 0; i < mc->outcomes; i++)
        if (!outcome_listed(m->outcomes, mc->outcome[i])) {
            printf("%s: outcome %u is not allowed (%s)\n", m->name, mc->outcome[i], m->outcomes);
            right = false;
        }
    if (right && mc->outcomes < listed(m->outcomes)) {
        printf("%s: seen only %d of the outcomes %s:", m->name, mc->outcomes, m->outcomes);
        for (int i = 0; i < mc->outcomes; i++)
            printf(" %u", mc->outcome[i]);
        printf("\n");
        right = false;
    }
    return right;
}

/* ---- what is said ----------------------------------------------------------------------------- */

static const char *bound_of(const struct mc_model *m, char *text, size_t size)
{
    if (m->preemptions == MC_UNBOUNDED)
        snprintf(text, size, "unbounded");
    else
        snprintf(text, size, "%d preemptions",
                 m->preemptions == MC_ZERO ? 0 : m->preemptions ? m->preemptions : 2);
    size_t n = strlen(text);
    if (m->stale)
        snprintf(text + n, size - n, ", %d old loads", m->stale == MC_ZERO ? 0 : m->stale);
    return text;
}

static void say_failure(const struct mc_model *m, const char *program)
{
    printf("\n%s: %s\n", m->name, m->claim ? m->claim : "");
    mc_report(stdout);
    printf("  again: %s --model %s --replay ", program, m->name);
    mc_replay_print(stdout);
    printf("\n\n");
}

static void say(const struct mc_model *m, enum verdict v, bool ok, double took, const struct options *o)
{
    char bound[64];
    const char *how = o->random ? "random" : v == EXHAUSTED ? "exhausted"
                                           : v == FOUND ? "failed" : "not exhausted";
    bound_of(m, bound, sizeof bound);
    if (o->json) {
        printf("{\"model\":\"%s\",\"ok\":%s,\"result\":\"%s\",\"bound\":\"%s\",\"executions\":%ld,"
               "\"blocked\":%ld,\"discarded\":%ld,\"longest\":%u,\"seconds\":%.2f}\n",
               m->name, ok ? "true" : "false", how, bound, mc->executions, mc->cut, mc->discarded,
               mc->longest, took);
        return;
    }
    printf("%-6s %-34s %9ld runs %7ld blocked %6ld discarded  %5.1f s  %s, %s%s\n", ok ? "ok" : "FAILED",
           m->name, mc->executions - mc->cut - mc->discarded, mc->cut, mc->discarded, took, how, bound,
           m->must_say ? ", fails as it must" : "");
    fflush(stdout);
}

static bool run_model(const struct mc_model *m, const struct options *o, const char *program)
{
    double start = seconds();
    enum verdict v;
    begin(m);
    if (o->replay) {
        mc->random = false;
        mc->script_length = mc_replay_read(o->replay);
        if (mc->script_length < 0) {
            fprintf(stderr, "%s: not a string that this program printed: %s\n", program, o->replay);
            exit(2);
        }
        v = replay(o->limit);
    } else {
        v = o->random ? walk(o->random, o->seed) : explore(o->limit);
    }
    bool ok = m->must_say ? v == FOUND : v == EXHAUSTED;
    if (m->must_say && !strstr(mc->message, m->must_say))
        ok = false;
    if (ok && m->outcomes && !o->random && !o->replay)
        ok = outcomes_right(m);
    if (v == FOUND && (!ok || o->trace || o->replay))
        say_failure(m, program);
    say(m, v, ok, seconds() - start, o);
    return ok;
}

static const char usage[] =
    "usage: %s [OPTION]...\n"
    "Explores the models of this program.\n"
    "  --list            their names and claims\n"
    "  --model NAME      only this one\n"
    "  --preemptions N   another bound\n"
    "  --random N        N random runs instead of all\n"
    "  --seed S          of the random runs\n"
    "  --replay STRING   the run that a failure printed\n"
    "  --trace           print the run that demonstrations fail with\n"
    "  --limit S         seconds for one model (600)\n"
    "  --json            one object per line\n"
    "Status: 0; 1 if a claim does not hold or a model was not exhausted; 2 for a bad request.\n";

static bool flag(struct options *o, const char *a)
{
    bool *target = !strcmp(a, "--list") ? &o->list : !strcmp(a, "--trace") ? &o->trace
                   : !strcmp(a, "--json") ? &o->json : 0;
    if (target)
        *target = true;
    return target != 0;
}

static bool valued(struct options *o, const char *a, const char *value)
{
    if (!value)
        return false;
    if (!strcmp(a, "--model"))
        o->only = value;
    else if (!strcmp(a, "--replay"))
        o->replay = value;
    else if (!strcmp(a, "--random"))
        o->random = atol(value);
    else if (!strcmp(a, "--seed"))
        o->seed = strtoull(value, 0, 10);
    else if (!strcmp(a, "--limit"))
        o->limit = atof(value);
    else if (!strcmp(a, "--preemptions"))
        o->preemptions = atoi(value) > 0 ? atoi(value) : MC_ZERO, o->only_given_preemptions = true;
    else
        return false;
    return true;
}

static int run_all(const struct options *o, const char *program)
{
    int passed = 0, failed = 0;
    for (int i = 0; i < model_count; i++) {
        struct mc_model m = *models[i];
        if (o->only && strcmp(o->only, m.name))
            continue;
        if (o->only_given_preemptions)
            m.preemptions = o->preemptions;
        if (o->list) {
            printf("%-34s %s\n", m.name, m.claim ? m.claim : "");
            passed++;
        } else if (run_model(&m, o, program)) {
            passed++;
        } else {
            failed++;
        }
    }
    if (passed + failed == 0) {
        fprintf(stderr, "%s: no model of that name; --list shows them\n", program);
        return 2;
    }
    if (!o->list && !o->json)
        printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

int main(int argc, char **argv)
{
    struct options o = {.limit = 600, .seed = 1};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help")) {
            printf(usage, argv[0]);
            return 0;
        }
        if (flag(&o, argv[i]))
            continue;
        if (i + 1 == argc || !valued(&o, argv[i], argv[i + 1])) {
            fprintf(stderr, "%s: what is %s? (--help)\n", argv[0], argv[i]);
            return 2;
        }
        i++;
    }
    engine_make();
    statics_save();
    return run_all(&o, argv[0]);
}
