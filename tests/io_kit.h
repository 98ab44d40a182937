/* io_kit.h: what tests of file descriptors share: tasks on a pool, and streams whose bytes are checked. */
#ifndef FILCH_TESTS_IO_KIT_H
#define FILCH_TESTS_IO_KIT_H

#include "pool_kit.h"

#include <fcntl.h>
#include <filch/io.h>
#include <filch/task.h>

KIT_UNUSED static filch_task *spawn(filch_pool *pool, int (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t = NULL;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

KIT_UNUSED static int join(filch_task *t)
{
    int result = -1;
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    kit_beat();
    return result;
}

/* Runs fn as a task of a pool with so many workers. */
KIT_UNUSED static int run_on(int workers, int (*fn)(void *), void *arg)
{
    filch_pool *pool = kit_pool(workers);
    int result = join(spawn(pool, fn, arg));
    kit_destroy(pool);
    return result;
}

#define ON_EACH(fn, arg)                                                                          \
    for (int workers_ = 1; workers_ <= 4; workers_++)                                             \
        CHECK_EQ(run_on(workers_, fn, arg), 0)

KIT_UNUSED static int64_t soon(int64_t ms)
{
    return filch_clock_ns() + ms * 1000000;
}

/* Bytes by their place in the stream. */
KIT_UNUSED static void fill(unsigned char *out, size_t n, size_t from)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)((from + i) * 131 + (from + i) / 251);
}

/* ---- streams --------------------------------------------------------------------------------- */

struct stream {
    int fd;
    size_t size;
};

KIT_UNUSED static int sends_stream(void *arg)
{
    struct stream *s = arg;
    unsigned char piece[3000];
    for (size_t done = 0; done < s->size;) {
        size_t n = s->size - done < sizeof piece ? s->size - done : sizeof piece;
        fill(piece, n, done);
        CHECK_EQ(filch_write_all(s->fd, piece, n, FILCH_FOREVER), n);
        done += n;
        kit_beat();
    }
    return 0;
}

KIT_UNUSED static int receives_stream(void *arg)
{
    struct stream *s = arg;
    unsigned char got[4096], want[4096];
    size_t done = 0;
    while (done < s->size) {
        ssize_t n = filch_read(s->fd, got, sizeof got, FILCH_FOREVER);
        CHECK(n > 0);
        fill(want, (size_t)n, done);
        CHECK_EQ(memcmp(got, want, (size_t)n), 0);
        done += (size_t)n;
    }
    CHECK_EQ(done, s->size);
    return 0;
}

/* Echoes until the other end is closed for writing. */
KIT_UNUSED static int echoes(void *arg)
{
    int fd = *(int *)arg;
    char text[1000];
    ssize_t n;
    while ((n = filch_read(fd, text, sizeof text, FILCH_FOREVER)) > 0)
        CHECK_EQ(filch_write_all(fd, text, (size_t)n, FILCH_FOREVER), n);
    CHECK_EQ(n, 0);
    CHECK_EQ(filch_close(fd), 0);
    return 0;
}

KIT_UNUSED static void check_stream(filch_pool *pool, int out, int in)
{
    struct stream to = {out, kit_scaled(600000, 10)}, from = {in, to.size};
    filch_task *a = spawn(pool, sends_stream, &to), *b = spawn(pool, receives_stream, &from);
    CHECK_EQ(join(a) | join(b), 0);
}

KIT_UNUSED static void check_echo(filch_pool *pool, int near, int far)
{
    filch_task *t = spawn(pool, echoes, &far);
    check_stream(pool, near, near);
    CHECK_EQ(shutdown(near, SHUT_WR), 0);
    char rest;
    CHECK_EQ(filch_read(near, &rest, 1, FILCH_FOREVER), 0); /* half-closed, then closed */
    CHECK_EQ(join(t), 0);
    CHECK_EQ(filch_close(near), 0);
}

#endif
