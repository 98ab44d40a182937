/* main.c: the program filch-soak, which `filch soak` starts. */
#include "seam.h"
#include "soak.h"
#include "tools/soak_help.h"
#include "tools/term.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const struct phase phases[] = {
    {"fib", "typed forks, default and bounded, with a known answer", phase_fib, 3, false},
    {"trees", "uneven trees of typed forks, a mark for each", phase_trees, 3, false},
    {"bounded", "the same with bounded tasks", phase_bounded, 3, false},
    {"forks", "many forks at once (FILCH_FORKS), both kinds of task", phase_forks, 3, false},
    {"plain", "filch_fork, filch_join, filch_join2, inside and outside of pools", phase_plain, 2, false},
    {"jobs", "submit, single and arrays, to every place, from jobs too; waits with deadlines", phase_jobs, 4,
     false},
    {"detached", "detached jobs with clean-ups, in chains", phase_detached, 3, false},
    {"waits", "jobs that wait for jobs", phase_waits, 2, false},
    {"tasks", "tasks: spawn, go, join with deadlines, detach, yield, sleep, pin", phase_tasks, 4, false},
    {"events", "events between pools and foreign threads; a wait with own forks pending", phase_events, 2,
     false},
    {"nested", "FILCH_RUN from jobs of one pool to another and back", phase_nested, 2, false},
    {"pins", "pinned jobs that fork and join", phase_pins, 2, false},
    {"churn", "pools come and go with jobs in flight", phase_churn, 3, false},
    {"shutdown", "shutdown with deadlines while others submit", phase_shutdown, 2, false},
    {"guests", "foreign threads that all want to work in one pool", phase_guests, 2, false},
    {"deques", "filch/deque.h with thieves, batches, growth and wrap", phase_deques, 2, false},
    {"faults", "memory, pages, threads and barriers that fail", phase_faults, 3, false},
    {"children", "fork() from busy pools; the child works and ends (not under sanitizers)", phase_children,
     1, true},
};
const int phase_count = (int)(sizeof phases / sizeof *phases);
_Static_assert(sizeof phases / sizeof *phases <= SOAK_PHASES, "raise SOAK_PHASES");

/* ---- the request --------------------------------------------------------------------------- */

static int usage(const char *what, const char *which)
{
    fprintf(stderr, "filch soak: '%s' %s; see 'filch soak --help'\n", which, what);
    return 2;
}

static bool number(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || *text < '0' || *text > '9' || *end || n < low || n > high)
        return false;
    *out = n;
    return true;
}

/* Returns the first word that is no phase, or null. */
static const char *choose(struct options *o, char *list)
{
    memset(o->chosen, 0, sizeof o->chosen);
    for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
        int i = 0;
        while (i < phase_count && strcmp(phases[i].name, word) != 0)
            i++;
        if (i == phase_count)
            return word;
        o->chosen[i] = true;
    }
    return NULL;
}

static bool possible(const struct phase *p)
{
    return !(SOAK_SLOW && p->plain_only);
}

static int option_take(struct options *o, int c, char *value)
{
    uint64_t n;
    const char *unknown;
    switch (c) {
    case 's':
        if (!number(value, 1, 1000000, &n))
            return usage("is not a number of seconds", value);
        o->seconds = (int)n;
        return 0;
    case 'e':
        return number(value, 0, 1000000000000000, &o->seed) ? 0 : usage("is not a seed", value);
    case 'p':
        unknown = choose(o, value);
        return unknown ? usage("is not a phase ('--list' names them)", unknown) : 0;
    case 'j': o->json = true; return 0;
    case 'l': o->list = true; return 0;
    default: o->help = true; return 0;
    }
}

static int options_read(struct options *o, int argc, char **argv)
{
    static const struct option known[] = {
        {"seconds", required_argument, NULL, 's'}, {"seed", required_argument, NULL, 'e'},
        {"phase", required_argument, NULL, 'p'},   {"json", no_argument, NULL, 'j'},
        {"list", no_argument, NULL, 'l'},          {"help", no_argument, NULL, 'h'},
        {0}};
    int c, status = 0;
    *o = (struct options){.seconds = 10, .seed = (uint64_t)soak_clock_ns() / 1000 % 1000000};
    for (int i = 0; i < phase_count; i++)
        o->chosen[i] = true;
    opterr = 0;
    while (!status && (c = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
        if (c == ':')
            return usage("needs a value", argv[optind - 1]);
        if (c == '?')
            return usage("is not an option", argv[optind - 1]);
        status = option_take(o, c, optarg);
    }
    if (!status && argv[optind])
        return usage("is not expected", argv[optind]);
    return status;
}

static void list(void)
{
    for (int i = 0; i < phase_count; i++)
        printf("%-10s %s\n", phases[i].name, phases[i].text);
}

/* ---- drivers ------------------------------------------------------------------------------- */

static struct options request;

static unsigned weight_of(int i)
{
    return request.chosen[i] && possible(&phases[i]) ? phases[i].weight : 0;
}

static unsigned weights(void)
{
    unsigned sum = 0;
    for (int i = 0; i < phase_count; i++)
        sum += weight_of(i);
    return sum;
}

static const struct phase *phase_draw(struct driver *d)
{
    unsigned dice = driver_below(d, weights());
    int i = 0;
    while (dice >= weight_of(i))
        dice -= weight_of(i++);
    return &phases[i];
}

static void phase_once(struct driver *d)
{
    const struct phase *p = phase_draw(d);
    filch_store_relaxed(&d->phase, p); /* order: a sign to the watch */
    tally_begin(d);
    p->run(d);
    uint64_t ran = tally_end(d);
    struct totals *t = &soak_phase_totals[p - phases];
    filch_add_relaxed(&t->tasks, ran); /* order: figures, both */
    filch_add_relaxed(&t->runs, 1u);
}

static void *drive(void *arg)
{
    struct driver *d = arg;
    seam_enter(d->index, rng_next(&d->rng));
    while (!soak_ending())
        phase_once(d);
    seam_leave();
    filch_store_release(&d->finished, 1u); /* order: the accounts are closed */
    return NULL;
}

/* ---- signals ------------------------------------------------------------------------------- */

static void on_interrupt(int signal)
{
    (void)signal;
    soak_end();
}

/* The library ends with abort when it sees a mistake: say which dice led there. */
static void on_crash(int number)
{
    char line[400];
    int n = snprintf(line, sizeof line, "filch soak: signal %d, seed %llu, in", number,
                     (unsigned long long)request.seed);
    for (int i = 0; i < SOAK_DRIVERS; i++) {
        const struct phase *p = filch_load_relaxed(&soak_drivers[i].phase); /* order: a figure */
        n += snprintf(line + n, sizeof line - (size_t)n, " %s", p ? p->name : "nothing");
    }
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        _exit(1);
    sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL); /* and now for real */
    raise(number);
}

static void signals(void)
{
    struct sigaction interrupt = {.sa_handler = on_interrupt};
    struct sigaction crash = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGTERM, &interrupt, NULL);
    if (SOAK_SLOW)
        return; /* the sanitizers have handlers of their own */
    static const int crashes[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigaction(crashes[i], &crash, NULL);
}

/* ---- the run ------------------------------------------------------------------------------- */

static int run(const struct options *o)
{
    pthread_t threads[SOAK_DRIVERS];
    int64_t begin = soak_clock_ns();
    seam_enter(SEAM_SHARED, o->seed);
    int rc = draw_shared_create(o->seed);
    seam_leave();
    if (rc != 0) {
        fprintf(stderr, "filch soak: no pool to begin with: %s\n", strerror(-rc));
        return 1;
    }
    for (int i = 0; i < SOAK_DRIVERS; i++)
        driver_init(&soak_drivers[i], i, o->seed);
    for (int i = 0; i < SOAK_DRIVERS; i++)
        if (pthread_create(&threads[i], NULL, drive, &soak_drivers[i]) != 0) {
            fputs("filch soak: no thread to begin with\n", stderr);
            return 1;
        }
    bool ended = watch_run(o);
    if (ended) {
        for (int i = 0; i < SOAK_DRIVERS; i++)
            pthread_join(threads[i], NULL);
        draw_shared_destroy();
        for (int i = 0; i < SOAK_DRIVERS; i++)
            driver_free(&soak_drivers[i]);
    }
    report_end(o, (double)(soak_clock_ns() - begin) / 1e9);
    if (!ended)
        _exit(1); /* threads hang: nothing can be taken down */
    return report_status();
}

static int obey(void)
{
    if (request.help)
        fputs(soak_help, stdout);
    else if (request.list)
        list();
    else if (weights() == 0)
        return usage("leaves no phase in this build", "--phase");
    else {
        signals();
        return run(&request);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int status = options_read(&request, argc, argv);
    if (status == 0)
        status = obey();
    return status == 0 && term_output_lost("filch soak") ? 1 : status;
}
