/* test_io_drained.c: a connection that was read empty is not tried again before something comes; and
 * nothing that came is missed for that: more data, the end, urgent data, another of the same number. */
#define _GNU_SOURCE
#include "core/poll.h"
#include "io_kit.h"

#include <netinet/in.h>
#include <sys/socket.h>

/* The two ends of a TCP connection. */
static void connected(int ends[2])
{
    int listener = filch_listen_tcp("127.0.0.1", 0, 1);
    CHECK(listener >= 0);
    ends[0] = filch_dial_tcp("127.0.0.1", filch_socket_port(listener), FILCH_FOREVER);
    ends[1] = filch_accept(listener, FILCH_FOREVER);
    CHECK(ends[0] >= 0 && ends[1] >= 0);
    CHECK_EQ(filch_close(listener), 0);
}

static bool is_drained(int fd)
{
    struct poll_mark m;
    poll_mark(filch_pool_current(), fd, &m);
    return m.drained;
}

/* Reads what there is, having waited once: from then on reports come. */
static void read_empty(int fd, int from)
{
    char bytes[64];
    CHECK_EQ(filch_read(fd, bytes, sizeof bytes, filch_clock_ns() + 1000000), -ETIMEDOUT);
    CHECK_EQ(write(from, "some", 4), 4);
    CHECK_EQ(filch_read(fd, bytes, sizeof bytes, FILCH_FOREVER), 4);
}

static int writes_later(void *fd)
{
    filch_sleep_ns(2000000);
    CHECK_EQ(write(*(int *)fd, "later", 5), 5);
    return 0;
}

static int reads_in_pieces(void *unused)
{
    int ends[2];
    char bytes[64];
    (void)unused;
    connected(ends);
    CHECK(!is_drained(ends[1]));
    read_empty(ends[1], ends[0]);
    for (int i = 0; i < 50; i++) {
        bool before = i % 2;
        if (before)
            CHECK_EQ(write(ends[0], "later", 5), 5);
        filch_task *t = before ? NULL : spawn(filch_pool_current(), writes_later, &ends[0]);
        CHECK_EQ(filch_read(ends[1], bytes, sizeof bytes, FILCH_FOREVER), 5);
        CHECK_EQ(memcmp(bytes, "later", 5), 0);
        if (t)
            join(t);
        kit_beat();
    }
    CHECK_EQ(write(ends[0], "12345678", 8), 8);
    CHECK_EQ(filch_read(ends[1], bytes, 4, FILCH_FOREVER), 4); /* all that was asked for: there may be more */
    CHECK_EQ(filch_read(ends[1], bytes, sizeof bytes, FILCH_FOREVER), 4);
    CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
    return 0;
}

static void what_comes_after_a_short_read_is_read(void)
{
    ON_EACH(reads_in_pieces, NULL);
}

static int is_spared_a_try(void *unused)
{
    int ends[2];
    char bytes[64];
    (void)unused;
    connected(ends);
    read_empty(ends[1], ends[0]);
    for (int i = 0; i < 1000 && !is_drained(ends[1]); i++) { /* a report may have come after its data */
        CHECK_EQ(write(ends[0], "more", 4), 4);
        CHECK_EQ(filch_read(ends[1], bytes, sizeof bytes, FILCH_FOREVER), 4);
    }
    CHECK(is_drained(ends[1]));
    CHECK_EQ(filch_read(ends[1], bytes, sizeof bytes, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(write(ends[0], "now", 3), 3);
    CHECK_EQ(filch_read(ends[1], bytes, sizeof bytes, FILCH_NOW), 3); /* which asks the system, always */
    CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
    return 0;
}

static void a_drained_connection_is_known_as_such(void)
{
    ON_EACH(is_spared_a_try, NULL);
}

/* The end may be reported before the data are read: it is not reported again. */
static int sees_the_end(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        int ends[2];
        char bytes[64];
        connected(ends);
        read_empty(ends[1], ends[0]);
        CHECK_EQ(write(ends[0], "last", 4), 4);
        CHECK_EQ(i % 2 ? shutdown(ends[0], SHUT_WR) : filch_close(ends[0]), 0);
        if (i % 4 < 2)
            filch_sleep_ns(1000000); /* somebody has looked at the poll by then */
        CHECK_EQ(filch_read(ends[1], bytes, sizeof bytes, FILCH_FOREVER), 4);
        CHECK_EQ(filch_read(ends[1], bytes, sizeof bytes, FILCH_FOREVER), 0);
        CHECK_EQ(filch_read(ends[1], bytes, sizeof bytes, FILCH_FOREVER), 0);
        CHECK_EQ((i % 2 ? filch_close(ends[0]) : 0) | filch_close(ends[1]), 0);
        kit_beat();
    }
    return 0;
}

static void the_end_after_a_short_read_is_seen(void)
{
    ON_EACH(sees_the_end, NULL);
}

/* A read stops at the mark, and what is behind it was reported with what came before. */
static int reads_around_urgent_data(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        int ends[2];
        char bytes[64] = {0};
        connected(ends);
        read_empty(ends[1], ends[0]);
        CHECK_EQ(send(ends[0], "abc!", 4, MSG_OOB), 4);
        CHECK_EQ(send(ends[0], "def", 3, 0), 3);
        if (i % 2)
            filch_sleep_ns(1000000);
        CHECK_EQ(filch_read_all(ends[1], bytes, 6, FILCH_FOREVER), 6);
        CHECK_EQ(memcmp(bytes, "abcdef", 6), 0);
        CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
        kit_beat();
    }
    return 0;
}

static void what_is_behind_urgent_data_is_read(void)
{
    ON_EACH(reads_around_urgent_data, NULL);
}

static int uses_the_number_again(void *unused)
{
    int last = -1, again = 0;
    (void)unused;
    for (int i = 0; i < 20; i++) {
        int ends[2];
        char bytes[64];
        connected(ends);
        again += ends[1] == last;
        last = ends[1];
        CHECK(!is_drained(ends[1]));
        CHECK_EQ(write(ends[0], "first", 5), 5);
        CHECK_EQ(filch_read(ends[1], bytes, sizeof bytes, FILCH_FOREVER), 5);
        read_empty(ends[1], ends[0]);
        CHECK_EQ(filch_close(ends[0]) | filch_close(ends[1]), 0);
    }
    CHECK(again > 0); /* the system gives out the smallest that is free */
    return 0;
}

static void a_number_that_is_used_again_begins_anew(void)
{
    CHECK_EQ(run_on(1, uses_the_number_again, NULL), 0);
}

/* Other kinds return less than was asked for and have more. */
static int reads_datagrams(void *unused)
{
    int a = filch_bind_udp("127.0.0.1", 0), b = filch_bind_udp("127.0.0.1", 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)filch_socket_port(b))};
    char bytes[64];
    (void)unused;
    CHECK(a >= 0 && b >= 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_EQ(filch_read(b, bytes, sizeof bytes, filch_clock_ns() + 1000000), -ETIMEDOUT);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(filch_sendto(a, "datagram", 8, 0, (struct sockaddr *)&to, sizeof to, FILCH_FOREVER), 8);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(filch_read(b, bytes, sizeof bytes, FILCH_FOREVER), 8);
        CHECK(!is_drained(b));
    }
    CHECK_EQ(filch_close(a) | filch_close(b), 0);
    return 0;
}

static void a_short_read_of_datagrams_means_nothing(void)
{
    ON_EACH(reads_datagrams, NULL);
}

int main(void)
{
    kit_watchdog();
    RUN(what_comes_after_a_short_read_is_read);
    RUN(a_drained_connection_is_known_as_such);
    RUN(the_end_after_a_short_read_is_seen);
    RUN(what_is_behind_urgent_data_is_read);
    RUN(a_number_that_is_used_again_begins_anew);
    RUN(a_short_read_of_datagrams_means_nothing);
    return check_report();
}
