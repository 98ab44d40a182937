/* radix_kind.h: the radix sort for one type of element. Included by radix.c for each, with
 *
 *     KIND             what its functions are called
 *     PUBLIC           and the one that others call: a radix_fn
 *     ELEMENT, KEY     the type, and an unsigned one in whose order they are sorted
 *     KEY_OF(x, flip)  what an element counts as
 *
 * Large arrays are parted by their highest bits, all workers at once, into buckets that fit into a cache; a
 * bucket is sorted by one worker, lowest digit first, to and fro between the array and the spare one.
 */
#define NAME_2(name, kind) name##_##kind
#define NAME_1(name, kind) NAME_2(name, kind)
#define NAME(name) NAME_1(name, KIND)

/* All keys lie between `low` and `low` + 2^bits - 1. */
struct NAME(job) {
    ELEMENT *x, *y;                /* they are in x, y is spare          */
    size_t n;
    KEY low, flip;
    unsigned bits;
    bool into_y;                   /* where they are to be in the end    */
};

/* What an element counts as, without the lowest bits. */
RADIX_INLINE KEY NAME(above)(ELEMENT e, KEY flip, KEY low, unsigned shift)
{
    return (KEY)((KEY)(KEY_OF(e, flip) - low) >> shift);
}

/* ---- few ------------------------------------------------------------------------------------ */

static void NAME(insert)(ELEMENT *v, size_t n, KEY flip)
{
    for (size_t i = 1; i < n; i++) {
        ELEMENT x = v[i];
        KEY k = KEY_OF(x, flip);
        size_t j = i;
        for (; j > 0 && KEY_OF(v[j - 1], flip) > k; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
}

/* ---- without memory -------------------------------------------------------------------------- */

/* Those with the highest bit clear to the front, the others behind them; then each side by the next bit. */
static void NAME(exchange)(struct crew *c, filch_slot *head, void *job)
{
    struct NAME(job) j = *(struct NAME(job) *)job;
    while (j.n > FEW && j.bits > 0 && !crew_stopped(c)) {
        KEY bit = (KEY)((KEY)1 << --j.bits);
        ELEMENT *lo = j.x, *hi = j.x + j.n;
        while (lo < hi) {
            ELEMENT e = *lo;
            if (NAME(above)(e, j.flip, j.low, 0) & bit) {
                *lo = *--hi;
                *hi = e;
            } else {
                lo++;
            }
        }
        struct NAME(job) left = j, right = j;
        left.n = (size_t)(lo - j.x);
        right.x = lo;
        right.n = j.n - left.n;
        if (j.n > c->grain) {
            crew_both(c, head, NAME(exchange), &left, &right);
            return;
        }
        NAME(exchange)(c, head, &left);
        j = right;
    }
    if (j.n <= FEW)
        NAME(insert)(j.x, j.n, j.flip);
}

/* ---- a bucket in the cache ------------------------------------------------------------------- */

/* Digits that are looked at: `count` of `width` bits each, from bit `shift` on. */
struct NAME(digits) {
    unsigned count, width, shift;
};

/* All bits if they are few. Else so many of the highest that few elements are still equal in them. */
static struct NAME(digits) NAME(choose)(size_t n, unsigned bits)
{
    unsigned want = (bit_length(n) + 8 + DIGIT - 1) / DIGIT, all = (bits + DIGIT - 1) / DIGIT;
    want = want < DIGITS_MOST ? want : DIGITS_MOST;
    if (want < all)
        return (struct NAME(digits)){want, DIGIT, bits - want * DIGIT};
    return (struct NAME(digits)){all, all ? (bits + all - 1) / all : 0, 0};
}

RADIX_INLINE void NAME(count_some)(const struct NAME(job) *j, struct NAME(digits) d, unsigned digits,
                                   uint32_t count[][1u << DIGIT])
{
    unsigned mask = (1u << d.width) - 1;
    KEY low = j->low, flip = j->flip;
    const ELEMENT *x = j->x, *y = j->y; /* y is written next, in an order that no cache foresees */
    for (size_t i = 0, n = j->n; i < n; i++) {
        KEY k = NAME(above)(x[i], flip, low, d.shift);
        __builtin_prefetch(y + i, 1);
        for (unsigned digit = 0; digit < digits; digit++)
            count[digit][((unsigned)(k >> (digit * d.width))) & mask]++;
    }
}

/* Counts each digit. The number of digits is a constant in the loop. */
static void NAME(count_digits)(const struct NAME(job) *j, struct NAME(digits) d,
                               uint32_t count[][1u << DIGIT])
{
    memset(count, 0, d.count * sizeof count[0]);
    switch (d.count) {
    case 1: NAME(count_some)(j, d, 1, count); break;
    case 2: NAME(count_some)(j, d, 2, count); break;
    case 3: NAME(count_some)(j, d, 3, count); break;
    default: NAME(count_some)(j, d, d.count, count); break;
    }
}

/* From x to y in the order of one digit. */
static void NAME(pass)(const struct NAME(job) *j, unsigned shift, unsigned width, uint32_t *count)
{
    unsigned mask = (1u << width) - 1;
    uint32_t sum = 0;
    for (unsigned b = 0; b <= mask; b++) {
        uint32_t n = count[b];
        count[b] = sum;
        sum += n;
    }
    KEY low = j->low, flip = j->flip; /* copies: for all the compiler knows, what is written may be *j */
    ELEMENT *y = j->y;
    for (const ELEMENT *x = j->x, *end = x + j->n; x < end; x++) {
        ELEMENT e = *x;
        KEY k = NAME(above)(e, flip, low, shift);
        y[count[k & mask]++] = e;
    }
}

static void NAME(bucket)(struct NAME(job) j);

/* Elements that are equal from bit `shift` on stand together; each group is sorted by the bits below. */
static void NAME(groups)(const struct NAME(job) *j, unsigned shift)
{
    size_t begin = 0;
    KEY above = NAME(above)(j->x[0], j->flip, j->low, shift);
    for (size_t i = 1; i <= j->n; i++) {
        KEY k = i < j->n ? NAME(above)(j->x[i], j->flip, j->low, shift) : (KEY)~above;
        if (k == above)
            continue;
        if (i - begin > 1)
            NAME(bucket)((struct NAME(job)){j->x + begin, j->y + begin, i - begin, j->low, j->flip, shift,
                                           false});
        begin = i;
        above = k;
    }
}

static void NAME(settle)(const struct NAME(job) *j)
{
    if (j->into_y)
        memcpy(j->y, j->x, j->n * sizeof(ELEMENT));
}

static void NAME(bucket)(struct NAME(job) j)
{
    uint32_t count[DIGITS_MOST][1u << DIGIT];
    if (j.n <= FEW) {
        NAME(settle)(&j);
        NAME(insert)(j.into_y ? j.y : j.x, j.n, j.flip);
        return;
    }
    struct NAME(digits) d = NAME(choose)(j.n, j.bits);
    NAME(count_digits)(&j, d, count);
    for (unsigned i = 0; i < d.count; i++) {
        unsigned shift = d.shift + i * d.width, mask = (1u << d.width) - 1;
        KEY first = NAME(above)(j.x[0], j.flip, j.low, shift);
        if (count[i][first & mask] == j.n)
            continue; /* the same digit in all */
        NAME(pass)(&j, shift, d.width, count[i]);
        ELEMENT *t = j.x;
        j.x = j.y;
        j.y = t;
        j.into_y = !j.into_y;
    }
    if (d.shift > 0)
        NAME(groups)(&j, d.shift);
    NAME(settle)(&j);
}

/* ---- parting by the highest bits -------------------------------------------------------------- */

#define LINE (64 / sizeof(ELEMENT)) /* elements of a cache line */

/* One pass over x by several workers, each with a block of it. */
struct NAME(parting) {
    const struct NAME(job) *job;
    unsigned shift, width;         /* of the digit                                     */
    size_t blocks, block;          /* how many, and elements of each but the last      */
    size_t skew;                   /* of y: elements since the last multiple of a line */
    size_t *at;                    /* [block][bucket]: counts, then places in y        */
    ELEMENT *lines;                /* [block][bucket][LINE]                            */
};

static size_t NAME(block_end)(const struct NAME(parting) *p, size_t i)
{
    return i + 1 == p->blocks ? p->job->n : (i + 1) * p->block;
}

static void NAME(count_block)(struct crew *c, size_t i, void *arg)
{
    struct NAME(parting) *p = arg;
    size_t *count = p->at + (i << p->width);
    const ELEMENT *x = p->job->x + i * p->block, *end = p->job->x + NAME(block_end)(p, i);
    KEY low = p->job->low, flip = p->job->flip;
    unsigned shift = p->shift;
    (void)c;
    for (; x < end; x++)
        count[NAME(above)(*x, flip, low, shift)]++;
}

/* Counts become places: bucket by bucket, and in each block by block. begin[] is where buckets begin. */
static void NAME(places)(struct NAME(parting) *p, size_t *begin)
{
    size_t sum = 0, buckets = (size_t)1 << p->width;
    for (size_t b = 0; b < buckets; b++) {
        begin[b] = sum;
        for (size_t i = 0; i < p->blocks; i++) {
            size_t n = p->at[(i << p->width) + b];
            p->at[(i << p->width) + b] = sum;
            sum += n;
        }
    }
    begin[buckets] = sum;
}

/* Each bucket has a line in the cache, which goes to memory when it is full. The first and the last of a
 * bucket may be shared with a neighbour: of these only the own part is written. `from` is where the own
 * part begins. */
static void NAME(move_block)(struct crew *c, size_t i, void *arg)
{
    struct NAME(parting) *p = arg;
    size_t buckets = (size_t)1 << p->width, skew = p->skew;
    const ELEMENT *x = p->job->x + i * p->block, *end = p->job->x + NAME(block_end)(p, i);
    KEY low = p->job->low, flip = p->job->flip;
    unsigned shift = p->shift;
    size_t *at = p->at + (i << p->width), *from = at + (p->blocks << p->width);
    ELEMENT *lines = p->lines + (i << p->width) * LINE, *y = p->job->y;
    (void)c;
    memcpy(from, at, buckets * sizeof *at);
    for (; x < end; x++) {
        ELEMENT e = *x;
        size_t b = NAME(above)(e, flip, low, shift), place = at[b]++, slot = (place + skew) % LINE;
        ELEMENT *line = lines + b * LINE;
        line[slot] = e;
        if (slot < LINE - 1)
            continue;
        if (place - from[b] >= LINE - 1)
            memcpy(y + place - (LINE - 1), line, 64);
        else
            memcpy(y + from[b], line + (from[b] + skew) % LINE, (place + 1 - from[b]) * sizeof *y);
    }
    for (size_t b = 0; b < buckets; b++) {
        size_t rest = (at[b] + skew) % LINE, mine = at[b] - from[b];
        rest = rest < mine ? rest : mine;
        memcpy(y + at[b] - rest, lines + b * LINE + (at[b] - rest + skew) % LINE, rest * sizeof *y);
    }
}

/* So that a bucket fits into a cache, but into no fewer than 2^8. */
static unsigned NAME(part_width)(size_t n, unsigned bits)
{
    unsigned width = bit_length(n * sizeof(ELEMENT) >> BUCKET_BITS);
    width = width < 8 ? 8 : width > PART_MOST ? PART_MOST : width;
    return width < bits ? width : bits;
}

struct NAME(buckets) {
    const struct NAME(job) *job;
    unsigned shift;
    const size_t *begin;
};

static void NAME(part)(struct crew *c, filch_slot *head, struct NAME(job) *j);

static struct NAME(job) NAME(one_bucket)(const struct NAME(buckets) *s, size_t b)
{
    const struct NAME(job) *j = s->job;
    return (struct NAME(job)){.x = j->y + s->begin[b], .y = j->x + s->begin[b],
        .n = s->begin[b + 1] - s->begin[b], .low = (KEY)(j->low + ((KEY)b << s->shift)), .flip = j->flip,
        .bits = s->shift, .into_y = !j->into_y};
}

static void NAME(sort_bucket)(struct crew *c, size_t b, void *arg)
{
    struct NAME(job) j = NAME(one_bucket)(arg, b);
    if (j.n > BUCKET_MOST / sizeof(ELEMENT) && j.bits > 0)
        return; /* all workers have a go at it afterwards */
    if (crew_stopped(c) || j.bits == 0 || j.n < 2)
        NAME(settle)(&j);
    else
        NAME(bucket)(j);
}

static void NAME(sort_buckets)(struct crew *c, filch_slot *head, struct NAME(buckets) *s, size_t buckets)
{
    crew_each(c, head, buckets, NAME(sort_bucket), s);
    for (size_t b = 0; b < buckets; b++) {
        struct NAME(job) j = NAME(one_bucket)(s, b);
        if (j.n > BUCKET_MOST / sizeof(ELEMENT) && j.bits > 0)
            NAME(part)(c, head, &j);
    }
}

/* Without memory for tables, or no longer wanted. */
static void NAME(part_alone)(struct crew *c, filch_slot *head, struct NAME(job) *j)
{
    if (!crew_stopped(c) && j->n <= UINT32_MAX) {
        NAME(bucket)(*j);
        return;
    }
    NAME(exchange)(c, head, j);
    NAME(settle)(j);
}

static void NAME(part)(struct crew *c, filch_slot *head, struct NAME(job) *j)
{
    struct NAME(parting) p = {.job = j, .width = NAME(part_width)(j->n, j->bits)};
    p.blocks = radix_blocks(c, j->n);
    p.block = j->n / p.blocks;
    p.shift = j->bits - p.width;
    p.skew = ((uintptr_t)j->y / sizeof(ELEMENT)) % LINE;
    size_t buckets = (size_t)1 << p.width, words = (2 * p.blocks * buckets + buckets + 8) / 8 * 8;
    p.at = crew_stopped(c) ? 0 : os_alloc_aligned(words * sizeof(size_t) + p.blocks * buckets * 64, 64);
    if (!p.at) {
        NAME(part_alone)(c, head, j);
        return;
    }
    p.lines = (ELEMENT *)(void *)(p.at + words);
    size_t *begin = p.at + 2 * p.blocks * buckets;
    struct NAME(buckets) s = {j, p.shift, begin};
    crew_each(c, head, p.blocks, NAME(count_block), &p);
    NAME(places)(&p, begin);
    crew_each(c, head, p.blocks, NAME(move_block), &p);
    NAME(sort_buckets)(c, head, &s, buckets);
    os_free(p.at);
}

/* ---- the whole -------------------------------------------------------------------------------- */

struct NAME(range) {
    KEY least, most;
    bool sorted;
};

struct NAME(scan) {
    const ELEMENT *v;
    size_t n, blocks;
    KEY flip;
    struct NAME(range) range[BLOCKS_MOST];
};

static bool NAME(rises)(const ELEMENT *v, size_t n, KEY flip)
{
    size_t i = 1;
    while (i < n && KEY_OF(v[i - 1], flip) <= KEY_OF(v[i], flip))
        i++;
    return i >= n;
}

/* Blocks overlap by one element, so that each is sorted only if all are. */
static void NAME(scan_block)(struct crew *c, size_t i, void *arg)
{
    struct NAME(scan) *s = arg;
    size_t block = s->n / s->blocks, lo = i * block, hi = i + 1 == s->blocks ? s->n : lo + block;
    const ELEMENT *v = s->v;
    KEY flip = s->flip, least = KEY_OF(v[lo], flip), most = least;
    bool sorted = i == 0 || KEY_OF(v[lo - 1], flip) <= least;
    (void)c;
    for (size_t next; lo < hi; lo = next) {
        next = hi - lo > 2048 ? lo + 2048 : hi;
        for (size_t k = lo; k < next; k++) {
            KEY x = KEY_OF(v[k], flip);
            least = x < least ? x : least;
            most = x > most ? x : most;
        }
        sorted = sorted && NAME(rises)(v + lo, next - lo + (next < hi), flip);
    }
    s->range[i] = (struct NAME(range)){least, most, sorted};
}

static struct NAME(range) NAME(look)(struct crew *c, filch_slot *head, const ELEMENT *v, size_t n, KEY flip)
{
    struct NAME(scan) s = {.v = v, .n = n, .blocks = radix_blocks(c, n), .flip = flip};
    crew_each(c, head, s.blocks, NAME(scan_block), &s);
    struct NAME(range) all = s.range[0];
    for (size_t i = 1; i < s.blocks; i++) {
        struct NAME(range) r = s.range[i];
        all.least = r.least < all.least ? r.least : all.least;
        all.most = r.most > all.most ? r.most : all.most;
        all.sorted = all.sorted && r.sorted;
    }
    return all;
}

PUBLIC(struct crew *c, filch_slot *head, void *v, void *spare, size_t n, uint64_t sign)
{
    KEY flip = (KEY)sign;
    if (n <= FEW) {
        NAME(insert)(v, n, flip);
        return;
    }
    struct NAME(range) r = NAME(look)(c, head, v, n, flip);
    if (r.sorted)
        return;
    struct NAME(job) j = {v, spare, n, r.least, flip, bit_length((KEY)(r.most - r.least)), false};
    if (!spare)
        NAME(exchange)(c, head, &j);
    else if (n > PART_LEAST)
        NAME(part)(c, head, &j);
    else
        NAME(bucket)(j);
}

#undef LINE
#undef NAME
#undef NAME_1
#undef NAME_2
#undef KIND
#undef PUBLIC
#undef ELEMENT
#undef KEY
#undef KEY_OF
