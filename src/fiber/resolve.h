/* resolve.h: addresses of a name, for net.c. */
#ifndef FILCH_RESOLVE_H
#define FILCH_RESOLVE_H

#include "os/os_io.h"

enum { RESOLVE_MOST = 16 };

/* As filch_resolve. `most` is at least 1. */
int resolve(const char *host, int port, struct os_address *out, int most, int64_t deadline);
/* The two loopback addresses, that of IPv4 first, without asking: 2, or -EINVAL for the port. */
int resolve_localhost(int port, struct os_address out[2]);

#endif
