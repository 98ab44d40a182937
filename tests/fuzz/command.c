/* The arguments of the command, one per line. `filch bench` is the one that reads most: here it finds
 * no benchmark programs, so that a good request ends as soon as its plan is made. For the others a
 * word is added that they refuse. Every request ends with a status of cli.h. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <getopt.h>
#include <stdio.h>

int command_main(int argc, char **argv);
#define main command_main
#include "tools/main.c"
#undef main

enum { WORDS = 24 };

static int words_make(char **words, const uint8_t *data, size_t size)
{
    int n = 0;
    while (size && n < WORDS) {
        const uint8_t *rest;
        size_t left, length = fuzz_line(data, size, &rest, &left);
        words[n++] = fuzz_string(data, length);
        data = rest;
        size = left;
    }
    return n;
}

/* In a program of its own these are set once. */
static void prepare(void)
{
    optind = 0;
    setenv("FILCH_BENCH_DIR", "/nonexistent", 1);
    unsetenv("FILCH_WORKERS");
    unsetenv("FILCH_POLICY");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[] = "filch", refused[] = "--no-such-option";
    char *words[WORDS], *argv[WORDS + 5];
    int argc = 0, n = words_make(words, data, size);
    prepare();
    argv[argc++] = name;
    for (int i = 0; i < n; i++)
        argv[argc++] = words[i];
    int runs = n && (strcmp(words[0], "bench") == 0 || strcmp(words[0], "help") == 0);
    for (int i = 0; i < 2 && n && !runs; i++) /* an option may take the first as its value */
        argv[argc++] = refused;
    argv[argc] = NULL;
    int status = command_main(argc, argv);
    FUZZ_CHECK(status == CLI_OK || status == CLI_FAILED || status == CLI_USAGE);
    for (int i = 0; i < n; i++)
        free(words[i]);
    return 0;
}
