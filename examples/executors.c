/* The same tasks in three ways: on the calling thread alone, on four workers that steal from each other, and
 * as a thread for each. First tasks that do next to nothing, then tasks that wait for a millisecond, as one
 * that asks a server does: a task that waits leaves its thread to others, a thread that waits is one less. */
#define _GNU_SOURCE
#include <filch/ord.h>
#include <filch/task.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 100 }; /* threads at a time */
#define MILLISECOND ((int64_t)1000000)

static long done, at_home; /* tasks that have ended; of those, on the calling thread */
static pthread_t home;

static void count(void)
{
    filch_add_relaxed(&done, 1);
    if (pthread_equal(pthread_self(), home))
        filch_add_relaxed(&at_home, 1);
}

static void trivial(void *arg)
{
    (void)arg;
    count();
}

static void waits(void *arg)
{
    (void)arg;
    filch_sleep_ns(MILLISECOND); /* in a thread of its own it is that thread which sleeps */
    count();
}

struct load {
    void (*fn)(void *arg);
    long tasks;
};

static filch_pool *pool_of(int workers)
{
    filch_config config = FILCH_CONFIG_INIT;
    filch_pool *pool;
    config.workers = workers;
    config.no_environment = 1;
    if (filch_pool_create(&pool, &config) != 0)
        exit(1);
    return pool;
}

static int call(void *arg)
{
    ((struct load *)arg)->fn(NULL);
    return 0;
}

static void start_and_join(void *arg)
{
    struct load *l = arg;
    filch_task **task = calloc((size_t)l->tasks, sizeof *task);
    for (long i = 0; i < l->tasks; i++)
        if (task == NULL || filch_spawn(&task[i], call, l) != 0)
            exit(1);
    for (long i = 0; i < l->tasks; i++)
        filch_task_join(task[i], NULL, FILCH_FOREVER);
    free(task);
}

/* The calling thread is the only worker: what it joins it runs itself. */
static void on_this_thread(struct load *l, int workers)
{
    filch_pool *pool = pool_of(workers);
    filch_run_on(pool, start_and_join, l);
    filch_pool_destroy(pool);
}

static void start(void *arg)
{
    struct load *l = arg;
    for (long i = 0; i < l->tasks; i++)
        if (filch_go(l->fn, NULL) != 0)
            exit(1);
}

static void on_workers(struct load *l, int workers)
{
    filch_pool *pool = pool_of(workers);
    filch_run_on(pool, start, l);
    filch_pool_wait(pool, FILCH_FOREVER);
    filch_pool_destroy(pool);
}

static void *thread(void *arg)
{
    ((struct load *)arg)->fn(NULL);
    return NULL;
}

static void on_threads(struct load *l, int most)
{
    pthread_t threads[BATCH];
    for (long i = 0, n = 0; i < l->tasks; i += n) {
        for (n = 0; n < most && i + n < l->tasks; n++)
            if (pthread_create(&threads[n], NULL, thread, l) != 0)
                exit(1);
        for (long k = 0; k < n; k++)
            pthread_join(threads[k], NULL);
    }
}

/* Returns whether every task ran. */
static int measure(const char *name, void (*fn)(void *), long tasks, void (*how)(struct load *, int),
                   int most)
{
    struct load l = {fn, tasks};
    done = at_home = 0;
    int64_t begin = filch_clock_ns();
    how(&l, most);
    double seconds = (double)(filch_clock_ns() - begin) / 1e9;
    printf("  %-20s %8.0f tasks/s  %5ld of %ld on the calling thread\n", name, (double)tasks / seconds,
           at_home, done);
    return done == tasks;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 10000, few = n / 5; /* threads take too long for all */
    home = pthread_self();
    printf("%ld tasks that do nothing (%ld threads)\n", n, few);
    int good = measure("the calling thread", trivial, n, on_this_thread, 1) && at_home == n;
    good &= measure("four workers", trivial, n, on_workers, 4);
    good &= measure("a thread for each", trivial, few, on_threads, BATCH);
    printf("%ld tasks that wait for 1 ms (%ld threads, %d at a time)\n", n, few, BATCH);
    good &= measure("one worker", waits, n, on_workers, 1);
    good &= measure("four workers", waits, n, on_workers, 4);
    good &= measure("a thread for each", waits, few, on_threads, BATCH);
    return good ? 0 : 1;
}
