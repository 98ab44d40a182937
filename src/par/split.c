/* split.c: ranges in pieces. See split.h. */
#include "par/split.h"

#include "os/os.h"

#define FIXED_PIECES 512 /* leaves of a fixed tree, at most twice as many ... */
#define FIXED_FEW 64     /* ... and so many if there are few elements */
#define FIXED_ROOM 256   /* bytes of a state that lives on the stack */
#define FIRST 8          /* the first piece is such a part of a worker's share ... */
#define FIRST_MOST 256   /* ... and has no more elements */
#define FINE 64          /* pieces of a worker's share: larger ones ... */
#define FINE_SPAN 8      /* ... take such a part of the time of others */
#define WARY 8           /* pieces after one that took long before they may grow again */
#define ROUND 16         /* halves begin at a multiple of this: whole vectors, seldom a shared cache line */

/* What lies in a slot: the right half, and in the end what the thief made of it. */
struct half {
    struct split *split;
    size_t lo, hi;
    void *state;
    uint32_t let_go; /* [Q1]: it is not counted any more */
};

_Static_assert(sizeof(struct half) <= FILCH_PAYLOAD, "a half fits into a slot");

static struct half *half_in(filch_slot *slot)
{
    return (struct half *)(void *)slot->payload.bytes;
}

/* Neither half is smaller than `least`, if the whole has twice as many. */
static size_t middle(size_t lo, size_t hi, size_t least)
{
    size_t half = (hi - lo) / 2, round = half & ~(size_t)(ROUND - 1);
    return lo + (half > 4 * ROUND && round >= least ? round : half);
}

/* What one flow does of a range, from left to right. What it learns of the cost of elements is its own: those
 * elsewhere may cost a thousand times as much. */
struct run {
    struct split *split;
    struct fiber *fiber; /* of the flow */
    size_t grain;
    unsigned wary;       /* so many pieces until the grain may grow again */
    bool lasting;
};

/* ---- one piece ------------------------------------------------------------------------------ */

/* How long a piece of so many elements may take. One that is a good part of the whole should be short even if
 * all before it were cheap: what it hides cannot be shared. */
static uint64_t span(const struct split *s, size_t size)
{
    return size < s->fine ? s->soon : s->soon / FINE_SPAN;
}

static size_t shorter(const struct split *s, size_t size, uint64_t took)
{
    size_t many = (size_t)(took / (2 * span(s, size))), one = size / (many ? many : 1);
    return one > s->least ? one : s->least;
}

static void adjust(struct run *r, size_t size, uint64_t took)
{
    const struct split *s = r->split;
    if (s->soon == 0)
        return; /* a static split */
    size_t more = took < s->soon / 64 ? 8 : 2;
    if (took > 4 * span(s, size) && size <= r->grain && r->grain > s->least) {
        r->grain = shorter(s, size, took);
        r->wary = WARY;
    } else if (r->wary > 0) { /* where one was dear, others may be */
        r->wary--;
    } else if (size > r->grain / 2 && size < SIZE_MAX / 16 && took < span(s, more * size)) {
        r->grain = more * size;
    }
}

/* Where part k of a static split begins. */
static size_t part(const struct split *s, size_t k)
{
    size_t rest = s->n % s->parts;
    return s->first + s->n / s->parts * k + (k < rest ? k : rest);
}

/* Thieves need not watch what has lasted for long. */
static void lasts(struct run *r, uint64_t now)
{
    if (r->lasting || !par_lasts(&r->split->par, now))
        return;
    r->lasting = true;
    filch_store_relaxed(&r->fiber->lasting, 1u); /* order: a hint */
}

static void piece(struct run *r, size_t lo, size_t hi, void *state)
{
    struct split *s = r->split;
    if (par_stopped(&s->par))
        return;
    bool tells = hi - lo > r->grain / 2; /* a short one says little */
    uint64_t begun = tells ? os_ticks() : 0;
    int error = s->parts ? s->piece(s, part(s, lo), part(s, hi), state) : s->piece(s, lo, hi, state);
    if (error)
        par_stop(&s->par, error);
    if (!tells)
        return;
    uint64_t now = os_ticks();
    adjust(r, hi - lo, now - begun);
    lasts(r, now);
    if (now - begun < s->soon)
        return;
    child_check("fork"); /* it returned from the body */
    /* Or there is no end to it where all workers are in loops. */
    find_due(worker_self(), (unsigned)(now >> 12));
}

/* ---- a limit on the workers: [Q1] ----------------------------------------------------------- */

static bool may_publish(struct split *s)
{
    if (s->limit == SPLIT_ANY)
        return true;
    if (filch_add_relaxed(&s->active, 1u) < s->limit) /* order: [Q1] a count alone */
        return true;
    filch_add_relaxed(&s->active, (uint32_t)-1); /* order: [Q1] as above */
    return false;
}

static void let_go(struct split *s, struct half *h)
{
    if (s->limit != SPLIT_ANY && !filch_xchg_acq_rel(&h->let_go, 1u)) /* order: [Q1] the first */
        filch_add_relaxed(&s->active, (uint32_t)-1); /* order: [Q1] a count alone */
}

/* ---- ranges --------------------------------------------------------------------------------- */

static void stolen(filch_slot *slot, filch_slot *head);

/* One of these by turns, so that a thief can tell a loop from the one before it (see core/find.c). */
#define TURNS 4
static void stolen_a(filch_slot *slot, filch_slot *head) { stolen(slot, head); }
static void stolen_b(filch_slot *slot, filch_slot *head) { stolen(slot, head); }
static void stolen_c(filch_slot *slot, filch_slot *head) { stolen(slot, head); }
static void stolen_d(filch_slot *slot, filch_slot *head) { stolen(slot, head); }

static void (*turn(uint64_t ticks))(filch_slot *, filch_slot *)
{
    static void (*const turns[TURNS])(filch_slot *, filch_slot *) = {stolen_a, stolen_b, stolen_c, stolen_d};
    return turns[(ticks >> 6) % TURNS];
}

static void publish(struct split *s, filch_slot *slot, size_t lo, size_t hi)
{
    *half_in(slot) = (struct half){.split = s, .lo = lo, .hi = hi};
    filch_slot_publish(slot, s->stolen);
}

/* Are so many elements worth two pieces? */
static bool divisible(size_t n, size_t grain, size_t least)
{
    return n > grain && n / 2 >= least;
}

/* The left half is done: takes the right one back. True: it was stolen, and is done as well. */
static bool taken(struct split *s, filch_slot *slot)
{
    let_go(s, half_in(slot));
    return filch_slot_retract(slot);
}

static void range(struct run *r, filch_slot *head, size_t lo, size_t hi, void *state)
{
    struct split *s = r->split;
    while (divisible(hi - lo, r->grain, s->least)) {
        if (par_stopped(&s->par)) /* what is left may be more than anybody could split */
            return;
        size_t mid = middle(lo, hi, s->least);
        bool there = may_publish(s);
        if (there)
            publish(s, head, mid, hi);
        range(r, head + there, lo, mid, state);
        if (there && taken(s, head)) {
            void *theirs = half_in(head)->state;
            if (theirs)
                s->combine(s, state, theirs);
            os_free(theirs);
            return;
        }
        lo = mid;
    }
    if (lo < hi)
        piece(r, lo, hi, state);
}

/* Begins with a small piece: nothing is known yet. */
static void run(struct split *s, filch_slot *head, size_t lo, size_t hi, void *state)
{
    size_t share = (hi - lo) / FIRST, first = share < s->grain ? share : s->grain;
    struct run r = {.split = s, .fiber = run_fiber(), .grain = first > s->least ? first : s->least};
    uint32_t outer = r.fiber->lasting;
    range(&r, head, lo, hi, state);
    if (r.lasting)
        filch_store_relaxed(&r.fiber->lasting, outer); /* order: a hint */
}

/* Returns the state, or null. */
static void *run_half(struct split *s, filch_slot *head, size_t lo, size_t hi)
{
    void *state = s->state_size ? os_alloc_aligned(s->state_size, 64) : 0;
    if (state)
        s->fresh(s, state);
    if (state || !s->state_size)
        run(s, head, lo, hi, state);
    else
        par_stop(&s->par, -ENOMEM);
    return state;
}

static void stolen(filch_slot *slot, filch_slot *head)
{
    struct half *h = half_in(slot);
    struct split *s = h->split;
    void *state = 0;
    if (!s->declines || !s->declines(s)) {
        struct par_place place = par_enter(&s->par);
        state = run_half(s, head, h->lo, h->hi);
        par_leave(&place);
    }
    h->state = state;
    let_go(s, h);
}

/* ---- fixed trees ---------------------------------------------------------------------------- */

static void fixed_range(struct split *s, filch_slot *head, size_t lo, size_t hi, void *state);

static void fixed_stolen(filch_slot *slot, filch_slot *head)
{
    struct half *h = half_in(slot);
    struct par_place place = par_enter(&h->split->par);
    fixed_range(h->split, head, h->lo, h->hi, h->state);
    par_leave(&place);
    let_go(h->split, h);
}

/* The state is not fresh yet. */
static void fixed_range(struct split *s, filch_slot *head, size_t lo, size_t hi, void *state)
{
    if (!divisible(hi - lo, s->grain, s->least)) {
        s->fresh(s, state);
        int error = par_stopped(&s->par) ? 0 : s->piece(s, lo, hi, state);
        if (error)
            par_stop(&s->par, error);
        return;
    }
    size_t mid = middle(lo, hi, s->least);
    _Alignas(64) char room[FIXED_ROOM];
    bool fits = s->state_size <= sizeof room;
    void *right = fits ? room : os_alloc_aligned(s->state_size, 64);
    if (!right) {
        s->fresh(s, state);
        par_stop(&s->par, -ENOMEM);
        return;
    }
    bool there = may_publish(s);
    if (there) {
        *half_in(head) = (struct half){s, mid, hi, right, 0};
        filch_slot_publish(head, fixed_stolen);
    }
    fixed_range(s, head + there, lo, mid, state);
    if (!there || !taken(s, head))
        fixed_range(s, head, mid, hi, right);
    s->combine(s, state, right);
    if (!fits)
        os_free(right);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Also if there are not more workers: a piece that waits leaves its worker to others. */
static uint32_t limit_of(const struct split *s)
{
    int workers = s->par.alone ? 1 : s->par.how.workers;
    return workers > 0 ? (uint32_t)workers - 1 : SPLIT_ANY;
}

struct whole {
    struct split *split;
    size_t lo, hi;
    void *state;
};

static void whole(void *box, filch_slot *head)
{
    struct whole *w = box;
    run(w->split, head, w->lo, w->hi, w->state);
}

static void whole_fixed(void *box, filch_slot *head)
{
    struct whole *w = box;
    fixed_range(w->split, head, w->lo, w->hi, w->state);
}

/* How many, if that is settled before it begins; else 0. */
static size_t parts_of(const struct split *s, size_t n)
{
    size_t workers = (size_t)par_workers(&s->par), most = n / s->least ? n / s->least : 1;
    if (s->par.how.split == FILCH_SPLIT_STATIC)
        return workers < most ? workers : most;
    return s->exact && s->par.how.grain ? n / s->least + (n % s->least != 0) : 0;
}

/* A split into parts is one of their numbers, and they do not become coarser. */
static void in_parts(struct split *s, size_t first, size_t n)
{
    s->first = first;
    s->n = n;
    s->least = 1;
    s->soon = 0;
}

void split_run(struct split *s, size_t lo, size_t hi, void *state)
{
    if (lo >= hi)
        return;
    s->least = s->par.how.grain ? s->par.how.grain : 1;
    s->soon = SPLIT_US * os_ticks_per_us();
    s->limit = limit_of(s);
    s->parts = parts_of(s, hi - lo);
    if (s->parts) {
        in_parts(s, lo, hi - lo);
        lo = 0;
        hi = s->parts;
    }
    size_t first = s->parts ? 1 : (hi - lo) / (FIRST * (size_t)par_workers(&s->par));
    if (first > FIRST_MOST)
        first = FIRST_MOST;
    s->grain = first > s->least ? first : s->least;
    s->fine = (hi - lo) / (FINE * (size_t)par_workers(&s->par));
    s->stolen = turn(s->par.begun);
    struct whole w = {s, lo, hi, state};
    par_run(&s->par, whole, &w);
}

void split_run_fixed(struct split *s, size_t lo, size_t hi, void *state)
{
    if (lo >= hi) {
        s->fresh(s, state);
        return;
    }
    size_t n = hi - lo, pieces = n < FIXED_FEW * FIXED_PIECES ? FIXED_FEW : FIXED_PIECES;
    s->least = s->par.how.grain ? s->par.how.grain : 1;
    s->grain = n / pieces > s->least ? n / pieces : s->least;
    s->limit = limit_of(s);
    struct whole w = {s, lo, hi, state};
    par_run(&s->par, whole_fixed, &w);
}
