/* said_kit.h: what the library said on stderr, while it says it. */
#ifndef FILCH_TESTS_SAID_KIT_H
#define FILCH_TESTS_SAID_KIT_H

#include "pool_kit.h"

#include <sys/mman.h>
#include <sys/stat.h>

static char said[1 << 16];
static int saved_stderr, captured = -1;

KIT_UNUSED static void capture(void)
{
    fflush(stderr);
    saved_stderr = dup(2);
    captured = memfd_create("stderr", 0);
    CHECK(saved_stderr >= 0 && captured >= 0);
    dup2(captured, 2);
    check_output = saved_stderr;
}

/* The last of it, if it is much: a machine that has other things to do makes it long. */
KIT_UNUSED static const char *so_far(void)
{
    struct stat s;
    if (captured < 0)
        return said;
    memset(said, 0, sizeof said);
    CHECK_EQ(fstat(captured, &s), 0);
    off_t most = sizeof said - 1, from = s.st_size > most ? s.st_size - most : 0;
    CHECK(pread(captured, said, sizeof said - 1, from) >= 0);
    return said;
}

KIT_UNUSED static void release(void)
{
    so_far();
    dup2(saved_stderr, 2);
    check_output = 2;
    close(saved_stderr);
    close(captured);
    captured = -1;
}

KIT_UNUSED static int times(const char *word)
{
    int n = 0;
    for (const char *at = so_far(); (at = strstr(at, word)); at++)
        n++;
    return n;
}

#endif
