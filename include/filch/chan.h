/* filch/chan.h: channels between tasks, and between tasks and threads.
 *
 *     #include <filch/chan.h>
 *     #include <filch/task.h>
 *     #include <stdio.h>
 *
 *     static void count(void *c)
 *     {
 *         for (int i = 0; i < 10; i++)
 *             filch_chan_send(c, &i, FILCH_FOREVER);
 *         filch_chan_close(c);
 *     }
 *     int main(void)
 *     {
 *         int i;
 *         filch_chan *c;
 *         if (filch_chan_create(&c, sizeof i, 4) != 0 || filch_go(count, c) != 0)
 *             return 1;
 *         while (filch_chan_recv(c, &i, FILCH_FOREVER) == 0)
 *             printf("%d\n", i);
 *         filch_chan_destroy(c);
 *     }
 *
 * Any number of tasks and threads may send and receive. Items are copied. What one sender sends is taken
 * in that order; each item is received once. A call that returns an error has not sent, or has not
 * taken, anything. While a task waits, its worker runs something else; a thread outside sleeps.
 *
 * A task that finds its channels ready for a long time lets others run now and then, as filch_yield
 * does, with FILCH_NOW as well.
 */
#ifndef FILCH_CHAN_H
#define FILCH_CHAN_H

#include <filch.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct filch_chan filch_chan;

#define FILCH_UNBOUNDED SIZE_MAX

/* A channel of items of this many bytes (0: signals without content), `capacity` of which it keeps: 0
 * is a rendezvous, a sender waits until its item is taken; with FILCH_UNBOUNDED senders never wait.
 * Returns 0 or -ENOMEM. Any thread. */
FILCH_API int filch_chan_create(filch_chan **out, size_t item_size, size_t capacity);

/* Nobody may use it any more or wait at it; what was not received is dropped. Who received the last
 * item, or was told -EPIPE, may do so at once: those who sent it or closed the channel do not look at it
 * again. Null is ignored. Any thread. */
FILCH_API void filch_chan_destroy(filch_chan *chan);

/* Sends a copy of *item (null if items have no bytes). Returns 0, or -EPIPE (closed), -ETIMEDOUT,
 * -ECANCELED; an unbounded channel -ENOMEM. Any thread; may wait; may resume on another thread. */
FILCH_API int filch_chan_send(filch_chan *chan, const void *item, int64_t deadline);

/* Receives into *item (null if items have no bytes). Returns 0, or -EPIPE (closed, and nothing left),
 * -ETIMEDOUT, -ECANCELED. Any thread; may wait; may resume on another thread. */
FILCH_API int filch_chan_recv(filch_chan *chan, void *item, int64_t deadline);

/* Nothing can be sent from now on; senders that wait are told. What it keeps can still be received. Once
 * more has no effect. Any thread. */
FILCH_API void filch_chan_close(filch_chan *chan);

/* How many items it keeps just now, and how many it could. Any thread. */
FILCH_API size_t filch_chan_length(const filch_chan *chan);
FILCH_API size_t filch_chan_capacity(const filch_chan *chan);

/* Its name, in dumps and messages, or null; borrowed until the channel is destroyed. Any thread. */
FILCH_API const char *filch_chan_name(const filch_chan *chan);
FILCH_API void filch_chan_rename(filch_chan *chan, const char *name);

/* ---- one of several ------------------------------------------------------------------------- */

enum filch_op { FILCH_SEND, FILCH_RECV };

struct filch_case {
    filch_chan *chan; /* null: never happens                                           */
    enum filch_op op;
    void *item;       /* what is sent, or where to put what is received                */
    int result;       /* of the case that happened: 0, -EPIPE or -ENOMEM, as send and recv */
};

#define FILCH_SELECT_MOST 64

/* Waits until one of the cases can happen, and lets that one happen. If several can, a random
 * one, each as likely as the others. Returns its index, or -ETIMEDOUT, -ECANCELED, or -EINVAL (more than
 * FILCH_SELECT_MOST); with FILCH_NOW it does not wait. The same channel may stand in several cases. Any
 * thread; may wait; may resume on another thread. */
FILCH_API int filch_select(struct filch_case *cases, size_t n, int64_t deadline);

/* ---- one value, once ------------------------------------------------------------------------ */

/* In the caller's storage; all zero, it is ready for use. One sender, one receiver. */
typedef struct filch_oneshot {
    uintptr_t state;
    void *value;
} filch_oneshot;

/* Sends the value; a second time is a mistake. Returns 0, or -EPIPE if it was closed. Does not wait. The
 * receiver may free the oneshot as soon as it has the value. Any thread. */
FILCH_API int filch_oneshot_send(filch_oneshot *oneshot, void *value);

/* Takes the value. Returns 0, or -EPIPE (closed, or taken already), -ETIMEDOUT, -ECANCELED. One at a
 * time. Any thread; may wait; may resume on another thread. */
FILCH_API int filch_oneshot_recv(filch_oneshot *oneshot, void **value, int64_t deadline);

/* No value is going to be sent, or wanted. No effect on one that was sent. Any thread. */
FILCH_API void filch_oneshot_close(filch_oneshot *oneshot);

#ifdef __cplusplus
}
#endif
#endif /* FILCH_CHAN_H */
