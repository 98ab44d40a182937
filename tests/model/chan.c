/* chan.c: models of channels, select and oneshots (src/fiber) between threads outside any pool. The
 * switch of fibers is in pool.c. Every model ends with exact accounts: what was sent was received once
 * or is still there, and a call that failed has done nothing. */
#include "mc.h"

#include "fiber/chan.h"

#include <errno.h>

static filch_chan *a, *b;
static unsigned got;     /* items received, as a sum: they are 1, 10, 100 */
static unsigned sent;    /* the same of those sent, by thread */
static unsigned sent_by[4];

static void make(filch_chan **c, size_t capacity)
{
    mc_check(filch_chan_create(c, sizeof(unsigned), capacity) == 0);
}

static int64_t deadline(void)
{
    return os_clock_ns() + 1000;
}

/* What can still be received. */
static unsigned left_in(filch_chan *c)
{
    unsigned item, sum = 0;
    while (filch_chan_recv(c, &item, FILCH_NOW) == 0)
        sum += item;
    return sum;
}

static void send(filch_chan *c, unsigned item, int64_t until)
{
    int rc = filch_chan_send(c, &item, until);
    mc_check(rc == 0 || rc == -ETIMEDOUT || rc == -EPIPE);
    if (rc == 0)
        sent_by[mc_self()] += item;
}

static unsigned recv(filch_chan *c, int64_t until)
{
    unsigned item = 0;
    int rc = filch_chan_recv(c, &item, until);
    mc_check(rc == 0 || rc == -ETIMEDOUT || rc == -EPIPE);
    mc_check(rc != 0 || item > 0);
    return rc == 0 ? item : 0;
}

static unsigned all_sent(void)
{
    sent = 0;
    for (int i = 0; i < 4; i++)
        sent += sent_by[i];
    return sent;
}

/* Writes where the frames of the call before were: whoever still looks at its waiter is found. */
static unsigned total(const unsigned *word, int n)
{
    unsigned sum = 0;
    for (int i = 0; i < n; i++)
        sum += word[i];
    return sum;
}

static __attribute__((noinline)) void scribble(void)
{
    unsigned word[200];
    for (int i = 0; i < 200; i++)
        word[i] = (unsigned)i;
    mc_check(total(word, 200) == 19900);
}

/* ---- two threads ---------------------------------------------------------------------------- */

static void sends_one(void *unused)
{
    (void)unused;
    send(a, 1, FILCH_FOREVER);
}

static void chan_rendezvous(void)
{
    make(&a, 0);
    mc_thread(sends_one, 0);
    got = recv(a, FILCH_FOREVER);
    filch_chan_destroy(a); /* the sender does not look at it any more */
    mc_join_all();
    mc_check(got == 1);
}
MC_MODEL(chan_rendezvous,
         .claim = "a sender and a receiver meet; who received may destroy the channel", .preemptions = 3);

static void sends_two(void *unused)
{
    (void)unused;
    send(a, 1, FILCH_FOREVER);
    send(a, 10, FILCH_FOREVER);
}

static void chan_buffer_of_one(void)
{
    make(&a, 1);
    mc_thread(sends_two, 0);
    mc_check(recv(a, FILCH_FOREVER) == 1);
    mc_check(recv(a, FILCH_FOREVER) == 10);
    filch_chan_destroy(a);
    mc_join_all();
}
MC_MODEL(chan_buffer_of_one, .claim = "a full channel makes its sender wait; the order stays",
         .preemptions = 2, .stale = 2);

static void sends_a_while(void *unused)
{
    (void)unused;
    send(a, 1, deadline());
}

static void chan_both_time_out(void)
{
    make(&a, 0);
    mc_thread(sends_a_while, 0);
    got = recv(a, deadline());
    mc_join_all();
    mc_check(got == all_sent());
    mc_check(left_in(a) == 0);
    filch_chan_destroy(a);
}
MC_MODEL(chan_both_time_out,
         .claim = "a hand-over that meets a timeout happens on both sides or on none", .preemptions = 3,
         .stale = 1, .spurious = MC_ZERO, .alarms = true, .hasty = 2);

static void receives_a_while(void *unused)
{
    (void)unused;
    unsigned item = recv(a, deadline());
    mc_check(item == 0 || item == 1);
    sent_by[3] -= item; /* received: only what is left is looked for */
}

static void chan_receiver_gives_up(void)
{
    make(&a, 1);
    mc_thread(receives_a_while, 0);
    send(a, 1, FILCH_NOW);
    mc_join_all();
    mc_check(left_in(a) == all_sent());
    filch_chan_destroy(a);
}
MC_MODEL(chan_receiver_gives_up,
         .claim = "an item offered to a receiver that times out is received or stays", .preemptions = 3,
         .alarms = true, .hasty = 1);

/* ---- close ---------------------------------------------------------------------------------- */

static void closes(void *unused)
{
    (void)unused;
    filch_chan_close(a);
}

static void chan_close_meets_send(void)
{
    make(&a, 0);
    mc_thread(sends_one, 0);
    mc_thread(closes, 0);
    got = recv(a, FILCH_FOREVER);
    mc_join_all();
    mc_check(got == all_sent());
    filch_chan_destroy(a);
}
MC_MODEL(chan_close_meets_send,
         .claim = "a send that meets a close is received, or refused; nobody is left waiting",
         .preemptions = 2, .stale = 1, .spurious = MC_ZERO);

static void chan_close_ends_a_send(void)
{
    make(&a, 0);
    mc_thread(closes, 0);
    sends_one(0);
    mc_join_all();
    mc_check(all_sent() == 0);
    filch_chan_destroy(a);
}
MC_MODEL(chan_close_ends_a_send, .claim = "a sender that waits is told of the close", .preemptions = 3);

static void chan_closed_and_destroyed(void)
{
    make(&a, 0);
    mc_thread(closes, 0);
    mc_check(recv(a, FILCH_FOREVER) == 0);
    filch_chan_destroy(a);
    mc_join_all();
}
MC_MODEL(chan_closed_and_destroyed, .claim = "who was told of the close may destroy the channel",
         .preemptions = 3);

/* ---- select --------------------------------------------------------------------------------- */

static void sends_to_b(void *unused)
{
    (void)unused;
    send(b, 10, FILCH_FOREVER);
}

static unsigned select_recv(int64_t until)
{
    unsigned item = 0;
    struct filch_case cases[] = {{a, FILCH_RECV, &item, 1}, {b, FILCH_RECV, &item, 1}};
    int k = filch_select(cases, 2, until);
    mc_check(k == 0 || k == 1 || k == -ETIMEDOUT);
    mc_check(k < 0 || (cases[k].result == 0 && item == (k ? 10 : 1)));
    return k < 0 ? 0 : item;
}

static void select_of_two_senders(void)
{
    make(&a, 0);
    make(&b, 0);
    mc_thread(sends_one, 0);
    mc_thread(sends_to_b, 0);
    mc_check(select_recv(FILCH_FOREVER) + select_recv(FILCH_FOREVER) == 11);
    mc_join_all();
    filch_chan_destroy(a);
    filch_chan_destroy(b);
}
MC_MODEL(select_of_two_senders, .claim = "a select takes from each of two senders, once",
         .preemptions = 2, .stale = MC_ZERO, .spurious = MC_ZERO, .spins = MC_ZERO);

static void select_sends(void *unused)
{
    unsigned one = 1, ten = 10;
    struct filch_case cases[] = {{b, FILCH_SEND, &ten, 1}, {a, FILCH_SEND, &one, 1}};
    (void)unused;
    int k = filch_select(cases, 2, FILCH_FOREVER);
    mc_check(k >= 0 && cases[k].result == 0);
    sent_by[mc_self()] = k ? 1 : 10;
}

static void selects_meet(void)
{
    make(&a, 0);
    make(&b, 0);
    mc_thread(select_sends, 0);
    got = select_recv(FILCH_FOREVER);
    mc_join_all();
    mc_check(got == all_sent());
    filch_chan_destroy(a);
    filch_chan_destroy(b);
}
MC_MODEL(selects_meet, .claim = "two selects over the same channels agree on one", .preemptions = 3,
         .stale = 2, .spurious = MC_ZERO);

static void select_times_out(void)
{
    make(&a, 0);
    make(&b, 1);
    mc_thread(sends_a_while, 0);
    got = select_recv(deadline());
    mc_join_all();
    mc_check(got == all_sent());
    filch_chan_destroy(a);
    filch_chan_destroy(b);
}
MC_MODEL(select_times_out, .claim = "a select that times out has received nothing", .preemptions = 2,
         .stale = 1, .spurious = MC_ZERO, .alarms = true, .hasty = 2);

/* ---- oneshot -------------------------------------------------------------------------------- */

static filch_oneshot *shot;
static unsigned data;

static void shoots(void *unused)
{
    (void)unused;
    data = 7;
    mc_check(filch_oneshot_send(shot, &data) == 0);
}

static void oneshot(void (*other)(void *), int64_t until, int expect)
{
    void *value = 0;
    shot = os_alloc(sizeof *shot);
    mc_check(shot != 0);
    mc_thread(other, 0);
    int rc = filch_oneshot_recv(shot, &value, until);
    if (rc == -ETIMEDOUT)
        rc = filch_oneshot_recv(shot, &value, FILCH_FOREVER);
    scribble();
    mc_check(rc == expect);
    mc_check(rc != 0 || (value == &data && data == 7));
    os_free(shot); /* the other does not look at it any more */
    mc_join_all();
}

static void oneshot_is_sent(void)
{
    oneshot(shoots, FILCH_FOREVER, 0);
}
MC_MODEL(oneshot_is_sent, .claim = "the value arrives; then the receiver may free the oneshot",
         .preemptions = MC_UNBOUNDED);

static void shuts(void *unused)
{
    (void)unused;
    filch_oneshot_close(shot);
}

static void oneshot_is_closed(void)
{
    oneshot(shuts, FILCH_FOREVER, -EPIPE);
}
MC_MODEL(oneshot_is_closed, .claim = "a close ends the wait", .preemptions = MC_UNBOUNDED);

static void oneshot_times_out(void)
{
    oneshot(shoots, deadline(), 0);
}
MC_MODEL(oneshot_times_out, .claim = "a value sent at the moment of a timeout is not lost",
         .preemptions = 3, .alarms = true, .hasty = 1);
