/* merge.c: see merge.h. */
#include "par/merge.h"

#define CHUNK 2048      /* elements that one worker sorts in its cache, whatever the grain */
#define LOPSIDED 16     /* a run so many times longer than the other is cut before they are merged */
#define ARRANGE_PIECE (1u << 16) /* bytes */

/* ---- merging -------------------------------------------------------------------------------- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void copy_runs(const struct merge_job *m)
{
    size_t size = m->order->size;
    memcpy(m->to, m->a, m->na * size);
    memcpy(m->to + m->na * size, m->b, m->nb * size);
}

/* Cuts the longer run in the middle and the other where that element belongs. */
static void cut(const struct merge_job *m, struct merge_job *left, struct merge_job *right)
{
    const struct order *o = m->order;
    size_t ia, ib;
    if (m->na >= m->nb) {
        ia = m->na / 2;
        ib = order_before(o, m->b, m->nb, m->a + ia * o->size);
    } else {
        ib = m->nb / 2;
        ia = order_not_behind(o, m->a, m->na, m->b + ib * o->size);
    }
    *left = (struct merge_job){o, m->to, m->a, m->b, ia, ib};
    *right = (struct merge_job){o, m->to + (ia + ib) * o->size, m->a + ia * o->size, m->b + ib * o->size,
                                m->na - ia, m->nb - ib};
}

void merge_two(struct crew *c, filch_slot *head, void *job)
{
    const struct merge_job *m = job;
    struct merge_job left, right;
    size_t n = m->na + m->nb, fewest = least(m->na, m->nb);
    if (fewest == 0 || crew_stopped(c)) {
        copy_runs(m);
        return;
    }
    bool lopsided = n > 64 && fewest < n / LOPSIDED;
    if (n <= c->grain && !lopsided) {
        m->order->kind->merge(m->order, m->to, m->a, m->na, m->b, m->nb);
        return;
    }
    cut(m, &left, &right);
    if (n > c->grain) {
        crew_both(c, head, merge_two, &left, &right);
    } else {
        merge_two(c, head, &left);
        merge_two(c, head, &right);
    }
}

/* ---- sorting -------------------------------------------------------------------------------- */

struct sort_job {
    const struct order *order;
    char *from, *spare;
    size_t n;
    bool into_spare;               /* where the result is to be */
};

/* If it is in order already, or the other way round. What is not shows so at its beginning, mostly. */
static bool in_order(const struct order *o, char *v, size_t n)
{
    size_t rising = order_rising(o, v, n);
    if (rising == n)
        return true;
    if (rising > 1 || order_falling(o, v, n) < n)
        return false;
    order_reverse(o, v, n);
    return true;
}

static void as_it_is(const struct sort_job *s)
{
    if (s->into_spare)
        memcpy(s->spare, s->from, s->n * s->order->size);
}

static void sort_halves(struct crew *c, filch_slot *head, struct sort_job *s, crew_fn *sort)
{
    size_t half = s->n / 2, bytes = half * s->order->size;
    struct sort_job left = {s->order, s->from, s->spare, half, !s->into_spare};
    struct sort_job right = {s->order, s->from + bytes, s->spare ? s->spare + bytes : 0, s->n - half,
                             !s->into_spare};
    if (s->n > c->grain) {
        crew_both(c, head, sort, &left, &right);
    } else {
        sort(c, head, &left);
        sort(c, head, &right);
    }
}

static void sort(struct crew *c, filch_slot *head, void *job)
{
    struct sort_job *s = job;
    const struct order *o = s->order;
    if (crew_stopped(c) || (s->n <= CHUNK && in_order(o, s->from, s->n))) {
        as_it_is(s);
    } else if (s->n <= CHUNK) {
        o->kind->sort(o, s->from, s->spare, s->n, s->into_spare);
    } else {
        sort_halves(c, head, s, sort);
        const char *halves = s->into_spare ? s->from : s->spare;
        struct merge_job m = {o, s->into_spare ? s->spare : s->from, halves, halves + s->n / 2 * o->size,
                              s->n / 2, s->n - s->n / 2};
        if (order_less(o, m.b, m.a + (m.na - 1) * o->size))
            merge_two(c, head, &m);
        else
            crew_copy(c, head, m.to, halves, s->n * o->size);
    }
}

static void sort_in_place(struct crew *c, filch_slot *head, void *job)
{
    struct sort_job *s = job;
    if (s->n < 2 || crew_stopped(c))
        return;
    sort_halves(c, head, s, sort_in_place);
    order_merge_in_place(s->order, s->from, s->n / 2, s->n);
}

void merge_sort(struct crew *c, filch_slot *head, const struct order *o, char *v, char *spare, size_t n)
{
    struct sort_job s = {o, v, spare, n, false};
    if (in_order(o, v, n))
        return;
    if (spare)
        sort(c, head, &s);
    else
        sort_in_place(c, head, &s);
}

/* ---- arranging ------------------------------------------------------------------------------ */

struct arranging {
    char *to;
    char **at;
    size_t n, size, piece;
};

static void arrange_piece(struct crew *c, size_t i, void *arg)
{
    struct arranging *g = arg;
    size_t lo = i * g->piece, hi = least(lo + g->piece, g->n);
    (void)c;
    for (size_t k = lo; k < hi; k++)
        memcpy(g->to + k * g->size, g->at[k], g->size);
}

static void swap_bytes(char *a, char *b, size_t size)
{
    char t[256];
    for (size_t part; size; size -= part, a += part, b += part) {
        part = least(size, sizeof t);
        memcpy(t, a, part);
        memcpy(a, b, part);
        memcpy(b, t, part);
    }
}

/* Around each cycle: what belongs here is swapped with what is here, which then is one place further. */
static void arrange_in_place(char *v, char **at, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++) {
        size_t here = i, from;
        while ((from = (size_t)(at[here] - v) / size) != i) {
            swap_bytes(v + here * size, v + from * size, size);
            at[here] = v + here * size;
            here = from;
        }
        at[here] = v + here * size;
    }
}

void merge_arrange(struct crew *c, filch_slot *head, char *v, char *spare, char **at, size_t n, size_t size)
{
    if (!spare) {
        arrange_in_place(v, at, n, size);
        return;
    }
    struct arranging g = {spare, at, n, size, ARRANGE_PIECE / size + 1};
    crew_each(c, head, n / g.piece + (n % g.piece != 0), arrange_piece, &g);
    crew_copy(c, head, v, spare, n * size);
}
