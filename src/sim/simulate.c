/* simulate.c: the events of a run, in the order of time, kind and worker.
 *
 * Each worker has one pending event: the end of its work, or its next look for some. A tournament tree finds
 * the first. The last leaf of the tree is the next arrival. Kinds, in their order within one instant:
 *
 *   end      work ends: children are forked, or the task is complete, and the worker goes on
 *   look     a worker looks for work, arrives at a victim, or gets a lock
 *   arrival  tasks are submitted from outside
 *   decide   with collisions: an access that was announced in this instant succeeds or fails
 *
 * So a worker that looks in the instant of an arrival does not see it, as in document 003, where workers were
 * started before the generator of tasks. */
#include "sim/sim_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS_MOST ((size_t)1 << 22)
#define STUCK_SHOWN 16

/* ---- records ------------------------------------------------------------------------------ */

void sim_record(struct sim *s, enum sim_record_kind kind, sim_time at, uint32_t worker, int32_t other,
                uint32_t task, uint32_t length)
{
    struct sim_result *r = s->result;
    if (__builtin_expect(!s->recording, 1))
        return;
    if (r->records == s->record_room) {
        size_t room = s->record_room ? 2 * s->record_room : 1024;
        struct sim_record *more = room <= RECORDS_MOST ? realloc(r->record, room * sizeof *more) : NULL;
        if (!more) {
            r->records_cut = true;
            return;
        }
        r->record = more;
        s->record_room = room;
    }
    r->record[r->records++] = (struct sim_record){.at = at, .task = task, .length = length,
                                                  .worker = (int32_t)worker, .other = other, .kind = kind};
}

/* What begins later than the step that led to it was recorded too early. A stable merge of runs that are in
 * order already: `from` has two neighbouring ones, which end at `middle` and `end`. */
static void merge(struct sim_record *to, const struct sim_record *from, size_t begin, size_t middle,
                  size_t end)
{
    size_t i = begin, k = middle;
    for (size_t out = begin; out < end; out++) {
        bool left = i < middle && (k == end || from[i].at <= from[k].at);
        to[out] = from[left ? i++ : k++];
    }
}

static size_t run_end(const struct sim_result *r, size_t i)
{
    for (i++; i < r->records && r->record[i - 1].at <= r->record[i].at;)
        i++;
    return i;
}

/* Merges neighbouring runs once. Returns false if all records are one run. */
static bool merge_pass(struct sim_result *r, struct sim_record *to)
{
    if (run_end(r, 0) >= r->records)
        return false;
    for (size_t begin = 0, middle, end; begin < r->records; begin = end) {
        middle = run_end(r, begin);
        end = middle < r->records ? run_end(r, middle) : middle;
        merge(to, r->record, begin, middle, end);
    }
    return true;
}

static void records_sort(struct sim *s)
{
    struct sim_result *r = s->result;
    struct sim_record *other = malloc((r->records + 1) * sizeof *other);
    if (!other) {
        sim_fail(s, -ENOMEM, "no memory to order the records");
        return;
    }
    while (merge_pass(r, other)) {
        struct sim_record *sorted = other;
        other = r->record;
        r->record = sorted;
    }
    free(other);
}

/* ---- work --------------------------------------------------------------------------------- */

#define TOO_LONG (SIM_TIME_MAX + 1) /* sim_later() makes an error of it */

/* At the worker's speed, to the nearest nanosecond. */
static sim_time scaled(const struct sim *s, const struct sim_worker *w, sim_time work)
{
    if (!s->config->speed)
        return work;
    uint32_t speed = s->config->speed[sim_id(s, w)];
    __extension__ typedef unsigned __int128 wide;
    wide slow = ((wide)work * 1000 + speed / 2) / speed;
    return slow > (wide)SIM_TIME_MAX ? TOO_LONG : (sim_time)slow;
}

/* The worker of a parent that forks goes on with the first child: that one is not put into a queue. */
static bool runs_first_child(const struct sim *s)
{
    return s->load->behavior == SIM_TREE && s->config->policy.join != POLICY_JOIN_BLOCK;
}

static sim_time cost_of_task(const struct sim *s, const struct sim_worker *w, const struct sim_task *t)
{
    const struct sim_costs *c = &s->config->costs;
    sim_time spawned = (sim_time)t->children - (t->children > 0 && runs_first_child(s));
    bool moved = t->home >= 0 && (uint32_t)t->home != sim_id(s, w);
    if (spawned > 0 && c->spawn > SIM_TIME_MAX / spawned)
        return TOO_LONG;
    return c->exec + (moved ? c->migrate : 0) + c->spawn * spawned;
}

static void occupy(struct sim *s, struct sim_worker *w, uint32_t t, sim_time at)
{
    w->task = t;
    s->running++;
    sim_progress(s);
    sim_state_set(w, WORKER_BUSY, at);
}

static void leave(struct sim *s, struct sim_worker *w)
{
    w->task = NO_TASK;
    s->running--;
}

void sim_run_task(struct sim *s, struct sim_worker *w, uint32_t t, sim_time at)
{
    struct sim_task *task = &s->task[t];
    occupy(s, w, t, at);
    w->forked = false;
    w->count.executed++;
    sim_time work = scaled(s, w, sim_task_begin(s, task));
    s->result->migrated += task->home >= 0 && (uint32_t)task->home != sim_id(s, w);
    if (s->latency && task->parent == NO_TASK) {
        summary_add(&s->result->queued, sim_time_seconds(at - task->submitted));
        histogram_add(s->result->latency, at - task->submitted);
    }
    sim_record(s, SIM_EXECUTING, at, sim_id(s, w), -1, t, sim_queue_length(sim_queue_of(s, w)));
    sim_time cost = cost_of_task(s, w, task);
    sim_time end = sim_later(s, sim_later(s, at, cost), work);
    sim_schedule(s, sim_id(s, w), end, EVENT_END);
}

static void go_on(struct sim *s, struct sim_worker *w, sim_time at)
{
    w->forked = true;
    sim_schedule(s, sim_id(s, w), sim_later(s, at, scaled(s, w, s->task[w->task].after)), EVENT_END);
}

/* The children of a parent have ended. */
void sim_run_resume(struct sim *s, struct sim_worker *w, uint32_t t, sim_time now)
{
    occupy(s, w, t, now);
    sim_record(s, SIM_RESUMED, now, sim_id(s, w), -1, t, sim_queue_length(sim_queue_of(s, w)));
    go_on(s, w, sim_later(s, now, s->config->costs.join));
}

/* ---- forks -------------------------------------------------------------------------------- */

static void put_own(struct sim *s, struct sim_worker *w, uint32_t t, sim_time now)
{
    if (s->config->policy.run_next == FILCH_RUN_NEXT_ON && w->next != NO_TASK) {
        s->queued--;
        sim_queue_put(s, w, w->next);
        w->next = NO_TASK;
    }
    if (s->config->policy.run_next == FILCH_RUN_NEXT_ON) {
        s->queued++;
        w->next = t;
        w->next_since = now;
    } else {
        sim_queue_put(s, w, t);
    }
}

static void spawn(struct sim *s, struct sim_worker *w, uint32_t parent, uint32_t i, sim_time now)
{
    uint32_t t = sim_task_child(s, parent, i, now);
    if (t == NO_TASK)
        return;
    s->task[t].home = (int32_t)sim_id(s, w);
    put_own(s, w, t, now);
    sim_record(s, SIM_SPAWNED, now, sim_id(s, w), (int32_t)parent, t, sim_queue_length(sim_queue_of(s, w)));
    sim_park_notify(s, w, now);
}

static void stay_with(struct sim *s, struct sim_worker *w, uint32_t t)
{
    s->task[t].below = w->frame;
    s->task[t].at = (int32_t)sim_id(s, w);
    w->frame = t;
}

/* The node waits, and its worker goes on with the first child. */
static void fork_tree(struct sim *s, struct sim_worker *w, uint32_t t, sim_time now)
{
    for (uint32_t i = s->task[t].children - 1; i > 0 && !s->error; i--)
        spawn(s, w, t, i, now);
    uint32_t first = sim_task_child(s, t, 0, now);
    if (first == NO_TASK)
        return;
    leave(s, w);
    if (s->config->policy.join == FILCH_JOIN_HELP)
        stay_with(s, w, t);
    s->task[first].home = (int32_t)sim_id(s, w);
    sim_run_task(s, w, first, now);
}

static void wait_for_children(struct sim *s, struct sim_worker *w, uint32_t t, sim_time now)
{
    sim_record(s, SIM_WAITS, now, sim_id(s, w), -1, t, sim_queue_length(sim_queue_of(s, w)));
    leave(s, w);
    if (s->config->policy.join == POLICY_JOIN_BLOCK) {
        s->task[t].at = (int32_t)sim_id(s, w);
        w->frame = t;
        sim_state_set(w, WORKER_BLOCKED, now);
        tourney_set(&s->events, sim_id(s, w), TOURNEY_NONE);
        return;
    }
    if (s->config->policy.join == FILCH_JOIN_HELP)
        stay_with(s, w, t);
    sim_seek(s, w, now);
}

void sim_run_fork(struct sim *s, struct sim_worker *w, sim_time now)
{
    uint32_t t = w->task, n = s->task[t].children;
    w->forked = true;
    if (sim_task_joins(s))
        s->task[t].pending = n;
    if (runs_first_child(s)) {
        fork_tree(s, w, t, now);
        return;
    }
    for (uint32_t i = 0; i < n && !s->error; i++)
        spawn(s, w, t, i, now);
    if (sim_task_joins(s))
        wait_for_children(s, w, t, now);
    else
        go_on(s, w, now);
}

/* ---- completion --------------------------------------------------------------------------- */

/* A worker that stays with a parent and looks for work, or waits, sees at once that the parent may go on. */
static void nudge(struct sim *s, struct sim_worker *w, sim_time now)
{
    bool looks = w->state == WORKER_SEEKING && (w->step == STEP_LOOK || w->step == STEP_VICTIM);
    if (w->state == WORKER_PARKED) {
        sim_park_wake(s, w, now);
    } else if (looks || w->state == WORKER_WAITING) {
        w->in_search = false;
        w->step = STEP_LOOK;
        sim_schedule(s, sim_id(s, w), now, EVENT_LOOK);
    }
}

static void resume_blocked(struct sim *s, uint32_t parent, sim_time now)
{
    struct sim_worker *w = &s->worker[s->task[parent].at];
    w->frame = NO_TASK;
    sim_run_resume(s, w, parent, now);
}

/* The last child has ended. True if `w` goes on with the parent. */
static bool resume_parent(struct sim *s, struct sim_worker *w, uint32_t parent, sim_time now)
{
    switch (s->config->policy.join) {
    case POLICY_JOIN_BLOCK:
        resume_blocked(s, parent, now);
        return false;
    case FILCH_JOIN_HELP:
        if (s->task[parent].at != (int32_t)sim_id(s, w))
            nudge(s, &s->worker[s->task[parent].at], now);
        return false;
    default:
        sim_run_resume(s, w, parent, now);
        return true;
    }
}

static void succeed_now(struct sim *s, struct sim_worker *w, uint32_t target, sim_time now)
{
    sim_task_submit(s, w->successor, target < s->workers ? (int32_t)target : SIM_GLOBAL, now);
    sim_seek(s, w, now);
}

void sim_run_succeed(struct sim *s, struct sim_worker *w, sim_time now)
{
    succeed_now(s, w, w->victim, now);
}

/* The closed load: a task that ends puts its successor into a queue, under its lock if there are any. */
static void succeed(struct sim *s, struct sim_worker *w, sim_time now)
{
    uint32_t target = 0;
    w->successor = sim_task_successor(s, now, &target);
    if (w->successor == NO_TASK)
        return;
    if (!s->locks) {
        succeed_now(s, w, target, now);
        return;
    }
    w->victim = target;
    w->step = STEP_SUCCEED;
    struct sim_queue *q = target < s->workers ? sim_queue_of(s, &s->worker[target]) : &s->global;
    sim_schedule(s, sim_id(s, w), sim_queue_lock(s, w, q, true, now), EVENT_LOOK);
}

static void account(struct sim *s, const struct sim_task *t, sim_time now)
{
    s->result->completed++;
    s->result->makespan = now;
    if (s->latency && t->parent == NO_TASK && t->number > s->config->skip)
        summary_add(&s->result->sojourn, sim_time_seconds(now - t->submitted));
}

static void complete(struct sim *s, struct sim_worker *w, sim_time now)
{
    uint32_t t = w->task, parent = s->task[t].parent;
    uint64_t line = s->task[t].node;
    account(s, &s->task[t], now);
    sim_record(s, SIM_COMPLETED, now, sim_id(s, w), -1, t, sim_queue_length(sim_queue_of(s, w)));
    leave(s, w);
    sim_task_free(s, t);
    if (s->load->behavior == SIM_LISTED)
        sim_tasks_release(s, line, (int32_t)sim_id(s, w), now);
    bool last = parent != NO_TASK && sim_task_joins(s) && --s->task[parent].pending == 0;
    if (last && resume_parent(s, w, parent, now))
        return;
    if (s->load->behavior == SIM_CLOSED)
        succeed(s, w, now);
    else
        sim_seek(s, w, now);
}

static void work_ends(struct sim *s, struct sim_worker *w, sim_time now)
{
    if (w->forked || s->task[w->task].children == 0) {
        complete(s, w, now);
    } else if (s->locks) {
        w->step = STEP_FORK;
        sim_schedule(s, sim_id(s, w), sim_queue_lock(s, w, sim_queue_of(s, w), true, now), EVENT_LOOK);
    } else {
        sim_run_fork(s, w, now);
    }
}

/* ---- the end ------------------------------------------------------------------------------ */

static enum sim_end stuck_how(const struct sim *s)
{
    for (uint32_t i = 0; i < s->workers; i++)
        if (s->worker[i].state == WORKER_BLOCKED)
            return SIM_DEADLOCK;
    return s->collided ? SIM_LIVELOCK : SIM_STRANDED;
}

static void stuck_add(struct sim *s, struct sim_stuck stuck)
{
    struct sim_result *r = s->result;
    r->stuck_count++;
    if (r->stuck && r->stuck_shown < STUCK_SHOWN)
        r->stuck[r->stuck_shown++] = stuck;
}

/* The first task of a queue whose parent this is. */
static uint32_t child_in(const struct sim *s, const struct sim_queue *q, uint32_t parent)
{
    for (uint32_t k = q->head; k != q->tail; k++)
        if (s->task[q->item[k & q->mask]].parent == parent)
            return q->item[k & q->mask];
    return NO_TASK;
}

/* A child that a blocked parent waits for: in a queue, to be run next, or blocked itself. */
static uint32_t awaited_child(const struct sim *s, uint32_t parent)
{
    uint32_t child = child_in(s, &s->global, parent);
    for (uint32_t i = 0; i < s->workers && child == NO_TASK; i++) {
        const struct sim_worker *w = &s->worker[i];
        if (w->state == WORKER_BLOCKED && s->task[w->frame].parent == parent)
            child = w->frame;
        else if (w->next != NO_TASK && s->task[w->next].parent == parent)
            child = w->next;
        else
            child = child_in(s, &w->queue, parent);
    }
    return child;
}

static void stuck_add_queued(struct sim *s, uint32_t t, int32_t worker)
{
    if (t != NO_TASK)
        stuck_add(s, (struct sim_stuck){.task = t, .queued = true, .child = NO_TASK, .worker = worker});
}

static void find_stuck(struct sim *s)
{
    s->result->stuck = calloc(STUCK_SHOWN, sizeof *s->result->stuck);
    for (uint32_t i = 0; i < s->workers; i++) {
        const struct sim_worker *w = &s->worker[i];
        if (w->state == WORKER_BLOCKED)
            stuck_add(s, (struct sim_stuck){.task = w->frame, .worker = (int32_t)i,
                                            .child = awaited_child(s, w->frame)});
    }
    for (uint32_t i = 0; i <= s->workers; i++) {
        const struct sim_queue *q = i < s->workers ? &s->worker[i].queue : &s->global;
        int32_t worker = i < s->workers ? (int32_t)i : -1;
        for (uint32_t k = q->head; k != q->tail; k++)
            stuck_add_queued(s, q->item[k & q->mask], worker);
        if (i < s->workers)
            stuck_add_queued(s, s->worker[i].next, worker);
    }
}

/* The number of searches in vain, with no task running, that no run survives. */
static uint64_t vain_most(const struct sim *s)
{
    return 10000 + 64 * (uint64_t)s->workers;
}

static bool all_arrived(const struct sim *s)
{
    return s->next_arrival == SIM_NEVER;
}

/* Has every worker that will look again searched in vain since the mark? One may hold a lock meanwhile, or
 * wake up, and find something then. */
static bool all_looked(const struct sim *s)
{
    for (uint32_t i = 0; i < s->workers; i++) {
        const struct sim_worker *w = &s->worker[i];
        bool looks = w->state == WORKER_SEEKING || w->state == WORKER_WAITING;
        if (looks && w->count.vain == w->vain_mark)
            return false;
    }
    return true;
}

/* So many searches were in vain, and no task runs or will arrive. If every worker has had its share of the
 * later half of them, it stays like that. */
static bool nothing_moves(struct sim *s)
{
    uint64_t most = vain_most(s);
    if (s->vain <= most / 2 || s->running > 0 || !all_arrived(s))
        return false;
    if (s->marked && s->vain <= most)
        return false;
    if (s->marked && all_looked(s))
        return true;
    for (uint32_t i = 0; i < s->workers; i++)
        s->worker[i].vain_mark = s->worker[i].count.vain;
    s->marked = true;
    s->vain = most / 2 + 1;
    return false;
}

/* Is the run over, and how? `key` is that of the next event. */
static bool over(struct sim *s, uint64_t key)
{
    struct sim_result *r = s->result;
    if (s->error)
        return true;
    if (s->live == 0 && all_arrived(s)) {
        r->how = SIM_DONE;
        r->end = r->makespan;
    } else if (key != TOURNEY_NONE && tourney_time(key) > s->config->until) {
        r->how = SIM_TIME_UP;
        r->end = s->config->until;
    } else if (key == TOURNEY_NONE || nothing_moves(s)) {
        r->how = stuck_how(s);
        find_stuck(s);
    } else if (s->config->events_most && r->events >= s->config->events_most) {
        r->how = SIM_EVENTS_UP;
    } else {
        return false;
    }
    return true;
}

static void arrivals(struct sim *s, sim_time now)
{
    sim_tasks_arrive(s, now);
    if (s->next_arrival == SIM_NEVER)
        tourney_set(&s->events, s->workers, TOURNEY_NONE);
    else
        sim_schedule(s, s->workers, s->next_arrival, EVENT_ARRIVAL);
}

static void loop(struct sim *s)
{
    for (;;) {
        uint64_t key = tourney_first_key(&s->events);
        uint32_t leaf = tourney_first(&s->events);
        if (over(s, key))
            return;
        sim_time now = tourney_time(key);
        s->result->end = now;
        s->result->events++;
        if (leaf == s->workers)
            arrivals(s, now);
        else if (tourney_kind(key) == EVENT_END)
            work_ends(s, &s->worker[leaf], now);
        else
            sim_seek_event(s, &s->worker[leaf], now);
    }
}

/* ---- the result --------------------------------------------------------------------------- */

static void sum_add(struct sim_worker_result *sum, const struct sim_worker_result *w)
{
    sum->executed += w->executed;
    sum->stolen += w->stolen;
    sum->steals += w->steals;
    sum->searches += w->searches;
    sum->vain += w->vain;
    sum->attempts += w->attempts;
    sum->failed += w->failed;
    sum->contended += w->contended;
    sum->parks += w->parks;
    sum->wakes += w->wakes;
    sum->queue += w->queue;
    sum->longest = w->longest > sum->longest ? w->longest : sum->longest;
    sum->busy += w->busy;
    sum->seeking += w->seeking;
    sum->waiting += w->waiting;
    sum->parked += w->parked;
    sum->blocked += w->blocked;
}

static void finish_worker(struct sim *s, struct sim_worker *w)
{
    sim_time end = s->result->end;
    if (w->since > end) /* a task that was to begin after the end */
        w->spent[w->state_before] -= w->since - end;
    else
        w->spent[w->state] += end - w->since;
    w->count.queue = sim_queue_length(&w->queue) + (w->next != NO_TASK);
    w->count.busy = w->spent[WORKER_BUSY];
    w->count.seeking = w->spent[WORKER_SEEKING];
    w->count.waiting = w->spent[WORKER_WAITING];
    w->count.parked = w->spent[WORKER_PARKED];
    w->count.blocked = w->spent[WORKER_BLOCKED];
    s->result->worker[sim_id(s, w)] = w->count;
    sum_add(&s->result->sum, &w->count);
}

static void finish_looks(struct sim *s)
{
    sim_time every = s->config->look_every;
    s->result->looked = SIM_NEVER;
    if (every > 0 && s->result->how == SIM_DONE)
        s->result->looked = sim_look_after(s->result->makespan, every);
}

static void finish_names(struct sim *s)
{
    struct sim_result *r = s->result;
    r->name = calloc((size_t)s->tasks + 1, sizeof *r->name);
    if (!r->name) {
        sim_fail(s, -ENOMEM, "no memory for the names of tasks");
        return;
    }
    r->tasks = s->tasks;
    r->list = s->load->list;
    for (uint32_t t = 0; t < s->tasks; t++) {
        bool listed = s->load->behavior == SIM_LISTED;
        r->name[t] = (struct sim_name){s->task[t].parent,
                                       listed ? (uint32_t)s->task[t].node : s->task[t].number};
    }
}

static void finish(struct sim *s)
{
    for (uint32_t i = 0; i < s->workers; i++)
        finish_worker(s, &s->worker[i]);
    finish_looks(s);
    finish_names(s);
    records_sort(s);
}

/* ---- the beginning ------------------------------------------------------------------------ */

static int worker_init(struct sim *s, uint32_t id)
{
    struct sim_worker *w = &s->worker[id];
    enum filch_victim victim = (enum filch_victim)s->config->policy.victim;
    w->task = w->frame = w->next = NO_TASK;
    w->memory.last = CHOICE_NONE;
    w->state = WORKER_SEEKING;
    w->backoff = s->config->policy.backoff_min;
    w->until_global = s->config->policy.global_every;
    w->queue.touched = -1;
    rng_seed(&w->rng, rng_mix(s->config->seed) + id);
    if (choice_needs_order(victim)) {
        w->memory.order = malloc(s->workers * sizeof *w->memory.order);
        for (uint32_t i = 0; w->memory.order && i < s->workers; i++)
            w->memory.order[i] = i;
    }
    if (choice_needs_lengths(victim))
        w->memory.lengths = s->lengths + (s->search_lasts ? (size_t)id * s->workers : 0);
    return choice_needs_order(victim) && !w->memory.order ? -ENOMEM : 0;
}

static int init(struct sim *s)
{
    size_t n = s->workers;
    s->worker = calloc(n, sizeof *s->worker);
    s->parked = calloc(n, sizeof *s->parked);
    s->parked_bits = calloc(n / 64 + 1, sizeof *s->parked_bits);
    s->search_lasts = sim_search_lasts(s->config);
    s->lengths = calloc(s->search_lasts && s->config->policy.victim == FILCH_VICTIM_LARGEST ? n * n : n,
                        sizeof *s->lengths);
    s->result->worker = calloc(n, sizeof *s->result->worker);
    s->result->initial = calloc(n + 1, sizeof *s->result->initial);
    s->result->latency = calloc(1, sizeof *s->result->latency);
    s->result->workers = s->workers;
    if (!s->worker || !s->parked || !s->parked_bits || !s->lengths || !s->result->worker ||
        !s->result->initial || !s->result->latency || tourney_init(&s->events, s->workers + 1) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->workers; i++)
        if (worker_init(s, i) != 0)
            return -ENOMEM;
    rng_seed(&s->wake_rng, rng_mix(s->config->seed ^ 0x77616b65));
    int queue = s->config->policy.queue;
    s->locks = (queue == FILCH_QUEUE_LOCKED || queue == FILCH_QUEUE_TRYLOCK || queue == FILCH_QUEUE_SHARED) &&
               dist_mean(&s->config->costs.lock) > 0;
    s->recording = s->config->record;
    s->latency = s->load->behavior != SIM_TREE;
    return sim_tasks_init(s);
}

/* At time 0 all workers look, in the order of their numbers, for what lies there already. */
static void begin(struct sim *s)
{
    s->searching = s->workers;
    sim_tasks_at_start(s);
    for (uint32_t i = 0; i < s->workers; i++) {
        s->result->initial[i] = sim_queue_length(&s->worker[i].queue);
        sim_schedule(s, i, 0, EVENT_LOOK);
    }
    s->result->initial[s->workers] = sim_queue_length(&s->global);
    if (s->next_arrival != SIM_NEVER)
        sim_schedule(s, s->workers, s->next_arrival, EVENT_ARRIVAL);
}

static void destroy(struct sim *s)
{
    for (uint32_t i = 0; s->worker && i < s->workers; i++) {
        free(s->worker[i].queue.item);
        free(s->worker[i].memory.order);
    }
    free(s->global.item);
    free(s->worker);
    free(s->parked);
    free(s->parked_bits);
    free(s->lengths);
    tourney_free(&s->events);
    sim_tasks_destroy(s);
}

int sim_run(const struct sim_config *config, const struct sim_load *load, struct sim_result *out,
            char *message, size_t size)
{
    struct sim s = {.config = config, .load = load, .result = out, .workers = config->workers};
    memset(out, 0, sizeof *out);
    int rc = sim_check(config, load, message, size);
    if (rc != 0)
        return rc;
    s.global.touched = -1;
    if (init(&s) != 0) {
        sim_fail(&s, -ENOMEM, "no memory for so many workers");
    } else {
        begin(&s);
        loop(&s);
        if (!s.error)
            finish(&s);
    }
    destroy(&s);
    if (s.error) {
        sim_result_free(out);
        snprintf(message, size, "%s", s.error_text);
    }
    return s.error;
}

void sim_result_free(struct sim_result *r)
{
    free(r->worker);
    free(r->record);
    free(r->name);
    free(r->stuck);
    free(r->initial);
    free(r->latency);
    memset(r, 0, sizeof *r);
}
