/* task.c: models of the states of a task (core/task.h, core/go.c): joined, detached, run by its joiner, and
 * in every case freed once. Queues, waits and timers are real; the switch of fibers is played, and so is
 * the worker that takes the task. */
#include "mc.h"

#include "core/event.h"
#include "core/go.h"
#include "core/job.h"
#include "core/join.h"
#include "core/run.h"
#include "core/wait.h"

#include <errno.h>
#include <string.h>

static filch_pool pool;
static struct worker seats[2];
static uintptr_t storage[2][4];
static struct timers wheels[2];
static struct root root;
static uint32_t resumed;
static uint32_t left; /* plain, handed over with the fiber */
static unsigned wrote; /* plain, by the task */

/* ---- played: the rest of the core ------------------------------------------------------------ */

bool run_suspend(struct worker *w, bool (*publish)(struct fiber *from, void *arg), void *arg)
{
    left = 1;
    if (publish(w->fiber, arg)) {
        while (!filch_load_acquire(&resumed))
            (void)os_futex_wait(&resumed, 0, INT64_MAX);
        filch_store_relaxed(&resumed, 0u);
    }
    left = 0;
    return true;
}

bool run_suspend_for(struct worker *w, work_item it, bool (*publish)(struct fiber *from, void *arg),
                     void *arg)
{
    (void)it;
    return run_suspend(w, publish, arg);
}

void run_ready_from(struct worker *me, struct fiber *f)
{
    (void)me;
    mc_check(f == seats[0].fiber && left);
    filch_store_release(&resumed, 1u);
    os_futex_wake(&resumed, 1);
}

void run_guest(filch_pool *p, struct fiber *below, bool (*until)(void *), void *arg)
{
    (void)p, (void)below, (void)until, (void)arg;
}

void run_task_here(struct fiber *f, filch_task *copy)
{
    (void)f;
    copy->result = copy->fn.spawn(copy->arg);
}

work_item find_local(struct worker *w) { (void)w; return 0; }
work_item find_at_hand(struct worker *w) { (void)w; return 0; }
void find_expose(struct fiber *f) { (void)f; }
void find_hide(struct fiber *f) { (void)f; }
void idle_notify(filch_pool *p, struct worker *w) { (void)p, (void)w; }
bool idle_crippled(filch_pool *p) { (void)p; return false; }
struct away idle_seat_step_out(struct worker *w) { return (struct away){w->body, w->fiber, w->guest}; }
void idle_seat_step_in(struct worker *w, struct away away) { (void)w, (void)away; }
bool join_run_own(struct worker *w, struct fiber *f) { (void)w, (void)f; return false; }
int64_t event_deadline(filch_pool *p, int64_t deadline) { (void)p; return deadline; }
int job_begin_task(filch_pool *p, struct worker *w) { (void)p, (void)w; return 0; }
void job_check_pool(const filch_pool *p, const char *call) { (void)p, (void)call; }
filch_pool *job_pool(filch_pool *p) { return p; }
void job_help(filch_pool *p, bool (*until)(void *), void *arg, int64_t deadline)
{
    (void)p, (void)until, (void)arg, (void)deadline;
}

/* ---- the worker that takes it ------------------------------------------------------------------- */

/* Free is free: it may be the next task at once. */
static void use_again(struct worker *w)
{
    filch_task *t = task_alloc(&pool.tasks, &w->tasks);
    *t = (filch_task){.flags = 1};
    task_free(&pool.tasks, &w->tasks, t);
}

/* run_task of run.c, without the stack. */
static void run(struct worker *w, filch_task *t)
{
    os_self_set(w);
    if (task_claim(t)) {
        t->result = t->fn.spawn(t->arg);
        go_finish(t);
    } else {
        task_free(&pool.tasks, &w->tasks, t);
    }
    use_again(w);
    os_self_set(0);
}

static void thief(void *unused)
{
    work_item it;
    (void)unused;
    if (queue_steal(&seats[1], &seats[0], &it) == QUEUE_TAKEN)
        run(&seats[1], item_as_task(it));
    else if (inject_take(&pool.injector, &it, 1) == 1)
        run(&seats[1], item_as_task(it));
}

static void clock_of_another(void *unused)
{
    (void)unused;
    (void)timers_run(&wheels[0], (int64_t)1 << 40);
}

/* ---- a task --------------------------------------------------------------------------------------- */

static int task(void *arg)
{
    mc_ran(0);
    wrote = 5;
    return *(int *)arg;
}

static void start(struct fiber *f, bool room)
{
    pool.plain = pool.run_next = true;
    pool.workers = seats;
    pool.count = 2;
    pool.fibers[FIBER_SMALL].stack_size = 4096;
    for (int i = 0; i < 2; i++) {
        seats[i] = (struct worker){.pool = &pool, .id = i, .timers = &wheels[i]};
        ring_init(&seats[i].ring, storage[i], 4, 0);
        timers_init(&wheels[i], 0);
    }
    if (f) { /* on the stack of the flow: what it calls is below it */
        memset(f, 0, sizeof *f);
        f->pool = &pool;
        f->store = &pool.fibers[FIBER_SMALL];
        f->region = (char *)f - (room ? 100000 : 0);
        f->context.stack_size = 0;
        slots_init(&f->slots, 0, 0, false);
        f->root = &root; /* as a task that has forked nothing */
        f->lineage = &root.here;
        seats[0].fiber = f;
        os_self_set(&seats[0]);
    }
}

static filch_task *spawn(void)
{
    static int answer = 42;
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    filch_task *t;
    a.pool = &pool;
    mc_born(0);
    mc_check(filch_spawn_with(&t, &a, task, &answer) == 0);
    if (os_self_get())
        queue_flush_next(&seats[0]); /* where others take it at once */
    return t;
}

static size_t count_free(filch_task *t)
{
    mc_check(t->flags != 0x77); /* not met before */
    t->flags = 0x77;
    return 1;
}

/* Runs what nobody took, and counts descriptors: each is free once, and none is gone. */
static void end(void)
{
    work_item it;
    if (queue_pop(&seats[0], &it) || inject_take(&pool.injector, &it, 1))
        run(&seats[0], item_as_task(it));
    size_t free = 0;
    for (filch_task *t = pool.tasks.loose; t; t = (filch_task *)t->link)
        free += count_free(t);
    for (struct task_box *b = pool.tasks.boxes; b; b = b->older)
        for (unsigned i = 0; i < b->count; i++)
            free += count_free(b->task[i]);
    mc_check(free % TASK_BATCH <= 1);
    task_store_destroy(&pool.tasks);
}

/* What was on the stack of a call that returned is not touched by others: they would race with this. */
static __attribute__((noinline)) void use_stack(void)
{
    uintptr_t junk[100];
    for (int i = 0; i < 100; i++)
        junk[i] = (uintptr_t)i;
    __asm__ __volatile__("" : : "r"(junk) : "memory");
}

static void joined(filch_task *t, int64_t deadline)
{
    int result = 0, rc = filch_task_join(t, &result, deadline);
    use_stack();
    if (rc == -ETIMEDOUT) /* the handle is still good */
        rc = filch_task_join(t, &result, FILCH_FOREVER);
    mc_check(rc == 0 && result == 42 && wrote == 5);
    if (os_self_get())
        use_again(&seats[0]);
}

/* ---- models ---------------------------------------------------------------------------------------- */

static void task_joined_by_worker(void)
{
    struct fiber f;
    start(&f, true);
    filch_task *t = spawn();
    mc_thread(thief, 0);
    joined(t, FILCH_FOREVER);
    mc_join_all();
    end();
}
MC_MODEL(task_joined_by_worker, .claim = "[T1] [T2] run by its joiner or by a thief, once, and freed once",
         .preemptions = 3, .stale = 2);

static void task_waited_for_by_fiber(void)
{
    struct fiber f;
    start(&f, false);
    filch_task *t = spawn();
    mc_thread(thief, 0);
    joined(t, FILCH_FOREVER);
    mc_join_all();
    end();
}
MC_MODEL(task_waited_for_by_fiber, .claim = "[T1] a joiner that waits is resumed by the end, once",
         .preemptions = 3, .stale = 2);

static void task_waited_for_by_thread(void)
{
    start(0, false);
    filch_task *t = spawn();
    mc_thread(thief, 0);
    joined(t, FILCH_FOREVER);
    mc_join_all();
    end();
}
MC_MODEL(task_waited_for_by_thread, .claim = "[T1] the same for a thread outside", .preemptions = 3,
         .stale = 2);

static void task_join_times_out(void)
{
    struct fiber f;
    start(&f, false);
    filch_task *t = spawn();
    mc_thread(thief, 0);
    mc_thread(clock_of_another, 0);
    joined(t, os_clock_ns() + 1000);
    mc_join_all();
    mc_check(wheels[0].count == 0);
    end();
}
MC_MODEL(task_join_times_out, .claim = "a join that gives up leaves a handle that can be joined",
         .preemptions = 2, .stale = 1, .spins = MC_ZERO, .spurious = MC_ZERO);

static void task_detached(void)
{
    struct fiber f;
    start(&f, true);
    filch_task *t = spawn();
    mc_thread(thief, 0);
    filch_task_detach(t);
    use_again(&seats[0]);
    mc_join_all();
    end();
}
MC_MODEL(task_detached, .claim = "detached while it begins or ends: it runs, and is freed by one of the two",
         .preemptions = MC_UNBOUNDED);

static void task_looked_at(void)
{
    struct fiber f;
    start(&f, true);
    filch_task *t = spawn();
    mc_thread(thief, 0);
    if (filch_task_done(t))
        mc_check(wrote == 5);
    joined(t, FILCH_FOREVER);
    mc_join_all();
    end();
}
MC_MODEL(task_looked_at, .claim = "[T1] who sees that it is done sees what it wrote", .preemptions = 2,
         .stale = 2);

/* ---- descriptors from outside -------------------------------------------------------------------- */

static filch_task *taken[2];

static void takes_and_gives(void *arg)
{
    uintptr_t i = (uintptr_t)arg;
    filch_task *t = task_alloc(&pool.tasks, i ? &seats[i].tasks : 0);
    t->result = (int)i; /* plain: nobody else has it */
    taken[i] = t;
    task_free(&pool.tasks, i ? &seats[i].tasks : 0, t);
}

static void task_descriptors_are_given_once(void)
{
    start(0, false);
    mc_thread(takes_and_gives, (void *)1);
    takes_and_gives(0);
    mc_join_all();
    task_store_destroy(&pool.tasks);
}
MC_MODEL(task_descriptors_are_given_once, .claim = "a worker and a thread outside never have the same one",
         .preemptions = 3, .stale = 2);
