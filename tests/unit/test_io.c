/* test_io.c: what is written is read, exactly: pipes, sockets of every kind, files, many connections at
 * once; in tasks, on pools of every size. */
#define _GNU_SOURCE
#include "io_kit.h"

#include <netinet/in.h>

static void a_pipe_carries_every_byte(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        for (int blocking = 0; blocking < 2; blocking++) {
            int ends[2];
            CHECK_EQ(blocking ? pipe(ends) : filch_pipe(ends), 0);
            check_stream(pool, ends[1], ends[0]);
            CHECK_EQ(filch_close(ends[1]), 0);
            char more;
            CHECK_EQ(filch_read(ends[0], &more, 1, FILCH_FOREVER), 0);
            CHECK_EQ(filch_close(ends[0]), 0);
        }
        kit_destroy(pool);
    }
}

static void a_pair_of_sockets_echoes(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        for (int blocking = 0; blocking < 2; blocking++) {
            int ends[2];
            CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | (blocking ? 0 : SOCK_NONBLOCK), 0, ends), 0);
            check_echo(pool, ends[0], ends[1]);
        }
        kit_destroy(pool);
    }
}

struct meeting {
    int listener, port, fd;
    const char *path;
};

static int accepts_one(void *arg)
{
    struct meeting *m = arg;
    m->fd = filch_accept(m->listener, FILCH_FOREVER);
    CHECK(m->fd >= 0);
    CHECK(fcntl(m->fd, F_GETFL) & O_NONBLOCK);
    CHECK(fcntl(m->fd, F_GETFD) & FD_CLOEXEC);
    return 0;
}

static int dials(void *arg)
{
    struct meeting *m = arg;
    return m->path ? filch_dial_unix(m->path, FILCH_FOREVER)
                   : filch_dial_tcp("localhost", m->port, FILCH_FOREVER);
}

static void check_meeting(filch_pool *pool, struct meeting *m)
{
    filch_task *t = spawn(pool, accepts_one, m);
    int fd = join(spawn(pool, dials, m));
    CHECK(fd >= 0);
    CHECK_EQ(join(t), 0);
    check_echo(pool, fd, m->fd);
    CHECK_EQ(filch_close(m->listener), 0);
}

static void tcp_and_unix_connections_echo(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct meeting m = {.listener = filch_listen_tcp("127.0.0.1", 0, 16)};
        CHECK(m.listener >= 0);
        m.port = filch_socket_port(m.listener);
        CHECK(m.port > 0);
        check_meeting(pool, &m);
        char path[64];
        snprintf(path, sizeof path, "@filch-test-%d-%d", (int)getpid(), workers);
        m = (struct meeting){.listener = filch_listen_unix(path, 16), .path = path};
        CHECK(m.listener >= 0);
        check_meeting(pool, &m);
        kit_destroy(pool);
    }
}

static int sends_datagrams(void *arg)
{
    int *fd = arg;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)filch_socket_port(fd[1]))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < 50; i++) {
        int back = -1;
        CHECK_EQ(filch_sendto(fd[0], &i, sizeof i, 0, (struct sockaddr *)&to, sizeof to, FILCH_FOREVER),
                 sizeof i);
        CHECK_EQ(filch_recv(fd[0], &back, sizeof back, 0, FILCH_FOREVER), sizeof back);
        CHECK_EQ(back, i * 2);
    }
    return 0;
}

static int answers_datagrams(void *arg)
{
    int *fd = arg, n;
    for (int i = 0; i < 50; i++) {
        struct sockaddr_storage at;
        struct sockaddr *from = (struct sockaddr *)&at;
        socklen_t length = sizeof at;
        CHECK_EQ(filch_recvfrom(fd[1], &n, sizeof n, 0, from, &length, FILCH_FOREVER), sizeof n);
        n *= 2;
        CHECK_EQ(filch_sendto(fd[1], &n, sizeof n, 0, from, length, FILCH_FOREVER), sizeof n);
    }
    return 0;
}

static void datagrams_come_back_to_their_sender(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        int fd[2] = {filch_bind_udp("127.0.0.1", 0), filch_bind_udp("localhost", 0)};
        CHECK(fd[0] >= 0 && fd[1] >= 0);
        filch_task *a = spawn(pool, answers_datagrams, fd), *b = spawn(pool, sends_datagrams, fd);
        CHECK_EQ(join(a) | join(b), 0);
        CHECK_EQ(filch_close(fd[0]) | filch_close(fd[1]), 0);
        kit_destroy(pool);
    }
}

static void files_are_read_and_written(void)
{
    filch_pool *pool = kit_pool(1);
    char name[] = "/tmp/filch-io-XXXXXX";
    int fd = mkstemp(name);
    CHECK(fd >= 0);
    CHECK_EQ(unlink(name), 0);
    struct stream s = {fd, 100000};
    CHECK_EQ(join(spawn(pool, sends_stream, &s)), 0);
    CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
    CHECK_EQ(join(spawn(pool, receives_stream, &s)), 0);
    CHECK_EQ(filch_close(fd), 0);
    kit_destroy(pool);
}

/* ---- many connections ------------------------------------------------------------------------ */

enum { ROUNDS = 5, MESSAGE = 777 };

struct server {
    int listener, port;
    uint32_t connections;
    uint64_t bytes;
};

static void serves(void *arg)
{
    int fd = *(int *)arg;
    free(arg);
    (void)echoes(&fd);
}

static int server(void *arg)
{
    struct server *s = arg;
    for (uint32_t i = 0; i < s->connections; i++) {
        int *fd = malloc(sizeof *fd);
        CHECK(fd);
        *fd = filch_accept(s->listener, FILCH_FOREVER);
        CHECK(*fd >= 0);
        CHECK_EQ(filch_go(serves, fd), 0);
    }
    return 0;
}

static int client(void *arg)
{
    struct server *s = arg;
    unsigned char out[MESSAGE], in[MESSAGE];
    int fd = filch_dial_tcp("127.0.0.1", s->port, FILCH_FOREVER);
    CHECK(fd >= 0);
    for (size_t i = 0; i < ROUNDS; i++) {
        fill(out, sizeof out, i * 1000);
        CHECK_EQ(filch_send(fd, out, sizeof out, 0, FILCH_FOREVER), sizeof out);
        CHECK_EQ(filch_read_all(fd, in, sizeof in, FILCH_FOREVER), sizeof in);
        CHECK_EQ(memcmp(out, in, sizeof in), 0);
        filch_add_relaxed(&s->bytes, (uint64_t)sizeof in); /* order: a count, read after the join */
    }
    CHECK_EQ(filch_close(fd), 0);
    kit_beat();
    return 0;
}

static void two_hundred_connections_at_once(void)
{
    enum { MANY = 200 };
    static filch_task *clients[MANY];
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct server s = {.listener = filch_listen_tcp("127.0.0.1", 0, MANY), .connections = MANY};
        CHECK(s.listener >= 0);
        s.port = filch_socket_port(s.listener);
        filch_task *t = spawn(pool, server, &s);
        for (int i = 0; i < MANY; i++)
            clients[i] = spawn(pool, client, &s);
        for (int i = 0; i < MANY; i++)
            CHECK_EQ(join(clients[i]), 0);
        CHECK_EQ(join(t), 0);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        CHECK_EQ(s.bytes, (uint64_t)MANY * ROUNDS * MESSAGE);
        CHECK_EQ(filch_close(s.listener), 0);
        kit_destroy(pool);
    }
}

/* Several tasks accept from one listener: one report of the kernel may be for all of them. */
static int accepts_some(void *arg)
{
    struct server *s = arg;
    int n = 0, fd;
    while ((fd = filch_accept(s->listener, FILCH_FOREVER)) >= 0) {
        n++;
        CHECK_EQ(filch_close(fd), 0);
        if (filch_add_acq_rel(&s->bytes, 1u) + 1 == s->connections) /* order: a count */
            CHECK_EQ(filch_close(s->listener), 0);
    }
    CHECK(fd == -ECANCELED || fd == -EBADF);
    return n;
}

static int dials_and_leaves(void *arg)
{
    struct server *s = arg;
    int fd = filch_dial_tcp("127.0.0.1", s->port, FILCH_FOREVER);
    CHECK(fd >= 0);
    CHECK_EQ(filch_close(fd), 0);
    kit_beat();
    return 0;
}

static void several_accept_from_one_listener(void)
{
    enum { MANY = 100, FEW = 5 };
    for (int workers = 1; workers <= 3; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct server s = {.listener = filch_listen_tcp(NULL, 0, MANY), .connections = MANY};
        filch_task *accepting[FEW], *dialing[MANY];
        s.port = filch_socket_port(s.listener);
        for (int i = 0; i < FEW; i++)
            accepting[i] = spawn(pool, accepts_some, &s);
        for (int i = 0; i < MANY; i++)
            dialing[i] = spawn(pool, dials_and_leaves, &s);
        int sum = 0;
        for (int i = 0; i < MANY; i++)
            CHECK_EQ(join(dialing[i]), 0);
        for (int i = 0; i < FEW; i++)
            sum += join(accepting[i]);
        CHECK_EQ(sum, MANY);
        kit_destroy(pool);
    }
}

/* The lowest number that is free: as many as are open. */
static int next_descriptor(void)
{
    int fd = dup(STDERR_FILENO);
    CHECK(fd >= 0);
    close(fd);
    return fd;
}

/* Nothing listens there: the port was bound and given back. */
static int dials_in_vain(void *port)
{
    return filch_dial_tcp("127.0.0.1", *(int *)port, filch_clock_ns() + 5000000000);
}

static void a_connection_that_fails_leaves_no_descriptor(void)
{
    filch_pool *pool = kit_pool(2);
    int listener = filch_listen_tcp("127.0.0.1", 0, 1), port = filch_socket_port(listener);
    CHECK(listener >= 0 && port > 0);
    CHECK_EQ(filch_close(listener), 0);
    CHECK(join(spawn(pool, dials_in_vain, &port)) < 0); /* whatever is made once is made now */
    int before = next_descriptor();
    for (int i = 0; i < 20; i++) {
        CHECK(join(spawn(pool, dials_in_vain, &port)) < 0);
        CHECK(dials_in_vain(&port) < 0);
        CHECK(filch_dial_unix("/nowhere/at/all", FILCH_FOREVER) < 0);
    }
    CHECK_EQ(next_descriptor(), before);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(a_pipe_carries_every_byte);
    RUN(a_pair_of_sockets_echoes);
    RUN(tcp_and_unix_connections_echo);
    RUN(datagrams_come_back_to_their_sender);
    RUN(files_are_read_and_written);
    RUN(two_hundred_connections_at_once);
    RUN(several_accept_from_one_listener);
    RUN(a_connection_that_fails_leaves_no_descriptor);
    return check_report();
}
