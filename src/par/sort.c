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

/* Two arrays of addresses, and a copy of the elements if there is so much. Was there memory? */
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

int filch_merge(void *to, const void *a, size_t na, const void *b, size_t nb, size_t size,
                filch_compare_r *cmp, void *arg)
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

/* ---- numbers -------------------------------------------------------------------------------- */

struct numbers {
    void *v;
    size_t n;
    enum filch_plain type;
};

static const struct {
    radix_fn *sort;
    uint64_t sign;
    size_t size;
    size_t spare_below;            /* with fewer elements it can use a spare array */
} plain[] = {
    [FILCH_I8] = {radix_sort_8, 1u << 7, 1, 0},
    [FILCH_U8] = {radix_sort_8, 0, 1, 0},
    [FILCH_I16] = {radix_sort_16, 1u << 15, 2, RADIX_COUNTED_16},
    [FILCH_U16] = {radix_sort_16, 0, 2, RADIX_COUNTED_16},
    [FILCH_I32] = {radix_sort_32, 1u << 31, 4, SIZE_MAX},
    [FILCH_U32] = {radix_sort_32, 0, 4, SIZE_MAX},
    [FILCH_I64] = {radix_sort_64, (uint64_t)1 << 63, 8, SIZE_MAX},
    [FILCH_U64] = {radix_sort_64, 0, 8, SIZE_MAX},
    [FILCH_F32] = {radix_sort_f32, 1u << 31, 4, SIZE_MAX},
    [FILCH_F64] = {radix_sort_f64, (uint64_t)1 << 63, 8, SIZE_MAX},
};

static void sort_numbers(struct crew *c, filch_slot *head, void *job)
{
    struct numbers *s = job;
    struct room room = {0};
    if (s->n < plain[s->type].spare_below)
        room = room_take(c, s->n * plain[s->type].size);
    plain[s->type].sort(c, head, s->v, room.at, s->n, plain[s->type].sign);
    room_give(&room);
}

static int sort_plain(const filch_how *how, void *v, size_t n, enum filch_plain type, const char *call)
{
    struct crew c;
    struct numbers s = {v, n, type};
    if ((unsigned)type > FILCH_F64)
        report_misuse(call, "not one of the types of enum filch_plain");
    if (!valid(v, n, plain[type].size, call))
        return -EINVAL;
    crew_begin(&c, how, call, RADIX_GRAIN);
    if (n > 1 && !crew_stopped(&c))
        crew_run(&c, n, sort_numbers, &s);
    return crew_end(&c);
}

int filch_sort_plain_with(const filch_how *how, void *v, size_t n, enum filch_plain type)
{
    return sort_plain(how, v, n, type, "filch_sort_plain_with");
}

#define PLAIN(name, type, plain)                                                                  \
    int filch_sort_##name(type *v, size_t n)                                                      \
    {                                                                                             \
        return sort_plain(0, v, n, plain, "filch_sort_" #name);                                   \
    }
PLAIN(i8, int8_t, FILCH_I8)
PLAIN(u8, uint8_t, FILCH_U8)
PLAIN(i16, int16_t, FILCH_I16)
PLAIN(u16, uint16_t, FILCH_U16)
PLAIN(i32, int32_t, FILCH_I32)
PLAIN(u32, uint32_t, FILCH_U32)
PLAIN(i64, int64_t, FILCH_I64)
PLAIN(u64, uint64_t, FILCH_U64)
PLAIN(f32, float, FILCH_F32)
PLAIN(f64, double, FILCH_F64)

/* ---- by key --------------------------------------------------------------------------------- */

#define KEY_PIECE 4096 /* elements */

struct keyed {
    char *v;
    size_t n, size;
    uint64_t (*key)(const void *element, void *arg);
    void *arg;
    struct radix_pair *pairs;
    char **at;
};

static size_t key_pieces(const struct keyed *k)
{
    return k->n / KEY_PIECE + (k->n % KEY_PIECE != 0);
}

static size_t key_piece_end(const struct keyed *k, size_t i)
{
    size_t end = (i + 1) * KEY_PIECE;
    return end < k->n ? end : k->n;
}

static void make_pairs(struct crew *c, size_t i, void *arg)
{
    const struct keyed *k = arg;
    (void)c;
    for (size_t j = i * KEY_PIECE; j < key_piece_end(k, i); j++)
        k->pairs[j] = (struct radix_pair){k->key(k->v + j * k->size, k->arg), j};
}

static void make_addresses(struct crew *c, size_t i, void *arg)
{
    const struct keyed *k = arg;
    (void)c;
    for (size_t j = i * KEY_PIECE; j < key_piece_end(k, i); j++)
        k->at[j] = k->v + k->pairs[j].index * k->size;
}

/* Without memory for pairs: keys are asked for again and again. */
static int compare_keys(const void *a, const void *b, void *arg)
{
    const struct keyed *k = arg;
    uint64_t x = k->key(a, k->arg), y = k->key(b, k->arg);
    return (x > y) - (x < y);
}

static void sort_keyed(struct crew *c, filch_slot *head, void *job)
{
    struct keyed *k = job;
    size_t pairs = k->n * sizeof(struct radix_pair);
    bool copy = true;
    struct room room = {0};
    if (k->n <= UINT32_MAX && pairs < SIZE_MAX / 8 && k->n * k->size < SIZE_MAX / 8)
        room = room_take(c, 2 * pairs + k->n * k->size);
    if (!room.at && k->n <= UINT32_MAX) {
        copy = false;
        room = room_take(c, 2 * pairs);
    }
    if (!room.at) {
        struct order o = order_of(0, compare_keys, k, k->size);
        merge_sort(c, head, &o, k->v, 0, k->n);
        return;
    }
    k->pairs = room.at;
    k->at = (char **)(void *)(k->pairs + k->n);
    crew_each(c, head, key_pieces(k), make_pairs, k);
    radix_sort_pair(c, head, k->pairs, k->pairs + k->n, k->n, 0);
    crew_each(c, head, key_pieces(k), make_addresses, k);
    merge_arrange(c, head, k->v, copy ? (char *)room.at + 2 * pairs : 0, k->at, k->n, k->size);
    room_give(&room);
}

int filch_sort_by_key(void *base, size_t n, size_t size, uint64_t (*key)(const void *element, void *arg),
                      void *arg)
{
    struct crew c;
    struct keyed k = {.v = base, .n = n, .size = size, .key = key, .arg = arg};
    check_function(key, "filch_sort_by_key");
    if (!valid(base, n, size, "filch_sort_by_key"))
        return -EINVAL;
    crew_begin(&c, 0, "filch_sort_by_key", KEY_PIECE);
    if (n > 1 && !crew_stopped(&c))
        crew_run(&c, n, sort_keyed, &k);
    return crew_end(&c);
}
