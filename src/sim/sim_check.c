/* sim_check.c: configurations that make sense; defaults and names. */
#include "sim/sim_state.h"

#include <stdio.h>
#include <string.h>

#define COST_MAX ((sim_time)1 << 50) /* about 13 days */
#define LISTS_MOST 16384u /* workers that keep a list of all workers each: 1 GiB */

struct check {
    char *message;
    size_t size;
    bool bad;
};

static void refuse(struct check *c, bool wrong, const char *text)
{
    if (wrong && !c->bad)
        snprintf(c->message, c->size, "%s", text);
    c->bad |= wrong;
}

static bool known(enum policy_key key, int number)
{
    return policy_word_numbered(key, number, POLICY_SIM) != NULL;
}

static void check_words(struct check *c, const struct sim_policy *p)
{
    refuse(c, !known(POLICY_VICTIM, p->victim), "victim: no such value");
    refuse(c, !known(POLICY_STEAL, p->steal), "steal: no such value");
    refuse(c, p->ends != FILCH_ENDS_DEFAULT && !known(POLICY_ENDS, p->ends), "ends: no such value");
    refuse(c, !known(POLICY_WAKE, p->wake), "wake: no such value");
    refuse(c, !known(POLICY_IDLE, p->idle), "idle: no such value");
    refuse(c, !known(POLICY_JOIN, p->join), "join: no such value");
    refuse(c, !known(POLICY_QUEUE, p->queue), "queue: no such value");
    refuse(c, !known(POLICY_RUN_NEXT, p->run_next), "run_next: no such value");
}

bool sim_search_lasts(const struct sim_config *config)
{
    int queue = config->policy.queue;
    bool locks = queue == FILCH_QUEUE_LOCKED || queue == FILCH_QUEUE_TRYLOCK;
    return config->costs.probe > 0 || config->costs.failed > 0 || config->collisions || locks;
}

/* victim=shuffle: a permutation per worker; largest: the lengths of all queues. */
static bool keeps_lists(const struct sim_config *config)
{
    enum filch_victim victim = (enum filch_victim)config->policy.victim;
    return choice_needs_order(victim) || (choice_needs_lengths(victim) && sim_search_lasts(config));
}

static void check_policy(struct check *c, const struct sim_config *config)
{
    const struct sim_policy *p = &config->policy;
    bool memory = p->victim == FILCH_VICTIM_SHUFFLE || p->victim == FILCH_VICTIM_LAST;
    check_words(c, p);
    refuse(c, p->steal_permille > 1000, "steal: a fraction is above 0 and at most 1");
    refuse(c, p->near_permille > 1000, "near: from 0 to 1000 of 1000 searches");
    refuse(c, p->near_permille > 0 && memory, "near= does not go with victim=shuffle or last");
    refuse(c, p->spin < 1, "spin: at least 1 search");
    refuse(c, p->backoff_factor < 1 || p->backoff_factor > 16, "backoff_factor: from 1 to 16");
    refuse(c, p->backoff_jitter > 100, "backoff_jitter: from 0 to 100 percent");
    refuse(c, p->backoff_min < 1 || p->backoff_min > p->backoff_max || p->backoff_max > COST_MAX,
           "backoff: the first wait is above 0 and not longer than the last");
    refuse(c, p->wait < 0 || p->wait > COST_MAX || (p->idle == FILCH_IDLE_SLEEP && p->wait == 0),
           "wait: above 0 and at most 13 days");
    refuse(c, p->idle == FILCH_IDLE_YIELD && config->costs.failed + config->costs.probe == 0,
           "idle=yield: a look at a victim must take time; give probe= or failed=");
    refuse(c, keeps_lists(config) && config->workers > LISTS_MOST,
           "victim: with shuffle, and with largest where a look takes time, at most 16384 workers");
    refuse(c, p->ring == 1, "ring: 0 (no limit) or at least 2");
}

static void check_costs(struct check *c, const struct sim_costs *k)
{
    const sim_time cost[] = {k->exec, k->spawn, k->pop, k->join, k->probe, k->failed,
                             k->steal_near, k->steal_far, k->wake, k->migrate};
    for (size_t i = 0; i < sizeof cost / sizeof *cost; i++)
        refuse(c, cost[i] < 0 || cost[i] > COST_MAX, "costs: from 0 to 13 days");
}

static void check_arrivals(struct check *c, const struct sim_arrivals *a, uint32_t workers)
{
    bool by_gaps = a->kind == SIM_ARRIVE_GAPS || a->kind == SIM_ARRIVE_ON_OFF;
    refuse(c, a->worker < SIM_ROUND_ROBIN || (a->worker >= 0 && (uint32_t)a->worker >= workers),
           "place: no such worker");
    refuse(c, a->count > UINT32_MAX - 1, "tasks: at most 4294967294");
    refuse(c, by_gaps && a->count > 1 && dist_mean(&a->gap) <= 0,
           "gap: above 0; tasks of one instant are a burst");
    bool phases = a->on >= 1 && a->off >= 0 && a->on <= COST_MAX && a->off <= COST_MAX;
    refuse(c, a->kind == SIM_ARRIVE_ON_OFF && !phases,
           "on/off: the time with arrivals is above 0, that without not below");
    for (uint32_t i = 0; a->kind == SIM_ARRIVE_BURSTS && i < a->bursts; i++) {
        const struct sim_burst *b = &a->burst[i];
        refuse(c, b->at < 0 || (i > 0 && b->at < a->burst[i - 1].at), "bursts: in the order of their times");
        refuse(c, b->worker >= 0 && (uint32_t)b->worker >= workers, "bursts: no such worker");
        refuse(c, b->worker < SIM_ROUND_ROBIN, "bursts: no such place");
    }
}

static void check_list(struct check *c, const struct task_list *l, uint32_t workers)
{
    for (size_t i = 0; l && i < l->n && !c->bad; i++) {
        if (l->task[i].worker >= 0 && (uint32_t)l->task[i].worker >= workers) {
            snprintf(c->message, c->size, "task %s: there is no worker %d, only 0 to %u", l->task[i].id,
                     l->task[i].worker, workers - 1);
            c->bad = true;
        }
    }
}

/* What would go on for ever: loads that renew themselves, without an end or in no time. */
static void check_end(struct check *c, const struct sim_config *config, const struct sim_load *l)
{
    bool closed = l->behavior == SIM_CLOSED;
    bool random = l->behavior == SIM_SPAWNING || l->behavior == SIM_JOINING;
    uint32_t per_mille = (l->children_min + l->children_max) * l->spawn_permille / 2;
    bool grows = random && per_mille >= 1000;
    const struct dist *lasting = closed ? &l->duration : &l->child;
    bool forever = config->until == SIM_NEVER;
    refuse(c, closed && forever, "load=closed: the run would never end; give until=");
    refuse(c, grows && forever,
           "children: a task has one or more on average: the run would never end; give until=");
    refuse(c, grows && l->children_inline, "children: with inline=on a task has less than one on average");
    refuse(c, (closed || grows) && config->costs.exec == 0 && dist_mean(lasting) <= 0,
           "duration: tasks that follow on each other must take time; give exec=");
}

static void check_load(struct check *c, const struct sim_config *config, const struct sim_load *l)
{
    bool listed = l->behavior == SIM_LISTED, tree = l->behavior == SIM_TREE;
    refuse(c, listed != (l->arrivals.kind == SIM_ARRIVE_LIST) || (listed && !l->list),
           "a task list is missing");
    refuse(c, tree != (l->arrivals.kind == SIM_ARRIVE_ROOT) || (tree && !l->tree), "a tree is missing");
    refuse(c, l->spawn_permille > 1000, "spawn: a probability is from 0 to 1");
    refuse(c, l->children_min > l->children_max || l->children_max > 1000, "children: at most 1000");
    check_end(c, config, l);
    check_arrivals(c, &l->arrivals, config->workers);
    if (listed)
        check_list(c, l->list, config->workers);
}

int sim_check(const struct sim_config *config, const struct sim_load *load, char *message, size_t size)
{
    struct check c = {message, size, false};
    if (size > 0)
        *message = '\0';
    refuse(&c, config->workers < 1 || config->workers > SIM_MAX_WORKERS, "workers: from 1 to 65536");
    refuse(&c, config->until < 1, "until: above 0");
    refuse(&c, config->look_every < 0 || config->look_every > COST_MAX, "look: from 0 to 13 days");
    for (uint32_t i = 0; config->speed && !c.bad && i < config->workers; i++)
        refuse(&c, config->speed[i] < 1 || config->speed[i] > 1000000, "speed: from 0.001 to 1000");
    if (!c.bad) {
        check_policy(&c, config);
        check_costs(&c, &config->costs);
        check_load(&c, config, load);
    }
    return c.bad ? -EINVAL : 0;
}

struct sim_config sim_config_003(uint32_t workers)
{
    return (struct sim_config){
        .workers = workers,
        .policy = {.victim = FILCH_VICTIM_SHUFFLE, .steal = FILCH_STEAL_ONE, .ends = FILCH_ENDS_LIFO,
                   .wake = FILCH_WAKE_ONE, .idle = FILCH_IDLE_SLEEP, .join = FILCH_JOIN_SUSPEND,
                   .queue = POLICY_QUEUE_DEQUE, .run_next = FILCH_RUN_NEXT_OFF, .spin = 1,
                   .backoff_min = SIM_SECOND / 20, .backoff_max = SIM_SECOND / 2, .backoff_factor = 2,
                   .wait = SIM_SECOND / 10},
        .until = SIM_NEVER,
        .seed = 1,
    };
}

/* ---- names -------------------------------------------------------------------------------- */

#define NAME_DEPTH 32 /* generations that are written out */

int sim_task_name(const struct sim_result *r, uint32_t task, char *to, size_t size)
{
    uint32_t chain[NAME_DEPTH], depth = 0;
    while (task < r->tasks && depth < NAME_DEPTH && !r->list) {
        chain[depth++] = r->name[task].number;
        task = r->name[task].parent;
    }
    if (r->list && task < r->tasks)
        return snprintf(to, size, "%s", r->list->task[r->name[task].number].id);
    if (depth == 0 || (task != SIM_NO_TASK && depth == NAME_DEPTH))
        return snprintf(to, size, "T?");
    int n = snprintf(to, size, "T%u", chain[depth - 1]);
    for (uint32_t i = depth - 1; i-- > 0 && n > 0 && (size_t)n < size;)
        n += snprintf(to + n, size - (size_t)n, ".%u", chain[i]);
    return n;
}

const char *sim_end_name(enum sim_end how)
{
    switch (how) {
    case SIM_DONE: return "done";
    case SIM_TIME_UP: return "time up";
    case SIM_DEADLOCK: return "deadlock";
    case SIM_LIVELOCK: return "livelock";
    case SIM_STRANDED: return "stranded";
    case SIM_EVENTS_UP: return "events up";
    }
    return "?";
}
