/* select.c: the element at an index of the sorted array, and the smallest in order.
 *
 * A pivot is taken from a sample, a little to the far side of where the wanted index would be, so that
 * most of the array falls away at once. Blocks are parted by several workers into the spare array, and
 * their parts copied back side by side. If the range does not shrink as it should, for whatever reason, it
 * is sorted: that bounds the whole. */
#include "par/merge.h"

#include "core/report.h"

#define SMALL 2048        /* elements that are sorted right away */
#define SAMPLE_MOST 512
#define BLOCKS_MOST 128
#define ROUNDS_LOST 4     /* rounds that left more than 3/4 before it is sorted */

struct choosing {
    const struct order *order;
    char *v;
    size_t n, k;
    bool sort;                     /* what comes before k, as well */
};

/* ---- parting a range, several workers at once --------------------------------------------------- */

struct parting {
    const struct order *order;
    char *v, *spare;
    size_t n, blocks, block;
    const char *pivot;
    size_t count[BLOCKS_MOST][2];  /* less, equal                    */
    size_t at[BLOCKS_MOST][3];     /* where the three parts go       */
};

static size_t block_size(const struct parting *p, size_t i)
{
    return i + 1 == p->blocks ? p->n - i * p->block : p->block;
}

static void part_block(struct crew *c, size_t i, void *arg)
{
    struct parting *p = arg;
    size_t at = i * p->block * p->order->size;
    (void)c;
    p->order->kind->part(p->order, p->v + at, p->spare + at, block_size(p, i), p->pivot, p->count[i]);
}

static void put_block(struct crew *c, size_t i, void *arg)
{
    struct parting *p = arg;
    size_t size = p->order->size, part[3] = {p->count[i][0], p->count[i][1], 0};
    const char *from = p->spare + i * p->block * size;
    (void)c;
    part[2] = block_size(p, i) - part[0] - part[1];
    for (int k = 0; k < 3; k++) {
        memcpy(p->v + p->at[i][k] * size, from, part[k] * size);
        from += part[k] * size;
    }
}

/* How many are less, and equal, in sum[]. */
static void part(struct crew *c, filch_slot *head, struct parting *p, size_t sum[2])
{
    size_t most = p->n / c->grain + 1, blocks = crew_workers(c) == 1 ? 1 : 8 * crew_workers(c);
    blocks = blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST;
    p->blocks = blocks < most ? blocks : most;
    p->block = p->n / p->blocks;
    crew_each(c, head, p->blocks, part_block, p);
    sum[0] = sum[1] = 0;
    for (size_t i = 0; i < p->blocks; i++) {
        sum[0] += p->count[i][0];
        sum[1] += p->count[i][1];
    }
    size_t at[3] = {0, sum[0], sum[0] + sum[1]};
    for (size_t i = 0; i < p->blocks; i++) {
        memcpy(p->at[i], at, sizeof at);
        at[0] += p->count[i][0];
        at[1] += p->count[i][1];
        at[2] += block_size(p, i) - p->count[i][0] - p->count[i][1];
    }
    crew_each(c, head, p->blocks, put_block, p);
}

/* ---- the pivot ---------------------------------------------------------------------------------- */

/* A copy of it to `pivot`. spare has room for two samples. */
static void choose_pivot(const struct choosing *s, char *spare, char *pivot)
{
    const struct order *o = s->order;
    size_t count = s->n / 16 < SAMPLE_MOST ? s->n / 16 : SAMPLE_MOST, step = s->n / count;
    for (size_t i = 0; i < count; i++)
        memcpy(spare + i * o->size, s->v + (i * step + i % step) * o->size, o->size);
    o->kind->sort(o, spare, spare + count * o->size, count, false);
    size_t rank = (size_t)((double)s->k / (double)s->n * (double)count), margin = count / 32 + 1;
    if (s->k < s->n / 2)
        rank = rank + margin < count ? rank + margin : count - 1;
    else
        rank = rank > margin ? rank - margin : 0;
    memcpy(pivot, spare + rank * o->size, o->size);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

/* `spare` has room for n elements and one more, for the pivot. */
static void choose(struct crew *c, filch_slot *head, struct choosing s, char *spare)
{
    char *pivot = spare + s.n * s.order->size;
    size_t lost = 0;
    while (s.n > SMALL && lost < ROUNDS_LOST && !crew_stopped(c)) {
        struct parting p = {.order = s.order, .v = s.v, .spare = spare, .n = s.n, .pivot = pivot};
        size_t sum[2], before = s.n;
        choose_pivot(&s, spare, pivot);
        part(c, head, &p, sum);
        if (s.k < sum[0]) {
            s.n = sum[0];
        } else if (s.k < sum[0] + sum[1]) {
            return;
        } else {
            s.v += (sum[0] + sum[1]) * s.order->size;
            s.k -= sum[0] + sum[1];
            s.n -= sum[0] + sum[1];
        }
        lost += s.n > before / 4 * 3;
    }
    merge_sort(c, head, s.order, s.v, spare, s.n);
}

static void choose_whole(struct crew *c, filch_slot *head, void *job)
{
    const struct choosing *s = job;
    struct room room = room_take(c, (s->n + 1) * s->order->size);
    if (!room.at) {
        merge_sort(c, head, s->order, s->v, 0, s->n);
        return;
    }
    if (s->k < s->n)
        choose(c, head, *s, room.at);
    if (s->sort)
        merge_sort(c, head, s->order, s->v, room.at, s->k);
    room_give(&room);
}

static int run(struct choosing *s, const char *call)
{
    struct crew c;
    if (!s->order->three)
        report_misuse(call, "null function");
    if (!s->v && s->n > 0 && s->order->size > 0)
        report_misuse(call, "null array");
    if (s->order->size == 0 || par_bytes(s->n, s->order->size) == SIZE_MAX)
        return -EINVAL;
    crew_begin(&c, 0, call, MERGE_GRAIN);
    if (s->n > 1 && (s->sort ? s->k > 0 : s->k < s->n) && !crew_stopped(&c))
        crew_run(&c, s->n, choose_whole, s);
    return crew_end(&c);
}

int filch_nth(void *base, size_t n, size_t size, size_t k, filch_compare_r *cmp, void *arg)
{
    struct order o = order_of(0, cmp, arg, size);
    struct choosing s = {&o, base, n, k, false};
    return run(&s, "filch_nth");
}

int filch_sort_part(void *base, size_t n, size_t size, size_t k, filch_compare_r *cmp, void *arg)
{
    struct order o = order_of(0, cmp, arg, size);
    struct choosing s = {&o, base, n, k < n ? k : n, true};
    return run(&s, "filch_sort_part");
}
