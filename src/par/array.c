/* array.c: arrays mapped, filled, copied, reversed, packed and partitioned.
 *
 * Packing in two passes. The first asks `keep` once for each element and notes the answers, a bit each, in
 * words that belong to one piece alone; and it counts, for each block of words, how many are kept. Sums of
 * those say where each block's elements go; the second pass puts them there. A partition puts them into a
 * copy, the others behind them, and copies all of it back.
 *
 * | field       | writer                 | reader                    | invariant                     |
 * | bits        | the piece with the word | the second pass          | each word is written once     |
 * | kept_before | pieces, adding         | the caller, after the first pass; then nobody writes      |
 *
 * [A1] kept_before is a count alone: the joins at the end of the first pass hand it over, as they do the
 *      bits.
 */
#include "par/split.h"

#include "core/report.h"
#include "os/os.h"

#include <filch/par.h>
#include <string.h>

#define MOVE (1 << 18) /* bytes of a piece that only moves memory, at least: some tens of us */
#define PAGE 4096      /* bytes of a pattern that is copied */
#define WORDS 256      /* of bits: so many elements have one each, before they share them */
#define BLOCK 64       /* words that are counted together */
#define SWAP 64        /* bytes swapped at once, of large elements */

/* Sizes that are common enough for code of their own: call(..., size) with a constant. */
#define BY_SIZE(size, call, ...)                                                                  \
    switch (size) {                                                                               \
    case 1: call(__VA_ARGS__, 1); break;                                                          \
    case 2: call(__VA_ARGS__, 2); break;                                                          \
    case 4: call(__VA_ARGS__, 4); break;                                                          \
    case 8: call(__VA_ARGS__, 8); break;                                                          \
    case 16: call(__VA_ARGS__, 16); break;                                                        \
    default: call(__VA_ARGS__, size); break;                                                      \
    }
#define INLINED static inline __attribute__((always_inline))

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int run(struct split *s, size_t n)
{
    split_run(s, 0, n, 0);
    return par_end(&s->par);
}

/* Memory that is only moved: elements cost so little that the first piece need not be one of them. */
static int run_moving(struct split *s, size_t n, size_t size)
{
    s->par.how.grain = MOVE / size + 1;
    return run(s, n);
}

/* ---- map ------------------------------------------------------------------------------------ */

struct mapped {
    char *to;
    const char *from;
    size_t to_size, from_size;
    void (*fn)(void *to, const void *from, void *arg);
};

static int map_piece(struct split *s, size_t lo, size_t hi, void *state)
{
    const struct mapped *m = s->what;
    (void)state;
    for (size_t i = lo; i < hi; i++)
        m->fn(m->to + i * m->to_size, m->from + i * m->from_size, s->arg);
    return 0;
}

int filch_map(void *to, size_t to_size, const void *from, size_t from_size, size_t n,
              void (*fn)(void *to, const void *from, void *arg), void *arg)
{
    struct mapped m = {to, from, to_size, from_size, fn};
    struct split s = {.piece = map_piece, .what = &m, .arg = arg};
    par_check_body(fn, "filch_map");
    par_check_array(to, n, to_size, "filch_map");
    par_check_array(from, n, from_size, "filch_map");
    par_begin(&s.par, 0, "filch_map");
    return run(&s, n);
}

/* ---- fill and copy -------------------------------------------------------------------------- */

struct moved {
    char *to;
    const char *from;
    size_t n, size;
};

static int copy_piece(struct split *s, size_t lo, size_t hi, void *state)
{
    const struct moved *m = s->what;
    (void)state;
    memcpy(m->to + lo * m->size, m->from + lo * m->size, (hi - lo) * m->size);
    return 0;
}

int filch_copy(void *to, const void *from, size_t n, size_t size)
{
    struct moved m = {to, from, n, size};
    struct split s = {.piece = copy_piece, .what = &m};
    par_check_array(to, n, size, "filch_copy");
    par_check_array(from, n, size, "filch_copy");
    par_begin(&s.par, 0, "filch_copy");
    return n ? run_moving(&s, n, size) : par_end(&s.par);
}

static bool one_byte(const char *value, size_t size)
{
    return size == 1 || memcmp(value, value + 1, size - 1) == 0;
}

/* The beginning is doubled until it is a page; then that page, which stays in the cache, is copied. */
static void fill(char *to, size_t bytes, const char *value, size_t size)
{
    size_t done = size;
    memcpy(to, value, size);
    while (done < bytes && done < PAGE) {
        size_t more = least(done, bytes - done);
        memcpy(to + done, to, more);
        done += more;
    }
    for (size_t page = done; done < bytes; done += page)
        memcpy(to + done, to, least(page, bytes - done));
}

static int fill_piece(struct split *s, size_t lo, size_t hi, void *state)
{
    const struct moved *m = s->what;
    (void)state;
    fill(m->to + lo * m->size, (hi - lo) * m->size, m->from, m->size);
    return 0;
}

static int set_piece(struct split *s, size_t lo, size_t hi, void *state)
{
    const struct moved *m = s->what;
    (void)state;
    memset(m->to + lo * m->size, *m->from, (hi - lo) * m->size);
    return 0;
}

int filch_fill(void *base, size_t n, size_t size, const void *value)
{
    struct moved m = {base, value, n, size};
    struct split s = {.what = &m};
    par_check_array(base, n, size, "filch_fill");
    if (!value)
        report_misuse("filch_fill", "null value");
    par_begin(&s.par, 0, "filch_fill");
    if (n == 0)
        return par_end(&s.par);
    s.piece = one_byte(value, size) ? set_piece : fill_piece;
    return run_moving(&s, n, size);
}

/* ---- reverse -------------------------------------------------------------------------------- */

INLINED void swap(char *a, char *b, size_t size)
{
    char t[SWAP];
    for (; size > SWAP; size -= SWAP, a += SWAP, b += SWAP) {
        memcpy(t, a, SWAP);
        memcpy(a, b, SWAP);
        memcpy(b, t, SWAP);
    }
    memcpy(t, a, size);
    memcpy(a, b, size);
    memcpy(b, t, size);
}

/* Elements [lo, hi), of the first half of n, with those opposite. */
INLINED void swap_sized(char *base, size_t n, size_t lo, size_t hi, size_t size)
{
    for (size_t i = lo; i < hi; i++)
        swap(base + i * size, base + (n - 1 - i) * size, size);
}

static void swap_range(char *base, size_t n, size_t lo, size_t hi, size_t size)
{
    BY_SIZE(size, swap_sized, base, n, lo, hi)
}

static int reverse_piece(struct split *s, size_t lo, size_t hi, void *state)
{
    const struct moved *m = s->what;
    (void)state;
    swap_range(m->to, m->n, lo, hi, m->size);
    return 0;
}

int filch_reverse(void *base, size_t n, size_t size)
{
    struct moved m = {.to = base, .n = n, .size = size};
    struct split s = {.piece = reverse_piece, .what = &m};
    par_check_array(base, n, size, "filch_reverse");
    par_begin(&s.par, 0, "filch_reverse");
    return n / 2 ? run_moving(&s, n / 2, size) : par_end(&s.par);
}

/* ---- pack: the first pass ------------------------------------------------------------------- */

struct pack {
    char *to;
    char *rest;                    /* where the others go, or null                          */
    const char *from;
    size_t n, size;
    int (*keep)(const void *element, void *arg);
    size_t unit;                   /* elements with bits in one word                        */
    size_t words, blocks;
    uint64_t *bits;
    size_t *kept_before;           /* of each block: its own count, in the end of all before */
    size_t kept;                   /* by one who goes through them alone: so far            */
};

/* One word each, if they are few, so that even those can be asked in parallel. */
static void pack_shape(struct pack *p)
{
    size_t unit = p->n / WORDS;
    p->unit = unit < 1 ? 1 : unit > 64 ? 64 : unit;
    p->words = p->n / p->unit + (p->n % p->unit != 0);
    p->blocks = p->words / BLOCK + (p->words % BLOCK != 0);
}

static uint64_t ask(const struct pack *p, size_t word, void *arg)
{
    size_t lo = word * p->unit, hi = lo + least(p->unit, p->n - lo);
    uint64_t bits = 0;
    for (size_t i = lo; i < hi; i++)
        bits |= (uint64_t)(p->keep(p->from + i * p->size, arg) != 0) << (i - lo);
    return bits;
}

static int ask_piece(struct split *s, size_t lo, size_t hi, void *state)
{
    const struct pack *p = s->what;
    (void)state;
    while (lo < hi) {
        size_t block = lo / BLOCK, end = least(hi, (block + 1) * BLOCK), count = 0;
        for (; lo < end; lo++) {
            p->bits[lo] = ask(p, lo, s->arg);
            count += (size_t)__builtin_popcountll(p->bits[lo]);
        }
        filch_add_relaxed(&p->kept_before[block], count); /* order: [A1] */
    }
    return 0;
}

/* From counts to places; how many are kept. */
static size_t add_up(struct pack *p)
{
    size_t sum = 0;
    for (size_t b = 0; b < p->blocks; b++) {
        size_t count = p->kept_before[b];
        p->kept_before[b] = sum;
        sum += count;
    }
    return sum;
}

/* ---- pack: the second pass ------------------------------------------------------------------ */

INLINED char *put(char *to, const char *from, uint64_t bits, size_t size)
{
    for (; bits; bits &= bits - 1, to += size)
        memcpy(to, from + (size_t)__builtin_ctzll(bits) * size, size);
    return to;
}

/* Neighbours that all go the same way are copied at once. */
INLINED char *put_word(char *to, const char *from, uint64_t bits, uint64_t all, size_t unit, size_t size)
{
    if (bits != all)
        return put(to, from, bits, size);
    memcpy(to, from, unit * size);
    return to + unit * size;
}

INLINED void put_blocks(const struct pack *p, size_t lo, size_t hi, size_t size)
{
    size_t before = p->kept_before[lo], first = lo * BLOCK, end = least(hi * BLOCK, p->words);
    char *to = p->to + before * size, *rest = p->rest;
    if (rest)
        rest += (first * p->unit - before) * size;
    for (size_t w = first; w < end; w++) {
        size_t at = w * p->unit, unit = least(p->unit, p->n - at);
        uint64_t all = ~(uint64_t)0 >> (64 - unit), bits = p->bits[w];
        to = put_word(to, p->from + at * size, bits, all, unit, size);
        if (rest)
            rest = put_word(rest, p->from + at * size, bits ^ all, all, unit, size);
    }
}

static int put_piece(struct split *s, size_t lo, size_t hi, void *state)
{
    const struct pack *p = s->what;
    (void)state;
    BY_SIZE(p->size, put_blocks, p, lo, hi)
    return 0;
}

/* ---- pack: both, or alone ------------------------------------------------------------------- */

INLINED void pack_range(struct pack *p, size_t lo, size_t hi, void *arg, size_t size)
{
    for (size_t i = lo; i < hi; i++)
        if (p->keep(p->from + i * size, arg))
            memcpy(p->to + p->kept++ * size, p->from + i * size, size);
}

/* In order, by one at a time. */
static int pack_piece(struct split *s, size_t lo, size_t hi, void *state)
{
    struct pack *p = (struct pack *)s->what;
    (void)state;
    BY_SIZE(p->size, pack_range, p, lo, hi, s->arg)
    return 0;
}

static int pack_alone(struct split *s, struct pack *p)
{
    s->piece = pack_piece;
    s->par.how.workers = 1;
    return run(s, p->n);
}

/* Memory for bits, counts and `bytes` more, which are in *more. */
static bool pack_scratch(struct split *s, struct pack *p, size_t bytes, char **more)
{
    size_t own = p->words * sizeof *p->bits + p->blocks * sizeof *p->kept_before;
    char *scratch = bytes <= PTRDIFF_MAX - own ? par_scratch(&s->par, own + bytes) : 0;
    if (!scratch)
        return false;
    p->bits = (uint64_t *)(void *)scratch;
    p->kept_before = (size_t *)(void *)(p->bits + p->words);
    memset(p->kept_before, 0, p->blocks * sizeof *p->kept_before);
    *more = scratch + own;
    return true;
}

static int ask_all(struct split *s, struct pack *p)
{
    s->piece = ask_piece;
    int rc = run(s, p->words);
    if (rc == 0)
        p->kept = add_up(p);
    return rc;
}

static int pack_together(struct split *s, struct pack *p)
{
    int rc = ask_all(s, p);
    s->piece = put_piece;
    return rc == 0 ? run(s, p->blocks) : rc;
}

static void check_pack(const struct pack *p, const char *call)
{
    par_check_body(p->keep, call);
    par_check_array(p->from, p->n, p->size, call);
    par_check_array(p->to, p->n, p->size, call);
}

int filch_pack(void *to, const void *from, size_t n, size_t size,
               int (*keep)(const void *element, void *arg), void *arg, size_t *kept)
{
    struct pack p = {.to = to, .from = from, .n = n, .size = size, .keep = keep};
    struct split s = {.what = &p, .arg = arg};
    char *none;
    int rc;
    check_pack(&p, "filch_pack");
    par_begin(&s.par, 0, "filch_pack");
    pack_shape(&p);
    if (n > 1 && par_workers(&s.par) > 1 && pack_scratch(&s, &p, 0, &none)) {
        rc = pack_together(&s, &p);
        par_scratch_free(&s.par, p.bits);
    } else {
        rc = pack_alone(&s, &p);
    }
    if (kept)
        *kept = rc == 0 ? p.kept : 0;
    return rc;
}

/* ---- partition ------------------------------------------------------------------------------ */

/* Into the copy, and back. Once the copy is complete nothing stops it: half a copy would lose elements. */
static int partition_by_copy(struct split *s, struct pack *p, char *copy)
{
    struct moved back = {(char *)p->from, copy, p->n, p->size};
    p->to = copy;
    p->rest = copy + p->kept * p->size;
    s->piece = put_piece;
    int rc = run(s, p->blocks);
    if (rc != 0)
        return rc;
    s->par.firm = true;
    s->piece = copy_piece;
    s->what = &back;
    return run_moving(s, p->n, p->size);
}

/* [lo, mid) and [mid, hi) change places. */
static void rotate(const struct pack *p, size_t lo, size_t mid, size_t hi)
{
    char *base = p->to + lo * p->size;
    size_t left = mid - lo, right = hi - mid;
    if (left == 0 || right == 0)
        return;
    swap_range(base, left, 0, left / 2, p->size);
    swap_range(base + left * p->size, right, 0, right / 2, p->size);
    swap_range(base, left + right, 0, (left + right) / 2, p->size);
}

/* Without a copy: each half for itself, then the middle is turned round. Returns where the others begin. */
static size_t partition_in_place(const struct pack *p, size_t lo, size_t hi)
{
    if (hi - lo < 2)
        return lo + (hi > lo && p->bits[lo / p->unit] >> lo % p->unit & 1);
    size_t mid = lo + (hi - lo) / 2;
    size_t left = partition_in_place(p, lo, mid), right = partition_in_place(p, mid, hi);
    rotate(p, left, mid, right);
    return left + (right - mid);
}

int filch_partition(void *base, size_t n, size_t size, int (*keep)(const void *element, void *arg), void *arg,
                    size_t *kept)
{
    struct pack p = {.to = base, .from = base, .n = n, .size = size, .keep = keep};
    struct split s = {.what = &p, .arg = arg};
    char *copy, *none;
    check_pack(&p, "filch_partition");
    par_begin(&s.par, 0, "filch_partition");
    if (kept)
        *kept = 0;
    if (n == 0)
        return par_end(&s.par);
    pack_shape(&p);
    bool copied = pack_scratch(&s, &p, n * size, &copy);
    if (!copied && !pack_scratch(&s, &p, 0, &none))
        return -ENOMEM;
    int rc = ask_all(&s, &p);
    if (rc == 0 && copied)
        rc = partition_by_copy(&s, &p, copy);
    else if (rc == 0)
        (void)partition_in_place(&p, 0, n);
    par_scratch_free(&s.par, p.bits);
    if (kept && rc == 0)
        *kept = p.kept;
    return rc;
}
