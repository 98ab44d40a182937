/* misuse/sync.h: rows about filch/sync.h. */
#include <filch/sync.h>
#include <filch/task.h>

static filch_mutex mutex;
static filch_rwlock rwlock;
static filch_cond cond;
static filch_sem sem;
static filch_barrier barrier;
static filch_group group;
static filch_once once;
static filch_event event;

static void lock_mutex(void) { CHECK_EQ(filch_mutex_lock(&mutex, FILCH_FOREVER), 0); }
static void mutex_lock_null(void) { (void)filch_mutex_lock(0, FILCH_NOW); }
static void mutex_lock_twice(void) { lock_mutex(), lock_mutex(); }
static int locks_twice(void *arg) { return (void)arg, mutex_lock_twice(), 0; }
static void mutex_lock_twice_in_a_task(void)
{
    filch_task *t;
    CHECK_EQ(filch_spawn(&t, locks_twice, 0), 0);
    (void)filch_task_join(t, 0, FILCH_FOREVER);
}
static void mutex_trylock_null(void) { (void)filch_mutex_trylock(0); }
static void mutex_unlock_null(void) { filch_mutex_unlock(0); }
static void mutex_unlock_free(void) { filch_mutex_unlock(&mutex); }
static void mutex_unlock_twice(void) { lock_mutex(), filch_mutex_unlock(&mutex), filch_mutex_unlock(&mutex); }
static void mutex_destroy_null(void) { filch_mutex_destroy(0); }
static void mutex_destroy_locked(void) { lock_mutex(), filch_mutex_destroy(&mutex); }
static void mutex_answers(void)
{
    lock_mutex();
    CHECK_EQ(filch_mutex_trylock(&mutex), -EBUSY);
    CHECK_EQ(filch_mutex_lock(&mutex, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_mutex_lock(&mutex, INT64_MIN), -ETIMEDOUT);
    filch_mutex_unlock(&mutex);
    CHECK_EQ(filch_mutex_lock(&mutex, INT64_MIN), 0); /* it is free: no time is needed */
    filch_mutex_unlock(&mutex);
    filch_mutex_destroy(&mutex);
}

static void rwlock_read_null(void) { (void)filch_rwlock_read_lock(0, FILCH_NOW); }
static void rwlock_write_null(void) { (void)filch_rwlock_write_lock(0, FILCH_NOW); }
static void rwlock_read_unlock_null(void) { filch_rwlock_read_unlock(0); }
static void rwlock_write_unlock_null(void) { filch_rwlock_write_unlock(0); }
static void lock_write(void) { CHECK_EQ(filch_rwlock_write_lock(&rwlock, FILCH_FOREVER), 0); }
static void rwlock_read_unlock_free(void) { filch_rwlock_read_unlock(&rwlock); }
static void rwlock_read_unlock_writer(void) { lock_write(), filch_rwlock_read_unlock(&rwlock); }
static void rwlock_write_unlock_reader(void)
{
    CHECK_EQ(filch_rwlock_read_lock(&rwlock, FILCH_FOREVER), 0);
    filch_rwlock_write_unlock(&rwlock);
}
static void rwlock_destroy_null(void) { filch_rwlock_destroy(0); }
static void rwlock_destroy_locked(void) { lock_write(), filch_rwlock_destroy(&rwlock); }
static void rwlock_answers(void)
{
    lock_write();
    CHECK_EQ(filch_rwlock_write_lock(&rwlock, FILCH_NOW), -ETIMEDOUT);
    CHECK_EQ(filch_rwlock_read_lock(&rwlock, INT64_MIN), -ETIMEDOUT);
    filch_rwlock_write_unlock(&rwlock);
    CHECK_EQ(filch_rwlock_read_lock(&rwlock, FILCH_NOW), 0);
    filch_rwlock_read_unlock(&rwlock);
    filch_rwlock_destroy(&rwlock);
}

static void cond_wait_null(void) { lock_mutex(), (void)filch_cond_wait(0, &mutex, FILCH_NOW); }
static void cond_wait_no_mutex(void) { (void)filch_cond_wait(&cond, 0, FILCH_NOW); }
static void cond_wait_unlocked(void) { (void)filch_cond_wait(&cond, &mutex, FILCH_NOW); }
static void cond_signal_null(void) { filch_cond_signal(0); }
static void cond_broadcast_null(void) { filch_cond_broadcast(0); }
static void cond_destroy_null(void) { filch_cond_destroy(0); }
static void waits_for_cond(void *arg)
{
    (void)arg;
    lock_mutex();
    (void)filch_cond_wait(&cond, &mutex, FILCH_FOREVER);
}
static void cond_destroy_waited(void)
{
    CHECK_EQ(filch_go(waits_for_cond, 0), 0);
    for (;;) { /* until it waits */
        filch_sleep_ns(1000);
        filch_cond_destroy(&cond);
    }
}
static void cond_answers(void)
{
    filch_cond_signal(&cond), filch_cond_broadcast(&cond);
    lock_mutex();
    CHECK_EQ(filch_cond_wait(&cond, &mutex, INT64_MIN), -ETIMEDOUT);
    filch_mutex_unlock(&mutex);
    filch_cond_destroy(&cond);
}

static void sem_init_null(void) { filch_sem_init(0, 1); }
static void sem_init_many(void) { filch_sem_init(&sem, UINT_MAX); }
static void sem_acquire_null(void) { (void)filch_sem_acquire(0, FILCH_NOW); }
static void sem_release_null(void) { filch_sem_release(0, 1); }
static void sem_release_many(void) { filch_sem_init(&sem, 1), filch_sem_release(&sem, FILCH_SEM_MAX); }
static void sem_release_huge(void) { filch_sem_init(&sem, 0), filch_sem_release(&sem, UINT_MAX); }
static void sem_destroy_null(void) { filch_sem_destroy(0); }
static void acquires(void *arg) { (void)arg, (void)filch_sem_acquire(&sem, FILCH_FOREVER); }
static void sem_destroy_waited(void)
{
    CHECK_EQ(filch_go(acquires, 0), 0);
    for (;;)
        filch_sleep_ns(1000), filch_sem_destroy(&sem);
}
static void sem_answers(void)
{
    filch_sem_init(&sem, FILCH_SEM_MAX);
    filch_sem_release(&sem, 0);
    CHECK_EQ(filch_sem_acquire(&sem, FILCH_NOW), 0);
    filch_sem_release(&sem, 1);
    filch_sem_destroy(&sem);
    filch_sem_init(&sem, 0);
    CHECK_EQ(filch_sem_acquire(&sem, INT64_MIN), -ETIMEDOUT);
}

static void barrier_init_null(void) { filch_barrier_init(0, 1); }
static void barrier_init_nobody(void) { filch_barrier_init(&barrier, 0); }
static void barrier_wait_null(void) { (void)filch_barrier_wait(0, FILCH_NOW); }
static void barrier_wait_zero(void) { (void)filch_barrier_wait(&barrier, FILCH_NOW); }
static void barrier_destroy_null(void) { filch_barrier_destroy(0); }
static void comes(void *arg) { (void)arg, (void)filch_barrier_wait(&barrier, FILCH_FOREVER); }
static void barrier_destroy_waited(void)
{
    filch_barrier_init(&barrier, 2);
    CHECK_EQ(filch_go(comes, 0), 0);
    for (;;)
        filch_sleep_ns(1000), filch_barrier_destroy(&barrier);
}
static void barrier_answers(void)
{
    filch_barrier_init(&barrier, UINT_MAX);
    CHECK_EQ(filch_barrier_wait(&barrier, INT64_MIN), -ETIMEDOUT);
    filch_barrier_destroy(&barrier);
}

static void group_add_null(void) { filch_group_add(0, 1); }
static void group_add_many(void) { filch_group_add(&group, 1), filch_group_add(&group, FILCH_GROUP_MAX); }
static void group_add_huge(void) { filch_group_add(&group, UINT_MAX); }
static void group_done_null(void) { filch_group_done(0); }
static void group_done_below(void)
{
    filch_group_add(&group, 1);
    filch_group_done(&group), filch_group_done(&group);
}
static void group_wait_null(void) { (void)filch_group_wait(0, FILCH_NOW); }
static void group_destroy_null(void) { filch_group_destroy(0); }
static void group_destroy_undone(void) { filch_group_add(&group, 1), filch_group_destroy(&group); }
static void group_answers(void)
{
    filch_group_add(&group, 0);
    filch_group_add(&group, FILCH_GROUP_MAX);
    CHECK_EQ(filch_group_wait(&group, INT64_MIN), -ETIMEDOUT);
    filch_group_done(&group);
}

static void once_null(void) { filch_once_run(0, nothing, 0); }
static void once_null_fn(void) { filch_once_run(&once, 0, 0); }
static void runs_itself(void *arg) { filch_once_run(&once, runs_itself, arg); }
static void once_within(void) { filch_once_run(&once, runs_itself, 0); }

static void event_until_null(void) { (void)filch_event_wait_until(0, FILCH_NOW); }
static void event_reset_null(void) { filch_event_reset(0); }
static void event_until_answers(void)
{
    CHECK_EQ(filch_event_wait_until(&event, INT64_MIN), -ETIMEDOUT);
    filch_event_reset(&event);
    filch_event_set(&event), filch_event_reset(&event);
    CHECK_EQ(filch_event_wait_until(&event, FILCH_NOW), -ETIMEDOUT);
}

#define ROWS_SYNC                                                                                 \
    SAYS("filch_mutex_lock", mutex_lock_null, "null"),                                            \
    SAYS("filch_mutex_lock", mutex_lock_twice, "already"),                                        \
    SAYS("filch_mutex_lock", mutex_lock_twice_in_a_task, "already"),                              \
    SAYS("filch_mutex_trylock", mutex_trylock_null, "null"),                                      \
    SAYS("filch_mutex_unlock", mutex_unlock_null, "null"),                                        \
    SAYS("filch_mutex_unlock", mutex_unlock_free, "not locked"),                                  \
    SAYS("filch_mutex_unlock", mutex_unlock_twice, "not locked"),                                 \
    SAYS("filch_mutex_destroy", mutex_destroy_null, "null"),                                      \
    SAYS("filch_mutex_destroy", mutex_destroy_locked, "locked"),                                  \
    ANSWERS("filch_mutex_lock filch_mutex_trylock", mutex_answers),                               \
    SAYS("filch_rwlock_read_lock", rwlock_read_null, "null"),                                     \
    SAYS("filch_rwlock_write_lock", rwlock_write_null, "null"),                                   \
    SAYS("filch_rwlock_read_unlock", rwlock_read_unlock_null, "null"),                            \
    SAYS("filch_rwlock_write_unlock", rwlock_write_unlock_null, "null"),                          \
    SAYS("filch_rwlock_read_unlock", rwlock_read_unlock_free, "not locked"),                      \
    SAYS("filch_rwlock_read_unlock", rwlock_read_unlock_writer, "not locked"),                    \
    SAYS("filch_rwlock_write_unlock", rwlock_write_unlock_reader, "not locked"),                  \
    SAYS("filch_rwlock_destroy", rwlock_destroy_null, "null"),                                    \
    SAYS("filch_rwlock_destroy", rwlock_destroy_locked, "locked"),                                \
    ANSWERS("filch_rwlock_read_lock filch_rwlock_write_lock", rwlock_answers),                    \
    SAYS("filch_cond_wait", cond_wait_null, "null"),                                              \
    SAYS("filch_cond_wait", cond_wait_no_mutex, "null"),                                          \
    SAYS("filch_cond_wait", cond_wait_unlocked, "not locked"),                                    \
    SAYS("filch_cond_signal", cond_signal_null, "null"),                                          \
    SAYS("filch_cond_broadcast", cond_broadcast_null, "null"),                                    \
    SAYS("filch_cond_destroy", cond_destroy_null, "null"),                                        \
    SAYS("filch_cond_destroy", cond_destroy_waited, "waits"),                                     \
    ANSWERS("filch_cond_wait filch_cond_signal filch_cond_broadcast", cond_answers),              \
    SAYS("filch_sem_init", sem_init_null, "null"),                                                \
    SAYS("filch_sem_init", sem_init_many, "FILCH_SEM_MAX"),                                       \
    SAYS("filch_sem_acquire", sem_acquire_null, "null"),                                          \
    SAYS("filch_sem_release", sem_release_null, "null"),                                          \
    SAYS("filch_sem_release", sem_release_many, "FILCH_SEM_MAX"),                                 \
    SAYS("filch_sem_release", sem_release_huge, "FILCH_SEM_MAX"),                                 \
    SAYS("filch_sem_destroy", sem_destroy_null, "null"),                                          \
    SAYS("filch_sem_destroy", sem_destroy_waited, "waits"),                                       \
    ANSWERS("filch_sem_acquire filch_sem_release", sem_answers),                                  \
    SAYS("filch_barrier_init", barrier_init_null, "null"),                                        \
    SAYS("filch_barrier_init", barrier_init_nobody, "nobody"),                                    \
    SAYS("filch_barrier_wait", barrier_wait_null, "not a barrier"),                               \
    SAYS("filch_barrier_wait", barrier_wait_zero, "filch_barrier_init"),                          \
    SAYS("filch_barrier_destroy", barrier_destroy_null, "not a barrier"),                         \
    SAYS("filch_barrier_destroy", barrier_destroy_waited, "waits"),                               \
    ANSWERS("filch_barrier_wait", barrier_answers),                                               \
    SAYS("filch_group_add", group_add_null, "null"),                                              \
    SAYS("filch_group_add", group_add_many, "FILCH_GROUP_MAX"),                                   \
    SAYS("filch_group_add", group_add_huge, "FILCH_GROUP_MAX"),                                   \
    SAYS("filch_group_done", group_done_null, "null"),                                            \
    SAYS("filch_group_done", group_done_below, "more were done"),                                 \
    SAYS("filch_group_wait", group_wait_null, "null"),                                            \
    SAYS("filch_group_destroy", group_destroy_null, "null"),                                      \
    SAYS("filch_group_destroy", group_destroy_undone, "not all is done"),                         \
    ANSWERS("filch_group_add filch_group_wait", group_answers),                                   \
    SAYS("filch_once_run", once_null, "null"),                                                    \
    SAYS("filch_once_run", once_null_fn, "null"),                                                 \
    SAYS("filch_once_run", once_within, "called by the function"),                                \
    SAYS("filch_event_wait_until", event_until_null, "null"),                                     \
    SAYS("filch_event_reset", event_reset_null, "null"),                                          \
    ANSWERS("filch_event_wait_until filch_event_reset", event_until_answers),
