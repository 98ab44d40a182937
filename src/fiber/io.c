/* io.c: calls on file descriptors that wait without blocking a worker.
 *
 * Each is the same loop: mark, try, and while the system would block, wait and try again (core/poll.h). */
#include "core/budget.h"
#include "core/idle.h"
#include "core/poll.h"
#include "core/report.h"
#include "core/wait.h"
#include "fiber/file.h"
#include "os/os_io.h"

#include <errno.h>
#include <filch/io.h>
#include <filch/scope.h>
#include <filch/task.h>

#define RETRY_NS 1000000 /* for what nothing tells when it is ready: look so often */

#define ABOUT_FD(call) {call, 0, WAIT_FOR_FD, 0, 0}
static const struct wait_subject about_read = ABOUT_FD("filch_read");
static const struct wait_subject about_write = ABOUT_FD("filch_write");
static const struct wait_subject about_recv = ABOUT_FD("filch_recv");
static const struct wait_subject about_send = ABOUT_FD("filch_send");
static const struct wait_subject about_accept = ABOUT_FD("filch_accept");
static const struct wait_subject about_connect = ABOUT_FD("filch_connect");
static const struct wait_subject about_fd = ABOUT_FD("filch_wait_fd");
static const struct wait_subject about_signal = ABOUT_FD("filch_wait_signal");

/* One call: on which descriptor, and what was known of it before the last try. */
struct try {
    int fd;
    const struct wait_subject *about;
    filch_pool *pool;          /* null: the caller's thread blocks */
    struct poll_mark mark;
};

/* A stream that is always ready must not keep the worker from other tasks; and while tasks take long, their
 * worker looks at the poll seldom: what others wait for is looked at first. */
static void spend(void)
{
    struct fiber *f = run_fiber();
    if (f && f->budget + 1 >= BUDGET && poll_exists(f->pool) && !idle_polled(f->pool))
        EV_N(worker_self(), READY, poll_look(f->pool));
    budget_spend();
}

static struct try try_first(int fd, const struct wait_subject *about)
{
    struct try t = {.fd = fd, .about = about};
    spend();
    if (wait_suspends())
        t.pool = worker_self()->pool;
    poll_mark(t.pool, fd, &t.mark);
    return t;
}

struct blocking {
    int fd;
    unsigned what;
    int64_t deadline;
    int result;
};

static void block(void *arg)
{
    struct blocking *b = arg;
    b->result = poll_block(b->fd, b->what, b->deadline);
}

/* 0: worth another try. */
static int try_again(struct try *t, unsigned what, int64_t deadline)
{
    int rc;
    if (deadline <= FILCH_NOW)
        return wait_error(WAIT_TIMEOUT);
    if (t->pool) {
        rc = poll_wait(t->pool, t->fd, what, &t->mark, deadline, t->about);
        poll_mark(t->pool, t->fd, &t->mark);
    } else {
        struct blocking b = {t->fd, what, deadline, 0};
        wait_blocking(block, &b);
        rc = b.result;
        if (rc == -ETIMEDOUT)
            report_duration(t->about->call, deadline);
    }
    return rc;
}

/* The same where nothing tells when. */
static int try_later(int64_t deadline)
{
    int64_t now = filch_clock_ns();
    if (filch_canceled())
        return wait_error(WAIT_CANCELED);
    if (now >= deadline)
        return wait_error(WAIT_TIMEOUT);
    filch_sleep_until(deadline - now < RETRY_NS ? deadline : now + RETRY_NS);
    return 0;
}

static void check_buffer(const void *buffer, size_t size, const char *call)
{
    if (!buffer && size > 0)
        report_misuse(call, "null buffer");
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static ssize_t read_some(int fd, void *buffer, size_t size, int64_t deadline)
{
    struct try t = try_first(fd, &about_read);
    bool spared = t.mark.drained && size > 0 && deadline > FILCH_NOW;
    ssize_t r = spared ? -EAGAIN : os_read(fd, buffer, size);
    while (r == -EAGAIN) {
        int rc = try_again(&t, OS_POLL_IN, deadline);
        if (rc != 0)
            return rc == -EPERM ? file_read(fd, buffer, size, -1) : rc;
        r = os_read(fd, buffer, size);
    }
    if (r > 0 && (size_t)r < size)
        poll_drained(t.pool, fd, &t.mark);
    return r;
}

static ssize_t write_some(int fd, const void *buffer, size_t size, int64_t deadline)
{
    struct try t = try_first(fd, &about_write);
    ssize_t r;
    while ((r = os_write(fd, buffer, size)) == -EAGAIN) {
        int rc = try_again(&t, OS_POLL_OUT, deadline);
        if (rc != 0)
            return rc == -EPERM ? file_write(fd, buffer, size, -1) : rc;
    }
    return r;
}

ssize_t filch_read(int fd, void *buffer, size_t size, int64_t deadline)
{
    check_buffer(buffer, size, "filch_read");
    return read_some(fd, buffer, size, deadline);
}

ssize_t filch_write(int fd, const void *buffer, size_t size, int64_t deadline)
{
    check_buffer(buffer, size, "filch_write");
    return write_some(fd, buffer, size, deadline);
}

ssize_t filch_read_all(int fd, void *buffer, size_t size, int64_t deadline)
{
    check_buffer(buffer, size, "filch_read_all");
    size_t have = 0;
    while (have < size) {
        ssize_t n = read_some(fd, (char *)buffer + have, size - have, deadline);
        if (n < 0)
            return n;
        if (n == 0)
            break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

ssize_t filch_write_all(int fd, const void *buffer, size_t size, int64_t deadline)
{
    check_buffer(buffer, size, "filch_write_all");
    size_t done = 0;
    while (done < size) {
        ssize_t n = write_some(fd, (const char *)buffer + done, size - done, deadline);
        if (n < 0)
            return n;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static ssize_t receive(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
                       socklen_t *length, int64_t deadline)
{
    struct try t = try_first(fd, &about_recv);
    socklen_t room = length ? *length : 0;
    ssize_t r;
    while ((r = os_recv(fd, buffer, size, flags, from, length)) == -EAGAIN) {
        int rc = try_again(&t, OS_POLL_IN, deadline);
        if (rc != 0)
            return rc;
        if (length)
            *length = room;
    }
    return r;
}

static ssize_t transmit(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
                        socklen_t length, int64_t deadline)
{
    struct try t = try_first(fd, &about_send);
    ssize_t r;
    while ((r = os_send(fd, buffer, size, flags, to, length)) == -EAGAIN) {
        int rc = try_again(&t, OS_POLL_OUT, deadline);
        if (rc != 0)
            return rc;
    }
    return r;
}

ssize_t filch_recv(int fd, void *buffer, size_t size, int flags, int64_t deadline)
{
    check_buffer(buffer, size, "filch_recv");
    return receive(fd, buffer, size, flags, 0, 0, deadline);
}

ssize_t filch_send(int fd, const void *buffer, size_t size, int flags, int64_t deadline)
{
    check_buffer(buffer, size, "filch_send");
    return transmit(fd, buffer, size, flags, 0, 0, deadline);
}

ssize_t filch_recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
                       socklen_t *length, int64_t deadline)
{
    check_buffer(buffer, size, "filch_recvfrom");
    if (from && !length)
        report_misuse("filch_recvfrom", "an address without its length");
    return receive(fd, buffer, size, flags, from, from ? length : 0, deadline);
}

ssize_t filch_sendto(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
                     socklen_t length, int64_t deadline)
{
    check_buffer(buffer, size, "filch_sendto");
    return transmit(fd, buffer, size, flags, to, to ? length : 0, deadline);
}

/* ---- connections ---------------------------------------------------------------------------- */

int filch_accept(int fd, int64_t deadline)
{
    struct try t = try_first(fd, &about_accept);
    int r;
    while ((r = os_accept(fd)) == -EAGAIN) {
        int rc = try_again(&t, OS_POLL_IN, deadline);
        if (rc != 0)
            return rc;
    }
    return r;
}


int filch_connect(int fd, const struct sockaddr *address, socklen_t length, int64_t deadline)
{
    if (!address)
        report_misuse("filch_connect", "null address");
    int r;
    while ((r = os_connect(fd, address, length)) == -EAGAIN) { /* the listener's queue is full */
        int rc = try_later(deadline);
        if (rc != 0)
            return rc;
    }
    if (r != -EINPROGRESS)
        return r;
    struct try t = try_first(fd, &about_connect);
    while ((r = os_connected(fd)) == -EAGAIN) {
        int rc = try_again(&t, OS_POLL_OUT, deadline);
        if (rc != 0)
            return rc;
    }
    return r;
}

/* ---- descriptors ---------------------------------------------------------------------------- */

int filch_close(int fd)
{
    poll_close(fd);
    int rc = os_fd_close(fd);
    poll_closed(fd);
    return rc;
}

void filch_forget(int fd)
{
    poll_close(fd);
    poll_closed(fd);
}

int filch_wait_fd(int fd, int events, int64_t deadline)
{
    if (events < FILCH_FD_READ || events > (FILCH_FD_READ | FILCH_FD_WRITE))
        report_misuse("filch_wait_fd", "no such events; FILCH_FD_READ, FILCH_FD_WRITE or both");
    struct try t = try_first(fd, &about_fd);
    int r;
    while ((r = os_fd_ready(fd, (unsigned)events)) == 0) {
        int rc = try_again(&t, (unsigned)events, deadline);
        if (rc != 0)
            return rc;
    }
    return r;
}

/* ---- children and signals ------------------------------------------------------------------- */

/* Without a descriptor for it (an old kernel) it is asked now and then. */
static int child_ended(pid_t pid, int fd, int *status, int64_t deadline)
{
    int r;
    while ((r = os_child_status(pid, status)) == -EAGAIN) {
        int rc = fd >= 0 ? filch_wait_fd(fd, FILCH_FD_READ, deadline) : try_later(deadline);
        if (rc < 0)
            return rc;
    }
    return r;
}

int filch_wait_child(pid_t pid, int *status, int64_t deadline)
{
    if (pid <= 0)
        return -ECHILD;
    int unused, *out = status ? status : &unused;
    int r = os_child_status(pid, out);
    if (r != -EAGAIN)
        return r;
    if (deadline <= FILCH_NOW)
        return wait_error(WAIT_TIMEOUT);
    int fd = os_child_fd(pid);
    r = child_ended(pid, fd, out, deadline);
    if (fd >= 0)
        (void)filch_close(fd);
    return r;
}

int filch_wait_signal(const int *signals, size_t count, int64_t deadline)
{
    if (!signals || count == 0)
        report_misuse("filch_wait_signal", "no signals");
    int fd = os_signal_fd(signals, count), r;
    if (fd < 0)
        return fd;
    struct try t = try_first(fd, &about_signal);
    while ((r = os_signal_read(fd)) == -EAGAIN) {
        int rc = try_again(&t, OS_POLL_IN, deadline);
        if (rc != 0) {
            r = rc;
            break;
        }
    }
    (void)filch_close(fd);
    return r;
}
