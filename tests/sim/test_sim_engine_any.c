/* test_sim_engine_any.c: what holds for runs of any kind, on settings drawn at random; what is refused. */
#include "sim_kit.h"

#include "base/rng.h"
#include "policy/names.h"

#include <errno.h>

#ifdef SIM_SHORT
enum { CASES = 300 };
#else
enum { CASES = 3000 };
#endif

static struct rng rng;
static char pairs[KIT_TEXT]; /* of the case that is checked: to be seen in a debugger */

/* ---- random settings ---------------------------------------------------------------------- */

static const char *pick(const char *const *list, uint32_t n)
{
    return list[rng_below(&rng, n)];
}

#define PICK(...)                                                                                     \
    pick((const char *const[]){__VA_ARGS__}, sizeof(const char *[]){__VA_ARGS__} / sizeof(const char *))

static const char *any_word(enum policy_key key)
{
    size_t n;
    const struct policy_word *w = policy_words(&n);
    for (;;) {
        uint32_t i = rng_below(&rng, (uint32_t)n);
        if (w[i].key == key && w[i].where & POLICY_SIM)
            return w[i].value;
    }
}

static size_t add_words(char *to, size_t size)
{
    size_t n = 0;
    for (int k = 0; k < POLICY_WORDS; k++)
        if (rng_below(&rng, 2))
            n += (size_t)snprintf(to + n, size - n, " %s=%s", policy_key_name((enum policy_key)k),
                                  any_word((enum policy_key)k));
    return n;
}

static void any_setting(char *to, size_t size)
{
    static const char *const cost[] = {"exec", "spawn_cost", "pop", "join_cost", "probe", "failed",
                                       "steal_near", "steal_far", "wake_cost", "migrate", "lock"};
    size_t n = (size_t)snprintf(to, size, "until=%s events=30000 seed=%u workers=%s group=%s",
                                PICK("5", "40", "1000"), rng_below(&rng, 1000),
                                PICK("1", "2", "3", "7", "20"), PICK("0", "1", "2", "3"));
    n += add_words(to + n, size - n);
    for (size_t i = 0; i < sizeof cost / sizeof *cost; i++)
        if (rng_below(&rng, 3) == 0)
            n += (size_t)snprintf(to + n, size - n, " %s=%s", cost[i], PICK("1ns", "1ms", "7ms", "0.1"));
    snprintf(to + n, size - n,
             " spin=%s attempts=%s cycle_attempts=%s ring=%s global_every=%s backoff_jitter=%s"
             " collisions=%s own_end=%s speeds=%s",
             PICK("1", "3"), PICK("all", "1", "2"), PICK("all", "4"), PICK("0", "0", "2", "5"),
             PICK("0", "1", "3"), PICK("0", "50"), PICK("off", "off", "on"), PICK("on", "off"),
             PICK("-", "1,2,0.5"));
}

static const char *any_load(void)
{
    return PICK("tasks=40 duration=exp:1", "tasks=50 arrive=gaps gap=exp:0.3 duration=uniform:0.1..2",
                "tasks=50 arrive=onoff gap=0.1 on=1 off=2 duration=0.5 place=global",
                "arrive=bursts burst=0:0:9,1:random:20,1:0:5 duration=pareto:0.1,1.5 place=0",
                "load=spawning tasks=25 arrive=gaps gap=0.4 duration=exp:1 spawn=0.5",
                "load=joining tasks=25 arrive=gaps gap=0.4 duration=exp:1 spawn=0.45",
                "load=tree tree=fib:9 leaf=0.1 before=0.01 after=0.02",
                "load=tree tree=random:150 leaf=exp:0.2", "load=closed tasks=9 duration=exp:0.7");
}

/* ---- what holds --------------------------------------------------------------------------- */

static void check_worker(const struct sim_worker_result *w, sim_time end)
{
    const sim_time spent[] = {w->busy, w->seeking, w->waiting, w->parked, w->blocked};
    sim_time sum = 0;
    for (int i = 0; i < 5; i++) {
        CHECK(spent[i] >= 0);
        sum += spent[i];
    }
    CHECK_EQ(sum, end);
    CHECK(w->vain <= w->searches && w->steals <= w->stolen);
    CHECK(w->steals + w->failed <= w->attempts);
    CHECK(w->attempts <= w->steals + w->failed + 1); /* one may be under way */
    CHECK(w->wakes <= w->parks && w->parks <= w->wakes + 1);
}

/* Begins at most once, ends at most once and after that, on the worker where it runs. */
static void check_tasks(const struct kit *k)
{
    struct {
        uint32_t began, ended, made;
        int32_t worker;
    } *task = calloc(k->r.tasks + 1, sizeof *task);
    uint64_t began = 0, ended = 0, made = 0;
    CHECK(task != NULL && !k->r.records_cut);
    for (size_t i = 0; i < k->r.records; i++) {
        const struct sim_record *e = &k->r.record[i];
        if (e->kind == SIM_SUBMITTED || e->kind == SIM_SPAWNED)
            made += ++task[e->task].made;
        if (e->kind == SIM_EXECUTING) {
            began += ++task[e->task].began;
            task[e->task].worker = e->worker;
        }
        if (e->kind == SIM_RESUMED) {
            CHECK(task[e->task].began == 1 && task[e->task].ended == 0);
            task[e->task].worker = e->worker;
        }
        if (e->kind == SIM_COMPLETED) {
            ended += ++task[e->task].ended;
            CHECK(task[e->task].began == 1 && task[e->task].worker == e->worker);
        }
    }
    for (size_t t = 0; t < k->r.tasks; t++)
        CHECK(task[t].made <= 1 && task[t].began <= 1 && task[t].ended <= task[t].began);
    CHECK_EQ(began, k->r.sum.executed);
    CHECK_EQ(ended, k->r.completed);
    CHECK(made >= k->r.submitted);
    free(task);
}

static void check_end(const struct kit *k)
{
    const struct sim_result *r = &k->r;
    uint64_t queued = r->sum.queue;
    CHECK(r->makespan <= r->end && r->end <= k->run.config.until);
    CHECK_EQ(r->initial == NULL, false);
    if (r->how == SIM_DONE) {
        CHECK_EQ(r->completed, r->sum.executed);
        CHECK_EQ(queued, 0);
        CHECK_EQ(r->makespan, r->end);
        CHECK_EQ(r->completed, r->tasks);
    }
    if (r->how == SIM_TIME_UP)
        CHECK_EQ(r->end, k->run.config.until);
    if (r->how == SIM_EVENTS_UP)
        CHECK_EQ(r->events, 30000);
    if (r->how == SIM_DEADLOCK || r->how == SIM_LIVELOCK || r->how == SIM_STRANDED)
        CHECK(r->stuck_count > 0 && r->completed < r->tasks);
    if (r->how == SIM_DEADLOCK)
        CHECK_EQ(k->run.config.policy.join, POLICY_JOIN_BLOCK);
    if (r->how == SIM_LIVELOCK)
        CHECK(k->run.config.collisions);
}

static void time_and_tasks_add_up_whatever_the_settings(void)
{
    unsigned how[SIM_EVENTS_UP + 1] = {0}, refused = 0;
    for (int i = 0; i < CASES; i++) {
        struct kit k;
        const char *load = any_load();
        any_setting(pairs, sizeof pairs);
        kit_try(&k, load, pairs);
        CHECK_MSG(k.rc == 0 || (k.rc == -EINVAL && k.message[0]), "%s %s: %d", load, pairs, k.rc);
        if (k.rc != 0) {
            refused++;
            kit_end(&k);
            continue;
        }
        for (uint32_t w = 0; w < k.r.workers; w++)
            check_worker(&k.r.worker[w], k.r.end);
        check_tasks(&k);
        check_end(&k);
        how[k.r.how]++;
        kit_end(&k);
    }
    printf("done %u, time up %u, deadlock %u, livelock %u, stranded %u, events up %u, refused %u\n", how[0],
           how[1], how[2], how[3], how[4], how[5], refused);
    CHECK(how[SIM_DONE] > CASES / 4 && how[SIM_TIME_UP] > 0 && how[SIM_EVENTS_UP] > 0);
    CHECK(how[SIM_DEADLOCK] > 0 && how[SIM_LIVELOCK] > 0 && refused < CASES / 3);
}

/* Two policies see the same tasks. */
static void the_work_does_not_depend_on_who_does_it(void)
{
    static const char *const loads[] = {"tasks=60 duration=exp:1", "load=spawning tasks=60 spawn=0.4",
                                        "load=joining tasks=60 spawn=0.4 duration=lognormal:1,1"};
    for (int i = 0; i < 3; i++) {
        sim_time busy = -1;
        uint64_t tasks = 0;
        for (int j = 0; j < 60; j++) {
            struct kit k;
            size_t n = (size_t)snprintf(pairs, sizeof pairs, "workers=%d", 2 + j % 9);
            add_words(pairs + n, sizeof pairs - n);
            kit_try(&k, loads[i], pairs);
            if (k.rc == 0 && k.r.how == SIM_DONE) {
                CHECK(busy < 0 || k.r.sum.busy == busy);
                CHECK(tasks == 0 || k.r.completed == tasks);
                busy = k.r.sum.busy;
                tasks = k.r.completed;
            }
            kit_end(&k);
        }
        CHECK(tasks >= 60);
    }
}

/* ---- errors ------------------------------------------------------------------------------- */

static void a_time_beyond_18_years_is_an_error(void)
{
    struct kit k;
    kit_try_list(&k, "A 0 0 400000000\nB 0 0 400000000\n", "workers=1");
    CHECK_EQ(k.rc, -EOVERFLOW);
    CHECK_STR(k.message, "the time is beyond 18 years of virtual time");
    CHECK(k.r.worker == NULL && k.r.record == NULL);
    kit_end(&k);
    kit_try_list(&k, "A 0 0 400000000\nB 0 0 400000000\n", "workers=2");
    CHECK_EQ(k.rc, 0);
    kit_end(&k);
    kit_try_list(&k, "A 0 0 400000000\n", "workers=1 speeds=0.5");
    CHECK_EQ(k.rc, -EOVERFLOW);
    kit_end(&k);
    kit_try(&k, "tasks=3 arrive=gaps gap=400000000 duration=1 idle=park", "");
    CHECK_EQ(k.rc, -EOVERFLOW);
    kit_end(&k);
    kit_try(&k, "tasks=3 arrive=gaps gap=400000000 duration=1 idle=park", "until=500000000");
    CHECK_EQ(k.rc, -EOVERFLOW); /* the third arrival's time is known with the second */
    kit_end(&k);
    kit_try(&k, "load=tree tree=fib:4 leaf=200000000", "workers=1");
    CHECK_EQ(k.rc, -EOVERFLOW);
    kit_end(&k);
}

static void what_makes_no_sense_is_refused_and_named(void)
{
    static const struct {
        const char *pairs, *why;
    } cases[] = {
        {"workers=0", "workers"}, {"workers=65537", "workers"}, {"workers=nan", "workers"},
        {"duration=-1", "duration"}, {"duration=nan", "duration"}, {"duration=1e9", "duration"},
        {"duration=600000000", "duration"}, {"gap=0 arrive=gaps", "gap"}, {"place=4", "place"},
        {"place=-7", "place"}, {"burst=1:0:2,0:0:2 arrive=bursts", "bursts"},
        {"burst=0:9:2 arrive=bursts", "bursts"}, {"arrive=onoff on=0", "on/off"},
        {"load=closed", "until"}, {"load=closed duration=0 until=9", "duration"},
        {"load=spawning spawn=1 children=1..1", "children"},
        {"load=spawning spawn=1 children=1..1 child=0 until=9", "duration"},
        {"load=spawning spawn=1 children=2..2 inline=on until=9", "children"}, {"load=listed", "list"},
        {"load=listed list=/nowhere", "/nowhere"}, {"load=tree tree=fib:91", "fib"},
        {"spawn=1.5", "spawn"}, {"children=3..1", "children"}, {"speeds=0", "speeds"},
        {"speeds=1,-1", "speeds"}, {"near=1.5", "near"}, {"near=0.5", "near"}, {"spin=0", "spin"},
        {"backoff=0.5..0.1", "backoff"}, {"backoff=0..1", "backoff"},
        {"backoff_factor=0", "backoff_factor"}, {"backoff_factor=17", "backoff_factor"},
        {"backoff_jitter=101", "backoff_jitter"}, {"wait=0", "wait"}, {"idle=yield", "idle=yield"},
        {"ring=1", "ring"}, {"exec=1300000", "costs"}, {"until=0", "until"}, {"look=1300000", "look"},
        {"workers=16385 tasks=1", "victim"},
        {"workers=16385 tasks=1 victim=largest probe=1ns", "victim"}, {"victim=best", "victim"},
        {"steal=0", "steal"}, {"steal=1.5", "steal"}, {"seed=x", "seed"}, {"nothing=1", "nothing"},
        {"workers", "workers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kit k;
        kit_try(&k, cases[i].pairs, "");
        CHECK_MSG(k.rc == -EINVAL, "%s: %d", cases[i].pairs, k.rc);
        CHECK_MSG(strstr(k.message, cases[i].why) != NULL, "%s: \"%s\"", cases[i].pairs, k.message);
        kit_end(&k);
    }
    static const char *const good[] = {"workers=65536 tasks=1 victim=one idle=park", "gap=0 arrive=start",
                                       "near=0.5 victim=one until=9",
                                       "workers=16385 tasks=1 victim=largest idle=park"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct kit k;
        kit_run(&k, "duration=1", good[i]);
        kit_end(&k);
    }
}

/* What setups cannot say. */
static void words_and_places_that_do_not_exist_are_refused(void)
{
    struct sim_config good = sim_config_003(4);
    struct sim_load load = {.behavior = SIM_PLAIN, .arrivals = {.count = 3, .worker = SIM_RANDOM}};
    load.duration = (struct dist){.kind = DIST_CONST, .a = 5};
    for (int i = 0; i < 10; i++) {
        struct sim_config c = good;
        struct sim_load l = load;
        struct sim_result r;
        char message[200] = "";
        int *const word[] = {&c.policy.victim, &c.policy.steal, &c.policy.ends,  &c.policy.wake,
                             &c.policy.idle,   &c.policy.join,  &c.policy.queue, &c.policy.run_next};
        if (i < 8)
            *word[i] = 999;
        else if (i == 8)
            l.arrivals.worker = SIM_ROUND_ROBIN - 1;
        else
            l.behavior = SIM_LISTED;
        CHECK_EQ(sim_run(&c, &l, &r, message, sizeof message), -EINVAL);
        CHECK(message[0] != '\0');
    }
    struct task_list list;
    struct sim_load listed = {.behavior = SIM_LISTED, .arrivals = {.kind = SIM_ARRIVE_LIST}, .list = &list};
    struct sim_result r;
    char message[200] = "";
    CHECK_EQ(task_list_parse(&list, "A 0 4 1\n", 8, "list", message, sizeof message), 0);
    CHECK_EQ(sim_run(&good, &listed, &r, message, sizeof message), -EINVAL);
    CHECK_STR(message, "task A: there is no worker 4, only 0 to 3");
    task_list_free(&list);
}

int main(void)
{
    rng_seed(&rng, 7);
    RUN(time_and_tasks_add_up_whatever_the_settings);
    RUN(the_work_does_not_depend_on_who_does_it);
    RUN(a_time_beyond_18_years_is_an_error);
    RUN(what_makes_no_sense_is_refused_and_named);
    RUN(words_and_places_that_do_not_exist_are_refused);
    return check_report();
}
