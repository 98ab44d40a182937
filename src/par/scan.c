/* scan.c: prefix sums in one pass.
 *
 * The range is cut into blocks, taken in order by a strand per worker. Who has block k needs the sum of all
 * blocks before it, its prefix. If that is there, the block is scanned at once and the sum behind it
 * published. If not, the block is folded meanwhile (which brings it into the cache), the next prefix is
 * published as soon as its own is there, and then it is scanned. So one worker reads everything once, and
 * no worker waits for another's scan if it has something to fold.
 *
 * | field     | writer                   | reader                | invariant                            |
 * | next      | every strand (add)       | the same              | blocks below are taken               |
 * | ready     | who has block ready      | every strand          | prefixes up to this one are known    |
 * | prefix[]  | who has block k - 1      | who has block k       | k % links: of block k                |
 * | strand[]  | the strand               | the same; others compare | the fiber it runs on, or null     |
 * | known[]   | who publishes sets it    | who waits for block k, which resets it | an event, as prefix[] |
 *
 * [L1] `ready` = k is stored with release after prefix k was written; who reads it (acquire) may read that.
 * [L2] A link is used again for block k + links. That prefix is written by one who has seen prefix k + 1
 *      (blocks are chained), so after the one who has block k has read its own: there are at least two
 *      links. And blocks that are worked on at once are closer together than there are links (one for each
 *      strand, and one), so at a link one waits at most.
 * [L3] An event may be set late, when its prefix was taken long ago, so it says only: look again. Who waits
 *      resets it first and then looks: a setter that comes before the reset has stored `ready` (or seen that
 *      everything stops) before, and the event's lock hands that on; one that comes after it ends the wait.
 */
#include "par/split.h"

#include "core/event.h"
#include "core/report.h"
#include "os/os.h"

#include <filch/par.h>

#define BLOCK_MOST 16384 /* elements: they should stay in the cache between fold and scan */
#define BLOCKS_EACH 8    /* at least so many for each worker, if there are enough elements */
#ifndef SPINS            /* a model has less patience */
#define SPINS 2000       /* looks for a prefix before the strand is suspended */
#endif

struct chain {
    struct split split;
    const filch_scanner *scanner;
    size_t lo, hi, block, blocks;
    size_t next;
    size_t ready;
    size_t links, stride;
    char *prefix;
    uintptr_t *known;
    const struct fiber **strand;
};

static void copy_state(const struct chain *c, void *to, const void *from)
{
    memcpy(to, from, c->scanner->state_size);
}

static void fresh(const struct chain *c, void *state)
{
    if (c->scanner->identity)
        c->scanner->identity(state, c->split.arg);
    else
        memset(state, 0, c->scanner->state_size);
}

/* ---- links ---------------------------------------------------------------------------------- */

static void *link_of(struct chain *c, size_t k)
{
    return c->prefix + k % c->links * c->stride;
}

static bool is_known(struct chain *c, size_t k)
{
    return filch_load_acquire(&c->ready) >= k; /* order: [L1] */
}

static void publish(struct chain *c, size_t k, const void *sum)
{
    copy_state(c, link_of(c, k), sum);
    filch_store_release(&c->ready, k); /* order: [L1] */
    event_set(&c->known[k % c->links]);
}

/* Sleeps until prefix k is known, or everything stops, or for no reason. */
static void wait_for_prefix(struct chain *c, size_t k)
{
    uintptr_t *known = &c->known[k % c->links];
    event_reset(known);
    if (!is_known(c, k) && !par_stopped(&c->split.par)) /* [L3] */
        (void)event_wait(known, FILCH_FOREVER);
}

/* Waits for prefix k and takes it. False if everything stops. */
static bool take_prefix(struct chain *c, size_t k, void *state)
{
    for (unsigned spin = 0; !is_known(c, k); spin++) {
        if (par_stopped(&c->split.par))
            return false;
        if (spin < SPINS)
            os_pause();
        else
            wait_for_prefix(c, k);
    }
    copy_state(c, state, link_of(c, k));
    return true;
}

/* Whoever gives up lets those go on that wait: they see why. */
static void wake_all(struct chain *c)
{
    for (size_t i = 0; i < c->links; i++)
        event_set(&c->known[i]);
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* The last three are room for one state each. */
static bool scan_block(struct chain *c, size_t k, void *state, void *sum, void *after)
{
    const filch_scanner *s = c->scanner;
    size_t lo = c->lo + k * c->block, hi = c->hi - lo > c->block ? lo + c->block : c->hi;
    if (par_stopped(&c->split.par))
        return false;
    if (is_known(c, k)) {
        if (!take_prefix(c, k, state))
            return false;
        s->scan(state, lo, hi, c->split.arg);
        publish(c, k + 1, state);
        return true;
    }
    fresh(c, sum);
    s->fold(sum, lo, hi, c->split.arg);
    if (!take_prefix(c, k, state))
        return false;
    copy_state(c, after, state);
    s->combine(after, sum, c->split.arg);
    publish(c, k + 1, after);
    s->scan(state, lo, hi, c->split.arg);
    return true;
}

static bool go_along(struct chain *c, char *rooms)
{
    for (;;) {
        size_t k = filch_add_relaxed(&c->next, (size_t)1); /* order: blocks depend on nothing else */
        if (k >= c->blocks)
            return true;
        if (!scan_block(c, k, rooms, rooms + c->stride, rooms + 2 * c->stride))
            return false;
        (void)par_lasts(&c->split.par, os_ticks());
    }
}

/* A strand that waits on a thread it must not leave has its thread run what it forked: other strands. Such a
 * one must not take a block behind the one that waits below it on the same stack, and must not fork either:
 * it would wait for the thief of that, who waits for the block below. So it is left out; the others do its
 * blocks. */
static bool is_below(struct split *split)
{
    struct chain *c = (struct chain *)split; /* its first member */
    const struct fiber *f = run_fiber();
    for (size_t i = 0; i < c->links; i++)
        if (filch_load_relaxed(&c->strand[i]) == f) /* order: the own one is the one that matters */
            return true;
    return false;
}

static int strand(struct split *split, size_t lo, size_t hi, void *unused)
{
    struct chain *c = (struct chain *)split;
    const struct fiber *f = run_fiber();
    (void)hi, (void)unused;
    char *rooms = os_alloc_aligned(3 * c->stride, 64);
    if (!rooms)
        return -ENOMEM;
    filch_store_relaxed(&c->strand[lo], f); /* order: as in is_below */
    if (!go_along(c, rooms))
        wake_all(c);
    filch_store_relaxed(&c->strand[lo], (const struct fiber *)0); /* order: as in is_below */
    os_free(rooms);
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static size_t block_of(const struct chain *c, size_t n, size_t workers)
{
    size_t block = c->split.par.how.grain;
    if (!block)
        block = n / (BLOCKS_EACH * workers) < BLOCK_MOST ? n / (BLOCKS_EACH * workers) : BLOCK_MOST;
    return block ? block : 1;
}

static int links_make(struct chain *c, size_t workers)
{
    c->links = workers + 1 > 2 ? workers + 1 : 2;
    c->stride = (c->scanner->state_size + 63) & ~(size_t)63;
    size_t bytes = c->stride ? par_bytes(c->links, c->stride) : SIZE_MAX; /* 0: it has wrapped around */
    c->prefix = bytes == SIZE_MAX ? 0 : os_alloc_aligned(bytes, 64);
    c->known = os_alloc(c->links * sizeof *c->known);
    c->strand = os_alloc(c->links * sizeof *c->strand);
    return c->prefix && c->known && c->strand ? 0 : -ENOMEM;
}

static int run(struct chain *c, void *total)
{
    size_t workers = (size_t)par_workers(&c->split.par), n = c->hi - c->lo;
    c->block = block_of(c, n, workers);
    c->blocks = n / c->block + (n % c->block != 0);
    int rc = links_make(c, workers);
    if (rc == 0) {
        fresh(c, c->prefix);
        c->split.par.how.grain = 0; /* of strands */
        split_run(&c->split, 0, workers, 0);
        rc = par_end(&c->split.par);
        if (total && is_known(c, c->blocks)) /* else there is none */
            copy_state(c, total, link_of(c, c->blocks));
    }
    os_free(c->prefix);
    os_free(c->known);
    os_free(c->strand);
    return rc;
}

static int scan(const filch_how *how, const filch_scanner *scanner, void *total, size_t lo, size_t hi,
                void *arg, const char *call)
{
    if (!scanner || !scanner->fold || !scanner->scan || !scanner->combine || scanner->state_size == 0)
        report_misuse(call, "a scanner without fold, scan, combine or size");
    if (lo > hi)
        report_misuse(call, "the range ends before it begins");
    struct chain c = {.split = {.piece = strand, .declines = is_below, .arg = arg},
                      .scanner = scanner, .lo = lo, .hi = hi};
    par_begin(&c.split.par, how, call);
    if (lo == hi && total)
        fresh(&c, total);
    return lo == hi ? par_end(&c.split.par) : run(&c, total);
}

int filch_scan(const filch_scanner *scanner, void *total, size_t lo, size_t hi, void *arg)
{
    return scan(0, scanner, total, lo, hi, arg, "filch_scan");
}

int filch_scan_with(const filch_how *how, const filch_scanner *scanner, void *total, size_t lo, size_t hi,
                    void *arg)
{
    return scan(how, scanner, total, lo, hi, arg, "filch_scan_with");
}
