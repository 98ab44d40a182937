/* test_policy_queue.c: steal=, ends=, queue=, run_next=, global_every= and ring=: where a job lies, which
 * worker takes it from there, and how much of it. First in pools without threads, then by jobs: load is made
 * by a job that runs on the worker in question, as what comes from outside lies in an inbox, where steal=
 * does not act. */
#include "policy_kit.h"

#include <filch/task.h>

/* ---- how much ------------------------------------------------------------------------------------------ */

struct share {
    const char *word;
    int of[6]; /* of 0, 1, 2, 7, 8 and 9 jobs */
};

static const struct share shares[] = {
    {"half", {0, 1, 1, 4, 4, 5}},  {"one", {0, 1, 1, 1, 1, 1}},   {"quarter", {0, 1, 1, 2, 2, 3}},
    {"three", {0, 1, 2, 6, 6, 7}}, {"all", {0, 1, 2, 7, 8, 9}},   {"floor", {0, 0, 1, 3, 4, 4}},
};

static const int lengths[] = {0, 1, 2, 7, 8, 9};

/* The first is taken to be run, the others go into the thief's queue. */
static void takes(filch_pool *pool, int length, int expected)
{
    load(pool, 1, 0, length);
    uint64_t stolen = counted(pool, 0, EV_STEAL_JOB), batches = counted(pool, 0, EV_STEAL_BATCH);
    uint64_t failed = counted(pool, 0, EV_STEAL_EMPTY);
    CHECK_EQ(thief_takes(pool, 0) >= 0, expected > 0);
    CHECK_EQ(queue_size(worker_of(pool, 0)), expected > 0 ? expected - 1 : 0);
    CHECK_EQ(queue_size(worker_of(pool, 1)), length - expected);
    CHECK_EQ(counted(pool, 0, EV_STEAL_JOB) - stolen, expected);
    CHECK_EQ(counted(pool, 0, EV_STEAL_BATCH) - batches, expected > 1);
    CHECK_EQ(counted(pool, 0, EV_STEAL_EMPTY) - failed, expected == 0);
    empty(pool);
}

static void every_share_is_what_its_word_says(const char *queue)
{
    for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
        char words[100];
        snprintf(words, sizeof words, "%s,steal=%s", queue, shares[k].word);
        filch_pool *pool = still_pool(2, words);
        for (int i = 0; i < 6; i++)
            takes(pool, lengths[i], shares[k].of[i]);
        still_end(pool);
    }
}

static void a_thief_takes_its_share_of_a_ring(void) { every_share_is_what_its_word_says("queue=ring"); }
static void so_it_does_with_ends_lifo(void) { every_share_is_what_its_word_says("queue=ring,ends=lifo"); }
static void so_it_does_of_a_locked_deque(void) { every_share_is_what_its_word_says("queue=locked"); }
static void so_it_does_of_a_deque_that_it_tries(void) { every_share_is_what_its_word_says("queue=trylock"); }

/* ---- at which end -------------------------------------------------------------------------------------- */

/* Of 1, 2 and 3, put there in this order, the owner takes one, and a thief one of another three. */
static void ends_are(const char *words, int owner, int thief)
{
    char text[100];
    snprintf(text, sizeof text, "%s,steal=one", words);
    filch_pool *pool = still_pool(2, text);
    load(pool, 1, 1, 3);
    CHECK_EQ(owner_takes(pool, 1), owner);
    empty(pool);
    load(pool, 1, 1, 3);
    CHECK_EQ(thief_takes(pool, 0), thief);
    still_end(pool);
}

static void a_ring_gives_both_the_oldest(void)
{
    ends_are("queue=ring", 1, 1);
    ends_are("ends=fifo", 1, 1);
}

static void lifo_gives_the_owner_the_newest_and_the_thief_the_oldest(void)
{
    ends_are("ends=lifo", 3, 1);
    ends_are("queue=locked,ends=lifo", 3, 1);
    ends_are("queue=trylock,ends=lifo", 3, 1);
}

static void reverse_gives_the_owner_the_oldest_and_the_thief_the_newest(void)
{
    ends_are("ends=reverse", 1, 3);
    ends_are("queue=locked,ends=reverse", 1, 3);
    ends_are("queue=trylock,ends=reverse", 1, 3);
}

static void fifo_gives_both_the_oldest_of_a_deque(void)
{
    ends_are("queue=locked,ends=fifo", 1, 1);
    ends_are("queue=trylock,ends=fifo", 1, 1);
}

static void locked_deques_have_the_newest_for_thieves_unless_ends_is_given(void)
{
    ends_are("queue=locked", 1, 3);
    ends_are("queue=trylock", 1, 3);
}

/* More than one at a time: from the thief's end on. */
static void a_batch_is_taken_from_the_thiefs_end_on(void)
{
    filch_pool *pool = still_pool(2, "queue=locked,steal=half");
    load(pool, 1, 1, 4);
    CHECK_EQ(thief_takes(pool, 0), 4);
    CHECK_EQ(owner_takes(pool, 0), 3);
    CHECK_EQ(owner_takes(pool, 1), 1);
    still_end(pool);
    pool = still_pool(2, "steal=half");
    load(pool, 1, 1, 4);
    CHECK_EQ(thief_takes(pool, 0), 1);
    CHECK_EQ(owner_takes(pool, 0), 2);
    CHECK_EQ(owner_takes(pool, 1), 3);
    still_end(pool);
}

/* ---- which queue --------------------------------------------------------------------------------------- */

struct place {
    size_t ring, lifo, locked, shared;
};

static void lies_in(const char *words, struct place expected)
{
    filch_pool *pool = still_pool(2, words);
    struct worker *w = worker_of(pool, 1);
    load(pool, 1, 1, 3);
    CHECK_EQ(ring_size(&w->ring), expected.ring);
    CHECK_EQ(lifo_size(&w->lifo), expected.lifo);
    CHECK_EQ(locked_size(&w->locked), expected.locked);
    CHECK_EQ(locked_size(&pool->shared), expected.shared);
    still_end(pool);
}

static void each_kind_of_queue_is_where_jobs_lie(void)
{
    lies_in("queue=ring", (struct place){.ring = 3});
    lies_in("queue=ring,ends=lifo", (struct place){.lifo = 3});
    lies_in("queue=ring,ends=reverse", (struct place){.locked = 3});
    lies_in("queue=locked", (struct place){.locked = 3});
    lies_in("queue=trylock", (struct place){.locked = 3});
    lies_in("queue=private", (struct place){.locked = 3});
    lies_in("queue=shared", (struct place){.shared = 3});
}

static void nobody_takes_from_a_private_queue(void)
{
    filch_pool *pool = still_pool(2, "queue=private");
    load(pool, 1, 1, 3);
    CHECK_EQ(thief_takes(pool, 0), -1);
    CHECK_EQ(owner_takes(pool, 0), -1);
    CHECK_EQ(owner_takes(pool, 1), 1);
    still_end(pool);
}

static void a_shared_queue_is_everyones_own(void)
{
    filch_pool *pool = still_pool(2, "queue=shared");
    load(pool, 1, 1, 3);
    CHECK_EQ(owner_takes(pool, 0), 1);
    CHECK_EQ(owner_takes(pool, 1), 2);
    CHECK_EQ(owner_takes(pool, 0), 3);
    CHECK_EQ(counted(pool, 0, EV_STEAL_JOB), 0);
    still_end(pool);
}

struct waiter {
    filch_pool *pool;
    uint32_t began, got;
};

static void *steals_once(void *arg)
{
    struct waiter *t = arg;
    kit_raise(&t->began);
    CHECK_EQ(thief_takes(t->pool, 0), 1);
    kit_raise(&t->got);
    return NULL;
}

/* queue=locked: a thief waits for a held lock, and then takes what it came for. The thread has time to try
 * before the lock is given back. */
static void a_thief_waits_for_the_lock_of_a_locked_deque(void)
{
    pthread_t t;
    struct waiter thief = {.pool = still_pool(2, "queue=locked")};
    load(thief.pool, 1, 1, 1);
    lock_acquire(&worker_of(thief.pool, 1)->locked.lock);
    CHECK_EQ(pthread_create(&t, NULL, steals_once, &thief), 0);
    KIT_AWAIT(kit_raised(&thief.began));
    kit_nap_us(20000);
    CHECK_EQ(kit_raised(&thief.got), 0);
    lock_release(&worker_of(thief.pool, 1)->locked.lock);
    CHECK_EQ(pthread_join(t, NULL), 0);
    CHECK_EQ(counted(thief.pool, 0, EV_STEAL_SKIP), 0);
    still_end(thief.pool);
}

static void a_thief_does_not_wait_for_the_lock_of_one_that_it_tries(void)
{
    filch_pool *pool = still_pool(2, "queue=trylock");
    load(pool, 1, 1, 1);
    lock_acquire(&worker_of(pool, 1)->locked.lock);
    CHECK_EQ(thief_takes(pool, 0), -1);
    CHECK_EQ(counted(pool, 0, EV_STEAL_SKIP), 1);
    lock_release(&worker_of(pool, 1)->locked.lock);
    CHECK_EQ(thief_takes(pool, 0), 1);
    still_end(pool);
}

static void a_ring_holds_as_many_as_its_capacity(void)
{
    filch_pool *pool = still_pool(1, "ring=8");
    load(pool, 0, 0, 8);
    CHECK_EQ(counted(pool, 0, EV_OVERFLOW), 0);
    load(pool, 0, 8, 1);
    CHECK_EQ(counted(pool, 0, EV_OVERFLOW), 4);
    CHECK_EQ(inject_count(&pool->injector), 4);
    still_end(pool);
}

/* ---- next, and the pool's queue ------------------------------------------------------------------------ */

static void the_newest_runs_first_with_run_next_only(void)
{
    for (int off = 0; off < 2; off++) {
        filch_pool *pool = still_pool(2, off ? "run_next=off" : "run_next=on");
        struct worker *w = worker_of(pool, 1);
        for (int i = 1; i <= 3; i++)
            CHECK_EQ(queue_push_next(w, item_job(&policy_jobs[i])), off || i > 1);
        CHECK_EQ(queue_size(w), off ? 3 : 2);
        CHECK_EQ(owner_takes(pool, 1), off ? 1 : 3);
        CHECK_EQ(owner_takes(pool, 1), off ? 2 : 1);
        CHECK_EQ(owner_takes(pool, 1), off ? 3 : 2);
        still_end(pool);
    }
}

/* At which pick the job in the pool's queue is found, while the own queue is never empty. */
static int pick_of_the_injector(filch_pool *pool)
{
    int picks = 0, got;
    inject_push(&pool->injector, item_job(&policy_jobs[POLICY_JOBS - 1]));
    do {
        load(pool, 0, 1, 1);
        got = number_of(find_local(worker_of(pool, 0)));
        picks++;
    } while (got == 1 && picks < 1000);
    CHECK_EQ(got, POLICY_JOBS - 1);
    while (owner_takes(pool, 0) >= 0)
        ;
    return picks;
}

static void the_pools_queue_comes_first_every_so_often(void)
{
    static const struct {
        const char *words;
        int every;
    } cases[] = {{"", 61}, {"global_every=1", 1}, {"global_every=5", 5}, {"global_every=8", 8},
                 {"global_every=200", 200}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        filch_pool *pool = still_pool(1, cases[i].words);
        for (int round = 0; round < 3; round++)
            CHECK_EQ(pick_of_the_injector(pool), cases[i].every);
        worker_of(pool, 0)->tick = UINT32_MAX - 2; /* it begins again at 0 */
        worker_of(pool, 0)->global_at = UINT32_MAX - 2 + (uint32_t)cases[i].every;
        CHECK_EQ(pick_of_the_injector(pool), cases[i].every);
        still_end(pool);
    }
}

/* ---- by jobs ------------------------------------------------------------------------------------
 *
 * Two workers, each kept by a job. One job loads the queue of its worker; then the other lets its worker go,
 * and what that one runs is what it took, in the order in which it took it. */

enum { LOAD = 8 };

struct scene {
    filch_pool *pool;
    struct block thief, owner;
    filch_job jobs[LOAD];
    uint32_t count;
    int order[LOAD], ran_on[LOAD]; /* by the thread that runs them, one after the other */
    int thief_id, owner_id;
};

static struct scene scene;

static void runs_one(void *arg)
{
    int number = (int)((filch_job *)arg - scene.jobs);
    uint32_t at = filch_load_relaxed(&scene.count); /* order: one worker at a time runs these */
    scene.order[at] = number;
    scene.ran_on[number] = filch_worker_id();
    (void)kit_count(&scene.count);
}

static void keeps_the_thief(void *arg)
{
    scene.thief_id = filch_worker_id();
    block_run(arg);
}

static void loads_and_keeps(void *arg)
{
    scene.owner_id = filch_worker_id();
    for (int i = 0; i < LOAD; i++) {
        filch_job_init(&scene.jobs[i], runs_one, &scene.jobs[i]);
        CHECK_EQ(filch_submit(&scene.jobs[i], FILCH_ANYWHERE), 0);
    }
    block_run(arg);
}

static void scene_begin(const char *words)
{
    scene = (struct scene){.pool = policy_pool(2, words)};
    filch_job_init(&scene.thief.job, keeps_the_thief, &scene.thief);
    CHECK_EQ(filch_submit_on(scene.pool, &scene.thief.job, FILCH_ANYWHERE), 0);
    KIT_AWAIT(kit_raised(&scene.thief.started));
    filch_job_init(&scene.owner.job, loads_and_keeps, &scene.owner);
    CHECK_EQ(filch_submit_on(scene.pool, &scene.owner.job, FILCH_ANYWHERE), 0);
    KIT_AWAIT(kit_raised(&scene.owner.started));
    CHECK(scene.owner_id != scene.thief_id);
}

static bool thief_sleeps(void)
{
    bool has_thread;
    return idle_asleep(scene.pool, scene.thief_id, &has_thread);
}

/* The thief is let go, and runs so many jobs; then it finds no more. After it the owner. */
static void scene_play(uint32_t by_thief)
{
    kit_raise(&scene.thief.release);
    KIT_AWAIT(kit_raised(&scene.count) >= by_thief && thief_sleeps());
    CHECK_EQ(scene.count, by_thief);
    kit_raise(&scene.owner.release);
    KIT_AWAIT(kit_raised(&scene.count) == LOAD);
}

static void scene_end(void)
{
    CHECK_EQ(filch_job_wait(&scene.thief.job, FILCH_FOREVER), 0);
    CHECK_EQ(filch_job_wait(&scene.owner.job, FILCH_FOREVER), 0);
    kit_drain_and_destroy(scene.pool);
}

/* As digits. */
static void ran_in_order(const char *expected)
{
    char got[LOAD + 1] = "";
    for (int i = 0; i < LOAD; i++)
        got[i] = (char)('0' + scene.order[i]);
    CHECK_STR(got, expected);
}

static uint64_t thief_counted(enum event event)
{
    return counted(scene.pool, scene.thief_id, event);
}

/* What the thief runs, with so many steals. */
static void thief_runs(const char *words, const char *expected, uint64_t batches)
{
    scene_begin(words);
    uint64_t before = thief_counted(EV_STEAL_BATCH), jobs = thief_counted(EV_STEAL_JOB);
    scene_play(LOAD);
    ran_in_order(expected);
    CHECK_EQ(thief_counted(EV_STEAL_BATCH) - before, batches);
    CHECK_EQ(thief_counted(EV_STEAL_JOB) - jobs, LOAD);
    for (int i = 0; i < LOAD; i++)
        CHECK_EQ(scene.ran_on[i], scene.thief_id);
    scene_end();
}

/* Of 8: 4, 2, 1, 1. Then 1 each; 2, 2, 1, 1, 1, 1; 6, 2; 8. */
static void shares_and_ends_of_a_load_made_by_a_job(void)
{
    thief_runs("steal=half", "01234567", 2);
    thief_runs("steal=one", "01234567", 0);
    thief_runs("steal=quarter", "01234567", 2);
    thief_runs("steal=three", "01234567", 2);
    thief_runs("steal=all", "01234567", 1);
    thief_runs("ends=lifo,steal=half", "03214567", 2);
    thief_runs("ends=lifo,steal=all", "07654321", 1);
    thief_runs("queue=trylock,steal=one", "76543210", 0);
    thief_runs("queue=locked,steal=half", "76543210", 2);
    thief_runs("queue=locked,ends=fifo,steal=half", "01234567", 2);
}

/* Half of a single job is none: the last one is left to its owner. */
static void floor_leaves_the_last_job_to_its_owner(void)
{
    scene_begin("steal=floor");
    scene_play(LOAD - 1);
    ran_in_order("01234567");
    CHECK_EQ(scene.ran_on[LOAD - 1], scene.owner_id);
    scene_end();
}

static void private_queues_keep_their_jobs(void)
{
    scene_begin("queue=private");
    scene_play(0);
    for (int i = 0; i < LOAD; i++)
        CHECK_EQ(scene.ran_on[i], scene.owner_id);
    ran_in_order("01234567");
    CHECK_EQ(thief_counted(EV_STEAL_JOB), 0);
    scene_end();
}

static void a_shared_queue_is_emptied_without_a_steal(void)
{
    scene_begin("queue=shared");
    scene_play(LOAD);
    ran_in_order("01234567");
    CHECK_EQ(thief_counted(EV_STEAL_JOB), 0);
    scene_end();
}

/* ---- by tasks, on one worker --------------------------------------------------------------------------- */

static char said[8];
static uint32_t said_length;

static void says(void *arg)
{
    said[said_length] = *(const char *)arg;
    (void)kit_count(&said_length);
}

static void starts_three(void *unused)
{
    (void)unused;
    CHECK_EQ(filch_go(says, "a"), 0);
    CHECK_EQ(filch_go(says, "b"), 0);
    CHECK_EQ(filch_go(says, "c"), 0);
}

static void tasks_run_in_order(const char *words, const char *expected)
{
    filch_pool *pool = policy_pool(1, words);
    said_length = 0;
    memset(said, 0, sizeof said);
    CHECK_EQ(filch_submit_detached_on(pool, starts_three, NULL, NULL, FILCH_ANYWHERE), 0);
    KIT_AWAIT(kit_raised(&said_length) == 3); /* not as a guest, which would leave early */
    kit_drain_and_destroy(pool);
    CHECK_STR(said, expected);
}

static void tasks_run_newest_first_then_oldest_first_as_run_next_and_ends_say(void)
{
    tasks_run_in_order("run_next=on", "cab");
    tasks_run_in_order("run_next=off", "abc");
    tasks_run_in_order("ends=lifo", "cba");
    tasks_run_in_order("queue=shared", "abc");
    tasks_run_in_order("queue=private", "abc");
    tasks_run_in_order("queue=locked", "abc");
}

int main(void)
{
    kit_watchdog();
    RUN(a_thief_takes_its_share_of_a_ring);
    RUN(so_it_does_with_ends_lifo);
    RUN(so_it_does_of_a_locked_deque);
    RUN(so_it_does_of_a_deque_that_it_tries);
    RUN(a_ring_gives_both_the_oldest);
    RUN(lifo_gives_the_owner_the_newest_and_the_thief_the_oldest);
    RUN(reverse_gives_the_owner_the_oldest_and_the_thief_the_newest);
    RUN(fifo_gives_both_the_oldest_of_a_deque);
    RUN(locked_deques_have_the_newest_for_thieves_unless_ends_is_given);
    RUN(a_batch_is_taken_from_the_thiefs_end_on);
    RUN(each_kind_of_queue_is_where_jobs_lie);
    RUN(nobody_takes_from_a_private_queue);
    RUN(a_shared_queue_is_everyones_own);
    RUN(a_thief_waits_for_the_lock_of_a_locked_deque);
    RUN(a_thief_does_not_wait_for_the_lock_of_one_that_it_tries);
    RUN(a_ring_holds_as_many_as_its_capacity);
    RUN(the_newest_runs_first_with_run_next_only);
    RUN(the_pools_queue_comes_first_every_so_often);
    RUN(shares_and_ends_of_a_load_made_by_a_job);
    RUN(floor_leaves_the_last_job_to_its_owner);
    RUN(private_queues_keep_their_jobs);
    RUN(a_shared_queue_is_emptied_without_a_steal);
    RUN(tasks_run_newest_first_then_oldest_first_as_run_next_and_ends_say);
    return check_report();
}
