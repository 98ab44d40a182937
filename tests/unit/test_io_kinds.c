/* test_io_kinds.c: descriptors of every kind, most of them blocking ones: terminals, events, timers,
 * listeners, connections that nobody takes, IPv6; and addresses that cannot be had. */
#define _GNU_SOURCE
#include "io_kit.h"

#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <termios.h>

static int blocks(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    CHECK(flags >= 0);
    return !(flags & O_NONBLOCK);
}

/* ---- what is not a socket, a pipe or a file --------------------------------------------------- */

/* Both ends block. False: this machine has no terminals. */
static int terminal(int ends[2])
{
    char name[64];
    struct termios raw;
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
    if (ends[0] < 0)
        return 0;
    CHECK_EQ(grantpt(ends[0]) | unlockpt(ends[0]), 0);
    CHECK_EQ(ptsname_r(ends[0], name, sizeof name), 0);
    ends[1] = open(name, O_RDWR | O_NOCTTY);
    CHECK(ends[1] >= 0);
    CHECK_EQ(tcgetattr(ends[1], &raw), 0);
    cfmakeraw(&raw);
    CHECK_EQ(tcsetattr(ends[1], TCSANOW, &raw), 0);
    return 1;
}

enum { LINES = 50, LINE = 20 };

static int answers_lines(void *arg)
{
    int fd = *(int *)arg;
    char line[LINE];
    for (int i = 0; i < LINES; i++) {
        CHECK_EQ(filch_read_all(fd, line, LINE, FILCH_FOREVER), LINE);
        line[0]++;
        CHECK_EQ(filch_write_all(fd, line, LINE, FILCH_FOREVER), LINE);
    }
    return 0;
}

static int asks_lines(void *arg)
{
    int fd = *(int *)arg;
    char line[LINE], back[LINE];
    for (int i = 0; i < LINES; i++) {
        memset(line, 'a' + i % 20, LINE);
        CHECK_EQ(filch_write_all(fd, line, LINE, FILCH_FOREVER), LINE);
        CHECK_EQ(filch_read_all(fd, back, LINE, FILCH_FOREVER), LINE);
        line[0]++;
        CHECK_EQ(memcmp(line, back, LINE), 0);
        kit_beat();
    }
    return 0;
}

static void a_terminal_that_blocks_keeps_no_worker(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        int ends[2];
        char byte;
        if (!terminal(ends)) {
            printf("skipped: no terminals here\n");
        } else {
            filch_task *a = spawn(pool, answers_lines, &ends[1]), *b = spawn(pool, asks_lines, &ends[0]);
            CHECK_EQ(join(a) | join(b), 0);
            CHECK(blocks(ends[0]) && blocks(ends[1]));
            CHECK_EQ(filch_read(ends[1], &byte, 1, FILCH_NOW), -ETIMEDOUT);
            CHECK_EQ(filch_close(ends[0]), 0);
            CHECK(filch_read(ends[1], &byte, 1, FILCH_FOREVER) <= 0); /* hung up: an end, or an error */
            CHECK_EQ(filch_close(ends[1]), 0);
        }
        kit_destroy(pool);
    }
}

static int reads_count(void *arg)
{
    uint64_t n = 0;
    CHECK_EQ(filch_read(*(int *)arg, &n, sizeof n, FILCH_FOREVER), sizeof n);
    return (int)n;
}

static int adds_three(void *arg)
{
    uint64_t n = 3;
    CHECK_EQ(filch_write(*(int *)arg, &n, sizeof n, FILCH_FOREVER), sizeof n);
    return 0;
}

static void events_and_timers_that_block_keep_no_worker(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        int event = eventfd(0, 0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
        struct itimerspec once = {.it_value = {.tv_nsec = 2000000}};
        uint64_t n;
        CHECK(event >= 0 && timer >= 0);
        CHECK_EQ(filch_read(event, &n, sizeof n, FILCH_NOW), -ETIMEDOUT);
        CHECK_EQ(filch_read(timer, &n, sizeof n, FILCH_NOW), -ETIMEDOUT);
        filch_task *a = spawn(pool, reads_count, &event), *b = spawn(pool, reads_count, &timer);
        CHECK_EQ(join(spawn(pool, adds_three, &event)), 0);
        CHECK_EQ(timerfd_settime(timer, 0, &once, NULL), 0);
        CHECK_EQ(join(a), 3);
        CHECK_EQ(join(b), 1);
        CHECK_EQ(filch_close(event) | filch_close(timer), 0);
        kit_destroy(pool);
    }
}

/* ---- the other side is gone ------------------------------------------------------------------- */

static int sees_the_end(void *arg)
{
    int out[2], in[2], both[2];
    (void)arg;
    CHECK_EQ(filch_pipe(out) | filch_pipe(in), 0);
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
    CHECK_EQ(filch_close(out[1]) | filch_close(in[0]) | filch_close(both[1]), 0);
    CHECK_EQ(filch_wait_fd(out[0], FILCH_FD_READ, FILCH_FOREVER), FILCH_FD_READ);
    CHECK_EQ(filch_wait_fd(in[1], FILCH_FD_WRITE, FILCH_FOREVER), FILCH_FD_WRITE);
    CHECK_EQ(filch_wait_fd(both[0], FILCH_FD_READ | FILCH_FD_WRITE, FILCH_FOREVER),
             FILCH_FD_READ | FILCH_FD_WRITE);
    CHECK_EQ(filch_close(out[0]) | filch_close(in[1]) | filch_close(both[0]), 0);
    return 0;
}

static void the_end_of_the_other_side_is_ready_for_all_that_was_asked(void)
{
    ON_EACH(sees_the_end, NULL);
    CHECK_EQ(sees_the_end(NULL), 0);
}

/* ---- several pools ---------------------------------------------------------------------------- */

static int reads_byte(void *arg)
{
    char byte = 0;
    CHECK_EQ(filch_read(*(int *)arg, &byte, 1, FILCH_FOREVER), 1);
    return byte;
}

/* Each waits in its own poll, for the same pipe in turn; they end in every order. */
static void pools_that_waited_end_in_any_order(void)
{
    static const int order[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        filch_pool *pool[3];
        int ends[2];
        CHECK_EQ(filch_pipe(ends), 0);
        for (int i = 0; i < 3; i++) {
            pool[i] = kit_pool(1);
            filch_task *t = spawn(pool[i], reads_byte, &ends[0]);
            kit_await_parked(pool[i]);
            CHECK_EQ(filch_write(ends[1], "p", 1, FILCH_FOREVER), 1);
            CHECK_EQ(join(t), 'p');
        }
        for (int i = 0; i < 3; i++)
            kit_destroy(pool[order[k][i]]);
        CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0); /* told to the polls that are left: none */
    }
}

/* ---- connections ------------------------------------------------------------------------------ */

struct called {
    int listener;
    struct sockaddr_in at;
    socklen_t length;
};

/* Blocking, as socket() makes them. */
static struct called listen_blocking(int backlog)
{
    struct called c = {.listener = socket(AF_INET, SOCK_STREAM, 0), .length = sizeof c.at};
    CHECK(c.listener >= 0);
    c.at.sin_family = AF_INET;
    c.at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_EQ(bind(c.listener, (struct sockaddr *)&c.at, sizeof c.at), 0);
    CHECK_EQ(listen(c.listener, backlog), 0);
    CHECK_EQ(getsockname(c.listener, (struct sockaddr *)&c.at, &c.length), 0);
    return c;
}

static int answers_one(void *arg)
{
    struct called *c = arg;
    int fd = filch_accept(c->listener, FILCH_FOREVER);
    CHECK(fd >= 0);
    return echoes(&fd);
}

static int calls_one(void *arg)
{
    struct called *c = arg;
    char byte = 0;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0);
    CHECK_EQ(filch_connect(fd, (struct sockaddr *)&c->at, c->length, FILCH_FOREVER), 0);
    CHECK(blocks(fd)); /* as it was */
    CHECK_EQ(filch_write(fd, "c", 1, FILCH_FOREVER), 1);
    CHECK_EQ(filch_read(fd, &byte, 1, FILCH_FOREVER), 1);
    CHECK_EQ(filch_close(fd), 0);
    return byte;
}

static void sockets_that_block_keep_no_worker(void)
{
    struct called c = listen_blocking(16);
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        CHECK_EQ(filch_accept(c.listener, FILCH_NOW), -ETIMEDOUT);
        for (int i = 0; i < 10; i++) {
            filch_task *a = spawn(pool, answers_one, &c);
            CHECK_EQ(join(spawn(pool, calls_one, &c)), 'c');
            CHECK_EQ(join(a), 0);
        }
        CHECK(blocks(c.listener));
        kit_destroy(pool);
    }
    CHECK_EQ(filch_close(c.listener), 0);
}

/* A queue of the shortest length, and nobody who accepts: soon the system does not even answer. */
static int calls_in_vain(void *arg)
{
    struct called *c = arg;
    enum { MANY = 16 };
    int fd[MANY], n = 0, rc = 0;
    while (n < MANY && rc == 0) {
        fd[n] = socket(AF_INET, SOCK_STREAM | (n % 2 ? SOCK_NONBLOCK : 0), 0);
        CHECK(fd[n] >= 0);
        rc = filch_connect(fd[n], (struct sockaddr *)&c->at, c->length, soon(20));
        CHECK_EQ(blocks(fd[n]), n % 2 == 0);
        n++;
    }
    while (n-- > 0)
        CHECK_EQ(filch_close(fd[n]), 0);
    kit_beat();
    return rc;
}

static void a_connection_that_nobody_takes_ends_in_time(void)
{
    for (int workers = 0; workers <= 2; workers++) {
        struct called c = listen_blocking(0);
        CHECK_EQ(workers == 0 ? calls_in_vain(&c) : run_on(workers, calls_in_vain, &c), -ETIMEDOUT);
        CHECK_EQ(filch_close(c.listener), 0);
    }
}

static int answers_six(void *arg)
{
    int fd = filch_accept(*(int *)arg, FILCH_FOREVER);
    CHECK(fd >= 0);
    return echoes(&fd);
}

static int calls_six(void *arg)
{
    int fd = filch_dial_tcp("::1", filch_socket_port(*(int *)arg), FILCH_FOREVER);
    CHECK(fd >= 0);
    char byte = 0;
    CHECK_EQ(filch_write(fd, "6", 1, FILCH_FOREVER), 1);
    CHECK_EQ(filch_read(fd, &byte, 1, FILCH_FOREVER), 1);
    CHECK_EQ(filch_close(fd), 0);
    return byte;
}

static void connections_over_ipv6_echo(void)
{
    int listener = filch_listen_tcp("::1", 0, 16);
    if (listener == -EADDRNOTAVAIL || listener == -EAFNOSUPPORT) {
        printf("skipped: no IPv6 here\n");
        return;
    }
    CHECK(listener >= 0);
    CHECK(filch_socket_port(listener) > 0);
    filch_pool *pool = kit_pool(2);
    filch_task *a = spawn(pool, answers_six, &listener);
    CHECK_EQ(join(spawn(pool, calls_six, &listener)), '6');
    CHECK_EQ(join(a), 0);
    kit_destroy(pool);
    CHECK_EQ(filch_close(listener), 0);
}

/* ---- both families ---------------------------------------------------------------------------- */

/* Connects to `host` and is accepted there. */
static void reaches(int listener, const char *host)
{
    int near = filch_dial_tcp(host, filch_socket_port(listener), soon(10000));
    CHECK_MSG(near >= 0, "to %s: %d", host, near);
    int far = filch_accept(listener, soon(10000));
    CHECK_MSG(far >= 0, "from %s: %d", host, far);
    CHECK_EQ(filch_close(near) | filch_close(far), 0);
}

static int no_ipv6(void)
{
    int fd = filch_listen_tcp("::1", 0, 1);
    if (fd == -EADDRNOTAVAIL || fd == -EAFNOSUPPORT) {
        printf("skipped: no IPv6 here\n");
        return 1;
    }
    CHECK(fd >= 0);
    CHECK_EQ(filch_close(fd), 0);
    return 0;
}

static void every_own_address_is_one_of_both_families(void)
{
    if (no_ipv6())
        return;
    for (int i = 0; i < 2; i++) {
        int listener = filch_listen_tcp(i == 0 ? NULL : "::", 0, 16);
        CHECK(listener >= 0);
        reaches(listener, "127.0.0.1");
        reaches(listener, "::1");
        CHECK_EQ(filch_close(listener), 0);
    }
}

/* What arrives at `fd` from a socket at `host`. */
static char datagram(int fd, const char *host)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int is_six = strchr(host, ':') != NULL, out = filch_bind_udp(host, 0);
    CHECK(out >= 0);
    six.sin6_port = four.sin_port = htons((uint16_t)filch_socket_port(fd));
    char byte = 0;
    CHECK_EQ(filch_sendto(out, host, 1, 0, is_six ? (struct sockaddr *)&six : (struct sockaddr *)&four,
                          is_six ? sizeof six : sizeof four, soon(10000)), 1);
    CHECK_EQ(filch_recv(fd, &byte, 1, 0, soon(10000)), 1);
    CHECK_EQ(filch_close(out), 0);
    return byte;
}

static void datagrams_come_from_both_families(void)
{
    if (no_ipv6())
        return;
    int fd = filch_bind_udp(NULL, 0);
    CHECK(fd >= 0);
    CHECK_EQ(datagram(fd, "127.0.0.1"), '1');
    CHECK_EQ(datagram(fd, "::1"), ':');
    CHECK_EQ(filch_close(fd), 0);
}

static void localhost_is_found_in_both_families(void)
{
    if (no_ipv6())
        return;
    static const char *const at[] = {"127.0.0.1", "::1", "localhost"};
    for (int i = 0; i < 3; i++) {
        int listener = filch_listen_tcp(at[i], 0, 16);
        reaches(listener, "localhost");
        CHECK_EQ(filch_close(listener), 0);
    }
    int port = filch_listen_tcp("localhost", 0, 1), free_port = filch_socket_port(port);
    CHECK_EQ(filch_close(port), 0);
    CHECK_EQ(filch_dial_tcp("localhost", free_port, soon(10000)), -ECONNREFUSED);
}

static void localhost_has_two_addresses(void)
{
    struct sockaddr_storage found[3] = {{0}};
    CHECK_EQ(filch_resolve("localhost", 80, found, 1, FILCH_NOW), 1);
    CHECK_EQ(found[0].ss_family, AF_INET);
    CHECK_EQ(found[1].ss_family, 0);
    CHECK_EQ(filch_resolve("localhost", 80, found, 3, FILCH_NOW), 2);
    CHECK_EQ(((struct sockaddr_in *)&found[0])->sin_port, htons(80));
    CHECK_EQ(((struct sockaddr_in *)&found[0])->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    CHECK_EQ(((struct sockaddr_in6 *)&found[1])->sin6_port, htons(80));
    CHECK(IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)&found[1])->sin6_addr));
    CHECK_EQ(found[2].ss_family, 0);
}

/* ---- addresses -------------------------------------------------------------------------------- */

static int next_descriptor(void)
{
    int fd = dup(STDIN_FILENO);
    CHECK(fd >= 0);
    close(fd);
    return fd;
}

static void an_address_in_use_is_said_and_leaves_no_descriptor(void)
{
    char path[64];
    snprintf(path, sizeof path, "@filch-kinds-%d", (int)getpid());
    int tcp = filch_listen_tcp("127.0.0.1", 0, 1), udp = filch_bind_udp("127.0.0.1", 0);
    int un = filch_listen_unix(path, 1);
    CHECK(tcp >= 0 && udp >= 0 && un >= 0);
    int next = next_descriptor();
    CHECK_EQ(filch_listen_tcp("127.0.0.1", filch_socket_port(tcp), 1), -EADDRINUSE);
    CHECK_EQ(filch_bind_udp("127.0.0.1", filch_socket_port(udp)), -EADDRINUSE);
    CHECK_EQ(filch_listen_unix(path, 1), -EADDRINUSE);
    CHECK_EQ(next_descriptor(), next);
    CHECK_EQ(filch_close(tcp) | filch_close(udp) | filch_close(un), 0);
}

static void what_has_no_port_says_so(void)
{
    int ends[2], un;
    char path[64];
    snprintf(path, sizeof path, "@filch-kinds-%d", (int)getpid());
    un = filch_listen_unix(path, 1);
    CHECK(un >= 0);
    CHECK_EQ(filch_pipe(ends), 0);
    CHECK_EQ(filch_socket_port(un), -EAFNOSUPPORT);
    CHECK_EQ(filch_socket_port(ends[0]), -ENOTSOCK);
    CHECK_EQ(filch_close(un) | filch_close(ends[0]) | filch_close(ends[1]), 0);
}

static void no_descriptor_for_a_socket_is_an_answer(void)
{
    struct rlimit before, none;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = (rlim_t)next_descriptor();
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    CHECK_EQ(filch_listen_tcp("127.0.0.1", 0, 1), -EMFILE);
    CHECK_EQ(filch_bind_udp(NULL, 0), -EMFILE);
    CHECK_EQ(filch_listen_unix("@filch-kinds-none", 1), -EMFILE);
    CHECK_EQ(filch_dial_tcp("127.0.0.1", 1, FILCH_FOREVER), -EMFILE);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
    kit_watchdog();
    RUN(a_terminal_that_blocks_keeps_no_worker);
    RUN(events_and_timers_that_block_keep_no_worker);
    RUN(the_end_of_the_other_side_is_ready_for_all_that_was_asked);
    RUN(pools_that_waited_end_in_any_order);
    RUN(sockets_that_block_keep_no_worker);
    RUN(a_connection_that_nobody_takes_ends_in_time);
    RUN(connections_over_ipv6_echo);
    RUN(every_own_address_is_one_of_both_families);
    RUN(datagrams_come_from_both_families);
    RUN(localhost_is_found_in_both_families);
    RUN(localhost_has_two_addresses);
    RUN(an_address_in_use_is_said_and_leaves_no_descriptor);
    RUN(what_has_no_port_says_so);
    RUN(no_descriptor_for_a_socket_is_an_answer);
    return check_report();
}
