/* test_parked.c [NUMBER]: what so many tasks that wait take, each with a stack of its own, and that all of
 * them go on. The long tests call it with a million. */
#include "footprint.h"
#include "pool_kit.h"

#include <filch/chan.h>
#include <filch/task.h>

enum { WORKERS = 2, PARKED = 100000 };

/* ucontext keeps a kilobyte more on each stack, and that is on another page. */
#ifdef FILCH_UCONTEXT
#define MOST_KIB 12.5
#else
#define MOST_KIB 8.5
#endif

static size_t many;

struct crowd {
    filch_chan *chan;
    uint32_t arrived, sum;
};

static void takes_one(void *arg)
{
    struct crowd *c = arg;
    uint32_t got = 0;
    kit_count(&c->arrived);
    kit_beat();
    CHECK_EQ(filch_chan_recv(c->chan, &got, FILCH_FOREVER), 0);
    filch_add_relaxed(&c->sum, got); /* order: read after the pool has nothing left to do */
    kit_beat();
}

static void gather(filch_pool *pool, struct crowd *c)
{
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = pool;
    for (size_t i = 0; i < many; i++) {
        CHECK_EQ(filch_go_with(&attr, takes_one, c), 0);
        kit_beat();
    }
    KIT_AWAIT(kit_raised(&c->arrived) == many);
    kit_await_parked(pool);
}

static void each_of_a_crowd_takes_at_most_8_5_KiB_and_goes_on(void)
{
    filch_pool *pool = kit_pool(WORKERS);
    struct crowd c = {0};
    CHECK_EQ(filch_chan_create(&c.chan, sizeof(uint32_t), 0), 0);
    long before = footprint_kib();
    gather(pool, &c);
    double each = (double)(footprint_kib() - before) / (double)many;
    printf("%zu tasks parked at once: %.2f KiB each, page tables included\n", many, each);
    if (KIT_SLOW || sysconf(_SC_PAGESIZE) > 4096)
        printf("not judged: a sanitizer's own memory is in the figure, or large pages\n");
    else
        CHECK_MSG(each <= MOST_KIB, "%.2f KiB for each task that waits", each);
    for (uint32_t i = 0, one = 1; i < many; i++) {
        CHECK_EQ(filch_chan_send(c.chan, &one, FILCH_FOREVER), 0);
        kit_beat();
    }
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(c.sum, many);
    filch_chan_destroy(c.chan);
    kit_destroy(pool);
}

int main(int argc, char **argv)
{
    many = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : SCALED((size_t)PARKED, (size_t)PARKED / 20, 500);
    kit_watchdog();
    RUN(each_of_a_crowd_takes_at_most_8_5_KiB_and_goes_on);
    return check_report();
}
