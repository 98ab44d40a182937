/* main.c: filch-bench-epoll CASE WORKERS MODE [SECONDS], the HTTP cases of tasks/cases.h without a
 * runtime: threads that each wait in an epoll set of their own. A connection belongs to the thread
 * that accepted it. Level-triggered: one read and one write per request, and nothing else. */
#include "../common/http.h"
#include <errno.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 128
#define SECONDS 3

struct connection {
    int fd;
    int state; /* of http_ends */
};

static struct connection listener; /* in every set; has no requests */

static void connection_end(struct connection *c)
{
    close(c->fd);
    free(c);
}

static void connection_accept(int set)
{
    int fd = accept4(listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct connection *c = fd < 0 ? NULL : calloc(1, sizeof *c);
    if (!c) {
        if (fd >= 0)
            close(fd);
        return;
    }
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    c->fd = fd;
    if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &e))
        connection_end(c);
}

static void connection_serve(struct connection *c)
{
    static const char answer[] = HTTP_ANSWER;
    char bytes[HTTP_BUFFER];
    ssize_t got = read(c->fd, bytes, sizeof bytes);
    if (got < 0 && errno == EAGAIN)
        return;
    int requests = got > 0 ? http_ends(&c->state, bytes, (size_t)got) : 0;
    while (requests-- > 0)
        if (write(c->fd, answer, sizeof answer - 1) != sizeof answer - 1)
            got = -1; /* a client that does not read is not served */
    if (got <= 0)
        connection_end(c);
}

static void *server_run(void *arg)
{
    struct epoll_event listen = {.events = EPOLLIN | EPOLLEXCLUSIVE, .data.ptr = &listener};
    struct epoll_event events[EVENTS];
    int set = epoll_create1(EPOLL_CLOEXEC);
    if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, listener.fd, &listen))
        abort();
    for (;;) {
        int n = epoll_wait(set, events, EVENTS, -1);
        for (int i = 0; i < n; i++)
            if (events[i].data.ptr == &listener)
                connection_accept(set);
            else
                connection_serve(events[i].data.ptr);
    }
    return arg;
}

static int refuse(const char *what, int status)
{
    fprintf(stderr, "%s\n", what);
    return status;
}

int main(int argc, char **argv)
{
    struct http_load load;
    int port, connections;
    if (argc < 4 || sscanf(argv[1], "http_cpu_%d", &connections) != 1)
        return refuse("usage: http_cpu_CONNECTIONS WORKERS MODE [SECONDS]", 2);
    int seconds = argc > 4 ? atoi(argv[4]) : SECONDS;
    if ((listener.fd = http_listen(&port)) < 0)
        return refuse("no socket", 1);
    for (int i = atoi(argv[2]); i > 0; i--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, server_run, NULL))
            return refuse("no thread", 1);
    }
    const char *wrong = http_drive(port, connections, seconds, &load);
    if (wrong)
        return refuse(wrong, 1);
    printf("ns_per_op=%.4f size=%d requests=%lld runtime_version=glibc %s\n",
           (double)load.cpu_ns / (double)load.requests, seconds, (long long)load.requests,
           gnu_get_libc_version());
    return 0;
}
