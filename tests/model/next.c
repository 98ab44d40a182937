/* next.c: models of the place before a worker's queue (core/queue.c): the owner puts, takes, takes back
 * and flushes; a thief takes what it has had its eye on for long enough. */
#include "jobs.h"

#include "core/queue.h"

static filch_pool pool;
static struct worker owner, robber;
static uintptr_t storage[2][4];

static void start(void)
{
    pool.plain = pool.run_next = true;
    owner.pool = robber.pool = &pool;
    ring_init(&owner.ring, storage[0], 4, 0);
    ring_init(&robber.ring, storage[1], 4, 0);
}

/* As if it had seen it there a while ago. */
static void thief(void *unused)
{
    work_item it;
    (void)unused;
    robber.eyed.victim = &owner;
    robber.eyed.item = filch_load_relaxed(&owner.next);
    robber.eyed.puts = filch_load_relaxed(&owner.puts);
    robber.eyed.since_ns = -1000000;
    if (queue_steal_next(&robber, &owner, &it) == QUEUE_TAKEN)
        job_run(it);
}

static void run_rest(void)
{
    work_item it;
    while (queue_take_next(&owner, &it) || queue_pop(&owner, &it))
        job_run(it);
}

static void next_put_and_taken(void)
{
    start();
    mc_thread(thief, 0);
    (void)queue_push_next(&owner, job_item(0));
    run_rest();
    (void)queue_push_next(&owner, job_item(1));
    run_rest();
    mc_join_all();
}
MC_MODEL(next_put_and_taken, .claim = "[N1] taken by the owner or by a thief, once, with its contents",
         .preemptions = MC_UNBOUNDED);

static void next_replaced(void)
{
    start();
    mc_thread(thief, 0);
    (void)queue_push_next(&owner, job_item(0));
    mc_check(queue_push_next(&owner, job_item(1))); /* others have to be told, whoever has the first */
    run_rest();
    mc_join_all();
}
MC_MODEL(next_replaced, .claim = "[N1] what is replaced moves on, unless a thief was faster",
         .preemptions = MC_UNBOUNDED);

static void next_taken_back(void)
{
    start();
    mc_thread(thief, 0);
    work_item it = job_item(0);
    (void)queue_push_next(&owner, it);
    if (queue_retract_next(&owner, it))
        job_run(it);
    work_item second = job_item(1);
    (void)queue_push_next(&owner, second);
    mc_check(!queue_retract_next(&owner, it));
    run_rest();
    mc_join_all();
}
MC_MODEL(next_taken_back, .claim = "[N1] the owner takes back the one that it means, or a thief has it",
         .preemptions = MC_UNBOUNDED);

static void next_flushed(void)
{
    start();
    mc_thread(thief, 0);
    (void)queue_push_next(&owner, job_item(0));
    queue_flush_next(&owner);
    mc_check(!filch_load_relaxed(&owner.next));
    run_rest();
    mc_join_all();
}
MC_MODEL(next_flushed, .claim = "a flush leaves nothing behind and doubles nothing",
         .preemptions = MC_UNBOUNDED);

static void next_two_thieves(void)
{
    start();
    (void)queue_push_next(&owner, job_item(0));
    mc_thread(thief, 0);
    work_item it;
    struct worker other = {.pool = &pool, .eyed = {&owner, item_job(&jobs[0]), 0, 1, -1000000}};
    if (queue_steal_next(&other, &owner, &it) == QUEUE_TAKEN)
        job_run(it);
    mc_join_all();
    mc_check(!filch_load_relaxed(&owner.next));
}
MC_MODEL(next_two_thieves, .claim = "two thieves that had their eye on it: one has it",
         .preemptions = MC_UNBOUNDED);

/* ---- when a thief may have it ------------------------------------------------------------------------ */

static void next_is_left_alone_at_first(void)
{
    work_item it;
    start();
    (void)queue_push_next(&owner, job_item(0));
    mc_check(queue_steal_next(&robber, &owner, &it) == QUEUE_EMPTY);
    mc_check(queue_steal_next(&robber, &owner, &it) == QUEUE_EMPTY); /* 100 ns later */
    os_sleep_ns(2000);
    filch_store_relaxed(&owner.tick, 1u); /* the owner picks something */
    mc_check(queue_steal_next(&robber, &owner, &it) == QUEUE_EMPTY);
    os_sleep_ns(2000);
    mc_check(queue_retract_next(&owner, filch_load_relaxed(&owner.next)));
    (void)queue_push_next(&owner, robber.eyed.item); /* the same, but anew */
    mc_check(queue_steal_next(&robber, &owner, &it) == QUEUE_EMPTY);
    os_sleep_ns(2000);
    mc_check(queue_steal_next(&robber, &owner, &it) == QUEUE_TAKEN);
    job_run(it);
}
MC_MODEL(next_is_left_alone_at_first, .claim = "a thief takes it after a microsecond without a pick",
         .preemptions = 2, .alarms = true);

static void next_one_at_a_time(void)
{
    struct worker second = {.pool = &pool};
    work_item it;
    start();
    (void)queue_push_next(&owner, job_item(0));
    second.next = job_item(1);
    for (int i = 0; i < 2; i++) {
        mc_check(queue_steal_next(&robber, &owner, &it) == QUEUE_EMPTY);
        mc_check(queue_steal_next(&robber, &second, &it) == QUEUE_EMPTY);
    }
    os_sleep_ns(2000);
    mc_check(queue_steal_next(&robber, &second, &it) == QUEUE_EMPTY); /* not the one it waited for */
    mc_check(queue_steal_next(&robber, &owner, &it) == QUEUE_TAKEN);
    job_run(it);
    mc_check(queue_steal_next(&robber, &second, &it) == QUEUE_EMPTY);
    owner.next = item_job(&jobs[0]); /* again, and not looked at again */
    filch_store_relaxed(&owner.tick, owner.tick);
    os_sleep_ns(2000);
    mc_check(queue_steal_next(&robber, &second, &it) == QUEUE_TAKEN);
    job_run(it);
}
MC_MODEL(next_one_at_a_time, .claim = "two slots that are looked at in turn are both taken",
         .preemptions = 2, .alarms = true);

/* It has its eye on one that it does not come back to. */
static void next_another_after_a_while(void)
{
    struct worker second = {.pool = &pool};
    work_item it;
    start();
    (void)queue_push_next(&owner, job_item(0));
    second.next = job_item(1);
    mc_check(queue_steal_next(&robber, &owner, &it) == QUEUE_EMPTY);
    os_sleep_ns(200000);
    mc_check(queue_steal_next(&robber, &second, &it) == QUEUE_EMPTY);
    os_sleep_ns(2000);
    mc_check(queue_steal_next(&robber, &second, &it) == QUEUE_TAKEN);
    job_run(it);
    run_rest();
}
MC_MODEL(next_another_after_a_while, .claim = "a slot that is not looked at again does not stand in the way",
         .preemptions = 2, .alarms = true);
