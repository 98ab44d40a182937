/* resolve.c: addresses of a name.
 *
 * The resolver of the system blocks, for long if a server does not answer, and cannot be interrupted. So a
 * task of its own asks it, on a thread of filch_blocking, and who wanted to know waits for that task only
 * until its deadline. The query belongs to both; who leaves last frees it.
 *
 * | field   | writer                  | reader     | invariant                                        |
 * | sharers | each once, when it leaves | the same | how many are left                                |
 * | result, found | the task          | the caller | after the join                                   |
 *
 * [N1] Leaving releases, and the last acquires: what the other did with the query comes before it is freed.
 */
#include "core/report.h"
#include "core/go.h"
#include "core/wait.h"
#include "fiber/resolve.h"

#include <errno.h>
#include <filch/blocking.h>
#include <filch/io.h>
#include <filch/task.h>
#include <string.h>

#define HOST_MOST 254 /* a name of the DNS with its last dot, and the zero */

struct query {
    char host[HOST_MOST];
    int port, result;
    uint32_t sharers;
    struct os_address found[RESOLVE_MOST];
};

static void leave(struct query *q)
{
    if (filch_sub_acq_rel(&q->sharers, 1u) == 1) /* order: [N1] */
        os_free(q);
}

static int ask(void *arg)
{
    struct query *q = arg;
    q->result = os_resolve_blocking(q->host, q->port, q->found, RESOLVE_MOST);
    return 0;
}

static int ask_and_leave(void *arg)
{
    (void)filch_blocking(ask, arg);
    leave(arg);
    return 0;
}

/* 0: there is a result. */
static int await(struct query *q, int64_t deadline)
{
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    filch_task *t = 0;
    attr.name = "resolver";
    q->sharers = 2;
    if (!wait_suspends() || spawn_always(&t, &attr, ask_and_leave, q) != 0) {
        q->sharers = 1;
        return filch_blocking(ask, q);
    }
    int rc = filch_task_join(t, 0, deadline);
    if (rc != 0)
        filch_task_detach(t);
    return rc;
}

int resolve_localhost(int port, struct os_address out[2])
{
    int rc = os_address_ip(&out[0], "127.0.0.1", port);
    return rc == 0 && (rc = os_address_ip(&out[1], "::1", port)) == 0 ? 2 : rc;
}

int resolve(const char *host, int port, struct os_address *out, int most, int64_t deadline)
{
    size_t length = strlen(host);
    if (port < 0 || port > 65535 || length == 0 || length >= HOST_MOST)
        return -EINVAL;
    if (strcmp(host, "localhost") == 0) {
        struct os_address both[2];
        (void)resolve_localhost(port, both);
        memcpy(out, both, sizeof *out * (most > 1 ? 2 : 1));
        return most > 1 ? 2 : 1;
    }
    if (os_address_ip(out, host, port) == 0)
        return 1;
    if (deadline <= FILCH_NOW)
        return wait_error(WAIT_TIMEOUT);
    report_duration("filch_resolve", deadline);
    struct query *q = os_alloc(sizeof *q);
    if (!q)
        return -ENOMEM;
    memcpy(q->host, host, length + 1);
    q->port = port;
    int rc = await(q, deadline);
    if (rc == 0 && (rc = q->result) > 0) {
        rc = rc < most ? rc : most;
        memcpy(out, q->found, (size_t)rc * sizeof *out);
    }
    leave(q);
    return rc;
}

int filch_resolve(const char *host, int port, struct sockaddr_storage *out, size_t most, int64_t deadline)
{
    struct os_address found[RESOLVE_MOST];
    if (!host || !out)
        report_misuse("filch_resolve", "null host or null result pointer");
    if (most == 0)
        return -EINVAL;
    int n = resolve(host, port, found, most < RESOLVE_MOST ? (int)most : RESOLVE_MOST, deadline);
    for (int i = 0; i < n; i++)
        out[i] = found[i].at;
    return n;
}
