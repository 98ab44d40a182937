/* trees.c: fork-join. A tree stands over a range of marks: a task marks the first and hands the
 * rest to its children, cut at a place that a hash chooses, so every mark has exactly one task. */
#include "soak.h"

enum { SHAPES = 5, FIB_MAX = SOAK_SLOW ? 14 : 21 };

/* How many of the `left` after the first go to the first child: an eighth to seven eighths. */
static uint32_t cut(uint32_t left, uint32_t lo, uint32_t salt)
{
    uint32_t eighth = left / 8 ? left / 8 : 1;
    uint32_t most = left - eighth > eighth ? left - eighth : eighth;
    return eighth + (uint32_t)(rng_mix(((uint64_t)salt << 32) + lo) % (most - eighth + 1));
}

/* ---- shape 0: one fork, one call ----------------------------------------------------------- */

FILCH_TASK(long, split, struct driver *, d, uint32_t, lo, uint32_t, hi, uint32_t, salt)
{
    tally_mark(d, lo);
    uint32_t left = hi - lo - 1;
    if (left == 0)
        return 1;
    if (left == 1)
        return 1 + FILCH_CALL(split, d, lo + 1, hi, salt);
    uint32_t mid = lo + 1 + cut(left, lo, salt);
    FILCH_FORK(later, split, d, mid, hi, salt);
    long first = FILCH_CALL(split, d, lo + 1, mid, salt);
    return 1 + first + FILCH_JOIN(split, later);
}

/* ---- shape 1: the same, bounded ------------------------------------------------------------ */

FILCH_TASK_BOUNDED(long, split_bounded, struct driver *, d, uint32_t, lo, uint32_t, hi, uint32_t, salt)
{
    tally_mark(d, lo);
    uint32_t left = hi - lo - 1;
    if (left == 0)
        return 1;
    if (left == 1)
        return 1 + FILCH_CALL(split_bounded, d, lo + 1, hi, salt);
    uint32_t mid = lo + 1 + cut(left, lo, salt);
    FILCH_FORK(later, split_bounded, d, mid, hi, salt);
    long first = FILCH_CALL(split_bounded, d, lo + 1, mid, salt);
    return 1 + first + FILCH_JOIN(split_bounded, later);
}

/* ---- shapes 2 and 3: many forks at once, both kinds ---------------------------------------- */

static uint32_t fan_width(uint32_t left, uint32_t lo, uint32_t salt)
{
    uint32_t most = left < 24 ? left : 24;
    return 1 + (uint32_t)(rng_mix(((uint64_t)lo << 32) + salt) % most);
}

FILCH_TASK(long, fan, struct driver *, d, uint32_t, lo, uint32_t, hi, uint32_t, salt)
{
    long sum = 1;
    tally_mark(d, lo);
    if (hi - lo == 1)
        return 1;
    uint32_t left = hi - lo - 1, width = fan_width(left, lo, salt), at = lo + 1;
    FILCH_FORKS(all, fan);
    for (uint32_t i = 0; i < width; i++) {
        uint32_t end = i + 1 == width ? hi : at + left / width;
        FILCH_FORK_ADD(fan, d, at, end, salt);
        at = end;
    }
    while (FILCH_FORKS_LEFT(all) > 0)
        sum += FILCH_JOIN_LAST(fan, all);
    return sum;
}

FILCH_TASK_BOUNDED(long, fan_bounded, struct driver *, d, uint32_t, lo, uint32_t, hi, uint32_t, salt)
{
    long sum = 1;
    tally_mark(d, lo);
    if (hi - lo == 1)
        return 1;
    uint32_t left = hi - lo - 1, width = fan_width(left, lo, salt), at = lo + 1;
    FILCH_FORKS(all, fan_bounded);
    for (uint32_t i = 0; i < width; i++) {
        uint32_t end = i + 1 == width ? hi : at + left / width;
        FILCH_FORK_INTO(sum +=, fan_bounded, d, at, end, salt);
        at = end;
    }
    while (FILCH_FORKS_LEFT(all) > 0)
        sum += FILCH_JOIN_LAST(fan_bounded, all);
    return sum;
}

/* ---- shape 4: plain functions -------------------------------------------------------------- */

struct piece {
    struct driver *d;
    uint32_t lo, hi, salt;
    long sum;
};

static void plain(void *arg)
{
    struct piece *p = arg;
    tally_mark(p->d, p->lo);
    uint32_t left = p->hi - p->lo - 1;
    p->sum = 1;
    if (left == 0)
        return;
    uint32_t mid = p->lo + 1 + (left == 1 ? 1 : cut(left, p->lo, p->salt));
    struct piece first = {p->d, p->lo + 1, mid, p->salt, 0}, later = {p->d, mid, p->hi, p->salt, 0};
    if (mid == p->hi) {
        plain(&first);
    } else if (p->lo & 1) {
        filch_join2(plain, &first, plain, &later);
    } else {
        filch_job job;
        filch_fork(&job, plain, &later);
        plain(&first);
        filch_join(&job);
    }
    p->sum += first.sum + later.sum;
}

static long plain_run(struct driver *d, filch_pool *pool, uint32_t lo, uint32_t hi, uint32_t salt)
{
    struct piece p = {d, lo, hi, salt, 0};
    if (pool)
        filch_run_on(pool, plain, &p);
    else
        plain(&p); /* outside: forks go to the default pool */
    return p.sum;
}

/* ---- a whole tree -------------------------------------------------------------------------- */

long tree_part(struct driver *d, filch_pool *pool, uint32_t low, uint32_t n, uint32_t shape)
{
    uint32_t salt = shape / SHAPES, high = low + n;
    switch (shape % SHAPES) {
    case 0: return FILCH_RUN_ON(pool, split, d, low, high, salt);
    case 1: return FILCH_RUN_ON(pool, split_bounded, d, low, high, salt);
    case 2: return FILCH_RUN_ON(pool, fan, d, low, high, salt);
    case 3: return FILCH_RUN_ON(pool, fan_bounded, d, low, high, salt);
    default: return plain_run(d, pool, low, high, salt);
    }
}

void tree_run(struct driver *d, filch_pool *pool, uint32_t n, uint32_t shape)
{
    d->born += n;
    long said = tree_part(d, pool, 0, n, shape);
    driver_step(d);
    if (said != (long)n)
        tally_wrong(d, "a tree of %u tasks (shape %u) says it has %ld", n, shape, said);
    tally_marks(d, n);
}

/* Small ones are where a thief arrives when all is over. */
static uint32_t draw_size(struct driver *d)
{
    return 1 + driver_below(d, driver_chance(d, 3) ? 64 : driver_chance(d, 2) ? 2000 : SOAK_MARKS - 1);
}

static void trees(struct driver *d, uint32_t shape)
{
    struct drawn p = draw_pool(d, DRAW_DEEP);
    uint32_t rounds = driver_range(d, 1, 30);
    for (uint32_t i = 0; i < rounds && !soak_ending(); i++)
        tree_run(d, p.pool, draw_size(d), driver_below(d, 1000) * SHAPES + shape);
    draw_done(d, p);
}

void phase_trees(struct driver *d)
{
    trees(d, 0);
}

void phase_bounded(struct driver *d)
{
    trees(d, 1);
}

void phase_forks(struct driver *d)
{
    trees(d, driver_range(d, 2, 3));
}

void phase_plain(struct driver *d)
{
    if (driver_chance(d, 3))
        tree_run(d, NULL, 1 + driver_below(d, 200), 4);
    else
        trees(d, 4);
}

/* ---- fib: a known answer, and a known number of calls -------------------------------------- */

FILCH_TASK(long, fib, struct driver *, d, int, n)
{
    tally_count(d);
    if (n < 2)
        return n;
    FILCH_FORK(b, fib, d, n - 2);
    long a = FILCH_CALL(fib, d, n - 1);
    return a + FILCH_JOIN(fib, b);
}

FILCH_TASK_BOUNDED(long, fib_bounded, struct driver *, d, int, n)
{
    tally_count(d);
    if (n < 2)
        return n;
    FILCH_FORK(b, fib_bounded, d, n - 2);
    long a = FILCH_CALL(fib_bounded, d, n - 1);
    return a + FILCH_JOIN(fib_bounded, b);
}

static long fib_serial(int n)
{
    long a = 0, b = 1;
    while (n-- > 0) {
        long c = a + b;
        a = b;
        b = c;
    }
    return a;
}

uint64_t tree_small_tasks(int n)
{
    return 2 * (uint64_t)fib_serial(n + 1) - 1;
}

long tree_small(struct driver *d, filch_pool *pool, int n)
{
    long said = n & 1 ? FILCH_RUN_ON(pool, fib, d, n) : FILCH_RUN_ON(pool, fib_bounded, d, n);
    if (said != fib_serial(n))
        tally_wrong(d, "fib(%d) is said to be %ld", n, said);
    return said;
}

void phase_fib(struct driver *d)
{
    struct drawn p = draw_pool(d, DRAW_DEEP);
    uint32_t rounds = driver_range(d, 1, 30);
    for (uint32_t i = 0; i < rounds && !soak_ending(); i++) {
        int n = (int)driver_below(d, FIB_MAX + 1);
        d->born += tree_small_tasks(n);
        tree_small(d, p.pool, n);
        driver_step(d);
    }
    draw_done(d, p);
}
