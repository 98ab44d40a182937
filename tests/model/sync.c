/* sync.c: models of filch/sync.h between threads outside any pool: whose words, lists and claims are
 * the same as for fibers. */
#include "mc.h"
#include "scribble.h"

#include "core/worker.h"

#include <errno.h>
#include <filch/sync.h>

static unsigned inside, data;

/* Threads that say so stand where a pool has one seat: there nobody spins before it waits. */
static filch_pool one_seat = {.count = 1};
static struct worker seat = {.pool = &one_seat};

static void do_not_spin(void)
{
    os_self_set(&seat);
}

static void *make(size_t size)
{
    void *p = os_alloc(size);
    mc_check(p != 0);
    return p;
}

static int64_t soon(void)
{
    return os_clock_ns() + 1000;
}

/* ---- mutex ----------------------------------------------------------------------------------- */

static filch_mutex *mutex;
static unsigned users; /* guarded by it: who is the last one may free it */

static void locked_section(void)
{
    mc_check(inside++ == 0);
    data++;
    mc_check(inside-- == 1);
}

static void locks_after_spinning(void *unused)
{
    (void)unused;
    mc_check(filch_mutex_lock(mutex, FILCH_FOREVER) == 0);
    locked_section();
    filch_mutex_unlock(mutex);
}

static void locks(void *unused)
{
    do_not_spin();
    locks_after_spinning(unused);
}

static void locks_if_soon(void *unused)
{
    (void)unused;
    do_not_spin();
    int rc = filch_mutex_lock(mutex, soon());
    mc_check(rc == 0 || rc == -ETIMEDOUT);
    if (rc == 0) {
        locked_section();
        filch_mutex_unlock(mutex);
    } else {
        scribble();
    }
}

static void mutex_end(void)
{
    mc_join_all();
    filch_mutex_destroy(mutex);
    os_free(mutex);
}

static void mutex_spins(void)
{
    mutex = make(sizeof *mutex);
    mc_thread(locks_after_spinning, 0);
    locks_after_spinning(0);
    mutex_end();
    mc_check(data == 2);
}
MC_MODEL(mutex_spins, .claim = "one at a time, and nobody waits for a mutex that is free",
         .preemptions = 3, .stale = 1, .spins = 2);

static void mutex_two(void)
{
    mutex = make(sizeof *mutex);
    mc_thread(locks, 0);
    locks(0);
    locks(0);
    mutex_end();
    mc_check(data == 3);
}
MC_MODEL(mutex_two, .claim = "the same without spinning", .preemptions = 3, .stale = 1);

static void mutex_three(void)
{
    mutex = make(sizeof *mutex);
    mc_thread(locks, 0);
    mc_thread(locks, 0);
    locks(0);
    mutex_end();
    mc_check(data == 3);
}
MC_MODEL(mutex_three, .claim = "the same with two who wait: each unlock wakes one, if none is awake",
         .preemptions = 2, .stale = 1, .spurious = MC_ZERO);

static void mutex_gives_up(void)
{
    mutex = make(sizeof *mutex);
    mc_thread(locks_if_soon, 0);
    mc_check(filch_mutex_lock(mutex, FILCH_FOREVER) == 0);
    if (mc_choose(2))
        os_sleep_ns(5000);
    filch_mutex_unlock(mutex);
    locks(0);
    mutex_end();
}
MC_MODEL(mutex_gives_up, .claim = "one that gives up leaves the mutex usable",
         .preemptions = 2, .stale = 1, .alarms = true, .hasty = 1);

static void mutex_one_gives_up(void)
{
    mutex = make(sizeof *mutex);
    mc_check(filch_mutex_lock(mutex, FILCH_FOREVER) == 0);
    mc_thread(locks_if_soon, 0);
    mc_thread(locks, 0);
    if (mc_choose(2))
        os_sleep_ns(5000);
    filch_mutex_unlock(mutex);
    mutex_end();
}
MC_MODEL(mutex_one_gives_up, .claim = "a wake-up is not lost on one that gives up meanwhile",
         .preemptions = 2, .stale = 1, .alarms = true, .hasty = 1);

/* Waits for long, is woken, another is faster: then the mutex is handed over. */
static void hold_for_long(void)
{
    mutex = make(sizeof *mutex);
    mc_check(filch_mutex_lock(mutex, FILCH_FOREVER) == 0);
    mc_thread(locks, 0);
}

static void mutex_starving(void)
{
    hold_for_long();
    os_sleep_ns(2000000);
    filch_mutex_unlock(mutex);
    locks(0);
    locks(0);
    mutex_end();
    mc_check(data == 3);
}
MC_MODEL(mutex_starving, .claim = "a mutex that is handed over has one holder, and is free at the end",
         .preemptions = 3, .stale = 1, .spurious = MC_ZERO, .alarms = true);

static void mutex_starving_two(void)
{
    hold_for_long();
    mc_thread(locks_if_soon, 0);
    os_sleep_ns(2000000);
    filch_mutex_unlock(mutex);
    locks(0);
    mutex_end();
}
MC_MODEL(mutex_starving_two, .claim = "the same with one that gives up meanwhile",
         .preemptions = 2, .stale = 1, .alarms = true, .hasty = 1);

static void last_frees(void *unused)
{
    (void)unused;
    do_not_spin();
    mc_check(filch_mutex_lock(mutex, FILCH_FOREVER) == 0);
    bool last = --users == 0;
    filch_mutex_unlock(mutex);
    if (last)
        os_free(mutex);
}

static void mutex_is_freed(void)
{
    mutex = make(sizeof *mutex);
    users = 3;
    mc_thread(last_frees, 0);
    mc_thread(last_frees, 0);
    last_frees(0);
    mc_join_all();
}
MC_MODEL(mutex_is_freed, .claim = "who had it last may free it: unlock does not touch it any more",
         .preemptions = 2, .stale = 1, .spurious = MC_ZERO);

/* ---- condition ------------------------------------------------------------------------------- */

static filch_mutex guard;
static filch_cond cond;

static void gives(void *unused)
{
    (void)unused;
    do_not_spin();
    mc_check(filch_mutex_lock(&guard, FILCH_FOREVER) == 0);
    data++;
    filch_mutex_unlock(&guard);
    filch_cond_signal(&cond);
}

static void takes(void *unused)
{
    (void)unused;
    do_not_spin();
    mc_check(filch_mutex_lock(&guard, FILCH_FOREVER) == 0);
    while (data == 0)
        mc_check(filch_cond_wait(&cond, &guard, FILCH_FOREVER) == 0);
    data--;
    filch_mutex_unlock(&guard);
}

static void gives_up_taking(void *unused)
{
    (void)unused;
    do_not_spin();
    mc_check(filch_mutex_lock(&guard, FILCH_FOREVER) == 0);
    int rc = data ? 0 : filch_cond_wait(&cond, &guard, soon());
    mc_check(rc == 0 || rc == -ETIMEDOUT);
    if (rc == 0 && data) { /* it took the signal: it takes what it was for */
        data--;
        filch_mutex_unlock(&guard);
        gives(0); /* and puts it back */
    } else {
        filch_mutex_unlock(&guard);
    }
}

static void cond_one(void)
{
    mc_thread(takes, 0);
    gives(0);
    mc_join_all();
    filch_cond_destroy(&cond);
    mc_check(data == 0);
}
MC_MODEL(cond_one, .claim = "no wake-up is lost between unlocking and waiting",
         .preemptions = 3, .stale = 1, .spurious = MC_ZERO);

static void cond_timeout(void)
{
    mc_thread(gives_up_taking, 0);
    mc_thread(takes, 0);
    if (mc_choose(2))
        os_sleep_ns(5000);
    gives(0);
    mc_join_all();
    filch_cond_destroy(&cond);
    mc_check(data == 0);
}
MC_MODEL(cond_timeout, .claim = "a signal that finds a wait over goes to the next one",
         .preemptions = 2, .stale = MC_ZERO, .alarms = true, .hasty = 1);

static void broadcasts(void)
{
    do_not_spin();
    mc_thread(takes, 0);
    mc_thread(takes, 0);
    mc_check(filch_mutex_lock(&guard, FILCH_FOREVER) == 0);
    data = 2;
    filch_cond_broadcast(&cond);
    filch_mutex_unlock(&guard);
    mc_join_all();
    mc_check(data == 0);
}
MC_MODEL(broadcasts, .claim = "a broadcast wakes everyone",
         .preemptions = 2, .stale = MC_ZERO, .spurious = MC_ZERO);

/* ---- semaphore ------------------------------------------------------------------------------- */

static filch_sem *sem;

static void releases(void *permits)
{
    data = 7;
    filch_sem_release(sem, (unsigned)(uintptr_t)permits);
}

static void acquires(void *unused)
{
    (void)unused;
    mc_check(filch_sem_acquire(sem, FILCH_FOREVER) == 0);
    mc_check(data == 7);
}

static void sem_make(unsigned permits)
{
    sem = make(sizeof *sem);
    filch_sem_init(sem, permits);
}

static void sem_is_freed(void)
{
    sem_make(0);
    mc_thread(releases, (void *)1);
    acquires(0);
    os_free(sem);
    mc_join_all();
}
MC_MODEL(sem_is_freed, .claim = "who got the permit sees what was written, and may free the semaphore",
         .preemptions = 3);

static void sem_two(void)
{
    sem_make(0);
    mc_thread(acquires, 0);
    mc_thread(acquires, 0);
    releases((void *)3);
    mc_join_all();
    mc_check(filch_sem_acquire(sem, FILCH_NOW) == 0);
    mc_check(filch_sem_acquire(sem, FILCH_NOW) == -ETIMEDOUT);
    os_free(sem);
}
MC_MODEL(sem_two, .claim = "everyone gets one, and what is left over is there", .preemptions = 2,
         .stale = MC_ZERO);

static unsigned got;

static void acquires_if_soon(void *unused)
{
    (void)unused;
    int rc = filch_sem_acquire(sem, soon());
    mc_check(rc == 0 || rc == -ETIMEDOUT);
    got += rc == 0;
}

static void sem_gives_up(void)
{
    sem_make(0);
    mc_thread(acquires_if_soon, 0);
    if (mc_choose(2))
        os_sleep_ns(5000);
    filch_sem_release(sem, 1);
    mc_join_all();
    mc_check(filch_sem_acquire(sem, FILCH_NOW) == (got ? -ETIMEDOUT : 0));
    filch_sem_destroy(sem);
    os_free(sem);
}
MC_MODEL(sem_gives_up, .claim = "a permit is taken, or it is still there", .preemptions = 3, .stale = 2,
         .alarms = true, .hasty = 1);

static void sem_one_gives_up(void)
{
    sem_make(0);
    mc_thread(acquires_if_soon, 0);
    mc_thread(acquires, 0);
    if (mc_choose(2))
        os_sleep_ns(5000);
    releases((void *)1);
    filch_sem_release(sem, 1);
    mc_join_all();
    mc_check(filch_sem_acquire(sem, FILCH_NOW) == (got ? -ETIMEDOUT : 0));
    os_free(sem);
}
MC_MODEL(sem_one_gives_up, .claim = "a permit does not go to one that gave up",
         .preemptions = 2, .stale = MC_ZERO, .alarms = true, .hasty = 1);

/* ---- group ----------------------------------------------------------------------------------- */

static filch_group *group;
static unsigned parts[2];

static void does_a_part(void *i)
{
    parts[(uintptr_t)i] = 7;
    filch_group_done(group);
}

static void group_make(unsigned n)
{
    group = make(sizeof *group);
    filch_group_add(group, n);
}

static void all_done(void)
{
    mc_check(parts[0] == 7 && parts[1] == 7);
}

static void group_is_freed(void)
{
    group_make(2);
    mc_thread(does_a_part, (void *)0);
    mc_thread(does_a_part, (void *)1);
    mc_check(filch_group_wait(group, FILCH_FOREVER) == 0);
    all_done();
    os_free(group);
    mc_join_all();
}
MC_MODEL(group_is_freed, .claim = "who waited sees what all have done, and may free the group",
         .preemptions = 3, .stale = 2);

static void group_gives_up(void)
{
    group_make(1);
    parts[1] = 7;
    mc_thread(does_a_part, (void *)0);
    while (filch_group_wait(group, soon()) == -ETIMEDOUT)
        ;
    all_done();
    os_free(group);
    mc_join_all();
}
MC_MODEL(group_gives_up, .claim = "one that gives up and waits again may free it as well",
         .preemptions = 3, .stale = 2, .alarms = true, .hasty = 1);

static void waits_a_little(void *unused)
{
    (void)unused;
    int rc = filch_group_wait(group, soon());
    mc_check(rc == 0 || rc == -ETIMEDOUT);
    if (rc == 0)
        all_done();
}

static void group_two_wait(void)
{
    group_make(1);
    parts[1] = 7;
    mc_thread(waits_a_little, 0);
    mc_thread(does_a_part, (void *)0);
    mc_check(filch_group_wait(group, FILCH_FOREVER) == 0);
    all_done();
    mc_join_all();
    filch_group_destroy(group);
    os_free(group);
}
MC_MODEL(group_two_wait, .claim = "the last one wakes everyone, and one that gives up leaves the others",
         .preemptions = 2, .stale = 1, .alarms = true, .hasty = 1);

static void group_again(void)
{
    group_make(1);
    parts[1] = 7;
    mc_thread(does_a_part, (void *)0);
    mc_check(filch_group_wait(group, FILCH_FOREVER) == 0);
    filch_group_add(group, 1);
    parts[1] = 0;
    mc_thread(does_a_part, (void *)1);
    mc_check(filch_group_wait(group, FILCH_FOREVER) == 0);
    all_done();
    os_free(group);
    mc_join_all();
}
MC_MODEL(group_again, .claim = "a group is used again right after the wait", .preemptions = 2,
         .stale = 2, .spurious = MC_ZERO);

/* ---- readers and writers ---------------------------------------------------------------------- */

static filch_rwlock *rwlock;
static uint32_t readers;

static void writes(void *unused)
{
    (void)unused;
    mc_check(filch_rwlock_write_lock(rwlock, FILCH_FOREVER) == 0);
    mc_check(filch_load_relaxed(&readers) == 0);
    locked_section();
    filch_rwlock_write_unlock(rwlock);
}

static void read_section(void)
{
    filch_add_relaxed(&readers, 1u);
    mc_check(inside == 0);
    filch_add_relaxed(&readers, -1u);
    filch_rwlock_read_unlock(rwlock);
}

static void reads(void *unused)
{
    (void)unused;
    mc_check(filch_rwlock_read_lock(rwlock, FILCH_FOREVER) == 0);
    read_section();
}

static void rwlock_end(void)
{
    mc_join_all();
    filch_rwlock_destroy(rwlock);
    os_free(rwlock);
}

static void rwlock_reader_writer(void)
{
    rwlock = make(sizeof *rwlock);
    mc_thread(writes, 0);
    reads(0);
    writes(0);
    rwlock_end();
    mc_check(data == 2);
}
MC_MODEL(rwlock_reader_writer, .claim = "a writer is alone, and each sees what the last one wrote",
         .preemptions = 3, .stale = 1);

static void rwlock_three(void)
{
    rwlock = make(sizeof *rwlock);
    mc_thread(writes, 0);
    mc_thread(reads, 0);
    reads(0);
    rwlock_end();
    mc_check(data == 1);
}
MC_MODEL(rwlock_three, .claim = "the same with readers together; the last one out lets the writer in",
         .preemptions = 3, .stale = MC_ZERO, .spurious = MC_ZERO);

static void rwlock_two_writers(void)
{
    rwlock = make(sizeof *rwlock);
    mc_thread(writes, 0);
    mc_thread(reads, 0);
    writes(0);
    rwlock_end();
    mc_check(data == 2);
}
MC_MODEL(rwlock_two_writers, .claim = "the same with two writers", .preemptions = 2, .stale = 1,
         .spurious = MC_ZERO);

static void writes_if_soon(void *unused)
{
    (void)unused;
    int rc = filch_rwlock_write_lock(rwlock, soon());
    mc_check(rc == 0 || rc == -ETIMEDOUT);
    if (rc != 0)
        return;
    locked_section();
    filch_rwlock_write_unlock(rwlock);
}

/* The reader inside does not leave before the other one has come: it must not wait behind a writer
 * that has given up. */
static uint32_t came;

static void reads_and_tells(void *unused)
{
    (void)unused;
    mc_check(filch_rwlock_read_lock(rwlock, FILCH_FOREVER) == 0);
    filch_store_release(&came, 1u);
    os_futex_wake(&came, 1);
    read_section();
}

static void rwlock_gives_up(void)
{
    rwlock = make(sizeof *rwlock);
    mc_check(filch_rwlock_read_lock(rwlock, FILCH_FOREVER) == 0);
    mc_thread(writes_if_soon, 0);
    mc_thread(reads_and_tells, 0);
    while (!filch_load_acquire(&came))
        (void)os_futex_wait(&came, 0, INT64_MAX);
    read_section();
    rwlock_end();
}
MC_MODEL(rwlock_gives_up, .claim = "a writer that gives up does not keep readers out",
         .preemptions = 2, .stale = 1, .alarms = true, .hasty = 1);

static void last_reader_frees(void *unused)
{
    (void)unused;
    mc_check(filch_rwlock_write_lock(rwlock, FILCH_FOREVER) == 0);
    bool last = --users == 0;
    filch_rwlock_write_unlock(rwlock);
    if (last)
        os_free(rwlock);
}

static void rwlock_is_freed(void)
{
    rwlock = make(sizeof *rwlock);
    users = 3;
    mc_thread(last_reader_frees, 0);
    mc_thread(last_reader_frees, 0);
    last_reader_frees(0);
    mc_join_all();
}
MC_MODEL(rwlock_is_freed, .claim = "who had it last may free it", .preemptions = 2, .stale = 1,
         .spurious = MC_ZERO);

/* ---- barrier, once, events --------------------------------------------------------------------- */

static filch_barrier *barrier;
static uint32_t serial;

static void comes(void *i)
{
    parts[(uintptr_t)i] = 7;
    int rc = filch_barrier_wait(barrier, FILCH_FOREVER);
    mc_check(rc == 0 || rc == 1);
    filch_add_relaxed(&serial, (uint32_t)rc);
    all_done();
}

static void barrier_round(void)
{
    barrier = make(sizeof *barrier);
    filch_barrier_init(barrier, 2);
    mc_thread(comes, (void *)0);
    comes((void *)1);
    mc_join_all();
    mc_check(serial == 1);
    os_free(barrier);
}
MC_MODEL(barrier_round, .claim = "nobody passes before all have come; one of them is told so",
         .preemptions = 3);

static void comes_if_soon(void *unused)
{
    (void)unused;
    int rc = filch_barrier_wait(barrier, soon());
    mc_check(rc == 0 || rc == 1 || rc == -ETIMEDOUT);
    filch_add_relaxed(&serial, rc >= 0 ? 1u : 0u);
}

static void barrier_gives_up(void)
{
    barrier = make(sizeof *barrier);
    filch_barrier_init(barrier, 2);
    mc_thread(comes_if_soon, 0);
    comes_if_soon(0);
    mc_join_all();
    mc_check(serial == 0 || serial == 2);
    filch_barrier_destroy(barrier);
    os_free(barrier);
}
MC_MODEL(barrier_gives_up, .claim = "both have come or neither", .preemptions = 3, .stale = 2,
         .alarms = true, .hasty = 1);

static filch_once once;

static void makes(void *unused)
{
    (void)unused;
    data++;
}

static void needs_it(void *unused)
{
    (void)unused;
    filch_once_run(&once, makes, 0);
    mc_check(data == 1);
}

static void once_three(void)
{
    mc_thread(needs_it, 0);
    mc_thread(needs_it, 0);
    needs_it(0);
    mc_join_all();
}
MC_MODEL(once_three, .claim = "it runs once, and nobody goes on before it has", .preemptions = 2,
         .stale = 1);

static filch_event ping, pong;

static void answers(void *unused)
{
    (void)unused;
    for (int i = 1; i <= 2; i++) {
        while (filch_event_wait_until(&ping, soon()) != 0)
            ;
        mc_check(data == (unsigned)i);
        filch_event_reset(&ping);
        filch_event_set(&pong);
    }
}

static void event_again(void)
{
    mc_thread(answers, 0);
    for (int i = 1; i <= 2; i++) {
        data = (unsigned)i;
        filch_event_set(&ping);
        filch_event_wait(&pong);
        filch_event_reset(&pong);
    }
    mc_join_all();
}
MC_MODEL(event_again, .claim = "an event that was reset is waited for again, whoever was woken before",
         .preemptions = 2, .stale = MC_ZERO, .spins = MC_ZERO, .alarms = true, .hasty = 1);
