/* load_cases.h: runs made from pairs key=value, as `filch sim` makes them. */
#ifndef FILCH_TESTS_LOAD_CASES_H
#define FILCH_TESTS_LOAD_CASES_H

#include "check.h"
#include "sim/replicate.h"

static void load_case_make(struct setup_run *run, const char *pairs)
{
    struct setup setup;
    char message[300] = "";
    setup_init(&setup);
    CHECK_MSG(setup_parse(&setup, pairs, false, message, sizeof message) == 0, "%s", message);
    CHECK_MSG(setup_make(run, &setup, message, sizeof message) == 0, "%s", message);
}

/* Replication `i`, with its records. */
CHECK_UNUSED_ static struct sim_result load_case_run(const char *pairs, uint64_t i)
{
    struct setup_run run;
    struct sim_config config;
    struct sim_load load;
    struct sim_result r;
    char message[300] = "";
    load_case_make(&run, pairs);
    setup_replication(&run, i, &config, &load);
    config.record = true;
    CHECK_MSG(sim_run(&config, &load, &r, message, sizeof message) == 0, "%s", message);
    setup_free(&run);
    return r;
}

/* `n` replications of both, on this thread. */
CHECK_UNUSED_ static void load_case_pair(const char *first, const char *second, uint64_t n,
                                         struct replications out[2])
{
    struct setup_run run[2];
    const struct setup_run *runs[2] = {&run[0], &run[1]};
    struct replicate_options o = {.threads = 1};
    char message[300] = "";
    load_case_make(&run[0], first);
    load_case_make(&run[1], second);
    memset(out, 0, 2 * sizeof *out);
    CHECK_MSG(replicate(runs, 2, 0, n, &o, out, message, sizeof message) == 0, "%s", message);
    setup_free(&run[0]);
    setup_free(&run[1]);
}

/* The second against the first. */
CHECK_UNUSED_ static struct paired_result load_case_judge(const struct replications out[2], enum metric m)
{
    struct paired p = {0};
    for (uint64_t i = 0; i < out[0].n; i++)
        paired_add(&p, out[0].value[i][m], out[1].value[i][m]);
    return paired_judge(&p, 0.95);
}

CHECK_UNUSED_ static void load_case_free(struct replications out[2])
{
    replications_free(&out[0]);
    replications_free(&out[1]);
}

#endif
