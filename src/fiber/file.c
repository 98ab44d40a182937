/* file.c: calls that wait for a disk.
 *
 * A file is always ready, and may take its time all the same. What the page cache has is had at once; the
 * rest is done by the threads of filch_blocking. */
#include "fiber/file.h"
#include "core/budget.h"
#include "core/report.h"
#include "os/os_io.h"

#include <errno.h>
#include <filch/blocking.h>
#include <filch/file.h>

struct file_call {
    int fd;
    void *in;
    const void *out;
    size_t size;
    int64_t at;
    ssize_t result;
};

static int read_it(void *arg)
{
    struct file_call *c = arg;
    c->result = os_read_blocking(c->fd, c->in, c->size, c->at);
    return 0;
}

static int write_it(void *arg)
{
    struct file_call *c = arg;
    c->result = os_write_blocking(c->fd, c->out, c->size, c->at);
    return 0;
}

ssize_t file_read(int fd, void *buffer, size_t size, int64_t at)
{
    struct file_call c = {.fd = fd, .in = buffer, .size = size, .at = at};
    (void)filch_blocking(read_it, &c);
    return c.result;
}

ssize_t file_write(int fd, const void *buffer, size_t size, int64_t at)
{
    struct file_call c = {.fd = fd, .out = buffer, .size = size, .at = at};
    (void)filch_blocking(write_it, &c);
    return c.result;
}

/* ---- the public face ------------------------------------------------------------------------ */

ssize_t filch_pread(int fd, void *buffer, size_t size, off_t offset)
{
    if (!buffer && size > 0)
        report_misuse("filch_pread", "null buffer");
    if (offset < 0)
        return -EINVAL;
    budget_spend();
    ssize_t r = os_pread(fd, buffer, size, offset);
    return r == -EAGAIN ? file_read(fd, buffer, size, offset) : r;
}

ssize_t filch_pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
    if (!buffer && size > 0)
        report_misuse("filch_pwrite", "null buffer");
    if (offset < 0)
        return -EINVAL;
    budget_spend();
    ssize_t r = os_pwrite(fd, buffer, size, offset);
    return r == -EAGAIN ? file_write(fd, buffer, size, offset) : r;
}

struct opening {
    const char *path;
    int flags;
    unsigned mode;
};

static int open_it(void *arg)
{
    struct opening *o = arg;
    return os_open_blocking(o->path, o->flags, o->mode);
}

int filch_open(const char *path, int flags, unsigned mode)
{
    if (!path)
        report_misuse("filch_open", "null path");
    struct opening o = {path, flags, mode};
    return filch_blocking(open_it, &o);
}

static int sync_it(void *arg)
{
    return os_sync_blocking(*(int *)arg);
}

int filch_fsync(int fd)
{
    return filch_blocking(sync_it, &fd);
}
