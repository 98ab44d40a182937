/* sim.c: `filch sim`: arguments, and what scenarios share. */
#include "cli.h"
#include "sim.h"
#include "policy/names.h"
#include "term.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "sim"
#define REPS_MOST 10000000

const struct sim_scenario *sim_scenario_named(const char *name)
{
    for (const struct sim_scenario *s = sim_scenarios; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

/* ---- help --------------------------------------------------------------------------------- */

static const char options_help[] =
    "\noptions\n"
    "  --seed N      of everything random; the same as seed=N\n"
    "  --reps N      replications, where a scenario has some\n"
    "  --width P     replications until the 95 % interval is P percent of the mean or narrower\n"
    "  --threads N   that run replications; 0: as many as CPUs\n"
    "  --quiet       no log\n"
    "  --no-plot     no plot in the terminal\n"
    "  --json, --csv tables and answers for programs, on standard output\n"
    "  --events F    every event of the (last) run that is shown, as CSV\n"
    "  --svg F       the first plot; with %d in the name each of them\n"
    "  --html F      one page without network: plots, tables, and the run to step through\n"
    "  --help        this text\n";

static void print_help(void)
{
    puts("usage: filch sim SCENARIO [KEY=VALUE]... [OPTION]...\n\n"
         "Simulates stealing workers in virtual time: exact, repeatable, with any number of workers.\n\n"
         "scenarios");
    for (const struct sim_scenario *s = sim_scenarios; s->name; s++)
        printf("  %-12s %s\n", s->name, s->summary);
    puts("  keys         every setting: its standard value, what it means");
    fputs(options_help, stdout);
    puts("\n'filch sim SCENARIO --help' shows what a scenario is made of. docs/simulator.md has the model.");
}

static void print_scenario_help(const struct sim_scenario *s)
{
    printf("usage: filch sim %s%s [KEY=VALUE]... [OPTION]...\n\n%s\n\nIts settings: %s\n"
           "All others are at their standard values: 'filch sim keys'.\n", s->name, s->words ? " ..." : "",
           s->text, s->pairs);
    if (s->reps)
        printf("It runs %" PRIu64 " replications.\n", s->reps);
    fputs(options_help, stdout);
}

static void print_words(enum policy_key key)
{
    size_t n;
    const struct policy_word *w = policy_words(&n);
    for (size_t i = 0; i < n; i++)
        if (w[i].key == key && (w[i].where & POLICY_SIM))
            printf("    %-10s %s\n", w[i].value, w[i].meaning);
}

static int print_keys(void)
{
    for (int k = 0; k < SETUP_KEYS; k++) {
        const struct setup_key_help *h = setup_key_help((enum setup_key)k);
        enum policy_key policy = policy_key_named(h->name, POLICY_SIM);
        printf("%-15s %-11s %s\n", h->name, h->standard, h->help);
        if (policy < POLICY_WORDS)
            print_words(policy);
    }
    puts("\nTimes: 0.5 (seconds), 20ns, 3us, 1ms, 2s, 1min. Distributions: 1.5, uniform:0.5..2, exp:1,\n"
         "lognormal:MEAN,CV, pareto:LEAST,EXPONENT[,MOST], bimodal:A,B,PROBABILITY, file:PATH.");
    return CLI_OK;
}

/* ---- arguments ---------------------------------------------------------------------------- */

static int wrong_number(const char *option, const char *text)
{
    return cli_usage(COMMAND, "%s %s: not a number in range", option, text);
}

static int number_option(const char *option, const char *text, uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n > most)
        return wrong_number(option, text);
    *out = n;
    return CLI_OK;
}

static int width_option(const char *text, double *out)
{
    char *end;
    double percent = strtod(text, &end);
    if (*text < '0' || *text > '9' || *end || !(percent >= 0.01 && percent <= 100))
        return wrong_number("--width", text);
    *out = percent / 100;
    return CLI_OK;
}

static int value_option(struct sim_job *job, const char *name, const char *value)
{
    struct sim_options *o = &job->options;
    char message[300];
    uint64_t threads = 0;
    int rc = CLI_OK;
    if (strcmp(name, "--seed") == 0) {
        if (setup_set(&job->setup, "seed", value, true, message, sizeof message) != 0)
            return cli_usage(COMMAND, "%s", message);
    } else if (strcmp(name, "--reps") == 0) {
        rc = number_option(name, value, REPS_MOST, &o->reps);
        if (rc == CLI_OK && o->reps == 0)
            rc = wrong_number(name, value);
    } else if (strcmp(name, "--width") == 0) {
        rc = width_option(value, &o->width);
    } else if (strcmp(name, "--threads") == 0) {
        rc = number_option(name, value, FILCH_MAX_WORKERS, &threads);
        o->threads = (int)threads;
    } else if (strcmp(name, "--events") == 0) {
        o->events = value;
    } else if (strcmp(name, "--svg") == 0) {
        o->svg = value;
    } else {
        o->html = value;
    }
    return rc;
}

static int is_value_option(const char *name)
{
    static const char *const names[] = {"--seed", "--reps", "--width", "--threads", "--events", "--svg",
                                        "--html"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return 1;
    return 0;
}

static int plain_option(struct sim_job *job, const char *name)
{
    struct sim_options *o = &job->options;
    if (strcmp(name, "--json") == 0)
        o->form = FINDINGS_JSON;
    else if (strcmp(name, "--csv") == 0)
        o->form = FINDINGS_CSV;
    else if (strcmp(name, "--quiet") == 0)
        o->quiet = 1;
    else if (strcmp(name, "--no-plot") == 0)
        o->no_plot = 1;
    else
        return cli_usage(COMMAND, "there is no option %s", name);
    return CLI_OK;
}

static int argument(struct sim_job *job, const char *text)
{
    char message[300];
    int most = job->scenario->words;
    if (job->words < most && (most == SIM_WORDS || sim_compare_takes(job, text))) {
        job->word[job->words++] = text;
        return CLI_OK;
    }
    if (most > 0 && !strchr(text, '='))
        return cli_usage(COMMAND, "%s: too many arguments", text);
    if (setup_parse(&job->setup, text, true, message, sizeof message) != 0)
        return cli_usage(COMMAND, "%s", message);
    return CLI_OK;
}

/* `--workload NAME` of compare and sweep: that scenario's setup below what the user gave. */
static int workload(struct sim_job *job, const char *name)
{
    const struct sim_scenario *s = sim_scenario_named(name);
    char message[300];
    if (!s || !s->pairs)
        return cli_usage(COMMAND, "--workload %s: there is no such scenario", name);
    job->workload = s->name;
    setup_init(&job->base);
    if (setup_parse(&job->base, s->pairs, false, message, sizeof message) != 0)
        return cli_fail(COMMAND, "%s: %s", s->name, message);
    for (int k = 0; k < SETUP_KEYS; k++)
        if (!setup_given(&job->setup, (enum setup_key)k))
            memcpy(job->setup.value[k], job->base.value[k], SETUP_VALUE);
    return CLI_OK;
}

static int arguments(struct sim_job *job, int argc, char **argv)
{
    int rc = CLI_OK;
    for (int i = 0; i < argc && rc == CLI_OK; i++) {
        int takes_value = is_value_option(argv[i]) || strcmp(argv[i], "--workload") == 0;
        if (takes_value && i + 1 == argc)
            return cli_usage(COMMAND, "%s: a value is missing", argv[i]);
        if (strcmp(argv[i], "--workload") == 0)
            rc = workload(job, argv[i + 1]);
        else if (takes_value)
            rc = value_option(job, argv[i], argv[i + 1]);
        else if (strncmp(argv[i], "--", 2) == 0)
            rc = plain_option(job, argv[i]);
        else
            rc = argument(job, argv[i]);
        i += takes_value;
    }
    return rc;
}

/* ---- what scenarios share ----------------------------------------------------------------- */

static void lay_over(struct setup *to, const struct setup *from, int force)
{
    for (int k = 0; k < SETUP_KEYS; k++)
        if (setup_given(from, (enum setup_key)k) && (force || !setup_given(to, (enum setup_key)k)))
            snprintf(to->value[k], SETUP_VALUE, "%s", from->value[k]);
}

int sim_make(struct sim_job *job, const char *pairs, int force, struct setup_run *run)
{
    struct setup s = job->setup, over;
    char message[300];
    setup_init(&over);
    if (pairs && setup_parse(&over, pairs, true, message, sizeof message) != 0)
        return cli_usage(COMMAND, "%s", message);
    lay_over(&s, &over, force);
    int rc = setup_make(run, &s, message, sizeof message);
    if (rc == -ENOMEM)
        return cli_fail(COMMAND, "%s", message);
    return rc == 0 ? CLI_OK : cli_usage(COMMAND, "%s", message);
}

/* What makes no sense, and times that are too large, are the request's fault. */
static int run_failed(const struct sim_job *job, int rc, const char *message)
{
    if (rc == -EINVAL || rc == -EOVERFLOW)
        return cli_usage(COMMAND, "%s: %s", job->scenario->name, message);
    return cli_fail(COMMAND, "%s: %s", job->scenario->name, message);
}

int sim_once(struct sim_job *job, const struct setup_run *run, int record, struct sim_result *result)
{
    char message[300];
    struct sim_config config = run->config;
    config.record = record != 0;
    int rc = sim_run(&config, &run->load, result, message, sizeof message);
    return rc == 0 ? CLI_OK : run_failed(job, rc, message);
}

uint64_t sim_reps(const struct sim_job *job)
{
    return job->options.reps ? job->options.reps : job->scenario->reps;
}

static void show_progress(uint64_t done, uint64_t of, void *arg)
{
    const struct sim_job *job = arg;
    if (done % (of / 100 + 1) == 0 || done == of)
        term_progress("%s: %" PRIu64 " of %" PRIu64 " replications", job->scenario->name, done, of);
}

static int narrow_enough(const struct sim_job *job, const struct replications *out, size_t n, enum metric m)
{
    for (size_t k = 0; k < n; k++) {
        struct summary s = replications_summary(&out[k], m);
        if (!estimate_enough(&s, 0.95, job->options.width, ESTIMATE_LEAST_N_SKEWED))
            return 0;
    }
    return 1;
}

int sim_many(struct sim_job *job, const struct setup_run *const *runs, size_t n, enum metric m,
             struct replications *out)
{
    struct replicate_options o = {job->options.threads, show_progress, job};
    char message[300];
    memset(out, 0, n * sizeof *out);
    int rc = replicate(runs, n, 0, sim_reps(job), &o, out, message, sizeof message);
    while (rc == 0 && job->options.width > 0 && out[0].n < REPS_MOST && !narrow_enough(job, out, n, m))
        rc = replicate_more(runs, n, out[0].n / 2 + 1, &o, out, message, sizeof message);
    term_progress_end();
    return rc == 0 ? CLI_OK : run_failed(job, rc, message);
}

const char *sim_interval(struct sim_job *job, const struct summary *s, int digits)
{
    double half = estimate_half_width(s, 0.95);
    if (s->n < 2)
        return findings_format(job->findings, "%.*f", digits, s->mean);
    return findings_format(job->findings, "%.*f ± %.*f", digits, s->mean, digits, half);
}

void sim_interval_cell(struct table *t, const struct summary *s, int digits)
{
    table_interval(t, s->mean, estimate_half_width(s, 0.95), digits);
}

/* ---- the command -------------------------------------------------------------------------- */

/* The pairs that differ from the scenario's, or the workload's. A scenario with words has the seed as an
 * option: a pair could be taken for a word. */
static size_t print_pairs(const struct sim_job *job, char *text, size_t size)
{
    size_t n = 0;
    for (int k = 0; k < SETUP_KEYS && n < size; k++) {
        const char *value = job->setup.value[k];
        if (k == SETUP_SEED && job->scenario->words)
            n += (size_t)snprintf(text + n, size - n, " --seed %s", value);
        else if (k == SETUP_SEED || strcmp(value, job->base.value[k]) != 0)
            n += (size_t)snprintf(text + n, size - n, " %s=%s", setup_key_help((enum setup_key)k)->name,
                                  value);
    }
    return n;
}

/* The command that repeats the run. */
static char *command_of(const struct sim_job *job)
{
    size_t size = 512 + (size_t)SETUP_KEYS * (SETUP_VALUE + 32), n;
    for (int i = 0; i < job->words; i++)
        size += strlen(job->word[i]) + 1;
    char *text = malloc(size);
    if (!text)
        return NULL;
    n = (size_t)snprintf(text, size, "filch sim %s", job->scenario->name);
    for (int i = 0; i < job->words; i++)
        n += (size_t)snprintf(text + n, size - n, " %s", job->word[i]);
    if (job->workload)
        n += (size_t)snprintf(text + n, size - n, " --workload %s", job->workload);
    n += print_pairs(job, text + n, size - n);
    if (job->options.reps)
        n += (size_t)snprintf(text + n, size - n, " --reps %" PRIu64, job->options.reps);
    if (job->options.width > 0)
        snprintf(text + n, size - n, " --width %g", 100 * job->options.width);
    return text;
}

static int file_failed(const char *path, int rc)
{
    if (rc == -ENODATA)
        return cli_fail(COMMAND, "%s: this scenario has no plot", path);
    return cli_fail(COMMAND, "%s: %s", path, strerror(-rc));
}

static int write_findings(const struct sim_job *job)
{
    const struct sim_options *o = &job->options;
    int rc = 0;
    findings_print(job->findings, stdout, o->form, term_columns());
    if (o->svg && (rc = findings_svg(job->findings, o->svg)) != 0)
        return file_failed(o->svg, rc);
    if (o->html && (rc = findings_html(job->findings, o->html)) != 0)
        return file_failed(o->html, rc);
    return CLI_OK;
}

static int run_scenario(struct sim_job *job)
{
    char *command = command_of(job);
    if (!command)
        return cli_fail(COMMAND, "no memory");
    job->findings = findings_new(job->scenario->summary, command);
    if (job->options.no_plot)
        findings_hide_plots(job->findings);
    free(command);
    findings_parameter(job->findings, "scenario", job->scenario->name);
    for (int k = 0; k < SETUP_KEYS; k++)
        findings_parameter(job->findings, setup_key_help((enum setup_key)k)->name, job->setup.value[k]);
    int rc = job->scenario->run(job);
    if (rc == CLI_OK || rc == CLI_FAILED) {
        int written = write_findings(job);
        rc = rc == CLI_OK ? written : rc;
    }
    findings_free(job->findings);
    return rc;
}

static int has_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return 1;
    return 0;
}

static int scenario_main(const struct sim_scenario *s, int argc, char **argv)
{
    const char *word[SIM_WORDS];
    struct sim_job job = {.scenario = s, .word = word};
    char message[300];
    if (has_help(argc, argv)) {
        print_scenario_help(s);
        return CLI_OK;
    }
    setup_init(&job.base);
    if (setup_parse(&job.base, s->pairs, false, message, sizeof message) != 0)
        return cli_fail(COMMAND, "%s: %s", s->name, message);
    job.setup = job.base;
    int rc = arguments(&job, argc, argv);
    return rc == CLI_OK ? run_scenario(&job) : rc;
}

int sim_main(int argc, char **argv)
{
    if (argc < 2) {
        print_help();
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help();
        return CLI_OK;
    }
    if (strcmp(argv[1], "keys") == 0)
        return print_keys();
    const struct sim_scenario *s = sim_scenario_named(argv[1]);
    if (!s)
        return cli_usage(COMMAND, "there is no scenario '%s'", argv[1]);
    return scenario_main(s, argc - 2, argv + 2);
}
