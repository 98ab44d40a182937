/* soak.c: `filch soak`. The work is done by a program of its own, filch-soak: the library in it is
 * linked with a layer that shakes it, which the command must not have. */
#include "cli.h"
#include "soak_help.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096

/* Beside the command as built, or where it was installed. */
static int program_find(char *path, size_t size)
{
    static const char *const places[] = {"filch-soak", "../libexec/filch/filch-soak"};
    char self[PATH_SIZE - 64];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return 0;
    self[length] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, size, "%s/%s", self, places[i]);
        if (access(path, X_OK) == 0)
            return 1;
    }
    return 0;
}

int soak_main(int argc, char **argv)
{
    char path[PATH_SIZE];
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        fputs(soak_help, stdout);
        return CLI_OK;
    }
    if (!program_find(path, sizeof path))
        return cli_fail("soak", "the program filch-soak is not there: build it with 'make' beside the "
                                "command, or install both");
    execv(path, argv);
    return cli_fail("soak", "%s cannot be started: %s", path, strerror(errno));
}
