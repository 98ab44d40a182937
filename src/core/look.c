#include "core/look.h"
#include "core/run.h"

#include <stdlib.h>
#include <string.h>

enum { UNSEEN, OPEN, CLOSED };
#define NO_PARENT SIZE_MAX

/* Copies in pieces that do not cross a border of pages: the string may end just before one. */
void look_text(char *to, size_t size, const char *from)
{
    size_t n = 0, page = os_page_size();
    memset(to, 0, size);
    while (from && n + 1 < size && strlen(to) == n) {
        size_t piece = page - ((uintptr_t)from + n) % page;
        piece = piece < size - 1 - n ? piece : size - 1 - n;
        if (os_peek(to + n, from + n, piece) != 0)
            break;
        n += piece;
    }
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~' || *c == '"')
            *c = '?';
}

/* ---- arrays that grow --------------------------------------------------------------------- */

/* Room for one more; false if there is no memory. */
static bool grow(void *array, size_t *room, size_t used, size_t size)
{
    void *old, *more;
    if (used < *room)
        return true;
    memcpy(&old, array, sizeof old);
    size_t now = *room ? 2 * *room : 64;
    more = os_alloc(now * size);
    if (!more)
        return false;
    if (used)
        memcpy(more, old, used * size);
    os_free(old);
    memcpy(array, &more, sizeof more);
    *room = now;
    return true;
}

static int by_key(const void *a, const void *b)
{
    const struct look_key *x = a, *y = b;
    if (x->key != y->key)
        return (uintptr_t)x->key < (uintptr_t)y->key ? -1 : 1;
    return x->flow < y->flow ? -1 : x->flow > y->flow;
}

/* The first with this key, or n. */
static size_t first_of(const struct look_key *k, size_t n, const void *key)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)k[middle].key < (uintptr_t)key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && k[low].key == key ? low : n;
}

/* ---- one flow ----------------------------------------------------------------------------- */

static int worker_of(filch_pool *pool, const struct fiber *f)
{
    for (int i = 0; i < pool->count; i++)
        if (filch_load_relaxed(&pool->workers[i].fiber) == f) /* order: a hint */
            return i;
    return -1;
}

/* What it waits for. False if it went on meanwhile. */
static bool see_wait(struct look_flow *v, const struct fiber *f, const struct wait *at)
{
    struct wait w;
    struct wait *still;
    if (os_peek(&w, at, sizeof w) != 0 || os_peek(&still, &f->waiting, sizeof still) != 0 ||
        still != at || wait_ended(&w))
        return false;
    if (w.about && os_peek(&v->about, w.about, sizeof v->about) != 0)
        v->about = (struct wait_subject){0};
    v->object = w.object;
    v->since_ns = w.since_ns;
    v->deadline = w.deadline;
    if ((const char *)at > v->stack_low && (const char *)at < v->stack_high)
        v->stack_low = (const char *)at; /* what lies below is ours */
    return true;
}

static bool see_join(struct look_flow *v, const filch_slot *slot)
{
    uintptr_t state;
    if (os_peek(&state, &slot->state, sizeof state) != 0)
        return false;
    v->stolen = (state & STATE_TAG) != STATE_DONE;
    return v->stolen;
}

static void see_name(struct look_flow *v, const struct fiber *copy)
{
    filch_task t;
    struct root r;
    if (copy->task && os_peek(&t, copy->task, sizeof t) == 0) {
        look_text(v->name, sizeof v->name, t.name);
        v->under = t.flags & TASK_COPY ? (const filch_task *)t.link : 0;
    } else if (copy->root && os_peek(&r, copy->root, sizeof r) == 0) {
        look_text(v->name, sizeof v->name, r.name);
    }
}

static void see_state(struct look_flow *v, const struct fiber *f, const struct fiber *copy)
{
    bool waits = (copy->waiting && see_wait(v, f, copy->waiting)) ||
                 (!copy->waiting && copy->joining && see_join(v, copy->joining));
    v->worker = worker_of(copy->pool, f);
    v->state = waits ? LOOK_WAITING : v->worker >= 0 ? LOOK_RUNNING : LOOK_READY;
}

static void see_fiber(const struct fiber *f, void *arg)
{
    struct look *l = arg;
    struct fiber copy;
    if (os_peek(&copy, f, sizeof copy) != 0 || copy.pool != l->pool || (!copy.root && !copy.task))
        return;
    if (!grow(&l->flow, &l->room, l->flows, sizeof *l->flow)) {
        l->missed++;
        return;
    }
    struct look_flow *v = &l->flow[l->flows++];
    *v = (struct look_flow){.fiber = f, .task = copy.task, .token = copy.token, .parent = NO_PARENT,
                            .stack_low = copy.context.sp, .stack_high = (const char *)f};
    see_name(v, &copy);
    see_state(v, f, &copy);
    l->running += v->state == LOOK_RUNNING;
    l->ready += v->state == LOOK_READY;
    l->waiting += v->state == LOOK_WAITING;
}

/* ---- who is who --------------------------------------------------------------------------- */

static void add_task(struct look *l, const filch_task *t, size_t flow)
{
    if (grow(&l->task, &l->task_room, l->tasks, sizeof *l->task))
        l->task[l->tasks++] = (struct look_key){t, flow};
}

/* The task that runs on it, and those whose joins run that. */
static void add_tasks(struct look *l, size_t flow)
{
    enum { DEEP = 4096 };
    const filch_task *t = l->flow[flow].task;
    filch_task copy;
    for (int i = 0; t && i < DEEP; i++) {
        add_task(l, t, flow);
        if (os_peek(&copy, t, sizeof copy) != 0 || !(copy.flags & TASK_COPY))
            return;
        t = (const filch_task *)copy.link;
    }
}

static void index_flows(struct look *l)
{
    l->token = l->flows ? os_alloc(l->flows * sizeof *l->token) : 0;
    for (size_t i = 0; i < l->flows; i++) {
        add_tasks(l, i);
        if (l->token && l->flow[i].token)
            l->token[l->tokens++] = (struct look_key){l->flow[i].token, i};
    }
    if (l->tasks)
        qsort(l->task, l->tasks, sizeof *l->task, by_key);
    if (l->tokens)
        qsort(l->token, l->tokens, sizeof *l->token, by_key);
}

/* ---- tasks that have not begun ------------------------------------------------------------ */

static void count_queued(struct look *l, const filch_task *t)
{
    uintptr_t fn;
    size_t i = 0;
    memcpy(&fn, &t->fn, sizeof fn);
    l->queued++;
    while (i < l->groups && (l->group[i].fn != fn || l->group[i].at != t->name))
        i++;
    if (i == LOOK_GROUPS)
        return; /* counted all the same */
    l->groups = i == l->groups ? i + 1 : l->groups;
    l->group[i] = (struct look_group){fn, t->name, l->group[i].count + 1};
}

static void see_task(const filch_task *t, void *arg)
{
    struct look *l = arg;
    filch_task copy;
    if (os_peek(&copy, t, sizeof copy) != 0 || copy.pool != l->pool)
        return;
    unsigned tag = task_tag(copy.state);
    l->ended += tag == TASK_DONE;
    if ((tag == TASK_NEW || tag == TASK_WAITED_NEW || tag == TASK_ORPHAN) &&
        first_of(l->task, l->tasks, t) == l->tasks)
        count_queued(l, &copy);
}

void look_take(struct look *l, filch_pool *pool)
{
    *l = (struct look){.pool = pool};
    for (int kind = 0; kind < FIBER_KINDS; kind++)
        fiber_each(&pool->fibers[kind], see_fiber, l);
    index_flows(l);
    task_each(&pool->tasks, see_task, l);
}

void look_drop(struct look *l)
{
    os_free(l->flow);
    os_free(l->task);
    os_free(l->token);
}

/* ---- circles ------------------------------------------------------------------------------ */

static struct look_flow *flow_of_fiber(struct look *l, const struct fiber *f)
{
    for (size_t i = 0; f && i < l->flows; i++)
        if (l->flow[i].fiber == f)
            return &l->flow[i];
    return 0;
}

static struct look_flow *holder(struct look *l, const struct look_flow *f)
{
    const struct fiber *has = 0;
    if (f->about.holder_at == 0 || f->cursor > 0 ||
        os_peek(&has, (const char *)f->object + f->about.holder_at, sizeof has) != 0)
        return 0;
    return flow_of_fiber(l, has);
}

struct look_flow *look_needs(struct look *l, struct look_flow *f)
{
    if (f->state != LOOK_WAITING || !f->about.call)
        return 0;
    bool tasks = f->about.kind == WAIT_FOR_TASK;
    struct look_flow *found = 0;
    if (tasks || f->about.kind == WAIT_FOR_SCOPE) {
        const struct look_key *k = tasks ? l->task : l->token;
        size_t n = tasks ? l->tasks : l->tokens, at = first_of(k, n, f->object) + f->cursor;
        found = at < n && k[at].key == f->object ? &l->flow[k[at].flow] : 0;
    } else {
        found = holder(l, f);
    }
    f->cursor++;
    return found;
}

/* Depth first from `f`; a flow that is met again while it is open closes a circle. */
static struct look_flow *circle_from(struct look *l, struct look_flow *f)
{
    f->colour = OPEN;
    while (f) {
        struct look_flow *next = look_needs(l, f);
        if (next && next->colour == OPEN) {
            next->parent = (size_t)(f - l->flow);
            return next;
        }
        if (next && next->colour == UNSEEN) {
            next->colour = OPEN;
            next->parent = (size_t)(f - l->flow);
            f = next;
        } else if (!next) {
            f->colour = CLOSED;
            f = f->parent == NO_PARENT ? 0 : &l->flow[f->parent];
        }
    }
    return 0;
}

struct look_flow *look_circle(struct look *l, size_t *from)
{
    for (; *from < l->flows; ++*from) {
        struct look_flow *f = &l->flow[*from];
        struct look_flow *found = f->colour == UNSEEN ? circle_from(l, f) : 0;
        if (!found)
            continue;
        for (size_t i = 0; i < l->flows; i++) /* each flow is in one report at most */
            if (l->flow[i].colour == OPEN)
                l->flow[i].colour = CLOSED;
        return found;
    }
    return 0;
}
