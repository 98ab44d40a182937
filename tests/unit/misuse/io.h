/* misuse/io.h: rows about filch/io.h. */
#include <filch/io.h>

static void read_null(void) { (void)filch_read(0, 0, 1, FILCH_NOW); }
static void write_null(void) { (void)filch_write(1, 0, 1, FILCH_NOW); }
static void read_all_null(void) { (void)filch_read_all(0, 0, 1, FILCH_NOW); }
static void write_all_null(void) { (void)filch_write_all(1, 0, 1, FILCH_NOW); }
static void recv_null(void) { (void)filch_recv(0, 0, 1, 0, FILCH_NOW); }
static void send_null(void) { (void)filch_send(0, 0, 1, 0, FILCH_NOW); }
static void recvfrom_null(void) { (void)filch_recvfrom(0, 0, 1, 0, 0, 0, FILCH_NOW); }
static void recvfrom_no_length(void)
{
    struct sockaddr from;
    char byte;
    (void)filch_recvfrom(0, &byte, 1, 0, &from, 0, FILCH_NOW);
}
static void sendto_null(void) { (void)filch_sendto(0, 0, 1, 0, 0, 0, FILCH_NOW); }
static void connect_null(void) { (void)filch_connect(0, 0, 0, FILCH_NOW); }
static void wait_fd_none(void) { (void)filch_wait_fd(0, 0, FILCH_NOW); }
static void wait_fd_more(void) { (void)filch_wait_fd(0, 8, FILCH_NOW); }
static void pipe_null(void) { (void)filch_pipe(0); }
static void listen_unix_null(void) { (void)filch_listen_unix(0, 1); }
static void dial_unix_null(void) { (void)filch_dial_unix(0, FILCH_NOW); }
static void dial_tcp_null(void) { (void)filch_dial_tcp(0, 1, FILCH_NOW); }
static void resolve_no_host(void)
{
    struct sockaddr_storage at;
    (void)filch_resolve(0, 1, &at, 1, FILCH_NOW);
}
static void resolve_no_result(void) { (void)filch_resolve("localhost", 1, 0, 1, FILCH_NOW); }
static void wait_signal_null(void) { (void)filch_wait_signal(0, 1, FILCH_NOW); }
static void wait_signal_none(void) { (void)filch_wait_signal((int[]){1}, 0, FILCH_NOW); }

/* What is no descriptor, or one of the wrong kind: as the system says it. */
static void io_no_descriptor(void *unused)
{
    static const int numbers[] = {-1, INT_MIN, INT_MAX, 1 << 20, 900};
    struct sockaddr_storage at = {.ss_family = AF_INET};
    char byte = 0;
    (void)unused;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int fd = numbers[i];
        CHECK_EQ(filch_read(fd, &byte, 1, FILCH_FOREVER), -EBADF);
        CHECK_EQ(filch_write(fd, &byte, 1, FILCH_FOREVER), -EBADF);
        CHECK_EQ(filch_read_all(fd, &byte, 1, FILCH_FOREVER), -EBADF);
        CHECK_EQ(filch_write_all(fd, &byte, 1, FILCH_FOREVER), -EBADF);
        CHECK_EQ(filch_recv(fd, &byte, 1, 0, FILCH_FOREVER), -EBADF);
        CHECK_EQ(filch_send(fd, &byte, 1, 0, FILCH_FOREVER), -EBADF);
        CHECK_EQ(filch_recvfrom(fd, &byte, 1, 0, 0, 0, FILCH_FOREVER), -EBADF);
        CHECK_EQ(filch_sendto(fd, &byte, 1, 0, 0, 0, FILCH_FOREVER), -EBADF);
        CHECK_EQ(filch_accept(fd, FILCH_FOREVER), -EBADF);
        CHECK_EQ(filch_connect(fd, (struct sockaddr *)&at, sizeof at, FILCH_FOREVER), -EBADF);
        CHECK_EQ(filch_close(fd), -EBADF);
        CHECK_EQ(filch_socket_port(fd), -EBADF);
        filch_forget(fd);
        CHECK_EQ(filch_wait_fd(fd, FILCH_FD_READ, FILCH_FOREVER), -EBADF);
    }
}
static void io_no_descriptors(void)
{
    io_no_descriptor(0);
    make_pool();
    run_as_job(pool, io_no_descriptor, 0);
}
static void io_answers(void)
{
    int ends[2];
    struct sockaddr_storage at;
    char byte = 0, path[300];
    memset(path, 'p', sizeof path);
    path[sizeof path - 1] = 0;
    CHECK_EQ(filch_pipe(ends), 0);
    CHECK_EQ(filch_recv(ends[0], &byte, 1, 0, FILCH_FOREVER), -ENOTSOCK);
    CHECK_EQ(filch_send(ends[1], &byte, 1, 0, FILCH_FOREVER), -ENOTSOCK);
    CHECK_EQ(filch_accept(ends[0], FILCH_FOREVER), -ENOTSOCK);
    CHECK_EQ(filch_read(ends[1], &byte, 1, FILCH_FOREVER), -EBADF); /* the wrong end */
    CHECK_EQ(filch_read(ends[0], 0, 0, FILCH_NOW) <= 0, 1);
    CHECK_EQ(filch_write_all(ends[1], 0, 0, FILCH_NOW), 0);
    CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
    CHECK_EQ(filch_listen_tcp("nowhere.example", 1, 1), -EINVAL);
    CHECK_EQ(filch_listen_tcp("127.0.0.1", -1, 1), -EINVAL);
    CHECK_EQ(filch_listen_tcp("127.0.0.1", 65536, INT_MAX), -EINVAL);
    CHECK_EQ(filch_dial_tcp("", 1, FILCH_NOW), -EINVAL);
    CHECK_EQ(filch_dial_tcp("127.0.0.1", INT_MIN, FILCH_NOW), -EINVAL);
    CHECK_EQ(filch_bind_udp("256.1.1.1", 0), -EINVAL);
    CHECK_EQ(filch_resolve("", 1, &at, 1, FILCH_FOREVER), -EINVAL);
    CHECK_EQ(filch_resolve("127.0.0.1", INT_MAX, &at, 1, FILCH_FOREVER), -EINVAL);
    CHECK_EQ(filch_resolve("127.0.0.1", 1, &at, SIZE_MAX, FILCH_NOW), 1);
    CHECK_EQ(filch_resolve("127.0.0.1", 1, &at, 0, FILCH_FOREVER), -EINVAL);
    CHECK_EQ(filch_listen_unix("", 1), -EINVAL);
    CHECK_EQ(filch_listen_unix(path, 1), -EINVAL);
    CHECK_EQ(filch_dial_unix(path, FILCH_FOREVER), -EINVAL);
    CHECK_EQ(filch_dial_unix("/no/such/socket", FILCH_FOREVER), -ENOENT);
    CHECK(filch_socket(-1, -1, -1) < 0);
    CHECK_EQ(filch_wait_child(0, 0, FILCH_FOREVER), -ECHILD);
    CHECK_EQ(filch_wait_child(-1, 0, FILCH_FOREVER), -ECHILD);
    CHECK_EQ(filch_wait_child(1, 0, FILCH_FOREVER), -ECHILD);
    CHECK_EQ(filch_wait_signal((int[]){0}, 1, FILCH_NOW), -EINVAL);
}

#define ROWS_IO                                                                                   \
    SAYS("filch_read", read_null, "null"),                                                        \
    SAYS("filch_write", write_null, "null"),                                                      \
    SAYS("filch_read_all", read_all_null, "null"),                                                \
    SAYS("filch_write_all", write_all_null, "null"),                                              \
    SAYS("filch_recv", recv_null, "null"),                                                        \
    SAYS("filch_send", send_null, "null"),                                                        \
    SAYS("filch_recvfrom", recvfrom_null, "null"),                                                \
    SAYS("filch_recvfrom", recvfrom_no_length, "length"),                                         \
    SAYS("filch_sendto", sendto_null, "null"),                                                    \
    SAYS("filch_connect", connect_null, "null"),                                                  \
    SAYS("filch_wait_fd", wait_fd_none, "no such events"),                                        \
    SAYS("filch_wait_fd", wait_fd_more, "no such events"),                                        \
    SAYS("filch_pipe", pipe_null, "null"),                                                        \
    SAYS("filch_listen_unix", listen_unix_null, "null"),                                          \
    SAYS("filch_dial_unix", dial_unix_null, "null"),                                              \
    SAYS("filch_dial_tcp", dial_tcp_null, "null"),                                                \
    SAYS("filch_resolve", resolve_no_host, "null host"),                                          \
    SAYS("filch_resolve", resolve_no_result, "null result"),                                      \
    SAYS("filch_wait_signal", wait_signal_null, "no signals"),                                    \
    SAYS("filch_wait_signal", wait_signal_none, "no signals"),                                    \
    ANSWERS("filch_read filch_write filch_read_all filch_write_all filch_recv filch_send "        \
            "filch_recvfrom filch_sendto filch_accept filch_connect filch_close filch_forget "    \
            "filch_wait_fd filch_socket_port", io_no_descriptors),                                \
    ANSWERS("filch_listen_tcp filch_listen_unix filch_dial_tcp filch_dial_unix filch_bind_udp "   \
            "filch_socket filch_pipe filch_wait_child filch_wait_signal filch_resolve", io_answers),
