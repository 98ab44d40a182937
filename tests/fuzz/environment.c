/* The environment: the first line is FILCH_WORKERS and FILCH_HOG_MS, the rest FILCH_POLICY. Whatever
 * they say, a pool gets a usable configuration, and each variable that is refused costs one printable
 * line. */
#include "core/config.h"
#include "core/report.h"
#include "fuzz.h"
#include "os/os.h"

static const char *fuzz_workers, *fuzz_policy;
static int fuzz_lines;

static const char *given(const char *name)
{
    if (strcmp(name, "FILCH_POLICY") == 0)
        return fuzz_policy;
    return fuzz_workers;
}

static void printed(const char *text, size_t length)
{
    FUZZ_CHECK(length > 1 && length <= 512 && text[length - 1] == '\n');
    for (size_t i = 0; i + 1 < length; i++)
        FUZZ_CHECK(text[i] >= ' ' && text[i] <= '~');
    fuzz_lines++;
}

#define os_getenv given
#define os_print printed
/* In the product a variable is named once per process; here every input is looked at. */
#define report_once(said, ...) ((void)(said), report_warning(__VA_ARGS__))
#include "core/config.c"
#undef report_once
#include "core/report.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *rest;
    size_t left, n = fuzz_line(data, size, &rest, &left);
    char *first = fuzz_string(data, n), *second = fuzz_string(rest, left);
    filch_config c, plain = FILCH_CONFIG_INIT, quiet;
    fuzz_workers = first;
    fuzz_policy = left ? second : NULL;
    fuzz_lines = 0;
    FUZZ_CHECK(config_resolve(&c, NULL) == 0);
    FUZZ_CHECK(c.workers >= 1 && c.workers <= FILCH_MAX_WORKERS);
    FUZZ_CHECK(fuzz_lines <= 4 && c.hog_ns >= 0);
    long number;
    int good = config_number(first, 1, FILCH_MAX_WORKERS, &number);
    FUZZ_CHECK(good ? c.workers == number : fuzz_lines >= 1);

    /* What came out is in range: given again, it is taken and stays the same. */
    c.no_environment = 1;
    FUZZ_CHECK(config_resolve(&quiet, &c) == 0);
    FUZZ_CHECK(memcmp(&quiet, &c, sizeof c) == 0);

    /* Whoever does not ask the environment does not get it. */
    fuzz_lines = 0;
    plain.no_environment = 1;
    plain.workers = 7;
    FUZZ_CHECK(config_resolve(&quiet, &plain) == 0 && quiet.workers == 7 && fuzz_lines == 0);
    free(first);
    free(second);
    return 0;
}
