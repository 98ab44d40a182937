/* split.c: ranges in pieces. See split.h. */
#include "par/split.h"

#include "os/os.h"

#define FIXED_PIECES 512 /* leaves of a fixed tree, at most twice as many ... */
#define FIXED_FEW 64     /* ... and so many if there are few elements */
#define FIXED_ROOM 256   /* bytes of a state that lives on the stack */
#define FIRST 8          /* the first piece is such a part of a worker's share */
#define ROUND 16         /* halves begin at a multiple of this: whole vectors, seldom a shared cache line */

/* What lies in a slot: the right half, and in the end what the thief made of it. */
struct half {
    struct split *split;
    size_t lo, hi;
    void *state;
};

_Static_assert(sizeof(struct half) <= FILCH_PAYLOAD, "a half fits into a slot");

static struct half *half_in(filch_slot *slot)
{
    return (struct half *)(void *)slot->payload.bytes;
}

static size_t middle(size_t lo, size_t hi)
{
    size_t half = (hi - lo) / 2;
    return lo + (half > 4 * ROUND ? half & ~(size_t)(ROUND - 1) : half);
}

static size_t grain_of(struct split *s)
{
    return filch_load_relaxed(&s->grain); /* order: a guess */
}

static bool is_static(const struct split *s)
{
    return s->par.how.split == FILCH_SPLIT_STATIC;
}

/* Where a range is cut. In a static split whole pieces are on the left, so that there are no more pieces than
 * workers. */
static size_t cut(struct split *s, size_t lo, size_t hi)
{
    if (!is_static(s))
        return middle(lo, hi);
    size_t n = hi - lo, pieces = n / s->least + (n % s->least != 0);
    return lo + pieces / 2 * s->least;
}

/* So many elements each that `workers` pieces are enough. */
static size_t share_of(size_t n, size_t workers)
{
    size_t share = n / workers + (n % workers != 0);
    return share > 4 * ROUND && share < SIZE_MAX - ROUND ? (share + ROUND - 1) & ~(size_t)(ROUND - 1) : share;
}

/* ---- one piece ------------------------------------------------------------------------------ */

static size_t shorter(struct split *s, size_t size, uint64_t took)
{
    size_t many = (size_t)(took / (2 * s->soon)), part = size / (many ? many : 1);
    return part > s->least ? part : s->least;
}

static void adjust(struct split *s, size_t size, uint64_t took)
{
    size_t grain = grain_of(s);
    if (took < s->soon && size > grain / 2 && size < SIZE_MAX / 16)
        filch_store_relaxed(&s->grain, (took < s->soon / 8 ? 8 : 2) * size); /* order: a guess */
    else if (took > 4 * s->soon && size <= grain && grain > s->least)
        filch_store_relaxed(&s->grain, shorter(s, size, took)); /* order: a guess */
}

static void piece(struct split *s, size_t lo, size_t hi, void *state)
{
    if (par_stopped(&s->par))
        return;
    bool tells = hi - lo > grain_of(s) / 2; /* a short one says little */
    uint64_t begun = tells ? os_ticks() : 0;
    int error = s->piece(s, lo, hi, state);
    if (error)
        par_stop(&s->par, error);
    if (tells)
        adjust(s, hi - lo, os_ticks() - begun);
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

static void published_no_more(struct split *s)
{
    if (s->limit != SPLIT_ANY)
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

static void (*turn(void))(filch_slot *, filch_slot *)
{
    static void (*const turns[TURNS])(filch_slot *, filch_slot *) = {stolen_a, stolen_b, stolen_c, stolen_d};
    return turns[(os_ticks() >> 6) % TURNS];
}

static void publish(struct split *s, filch_slot *slot, size_t lo, size_t hi)
{
    *half_in(slot) = (struct half){s, lo, hi, 0};
    filch_slot_publish(slot, s->stolen);
}

static void range(struct split *s, filch_slot *head, size_t lo, size_t hi, void *state)
{
    while (hi - lo > grain_of(s)) {
        size_t mid = cut(s, lo, hi);
        bool there = may_publish(s);
        if (there)
            publish(s, head, mid, hi);
        range(s, head + there, lo, mid, state);
        if (there && filch_slot_retract(head)) {
            void *theirs = half_in(head)->state;
            if (theirs)
                s->combine(s, state, theirs);
            os_free(theirs);
            return;
        }
        if (there)
            published_no_more(s);
        if (par_stopped(&s->par))
            return; /* the rest could be split billions of times, each for nothing */
        lo = mid;
    }
    if (lo < hi)
        piece(s, lo, hi, state);
}

/* Returns the state, or null. */
static void *run_half(struct split *s, filch_slot *head, size_t lo, size_t hi)
{
    void *state = s->state_size ? os_alloc_aligned(s->state_size, 64) : 0;
    if (state)
        s->fresh(s, state);
    if (state || !s->state_size)
        range(s, head, lo, hi, state);
    else
        par_stop(&s->par, -ENOMEM);
    return state;
}

static void stolen(filch_slot *slot, filch_slot *head)
{
    struct half h = *half_in(slot);
    struct split *s = h.split;
    void *state = 0;
    if (!s->declines || !s->declines(s)) {
        struct par_place place = par_enter(&s->par);
        state = run_half(s, head, h.lo, h.hi);
        par_leave(&place);
    }
    half_in(slot)->state = state;
    published_no_more(s);
}

/* ---- fixed trees ---------------------------------------------------------------------------- */

static void fixed_range(struct split *s, filch_slot *head, size_t lo, size_t hi, void *state);

static void fixed_stolen(filch_slot *slot, filch_slot *head)
{
    struct half h = *half_in(slot);
    struct par_place place = par_enter(&h.split->par);
    fixed_range(h.split, head, h.lo, h.hi, h.state);
    par_leave(&place);
    published_no_more(h.split);
}

/* The state is not fresh yet. */
static void fixed_range(struct split *s, filch_slot *head, size_t lo, size_t hi, void *state)
{
    if (hi - lo <= s->grain) {
        s->fresh(s, state);
        int error = par_stopped(&s->par) ? 0 : s->piece(s, lo, hi, state);
        if (error)
            par_stop(&s->par, error);
        return;
    }
    size_t mid = middle(lo, hi);
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
        *half_in(head) = (struct half){s, mid, hi, right};
        filch_slot_publish(head, fixed_stolen);
    }
    fixed_range(s, head + there, lo, mid, state);
    if (!there || !filch_slot_retract(head)) {
        if (there)
            published_no_more(s);
        fixed_range(s, head, mid, hi, right);
    }
    s->combine(s, state, right);
    if (!fits)
        os_free(right);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static uint32_t limit_of(const struct split *s)
{
    int workers = par_workers(&s->par);
    return workers < s->par.pool->count ? (uint32_t)workers - 1 : SPLIT_ANY;
}

struct whole {
    struct split *split;
    size_t lo, hi;
    void *state;
};

static void whole(void *box, filch_slot *head)
{
    struct whole *w = box;
    range(w->split, head, w->lo, w->hi, w->state);
}

static void whole_fixed(void *box, filch_slot *head)
{
    struct whole *w = box;
    fixed_range(w->split, head, w->lo, w->hi, w->state);
}

void split_run(struct split *s, size_t lo, size_t hi, void *state)
{
    if (lo >= hi)
        return;
    size_t n = hi - lo, workers = (size_t)par_workers(&s->par);
    s->least = s->par.how.grain ? s->par.how.grain : 1;
    s->soon = SPLIT_US * os_ticks_per_us();
    s->limit = limit_of(s);
    if (is_static(s)) {
        s->least = share_of(n, workers);
        s->soon = 0;
    }
    size_t first = n / (FIRST * workers);
    s->grain = first > s->least ? first : s->least;
    s->stolen = turn();
    struct whole w = {s, lo, hi, state};
    par_run(&s->par, whole, &w);
}

void split_run_fixed(struct split *s, size_t lo, size_t hi, void *state)
{
    size_t n = hi - lo, least = s->par.how.grain ? s->par.how.grain : 1;
    if (lo >= hi) {
        s->fresh(s, state);
        return;
    }
    size_t pieces = n < FIXED_FEW * FIXED_PIECES ? FIXED_FEW : FIXED_PIECES;
    s->grain = n / pieces > least ? n / pieces : least;
    s->limit = limit_of(s);
    struct whole w = {s, lo, hi, state};
    par_run(&s->par, whole_fixed, &w);
}
