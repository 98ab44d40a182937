/* test_woken.c: what timers and descriptors bring: a little of it wakes no other worker (core/idle.c [I8]),
 * and is still not kept waiting by what runs before it. */
#include "pool_kit.h"

#include "core/find.h"
#include "core/idle_set.h"
#include "core/queue.h"

#include <filch/io.h>
#include <filch/task.h>
#include <unistd.h>

/* ---- who is told -------------------------------------------------------------------------------- */

static void nothing(void *unused)
{
    (void)unused;
}

/* In a pool without threads, which has a scout or a keeper as far as its set knows. */
static bool is_little_to(bool keeper, size_t n, int64_t alarm_in_ns, enum filch_wake wake)
{
    filch_config c = kit_config(1);
    c.backoff_max_ns = 1000000;
    filch_pool *pool = kit_make(&c);
    struct worker *w = idle_seat_enter(pool);
    pool->config.wake = wake;
    int64_t at = os_clock_ns() + alarm_in_ns;
    pool->idle->scout = keeper ? -1 : 0;
    pool->idle->scout_ns = keeper ? 0 : at;
    pool->idle->keeps_ns = keeper ? at : INT64_MAX;
    idle_notify_woken(w, n);
    bool little = w->little;
    pool->idle->scout = -1;
    pool->idle->keeps_ns = INT64_MAX;
    pool->config.wake = FILCH_WAKE_ONE;
    idle_seat_leave(w);
    kit_destroy(pool);
    return little;
}

static bool is_little(size_t n, int64_t alarm_in_ns, enum filch_wake wake)
{
    return is_little_to(false, n, alarm_in_ns, wake);
}

static void a_little_is_left_to_a_scout_that_comes_soon(void)
{
    CHECK(is_little(1, 0, FILCH_WAKE_ONE));
    CHECK(is_little(IDLE_LITTLE, -1000000, FILCH_WAKE_ONE));
    CHECK(!is_little(IDLE_LITTLE + 1, 0, FILCH_WAKE_ONE));
    CHECK(!is_little(1, 1000000000, FILCH_WAKE_ONE)); /* that would be long */
    CHECK(!is_little(1, 0, FILCH_WAKE_ALL));
}

static void a_little_is_left_to_who_keeps_the_time_until_soon(void)
{
    CHECK(is_little_to(true, IDLE_LITTLE, 0, FILCH_WAKE_ONE));
    CHECK(!is_little_to(true, IDLE_LITTLE, 1000000000, FILCH_WAKE_ONE));
}

static void what_took_long_is_not_taken_for_little_for_a_while(void)
{
    filch_pool *pool = kit_pool(1);
    struct worker *w = idle_seat_enter(pool);
    pool->idle->scout = 0;
    pool->idle->scout_ns = 0;
    idle_notify_woken(w, 1);
    CHECK(w->little);
    kit_nap_us(1000); /* as long as it runs */
    CHECK(idle_search_begin(w));
    int often = 0;
    for (; !w->little; often++)
        idle_notify_woken(w, 1);
    CHECK(often > 10 && often < 100);
    pool->idle->scout = -1;
    w->little = false;
    idle_search_found(w);
    idle_seat_leave(w);
    kit_destroy(pool);
}

static void more_than_a_little_is_seen(void)
{
    filch_pool *pool = kit_pool(1);
    struct worker *w = idle_seat_enter(pool);
    filch_job job[IDLE_LITTLE + 1];
    work_item it;
    for (int i = 0; i <= IDLE_LITTLE; i++) {
        CHECK(!find_much(pool, w));
        filch_job_init(&job[i], nothing, 0);
        queue_push(w, item_job(&job[i]));
    }
    CHECK(find_much(pool, w));
    while (queue_pop(w, &it))
        ;
    CHECK(!find_much(pool, w));
    inject_push(&pool->injector, item_job(&job[0])); /* anybody's: however little, it is much */
    CHECK(find_much(pool, w));
    CHECK_EQ(inject_take(&pool->injector, &it, 1), 1);
    idle_seat_leave(w);
    kit_destroy(pool);
}

/* ---- those that need each other ------------------------------------------------------------------ */

enum { PAIR = 2 };

struct pair {
    uint32_t arrived;
    int64_t deadline;
    int pipe[PAIR][2];
    uint32_t ended;
};

/* Keeps its worker until the other is there: each needs one of its own. */
static void meet(struct pair *p)
{
    kit_count(&p->arrived);
    while (kit_raised(&p->arrived) < PAIR)
        os_pause();
    kit_beat();
    kit_count(&p->ended);
}

static void sleeps_and_meets(void *arg)
{
    struct pair *p = arg;
    CHECK_EQ(filch_sleep_until(p->deadline), 0);
    meet(p);
}

/* Others that sleep now and then before it, so that there is a scout, or the end of one. */
static void sleepers_that_need_each_other_all_run(void)
{
    filch_pool *pool = kit_pool(2);
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = pool;
    int rounds = (int)kit_scaled(300, 6);
    for (int i = 0; i < rounds; i++) {
        struct pair p = {.deadline = os_clock_ns() + 50000 * (1 + i % 40)};
        for (int k = 0; k < PAIR; k++)
            CHECK_EQ(filch_go_with(&attr, sleeps_and_meets, &p), 0);
        KIT_AWAIT(kit_raised(&p.ended) == PAIR);
    }
    kit_destroy(pool);
}

struct reader {
    struct pair *pair;
    int fd;
};

static void reads_and_meets(void *arg)
{
    struct reader *r = arg;
    char byte;
    CHECK_EQ(filch_read(r->fd, &byte, 1, FILCH_FOREVER), 1);
    meet(r->pair);
}

static void readers_that_need_each_other_all_run(void)
{
    filch_pool *pool = kit_pool(2);
    filch_task_attr attr = FILCH_TASK_ATTR_INIT;
    attr.pool = pool;
    int rounds = (int)kit_scaled(300, 6);
    for (int i = 0; i < rounds; i++) {
        struct pair p = {0};
        struct reader r[PAIR];
        for (int k = 0; k < PAIR; k++) {
            CHECK_EQ(filch_pipe(p.pipe[k]), 0);
            r[k] = (struct reader){&p, p.pipe[k][0]};
            CHECK_EQ(filch_go_with(&attr, reads_and_meets, &r[k]), 0);
        }
        kit_nap_us(i % 8 * 100);
        for (int k = 0; k < PAIR; k++)
            CHECK_EQ(write(p.pipe[k][1], "x", 1), 1);
        KIT_AWAIT(kit_raised(&p.ended) == PAIR);
        for (int k = 0; k < PAIR; k++) {
            filch_close(p.pipe[k][0]);
            filch_close(p.pipe[k][1]);
        }
    }
    kit_destroy(pool);
}

int main(void)
{
    kit_watchdog();
    RUN(a_little_is_left_to_a_scout_that_comes_soon);
    RUN(a_little_is_left_to_who_keeps_the_time_until_soon);
    RUN(what_took_long_is_not_taken_for_little_for_a_while);
    RUN(more_than_a_little_is_seen);
    RUN(sleepers_that_need_each_other_all_run);
    RUN(readers_that_need_each_other_all_run);
    return check_report();
}
