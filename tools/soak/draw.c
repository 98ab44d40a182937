/* draw.c: pools as the dice fall: every policy, tiny rings, small stacks, fenced slots. */
#include "seam.h"
#include "soak.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { SHARED = 3 };
static filch_pool *shared[SHARED];
static char shared_text[SHARED][160];

/* ---- configurations ------------------------------------------------------------------------ */

static size_t draw_stack(struct driver *d, unsigned need)
{
    static const size_t small[] = {16 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20};
    static const size_t deep[] = {256 << 10, 512 << 10, 1 << 20, 2 << 20};
    if (driver_chance(d, 16))
        return 0;
    if (SOAK_SLOW || need & DRAW_DEEP)
        return deep[driver_below(d, 4)];
    return small[driver_below(d, 5)];
}

static int draw_workers(struct driver *d)
{
    return (int)(driver_chance(d, 2) ? driver_range(d, 1, 3) : driver_range(d, 1, 8));
}

/* The default of each policy more often than the others: that path has most to lose. */
static int draw_policy(struct driver *d, int last)
{
    return driver_chance(d, 2) ? 0 : (int)driver_range(d, 0, (uint32_t)last);
}

filch_config draw_config(struct driver *d, unsigned need)
{
    filch_config c = FILCH_CONFIG_INIT;
    c.no_environment = 1;
    c.name = "soak";
    c.workers = draw_workers(d);
    c.stack_size = draw_stack(d, need);
    c.victim = (enum filch_victim)draw_policy(d, FILCH_VICTIM_LAST);
    c.steal = (enum filch_steal)draw_policy(d, need & DRAW_SHARING ? FILCH_STEAL_ALL : FILCH_STEAL_FLOOR);
    c.ends = (enum filch_ends)draw_policy(d, FILCH_ENDS_REVERSE);
    c.wake = (enum filch_wake)draw_policy(d, FILCH_WAKE_RANDOM);
    c.idle = (enum filch_idle)draw_policy(d, FILCH_IDLE_BACKOFF);
    c.join = need & DRAW_SUSPEND ? FILCH_JOIN_SUSPEND
                                 : (enum filch_join_policy)draw_policy(d, FILCH_JOIN_HELP);
    c.queue = (enum filch_queue)draw_policy(d, FILCH_QUEUE_TRYLOCK);
    if (need & DRAW_SHARING && c.queue == FILCH_QUEUE_PRIVATE)
        c.queue = FILCH_QUEUE_RING;
    c.ring_capacity = 2u << driver_below(d, 8);
    c.spin_rounds = driver_chance(d, 2) ? 0 : driver_range(d, 1, 8);
    c.steal_attempts = driver_chance(d, 4) && !(need & DRAW_SHARING) ? 1 : 0;
    c.run_next = (enum filch_run_next)draw_policy(d, FILCH_RUN_NEXT_OFF);
    c.cycle_attempts = driver_chance(d, 4) && !(need & DRAW_SHARING) ? driver_range(d, 1, 20) : 0;
    c.backoff_factor = driver_chance(d, 2) ? 0 : driver_range(d, 1, 16);
    c.backoff_jitter = driver_chance(d, 2) ? 0 : driver_range(d, 1, 100);
    c.global_every = driver_chance(d, 2) ? 0 : driver_range(d, 1, 200);
    c.backoff_max_ns = driver_chance(d, 2) ? 0 : 1000000 * (int64_t)driver_range(d, 1, 10);
    return c;
}

static void text_of(char *out, size_t size, const filch_config *c, bool fenced)
{
    snprintf(out, size,
             "workers=%d stack=%zu victim=%d steal=%d ends=%d wake=%d idle=%d join=%d queue=%d ring=%u "
             "spin=%u attempts=%u run_next=%d cycle=%u factor=%u jitter=%u global=%u%s",
             c->workers, c->stack_size, (int)c->victim, (int)c->steal, (int)c->ends, (int)c->wake,
             (int)c->idle, (int)c->join, (int)c->queue, c->ring_capacity, c->spin_rounds, c->steal_attempts,
             (int)c->run_next, c->cycle_attempts, c->backoff_factor, c->backoff_jitter, c->global_every,
             fenced ? " fenced" : "");
}

/* ---- pools of a driver --------------------------------------------------------------------- */

static void shown_lock(struct driver *d)
{
    uint32_t unlocked = 0;
    while (!filch_cas_acquire(&d->shown, &unlocked, 1u)) { /* order: pairs with shown_unlock */
        unlocked = 0;
        soak_nap_us(10);
    }
}

static void shown_unlock(struct driver *d)
{
    filch_store_release(&d->shown, 0u); /* order: pairs with shown_lock */
}

static void show(struct driver *d, filch_pool *pool, const filch_config *c, bool fenced)
{
    shown_lock(d);
    for (int i = 0; i < SOAK_SHOWN; i++) {
        if (d->pools[i])
            continue;
        d->pools[i] = pool;
        text_of(d->text[i], sizeof d->text[i], c, fenced);
        break;
    }
    shown_unlock(d);
}

static void hide(struct driver *d, filch_pool *pool)
{
    shown_lock(d);
    for (int i = 0; i < SOAK_SHOWN; i++)
        if (d->pools[i] == pool)
            d->pools[i] = NULL;
    shown_unlock(d);
}

/* Without membarrier every slot is written once: not on large stacks. */
int draw_create(struct driver *d, filch_pool **out, const filch_config *config)
{
    struct seam_thread *t = seam_self();
    bool fenced = t && config->stack_size && config->stack_size <= 512 << 10 && driver_chance(d, 4);
    if (t)
        t->fenced = fenced;
    int rc = filch_pool_create(out, config);
    if (t)
        t->fenced = 0;
    if (rc == 0)
        show(d, *out, config, fenced);
    driver_step(d);
    return rc;
}

/* Emptied while it is still shown: that is where it could hang. */
void draw_destroy(struct driver *d, filch_pool *pool)
{
    (void)filch_pool_shutdown(pool, FILCH_FOREVER);
    driver_step(d);
    hide(d, pool);
    filch_pool_destroy(pool);
    driver_step(d);
}

struct drawn draw_pool(struct driver *d, unsigned need)
{
    struct drawn p = {draw_shared((int)driver_below(d, SHARED)), false};
    if (!(need & DRAW_OWN) && driver_chance(d, 3))
        return p;
    filch_config c = draw_config(d, need);
    p.own = true;
    int rc = draw_create(d, &p.pool, &c);
    if (rc != 0) {
        tally_wrong(d, "filch_pool_create returns %d", rc);
        return (struct drawn){draw_shared(0), false};
    }
    return p;
}

void draw_done(struct driver *d, struct drawn p)
{
    if (p.own)
        draw_destroy(d, p.pool);
}

int draw_where_of(uint32_t hash)
{
    return (int)(hash % 13) + FILCH_RANDOM; /* -3 .. 9: past the last worker, too */
}

int draw_where(struct driver *d)
{
    return draw_where_of(driver_below(d, 1000));
}

/* ---- shared pools -------------------------------------------------------------------------- */

static void nothing(void *arg)
{
    (void)arg;
}

/* Brings every thread there is, now: they belong to no driver. */
static void populate(filch_pool *pool)
{
    for (int i = 0; i < filch_pool_workers(pool); i++) {
        filch_job job;
        filch_job_init(&job, nothing, NULL);
        if (filch_submit_on(pool, &job, i) == 0)
            (void)filch_job_wait(&job, FILCH_FOREVER);
    }
}

int draw_shared_create(uint64_t seed)
{
    struct driver dice = {0};
    rng_seed(&dice.rng, seed);
    shared[0] = filch_pool_default();
    snprintf(shared_text[0], sizeof shared_text[0], "the default pool");
    if (!shared[0])
        return -ENOMEM;
    populate(shared[0]);
    for (int i = 1; i < SHARED; i++) {
        filch_config c = draw_config(&dice, DRAW_SUSPEND | DRAW_DEEP);
        c.name = "shared";
        c.idle = FILCH_IDLE_PARK; /* the others keep a CPU busy for the whole run */
        int rc = filch_pool_create(&shared[i], &c);
        if (rc != 0)
            return rc;
        text_of(shared_text[i], sizeof shared_text[i], &c, false);
        populate(shared[i]);
    }
    return 0;
}

void draw_shared_destroy(void)
{
    for (int i = 1; i < SHARED; i++)
        filch_pool_destroy(shared[i]);
}

filch_pool *draw_shared(int i)
{
    return i < SHARED ? shared[i] : NULL;
}

const char *draw_shared_text(int i)
{
    return shared_text[i];
}
