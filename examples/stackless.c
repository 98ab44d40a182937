/* Stackless tasks: two workers share a hundred small state machines. Each is polled, asks to be woken, is
 * polled again, and notes which thread ran it. */
#include <filch/async.h>
#include <stdint.h>
#include <stdio.h>

enum { WORKERS = 2, TASKS = 100, STEPS = 20 };

struct machine {
    filch_async task;
    int step;
    int polls_by[WORKERS];
    double x;
};

static double work(double x)
{
    for (int i = 0; i < 2000; i++)
        x = x * 0.5 + 1.0 / (1.0 + x);
    return x;
}

/* A step at a time. Between two steps the task is nowhere but in its own 104 bytes. */
static enum filch_poll step(filch_async *self, void *arg)
{
    struct machine *m = arg;
    m->polls_by[filch_worker_id()]++;
    m->x = work(m->x);
    if (++m->step == STEPS)
        return FILCH_READY;
    if (m->step == STEPS / 2)
        filch_wake_at(self, filch_after_ns(100000)); /* half-way: rest for 0.1 ms */
    else
        filch_wake(self); /* the others first, then again */
    return FILCH_PENDING;
}

int main(void)
{
    static struct machine machines[TASKS];
    long polls[WORKERS] = {0, 0}, finished = 0;
    filch_config config = FILCH_CONFIG_INIT;
    filch_pool *pool;
    config.workers = WORKERS;
    config.no_environment = 1;
    if (filch_pool_create(&pool, &config) != 0)
        return 1;
    for (int round = 0; round < 1000 && (polls[0] == 0 || polls[1] == 0); round++) {
        for (int i = 0; i < TASKS; i++) {
            machines[i] = (struct machine){.step = 0};
            filch_async_init(&machines[i].task, step, &machines[i]);
            if (filch_async_start(&machines[i].task, pool) != 0)
                return 1;
        }
        finished = 0;
        for (int i = 0; i < TASKS; i++) {
            finished += filch_async_wait(&machines[i].task, FILCH_FOREVER) == 0;
            for (int w = 0; w < WORKERS; w++)
                polls[w] += machines[i].polls_by[w];
        }
    } /* once is enough, unless the machine has time for one thread only */
    for (int w = 0; w < WORKERS; w++)
        printf("worker %d polled %ld times\n", w, polls[w]);
    printf("%ld of %d tasks finished\n", finished, TASKS);
    filch_pool_destroy(pool);
    return finished == TASKS && polls[0] > 0 && polls[1] > 0 ? 0 : 1;
}
