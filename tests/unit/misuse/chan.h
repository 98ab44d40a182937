/* misuse/chan.h: rows about filch/chan.h. */
#include "fiber/chan.h"

#include <sched.h>

static filch_chan *chan;
static uint64_t no_chan_bytes[32] __attribute__((aligned(64)));
static filch_chan *no_chan(void) { return (filch_chan *)(void *)no_chan_bytes; }
static void make_chan(void) { CHECK_EQ(filch_chan_create(&chan, 4, 1), 0); }
static void dead_chan(void) { make_chan(), filch_chan_destroy(chan); }

static void chan_create_null(void) { (void)filch_chan_create(0, 4, 1); }
static void chan_create_answers(void)
{
    chan = no_chan();
    CHECK_EQ(filch_chan_create(&chan, SIZE_MAX, 2), -ENOMEM);
    CHECK(!chan);
    CHECK_EQ(filch_chan_create(&chan, SIZE_MAX / 2, 2), -ENOMEM);
    CHECK_EQ(filch_chan_create(&chan, 16, SIZE_MAX - 1), -ENOMEM);
    CHECK_EQ(filch_chan_create(&chan, SIZE_MAX, 0), 0);
    filch_chan_destroy(chan);
}
static void chan_destroy_null(void) { filch_chan_destroy(0); }
static void chan_destroy_none(void) { filch_chan_destroy(no_chan()); }
static void chan_destroy_twice(void) { dead_chan(), filch_chan_destroy(chan); }
static void *chan_waits(void *unused)
{
    int got;
    (void)unused;
    (void)filch_chan_recv(chan, &got, FILCH_FOREVER);
    return 0;
}
static int chan_is_waited_for(void)
{
    lock_acquire(&chan->lock);
    int waited = chan->waiting[FILCH_RECV].head != 0;
    lock_release(&chan->lock);
    return waited;
}
static void chan_destroy_waited(void)
{
    pthread_t t;
    make_chan();
    CHECK_EQ(pthread_create(&t, 0, chan_waits, 0), 0);
    while (!chan_is_waited_for())
        sched_yield();
    filch_chan_destroy(chan);
}
static void chan_send_null(void) { (void)filch_chan_send(0, 0, FILCH_NOW); }
static void chan_send_null_item(void) { make_chan(), (void)filch_chan_send(chan, 0, FILCH_NOW); }
static void chan_send_dead(void) { dead_chan(), (void)filch_chan_send(chan, "abcd", FILCH_NOW); }
static void chan_recv_null(void) { (void)filch_chan_recv(0, 0, FILCH_NOW); }
static void chan_recv_null_item(void) { make_chan(), (void)filch_chan_recv(chan, 0, FILCH_NOW); }
static void chan_recv_none(void) { (void)filch_chan_recv(no_chan(), &chan, FILCH_NOW); }
static void chan_close_null(void) { filch_chan_close(0); }
static void chan_close_dead(void) { dead_chan(), filch_chan_close(chan); }
static void chan_length_null(void) { (void)filch_chan_length(0); }
static void chan_capacity_none(void) { (void)filch_chan_capacity(no_chan()); }
static void chan_name_null(void) { (void)filch_chan_name(0); }
static void chan_rename_null(void) { filch_chan_rename(0, "nobody"); }
static void chan_answers(void)
{
    int32_t sent = 7;
    make_chan();
    CHECK_EQ(filch_chan_send(chan, &sent, -5), 0);
    CHECK_EQ(filch_chan_send(chan, &sent, INT64_MIN), -ETIMEDOUT);
    CHECK_EQ(filch_chan_length(chan), 1);
    CHECK_EQ(filch_chan_capacity(chan), 1);
    filch_chan_rename(chan, 0);
    CHECK(!filch_chan_name(chan));
    filch_chan_close(chan);
    filch_chan_close(chan);
    CHECK_EQ(filch_chan_recv(chan, &sent, INT64_MIN), 0);
    CHECK_EQ(filch_chan_recv(chan, &sent, FILCH_FOREVER), -EPIPE);
    filch_chan_destroy(chan);
}

static void select_nothing(void) { (void)filch_select(0, 0, FILCH_FOREVER); }
static void select_null(void) { (void)filch_select(0, 1, FILCH_NOW); }
static void select_none(void)
{
    struct filch_case c = {no_chan(), FILCH_RECV, &c, 0};
    (void)filch_select(&c, 1, FILCH_NOW);
}
static void select_null_item(void)
{
    make_chan();
    struct filch_case c = {chan, FILCH_RECV, 0, 0};
    (void)filch_select(&c, 1, FILCH_NOW);
}
static void select_op(void)
{
    make_chan();
    struct filch_case c = {chan, FILCH_RECV, &c, 0};
    memset(&c.op, 9, sizeof c.op);
    (void)filch_select(&c, 1, FILCH_NOW);
}
static void select_answers(void)
{
    struct filch_case c[2] = {{0, FILCH_SEND, 0, 0}, {0, FILCH_RECV, 0, 0}};
    CHECK_EQ(filch_select(c, 2, -1), -ETIMEDOUT);
    CHECK_EQ(filch_select(c, 2, filch_clock_ns() + 1000), -ETIMEDOUT);
    CHECK_EQ(filch_select(0, 0, INT64_MIN), -ETIMEDOUT);
    CHECK_EQ(filch_select(c, SIZE_MAX, FILCH_FOREVER), -EINVAL);
}

static void oneshot_send_null(void) { (void)filch_oneshot_send(0, 0); }
static void oneshot_send_twice(void)
{
    filch_oneshot o = {0, 0};
    CHECK_EQ(filch_oneshot_send(&o, 0), 0);
    (void)filch_oneshot_send(&o, 0);
}
static void oneshot_send_taken(void)
{
    filch_oneshot o = {0, 0};
    void *value;
    CHECK_EQ(filch_oneshot_send(&o, 0), 0);
    CHECK_EQ(filch_oneshot_recv(&o, &value, FILCH_NOW), 0);
    (void)filch_oneshot_send(&o, 0);
}
static void oneshot_recv_null(void) { (void)filch_oneshot_recv(0, 0, FILCH_NOW); }
static void oneshot_recv_null_value(void)
{
    filch_oneshot o = {0, 0};
    (void)filch_oneshot_recv(&o, 0, FILCH_NOW);
}
static filch_oneshot oneshot;
static void *oneshot_waits(void *unused)
{
    void *value;
    (void)unused;
    (void)filch_oneshot_recv(&oneshot, &value, FILCH_FOREVER);
    return 0;
}
static void oneshot_recv_two(void)
{
    pthread_t t;
    void *value;
    CHECK_EQ(pthread_create(&t, 0, oneshot_waits, 0), 0);
    while (!filch_load_acquire(&oneshot.state))
        sched_yield();
    (void)filch_oneshot_recv(&oneshot, &value, FILCH_FOREVER);
}
static void oneshot_close_null(void) { filch_oneshot_close(0); }
static void oneshot_answers(void)
{
    filch_oneshot o = {0, 0};
    void *value;
    CHECK_EQ(filch_oneshot_recv(&o, &value, -1), -ETIMEDOUT);
    filch_oneshot_close(&o);
    filch_oneshot_close(&o);
    CHECK_EQ(filch_oneshot_send(&o, 0), -EPIPE);
    CHECK_EQ(filch_oneshot_recv(&o, &value, FILCH_FOREVER), -EPIPE);
}

#define ROWS_CHAN                                                                                 \
    SAYS("filch_chan_create", chan_create_null, "null"),                                          \
    ANSWERS("filch_chan_create", chan_create_answers),                                            \
    ANSWERS("filch_chan_destroy", chan_destroy_null),                                             \
    SAYS("filch_chan_destroy", chan_destroy_none, "not a channel"),                               \
    DEAD("filch_chan_destroy", chan_destroy_twice),                                               \
    SAYS("filch_chan_destroy", chan_destroy_waited, "waits at it"),                               \
    SAYS("filch_chan_send", chan_send_null, "not a channel"),                                     \
    SAYS("filch_chan_send", chan_send_null_item, "null item"),                                    \
    DEAD("filch_chan_send", chan_send_dead),                                                      \
    SAYS("filch_chan_recv", chan_recv_null, "not a channel"),                                     \
    SAYS("filch_chan_recv", chan_recv_null_item, "null item"),                                    \
    SAYS("filch_chan_recv", chan_recv_none, "not a channel"),                                     \
    SAYS("filch_chan_close", chan_close_null, "not a channel"),                                   \
    DEAD("filch_chan_close", chan_close_dead),                                                    \
    SAYS("filch_chan_length", chan_length_null, "not a channel"),                                 \
    SAYS("filch_chan_capacity", chan_capacity_none, "not a channel"),                             \
    SAYS("filch_chan_name", chan_name_null, "not a channel"),                                     \
    SAYS("filch_chan_rename", chan_rename_null, "not a channel"),                                 \
    ANSWERS("filch_chan_send filch_chan_recv filch_chan_close filch_chan_length "                 \
            "filch_chan_capacity filch_chan_name filch_chan_rename", chan_answers),               \
    SAYS("filch_select", select_nothing, "for ever"),                                             \
    SAYS("filch_select", select_null, "null cases"),                                              \
    SAYS("filch_select", select_none, "not a channel"),                                           \
    SAYS("filch_select", select_null_item, "null item"),                                          \
    SAYS("filch_select", select_op, "FILCH_RECV"),                                                \
    ANSWERS("filch_select", select_answers),                                                      \
    SAYS("filch_oneshot_send", oneshot_send_null, "null oneshot"),                                \
    SAYS("filch_oneshot_send", oneshot_send_twice, "already"),                                    \
    SAYS("filch_oneshot_send", oneshot_send_taken, "already"),                                    \
    SAYS("filch_oneshot_recv", oneshot_recv_null, "null oneshot"),                                \
    SAYS("filch_oneshot_recv", oneshot_recv_null_value, "null value"),                            \
    SAYS("filch_oneshot_recv", oneshot_recv_two, "two at a time"),                                \
    SAYS("filch_oneshot_close", oneshot_close_null, "null oneshot"),                              \
    ANSWERS("filch_oneshot_send filch_oneshot_recv filch_oneshot_close", oneshot_answers),
