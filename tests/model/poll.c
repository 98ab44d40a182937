/* poll.c: models of core/poll.c: threads wait for a descriptor that the model plays. What is there to be
 * read is a word; the kernel adds to it and then reports; a call takes one, or would block. */
#include "mc.h"
#include "scribble.h"

#include "core/poll.h"
#include "core/wait.h"

#include <errno.h>

enum { FD = 5 };

static filch_pool pool;
static uint32_t there; /* to be read */
static uint32_t open_fd = 1;
static uint32_t results[3];

static void report_ready(uint32_t gen, uint32_t ready)
{
    struct poll_batch b;
    b.count = 1;
    b.event[0] = (struct os_poll_event){.tag = (uint64_t)gen << 32 | FD, .ready = ready};
    poll_deliver(&pool, &b);
}

/* The kernel: adds and then reports, if the descriptor was registered by then. A registration with
 * something there is reported as well; the model reports twice instead. */
static void arrives(void *n)
{
    filch_add_relaxed(&there, (uint32_t)(uintptr_t)n);
    if (poll_exists(&pool))
        report_ready(0, OS_POLL_IN);
}

static int take_one(void)
{
    uint32_t n = filch_load_relaxed(&there);
    if (!filch_load_relaxed(&open_fd))
        return -EBADF;
    while (n > 0)
        if (filch_cas_relaxed(&there, &n, n - 1))
            return 1;
    return -EAGAIN;
}

static int reads(unsigned what)
{
    struct poll_mark m;
    int r;
    poll_mark(&pool, FD, &m);
    while ((r = take_one()) == -EAGAIN) {
        int rc = poll_wait(&pool, FD, what, &m, INT64_MAX, 0);
        if (rc != 0)
            return rc;
        poll_mark(&pool, FD, &m);
    }
    return r;
}

static void reader(void *i)
{
    results[(uintptr_t)i] = (uint32_t)reads(OS_POLL_IN);
}

/* The descriptor is known: as after an earlier wait. */
static void known(void)
{
    struct poll_mark m;
    poll_mark(&pool, FD, &m);
    mc_check(poll_wait(&pool, FD, OS_POLL_IN, &m, os_clock_ns(), 0) == -ETIMEDOUT);
}

static void end(void)
{
    mc_join_all();
    poll_destroy(&pool);
    pool.poller = 0;
}

static void poll_report_while_listing(void)
{
    known();
    mc_thread(reader, (void *)0);
    arrives((void *)1);
    end();
    mc_check(results[0] == 1);
}
MC_MODEL(poll_report_while_listing, .claim = "[Q1] what arrives while a waiter lists itself is seen",
         .preemptions = 3, .stale = 2, .spins = MC_ZERO, .alarms = true);

static void poll_one_report_for_two(void)
{
    known();
    mc_thread(reader, (void *)0);
    mc_thread(reader, (void *)1);
    arrives((void *)2);
    end();
    mc_check(results[0] == 1 && results[1] == 1);
}
MC_MODEL(poll_one_report_for_two, .claim = "one report for two waiters: both get theirs", .preemptions = 2,
         .stale = 1, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

static void closes(void *unused)
{
    (void)unused;
    poll_close(FD);
    filch_store_relaxed(&open_fd, 0u);
    poll_closed(FD);
}

static bool is_closed(uint32_t result)
{
    return (int)result == -ECANCELED || (int)result == -EBADF;
}

static void poll_close_while_waiting(void)
{
    known();
    mc_thread(reader, (void *)0);
    closes(0);
    end();
    mc_check(is_closed(results[0]));
}
MC_MODEL(poll_close_while_waiting, .claim = "who waits or begins to wait while it is closed returns",
         .preemptions = 3, .stale = 2, .alarms = true);

/* A report about the descriptor that had this number before. */
static void late_report(void *unused)
{
    (void)unused;
    report_ready(0, OS_POLL_IN);
}

static void poll_late_report(void)
{
    struct poll_mark m;
    known();
    poll_close(FD);
    poll_closed(FD);
    poll_mark(&pool, FD, &m);
    mc_thread(late_report, 0);
    mc_check(poll_wait(&pool, FD, OS_POLL_IN, &m, os_clock_ns() + 1000, 0) == -ETIMEDOUT);
    end();
}
MC_MODEL(poll_late_report, .claim = "a report about the last one of this number wakes nobody",
         .preemptions = 3, .stale = 2, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* One waits in both lists; the deadline, a report and closing are all about to end it. */
static void waits_for_both(void *unused)
{
    struct poll_mark m;
    (void)unused;
    poll_mark(&pool, FD, &m);
    results[2] = (uint32_t)poll_wait(&pool, FD, OS_POLL_IN | OS_POLL_OUT, &m, os_clock_ns() + 1000, 0);
    scribble();
}

static void reports_both(void *unused)
{
    (void)unused;
    report_ready(0, OS_POLL_IN | OS_POLL_OUT);
}

static void poll_both_directions(void)
{
    known();
    mc_thread(waits_for_both, 0);
    mc_thread(reports_both, 0);
    closes(0);
    end();
    mc_check(results[2] == 0 || (int)results[2] == -ECANCELED || (int)results[2] == -ETIMEDOUT);
}
MC_MODEL(poll_both_directions, .claim = "a wait for two directions ends once, and leaves no node behind",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* Two pages or pollers at once: one of each is left. */
static void poll_made_once(void)
{
    mc_thread((void (*)(void *))known, 0);
    known();
    end();
}
MC_MODEL(poll_made_once, .claim = "a pool's poll is made once, by whoever waits first", .preemptions = 3,
         .stale = 1, .spins = MC_ZERO, .alarms = true);

/* ---- drained -------------------------------------------------------------------------------- */

enum { OVER = 256 }; /* added to what is there: the stream ends after that */

/* All that is there; 0 at the end. */
static int take_all_there(void)
{
    uint32_t was = filch_load_relaxed(&there);
    while (was % OVER > 0)
        if (filch_cas_relaxed(&there, &was, was - was % OVER))
            return (int)(was % OVER);
    return was >= OVER ? 0 : -EAGAIN;
}

static int reads_all(void)
{
    struct poll_mark m;
    poll_mark(&pool, FD, &m);
    int r = m.drained ? -EAGAIN : take_all_there();
    while (r == -EAGAIN) {
        int rc = poll_wait(&pool, FD, OS_POLL_IN, &m, INT64_MAX, 0);
        if (rc != 0)
            return rc;
        poll_mark(&pool, FD, &m);
        r = take_all_there();
    }
    if (r > 0)
        poll_drained(&pool, FD, &m);
    return r;
}

static void reads_to_the_end(void *unused)
{
    int r;
    (void)unused;
    while ((r = reads_all()) > 0)
        results[0] += (uint32_t)r;
    mc_check(r == 0);
}

static void ends_stream(void *unused)
{
    (void)unused;
    filch_add_relaxed(&there, (uint32_t)OVER);
    report_ready(0, OS_POLL_IN | OS_POLL_ODD);
}

static void poll_drained_sees_what_comes(void)
{
    known();
    mc_thread(reads_to_the_end, 0);
    arrives((void *)1);
    arrives((void *)1);
    ends_stream(0);
    end();
    mc_check(results[0] == 2);
}
MC_MODEL(poll_drained_sees_what_comes,
         .claim = "[Q1] a reader that does not try sees all that comes, and the end",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);

/* Data and end together: one report, or one after the other. */
static void poll_drained_sees_the_end_once(void)
{
    known();
    mc_thread(reads_to_the_end, 0);
    filch_add_relaxed(&there, 1u);
    ends_stream(0);
    end();
    mc_check(results[0] == 1);
}
MC_MODEL(poll_drained_sees_the_end_once,
         .claim = "[Q1] an end that was reported before the last data were read is seen",
         .preemptions = 3, .stale = 2, .spins = MC_ZERO, .spurious = MC_ZERO, .alarms = true);
