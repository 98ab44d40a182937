/* group.c: to wait until a count is zero.
 *
 * | field   | writer           | reader   | invariant                                                |
 * | state   | RMW by anyone    | anyone   | count * ONE, and WAITERS                                 |
 * | waiters | holder of `lock` | the same | see waiters.h                                            |
 *
 * WAITERS is set with `lock` held, by a CAS that sees a count above zero: so the one who makes it zero
 * sees it. State WAITERS alone, count zero: that one (the opener) is on its way. It takes the whole
 * list, gives the lock back, clears WAITERS as its last access to the group, and fires the nodes
 * then. Nobody returns meanwhile, since whoever has seen the group at zero may free it: who comes goes
 * into the list as well, or, if it was taken already, lets the opener finish; who gives up leaves its
 * node to the opener.
 *
 * [G1] done and the opener's last step release, a wait that reads 0 acquires: what was done. Every
 *      change is a read-modify-write, so all that were done are in one release sequence. Woken: wait.h
 *      [V2].
 */
#include "core/report.h"
#include "fiber/waiters.h"

enum { WAITERS = 1, ONE = 2 };

static void check_group(const filch_group *g, const char *call)
{
    if (!g)
        report_misuse(call, "null group");
}

void filch_group_add(filch_group *g, unsigned n)
{
    check_group(g, "filch_group_add");
    uint32_t was = filch_add_relaxed(&g->state, n * ONE); /* order: a count; what it counts starts later */
    if (n > FILCH_GROUP_MAX || was / ONE > FILCH_GROUP_MAX - n)
        report_misuse("filch_group_add", "more than FILCH_GROUP_MAX");
    if (was == WAITERS)
        report_misuse("filch_group_add", "at zero, before a wait for that has returned; add earlier");
}

/* ---- the last one ------------------------------------------------------------------------- */

static void fire_all(struct wait_node *n)
{
    while (n) {
        struct wait_node *next = n->next; /* the node is gone with its wait */
        (void)wait_node_fire(n);
        n = next;
    }
}

__attribute__((noinline)) static void open_for_all(filch_group *g)
{
    lock_acquire(&g->lock);
    struct wait_node *all = g->waiters.head;
    g->waiters = (filch_waiters){0};
    lock_release(&g->lock);
    filch_sub_acq_rel(&g->state, (uint32_t)WAITERS); /* order: [G1]; last access */
    fire_all(all);
}

void filch_group_done(filch_group *g)
{
    check_group(g, "filch_group_done");
    uint32_t was = filch_sub_acq_rel(&g->state, (uint32_t)ONE); /* order: [G1]; last but for the opener */
    if (was < ONE)
        report_misuse("filch_group_done", "more were done than added; add before it begins");
    if (was == (ONE | WAITERS))
        open_for_all(g);
}

/* ---- waiting ------------------------------------------------------------------------------ */

/* Lock held. False if the count is zero. */
static bool mark(filch_group *g)
{
    uint32_t s = filch_load_acquire(&g->state); /* order: [G1] */
    do {
        if (s < ONE)
            return false;
    } while (!filch_cas_acquire(&g->state, &s, s | WAITERS)); /* order: [G1] if it fails */
    return true;
}

/* Zero, and the list is empty. The opener may be between its last two steps; if it was interrupted
 * there, let it go on. */
static void let_open(filch_group *g)
{
    for (unsigned round = 1; filch_load_acquire(&g->state) == WAITERS; round++) { /* order: [G1] */
        if (round % 64 == 0)
            os_thread_yield();
        else
            os_pause();
    }
}

/* Lock held: the count is not zero, and WAITERS is gone if this was the only one. */
static bool unmark(filch_group *g, bool only)
{
    uint32_t s = filch_load_relaxed(&g->state); /* order: the CAS decides */
    do {
        if (s < ONE)
            return false;
    } while (!filch_cas_relaxed(&g->state, &s, only ? s & ~(uint32_t)WAITERS : s)); /* order: a bit only */
    return true;
}

static int give_up(filch_group *g, struct wait_node *n, int why)
{
    lock_acquire(&g->lock);
    bool only = g->waiters.head == n && g->waiters.tail == n;
    bool leaves = unmark(g, only);
    if (leaves)
        waiters_unlink(&g->waiters, n);
    lock_release(&g->lock);
    if (leaves)
        return wait_error(why);
    wait_node_settle(n); /* it is zero: the opener has the node, or will */
    return 0;
}

static int wait_for_zero(filch_group *g, int64_t deadline)
{
    struct wait w;
    struct wait_node n = {.wait = &w};
    wait_begin(&w);
    lock_acquire(&g->lock);
    bool waits = mark(g) || !waiters_none(&g->waiters);
    if (waits)
        waiters_add(&g->waiters, &n);
    lock_release(&g->lock);
    if (!waits) {
        let_open(g);
        return 0;
    }
    int why = wait_park(&w, deadline);
    return why < 0 ? give_up(g, &n, why) : 0;
}

int filch_group_wait(filch_group *g, int64_t deadline)
{
    check_group(g, "filch_group_wait");
    if (filch_load_acquire(&g->state) == 0) /* order: [G1] */
        return 0;
    return deadline <= FILCH_NOW ? wait_error(WAIT_TIMEOUT) : wait_for_zero(g, deadline);
}

void filch_group_destroy(filch_group *g)
{
    check_group(g, "filch_group_destroy");
    if (filch_load_acquire(&g->state) != 0) /* order: [G1] */
        report_misuse("filch_group_destroy", "not all is done, or somebody waits");
}
