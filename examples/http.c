/* An HTTP/1.1 server: a task per connection, fork-join inside a request, and an orderly end.
 *
 *     http --port 8080 [--workers N] [--seconds N]      port 0: any, it is printed
 *     curl localhost:8080/fib/30      curl localhost:8080/metrics
 *
 * SIGTERM, SIGINT or the end of the seconds drain it: nobody is accepted any more, requests under way are
 * answered, connections that only wait are ended. Without arguments it asks itself questions, good and bad
 * ones, and ends.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <filch/io.h>
#include <filch/ord.h>
#include <filch/scope.h>
#include <filch/stats.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND ((int64_t)1000000000)
enum { LINE_MOST = 8000, HEAD_MOST = 16384, BODY_MOST = 3072 };

static int64_t patience = 10 * SECOND; /* until a request has come, and until an answer has been taken */
static uint64_t requests, errors;
static int connected, draining;

/* In the frame of a connection's task, whose stack has 64 KiB. */
struct connection {
    int fd, keep, head;      /* keep: it stays open for another request; head: no bodies, please */
    size_t used, seen, line; /* bytes read; looked at; of the first line */
    char in[HEAD_MOST];
};

/* What the first line of an answer says. */
static const char ok[] = "200 OK", bad[] = "400 Bad Request";

/* ---- requests -------------------------------------------------------------------------------- */

static int64_t in_time(void)
{
    return filch_after_ns(filch_load_relaxed(&patience));
}

/* Looks at what was read since the last time: ok if the empty line is there, null if not yet. */
static const char *look(struct connection *c)
{
    for (; c->seen < c->used; c->seen++) {
        char byte = c->in[c->seen], before = c->seen > 0 ? c->in[c->seen - 1] : ' ';
        if ((byte == '\n') != (before == '\r') || (byte >= 0 && byte < ' ' && !memchr("\r\n\t", byte, 3)))
            return bad;
        if (c->line == 0 && c->seen == LINE_MOST) /* however it came, in one piece or in many */
            return "414 URI Too Long";
        if (byte == '\n' && c->line == 0)
            c->line = c->seen + 1;
        else if (byte == '\n' && c->in[c->seen - 2] == '\n')
            return c->seen++, ok;
    }
    return c->used == HEAD_MOST ? "431 Request Header Fields Too Large" : NULL;
}

/* Reads until there is a whole request: the first c->seen bytes. Null: there is none, and will be none. One
 * deadline for all of it, so that a byte now and then does not keep the connection. */
static const char *read_request(struct connection *c)
{
    int64_t deadline = in_time();
    const char *status;
    while ((status = look(c)) == NULL) {
        ssize_t n = filch_read(c->fd, c->in + c->used, HEAD_MOST - c->used, deadline);
        if (n <= 0)
            return c->used == 0 ? NULL : n == 0 ? bad : n == -ETIMEDOUT ? "408 Request Timeout" : NULL;
        c->used += (size_t)n;
    }
    return status;
}

static const char *parse_field(struct connection *c, char *line, int *hosts)
{
    char *colon = strchr(line, ':');
    if (colon == NULL || colon == line || strcspn(line, " \t") < (size_t)(colon - line))
        return bad;
    *colon = '\0';
    char *value = colon + 1 + strspn(colon + 1, " \t");
    if (strcasecmp(line, "host") == 0)
        ++*hosts;
    else if (strcasecmp(line, "connection") == 0)
        c->keep = strcasestr(value, "close") ? 0 : strcasestr(value, "keep-alive") ? 1 : c->keep;
    else if (strcasecmp(line, "transfer-encoding") == 0 ||
             (strcasecmp(line, "content-length") == 0 && strcmp(value, "0") != 0))
        return "413 Content Too Large"; /* nobody here reads a body */
    return ok;
}

/* "/path", or as a proxy gets it, "http://host/path". Null: neither. */
static char *path_of(char *target)
{
    if (strncasecmp(target, "http://", 7) == 0) {
        char *host = target + 7;
        target = host + strcspn(host, "/?");
        if (target == host)
            return NULL;
        if (*target != '/')
            *--target = '/'; /* there is only a host, whose last letter is not needed any more */
    }
    return *target == '/' ? target : NULL;
}

/* Cuts the request into strings, in place. */
static const char *parse(struct connection *c, const char **path)
{
    int hosts = 0;
    const char *status = ok;
    char *line = c->in, *end = c->in + c->line - 2;
    *end = c->in[c->seen - 2] = '\0'; /* the first and the last line end here */
    char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;
    if (version == NULL)
        return bad;
    *target++ = *version++ = '\0';
    c->head = strcmp(c->in, "HEAD") == 0;
    if ((target = path_of(target)) == NULL)
        return bad;
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
        return bad;
    *path = target;
    c->keep = version[7] == '1';
    for (line = c->in + c->line; *line != '\0' && status == ok; line = end + 2) {
        end = strstr(line, "\r\n");
        *end = '\0';
        status = parse_field(c, line, &hosts);
    }
    if (status == ok && version[7] == '1' && hosts != 1)
        return bad;
    return status == ok && !c->head && strcmp(c->in, "GET") != 0 ? "501 Not Implemented" : status;
}

/* ---- answers --------------------------------------------------------------------------------- */

FILCH_TASK(long, fib, int, n)
{
    if (n < 2)
        return n;
    FILCH_FORK(b, fib, n - 2);
    long a = FILCH_CALL(fib, n - 1);
    return a + FILCH_JOIN(fib, b);
}

static const char *answer_fib(const char *number, char *body)
{
    size_t digits = strspn(number, "0123456789");
    if (digits == 0 || digits > 2 || number[digits] != '\0' || atoi(number) > 35)
        return bad;
    snprintf(body, BODY_MOST, "%ld\n", FILCH_RUN(fib, atoi(number))); /* on a large stack; others steal */
    return ok;
}

static const char *answer_metrics(char *body)
{
    int used = snprintf(body, BODY_MOST,
                        "# TYPE http_requests_total counter\nhttp_requests_total %llu\n"
                        "# TYPE http_errors_total counter\nhttp_errors_total %llu\n"
                        "# TYPE http_connections gauge\nhttp_connections %d\n"
                        "# TYPE filch_events_total counter\n",
                        (unsigned long long)filch_load_relaxed(&requests),
                        (unsigned long long)filch_load_relaxed(&errors), filch_load_relaxed(&connected));
    const char *name;
    for (int i = 0; (name = filch_stats_name(i)) != NULL && used < BODY_MOST; i++)
        used += snprintf(body + used, (size_t)(BODY_MOST - used), "filch_events_total{event=\"%s\"} %llu\n",
                         name, (unsigned long long)filch_stats_total(filch_pool_current(), name));
    return ok;
}

static const char *answer(const char *path, char *body)
{
    if (strncmp(path, "/fib/", 5) == 0)
        return answer_fib(path + 5, body);
    if (strcmp(path, "/metrics") == 0)
        return answer_metrics(body);
    snprintf(body, BODY_MOST, "hello\n");
    return strcmp(path, "/") == 0 ? ok : "404 Not Found";
}

static int send_answer(struct connection *c, const char *status, const char *body)
{
    static const char form[] = "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n%s\r\n%s";
    char out[BODY_MOST + 256];
    const char *more = c->keep ? "" : "Connection: close\r\n";
    int n = snprintf(out, sizeof out, form, status, strlen(body), more, c->head ? "" : body);
    return filch_write_all(c->fd, out, (size_t)n, in_time()) == n;
}

/* ---- connections ----------------------------------------------------------------------------- */

/* One request and its answer. Returns whether there may be another. */
static int serve_request(struct connection *c)
{
    const char *path = "", *status = read_request(c);
    char body[BODY_MOST];
    c->head = 0;
    if (status == NULL)
        return 0;
    if (status == ok)
        status = parse(c, &path);
    c->keep = c->keep && status == ok && !filch_load_relaxed(&draining);
    if (status == ok)
        status = answer(path, body);
    filch_add_relaxed(&requests, 1u);
    if (status != ok) {
        filch_add_relaxed(&errors, 1u);
        snprintf(body, sizeof body, "%s\n", status);
    }
    c->used -= c->seen; /* what is left was sent ahead: the next request begins there */
    memmove(c->in, c->in + c->seen, c->used);
    c->seen = c->line = 0;
    return send_answer(c, status, body) && c->keep;
}

/* Says that there is no more to come, and waits a second for the other end to have read it: the system
 * would take the answer back if something were left that nobody read. */
static void hang_up(struct connection *c)
{
    int64_t deadline = filch_after_s(1);
    shutdown(c->fd, SHUT_WR);
    while (filch_clock_ns() < deadline && filch_read(c->fd, c->in, sizeof c->in, deadline) > 0)
        continue;
}

static int serve_connection(void *arg)
{
    struct connection c;
    c.fd = (int)(intptr_t)arg;
    c.used = c.seen = c.line = 0;
    c.keep = c.head = 0;
    while (serve_request(&c))
        continue;
    hang_up(&c);
    return 0; /* an error would cancel the others */
}

/* After it, or instead of it if the scope was cancelled before it began. */
static void end_connection(void *arg)
{
    filch_close((int)(intptr_t)arg);
    filch_add_relaxed(&connected, -1);
}

/* Accepts until the server is drained. Then every connection has a second to end: waits that are longer
 * end with -ECANCELED, requests that are being computed are finished. */
static int serve(void *arg)
{
    int listener = *(int *)arg;
    filch_scope scope;
    if (filch_scope_open(&scope) != 0)
        return 1;
    while (!filch_load_acquire(&draining)) {
        int fd = filch_accept(listener, FILCH_FOREVER);
        if (fd < 0) {
            filch_sleep_ns(SECOND / 100); /* too many are open, perhaps: later there will be less */
            continue;
        }
        filch_add_relaxed(&connected, 1);
        filch_scope_go_named(&scope, "connection", serve_connection, (void *)(intptr_t)fd, end_connection);
    }
    filch_scope_deadline(&scope, filch_after_s(1));
    int rc = filch_scope_close(&scope);
    return rc == -ETIMEDOUT ? 0 : rc;
}

/* ---- questions to itself --------------------------------------------------------------------- */

#define HOST " HTTP/1.1\r\nHost: here\r\n"
static const struct question {
    const char *text;
    int more, end;   /* so many x after it; then the connection is closed for writing */
    int answers;     /* how many there are, and what is in them                       */
    const char *has;
} questions[] = {
    {"GET /" HOST "\r\n", 0, 1, 1, "\r\n\r\nhello\n"},
    {"GET /" HOST "Connection: close\r\n\r\n", 0, 0, 1, "\r\n\r\nhello\n"},
    {"GET / HTTP/1.0\r\n\r\n", 0, 0, 1, "\r\n\r\nhello\n"},
    {"GET /" HOST "\r\nGET /x" HOST "\r\nGET /fib/20" HOST "\r\n", 0, 1, 3, "\r\n\r\n6765\n"},
    {"HEAD /" HOST "\r\nGET /x" HOST "\r\n", 0, 1, 2, "\r\nContent-Length: 6\r\n\r\nHTTP/1.1 404 "},
    {"HEAD /x" HOST "\r\nGET /" HOST "\r\n", 0, 1, 2, "\r\nContent-Length: 14\r\n\r\nHTTP/1.1 200 "},
    {"GET http://here:80/fib/20" HOST "\r\n", 0, 1, 1, "\r\n\r\n6765\n"},
    {"GET HTTP://here" HOST "\r\n", 0, 1, 1, "\r\n\r\nhello\n"},
    {"GET http://?" HOST "\r\n", 0, 0, 1, "1.1 400 "},
    {"GET here/" HOST "\r\n", 0, 0, 1, "1.1 400 "},
    {"GET /fib/36" HOST "\r\n", 0, 1, 1, "1.1 400 "},
    {"GET /metrics" HOST "\r\n", 0, 1, 1, "filch_events_total{event=\"executed\"} "},
    {"POST /" HOST "\r\nGET /" HOST "\r\n", 0, 0, 1, "1.1 501 "},
    {"POST /" HOST "Content-Length: 5\r\n\r\nhello", 0, 0, 1, "1.1 413 "},
    {"GET /", 10000, 0, 1, "1.1 414 "},
    {"GET /" HOST "X: ", 100000, 0, 1, "1.1 431 "},
    {"\x16\x03\x01\x7f", 0, 0, 1, "1.1 400 "},
    {"GET / HTT", 0, 1, 1, "1.1 400 "},
    {"", 0, 1, 0, ""}, /* the rest says too little, and does not end either */
    {"", 0, 0, 0, ""},
    {"GET /", 0, 0, 1, "1.1 408 "},
};
enum { ALL = sizeof questions / sizeof *questions, SILENT = 2 };
static int port;

/* Asks, reads until the server closes, and returns 0 if the answer is the right one. */
static int ask(void *arg)
{
    const struct question *q = arg;
    char back[2 * BODY_MOST], x[1000];
    int answers = 0, fd = filch_dial_tcp("localhost", port, FILCH_FOREVER);
    if (fd < 0)
        return fd;
    memset(x, 'x', sizeof x);
    filch_write_all(fd, q->text, strlen(q->text), FILCH_FOREVER);
    for (int i = 0; i < q->more; i += (int)sizeof x)
        filch_write_all(fd, x, sizeof x, FILCH_FOREVER);
    if (q->end)
        shutdown(fd, SHUT_WR);
    ssize_t n = filch_read_all(fd, back, sizeof back - 1, FILCH_FOREVER);
    filch_close(fd);
    back[n > 0 ? n : 0] = '\0';
    for (const char *at = back; (at = strstr(at, "HTTP/1.1 ")) != NULL; at++)
        answers++;
    return answers == q->answers && strstr(back, q->has) ? 0 : 1;
}

static int ask_some(filch_pool *pool, int from, int to)
{
    filch_scope scope;
    if (filch_scope_open_on(&scope, pool) != 0)
        return 1;
    for (int i = from; i < to; i++)
        filch_scope_go_named(&scope, questions[i].text, ask, (void *)&questions[i], NULL);
    if (filch_scope_close(&scope) == 0)
        return 0;
    printf("http: not the answer that was expected to '%s'\n", filch_scope_failed(&scope));
    return 1;
}

/* ---- main ------------------------------------------------------------------------------------ */

static int option(char **argv, const char *name)
{
    while (*argv != NULL && strcmp(*argv, name) != 0)
        argv++;
    return argv[0] != NULL && argv[1] != NULL ? atoi(argv[1]) : 0;
}

static int has(char **argv, const char *name)
{
    while (*argv != NULL && strcmp(*argv, name) != 0)
        argv++;
    return *argv != NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !has(argv, "--port")) {
        fprintf(stderr, "usage: http --port N [--workers N] [--seconds N]\n"
                        "without arguments it asks itself some questions\n");
        return has(argv, "--help") ? 0 : 2;
    }
    static const int signals[] = {SIGTERM, SIGINT};
    sigset_t set; /* blocked before there are other threads: filch_wait_signal takes them */
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);

    filch_config config = FILCH_CONFIG_INIT;
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    filch_task *server;
    int rc = 0, result, seconds = option(argv, "--seconds");
    config.workers = option(argv, "--workers");
    int listener = filch_listen_tcp(argc > 1 ? NULL : "127.0.0.1", option(argv, "--port"), 1024);
    if (listener < 0 || filch_pool_create(&attr.pool, &config) != 0 ||
        filch_spawn_with(&server, &attr, serve, &listener) != 0) {
        fprintf(stderr, "http: cannot start: %s\n", listener < 0 ? strerror(-listener) : "no pool");
        return 1;
    }
    setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)); /* its connections inherit it */
    port = filch_socket_port(listener);
    printf("http: port %d\n", port);
    fflush(stdout);
    if (argc > 1) {
        filch_wait_signal(signals, 2, seconds > 0 ? filch_after_s(seconds) : FILCH_FOREVER);
    } else {
        rc = ask_some(attr.pool, 0, ALL - SILENT);
        filch_store_relaxed(&patience, SECOND / 20);
        rc |= ask_some(attr.pool, ALL - SILENT, ALL);
    }
    filch_store_release(&draining, 1);
    shutdown(listener, SHUT_RDWR); /* whoever accepts there is told */
    filch_task_join(server, &result, FILCH_FOREVER);
    filch_close(listener);
    filch_pool_destroy(attr.pool);
    printf("http: drained, %llu requests, %llu bad ones\n", (unsigned long long)requests,
           (unsigned long long)errors);
    return rc != 0 || result != 0;
}
