/* os_io.h: the machine's input and output, as src/fiber sees it. Core does not: it knows descriptors only as
 * numbers that become ready (os.h).
 *
 * None of these waits, unless it says so: where the system would, they return -EAGAIN. All return 0 or
 * more, or -errno; errno is as before. */
#ifndef FILCH_OS_IO_H
#define FILCH_OS_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

ssize_t os_read(int fd, void *buffer, size_t size);
ssize_t os_write(int fd, const void *buffer, size_t size);
ssize_t os_recv(int fd, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *length);
ssize_t os_send(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
                socklen_t length);
/* At an offset of a file, -1: where it is. -EAGAIN also if the file system always lets its callers wait. */
ssize_t os_pread(int fd, void *buffer, size_t size, int64_t at);
ssize_t os_pwrite(int fd, const void *buffer, size_t size, int64_t at);

int os_accept(int fd);
/* 0, -EINPROGRESS: os_connected says how it ended (-EAGAIN: not yet); -EAGAIN: a UNIX listener is full. */
int os_connect(int fd, const struct sockaddr *address, socklen_t length);
int os_connected(int fd);
/* Which of OS_POLL_IN, OS_POLL_OUT hold, 0 if none. */
int os_fd_ready(int fd, unsigned what);
int os_fd_close(int fd);

int os_pipe(int ends[2]);
int os_socket(int domain, int type, int protocol);
/* A socket with this address; listens if backlog >= 0. One at :: is for both families. */
int os_socket_bound(int type, const struct sockaddr *address, socklen_t length, int backlog);
int os_socket_port(int fd);

struct os_address {
    struct sockaddr_storage at;
    socklen_t length;
};
/* Numeric: 0 or -EINVAL. */
int os_address_ip(struct os_address *out, const char *host, int port);
int os_address_unix(struct os_address *out, const char *path);

/* These wait, for a disk or a network, and nothing interrupts them. Offsets as above. */
ssize_t os_read_blocking(int fd, void *buffer, size_t size, int64_t at);
ssize_t os_write_blocking(int fd, const void *buffer, size_t size, int64_t at);
int os_open_blocking(const char *path, int flags, unsigned mode);
int os_sync_blocking(int fd);
/* Up to `most` addresses of a TCP service; how many, or -ENOENT (no such host or service), -EAGAIN (no
 * answer), -ENOMEM, -EIO. */
int os_resolve_blocking(const char *host, int port, struct os_address *out, int most);

/* 0: has ended, and is reaped. -EAGAIN: not yet. */
int os_child_status(pid_t pid, int *status);
int os_child_fd(pid_t pid);  /* becomes readable when it ends */
int os_signal_fd(const int *signals, size_t count);
int os_signal_read(int fd);  /* a number */

#endif
