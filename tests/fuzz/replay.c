/* replay.c: main of the fuzz targets where there is no libFuzzer.
 *
 *     fuzz_NAME DIRECTORY
 *
 * runs the target on the empty input and on every file of the directory (in order of their names),
 * each of them also cut short at every place and with a bit flipped in every byte: or at some
 * hundred places, for longer files. The same every time. What the target prints is dropped; a failure
 * names the file and what was done to it. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PLACES = 400, LARGEST = 1 << 20 };

void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

static int say = STDERR_FILENO; /* where our own messages go */
static char running[512] = "before the first input";
static unsigned long inputs;

void fuzz_broken(const char *file, int line, const char *claim)
{
    dprintf(say, "%s:%d: broken claim: %s\n", file, line, claim);
}

static void died(int sig)
{
    static const char text[] = "replay: it died with this input: ";
    if (write(say, text, sizeof text - 1) < 0 || write(say, running, strlen(running)) < 0 ||
        write(say, "\n", 1) < 0)
        _exit(1);
    signal(sig, SIG_DFL);
    raise(sig);
}

/* The target's output goes nowhere, a sanitizer's report does not. */
static void hush(void)
{
    int nowhere = open("/dev/null", O_WRONLY);
    say = dup(STDERR_FILENO);
    if (nowhere < 0 || say < 0)
        abort();
    if (__sanitizer_set_report_fd)
        __sanitizer_set_report_fd((void *)(intptr_t)say);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
    signal(SIGABRT, died);
}

/* In memory of exactly its size: a byte too far is seen by the address sanitizer. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    inputs++;
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run_variants(const char *name, uint8_t *data, size_t size)
{
    size_t step = size / PLACES + 1;
    snprintf(running, sizeof running, "%s", name);
    run(data, size);
    for (size_t i = 0; i < size; i += step) {
        snprintf(running, sizeof running, "the first %zu bytes of %s", i, name);
        run(data, i);
        uint8_t bit = (uint8_t)(1u << (i * 5 + size) % 8);
        snprintf(running, sizeof running, "%s with byte %zu ^= %d", name, i, bit);
        data[i] ^= bit;
        run(data, size);
        data[i] ^= bit;
    }
}

static void run_file(const char *directory, const char *name)
{
    static uint8_t data[LARGEST];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        dprintf(say, "replay: cannot read %s\n", path);
        exit(1);
    }
    size_t size = fread(data, 1, sizeof data, f);
    fclose(f);
    run_variants(name, data, size);
}

static int visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct dirent **list;
    int n = argc == 2 ? scandir(argv[1], &list, visible, alphasort) : -1;
    if (n <= 0) {
        fprintf(stderr, "usage: %s DIRECTORY, which must not be empty\n", argv[0]);
        return 2;
    }
    hush();
    snprintf(running, sizeof running, "the empty input");
    run(NULL, 0);
    for (int i = 0; i < n; i++) {
        run_file(argv[1], list[i]->d_name);
        free(list[i]);
    }
    free(list);
    dprintf(say, "%d files, %lu inputs: no claim broken\n", n, inputs);
    return 0;
}
