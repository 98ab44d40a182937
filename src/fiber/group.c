/* group.c: to wait until a count is zero.
 *
 * | field   | writer           | reader   | invariant                                                |
 * | state   | RMW by anyone    | anyone   | count * ONE, and WAITERS                                 |
 * | waiters | holder of `lock` | the same | see waiters.h                                            |
 *
 * WAITERS is set with `lock` held, by a CAS that sees a count above zero: so the one who makes it zero
 * sees it, and takes the whole list. Nobody in the list returns before that, even if its time is up: so
 * the group stays until then.
 *
 * [G1] done releases, a wait that reads zero acquires: what was done. Every change is a
 *      read-modify-write, so all that were done are in one release sequence. Woken: wait.h [V2].
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
    filch_sub_acq_rel(&g->state, (uint32_t)WAITERS); /* order: [G1] */
    lock_release(&g->lock);
    fire_all(all);
}

void filch_group_done(filch_group *g)
{
    check_group(g, "filch_group_done");
    uint32_t was = filch_sub_acq_rel(&g->state, (uint32_t)ONE); /* order: [G1]; last access, or see above */
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
    wait_node_settle(n); /* it is zero: the last one has the node, or will */
    return 0;
}

static const struct wait_subject about = {.call = "filch_group_wait", .noun = "group"};

static int wait_for_zero(filch_group *g, int64_t deadline)
{
    struct wait w;
    struct wait_node n = {.wait = &w};
    wait_begin(&w);
    wait_about(&w, &about, g);
    lock_acquire(&g->lock);
    bool waits = mark(g);
    if (waits)
        waiters_add(&g->waiters, &n);
    lock_release(&g->lock);
    int why = waits ? wait_park(&w, deadline) : WAIT_WOKEN;
    return why < 0 ? give_up(g, &n, why) : 0;
}

int filch_group_wait(filch_group *g, int64_t deadline)
{
    check_group(g, "filch_group_wait");
    if (filch_load_acquire(&g->state) < ONE) /* order: [G1] */
        return 0;
    return deadline <= FILCH_NOW ? wait_error(WAIT_TIMEOUT) : wait_for_zero(g, deadline);
}

void filch_group_destroy(filch_group *g)
{
    check_group(g, "filch_group_destroy");
    if (filch_load_acquire(&g->state) != 0) /* order: [G1] */
        report_misuse("filch_group_destroy", "not all is done, or somebody waits");
}
