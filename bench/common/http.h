/* http.h: what HTTP servers in C share: the socket, the requests' ends, the answer, and wrk, which
 * drives them. The case is defined in tasks/cases.h. */
#ifndef HTTP_H
#define HTTP_H

#include <stddef.h>
#include <stdint.h>

#define HTTP_ANSWER                                                                               \
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, world!"
#define HTTP_BUFFER 4096 /* for requests, per connection */

/* How many requests end in these bytes. *state begins as 0 and is kept from read to read: how much
 * of the empty line that ends a request has been seen. */
static inline int http_ends(int *state, const char *bytes, size_t n)
{
    int found = 0, seen = *state;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == "\r\n\r\n"[seen])
            seen++;
        else
            seen = bytes[i] == '\r';
        if (seen == 4) {
            found++;
            seen = 0;
        }
    }
    *state = seen;
    return found;
}

struct http_load {
    int64_t requests; /* answered, as wrk counted them  */
    int64_t cpu_ns;   /* of this process meanwhile      */
};

/* A listening socket on a free port of the loopback interface, or -1. Raises the limit of open files
 * as far as it goes. */
int http_listen(int *port);

/* Runs wrk with one thread; null, or what is wrong. */
const char *http_drive(int port, int connections, int seconds, struct http_load *out);

#endif
