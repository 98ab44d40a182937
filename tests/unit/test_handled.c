/* test_handled.c: what the run-time library of C++ keeps per thread of the exceptions that are being
 * handled goes along with a flow that waits. This program is that library. */
#define _GNU_SOURCE
#include "pool_kit.h"

#include <filch/task.h>

struct globals {
    void *caught;
    unsigned uncaught;
};

void *__cxa_get_globals(void);

static __thread struct globals globals;

__attribute__((noinline)) void *__cxa_get_globals(void)
{
    __asm__ __volatile__("" ::: "memory"); /* a flow may have moved since it was last asked for */
    return &globals;
}

static struct globals *here(void)
{
    return __cxa_get_globals();
}

static int holds(const void *caught, unsigned uncaught)
{
    return here()->caught == caught && here()->uncaught == uncaught;
}

static void handle(void *caught, unsigned uncaught)
{
    *here() = (struct globals){caught, uncaught};
}

enum { FLOWS = 40, ROUNDS = 20 };

static filch_pool *pool;
static uint32_t moved;

static filch_task *spawn(int (*fn)(void *), void *arg)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = pool;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

/* Without helping. */
static void join(filch_task *t)
{
    KIT_AWAIT(filch_task_done(t));
    CHECK_EQ(filch_task_join(t, NULL, FILCH_FOREVER), 0);
}

static int waits_in_a_handler(void *arg)
{
    unsigned number = *(unsigned *)arg;
    for (int round = 0; round < ROUNDS; round++) {
        void *caught = round % 3 ? arg : NULL;
        unsigned uncaught = round % 3 == 1 ? 0 : number + 1;
        int id = filch_worker_id();
        CHECK(holds(NULL, 0));
        handle(caught, uncaught);
        if (round % 2)
            filch_sleep_ns(1000);
        else
            filch_yield();
        CHECK(holds(caught, uncaught));
        handle(NULL, 0);
        if (filch_worker_id() != id)
            kit_raise(&moved);
        filch_yield();
    }
    CHECK(holds(NULL, 0));
    kit_beat();
    return 0;
}

static void a_flow_that_waits_while_it_handles_finds_that_again_on_any_thread(void)
{
    static unsigned number[FLOWS];
    pool = kit_pool(3);
    while (!kit_raised(&moved)) {
        filch_task *t[FLOWS];
        for (unsigned i = 0; i < FLOWS; i++) {
            number[i] = i;
            t[i] = spawn(waits_in_a_handler, &number[i]);
        }
        for (int i = 0; i < FLOWS; i++)
            join(t[i]);
    }
    kit_destroy(pool);
}

struct meeting {
    filch_event event;
    uint32_t waits;
};

static int waits_and_handles(void *arg)
{
    struct meeting *m = arg;
    handle(m, 3);
    kit_raise(&m->waits);
    filch_event_wait(&m->event);
    int kept = holds(m, 3);
    handle(NULL, 0);
    return kept ? 0 : 1;
}

static int handles_nothing(void *arg)
{
    (void)arg;
    return holds(NULL, 0) ? 0 : 1;
}

/* On one worker, so that it is the same thread. */
static void what_begins_meanwhile_handles_nothing(void)
{
    struct meeting m = {0};
    int kept = 1, clean = 1;
    pool = kit_pool(1);
    filch_task *t = spawn(waits_and_handles, &m);
    KIT_AWAIT(kit_raised(&m.waits));
    filch_task *u = spawn(handles_nothing, NULL);
    KIT_AWAIT(filch_task_done(u));
    filch_event_set(&m.event);
    KIT_AWAIT(filch_task_done(t));
    CHECK_EQ(filch_task_join(u, &clean, FILCH_FOREVER), 0);
    CHECK_EQ(filch_task_join(t, &kept, FILCH_FOREVER), 0);
    CHECK(clean == 0 && kept == 0);
    kit_destroy(pool);
}

static void root(void *arg)
{
    *(int *)arg = holds(NULL, 0);
    handle(arg, 0); /* a catch block that the root is called in ends here, too */
    filch_yield();
    CHECK(holds(arg, 0));
    handle(NULL, 0);
}

static void a_thread_that_calls_a_root_in_a_handler_finds_it_again(void)
{
    int clean = 0;
    pool = kit_pool(2);
    handle(&clean, 2);
    filch_run_on(pool, root, &clean);
    CHECK(holds(&clean, 2));
    CHECK(clean);
    filch_task *t = spawn(handles_nothing, NULL);
    CHECK_EQ(filch_task_join(t, &clean, FILCH_FOREVER), 0); /* may run it on this thread */
    CHECK(holds(&clean, 2));
    CHECK_EQ(clean, 0);
    handle(NULL, 0);
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(a_flow_that_waits_while_it_handles_finds_that_again_on_any_thread);
    RUN(what_begins_meanwhile_handles_nothing);
    RUN(a_thread_that_calls_a_root_in_a_handler_finds_it_again);
    return check_report();
}
