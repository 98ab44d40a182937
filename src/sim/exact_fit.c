#include "sim/exact_fit.h"

#include "policy/names.h"

static bool policy_fits(const struct sim_policy *p)
{
    return p->victim == FILCH_VICTIM_ONE && p->steal == FILCH_STEAL_ONE && p->steal_permille == 0 &&
           p->ends == FILCH_ENDS_LIFO && p->idle == FILCH_IDLE_YIELD && p->cycle_attempts == 0 &&
           p->join == FILCH_JOIN_SUSPEND && p->queue == POLICY_QUEUE_DEQUE &&
           p->run_next == FILCH_RUN_NEXT_OFF && p->near_permille == 0 && p->global_every == 0 && p->ring == 0;
}

static bool costs_fit(const struct sim_config *c)
{
    bool one_distance = c->group == 0 || c->costs.steal_near == c->costs.steal_far;
    return one_distance && c->costs.failed > 0 && c->costs.probe == 0 && c->costs.migrate == 0;
}

bool exact_fits(const struct sim_config *config, const struct sim_load *load)
{
    return load->behavior == SIM_TREE && !load->leaf && policy_fits(&config->policy) && costs_fit(config) &&
           !config->speed && !config->collisions && config->until == SIM_NEVER && !config->record;
}

struct forktree_costs exact_costs(const struct sim_config *config)
{
    const struct sim_costs *c = &config->costs;
    return (struct forktree_costs){.exec = c->exec,     .spawn = c->spawn,   .pop = c->pop,
                                   .join = c->join,     .failed = c->failed, .steal = c->steal_near};
}
