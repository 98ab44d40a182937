/* filch/file.h: files for tasks.
 *
 *     int fd = filch_open("data", O_RDONLY, 0);
 *     ssize_t n = filch_pread(fd, page, sizeof page, 4096 * i);
 *     filch_close(fd);                                    // filch/io.h
 *
 * What the system has in memory is had at once. For the rest the task waits, and a thread of
 * filch_blocking waits for the disk in its stead; its worker runs others. A thread outside and a pinned task
 * block. filch_read and filch_write (filch/io.h) do the same at the position of the file. A disk cannot be
 * asked to forget a call: no deadline and no cancellation ends these.
 *
 * Any thread; may wait; may resume on another thread. They return what the system call does, or -errno.
 */
#ifndef FILCH_FILE_H
#define FILCH_FILE_H

#include <filch.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* open(2), closed by exec. `mode` counts where a file is made. */
FILCH_API int filch_open(const char *path, int flags, unsigned mode);
FILCH_API int filch_fsync(int fd);

FILCH_API ssize_t filch_pread(int fd, void *buffer, size_t size, off_t offset);
FILCH_API ssize_t filch_pwrite(int fd, const void *buffer, size_t size, off_t offset);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_FILE_H */
