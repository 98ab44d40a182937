/* test_seat.c: a guest that waits gives up seat 0, and has it back although the pool's own thread, or another
 * guest, sleeps there: what they wait for may be the guest's to do. */
#include "pool_kit.h"

#include "core/idle_set.h"

#include <filch/io.h>
#include <filch/sync.h>
#include <filch/task.h>

static filch_pool *pool;
static filch_event begun, asked;  /* begun: what runs in seat 0 is about to wait; asked: it waits for this */

/* ---- the guest: it leaves the seat to those who wait for it, and comes back ------------------ */

static void (*answer)(void);
static filch_job *lender; /* what runs in seat 0 while the guest is away */

static void answer_by_event(void)
{
    filch_event_set(&asked);
}

static void comes_back(void *job)
{
    CHECK_EQ(filch_worker_id(), 0);
    if (job)
        CHECK_EQ(filch_submit_on(pool, job, 0), 0);
    filch_event_wait(&begun);
    CHECK_EQ(filch_worker_id(), 0);
    answer();
    kit_beat();
}

/* Runs `fn` in seat 0 while the guest is away. */
static void meet(const filch_config *c, void (*fn)(void *), void (*how)(void))
{
    for (int round = 0; round < 20; round++) {
        filch_job job;
        begun = asked = (filch_event){0};
        answer = how;
        pool = kit_make(c);
        filch_job_init(&job, fn, 0);
        lender = &job;
        filch_run_on(pool, comes_back, &job);
        CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
        struct cell after[8]; /* the seat is as it was */
        cells_submit(pool, after, 8, 0);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        cells_check(after, 8);
        kit_destroy(pool);
    }
}

/* ---- a pinned wait ------------------------------------------------------------------------------ */

static void waits_pinned(void *unused)
{
    (void)unused;
    int seat = filch_worker_id();
    filch_pin();
    filch_event_set(&begun);
    filch_event_wait(&asked);
    CHECK_EQ(filch_worker_id(), seat);
    filch_unpin();
}

static void a_pinned_wait_lends_its_seat_to_a_guest(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_config c = kit_config(workers);
        meet(&c, waits_pinned, answer_by_event);
        c.join = FILCH_JOIN_HELP;
        meet(&c, waits_pinned, answer_by_event);
    }
}

/* ---- a call that blocks ------------------------------------------------------------------------- */

static int ends[2];

static void reads_pinned(void *unused)
{
    char byte = 0;
    (void)unused;
    filch_pin();
    filch_event_set(&begun);
    CHECK_EQ(filch_read(ends[0], &byte, 1, FILCH_FOREVER), 1);
    CHECK_EQ(byte, 'x');
    filch_unpin();
}

static void answer_by_pipe(void)
{
    CHECK_EQ(filch_write(ends[1], "x", 1, FILCH_FOREVER), 1);
}

static void a_pinned_read_lends_its_seat_to_a_guest(void)
{
    filch_config c = kit_config(1);
    CHECK_EQ(filch_pipe(ends), 0);
    meet(&c, reads_pinned, answer_by_pipe);
    filch_close(ends[0]);
    filch_close(ends[1]);
}

/* ---- a join ------------------------------------------------------------------------------------- */

static uint32_t stolen;
static struct cell other;

static void waits_for_answer(void *unused)
{
    (void)unused;
    kit_raise(&stolen);
    filch_event_wait(&asked);
}

/* The fork is on another worker, and waits; so does the join. */
static void forks_and_joins(void (*between)(void))
{
    filch_job fork;
    filch_store_relaxed(&stolen, 0u); /* order: before the fork */
    filch_fork(&fork, waits_for_answer, 0);
    KIT_AWAIT(kit_raised(&stolen));
    between();
    filch_join(&fork);
}

static void tell_begun(void)
{
    filch_event_set(&begun);
}

static void joins_helping(void *unused)
{
    (void)unused;
    forks_and_joins(tell_begun);
}

static void a_helping_join_lends_its_seat_to_a_guest(void)
{
    filch_config c = kit_config(2);
    c.join = FILCH_JOIN_HELP;
    c.queue = FILCH_QUEUE_PRIVATE; /* so that it runs in seat 0 */
    meet(&c, joins_helping, answer_by_event);
}

/* The guest joins in the seat that it was lent, what cannot go on before the lender does. */

static void waits_for_lender(void *unused)
{
    (void)unused;
    kit_raise(&stolen);
    CHECK_EQ(filch_job_wait(lender, FILCH_FOREVER), 0);
}

static void answer_and_join(void)
{
    filch_job fork;
    filch_event_set(&asked);
    filch_store_relaxed(&stolen, 0u); /* order: before the fork */
    filch_fork(&fork, waits_for_lender, 0);
    KIT_AWAIT(kit_raised(&stolen));
    filch_join(&fork);
}

static void a_guest_that_joins_gives_a_lent_seat_back(void)
{
    filch_config c = kit_config(2);
    c.join = FILCH_JOIN_HELP;
    c.queue = FILCH_QUEUE_PRIVATE; /* so that the lender runs in seat 0 */
    meet(&c, joins_helping, answer_and_join);
}

static void *first_guest(void *unused)
{
    (void)unused;
    filch_run_on(pool, comes_back, 0);
    return NULL;
}

static void second_guest(void *unused)
{
    (void)unused;
    forks_and_joins(tell_begun);
}

static void a_guest_that_joins_leaves_its_seat_to_another(void)
{
    for (int round = 0; round < 20; round++) {
        pthread_t t;
        begun = asked = (filch_event){0};
        answer = answer_by_event;
        pool = kit_pool(2);
        CHECK_EQ(pthread_create(&t, NULL, first_guest, NULL), 0);
        KIT_AWAIT(filch_load_relaxed(&begun.state) != 0); /* order: it waits, or is about to */
        filch_run_on(pool, second_guest, 0);
        CHECK_EQ(pthread_join(t, NULL), 0);
        kit_destroy(pool);
    }
}

static void waits_for_other(void *unused)
{
    (void)unused;
    kit_raise(&stolen);
    KIT_AWAIT(filch_job_done(&other.job)); /* and keeps its worker */
}

static void joins_while_there_is_work(void *unused)
{
    (void)unused;
    filch_job fork;
    cell_init(&other);
    filch_store_relaxed(&stolen, 0u); /* order: before the fork */
    filch_fork(&fork, waits_for_other, 0);
    KIT_AWAIT(kit_raised(&stolen));
    CHECK_EQ(filch_submit_on(pool, &other.job, FILCH_ANYWHERE), 0);
    filch_join(&fork);
}

static void a_guest_that_joins_leaves_its_seat_to_the_pool(void)
{
    for (int round = 0; round < 20; round++) {
        pool = kit_pool(2);
        filch_run_on(pool, joins_while_there_is_work, 0);
        cells_check(&other, 1);
        kit_destroy(pool);
    }
}

/* ---- others ------------------------------------------------------------------------------------- */

static bool offered(void)
{
    lock_acquire(&pool->idle->lock);
    bool yes = pool->idle->lent == SEAT_OFFERED;
    lock_release(&pool->idle->lock);
    return yes;
}

static int runs_here(void *unused)
{
    (void)unused;
    filch_event_wait(&asked);
    return 7;
}

/* The pinned job waits, then joins a task: on one worker it has to run that itself, whole. */
static void waits_then_joins(void *unused)
{
    filch_task *t;
    int result = 0;
    (void)unused;
    filch_pin();
    CHECK_EQ(filch_spawn(&t, runs_here, 0), 0);
    filch_event_wait(&asked);
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    CHECK_EQ(result, 7);
    filch_unpin();
}

static void *answers_later(void *unused)
{
    (void)unused;
    KIT_AWAIT(offered());
    kit_nap_us(1000); /* a thread that helped would have begun the task, and left it waiting */
    filch_event_set(&asked);
    return NULL;
}

static void a_lent_seat_is_not_for_those_who_help(void)
{
    for (int round = 0; round < 20; round++) {
        filch_job job;
        pthread_t t;
        asked = (filch_event){0};
        pool = kit_pool(1);
        filch_job_init(&job, waits_then_joins, 0);
        CHECK_EQ(filch_submit_on(pool, &job, 0), 0);
        KIT_AWAIT(offered());
        CHECK_EQ(pthread_create(&t, NULL, answers_later, NULL), 0);
        CHECK_EQ(filch_job_wait(&job, FILCH_FOREVER), 0);
        CHECK_EQ(pthread_join(t, NULL), 0);
        kit_drain_and_destroy(pool);
    }
}

int main(void)
{
    kit_watchdog();
    RUN(a_pinned_wait_lends_its_seat_to_a_guest);
    RUN(a_pinned_read_lends_its_seat_to_a_guest);
    RUN(a_helping_join_lends_its_seat_to_a_guest);
    RUN(a_guest_that_joins_gives_a_lent_seat_back);
    RUN(a_guest_that_joins_leaves_its_seat_to_another);
    RUN(a_guest_that_joins_leaves_its_seat_to_the_pool);
    RUN(a_lent_seat_is_not_for_those_who_help);
    return check_report();
}
