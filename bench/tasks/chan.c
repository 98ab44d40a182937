/* chan.c: channels. */
#include "cases.h"

#if __has_include(<filch/chan.h>)
#include <filch/chan.h>

/* ---- pingpong ------------------------------------------------------------------------------ */

struct pingpong {
    filch_chan *ping, *pong;
    int size;
    int64_t sum, ns;
};

static int pong_run(void *arg)
{
    struct pingpong *p = arg;
    int64_t n;
    for (int i = 0; i < p->size; i++)
        if (filch_chan_recv(p->ping, &n, FILCH_FOREVER) || filch_chan_send(p->pong, &n, FILCH_FOREVER))
            return 1;
    return 0;
}

static void pingpong_main(void *arg)
{
    struct pingpong *p = arg;
    filch_task *pong;
    int64_t start = filch_clock_ns();
    if (filch_spawn(&pong, pong_run, p))
        return;
    for (int64_t i = 0, n; i < p->size; i++) {
        if (filch_chan_send(p->ping, &i, FILCH_FOREVER) || filch_chan_recv(p->pong, &n, FILCH_FOREVER))
            break;
        p->sum += n;
    }
    filch_task_join(pong, NULL, FILCH_FOREVER);
    p->ns = filch_clock_ns() - start;
}

const char *chan_pingpong(const struct tasks_request *ask, struct tasks_report *out)
{
    struct pingpong p = {.size = ask->size};
    if (filch_chan_create(&p.ping, sizeof(int64_t), 0) || filch_chan_create(&p.pong, sizeof(int64_t), 0))
        return "a channel cannot be made";
    if (tasks_main(ask->pool, pingpong_main, &p))
        return "a task cannot be made";
    filch_chan_destroy(p.ping);
    filch_chan_destroy(p.pong);
    if (p.sum != (int64_t)p.size * (p.size - 1) / 2)
        return "wrong sum";
    out->ns_per_op = tasks_per_op(p.ns, p.size);
    return NULL;
}

/* ---- streams ------------------------------------------------------------------------------- */

/* The numbers of a sender are its own: `first`, `first` + 1, ... */
struct end {
    filch_chan *chan;
    int64_t first, count, sum;
    filch_task *task;
};

static int end_send(void *arg)
{
    struct end *e = arg;
    for (int64_t i = e->first; i < e->first + e->count; i++)
        if (filch_chan_send(e->chan, &i, FILCH_FOREVER))
            return 1;
    return 0;
}

static int end_recv(void *arg)
{
    struct end *e = arg;
    int64_t sum = 0;
    for (int64_t i = 0, n; i < e->count; i++) {
        if (filch_chan_recv(e->chan, &n, FILCH_FOREVER))
            return 1;
        sum += n;
    }
    e->sum = sum;
    return 0;
}

struct stream {
    struct end send[CASE_PRODUCERS], recv[CASE_PRODUCERS];
    int ends, failed;
    int64_t ns;
};

static void stream_main(void *arg)
{
    struct stream *s = arg;
    int64_t start = filch_clock_ns();
    for (int i = 0; i < s->ends; i++)
        if (filch_spawn(&s->recv[i].task, end_recv, &s->recv[i]) ||
            filch_spawn(&s->send[i].task, end_send, &s->send[i]))
            abort(); /* those that run would wait forever */
    for (int i = 0, result; i < s->ends; i++) {
        filch_task_join(s->send[i].task, &result, FILCH_FOREVER);
        s->failed |= result;
        filch_task_join(s->recv[i].task, &result, FILCH_FOREVER);
        s->failed |= result;
    }
    s->ns = filch_clock_ns() - start;
}

static const char *stream_measure(const struct tasks_request *ask, int ends, struct tasks_report *out)
{
    struct stream s = {.ends = ends};
    int64_t share = (ask->size + ends - 1) / ends, total = share * ends, sum = 0;
    filch_chan *chan;
    if (filch_chan_create(&chan, sizeof(int64_t), CASE_CHANNEL))
        return "a channel cannot be made";
    for (int i = 0; i < ends; i++)
        s.send[i] = s.recv[i] = (struct end){chan, share * i, share, 0, NULL};
    if (tasks_main(ask->pool, stream_main, &s) || s.failed)
        return "a task or a channel failed";
    filch_chan_destroy(chan);
    for (int i = 0; i < ends; i++)
        sum += s.recv[i].sum;
    if (sum != total * (total - 1) / 2)
        return "wrong sum";
    out->ns_per_op = tasks_per_op(s.ns, total);
    return NULL;
}

const char *chan_one(const struct tasks_request *ask, struct tasks_report *out)
{
    return stream_measure(ask, 1, out);
}

const char *chan_four(const struct tasks_request *ask, struct tasks_report *out)
{
    return stream_measure(ask, CASE_PRODUCERS, out);
}

#else

static const char missing[] = "skipped, the library has no channels yet (filch/chan.h)";

const char *chan_pingpong(const struct tasks_request *ask, struct tasks_report *out)
{
    (void)ask, (void)out;
    return missing;
}

const char *chan_one(const struct tasks_request *ask, struct tasks_report *out)
{
    (void)ask, (void)out;
    return missing;
}

const char *chan_four(const struct tasks_request *ask, struct tasks_report *out)
{
    (void)ask, (void)out;
    return missing;
}

#endif
