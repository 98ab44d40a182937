/* pairs_kit.h: runs that tests describe as a user does, in pairs key=value. */
#ifndef FILCH_TESTS_PAIRS_KIT_H
#define FILCH_TESTS_PAIRS_KIT_H

#include "check.h"
#include "sim/setup.h"

__attribute__((format(printf, 2, 3), unused))
static void make_pairs(struct setup_run *run, const char *format, ...)
{
    static struct setup setup;
    char pairs[600], message[300] = "";
    va_list args;
    va_start(args, format);
    int n = vsnprintf(pairs, sizeof pairs, format, args);
    va_end(args);
    CHECK(n > 0 && (size_t)n < sizeof pairs);
    setup_init(&setup);
    CHECK_MSG(setup_parse(&setup, pairs, true, message, sizeof message) == 0, "%s", message);
    CHECK_MSG(setup_make(run, &setup, message, sizeof message) == 0, "%s", message);
}

CHECK_UNUSED_ static struct sim_result run_made(const struct setup_run *run)
{
    struct sim_result r;
    char message[300] = "";
    CHECK_MSG(sim_run(&run->config, &run->load, &r, message, sizeof message) == 0, "%s", message);
    return r;
}

#endif
