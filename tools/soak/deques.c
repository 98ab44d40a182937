/* deques.c: the public deque, with thieves that steal from its owner and from each other, growth,
 * and counters near their wrap. An item is the number of a mark. */
#include "seam.h"
#include "soak.h"

#include <errno.h>
#include <filch/deque.h>
#include <sched.h>

enum { THIEVES = 3 };

struct bout {
    struct driver *d;
    filch_deque *deque[THIEVES + 1]; /* the driver's first, then one of each thief */
    uint32_t left;                   /* items that nobody has taken yet            */
};

static void *item_of(uint32_t index)
{
    return (void *)((uintptr_t)index + 1);
}

static void take(struct bout *b, void *item)
{
    uint64_t index = (uint64_t)(uintptr_t)item - 1;
    if (index >= SOAK_MARKS) {
        tally_wrong(b->d, "a deque returns an item that was never pushed");
        return;
    }
    tally_mark(b->d, (uint32_t)index);
    filch_sub_acq_rel(&b->left, 1u); /* order: the mark is there before the bout is over */
}

static bool over(struct bout *b)
{
    return filch_load_acquire(&b->left) == 0; /* order: pairs with take */
}

/* ---- thieves ------------------------------------------------------------------------------- */

static void empty(struct bout *b, filch_deque *own)
{
    void *item;
    while (filch_deque_pop(own, &item) == 1)
        take(b, item);
}

/* Now and then the loot stays where it is: others may have it. */
static void rob(struct bout *b, filch_deque *victim, filch_deque *own, struct rng *rng)
{
    void *item;
    uint32_t how = rng_below(rng, 4), max = 1 + rng_below(rng, 40);
    if (how == 0)
        (void)filch_deque_steal_batch(victim, own, max);
    else if (how == 1)
        (void)filch_deque_steal_floor(victim, own, max);
    else if (filch_deque_steal(victim, &item) == 1)
        take(b, item);
    if (rng_below(rng, 3))
        empty(b, own);
}

static void thief(struct stranger *s)
{
    struct bout *b = s->arg;
    filch_deque *own = b->deque[s->number + 1];
    while (!over(b)) {
        uint32_t v = rng_below(&s->rng, THIEVES + 1);
        seam_point();
        if (b->deque[v] != own)
            rob(b, b->deque[v], own, &s->rng);
        if (filch_deque_size(own) == 0 && rng_below(&s->rng, 8) == 0)
            sched_yield();
    }
}

/* ---- the owner ----------------------------------------------------------------------------- */

static void push(struct bout *b, uint32_t index, bool faults)
{
    int rc;
    while ((rc = filch_deque_push(b->deque[0], item_of(index))) == -ENOMEM && faults)
        driver_step(b->d);
    if (rc != 0)
        tally_wrong(b->d, "filch_deque_push returns %d", rc);
}

static void own_bout(struct bout *b, uint32_t n, bool faults)
{
    struct driver *d = b->d;
    void *item;
    for (uint32_t i = 0; i < n; i++) {
        push(b, i, faults);
        seam_point();
        uint32_t pops = driver_chance(d, 8) ? driver_below(d, 20) : driver_below(d, 2);
        while (pops-- > 0 && filch_deque_pop(b->deque[0], &item) == 1)
            take(b, item);
        if (driver_chance(d, 500))
            (void)filch_deque_reserve(b->deque[0], driver_below(d, 200));
    }
    while (!over(b)) {
        if (filch_deque_pop(b->deque[0], &item) == 1)
            take(b, item);
        else
            sched_yield();
    }
}

static bool bout_make(struct bout *b, bool faults)
{
    struct driver *d = b->d;
    for (int i = 0; i <= THIEVES; i++) {
        enum filch_deque_order order = driver_chance(d, 2) ? FILCH_DEQUE_LIFO : FILCH_DEQUE_FIFO;
        int rc;
        while ((rc = filch_deque_create(&b->deque[i], order, 1 + driver_below(d, 8))) == -ENOMEM && faults)
            continue;
        if (rc != 0) {
            tally_wrong(d, "filch_deque_create returns %d", rc);
            return false;
        }
        filch_deque_start_at(b->deque[i], (uint64_t)0 - driver_below(d, 50));
    }
    return true;
}

void deque_bout(struct driver *d, bool faults)
{
    struct stranger s[THIEVES];
    uint32_t n = 1 + driver_below(d, driver_chance(d, 3) ? 50 : SOAK_MARKS - 1);
    struct bout b = {.d = d, .left = n};
    if (!bout_make(&b, faults))
        return;
    d->born += n;
    uint32_t thieves = stranger_start(s, driver_range(d, 1, THIEVES), d, thief, &b);
    own_bout(&b, n, faults);
    stranger_join(s, thieves);
    for (int i = 0; i <= THIEVES; i++)
        filch_deque_destroy(b.deque[i]);
    driver_step(d);
    tally_marks(d, n);
}

void phase_deques(struct driver *d)
{
    uint32_t rounds = driver_range(d, 1, 4);
    for (uint32_t i = 0; i < rounds && !soak_ending(); i++)
        deque_bout(d, false);
}
