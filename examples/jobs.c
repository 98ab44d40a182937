/* A pool of one's own, jobs in one's own storage, and a wait for all of them. */
#include <filch.h>
#include <stdio.h>

struct square {
    filch_job job;
    long n, result;
};

static void square(void *arg)
{
    struct square *s = arg;
    s->result = s->n * s->n;
}

int main(void)
{
    filch_config config = FILCH_CONFIG_INIT;
    config.name = "squares";
    config.workers = 4;
    filch_pool *pool;
    int rc = filch_pool_create(&pool, &config);
    if (rc != 0)
        return 1;

    struct square squares[100];
    long sum = 0;
    for (long i = 0; i < 100; i++) {
        squares[i].n = i;
        filch_job_init(&squares[i].job, square, &squares[i]);
        filch_submit_on(pool, &squares[i].job, FILCH_ROUND_ROBIN);
    }
    filch_pool_wait(pool, FILCH_FOREVER); /* this thread works, too */
    for (long i = 0; i < 100; i++)
        sum += squares[i].result;
    printf("sum of squares = %ld\n", sum);
    filch_pool_destroy(pool);
    return sum == 328350 ? 0 : 1;
}
