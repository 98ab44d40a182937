#include "core/fiber.h"
#include "core/report.h"

enum {
    LARGE = 1 << 20,          /* stacks from here on are laid out to share page tables */
    TABLE = 2 << 20,          /* what one page-table page covers                      */
    KEEP_WARM = 256,          /* free fibers whose pages are kept                     */
    SLAB_REGIONS = 64,
};
#define SLAB_BYTES ((size_t)1 << 30)

_Static_assert(sizeof(struct fiber) <= FIBER_HEADER, "the fiber must fit below its slots");

struct fiber_slab {
    struct fiber_slab *next;
    char *memory;             /* what was reserved */
    size_t size;
    char *first;              /* first region      */
    size_t used, regions;
    struct fiber_slab *next_cold;
    uint64_t cold;            /* a bit for each region that was given back whole */
};

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* The border between stack and fiber lies inside a page: a flow that uses little of either touches
 * this one page only. */
static struct fiber *fiber_in(struct fiber_store *s, char *region)
{
    size_t page = os_page_size();
    return (struct fiber *)(region + page + s->stack_size + page / 2 + FIBER_HEADER);
}

void fiber_store_init(struct fiber_store *s, unsigned kind, size_t stack_size, bool fenced)
{
    size_t page = os_page_size();
    *s = (struct fiber_store){.fenced = fenced, .kind = kind};
    s->stack_size = round_up(stack_size, page);
    /* A frame that forks takes 32 bytes at least: the stack is full before the slots are. */
    s->slots_size = 2 * (s->stack_size < LARGE / 16 ? LARGE / 16 : s->stack_size);
    if (fenced && s->slots_size > 8 * LARGE)
        s->slots_size = 8 * LARGE; /* every slot of it has to be written once */
    size_t region = page + s->stack_size + round_up(FIBER_HEADER, page) + s->slots_size + page;
    s->region_size = s->stack_size >= LARGE ? round_up(region, TABLE) : region;
}

void fiber_store_destroy(struct fiber_store *s)
{
    struct fiber_slab *slab = s->slabs;
    while (slab) {
        struct fiber_slab *next = slab->next;
        for (size_t i = 0; i < slab->used; i++) {
            struct fiber *f = fiber_in(s, slab->first + i * s->region_size);
            if (!(slab->cold >> i & 1))
                os_context_drop(&f->context);
        }
        os_pages_release(slab->memory, slab->size);
        os_free(slab);
        slab = next;
    }
    s->slabs = 0;
    s->free = 0;
}

/* Lock held. The slab list only grows at its head, so that the overflow reporter may walk it. */
static struct fiber_slab *slab_make(struct fiber_store *s)
{
    struct fiber_slab *slab = os_alloc(sizeof *slab);
    if (!slab)
        return 0;
    size_t regions = SLAB_BYTES / s->region_size;
    slab->regions = regions < 1 ? 1 : regions > SLAB_REGIONS ? SLAB_REGIONS : regions;
    /* Half a table off, so that neither a stack's top nor a region's ends lie on a border of
     * page tables: each then shares one with its neighbour. */
    size_t offset = s->stack_size >= LARGE ? TABLE / 2 : 0;
    slab->size = slab->regions * s->region_size + offset;
    void *memory;
    if (os_pages_reserve(&memory, slab->size, offset ? TABLE : os_page_size()) != 0) {
        os_free(slab);
        return 0;
    }
    slab->memory = memory;
    slab->first = slab->memory + offset;
    slab->next = s->slabs;
    filch_store_release(&s->slabs, slab); /* order: filled in before the reporter sees it */
    return slab;
}

static void fill_fenced(struct fiber *f)
{
    for (filch_slot *p = f->slots.first; p < f->slots.end; p++)
        filch_store_relaxed(&p->claim, CLAIM_FENCED); /* order: not shared yet */
}

static struct fiber *region_fill(struct fiber_store *s, struct fiber_slab *slab, char *region)
{
    struct fiber *f = fiber_in(s, region);
    f->region = region;
    f->region_size = s->region_size;
    f->store = s;
    f->slab = slab;
    slots_init(&f->slots, (filch_slot *)((char *)f + FIBER_HEADER),
               (filch_slot *)(region + s->region_size - os_page_size()), s->fenced);
    if (s->fenced)
        fill_fenced(f);
    return f;
}

/* Guards a fresh region. Its upper one and its neighbour's lower one are side by side: one call for both. */
static void region_guard(struct fiber_store *s, struct fiber_slab *slab, char *region)
{
    size_t page = os_page_size();
    char *end = region + s->region_size;
    bool last = end == slab->first + slab->regions * s->region_size;
    if ((region == slab->first && os_pages_guard(region, page) != 0) ||
        os_pages_guard(end - page, last ? page : 2 * page) != 0) {
        if (!filch_xchg_acq_rel(&s->warned, 1u)) /* order: once */
            report_warning("filch: no guard pages for more stacks (raise vm.max_map_count); "
                           "overflow of these is not detected");
    }
}

/* Lock held. A region of its own for the caller, who fills it without the lock: that takes system calls
 * and page faults. Those who look at all fibers see zeroes meanwhile. */
static char *region_make(struct fiber_store *s, struct fiber_slab **in)
{
    struct fiber_slab *slab = s->slabs;
    if (!slab || slab->used == slab->regions)
        slab = slab_make(s);
    *in = slab;
    if (!slab)
        return 0;
    char *region = slab->first + slab->used * s->region_size;
    filch_store_release(&slab->used, slab->used + 1); /* order: pairs with fiber_each */
    s->live++;
    return region;
}

/* Lock held. One that was given back whole, to be filled again; or null. */
static char *region_warm(struct fiber_store *s, struct fiber_slab **in)
{
    struct fiber_slab *slab = *in = s->cold;
    if (!slab)
        return 0;
    unsigned i = (unsigned)__builtin_ctzll(slab->cold);
    slab->cold &= slab->cold - 1;
    if (!slab->cold)
        s->cold = slab->next_cold;
    return slab->first + i * s->region_size;
}

struct fiber *fiber_take(struct fiber_store *s, struct filch_pool *pool)
{
    lock_acquire(&s->lock);
    struct fiber *f = s->free;
    struct fiber_slab *slab = 0;
    char *warm = 0, *fresh = 0;
    if (f) {
        s->free = f->next;
        filch_store_relaxed(&s->free_count, s->free_count - 1); /* order: the lock; read as a hint */
    } else {
        warm = region_warm(s, &slab);
        if (!warm)
            fresh = region_make(s, &slab);
    }
    lock_release(&s->lock);
    if (fresh)
        region_guard(s, slab, fresh);
    if (fresh || warm)
        f = region_fill(s, slab, fresh ? fresh : warm);
    if (f) {
        f->pool = pool;
        f->next = 0;
        f->pins = 0;
        f->blocks = 0; /* in the child of fork() its flow may have been in such a section */
    }
    return f;
}

/* Back to what a fresh one holds, but for the page with the fiber itself. */
static void fiber_cool(struct fiber_store *s, struct fiber *f)
{
    size_t page = os_page_size();
    os_pages_discard((char *)f->region + page, s->stack_size);
    if (!s->fenced) {
        char *slots = (char *)f->region + page + s->stack_size + page;
        os_pages_discard(slots, (size_t)((char *)f->slots.end - slots));
    }
}

bool fiber_surplus(struct fiber_store *s)
{
    return filch_load_relaxed(&s->free_count) > KEEP_WARM; /* order: a hint */
}

/* One of more than KEEP_WARM, off the free list. */
static struct fiber *take_surplus(struct fiber_store *s)
{
    lock_acquire(&s->lock);
    struct fiber *f = s->free_count > KEEP_WARM ? s->free : 0;
    if (f) {
        s->free = f->next;
        filch_store_relaxed(&s->free_count, s->free_count - 1); /* order: the lock; read as a hint */
    }
    lock_release(&s->lock);
    return f;
}

static void region_chill(struct fiber_store *s, struct fiber_slab *slab, char *region)
{
    size_t page = os_page_size();
    os_pages_discard(region + page, s->region_size - 2 * page);
    lock_acquire(&s->lock);
    if (!slab->cold) {
        slab->next_cold = s->cold;
        s->cold = slab;
    }
    slab->cold |= (uint64_t)1 << ((size_t)(region - slab->first) / s->region_size);
    lock_release(&s->lock);
}

bool fiber_trim(struct fiber_store *s, size_t most)
{
    struct fiber *f = 0;
    while (most-- > 0 && (f = take_surplus(s))) {
        os_context_drop(&f->context);
        region_chill(s, f->slab, f->region);
    }
    return f && fiber_surplus(s);
}

void fiber_give(struct fiber_store *s, struct fiber *f)
{
    if (s->kind == FIBER_LARGE && fiber_surplus(s))
        fiber_cool(s, f);
    fiber_give_many(s, f, f, 1);
}

void fiber_give_many(struct fiber_store *s, struct fiber *first, struct fiber *last, size_t n)
{
    lock_acquire(&s->lock);
    last->next = s->free;
    s->free = first;
    filch_store_relaxed(&s->free_count, s->free_count + n); /* order: the lock; read as a hint */
    lock_release(&s->lock);
}

void fiber_store_reset(struct fiber_store *s)
{
    s->lock = 0;
    s->free = 0;
    s->free_count = 0;
    s->cold = 0;
    for (struct fiber_slab *slab = s->slabs; slab; slab = slab->next) {
        slab->cold = 0;
        for (size_t i = 0; i < slab->used; i++) {
            char *region = slab->first + i * s->region_size;
            struct fiber *f = fiber_in(s, region);
            if (f->region != region) /* it is cold, or was just being given back */
                f = region_fill(s, slab, region);
            for (filch_slot *p = f->slots.first; slots_used(&f->slots, p); p++) {
                filch_store_relaxed(&p->fn, (slot_fn)0);            /* order: one thread */
                filch_store_relaxed(&p->claim, s->fenced);          /* order: one thread */
                filch_store_relaxed(&p->state, STATE_NONE);         /* order: one thread */
            }
            f->slots.lock = 0;
            f->slots.top = f->slots.open = f->slots.hint = f->slots.first;
            slots_set_reach(&f->slots, f->slots.first);
            f->lineage = 0;
            f->root = 0;
            f->task = 0;
            f->token = 0;
            f->par = 0;
            f->lasting = 0;
            f->budget = 0;
            f->gate = 0;
            f->replaced = false;
            f->waiting = 0;
            f->joining = 0;
            f->exposed = 0;
            f->next = s->free;
            s->free = f;
            s->free_count++;
        }
    }
}

void fiber_each(struct fiber_store *s, void (*fn)(const struct fiber *f, void *arg), void *arg)
{
    /* order: acquires what slab_make released; a slab is never removed while the pool lives */
    for (struct fiber_slab *slab = filch_load_acquire(&s->slabs); slab; slab = slab->next) {
        size_t used = filch_load_acquire(&slab->used); /* order: pairs with region_make */
        for (size_t i = 0; i < used; i++)
            fn(fiber_in(s, slab->first + i * s->region_size), arg);
    }
}

struct fiber *fiber_at_guard(struct fiber_store *s, const void *address, bool *in_slots)
{
    size_t page = os_page_size();
    const char *a = address;
    /* order: acquires what slab_make released; a slab is never removed while the pool lives */
    for (struct fiber_slab *slab = filch_load_acquire(&s->slabs); slab; slab = slab->next) {
        const char *end = slab->first + slab->regions * s->region_size;
        if (a < slab->first || a >= end)
            continue;
        char *region = slab->first + (size_t)(a - slab->first) / s->region_size * s->region_size;
        struct fiber *f = fiber_in(s, region);
        *in_slots = a >= region + s->region_size - page;
        return *in_slots || a < region + page ? f : 0;
    }
    return 0;
}
