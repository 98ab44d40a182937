/* sim_tasks.c: tasks: how they arrive, how long they work, which children they have.
 *
 * Every random number of a task is a function of its key, the key one of the load's seed and of the task's
 * number, or of its parent's key and its place among the children. So the tasks of a run do not depend on
 * what the workers do. */
#include "sim/sim_state.h"

#include <errno.h>
#include <stdlib.h>

/* What is drawn from a task's key. */
enum { DRAW_DURATION = 1, DRAW_SPAWNS, DRAW_CHILDREN, DRAW_PLACE, DRAW_CHILD = 16 };

static uint64_t draw(uint64_t key, uint64_t what)
{
    return rng_mix(key ^ rng_mix(what));
}

static uint32_t draw_below(uint64_t key, uint64_t what, uint32_t n)
{
    return (uint32_t)(((draw(key, what) >> 32) * n) >> 32);
}

/* ---- storage ------------------------------------------------------------------------------ */

static bool grow(struct sim *s)
{
    uint32_t room = s->room ? s->room * 2 : 256;
    struct sim_task *more = s->room < NO_TASK / 4 ? realloc(s->task, room * sizeof *more) : NULL;
    if (!more) {
        sim_fail(s, -ENOMEM, "no memory for so many tasks at once");
        return false;
    }
    s->task = more;
    s->room = room;
    return true;
}

/* With records, numbers of tasks are not used again: names are found by them. */
uint32_t sim_task_new(struct sim *s, uint32_t parent, uint32_t number, uint64_t key, sim_time now)
{
    uint32_t t = s->free_task;
    if (t != NO_TASK)
        s->free_task = s->task[t].below;
    else if (s->tasks < s->room || grow(s))
        t = s->tasks++;
    else
        return NO_TASK;
    s->task[t] = (struct sim_task){.key = key, .submitted = now, .parent = parent, .number = number,
                               .below = NO_TASK, .home = -1, .at = -1};
    s->live++;
    return t;
}

void sim_task_free(struct sim *s, uint32_t t)
{
    s->live--;
    if (s->recording)
        return;
    s->task[t].below = s->free_task;
    s->free_task = t;
}

/* ---- work --------------------------------------------------------------------------------- */

static const struct dist *duration_of(const struct sim *s, const struct sim_task *t)
{
    return t->parent == NO_TASK ? &s->load->duration : &s->load->child;
}

static uint32_t children_of(const struct sim *s, uint64_t key)
{
    const struct sim_load *l = s->load;
    if (draw_below(key, DRAW_SPAWNS, 1000) >= l->spawn_permille)
        return 0;
    return l->children_min + draw_below(key, DRAW_CHILDREN, l->children_max - l->children_min + 1);
}

#define INLINE_DEPTH 64 /* generations of children that are added to their parent */

/* The work of all that a task would spawn. */
static sim_time work_of_children(struct sim *s, uint64_t key, unsigned depth)
{
    sim_time sum = 0;
    uint32_t n = depth < INLINE_DEPTH ? children_of(s, key) : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t child = draw(key, DRAW_CHILD + i);
        sum = sim_later(s, sum, dist_draw(&s->load->child, draw(child, DRAW_DURATION)));
        sum = sim_later(s, sum, work_of_children(s, child, depth + 1));
    }
    return sum;
}

static sim_time begin_random(struct sim *s, struct sim_task *t)
{
    sim_time work = dist_draw(duration_of(s, t), draw(t->key, DRAW_DURATION));
    if (s->load->children_inline)
        return sim_later(s, work, work_of_children(s, t->key, 0));
    t->children = children_of(s, t->key);
    t->after = t->children ? work - work / 2 : 0;
    return work - t->after;
}

static sim_time begin_node(struct sim *s, struct sim_task *t)
{
    const struct forktree *tree = s->load->tree;
    t->children = forktree_children(tree, t->node);
    if (t->children == 0 && s->load->leaf)
        return dist_draw(s->load->leaf, draw(t->key, DRAW_DURATION));
    t->after = t->children ? forktree_after(tree, t->node) : 0;
    return forktree_before(tree, t->node);
}

static sim_time begin_line(struct sim *s, struct sim_task *t)
{
    sim_time work = s->load->list->task[t->node].duration;
    for (uint32_t c = s->line_first[t->node]; c != NO_TASK; c = s->line_sibling[c])
        t->children++;
    t->after = t->children ? work - work / 2 : 0;
    return work - t->after;
}

sim_time sim_task_begin(struct sim *s, struct sim_task *t)
{
    t->children = 0;
    t->after = 0;
    switch (s->load->behavior) {
    case SIM_SPAWNING:
    case SIM_JOINING:
        return begin_random(s, t);
    case SIM_TREE:
        return begin_node(s, t);
    case SIM_LISTED:
        return begin_line(s, t);
    case SIM_PLAIN:
    case SIM_CLOSED:
        break;
    }
    return dist_draw(&s->load->duration, draw(t->key, DRAW_DURATION));
}

bool sim_task_joins(const struct sim *s)
{
    return s->load->behavior == SIM_JOINING || s->load->behavior == SIM_TREE;
}

uint32_t sim_task_child(struct sim *s, uint32_t parent, uint32_t i, sim_time now)
{
    uint32_t t = sim_task_new(s, parent, i, draw(s->task[parent].key, DRAW_CHILD + i), now);
    if (t == NO_TASK)
        return t;
    uint64_t node = s->task[parent].node;
    if (s->load->behavior == SIM_TREE)
        s->task[t].node = forktree_child(s->load->tree, node, i);
    if (s->load->behavior == SIM_LISTED) {
        uint32_t line = s->line_first[node];
        for (uint32_t k = 0; k < i; k++)
            line = s->line_sibling[line];
        s->task[t].node = line;
    }
    return t;
}

/* ---- arrival ------------------------------------------------------------------------------ */

static struct sim_worker *placed(struct sim *s, uint64_t key, int32_t worker)
{
    if (worker == SIM_GLOBAL || s->config->policy.queue == FILCH_QUEUE_SHARED)
        return NULL;
    if (worker == SIM_ROUND_ROBIN)
        return &s->worker[s->round_robin++ % s->workers];
    if (worker == SIM_RANDOM)
        return &s->worker[draw_below(key, DRAW_PLACE, s->workers)];
    return &s->worker[(uint32_t)worker % s->workers];
}

void sim_task_submit(struct sim *s, uint32_t t, int32_t worker, sim_time now)
{
    struct sim_worker *w = placed(s, s->task[t].key, worker);
    struct sim_queue *q = w ? &w->queue : &s->global;
    s->task[t].home = w ? (int32_t)sim_id(s, w) : -1;
    if (w)
        sim_queue_put(s, w, t);
    else
        sim_queue_add(s, q, t);
    s->result->submitted++;
    sim_record(s, SIM_SUBMITTED, now, w ? sim_id(s, w) : s->workers, -1, t, sim_queue_length(q));
    sim_park_notify(s, w, now);
}

static uint32_t new_arrival(struct sim *s, sim_time now)
{
    uint64_t number = ++s->arrived;
    sim_progress(s);
    return sim_task_new(s, NO_TASK, (uint32_t)number, rng_mix(s->load->seed ^ rng_mix(number)), now);
}

static void arrive(struct sim *s, int32_t worker, sim_time now)
{
    uint32_t t = new_arrival(s, now);
    if (t != NO_TASK)
        sim_task_submit(s, t, worker, now);
}

uint32_t sim_task_successor(struct sim *s, sim_time now, uint32_t *target)
{
    uint32_t t = new_arrival(s, now);
    if (t == NO_TASK)
        return t;
    struct sim_worker *w = placed(s, s->task[t].key, s->load->arrivals.worker);
    *target = w ? sim_id(s, w) : s->workers;
    return t;
}

/* The time of an arrival after `t`, in the phases in which there are any. */
static sim_time on_phase(struct sim *s, sim_time t)
{
    const struct sim_arrivals *a = &s->load->arrivals;
    if (a->kind != SIM_ARRIVE_ON_OFF)
        return t;
    sim_time period = a->on + a->off, within = t % period;
    return within < a->on ? t : sim_later(s, t, period - within);
}

static sim_time gap(struct sim *s)
{
    return dist_draw(&s->load->arrivals.gap, rng_mix(s->load->seed ^ rng_mix(~s->arrived)));
}

/* The arrivals by gaps that are due; several may be at one instant. */
static void arrive_by_gaps(struct sim *s, sim_time now)
{
    const struct sim_arrivals *a = &s->load->arrivals;
    while (s->next_arrival <= now && !s->error) {
        arrive(s, a->worker, now);
        s->next_arrival =
            s->arrived < a->count ? on_phase(s, sim_later(s, s->next_arrival, gap(s))) : SIM_NEVER;
    }
}

static void arrive_in_bursts(struct sim *s, sim_time now)
{
    const struct sim_arrivals *a = &s->load->arrivals;
    while (s->burst < a->bursts && a->burst[s->burst].at <= now && !s->error) {
        for (uint32_t i = 0; i < a->burst[s->burst].tasks && !s->error; i++)
            arrive(s, a->burst[s->burst].worker, now);
        s->burst++;
    }
    s->next_arrival = s->burst < a->bursts ? a->burst[s->burst].at : SIM_NEVER;
}

static void submit_line(struct sim *s, uint32_t line, int32_t worker, sim_time now)
{
    uint32_t t = new_arrival(s, now);
    if (t == NO_TASK)
        return;
    s->task[t].node = line;
    int32_t given = s->load->list->task[line].worker;
    sim_task_submit(s, t, given >= 0 ? given : worker, now);
}

static void arrive_by_list(struct sim *s, sim_time now)
{
    const struct task_list *l = s->load->list;
    while (s->burst < s->lines && l->task[s->line_order[s->burst]].at <= now && !s->error)
        submit_line(s, s->line_order[s->burst++], SIM_RANDOM, now);
    s->next_arrival = s->burst < s->lines ? l->task[s->line_order[s->burst]].at : SIM_NEVER;
}

void sim_tasks_arrive(struct sim *s, sim_time now)
{
    switch (s->load->arrivals.kind) {
    case SIM_ARRIVE_GAPS:
    case SIM_ARRIVE_ON_OFF:
        arrive_by_gaps(s, now);
        break;
    case SIM_ARRIVE_BURSTS:
        arrive_in_bursts(s, now);
        break;
    case SIM_ARRIVE_LIST:
        arrive_by_list(s, now);
        break;
    case SIM_ARRIVE_AT_START:
    case SIM_ARRIVE_ROOT:
        s->next_arrival = SIM_NEVER;
        break;
    }
}

static void submit_root(struct sim *s)
{
    uint32_t t = new_arrival(s, 0);
    if (t == NO_TASK)
        return;
    s->task[t].node = s->load->tree->root;
    sim_task_submit(s, t, 0, 0);
}

void sim_tasks_at_start(struct sim *s)
{
    const struct sim_arrivals *a = &s->load->arrivals;
    s->next_arrival = SIM_NEVER;
    switch (a->kind) {
    case SIM_ARRIVE_AT_START:
        for (uint64_t i = 0; i < a->count && !s->error; i++)
            arrive(s, a->worker, 0);
        break;
    case SIM_ARRIVE_GAPS:
    case SIM_ARRIVE_ON_OFF:
        if (a->count > 0)
            s->next_arrival = on_phase(s, a->first_now ? 0 : gap(s));
        break;
    case SIM_ARRIVE_BURSTS:
        arrive_in_bursts(s, 0);
        break;
    case SIM_ARRIVE_LIST:
        arrive_by_list(s, 0);
        break;
    case SIM_ARRIVE_ROOT:
        submit_root(s);
        break;
    }
}

/* ---- task files --------------------------------------------------------------------------- */

void sim_tasks_release(struct sim *s, uint64_t line, int32_t worker, sim_time now)
{
    for (uint32_t i = s->line_used[line]; i < s->line_used[line + 1]; i++) {
        uint32_t user = s->line_users[i];
        if (--s->line_waits[user] == 0)
            submit_line(s, user, worker, now);
    }
}

/* By time, and as they stand in the file where times are equal. A merge sort: `to` is scratch. */
static void sort_lines(const struct task_list *l, uint32_t *a, uint32_t *to, size_t n)
{
    size_t half = n / 2, i = 0, j = half, k = 0;
    if (n < 2)
        return;
    sort_lines(l, a, to, half);
    sort_lines(l, a + half, to, n - half);
    while (i < half || j < n)
        to[k++] = j >= n || (i < half && l->task[a[i]].at <= l->task[a[j]].at) ? a[i++] : a[j++];
    for (k = 0; k < n; k++)
        a[k] = to[k];
}

static void link_children(struct sim *s, const struct task_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        s->line_first[i] = s->line_sibling[i] = NO_TASK;
    for (size_t i = l->n; i-- > 0;) { /* so that the first line is the first child */
        if (l->task[i].parent < 0)
            continue;
        s->line_sibling[i] = s->line_first[l->task[i].parent];
        s->line_first[l->task[i].parent] = (uint32_t)i;
    }
}

/* line_used[i + 1] counts first, then is the end of i's part of line_users. */
static void link_users(struct sim *s, const struct task_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        s->line_waits[i] = l->task[i].n_after;
        for (unsigned k = 0; k < l->task[i].n_after; k++)
            s->line_used[(size_t)l->task[i].after[k] + 1]++;
    }
    for (size_t i = 0; i < l->n; i++)
        s->line_used[i + 1] += s->line_used[i];
    for (size_t i = l->n; i-- > 0;) /* backwards: used[x] falls from the end of x's part to its beginning */
        for (unsigned k = l->task[i].n_after; k-- > 0;)
            s->line_users[--s->line_used[(size_t)l->task[i].after[k] + 1]] = (uint32_t)i;
    for (size_t i = 0; i < l->n; i++)
        s->line_used[i] = s->line_used[i + 1];
    size_t edges = 0;
    for (size_t i = 0; i < l->n; i++)
        edges += l->task[i].n_after;
    s->line_used[l->n] = (uint32_t)edges;
}

int sim_tasks_init(struct sim *s)
{
    const struct task_list *l = s->load->list;
    size_t edges = 0;
    s->free_task = NO_TASK;
    if (s->load->behavior != SIM_LISTED)
        return 0;
    for (size_t i = 0; i < l->n; i++)
        edges += l->task[i].n_after;
    s->line_order = malloc((l->n + 1) * sizeof *s->line_order);
    s->line_first = malloc((l->n + 1) * sizeof *s->line_first);
    s->line_sibling = malloc((l->n + 1) * sizeof *s->line_sibling);
    s->line_waits = malloc((l->n + 1) * sizeof *s->line_waits);
    s->line_used = calloc(l->n + 1, sizeof *s->line_used);
    s->line_users = malloc((edges + 1) * sizeof *s->line_users);
    uint32_t *scratch = malloc((l->n + 1) * sizeof *scratch);
    bool enough = s->line_order && s->line_first && s->line_sibling && s->line_waits && s->line_used &&
                  s->line_users && scratch;
    if (enough) {
        link_children(s, l);
        link_users(s, l);
        for (size_t i = 0; i < l->n; i++)
            if (l->task[i].parent < 0 && l->task[i].n_after == 0)
                s->line_order[s->lines++] = (uint32_t)i;
        sort_lines(l, s->line_order, scratch, s->lines);
    }
    free(scratch);
    return enough ? 0 : -ENOMEM;
}

void sim_tasks_destroy(struct sim *s)
{
    free(s->task);
    free(s->line_order);
    free(s->line_first);
    free(s->line_sibling);
    free(s->line_waits);
    free(s->line_used);
    free(s->line_users);
}
