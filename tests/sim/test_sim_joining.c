/* test_sim_joining.c: children: where they are put, when they are spawned, what their work is; parents that
 * wait for them in three ways; deadlocks; how much later a parent ends, and its critical path. */
#include "pairs_kit.h"
#include "sim/family.h"
#include "sim/replicate.h"

#ifdef SIM_SHORT
enum { SEEDS = 20, REPLICATIONS = 60 };
#else
enum { SEEDS = 200, REPLICATIONS = 400 };
#endif

#define LOAD "workers=4 tasks=12 arrive=gaps gap=0.5 first=now duration=uniform:1..3 children=1..3 spawn=0.4 "
#define JOINING LOAD "load=joining child=uniform:0.3..0.8 "
#define SPAWNING LOAD "load=spawning child=uniform:0.3..1 "

static struct setup_run run;

static struct sim_result recorded(const char *pairs, const char *more, int seed)
{
    setup_free(&run);
    make_pairs(&run, "%s %s seed=%d", pairs, more, seed);
    run.config.record = true;
    return run_made(&run);
}

static struct family families(const struct sim_result *r)
{
    struct family f;
    CHECK_EQ(family_of(r, &f), 0);
    return f;
}

/* The place of the first record of this kind of a task; r->records: none. */
static size_t record_of(const struct sim_result *r, enum sim_record_kind kind, uint32_t task)
{
    size_t i = 0;
    while (i < r->records && !(r->record[i].kind == kind && r->record[i].task == task))
        i++;
    return i;
}

/* ---- children ----------------------------------------------------------------------------- */

static void check_child(const struct sim_result *r, const struct family *f, const struct sim_record *spawned)
{
    uint32_t parent = (uint32_t)spawned->other;
    const struct family_task *p = &f->task[parent];
    size_t begun = record_of(r, SIM_EXECUTING, spawned->task);
    size_t stolen = record_of(r, SIM_STOLE, spawned->task);
    CHECK_EQ(r->name[spawned->task].parent, parent);
    CHECK_EQ(spawned->worker, r->record[record_of(r, SIM_EXECUTING, parent)].worker);
    CHECK((p->end - p->begin) / 2 - (spawned->at - p->begin) <= 1); /* half-way, to a nanosecond */
    CHECK((spawned->at - p->begin) - (p->end - p->begin) / 2 <= 1);
    CHECK(begun < r->records);
    if (stolen < r->records)
        CHECK_EQ(r->record[stolen].other, spawned->worker);
    else
        CHECK_EQ(r->record[begun].worker, spawned->worker);
}

static void children_are_spawned_half_way_into_the_queue_of_their_parents_worker(void)
{
    int children = 0, grandchildren = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct sim_result r = recorded(SPAWNING, "", seed);
        struct family f = families(&r);
        CHECK_EQ(r.how, SIM_DONE);
        for (size_t i = 0; i < r.records; i++) {
            if (r.record[i].kind != SIM_SPAWNED)
                continue;
            check_child(&r, &f, &r.record[i]);
            children++;
            grandchildren += r.name[r.record[i].other].parent != SIM_NO_TASK;
        }
        family_free(&f);
        sim_result_free(&r);
    }
    CHECK(children > 4 * SEEDS && grandchildren > SEEDS);
}

static void the_work_is_the_same_with_the_children_inside_their_parents(void)
{
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct sim_result spawned = recorded(SPAWNING, "inline=off", seed);
        struct sim_result inside = recorded(SPAWNING, "inline=on", seed);
        CHECK_EQ(spawned.sum.busy, inside.sum.busy);
        CHECK_EQ(inside.sum.executed, 12);
        CHECK(spawned.sum.executed >= 12);
        sim_result_free(&spawned);
        sim_result_free(&inside);
    }
}

/* As `filch sim spawning` judges it. */
static void spawned_children_balance_the_load_better_than_work_in_their_parents(void)
{
    static struct setup_run with, without;
    const struct setup_run *const runs[] = {&without, &with};
    struct replications out[2] = {{0}};
    struct paired p = {{0}, {0}};
    char message[200];
    make_pairs(&without, SPAWNING "inline=on");
    make_pairs(&with, SPAWNING "inline=off");
    CHECK_EQ(replicate(runs, 2, 0, REPLICATIONS, &(struct replicate_options){.threads = 1}, out, message,
                       sizeof message), 0);
    for (uint64_t i = 0; i < REPLICATIONS; i++)
        paired_add(&p, out[0].value[i][METRIC_IMBALANCE], out[1].value[i][METRIC_IMBALANCE]);
    CHECK_EQ(paired_judge(&p, 0.95).verdict, ESTIMATE_BETTER);
    replications_free(&out[0]);
    replications_free(&out[1]);
    setup_free(&with);
    setup_free(&without);
}

/* ---- joins -------------------------------------------------------------------------------- */

static sim_time last_child_end(const struct sim_result *r, const struct family *f, uint32_t parent)
{
    sim_time last = 0;
    for (size_t i = 0; i < f->n; i++)
        if (r->name[i].parent == parent && f->task[i].end > last)
            last = f->task[i].end;
    return last;
}

/* Does the worker begin or resume anything between these records? */
static int runs_others(const struct sim_result *r, size_t from, size_t to, int32_t worker)
{
    for (size_t i = from + 1; i < to; i++)
        if (r->record[i].worker == worker &&
            (r->record[i].kind == SIM_EXECUTING || r->record[i].kind == SIM_RESUMED))
            return 1;
    return 0;
}

struct seen {
    int parents, ran_others, moved;
};

static void check_join(const char *join, const struct sim_result *r, const struct family *f, uint32_t parent,
                       struct seen *seen)
{
    size_t waits = record_of(r, SIM_WAITS, parent), resumed = record_of(r, SIM_RESUMED, parent);
    if (resumed == r->records) { /* the run got stuck */
        CHECK(strcmp(join, "block") == 0 && r->how == SIM_DEADLOCK);
        return;
    }
    const struct sim_record *a = &r->record[waits], *b = &r->record[resumed];
    sim_time children = last_child_end(r, f, parent);
    CHECK_MSG(b->at >= children, "join=%s: a parent goes on before its children have ended", join);
    if (strcmp(join, "help") != 0)
        CHECK_EQ(b->at, children);
    if (strcmp(join, "suspend") != 0)
        CHECK_EQ(a->worker, b->worker);
    seen->parents++;
    seen->ran_others += runs_others(r, waits, resumed, a->worker);
    seen->moved += a->worker != b->worker;
}

static struct seen check_joins(const char *join)
{
    char more[40];
    struct seen seen = {0};
    snprintf(more, sizeof more, "join=%s workers=%d", join, strcmp(join, "block") == 0 ? 16 : 4);
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct sim_result r = recorded(JOINING, more, seed);
        struct family f = families(&r);
        for (uint32_t t = 0; t < f.n; t++)
            if (f.task[t].waited)
                check_join(join, &r, &f, t, &seen);
        family_free(&f);
        sim_result_free(&r);
    }
    return seen;
}

static void a_parent_goes_on_when_its_last_child_has_ended(void)
{
    struct seen block = check_joins("block"), suspend = check_joins("suspend"), help = check_joins("help");
    CHECK(block.parents > SEEDS && suspend.parents > SEEDS && help.parents > SEEDS);
    CHECK_EQ(block.ran_others, 0); /* it blocks */
    CHECK_EQ(block.moved, 0);
    CHECK(suspend.ran_others > 0 && suspend.moved > 0); /* the parent goes on where the last child ended */
    CHECK(help.ran_others > 0);
    CHECK_EQ(help.moved, 0);
}

/* ---- deadlocks ---------------------------------------------------------------------------- */

/* What is named: a parent that waits, a child of it, in the queue of the one worker. */
static void check_named(const struct sim_result *r)
{
    int found = 0;
    CHECK(r->stuck_shown >= 2);
    CHECK(!r->stuck[0].queued);
    CHECK(record_of(r, SIM_WAITS, r->stuck[0].task) < r->records);
    CHECK_EQ(r->record[r->records - 1].kind, SIM_WAITS);
    CHECK_EQ(r->record[r->records - 1].task, r->stuck[0].task);
    CHECK(r->stuck[0].child != SIM_NO_TASK);
    CHECK_EQ(r->name[r->stuck[0].child].parent, r->stuck[0].task);
    for (size_t i = 1; i < r->stuck_shown; i++)
        found += r->stuck[i].queued && r->stuck[i].worker == 0 && r->stuck[i].task == r->stuck[0].child;
    CHECK_EQ(found, 1);
}

static void a_worker_that_blocks_alone_deadlocks_and_the_others_do_not(void)
{
    static const char alone[] = "workers=1 tasks=5 duration=1 load=joining spawn=0.4 children=1..3 child=0.5";
    int deadlocks = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct sim_result suspend = recorded(alone, "join=suspend", seed);
        struct sim_result help = recorded(alone, "join=help", seed);
        struct sim_result block = recorded(alone, "join=block", seed);
        CHECK_EQ(suspend.how, SIM_DONE);
        CHECK_EQ(help.how, SIM_DONE);
        CHECK_EQ(block.how, suspend.sum.executed > 5 ? SIM_DEADLOCK : SIM_DONE);
        if (block.how == SIM_DEADLOCK)
            check_named(&block);
        deadlocks += block.how == SIM_DEADLOCK;
        sim_result_free(&suspend);
        sim_result_free(&help);
        sim_result_free(&block);
    }
    CHECK(deadlocks > SEEDS / 2);
}

/* ---- how much later ----------------------------------------------------------------------- */

/* Task 0 works from 0 to 10, waits for 1 and 2, and goes on from 70 to 90. Task 1 works from 20 to 30, task 2
 * from 20 to 40, waits for 3, and from 60 to 70; task 3 from 45 to 60. */
static void lateness_and_critical_path_are_those_of_a_known_run(void)
{
    static struct sim_record record[] = {
        {.at = 0, .kind = SIM_SUBMITTED, .task = 0}, {.at = 0, .kind = SIM_EXECUTING, .task = 0},
        {.at = 10, .kind = SIM_SPAWNED, .task = 1},  {.at = 10, .kind = SIM_SPAWNED, .task = 2},
        {.at = 10, .kind = SIM_WAITS, .task = 0},    {.at = 20, .kind = SIM_EXECUTING, .task = 1},
        {.at = 20, .kind = SIM_EXECUTING, .task = 2}, {.at = 30, .kind = SIM_COMPLETED, .task = 1},
        {.at = 40, .kind = SIM_SPAWNED, .task = 3},  {.at = 40, .kind = SIM_WAITS, .task = 2},
        {.at = 45, .kind = SIM_EXECUTING, .task = 3}, {.at = 60, .kind = SIM_COMPLETED, .task = 3},
        {.at = 60, .kind = SIM_RESUMED, .task = 2},  {.at = 70, .kind = SIM_COMPLETED, .task = 2},
        {.at = 70, .kind = SIM_RESUMED, .task = 0},  {.at = 90, .kind = SIM_COMPLETED, .task = 0},
    };
    static struct sim_name name[] = {{SIM_NO_TASK, 1}, {0, 0}, {0, 1}, {2, 0}};
    struct sim_result r = {.record = record, .records = sizeof record / sizeof *record, .name = name,
                           .tasks = 4};
    struct family f = families(&r);
    CHECK_EQ(f.task[0].before + f.task[0].after, 30);
    CHECK_EQ(family_later(&f.task[0]), 60);
    CHECK_EQ(f.task[0].children, 2);
    CHECK_EQ(f.task[0].children_work, 10 + 30 + 15);
    CHECK_EQ(f.task[0].longest, 2);
    CHECK_EQ(f.task[2].path, 30 + 15);
    CHECK_EQ(f.task[0].path, 30 + 45);
    CHECK_EQ(family_later(&f.task[2]), 20);
    CHECK_EQ(family_later(&f.task[1]), 0);
    CHECK_EQ(f.last, 0);
    family_free(&f);
}

#define LOOKS (80 * SIM_SECOND / 1000) /* waits for the next look, on a path */

/* With more workers than tasks, that look every 4 ms, nothing waits but for its children. */
static void with_workers_for_all_a_parent_takes_its_critical_path(void)
{
    static const char many[] = JOINING "workers=64 join=suspend wait=4ms";
    for (int seed = 1; seed <= SEEDS / 20; seed++) {
        struct sim_result r = recorded(many, "", seed);
        struct family f = families(&r);
        CHECK_EQ(r.how, SIM_DONE);
        for (size_t i = 0; i < f.n; i++) {
            sim_time took = f.task[i].end - f.task[i].begin;
            CHECK(took >= f.task[i].path && took <= f.task[i].path + LOOKS);
        }
        const struct family_task *last = &f.task[f.last];
        CHECK(r.makespan >= last->submitted + last->path);
        CHECK(r.makespan <= last->submitted + last->path + LOOKS);
        family_free(&f);
        sim_result_free(&r);
    }
}

int main(void)
{
    RUN(children_are_spawned_half_way_into_the_queue_of_their_parents_worker);
    RUN(the_work_is_the_same_with_the_children_inside_their_parents);
    RUN(spawned_children_balance_the_load_better_than_work_in_their_parents);
    RUN(a_parent_goes_on_when_its_last_child_has_ended);
    RUN(a_worker_that_blocks_alone_deadlocks_and_the_others_do_not);
    RUN(lateness_and_critical_path_are_those_of_a_known_run);
    RUN(with_workers_for_all_a_parent_takes_its_critical_path);
    setup_free(&run);
    return check_report();
}
