/* http.c: a server with a task per connection; wrk drives it. */
#include "../common/http.h"
#include "cases.h"

#if __has_include(<filch/io.h>)
#include <filch/io.h>
#include <stdio.h>

static void serve(void *arg)
{
    static const char answer[] = HTTP_ANSWER;
    char bytes[HTTP_BUFFER];
    int fd = (int)(intptr_t)arg, state = 0;
    ssize_t got;
    while ((got = filch_read(fd, bytes, sizeof bytes, FILCH_FOREVER)) > 0)
        for (int n = http_ends(&state, bytes, (size_t)got); n > 0; n--)
            if (filch_write_all(fd, answer, sizeof answer - 1, FILCH_FOREVER) < 0)
                goto end;
end:
    filch_close(fd);
}

/* Until the listener is closed. */
static void listen_on(void *arg)
{
    int fd, listener = *(int *)arg;
    while ((fd = filch_accept(listener, FILCH_FOREVER)) >= 0)
        if (filch_go(serve, (void *)(intptr_t)fd))
            filch_close(fd);
}

static const char *http_measure(const struct tasks_request *ask, int connections,
                                struct tasks_report *out)
{
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    struct http_load load = {0};
    int port, listener = http_listen(&port);
    attr.pool = ask->pool;
    if (listener < 0 || filch_go_with(&attr, listen_on, &listener))
        return "no socket or task";
    const char *wrong = http_drive(port, connections, ask->size, &load);
    filch_close(listener);
    if (wrong)
        return wrong;
    if (filch_pool_wait(ask->pool, FILCH_FOREVER))
        return "the server does not end";
    out->ns_per_op = tasks_per_op(load.cpu_ns, load.requests);
    snprintf(out->more, sizeof out->more, " requests=%lld", (long long)load.requests);
    return NULL;
}

#else

static const char *http_measure(const struct tasks_request *ask, int connections,
                                struct tasks_report *out)
{
    (void)ask, (void)connections, (void)out;
    return "skipped, the library has no sockets yet (filch/io.h)";
}

#endif

const char *http_cpu_64(const struct tasks_request *ask, struct tasks_report *out)
{
    return http_measure(ask, 64, out);
}

const char *http_cpu_1000(const struct tasks_request *ask, struct tasks_report *out)
{
    return http_measure(ask, 1000, out);
}
