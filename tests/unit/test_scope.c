/* test_scope.c: tasks that end before their scope does; errors, cancellation, deadlines. */
#include "pool_kit.h"

#include <filch/chan.h>
#include <filch/io.h>
#include <filch/scope.h>
#include <filch/sync.h>

static uint64_t ran, cleaned;

static void reset(void)
{
    filch_store_relaxed(&ran, (uint64_t)0);
    filch_store_relaxed(&cleaned, (uint64_t)0);
}

static uint64_t value(const uint64_t *word)
{
    return filch_load_acquire(word);
}

static int counts(void *arg)
{
    (void)arg;
    filch_add_acq_rel(&ran, (uint64_t)1);
    return 0;
}

static void cleans(void *arg)
{
    (void)arg;
    filch_add_acq_rel(&cleaned, (uint64_t)1);
}

static int yields_and_counts(void *arg)
{
    for (int i = 0; i < 3; i++)
        filch_yield();
    return counts(arg);
}

static int sleeps_for_ever(void *arg)
{
    (void)arg;
    int rc = filch_sleep_until(FILCH_FOREVER);
    CHECK_EQ(rc, -ECANCELED);
    CHECK(filch_canceled());
    CHECK_EQ(filch_sleep_ns(1000000000), -ECANCELED); /* the next one as well */
    filch_add_acq_rel(&ran, (uint64_t)1);
    return rc;
}

static int fails(void *arg)
{
    return *(int *)arg;
}

/* Every claim on 1..4 workers, from a thread outside and from a task. */
static int run_claim(void *claim)
{
    ((void (*)(void))(uintptr_t)claim)();
    return 0;
}

static filch_pool *pool;

static void everywhere(void (*claim)(void))
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_task_attr a = FILCH_TASK_ATTR_INIT;
        filch_task *t;
        a.pool = pool = kit_pool(workers);
        reset();
        claim();
        reset();
        CHECK_EQ(filch_spawn_with(&t, &a, run_claim, (void *)(uintptr_t)claim), 0);
        CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
        kit_destroy(pool);
    }
}

static void open(filch_scope *s)
{
    CHECK_EQ(filch_scope_open_on(s, pool), 0);
}

/* ---- claims --------------------------------------------------------------------------------- */

static void all_end(void)
{
    filch_scope s;
    open(&s);
    for (int i = 0; i < 500; i++)
        CHECK_EQ(filch_scope_go(&s, i % 2 ? counts : yields_and_counts, NULL), 0);
    CHECK_EQ(filch_scope_close(&s), 0);
    CHECK_EQ(value(&ran), 500u);
    CHECK(!filch_scope_failed(&s));
}

static void a_scope_ends_after_all_of_its_tasks(void)
{
    everywhere(all_end);
}

static void empty(void)
{
    filch_scope s;
    open(&s);
    CHECK_EQ(filch_scope_close(&s), 0);
}

static void an_empty_scope_closes(void)
{
    everywhere(empty);
}

static void first_error(void)
{
    static int code = -EBADF;
    filch_scope s;
    open(&s);
    for (int i = 0; i < 50; i++)
        CHECK_EQ(filch_scope_go(&s, sleeps_for_ever, NULL), 0);
    CHECK_EQ(filch_scope_go_named(&s, "the bad one", fails, &code, NULL), 0);
    CHECK_EQ(filch_scope_close(&s), -EBADF);
    CHECK(filch_scope_failed(&s) && strcmp(filch_scope_failed(&s), "the bad one") == 0);
    CHECK(value(&ran) <= 50); /* those that had begun */
}

static void the_first_error_cancels_the_others_and_is_named(void)
{
    everywhere(first_error);
}

static void cancel_waiters(void)
{
    filch_scope s;
    open(&s);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(filch_scope_go(&s, sleeps_for_ever, NULL), 0);
    CHECK(!filch_scope_canceled(&s));
    filch_scope_cancel(&s);
    CHECK(filch_scope_canceled(&s));
    CHECK_EQ(filch_scope_close(&s), -ECANCELED);
}

static void cancelling_ends_every_wait(void)
{
    everywhere(cancel_waiters);
}

static void deadline(void)
{
    filch_scope s;
    open(&s);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(filch_scope_go(&s, sleeps_for_ever, NULL), 0);
    filch_scope_deadline(&s, filch_clock_ns() + 3000000);
    CHECK_EQ(filch_scope_close(&s), -ETIMEDOUT);
    open(&s);
    CHECK_EQ(filch_scope_go(&s, counts, NULL), 0);
    filch_scope_deadline(&s, filch_clock_ns() + (int64_t)3600 * 1000000000);
    CHECK_EQ(filch_scope_close(&s), 0);
}

static void a_deadline_cancels(void)
{
    everywhere(deadline);
}

static void clean_ups(void)
{
    static int code = 5;
    filch_scope s;
    open(&s);
    for (int i = 0; i < 300; i++)
        CHECK_EQ(filch_scope_go_named(&s, NULL, counts, NULL, cleans), 0);
    CHECK_EQ(filch_scope_go(&s, fails, &code), 0);
    for (int i = 0; i < 300; i++)
        CHECK_EQ(filch_scope_go_named(&s, NULL, sleeps_for_ever, NULL, cleans), 0);
    CHECK_EQ(filch_scope_close(&s), 5);
    CHECK_EQ(value(&cleaned), 600u);
}

static void every_clean_up_runs_once(void)
{
    everywhere(clean_ups);
}

static int nests(void *arg)
{
    filch_scope s;
    int depth = *(int *)arg - 1;
    CHECK_EQ(filch_scope_open(&s), 0);
    for (int i = 0; i < 2; i++) {
        if (depth > 0)
            CHECK_EQ(filch_scope_go(&s, nests, &depth), 0);
        else
            (void)filch_scope_go(&s, sleeps_for_ever, NULL);
    }
    int rc = filch_scope_close(&s);
    CHECK_EQ(rc, -ECANCELED);
    return rc;
}

static void nested(void)
{
    int depth = 4;
    filch_scope s;
    open(&s);
    CHECK_EQ(filch_scope_go(&s, nests, &depth), 0);
    filch_sleep_ns(300000);
    filch_scope_cancel(&s);
    CHECK_EQ(filch_scope_close(&s), -ECANCELED);
}

static void cancelling_reaches_scopes_inside(void)
{
    everywhere(nested);
}

static int joins_a_sleeper(void *arg)
{
    filch_task *t = arg;
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), -ECANCELED);
    filch_add_acq_rel(&ran, (uint64_t)1);
    return 0;
}

static int waits_for_event(void *event)
{
    filch_event_wait(event);
    return 0;
}

static void joins(void)
{
    filch_event e = {0};
    filch_scope s;
    filch_task *t;
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.pool = pool;
    open(&s);
    CHECK_EQ(filch_spawn_with(&t, &a, waits_for_event, &e), 0);
    while (filch_task_join(t, NULL, filch_clock_ns() + 100000) == 0)
        CHECK(0);
    CHECK_EQ(filch_scope_go(&s, joins_a_sleeper, t), 0);
    filch_sleep_ns(300000);
    filch_scope_cancel(&s);
    (void)filch_scope_close(&s);
    filch_event_set(&e);
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0); /* the handle is still good */
}

struct late_start {
    filch_event event;
    filch_task *task;
};

/* What it joins has not begun, and must not begin on its stack: nobody could end that wait. */
static int joins_what_it_spawned(void *arg)
{
    struct late_start *l = arg;
    CHECK_EQ(filch_spawn(&l->task, waits_for_event, &l->event), 0);
    CHECK_EQ(filch_task_join(l->task, NULL, FILCH_FOREVER), -ECANCELED);
    return 0;
}

static void joins_at_once(void)
{
    struct late_start l = {0};
    filch_scope s;
    open(&s);
    CHECK_EQ(filch_scope_go(&s, joins_what_it_spawned, &l), 0);
    filch_sleep_ns(300000);
    filch_scope_cancel(&s);
    (void)filch_scope_close(&s);
    filch_event_set(&l.event);
    if (l.task) /* else the scope was cancelled before it began */
        CHECK_EQ(filch_task_join(l.task, NULL, FILCH_FOREVER), 0);
}

static void cancelling_reaches_a_join_of_what_has_not_begun(void)
{
    everywhere(joins_at_once);
}

static void cancelling_reaches_through_a_join(void)
{
    everywhere(joins);
}

/* A lock is not cancelled; everything else is. */
struct places {
    filch_mutex mutex;
    filch_sem sem;
    filch_event event;
    filch_chan *chan;
    int fd[2];
};

static int waits_everywhere(void *arg)
{
    struct places *p = arg;
    char byte;
    CHECK_EQ(filch_sem_acquire(&p->sem, FILCH_FOREVER), -ECANCELED);
    CHECK_EQ(filch_event_wait_until(&p->event, FILCH_FOREVER), -ECANCELED);
    CHECK_EQ(filch_chan_recv(p->chan, &byte, FILCH_FOREVER), -ECANCELED);
    CHECK_EQ(filch_read(p->fd[0], &byte, 1, FILCH_FOREVER), -ECANCELED);
    CHECK_EQ(filch_mutex_lock(&p->mutex, FILCH_FOREVER), 0);
    filch_add_acq_rel(&ran, (uint64_t)1);
    filch_mutex_unlock(&p->mutex);
    return -ECANCELED;
}

static void places(void)
{
    struct places p = {.fd = {-1, -1}};
    filch_scope s;
    filch_sem_init(&p.sem, 0);
    CHECK_EQ(filch_chan_create(&p.chan, 1, 0), 0);
    CHECK_EQ(filch_pipe(p.fd), 0);
    open(&s);
    CHECK_EQ(filch_mutex_lock(&p.mutex, FILCH_FOREVER), 0);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(filch_scope_go(&s, waits_everywhere, &p), 0);
    filch_sleep_ns(300000); /* time to wait there; the claim does not depend on it */
    filch_scope_cancel(&s);
    filch_mutex_unlock(&p.mutex);
    CHECK_EQ(filch_scope_close(&s), -ECANCELED);
    filch_chan_destroy(p.chan);
    CHECK_EQ(filch_close(p.fd[0]) | filch_close(p.fd[1]), 0);
}

static void cancelling_reaches_channels_semaphores_events_and_descriptors_but_no_lock(void)
{
    everywhere(places);
}

static int spins_until_canceled(void *arg)
{
    (void)arg;
    while (!filch_canceled())
        filch_yield();
    return -ECANCELED;
}

static void loops(void)
{
    filch_scope s;
    open(&s);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(filch_scope_go(&s, spins_until_canceled, NULL), 0);
    filch_sleep_ns(100000);
    filch_scope_cancel(&s);
    CHECK_EQ(filch_scope_close(&s), -ECANCELED);
}

static void a_loop_can_ask(void)
{
    everywhere(loops);
}

static void a_closed_pool_is_an_error_of_the_scope(void)
{
    filch_scope s;
    pool = kit_pool(1);
    open(&s);
    reset();
    CHECK_EQ(filch_pool_shutdown(pool, FILCH_FOREVER), 0);
    CHECK_EQ(filch_scope_go_named(&s, "late", counts, NULL, cleans), -EPIPE);
    CHECK_EQ(filch_scope_close(&s), -EPIPE);
    CHECK(strcmp(filch_scope_failed(&s), "late") == 0);
    CHECK_EQ(value(&cleaned), 1u);
    kit_destroy(pool);
}

/* Three scopes in one: the middle one is closed first, and then its memory is something else's. Cancelling
 * the outer one must not touch what was closed. */
static void scopes_inside_are_closed_in_any_order(void)
{
    static const int orders[][3] = {{1, 0, 2}, {1, 2, 0}, {0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {2, 0, 1}};
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        filch_scope outer, in[3];
        unsigned char junk[sizeof *in];
        memset(junk, 0xa5, sizeof junk);
        CHECK_EQ(filch_scope_open(&outer), 0);
        for (int i = 0; i < 3; i++)
            CHECK_EQ(filch_scope_open_in(&in[i], &outer, NULL), 0);
        for (int i = 0; i < 2; i++) {
            CHECK_EQ(filch_scope_close(&in[orders[o][i]]), 0);
            memcpy(&in[orders[o][i]], junk, sizeof junk);
        }
        filch_scope_cancel(&outer);
        for (int i = 0; i < 2; i++)
            CHECK(memcmp(&in[orders[o][i]], junk, sizeof junk) == 0);
        CHECK(filch_scope_canceled(&in[orders[o][2]]));
        CHECK_EQ(filch_scope_close(&in[orders[o][2]]), -ECANCELED);
        CHECK_EQ(filch_scope_close(&outer), -ECANCELED);
    }
}

int main(void)
{
    kit_watchdog();
    RUN(a_scope_ends_after_all_of_its_tasks);
    RUN(an_empty_scope_closes);
    RUN(the_first_error_cancels_the_others_and_is_named);
    RUN(cancelling_ends_every_wait);
    RUN(a_deadline_cancels);
    RUN(every_clean_up_runs_once);
    RUN(cancelling_reaches_scopes_inside);
    RUN(cancelling_reaches_through_a_join);
    RUN(cancelling_reaches_a_join_of_what_has_not_begun);
    RUN(cancelling_reaches_channels_semaphores_events_and_descriptors_but_no_lock);
    RUN(a_loop_can_ask);
    RUN(a_closed_pool_is_an_error_of_the_scope);
    RUN(scopes_inside_are_closed_in_any_order);
    return check_report();
}
