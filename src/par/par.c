/* par.c: calls of parallel algorithms: see par.h. */
#include "par/par.h"

#include "core/job.h"
#include "core/report.h"
#include "os/os.h"

#define LASTS_US 20

/* A task goes on on a large stack, and its own waits meanwhile. But where waits keep their worker (join=help)
 * all workers could come to wait so: there it stays on its own stack. That is small, and a body that waits on
 * it would run forks of the call, one above the other: so nothing is forked. */
static bool must_stay(const struct fiber *f, const filch_pool *pool)
{
    return f->pool == pool && f->store->kind == FIBER_SMALL && f->pins == 0 &&
           pool->config.join == FILCH_JOIN_HELP;
}

void par_begin(struct par *p, const filch_how *how, const char *call)
{
    struct fiber *f = run_fiber();
    *p = (struct par){.name = call, .begun = os_ticks()};
    os_fp_get(&p->fp);
    if (how) {
        if (how->size == 0 || how->size > sizeof p->how || how->workers < 0 || how->grain > SIZE_MAX / 4)
            report_misuse(call, "not a valid filch_how; start from FILCH_HOW_INIT");
        memcpy(&p->how, how, how->size);
        p->name = p->how.name ? p->how.name : call;
        p->pool = p->how.pool;
    }
    if (p->how.scope) {
        (void)filch_scope_canceled(p->how.scope); /* reports what is not one */
        p->also = (struct wait_token *)p->how.scope;
    }
    p->pool = job_pool(p->pool);
    if (!p->pool)
        report_misuse(call, "there is no memory for the default pool");
    job_check_pool(p->pool, call);
    if (f) {
        p->token = f->token;
        p->outer = f->par;
        p->alone = must_stay(f, p->pool);
    }
}

void par_check_body(bool there, const char *call)
{
    if (!there)
        report_misuse(call, "null body");
}

void par_check_array(const void *base, size_t n, size_t size, const char *call)
{
    if (n > 0 && (!base || size == 0 || par_bytes(n, size) == SIZE_MAX))
        report_misuse(call, "null array, elements of size 0, or more than there can be");
}

int par_workers(const struct par *p)
{
    int all = p->pool->count;
    return p->how.workers > 0 && p->how.workers < all ? p->how.workers : all;
}

/* ---- what stops it ------------------------------------------------------------------------- */

static bool token_canceled(const struct wait_token *t)
{
    return t && wait_canceled(t);
}

static bool told(const struct par *p)
{
    bool shielded = p->token && p->token->shield;
    return token_canceled(p->token) || token_canceled(p->also) ||
           /* order: a flag; a piece more is no harm */
           (!shielded && (filch_load_relaxed(&p->pool->heed) & HEED_CANCEL));
}

/* Cancelled from outside: not by a piece of its own. */
static bool par_canceled(const struct par *p)
{
    if (p->firm)
        return false;
    for (const struct par *o = p->outer; o; o = o->outer)
        if (filch_load_relaxed(&o->stop) || told(o)) /* order: [P1] */
            return true;
    return told(p);
}

bool par_stopped(const struct par *p)
{
    return filch_load_relaxed(&p->stop) || par_canceled(p); /* order: [P1] */
}

void par_stop(struct par *p, int error)
{
    uint32_t running = 0;
    if (filch_cas_relaxed(&p->stop, &running, 1u)) /* order: [P1] */
        p->error = error;
}

int par_end(const struct par *p)
{
    if (p->stop)
        return p->error;
    return par_canceled(p) ? -ECANCELED : 0;
}

/* ---- who takes part ------------------------------------------------------------------------ */

bool par_lasts(struct par *p, uint64_t now)
{
    if (now - p->begun < LASTS_US * os_ticks_per_us())
        return false;
    if (!filch_load_relaxed(&p->told) && !filch_xchg_acq_rel(&p->told, 1u)) /* order: one tells */
        idle_notify(p->pool, worker_self());
    return true;
}

/* ---- where it runs ------------------------------------------------------------------------- */

struct par_place par_enter(const struct par *p)
{
    struct fiber *f = run_fiber();
    struct par_place place = {f, f->token, f->par};
    f->token = p->token;
    f->par = p;
    os_fp_set(&p->fp);
    return place;
}

void par_leave(const struct par_place *place)
{
    struct fiber *f = run_fiber(); /* a job ends on the fiber that it began on */
    f->token = place->token;
    f->par = place->par;
}

struct par_root {
    struct par *par;
    void (*fn)(void *box, filch_slot *head);
    void *box;
};

static void root(void *box, filch_slot *head)
{
    struct par_root *r = box;
    struct par_place place = par_enter(r->par);
    r->fn(r->box, head);
    par_leave(&place);
}

void par_run(struct par *p, void (*fn)(void *box, filch_slot *head), void *box)
{
    struct par_root r = {p, fn, box};
    filch_slot *head = filch_slot_head(p->pool);
    if (head)
        root(&r, head);
    else
        filch_slot_root(p->pool, root, &r, p->name);
}

/* ---- memory -------------------------------------------------------------------------------- */

size_t par_bytes(size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX ? SIZE_MAX : bytes;
}

void *par_scratch(const struct par *p, size_t size)
{
    if (p->how.scratch && p->how.scratch_size >= size)
        return p->how.scratch;
    return size < PTRDIFF_MAX ? os_alloc(size) : 0;
}

void par_scratch_free(const struct par *p, void *scratch)
{
    if (scratch != p->how.scratch)
        os_free(scratch);
}
