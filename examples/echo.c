/* A TCP echo server. With a port it serves until it is told to stop (SIGTERM or SIGINT); without, it serves
 * its own clients on a port that the system chose, and ends.
 *
 *     echo 7777 & printf 'hello\n' | nc -q1 localhost 7777
 */
#define _GNU_SOURCE
#include <errno.h>
#include <filch/io.h>
#include <filch/task.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void serve(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char text[4096];
    ssize_t n;
    while ((n = filch_read(fd, text, sizeof text, FILCH_FOREVER)) > 0)
        if (filch_write_all(fd, text, (size_t)n, FILCH_FOREVER) < 0)
            break;
    filch_close(fd);
}

/* Ends when the listener is closed. Any other error passes: mostly it means that too many files are open, and
 * some client will leave. The connections that wait meanwhile are not lost. */
static int accept_all(void *arg)
{
    int listener = *(int *)arg, fd, served = 0;
    while ((fd = filch_accept(listener, FILCH_FOREVER)) != -ECANCELED && fd != -EBADF) {
        if (fd < 0)
            filch_sleep_ns(10000000);
        else if (filch_go(serve, (void *)(intptr_t)fd) != 0)
            filch_close(fd);
        else
            served++;
    }
    return served;
}

static int client(void *arg)
{
    char text[] = "hello, and good bye", back[sizeof text] = "";
    int fd = filch_dial_tcp("localhost", *(int *)arg, FILCH_FOREVER);
    if (fd < 0)
        return 1;
    int good = filch_write_all(fd, text, sizeof text, FILCH_FOREVER) == (ssize_t)sizeof text &&
               filch_read_all(fd, back, sizeof back, FILCH_FOREVER) == (ssize_t)sizeof back &&
               strcmp(text, back) == 0;
    filch_close(fd);
    return !good;
}

static int self_test(int port)
{
    enum { CLIENTS = 50 };
    filch_task *task[CLIENTS];
    int bad = 0, result;
    for (int i = 0; i < CLIENTS; i++)
        if (filch_spawn(&task[i], client, &port) != 0)
            return -1;
    for (int i = 0; i < CLIENTS; i++) {
        filch_task_join(task[i], &result, FILCH_FOREVER);
        bad += result;
    }
    printf("%d clients, %d without an echo\n", CLIENTS, bad);
    return bad;
}

static void wait_for_the_end(void)
{
    static const int which[] = {SIGTERM, SIGINT};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* workers block all signals themselves */
    filch_wait_signal(which, 2, FILCH_FOREVER);
}

int main(int argc, char **argv)
{
    int listener = filch_listen_tcp(argc > 1 ? NULL : "127.0.0.1", argc > 1 ? atoi(argv[1]) : 0, 128);
    if (listener < 0) {
        fprintf(stderr, "echo: %s\n", strerror(-listener));
        return 1;
    }
    filch_task *server;
    int bad = 0, served = 0;
    if (filch_spawn(&server, accept_all, &listener) != 0)
        return 1;
    if (argc > 1)
        wait_for_the_end();
    else
        bad = self_test(filch_socket_port(listener));
    filch_close(listener);
    filch_task_join(server, &served, FILCH_FOREVER);
    printf("%d connections served\n", served);
    return bad != 0;
}
