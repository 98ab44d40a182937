/* os_poll.c: readiness of file descriptors: epoll, and an eventfd that ends a wait.
 *
 * Descriptors are registered once, for both directions, edge-triggered. The eventfd is level-triggered: a
 * thread that only looks sees it and leaves it, the one that waits reads it. So a wake-up is never taken
 * by a thread that it was not meant for. */
#define _GNU_SOURCE
#include "os/os.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAKE_TAG UINT64_MAX
#define NS_PER_MS 1000000

/* Returns what a call said, as 0.. or -errno; errno is as before. */
static int outcome(long r, int saved)
{
    int result = r < 0 ? -errno : (int)r;
    errno = saved;
    return result;
}

static int control(os_poll *p, int op, int fd, uint32_t events, uint64_t tag)
{
    int saved = errno;
    struct epoll_event e = {.events = events, .data.u64 = tag};
    return outcome(epoll_ctl(p->poll, op, fd, &e), saved);
}

static void close_quietly(int fd)
{
    int saved = errno;
    (void)close(fd);
    errno = saved;
}

int os_poll_open(os_poll *p)
{
    int saved = errno;
    p->poll = outcome(epoll_create1(EPOLL_CLOEXEC), saved);
    if (p->poll < 0)
        return p->poll;
    p->wake = outcome(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), saved);
    int rc = p->wake < 0 ? p->wake : control(p, EPOLL_CTL_ADD, p->wake, EPOLLIN, WAKE_TAG);
    if (rc != 0) {
        if (p->wake >= 0)
            close_quietly(p->wake);
        close_quietly(p->poll);
    }
    return rc;
}

void os_poll_close(os_poll *p)
{
    close_quietly(p->wake);
    close_quietly(p->poll);
}

int os_poll_add(os_poll *p, int fd, uint64_t tag)
{
    uint32_t events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;
    int rc = control(p, EPOLL_CTL_ADD, fd, events, tag);
    return rc == -EEXIST ? control(p, EPOLL_CTL_MOD, fd, events, tag) : rc;
}

void os_poll_remove(os_poll *p, int fd)
{
    (void)control(p, EPOLL_CTL_DEL, fd, 0, 0);
}

static int option_of(int fd, int name)
{
    int value = -1, saved = errno;
    socklen_t length = sizeof value;
    if (getsockopt(fd, SOL_SOCKET, name, &value, &length) != 0)
        value = -1;
    errno = saved;
    return value;
}

bool os_fd_drains(int fd)
{
    int domain = option_of(fd, SO_DOMAIN);
    return (domain == AF_INET || domain == AF_INET6) && option_of(fd, SO_TYPE) == SOCK_STREAM;
}

void os_poll_wake(os_poll *p)
{
    int saved = errno;
    uint64_t one = 1;
    while (write(p->wake, &one, sizeof one) < 0 && errno == EINTR)
        ;
    errno = saved;
}

static void wake_is_over(os_poll *p)
{
    int saved = errno;
    uint64_t count;
    while (read(p->wake, &count, sizeof count) < 0 && errno == EINTR)
        ;
    errno = saved;
}

/* Kernels before 5.11 count in milliseconds: rounded up, so that nobody wakes before it is time. */
static int wait_ms(int poll, struct epoll_event *out, int most, int64_t ns)
{
    int64_t ms = ns / NS_PER_MS + (ns % NS_PER_MS != 0);
    int saved = errno;
    return outcome(epoll_wait(poll, out, most, ns < 0 ? -1 : ms > INT_MAX ? INT_MAX : (int)ms), saved);
}

/* `ns` < 0: without an end. */
static int wait_ns(int poll, struct epoll_event *out, int most, int64_t ns)
{
#ifdef SYS_epoll_pwait2
    if (ns > 0) {
        int saved = errno;
        struct timespec t = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
        int rc = outcome(syscall(SYS_epoll_pwait2, poll, out, most, &t, NULL, (size_t)0), saved);
        if (rc != -ENOSYS && rc != -EPERM)
            return rc;
    }
#endif
    return wait_ms(poll, out, most, ns);
}

static uint32_t ready_of(uint32_t events)
{
    uint32_t both = events & (EPOLLHUP | EPOLLERR);
    return (events & (EPOLLIN | EPOLLPRI | EPOLLRDHUP) || both ? OS_POLL_IN : 0u) |
           (events & EPOLLOUT || both ? OS_POLL_OUT : 0u) |
           (events & (EPOLLPRI | EPOLLRDHUP) || both ? OS_POLL_ODD : 0u);
}

/* Without the wake-up, which the one that waits takes. Returns how many are left. */
static int translate(os_poll *p, const struct epoll_event *in, int n, struct os_poll_event *out, bool waits)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (in[i].data.u64 != WAKE_TAG)
            out[count++] = (struct os_poll_event){in[i].data.u64, ready_of(in[i].events)};
        else if (waits)
            wake_is_over(p);
    }
    return count;
}

int os_poll_wait(os_poll *p, struct os_poll_event *out, int most, int64_t deadline)
{
    struct epoll_event events[OS_POLL_MOST];
    bool waits = deadline > 0;
    int64_t ns = deadline == INT64_MAX ? -1 : 0;
    if (waits && ns == 0) {
        ns = deadline - os_clock_ns();
        ns = ns > 0 ? ns : 0;
    }
    int n = wait_ns(p->poll, events, most < OS_POLL_MOST ? most : OS_POLL_MOST, ns);
    if (n > 0)
        return translate(p, events, n, out, waits);
    bool over = waits && deadline != INT64_MAX && os_clock_ns() >= deadline;
    return over ? -ETIMEDOUT : 0;
}
