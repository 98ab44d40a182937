/* sim_kit.h: runs that are described by pairs key=value, as on the command line of `filch sim`. */
#ifndef FILCH_TESTS_SIM_KIT_H
#define FILCH_TESTS_SIM_KIT_H

#include "check.h"
#include "sim/setup.h"

enum { KIT_TEXT = 1024 };

struct kit {
    struct setup_run run;
    struct sim_result r;
    int rc;
    char message[300];
};

/* Runs `pairs`, and then `more`, with records. kit_end() frees what it holds, also if the run was refused. */
CHECK_UNUSED_ static void kit_try(struct kit *k, const char *pairs, const char *more)
{
    struct setup *s = malloc(sizeof *s);
    memset(k, 0, sizeof *k);
    CHECK(s != NULL);
    setup_init(s);
    k->rc = setup_parse(s, pairs, true, k->message, sizeof k->message);
    if (k->rc == 0)
        k->rc = setup_parse(s, more, true, k->message, sizeof k->message);
    if (k->rc == 0)
        k->rc = setup_make(&k->run, s, k->message, sizeof k->message);
    free(s);
    k->run.config.record = true;
    if (k->rc == 0)
        k->rc = sim_run(&k->run.config, &k->run.load, &k->r, k->message, sizeof k->message);
}

/* The same; the run must be accepted. */
CHECK_UNUSED_ static void kit_run(struct kit *k, const char *pairs, const char *more)
{
    kit_try(k, pairs, more);
    CHECK_MSG(k->rc == 0, "%s %s: %s", pairs, more, k->message);
}

CHECK_UNUSED_ static void kit_end(struct kit *k)
{
    sim_result_free(&k->r);
    setup_free(&k->run);
}

#endif
