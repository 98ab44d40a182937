/* crew.c: see crew.h. */
#include "par/crew.h"

#include "os/os.h"

#define ALONE 2               /* so many grains are not worth a visit to the pool */
#define COPY_PIECE (1u << 18) /* bytes */
#define ROOM_LARGE (4u << 20) /* bytes from which pages are asked for, large ones where there are any */
#define ROOM_ALIGN (2u << 20)

void crew_begin(struct crew *c, const filch_how *how, const char *call, size_t grain)
{
    *c = (struct crew){.grain = grain};
    par_begin(&c->par, how, call);
    if (c->par.how.grain)
        c->grain = c->par.how.grain;
    c->limit = (uint32_t)par_workers(&c->par) - 1;
}

int crew_end(const struct crew *c)
{
    return par_end(&c->par);
}

bool crew_stopped(const struct crew *c)
{
    return par_stopped(&c->par);
}

size_t crew_workers(const struct crew *c)
{
    return (size_t)c->limit + 1;
}

/* ---- the whole ------------------------------------------------------------------------------ */

struct whole {
    struct crew *crew;
    crew_fn *fn;
    void *job;
};

static void whole(void *box, filch_slot *head)
{
    struct whole *w = box;
    w->fn(w->crew, head, w->job);
}

void crew_run(struct crew *c, size_t n, crew_fn *fn, void *job)
{
    struct whole w = {c, fn, job};
    if (n / ALONE > c->grain) {
        par_run(&c->par, whole, &w);
        return;
    }
    c->limit = 0;
    fn(c, 0, job);
}

/* ---- two at once ---------------------------------------------------------------------------- */

static bool may_publish(struct crew *c)
{
    if (c->limit == 0)
        return false;
    if ((int)c->limit == c->par.pool->count - 1) /* all of the pool: nobody to hold back */
        return true;
    if (filch_add_relaxed(&c->active, 1u) < c->limit) /* order: [K1] a count alone */
        return true;
    filch_add_relaxed(&c->active, (uint32_t)-1); /* order: [K1] as above */
    return false;
}

static void published_no_more(struct crew *c)
{
    if ((int)c->limit != c->par.pool->count - 1)
        filch_add_relaxed(&c->active, (uint32_t)-1); /* order: [K1] a count alone */
}

struct half {
    struct crew *crew;
    crew_fn *fn;
    void *job;
};

_Static_assert(sizeof(struct half) <= FILCH_PAYLOAD, "a half fits into a slot");

static struct half *half_in(filch_slot *slot)
{
    return (struct half *)(void *)slot->payload.bytes;
}

static void stolen(filch_slot *slot, filch_slot *head)
{
    struct half h = *half_in(slot);
    struct par_place place = par_enter(&h.crew->par);
    h.fn(h.crew, head, h.job);
    par_leave(&place);
    published_no_more(h.crew);
}

void crew_both(struct crew *c, filch_slot *head, crew_fn *fn, void *left, void *right)
{
    bool there = may_publish(c);
    if (there) {
        *half_in(head) = (struct half){c, fn, right};
        filch_slot_publish(head, stolen);
        (void)par_lasts(&c->par, os_ticks());
    }
    fn(c, there ? head + 1 : head, left); /* alone there is none */
    if (there && filch_slot_retract(head))
        return;
    if (there)
        published_no_more(c);
    fn(c, head, right);
}

/* ---- a row of pieces ------------------------------------------------------------------------ */

struct row {
    void (*fn)(struct crew *c, size_t i, void *arg);
    void *arg;
    size_t lo, hi;
};

static void each(struct crew *c, filch_slot *head, void *job)
{
    struct row *r = job;
    if (r->hi - r->lo == 1) {
        r->fn(c, r->lo, r->arg);
        return;
    }
    size_t mid = r->lo + (r->hi - r->lo) / 2;
    struct row left = {r->fn, r->arg, r->lo, mid}, right = {r->fn, r->arg, mid, r->hi};
    crew_both(c, head, each, &left, &right);
}

void crew_each(struct crew *c, filch_slot *head, size_t n, void (*fn)(struct crew *c, size_t i, void *arg),
               void *arg)
{
    struct row r = {fn, arg, 0, n};
    if (n > 0)
        each(c, head, &r);
}

struct copying {
    char *to;
    const char *from;
    size_t size;
};

static void copy_piece(struct crew *c, size_t i, void *arg)
{
    struct copying *o = arg;
    size_t at = i * COPY_PIECE, left = o->size - at;
    (void)c;
    memcpy(o->to + at, o->from + at, left < COPY_PIECE ? left : COPY_PIECE);
}

void crew_copy(struct crew *c, filch_slot *head, void *to, const void *from, size_t size)
{
    struct copying o = {to, from, size};
    crew_each(c, head, size / COPY_PIECE + (size % COPY_PIECE != 0), copy_piece, &o);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* The caller's scratch from the next multiple of 16 on. */
static void *borrowed(const struct crew *c, size_t size)
{
    char *at = c->par.how.scratch;
    size_t skip = -(uintptr_t)at & 15, most = c->par.how.scratch_size;
    return at && most >= skip && most - skip >= size ? at + skip : 0;
}

static void map_room(struct room *r, size_t size)
{
    size_t page = os_page_size(), whole = (size + page - 1) & ~(page - 1);
    if (os_pages_reserve(&r->at, whole, ROOM_ALIGN) == 0) {
        r->mapped = whole;
        os_pages_large(r->at, whole);
    } else {
        r->at = 0;
    }
}

struct room room_take(const struct crew *c, size_t size)
{
    struct room r = {.at = borrowed(c, size)};
    if (r.at) {
        r.borrowed = true;
    } else if (size >= PTRDIFF_MAX / 2) {
        return r;
    } else if (size < ROOM_LARGE) {
        r.at = os_alloc_aligned(size ? size : 1, 64);
    } else {
        map_room(&r, size);
    }
    return r;
}

void room_give(struct room *r)
{
    if (r->mapped)
        os_pages_release(r->at, r->mapped);
    else if (!r->borrowed)
        os_free(r->at);
}
