/* net.c: sockets and pipes, made. */
#include "core/report.h"
#include "fiber/resolve.h"
#include "os/os_io.h"

#include <errno.h>
#include <filch/io.h>
#include <string.h>

int filch_socket(int domain, int type, int protocol)
{
    return os_socket(domain, type, protocol);
}

int filch_pipe(int ends[2])
{
    if (!ends)
        report_misuse("filch_pipe", "null result pointer");
    return os_pipe(ends);
}

int filch_socket_port(int fd)
{
    return os_socket_port(fd);
}

static int bound(const struct os_address *a, int type, int backlog)
{
    return os_socket_bound(type, (const struct sockaddr *)&a->at, a->length, backlog);
}

static int listen_at(const struct os_address *a, int backlog)
{
    return bound(a, SOCK_STREAM, backlog < 0 ? 0 : backlog);
}

/* This machine does not have the address, or not its family: another address may do. */
static bool not_here(int rc)
{
    return rc == -EAFNOSUPPORT || rc == -EADDRNOTAVAIL || rc == -ENETUNREACH;
}

/* Null: every own address, of both families if there are two. */
static int bound_ip(const char *host, int port, int type, int backlog)
{
    struct os_address a[2];
    int n = 1, rc;
    if (!host) {
        rc = os_address_ip(&a[0], "::", port);
        n += os_address_ip(&a[1], "0.0.0.0", port) == 0;
    } else if (strcmp(host, "localhost") == 0) {
        rc = n = resolve_localhost(port, a);
    } else {
        rc = os_address_ip(a, host, port);
    }
    if (rc < 0)
        return rc;
    rc = bound(&a[0], type, backlog);
    return not_here(rc) && n > 1 ? bound(&a[1], type, backlog) : rc;
}

static int dial(const struct os_address *a, int64_t deadline)
{
    int fd = os_socket(a->at.ss_family, SOCK_STREAM, 0);
    if (fd < 0)
        return fd;
    int rc = filch_connect(fd, (const struct sockaddr *)&a->at, a->length, deadline);
    if (rc == 0)
        return fd;
    (void)filch_close(fd);
    return rc;
}

int filch_listen_tcp(const char *host, int port, int backlog)
{
    return bound_ip(host, port, SOCK_STREAM, backlog < 0 ? 0 : backlog);
}

int filch_listen_unix(const char *path, int backlog)
{
    struct os_address a;
    if (!path)
        report_misuse("filch_listen_unix", "null path");
    int rc = os_address_unix(&a, path);
    return rc == 0 ? listen_at(&a, backlog) : rc;
}

/* When to give the first of `n` addresses up, so that the others have their chance. */
static int64_t share(int64_t deadline, int n)
{
    int64_t now;
    if (deadline == FILCH_FOREVER || n == 1 || (now = filch_clock_ns()) >= deadline)
        return deadline;
    return now + (deadline - now) / n;
}

int filch_dial_tcp(const char *host, int port, int64_t deadline)
{
    struct os_address all[RESOLVE_MOST];
    if (!host)
        report_misuse("filch_dial_tcp", "null host");
    int n = resolve(host, port, all, RESOLVE_MOST, deadline), rc = n;
    for (int i = 0; i < n; i++) {
        int got = dial(&all[i], share(deadline, n - i));
        if (i == 0 || !not_here(got)) /* the last answer that says something of the other side */
            rc = got;
        if (got >= 0 || got == -ECANCELED)
            break;
    }
    return rc;
}

int filch_dial_unix(const char *path, int64_t deadline)
{
    struct os_address a;
    if (!path)
        report_misuse("filch_dial_unix", "null path");
    int rc = os_address_unix(&a, path);
    return rc == 0 ? dial(&a, deadline) : rc;
}

int filch_bind_udp(const char *host, int port)
{
    return bound_ip(host, port, SOCK_DGRAM, -1);
}
