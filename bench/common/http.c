#include "http.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int64_t cpu_ns(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
           (int64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void files_allow(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files))
        return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

int http_listen(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    files_allow();
    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&at, length) || listen(fd, 4096) ||
        getsockname(fd, (struct sockaddr *)&at, &length)) {
        close(fd);
        return -1;
    }
    *port = ntohs(at.sin_port);
    return fd;
}

/* Answers that came late are no error of the server's: the machine may be busy. */
static const char *output_read(const char *text, struct http_load *out)
{
    const char *count = strstr(text, " requests in "), *errors = strstr(text, "Socket errors:");
    if (!count)
        return "wrk cannot be run (is it installed?)";
    if (strstr(text, "Non-2xx") ||
        (errors && !strstr(errors, "connect 0, read 0, write 0,")))
        return "wrk saw errors";
    while (count > text && count[-1] >= '0' && count[-1] <= '9')
        count--;
    long long requests = 0;
    if (sscanf(count, "%lld", &requests) != 1 || requests < 1)
        return "no request was answered";
    out->requests = requests;
    return NULL;
}

const char *http_drive(int port, int connections, int seconds, struct http_load *out)
{
    char command[128], text[4096];
    snprintf(command, sizeof command, "exec wrk -t1 -c%d -d%ds http://127.0.0.1:%d/ 2>&1", connections,
             seconds, port);
    int64_t before = cpu_ns();
    FILE *wrk = popen(command, "r");
    if (!wrk)
        return "no process for wrk";
    size_t length = fread(text, 1, sizeof text - 1, wrk);
    out->cpu_ns = cpu_ns() - before;
    text[length] = 0;
    pclose(wrk);
    return output_read(text, out);
}
