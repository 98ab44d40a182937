/* sort.c: the public face of sorting by comparison and by keys, and what memory it takes. */
#include "par/merge.h"
#include "par/radix.h"

#include "core/report.h"

#define MOVED_MOST 64 /* bytes: of larger elements addresses are sorted, and each is moved once */

/* An array to be sorted. */
struct sorting {
    const struct order *order;
    char *v;
    size_t n;
};

static bool valid(const void *v, size_t n, size_t size, const char *call)
{
    if (!v && n > 0 && size > 0)
        report_misuse(call, "null array");
    return size > 0 && par_bytes(n, size) != SIZE_MAX;
}

static void check_function(bool function, const char *call)
{
    if (!function)
        report_misuse(call, "null function");
}

/* ---- by comparison -------------------------------------------------------------------------- */

static void sort_small(struct crew *c, filch_slot *head, const struct sorting *s)
{
    struct room room = room_take(c, s->n * s->order->size);
    merge_sort(c, head, s->order, s->v, room.at, s->n);
    room_give(&room);
}

/* Two arrays of addresses, and a copy of the elements if there is so much. Returns whether there was memory. */
static bool sort_large(struct crew *c, filch_slot *head, const struct sorting *s)
{
    struct order o = order_of_pointers(s->order);
    size_t size = s->order->size, at_size = 2 * s->n * sizeof(char *);
    bool copy = true;
    struct room room = room_take(c, at_size + s->n * size);
    if (!room.at) {
        copy = false;
        room = room_take(c, at_size);
    }
    if (!room.at)
        return false;
    char **at = room.at;
    for (size_t i = 0; i < s->n; i++)
        at[i] = s->v + i * size;
    merge_sort(c, head, &o, (char *)at, (char *)(at + s->n), s->n);
    merge_arrange(c, head, s->v, copy ? (char *)room.at + at_size : 0, at, s->n, size);
    room_give(&room);
    return true;
}

static void sort_whole(struct crew *c, filch_slot *head, void *job)
{
    const struct sorting *s = job;
    if (s->order->size <= MOVED_MOST || !sort_large(c, head, s))
        sort_small(c, head, s);
}

static int sort_any(const filch_how *how, void *v, size_t n, const struct order *o, const char *call)
{
    struct crew c;
    struct sorting s = {o, v, n};
    check_function(o->two || o->three, call);
    if (!valid(v, n, o->size, call))
        return -EINVAL;
    crew_begin(&c, how, call, MERGE_GRAIN);
    if (n > 1 && !crew_stopped(&c))
        crew_run(&c, n, sort_whole, &s);
    return crew_end(&c);
}

int filch_sort(void *base, size_t n, size_t size, filch_compare *cmp)
{
    struct order o = order_of(cmp, 0, 0, size);
    return sort_any(0, base, n, &o, "filch_sort");
}

int filch_sort_r(void *base, size_t n, size_t size, filch_compare_r *cmp, void *arg)
{
    struct order o = order_of(0, cmp, arg, size);
    return sort_any(0, base, n, &o, "filch_sort_r");
}

int filch_sort_with(const filch_how *how, void *base, size_t n, size_t size, filch_compare_r *cmp, void *arg)
{
    struct order o = order_of(0, cmp, arg, size);
    return sort_any(how, base, n, &o, "filch_sort_with");
}

/* What is fast is stable anyway. */
int filch_sort_stable(void *base, size_t n, size_t size, filch_compare *cmp)
{
    struct order o = order_of(cmp, 0, 0, size);
    return sort_any(0, base, n, &o, "filch_sort_stable");
}

int filch_sort_stable_r(void *base, size_t n, size_t size, filch_compare_r *cmp, void *arg)
{
    struct order o = order_of(0, cmp, arg, size);
    return sort_any(0, base, n, &o, "filch_sort_stable_r");
}

int filch_sort_stable_with(const filch_how *how, void *base, size_t n, size_t size, filch_compare_r *cmp,
                           void *arg)
{
    struct order o = order_of(0, cmp, arg, size);
    return sort_any(how, base, n, &o, "filch_sort_stable_with");
}

/* ---- merging -------------------------------------------------------------------------------- */

int filch_merge(void *to, const void *a, size_t na, const void *b, size_t nb, size_t size, filch_compare_r *cmp,
                void *arg)
{
    struct crew c;
    struct order o = order_of(0, cmp, arg, size);
    struct merge_job m = {&o, to, a, b, na, nb};
    size_t n;
    check_function(cmp, "filch_merge");
    if (__builtin_add_overflow(na, nb, &n) || !valid(to, n, size, "filch_merge"))
        return -EINVAL;
    (void)valid(a, na, size, "filch_merge");
    (void)valid(b, nb, size, "filch_merge");
    crew_begin(&c, 0, "filch_merge", MERGE_GRAIN);
    if (n > 0)
        crew_run(&c, n, merge_two, &m);
    return crew_end(&c);
}
