/* inside.c: paths that no public call walks on one thread: what a thief does.
 *
 * The worker that runs the case acts for another one, the thief, whose own thread is kept by a job: nothing
 * else touches what belongs to the thief. */
#include "paths.h"

#include "core/find.h"
#include "core/queue.h"

enum { VICTIM_SIZE = 100, HALF = VICTIM_SIZE / 2, STEALS = 1000 };

/* The same queues before each steal, so that a round costs the same as any other. */
static void ring_set(struct ring *r, uint64_t head, uint64_t tail)
{
    /* order: relaxed, there is one thread */
    filch_store_relaxed(&r->head, head);
    filch_store_relaxed(&r->tail, tail);
}

static void ring_fill(struct ring *r)
{
    static filch_job jobs[VICTIM_SIZE]; /* that never run */
    ring_set(r, 0, 0);
    for (int i = 0; i < VICTIM_SIZE; i++)
        ring_push(r, item_job(&jobs[i]));
}

/* ring_steal alone, as it is inlined here. */
static int ring_half(void)
{
    static uintptr_t from[256], to[256];
    static struct ring victim, thief;
    ring_init(&victim, from, 256, 0);
    ring_init(&thief, to, 256, 0);
    ring_fill(&victim);
    for (int i = 0; i < STEALS; i++) {
        uintptr_t first;
        ring_set(&victim, 0, VICTIM_SIZE);
        ring_set(&thief, 0, 0);
        if (ring_steal(&victim, &thief, FILCH_STEAL_HALF, &first) != HALF)
            return 1;
    }
    return 0;
}

static struct worker *thief_of(struct worker *victim)
{
    struct worker *all = victim->pool->workers;
    return victim == all ? all + 1 : all;
}

/* The whole way: chooses a victim, looks for forks there, takes half of its queue. With more than two workers
 * the others have nothing, and chance decides how many of them are tried first: a change of the order may
 * move the figure by a few tenths of a percent. */
static int steal_half(void)
{
    struct worker *victim = worker_self(), *thief = thief_of(victim);
    ring_fill(&victim->ring);
    int wrong = 0;
    for (int i = 0; i < STEALS && !wrong; i++) {
        ring_set(&victim->ring, 0, VICTIM_SIZE);
        ring_set(&thief->ring, 0, 0);
        struct found found = find_steal(thief);
        wrong = found.what != FOUND_ITEM || ring_size(&thief->ring) != HALF - 1;
    }
    ring_set(&victim->ring, 0, 0);
    ring_set(&thief->ring, 0, 0);
    return wrong;
}

/* No victim has anything: what a round over all of them costs. */
static int steal_none(void)
{
    struct worker *thief = thief_of(worker_self());
    for (int i = 0; i < STEALS; i++)
        if (find_steal(thief).what != FOUND_NOTHING)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    static const struct paths_case cases[] = {
        {"ring_half", 1, 4, STEALS, ring_half},
        {"steal_half.2", 2, 4, STEALS, steal_half},
        {"steal_half.4", 4, 16, STEALS, steal_half},
        {"steal_none.4", 4, 4, STEALS, steal_none},
    };
    return paths_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
