/* test_file.c: files and names, which block a thread, do not block a worker. */
#define _GNU_SOURCE
#include "pool_kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <filch/file.h>
#include <filch/io.h>
#include <filch/scope.h>
#include <filch/task.h>
#include <netdb.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- on a task ------------------------------------------------------------------------------ */

static void on_task(filch_pool *pool, int (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    int result = -1;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    CHECK_EQ(result, 0);
    kit_beat();
}

/* In tasks of pools of both kinds of join, and on a thread outside. */
static void everywhere(int (*fn)(void *), void *arg)
{
    for (int help = 0; help <= 1; help++) {
        filch_config c = kit_config(2);
        c.join = help ? FILCH_JOIN_HELP : FILCH_JOIN_SUSPEND;
        filch_pool *pool = kit_make(&c);
        on_task(pool, fn, arg);
        kit_destroy(pool);
    }
    CHECK_EQ(fn(arg), 0);
}

/* ---- files ---------------------------------------------------------------------------------- */

static char path[] = "/tmp/filch-test-file-XXXXXX";

enum { SIZE = 1 << 20 };

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(i * 31 + i / 257);
}

static int writes_and_reads(void *arg)
{
    unsigned char *data = malloc(SIZE), *back = malloc(SIZE);
    (void)arg;
    CHECK(data && back);
    for (size_t i = 0; i < SIZE; i++)
        data[i] = byte_at(i);
    int fd = filch_open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    CHECK_EQ(filch_write_all(fd, data, SIZE, FILCH_FOREVER), SIZE);
    CHECK_EQ(filch_fsync(fd), 0);
    for (int cold = 0; cold <= 1; cold++) {
        if (cold) /* out of the page cache, if the file system lets it: then a read has to wait */
            CHECK_EQ(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
        memset(back, 0, SIZE);
        CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
        CHECK_EQ(filch_read_all(fd, back, SIZE, FILCH_FOREVER), SIZE);
        CHECK_EQ(memcmp(data, back, SIZE), 0);
        CHECK_EQ(filch_read(fd, back, 1, FILCH_FOREVER), 0);
    }
    CHECK_EQ(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    for (size_t at = 0; at < SIZE; at += SIZE / 8 + 11) {
        unsigned char some[100];
        ssize_t n = filch_pread(fd, some, sizeof some, (off_t)at);
        CHECK(n > 0 && n <= 100);
        CHECK_EQ(memcmp(some, data + at, (size_t)n), 0);
    }
    CHECK_EQ(filch_pwrite(fd, "changed", 7, 5000), 7);
    CHECK_EQ(filch_pread(fd, back, 7, 5000), 7);
    CHECK_EQ(memcmp(back, "changed", 7), 0);
    CHECK_EQ(filch_pread(fd, back, 7, SIZE + 1), 0);
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), SIZE); /* where it was */
    CHECK_EQ(filch_close(fd), 0);
    free(data);
    free(back);
    return 0;
}

static void what_was_written_to_a_file_is_read_again(void)
{
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    everywhere(writes_and_reads, 0);
    unlink(path);
}

static int makes_mistakes(void *arg)
{
    char byte;
    int ends[2];
    (void)arg;
    CHECK_EQ(filch_open("/nonexistent/file", O_RDONLY, 0), -ENOENT);
    CHECK_EQ(filch_open("", O_RDONLY, 0), -ENOENT);
    CHECK_EQ(filch_fsync(-1), -EBADF);
    CHECK_EQ(filch_pread(-1, &byte, 1, 0), -EBADF);
    CHECK_EQ(filch_pwrite(-1, &byte, 1, 0), -EBADF);
    CHECK_EQ(filch_pread(0, &byte, 1, -1), -EINVAL);
    CHECK_EQ(filch_pwrite(0, &byte, 1, -1), -EINVAL);
    CHECK_EQ(filch_pipe(ends), 0);
    CHECK_EQ(filch_pread(ends[0], &byte, 1, 0), -ESPIPE);
    CHECK_EQ(filch_pwrite(ends[1], &byte, 1, 0), -ESPIPE);
    filch_close(ends[0]);
    filch_close(ends[1]);
    return 0;
}

static void what_cannot_be_done_with_a_file_is_an_error(void)
{
    everywhere(makes_mistakes, 0);
}

/* A FIFO lets open(2) wait for the other end. */
static int opens_to_read(void *arg)
{
    (void)arg;
    int fd = filch_open(path, O_RDONLY, 0);
    CHECK(fd >= 0);
    return filch_close(fd);
}

static int opens_to_write(void *arg)
{
    (void)arg;
    int fd = filch_open(path, O_WRONLY, 0);
    CHECK(fd >= 0);
    return filch_close(fd);
}

static void one_worker_opens_both_ends_of_a_fifo(void)
{
    filch_pool *pool = kit_pool(1);
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    unlink(path);
    CHECK_EQ(mkfifo(path, 0600), 0);
    CHECK_EQ(filch_spawn_with(&t, &a, opens_to_read, 0), 0);
    on_task(pool, opens_to_write, 0);
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
    unlink(path);
    kit_destroy(pool);
}

/* ---- names ---------------------------------------------------------------------------------- */

/* In the place of the system's: these names are known.
 *
 * "slow"      no answer before `answers`
 * "two"       127.0.0.2 and 127.0.0.1
 * "many"      20 addresses
 * "again"     no server answers
 * "memory"    there is none
 * "broken"    another error */
static sem_t answers, asked;

static struct addrinfo *address(const char *numeric, const char *service, struct addrinfo *next)
{
    struct addrinfo *a = calloc(1, sizeof *a);
    struct sockaddr_in *in = calloc(1, sizeof *in);
    CHECK(a && in);
    in->sin_family = AF_INET;
    in->sin_port = htons((uint16_t)atoi(service));
    CHECK_EQ(inet_pton(AF_INET, numeric, &in->sin_addr), 1);
    *a = (struct addrinfo){.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_addrlen = sizeof *in,
                           .ai_addr = (struct sockaddr *)in, .ai_next = next};
    return a;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **out)
{
    CHECK_EQ(hints->ai_socktype, SOCK_STREAM);
    *out = 0;
    if (strcmp(host, "again") == 0)
        return EAI_AGAIN;
    if (strcmp(host, "memory") == 0)
        return EAI_MEMORY;
    if (strcmp(host, "broken") == 0)
        return EAI_FAIL;
    if (strcmp(host, "slow") == 0) {
        sem_post(&asked);
        while (sem_wait(&answers) != 0)
            ;
        *out = address("127.0.0.1", service, 0);
    } else if (strcmp(host, "two") == 0) {
        *out = address("127.0.0.2", service, address("127.0.0.1", service, 0));
    } else if (strcmp(host, "many") == 0) {
        for (int i = 0; i < 20; i++)
            *out = address("127.0.0.1", service, *out);
    }
    return *out ? 0 : EAI_NONAME;
}

void freeaddrinfo(struct addrinfo *a)
{
    while (a) {
        struct addrinfo *next = a->ai_next;
        free(a->ai_addr);
        free(a);
        a = next;
    }
}

static int resolves(void *arg)
{
    struct sockaddr_storage found[32];
    char longest[300];
    (void)arg;
    CHECK_EQ(filch_resolve("two", 80, found, 32, FILCH_FOREVER), 2);
    CHECK_EQ(((struct sockaddr_in *)&found[0])->sin_addr.s_addr, htonl(0x7f000002));
    CHECK_EQ(((struct sockaddr_in *)&found[1])->sin_addr.s_addr, htonl(0x7f000001));
    CHECK_EQ(((struct sockaddr_in *)&found[1])->sin_port, htons(80));
    CHECK_EQ(filch_resolve("two", 80, found, 1, FILCH_FOREVER), 1);
    CHECK_EQ(filch_resolve("two", 80, found, 0, FILCH_FOREVER), -EINVAL);
    CHECK_EQ(filch_resolve("many", 80, found, 32, FILCH_FOREVER), 16);
    CHECK_EQ(filch_resolve("127.0.0.9", 80, found, 32, FILCH_NOW), 1);
    CHECK_EQ(((struct sockaddr_in *)&found[0])->sin_addr.s_addr, htonl(0x7f000009));
    CHECK_EQ(filch_resolve("two", 80, found, 32, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_resolve("nowhere", 80, found, 32, FILCH_FOREVER), -ENOENT);
    CHECK_EQ(filch_resolve("again", 80, found, 32, FILCH_FOREVER), -EAGAIN);
    CHECK_EQ(filch_resolve("memory", 80, found, 32, FILCH_FOREVER), -ENOMEM);
    CHECK_EQ(filch_resolve("broken", 80, found, 32, FILCH_FOREVER), -EIO);
    CHECK_EQ(filch_resolve("two", 65536, found, 32, FILCH_FOREVER), -EINVAL);
    CHECK_EQ(filch_resolve("two", -1, found, 32, FILCH_FOREVER), -EINVAL);
    CHECK_EQ(filch_resolve("", 80, found, 32, FILCH_FOREVER), -EINVAL);
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    CHECK_EQ(filch_resolve(longest, 80, found, 32, FILCH_FOREVER), -EINVAL);
    return 0;
}

static void a_name_has_its_addresses(void)
{
    everywhere(resolves, 0);
}

static int dials(void *arg)
{
    int port = *(int *)arg;
    int fd = filch_dial_tcp("two", port, FILCH_FOREVER);
    CHECK_MSG(fd >= 0, "%d", fd);
    CHECK_EQ(filch_close(fd), 0);
    fd = filch_dial_tcp("two", port, filch_clock_ns() + INT64_C(60000000000));
    CHECK_MSG(fd >= 0, "%d", fd);
    CHECK_EQ(filch_close(fd), 0);
    CHECK_EQ(filch_dial_tcp("nowhere", port, FILCH_FOREVER), -ENOENT);
    CHECK_EQ(filch_dial_tcp("two", 0, FILCH_FOREVER), -ECONNREFUSED);
    return 0;
}

/* Nobody listens at the first address. */
static void each_address_of_a_name_is_dialled_until_one_answers(void)
{
    int listener = filch_listen_tcp("127.0.0.1", 0, 16), port = filch_socket_port(listener);
    CHECK(listener >= 0 && port > 0);
    everywhere(dials, &port);
    filch_close(listener);
}

static int gives_up(void *arg)
{
    struct sockaddr_storage found;
    (void)arg;
    CHECK_EQ(filch_resolve("slow", 80, &found, 1, filch_clock_ns() + 1000000), -ETIMEDOUT);
    return 0;
}

static int is_canceled(void *arg)
{
    struct sockaddr_storage found;
    (void)arg;
    CHECK_EQ(filch_resolve("slow", 80, &found, 1, FILCH_FOREVER), -ECANCELED);
    return 0;
}

static int waits_for_it(void *arg)
{
    struct sockaddr_storage found;
    (void)arg;
    CHECK_EQ(filch_resolve("slow", 80, &found, 1, FILCH_FOREVER), 1);
    return 0;
}

static void await_question(void)
{
    while (sem_wait(&asked) != 0)
        ;
}

static void a_resolver_that_does_not_answer_keeps_nobody(void)
{
    filch_pool *pool = kit_pool(1);
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    filch_scope s;
    a.pool = pool;
    on_task(pool, gives_up, 0);
    await_question();
    CHECK_EQ(filch_scope_open_on(&s, pool), 0);
    CHECK_EQ(filch_scope_go(&s, is_canceled, 0), 0);
    await_question();
    filch_scope_cancel(&s);
    CHECK_EQ(filch_scope_close(&s), -ECANCELED);
    CHECK_EQ(filch_spawn_with(&t, &a, waits_for_it, 0), 0);
    await_question();
    on_task(pool, resolves, 0); /* the worker is free, and so are other threads */
    for (int i = 0; i < 3; i++)
        sem_post(&answers);
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    CHECK_EQ(sem_init(&answers, 0, 0), 0);
    CHECK_EQ(sem_init(&asked, 0, 0), 0);
    RUN(what_was_written_to_a_file_is_read_again);
    RUN(what_cannot_be_done_with_a_file_is_an_error);
    RUN(one_worker_opens_both_ends_of_a_fifo);
    RUN(a_name_has_its_addresses);
    RUN(each_address_of_a_name_is_dialled_until_one_answers);
    RUN(a_resolver_that_does_not_answer_keeps_nobody);
    return check_report();
}
