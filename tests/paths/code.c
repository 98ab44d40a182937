/* code.c: what is inlined into callers, once as a function of its own, so that its instructions can be
 * counted (scripts/paths.sh --code). Nothing here runs. */
#include "core/ring.h"
#include "core/slots.h"

#include <filch/forkjoin.h>

FILCH_TASK(long, code_fork_join, int, n)
{
    if (n < 2)
        return n;
    FILCH_FORK(b, code_fork_join, n - 2);
    long a = FILCH_CALL(code_fork_join, n - 1);
    return a + FILCH_JOIN(code_fork_join, b);
}

long code_fork_join_run(int n);
long code_fork_join_run(int n)
{
    return FILCH_RUN(code_fork_join, n);
}

#define CODE(type, name, ...) \
    type code_##name(__VA_ARGS__); \
    type code_##name(__VA_ARGS__)

CODE(bool, ring_push, struct ring *r, uintptr_t item) { return ring_push(r, item); }
CODE(bool, ring_pop, struct ring *r, uintptr_t *item) { return ring_pop(r, item); }
CODE(bool, ring_pop_alone, struct ring *r, uintptr_t *item) { return ring_pop_alone(r, item); }
CODE(uint32_t, ring_push_many, struct ring *r, const uintptr_t *items, uint32_t n)
{
    return ring_push_many(r, items, n);
}
CODE(uint32_t, ring_push_batch_out, struct ring *r, uintptr_t *out, uint32_t most)
{
    return ring_push_batch_out(r, out, most);
}
CODE(int, ring_steal, struct ring *victim, struct ring *thief, uintptr_t *first)
{
    return ring_steal(victim, thief, FILCH_STEAL_HALF, first);
}

CODE(bool, slots_peek, struct slots *s) { return slots_peek(s); }
CODE(bool, slots_used, struct slots *s, filch_slot *p) { return slots_used(s, p); }
CODE(filch_slot *, slots_head, struct slots *s) { return slots_head(s); }
CODE(bool, slots_was_stolen, struct slots *s, filch_slot *slot) { return slots_was_stolen(s, slot); }
CODE(void, slots_give_back, struct slots *s, filch_slot *slot) { slots_give_back(s, slot); }
CODE(enum slots_result, slots_steal, struct slots *s, const struct lineage *const *of,
     const filch_slot *under, struct loot *loot)
{
    return slots_steal(s, of, under, loot);
}
