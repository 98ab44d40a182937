/* Quota files. The bytes are a small file system:
 *
 *     == /proc/self/cgroup
 *     0::/app
 *     == /proc/self/mountinfo
 *     ...
 *
 * Whatever stands there: the answer is a limit or none, every file is closed again, errno stays,
 * and it does not matter in which pieces the kernel hands out the lines. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define TOP "/fuzz"

enum { FILES = 16, OPEN = 8, FIRST_FD = 1000 };

static struct file {
    const char *path;
    size_t path_length;
    const uint8_t *text;
    size_t size;
} files[FILES];
static int file_count;

static struct {
    const struct file *file; /* null: closed */
    size_t at;
} descriptors[OPEN];
static size_t piece; /* most that one read of a file of /proc gives */
static unsigned reads;

static const struct file *file_find(const char *path)
{
    if (strncmp(path, TOP, sizeof TOP - 1))
        return NULL;
    path += sizeof TOP - 1;
    for (int i = 0; i < file_count; i++)
        if (strlen(path) == files[i].path_length && !memcmp(path, files[i].path, files[i].path_length))
            return &files[i];
    return NULL;
}

static int fuzz_open(const char *path, int flags, ...)
{
    FUZZ_CHECK((flags & O_ACCMODE) == O_RDONLY && (flags & O_CLOEXEC) && (flags & O_NONBLOCK));
    const struct file *f = file_find(path);
    for (int i = 0; f && i < OPEN; i++) {
        if (!descriptors[i].file) {
            descriptors[i].file = f;
            descriptors[i].at = 0;
            return FIRST_FD + i;
        }
    }
    errno = ENOENT;
    return -1;
}

static ssize_t fuzz_read(int fd, void *to, size_t room)
{
    FUZZ_CHECK(fd >= FIRST_FD && fd < FIRST_FD + OPEN && descriptors[fd - FIRST_FD].file);
    const struct file *f = descriptors[fd - FIRST_FD].file;
    size_t *at = &descriptors[fd - FIRST_FD].at;
    size_t n = f->size - *at < room ? f->size - *at : room;
    if (f->path_length > 5 && !memcmp(f->path, "/proc", 5)) {
        n = n < piece ? n : piece;
        if (piece < 1000 && ++reads % 3 == 0) {
            errno = EINTR;
            return -1;
        }
    }
    memcpy(to, f->text + *at, n);
    *at += n;
    return (ssize_t)n;
}

static int fuzz_close(int fd)
{
    FUZZ_CHECK(fd >= FIRST_FD && fd < FIRST_FD + OPEN && descriptors[fd - FIRST_FD].file);
    descriptors[fd - FIRST_FD].file = NULL;
    return 0;
}

#define open fuzz_open
#define read fuzz_read
#define close fuzz_close
#include "os/os_cpu.c"
#undef open
#undef read
#undef close

/* Lines that start with "== " open a file; what comes before the first is dropped. */
static void files_make(const uint8_t *data, size_t size)
{
    struct file *now = NULL;
    file_count = 0;
    while (size) {
        const uint8_t *rest;
        size_t left, n = fuzz_line(data, size, &rest, &left);
        if (n >= 3 && !memcmp(data, "== ", 3)) {
            if (file_count == FILES)
                return;
            now = &files[file_count++];
            *now = (struct file){(const char *)data + 3, n - 3, rest, 0};
        } else if (now) {
            now->size = (size_t)(rest - now->text);
        }
        data = rest;
        size = left;
    }
}

static int64_t quota_in_pieces(size_t bytes)
{
    piece = bytes;
    reads = 0;
    errno = EPROTO;
    int64_t quota = os_cpu_quota_at(TOP);
    FUZZ_CHECK(errno == EPROTO);
    for (int i = 0; i < OPEN; i++)
        FUZZ_CHECK(!descriptors[i].file);
    return quota;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    files_make(data, size);
    int64_t quota = quota_in_pieces(SIZE_MAX);
    FUZZ_CHECK(quota >= 0 && quota < INT64_MAX);
    FUZZ_CHECK(quota_in_pieces(7) == quota);
    if (size < 4096)
        FUZZ_CHECK(quota_in_pieces(1) == quota);
    FUZZ_CHECK(os_cpu_quota_at("/no/such/root") == 0);
    return 0;
}
