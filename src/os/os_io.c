#define _GNU_SOURCE
#include "os/os_io.h"
#include "os/os.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* The call, again while signals interrupt it; its result or -errno; errno as before. EWOULDBLOCK is
 * EAGAIN on Linux. */
#define TRIED(call)                                                                               \
    (__extension__({                                                                              \
        int saved_ = errno;                                                                       \
        ssize_t r_;                                                                               \
        do                                                                                        \
            r_ = (call);                                                                          \
        while (r_ < 0 && errno == EINTR);                                                         \
        r_ = r_ < 0 ? -errno : r_;                                                                \
        errno = saved_;                                                                           \
        r_;                                                                                       \
    }))

/* ---- bytes ---------------------------------------------------------------------------------- */

ssize_t os_recv(int fd, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
    return TRIED(recvfrom(fd, buffer, size, flags | MSG_DONTWAIT, from, length));
}

ssize_t os_send(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
                socklen_t length)
{
    return TRIED(sendto(fd, buffer, size, flags | MSG_DONTWAIT | MSG_NOSIGNAL, to, length));
}

static bool not_offered(ssize_t r)
{
    return r == -EOPNOTSUPP || r == -ENOSYS || r == -EINVAL || r == -ESPIPE;
}

ssize_t os_pread(int fd, void *buffer, size_t size, int64_t at)
{
    struct iovec v = {buffer, size};
    ssize_t r = TRIED(preadv2(fd, &v, 1, (off_t)at, RWF_NOWAIT));
    return not_offered(r) ? -EAGAIN : r;
}

ssize_t os_pwrite(int fd, const void *buffer, size_t size, int64_t at)
{
    struct iovec v = {(void *)(uintptr_t)buffer, size};
    ssize_t r = TRIED(pwritev2(fd, &v, 1, (off_t)at, RWF_NOWAIT));
    return not_offered(r) ? -EAGAIN : r;
}

/* One that is always ready, and waits nevertheless. */
static bool is_file(int fd)
{
    struct stat s;
    return TRIED(fstat(fd, &s)) == 0 && (S_ISREG(s.st_mode) || S_ISBLK(s.st_mode));
}

/* A socket may be told not to wait, and so may a pipe or a file on newer kernels, whatever its flags. Others
 * are asked first whether they are ready, except files. */
ssize_t os_read(int fd, void *buffer, size_t size)
{
    ssize_t r = os_recv(fd, buffer, size, 0, NULL, NULL);
    if (r != -ENOTSOCK)
        return r;
    struct iovec v = {buffer, size};
    r = TRIED(preadv2(fd, &v, 1, -1, RWF_NOWAIT));
    if (!not_offered(r))
        return r;
    r = is_file(fd) ? 0 : os_fd_ready(fd, OS_POLL_IN);
    return r > 0 ? os_read_blocking(fd, buffer, size, -1) : r < 0 ? r : -EAGAIN;
}

ssize_t os_write(int fd, const void *buffer, size_t size)
{
    ssize_t r = os_send(fd, buffer, size, 0, NULL, 0);
    if (r != -ENOTSOCK)
        return r;
    struct iovec v = {(void *)(uintptr_t)buffer, size};
    r = TRIED(pwritev2(fd, &v, 1, -1, RWF_NOWAIT));
    if (!not_offered(r))
        return r;
    r = is_file(fd) ? 0 : os_fd_ready(fd, OS_POLL_OUT);
    return r > 0 ? os_write_blocking(fd, buffer, size, -1) : r < 0 ? r : -EAGAIN;
}

/* ---- what waits ----------------------------------------------------------------------------- */

ssize_t os_read_blocking(int fd, void *buffer, size_t size, int64_t at)
{
    return TRIED(at < 0 ? read(fd, buffer, size) : pread(fd, buffer, size, (off_t)at));
}

ssize_t os_write_blocking(int fd, const void *buffer, size_t size, int64_t at)
{
    return TRIED(at < 0 ? write(fd, buffer, size) : pwrite(fd, buffer, size, (off_t)at));
}

int os_open_blocking(const char *path, int flags, unsigned mode)
{
    return (int)TRIED(open(path, flags | O_CLOEXEC, (mode_t)mode));
}

int os_sync_blocking(int fd)
{
    return (int)TRIED(fsync(fd));
}

static int resolve_error(int rc)
{
    return rc == EAI_NONAME || rc == EAI_SERVICE || rc == EAI_NODATA ? -ENOENT
           : rc == EAI_AGAIN                                         ? -EAGAIN
           : rc == EAI_MEMORY                                        ? -ENOMEM
                                                                     : -EIO;
}

int os_resolve_blocking(const char *host, int port, struct os_address *out, int most)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV}, *all;
    char service[16];
    (void)snprintf(service, sizeof service, "%d", port);
    int saved = errno, rc = getaddrinfo(host, service, &hints, &all), n = 0;
    errno = saved;
    if (rc != 0)
        return resolve_error(rc);
    for (struct addrinfo *a = all; a && n < most; a = a->ai_next)
        if (a->ai_addrlen <= sizeof out->at) {
            memcpy(&out[n].at, a->ai_addr, out[n].length = a->ai_addrlen);
            n++;
        }
    freeaddrinfo(all);
    return n > 0 ? n : -ENOENT;
}

/* ---- descriptors ---------------------------------------------------------------------------- */

int os_fd_ready(int fd, unsigned what)
{
    struct pollfd p = {.fd = fd, .events = (short)((what & OS_POLL_IN ? POLLIN | POLLRDHUP : 0) |
                                                   (what & OS_POLL_OUT ? POLLOUT : 0))};
    int r = fd < 0 ? -EBADF : (int)TRIED(poll(&p, 1, 0));
    if (r <= 0)
        return r;
    if (p.revents & POLLNVAL)
        return -EBADF;
    if (p.revents & (POLLERR | POLLHUP))
        return (int)what;
    return (p.revents & (POLLIN | POLLRDHUP) ? OS_POLL_IN : 0) | (p.revents & POLLOUT ? OS_POLL_OUT : 0);
}

int os_fd_close(int fd)
{
    int saved = errno, r = close(fd) < 0 && errno != EINTR ? -errno : 0; /* EINTR: it is closed */
    errno = saved;
    return r;
}

int os_pipe(int ends[2])
{
    return (int)TRIED(pipe2(ends, O_NONBLOCK | O_CLOEXEC));
}

/* ---- sockets -------------------------------------------------------------------------------- */

int os_socket(int domain, int type, int protocol)
{
    return (int)TRIED(socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
}

int os_accept(int fd)
{
    ssize_t flags = TRIED(fcntl(fd, F_GETFL));
    if (flags < 0)
        return (int)flags;
    if (!(flags & O_NONBLOCK) && os_fd_ready(fd, OS_POLL_IN) == 0)
        return -EAGAIN;
    ssize_t r;
    do
        r = TRIED(accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
    while (r == -ECONNABORTED); /* gone before it was taken: the next one */
    return (int)r;
}

/* One that blocks is let not block for the moment. Interrupted means that it goes on by itself. */
int os_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    ssize_t flags = TRIED(fcntl(fd, F_GETFL));
    if (flags < 0)
        return (int)flags;
    bool blocks = !(flags & O_NONBLOCK);
    if (blocks)
        (void)TRIED(fcntl(fd, F_SETFL, (int)flags | O_NONBLOCK));
    int saved = errno, r = connect(fd, address, length) < 0 ? -errno : 0;
    errno = saved;
    if (blocks)
        (void)TRIED(fcntl(fd, F_SETFL, (int)flags));
    return r == -EINTR ? -EINPROGRESS : r;
}

int os_connected(int fd)
{
    int ready = os_fd_ready(fd, OS_POLL_OUT), error = 0;
    socklen_t length = sizeof error;
    if (ready <= 0)
        return ready < 0 ? ready : -EAGAIN;
    ssize_t r = TRIED(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length));
    return r < 0 ? (int)r : -error;
}

/* The system's default (net.ipv6.bindv6only) does not matter. */
static ssize_t take_both_families(int fd, const struct sockaddr *address)
{
    struct sockaddr_in6 six;
    if (address->sa_family != AF_INET6)
        return 0;
    memcpy(&six, address, sizeof six);
    return IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr)
               ? TRIED(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){0}, sizeof(int)))
               : 0;
}

int os_socket_bound(int type, const struct sockaddr *address, socklen_t length, int backlog)
{
    int fd = os_socket(address->sa_family, type, 0), on = 1;
    if (fd < 0)
        return fd;
    ssize_t r = take_both_families(fd, address);
    if (r == 0 && address->sa_family != AF_UNIX && backlog >= 0)
        r = TRIED(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
    if (r == 0)
        r = TRIED(bind(fd, address, length));
    if (r == 0 && backlog >= 0)
        r = TRIED(listen(fd, backlog));
    if (r < 0) {
        (void)os_fd_close(fd);
        return (int)r;
    }
    return fd;
}

int os_socket_port(int fd)
{
    struct os_address a = {.length = sizeof a.at};
    ssize_t r = TRIED(getsockname(fd, (struct sockaddr *)&a.at, &a.length));
    if (r < 0)
        return (int)r;
    if (a.at.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *)&a.at)->sin_port);
    return a.at.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&a.at)->sin6_port) : -EAFNOSUPPORT;
}

int os_address_ip(struct os_address *out, const char *host, int port)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (port < 0 || port > 65535)
        return -EINVAL;
    *out = (struct os_address){.length = 0};
    four.sin_port = six.sin6_port = htons((uint16_t)port);
    if (inet_pton(AF_INET, host, &four.sin_addr) == 1) {
        memcpy(&out->at, &four, out->length = sizeof four);
        return 0;
    }
    if (inet_pton(AF_INET6, host, &six.sin6_addr) != 1)
        return -EINVAL;
    memcpy(&out->at, &six, out->length = sizeof six);
    return 0;
}

int os_address_unix(struct os_address *out, const char *path)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof un.sun_path)
        return -EINVAL;
    memcpy(un.sun_path, path, n);
    bool abstract = path[0] == '@';
    if (abstract)
        un.sun_path[0] = 0;
    *out = (struct os_address){.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + !abstract)};
    memcpy(&out->at, &un, sizeof un);
    return 0;
}

/* ---- children and signals ------------------------------------------------------------------- */

int os_child_status(pid_t pid, int *status)
{
    ssize_t r = TRIED(waitpid(pid, status, WNOHANG));
    return r > 0 ? 0 : r < 0 ? (int)r : -EAGAIN;
}

int os_child_fd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)TRIED(syscall(SYS_pidfd_open, pid, 0));
#else
    (void)pid;
    return -ENOSYS;
#endif
}

int os_signal_fd(const int *signals, size_t count)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < count; i++) {
        if (signals[i] < 1 || signals[i] > SIGRTMAX)
            return -EINVAL;
        sigaddset(&set, signals[i]);
    }
    return (int)TRIED(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

int os_signal_read(int fd)
{
    struct signalfd_siginfo info;
    ssize_t r = TRIED(read(fd, &info, sizeof info));
    return r == (ssize_t)sizeof info ? (int)info.ssi_signo : (int)r;
}
