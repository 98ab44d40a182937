/* demo.c: `filch demo`. Real work, serial and on all workers, with a verdict. */
#include "cli.h"
#include "demo.h"
#include "term.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAR 24
#define AGAIN_NS 12000000000 /* no second run of anything after this long */

static const char help[] =
    "usage: filch demo [OPTION]...\n\n"
    "Runs a tree search, n-queens, a merge sort and a Mandelbrot picture as plain serial code and\n"
    "on all workers, compares the results and the times (best of two), and ends in a verdict.\n"
    "About ten seconds on two cores.\n\n"
    "  --workers N    instead of as many as the default pool has\n"
    "  --image FILE   write the picture to FILE, which ends in .pgm or .ppm\n"
    "  --quick        small sizes, one run: shows that it works, not how fast\n"
    "  --help         this text\n\n"
    "Status: 0; 1 if a result is wrong; 2 for a bad request.\n";

struct request {
    int workers, quick, help;
    const char *image;
};

struct outcome {
    double serial_s, parallel_s;
    int right;
    char what[64];
};

static const struct demo_work *const works[] = {&demo_tree, &demo_queens, &demo_sort,
                                                &demo_mandelbrot};
#define WORKS (sizeof works / sizeof *works)

/* ---- the runs ------------------------------------------------------------------------------ */

static double timed(const struct demo_work *w, filch_pool *pool)
{
    int64_t start = filch_clock_ns();
    if (pool)
        w->parallel(pool);
    else
        w->serial();
    return (double)(filch_clock_ns() - start) / 1e9;
}

static void keep_best(double *best, double seconds)
{
    if (*best <= 0 || seconds < *best)
        *best = seconds;
}

static int work_run(const struct demo_work *w, filch_pool *pool, int quick, int64_t begun,
                    struct outcome *o)
{
    *o = (struct outcome){.right = 1};
    if (w->prepare(quick))
        return -1;
    for (int run = 0; run < 2; run++) {
        if (run > 0 && (quick || filch_clock_ns() - begun > AGAIN_NS))
            break;
        term_progress("%s: serial ...", w->name);
        keep_best(&o->serial_s, timed(w, NULL));
        term_progress("%s: on %d workers ...", w->name, filch_pool_workers(pool));
        keep_best(&o->parallel_s, timed(w, pool));
        o->right &= w->right();
    }
    w->describe(o->what, sizeof o->what);
    term_progress_end();
    return 0;
}

/* ---- the report ---------------------------------------------------------------------------- */

static void head_print(int workers)
{
    char title[32];
    snprintf(title, sizeof title, "%d worker%s", workers, workers == 1 ? "" : "s");
    printf("%-12s%-26s%10s%12s%10s\n", "work", "", "serial", title, "speed-up");
}

static void outcome_print(const struct demo_work *w, const struct outcome *o, int workers)
{
    char bar[BAR * 4 + 1];
    double gain = o->serial_s / o->parallel_s;
    term_bar(bar, sizeof bar, gain / workers, BAR);
    printf("%-12s%-26s%8.3f s%10.3f s%9.2fx  %s%s\n", w->name, o->what, o->serial_s, o->parallel_s,
           gain, bar, o->right ? "" : "  WRONG");
    fflush(stdout);
}

static double gain_mean(const struct outcome *o)
{
    double sum = 0;
    for (size_t i = 0; i < WORKS; i++)
        sum += log(o[i].serial_s / o[i].parallel_s);
    return exp(sum / WORKS);
}

static int wrong_count(const struct outcome *o)
{
    int wrong = 0;
    for (size_t i = 0; i < WORKS; i++)
        wrong += !o[i].right;
    return wrong;
}

static int verdict(const struct outcome *o, int workers, int quick)
{
    double gain = gain_mean(o), share = 100 * gain / workers;
    if (wrong_count(o)) {
        printf("Verdict: %d of %zu results differ from the serial ones. This is a bug.\n",
               wrong_count(o), WORKS);
        return CLI_FAILED;
    }
    printf("Verdict: every result is the same as the serial one. ");
    if (quick)
        printf("The sizes are too small to judge speed.\n");
    else if (workers == 1)
        printf("One worker has nobody to share with: it needs %.2f times the time of plain code.\n",
               1 / gain);
    else if (share >= 80)
        printf("%d workers are %.2f times as fast as serial code, %.0f %% of the ideal.\n", workers,
               gain, share);
    else
        printf("%d workers are %.2f times as fast as serial code, only %.0f %% of the ideal: is the "
               "machine busy, or are these fewer real cores? 'filch info' shows the CPUs.\n",
               workers, gain, share);
    return CLI_OK;
}

static int picture_save(const char *path)
{
    int error = demo_mandelbrot_save(path);
    if (error)
        return cli_fail("demo", "cannot write %s: %s", path, strerror(-error));
    printf("The picture is in %s.\n", path);
    return CLI_OK;
}

/* ---- the command --------------------------------------------------------------------------- */

static int demo_run(const struct request *r, filch_pool *pool)
{
    struct outcome outcomes[WORKS];
    int workers = filch_pool_workers(pool), status = CLI_OK;
    int64_t begun = filch_clock_ns();

    head_print(workers);
    for (size_t i = 0; i < WORKS; i++) {
        if (work_run(works[i], pool, r->quick, begun, &outcomes[i]))
            return cli_fail("demo", "there is no memory for: %s", works[i]->name);
        outcome_print(works[i], &outcomes[i], workers);
    }
    printf("\n");
    demo_workers(pool);
    if (term_is(stdout))
        demo_mandelbrot_preview();
    if (r->image)
        status = picture_save(r->image);
    return verdict(outcomes, workers, r->quick) || status;
}

static int request_read(struct request *r, int argc, char **argv)
{
    static const struct option options[] = {{"workers", required_argument, NULL, 'w'},
                                            {"image", required_argument, NULL, 'i'},
                                            {"quick", no_argument, NULL, 'q'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int c;
    *r = (struct request){0};
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (c == 'w' && !cli_number(optarg, 1, FILCH_MAX_WORKERS, &r->workers))
            return cli_usage("demo", "'%s' is not a number of workers", optarg);
        if (c == 'i' && !demo_mandelbrot_named(optarg))
            return cli_usage("demo", "'%s' must end in .pgm or .ppm", optarg);
        if (c == ':')
            return cli_usage("demo", "'%s' needs a value", argv[optind - 1]);
        if (c == '?')
            return cli_usage("demo", "'%s' is not an option", argv[optind - 1]);
        r->image = c == 'i' ? optarg : r->image;
        r->quick |= c == 'q';
        r->help |= c == 'h';
    }
    if (optind < argc)
        return cli_usage("demo", "'%s' is not expected", argv[optind]);
    return CLI_OK;
}

int demo_main(int argc, char **argv)
{
    filch_config config = FILCH_CONFIG_INIT;
    struct request r;
    filch_pool *pool;
    int status = request_read(&r, argc, argv);
    if (status)
        return status;
    if (r.help) {
        fputs(help, stdout);
        return CLI_OK;
    }
    config.name = "demo";
    config.workers = r.workers;
    if (filch_pool_create(&pool, &config))
        return cli_fail("demo", "there is no memory for a pool");
    status = demo_run(&r, pool);
    filch_pool_destroy(pool);
    return status;
}
