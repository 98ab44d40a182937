/* test_task_edges.c: tasks and timers where policies, guests, stacks and other work get in the way. */
#include "pool_kit.h"

#include "core/find.h"
#include "core/idle_set.h"
#include "core/run.h"

#include <filch/task.h>
#include <sys/wait.h>

static filch_task_attr on(filch_pool *pool)
{
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.pool = pool;
    return a;
}

static filch_task *spawn(filch_pool *pool, int (*fn)(void *), void *arg)
{
    filch_task_attr a = on(pool);
    filch_task *t = NULL;
    CHECK_EQ(filch_spawn_with(&t, &a, fn, arg), 0);
    return t;
}

static int join(filch_task *t)
{
    int result = -1;
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    return result;
}

/* ---- hogs, whatever the thieves' policy ----------------------------------------------------------- */

struct hogs {
    uint32_t freed, on;
    uint32_t want; /* how many hogs have to be on before any looks */
};

static void frees(void *arg)
{
    (void)kit_count(&((struct hogs *)arg)->freed);
}

static int hogs(void *arg)
{
    struct hogs *h = arg;
    (void)kit_count(&h->on);
    KIT_AWAIT(kit_raised(&h->on) == h->want);
    CHECK_EQ(filch_go(frees, h), 0);
    KIT_AWAIT(kit_raised(&h->freed) == h->want); /* never gives up its worker */
    return 0;
}

static void hogs_are_robbed(enum filch_victim victim, int count)
{
    struct hogs h = {.want = (uint32_t)count};
    filch_task *t[4];
    filch_config c = kit_config(count + 1);
    c.victim = victim;
    filch_pool *pool = kit_make(&c);
    for (int i = 0; i < count; i++)
        t[i] = spawn(pool, hogs, &h);
    KIT_AWAIT(kit_raised(&h.freed) == h.want); /* not as a guest */
    for (int i = 0; i < count; i++)
        CHECK_EQ(join(t[i]), 0);
    kit_destroy(pool);
}

static void what_is_next_at_hogs_is_stolen_under_every_policy(void)
{
    for (int victim = FILCH_VICTIM_RANDOM; victim <= FILCH_VICTIM_LARGEST; victim++)
        for (int count = 1; count <= 2; count++)
            hogs_are_robbed((enum filch_victim)victim, count);
}

/* ---- timers of a worker that does not come ----------------------------------------------------------- */

struct timed {
    uint32_t asleep, woke, stop;
};

static void sleeps(void *arg)
{
    struct timed *s = arg;
    (void)kit_count(&s->asleep);
    filch_sleep_ns(2000000);
    (void)kit_count(&s->woke);
}

/* Leaves a sleeper in its worker's wheel, and keeps the worker until that wakes. */
static int keeps_its_worker(void *arg)
{
    struct timed *s = arg;
    CHECK_EQ(filch_go(sleeps, s), 0);
    while (!kit_raised(&s->asleep))
        filch_yield();
    KIT_AWAIT(kit_raised(&s->woke));
    kit_raise(&s->stop);
    return 0;
}

static void a_hogs_timers_fire_under(enum filch_victim victim)
{
    struct timed s = {0};
    filch_config c = kit_config(2);
    c.victim = victim;
    filch_pool *pool = kit_make(&c);
    filch_task *t = spawn(pool, keeps_its_worker, &s);
    KIT_AWAIT(kit_raised(&s.woke));
    CHECK_EQ(join(t), 0);
    kit_destroy(pool);
}

static void timers_of_a_hog_fire_under_every_policy(void)
{
    for (int victim = FILCH_VICTIM_RANDOM; victim <= FILCH_VICTIM_LAST; victim++)
        a_hogs_timers_fire_under((enum filch_victim)victim);
}

static int fired;

static void fires(struct timer *t)
{
    (void)t;
    fired++;
}

/* Not only now and then: who searches has nothing else to do. In a pool without threads. */
static void who_searches_looks_at_all_timers_under(enum filch_victim victim)
{
    struct timer t = {.fire = fires};
    filch_config c = kit_config(2);
    c.victim = victim;
    filch_pool *pool = kit_make(&c);
    pool->idle->scout = 1; /* as if somebody came: nobody is started */
    struct worker *w = idle_seat_enter(pool);
    CHECK_EQ(w->id, 0);
    timers_add(pool->workers[1].timers, &t, os_clock_ns() - 1000000);
    kit_nap_us(100); /* the tick that it comes in */
    w->little_since_ns = 0; /* what came last did not take long */
    fired = 0;
    CHECK_EQ(find_steal(w).what, FOUND_NOTHING);
    CHECK_EQ(fired, 1);
    pool->idle->scout = -1;
    w->little = false;
    idle_seat_leave(w);
    kit_destroy(pool);
}

static void who_searches_looks_at_all_timers_under_every_policy(void)
{
    for (int victim = FILCH_VICTIM_RANDOM; victim <= FILCH_VICTIM_LAST; victim++)
        who_searches_looks_at_all_timers_under((enum filch_victim)victim);
}

static int never_idle(void *arg)
{
    struct timed *s = arg;
    while (!kit_raised(&s->stop))
        filch_yield();
    return 0;
}

/* The other worker has always something in its queue: it never searches. */
static void timers_of_a_hog_fire_although_nobody_is_idle(void)
{
    struct timed s = {0};
    filch_pool *pool = kit_pool(2);
    filch_task *t = spawn(pool, keeps_its_worker, &s);
    KIT_AWAIT(kit_raised(&s.asleep));
    filch_task *a = spawn(pool, never_idle, &s), *b = spawn(pool, never_idle, &s);
    KIT_AWAIT(kit_raised(&s.woke));
    CHECK_EQ(join(t) + join(a) + join(b), 0);
    kit_destroy(pool);
}

/* ---- tasks behind a hog, while nobody searches -------------------------------------------------------- */

enum { BEHIND = 5 };

struct behind {
    uint32_t hogs, busy, ran, stop;
    uint32_t want; /* to run */
};

static void runs_behind(void *arg)
{
    struct behind *s = arg;
    (void)kit_count(&s->ran);
}

/* Keeps its worker until what it left in the queue has run: elsewhere. */
static int hogs_before_others(void *arg)
{
    struct behind *s = arg;
    (void)kit_count(&s->hogs);
    KIT_AWAIT(kit_raised(&s->busy));
    for (int i = 0; i < BEHIND; i++)
        CHECK_EQ(filch_go(runs_behind, s), 0);
    KIT_AWAIT(kit_raised(&s->ran) == s->want);
    return 0;
}

static int yields_until_stopped(void *arg)
{
    struct behind *s = arg;
    (void)kit_count(&s->busy);
    while (!kit_raised(&s->stop))
        filch_yield();
    return 0;
}

static void robbed_by_the_busy(int hogs, int busy)
{
    struct behind s = {.want = (uint32_t)(hogs * BEHIND)};
    filch_task *t[4];
    int n = 0;
    filch_pool *pool = kit_pool(hogs + 1);
    while (n < hogs)
        t[n++] = spawn(pool, hogs_before_others, &s);
    KIT_AWAIT(kit_raised(&s.hogs) == (uint32_t)hogs);
    while (n < hogs + busy)
        t[n++] = spawn(pool, yields_until_stopped, &s);
    KIT_AWAIT(kit_raised(&s.ran) == s.want);
    kit_raise(&s.stop);
    while (n > 0)
        CHECK_EQ(join(t[--n]), 0);
    kit_destroy(pool);
}

/* Neither where one task has nobody to yield to, nor where the queue is never empty. */
static void tasks_behind_hogs_run_although_nobody_is_idle(void)
{
    for (int hogs = 1; hogs <= 2; hogs++)
        for (int busy = 1; busy <= 2; busy++)
            robbed_by_the_busy(hogs, busy);
}

/* One worker leaves a timer and sleeps; the one that keeps the time has to fire it. */
static void goes_one_sleeper(void *arg)
{
    filch_task_attr a = on(filch_pool_current());
    CHECK_EQ(filch_go_with(&a, sleeps, arg), 0);
}

static void a_timer_fires_when_everybody_sleeps_under_every_policy(void)
{
    for (int victim = FILCH_VICTIM_RANDOM; victim <= FILCH_VICTIM_LAST; victim++) {
        filch_config c = kit_config(4);
        c.victim = (enum filch_victim)victim;
        c.steal_attempts = 1;
        filch_pool *pool = kit_make(&c);
        filch_task_attr a = on(pool);
        for (uint32_t round = 0; round < 50; round++) {
            struct timed s = {0};
            for (int i = 0; i < 8; i++)
                CHECK_EQ(filch_go_with(&a, goes_one_sleeper, &s), 0);
            KIT_AWAIT(kit_raised(&s.woke) == 8);
            CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        }
        kit_destroy(pool);
    }
}

/* ---- a task that its joiner runs --------------------------------------------------------------------- */

struct inlined {
    uint32_t stolen, joined, seen;
    const struct lineage *lineage;
    const struct root *root;
};

/* Stolen while the joiner waits for another task, or runs it; looks when that is over. */
static void looks_up(void *arg)
{
    struct inlined *s = arg;
    struct fiber *f = run_fiber();
    if (f->lineage == s->lineage)
        return; /* not stolen: the joiner runs it itself */
    kit_raise(&s->stolen);
    KIT_AWAIT(kit_raised(&s->joined));
    CHECK_EQ(f->root, s->root);
    CHECK_EQ(f->lineage->up, s->lineage);
    kit_raise(&s->seen);
}

static int until_stolen(void *arg)
{
    struct inlined *s = arg;
    CHECK_STR(filch_task_name(), "inner");
    filch_task_rename("other");
    KIT_AWAIT(kit_raised(&s->stolen));
    return 5;
}

static int forks_and_joins(void *arg)
{
    struct inlined *s = arg;
    filch_job job;
    filch_task *t;
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    a.name = "inner";
    s->lineage = run_fiber()->lineage;
    s->root = run_fiber()->root;
    filch_fork(&job, looks_up, s);
    CHECK_EQ(filch_spawn_with(&t, &a, until_stolen, s), 0);
    CHECK_EQ(join(t), 5);
    CHECK_STR(filch_task_name(), "outer");
    kit_raise(&s->joined);
    filch_join(&job);
    return 0;
}

static int sets_errno(void *arg)
{
    (void)arg;
    CHECK_STR(filch_task_name(), "inner");
    errno = 77;
    return 5;
}

static int joins_with_errno(void *arg)
{
    filch_task *t;
    filch_task_attr a = FILCH_TASK_ATTR_INIT;
    (void)arg;
    a.name = "inner";
    CHECK_EQ(filch_spawn_with(&t, &a, sets_errno, NULL), 0);
    *filch_errno() = 33;
    CHECK_EQ(join(t), 5);
    CHECK_EQ(*filch_errno(), 33);
    CHECK_STR(filch_task_name(), "outer");
    return 0;
}

static void a_task_run_by_its_joiner_leaves_errno_and_name_alone(void)
{
    filch_pool *pool = kit_pool(1);
    filch_task_attr a = on(pool);
    filch_task *t;
    a.name = "outer";
    CHECK_EQ(filch_spawn_with(&t, &a, joins_with_errno, NULL), 0);
    CHECK_EQ(join(t), 0);
    kit_destroy(pool);
}

static void a_fork_stolen_during_a_join_knows_where_it_came_from(void)
{
    for (int round = 0; round < 20; round++) {
        struct inlined s = {0};
        filch_pool *pool = kit_pool(2);
        filch_task_attr a = on(pool);
        filch_task *t;
        a.name = "outer";
        CHECK_EQ(filch_spawn_with(&t, &a, forks_and_joins, &s), 0);
        CHECK_EQ(join(t), 0);
        CHECK_EQ(s.seen, 1u);
        kit_destroy(pool);
    }
}

/* The same for a fork that a pinned wait runs: the younger one is stolen meanwhile. */
struct pinned {
    struct inlined of;
    filch_event event;
};

static void until_the_younger_is_stolen(void *arg)
{
    KIT_AWAIT(kit_raised(&((struct pinned *)arg)->of.stolen));
}

static void looks_up_and_sets(void *arg)
{
    struct pinned *p = arg;
    struct fiber *f = run_fiber();
    bool stolen = f->lineage != p->of.lineage;
    kit_raise(&p->of.stolen);
    filch_event_set(&p->event);
    if (!stolen)
        return;
    KIT_AWAIT(kit_raised(&p->of.joined));
    CHECK_EQ(f->lineage->up, p->of.lineage);
    kit_raise(&p->of.seen);
}

static int waits_pinned(void *arg)
{
    struct pinned *p = arg;
    filch_job older, younger;
    filch_pin();
    p->of.lineage = run_fiber()->lineage;
    filch_fork(&older, until_the_younger_is_stolen, p);
    filch_fork(&younger, looks_up_and_sets, p);
    filch_event_wait(&p->event);
    kit_raise(&p->of.joined);
    filch_join(&younger);
    filch_join(&older);
    filch_unpin();
    return (int)p->of.seen;
}

static void a_fork_stolen_during_a_pinned_wait_knows_where_it_came_from(void)
{
    int seen = 0;
    filch_pool *pool = kit_pool(2);
    for (int round = 0; round < 200; round++) {
        struct pinned p = {0};
        seen += join(spawn(pool, waits_pinned, &p));
    }
    CHECK(seen > 0);
    kit_destroy(pool);
}

/* As much stack as a task may count on, deep down a chain of joins. */
enum { PROMISED = (KIT_SLOW ? 16 : 30) << 10, CHAIN = 60 }; /* frames of sanitizers are larger */

static int uses_stack(void *arg)
{
    char frame[PROMISED];
    memset(frame, *(int *)arg, sizeof frame);
    __asm__ __volatile__("" : : "r"(frame) : "memory"); /* it is used */
    return frame[PROMISED / 2];
}

static int chain(void *arg)
{
    int depth = *(int *)arg, below = depth - 1;
    char frame[600];
    filch_task *t;
    frame[0] = (char)depth;
    __asm__ __volatile__("" : : "r"(frame) : "memory"); /* it is used */
    CHECK_EQ(filch_spawn(&t, depth == 0 ? uses_stack : chain, &below), 0);
    return join(t);
}

static void a_task_run_by_its_joiner_has_half_a_stack_at_least(void)
{
    filch_pool *pool = kit_pool(1);
    for (int depth = 0; depth < CHAIN; depth++)
        CHECK_EQ(join(spawn(pool, chain, &depth)), -1);
    kit_destroy(pool);
}

/* ---- waits that stay on their thread ---------------------------------------------------------------- */

static int joins_pinned(void *arg)
{
    filch_task *t;
    int result = 0;
    filch_pin();
    CHECK_EQ(filch_spawn(&t, never_idle, arg), 0);
    CHECK_EQ(filch_task_join(t, &result, filch_clock_ns() + 2000000), -ETIMEDOUT);
    filch_sleep_ns(1000000);
    kit_raise(&((struct timed *)arg)->stop);
    CHECK_EQ(filch_task_join(t, &result, FILCH_FOREVER), 0);
    filch_unpin();
    return 0;
}

static void a_pinned_wait_has_its_deadline(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        struct timed s = {0};
        filch_pool *pool = kit_pool(workers);
        CHECK_EQ(join(spawn(pool, joins_pinned, &s)), 0);
        kit_destroy(pool);
    }
}

static void sets(void *event)
{
    filch_event_set(event);
}

/* A guest in the only seat: what it spawned goes where the pool's thread sees it. */
static void spawns_and_waits(void *arg)
{
    filch_event event = {0};
    (void)arg;
    CHECK_EQ(filch_go(sets, &event), 0);
    filch_event_wait(&event);
}

static void a_guest_leaves_nothing_in_its_seat(void)
{
    filch_pool *pool = kit_pool(1);
    for (int round = 0; round < 200; round++)
        filch_run_on(pool, spawns_and_waits, NULL);
    kit_destroy(pool);
}

static void sleeps_as_guest(void *arg)
{
    struct timed *s = arg;
    CHECK_EQ(filch_go(sleeps, s), 0);
}

static void a_guest_leaves_timers_to_the_pool(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        struct timed s = {0};
        filch_pool *pool = kit_pool(workers);
        filch_run_on(pool, sleeps_as_guest, &s);
        KIT_AWAIT(kit_raised(&s.woke)); /* nobody else is in the pool */
        kit_destroy(pool);
    }
}

/* ---- descriptors ------------------------------------------------------------------------------------- */

enum { LIVE = 300, ROUNDS = KIT_SLOW ? 8 : 40 };

static const void *handles[LIVE * ROUNDS];

static int nothing(void *arg)
{
    (void)arg;
    return 0;
}

static int by_address(const void *a, const void *b)
{
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return x < y ? -1 : x > y;
}

static size_t distinct(size_t n)
{
    size_t different = 0;
    qsort(handles, n, sizeof handles[0], by_address);
    for (size_t i = 0; i < n; i++)
        different += i == 0 || handles[i] != handles[i - 1];
    return different;
}

static int joins_many(void *arg)
{
    int at_once = *(int *)arg;
    filch_task *t[LIVE];
    for (int i = 0; i < LIVE * ROUNDS; i += at_once) {
        for (int k = 0; k < at_once; k++) {
            CHECK_EQ(filch_spawn(&t[k], nothing, NULL), 0);
            handles[i + k] = t[k];
        }
        for (int k = 0; k < at_once; k++)
            CHECK_EQ(join(t[k]), 0);
        filch_yield(); /* what was run by its joiner is taken out of the queue */
    }
    return 0;
}

static void descriptors_are_used_again(void)
{
    static const int at_once[] = {1, 2, 50, LIVE};
    for (size_t i = 0; i < sizeof at_once / sizeof at_once[0]; i++) {
        int n = at_once[i];
        filch_pool *pool = kit_pool(1);
        CHECK_EQ(join(spawn(pool, joins_many, &n)), 0);
        CHECK(distinct(LIVE * ROUNDS) <= (size_t)n + 600);
        kit_destroy(pool);
    }
}

/* ---- a wait that is over while the waiter leaves its stack ------------------------------------------- */

enum { BRINKS = KIT_SLOW ? 200 : 1000 };

struct brink {
    filch_event event[BRINKS];
    uint32_t at; /* the one that is about to be waited for */
    uint32_t stop;
};

static int waits_at_the_brink(void *arg)
{
    struct brink *b = arg;
    for (uint32_t i = 0; i < BRINKS; i++) {
        filch_store_release(&b->at, i + 1);
        filch_event_wait(&b->event[i]);
        kit_beat();
    }
    kit_raise(&b->stop);
    return 0;
}

/* There is always another fiber to go on with. */
static int goes_round(void *arg)
{
    while (!kit_raised(&((struct brink *)arg)->stop))
        filch_yield();
    return 0;
}

static void a_waiter_comes_back_that_need_not_have_left(void)
{
    static struct brink b;
    for (int workers = 1; workers <= 2; workers++) {
        memset(&b, 0, sizeof b);
        filch_pool *pool = kit_pool(workers);
        filch_task *t[3];
        for (int i = 0; i < 2; i++)
            t[i] = spawn(pool, goes_round, &b);
        t[2] = spawn(pool, waits_at_the_brink, &b);
        for (uint32_t i = 0; i < BRINKS; i++) {
            while (filch_load_acquire(&b.at) != i + 1)
                sched_yield();
            filch_event_set(&b.event[i]);
        }
        for (int i = 0; i < 3; i++)
            CHECK_EQ(join(t[i]), 0);
        kit_destroy(pool);
    }
}

/* ---- every policy ------------------------------------------------------------------------------------ */

struct grove {
    uint32_t ran;
    int depth;
    struct grove *whole;
};

/* Three children each: joined, joined with deadlines at first, and left alone. */
static int grows(void *arg);

static void grows_alone(void *arg)
{
    struct grove *below = arg;
    (void)grows(below);
    free(below);
}

static int grows(void *arg)
{
    struct grove *g = arg, below = {.depth = g->depth - 1, .whole = g->whole};
    filch_task *a, *b;
    (void)kit_count(&g->whole->ran);
    if (g->depth == 0) {
        filch_sleep_ns(20000);
        return 1;
    }
    struct grove *alone = malloc(sizeof *alone);
    *alone = below;
    CHECK_EQ(filch_spawn(&a, grows, &below), 0);
    CHECK_EQ(filch_go(grows_alone, alone), 0);
    CHECK_EQ(filch_spawn(&b, grows, &below), 0);
    filch_yield();
    int result = 0, rc = -ETIMEDOUT;
    for (int i = 0; i < 3 && rc == -ETIMEDOUT; i++)
        rc = filch_task_join(a, &result, filch_clock_ns() + 30000);
    CHECK(rc == 0 || rc == -ETIMEDOUT);
    return (rc == 0 ? result : join(a)) + join(b);
}

static void grow_with(const filch_config *c)
{
    enum { DEPTH = 3, ALL = 40, JOINED = 8 }; /* 1 + 3 + 9 + 27, 2^3 */
    filch_pool *pool = kit_make(c);
    for (int round = 0; round < 2; round++) {
        struct grove g = {.depth = DEPTH};
        g.whole = &g;
        filch_task *t = spawn(pool, grows, &g);
        if (round == 0)
            CHECK_EQ(join(t), JOINED);
        else
            filch_task_detach(t);
        CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
        CHECK_EQ(filch_load_acquire(&g.ran), ALL);
    }
    kit_destroy(pool);
}

static void tasks_run_under_every_policy(void)
{
    for (int queue = FILCH_QUEUE_RING; queue <= FILCH_QUEUE_TRYLOCK; queue++)
        for (int wake = FILCH_WAKE_ONE; wake <= FILCH_WAKE_NONE; wake++)
            for (int idle = FILCH_IDLE_PARK; idle <= FILCH_IDLE_SLEEP; idle++)
                for (int ends = FILCH_ENDS_FIFO; ends <= FILCH_ENDS_REVERSE; ends++)
                    for (int help = 0; help < 2; help++) {
                        if (KIT_SLOW && (queue + wake + idle + ends + help) % 4)
                            continue; /* all pairs of two settings are still there */
                        filch_config c = kit_config(1 + (queue + wake + ends) % 3);
                        c.queue = (enum filch_queue)queue;
                        c.wake = (enum filch_wake)wake;
                        c.idle = (enum filch_idle)idle;
                        c.ends = (enum filch_ends)ends;
                        c.join = help ? FILCH_JOIN_HELP : FILCH_JOIN_SUSPEND;
                        c.ring_capacity = 4;
                        grow_with(&c);
                    }
}

/* ---- fork() ------------------------------------------------------------------------------------------ */

static void a_child_of_fork_has_an_empty_pool_that_works(void)
{
    filch_pool *pool = kit_pool(2);
    filch_task_attr a = on(pool);
    struct timed s = {0};
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 50; i++)
            CHECK_EQ(filch_go_with(&a, goes_one_sleeper, &s), 0);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            struct timed own = {0};
            struct grove g = {.depth = 3};
            g.whole = &g;
            CHECK_EQ(filch_go_with(&a, goes_one_sleeper, &own), 0);
            CHECK_EQ(join(spawn(pool, grows, &g)), 8);
            CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
            CHECK_EQ(kit_raised(&own.woke), 1);
            CHECK_EQ(filch_load_acquire(&g.ran), 40);
            _exit(0);
        }
        int status = 0;
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
        kit_beat();
    }
    CHECK_EQ(filch_pool_wait(pool, FILCH_FOREVER), 0);
    CHECK_EQ(kit_raised(&s.woke), 500);
    kit_destroy(pool);
}

struct meeting {
    uint32_t came, all;
};

FILCH_TASK(int, one_more, int, n) { return n + 1; }

static int runs_a_root(void *arg)
{
    struct meeting *m = arg;
    kit_count(&m->came);
    KIT_AWAIT(kit_raised(&m->came) == m->all);
    return FILCH_RUN(one_more, 1);
}

/* Every worker has a task that waits for a root: nobody is left to run them but those tasks. */
static void roots_in_tasks_need_no_other_worker_where_joins_help(void)
{
    for (int workers = 1; workers <= 3; workers++) {
        filch_config c = kit_config(workers);
        filch_task_attr attr = FILCH_TASK_ATTR_INIT;
        struct meeting m = {.all = (uint32_t)workers};
        filch_task *t[3];
        c.join = FILCH_JOIN_HELP;
        attr.pool = kit_make(&c);
        for (int i = 0; i < workers; i++)
            CHECK_EQ(filch_spawn_with(&t[i], &attr, runs_a_root, &m), 0);
        KIT_AWAIT(kit_raised(&m.came) == m.all);
        for (int i = 0; i < workers; i++) {
            int two = 0;
            CHECK_EQ(filch_task_join(t[i], &two, FILCH_FOREVER), 0);
            CHECK_EQ(two, 2);
        }
        kit_destroy(attr.pool);
    }
}

int main(void)
{
    kit_watchdog();
    RUN(what_is_next_at_hogs_is_stolen_under_every_policy);
    RUN(timers_of_a_hog_fire_under_every_policy);
    RUN(who_searches_looks_at_all_timers_under_every_policy);
    RUN(timers_of_a_hog_fire_although_nobody_is_idle);
    RUN(tasks_behind_hogs_run_although_nobody_is_idle);
    RUN(a_timer_fires_when_everybody_sleeps_under_every_policy);
    RUN(a_task_run_by_its_joiner_leaves_errno_and_name_alone);
    RUN(a_fork_stolen_during_a_join_knows_where_it_came_from);
    RUN(a_fork_stolen_during_a_pinned_wait_knows_where_it_came_from);
    RUN(a_task_run_by_its_joiner_has_half_a_stack_at_least);
    RUN(a_pinned_wait_has_its_deadline);
    RUN(a_guest_leaves_nothing_in_its_seat);
    RUN(a_guest_leaves_timers_to_the_pool);
    RUN(descriptors_are_used_again);
    RUN(a_waiter_comes_back_that_need_not_have_left);
    RUN(tasks_run_under_every_policy);
    RUN(roots_in_tasks_need_no_other_worker_where_joins_help);
    if (!KIT_SLOW)
        RUN(a_child_of_fork_has_an_empty_pool_that_works);
    return check_report();
}
