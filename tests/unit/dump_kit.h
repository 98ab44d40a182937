/* dump_kit.h: what the tests of filch/dump.h share: a dump as text, and tasks with names. */
#ifndef FILCH_TESTS_DUMP_KIT_H
#define FILCH_TESTS_DUMP_KIT_H

#include "pool_kit.h"

#include <filch/dump.h>
#include <filch/task.h>
#include <sys/mman.h>

/* ---- a dump as text ----------------------------------------------------------------------- */

static char *text;
static size_t text_size;

KIT_UNUSED static char *read_all(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    CHECK(size >= 0);
    free(text);
    text = calloc(1, (size_t)size + 1);
    CHECK(text);
    CHECK_EQ(pread(fd, text, (size_t)size, 0), size);
    text_size = (size_t)size;
    return text;
}

KIT_UNUSED static char *dump_of(filch_pool *pool)
{
    int fd = memfd_create("dump", 0);
    CHECK(fd >= 0);
    CHECK_EQ(pool ? filch_pool_dump(pool, fd) : filch_dump(fd), 0);
    read_all(fd);
    close(fd);
    return text;
}

/* The line that has all of these words, or null. */
KIT_UNUSED static const char *line_with(const char *dump, const char *a, const char *b)
{
    static char line[1024];
    for (const char *at = dump; *at;) {
        size_t n = strcspn(at, "\n");
        CHECK_MSG(at[n] == '\n' && n < sizeof line, "not a line: %s", at);
        memcpy(line, at, n);
        line[n] = '\0';
        if (strstr(line, a) && strstr(line, b))
            return line;
        at += n + 1;
    }
    return 0;
}

KIT_UNUSED static int lines_with(const char *dump, const char *a, const char *b)
{
    int count = 0;
    for (const char *at = dump; *at;) {
        char line[1024];
        size_t n = strcspn(at, "\n");
        CHECK(n < sizeof line);
        memcpy(line, at, n);
        line[n] = '\0';
        count += strstr(line, a) && strstr(line, b);
        at += n + (at[n] == '\n');
    }
    return count;
}

#define HAS(a, b) CHECK_MSG(line_with(text, a, b), "no line with \"%s\" and \"%s\" in\n%s", a, b, text)

/* ---- tasks --------------------------------------------------------------------------------- */

KIT_UNUSED static filch_task *spawn(filch_pool *pool, const char *name, int (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    a.name = name;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

KIT_UNUSED static void join(filch_task *t)
{
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
}

KIT_UNUSED static void await_waiting(filch_pool *pool, int n)
{
    char word[32];
    snprintf(word, sizeof word, " %d waiting", n);
    KIT_AWAIT(line_with(dump_of(pool), "filch dump: ", word));
}

#endif
