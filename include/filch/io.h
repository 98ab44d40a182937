/* filch/io.h: files, pipes and sockets for tasks.
 *
 *     #include <filch/io.h>
 *     #include <filch/task.h>
 *     #include <stdint.h>
 *
 *     static void echo(void *arg)
 *     {
 *         int fd = (int)(intptr_t)arg;
 *         char text[4096];
 *         ssize_t n;
 *         while ((n = filch_read(fd, text, sizeof text, FILCH_FOREVER)) > 0)
 *             if (filch_write_all(fd, text, (size_t)n, FILCH_FOREVER) < 0)
 *                 break;
 *         filch_close(fd);
 *     }
 *     int main(void)
 *     {
 *         int listener = filch_listen_tcp("127.0.0.1", 7777, 128);
 *         while (listener >= 0) {
 *             int fd = filch_accept(listener, FILCH_FOREVER);
 *             if (fd < 0)
 *                 filch_sleep_ns(10000000); // too many files are open: some client will leave
 *             else if (filch_go(echo, (void *)(intptr_t)fd) != 0)
 *                 filch_close(fd);
 *         }
 *         return 1;
 *     }
 *
 * The calls are those of the system with a deadline. They try first; if the system says that it would
 * have to wait, a task is suspended until the descriptor is ready, while its worker runs others. A thread
 * outside, and a pinned task, block. All may be called on any thread, may wait, and may resume on another
 * thread, except where it says otherwise. They return what the system call does, or -errno; besides
 * -ETIMEDOUT, and -ECANCELED if the descriptor was closed (filch_close) while the call waited. Signals do
 * not interrupt them. A task that finds its descriptors ready for a long time lets others run now and
 * then, as filch_yield does, with FILCH_NOW as well.
 *
 * Descriptors made here do not block and are closed by exec. Others may be used as they are: sockets and
 * pipes that block are never let block (except that a blocking listener, terminal or device that several
 * read from may keep a worker for as long as another was faster). What was used here must be closed here,
 * with filch_close, because its number will be used again.
 */
#ifndef FILCH_IO_H
#define FILCH_IO_H

#include <filch.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads or writes some bytes; 0 from a read is the end. On sockets SIGPIPE is not raised; elsewhere it is,
 * in tasks as on other threads. A read of a TCP connection that returns less than was asked for has taken all
 * there was: the next one waits without trying (filch_recv always tries; use that for TLS in the kernel,
 * whose records end a read early). */
FILCH_API ssize_t filch_read(int fd, void *buffer, size_t size, int64_t deadline);
FILCH_API ssize_t filch_write(int fd, const void *buffer, size_t size, int64_t deadline);

/* All of them: less from a read is the end. After an error some may have been moved. */
FILCH_API ssize_t filch_read_all(int fd, void *buffer, size_t size, int64_t deadline);
FILCH_API ssize_t filch_write_all(int fd, const void *buffer, size_t size, int64_t deadline);

/* As recv(2) and send(2), with their flags; the address forms may be given null. */
FILCH_API ssize_t filch_recv(int fd, void *buffer, size_t size, int flags, int64_t deadline);
FILCH_API ssize_t filch_send(int fd, const void *buffer, size_t size, int flags, int64_t deadline);
FILCH_API ssize_t filch_recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
                                 socklen_t *length, int64_t deadline);
FILCH_API ssize_t filch_sendto(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
                               socklen_t length, int64_t deadline);

/* The next connection of a listener, or -errno. -EMFILE, -ENFILE, -ENOBUFS and -ENOMEM pass: the connection
 * still waits, and this call would say so again at once, so sleep for some milliseconds and try again. */
FILCH_API int filch_accept(int fd, int64_t deadline);
/* 0 or -errno. After -ETIMEDOUT the descriptor is good for filch_close only. */
FILCH_API int filch_connect(int fd, const struct sockaddr *address, socklen_t length, int64_t deadline);

/* Closes it: whoever waits for it returns -ECANCELED, in whichever pool. Returns 0 or -errno. Does not
 * wait. A call on the same descriptor that is just beginning may find the number closed, or used anew: as
 * with close(2) that is for the caller to rule out. */
FILCH_API int filch_close(int fd);
/* The same without closing it: for a descriptor that something else closes next. Does not wait. */
FILCH_API void filch_forget(int fd);

/* Waits until the descriptor is ready for FILCH_FD_READ, FILCH_FD_WRITE or either; returns which (the end
 * of the stream, an error and a hang-up are ready for both). */
enum { FILCH_FD_READ = 1, FILCH_FD_WRITE = 2 };
FILCH_API int filch_wait_fd(int fd, int events, int64_t deadline);

/* Sockets that do not block: socket(2); a TCP or UNIX stream that listens or is connected; a UDP socket
 * with an address. Hosts to listen at are numeric (IPv4, IPv6) or "localhost", which is 127.0.0.1 (::1 on a
 * machine without IPv4). Null and "::" stand for every own address of both families; the address of an
 * IPv4 peer is ::ffff:a.b.c.d then, in a struct sockaddr_in6. Without IPv6, null is 0.0.0.0. Port 0 lets the
 * system choose: filch_socket_port says which. A UNIX path that begins with @ is abstract. They return a
 * descriptor or -errno; only the dial forms wait. filch_dial_tcp takes names as well, and tries all their
 * addresses in turn (for "localhost" 127.0.0.1, then ::1, without the resolver); its deadline is for
 * everything together. */
FILCH_API int filch_socket(int domain, int type, int protocol);
FILCH_API int filch_listen_tcp(const char *host, int port, int backlog);
FILCH_API int filch_listen_unix(const char *path, int backlog);
FILCH_API int filch_dial_tcp(const char *host, int port, int64_t deadline);
FILCH_API int filch_dial_unix(const char *path, int64_t deadline);
FILCH_API int filch_bind_udp(const char *host, int port);
FILCH_API int filch_socket_port(int fd);

/* Addresses of a host for TCP on this port, at most `most` (16 are all there are): how many, or -ENOENT (no
 * such host), -EAGAIN (no server answers now), -ENOMEM, -EIO, -EINVAL. Asks as getaddrinfo(3) does, on a
 * thread of filch_blocking: a caller that gave up is free, the question ends in its own time. A thread
 * outside and a pinned task block, and no deadline ends that. */
FILCH_API int filch_resolve(const char *host, int port, struct sockaddr_storage *out, size_t most,
                            int64_t deadline);

/* A pipe, ends[0] to read from. 0 or -errno. */
FILCH_API int filch_pipe(int ends[2]);

/* Waits for the end of a child process; its status as of waitpid(2) is in *status (may be null). Returns
 * 0, -ECHILD or -ETIMEDOUT.
 *
 * Workers block asynchronous signals and sleep with little timer slack. A child does not inherit that: it has
 * the signal mask and the slack of the thread that first used the pool, whether a task makes it by fork(), or
 * by posix_spawn, posix_spawnp, system or popen, which the shared library replaces for that (a mask that the
 * caller sets by posix_spawnattr_setsigmask stays). Not by vfork(), nor by these four in a program that is
 * linked with libfilch.a, or in another shared library: there the attribute helps. */
FILCH_API int filch_wait_child(pid_t pid, int *status, int64_t deadline);

/* Waits for one of these signals, sent to the process, and returns its number. They must be blocked in
 * every thread (pthread_sigmask before other threads are started; workers block all but SIGPIPE, SIGPROF and
 * those that report a fault). */
FILCH_API int filch_wait_signal(const int *signals, size_t count, int64_t deadline);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_IO_H */
