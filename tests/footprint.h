/* footprint.h: what a test's process takes. */
#ifndef FILCH_TESTS_FOOTPRINT_H
#define FILCH_TESTS_FOOTPRINT_H

#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline long status_kib(const char *text, const char *key)
{
    const char *line = strstr(text, key);
    CHECK(line);
    return strtol(line + strlen(key), 0, 10);
}

/* Memory in use and the page tables that it takes. */
static inline long footprint_kib(void)
{
    char text[8192];
    int fd = open("/proc/self/status", O_RDONLY);
    CHECK(fd >= 0);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    CHECK(n > 0);
    text[n] = '\0';
    return status_kib(text, "\nVmRSS:") + status_kib(text, "\nVmPTE:");
}

#endif
