/* bench.c: `filch bench`. The programs of a case run in turn, round after round, so that whatever
 * disturbs the machine for a while disturbs all of them; the smallest time of each counts. It is
 * believed when two other runs came close to it: while that of one program stands alone, all go
 * on, unless the number of rounds was asked for. */
#include "bench_plan.h"
#include "bench_report.h"
#include "bench_run.h"
#include "cli.h"
#include "term.h"
#include <filch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 7
#define ROUNDS_MOST 21    /* while the smallest time of a program ...                        */
#define SETTLED_BY 2      /* ... does not have so many others ...                            */
#define SETTLED_NEAR 1.01 /* ... that are larger than it by no more than this factor         */
#define TIMEOUT_S 300

struct request {
    struct plan_filter filter;
    char suites[256];
    enum report_form form;
    int rounds, rounds_most; /* at least, and if one has not settled by then */
    int timeout_s;
    int help;
};

static const char help[] =
    "usage: filch bench [SUITE]... [OPTION]...\n\n"
    "Measures and compares; every result is checked. Without a suite: forkjoin.\n\n"
    "  --case LIST      only these cases (separated by commas; 'all' for those in brackets too)\n"
    "  --runtime LIST   only these: serial, filch, tbb, libgomp, libomp, go, tokio, epoll; in par\n"
    "                   serial, filch, tbb, gomp, omp, rayon; in sim filch, python\n"
    "  --mode LIST      only these modes: default, bounded, ...\n"
    "  --build LIST     only these: gcc-O3, gcc-O2, clang-O3, g++-O3, go, rustc-O3\n"
    "  --workers LIST   numbers of workers (1 and as many as a pool has by default; par: 1 and 2;\n"
    "                   tasks: 2, or what the case is about; sim: simulated ones, 16 and 1024)\n"
    "  --rounds N       runs of each program, in turn (7, and up to 21 while the smallest time of one\n"
    "                   has no two others within 1 % of it)\n"
    "  --quick          one round, and smaller sizes where the suite has them\n"
    "  --timeout S      seconds after which a program has failed (300)\n"
    "  --json           one object per line as soon as a case is done\n"
    "  --csv            a table for other programs\n"
    "  --help           this text\n\n"
    "Suites and their cases:\n";

static const char help_end[] =
    "\nns/op is the smallest time of all runs, divided by the number of forks or nodes of the case.\n"
    "T1/Ts: time on one worker against serial code (gcc -O3); Ts/Tn: gain on n workers.\n"
    "filch/x: filch's figure against this runtime's, and what it should be at most. In tasks, timer_p50,\n"
    "timer_p99 and latency are times, not times per operation, and the HTTP cases need wrk.\n"
    "In par, ns/op is per element, per search (find_any) or per call (for_tiny); /peer and /serial in\n"
    "filch's rows: its figure against the best peer's on as many workers, and against serial code's.\n"
    "In sim, ns/op is per task (model), per event (events), per run (exact).\n"
    "Status: 0; 1 if a result of serial or filch is wrong or missing; 2 for a bad request.\n";

/* ---- the request --------------------------------------------------------------------------- */

static int workers_read(struct plan_filter *f, const char *list)
{
    char text[256], *word;
    if (strlen(list) >= sizeof text)
        return 0;
    strcpy(text, list);
    f->worker_count = 0;
    for (word = strtok(text, ","); word; word = strtok(NULL, ","))
        if (f->worker_count == PLAN_WORKERS_MAX ||
            !cli_number(word, 1, FILCH_MAX_WORKERS, &f->workers[f->worker_count++]))
            return 0;
    return f->worker_count > 0;
}

static void workers_default(struct plan_filter *f)
{
    filch_pool *pool;
    f->workers[f->worker_count++] = 1;
    if (filch_pool_create(&pool, NULL))
        return;
    int all = filch_pool_workers(pool);
    filch_pool_destroy(pool);
    if (all > 1)
        f->workers[f->worker_count++] = all;
}

static int option_take(struct request *r, int c, const char *value)
{
    struct plan_filter *f = &r->filter;
    switch (c) {
    case 'c': f->cases = value; return 1;
    case 'r': f->runtimes = value; return 1;
    case 'm': f->modes = value; return 1;
    case 'b': f->builds = value; return 1;
    case 'w': f->workers_asked = 1; return workers_read(f, value);
    case 'n': return cli_number(value, 1, PLAN_ROUNDS_MAX, &r->rounds);
    case 't': return cli_number(value, 1, 1000000, &r->timeout_s);
    case 'q': f->quick = 1; return 1;
    case 'j': r->form = REPORT_JSON; return 1;
    case 'v': r->form = REPORT_CSV; return 1;
    default: r->help = 1; return 1;
    }
}

static int suites_take(struct request *r, char **words)
{
    for (; *words; words++) {
        if (strlen(r->suites) + strlen(*words) + 2 > sizeof r->suites)
            return 0;
        if (r->suites[0])
            strcat(r->suites, ",");
        strcat(r->suites, *words);
    }
    if (!r->suites[0])
        strcpy(r->suites, "forkjoin");
    r->filter.suites = r->suites;
    return 1;
}

static int request_read(struct request *r, int argc, char **argv)
{
    static const struct option options[] = {
        {"case", required_argument, NULL, 'c'},    {"runtime", required_argument, NULL, 'r'},
        {"mode", required_argument, NULL, 'm'},    {"build", required_argument, NULL, 'b'},
        {"workers", required_argument, NULL, 'w'}, {"rounds", required_argument, NULL, 'n'},
        {"timeout", required_argument, NULL, 't'}, {"quick", no_argument, NULL, 'q'},
        {"json", no_argument, NULL, 'j'},          {"csv", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},          {0}};
    int c;
    *r = (struct request){.timeout_s = TIMEOUT_S};
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (c == ':')
            return cli_usage("bench", "'%s' needs a value", argv[optind - 1]);
        if (c == '?')
            return cli_usage("bench", "'%s' is not an option", argv[optind - 1]);
        if (!option_take(r, c, optarg))
            return cli_usage("bench", "'%s' is not a valid value", optarg);
    }
    const char *unknown = suites_take(r, argv + optind) ? plan_unknown_suite(r->suites) : "...";
    if (unknown)
        return cli_usage("bench", "there is no suite '%s'", unknown);
    if ((unknown = plan_unknown_case(r->filter.cases)))
        return cli_usage("bench", "there is no case '%s'", unknown);
    r->rounds_most = r->rounds;
    if (!r->rounds) {
        r->rounds = r->filter.quick ? 1 : ROUNDS;
        r->rounds_most = r->filter.quick ? 1 : ROUNDS_MOST;
    }
    return CLI_OK;
}

/* ---- the runs ------------------------------------------------------------------------------ */

static int case_length(const struct plan *p, int first)
{
    int last = first;
    while (last < p->n && p->rows[last].name == p->rows[first].name)
        last++;
    return last - first;
}

/* Are there other samples next to the smallest? Then there is a floor, and it was reached. */
static int row_settled(const struct plan_row *row)
{
    int company = 0;
    for (int i = 0; i < row->n; i++)
        company += i != row->best && row->samples[i] <= row->samples[row->best] * SETTLED_NEAR;
    return company >= SETTLED_BY || row->error[0];
}

/* What is compared with nothing need not be that exact. */
static int all_settled(const struct plan_row *rows, int n)
{
    int others = 0, settled = 1;
    for (int i = 0; i < n; i++) {
        others += strcmp(rows[i].runtime, "filch") != 0;
        settled &= row_settled(&rows[i]);
    }
    return settled || !others;
}

static void case_run(const struct request *r, const char *folder, struct plan_row *rows, int n)
{
    for (int round = 0; round < r->rounds_most; round++) {
        if (round >= r->rounds && all_settled(rows, n))
            break;
        for (int i = 0; i < n; i++) {
            term_progress("%s/%s: round %d of %d to %d, %s %s on %d", rows[i].suite, rows[i].name,
                          round + 1, r->rounds, r->rounds_most, rows[i].runtime, rows[i].mode,
                          rows[i].workers);
            run_once(&rows[i], folder, r->timeout_s);
        }
    }
    term_progress_end();
}

static int rows_failed(const struct plan_row *rows, int n)
{
    for (int i = 0; i < n; i++)
        if (rows[i].required && rows[i].error[0])
            return 1;
    return 0;
}

static int plan_run(const struct request *r, struct plan *p)
{
    const char *folder = run_folder();
    int failed = 0;
    if (!folder)
        cli_fail("bench", "the benchmark programs are not there: build them with 'make', or name "
                          "their folder in FILCH_BENCH_DIR");
    report_begin(r->form);
    for (int first = 0, n; first < p->n; first += n) {
        n = case_length(p, first);
        case_run(r, folder, p->rows + first, n);
        report_case(r->form, p->rows + first, n);
        failed |= rows_failed(p->rows + first, n);
    }
    return failed ? CLI_FAILED : CLI_OK;
}

int bench_main(int argc, char **argv)
{
    struct request r;
    struct plan p;
    int status = request_read(&r, argc, argv);
    if (status)
        return status;
    if (r.help) {
        fputs(help, stdout);
        plan_list();
        fputs(help_end, stdout);
        return CLI_OK;
    }
    if (!r.filter.worker_count)
        workers_default(&r.filter);
    if (plan_make(&p, &r.filter))
        return cli_fail("bench", "there is no memory for the plan");
    if (!p.n)
        return cli_usage("bench", "nothing matches this choice");
    status = plan_run(&r, &p);
    plan_free(&p);
    return status;
}
