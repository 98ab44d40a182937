/* test_sync_count.c: rwlock, semaphore, barrier, group, once and events of filch/sync.h. */
#include "sync_kit.h"

/* ---- readers and writers --------------------------------------------------------------------- */

struct shelf {
    filch_rwlock rwlock;
    filch_group group;
    int64_t a, b; /* equal outside writers */
    int rounds;
    uint32_t stop;
};

static void reads(void *arg)
{
    struct shelf *s = arg;
    for (int i = 0; i < s->rounds; i++) {
        CHECK_EQ(filch_rwlock_read_lock(&s->rwlock, FILCH_FOREVER), 0);
        int64_t a = s->a;
        if (i % 32 == 0)
            filch_yield();
        CHECK_EQ(s->b, a);
        filch_rwlock_read_unlock(&s->rwlock);
    }
    kit_beat();
    filch_group_done(&s->group);
}

static void writes(void *arg)
{
    struct shelf *s = arg;
    for (int i = 0; i < s->rounds; i++) {
        CHECK_EQ(filch_rwlock_write_lock(&s->rwlock, FILCH_FOREVER), 0);
        s->a++;
        if (i % 32 == 0)
            filch_yield();
        s->b++;
        filch_rwlock_write_unlock(&s->rwlock);
    }
    kit_beat();
    filch_group_done(&s->group);
}

/* Gives up now and then, and never leaves the lock behind. */
static void writes_if_soon(void *arg)
{
    struct shelf *s = arg;
    for (int i = 0; i < s->rounds; i++) {
        int64_t soon = i % 2 ? FILCH_NOW : filch_clock_ns() + 5000;
        if (filch_rwlock_write_lock(&s->rwlock, soon) == 0) {
            CHECK_EQ(s->a, s->b);
            filch_rwlock_write_unlock(&s->rwlock);
        }
        if (filch_rwlock_read_lock(&s->rwlock, soon) == 0) {
            CHECK_EQ(s->a, s->b);
            filch_rwlock_read_unlock(&s->rwlock);
        }
    }
    kit_beat();
    filch_group_done(&s->group);
}

static void readers_see_nothing_half_written(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct shelf s = {.rounds = KIT_SLOW ? 100 : 2000};
        filch_group_add(&s.group, 15);
        pthread_t t[3] = {thread_of(reads, &s), thread_of(writes, &s), thread_of(writes_if_soon, &s)};
        for (int i = 0; i < 12; i++)
            go_on(pool, i % 4 == 0 ? writes : i % 4 == 1 ? writes_if_soon : reads, &s);
        CHECK_EQ(filch_group_wait(&s.group, FILCH_FOREVER), 0);
        CHECK_EQ(s.a, 4 * s.rounds);
        CHECK_EQ(s.b, s.a);
        ended(t, 3);
        filch_rwlock_destroy(&s.rwlock);
        kit_destroy(pool);
    }
}

static void reads_without_end(void *arg)
{
    struct shelf *s = arg;
    while (!kit_raised(&s->stop)) {
        CHECK_EQ(filch_rwlock_read_lock(&s->rwlock, FILCH_FOREVER), 0);
        filch_yield(); /* with it: there is always a reader inside */
        filch_rwlock_read_unlock(&s->rwlock);
    }
    filch_group_done(&s->group);
}

static void writes_without_end(void *arg)
{
    struct shelf *s = arg;
    while (!kit_raised(&s->stop)) {
        CHECK_EQ(filch_rwlock_write_lock(&s->rwlock, FILCH_FOREVER), 0);
        filch_yield();
        filch_rwlock_write_unlock(&s->rwlock);
    }
    filch_group_done(&s->group);
}

static void then_stops(void *arg, void (*once)(void *))
{
    struct shelf *s = arg;
    once(s);
    kit_raise(&s->stop);
}

static void writes_then_stops(void *arg)
{
    then_stops(arg, writes);
}

static void reads_then_stops(void *arg)
{
    then_stops(arg, reads);
}

static void neither_readers_nor_writers_starve(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        for (int reader = 0; reader < 2; reader++) {
            filch_pool *pool = kit_pool(workers);
            struct shelf s = {.rounds = 20};
            filch_group_add(&s.group, 5);
            for (int i = 0; i < 4; i++)
                go_on(pool, reader ? writes_without_end : reads_without_end, &s);
            go_on(pool, reader ? reads_then_stops : writes_then_stops, &s);
            CHECK_EQ(filch_group_wait(&s.group, FILCH_FOREVER), 0);
            CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0); /* `stop` is raised after the last done */
            kit_destroy(pool);
        }
    }
}

static void reads_once(void *arg)
{
    struct shelf *s = arg;
    CHECK_EQ(filch_rwlock_read_lock(&s->rwlock, FILCH_FOREVER), 0);
    kit_raise(&s->stop);
    filch_rwlock_read_unlock(&s->rwlock);
    filch_group_done(&s->group);
}

static void gives_up_writing(void *arg)
{
    struct shelf *s = arg;
    CHECK_EQ(filch_rwlock_write_lock(&s->rwlock, filch_clock_ns() + 5000000), -ETIMEDOUT);
    filch_group_done(&s->group);
}

static void a_writer_that_gives_up_lets_readers_in_behind_it(void)
{
    struct shelf s = {0};
    filch_group_add(&s.group, 2);
    CHECK_EQ(filch_rwlock_read_lock(&s.rwlock, FILCH_FOREVER), 0);
    pthread_t t[2];
    t[0] = thread_of(gives_up_writing, &s);
    t[1] = thread_of(reads_once, &s);
    KIT_AWAIT(kit_raised(&s.stop)); /* although we still read */
    CHECK_EQ(filch_group_wait(&s.group, FILCH_FOREVER), 0);
    filch_rwlock_read_unlock(&s.rwlock);
    ended(t, 2);
    filch_rwlock_destroy(&s.rwlock);
}

/* ---- semaphore ------------------------------------------------------------------------------- */

struct permits {
    filch_sem sem, back;
    filch_group group;
    int rounds;
    uint32_t inside, late;
};

static void uses_a_permit(void *arg)
{
    struct permits *p = arg;
    for (int i = 0; i < p->rounds; i++) {
        int64_t deadline = i % 4 ? FILCH_FOREVER : filch_clock_ns() + 2000;
        if (filch_sem_acquire(&p->sem, deadline) != 0)
            continue;
        CHECK(filch_add_acq_rel(&p->inside, 1u) < 3);
        if (i % 16 == 0)
            filch_yield();
        filch_sub_acq_rel(&p->inside, 1u);
        filch_sem_release(&p->sem, 1);
    }
    kit_beat();
    filch_group_done(&p->group);
}

static void no_more_come_in_than_there_are_permits(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct permits p = {.rounds = KIT_SLOW ? 100 : 3000};
        filch_sem_init(&p.sem, 3);
        filch_group_add(&p.group, 14);
        pthread_t t[2] = {thread_of(uses_a_permit, &p), thread_of(uses_a_permit, &p)};
        for (int i = 0; i < 12; i++)
            go_on(pool, uses_a_permit, &p);
        CHECK_EQ(filch_group_wait(&p.group, FILCH_FOREVER), 0);
        for (int i = 0; i < 3; i++)
            CHECK_EQ(filch_sem_acquire(&p.sem, FILCH_NOW), 0); /* all three are back */
        CHECK_EQ(filch_sem_acquire(&p.sem, FILCH_NOW), -ETIMEDOUT);
        CHECK_EQ(filch_sem_acquire(&p.sem, filch_clock_ns() + 1000), -ETIMEDOUT);
        ended(t, 2);
        filch_sem_destroy(&p.sem);
        kit_destroy(pool);
    }
}

static void takes_and_answers(void *arg)
{
    struct permits *p = arg;
    CHECK_EQ(filch_sem_acquire(&p->sem, FILCH_FOREVER), 0);
    filch_sem_release(&p->back, 1);
}

static void permits_released_at_once_reach_everyone(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct permits p = {0};
        filch_sem_init(&p.sem, 0);
        filch_sem_init(&p.back, 0);
        for (int i = 0; i < 200; i++)
            go_on(pool, takes_and_answers, &p);
        filch_sem_release(&p.sem, 150);
        for (int i = 0; i < 150; i++)
            CHECK_EQ(filch_sem_acquire(&p.back, FILCH_FOREVER), 0);
        filch_sem_release(&p.sem, 60);
        for (int i = 0; i < 50; i++)
            CHECK_EQ(filch_sem_acquire(&p.back, FILCH_FOREVER), 0);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        for (int i = 0; i < 10; i++)
            CHECK_EQ(filch_sem_acquire(&p.sem, FILCH_NOW), 0);
        CHECK_EQ(filch_sem_acquire(&p.sem, FILCH_NOW), -ETIMEDOUT);
        kit_destroy(pool);
    }
}

/* ---- barrier --------------------------------------------------------------------------------- */

enum { COMING = 9, ROUNDS = 200 };

struct meeting {
    filch_barrier barrier;
    filch_group group;
    uint32_t arrived[ROUNDS], first[ROUNDS];
};

static void comes_each_round(void *arg)
{
    struct meeting *m = arg;
    for (int i = 0; i < ROUNDS; i++) {
        filch_add_relaxed(&m->arrived[i], 1u);
        int rc = filch_barrier_wait(&m->barrier, FILCH_FOREVER);
        CHECK(rc == 0 || rc == 1);
        filch_add_relaxed(&m->first[i], (uint32_t)rc);
        CHECK_EQ(filch_load_relaxed(&m->arrived[i]), COMING);
        kit_beat();
    }
    filch_group_done(&m->group);
}

static void nobody_passes_a_barrier_before_all_have_come(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct meeting m = {0};
        filch_barrier_init(&m.barrier, COMING);
        filch_group_add(&m.group, COMING);
        pthread_t t[2] = {thread_of(comes_each_round, &m), thread_of(comes_each_round, &m)};
        for (int i = 2; i < COMING; i++)
            go_on(pool, comes_each_round, &m);
        CHECK_EQ(filch_group_wait(&m.group, FILCH_FOREVER), 0);
        for (int i = 0; i < ROUNDS; i++)
            CHECK_EQ(m.first[i], 1);
        ended(t, 2);
        filch_barrier_destroy(&m.barrier);
        kit_destroy(pool);
    }
}

static void who_gave_up_at_a_barrier_has_not_come(void)
{
    filch_barrier b;
    filch_barrier_init(&b, 2);
    CHECK_EQ(filch_barrier_wait(&b, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_barrier_wait(&b, filch_clock_ns() + 1000), -ETIMEDOUT);
    CHECK_EQ(filch_barrier_wait(&b, filch_clock_ns() + 1000), -ETIMEDOUT);
    filch_barrier_destroy(&b);
    filch_barrier_init(&b, 1);
    CHECK_EQ(filch_barrier_wait(&b, FILCH_NOW), 1);
    CHECK_EQ(filch_barrier_wait(&b, FILCH_FOREVER), 1);
}

/* ---- group ----------------------------------------------------------------------------------- */

static void is_done(void *group)
{
    filch_group_done(group);
}

static void waits_for_all(void *arg)
{
    filch_pool *pool = arg;
    for (int round = 0; round < (KIT_SLOW ? 20 : 200); round++) {
        filch_group g = {0}; /* on the stack: nobody touches it after the wait */
        int64_t deadline = round % 3 ? FILCH_FOREVER : filch_clock_ns() + 20000;
        filch_group_add(&g, 10);
        for (int i = 0; i < 10; i++)
            go_on(pool, is_done, &g);
        while (filch_group_wait(&g, deadline) != 0)
            deadline = filch_clock_ns() + 20000;
        filch_group_destroy(&g);
        memset(&g, 0xff, sizeof g);
        kit_beat();
    }
}

static void a_group_may_be_freed_after_the_wait(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        pthread_t t = thread_of(waits_for_all, pool);
        for (int i = 0; i < 10; i++)
            go_on(pool, waits_for_all, pool);
        waits_for_all(pool);
        ended(&t, 1);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0); /* they start tasks of it */
        kit_destroy(pool);
    }
}

struct reused {
    filch_pool *pool;
    filch_group group, waiters;
};

static void waits_too(void *arg)
{
    struct reused *r = arg;
    CHECK_EQ(filch_group_wait(&r->group, FILCH_FOREVER), 0);
    filch_group_done(&r->waiters);
}

static void a_group_is_used_again(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        struct reused r = {.pool = kit_pool(workers)};
        for (unsigned round = 1; round < 100; round++) {
            filch_group_add(&r.group, round);
            filch_group_add(&r.waiters, 5);
            for (int i = 0; i < 5; i++)
                go_on(r.pool, waits_too, &r);
            for (unsigned i = 0; i < round; i++)
                go_on(r.pool, is_done, &r.group);
            CHECK_EQ(filch_group_wait(&r.group, FILCH_FOREVER), 0);
            CHECK_EQ(filch_group_wait(&r.waiters, FILCH_FOREVER), 0);
            kit_beat();
        }
        kit_destroy(r.pool);
    }
}

static void a_group_at_zero_does_not_wait(void)
{
    filch_group g = {0};
    CHECK_EQ(filch_group_wait(&g, FILCH_NOW), 0);
    CHECK_EQ(filch_group_wait(&g, FILCH_FOREVER), 0);
    filch_group_add(&g, 1);
    CHECK_EQ(filch_group_wait(&g, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_group_wait(&g, filch_clock_ns() + 1000), -ETIMEDOUT);
    filch_group_done(&g);
    filch_group_destroy(&g);
}

/* ---- once ------------------------------------------------------------------------------------ */

struct first {
    filch_once once;
    filch_group group;
    int made;
};

static void makes(void *arg)
{
    struct first *f = arg;
    filch_yield();
    filch_sleep_ns(100000);
    f->made++;
}

static void needs_it(void *arg)
{
    struct first *f = arg;
    filch_once_run(&f->once, makes, f);
    CHECK_EQ(f->made, 1);
    filch_group_done(&f->group);
}

static void once_runs_once_and_the_others_wait(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct first f = {0};
        filch_group_add(&f.group, 102);
        pthread_t t[2] = {thread_of(needs_it, &f), thread_of(needs_it, &f)};
        for (int i = 0; i < 100; i++)
            go_on(pool, needs_it, &f);
        CHECK_EQ(filch_group_wait(&f.group, FILCH_FOREVER), 0);
        CHECK_EQ(f.made, 1);
        ended(t, 2);
        kit_destroy(pool);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

static void an_event_is_waited_for_with_a_deadline(void)
{
    filch_event e = {0};
    CHECK_EQ(filch_event_wait_until(&e, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_event_wait_until(&e, filch_clock_ns() + 1000), -ETIMEDOUT);
    filch_event_set(&e);
    CHECK_EQ(filch_event_wait_until(&e, FILCH_NOW), 0);
    CHECK_EQ(filch_event_wait_until(&e, FILCH_FOREVER), 0);
}

struct doors {
    filch_event ping, pong;
    int rounds;
    filch_group group;
};

static void answers(void *arg)
{
    struct doors *d = arg;
    for (int i = 0; i < d->rounds; i++) {
        while (filch_event_wait_until(&d->ping, filch_clock_ns() + 1000000) != 0)
            kit_beat();
        filch_event_reset(&d->ping);
        filch_event_set(&d->pong);
    }
    filch_group_done(&d->group);
}

static void asks(void *arg)
{
    struct doors *d = arg;
    for (int i = 0; i < d->rounds; i++) {
        filch_event_set(&d->ping);
        CHECK_EQ(filch_event_wait_until(&d->pong, FILCH_FOREVER), 0);
        filch_event_reset(&d->pong);
        kit_beat();
    }
    filch_group_done(&d->group);
}

static void an_event_is_used_again_after_a_reset(void)
{
    for (int workers = 1; workers <= 4; workers++) {
        filch_pool *pool = kit_pool(workers);
        struct doors d = {.rounds = KIT_SLOW ? 50 : 1000};
        filch_group_add(&d.group, 2);
        pthread_t t;
        if (workers == 3)
            t = thread_of(answers, &d);
        else
            go_on(pool, answers, &d);
        go_on(pool, asks, &d);
        CHECK_EQ(filch_group_wait(&d.group, FILCH_FOREVER), 0);
        if (workers == 3)
            ended(&t, 1);
        CHECK(!filch_event_is_set(&d.ping) && !filch_event_is_set(&d.pong));
        kit_destroy(pool);
    }
}

int main(void)
{
    kit_watchdog();
    RUN(readers_see_nothing_half_written);
    RUN(neither_readers_nor_writers_starve);
    RUN(a_writer_that_gives_up_lets_readers_in_behind_it);
    RUN(no_more_come_in_than_there_are_permits);
    RUN(permits_released_at_once_reach_everyone);
    RUN(nobody_passes_a_barrier_before_all_have_come);
    RUN(who_gave_up_at_a_barrier_has_not_come);
    RUN(a_group_may_be_freed_after_the_wait);
    RUN(a_group_is_used_again);
    RUN(a_group_at_zero_does_not_wait);
    RUN(once_runs_once_and_the_others_wait);
    RUN(an_event_is_waited_for_with_a_deadline);
    RUN(an_event_is_used_again_after_a_reset);
    return check_report();
}
