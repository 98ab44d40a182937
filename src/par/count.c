/* count.c: counting sort: numbers so short that there is a counter for each. */
#include "par/radix.h"

#include "os/os.h"

#define BLOCK_LEAST (1u << 16) /* elements worth a table of counters, and a fork */
#define BLOCKS_MOST 64

struct counting {
    void *v;
    size_t n, sign;
    size_t values;                 /* 256 or 65536; also says how wide they are         */
    size_t blocks, block;
    size_t *count;                 /* [block][value]; in the first, later, where each ends */
};

static size_t block_end(const struct counting *g, size_t i)
{
    return i + 1 == g->blocks ? g->n : (i + 1) * g->block;
}

/* Two tables in turn: a counter that has just been written is not at hand yet. */
static void count_bytes(const struct counting *g, size_t lo, size_t hi, size_t *count)
{
    size_t other[256] = {0};
    const uint8_t *v = g->v;
    for (; hi - lo >= 2; lo += 2) {
        count[v[lo] ^ g->sign]++;
        other[v[lo + 1] ^ g->sign]++;
    }
    if (lo < hi)
        count[v[lo] ^ g->sign]++;
    for (size_t x = 0; x < 256; x++)
        count[x] += other[x];
}

static void count_block(struct crew *c, size_t i, void *arg)
{
    const struct counting *g = arg;
    size_t lo = i * g->block, hi = block_end(g, i), *count = g->count + i * g->values;
    (void)c;
    if (g->values == 256) {
        count_bytes(g, lo, hi, count);
        return;
    }
    for (const uint16_t *v = g->v; lo < hi; lo++)
        count[v[lo] ^ g->sign]++;
}

/* Adds the tables up: where, in the sorted array, each value ends. */
static void ends(const struct counting *g)
{
    size_t sum = 0;
    for (size_t x = 0; x < g->values; x++) {
        for (size_t i = 0; i < g->blocks; i++)
            sum += g->count[i * g->values + x];
        g->count[x] = sum;
    }
}

static void fill(const struct counting *g, size_t lo, size_t hi, size_t value)
{
    value ^= g->sign;
    if (g->values == 256) {
        memset((uint8_t *)g->v + lo, (int)value, hi - lo);
        return;
    }
    for (uint16_t *v = g->v; lo < hi; lo++)
        v[lo] = (uint16_t)value;
}

/* The first value that ends behind `at`. */
static size_t value_at(const struct counting *g, size_t at)
{
    size_t lo = 0, hi = g->values - 1;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (g->count[mid] > at)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

static void fill_block(struct crew *c, size_t i, void *arg)
{
    const struct counting *g = arg;
    size_t lo = i * g->block, hi = block_end(g, i);
    (void)c;
    for (size_t x = value_at(g, lo); lo < hi; x++) {
        size_t end = g->count[x] < hi ? g->count[x] : hi;
        if (end > lo)
            fill(g, lo, end, x);
        lo = end;
    }
}

static void count_sort(struct crew *c, filch_slot *head, struct counting *g)
{
    g->block = g->n / g->blocks;
    crew_each(c, head, g->blocks, count_block, g);
    ends(g);
    crew_each(c, head, g->blocks, fill_block, g);
}

static size_t blocks_of(const struct crew *c, size_t n)
{
    size_t most = n / BLOCK_LEAST + 1, blocks = crew_workers(c) == 1 ? 1 : 2 * crew_workers(c);
    blocks = blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST;
    return blocks < most ? blocks : most;
}

void count_sort_8(struct crew *c, filch_slot *head, uint8_t *v, size_t n, size_t sign)
{
    size_t own[256] = {0};
    struct counting g = {.v = v, .n = n, .sign = sign, .values = 256, .blocks = blocks_of(c, n)};
    size_t *more = g.blocks > 1 ? os_alloc(g.blocks * sizeof own) : 0;
    g.count = more ? more : own;
    g.blocks = more ? g.blocks : 1;
    count_sort(c, head, &g);
    os_free(more);
}

bool count_sort_16(struct crew *c, filch_slot *head, uint16_t *v, size_t n, size_t sign)
{
    struct counting g = {.v = v, .n = n, .sign = sign, .values = 65536, .blocks = blocks_of(c, n)};
    g.count = os_alloc(g.blocks * g.values * sizeof *g.count);
    if (!g.count)
        return false;
    count_sort(c, head, &g);
    os_free(g.count);
    return true;
}
