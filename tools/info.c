/* info.c: what the library sees of this machine, and the policy that new pools get. */
#define _GNU_SOURCE /* the affinity mask */
#include "cli.h"
#include "json.h"
#include "policy/choice.h"
#include "policy/names.h"
#include <filch.h>
#include <getopt.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char help[] =
    "usage: filch info [--json]\n\n"
    "Prints the processor, how many CPUs this process may use and how many workers a pool gets by\n"
    "default, what the kernel offers, and the policy that the environment asks for.\n\n"
    "  --json   one object on one line\n"
    "  --help   this text\n\n"
    "FILCH_WORKERS and FILCH_POLICY change the default of every program that uses the library.\n";

struct info {
    char cpu[128], kernel[200], compiler[128], policy_wrong[256];
    const char *policy, *workers_wish;
    filch_config config; /* as FILCH_POLICY sets it */
    int cpus_online, cpus_allowed;
    int workers, workers_limit; /* with and without the environment */
    int membarrier;
    long page_size;
};

/* ---- names of policies --------------------------------------------------------------------- */

/* The number of the word that `key` has in `c`. */
static int word_of(const filch_config *c, enum policy_key key)
{
    switch (key) {
    case POLICY_VICTIM: return (int)c->victim;
    case POLICY_STEAL: return (int)c->steal;
    case POLICY_ENDS: return (int)choice_ends(c->ends, (int)c->queue);
    case POLICY_WAKE: return (int)c->wake;
    case POLICY_IDLE: return (int)c->idle;
    case POLICY_JOIN: return (int)c->join;
    case POLICY_QUEUE: return (int)c->queue;
    default: return (int)c->run_next;
    }
}

static void policy_text(const filch_config *c, char *out, size_t size)
{
    size_t used = 0;
    for (int k = 0; k < POLICY_WORDS && used < size; k++) {
        enum policy_key key = (enum policy_key)k;
        const struct policy_word *word = policy_word_numbered(key, word_of(c, key), POLICY_RUNTIME);
        used += (size_t)snprintf(out + used, size - used, "%s%s=%s", k ? "," : "", policy_key_name(key),
                                 word ? word->value : "?");
    }
}

/* ---- looking around ------------------------------------------------------------------------ */

/* The first line of `path` that begins with `key`, from after its colon. */
static void file_field(const char *path, const char *key, char *out, size_t size)
{
    char line[512];
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, strlen(key)))
            continue;
        snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
        out[strcspn(out, "\n")] = 0;
        break;
    }
    if (f)
        fclose(f);
}

static int pool_size(int no_environment)
{
    filch_config config = FILCH_CONFIG_INIT;
    filch_pool *pool;
    config.no_environment = (unsigned)no_environment;
    if (filch_pool_create(&pool, &config))
        return 0;
    int workers = filch_pool_workers(pool);
    filch_pool_destroy(pool);
    return workers;
}

static int membarrier_offered(void)
{
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    return commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

static int affinity_count(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 0 : CPU_COUNT(&set);
}

static void info_collect(struct info *in)
{
    struct utsname u = {0};
    memset(in, 0, sizeof *in);
    uname(&u);
    snprintf(in->kernel, sizeof in->kernel, "%s %s %s", u.sysname, u.release, u.machine);
    snprintf(in->cpu, sizeof in->cpu, "%s", u.machine);
    file_field("/proc/cpuinfo", "model name", in->cpu, sizeof in->cpu);
#ifdef __clang__
    snprintf(in->compiler, sizeof in->compiler, "clang %s", __clang_version__);
#else
    snprintf(in->compiler, sizeof in->compiler, "gcc %s", __VERSION__);
#endif
    in->cpus_online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    in->cpus_allowed = affinity_count();
    in->page_size = sysconf(_SC_PAGESIZE);
    in->membarrier = membarrier_offered();
    in->workers = pool_size(0);
    in->workers_limit = pool_size(1);
    in->workers_wish = getenv("FILCH_WORKERS");
    in->policy = getenv("FILCH_POLICY");
    in->config = (filch_config)FILCH_CONFIG_INIT;
    if (in->policy && filch_config_parse(&in->config, in->policy, in->policy_wrong,
                                         sizeof in->policy_wrong) == 0)
        in->policy_wrong[0] = 0;
}

static int switched_off(void)
{
    const char *off = getenv("FILCH_NO_MEMBARRIER");
    return off && strcmp(off, "1") == 0;
}

static const char *ordering(const struct info *in)
{
    if (!in->membarrier)
        return "fallback: this kernel has no expedited membarrier";
    return switched_off() ? "fallback: FILCH_NO_MEMBARRIER is set" : "membarrier";
}

/* Why there are fewer workers than CPUs. */
static const char *limit(const struct info *in)
{
    if (in->workers_limit < in->cpus_allowed)
        return "cgroup quota";
    return in->cpus_allowed < in->cpus_online ? "affinity" : "none";
}

/* ---- printing ------------------------------------------------------------------------------ */

static void info_json(const struct info *in)
{
    char policy[256];
    struct json j = json_open(stdout);
    policy_text(&in->config, policy, sizeof policy);
    json_string(&j, "version", filch_version());
    json_string(&j, "cpu", in->cpu);
    json_number(&j, "cpus_online", in->cpus_online);
    json_number(&j, "cpus_allowed", in->cpus_allowed);
    json_string(&j, "limited_by", limit(in));
    json_number(&j, "workers_default", in->workers_limit);
    json_number(&j, "workers", in->workers);
    json_bool(&j, "membarrier", in->membarrier && !switched_off());
    json_number(&j, "page_size", (double)in->page_size);
    json_string(&j, "kernel", in->kernel);
    json_string(&j, "compiler", in->compiler);
    json_string(&j, "filch_workers", in->workers_wish ? in->workers_wish : "");
    json_string(&j, "filch_policy", in->policy ? in->policy : "");
    if (in->policy_wrong[0])
        json_string(&j, "policy_error", in->policy_wrong);
    json_string(&j, "policy", policy);
    json_close(&j);
}

static void info_text(const struct info *in)
{
    char policy[256];
    policy_text(&in->config, policy, sizeof policy);
    printf("filch       %s (header %s)\n", filch_version(), FILCH_VERSION);
    printf("CPU         %s\n", in->cpu);
    printf("CPUs        %d online, %d allowed to this process; limit: %s\n", in->cpus_online,
           in->cpus_allowed, limit(in));
    printf("workers     %d by default", in->workers_limit);
    if (in->workers_wish)
        printf(", %d with FILCH_WORKERS=%s", in->workers, in->workers_wish);
    printf("\nordering    %s\n", ordering(in));
    printf("kernel      %s, pages of %ld bytes\n", in->kernel, in->page_size);
    printf("compiler    %s\n", in->compiler);
    printf("policy      %s%s\n", policy, in->policy ? "" : " (default)");
    if (in->policy_wrong[0])
        printf("            FILCH_POLICY is ignored: %s\n", in->policy_wrong);
}

int info_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    struct info in;
    int json = 0, c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return CLI_OK;
        }
        if (c != 'j')
            return cli_usage("info", "'%s' is not an option", argv[optind - 1]);
        json = 1;
    }
    if (optind < argc)
        return cli_usage("info", "'%s' is not expected", argv[optind]);
    info_collect(&in);
    if (json)
        info_json(&in);
    else
        info_text(&in);
    return CLI_OK;
}
