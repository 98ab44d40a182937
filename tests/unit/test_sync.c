/* test_sync.c: filch/sync.h between tasks, pinned tasks and threads outside. Locks that are held while
 * their holder waits for something else are in test_sync_held.c. */
#include "fiber/waiters.h"
#include "sync_kit.h"

/* ---- the list of waiters -------------------------------------------------------------------- */

static void who_comes_first_into_an_empty_list_is_its_last_as_well(void)
{
    filch_waiters q = {0};
    struct wait_node a = {0}, b = {0}, c = {0};
    waiters_add_first(&q, &a);
    waiters_add(&q, &b);
    waiters_add_first(&q, &c);
    CHECK(q.head == &c && c.next == &a && a.next == &b && !b.next && q.tail == &b);
    CHECK(!c.prev && a.prev == &c && b.prev == &a);
    waiters_unlink(&q, &a);
    waiters_unlink(&q, &c);
    CHECK(q.head == &b && q.tail == &b);
    waiters_unlink(&q, &b);
    CHECK(waiters_none(&q) && !q.tail);
}

/* ---- mutex ---------------------------------------------------------------------------------- */

enum { FLOWS = 12 };

struct counting {
    filch_mutex mutex;
    filch_group group;
    int64_t count; /* plain: the mutex is all that guards it */
    int rounds;
    uint32_t busy; /* trylock did not get it */
};

static void counts(void *arg)
{
    struct counting *c = arg;
    for (int i = 0; i < c->rounds; i++) {
        CHECK_EQ(filch_mutex_lock(&c->mutex, FILCH_FOREVER), 0);
        c->count++;
        filch_mutex_unlock(&c->mutex);
        if (i % 64 == 0)
            filch_yield();
    }
    kit_beat();
    filch_group_done(&c->group);
}

static void counts_pinned(void *arg)
{
    filch_pin();
    counts(arg);
    filch_unpin();
}

static void tries(void *arg)
{
    struct counting *c = arg;
    for (int i = 0; i < c->rounds;) {
        int rc = i % 2 ? filch_mutex_trylock(&c->mutex) : filch_mutex_lock(&c->mutex, FILCH_NOW);
        if (rc == 0) {
            c->count++;
            filch_mutex_unlock(&c->mutex);
            i++;
        } else {
            CHECK_EQ(rc, i % 2 ? -EBUSY : -ETIMEDOUT);
            filch_add_relaxed(&c->busy, 1u);
            filch_yield();
        }
    }
    filch_group_done(&c->group);
}

static void a_mutex_lets_in_one_at_a_time(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct counting c = {.rounds = KIT_SLOW ? 500 : 10000};
        filch_group_add(&c.group, FLOWS + 3);
        pthread_t t[2] = {thread_of(counts, &c), thread_of(counts, &c)};
        for (int i = 0; i < FLOWS; i++)
            go_on(pool, i % 4 == 3 ? tries : counts, &c);
        go_on(pool, workers > 1 ? counts_pinned : counts, &c); /* who is pinned keeps its worker */
        CHECK_EQ(filch_group_wait(&c.group, FILCH_FOREVER), 0);
        CHECK_EQ(c.count, (int64_t)(FLOWS + 3) * c.rounds);
        ended(t, 2);
        filch_mutex_destroy(&c.mutex);
        filch_group_destroy(&c.group);
        kit_destroy(pool);
    }
}

/* Holds it until told; the others' deadlines pass. */
struct blocking {
    filch_mutex mutex;
    filch_event locked, release;
    uint32_t late;
    filch_group group;
};

static void holds(void *arg)
{
    struct blocking *b = arg;
    CHECK_EQ(filch_mutex_lock(&b->mutex, FILCH_FOREVER), 0);
    filch_event_set(&b->locked);
    filch_event_wait(&b->release);
    filch_mutex_unlock(&b->mutex);
    filch_group_done(&b->group);
}

static void is_late(void *arg)
{
    struct blocking *b = arg;
    CHECK_EQ(filch_mutex_lock(&b->mutex, filch_clock_ns() + 500000), -ETIMEDOUT);
    filch_add_relaxed(&b->late, 1u);
    filch_group_done(&b->group);
}

static void locks_in_the_end(void *arg)
{
    struct blocking *b = arg;
    CHECK_EQ(filch_mutex_lock(&b->mutex, filch_clock_ns() + INT64_C(3600000000000)), 0);
    filch_mutex_unlock(&b->mutex);
    filch_group_done(&b->group);
}

static void a_mutex_is_usable_after_timeouts(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct blocking b = {0};
        filch_group_add(&b.group, 1 + 20 + 20 + 1);
        go_on(pool, holds, &b);
        filch_event_wait(&b.locked);
        pthread_t t = thread_of(is_late, &b);
        for (int i = 0; i < 20; i++) {
            go_on(pool, is_late, &b);
            go_on(pool, locks_in_the_end, &b);
        }
        KIT_AWAIT(filch_load_acquire(&b.late) == 21);
        filch_event_set(&b.release);
        CHECK_EQ(filch_group_wait(&b.group, FILCH_FOREVER), 0);
        CHECK_EQ(filch_mutex_trylock(&b.mutex), 0);
        filch_mutex_unlock(&b.mutex);
        filch_mutex_destroy(&b.mutex);
        ended(&t, 1);
        kit_destroy(pool);
    }
}

/* Two never leave the mutex alone for longer than a moment; the third still gets it. */
struct hammer {
    filch_mutex mutex;
    uint32_t stop;
    filch_group group;
};

static void hammers(void *arg)
{
    struct hammer *h = arg;
    while (!kit_raised(&h->stop)) {
        CHECK_EQ(filch_mutex_lock(&h->mutex, FILCH_FOREVER), 0);
        for (int i = 0; i < 50; i++)
            os_pause();
        filch_mutex_unlock(&h->mutex);
    }
    filch_group_done(&h->group);
}

static void wants_it_sometimes(void *arg)
{
    struct hammer *h = arg;
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(filch_mutex_lock(&h->mutex, FILCH_FOREVER), 0);
        filch_mutex_unlock(&h->mutex);
        filch_sleep_ns(100000);
        kit_beat();
    }
    kit_raise(&h->stop);
    filch_group_done(&h->group);
}

static void who_waits_gets_the_mutex_although_others_hammer_it(void)
{
    for (int outside = 0; outside < 2; outside++) {
        filch_pool *pool = kit_pool(3);
        struct hammer h = {0};
        filch_group_add(&h.group, 3);
        go_on(pool, hammers, &h);
        go_on(pool, hammers, &h);
        if (outside) {
            pthread_t t = thread_of(wants_it_sometimes, &h);
            ended(&t, 1);
        } else {
            go_on(pool, wants_it_sometimes, &h);
        }
        CHECK_EQ(filch_group_wait(&h.group, FILCH_FOREVER), 0);
        kit_destroy(pool);
    }
}

/* ---- condition ------------------------------------------------------------------------------ */

/* A box for one item: takers and givers wait for each other. */
struct box {
    filch_mutex mutex;
    filch_cond full, empty;
    int item, items;
    int64_t given, taken;
    uint32_t late;
    filch_group group;
};

static void gives(void *arg)
{
    struct box *b = arg;
    for (int i = 1; i <= b->items; i++) {
        CHECK_EQ(filch_mutex_lock(&b->mutex, FILCH_FOREVER), 0);
        while (b->item)
            CHECK_EQ(filch_cond_wait(&b->empty, &b->mutex, FILCH_FOREVER), 0);
        b->item = i;
        b->given += i;
        filch_cond_signal(&b->full);
        filch_mutex_unlock(&b->mutex);
        kit_beat();
    }
    filch_group_done(&b->group);
}

static void takes(void *arg)
{
    struct box *b = arg;
    for (int i = 0; i < b->items; i++) {
        CHECK_EQ(filch_mutex_lock(&b->mutex, FILCH_FOREVER), 0);
        while (!b->item) {
            int64_t deadline = i % 2 ? filch_clock_ns() + 20000 : FILCH_FOREVER;
            int rc = filch_cond_wait(&b->full, &b->mutex, deadline);
            CHECK(rc == 0 || (rc == -ETIMEDOUT && i % 2));
            b->late += rc != 0;
        }
        b->taken += b->item;
        b->item = 0;
        filch_mutex_unlock(&b->mutex);
        filch_cond_signal(&b->empty);
    }
    filch_group_done(&b->group);
}

static void no_signal_is_lost(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct box b = {.items = KIT_SLOW ? 100 : 2000};
        filch_group_add(&b.group, 10);
        pthread_t t[2] = {thread_of(gives, &b), thread_of(takes, &b)};
        for (int i = 0; i < 4; i++) {
            go_on(pool, gives, &b);
            go_on(pool, takes, &b);
        }
        CHECK_EQ(filch_group_wait(&b.group, FILCH_FOREVER), 0);
        CHECK_EQ(b.taken, 5 * (int64_t)b.items * (b.items + 1) / 2);
        CHECK_EQ(b.given, b.taken);
        ended(t, 2);
        filch_cond_destroy(&b.full);
        filch_cond_destroy(&b.empty);
        kit_destroy(pool);
    }
}

struct starting {
    filch_mutex mutex;
    filch_cond go;
    int waiting, started, begun;
    filch_group group;
};

static void waits_for_the_start(void *arg)
{
    struct starting *s = arg;
    CHECK_EQ(filch_mutex_lock(&s->mutex, FILCH_FOREVER), 0);
    s->waiting++;
    while (!s->begun)
        CHECK_EQ(filch_cond_wait(&s->go, &s->mutex, FILCH_FOREVER), 0);
    s->started++;
    filch_mutex_unlock(&s->mutex);
    filch_group_done(&s->group);
}

static int waiting(struct starting *s)
{
    CHECK_EQ(filch_mutex_lock(&s->mutex, FILCH_FOREVER), 0);
    int n = s->waiting;
    filch_mutex_unlock(&s->mutex);
    return n;
}

static void a_broadcast_wakes_everyone(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct starting s = {0};
        filch_group_add(&s.group, 101);
        pthread_t t = thread_of(waits_for_the_start, &s);
        for (int i = 0; i < 100; i++)
            go_on(pool, waits_for_the_start, &s);
        KIT_AWAIT(waiting(&s) == 101);
        CHECK_EQ(filch_mutex_lock(&s.mutex, FILCH_FOREVER), 0);
        s.begun = 1;
        filch_cond_broadcast(&s.go);
        filch_mutex_unlock(&s.mutex);
        CHECK_EQ(filch_group_wait(&s.group, FILCH_FOREVER), 0);
        CHECK_EQ(s.started, 101);
        ended(&t, 1);
        kit_destroy(pool);
    }
}

static void a_condition_that_timed_out_gives_the_mutex_back(void)
{
    filch_mutex m = {0};
    filch_cond c = {0};
    CHECK_EQ(filch_mutex_lock(&m, FILCH_FOREVER), 0);
    CHECK_EQ(filch_cond_wait(&c, &m, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_cond_wait(&c, &m, filch_clock_ns() + 1000), -ETIMEDOUT);
    CHECK_EQ(filch_mutex_trylock(&m), -EBUSY);
    filch_mutex_unlock(&m);
    filch_cond_signal(&c);
    filch_cond_destroy(&c);
    filch_mutex_destroy(&m);
}

int main(void)
{
    kit_watchdog();
    RUN(who_comes_first_into_an_empty_list_is_its_last_as_well);
    RUN(a_mutex_lets_in_one_at_a_time);
    RUN(a_mutex_is_usable_after_timeouts);
    RUN(who_waits_gets_the_mutex_although_others_hammer_it);
    RUN(no_signal_is_lost);
    RUN(a_broadcast_wakes_everyone);
    RUN(a_condition_that_timed_out_gives_the_mutex_back);
    return check_report();
}
